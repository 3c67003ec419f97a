"""The explorer as a page that opens from disk, to send to a colleague."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from icgkit.files import write_whole
from icgkit.report.results import Results
from icgkit.viewer.payload import SHOWN, THUMBNAIL, Payload, data_url, picture
from icgkit.viewer.widget import asset

ONE_FILE = 8_000_000
"""Bytes up to which a view is one HTML file, pictures and all; a larger one is a folder."""
SAFE = "default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; script-src 'self' 'unsafe-inline'; frame-src 'self'"
"""What the page may load: nothing from elsewhere."""
BOOT = """
const kept = {};
window.icgPart = (name, value) => kept[name].done(value);
const wait = (name, begin) => {
  if (!kept[name]) { let done; const promise = new Promise(f => { done = f; }); kept[name] = { done, promise }; begin(done); }
  return kept[name].promise;
};
const script = name => wait(name, () => { const s = document.createElement("script"); s.src = `parts/${name}.js`; document.body.append(s); });
// The page of a case has the whole texts, for readers without JavaScript too: it is opened out of sight and says them.
const spoken = k => wait(`case-${k}`, () => {
  const f = document.createElement("iframe"); f.hidden = true; f.src = `cases/${icgHead.cases[k].id}.html#say-${k}`; document.body.append(f);
});
addEventListener("message", e => { if (e.data?.icgCase !== undefined) kept[`case-${e.data.icgCase}`]?.done(e.data.texts); });
const inline = window.icgInline, name = c => c.replace(/[^\\w-]/g, "_");
const place = folder => k => Promise.resolve(inline ? inline.pictures[k] : icgHead.pictured[k] ? `${folder}/${icgHead.cases[k].id}.jpg` : "");
const api = {
  thumbnail: place("thumbnails"), picture: place("pictures"),
  text: (t, k) => inline ? Promise.resolve(inline.texts[t]) : spoken(k).then(said => said[t]),
  prompt: (k, c) => (inline ? Promise.resolve(inline.prompts[c]) : script(`prompt-${name(c)}`))
    .then(p => (p.words[p.of[k]] ?? "").replaceAll(p.slot, icgHead.cases[k].instruction)),
};
const told = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
const listed = name => told[name] ? told[name].split(",") : [];
const root = document.getElementById("icgx");
root.style.setProperty("--icgx-height", "calc(100vh - 150px)");
icgExplorer(root, icgHead, api, { ...told, conditions: listed("conditions"), models: listed("models") }, s => {
  const said = { case: s.case, judge: s.judge, subtype: s.subtype, outcome: s.outcome,
    conditions: (s.two ? s.conditions : s.conditions.slice(0, 1)).join(","), models: (s.two ? s.models : s.models.slice(0, 1)).join(",") };
  history.replaceState(null, "", "#" + new URLSearchParams(Object.entries(said).filter(([, v]) => v)));
});
"""


SAY = """<script>if (parent !== window && /^#say-\\d+$/.test(location.hash)) {
  const texts = {}; for (const e of document.querySelectorAll("pre")) texts[e.id.slice(1)] = e.textContent;
  parent.postMessage({ icgCase: +location.hash.slice(5), texts }, "*");
}</script></html>"""


def _script(value: Any) -> str:
    """Return JSON that may stand inside a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def write_view(run: Results, out: str | Path, *, one_file: int = ONE_FILE) -> Path:
    """Write a run as a page; return the file to open.

    Parameters
    ----------
    run : Results
        The run; one that is still going is written as far as it has come.
    out : path
        A folder. It gets `index.html` alone if everything fits into `one_file` bytes, else also
        `parts/`, `pictures/`, `thumbnails/` and `cases/` beside it.

    Returns
    -------
    Path
        `index.html`. Its address carries what is shown: `#case=...&models=...&conditions=...`.
    """
    folder, payload = Path(out), Payload(run)
    head = payload.head()
    small = {case.id: picture(case, THUMBNAIL) for case in payload.cases}
    head["pictured"] = [bool(small[case.id]) for case in payload.cases]
    prompts = {condition: _prompts(payload, condition) for condition in payload.conditions}
    words = sum(map(len, payload.texts)) + sum(len(w) for p in prompts.values() for w in p["words"])
    large = {case.id: picture(case, SHOWN, 74) for case in payload.cases} if words < one_file else {}
    if large and words + sum(len(p or b"") * 4 // 3 for p in large.values()) < one_file:
        inline = {
            "texts": payload.texts,
            "prompts": prompts,
            "pictures": [data_url(large[c.id]) for c in payload.cases],
        }
        _write(
            folder / "index.html",
            _page(run, payload, head, f"window.icgInline = {_script(inline)};").encode(),
        )
        return folder / "index.html"
    for condition, prompt in prompts.items():
        name = "prompt-" + re.sub(r"[^\w-]", "_", condition, flags=re.ASCII)
        _write(folder / "parts" / f"{name}.js", f"icgPart({json.dumps(name)}, {_script(prompt)});".encode())
    for case in payload.cases:
        for place, jpeg in (
            ("thumbnails", small[case.id]),
            ("pictures", large.get(case.id) or picture(case, SHOWN, 74)),
        ):
            if jpeg:
                _write(folder / place / f"{case.id}.jpg", jpeg)
        _write(folder / "cases" / f"{case.id}.html", "".join(_case_page(payload, case.id)).encode())
    _write(folder / "index.html", _page(run, payload, head, "").encode())
    return folder / "index.html"


def _prompts(payload: Payload, condition: str) -> dict[str, Any]:
    """Return the prompts of a condition: each wording once, with a mark where the instruction stands, and which case has which."""
    slot = "\u27e8instruction\u27e9"
    said = [payload.prompt(case, condition).replace(case.instruction, slot) for case in payload.cases]
    words = list(dict.fromkeys(said))
    places = {text: k for k, text in enumerate(words)}
    return {"slot": slot, "words": words, "of": [places[text] for text in said]}


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, data)


