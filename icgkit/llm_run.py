"""The engine of a run: what is recorded is served, the rest is called within the limits."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from icgkit.cache import Cache, Record, relabel
from icgkit.keys import mask
from icgkit.llm import REDO, Addressed, Request, address, in_thread, miss, provider_of, record_for
from icgkit.llm_lanes import Failed, Lane
from icgkit.llm_limits import Limits, Pace, pause
from icgkit.llm_open import open_lane
from icgkit.llm_prices import Price, most_output, price_of, tokens_in
from icgkit.llm_progress import Progress
from icgkit.llm_reply import pack_raw, read_reply

OnRecord = Callable[[int | None, Record], None]
Job = tuple[int | None, Request | Addressed]


@dataclass
class Summary:
    """What a run did. `stopped` is None, "budget" or "interrupt"."""

    total: int = 0
    cached: int = 0
    called: int = 0
    cost: float = 0.0
    unpriced: int = 0
    by_status: dict[str, int] = field(default_factory=dict)
    stopped: str | None = None
    seconds: float = 0.0


class _Provider:
    """What the models of one provider share: limits, and the work that waits for them."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.pace = Pace(limits.rpm, limits.tpm)
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
        self.lanes: dict[tuple[str, str], Lane] = {}
        self.prices: dict[str, Price] = {}
        self.providers: dict[str, _Provider] = {}
        self.flying: dict[str, asyncio.Future[Record | None]] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        self.broken: BaseException | None = None
        self.committed = 0.0

    def provider(self, model: str) -> _Provider:
        name = provider_of(model) or "openai"
        if name not in self.providers:
            self.providers[name] = _Provider(self.limits.for_provider(name))
        return self.providers[name]

    def lane(self, asked: Addressed) -> Lane:
        request = asked.request
        name = (request.model, json.dumps(dict(request.params), sort_keys=True, default=str))
        if name not in self.lanes:
            limits = self.limits.for_provider(provider_of(request.model))
            lane = open_lane(asked, limits)
            pool = next((x.pool for x in self.lanes.values() if getattr(x, "pool", None)), None)  # type: ignore[attr-defined]
            if lane.provider == "offline":
                from icgkit.llm_worker import OfflineLane, Pool

                assert isinstance(lane, OfflineLane)
                lane.pool = pool or Pool()
            self.lanes[name] = lane
            self.prices[request.model] = price_of(request.model)
        return self.lanes[name]

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
        lane = self.lane(asked)
        provider = self.provider(asked.request.model)
        price = self.prices[asked.request.model]
        tokens = tokens_in(asked)
        expected = price.cost(tokens, most_output(lane.params)) or 0.0
        budget = self.limits.budget
        if budget is not None and self.summary.cost + self.committed + expected > budget:
            self.summary.stopped = "budget"
            return None
        self.committed += expected
        try:
            record = await self.attempts(asked, lane, provider, price, tokens)
        finally:
            self.committed -= expected
        if record is None:
            return None
        self.cache.put(record)
        self.summary.called += 1
        if record.cost is None:
            self.summary.unpriced += 1
        else:
            self.summary.cost += record.cost
        return record

    async def attempts(
        self, asked: Addressed, lane: Lane, provider: _Provider, price: Price, tokens: int
    ) -> Record | None:
        limits = provider.limits
        params = json.dumps(lane.params, sort_keys=True, default=str)
        spent: float | None = 0.0
        for attempt in range(limits.retries + 1):
            if not await provider.pace.wait(tokens, self.halted) and attempt == 0:
                return None
            started = time.time()
            clock = time.perf_counter()
            answer: dict[str, Any]
            after, passing = None, True
            try:
                raw = await lane.send(asked)
            except Failed as exc:
                answer = {"status": "error", "refusal": str(exc)}
                after, passing = exc.after, exc.passing
            else:
                answer = read_reply(raw)
                error = raw.get("error")
                if error and answer["status"] == "empty":
                    answer |= {"status": "error", "refusal": mask(json.dumps(error, default=str))[:2000]}
                cost = raw.get("_cost", price.of_usage(raw.get("usage")))
                spent = None if cost is None or spent is None else spent + cost
                answer |= {"raw": pack_raw(raw, answer["text"]), "cost": spent}
            if answer["status"] not in ("error", "empty") or not passing:
                break
            wait = pause(attempt, limits, after)
            if attempt == limits.retries or wait > limits.longest_wait or self.stop.is_set():
                break
            if after is not None:
                provider.pace.hold(after)
            await self.sleep(wait)
        return record_for(
            asked,
            **answer,
            params=params,
            latency=time.perf_counter() - clock,
            attempts=attempt + 1,
            created=started,
        )

    async def sleep(self, seconds: float) -> None:
        """Sleep, but wake up when the run is to stop."""
        until = time.monotonic() + seconds
        while not self.stop.is_set() and (left := until - time.monotonic()) > 0:
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

    async def all(self, streams: Iterable[Iterator[Job]]) -> None:
        """Work off all streams and what follows from them."""
        for stream in streams:
            first = next(stream, None)
            if first is not None:
                job = first[1]
                model = job.model if isinstance(job, Request) else job.request.model
                self.provider(model).streams.append(chain([first], stream))
        for provider in list(self.providers.values()):
            for _ in range(provider.limits.concurrency):
                self.staff(provider)
        try:
            while self.tasks:
                done, _ = await asyncio.wait(set(self.tasks), return_when=asyncio.FIRST_COMPLETED)
                self.tasks -= done
        finally:
            await asyncio.gather(*(lane.close() for lane in self.lanes.values()))
        if self.broken is not None:
            raise self.broken


def _purpose(asked: Addressed) -> dict[str, Any]:
    record = record_for(asked)
    names = (
        "kind",
        "dataset",
        "case_id",
        "condition",
        "stage",
        "subject",
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

    def work(event: threading.Event) -> Summary:
        clock = time.perf_counter()
        with Progress(summary, show=progress) as shown:
            run = _Run(cache, limits, frozenset(redo), event, shown, on_record)
            try:
                asyncio.run(run.all(iter(s) for s in streams))
            finally:
                summary.seconds = time.perf_counter() - clock
        return summary

    if stop is not None:
        return work(stop)
    result: Summary = in_thread(work)
    return result
