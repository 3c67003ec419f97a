"""Edited mazes whose fault is known, to see what the judge makes of them.

The pen here is not the one that draws the requests (`mazes.draw`): lines of any width, place and
wobble, four times finer than the picture and scaled down, several looks of a maze, and what image
models do to a picture. Each kind is a line of `KINDS`.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from icgforge.mazes.mazes import carve, make_pairs
from icgforge.mazes.requests import Pair, solve
from icgkit.bench.dod.maze import Cell, Maze
from icgkit.bench.dod.maze_judge import VERDICTS, judge
from icgkit.files import project_root

if TYPE_CHECKING:
    import polars as pl
    from PIL.Image import Image

Color = tuple[int, int, int]
Point = tuple[float, float]

_FINE = 3
_CELL = 48


@dataclass(frozen=True)
class Look:
    """How a maze is drawn: colours, grid lines, a margin in pixels (with numbers), how the ends are marked."""

    wall: Color = (173, 216, 230)
    floor: Color = (255, 255, 255)
    start: Color = (0, 160, 0)
    end: Color = (220, 0, 0)
    lines: Color | None = None
    margin: int = 0
    numbers: bool = False
    outside: Color = (250, 250, 246)
    round: bool = False


REAL = Look((169, 209, 225), (255, 255, 255), (76, 184, 93), (222, 73, 60), (214, 222, 226))
"""The look of the public mazes, as far as public pictures of that style show it."""
NUMBERED = Look(REAL.wall, REAL.floor, REAL.start, REAL.end, REAL.lines, 30, numbers=True)


@dataclass(frozen=True)
class Line:
    """How a path is drawn: width and offset in pixels of 48 a cell, wobble, colour, dashes (on, off)."""

    width: float = 14
    offset: Point = (0, 0)
    wobble: float = 0
    color: Color = (225, 20, 20)
    dash: tuple[float, float] | None = None
    rounded: bool = True
    fill: bool = False


@dataclass(frozen=True)
class Kind:
    """What is done: look, line, fault (see `FAULTS`), what happens to the picture after it, the verdict due."""

    due: str = "valid"
    look: Look = Look()
    line: Line = Line()
    fault: str = ""
    amount: float = 0
    after: tuple[tuple[str, float], ...] = ()
    tags: tuple[str, ...] = field(default=())


class Edited(NamedTuple):
    """A maze with an edited picture: what was done to it, the verdict due, the cells that it was done to, the draw."""

    pair_id: str
    maze: Maze
    fault: str
    due: str
    cells: tuple[Cell, ...]
    image: Image
    draw: int


class _Sheet:
    """A picture drawn finely, in cells; points are (column, row)."""

    def __init__(self, maze: Maze, look: Look) -> None:
        from PIL import Image, ImageDraw

        self.maze, self.look = maze, look
        self.unit = _CELL * _FINE
        self.pad = look.margin * _FINE
        side = maze.size * self.unit + 2 * self.pad
        self.image = Image.new("RGB", (side, side), look.outside)
        self.pen = ImageDraw.Draw(self.image)
        for r, row in enumerate(maze.rows):
            for c, kind in enumerate(row):
                self.box((r, c), look.wall if kind == "#" else look.floor)
        if look.lines:
            for k in range(maze.size + 1):
                self.stroke([(k, 0), (k, maze.size)], 1, look.lines)
                self.stroke([(0, k), (maze.size, k)], 1, look.lines)
        for cell, color in ((maze.start, look.start), (maze.end, look.end)):
            self.mark(cell, color)
        if look.numbers:
            from PIL import ImageFont

            font = ImageFont.load_default(13 * _FINE)
            for k in range(maze.size):
                for place in ((k + 0.5, -0.3), (-0.3, k + 0.5)):
                    self.pen.text(self.at(place), str(k), fill=(70, 74, 80), font=font, anchor="mm")

    def at(self, point: Point) -> Point:
        return point[0] * self.unit + self.pad, point[1] * self.unit + self.pad

    def box(self, cell: Cell, color: Color, inset: float = 0) -> None:
        r, c = cell
        (x0, y0), (x1, y1) = self.at((c + inset, r + inset)), self.at((c + 1 - inset, r + 1 - inset))
        self.pen.rectangle((x0, y0, x1 - 1, y1 - 1), fill=color)

    def mark(self, cell: Cell, color: Color) -> None:
        r, c = cell
        if self.look.round:
            self.disc((c + 0.5, r + 0.5), 34, color)
        else:
            self.box(cell, color)

    def disc(self, point: Point, size: float, color: Color) -> None:
        (x, y), half = self.at(point), size * _FINE / 2
        self.pen.ellipse((x - half, y - half, x + half, y + half), fill=color)

    def stroke(self, points: Sequence[Point], width: float, color: Color, *, rounded: bool = False) -> None:
        spots = [self.at(p) for p in points]
        self.pen.line(spots, fill=color, width=max(round(width * _FINE), 1))
        if rounded:
            half = width * _FINE / 2
            for x, y in spots:
                self.pen.ellipse((x - half, y - half, x + half, y + half), fill=color)

    def done(self) -> Image:
        return self.image.reduce(_FINE)


def _middle(cell: Cell) -> Point:
    return cell[1] + 0.5, cell[0] + 0.5


def _trace(path: Sequence[Cell], line: Line, rng: random.Random) -> list[Point]:
    """Return the points of a line over cells, eight a step, with its offset and wobble."""
    spots: list[Point] = []
    for (x0, y0), (x1, y1) in pairwise([_middle(c) for c in path]):
        spots += [(x0 + (x1 - x0) * k / 8, y0 + (y1 - y0) * k / 8) for k in range(8)]
    spots.append(_middle(path[-1]))
    dx, dy = (v / _CELL for v in line.offset)
    if not line.wobble:
        return [(x + dx, y + dy) for x, y in spots]
    waves = [(rng.uniform(0.5, 1.3), rng.uniform(0, 6.28)) for _ in range(4)]
    far = line.wobble / _CELL / 2
    return [
        (
            x + dx + far * sum(np.sin(k / 8 * 6.28 * f / 1.7 + p) for f, p in waves[:2]),
            y + dy + far * sum(np.sin(k / 8 * 6.28 * f / 1.7 + p) for f, p in waves[2:]),
        )
        for k, (x, y) in enumerate(spots)
    ]


def _draw_line(sheet: _Sheet, path: Sequence[Cell], line: Line, rng: random.Random) -> None:
    if line.fill:
        for cell in path[1:-1]:
            sheet.box(cell, line.color, inset=(1 - line.width / _CELL) / 2)
        return
    spots = _trace(path, line, rng)
    if line.dash is None:
        sheet.stroke(spots, line.width, line.color, rounded=line.rounded)
        return
    on, off = (v / _CELL for v in line.dash)
    walked = 0.0
    for a, b in pairwise(spots):
        for k in range(6):
            p, q = (tuple(a[i] + (b[i] - a[i]) * t / 6 for i in (0, 1)) for t in (k, k + 1))
            if walked % (on + off) < on:
                sheet.stroke([p, q], line.width, line.color)  # type: ignore[list-item]
            walked += float(np.hypot(q[0] - p[0], q[1] - p[1]))


class _Spoilt(NamedTuple):
    """What a fault leaves: the path to draw (None: nothing), cells it was done to, what is drawn after the path."""

    path: list[Cell] | None
    cells: Sequence[Cell] = ()
    after: Callable[[_Sheet, Line], None] = lambda sheet, line: None


def _corners(path: Sequence[Cell]) -> list[int]:
    return [
        k
        for k in range(2, len(path) - 2)
        if path[k - 1][0] != path[k + 1][0] and path[k - 1][1] != path[k + 1][1]
    ]


def _beside(maze: Maze, path: Sequence[Cell], wall: bool) -> list[tuple[int, Cell]]:
    """Pairs of a place on the path and a wall (or floor) cell beside it that is not on the path."""
    found = []
    for k, (r, c) in enumerate(path[2:-2], 2):
        for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            cell = (r + dr, c + dc)
            if cell not in path and maze.floor(cell) != wall:
                found.append((k, cell))
    return found


def _gap(maze: Maze, path: list[Cell], rng: random.Random, amount: float) -> _Spoilt:
    k = rng.randrange(2, len(path) - 3)
    a, b = _middle(path[k]), _middle(path[k + 1])
    t = rng.uniform(0.2, 0.8)
    spot = (a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t)

    def rub(sheet: _Sheet, line: Line) -> None:
        half = amount / _CELL / 2
        x, y = sheet.at(spot)
        long, across = half * sheet.unit, 0.499 * sheet.unit
        w, h = (long, across) if a[1] == b[1] else (across, long)
        sheet.pen.rectangle((x - w, y - h, x + w - 1, y + h - 1), fill=sheet.look.floor)

    return _Spoilt(path, [path[k], path[k + 1]], rub)


def _short(maze: Maze, path: list[Cell], rng: random.Random, amount: float) -> _Spoilt:
    n = int(amount)
    return _Spoilt(path[:-n] if rng.random() < 0.5 else path[n:], [*path[:n], *path[-n:]])


def _missing(maze: Maze, path: list[Cell], rng: random.Random, amount: float) -> _Spoilt:
    k = rng.randrange(2, len(path) - 3)
    first, second = path[: k + 1], path[k + 1 :]

    def rest(sheet: _Sheet, line: Line) -> None:
        _draw_line(sheet, second, line, random.Random(1))

    return _Spoilt(first, [path[k], path[k + 1]], rest)


def _diagonal(maze: Maze, path: list[Cell], rng: random.Random, amount: float) -> _Spoilt | None:
    if not (corners := _corners(path)):
        return None
    k = rng.choice(corners)
    return _Spoilt([*path[:k], *path[k + 1 :]], [path[k - 1], path[k], path[k + 1]])


def _shortcut(maze: Maze, path: list[Cell], rng: random.Random, amount: float) -> _Spoilt | None:
    where = {cell: k for k, cell in enumerate(path)}
    cuts = [
        (k, (r + dr, c + dc), where[r + 2 * dr, c + 2 * dc])
        for (r, c), k in where.items()
        for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0))
        if not maze.floor((r + dr, c + dc)) and where.get((r + 2 * dr, c + 2 * dc), -1) > k
    ]
    if not cuts:
        return None
    k, wall, m = rng.choice(cuts)
    return _Spoilt([*path[: k + 1], wall, *path[m:]], [wall])


def _straight(maze: Maze, path: list[Cell], rng: random.Random, amount: float) -> _Spoilt | None:
    (r0, c0), (r1, c1) = maze.start, maze.end
    down = [(r, c0) for r in range(r0, r1, 1 if r1 > r0 else -1)]
    way = [*down, *((r1, c) for c in range(c0, c1, 1 if c1 > c0 else -1)), maze.end]
    crossed = [c for c in way if not maze.floor(c)]
    return _Spoilt(way, crossed) if crossed else None  # else the straight way is the right one


def _spike(maze: Maze, path: list[Cell], rng: random.Random, amount: float) -> _Spoilt | None:
    if not (places := _beside(maze, path, wall=True)):
        return None
    k, wall = rng.choice(places)
    far = 0.5 + amount / _CELL

    def draw(sheet: _Sheet, line: Line) -> None:
        (x0, y0), (x1, y1) = _middle(path[k]), _middle(wall)
        sheet.stroke([(x0, y0), (x0 + (x1 - x0) * far, y0 + (y1 - y0) * far)], line.width, line.color)

    return _Spoilt(path, [wall], draw)


def _branch(maze: Maze, path: list[Cell], rng: random.Random, amount: float) -> _Spoilt | None:
    if not (places := _beside(maze, path, wall=False)):
        return None
    k, cell = rng.choice(places)
    far = 0.5 + amount / _CELL

    def draw(sheet: _Sheet, line: Line) -> None:
        (x0, y0), (x1, y1) = _middle(path[k]), _middle(cell)
        sheet.stroke([(x0, y0), (x0 + (x1 - x0) * far, y0 + (y1 - y0) * far)], line.width, line.color)

    return _Spoilt(path, [cell, path[k]], draw)


def _pick(maze: Maze, path: Sequence[Cell], rng: random.Random, kind: str) -> Cell | None:
    cells = [
        (r, c)
        for r in range(maze.size)
        for c in range(maze.size)
        if maze.floor((r, c)) == (kind == "floor") and (r, c) not in path
        and (kind != "inner wall" or (0 < r < maze.size - 1 and 0 < c < maze.size - 1))
    ]  # fmt: skip
    return rng.choice(cells) if cells else None


def _painted(kind: str, color: Color | None, half: bool = False) -> Callable[..., _Spoilt | None]:
    def make(maze: Maze, path: list[Cell], rng: random.Random, amount: float) -> _Spoilt | None:
        cell = _pick(maze, path, rng, kind)
        if cell is None:
            return None

        def draw(sheet: _Sheet, line: Line) -> None:
            paint = color or (sheet.look.floor if kind != "floor" else sheet.look.wall)
            r, c = cell
            if half:
                (x0, y0), (x1, y1) = sheet.at((c, r)), sheet.at((c + 0.5, r + 1))
                sheet.pen.rectangle((x0, y0, x1 - 1, y1 - 1), fill=paint)
            else:
                sheet.box(cell, paint)

        return _Spoilt(path, [cell], draw)

    return make


def _blot(kind: str, color: Color) -> Callable[..., _Spoilt | None]:
    def make(maze: Maze, path: list[Cell], rng: random.Random, amount: float) -> _Spoilt | None:
        cell = _pick(maze, path, rng, kind)
        if cell is None:
            return None
        return _Spoilt(path, [cell], lambda sheet, line: sheet.disc(_middle(cell), amount, color))

    return make


def _end(which: str, color: Color | None) -> Callable[..., _Spoilt]:
    def make(maze: Maze, path: list[Cell], rng: random.Random, amount: float) -> _Spoilt:
        cell = maze.start if which == "start" else maze.end
        kept = path[1:] if which == "start" else path[:-1]
        return _Spoilt(kept, [cell], lambda sheet, line: sheet.box(cell, color or sheet.look.floor))

    return make


def _other(maze: Maze, path: list[Cell], rng: random.Random, amount: float) -> _Spoilt:
    return _Spoilt(path, [])


def _nothing(maze: Maze, path: list[Cell], rng: random.Random, amount: float) -> _Spoilt:
    return _Spoilt(None, [])


FAULTS: dict[str, Callable[..., _Spoilt | None]] = {
    "": _other, "gap": _gap, "short": _short, "missing step": _missing, "diagonal": _diagonal, "shortcut": _shortcut,
    "straight": _straight, "spike": _spike, "branch": _branch, "no line": _nothing, "another maze": _other, "mirrored": _other,
    "wall removed": _painted("inner wall", None), "half a wall removed": _painted("inner wall", None, half=True),
    "outer wall removed": _painted("wall", None), "wall grey": _painted("wall", (120, 120, 120)),
    "wall green": _painted("wall", (150, 230, 150)), "floor walled": _painted("floor", None),
    "floor yellow": _painted("floor", (255, 244, 170)), "floor grey": _painted("floor", (208, 208, 208)),
    "floor half violet": _painted("floor", (225, 190, 240), half=True), "blue blot": _blot("floor", (50, 90, 220)),
    "black blot": _blot("floor", (20, 20, 20)), "red spot": _blot("floor", (225, 20, 20)), "blot on wall": _blot("inner wall", (40, 60, 200)),
    "start erased": _end("start", None), "start blue": _end("start", (60, 90, 220)), "end erased": _end("end", None),
    "end blue": _end("end", (60, 90, 220)),
}  # fmt: skip
"""Makers of faults: `(maze, path, rng, amount)` to what is drawn, or None where the maze cannot have it."""


def jpeg(image: Image, quality: int) -> Image:
    """Return the picture after JPEG compression."""
    from PIL import Image as images

    stream = io.BytesIO()
    image.save(stream, "JPEG", quality=quality)
    return images.open(stream, formats=["JPEG"]).convert("RGB")


def resized(image: Image, factor: float) -> Image:
    """Return the picture at another size (Lanczos)."""
    from PIL import Image as images

    size = (round(image.width * factor), round(image.height * factor))
    return image.resize(size, images.Resampling.LANCZOS)


def _warp(image: Image, far: float) -> Image:
    """Move each pixel by up to so many, in slow waves."""
    from PIL import Image as images
    from scipy.ndimage import map_coordinates

    pixels = np.asarray(image, dtype=float)
    y, x = np.mgrid[: pixels.shape[0], : pixels.shape[1]].astype(float)
    dy, dx = far * np.sin(x / 61 + 0.7) * np.cos(y / 83), far * np.cos(x / 71) * np.sin(y / 57 + 0.3)
    planes = [map_coordinates(pixels[..., k], [y + dy, x + dx], order=1, mode="nearest") for k in range(3)]
    return images.fromarray(np.stack(planes, axis=-1).round().astype(np.uint8))


def _noise(image: Image, sigma: float) -> Image:
    from PIL import Image as images

    rng = np.random.default_rng(5)
    pixels = np.asarray(image, dtype=float)
    return images.fromarray(
        np.clip(pixels + rng.normal(0, sigma, pixels.shape), 0, 255).round().astype(np.uint8)
    )


def _blurred(image: Image, radius: float) -> Image:
    from PIL import ImageFilter

    return image.filter(ImageFilter.GaussianBlur(radius))


def _toned(image: Image, factors: Sequence[float]) -> Image:
    return image.point([min(round(v * f), 255) for f in factors for v in range(256)])


def _moved(image: Image, by: float) -> Image:
    from PIL import Image as images

    shown = images.new("RGB", image.size, (255, 255, 255))
    shown.paste(image, (round(by), round(by / 2)))
    return shown


def _turned(image: Image, degrees: float) -> Image:
    from PIL import Image as images

    return image.rotate(degrees, resample=images.Resampling.BICUBIC, fillcolor=(255, 255, 255))


def _star(image: Image, size: float) -> Image:
    """Put a pale four-pointed mark into the lower right corner."""
    from PIL import ImageDraw

    shown = image.copy()
    x, y, a = image.width - 1.1 * size, image.height - 1.1 * size, size / 2
    points = [(x, y - a), (x + a / 4, y - a / 4), (x + a, y), (x + a / 4, y + a / 4), (x, y + a), (x - a / 4, y + a / 4),
              (x - a, y), (x - a / 4, y - a / 4)]  # fmt: skip
    ImageDraw.Draw(shown).polygon(points, fill=(236, 240, 244))
    return shown


def _square(image: Image, side: float) -> Image:
    return image.resize((round(side), round(side)))


def _stretched(image: Image, factor: float) -> Image:
    return image.resize((round(image.width * factor), image.height))


CHANGES: dict[str, Callable[[Image, Any], Image]] = {
    "jpeg": lambda image, v: jpeg(image, int(v)), "size": resized, "side": _square, "blur": _blurred, "noise": _noise,
    "warp": _warp, "turn": _turned, "move": _moved, "mark": _star, "stretch": _stretched,
    "dark": lambda image, v: _toned(image, (v, v, v)), "warm": lambda image, v: _toned(image, (1, 1 - v / 2, 1 - v)),
    "crop": lambda image, v: image.crop((int(v), int(v), image.width - int(v), image.height - int(v))),
}  # fmt: skip
"""What happens to a picture as a whole: `(image, strength)` to the picture after it."""

_STYLES = {
    "real style": REAL, "real style, numbers in the margin": NUMBERED,
    "grey walls": Look((150, 150, 150), (250, 250, 250)), "dark walls": Look((40, 44, 70), (240, 240, 240)),
    "cream floor": Look((160, 190, 215), (252, 246, 228)), "grid lines": Look(lines=(180, 190, 196)),
    "other green and red": Look(start=(60, 190, 60), end=(240, 60, 50)), "round ends": Look(round=True),
    "white margin of 30 px": Look(margin=30, outside=(255, 255, 255)), "grey margin of 16 px": Look(margin=16, outside=(225, 225, 225)),
}  # fmt: skip


def _kinds() -> dict[str, Kind]:
    kinds: dict[str, Kind] = {"plain": Kind()}
    for w in (2, 3, 4, 5, 6, 8, 10, 18, 22, 28, 36, 44):
        kinds[f"line {w} px"] = Kind(line=Line(w))
    kinds["cells filled, 46 px"] = Kind(line=Line(46, fill=True))
    kinds["cells filled whole"] = Kind(line=Line(48, fill=True))
    for name, offset in (("4 px", (4, 4)), ("6 px", (-6, 6)), ("8 px", (8, -8))):
        kinds[f"line {name} off the centre"] = Kind(line=Line(10, offset=offset))
    for far in (3, 6, 9):
        kinds[f"wobble {far} px"] = Kind(line=Line(10, wobble=far))
    kinds["thin wobble"] = Kind(line=Line(4, wobble=6))
    for name, color in (("salmon", (250, 128, 114)), ("dark red", (150, 0, 0)), ("orange red", (255, 69, 0))):
        kinds[f"{name} line"] = Kind(line=Line(color=color))
    kinds["square joins"] = Kind(line=Line(rounded=False, width=12))
    kinds["dashes with gaps of 2 px"] = Kind(line=Line(12, dash=(22, 2), rounded=False))
    for name, look in _STYLES.items():
        kinds[name] = Kind(look=look)
    kinds["real style, thin line"] = Kind(look=REAL, line=Line(5))
    kinds["numbers in the margin, wide line"] = Kind(look=NUMBERED, line=Line(26))
    after = {
        "JPEG 85": (("jpeg", 85),), "JPEG 60": (("jpeg", 60),), "JPEG 25": (("jpeg", 25),), "256 px": (("side", 256),),
        "512 px": (("side", 512),), "1024 px": (("side", 1024),), "blur 1.5": (("blur", 1.5),), "blur 3": (("blur", 3),),
        "noise 10": (("noise", 10),), "noise 20": (("noise", 20),), "warp 1.5 px": (("warp", 1.5),), "warp 3 px": (("warp", 3),),
        "turned 0.7 deg": (("turn", 0.7),), "turned 1.5 deg": (("turn", -1.5),), "cropped 4 px": (("crop", 4),),
        "cropped 8 px": (("crop", 8),), "moved 3 px": (("move", 3),), "moved 4 px": (("move", 4),), "moved 8 px": (("move", 8),),
        "10 % darker": (("dark", 0.9),), "20 % darker": (("dark", 0.8),), "warm cast": (("warm", 0.15),),
        "stretched by 1.15": (("stretch", 1.15),), "watermark in a corner": (("mark", 30),),
    }  # fmt: skip
    for name, steps in after.items():
        kinds[name] = Kind(after=steps)
    model = (("side", 1024), ("warp", 2.5), ("blur", 1), ("noise", 4), ("jpeg", 90))
    kinds["like a model"] = Kind(look=Look(lines=(190, 200, 206)), line=Line(10, wobble=3), after=model)
    kinds["like a model, real style"] = Kind(look=NUMBERED, line=Line(12, wobble=4), after=model)
    kinds["like RISEBench"] = Kind(
        line=Line(3.6, offset=(5, -4), wobble=4), after=(("side", 1024), ("mark", 60), ("jpeg", 92))
    )
    for amount in (8, 10, 14, 20, 26):
        kinds[f"gap of {amount} px"] = Kind("path broken", fault="gap", amount=amount)
    kinds["gap of 14 px, thin"] = Kind("path broken", line=Line(4), fault="gap", amount=14)
    kinds["gap of 14 px, JPEG 60"] = Kind("path broken", fault="gap", amount=14, after=(("jpeg", 60),))
    kinds["dots, gaps of 12 px"] = Kind("path broken", line=Line(12, dash=(12, 12), rounded=False))
    kinds["dashes, gaps of 9 px"] = Kind("path broken", line=Line(10, dash=(15, 9), rounded=False))
    kinds["missing step"] = Kind("path broken", fault="missing step")
    kinds["missing step, wide"] = Kind("path broken", fault="missing step", line=Line(24, rounded=False))
    kinds["stops two cells short"] = Kind("path broken", fault="short", amount=2)
    kinds["stops four cells short, real style"] = Kind("path broken", look=REAL, fault="short", amount=4)
    for w in (4, 8, 14, 20):
        kinds[f"corner cut, {w} px"] = Kind("diagonal step", line=Line(w), fault="diagonal")
    kinds["corner cut, warped"] = Kind(
        "diagonal step", line=Line(10), fault="diagonal", after=(("warp", 1.5), ("jpeg", 85))
    )
    for w in (4, 14, 30):
        kinds[f"through a wall, {w} px"] = Kind("wall crossed", line=Line(w), fault="shortcut")
    kinds["through a wall, real style"] = Kind("wall crossed", look=NUMBERED, fault="shortcut")
    kinds["straight through the walls"] = Kind("wall crossed", fault="straight")
    for amount in (10, 18, 30):
        kinds[f"spike of {amount} px into a wall"] = Kind(
            "wall crossed", line=Line(10), fault="spike", amount=amount
        )
    for amount in (18, 30, 48):
        kinds[f"branch of {amount} px"] = Kind("side branch", line=Line(12), fault="branch", amount=amount)
    kinds["red spot beside the way"] = Kind("side branch", fault="red spot", amount=16)
    for fault in ("wall removed", "half a wall removed", "outer wall removed", "wall grey", "wall green"):
        kinds[fault] = Kind("wall changed", fault=fault)
    kinds["wall removed, darker"] = Kind("wall changed", fault="wall removed", after=(("dark", 0.85),))
    kinds["wall removed, like a model"] = Kind("wall changed", fault="wall removed", look=REAL, after=model)
    kinds["blot of 20 px on a wall"] = Kind("wall changed", fault="blot on wall", amount=20)
    kinds["another maze"] = Kind("wall changed", fault="another maze")
    kinds["mirrored"] = Kind("wall changed", fault="mirrored")
    for fault in ("floor walled", "floor yellow", "floor grey", "floor half violet"):
        kinds[fault] = Kind("floor changed", fault=fault)
    for fault, amount in (("blue blot", 16), ("blue blot", 26), ("black blot", 16)):
        kinds[f"{fault} of {amount} px"] = Kind("floor changed", fault=fault, amount=amount)
    for fault in ("start erased", "start blue", "end erased", "end blue"):
        kinds[fault] = Kind("ends changed", fault=fault)
    kinds["start erased, round ends"] = Kind("ends changed", look=Look(round=True), fault="start erased")
    kinds["moved half a cell out"] = Kind("cut off", after=(("move", 28),))
    kinds["cropped 24 px"] = Kind("cut off", after=(("crop", 24),))
    kinds["blue line"] = Kind("floor changed", line=Line(color=(40, 80, 220)))
    kinds["green line"] = Kind("floor changed", line=Line(color=(0, 160, 0)))
    kinds["nothing drawn"] = Kind("no path", fault="no line")
    kinds["nothing drawn, real style"] = Kind("no path", fault="no line", look=NUMBERED)
    return kinds


KINDS = _kinds()
"""Kinds of edits by name."""


def make_edit(pair: Pair, name: str, draw: int, *, seed: int) -> Edited | None:
    """Draw one edit of a pair's feasible maze, or return None if the maze cannot have its fault."""
    rng = random.Random(f"{seed} {name} {draw}")
    kind, maze, path = KINDS[name], pair.feasible, list(pair.path)
    made = FAULTS[kind.fault](maze, path, rng, kind.amount)
    if made is None:
        return None
    shown, way = maze, made.path
    if kind.fault == "mirrored":
        shown = Maze(
            tuple(row[::-1] for row in maze.rows),
            *((r, maze.size - 1 - c) for r, c in (maze.start, maze.end)),
        )
        way = [(r, maze.size - 1 - c) for r, c in path]
        if shown.rows == maze.rows:
            return None
    elif kind.fault == "another maze":
        shown = carve(maze.size, rng)
        way = solve(shown)
    sheet = _Sheet(shown, kind.look)
    if way is not None:
        _draw_line(sheet, way, kind.line, rng)
    made.after(sheet, kind.line)
    image = sheet.done()
    for change, strength in kind.after:
        image = CHANGES[change](image, strength)
    return Edited(pair.pair_id, maze, name, kind.due, tuple(made.cells), image, draw)


