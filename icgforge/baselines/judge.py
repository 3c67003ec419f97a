"""The offline judges: read nodes and response out of the judge prompt's own messages, and answer it.

Which task a prompt sets is seen from the fields that it asks for. The response stands between two
marks that carry its hash; whatever it says about judging is matched like any other words.
"""

from __future__ import annotations

import json
import re
from typing import Any

from icgforge.baselines.matching import LENIENT, STRICT, Bar, Scale, denied, gather, items_of, verdict
from icgforge.baselines.task import read_task
from icgforge.baselines.verify import guess_subtype, overlap
from icgkit.prompts.replies import first_json

_FENCE = re.compile(r"^<<<RESPONSE ([0-9a-f]{32})>>>\n", re.M)
_LIST = re.compile(r"^Constraints:\s*$", re.M)


def judge_reply(messages: list[dict[str, Any]], *, strict: bool) -> str:
    """Answer a judge prompt in the JSON form that it asks for."""
    text = "\n".join(
        b["text"] if isinstance(b, dict) else b
        for m in messages
        if m.get("role") != "system"
        for b in (
            m["content"] if isinstance(m["content"], list) else [{"type": "text", "text": m["content"]}]
        )
        if not isinstance(b, dict) or b.get("type") == "text"
    )
    response, frame = _fenced(text)
    bar = STRICT if strict else LENIENT
    if '"satisfied"' in frame:
        return _plan(frame, response, bar)
    if '"valid"' in frame:
        return _precision(frame, bar)
    if '"subtype"' in frame:
        return _probe(frame)
    if '"agreement"' in frame:
        return _regions(frame, strict)
    return _recall(frame, response, bar)


def _fenced(text: str) -> tuple[str, str]:
    """Return what stands between the marks, and the prompt without it."""
    for mark in _FENCE.finditer(text):
        end = f"\n<<<END {mark.group(1)}>>>"
        if (at := text.find(end, mark.end() - 1)) >= 0:
            return text[mark.end() : at], text[: mark.start()] + text[at + len(end) :]
        break
    return "", text


def _nodes(frame: str, mark: str = "Constraints:") -> list[dict[str, str]]:
    # The first value after the mark: another list of the prompt may be longer.
    at = max(frame.find(mark), 0)
    found = first_json(frame, at) or []
    rows = found if isinstance(found, list) else [found]
    return [{k: str(v) for k, v in r.items()} for r in rows if isinstance(r, dict)]


def _instruction(frame: str) -> str:
    return read_task([{"role": "user", "content": frame[:3000]}]).edit.instruction


def _recall(frame: str, response: str, bar: Bar) -> str:
    nodes = _nodes(frame)
    scale = Scale(nodes, _instruction(frame))
    items = items_of(response)
    rows = [{"id": n.get("id", "?")} | verdict(gather(n, items, scale), bar) for n in nodes]
    return json.dumps({"verdicts": rows})


def _plan(frame: str, response: str, bar: Bar) -> str:
    nodes = _nodes(frame)
    scale = Scale(nodes, _instruction(frame))
    items = items_of(response)
    rows = []
    for node in nodes:
        seen = gather(node, items, scale)
        got = verdict(seen, bar)
        # A plan is a list of changes: place and concrete change count, no reason is asked for.
        done = got["region"] and not denied(seen.item) and not seen.wrong
        done = done and seen.update >= bar.update and (seen.value or seen.update > 0.5)
        rows.append({"id": node.get("id", "?"), "satisfied": bool(done)})
    return json.dumps({"verdicts": rows})


def _precision(frame: str, bar: Bar) -> str:
    nodes = _nodes(frame)
    fence = _nodes(frame, "Proposals:")
    scale = Scale(nodes, _instruction(frame))
    rows = []
    for proposal in fence:
        item = ". ".join(proposal[k] for k in ("region", "update", "reason") if proposal.get(k))
        valid = False
        for node in nodes:
            got = verdict(gather(node, (item,), scale), bar)
            valid |= got["region"] and (got["update"] or got["reason"])
        rows.append({"item": int(proposal.get("item", "0")), "valid": valid and not denied(item)})
    return json.dumps({"verdicts": rows})


def _probe(frame: str) -> str:
    reason = frame.partition("Reason:")[2].strip().splitlines()
    text = reason[0] if reason else ""
    kind = guess_subtype(text)
    words = re.search(r"\b(?:the|a|an) ((?:\w+ ){0,2}\w+)", text)
    return json.dumps({"subtype": kind, "region": words.group(0) if words else "an unknown place"})


def _regions(frame: str, strict: bool) -> str:
    fields = dict(re.findall(r"^(True region|Guess):[ \t]*(.*)$", frame, re.M))
    alike = overlap(fields.get("True region", ""), fields.get("Guess", ""))
    high, low = (0.65, 0.35) if strict else (0.5, 0.2)
    return json.dumps({"agreement": "match" if alike >= high else "partial" if alike >= low else "none"})
