"""The engine of a run: what is recorded is served, the rest is called within the limits."""

from __future__ import annotations

import asyncio
import json
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from icgkit.calls.cache import Cache, Record, relabel
from icgkit.calls.failures import TOO_MANY, Failed, Health, Reasons, failed_inside
from icgkit.calls.limits import PATIENCE, Gate, Limits, Pace, limited_as, pause, wait_for
from icgkit.calls.opening import open_lane
from icgkit.calls.prices import Price, check_prices, count, price_of, tokens_in
from icgkit.calls.progress import Progress
from icgkit.calls.reply import pack_raw, read_reply
from icgkit.calls.request import REDO, Addressed, Request, address, in_thread, miss, record_for
from icgkit.calls.submitted import pending
from icgkit.calls.transports import Lane

OnRecord = Callable[[int | None, Record], None]
Job = tuple[int | None, Request | Addressed]
_TICK = 0.25
"""Seconds between two looks at whether something has to be shown or stopped."""


@dataclass
class Summary:
    """What a run did. `stopped` is None, "budget" or "interrupt".

    `cost` is in US dollars and counts every attempt of this run, `estimated` the part of it that no
    provider's count stands behind; `closed` says by model why no more of its calls were made;
    `pending` counts calls that were left to a batch that the provider still has.
    """

    total: int = 0
    cached: int = 0
    called: int = 0
    cost: float = 0.0
    estimated: float = 0.0
    unpriced: int = 0
    by_status: dict[str, int] = field(default_factory=dict)
    stopped: str | None = None
    seconds: float = 0.0
    attempts: int = 0
    flying: int = 0
    """Calls in flight; after a run, those whose answers were given up."""
    pending: int = 0
    closed: dict[str, str] = field(default_factory=dict)
    reasons: Reasons = field(default_factory=Reasons)

    def failed(self) -> bool:
        """Say whether there were errors, or models that could not be called to the end."""
        return bool(self.closed or self.by_status.get("error"))

    def lines(self) -> list[str]:
        """Return the cost, what was given up, and the commonest reasons of missing answers, as lines."""
        cost = f"cost ${self.cost:.4f} in {self.attempts:,d} attempts"
        cost += f", ${self.estimated:.4f} of it estimated" if self.estimated else ""
        cost += f", and {self.unpriced:,d} attempts without a known price" if self.unpriced else ""
        lines = [cost]
        for model, why in self.closed.items():
            short = " ".join(why.split())[:300]
            lines.append(f"{model} was given up, its further calls were not made: {short}")
        if self.reasons.seen:
            lines += ["calls without an answer, by reason:", *self.reasons.lines()]
        if self.pending:
            lines.append(
                f"{self.pending:,d} calls were left out: a batch with them is still with the provider; "
                "collect it with `icgkit run --batch`"
            )
        return lines


def together(summaries: Sequence[Summary]) -> Summary:
    """Return the sum of several runs."""
    whole = Summary()
    for s in summaries:
        for name in (
            "total",
            "cached",
            "called",
            "cost",
            "estimated",
            "unpriced",
            "seconds",
            "attempts",
            "pending",
        ):
            setattr(whole, name, getattr(whole, name) + getattr(s, name))
        for status, n in s.by_status.items():
            whole.by_status[status] = whole.by_status.get(status, 0) + n
        whole.closed |= s.closed
        whole.stopped = s.stopped or whole.stopped
    whole.reasons = Reasons().merge(s.reasons for s in summaries)
    return whole


