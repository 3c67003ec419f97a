"""What the offline models read from an image: lines of text with place, size and colour."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from icgforge.baselines.store import remember
from icgkit.errors import CallError, ImageError

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Line:
    """One line of text that OCR found; pixels from the top left."""

    text: str
    quad: tuple[tuple[float, float], ...]
    score: float
    ink: tuple[int, int, int]
    paper: tuple[int, int, int]

    @cached_property
    def box(self) -> Box:
        """Upright bounding box."""
        xs, ys = [p[0] for p in self.quad], [p[1] for p in self.quad]
        return min(xs), min(ys), max(xs), max(ys)

    @property
    def height(self) -> float:
        """Height of the line along its own left side."""
        (x0, y0), (x1, y1) = self.quad[0], self.quad[3]
        return float(((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5)

    @property
    def centre(self) -> tuple[float, float]:
        """Middle of the box."""
        x0, y0, x1, y1 = self.box
        return (x0 + x1) / 2, (y0 + y1) / 2

    @property
    def slant(self) -> float:
        """Angle of the top side to the horizontal, degrees."""
        import math

        (x0, y0), (x1, y1) = self.quad[0], self.quad[1]
        return math.degrees(math.atan2(y1 - y0, x1 - x0))

    @property
    def key(self) -> str:
        """Letters and digits only, lower case: for comparing readings."""
        return squeeze(self.text)


@dataclass(frozen=True)
class Sight:
    """An image as the offline models see it."""

    width: int
    height: int
    lines: tuple[Line, ...]
    blob: bytes

    @cached_property
    def pixels(self) -> Array:
        """Decoded image, BGR."""
        return decode(self.blob)

    def place(self, box: Box) -> str:
        """Say in words where a box lies.

        Examples
        --------
        >>> Sight(90, 90, (), b"").place((0, 70, 20, 80))
        'lower left'
        """
        x, y = (box[0] + box[2]) / 2 / self.width, (box[1] + box[3]) / 2 / self.height
        row = "upper" if y < 0.36 else "lower" if y > 0.64 else ""
        col = "left" if x < 0.36 else "right" if x > 0.64 else ""
        return " ".join(w for w in (row, col or ("middle" if row else "")) if w) or "centre"

    def find(self, text: str, least: float = 0.72) -> Line | None:
        """Return the line that shows `text`, the most alike one first, the larger of equals."""
        want = squeeze(text)
        if not want:
            return None
        best: tuple[float, float] = (least, 0.0)
        found = None
        for line in self.lines:
            alike = likeness(want, line.key)
            if (alike, line.height) > best:
                best, found = (alike, line.height), line
        return found


def squeeze(text: str) -> str:
    """Keep letters, digits and the signs that carry value, lower case."""
    return re.sub(r"[^\w%$\u20ac\u00a3]", "", text.lower()).replace("_", "")


@lru_cache(maxsize=100_000)
def likeness(want: str, line: str) -> float:
    """Return 0..1: how much of `want` a line shows; a longer line is marked down a little."""
    if not want or not line:
        return 0.0
    if want == line:
        return 1.0
    if want in line and len(want) > 1:
        return 0.8 + 0.19 * len(want) / len(line)
    return SequenceMatcher(None, want, line, autojunk=False).ratio()


def decode(blob: bytes) -> Array:
    """Decode image bytes to BGR.

    Raises
    ------
    ImageError
        If the bytes are no image.
    """
    import cv2
    import numpy as np

    pixels = cv2.imdecode(np.frombuffer(blob, np.uint8), cv2.IMREAD_COLOR)
    if pixels is None:
        raise ImageError("image bytes in the message cannot be decoded")
    return pixels


@lru_cache(maxsize=1)
def _engine() -> Any:
    try:
        from rapidocr import RapidOCR
    except ImportError:
        raise CallError(
            "the offline models that read text need RapidOCR", remedy="pip install 'icgkit[offline]'"
        ) from None
    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.max_side_len": 1100,
            "Det.limit_type": "max",
            "Det.limit_side_len": 960,
            # Short texts are not padded to the width of long ones.
            "Rec.rec_img_shape": [3, 48, 96],
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )


def _read(blob: bytes) -> dict[str, Any]:
    import warnings

    pixels = decode(blob)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = _engine()(pixels, use_cls=False)
    lines = []
    if result.boxes is not None:
        for quad, text, score in zip(result.boxes, result.txts, result.scores, strict=True):
            points = [[round(float(x), 1), round(float(y), 1)] for x, y in quad]
            ink, paper = _colours(pixels, points)
            row = {"text": str(text)[:200], "quad": points, "score": round(float(score), 3)}
            lines.append(row | {"ink": ink, "paper": paper})
    return {"width": pixels.shape[1], "height": pixels.shape[0], "lines": lines[:150]}


def _colours(pixels: Array, quad: list[list[float]]) -> tuple[list[int], list[int]]:
    """Return text and background colour (RGB): the two poles of the patch, rim = background."""
    import numpy as np

    xs, ys = [p[0] for p in quad], [p[1] for p in quad]
    x0, y0 = max(int(min(xs)), 0), max(int(min(ys)), 0)
    patch = pixels[y0 : int(max(ys)) + 1, x0 : int(max(xs)) + 1, ::-1].astype(np.int32)
    if patch.size == 0:
        return [0, 0, 0], [255, 255, 255]
    rim = np.concatenate([patch[0], patch[-1], patch[:, 0], patch[:, -1]])
    paper = np.median(rim, axis=0)
    flat = patch.reshape(-1, 3)
    away = np.abs(flat - paper).sum(axis=1)
    far = flat[away >= np.quantile(away, 0.88)]
    return [int(v) for v in np.median(far, axis=0)], [int(v) for v in paper]


def look(blob: bytes) -> Sight:
    """Read an image once; later calls with the same bytes come from the store."""
    raw = remember("ocr", (blob,), lambda: _read(blob))
    return _sight(blob, raw)


_SIGHTS: dict[int, tuple[Any, Sight]] = {}


def _sight(blob: bytes, raw: dict[str, Any]) -> Sight:
    kept = _SIGHTS.get(id(raw))
    if kept and kept[0] is raw:
        return kept[1]
    lines = tuple(
        Line(r["text"], tuple((x, y) for x, y in r["quad"]), r["score"], tuple(r["ink"]), tuple(r["paper"]))
        for r in raw["lines"]
    )
    sight = Sight(raw["width"], raw["height"], lines, blob)
    if len(_SIGHTS) > 600:
        _SIGHTS.clear()
    _SIGHTS[id(raw)] = (raw, sight)
    return sight
