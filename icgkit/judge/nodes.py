"""Let a judge mark responses node by node or proposal by proposal: recall, precision, plans, kinds of one's own.

Missing verdicts stay missing: what a judge does not answer, or answers twice, becomes a row with nulls and a
status, after one more try. What is asked where stands in the templates, see `icgkit.judge.kinds`.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from icgkit.calls.cache import Cache
from icgkit.calls.limits import Limits
from icgkit.calls.models import Model
from icgkit.calls.request import Request
from icgkit.cases.case import Case, Constraint
from icgkit.cases.dataset import Dataset
from icgkit.errors import SchemaError, UnknownName
from icgkit.judge.ask import Judge, Question, Verdict, ask, fence, is_cut, spoken_part
from icgkit.judge.kinds import Kind, find_kind, judge_name, marked_constraints
from icgkit.prompts.conditions import build_messages, judge_prompts
from icgkit.prompts.proposals import call_key, read_proposals
from icgkit.prompts.replies import read_verdicts
from icgkit.schemas import schema

MAX_ITEM = 4000
"""From how many characters on the fields of a proposal are cut."""


def node_json(nodes: Iterable[Constraint]) -> str:
    """Return nodes as the JSON list that judges are shown: one node a line, no boxes."""
    shown = [
        {
            "id": n.id,
            "region": n.region,
            "constraint_type": n.subtype,
            "expected_update": n.expected_update,
            "reason": n.reason,
        }
        for n in nodes
    ]
    return "[\n" + ",\n".join(json.dumps(n, ensure_ascii=False) for n in shown) + "\n]"


def judge_recall(
    responses: pl.DataFrame,
    dataset: Dataset,
    judge: str | Model | Judge,
    *,
    cache: Cache,
    nodes: pl.DataFrame | None = None,
    limits: Limits | None = None,
    progress: bool = True,
) -> pl.DataFrame:
    """Mark for every response which ground-truth nodes it brings up.

    Parameters
    ----------
    responses : polars.DataFrame
        Schema `responses`. One without text (refused, truncated, failed) gets rows with status
        `no_response`.
    dataset : Dataset
        The cases with their nodes.
    judge : str, Model or Judge
        Model as named to litellm, one with a label and parameters of its own, or one with own words or as
        a repeat: `Judge("gpt-4o", templates="own", sample=1)`.
    cache : Cache
        Where the judge's calls are recorded, or replayed from.
    nodes : polars.DataFrame, optional
        Columns `case_id`, `node_id`: only these nodes. By default those that the kind's template names.

    Returns
    -------
    polars.DataFrame
        Schema `judgments`: one row for each response and node. `found` is true where region,
        update and reason are. A node without a usable verdict after one more try is null.

    Raises
    ------
    UnknownName
        If a response belongs to a case that the dataset lacks.
    CacheMiss
        In replay mode, for a call that is not recorded.
    """
    return judge_responses(
        "recall", responses, dataset, judge, cache=cache, nodes=nodes, limits=limits, progress=progress
    )


def judge_plan(
    responses: pl.DataFrame,
    dataset: Dataset,
    judge: str | Model | Judge,
    *,
    cache: Cache,
    nodes: pl.DataFrame | None = None,
    limits: Limits | None = None,
    progress: bool = True,
) -> pl.DataFrame:
    """Mark for every plan which constraints its steps satisfy (schema `plan`); parameters as in `judge_recall`.

    By default those of `icgkit.judge.kinds.marked_constraints` count: give the whole dataset, then what
    is marked of a case does not hang on which part of it was asked about.
    """
    return judge_responses(
        "plan", responses, dataset, judge, cache=cache, nodes=nodes, limits=limits, progress=progress
    )


def judge_precision(
    responses: pl.DataFrame,
    dataset: Dataset,
    judge: str | Model | Judge,
    *,
    cache: Cache,
    nodes: pl.DataFrame | None = None,
    limits: Limits | None = None,
    progress: bool = True,
) -> pl.DataFrame:
    """Mark every constraint that a response proposes as valid or not (schema `precision`).

    Parameters as in `judge_recall`; `nodes` are the true ones that the judge is shown. Responses that
    cannot be read, or propose nothing, have no rows here; `extract_proposals` counts them.
    """
    return judge_responses(
        "precision", responses, dataset, judge, cache=cache, nodes=nodes, limits=limits, progress=progress
    )


def judge_responses(
    kind: str,
    responses: pl.DataFrame,
    dataset: Dataset,
    judge: str | Model | Judge,
    *,
    cache: Cache,
    nodes: pl.DataFrame | None = None,
    limits: Limits | None = None,
    progress: bool = True,
) -> pl.DataFrame:
    """Do what `judge_recall` does for any kind of judging that has a template, one's own included."""
    who = Judge.of(judge)
    rule = find_kind(kind, who.templates)
    if not rule.of_responses:
        raise SchemaError(
            f"judging {kind}", got=f"about {rule.about}", allowed="kinds about nodes or proposals"
        )
    chosen = nodes_of(rule, dataset) if nodes is None else by_case(nodes)
    cases = {case.id: case for case in dataset}
    asked = []
    for row in schema("responses").check(responses).iter_rows(named=True):
        if row["case_id"] not in cases:
            raise UnknownName.among(f"case in {dataset.name}", row["case_id"], cases)
        question = question_of(rule, who, row, cases[row["case_id"]], chosen)
        if question is not None:
            asked.append((row, question))
    ask((question for _, question in asked), cache=cache, limits=limits, progress=progress)
    return verdict_frame(rule, [(row, who, question) for row, question in asked])


