"""GRADE's own files as they are in use: the task list and the three score files of a model.

A model's folder holds one file (or one folder of single files) for reasoning, consistency and
readability, named `<judge>_eval_<k>`, `<judge>_consis_<k>` and `<judge>_read_<k>`. Records come in any
order; tasks may be missing from any of them; a score may be a number, a number in quotes, `none`, or
the words of a failure. What is no score stays missing, with the reason beside it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from icgkit.bench.common import listed, read_json, read_list, texts
from icgkit.errors import SchemaError
from icgkit.prompts.replies import as_bool, as_score

DISCIPLINES = {
    "math": "mathematics", "physics": "physics", "engineering": "physics", "chemistry": "chemistry",
    "biology": "biology", "his": "history", "geography": "geography", "sports": "sports",
    "board": "sports", "music": "music", "computerscience": "computer science", "eco": "economics",
}  # fmt: skip
"""First part of a task id, lower case, to the discipline; `board`, `engineering` as the public data count."""
CONSISTENCY = ("overall", "style", "none")
PARTS = {"reasoning": "_eval_", "consistency": "_consis_", "readability": "_read_"}
"""Dimension to the mark in the name of its file."""
FULL = 0.99
"""A reasoning score above this is full: weights such as 0.33 do not add up to 1."""
_BOTH = re.compile(r"\W*(yes|no)\W*(or\b|and\b|/)\W*(yes|no)\b", re.I)
_ANSWER = re.compile(r"\W*(yes|no|true|false)\b", re.I)
_POINT = pl.Struct({"id": pl.String, "question": pl.String, "score": pl.Float64})
_TASK = texts("task_id", "discipline", "sub_task", "kind", "text", "image_path", "editing_path", "gt")
_TASK |= {"questions": pl.List(_POINT), "n_questions": pl.Int64, "weight": pl.Float64, "status": pl.String}
_SAMPLE = texts("model", "task_id", "discipline", "sub_task", "kind") | dict.fromkeys(PARTS, pl.Float64)
_SAMPLE |= texts(*(f"{name}_status" for name in PARTS)) | {"stored": pl.Float64, "full": pl.Boolean}
Record = Mapping[str, Any]
_Problem = tuple[str, str, str, str]


class Scores(NamedTuple):
    """What a model's score files hold.

    samples : one row a task: model, task_id, discipline, sub_task, kind (of consistency), `reasoning`
        (0..1), `consistency` and `readability` (0, 1, 2; null is missing or not asked for), the three
        `*_status` (ok | none | missing | failed | out_of_range | conflict | incomplete), `stored`
        (the reasoning score that the file itself gives), `full` (every point answered yes).
    problems : file, task_id, kind, got: every record that could not be taken as it is, and every record of
        a folder that a merged file beside it lacks (merge again, or remove the merged file).
    """

    samples: pl.DataFrame
    problems: pl.DataFrame


def discipline_of(task_id: str) -> str:
    """Return the discipline that a task id names; an unknown one keeps its own word."""
    word = task_id.split("_")[0]
    return DISCIPLINES.get(word.lower(), word)


def load_tasks(path: str | Path) -> pl.DataFrame:
    """Read a task list or a model's result file: a JSON list of objects with a task id each.

    `task_id`, `discipline`, `sub_task`, `kind` (overall | style | none), `text`, `image_path`, `editing_path`
    (null in the bare task list), `gt`, `questions` (list of structs id, question, score), `n_questions`,
    `weight` (sum of the scores), `status`: ok, or what is wrong with the record.
    """
    path = Path(path)
    rows: dict[str, dict[str, Any]] = {}
    for place, record in enumerate(read_list(path, "tasks")):
        task = record.get("task_id")
        if not isinstance(task, str) or not task:
            raise SchemaError(f"{path.name}: record {place} has no task_id", got=task)
        if task in rows:
            raise SchemaError(f"{path.name}: task_id twice", got=task, remedy="keep one record a task")
        rows[task] = _task(record, task)
    return pl.DataFrame(list(rows.values()), schema=_TASK)


def _task(record: Record, task: str) -> dict[str, Any]:
    faults = []
    kind = str(record.get("consistency", "")).strip().lower()
    if kind not in CONSISTENCY:
        faults.append(f"consistency {record.get('consistency')!r}")
    given = record.get("questions")
    questions: list[dict[str, Any]] = []
    for k, q in enumerate(given if isinstance(given, list) else [], 1):
        q = q if isinstance(q, dict) else {}
        weight, words = as_score(q.get("score"), 0, 1), str(q.get("question") or "")
        if weight is None or not words:
            faults.append(f"question {k}")
        questions.append({"id": str(q.get("id") or f"Q{k}"), "question": words, "score": weight})
    total = sum(q["score"] or 0.0 for q in questions)
    if not questions:
        faults.append("no questions")
    elif abs(total - 1) > 0.02:
        faults.append(f"weights add up to {total:.3g}")
    kept = ("sub_task", "text", "image_path", "editing_path", "gt")
    shown = {k: None if record.get(k) is None else str(record[k]) for k in kept}
    return {
        "task_id": task, "discipline": discipline_of(task), "kind": kind if kind in CONSISTENCY else None,
        **shown, "questions": questions, "n_questions": len(questions), "weight": total,
        "status": "; ".join(faults) or "ok",
    }  # fmt: skip


def load_scores(folder: str | Path, tasks: pl.DataFrame | None = None, *, model: str | None = None) -> Scores:
    """Read the three score files of a model.

    Parameters
    ----------
    folder : folder of the model. Each of the three parts is a file `*_eval_*.json` (`*_consis_*`,
        `*_read_*`), or a folder of that name with one file a task; a part that is absent or there several
        times is an error.
    tasks : result of `load_tasks`. With it, tasks that no file names are there as missing, the kind of
        consistency and the weights of the points are those of the task list. Without it, the tasks are those
        that any file names.
    model : name in the result; the folder's name by default.

    Notes
    -----
    Reasoning is recomputed from the answers: sum of the weights of the points answered yes. Where
    answers are missing or cannot be read as yes or no, it is missing, while the public scorer counts such
    points as not met; `stored` keeps the public value.
    """
    folder = Path(folder)
    problems: list[_Problem] = []
    parts = {name: _records(folder, mark, problems) for name, mark in PARTS.items()}
    named = dict.fromkeys(task for part in parts.values() for task in part)
    known = {r["task_id"]: r for r in tasks.iter_rows(named=True)} if tasks is not None else {}
    if tasks is not None:
        problems += [("", task, "not in the task list", "") for task in sorted(named.keys() - known)]
    rows = []
    for task in known or named:
        spec = known.get(task)
        told, found = _reasoning(parts["reasoning"].get(task, []), spec)
        problems += [("reasoning", task, *problem) for problem in found]
        row = {"model": model or folder.name, "task_id": task, "discipline": discipline_of(task)} | told
        row |= {"sub_task": spec["sub_task"], "kind": spec["kind"]} if spec else {}
        for name in ("consistency", "readability"):
            records = parts[name].get(task, [])
            score, status = _score(records, name, spec["kind"] if spec else None)
            if status not in ("ok", "none"):
                got = "" if status == "missing" else str((records or [{}])[0].get("Final Score"))[:200]
                problems.append((name, task, status, got))
            row |= {name: score, f"{name}_status": status}
        rows.append(row)
    return Scores(pl.DataFrame(rows, schema=_SAMPLE), listed(problems, "file", "task_id", "kind", "got"))


def _records(folder: Path, mark: str, problems: list[_Problem]) -> dict[str, list[Record]]:
    """Return the records of one part by task; a merged file wins over the folder it was merged from.

    What the folder alone holds, or holds with other content, is listed: the merged file is older.
    """
    files = sorted(folder.glob(f"*{mark}*.json"))
    folders = sorted(p for p in folder.glob(f"*{mark}*") if p.is_dir())
    if len(files) > 1 or (not files and len(folders) != 1):
        got = [p.name for p in (*files, *folders)] or "no such file"
        allowed = "one file, or one folder with a file a task"
        raise SchemaError(f"{folder.name}: scores named *{mark}*.json", got=got, allowed=allowed)
    singles = {p.name: read_json(p) for p in sorted(folders[0].glob("*.json"))} if len(folders) == 1 else {}
    found = read_json(files[0]) if files else list(singles.values())
    if not isinstance(found, list):
        raise SchemaError(f"{files[0].name}: not a list of scores", got=type(found).__name__)
    out: dict[str, list[Record]] = {}
    for record in found:
        if task := _task_of(record):
            out.setdefault(task, []).append(record)
    for name, single in singles.items() if files else ():
        task = _task_of(single)
        if task and single not in out.get(task, []):
            other = "another record in the folder than in the merged file"
            kind = other if task in out else "in the folder, not in the merged file"
            problems.append((files[0].name, task, kind, name))
    lost = [record for record in found if not _task_of(record)]
    problems += [(mark.strip("_"), "", "record without task", str(record)[:200]) for record in lost]
    return out


def _task_of(record: Any) -> str | None:
    """Return the task of a record; reasoning records carry it in each answer."""
    if not isinstance(record, dict):
        return None
    answers = record.get("vqa")
    inner = answers[0] if isinstance(answers, list) and answers and isinstance(answers[0], dict) else {}
    task = record.get("task_id") or inner.get("id")
    return task if isinstance(task, str) and task else None


def _same(values: Sequence[Any]) -> bool:
    return all(v == values[0] for v in values)


def _score(records: Sequence[Record], name: str, kind: str | None) -> tuple[float | None, str]:
    """Read one score of 0, 1 or 2; `none` counts only where no consistency is asked for."""
    if name == "consistency" and kind == "none":
        return None, "none"
    if not records:
        return None, "missing"
    values = [r.get("Final Score") for r in records]
    if not _same(values):
        return None, "conflict"
    if isinstance(values[0], str) and values[0].strip().lower() == "none":
        return None, "failed" if name != "consistency" or kind is not None else "none"
    number = as_score(values[0], float("-inf"), float("inf"))
    if number is None:
        return None, "failed"
    return (number, "ok") if number in (0, 1, 2) else (None, "out_of_range")


def yes_or_no(answer: Any) -> bool | None:
    """Read yes or no, also with words behind it; "yes or no" gives None."""
    plain = as_bool(answer)
    if plain is not None or not isinstance(answer, str) or _BOTH.match(answer):
        return plain
    head = _ANSWER.match(answer)
    return as_bool(head.group(1)) if head else None


def _weights(answers: Sequence[Record], spec: Record | None) -> list[float | None]:
    """Return the weight of each answer: of the point it repeats, else of the point in its place."""
    if spec is None:
        return [as_score(a.get("score"), 0, 1) for a in answers]
    by_words = {q["question"].strip(): q["score"] for q in spec["questions"]}
    said = [str(a.get("question", "")).strip() for a in answers]
    if len(by_words) == len(spec["questions"]) and sorted(said) == sorted(by_words):
        return [by_words[s] for s in said]
    return [q["score"] for q in spec["questions"]]


def _reasoning(
    records: Sequence[Record], spec: Record | None
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return the reasoning columns of a sample, and its problems (kind, got)."""
    if not records:
        return {"reasoning_status": "missing"}, [("missing", "")]
    if not _same(records):
        return {"reasoning_status": "conflict"}, [("conflict", f"{len(records)} records")]
    stored = as_score(records[0].get("score"), 0, 1.02)
    answers = [a for a in records[0].get("vqa") or [] if isinstance(a, dict)]
    if not answers and stored is not None:
        return {"reasoning": stored, "full": stored > FULL, "stored": stored, "reasoning_status": "ok"}, []
    weights = _weights(answers, spec)
    marks = [yes_or_no(a.get("answer")) for a in answers]
    whole = len(weights) == len(marks) and None not in weights and None not in marks
    if not whole or abs(sum(w or 0.0 for w in weights) - 1) > 0.02:
        read = sum(m is not None for m in marks)
        told = f"{read} of {len(weights)} points answered"
        return {"stored": stored, "reasoning_status": "incomplete"}, [("incomplete", told)]
    score = sum(w for w, m in zip(weights, marks, strict=True) if w is not None and m)
    off = stored is None or abs(stored - score) > 0.005
    problems = [("stored score differs", f"{stored} stored, {score:.4g}")] if off else []
    return {"reasoning": score, "full": all(marks), "stored": stored, "reasoning_status": "ok"}, problems
