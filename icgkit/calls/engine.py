"""Make calls: `complete` for one request, `complete_many` for many, recorded and replayed.

What is recorded is served, the rest is called within the limits; a dead model is given up, Ctrl-C lets
what is in flight be recorded.
"""

from __future__ import annotations

import asyncio
import json
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from icgkit.calls.cache import Cache, pending
from icgkit.calls.ledger import Summary
from icgkit.calls.limits import PATIENCE, Concurrency, Limits, RateLimit, limited_as, pause, wait_for
from icgkit.calls.prices import Price, check_prices, price_of, tokens_in
from icgkit.calls.progress import Progress
from icgkit.calls.record import Record, relabel
from icgkit.calls.reply import PASSING, TOO_MANY, Failed, count, failed_inside, pack_raw, read_reply
from icgkit.calls.request import REDO, Addressed, Request, address, provider_of, purpose_of, record_for
from icgkit.calls.transports import Transport, check_models, open_transport
from icgkit.calls.worker import OfflineTransport, Pool
from icgkit.errors import CacheMiss, CallError

OnRecord = Callable[[int | None, Record], None]
Job = tuple[int | None, Request | Addressed]
_TICK = 0.25
"""Seconds between two looks at whether something has to be shown or stopped."""
_LEAST = 5
"""Failures in a row before a model can be given up as dead."""
WOUND_UP = "stopped; every answer that was in flight is recorded, run again to go on"
GIVEN_UP = (
    "given up: answers that were in flight are lost and may have been paid (spending.jsonl counts them); "
    "everything before is recorded, run again to go on"
)


@dataclass
class Health:
    """What is known of one model at one address in this run."""

    closed: str | None = None
    """Why no further call of it is made, None while it is called."""
    measured: bool = False
    """Whether an attempt has ended, so that its size is known."""
    probing: bool = False
    """Whether a first attempt is under way."""
    _bad: int = 0
    _bad_since: float | None = None
    _limited_since: float | None = None

    def answered(self) -> None:
        """Note a sign of life."""
        self._bad, self._bad_since, self._limited_since = 0, None, None

    def failed(self, why: Failed, sent_at: float, dead_after: float, longest_wait: float) -> None:
        """Note a failure, and close the model if it is for good or the server seems dead."""
        now = time.monotonic()
        if why.for_good:
            self.closed = self.closed or str(why)
        elif why.after is not None and why.after > longest_wait:
            self.closed = self.closed or f"the server asks to wait {why.after:,.0f} s: {why}"
        elif why.status == TOO_MANY:
            self._bad, self._bad_since = 0, None
            self._limited_since = sent_at if self._limited_since is None else self._limited_since
            if now - self._limited_since >= longest_wait:
                self.closed = f"nothing but too many requests for {now - self._limited_since:,.0f} s: {why}"
        elif why.status is not None and why.status not in PASSING:
            self.answered()
        else:
            self._bad += 1
            self._bad_since = sent_at if self._bad_since is None else min(sent_at, self._bad_since)
            if self._bad >= _LEAST and now - self._bad_since >= dead_after:
                self.closed = f"{self._bad} failures and no answer in {now - self._bad_since:,.0f} s: {why}"


