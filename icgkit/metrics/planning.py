"""Plan satisfaction: rates of the planning conditions with the tests that compare them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import polars as pl

from icgkit.metrics import _input, _rates
from icgkit.metrics._words import Pooling
from icgkit.metrics.effect_size import cohens_d
from icgkit.metrics.intervals import BOOTSTRAP, CI, Bootstrap, any_kind, clusters_of, needed
from icgkit.metrics.paired import mcnemar, permutation
from icgkit.metrics.recall import table


def satisfaction(
    plans: _input.IntoFrame,
    *,
    by: str | Sequence[str] = ("model", "condition"),
    pooling: Pooling = None,
    ci: CI = BOOTSTRAP,
    value: str = "satisfied",
) -> pl.DataFrame:
    """Compute the share of selected ground-truth constraints that a plan satisfies (micro).

    Parameters
    ----------
    plans : frame
        One row a selected constraint (schema `plan`).
    by, pooling, ci, value
        As in `recall`.

    Returns
    -------
    polars.DataFrame
        Columns as in `recall`.

    Notes
    -----
    sum_c s_c / sum_c n_c with s_c of the n_c judged constraints of case c satisfied.

    References
    ----------
    Field and Welsh (2007), Bootstrapping clustered data, JRSS B 69(3), section 2 (resampling whole
    clusters).

    Examples
    --------
    >>> import polars as pl
    >>> plans = pl.DataFrame({"case_id": ["a", "a", "b", "c"], "satisfied": [True, False, True, None]})
    >>> satisfaction(plans, by=(), ci=None).select("estimate", "n_missing").row(0)
    (0.6666666666666666, 1)
    """
    ci = any_kind(ci)
    rates = _rates.prepare(plans, value=value, by=by, pooling=pooling, cluster=clusters_of(ci), where="plans")
    return table(rates, "micro", ci)


def plan_tests(
    plans: _input.IntoFrame,
    *,
    reference: str = "plan_direct",
    targets: str | Sequence[str] | None = None,
    by: str | Sequence[str] = ("model",),
    over: str = "condition",
    value: str = "satisfied",
    pooling: Literal["pooled"] | None = None,
    ci: Bootstrap = BOOTSTRAP,
) -> pl.DataFrame:
    """Compare planning conditions: difference, McNemar, paired permutation and Cohen's d side by side.

    Parameters
    ----------
    plans : frame
        One row a selected constraint (schema `plan`).
    reference, targets, by, over, value, pooling
        As in `mcnemar`.
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

    References
    ----------
    McNemar (1947), Psychometrika 12, 153-157. Durkalski, Palesch, Lipsitz and Rust (2003), Statistics in
    Medicine 22, 2417-2428. Phipson and Smyth (2010), SAGMB 9(1), 39. Cohen (1988), Statistical Power
    Analysis, 2nd ed., section 2.2.

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
    >>> plan_tests(plans, by=(), ci=Bootstrap(200)).select("estimate", "p_exact", "p_permutation").row(0)
    (0.5, 0.5, 0.5)
    """
    by, ci = _input.columns_of(by), needed(ci)
    got = _input.eager(plans, [*by, over, value, *ci.over], where="plans")
    keys = [*by, "reference", "target"]
    common = {
        "reference": reference,
        "targets": targets,
        "by": by,
        "over": over,
        "value": value,
        "pooling": pooling,
    }
    first = mcnemar(got, cluster=ci.over, **common)  # type: ignore[arg-type]
    second = permutation(got, ci=ci, **common)  # type: ignore[arg-type]
    third = cohens_d(got, ci=ci, **common)  # type: ignore[arg-type]
    joined = (
        first.rename({"status": "_s1"})
        .join(
            second.select(*keys, pl.col("p_value").alias("p_permutation"), pl.col("status").alias("_s2")),
            on=keys, how="left", nulls_equal=True, maintain_order="left",
        )
        .join(
            third.select(
                *keys, "level", pl.col("estimate").alias("d"), pl.col("low").alias("d_low"), pl.col("high").alias("d_high"), "d_z",
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
        "p_midp", "p_value", "p_permutation", "d", "d_low", "d_high", "d_z", "level", "n_pairs", "n_total",
        "n_missing", "n_cases", "n_clusters", pl.format("{}; sign flips and {}", "method", pl.lit(ci.words())).alias("method"),
        status,
    )  # fmt: skip
