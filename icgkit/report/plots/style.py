"""Palette and page: one palette, so that a thing keeps its colour in every figure.

Categories have the colours of the taxonomy, models those of `model_color`; both are told apart
under colour-vision deficiencies, and models carry a marker besides.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from icgkit.report.render import plain_style
from icgkit.taxonomy import CATEGORIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#222222"
GRID = "#D9D9D9"
# Paul Tol's "bright" scheme and one grey.
COLORS = ("#4477AA", "#EE6677", "#228833", "#AA3377", "#66CCEE", "#CCBB44", "#777777")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# Position in the palette: the study's models and the reference baselines share the first four colours,
# since they never stand in one figure.
KNOWN = {
    "offline/instruction-only": 0, "offline/priors": 1, "offline/ocr-rules": 2, "offline/ocr-vision": 3,
    "claude-opus-4.6": 0, "gpt-4o": 1, "gemini-2.5-flash": 2, "qwen3-vl-plus": 3, "glm-4.6v": 4,
}  # fmt: skip
STYLE: Any = {
    "font.size": 9, "axes.titlesize": 10, "axes.labelsize": 9, "axes.edgecolor": INK, "text.color": INK,
    "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK, "axes.spines.top": False,
    "axes.spines.right": False, "axes.grid": False, "figure.dpi": 110,
    "savefig.dpi": 200, "svg.fonttype": "none", "pdf.fonttype": 42, "axes.titlelocation": "left",
}  # fmt: skip


def model_style(model: str) -> tuple[str, str]:
    """Return colour and marker of a model; the same for a model and its simulated twin.

    Examples
    --------
    >>> model_style("gpt-4o") == model_style("gpt-4o (simulated)")
    True
    """
    name = model.removesuffix(" (simulated)")
    i = KNOWN.get(name, int(hashlib.sha256(name.encode()).hexdigest(), 16) % len(COLORS))
    return COLORS[i], MARKERS[i]


def figure(width: float = 6.5, height: float = 4.0, *, columns: int = 1, **kwargs: Any) -> tuple[Figure, Any]:
    """Return a figure in the style of the package and its axes (an array for several columns).

    Parameters
    ----------
    width, height : float
        Inches.
    columns : int
        Panels side by side.
    """
    from matplotlib.figure import Figure

    with plain_style(**STYLE):
        fig = Figure(figsize=(width, height), layout="constrained")
        axes = fig.subplots(1, columns, **kwargs)
    return fig, axes


def sign_marker(sign: str) -> Any:
    r"""Return a marker that is a sign (`3`, `\mathbf{E}`): the one place where a figure sets a formula."""
    from matplotlib.markers import MarkerStyle

    with plain_style(**{"text.parse_math": True}):
        return MarkerStyle(f"${sign}$")


def rectangle(x: float, y: float, w: float, h: float, color: str, **kwargs: Any) -> Any:
    """Return a filled rectangle; `edgecolor` and the like go to matplotlib."""
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), w, h, facecolor=color, edgecolor=kwargs.pop("edgecolor", "none"), **kwargs)


@plain_style()
def category_legend(ax: Axes, **kwargs: Any) -> Axes:
    """Add a legend of the five category colours."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], marker="o", ls="", color=c.color, label=c.label) for c in CATEGORIES.values()]
    ax.legend(handles=handles, frameon=False, **kwargs)
    return ax


@plain_style()
def shared_legend(fig: Figure, ax: Axes) -> None:
    """Add the legend of one panel below all panels of a figure."""
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        fig.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize=8, frameon=False)
