"""Drawn diagrams for GRADE: tasks with reference, programmatic edits, reference editors, all in the public file form.

    python -m icgforge.diagrams.tasks

draws the tasks, lets the reference editors edit them, judges every edited picture with `offline/pixels`
through `icgkit.calls.engine`, and writes data/bench/grade: `data.json` (the tasks), one folder an editor and way
of instructing with the three score files, `edits.csv` (every edit as the judge saw it, beside what holds
by construction) and the packed calls. The pictures are drawn anew where they are needed.
"""

from __future__ import annotations

import io
import json
import random
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icgforge.diagrams.pen import EDITS, Drawn
from icgforge.diagrams.subjects import bar_chart, map_colors, triads
from icgforge.diagrams.subjects_more import addition, front_view, shortest_path
from icgkit.bench.grade.files import load_scores, load_tasks
from icgkit.bench.grade.judge import Judged, judge_samples, write_scores
from icgkit.calls.cache import Cache
from icgkit.errors import SchemaError, UnknownName
from icgkit.files import project_root

if TYPE_CHECKING:
    import polars as pl
    from PIL.Image import Image

JUDGE = "offline/pixels"
SUBJECTS: tuple[Callable[[random.Random, int], Drawn], ...] = (
    bar_chart, map_colors, triads, shortest_path, front_view, addition,
)  # fmt: skip
"""What is drawn, in this order."""
DERIVED = ("jpeg", "resized", "faded", "smeared")
"""Edits made from the solved picture: JPEG at quality 60, resized by 0.8, faded to a fifth, blurred."""
READABILITY = {"faded": 1, "smeared": 0}
EDITORS: dict[str, dict[str, tuple[str, ...]]] = {
    "editor/solver": {"implicit": ("solved",), "explicit": ("solved",)},
    "editor/guesser": {"implicit": ("solved", "wrong", "partial"), "explicit": ("solved",)},
    "editor/half-way": {"implicit": ("partial",), "explicit": ("solved", "partial")},
    "editor/literal": {"implicit": ("no_op",), "explicit": ("solved",)},
    "editor/overdoing": {"implicit": ("over",), "explicit": ("over",)},
    "editor/no-op": {"implicit": ("no_op",), "explicit": ("no_op",)},
}
"""Reference editors: what each does when told the goal (implicit) or the operations (explicit); where
there are several, one is drawn for each task."""
INSTRUCTIONS = ("implicit", "explicit")


def draw_tasks(n: int = 3, *, seed: int = 42) -> list[Drawn]:
    """Draw `n` tasks of each subject; the same seed gives the same tasks.

    Examples
    --------
    >>> [d.task_id for d in draw_tasks(1)][:2]
    ['math_statistics_000', 'geography_map_000']
    """
    return [
        subject(random.Random(f"{seed} {subject.__name__} {k}"), k) for subject in SUBJECTS for k in range(n)
    ]


def edited(task: Drawn, edit: str) -> tuple[Image, str]:
    """Return the picture of an edit and the ending of its file.

    Raises
    ------
    UnknownName
        For an edit that is neither in `EDITS` nor in `DERIVED`.
    """
    from PIL import Image, ImageFilter

    if edit in EDITS:
        return task.pictures[edit], "png"
    solved = task.pictures["solved"]
    if edit == "jpeg":
        return solved, "jpg"
    if edit == "resized":
        size = (round(solved.width * 0.8), round(solved.height * 0.8))
        return solved.resize(size, Image.Resampling.BILINEAR), "png"
    if edit == "faded":
        return Image.blend(Image.new("RGB", solved.size, (255, 255, 255)), solved, 0.2), "png"
    if edit == "smeared":
        return solved.filter(ImageFilter.GaussianBlur(7)), "png"
    raise UnknownName.among("edit", edit, [*EDITS, *DERIVED])


