// Verdicts to label blind: y or n, arrow keys to go on and back.
function render({ model, el }) {
  const items = model.get("head").items.map(i => ({ ...i })), waiting = {};
  let asked = 0, at = Math.max(0, items.findIndex(i => i.gold === null));
  const make = (tag, cls, ...inner) => { const e = document.createElement(tag); e.className = cls; e.append(...inner); return e; };
  const ask = what => new Promise(done => { waiting[++asked] = done; model.send({ id: asked, ...what }); });
  const hear = m => { waiting[m.id]?.(m.value); delete waiting[m.id]; };
  model.on("msg:custom", hear);
  const root = make("div", "icgx"), themed = document.body.dataset.jpThemeLight, said = make("span", "r-said");
  if (themed) root.dataset.theme = themed === "false" ? "dark" : "light";
  root.tabIndex = 0;
  const button = (text, act) => { const b = make("button", "", text); b.type = "button"; b.onclick = act; return b; };
  function label(gold) { const k = at; said.textContent = "saving …"; ask({ what: "label", k, gold }).then(t => { said.textContent = t || "NOT SAVED"; if (t) items[k].gold = gold; draw(); }); if (at < items.length - 1) at++; draw(); }
  function draw() {
    const i = items[at], img = document.createElement("img"), here = at;
    img.style.maxWidth = "100%"; img.alt = "";
    ask({ what: "picture", k: here }).then(url => { if (here === at && url) img.src = url; });
    root.replaceChildren(make("div", "x-bar", button("←", () => { at = Math.max(0, at - 1); draw(); }), button("→", () => { at = Math.min(items.length - 1, at + 1); draw(); }), button("Found (y)", () => label(true)), button("Not found (n)", () => label(false)), said,
      make("span", "x-count", `${at + 1} of ${items.length}${i.gold === null ? "" : i.gold ? " · labelled found" : " · labelled not found"}`)),
      make("div", "x-case", make("h2", "", i.instruction), make("p", "", `Does the answer name this: ${i.region} → ${i.update}, because ${i.reason}?`), make("p", "x-text", i.text || "(no text)"), img));
  }
  root.addEventListener("keydown", e => { if (e.ctrlKey || e.metaKey || e.altKey) return; const act = { y: () => label(true), n: () => label(false), ArrowRight: () => { at = Math.min(items.length - 1, at + 1); draw(); }, ArrowLeft: () => { at = Math.max(0, at - 1); draw(); } }[e.key]; if (act) { e.preventDefault(); e.stopPropagation(); act(); } });
  el.append(root); draw();
  return () => model.off("msg:custom", hear);
}
export default { render };
