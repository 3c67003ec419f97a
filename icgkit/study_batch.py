"""Calls at batch prices: submit, close, collect later. For providers in the OpenAI form, by litellm's functions.

Each submission has a file `batches/<name>.jsonl` in the cache folder: one line a call (its record
without an answer), and at the end the provider's id of the batch. It is removed once everything has
been collected.
"""

from __future__ import annotations

import json
import os
import uuid
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from icgkit.cache import Cache, Record
from icgkit.elicit import Plan, requests
from icgkit.errors import CallError
from icgkit.images import check_all
from icgkit.keys import mask
from icgkit.llm import Addressed, Request, address, endpoint_of, record_for, without_keys
from icgkit.llm_lanes import StraightLane, load_litellm
from icgkit.llm_limits import Limits
from icgkit.llm_open import check_models, open_lane
from icgkit.llm_prices import Price, batch_price_of
from icgkit.llm_reply import pack_raw, read_reply
from icgkit.study import Study

MOST_CALLS, MOST_BYTES = 20_000, 150_000_000
"""Size of one submission, below what providers allow."""
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})


def run_batch(study: Study, *, cache: Cache | None = None) -> str:
    """Collect what has come back, submit what is missing, and say how things stand.

    Conditions of several steps, and judges, go on with what the steps before have brought: run
    again until nothing is pending.

    Raises
    ------
    CallError
        If a model's provider has no batches in the OpenAI form, or a submission was cut off.
    """
    from icgkit.identity import describe, note_run
    from icgkit.study_run import judging_plan

    cache = cache or study.open_cache()
    plan = judging_plan(study)
    describe(study, plan, cache.folder)
    collected, waiting = collect(cache, _ways(study, plan))
    todo = [a for a in _missing(plan, cache, frozenset(study.redo)) if a.key not in waiting]
    if todo:
        wanted = {str(a.request.tags.get("case_id")) for a in todo}
        check_all(case for case in plan.dataset if case.id in wanted)
        check_models([*todo, *map(address, plan.behind)])
        note_run(study, plan, cache.folder)
        submit(todo, cache)
    lines = [
        f"{collected} answers collected, {len(waiting)} still with the provider, {len(todo)} submitted now"
    ]
    if waiting or todo:
        lines.append("run the same command again to collect")
    return "\n".join(lines)


Ways = Mapping[tuple[str, str | None], Request]


def _ways(study: Study, plan: Plan) -> Ways:
    """Return a request for every model of a study and its address, to open lanes by."""
    models = [*plan.models, *plan.helpers.values(), *(j.model() for j in study.judges)]
    asked = [(m.name, m.under(condition.id)) for m in models for condition in plan.conditions]
    return {(name, endpoint_of(name, params)): Request(name, [], params) for name, params in asked}


def _missing(plan: Plan, cache: Cache, redo: frozenset[str]) -> Iterator[Addressed]:
    seen: set[str] = set()

    def visit(request: Request) -> Iterator[Addressed]:
        asked = address(request)
        status = cache.status(asked.key)
        if status is None or status in redo:
            if asked.key not in seen:
                seen.add(asked.key)
                yield asked
        elif request.then is not None and (record := cache.get(asked.key)) is not None:
            for following in request.then(record):
                yield from visit(following)

    for model in plan.models:
        for _, request in requests(plan, model):
            yield from visit(request)


def submit(todo: list[Addressed], cache: Cache) -> int:
    """Submit calls, one batch for each model and set of parameters; return how many batches."""
    groups: dict[tuple[str, str, str | None], list[Addressed]] = {}
    for asked in todo:
        request = asked.request
        name = (request.model, json.dumps(dict(request.params), sort_keys=True, default=str), asked.endpoint)
        groups.setdefault(name, []).append(asked)
    lanes = {name: open_lane(group[0], Limits()) for name, group in groups.items()}
    for (model, _, _), lane in lanes.items():
        if not isinstance(lane, StraightLane):
            raise CallError(
                f"model {model}: no batches in the OpenAI form at its provider", remedy="leave out --batch"
            )
    count = 0
    for name, group in groups.items():
        lane = lanes[name]
        assert isinstance(lane, StraightLane)
        for part in _parts(group, lane):
            _submit(part, lane, cache)
            count += 1
    return count


def _parts(group: list[Addressed], lane: StraightLane) -> Iterator[list[tuple[Addressed, bytes]]]:
    part: list[tuple[Addressed, bytes]] = []
    size = 0
    for asked in group:
        head = json.dumps({"custom_id": asked.key, "method": "POST", "url": "/v1/chat/completions"})
        line = head[:-1].encode() + b',"body":' + lane.body(asked) + b"}\n"
        if part and (len(part) >= MOST_CALLS or size + len(line) > MOST_BYTES):
            yield part
            part, size = [], 0
        part.append((asked, line))
        size += len(line)
    if part:
        yield part


