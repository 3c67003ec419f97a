"""Find out from the words of a message what is asked, and in which form.

Offline models get nothing but the messages. Instruction, graph, lists and the form of the answer
are read from them as a person would; an edited template works as long as it says what it wants.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from icgforge.baselines.lexicon import quoted
from icgkit.prompts.replies import first_json

Form = Literal[
    "free", "json_graph", "json_array", "markdown", "nodes", "labels", "list", "plan",
    "transcript", "clean_region", "anonymise", "false_node", "verify", "restate",
]  # fmt: skip
Kind = Literal["percent", "price", "date", "time", "month", "weekday", "year", "number", "phrase", "word"]

MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


@dataclass(frozen=True)
class Edit:
    """The edit as the instruction puts it."""

    instruction: str
    old: str
    new: str
    kind: Kind

    @property
    def growth(self) -> float:
        """Length of the new text by that of the old one."""
        return len(self.new) / max(len(self.old), 1)


@dataclass(frozen=True)
class Task:
    """What one message asks for."""

    form: Form
    edit: Edit
    image: bytes | None
    cues: str
    """Lower-case words of the prompt without instruction, graph and lists: what it draws attention to."""
    nodes: tuple[dict[str, str], ...] = ()
    """Ground-truth or proposed nodes that the message shows."""
    relations: tuple[dict[str, Any], ...] = ()
    items: tuple[str, ...] = ()
    listed: Literal["", "region", "reason", "type"] = ""
    text: str = ""

    def names(self, pattern: str) -> bool:
        """Say whether the prompt's words draw attention to something."""
        return re.search(pattern, self.cues) is not None


def edit_kind(old: str) -> Kind:
    """Classify the edited text.

    Examples
    --------
    >>> [edit_kind(t) for t in ("50%", "$24", "3 May", "July", "19:30", "1987", "42", "OPEN", "Come and see us")]
    ['percent', 'price', 'date', 'month', 'time', 'year', 'number', 'word', 'phrase']
    """
    low = old.lower().strip()
    words = set(re.findall(r"[a-z]+", low))
    if "%" in low:
        return "percent"
    if re.search(r"[$\u20ac\u00a3\u00a5]\s*\d|\d\s*(?:[$\u20ac\u00a3]|eur|usd|chf|dollars|euros)", low):
        return "price"
    if re.search(r"\b\d{1,2}[:.]\d{2}\b|\b\d{1,2}\s*(?:am|pm)\b", low) and not re.search(
        r"\d\.\d{2}\.\d", low
    ):
        return "time"
    month = any(m in words or (m[:3] in words and m != "may") for m in MONTHS)
    if (month and re.search(r"\d", low)) or re.search(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}", low):
        return "date"
    if month:
        return "month"
    if any(d in words or d[:3] in words for d in WEEKDAYS):
        return "weekday"
    if re.fullmatch(r"(1[89]|20)\d\d", low):
        return "year"
    if re.fullmatch(r"[^a-z]*\d[\d.,]*[^a-z]*", low):
        return "number"
    return "phrase" if len(low.split()) > 3 else "word"


_TO = re.compile(r"\b(?:to|with|by|for|into|becomes?|is now|now|write|say|make it)\b", re.I)


def read_edit(instruction: str) -> Edit:
    """Read old and new text out of an instruction.

    Examples
    --------
    >>> read_edit('It should read "30%" instead of "50%".').old
    '50%'
    >>> read_edit("Change the year 1987 to 1990").new
    '1990'
    """
    said = quoted(instruction)
    if len(said) >= 2:
        first, second = said[0], said[1]
        swap = re.search(r"instead of|rather than|in place of", instruction, re.I)
        if swap and instruction.find(first) < swap.start():
            first, second = second, first
        return Edit(instruction, first, second, edit_kind(first))
    if instead := re.search(
        r"(?:read|say|show)s?\s+(.+?)\s+(?:instead of|rather than)\s+(.+?)[.\s]*$", instruction, re.I
    ):
        return Edit(instruction, instead[2], instead[1], edit_kind(instead[2]))
    body = re.sub(
        r"^\W*(?:please\s+)?(?:change|replace|turn|swap|edit|update|modify|set|rename)\s+(?:the\s+)?",
        "",
        instruction.strip(),
        flags=re.I,
    )
    body = re.sub(
        r"^(?:word|text|name|number|price|date|year|month|time|sign|title|label)\s+", "", body, flags=re.I
    )
    if (parts := _TO.search(body)) and parts.start() > 0:
        old, new = body[: parts.start()].strip(" .\"'"), body[parts.end() :].strip(" .\"'")
        old = re.sub(r"^from\s+", "", old, flags=re.I)
        if said:
            old, new = (said[0], new) if instruction.find(said[0]) < instruction.find(new) else (old, said[0])
        return Edit(instruction, old[-60:], new[:60], edit_kind(old))
    only = said[0] if said else body[:60]
    return Edit(instruction, only, "", edit_kind(only))


