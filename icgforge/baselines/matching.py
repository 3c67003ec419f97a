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

from icgforge.baselines.lexicon import CONCEPT, Token, fold, stem, tokens
from icgkit.prompts.proposals import read_proposals, split_items
from icgkit.prompts.replies import strip_thinking


@dataclass(frozen=True)
class Bar:
    """How much a judge asks for; calibrated on hand labels (tests/data/judge_hand_labels.csv)."""

    region: float
    update: float
    reason: float
    value: bool
    """Whether a concrete new value has to be named where the node has one."""


LENIENT = Bar(region=0.34, update=0.12, reason=0.32, value=False)
STRICT = Bar(region=0.44, update=0.3, reason=0.38, value=True)

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
    r"""Cut a response into the pieces that may each state a constraint.

    Examples
    --------
    >>> items_of("n1: the lid has to change because of the name\nn2: the box stays as it is here")
    ('n1: the lid has to change because of the name', 'n2: the box stays as it is here')
    """
    body = strip_thinking(response)
    found = read_proposals(body)
    if found.form != "text" and found.items:
        return tuple(". ".join(v for k, v in row.items() if v and k != "type") for row in found.items)
    pieces: list[str] = []
    for item in split_items(body):
        # Lines that begin with an id or a number of their own state a constraint each.
        for part in re.split(
            r"\n(?=\W{0,4}(?:[A-Za-z]{0,12}[ _-]?\d{1,3}|Relation\b[^:\n]{0,40}|Missing)\W{0,3}[:.)\u2013-])",
            item,
        ):
            lines = [line.strip() for line in part.split("\n") if line.strip()]
            pieces += lines if len(lines) > 1 and min(map(len, lines)) > 60 else [" ".join(lines)]
    return tuple(p for p in pieces if len(p) > 12)[:120]


class Scale:
    """Weights of words within one case."""

    def __init__(self, nodes: Sequence[Mapping[str, str]], instruction: str) -> None:
        self.said = {t.stem for t in tokens(instruction)}
        self.said |= {w.rstrip("%") for w in self.said} | {f"{w}%" for w in self.said if w[:1].isdigit()}
        self.shared: dict[str, int] = {}
        for node in nodes:
            for word in {
                t.stem for k in ("region", "expected_update", "reason") for t in tokens(node.get(k, ""))
            }:
                self.shared[word] = self.shared.get(word, 0) + 1
        self.many = len(nodes)

    def weight(self, token: Token) -> float:
        """Return the weight of a token here."""
        rare = 1.0 / (1.0 + 0.4 * (self.shared.get(token.stem, 1) - 1))
        return token.weight * rare * (0.35 if token.stem in self.said else 1.0)

    def cover(self, field: str, item: str, known: str = "") -> float:
        """Return how much of the weight of a field an item covers, 0 to 1; words of `known` count little."""
        total = got = 0.0
        stems, concepts = _bags(item)
        less = _bags(known)[0] if known else frozenset()
        for token in tokens(field):
            w = self.weight(token) * (0.35 if token.stem in less else 1.0)
            total += w
            if token.stem in stems:
                got += w
            elif token.concept and not token.value and token.concept in concepts:
                got += 0.7 * w
        return got / total if total else 0.0

    def values(self, field: str, item: str) -> tuple[int, int]:
        """Return how many concrete values of a field, other than the instruction's, an item names, and of how many."""
        have = {t.stem for t in tokens(item) if t.value}
        want = {t.stem for t in tokens(field) if t.value and t.stem not in self.said}
        return len(want & have), len(want)

    def singled_out(self, field: str, item: str) -> bool:
        """Say whether an item shares a telling word with a region, and not just its general sense."""
        stems, _ = _bags(item)
        return any(t.stem in stems and t.weight >= 0.9 and t.stem not in self.said for t in tokens(field))

    def contradicts(self, node: Mapping[str, str], item: str) -> bool:
        """Say whether the item works out a number, and another one than the node expects."""
        if not _BECOMES.search(item):
            return False
        want = {t.stem for t in tokens(node.get("expected_update", "")) if t.stem[:1].isdigit()} - self.said
        have = {t.stem for t in tokens(item) if t.stem[:1].isdigit()} - self.said
        known = {t.stem for k in ("region", "reason") for t in tokens(node.get(k, ""))}
        return bool(want & have or want) and bool(want - have) and bool(have - want - known)