def truth(tasks: Sequence[Drawn], edits: Sequence[str] = (*EDITS, *DERIVED)) -> pl.DataFrame:
    """Return what holds in every edit by construction.

    Returns
    -------
    polars.DataFrame
        `task_id`, `edit`, `expert` ("construction"), `reasoning` (0..1), `consistency`, `readability`
        (0, 1, 2). Faded and smeared pictures say something on readability only: the rest is null.
    """
    import polars as pl

    rows = []
    for task in tasks:
        weights = [w for _, w in task.points]
        for edit in edits:
            as_solved = "solved" if edit in DERIVED else edit
            hidden = edit in READABILITY
            met = task.met[as_solved]
            row: dict[str, Any] = {"task_id": task.task_id, "edit": edit, "expert": "construction"}
            row["reasoning"] = None if hidden else sum(w for w, m in zip(weights, met, strict=True) if m)
            row["consistency"] = None if hidden else task.consistency[as_solved]
            rows.append(row | {"readability": READABILITY.get(edit, 2)})
    kinds: dict[str, Any] = dict.fromkeys(("task_id", "edit", "expert"), pl.String)
    kinds |= dict.fromkeys(("reasoning", "consistency", "readability"), pl.Float64)
    return pl.DataFrame(rows, schema=kinds)


def records(
    tasks: Sequence[Drawn], *, instruction: str = "implicit", edit: str | None = None
) -> list[dict[str, Any]]:
    """Return tasks as records of GRADE's task list, with `editing_path` if an edit is named."""
    if instruction not in INSTRUCTIONS:
        raise UnknownName.among("way of instructing", instruction, INSTRUCTIONS)
    rows = []
    for task in tasks:
        row: dict[str, Any] = {"image_path": f"original/{task.task_id}.png"}
        if edit is not None:
            row["editing_path"] = f"{edit}/{task.task_id}.{edited(task, edit)[1]}"
        row |= {
            "gt": f"solved/{task.task_id}.png", "text": getattr(task, instruction), "task_id": task.task_id,
            "consistency": task.kind, "sub_task": task.sub_task,
            "questions": [{"id": f"Q{i + 1}", "question": q, "score": w} for i, (q, w) in enumerate(task.points)],
        }  # fmt: skip
        rows.append(row)
    return rows


def write_pictures(
    tasks: Sequence[Drawn], folder: str | Path, edits: Sequence[str] = (*EDITS, *DERIVED)
) -> None:
    """Write original, reference and edits below a folder, one folder a kind."""
    folder = Path(folder)
    for task in tasks:
        for kind in ("original", *edits):
            picture, ending = (task.pictures["original"], "png") if kind == "original" else edited(task, kind)
            path = folder / kind / f"{task.task_id}.{ending}"
            path.parent.mkdir(parents=True, exist_ok=True)
            stream = io.BytesIO()
            if ending == "jpg":
                picture.save(stream, "JPEG", quality=60)
            else:
                picture.save(stream, "PNG")
            path.write_bytes(stream.getvalue())


def judge_edits(
    tasks: Sequence[Drawn], folder: str | Path, *, cache: Cache, judge: str = JUDGE,
    edits: Sequence[str] = (*EDITS, *DERIVED), progress: bool = False,
) -> dict[str, Judged]:  # fmt: skip
    """Judge every edit of every task; pictures are those that `write_pictures` wrote to `folder`.

    Consistency is judged against the implicit instruction, with the reference in view.
    """
    out = {}
    for edit in edits:
        path = Path(folder) / f"{edit}.json"
        path.write_text(json.dumps(records(tasks, edit=edit)), encoding="utf-8")
        out[edit] = judge_samples(
            load_tasks(path), judge, root=folder, cache=cache, dataset="grade-drawn", show_reference=True,
            progress=progress,
        )  # fmt: skip
    return out


def choose(editor: str, instruction: str, task_id: str, *, seed: int = 42) -> str:
    """Return the edit that a reference editor makes of a task."""
    if editor not in EDITORS:
        raise UnknownName.among("reference editor", editor, EDITORS)
    options = EDITORS[editor][instruction]
    return random.Random(f"{seed} {editor} {instruction} {task_id}").choice(options)