class _Provider:
    """What the models of one provider share: limits, and the work that waits for them."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.rate = RateLimit(limits.rpm, limits.tpm)
        self.gate = Concurrency(limits.concurrency)
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
            self.rate.hold(self.held_for)
            self.held_for = min(2 * self.held_for, self.limits.backoff * PATIENCE)
        self.gate.too_many(sent_at)

    def answered(self) -> None:
        """Note an answer."""
        self.held_for = self.limits.backoff / 5
        self.gate.answered()


@dataclass
class _Target:
    """One model with one set of parameters: the way to it, its price, how it fares."""

    transport: Transport
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
        self.pool: Pool | None = None
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
            transport = open_transport(asked, provider.limits)
            if isinstance(transport, OfflineTransport):
                transport.pool = self.pool = self.pool or Pool()
            where = (request.model, asked.endpoint, str(request.params.get("api_key_env")))
            health = self.health.setdefault(where, Health())
            price = price_of(request.model, self.limits.prices, request.params)
            self.targets[name] = _Target(transport, provider, price, health)
        return self.targets[name]

    def served(self, asked: Addressed) -> Record | None:
        """Return the recorded answer, if there is one that need not be made again."""
        status = self.cache.status(asked.key)
        if status is None or (status in self.redo and self.cache.mode == "record"):
            return None
        return self.cache.get(asked.key)

    def labelled(self, record: Record, asked: Addressed) -> Record:
        """Return a record as the answer to what is asked, and keep it for that purpose as well."""
        if record.slot == asked.slot:
            return record
        record = relabel(record, **purpose_of(asked.request))
        if self.cache.mode == "record" and not self.cache.has_slot(asked.slot):
            self.cache.put(record)
        return record

    async def one(self, index: int | None, job: Request | Addressed) -> None:
        asked = address(job) if isinstance(job, Request) else job
        request = asked.request
        record = self.served(asked)
        if record is None and self.cache.mode == "replay":
            raise miss(request, self.cache)
        shared = record is not None or asked.key in self.flying
        if record is None:
            record = await (self.flying[asked.key] if shared else self.fly(asked))
        if record is None:
            return
        if shared:
            record = self.labelled(record, asked)
            self.summary.cached += 1
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
                target.provider.rate.hold(after)
            await self.sleep(wait, target)
        if tried is None:
            return None
        return record_for(
            asked,
            **tried.answer,
            cost=spent,
            params=json.dumps(target.transport.params, sort_keys=True, default=str),
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
        over = partial(self.over, target)
        while await provider.rate.wait(tokens, over) and await provider.gate.enter(over):
            if not provider.rate.held:
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
            most = target.price.most(round(tokens * known), target.transport.params, len(asked.images)) or 0.0
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
            raw = await target.transport.send(asked)
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
            held = max((p.rate.held for p in self.providers.values()), default=0.0)
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
            await asyncio.gather(*(target.transport.close() for target in self.targets.values()))
            if self.began:
                self.cache.ledger.end()
        if self.broken is not None:
            raise self.broken


def _model(job: Job) -> str:
    return job[1].model if isinstance(job[1], Request) else job[1].request.model


def miss(request: Request, cache: Cache) -> CacheMiss:
    """Build the error for a call that replay mode needs and the cache lacks."""
    tags = request.tags
    return CacheMiss(
        f"no recorded answer of model {request.model!r} under condition {tags.get('condition', '?')!r} "
        f"for case {tags.get('case_id', '?')!r} in cache {Path(cache.folder).name!r}",
        remedy="record it with `icgkit run`, or check that images, templates and parameters are the same",
    )


def run_calls(
    streams: Sequence[Iterable[Job]],
    *,
    cache: Cache,
    limits: Limits,
    progress: bool = True,
    redo: Iterable[str] = REDO,
    on_record: OnRecord,
    total: int | None = None,
    stop: threading.Event | None = None,
) -> Summary:
    """Run streams of requests side by side (one for each model, say)."""
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


def complete(request: Request, *, cache: Cache, limits: Limits | None = None) -> Record:
    """Make one call, or replay it."""
    return complete_many([request], cache=cache, limits=limits, progress=False)[0]


def complete_many(
    requests: Sequence[Request],
    *,
    cache: Cache,
    limits: Limits | None = None,
    progress: bool = True,
    redo: Iterable[str] = REDO,
) -> list[Record]:
    """Make many calls at once, or replay them; records come in the order of the requests."""
    found, summary = call_many(requests, cache=cache, limits=limits, progress=progress, redo=redo)
    missing = sum(record is None for record in found)
    if missing:
        why = [*summary.closed.values(), *(["a batch has them"] if summary.pending else [])]
        why += [summary.stopped] if summary.stopped else []
        raise CallError(
            f"run stopped ({'; '.join(why)}): {missing} of {len(found)} calls not made",
            remedy="run again to make the rest" + (", with a higher budget" * (summary.stopped == "budget")),
        )
    return [record for record in found if record is not None]


def call_many(
    requests: Sequence[Request],
    *,
    cache: Cache,
    limits: Limits | None = None,
    progress: bool = True,
    redo: Iterable[str] = REDO,
) -> tuple[list[Record | None], Summary]:
    """Do what `complete_many` does, but give what there is if the run stops."""
    limits = limits or Limits()
    addressed = [address(request) for request in requests]
    if cache.mode == "record":
        wanted = frozenset(redo)
        todo = [a for a in addressed if cache.status(a.key) in (None, *wanted)]
        check_models(todo)
        check_prices([a.request.model for a in todo], limits.prices, budget=limits.budget)
    found: list[Record | None] = [None] * len(requests)

    def keep(index: int | None, record: Record) -> None:
        if index is not None:
            found[index] = record

    summary = run_calls(
        _by_provider(addressed), cache=cache, limits=limits, progress=progress, redo=redo, on_record=keep
    )
    return found, summary


def _by_provider(addressed: Sequence[Addressed]) -> list[list[tuple[int | None, Request | Addressed]]]:
    groups: dict[str, list[tuple[int | None, Request | Addressed]]] = {}
    for index, asked in enumerate(addressed):
        groups.setdefault(provider_of(asked.request.model), []).append((index, asked))
    return list(groups.values())


class Stop(threading.Event):
    """Set when a run is to wind up; `now` when it is to let go of what is in flight."""

    now = False


def in_thread(work: Callable[[Stop], Any]) -> Any:
    """Run `work(stop)` in a thread of its own, so that a running event loop does not matter."""
    stop, finished = Stop(), threading.Event()
    box: dict[str, Any] = {}

    def target() -> None:
        try:
            box["value"] = work(stop)
        except BaseException as exc:
            box["error"] = exc
        finally:
            finished.set()

    thread = threading.Thread(target=target, name="icgkit-calls", daemon=True)
    thread.start()
    interrupted = False
    with _terminable():
        while not finished.is_set():
            try:  # not thread.join: in Python 3.11 an interrupted join takes the thread for ended
                finished.wait(0.2)
            except KeyboardInterrupt:
                if interrupted:
                    stop.now = True
                    raise KeyboardInterrupt(GIVEN_UP) from None
                interrupted = True
                stop.set()
    if interrupted:
        raise KeyboardInterrupt(WOUND_UP)
    if "error" in box:
        raise box["error"]
    return box["value"]


@contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does, where this thread may say so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)
