"""Annotations as they are made: a journal per annotator, what is wrong with them, agreement, and the dataset's form.

A folder holds `pictures.jsonl` (what is to be annotated; or `cases.jsonl`, whose pictures and instructions are then
taken) and `annotations-NAME.jsonl`, to which every change is appended as the whole draft of its case; the last counts.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from icgkit.cases.case import Case
from icgkit.cases.dataset import read_cases, sha256_of, write_cases
from icgkit.errors import ImageError, SchemaError, UnknownName
from icgkit.files import inside, read_text, sync_folder, write_rows, write_whole
from icgkit.metrics.graphs import COLUMNS, graph_agreement, match_nodes
from icgkit.untrusted import json_value

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif")
_MOST = 200_000
"""Characters of one draft."""
_NODE = ("id", "region", "subtype", "expected_update", "reason", "strength", "where", "follows", "bbox")


def read_pictures(folder: str | Path) -> list[dict[str, Any]]:
    """Return what is to be annotated: `id`, `image`, `image_size`, `source`, and `instruction` and `target` if given.

    Raises
    ------
    SchemaError
        If the folder holds neither `pictures.jsonl` nor `cases.jsonl`.
    """
    folder = Path(folder)
    listed = folder / "pictures.jsonl"
    if listed.is_file():
        lines = [line for line in read_text(listed).split("\n") if line.strip()]
        rows = [json_value(line, f"{listed.name}, line {k}") for k, line in enumerate(lines, 1)]
        for k, row in enumerate(rows, 1):
            if not isinstance(row, dict) or not all(isinstance(row.get(f), str) for f in ("id", "image")):
                raise SchemaError(
                    f"{listed.name}, line {k}", allowed="an object with id, image and image_size"
                )
        return rows
    if (folder / "cases.jsonl").is_file():
        keep = {"id", "image", "image_size", "image_sha256", "instruction", "target", "source", "metadata"}
        return [
            c.model_dump(mode="json", include=keep, exclude_none=True)
            for c in read_cases(folder / "cases.jsonl")
        ]
    raise SchemaError(
        f"{folder}: nothing to annotate", allowed="pictures.jsonl or cases.jsonl",
        remedy=f"start one from a folder of pictures: icgkit new dataset {folder}",
    )  # fmt: skip


def new_dataset(folder: str | Path, *, source: str = "own pictures") -> list[dict[str, Any]]:
    """List a folder's pictures in `pictures.jsonl`, with size (upright) and SHA-256, and write a `dataset.toml`.

    Raises
    ------
    SchemaError, ImageError
        If there is no picture, a picture cannot be read, or the folder is a dataset already.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    folder = Path(folder)
    if (folder / "pictures.jsonl").exists() or (folder / "cases.jsonl").exists():
        raise SchemaError(
            f"{folder} is a dataset already", remedy=f'annotate it: ig.annotate("{folder}", annotator="me")'
        )
    found = sorted(p for p in folder.rglob("*") if p.suffix.lower() in PICTURES and p.is_file())
    if not found:
        raise SchemaError(f"{folder}: no pictures", allowed=PICTURES)
    rows = []
    for k, path in enumerate(found, 1):
        name = path.relative_to(folder).as_posix()
        inside(folder, name)
        try:
            with Image.open(path) as image:
                size = ImageOps.exif_transpose(image).size
        except (OSError, UnidentifiedImageError, Image.DecompressionBombError) as exc:
            raise ImageError(f"{name} cannot be read: {exc}", remedy="mend it or take it away") from None
        rows.append({"id": f"case-{k:0{max(3, len(str(len(found))))}d}", "image": name, "image_size": list(size), "image_sha256": sha256_of(path), "source": source})  # fmt: skip
    toml = folder / "dataset.toml"
    if not toml.exists():
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", folder.resolve().name).strip("-.") or "dataset"
        words = {
            "name": name,
            "version": "0.1",
            "licence": "not stated",
            "provenance": "not stated",
            "image_root": ".",
        }
        write_whole(toml, "".join(f"{k} = {json.dumps(v)}\n" for k, v in words.items()).encode())
    write_rows(rows, folder / "pictures.jsonl", sync=True)
    return rows


