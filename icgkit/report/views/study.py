"""Shapes of the study's further tables: inference, sources, subsets, precision, errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from icgkit.cases import subset as sampling
from icgkit.report.tables import intervals
from icgkit.report.views.shapes import condition_labels, in_order
from icgkit.taxonomy import CATEGORIES

if TYPE_CHECKING:
    from icgkit.report.results import Results


def coefficients(agreement: pl.DataFrame) -> pl.DataFrame:
    """Return one row a coefficient (raw, kappa, alpha, ac1) with its interval as text."""
    rest = [c for c in ("n_items", "n_raters", "status") if c in agreement.columns]
    parts = [
        agreement.select(
            pl.lit(name).alias("coefficient"), pl.col(name).cast(pl.Float64).alias("estimate"),
            pl.col(f"{name}_low").cast(pl.Float64).alias("low"), pl.col(f"{name}_high").cast(pl.Float64).alias("high"), *rest,
        )
        for name in ("raw", "kappa", "alpha", "ac1")
    ]  # fmt: skip
    return intervals(pl.concat(parts))


def reference_model(judgments: pl.DataFrame, wanted: str) -> str:
    """Return the model of that name (or its simulated form) if it was run, else the first one."""
    models = judgments["model"].unique().sort().to_list()
    return next(
        (m for m in models if m.removesuffix(" (simulated)") == wanted), models[0] if models else wanted
    )


def odds(fit: pl.DataFrame) -> pl.DataFrame:
    """Return condition and odds ratio of each condition of a GEE fit, as `condition` and `estimate`."""
    if "odds_ratio" not in fit.columns:
        return pl.DataFrame(schema={"condition": pl.String, "estimate": pl.Float64})
    return fit.filter(term="condition").select(condition="value", estimate="odds_ratio")


def forest(fit: pl.DataFrame) -> pl.DataFrame:
    """Return label, estimate, low and high of the odds ratios of a GEE fit."""
    if "odds_ratio" not in fit.columns:
        return pl.DataFrame(
            schema={"label": pl.String, "estimate": pl.Float64, "low": pl.Float64, "high": pl.Float64}
        )
    rows = fit.drop_nulls("value")
    return rows.select(
        pl.col("value").replace(condition_labels()).alias("label"),
        estimate="odds_ratio",
        low="odds_ratio_low",
        high="odds_ratio_high",
    )


def fold_sources(judgments: pl.DataFrame, *, least: int) -> pl.DataFrame:
    """Put the sources with fewer than `least` cases into one group, "other"."""
    n = pl.col("case_id").n_unique().over("source")
    return judgments.with_columns(
        pl.when(n < least).then(pl.lit("other")).otherwise(pl.col("source")).alias("source")
    )


def source_counts(judgments: pl.DataFrame) -> pl.DataFrame:
    """Return source, n_cases and n_nodes."""
    nodes = judgments.unique(["case_id", "node_id"])
    return nodes.group_by("source").agg(
        pl.col("case_id").n_unique().cast(pl.Int64).alias("n_cases"), pl.len().cast(pl.Int64).alias("n_nodes")
    ).sort("source")  # fmt: skip


def category_mix(judgments: pl.DataFrame) -> pl.DataFrame:
    """Return the share of each category among the nodes of each source, per cent."""
    nodes = judgments.unique(["case_id", "node_id"])
    shares = [((pl.col("category") == c).mean() * 100).alias(c) for c in CATEGORIES]
    return nodes.group_by("source").agg(pl.len().cast(pl.Int64).alias("n_nodes"), *shares).sort("source")


def subset_cases(run: Results, *, n: int, seed: int) -> list[str]:
    """Return the cases of the subset runs, else those that `icgkit run --subset n` would ask about.

    Where some model was judged on fewer cases than others, its cases are the subset; otherwise they
    are drawn from the dataset (see `icgkit.cases.subset.stratified`).
    """
    counts = run.judgments.group_by("model").agg(
        pl.col("case_id").n_unique().alias("n"), pl.col("case_id").unique().alias("ids")
    )
    if counts["n"].n_unique() > 1:
        return sorted(counts.sort("n", "model").row(0, named=True)["ids"])
    groups = sampling.strata(run.dataset.nodes())
    return sampling.stratified(groups, min(n, len(groups)), seed=seed)


def plane(recall: pl.DataFrame, precision: pl.DataFrame) -> pl.DataFrame:
    """Join recall (x) and precision (y) by model and condition, each with its interval: x, x_low, x_high, y, ..."""
    x = recall.select("model", "condition", x="estimate", x_low="low", x_high="high")
    y = precision.select("model", "condition", y="estimate", y_low="low", y_high="high")
    return x.join(y, on=["model", "condition"]).drop_nulls(["x", "y"]).sort("model", "condition")


def rho_text(rho: pl.DataFrame) -> str:
    """Return Spearman's correlation in words, for a caption."""
    row = rho.row(0, named=True)
    if row["estimate"] is None:
        return f"Spearman's ρ is not defined here: {row['status']}."
    return (
        f"Spearman's ρ = {row['estimate']:.2f} (95 % interval {row['low']:.2f} to {row['high']:.2f}, permutation p = "
        f"{row['p_permutation']:.3g}, n = {row['n_scored']} subtypes)."
    )


