"""What can make a node hard to find: steps from the edit, size, distance, script."""

from __future__ import annotations

import unicodedata
from collections import Counter

import polars as pl

from icgkit.cases.dataset import Dataset

LEVELS: dict[str, tuple[str, ...]] = {
    "chain": ("1 step", "2 steps", "3 steps or more"),
    "size": ("below 0.5 %", "0.5 to 2 %", "2 % or more"),
    "distance": ("below 0.2", "0.2 to 0.4", "0.4 or more"),
    "script": ("Latin", "figures", "Han", "other"),
}
"""Levels of each dimension, in order."""
_EDGES = {"size": (0.005, 0.02), "distance": (0.2, 0.4)}


def script_of(text: str) -> str:
    """Return the script that most letters of a text are of: Latin, Han or other; figures where it has no letter.

    Examples
    --------
    >>> [script_of(t) for t in ("50% OFF", "50%", "五折优惠 now", "Скидка")]
    ['Latin', 'figures', 'Han', 'other']
    """
    found = Counter(_script(c) for c in text if c.isalpha())
    return found.most_common(1)[0][0] if found else "figures"


def _script(letter: str) -> str:
    name = unicodedata.name(letter, "")
    return "Latin" if name.startswith("LATIN") else "Han" if name.startswith("CJK") else "other"


def node_difficulty(dataset: Dataset) -> pl.DataFrame:
    """Describe every node by what can make it hard to find.

    Parameters
    ----------
    dataset : Dataset
        The cases.

    Returns
    -------
    polars.DataFrame
        One row a node: `case_id`, `node_id`, `chain` (steps from the edit), `size` (share of the picture that its
        box takes, 0 to 1), `distance` (between the middles of its box and the target's, as a share of the picture's
        diagonal; null without a box), `script` (of the edited text), and the level of each (`chain_level`, ...).

    Examples
    --------
    >>> import icgkit as ig
    >>> node_difficulty(ig.load_dataset("icg-teb").subset(["teb-002"])).select("chain_level", "size_level", "script").row(0)
    ('1 step', 'below 0.5 %', 'Latin')
    """
    rows = []
    for case in dataset:
        width, height = case.image_size
        for node in case.constraint_nodes:
            size = distance = None
            if node.bbox:
                x0, y0, x1, y1 = node.bbox
                size = (x1 - x0) * (y1 - y0) / (width * height)
                if case.target.bbox:
                    a0, b0, a1, b1 = case.target.bbox
                    away = ((x0 + x1 - a0 - a1) ** 2 + (y0 + y1 - b0 - b1) ** 2) ** 0.5 / 2
                    distance = away / (width**2 + height**2) ** 0.5
            script = script_of(case.target.element)
            rows.append((case.id, node.id, case.chain(node.id), size, distance, script))
    columns = {
        "case_id": pl.String,
        "node_id": pl.String,
        "chain": pl.Int64,
        "size": pl.Float64,
        "distance": pl.Float64,
        "script": pl.String,
    }
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    chain = (
        pl.col("chain").clip(1, 3).replace_strict(dict(enumerate(LEVELS["chain"], 1)), return_dtype=pl.String)
    )
    levels = [chain.alias("chain_level"), pl.col("script").alias("script_level")]
    for name, (low, high) in _EDGES.items():
        least, middle, most = LEVELS[name]
        column = pl.col(name)
        by_size = (
            pl.when(column < low)
            .then(pl.lit(least))
            .when(column < high)
            .then(pl.lit(middle))
            .otherwise(pl.lit(most))
        )
        levels.append(pl.when(column.is_not_null()).then(by_size).alias(f"{name}_level"))
    return frame.with_columns(levels)
