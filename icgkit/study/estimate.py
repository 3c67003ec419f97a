"""What a run will ask, and what it will cost, found without making a call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from icgkit.calls.cache import Cache, pending
from icgkit.calls.ledger import Reasons
from icgkit.calls.prices import Price, most_output, price_of, tokens_in
from icgkit.calls.recorded import by_label
from icgkit.calls.request import REDO, Addressed, Request
from icgkit.cases.images import check_ahead, check_all
from icgkit.errors import ImageError
from icgkit.study.plan import Plan, Step, first_calls, walk

if TYPE_CHECKING:
    import polars as pl

    from icgkit.calls.transports import Route

TYPICAL_OUTPUT = 700
"""Tokens assumed for a reply where the cache holds none of the same model and condition."""


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
class Survey:
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
        """Return the estimate, one row a model."""
        import polars as pl

        rows = []
        for model, row in self.rows.items():
            calls = row.missing + row.later
            grow = calls / row.missing if row.missing else 1.0
            sent, expected = round(row.input_tokens * grow), round(row.expected_output * grow)
            most, images = round(row.most_output * grow), round(row.images * grow)
            price = price_of(row.priced_as or model, self.prices) if calls else None
            rows.append(
                {
                    "model": model,
                    "cached": row.cached,
                    "calls": calls,
                    "input_tokens": sent,
                    "output_tokens": expected,
                    "cost": price.cost(sent, expected, images) if price else 0.0,
                    "cost_at_most": price.cost(sent, most, images) if price else 0.0,
                }
            )
        kinds = {"model": pl.String, "cached": pl.Int64, "calls": pl.Int64, "input_tokens": pl.Int64}
        kinds |= {"output_tokens": pl.Int64, "cost": pl.Float64, "cost_at_most": pl.Float64}
        return pl.DataFrame(rows, schema=kinds)

    def text(self) -> str:
        """Return the estimate as a table for the terminal."""
        frame = self.frame()
        head = f"{'model':34s} {'cached':>8s} {'to call':>8s} {'tokens in':>12s} {'tokens out':>11s} {'about':>10s} {'at most':>10s}"
        lines = [head]
        for model, cached, calls, sent, out, cost, most in frame.iter_rows():
            lines.append(
                f"{model:34s} {cached:8,d} {calls:8,d} {sent:12,d} {out:11,d} {_dollars(cost)} {_dollars(most)}"
            )
        total = [frame[c].sum() for c in ("cached", "calls", "input_tokens", "output_tokens")]
        sums = [frame[c].drop_nulls().sum() for c in ("cost", "cost_at_most")]
        lines.append(
            f"{'all':34s} {total[0]:8,d} {total[1]:8,d} {total[2]:12,d} {total[3]:11,d} "
            f"{_dollars(sums[0])} {_dollars(sums[1])}"
        )
        if frame["cost"].null_count():
            lines.append(
                "no price: litellm knows none for that model, it is left out of the sums; give it one in the study "
                "file (price = { input = ..., output = ... }, US dollars a million tokens)"
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


def _dollars(value: Any) -> str:
    return f"{'no price':>10s}" if value is None else f"{f'${value:,.2f}':>10s}"


def survey(
    plan: Plan,
    cache: Cache,
    redo: frozenset[str] = REDO,
    judges: Callable[[Addressed], list[tuple[str, int, int]]] | None = None,
    prices: Mapping[str, Price] | None = None,
) -> Survey:
    """Go through a plan without making a call."""
    cases = {case.id: case for case in plan.dataset}
    seen = Survey(prices=prices or {})

    def missing(asked: Addressed) -> None:
        case = str(asked.request.tags.get("case_id"))
        if case not in seen.missing_cases and case in cases:
            check_ahead(cases[case])
        for judge, sent, most in judges(asked) if judges is not None else ():
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


def survey_requests(
    requests: Iterable[Request],
    cache: Cache,
    redo: frozenset[str] = REDO,
    prices: Mapping[str, Price] | None = None,
) -> Survey:
    """Say which of some requests are recorded, and what the rest will cost; nothing is called."""
    seen = Survey(prices=prices or {})
    _count(seen, walk(((request, 0) for request in requests), cache, redo), cache)
    return seen


def _count(
    seen: Survey, steps: Iterable[Step], cache: Cache, missing: Callable[[Addressed], None] = lambda _: None
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
    import polars as pl

    if not len(cache):
        return {}
    frame = by_label(cache.frame()).filter(pl.col("output_tokens").is_not_null())
    means = frame.group_by("model", "condition").agg(pl.col("output_tokens").mean())
    return {(m, c): n for m, c, n in means.iter_rows()}
