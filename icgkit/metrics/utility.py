"""Which condition is best when a missed constraint and a spurious edit step have a price."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from icgkit.errors import SchemaError
from icgkit.metrics import _input, _resample

RATIOS = tuple(float(r) for r in np.round(np.geomspace(0.1, 10, 41), 6))


def utility(
    judgments: _input.IntoFrame,
    verdicts: _input.IntoFrame,
    *,
    by: str | Sequence[str] = (),
    over: str = "condition",
    ratios: Sequence[float] = RATIOS,
    value: str = "found",
    valid: str = "valid",
    cluster: str = "case_id",
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 42,
) -> pl.DataFrame:
    """Compute the cost per case of each condition, over the price of a missed constraint.

    Parameters
    ----------
    judgments : frame
        Recall judgments: `value`, `cluster`, `over`, the columns `by`.
    verdicts : frame
        Precision verdicts of the same runs: `valid`, `cluster`, `over`, the columns `by`. Only the values
        of `over` that both frames have are compared.
    by : str or sequence of str
        Columns that make separate curves (model ...). Models that `by` does not name are pooled.
    over : str
        The column whose values compete.
    ratios : sequence of float
        Prices of a missed constraint, in spurious steps.
    level, n_resamples, seed
        Percentile bootstrap over clusters, the same resamples for all conditions and prices.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `over`, `ratio`, `estimate` (cost per case and model, in spurious steps), `low`,
        `high`, `missed` and `spurious` (their mean numbers per case and model), `best` (lowest cost at
        this ratio), `best_share` (share of resamples in which it is), `n_cases`, `n_missing` (verdicts of
        either kind), `method`, `status`.

    Notes
    -----
    cost(r) = r * missed + spurious, with missed = found to be absent and spurious = proposals judged
    invalid, per case and response. Two conditions cost the same at r = difference of spurious over
    difference of missed. It is the loss that decision curves of net benefit are linear in.

    References
    ----------
    Vickers and Elkin (2006), Decision curve analysis, Med. Decis. Making 26, 565-574.

    Examples
    --------
    >>> import polars as pl
    >>> judged = pl.DataFrame(
    ...     {"case_id": ["a", "b"] * 2, "condition": ["x", "x", "y", "y"], "found": [True, False, True, True]}
    ... )
    >>> proposed = pl.DataFrame(
    ...     {"case_id": ["a", "a", "b"], "condition": ["x", "y", "y"], "valid": [True, False, False]}
    ... )
    >>> got = utility(judged, proposed, ratios=[1, 3], n_resamples=100)
    >>> got.filter(pl.col("best")).select("ratio", "condition", "estimate").rows()
    [(1.0, 'x', 0.5), (3.0, 'y', 1.0)]
    """
    by = _input.columns_of(by)
    _input.level_ok(level)
    keys = [*by, over]
    left = _input.eager(judgments, [*keys, value, cluster], where="judgments")
    right = _input.eager(verdicts, [*keys, valid, cluster], where="precision verdicts")
    if any(r <= 0 for r in ratios) or not ratios:
        raise SchemaError("ratios", got=list(ratios)[:5], allowed="numbers above 0")
    for frame, where in ((left, "judgments"), (right, "precision verdicts")):
        _input.no_null(frame, [cluster], where=where, what="cluster")
        for column in ("judge", "dataset"):
            if column in frame.columns and column not in by and frame[column].n_unique() > 1:
                raise SchemaError(f"{where} hold several values of {column!r}", remedy="filter to one")
    shared = sorted(set(left[over].unique()) & set(right[over].unique()))
    if not shared:
        raise SchemaError(
            f"no {over} has both judgments and precision verdicts", got=left[over].unique().to_list()
        )
    response = [
        *keys,
        cluster,
        *(c for c in ("model", "sample") if c in left.columns and c in right.columns and c not in keys),
    ]
    found, good = _input.binary(left, value), _input.binary(right, valid)
    missed = left.filter(pl.col(over).is_in(shared)).group_by(response).agg(
        missed=(~found).sum(), gone=found.is_null().sum(), scored=found.is_not_null().sum()
    )  # fmt: skip
    spurious = right.group_by(response).agg(spurious=(~good).sum(), lost=good.is_null().sum())
    joined = missed.filter(pl.col("scored") > 0).join(spurious, on=response, how="left", nulls_equal=True)
    joined = joined.with_columns(pl.col("spurious", "lost").fill_null(0))
    per_case = joined.group_by([*keys, cluster]).agg(
        pl.len().alias("n"), pl.col("missed", "spurious", "gone", "lost").sum()
    )
    groups = per_case.sort(by, nulls_last=True).group_by(by, maintain_order=True) if by else [((), per_case)]
    parts = [
        _curve(part, dict(zip(by, key, strict=True)), over, ratios, cluster, level, n_resamples, seed)
        for key, part in groups
        if part.height
    ]
    dtypes: dict[str, Any] = {b: left.schema[b] for b in by} | {over: left.schema[over]} | _COLUMNS
    rows = [[row.get(c) for c in dtypes] for part in parts for row in part]
    return pl.DataFrame(rows, schema=dtypes, orient="row")


_COLUMNS: dict[str, Any] = {
    **dict.fromkeys(["ratio", "estimate", "low", "high", "missed", "spurious"], pl.Float64),
    "best": pl.Boolean,
    "best_share": pl.Float64,
    "n_cases": pl.Int64,
    "n_missing": pl.Int64,
    "method": pl.String,
    "status": pl.String,
}


def _curve(
    part: pl.DataFrame, key: dict[str, Any], over: str, ratios: Sequence[float], cluster: str,
    level: float, n_resamples: int, seed: int,
) -> list[dict[str, Any]]:  # fmt: skip
    names = sorted(part[over].unique().to_list())
    cases = part.select(cluster).unique().sort(cluster).with_row_index("_u")
    coded = part.join(cases, on=cluster)
    sums = np.zeros((len(names), 3, cases.height))
    k = np.array([names.index(v) for v in coded[over]])
    u = coded["_u"].to_numpy()
    for i, name in enumerate(("missed", "spurious", "n")):
        sums[k, i, u] = coded[name].cast(pl.Float64).to_numpy()
    flat = sums.reshape(-1, cases.height)
    drawn = _resample.draw_sums(flat, n_resamples, seed).reshape(len(names), 3, n_resamples)
    total = sums.sum(axis=2)
    rate, rates = (
        total[:, :2] / total[:, 2:],
        _resample.ratio(drawn[:, :2], np.repeat(drawn[:, 2:], 2, axis=1)),
    )
    n_cases = (sums[:, 2] > 0).sum(axis=1)
    lost = dict(part.group_by(over).agg((pl.col("gone") + pl.col("lost")).sum()).iter_rows())
    how = f"percentile bootstrap over {cluster}, B={n_resamples}, seed={seed}"
    rows = []
    for r in ratios:
        cost, costs = r * rate[:, 0] + rate[:, 1], r * rates[:, 0] + rates[:, 1]
        low, high, _ = _resample.percentile(costs, level)
        whole = np.where(np.isnan(costs), np.inf, costs)
        winner = whole.argmin(axis=0)
        for i, name in enumerate(names):
            fine = np.isfinite(low[i]) and low[i] < high[i] and n_cases[i] > 1
            rows.append(
                key | {
                    over: name, "ratio": float(r), "estimate": float(cost[i]),
                    "low": min(float(low[i]), float(cost[i])) if fine else None,
                    "high": max(float(high[i]), float(cost[i])) if fine else None,
                    "missed": float(rate[i, 0]), "spurious": float(rate[i, 1]),
                    "best": bool(i == cost.argmin()), "best_share": float((winner == i).mean()),
                    "n_cases": int(n_cases[i]), "n_missing": int(lost.get(name, 0)), "method": how,
                    "status": "ok" if fine else "constant or one cluster: no interval",
                }
            )  # fmt: skip
    return rows
