"""Run a study: estimate, elicit, judge behind it, pack. The same from a script, a cell or the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icgkit.calls.cache import Cache, Record
from icgkit.calls.engine import WOUND_UP
from icgkit.calls.ledger import Summary, together
from icgkit.calls.limits import Limits
from icgkit.calls.prices import most_output
from icgkit.calls.request import PICTURE, Addressed, Request, address
from icgkit.cases.case import Case
from icgkit.cases.dataset import Dataset, load_dataset
from icgkit.cases.images import check_all
from icgkit.judge.nodes import JUDGES, judge_name
from icgkit.judge.planning_set import marked_constraints
from icgkit.prompts.conditions import Condition, judge_prompts
from icgkit.schemas import schema
from icgkit.study.estimate import Survey, booked, survey
from icgkit.study.file import JudgeEntry, Study
from icgkit.study.identity import describe, note_run
from icgkit.study.judging import marks, verdict_lines, without_verdict
from icgkit.study.plan import Plan, different_names, responses, run_plan

if TYPE_CHECKING:
    import polars as pl

    from icgkit.calls.transports import Route

JUDGE_TOKENS = 1500
"""Tokens that a judge is shown beside the image: template, nodes and a typical response."""


@dataclass
class Done:
    """What a study run gave.

    `responses` has schema `responses`; `judgments` maps each kind of judging to its frame;
    `stopped` is None, "budget" or "interrupt".
    """

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
    """The judges' second round, about what they left without a verdict."""

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
            f"{s.cached} calls were recorded already, {s.called} were made in {s.seconds:.1f} s ({counts or 'none'})",
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


def kinds_for(judge: JudgeEntry, condition: Condition) -> list[str]:
    """Return what a judge marks in responses under a condition."""
    return [kind for kind in judge.kinds if marks(kind, condition.id, condition.family)]


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
    plan = judging_plan(study)
    describe(study, plan, cache.folder)
    limits = study.call_limits(budget)

    def ready(routes: list[Route]) -> None:
        if cache.mode == "record":
            note_run(study, plan, cache.folder)

    slots, summary = run_plan(plan, cache, limits=limits, redo=study.redo, progress=progress, ready=ready)
    frame = responses(cache, slots)
    done = Done(study, cache.folder, summary, plan.count(), plan.left_out(), frame)
    if study.judges and not done.stopped:
        before = len(cache.runs)
        done.judgments = judge_all(study, frame, cache, limits)
        done.again = together(cache.runs[before:])
    if pack and cache.mode == "record" and not done.stopped:
        cache.pack()
    return done


def judging_plan(study: Study, dataset: Dataset | None = None) -> Plan:
    """Return the plan of a study with its judges behind each response."""
    plan = study.plan(dataset)
    if not study.judges:
        return plan
    for kind in JUDGES:
        names = [judge_name(j.model(), kind, study.templates) for j in study.judges if kind in j.kinds]
        different_names(f"judges of {kind}", names)
    shown = judge_prompts(study.templates)
    behind = [
        Request(
            j.name, PICTURE if any(shown[k].image for k in j.kinds if k in shown) else [], j.model().under("")
        )
        for j in study.judges
    ]
    return replace(plan, then=_judging(study, plan), behind=tuple(behind))


def as_study(study: Study | str | Path | dict[str, Any]) -> Study:
    """Return a study from whatever describes one."""
    if isinstance(study, Study):
        return study
    return Study.of(study) if isinstance(study, dict) else Study.read(study)


def estimate(study: Study | str | Path | dict[str, Any], *, cache: Cache | None = None) -> Survey:
    """Say what a study will call and cost, without a call; images, models and keys are checked.

    Raises
    ------
    ImageError, CallError
        As `run` would before its first call.
    """
    from icgkit.calls.transports import check_models

    study = as_study(study)
    cache = cache or study.open_cache()
    plan = judging_plan(study)
    describe(study, plan, cache.folder)
    judges = _judge_calls(study, plan) if study.judges else None
    found = survey(plan, cache, frozenset(study.redo), judges, study.call_limits().prices)
    found.booked = booked(cache)
    if found.missing:
        check_all(case for case in plan.dataset if case.id in found.missing_cases)
        found.routes = check_models([*found.examples.values(), *map(address, plan.behind)], need_keys=False)
    return found


