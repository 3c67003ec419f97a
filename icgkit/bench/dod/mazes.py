"""Draw-or-Decline on mazes: requests in the public form, answers of solvers, verdicts from pixels."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icgkit.bench.dod.maze import INSTRUCTION, Maze, Pair, draw, region
from icgkit.bench.dod.maze_judge import Limits, Measured, Verdict, judge
from icgkit.errors import SchemaError

if TYPE_CHECKING:
    import polars as pl
    from PIL.Image import Image

RULES = "The path is one continuous line over white cells from green to red. Walls, floor and both ends stay as they are."
REMINDER = "Should these rules leave no solution, do not draw: say that there is none and why, and end with [ABSTAIN]."
"""What is appended to a request, after a blank line, under the condition with the reminder.

Not the paper's treatment: its reminder asks to state that there is no solution and why, and names no marker.
"""
Record = dict[str, Any]


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
            proof = (
                {"path": [list(c) for c in pair.path]}
                if feasible
                else {"walled": list(pair.walled), "regions": sizes}
            )
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
    count = 0
    for pair in pairs:
        shown = {
            f"images/{pair.pair_id}-feasible.png": draw(pair.feasible),
            f"images/{pair.pair_id}-infeasible.png": draw(pair.infeasible),
            f"reference/{pair.pair_id}.png": draw(pair.feasible, pair.path),
        }
        for name, image in shown.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(small_png(image))
            count += 1
    return count


def small_png(image: Image) -> bytes:
    """Return a picture of a few flat colours as a small PNG, without loss.

    Examples
    --------
    >>> from icgforge.mazes.mazes import make_pairs
    >>> from icgkit.bench.dod.maze import draw
    >>> image = draw(make_pairs(1)[0].feasible)
    >>> from PIL import Image
    >>> Image.open(io.BytesIO(small_png(image)), formats=["PNG"]).convert("RGB").tobytes() == image.tobytes()
    True
    """
    from PIL import Image as images

    stream = io.BytesIO()
    colors = image.getcolors(64)
    flat = image.convert("P", palette=images.Palette.ADAPTIVE, colors=len(colors)) if colors else image
    flat.save(stream, "PNG", compress_level=9)
    return stream.getvalue()


def read_image(data: bytes) -> Image:
    """Return the picture of PNG, JPEG or WebP bytes, RGB, of 4,096 pixels a side at most."""
    from PIL import Image as images

    with images.open(io.BytesIO(data), formats=["PNG", "JPEG", "WEBP"]) as shown:
        if max(shown.size) > 4096:
            raise OSError(f"the picture is {shown.width} x {shown.height} pixels")
        return shown.convert("RGB")


def maze_of(proof: str) -> Maze:
    """Rebuild a maze from a request's column `evidence`, or `proof`.

    The public files carry the grid in `grid_evidence` (0 floor, 1 wall) or, in the training set, only the
    regions of the infeasible twin in `program_verification`; the cached records here carry it in the
    witness or certificate.

    Raises
    ------
    SchemaError
        If there is no grid, or it is none: not a square of 0 and 1, ends outside or in a wall.

    Examples
    --------
    >>> told = {"grid": [[1, 1, 1, 1], [1, 0, 0, 1], [1, 1, 0, 1], [1, 1, 1, 1]], "start": [1, 1], "goal": [2, 2]}
    >>> maze_of(json.dumps({"grid_evidence": told})).rows
    ('####', '#..#', '##.#', '####')
    """
    try:
        told = json.loads(proof)
        evidence, checked = told.get("grid_evidence"), told.get("program_verification")
        inner = told.get("witness") or told.get("certificate")
        if isinstance(evidence, dict):
            maze = _maze(evidence["grid"], evidence["start"], evidence["goal"])
        elif isinstance(inner, dict):
            maze = _maze(inner["grid"], inner["start"], inner["end"])
        elif isinstance(checked, dict):
            maze = _verified(checked, feasible=bool(told.get("feasible")))
        else:
            raise KeyError("grid_evidence")
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as exc:
        raise SchemaError(
            "maze: no grid in the proof",
            got=f"{type(exc).__name__}: {exc}"[:80],
            allowed="grid_evidence, program_verification, or a witness with a grid",
            remedy="read the files with draw_or_decline.read",
        ) from None
    return maze


def _maze(grid: Sequence[Any], start: Sequence[int], end: Sequence[int]) -> Maze:
    rows = tuple("".join("#" if v in (1, "#") else "." for v in row) for row in grid)
    known = all(v in (0, 1, "#", ".") for row in grid for v in row)
    cells = [(int(r), int(c)) for r, c in (start, end)]
    maze = Maze(rows, *cells)
    if not known or not 3 <= len(rows) <= 99 or any(len(r) != len(rows) for r in rows):
        raise ValueError("the grid is no square of 0 and 1")
    if not all(maze.floor(c) for c in cells):
        raise ValueError("an end lies in a wall or outside")
    return maze


def _verified(checked: Record, *, feasible: bool) -> Maze:
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


def judge_mazes(
    answers: pl.DataFrame, requests: pl.DataFrame, *, limits: Limits | None = None
) -> pl.DataFrame:
    """Judge the edited mazes of feasible requests from their pixels.

    Parameters
    ----------
    answers : frame
        See `icgforge.mazes.solvers.run_solvers`; a picture that cannot be decoded stays pending.
    requests : frame
        See `draw_or_decline.read`, with the grid in `evidence` or `proof`.
    limits : Limits, optional
        Thresholds of the judge (see `maze_judge.Limits`).

    Returns
    -------
    polars.DataFrame
        `model`, `reminder`, `case_id`, `valid` (null: pending), `verdict` (first broken rule or "valid"),
        `status`, and what was measured (see `maze_judge.Measured`).
    """
    import polars as pl

    told = requests.filter("feasible", category="maze")
    proof = pl.coalesce("evidence", "proof") if "evidence" in told.columns else pl.col("proof")
    proofs = dict(told.select("case_id", proof).iter_rows())
    seen: dict[tuple[str, bytes], Verdict | None] = {}
    rows = []
    columns = ("model", "reminder", "case_id", "image")
    for model, reminder, case_id, image in answers.select(columns).iter_rows():
        if image is None or case_id not in proofs:
            continue
        if (case_id, image) not in seen:
            try:
                shown = read_image(image)
            except OSError:
                seen[case_id, image] = None
            else:
                seen[case_id, image] = judge(maze_of(proofs[case_id] or "{}"), shown, limits=limits)
        got = seen[case_id, image]
        if got is None:
            known: tuple[Any, ...] = (None, None, "the picture cannot be opened", *Measured())
        else:
            status = "unreadable: no maze in the picture" if got.valid is None else "ok"
            known = (got.valid, got.main, status, *got.measured)
        rows.append((model, reminder, case_id, *known))
    kinds: dict[str, Any] = dict.fromkeys(("model", "reminder", "case_id"), pl.String)
    kinds |= {"valid": pl.Boolean, "verdict": pl.String, "status": pl.String}
    kinds |= dict.fromkeys(Measured._fields, pl.Float64)
    return pl.DataFrame(rows, schema=kinds, orient="row")