def make_edited(
    pairs: Sequence[Pair], each: int = 12, *, kinds: Iterable[str] = tuple(KINDS), seed: int = 42
) -> Iterator[Edited]:
    """Yield edits of mazes, `each` of every kind, the mazes in turn.

    A maze that cannot have a fault (no bend to cut off) is passed over.

    Parameters
    ----------
    pairs : sequence of Pair
        Mazes, used in turn.
    each : int
        How many edits of a kind.
    kinds : iterable of str
        Of `KINDS`.

    Examples
    --------
    >>> from icgforge.mazes.mazes import make_pairs
    >>> [(e.fault, e.due) for e in make_edited(make_pairs(1), 1, kinds=["line 4 px", "gap of 10 px"])]
    [('line 4 px', 'valid'), ('gap of 10 px', 'path broken')]
    """
    at = 0
    for name in kinds:
        made = 0
        for tried in range(20 * each):
            pair = pairs[at % len(pairs)]
            at += 1
            got = make_edit(pair, name, tried, seed=seed)
            if got is not None:
                yield got
                made += 1
            if made == each:
                break


def judge_edited(edited: Iterable[Edited], *, then: Callable[[Image], Image] | None = None) -> pl.DataFrame:
    """Judge edits whose fault is known.

    Parameters
    ----------
    edited : iterable of Edited
        See `make_edited`.
    then : callable, optional
        What is done to each picture before it is judged (a further compression, say).

    Returns
    -------
    polars.DataFrame
        One row an edit: `pair_id`, `draw` (with both and the seed it can be drawn again), `size`, `fault`, `due` (verdict that is due), `verdict` (first
        broken rule, or `valid`), `rules` (all broken ones), `agrees` (valid or not as is due; null where
        the picture is unreadable), `right` (the verdict is the one due), `named` (the due rule is among
        those found), `placed` (the judge names a cell that the fault was done to; null without one), and
        the numbers of `maze_judge.Measured`.
    """
    import polars as pl

    from icgkit.bench.dod.maze_judge import Measured

    rows: list[dict[str, Any]] = []
    for e in edited:
        verdict = judge(e.maze, then(e.image) if then else e.image)
        cells = {c for b in verdict.broken for c in b.cells}
        rows.append(
            {
                "pair_id": e.pair_id, "draw": e.draw, "size": e.maze.size, "fault": e.fault, "due": e.due,
                "verdict": verdict.main, "rules": "; ".join(verdict.rules),
                "agrees": None if verdict.valid is None else verdict.valid == (e.due == "valid"),
                "right": verdict.main == e.due, "named": e.due in verdict.rules or (e.due == "valid" and bool(verdict.valid)),
                "placed": bool(cells & set(e.cells)) if e.cells and not verdict.valid else None,
                **verdict.measured._asdict(),
            }
        )  # fmt: skip
    kinds: dict[str, Any] = {"pair_id": pl.String, "draw": pl.Int64, "size": pl.Int64} | dict.fromkeys(
        ("fault", "due", "verdict", "rules"), pl.String
    )
    kinds |= dict.fromkeys(("agrees", "right", "named", "placed"), pl.Boolean) | dict.fromkeys(
        Measured._fields, pl.Float64
    )
    return pl.DataFrame(rows, schema=kinds)


