"""Arithmetic between the numbers of a picture: which of them follow from the edited one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from icgforge.baselines.seeing import Line

_NUMBER = re.compile(
    r"(?P<cur>[$\u20ac\u00a3\u00a5]?)\s?(?P<num>\d+(?:[.,]\d{3})*(?:[.,]\d{1,2})?)(?P<pct>\s?%)?"
)


@dataclass(frozen=True)
class Amount:
    """A number in a line of text."""

    value: float
    written: str
    currency: str
    percent: bool
    line: Line


@dataclass(frozen=True)
class Relation:
    """A number that follows from the edited one: what it becomes, and how it is worked out."""

    result: Amount
    becomes: str
    how: str
    score: float


def value_of(text: str) -> float | None:
    """Return the first number of a text.

    Examples
    --------
    >>> [value_of(t) for t in ("$1,200", "50%", "3,5 kg", "none")]
    [1200.0, 50.0, 3.5, None]
    """
    match = _NUMBER.search(text)
    return _value(match["num"]) if match else None


def _value(num: str) -> float:
    if re.fullmatch(r"\d{1,3}([.,]\d{3})+", num):
        return float(re.sub(r"[.,]", "", num))
    head, sep, tail = num.replace(",", ".").rpartition(".")
    return float(head.replace(".", "") + sep + tail) if sep else float(tail)


def amounts(lines: tuple[Line, ...], skip: Line | None = None) -> list[Amount]:
    """Return the numbers of all lines but one, at most 40."""
    found = []
    for line in lines:
        if line is skip or re.search(r"\d{1,2}:\d{2}|\d{4,}[-/]\d|\d{7,}", line.text):
            continue
        for m in _NUMBER.finditer(line.text):
            found.append(Amount(_value(m["num"]), m.group(0).strip(), m["cur"], bool(m["pct"]), line))
    return found[:40]


def _shown(value: float, like: Amount) -> str:
    decimals = 2 if re.search(r"[.,]\d{2}$", like.written) else 0 if abs(value - round(value)) < 1e-6 else 2
    return f"{like.currency}{value:,.{decimals}f}{'%' if like.percent else ''}"


def _near(a: float, b: float) -> bool:
    return abs(a - b) <= max(0.006, 0.0006 * abs(b))


def relations(old: str, new: str, numbers: list[Amount]) -> list[Relation]:
    """Find numbers that can be computed from the edited value and others, and compute them anew.

    Percentages, differences, products, quotients and sums are tried; a whole sum over all
    amounts in one column counts as well. The simplest explanation of each number is kept.
    """
    x, y = value_of(old), value_of(new)
    if x is None or y is None or x == y:
        return []
    best: dict[int, Relation] = {}
    for rel in _candidates(x, y, "%" in old, numbers):
        key = id(rel.result)
        if key not in best or rel.score > best[key].score:
            best[key] = rel
    return sorted(best.values(), key=lambda r: -r.score)[:4]


def _candidates(x: float, y: float, percent: bool, numbers: list[Amount]) -> Iterator[Relation]:
    for c in numbers:
        if c.value == 0 or (c.value == x and not percent):
            continue
        for b in numbers:
            if b is c:
                continue
            v = b.value
            if percent and not b.percent and not c.percent:
                if _near(c.value, v * (1 - x / 100)):
                    yield Relation(c, _shown(v * (1 - y / 100), c), f"{b.written} less {y:g}%", 0.97)
                if _near(c.value, v * x / 100):
                    yield Relation(c, _shown(v * y / 100, c), f"{y:g}% of {b.written}", 0.9)
                if _near(c.value, v * (1 + x / 100)):
                    yield Relation(c, _shown(v * (1 + y / 100), c), f"{b.written} plus {y:g}%", 0.9)
            elif percent and b.percent and c.percent and _near(c.value + v + x, 100):
                yield Relation(c, _shown(max(100 - y - v, 0), c), "the shares add up to 100%", 0.7)
            if percent:
                continue
            if b.percent and not c.percent:
                if _near(c.value, x * (1 - v / 100)):
                    yield Relation(c, _shown(y * (1 - v / 100), c), f"{y:g} less {b.written}", 0.97)
                if _near(c.value, x * v / 100):
                    yield Relation(c, _shown(y * v / 100, c), f"{b.written} of {y:g}", 0.9)
            elif not b.percent and not c.percent:
                money = bool(c.currency)
                if v > 1 and _near(c.value, x * v):
                    yield Relation(
                        c, _shown(y * v, c), f"{y:g} times {b.written}", 0.9 if money or v < 40 else 0.75
                    )
                if v > 1 and x != v and _near(c.value * v, x):
                    yield Relation(c, _shown(y / v, c), f"{y:g} divided by {b.written}", 0.88)
                if _near(c.value, x + v):
                    yield Relation(c, _shown(y + v, c), f"{y:g} plus {b.written}", 0.8)
                if _near(c.value, x - v):
                    yield Relation(c, _shown(y - v, c), f"{y:g} less {b.written}", 0.7)
                if _near(c.value, v - x) and c.value != x:
                    yield Relation(c, _shown(v - y, c), f"{b.written} less {y:g}", 0.7)
                if c.percent is False and v > x and _near(c.value, round(100 * x / v)):
                    yield Relation(c, _shown(100 * y / v, c), f"share of {y:g} in {b.written}", 0.5)
            elif c.percent and v > 0:
                if _near(c.value, round(100 * x / v)):
                    yield Relation(c, _shown(round(100 * y / v), c), f"{y:g} as a share of {b.written}", 0.85)
                if _near(c.value, round(100 * (1 - x / v))) and v > x:
                    yield Relation(c, _shown(round(100 * (1 - y / v)), c), f"{y:g} off {b.written}", 0.85)
    yield from _sums(x, y, numbers)
    for c in numbers:
        if percent or c.percent:
            continue
        for k, word in ((2, "half"), (4, "a quarter"), (12, "a twelfth"), (10, "a tenth"), (3, "a third")):
            if x > 3 and _near(c.value * k, x):
                yield Relation(c, _shown(y / k, c), f"{word} of {y:g}", 0.72 if c.currency else 0.45)


def _sums(x: float, y: float, numbers: list[Amount]) -> Iterator[Relation]:
    """A total over a column of amounts that contains the edited one."""
    for c in numbers:
        cx = c.line.centre[0]
        for width in (60.0, 1e9):
            column = [
                n for n in numbers
                if n is not c and not n.percent and abs(n.line.centre[0] - cx) <= width and n.value < c.value
            ]  # fmt: skip
            if 2 <= len(column) <= 12 and _near(sum(n.value for n in column) + x, c.value):
                rest = sum(n.value for n in column)
                yield Relation(c, _shown(rest + y, c), "the sum of the amounts above it", 0.95)
