"""Leakage probe: how much of a constraint can be guessed from its reason alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icgkit.calls.cache import Cache
from icgkit.calls.engine import complete_many
from icgkit.calls.limits import Limits
from icgkit.calls.models import Model
from icgkit.calls.request import Request
from icgkit.cases.case import Case, Constraint
from icgkit.cases.dataset import Dataset
from icgkit.judge.nodes import as_model, judge_name
from icgkit.prompts.conditions import Condition, build_messages, judge_prompts
from icgkit.prompts.replies import read_json
from icgkit.schemas import schema
from icgkit.taxonomy import SUBTYPES

if TYPE_CHECKING:
    import polars as pl

FORMS = ("anon", "orig")
_MATCHES = ("match", "partial", "none")


def guess_requests(
    dataset: Dataset,
    model: Model,
    *,
    forms: Sequence[str] = FORMS,
    templates: str | Path | None = None,
) -> Iterator[tuple[tuple[Case, Constraint, str], Request]]:
    """Yield the first call of the probe about each reason, with its case, node and form."""
    template = judge_prompts(templates)["leakage"]
    for case in dataset:
        for node in case.constraint_nodes:
            for form in forms:
                if text := node.reason_anon if form == "anon" else node.reason:
                    yield (
                        (case, node, form),
                        _request(case, node, model, template, {"reason": text}, form=form),
                    )


def probe_leakage(
    dataset: Dataset,
    model: str | Model,
    *,
    cache: Cache,
    judge: str | Model | None = None,
    forms: Sequence[str] = FORMS,
    templates: str | Path | None = None,
    params: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    progress: bool = True,
) -> pl.DataFrame:
    """Let a model guess subtype and region from reasons alone, and compare its guesses.

    Parameters
    ----------
    dataset : Dataset
        Nodes without an anonymised reason are left out of form `anon`.
    model : str or Model
        Who guesses.
    cache : Cache
        Where the calls are recorded, or replayed from.
    judge : str, optional
        Who compares the guessed region with the true one in a second call; the guesser by default.
    forms : sequence of str
        `anon`: the anonymised reason; `orig`: the reason as annotated, a ceiling.

    Returns
    -------
    polars.DataFrame
        Schema `leakage`. A guess that cannot be read, or names no subtype, is null.
    """
    known = judge_prompts(templates)
    guesser = as_model(model, params)
    comparer = guesser if judge is None else as_model(judge, params)
    asking = list(guess_requests(dataset, guesser, forms=forms, templates=templates))
    jobs = [job for job, _ in asking]
    guesses = complete_many([request for _, request in asking], cache=cache, limits=limits, progress=progress)
    read = [_object(r.text if r.status == "ok" else None, "subtype", "region") for r in guesses]
    asked = [
        k for k, guess in enumerate(read) if isinstance(guess.get("region"), str) and guess["region"].strip()
    ]
    compared = complete_many(
        [
            _request(
                jobs[k][0], jobs[k][1], comparer, known["leakage_region"],
                {"region": jobs[k][1].region, "guess": " ".join(read[k]["region"].split())[:300]},
                form=jobs[k][2], subject=guesses[k].key,
            )
            for k in asked
        ],
        cache=cache,
        limits=limits,
        progress=False,
    )  # fmt: skip
    match = {k: _match(r.text if r.status == "ok" else None) for k, r in zip(asked, compared, strict=True)}
    rows = []
    for k, (case, node, form) in enumerate(jobs):
        guess = str(read[k].get("subtype", "")).strip()
        usable = guess if guess in SUBTYPES else None
        rows.append(
            {
                "dataset": case.dataset,
                "case_id": case.id,
                "node_id": node.id,
                "model": judge_name(guesser, "leakage", templates),
                "form": form,
                "category": node.category.id,
                "subtype": node.subtype,
                "subtype_guess": usable,
                "subtype_exact": usable == node.subtype if usable else None,
                "region_match": match.get(k),
            }
        )
    return schema("leakage").frame(rows)


def _object(text: str | None, *keys: str) -> dict[str, Any]:
    value = read_json(text, "object", keys).value
    return value if isinstance(value, dict) else {}


def _match(text: str | None) -> str | None:
    word = str(_object(text, "agreement").get("agreement", "")).strip().lower()
    return word if word in _MATCHES else None


def _request(
    case: Case,
    node: Constraint,
    model: Model,
    template: Condition,
    inputs: dict[str, Any],
    **tags: Any,
) -> Request:
    messages = build_messages(case, template, inputs=inputs, system=model.system)
    base = {
        "kind": "judge",
        "dataset": case.dataset,
        "case_id": case.id,
        "stage": template.id,
        "template_sha256": template.sha256,
        "node_id": node.id,
        "label": model.label or None,
    }
    return Request(model.name, messages, model.under("leakage"), 0, base | tags)
