"""Pull proposed constraints out of a reply: JSON, a Markdown table, or free text.

Each proposal is a dict with `region`, `type`, `update` and `reason`; what the reply does not name
is None. Free text is cut into items by its own list marks, so that a sub-list stays with its item.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import polars as pl

from icgkit.prompts.replies import answer_of, values_in
from icgkit.schemas import schema

MAX_ITEMS = 200
_FIELDS: dict[str, tuple[str, ...]] = {
    "region": ("region", "element", "location", "where", "place", "affected region", "area"),
    "type": ("type", "constraint_type", "constraint type", "category", "family", "subtype", "kind"),
    "update": (
        "expected_update", "expected update", "update", "change", "required update", "what changes",
        "needed update", "required change", "action",
    ),
    "reason": ("reason", "why", "because", "dependency", "rationale", "explanation"),
}  # fmt: skip
_ALIAS = {alias: name for name, aliases in _FIELDS.items() for alias in aliases}


class Proposals(NamedTuple):
    """Items read from a reply and how it went: ok, none, empty, truncated or unreadable."""

    items: list[dict[str, str | None]]
    status: str
    form: str
    """json, markdown or text."""


def read_proposals(text: str | None) -> Proposals:
    """Extract the constraints that a reply proposes."""
    body, wrong = answer_of(text)
    if wrong:
        return Proposals([], wrong, "text")
    if re.search(r"[{\[]\s*+[\"{]|```\s{0,4}json|[{\[]\s*+[}\]]", body, re.I):
        values, wrong = values_in(body)
        rows = _json_rows([v.value for v in values])
        all_json = body.lstrip("`json \n").startswith(("{", "[")) or re.search(
            r"^```\s{0,4}json", body, re.I | re.M
        )
        if rows or all_json:
            return Proposals([], wrong, "json") if wrong else _done(rows, "json")
    if table := _table(body):
        return _done(table, "markdown")
    return _done([r for r in map(_free, split_items(body)) if r], "text")


def _json_rows(values: list[Any]) -> list[dict[str, str | None]]:
    """Read the last value that holds a list of constraints, else all values that are one each."""
    lists: list[list[dict[str, str | None]]] = []
    single: list[list[dict[str, str | None]]] = []
    for value in values:
        rows = [row for d in _dicts(value) if (row := _row(d))]
        (single if rows and isinstance(value, dict) and rows == [_row(value)] else lists).append(rows)
    return next((rows for rows in reversed(lists) if rows), []) or [row for rows in single for row in rows]


def _done(rows: list[dict[str, str | None]], form: str) -> Proposals:
    return Proposals(rows[:MAX_ITEMS], "ok" if rows else "none", form)


def _dicts(value: Any) -> Iterable[dict[str, Any]]:
    """Yield the constraint objects: a list of nodes, wherever it hangs."""
    if isinstance(value, dict):
        named = [v for k, v in value.items() if "node" in k.lower() or k.lower() in ("constraints", "items")]
        lists = [v for v in named if isinstance(v, list)]
        if not lists:
            lists = [v for k, v in value.items() if isinstance(v, list) and "inter" not in k.lower()]
        if not lists and {_ALIAS.get(k.lower()) for k in value} & {"region", "update", "reason"}:
            yield value
        for inner in lists:
            yield from (d for d in inner if isinstance(d, dict))
    else:
        for item in value:
            if isinstance(item, dict):
                if "constraint_nodes" in item:
                    yield from _dicts(item)
                else:
                    yield item


def _text(value: Any) -> str | None:
    if isinstance(value, (str, int, float)) and not isinstance(value, bool) and str(value).strip():
        return str(value).strip()
    return None


def _row(entry: dict[str, Any]) -> dict[str, str | None] | None:
    row: dict[str, str | None] = dict.fromkeys(_FIELDS)
    for key, value in entry.items():
        name = _ALIAS.get(key.strip().lower())
        if name and row[name] is None:
            row[name] = _text(value)
    return row if row["region"] or row["update"] or row["reason"] else None


def _cells(line: str) -> list[str]:
    return [c.strip().strip("*`").strip() for c in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


_RULE = re.compile(r"[\s|:\-]+")


def _table(body: str) -> list[dict[str, str | None]]:
    """Read every Markdown table that has a region, update or reason column."""
    lines = body.split("\n")
    rows: list[dict[str, str | None]] = []
    k = 0
    while k + 1 < len(lines):
        if "|" in lines[k] and _RULE.fullmatch(lines[k + 1]) and "-" in lines[k + 1]:
            heads = [_column(c) for c in _cells(lines[k])]
            k += 2
            while k < len(lines) and "|" in lines[k]:
                pairs = zip(heads, _cells(lines[k]), strict=False)
                row = _row({h: c for h, c in pairs if h and c and c not in ("-", "–")})
                if row:
                    rows.append(row)
                k += 1
        else:
            k += 1
    return rows


def _column(head: str) -> str | None:
    words = head.lower().strip()
    if words in _ALIAS:
        return _ALIAS[words]
    return next((_ALIAS[w] for w in re.findall(r"[a-z]+", words) if w in _ALIAS), None)


_MARK = re.compile(r"^(\s*)(?:[-*\u2022\u2013+]|\(?\d{1,3}[.)]|#{1,6}|\(?[a-z][.)])\s+(?=\S)")


def split_items(body: str) -> list[str]:
    """Cut free text into items: list entries with their sub-entries, else paragraphs."""
    items: list[list[str]] = []
    outer: int | None = None
    open_item = False
    listed = False
    for line in body.split("\n"):
        mark = _MARK.match(line)
        if mark and not line.lstrip().startswith("#"):
            depth = len(mark.group(1).expandtabs(4))
            words = line[mark.end() :].strip()
            listed = True
            if outer is None or depth <= outer or not open_item:
                outer, open_item = depth, True
                items.append([words])
            else:
                items[-1].append(words)
        elif not line.strip():
            open_item = open_item and listed
        elif line.lstrip().startswith("#"):
            outer, open_item = None, False
        elif listed and open_item and line.startswith((" ", "\t")):
            items[-1].append(line.strip())
        elif listed:
            open_item = False
    if listed:
        return ["\n".join(parts) for parts in items[:MAX_ITEMS]]
    chunks = [c.strip() for c in re.split(r"\n\s*\n", body)]
    return [c for c in chunks if c and not c.startswith("#")][:MAX_ITEMS]


_LABELLED = re.compile(
    r"(?:^|[\n;.(]|\*\*)\s{0,8}\*{0,3}("
    + "|".join(sorted(map(re.escape, _ALIAS), key=len, reverse=True))
    + r")\*{0,3}\s{0,8}[:\uff1a]\*{0,3}\s{0,8}",
    re.I,
)
_NOTHING = re.compile(r"(?:nothing|none|no (?:other|further|more|implicit))\b", re.I)
_WHY = re.compile(r"\b(because|since|as it|so that|given that|due to)\b", re.I)


def _free(item: str) -> dict[str, str | None] | None:
    """Read one free-text item: labelled fields where there are any, else by its joints."""
    item = item[:4000]
    marks = list(_LABELLED.finditer(item))
    if len(marks) >= 2:
        found: dict[str, Any] = {}
        for k, mark in enumerate(marks):
            end = marks[k + 1].start() if k + 1 < len(marks) else len(item)
            found.setdefault(mark.group(1).lower(), item[mark.end() : end].strip(" *\n;").strip())
        row = _row(found)
        lead = item[: marks[0].start()].strip(" *:\n\u2013-")
        if row and not row["region"] and lead:
            row["region"] = lead
        return row
    words = " ".join(item.replace("*", "").split())
    if len(words.split()) < 3 or _NOTHING.match(words):
        return None
    head, sep, rest = words.partition(":")
    if not sep or len(head) > 120:
        head, sep, rest = words.partition(" \u2014 ")
    region = head.strip() if sep and rest.strip() and len(head) <= 120 else None
    body = rest.strip() if region else words
    why = _WHY.search(body)
    update = body[: why.start()].strip(" ,;") if why else body
    return {
        "region": region,
        "type": None,
        "update": update or None,
        "reason": body[why.start() :] if why else None,
    }


def call_key(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the key of a response, from its row."""
    return {k: row[k] for k in schema("responses").key}


class Extracted(NamedTuple):
    """Proposed constraints, and how the reading of each response went."""

    proposals: pl.DataFrame
    """Schema `proposals`."""
    replies: pl.DataFrame
    """One row a response: its key, `status` (ok | none | unreadable ...), `form`, `n_items`."""


def extract_proposals(responses: pl.DataFrame) -> Extracted:
    """Read the constraints that responses propose, from JSON, Markdown tables or free text."""
    items, replies = [], []
    for row in responses.iter_rows(named=True):
        key = call_key(row)
        usable = row["status"] == "ok"
        read = read_proposals(row["text"] if usable else None)
        status = read.status if usable else "no_response"
        replies.append({**key, "status": status, "form": read.form, "n_items": len(read.items)})
        items += [{**key, "item": k, **item} for k, item in enumerate(read.items)]
    calls = schema("responses").dtypes
    kinds = {k: calls[k] for k in schema("responses").key}
    kinds |= {"status": pl.String, "form": pl.String, "n_items": pl.Int64}
    return Extracted(schema("proposals").frame(items), pl.DataFrame(replies, schema=kinds))
