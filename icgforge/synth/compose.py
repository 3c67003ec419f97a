"""Compose the shipped set: how many cases of each template and node count, and which seeds.

`python -m icgforge.synth.compose` solves a small integer programme and writes recipe.json. The
programme holds the study's totals exactly (461 cases, 776 nodes, 228 cases with edges between
nodes, nodes per category), keeps the subtypes of a category level, and spreads cases evenly over
templates. It has to be run again only when templates are added; the recipe keeps the seeds, so that
the shipped set is drawn without looking for near-duplicates once more.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np

from icgforge.synth.base import templates
from icgforge.synth.case import Knobs, make_case
from icgforge.synth.words import NoPair
from icgkit.errors import IcgError
from icgkit.taxonomy import SUBTYPES

CASES, NODES, WITH_EDGES = 461, 776, 228
QUOTA = {"physical": 169, "spatial": 56, "semantic": 164, "style": 174, "cross_modal": 213}


class Slot(NamedTuple):
    """A template with a number of nodes: the subtypes it gives and whether they are linked."""

    template: str
    n: int
    linked: bool
    subtypes: tuple[str, ...]


def slots() -> list[Slot]:
    """Return every template with every number of nodes that it can make."""
    out = []
    for name, t in templates().items():
        for n in range(t.min_nodes, len(t.nodes) + 1):
            linked = set()
            for seed in range(4):
                try:
                    made = make_case(name, seed, Knobs(nodes=n))
                except NoPair:
                    continue
                there = {spec.element for spec in made.nodes()}
                linked.add(any(e.a in there and e.b in there for e in made.design.edges))
            if len(linked) == 1:
                out.append(Slot(name, n, linked.pop(), t.nodes[:n]))
    return out


def solve(all_slots: list[Slot], *, seconds: float = 60) -> list[int]:
    """Return the number of cases of each slot.

    Raises
    ------
    IcgError
        If no composition meets the totals.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    k = len(all_slots)
    most, least, level, crowd = k, k + 1, k + 2, k + 3  # helper variables after the counts
    rows: list[np.ndarray] = []
    low: list[float] = []
    high: list[float] = []

    def hold(weights: dict[int, float], at_least: float, at_most: float) -> None:
        row = np.zeros(k + 4)
        for i, weight in weights.items():
            row[i] += weight
        rows.append(row)
        low.append(at_least)
        high.append(at_most)

    hold(dict.fromkeys(range(k), 1), CASES, CASES)
    hold({i: 1 for i, s in enumerate(all_slots) if s.linked}, WITH_EDGES, WITH_EDGES)
    for category, quota in QUOTA.items():
        count = [sum(SUBTYPES[x].category == category for x in s.subtypes) for s in all_slots]
        hold(dict(enumerate(count)), quota, quota)
    for i in range(k):
        hold({i: 1, most: -1}, -np.inf, 0)
    for name in {s.template for s in all_slots}:
        own: dict[int, float] = {i: 1 for i, s in enumerate(all_slots) if s.template == name}
        hold({**own, least: -1}, 0, np.inf)
        hold({**own, crowd: -1}, -np.inf, 0)
    for sub, info in SUBTYPES.items():
        goal = QUOTA[info.category] / sum(s.category == info.category for s in SUBTYPES.values())
        nodes: dict[int, float] = {i: s.subtypes.count(sub) for i, s in enumerate(all_slots)}
        hold(nodes, 14, np.inf)
        hold({**nodes, level: 1}, goal, np.inf)
        hold({**nodes, level: -1}, -np.inf, goal)
    cost = np.zeros(k + 4)
    cost[[most, crowd, least, level]] = 0.3, 1, -3, 1
    integral = np.ones(k + 4)
    integral[level] = 0
    result = milp(
        cost, constraints=LinearConstraint(np.array(rows), low, high), integrality=integral,
        bounds=Bounds(np.zeros(k + 4), np.full(k + 4, 60.0)),
        options={"time_limit": seconds, "mip_rel_gap": 0.02},
    )  # fmt: skip
    if result.x is None:
        raise IcgError(f"no composition meets the totals: {result.message}", remedy="add templates")
    return [int(v) for v in np.rint(result.x[:k])]


def main() -> None:
    """Write recipe.json beside this file."""
    from icgforge.synth.dataset import select

    found = slots()
    counts: dict[str, dict[int, int]] = defaultdict(dict)
    for slot, count in zip(found, solve(found), strict=True):
        if count:
            counts[slot.template][slot.n] = count
    seeds = {name: [[m.ctx.n, m.seed] for m in select(name, row, 1, Knobs())] for name, row in counts.items()}
    path = Path(__file__).with_name("recipe.json")
    lines = [f" {json.dumps(name)}: {json.dumps(seeds[name])}" for name in sorted(seeds)]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
