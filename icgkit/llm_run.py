"""The engine of a run: what is recorded is served, the rest is called within the limits."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from icgkit.cache import Cache, Record, relabel
from icgkit.errors import CallError
from icgkit.llm import REDO, Addressed, Request, address, in_thread, miss, provider_of, record_for
from icgkit.llm_lanes import Failed, Lane, open_lane
from icgkit.llm_limits import Limits, Pace, pause
from icgkit.llm_prices import Price, price_of, tokens_in
from icgkit.llm_progress import Progress
from icgkit.llm_reply import pack_raw, read_reply
from icgkit.secrets import mask

OnRecord = Callable[[int, Record], None]


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


@dataclass
class _Provider:
    """What the models of one provider share."""

    limits: Limits
    slots: asyncio.Semaphore
    pace: Pace


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
        self.flying: dict[str, asyncio.Future[Record]] = {}
        self.committed = 0.0

    def provider(self, name: str) -> _Provider:
        if name not in self.providers:
            limits = self.limits.for_provider(name)
            self.providers[name] = _Provider(
                limits, asyncio.Semaphore(limits.concurrency), Pace(limits.rpm, limits.tpm)
            )
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
            if self.cache.mode == "record" and not self.cache.has_slot(asked.key, asked.slot):
                self.cache.put(record)
        return record

    async def one(self, index: int, request: Request) -> None:
        asked = address(request)
        record = self.served(asked)
        if record is not None:
            self.summary.cached += 1
        elif self.cache.mode == "replay":
            raise miss(request, self.cache)
        elif asked.key in self.flying:
            record = await self.flying[asked.key]
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

    async def fly(self, asked: Addressed) -> Record | None:
        future: asyncio.Future[Record] = asyncio.get_running_loop().create_future()
        self.flying[asked.key] = future
        try:
            record = await self.call(asked)
            if record is not None:
                future.set_result(record)
            else:
                future.cancel()
            return record
        except BaseException as exc:
            if not future.done():
                future.set_exception(exc)
                future.exception()
            raise
        finally:
            self.flying.pop(asked.key, None)

    async def call(self, asked: Addressed) -> Record | None:
        """Make one call within the limits; None if the run stops before it is sent."""
        lane = self.lane(asked)
        provider = self.provider(lane.provider)
        price = self.prices[asked.request.model]
        tokens = tokens_in(asked)
        expected = price.cost(tokens, _most_output(lane.params)) or 0.0
        async with provider.slots:
            if self.stop.is_set() or self.summary.stopped:
                self.summary.stopped = self.summary.stopped or "interrupt"
                return None
            budget = self.limits.budget
            if budget is not None and self.summary.cost + self.committed + expected > budget:
                self.summary.stopped = "budget"
                return None
            self.committed += expected
            try:
                record = await self.attempts(asked, lane, provider, price, tokens)
            finally:
                self.committed -= expected
        self.cache.put(record)
        self.summary.called += 1
        if record.cost is None:
            self.summary.unpriced += 1
        else:
            self.summary.cost += record.cost
        return record

    async def attempts(
        self, asked: Addressed, lane: Lane, provider: _Provider, price: Price, tokens: int
    ) -> Record:
        limits = provider.limits
        params = json.dumps(lane.params, sort_keys=True, default=str)
        spent: float | None = 0.0
        for attempt in range(limits.retries + 1):
            await provider.pace.wait(tokens)
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

    async def drain(self, stream: Iterator[tuple[int, Request]]) -> None:
        for index, request in stream:
            if self.stop.is_set() or self.summary.stopped:
                self.summary.stopped = self.summary.stopped or "interrupt"
                return
            await self.one(index, request)

    async def all(self, streams: Sequence[Iterator[tuple[int, Request]]], width: int) -> None:
        workers = [self.drain(stream) for stream in streams for _ in range(width)]
        tasks = [asyncio.ensure_future(worker) for worker in workers]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            broken = [t.exception() for t in done if t.exception()]
            if broken:
                self.summary.stopped = "error"
                await asyncio.gather(*tasks, return_exceptions=True)
                assert broken[0] is not None
                raise broken[0]
        finally:
            await asyncio.gather(*(lane.close() for lane in self.lanes.values()))


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


def _most_output(params: dict[str, Any]) -> int:
    for name in ("max_completion_tokens", "max_tokens"):
        if isinstance(params.get(name), int):
            return int(params[name])
    return 1024


def run_calls(
    streams: Sequence[Iterable[Request]],
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
    `on_record` gets the position in its stream and the record, in the order of arrival.
    """
    if total is None:
        total = sum(len(s) for s in streams) if all(isinstance(s, Sequence) for s in streams) else 0
    summary = Summary(total=total)
    width = max([limits.concurrency, *(limits.for_provider(p).concurrency for p in limits.providers)])
    cache.refresh()

    def work(event: threading.Event) -> Summary:
        clock = time.perf_counter()
        with Progress(summary, show=progress) as shown:
            run = _Run(cache, limits, frozenset(redo), event, shown, on_record)
            try:
                asyncio.run(run.all([iter(enumerate(s)) for s in streams], width))
            finally:
                summary.seconds = time.perf_counter() - clock
        return summary

    if stop is not None:
        return work(stop)
    result: Summary = in_thread(work)
    if result.stopped == "interrupt":
        raise CallError("run stopped", remedy="run again to make the rest")
    return result
