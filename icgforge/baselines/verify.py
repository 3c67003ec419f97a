"""Check a constraint that the prompt gives against what a baseline can see."""

from __future__ import annotations

import re
from dataclasses import dataclass

from icgforge.baselines.baselines import candidates, sees, sight_of
from icgforge.baselines.findings import Finding
from icgforge.baselines.lexicon import quoted, tokens
from icgforge.baselines.numbers import amounts, relations
from icgforge.baselines.priors import guesses
from icgforge.baselines.seeing import Sight, likeness, squeeze
from icgforge.baselines.task import Edit, Task

# Evidence that suffices when a node is given and only has to be confirmed.
CONFIRM = 0.28
_VISUAL = ("physical_", "spatial_", "style_", "xmod_scene", "semantic_visual_data")


@dataclass(frozen=True)
class Check:
    """Outcome for one node: whether it is borne out, by what, and what is seen there."""

    holds: bool
    why: str
    score: float


def overlap(a: str, b: str) -> float:
    """Return how much of the weight of text `a` is found in text `b`, 0 to 1."""
    want = tokens(a)
    total = sum(t.weight for t in want)
    if not total:
        return 0.0
    have = tokens(b)
    stems, concepts = {t.stem for t in have}, {t.concept for t in have if t.concept}
    hit = sum(t.weight if t.stem in stems else 0.6 * t.weight if t.concept in concepts else 0 for t in want)
    return hit / total


def kind_of(node: dict[str, str], reason: str = "") -> str:
    """Return the subtype that a node states, or the one that its words point to."""
    stated = (node.get("constraint_type") or node.get("subtype") or "").strip()
    return (
        stated
        if "_" in stated
        else guess_subtype(
            " ".join([stated, node.get("expected_update", ""), reason or node.get("reason", "")])
        )
    )


def guess_subtype(text: str) -> str:
    """Guess the subtype from words, by their overlap with the taxonomy's own descriptions.

    Examples
    --------
    >>> guess_subtype("another value is computed from the edited one")
    'semantic_numerical'
    """
    from icgforge.baselines.priors import GUESS
    from icgkit.taxonomy import SUBTYPES

    def score(name: str) -> float:
        sub = SUBTYPES[name]
        return overlap(text, f"{sub.label} {sub.definition} {sub.question} {' '.join(GUESS[name])}")

    return max(SUBTYPES, key=lambda n: (score(n), -SUBTYPES[n].order))


def check_node(model: str, task: Task, node: dict[str, str]) -> Check:
    """Check one given node with the means of the baseline."""
    kind = kind_of(node)
    found = candidates(model, task.edit, task.image)
    own = [f for f in found if f.subtype == kind]
    reads, watches = sees(model)
    text = " ".join(node.get(k, "") for k in ("region", "expected_update", "reason"))
    if not reads:
        return _unseen(model, task.edit, kind, own, text)
    sight = sight_of(model, task.image)
    if sight is None:
        return Check(False, "there is no picture to look at", 0.0)
    said = _read_there(sight, task.edit, text)
    wrong = _wrong_number(sight, task.edit, node)
    if wrong:
        return Check(False, wrong, 0.0)
    prior = max((f.score for f in guesses(task.edit, spread=True) if f.subtype == kind), default=0.0)
    best = max((f.score * (0.55 + 0.45 * _same_place(f, node, sight)) for f in own), default=0.0)
    best = max(best, 0.9 * prior)
    score = best
    if said:
        # A text that is there bears a node out if the node says what becomes of it, or if the
        # model itself finds that kind of tie at it; that it is there is not enough by itself.
        told = any(
            squeeze(q) in squeeze(said) or squeeze(said) in squeeze(q) for q in _details(node) if squeeze(q)
        )
        own_there = any(f.shown and squeeze(f.shown) == squeeze(said) for f in own)
        score = 0.8 if told or own_there else best if prior < 0.5 else max(best, 0.4)
        if not (told or own_there) and prior < 0.5:
            score = 0.5 * best
    elif kind.startswith(_VISUAL) and not watches:
        # It cannot look at anything but text, so only what is usual is taken over.
        score = 0.75 * prior
    why = f'the picture shows "{said}" there' if said else _because(own)
    return Check(score >= CONFIRM, why, score)


def _details(node: dict[str, str]) -> list[str]:
    return quoted(node.get("expected_update", "")) + quoted(node.get("reason", ""))


def _unseen(model: str, edit: Edit, kind: str, own: list[Finding], text: str) -> Check:
    score = max((f.score for f in own), default=0.0)
    if model == "instruction-only":
        # Only what the instruction itself bears out: the new wording, or a change of length or time.
        told = any(squeeze(v) and squeeze(v) in squeeze(edit.new + edit.old) for v in quoted(text))
        return Check(
            score >= 0.5 or (told and score >= 0.4), "the wording of the request bears it out", score
        )
    return Check(score >= 0.45, "this is usual for such an edit", score)


def _because(own: list[Finding]) -> str:
    return f"it fits what can be seen: {own[0].reason}" if own else "nothing speaks for it"


def _read_there(sight: Sight, edit: Edit, text: str) -> str:
    """Return a text quoted in the node, other than the edited one, that the picture shows."""
    old, new = squeeze(edit.old), squeeze(edit.new)
    for said in quoted(text):
        key = squeeze(said)
        if len(key) < 2 or key in (old, new):
            continue
        for line in sight.lines:
            if likeness(key, line.key) >= 0.82:
                return line.text
    return ""


def _wrong_number(sight: Sight, edit: Edit, node: dict[str, str]) -> str:
    """Compute a numerical update anew and say where the node's value is another one."""
    if "numerical" not in (node.get("constraint_type") or "numerical"):
        return ""
    update = node.get("expected_update", "")
    named = {t.stem.strip("%") for t in tokens(update) if t.stem[:1].isdigit()}
    for rel in relations(edit.old, edit.new, amounts(sight.lines, None)):
        becomes = re.sub(r"[^\d.]", "", rel.becomes)
        shown = re.sub(r"[^\d.]", "", rel.result.written)
        if shown in named and len(named) > 1 and becomes not in named and rel.score > 0.9:
            return f"worked out again, {rel.how} gives {rel.becomes}, which is not what the node says"
    return ""


def _same_place(finding: Finding, node: dict[str, str], sight: Sight) -> float:
    region = node.get("region", "")
    words = overlap(region, f"{finding.region} {finding.shown}")
    if finding.box is None:
        return words
    here = set(sight.place(finding.box).split())
    there = {w for w in ("upper", "lower", "left", "right") if re.search(rf"\b{w}\b", region)}
    there |= {"upper"} if re.search(r"\btop\b", region) else set()
    there |= {"lower"} if re.search(r"\bbottom\b", region) else set()
    clash = bool(there) and not (there & here)
    return max(words, 0.0 if clash else 0.5 if there & here else 0.3)
