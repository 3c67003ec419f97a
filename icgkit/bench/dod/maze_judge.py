"""Judge an edited maze by its pixels: which rule broke, where, and by how many pixels.

The picture is registered to the maze first (`maze_read.register`), so size, margin, place and small
turns change no verdict; colours are measured in the picture. The path is a connected component of
red at 48 pixels a cell. Gaps, widths and excursions are measured in those pixels and held against
`Thresholds`. What shows no maze at all is unreadable: pending, not invalid.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import binary_dilation, distance_transform_edt, label, maximum_filter

from icgkit.bench.common import texts
from icgkit.bench.dod.maze import CELL, Cell, Mask, Maze, balanced, greenish, maze_of, red_chroma, reddish
from icgkit.bench.dod.maze_read import READABLE, Found, Frame, find_maze, rectify, register

Links = dict[Cell, dict[Cell, "tuple[int, int] | None"]]
"""Cell to the cells that the line passes to, with the corner of the grid that it passes there, if any."""
VERDICTS = ("unreadable", "cut off", "wall changed", "ends changed", "floor changed", "diagonal step",
         "wall crossed", "side branch", "path broken", "no path")  # fmt: skip
"""Names of the rules; of several broken ones the first here is the cause, later ones may follow from it."""


@dataclass(frozen=True)
class Thresholds:
    """Thresholds of the judge. Lengths are pixels of a picture with 48 a cell, shares 0 to 1.

    gap : longest break that still counts as a continuous line.
    excursion : how far the line may reach into a wall.
    branch : how far red may reach into a cell beside the way before that is a branch.
    corner : how near to a corner the line may pass from cell to cell before that is a diagonal step.
    cut : how much of the outer wall may lie beyond the picture.
    speck : area of red (square pixels) that is taken for noise.
    floor, wall : share of a cell that may have a colour of its own.
    mark : the same for the four corner cells, where generators put their watermark.
    start, end : least share of the cell of an end that must have its colour.
    path : chroma, as a share of that of the line, from which a pixel belongs to the line.
    """

    gap: float = 4
    excursion: float = 6
    branch: float = 12
    corner: float = 9
    cut: float = 14
    speck: float = 24
    floor: float = 0.05
    wall: float = 0.10
    mark: float = 0.5
    start: float = 0.12
    end: float = 0.35
    path: float = 0.42


DEFAULT = Thresholds()


class Broken(NamedTuple):
    """A rule that an edit broke, and the cells where."""

    rule: str
    cells: tuple[Cell, ...]


class Measured(NamedTuple):
    """What was measured, null if there was nothing; lengths are pixels of a picture with 48 a cell.

    scale : pixels a cell in the picture as it is. turn : degrees clockwise.
    shift : farthest distance of a corner of the maze from the corner of the picture.
    residual : mean misfit of the wall mask, 0 to 1. agreement : share of cells of the right kind.
    width : of the line, its area over its length. gap : longest break between start and end.
    excursion : deepest reach into a wall. branch : farthest reach into a cell beside the way.
    """

    scale: float | None = None
    turn: float | None = None
    shift: float | None = None
    residual: float | None = None
    agreement: float | None = None
    width: float | None = None
    gap: float | None = None
    excursion: float | None = None
    branch: float | None = None


class MazeVerdict(NamedTuple):
    """Whether an edited maze is valid (None: unreadable, pending), the broken rules, what was measured."""

    valid: bool | None
    broken: tuple[Broken, ...]
    measured: Measured = Measured()

    @property
    def rules(self) -> tuple[str, ...]:
        """Names of the broken rules, causes first."""
        return tuple(b.rule for b in self.broken)

    @property
    def main(self) -> str:
        """`valid`, or the first broken rule."""
        return self.broken[0].rule if self.broken else "valid"


def judge(maze: Maze, image: Image.Image, *, limits: Thresholds = DEFAULT) -> MazeVerdict:
    """Judge an edited image (any size and mode) of a maze.

    Valid is: one continuous red path from start to end over cells that can be walked, and walls,
    floor and both ends as they were. `valid` is None, and the rule `unreadable`, where the picture shows
    neither this maze nor another one.
    """
    shown = image.convert("RGB")
    found = register(shown, maze) if min(shown.size) >= 4 * maze.size else None
    if found is None or found.agreement < READABLE:
        return _another(shown, found)
    beyond, shift = _placed(found, shown.size, maze.size)
    if beyond > limits.cut:
        other = _another(shown, found) if found.agreement < 0.97 else None
        if other is not None and other.valid is False:
            return other
        return MazeVerdict(False, (Broken("cut off", ()),), _measured(found, {"shift": shift}))
    read = _Reading(maze, shown, found, limits)
    merged: dict[str, set[Cell]] = {}
    for rule, cells in (*read.surface(), *read.path()):
        merged.setdefault(rule, set()).update(cells)
    broken = tuple(Broken(rule, tuple(sorted(merged[rule]))) for rule in VERDICTS if rule in merged)
    return MazeVerdict(not broken, broken, _measured(found, read.numbers | {"shift": shift}))


def judge_mazes(
    answers: pl.DataFrame, requests: pl.DataFrame, *, limits: Thresholds = DEFAULT
) -> pl.DataFrame:
    """Judge the edited mazes of feasible requests from their pixels (column `image` of answers: bytes).

    `model`, `reminder`, `case_id`, `valid` (null: pending), `verdict` (first broken rule or "valid"),
    `status`, and what was measured (see `Measured`).
    """
    told = requests.filter("feasible", category="maze")
    proof = pl.coalesce("evidence", "proof") if "evidence" in told.columns else pl.col("proof")
    proofs = dict(told.select("case_id", proof).iter_rows())
    due = answers.filter(pl.col("image").is_not_null(), pl.col("case_id").is_in(list(proofs)))
    seen: dict[tuple[str, bytes], tuple[Any, ...]] = {}
    rows = []
    for model, reminder, case_id, image in due.select("model", "reminder", "case_id", "image").iter_rows():
        if (case_id, image) not in seen:
            seen[case_id, image] = _judged(proofs[case_id] or "{}", image, limits)
        rows.append((model, reminder, case_id, *seen[case_id, image]))
    kinds = texts("model", "reminder", "case_id", "valid", "verdict", "status") | {"valid": pl.Boolean}
    return pl.DataFrame(rows, schema=kinds | dict.fromkeys(Measured._fields, pl.Float64), orient="row")


def _judged(proof: str, data: bytes, limits: Thresholds) -> tuple[Any, ...]:
    """Return valid, verdict, status and measures of a PNG, JPEG or WebP of 4,096 pixels a side at most."""
    try:
        with Image.open(io.BytesIO(data), formats=["PNG", "JPEG", "WEBP"]) as shown:
            if max(shown.size) > 4096:
                raise OSError(f"the picture is {shown.width} x {shown.height} pixels")
            image = shown.convert("RGB")
    except OSError:
        return None, None, "the picture cannot be opened", *Measured()
    got = judge(maze_of(proof), image, limits=limits)
    return (
        got.valid,
        got.main,
        "unreadable: no maze in the picture" if got.valid is None else "ok",
        *got.measured,
    )


def _measured(found: Found | None, numbers: Mapping[str, float]) -> Measured:
    if found is None:
        return Measured()
    shown = {"scale": found.frame.cell, "turn": found.frame.turn, "residual": found.residual,
             "agreement": found.agreement, **numbers}  # fmt: skip
    return Measured(**{k: round(float(v), 3) for k, v in shown.items()})


def _another(image: Image.Image, found: Found | None) -> MazeVerdict:
    """Tell a picture of another maze, which is wrong, from one of no maze, which cannot be judged."""
    other = find_maze(image) or _stripped(image)
    rule = "wall changed" if other else "unreadable"
    return MazeVerdict(False if other else None, (Broken(rule, ()),), _measured(found, {}))


def _stripped(image: Image.Image) -> tuple[Maze, Frame] | None:
    """Read a maze once more with small reds painted over: a path drawn on another maze."""
    pixels = np.asarray(image)
    red = binary_dilation(reddish(pixels), iterations=2)
    if not red.any() or red.all():
        return None
    # What remains of the end cell: the most solid red square.
    depth = distance_transform_edt(red)
    y, x = np.unravel_index(int(np.argmax(depth)), depth.shape)
    reach = float(depth[y, x])
    rows, columns = np.ogrid[: red.shape[0], : red.shape[1]]
    keep = (abs(rows - y) <= reach) & (abs(columns - x) <= reach)
    colors = pixels[label(~red)[0] > 0]
    if not len(colors):
        return None
    light = colors[colors.sum(axis=1) >= np.percentile(colors.sum(axis=1), 70)]
    painted = pixels.copy()
    painted[red & ~keep] = np.median(light, axis=0)
    return find_maze(Image.fromarray(painted))


def _placed(found: Found, sides: tuple[int, int], size: int) -> tuple[float, float]:
    """Return how far the maze reaches beyond the picture, and how far its corners lie from the picture's."""
    unit = CELL / found.frame.cell
    beyond, away = 0.0, 0.0
    for r, c in ((0, 0), (0, size), (size, 0), (size, size)):
        x, y = found.frame.at(r, c)
        beyond = max(beyond, -x, -y, x - sides[0], y - sides[1])
        away = max(away, float(np.hypot(x - (sides[0] if c else 0), y - (sides[1] if r else 0))))
    # A small turn lifts the corners out of the picture without cutting the maze.
    slack = abs(np.sin(np.radians(found.frame.turn))) * size * found.frame.cell
    return max(beyond - slack, 0.0) * unit, away * unit