Nodes = Mapping[str, Container[str]]
"""Ids of the nodes that are marked, by case."""


def by_case(nodes: pl.DataFrame) -> dict[str, set[str]]:
    """Return the ids of nodes by case, from a frame with `case_id` and `node_id`."""
    chosen: dict[str, set[str]] = {}
    for case_id, node_id in nodes.select("case_id", "node_id").iter_rows():
        chosen.setdefault(case_id, set()).add(node_id)
    return chosen


def nodes_of(kind: Kind, dataset: Dataset) -> Nodes | None:
    """Return the nodes that a kind of judging marks, None for all of them."""
    return by_case(marked_constraints(dataset)) if kind.nodes == "visible" else None


def question_of(
    kind: Kind, judge: Judge, row: Mapping[str, Any], case: Case, nodes: Nodes | None = None
) -> Question | None:
    """Return what a judge is asked about one response, None if it has no part that could be judged."""
    shown = [n for n in case.constraint_nodes if nodes is None or n.id in nodes.get(case.id, ())]
    text, ok = row["text"] or "", row["status"] == "ok"
    ids: tuple[str, ...]
    if kind.about == "proposals":
        items = {str(k): item for k, item in enumerate(read_proposals(text).items)} if ok else {}
        ids = tuple(items)
        # A claim is checked against all that is true of the picture.
        true = node_json(shown)

        def inputs(some: Sequence[str]) -> dict[str, Any]:
            lines = ",\n".join(_item_json({"item": int(i), **items[i]}) for i in ids if i in some)
            return {"nodes_json": true, "proposals_json": f"[\n{lines}\n]"}
    else:
        ids = tuple(n.id for n in shown)

        def inputs(some: Sequence[str]) -> dict[str, Any]:
            return {"nodes_json": node_json(n for n in shown if n.id in some), **fence(text)}

    if not ids:
        return None
    fields = kind.fields
    cut = kind.about != "proposals" and is_cut(text)

    def read(reply: str | None, some: Sequence[str]) -> dict[str, Verdict]:
        got = read_verdicts(reply, some, fields, why=kind.why)
        return {i: as_far_as_shown(v, fields) for i, v in got.items()} if cut else got

    known = judge_prompts(judge.templates)
    if kind.id not in known:
        raise SchemaError(f"no template {kind.id}.md for judges", allowed=known)
    template, model = known[kind.id], judge.asked

    def build(some: Sequence[str], sample: int) -> Request:
        values = {"instruction": case.instruction, **inputs(some)}
        messages = build_messages(case, template, inputs=values, system=model.system)
        tags = {
            "kind": "judge", "dataset": case.dataset, "case_id": case.id, "condition": row["condition"],
            "stage": kind.id, "subject": row["key"], "subject_model": row["model"],
            "template_sha256": template.sha256, "label": model.label or None,
        }  # fmt: skip
        return Request(model.name, messages, model.under(kind.id), sample, tags)

    due = ok and bool(spoken_part(text).strip())
    return Question(ids, build, read, dict.fromkeys(fields), due, judge.sample)


def verdict_frame(kind: Kind, answered: Iterable[tuple[Mapping[str, Any], Judge, Question]]) -> pl.DataFrame:
    """Lay out verdicts, one row each: the key of the response, what it is about, the judge, fields and status."""
    form = kind.schema()
    place = "item" if kind.about == "proposals" else "node_id"
    rows = []
    for row, judge, question in answered:
        base = call_key(row) | {"judge": judge_name(judge, kind.id)}
        for i in question.ids:
            verdict = question.verdicts[i]
            made = base | verdict | {place: int(i) if place == "item" else i}
            if "found" in form.columns:
                given = [verdict[f] for f in kind.fields]
                made["found"] = None if None in given else all(given)
            rows.append(made)
    return form.frame(rows)


def as_far_as_shown(verdict: Verdict, fields: Sequence[str]) -> Verdict:
    """Return a verdict on a response that was cut: what was found counts, what was not found is not known."""
    if verdict["status"] != "ok" or all(verdict[f] for f in fields):
        return verdict
    return {**verdict, **dict.fromkeys(fields), "status": "cut"}


def _item_json(item: Mapping[str, Any]) -> str:
    """Return a proposal as whole JSON; the fields of one that is too long are cut, and say so."""
    shown = {k: item[k] for k in ("item", "region", "type", "update", "reason") if item.get(k) is not None}
    text = json.dumps(shown, ensure_ascii=False)
    if len(text) <= MAX_ITEM:
        return text
    most = MAX_ITEM // 4
    return json.dumps(
        {k: f"{v[:most]} [... cut]" if isinstance(v, str) and len(v) > most else v for k, v in shown.items()},
        ensure_ascii=False,
    )
