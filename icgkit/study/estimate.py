"""What a run will ask, and what it will cost, found without making a call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import polars as pl

from icgkit.calls.cache import Cache, pending
from icgkit.calls.ledger import Reasons
from icgkit.calls.prices import Price, most_output, price_of, tokens_in
from icgkit.calls.recorded import by_label
from icgkit.calls.request import REDO, Addressed, Request, address
from icgkit.calls.transports import Route
from icgkit.cases.images import check_ahead, check_all
from icgkit.errors import IcgError, ImageError
from icgkit.study.chains import first_calls
from icgkit.study.plan import Plan

TYPICAL_OUTPUT = 700
"""Tokens assumed for a reply where the cache holds none of the same model and condition."""


@dataclass(frozen=True, slots=True)
class Step:
    """A call that a walk has come to."""

    asked: Addressed
    status: str | None
    """Of the recorded answer; None for a call that is to be made, or made again."""
    later: int
    """Calls of the same chain that are still to come behind it."""
    new: bool
    """Whether the walk has not met this call before: one call may serve several cases."""


def walk(wanted: Iterable[tuple[Request, int]], cache: Cache, redo: Iterable[str] = REDO) -> Iterator[Step]:
    """Go through requests, and through what follows from their recorded answers, without making a call.

    The one walk of estimates, runs and batches. `wanted` has the number of calls that build on each; statuses of
    `redo` count as missing. Behind a missing answer the walk goes on with the next request.
    """
    again, met = frozenset(redo), set[str]()
    waiting: list[Iterator[tuple[Request, int]]] = [iter(wanted)]
    while waiting:
        following = next(waiting[-1], None)
        if following is None:
            waiting.pop()
            continue
        request, later = following
        asked = address(request)
        status = cache.status(asked.key)
        status = None if status in again else status
        yield Step(asked, status, later, asked.key not in met)
        met.add(asked.key)
        if status is not None and request.then is not None:
            record = cache.get(asked.key)
            if record is None:
                raise IcgError("a recorded call has gone from the cache", got=asked.key)
            waiting.append(zip(request.then(record), repeat(max(0, later - 1))))


@dataclass
class Row:
    """Calls of one model: recorded, to be made, and their expected size."""

    priced_as: str = ""
    """Name of the model, where the row has a label."""
    cached: int = 0
    missing: int = 0
    later: int = 0
    """Calls that build on missing ones; their size is taken from those."""
    input_tokens: int = 0
    expected_output: int = 0
    most_output: int = 0
    images: int = 0


@dataclass
class Estimate:
    """Which calls of a plan are recorded and which are missing."""

    rows: dict[str, Row] = field(default_factory=dict)
    missing_cases: set[str] = field(default_factory=set)
    examples: dict[tuple[str, str], Addressed] = field(default_factory=dict)
    slots: set[tuple[str | None, ...]] = field(default_factory=set)
    """Slots of the recorded responses."""
    routes: list[Route] = field(default_factory=list)
    """Where the calls to be made would go."""
    by_status: Counter[str] = field(default_factory=Counter)
    relabels: int = 0
    """Responses that are recorded, but for another case or condition only."""
    reasons: Reasons = field(default_factory=Reasons)
    """Why recorded calls have no answer."""
    pending: int = 0
    """Calls that were submitted as a batch and not collected yet; nobody makes them again."""
    booked: float = 0.0
    """US dollars that the cache's ledger and records come to so far."""
    prices: Mapping[str, Price] = field(default_factory=dict)

    def count(self, asked: Addressed, usual: Mapping[tuple[Any, ...], float], steps: int = 0) -> None:
        """Count a call that is to be made, and `steps` more that will build on it."""
        request = asked.request
        row = self.rows.setdefault(_shown(request), Row(request.model))
        row.missing += 1
        row.later += steps
        limit = most_output(request.params, price_of(request.model, self.prices).limit)
        condition = str(request.tags.get("condition"))
        typical = usual.get((_shown(request), condition), TYPICAL_OUTPUT)
        row.input_tokens += tokens_in(asked)
        row.images += len(asked.images)
        row.expected_output += min(round(typical), limit)
        row.most_output += limit
        self.missing_cases.add(str(request.tags.get("case_id")))
        self.examples.setdefault((request.model, str(dict(request.params))), asked)

    @property
    def missing(self) -> int:
        """Calls to be made, as far as they are known."""
        return sum(row.missing for row in self.rows.values())

    @property
    def cached(self) -> int:
        """Calls that are recorded."""
        return sum(row.cached for row in self.rows.values())

    def frame(self) -> pl.DataFrame:
        """Return the estimate, one row a model: cached, calls, tokens, cost expected and at most (US dollars)."""
        rows = []
        for model, row in self.rows.items():
            calls = row.missing + row.later
            grow = calls / row.missing if row.missing else 1.0
            sent, expected, most, images = (
                round(n * grow) for n in (row.input_tokens, row.expected_output, row.most_output, row.images)
            )
            price = price_of(row.priced_as or model, self.prices) if calls else None
            costs = [price.cost(sent, n, images) if price else 0.0 for n in (expected, most)]
            rows.append((model, row.cached, calls, sent, expected, *costs))
        counts = dict.fromkeys(("cached", "calls", "input_tokens", "output_tokens"), pl.Int64)
        kinds = {"model": pl.String, **counts, "cost": pl.Float64, "cost_at_most": pl.Float64}
        return pl.DataFrame(rows, schema=kinds, orient="row")

    def text(self) -> str:
        """Return the estimate as a table for the terminal."""
        frame = self.frame()
        heads = ("cached", "to call", "tokens in", "tokens out", "about", "at most")
        lines = [_line("model", *heads), *(_line(*row) for row in frame.iter_rows())]
        lines.append(_line("all", *frame.drop("model").sum().row(0)))
        if frame["cost"].null_count():
            lines.append(
                "no price: litellm knows none for that model, it is left out of the sums; give it one in the "
                "study file (price = { input = ..., output = ... }, US dollars a million tokens)"
            )
        if self.booked:
            lines.append(f"booked so far in this cache: ${self.booked:,.4f}; a budget counts it")
        if self.pending:
            lines.append(
                f"{self.pending:,d} calls are with the provider as a batch and are not counted; "
                "`icgkit run --batch` collects them"
            )
        if self.routes:
            lines += ["", "where the calls would go:"]
            lines += dict.fromkeys(route.text() for route in self.routes)
            lines += dict.fromkeys(f"{r.model}: {note}" for r in self.routes for note in r.notes)
        return "\n".join(lines)


