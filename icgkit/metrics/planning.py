"""Plan satisfaction: rates of the planning conditions with the tests that compare them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from icgkit.metrics import _input, _rates
from icgkit.metrics._words import CI, Pooling
from icgkit.metrics.effect_size import cohens_d
from icgkit.metrics.paired import mcnemar, permutation
from icgkit.metrics.recall import table


def satisfaction(
    plans: _input.IntoFrame,
    *,
    by: str | Sequence[str] = ("model", "condition"),
    pooling: Pooling = None,
    cluster: str = "case_id",
    ci: CI = "bootstrap",
    level: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 42,
    value: str = "satisfied",
) -> pl.DataFrame:
    """Compute the share of selected ground-truth constraints that a plan satisfies (micro).

    Parameters
    ----------
    plans : frame
        One row a selected constraint (schema `plan`).
    by, pooling, cluster, ci, level, n_resamples, seed, value
        As in `recall`.

    Returns
    -------
    polars.DataFrame
        Columns as in `recall`.

    Examples
    --------
    >>> import polars as pl
    >>> plans = pl.DataFrame({"case_id": ["a", "a", "b", "c"], "satisfied": [True, False, True, None]})
    >>> satisfaction(plans, by=(), ci=None).select("estimate", "n_missing").row(0)
    (0.6666666666666666, 1)
    """
    rates = _rates.prepare(plans, value=value, by=by, pooling=pooling, cluster=cluster, where="plans")
    return table(rates, "micro", ci=ci, level=level, n_resamples=n_resamples, seed=seed)


def plan_tests(
    plans: _input.IntoFrame,
    *,
    reference: str = "plan_direct",
    targets: Sequence[str] | None = None,
    by: str | Sequence[str] = ("model",),
    over: str = "condition",
    cluster: str = "case_id",
    n_resamples: int = 10_000,
    seed: int = 42,
    value: str = "satisfied",
) -> pl.DataFrame:
    """Compare planning conditions: difference, McNemar, paired permutation and Cohen's d side by side.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `reference`, `target`, `rate_reference`, `rate_target`, `estimate`
        (difference), `n_reference_only`, `n_target_only`, `p_exact`, `p_midp` (McNemar),
        `p_permutation` (cases kept whole), `d`, `d_low`, `d_high`, `d_z`, `n_pairs`, `n_missing`,
        `n_clusters`, `status` (of every part that is not ok).

    Examples
    --------
    >>> import polars as pl
    >>> plans = pl.DataFrame(
    ...     {
    ...         "case_id": ["a", "b", "c", "d"] * 2,
    ...         "condition": ["plan_direct"] * 4 + ["plan_oracle"] * 4,
    ...         "satisfied": [False, False, True, True, True, True, True, True],
    ...     }
    ... )
    >>> plan_tests(plans, by=(), n_resamples=200).select("estimate", "p_exact", "p_permutation").row(0)
    (0.5, 0.5, 0.5)
    """
    by = _input.columns_of(by)
    got = _input.eager(plans, [*by, over, value, cluster], where="plans")
    keys = [*by, "reference", "target"]
    common = {"reference": reference, "targets": targets, "by": by, "over": over, "value": value}
    sampled = {"cluster": cluster, "n_resamples": n_resamples, "seed": seed}
    first = mcnemar(got, **common)  # type: ignore[arg-type]
    second = permutation(got, **common, **sampled)  # type: ignore[arg-type]
    third = cohens_d(got, **common, **sampled)  # type: ignore[arg-type]
    joined = (
        first.rename({"status": "_s1"})
        .join(
            second.select(*keys, pl.col("p_value").alias("p_permutation"), "n_clusters", pl.col("status").alias("_s2")),
            on=keys, how="left", nulls_equal=True, maintain_order="left",
        )
        .join(
            third.select(
                *keys, "d", pl.col("low").alias("d_low"), pl.col("high").alias("d_high"), "d_z",
                pl.col("status").alias("_s3"),
            ),
            on=keys, how="left", nulls_equal=True, maintain_order="left",
        )
    )  # fmt: skip
    flagged = pl.concat_list("_s1", "_s2", "_s3").list.unique(maintain_order=True)
    notes = flagged.list.eval(pl.element().filter(pl.element() != "ok")).list.join("; ")
    status = pl.when(notes == "").then(pl.lit("ok")).otherwise(notes).alias("status")
    return joined.select(
        *keys, "rate_reference", "rate_target", "estimate", "n_reference_only", "n_target_only", "p_exact",
        "p_midp", "p_permutation", "d", "d_low", "d_high", "d_z", "n_pairs", "n_missing", "n_clusters", status,
    )  # fmt: skip
