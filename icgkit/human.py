"""Human judgments: a CSV template to fill in, and a reader that checks every row."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icgkit.errors import SchemaError
from icgkit.load import Dataset
from icgkit.replies import as_bool
from icgkit.schemas import schema

if TYPE_CHECKING:
    import polars as pl

MARKS = ("region", "update", "reason")
_SHOWN = ("instruction", "node_region", "expected_update", "node_reason")
COLUMNS = ("dataset", "case_id", "node_id", "annotator", "condition", *MARKS, *_SHOWN)


def write_human_template(
    dataset: Dataset, path: str | Path, *, annotator: str, condition: str = "direct"
) -> int:
    """Write a CSV with one row a node and empty marks; return the number of rows.

    The annotator fills `region`, `update` and `reason` with true or false (yes and no will do)
    and leaves empty what was not judged. The last columns show what is to be looked for.

    Examples
    --------
    >>> import tempfile, icgkit as ig
    >>> from icgkit.human import write_human_template, read_human
    >>> data = ig.load_dataset("icg-teb").subset(["teb-001"])
    >>> file = tempfile.mkdtemp() + "/ada.csv"
    >>> write_human_template(data, file, annotator="ada")
    2
    >>> read_human(file, data)["found"].null_count()
    2
    """
    rows = []
    for case in dataset:
        for node in case.constraint_nodes:
            key = {"dataset": dataset.name, "case_id": case.id, "node_id": node.id}
            shown = (case.instruction, node.region, node.expected_update, node.reason)
            rows.append(
                {**key, "annotator": annotator, "condition": condition, **dict.fromkeys(MARKS, "")}
                | dict(zip(_SHOWN, map(_tame, shown), strict=True))
            )
    text = io.StringIO()
    out = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    out.writeheader()
    out.writerows(rows)
    Path(path).write_text(text.getvalue(), encoding="utf-8-sig", newline="")
    return len(rows)


def _tame(text: str) -> str:
    """Keep a spreadsheet from taking a text for a formula."""
    return f"'{text}" if text[:1] in "=+-@" else text


def read_human(path: str | Path, dataset: Dataset) -> pl.DataFrame:
    """Read and check a filled-in CSV (schema `human`).

    `found` is true where all three marks are, false where all are given and one is not, and null
    where a mark is empty. Commas, semicolons or tabs between the fields, with or without a
    byte-order mark.

    Raises
    ------
    SchemaError
        Listing every row with an unknown node, a mark that is neither true nor false, no
        annotator, or a key that stands twice.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise SchemaError(f"{path.name}: not UTF-8: {exc}", remedy="save it as CSV UTF-8") from None
    head = text.split("\n", 1)[0]
    mark = max(",;\t", key=head.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=mark)
    need = COLUMNS[: 5 + len(MARKS)]
    absent = [c for c in need if c not in (reader.fieldnames or ())]
    if absent:
        raise SchemaError(f"{path.name}: missing column {', '.join(absent)}", allowed=need)
    nodes = {(c.id, n.id) for c in dataset for n in c.constraint_nodes}
    rows: list[dict[str, Any]] = []
    wrong: list[str] = []
    lines: dict[tuple[str, ...], int] = {}
    for row in reader:
        wrong += _faults(row, reader.line_num, nodes, dataset.name)
        key = tuple(str(row[k]).strip() for k in need[:5])
        if key in lines:
            wrong.append(f"row {reader.line_num}: same key as row {lines[key]}")
        lines.setdefault(key, reader.line_num)
        marks = [as_bool(row[m]) if str(row[m]).strip() else None for m in MARKS]
        found = None if None in marks else all(marks)
        rows.append(dict(zip(need[:5], key, strict=True)) | {"found": found})
    if wrong:
        more = f" | and {len(wrong) - 20} more" if len(wrong) > 20 else ""
        raise SchemaError(f"{path.name}: " + " | ".join(wrong[:20]) + more)
    return schema("human").frame(rows)


def _faults(row: dict[str, Any], line: int, nodes: set[tuple[str, str]], dataset: str) -> list[str]:
    out = []
    name = str(row["case_id"] or "").strip(), str(row["node_id"] or "").strip()
    if name not in nodes:
        out.append(f"row {line}: no node {name[1]!r} in case {name[0]!r} of {dataset}")
    if str(row["dataset"] or "").strip() != dataset:
        out.append(f"row {line}: dataset {row['dataset']!r}, expected {dataset!r}")
    if not str(row["annotator"] or "").strip():
        out.append(f"row {line}: no annotator")
    for mark in MARKS:
        value = str(row[mark] or "").strip()
        if value and as_bool(value) is None:
            out.append(f"row {line}: {mark} is {value!r}; allowed: true, false, yes, no or empty")
    return out
