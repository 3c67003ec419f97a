"""Read model replies: JSON wherever it hides, booleans and scores only where they are meant.

Nothing here guesses. What cannot be read comes back as None with a status; it never turns into
False, zero or a pass. Work is bounded, so that a hostile reply cannot hold up a run.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, Literal, NamedTuple

from icgkit.proposals import read_proposals as read_proposals

MAX_CHARS = 200_000
"""How much of a reply is read; the rest is ignored."""
_MAX_STARTS = 400

TRUE = frozenset({"true", "yes"})
FALSE = frozenset({"false", "no"})
NOT_APPLICABLE = frozenset({"n/a", "na", "not applicable"})
_ID_KEYS = ("id", "node_id", "node", "constraint_id", "nodeid", "item")
_VALID = {"valid": True, "invalid": False, "not valid": False}


class Mark(Enum):
    """Values that JSON has no word for."""

    CONFLICT = "the same key twice with different values"


class Reading(NamedTuple):
    """What was read, and how it went.

    `status` is `ok`, `empty`, `truncated` or `unreadable`; `value` is None unless it is `ok`.
    """

    value: Any
    status: str


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in pairs:
        out[key] = Mark.CONFLICT if key in out and out[key] != value else value
    return out


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_constant=lambda _: None, parse_float=_finite, strict=False
)
_OPENING = re.compile(r"[{\[]")
# What is left where a literal or number breaks off at the end of the text.
_CUT = re.compile(r"\s*(?:t|tr|tru|f|fa|fal|fals|n|nu|nul|-|\\)?\s*")
_THINK = re.compile(r"<(think|thinking|reasoning|scratchpad)>.*?(</\1>|\Z)", re.S | re.I)


def strip_thinking(text: str) -> str:
    """Drop think blocks, also one that was never closed.

    Examples
    --------
    >>> strip_thinking("<think>hm {}</think> yes")
    ' yes'
    """
    return _THINK.sub("", text)


def read_json(text: str | None, want: Literal["object", "list", "any"] = "any") -> Reading:
    r"""Find the JSON value in a reply.

    Code fences, words around it, think blocks and an object wrapped in a list are seen through.
    Where there are several values the longest is taken, the last of equals. NaN and Infinity
    become None; a key given twice with different values becomes `Mark.CONFLICT`.

    Examples
    --------
    >>> read_json('Sure:\n```JSON\n{"a": NaN}\n``` done', "object")
    Reading(value={'a': None}, status='ok')
    >>> read_json('{"a": tru')
    Reading(value=None, status='truncated')
    """
    body = strip_thinking((text or "")[:MAX_CHARS]).strip().lstrip("\ufeff")
    if not body:
        return Reading(None, "truncated" if (text or "").strip() else "empty")
    found, cut = _scan(body, want)
    if found is None:
        found, cut = _scan(_mended(body), want)
    if found is not None:
        return Reading(found, "ok")
    return Reading(None, "truncated" if cut else "unreadable")


def _mended(body: str) -> str:
    """Undo slips that leave the meaning plain: full-width colons and trailing commas."""
    body = re.sub(r'"\s*\uff1a\s*', '": ', body)
    return re.sub(r",(\s*[}\]])", r"\1", body)


def _scan(body: str, want: str) -> tuple[Any, bool]:
    """Return the longest value of the wanted kind, and whether the text ends inside a value."""
    best: Any = None
    size, place = -1, 0
    for _ in range(_MAX_STARTS):
        start = _OPENING.search(body, place)
        if start is None:
            break
        at = start.start()
        try:
            value, end = _DECODER.raw_decode(body, at)
        except json.JSONDecodeError as exc:
            if exc.msg.startswith("Unterminated string") or _CUT.fullmatch(body, exc.pos):
                return None, True  # what is whole inside a cut value is no answer
            place = at + 1
            continue
        except RecursionError:
            break
        value = _wanted(value, want)
        if value is not None and end - at >= size:
            best, size = value, end - at
        place = end
    return best, False


def _wanted(value: Any, want: str) -> Any:
    if want == "object" and isinstance(value, list):
        return value[0] if len(value) == 1 and isinstance(value[0], dict) else None
    if want == "list" and isinstance(value, dict):
        lists = [v for v in value.values() if isinstance(v, list)]
        return lists[0] if len(lists) == 1 else None
    return value


def as_bool(value: Any) -> bool | None:
    """Return a boolean only for true, false and the words of `TRUE` and `FALSE`; else None.

    Examples
    --------
    >>> [as_bool(v) for v in (True, "No", 1, "not true", None, "yes")]
    [True, False, None, None, None, True]
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        word = value.strip().strip(".").lower()
        return True if word in TRUE else False if word in FALSE else None
    return None


