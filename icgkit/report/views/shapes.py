"""Shapes of results that notebooks share: orders and labels, wide tables, picked cases, who found what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from icgkit.errors import SchemaError
from icgkit.prompts.conditions import conditions
from icgkit.report.plots.style import KNOWN
from icgkit.taxonomy import CATEGORIES, SUBTYPES

ALL = "All models"
CORE = ("direct", "cot", "icg_self", "nl_self", "signal_guided", "taxonomy_only", "oracle")
"""The seven conditions of the main table."""
UNGUIDED = CORE[:5]
"""Those among which the main table marks the best: neither checklist nor graph."""
CORE_NOTE = (
    "SG: signal-guided, a list of signals to look for; Tax.: the taxonomy as a checklist; ICG-O: the oracle, the graph "
    "itself. Bold: best of the five conditions told neither checklist nor graph, by model."
)
"""What the main table's short heads and bold cells mean."""


def condition_labels() -> dict[str, str]:
    """Return the short label of every condition, in the study's order."""
    return {name: c.short for name, c in conditions().items()}


def taxonomy_view(nodes: pl.DataFrame) -> pl.DataFrame:
    """Return one row a subtype with its node count.

    Parameters
    ----------
    nodes : polars.DataFrame
        Schema `nodes`.

    Returns
    -------
    polars.DataFrame
        category_id, category, subtype_id, subtype, definition, example, level (with * where it is
        our reading), n_nodes (0 where the dataset has none).
    """
    counts = dict(nodes.group_by("subtype").len().iter_rows())
    return pl.DataFrame(
        [
            {
                "category_id": s.category,
                "category": CATEGORIES[s.category].label,
                "subtype_id": s.id,
                "subtype": s.label,
                "definition": s.definition,
                "example": s.example,
                "level": f"{s.indirectness}{'' if s.indirectness_stated else '*'}",
                "n_nodes": counts.get(s.id, 0),
            }
            for s in SUBTYPES.values()
        ]
    )