def _judge_calls(study: Study, plan: Plan) -> Callable[[Addressed], list[tuple[str, int, int]]]:
    chosen = {c.id: c for c in plan.conditions}

    def calls(asked: Addressed) -> list[tuple[str, int, int]]:
        condition = chosen.get(str(asked.request.tags.get("condition")))
        if condition is None or asked.request.tags.get("kind") != "elicit":
            return []
        most = {j.name: most_output(j.model().under("")) for j in study.judges}
        return [(j.name, JUDGE_TOKENS, most[j.name]) for j in study.judges for _ in kinds_for(j, condition)]

    return calls


def _judging(study: Study, plan: Plan) -> Callable[[Record, Case], Iterable[Request]]:
    """Return what sends each response on to the judges as soon as it is there."""
    from icgkit.judge import nodes as judges

    chosen = {c.id: c for c in plan.conditions}
    asked = [(j, j.model()) for j in study.judges]
    selected = _selected(study) if any("plan" in j.kinds for j in study.judges) else {}

    def then(record: Record, case: Case) -> Iterable[Request]:
        if record.status != "ok" or not record.text or record.condition not in chosen:
            return
        row = {name: getattr(record, name) for name in schema("responses").columns}
        row["model"] = record.label or record.model
        for judge, model in asked:
            for kind in kinds_for(judge, chosen[record.condition]):
                request = judges.first_request(
                    kind, row, case, model, templates=study.templates,
                    only=selected.get(case.id, ()) if kind == "plan" else None,
                )  # fmt: skip
                if request is not None:
                    yield request

    return then


def _selected(study: Study) -> dict[str, tuple[str, ...]]:
    """Return the nodes that plans are marked on, by case: those of the whole dataset, whatever the subset."""
    rows = marked_constraints(load_dataset(study.dataset)).group_by("case_id").agg("node_id")
    return {case_id: tuple(nodes) for case_id, nodes in rows.iter_rows()}


def judge_all(study: Study, frame: pl.DataFrame, cache: Cache, limits: Limits) -> dict[str, pl.DataFrame]:
    """Judge all responses: what was judged while eliciting is replayed, gaps are asked once more."""
    import polars as pl

    from icgkit.judge import nodes as judges
    from icgkit.study.judging import merge_verdicts

    work = {"recall": judges.judge_recall, "precision": judges.judge_precision, "plan": judges.judge_plan}
    names = {"recall": "judgments", "precision": "precision", "plan": "plan"}
    dataset = study.cases()
    conditions = {c.id: c for c in study.plan(dataset).conditions}
    found: dict[str, list[pl.DataFrame]] = {}
    for judge in study.judges:
        for kind in judge.kinds:
            under = [name for name, c in conditions.items() if kind in kinds_for(judge, c)]
            mine = frame.filter(pl.col("condition").is_in(under))
            if mine.height:
                more: dict[str, Any] = (
                    {"selection": marked_constraints(load_dataset(study.dataset))} if kind == "plan" else {}
                )
                marked = work[kind](
                    mine,
                    dataset,
                    judge.model(),
                    cache=cache,
                    templates=study.templates,
                    limits=limits,
                    progress=False,
                    **more,
                )
                found.setdefault(names[kind], []).append(marked)
    frames = {name: schema(name).check(pl.concat(parts)) for name, parts in found.items()}
    for name, verdicts in frames.items():
        if cache.mode == "record":
            merge_verdicts(cache.folder / f"{name}.parquet", name, verdicts)
    return frames


def from_options(
    file: Path | None,
    dataset: str = "",
    models: str = "",
    conditions: str = "",
    judges: str = "",
    cache: str = "",
    samples: int | None = None,
    subset: int | None = None,
    templates: Path | None = None,
) -> Study:
    """Build a study from a file, from options, or from a file with options that win over it."""
    data: dict[str, Any] = {}
    if file is not None:
        data = Study.read(file).model_dump()
    lists = {"models": models, "conditions": conditions, "judges": judges}
    data |= {k: [x.strip() for x in v.split(",") if x.strip()] for k, v in lists.items() if v}
    data |= {k: v for k, v in {"dataset": dataset, "cache": cache}.items() if v}
    if samples is not None:
        data["samples"] = samples
    if subset is not None:
        data["subset"] = {"n": subset}
    if templates is not None:
        data["templates"] = str(templates)
    return Study.of(data, "options" if file is None else file.name)
