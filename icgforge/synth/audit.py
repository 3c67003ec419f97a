"""Audit of a drawn dataset: recomputed facts, give-aways, near-duplicates, sentence frames.

The classifiers stand in `giveaway`. Nothing here trusts a template: facts are recomputed from the
numbers in a case's metadata with code of its own, charts are measured on the pixels, and `truth`
compares boxes with edits. imagehash is loaded only where it is used (extra "audit").
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from PIL import Image

from icgforge.synth.canvas import mask_box
from icgforge.synth.giveaway import Guess as Guess
from icgforge.synth.giveaway import count_giveaway as count_giveaway
from icgforge.synth.giveaway import image_giveaway as image_giveaway
from icgforge.synth.giveaway import text_giveaway as text_giveaway
from icgkit.cases.case import Case
from icgkit.cases.images import FORMATS

if TYPE_CHECKING:
    import polars as pl

    from icgkit.cases.dataset import Dataset

_WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


class Recomputed(NamedTuple):
    """One fact of one case, before or after the edit.

    Attributes
    ----------
    case_id, node_id, kind, when : str
    ok : bool or None
        None where the kind states nothing that can be computed.
    detail : str
        What was expected and what was found; empty when it is right.
    """

    case_id: str
    node_id: str
    kind: str
    when: str
    ok: bool | None
    detail: str


def _expected(kind: str, x: dict[str, Any]) -> tuple[Any, Any] | None:
    """Return (recomputed, stated) of one fact, None where there is nothing to recompute."""
    num = {k: Decimal(str(v)) for k, v in x.items() if isinstance(v, int | float) and not isinstance(v, bool)}
    if kind == "percent_off":
        return num["list"] - num["list"] * num["percent"] / 100, num["result"]
    if kind == "product":
        return prod((Decimal(str(f)) for f in x["factors"]), start=Decimal(1)), num["result"]
    if kind == "sum":
        return sum((Decimal(str(t)) for t in x["terms"]), Decimal(0)), num["result"]
    if kind == "ratio":
        return num["part"] * 100 / num["whole"], num["percent"]
    if kind == "difference":
        return num["end"] - num["start"], num["result"]
    if kind == "weekday":
        y, m, d = (int(p) for p in str(x["iso"]).split("-"))
        return _zeller(y, m, d), x["weekday"]
    if kind == "season":
        quarter = {12: 0, 1: 0, 2: 0, 3: 1, 4: 1, 5: 1, 6: 2, 7: 2, 8: 2}.get(int(x["month"]), 3)
        return ("winter", "spring", "summer", "autumn")[quarter], x["season"]
    if kind == "same":
        return str(x["source"]).casefold(), str(x["copy"]).casefold()
    return None


def _zeller(y: int, m: int, d: int) -> str:
    """Weekday by Zeller's congruence, so that no calendar library is asked."""
    if m < 3:
        y, m = y - 1, m + 12
    h = (d + 13 * (m + 1) // 5 + y % 100 + y % 100 // 4 + y // 100 // 4 + 5 * (y // 100)) % 7
    name = ("Saturday", "Sunday", *_WEEKDAYS[:5])[h]
    assert name == _WEEKDAYS[date(y + (m > 12), m - 12 if m > 12 else m, d).weekday()]
    return name


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, Decimal) and isinstance(b, Decimal):
        if b == b.to_integral_value():  # stated to whole units
            return a.quantize(Decimal(1), ROUND_HALF_UP) == b or abs(a - b) < Decimal("0.51")
        return abs(a - b) <= Decimal("0.011") * max(Decimal(1), abs(b) / 100)
    return bool(a == b)


