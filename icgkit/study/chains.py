"""Conditions that take several calls: each step is a request that follows from the last record.

A step that fails, or whose reply cannot be read, ends its chain: the response is missing.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icgkit.calls.record import Record
from icgkit.calls.request import Request
from icgkit.cases.case import Case
from icgkit.errors import UnknownName
from icgkit.prompts.conditions import Condition, bullet_list
from icgkit.prompts.proposals import read_proposals
from icgkit.prompts.replies import read_json, strip_thinking

if TYPE_CHECKING:
    from icgkit.calls.models import Model
    from icgkit.study.plan import Plan


@dataclass(frozen=True)
class Chain:
    """A condition of several calls: what builds the first, and how many there are if none fails."""

    first: Callable[[Plan, Case, Condition, Model, int], Request]
    steps: int


MAX_CANDIDATES = 10
WIDE = 20
"""Candidates of a wide discovery that are checked."""
CHECKS = ("locatable", "dependent", "needed")
GATE = ("visible", "dependent", "forced", "concrete")
"""What a candidate has to be to pass the gate."""


def first_call(plan: Plan, case: Case, condition: Condition, model: Model, sample: int) -> Request:
    """Return the first request of a response; its `then` leads to the others."""
    if condition.stage == "single":
        return plan.ask(case, condition, model, sample)
    if condition.id not in CHAINS:
        raise UnknownName.among("chain for the multi-step condition", condition.id, CHAINS)
    return CHAINS[condition.id].first(plan, case, condition, model, sample)


def steps_of(condition: Condition) -> int:
    """Return how many calls a response under a condition takes, 1 but for a chain."""
    chain = CHAINS.get(condition.id)
    return chain.steps if chain is not None else 1


def _ok(record: Record) -> str | None:
    """Return what a reply says, without its thoughts; None if that is nothing."""
    spoken = strip_thinking(record.text or "") if record.status == "ok" else ""
    return spoken if spoken.strip() else None


def ocr_assisted(plan: Plan, case: Case, condition: Condition, model: Model, sample: int) -> Request:
    """Transcript of all text, then the Direct prompt with it."""

    def then(record: Record) -> Iterable[Request]:
        if text := _ok(record):
            yield plan.ask(
                case, condition, model, sample, inputs={"transcript": text.strip()}, subject=record.key
            )

    return plan.stage("ocr_transcript", case, condition, model, sample, then)


def adversarial(plan: Plan, case: Case, condition: Condition, model: Model, sample: int) -> Request:
    """A false node from a generator, mixed in among the true ones."""

    def then(record: Record) -> Iterable[Request]:
        node = read_false_node(_ok(record))
        if node is not None:
            mixed = mix(case, node, plan.seed)
            yield plan.ask(
                case,
                condition,
                model,
                sample,
                inputs={"mixed_graph_json": mixed["json"]},
                subject=record.key,
                false_node=mixed["false_node"],
                ids=mixed["ids"],
            )

    return plan.stage("adversarial_node", case, condition, model, sample, then)


def read_false_node(text: str | None) -> dict[str, str] | None:
    """Read the generator's reply; None if it is no object with the fields of a node."""
    fields = ("region", "constraint_type", "expected_update", "reason")
    value = read_json(text, "object", fields).value
    if not isinstance(value, dict) or not all(
        isinstance(value.get(f), str) and value[f].strip() for f in fields
    ):
        return None
    return {f: value[f].strip() for f in fields}


def mix(case: Case, node: dict[str, str], seed: int = 42) -> dict[str, Any]:
    """Mix a false node into a case's graph at a seeded place and number all nodes anew."""
    graph = json.loads(case.oracle_json())
    true_ids = [n["id"] for n in graph["constraint_nodes"]]
    place = random.Random(f"{seed}:{case.dataset}:{case.id}").randint(0, len(true_ids))
    false = {"id": "", **node, "strength": "strong"}
    nodes = [*graph["constraint_nodes"][:place], false, *graph["constraint_nodes"][place:]]
    order = list(graph["constraint_nodes"][0]) if true_ids else list(false)
    ids: dict[str, str] = {}
    shown = []
    for number, entry in enumerate(nodes, 1):
        if entry is not false:
            ids[entry["id"]] = f"n{number}"
        shown.append({k: (f"n{number}" if k == "id" else entry[k]) for k in order})
    graph["constraint_nodes"] = shown
    for edge in graph["inter_constraints"]:
        edge["between"] = [ids[i] for i in edge["between"]]
    return {
        "json": json.dumps(graph, ensure_ascii=False, indent=2),
        "false_node": f"n{place + 1}",
        "ids": ids,
    }


