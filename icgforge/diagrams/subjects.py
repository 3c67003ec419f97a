"""Drawn tasks in the form of GRADE: bar chart, map, triads, each with original, reference and faulty edits.

A subject is a function of a random generator; it draws every picture from a state, so that the
reference and each edit differ from the original in exactly what is stated.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

from icgforge.diagrams.pen import BLUE, FILLS, INK, PAPER, RED, Box, Drawn, Pen, at, build

if TYPE_CHECKING:
    from PIL.Image import Image


def bar_chart(rng: random.Random, k: int) -> Drawn:
    """Mathematics: a bar is missing that gives the series a known mean."""
    values = [rng.randint(2, 9) for _ in range(3)]
    goal = next(m for m in rng.sample(range(4, 8), 4) if 2 <= 4 * m - sum(values) <= 10)
    last = 4 * goal - sum(values)
    x = [50 + 75 * i for i in range(4)]

    def draw(state: tuple[Sequence[int], int | None, bool]) -> Image:
        heights, bar, label = state
        pen = Pen()
        pen.line((38, 20), (38, 230), (345, 230))
        for tick in range(0, 11, 2):
            pen.line((34, 230 - 20 * tick), (38, 230 - 20 * tick))
            pen.text(22, 230 - 20 * tick, str(tick), 13)
        for i, (name, value) in enumerate(zip("ABCD", [*heights, bar], strict=True)):
            pen.text(x[i] + 25, 246, name)
            if value is not None:
                pen.box(x[i], 230 - 20 * value, x[i] + 50, 230, fill=BLUE)
            if value is not None and (i < 3 or label):
                pen.text(x[i] + 25, 218, str(value), 20, PAPER)
        return pen.picture()

    column = (x[3] - 4, x[3] + 55, 10, 208)
    number = (x[3] + 13, x[3] + 38, 209, 228)
    points = [
        (at(f"The bar D reaches up to {last}", column), 0.5),
        (at(f"The bar D carries the number {last}", number), 0.2),
        (at("The bars A, B and C stand as before", (44, x[2] + 56, 10, 236)), 0.3),
    ]
    taller = [values[0] + (1 if values[0] < 9 else -1), *values[1:]]
    other = last - 2 if last > 4 else last + 2
    return build(
        f"math_statistics_{k:03d}", "Statistics", "overall",
        (f"Add bar D, with its number, so that the mean of the four bars is {goal}.",
         f"Draw bar D up to {last}, in the blue of the others, and write {last} at its foot."),
        points, draw,
        {"original": (values, None, False), "solved": (values, last, True), "partial": (values, last, False),
         "wrong": (values, other, True), "over": (taller, last, True), "no_op": (values, None, False)},
        {"partial": [True, False, True], "wrong": [False, False, True], "over": [True, True, False],
         "no_op": [False, False, True]}, 1,
    )  # fmt: skip


_MAP = ((20, 20, 120, 130), (120, 20, 240, 90), (240, 20, 340, 130), (20, 130, 150, 240), (150, 130, 340, 240),
        (120, 90, 240, 130))  # fmt: skip
_BORDERS = ((0, 1), (0, 3), (0, 5), (1, 2), (1, 5), (2, 4), (2, 5), (3, 4), (3, 5), (4, 5))


def map_colors(rng: random.Random, k: int) -> Drawn:
    """Geography: two regions are blank, and no two neighbours may share one of four colours."""
    names = list(FILLS)
    good = [c for c in product(names, repeat=6) if all(c[a] != c[b] for a, b in _BORDERS)]
    # Both blank regions have neighbours of three colours, so that one colour is left for each.
    colors = rng.choice([c for c in good if len({c[0], c[2], c[5]}) == 3 == len({c[2], c[3], c[5]})])
    blank = (1, 4)

    def draw(state: Sequence[str | None]) -> Image:
        pen = Pen()
        for i, ((x0, y0, x1, y1), color) in enumerate(zip(_MAP, state, strict=True)):
            pen.box(x0, y0, x1, y1, fill=FILLS[color] if color else PAPER)
            pen.text((x0 + x1) / 2, (y0 + y1) / 2, "PQRSTU"[i])
        return pen.picture()

    def with_(changes: Mapping[int, str | None]) -> list[str | None]:
        return [changes.get(i, c) for i, c in enumerate(colors)]

    def inside(i: int) -> Box:
        x0, y0, x1, y1 = _MAP[i]
        return (x0 + 3, x1 - 3, y0 + 3, y1 - 3)

    wrong = {i: next(n for n in names if n != colors[i]) for i in blank}
    changed = next(n for n in names if n != colors[3])
    points = [(at(f"Region {'PQRSTU'[i]} is {colors[i]}", inside(i)), 0.5) for i in blank]
    return build(
        f"geography_map_{k:03d}", "Map colouring", "overall",
        ("Colour the blank regions with the four colours in use so that no two neighbours are alike.",
         f"Fill region Q with {colors[1]} and region T with {colors[4]}, in the tones already in use."),
        points, draw,
        {"original": with_(dict.fromkeys(blank)), "solved": with_({}), "partial": with_({4: None}),
         "wrong": with_(wrong), "over": with_({3: changed}), "no_op": with_(dict.fromkeys(blank))},
        {"partial": [True, False], "wrong": [False, False], "over": [True, True], "no_op": [False, False]}, 1,
    )  # fmt: skip


def triads(rng: random.Random, k: int) -> Drawn:
    """Music: two triads in root position lack their fifth."""
    roots = rng.sample(range(5), 2)  # steps above the lowest line
    x = (130, 270)

    def y_of(step: int) -> int:
        return 180 - 10 * step

    def draw(state: tuple[Sequence[int | None], tuple[int, int, int]]) -> Image:
        fifths, ink = state
        pen = Pen()
        for line in range(5):
            pen.line((30, 180 - 20 * line), (330, 180 - 20 * line), width=1)
        for bar in (30, 200, 330):
            pen.line((bar, 100), (bar, 180))
        for middle, root, fifth in zip(x, roots, fifths, strict=True):
            for step, color in ((root, ink), (root + 2, ink), (fifth, INK)):
                if step is not None:
                    pen.disc(middle, y_of(step), 11, 8, fill=color, edge=color)
        pen.text(130, 220, "bar 1", 14)
        pen.text(270, 220, "bar 2", 14)
        return pen.picture()

    right = [r + 4 for r in roots]

    def here(i: int) -> Box:
        y = y_of(right[i])
        return (x[i] - 16, x[i] + 17, y - 11, y + 12)

    points = [
        (at(f"Bar {i + 1} has a note head a fifth above the root, as part of a triad", here(i)), 0.5)
        for i in (0, 1)
    ]
    where = ["line" if s % 2 == 0 else "space" for s in right]
    return build(
        f"music_harmony_{k:03d}", "Harmony", "overall",
        ("Both bars hold root and third of a triad in root position. Add the note that is missing in each.",
         f"Add a filled note head above the two others: in bar 1 on {where[0]} {right[0] // 2 + 1} from below, in bar 2 "
         f"on {where[1]} {right[1] // 2 + 1} from below."),
        points, draw,
        {"original": ([None, None], INK), "solved": (right, INK), "partial": ([right[0], None], INK),
         "wrong": ([s + 1 for s in right], INK), "over": (right, RED), "no_op": ([None, None], INK)},
        {"partial": [True, False], "wrong": [False, False], "over": [True, True], "no_op": [False, False]}, 1,
    )  # fmt: skip
