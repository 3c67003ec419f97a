"""Means of numeric outcomes that are nested in cases: the sister of recall, by the same counts and rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from icgkit.errors import SchemaError, UnknownName
from icgkit.metrics import _input, _rates
from icgkit.metrics._rates import Average, Pooling
from icgkit.metrics.intervals import BOOTSTRAP, Bootstrap, clusters_of, drawn
from icgkit.metrics.recall import laid_out


def mean(
    scores: _input.IntoFrame,
    values: str | Sequence[str] = "score",
    *,
    by: str | Sequence[str] = ("model",),
    average: Average = "micro",
    combine: Mapping[str, Mapping[str, float]] | None = None,
    pooling: Pooling = None,
    ci: Bootstrap | None = BOOTSTRAP,
) -> pl.DataFrame:
    """Compute means of numeric columns, and weighted sums of such means, with clustered intervals.

    Parameters
    ----------
    scores : frame
        One row a scored thing: the columns `by`, `values` (numbers or Booleans; null is missing and left
        out), `case_id`, and the cluster of `ci`; without a column `case_id` clusters are the cases.
    values : str or sequence of str
        Columns to average.
    by, average, pooling, ci
        As in `recall`; micro is the mean over rows. All means share one resampling plan, so that they
        stay paired.
    combine : mapping, optional
        Name of a further measure to its weights over `values`: a weighted sum of means.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `measure` (a value or a name of `combine`), and those of `recall` in the unit of
        the values; a combined measure counts rows that have all its parts.

    Raises
    ------
    SchemaError
        As in `recall`; for a column that holds no numbers, and a frame without rows.
    UnknownName
        If a weight names no column of `values`.

    Notes
    -----
    Micro: sum_c x_c / sum_c n_c with x_c the sum of the n_c known values of case c. Macro: mean over cases
    of x_c / n_c. A value that does not vary over clusters gets no interval: Wilson's, which recall takes
    there, needs a share.
    Source: Field and Welsh (2007, section 2).

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame({"m": "a", "case_id": ["x", "y", "z"], "r": [1.0, 0.5, None]})
    >>> mean(rows, "r", by="m", ci=None).select("measure", "estimate", "n_scored", "n_total").row(0)
    ('r', 0.75, 2, 3)
    """
    by, values, ci = _input.columns_of(by), _input.columns_of(values), drawn(ci)
    cluster, mixed = clusters_of(ci), {k: dict(w) for k, w in (combine or {}).items()}
    for weights in mixed.values():
        for name in weights:
            if name not in values:
                raise UnknownName.among("value in combine", name, values)
    frame = _input.eager(scores, [*by, *values, *cluster], where="scores")
    if frame.is_empty():
        raise SchemaError("scores: the frame has no rows")
    if "case_id" not in frame.columns:
        frame = frame.with_columns(case_id=pl.struct(cluster) if len(cluster) > 1 else pl.col(cluster[0]))
    _input.one_of("average", average, _rates.AVERAGES)
    whole = {
        name: pl.when(pl.all_horizontal(pl.col(list(weights)).is_not_null())).then(
            pl.sum_horizontal(pl.col(v).cast(pl.Float64) * w for v, w in weights.items())
        )
        for name, weights in mixed.items()
    }
    frame = frame.with_columns(**whole)
    counted = {
        name: _rates.prepare(
            frame, value=name, by=by, pooling=pooling, cluster=cluster, where="scores", numeric=True
        )
        for name in (*values, *mixed)
    }
    estimate = {v: counted[v].estimate(average) for v in values}
    draws = {v: counted[v].draws([average], ci)[average] for v in values} if ci else {}
    parts = []
    for name, rates in counted.items():
        weights = mixed.get(name, {name: 1.0})
        point = sum(w * estimate[v] for v, w in weights.items())
        many = sum(w * draws[v] for v, w in weights.items()) if ci else None
        left = (
            sum(w * counted[v].without(average) for v, w in weights.items())
            if ci and ci.kind == "bca"
            else None
        )
        part = laid_out(rates, average, ci, (point, many, left))
        parts.append(part.select(*by, pl.lit(name).alias("measure"), pl.exclude(by)))
    order = pl.concat(parts).with_columns(_i=pl.int_range(pl.len()) % len(parts[0]))
    return order.sort("_i", maintain_order=True).drop("_i")
