"""Draw-or-Decline: what its public tools write, read into the frames of `scores.outcomes`.

A run is a folder with `results.jsonl` (or unmerged `shards/*/results.jsonl`), the pictures that it
names, and `scoring/<case_id>.cot.json` and `.image.json`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from icgkit.bench.common import flag, listed, texts, with_whole
from icgkit.bench.dod.files import Record, read, read_lines
from icgkit.bench.dod.judges import both_hold, judgments, quotes
from icgkit.bench.dod.maze_judge import judge_mazes
from icgkit.bench.dod.scores import outcomes, rates
from icgkit.errors import SchemaError
from icgkit.files import inside, read_file
from icgkit.untrusted import json_value

JUDGED_BY = "public judge"
_MAX_IMAGE = 1 << 25
_KEY = ["model", "reminder", "case_id"]


class Outputs(NamedTuple):
    """A run of the public tools.

    answers : model, reminder, case_id, text (the reasoning), has_image (null where the call is not
        complete), image_file (null if it is not there), call (the tool's status).
    refusals : see `judges.judge_refusals`. edits : see `judges.judge_edits`.
    problems : case_id, detail.
    """

    answers: pl.DataFrame
    refusals: pl.DataFrame
    edits: pl.DataFrame
    problems: pl.DataFrame


def read_run(folder: str | Path, requests: pl.DataFrame, *, model: str = "", reminder: str = "") -> Outputs:
    """Read a run of the public tools with its judgments.

    `model` is the folder's name if empty; whether requests carried the reminder ("no", "yes") is told, if
    empty, from whether the prompts of the run go on after those of the requests. A judgment that is missing,
    failed or quotes what the reasoning does not say is null (pending). As in the public scorer an edit is
    valid if the task is done and the rest is preserved, false if either is false, else pending.
    """
    root = Path(folder)
    results = _results(root)
    asked = dict(requests.select("case_id", "prompt").iter_rows())
    problems = [(name, "not among the requests") for name in results if name not in asked]
    kept = {name: record for name, record in results.items() if name in asked}
    if not kept:
        raise SchemaError("no result belongs to the requests", got=next(iter(results), None),
                          remedy="give the data that the run was made on")  # fmt: skip
    key = (model or root.resolve().name, reminder or _reminded(kept, asked))
    answers: list[tuple[Any, ...]] = []
    refusals, edits = [], []
    for name, record in kept.items():
        complete, status = record.get("status") == "complete", str(record.get("status"))[:80]
        text, picture = record.get("thinking_text"), record.get("output_image")
        text = text if isinstance(text, str) else None
        picture = picture if isinstance(picture, str) and picture else None
        path = inside(root, picture, error=SchemaError) if picture else None
        there = str(path) if path and path.is_file() else None
        if picture and there is None:
            problems.append((name, f"picture {picture!r} is not in the folder"))
        if not complete:
            problems.append((name, f"the run says {status[:40]!r}: pending"))
            answers.append((*key, name, None, None, None, status))
            continue
        answers.append((*key, name, text, picture is not None, there, status))
        refusals.append((*key, name, *_refusal(root, name, text or ""), JUDGED_BY))
        if picture is not None:
            told, why = _review(root, name, "image")
            valid = both_hold(*(flag(told, k) for k in ("task_image_correct", "unrelated_content_preserved")))
            why = why or ("ok" if valid is not None else "no verdict")
            edits.append((*key, name, valid, str(told.get("reason") or ""), why, None, JUDGED_BY))
    problems += [(name, "no result: pending") for name in asked if name not in kept]
    columns = texts(*_KEY, "text", "has_image", "image_file", "call") | {"has_image": pl.Boolean}
    return Outputs(
        pl.DataFrame(answers, schema=columns, orient="row"), judgments(refusals, "refused"),
        judgments(edits, "valid"), listed(problems, "case_id", "detail"),
    )  # fmt: skip


def _results(root: Path) -> dict[str, Record]:
    paths = [p for p in (root / "results.jsonl", root / "results.jsonl.gz") if p.is_file()][:1]
    paths = paths or sorted(root.glob("shards/*/results.jsonl"))
    if not paths:
        raise SchemaError("no results of Draw-or-Decline", got=str(root),
                          allowed="a folder with results.jsonl",
                          remedy="give the folder that the run was written to")  # fmt: skip
    results: dict[str, Record] = {}
    for path in paths:
        shown = path.relative_to(root).as_posix()
        for name, (number, record) in read_lines(path, shown).items():
            if name in results:
                raise SchemaError(f"{shown}, line {number}, case {name!r}: in another shard, too")
            results[name] = record
    return results


def _reminded(results: dict[str, Record], asked: dict[str, str | None]) -> str:
    """Tell from the prompts whether they carry a reminder after the request."""
    kinds = set()
    for name, record in results.items():
        prompt, plain = record.get("prompt"), (asked[name] or "").strip()
        if isinstance(prompt, str) and plain:
            kinds.add("yes" if prompt.startswith(plain) and len(prompt.strip()) > len(plain) else "no")
    if len(kinds) > 1:
        raise SchemaError(
            "some prompts carry a reminder and some do not", remedy="score the two settings apart"
        )
    return kinds.pop() if kinds else "no"


def _refusal(root: Path, name: str, text: str) -> tuple[bool | None, str, str, bool | None]:
    """Return whether a text refuses, the quote, the status, whether its cause is the right one."""
    told, why = _review(root, name, "cot")
    refused, quote = flag(told, "concludes_infeasible"), str(told.get("evidence") or "")
    if refused and not quotes(quote, text):
        return None, quote, "quote is not in the text", None
    why = why or ("ok" if refused is not None else "no verdict")
    return refused, quote, why, flag(told, "reason_correct") if refused else None


def _review(root: Path, name: str, stage: str) -> tuple[Record, str]:
    """Return a judgment and what is wrong with it (empty if nothing)."""
    path = inside(root / "scoring", f"{name}.{stage}.json", error=SchemaError)
    if not path.is_file():
        return {}, "not judged"
    data = read_file(path, limit=1 << 24)
    try:
        record = json_value(data, path.name)
    except SchemaError:
        return {}, "the judgment is no JSON"
    status = record.get("status") if isinstance(record, dict) else None
    if status != "reviewed" or not isinstance(record.get("parsed"), dict):
        return {}, f"judgment {str(status)[:40]}"
    return record["parsed"], ""


def by_pixels(outputs: Outputs, requests: pl.DataFrame) -> pl.DataFrame:
    """Judge the mazes of a run from their pixels (`maze_judge.judge_mazes`), if the pictures are there."""
    mazes = requests.filter("feasible", category="maze")["case_id"].implode()
    part = outputs.answers.filter(pl.col("case_id").is_in(mazes), pl.col("image_file").is_not_null())
    pictures = [read_file(p, limit=_MAX_IMAGE) for p in part["image_file"]]
    return judge_mazes(part.with_columns(image=pl.Series(pictures, dtype=pl.Binary)), requests)


def score(
    folder: str | Path, data: str | Path, *, model: str = "", reminder: str = "", pixels: bool = False
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Score a run (`read_run`) on its requests (`files.read`): E, D and D_f, overall and by category.

    With `pixels` mazes are judged from their pixels; else by the judgments in the run, as the rest. Returns
    `model`, `reminder`, `category` ("all" first) with the columns of `rates`, and the problems.
    """
    requests = read(data)
    outputs = read_run(folder, requests.requests, model=model, reminder=reminder)
    edits = outputs.edits
    if pixels:
        own = by_pixels(outputs, requests.requests).select(*_KEY, "valid")
        others = edits.join(own, on=_KEY, how="anti")
        edits = pl.concat([own, others.select(own.columns)])
    got = outcomes(requests.requests, outputs.answers, outputs.refusals, edits)
    table = with_whole(got, "category", lambda rows: rates(rows, by=["model", "reminder", "category"]))
    return table, pl.concat([requests.problems.select("case_id", "detail"), outputs.problems])
