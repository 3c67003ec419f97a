"""Palette and page: one palette, so that a thing keeps its colour in every figure.

Categories have the colours of the taxonomy, models those of `model_color`; both are told apart
under colour-vision deficiencies, and models carry a marker besides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
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
OTHERS = ("#332288", "#DDCC77", "#117733", "#882255", "#44AA99", "#CC6677", "#999933", "#AA4499")
"""Colours of models that nobody has named here (Tol's muted scheme): none is a baseline's."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# Position in the palette: the study's models and the reference baselines share the first four colours,
# since they never stand in one figure.
KNOWN = {
    "offline/instruction-only": 0, "offline/priors": 1, "offline/ocr-rules": 2, "offline/ocr-vision": 3,
    "claude-opus-4.6": 0, "gpt-4o": 1, "gemini-2.5-flash": 2, "qwen3-vl-plus": 3, "glm-4.6v": 4,
}  # fmt: skip
_LOOK: dict[str, Any] = {
    "font.family": ["sans-serif"], "font.sans-serif": ["DejaVu Sans"], "font.size": 9, "axes.titlesize": 10,
    "axes.labelsize": 9, "axes.edgecolor": INK, "text.color": INK, "axes.labelcolor": INK, "xtick.color": INK,
    "ytick.color": INK, "xtick.labelsize": 8.5, "ytick.labelsize": 8.5, "axes.spines.top": False,
    "axes.spines.right": False, "axes.linewidth": 0.8, "grid.color": GRID, "grid.linewidth": 0.7, "figure.dpi": 110,
    "savefig.dpi": 200, "svg.fonttype": "none", "pdf.fonttype": 42, "axes.titlelocation": "left",
    "lines.solid_capstyle": "round",
}  # fmt: skip


@cache
def theme() -> dict[str, Any]:
    """Return the package's theme as matplotlib settings: seaborn's "ticks" with our ink, grid and sizes."""
    import seaborn as sns

    return {**sns.axes_style("ticks"), **_LOOK}


def model_style(model: str) -> tuple[str, str]:
    """Return colour and marker of a model; the same for a model and its simulated twin.

    Examples
    --------
    >>> model_style("gpt-4o") == model_style("gpt-4o (simulated)")
    True
    """
    name = model.removesuffix(" (simulated)")
    if name in KNOWN:
        return COLORS[KNOWN[name]], MARKERS[KNOWN[name]]
    by_name = int(hashlib.sha256(name.encode()).hexdigest(), 16)
    return OTHERS[by_name % len(OTHERS)], MARKERS[by_name // len(OTHERS) % len(MARKERS)]


def figure(
    width: float = 6.5, height: float = 4.0, *, columns: int = 1, rows: int = 1, **kwargs: Any
) -> tuple[Figure, Any]:
    """Return a figure in the style of the package and its axes (an array for several panels).

    In Jupyter the figure shows itself.

    Parameters
    ----------
    width, height : float
        Inches.
    columns, rows : int
        Panels side by side, and one above the other.
    """
    with plain_style(**theme()):
        fig = _shown_figure()(figsize=(width, height), layout="constrained")
        axes = fig.subplots(rows, columns, **kwargs)
    return fig, axes


@cache
def _shown_figure() -> type[Figure]:
    """Return matplotlib's figure, able to show itself: one made without pyplot has no picture in Jupyter."""
    import io

    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        @plain_style()
        def _repr_png_(self) -> bytes:
            stream = io.BytesIO()
            FigureCanvasAgg(self)
            self.savefig(stream, format="png", dpi=self.dpi, bbox_inches="tight", metadata={"Software": None})
            return stream.getvalue()

    return ShownFigure


def ranked_models(models: Iterable[str]) -> list[str]:
    """Return models in the order of the palette, then by name."""
    return sorted(set(models), key=lambda m: (KNOWN.get(m.removesuffix(" (simulated)"), 99), m))


def hue_style(name: str, place: int = 0) -> tuple[str, str, str]:
    """Return colour, marker and label of a category (by id), a model, or whatever else stands at a place of a list."""
    if name in CATEGORIES:
        category = CATEGORIES[name]
        return category.color, MARKERS[list(CATEGORIES).index(name)], category.label
    if "/" in name or name.removesuffix(" (simulated)") in KNOWN:
        return *model_style(name), name
    return COLORS[place % len(COLORS)], MARKERS[place % len(MARKERS)], name


def darker(color: str, share: float = 0.35) -> str:
    """Return a colour mixed with black, for words in the colour of a pale mark."""
    from matplotlib.colors import to_hex, to_rgb

    red, green, blue = (v * (1 - share) for v in to_rgb(color))
    return to_hex((red, green, blue))


def spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Move places apart until neighbours are at least `gap` from each other, as little as can be.

    Examples
    --------
    >>> spread([0.5, 0.5, 0.9], 0.2)
    [0.4, 0.6, 0.9]
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    groups: list[tuple[float, int]] = []  # centre and number of members, each group evenly spaced
    for i in order:
        groups.append((wanted[i], 1))
        while len(groups) > 1:
            (a, n), (b, m) = groups[-2:]
            if b - a >= gap * (n + m) / 2 - 1e-12:
                break
            groups[-2:] = [((a * n + b * m) / (n + m), n + m)]
    places = [c + (k - (n - 1) / 2) * gap for c, n in groups for k in range(n)]
    out = [0.0] * len(wanted)
    for i, place in zip(order, places, strict=True):
        out[i] = round(place, 10)
    return out


def inches(ax: Axes) -> tuple[float, float]:
    """Return width and height of the figure that an axes belongs to."""
    figure = ax.get_figure(root=True)
    assert figure is not None  # axes that are drawn on have one
    width, height = figure.get_size_inches()
    return float(width), float(height)


@plain_style()
def label_ends(ax: Axes, ends: Sequence[tuple[float, str, str]]) -> None:
    """Write names right of the axes at the heights of their marks, in their colours, moved apart; no legend is due.

    Parameters
    ----------
    ends : sequence of (y, name, colour)
        Heights in data units; the vertical axis has its final limits already.
    """
    if not ends:
        return
    bottom, top = ax.get_ylim()
    grid = ax.get_gridspec()
    height = inches(ax)[1] / (grid.nrows if grid else 1) * 0.72
    share = [(y - bottom) / (top - bottom) for y, _, _ in ends]
    for (_, name, color), at, true in zip(ends, spread(share, 0.16 / height), share, strict=True):
        ax.annotate(
            name, (1.0, true), (1.035, at), xycoords="axes fraction", textcoords="axes fraction", size=8,
            va="center", color=darker(color), annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": color, "lw": 0.7, "shrinkA": 1, "shrinkB": 0},
        )  # fmt: skip


def log_axis(axis: Any, subs: Sequence[int] = (1, 2, 5)) -> None:
    """Make a matplotlib axis logarithmic, with plain numbers at these multiples of the powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    (axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale)("log")
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    axis.set_minor_formatter(NullFormatter())


def say_nothing(ax: Axes) -> Axes:
    """Write on a panel that this cache has nothing for it."""
    ax.text(0.5, 0.5, "nothing to show in this cache", ha="center", color="#777777", transform=ax.transAxes)
    return ax


def rectangle(x: float, y: float, w: float, h: float, color: str, **kwargs: Any) -> Any:
    """Return a filled rectangle; `edgecolor` and the like go to matplotlib."""
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), w, h, facecolor=color, edgecolor=kwargs.pop("edgecolor", "none"), **kwargs)
