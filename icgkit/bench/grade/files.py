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
from typing import TYPE_CHECKING, Any, NamedTuple

from icgkit.errors import SchemaError
from icgkit.files import read_file
from icgkit.prompts.replies import as_bool, as_score
from icgkit.untrusted import json_value

if TYPE_CHECKING:
    import polars as pl

DISCIPLINES = {
    "math": "mathematics", "physics": "physics", "engineering": "physics", "chemistry": "chemistry",
    "biology": "biology", "his": "history", "geography": "geography", "sports": "sports",
    "board": "sports", "music": "music", "computerscience": "computer science", "eco": "economics",
}  # fmt: skip
"""First part of a task id, in lower case, to the discipline; `board` and `engineering` as the public data count them."""
CONSISTENCY = ("overall", "style", "none")
PARTS = {"reasoning": "_eval_", "consistency": "_consis_", "readability": "_read_"}
"""Dimension to the mark in the name of its file."""
FULL = 0.99
"""A reasoning score above this is full: weights such as 0.33 do not add up to 1."""

_BOTH = re.compile(r"\W*(yes|no)\W*(or\b|and\b|/)\W*(yes|no)\b", re.I)
_ANSWER = re.compile(r"\W*(yes|no|true|false)\b", re.I)


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
    """Return the discipline that a task id names; an unknown one keeps its own word.

    Examples
    --------
    >>> discipline_of("board_go_003"), discipline_of("engineering_12"), discipline_of("eco_macro_001")
    ('sports', 'physics', 'economics')
    """
    word = task_id.split("_")[0]
    return DISCIPLINES.get(word.lower(), word)


def _json(path: Path) -> Any:
    return json_value(read_file(path), path.name)


def load_tasks(path: str | Path) -> pl.DataFrame:
    """Read a task list or a model's result file (a JSON list).

    Returns
    -------
    polars.DataFrame
        One row a task, in the order of the file: `task_id`, `discipline`, `sub_task`, `kind` (overall
        | style | none), `text`, `image_path`, `editing_path` (null in the bare task list), `gt`,
        `questions` (list of structs id, question, score), `n_questions`, `weight` (sum of the scores),
        `status`: ok, or what is wrong with the record.

    Raises
    ------
    SchemaError
        If the file is no JSON list of objects, a record has no task id, or an id occurs twice.
    """
    import polars as pl

    path = Path(path)
    data = _json(path)
    if not isinstance(data, list) or not all(isinstance(r, dict) for r in data):
        raise SchemaError(f"{path.name}: not a list of tasks", got=type(data).__name__)
    rows, seen = [], set()
    for place, record in enumerate(data):
        task = record.get("task_id")
        if not isinstance(task, str) or not task:
            raise SchemaError(f"{path.name}: record {place} has no task_id", got=task)
        if task in seen:
            raise SchemaError(f"{path.name}: task_id twice", got=task, remedy="keep one record a task")
        seen.add(task)
        rows.append(_task(record, task))
    question = pl.List(pl.Struct({"id": pl.String, "question": pl.String, "score": pl.Float64}))
    words = ("task_id", "discipline", "sub_task", "kind", "text", "image_path", "editing_path", "gt")
    kinds: dict[str, Any] = dict.fromkeys(words, pl.String)
    kinds |= {"questions": question, "n_questions": pl.Int64, "weight": pl.Float64, "status": pl.String}
    return pl.DataFrame(rows, schema=kinds)


def _task(record: Mapping[str, Any], task: str) -> dict[str, Any]:
    faults = []
    kind = str(record.get("consistency", "")).strip().lower()
    if kind not in CONSISTENCY:
        faults.append(f"consistency {record.get('consistency')!r}")
    listed = record.get("questions")
    questions, weights = [], []
    for k, q in enumerate(listed if isinstance(listed, list) else []):
        q = q if isinstance(q, dict) else {}
        weight = as_score(q.get("score"), 0, 1)
        words = str(q.get("question") or "")
        if weight is None or not words:
            faults.append(f"question {k + 1}")
        weights.append(weight)
        questions.append({"id": str(q.get("id") or f"Q{k + 1}"), "question": words, "score": weight})
    total = sum(w for w in weights if w is not None)
    if not questions:
        faults.append("no questions")
    elif abs(total - 1) > 0.02:
        faults.append(f"weights add up to {total:.3g}")

    def word(name: str) -> str | None:
        return None if record.get(name) is None else str(record[name])

    shown = {k: word(k) for k in ("sub_task", "text", "image_path", "editing_path", "gt")}
    return {
        "task_id": task, "discipline": discipline_of(task), "kind": kind if kind in CONSISTENCY else None, **shown,
        "questions": questions, "n_questions": len(questions), "weight": total,
        "status": "; ".join(faults) or "ok",
    }  # fmt: skip


