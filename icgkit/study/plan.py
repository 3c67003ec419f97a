"""Cases x conditions x models -> responses; chains of several calls run as cached stages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icgkit.calls.cache import Cache
from icgkit.calls.limits import Limits
from icgkit.calls.models import PAPER, Model, different_names
from icgkit.calls.record import Record
from icgkit.calls.recorded import by_label
from icgkit.calls.request import REDO, Addressed, Prompt, Request, address, merged, provider_of
from icgkit.cases.case import Case
from icgkit.cases.images import MAX_SIDE, Kept, check_all, prepare_ahead
from icgkit.errors import IcgError, UnknownName
from icgkit.prompts.conditions import Condition, build_messages, conditions, stages
from icgkit.schemas import schema

if TYPE_CHECKING:
    import polars as pl

    from icgkit.calls.engine import Job
    from icgkit.calls.ledger import Summary
    from icgkit.calls.transports import Route
    from icgkit.cases.dataset import Dataset

_AHEAD = 8
"""Cases whose images are made ready at once."""
KEPT_PROMPTS = 1 << 27
"""Bytes of prompts, images and all, that are kept for the next condition and model: 128 MiB."""


@dataclass(frozen=True)
class Plan:
    """What is to be asked; `helpers` names the model of a stage, without one the evaluated model does it itself."""

    dataset: Dataset
    conditions: tuple[Condition, ...]
    models: tuple[Model, ...]
    samples: int = 1
    stages: Mapping[str, Condition] = field(default_factory=dict)
    known: Mapping[str, Condition] = field(default_factory=dict)
    helpers: Mapping[str, Model] = field(default_factory=dict)
    max_side: int = MAX_SIDE
    seed: int = 42
    then: Callable[[Record, Case], Iterable[Request]] | None = None
    """Gets each response and returns what follows, such as judging."""
    behind: tuple[Request, ...] = ()
    """A request for each model that `then` may ask, so that all are checked before the first call."""
    _prompts: Kept[dict[tuple[str, str], Prompt]] = field(
        default_factory=lambda: Kept(KEPT_PROMPTS), init=False, repr=False, compare=False
    )
    """By case, whose prompts share one image."""

    def prompt(
        self,
        case: Case,
        condition: Condition,
        inputs: Mapping[str, Any] | None = None,
        system: str = "system",
    ) -> Prompt:
        """Return the messages for a case, made once for all models and samples."""
        options: dict[str, Any] = {"max_side": self.max_side, "system": system}
        if inputs is not None:
            return Prompt.of(build_messages(case, condition, inputs=inputs, **options))
        made = self._prompts.get(case.id) or {}
        prompt = made.get((condition.id, system))
        if prompt is None:
            prompt = Prompt.of(build_messages(case, condition, **options))
            made[condition.id, system] = prompt
            images = {id(url): len(url) for p in made.values() for url in p.images}
            self._prompts.put(
                case.id, made, sum(images.values()) + sum(2 * len(p.skeleton) for p in made.values())
            )
        return prompt

    def has_prompts(self, case: Case) -> bool:
        """Whether the messages for a case, with its image, are still kept."""
        return self._prompts.get(case.id) is not None

    def count(self) -> int:
        """Number of responses that the plan asks for."""
        pairs = sum(c.applies(case) for c in self.conditions for case in self.dataset)
        return pairs * len(self.models) * self.samples

    def left_out(self) -> dict[str, int]:
        """Cases that lack what a condition shows, by condition."""
        missing = {c.id: sum(not c.applies(case) for case in self.dataset) for c in self.conditions}
        return {name: n for name, n in missing.items() if n}

    def ask(
        self,
        case: Case,
        condition: Condition,
        model: Model,
        sample: int = 0,
        *,
        inputs: Mapping[str, Any] | None = None,
        then: Callable[[Record], Iterable[Request]] | None = None,
        **tags: Any,
    ) -> Request:
        """Build the request of one response."""
        from functools import partial

        if then is None and self.then is not None:
            then = partial(_with_case, self.then, case)
        prompt = self.prompt(case, condition, inputs, model.system)
        return Request(
            model.name,
            prompt.messages,
            model.under(condition.id),
            sample,
            {
                "kind": "elicit",
                "dataset": case.dataset,
                "case_id": case.id,
                "condition": condition.id,
                "template_sha256": condition.sha256,
                "label": model.label or None,
                **tags,
            },
            then,
            prompt,
        )

    def stage(
        self,
        name: str,
        case: Case,
        condition: Condition,
        model: Model,
        sample: int,
        then: Callable[[Record], Iterable[Request]],
        inputs: Mapping[str, Any] | None = None,
    ) -> Request:
        """Build the request of an intermediate step of a chain."""
        template = self.stages[name]
        helper = self.helpers.get(name)
        model, sample = (helper, 0) if helper else (model, sample)
        tags = {
            "kind": "stage",
            "dataset": case.dataset,
            "case_id": case.id,
            "condition": condition.id,
            "stage": name,
            "template_sha256": template.sha256,
            "label": model.label or None,
        }
        prompt = self.prompt(case, template, inputs, model.system)
        return Request(model.name, prompt.messages, model.under(name), sample, tags, then, prompt)


def _with_case(
    then: Callable[[Record, Case], Iterable[Request]], case: Case, record: Record
) -> Iterable[Request]:
    return then(record, case)


def requests(plan: Plan, model: Model) -> Iterator[tuple[Condition, Request]]:
    """Yield the first call of every response of one model with its condition, case by case."""
    from icgkit.study.chains import first_call

    for k, case in enumerate(plan.dataset):
        if k % _AHEAD == 0:
            ahead = plan.dataset.cases[k : k + _AHEAD]
            prepare_ahead((c for c in ahead if not plan.has_prompts(c)), plan.max_side)
        for condition in plan.conditions:
            if condition.applies(case):
                for sample in range(plan.samples):
                    yield condition, first_call(plan, case, condition, model, sample)


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
    pending: list[Iterator[tuple[Request, int]]] = [iter(wanted)]
    while pending:
        following = next(pending[-1], None)
        if following is None:
            pending.pop()
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
            pending.append(zip(request.then(record), repeat(max(0, later - 1))))


def first_calls(plan: Plan) -> Iterator[tuple[Request, int]]:
    """Yield the first call of every response of a plan, with the number of calls that build on it."""
    from icgkit.study.chains import steps_of

    for model in plan.models:
        for condition, request in requests(plan, model):
            yield request, steps_of(condition) - 1


@dataclass(frozen=True, slots=True)
class Elicitation:
    """How models are asked.

    Parameters
    ----------
    params : mapping, optional
        Parameters of all models that are given by name, the study's (`PAPER`) by default.
    samples : int
        Repeats of each call.
    templates : path, optional
        Folder of own templates.
    helpers : mapping
        Model for a stage of a chain, e.g. `{"adversarial_node": "gpt-4o"}`.
    max_side : int
        Pixels of the longer side of a picture that is sent; a larger one is made smaller.
    """

    params: Mapping[str, Any] | None = None
    samples: int = 1
    templates: str | Path | None = None
    helpers: Mapping[str, str | Model] = field(default_factory=dict)
    max_side: int = MAX_SIDE


def make_plan(
    dataset: Dataset,
    conditions_: Iterable[str],
    models: Iterable[str | Model] | Mapping[str, Mapping[str, Any]],
    how: Elicitation = Elicitation(),
) -> Plan:
    """Resolve names into a plan."""
    known = conditions(how.templates)
    steps = stages(how.templates)
    chosen = []
    for name in conditions_:
        if name not in known:
            raise UnknownName.among("condition", name, known)
        chosen.append(known[name])
    for name in how.helpers:
        if name not in steps:
            raise UnknownName.among("stage", name, steps)
    base = dict(PAPER if how.params is None else how.params)

    def full(model: str | Model) -> Model:
        return model if isinstance(model, Model) else Model(model, base)

    if isinstance(models, Mapping):
        resolved = tuple(Model(name, merged(base, own)) for name, own in models.items())
    else:
        resolved = tuple(full(model) for model in models)
    different_names("models", [model.shown for model in resolved])
    helping = {name: full(model) for name, model in how.helpers.items()}
    return Plan(dataset, tuple(chosen), resolved, how.samples, steps, known, helping, max_side=how.max_side)


def elicit(
    dataset: Dataset,
    conditions: Iterable[str],
    models: Iterable[str | Model] | Mapping[str, Mapping[str, Any]],
    *,
    cache: Cache,
    how: Elicitation = Elicitation(),
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
    keys, _ = run_plan(plan, cache, limits=limits, redo=redo, progress=progress)
    return responses(cache, keys)


def run_plan(
    plan: Plan,
    cache: Cache,
    *,
    limits: Limits | None = None,
    redo: Iterable[str] = REDO,
    progress: bool = True,
    ready: Callable[[list[Route]], None] | None = None,
) -> tuple[set[tuple[str | None, ...]], Summary]:
    """Make every call of a plan that is not recorded; return the slots of its responses."""
    from icgkit.calls.engine import run_calls
    from icgkit.calls.ledger import Summary
    from icgkit.calls.prices import check_prices
    from icgkit.calls.transports import check_models
    from icgkit.study.estimate import survey

    wanted = frozenset(redo)
    slots: set[tuple[str | None, ...]] = set()
    undecoded: dict[str, Case] = {}
    """Cases whose image is decoded beside the calls, and waited for before it is sent."""
    if cache.mode == "record":
        todo = survey(plan, cache, wanted)
        if not todo.missing and not todo.relabels:
            if ready is not None:
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
        limits = limits or Limits()
        asked = [*(model for model, _ in todo.examples), *(request.model for request in plan.behind)]
        check_prices(asked, limits.prices, budget=limits.budget)
        if ready is not None:
            ready(routes)

    def note(_: int | None, record: Record) -> None:
        if record.kind == "elicit":
            slots.add(record.slot)

    providers = dict.fromkeys(provider_of(model.name) for model in plan.models)
    summary = run_calls(
        [_stream(plan, provider, undecoded) for provider in providers],
        cache=cache,
        limits=limits or Limits(),
        progress=progress,
        redo=wanted,
        on_record=note,
        total=plan.count(),
    )
    return slots, summary


def _stream(plan: Plan, provider: str, undecoded: dict[str, Case]) -> Iterator[Job]:
    """Yield the calls to the models of one provider; an image is waited for before its first call."""
    number = 0
    for model in plan.models:
        if provider_of(model.name) == provider:
            for _, request in requests(plan, model):
                case = undecoded.pop(str(request.tags.get("case_id")), None)
                if case is not None:
                    check_all([case])
                yield number, request
                number += 1


def responses(cache: Cache, slots: set[tuple[str | None, ...]]) -> pl.DataFrame:
    """Read the responses with these slots from a cache (schema `responses`)."""
    import polars as pl

    frame = cache.frame().filter(pl.col("kind") == "elicit")
    names = ["key", "kind", "dataset", "case_id", "condition", "stage", "subject", "label"]
    wanted = pl.DataFrame(sorted(slots, key=str), schema=dict.fromkeys(names, pl.String), orient="row")
    kept = frame.join(wanted, on=names, how="semi", nulls_equal=True, maintain_order="left")
    calls = schema("responses")
    return calls.check(by_label(kept).select(list(calls.columns)))
