"""Judge edited diagrams as GRADE does: rubric points, consistency by kind of task, readability.

What a judge does not answer is asked for once more (`icgkit.judge.ask`) and stays missing after that.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from icgkit.bench.asking import Asking, Told, question
from icgkit.bench.common import texts
from icgkit.calls.request import request_key
from icgkit.errors import SchemaError
from icgkit.files import inside, write_whole
from icgkit.judge.ask import Question, Verdict
from icgkit.prompts.replies import read_score, read_verdicts

_PARAMS: dict[str, Any] = {"temperature": 0, "max_tokens": 2048}
_SHOWN = {
    "grade_reasoning": ("image_path", "editing_path", "gt"),
    "grade_overall": ("image_path", "editing_path"),
    "grade_style": ("image_path", "editing_path"),
    "grade_readability": ("editing_path",),
}
"""Template to the pictures that the judge sees, in their order."""
_NAMES = {"image_path": "Original picture:", "editing_path": "Edited picture:", "gt": "Reference picture:"}
FILES = {"reasoning": "eval_1", "consistency": "consis_4", "readability": "read_4"}
"""Dimension to the ending that the public scorer expects."""


class Job(NamedTuple):
    """One question: a task, the dimension, the template."""

    task: dict[str, Any]
    part: str
    template: str


class Judged(NamedTuple):
    """The records of the three score files in the public form, and how every call went.

    records : dimension to list of records, as `write_scores` writes them; a sample without an answer
        has no record (consistency, reasoning) or one with the words of the failure (readability), as
        the public tool leaves them.
    calls : task_id, part, status, key, latency (seconds, null for offline judges).
    """

    records: dict[str, list[dict[str, Any]]]
    calls: pl.DataFrame


def judge_samples(tasks: pl.DataFrame, judge: str, **options: Any) -> Judged:
    """Judge the edited pictures of a result file (`load_tasks`, whole records with `editing_path` only).

    `judge` is a model as named to litellm; `offline/pixels` compares pixels with the reference. `options` are
    the fields of `Asking`; `root` and `cache` are required.
    """
    how = Asking(**options)
    if how.root is None:
        raise SchemaError("no folder of the pictures", remedy="give root=")
    jobs = []
    for task in tasks.iter_rows(named=True):
        if task["status"] != "ok" or not task["editing_path"]:
            got = task["status"] if task["status"] != "ok" else "no editing_path"
            raise SchemaError(
                f"task {task['task_id']}", got=got, remedy="judge a result file with whole records only"
            )
        jobs.append(Job(task, "reasoning", "grade_reasoning"))
        if task["kind"] != "none":
            jobs.append(Job(task, "consistency", f"grade_{task['kind']}"))
        jobs.append(Job(task, "readability", "grade_readability"))
    asked = [_question(job, judge, how, Path(how.root)) for job in jobs]
    how.ask(asked)
    calls = [
        {
            "task_id": job.task["task_id"], "part": job.part, "status": one.verdicts["answer"]["status"],
            "key": one.record.key if one.record else request_key(one.request()),
            "latency": one.record.latency if one.record else None,
        }
        for job, one in zip(jobs, asked, strict=True)
    ]  # fmt: skip
    kinds = texts("task_id", "part", "status", "key") | {"latency": pl.Float64}
    answers = [one.verdicts["answer"]["value"] for one in asked]
    return Judged(public_records(jobs, answers), pl.DataFrame(calls, schema=kinds))


def _question(job: Job, judge: str, how: Asking, root: Path) -> Question:
    task = job.task
    listed = [{"id": q["id"], "point": q["question"]} for q in task["questions"]]
    lines = ",\n".join(json.dumps(q, ensure_ascii=False) for q in listed)
    shown = _SHOWN[job.template] + (("gt",) if how.show_reference and job.part == "consistency" else ())
    tags = {
        "dataset": how.dataset or "grade", "case_id": task["task_id"], "condition": job.template,
        "stage": job.template, "subject": task["editing_path"],
    }  # fmt: skip

    def pictures() -> list[tuple[str, Path]]:
        return [(_NAMES[name], inside(root, task[name])) for name in shown]

    def read(reply: str | None) -> Verdict:
        value, status = read_answer(job, reply)
        return {"value": value, "status": status}

    told = Told(pictures, {"instruction": task["text"], "points": f"[\n{lines}\n]"}, tags)
    template, params = how.template(job.template), how.params or _PARAMS
    return question(judge, template, told, read, params=params, blank={"value": None})


def read_answer(job: Job, text: str | None) -> tuple[Any, str]:
    """Return the answer (marks of the points, or a score) and how reading went."""
    if job.part == "reasoning":
        ids = [q["id"] for q in job.task["questions"]]
        got = read_verdicts(text, ids, ["met"])
        bad = [v["status"] for v in got.values() if v["status"] != "ok"]
        return {i: got[i]["met"] for i in ids}, bad[0] if bad else "ok"
    read = read_score(text, "score", 0, 2)
    whole = read.value in (0, 1, 2)
    return (int(read.value) if whole else None), "ok" if whole else read.status.replace("ok", "out_of_range")


def public_records(jobs: Sequence[Job], answers: Sequence[Any]) -> dict[str, list[dict[str, Any]]]:
    """Return answers as the records of the public score files."""
    out: dict[str, list[dict[str, Any]]] = {part: [] for part in FILES}
    for job, answer in zip(jobs, answers, strict=True):
        task = job.task["task_id"]
        if job.part == "reasoning" and job.task["kind"] == "none":
            out["consistency"].append({"Final Score": "none", "task_id": task})
        if job.part == "reasoning":
            known = [
                (q, answer[q["id"]]) for q in job.task["questions"] if answer and answer[q["id"]] is not None
            ]
            vqa = [
                {"question": q["question"], "answer": "Yes" if met else "No", "id": task, "score": q["score"]}
                for q, met in known
            ]
            if vqa:
                out["reasoning"].append(
                    {"vqa": vqa, "score": round(sum(q["score"] for q, met in known if met), 6)}
                )
        elif job.part == "readability" or answer is not None:
            out[job.part].append(
                {"Final Score": "bad response" if answer is None else answer, "task_id": task}
            )
    return out


def write_scores(judged: Judged, folder: str | Path, *, name: str = "judge") -> list[Path]:
    """Write the three score files in the public form, where `load_scores` reads them.

    What the files begin with is `name`; the public summing script looks for `gemini_flash`.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}_{ending}.json" for ending in FILES.values()]
    for part, path in zip(FILES, paths, strict=True):
        write_whole(path, (json.dumps(judged.records[part], indent=1, ensure_ascii=False) + "\n").encode())
    return paths
