"""Mazes of Draw-or-Decline: feasible ones and their infeasible twins, proved by search, drawn to the pixel.

A maze is a square of 7, 9 or 11 cells with a closed outer wall; its rooms are the cells with odd
coordinates, joined by a spanning tree. The twin walls one cell of the only path from start to end.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from icgkit.errors import IcgError

if TYPE_CHECKING:
    from PIL.Image import Image

SIZES = (7, 9, 11)
CELL = 48
"""Pixels a cell."""
WALL, FLOOR, START, END, PATH = (173, 216, 230), (255, 255, 255), (0, 160, 0), (220, 0, 0), (220, 0, 0)
STROKE = 16
"""Width of a drawn path, pixels."""
INSTRUCTION = "Draw a red path from the green cell to the red cell, through white cells only."
CLEAR = 4
"""Least moves between the walled cell of a twin and either end."""
REGION = 5
"""Least cells of each region of a twin."""

_PATIENCE = 2000

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


def carve(size: int, rng: random.Random, method: str = "dfs") -> Maze:
    """Carve a spanning tree over the rooms; start and end in opposite inner corners, turned at random.

    Parameters
    ----------
    size : int
        Cells a side, odd.
    method : {"dfs", "kruskal"}
        Randomised depth-first search (long corridors) or Kruskal (many short branches).
    """
    grid = np.full((size, size), "#")
    rooms = [(r, c) for r in range(1, size, 2) for c in range(1, size, 2)]
    for room in rooms:
        grid[room] = "."
    for a, b in _tree_dfs(rooms, rng) if method == "dfs" else _tree_kruskal(rooms, rng):
        grid[(a[0] + b[0]) // 2, (a[1] + b[1]) // 2] = "."
    corners = [(1, 1), (1, size - 2), (size - 2, size - 2), (size - 2, 1)]
    turn = rng.randrange(4)
    return Maze(tuple("".join(row) for row in grid), corners[turn], corners[(turn + 2) % 4])


def _near(room: Cell, rooms: set[Cell]) -> list[Cell]:
    r, c = room
    return [x for x in ((r - 2, c), (r, c + 2), (r + 2, c), (r, c - 2)) if x in rooms]


def _tree_dfs(rooms: list[Cell], rng: random.Random) -> Iterator[tuple[Cell, Cell]]:
    every, stack = set(rooms), [rng.choice(rooms)]
    seen = set(stack)
    while stack:
        choices = [n for n in _near(stack[-1], every) if n not in seen]
        if not choices:
            stack.pop()
            continue
        after = rng.choice(choices)
        yield stack[-1], after
        seen.add(after)
        stack.append(after)


def _tree_kruskal(rooms: list[Cell], rng: random.Random) -> Iterator[tuple[Cell, Cell]]:
    every = set(rooms)
    edges = [(a, b) for a in rooms for b in _near(a, every) if a < b]
    rng.shuffle(edges)
    root = {room: room for room in rooms}

    def find(room: Cell) -> Cell:
        while root[room] != room:
            room = root[room]
        return room

    for a, b in edges:
        if find(a) != find(b):
            root[find(a)] = find(b)
            yield a, b


def canonical(maze: Maze) -> str:
    """Return the same text for a maze and its images under the eight symmetries of the square."""
    grid = np.array([list(row) for row in maze.rows])
    grid[maze.start], grid[maze.end] = "S", "E"
    forms = []
    for turned in (np.rot90(grid, k) for k in range(4)):
        forms += ["".join(turned.ravel()), "".join(np.fliplr(turned).ravel())]
    return min(forms)


def twin(maze: Maze, rng: random.Random) -> tuple[Maze, Cell] | None:
    """Wall one cell of the path so that no path is left, or return None if no cell qualifies.

    The cell has exactly two neighbours that can be walked, lies at least 4 moves from both ends,
    and leaves two regions of at least 5 cells.
    """
    path = solve(maze)
    if path is None:
        raise IcgError("a twin needs a maze with a path", remedy="give the feasible maze")
    cells = [c for c in path[CLEAR : len(path) - CLEAR] if len(list(maze.neighbours(c))) == 2]
    rng.shuffle(cells)
    for r, c in cells:
        rows = list(maze.rows)
        rows[r] = rows[r][:c] + "#" + rows[r][c + 1 :]
        walled = maze._replace(rows=tuple(rows))
        parts = region(walled, maze.start), region(walled, maze.end)
        if not parts[0] & parts[1] and min(map(len, parts)) >= REGION:
            return walled, (r, c)
    return None


def make_pairs(n: int = 150, *, seed: int = 42) -> list[Pair]:
    """Make pairs of mazes, the sizes in turn, none equal to another under the eight symmetries.

    There are few small mazes with a twin: a size that gives no new one in 2,000 tries is left out
    from then on.

    Parameters
    ----------
    n : int
        Pairs.
    seed : int
        The same seed gives the same pairs.

    Raises
    ------
    IcgError
        If the sizes do not hold so many different mazes.

    Examples
    --------
    >>> pair = make_pairs(1)[0]
    >>> solve(pair.feasible) is not None, solve(pair.infeasible) is None
    (True, True)
    """
    rng = random.Random(seed)
    pairs: list[Pair] = []
    seen: set[str] = set()
    sizes, failures = list(SIZES), 0
    while len(pairs) < n and sizes:
        size = sizes[len(pairs) % len(sizes)]
        maze = carve(size, rng, ("dfs", "kruskal")[(len(pairs) // len(SIZES) + failures) % 2])
        key = canonical(maze)
        made = None if key in seen else twin(maze, rng)
        if made is None:
            failures += 1
            if failures > _PATIENCE:
                sizes.remove(size)
                failures = 0
            continue
        failures = 0
        seen.add(key)
        pairs.append(Pair(f"maze-{len(pairs) + 1:03d}", maze, made[0], tuple(solve(maze) or ()), made[1]))
    if len(pairs) < n:
        raise IcgError(
            "not enough different mazes", got=len(pairs), allowed=f"{n} pairs", remedy="ask for fewer"
        )
    return pairs


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
