r"""Read model replies: JSON wherever it hides, booleans and scores only where they are meant.

Nothing here guesses. What cannot be read comes back as None with a status; it never turns into
False, zero or a pass. A verdict counts by its place and form, never by its length:

- Thoughts are cut, however they are marked. Block quotes, values between quotation marks and values
  that the sentence before them gives to somebody else ("The answer says {...}") are no answers.
- All values that are left count. Where two disagree about the same thing, that thing is a conflict.
- Slips that leave the meaning plain are mended (trailing commas, a bad escape, quotation marks within
  a text, full-width signs, `True`). A value that stays broken makes the whole reply unreadable:
  what is whole inside a broken value is no answer.

Work is linear in the length of the reply, so that a hostile or a runaway one cannot hold up a run.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, Literal, NamedTuple

from icgkit.untrusted import float_or_null, int_or_null, too_deep

MAX_CHARS = 200_000
"""Longest reply that is read, without its thoughts; a longer one is unreadable."""
MAX_VALUES = 1000
"""Most values, and most places that only look like one, of a reply."""

TRUE = frozenset({"true", "yes"})
FALSE = frozenset({"false", "no"})
NOT_APPLICABLE = frozenset({"n/a", "na", "not applicable"})
_ID_KEYS = ("id", "node_id", "node", "constraint_id", "nodeid", "item")


class Mark(Enum):
    """Values that JSON has no word for."""

    CONFLICT = "the same key twice with different values"


class Reading(NamedTuple):
    """What was read, and how it went."""

    value: Any
    status: str


# --- words -----------------------------------------------------------------------------------------

_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """Drop characters that nobody sees: zero-width ones, marks of direction, soft hyphens, tags."""
    return _UNSEEN.sub("", text)


def plain(text: str) -> str:
    """Return visible text with full-width and other compatibility forms as their plain ones."""
    if text.isascii():
        return text
    # In pieces: putting a long run of combining marks in order takes quadratic time.
    seen = visible(text)
    return "".join(unicodedata.normalize("NFKC", seen[k : k + 256]) for k in range(0, len(seen), 256))


_NAMES = "think|thinking|thoughts?|reasoning|scratchpad|reflection|inner_monologue"
_PAIRS = (
    (rf"<(?:[a-z]{{1,12}}:)?(?:{_NAMES})(?:\s[^<>\n]{{0,80}})?>", rf"</(?:[a-z]{{1,12}}:)?(?:{_NAMES})>"),
    (r"\[(?:THINK|THINKING|REASONING)\]", r"\[/(?:THINK|THINKING|REASONING)\]"),
    ("\u25c1think(?:ing)?\u25b7", "\u25c1/think(?:ing)?\u25b7"),
    (r"<\|(?:begin_of_thought|START_THINKING|thinking|think)\|>", r"<\|(?:end_of_thought|END_THINKING|/thinking|/think)\|>"),
)  # fmt: skip
"""How models open and close their thoughts."""
_MARKS = re.compile("|".join(f"(?P<o{k}>{o})|(?P<c{k}>{c})" for k, (o, c) in enumerate(_PAIRS)), re.I)
_QUOTES = frozenset("\"'`\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb")
_CHANNEL = re.compile(
    r"(?:<\|start\|>\w{0,20})?<\|channel\|>\s{0,8}(\w{1,20})[^<\n]{0,80}<\|message\|>", re.I
)
_CONTROL = re.compile(r"<\|(?:start|end|return|call|im_end|endoftext|end_of_solution|begin_of_solution|START_RESPONSE|END_RESPONSE)\|>(?:assistant)?")  # fmt: skip


def strip_thinking(text: str) -> str:
    """Cut a reply's thoughts, however they are marked."""
    text = _final_channel(text)
    kept: list[str] = []
    begin, opened, kind = 0, -1, ""
    for mark in _MARKS.finditer(text):
        name = str(mark.lastgroup)
        if _between_quotes(text, mark.start(), mark.end()):
            continue
        if name[0] == "o":
            if opened < 0:
                opened, kind = mark.start(), name[1:]
        elif opened >= 0 and name[1:] == kind:
            kept.append(text[begin:opened])
            begin, opened = mark.end(), -1
        elif opened < 0 and _ends_thoughts(text, mark.start(), mark.end(), begin):
            kept.clear()
            begin = mark.end()
    if opened >= 0 and not text[text.rfind("\n", 0, opened) + 1 : opened].strip():
        return "".join([*kept, text[begin:opened]])
    return "".join([*kept, text[begin:]])


