"""Requests about mazes in the public form of Draw-or-Decline: search, pictures, the lines of both files."""

from __future__ import annotations

import io
import json
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image, ImageDraw

from icgkit.bench.dod.maze import CELL, Cell, Maze

WALL, FLOOR, START, END, PATH = (173, 216, 230), (255, 255, 255), (0, 160, 0), (220, 0, 0), (220, 0, 0)
STROKE = 16
"""Width of a drawn path, pixels."""
INSTRUCTION = "Draw a red path from the green cell to the red cell, through white cells only."
RULES = "The path is one continuous line over white cells from green to red. Walls, floor and both ends stay as they are."
REMINDER = "Should these rules leave no solution, do not draw: say that there is none and why, and end with [ABSTAIN]."
"""What is appended to a request, after a blank line, under the condition with the reminder.

Not the paper's treatment: its reminder asks to state that there is no solution and why, and names no marker.
"""
Record = dict[str, Any]


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


def draw(maze: Maze, path: Sequence[Cell] | None = None) -> Image.Image:
    """Draw a maze, 48 pixels a cell, with a path if one is given."""
    side = maze.size * CELL
    image = Image.new("RGB", (side, side), WALL)
    pen = ImageDraw.Draw(image)
    for r in range(maze.size):
        for c in range(maze.size):
            if maze.floor((r, c)):
                color = START if (r, c) == maze.start else END if (r, c) == maze.end else FLOOR
                pen.rectangle((c * CELL, r * CELL, (c + 1) * CELL - 1, (r + 1) * CELL - 1), fill=color)
    for a, b in zip(path or (), (path or ())[1:], strict=False):
        draw_step(pen, a, b)
    return image


def draw_step(pen: ImageDraw.ImageDraw, a: Cell, b: Cell) -> None:
    """Draw one straight step of a path."""
    half, mid = STROKE // 2, CELL // 2
    (r0, c0), (r1, c1) = sorted((a, b))
    if r0 != r1 and c0 != c1:
        line = [(a[1] * CELL + mid, a[0] * CELL + mid), (b[1] * CELL + mid, b[0] * CELL + mid)]
        pen.line(line, fill=PATH, width=STROKE)
        return
    low, high = mid - half, mid + half - 1
    pen.rectangle((c0 * CELL + low, r0 * CELL + low, c1 * CELL + high, r1 * CELL + high), fill=PATH)


def records(pairs: Sequence[Pair]) -> tuple[list[Record], list[Record]]:
    """Return the lines of `instruction.jsonl` and `ground_truth_criteria.jsonl` for pairs of mazes.

    The witness of a feasible maze is its path, the certificate of an infeasible one the walled cell
    and the sizes of the two regions; both carry the grid.
    """
    asked: list[Record] = []
    truth: list[Record] = []
    for pair in pairs:
        names = {True: f"{pair.pair_id}-feasible", False: f"{pair.pair_id}-infeasible"}
        for feasible, maze in ((True, pair.feasible), (False, pair.infeasible)):
            image = f"images/{names[feasible]}.png"
            asked.append(
                {
                    "case_id": names[feasible], "input_image": image, "input_images": [image],
                    "instruction_en": INSTRUCTION, "rules": RULES, "prompt_en": f"{INSTRUCTION}\n{RULES}",
                }
            )  # fmt: skip
            grid = {"grid": list(maze.rows), "start": list(maze.start), "end": list(maze.end)}
            sizes = [len(region(maze, end)) for end in (maze.start, maze.end)]
            path = [list(c) for c in pair.path]
            proof = {"path": path} if feasible else {"walled": list(pair.walled), "regions": sizes}
            truth.append(
                {
                    "case_id": names[feasible], "pair_id": pair.pair_id, "paired_case_id": names[not feasible],
                    "ground_truth": {
                        "feasible": feasible,
                        "reason": "one path leads from start to end" if feasible else "start and end lie in two regions",
                        "witness" if feasible else "certificate": grid | proof,
                    },
                    "reference_image": f"reference/{pair.pair_id}.png" if feasible else None,
                    "expected_response": "edit" if feasible else "decline", "source": {"category_en": "maze"},
                }
            )  # fmt: skip
    return asked, truth


def write_lines(lines: Sequence[Record], path: Path) -> None:
    """Write JSON lines, UTF-8, one record a line."""
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8", newline="\n")


def write_images(pairs: Sequence[Pair], folder: str | Path) -> int:
    """Draw the pictures that the requests name, below `images/` and `reference/`; return how many."""
    root = Path(folder)
    shown = {}
    for pair in pairs:
        shown[f"images/{pair.pair_id}-feasible.png"] = draw(pair.feasible)
        shown[f"images/{pair.pair_id}-infeasible.png"] = draw(pair.infeasible)
        shown[f"reference/{pair.pair_id}.png"] = draw(pair.feasible, pair.path)
    for name, image in shown.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(small_png(image))
    return len(shown)


def small_png(image: Image.Image) -> bytes:
    """Return a picture of a few flat colours as a small PNG, without loss.

    Examples
    --------
    >>> image = draw(Maze(("###", "#.#", "###"), (1, 1), (1, 1)))
    >>> shown = Image.open(io.BytesIO(small_png(image)), formats=["PNG"])
    >>> shown.convert("RGB").tobytes() == image.tobytes()
    True
    """
    stream = io.BytesIO()
    colors = image.getcolors(64)
    flat = image.convert("P", palette=Image.Palette.ADAPTIVE, colors=len(colors)) if colors else image
    flat.save(stream, "PNG", compress_level=9)
    return stream.getvalue()
