"""Shapes of the tables on inference: crossed models, equivalence, missing verdicts, two widths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from icgkit.metrics import adjust, equivalence, permutation
from icgkit.report.views.shapes import condition_labels, in_order, join, short_model, wide

if TYPE_CHECKING:
    from icgkit.metrics.crossed import Crossed
    from icgkit.report.results import Results


def crossed_rows(fit: Crossed) -> pl.DataFrame:
    """Return fixed terms and random groups of a crossed model as rows of one table.

    Returns
    -------
    polars.DataFrame
        `part` (fixed, random), `term`, `label` (conditions by their label, models by their short name),
        `estimate`, `low`, `high` (log odds; the standard deviation of a random group has no interval),
        `se`, `p_value`, `n_groups`, `status`; the fit's status alone where nothing was fitted.
    """
    if fit.terms.is_empty():
        return fit.fit.select("status")
    names = condition_labels()
    words = [
        " × ".join(names.get(v, short_model(v)) for v in (value or "").split(", "))
        for value in fit.terms["value"]
    ]
    fixed = fit.terms.with_columns(part=pl.lit("fixed, log odds"), label=pl.Series(words, dtype=pl.String))
    random = fit.groups.select(
        "n_groups", "status", part=pl.lit("random, sd of log odds"), term=pl.col("group").str.strip_suffix("_id"),
        label=pl.lit(""), estimate="sd",
    )  # fmt: skip
    return pl.concat([fixed, random], how="diagonal")


def crossed_forest(fit: Crossed) -> pl.DataFrame:
    """Return label, estimate, low and high of the odds ratios of model x condition, and of both alone."""
    if fit.terms.is_empty():
        return pl.DataFrame(
            schema=dict.fromkeys(["label"], pl.String)
            | dict.fromkeys(["estimate", "low", "high"], pl.Float64)
        )
    rows = crossed_rows(fit).filter(pl.col("part").str.starts_with("fixed"), pl.col("term") != "intercept")
    return rows.select("label", pl.col("estimate", "low", "high").exp())


def reference_text(terms: pl.DataFrame, judgments: pl.DataFrame) -> str:
    """Return which model and condition the odds ratios of a fit are against: those that no term of it names."""
    labels = condition_labels()
    named = {v for value in terms["value"].drop_nulls() for v in value.split(", ")}
    left = [
        next((v for v in judgments[c].unique().sort() if v not in named), "") for c in ("condition", "model")
    ]
    return " and ".join(labels.get(v, short_model(v)) for v in left if v) or "the references"


def interaction_text(fit: Crossed) -> str:
    """Return the test of model x condition in words, for a caption."""
    row = fit.fit.row(0, named=True)
    if row["p_interaction"] is None:
        return f"No test of the interaction: {row['status']}."
    p = "p < 0.001" if row["p_interaction"] < 0.001 else f"p = {row['p_interaction']:.3f}"
    return f"Model x condition: likelihood ratio χ²({row['df']}) = {row['chi2']:.1f}, {p}."


def two_widths(scores: pl.DataFrame, by_case: pl.DataFrame, *, on: str | Sequence[str]) -> pl.DataFrame:
    """Set the intervals that take cases as independent beside those that resample whole templates or pictures.

    Parameters
    ----------
    scores, by_case : polars.DataFrame
        The same rates or differences with `low` and `high`, by either resampling.
    on : str or sequence of str
        Columns that identify a row of both.

    Returns
    -------
    polars.DataFrame
        `scores` with `width`, `low_case`, `high_case`, `width_case` and `width_ratio` (width over
        width_case; null where that is 0); unchanged where the frames only say a status.
    """
    keys = [on] if isinstance(on, str) else list(on)
    if not {*keys, "low"} <= set(scores.columns) & set(by_case.columns):
        return scores
    other = by_case.select(*keys, low_case="low", high_case="high")
    both = scores.join(other, on=keys, how="left", nulls_equal=True, maintain_order="left")
    width, width_case = pl.col("high") - pl.col("low"), pl.col("high_case") - pl.col("low_case")
    ratio = pl.when(width_case > 0).then(width / width_case)
    return both.with_columns(width=width, width_case=width_case, width_ratio=ratio)


def width_rows(scores: pl.DataFrame, order: Sequence[str], unit: str, *, model: str) -> pl.DataFrame:
    """Return two rows for the end of a table by model and condition: the widths of the intervals of one model.

    Parameters
    ----------
    scores : polars.DataFrame
        From `two_widths`, with `model` and `condition`.
    order : sequence of str
        The conditions that are columns.
    unit : str
        What is resampled, in words: templates, images.
    model : str
        The row whose intervals are measured.

    Returns
    -------
    polars.DataFrame
        `model` (what the row is) and one column a condition, in shares.
    """
    mine = scores.filter(model=model)
    rows = [
        mine.with_columns(model=pl.lit(f"{model}, width of interval, {words}"), estimate=pl.col(column))
        for words, column in ((f"whole {unit}", "width"), ("cases as independent", "width_case"))
    ]
    return wide(pl.concat(rows), rows="model", columns="condition", order=order)


def width_text(scores: pl.DataFrame, unit: str) -> str:
    """Return how much wider the intervals are than with cases taken as independent, for a note."""
    known = scores["width_ratio"].drop_nulls() if "width_ratio" in scores.columns else None
    if known is None or known.is_empty():
        return ""
    low, middle, high = (float(known.quantile(q)) for q in (0.0, 0.5, 1.0))  # type: ignore[arg-type]
    return f"Intervals that resample whole {unit} are {middle:.2f} times as wide as those that take cases as independent (median of {len(known)}; {low:.2f} to {high:.2f})."


def carried_by(
    judgments: pl.DataFrame, cluster: str, by: str | Sequence[str] = ("category", "subtype")
) -> pl.DataFrame:
    """Count what stands behind each group: `n_nodes`, `n_case` and `n_groups` (templates or pictures)."""
    keys = [by] if isinstance(by, str) else list(by)
    return judgments.group_by(keys).agg(
        pl.struct("case_id", "node_id").n_unique().cast(pl.Int64).alias("n_nodes"),
        pl.col(cluster).n_unique().cast(pl.Int64).alias("n_groups"),
    )


def missing_rows(bounds: pl.DataFrame) -> pl.DataFrame:
    """Return `icgkit.metrics.bounds` by condition as rows of a table, in the study's order."""
    return in_order(bounds, list(condition_labels()))


