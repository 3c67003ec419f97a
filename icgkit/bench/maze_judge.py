"""Judge an edited maze by its pixels: which rule broke, and where; and solvers that need no key.

The image is brought to the maze's own size and each cell is read at its middle and at its borders,
so that resampling (from 0.5 times the size up) and JPEG (down to quality 50) change no verdict; the
test suite holds that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from icgkit.bench.mazes import CELL, END, FLOOR, START, WALL, Cell, Maze, draw, solve

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL.Image import Image

RULES = ("no path", "path broken", "wall crossed", "diagonal step", "side branch", "wall changed", "floor changed",
         "ends changed", "shifted")  # fmt: skip
_NEAR = 60.0
"""Largest distance in RGB at which a pixel counts as a colour."""


class Broken(NamedTuple):
    """A rule that an edit broke, and the cells where."""

    rule: str
    cells: tuple[Cell, ...]


class Verdict(NamedTuple):
    """Whether an edited maze is valid; `broken` is empty then."""

    valid: bool
    broken: tuple[Broken, ...]

    @property
    def rules(self) -> tuple[str, ...]:
        """Names of the broken rules."""
        return tuple(b.rule for b in self.broken)


def _pixels(image: Image, size: int) -> NDArray[np.float64]:
    from PIL import Image as images

    shown = image.convert("RGB").resize((size * CELL, size * CELL), images.Resampling.BILINEAR)
    return np.asarray(shown, dtype=np.float64)


def _share(patch: NDArray[np.float64], color: tuple[int, int, int]) -> float:
    return float((np.linalg.norm(patch - color, axis=-1) < _NEAR).mean())


def _red(patch: NDArray[np.float64]) -> float:
    r, g, b = patch[..., 0], patch[..., 1], patch[..., 2]
    return float(((r > 140) & (g < 110) & (b < 110)).mean())


class _Reading:
    """What each cell and each border of an image shows."""

    def __init__(self, maze: Maze, image: Image) -> None:
        self.maze, self.pixels = maze, _pixels(image, maze.size)

    def patch(self, r: float, c: float, half: int) -> NDArray[np.float64]:
        y, x = round((r + 0.5) * CELL), round((c + 0.5) * CELL)
        return self.pixels[max(y - half, 0) : y + half, max(x - half, 0) : x + half]

    def red(self, cell: Cell) -> bool:
        return _red(self.patch(*cell, 5)) > 0.5

    def joined(self, a: Cell, b: Cell) -> bool:
        """Whether red crosses the border, or the corner, between two cells."""
        return _red(self.patch((a[0] + b[0]) / 2, (a[1] + b[1]) / 2, 3)) > 0.5

    def around(self, cell: Cell, color: tuple[int, int, int]) -> float:
        """Share of a cell that has its colour, its rim left out, red left out."""
        full = self.patch(*cell, CELL // 2 - 5)
        r, g, b = full[..., 0], full[..., 1], full[..., 2]
        # Red and its blend with the floor belong to a path, not to the floor.
        path = (r - np.maximum(g, b) > 40) & (r > 120)
        rest = full[~path]
        return 1.0 if rest.shape[0] < 40 else _share(rest, color)


def judge(maze: Maze, image: Image) -> Verdict:
    """Judge an edited image of a maze.

    Valid is: one continuous red path from start to end over cells that can be walked, and walls,
    floor and both ends as they were.

    Parameters
    ----------
    maze : Maze
        The maze before the edit.
    image : PIL.Image.Image
        The edited image, of any size and mode.

    Examples
    --------
    >>> from icgkit.bench.mazes import draw, make_pairs
    >>> pair = make_pairs(1)[0]
    >>> judge(pair.feasible, draw(pair.feasible, pair.path)).valid
    True
    >>> judge(pair.feasible, draw(pair.feasible)).rules
    ('no path',)
    """
    read = _Reading(maze, image)
    if _moved(maze, read.pixels):
        return Verdict(False, (Broken("shifted", ()),))
    broken = [*_surface(read), *_path(read)]
    merged: dict[str, list[Cell]] = {}
    for rule, cells in broken:
        merged.setdefault(rule, []).extend(cells)
    found = tuple(Broken(rule, tuple(sorted(set(merged[rule])))) for rule in RULES if rule in merged)
    return Verdict(not found, found)


def _moved(maze: Maze, pixels: NDArray[np.float64]) -> bool:
    """Whether the picture fits the maze clearly better after a shift of a few pixels or a cell."""
    blank = np.asarray(draw(maze), dtype=np.float64)
    is_wall = np.linalg.norm(blank - WALL, axis=-1) < 1
    shown = np.linalg.norm(pixels - WALL, axis=-1) < _NEAR

    def misfit(dy: int, dx: int) -> float:
        h, w = is_wall.shape
        a = is_wall[max(-dy, 0) : h - max(dy, 0), max(-dx, 0) : w - max(dx, 0)]
        b = shown[max(dy, 0) : h - max(-dy, 0), max(dx, 0) : w - max(-dx, 0)]
        return float((a != b).mean())

    still = misfit(0, 0)
    if still < 0.02:
        return False
    steps = (-48, -36, -24, -16, -12, -8, -5, 0, 5, 8, 12, 16, 24, 36, 48)
    best = min(misfit(dy, dx) for dy in steps for dx in steps if (dy, dx) != (0, 0))
    return best < 0.6 * still and still - best > 0.01


def _surface(read: _Reading) -> Iterator[tuple[str, list[Cell]]]:
    maze = read.maze
    for r in range(maze.size):
        for c in range(maze.size):
            cell = (r, c)
            if cell == maze.start:
                green = _share(read.patch(r, c, CELL // 2 - 5), START)
                if green < 0.35:
                    yield "ends changed", [cell]
            elif cell == maze.end:
                if _red(read.patch(r, c, CELL // 2 - 5)) < 0.7:
                    yield "ends changed", [cell]
            elif maze.floor(cell):
                if read.around(cell, FLOOR) < 0.8:
                    yield "floor changed", [cell]
            elif _red(read.patch(r, c, CELL // 2 - 5)) > 0.12:
                # A diagonal stroke cuts the corner of a wall cell: less than a tenth of it.
                yield "wall crossed", [cell]
            elif read.around(cell, WALL) < 0.8:
                yield "wall changed", [cell]


def _path(read: _Reading) -> Iterator[tuple[str, list[Cell]]]:
    maze = read.maze
    cells = [(r, c) for r in range(maze.size) for c in range(maze.size) if maze.floor((r, c))]
    red = {c for c in cells if c not in (maze.start, maze.end) and read.red(c)}
    if not red:
        yield "no path", []
        return
    on = red | {maze.start, maze.end}
    links: dict[Cell, list[Cell]] = {
        c: [n for n in maze.neighbours(c) if n in on and read.joined(c, n)] for c in on
    }
    for cell in on:
        for dr, dc in ((1, 1), (1, -1)):
            other = (cell[0] + dr, cell[1] + dc)
            if other in on and read.joined(cell, other):
                yield "diagonal step", [cell, other]
    seen, queue = {maze.start}, [maze.start]
    while queue:
        for after in links[queue.pop()]:
            if after not in seen:
                seen.add(after)
                queue.append(after)
    if maze.end not in seen:
        yield (
            "path broken",
            sorted(c for c in on if len(links[c]) < (1 if c in (maze.start, maze.end) else 2)),
        )
        return
    wrong = [c for c in on if len(links[c]) != (1 if c in (maze.start, maze.end) else 2)]
    if wrong or seen != on:
        yield "side branch", sorted(set(wrong) | (on - seen))


def read_maze(image: Image) -> Maze | None:
    """Read a maze from its pixels (7, 9 or 11 cells a side), or None if the picture is none."""
    from icgkit.bench.mazes import SIZES

    for size in SIZES:
        pixels = _pixels(image, size)
        rows, ends = [], {}
        sure = True
        for r in range(size):
            line = ""
            for c in range(size):
                y, x = r * CELL, c * CELL
                patch = pixels[y + 6 : y + CELL - 6, x + 6 : x + CELL - 6]
                shares = {k: _share(patch, k) for k in (WALL, FLOOR, START, END)}
                best = max(shares, key=lambda k: shares[k])
                sure &= shares[best] > 0.8
                line += "#" if best == WALL else "."
                if best in (START, END):
                    ends[best] = (r, c)
            rows.append(line)
        if sure and len(ends) == 2:
            return Maze(tuple(rows), ends[START], ends[END])
    return None


class Answer(NamedTuple):
    """What a solver gives back: text, and an edited image or none."""

    text: str
    image: Image | None


def search_solver(image: Image) -> Answer:
    """Read the maze, search it, draw the path or decline."""
    maze = read_maze(image)
    if maze is None:
        return Answer("[ABSTAIN] This is no maze that I can read.", None)
    path = solve(maze)
    if path is None:
        return Answer("[ABSTAIN] No path leads from the green to the red cell.", None)
    return Answer("The path is drawn.", draw(maze, path))


def always_draws(image: Image) -> Answer:
    """Draw the straight way across, whatever stands in between; never decline."""
    maze = read_maze(image)
    if maze is None:
        return Answer("Here it is.", image.copy())
    r0, c0 = maze.start
    r1, c1 = maze.end
    down = [(r, c0) for r in range(r0, r1, 1 if r1 > r0 else -1)]
    across = [(r1, c) for c in range(c0, c1, 1 if c1 > c0 else -1)]
    path = solve(maze) or [*down, *across, maze.end]
    return Answer("Here it is.", draw(maze, path))


def always_declines(image: Image) -> Answer:
    """Decline every request."""
    return Answer("[ABSTAIN] I cannot do this.", None)


SOLVERS: dict[str, Callable[[Image], Answer]] = {
    "offline/maze-search": search_solver,
    "offline/maze-draws": always_draws,
    "offline/maze-declines": always_declines,
}
"""Reference baselines for mazes, by name."""