def _submit(part: list[tuple[Addressed, bytes]], lane: StraightLane, cache: Cache) -> None:
    litellm = load_litellm()
    folder = cache.folder / "batches"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{uuid.uuid4().hex[:12]}.jsonl"
    params = json.dumps(lane.params, sort_keys=True, default=str)
    stubs = [record_for(asked, status="error", params=params) for asked, _ in part]
    _append(path, "".join(json.dumps(_stub(s)) + "\n" for s in stubs))
    where = {"custom_llm_provider": "openai", "api_base": lane.base, "api_key": lane.key or "none"}
    try:
        data = b"".join(line for _, line in part)
        with _quiet():
            file = litellm.create_file(file=(path.name, data), purpose="batch", **where)
            batch = litellm.create_batch(
                completion_window="24h", endpoint="/v1/chat/completions", input_file_id=file.id, **where
            )
    except Exception as exc:
        path.unlink()
        raise CallError(f"batch was not accepted: {mask(str(exc))[:500]}") from None
    _append(path, json.dumps({"batch": batch.id, "api_base": lane.base}) + "\n")


def _stub(record: Record) -> dict[str, Any]:
    return {k: v for k, v in asdict(record).items() if v is not None}


def _append(path: Path, text: str) -> None:
    with open(path, "a", encoding="utf-8", newline="\n") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())


def collect(cache: Cache, ways: Ways) -> tuple[int, set[str]]:
    """Record what finished batches have brought.

    Where to ask, and with which key, is the study's to say: a cache folder may be somebody else's.

    Parameters
    ----------
    ways : mapping
        Request by model and address, as the study has them.

    Returns
    -------
    tuple
        How many answers were recorded, and the keys of calls that are still with the provider.
    """
    collected, waiting = 0, set()
    for path in sorted((cache.folder / "batches").glob("*.jsonl")):
        *stubs, last = [json.loads(x) for x in path.read_text(encoding="utf-8").split("\n") if x]
        if "batch" not in last:
            raise CallError(
                f"submission {path.name} was cut off before the provider confirmed it",
                remedy=f"see there whether a batch of {len(stubs) + 1} calls is running, then remove {path}",
            )
        records = {s["key"]: Record(**s) for s in stubs}
        answers = _fetch(last, _lane(path, stubs, last, ways))
        if answers is None:
            waiting |= set(records)
            continue
        for key, answer in answers.items():
            if key in records and cache.status(key) != "ok":
                cache.put(_answered(records[key], answer))
                collected += 1
        path.unlink()
    return collected, waiting


def _lane(path: Path, stubs: list[dict[str, Any]], state: dict[str, Any], ways: Ways) -> StraightLane:
    """Open the study's own way to the model of a submission; one that leads elsewhere is refused."""
    model, endpoint = (stubs[0].get("model"), stubs[0].get("endpoint")) if stubs else (None, None)
    request = ways.get((str(model), endpoint))
    lane = open_lane(address(request), Limits()) if request is not None else None
    if not isinstance(lane, StraightLane) or state.get("api_base") != lane.base:
        raise CallError(
            f"submission {path} was made for model {model!r} at {mask(str(state.get('api_base')))[:200]}, "
            "and this study does not ask that model there; nothing was sent",
            remedy="collect it with the study that submitted it, or remove the file",
        )
    return lane


def _fetch(state: dict[str, Any], lane: StraightLane) -> dict[str, dict[str, Any]] | None:
    """Return the answers of a batch by key, None while it is running."""
    litellm = load_litellm()
    where = {"custom_llm_provider": "openai", "api_base": lane.base, "api_key": lane.key or "none"}
    try:
        with _quiet():
            batch = litellm.retrieve_batch(batch_id=state["batch"], **where)
        if batch.status not in ENDED:
            return None
        answers: dict[str, dict[str, Any]] = {}
        for file in (batch.output_file_id, batch.error_file_id):
            if file:
                with _quiet():
                    content = litellm.file_content(file_id=file, **where).content
                for line in content.decode("utf-8").split("\n"):
                    if line.strip():
                        answer = json.loads(line)
                        answers[answer["custom_id"]] = answer
    except Exception as exc:
        raise CallError(f"batch {state['batch']} could not be read: {mask(str(exc))[:500]}") from None
    return answers


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep back the warnings of modules that litellm imports on the way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _answered(record: Record, answer: dict[str, Any]) -> Record:
    response = answer.get("response") or {}
    raw = response.get("body")
    if response.get("status_code") != 200 or not isinstance(raw, dict):
        why = json.dumps(answer.get("error") or raw, default=str)
        return replace(record, refusal=mask(f"HTTP {response.get('status_code')}: {why}")[:2000])
    read = read_reply(raw)
    price: Price = batch_price_of(record.model)
    answer = without_keys({**read, "raw": pack_raw(raw, read["text"])})
    return replace(record, **answer, cost=price.of_usage(raw.get("usage")))
