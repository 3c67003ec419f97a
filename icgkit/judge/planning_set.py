"""Which cases planning is asked on, and which constraints plans are marked on."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from icgkit.cases.case import Case
from icgkit.cases.dataset import Dataset
from icgkit.study.file import stratified

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
    part = dataset.subset(stratified(dataset, min(cases, len(dataset)), seed))
    first: list[tuple[str, str]] = []
    second: list[tuple[str, str]] = []
    for case in part:
        nodes = _visible(case)
        first += [(case.id, n) for n in nodes[:1]]
        second += [(case.id, n) for n in nodes[1:MOST]]
    random.Random(seed).shuffle(second)
    chosen = set(first) | set(second[: max(constraints - len(first), 0)])
    return _frame(part, chosen)


def marked_constraints(dataset: Dataset) -> pl.DataFrame:
    """Return the constraints that plans are marked on, for every case of a dataset.

    Those of `planning_set` in its cases; in the others by the same rule, at most two a case. What is
    marked of a case so depends neither on the subset that was asked about nor on the command that
    judges, `icgkit run` or `icgkit judge`.

    Parameters
    ----------
    dataset : Dataset
        The whole dataset, not the part of it that a study asks about.

    Returns
    -------
    polars.DataFrame
        Columns `case_id`, `node_id`, in the order of the dataset.

    Examples
    --------
    >>> import icgkit as ig
    >>> teb = ig.load_dataset("icg-teb")
    >>> marked_constraints(teb)["case_id"].n_unique() == len(teb)
    True
    """
    chosen = set(planning_set(dataset).iter_rows())
    drawn = {case_id for case_id, _ in chosen}
    chosen |= {(c.id, n) for c in dataset if c.id not in drawn for n in _visible(c)[:MOST]}
    return _frame(dataset, chosen)


def _visible(case: Case) -> list[str]:
    """Return the ids of a case's constraints that a box is drawn for (all, if none is), strong ones first."""
    nodes = [n for n in case.constraint_nodes if n.bbox] or list(case.constraint_nodes)
    return [n.id for n in sorted(nodes, key=lambda n: n.strength != "strong")]


def _frame(dataset: Dataset, chosen: set[tuple[str, str]]) -> pl.DataFrame:
    import polars as pl

    rows = [(c.id, n.id) for c in dataset for n in c.constraint_nodes if (c.id, n.id) in chosen]
    return pl.DataFrame(rows, schema={"case_id": pl.String, "node_id": pl.String}, orient="row")
