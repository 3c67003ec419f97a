"""Judge an edited maze by its pixels: which rule broke, and where.

The image is brought to 24 pixels a cell and each cell is read at its middle, over its inner square
and at its borders. Resampling (from 0.5 times the drawn size up), JPEG (down to quality 50) and a
shift of up to 2 of 48 pixels change no verdict; the test suite holds that.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from icgkit.bench.mazes import END, FLOOR, SIZES, START, WALL, Cell, Maze

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL.Image import Image

    Mask = NDArray[np.bool_]

RULES = ("shifted", "ends changed", "wall changed", "floor changed", "diagonal step", "wall crossed", "side branch",
         "path broken", "no path")  # fmt: skip
"""Names of the rules; of several broken ones the first here is the cause, later ones may follow from it."""
PIXELS = 24
"""Pixels a cell at which images are read."""
_NEAR = {WALL: 60, FLOOR: 45, START: 60, END: 60}
"""Largest distance in RGB at which a pixel counts as a colour."""
_RIM = 3
"""Pixels at the border of a cell that count for neither side."""


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
        """Names of the broken rules, causes first."""
        return tuple(b.rule for b in self.broken)

    @property
    def main(self) -> str:
        """`valid`, or the first broken rule."""
        return self.broken[0].rule if self.broken else "valid"


@cache
def _squares(color: tuple[int, int, int]) -> NDArray[np.uint16]:
    """Squared distance of each level of each channel from a colour, cut where it is far anyway."""
    return np.stack([np.minimum((np.arange(256) - level) ** 2, 20_000) for level in color]).astype(np.uint16)


class Reading:
    """What the pixels of an image show, cell by cell, for a maze of `size` cells."""

    def __init__(self, image: Image, size: int) -> None:
        from PIL import Image as images

        self.size = size
        side = size * PIXELS
        shown = image.convert("RGB")
        if shown.size == (2 * side, 2 * side):  # as it is drawn
            shown = shown.reduce(2)
        elif shown.size != (side, side):
            shown = shown.resize((side, side), images.Resampling.BILINEAR)
        planes = np.ascontiguousarray(np.asarray(shown).transpose(2, 0, 1))
        r, g, b = planes
        self.red = (r > 140) & (g < 110) & (b < 110)
        # Red and its blend with the floor belong to a path, not to the floor.
        other = np.maximum(g, b)
        self.rest = ~((r > 120) & (r > other) & (r - other > 40))
        self._planes = planes.reshape(3, -1)
        self._near: dict[tuple[int, int, int], Mask] = {}

    def near(self, color: tuple[int, int, int]) -> Mask:
        """Pixels that are close to the colour of wall, floor, start or end."""
        if color not in self._near:
            away = sum(
                np.take(square, plane) for square, plane in zip(_squares(color), self._planes, strict=True)
            )
            self._near[color] = np.reshape(away < _NEAR[color] ** 2, self.red.shape)
        return self._near[color]

    def inner(self, mask: Mask) -> NDArray[np.float64]:
        """Count the pixels of a mask in each cell, its rim left out."""
        cells = mask.reshape(self.size, PIXELS, self.size, PIXELS)[:, _RIM:-_RIM, :, _RIM:-_RIM]
        return np.asarray(cells.sum(axis=(1, 3)), dtype=np.float64)

    def share(self, mask: Mask) -> NDArray[np.float64]:
        """Share of each cell that a mask covers, its rim left out."""
        return self.inner(mask) / (PIXELS - 2 * _RIM) ** 2

    def unpainted(self, color: tuple[int, int, int]) -> NDArray[np.float64]:
        """Share of each cell, red left out, that has a colour; 1 where nearly all is red."""
        rest = self.inner(self.rest)
        hits = self.inner(self.rest & self.near(color))
        return np.where(rest < 10, 1.0, hits / np.maximum(rest, 1))

    @cached_property
    def marked(self) -> Mask:
        """Cells with red in their middle."""
        mid = slice(PIXELS // 2 - 3, PIXELS // 2 + 3)
        cells = self.red.reshape(self.size, PIXELS, self.size, PIXELS)[:, mid, :, mid]
        return np.asarray(cells.mean(axis=(1, 3)) > 0.5)

    def joined(self, a: Cell, b: Cell) -> bool:
        """Whether red crosses the border, or the corner, between two cells."""
        return self._crossed[a[0] + b[0]][a[1] + b[1]]

    @cached_property
    def _crossed(self) -> list[list[bool]]:
        """Whether most is red of the 4 x 4 pixels round each point half a cell apart from the next."""
        at = np.arange(1, 2 * self.size) * PIXELS // 2
        crossed: list[list[bool]] = (_within(self.red, at - 2, at + 2) > 8).tolist()
        return crossed


def _within(mask: Mask, low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.int32]:
    """Count the pixels of a mask between each pair of bounds down (rows of the result) and across."""
    sums = np.pad(mask.cumsum(axis=0, dtype=np.int32).cumsum(axis=1, dtype=np.int32), ((1, 0), (1, 0)))
    over = (
        sums[np.ix_(high, high)] - sums[np.ix_(low, high)] - sums[np.ix_(high, low)] + sums[np.ix_(low, low)]
    )
    return np.asarray(over)


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
    >>> judge(pair.feasible, draw(pair.feasible)).main
    'no path'
    """
    read = Reading(image, maze.size)
    if _moved(maze, read):
        return Verdict(False, (Broken("shifted", ()),))
    merged: dict[str, set[Cell]] = {}
    for rule, cells in (*_surface(maze, read), *_path(maze, read)):
        merged.setdefault(rule, set()).update(cells)
    found = tuple(Broken(rule, tuple(sorted(merged[rule]))) for rule in RULES if rule in merged)
    return Verdict(not found, found)


