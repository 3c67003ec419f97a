"""Numbered boxes on pictures: the frame outside what it marks, the number beside it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from icgkit.cases.show import badge_places, leader
from icgkit.report.plots.style import inches
from icgkit.report.render import font_file, plain_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from icgkit.cases.case import Box


class Mark(NamedTuple):
    """A box to draw, with its number, colour and line."""

    box: Box
    label: str
    color: str
    line: str


class Field(NamedTuple):
    """Where a picture lies in an axes, data units."""

    at: tuple[float, float]
    size: tuple[float, float]


@plain_style()
def draw_marks(ax: Axes, marks: Sequence[Mark], field: Field, radius: float = 0.0) -> None:
    """Draw the boxes of one picture in their colours on white, each with its number on a disc beside it.

    Parameters
    ----------
    field : Field
        Where the picture lies: discs stay inside.
    radius : float
        Of the discs, data units; by default one part in forty of the picture's longer side.
    """
    from matplotlib.collections import EllipseCollection, LineCollection, PathCollection, PolyCollection

    if not marks:
        return
    r = radius or 0.024 * max(field.size)
    unit = _points_per_unit(ax)
    discs = badge_places([m.box for m in marks], r, field.size, field.at)
    colors = [m.color for m in marks]
    pad = 0.2 * r
    corners = [
        [(x0 - pad, y0 - pad), (x1 + pad, y0 - pad), (x1 + pad, y1 + pad), (x0 - pad, y1 + pad)]
        for (x0, y0, x1, y1), *_ in marks
    ]
    lines = [[disc, leader(m.box, disc)] for m, disc in zip(marks, discs, strict=True)]
    dashes: list[Any] = [(0, (3, 1.6)) if m.line == "--" else "-" for m in marks]
    for edge, width in (("white", 0.36 * r * unit), (colors, 0.2 * r * unit)):
        options: dict[str, Any] = {"edgecolors": edge, "linewidths": width, "linestyles": dashes}
        ax.add_collection(PolyCollection(corners, facecolors="none", zorder=3, **options), autolim=False)
        ax.add_collection(LineCollection(lines, colors=edge, linewidths=width, zorder=3), autolim=False)
    sides = [2 * r] * len(marks)
    ax.add_collection(
        EllipseCollection(
            sides, sides, [0] * len(marks), units="xy", offsets=discs, transOffset=ax.transData,
            facecolors=colors, edgecolors="white", linewidths=0.14 * r * unit, zorder=4,
        ),
        autolim=False,
    )  # fmt: skip
    for mark, disc in zip(marks, discs, strict=True):
        path = _sign(mark.label)
        shown = path.transformed(_at(disc, 1.25 * r))
        sign = PathCollection([shown], facecolors="white", edgecolors="none", zorder=5, gid=mark.label)
        ax.add_collection(sign, autolim=False)


def _points_per_unit(ax: Axes) -> float:
    """Return points a data unit, from the axes' place before the layout is settled: widths need no more."""
    width, height = inches(ax)
    place = ax.get_position()
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    return 72 * min(width * place.width / abs(x1 - x0), height * place.height / abs(y1 - y0))


def _at(where: tuple[float, float], size: float) -> Any:
    from matplotlib.transforms import Affine2D

    return Affine2D().scale(size, -size).translate(*where)  # pictures have y downwards


@cache
def _sign(text: str) -> Any:
    """Return the outline of a sign, one em large, round its own middle."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath
    from matplotlib.transforms import Affine2D

    path = TextPath((0, 0), text, size=1, prop=FontProperties(fname=str(font_file(bold=True))), usetex=False)
    box = path.get_extents()
    return path.transformed(Affine2D().translate(-(box.x0 + box.x1) / 2, -(box.y0 + box.y1) / 2))
