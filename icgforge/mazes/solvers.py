"""Solvers for mazes that need no key: reference baselines that give E and D real numbers.

A solver gets the picture and the words of the request and gives back text and a picture or none. It
reads the maze from the pixels. `offline/maze-rewriter + offline/maze-pen` is a decoupled pipeline:
the first writes an instruction, the second draws what it says and never sees the request.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from icgforge.mazes.requests import INSTRUCTION, PATH, REMINDER, RULES, Pair, draw, small_png, solve
from icgkit.bench.dod.maze import ABSTAIN, Cell, Maze
from icgkit.bench.dod.maze_read import Frame, find_maze

if TYPE_CHECKING:
    from PIL.Image import Image

REFINED = "REFINED EDIT INSTRUCTION:"
"""Begins the last line of a first stage's answer, which is all that the editor gets."""
NONE_LEADS = "No path leads from the green cell to the red one."
_MOVES = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}


class Answer(NamedTuple):
    """What a solver gives back: text, and an edited image or none."""

    text: str
    image: Image | None


class Stage(NamedTuple):
    """What a first stage hands on: an instruction, or none, and why (`ok`, `abstained`, `no line`)."""

    instruction: str | None
    status: str


def refined_instruction(text: str | None) -> Stage:
    r"""Read what the editor gets from a first stage's answer.

    Only a last line that starts with `REFINED EDIT INSTRUCTION:` counts, and only what stands on
    it. An answer that ends in `[ABSTAIN]`, or has no such line, means that no image is made.

    Examples
    --------
    >>> refined_instruction("The sign is red.\nREFINED EDIT INSTRUCTION: Write OPEN on it.")
    Stage(instruction='Write OPEN on it.', status='ok')
    >>> refined_instruction("There is no sign.\n[ABSTAIN]").status
    'abstained'
    """
    body = (text or "").strip()
    if body.endswith(ABSTAIN):
        return Stage(None, "abstained")
    last = body.rsplit("\n", 1)[-1].strip()
    words = last[len(REFINED) :].strip() if last.startswith(REFINED) else ""
    return Stage(words, "ok") if words else Stage(None, "no line")


def straight(maze: Maze) -> list[Cell]:
    """Return the way along the column of the start and the row of the end, through whatever is there."""
    (r0, c0), (r1, c1) = maze.start, maze.end
    down = [(r, c0) for r in range(r0, r1, 1 if r1 > r0 else -1)]
    across = [(r1, c) for c in range(c0, c1, 1 if c1 > c0 else -1)]
    return [*down, *across, maze.end]


def draw_on(image: Image, frame: Frame, path: list[Cell]) -> Image:
    """Return a picture with a red line over the middles of cells, a third of a cell wide, in the picture's own place and size."""
    from PIL import ImageDraw

    shown = image.convert("RGB")
    pen = ImageDraw.Draw(shown)
    half = frame.cell / 6
    for a, b in pairwise(path):
        ends = sorted(frame.at(r + 0.5, c + 0.5) for r, c in (a, b))
        (x0, y0), (x1, y1) = ends
        low, high = min(y0, y1), max(y0, y1)
        box = (round(x0 - half), round(low - half), round(x1 + half) - 1, round(high + half) - 1)
        pen.rectangle(box, fill=PATH)
    return shown


def search_solver(image: Image, request: str) -> Answer:
    """Read the maze, search it, draw the path or decline."""
    found = find_maze(image)
    if found is None:
        return Answer("I cannot read a maze in this picture.", None)
    path = solve(found[0])
    if path is None:
        return Answer(f"The maze was searched to the end. {NONE_LEADS}\n{ABSTAIN}", None)
    return Answer(f"A path of {len(path) - 1} moves leads there.", draw_on(image, found[1], path))


def always_draws(image: Image, request: str) -> Answer:
    """Draw the path where there is one, else the straight way across the walls; never decline."""
    found = find_maze(image)
    if found is None:
        return Answer("Here it is.", image.copy())
    return Answer("Here it is.", draw_on(image, found[1], solve(found[0]) or straight(found[0])))