def _page(run: Results, payload: Payload, head: dict[str, Any], inline: str) -> str:
    """Return the page; without JavaScript it lists the cases, and links to a page of each where there is one."""
    said = html.escape(f"{run.name}: {run.dataset.name}, {', '.join(payload.models)}")
    rows = []
    for k, case in enumerate(payload.cases):
        name = html.escape(case.id)
        link = f'<a href="cases/{name}.html">{name}</a>' if not inline else f"<b>{name}</b>"
        shown = (
            f'<img loading="lazy" width="96" alt="" src="thumbnails/{name}.jpg">'
            if not inline and head["pictured"][k]
            else ""
        )
        rows.append(
            f"<tr><td>{shown}</td><td>{link}</td><td>{html.escape(case.instruction)}</td><td>{len(case.constraint_nodes)} nodes</td></tr>"
        )
    notes = "".join(f"<p>{html.escape(n)}</p>" for n in head["notes"])
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{SAFE}"><title>{said}</title>'
        f"<style>html{{color-scheme:light dark}}body{{margin:0;font:15px/1.5 system-ui,sans-serif}}header{{padding:10px 14px}}h1{{font-size:18px;margin:0}}"
        f"noscript{{display:block;padding:0 14px}}td{{padding:3px 10px 3px 0;vertical-align:top}}{asset('explorer.css')}</style></head>"
        f'<body><header><h1>{said}</h1></header><div id="icgx"></div><noscript>{notes}<table>{"".join(rows)}</table></noscript>'
        f"<script>const icgHead = {_script(head)};{inline}</script><script>{asset('explorer.js')}{BOOT}</script></body></html>"
    )


def _case_page(payload: Payload, case_id: str) -> Iterator[str]:
    """Yield a case with all its answers as a page that needs no JavaScript."""
    case = payload.run.dataset[case_id]
    name = html.escape(case.id)
    yield f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{name}</title><style>body{{font:15px/1.5 system-ui,sans-serif;max-width:62em;margin:1em auto;padding:0 1em}}pre{{white-space:pre-wrap;font:inherit}}img{{max-width:100%}}html{{color-scheme:light dark}}</style>'
    yield f'<p><a href="../index.html">all cases</a></p><h1>{html.escape(case.instruction)}</h1><img alt="" src="../pictures/{name}.jpg"><h2>What follows</h2><ol>'
    for node in case.constraint_nodes:
        yield f"<li><b>{html.escape(node.region)}</b> ({html.escape(node.kind.label)}): {html.escape(node.expected_update)}. {html.escape(node.reason)}</li>"
    yield "</ol>"
    said: dict[str, str] = {}
    rows = payload.answers.with_columns(k=pl.Series(payload.text_of)).filter(case_id=case_id)
    for row in rows.iter_rows(named=True):
        k = row["k"]
        place = html.escape(
            f"{row['model']} · {row['condition']}" + (f" · sample {row['sample']}" if row["sample"] else "")
        )
        text = row["text"] or ""
        first = said.setdefault(text, place) == place
        words = f"<pre id=t{k}>\n{html.escape(text)}</pre>" if first else f"The same as {said[text]}."
        yield f"<details><summary>{place}: {html.escape(str(row['status']))}</summary>{words}</details>"
    yield SAY
