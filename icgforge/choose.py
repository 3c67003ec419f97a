"""Which of the drawn candidates make up the set: many subtypes, chains and scripts, no document too often."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from icgkit.cases.case import Case
from icgkit.taxonomy import SUBTYPES


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a set has to have: bounds that hold, and shares that are aimed at."""

    most_nodes: int = 7
    of_document: int = 8
    of_surface: int = 4
    of_picture: int = 2
    """Cases that share one picture."""
    one_node: float = 0.3
    """Most cases with a single node, as a share."""
    mixed: float = 0.6
    """Least cases with two subtypes or more."""
    chains: float = 0.34
    """Least cases with a node two steps from the edit or more."""
    other_scripts: float = 0.25
    nodes: int = 25
    documents: int = 8
    """Least nodes of each subtype, and documents that they come from."""


@dataclass
class _Taken:
    cases: list[Case] = field(default_factory=list)
    of: Counter[tuple[str, ...]] = field(default_factory=Counter)
    nodes: Counter[str] = field(default_factory=Counter)
    documents: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    sizes: Counter[int] = field(default_factory=Counter)

    def add(self, case: Case) -> None:
        """Count a case in."""
        self.cases.append(case)
        self.of.update(_keys(case))
        self.sizes[len(case.constraint_nodes)] += 1
        self.nodes.update(node.subtype for node in case.constraint_nodes)
        for name in subtypes_of(case):
            self.documents[name].add(_keys(case)[0][0])


def subtypes_of(case: Case) -> set[str]:
    """Return the subtypes of a case's nodes, without second ones."""
    return {node.subtype for node in case.constraint_nodes}


def longest(case: Case) -> int:
    """Return the steps from the edit to the node that is farthest from it."""
    return max((case.chain(node.id) for node in case.constraint_nodes), default=0)


def _keys(case: Case) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    doc, draw, surface = case.id.removeprefix("photo-").split("-", 2)
    if case.metadata.get("setting", "flat") != "flat":  # photo-SETTING-DOCUMENT-DRAW-SURFACE
        doc, draw, surface = case.metadata["template"], f"photo {doc} {draw}", f"photo {surface}"
    return (doc,), (doc, "picture", draw), (doc, "surface", surface)


def choose(
    cases: Sequence[Case],
    n: int,
    wishes: Wishes | None = None,
    seed: str = "1",
    twinned: Collection[str] = (),
    given: Sequence[Case] = (),
) -> list[Case]:
    """Return up to `n` cases beside those that are `given`, each time the one that brings the set nearest to what it wishes for.

    Bounds are never broken, so that fewer come back if the candidates do not give more. Cases are worth more
    the rarer their subtypes are among those taken, for documents that a subtype does not have yet, for two or
    more subtypes, for chains, for a counterfactual twin (`twinned` are the ids of such), and the fewer their document has.
    """
    wishes = wishes or Wishes()
    rng = random.Random(f"choose/{seed}")
    left = [c for c in cases if 1 <= len(c.constraint_nodes) <= wishes.most_nodes]
    rng.shuffle(left)
    taken = _Taken()
    for case in given:
        taken.add(case)
    while left and len(taken.cases) < len(given) + n:
        worth = {c.id: _worth(c, taken, wishes, n) + 0.8 * (c.id in twinned) for c in left}
        best = max(left, key=lambda c: worth[c.id])
        if worth[best.id] == float("-inf"):
            break
        left.remove(best)
        taken.add(best)
    order = {c.id: k for k, c in enumerate(cases)}
    return sorted(taken.cases[len(given) :], key=lambda c: order[c.id])


def _worth(case: Case, taken: _Taken, wishes: Wishes, n: int) -> float:
    doc, picture, surface = _keys(case)
    size = len(case.constraint_nodes)
    if (
        taken.of[doc] >= wishes.of_document
        or taken.of[picture] >= wishes.of_picture
        or taken.of[surface] >= wishes.of_surface
        or (size == 1 and taken.sizes[1] >= wishes.one_node * n)
    ):
        return float("-inf")
    rare = 0.0
    for name, many in Counter(node.subtype for node in case.constraint_nodes).items():
        share = taken.nodes[name] / wishes.nodes
        rare += (4 * min(many, 2) if share < 1 else 0) + 0.3 / (1 + share)
        if doc[0] not in taken.documents[name] and len(taken.documents[name]) < wishes.documents:
            rare += 3
    varied = (
        0.6 * (len(subtypes_of(case)) > 1)
        + 0.5 * (longest(case) > 1)
        + 0.4 * bool(case.metadata["script"] != "Latin")
    )
    crowded = 0.35 * taken.of[doc] + 0.5 * taken.of[surface] + 0.5 * taken.of[picture]
    return rare / math.sqrt(size) + varied - crowded - 2.5 * taken.sizes[size] / n


def report(cases: Sequence[Case]) -> dict[str, Any]:
    """Return what a set has, by the wishes' names: shares, and for each subtype its nodes and documents."""
    n = len(cases)
    nodes = Counter(node.subtype for c in cases for node in c.constraint_nodes)
    docs = defaultdict(set)
    for c in cases:
        for name in subtypes_of(c):
            docs[name].add(c.metadata["template"])
    return {
        "cases": n,
        "nodes": nodes.total(),
        "documents": len({c.metadata["template"] for c in cases}),
        "one_node": sum(len(c.constraint_nodes) == 1 for c in cases) / max(1, n),
        "mixed": sum(len(subtypes_of(c)) > 1 for c in cases) / max(1, n),
        "chains": sum(longest(c) > 1 for c in cases) / max(1, n),
        "other_scripts": sum(c.metadata["script"] != "Latin" for c in cases) / max(1, n),
        "subtypes": {name: (nodes[name], len(docs[name])) for name in SUBTYPES},
    }
