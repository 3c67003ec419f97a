"""Paired contrasts beyond a difference: equivalence within a margin, and differences of differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.errors import SchemaError
from icgkit.metrics import _input, _rates, _resample, inference
from icgkit.metrics._words import Average, Pooling, few, method
from icgkit.metrics.intervals import BOOTSTRAP, Bootstrap, needed

Floats = NDArray[np.float64]


def equivalence(
    judgments: _input.IntoFrame,
    *,
    margin: float,
    reference: str = "direct",
    targets: str | Sequence[str] | None = None,
    by: str | Sequence[str] = ("model",),
    over: str = "condition",
    average: Average = "macro",
    pooling: Pooling = None,
    ci: Bootstrap = BOOTSTRAP,
    value: str = "found",
) -> pl.DataFrame:
    """Test that two paired rates differ by less than a margin (two one-sided tests, clusters kept whole).

    "No difference" is not what a large p of a test for a difference says; it is what this test can show.

    Parameters
    ----------
    judgments, reference, targets, by, over, average, pooling, value
        As in `differences`.
    margin : float
        Largest difference that would not matter, as a share between 0 and 1; to be fixed before the
        numbers are seen.
    ci : Bootstrap
        Resampling of clusters. Its `level` L sets the size of the tests, alpha = 1 - L; the interval
        shown is the one of level 1 - 2 alpha that belongs to them (90 % for 0.95).

    Returns
    -------
    polars.DataFrame
        The columns `by`, `reference`, `target`, `estimate` (target minus reference), `low`, `high`,
        `level` (of this interval), `margin`, `p_noninferior` (against: target is worse by the margin or
        more), `p_nonsuperior` (against: better by the margin or more), `p_value` (equivalence: the
        larger of both), `conclusion` ("equivalent", "non-inferior", "non-superior", "undecided", and
        "different by the margin or more"), `n_scored`, `n_total`, `n_missing`, `n_cases`,
        `n_clusters`, `method`, `status`.

    Raises
    ------
    SchemaError, UnknownName
        As in `differences`; for a margin outside 0 to 1.

    Notes
    -----
    With d the difference, s the standard deviation of its bootstrap draws times sqrt(C / (C - 1)) and C
    clusters: p_noninferior = P(T > (d + margin) / s), p_nonsuperior = P(T > (margin - d) / s), T with
    C - 1 degrees of freedom; interval d -+ t s. It lies within the margin exactly if p_value < alpha.

    References
    ----------
    Schuirmann (1987), A comparison of the two one-sided tests procedure and the power approach, J.
    Pharmacokinetics and Biopharmaceutics 15, 657-680. Lakens (2017), Equivalence tests, Social
    Psychological and Personality Science 8(4), 355-362.

    Examples
    --------
    >>> import polars as pl
    >>> rows = [
    ...     {"case_id": f"c{i}", "condition": c, "model": "m", "found": (i + (c == "cot") * (i % 20 == 0)) % 2 == 0}
    ...     for i in range(200) for c in ("direct", "cot")
    ... ]
    >>> got = equivalence(pl.DataFrame(rows), margin=0.1, ci=Bootstrap(500))
    >>> got.select("target", "conclusion").row(0)
    ('cot', 'equivalent')
    """
    if isinstance(margin, bool) or not isinstance(margin, int | float) or not 0 < margin < 1:
        raise SchemaError(
            "margin", got=margin, allowed="a share between 0 and 1, such as 0.05 for five points"
        )
    ci = needed(ci)
    by = _input.columns_of(by)
    rates, pairs, how = _counted(judgments, reference, targets, by, over, average, pooling, ci, value)
    estimate, draws = rates.estimate(average), rates.draws([average], ci)[average]
    alive, rows = rates.alive(), []
    for pair in pairs.iter_rows(named=True):
        t, r = pair["_i"], pair["_r"]
        row = {b: pair[b] for b in by} | {
            "reference": str(reference),
            "target": pair[over],
            "margin": float(margin),
        }
        row |= {"level": 1 - 2 * (1 - ci.level), "method": f"two one-sided t-tests, {how}"}
        if t is None or r is None or not np.isfinite(estimate[[t, r]]).all():
            rows.append(row | {"status": "nothing scored on one side"})
            continue
        row |= _sizes(rates, [t, r], alive)
        row |= _two_tests(
            float(estimate[t] - estimate[r]), draws[t] - draws[r], row["n_clusters"], margin, ci
        )
        rows.append(row)
    schema = {b: pairs.schema[b] for b in by} | _EQUIVALENCE
    return pl.DataFrame([[row.get(c) for c in schema] for row in rows], schema=schema, orient="row")


_SIZES: dict[str, Any] = dict.fromkeys(
    ["n_scored", "n_total", "n_missing", "n_cases", "n_clusters"], pl.Int64
)
_EQUIVALENCE: dict[str, Any] = {
    "reference": pl.String, "target": pl.String,
    **dict.fromkeys(["estimate", "low", "high", "level", "margin", "p_noninferior", "p_nonsuperior", "p_value"], pl.Float64),
    "conclusion": pl.String, **_SIZES, "method": pl.String, "status": pl.String,
}  # fmt: skip


def _counted(
    judgments: Any, reference: Any, targets: Any, by: list[str], over: str, average: str, pooling: Pooling,
    ci: Bootstrap, value: str,
) -> tuple[_rates.Rates, pl.DataFrame, str]:  # fmt: skip
    """Count both sides of every pair; return the rates, the positions of the sides and the method in words."""
    if over in by:
        raise SchemaError(f"by names {over!r}, the column that is compared", got=by, remedy="leave it out")
    _input.one_of("average", average, _rates.AVERAGES)
    frame = _input.into(judgments, where="judgments")
    _input.require(frame, [*by, over, value, *ci.over, "case_id"], where="judgments")
    frame, reference, wanted = inference.sides(frame, over, reference, targets)
    frame = frame.filter(pl.col(over).is_in([reference, *wanted]))
    rates = _rates.prepare(frame, value=value, by=[*by, over], pooling=pooling, cluster=ci.over)
    return rates, inference._pairs(rates.cells, by, over, reference, wanted), method(rates, average, ci)


def _sizes(rates: _rates.Rates, cells: list[int], alive: NDArray[np.bool_]) -> dict[str, int]:
    """Count rows, and the cases and clusters that are scored in every one of the cells."""
    scored, total = (int(sum(x[i] for i in cells)) for x in (rates.n_scored, rates.n_total))
    both = np.logical_and.reduce(alive[cells])
    return {
        "n_scored": scored, "n_total": total, "n_missing": total - scored,
        "n_cases": int(np.logical_and.reduce(rates.cases[cells]).sum()),
        "n_clusters": int(rates.clusters(both[None, :])[0]),
    }  # fmt: skip


def _two_tests(d: float, draws: Floats, clusters: int, margin: float, ci: Bootstrap) -> dict[str, Any]:
    known = draws[np.isfinite(draws)]
    alpha = 1 - ci.level
    row: dict[str, Any] = {"estimate": d}
    if clusters < 2:
        return row | {"status": "one cluster: no test"}
    if len(draws) - len(known) > ci.n // 20:
        return row | {"status": f"{len(draws) - len(known)} of {ci.n} draws undefined: no test"}
    s = float(known.std(ddof=1)) * (clusters / (clusters - 1)) ** 0.5
    if s <= 1e-12:
        return row | {"status": "constant over clusters: no test"}
    from scipy.special import stdtr, stdtrit

    df = clusters - 1
    worse, better = (float(stdtr(df, -x / s)) for x in (d + margin, margin - d))
    half = float(stdtrit(df, 1 - alpha)) * s
    row |= {"low": d - half, "high": d + half, "p_noninferior": worse, "p_nonsuperior": better}
    row["p_value"] = max(worse, better)
    if row["p_value"] < alpha:
        row["conclusion"] = "equivalent"
    elif d - half >= margin or d + half <= -margin:
        row["conclusion"] = "different by the margin or more"
    elif worse < alpha or better < alpha:
        row["conclusion"] = "non-inferior" if worse < alpha else "non-superior"
    else:
        row["conclusion"] = "undecided"
    return row | {"status": few(clusters, ci) or "ok"}


def gap_by(
    judgments: _input.IntoFrame,
    *,
    between: str = "judge",
    reference: str = "direct",
    target: str = "oracle",
    over: str = "condition",
    average: Average = "macro",
    pooling: Pooling = None,
    ci: Bootstrap = BOOTSTRAP,
    value: str = "found",
) -> pl.DataFrame:
    """Compare a gap between groups: the gap by judge, and the difference of the gaps, one resampling plan.

    Parameters
    ----------
    judgments : frame
        As in `gap`, with the column `between`.
    between : str
        Column whose values are compared, such as the judge. Only decisions that every value has are
        used (same case, node, model and condition), so that a judge of a part is not set against one
        of the whole.
    reference, target, over, average, pooling, ci, value
        As in `gap`.

    Returns
    -------
    polars.DataFrame
        `between` (its value), `quantity` ("gap", or "difference of gaps": this value's gap minus that
        of the first value in alphabetical order), `against` (that value), `estimate`, `low`, `high`,
        `level`, `n_scored`, `n_total`, `n_missing`, `n_cases`, `n_clusters`, `method`, `status`.

    Raises
    ------
    SchemaError
        If there are fewer than two values of `between`.

    Notes
    -----
    The difference of gaps is (p_t - p_r)_b - (p_t - p_r)_a. All four rates use the same resampled
    clusters, which keeps what judges share; the interval is read off its draws.

    Examples
    --------
    >>> import polars as pl
    >>> rows = [
    ...     {"case_id": f"c{i}", "condition": c, "judge": j, "model": "m", "found": (i + k * (c == "oracle")) % 3 > 0}
    ...     for i in range(30) for c in ("direct", "oracle") for k, j in enumerate("ab")
    ... ]
    >>> gap_by(pl.DataFrame(rows), ci=Bootstrap(100)).select("between", "quantity", "estimate").rows()
    [('a', 'gap', 0.0), ('b', 'gap', 0.0), ('b', 'difference of gaps', 0.0)]
    """
    ci = needed(ci)
    if ci.kind == "bca":
        raise SchemaError("kind of bootstrap", got="bca", allowed="percentile or expanded")
    frame = _input.eager(judgments, [between, over, value, *ci.over, "case_id"], where="judgments")
    frame = frame.filter(pl.col(over).is_in([reference, target]), pl.col(between).is_not_null())
    values = sorted(frame[between].unique().to_list())
    if len(values) < 2:
        raise SchemaError(
            f"one value of {between!r}: nothing to compare", got=values, remedy="keep two or more"
        )
    key = [c for c in ("dataset", "case_id", "node_id", "model", over, "sample") if c in frame.columns]
    shared = frame.filter(pl.col(between).n_unique().over(key) == len(values))
    if shared.is_empty():
        raise SchemaError(f"no decision has all values of {between!r}", got=values)
    rates, pairs, how = _counted(shared, reference, [target], [between], over, average, pooling, ci, value)
    estimate, draws = rates.estimate(average), rates.draws([average], ci)[average]
    at = {row[between]: (row["_i"], row["_r"]) for row in pairs.iter_rows(named=True)}
    alive, first = rates.alive(), at[values[0]]
    rows = []
    for v in values:
        rows.append(_contrast(rates, v, "gap", None, at[v], estimate, draws, alive, ci))
    for v in values[1:]:
        rows.append(
            _contrast(rates, v, "difference of gaps", values[0], (*at[v], *first), estimate, draws, alive, ci)
        )
    out = [row | {"method": f"{target} minus {reference}, {how}, paired"} for row in rows]
    return pl.DataFrame([[row.get(c) for c in _GAPS] for row in out], schema=_GAPS, orient="row")


_GAPS: dict[str, Any] = {
    "between": pl.String, "quantity": pl.String, "against": pl.String,
    **dict.fromkeys(["estimate", "low", "high", "level"], pl.Float64), **_SIZES, "method": pl.String, "status": pl.String,
}  # fmt: skip


def _contrast(
    rates: _rates.Rates, between: Any, quantity: str, against: Any, cells: tuple[int | None, ...],
    estimate: Floats, draws: Floats, alive: NDArray[np.bool_], ci: Bootstrap,
) -> dict[str, Any]:  # fmt: skip
    row: dict[str, Any] = {
        "between": str(between),
        "quantity": quantity,
        "against": None if against is None else str(against),
    }
    known = [i for i in cells if i is not None]
    if len(known) < len(cells) or not np.isfinite(estimate[known]).all():
        return row | {"status": "nothing scored on one side", "level": ci.level}
    signs = np.array([1.0, -1.0, -1.0, 1.0][: len(known)])
    value = float(signs @ estimate[known])
    row |= {"estimate": value, "level": ci.level} | _sizes(rates, known, alive)
    ends = _resample.ends(
        (signs @ draws[known])[None, :], ci, np.array([row["n_clusters"]]), np.array([value])
    )
    low, high, note = inference.settle_difference(
        value, ends[0][0], ends[1][0], int(ends[2][0]), row["n_clusters"], ci
    )
    return row | {"low": low, "high": high, "status": note or "ok"}


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

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, section 6.2 (functions of the data).

    Examples
    --------
    >>> import polars as pl
    >>> rows = [
    ...     {"case_id": f"c{i}", "subtype": f"s{i % 4}", "level": i % 4, "found": i % 5 > i % 4}
    ...     for i in range(80)
    ... ]
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
    alive = rates.alive()
    row: dict[str, Any] = {
        "x": x, "group": group, "level": ci.level, "n": int(known.sum()),
        "n_scored": int(rates.n_scored.sum()), "n_total": int(rates.n_total.sum()),
        "n_missing": int((rates.n_total - rates.n_scored).sum()),
        "n_clusters": int(rates.clusters(np.logical_or.reduce(alive)[None, :])[0]),
        "method": f"Spearman over {group}, {method(rates, average, ci)}",
    }  # fmt: skip
    rho = (
        _rank_correlation(level, np.column_stack([estimate[known], draws[known]]))
        if known.sum() > 2
        else np.array([np.nan])
    )
    if not np.isfinite(rho[0]):
        row["status"] = "fewer than three groups, or all alike"
    else:
        low, high, undefined = _resample.percentile(rho[None, 1:], ci.level)
        ends = inference.settle_difference(
            float(rho[0]), low[0], high[0], int(undefined[0]), row["n_clusters"], ci
        )
        row |= {"estimate": float(rho[0]), "low": ends[0], "high": ends[1], "status": ends[2] or "ok"}
    return pl.DataFrame([[row.get(c) for c in _TREND]], schema=_TREND, orient="row")


_TREND: dict[str, Any] = {
    "x": pl.String, "group": pl.String, **dict.fromkeys(["estimate", "low", "high", "level"], pl.Float64),
    **dict.fromkeys(["n", "n_scored", "n_total", "n_missing", "n_clusters"], pl.Int64),
    "method": pl.String, "status": pl.String,
}  # fmt: skip


def _rank_correlation(x: Floats, columns: Floats) -> Floats:
    """Correlate the ranks of x with those of each column, over the groups that have a rate; NaN if all are alike."""
    from scipy.stats import rankdata

    out = np.full(columns.shape[1], np.nan)
    whole: NDArray[np.bool_] = np.asarray(np.isfinite(columns).all(axis=0))
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
