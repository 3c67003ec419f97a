"""Draw-or-Decline: what its public tools write, read into the frames of `draw_or_decline.outcomes`.

A run is a folder with `results.jsonl` (or unmerged `shards/*/results.jsonl`), the pictures that it
names, and `scoring/<case_id>.cot.json` and `.image.json`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from icgkit.bench.dod.files import read, read_lines
from icgkit.bench.dod.judges import _frame, _quoted
from icgkit.bench.dod.mazes import judge_mazes
from icgkit.bench.dod.scores import outcomes, rates
from icgkit.errors import SchemaError
from icgkit.files import inside, read_file

if TYPE_CHECKING:
    import polars as pl

JUDGED_BY = "public judge"
_MAX_IMAGE = 1 << 25


class Outputs(NamedTuple):
    """A run of the public tools.

    answers : model, reminder, case_id, text (the reasoning), has_image (null where the call is not
        complete), image_file (null if it is not there), call (the tool's status).
    refusals : see `dod_judges.judge_refusals`. edits : see `dod_judges.judge_edits`.
    problems : case_id, detail.
    """

    answers: pl.DataFrame
    refusals: pl.DataFrame
    edits: pl.DataFrame
    problems: pl.DataFrame


def read_run(folder: str | Path, requests: pl.DataFrame, *, model: str = "", reminder: str = "") -> Outputs:
    """Read a run of the public tools with its judgments.

    Parameters
    ----------
    folder : path
        The run.
    requests : frame
        See `draw_or_decline.read`.
    model : str
        What to call the model; the folder's name if empty.
    reminder : {"", "no", "yes"}
        Whether requests carried the reminder; if empty, it is told from whether the prompts of the run go
        on after those of the requests.

    Returns
    -------
    Outputs
        A judgment that is missing, failed or quotes what the reasoning does not say is null (pending).
        As in the public scorer an edit is valid if the task is done and the rest is preserved, false if
        either is false, else pending.

    Raises
    ------
    SchemaError
        If the folder is no run, a case occurs twice, or prompts with and without the reminder are mixed.
    """
    import polars as pl

    root = Path(folder)
    paths = [p for p in (root / "results.jsonl", root / "results.jsonl.gz") if p.is_file()][:1]
    paths = paths or sorted(root.glob("shards/*/results.jsonl"))
    if not paths:
        raise SchemaError("no results of Draw-or-Decline", got=str(root), allowed="a folder with results.jsonl",
                          remedy="give the folder that the run was written to")  # fmt: skip
    results: dict[str, dict[str, Any]] = {}
    for path in paths:
        shown = path.relative_to(root).as_posix()
        for name, (number, record) in read_lines(path, shown=shown).items():
            if name in results:
                raise SchemaError(f"{shown}, line {number}, case {name!r}: in another shard, too")
            results[name] = record
    asked = dict(requests.select("case_id", "prompt").iter_rows())
    problems = [(name, "not among the requests") for name in results if name not in asked]
    kept = {name: record for name, record in results.items() if name in asked}
    if not kept:
        raise SchemaError("no result belongs to the requests", got=next(iter(results), None),
                          remedy="give the data that the run was made on")  # fmt: skip
    reminder = reminder or _reminded(kept, asked)
    key = (model or root.resolve().name, reminder)
    answers, refusals, edits = [], [], []
    for name, record in kept.items():
        complete = record.get("status") == "complete"
        text, picture = record.get("thinking_text"), record.get("output_image")
        text = text if isinstance(text, str) else None
        picture = picture if isinstance(picture, str) and picture else None
        there = _picture(root, picture)
        if picture and there is None:
            problems.append((name, f"picture {picture!r} is not in the folder"))
        if not complete:
            problems.append((name, f"the run says {str(record.get('status'))[:40]!r}: pending"))
        status = str(record.get("status"))[:80]
        answers.append((*key, name, text if complete else None, picture is not None if complete else None,
                        there if complete else None, status))  # fmt: skip
        if not complete:
            continue
        told, why = _review(root, name, "cot")
        refused, quote = _flag(told, "concludes_infeasible"), str(told.get("evidence") or "")
        if refused and not _quoted(quote, text or ""):
            refused, why = None, "quote is not in the text"
        status = why or ("ok" if refused is not None else "no verdict")
        cause = _flag(told, "reason_correct") if refused else None
        refusals.append((*key, name, refused, quote, status, cause, JUDGED_BY))
        if picture is not None:
            told, why = _review(root, name, "image")
            marks = [_flag(told, k) for k in ("task_image_correct", "unrelated_content_preserved")]
            valid = False if False in marks else None if None in marks else True
            status = why or ("ok" if valid is not None else "no verdict")
            edits.append((*key, name, valid, str(told.get("reason") or ""), status, None, JUDGED_BY))
    problems += [(name, "no result: pending") for name in asked if name not in kept]
    columns: dict[str, Any] = dict.fromkeys(("model", "reminder", "case_id", "text"), pl.String)
    columns |= {"has_image": pl.Boolean, "image_file": pl.String, "call": pl.String}
    return Outputs(
        pl.DataFrame(answers, schema=columns, orient="row"),
        _frame(refusals, "refused"),
        _frame(edits, "valid"),
        pl.DataFrame(problems, schema={"case_id": pl.String, "detail": pl.String}, orient="row"),
    )


def _reminded(results: dict[str, dict[str, Any]], asked: dict[str, str | None]) -> str:
    """Tell from the prompts whether they carry a reminder after the request."""
    kinds = set()
    for name, record in results.items():
        prompt, plain = record.get("prompt"), asked[name]
        if isinstance(prompt, str) and plain:
            kinds.add(
                "yes"
                if len(prompt.strip()) > len(plain.strip()) and prompt.startswith(plain.strip())
                else "no"
            )
    if len(kinds) > 1:
        raise SchemaError(
            "some prompts carry a reminder and some do not", remedy="score the two settings apart"
        )
    return kinds.pop() if kinds else "no"


def _picture(root: Path, name: str | None) -> str | None:
    if name is None:
        return None
    path = inside(root, name, error=SchemaError)
    return str(path) if path.is_file() else None


def _review(root: Path, name: str, stage: str) -> tuple[dict[str, Any], str]:
    """Return a judgment and what is wrong with it (empty if nothing)."""
    path = inside(root / "scoring", f"{name}.{stage}.json", error=SchemaError)
    if not path.is_file():
        return {}, "not judged"
    try:
        record = json.loads(read_file(path, limit=1 << 24).decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}, "the judgment is no JSON"
    told = record.get("parsed") if isinstance(record, dict) else None
    if not isinstance(told, dict) or record.get("status") != "reviewed":
        return {}, f"judgment {str(record.get('status') if isinstance(record, dict) else None)[:40]}"
    return told, ""


def _flag(told: dict[str, Any], name: str) -> bool | None:
    value = told.get(name)
    return value if isinstance(value, bool) else None


def by_pixels(outputs: Outputs, requests: pl.DataFrame) -> pl.DataFrame:
    """Judge the mazes of a run from their pixels, beside the public judge of pictures.

    Returns
    -------
    polars.DataFrame
        See `dod_mazes.judge_mazes`; a picture that is not there is left out.
    """
    import polars as pl

    mazes = requests.filter("feasible", category="maze")["case_id"].implode()
    part = outputs.answers.filter(pl.col("case_id").is_in(mazes), pl.col("image_file").is_not_null())
    pictures = [read_file(p, limit=_MAX_IMAGE) for p in part["image_file"]]
    return judge_mazes(part.with_columns(image=pl.Series(pictures, dtype=pl.Binary)), requests)


def score(
    folder: str | Path, data: str | Path, *, model: str = "", reminder: str = "", pixels: bool = False
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Score a run of the public tools: E, D and D_f, overall and by category, with what is pending.

    Parameters
    ----------
    folder : path
        The run, see `read_run`.
    data : path
        The folder of the requests, see `draw_or_decline.read`.
    model, reminder : str
        See `read_run`.
    pixels : bool
        Judge mazes from their pixels; else by the judgments in the run, as the rest.

    Returns
    -------
    (polars.DataFrame, polars.DataFrame)
        `model`, `reminder`, `category` ("all" first) and the columns of `rates`; and the problems.
    """
    import polars as pl

    requests = read(data)
    outputs = read_run(folder, requests.requests, model=model, reminder=reminder)
    edits = outputs.edits
    if pixels:
        own = by_pixels(outputs, requests.requests).select("model", "reminder", "case_id", "valid")
        others = edits.join(own, on=["model", "reminder", "case_id"], how="anti")
        edits = pl.concat([own, others.select(own.columns)])
    got = outcomes(requests.requests, outputs.answers, outputs.refusals, edits)
    key = ["model", "reminder", "category"]
    whole = rates(got.with_columns(category=pl.lit("all")), by=key)
    parts = rates(got, by=key)
    problems = pl.concat([requests.problems.select("case_id", "detail"), outputs.problems])
    return pl.concat([whole, parts]), problems