@lru_cache(maxsize=256)
def _depths(rows: tuple[str, ...]) -> NDArray[np.float64]:
    """Distance of each pixel of a wall from the floor, 24 pixels a cell, in pixels of 48 a cell."""
    walls = np.array([[c == "#" for c in row] for row in rows])
    solid = np.kron(walls, np.ones((CELL // 2, CELL // 2), dtype=bool))
    return np.asarray(2 * distance_transform_edt(solid))


def _grown(mask: Mask, by: int) -> Mask:
    """Return a mask grown by so many pixels to each side."""
    return np.asarray(maximum_filter(mask, 2 * by + 1, mode="constant"))


def _cells(mask: Mask) -> list[Cell]:
    return [(int(r), int(c)) for r, c in np.argwhere(mask)]


def _any(mask: Mask, per: int) -> Mask:
    """Return which squares of so many pixels a side hold one of the mask."""
    size = len(mask) // per
    return np.asarray(mask.reshape(size, per, size, per).any(axis=(1, 3)))


def _square(cell: Cell) -> tuple[slice, slice]:
    r, c = cell
    return slice(r * CELL, (r + 1) * CELL), slice(c * CELL, (c + 1) * CELL)


class _Reading:
    """The rectified picture of a maze: colours, the red line, and what is measured of it."""

    def __init__(self, maze: Maze, image: Image.Image, found: Found, limits: Thresholds) -> None:
        self.maze, self.limits = maze, limits
        self.numbers: dict[str, float] = {}
        self._loose: list[Cell] = []
        self._branches: list[Cell] = []
        self.walls = np.array([[c == "#" for c in row] for row in maze.rows])
        pixels = rectify(image, found.frame, maze.size)
        floor = found.palette.floor
        if floor.min() > 100:  # balance a cast, and a darker picture, by what should be white
            pixels = balanced(pixels, floor)
        self.pixels = pixels
        chroma = red_chroma(pixels)
        self.red = chroma >= 60
        self.ends = np.zeros_like(self.red)
        for cell in (maze.start, maze.end):
            self.ends[_square(cell)] = True
        near_ends = _grown(self.ends, 4)
        line = self.red & ~near_ends
        if int(line.sum()) >= limits.speck:
            strong = float(np.percentile(chroma[line], 85))
            line = chroma >= max(35.0, limits.path * strong)
            for r in (slice(CELL), slice(-CELL, None)):
                for c in (slice(CELL), slice(-CELL, None)):
                    line[r, c] = False
        self.line = line & ~self.ends
        self.empty = int((self.line & ~near_ends).sum()) < 2 * limits.speck

    def surface(self) -> Iterator[tuple[str, list[Cell]]]:
        """Yield what changed of walls, floor and ends."""
        size, maze, limits = self.maze.size, self.maze, self.limits
        per, rim = CELL // 2, 3
        cells = _halved(self.pixels).reshape(size, per, size, per, 3)
        inner = cells[:, rim:-rim, :, rim:-rim].transpose(0, 2, 1, 3, 4)
        flat, each = inner.reshape(-1, 3), inner.shape[2] * inner.shape[3]
        clear = ~reddish(flat, 22)
        kinds = np.repeat(self.walls.ravel(), each)
        free = np.ones((size, size), dtype=bool)
        free[maze.start] = free[maze.end] = False
        usable = clear & np.repeat(free.ravel(), each)
        wall, plain = np.median(flat[kinds & usable], axis=0), flat[~kinds & usable]
        floor = np.median(plain, axis=0) if len(plain) > 50 else np.full(3, 255.0)
        near = float(np.clip(0.45 * np.linalg.norm(wall - floor), 18, 60))
        off = np.linalg.norm(flat - np.where(kinds[:, None], wall, floor), axis=1) > near
        changes = (off & clear).reshape(size, size, per - 2 * rim, per - 2 * rim)
        band = int(limits.cut) // 2 - rim  # the outer wall may be cut so far
        changes[0, :, :band] = changes[-1, :, -band:] = False
        changes[:, 0, :, :band] = changes[:, -1, :, -band:] = False
        corners = np.zeros((size, size), dtype=bool)
        corners[:: size - 1, :: size - 1] = True
        most = np.select([corners & self.walls, self.walls], [limits.mark, limits.wall], limits.floor)
        over = free & (changes.mean(axis=(2, 3)) > most)
        for rule, kind in (("floor changed", ~self.walls), ("wall changed", self.walls)):
            if (over & kind).any():
                yield rule, _cells(over & kind)
        green = greenish(self.pixels[_square(maze.start)], 40).mean()
        ended = self.red[_square(maze.end)].mean()
        ends = ((maze.start, green, limits.start), (maze.end, ended, limits.end))
        if lost := [cell for cell, share, least in ends if share < least]:
            yield "ends changed", lost

    def path(self) -> Iterator[tuple[str, list[Cell]]]:
        """Yield what is wrong with the red line, and note what is measured of it."""
        if self.empty:
            yield "no path", []
            return
        limits, maze = self.limits, self.maze
        reach = max(int(limits.gap) // 2, 0)
        labels: Any
        labels, count = label(_grown(self.line, reach) | self.ends, structure=np.ones((3, 3)))
        first, last = (
            int(labels[r * CELL + CELL // 2, c * CELL + CELL // 2]) for r, c in (maze.start, maze.end)
        )
        areas = np.bincount(labels[self.line], minlength=count + 1)
        strange = [k for k in range(1, count + 1) if k not in (first, last) and areas[k] > limits.speck]
        body = self.line & np.isin(labels, [first, last] if first == last else [first, last, *strange])
        if first == last and strange:
            where = _cells(_any(self.line & np.isin(labels, strange), CELL))
            on_wall = [c for c in where if self.walls[c]]
            yield ("wall crossed", on_wall) if on_wall else ("side branch", where)
        yield from self._excursion(body)
        wide = _grown(body, reach) | self.ends
        joined, on, corners = self._graph(body, wide)
        self.numbers["width"] = float(body.sum()) / (CELL * max(len(on) - 2, 1))
        for cells in corners:
            yield "diagonal step", cells
        if first != last:
            self.numbers["gap"] = self._gap(body)
            yield "path broken", self._break(body, labels == first)
        elif not joined:
            cut = self._diagonals(on, wide)
            for pair in cut:
                yield "diagonal step", pair
            if not cut and not corners:
                yield "path broken", self._loose
        elif self._branches:
            yield "side branch", self._branches

    def _excursion(self, body: Mask) -> Iterator[tuple[str, list[Cell]]]:
        half = CELL // 2
        depth = np.where(_any(body, 2), _depths(self.maze.rows), 0)
        self.numbers["excursion"] = float(depth.max())
        far = depth > self.limits.excursion
        if far.sum() >= 3:
            yield "wall crossed", _cells(_any(far, half))

    def _links(self, body: Mask, wide: Mask) -> Links:
        """Link the cells that the line passes between: the line as it is, else with small gaps closed."""
        crossings = [
            (m[:, CELL - 1 : -1 : CELL] & m[:, CELL::CELL], (m[CELL - 1 : -1 : CELL, :] & m[CELL::CELL, :]).T)
            for m in (body | self.ends, wide)
        ]
        links: Links = {}
        for r, c in _cells(~self.walls):
            for other in ((r, c + 1), (r + 1, c)):
                if not self.maze.floor(other):
                    continue
                places = (slice(r * CELL, (r + 1) * CELL), c), (slice(c * CELL, (c + 1) * CELL), r)
                side = int(other[0] > r)
                runs = [np.flatnonzero(crossing[side][places[side]]) for crossing in crossings]
                run = runs[0] if len(runs[0]) else runs[1]
                if len(run):
                    middle, corner = float(run.mean()) + 0.5, None
                    if middle < self.limits.corner:
                        corner = other
                    elif middle > CELL - self.limits.corner:
                        corner = (r + 1, c + 1)
                    links.setdefault((r, c), {})[other] = corner
                    links.setdefault(other, {})[r, c] = corner
        return links

    def _graph(self, body: Mask, wide: Mask) -> tuple[bool, set[Cell], list[list[Cell]]]:
        """Tell whether the line joins start and end, which cells it lies on, and where it cuts a corner."""
        maze, ends = self.maze, (self.maze.start, self.maze.end)
        cells = body.reshape(maze.size, CELL, maze.size, CELL)
        columns: Any = cells.any(axis=1)
        rows: Any = cells.any(axis=3)  # size x size x CELL; size x CELL x size
        links = self._links(body, wide)

        def depth(cell: Cell, before: Cell) -> float:
            (r, c), dr, dc = cell, before[0] - cell[0], before[1] - cell[1]
            hit = np.flatnonzero(columns[r, c] if dc else rows[r, :, c])
            if not len(hit):
                return 0.0
            return float(CELL - hit[0] if dr + dc > 0 else hit[-1] + 1)

        reaches = {
            cell: max(depth(cell, n) for n in near) for cell, near in links.items() if cell not in ends
        }
        on = {cell for cell, far in reaches.items() if far >= self.limits.branch} | set(ends)
        kept = {cell: {n: v for n, v in links.get(cell, {}).items() if n in on} for cell in on}
        due = {cell: 1 if cell in ends else 2 for cell in on}
        seen, queue = {maze.start}, [maze.start]
        while queue:
            new = kept[queue.pop()].keys() - seen
            seen |= new
            queue += new
        wrong = {c for c in on if len(kept[c]) != due[c]}
        single = {c for c in wrong if len(kept[c]) == 1}
        stubs = [far for cell, far in reaches.items() if cell not in on or cell in single]
        self.numbers["branch"] = max(stubs, default=0.0)
        self._loose = sorted(c for c in on if len(kept[c]) < due[c])
        self._branches = sorted(wrong | (on - seen))
        corners = []
        for cell in on - set(ends):
            spots = [v for v in kept[cell].values() if v is not None]
            if len(spots) == 2 and spots[0] == spots[1]:
                corners.append(sorted([*kept[cell]]))
        return maze.end in seen, on, corners

    def _diagonals(self, on: set[Cell], wide: Mask) -> list[list[Cell]]:
        """Return pairs of cells that meet at a corner only, with red at that corner."""
        found = []
        for r, c in on:
            for dc in (1, -1):
                y, x = (r + 1) * CELL, (c + (dc > 0)) * CELL
                if (r + 1, c + dc) in on and wide[y - 4 : y + 4, x - 4 : x + 4].any():
                    found.append(sorted([(r, c), (r + 1, c + dc)]))
        return found

    def _break(self, body: Mask, piece: Mask) -> list[Cell]:
        """Return the cells between which the piece at the start ends and the next one begins."""
        half = CELL // 2
        rest, piece = ((body | self.ends) & ~piece)[::2, ::2], piece[::2, ::2]
        away, at = distance_transform_edt(~piece, return_indices=True)
        y, x = np.unravel_index(int(np.argmin(np.where(rest, away, np.inf))), rest.shape)
        spots = ((int(y), int(x)), (int(at[0][y, x]), int(at[1][y, x])))
        return sorted({(r // half, c // half) for r, c in spots})

    def _gap(self, body: Mask) -> float:
        """Return the longest break, in pixels, that a way from start to end over the pieces has to leap."""
        away = distance_transform_edt(~_any(body | self.ends, 2))
        first, last = (
            (r * CELL // 2 + 12, c * CELL // 2 + 12) for r, c in (self.maze.start, self.maze.end)
        )  # fmt: skip
        low, high = 0.0, float(away.max())
        while high - low > 0.5:
            middle = (low + high) / 2
            labels: Any = label(away <= middle)[0]
            low, high = (low, middle) if labels[first] == labels[last] else (middle, high)
        return 4 * high


def _halved(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return a picture at half its size."""
    p = pixels.astype(np.uint16)
    return np.asarray((p[::2, ::2] + p[1::2, ::2] + p[::2, 1::2] + p[1::2, 1::2]) / np.float32(4))
