"""Conditions that take several calls: each step is a request that follows from the last record.

A step that fails, or whose reply cannot be read, ends its chain: the response is missing.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from icgkit.calls.models import Model
from icgkit.calls.record import Record
from icgkit.calls.request import Request
from icgkit.cases.case import Case
from icgkit.cases.images import prepare_ahead
from icgkit.errors import UnknownName
from icgkit.prompts.conditions import Condition, bullet_list
from icgkit.prompts.proposals import read_proposals
from icgkit.prompts.replies import read_json, strip_thinking
from icgkit.study.plan import Plan, Then

MAX_CANDIDATES = 10
NONE = "(none was confirmed)"
"""What stands in place of an empty list."""
WIDE = 20
"""Candidates of a wide discovery that are checked."""
CHECKS = ("locatable", "dependent", "needed")
GATE = ("visible", "dependent", "forced", "concrete")
"""What a candidate has to be to pass the gate."""
_AHEAD = 8
"""Cases whose images are made ready at once."""


@dataclass(frozen=True, slots=True)
class Response:
    """One response that is wanted, and the calls that lead to it."""

    plan: Plan
    case: Case
    condition: Condition
    model: Model
    sample: int

    def ask(self, inputs: dict[str, Any] | None = None, **tags: Any) -> Request:
        """Return the last call, whose answer is the response."""
        return self.plan.ask(self.case, self.condition, self.model, self.sample, inputs=inputs, **tags)

    def step(self, name: str, then: Then, inputs: dict[str, Any] | None = None) -> Request:
        """Return an earlier call: a stage, or the model's own NL-Self answer."""
        if name == "nl_self":
            return self.plan.ask(self.case, self.plan.known[name], self.model, self.sample, then=then)
        return self.plan.stage(name, self.case, self.condition, self.model, self.sample, then, inputs)


@dataclass(frozen=True, slots=True)
class Chain:
    """A condition of several calls: its first, how many there are if none fails, and the stages among them."""

    first: Callable[[Response], Request]
    steps: int
    stages: tuple[str, ...] = ()


def requests(plan: Plan, model: Model) -> Iterator[tuple[Condition, Request]]:
    """Yield the first call of every response of one model with its condition, case by case."""
    for condition in plan.conditions:
        if condition.stage != "single" and condition.id not in CHAINS:
            raise UnknownName.among("chain for the multi-step condition", condition.id, CHAINS)
    for k, case in enumerate(plan.dataset):
        if k % _AHEAD == 0:
            ahead = plan.dataset.cases[k : k + _AHEAD]
            prepare_ahead((c for c in ahead if not plan.has_prompts(c)), plan.max_side)
        for condition in plan.conditions:
            if condition.applies(case):
                single = condition.stage == "single"
                for sample in range(plan.samples):
                    wanted = Response(plan, case, condition, model, sample)
                    yield condition, wanted.ask() if single else CHAINS[condition.id].first(wanted)


def first_calls(plan: Plan) -> Iterator[tuple[Request, int]]:
    """Yield the first call of every response of a plan, with the number of calls that build on it."""
    for model in plan.models:
        for condition, request in requests(plan, model):
            chain = CHAINS.get(condition.id)
            yield request, chain.steps - 1 if chain else 0


def _ok(record: Record) -> str | None:
    """Return what a reply says, without its thoughts; None if that is nothing."""
    spoken = strip_thinking(record.text or "") if record.status == "ok" else ""
    return spoken if spoken.strip() else None


def shown_text(step: str, name: str) -> Callable[[Response], Request]:
    """Chain: the text of a first step is shown in the last prompt, as its input `name`."""

    def first(wanted: Response) -> Request:
        def then(record: Record) -> Iterable[Request]:
            if text := _ok(record):
                yield wanted.ask({name: text.strip()}, subject=record.key)

        return wanted.step(step, then)

    return first


def checked(step: str, check: str, most: int, questions: Sequence[str]) -> Callable[[Response], Request]:
    """Chain: candidates of a first step, questions about each on the image, a last prompt with those that pass."""

    def first(wanted: Response) -> Request:
        def then(record: Record) -> Iterable[Request]:
            candidates = candidates_in(_ok(record), most)

            def last(answer: Record) -> Iterable[Request]:
                kept = kept_candidates(candidates, _ok(answer), questions)
                if kept is not None:
                    listed = {"constraints": bullet_list(kept) or NONE}
                    counts = {"candidates": len(candidates), "kept": len(kept)}
                    yield wanted.ask(listed, subject=answer.key, **counts)

            if candidates:
                yield wanted.step(check, last, {"candidates": candidates})
            elif questions == GATE and _ok(record):  # nothing was proposed, which is an answer
                yield wanted.ask({"constraints": NONE}, subject=record.key, candidates=0, kept=0)

        return wanted.step(step, then)

    return first


def adversarial(wanted: Response) -> Request:
    """Chain: a false node from a generator, mixed in among the true ones."""

    def then(record: Record) -> Iterable[Request]:
        node = read_false_node(_ok(record))
        if node is not None:
            mixed = mix(wanted.case, node, wanted.plan.seed)
            graph = {"mixed_graph_json": mixed.pop("json")}
            yield wanted.ask(graph, subject=record.key, **mixed)

    return wanted.step("adversarial_node", then)


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
    "adversarial": Chain(adversarial, 2, ("adversarial_node",)),
    "ocr_assisted": Chain(shown_text("ocr_transcript", "transcript"), 2, ("ocr_transcript",)),
    "plan_nl_self": Chain(shown_text("nl_self", "constraints"), 2),
    "discover_verify": Chain(checked("nl_self", "verify", MAX_CANDIDATES, CHECKS), 3, ("verify",)),
    "gated": Chain(checked("discover", "gate", WIDE, GATE), 3, ("discover", "gate")),
    "gated_nl_self": Chain(checked("nl_self", "gate", WIDE, GATE), 3, ("gate",)),
}
"""The multi-step conditions."""
