"""Differences, spreads and ratios of rates, with paired cluster-bootstrap intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.errors import SchemaError, UnknownName
from icgkit.metrics import _input, _rates, _resample
from icgkit.metrics._rates import Rates
from icgkit.metrics._words import Pooling, few, method
from icgkit.metrics.intervals import BOOTSTRAP, Bootstrap, clusters_of, drawn, level_of

Floats = NDArray[np.float64]


def differences(
    judgments: _input.IntoFrame,
    *,
    reference: str = "direct",
    targets: str | Sequence[str] | None = None,
    by: str | Sequence[str] = ("model",),
    over: str = "condition",
    average: str = "macro",
    pooling: Pooling = None,
    cases: Literal["all", "shared"] = "all",
    ci: Bootstrap | None = BOOTSTRAP,
    value: str = "found",
    weights: str | None = None,
) -> pl.DataFrame:
    """Compare every value of `over` with the reference, by one resampling plan.

    Parameters
    ----------
    judgments, by, over, average, pooling, cases, ci, value, weights
        As in `gap`.
    reference : str
        The value of `over` that the others are compared with.
    targets : str or sequence of str, optional
        The value or values to compare; every other value when absent.

    Returns
    -------
    polars.DataFrame
        One row for each combination of `by` and target; columns as in `gap`.

    Notes
    -----
    The interval is the percentile interval of the difference of the two resampled rates. Both sides
    use the same resampled clusters, which keeps the pairing that an interval from two separate
    bootstraps would lose.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, sections 8.3 and 13.3.

    Examples
    --------
    >>> import polars as pl
    >>> judgments = pl.DataFrame(
    ...     {"case_id": ["a", "b"] * 2, "model": "m", "condition": ["direct"] * 2 + ["cot"] * 2,
    ...      "found": [True, False, True, True]})
    >>> differences(judgments, ci=None).select("target", "estimate", "n_cases").row(0)
    ('cot', 0.5, 2)
    """
    by = _input.columns_of(by)
    if over in by:
        raise SchemaError(f"by names {over!r}, the column that is compared", got=by, remedy="leave it out")
    _input.one_of("cases", cases, ("all", "shared"))
    ci = drawn(ci)
    _input.one_of("average", average, _rates.AVERAGES)
    need = [*by, over, value, *clusters_of(ci), "case_id", *_input.columns_of(weights)]
    frame = _input.into(judgments, need, where="judgments")
    _input.require(frame, need, where="judgments")
    frame, reference, targets = sides(frame, over, reference, targets)
    options: dict[str, Any] = {
        "by": by, "over": over, "average": average, "pooling": pooling, "ci": ci, "value": value,
        "weights": weights,
    }  # fmt: skip
    if cases == "all":
        wanted = frame.filter(pl.col(over).is_in([reference, *targets]))
        return _compare(wanted, reference, targets, **options)
    parts = []
    for target in targets:
        two = frame.filter(pl.col(over).is_in([reference, target]))
        parts.append(_compare(_shared(two, by, over, value), reference, [target], **options))
    return pl.concat(parts).sort([*by, "target"], nulls_last=True, maintain_order=True)


def _shared(frame: pl.DataFrame | pl.LazyFrame, by: list[str], over: str, value: str) -> Any:
    """Keep the rows of cases that are scored on both sides, model by model."""
    names = frame.collect_schema().names()
    key = [c for c in dict.fromkeys([*by, "dataset", "model", "judge", "case_id"]) if c in names]
    sides = pl.col(over).filter(pl.col(value).is_not_null()).n_unique().over(key)
    return frame.filter(sides == 2)


def _compare(
    frame: pl.DataFrame | pl.LazyFrame,
    reference: str,
    targets: list[str],
    *,
    by: list[str],
    over: str,
    average: str,
    pooling: Pooling,
    ci: Bootstrap | None,
    value: str,
    weights: str | None,
) -> pl.DataFrame:
    rates = _rates.prepare(
        frame, value=value, by=[*by, over], pooling=pooling, cluster=clusters_of(ci), weights=weights
    )
    estimate = rates.estimate(average)
    draws = rates.draws([average], ci)[average] if ci and rates.cells.height else None
    without = rates.without(average) if ci and ci.kind == "bca" else None
    pairs = _pairs(rates.cells, by, over, reference, targets)
    rows = [_row(rates, pair, estimate, draws, ci, without) for pair in pairs.iter_rows(named=True)]
    how = method(rates, average, ci)
    result = pl.DataFrame(rows, schema=_DIFFERENCE, orient="row", strict=False)
    head = pairs.select(*by, pl.lit(reference).alias("reference"), pl.col(over).alias("target"))
    return pl.concat(
        [
            head,
            result.with_columns(pl.lit(f"difference, {how}" + (", paired" if ci else "")).alias("method")),
        ],
        how="horizontal",
    ).select(pl.exclude("status"), "status")


_DIFFERENCE = {
    "estimate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "level": pl.Float64,
    "estimate_reference": pl.Float64,
    "estimate_target": pl.Float64,
    "n_scored": pl.Int64,
    "n_total": pl.Int64,
    "n_missing": pl.Int64,
    "n_cases": pl.Int64,
    "n_clusters": pl.Int64,
    "status": pl.String,
}


def _pairs(cells: pl.DataFrame, by: list[str], over: str, reference: str, targets: list[str]) -> pl.DataFrame:
    """Lay out one row for each group and target: the positions of both cells, null where absent."""
    coded = cells.with_row_index("_i")
    groups = cells.select(by).unique(maintain_order=True) if by else pl.DataFrame({"_one": [0]})
    wanted = groups.join(pl.DataFrame({over: targets}, schema={over: cells.schema[over]}), how="cross")
    ref = coded.filter(pl.col(over) == reference).select(*by, pl.col("_i").alias("_r"))
    pairs = wanted.join(coded, on=[*by, over], how="left", nulls_equal=True, maintain_order="left")
    if by:
        return pairs.join(ref, on=by, how="left", nulls_equal=True, maintain_order="left")
    return pairs.drop("_one").with_columns(_r=pl.lit(ref["_r"][0] if ref.height else None, dtype=pl.UInt32))


def _row(
    rates: Rates, pair: dict[str, Any], estimate: Floats, draws: Floats | None, ci: Bootstrap | None,
    without: Floats | None,
) -> tuple[Any, ...]:  # fmt: skip
    t, r = pair["_i"], pair["_r"]
    cells = [i for i in (t, r) if i is not None]
    n_scored, n_total = (int(sum(x[i] for i in cells)) for x in (rates.n_scored, rates.n_total))
    values = [finite(estimate[i]) if i is not None else None for i in (r, t)]
    level = level_of(ci)
    if values[0] is None or values[1] is None:
        side = "reference" if values[0] is None else "target"
        return (
            None, None, None, level, *values, n_scored, n_total, n_total - n_scored, 0, 0,
            f"{side}: nothing scored",
        )  # fmt: skip
    difference = values[1] - values[0]
    one, other = rates.alive()[[t, r]]
    both, either = (int(rates.clusters(f(one, other)[None, :])[0]) for f in (np.logical_and, np.logical_or))
    notes = [] if both == either else [f"{both} of {either} clusters scored on both sides"]
    low = high = None
    if draws is not None and ci is not None:
        apart = (draws[t] - draws[r])[None, :]
        left_out = None if without is None else (without[t] - without[r])[None, :]
        a, b, undefined = _resample.ends(
            apart, ci, np.array([either]), np.array([difference]), lambda: np.asarray(left_out)
        )
        low, high, note = settle_difference(difference, a[0], b[0], int(undefined[0]), either, ci)
        if note:
            notes.append(note)
    n_cases = int((rates.cases[t] & rates.cases[r]).sum())
    return (
        difference, low, high, level, *values, n_scored, n_total, n_total - n_scored, n_cases, both,
        _rates.join_notes(notes),
    )  # fmt: skip


def finite(value: float) -> float | None:
    """Return the number, or None for NaN."""
    return float(value) if np.isfinite(value) else None


def settle_difference(
    estimate: float, low: float, high: float, undefined: int, clusters: int, ci: Bootstrap
) -> tuple[float | None, float | None, str]:
    """Decide what a bootstrap interval of a difference or ratio is worth."""
    if clusters < 2:
        return None, None, "one cluster: no interval"
    if undefined > ci.n // 20:
        return None, None, f"{undefined} of {ci.n} draws undefined: no interval"
    if not np.isfinite(low) or low == high:
        return None, None, "constant over clusters: no interval"
    notes = [few(clusters, ci), f"{undefined} of {ci.n} draws undefined and left out" if undefined else ""]
    return min(float(low), estimate), max(float(high), estimate), "; ".join(n for n in notes if n)


def sides(
    frame: pl.DataFrame | pl.LazyFrame, over: str, reference: Any, targets: Any, *, where: str = "judgments"
) -> tuple[pl.DataFrame | pl.LazyFrame, str, list[str]]:
    """Check the values that are compared; return the frame with the column as text, and them as text.

    Numbers and Booleans are written as Python writes them: 1, 2.5, True.
    """
    dtype = frame.collect_schema()[over]
    if dtype == pl.Boolean:
        frame = frame.with_columns(
            pl.when(pl.col(over)).then(pl.lit("True")).when(~pl.col(over)).then(pl.lit("False")).alias(over)
        )
    elif dtype.is_numeric():
        frame = frame.with_columns(pl.col(over).cast(pl.String))
    known = sorted(
        str(v) for v in frame.lazy().select(over).unique().collect().get_column(over) if v is not None
    )
    reference = str(reference)
    if targets is None:
        wanted = [t for t in known if t != reference]
    elif isinstance(targets, str) or not isinstance(targets, Iterable):
        wanted = [str(targets)]
    else:
        wanted = [str(t) for t in targets]
    if not known:
        raise SchemaError(f"{where}: no rows with a value of {over!r}", allowed="at least two values")
    for name in [reference, *wanted]:
        if name not in known:
            raise UnknownName.among(f"{over} in the {where}", name, known)
    if reference in wanted:
        raise SchemaError(
            f"{over} {reference!r} is compared with itself", got=wanted, remedy="leave it out of targets="
        )
    if not wanted:
        raise SchemaError(
            f"nothing to compare with {reference!r}", got=known, remedy=f"add values of {over!r}"
        )
    return frame, reference, wanted