def load_scores(folder: str | Path, tasks: pl.DataFrame | None = None, *, model: str | None = None) -> Scores:
    """Read the three score files of a model.

    Parameters
    ----------
    folder : path
        Folder of the model. Each of the three parts is a file `*_eval_*.json` (`*_consis_*`,
        `*_read_*`), or a folder of that name with one file a task.
    tasks : polars.DataFrame, optional
        Result of `load_tasks`. With it, tasks that no file names are there as missing, the kind of
        consistency and the weights of the points are those of the task list. Without it, the tasks are
        those that any file names.
    model : str, optional
        Name in the result; the folder's name by default.

    Raises
    ------
    SchemaError
        If one of the three parts is absent or there several times.

    Notes
    -----
    Reasoning is recomputed from the answers: sum of the weights of the points answered yes. Where
    answers are missing or cannot be read as yes or no, it is missing, while the public scorer counts
    such points as not met; `stored` keeps the public value.
    """
    import polars as pl

    folder = Path(folder)
    problems: list[dict[str, str]] = []
    parts = {name: _records(folder, mark, problems) for name, mark in PARTS.items()}
    known = {r["task_id"]: r for r in tasks.iter_rows(named=True)} if tasks is not None else {}
    order = list(known) or list(dict.fromkeys(t for p in parts.values() for t in p))
    if tasks is not None:
        extra = sorted({t for p in parts.values() for t in p} - set(known))
        problems += [_problem("", t, "not in the task list", "") for t in extra]
    rows = []
    for task in order:
        spec = known.get(task)
        row = {"model": model or folder.name, "task_id": task, "discipline": discipline_of(task)}
        row |= {"sub_task": spec["sub_task"] if spec else None, "kind": spec["kind"] if spec else None}
        row |= _reasoning(parts["reasoning"].get(task), spec, task, problems)
        for name in ("consistency", "readability"):
            score, status = _score(parts[name].get(task), name, spec)
            if status not in ("ok", "none"):
                got = (
                    "" if status == "missing" else str((parts[name].get(task) or [{}])[0].get("Final Score"))
                )
                problems.append(_problem(name, task, status, got))
            row |= {name: score, f"{name}_status": status}
        rows.append(row)
    kinds: dict[str, Any] = dict.fromkeys(("model", "task_id", "discipline", "sub_task", "kind"), pl.String)
    kinds |= {"reasoning": pl.Float64, "consistency": pl.Float64, "readability": pl.Float64}
    kinds |= {f"{n}_status": pl.String for n in PARTS} | {"stored": pl.Float64, "full": pl.Boolean}
    words = dict.fromkeys(("file", "task_id", "kind", "got"), pl.String)
    return Scores(pl.DataFrame(rows, schema=kinds), pl.DataFrame(problems, schema=words))


def _problem(file: str, task: str, kind: str, got: str) -> dict[str, str]:
    return {"file": file, "task_id": task, "kind": kind, "got": got[:200]}


def _records(folder: Path, mark: str, problems: list[dict[str, str]]) -> dict[str, list[dict[str, Any]]]:
    """Return the records of one part by task; a merged file wins over the folder it was merged from.

    What the folder alone holds, or holds with other content, is listed as a problem: the merged file is
    older.
    """
    files = sorted(folder.glob(f"*{mark}*.json"))
    folders = sorted(p for p in folder.glob(f"*{mark}*") if p.is_dir())
    if len(files) > 1 or (not files and len(folders) != 1):
        raise SchemaError(
            f"{folder.name}: scores named *{mark}*.json",
            got=[p.name for p in (*files, *folders)] or "no such file",
            allowed="one file, or one folder with a file a task",
        )
    found: list[Any] = _json(files[0]) if files else [_json(p) for p in sorted(folders[0].glob("*.json"))]
    if not isinstance(found, list):
        raise SchemaError(f"{files[0].name}: not a list of scores", got=type(found).__name__)
    if files and len(folders) == 1:
        merged: dict[str | None, list[Any]] = {}
        for record in found:
            if isinstance(record, dict):
                merged.setdefault(_task_of(record), []).append(record)
        for path in sorted(folders[0].glob("*.json")):
            single = _json(path)
            task = _task_of(single) if isinstance(single, dict) else None
            if task is not None and single not in merged.get(task, []):
                kind = "in the folder, not in the merged file"
                kind = "another record in the folder than in the merged file" if task in merged else kind
                problems.append(_problem(files[0].name, task, kind, path.name))
    out: dict[str, list[dict[str, Any]]] = {}
    for record in found:
        task = _task_of(record) if isinstance(record, dict) else None
        if task is None:
            problems.append(_problem(mark.strip("_"), "", "record without task", str(record)))
        else:
            out.setdefault(task, []).append(record)
    return out


