"""Spread over models and ratio of groups: highest against lowest rate, with clustered intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.metrics import _input, _rates, _resample
from icgkit.metrics._rates import Rates
from icgkit.metrics._words import Pooling, method
from icgkit.metrics.inference import finite, settle_difference

Floats = NDArray[np.float64]


def spread(
    judgments: _input.IntoFrame, *, over: str = "model", by: str | Sequence[str] = ("condition",),
    average: str = "macro", pooling: Pooling = None, cluster: str = "case_id",
    ci: Literal["bootstrap"] | None = "bootstrap", level: float = 0.95, n_resamples: int = 10_000,
    seed: int = 42, value: str = "found",
) -> pl.DataFrame:  # fmt: skip
    """Compute the spread of rates over models (or any column): highest minus lowest.

    Returns
    -------
    polars.DataFrame
        The columns `by`, then `lowest`, `highest` (values of `over`), `estimate_lowest`,
        `estimate_highest`, `estimate` (their difference, 0 to 1), `low`, `high`, `n_groups`,
        `n_scored`, `n_total`, `method`, `status`.

    Notes
    -----
    In each resample highest and lowest are found anew. The spread of noisy rates is biased upwards,
    so the interval tends to lie high when the rates hardly differ.

    Examples
    --------
    >>> import polars as pl
    >>> judgments = pl.DataFrame(
    ...     {"case_id": ["a", "b"] * 2, "model": ["m", "m", "k", "k"], "condition": "direct",
    ...      "found": [True, False, True, True]})
    >>> spread(judgments, ci=None).select("lowest", "highest", "estimate").row(0)
    ('m', 'k', 0.5)
    """
    return _extremes(
        judgments, lambda high, low: high - low, "spread", over, by, average, pooling, cluster, ci, level,
        n_resamples, seed, value,
    )  # fmt: skip


def ratio(
    judgments: _input.IntoFrame, *, over: str = "category", by: str | Sequence[str] = ("condition",),
    average: str = "micro", pooling: Pooling = None, cluster: str = "case_id",
    ci: Literal["bootstrap"] | None = "bootstrap", level: float = 0.95, n_resamples: int = 10_000,
    seed: int = 42, value: str = "found",
) -> pl.DataFrame:  # fmt: skip
    """Compute the ratio of the highest to the lowest rate over categories, subtypes or any column.

    Returns
    -------
    polars.DataFrame
        As `spread`; `estimate` is the ratio (1 or more), null when the lowest rate is 0.

    Examples
    --------
    >>> import polars as pl
    >>> judgments = pl.DataFrame(
    ...     {"case_id": ["a", "b"] * 2, "category": ["x", "x", "y", "y"], "condition": "direct",
    ...      "found": [True, False, True, True]})
    >>> ratio(judgments, ci=None)["estimate"].to_list()
    [2.0]
    """
    return _extremes(
        judgments, _resample.ratio, "ratio", over, by, average, pooling, cluster, ci, level, n_resamples,
        seed, value,
    )  # fmt: skip


def _extremes(
    judgments: _input.IntoFrame, combine: Callable[[Floats, Floats], Floats], what: str, over: str,
    by: str | Sequence[str], average: str, pooling: Pooling, cluster: str, ci: str | None,
    level: float, n_resamples: int, seed: int, value: str,
) -> pl.DataFrame:  # fmt: skip
    by = _input.columns_of(by)
    _input.one_of("average", average, _rates.AVERAGES)
    _input.one_of("ci", ci, ("bootstrap", None))
    rates = _rates.prepare(judgments, value=value, by=[*by, over], pooling=pooling, cluster=cluster)
    estimate = rates.estimate(average)
    draws = rates.draws([average], n_resamples, seed)[average] if ci and rates.cells.height else None
    cells = rates.cells.with_columns(_i=pl.int_range(pl.len()), _e=pl.Series(estimate, dtype=pl.Float64))
    groups = cells.group_by(by, maintain_order=True) if by else [((), cells)]
    how = f"{what} over {over}, " + method(rates, average, "bootstrap" if ci else None, n_resamples, seed)
    rows = []
    for key, part in groups:
        index = part["_i"].to_numpy()
        named = dict(zip(by, key, strict=True)) | {"method": how}
        rows.append(named | _extreme(rates, part, index, estimate, draws, combine, over, level, n_resamples))
    schema: dict[str, Any] = {b: rates.cells.schema[b] for b in by} | {
        "lowest": rates.cells.schema[over], "highest": rates.cells.schema[over], **_EXTREME,
    }  # fmt: skip
    return pl.DataFrame([[row.get(c) for c in schema] for row in rows], schema=schema, orient="row")


_EXTREME = {
    "estimate_lowest": pl.Float64,
    "estimate_highest": pl.Float64,
    "estimate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n_groups": pl.Int64,
    "n_scored": pl.Int64,
    "n_total": pl.Int64,
    "method": pl.String,
    "status": pl.String,
}


def _extreme(
    rates: Rates, part: pl.DataFrame, index: NDArray[np.int64], estimate: Floats, draws: Floats | None,
    combine: Callable[[Floats, Floats], Floats], over: str, level: float, n_resamples: int,
) -> dict[str, Any]:  # fmt: skip
    alive = index[np.isfinite(estimate[index])]
    row: dict[str, Any] = {
        "n_groups": len(alive),
        "n_scored": int(rates.n_scored[index].sum()),
        "n_total": int(rates.n_total[index].sum()),
    }
    if len(alive) < 2:
        return row | {"status": f"{len(alive)} group with a scored row: nothing to compare"}
    lowest, highest = alive[np.argmin(estimate[alive])], alive[np.argmax(estimate[alive])]
    names = rates.cells.get_column(over)
    value = finite(combine(estimate[[highest]], estimate[[lowest]])[0])
    row |= {
        "lowest": names[int(lowest)],
        "highest": names[int(highest)],
        "estimate_lowest": float(estimate[lowest]),
        "estimate_highest": float(estimate[highest]),
        "estimate": value,
    }
    if value is None:
        return row | {"status": "lowest rate is 0: ratio undefined"}
    notes = [] if len(alive) == len(index) else [f"{len(alive)} of {len(index)} groups"]
    if draws is not None:
        some = draws[alive]
        drawn = combine(some.max(axis=0), some.min(axis=0))
        low, high, undefined = _resample.percentile(drawn[None, :], level)
        clusters = int((rates.den["micro"].sum(axis=0) > 0).sum())
        row["low"], row["high"], note = settle_difference(
            value, low[0], high[0], int(undefined[0]), n_resamples, clusters
        )
        notes += [note] if note else []
    return row | {"status": _rates.join_notes(notes)}
