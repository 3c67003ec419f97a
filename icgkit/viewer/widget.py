"""The explorer in a notebook: an anywidget; pictures, texts and prompts travel when they are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from icgkit.report.results import Results, load_results
from icgkit.viewer.payload import SHOWN, THUMBNAIL, Payload, data_url, picture, wish

SHELL = """
export default {
  render({ model, el }) {
    let next = 0; const waiting = {};
    const ask = what => new Promise(done => { waiting[++next] = done; model.send({ id: next, ...what }); });
    const hear = m => { waiting[m.id]?.(m.value); delete waiting[m.id]; };
    model.on("msg:custom", hear);
    const kept = new Map(), once = (key, what) => { if (!kept.has(key)) kept.set(key, ask(what)); return kept.get(key); };
    const api = {
      thumbnail: k => once("t" + k, { what: "thumbnail", k }), picture: k => once("p" + k, { what: "picture", k }),
      text: k => once("x" + k, { what: "text", k }), prompt: (k, condition) => once("q" + k + condition, { what: "prompt", k, condition }),
    };
    const root = document.createElement("div");
    const themed = document.body.dataset.jpThemeLight;
    if (themed) root.dataset.theme = themed === "false" ? "dark" : "light";
    root.style.setProperty("--icgx-height", model.get("height") + "px");
    el.append(root);
    const told = icgExplorer(root, model.get("head"), api, model.get("wish"), s => {
      model.set("chosen", { case: s.case, conditions: s.conditions, models: s.models, judge: s.judge, subtype: s.subtype, outcome: s.outcome }); model.save_changes();
    });
    model.on("change:wish", () => told.set(model.get("wish")));
    return () => model.off("msg:custom", hear);
  },
};
"""


@cache
def asset(name: str) -> str:
    """Return one of the explorer's own files."""
    return resources.files("icgkit.viewer").joinpath("static", name).read_text(encoding="utf-8")


class Explorer(anywidget.AnyWidget):
    """A run to look at, case by case; `chosen` holds what is shown, `wish` may be set to go elsewhere."""

    _esm = asset("explorer.js") + SHELL
    _css = asset("explorer.css")
    head = traitlets.Dict().tag(sync=True)
    wish = traitlets.Dict().tag(sync=True)
    chosen = traitlets.Dict().tag(sync=True)
    height = traitlets.Int(720).tag(sync=True)

    def __init__(self, run: Results, **options: Any) -> None:
        self.payload = Payload(run)
        head = self.payload.head()
        height = options.pop("height", 720)
        super().__init__(head=head, wish=wish(head, **options), height=height)
        self.on_msg(self._answer)

    def _answer(self, _: Any, content: dict[str, Any], __: Any) -> None:
        self.send({"id": content.get("id"), "value": self.reply(content)})

    def reply(self, asked: dict[str, Any]) -> str:
        """Return what the page asks for: a picture, a text, a prompt; empty for anything else."""
        what, k = asked.get("what"), asked.get("k")
        places = len(self.payload.texts) if what == "text" else len(self.payload.cases)
        if not isinstance(k, int) or not 0 <= k < places:
            return ""
        if what == "text":
            return self.payload.texts[k]
        case = self.payload.cases[k]
        if what in ("thumbnail", "picture"):
            return data_url(picture(case, THUMBNAIL if what == "thumbnail" else SHOWN))
        return self.payload.prompt(case, str(asked.get("condition"))) if what == "prompt" else ""


def explore(
    run: Results | str | Path, *, model: str | Sequence[str] = "", condition: str | Sequence[str] = "", judge: str = "",
    subtype: str = "", found: bool | None = None, case: str = "", height: int = 720,
) -> Explorer:  # fmt: skip
    """Open a run in a notebook: pictures with their regions, whole answers side by side, verdicts with reasons.

    Arrow keys step through the cases; a region, its sentence in the list and the nearest sentence of the
    answer light up together.

    Parameters
    ----------
    run : Results, str or Path
        A run, the name of a cache, or its folder.
    model, condition : str or two of them
        What is shown; two are shown side by side.
    judge, subtype, case : str
        Whose verdicts, which nodes, which case first.
    found : bool, optional
        Only cases with a node that the (left) answer found, or missed.
    height : int
        Pixels.

    Returns
    -------
    Explorer
        A widget; its `chosen` says what is looked at.

    Raises
    ------
    UnknownName
        For a name that the run does not have.

    Examples
    --------
    >>> import icgkit as ig
    >>> shown = ig.explore("offline-teb", condition=["direct", "nl_self"], found=False)
    >>> shown.wish["outcome"]
    'missed'
    """
    results = run if isinstance(run, Results) else load_results(run)
    return Explorer(
        results, model=model, condition=condition, judge=judge, subtype=subtype, found=found, case=case, height=height
    )  # fmt: skip
