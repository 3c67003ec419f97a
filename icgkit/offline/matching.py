"""Does a response contain a constraint? Weighted overlap of words, values and concepts.

Words are stemmed; a concept (price and fare, shiny and wet) counts less than the word itself;
numbers and quoted texts count more and only match as they are. Words of the instruction count
little, since every response repeats them, and so do words that all nodes of a case share.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from icgkit.offline.lexicon import Token, tokens
from icgkit.proposals import read_proposals, split_items
from icgkit.replies import strip_thinking


@dataclass(frozen=True)
class Bar:
    """How much a judge asks for; calibrated on hand labels (tests/data/judge_hand_labels.csv)."""

    region: float
    update: float
    reason: float
    value: bool
    """Whether a concrete new value has to be named where the node has one."""


LENIENT = Bar(region=0.34, update=0.12, reason=0.3, value=False)
STRICT = Bar(region=0.5, update=0.36, reason=0.38, value=True)

_DENIED = re.compile(
    r"not confirmed|cannot be confirmed|no (?:change|update)\b|(?:does|do|need|has|have) not (?:need |have )?(?:to )?(?:change|be changed|be updated)|"
    r"need(?:s)? no|stays? (?:as it is|the same|unchanged)|remains? (?:unchanged|as it is|the same)|unaffected|not affected|"
    r"\bINVALID\b|cannot be located|can't be located|not supported|no need to|nothing else (?:in the picture )?has to change|is not needed"
)
_DUE = re.compile(
    r"\b(?:chang|updat|replac|redraw|redrawn|becom|adapt|reword|mov|resiz|must|should|has to|have to|needs? to|needs? an?|"
    r"recolou?r|rebuil|rewrit|adjust|correct|set\b|turn|work out|recalculat|recomput|keep\b|match|follow|show|bring|brought|rename|"
    r"refer|repeat|read|write|shift|wrap|shrink|grow|extend|shorten|lower|raise|drop|swap|edit|fix|align|reflect|revise|alter|modif|->|\u2192)",
    re.I,
)


@dataclass(frozen=True)
class Evidence:
    """The best item of a response for one node, and how well it covers the node's fields."""

    item: str
    region: float
    update: float
    reason: float
    value: bool
    due: bool
    wrong: bool = False
    """The item names another value where the node has a computed one."""


@lru_cache(maxsize=20_000)
def items_of(response: str) -> tuple[str, ...]:
    """Cut a response into the pieces that may each state a constraint.

    Examples
    --------
    >>> items_of("n1: the lid has to change because of the name\\nn2: the box stays as it is here")
    ('n1: the lid has to change because of the name', 'n2: the box stays as it is here')
    """
    body = strip_thinking(response)
    found = read_proposals(body)
    if found.form != "text" and found.items:
        return tuple(". ".join(v for k, v in row.items() if v and k != "type") for row in found.items)
    pieces: list[str] = []
    for item in split_items(body):
        lines = [line for line in item.split("\n") if line.strip()]
        if (len(lines) > 1 and all(re.match(r"\W*[\w.-]{1,12}\W*[:\u2013-]", line) for line in lines)) or (len(lines) > 1 and min(map(len, lines)) > 60):
            pieces += lines
        else:
            pieces.append(" ".join(lines))
    return tuple(p for p in pieces if len(p) > 12)[:120]


class Scale:
    """Weights of words within one case."""

    def __init__(self, nodes: Sequence[Mapping[str, str]], instruction: str) -> None:
        self.said = {t.stem for t in tokens(instruction)}
        self.shared: dict[str, int] = {}
        for node in nodes:
            for word in {t.stem for k in ("region", "expected_update", "reason") for t in tokens(node.get(k, ""))}:
                self.shared[word] = self.shared.get(word, 0) + 1
        self.many = len(nodes)

    def weight(self, token: Token) -> float:
        """Return the weight of a token here."""
        rare = 1.0 / (1.0 + 0.4 * (self.shared.get(token.stem, 1) - 1))
        return token.weight * rare * (0.35 if token.stem in self.said else 1.0)

    def cover(self, field: str, item: str) -> float:
        """Return how much of the weight of a field an item covers, 0 to 1."""
        total = got = 0.0
        stems, concepts = _bags(item)
        for token in tokens(field):
            w = self.weight(token)
            total += w
            if token.stem in stems:
                got += w
            elif token.concept and not token.value and token.concept in concepts:
                got += 0.7 * w
        return got / total if total else 0.0

    def values(self, field: str, item: str) -> tuple[int, int]:
        """Return how many concrete values of a field, other than the instruction's, an item names, and of how many."""
        stems, _ = _bags(item)
        want = {t.stem for t in tokens(field) if t.value and t.stem not in self.said}
        return sum(v in stems for v in want), len(want)


    def contradicts(self, node: Mapping[str, str], item: str) -> bool:
        """Say whether the item works out a number, and another one than the node expects."""
        if not _BECOMES.search(item):
            return False
        want = {t.stem for t in tokens(node.get("expected_update", "")) if t.stem[:1].isdigit()} - self.said
        have = {t.stem for t in tokens(item) if t.stem[:1].isdigit()} - self.said
        known = {t.stem for k in ("region", "reason") for t in tokens(node.get(k, ""))}
        return bool(want & have or want) and bool(want - have) and bool(have - want - known)


