"""Judge edited diagrams as GRADE does: rubric points, consistency by kind of task, readability.

Each is one call a sample, recorded in a cache and replayed from it. What a judge does not answer is asked for once
more (`icgkit.judge.ask`) and stays missing after that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from icgkit.calls.cache import Cache
from icgkit.calls.limits import Limits
from icgkit.calls.request import Request, request_key
from icgkit.cases.images import prepare
from icgkit.errors import SchemaError
from icgkit.files import inside
from icgkit.judge.ask import Question, Verdict, ask
from icgkit.prompts.conditions import Condition, Message, fill, judge_prompts
from icgkit.prompts.replies import read_score, read_verdicts

if TYPE_CHECKING:
    import polars as pl

PARAMS: dict[str, Any] = {"temperature": 0, "max_tokens": 2048}
SHOWN = {
    "grade_reasoning": ("image_path", "editing_path", "gt"),
    "grade_overall": ("image_path", "editing_path"),
    "grade_style": ("image_path", "editing_path"),
    "grade_readability": ("editing_path",),
}
"""Template to the pictures that the judge sees, in their order."""
NAMES = {"image_path": "Original picture:", "editing_path": "Edited picture:", "gt": "Reference picture:"}
FILES = {"reasoning": "eval_1", "consistency": "consis_4", "readability": "read_4"}
"""Dimension to the ending that the public scorer expects."""


class _Job(NamedTuple):
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


@dataclass(frozen=True, slots=True)
class Asking:
    """How a judge of edited pictures is asked.

    Parameters
    ----------
    root : path
        Folder that the paths of the pictures are relative to.
    cache : Cache
        Where the calls are recorded, or replayed from.
    params : mapping, optional
        Of the calls; temperature 0 and 2,048 tokens if not given.
    show_reference : bool
        Whether consistency is judged with the reference picture, too. The public judge does not see it;
        `offline/pixels` needs it to know what had to change.
    templates : path, optional
        Folder with own templates in `judges/`.
    """

    root: str | Path
    cache: Cache
    dataset: str = "grade"
    params: Mapping[str, Any] | None = None
    show_reference: bool = False
    templates: str | Path | None = None
    limits: Limits | None = None
    progress: bool = True


def judge_samples(tasks: pl.DataFrame, judge: str, **options: Any) -> Judged:
    """Judge the edited pictures of a result file.

    Parameters
    ----------
    tasks : polars.DataFrame
        Result of `load_tasks` for a model's result file (with `editing_path`).
    judge : str
        Model as named to litellm; `offline/pixels` compares pixels with the reference.
    **options
        The fields of `Asking`; `root` and `cache` are required.

    Raises
    ------
    SchemaError
        If a task is not usable (its `status`) or has no edited picture.
    ImageError
        If a picture is missing.
    CacheMiss
        In replay mode, for a call that is not recorded.
    """
    import polars as pl

    how = Asking(**options)
    jobs = []
    for task in tasks.iter_rows(named=True):
        if task["status"] != "ok" or not task["editing_path"]:
            raise SchemaError(
                f"task {task['task_id']}",
                got=task["status"] if task["status"] != "ok" else "no editing_path",
                remedy="judge a result file with whole records only",
            )
        jobs.append(_Job(task, "reasoning", "grade_reasoning"))
        if task["kind"] != "none":
            jobs.append(_Job(task, "consistency", f"grade_{task['kind']}"))
        jobs.append(_Job(task, "readability", "grade_readability"))
    asked = [_question(job, judge, how) for job in jobs]
    ask(asked, cache=how.cache, limits=how.limits, progress=how.progress)
    answers = [question.verdicts["answer"]["value"] for question in asked]
    calls = [
        {
            "task_id": job.task["task_id"], "part": job.part, "status": question.verdicts["answer"]["status"],
            "key": question.record.key if question.record else request_key(question.request()),
            "latency": question.record.latency if question.record else None,
        }
        for job, question in zip(jobs, asked, strict=True)
    ]  # fmt: skip
    kinds: dict[str, Any] = dict.fromkeys(("task_id", "part", "status", "key"), pl.String)
    return Judged(_records(jobs, answers), pl.DataFrame(calls, schema=kinds | {"latency": pl.Float64}))


def _question(job: _Job, judge: str, how: Asking) -> Question:
    template = judge_prompts(how.templates)[job.template]

    def build(ids: Sequence[str], sample: int) -> Request:
        tags = {
            "kind": "judge", "dataset": how.dataset, "case_id": job.task["task_id"], "condition": template.id,
            "stage": template.id, "subject": job.task["editing_path"], "template_sha256": template.sha256,
        }  # fmt: skip
        messages = _messages(job, template, Path(how.root), how.show_reference)
        return Request(judge, messages, how.params or PARAMS, sample, tags)

    def read(reply: str | None, ids: Sequence[str]) -> dict[str, Verdict]:
        value, status = _read(job, reply)
        return {"answer": {"value": value, "status": status}}

    return Question(("answer",), build, read, {"value": None})


def _messages(job: _Job, template: Condition, root: Path, show_reference: bool) -> list[Message]:
    listed = [{"id": q["id"], "point": q["question"]} for q in job.task["questions"]]
    lines = ",\n".join(json.dumps(q, ensure_ascii=False) for q in listed)
    inputs = {"instruction": job.task["text"], "points": f"[\n{lines}\n]"}
    shown = SHOWN[job.template]
    if show_reference and job.part == "consistency":
        shown = (*shown, "gt")
    content: list[dict[str, Any]] = []
    for name in shown:
        url = prepare(inside(root, job.task[name])).data_url
        content += [{"type": "text", "text": NAMES[name]}, {"type": "image_url", "image_url": {"url": url}}]
    content.append({"type": "text", "text": fill(template.body, inputs, f"judge {template.id}")})
    return [{"role": "system", "content": template.system}, {"role": "user", "content": content}]


def _read(job: _Job, text: str | None) -> tuple[Any, str]:
    """Return the answer (marks of the points, or a score) and how reading went."""
    if job.part == "reasoning":
        ids = [q["id"] for q in job.task["questions"]]
        got = read_verdicts(text, ids, ["met"])
        bad = [v["status"] for v in got.values() if v["status"] != "ok"]
        return {i: got[i]["met"] for i in ids}, bad[0] if bad else "ok"
    read = read_score(text, "score", 0, 2)
    whole = read.value in (0, 1, 2)
    return (int(read.value) if whole else None), "ok" if whole else read.status.replace("ok", "out_of_range")


def _records(jobs: list[_Job], answers: list[Any]) -> dict[str, list[dict[str, Any]]]:
    out: dict[str, list[dict[str, Any]]] = {part: [] for part in FILES}
    for job, answer in zip(jobs, answers, strict=True):
        task = job.task["task_id"]
        if job.part == "reasoning" and answer is not None:
            vqa = [
                {
                    "question": q["question"],
                    "answer": "Yes" if answer[q["id"]] else "No",
                    "id": task,
                    "score": q["score"],
                }
                for q in job.task["questions"]
                if answer[q["id"]] is not None
            ]
            if vqa:
                score = sum(v["score"] for v in vqa if v["answer"] == "Yes")
                out["reasoning"].append({"vqa": vqa, "score": round(score, 6)})
        elif job.part == "readability" or (job.part == "consistency" and answer is not None):
            out[job.part].append(
                {"Final Score": "bad response" if answer is None else answer, "task_id": task}
            )
        if job.part == "reasoning" and job.task["kind"] == "none":
            out["consistency"].append({"Final Score": "none", "task_id": task})
    return out


def write_scores(judged: Judged, folder: str | Path, *, name: str = "judge") -> list[Path]:
    """Write the three score files in the public form; `load_scores` reads them.

    Parameters
    ----------
    folder : path
        The model's folder; made if it is not there.
    name : str
        What the files begin with; the public summing script looks for `gemini_flash`.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for part, ending in FILES.items():
        path = folder / f"{name}_{ending}.json"
        text = json.dumps(judged.records[part], indent=1, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8", newline="\n")
        paths.append(path)
    return paths
