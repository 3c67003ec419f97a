"""Edited mazes with a fault that is known, to see what the judge makes of them."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from icgkit.bench.maze_judge import judge
from icgkit.bench.mazes import CELL, FLOOR, WALL, Cell, Maze, Pair, draw, draw_step

if TYPE_CHECKING:
    import polars as pl
    from PIL.Image import Image

EXPECTED = {
    "path broken": "path broken", "wall crossed": "wall crossed", "wall changed": "wall changed",
    "diagonal step": "diagonal step", "floor recoloured": "floor changed", "shifted": "shifted",
    "JPEG at quality 60": "valid", "resized by 0.8": "valid",
}  # fmt: skip
"""What is done to a correct edit, and the verdict that is due."""
COLORS = ((255, 244, 180), (210, 210, 210), (200, 240, 200), (235, 200, 240), WALL)


class Edited(NamedTuple):
    """A maze with an edited picture: what was done to it, and the cells that it was done to."""

    pair_id: str
    maze: Maze
    fault: str
    cells: tuple[Cell, ...]
    image: Image


def jpeg(image: Image, quality: int) -> Image:
    """Return the picture after JPEG compression."""
    from PIL import Image as images

    stream = io.BytesIO()
    image.save(stream, "JPEG", quality=quality)
    return images.open(stream).convert("RGB")


def resized(image: Image, factor: float) -> Image:
    """Return the picture at another size (Lanczos)."""
    from PIL import Image as images

    size = (round(image.width * factor), round(image.height * factor))
    return image.resize(size, images.Resampling.LANCZOS)


def _fill(image: Image, cell: Cell, color: tuple[int, int, int]) -> None:
    from PIL import ImageDraw

    r, c = cell
    ImageDraw.Draw(image).rectangle((c * CELL, r * CELL, (c + 1) * CELL - 1, (r + 1) * CELL - 1), fill=color)


def _broken(pair: Pair, rng: random.Random) -> tuple[Image, list[Cell]]:
    """Leave out one or two steps in the middle of the path."""
    from PIL import ImageDraw

    path = pair.path
    at = rng.randrange(1, len(path) - 2)
    image = draw(pair.feasible)
    pen = ImageDraw.Draw(image)
    for k, (a, b) in enumerate(pairwise(path)):
        if k != at:
            draw_step(pen, a, b)
    return image, [path[at], path[at + 1]]


def _crossed(pair: Pair, rng: random.Random) -> tuple[Image, list[Cell]] | None:
    """Cut off a bend: go straight through a wall cell that has the path on both sides."""
    path, maze = pair.path, pair.feasible
    where = {cell: k for k, cell in enumerate(path)}
    cuts = []
    for (r, c), k in where.items():
        for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            wall, far = (r + dr, c + dc), (r + 2 * dr, c + 2 * dc)
            if not maze.floor(wall) and where.get(far, -1) > k:
                cuts.append((k, wall, where[far]))
    if not cuts:
        return None
    k, wall, m = rng.choice(cuts)
    return draw(maze, [*path[: k + 1], wall, *path[m:]]), [wall]


def _wall(pair: Pair, rng: random.Random) -> tuple[Image, list[Cell]]:
    """Take a wall cell away, or paint it."""
    maze = pair.feasible
    walls = [(r, c) for r in range(maze.size) for c in range(maze.size) if not maze.floor((r, c))]
    cell = rng.choice(walls)
    image = draw(maze, pair.path)
    _fill(image, cell, rng.choice((FLOOR, FLOOR, (120, 120, 120), (150, 230, 150))))
    return image, [cell]


def _diagonal(pair: Pair, rng: random.Random) -> tuple[Image, list[Cell]] | None:
    """Cut one corner of the path."""
    path = pair.path
    corners = [
        k for k in range(1, len(path) - 1)
        if path[k - 1][0] != path[k + 1][0] and path[k - 1][1] != path[k + 1][1]
    ]  # fmt: skip
    if not corners:
        return None
    k = rng.choice(corners)
    return draw(pair.feasible, [*path[:k], *path[k + 1 :]]), [path[k - 1], path[k + 1]]


def _floor(pair: Pair, rng: random.Random) -> tuple[Image, list[Cell]]:
    """Paint a floor cell that is not on the path."""
    maze = pair.feasible
    free = [
        (r, c) for r in range(maze.size) for c in range(maze.size)
        if maze.floor((r, c)) and (r, c) not in pair.path
    ]  # fmt: skip
    cells = free or list(pair.path[1:-1])
    cell = rng.choice(cells)
    image = draw(maze)
    _fill(image, cell, rng.choice(COLORS))
    from PIL import ImageDraw

    pen = ImageDraw.Draw(image)
    for a, b in pairwise(pair.path):
        draw_step(pen, a, b)
    return image, [cell]


def _shifted(pair: Pair, rng: random.Random) -> tuple[Image, list[Cell]]:
    """Move the whole picture by 6 to 48 pixels; what comes in is wall."""
    from PIL import Image as images

    image = draw(pair.feasible, pair.path)
    dx, dy = (rng.choice((-1, 1)) * rng.randrange(6, 49) for _ in range(2))
    if rng.random() < 0.5:
        dx, dy = (dx, 0) if rng.random() < 0.5 else (0, dy)
    moved = images.new("RGB", image.size, WALL)
    moved.paste(image, (dx, dy))
    return moved, []


_MAKERS: dict[str, Callable[[Pair, random.Random], tuple[Image, list[Cell]] | None]] = {
    "path broken": _broken, "wall crossed": _crossed, "wall changed": _wall, "diagonal step": _diagonal,
    "floor recoloured": _floor, "shifted": _shifted,
    "JPEG at quality 60": lambda pair, rng: (jpeg(draw(pair.feasible, pair.path), 60), []),
    "resized by 0.8": lambda pair, rng: (resized(draw(pair.feasible, pair.path), 0.8), []),
}  # fmt: skip


def make_edited(
    pairs: Sequence[Pair], n: int = 1000, *, faults: Sequence[str] = tuple(EXPECTED), seed: int = 42
) -> Iterator[Edited]:
    """Yield edited mazes, the faults in turn, each with the cells that it was done to.

    A maze that cannot have a fault (no bend to cut off) is passed over.

    Parameters
    ----------
    pairs : sequence of Pair
        Mazes, used in turn.
    n : int
        How many edits.
    faults : sequence of str
        Of `EXPECTED`.

    Examples
    --------
    >>> from icgkit.bench.mazes import make_pairs
    >>> [e.fault for e in make_edited(make_pairs(3), 2)]
    ['path broken', 'wall crossed']
    """
    rng = random.Random(seed)
    at, made = 0, 0
    while made < n:
        fault = faults[made % len(faults)]
        pair = pairs[at % len(pairs)]
        at += 1
        got = _MAKERS[fault](pair, rng)
        if got is not None:
            made += 1
            yield Edited(pair.pair_id, pair.feasible, fault, tuple(got[1]), got[0])


def judge_edited(
    edited: Sequence[Edited] | Iterator[Edited], *, then: Callable[[Image], Image] | None = None
) -> pl.DataFrame:
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
        One row an edit: `pair_id`, `size`, `fault`, `due` (verdict that is due), `verdict` (first
        broken rule, or `valid`), `rules` (all broken ones), `right`, `named` (the due rule is among
        those found), `placed` (the judge names a cell that the fault was done to; null without one).
    """
    import polars as pl

    rows: list[dict[str, Any]] = []
    for e in edited:
        verdict = judge(e.maze, then(e.image) if then else e.image)
        due = EXPECTED[e.fault]
        cells = {c for b in verdict.broken if b.rule == due for c in b.cells}
        rows.append(
            {
                "pair_id": e.pair_id, "size": e.maze.size, "fault": e.fault, "due": due,
                "verdict": verdict.main, "rules": "; ".join(verdict.rules), "right": verdict.main == due,
                "named": due in verdict.rules or (due == "valid" and verdict.valid),
                "placed": bool(cells & set(e.cells)) if e.cells else None,
            }
        )  # fmt: skip
    kinds: dict[str, Any] = dict.fromkeys(("pair_id", "fault", "due", "verdict", "rules"), pl.String)
    kinds |= dict.fromkeys(("right", "named", "placed"), pl.Boolean) | {"size": pl.Int64}
    columns = ("pair_id", "size", "fault", "due", "verdict", "rules", "right", "named", "placed")
    return pl.DataFrame(rows, schema={c: kinds[c] for c in columns})