def in_pixels(box: Iterable[float], size: Iterable[float]) -> tuple[list[float], bool]:
    """Return a box in pixels, and whether it was given in fractions of the picture (all four within 0 and 1).

    Examples
    --------
    >>> in_pixels([0.1, 0.2, 0.5, 1.0], (200, 100))
    ([20.0, 20.0, 100.0, 100.0], True)
    >>> in_pixels([10, 20, 50, 90], (200, 100))
    ([10.0, 20.0, 50.0, 90.0], False)
    """
    corners, (w, h) = [float(x) for x in box], size
    if len(corners) != 4:
        raise SchemaError("box", got=corners, allowed="x0, y0, x1, y1")
    if not all(0 <= x <= 1 for x in corners):
        return corners, False
    return [round(x * s, 2) for x, s in zip(corners, (w, h, w, h), strict=True)], True


def read_boxes(
    path: str | Path, pictures: Iterable[Mapping[str, Any]]
) -> tuple[dict[str, list[dict[str, Any]]], int]:
    """Read boxes to begin with from JSON lines (`case_id`, `bbox`, and any fields of a node, `made_by`).

    Returns
    -------
    (dict, int)
        By case, and how many boxes were fractions and were converted to pixels.
    """
    sizes, converted = {p["id"]: p["image_size"] for p in pictures}, 0
    out: dict[str, list[dict[str, Any]]] = {}
    path = Path(path)
    for k, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        row = json_value(line, f"{path.name}, line {k}")
        if (
            not isinstance(row, dict)
            or row.get("case_id") not in sizes
            or not isinstance(row.get("bbox"), list)
        ):
            raise SchemaError(
                f"{path.name}, line {k}", got=line[:80], allowed="case_id of a picture, and bbox"
            )
        row["bbox"], fractions = in_pixels(row["bbox"], sizes[row["case_id"]])
        converted += fractions
        out.setdefault(row.pop("case_id"), []).append({"made_by": path.name} | row)
    return out, converted


def draft_problems(picture: Mapping[str, Any], draft: Mapping[str, Any]) -> list[str]:
    """Return what keeps a draft from being a case, in words; empty if it is one."""
    try:
        as_case(picture, draft)
    except SchemaError as exc:
        return str(exc).partition(": ")[2].split(" | ")
    return []


def as_case(picture: Mapping[str, Any], draft: Mapping[str, Any]) -> Case:
    """Return the case of a draft: its accepted nodes only, an empty text being a missing one.

    Raises
    ------
    SchemaError
        Every problem, field by field.
    """

    def filled(data: Any) -> dict[str, Any]:
        return {k: v for k, v in data.items() if v not in ("", None)} if isinstance(data, dict) else {}

    nodes = [filled(n) for n in draft.get("nodes") or () if isinstance(n, dict) and not n.get("proposed")]
    made_by = {str(n.get("id")): n["made_by"] for n in nodes if n.get("made_by")}
    data = {k: v for k, v in picture.items() if k not in ("instruction", "target")}
    data |= {"source": picture.get("source") or "own pictures", "instruction": draft.get("instruction") or "", "target": filled(draft.get("target"))}  # fmt: skip
    data["constraint_nodes"] = [{k: n[k] for k in _NODE if k in n} for n in nodes]
    if made_by:
        data["metadata"] = {**(picture.get("metadata") or {}), "boxes_made_by": made_by}
    return Case.from_json(json.dumps(data), place="draft")


