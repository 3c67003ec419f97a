"""Run a study: estimate, elicit, judge behind it, pack. The same from a script, a cell or the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from icgkit.calls.cache import Cache
from icgkit.calls.engine import WOUND_UP
from icgkit.calls.ledger import Summary, together
from icgkit.calls.prices import most_output
from icgkit.calls.record import Record
from icgkit.calls.request import PICTURE, Addressed, Request, address
from icgkit.calls.transports import Route, check_models
from icgkit.cases.case import Case
from icgkit.cases.dataset import load_dataset
from icgkit.cases.images import check_all
from icgkit.errors import SchemaError
from icgkit.judge.ask import Judge
from icgkit.judge.kinds import find_kind
from icgkit.judge.run import Panel, verdict_lines, without_verdict
from icgkit.prompts.conditions import judge_prompts
from icgkit.study.elicit import responses, run_plan
from icgkit.study.estimate import Estimate, booked, estimate_plan
from icgkit.study.file import Study
from icgkit.study.identity import describe, note_run
from icgkit.study.plan import Plan

JUDGE_TOKENS = 1500
"""Tokens that a judge is shown beside the image: template, nodes and a typical response."""


@dataclass
class Done:
    """What a study run gave."""

    study: Study
    folder: Path
    summary: Summary
    wanted: int
    """Responses that the study asks for."""
    left_out: dict[str, int]
    """Cases that lack what a condition shows, by condition."""
    responses: pl.DataFrame = field(repr=False)
    judgments: dict[str, pl.DataFrame] = field(default_factory=dict, repr=False)
    again: Summary = field(default_factory=Summary, repr=False)
    """What the judges were asked after the run: what it did not come to."""

    @property
    def stopped(self) -> str | None:
        """Why the run ended early, None if it did not."""
        return self.summary.stopped or self.again.stopped

    @property
    def failed(self) -> bool:
        """Whether calls failed, models were given up, or responses have no usable verdict."""
        unusable = any(without_verdict(f) for f in self.judgments.values())
        return self.summary.failed() or self.again.failed() or unusable

    def text(self) -> str:
        """Return what happened, in a few lines."""
        s = self.summary
        counts = ", ".join(f"{n} {k}" for k, n in sorted(s.by_status.items()))
        lines = [
            f"{s.cached} calls were recorded already, {s.called} were made in {s.seconds:.1f} s ({counts or 'none'})"
        ]
        for condition, n in self.left_out.items():
            lines.append(f"{condition}: {n} cases left out, they lack what it shows")
        asked = self.responses["condition"].is_in(self.study.conditions)  # not what only led to a response
        if asked.sum() < self.wanted:
            lines.append(f"{self.wanted - asked.sum()} of {self.wanted} responses are missing")
        both = together([s, self.again])
        both.reasons = s.reasons.union(self.again.reasons)
        lines += both.lines()
        lines += verdict_lines(self.judgments)
        if self.stopped == "budget":
            lines.append(
                "stopped at the budget, of which earlier runs are a part; run again with a higher one"
            )
        if self.stopped == "interrupt":
            lines.append(WOUND_UP)
        return "\n".join(lines)


def run(
    study: Study | str | Path | dict[str, Any],
    *,
    cache: Cache | None = None,
    budget: float | None = None,
    progress: bool = True,
    pack: bool = True,
) -> Done:
    """Run a study, or the part of it that is not recorded yet.

    Parameters
    ----------
    study : Study, path or dict
        A study, a study file, or its content.
    cache : Cache, optional
        Instead of the one that the study names.
    budget : float, optional
        US dollars that everything in the cache may come to, earlier runs included; no call is made
        whose longest possible answer would pass it. Instead of the study's own.
    pack : bool
        Fold the records into `calls.parquet` at the end.

    Returns
    -------
    Done
        Responses and judgments as frames, counts, cost.

    Raises
    ------
    SchemaError, UnknownName, CallError, ImageError
        Before the first call, if anything is wrong.
    """
    study = as_study(study)
    cache = cache or study.open_cache()
    plan, panel = plan_with_judges(study)
    describe(study, plan, cache.folder)
    limits = study.call_limits(budget)

    def ready(_: list[Route]) -> None:
        if cache.mode == "record":
            note_run(study, plan, cache.folder)

    slots, summary = run_plan(plan, cache, limits=limits, redo=study.redo, progress=progress, ready=ready)
    frame = responses(cache, slots)
    done = Done(study, cache.folder, summary, plan.count(), plan.left_out(), frame)
    if study.judges and not done.stopped:
        before = len(cache.runs)
        asked = frame.filter(frame["condition"].is_in(study.conditions))
        done.judgments = panel.judge(asked, cache, limits=limits, progress=False)
        if cache.mode == "record":
            panel.keep(done.judgments, cache.folder)
        done.again = together(cache.runs[before:])
    if pack and cache.mode == "record" and not done.stopped:
        cache.pack()
    return done


def plan_with_judges(study: Study) -> tuple[Plan, Panel]:
    """Return the plan of a study, and its judges, whose calls follow each response as soon as it is there."""
    plan = study.plan()
    for entry in study.judges:
        for name in entry.kinds:
            if not find_kind(name, study.templates).of_responses:
                raise SchemaError(
                    f"judge {entry.name}: kind {name} is not about the responses of a run",
                    remedy=f"icgkit judge --cache NAME --judges {entry.name} --kinds {name}",
                )
    families = {c.id: c.family for c in plan.conditions}
    judges = [(entry.judge(study.templates), entry.kinds) for entry in study.judges]
    panel = Panel(load_dataset(study.dataset) if judges else plan.dataset, judges, families)
    if not judges:
        return plan, panel
    chosen, shown = set(families), judge_prompts(study.templates)

    def then(record: Record, _: Case) -> Iterable[Request]:
        # What only led to a response, such as the first step of a chain, is not judged.
        return panel.follow(record) if record.condition in chosen else ()

    def example(judge: Judge, kinds: Iterable[str]) -> Request:
        picture = PICTURE if any(shown[k].image for k in kinds if k in shown) else []
        return Request(judge.asked.name, picture, judge.asked.under(""))

    return replace(plan, then=then, behind=tuple(example(*one) for one in judges)), panel


def as_study(study: Study | str | Path | dict[str, Any]) -> Study:
    """Return a study from whatever describes one."""
    if isinstance(study, Study):
        return study
    return Study.of(study) if isinstance(study, dict) else Study.read(study)


def estimate(study: Study | str | Path | dict[str, Any], *, cache: Cache | None = None) -> Estimate:
    """Say what a study will call and cost, without a call; images, models and keys are checked.

    Raises
    ------
    ImageError, CallError
        As `run` would before its first call.
    """
    study = as_study(study)
    cache = cache or study.open_cache()
    plan, panel = plan_with_judges(study)
    describe(study, plan, cache.folder)
    prices = study.call_limits().prices
    found = estimate_plan(plan, cache, frozenset(study.redo), _judge_calls(plan, panel), prices)
    found.booked = booked(cache)
    if found.missing:
        check_all(case for case in plan.dataset if case.id in found.missing_cases)
        found.routes = check_models([*found.examples.values(), *map(address, plan.behind)], need_keys=False)
    return found


def _judge_calls(plan: Plan, panel: Panel) -> Callable[[Addressed], list[tuple[str, int, int]]]:
    chosen = {c.id for c in plan.conditions}
    most = {id(judge): most_output(judge.asked.under("")) for judge, _ in panel.judges}

    def calls(call: Addressed) -> list[tuple[str, int, int]]:
        condition = str(call.request.tags.get("condition"))
        if condition not in chosen or call.request.tags.get("kind") != "elicit":
            return []
        return [
            (judge.asked.name, JUDGE_TOKENS, most[id(judge)])
            for judge, kinds in panel.judges
            for _ in panel.marked(judge, kinds, condition)
        ]

    return calls


def from_options(file: Path | None, options: Mapping[str, Any]) -> Study:
    """Build a study from a file, from options, or from a file with options that win over it."""
    data: dict[str, Any] = {} if file is None else Study.read(file).model_dump()
    given = {k: v for k, v in options.items() if v is not None and v != ""}
    for name in ("models", "conditions", "judges"):
        if name in given:
            given[name] = [x.strip() for x in given[name].split(",") if x.strip()]
    if "subset" in given:
        given["subset"] = {"n": given["subset"]}
    if "templates" in given:
        given["templates"] = str(given["templates"])
    data |= given
    return Study.of(data, "options" if file is None else file.name)
