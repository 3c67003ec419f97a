"""Compare two folders of results number by number."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from icgkit.errors import SchemaError
from icgkit.files import read_file, read_text
from icgkit.untrusted import json_value

TOLERANCE = 1e-6
"""Relative: differences below it come from the processor's arithmetic, not from the data."""

_STATED = ("kind", "caption", "n", "dataset", "models", "cache", "note", "simulated", "seed", "published")


class Difference(NamedTuple):
    """One value that is not the same: where, what was committed, what came out now."""

    file: str
    place: str
    committed: Any
    now: Any
    order_only: bool = False

    def __str__(self) -> str:
        if self.order_only:
            return f"{self.file}: order only: the same {self.now} rows, {self.place}"
        text = f"{self.file}: {self.place}: committed {self.committed!s}, now {self.now!s}"
        try:
            change = float(self.now) - float(self.committed)
        except (TypeError, ValueError):
            return text
        return f"{text} (difference {change:+.6g})"


def compare_folders(
    committed: Path, now: Path, *, ids: Iterable[str] | None = None, tolerance: float = TOLERANCE
) -> list[Difference]:
    """Name every value of every CSV and sidecar (of these `ids`) that differs.

    Numbers are the same if |a - b| <= tolerance * max(|a|, |b|), or both lie within 1e-12 of 0.
    """
    if ids is None:
        ids = {p.stem for folder in (committed, now) for p in folder.glob("*.json")}
    found: list[Difference] = []
    for id in sorted(ids):
        for ending in (".csv", ".json"):
            a, b = committed / f"{id}{ending}", now / f"{id}{ending}"
            if not (a.is_file() and b.is_file()):
                if a.is_file() or b.is_file():
                    found.append(Difference(a.name, "file", _there(a), _there(b)))
            elif ending == ".csv":
                found += _tables(a, b, tolerance)
            else:
                stated = [{k: v for k, v in _object(p).items() if k in _STATED} for p in (a, b)]
                found += [Difference(a.name, *d) for d in _values("", stated[0], stated[1], tolerance)]
    return found


def _object(path: Path) -> dict[str, Any]:
    found = json_value(read_file(path), path.name)
    if not isinstance(found, dict):
        raise SchemaError(f"{path.name}: a result's sidecar", got=type(found).__name__, allowed="an object")
    return found


def _there(path: Path) -> str:
    return "there" if path.is_file() else "absent"


def _rows(path: Path) -> list[list[str]]:
    try:
        rows = [*csv.reader(read_text(path).splitlines(keepends=True))]
    except csv.Error as exc:
        raise SchemaError(f"{path.name}: no CSV: {exc}") from None
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise SchemaError(
                f"{path.name}, row {number}: {len(row)} fields", allowed=f"{len(rows[0])}, as the head has"
            )
    return rows


def _tables(a: Path, b: Path, tolerance: float) -> Iterator[Difference]:
    old, new = (_rows(p) for p in (a, b))
    if old[:1] != new[:1]:
        was, now = (",".join(t[0]) if t else "" for t in (old, new))
        yield Difference(a.name, "columns", was, now)
        return
    if len(old) != len(new):
        yield Difference(a.name, "number of rows", len(old) - 1, len(new) - 1)
        return
    header = old[0] if old else []
    pairs = list(enumerate(zip(old[1:], new[1:], strict=True), 1))
    differing = list(_cells(a.name, header, pairs, tolerance))
    if not differing:
        return
    if key := _key(old, new):
        # Rows that tie may come in any order: a row is what its words say, not where it stands.
        place = {tuple(row[k] for k in key): row for row in new[1:]}
        matched = [(n, (was, place[tuple(was[k] for k in key)])) for n, (was, _) in pairs]
        by_key = list(_cells(a.name, header, matched, tolerance))
        if not by_key:
            moved = sum([was[k] for k in key] != [now[k] for k in key] for _, (was, now) in pairs)
            yield Difference(a.name, f"{moved} of them at another place", None, len(old) - 1, order_only=True)
            return
        differing = by_key
    yield from differing


def _cells(
    name: str, header: list[str], pairs: Iterable[tuple[int, tuple[list[str], list[str]]]], tolerance: float
) -> Iterator[Difference]:
    for number, (was, now) in pairs:
        names = [v for v in now if v and _number(v) is None][:4]
        for column, x, y in zip(header, was, now, strict=True):
            if not _same(x, y, tolerance):
                yield Difference(name, f"row {number} ({', '.join(names)}), {column}", x, y)


def _key(old: list[list[str]], new: list[list[str]]) -> list[int]:
    """Return the columns that name a row in both tables: those of words, else those of whole numbers too."""
    tests: tuple[Callable[[str], bool], ...] = (lambda v: _number(v) is None, lambda v: "." not in v)
    for fits in tests:
        columns = [
            k
            for k in range(len(old[0]))
            if all(k < len(r) and (not r[k] or fits(r[k])) for r in old[1:] + new[1:])
        ]
        keys = [[tuple(row[k] for k in columns) for row in table[1:]] for table in (old, new)]
        if columns and len(set(keys[0])) == len(keys[0]) and set(keys[0]) == set(keys[1]):
            return columns
    return []


def _values(place: str, a: Any, b: Any, tolerance: float) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(a.keys() | b.keys()):
            yield from _values(f"{place}.{key}".strip("."), a.get(key), b.get(key), tolerance)
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from _values(f"{place}[{k}]", x, y, tolerance)
    elif not _same(a, b, tolerance):
        yield place, a, b


def _same(a: Any, b: Any, tolerance: float) -> bool:
    if a == b:
        return True
    x, y = _number(a), _number(b)
    return x is not None and y is not None and math.isclose(x, y, rel_tol=tolerance, abs_tol=1e-12)


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
