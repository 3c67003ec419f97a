"""Human judgments: a CSV template to fill in, and a reader that checks every row."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icgkit.cases.dataset import Dataset
from icgkit.errors import SchemaError
from icgkit.files import read_file, write_whole
from icgkit.prompts.replies import as_bool
from icgkit.schemas import schema

if TYPE_CHECKING:
    import polars as pl

MARKS = ("region", "update", "reason")
_SHOWN = ("instruction", "node_region", "expected_update", "node_reason")
_FORMULA = tuple("=+-@\t\r")
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
    >>> from icgkit.judge.human import write_human_template, read_human
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
                {
                    k: spreadsheet_safe(v)
                    for k, v in (key | {"annotator": annotator, "condition": condition}).items()
                }
                | dict.fromkeys(MARKS, "")
                | dict(zip(_SHOWN, map(spreadsheet_safe, shown), strict=True))
            )
    text = io.StringIO()
    out = csv.DictWriter(text, COLUMNS, lineterminator="\n", quoting=csv.QUOTE_ALL)
    out.writeheader()
    out.writerows(rows)
    write_whole(path, text.getvalue().encode("utf-8-sig"))
    return len(rows)


def spreadsheet_safe(text: str) -> str:
    """Keep a spreadsheet from taking a text for a formula; `spreadsheet_text` takes it back.

    Examples
    --------
    >>> spreadsheet_safe("=1+1"), spreadsheet_safe("1+1")
    ("'=1+1", '1+1')
    """
    return f"'{text}" if text[:1] in _FORMULA else text


def spreadsheet_text(text: str) -> str:
    """Return what a cell meant before `spreadsheet_safe`, without white space around it."""
    text = text.strip()
    return text[1:] if text[:1] == "'" and text[1:2] in _FORMULA else text


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
        text = read_file(path).decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise SchemaError(f"{path.name}: not UTF-8: {exc}", remedy="save it as CSV UTF-8") from None
    head = text.split("\n", 1)[0]
    mark = max(",;\t", key=head.count)
    need = COLUMNS[: 5 + len(MARKS)]
    # A field is as long as the file at most; the module's own bound is no bound of ours.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    try:
        table = list(csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True))
    except csv.Error as exc:
        raise SchemaError(f"{path.name}: no CSV: {exc}", remedy="save it as CSV UTF-8 anew") from None
    names = table[0] if table else []
    absent = [c for c in need if c not in names]
    if absent:
        raise SchemaError(f"{path.name}: missing column {', '.join(absent)}", allowed=need)
    nodes = {(c.id, n.id) for c in dataset for n in c.constraint_nodes}
    rows: list[dict[str, Any]] = []
    wrong: list[str] = []
    lines: dict[tuple[str, ...], int] = {}
    for number, fields in enumerate(table[1:], 2):
        if not any(fields):
            continue
        row = dict.fromkeys(names, "") | dict(zip(names, map(spreadsheet_text, fields), strict=False))
        wrong += _faults(row, number, nodes, dataset.name)
        key = tuple(row[k] for k in need[:5])
        if key in lines:
            wrong.append(f"row {number}: same key as row {lines[key]}")
        lines.setdefault(key, number)
        marks = [as_bool(row[m]) if row[m] else None for m in MARKS]
        found = None if None in marks else all(marks)
        rows.append(dict(zip(need[:5], key, strict=True)) | {"found": found})
    if wrong:
        more = f" | and {len(wrong) - 20} more" if len(wrong) > 20 else ""
        raise SchemaError(f"{path.name}: " + " | ".join(wrong[:20]) + more)
    return schema("human").frame(rows)


def _faults(row: dict[str, str], line: int, nodes: set[tuple[str, str]], dataset: str) -> list[str]:
    out = []
    if (row["case_id"], row["node_id"]) not in nodes:
        out.append(f"row {line}: no node {row['node_id']!r} in case {row['case_id']!r} of {dataset}")
    if row["dataset"] != dataset:
        out.append(f"row {line}: dataset {row['dataset']!r}, expected {dataset!r}")
    if not row["annotator"]:
        out.append(f"row {line}: no annotator")
    for mark in MARKS:
        if row[mark] and as_bool(row[mark]) is None:
            out.append(f"row {line}: {mark} is {row[mark]!r}; allowed: true, false, yes, no or empty")
    return out
