"""Tests for paired outcomes: McNemar, and sign-flip permutation by cluster."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.errors import SchemaError, UnknownName
from icgkit.metrics import _input, _rates

KEY = ("dataset", "case_id", "node_id", "model", "condition", "judge", "sample", "annotator", "item")
EXACT = 16
"""Up to this many clusters every assignment of signs is looked at."""


def pairs(
    frame: _input.IntoFrame,
    *,
    reference: str,
    targets: Sequence[str] | None,
    by: str | Sequence[str],
    over: str,
    value: str,
    on: Sequence[str] | None,
    numeric: bool = False,
) -> pl.DataFrame:
    """Match each row of a target with the row of the reference that shares its key.

    Returns the columns `by`, `_target`, the key, `_a` (reference) and `_b` (target); a side that is
    missing or null is null.
    """
    by = _input.columns_of(by)
    got = _input.eager(frame, [*by, over, value], where="judgments")
    key = list(on) if on is not None else [c for c in KEY if c in got.columns and c != over]
    key = list(dict.fromkeys([*by, *key]))
    _input.require(got, key, where="judgments")
    expr = pl.col(value).cast(pl.Float64) if numeric else _input.binary(got, value, where="judgments")
    got = got.select(*key, pl.col(over).cast(pl.String), expr.alias("_v"))
    known = sorted(v for v in got[over].unique().to_list() if v is not None)
    wanted = [k for k in known if k != reference] if targets is None else list(targets)
    for name in [reference, *wanted]:
        if name not in known:
            raise UnknownName.among(f"{over} in the judgments", name, known)
    twice = got.filter(pl.struct([*key, over]).is_duplicated())
    if twice.height:
        raise SchemaError(
            f"{twice.height} rows share {', '.join([*key, over])}: they cannot be paired",
            got=twice.select([*key, over]).row(0),
            remedy="name the columns that identify a row in on=",
        )
    base = got.filter(pl.col(over) == reference).select(*key, pl.col("_v").alias("_a"))
    parts = []
    for target in wanted:
        other = got.filter(pl.col(over) == target).select(*key, pl.col("_v").alias("_b"))
        joined = base.join(other, on=key, how="full", coalesce=True, nulls_equal=True)
        parts.append(joined.with_columns(_target=pl.lit(target)))
    if not parts:
        raise SchemaError(f"nothing to compare with {reference!r}", got=known)
    return pl.concat(parts).sort([*by, "_target", *key], nulls_last=True)


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
    targets: Sequence[str] | None = None,
    by: str | Sequence[str] = (),
    over: str = "condition",
    value: str = "found",
    on: Sequence[str] | None = None,
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

    Returns
    -------
    polars.DataFrame
        The columns `by`, `reference`, `target`, counts of pairs `n_both`, `n_reference_only`,
        `n_target_only`, `n_neither`, `n_pairs`, `n_missing` (pairs with a side missing, left out),
        `rate_reference`, `rate_target`, `estimate` (their difference), `p_exact`, `p_midp`, `method`,
        `status`. Without discordant pairs the p-values are null.

    Notes
    -----
    With b and c discordant pairs and X ~ Binomial(b + c, 1/2): exact p = min(1, 2 P(X <= min(b, c)));
    mid-p takes off P(X = min(b, c)), or half of it when b = c. Pairs are taken as independent, which
    nodes of one case are not: `permutation` is the test that keeps cases whole.

    References
    ----------
    McNemar (1947), Psychometrika 12, 153-157. Fagerland, Lydersen and Laake (2013), BMC Medical
    Research Methodology 13:91, section on the mid-p test.

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
    >>> mcnemar(plans).select("n_target_only", "n_reference_only", "p_exact").row(0)
    (6, 1, 0.125)
    """
    from scipy.special import bdtr  # scipy.stats takes a second to import

    by = _input.columns_of(by)
    matched = pairs(judgments, reference=reference, targets=targets, by=by, over=over, value=value, on=on)
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
            "n_missing": part.height - n,
            "rate_reference": float(a.mean()) if n else None,
            "rate_target": float(b.mean()) if n else None,
            "estimate": (second - first) / n if n else None,
            "method": "McNemar, exact binomial and mid-p, pairs taken as independent",
            "status": "ok" if first + second else ("no discordant pairs" if n else "no complete pairs"),
        }
        if first + second:
            least, total = min(first, second), first + second
            point = comb(total, least) / 2**total
            exact = min(1.0, 2 * float(bdtr(least, total, 0.5)))
            row |= {"p_exact": exact, "p_midp": exact - (point / 2 if first == second else point)}
        rows.append(row)
    return lay_out(rows, by, matched, _MCNEMAR)


