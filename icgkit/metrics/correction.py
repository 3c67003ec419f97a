"""Recall corrected for the judge's errors, from a subset that people labelled too."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.errors import SchemaError
from icgkit.metrics import _input, _resample
from icgkit.metrics.paired import KEY

Floats = NDArray[np.float64]
METHODS = ("judge", "labels", "rogan_gladen", "prediction_powered", "prediction_powered_tuned")


def corrected(
    judgments: _input.IntoFrame,
    labels: _input.IntoFrame,
    *,
    by: str | Sequence[str] = ("condition",),
    value: str = "found",
    gold: str = "gold",
    cluster: str = "case_id",
    level: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 42,
) -> pl.DataFrame:
    """Estimate micro recall as people would judge it, from many judge verdicts and few human ones.

    Parameters
    ----------
    judgments : frame
        The judge's verdicts: `value`, `cluster`, the columns `by`.
    labels : frame
        The subset with both verdicts (schema `gold`): `value`, `gold`, `cluster`, the columns `by`.
        It has to be a random sample of the decisions within each cell.
    by : str or sequence of str
        Columns that make the cells; each cell has error rates of its own.
    cluster : str
        Column of the clusters; resampled for Rogan-Gladen, added up for the others' errors.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `estimator`: "judge" (verdicts as they are), "labels" (human subset alone),
        "rogan_gladen", "prediction_powered", "prediction_powered_tuned"; `estimate` (0 to 1), `low`,
        `high`, `width`, `width_ratio` (to the judge's own interval: the price of being right),
        `sensitivity`, `specificity`, `tuning`, `n_scored`, `n_labelled`, `n_missing`, `method`,
        `status`.

    Notes
    -----
    Rogan-Gladen: (p + Sp - 1) / (Se + Sp - 1), cut to 0..1; undefined when Se + Sp <= 1.
    Prediction-powered: t mean(f over the unlabelled) + mean(y - t f over the labelled), with t = 1 or
    the t that minimises the variance, cov(y, f) / (var f (1 + n / N)), cut to 0..1; normal interval
    with variances that add up whole clusters.

    References
    ----------
    Rogan and Gladen (1978), Am. J. Epidemiol. 107, 71-76. Angelopoulos, Bates, Fannjiang, Jordan and
    Zrnic (2023), Prediction-powered inference, Science 382, 669-674; Angelopoulos, Duchi and Zrnic
    (2023), PPI++, arXiv:2311.01453, section 6 (tuning).

    Examples
    --------
    >>> import polars as pl
    >>> judged = pl.DataFrame({"case_id": [f"c{i}" for i in range(200)], "found": [i % 2 == 0 for i in range(200)]})
    >>> labelled = judged.head(40).with_columns(gold=pl.Series([i % 2 == 0 or i % 10 == 1 for i in range(40)]))
    >>> got = corrected(judged, labelled, by=(), n_resamples=200)
    >>> got.select("estimator", pl.col("estimate").round(3)).rows()[2]
    ('rogan_gladen', 0.6)
    """
    by = _input.columns_of(by)
    _input.level_ok(level)
    every = _input.eager(judgments, [*by, value, cluster], where="judgments")
    some = _input.eager(labels, [*by, value, gold, cluster], where="labels")
    for frame, where in ((every, "judgments"), (some, "labels")):
        _input.no_null(frame, [cluster], where=where, what="cluster")
        for column in ("judge", "dataset"):
            if column in frame.columns and column not in by and frame[column].n_unique() > 1:
                raise SchemaError(f"{where} hold several values of {column!r}", remedy="filter to one")
    key = [c for c in KEY if c in every.columns and c in some.columns]
    rest = every.join(some.select(key).unique(), on=key, how="anti", nulls_equal=True) if key else every
    f = every.select(*by, cluster, _input.binary(every, value).cast(pl.Float64).alias("_f"))
    u = rest.select(*by, cluster, _input.binary(rest, value).cast(pl.Float64).alias("_f"))
    g = some.select(
        *by,
        cluster,
        _input.binary(some, value, where="labels").cast(pl.Float64).alias("_f"),
        _input.binary(some, gold, where="labels").cast(pl.Float64).alias("_y"),
    )
    rows = []
    for cell, part in f.group_by(by, maintain_order=True) if by else [((), f)]:
        match = [pl.lit(True), *(pl.col(c).eq_missing(pl.lit(v)) for c, v in zip(by, cell, strict=True))]
        rows += [
            dict(zip(by, cell, strict=True)) | row
            for row in _cell(part, u.filter(match), g.filter(match), cluster, level, n_resamples, seed)
        ]
    schema: dict[str, Any] = {b: every.schema[b] for b in by} | _SCHEMA
    out = pl.DataFrame([[row.get(c) for c in schema] for row in rows], schema=schema, orient="row")
    return out.sort(by, nulls_last=True, maintain_order=True) if by else out


_SCHEMA: dict[str, Any] = {
    "estimator": pl.String,
    **dict.fromkeys(["estimate", "low", "high", "width", "width_ratio"], pl.Float64),
    **dict.fromkeys(["sensitivity", "specificity", "tuning"], pl.Float64),
    **dict.fromkeys(["n_scored", "n_labelled", "n_missing"], pl.Int64),
    "method": pl.String,
    "status": pl.String,
}


def _sums(frame: pl.DataFrame, cluster: str) -> pl.DataFrame:
    """Per-cluster sums of f, y, f y and of rows, over complete rows."""
    f = pl.col("_f")
    more = {}
    if "_y" in frame.columns:
        y = pl.col("_y")
        more = {"y": y.sum(), "fy": (f * y).sum()}
    return frame.drop_nulls().group_by(cluster).agg(n=pl.len(), f=f.sum(), **more).sort(cluster)


def _mean(total: Floats, n: Floats) -> tuple[float, float]:
    """Return mean and its clustered variance from per-cluster totals and sizes."""
    mean = total.sum() / n.sum()
    residual = total - mean * n
    clusters = len(n)
    factor = clusters / (clusters - 1) if clusters > 1 else np.nan
    return float(mean), float(factor * (residual @ residual) / n.sum() ** 2)


def _cell(
    every: pl.DataFrame, rest: pl.DataFrame, some: pl.DataFrame, cluster: str, level: float,
    n_resamples: int, seed: int,
) -> list[dict[str, Any]]:  # fmt: skip
    z = NormalDist().inv_cdf((1 + level) / 2)
    a, u, g = _sums(every, cluster), _sums(rest, cluster), _sums(some, cluster)
    base = {
        "n_scored": int(a["n"].sum()), "n_labelled": int(g["n"].sum()),
        "n_missing": every.height - int(a["n"].sum()),
    }  # fmt: skip
    rows: dict[str, dict[str, Any]] = {m: base | {"estimator": m} for m in METHODS}
    normal = f"normal, errors clustered by {cluster}"
    if not base["n_scored"]:
        return [row | {"status": "nothing scored"} for row in rows.values()]
    _normal(rows["judge"], *_mean(_np(a, "f"), _np(a, "n")), z, normal)
    if g.height < 2:
        few = {"status": f"{g.height} labelled clusters: too few"}
        return [rows["judge"], *(rows[m] | few for m in METHODS[1:])]
    n, f, y, fy = (_np(g, c) for c in ("n", "f", "y", "fy"))
    _normal(rows["labels"], *_mean(y, n), z, normal)
    _rogan_gladen(rows["rogan_gladen"], a, g, cluster, level, n_resamples, seed)
    if u.height < 2:
        for name in METHODS[3:]:
            rows[name]["status"] = "every decision is labelled: use the labels"
    else:
        tuned = _tuning(n, f, y, fy, float(_np(u, "n").sum()))
        for name, t in zip(METHODS[3:], (1.0, tuned), strict=True):
            left, left_variance = _mean(t * _np(u, "f"), _np(u, "n"))
            right, right_variance = _mean(y - t * f, n)
            rows[name]["tuning"] = t
            _normal(rows[name], left + right, left_variance + right_variance, z, normal)
    naive = rows["judge"].get("width")
    for row in rows.values():
        if row.get("width") is not None and naive:
            row["width_ratio"] = row["width"] / naive
    return list(rows.values())


def _np(frame: pl.DataFrame, name: str) -> Floats:
    return frame[name].cast(pl.Float64).to_numpy()


def _normal(row: dict[str, Any], mean: float, variance: float, z: float, method: str) -> None:
    row |= {"estimate": min(1.0, max(0.0, mean)), "method": method, "status": "ok"}
    if not np.isfinite(variance):
        row["status"] = "one cluster: no interval"
    elif variance <= 0:
        row["status"] = "constant: no interval"
    else:
        half = z * variance**0.5
        row |= {
            "low": max(0.0, min(mean - half, 1.0)),
            "high": min(1.0, max(mean + half, 0.0)),
            "width": 2 * half,
        }
    if not 0 <= mean <= 1:
        row["status"] = f"estimate {mean:.3f} cut to 0..1"


def _tuning(n: Floats, f: Floats, y: Floats, fy: Floats, unlabelled: float) -> float:
    size = n.sum()
    variance = f.sum() / size - (f.sum() / size) ** 2  # f is 0 or 1
    if variance <= 0:
        return 0.0
    covariance = fy.sum() / size - f.sum() * y.sum() / size**2
    return float(np.clip(covariance / (variance * (1 + size / unlabelled)), 0, 1))


def _rogan_gladen(
    row: dict[str, Any],
    a: pl.DataFrame,
    g: pl.DataFrame,
    cluster: str,
    level: float,
    n_resamples: int,
    seed: int,
) -> None:
    both = (
        a.select(cluster, pn="n", pf="f")
        .join(g, on=cluster, how="full", coalesce=True)
        .fill_null(0)
        .sort(cluster)
    )
    sums = np.stack([_np(both, c) for c in ("pn", "pf", "n", "f", "y", "fy")])
    value, se, sp = _corrected(sums.sum(axis=1, keepdims=True))
    row["method"] = f"percentile bootstrap over {cluster}, B={n_resamples}, seed={seed}"
    row |= {
        n: float(v[0]) if np.isfinite(v[0]) else None for n, v in (("sensitivity", se), ("specificity", sp))
    }
    if not np.isfinite(value[0]):
        one = "labels have one class only" if row["sensitivity"] is None or row["specificity"] is None else ""
        row["status"] = one or "sensitivity + specificity <= 1: the judge tells nothing"
        return
    drawn = _corrected(_resample.draw_sums(sums, n_resamples, seed))[0]
    low, high, undefined = _resample.percentile(np.clip(drawn, 0, 1)[None, :], level)
    estimate = min(1.0, max(0.0, float(value[0])))
    row |= {"estimate": estimate, "status": "ok"}
    if undefined[0] > n_resamples // 20 or low[0] == high[0]:
        row["status"] = f"{undefined[0]} of {n_resamples} draws undefined: no interval"
    else:
        low_, high_ = min(float(low[0]), estimate), max(float(high[0]), estimate)
        row |= {"low": low_, "high": high_, "width": high_ - low_}
    if estimate != value[0]:
        row["status"] = f"estimate {value[0]:.3f} cut to 0..1"


def _corrected(sums: Floats) -> tuple[Floats, Floats, Floats]:
    pn, pf, n, f, y, fy = sums
    p, se = _resample.ratio(pf, pn), _resample.ratio(fy, y)
    sp = _resample.ratio(n - y - f + fy, n - y)
    return _resample.ratio(p + sp - 1, se + sp - 1), se, sp