def of_editor(judged: dict[str, Judged], editor: str, instruction: str, *, seed: int = 42) -> Judged:
    """Pick from the judged edits those that an editor makes: its three score files."""
    import polars as pl

    parts: dict[str, list[dict[str, Any]]] = {"reasoning": [], "consistency": [], "readability": []}
    calls = []
    for edit, got in judged.items():
        ids = {t for t in got.calls["task_id"] if choose(editor, instruction, t, seed=seed) == edit}
        for name, rows in got.records.items():
            parts[name] += [r for r in rows if (r.get("task_id") or r["vqa"][0]["id"]) in ids]
        calls.append(got.calls.filter(pl.col("task_id").is_in(sorted(ids))))
    return Judged(parts, pl.concat(calls))


def make(out: str | Path, *, n: int = 3, seed: int = 42) -> None:
    """Write the drawn set with its judged editors to a folder (see the module)."""
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    tasks = draw_tasks(n, seed=seed)
    text = json.dumps(records(tasks), indent=1, ensure_ascii=False)
    (out / "data.json").write_text(text + "\n", encoding="utf-8", newline="\n")
    cache = Cache(out)
    with tempfile.TemporaryDirectory() as folder:
        write_pictures(tasks, folder)
        judged = judge_edits(tasks, folder, cache=cache)
        scores = []
        for edit, got in judged.items():
            write_scores(got, Path(folder) / "scores" / edit)
            one = load_scores(Path(folder) / "scores" / edit, load_tasks(out / "data.json"), model=edit)
            scores.append(one.samples)
    for editor in EDITORS:
        for instruction in INSTRUCTIONS:
            name = editor.partition("/")[2]
            write_scores(of_editor(judged, editor, instruction, seed=seed), out / instruction / name)
    _edits(scores, tasks).write_csv(out / "edits.csv")
    cache.pack()


def _edits(scores: list[pl.DataFrame], tasks: Sequence[Drawn]) -> pl.DataFrame:
    """Return one row an edit: what the judge said, what holds by construction."""
    import polars as pl

    names = ["reasoning", "consistency", "readability"]
    seen = pl.concat(scores).rename({"model": "edit"}).select("task_id", "discipline", "edit", *names)
    holds = truth(tasks).drop("expert").rename({n: f"{n}_true" for n in names})
    return seen.join(holds, on=["task_id", "edit"], how="left", maintain_order="left")


def load_drawn(folder: str | Path | None = None) -> pl.DataFrame:
    """Read the drawn set: the samples of every editor and way of instructing.

    Parameters
    ----------
    folder : path, optional
        By default `data/bench/grade` of the project.

    Returns
    -------
    polars.DataFrame
        As `Scores.samples`, with `instruction`; the models are the names in `EDITORS`.
    """
    import polars as pl

    folder = Path(folder) if folder is not None else project_root() / "data" / "bench" / "grade"
    if not (folder / "data.json").is_file():
        raise SchemaError(
            f"{folder.name}: no drawn set", remedy="make it with: python -m icgforge.diagrams.tasks"
        )
    tasks = load_tasks(folder / "data.json")
    parts = [
        load_scores(folder / i / editor.partition("/")[2], tasks, model=editor).samples.with_columns(
            instruction=pl.lit(i)
        )
        for editor in EDITORS
        for i in INSTRUCTIONS
    ]
    return pl.concat(parts)


def load_edits(folder: str | Path | None = None) -> pl.DataFrame:
    """Read `edits.csv` of the drawn set: every edit as judged (`reasoning` ...) and as constructed (`reasoning_true` ...)."""
    import polars as pl

    folder = Path(folder) if folder is not None else project_root() / "data" / "bench" / "grade"
    frame = pl.read_csv(folder / "edits.csv", infer_schema_length=None)
    return frame.with_columns(judge=pl.lit(JUDGE))


if __name__ == "__main__":
    make(project_root() / "data" / "bench" / "grade")