def wide(
    scores: pl.DataFrame,
    *,
    rows: str,
    columns: str,
    order: Sequence[str],
    value: str = "estimate",
    labels: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """Pivot scores: one row a value of `rows`, one column a value of `columns` in the order given.

    A cell that is not there is null.

    Raises
    ------
    SchemaError
        If a cell occurs twice.

    Examples
    --------
    >>> import polars as pl
    >>> s = pl.DataFrame({"m": ["a", "a"], "c": ["y", "x"], "estimate": [1.0, 0.5]})
    >>> wide(s, rows="m", columns="c", order=["x", "y", "z"]).row(0)
    ('a', 0.5, 1.0, None)
    """
    kept = scores.filter(pl.col(columns).is_in(list(order)))
    if kept.select(rows, columns).is_duplicated().any():
        raise SchemaError(f"cells of {rows} and {columns} occur twice", remedy="name every column in by=")
    out = kept.pivot(columns, index=rows, values=value, maintain_order=True)
    absent = [pl.lit(None, scores.schema[value]).alias(c) for c in order if c not in out.columns]
    out = out.with_columns(absent).select(rows, *order)
    return out.rename({c: (labels or {}).get(c, c) for c in order}) if labels else out


def with_all(by_model: pl.DataFrame, pooled: pl.DataFrame) -> pl.DataFrame:
    """Append the scores over all models below those of each model; known models in the order of the palette."""
    if "model" in by_model.columns:
        rank = {m: KNOWN.get(m.removesuffix(" (simulated)"), 99) for m in by_model["model"].unique()}
        by_model = by_model.sort(
            pl.col("model").replace_strict(rank, return_dtype=pl.Int64), maintain_order=True
        )
    return pl.concat([by_model, pooled.with_columns(model=pl.lit(ALL))], how="diagonal")


def subtype_labels() -> dict[str, str]:
    """Return "Category: Subtype" for every subtype id."""
    return {s.id: f"{CATEGORIES[s.category].label}: {s.label}" for s in SUBTYPES.values()}


def by_category(cells: pl.DataFrame, judgments: pl.DataFrame) -> pl.DataFrame:
    """Put a wide table with a column `category` into the taxonomy's order, with labels and node counts."""
    nodes = (
        judgments.unique(["case_id", "node_id"])
        .group_by("category")
        .agg(pl.len().cast(pl.Int64).alias("n_nodes"))
    )
    total = pl.DataFrame({"category": ["all"], "n_nodes": [nodes["n_nodes"].sum()]}, schema=nodes.schema)
    order = {c: i for i, c in enumerate([*CATEGORIES, "all"])}
    labels = {c.id: c.label for c in CATEGORIES.values()} | {"all": "All"}
    joined = cells.join(pl.concat([nodes, total]), on="category", how="left")
    joined = joined.sort(pl.col("category").replace_strict(order, return_dtype=pl.Int64))
    return joined.select(pl.col("category").replace(labels), "n_nodes", pl.exclude("category", "n_nodes"))


def conditions_view() -> pl.DataFrame:
    """Return one row a condition: condition, label, family, shows (ground-truth fields), output."""
    return pl.DataFrame(
        [
            {
                "condition": c.id,
                "label": c.label,
                "family": c.family,
                "shows": ", ".join(c.inputs) or "nothing",
                "output": c.output,
            }
            for c in conditions().values()
        ]
    )


def short_model(name: str) -> str:
    """Return a model's name without its provider, as figures show it.

    Examples
    --------
    >>> short_model("offline/ocr-rules")
    'ocr-rules'
    """
    return name.rsplit("/", 1)[-1]


def join(*frames: pl.DataFrame, on: str | Sequence[str]) -> pl.DataFrame:
    """Join frames from the left on key columns; a frame that lacks a key (it only says a status) is left out.

    Columns that an earlier frame has stay as they are there.
    """
    keys = [on] if isinstance(on, str) else list(on)
    first, *others = frames
    for other in others:
        if set(keys) <= set(other.columns) and set(keys) <= set(first.columns):
            new = [c for c in other.columns if c in keys or c not in first.columns]
            first = first.join(other.select(new), on=keys, how="left", maintain_order="left")
    return first


def in_order(frame: pl.DataFrame, order: Sequence[str], column: str = "condition") -> pl.DataFrame:
    """Sort rows by the position of a column's value in `order` (others keep their place); conditions get labels."""
    if column not in frame.columns:
        return frame
    rank = {value: i for i, value in enumerate(order)}
    rows = frame.sort(
        pl.col(column).replace_strict(rank, default=len(rank), return_dtype=pl.Int64), maintain_order=True
    )
    return rows.with_columns(pl.col(column).replace(condition_labels()))


def category_labels() -> dict[str, str]:
    """Return the label of every category id."""
    return {c.id: c.label for c in CATEGORIES.values()}


def minus(differences: pl.DataFrame, target: str) -> pl.DataFrame:
    """Return reference minus target, from differences that give target minus reference."""
    if "target" not in differences.columns:
        return differences.with_columns(model=pl.lit(None, pl.String), estimate=pl.lit(None, pl.Float64))
    return differences.filter(target=target).with_columns(
        -pl.col("estimate"), low=-pl.col("high"), high=-pl.col("low")
    )


def with_counts(cells: pl.DataFrame, judgments: pl.DataFrame, by: str = "model") -> pl.DataFrame:
    """Append what each row of a wide table stands on: `cases`, verdicts that are `scored` and `missing`.

    The row `ALL` counts everything; a row of which there are no judgments has nulls.

    Parameters
    ----------
    cells : polars.DataFrame
        One row a value of `by`.
    judgments : polars.DataFrame
        Schema `judgments`: what the cells were computed from.
    """
    scored = pl.col("found").is_not_null().sum()
    counts = [
        pl.struct("dataset", "case_id").n_unique().alias("cases"),
        scored.alias("scored"),
        (pl.len() - scored).alias("missing"),
    ]
    each = judgments.group_by(by).agg(counts)
    everything = judgments.select(pl.lit(ALL).alias(by), *counts)
    return cells.join(
        pl.concat([each, everything], how="vertical_relaxed"), on=by, how="left", maintain_order="left"
    )
