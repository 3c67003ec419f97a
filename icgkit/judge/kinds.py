"""The rule book of judging: what each kind asks about, where, and what is answered; it stands in the templates.

A kind of judging is a template in `templates/judges/` whose front matter has a block `judging`. A file in one's own
folder of templates adds one, and every command knows it.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icgkit.cases import subset
from icgkit.cases.case import Case
from icgkit.cases.dataset import Dataset
from icgkit.errors import SchemaError, UnknownName
from icgkit.judge.ask import Judge
from icgkit.prompts.conditions import FAMILIES, Condition, conditions, judge_prompts
from icgkit.schemas import SCHEMAS, Schema, verdict_schema

if TYPE_CHECKING:
    import polars as pl

ABOUT = ("nodes", "proposals", "reasons", "labels")
NODES = ("all", "visible")
CASES, CONSTRAINTS, MOST = 60, 100, 2
_FIELDS = ("about", "nodes", "fields", "frame", "families", "without", "unless_named", "then", "why")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of judging, as the front matter of its template says.

    Parameters
    ----------
    id, label : str
        Name of the template's file, and what it is called.
    about : {"nodes", "proposals", "reasons", "labels"}
        A verdict for each true node, or for each constraint that a response proposes; `reasons` is the
        leakage probe, `labels` what responses themselves say of nodes.
    nodes : {"all", "visible"}
        Which nodes: all, or those of `marked_constraints`.
    fields : tuple of str
        What is answered, each true or false.
    frame : str
        Name of the Parquet file that the verdicts fill; that of the kind if not given.
    families, without : tuple of str
        Families of conditions whose responses are marked, and conditions of these that are not.
    unless_named : tuple of str
        Where this is given, only these conditions are marked unless others are asked for by name.
    then : tuple of str
        Further templates that the kind uses.
    why : str
        Key of the one line of reasons that the template asks a verdict for, kept in a column `why`; "" if none.
    """

    id: str
    label: str
    about: str
    fields: tuple[str, ...]
    frame: str
    nodes: str = "all"
    families: tuple[str, ...] = FAMILIES
    without: tuple[str, ...] = ()
    unless_named: tuple[str, ...] = ()
    then: tuple[str, ...] = ()
    why: str = ""

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
    "adversarial", "Adversarial labels (read, no judge model)", "labels", ("valid",), "adversarial"
)


def kinds(templates: str | Path | None = None) -> dict[str, Kind]:
    """Return every kind of judging by id, in the order of the templates.

    Parameters
    ----------
    templates : path, optional
        Folder with own templates in `judges/`.

    Raises
    ------
    SchemaError
        For a block `judging` with a field or value that is not known.

    Examples
    --------
    >>> list(kinds())
    ['recall', 'precision', 'plan', 'leakage', 'adversarial']
    """
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
    for name in meta:
        if name not in _FIELDS:
            raise UnknownName.among(f"field in {place}", str(name), _FIELDS)
    names: dict[str, tuple[str, ...]] = {}
    for name in ("fields", "families", "without", "unless_named", "then"):
        value = meta.get(name, [])
        if not isinstance(value, list) or not all(isinstance(v, str) and v for v in value):
            raise SchemaError(f"{place}.{name}", got=value, allowed="a list of names")
        names[name] = tuple(value)
    texts = {name: meta.get(name, "") for name in ("frame", "why")}
    for name, value in texts.items():
        if not isinstance(value, str) or (value and not value.replace("_", "").isalnum()):
            raise SchemaError(f"{place}.{name}", got=value, allowed="a name of letters, digits and _")
    for name, allowed in (("about", ABOUT), ("nodes", NODES)):
        if meta.get(name, allowed[0]) not in allowed:
            raise SchemaError(f"{place}.{name}", got=meta[name], allowed=allowed)
    for family in names["families"]:
        if family not in FAMILIES:
            raise UnknownName.among(f"family in {place}", family, FAMILIES)
    if not names["fields"]:
        raise SchemaError(f"{place}.fields", allowed="at least one field that a verdict answers")
    return Kind(
        prompt.id,
        prompt.label,
        meta.get("about", "nodes"),
        names["fields"],
        texts["frame"] or prompt.id,
        meta.get("nodes", "all"),
        names["families"] or FAMILIES,
        names["without"],
        names["unless_named"],
        names["then"],
        texts["why"],
    )


def find_kind(name: str, templates: str | Path | None = None) -> Kind:
    """Look up one kind of judging.

    Raises
    ------
    UnknownName
        If there is none of that name.
    """
    known = kinds(templates)
    if name not in known:
        raise UnknownName.among("kind of judging", name, known)
    return known[name]


def marks(kind: Kind | str, condition: str, family: str = "", *, asked: Container[str] = ()) -> bool:
    """Say whether responses under a condition are marked by a kind of judging: the one rule of every command.

    Parameters
    ----------
    kind : Kind or str
        The kind, or the name of a shipped one.
    condition : str
        Id of the condition.
    family : str, optional
        Its family; looked up among the shipped conditions where not given. An unknown condition counts
        as discovery.
    asked : container of str
        Conditions that the user named.

    Examples
    --------
    >>> marks("precision", "direct"), marks("precision", "direct", asked=["direct"]), marks("plan", "plan_oracle")
    (False, True, True)
    """
    rule = find_kind(kind) if isinstance(kind, str) else kind
    known = conditions()
    family = family or (known[condition].family if condition in known else "core")
    if family not in rule.families or condition in rule.without:
        return False
    return not rule.unless_named or condition in rule.unless_named or condition in asked


def judge_name(judge: Judge, kind: str) -> str:
    """Return the name under which a judge's verdicts stand.

    It is the label, or the model's name, with the first eight digits of the template's hash where
    the words are not the shipped ones: a judge asked otherwise is another judge.

    Examples
    --------
    >>> judge_name(Judge("gpt-4o"), "recall"), judge_name(Judge("gpt-4o", sample=1), "recall")
    ('gpt-4o', 'gpt-4o#1')
    """
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
    """Draw the constraints that a plan has to satisfy: a visible step each, at most two a case.

    Cases are drawn evenly over the categories. A constraint needs a visible, checkable step if a
    box is drawn for it; strong ones go first. Every case keeps one, and second ones are taken in
    a seeded order until the number is reached.

    Returns
    -------
    polars.DataFrame
        Columns `case_id`, `node_id`.

    Examples
    --------
    >>> import icgkit as ig
    >>> picked = planning_set(ig.load_dataset("icg-teb"), cases=12, constraints=20)
    >>> picked["case_id"].n_unique(), picked.height <= 20
    (12, True)
    """
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
    """Return the constraints that plans are marked on, for every case of a dataset.

    Those of `planning_set` in its cases; in the others by the same rule, at most two a case. What is
    marked of a case so depends neither on the subset that was asked about nor on the command that
    judges, `icgkit run` or `icgkit judge`.

    Parameters
    ----------
    dataset : Dataset
        The whole dataset, not the part of it that a study asks about.

    Returns
    -------
    polars.DataFrame
        Columns `case_id`, `node_id`, in the order of the dataset.

    Examples
    --------
    >>> import icgkit as ig
    >>> teb = ig.load_dataset("icg-teb")
    >>> marked_constraints(teb)["case_id"].n_unique() == len(teb)
    True
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
    import polars as pl

    rows = [(c.id, n.id) for c in dataset for n in c.constraint_nodes if (c.id, n.id) in chosen]
    return pl.DataFrame(rows, schema={"case_id": pl.String, "node_id": pl.String}, orient="row")
