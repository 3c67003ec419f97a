"""The annotator in a notebook: an anywidget; every change is on the disk before the page says that it is saved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anywidget
import polars as pl
import traitlets

from icgkit.cases import annotating
from icgkit.cases.case import Case
from icgkit.cases.dataset import Dataset, load_dataset, read_cases
from icgkit.errors import IcgError, SchemaError
from icgkit.files import inside, named_folder
from icgkit.taxonomy import RULES, SUBTYPES, category
from icgkit.viewer.payload import SHOWN, data_url, picture
from icgkit.viewer.widget import asset


class Annotator(anywidget.AnyWidget):
    """Cases to annotate; `chosen` is the id of the case shown, `agreement()` compares two annotators."""

    _esm = asset("annotator.js")
    _css = asset("explorer.css") + asset("annotator.css")
    head = traitlets.Dict().tag(sync=True)
    chosen = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(720).tag(sync=True)

    def __init__(
        self, folder: Path, annotator: str, *, boxes: str | Path = "", adjudicate: Sequence[str] = (), data: Dataset | None = None, height: int = 720
    ) -> None:  # fmt: skip
        self.folder, self.data = folder, data
        self.words: dict[
            str, dict[str, Any]
        ] = {}  # an adjudicator begins with the first one's instruction and target
        self.pictures = annotating.read_pictures(folder)
        self.journal = annotating.Journal(folder, annotator)
        notes = [self.journal.repaired] if self.journal.repaired else []
        pairs: dict[str, Any] = {}
        if adjudicate:
            if len(adjudicate) != 2 or annotator in adjudicate:
                raise SchemaError(
                    "adjudicate", got=list(adjudicate), allowed="two annotators, neither of them yourself"
                )
            pairs = annotating.candidates(folder, *adjudicate)
            first = annotating.journal_of(folder, adjudicate[0]).drafts
            self.words = {
                c: {k: d[k] for k in ("instruction", "target") if d.get(k)} for c, d in first.items()
            }
        begun, note = self._begun(boxes)
        self.note = note
        head = {
            "annotator": annotator, "pictures": self.pictures, "pairs": pairs, "sides": list(adjudicate),
            "drafts": {p["id"]: self.journal.drafts.get(p["id"]) or self._blank(p, begun.get(p["id"], [])) for p in self.pictures},
            "subtypes": [{"id": s.id, "label": s.label, "color": category(s.id).color, "category": category(s.id).label, "definition": s.definition, "example": s.example,
                          "rules": [r.rule for r in RULES if s.id in r.between]} for s in SUBTYPES.values()],
            "notes": [n for n in [*notes, note] if n],
        }  # fmt: skip
        super().__init__(head=head, chosen=self.pictures[0]["id"] if self.pictures else "", height=height)
        self.on_msg(self._answer)

    def _blank(self, shown: dict[str, Any], boxes: list[dict[str, Any]]) -> dict[str, Any]:
        nodes = [
            {"where": "else", "strength": "strong", **b, "id": f"n{k}", "proposed": True}
            for k, b in enumerate(boxes, 1)
        ]
        words = {"instruction": shown.get("instruction", ""), "target": shown.get("target", {})}
        return words | self.words.get(shown["id"], {}) | {"nodes": nodes}

    def _begun(self, boxes: str | Path) -> tuple[dict[str, list[dict[str, Any]]], str]:
        """Return boxes to begin with, by case: nobody's unless asked for."""
        if not boxes:
            return {}, ""
        fields = ("region", "subtype", "expected_update", "reason", "strength", "where", "bbox")
        if str(boxes) == "cases":
            found = {c.id: [n.model_dump(mode="json", include=set(fields)) | {"made_by": "cases.jsonl"} for n in c.constraint_nodes] for c in read_cases(self.folder / "cases.jsonl")}  # fmt: skip
            return found, ""
        if str(boxes) in annotating.annotators(self.folder):
            drafts = annotating.journal_of(self.folder, str(boxes)).drafts
            return {c: [{k: n.get(k) for k in fields} | {"made_by": str(boxes)} for n in d.get("nodes") or () if not n.get("proposed")] for c, d in drafts.items()}, f"Boxes of {boxes} are shown: not a blind annotation."  # fmt: skip
        if not Path(boxes).is_file():
            raise SchemaError("boxes", got=str(boxes), allowed=["cases", *annotating.annotators(self.folder), "a file of JSON lines"])  # fmt: skip
        read, converted = annotating.read_boxes(boxes, self.pictures)
        return read, f"{converted} boxes of {Path(boxes).name} were fractions of the picture; they are in pixels now." if converted else ""  # fmt: skip

    def agreement(self, first: str, second: str) -> pl.DataFrame:
        """Return how far two annotators agree; see `icgkit.metrics.graph_agreement`."""
        return annotating.compare_annotators(self.folder, first, second)

    def _answer(self, _: Any, content: dict[str, Any], __: Any) -> None:
        self.send({"id": content.get("id"), "value": self.reply(content)})

    def reply(self, asked: dict[str, Any]) -> Any:
        """Return a picture, or the problems of a draft after it was put on the disk; `{"error": ...}` where neither can be."""
        k = asked.get("k")
        if not isinstance(k, int) or not 0 <= k < len(self.pictures):
            return {"error": "no such case"}
        shown = self.pictures[k]
        if asked.get("what") == "picture":
            return data_url(picture(self._case(shown), SHOWN))
        draft = asked.get("draft")
        if asked.get("what") != "put" or not isinstance(draft, dict):
            return {"error": "not understood"}
        try:
            self.journal.put(shown["id"], draft)
        except (OSError, ValueError, IcgError) as exc:
            return {"error": f"NOT SAVED: {exc}"}
        try:
            return {"problems": annotating.draft_problems(shown, draft)}
        except (TypeError, ValueError, IcgError) as exc:
            return {"problems": [str(exc)]}

    def _case(self, shown: dict[str, Any]) -> Case:
        if self.data is not None:
            return self.data[shown["id"]]
        inside(self.folder, shown["image"])
        bare = {
            "id": "x",
            "instruction": "-",
            "target": {"element": "-", "region": "-", "action": "-"},
            "source": "-",
        }
        return Case.model_validate(
            bare | {"image": shown["image"], "image_size": shown["image_size"]}
        ).within(self.folder)


