"""Tests for paired outcomes: McNemar, and sign-flip permutation by cluster."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, erfc, sqrt
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.errors import SchemaError
from icgkit.metrics import _input, _rates, _sums
from icgkit.metrics._words import FEW
from icgkit.metrics.inference import sides
from icgkit.metrics.intervals import BOOTSTRAP, Bootstrap, needed

KEY = _input.KEY
EXACT = 16
"""Up to this many clusters every assignment of signs is looked at."""


def pairs(
    frame: _input.IntoFrame,
    *,
    reference: Any,
    targets: Any,
    by: str | Sequence[str],
    over: str,
    value: str,
    on: str | Sequence[str] | None,
    pooling: str | None = None,
    cluster: Sequence[str] = (),
    numeric: bool = False,
    where: str = "judgments",
) -> tuple[pl.DataFrame, str]:
    """Match each row of a target with the row of the reference that shares its key.

    Returns the columns `by`, `_target`, the key, the columns of the clusters, `_a` (reference) and `_b`
    (target), a side that is missing or null being null; and the reference as text.
    """
    by = _input.columns_of(by)
    if over in by:
        raise SchemaError(f"by names {over!r}, the column that is compared", got=by, remedy="leave it out")
    got = _input.eager(frame, [*by, over, value, *cluster, *_input.columns_of(on)], where=where)
    _rates.check_apart(got, [*by, over], pooling, where=where, allowed=("pooled",))
    _input.no_null(got, list(dict.fromkeys(cluster)), where=where, what="cluster")
    coded, reference, wanted = sides(got, over, reference, targets, where=where)
    got = coded.lazy().collect()
    key = _input.columns_of(on) if on is not None else [c for c in KEY if c in got.columns and c != over]
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
            remedy="name the columns that identify a row in on=, or drop repetitions with frame.unique()",
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


def groups_of(matched: pl.DataFrame, by: list[str]) -> list[tuple[dict[str, Any], pl.DataFrame]]:
    """Split matched pairs into the rows of the result."""
    names = [*by, "_target"]
    return [
        (dict(zip([*by, "target"], key, strict=True)), part)
        for key, part in matched.group_by(names, maintain_order=True)
    ]


def mcnemar(
    judgments: _input.IntoFrame,
    *,
    reference: str = "direct",
    targets: str | Sequence[str] | None = None,
    by: str | Sequence[str] = ("model",),
    over: str = "condition",
    value: str = "found",
    on: str | Sequence[str] | None = None,
    cluster: str | Sequence[str] = "case_id",
    pooling: Literal["pooled"] | None = None,
) -> pl.DataFrame:
    """Test whether two paired yes/no outcomes have the same rate (McNemar, exact and mid-p).

    Parameters
    ----------
    judgments : frame
        One row a decision, with the Boolean `value` (null is missing).
    reference, targets, over : str
        The value of `over` that every target is paired with; targets default to all others.
    by : str or sequence of str
        Columns that make the rows of the result.
    on : sequence of str, optional
        Columns that identify a pair; by default those of dataset, case, node, model, judge, sample,
        annotator and item that the frame has.
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

    References
    ----------
    McNemar (1947), Psychometrika 12, 153-157. Fagerland, Lydersen and Laake (2013), BMC Medical
    Research Methodology 13:91, section on the mid-p test. Durkalski, Palesch, Lipsitz and Rust (2003),
    Analysis of clustered matched-pair data, Statistics in Medicine 22, 2417-2428. Cameron, Gelbach and
    Miller (2011), Robust inference with multiway clustering, JBES 29(2), 238-249.

    Examples
    --------
    >>> import polars as pl
    >>> plans = pl.DataFrame(
    ...     {
    ...         "case_id": [f"c{i}" for i in range(10)] * 2,
    ...         "condition": ["direct"] * 10 + ["oracle"] * 10,
    ...         "found": [False] * 6 + [True] * 4 + [True] * 9 + [False],
    ...     }
    ... )
    >>> mcnemar(plans, by=()).select("n_target_only", "n_reference_only", "p_exact").row(0)
    (6, 1, 0.125)
    """
    from scipy.special import bdtr  # scipy.stats takes a second to import

    by = _input.columns_of(by)
    units = clusters_named(cluster)
    matched, reference = pairs(
        judgments, reference=reference, targets=targets, by=by, over=over, value=value, on=on, pooling=pooling,
        cluster=units,
    )  # fmt: skip
    rows = []
    for key, part in groups_of(matched, by):
        whole = part.drop_nulls(["_a", "_b"])
        a, b = whole["_a"].cast(pl.Boolean).to_numpy(), whole["_b"].cast(pl.Boolean).to_numpy()
        n = whole.height
        first, second = int((a & ~b).sum()), int((~a & b).sum())
        row = key | {
            "reference": reference,
            "n_both": int((a & b).sum()),
            "n_reference_only": first,
            "n_target_only": second,
            "n_neither": int((~a & ~b).sum()),
            "n_pairs": n,
            "n_total": part.height,
            "n_missing": part.height - n,
            "n_cases": n_cases(whole),
            "rate_reference": float(a.mean()) if n else None,
            "rate_target": float(b.mean()) if n else None,
            "estimate": (second - first) / n if n else None,
        }
        p_value, sizes, alone = _clustered(whole, units)
        row["n_clusters"] = sizes
        row["method"] = (
            "McNemar, exact binomial" if alone else f"McNemar for pairs clustered by {' x '.join(units)}"
        )
        flag = "" if alone else few_clusters(sizes)
        row["status"] = (
            (flag or "ok") if first + second else ("no discordant pairs" if n else "no complete pairs")
        )
        if first + second:
            least, total = min(first, second), first + second
            point = comb(total, least) / 2**total
            exact = min(1.0, 2 * float(bdtr(least, total, 0.5)))
            row |= {"p_exact": exact, "p_midp": exact - (point / 2 if first == second else point)}
            row["p_value"] = exact if alone else p_value
            if row["p_value"] is None:
                row["status"] = "one cluster: no p-value"
        rows.append(row)
    return lay_out(rows, by, matched, _MCNEMAR)


def clusters_named(cluster: str | Sequence[str]) -> tuple[str, ...]:
    """Return one or two columns of clusters, or raise."""
    return Bootstrap(cluster=_input.columns_of(cluster)).over


def few_clusters(clusters: int) -> str:
    """Word the flag of a test that leans on many clusters."""
    return f"{clusters} clusters: p likely too small" if 1 < clusters < FEW else ""


def _clustered(whole: pl.DataFrame, cluster: tuple[str, ...]) -> tuple[float | None, int, bool]:
    """Return the clustered p-value, the clusters, and whether every cluster holds one pair."""
    unit = _sums.atom_columns(whole, cluster)
    d = whole.select(*unit, _d=pl.col("_b").cast(pl.Int64) - pl.col("_a").cast(pl.Int64))
    names = [[c] if c not in unit or "dataset" not in unit else ["dataset", c] for c in cluster]
    sizes = [d.select(n).n_unique() for n in names]
    clusters = min(sizes, default=0)
    alone = len(cluster) == 1 and clusters == whole.height
    if clusters < 2:
        return None, clusters, alone

    def squares(by: list[str]) -> float:
        return float((d.group_by(by).agg(pl.col("_d").sum())["_d"] ** 2).sum())

    variance = sum(squares(list(dict.fromkeys(n))) for n in names)
    variance -= squares(unit) if len(cluster) == 2 else 0.0
    total = float(d["_d"].sum())
    p = erfc(abs(total) / sqrt(2 * variance)) if variance > 0 else None
    return p, clusters, alone


_MCNEMAR: dict[str, Any] = {
    **dict.fromkeys(
        [
            "n_both",
            "n_reference_only",
            "n_target_only",
            "n_neither",
            "n_pairs",
            "n_total",
            "n_missing",
            "n_cases",
            "n_clusters",
        ],
        pl.Int64,
    ),
    **dict.fromkeys(
        ["rate_reference", "rate_target", "estimate", "p_value", "p_exact", "p_midp"], pl.Float64
    ),
    "method": pl.String,
    "status": pl.String,
}


def lay_out(
    rows: list[dict[str, Any]], by: list[str], matched: pl.DataFrame, columns: dict[str, Any]
) -> pl.DataFrame:
    """Lay out rows with the columns of `by`, the two sides, and `columns`."""
    schema: dict[str, Any] = {b: matched.schema[b] for b in by}
    schema |= {"reference": pl.String, "target": pl.String} | columns
    return pl.DataFrame([[row.get(c) for c in schema] for row in rows], schema=schema, orient="row")


def cluster_sums(part: pl.DataFrame, cluster: Sequence[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the complete pairs, and their sums by cluster (by what crossed clusters share)."""
    whole = part.drop_nulls(["_a", "_b"])
    unit = _sums.atom_columns(part, cluster)
    a, b = pl.col("_a").cast(pl.Float64), pl.col("_b").cast(pl.Float64)
    sums = whole.group_by(unit).agg(
        n=pl.len(), a=a.sum(), b=b.sum(), aa=(a * a).sum(), bb=(b * b).sum(), dd=((b - a) ** 2).sum()
    )
    return whole, sums.sort(unit)


