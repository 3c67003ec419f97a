"""Spread over models and ratio of groups: highest against lowest rate, with clustered intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl

from icgkit.errors import SchemaError
from icgkit.metrics import _input, _rates, _resample
from icgkit.metrics._input import Floats, Ints
from icgkit.metrics._output import grouped, lay_out, schema
from icgkit.metrics._rates import Pooling, Rates, method
from icgkit.metrics.contrasts import finite, settled
from icgkit.metrics.intervals import BOOTSTRAP, Bootstrap, clusters_of, drawn, level_of


def spread(
    judgments: _input.IntoFrame, *, over: str = "model", by: str | Sequence[str] = ("condition",),
    average: str = "macro", pooling: Pooling = None, ci: Bootstrap | None = BOOTSTRAP,
    value: str = "found",
) -> pl.DataFrame:  # fmt: skip
    """Compute the spread of rates over models (or any column): highest minus lowest.

    Parameters
    ----------
    judgments, by, average, pooling, ci, value
        As in `recall`; `by` must not name the column `over`. BCa is not offered: an extreme is not smooth.
    over : str
        The column whose values are compared.

    Returns
    -------
    polars.DataFrame
        The columns `by`, then `lowest`, `highest` (values of `over`), `estimate_lowest`,
        `estimate_highest`, `estimate` (their difference, 0 to 1), `low`, `high`, `level`, `n_groups`,
        `n_scored`, `n_total`, `n_missing`, `n_cases`, `n_clusters`, `method`, `status`.

    Notes
    -----
    max_k p_k - min_k p_k over the values k. In each resample highest and lowest are found anew. The
    spread of noisy rates is biased upwards, and the interval more so: with equal rates it does not hold
    0. It describes how far apart the rates are; it is no test of whether they differ.
    Source: Efron and Tibshirani (1993, section 10.2; bias of a maximum).

    Examples
    --------
    >>> import polars as pl
    >>> judgments = pl.DataFrame(
    ...     {"case_id": list("abab"), "model": ["m", "m", "k", "k"], "condition": "direct", "found": [1, 0, 1, 1]})
    >>> spread(judgments, ci=None).select("lowest", "highest", "estimate").row(0)
    ('m', 'k', 0.5)
    """
    return _extremes(judgments, "spread", by, ci, over=over, average=average, pooling=pooling, value=value)


def ratio(
    judgments: _input.IntoFrame, *, over: str = "category", by: str | Sequence[str] = ("condition",),
    average: str = "micro", pooling: Pooling = None, ci: Bootstrap | None = BOOTSTRAP,
    value: str = "found",
) -> pl.DataFrame:  # fmt: skip
    """Compute the ratio of the highest to the lowest rate over categories, subtypes or any column.

    Parameters
    ----------
    judgments, by, average, pooling, ci, value
        As in `recall`; `by` must not name the column `over`. BCa is not offered: an extreme is not smooth.
    over : str
        The column whose values are compared.

    Returns
    -------
    polars.DataFrame
        As `spread`; `estimate` is the ratio (1 or more), null when the lowest rate is 0.

    Notes
    -----
    max_k p_k / min_k p_k; like a spread it is biased upwards, and its interval is no test.
    Source: Efron and Tibshirani (1993, section 10.2; bias of a maximum).

    Examples
    --------
    >>> import polars as pl
    >>> judgments = pl.DataFrame(
    ...     {"case_id": list("abab"), "category": list("xxyy"), "condition": "direct", "found": [1, 0, 1, 1]})
    >>> ratio(judgments, ci=None)["estimate"].to_list()
    [2.0]
    """
    return _extremes(judgments, "ratio", by, ci, over=over, average=average, pooling=pooling, value=value)


_COMBINE: dict[str, Callable[[Floats, Floats], Floats]] = {
    "spread": lambda high, low: high - low,
    "ratio": _resample.ratio,
}


def _extremes(
    judgments: _input.IntoFrame, what: str, by: str | Sequence[str], ci: Bootstrap | None, *, over: str,
    average: str, pooling: Any, value: str,
) -> pl.DataFrame:  # fmt: skip
    by, ci, combine = _input.columns_of(by), drawn(ci), _COMBINE[what]
    if over in by:
        raise SchemaError(f"by names {over!r}, the column that is compared", got=by, remedy="leave it out")
    _input.one_of("average", average, _rates.AVERAGES)
    if ci and ci.kind == "bca":
        raise SchemaError(f"{what} with Bootstrap(kind='bca')", allowed="percentile or expanded")
    rates = _rates.prepare(judgments, value=value, by=[*by, over], pooling=pooling, cluster=clusters_of(ci))
    estimate = rates.estimate(average)
    draws = rates.draws([average], ci)[average] if ci and rates.cells.height else None
    cells = rates.cells.with_columns(_i=pl.int_range(pl.len()), _e=pl.Series(estimate, dtype=pl.Float64))
    how = f"{what} over {over}, " + method(rates, average, ci)
    rows = []
    for key, part in grouped(cells, by):
        named = key | {"method": how}
        rows.append(named | _extreme(rates, part["_i"].to_numpy(), estimate, draws, combine, over, ci))
    columns = {b: rates.cells.schema[b] for b in by} | dict.fromkeys(
        ["lowest", "highest"], rates.cells.schema[over]
    )
    return lay_out(rows, columns | _EXTREME)


_EXTREME = schema(
    "estimate_lowest estimate_highest estimate low high level n_groups n_scored n_total n_missing n_cases n_clusters "
    "method status"
)


def _extreme(
    rates: Rates, index: Ints, estimate: Floats, draws: Floats | None,
    combine: Callable[[Floats, Floats], Floats], over: str, ci: Bootstrap | None,
) -> dict[str, Any]:  # fmt: skip
    alive = index[np.isfinite(estimate[index])]
    row: dict[str, Any] = {"n_groups": len(alive), "level": level_of(ci)} | rates.counts(index)
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
    if draws is not None and ci is not None:
        some = draws[alive]
        apart = combine(some.max(axis=0), some.min(axis=0))
        row["low"], row["high"], note = settled(value, apart, row["n_clusters"], ci)
        notes.append(note)
    return row | {"status": _rates.join_notes(notes)}
