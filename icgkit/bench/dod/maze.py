"""Mazes of Draw-or-Decline: colours and grid, read from a request; what makes mazes is `icgforge.mazes`.

A maze is a square of cells with a closed outer wall; its rooms are the cells with odd coordinates.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from icgkit.errors import SchemaError

SIZES = (7, 9, 11)
ABSTAIN = "[ABSTAIN]"
"""Ends an answer that declines."""
CELL = 48
"""Pixels a cell."""
Cell = tuple[int, int]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@lru_cache(maxsize=1024)
def _floors(rows: tuple[str, ...]) -> frozenset[Cell]:
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
        for dr, dc in ((-1, 0), (0, 1), (1, 0), (0, -1)):
            if self.floor(after := (cell[0] + dr, cell[1] + dc)):
                yield after


def maze_of(proof: str) -> Maze:
    """Rebuild a maze from a request's column `evidence`, or `proof`.

    The public files carry the grid in `grid_evidence` (0 floor, 1 wall) or, in the training set, only the
    regions of the infeasible twin in `program_verification`; the cached records here carry it in the
    witness or certificate. What is no grid (a square of 0 and 1 with both ends on the floor) is an error.
    """
    try:
        told = json.loads(proof)
        evidence, checked = told.get("grid_evidence"), told.get("program_verification")
        inner = told.get("witness") or told.get("certificate")
        if isinstance(evidence, dict):
            return _maze(evidence["grid"], evidence["start"], evidence["goal"])
        if isinstance(inner, dict):
            return _maze(inner["grid"], inner["start"], inner["end"])
        if isinstance(checked, dict):
            return _verified(checked, feasible=bool(told.get("feasible")))
        raise KeyError("grid_evidence")
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as exc:
        raise SchemaError(
            "maze: no grid in the proof", got=f"{type(exc).__name__}: {exc}"[:80],
            allowed="grid_evidence, program_verification, or a witness with a grid",
            remedy="read the files with icgkit.bench.dod.files.read",
        ) from None  # fmt: skip


def _maze(grid: Sequence[Any], start: Sequence[int], end: Sequence[int]) -> Maze:
    rows = tuple("".join("#" if v in (1, "#") else "." for v in row) for row in grid)
    known = all(v in (0, 1, "#", ".") for row in grid for v in row)
    first, last = ((int(r), int(c)) for r, c in (start, end))
    maze = Maze(rows, first, last)
    if not known or not 3 <= len(rows) <= 99 or any(len(r) != len(rows) for r in rows):
        raise ValueError("the grid is no square of 0 and 1")
    if not maze.floor(first) or not maze.floor(last):
        raise ValueError("an end lies in a wall or outside")
    return maze


def _verified(checked: dict[str, Any], *, feasible: bool) -> Maze:
    """Rebuild a maze from the regions of its infeasible twin and the cells that were changed."""
    parts = ("negative_start_reachable_set", "negative_end_reachable_set")
    changed = [c["row_col"] for c in checked["changed_cells"] if (c["A"], c["B"]) == (".", "#")]
    floor = {(int(r), int(c)) for name in parts for r, c in checked[name]}
    if feasible:
        floor |= {(int(r), int(c)) for r, c in (*changed, *checked["positive_path"])}
    size = 2 + max(max(cell) for cell in floor)
    if size > 99:
        raise ValueError("the maze is too large")
    grid = [[0 if (r, c) in floor else 1 for c in range(size)] for r in range(size)]
    return _maze(grid, checked["start"], checked["end"])


def red_chroma(rgb: NDArray[np.uint8]) -> NDArray[np.int16]:
    """Return the chroma (0 to 255) of colours whose hue lies within 25 degrees of pure red, 0 for others."""
    r, g, b = (rgb[..., k].astype(np.int16) for k in range(3))
    low, high = np.minimum(g, b), np.maximum(g, b)
    chroma = r - low
    # 5 / 12 is 25 degrees of a sixth of the circle; 12 * 255 fits the type.
    return np.where((high <= r) & (12 * (high - low) <= 5 * chroma), chroma, 0)


def reddish(rgb: Any, least: float = 60) -> Mask:
    """Tell which colours are red: hue within 25 degrees of pure red, chroma of `least` or more."""
    return np.asarray(red_chroma(np.asarray(rgb).astype(np.uint8)) >= least)


def balanced(pixels: NDArray[np.uint8], floor: Floats) -> NDArray[np.uint8]:
    """Return a picture with its floor made white."""
    levels = np.clip(np.arange(256) * (255 / floor[:, None]), 0, 255).astype(np.uint8)
    return np.asarray(Image.fromarray(pixels).point(levels.ravel().tolist()))


def greenish(rgb: Any, least: float = 50) -> Mask:
    """Tell which colours are green: hue from 75 to 170 degrees, chroma of `least` or more."""
    r, g, b = (np.asarray(rgb[..., k], dtype=np.float32) for k in range(3))
    chroma = g - np.minimum(r, b)
    near = np.where(r > b, (r - b) <= 0.75 * chroma, (b - r) <= 0.83 * chroma)
    return np.asarray((chroma >= least) & (np.maximum(r, b) < g) & near)