def confusion(judged: pl.DataFrame) -> pl.DataFrame:
    """Count verdicts by the verdict that is due.

    Returns
    -------
    polars.DataFrame
        One row a due verdict: `due`, `kinds` (how many), `n`, one column a verdict (count), then `agrees`
        (share judged valid or not as is due, unreadable ones left out), `right` (share with the very
        verdict) and `placed` (of those found faulty, share where a cell of the fault is named).
    """
    import polars as pl

    seen = set(judged["verdict"])
    verdicts = [v for v in ("valid", *VERDICTS) if v in seen]
    order = {v: k for k, v in enumerate(("valid", *VERDICTS))}
    return (
        judged.group_by("due", maintain_order=True)
        .agg(
            pl.col("fault").n_unique().cast(pl.Int64).alias("kinds"),
            pl.len().cast(pl.Int64).alias("n"),
            *((pl.col("verdict") == v).sum().cast(pl.Int64).alias(v) for v in verdicts),
            *(pl.col(c).mean().alias(c) for c in ("agrees", "right", "placed")),
        )
        .sort(pl.col("due").replace_strict(order, return_dtype=pl.Int64))
    )


STRENGTHS: dict[str, tuple[float, ...]] = {
    "jpeg": (90, 60, 50, 30, 20, 10, 5), "size": (1.7, 0.8, 0.5, 0.35, 0.25, 0.2, 0.15),
}  # fmt: skip
"""Changes that leave an edit as it is, and how far each is driven to see where the judge gives in."""


