"""Stratified draws of cases: one rule, whoever draws; and the weights that lead back to the whole set."""

from __future__ import annotations

import random
from collections.abc import Mapping

import polars as pl

from icgkit.errors import SchemaError

SEED = 42


def strata(nodes: pl.DataFrame, *, by: str = "category") -> dict[str, str]:
    """Return the stratum of every case: the value of a column that most of its nodes have.

    Parameters
    ----------
    nodes : polars.DataFrame
        One row a node (schema `nodes`): `case_id` and the column `by`; doubled nodes count once
        where there is a `node_id`.
    by : {"category", "subtype"}
        What makes the strata.

    Returns
    -------
    dict of str to str
        By case, in the order of the frame. Among equally frequent values the first in the order of
        the taxonomy counts.

    Examples
    --------
    >>> import polars as pl
    >>> nodes = pl.DataFrame({"case_id": ["a", "a", "b"], "category": ["style", "physical", "semantic"]})
    >>> strata(nodes)
    {'a': 'physical', 'b': 'semantic'}
    """
    from icgkit.taxonomy import CATEGORIES, SUBTYPES

    if "node_id" in nodes.columns:
        nodes = nodes.unique(["case_id", "node_id"], keep="first", maintain_order=True)
    order = list(CATEGORIES if by == "category" else SUBTYPES)
    counts: dict[str, list[int]] = {}
    for case, value in nodes.select("case_id", by).iter_rows():
        counts.setdefault(case, [0] * len(order))[order.index(value)] += 1
    return {case: order[n.index(max(n))] for case, n in counts.items()}


def stratified(
    groups: Mapping[str, str], n: int | None = None, *, per_stratum: int | None = None, seed: int = SEED
) -> list[str]:
    """Draw cases evenly over their strata.

    Strata take turns in the order of the taxonomy, so that one that runs out leaves its share to the
    others; with `per_stratum` it leaves nobody anything.

    Parameters
    ----------
    groups : mapping of str to str
        Stratum of every case (see `strata`); the order of cases fixes the draw.
    n : int, optional
        Cases in all.
    per_stratum : int, optional
        Cases from each stratum instead, or all that it has.
    seed : int
        Seed of the draw.

    Returns
    -------
    list of str
        Cases, in the order of `groups`.

    Raises
    ------
    SchemaError
        If there are fewer cases than `n`, or not exactly one of `n` and `per_stratum` is given.

    Examples
    --------
    >>> stratified({"a": "style", "b": "style", "c": "semantic"}, 2)
    ['a', 'c']
    """
    from icgkit.taxonomy import CATEGORIES, SUBTYPES

    if (n is None) == (per_stratum is None):
        raise SchemaError("size of the subset", got=(n, per_stratum), allowed="either n or per_stratum")
    if n is not None and not 0 <= n <= len(groups):
        raise SchemaError("size of the subset", got=n, allowed=f"at most {len(groups)}, the cases there are")
    rank = {value: i for i, value in enumerate([*CATEGORIES, *SUBTYPES])}
    members: dict[str, list[str]] = {}
    for value in sorted(set(groups.values()), key=lambda v: (rank.get(v, len(rank)), v)):
        members[value] = [case for case, mine in groups.items() if mine == value]
    rng = random.Random(seed)
    for ids in members.values():
        rng.shuffle(ids)
    if per_stratum is not None:
        drawn = {case for ids in members.values() for case in ids[len(ids) - min(per_stratum, len(ids)) :]}
    else:
        drawn = set()
        while len(drawn) < (n or 0):
            for ids in members.values():
                if ids and len(drawn) < (n or 0):
                    drawn.add(ids.pop())
    return [case for case in groups if case in drawn]


def weights(groups: Mapping[str, str], drawn: list[str]) -> pl.DataFrame:
    """Return how many cases of the whole set each drawn case stands for.

    Parameters
    ----------
    groups : mapping of str to str
        Stratum of every case of the whole set (see `strata`).
    drawn : list of str
        The cases of the subset.

    Returns
    -------
    polars.DataFrame
        `case_id` and `weight`: cases of the stratum over drawn cases of the stratum (Horvitz and
        Thompson 1952, JASA 47, 663-685, for equal chances within a stratum). The weights add up to
        the cases of the strata that were drawn from; one that was not drawn from is not represented.

    Raises
    ------
    SchemaError
        If a drawn case is not one of the whole set.

    Examples
    --------
    >>> weights({"a": "style", "b": "style", "c": "semantic"}, ["b", "c"])["weight"].to_list()
    [2.0, 1.0]
    """
    unknown = [case for case in drawn if case not in groups]
    if unknown:
        raise SchemaError("drawn cases that are not in the whole set", got=unknown[:5])
    size = {v: sum(mine == v for mine in groups.values()) for v in set(groups.values())}
    taken = {v: sum(groups[case] == v for case in drawn) for v in size}
    return pl.DataFrame(
        [(case, size[groups[case]] / taken[groups[case]]) for case in drawn],
        schema={"case_id": pl.String, "weight": pl.Float64},
        orient="row",
    )
