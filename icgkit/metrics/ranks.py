"""Rank correlation and corrections for many comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
import polars as pl

from icgkit.errors import SchemaError
from icgkit.metrics import _input, _rates, _resample
from icgkit.metrics._input import Flags, Floats
from icgkit.metrics._output import grouped, lay_out, schema
from icgkit.metrics._rates import Average, Pooling, method
from icgkit.metrics.contrasts import settle_difference
from icgkit.metrics.intervals import BOOTSTRAP, Bootstrap, needed, t_below


def spearman(
    frame: _input.IntoFrame, x: str, y: str, *, by: str | Sequence[str] = (), ci: Bootstrap = BOOTSTRAP
) -> pl.DataFrame:
    """Compute Spearman's rank correlation of two columns.

    Parameters
    ----------
    frame : frame
        One row an observation; rows with a null in `x` or `y` are left out and counted.
    x, y : str
        Numeric columns.
    by : str or sequence of str
        Columns that make the rows of the result.
    ci : Bootstrap
        Its `level` for the interval, its `n` and `seed` for the random permutations of `p_permutation`.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `x`, `y`, `estimate` (rho, -1 to 1), `low`, `high`, `level`, `p_value` (t
        approximation; null for a perfect correlation, where it is none), `p_permutation`, `n_scored`
        (pairs), `n_total`, `n_missing`, `method`, `status`. Null with the reason for fewer than
        three pairs or a constant column.

    Notes
    -----
    rho is Pearson's correlation of average ranks; t = rho sqrt((n - 2) / (1 - rho^2)) with n - 2
    degrees of freedom. The interval is tanh(atanh(rho) +- z sqrt((1 + rho^2 / 2) / (n - 3))).
    Source: Bonett and Wright (2000; interval).

    Examples
    --------
    >>> import polars as pl
    >>> levels = pl.DataFrame({"level": [0, 1, 2, 3, 3], "recall": [0.9, 0.6, 0.5, 0.2, 0.1]})
    >>> round(spearman(levels, "level", "recall")["estimate"][0], 4)
    -0.9747
    """
    by, ci = _input.columns_of(by), needed(ci)
    got = _input.eager(frame, [*by, x, y])
    for name in (x, y):
        if not got.schema[name].is_numeric():
            raise SchemaError(f"frame.{name}: dtype", got=str(got.schema[name]), allowed="numbers")
    head = {"x": x, "y": y, "level": ci.level}
    rows = [key | head | _spearman(part.select(x, y), ci) for key, part in grouped(got, by)]
    return lay_out(rows, {b: got.schema[b] for b in by} | _SPEARMAN, by)


_SPEARMAN = schema(
    "x y estimate low high p_value p_permutation level n_scored n_total n_missing method status"
)


def _spearman(part: pl.DataFrame, ci: Bootstrap) -> dict[str, Any]:
    x, y = part.columns
    whole = part.drop_nulls()
    n = whole.height
    how = f"average ranks, t approximation, {ci.n} permutations, seed={ci.seed}"
    row = {"n_scored": n, "n_total": part.height, "n_missing": part.height - n, "method": how}
    if n < 3:
        return row | {"status": f"{n} pairs: too few"}
    constant = [c for c in (x, y) if whole[c].n_unique() == 1]
    if constant:
        return row | {"status": f"{' and '.join(constant)} constant: undefined"}
    # Rows are put in one order, so that the seeded permutations do not depend on how they came.
    whole = whole.sort(x, y)
    a, b = (_standard(whole[c].rank("average").to_numpy()) for c in (x, y))
    rho = float(np.clip(a @ b, -1, 1))
    rng = np.random.default_rng(ci.seed)
    extreme = sum(
        int((np.abs(rng.permuted(np.tile(b, (rows, 1)), axis=1) @ a) >= abs(rho) - 1e-12).sum())
        for rows in _chunks(ci.n, max(1, 2_000_000 // n))
    )
    row |= {"p_permutation": (extreme + 1) / (ci.n + 1)}
    if abs(rho) > 1 - 1e-12:
        return row | {"estimate": round(rho), "status": "perfect: no interval, no t approximation"}
    t = rho * np.sqrt((n - 2) / (1 - rho**2))
    row |= {"estimate": rho, "p_value": 2 * t_below(-abs(t), n - 2), "status": "ok"}
    if n > 3:
        half = NormalDist().inv_cdf((1 + ci.level) / 2) * np.sqrt((1 + rho**2 / 2) / (n - 3))
        row["low"], row["high"] = (float(np.tanh(np.arctanh(rho) + s * half)) for s in (-1, 1))
    return row


def _standard(ranks: Floats) -> Floats:
    centred = ranks - ranks.mean()
    return np.asarray(centred / np.sqrt(centred @ centred))


def _chunks(total: int, step: int) -> list[int]:
    return [min(step, total - start) for start in range(0, total, step)]


def rate_trend(
    judgments: _input.IntoFrame,
    x: str,
    *,
    group: str = "subtype",
    average: Average = "micro",
    pooling: Pooling = None,
    ci: Bootstrap = BOOTSTRAP,
    value: str = "found",
) -> pl.DataFrame:
    """Compute Spearman's correlation of groups' rates with a property of the groups, rates being uncertain.

    `spearman` takes the rates of the groups as known. Here whole clusters are resampled, the rates
    computed anew and ranked anew, so that the interval holds what the verdicts leave open. The groups
    themselves are fixed: it says nothing about other groups.

    Parameters
    ----------
    judgments : frame
        As in `recall`, with the columns `group` and `x`.
    x : str
        Numeric property, one value a group.
    group : str
        Column of the groups.
    average, pooling, ci, value
        As in `recall`.

    Returns
    -------
    polars.DataFrame
        `x`, `group`, `estimate` (rho, -1 to 1), `low`, `high`, `level`, `n` (groups), `n_scored`,
        `n_total`, `n_missing`, `n_clusters`, `method`, `status`.

    Notes
    -----
    Pearson's correlation of average ranks, in the data and in every resample; a group that a resample
    misses is left out of it, and a resample in which all rates are equal is undefined.
    Source: Efron and Tibshirani (1993, section 6.2; functions of the data).

    Examples
    --------
    >>> import polars as pl
    >>> rows = [{"case_id": f"c{i}", "subtype": f"s{i % 4}", "level": i % 4, "found": i % 5 > i % 4} for i in range(80)]
    >>> rate_trend(pl.DataFrame(rows), "level", ci=Bootstrap(200))["estimate"].round(2).item()
    -1.0
    """
    ci = needed(ci)
    frame = _input.into(judgments, where="judgments")
    _input.require(frame, [group, x, value, *ci.over, "case_id"], where="judgments")
    rates = _rates.prepare(frame, value=value, by=[group, x], pooling=pooling, cluster=ci.over)
    if rates.cells[group].is_duplicated().any():
        raise SchemaError(f"a group of {group!r} has several values of {x!r}", allowed="one value a group")
    estimate, draws = rates.estimate(average), rates.draws([average], ci)[average]
    known = np.isfinite(estimate)
    level = rates.cells[x].cast(pl.Float64).to_numpy()[known]
    row: dict[str, Any] = rates.counts(np.arange(len(known))) | {
        "x": x, "group": group, "level": ci.level, "n": int(known.sum()),
        "method": f"Spearman over {group}, {method(rates, average, ci)}",
    }  # fmt: skip
    rho = np.array([np.nan])
    if known.sum() > 2:
        rho = _rank_correlation(level, np.column_stack([estimate[known], draws[known]]))
    if not np.isfinite(rho[0]):
        row["status"] = "fewer than three groups, or all alike"
    else:
        low, high, undefined = _resample.percentile(rho[None, 1:], ci.level)
        ends = settle_difference(float(rho[0]), low[0], high[0], int(undefined[0]), row["n_clusters"], ci)
        row |= {"estimate": float(rho[0]), "low": ends[0], "high": ends[1], "status": ends[2] or "ok"}
    return lay_out([row], _TREND)


_TREND = schema("x group estimate low high level n n_scored n_total n_missing n_clusters method status")


def _rank_correlation(x: Floats, columns: Floats) -> Floats:
    """Correlate the ranks of x with those of each column, over the groups that have a rate; NaN if all are alike."""
    from scipy.stats import rankdata

    out = np.full(columns.shape[1], np.nan)
    whole: Flags = np.asarray(np.isfinite(columns).all(axis=0))
    parts = [(np.ones(len(x), dtype=bool), whole)] if whole.any() else []
    parts += [(np.isfinite(columns[:, k]), np.arange(len(whole)) == k) for k in np.flatnonzero(~whole)]
    for rows, chosen in parts:
        centre = (rows.sum() + 1) / 2
        if rows.sum() < 3:
            continue
        a, b = rankdata(x[rows]) - centre, rankdata(columns[rows][:, chosen], axis=0) - centre
        size = np.sqrt((a @ a) * (b * b).sum(axis=0))
        out[chosen] = np.divide(a @ b, size, out=np.full(len(size), np.nan), where=size > 0)
    return out


def adjust(
    frame: _input.IntoFrame,
    *,
    p: str = "p_value",
    method: Literal["holm", "bh"] = "holm",
    by: str | Sequence[str] = (),
    name: str = "p_adjusted",
) -> pl.DataFrame:
    """Adjust p-values for many comparisons (Holm, or Benjamini and Hochberg).

    Parameters
    ----------
    frame : frame
        Any result with a column of p-values; null ones stay null and do not count as a comparison.
    p : str
        The column of p-values, 0 to 1.
    method : {"holm", "bh"}
        Family-wise error (step-down) or false discovery rate (step-up).
    by : str or sequence of str
        Columns whose groups are families of their own; all rows are one family when empty.
    name : str
        Name of the new column.

    Returns
    -------
    polars.DataFrame
        The frame with the columns `name`, `n_comparisons` and `adjustment` added.

    Notes
    -----
    p ordered upwards, m of them. Holm: max over j <= i of (m - j + 1) p_j. Benjamini and Hochberg: min
    over j >= i of m p_j / j. Both cut to 1.
    Sources: Holm (1979), Benjamini and Hochberg (1995).

    Examples
    --------
    >>> import polars as pl
    >>> adjust(pl.DataFrame({"p_value": [0.01, 0.04, 0.03, None]}))["p_adjusted"].to_list()
    [0.03, 0.06, 0.06, None]
    >>> adjust(pl.DataFrame({"p_value": [0.01, 0.04, 0.03]}), method="bh")["p_adjusted"].to_list()
    [0.03, 0.04, 0.04]
    """
    import pingouin  # it loads pandas, seaborn and statsmodels

    _input.one_of("method", method, ("holm", "bh"))
    by = _input.columns_of(by)
    got = _input.eager(frame, [*by, p])
    values = got.get_column(p).cast(pl.Float64)
    if values.drop_nulls().len() and not values.drop_nulls().is_between(0, 1).all():
        raise SchemaError(f"frame.{p}: values outside 0 to 1", got=values.max(), allowed="p-values")
    indexed = got.with_row_index("_i")
    adjusted: list[float | None] = [None] * got.height
    counts = [0] * got.height
    for _, part in grouped(indexed, by):
        known = part.drop_nulls(p)
        index, raw = known["_i"].to_list(), known[p].to_numpy()
        if index:
            fixed = pingouin.multicomp(raw, method={"holm": "holm", "bh": "fdr_bh"}[method])[1]
            for i, value in zip(index, fixed, strict=True):
                adjusted[i] = float(value)
        for i in part["_i"].to_list():
            counts[i] = len(index)
    return got.with_columns(
        pl.Series(name, adjusted, dtype=pl.Float64),
        pl.Series("n_comparisons", counts, dtype=pl.Int64),
        pl.lit({"holm": "Holm", "bh": "Benjamini-Hochberg"}[method]).alias("adjustment"),
    )
