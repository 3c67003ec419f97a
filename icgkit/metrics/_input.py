"""What every metric does first: take any frame, check its columns, state one rule for what is missing.

The rule: null means missing. A missing value is left out of numerator and denominator alike and
counted; in a paired measure a pair with one side missing is left out and counted. NaN in a pandas
frame is that library's mark for missing and becomes null; NaN in any other frame is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.errors import SchemaError, UnknownName

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
IntoFrame: TypeAlias = Any
"""polars (eager or lazy), pandas, or anything that hands over Arrow or that narwhals reads."""


def columns_of(names: str | Iterable[str] | None) -> list[str]:
    """Return column names as a list; a single name may be given as a string."""
    if names is None:
        return []
    return [names] if isinstance(names, str) else list(names)


def is_pandas(frame: Any) -> bool:
    """Tell whether something comes from pandas."""
    return type(frame).__module__.split(".")[0] == "pandas"


def into(
    frame: IntoFrame, need: Iterable[str] | None = None, *, where: str = "frame"
) -> pl.DataFrame | pl.LazyFrame:
    """Convert to polars; lazy stays lazy. Of pandas only the columns `need` and `KEY` are converted."""
    if isinstance(frame, pl.DataFrame | pl.LazyFrame):
        return frame
    if is_pandas(frame) and hasattr(frame, "columns"):
        return _pandas(frame, None if need is None else {*need, *KEY}, where)
    if not is_pandas(frame) and hasattr(frame, "__arrow_c_stream__"):
        return pl.DataFrame(frame)
    import narwhals as nw

    try:
        native = nw.from_native(frame)
    except TypeError:
        raise SchemaError(
            f"{where}: not a data frame",
            got=type(frame).__name__,
            allowed="polars, pandas, an Arrow table, or a frame that narwhals reads",
        ) from None
    eager = native.collect() if isinstance(native, nw.LazyFrame) else native
    return pl.DataFrame({name: eager[name].to_list() for name in eager.columns})


def _pandas(frame: Any, need: set[str] | None, where: str) -> pl.DataFrame:
    names = [str(name) for name in frame.columns]
    wanted = [i for i, name in enumerate(names) if need is None or name in need]
    twice = sorted({names[i] for i in wanted if names.count(names[i]) > 1})
    if twice:
        raise SchemaError(
            f"{where}: column {', '.join(twice)} stands twice", got=names,
            remedy="keep one of them: frame.loc[:, ~frame.columns.duplicated()]",
        )  # fmt: skip
    columns = []
    for i in wanted:
        try:
            columns.append(_from_pandas(names[i], frame.iloc[:, i]))
        except (TypeError, ValueError, pl.exceptions.PolarsError):
            if need is None:
                continue  # a column that nobody may ask for; whoever does is told that it is missing
            kinds = sorted({type(v).__name__ for v in frame.iloc[:, i].tolist()})
            raise SchemaError(
                f"{where}.{names[i]}: values of several types", got=kinds, allowed="one type a column",
                remedy=f"convert it first: frame[{names[i]!r}].astype(str)",
            ) from None  # fmt: skip
    return pl.DataFrame(columns)


def _from_pandas(name: str, values: Any) -> pl.Series:
    if values.dtype.kind in "biuf" and type(values.dtype).__module__.startswith("numpy"):
        series = pl.Series(name, values.to_numpy())
        return series.fill_nan(None) if series.dtype.is_float() else series
    missing = values.isna().to_numpy()
    cleaned = [None if gone else v for v, gone in zip(values.tolist(), missing, strict=True)]
    return pl.Series(name, cleaned, strict=True)


def eager(frame: IntoFrame, need: Iterable[str] = (), *, where: str = "frame") -> pl.DataFrame:
    """Convert to an eager polars frame that has the columns `need`, without NaN in them."""
    names = list(dict.fromkeys(need))
    got = into(frame, names, where=where)
    require(got, names, where=where)
    if isinstance(got, pl.LazyFrame):
        got = got.collect(engine="streaming")
    for name in names:
        no_nan(got.get_column(name), where=where)
    return got


def require(frame: pl.DataFrame | pl.LazyFrame, need: Iterable[str], *, where: str = "frame") -> pl.Schema:
    """Raise unless the frame has the columns `need`; return its schema."""
    found = frame.collect_schema()
    if absent := [c for c in need if c not in found]:
        raise SchemaError(
            f"{where}: missing column {', '.join(absent)}",
            got=list(found),
            remedy="rename the column or name another one",
        )
    return found


def no_nan(values: pl.Series, *, where: str = "frame") -> None:
    """Raise if a column holds NaN."""
    if values.dtype.is_float() and (n := int(values.is_nan().sum())):
        raise SchemaError(
            f"{where}.{values.name}: {n} NaN", allowed="numbers or null", remedy="use .fill_nan(None)"
        )


IDENTITY = ("node_id", "item")
KEY = ("dataset", "case_id", "node_id", "model", "condition", "judge", "sample", "annotator", "item", "form")
"""Columns that tell rows apart, where a frame has them."""
LARGEST = 1 << 23
"""Frames read in batches are looked through for repeated rows up to this number of rows."""


def tells_apart(frame: pl.DataFrame | pl.LazyFrame) -> str | None:
    """Name the column that tells the rows of a case apart; of a lazy frame, whose hashes are cheaper, none."""
    if isinstance(frame, pl.LazyFrame):
        return None
    return next((c for c in IDENTITY if c in frame.columns), None)


def no_twice(frame: pl.DataFrame | pl.LazyFrame, by: Sequence[str] = (), *, where: str) -> None:
    """Raise if a decision stands twice: two reads put together, an export appended to itself.

    Looks only at frames that name their nodes or items, for without them a row cannot be told from
    its repetition. Rows that a column of `by` or one of `KEY` tells apart are different decisions.
    """
    names = frame.collect_schema().names()
    if not any(c in names for c in IDENTITY):
        return
    key = [c for c in dict.fromkeys([*KEY, *by]) if c in names]
    lazy = frame.lazy()
    if lazy is frame and lazy.select(pl.len()).collect(engine="streaming").item() > LARGEST:
        return
    mixed = np.sort(lazy.select(pl.struct(key).hash(7)).collect(engine="streaming").to_series().to_numpy())
    if not (mixed[1:] == mixed[:-1]).any():
        return
    twice = lazy.select(key).filter(pl.struct(key).is_duplicated()).collect()
    if twice.height:
        raise SchemaError(
            f"{where}: {twice.height} rows stand twice or more (same {', '.join(key)})",
            got=dict(zip(key, twice.row(0), strict=True)),
            allowed="one row a decision",
            remedy=f"drop repetitions with frame.unique({key!r}), or name the column that tells them apart in by=",
        )


def binary(frame: pl.DataFrame | pl.LazyFrame, name: str, *, where: str = "frame") -> pl.Expr:
    """Return the column as a Boolean expression; 0/1 numbers are accepted, anything else is not."""
    dtype = require(frame, [name], where=where)[name]
    if dtype == pl.Boolean or dtype == pl.Null:
        return pl.col(name).cast(pl.Boolean)
    if dtype.is_numeric():
        bad = frame.lazy().select(((pl.col(name) != 0) & (pl.col(name) != 1)).sum()).collect().item()
        if not bad:
            return pl.col(name) == 1
        raise SchemaError(f"{where}.{name}: {bad} values are neither 0 nor 1", allowed="true, false, null")
    raise SchemaError(f"{where}.{name}: dtype", got=str(dtype), allowed="Boolean (null is missing)")


def numbers(frame: pl.DataFrame | pl.LazyFrame, name: str, *, where: str = "frame") -> pl.Expr:
    """Return the column as numbers; Booleans count as 0 and 1, text is refused."""
    dtype = require(frame, [name], where=where)[name]
    if dtype == pl.Boolean or dtype == pl.Null or dtype.is_numeric():
        return pl.col(name).cast(pl.Float64)
    raise SchemaError(
        f"{where}.{name}: dtype", got=str(dtype), allowed="numbers or Booleans (null is missing)",
        remedy=f"convert it first, such as pl.col({name!r}).cast(pl.Float64)",
    )  # fmt: skip


def no_null(frame: pl.DataFrame | pl.LazyFrame, names: Sequence[str], *, where: str, what: str) -> None:
    """Raise if an identifying column has nulls: they would all fall into one group."""
    names = list(dict.fromkeys(names))
    if not names:
        return
    if isinstance(frame, pl.DataFrame):
        counts: Sequence[int] = [frame.get_column(name).null_count() for name in names]
    else:
        counts = frame.select(pl.col(names).null_count()).collect(engine="streaming").row(0)
    for name, n in zip(names, counts, strict=True):
        if n:
            raise SchemaError(
                f"{where}.{name}: {n} rows have no {what}",
                allowed=f"a {what} in every row",
                remedy="rows without one would be treated as belonging together; name or drop them",
            )


def one_of(kind: str, got: str | None, allowed: Iterable[str | None]) -> None:
    """Raise unless `got` is one of the allowed options."""
    options = list(allowed)
    if got not in options:
        if isinstance(got, str):
            raise UnknownName.among(kind, got, [str(o) for o in options])
        raise UnknownName(f"unknown {kind}", got=got, allowed=[str(o) for o in options])