def residual_misses(judgments: pl.DataFrame) -> pl.DataFrame:
    """Count missed nodes by category, and which of the three parts was not found."""
    missed = pl.col("found").not_()
    parts = [
        (missed & pl.col(p).not_()).sum().cast(pl.Int64).alias(f"part_{p}")
        for p in ("region", "update", "reason")
    ]
    counts = judgments.group_by("category").agg(
        missed.sum().cast(pl.Int64).alias("n_missed"),
        pl.col("found").count().cast(pl.Int64).alias("n_scored"),
        *parts,
    )
    order = {c: i for i, c in enumerate(CATEGORIES)}
    labels = {c.id: c.label for c in CATEGORIES.values()}
    counts = counts.sort(pl.col("category").replace_strict(order, return_dtype=pl.Int64))
    return counts.with_columns(pl.col("category").replace(labels))


def failure_sources(failures: pl.DataFrame) -> pl.DataFrame:
    """Count failures by source: source, n, share, of."""
    counts = (
        failures.group_by("source")
        .agg(pl.len().cast(pl.Int64).alias("n"))
        .sort("n", "source", descending=[True, False])
    )
    return counts.with_columns(
        share=pl.col("n") / failures.height, of=pl.lit(failures.height, pl.Int64), status=pl.lit("ok")
    )


def level_means(subtypes: pl.DataFrame) -> pl.DataFrame:
    """Return the unweighted mean over subtypes of each level: indirectness, estimate, subtypes, n_scored."""
    return (
        subtypes.group_by("indirectness")
        .agg(
            pl.col("estimate").mean(),
            pl.col("estimate").count().cast(pl.Int64).alias("subtypes"),
            pl.col("n_scored").sum().cast(pl.Int64),
        )
        .sort("indirectness")
    )


def ceiling(agreement: pl.DataFrame) -> pl.DataFrame:
    """Return coefficients by condition, from the rarest "found" to the commonest: condition (with that share), coefficient, estimate."""
    if "kappa" not in agreement.columns:
        kinds = {"condition": pl.String, "coefficient": pl.String, "estimate": pl.Float64}
        return pl.DataFrame(schema=kinds | {"low": pl.Float64, "high": pl.Float64})
    rate = (pl.col("rate_a") + pl.col("rate_b")) / 2
    names = {
        "raw": "raw agreement",
        "kappa": "Cohen's κ",
        "pabak": "PABAK",
        "ac1": "Gwet's AC1",
        "alpha": "Krippendorff's α",
    }
    rows = agreement.with_columns(rate=rate).drop_nulls("rate").sort("rate", "condition")
    label = pl.concat_str(
        pl.col("condition").replace(condition_labels()),
        pl.lit("\n"),
        (pl.col("rate") * 100).round(0).cast(pl.Int64),
        pl.lit(" % found"),
    )
    parts = [
        rows.select(
            label.alias("condition"), pl.lit(words).alias("coefficient"), estimate=name, low=f"{name}_low", high=f"{name}_high"
        )
        for name, words in names.items()
    ]  # fmt: skip
    return pl.concat(parts).drop_nulls("estimate")


def labelled(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with the labels of conditions in place of their ids, in the study's order."""
    return in_order(frame, list(condition_labels()))


def best_by_price(costs: pl.DataFrame) -> pl.DataFrame:
    """Return the cheapest condition at a few prices of a missed constraint."""
    if "ratio" not in costs.columns:
        return pl.DataFrame({"status": ["not in this cache: precision verdicts"]})
    prices = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]
    near = [costs["ratio"].unique().to_frame().sort((pl.col("ratio") - p).abs()).row(0)[0] for p in prices]
    best = costs.filter(pl.col("best"), pl.col("ratio").is_in(near)).sort("ratio")
    return labelled(best.select("ratio", "condition", "estimate", "best_share")).sort("ratio")


def power_curves(closed: pl.DataFrame, drawn: pl.DataFrame) -> pl.DataFrame:
    """Return power over cases, in closed form and by drawing: how, cases, estimate, low, high.

    Frames of one status, where the run lacks a condition, stay what they are.
    """
    if "power" not in closed.columns:
        return closed
    a = closed.select(pl.lit("closed form").alias("how"), pl.col("cases").cast(pl.Int64), estimate="power")
    b = drawn.select(
        pl.lit("drawn from the pilot's cases").alias("how"),
        pl.col("cases").cast(pl.Int64),
        "low",
        "high",
        "estimate",
    )
    return pl.concat([a, b], how="diagonal")