def as_score(value: Any, low: float, high: float) -> float | None:
    """Return a number within `low`..`high`; None for anything else, never a clipped value.

    Examples
    --------
    >>> [as_score(v, 1, 5) for v in (4.5, "2", 10, True, "4 or 5", float("nan"))]
    [4.5, 2.0, None, None, None, None]
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if low <= number <= high else None


def read_score(text: str | None, key: str, low: float, high: float) -> Reading:
    """Read one score by its key, from JSON or from a line `key: number`.

    Examples
    --------
    >>> read_score('{"Final Score": "2"}', "final score", 1, 5)
    Reading(value=2.0, status='ok')
    >>> read_score("Final score\uff1a 10", "final score", 1, 5)
    Reading(value=None, status='out_of_range')
    """
    raw: Any = None
    parsed = read_json(text, "object")
    if isinstance(parsed.value, dict):
        raw = next((v for k, v in parsed.value.items() if k.strip().lower() == key.lower()), None)
    if raw is None:
        line = re.compile(
            rf"{re.escape(key)}\W{{0,4}}?[:\uff1a=]\W{{0,4}}?(-?\d+(?:\.\d+)?)(?![\d.]*\s*(?:or|-|to)\s*\d)",
            re.I,
        )
        hits = {m.group(1) for m in line.finditer(strip_thinking((text or "")[:MAX_CHARS]))}
        if len(hits) > 1:
            return Reading(None, "conflict")
        raw = hits.pop() if hits else None
    if raw is None or raw is Mark.CONFLICT:
        status = "conflict" if raw is Mark.CONFLICT else parsed.status
        return Reading(None, "unreadable" if status == "ok" else status)
    score = as_score(raw, low, high)
    if score is not None:
        return Reading(score, "ok")
    numeric = as_score(raw, -math.inf, math.inf) is not None
    return Reading(None, "out_of_range" if numeric else "unreadable")


def _entries(value: Any, ids: Sequence[str]) -> Iterable[tuple[str, Any]]:
    """Yield (node id, verdict object) from the shapes that judges answer in."""
    known = {i.lower(): i for i in ids}
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                named = next((item[k] for k in _ID_KEYS if k in item), None)
                if named is Mark.CONFLICT:
                    continue
                if str(named).strip().lower() in known:
                    yield known[str(named).strip().lower()], item
    elif isinstance(value, dict):
        direct = [(known[k.strip().lower()], v) for k, v in value.items() if k.strip().lower() in known]
        if direct:
            yield from direct
            return
        if any(k in value for k in _ID_KEYS) and not any(isinstance(v, (list, dict)) for v in value.values()):
            yield from _entries([value], ids)
            return
        for inner in value.values():
            if isinstance(inner, (list, dict)):
                yield from _entries(inner, ids)


def read_verdicts(text: str | None, ids: Sequence[str], fields: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Read one verdict for each id: the boolean `fields` and a `status`.

    Returns
    -------
    dict
        One entry for every id of `ids`. `status` is `ok` (every field read), `incomplete` (no
        verdict, or a field without one), `conflict` (two different verdicts),
        `not_applicable`, or the status of the whole reply (`unreadable`, `truncated`, `empty`).
        Unless it is `ok`, every field is None.

    Examples
    --------
    >>> read_verdicts('[{"id": "n1", "met": true}]', ["n1", "n2"], ["met"])
    {'n1': {'met': True, 'status': 'ok'}, 'n2': {'met': None, 'status': 'incomplete'}}
    """
    parsed = read_json(text, "any")
    blank: dict[str, Any] = dict.fromkeys(fields)
    if parsed.status != "ok":
        return {i: {**blank, "status": parsed.status} for i in ids}
    seen: dict[str, dict[str, Any]] = {}
    for node_id, entry in _entries(parsed.value, ids):
        row = _verdict(entry, fields)
        if node_id in seen and seen[node_id] != row:
            row = {**blank, "status": "conflict"}
        seen[node_id] = row
    return {i: seen.get(i, {**blank, "status": "incomplete"}) for i in ids}


