"""The rule book of judging: what each kind asks about, where, and what is answered; it stands in the templates.

A kind of judging is a template in `templates/judges/` whose front matter has a block `judging`. A file in one's own
folder of templates adds one, and every command knows it.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Container, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
from pydantic import Field, ValidationError
from pydantic.dataclasses import dataclass

from icgkit.cases import subset
from icgkit.cases.case import Case
from icgkit.cases.dataset import Dataset
from icgkit.errors import SchemaError, UnknownName
from icgkit.judge.ask import Judge
from icgkit.prompts.conditions import Condition, Family, conditions, judge_prompts, problems
from icgkit.schemas import SCHEMAS, Schema, verdict_schema

CASES, CONSTRAINTS, MOST = 60, 100, 2
Name = Annotated[str, Field(pattern=r"^(\w[\w .-]*)?$")]


@dataclass(frozen=True)
class Kind:
    """One kind of judging, as the front matter of its template says.

    It asks `fields` (each true or false) `about` each of the true nodes (`nodes`: all, or those of
    `marked_constraints`), or each proposal of a response; `reasons` is the leakage probe, `labels` what responses
    say of nodes. Verdicts fill `frame`.parquet, with the line that the reply names `why`, if any. It marks
    conditions of `families` but `without` these, and, if given, only those `unless_named` or asked for by name.
    `then` are further templates that it uses.
    """

    id: str
    label: str
    fields: Annotated[tuple[Name, ...], Field(min_length=1)]
    about: Literal["nodes", "proposals", "reasons", "labels"] = "nodes"
    nodes: Literal["all", "visible"] = "all"
    frame: Name = ""
    families: tuple[Family, ...] = ()
    without: tuple[str, ...] = ()
    unless_named: tuple[str, ...] = ()
    then: tuple[str, ...] = ()
    why: Name = ""

    @property
    def templates(self) -> tuple[str, ...]:
        """The templates whose words its verdicts hang on."""
        return () if self.about == "labels" else (self.id, *self.then)

    @property
    def of_responses(self) -> bool:
        """Whether a judge model marks responses, so that it can follow behind a run."""
        return self.about in ("nodes", "proposals")

    def schema(self) -> Schema:
        """Return the columns of its frame."""
        if self.frame in SCHEMAS:
            return SCHEMAS[self.frame]
        return verdict_schema(self.frame, "item" if self.about == "proposals" else "node_id", self.fields)


_LABELS = Kind(
    "adversarial", "Adversarial labels (read, no judge model)", ("valid",), "labels", frame="adversarial"
)


def kinds(templates: str | Path | None = None) -> dict[str, Kind]:
    """Return every kind of judging by id, in the order of the templates."""
    if templates is None:
        return dict(_shipped())
    return _kinds(judge_prompts(templates))


@cache
def _shipped() -> dict[str, Kind]:
    return _kinds(judge_prompts())


def _kinds(prompts: Mapping[str, Condition]) -> dict[str, Kind]:
    shipped = judge_prompts()
    found = {}
    for name, prompt in prompts.items():
        # One's own words for a shipped kind need not repeat what the kind is.
        meta = prompt.judging or (shipped[name].judging if name in shipped else {})
        if meta:
            found[name] = _kind(prompt, meta)
    return found | {_LABELS.id: _LABELS}


def _kind(prompt: Condition, meta: Mapping[str, Any]) -> Kind:
    place = f"{prompt.id}.md: judging"
    known = {f.name for f in fields(Kind)} - {"id", "label"}
    for name in meta:
        if name not in known:
            raise UnknownName.among(f"field in {place}", str(name), known)
    defaults = {"fields": (), "frame": prompt.id}
    try:
        return Kind(id=prompt.id, label=prompt.label, **defaults | {k: v for k, v in meta.items() if v})
    except ValidationError as exc:
        raise SchemaError(f"{place}: {problems(exc)}") from None


def find_kind(name: str, templates: str | Path | None = None) -> Kind:
    """Look up one kind of judging."""
    known = kinds(templates)
    if name not in known:
        raise UnknownName.among("kind of judging", name, known)
    return known[name]


def marks(kind: Kind | str, condition: str, family: str = "", *, asked: Container[str] = ()) -> bool:
    """Say whether responses under a condition are marked by a kind of judging: the one rule of every command."""
    rule = find_kind(kind) if isinstance(kind, str) else kind
    known = conditions()
    family = family or (known[condition].family if condition in known else "core")
    if (rule.families and family not in rule.families) or condition in rule.without:
        return False
    return not rule.unless_named or condition in rule.unless_named or condition in asked


def judge_name(judge: Judge, kind: str) -> str:
    """Return the name under which a judge's verdicts stand: a judge that is told other words is another judge."""
    name = judge.asked.shown
    if judge.templates is not None and not judge.asked.label:
        own, shipped = judge_prompts(judge.templates), judge_prompts()
        known = kinds(judge.templates)
        used = known[kind].templates if kind in known else ()
        mine = [own[t].sha256 for t in used if t in own]
        if mine != [shipped[t].sha256 for t in used if t in shipped]:
            digest = mine[0] if len(mine) == 1 else hashlib.sha256("".join(mine).encode()).hexdigest()
            name += f"@{digest[:8]}"
    return name if judge.sample == 0 else f"{name}#{judge.sample}"


def planning_set(
    dataset: Dataset, *, cases: int = CASES, constraints: int = CONSTRAINTS, seed: int = subset.SEED
) -> pl.DataFrame:
    """Draw the constraints that a plan has to satisfy: a visible step each, one or two a case (case_id, node_id)."""
    drawn = subset.stratified(subset.strata(dataset.nodes()), min(cases, len(dataset)), seed=seed)
    part = dataset.subset(drawn)
    first: list[tuple[str, str]] = []
    second: list[tuple[str, str]] = []
    for case in part:
        nodes = _visible(case)
        first += [(case.id, n) for n in nodes[:1]]
        second += [(case.id, n) for n in nodes[1:MOST]]
    random.Random(seed).shuffle(second)
    chosen = set(first) | set(second[: max(constraints - len(first), 0)])
    return _frame(part, chosen)


def marked_constraints(dataset: Dataset) -> pl.DataFrame:
    """Return the constraints that plans are marked on, for every case of a whole dataset (case_id, node_id).

    What is marked of a case so depends neither on the subset that was asked about nor on the command.
    """
    chosen = set(planning_set(dataset).iter_rows())
    drawn = {case_id for case_id, _ in chosen}
    chosen |= {(c.id, n) for c in dataset if c.id not in drawn for n in _visible(c)[:MOST]}
    return _frame(dataset, chosen)


def _visible(case: Case) -> list[str]:
    """Return the ids of a case's constraints that a box is drawn for (all, if none is), strong ones first."""
    nodes = [n for n in case.constraint_nodes if n.bbox] or list(case.constraint_nodes)
    return [n.id for n in sorted(nodes, key=lambda n: n.strength != "strong")]


def _frame(dataset: Dataset, chosen: set[tuple[str, str]]) -> pl.DataFrame:
    rows = [(c.id, n.id) for c in dataset for n in c.constraint_nodes if (c.id, n.id) in chosen]
    return pl.DataFrame(rows, schema={"case_id": pl.String, "node_id": pl.String}, orient="row")