class _Provider:
    """What the models of one provider share: limits, and the work that waits for them."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.pace = Pace(limits.rpm, limits.tpm)
        self.gate = Gate(limits.concurrency)
        self.held_for = limits.backoff / 5
        self.follow: deque[Job] = deque()
        self.streams: deque[Iterator[Job]] = deque()
        self.workers = 0

    def take(self) -> Job | None:
        """Return the next piece of work: what builds on earlier calls goes first."""
        if self.follow:
            return self.follow.popleft()
        while self.streams:
            job = next(self.streams[0], None)
            if job is not None:
                return job
            self.streams.popleft()
        return None

    def too_many(self, sent_at: float, after: float | None) -> None:
        """Slow down after 429: fewer at a time, and a pause for all that grows while there is no answer."""
        if sent_at >= self.gate.halved_at and after is None:
            self.pace.hold(self.held_for)
            self.held_for = min(2 * self.held_for, self.limits.backoff * PATIENCE)
        self.gate.too_many(sent_at)

    def answered(self) -> None:
        """Note an answer."""
        self.held_for = self.limits.backoff / 5
        self.gate.answered()


@dataclass
class _Target:
    """One model with one set of parameters: the way to it, its price, how it fares."""

    lane: Lane
    provider: _Provider
    price: Price
    health: Health


@dataclass
class _Tried:
    """What one attempt gave."""

    answer: dict[str, Any]
    cost: float | None
    by: str
    usage: Any = None
    failure: Failed | None = None


class _Run:
    def __init__(
        self,
        cache: Cache,
        limits: Limits,
        redo: frozenset[str],
        stop: threading.Event,
        progress: Progress,
        on_record: OnRecord,
    ) -> None:
        self.cache, self.limits, self.redo, self.stop = cache, limits, redo, stop
        self.progress, self.on_record = progress, on_record
        self.summary = progress.summary
        self.targets: dict[tuple[str, str], _Target] = {}
        self.health: dict[tuple[str, str | None, str], Health] = {}
        self.providers: dict[str, _Provider] = {}
        self.flying: dict[str, asyncio.Future[Record | None]] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        self.broken: BaseException | None = None
        self.settled = asyncio.Event()
        self.began = False
        self.pending = pending(cache.folder) if cache.mode == "record" else frozenset()

    def provider(self, model: str) -> _Provider:
        name = limited_as(model)
        if name not in self.providers:
            self.providers[name] = _Provider(self.limits.for_provider(name))
        return self.providers[name]

    def target(self, asked: Addressed) -> _Target:
        request = asked.request
        name = (request.model, json.dumps(dict(request.params), sort_keys=True, default=str))
        if name not in self.targets:
            provider = self.provider(request.model)
            lane = open_lane(asked, provider.limits)
            if lane.provider == "offline":
                from icgkit.calls.worker import OfflineLane, Pool

                assert isinstance(lane, OfflineLane)
                lanes = [t.lane for t in self.targets.values()]
                lane.pool = (
                    next((x.pool for x in lanes if isinstance(x, OfflineLane) and x.pool), None) or Pool()
                )
            where = (request.model, asked.endpoint, str(request.params.get("api_key_env")))
            health = self.health.setdefault(where, Health())
            price = price_of(request.model, self.limits.prices, request.params)
            self.targets[name] = _Target(lane, provider, price, health)
        return self.targets[name]

    def served(self, asked: Addressed) -> Record | None:
        """Return the recorded answer, if there is one that need not be made again."""
        status = self.cache.status(asked.key)
        if status is None or (status in self.redo and self.cache.mode == "record"):
            return None
        record = self.cache.get(asked.key)
        assert record is not None
        if record.slot != asked.slot:
            record = relabel(record, **_purpose(asked))
            if self.cache.mode == "record" and not self.cache.has_slot(asked.slot):
                self.cache.put(record)
        return record

    async def one(self, index: int | None, job: Request | Addressed) -> None:
        asked = address(job) if isinstance(job, Request) else job
        request = asked.request
        record = self.served(asked)
        if record is not None:
            self.summary.cached += 1
        elif self.cache.mode == "replay":
            raise miss(request, self.cache)
        elif asked.key in self.flying:
            record = await self.flying[asked.key]
            if record is None:
                return
            if record.slot != asked.slot:
                record = relabel(record, **_purpose(asked))
                self.cache.put(record)
            self.summary.cached += 1
        else:
            record = await self.fly(asked)
            if record is None:
                return
        self.progress.add(record)
        self.on_record(index, record)
        if request.then is not None:
            self.enqueue(request.then(record))

    async def fly(self, asked: Addressed) -> Record | None:
        future: asyncio.Future[Record | None] = asyncio.get_running_loop().create_future()
        self.flying[asked.key] = future
        try:
            record = await self.call(asked)
            future.set_result(record)
            return record
        except BaseException as exc:
            future.set_exception(exc)
            future.exception()  # marks it as seen: it is raised here as well
            raise
        finally:
            self.flying.pop(asked.key, None)

    async def call(self, asked: Addressed) -> Record | None:
        """Make one call within the limits; None if the run stops before it is sent."""
        if asked.key in self.pending:
            self.summary.pending += 1
            return None
        target = self.target(asked)
        self.cache.ready()
        if target.health.closed:
            await asyncio.sleep(0)  # others go on while a long rest is passed over
            return None
        record = await self.attempts(asked, target)
        if target.health.closed:
            self.summary.closed.setdefault(asked.request.model, target.health.closed)
        if record is None:
            return None
        self.cache.put(record)
        self.summary.called += 1
        return record

    def begin(self) -> None:
        """Before the first call that costs something: see what was spent, and who else works here."""
        if self.began:
            return
        self.began = True
        recorded = 0.0
        if self.limits.budget is not None and len(self.cache):
            recorded = float(self.cache.frame()["cost"].sum() or 0.0)
        for other in self.cache.ledger.begin(recorded):
            warnings.warn(
                f"{other} works on cache {self.cache.folder.name} as well: what both ask is paid twice",
                stacklevel=2,
            )

    async def attempts(self, asked: Addressed, target: _Target) -> Record | None:
        """Try until there is an answer, or it is not worth while; None if nothing was sent."""
        limits = target.provider.limits
        spent: float | None = 0.0
        tried: _Tried | None = None
        attempts = limited = 0
        started = clock = 0.0
        while (hold := await self.admitted(asked, target)) is not None:
            attempts += 1
            started, clock = time.time(), time.perf_counter()
            tried = await self.attempt(asked, target, hold)
            spent = None if tried.cost is None or spent is None else spent + tried.cost
            again = tried.failure.passing if tried.failure else tried.answer["status"] == "empty"
            after = tried.failure.after if tried.failure else None
            too_many = tried.failure is not None and tried.failure.status == TOO_MANY
            limited += too_many
            n, most = (
                (limited, PATIENCE * limits.retries) if too_many else (attempts - limited, limits.retries)
            )
            wait = pause(n - 1, limits, after)
            if not again or n > most or wait > limits.longest_wait or self.over(target):
                break
            if after is not None:
                target.provider.pace.hold(after)
            await self.sleep(wait, target)
        if tried is None:
            return None
        return record_for(
            asked,
            **tried.answer,
            cost=spent,
            params=json.dumps(target.lane.params, sort_keys=True, default=str),
            latency=time.perf_counter() - clock,
            attempts=attempts,
            created=started,
        )

    async def admitted(self, asked: Addressed, target: _Target) -> tuple[str, float, int] | None:
        """Wait until an attempt may start; return what is held for it, None if the run stops."""
        provider, tokens = target.provider, tokens_in(asked)
        held = await self.hold(asked, target, tokens)
        if held is None:
            return None

        def over() -> bool:
            return self.over(target)

        while await provider.pace.wait(tokens, over) and await provider.gate.enter(over):
            if not provider.pace.held:
                return held
            provider.gate.leave()  # the server has asked for a pause while this one waited for a place
        self.settle(held, 0.0, "not sent", asked)
        return None

    async def hold(self, asked: Addressed, target: _Target, tokens: int) -> tuple[str, float, int] | None:
        """Hold the longest possible answer's cost, waiting for calls in flight to be settled if need be."""
        if target.price.free:
            return "", 0.0, tokens
        check_prices([asked.request.model], self.limits.prices, budget=self.limits.budget)
        self.begin()
        ledger, budget, model = self.cache.ledger, self.limits.budget, asked.request.model
        while not self.over(target):
            known = max(1.0, ledger.ratios.get(model, 1.0))
            most = target.price.most(round(tokens * known), target.lane.params, len(asked.images)) or 0.0
            health = target.health
            if budget is None or health.measured or model in ledger.ratios or not health.probing:
                name = ledger.hold(most, budget=budget, key=asked.key, model=model)
                if name is not None:
                    health.probing = True
                    return name, most, tokens
                if not ledger.waiting_for(2 * target.provider.limits.timeout):
                    self.summary.stopped = self.summary.stopped or "budget"
                    return None
            self.settled.clear()
            await wait_for(self.settled, 0.5)
        return None

    def settle(
        self, held: tuple[str, float, int], cost: float | None, by: str, asked: Addressed, **what: Any
    ) -> None:
        name, _, tokens = held
        if name:
            self.cache.ledger.settle(name, cost, by, model=asked.request.model, tokens_guessed=tokens, **what)
        self.settled.set()

    async def attempt(self, asked: Addressed, target: _Target, held: tuple[str, float, int]) -> _Tried:
        """Send once and book what it cost."""
        summary, provider = self.summary, target.provider
        sent_at = time.monotonic()
        summary.flying += 1
        try:
            tried = await self.send(asked, target, held[1])
        finally:
            provider.gate.leave()
        summary.flying -= 1  # not if it was cancelled: what is still counted here has been given up
        summary.attempts += 1
        if tried.cost is None:
            summary.unpriced += 1
        else:
            summary.cost += tried.cost
            summary.estimated += tried.cost if tried.by == "estimate" else 0.0
        target.health.measured = True
        sent = count(tried.usage.get("prompt_tokens")) if isinstance(tried.usage, dict) else None
        self.settle(held, tried.cost, tried.by, asked, status=tried.answer["status"], tokens_in=sent)
        limits, failure = provider.limits, tried.failure
        if failure is None:
            target.health.answered()
            provider.answered()
        else:
            target.health.failed(failure, sent_at, limits.dead_after, limits.longest_wait)
            if failure.status == TOO_MANY and not failure.for_good:
                provider.too_many(sent_at, failure.after)
            self.progress.failed(failure)
        return tried

    async def send(self, asked: Addressed, target: _Target, most: float) -> _Tried:
        """Send once; say what came back and what it cost."""
        price = target.price
        guess = most if price.known else None
        try:
            raw = await target.lane.send(asked)
        except Failed as exc:
            cost, by = (guess, "estimate") if exc.reached else (0.0, "not billed")
            status = "refused" if exc.refused else "error"
            return _Tried({"status": status, "refusal": str(exc)}, cost, by, failure=exc)
        answer = read_reply(raw)
        failure = None
        if answer["status"] == "error":
            # What ended badly without saying why is asked once more like any failure on the way.
            failure = failed_inside(raw) or Failed(answer["refusal"], passing=True, reached=True)
        answer["raw"] = pack_raw(raw, answer["text"])
        cost, by = price.of_usage(raw.get("usage"), len(asked.images)), "usage"
        told = raw.get("_cost")  # what litellm works out; never what a server says
        if (
            isinstance(told, (int, float))
            and 0 <= told < 1e9
            and asked.request.model not in self.limits.prices
        ):
            cost = max(cost or 0.0, float(told))
        if cost is None and failure is not None and not answer["text"]:
            cost, by = 0.0, "not billed"
        elif cost is None:
            cost, by = guess, "estimate"
        return _Tried(answer, cost, by, raw.get("usage"), failure)

    async def sleep(self, seconds: float, target: _Target) -> None:
        """Sleep, but wake up when the run is to stop."""
        until = time.monotonic() + seconds
        while not self.over(target) and (left := until - time.monotonic()) > 0:
            await asyncio.sleep(min(left, 0.5))

    def enqueue(self, requests: Iterable[Request]) -> None:
        """Queue requests that build on a finished call."""
        for request in requests:
            provider = self.provider(request.model)
            provider.follow.append((None, request))
            self.summary.total += 1
            self.staff(provider)

    def staff(self, provider: _Provider) -> None:
        """See to it that a provider with work has a worker to spare, within its limit."""
        if provider.workers < provider.limits.concurrency:
            provider.workers += 1
            task = asyncio.ensure_future(self.work(provider))
            self.tasks.add(task)

    async def work(self, provider: _Provider) -> None:
        try:
            while not self.halted() and (job := provider.take()) is not None:
                await self.one(*job)
        except BaseException as exc:
            if self.broken is None:  # the first failure is the one that is raised
                self.broken, self.summary.stopped = exc, "error"
        finally:
            provider.workers -= 1

    def halted(self) -> bool:
        """Say whether no further call may start."""
        if self.stop.is_set() and not self.summary.stopped:
            self.summary.stopped = "interrupt"
        return self.summary.stopped is not None

    def over(self, target: _Target) -> bool:
        """Say whether no further attempt at this model may start."""
        return self.halted() or target.health.closed is not None

    async def watch(self) -> None:
        """Show waits while nothing else happens; let go of everything when the user gives up."""
        while True:
            await asyncio.sleep(_TICK)
            held = max((p.pace.held for p in self.providers.values()), default=0.0)
            self.progress.tick(held, self.stop.is_set())
            if getattr(self.stop, "now", False):
                for task in self.tasks:
                    task.cancel()

    async def all(self, streams: Iterable[Iterator[Job]]) -> None:
        """Work off all streams and what follows from them."""
        for stream in streams:
            first = next(stream, None)
            if first is not None:
                self.provider(_model(first)).streams.append(chain([first], stream))
        for provider in list(self.providers.values()):
            for _ in range(provider.limits.concurrency):
                self.staff(provider)
        watch = asyncio.ensure_future(self.watch())
        try:
            while self.tasks:
                done, _ = await asyncio.wait(set(self.tasks), return_when=asyncio.FIRST_COMPLETED)
                self.tasks -= done
        finally:
            watch.cancel()
            await asyncio.gather(*(target.lane.close() for target in self.targets.values()))
            if self.began:
                self.cache.ledger.end()
        if self.broken is not None:
            raise self.broken