def _between_quotes(text: str, start: int, end: int) -> bool:
    return start > 0 and text[start - 1] in _QUOTES and text[end : end + 1] in _QUOTES and end < len(text)


def _ends_thoughts(text: str, start: int, end: int, begin: int) -> bool:
    """Say whether a closing tag without an opening one ends thoughts, and is not spoken of."""
    near = text[max(begin, start - 2000) : start]
    line = near.rpartition("\n")[2].strip()
    after = text[end : end + 200].split("\n", 1)[0].strip()
    before = near.rstrip()
    if before.endswith(":"):  # "it contains:" and the tag below
        return False
    return not line or not after or before.endswith((".", "!", "?", "\u3002"))


def _final_channel(text: str) -> str:
    """Return the last final message of a reply in channels, with or without its control signs."""
    marks = list(_CHANNEL.finditer(text)) if "<|channel|>" in text else []
    if marks:
        ends = [m.start() for m in marks[1:]] + [len(text)]
        final = [text[m.end() : e] for m, e in zip(marks, ends, strict=True) if m.group(1).lower() == "final"]
        return _CONTROL.sub("", final[-1]) if final else ""
    if text.startswith("analysis") and "assistantfinal" in text:
        return text.rpartition("assistantfinal")[2]
    return _CONTROL.sub("", text) if "<|" in text else text


def answer_of(text: str | None) -> tuple[str, str]:
    """Return what a reply says without thoughts and unseen characters, and what is wrong with it."""
    if not (text or "").strip():
        return "", "empty"
    body = visible(strip_thinking(text or "")).strip()
    if not body:
        return "", "truncated"
    return ("", "unreadable") if len(body) > MAX_CHARS else (body, "")


# --- JSON ------------------------------------------------------------------------------------------


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in pairs:
        out[key] = Mark.CONFLICT if key in out and not _same(out[key], value) else value
    return out


def _same(a: Any, b: Any) -> bool:
    """Say whether two values mean the same: true and "yes" do, 1 and true do not."""
    one, other = as_bool(a), as_bool(b)
    if one is not None or other is not None:
        return one is other
    return bool(a == b) and (type(a) is type(b) or (_number(a) and _number(b)))


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_constant=lambda _: None, parse_float=float_or_null, parse_int=int_or_null,
    strict=False,
)  # fmt: skip
_OPENING = re.compile(r"[{\[]")
# Where it is worth while to parse: a failed attempt costs a look at all the text before it.
_LIKELY = re.compile(r'\{\s*+["}]|\[\s*+[\]"{\[\d\-tfnNI]')
# What is left where a literal or number breaks off at the end of the text.
_CUT = re.compile(r"\s*+(?:t|tr|tru|f|fa|fal|fals|n|nu|nul|-|\\)?\s*+")
# An object with a key, however badly it is spelt.
_MEANT = re.compile(
    r"[{\[][\s\[{]{0,40}+(?<=[{\s])(?:[\"'\u201c][^\"'\u201c\u201d\n]{0,80}[\"'\u201d]|[\w .\-]{1,60})\s*+[:\uff1a]"
)
_TOKEN = re.compile(
    r'"[^"\\]*+(?:(?:\\.|"(?!\s*+(?:[,:}\]\uff0c\uff1a]|\Z)))[^"\\]*+)*+"?'
    r"|[{}\[\],:\uff0c\uff1a]|\s++|[^\s{}\[\],:\"\uff0c\uff1a]++",
    re.S,
)
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\|"')
_WORDS = {"True": "true", "TRUE": "true", "False": "false", "FALSE": "false", "None": "null"}


class Value(NamedTuple):
    """A JSON value of a reply and where it stands in it."""

    value: Any
    start: int
    end: int


def values_in(body: str) -> tuple[list[Value], str]:
    """Return the answers of a reply in their order, and `truncated` or `unreadable` where it breaks off."""
    found: list[Value] = []
    place = tries = 0
    while start := _OPENING.search(body, place):
        at = start.start()
        if not _LIKELY.match(body, at):
            if _MEANT.match(body, at):
                return [], "unreadable"
            if at + 1 == len(body):
                return [], "truncated"
            place = at + 1
            continue
        tries += 1
        got = _value_at(body, at) if tries <= 2 * MAX_VALUES else "unreadable"
        if isinstance(got, str):
            return [], got
        if isinstance(got, int):
            place = got
            continue
        if len(found) >= MAX_VALUES:
            return [], "unreadable"
        if not _anothers(body, at, got.end):
            found.append(got)
        place = got.end
    return [v for v in found if v.value] or found, ""


