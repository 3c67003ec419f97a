"""Calls at batch prices: submit, close, collect later. For providers in the OpenAI form, by litellm's functions.

Each submission has a file `batches/<name>.jsonl` in the cache folder: one line a call (its record
without an answer), and at the end the provider's id of the batch. It is removed once everything has
been collected.
"""

from __future__ import annotations

import json
import os
import re
import uuid
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from icgkit.calls.cache import BATCHES, Cache, submission, submissions
from icgkit.calls.keys import load_litellm, mask
from icgkit.calls.ledger import Ledger, Reasons
from icgkit.calls.limits import Limits
from icgkit.calls.prices import batch_price_of, check_prices, price_of, tokens_in
from icgkit.calls.record import Record
from icgkit.calls.reply import filtered, pack_raw, read_reply
from icgkit.calls.request import Addressed, Request, address, endpoint_of, record_for, without_keys
from icgkit.calls.transports import OpenAITransport, check_models, open_transport
from icgkit.cases.images import check_all
from icgkit.errors import CallError
from icgkit.study.chains import first_calls
from icgkit.study.estimate import walk
from icgkit.study.file import Study
from icgkit.study.identity import describe, note_run
from icgkit.study.plan import Plan
from icgkit.study.run import plan_with_judges
from icgkit.untrusted import json_value

MOST_CALLS, MOST_BYTES = 20_000, 150_000_000
"""Size of one submission, below what providers allow."""
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})


@dataclass
class Batches:
    """How the batches of a study stand. `stopped` is None or "budget"."""

    collected: int = 0
    waiting: set[str] = field(default_factory=set)
    """Keys of calls that are still with the provider."""
    failed_now: set[str] = field(default_factory=set)
    """Keys of calls that came back without an answer just now; they are not submitted at once again."""
    submitted: int = 0
    again: int = 0
    """Of those, calls that had failed before."""
    left: int = 0
    """Calls that the budget has no room for."""
    cost: float = 0.0
    """US dollars of what was collected, where a price is known."""
    reasons: Reasons = field(default_factory=Reasons)

    @property
    def stopped(self) -> str | None:
        """Why not everything that is missing was submitted, None if it was."""
        return "budget" if self.left else None

    @property
    def failed(self) -> bool:
        """Whether calls came back without an answer."""
        return bool(self.failed_now)

    def text(self) -> str:
        """Return how things stand, in a few lines."""
        line = f"{self.collected} answers collected, {len(self.waiting)} still with the provider, "
        lines = [line + f"{self.submitted} submitted now"]
        if self.again:
            lines.append(f"{self.again} of these had failed before and are asked once more")
        if self.collected:
            lines.append(f"cost ${self.cost:.4f}")
        if self.failed_now:
            n = len(self.failed_now)
            lines += [f"{n} calls came back without an answer, by reason:", *self.reasons.lines()]
            lines.append(
                "they were not submitted again; the same command does so if they are to be asked once more"
            )
        if self.left:
            lines.append(f"{self.left} calls were not submitted: the budget has no room for them")
        if self.waiting or self.submitted:
            lines.append("run the same command again to collect")
        return "\n".join(lines)


def run_batch(study: Study, *, cache: Cache | None = None, budget: float | None = None) -> Batches:
    """Collect what has come back, submit what is missing, and say how things stand.

    Chains and judges go on with what the steps before have brought: run again until nothing is pending.
    """
    cache = cache or study.open_cache()
    plan, _ = plan_with_judges(study)
    describe(study, plan, cache.folder)
    limits = study.call_limits(budget)
    told = collect(cache, _requests(study, plan), limits)
    out = told.waiting | told.failed_now
    steps = walk(first_calls(plan), cache, study.redo)
    todo = [s.asked for s in steps if s.new and s.status is None and s.asked.key not in out]
    if todo:
        wanted = {str(a.request.tags.get("case_id")) for a in todo}
        check_all(case for case in plan.dataset if case.id in wanted)
        check_models([*todo, *map(address, plan.behind)])
        note_run(study, plan, cache.folder)
        before = {a.key for a in todo if cache.status(a.key) is not None}
        sent = submit(todo, cache, limits)
        told.submitted, told.left = len(sent), len(todo) - len(sent)
        told.again = len(before & sent)
    return told


Requests = Mapping[tuple[str, str | None], Request]
"""A request to every model of a study, by its name and address."""


def _requests(study: Study, plan: Plan) -> Requests:
    models = [*plan.models, *plan.helpers.values(), *(j.model() for j in study.judges)]
    asked = [(m.name, m.under(condition.id)) for m in models for condition in plan.conditions]
    return {(name, endpoint_of(name, params)): Request(name, [], params) for name, params in asked}


