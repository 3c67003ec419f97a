"""From an edit to its graph: a document is rendered before and after, and what differs are the nodes.

Nothing is written by hand: an element that looks otherwise afterwards is a node, its subtype is that of the derivation
behind it, and an edit after which any other pixel differs is rejected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from icgforge.page import Browser, Document, Element, Shot, html_of, plain
from icgforge.worlds import Values, World, kinds

MOVED = 16
"""Pixels from which a shift is a node of its own; less is prevented, or the case is rejected."""
SLOT = 24
"""Difference of widths, in pixels, up to which a changed text keeps the wider of its two widths."""
MARGIN = 3
"""Pixels around the boxes within which pixels may differ."""
LARGEST = 0.35
"""Share of the picture from which a node would make the test of pixels empty."""
CONTRAST = 3.0
"""Least contrast of a node's letters against their ground (WCAG's ratio)."""
SMALLEST = 30
"""Square pixels of ink below which nobody sees a node."""
Box = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Edit:
    """A document with drawn facts, the surface that is edited, and the new value of the fact behind it."""

    document: Document
    facts: Mapping[str, Any]
    on: str
    fact: str
    new: Any
    place: str = ""

    def values(self) -> tuple[Values, Values]:
        """Return all values before and after."""
        world = self.document.of
        return world.values(self.facts), world.values({**self.facts, self.fact: self.new})


@dataclass(slots=True)
class Node:
    """An element that looks otherwise after the edit."""

    key: str
    fact: str
    kind: str
    change: tuple[str, ...]
    was: str | None
    now: str | None
    before: Box | None
    after: Box | None
    also: tuple[str, ...] = ()
    shift: tuple[int, int] | None = None
    value: Any = None
    keys: tuple[str, ...] = ()
    mirrors: str = ""
    """Key of the element that this is a reflection or shadow of, and the words for where it is seen."""
    seen_in: str = ""
    flipped: str = ""
    """Which way its letters are turned over: horizontal, vertical, both or not at all."""


@dataclass
class Derived:
    """What an edit does: pictures before and after, the target's boxes, nodes, and why the case is rejected, if it is."""

    edit: Edit
    before: np.ndarray
    after: np.ndarray
    target: Node
    nodes: list[Node]
    rejected: list[str]
    slots: dict[str, float] = field(default_factory=dict)
    texts: tuple[str, ...] = ()
    """Every run of text of the picture before."""
    said: dict[str, str] = field(default_factory=dict)
    """The text of each element before, by key."""
    looks: dict[str, tuple[dict[str, str], dict[str, str]]] = field(default_factory=dict)
    """Computed style before and after, by key."""


def derive(browser: Browser, edit: Edit, frozen: Mapping[str, Any] | None = None) -> Derived:
    """Render both states and return what differs; `frozen` values do not follow (for a twin)."""
    doc, world = edit.document, edit.document.of
    states = (
        world.values(edit.facts),
        world.values({**edit.facts, edit.fact: edit.new}, frozen),
    )
    rejected = [f"invariant: {what}" for v in states for what in world.broken(v)]
    slots: dict[str, float] = {}
    shots = [browser.render(doc, v) for v in states]
    changes = _changes(shots[0].elements, shots[1].elements)
    if any(ch == {"place"} and max(map(abs, shift)) < MOVED for ch, shift in changes.values()):
        slots = _slots(shots, changes)
        shots = [browser.render(doc, v, slots) for v in states]
        changes = _changes(shots[0].elements, shots[1].elements)
    rejected += sorted({f"typesetting: {fault}" for shot in shots for fault in shot.faults})
    target_key = f"{edit.on}#1"
    nodes, target, wrong = _nodes(edit, world, shots, changes, target_key, states)
    rejected += wrong
    if target is None:
        empty = Node(target_key, edit.fact, "target", (), None, None, None, None)
        return Derived(
            edit,
            shots[0].pixels,
            shots[1].pixels,
            empty,
            nodes,
            [*rejected, "the edited text does not change"],
        )
    done = Derived(edit, shots[0].pixels, shots[1].pixels, target, nodes, rejected, slots)
    done.said = {k: e["text"] for k, e in shots[0].elements.items()}
    done.texts = tuple(e["text"] for e in shots[0].elements.values() if e["text"])
    done.looks = {
        k: (e["style"], shots[1].elements[k]["style"])
        for k, e in shots[0].elements.items()
        if k in shots[1].elements
    }
    if not rejected:
        _ink(browser, done, states)
        rejected += check(done)
    return done