def _value_at(body: str, at: int) -> Value | int | str:
    """Read the value that begins at a place; else where to look on, or why the reply cannot be read."""
    try:
        value, end = _DECODER.raw_decode(body, at)
    except json.JSONDecodeError as exc:
        if not _MEANT.match(body, at):
            return "truncated" if exc.pos >= len(body.rstrip()) else max(exc.pos, at + 1)
        if (mended := _mended(body, at)) is None:
            cut = exc.msg.startswith("Unterminated string") or _CUT.fullmatch(body, exc.pos)
            return "truncated" if cut else "unreadable"
        value, end = mended
    except (ValueError, RecursionError):
        return "unreadable"
    return "unreadable" if too_deep(body[at:end]) else Value(value, at, end)


def _escaped(mark: re.Match[str]) -> str:
    return mark.group() if len(mark.group()) > 1 else "\\" + mark.group()


def _mended(body: str, at: int) -> tuple[Any, int] | None:
    """Undo slips that leave the meaning plain, in the value that begins at `at`; None if that does not do."""
    out: list[str] = []
    level = 0
    comma = -1  # where the last comma stands, as long as only blanks follow it
    for token in _TOKEN.finditer(body, at):
        text = token.group()
        if text[0] == '"':
            inner = text[1:-1] if len(text) > 1 and text.endswith('"') else text[1:]
            text = f'"{_ESCAPE.sub(_escaped, inner)}"'
        elif text in ",\uff0c":
            text, comma = ",", len(out)
        elif text in ":\uff1a":
            text = ":"
        elif text in "{[":
            level += 1
        elif text in "}]":
            level -= 1
            if comma >= 0:
                out[comma] = ""
        else:
            text = _WORDS.get(text, text)
        if text != "," and not text.isspace():
            comma = -1
        out.append(text)
        if level == 0:
            try:
                return _DECODER.decode("".join(out)), token.end()
            except (ValueError, RecursionError):
                return None
    return None


_SAID = re.compile(
    r"\b(?:says?|said|states?|stated|claims?|claimed|contains?|contained|quot(?:es?|ed|ing)|includes?|included|"
    r"writes?|wrote|asserts?|asserted|reads?|brings?|brought|end(?:s|ed)? (?:in|with)|beg[ia]ns? with|planted|embedded|"
    r"pretends?|insists?|demands?|suggests?|orders?|tells? me|asks? (?:me )?for)\b"
    r"[^.!?;,{\[]{0,40}$",
    re.I,
)
_OWN = re.compile(r"\b(?:I|my|mine)\b(?![^.!?;]*\b(?:quot|disregard|ignor))", re.I)
_FENCE_LINE = re.compile(r"[ \t]*(?:`{3,12}|~{3,12})[^\n`]{0,30}\n?[ \t]*\Z")
_CLOSERS = {
    p[0]: p[1:] for p in ('""', "''", "\u201c\u201d", "\u201e\u201c\u201d", "\u2018\u2019", "\u00ab\u00bb")
}
"""What closes each quotation mark."""


def _anothers(body: str, start: int, end: int) -> bool:
    """Say whether a value is quoted: by a block quote, between quotation marks, or by the words around it."""
    line = body[max(body.rfind("\n", 0, start) + 1, start - 400) : start]
    if line.lstrip().startswith(">"):
        return True
    if start and body[end : end + 1] and body[end] in _CLOSERS.get(body[start - 1], ""):
        return True
    if attributed(body, start):
        return True
    # In the middle of a sentence: words before it on its line, and the sentence goes on behind it.
    after = body[end : end + 80].lstrip("`\"' ")
    return bool(re.search(r"\w", line)) and re.match(r"[,;]?[ \t]*[a-z]", after) is not None


def attributed(body: str, start: int) -> bool:
    """Say whether the sentence before a place gives what follows to somebody else ("the answer says:")."""
    near = body[max(0, start - 300) : start]
    before = _FENCE_LINE.sub("", near)
    words = before.rstrip(" \t\n\"'`\u201c\u201e*_")
    alone = before != near or "\n" in before[len(words) :] or not words
    if alone and not words.endswith(":"):
        return False  # on a line of its own, and nothing announces it
    sentence = re.split(r"[.!?;](?:\s|$)", words.rpartition("\n")[2])[-1].rstrip(": ")
    return _SAID.search(sentence) is not None and not _OWN.search(sentence)