def tolerance(edited: Sequence[Edited]) -> pl.DataFrame:
    """Judge the same edits after ever stronger compression and ever smaller size.

    Returns
    -------
    polars.DataFrame
        One row a change and level: `change`, `level` (quality, or factor), `n`, `agrees` (share judged valid
        or not as is due, unreadable ones counted as not), `rejected` (valid edits taken as broken, share
        of the valid), `accepted` (faulty edits taken as valid, share of the faulty), `unreadable` (share of all).
    """
    import polars as pl

    rows = []
    for change, levels in STRENGTHS.items():
        for level in levels:
            got = judge_edited(edited, then=lambda image, a=CHANGES[change], v=level: a(image, v))  # type: ignore[misc]
            fine = got.filter(pl.col("due") == "valid")
            bad = got.filter(pl.col("due") != "valid")
            lost = (got["verdict"] == "unreadable").mean()
            shares = [
                (~fine["verdict"].is_in(["valid", "unreadable"])).mean(),
                (bad["verdict"] == "valid").mean(),
                lost,
            ]
            rows.append((change, float(level), got.height, got["agrees"].fill_null(False).mean(), *shares))
    names = ("agrees", "rejected", "accepted", "unreadable")
    kinds: dict[str, Any] = {"change": pl.String, "level": pl.Float64, "n": pl.Int64} | dict.fromkeys(
        names, pl.Float64
    )
    return pl.DataFrame(rows, schema=kinds, orient="row")


