"""Shapes of the tables on inference: crossed models, equivalence, missing verdicts, two widths."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from icgkit.metrics.crossed import Crossed


def crossed_rows(fit: Crossed) -> pl.DataFrame:
    """Return fixed terms and random groups of a crossed model as rows of one table.

    Returns
    -------
    polars.DataFrame
        `part` (fixed, random), `term`, `label` (conditions by their label, models by their short name),
        `estimate`, `low`, `high` (log odds; the standard deviation of a random group has no interval),
        `se`, `p_value`, `n_groups`, `status`; the fit's status alone where nothing was fitted.
    """
    import polars as pl

    from icgkit.views.shapes import condition_labels, short_model

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
    import polars as pl

    if fit.terms.is_empty():
        return pl.DataFrame(
            schema=dict.fromkeys(["label"], pl.String)
            | dict.fromkeys(["estimate", "low", "high"], pl.Float64)
        )
    rows = crossed_rows(fit).filter(pl.col("part").str.starts_with("fixed"), pl.col("term") != "intercept")
    return rows.select("label", pl.col("estimate", "low", "high").exp())


def interaction_text(fit: Crossed) -> str:
    """Return the test of model x condition in words, for a caption."""
    row = fit.fit.row(0, named=True)
    if row["p_interaction"] is None:
        return f"No test of the interaction: {row['status']}."
    p = "p < 0.001" if row["p_interaction"] < 0.001 else f"p = {row['p_interaction']:.3f}"
    return f"Model x condition: likelihood ratio χ²({row['df']}) = {row['chi2']:.1f}, {p}."
