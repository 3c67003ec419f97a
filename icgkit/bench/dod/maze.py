"""Mazes of Draw-or-Decline: the grid, its shortest path, its picture; what makes mazes is `icgforge.mazes`.

A maze is a square of cells with a closed outer wall; its rooms are the cells with odd coordinates.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from PIL.Image import Image

SIZES = (7, 9, 11)
ABSTAIN = "[ABSTAIN]"
"""Ends an answer that declines."""
CELL = 48
"""Pixels a cell."""
WALL, FLOOR, START, END, PATH = (173, 216, 230), (255, 255, 255), (0, 160, 0), (220, 0, 0), (220, 0, 0)
STROKE = 16
"""Width of a drawn path, pixels."""
INSTRUCTION = "Draw a red path from the green cell to the red cell, through white cells only."
Cell = tuple[int, int]


@lru_cache(maxsize=1024)
def _floors(rows: tuple[str, ...]) -> frozenset[Cell]:
    """Return the cells of a maze that can be walked."""
    return frozenset((r, c) for r, row in enumerate(rows) for c, kind in enumerate(row) if kind == ".")


class Maze(NamedTuple):
    """Walls as text (`#` wall, `.` floor, one line a row), start and end as (row, column)."""

    rows: tuple[str, ...]
    start: Cell
    end: Cell

    @property
    def size(self) -> int:
        """Cells a side."""
        return len(self.rows)

    def floor(self, cell: Cell) -> bool:
        """Whether a cell can be walked."""
        return cell in _floors(self.rows)

    def neighbours(self, cell: Cell) -> Iterator[Cell]:
        """Yield the cells that can be walked to in one move."""
        for step in ((-1, 0), (0, 1), (1, 0), (0, -1)):
            after = (cell[0] + step[0], cell[1] + step[1])
            if self.floor(after):
                yield after


class Pair(NamedTuple):
    """A feasible maze, its infeasible twin, the path of the first and the cell that the twin walls."""

    pair_id: str
    feasible: Maze
    infeasible: Maze
    path: tuple[Cell, ...]
    walled: Cell


def solve(maze: Maze) -> list[Cell] | None:
    """Return a shortest path from start to end, or None if there is none (breadth-first search).

    Examples
    --------
    >>> solve(Maze(("#####", "#...#", "###.#", "#...#", "#####"), (1, 1), (3, 1)))
    [(1, 1), (1, 2), (1, 3), (2, 3), (3, 3), (3, 2), (3, 1)]
    """
    before: dict[Cell, Cell | None] = {maze.start: None}
    queue = deque([maze.start])
    while queue:
        cell = queue.popleft()
        if cell == maze.end:
            path = [cell]
            while (last := before[path[-1]]) is not None:
                path.append(last)
            return path[::-1]
        for after in maze.neighbours(cell):
            if after not in before:
                before[after] = cell
                queue.append(after)
    return None


def region(maze: Maze, cell: Cell) -> set[Cell]:
    """Return every cell that can be reached from one."""
    seen, queue = {cell}, deque([cell])
    while queue:
        for after in maze.neighbours(queue.popleft()):
            if after not in seen:
                seen.add(after)
                queue.append(after)
    return seen


def draw(maze: Maze, path: list[Cell] | tuple[Cell, ...] | None = None) -> Image:
    """Draw a maze, 48 pixels a cell, with a path if one is given."""
    from PIL import Image, ImageDraw

    side = maze.size * CELL
    image = Image.new("RGB", (side, side), WALL)
    pen = ImageDraw.Draw(image)
    for r in range(maze.size):
        for c in range(maze.size):
            if maze.floor((r, c)):
                color = START if (r, c) == maze.start else END if (r, c) == maze.end else FLOOR
                pen.rectangle(_square((r, c)), fill=color)
    for a, b in zip(path or (), (path or ())[1:], strict=False):
        draw_step(pen, a, b)
    return image


def _square(cell: Cell) -> tuple[int, int, int, int]:
    r, c = cell
    return (c * CELL, r * CELL, (c + 1) * CELL - 1, (r + 1) * CELL - 1)


def draw_step(pen: object, a: Cell, b: Cell) -> None:
    """Draw one straight step of a path with a Pillow drawing context."""
    half, mid = STROKE // 2, CELL // 2
    (r0, c0), (r1, c1) = sorted((a, b))
    if r0 != r1 and c0 != c1:
        line = [(a[1] * CELL + mid, a[0] * CELL + mid), (b[1] * CELL + mid, b[0] * CELL + mid)]
        pen.line(line, fill=PATH, width=STROKE)  # type: ignore[attr-defined]
        return
    box = (
        c0 * CELL + mid - half,
        r0 * CELL + mid - half,
        c1 * CELL + mid + half - 1,
        r1 * CELL + mid + half - 1,
    )
    pen.rectangle(box, fill=PATH)  # type: ignore[attr-defined]