def family_text(adjusted: pl.DataFrame, family: str) -> str:
    """Return which tests were adjusted together and how, for a note."""
    if "n_comparisons" not in adjusted.columns or adjusted.is_empty():
        return ""
    row = adjusted.row(0, named=True)
    return f"p adjusted: {row['adjustment']}, family of {row['n_comparisons']} tests ({family})."


def adjusted_view(frame: pl.DataFrame, *, p: str, leave_out: str = "") -> pl.DataFrame:
    """Adjust the p-values of a result by Holm as one family; a frame that only says a status is returned as it is.

    Rows whose `term` is `leave_out` (an intercept tests nothing that is asked) keep null.
    """
    if p not in frame.columns:
        return frame
    if not leave_out:
        return adjust(frame, p=p)
    raw = pl.col(p).alias("_raw")
    tested = frame.with_columns(raw, pl.when(pl.col("term") != leave_out).then(pl.col(p)).alias(p))
    return adjust(tested, p=p).with_columns(pl.col("_raw").alias(p)).drop("_raw")


def trend_text(trend: pl.DataFrame, unit: str) -> str:
    """Return what `icgkit.metrics.rate_trend` found, for a caption."""
    row = trend.row(0, named=True)
    if row["estimate"] is None or row["low"] is None:
        return f"With the recalls left open: {row['status']}."
    return (
        f"With whole {unit} resampled and the recalls made anew, the interval is {row['low']:.2f} to {row['high']:.2f}; "
        f"the subtypes are fixed."
    )