_MCNEMAR: dict[str, Any] = {
    **dict.fromkeys(
        ["n_both", "n_reference_only", "n_target_only", "n_neither", "n_pairs", "n_missing"], pl.Int64
    ),
    **dict.fromkeys(["rate_reference", "rate_target", "estimate", "p_exact", "p_midp"], pl.Float64),
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


def cluster_sums(part: pl.DataFrame, cluster: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the complete pairs, and their sums by cluster."""
    whole = part.drop_nulls(["_a", "_b"])
    unit = ["dataset", cluster] if "dataset" in part.columns and cluster != "dataset" else [cluster]
    a, b = pl.col("_a").cast(pl.Float64), pl.col("_b").cast(pl.Float64)
    sums = whole.group_by(unit).agg(
        n=pl.len(), a=a.sum(), b=b.sum(), aa=(a * a).sum(), bb=(b * b).sum(), dd=((b - a) ** 2).sum()
    )
    return whole, sums.sort(unit)


def permutation(
    judgments: _input.IntoFrame,
    *,
    reference: str = "direct",
    targets: Sequence[str] | None = None,
    by: str | Sequence[str] = (),
    over: str = "condition",
    value: str = "found",
    average: str = "micro",
    cluster: str = "case_id",
    on: Sequence[str] | None = None,
    n_resamples: int = 10_000,
    seed: int = 42,
) -> pl.DataFrame:
    """Test a paired difference by exchanging the two sides of whole clusters.

    Parameters
    ----------
    judgments, reference, targets, by, over, value, on
        As in `mcnemar`; `value` may also be numeric.
    average : {"micro", "macro"}
        Mean over pairs, or mean over clusters of the cluster's mean difference.
    cluster : str
        Column whose groups are exchanged together.
    n_resamples, seed : int
        Random exchanges when there are more than 16 clusters with a difference; below that all are used.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `reference`, `target`, `estimate` (target minus reference), `p_value`
        (two-sided), `n_pairs`, `n_missing`, `n_clusters`, `method`, `status`.

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
    >>> permutation(rows).select("estimate", "p_value").row(0)  # 2 of 32 sign patterns
    (1.0, 0.0625)
    """
    by = _input.columns_of(by)
    _input.one_of("average", average, _rates.AVERAGES)
    matched = pairs(
        judgments, reference=reference, targets=targets, by=by, over=over, value=value, on=on, numeric=True
    )
    _input.require(matched, [cluster], where="judgments")
    _input.no_null(matched, [cluster], where="judgments", what="cluster")
    rows = []
    for key, part in groups_of(matched, by):
        whole, sums = cluster_sums(part, cluster)
        d = (sums["b"] - sums["a"]).to_numpy()
        if average == "macro":
            d = d / sums["n"].to_numpy()
        total = len(d) if average == "macro" else whole.height
        row = key | {"reference": reference, "n_pairs": whole.height, "n_clusters": len(d)}
        row["n_missing"] = part.height - whole.height
        moving = d[np.abs(d) > 1e-12]
        exact = len(moving) <= EXACT
        row["method"] = f"{average}, sign flips of {cluster}, " + (
            "all patterns" if exact else f"B={n_resamples}, seed={seed}"
        )
        if not total:
            row["status"] = "no complete pairs"
        else:
            row |= {"estimate": float(d.sum() / total), "status": "ok"}
            if len(moving):
                row["p_value"] = _flip(moving, exact, n_resamples, seed)
            else:
                row["status"] = "no cluster differs: p undefined"
        rows.append(row)
    return lay_out(rows, by, matched, _PERMUTATION)


_PERMUTATION: dict[str, Any] = {
    "estimate": pl.Float64, "p_value": pl.Float64, "n_pairs": pl.Int64, "n_missing": pl.Int64,
    "n_clusters": pl.Int64, "method": pl.String, "status": pl.String,
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