class Judged(NamedTuple):
    """Verdicts on made edits, and where the judge gives in: see `judge_edited`, `tolerance`."""

    edits: pl.DataFrame
    tolerance: pl.DataFrame


def judge_kinds(pairs: Sequence[Pair], n_each: int = 12, n_tolerance: int = 1, *, seed: int = 42) -> Judged:
    """Draw and judge edits of every kind; their compression and size with the seed after it. About two minutes."""
    few = list(make_edited(pairs, n_tolerance, seed=seed + 1))
    return Judged(judge_edited(make_edited(pairs, n_each, seed=seed)), tolerance(few))


def home() -> Path:
    """Return the folder of the kept verdicts."""
    return project_root() / "data" / "bench" / "mazes"


def make(
    out: str | Path = "", *, n_pairs: int = 150, n_each: int = 12, n_tolerance: int = 1, seed: int = 42
) -> Path:
    """Judge edits of every kind and keep the verdicts: `edits.parquet`, `tolerance.parquet`, `made.json`."""
    folder = Path(out) if str(out) else home()
    folder.mkdir(parents=True, exist_ok=True)
    judged = judge_kinds(make_pairs(n_pairs, seed=seed), n_each, n_tolerance, seed=seed)
    for name, frame in judged._asdict().items():
        frame.write_parquet(folder / f"{name}.parquet", compression="zstd")
    asked = {"n_pairs": n_pairs, "n_each": n_each, "n_tolerance": n_tolerance, "seed": seed}
    (folder / "made.json").write_text(json.dumps(asked) + "\n", encoding="utf-8")
    return folder


def load(pairs: Sequence[Pair], n_each: int = 12, n_tolerance: int = 1, *, seed: int = 42) -> Judged:
    """Read the kept verdicts if they were made of the same edits; draw and judge anew otherwise."""
    import polars as pl

    asked = {"n_pairs": len(pairs), "n_each": n_each, "n_tolerance": n_tolerance, "seed": seed}
    kept = home() / "made.json"
    if not kept.is_file() or json.loads(kept.read_text(encoding="utf-8")) != asked:
        return judge_kinds(pairs, n_each, n_tolerance, seed=seed)
    return Judged(*(pl.read_parquet(home() / f"{name}.parquet") for name in Judged._fields))


def first_of(
    judged: pl.DataFrame, faults: Iterable[str], pairs: Sequence[Pair], *, seed: int = 42
) -> list[Edited]:
    """Draw again the first edit of each of these kinds among those that were judged."""
    by_id = {pair.pair_id: pair for pair in pairs}
    rows = [judged.filter(fault=name).row(0, named=True) for name in faults]
    made = [make_edit(by_id[row["pair_id"]], row["fault"], row["draw"], seed=seed) for row in rows]
    return [edit for edit in made if edit is not None]
