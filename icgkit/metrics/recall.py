"""Recall of ground-truth constraints, its bounds where verdicts are missing, and the frame of every rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from icgkit.errors import SchemaError
from icgkit.metrics import _input, _rates, _resample
from icgkit.metrics._rates import Average, Pooling, Rates, few, method
from icgkit.metrics.intervals import BOOTSTRAP, CI, Bootstrap, Wilson, any_kind, clusters_of, level_of


def recall(
    judgments: _input.IntoFrame,
    *,
    by: str | Sequence[str] = ("model", "condition"),
    average: Average | Sequence[Average] = "macro",
    pooling: Pooling = None,
    ci: CI = BOOTSTRAP,
    value: str = "found",
    weights: str | None = None,
) -> pl.DataFrame:
    """Compute recall with its interval for every combination of the columns `by`.

    Parameters
    ----------
    judgments : frame
        One row a judged node (schema `judgments`): `case_id`, the columns `by`, and `value`.
        polars (eager or lazy), pandas, Arrow. A lazy frame is read in batches; one of more than eight
        million rows is not looked through for rows that stand twice.
    by : str or sequence of str
        Columns that make the rows of the result. Judges, datasets and conditions are never pooled:
        when there are several, they belong here.
    average : {"macro", "micro"} or both
        Mean over cases of the share of a case's nodes that is found; or found nodes over nodes.
        Given several, the result has a column `average` and all share one resampling plan.
    pooling : {"mean_over_models", "pooled"}, optional
        How models are put together when `by` does not name them: unweighted mean of the models'
        recalls, or all case-model (macro) or node-model (micro) decisions in one. Must be given then.
    ci : Bootstrap, Wilson or None
        `Bootstrap(n, seed, cluster, level, kind)` draws whole clusters (one column, or two crossed
        ones); `Wilson(level)` takes scored nodes (micro) or cases (macro) as independent trials.
    value : str
        The Boolean outcome; null is missing: left out of both sides of the fraction and counted.
    weights : str, optional
        Column with one weight above 0 a case: how many cases of a larger set it stands for (see
        `icgkit.cases.subset.weights`). Weighted are cases (macro) and their nodes (micro); counts are not.

    Returns
    -------
    polars.DataFrame
        The columns `by`, then `estimate`, `low`, `high` (share, 0 to 1, null where undefined),
        `level`, `n_scored`, `n_total`, `n_missing` (rows), `n_cases`, `n_clusters` (with a scored
        row), `method`, `status` ("ok", or what is wrong or flagged).

    Raises
    ------
    SchemaError
        For a missing column, a null case id, a decision that stands twice, several judges, datasets or
        conditions outside `by`, or several models without a named pooling.

    Notes
    -----
    Macro: (1/C) sum_c f_c / n_c over the C cases with n_c > 0 scored nodes, f_c of them found.
    Micro: sum_c f_c / sum_c n_c. With weights w_c both sums hold w_c, in every resample too. Repeats of a call (`sample`) are pooled inside their case.
    When every case has the same outcome 0 or 1 the bootstrap has nothing to vary; the Wilson
    interval on the number of cases takes its place and the status says so.
    Sources: Field and Welsh (2007, section 2; whole clusters), Wilson (1927).

    Examples
    --------
    >>> import polars as pl
    >>> judgments = pl.DataFrame({"case_id": list("aabbb"), "model": "m", "condition": "direct", "found": [1, 0, 1, 1, None]})
    >>> recall(judgments, ci=None).select("model", "estimate", "n_scored", "n_total", "n_missing").row(0)
    ('m', 0.75, 4, 5, 1)
    """
    if weights is not None and isinstance(ci, Wilson):
        raise SchemaError("ci=Wilson() with weights", got=weights, allowed="a Bootstrap, or None")
    return rated(judgments, average, ci, value=value, by=by, pooling=pooling, weights=weights)


def bounds(
    judgments: _input.IntoFrame,
    *,
    by: str | Sequence[str] = ("model", "condition"),
    average: Average = "macro",
    pooling: Pooling = None,
    value: str = "found",
) -> pl.DataFrame:
    """Bound a rate by taking every missing verdict as false, then every one as true.

    `recall` leaves missing verdicts out, which is right if they are missing at random. These bounds hold
    however they came to be missing; they are no interval, and sampling error comes on top.

    Parameters
    ----------
    judgments, by, average, pooling, value
        As in `recall`.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `estimate` (missing left out), `worst`, `best` (share, 0 to 1; they coincide
        with it where nothing is missing), `width` (best minus worst), `missing` (share of rows, 0 to
        1), `n_missing`, `n_scored`, `n_total`, `n_cases`, `method`, `status`.

    Raises
    ------
    SchemaError
        As in `recall`.

    Notes
    -----
    worst and best are the rate with y = 0 and y = 1 in place of every null. With mean_over_models a
    model without any verdict has no estimate, yet counts in the bounds.
    Source: Horowitz and Manski (2000).

    Examples
    --------
    >>> import polars as pl
    >>> judgments = pl.DataFrame({"case_id": list("aabb"), "found": [True, None, False, True]})
    >>> bounds(judgments, by=()).select("worst", "estimate", "best", "missing").row(0)
    (0.5, 0.75, 0.75, 0.25)
    """
    by = _input.columns_of(by)
    frame = _input.eager(judgments, [*by, "case_id", value], where="judgments")
    frame = frame.with_columns(_input.binary(frame, value).alias(value))
    options = {"by": by, "average": average, "pooling": pooling, "ci": None, "value": value}
    seen, worst, best = (
        recall(frame.with_columns(fill), **options)  # type: ignore[arg-type]
        for fill in (pl.col(value), pl.col(value).fill_null(False), pl.col(value).fill_null(True))
    )
    return seen.select(
        *by,
        "estimate",
        worst["estimate"].alias("worst"),
        best["estimate"].alias("best"),
        (best["estimate"] - worst["estimate"]).alias("width"),
        (pl.col("n_missing") / pl.col("n_total")).alias("missing"),
        *("n_missing", "n_scored", "n_total", "n_cases"),
        pl.lit(f"{average}, missing verdicts as false and as true").alias("method"),
        "status",
    )


def rated(frame: _input.IntoFrame, average: str | Sequence[str], ci: CI, **options: Any) -> pl.DataFrame:
    """Count (options of `prepare`) and lay out the documented frame; shared by every rate of the package."""
    rates = _rates.prepare(frame, cluster=clusters_of(any_kind(ci)), **options)
    averages = _input.columns_of(average)
    for name in averages:
        _input.one_of("average", name, _rates.AVERAGES)
    draws = rates.draws(averages, ci) if isinstance(ci, Bootstrap) and rates.cells.height else {}
    parts = [laid_out(rates, name, ci, (rates.estimate(name), draws.get(name), None)) for name in averages]
    if isinstance(average, str):
        return parts[0]
    for name, part in zip(averages, parts, strict=True):
        part.insert_column(rates.cells.width, pl.Series("average", [name] * part.height, dtype=pl.String))
    return pl.concat(parts)


def rated_apart(
    got: pl.DataFrame, measures: Mapping[str, pl.Expr], name: str, by: list[str], ci: CI, *, where: str
) -> pl.DataFrame:
    """Lay out the rates of several measures of the same rows, told apart by the column `name`."""
    _rates.check_apart(got, by, None, where=where)
    keep = dict.fromkeys([*by, *(c for c in _input.KEY if c in got.columns), *clusters_of(ci)])
    parts = [got.select(*keep, pl.lit(n).alias(name), e.alias("_v")) for n, e in measures.items()]
    long = pl.concat(parts).with_columns(pl.col(name).cast(pl.Enum(list(measures))))
    out = rated(long, "micro", ci, value="_v", by=[*by, name], pooling=None, where=where)
    return out.with_columns(pl.col(name).cast(pl.String))


def laid_out(rates: Rates, average: str, ci: CI, known: tuple[Any, Any, Any]) -> pl.DataFrame:
    """Lay out `known` estimates of the cells, their draws and their values without each cluster (or None)."""
    estimate, draws, left = known
    n_cells = len(estimate)
    low, high = np.full((2, n_cells), np.nan)
    undefined = np.zeros(n_cells, dtype=np.int64)
    clusters = rates.clusters(rates.alive)
    if draws is not None and isinstance(ci, Bootstrap):
        low, high, undefined = _resample.ends(
            draws, ci, clusters, estimate, lambda: rates.without(average) if left is None else left
        )
    notes: list[list[str]] = [[] for _ in range(n_cells)]
    methods = [method(rates, average, ci)] * n_cells
    behind = rates.models_scored()
    told = ~np.isfinite(estimate) | (behind < rates.models) | (ci is not None)
    for i in np.flatnonzero(told):
        if not np.isfinite(estimate[i]):
            notes[i].append("no rows" if rates.n_total[i] == 0 else "nothing scored: every value is missing")
            low[i] = high[i] = np.nan
            continue
        if behind[i] < rates.models:
            notes[i].append(f"{behind[i]} of {rates.models} models")
        if isinstance(ci, Wilson):
            trials = rates.n_scored[i] if average == "micro" else rates.n_cases[i]
            low[i], high[i] = _resample.wilson(estimate[i], trials, ci.level)
        elif ci is not None:
            low[i], high[i], note = _settle(
                estimate[i], low[i], high[i], int(undefined[i]), int(clusters[i]), ci, share=not rates.numeric
            )
            if note:
                notes[i].append(note)
            if "Wilson" in note:
                methods[i] = method(rates, average, Wilson(ci.level))
    columns = {
        "estimate": _rates.nullable(estimate),
        "low": _rates.nullable(low),
        "high": _rates.nullable(high),
        "level": pl.Series([level_of(ci)] * n_cells, dtype=pl.Float64),
        "n_scored": pl.Series(rates.n_scored, dtype=pl.Int64),
        "n_total": pl.Series(rates.n_total, dtype=pl.Int64),
        "n_missing": pl.Series(rates.n_total - rates.n_scored, dtype=pl.Int64),
        "n_cases": pl.Series(rates.n_cases, dtype=pl.Int64),
        "n_clusters": pl.Series(clusters, dtype=pl.Int64),
        "method": pl.Series(methods, dtype=pl.String),
        "status": pl.Series([_rates.join_notes(n) for n in notes], dtype=pl.String),
    }
    return pl.DataFrame([*rates.cells.get_columns(), *(s.alias(n) for n, s in columns.items())])


def _settle(
    estimate: float, low: float, high: float, undefined: int, clusters: int, ci: Bootstrap, *, share: bool
) -> tuple[float, float, str]:
    """Decide what a bootstrap interval is worth; return it with a note."""
    ceiling = share and estimate in (0.0, 1.0)
    if clusters == 1:
        return np.nan, np.nan, "one cluster: no interval"
    if low == high:
        if ceiling:
            return *_resample.wilson(estimate, clusters, ci.level), f"constant: Wilson on {clusters} clusters"
        return np.nan, np.nan, "constant over clusters: no interval"
    if undefined > ci.n // 20:
        return np.nan, np.nan, f"{undefined} of {ci.n} draws undefined: no interval"
    if not np.isfinite(low):
        if ceiling:
            return *_resample.wilson(estimate, clusters, ci.level), f"constant: Wilson on {clusters} clusters"
        return np.nan, np.nan, "no BCa interval: draws lie on one side"
    notes = [few(clusters, ci), f"{undefined} of {ci.n} draws undefined and left out" if undefined else ""]
    return min(low, estimate), max(high, estimate), "; ".join(n for n in notes if n)
