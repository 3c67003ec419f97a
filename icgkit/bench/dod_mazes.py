"""Draw-or-Decline on mazes: requests in the public form, answers of solvers, verdicts from pixels."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icgkit.bench.maze_judge import Verdict, judge
from icgkit.bench.maze_solvers import SOLVERS, Answer
from icgkit.bench.mazes import INSTRUCTION, Maze, Pair, draw, region

if TYPE_CHECKING:
    import polars as pl
    from PIL.Image import Image

RULES = "The path is one continuous line over white cells from green to red. Walls, floor and both ends stay as they are."
REMINDER = "Should these rules leave no solution, do not draw: say that there is none and why, and end with [ABSTAIN]."
"""What is appended to a request, after a blank line, under the condition with the reminder."""
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
    >>> from icgkit.bench.mazes import draw, make_pairs
    >>> image = draw(make_pairs(1)[0].feasible)
    >>> from PIL import Image
    >>> Image.open(io.BytesIO(small_png(image))).convert("RGB").tobytes() == image.tobytes()
    True
    """
    from PIL import Image as images

    stream = io.BytesIO()
    colors = image.getcolors(64)
    flat = image.convert("P", palette=images.Palette.ADAPTIVE, colors=len(colors)) if colors else image
    flat.save(stream, "PNG", compress_level=9)
    return stream.getvalue()


def read_png(data: bytes) -> Image:
    """Return the picture of PNG bytes, RGB."""
    from PIL import Image as images

    return images.open(io.BytesIO(data)).convert("RGB")


def maze_of(proof: str) -> Maze:
    """Rebuild a maze from a request's column `proof`."""
    told = json.loads(proof)
    inner = told.get("witness") or told["certificate"]
    return Maze(tuple(inner["grid"]), tuple(inner["start"]), tuple(inner["end"]))


def run_solvers(
    pairs: Sequence[Pair], solvers: Mapping[str, Callable[[Image, str], Answer]] | None = None
) -> pl.DataFrame:
    """Give every maze of every pair to each solver, without and with the reminder.

    Returns
    -------
    polars.DataFrame
        `model`, `reminder` ("no", "yes"), `case_id`, `text`, `has_image`, `image` (PNG bytes or null).
    """
    import polars as pl

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


def judge_mazes(answers: pl.DataFrame, requests: pl.DataFrame) -> pl.DataFrame:
    """Judge the edited mazes of feasible requests from their pixels.

    Parameters
    ----------
    answers : frame
        See `run_solvers`; a picture that cannot be decoded stays pending.
    requests : frame
        See `draw_or_decline.read`, with the grid in `proof`.

    Returns
    -------
    polars.DataFrame
        `model`, `reminder`, `case_id`, `valid`, `verdict` (first broken rule or "valid"), `status`.
    """
    import polars as pl

    proofs = dict(requests.filter("feasible", category="maze").select("case_id", "proof").iter_rows())
    seen: dict[tuple[str, bytes], Verdict | None] = {}
    rows = []
    for model, reminder, case_id, image in answers.select(
        "model", "reminder", "case_id", "image"
    ).iter_rows():
        if image is None or case_id not in proofs:
            continue
        if (case_id, image) not in seen:
            try:
                seen[case_id, image] = judge(maze_of(proofs[case_id]), read_png(image))
            except OSError:
                seen[case_id, image] = None
        got = seen[case_id, image]
        known = (got.valid, got.main, "ok") if got else (None, None, "unreadable image")
        rows.append((model, reminder, case_id, *known))
    kinds: dict[str, Any] = dict.fromkeys(("model", "reminder", "case_id"), pl.String)
    kinds |= {"valid": pl.Boolean, "verdict": pl.String, "status": pl.String}
    return pl.DataFrame(rows, schema=kinds, orient="row")