def submit(todo: list[Addressed], cache: Cache, limits: Limits) -> set[str]:
    """Submit calls, one batch for each model and set of parameters, as far as the budget goes."""
    check_prices((a.request.model for a in todo), limits.prices, budget=limits.budget)
    groups: dict[tuple[str, str, str | None], list[Addressed]] = {}
    for asked in todo:
        request = asked.request
        name = (request.model, json.dumps(dict(request.params), sort_keys=True, default=str), asked.endpoint)
        groups.setdefault(name, []).append(asked)
    transports = {name: open_transport(group[0], Limits()) for name, group in groups.items()}
    for (model, _, _), transport in transports.items():
        if not isinstance(transport, OpenAITransport):
            raise CallError(
                f"model {model}: no batches in the OpenAI form at its provider", remedy="leave out --batch"
            )
    sent: set[str] = set()
    recorded = float(cache.frame()["cost"].sum() or 0.0) if len(cache) else 0.0
    ledger = cache.ledger
    ledger.begin(recorded)
    try:
        for name, group in groups.items():
            transport = transports[name]
            assert isinstance(transport, OpenAITransport)
            for part in _parts(_affordable(group, transport, ledger, limits), transport):
                most = sum(_most(asked, transport, limits) for asked, _ in part)
                held = ledger.hold(most, budget=limits.budget, model=name[0], calls=len(part))
                if held is None:  # another process was quicker
                    return sent
                _submit(part, transport, cache, held)
                sent |= {asked.key for asked, _ in part}
    finally:
        ledger.end()
    return sent


def _most(asked: Addressed, transport: OpenAITransport, limits: Limits) -> float:
    """Return what a call can cost at most in a batch; the ordinary price where there is no other."""
    model = asked.request.model
    price = batch_price_of(model, limits.prices)
    price = price if price.known else price_of(model, limits.prices)
    return price.most(tokens_in(asked), transport.params, len(asked.images)) or 0.0


def _affordable(
    group: list[Addressed], transport: OpenAITransport, ledger: Ledger, limits: Limits
) -> list[Addressed]:
    """Return the calls, from the first, that the budget has room for."""
    if limits.budget is None:
        return group
    room = limits.budget - ledger.spent.cost - ledger.held
    for k, asked in enumerate(group):
        room -= _most(asked, transport, limits)
        if room < 0:
            return group[:k]
    return group


def _parts(group: list[Addressed], transport: OpenAITransport) -> Iterator[list[tuple[Addressed, bytes]]]:
    part: list[tuple[Addressed, bytes]] = []
    size = 0
    for asked in group:
        head = json.dumps({"custom_id": asked.key, "method": "POST", "url": "/v1/chat/completions"})
        line = head[:-1].encode() + b',"body":' + transport.body(asked) + b"}\n"
        if part and (len(part) >= MOST_CALLS or size + len(line) > MOST_BYTES):
            yield part
            part, size = [], 0
        part.append((asked, line))
        size += len(line)
    if part:
        yield part


def _submit(part: list[tuple[Addressed, bytes]], transport: OpenAITransport, cache: Cache, held: str) -> None:
    litellm = load_litellm()
    folder = cache.folder / BATCHES
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{uuid.uuid4().hex[:12]}.jsonl"
    params = json.dumps(transport.params, sort_keys=True, default=str)
    stubs = [record_for(asked, status="error", params=params) for asked, _ in part]
    _append(path, "".join(json.dumps(_stub(s)) + "\n" for s in stubs))
    where = {"custom_llm_provider": "openai", "api_base": transport.base, "api_key": transport.key or "none"}
    try:
        data = b"".join(line for _, line in part)
        with _quiet():
            file = litellm.create_file(file=(path.name, data), purpose="batch", **where)
            batch = litellm.create_batch(
                completion_window="24h", endpoint="/v1/chat/completions", input_file_id=file.id, **where
            )
    except Exception as exc:
        path.unlink()
        cache.ledger.settle(held, 0.0, "not sent", model=part[0][0].request.model)
        raise CallError(f"batch was not accepted: {mask(str(exc))[:500]}") from None
    _append(path, json.dumps({"batch": batch.id, "api_base": transport.base, "held": held}) + "\n")


def _stub(record: Record) -> dict[str, Any]:
    return {k: v for k, v in asdict(record).items() if v is not None}


def _append(path: Path, text: str) -> None:
    with open(path, "a", encoding="utf-8", newline="\n") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())


