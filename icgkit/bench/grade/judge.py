"""Judge edited diagrams as GRADE does: rubric points, consistency by kind of task, readability.

Each is one call a sample through `icgkit.calls.engine`, recorded in a cache and replayed from it. What a judge
does not answer is asked for once more and stays missing after that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from icgkit.calls.cache import Cache
from icgkit.calls.engine import complete_many
from icgkit.calls.limits import Limits
from icgkit.calls.request import Request
from icgkit.cases.images import prepare
from icgkit.errors import SchemaError
from icgkit.files import inside
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


def judge_samples(
    tasks: pl.DataFrame,
    judge: str,
    *,
    root: str | Path,
    cache: Cache,
    dataset: str = "grade",
    params: Mapping[str, Any] | None = None,
    show_reference: bool = False,
    templates: str | Path | None = None,
    limits: Limits | None = None,
    progress: bool = True,
) -> Judged:
    """Judge the edited pictures of a result file.

    Parameters
    ----------
    tasks : polars.DataFrame
        Result of `load_tasks` for a model's result file (with `editing_path`).
    judge : str
        Model as named to litellm; `offline/pixels` compares pixels with the reference.
    root : path
        Folder that the paths of the pictures are relative to.
    cache : Cache
        Where the calls are recorded, or replayed from.
    show_reference : bool
        Whether consistency is judged with the reference picture, too. The public judge does not see it;
        `offline/pixels` needs it to know what had to change.

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

    known = judge_prompts(templates)
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
    answers: list[Any] = [None] * len(jobs)
    calls: list[dict[str, Any]] = [{} for _ in jobs]
    todo = list(range(len(jobs)))
    for attempt in (0, 1):
        requests = [
            _request(jobs[k], known[jobs[k].template], judge, Path(root), dataset, params or PARAMS,
                     show_reference, attempt)
            for k in todo
        ]  # fmt: skip
        records = complete_many(requests, cache=cache, limits=limits, progress=progress and attempt == 0)
        again = []
        for k, record in zip(todo, records, strict=True):
            answers[k], status = _read(jobs[k], record.text if record.status == "ok" else None, record.status)
            calls[k] = {
                "task_id": jobs[k].task["task_id"], "part": jobs[k].part, "status": status,
                "key": record.key, "latency": record.latency,
            }  # fmt: skip
            if status != "ok":
                again.append(k)
        todo = again
        if not todo:
            break
    kinds: dict[str, Any] = dict.fromkeys(("task_id", "part", "status", "key"), pl.String)
    return Judged(_records(jobs, answers), pl.DataFrame(calls, schema=kinds | {"latency": pl.Float64}))


def _request(
    job: _Job, template: Condition, judge: str, root: Path, dataset: str, params: Mapping[str, Any],
    show_reference: bool, sample: int,
) -> Request:  # fmt: skip
    tags = {
        "kind": "judge", "dataset": dataset, "case_id": job.task["task_id"], "condition": template.id,
        "stage": template.id, "subject": job.task["editing_path"], "template_sha256": template.sha256,
    }  # fmt: skip
    return Request(judge, _messages(job, template, root, show_reference), params, sample, tags)


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


def _read(job: _Job, text: str | None, status: str) -> tuple[Any, str]:
    """Return the answer (marks of the points, or a score) and how reading went."""
    if text is None:
        return None, status
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