def recompute_facts(cases: Iterable[Case], *, measure: bool = True) -> list[Recomputed]:
    """Recompute every fact of every case; lengths and angles of charts are measured on redrawn pictures.

    A "length" is right when the extents of the node's mask before and after are in the ratio of the
    values within 4 % or 2 pixels; an "angle" when the parts of a ring have the stated shares within 1 of
    100, or the pointer turns by the stated angle within 2 degrees.

    Examples
    --------
    >>> from icgforge.synth.case import Knobs, make_case
    >>> case = make_case("scenes_menu_price", 1, Knobs(nodes=2)).case
    >>> all(r.ok for r in recompute_facts([case]))
    True
    """
    out: list[Recomputed] = []
    for case in cases:
        for fact in case.metadata.get("facts", ()):
            kind = fact["kind"]
            if kind in _MEASURED:
                if measure:
                    ok, detail = _measured(case, fact)
                    out.append(Recomputed(case.id, fact["node"], kind, "both", ok, detail))
                continue
            for when in ("before", "after"):
                pair = _expected(kind, dict(fact[when]))
                right = None if pair is None else _close(*pair)
                detail = (
                    "" if right is not False or pair is None else f"recomputed {pair[0]}, stated {pair[1]}"
                )
                out.append(Recomputed(case.id, fact["node"], kind, when, right, detail))
    return out


def _measured(case: Case, fact: dict[str, Any]) -> tuple[bool, str]:
    from icgforge.synth.dataset import remake

    made = remake(case)
    element = made.nodes()[int(fact["node"].removeprefix("n")) - 1].element
    drawn = [(np.asarray(c.img), c.masks[element]) for c in (made.drawn_before, made.drawn_after)]
    if not all(mask.any() for _, mask in drawn):
        return False, "nothing drawn"
    ok, detail = _MEASURED[fact["kind"]](drawn, fact)
    return bool(ok), detail


Drawn = list[tuple[np.ndarray, np.ndarray]]
"""Pixels and mask of an element, before and after."""


def _length(drawn: Drawn, fact: dict[str, Any]) -> tuple[bool, str]:
    a, b = float(fact["before"]["value"]), float(fact["after"]["value"])
    found = []
    for _, mask in drawn:
        x0, y0, x1, y1 = mask_box(mask) or (0, 0, 0, 0)
        found.append((x1 - x0 if fact["axis"] == "x" else y1 - y0) - fact["zero"])
    wanted = found[0] * b / a
    ok = abs(found[1] - wanted) <= max(2.0, 0.04 * wanted)
    return ok, "" if ok else f"{a:g} is {found[0]:g} px, so {b:g} should be {wanted:.1f} px, is {found[1]:g}"


def _angle(drawn: Drawn, fact: dict[str, Any]) -> tuple[bool, str]:
    a, b, full = (float(fact[w][k]) for w, k in (("before", "value"), ("after", "value"), ("after", "full")))
    (before, mask), (after, moved) = drawn
    if (mask == moved).all():  # a divided ring
        pairs = np.concatenate([before[mask], after[mask]], axis=1)
        pairs, counts = np.unique(
            pairs[(before[mask] != after[mask]).any(axis=1)], axis=0, return_counts=True
        )
        if not len(pairs):
            return False, "nothing moves"
        lost, gained = np.split(pairs[counts.argmax()], 2)
        part = gained if b > a else lost
        found = []
        for px in (before[mask], after[mask]):
            own, other = ((px == c).all(axis=1).sum() for c in (part, lost if b > a else gained))
            found.append(full * own / (own + other))
        ok = max(abs(found[0] - a), abs(found[1] - b)) <= 1
        return ok, "" if ok else f"parts of {a:g} and {b:g} measure {found[0]:.1f} and {found[1]:.1f}"
    turns = []
    for m in (mask, moved):  # a pointer: its tip is farthest from its centre of mass
        y, x = np.nonzero(m)
        dx, dy = x - x.mean(), y - y.mean()
        tip = np.hypot(dx, dy).argmax()
        turns.append(np.degrees(np.arctan2(dy[tip], dx[tip])))
    off = (turns[1] - turns[0] - 360 * (b - a) / full + 180) % 360 - 180
    return abs(off) <= 2, "" if abs(off) <= 2 else f"the turn from {a:g} to {b:g} is off by {off:.1f} degrees"


