"""Stratified draws of cases: one rule, whoever draws; and the weights that lead back to the whole set."""

from __future__ import annotations

import random
from collections.abc import Mapping

import polars as pl

from icgkit.errors import SchemaError
from icgkit.taxonomy import CATEGORIES, SUBTYPES

SEED = 42


def strata(nodes: pl.DataFrame, *, by: str = "category") -> dict[str, str]:
    """Return the stratum of every case: the category (or subtype) that most of its nodes have.

    Doubled nodes count once where there is a `node_id`; among equally frequent values the first in the
    order of the taxonomy counts.
    """
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
    others; with `per_stratum` instead of `n` it leaves nobody anything. The order of `groups` fixes the
    draw and is the order of what is returned.
    """
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
    """Return how many cases of the whole set each drawn case stands for: `case_id` and `weight`.

    The weight is the cases of a stratum over its drawn cases (Horvitz and Thompson 1952, JASA 47, 663-685,
    for equal chances within a stratum). A stratum that was not drawn from is not represented.
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