def _changes(
    a: Mapping[str, Element], b: Mapping[str, Element]
) -> dict[str, tuple[set[str], tuple[float, float]]]:
    out = {}
    for key in sorted(set(a) | set(b)):
        old, new, change, shift = a.get(key), b.get(key), set(), (0.0, 0.0)
        if old is None:
            change.add("appears")
        elif new is None:
            change.add("vanishes")
        else:
            if old["text"] != new["text"] or old["drawn"] != new["drawn"]:
                change.add("content")
            change |= {f"look: {s}" for s in old["style"] if old["style"][s] != new["style"].get(s)}
            d = [q - p for p, q in zip(old["box"], new["box"], strict=True)]
            shift = (min(d[0], d[2], (d[0] + d[2]) / 2, key=abs), min(d[1], d[3], key=abs))
            if max(map(abs, shift)) > 0.01:
                change.add("place")
        if change:
            out[key] = (change, shift)
    return out


def _slots(shots: list[Shot], changes: Mapping[str, tuple[set[str], Any]]) -> dict[str, float]:
    found = {}
    for key, (change, _) in changes.items():
        a, b = (shot.elements.get(key) for shot in shots)
        if "content" in change and a and b and a["fact"] and not a["drawn"] and a["lines"] == b["lines"] == 1:
            widths = [e["box"][2] - e["box"][0] for e in (a, b)]
            if abs(widths[0] - widths[1]) < SLOT:
                found[key] = float(np.ceil(max(widths)))
    return found


def _nodes(
    edit: Edit,
    world: World,
    shots: list[Shot],
    changes: Mapping[str, Any],
    target_key: str,
    states: tuple[Values, Values],
) -> tuple[list[Node], Node | None, list[str]]:
    nodes: list[Node] = []
    wrong: list[str] = []
    target = None
    moved: dict[tuple[int, int], list[str]] = {}
    for key, (change, shift) in changes.items():
        a, b = (shot.elements.get(key) for shot in shots)
        seen = a or b
        assert seen is not None
        if change == {"place"}:
            if max(map(abs, shift)) < MOVED:
                wrong.append(f"moves a little: {key} by {shift[0]:.1f}, {shift[1]:.1f} px")
            else:
                moved.setdefault((round(shift[0]), round(shift[1])), []).append(key)
            continue
        if (a and a["clipped"]) or (b and b["clipped"]):
            wrong.append(f"clipped: {key}")
        fact = seen["fact"]
        if fact is None:
            wrong.append(f"a fixed text changes: {key}: {', '.join(sorted(change))}")
            continue
        own = bool(seen["drawn"]) or any(c in ("look: bg", "look: image", "look: border") for c in change)
        boxes = [_box(e["own"] if own else e["box"]) if e else None for e in (a, b)]
        name = fact.split(":")[0]
        second = name in (edit.fact, edit.on.split(":")[0])
        kind = "copy" if second or name not in world.derivations else world.derivations[name].kind
        also = []
        if "content" in change and any(c in ("look: color", "look: bg", "look: border") for c in change):
            also = ["style_color"]
        if not ({"content", "appears", "vanishes"} & change) and kinds()[kind].subtype not in (
            "style_color",
            "style_font",
            "semantic_visual_data",
        ):
            also = ["style_color"] if any("color" in c or "bg" in c for c in change) else []
        node = Node(
            key, name, kind, tuple(sorted(change)), _said(a), _said(b), boxes[0], boxes[1],
            tuple(x for x in also if x != kinds()[kind].subtype), value=(plain(states[0].get(name)), plain(states[1].get(name))), keys=(key,), flipped=seen["flip"],
        )  # fmt: skip
        if key == target_key:
            target = node
        else:
            nodes.append(node)
    for shift, keys in moved.items():
        a_boxes = [_box(shots[0].elements[k]["box"]) for k in keys]
        b_boxes = [_box(shots[1].elements[k]["box"]) for k in keys]
        first = shots[0].elements[keys[0]]["text"]
        nodes.append(
            Node(
                keys[0],
                edit.fact,
                "reflow",
                ("place",),
                first,
                first,
                _union(a_boxes),
                _union(b_boxes),
                (),
                shift,
                keys=tuple(keys),
            )
        )
    return nodes, target, wrong


def _said(e: Element | None) -> str | None:
    return (e["text"] or None) if e else None