_MEASURED = {"length": _length, "angle": _angle}


def truth(data: Dataset) -> pl.DataFrame:
    """Return how boxes, edits and twins of a drawn dataset compare with its pixels (`check.truth_rows`).

    Read from the truth.csv that `icgkit synth --check` writes; without one all cases are drawn again,
    which takes about a second each.
    """
    import polars as pl

    from icgforge.synth.check import truth_rows
    from icgforge.synth.dataset import iter_remade

    path = data.folder / "truth.csv" if data.folder else None
    if path is None or not path.is_file():
        return pl.DataFrame([row for made in iter_remade(data) for row in truth_rows(made)])
    return pl.read_csv(path, schema_overrides={"problems": pl.String}).with_columns(
        pl.col("problems").fill_null("")
    )


def near_duplicates(cases: Sequence[Case], *, bits: int = 6, size: int = 16) -> list[tuple[str, str, int]]:
    """Return pairs of cases whose perceptual hashes (size x size bits) differ in at most `bits`."""
    import imagehash

    prints = []
    for case in cases:
        with Image.open(case.image_path, formats=FORMATS) as image:
            image.draft("L", (256, 256))  # decodes a JPEG at a fraction of its size, which is all a hash sees
            prints.append(imagehash.phash(image, hash_size=size).hash.ravel())
    table = np.array(prints)
    pairs = []
    for i in range(len(table) - 1):
        gaps = (table[i + 1 :] != table[i]).sum(axis=1)
        pairs += [(cases[i].id, cases[i + 1 + int(j)].id, int(gaps[j])) for j in np.flatnonzero(gaps <= bits)]
    return pairs


_FIELDS = ("region", "region_clean", "expected_update", "reason", "reason_anon")


def sentence_frame(text: str) -> str:
    """Reduce a phrase to its frame: quoted texts, numbers, names and places become placeholders.

    Examples
    --------
    >>> sentence_frame("$60 becomes $84, lower right")
    '# becomes #, <place>'
    """
    frame = re.sub(r"[“\"][^”\"]*[”\"]", "<q>", text)
    frame = re.sub(
        r"\b(upper|lower|middle) (left|right)\b|\b(top|bottom) centre\b|\bcentre\b", "<place>", frame
    )
    frame = re.sub(r"[$€£¥]?\d+(?:[.,:]\d+)*(?:\s?%)?", "#", frame)
    frame = re.sub(r"(?<!^)\b[A-Z][\w'&-]*(?: [A-Z][\w'&-]*)*", "<n>", frame)
    return re.sub(r"\s+", " ", frame).strip()


class FrameShare(NamedTuple):
    """A sentence frame that two templates share.

    Attributes
    ----------
    field, frame, template_a, template_b : str
    share : float
        Nodes of the template with fewer nodes that have a frame of the other, 0 to 1.
    """

    field: str
    frame: str
    template_a: str
    template_b: str
    share: float


def shared_frames(cases: Iterable[Case], *, bound: float = 0.1, least: int = 5) -> list[FrameShare]:
    """Return pairs of templates that have a frame in common for more than `bound` of their nodes.

    Only templates with at least `least` nodes are compared; the share is the smaller of both.
    """
    frames: dict[str, dict[str, Counter[str]]] = {f: defaultdict(Counter) for f in _FIELDS}
    for case in cases:
        for node in case.constraint_nodes:
            for name in _FIELDS:
                text = getattr(node, name)
                if text:
                    frames[name][case.metadata["template"]][sentence_frame(text)] += 1
    out = []
    for name, by_template in frames.items():
        used = sorted(t for t, c in by_template.items() if c.total() >= least)
        for i, a in enumerate(used):
            for b in used[i + 1 :]:
                for frame in by_template[a].keys() & by_template[b].keys():
                    share = min(by_template[t][frame] / by_template[t].total() for t in (a, b))
                    if share > bound:
                        out.append(FrameShare(name, frame, a, b, round(share, 3)))
    return out