class PowerPlan(NamedTuple):
    """The spread that a study is planned with: `sd` over clusters, cases a cluster, and what to say about it."""

    sd: float
    per_cluster: float
    words: str
    notes: list[str]


def power_plan(pilot: pl.DataFrame, part: pl.DataFrame, *, effect: float, recall: float) -> PowerPlan:
    """Move a pilot's spread to the recall that is planned for.

    The variance of a mean of yes/no outcomes goes with p (1 - p); clustering multiplies it by a factor
    that is kept (quasi-binomial variance, McCullagh and Nelder 1989, Generalized Linear Models, section
    4.5). A pilot near 0 or 1 otherwise promises far too much power.

    Parameters
    ----------
    pilot : polars.DataFrame
        From `icgkit.metrics.case_sd`, one row; a frame that only says a status gives a plan without sd.
    part : polars.DataFrame
        The judgments of the pilot.
    effect, recall : float
        Difference and recall of the reference that are planned for, shares.
    """
    if "sd" not in pilot.columns or pilot["sd"].item() is None:
        return PowerPlan(0.0, 1.0, "no pilot.", [])
    row = pilot.row(0, named=True)
    seen = float(part["found"].mean())  # type: ignore[arg-type]
    wanted = min(max(recall + effect / 2, 0.01), 0.99)
    ratio = (wanted * (1 - wanted) / max(seen * (1 - seen), 1e-9)) ** 0.5
    sd = row["sd"] * ratio
    words = (
        f"standard deviation of the difference over clusters {sd:.3f}: {row['sd']:.3f} in this run's "
        f"{row['n_clusters']} clusters ({row['n_cases']} cases) at a recall of {seen:.2f}, times {ratio:.2f}."
    )
    notes = ["Cases a cluster as in this run; a study of unrelated cases needs fewer."]
    if not 0.1 <= seen <= 0.9:
        notes.append(
            f"The pilot lies at the {'floor' if seen < 0.5 else 'ceiling'} (recall {seen:.2f}): the numbers rest on the "
            "variance p (1 - p) and not on what was seen there. The curve drawn from the pilot keeps the pilot's spread."
        )
    return PowerPlan(sd, row["n_cases"] / row["n_clusters"], words, notes)


def needed_rows(need: pl.DataFrame, plan: PowerPlan) -> pl.DataFrame:
    """Add to `icgkit.metrics.cases_needed`, counted in clusters, how many cases that is."""
    if "cases" not in need.columns:
        return need
    return need.with_columns(in_cases=(pl.col("cases") * plan.per_cluster).ceil().cast(pl.Int64))


def paired_tests(
    run: Results, part: pl.DataFrame, needed: Sequence[str], *, margin: float, **options: Any
) -> pl.DataFrame:
    """Test each target against the reference: for a difference (Holm over all rows), and for equivalence.

    Parameters
    ----------
    run, part, needed
        Results, judgments, and the conditions without which there is only a status.
    margin : float
        Margin of equivalence, a share.
    **options
        Those of `icgkit.metrics.permutation` and `equivalence`: contrast, by, ci, value.

    Returns
    -------
    polars.DataFrame
        by, `target`, `p_permutation`, `p_adjusted`, `n_comparisons`, `adjustment`, `margin`, `low_90`,
        `high_90` (interval of the tests of equivalence), `p_equivalence`, `conclusion` (micro).
    """
    options = {"average": "micro", **options}
    apart = adjusted_view(run.if_has(needed, permutation, part, **options), p="p_value")
    same = run.if_has(needed, equivalence, part, margin=margin, **options)
    if "p_value" not in apart.columns or "conclusion" not in same.columns:
        return apart
    keys = [c for c in ("model", "target") if c in apart.columns]
    first = apart.select(*keys, "p_adjusted", "n_comparisons", "adjustment", p_permutation="p_value")
    second = same.select(*keys, "margin", "conclusion", p_equivalence="p_value", low_90="low", high_90="high")
    return join(first, second, on=keys)