def _task_of(record: Mapping[str, Any]) -> str | None:
    """Return the task of a record; reasoning records carry it in each answer."""
    answers = record.get("vqa")
    inner = answers[0] if isinstance(answers, list) and answers and isinstance(answers[0], dict) else {}
    task = record.get("task_id") or inner.get("id")
    return task if isinstance(task, str) and task else None


def _same(records: Sequence[Any]) -> bool:
    return all(r == records[0] for r in records)


def _score(
    records: list[dict[str, Any]] | None, name: str, spec: dict[str, Any] | None
) -> tuple[float | None, str]:
    """Read one score of 0, 1 or 2; `none` counts only where no consistency is asked for."""
    free = name == "consistency" and spec is not None and spec["kind"] == "none"
    if free:
        return None, "none"
    if not records:
        return None, "missing"
    values = [r.get("Final Score") for r in records]
    if not _same(values):
        return None, "conflict"
    if isinstance(values[0], str) and values[0].strip().lower() == "none":
        asked = name != "consistency" or (spec is not None and spec["kind"] is not None)
        return None, "failed" if asked else "none"
    number = as_score(values[0], float("-inf"), float("inf"))
    if number is None:
        return None, "failed"
    return (number, "ok") if number in (0, 1, 2) else (None, "out_of_range")


def _yes(answer: Any) -> bool | None:
    """Read yes or no, also with words behind it; "yes or no" gives None."""
    plain = as_bool(answer)
    if plain is not None or not isinstance(answer, str) or _BOTH.match(answer):
        return plain
    head = _ANSWER.match(answer)
    return as_bool(head.group(1)) if head else None


def _weights(answers: Sequence[Mapping[str, Any]], spec: Mapping[str, Any] | None) -> list[float | None]:
    """Return the weight of each answer: of the point it repeats, else of the point in its place."""
    if spec is None:
        return [as_score(a.get("score"), 0, 1) for a in answers]
    by_words = {q["question"].strip(): q["score"] for q in spec["questions"]}
    said = [str(a.get("question", "")).strip() for a in answers]
    if len(by_words) == len(spec["questions"]) and sorted(said) == sorted(by_words):
        return [by_words[s] for s in said]
    return [q["score"] for q in spec["questions"]]


def _reasoning(
    records: list[dict[str, Any]] | None,
    spec: dict[str, Any] | None,
    task: str,
    problems: list[dict[str, str]],
) -> dict[str, Any]:
    blank: dict[str, Any] = {"reasoning": None, "full": None, "stored": None}
    if not records:
        problems.append(_problem("reasoning", task, "missing", ""))
        return blank | {"reasoning_status": "missing"}
    if not _same(records):
        problems.append(_problem("reasoning", task, "conflict", f"{len(records)} records"))
        return blank | {"reasoning_status": "conflict"}
    stored = as_score(records[0].get("score"), 0, 1.02)
    answers = [a for a in records[0].get("vqa") or [] if isinstance(a, dict)]
    if not answers and stored is not None:
        return {"reasoning": stored, "full": stored > FULL, "stored": stored, "reasoning_status": "ok"}
    weights = _weights(answers, spec)
    marks = [_yes(a.get("answer")) for a in answers]
    whole = len(weights) == len(marks) and None not in weights and None not in marks
    if not whole or abs(sum(w or 0.0 for w in weights) - 1) > 0.02:
        read = sum(m is not None for m in marks)
        problems.append(
            _problem("reasoning", task, "incomplete", f"{read} of {len(weights)} points answered")
        )
        return blank | {"stored": stored, "reasoning_status": "incomplete"}
    score = sum(w for w, m in zip(weights, marks, strict=True) if w is not None and m)
    if stored is None or abs(stored - score) > 0.005:
        problems.append(_problem("reasoning", task, "stored score differs", f"{stored} stored, {score:.4g}"))
    return {"reasoning": score, "full": all(marks), "stored": stored, "reasoning_status": "ok"}
