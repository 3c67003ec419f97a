"""Paired outcomes: McNemar, sign-flip permutation by cluster, Cohen's d, and all of them for plans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb, erfc, sqrt
from typing import Any, Literal

import numpy as np
import polars as pl

from icgkit.errors import SchemaError
from icgkit.metrics import _input, _rates, _resample, _sums
from icgkit.metrics._input import Floats
from icgkit.metrics._output import grouped, lay_out, schema
from icgkit.metrics._rates import FEW, Average
from icgkit.metrics.contrasts import CONTRAST, Contrast, finite, settle_difference
from icgkit.metrics.intervals import BOOTSTRAP, Bootstrap, clusters_of, drawn, level_of, needed

EXACT = 16
"""Up to this many clusters every assignment of signs is looked at."""


def pairs(
    frame: _input.IntoFrame,
    contrast: Contrast,
    *,
    by: str | Sequence[str],
    value: str,
    pooling: str | None = None,
    cluster: Sequence[str] = (),
    numeric: bool = False,
    where: str = "judgments",
) -> tuple[pl.DataFrame, str]:
    """Match each row of a target with the row of the reference that shares its key.

    Returns the columns `by`, `_target`, the key, the columns of the clusters, `_a` (reference) and `_b`
    (target), a side that is missing or null being null; and the reference as text.
    """
    by, over, on = _input.columns_of(by), contrast.over, contrast.on
    contrast.outside(by)
    got = _input.eager(frame, [*by, over, value, *cluster, *_input.columns_of(on)], where=where)
    _rates.check_apart(got, [*by, over], pooling, where=where, allowed=("pooled",))
    _input.no_null(got, list(dict.fromkeys(cluster)), where=where, what="cluster")
    coded, reference, wanted = contrast.sides(got, where=where)
    got = coded.lazy().collect()
    key = (
        _input.columns_of(on) if on is not None else [c for c in _input.KEY if c in got.columns and c != over]
    )
    key = list(dict.fromkeys([*by, *key]))
    _input.require(got, key, where=where)
    held = [c for c in dict.fromkeys(_sums.atom_columns(got, cluster)) if c not in key]
    expr = _input.numbers(got, value, where=where) if numeric else _input.binary(got, value, where=where)
    got = got.select(*key, *held, pl.col(over).cast(pl.String), expr.alias("_v"))
    twice = got.filter(pl.struct([*key, over]).is_duplicated())
    if twice.height:
        raise SchemaError(
            f"{where}: {twice.height} rows share {', '.join([*key, over])}: they cannot be paired",
            got=twice.select([*key, over]).row(0),
            remedy="name the columns that identify a row in Contrast(on=), or drop repetitions with frame.unique()",
        )
    base = got.filter(pl.col(over) == reference).select(*key, *held, pl.col("_v").alias("_a"))
    parts = []
    for target in wanted:
        other = got.filter(pl.col(over) == target).select(*key, *held, pl.col("_v").alias("_b"))
        joined = base.join(other, on=key, how="full", coalesce=True, nulls_equal=True)
        for name in held:
            one, two = pl.col(name), pl.col(f"{name}_right")
            if joined.select((one != two).any()).item():
                raise SchemaError(
                    f"{where}: the two sides of a pair lie in different groups of {name!r}",
                    allowed="a cluster column that keeps pairs whole",
                )
            joined = joined.with_columns(pl.coalesce(one, two).alias(name)).drop(f"{name}_right")
        parts.append(joined.with_columns(_target=pl.lit(target)))
    return pl.concat(parts).sort([*by, "_target", *key], nulls_last=True), reference


def compared(
    frame: _input.IntoFrame,
    contrast: Contrast,
    test: Callable[[pl.DataFrame], dict[str, Any]],
    columns: dict[str, Any],
    *,
    by: str | Sequence[str],
    **options: Any,
) -> pl.DataFrame:
    """Lay out one row a target: counts of its pairs, and what `test` says of the complete ones.

    The options are those of `pairs`; `columns` follow those of `by` and the two sides.
    """
    by = _input.columns_of(by)
    matched, reference = pairs(frame, contrast, by=by, **options)
    rows = []
    for key, part in grouped(matched, [*by, "_target"]):
        whole = part.drop_nulls(["_a", "_b"])
        counts = {"n_pairs": whole.height, "n_total": part.height, "n_missing": part.height - whole.height}
        named = {"reference": reference, "target": key["_target"], "n_cases": _n_cases(whole)}
        rows.append(key | named | counts | test(whole))
    return lay_out(rows, {b: matched.schema[b] for b in by} | schema("reference target") | columns)


def _n_cases(whole: pl.DataFrame) -> int:
    """Count the cases of complete pairs; pairs where the frame names no cases."""
    unit = [c for c in ("dataset", "case_id") if c in whole.columns]
    return whole.select(unit).n_unique() if "case_id" in unit else whole.height


def mcnemar(
    judgments: _input.IntoFrame,
    contrast: Contrast = CONTRAST,
    *,
    by: str | Sequence[str] = ("model",),
    value: str = "found",
    cluster: str | Sequence[str] = "case_id",
    pooling: Literal["pooled"] | None = None,
) -> pl.DataFrame:
    """Test whether two paired yes/no outcomes have the same rate (McNemar, exact and mid-p).

    Parameters
    ----------
    judgments : frame
        One row a decision, with the Boolean `value` (null is missing).
    contrast : Contrast
        What is compared with what, and the columns that identify a pair.
    by : str or sequence of str
        Columns that make the rows of the result.
    cluster : str or two of them
        Column whose groups hang together, or two crossed columns.
    pooling : {"pooled"}, optional
        Must be given when `by` does not name the models: pairs of all of them in one test.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `reference`, `target`, counts of pairs `n_both`, `n_reference_only`,
        `n_target_only`, `n_neither`, `n_pairs`, `n_total`, `n_missing` (pairs with a side missing, left
        out), `n_cases`, `n_clusters`, `rate_reference`, `rate_target`, `estimate` (their difference, -1
        to 1), `p_value` (clustered; the exact one where every cluster holds one pair), `p_exact`,
        `p_midp` (pairs taken as independent), `method`, `status`. Without discordant pairs the p-values
        are null.

    Raises
    ------
    SchemaError
        For several judges, datasets, conditions or models that `by` does not name (models may be
        pooled with `pooling="pooled"`), and for rows that cannot be paired.

    Notes
    -----
    With b and c discordant pairs and X ~ Binomial(b + c, 1/2): exact p = min(1, 2 P(X <= min(b, c)));
    mid-p takes off P(X = min(b, c)), or half of it when b = c; both take pairs as independent, which
    nodes of one case are not. Clustered: z^2 = (sum_k d_k)^2 / sum_k d_k^2 with d_k = c - b of cluster
    k, normal; with two crossed columns the sums of squares of both, less that of their common parts.
    Sources: McNemar (1947); Fagerland, Lydersen and Laake (2013; mid-p); Durkalski et al. (2003; clustered);
    Cameron, Gelbach and Miller (2011; crossed).

    Examples
    --------
    >>> import polars as pl
    >>> plans = pl.DataFrame(
    ...     {"case_id": list("abcdefghij") * 2, "condition": ["direct"] * 10 + ["oracle"] * 10,
    ...      "found": [False] * 6 + [True] * 4 + [True] * 9 + [False]})
    >>> mcnemar(plans, by=()).select("n_target_only", "n_reference_only", "p_exact").row(0)
    (6, 1, 0.125)
    """
    units = Bootstrap(cluster=cluster).over
    return compared(
        judgments, contrast, lambda whole: _mcnemar(whole, units), _MCNEMAR,
        by=by, value=value, pooling=pooling, cluster=units,
    )  # fmt: skip


def _mcnemar(whole: pl.DataFrame, units: tuple[str, ...]) -> dict[str, Any]:
    from scipy.special import bdtr  # scipy.stats takes a second to import

    a, b = (whole[side].cast(pl.Boolean).to_numpy() for side in ("_a", "_b"))
    n, first, second = whole.height, int((a & ~b).sum()), int((~a & b).sum())
    p_value, clusters, alone = _clustered(whole, units)
    row = {
        "n_both": int((a & b).sum()), "n_reference_only": first, "n_target_only": second,
        "n_neither": int((~a & ~b).sum()), "n_clusters": clusters,
        "rate_reference": float(a.mean()) if n else None, "rate_target": float(b.mean()) if n else None,
        "estimate": (second - first) / n if n else None,
        "method": "McNemar, exact binomial" if alone else f"McNemar for pairs clustered by {' x '.join(units)}",
    }  # fmt: skip
    if not first + second:
        return row | {"status": "no discordant pairs" if n else "no complete pairs"}
    least, total = min(first, second), first + second
    point = comb(total, least) / 2**total
    exact = min(1.0, 2 * float(bdtr(least, total, 0.5)))
    p_value, flag = (exact, "") if alone else (p_value, _few(clusters))
    return row | {
        "p_value": p_value, "p_exact": exact, "p_midp": exact - (point / 2 if first == second else point),
        "status": "one cluster: no p-value" if p_value is None else flag or "ok",
    }  # fmt: skip


def _few(clusters: int) -> str:
    """Word the flag of a test that leans on many clusters."""
    return f"{clusters} clusters: p likely too small" if 1 < clusters < FEW else ""


def _clustered(whole: pl.DataFrame, cluster: tuple[str, ...]) -> tuple[float | None, int, bool]:
    """Return the clustered p-value, the clusters, and whether every cluster holds one pair."""
    codes = _sums.atom_codes(whole.select(_sums.atom_columns(whole, cluster)), cluster)
    clusters = min(int(code.max(initial=-1)) + 1 for code in codes)
    alone = len(cluster) == 1 and clusters == whole.height
    if clusters < 2:
        return None, clusters, alone
    d = (whole["_b"].cast(pl.Float64) - whole["_a"].cast(pl.Float64)).to_numpy()
    squares = [float(m.item()) for m in _sums.squares(d[:, None], codes)]
    variance = sum(squares[: len(codes)]) - sum(squares[len(codes) :])
    p = erfc(abs(float(d.sum())) / sqrt(2 * variance)) if variance > 0 else None
    return p, clusters, alone


_MCNEMAR = schema(
    "n_both n_reference_only n_target_only n_neither n_pairs n_total n_missing n_cases n_clusters rate_reference "
    "rate_target estimate p_value p_exact p_midp method status"
)


def _cluster_sums(whole: pl.DataFrame, cluster: Sequence[str]) -> pl.DataFrame:
    """Add up complete pairs by cluster (by what crossed clusters share)."""
    unit = _sums.atom_columns(whole, cluster)
    a, b = pl.col("_a").cast(pl.Float64), pl.col("_b").cast(pl.Float64)
    sums = whole.group_by(unit).agg(
        n=pl.len(), a=a.sum(), b=b.sum(), aa=(a * a).sum(), bb=(b * b).sum(), dd=((b - a) ** 2).sum()
    )
    return sums.sort(unit)


def permutation(
    judgments: _input.IntoFrame,
    contrast: Contrast = CONTRAST,
    *,
    by: str | Sequence[str] = ("model",),
    value: str = "found",
    average: Average = "micro",
    pooling: Literal["pooled"] | None = None,
    ci: Bootstrap = BOOTSTRAP,
) -> pl.DataFrame:
    """Test a paired difference by exchanging the two sides of whole clusters.

    Parameters
    ----------
    judgments, contrast, by, value, pooling
        As in `mcnemar`; `value` may also be numeric.
    average : {"micro", "macro"}
        Mean over pairs, or mean over clusters of the cluster's mean difference.
    ci : Bootstrap
        Its `cluster` (one column: groups are exchanged together), `n` and `seed`: random exchanges when
        more than 16 clusters have a difference; below that all are used. No interval is made.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `reference`, `target`, `estimate` (target minus reference), `p_value`
        (two-sided), `n_pairs`, `n_total`, `n_missing`, `n_cases`, `n_clusters`, `method`, `status`.

    Notes
    -----
    Under the null the sign of each cluster's sum of differences is exchangeable. Exact: the share of
    the 2^C sign patterns at least as extreme. Random: (extreme + 1) / (B + 1), never 0.
    Source: Phipson and Smyth (2010).

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame(
    ...     {"case_id": list("abcde") * 2, "condition": ["direct"] * 5 + ["oracle"] * 5, "found": [0] * 5 + [1] * 5})
    >>> permutation(rows, by=()).select("estimate", "p_value").row(0)  # 2 of 32 sign patterns
    (1.0, 0.0625)
    """
    _input.one_of("average", average, _rates.AVERAGES)
    ci = needed(ci)
    if len(ci.over) > 1:
        raise SchemaError(
            "permutation with two crossed cluster columns", got=ci.over, allowed="one column",
            remedy="exchange the coarser column, or take the interval of metrics.differences, which draws both",
        )  # fmt: skip
    return compared(
        judgments, contrast, lambda whole: _permutation(whole, average, ci), _PERMUTATION,
        by=by, value=value, pooling=pooling, cluster=ci.over, numeric=True,
    )  # fmt: skip


def _permutation(whole: pl.DataFrame, average: str, ci: Bootstrap) -> dict[str, Any]:
    sums = _cluster_sums(whole, ci.over)
    d, total = (sums["b"] - sums["a"]).to_numpy(), whole.height
    if average == "macro":
        d, total = d / sums["n"].to_numpy(), len(d)
    moving = d[np.abs(d) > 1e-12]
    exact = len(moving) <= EXACT
    drawn = "all patterns" if exact else f"B={ci.n}, seed={ci.seed}"
    row = {"n_clusters": len(d), "method": f"{average}, sign flips of {ci.over[0]}, {drawn}"}
    if not total:
        return row | {"status": "no complete pairs"}
    row["estimate"] = float(d.sum() / total)
    if not len(moving):
        return row | {"status": "no cluster differs: p undefined"}
    return row | {"p_value": _flip(moving, exact, ci.n, ci.seed), "status": "ok"}


_PERMUTATION = schema("estimate p_value n_pairs n_total n_missing n_cases n_clusters method status")


def _flip(d: Floats, exact: bool, n_resamples: int, seed: int) -> float:
    observed = abs(d.sum()) - 1e-9
    if exact:
        patterns = (np.arange(1 << len(d))[:, None] >> np.arange(len(d))) & 1
        return float((np.abs((1 - 2.0 * patterns) @ d) >= observed).mean())
    rng = np.random.default_rng(seed)
    extreme = 0
    step = max(1, 8_000_000 // len(d))
    for start in range(0, n_resamples, step):
        rows = min(step, n_resamples - start)
        signs = rng.integers(0, 2, size=(rows, len(d)), dtype=np.int8)
        extreme += int((np.abs(d.sum() - 2.0 * (signs @ d)) >= observed).sum())
    return (extreme + 1) / (n_resamples + 1)


def cohens_d(
    judgments: _input.IntoFrame,
    contrast: Contrast = CONTRAST,
    *,
    by: str | Sequence[str] = ("model",),
    value: str = "found",
    pooling: Literal["pooled"] | None = None,
    ci: Bootstrap | None = BOOTSTRAP,
) -> pl.DataFrame:
    """Compute Cohen's d of paired outcomes, with a clustered bootstrap interval.

    Parameters
    ----------
    judgments, contrast, by, value, pooling
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
    Sources: Cohen (1988, sections 2.2 and 2.3.5), Lakens (2013; d_av and d_z).

    Examples
    --------
    >>> import polars as pl
    >>> found = [0, 0, 1, 1, 1, 1, 1, 0]
    >>> rows = pl.DataFrame({"case_id": list("abcd") * 2, "condition": ["direct"] * 4 + ["oracle"] * 4, "found": found})
    >>> round(cohens_d(rows, by=(), ci=None)["estimate"][0], 4)  # (3/4 - 1/2) / sqrt((1/4 + 1/3) / 2)
    0.4629
    """
    cluster = clusters_of(drawn(ci))
    return compared(
        judgments, contrast, lambda whole: _cohen(whole, cluster, ci), _COHEN,
        by=by, value=value, pooling=pooling, cluster=cluster, numeric=True,
    )  # fmt: skip


def _cohen(whole: pl.DataFrame, cluster: Sequence[str], ci: Bootstrap | None) -> dict[str, Any]:
    sums = _cluster_sums(whole, cluster)
    row: dict[str, Any] = {
        "level": level_of(ci), "n_clusters": sums.height,
        "method": f"Cohen's d, {ci.words()}" if ci else "Cohen's d",
    }  # fmt: skip
    if whole.height < 2:
        return row | {"status": "fewer than two complete pairs"}
    moments = sums.select("n", "a", "b", "aa", "bb", "dd").to_numpy().T.astype(np.float64)
    d, d_z = (finite(v[0]) for v in _effect(moments.sum(axis=1, keepdims=True)))
    row |= {"mean_reference": whole["_a"].mean(), "mean_target": whole["_b"].mean(), "d_z": d_z}
    if d is None:
        return row | {"status": "both sides constant: d undefined"}
    row |= {"estimate": d, "status": "ok" if d_z is not None else "differences constant: d_z undefined"}
    if ci is None:
        return row
    got = _resample.interval(lambda m: _effect(m)[0][None, :], moments, sums, ci)
    ends = settle_difference(d, got.low[0], got.high[0], int(got.undefined[0]), got.clusters, ci)
    return row | {
        "low": ends[0], "high": ends[1], "n_clusters": got.clusters, "status": ends[2] or row["status"]
    }  # fmt: skip


_COHEN = schema(
    "estimate low high level d_z mean_reference mean_target n_pairs n_total n_missing n_cases n_clusters method status"
)


def _effect(m: Floats) -> tuple[Floats, Floats]:
    """Return d and d_z from sums of 1, a, b, a^2, b^2, (b - a)^2."""
    n, a, b, aa, bb, dd = m
    bottom = np.where(n > 1, n - 1, np.nan)
    va, vb = (aa - a * a / n) / bottom, (bb - b * b / n) / bottom
    mean = (b - a) / n
    vd = (dd - n * mean * mean) / bottom
    pooled, spread = (np.sqrt(np.where(v > 1e-15, v, np.nan)) for v in ((va + vb) / 2, vd))
    return mean / pooled, mean / spread


PLANS = Contrast(reference="plan_direct")
"""What plan_tests compares by default: every other condition with plan_direct."""


def plan_tests(
    plans: _input.IntoFrame,
    contrast: Contrast = PLANS,
    *,
    by: str | Sequence[str] = ("model",),
    value: str = "satisfied",
    pooling: Literal["pooled"] | None = None,
    ci: Bootstrap = BOOTSTRAP,
) -> pl.DataFrame:
    """Compare planning conditions: difference, McNemar, paired permutation and Cohen's d side by side.

    Parameters
    ----------
    plans : frame
        One row a selected constraint (schema `plan`).
    contrast, by, value, pooling
        As in `mcnemar`; by default every other condition with plan_direct.
    ci : Bootstrap
        Draws of the permutation and of Cohen's d, and (one) column of the clusters.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `reference`, `target`, `rate_reference`, `rate_target`, `estimate`
        (difference, -1 to 1), `n_reference_only`, `n_target_only`, `p_exact`, `p_midp`, `p_value`
        (McNemar: independent, and clustered), `p_permutation` (clusters kept whole), `d`, `d_low`,
        `d_high`, `d_z` (Cohen), `level`, `n_pairs`, `n_total`, `n_missing`, `n_cases`, `n_clusters`,
        `method`, `status` (of every part that is not ok).

    Notes
    -----
    Formulas and sources: `mcnemar`, `permutation`, `cohens_d`.

    Examples
    --------
    >>> import polars as pl
    >>> plans = pl.DataFrame(
    ...     {"case_id": list("abcd") * 2, "condition": ["plan_direct"] * 4 + ["plan_oracle"] * 4,
    ...      "satisfied": [0, 0, 1, 1, 1, 1, 1, 1]})
    >>> plan_tests(plans, by=(), ci=Bootstrap(200)).select("estimate", "p_exact", "p_permutation").row(0)
    (0.5, 0.5, 0.5)
    """
    by, ci = _input.columns_of(by), needed(ci)
    got = _input.eager(plans, [*by, contrast.over, value, *ci.over], where="plans")
    common: dict[str, Any] = {"contrast": contrast, "by": by, "value": value, "pooling": pooling}
    first = mcnemar(got, cluster=ci.over, **common)
    second, third = (
        permutation(got, ci=ci, **common),
        cohens_d(got, ci=ci, **common),
    )  # the same rows in one order
    said = pl.DataFrame([first["status"].alias("1"), second["status"].alias("2"), third["status"].alias("3")])
    flagged = said.select(pl.concat_list(pl.all()).list.unique(maintain_order=True)).to_series()
    notes = flagged.list.eval(pl.element().filter(pl.element() != "ok")).list.join("; ")
    return first.select(
        *by, "reference", "target", "rate_reference", "rate_target", "estimate", "n_reference_only",
        "n_target_only", "p_exact", "p_midp", "p_value", second["p_value"].alias("p_permutation"),
        third["estimate"].alias("d"), third["low"].alias("d_low"), third["high"].alias("d_high"), third["d_z"],
        third["level"], "n_pairs", "n_total", "n_missing", "n_cases", "n_clusters",
        pl.format("{}; sign flips and {}", "method", pl.lit(ci.words())).alias("method"),
        notes.replace("", "ok").alias("status"),
    )  # fmt: skip