_INSTRUCTION = re.compile(
    r"^\W*(?:the\s+)?(?:requested\s+edit|edit(?:ing)?\s+(?:instruction|request|command)|instruction|edit)\W{0,3}[:\uff1a]\W{0,3}(.+)$",
    re.I | re.M,
)
_VERB = re.compile(r"\b(?:change|replace|swap|turn|update|edit|write|should read|becomes?)\b", re.I)
_NUMBERED = re.compile(r"^\s*(\d{1,3})[.)]\s+(\S.*)$", re.M)
_DASHED = re.compile(r"^- (\S.*)$", re.M)


def _parts(messages: list[dict[str, Any]]) -> tuple[str, str, str | None]:
    system: list[str] = []
    user: list[str] = []
    url: str | None = None
    for message in messages:
        content = message.get("content") or ""
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        for block in blocks:
            if block.get("type") == "text":
                (system if message.get("role") == "system" else user).append(str(block["text"]))
            elif block.get("type") == "image_url":
                image = block["image_url"]
                url = image["url"] if isinstance(image, dict) else image
    return "\n".join(system), "\n".join(user), url


def _instruction(user: str) -> str:
    if match := _INSTRUCTION.search(user):
        return match.group(1).strip()
    for line in user.splitlines():
        if _VERB.search(line) and (quoted(line) or re.search(r"\bto\b", line)) and len(line) < 400:
            return line.strip()
    return ""


@lru_cache(maxsize=64)
def _image(url: str | None) -> bytes | None:
    if not url or not url.startswith("data:"):
        return None
    try:
        return base64.b64decode(url.partition(",")[2], validate=True)
    except binascii.Error:
        return None


def read_task(messages: list[dict[str, Any]]) -> Task:
    """Read messages into a task."""
    system, user, url = _parts(messages)
    instruction = _instruction(user)
    edit = read_edit(instruction)
    rest = user.replace(instruction, " ", 1) if instruction else user
    image = _image(url)
    graph = first_json(rest, 0, "constraint_nodes") if '"constraint_nodes"' in rest else None
    nodes, relations, shown = _graph(graph)
    low = f"{system}\n{rest}".lower()
    form, listed, items = _form(low, rest, bool(nodes))
    if shown or items:
        for item in items:
            rest = rest.replace(item, " ", 1)
        rest = re.sub(r"\{.*\}", " ", rest, flags=re.S) if shown else rest
    cues = f"{system}\n{rest}".lower()
    return Task(form, edit, image, cues, nodes, relations, items, listed, user)  # type: ignore[arg-type]


def _graph(graph: Any) -> tuple[tuple[dict[str, str], ...], tuple[dict[str, Any], ...], bool]:
    if not isinstance(graph, dict) or not isinstance(graph.get("constraint_nodes"), list):
        return (), (), False
    nodes = [n for n in graph["constraint_nodes"] if isinstance(n, dict)]
    if not nodes or all(set(str(n.get("region"))) <= {"."} for n in nodes):
        return (), (), False  # an example of the shape that is asked for
    clean = [{k: str(v) for k, v in n.items() if v is not None} for n in nodes]
    edges = [e for e in graph.get("inter_constraints") or [] if isinstance(e, dict)]
    return tuple(clean), tuple(edges), True


def _form(low: str, rest: str, has_nodes: bool) -> tuple[str, str, tuple[str, ...]]:
    numbered = tuple(m[1].strip() for m in _NUMBERED.findall(rest))
    dashed = tuple(m.strip() for m in _DASHED.findall(rest))
    if re.search(r"\b(?:transcribe|list all text|all (?:visible )?text in)", low):
        return "transcript", "", ()
    if re.search(r"rewrite the name|new name only", low):
        return "clean_region", "", ()
    if re.search(r"rewrite the reason|new reason only|anonymi[sz]e", low):
        return "anonymise", "", ()
    if re.search(r"\binvent\b|sounds believable|false but plausible|plausible but (?:false|wrong)", low):
        return "false_node", "", ()
    if "add nothing and leave nothing out" in low:
        return "restate", "", dashed
    if re.search(r"check every claim|\blocatable\b|verify each", low):
        return "verify", "", numbered or dashed
    if re.search(r"\bplan\b", low) and re.search(r"\bsteps?\b", low):
        return "plan", "", dashed
    if has_nodes:
        return ("labels" if re.search(r"\bINVALID\b", rest) else "nodes"), "", ()
    if re.search(r"answer for each (place|region)", low):
        return "list", "region", numbered
    if re.search(r"answer for each (explanation|reason)", low):
        return "list", "reason", numbered
    if re.search(r"answer for each (label|type|kind)", low):
        return "list", "type", numbered
    if "json array" in low or re.search(r"\[\s*\{\s*\"region\"", rest):
        return "json_array", "", ()
    if '"constraint_nodes"' in rest or "json object" in low:
        return "json_graph", "", ()
    if "markdown table" in low or re.search(r"^\s*\|\s*region", low, re.M):
        return "markdown", "", ()
    return "free", "", ()
