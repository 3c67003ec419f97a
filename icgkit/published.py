"""Our estimates beside the figures that the papers print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from icgkit.errors import UnknownName
from icgkit.load import load_published

if TYPE_CHECKING:
    import polars as pl


def beside(
    ours: pl.DataFrame,
    *,
    id: str,
    source: str = "icg",
    keys: Sequence[str] = ("model", "condition"),
    only: str = "",
) -> pl.DataFrame:
    """Set estimates beside the published figures of the same quantity.

    Parameters
    ----------
    ours : polars.DataFrame
        Column `estimate` and the columns in `keys`. A model "all" is the study's "all models";
        the suffix " (simulated)" is ignored.
    id : str
        Which published quantity (column `id` of the file).
    source : str
        File in data/published.
    only : str
        Keep the published rows whose quantity names this (a judge, say).
    keys : sequence of str
        Columns that identify a cell, of model, condition, group.

    Returns
    -------
    polars.DataFrame
        One row a published value: quantity, model, condition, group, ours (null where this run has
        no such cell), published, where, unit, note.

    Examples
    --------
    >>> import polars as pl
    >>> ours = pl.DataFrame({"model": ["all"], "condition": ["direct"], "estimate": [0.5]})
    >>> beside(ours, id="recall.micro").filter(condition="direct").select("ours", "published").row(0)
    (0.5, 0.447)
    """
    import polars as pl

    rows = load_published(source).filter(pl.col("id") == id)
    if only:
        rows = rows.filter(pl.col("quantity").str.contains(only.removesuffix(" (simulated)"), literal=True))
        if rows.is_empty():
            return rows.select(
                "quantity",
                "model",
                "condition",
                "group",
                pl.col("value").alias("ours"),
                pl.col("value").alias("published"),
                "where",
                "unit",
                "note",
            )
    if rows.is_empty():
        raise UnknownName.among("published quantity", id, load_published(source)["id"].unique())
    if "estimate" not in ours.columns:
        ours = pl.DataFrame(schema=dict.fromkeys(keys, pl.String) | {"estimate": pl.Float64})
    mine = ours.select(*keys, ours=pl.col("estimate").cast(pl.Float64))
    if "model" in keys:
        mine = mine.with_columns(pl.col("model").str.strip_suffix(" (simulated)"))
    joined = rows.join(mine, on=list(keys), how="left", nulls_equal=True, maintain_order="left")
    return joined.select(
        "quantity",
        "model",
        "condition",
        "group",
        "ours",
        pl.col("value").alias("published"),
        "where",
        "unit",
        "note",
    )


def counts_beside(ours: Mapping[str, float], *, source: str = "icg") -> pl.DataFrame:
    """Set plain numbers beside the published ones.

    Parameters
    ----------
    ours : mapping
        Published id (column `id`) to our number; only rows without model, condition and group count.

    Examples
    --------
    >>> counts_beside({"dataset.cases": 461}).select("quantity", "ours", "published").row(0)
    ('cases', 461.0, 461.0)
    """
    import polars as pl

    mine = pl.DataFrame({"id": list(ours), "ours": [float(v) for v in ours.values()]})
    rows = load_published(source).filter(
        pl.col("model").is_null(), pl.col("condition").is_null(), pl.col("group").is_null()
    )
    joined = mine.join(rows, on="id", how="inner", maintain_order="left")
    return joined.select("quantity", "ours", pl.col("value").alias("published"), "where", "unit", "note")
