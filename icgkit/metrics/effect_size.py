"""Cohen's d of paired outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.metrics import _input, _resample
from icgkit.metrics.inference import settle_difference
from icgkit.metrics.paired import cluster_sums, groups_of, lay_out, pairs


def cohens_d(
    judgments: _input.IntoFrame,
    *,
    reference: str = "direct",
    targets: Sequence[str] | None = None,
    by: str | Sequence[str] = (),
    over: str = "condition",
    value: str = "found",
    cluster: str = "case_id",
    on: Sequence[str] | None = None,
    level: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 42,
) -> pl.DataFrame:
    """Compute Cohen's d of paired outcomes, with a clustered bootstrap interval.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `reference`, `target`, `d` (difference over the root mean of both
        variances), `low`, `high` (of d), `d_z` (difference over the standard deviation of the
        differences), `mean_reference`, `mean_target`, `n_pairs`, `n_missing`, `n_clusters`,
        `method`, `status`. Positive: the target is higher. Null where a variance is 0.

    Notes
    -----
    d = (m_t - m_r) / sqrt((s_t^2 + s_r^2) / 2); d_z = (m_t - m_r) / s_diff; variances with n - 1.

    References
    ----------
    Cohen (1988), Statistical Power Analysis, 2nd ed., sections 2.2 and 2.3.5. Lakens (2013), Frontiers
    in Psychology 4:863 (d_av and d_z).

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame(
    ...     {
    ...         "case_id": ["a", "b", "c", "d"] * 2,
    ...         "condition": ["direct"] * 4 + ["oracle"] * 4,
    ...         "found": [False, False, True, True, True, True, True, False],
    ...     }
    ... )
    >>> round(cohens_d(rows, n_resamples=200)["d"][0], 4)  # (3/4 - 1/2) / sqrt((1/4 + 1/3) / 2)
    0.4629
    """
    by = _input.columns_of(by)
    _input.level_ok(level)
    matched = pairs(
        judgments, reference=reference, targets=targets, by=by, over=over, value=value, on=on, numeric=True
    )
    _input.require(matched, [cluster], where="judgments")
    _input.no_null(matched, [cluster], where="judgments", what="cluster")
    rows = []
    for key, part in groups_of(matched, by):
        whole, sums = cluster_sums(part, cluster)
        row = key | {"reference": reference, "n_pairs": whole.height, "n_missing": part.height - whole.height}
        row |= {
            "n_clusters": sums.height,
            "method": f"bootstrap over {cluster}, B={n_resamples}, seed={seed}",
        }
        if whole.height < 2:
            rows.append(row | {"status": "fewer than two complete pairs"})
            continue
        moments = sums.select("n", "a", "b", "aa", "bb", "dd").to_numpy().T.astype(np.float64)
        d, d_z = _effect(moments.sum(axis=1, keepdims=True))
        row |= {"mean_reference": whole["_a"].mean(), "mean_target": whole["_b"].mean()}
        row |= {"d_z": float(d_z[0]) if np.isfinite(d_z[0]) else None}
        if not np.isfinite(d[0]):
            rows.append(row | {"status": "both sides constant: d undefined"})
            continue
        drawn = _effect(_resample.draw_sums(moments, n_resamples, seed))[0]
        low, high, undefined = _resample.percentile(drawn[None, :], level)
        lo, hi, note = settle_difference(
            float(d[0]), low[0], high[0], int(undefined[0]), n_resamples, sums.height
        )
        status = note or ("ok" if row["d_z"] is not None else "differences constant: d_z undefined")
        rows.append(row | {"d": float(d[0]), "low": lo, "high": hi, "status": status})
    return lay_out(rows, by, matched, _COHEN)


_COHEN: dict[str, Any] = {
    **dict.fromkeys(["d", "low", "high", "d_z", "mean_reference", "mean_target"], pl.Float64),
    **dict.fromkeys(["n_pairs", "n_missing", "n_clusters"], pl.Int64),
    "method": pl.String,
    "status": pl.String,
}


def _effect(m: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return d and d_z from sums of 1, a, b, a^2, b^2, (b - a)^2."""
    n, a, b, aa, bb, dd = m
    bottom = np.where(n > 1, n - 1, np.nan)
    va, vb = (aa - a * a / n) / bottom, (bb - b * b / n) / bottom
    mean = (b - a) / n
    vd = (dd - n * mean * mean) / bottom
    pooled, spread = (np.sqrt(np.where(v > 1e-15, v, np.nan)) for v in ((va + vb) / 2, vd))
    return mean / pooled, mean / spread
