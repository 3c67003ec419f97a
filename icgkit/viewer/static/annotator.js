// The annotator. Pictures and saving go through the kernel (`icgkit.viewer.annotator`); texts are in `head`.
const make = (tag, props = {}, ...children) => {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(props)) k === "class" ? (e.className = v) : k.startsWith("on") ? e.addEventListener(k.slice(2), v) : v !== null && v !== undefined && e.setAttribute(k, v);
  e.append(...children.filter(c => c !== null && c !== undefined));
  return e;
};
const svg = (tag, props) => { const e = document.createElementNS("http://www.w3.org/2000/svg", tag); for (const k in props) e.setAttribute(k, props[k]); return e; };
const copy = x => JSON.parse(JSON.stringify(x));

function render({ model, el }) {
  const head = model.get("head"), drafts = copy(head.drafts), past = {}, future = {}, problems = {}, kept = new Map(), waiting = {};
  let asked = 0, at = Math.max(0, head.pictures.findIndex(p => p.id === model.get("chosen"))), picked = null, open = 0, failed = "", drag = null, lastText = "";
  const ask = what => new Promise(done => { waiting[++asked] = done; model.send({ id: asked, ...what }); });
  const hear = m => { waiting[m.id]?.(m.value); delete waiting[m.id]; };
  model.on("msg:custom", hear);
  const picture = k => { if (!kept.has(k)) kept.set(k, ask({ what: "picture", k })); return kept.get(k); };
  const kinds = Object.fromEntries(head.subtypes.map(s => [s.id, s]));
  const id = () => head.pictures[at].id, draft = () => drafts[id()], tone = n => kinds[n?.subtype]?.color || "#7a8290";
  const boxed = () => picked === "target" ? draft().target : draft().nodes.find(n => n.id === picked);

  const root = make("div", { tabindex: "0", "aria-label": "Annotator" });
  root.classList.add("icgx");
  const themed = document.body.dataset.jpThemeLight;
  if (themed) root.dataset.theme = themed === "false" ? "dark" : "light";
  root.style.setProperty("--icgx-height", model.get("height") + "px");
  const saved = make("span", { class: "a-saved", role: "status" }), count = make("span", { class: "x-count" }), left = make("div", { class: "a-left" }), right = make("div", { class: "a-right" });
  const button = (text, act, title) => make("button", { type: "button", onclick: act, title }, text);
  const wrongs = make("ul", { class: "a-wrong", "aria-label": "Problems" });
  root.append(make("div", { class: "x-bar" }, button("←", () => step(-1), "Previous case (Page up)"), button("→", () => step(1), "Next case (Page down)"),
    button("Undo", () => undo(past, future), "Ctrl+Z"), button("Redo", () => undo(future, past), "Ctrl+Shift+Z"), button("New node", () => add(null), "n"), saved, count),
    make("div", { class: "a-main" }, left, right), make("div", { class: "x-notes" }, ...head.notes.map(n => make("div", {}, n)), make("div", {}, "Drag on the picture: a box for what is chosen, or a new node. Arrow keys move by 1 px (Ctrl: 10), with Shift they resize. a: accept · Delete: remove · n: new node · Page up, Page down: case.")));
  el.append(root);

  function save() {
    const k = at, name = id();
    open++; saved.textContent = "saving …"; saved.className = "a-saved not";
    ask({ what: "put", k, draft: draft() }).then(said => {
      open--; failed = said.error || "";
      if (said.problems) problems[name] = said.problems;
      if (failed) saved.textContent = failed; else if (!open) { saved.textContent = "saved"; saved.className = "a-saved"; }
      if (id() === name) drawWrong();
    });
  }
  // One undo step a change; typing on in the same field is one step, every keystroke is saved.
  function change(act, field = "") {
    const key = field && `${id()} ${picked} ${field}`;
    if (!key || key !== lastText) { (past[id()] ||= []).push(copy(draft())); future[id()] = []; }
    lastText = key; act(draft()); save();
  }
  function undo(from, to) { const state = (from[id()] || []).pop(); if (!state) return; (to[id()] ||= []).push(copy(draft())); drafts[id()] = state; lastText = ""; if (!boxed()) picked = null; save(); draw(); }
  function fresh() { let k = 1; while (draft().nodes.some(n => n.id === "n" + k)) k++; return "n" + k; }
  function add(bbox, more = {}) {
    const n = { where: "else", strength: "strong", region: "", subtype: "", expected_update: "", reason: "", ...more, id: fresh(), bbox: bbox || more.bbox || null, made_by: more.made_by || head.annotator };
    change(d => d.nodes.push(n)); picked = n.id; draw();
  }
  function remove() { if (!picked) return; const gone = picked; change(d => gone === "target" ? (d.target.bbox = null) : (d.nodes = d.nodes.filter(n => n.id !== gone), d.nodes.forEach(n => { if (n.follows === gone) n.follows = null; }))); picked = null; draw(); }
  function fit(b) { const [w, h] = head.pictures[at].image_size, r = v => Math.round(v); const x = [b[0], b[2]].sort((p, q) => p - q), y = [b[1], b[3]].sort((p, q) => p - q); return [r(Math.max(0, x[0])), r(Math.max(0, y[0])), r(Math.min(w, x[1])), r(Math.min(h, y[1]))]; }
  function setBox(b) { change(() => { const n = boxed(); n.bbox = b; if (n.proposed) { n.proposed = false; n.made_by += `, moved by ${head.annotator}`; } }); }

  const overlay = svg("svg", { preserveAspectRatio: "none" }), img = make("img", { alt: "" }), pic = make("div", { class: "x-pic a-pic" }, img, overlay);
  function drawBoxes(ghost) {
    const [w, h] = head.pictures[at].image_size, grip = Math.max(w, h) / 110;
    overlay.setAttribute("viewBox", `0 0 ${w} ${h}`);
    overlay.replaceChildren(...[{ ...draft().target, id: "target" }, ...draft().nodes].map(n => {
      const b = ghost && n.id === picked ? ghost : n.bbox;
      if (!b) return "";
      const g = svg("g", { "data-node": n.id, class: n.id === picked ? "lit" : "" }), place = { x: b[0], y: b[1], width: Math.max(0, b[2] - b[0]), height: Math.max(0, b[3] - b[1]) };
      g.append(svg("rect", { ...place, class: "halo" }), svg("rect", { ...place, class: "box", stroke: n.id === "target" ? "#111" : tone(n), "stroke-dasharray": n.id === "target" ? "6 4" : n.proposed ? "2 4" : "none" }), svg("rect", { ...place, class: "hit" }));
      if (n.id === picked) [[0, 1], [2, 1], [0, 3], [2, 3]].forEach(([x, y]) => { const r = svg("rect", { class: "grip", x: b[x] - grip / 2, y: b[y] - grip / 2, width: grip, height: grip, "data-corner": `${x}${y}` }); r.style.setProperty("--tone", tone(n)); g.append(r); });
      return g;
    }), ...(ghost && !picked ? [svg("rect", { class: "box", x: Math.min(ghost[0], ghost[2]), y: Math.min(ghost[1], ghost[3]), width: Math.abs(ghost[2] - ghost[0]), height: Math.abs(ghost[3] - ghost[1]), stroke: "#0b62c4" })] : []));
  }
  const point = e => { const r = overlay.getBoundingClientRect(), [w, h] = head.pictures[at].image_size; return [(e.clientX - r.left) / r.width * w, (e.clientY - r.top) / r.height * h]; };
  pic.addEventListener("pointerdown", e => {
    if (e.button) return;
    e.preventDefault(); root.focus({ preventScroll: true });
    const from = point(e), node = e.target.closest?.("g[data-node]")?.dataset.node, corner = e.target.dataset?.corner;
    if (node && node !== picked) { picked = node; draw(); }
    const b = boxed()?.bbox;
    if (!node && b) { picked = null; draw(); }
    drag = { from, corner, b: node ? [...b] : null, now: null };
    pic.setPointerCapture(e.pointerId);
  });
  pic.addEventListener("pointermove", e => {
    if (!drag) return;
    const [x, y] = point(e), { from, b, corner } = drag;
    if (Math.hypot(x - from[0], y - from[1]) < 2 && !drag.now) return;
    drag.now = b ? [...b] : [...from, x, y];
    if (b && corner) { drag.now[+corner[0]] = x; drag.now[+corner[1]] = y; }
    else if (b) { const [w, h] = head.pictures[at].image_size, dx = Math.max(-b[0], Math.min(w - b[2], x - from[0])), dy = Math.max(-b[1], Math.min(h - b[3], y - from[1])); drag.now = [b[0] + dx, b[1] + dy, b[2] + dx, b[3] + dy]; }
    drawBoxes(b || picked ? fit(drag.now) : drag.now);
  });
  pic.addEventListener("pointerup", () => {
    const now = drag?.now && fit(drag.now); drag = null;
    if (now && now[2] - now[0] >= 2 && now[3] - now[1] >= 2) picked ? setBox(now) : add(now);
    draw();
  });
  pic.addEventListener("pointercancel", () => { drag = null; drawBoxes(); });

  const field = (label, thing, name, tag = "input") => { const e = make(tag, { "aria-label": label, rows: tag === "textarea" ? 2 : null, oninput: () => { change(() => { thing()[name] = e.value; }, name); drawList(); } }); e.value = thing()?.[name] || ""; return make("label", {}, label, e); };
  const choice = (label, thing, name, options, redraw) => { const e = make("select", { "aria-label": label, onchange: () => { change(() => { thing()[name] = e.value || null; }); redraw ? draw() : drawList(); } }); for (const [v, t, group] of options) { let into = e; if (group) { into = [...e.children].find(c => c.label === group) || e.appendChild(make("optgroup", { label: group })); } const o = make("option", { value: v }, t); o.selected = v === (thing()[name] || ""); into.append(o); } return make("label", {}, label, e); };
  const list = make("div", { "aria-label": "Nodes" });
  function row(n, key, text, small) { const b = make("button", { type: "button", class: "a-node", "data-node": key, "aria-current": String(key === picked), onclick: () => { picked = key === picked ? null : key; draw(); } }, make("b", {}, key), text, make("small", {}, small)); b.style.setProperty("--tone", key === "target" ? "var(--ink)" : tone(n)); return b; }
  function drawList() { list.replaceChildren(row(draft().target, "target", draft().target.element || "what is edited", draft().target.bbox ? "box" : "no box"), ...draft().nodes.map(n => row(n, n.id, n.region || kinds[n.subtype]?.label || "no name yet", (n.proposed ? "? proposed · " : "") + (n.made_by || "")))); }
  function drawWrong() { wrongs.replaceChildren(...(problems[id()] || []).map(t => make("li", {}, t))); }
  function pairs() {
    return (head.pairs[id()] || []).map(p => {
      const done = draft().decisions?.[p.key], why = make("input", { "aria-label": "Why", placeholder: "why" }); why.value = done?.why || "";
      const decide = (decision, node) => {
        change(d => { (d.decisions ||= {})[p.key] = { decision, why: why.value, named_by: Object.keys(p.nodes).join(" + ") }; d.nodes = d.nodes.filter(n => n.candidate !== p.key);
          if (node) { const n = { ...copy(node[1]), candidate: p.key, made_by: node[0], id: fresh() }; if (n.follows) n.follows = null; d.nodes.push(n); picked = n.id; } });
        draw();
      };
      why.addEventListener("change", () => done && change(d => { d.decisions[p.key].why = why.value; }));
      return make("div", { class: "a-pair" }, ...Object.entries(p.nodes).map(([who, n]) => make("p", {}, make("b", {}, who), ` ${kinds[n.subtype]?.label || n.subtype} · ${n.region || ""} → ${n.expected_update || ""}`)),
        make("p", {}, (p.iou === null ? "named by one only" : `boxes overlap ${p.iou}`) + (done ? ` · ${done.decision}` : "")), why, ...Object.entries(p.nodes).map(e => button(`Take ${e[0]}`, () => decide(`took ${e[0]}`, e))), button("Drop", () => decide("dropped")));
    });
  }
  function drawForm() {
    const kind = kinds[boxed()?.subtype], n = picked && picked !== "target" ? boxed() : null;
    const form = make("div", { class: "a-form" });
    if (picked === "target") form.append(field("Element", () => draft().target, "element"), field("Region", () => draft().target, "region"), field("Action", () => draft().target, "action"));
    if (n) {
      if (n.proposed) form.append(button("Accept (a)", accept));
      form.append(choice("Subtype", boxed, "subtype", [["", "choose …"], ...head.subtypes.map(s => [s.id, s.label, s.category])], true));
      if (kind) form.append(make("div", { class: "a-rules" }, make("p", {}, kind.definition), make("p", {}, "For example: " + kind.example), ...kind.rules.map(r => make("p", {}, "Rule: " + r))));
      form.append(field("Region ", boxed, "region"), field("Update", boxed, "expected_update", "textarea"), field("Reason", boxed, "reason", "textarea"),
        make("div", { class: "a-two" }, choice("Where", boxed, "where", [["else", "elsewhere"], ["target", "the edited text"]]), choice("Follows", boxed, "follows", [["", "the edit itself"], ...draft().nodes.filter(o => o.id !== n.id).map(o => [o.id, `${o.id} ${o.region || ""}`])])), button("Delete node", remove));
    }
    right.replaceChildren(make("div", { class: "a-form" }, field("Instruction", draft, "instruction", "textarea")), list, form, wrongs, ...pairs());
  }
  function accept() { const n = boxed(); if (n?.proposed) { change(() => { n.proposed = false; n.made_by += `, accepted by ${head.annotator}`; }); draw(); } }
  function draw() { drawBoxes(); drawList(); drawForm(); drawWrong(); count.textContent = `${id()} · ${at + 1} of ${head.pictures.length}`; }
  function go(k) {
    at = Math.max(0, Math.min(head.pictures.length - 1, k)); picked = null; lastText = ""; img.removeAttribute("src"); pic.style.aspectRatio = head.pictures[at].image_size.join(" / ");
    const here = at; picture(here).then(url => { if (at === here && url && typeof url === "string") img.src = url; });
    for (const k of [here + 1, here - 1, here + 2]) if (head.pictures[k]) picture(k);
    for (const k of kept.keys()) if (Math.abs(k - here) > 12) kept.delete(k);
    draw(); model.set("chosen", id()); model.save_changes();
  }
  const step = by => go(at + by);
  root.addEventListener("keydown", e => {
    e.stopPropagation();
    const typing = ["INPUT", "TEXTAREA", "SELECT"].includes(e.target.tagName), command = e.ctrlKey || e.metaKey, b = boxed()?.bbox;
    const to = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
    if (command && e.key.toLowerCase() === "z") { e.preventDefault(); return e.shiftKey ? undo(future, past) : undo(past, future); }
    if (e.key === "PageDown" || e.key === "PageUp") { e.preventDefault(); return step(e.key === "PageDown" ? 1 : -1); }
    if (typing) return;
    if (to && b) {
      e.preventDefault();
      const s = command || e.altKey ? 10 : 1, [w, h] = head.pictures[at].image_size, [dx, dy] = to.map(v => v * s);
      const n = e.shiftKey ? [b[0], b[1], Math.max(b[0] + 1, Math.min(w, b[2] + dx)), Math.max(b[1] + 1, Math.min(h, b[3] + dy))] : (x => (y => [b[0] + x, b[1] + y, b[2] + x, b[3] + y])(Math.max(-b[1], Math.min(h - b[3], dy))))(Math.max(-b[0], Math.min(w - b[2], dx)));
      setBox(n); return draw();
    }
    if (command || e.altKey) return;
    if (e.key === "Delete" || e.key === "Backspace") { e.preventDefault(); remove(); }
    else if (e.key === "n") { e.preventDefault(); const [w, h] = head.pictures[at].image_size; add(fit([w * .4, h * .4, w * .6, h * .6])); }
    else if (e.key === "a") accept();
    else if (e.key === "Escape") { picked = null; draw(); }
  });
  left.append(pic);
  if (head.pictures.length) go(at);
  return () => model.off("msg:custom", hear);
}
export default { render };
