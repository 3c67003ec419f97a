"""What the drawn tasks of GRADE share: the pen, the colours, and the frozen record of a task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image

SIZE = (360, 260)
"""Width and height of every picture, pixels."""
INK, PAPER, RED, BLUE = (30, 30, 30), (255, 255, 255), (214, 39, 40), (70, 120, 180)
FILLS = {
    "yellow": (250, 214, 90),
    "green": (120, 190, 120),
    "violet": (168, 130, 200),
    "pink": (235, 110, 160),
}
EDITS = ("solved", "partial", "wrong", "over", "no_op")
"""Edits that every subject draws; `icgforge.diagrams.tasks` derives further ones from `solved`."""

_TWICE = 2

Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class Drawn:
    """A drawn task: what is asked, the points with weights, the pictures, and what holds in each by construction."""

    task_id: str
    sub_task: str
    kind: str
    implicit: str
    explicit: str
    points: tuple[tuple[str, float], ...]
    pictures: Mapping[str, Image]
    met: Mapping[str, tuple[bool, ...]]
    """Edit to which points hold."""
    consistency: Mapping[str, int | None]
    """Edit to its consistency score; None where none is asked for."""


class Pen:
    """Draws in final pixels on a canvas of twice the size, so that lines come out smooth."""

    def __init__(self, paper: tuple[int, int, int] = PAPER) -> None:
        from PIL import Image, ImageDraw

        self._image = Image.new("RGB", (SIZE[0] * _TWICE, SIZE[1] * _TWICE), paper)
        self._draw = ImageDraw.Draw(self._image)

    def line(self, *points: tuple[float, float], color: tuple[int, int, int] = INK, width: int = 2) -> None:
        """Draw a line through points."""
        self._draw.line([(x * _TWICE, y * _TWICE) for x, y in points], fill=color, width=width * _TWICE)

    def box(self, x0: float, y0: float, x1: float, y1: float, fill: Any = None, edge: Any = INK) -> None:
        """Draw a rectangle."""
        self._draw.rectangle([v * _TWICE for v in (x0, y0, x1, y1)], fill=fill, outline=edge, width=3)

    def disc(
        self, x: float, y: float, rx: float, ry: float | None = None, fill: Any = INK, edge: Any = INK
    ) -> None:
        """Draw an ellipse around a point."""
        ry = rx if ry is None else ry
        box = [(x - rx) * _TWICE, (y - ry) * _TWICE, (x + rx) * _TWICE, (y + ry) * _TWICE]
        self._draw.ellipse(box, fill=fill, outline=edge, width=3)

    def text(self, x: float, y: float, words: str, size: int = 15, color: tuple[int, int, int] = INK) -> None:
        """Write words centred on a point."""
        self._draw.text((x * _TWICE, y * _TWICE), words, fill=color, font=_font(size * _TWICE), anchor="mm")

    def picture(self) -> Image:
        """Return the picture in its final size."""
        from PIL import Image

        return self._image.resize(SIZE, Image.Resampling.BOX)


@lru_cache(maxsize=8)
def _font(size: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)


def at(words: str, box: Box) -> str:
    """Return the words of a point with its place, as the pixel judge reads it."""
    x0, x1, y0, y1 = box
    return f"{words} (x {x0}-{x1}, y {y0}-{y1})"


def build(
    task_id: str, sub_task: str, kind: str, says: tuple[str, str], points: Sequence[tuple[str, float]],
    draw: Callable[[Any], Image], states: Mapping[str, Any], met: Mapping[str, Sequence[bool]], over: int | None,
) -> Drawn:  # fmt: skip
    """Draw every state of a task and put the task together.

    Parameters
    ----------
    says : tuple
        Implicit and explicit instruction.
    states : mapping
        `original` and every edit of `EDITS` to the state that `draw` takes.
    met : mapping
        Edit to which points hold in it; all hold in `solved`.
    over : int or None
        Consistency score of the edit that does too much.
    """
    pictures = {name: draw(state) for name, state in states.items()}
    consistency = {name: None if kind == "none" else over if name == "over" else 2 for name in EDITS}
    whole = {"solved": [True] * len(points)} | dict(met)
    return Drawn(
        task_id, sub_task, kind, says[0], says[1], tuple(points), pictures,
        {k: tuple(v) for k, v in whole.items()}, consistency,
    )  # fmt: skip
