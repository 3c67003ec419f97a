"""The columns of every frame: dtype, unit, what null means. Read from `schemas.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from icgkit.errors import SchemaError, UnknownName

CASE_KEY = ("dataset", "case_id")
CALL_KEY = (*CASE_KEY, "condition", "model", "sample")
JUDGMENT_KEY = (*CALL_KEY, "node_id", "judge")


@dataclass(frozen=True, slots=True)
class Column:
    """One column: polars dtype by name, what it holds (with unit), what null means."""

    dtype: str
    doc: str
    null: str | None = None
    """Meaning of null; None where null is not allowed."""
    optional: bool = False
    """Whether a frame may lack the column."""


@dataclass(frozen=True)
class Schema:
    """Columns and key of one kind of frame."""

    name: str
    key: tuple[str, ...]
    columns: dict[str, Column]

    @cached_property
    def dtypes(self) -> dict[str, Any]:
        """Column name to polars dtype."""
        return {name: getattr(pl, column.dtype) for name, column in self.columns.items()}

    def frame(self, rows: list[dict[str, Any]]) -> pl.DataFrame:
        """Build a checked frame from dicts; absent fields become null, optional columns need one value."""
        data = {name: [row.get(name) for row in rows] for name in self.columns}
        for name, column in self.columns.items():
            if column.optional and not any(value is not None for value in data[name]):
                del data[name]
        dtypes = {name: self.dtypes[name] for name in data}
        return self.check(pl.DataFrame(data, schema=dtypes, strict=True))

    def check(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return `frame` with the documented columns first, or raise.

        Further columns are kept. Integers where floats are due are cast; nothing else is.

        Raises
        ------
        SchemaError
            For a missing column, another dtype, a null that is not allowed, NaN, or a key twice.
        """
        missing = [c for c, column in self.columns.items() if c not in frame.columns and not column.optional]
        if missing:
            raise SchemaError(
                f"{self.name}: missing column {', '.join(missing)}",
                got=frame.columns,
                allowed=list(self.columns),
            )
        casts = []
        present = {name: column for name, column in self.columns.items() if name in frame.columns}
        for name in present:
            dtype = self.dtypes[name]
            got = frame.schema[name]
            if got != dtype:
                if got == pl.Null or (got.is_numeric() and dtype.is_numeric()):
                    casts.append(pl.col(name).cast(dtype, strict=True))
                else:
                    raise SchemaError(f"{self.name}.{name}: dtype", got=str(got), allowed=str(dtype))
        frame = frame.with_columns(casts)
        for name, column in present.items():
            values = frame.get_column(name)
            if column.null is None and values.null_count():
                raise SchemaError(
                    f"{self.name}.{name}: {values.null_count()} nulls", allowed="no null in this column"
                )
            if values.dtype.is_float() and values.is_nan().any():
                raise SchemaError(f"{self.name}.{name}: NaN", allowed="numbers or null")
        if self.key:
            twice = frame.filter(pl.struct(self.key).is_duplicated())
            if twice.height:
                raise SchemaError(
                    f"{self.name}: {twice.height} rows share a key",
                    got=twice.select(self.key).row(0),
                    allowed=f"one row for each {', '.join(self.key)}",
                )
        return frame.select(*present, pl.exclude(*present))


_FRAMES: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _columns(rows: dict[str, Any]) -> dict[str, Column]:
    """Read columns; a text in place of one names shared columns."""
    found: dict[str, Column] = {}
    for name, row in rows.items():
        found |= _columns(_FRAMES["shared"][row]) if isinstance(row, str) else {name: Column(**row)}
    return found


SCHEMAS: dict[str, Schema] = {
    name: Schema(name, tuple(of["key"]), _columns(of["columns"])) for name, of in _FRAMES["frame"].items()
}


def schema(name: str) -> Schema:
    """Look up a schema by name.

    Examples
    --------
    >>> schema("cases").key
    ('dataset', 'case_id')
    """
    if name not in SCHEMAS:
        raise UnknownName.among("schema", name, SCHEMAS)
    return SCHEMAS[name]


def verdict_schema(name: str, place: str, fields: tuple[str, ...]) -> Schema:
    """Return the columns of a kind of judging that is not among `SCHEMAS`, one row a verdict.

    Parameters
    ----------
    place : {"node_id", "item"}
        What a verdict is about: a true node, or the place of a proposal in its response.
    fields : tuple of str
        What is answered, each true or false.

    Examples
    --------
    >>> verdict_schema("tone", "node_id", ("polite",)).columns["polite"].null
    'no verdict'
    """
    answers = {
        field: {"dtype": "Boolean", "doc": "the judge's answer", "null": "no verdict"} for field in fields
    }
    rows = {"call": "call", place: place, "judge": "judge", **answers, "status": "status", "why": "why"}
    return Schema(name, (*CALL_KEY, place, "judge"), _columns(rows))
