"""What people say: human judgments, and forms for what no model can give; CSV out, and its way back, checked."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icgkit.cases.dataset import Dataset
from icgkit.errors import SchemaError, UnknownName
from icgkit.files import read_file, write_whole
from icgkit.prompts.replies import as_bool
from icgkit.schemas import schema
from icgkit.taxonomy import SUBTYPES

if TYPE_CHECKING:
    import polars as pl

    from icgkit.report.results import Results

MARKS = ("region", "update", "reason")
_SHOWN = ("instruction", "node_region", "expected_update", "node_reason")
_FORMULA = tuple("=+-@\t\r")
COLUMNS = ("dataset", "case_id", "node_id", "annotator", "condition", *MARKS, *_SHOWN)


def write_human_template(
    dataset: Dataset, path: str | Path, *, annotator: str, condition: str = "direct"
) -> int:
    """Write a CSV with one row a node and empty marks; return the number of rows."""
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
    """Keep a spreadsheet from taking a text for a formula; `spreadsheet_text` takes it back."""
    return f"'{text}" if text[:1] in _FORMULA else text


def spreadsheet_text(text: str) -> str:
    """Return what a cell meant before `spreadsheet_safe`, without white space around it."""
    text = text.strip()
    return text[1:] if text[:1] == "'" and text[1:2] in _FORMULA else text


def read_human(path: str | Path, dataset: Dataset) -> pl.DataFrame:
    """Read and check a filled-in CSV (schema `human`)."""
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


SOURCES = ("visual grounding", "constraint interpretation", "instruction override")
"""Why a model misses what it was told."""
N_GOLD = 200
"""Verdicts in a form for gold labels, drawn by seed."""


def write_form(run: Results, kind: str, path: str | Path, *, seed: int = 42) -> int:
    """Write a CSV to be filled in; return the number of rows."""
    import polars as pl

    if kind not in FORMS:
        raise UnknownName.among("form", kind, FORMS)
    shown = run.dataset.nodes().join(run.dataset.frame().select("case_id", "instruction"), on="case_id")
    shown = shown.select(
        "case_id", "node_id", "instruction", shown_region="region", shown_update="expected_update",
        shown_reason="reason",
    )  # fmt: skip
    frame = shown.with_columns(dataset=pl.lit(run.dataset.name), annotator=pl.lit(""))
    if kind == "human":
        frame = frame.with_columns(condition=pl.lit("direct"))
    elif kind in ("failures", "gold"):
        rows = run.judgments.filter(pl.col("found").is_not_null())
        rows = rows.filter(~pl.col("found"), condition="oracle") if kind == "failures" else rows
        rows = rows.sample(min(N_GOLD, rows.height), seed=seed) if kind == "gold" else rows
        own = [c for c in schema(kind).columns if c in rows.columns and c not in FORMS[kind]]
        said = run.responses.select(
            *(c for c in schema("responses").key if c in rows.columns), response="text"
        )
        frame = rows.select(own).join(shown, on=["case_id", "node_id"], how="left")
        frame = frame.join(said, on=[c for c in said.columns if c != "response"], how="left")
    asked = [c for c in schema(kind).columns if c not in frame.columns or c == "annotator"]
    order = [*schema(kind).columns, *(c for c in frame.columns if c not in schema(kind).columns)]
    frame = frame.with_columns(pl.lit("").alias(c) for c in asked).select(order)
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    out.writerow(order)
    for row in frame.sort(schema(kind).key).iter_rows():
        out.writerow(["" if v is None else spreadsheet_safe(str(v)) for v in row])
    write_whole(path, text.getvalue().encode("utf-8-sig"))
    return frame.height


def read_form(path: str | Path, kind: str) -> pl.DataFrame:
    """Read a filled-in form; rows in which nothing was answered are left out."""
    if kind not in FORMS:
        raise UnknownName.among("form", kind, FORMS)
    path = Path(path)
    try:
        text = read_file(path).decode("utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
    except (UnicodeDecodeError, csv.Error) as exc:
        raise SchemaError(f"{path.name}: no CSV in UTF-8: {exc}", remedy="save it as CSV UTF-8") from None
    columns, answers = schema(kind).columns, FORMS[kind]
    if absent := [c for c in columns if not rows or c not in rows[0]]:
        raise SchemaError(f"{path.name}: missing column {', '.join(absent)}", allowed=list(columns))
    found: list[dict[str, Any]] = []
    wrong: list[str] = []
    for number, row in enumerate(rows, 2):
        values: dict[str, Any] = {c: spreadsheet_text(row[c] or "") for c in columns}
        if not any(values[c] for c in answers):
            continue
        for column, spec in columns.items():
            try:
                values[column] = _value(values[column], spec.dtype, answers.get(column))
            except ValueError as exc:
                wrong.append(f"row {number}, {column}: {exc}")
        found.append(values)
    if not found and not wrong:
        raise SchemaError(f"{path.name}: nothing is filled in", allowed=list(answers))
    if wrong:
        raise SchemaError(f"{path.name}: " + " | ".join(wrong[:20]))
    return schema(kind).check(schema(kind).frame(found))


def _value(text: str, dtype: str, answer: Callable[[str], Any] | None) -> Any:
    if answer is not None and text:
        return answer(text)
    if dtype.startswith(("Int", "UInt")):
        return int(text)
    if not text:
        return None
    return as_bool(text) if dtype == "Boolean" else text


def _yes_or_no(text: str) -> bool:
    value = as_bool(text)
    if value is None:
        raise ValueError(f"{text!r} is neither true nor false")
    return value


def _one_of(*allowed: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in allowed:
            raise ValueError(f"{text!r} is none of {', '.join(allowed)}")
        return text

    return read


FORMS: dict[str, dict[str, Callable[[str], Any]]] = {
    "human": {"found": _yes_or_no},
    "audit": dict.fromkeys(("exists", "region", "update", "reason"), _yes_or_no),
    "labels": {"subtype": _one_of(*SUBTYPES)},
    "failures": {"source": _one_of(*SOURCES)},
    "gold": {"gold": _yes_or_no},
}
"""Forms by their name: the columns that people fill in, and how they are read."""
