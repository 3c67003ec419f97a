"""What kind of frame the metrics give back: polars, pandas, or the kind that came in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

import polars as pl

from icgkit.metrics import _input

P = ParamSpec("P")
T = TypeVar("T")
KINDS = ("polars", "pandas", "same")
_kind = {"output": "polars"}


def set_output(kind: str) -> str:
    """Choose what kind of frame every metric gives back; return the choice before.

    Parameters
    ----------
    kind : {"polars", "pandas", "same"}
        polars (as the package starts), pandas, or pandas for pandas and polars for all else. Missing
        numbers are NaN in a pandas column of floats, <NA> in one of whole numbers or Booleans.

    Returns
    -------
    str
        The choice that held before.

    Raises
    ------
    UnknownName
        For any other word.

    Examples
    --------
    >>> import pandas as pd
    >>> from icgkit import metrics
    >>> before = metrics.set_output("same")
    >>> frame = pd.DataFrame({"case_id": ["a", "b"], "found": [True, False]})
    >>> type(metrics.recall(frame, by=(), ci=None)).__module__.split(".")[0]
    'pandas'
    >>> metrics.set_output(before)
    'same'
    """
    _input.one_of("output", kind, KINDS)
    before, _kind["output"] = _kind["output"], kind
    return before


def to_pandas(frame: pl.DataFrame) -> Any:
    """Return the frame as pandas, without pyarrow."""
    import pandas as pd

    columns: dict[str, Any] = {}
    for series in frame.iter_columns():
        holes = series.null_count() > 0
        if series.dtype.is_float():
            columns[series.name] = series.to_numpy()
        elif series.dtype.is_integer():
            columns[series.name] = pd.array(series.to_list(), dtype="Int64") if holes else series.to_numpy()
        elif series.dtype == pl.Boolean:
            columns[series.name] = pd.array(series.to_list(), dtype="boolean" if holes else "bool")
        else:
            columns[series.name] = series.to_list()
    return pd.DataFrame(columns, columns=frame.columns)


def gives_frame(function: Callable[P, T]) -> Callable[P, T]:
    """Let a metric give back what `set_output` says."""

    @wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        got = function(*args, **kwargs)
        kind = _kind["output"]
        if kind == "polars":
            return got
        first = args[0] if args else next(iter(kwargs.values()), None)
        if kind == "same" and not _input.is_pandas(first):
            return got
        if isinstance(got, pl.DataFrame):
            return cast("T", to_pandas(got))
        if isinstance(got, tuple) and hasattr(got, "_make"):
            return cast("T", got._make(to_pandas(f) for f in got))
        return got

    return wrapped


TEXT = {
    "method", "status", "reference", "target", "conclusion", "between", "quantity", "against", "x", "y", "group",
    "term", "value", "scale", "estimator", "left_out",
}  # fmt: skip
WHOLE_NUMBERS = {"n", "cases", "pairs", "pairs_needed", "df"}


def schema(names: str) -> dict[str, Any]:
    """Return the columns of a result: known texts, whole numbers (those of WHOLE_NUMBERS and `n_...`), and numbers."""
    whole = {n for n in names.split() if n in WHOLE_NUMBERS or n.startswith("n_")}
    return {n: pl.String if n in TEXT else pl.Int64 if n in whole else pl.Float64 for n in names.split()}


def lay_out(rows: list[dict[str, Any]], columns: dict[str, Any], order: Sequence[str] = ()) -> pl.DataFrame:
    """Lay out rows with these columns, sorted by `order`; what a row does not hold is null."""
    out = pl.DataFrame([[row.get(c) for c in columns] for row in rows], schema=columns, orient="row")
    return out.sort(order, nulls_last=True, maintain_order=True) if order else out


def grouped(frame: pl.DataFrame, by: list[str]) -> list[tuple[dict[str, Any], pl.DataFrame]]:
    """Split a frame by the columns `by`, in the order in which their values come; whole where there are none."""
    if not by:
        return [({}, frame)]
    parts = frame.group_by(by, maintain_order=True)
    return [(dict(zip(by, key, strict=True)), part) for key, part in parts]
