"""Drawn tasks in the form of GRADE: six subjects, each with original, reference and faulty edits.

A subject is a function of a random generator; it draws every picture from a state, so that the
reference and each edit differ from the original in exactly what is stated.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image

SIZE = (360, 260)
"""Width and height of every picture, pixels."""
INK, PAPER, RED, BLUE = (30, 30, 30), (255, 255, 255), (214, 39, 40), (70, 120, 180)
FILLS = {
    "yellow": (250, 214, 90),
    "green": (120, 190, 120),
    "violet": (168, 130, 200),
    "pink": (235, 110, 160),
}
EDITS = ("solved", "partial", "wrong", "over", "no_op")
"""Edits that every subject draws; `icgkit.bench.grade_diagrams` derives further ones from `solved`."""

_TWICE = 2

Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class Drawn:
    """A drawn task: what is asked, the points with weights, the pictures, and what holds in each by construction."""

    task_id: str
    sub_task: str
    kind: str
    implicit: str
    explicit: str
    points: tuple[tuple[str, float], ...]
    pictures: Mapping[str, Image]
    met: Mapping[str, tuple[bool, ...]]
    """Edit to which points hold."""
    consistency: Mapping[str, int | None]
    """Edit to its consistency score; None where none is asked for."""


class Pen:
    """Draws in final pixels on a canvas of twice the size, so that lines come out smooth."""

    def __init__(self, paper: tuple[int, int, int] = PAPER) -> None:
        from PIL import Image, ImageDraw

        self._image = Image.new("RGB", (SIZE[0] * _TWICE, SIZE[1] * _TWICE), paper)
        self._draw = ImageDraw.Draw(self._image)

    def line(self, *points: tuple[float, float], color: tuple[int, int, int] = INK, width: int = 2) -> None:
        """Draw a line through points."""
        self._draw.line([(x * _TWICE, y * _TWICE) for x, y in points], fill=color, width=width * _TWICE)

    def box(self, x0: float, y0: float, x1: float, y1: float, fill: Any = None, edge: Any = INK) -> None:
        """Draw a rectangle."""
        self._draw.rectangle([v * _TWICE for v in (x0, y0, x1, y1)], fill=fill, outline=edge, width=3)

    def disc(
        self, x: float, y: float, rx: float, ry: float | None = None, fill: Any = INK, edge: Any = INK
    ) -> None:
        """Draw an ellipse around a point."""
        ry = rx if ry is None else ry
        box = [(x - rx) * _TWICE, (y - ry) * _TWICE, (x + rx) * _TWICE, (y + ry) * _TWICE]
        self._draw.ellipse(box, fill=fill, outline=edge, width=3)

    def text(self, x: float, y: float, words: str, size: int = 15, color: tuple[int, int, int] = INK) -> None:
        """Write words centred on a point."""
        self._draw.text((x * _TWICE, y * _TWICE), words, fill=color, font=_font(size * _TWICE), anchor="mm")

    def picture(self) -> Image:
        """Return the picture in its final size."""
        from PIL import Image

        return self._image.resize(SIZE, Image.Resampling.BOX)


@lru_cache(maxsize=8)
def _font(size: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)


def _at(words: str, box: Box) -> str:
    x0, x1, y0, y1 = box
    return f"{words} (x {x0}-{x1}, y {y0}-{y1})"


def _drawn(
    task_id: str, sub_task: str, kind: str, says: tuple[str, str], points: Sequence[tuple[str, float]],
    draw: Callable[[Any], Image], states: Mapping[str, Any], met: Mapping[str, Sequence[bool]], over: int | None,
) -> Drawn:  # fmt: skip
    pictures = {name: draw(state) for name, state in states.items()}
    consistency = {name: None if kind == "none" else over if name == "over" else 2 for name in EDITS}
    whole = {"solved": [True] * len(points)} | dict(met)
    return Drawn(
        task_id, sub_task, kind, says[0], says[1], tuple(points), pictures,
        {k: tuple(v) for k, v in whole.items()}, consistency,
    )  # fmt: skip


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
        (_at(f"The bar D reaches up to {last}", column), 0.5),
        (_at(f"The bar D carries the number {last}", number), 0.2),
        (_at("The bars A, B and C stand as before", (44, x[2] + 56, 10, 236)), 0.3),
    ]
    taller = [values[0] + (1 if values[0] < 9 else -1), *values[1:]]
    other = last - 2 if last > 4 else last + 2
    return _drawn(
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
    points = [(_at(f"Region {'PQRSTU'[i]} is {colors[i]}", inside(i)), 0.5) for i in blank]
    return _drawn(
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
        for at, root, fifth in zip(x, roots, fifths, strict=True):
            for step, color in ((root, ink), (root + 2, ink), (fifth, INK)):
                if step is not None:
                    pen.disc(at, y_of(step), 11, 8, fill=color, edge=color)
        pen.text(130, 220, "bar 1", 14)
        pen.text(270, 220, "bar 2", 14)
        return pen.picture()

    right = [r + 4 for r in roots]

    def here(i: int) -> Box:
        y = y_of(right[i])
        return (x[i] - 16, x[i] + 17, y - 11, y + 12)

    points = [
        (_at(f"Bar {i + 1} has a note head a fifth above the root, as part of a triad", here(i)), 0.5)
        for i in (0, 1)
    ]
    where = ["line" if s % 2 == 0 else "space" for s in right]
    return _drawn(
        f"music_harmony_{k:03d}", "Harmony", "overall",
        ("Both bars hold root and third of a triad in root position. Add the note that is missing in each.",
         f"Add a filled note head above the two others: in bar 1 on {where[0]} {right[0] // 2 + 1} from below, in bar 2 "
         f"on {where[1]} {right[1] // 2 + 1} from below."),
        points, draw,
        {"original": ([None, None], INK), "solved": (right, INK), "partial": ([right[0], None], INK),
         "wrong": ([s + 1 for s in right], INK), "over": (right, RED), "no_op": ([None, None], INK)},
        {"partial": [True, False], "wrong": [False, False], "over": [True, True], "no_op": [False, False]}, 1,
    )  # fmt: skip


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
    points = [(_at(f"The edge between {e[0]} and {e[1]} is red", along(e)), share) for e in best]
    rest = round(1 - share * len(best), 2)
    points.append(
        (_at(f"The edge between {unused[0][0]} and {unused[0][1]} is not red", along(unused[0])), rest)
    )
    gone = next(e for e in unused if e != unused[0])
    return _drawn(
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
            steps = tuple("".join(sorted(p)) for p in zip(stops, stops[1:], strict=False))
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
            _at(
                f"Column {c + 1} from the left is {view[c]} cubes high", (93 + 60 * c, 147 + 60 * c, 10, 227)
            ),
            weights[c],
        )
        for c in range(3)
    ]
    half = [view[0], *[(v + 1) % 4 for v in view[1:]]]
    return _drawn(
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
    at = rng.randint(1, length - 3)
    chain = [(50 + 260 / (length - 1) * i, 150 - 50 * (i % 2)) for i in range(length)]

    def draw(state: tuple[bool, Sequence[int], bool]) -> Image:
        double, bromine, dark = state
        paper, ink = ((35, 40, 60), (240, 240, 240)) if dark else (PAPER, INK)
        pen = Pen(paper)
        pen.line(*chain, color=ink, width=3)
        if double:
            (x0, y0), (x1, y1) = chain[at], chain[at + 1]
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

    (xa, ya), (xb, yb) = chain[at], chain[at + 1]
    bond = (int(xa) + 6, int(xb) - 5, int(min(ya, yb)) + 4, int(max(ya, yb)) + 12)
    points = [
        (_at("The double bond is a single bond now", bond), 0.4),
        (_at("One carbon of the former double bond carries Br", around(at)), 0.3),
        (_at("The other carbon of the former double bond carries Br", around(at + 1)), 0.3),
    ]
    far = [i for i in range(length) if i not in (at, at + 1)][:2]
    both = (at, at + 1)
    return _drawn(
        f"chemistry_organic_{k:03d}", "Organic chemistry", "style",
        ("Draw the product of the addition of bromine to this compound.",
         "Make the double bond a single one and attach Br to both of its carbon atoms by a vertical bond."),
        points, draw,
        {"original": (True, (), False), "solved": (False, both, False), "partial": (False, (at,), False),
         "wrong": (True, far, False), "over": (False, both, True), "no_op": (True, (), False)},
        {"partial": [True, True, False], "wrong": [False] * 3, "over": [True] * 3, "no_op": [False] * 3}, 0,
    )  # fmt: skip


SUBJECTS: tuple[Callable[[random.Random, int], Drawn], ...] = (
    bar_chart, map_colors, triads, shortest_path, front_view, addition,
)  # fmt: skip
