"""The offline judge of drawn diagrams: compares the pixels of an edited picture with those of a reference.

It reads the judge prompts of GRADE like any other judge: pictures and text out of the messages. A
point that names its place as `(x 10-90, y 20-60)` is judged in that box. Without a reference it gives
no verdict on reasoning and consistency; it has no knowledge of any subject.
"""

from __future__ import annotations

import base64
import io
import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icgkit.cases.images import FORMATS
from icgkit.prompts.replies import first_json

if TYPE_CHECKING:
    from PIL.Image import Image

APART = 60
"""Difference in any channel, after blurring, above which two pixels are not the same colour."""
BLOT = 6
"""Pixels of a block of 3 by 3 that must differ from the reference to count as a fault; thin seams are noise."""
KEPT = (0.002, 0.3)
"""Largest shares of changed pixels outside the edit for the consistency scores 2 and 1."""
STYLE = (0.02, 0.12)
"""Largest shares of pixels in colours that the reference does not use for the style scores 2 and 1."""
CONTRAST = (90.0, 30.0)
"""Least steepness of the strokes (grey levels a pixel) for the readability scores 2 and 1."""
MARGIN = 5
"""Pixels around the edit that may change with it."""

_BOX = re.compile(r"\(x (\d+)-(\d+), y (\d+)-(\d+)\)")

Pixels = NDArray[np.float32]


def pixel_reply(messages: list[dict[str, Any]]) -> str:
    """Answer a GRADE judge prompt in the JSON form that it asks for."""
    parts = [p for m in messages if isinstance(m.get("content"), list) for p in m["content"]]
    text = "\n".join(p["text"] for p in parts if p.get("type") == "text")
    pictures = [_decode(p["image_url"]["url"]) for p in parts if p.get("type") == "image_url"]
    if '"met"' in text:
        return _points(text, pictures)
    if len(pictures) == 1:
        return json.dumps(dict(zip(("score", "why"), _readable(pictures[0]), strict=True)))
    if len(pictures) < 3:
        return json.dumps({"score": None, "why": "no reference to compare with"})
    original, edited, reference = _alike(pictures)
    score, why = _style(edited, reference) if "way of drawing" in text else _kept(original, edited, reference)
    return json.dumps({"score": score, "why": why})


def _decode(url: str) -> Image:
    from PIL import Image

    data = base64.b64decode(url.partition(",")[2])
    return Image.open(io.BytesIO(data), formats=FORMATS).convert("RGB")


def _alike(pictures: list[Image]) -> list[Pixels]:
    """Bring pictures to the size of the first, blur them slightly, return them as arrays."""
    from PIL import Image, ImageFilter

    size = pictures[0].size
    same = [p if p.size == size else p.resize(size, Image.Resampling.LANCZOS) for p in pictures[:3]]
    return [np.asarray(p.filter(ImageFilter.GaussianBlur(1.0)), dtype=np.float32) for p in same]


def _differ(a: Pixels, b: Pixels) -> NDArray[np.bool_]:
    return np.asarray(np.abs(a - b).max(axis=2) > APART, dtype=bool)


def _points(text: str, pictures: list[Image]) -> str:
    at = text.find("Points:")
    points = first_json(text, at) or []
    if len(pictures) < 3:
        return json.dumps({"verdicts": []})
    _, edited, reference = _alike(pictures)
    wrong = _differ(edited, reference)
    rows = []
    for point in points:
        box = _BOX.search(str(point.get("point", "")))
        if box is None:
            continue  # no place, no verdict
        x0, x1, y0, y1 = map(int, box.groups())
        rows.append({"id": str(point.get("id")), "met": not _blotted(wrong[y0:y1, x0:x1])})
    return json.dumps({"verdicts": rows})


def _blotted(wrong: NDArray[np.bool_]) -> bool:
    """Say whether some block of 3 by 3 pixels is mostly wrong."""
    if min(wrong.shape) < 3:
        return bool(wrong.any())
    blocks = np.lib.stride_tricks.sliding_window_view(wrong, (3, 3))
    return bool((blocks.sum(axis=(2, 3)) >= BLOT).any())


def _grown(mask: NDArray[np.bool_], by: int) -> NDArray[np.bool_]:
    from PIL import Image, ImageFilter

    picture = Image.fromarray(mask.astype(np.uint8) * 255).filter(ImageFilter.MaxFilter(2 * by + 1))
    return np.asarray(picture) > 0


def _kept(original: Pixels, edited: Pixels, reference: Pixels) -> tuple[int, str]:
    free = _grown(_differ(original, reference), MARGIN)
    share = float(_differ(edited, original)[~free].mean())
    score = 2 if share <= KEPT[0] else 1 if share <= KEPT[1] else 0
    return score, f"{share:.2%} of the pixels outside the edit changed"


def _style(edited: Pixels, reference: Pixels) -> tuple[int, str]:
    bins = [
        np.bincount((p // 64).astype(int).reshape(-1, 3) @ (16, 4, 1), minlength=64)
        for p in (edited, reference)
    ]
    share = float(bins[0][bins[1] < 0.0005 * bins[1].sum()].sum() / bins[0].sum())
    score = 2 if share <= STYLE[0] else 1 if share <= STYLE[1] else 0
    return score, f"{share:.2%} of the pixels in colours that the reference does not use"


def _readable(picture: Image) -> tuple[int, str]:
    grey = np.asarray(picture.convert("L"), dtype=np.float32)
    steps = np.maximum(np.abs(np.diff(grey, axis=0))[:, :-1], np.abs(np.diff(grey, axis=1))[:-1])
    steep = float(np.percentile(steps, 99.8))
    score = 2 if steep >= CONTRAST[0] else 1 if steep >= CONTRAST[1] else 0
    return score, f"strokes change by {steep:.0f} grey levels a pixel"