def plan_nl_self(plan: Plan, case: Case, condition: Condition, model: Model, sample: int) -> Request:
    """The model's own NL-Self answer, then a plan with it."""

    def then(record: Record) -> Iterable[Request]:
        if text := _ok(record):
            yield plan.ask(
                case, condition, model, sample, inputs={"constraints": text.strip()}, subject=record.key
            )

    return plan.ask(case, plan.known["nl_self"], model, sample, then=then)


def discover_verify(plan: Plan, case: Case, condition: Condition, model: Model, sample: int) -> Request:
    """NL-Self, at most ten candidates from it, each checked on the image, a plan from the rest."""

    def verify(record: Record) -> Iterable[Request]:
        candidates = candidates_in(_ok(record))
        if candidates:

            def then(checked: Record) -> Iterable[Request]:
                kept = kept_candidates(candidates, _ok(checked))
                if kept is not None:
                    listed = bullet_list(kept) or "(none was confirmed)"
                    yield plan.ask(
                        case,
                        condition,
                        model,
                        sample,
                        inputs={"constraints": listed},
                        subject=checked.key,
                        candidates=len(candidates),
                        kept=len(kept),
                    )

            yield plan.stage("verify", case, condition, model, sample, then, {"candidates": candidates})

    return plan.ask(case, plan.known["nl_self"], model, sample, then=verify)


def gated(plan: Plan, case: Case, condition: Condition, model: Model, sample: int) -> Request:
    """Wide discovery (or the model's NL-Self answer), four questions about each candidate, what passes set out in prose."""

    def gate(record: Record) -> Iterable[Request]:
        candidates = candidates_in(_ok(record), WIDE)

        def then(checked: Record) -> Iterable[Request]:
            kept = kept_candidates(candidates, _ok(checked), GATE)
            if kept is not None:
                yield plan.ask(
                    case,
                    condition,
                    model,
                    sample,
                    inputs={"constraints": bullet_list(kept) or "(none was confirmed)"},
                    subject=checked.key,
                    candidates=len(candidates),
                    kept=len(kept),
                )

        if candidates:
            yield plan.stage("gate", case, condition, model, sample, then, {"candidates": candidates})

    if condition.id == "gated_nl_self":
        return plan.ask(case, plan.known["nl_self"], model, sample, then=gate)
    return plan.stage("discover", case, condition, model, sample, gate)


def candidates_in(text: str | None, most: int = MAX_CANDIDATES) -> list[str]:
    """Return at most so many candidate constraints that a free-text answer proposes."""
    found = []
    for item in read_proposals(text).items:
        parts = [item.get("region"), item.get("update"), item.get("reason")]
        line = "; ".join(str(p).strip() for p in parts if p)
        if line:
            found.append(line)
    return found[:most]


def kept_candidates(
    candidates: list[str], text: str | None, checks: Sequence[str] = CHECKS
) -> list[str] | None:
    """Return the candidates that pass all checks; None if the reply cannot be read or contradicts itself."""
    value = read_json(text, "list").value
    if not isinstance(value, list):
        return None
    checked: dict[int, bool] = {}
    for row in value:
        number = row.get("item") if isinstance(row, dict) else None
        if isinstance(number, int) and not isinstance(number, bool):
            passes = all(row.get(c) is True for c in checks)
            if checked.setdefault(number, passes) != passes:
                return None
    return [c for number, c in enumerate(candidates, 1) if checked.get(number)]


CHAINS: dict[str, Chain] = {
    "adversarial": Chain(adversarial, 2),
    "ocr_assisted": Chain(ocr_assisted, 2),
    "plan_nl_self": Chain(plan_nl_self, 2),
    "discover_verify": Chain(discover_verify, 3),
    "gated": Chain(gated, 3),
    "gated_nl_self": Chain(gated, 3),
}
"""The multi-step conditions."""