def _line(model: str, *values: object) -> str:
    def shown(value: object) -> str:
        if isinstance(value, str | None):
            return value or "no price"
        return f"{value:,d}" if isinstance(value, int) else f"${value:,.2f}"

    widths = (8, 8, 12, 11, 10, 10)
    return " ".join([f"{model:34s}", *(f"{shown(v):>{w}s}" for v, w in zip(values, widths, strict=True))])


def estimate_plan(
    plan: Plan,
    cache: Cache,
    redo: frozenset[str] = REDO,
    judges: Callable[[Addressed], list[tuple[str, int, int]]] = lambda _: [],
    prices: Mapping[str, Price] | None = None,
) -> Estimate:
    """Go through a plan without making a call.

    `judges` gets a response that is missing and returns the judge calls that it will lead to: model, input
    tokens, limit of output tokens.
    """
    cases = {case.id: case for case in plan.dataset}
    seen = Estimate(prices=prices or {})

    def missing(asked: Addressed) -> None:
        case = str(asked.request.tags.get("case_id"))
        if case not in seen.missing_cases and case in cases:
            check_ahead(cases[case])
        for judge, sent, most in judges(asked):
            marked = seen.rows.setdefault(judge, Row())
            marked.missing += 1
            marked.input_tokens += sent
            marked.expected_output += min(TYPICAL_OUTPUT, most)
            marked.most_output += most

    try:
        _count(seen, walk(first_calls(plan), cache, redo), cache, missing)
    except ImageError:
        check_all(plan.dataset)  # lists all that are wrong
        raise
    return seen


def estimate_requests(
    requests: Iterable[Request],
    cache: Cache,
    redo: frozenset[str] = REDO,
    prices: Mapping[str, Price] | None = None,
) -> Estimate:
    """Say which of some requests are recorded, and what the rest will cost; nothing is called."""
    seen = Estimate(prices=prices or {})
    _count(seen, walk(((request, 0) for request in requests), cache, redo), cache)
    return seen


def _count(
    seen: Estimate, steps: Iterable[Step], cache: Cache, missing: Callable[[Addressed], None] = lambda _: None
) -> None:
    """Count what a walk comes to; `missing` gets each call that is to be made, before it is counted."""
    submitted = pending(cache.folder)
    usual: Mapping[tuple[Any, ...], float] | None = None
    for step in steps:
        asked, status = step.asked, step.status
        if status is None:
            if step.new and asked.key in submitted:
                seen.pending += 1
            elif step.new:
                missing(asked)
                usual = _usual_output(cache) if usual is None else usual
                seen.count(asked, usual, step.later)
            continue
        if step.new:
            seen.rows.setdefault(_shown(asked.request), Row(asked.request.model)).cached += 1
            seen.by_status[status] += 1
            if status != "ok" and (record := cache.get(asked.key)) is not None:
                seen.reasons.add(record)
        slot = asked.slot
        if slot[1] == "elicit":
            if not cache.has_slot(slot):  # recorded for another case or condition
                seen.relabels += 1
            seen.slots.add(slot)


def _shown(request: Request) -> str:
    return request.tags.get("label") or request.model


def booked(cache: Cache) -> float:
    """Return the US dollars that a cache has cost: by its ledger, or by its records where those say more."""
    cache.ledger.refresh()
    recorded = float(cache.frame()["cost"].sum() or 0.0) if len(cache) else 0.0
    return max(recorded, cache.ledger.spent.cost) + cache.ledger.held


def _usual_output(cache: Cache) -> Mapping[tuple[Any, ...], float]:
    """Mean output tokens of recorded replies by model and condition."""
    if not len(cache):
        return {}
    frame = by_label(cache.frame()).filter(pl.col("output_tokens").is_not_null())
    means = frame.group_by("model", "condition").agg(pl.col("output_tokens").mean())
    return {(m, c): n for m, c, n in means.iter_rows()}