def collect(cache: Cache, known: Requests, limits: Limits) -> Batches:
    """Record what finished batches have brought; a call that has no answer is recorded with the reason.

    Where to ask, and with which key, is the study's to say: a cache folder may be somebody else's.
    """
    told = Batches()
    for path in submissions(cache.folder):
        *stubs, last = submission(path)
        if "batch" not in last:
            raise CallError(
                f"submission {path.name} was cut off before the provider confirmed it",
                remedy=f"see there whether a batch of {len(stubs) + 1} calls is running, then remove {path}",
            )
        try:
            records = {str(s["key"]): Record(**s) for s in stubs}
        except (TypeError, KeyError) as exc:
            raise CallError(f"submission {path} holds a line that is no call: {exc}") from None
        if not re.fullmatch(r"[\w-]{1,200}", str(last["batch"])):  # it becomes part of an address
            raise CallError(
                f"submission {path}: the name of a batch",
                got=last["batch"],
                allowed="letters, digits, - and _",
            )
        ended = _fetch(last, _transport_of(path, stubs, last, known))
        if ended is None:
            told.waiting |= set(records)
            continue
        answers, why = ended
        found = {key: _answered(records[key], a, limits) for key, a in answers.items() if key in records}
        missing = {key: replace(r, refusal=why, cost=0.0) for key, r in records.items() if key not in found}
        for key, record in {**found, **missing}.items():
            if cache.status(key) != "ok":
                cache.put(record)
                told.collected += record.status != "error"
                told.reasons.add(record)
            if record.status == "error":
                told.failed_now.add(key)
        told.cost += sum(r.cost or 0.0 for r in found.values())
        _settle(last, [*found.values()], cache, limits)
        path.unlink()
    return told


def _settle(state: dict[str, Any], records: list[Record], cache: Cache, limits: Limits) -> None:
    """Book what a batch has cost instead of what was held for it."""
    if not state.get("held"):
        return
    total, by = 0.0, "usage"
    for record in records:
        cost = record.cost
        if cost is None and (price := price_of(record.model, limits.prices)).known:
            cost, by = price.cost(record.input_tokens or 0, record.output_tokens or 0), "estimate"
        total += cost or 0.0
    model = records[0].model if records else None
    cache.ledger.settle(str(state["held"]), total, by, model=model, calls=len(records))


def _transport_of(
    path: Path, stubs: list[dict[str, Any]], state: dict[str, Any], known: Requests
) -> OpenAITransport:
    """Open the study's own way to the model of a submission; one that leads elsewhere is refused."""
    model, endpoint = (stubs[0].get("model"), stubs[0].get("endpoint")) if stubs else (None, None)
    request = known.get((str(model), endpoint))
    transport = open_transport(address(request), Limits()) if request is not None else None
    if not isinstance(transport, OpenAITransport) or state.get("api_base") != transport.base:
        raise CallError(
            f"submission {path} was made for model {model!r} at {mask(str(state.get('api_base')))[:200]}, "
            "and this study does not ask that model there; nothing was sent",
            remedy="collect it with the study that submitted it, or remove the file",
        )
    return transport


def _fetch(state: dict[str, Any], transport: OpenAITransport) -> tuple[dict[str, dict[str, Any]], str] | None:
    """Return the answers of a batch by key, and why others have none; None while it is running."""
    litellm = load_litellm()
    where = {"custom_llm_provider": "openai", "api_base": transport.base, "api_key": transport.key or "none"}
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
                for line in content.decode("utf-8", "replace").split("\n"):
                    answer = json_value(line, "batch", lenient=True, error=CallError) if line.strip() else {}
                    if isinstance(answer, dict) and isinstance(key := answer.get("custom_id"), str):
                        answers[key] = answer
    except Exception as exc:
        raise CallError(f"batch {state['batch']} could not be read: {mask(str(exc))[:500]}") from None
    return answers, mask(_why(batch))[:2000]


def _why(batch: Any) -> str:
    """Return what the provider says about a batch that ended, as a reason for a missing answer."""
    errors = getattr(batch, "errors", None)
    data = (errors.get("data") if isinstance(errors, dict) else getattr(errors, "data", None)) or []
    said = [
        str((e.get("message") if isinstance(e, dict) else getattr(e, "message", None)) or e) for e in data[:3]
    ]
    return f"the batch ended as {batch.status} without an answer to this call" + (
        "".join(f"; {x}" for x in said)
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep back the warnings of modules that litellm imports on the way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _answered(record: Record, answer: dict[str, Any], limits: Limits) -> Record:
    response = answer.get("response")
    response = response if isinstance(response, dict) else {}
    raw = response.get("body")
    if response.get("status_code") != 200 or not isinstance(raw, dict):
        why = json.dumps(answer.get("error") or raw, default=str)
        turned_down = filtered(answer.get("error")) or filtered(raw)
        told = mask(f"HTTP {response.get('status_code')}: {why}")[:2000]
        return replace(record, status="refused" if turned_down else "error", refusal=told, cost=0.0)
    read = read_reply(raw)
    price = batch_price_of(record.model, limits.prices)
    answer = without_keys({**read, "raw": pack_raw(raw, read["text"])})
    return replace(record, **answer, cost=price.of_usage(raw.get("usage")))
