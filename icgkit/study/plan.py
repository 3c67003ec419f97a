"""What is to be asked: cases x conditions x models, with the words of every step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from icgkit.calls.models import PAPER, Model, different_names
from icgkit.calls.record import Record
from icgkit.calls.request import Prompt, Request, merged
from icgkit.cases.case import Case
from icgkit.cases.dataset import Dataset
from icgkit.cases.images import MAX_SIDE, Kept
from icgkit.errors import UnknownName
from icgkit.prompts.conditions import Condition, build_messages, conditions, stages

KEPT_PROMPTS = 1 << 27
"""Bytes of prompts, images and all, that are kept for the next condition and model: 128 MiB."""
Then = Callable[[Record], Iterable[Request]]
"""Gets the record of a call and returns the calls that build on it."""


@dataclass(frozen=True)
class Plan:
    """What is to be asked; without a helper for a stage the evaluated model does it itself."""

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
            prompt = made[condition.id, system] = Prompt.of(build_messages(case, condition, **options))
            images = {id(url): len(url) for p in made.values() for url in p.images}
            words = sum(2 * len(p.skeleton) for p in made.values())
            self._prompts.put(case.id, made, sum(images.values()) + words)
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
        then: Then | None = None,
        **tags: Any,
    ) -> Request:
        """Build the request of one response."""
        if then is None and self.then is not None:
            then = partial(_with_case, self.then, case)
        tags = _tags("elicit", case, condition.id, condition, model) | tags
        prompt = self.prompt(case, condition, inputs, model.system)
        return Request(model.name, prompt.messages, model.under(condition.id), sample, tags, then, prompt)

    def stage(
        self,
        name: str,
        case: Case,
        condition: Condition,
        model: Model,
        sample: int,
        then: Then,
        inputs: Mapping[str, Any] | None = None,
    ) -> Request:
        """Build the request of an intermediate step of a chain."""
        template = self.stages[name]
        if name in self.helpers:
            model, sample = self.helpers[name], 0
        tags = _tags("stage", case, condition.id, template, model) | {"stage": name}
        prompt = self.prompt(case, template, inputs, model.system)
        return Request(model.name, prompt.messages, model.under(name), sample, tags, then, prompt)


def _tags(kind: str, case: Case, condition: str, words: Condition, model: Model) -> dict[str, Any]:
    return {
        "kind": kind,
        "dataset": case.dataset,
        "case_id": case.id,
        "condition": condition,
        "template_sha256": words.sha256,
        "label": model.label or None,
    }


def _with_case(
    then: Callable[[Record, Case], Iterable[Request]], case: Case, record: Record
) -> Iterable[Request]:
    return then(record, case)


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


DEFAULT = Elicitation()


def find_conditions(names: Iterable[str], templates: str | Path | None = None) -> list[Condition]:
    """Look up conditions by id."""
    known = conditions(templates)
    names = list(names)
    for name in names:
        if name not in known:
            raise UnknownName.among("condition", name, known)
    return [known[name] for name in names]


def make_plan(
    dataset: Dataset,
    names: Iterable[str],
    models: Iterable[str | Model] | Mapping[str, Mapping[str, Any]],
    how: Elicitation = DEFAULT,
) -> Plan:
    """Resolve names of conditions and models into a plan."""
    chosen = find_conditions(names, how.templates)
    known, steps = conditions(how.templates), stages(how.templates)
    for name in how.helpers:
        if name not in steps:
            raise UnknownName.among("stage", name, steps)
    base = dict(PAPER if how.params is None else how.params)

    def full(model: str | Model) -> Model:
        return model if isinstance(model, Model) else Model(model, base)

    if isinstance(models, Mapping):
        models = [Model(name, merged(base, own)) for name, own in models.items()]
    resolved = tuple(full(model) for model in models)
    different_names("models", [model.shown for model in resolved])
    helping = {name: full(model) for name, model in how.helpers.items()}
    return Plan(dataset, tuple(chosen), resolved, how.samples, steps, known, helping, max_side=how.max_side)