def _model(job: Job) -> str:
    return job[1].model if isinstance(job[1], Request) else job[1].request.model


def _purpose(asked: Addressed) -> dict[str, Any]:
    record = record_for(asked)
    names = (
        "kind",
        "dataset",
        "case_id",
        "condition",
        "stage",
        "subject",
        "label",
        "subject_model",
        "template_sha256",
        "extra",
    )
    return {name: getattr(record, name) for name in names}


def run_calls(
    streams: Sequence[Iterable[Job]],
    *,
    cache: Cache,
    limits: Limits,
    progress: bool = True,
    redo: Iterable[str] = REDO,
    on_record: OnRecord = lambda index, record: None,
    total: int | None = None,
    stop: threading.Event | None = None,
) -> Summary:
    """Run streams of requests side by side (one for each model, say).

    Streams are read as they are worked off, so that memory does not grow with their length.
    A job is an index and a request; `on_record` gets the index (None for what followed from
    another call) and the record, in the order of arrival.
    """
    if total is None:
        total = sum(len(s) for s in streams if isinstance(s, Sequence))
    summary = Summary(total=total)
    cache.refresh()
    cache.runs.append(summary)

    def work(event: threading.Event) -> Summary:
        clock = time.perf_counter()
        with Progress(summary, show=progress) as shown:
            run = _Run(cache, limits, frozenset(redo), event, shown, on_record)
            try:
                asyncio.run(run.all(iter(s) for s in streams))
            finally:
                cache.flush()
                summary.seconds = time.perf_counter() - clock
        return summary

    if stop is not None:
        return work(stop)
    result: Summary = in_thread(work)
    return result