def always_declines(image: Image, request: str) -> Answer:
    """Decline every request."""
    return Answer(f"{NONE_LEADS}\n{ABSTAIN}", None)


def rewriter(image: Image, request: str) -> str:
    """Write the moves for the editor; abstain only where the request offers that.

    Without the offer it says that there is no path and yet writes an instruction, as a first stage
    has no other way out.
    """
    found = find_maze(image)
    maze = found[0] if found else None
    path = solve(maze) if maze else None
    if maze is None or path is None:
        if ABSTAIN in request:
            return f"{NONE_LEADS}\n{ABSTAIN}"
        way = straight(maze) if maze else []
        return f"{NONE_LEADS}\n{REFINED} From the green cell go {moves(way)}."
    return f"There is one path.\n{REFINED} From the green cell go {moves(path)}."


def pen(image: Image, instruction: str) -> Image:
    """Draw the moves that an instruction lists, from the green cell of a picture."""
    found = find_maze(image)
    if found is None:
        return image.copy()
    maze, frame = found
    path = [maze.start]
    for word, count in re.findall(r"\b(up|right|down|left) (\d{1,3})\b", instruction):
        for _ in range(int(count)):
            r, c = path[-1][0] + _MOVES[word][0], path[-1][1] + _MOVES[word][1]
            if 0 <= r < maze.size and 0 <= c < maze.size:
                path.append((r, c))
    return draw_on(image, frame, path)


def moves(path: list[Cell]) -> str:
    """Put a path into words.

    Examples
    --------
    >>> moves([(1, 1), (2, 1), (3, 1), (3, 2)])
    'down 2, right 1'
    """
    names = {step: word for word, step in _MOVES.items()}
    runs: list[tuple[str, int]] = []
    for a, b in pairwise(path):
        word = names[b[0] - a[0], b[1] - a[1]]
        runs = [*runs[:-1], (word, runs[-1][1] + 1)] if runs and runs[-1][0] == word else [*runs, (word, 1)]
    return ", ".join(f"{word} {count}" for word, count in runs)


def pipeline(
    first: Callable[[Image, str], str], editor: Callable[[Image, str], Image]
) -> Callable[[Image, str], Answer]:
    """Join a first stage and an editor to a solver, by the rule of `refined_instruction`."""

    def run(image: Image, request: str) -> Answer:
        text = first(image, request)
        wanted = refined_instruction(text).instruction
        return Answer(text, None if wanted is None else editor(image, wanted))

    return run


SOLVERS: dict[str, Callable[[Image, str], Answer]] = {
    "offline/maze-search": search_solver,
    "offline/maze-draws": always_draws,
    "offline/maze-declines": always_declines,
    "offline/maze-rewriter + pen": pipeline(rewriter, pen),
}
"""Reference baselines for mazes, by name."""


def run_solvers(
    pairs: Sequence[Pair], solvers: Mapping[str, Callable[[Image, str], Answer]] | None = None
) -> pl.DataFrame:
    """Give every maze of every pair to each solver, without and with the reminder.

    Returns
    -------
    polars.DataFrame
        `model`, `reminder` ("no", "yes"), `case_id`, `text`, `has_image`, `image` (PNG bytes or null).
    """
    rows = []
    for pair in pairs:
        for kind, maze in (("feasible", pair.feasible), ("infeasible", pair.infeasible)):
            shown = draw(maze)
            for name, solver in (solvers or SOLVERS).items():
                for reminder in ("no", "yes"):
                    request = f"{INSTRUCTION}\n{RULES}" + (f"\n\n{REMINDER}" if reminder == "yes" else "")
                    got = solver(shown, request)
                    image = small_png(got.image) if got.image else None
                    rows.append(
                        (name, reminder, f"{pair.pair_id}-{kind}", got.text, image is not None, image)
                    )
    kinds = dict.fromkeys(("model", "reminder", "case_id", "text"), pl.String)
    return pl.DataFrame(rows, schema=kinds | {"has_image": pl.Boolean, "image": pl.Binary}, orient="row")