def _box(q: Iterable[float]) -> Box:
    x0, y0, x1, y1 = q
    return int(np.floor(x0)), int(np.floor(y0)), int(np.ceil(x1)), int(np.ceil(y1))


def _union(boxes: list[Box]) -> Box:
    return (
        min(b[0] for b in boxes),
        min(b[1] for b in boxes),
        max(b[2] for b in boxes),
        max(b[3] for b in boxes),
    )


def box_of(mask: np.ndarray) -> Box | None:
    """Return the box around the pixels of a mask, None if there are none."""
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    if not rows.size:
        return None
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def _ink(browser: Browser, made: Derived, states: tuple[Values, Values]) -> None:
    """Narrow the boxes of texts to the letters themselves, and look whether they can be read."""
    doc = made.edit.document
    for node in [made.target, *made.nodes]:
        if node.kind == "reflow" or any(
            c in ("look: bg", "look: image", "look: border") for c in node.change
        ):
            continue
        for which, values, whole in (("before", states[0], made.before), ("after", states[1], made.after)):
            if getattr(node, which) is None:
                continue
            bare = browser.without(doc, values, made.slots, node.key)
            mask = np.abs(whole.astype(np.int16) - bare).max(2) > 8
            found = box_of(mask)
            if found is None or mask.sum() < SMALLEST:
                made.rejected.append(f"cannot be seen: {node.key} {which}")
                continue
            setattr(node, which, found)
            ratio = contrast(whole[mask], bare[mask])
            if ratio < CONTRAST and node is not made.target:
                made.rejected.append(f"pale: {node.key} {which}, contrast {ratio:.1f}")


def contrast(ink: np.ndarray, ground: np.ndarray) -> float:
    """Return WCAG's contrast ratio of the strongest tenth of the ink against what lies behind it.

    Examples
    --------
    >>> contrast(np.zeros((10, 3), np.uint8), np.full((10, 3), 255, np.uint8))
    21.0
    """
    far = np.abs(ink.astype(np.int16) - ground).sum(1)
    strong = far >= np.quantile(far, 0.9)
    levels = [float(np.median(_luminance(x[strong]))) for x in (ink, ground)]
    return (max(levels) + 0.05) / (min(levels) + 0.05)


def _luminance(rgb: np.ndarray) -> np.ndarray:
    c = rgb / 255.0
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    found: np.ndarray = linear @ np.array([0.2126, 0.7152, 0.0722])
    return found


def check(made: Derived) -> list[str]:
    """Return what a case breaks: pixels that differ outside its boxes, nodes that do not change or are too large."""
    out = []
    height, width = made.before.shape[:2]
    differs = (made.before != made.after).any(2)
    covered = np.zeros_like(differs)
    for node in [made.target, *made.nodes]:
        boxes = [b for b in (node.before, node.after) if b]
        for x0, y0, x1, y1 in boxes:
            covered[max(0, y0 - MARGIN) : y1 + MARGIN, max(0, x0 - MARGIN) : x1 + MARGIN] = True
            if (x1 - x0) * (y1 - y0) > LARGEST * width * height:
                out.append(f"too large: {node.key}")
        if not any(differs[y0:y1, x0:x1].any() for x0, y0, x1, y1 in boxes):
            out.append(f"does not change: {node.key}")
    left = differs & ~covered
    if left.any():
        out.append(f"{int(left.sum())} pixels differ outside the boxes, in {box_of(left)}")
    return out


def twin_of(edit: Edit, made: Derived) -> tuple[Edit, dict[str, Any], set[str]] | None:
    """Return the edit in a world where one tie is cut in words that its document shows, what is frozen, and the nodes that are free there.

    Only the nodes of the cut value itself are free. What follows from it is worked out from its frozen value; whether a
    reader would still expect it to change is left open (`undetermined` in the twin's metadata).
    """
    world = edit.document.of
    seen = html_of(edit.document, world.values(edit.facts))
    best: tuple[Edit, dict[str, Any], set[str]] | None = None
    for name, facts in world.cuts.items():
        base = {**edit.facts, **facts}
        values = world.values(base)
        gone = {node.key for node in made.nodes if node.fact == name}
        if gone and (best is None or len(gone) > len(best[2])) and html_of(edit.document, values) != seen:
            best = (
                Edit(edit.document, base, edit.on, edit.fact, edit.new, edit.place),
                {name: values[name]},
                gone,
            )
    return best