_BECOMES = re.compile(r"\b(?:becomes?|turns? into|to read|now reads|must read|is now|->|\u2192)", re.I)
_PHENOMENA = ("physical_reflection", "physical_shadow", "spatial_mirror")


@lru_cache(maxsize=50_000)
def _bags(text: str) -> tuple[frozenset[str], frozenset[str]]:
    found = tokens(text)
    return frozenset(t.stem for t in found), frozenset(t.concept for t in found if t.concept)


@lru_cache(maxsize=50_000)
def denied(item: str) -> bool:
    """Say whether an item denies the need for a change."""
    return _DENIED.search(item) is not None


def gather(node: Mapping[str, str], items: Sequence[str], scale: Scale) -> Evidence:
    """Find the item of a response that speaks of a node, and measure it."""
    best = Evidence("", 0.0, 0.0, 0.0, False, False)
    top = 0.0
    for item in items:
        region = scale.cover(node.get("region", ""), item)
        named, asked = scale.values(f"{node.get('region', '')} {node.get('expected_update', '')}", item)
        if asked and named:
            region = max(region, 0.3 + 0.4 * named / asked)
        if region < 0.12:
            continue
        update = scale.cover(node.get("expected_update", ""), item)
        reason = max(scale.cover(node.get("reason", ""), item), 0.9 * speaks_of(node.get("constraint_type", ""), item))
        kind = node.get("constraint_type", "")
        if kind in _PHENOMENA and speaks_of(kind, item.split(":")[0]) >= 0.3:
            # The shadow of the text is a place in itself, however it is described.
            region = max(region, 0.35 + 0.3 * region)
        total = region + update + reason
        if denied(item):
            total *= 0.3
        if total > top:
            update_field = node.get("expected_update", "")
            new, due_values = scale.values(update_field, item)
            due = not denied(item) and _DUE.search(item) is not None
            wrong = scale.contradicts(node, item)
            top, best = total, Evidence(item, region, update, reason, new > 0 or due_values == 0, due, wrong)
    return best


@lru_cache(maxsize=20_000)
def speaks_of(kind: str, item: str) -> float:
    """Return 0..1: how much an item gives the reason that a type of constraint stands for."""
    want = _KIND_WORDS.get(kind)
    if not want:
        return 0.0
    _, concepts = _bags(item)
    stems, _ = _bags(item)
    hits = sum(w in concepts or w in stems for w in want)
    return min(hits / 3, 0.6)


_KIND_WORDS: dict[str, tuple[str, ...]] = {
    "physical_reflection": ("reflection", "surface", "mirror"),
    "physical_shadow": ("shadow", "outlin", "shap", "light"),
    "physical_perspective": ("perspective", "surface", "fac"),
    "physical_occlusion": ("occlusion", "front", "visible"),
    "spatial_mirror": ("mirror", "reflection", "glas"),
    "spatial_symmetry": ("symmetry", "side", "halv"),
    "spatial_repetition": ("repetition", "identical", "same"),
    "semantic_numerical": ("calculate", "total", "discount", "less", "percent"),
    "semantic_categorical": ("category", "describe", "attribut"),
    "semantic_functional": ("section", "legend", "point", "name"),
    "semantic_promotional": ("slogan", "discount", "message"),
    "semantic_visual_data": ("chart", "encod", "draw", "angl"),
    "style_font": ("font", "sibl", "group"),
    "style_color": ("colour", "cod", "link"),
    "style_layout": ("length", "layout", "width"),
    "style_material": ("material", "letter", "ground"),
    "xmod_scene": ("scene", "contradict", "picture"),
    "xmod_temporal": ("date", "season", "weekday", "tim"),
    "xmod_cultural": ("tone", "clash", "polit"),
}


def verdict(evidence: Evidence, bar: Bar) -> dict[str, bool]:
    """Turn evidence into region, update and reason."""
    region = evidence.region >= bar.region
    update = region and evidence.due and (evidence.update >= bar.update or (not bar.value and evidence.region >= 0.5))
    if evidence.wrong or (bar.value and not evidence.value):
        update = False
    reason = region and not denied(evidence.item) and evidence.reason >= bar.reason
    return {"region": region, "update": update, "reason": reason}
