"""Ask models about cases: every call of a plan that is not recorded, and the responses as a frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from icgkit.calls.cache import Cache
from icgkit.calls.engine import Job, run_calls
from icgkit.calls.ledger import Summary
from icgkit.calls.limits import Limits
from icgkit.calls.models import Model
from icgkit.calls.prices import check_prices
from icgkit.calls.record import Record
from icgkit.calls.recorded import by_label
from icgkit.calls.request import REDO, address, provider_of
from icgkit.calls.transports import Route, check_models
from icgkit.cases.case import Case
from icgkit.cases.dataset import Dataset
from icgkit.cases.images import check_all
from icgkit.schemas import schema
from icgkit.study.chains import requests
from icgkit.study.estimate import estimate_plan
from icgkit.study.plan import DEFAULT, Elicitation, Plan, make_plan

Slots = set[tuple[str | None, ...]]


def elicit(
    dataset: Dataset,
    conditions: Iterable[str],
    models: Iterable[str | Model] | Mapping[str, Mapping[str, Any]],
    *,
    cache: Cache,
    how: Elicitation = DEFAULT,
    limits: Limits | None = None,
    redo: Iterable[str] = REDO,
    progress: bool = True,
) -> pl.DataFrame:
    """Ask models about the cases of a dataset, or replay what they answered.

    Parameters
    ----------
    dataset : Dataset
        The cases.
    conditions : iterable of str
        Ids of conditions; a case without the annotations that a condition shows is left out.
    models : iterable of str or Model, or mapping
        Names as litellm spells them; a mapping gives each its own parameters.
    cache : Cache
        Where calls are recorded, or replayed from.
    how : Elicitation
        Parameters, repeats, own templates, models of stages.
    limits : Limits, optional
        Rates, retries and budget.
    redo : iterable of str
        Statuses of recorded answers that are asked for again.

    Returns
    -------
    polars.DataFrame
        Schema `responses`; a response that was not got has its status and no text.

    Raises
    ------
    CacheMiss
        In replay mode, for the first call that is not recorded.
    CallError, ImageError
        Before any call: unknown model, missing key, images that cannot be read.
    """
    plan = make_plan(dataset, conditions, models, how)
    slots, _ = run_plan(plan, cache, limits=limits, redo=redo, progress=progress)
    return responses(cache, slots)


def run_plan(
    plan: Plan,
    cache: Cache,
    *,
    limits: Limits | None = None,
    redo: Iterable[str] = REDO,
    progress: bool = True,
    ready: Callable[[list[Route]], None] = lambda _: None,
) -> tuple[Slots, Summary]:
    """Make every call of a plan that is not recorded; return the slots of its responses.

    `ready` gets the routes of the calls once everything has been checked, before anything is sent or written.
    """
    wanted, limits = frozenset(redo), limits or Limits()
    slots: Slots = set()
    undecoded: dict[str, Case] = {}
    """Cases whose image is decoded beside the calls, and waited for before it is sent."""
    if cache.mode == "record":
        todo = estimate_plan(plan, cache, wanted)
        if not todo.missing and not todo.relabels:
            ready([])
            return todo.slots, Summary(
                total=todo.cached,
                cached=todo.cached,
                by_status=dict(todo.by_status),
                pending=todo.pending,
                reasons=todo.reasons,
            )
        if todo.missing:
            undecoded = {case.id: case for case in plan.dataset if case.id in todo.missing_cases}
            check_all(undecoded.values(), wait=False)
        routes = check_models([*todo.examples.values(), *map(address, plan.behind)])
        asked = [*(model for model, _ in todo.examples), *(request.model for request in plan.behind)]
        check_prices(asked, limits.prices, budget=limits.budget)
        ready(routes)

    def note(_: int | None, record: Record) -> None:
        if record.kind == "elicit":
            slots.add(record.slot)

    providers = dict.fromkeys(provider_of(model.name) for model in plan.models)
    summary = run_calls(
        [_stream(plan, provider, undecoded) for provider in providers],
        cache=cache,
        limits=limits,
        progress=progress,
        redo=wanted,
        on_record=note,
        total=plan.count(),
    )
    return slots, summary


def _stream(plan: Plan, provider: str, undecoded: dict[str, Case]) -> Iterator[Job]:
    """Yield the calls to the models of one provider; an image is waited for before its first call."""
    asked = (
        request
        for model in plan.models
        if provider_of(model.name) == provider
        for _, request in requests(plan, model)
    )
    for number, request in enumerate(asked):
        case = undecoded.pop(str(request.tags.get("case_id")), None)
        if case is not None:
            check_all([case])
        yield number, request


def responses(cache: Cache, slots: Slots) -> pl.DataFrame:
    """Read the responses with these slots from a cache (schema `responses`)."""
    frame = cache.frame().filter(pl.col("kind") == "elicit")
    names = ["key", "kind", "dataset", "case_id", "condition", "stage", "subject", "label"]
    wanted = pl.DataFrame(sorted(slots, key=str), schema=dict.fromkeys(names, pl.String), orient="row")
    kept = frame.join(wanted, on=names, how="semi", nulls_equal=True, maintain_order="left")
    calls = schema("responses")
    return calls.check(by_label(kept).select(list(calls.columns)))