def confusion(judged: pl.DataFrame) -> pl.DataFrame:
    """Count verdicts by fault.

    Returns
    -------
    polars.DataFrame
        One row a fault: `fault`, `due`, `n`, one column a verdict (count), then `right` (share with
        the verdict that is due) and `placed` (share of edits where a cell of the fault is named).
    """
    import polars as pl

    from icgkit.bench.maze_judge import RULES

    seen = set(judged["verdict"])
    verdicts = [v for v in ("valid", *RULES) if v in seen]
    return (
        judged.group_by("fault", "due", maintain_order=True)
        .agg(
            pl.len().alias("n"),
            *((pl.col("verdict") == v).sum().cast(pl.Int64).alias(v) for v in verdicts),
            pl.col("right").mean().alias("right"),
            pl.col("placed").mean().alias("placed"),
        )
        .with_columns(pl.col("n").cast(pl.Int64))
    )


CHANGES: dict[str, tuple[Callable[[Image, float], Image], tuple[float, ...]]] = {
    "JPEG quality": (lambda image, level: jpeg(image, int(level)), (90, 60, 50, 30, 20, 10, 5)),
    "size": (resized, (1.7, 0.8, 0.5, 0.35, 0.25, 0.2, 0.15)),
}
"""Changes that leave an edit as it is, and how far each is driven to see where the judge gives in."""


def tolerance(edited: Sequence[Edited]) -> pl.DataFrame:
    """Judge the same edits after ever stronger compression and ever smaller size.

    Returns
    -------
    polars.DataFrame
        One row a change and level: `change`, `level` (quality, or factor), `n`, `right` (share with the
        verdict that is due), `rejected` (valid edits taken as broken, share of the valid), `accepted`
        (faulty edits taken as valid, share of the faulty).
    """
    import polars as pl

    rows = []
    for change, (apply, levels) in CHANGES.items():
        for level in levels:
            got = judge_edited(edited, then=lambda image, a=apply, v=level: a(image, v))  # type: ignore[misc]
            fine = got.filter(pl.col("due") == "valid")
            bad = got.filter(pl.col("due") != "valid")
            shares = [(fine["verdict"] != "valid").mean(), (bad["verdict"] == "valid").mean()]
            rows.append((change, float(level), got.height, got["right"].mean(), *shares))
    kinds = {"change": pl.String, "level": pl.Float64, "n": pl.Int64}
    return pl.DataFrame(
        rows, schema=kinds | dict.fromkeys(("right", "rejected", "accepted"), pl.Float64), orient="row"
    )