class Journal:
    """The drafts of one annotator; `put` has a change on the disk when it returns.

    Parameters
    ----------
    folder : str or Path
        The dataset's folder.
    annotator : str
        Letters, digits, `.`, `_`, `-`; at most 40.
    """

    def __init__(self, folder: str | Path, annotator: str) -> None:
        if not NAME.fullmatch(annotator):
            raise SchemaError("annotator", got=annotator, allowed="letters, digits, . _ - (at most 40)")
        self.annotator, self.path = annotator, Path(folder) / f"annotations-{annotator}.jsonl"
        self.drafts: dict[str, dict[str, Any]] = {}
        self.repaired = ""
        if self.path.is_file():
            self._read()

    def _read(self) -> None:
        content = self.path.read_bytes()
        end = content.rfind(b"\n") + 1
        if end < len(content):  # the last write was cut: nothing that was said to be saved
            self.repaired = f"{self.path.name}: a cut last line of {len(content) - end} bytes was left out"
        for k, line in enumerate(content[:end].split(b"\n"), 1):
            if not line.strip():
                continue
            row = json_value(line, f"{self.path.name}, line {k}")
            if not isinstance(row, dict) or not isinstance(row.get("draft"), dict):
                raise SchemaError(f"{self.path.name}, line {k}", allowed="an object with case_id and draft")
            self.drafts[str(row.get("case_id"))] = row["draft"]

    def put(self, case_id: str, draft: dict[str, Any]) -> None:
        """Append a draft, on the disk when this returns."""
        row = {"case_id": case_id, "at": datetime.now(UTC).isoformat(timespec="milliseconds"), "draft": draft}
        line = json.dumps(row, ensure_ascii=True, allow_nan=False)
        if len(line) > _MOST:
            raise SchemaError(
                f"draft of {case_id}", got=f"{len(line)} characters", allowed=f"at most {_MOST}"
            )
        new = not self.path.exists()
        with open(self.path, "r+b" if not new else "w+b") as stream:
            stream.seek(0, os.SEEK_END)
            if stream.tell():
                stream.seek(-1, os.SEEK_END)
                if stream.read(1) != b"\n":
                    stream.seek(0)
                    stream.truncate(stream.read().rfind(b"\n") + 1)
                    stream.seek(0, os.SEEK_END)
            stream.write(line.encode() + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        if new:
            sync_folder(self.path.parent)
        self.drafts[case_id] = draft

    def nodes(self) -> pl.DataFrame:
        """Return the accepted nodes that have a box and a subtype, one a row, as `icgkit.metrics.match_nodes` takes them."""
        rows = [
            {"case_id": case, "node_id": str(n.get("id")), "annotator": self.annotator, "where": n.get("where") or "else"}
            | {"subtype": n["subtype"], "region": n.get("region") or "", "update": n.get("expected_update") or ""}
            | dict(zip(("x0", "y0", "x1", "y1"), map(float, n["bbox"]), strict=True))
            for case, draft in self.drafts.items() for n in draft.get("nodes") or ()
            if not n.get("proposed") and n.get("bbox") and n.get("subtype")
        ]  # fmt: skip
        columns = {"case_id": pl.String, "node_id": pl.String, "annotator": pl.String, "where": pl.String, "subtype": pl.String, "region": pl.String, "update": pl.String}  # fmt: skip
        return pl.DataFrame(rows, schema=columns | dict.fromkeys(("x0", "y0", "x1", "y1"), pl.Float64))


def annotators(folder: str | Path) -> list[str]:
    """Return who has annotated in a folder."""
    return sorted(p.name[12:-6] for p in Path(folder).glob("annotations-*.jsonl"))


def journal_of(folder: str | Path, annotator: str) -> Journal:
    """Return the journal of somebody who has annotated there."""
    if annotator not in annotators(folder):
        raise UnknownName.among("annotator", annotator, annotators(folder))
    return Journal(folder, annotator)


def compare_annotators(folder: str | Path, first: str, second: str) -> pl.DataFrame:
    """Return `icgkit.metrics.graph_agreement` of two annotators, on the cases that both have begun."""
    one, two = journal_of(folder, first), journal_of(folder, second)
    both = sorted(set(one.drafts) & set(two.drafts))
    a, b = (
        j.nodes().filter(pl.col("case_id").is_in(both)).select("case_id", *COLUMNS[1:]) for j in (one, two)
    )
    return graph_agreement(a, b)


def candidates(folder: str | Path, first: str, second: str) -> dict[str, list[dict[str, Any]]]:
    """Return, by case, the nodes of two annotators paired by `match_nodes`: `key`, `nodes` (by annotator), `iou`."""
    journals = [journal_of(folder, n) for n in (first, second)]
    frames = [j.nodes() for j in journals]
    at = [{(c, str(n.get("id"))): n for c, d in j.drafts.items() for n in d.get("nodes") or () if not n.get("proposed")} for j in journals]  # fmt: skip
    out: dict[str, list[dict[str, Any]]] = {}
    left = [dict(side) for side in at]
    for pair in match_nodes(*frames).iter_rows(named=True):
        keys = [
            (pair["case_id"], f["node_id"][pair[s]]) for f, s in zip(frames, ("first", "second"), strict=True)
        ]
        nodes = {n: side.pop(k) for n, side, k in zip((first, second), left, keys, strict=True)}
        out.setdefault(pair["case_id"], []).append({"key": "+".join(k[1] for k in keys), "nodes": nodes, "iou": round(pair["iou"], 3)})  # fmt: skip
    for name, side in zip((first, second), left, strict=True):
        for (case, node), value in side.items():
            out.setdefault(case, []).append({"key": f"{name}:{node}", "nodes": {name: value}, "iou": None})
    return out


def export(folder: str | Path, annotator: str) -> tuple[list[Case], dict[str, list[str]]]:
    """Write `cases.jsonl` from one annotator's (or the adjudicator's) drafts, and what goes with it.

    `annotations.jsonl` has the nodes of all annotators before adjudication; `adjudication.csv` every decision.

    Returns
    -------
    (list of Case, dict)
        The cases written; the problems of each draft that is no case and was left out (it stays in the journal).
    """
    folder, kept, wrong = Path(folder), [], {}
    chosen = journal_of(folder, annotator)
    pictures = read_pictures(folder)
    for picture in pictures:
        if draft := chosen.drafts.get(picture["id"]):
            if faults := draft_problems(picture, draft):
                wrong[picture["id"]] = faults
            else:
                kept.append(as_case(picture, draft))
    if not kept:
        raise SchemaError(f"{annotator}: no case is complete", got=" | ".join(f"{k}: {v[0]}" for k, v in wrong.items())[:190] or None)  # fmt: skip
    if not (
        folder / "pictures.jsonl"
    ).exists():  # the cases that this was begun from stay what is to be annotated
        write_rows(pictures, folder / "pictures.jsonl", sync=True)
        os.replace(folder / "cases.jsonl", folder / "cases-before.jsonl")
    write_cases(kept, folder / "cases.jsonl")
    decided = [
        (case, key, d.get("named_by", ""), d.get("decision", ""), d.get("why", ""))
        for case, draft in chosen.drafts.items() for key, d in (draft.get("decisions") or {}).items()
    ]  # fmt: skip
    others = [n for n in annotators(folder) if not (decided and n == annotator)]
    rows = pl.concat([Journal(folder, n).nodes() for n in others]) if others else pl.DataFrame()
    write_whole(
        folder / "annotations.jsonl", rows.drop("node_id", strict=False).write_ndjson().encode(), sync=True
    )
    if decided:
        text = io.StringIO()
        out = csv.writer(text, lineterminator="\n")
        out.writerow(("case_id", "candidate", "named_by", "decision", "why"))
        out.writerows([f"'{c}" if str(c)[:1] in "=+-@\t\r" and c else c for c in row] for row in decided)
        write_whole(folder / "adjudication.csv", text.getvalue().encode(), sync=True)
    return kept, wrong
