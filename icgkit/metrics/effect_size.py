"""Cohen's d of paired outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.metrics import _input
from icgkit.metrics._interval import interval
from icgkit.metrics.inference import settle_difference
from icgkit.metrics.intervals import BOOTSTRAP, Bootstrap, clusters_of, drawn, level_of
from icgkit.metrics.paired import cluster_sums, groups_of, lay_out, n_cases, pairs


def cohens_d(
    judgments: _input.IntoFrame,
    *,
    reference: str = "direct",
    targets: str | Sequence[str] | None = None,
    by: str | Sequence[str] = ("model",),
    over: str = "condition",
    value: str = "found",
    on: str | Sequence[str] | None = None,
    pooling: Literal["pooled"] | None = None,
    ci: Bootstrap | None = BOOTSTRAP,
) -> pl.DataFrame:
    """Compute Cohen's d of paired outcomes, with a clustered bootstrap interval.

    Parameters
    ----------
    judgments, reference, targets, by, over, value, on, pooling
        As in `mcnemar`; `value` may also be numeric.
    ci : Bootstrap or None
        How the interval of d is drawn.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `reference`, `target`, `estimate` (Cohen's d: difference over the root mean of
        both variances, in standard deviations), `low`, `high`, `level` (of d), `d_z` (difference over
        the standard deviation of the differences), `mean_reference`, `mean_target`, `n_pairs`,
        `n_total`, `n_missing`, `n_cases`, `n_clusters`, `method`, `status`. Positive: the target is higher. Null where a variance is 0.

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
    >>> round(cohens_d(rows, by=(), ci=None)["estimate"][0], 4)  # (3/4 - 1/2) / sqrt((1/4 + 1/3) / 2)
    0.4629
    """
    by, ci = _input.columns_of(by), drawn(ci)
    matched, reference = pairs(
        judgments, reference=reference, targets=targets, by=by, over=over, value=value, on=on, pooling=pooling,
        cluster=clusters_of(ci), numeric=True,
    )  # fmt: skip
    rows = []
    for key, part in groups_of(matched, by):
        whole, sums = cluster_sums(part, clusters_of(ci))
        row = key | {
            "reference": reference, "level": level_of(ci), "n_pairs": whole.height, "n_total": part.height,
            "n_missing": part.height - whole.height, "n_cases": n_cases(whole), "n_clusters": sums.height,
            "method": f"Cohen's d, {ci.words()}" if ci else "Cohen's d",
        }  # fmt: skip
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
        row |= {
            "estimate": float(d[0]),
            "status": "ok" if row["d_z"] is not None else "differences constant: d_z undefined",
        }
        if ci is not None:
            got = interval(lambda m: _effect(m)[0][None, :], moments, sums, ci)
            low, high, note = settle_difference(
                float(d[0]), got.low[0], got.high[0], int(got.undefined[0]), got.clusters, ci
            )
            row |= {"low": low, "high": high, "n_clusters": got.clusters, "status": note or row["status"]}
        rows.append(row)
    return lay_out(rows, by, matched, _COHEN)


_COHEN: dict[str, Any] = {
    **dict.fromkeys(["estimate", "low", "high", "level", "d_z", "mean_reference", "mean_target"], pl.Float64),
    **dict.fromkeys(["n_pairs", "n_total", "n_missing", "n_cases", "n_clusters"], pl.Int64),
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