def first_json(text: str, at: int = 0, key: str | None = None) -> Any:
    """Return the first whole JSON value of a prompt from a place on, with `key` if one is given; else None."""
    while start := _OPENING.search(text, at):
        try:
            value, at = _DECODER.raw_decode(text, start.start())
        except json.JSONDecodeError as exc:
            at = max(exc.pos, start.start() + 1)
            continue
        except (ValueError, RecursionError):
            return None
        if key is None or (isinstance(value, dict) and key in value):
            return value
    return None


def read_json(
    text: str | None, want: Literal["object", "list", "any"] = "any", keys: Sequence[str] = ()
) -> Reading:
    """Find the JSON value in a reply."""
    body, wrong = answer_of(text)
    if wrong:
        return Reading(None, wrong)
    values, wrong = values_in(body)
    found = [w for v in values if (w := _wanted(v.value, want)) is not None]
    if wrong or not found:
        return Reading(None, wrong or "unreadable")
    last = found[-1]
    if keys:
        objects = [_named(v, keys) for v in found if isinstance(v, dict)]
        objects = [v for v in objects if any(k in v for k in keys)]
        if objects:
            given: dict[str, Any] = dict(_pairs([(k, v[k]) for v in objects for k in keys if k in v]))
            return Reading(objects[-1] | given, "ok")
    elif any(not _same(v, last) for v in found):
        return Reading(None, "conflict")
    return Reading(last, "ok")