def _verdict(entry: Any, fields: Sequence[str]) -> dict[str, Any]:
    if entry is Mark.CONFLICT:
        return {**dict.fromkeys(fields), "status": "conflict"}
    if not isinstance(entry, dict):
        entry = {fields[0]: entry} if len(fields) == 1 else {}
    raw = {f: entry.get(f) for f in fields}
    if any(v is Mark.CONFLICT for v in raw.values()):
        return {**dict.fromkeys(fields), "status": "conflict"}
    if any(isinstance(v, str) and v.strip().lower() in NOT_APPLICABLE for v in raw.values()):
        return {**dict.fromkeys(fields), "status": "not_applicable"}
    values = {f: as_bool(v) for f, v in raw.items()}
    if None in values.values():
        return {**dict.fromkeys(fields), "status": "incomplete"}
    return {**values, "status": "ok"}


_LABEL = re.compile(r"\b(not\s+valid|invalid|valid)\b", re.I)


def read_labels(text: str | None, ids: Sequence[str]) -> dict[str, Reading]:
    r"""Read VALID or INVALID for each id, from JSON or from lines that begin with the id.

    Returns
    -------
    dict
        id to Reading; the value is True for VALID, False for INVALID, None otherwise.

    Examples
    --------
    >>> read_labels("- **n1**: VALID, it is there\n- n2 - INVALID", ["n1", "n2", "n3"])["n2"]
    Reading(value=False, status='ok')
    """
    body = strip_thinking((text or "")[:MAX_CHARS])
    if not body.strip():
        return {i: Reading(None, "empty") for i in ids}
    found: dict[str, set[bool]] = {i: set() for i in ids}
    parsed = read_json(body, "any")
    if parsed.status == "ok":
        for node_id, entry in _entries(parsed.value, ids):
            texts = entry.values() if isinstance(entry, dict) else [entry]
            words = {re.sub(r"\s+", " ", v).strip(" .").lower() for v in texts if isinstance(v, str)}
            found[node_id] |= {_VALID[w] for w in words if w in _VALID}
    if not any(found.values()):
        for node_id, block in _blocks(body, ids):
            if label := _LABEL.search(block):
                found[node_id].add(_VALID[re.sub(r"\s+", " ", label.group(1)).lower()])
    return {
        i: Reading(next(iter(v)), "ok") if len(v) == 1 else Reading(None, "conflict" if v else "incomplete")
        for i, v in found.items()
    }


def _blocks(body: str, ids: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Yield (id, text up to the next line that begins with an id)."""
    names = "|".join(re.escape(i) for i in sorted(ids, key=len, reverse=True))
    if not names:
        return
    head = re.compile(
        rf"^[^\w\n]{{0,12}}(?:node\s+|constraint\s+|\d{{1,3}}[.)]\s*)?[^\w\n]{{0,6}}({names})(?![\w-]|\.\w)",
        re.I | re.M,
    )
    known = {i.lower(): i for i in ids}
    marks = list(head.finditer(body))
    for k, mark in enumerate(marks):
        end = marks[k + 1].start() if k + 1 < len(marks) else len(body)
        yield known[mark.group(1).lower()], body[mark.end() : end]