def _moved(maze: Maze, read: Reading) -> bool:
    """Whether the picture fits the maze clearly better after a shift of a few pixels up to a cell."""
    walls = np.array([[c == "#" for c in row] for row in maze.rows])
    is_wall = np.kron(walls, np.ones((PIXELS, PIXELS), dtype=bool))
    shown = read.near(WALL)

    still = float((is_wall != shown).mean())
    if still < 0.02:
        return False
    steps = [s * k for k in (2, 3, 4, 6, 8, 12, 18, 24) for s in (-1, 1)] + [0]
    best = min(_misfits(is_wall, shown, steps).values())
    return best < 0.6 * still and still - best > 0.01


def _misfits(a: Mask, b: Mask, steps: list[int]) -> dict[tuple[int, int], float]:
    """Share of pixels that differ where `b`, moved back by each step down and across, lies on `a`.

    All moves at once, by the correlation of the masks; counts are whole numbers, so exact.
    """
    side, reach = len(a), max(steps)
    n = side + reach
    spectrum = np.fft.rfft2(b, (n, n)) * np.conj(np.fft.rfft2(a, (n, n)))
    both = np.rint(np.fft.irfft2(spectrum, (n, n)))
    moves = np.array(steps)
    kept = side - np.abs(moves)
    # What still lies on the other mask after each move, of `a` and of `b`.
    ahead, behind = np.maximum(moves, 0), np.maximum(-moves, 0)
    differ = (
        _within(a, behind, side - ahead) + _within(b, ahead, side - behind) - 2 * both[np.ix_(moves, moves)]
    )
    shares = differ / np.outer(kept, kept)
    return {
        (dy, dx): float(shares[i, j]) for i, dy in enumerate(steps) for j, dx in enumerate(steps) if dy or dx
    }


def _surface(maze: Maze, read: Reading) -> Iterator[tuple[str, list[Cell]]]:
    shares = [read.share(read.red), read.share(read.near(START)), read.unpainted(FLOOR), read.unpainted(WALL)]
    for number, (red, green, floor, wall) in enumerate(
        zip(*(x.ravel().tolist() for x in shares), strict=True)
    ):
        cell = divmod(number, maze.size)
        if cell == maze.start:
            if green < 0.35:
                yield "ends changed", [cell]
        elif cell == maze.end:
            if red < 0.7:
                yield "ends changed", [cell]
        elif maze.floor(cell):
            if floor < 0.8:
                yield "floor changed", [cell]
        elif red > 0.12:
            # A diagonal stroke cuts the corner of a wall cell: less than a tenth of it.
            yield "wall crossed", [cell]
        elif wall < 0.8:
            yield "wall changed", [cell]


def _path(maze: Maze, read: Reading) -> Iterator[tuple[str, list[Cell]]]:
    ends = (maze.start, maze.end)
    cells = [(r, c) for r in range(maze.size) for c in range(maze.size) if maze.floor((r, c))]
    marked = read.marked.tolist()
    red = {(r, c) for r, c in cells if (r, c) not in ends and marked[r][c]}
    if not red:
        yield "no path", []
        return
    on = red | set(ends)
    links = {c: [n for n in maze.neighbours(c) if n in on and read.joined(c, n)] for c in on}
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
    loose = {c for c in on if len(links[c]) < (1 if c in ends else 2)}
    if maze.end not in seen:
        yield "path broken", sorted(loose)
        return
    wrong = {c for c in on if len(links[c]) != (1 if c in ends else 2)}
    if wrong or seen != on:
        yield "side branch", sorted(wrong | (on - seen))


def read_maze(image: Image) -> Maze | None:
    """Read a maze from its pixels (7, 9 or 11 cells a side), or None if the picture is none.

    Examples
    --------
    >>> from icgkit.bench.mazes import draw, make_pairs
    >>> pair = make_pairs(1)[0]
    >>> read_maze(draw(pair.feasible)) == pair.feasible
    True
    """
    for size in SIZES:
        read = Reading(image, size)
        shares = np.stack([read.share(read.near(color)) for color in (WALL, FLOOR, START, END)])
        best = shares.argmax(axis=0)
        if shares.max(axis=0).min() <= 0.8 or (best == 2).sum() != 1 or (best == 3).sum() != 1:
            continue
        start, end = ((int(r), int(c)) for r, c in (np.argwhere(best == k)[0] for k in (2, 3)))
        return Maze(tuple("".join("#" if k == 0 else "." for k in row) for row in best), start, end)
    return None
