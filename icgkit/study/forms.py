"""What people say: a form (CSV) for what no model can give, and its way back, checked."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from icgkit.cases.dataset import Dataset
from icgkit.errors import SchemaError, UnknownName
from icgkit.files import read_text, write_whole
from icgkit.prompts.replies import as_bool
from icgkit.report.results import Results
from icgkit.schemas import schema
from icgkit.taxonomy import SUBTYPES

MARKS = ("region", "update", "reason")
"""May stand in a form of kind "human" in place of `found`, which is true where all three are."""
SOURCES = ("visual grounding", "constraint interpretation", "instruction override")
"""Why a model misses what it was told."""
N_GOLD = 200
"""Verdicts in a form for gold labels, drawn by seed."""
_FORMULA = tuple("=+-@\t\r")


def spreadsheet_safe(text: str) -> str:
    """Keep a spreadsheet from taking a text for a formula; `spreadsheet_text` takes it back."""
    return f"'{text}" if text[:1] in _FORMULA else text


def spreadsheet_text(text: str) -> str:
    """Return what a cell meant before `spreadsheet_safe`, without white space around it."""
    text = text.strip()
    return text[1:] if text[:1] == "'" and text[1:2] in _FORMULA else text


def write_form(run: Results, kind: str, path: str | Path, *, seed: int = 42) -> int:
    """Write a CSV to be filled in, with what is asked about beside the empty columns; return its number of rows.

    Kinds: did an answerer find each node (`human`), does each node hold (`audit`), its subtype (`labels`), why it
    was missed under `oracle` (`failures`), is the judge's verdict right (`gold`, `N_GOLD` of them).
    """
    if kind not in FORMS:
        raise UnknownName.among("form", kind, FORMS)
    shown = run.dataset.nodes().join(run.dataset.frame().select("case_id", "instruction"), on="case_id")
    parts = {"shown_region": "region", "shown_update": "expected_update", "shown_reason": "reason"}
    shown = shown.select("case_id", "node_id", "instruction", **parts)
    frame = shown.with_columns(dataset=pl.lit(run.dataset.name), annotator=pl.lit(""))
    if kind == "human":
        frame = frame.with_columns(condition=pl.lit("direct"))
    elif kind in ("failures", "gold"):
        rows = run.judgments.filter(pl.col("found").is_not_null())
        rows = rows.filter(~pl.col("found"), condition="oracle") if kind == "failures" else rows
        rows = rows.sample(min(N_GOLD, rows.height), seed=seed) if kind == "gold" else rows
        own = [c for c in schema(kind).columns if c in rows.columns and c not in FORMS[kind]]
        key = [c for c in schema("responses").key if c in rows.columns]
        frame = rows.select(own).join(shown, on=["case_id", "node_id"], how="left")
        frame = frame.join(run.responses.select(*key, response="text"), on=key, how="left")
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


def read_form(path: str | Path, kind: str, dataset: Dataset | None = None) -> pl.DataFrame:
    """Read a filled-in form (schema `kind`), without the rows in which nothing was answered.

    Commas, semicolons or tabs stand between its fields. Every row with a value that is not allowed, without an
    annotator, with the key of another row, or about a node that `dataset` lacks is named in one `SchemaError`.
    """
    if kind not in FORMS:
        raise UnknownName.among("form", kind, FORMS)
    path, form, answers = Path(path), schema(kind), dict(FORMS[kind])
    names, rows = _table(path)
    columns = {c: spec.dtype for c, spec in form.columns.items()}
    if kind == "human" and "found" not in names:
        answers = dict.fromkeys(MARKS, _yes_or_no)
        columns = {c: dtype for c, dtype in columns.items() if c != "found"} | dict.fromkeys(MARKS, "Boolean")
    if absent := [c for c in columns if c not in names]:
        raise SchemaError(f"{path.name}: missing column {', '.join(absent)}", allowed=list(columns))
    nodes = {(dataset.name, c.id, n.id) for c in dataset for n in c.constraint_nodes} if dataset else None
    found: list[dict[str, Any]] = []
    wrong: list[str] = []
    lines: dict[tuple[Any, ...], int] = {}
    for number, row in rows:
        if not any(row[c] for c in answers):
            continue
        values: dict[str, Any] = dict(row)
        for column, dtype in columns.items():
            try:
                values[column] = _value(row[column], dtype, answers.get(column))
            except ValueError as exc:
                wrong.append(f"row {number}, {column}: {exc}")
        wrong += (f"row {number}: {fault}" for fault in _faults(row, nodes))
        key = tuple(row[k] for k in form.key)
        if lines.setdefault(key, number) != number:
            wrong.append(f"row {number}: same key as row {lines[key]}")
        if kind == "human" and "found" not in columns:
            marks = [values[m] for m in MARKS]
            values["found"] = None if None in marks else all(marks)
        found.append(values)
    if wrong:
        more = f" | and {len(wrong) - 20} more" if len(wrong) > 20 else ""
        raise SchemaError(f"{path.name}: " + " | ".join(wrong[:20]) + more)
    if not found:
        raise SchemaError(f"{path.name}: nothing is filled in", allowed=list(answers))
    return form.frame(found)


def _faults(row: dict[str, str], nodes: set[tuple[str, str, str]] | None) -> Iterator[str]:
    place = (row["dataset"], row["case_id"], row["node_id"])
    if nodes is not None and place not in nodes:
        yield f"no node {place[2]!r} in case {place[1]!r} of dataset {place[0]!r}"
    if row.get("annotator") == "":
        yield "no annotator"


def _table(path: Path) -> tuple[list[str], Iterator[tuple[int, dict[str, str]]]]:
    """Return the columns of a CSV, and its rows with their numbers."""
    text = read_text(path)
    mark = max(",;\t", key=text.split("\n", 1)[0].count)
    # A field is as long as the file at most; the module's own bound is no bound of ours.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    try:
        table = list(csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True))
    except csv.Error as exc:
        raise SchemaError(f"{path.name}: no CSV: {exc}", remedy="save it as CSV UTF-8 anew") from None
    names = table[0] if table else []
    blank = dict.fromkeys(names, "")
    rows = (
        (n, blank | dict(zip(names, map(spreadsheet_text, row), strict=False)))
        for n, row in enumerate(table[1:], 2)
    )
    return names, rows


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
    "audit": dict.fromkeys(("exists", *MARKS), _yes_or_no),
    "labels": {"subtype": _one_of(*SUBTYPES)},
    "failures": {"source": _one_of(*SOURCES)},
    "gold": {"gold": _yes_or_no},
}
"""Forms by their name: the columns that people fill in, and how they are read."""
