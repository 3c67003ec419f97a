"""Numbered boxes on pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from icgkit.report.plots.style import sign_marker
from icgkit.report.render import plain_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Mark(NamedTuple):
    """A box to draw, with its number, colour and line."""

    box: tuple[float, float, float, float]
    label: str
    color: str
    line: str


@plain_style()
def draw_marks(ax: Axes, marks: Sequence[Mark], size: float) -> None:
    """Draw boxes, white beneath their colour, and numbered discs at their corners; all of a kind at once."""
    from matplotlib.collections import PolyCollection

    for mark_line in ("--", "-"):
        those = [m for m in marks if m.line == mark_line]
        corners = [[(m.box[i], m.box[j]) for i, j in ((0, 1), (2, 1), (2, 3), (0, 3))] for m in those]
        for colors, width in (("white", 0.43 * size), ([m.color for m in those], 0.23 * size)):
            frame = PolyCollection(
                corners, facecolors="none", edgecolors=colors, linewidths=width, linestyles=mark_line
            )
            ax.add_collection(frame, autolim=False)
    for k, label in enumerate(dict.fromkeys(m.label for m in marks)):
        those = [m for m in marks if m.label == label]
        x, y = ([m.box[i] for m in those] for i in (0, 1))
        disc: dict[str, Any] = {
            "c": [m.color for m in those],
            "edgecolors": "white",
            "linewidths": 0.11 * size,
        }
        ax.scatter(x, y, s=(1.75 * size) ** 2, zorder=3 + 2 * k, **disc)
        sign = sign_marker(rf"\mathbf{{{label}}}")
        ax.scatter(x, y, s=(0.95 * size) ** 2, marker=sign, c="white", lw=0, zorder=4 + 2 * k, gid=label)