def n_cases(whole: pl.DataFrame) -> int:
    """Count the cases of complete pairs; pairs where the frame names no cases."""
    unit = [c for c in ("dataset", "case_id") if c in whole.columns]
    return whole.select(unit).n_unique() if "case_id" in unit else whole.height


def permutation(
    judgments: _input.IntoFrame,
    *,
    reference: str = "direct",
    targets: str | Sequence[str] | None = None,
    by: str | Sequence[str] = ("model",),
    over: str = "condition",
    value: str = "found",
    average: str = "micro",
    on: str | Sequence[str] | None = None,
    pooling: Literal["pooled"] | None = None,
    ci: Bootstrap = BOOTSTRAP,
) -> pl.DataFrame:
    """Test a paired difference by exchanging the two sides of whole clusters.

    Parameters
    ----------
    judgments, reference, targets, by, over, value, on, pooling
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

    References
    ----------
    Phipson and Smyth (2010), Permutation p-values should never be zero, SAGMB 9(1), 39.

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame(
    ...     {
    ...         "case_id": [f"c{i}" for i in range(5)] * 2,
    ...         "condition": ["direct"] * 5 + ["oracle"] * 5,
    ...         "found": [False] * 5 + [True] * 5,
    ...     }
    ... )
    >>> permutation(rows, by=()).select("estimate", "p_value").row(0)  # 2 of 32 sign patterns
    (1.0, 0.0625)
    """
    by = _input.columns_of(by)
    _input.one_of("average", average, _rates.AVERAGES)
    ci = needed(ci)
    if len(ci.over) > 1:
        raise SchemaError(
            "permutation with two crossed cluster columns", got=ci.over, allowed="one column",
            remedy="exchange the coarser column, or take the interval of metrics.differences, which draws both",
        )  # fmt: skip
    matched, reference = pairs(
        judgments, reference=reference, targets=targets, by=by, over=over, value=value, on=on, pooling=pooling,
        cluster=ci.over, numeric=True,
    )  # fmt: skip
    rows = []
    for key, part in groups_of(matched, by):
        whole, sums = cluster_sums(part, ci.over)
        d = (sums["b"] - sums["a"]).to_numpy()
        if average == "macro":
            d = d / sums["n"].to_numpy()
        total = len(d) if average == "macro" else whole.height
        row = key | {"reference": reference, "n_pairs": whole.height, "n_clusters": len(d)}
        row |= {"n_total": part.height, "n_cases": n_cases(whole)}
        row["n_missing"] = part.height - whole.height
        moving = d[np.abs(d) > 1e-12]
        exact = len(moving) <= EXACT
        row["method"] = f"{average}, sign flips of {ci.over[0]}, " + (
            "all patterns" if exact else f"B={ci.n}, seed={ci.seed}"
        )
        if not total:
            row["status"] = "no complete pairs"
        else:
            row |= {"estimate": float(d.sum() / total), "status": "ok"}
            if len(moving):
                row["p_value"] = _flip(moving, exact, ci.n, ci.seed)
            else:
                row["status"] = "no cluster differs: p undefined"
        rows.append(row)
    return lay_out(rows, by, matched, _PERMUTATION)


_PERMUTATION: dict[str, Any] = {
    "estimate": pl.Float64, "p_value": pl.Float64, "n_pairs": pl.Int64, "n_total": pl.Int64,
    "n_missing": pl.Int64, "n_cases": pl.Int64, "n_clusters": pl.Int64, "method": pl.String, "status": pl.String,
}  # fmt: skip


def _flip(d: NDArray[np.float64], exact: bool, n_resamples: int, seed: int) -> float:
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
