"""Every condition as an Inspect task, and any Inspect log as a frame that our metrics read.

`inspect eval icgkit/constraints -T dataset=icg-teb -T condition=nl_self --model ...` asks with Inspect's own
engine what `icgkit run` would ask. The log comes back with `read_logs` (scores, for means and paired
contrasts over clusters) or `icgkit import answers LOG.eval` (answers, for our judges).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from icgkit.calls.request import Prompt
from icgkit.cases.dataset import Dataset, load_dataset
from icgkit.errors import SchemaError
from icgkit.exchange import other
from icgkit.prompts.conditions import Condition, build_messages
from icgkit.study.plan import find_conditions

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample

TASK = "constraints"
SCORES = {
    "log": pl.String, "task": pl.String, "model": pl.String, "case_id": pl.String, "sample": pl.Int64, "scorer": pl.String,
    "value": pl.Float64, "status": pl.String,
}  # fmt: skip
"""Columns of `read_logs`, before those of the metadata."""


def make_task(dataset: Dataset | str, condition: str, *, templates: str | Path | None = None) -> Task:
    """Return an Inspect task that asks about every case of a dataset under one condition.

    Parameters
    ----------
    dataset : Dataset or str
        Cases, or the name or folder of a dataset.
    condition : str
        Id of a condition of a single call.
    templates : path, optional
        Folder of own templates.

    Returns
    -------
    inspect_ai.Task
        A sample's id is the case's; its metadata have `dataset`, `case_id`, `condition`, `template`, `image`
        and `prompt_sha256`. It has no scorer: verdicts need a judge (`icgkit judge` on the imported answers).

    Raises
    ------
    UnknownName, SchemaError
        For an unknown condition, or a chain of calls.

    Examples
    --------
    >>> task = make_task("icg-scenes", "direct")
    >>> task.dataset[0].id
    'bakery_front-0-name'
    """
    ai = other("inspect_ai")
    data = load_dataset(dataset) if isinstance(dataset, str) else dataset
    (found,) = find_conditions([condition], templates)
    if found.stage != "single":
        raise SchemaError(
            f"{condition} is a chain of calls", remedy="run it with icgkit run; a task asks once"
        )
    task: Task = ai.Task(
        dataset=list(_samples(data, found)), name=f"{data.name}-{condition}", version=data.version,
        metadata={"dataset": data.name, "condition": condition, "template_sha256": found.sha256},
    )  # fmt: skip
    return task


def _samples(data: Dataset, condition: Condition) -> Iterator[Sample]:
    from inspect_ai.dataset import Sample

    for case in data:
        if condition.applies(case):
            messages = build_messages(case, condition)
            about = {
                "dataset": data.name, "case_id": case.id, "condition": condition.id, "image": case.image,
                "template": case.metadata.get("template"), "prompt_sha256": Prompt.of(messages).sha256,
            }  # fmt: skip
            yield Sample(input=[_message(m) for m in messages], id=case.id, metadata=about)


def _message(message: Mapping[str, Any]) -> Any:
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ContentImage, ContentText

    content = message["content"]
    if not isinstance(content, str):
        content = [
            ContentImage(image=p["image_url"]["url"])
            if p["type"] == "image_url"
            else ContentText(text=p["text"])
            for p in content
        ]
    return (ChatMessageSystem if message["role"] == "system" else ChatMessageUser)(content=content)


def _logs(paths: str | Path | Iterable[str | Path]) -> Iterator[tuple[str, Any]]:
    log = other("inspect_ai.log")
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    for path in map(Path, given):
        files = (
            sorted(p for p in path.iterdir() if p.suffix in (".eval", ".json")) if path.is_dir() else [path]
        )
        for file in files:
            try:
                yield file.name, log.read_eval_log(str(file))
            except Exception as exc:  # its reader raises whatever its formats raise
                raise SchemaError(f"{file} is no log of Inspect", got=str(exc)[:120]) from exc


def read_logs(paths: str | Path | Iterable[str | Path], *, keep: Iterable[str] = ()) -> pl.DataFrame:
    """Read scores of any Inspect logs, one row a sample, epoch and scorer.

    Parameters
    ----------
    paths : path or sequence of paths
        Log files (`.eval` or `.json`), or a folder of them.
    keep : sequence of str
        Keys of the samples' metadata that become columns (texts), to cluster or to compare by.

    Returns
    -------
    polars.DataFrame
        `log`, `task`, `model`, `case_id` (the sample's id), `sample` (epoch, from 0), `scorer` (with `/key`
        where a score is a mapping), `value` (C, I, P, N as 1, 0, 0.5, 0; null where there is no number or
        the sample failed), `status` (ok, error, or no number), and the columns of `keep`.
        `ig.metrics.mean(frame, "value", by=("model", "scorer"))` and the contrasts take it as it is.

    Raises
    ------
    SchemaError
        For a file that is no log.
    """
    keep = list(keep)
    rows = [row for name, log in _logs(paths) for row in _scores(name, log, keep)]
    return pl.DataFrame(rows, schema=SCORES | dict.fromkeys(keep, pl.String), orient="row")


def _scores(name: str, log: Any, keep: list[str]) -> Iterator[tuple[Any, ...]]:
    from inspect_ai.scorer import value_to_float

    number = value_to_float()

    def row(sample: Any, scorer: str, value: Any, status: str) -> tuple[Any, ...]:
        meta = [None if (v := sample.metadata.get(k)) is None else str(v) for k in keep]
        place = (name, log.eval.task, log.eval.model, str(sample.id), sample.epoch - 1)
        return (*place, scorer, value, status, *meta)

    for sample in log.samples or ():
        if sample.error or not sample.scores:
            yield row(sample, "", None, "error" if sample.error else "no score")
            continue
        for scorer, score in sample.scores.items():
            parts = score.value.items() if isinstance(score.value, dict) else [("", score.value)]
            for key, value in parts:
                plain = isinstance(value, bool | int | float) or value in ("C", "I", "P", "N")
                found = float(number(value)) if plain else None
                yield row(sample, f"{scorer}/{key}" if key else scorer, found, "ok" if plain else "no number")


def answers_of(paths: str | Path | Iterable[str | Path]) -> list[dict[str, Any]]:
    """Return the answers in logs of `make_task`, as rows for `icgkit import answers`.

    Returns
    -------
    list of dict
        case_id, condition, model, sample, text, finish_reason, prompt_sha256, input_tokens, output_tokens,
        latency (seconds). A sample that failed is left out: the answer is missing, not empty.

    Raises
    ------
    SchemaError
        For a log whose samples say no condition: it was not made by `make_task`.
    """
    rows = []
    for name, log in _logs(paths):
        for sample in log.samples or ():
            if "condition" not in sample.metadata:
                raise SchemaError(
                    f"{name}: sample {sample.id} states no condition", allowed="logs of icgkit's own tasks"
                )
            if sample.error or sample.output is None or not sample.output.choices:
                continue
            usage, head = (
                sample.output.usage,
                {k: sample.metadata[k] for k in ("case_id", "condition", "prompt_sha256")},
            )
            rows.append(
                head
                | {
                    "model": log.eval.model, "sample": sample.epoch - 1, "text": sample.output.completion,
                    "finish_reason": {"max_tokens": "length"}.get(sample.output.stop_reason, sample.output.stop_reason),
                    "input_tokens": usage.input_tokens if usage else None,
                    "output_tokens": usage.output_tokens if usage else None, "latency": sample.output.time,
                }
            )  # fmt: skip
    return rows
