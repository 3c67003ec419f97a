"""Probes: what can be guessed of a constraint from its reason alone, and what models say of a false node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import polars as pl

from icgkit.calls.cache import Cache
from icgkit.calls.limits import Limits
from icgkit.calls.models import Model
from icgkit.calls.request import Request
from icgkit.cases.case import Case, Constraint
from icgkit.cases.dataset import Dataset
from icgkit.errors import SchemaError
from icgkit.judge.ask import Judge, Question, Verdict, ask
from icgkit.judge.kinds import judge_name
from icgkit.judge.nodes import by_case
from icgkit.prompts.conditions import build_messages, judge_prompts
from icgkit.prompts.replies import Mark, read_json, read_labels
from icgkit.schemas import schema
from icgkit.taxonomy import SUBTYPES
from icgkit.untrusted import json_value

FORMS = ("anon", "orig")
"""The anonymised reason, and the reason as annotated, which is a ceiling."""
_MATCHES = ("match", "partial", "none")


class Guess(NamedTuple):
    """One reason that is shown, and what is asked about it."""

    case: Case
    node: Constraint
    form: str
    question: Question


def guesses(dataset: Dataset, judge: Judge, nodes: pl.DataFrame | None = None) -> Iterator[Guess]:
    """Yield the first question of the probe about each reason; a node without an anonymised one has one form."""
    chosen = None if nodes is None else by_case(nodes)
    for case in dataset:
        for node in case.constraint_nodes:
            if chosen is not None and node.id not in chosen.get(case.id, ()):
                continue
            for form in FORMS:
                if text := node.reason_anon if form == "anon" else node.reason:
                    question = _question(judge, "leakage", case, node, {"reason": text}, {"form": form})
                    yield Guess(case, node, form, question)


def probe_leakage(
    dataset: Dataset,
    judge: str | Model | Judge,
    *,
    cache: Cache,
    comparer: str | Model | Judge | None = None,
    nodes: pl.DataFrame | None = None,
    limits: Limits | None = None,
    progress: bool = True,
) -> pl.DataFrame:
    """Let a model guess subtype and region from reasons alone, and compare its guesses.

    Parameters
    ----------
    dataset : Dataset
        Nodes without an anonymised reason are left out of form `anon`.
    judge : str, Model or Judge
        Who guesses.
    cache : Cache
        Where the calls are recorded, or replayed from.
    comparer : str, Model or Judge, optional
        Who compares the guessed region with the true one in a second call; the guesser by default.
    nodes : polars.DataFrame, optional
        Columns `case_id`, `node_id`: only these.

    Returns
    -------
    polars.DataFrame
        Schema `leakage`. A guess that cannot be read, or names no subtype, is asked for once more and is null after that;
        `status` says why.
    """
    guesser = Judge.of(judge)
    comparing = guesser if comparer is None else Judge.of(comparer)
    asked = list(guesses(dataset, guesser, nodes))
    ask((guess.question for guess in asked), cache=cache, limits=limits, progress=progress)
    compared: dict[int, Question] = {}
    for k, (case, node, form, question) in enumerate(asked):
        region = question.verdicts["guess"]["region"]
        if region and question.record is not None:
            shown = {"region": node.region, "guess": " ".join(region.split())[:300]}
            more = {"form": form, "subject": question.record.key}
            compared[k] = _question(comparing, "leakage_region", case, node, shown, more)
    ask(compared.values(), cache=cache, limits=limits, progress=False)
    rows = []
    for k, (case, node, form, question) in enumerate(asked):
        verdict = question.verdicts["guess"]
        guess = verdict["subtype"]
        rows.append(
            {
                "dataset": case.dataset,
                "case_id": case.id,
                "node_id": node.id,
                "model": judge_name(guesser, "leakage"),
                "form": form,
                "category": node.category.id,
                "subtype": node.subtype,
                "subtype_guess": guess,
                "subtype_exact": guess == node.subtype if guess else None,
                "region_match": compared[k].verdicts["guess"]["region"] if k in compared else None,
                "status": verdict["status"],
            }
        )
    return schema("leakage").frame(rows)


def _question(
    judge: Judge, name: str, case: Case, node: Constraint, inputs: dict[str, Any], more: dict[str, Any]
) -> Question:
    template, model = judge_prompts(judge.templates)[name], judge.asked

    def build(_: Sequence[str], sample: int) -> Request:
        tags = {
            "kind": "judge", "dataset": case.dataset, "case_id": case.id, "stage": template.id,
            "template_sha256": template.sha256, "node_id": node.id, "label": model.label or None, **more,
        }  # fmt: skip
        messages = build_messages(case, template, inputs=inputs, system=model.system)
        return Request(model.name, messages, model.under("leakage"), sample, tags)

    read = read_guess if name == "leakage" else read_agreement

    def verdict(reply: str | None, _: Sequence[str]) -> dict[str, Verdict]:
        return {"guess": read(reply)}

    return Question(("guess",), build, verdict, {"subtype": None, "region": None}, sample=judge.sample)


def read_guess(reply: str | None) -> Verdict:
    """Read a guess: `subtype` (one of the 19), `region` and how reading went."""
    read = read_json(reply, "object", ("subtype", "region"))
    value = read.value if isinstance(read.value, dict) else {}
    subtype, region = (value.get(k) for k in ("subtype", "region"))
    name = subtype.strip() if isinstance(subtype, str) and subtype.strip() in SUBTYPES else None
    place = region if isinstance(region, str) and region.strip() else None
    return {"subtype": name, "region": place, "status": _status(read.status, name and place, subtype, region)}


def read_agreement(reply: str | None) -> Verdict:
    """Read how a guessed region agrees with the true one: match, partial or none."""
    read = read_json(reply, "object", ("agreement",))
    value = read.value.get("agreement") if isinstance(read.value, dict) else None
    word = value.strip().lower() if isinstance(value, str) else ""
    match = word if word in _MATCHES else None
    return {"subtype": None, "region": match, "status": _status(read.status, match, value)}


def _status(reading: str, usable: object, *raw: Any) -> str:
    if reading != "ok":
        return reading
    return "ok" if usable else "conflict" if any(isinstance(v, Mark) for v in raw) else "incomplete"


def read_adversarial(cache: Cache, *, dataset: str | None = None) -> pl.DataFrame:
    """Read the labels of all responses under the adversarial condition; no judge model is needed."""
    rows = []
    for record in cache.records():
        if record.kind != "elicit" or record.condition != "adversarial" or not record.extra:
            continue
        if dataset is not None and record.dataset != dataset:
            continue
        shown = _shown(record.extra, record.key)
        shown = dict(sorted(shown.items(), key=lambda item: (len(item[0]), item[0])))
        key = {k: getattr(record, k) for k in schema("responses").key} | {
            "model": record.label or record.model
        }
        usable = record.status == "ok"
        labels = read_labels(record.text if usable else None, list(shown))
        for node, name in shown.items():
            value, status = labels[node]
            row: dict[str, Any] = {"node_id": name, "planted": name == "false", "valid": value}
            rows.append(key | row | {"status": status if usable else "no_response"})
    return schema("adversarial").frame(rows)


def _shown(extra: str, key: str) -> dict[str, str]:
    """Return the node behind each id that a call showed; the false one is called `false`."""
    found = json_value(extra, f"call {key}: extra")
    ids, false = (found.get("ids"), found.get("false_node")) if isinstance(found, dict) else (None, None)
    if not isinstance(ids, dict) or not all(isinstance(x, str) for x in [*ids.values(), false]):
        raise SchemaError(f"call {key}: extra", got=extra[:80], allowed="ids (id by node) and false_node")
    return {v: k for k, v in ids.items()} | {str(false): "false"}
