"""Drawn tasks in the form of GRADE: graph, front view, line formula, each with original, reference and faulty edits.

A subject is a function of a random generator; it draws every picture from a state, so that the
reference and each edit differ from the original in exactly what is stated.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise, permutations
from typing import TYPE_CHECKING

from icgforge.diagrams.pen import INK, PAPER, RED, Box, Drawn, Pen, at, build

if TYPE_CHECKING:
    from PIL.Image import Image

_NODES = {"A": (40, 130), "B": (130, 50), "C": (130, 210), "D": (230, 50), "E": (230, 210), "F": (320, 130)}
_EDGES = ("AB", "AC", "BC", "BD", "CE", "DE", "DF", "EF")


def shortest_path(rng: random.Random, k: int) -> Drawn:
    """Computer science: mark the shortest path of a weighted graph."""
    while True:
        cost = {e: rng.randint(1, 9) for e in _EDGES}
        by_length = sorted((sum(cost[e] for e in p), p) for p in _paths())
        if by_length[0][0] < by_length[1][0]:
            break
    best, second = by_length[0][1], by_length[1][1]

    def draw(state: tuple[Sequence[str], Sequence[str]]) -> Image:
        red, gone = state
        pen = Pen()
        for edge in _EDGES:
            if edge in gone:
                continue
            a, b = _NODES[edge[0]], _NODES[edge[1]]
            pen.line(a, b, color=RED if edge in red else INK, width=4 if edge in red else 2)
            middle = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
            pen.box(middle[0] - 9, middle[1] - 9, middle[0] + 9, middle[1] + 9, fill=PAPER, edge=PAPER)
            pen.text(*middle, str(cost[edge]), 14)
        for name, (x, y) in _NODES.items():
            pen.disc(x, y, 15, fill=PAPER)
            pen.text(x, y, name)
        return pen.picture()

    def along(edge: str) -> Box:
        (x0, y0), (x1, y1) = sorted((_NODES[edge[0]], _NODES[edge[1]]))
        low, high = sorted((y0, y1))
        return (x0 + 16 if x1 > x0 else x0 - 8, x1 - 15 if x1 > x0 else x1 + 9,
                low + 16 if high > low else low - 8, high - 15 if high > low else high + 9)  # fmt: skip

    unused = [e for e in _EDGES if e not in best]
    share = round(0.6 / len(best), 2)
    points = [(at(f"The edge between {e[0]} and {e[1]} is red", along(e)), share) for e in best]
    rest = round(1 - share * len(best), 2)
    points.append(
        (at(f"The edge between {unused[0][0]} and {unused[0][1]} is not red", along(unused[0])), rest)
    )
    gone = next(e for e in unused if e != unused[0])
    return build(
        f"ComputerScience_graph_{k:03d}", "Graphs", "overall",
        ("Mark the shortest path from A to F in red.",
         "Draw these edges in red and somewhat thicker: " + ", ".join(f"{e[0]} to {e[1]}" for e in best) + "."),
        points, draw,
        {"original": ([], []), "solved": (best, []), "partial": (best[:1], []), "wrong": (second, []),
         "over": (best, [gone]), "no_op": ([], [])},
        {"partial": [True, *[False] * (len(best) - 1), True],
         "wrong": [*(e in second for e in best), unused[0] not in second],
         "over": [True] * len(points), "no_op": [*[False] * len(best), True]}, 1,
    )  # fmt: skip


def _paths() -> list[tuple[str, ...]]:
    found = []
    for n in range(2, 5):
        for order in permutations("BCDE", n):
            stops = ["A", *order, "F"]
            steps = tuple("".join(sorted(p)) for p in pairwise(stops))
            if all(s in _EDGES for s in steps):
                found.append(steps)
    return found


def front_view(rng: random.Random, k: int) -> Drawn:
    """Physics (engineering): the front view of stacked cubes, drawn from a plan; the original need not stay."""
    plan = [[rng.randint(0, 3) for _ in range(3)] for _ in range(2)]
    view = [max(column) for column in zip(*plan, strict=True)]
    side = [max(row) for row in plan]
    wrong = [*side, 0] if [*side, 0] != view else [3 - v for v in view]

    def draw(state: Sequence[int] | None) -> Image:
        pen = Pen()
        if state is None:
            for r, row in enumerate(plan):
                for c, cubes in enumerate(row):
                    pen.box(90 + 60 * c, 60 + 60 * r, 150 + 60 * c, 120 + 60 * r, fill=(238, 238, 238))
                    pen.text(120 + 60 * c, 90 + 60 * r, str(cubes), 20)
            pen.text(180, 205, "front", 15)
            return pen.picture()
        pen.line((60, 230), (300, 230))
        for c, height in enumerate(state):
            for level in range(height):
                pen.box(90 + 60 * c, 170 - 60 * level, 150 + 60 * c, 230 - 60 * level, fill=(200, 215, 235))
        return pen.picture()

    weights = (0.33, 0.33, 0.33)
    points = [
        (
            at(f"Column {c + 1} from the left is {view[c]} cubes high", (93 + 60 * c, 147 + 60 * c, 10, 227)),
            weights[c],
        )
        for c in range(3)
    ]
    half = [view[0], *[(v + 1) % 4 for v in view[1:]]]
    return build(
        f"engineering_views_{k:03d}", "Orthographic views", "none",
        ("The plan gives the number of cubes on each square. Replace it with the front view.",
         f"Replace the plan with three columns of squares, from left to right {view[0]}, {view[1]} and {view[2]} squares high."),
        points, draw,
        {"original": None, "solved": view, "partial": half, "wrong": wrong, "over": [*view, 1], "no_op": None},
        {"partial": [True, False, False], "wrong": [a == b for a, b in zip(wrong, view, strict=True)],
         "over": [True] * 3, "no_op": [False] * 3}, None,
    )  # fmt: skip


def addition(rng: random.Random, k: int) -> Drawn:
    """Chemistry: the product of adding bromine to a double bond, in the same line notation."""
    length = rng.choice((5, 6))
    start = rng.randint(1, length - 3)
    chain = [(50 + 260 / (length - 1) * i, 150 - 50 * (i % 2)) for i in range(length)]

    def draw(state: tuple[bool, Sequence[int], bool]) -> Image:
        double, bromine, dark = state
        paper, ink = ((35, 40, 60), (240, 240, 240)) if dark else (PAPER, INK)
        pen = Pen(paper)
        pen.line(*chain, color=ink, width=3)
        if double:
            (x0, y0), (x1, y1) = chain[start], chain[start + 1]
            dx, dy = x1 - x0, y1 - y0
            aside = (-7 * dy / (dx * dx + dy * dy) ** 0.5, 7 * dx / (dx * dx + dy * dy) ** 0.5)
            ends = [(x0 + t * dx + aside[0], y0 + t * dy + aside[1]) for t in (0.12, 0.88)]
            pen.line(*ends, color=ink, width=3)
        for i in bromine:
            x, y = chain[i]
            way = -1 if i % 2 else 1
            pen.line((x, y), (x, y + 34 * way), color=ink, width=3)
            pen.text(x, y + 48 * way, "Br", 18, ink)
        return pen.picture()

    def around(i: int) -> Box:
        x, y = chain[i]
        low, high = (y + 6, y + 62) if i % 2 == 0 else (y - 62, y - 6)
        return (int(x) - 16, int(x) + 17, int(low), int(high))

    (xa, ya), (xb, yb) = chain[start], chain[start + 1]
    bond = (int(xa) + 6, int(xb) - 5, int(min(ya, yb)) + 4, int(max(ya, yb)) + 12)
    points = [
        (at("The double bond is a single bond now", bond), 0.4),
        (at("One carbon of the former double bond carries Br", around(start)), 0.3),
        (at("The other carbon of the former double bond carries Br", around(start + 1)), 0.3),
    ]
    far = [i for i in range(length) if i not in (start, start + 1)][:2]
    both = (start, start + 1)
    return build(
        f"chemistry_organic_{k:03d}", "Organic chemistry", "style",
        ("Draw the product of the addition of bromine to this compound.",
         "Make the double bond a single one and attach Br to both of its carbon atoms by a vertical bond."),
        points, draw,
        {"original": (True, (), False), "solved": (False, both, False), "partial": (False, (start,), False),
         "wrong": (True, far, False), "over": (False, both, True), "no_op": (True, (), False)},
        {"partial": [True, True, False], "wrong": [False] * 3, "over": [True] * 3, "no_op": [False] * 3}, 0,
    )  # fmt: skip