_BECOMES = re.compile(r"\b(?:becomes?|turns? into|to read|now reads|must read|is now|->|\u2192)", re.I)
_PLACED = (
    "spatial_repetition", "spatial_symmetry", "style_color", "style_material", "physical_occlusion",
    "semantic_visual_data",
)  # fmt: skip
_SIDES = (("upper", "top", "head"), ("lower", "bottom", "foot"), ("left",), ("right",))
_PHENOMENA = ("physical_reflection", "physical_shadow", "spatial_mirror")


@lru_cache(maxsize=50_000)
def _sides(text: str) -> frozenset[int]:
    words = set(re.findall(r"[a-z]+", text.lower()))
    return frozenset(k for k, names in enumerate(_SIDES) if words & set(names))


def same_side(a: str, b: str) -> bool:
    """Say whether two regions name a common side of the picture and no opposite ones.

    Examples
    --------
    >>> same_side("pill, lower right", "badge at the right"), same_side("top left", "lower left")
    (True, False)
    """
    one, two = _sides(a), _sides(b)
    either = one | two
    return bool(one & two) and not ({0, 1} <= either or {2, 3} <= either)


@lru_cache(maxsize=50_000)
def _phenomenon(text: str) -> frozenset[str]:
    return _bags(text)[1] & {"reflection", "shadow", "mirror", "perspective", "occlusion"}


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
        field, kind = node.get("region", ""), node.get("constraint_type", "")
        region = scale.cover(field, item)
        named, asked = scale.values(f"{field} {node.get('expected_update', '')}", item)
        if asked and named:
            region = max(region, 0.3 + 0.4 * named / asked)
        elif not scale.singled_out(field, item):
            region *= 0.75
        head = item.split(":")[0]
        if kind in _PHENOMENA and speaks_of(kind, head) >= 0.3:
            # The shadow of the text is a place in itself, however it is described.
            region = max(region, 0.36 + 0.3 * region)
        elif kind in _PLACED and speaks_of(kind, head) >= 0.3 and same_side(field, head):
            region = max(region, 0.35 + 0.3 * region)
        elif _phenomenon(head) - _phenomenon(field) and not named:
            region *= 0.55
        if region < 0.12:
            continue
        update = scale.cover(node.get("expected_update", ""), item)
        reason = max(scale.cover(node.get("reason", ""), item, field), 0.9 * speaks_of(kind, item))
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


_SPEAKS = """
physical_reflection: reflection surface water
physical_shadow: shadow outline shape light
physical_perspective: perspective surface face
physical_occlusion: occlusion front visible behind
spatial_mirror: mirror reflection glass reversed
spatial_symmetry: symmetry side halves axis
spatial_repetition: repetition identical copy occurrence
semantic_numerical: calculate total discount less percent
semantic_categorical: category describe attribute
semantic_functional: section legend point heading
semantic_promotional: slogan discount message
semantic_visual_data: chart encode draw angle
style_font: font sibling group
style_color: colour code link
style_layout: length layout width
style_material: material grain ground
xmod_scene: scene contradict background
xmod_temporal: date season weekday time
xmod_cultural: tone clash polite
"""
_KIND_WORDS: dict[str, tuple[str, ...]] = {
    kind.strip(): tuple(w if w in CONCEPT.values() else fold(stem(w)) for w in words.split())
    for kind, _, words in (line.partition(":") for line in _SPEAKS.strip().splitlines())
}
"""What an answer says when it gives the reason that a type of constraint stands for."""


def verdict(evidence: Evidence, bar: Bar) -> dict[str, bool]:
    """Turn evidence into region, update and reason."""
    joint = evidence.region + 0.4 * (evidence.update + evidence.reason)
    region = evidence.region >= bar.region or (evidence.region >= 0.22 and joint >= bar.region + 0.38)
    update = (
        region
        and evidence.due
        and (evidence.update >= bar.update or (not bar.value and evidence.region >= 0.5))
    )
    if evidence.wrong or (bar.value and not evidence.value):
        update = False
    reason = region and not denied(evidence.item) and evidence.reason >= bar.reason
    return {"region": region, "update": update, "reason": reason}
