"""Two judges of edited pictures that need no key: one only sees that something changed, one reads the text with OCR."""

from __future__ import annotations

import base64
import io
import json
import re
from typing import Any

import numpy as np
from PIL import Image

from icgforge.baselines.seeing import look, squeeze
from icgkit.cases.images import FORMATS
from icgkit.prompts.replies import first_json

_WORDS = re.compile(r"“([^”]*)” becomes “([^”]*)”")
CHANGED = 0.01
"""Share of the pixels of a place that must differ by 40 levels (of 255) or more for it to count as changed."""
HARMED = 30
"""Pixels outside all boxes, on a grid of every third, that differ by 40 levels or more: something else has changed."""


def edit_reply(messages: list[dict[str, Any]], *, reads: bool) -> str:
    """Answer the prompt of the judge `edit` in the JSON form that it asks for.

    `reads` says whether the text of a place decides where the entry names one; else any change is taken for the right
    one.
    """
    parts = [p for m in messages if isinstance(m.get("content"), list) for p in m["content"]]
    text = "\n".join(p["text"] for p in parts if p.get("type") == "text")
    blobs = [
        base64.b64decode(p["image_url"]["url"].partition(",")[2])
        for p in parts
        if p.get("type") == "image_url"
    ]
    if len(blobs) < 2:
        return json.dumps({"verdicts": []})
    before, after = (Image.open(io.BytesIO(b), formats=FORMATS).convert("RGB") for b in blobs[:2])
    old, new = (np.asarray(i, dtype=np.int16) for i in (before, after.resize(before.size)))
    differs = np.abs(old - new).max(2)
    entries = first_json(text, max(text.find("Constraints:"), 0)) or []
    rest = np.ones(differs.shape, bool)
    lines = [(squeeze(line.text), line.box) for line in look(blobs[1]).lines] if reads else []
    across = before.width / after.width
    rows = []
    for entry in entries:
        box = entry.get("box")
        if not box:
            continue
        x0, y0, x1, y1 = (round(float(v) / 100 * side) for v, side in zip(box, 2 * before.size, strict=True))
        here = (slice(max(0, y0 - 4), y1 + 4), slice(max(0, x0 - 4), x1 + 4))
        rest[here] = False
        changed = bool((differs[here] >= 40).mean() > CHANGED) if differs[here].size else False
        right = changed
        said = _WORDS.search(str(entry.get("update", "")))
        if reads and said:
            there = "".join(t for t, b in lines if _over([v * across for v in b], (x0, y0, x1, y1)))
            was, due = squeeze(said[1]), squeeze(said[2])
            if due and due in there:
                changed = right = True
            elif was and was in there:
                changed = right = False
            elif there:
                right = False
        rows.append({"id": str(entry.get("id")), "changed": changed, "right": right})
    if any(e.get("id") == "rest" for e in entries):
        harmed = (
            int((differs[::3, ::3] >= 40)[rest[::3, ::3]].sum()) > HARMED if rows else bool(differs.any())
        )
        rows.append({"id": "rest", "changed": harmed, "right": not harmed})
    return json.dumps({"verdicts": rows})


def _over(line: list[float], box: tuple[int, ...]) -> bool:
    """Return whether the middle of a line's box lies in a box, or the other way round."""
    for a, b in ((line, box), (box, line)):
        x, y = (a[0] + a[2]) / 2, (a[1] + a[3]) / 2
        if b[0] - 4 <= x <= b[2] + 4 and b[1] - 4 <= y <= b[3] + 4:
            return True
    return False
