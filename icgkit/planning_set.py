"""Which cases and constraints planning is measured on."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from icgkit.load import Dataset
from icgkit.study import stratified

if TYPE_CHECKING:
    import polars as pl

CASES, CONSTRAINTS, MOST = 60, 100, 2


def planning_set(
    dataset: Dataset, *, cases: int = CASES, constraints: int = CONSTRAINTS, seed: int = 42
) -> pl.DataFrame:
    """Draw the constraints that a plan has to satisfy: a visible step each, at most two a case.

    Cases are drawn evenly over the categories. A constraint needs a visible, checkable step if a
    box is drawn for it; strong ones go first. Every case keeps one, and second ones are taken in
    a seeded order until the number is reached.

    Returns
    -------
    polars.DataFrame
        Columns `case_id`, `node_id`.

    Examples
    --------
    >>> import icgkit as ig
    >>> picked = planning_set(ig.load_dataset("icg-teb"), cases=12, constraints=20)
    >>> picked["case_id"].n_unique(), picked.height <= 20
    (12, True)
    """
    import polars as pl

    part = dataset.subset(stratified(dataset, min(cases, len(dataset)), seed))
    first: list[tuple[str, str]] = []
    second: list[tuple[str, str]] = []
    for case in part:
        nodes = [n for n in case.constraint_nodes if n.bbox] or list(case.constraint_nodes)
        nodes.sort(key=lambda n: n.strength != "strong")
        first += [(case.id, n.id) for n in nodes[:1]]
        second += [(case.id, n.id) for n in nodes[1:MOST]]
    random.Random(seed).shuffle(second)
    chosen = set(first) | set(second[: max(constraints - len(first), 0)])
    rows = [(c.id, n.id) for c in part for n in c.constraint_nodes if (c.id, n.id) in chosen]
    return pl.DataFrame(rows, schema={"case_id": pl.String, "node_id": pl.String}, orient="row")
