"""Mazes of Draw-or-Decline: feasible ones and their infeasible twins, proved by search.

A maze is a square of 7, 9 or 11 cells with a closed outer wall; its rooms are the cells with odd
coordinates, joined by a spanning tree. The twin walls one cell of the only path from start to end.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from icgforge.mazes.requests import Pair, region, solve
from icgkit.bench.dod.maze import SIZES, Cell, Maze
from icgkit.errors import IcgError

CLEAR = 4
"""Least moves between the walled cell of a twin and either end."""
REGION = 5
"""Least cells of each region of a twin."""

_PATIENCE = 2000


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