def _named(value: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """Return an object with `keys` spelt as they are here, whatever their case and blanks in the reply."""
    spelt = {_fold(k): k for k in keys}
    return _pairs([(spelt.get(_fold(k), k), v) for k, v in value.items()])


def _fold(word: object) -> str:
    return re.sub(r"\s++", " ", plain(str(word))).strip().casefold()


def _wanted(value: Any, want: str) -> Any:
    if want == "object":
        if isinstance(value, list):
            return value[0] if len(value) == 1 and isinstance(value[0], dict) else None
        return value if isinstance(value, dict) else None
    if want == "list" and isinstance(value, dict):
        lists = [v for v in value.values() if isinstance(v, list)]
        return lists[0] if len(lists) == 1 else None
    return value


# --- booleans and scores ---------------------------------------------------------------------------


def as_bool(value: Any) -> bool | None:
    """Return a boolean only for true, false and the words of `TRUE` and `FALSE`; else None."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and len(value) <= 40:
        word = _fold(value).strip(".").strip()
        return True if word in TRUE else False if word in FALSE else None
    return None


_PLAIN_NUMBER = re.compile(r"[+-]?\d{1,18}(?:\.\d{0,18})?")


def as_score(value: Any, low: float, high: float) -> float | None:
    """Return a number within `low`..`high`; None for anything else, never a clipped value."""
    if isinstance(value, str):
        word = plain(value[:40]).strip()
        value = float(word) if len(value) <= 40 and _PLAIN_NUMBER.fullmatch(word) else None
    if not _number(value):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if low <= number <= high else None


_RANGE = r"\s{0,8}(?:or|and|to|-|\u2013|\u2014|~)\s{0,8}\d"


def read_score(text: str | None, key: str, low: float, high: float) -> Reading:
    """Read one score by its key, from JSON or from a line `key: number`."""
    parsed = read_json(text, "object", keys=[key])
    raw: Any = parsed.value.get(key) if isinstance(parsed.value, dict) else None
    if raw is None and parsed.status in ("ok", "unreadable"):
        body = plain(answer_of(text)[0])
        if not values_in(body)[1]:  # what a broken value holds is no answer
            raw = _score_in_words(body, key, high)
    if raw is None or raw is Mark.CONFLICT:
        status = "conflict" if raw is Mark.CONFLICT else parsed.status
        return Reading(None, "unreadable" if status == "ok" else status)
    score = as_score(raw, low, high)
    if score is not None:
        return Reading(score, "ok")
    numeric = as_score(raw, -math.inf, math.inf) is not None
    return Reading(None, "out_of_range" if numeric else "unreadable")


def _score_in_words(body: str, key: str, high: float) -> Any:
    line = re.compile(
        rf"(?<![\w\-\"'\u201c\u2018\u00ab]){re.escape(key)}(?!\w)[^\w\n\"]{{0,4}}?[:=][^\w\n\-]{{0,4}}?"
        rf"(-?\d{{1,18}}+(?:\.\d{{1,18}}+)?+)(?![\w%]|[.,]\d)(?!{_RANGE})(?:\s{{0,4}}/\s{{0,4}}(\d{{1,18}}+(?:\.\d{{1,9}}+)?+))?",
        re.I,
    )
    hits: set[Any] = set()
    for m in line.finditer(body):
        start = body.rfind("\n", 0, m.start()) + 1
        if body[start : m.start()].lstrip()[:1] == ">" or attributed(body, m.start()):
            continue
        hits.add(None if m.group(2) and float(m.group(2)) != high else float(m.group(1)))
    if len(hits) > 1:
        return Mark.CONFLICT
    return hits.pop() if hits else None


# --- verdicts --------------------------------------------------------------------------------------


def _entries(value: Any, ids: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield (node id, verdict) from the shapes that judges answer in, wherever they hang."""
    yield from _entries_of(value, {_fold(i): i for i in ids} | {i: i for i in ids})


def _entries_of(value: Any, known: dict[str, str]) -> Iterator[tuple[str, Any]]:
    def one(word: object) -> str | None:
        return known.get(str(word).strip()) or known.get(_fold(word))

    if isinstance(value, list):
        for item in value:
            if isinstance(item, (list, dict)):
                yield from _entries_of(item, known)
    elif isinstance(value, dict):
        spelt = _named(value, _ID_KEYS)
        named = next((spelt[k] for k in _ID_KEYS if k in spelt), None)
        if named is Mark.CONFLICT:
            return
        if named is not None and (node := one(named)) is not None:
            yield node, value
            return
        for key, inner in value.items():
            if (node := one(key)) is not None:
                yield node, inner
            elif isinstance(inner, (list, dict)):
                yield from _entries_of(inner, known)


def read_verdicts(
    text: str | None, ids: Sequence[str], fields: Sequence[str], *, why: str = ""
) -> dict[str, dict[str, Any]]:
    """Read one verdict for each id: the boolean `fields` and a `status`."""
    blank: dict[str, Any] = dict.fromkeys(fields)
    body, wrong = answer_of(text)
    values, wrong = values_in(body) if not wrong else ([], wrong)
    if wrong or not values:
        return {i: {**blank, "status": wrong or "unreadable"} for i in ids}
    seen: dict[str, dict[str, Any]] = {}
    reasons: dict[str, str] = {}
    for value in values:
        for node_id, entry in _entries(value.value, ids):
            row = _verdict(entry, fields)
            if node_id in seen and seen[node_id] != row:
                row = {**blank, "status": "conflict"}
            seen[node_id] = row
            if why and (line := _reason(entry, why)):
                reasons[node_id] = line
    got = {i: seen.get(i, {**blank, "status": "incomplete"}) for i in ids}
    return {i: v | {"why": reasons[i]} if i in reasons else v for i, v in got.items()}


def _reason(entry: Any, why: str) -> str:
    """Return the line of reasons of a verdict, empty if it has none."""
    value = _named(entry, [why]).get(why) if isinstance(entry, dict) else None
    return " ".join(value[:2000].split())[:500] if isinstance(value, str) else ""


def _verdict(entry: Any, fields: Sequence[str]) -> dict[str, Any]:
    blank: dict[str, Any] = dict.fromkeys(fields)
    if entry is Mark.CONFLICT:
        return blank | {"status": "conflict"}
    if not isinstance(entry, dict):
        entry = {fields[0]: entry} if len(fields) == 1 else {}
    entry = _named(entry, fields)
    raw = {f: entry.get(f) for f in fields}
    if any(v is Mark.CONFLICT for v in raw.values()):
        return blank | {"status": "conflict"}
    if any(isinstance(v, str) and _fold(v[:40]) in NOT_APPLICABLE for v in raw.values()):
        return blank | {"status": "not_applicable"}
    values = {f: as_bool(v) for f, v in raw.items()}
    if None in values.values():
        return blank | {"status": "incomplete"}
    return {**values, "status": "ok"}


# --- labels ----------------------------------------------------------------------------------------

_LABEL = re.compile(r"(?<![\w\-])(non[- ]?|in|un)?valid(?![\w\-])(?!\s{0,4}\?)", re.I)
_NOT = re.compile(
    r"(?:\b(?:not|never|cannot|no longer|neither|nor)|n['\u2019]t)\s{1,4}(?:(?:a|an|the|really|truly|entirely|fully|quite|"
    r"actually|be|to|been|considered|is|it|as|at|all|in|any|way|such|,|\*)\s{0,4}){0,5}\W{0,4}$",
    re.I,
)
_DOUBT = re.compile(
    r"\b(?:not|never|cannot|no(?!\s{0,4}[,:\u2014\u2013])|nor|neither|hardly|barely|scarcely|rarely|doubt\w{0,8}|unlikely|unclear|"
    r"uncertain|unsure|whether|if|either|far from|unless|only|part(?:ly|ially)|less|without|question\w{0,8}|maybe|perhaps|"
    r"might|may|could|would)\b|n['\u2019]t",
    re.I,
)
_TAKEN_BACK = re.compile(
    r"\W{0,4}(?:is|would be|seems)\s{1,4}(?:wrong|false|incorrect|not)\b|\W{0,4}it is not\b", re.I
)


def _labels(text: str) -> set[bool | None]:
    """Return what a text calls its node: True for valid, False for invalid, None where it hedges or denies."""
    found: list[tuple[bool, bool | None]] = []
    for m in _LABEL.finditer(text):
        clause = re.split(r"[.!?;:\n]", text[max(0, m.start() - 120) : m.start()])[-1]
        good: bool | None = m.group(1) is None
        if _TAKEN_BACK.match(text, m.end()):
            good = None
        elif _NOT.search(clause):
            good = False if good else None
        elif _DOUBT.search(clause):
            good = None
        found.append((m.group().isupper(), good))
    # In capitals it is the label that was asked for, and not a word of the reasoning.
    shouted = any(upper for upper, _ in found)
    return {good for upper, good in found if upper or not shouted}


def read_labels(text: str | None, ids: Sequence[str]) -> dict[str, Reading]:
    """Read VALID or INVALID for each id, from JSON or from lines that begin with the id."""
    body, wrong = answer_of(text)
    if wrong:
        return {i: Reading(None, wrong) for i in ids}
    found: dict[str, set[bool | None]] = {i: set() for i in ids}
    for value in values_in(body)[0]:
        for node_id, entry in _entries(value.value, ids):
            found[node_id] |= _entry_labels(entry)
    if not any(found.values()):
        for node_id, block in _blocks(plain(body), ids):
            first, _, rest = block.partition("\n")
            found[node_id] |= _labels(first[:2000]) or _labels(rest[:2000])
    out = {}
    for node_id, marks in found.items():
        whole = marks - {None}
        if len(marks) == 1 and whole:
            out[node_id] = Reading(whole.pop(), "ok")
        else:
            out[node_id] = Reading(None, "conflict" if len(whole) > 1 else "incomplete")
    return out


def _entry_labels(entry: Any) -> set[bool | None]:
    if entry is Mark.CONFLICT:
        return {True, False}
    texts = entry.items() if isinstance(entry, dict) else [("valid", entry)]
    marks: set[bool | None] = set()
    for key, value in texts:
        if value is Mark.CONFLICT:
            marks |= {True, False}
        elif isinstance(value, str):
            word = _fold(value[:40]).strip(" .*")
            if word in ("valid", "invalid", "not valid"):
                marks.add(word == "valid")
        if _fold(key) in ("valid", "is_valid") and as_bool(value) is not None:
            marks.add(as_bool(value))
    return marks


def _blocks(body: str, ids: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Yield (id, text up to the next line that begins with an id)."""
    names = "|".join(re.escape(i) for i in sorted(ids, key=len, reverse=True))
    if not names:
        return
    head = re.compile(
        rf"^[^\w\n]{{0,12}}(?:node\s{{1,4}}|constraint\s{{1,4}}|\d{{1,3}}[.)]\s{{0,4}})?[^\w\n]{{0,6}}({names})(?![\w-]|\.\w)",
        re.I | re.M,
    )
    known = {_fold(i): i for i in ids}
    marks = [m for m in head.finditer(body) if _fold(m.group(1)) in known]
    for k, mark in enumerate(marks):
        end = marks[k + 1].start() if k + 1 < len(marks) else len(body)
        yield known[_fold(mark.group(1))], body[mark.end() : end]