def annotate(
    dataset: str | Path | Dataset, *, annotator: str, boxes: str | Path = "", adjudicate: Sequence[str] = (), height: int = 720
) -> Annotator:  # fmt: skip
    """Annotate pictures in a notebook: boxes by mouse and keys, target, nodes, subtypes with their decision rules.

    Every change is appended to `annotations-NAME.jsonl` in the folder before the page says "saved", and is there
    again after a killed kernel. Nobody sees another's nodes unless `boxes` or `adjudicate` asks for them.

    Parameters
    ----------
    dataset : str, Path or Dataset
        A dataset, or a folder made by `icgkit new dataset`.
    annotator : str
        Who annotates: letters, digits, `.`, `_`, `-`.
    boxes : str or Path
        Boxes to begin with, to be accepted, moved or deleted: "cases" (the dataset's own), another annotator,
        or a file of JSON lines (`case_id`, `bbox` in pixels or fractions of the picture, any fields of a node).
    adjudicate : sequence of str
        Two annotators, whose nodes are shown side by side, to take one, the other or none, with a reason.
    height : int
        Pixels.

    Returns
    -------
    Annotator
        A widget; `icgkit export dataset FOLDER` makes a dataset of what was annotated.

    Raises
    ------
    SchemaError, UnknownName
        For a folder with nothing to annotate, or a name that is not there.
    """
    data: Dataset | None
    folder: Path | None
    if isinstance(dataset, Dataset):
        folder, data = dataset.folder, dataset
    else:
        folder = Path(dataset) if Path(dataset).is_dir() else named_folder("cases", dataset)
        listed = (folder / "pictures.jsonl").is_file() or not (folder / "cases.jsonl").is_file()
        data = None if listed else load_dataset(folder.resolve())
    if folder is None:
        raise SchemaError(
            "a dataset without a folder", remedy="write it with icgkit.write_cases, and load it"
        )
    return Annotator(folder, annotator, boxes=boxes, adjudicate=adjudicate, data=data, height=height)
