// The explorer of a run: `icgExplorer(root, head, api, wish, changed)`.
// head: see icgkit.viewer.payload; api: { thumbnail(k), picture(k), text(textK, caseK), prompt(caseK, condition) }, each a promise of a string.
function icgExplorer(root, head, api, wish = {}, changed = () => {}) {
  const make = (tag, props = {}, ...children) => {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(props)) k === "class" ? (e.className = v) : k.startsWith("on") ? e.addEventListener(k.slice(2), v) : v !== null && v !== undefined && e.setAttribute(k, v);
    e.append(...children.filter(c => c !== null && c !== undefined));
    return e;
  };
  const svg = (tag, props) => { const e = document.createElementNS("http://www.w3.org/2000/svg", tag); for (const k in props) e.setAttribute(k, props[k]); return e; };
  const kinds = Object.fromEntries(head.subtypes.map(s => [s.id, s]));
  const caseOf = Object.fromEntries(head.cases.map((c, k) => [c.id, k]));
  const at = new Map();
  head.answers.forEach((row, k) => { const key = row.slice(0, 3).join("|"); if (!at.has(key)) at.set(key, []); at.get(key).push(k); });
  const conditionIds = head.conditions.map(c => c.id);
  const state = { conditions: [], models: [], judge: head.judges[0] || "", subtype: "", outcome: "", words: "", case: "", two: false, lit: null };
  const start = w => {
    state.conditions = [w.conditions?.[0] || conditionIds[0], w.conditions?.[1] || w.conditions?.[0] || conditionIds[1] || conditionIds[0]];
    state.models = [w.models?.[0] || head.models[0], w.models?.[1] || w.models?.[0] || head.models[0]];
    state.two = (w.conditions?.length || 0) > 1 || (w.models?.length || 0) > 1;
    for (const k of ["judge", "subtype", "outcome", "case"]) if (w[k]) state[k] = w[k];
  };
  start(wish);

  const answersOf = (k, side) => at.get([k, conditionIds.indexOf(state.conditions[side]), head.models.indexOf(state.models[side])].join("|")) || [];
  const markOf = (answer, node, judge = state.judge) => {
    const signs = head.marks[head.judges.indexOf(judge)]?.[answer];
    return signs ? signs[node] : "?";
  };
  const outcome = sign => sign === undefined || sign === "?" ? "none" : sign === "7" ? "found" : "missed";
  const said = { found: "✓ found", missed: "✗ missed", none: "· no verdict" };

  function shown() {
    const words = state.words.toLowerCase();
    const out = [];
    head.cases.forEach((c, k) => {
      if (words && !(c.id + " " + c.instruction).toLowerCase().includes(words)) return;
      const answers = answersOf(k, 0);
      const nodes = c.nodes.map((n, i) => [n, i]).filter(([n]) => !state.subtype || n.subtype === state.subtype);
      if (state.subtype && !nodes.length) return;
      if (state.outcome && !answers.some(a => nodes.some(([, i]) => outcome(markOf(a, i)) === state.outcome))) return;
      out.push(k);
    });
    return out;
  }

  const select = (value, options, change, label) => {
    const e = make("select", { "aria-label": label, onchange: () => { change(e.value); draw(); } });
    for (const [v, text] of options) { const o = make("option", { value: v }, text); if (v === value) o.selected = true; e.append(o); }
    return e;
  };
  const list = make("div", { class: "x-list", role: "listbox", "aria-label": "Cases", tabindex: "0" });
  const casePane = make("div", { class: "x-case" });
  const answerPane = make("div", { class: "x-answers" });
  const bar = make("div", { class: "x-bar" });
  root.classList.add("icgx");
  root.replaceChildren(bar, make("div", { class: "x-main" }, list, casePane, answerPane), make("div", { class: "x-notes" }, ...head.notes.map(n => make("div", {}, n))));

  const watch = new IntersectionObserver(entries => entries.forEach(e => {
    if (!e.isIntersecting) return;
    watch.unobserve(e.target);
    api.thumbnail(+e.target.dataset.k).then(url => { if (url) e.target.querySelector("img").src = url; });
  }), { root: list, rootMargin: "300px" });

  let filtered = [], items = {}, listed = "";
  function drawList() {
    filtered = shown();
    const now = [state.conditions[0], state.models[0], state.judge, state.subtype, state.outcome, state.words].join("\u0001");
    if (now !== listed) {
      listed = now; items = {}; watch.disconnect();
      list.replaceChildren(...filtered.map(k => {
        const c = head.cases[k], answer = answersOf(k, 0)[0];
        const hits = c.nodes.filter((n, i) => answer !== undefined && outcome(markOf(answer, i)) === "found").length;
        const item = make("button", { class: "x-item", role: "option", "data-k": k, title: c.instruction, onclick: () => go(k) },
          make("img", { alt: "", src: "data:image/gif;base64,R0lGODlhAQABAAAAACw=" }), make("span", {}, make("b", {}, c.id), `${hits} of ${c.nodes.length}`));
        items[k] = item; watch.observe(item); return item;
      }));
    }
    if (!filtered.includes(caseOf[state.case])) state.case = filtered.length ? head.cases[filtered[0]].id : "";
    for (const k in items) items[k].setAttribute("aria-current", head.cases[k].id === state.case);
    count.textContent = `${filtered.length} of ${head.cases.length} cases`;
  }

  const count = make("span", { class: "x-count", "aria-live": "polite" });
  function drawBar() {
    const field = (name, e) => make("label", {}, name, e);
    const search = make("input", { type: "search", value: state.words, placeholder: "id or words", "aria-label": "Search", oninput: e => { state.words = e.target.value; drawList(); drawCase(); } });
    bar.replaceChildren(
      field("Subtype", select(state.subtype, [["", "all"], ...head.subtypes.map(s => [s.id, s.label])], v => state.subtype = v, "Subtype")),
      field("Outcome, left", select(state.outcome, [["", "any"], ["found", "a node found"], ["missed", "a node missed"], ["none", "a node without verdict"]], v => state.outcome = v, "Outcome")),
      field("Judge", select(state.judge, head.judges.map(j => [j, j]), v => state.judge = v, "Judge")),
      field("Search", search),
      make("button", { "aria-pressed": state.two, onclick: () => { state.two = !state.two; draw(); } }, state.two ? "One answer" : "Two answers"), count);
  }

  function light(node) {
    state.lit = node;
    for (const e of root.querySelectorAll("[data-node]")) e.classList.toggle("lit", e.dataset.node === node);
    const c = head.cases[caseOf[state.case]], n = c?.nodes.find(x => x.id === node);
    for (const e of root.querySelectorAll(".x-text")) mark(e, n);
  }

  // The sentence of an answer that shares most words with a node; a help for the eye, not a verdict.
  function mark(e, node) {
    const text = e.dataset.text || "";
    if (!node) { e.textContent = text; return; }
    const bag = new Set((node.region + " " + node.update).toLowerCase().match(/[\p{L}\p{N}.,%€$£¥]+/gu) || []);
    let best = null, most = 0;
    for (const m of text.matchAll(/[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?]?/gu)) {
      const words = m[0].toLowerCase().match(/[\p{L}\p{N}.,%€$£¥]+/gu) || [];
      const score = words.filter(w => bag.has(w) && w.length > 2).length / Math.sqrt(words.length + 4);
      if (score > most) { most = score; best = m; }
    }
    if (!best || most < 0.35) { e.textContent = text; return; }
    const m = make("mark", {}, best[0]); m.style.setProperty("--tone", kinds[node.subtype]?.color);
    e.replaceChildren(text.slice(0, best.index), m, text.slice(best.index + best[0].length));
  }

  let drawn = 0;
  function drawCase() {
    const turn = ++drawn, k = caseOf[state.case];
    if (k === undefined || !filtered.length) { casePane.replaceChildren(make("p", { class: "x-empty" }, "No case answers to this choice.")); answerPane.replaceChildren(); return; }
    const c = head.cases[k], [w, h] = c.size, sides = state.two ? [0, 1] : [0];
    const picture = make("img", { alt: `Picture of case ${c.id}`, width: w, height: h });
    const overlay = svg("svg", { viewBox: `0 0 ${w} ${h}`, role: "group", "aria-label": "Regions" });
    const region = (id, box, color, dash, label) => {
      if (!box) return;
      const g = svg("g", id ? { "data-node": id, tabindex: "0" } : {}), place = { x: box[0], y: box[1], width: box[2] - box[0], height: box[3] - box[1] };
      g.append(svg("rect", { ...place, class: "halo" }), svg("rect", { ...place, class: "box", stroke: color, "stroke-dasharray": dash }));
      const title = svg("title", {}); title.textContent = label; g.append(title);
      if (id) for (const [on, f] of [["mouseenter", () => light(id)], ["mouseleave", () => light(null)], ["focus", () => light(id)]]) g.addEventListener(on, f);
      overlay.append(g);
    };
    region("", c.target.bbox, "#111", "7 4", `edited: ${c.target.element}`);
    c.nodes.forEach(n => region(n.id, n.bbox, kinds[n.subtype]?.color || "#555", n.where === "target" ? "3 3" : "none", `${n.id}: ${n.region}`));
    const nodes = make("ul", { class: "x-nodes" }, ...c.nodes.map((n, i) => {
      const marks = [];
      for (const side of sides) for (const a of answersOf(k, side)) for (const judge of head.judges) {
        const sign = markOf(a, i, judge), o = outcome(sign);
        const parts = o === "missed" ? ` (${["region", "update", "reason"].map((p, b) => ((+sign >> (2 - b)) & 1 ? "✓" : "✗") + p).join(" ")})` : "";
        const why = head.why[head.judges.indexOf(judge)]?.[a]?.[n.id];
        marks.push(make("span", { class: `x-mark ${o}`, title: why || null }, `${sides.length > 1 ? ["left", "right"][side] + ", " : ""}${judge}: ${said[o]}${parts}${why ? ` – ${why}` : ""}`));
      }
      const li = make("li", { "data-node": n.id, tabindex: "0", onmouseenter: () => light(n.id), onmouseleave: () => light(null), onfocus: () => light(n.id) },
        make("b", {}, n.region), make("span", { class: "dim" }, `  ${n.id} · ${kinds[n.subtype]?.label || n.subtype}${n.chain > 1 ? ` · step ${n.chain}` : ""}${n.where === "target" ? " · on the target" : ""}`),
        make("p", {}, n.update), make("p", { class: "dim" }, n.reason), make("div", { class: "x-marks" }, ...marks));
      li.style.setProperty("--tone", kinds[n.subtype]?.color || "#555");
      return li;
    }));
    casePane.replaceChildren(make("h2", {}, c.instruction), make("p", { class: "x-sub" }, `${c.id} · edited (dashed): ${c.target.element} → ${c.target.action}`), make("div", { class: "x-pic" }, picture, overlay), nodes);
    casePane.scrollTop = 0;
    api.picture(k).then(url => { if (turn === drawn) url ? (picture.src = url) : picture.replaceWith(make("p", { class: "x-empty" }, "The picture is not on this machine.")); });
    answerPane.className = `x-answers${state.two ? " two" : ""}`;
    answerPane.replaceChildren(...sides.map(side => panel(k, side, turn)));
    items[k]?.scrollIntoView({ block: "nearest" });
    changed({ ...state });
  }

  function panel(k, side, turn) {
    const pick = make("div", { class: "x-pick" },
      select(state.conditions[side], head.conditions.map(c => [c.id, c.label]), v => state.conditions[side] = v, `Condition, ${side ? "right" : "left"}`),
      select(state.models[side], head.models.map(m => [m, m]), v => state.models[side] = v, `Model, ${side ? "right" : "left"}`));
    const answers = answersOf(k, side);
    const out = make("section", { class: "x-panel" }, pick);
    if (!answers.length) out.append(make("p", { class: "x-empty" }, "No answer recorded."));
    for (const a of answers) {
      const [, , , sample, status, cost, seconds, tokens, words] = head.answers[a];
      const facts = [answers.length > 1 ? `sample ${sample}` : "", `status ${status}`, cost !== null ? `$${cost}` : "cost unknown", seconds !== null ? `${seconds} s` : "", tokens !== null ? `${tokens} tokens` : ""].filter(Boolean);
      const text = make("p", { class: "x-text" }, "…");
      out.append(make("p", { class: "x-facts" }, facts.join(" · ")), text);
      (words < 0 ? Promise.resolve("") : api.text(words, k)).then(t => { if (turn === drawn) { text.dataset.text = t || ""; text.textContent = t || "(no text)"; } });
    }
    const prompt = make("p", { class: "x-text" });
    const more = make("details", { ontoggle: () => more.open && !prompt.textContent && api.prompt(k, state.conditions[side]).then(t => prompt.textContent = t || "The prompt of this condition is a chain, or its template is not here.") },
      make("summary", {}, "Prompt"), prompt);
    out.append(more);
    return out;
  }

  function go(k) { state.case = head.cases[k].id; drawList(); drawCase(); }
  function step(by) { const i = filtered.indexOf(caseOf[state.case]); const j = Math.min(filtered.length - 1, Math.max(0, i + by)); if (filtered[j] !== undefined) go(filtered[j]); }
  function draw() { drawBar(); drawList(); drawCase(); }
  root.addEventListener("keydown", e => {
    if (["INPUT", "SELECT", "TEXTAREA"].includes(e.target.tagName) || e.ctrlKey || e.metaKey || e.altKey) return;
    const by = { ArrowRight: 1, ArrowDown: 1, j: 1, n: 1, ArrowLeft: -1, ArrowUp: -1, k: -1, p: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9 }[e.key];
    if (by === undefined) return;
    e.preventDefault(); e.stopPropagation(); step(by);
  });
  draw();
  return { state, set: w => { start(w); draw(); } };
}
