"""Marks for the figures: `draw_*(frame, ax) -> ax`. One palette, so that a thing keeps its colour.

Categories have the colours of the taxonomy, models those of `model_color`; both are told apart
under colour-vision deficiencies, and models carry a marker besides.
"""

from __future__ import annotations

import hashlib
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from icgkit.taxonomy import CATEGORIES

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#222222"
GRID = "#D9D9D9"
# Paul Tol's "bright" scheme and one grey.
_COLORS = ("#4477AA", "#EE6677", "#228833", "#AA3377", "#66CCEE", "#CCBB44", "#777777")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_KNOWN = (
    "offline/instruction-only", "offline/priors", "offline/ocr-rules", "offline/ocr-vision",
    "claude-opus-4.6", "gpt-4o", "gemini-2.5-flash", "qwen3-vl-plus",
)  # fmt: skip
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
    if name in _KNOWN:
        i = _KNOWN.index(name) % 4
    else:
        i = int(hashlib.sha256(name.encode()).hexdigest(), 16) % len(_COLORS)
    return _COLORS[i], _MARKERS[i]


def figure(width: float = 6.5, height: float = 4.0, *, columns: int = 1, **kwargs: Any) -> tuple[Figure, Any]:
    """Return a figure in the style of the package and its axes (an array for several columns).

    Parameters
    ----------
    width, height : float
        Inches.
    columns : int
        Panels side by side.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(width, height), layout="constrained")
        axes = fig.subplots(1, columns, **kwargs)
    return fig, axes


def draw_ranked(
    frame: pl.DataFrame,
    ax: Axes,
    *,
    label: str,
    xlabel: str,
    color: str | None = "category",
    n: str | None = "n_scored",
    limits: tuple[float, float] = (0.0, 1.0),
) -> Axes:
    """Draw one line a row: point, interval and n, in the order of the frame from the top.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns `label`, `estimate`, `low`, `high` (null where there is none), and the ones named by
        `color` (a category id) and `n`.
    """
    rows = list(frame.iter_rows(named=True))
    for y, row in enumerate(rows):
        hue = CATEGORIES[row[color]].color if color else INK
        if row["low"] is not None and row["high"] is not None:
            ax.plot([row["low"], row["high"]], [y, y], color=hue, lw=2.2, solid_capstyle="round", alpha=0.55)
        if row["estimate"] is not None:
            ax.plot(row["estimate"], y, "o", color=hue, ms=6)
        else:
            ax.text(limits[0], y, " no verdict", va="center", color="#777777", size=8)
        if n:
            ax.text(1.01, y, f"{row[n]:,d}", va="center", size=7.5, transform=ax.get_yaxis_transform())
    if n:
        ax.text(1.01, -1.1, "n", size=8, va="center", transform=ax.get_yaxis_transform(), style="italic")
    ax.set_yticks(range(len(rows)), [str(row[label]) for row in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(*limits)
    ax.grid(axis="x", color=GRID, lw=0.7)
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(xlabel)
    return ax


def category_legend(ax: Axes, **kwargs: Any) -> Axes:
    """Add a legend of the five category colours."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], marker="o", ls="", color=c.color, label=c.label) for c in CATEGORIES.values()]
    ax.legend(handles=handles, frameon=False, **kwargs)
    return ax


def draw_points(
    frame: pl.DataFrame,
    ax: Axes,
    *,
    x: str,
    hue: str,
    order: Sequence[str],
    ylabel: str,
    labels: Mapping[str, str] | None = None,
    limits: tuple[float, float] | None = (0.0, 1.0),
) -> Axes:
    """Draw points with intervals, grouped by `x` and side by side by `hue` (a model).

    Parameters
    ----------
    frame : polars.DataFrame
        Columns `x`, `hue`, `estimate`, `low`, `high`.
    order : sequence of str
        Values of `x` from left to right.
    labels : mapping, optional
        What to write for values of `x`.
    """
    hues = frame[hue].unique().sort().to_list()
    hues.sort(key=lambda m: _KNOWN.index(m) if m in _KNOWN else 99)
    step = 0.7 / max(len(hues), 1)
    for k, name in enumerate(hues):
        color, marker = model_style(name)
        part = {r[x]: r for r in frame.filter(frame[hue] == name).iter_rows(named=True)}
        first = True
        for i, value in enumerate(order):
            row = part.get(value)
            if row is None or row["estimate"] is None:
                continue
            at = i + (k - (len(hues) - 1) / 2) * step
            if row["low"] is not None and row["high"] is not None:
                ax.plot([at, at], [row["low"], row["high"]], color=color, lw=1.6, alpha=0.6)
            ax.plot(at, row["estimate"], marker, color=color, ms=5.5, label=name if first else None)
            first = False
    names = [(labels or {}).get(v, v) for v in order]
    ax.set_xticks(range(len(order)), names, rotation=0 if max(map(len, names)) < 9 else 25)
    if limits:
        ax.set_ylim(*limits)
    ax.set_xlim(-0.6, len(order) - 0.4)
    ax.grid(axis="y", color=GRID, lw=0.7)
    ax.set_axisbelow(True)
    ax.set_ylabel(ylabel)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, fontsize=8, frameon=False)
    return ax


def draw_categories(
    frame: pl.DataFrame,
    ax: Axes,
    *,
    x: str,
    order: Sequence[str],
    ylabel: str,
    labels: Mapping[str, str] | None = None,
) -> Axes:
    """Draw one line a category over the values of `x`, with intervals.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns `category`, `x`, `estimate`, `low`, `high`.
    """
    at = {value: i for i, value in enumerate(order)}
    for k, c in enumerate(CATEGORIES.values()):
        rows = [r for r in frame.filter(frame["category"] == c.id).iter_rows(named=True) if r[x] in at]
        rows = sorted((r for r in rows if r["estimate"] is not None), key=lambda r: at[r[x]])
        xs = [at[r[x]] + (k - 2) * 0.07 for r in rows]
        ax.plot(
            xs, [r["estimate"] for r in rows], _MARKERS[k] + "-", color=c.color, ms=5, lw=1.2, label=c.label
        )
        for at_x, r in zip(xs, rows, strict=True):
            if r["low"] is not None and r["high"] is not None:
                ax.plot([at_x, at_x], [r["low"], r["high"]], color=c.color, lw=1.4, alpha=0.5)
    ax.set_xticks(range(len(order)), [(labels or {}).get(v, v) for v in order])
    ax.set_ylim(0, 1)
    ax.grid(axis="y", color=GRID, lw=0.7)
    ax.set_axisbelow(True)
    ax.set_ylabel(ylabel)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=5, fontsize=8, frameon=False)
    return ax


def draw_forest(frame: pl.DataFrame, ax: Axes, *, label: str, xlabel: str, null: float = 1.0) -> Axes:
    """Draw estimates with intervals on a log axis around `null` (odds ratios).

    Parameters
    ----------
    frame : polars.DataFrame
        Columns `label`, `estimate`, `low`, `high`, all above 0.
    """
    rows = [r for r in frame.iter_rows(named=True) if r["estimate"] is not None]
    for y, row in enumerate(rows):
        if row["low"] is not None and row["high"] is not None:
            ax.plot([row["low"], row["high"]], [y, y], color=INK, lw=1.6)
        ax.plot(row["estimate"], y, "s", color=INK, ms=5)
    ax.axvline(null, color="#777777", lw=1, ls="--")
    ax.set_xscale("log")
    ax.set_yticks(range(len(rows)), [str(r[label]) for r in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.grid(axis="x", color=GRID, lw=0.7, which="both")
    ax.set_axisbelow(True)
    ax.set_xlabel(xlabel)
    return ax


def draw_curves(frame: pl.DataFrame, ax: Axes, *, x: str, hue: str, xlabel: str, ylabel: str) -> Axes:
    """Draw one line a value of `hue`, with a band where `low` and `high` are given.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns `x`, `hue`, `estimate`, and perhaps `low` and `high`.
    """
    for i, (name,) in enumerate(frame.select(hue).unique(maintain_order=True).rows()):
        part = frame.filter(frame[hue] == name).sort(x)
        color = _COLORS[i % len(_COLORS)]
        ax.plot(part[x], part["estimate"], _MARKERS[i % 7] + "-", color=color, ms=4, lw=1.6, label=str(name))
        if {"low", "high"} <= set(part.columns) and part["low"].null_count() < part.height:
            ax.fill_between(
                part[x], part["low"].cast(float), part["high"].cast(float), color=color, alpha=0.15, lw=0
            )
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.grid(color=GRID, lw=0.7)
    ax.set_axisbelow(True)
    ax.legend(fontsize=8, frameon=False)
    return ax


def draw_grid(frame: pl.DataFrame, ax: Axes, *, row: str, xlabel: str = "") -> Axes:
    """Draw who found what: one line a row, one column each other column, True, False or null.

    The three are told apart by sign as well as by shade.
    """
    signs = {True: "\u2713", False: "\u2717", None: "\u2013"}
    shade = {True: "#BBD6EC", False: "#F6E3D3", None: "#EEEEEE"}
    names = [c for c in frame.columns if c != row]
    for y, record in enumerate(frame.iter_rows(named=True)):
        for x, name in enumerate(names):
            value = record[name]
            ax.add_patch(rectangle(x - 0.48, y - 0.44, 0.96, 0.88, shade[value]))
            ax.text(x, y, signs[value], ha="center", va="center", size=10, family="DejaVu Sans")
    ax.set_xticks(range(len(names)), [n.replace("|", "\n") for n in names], fontsize=7.5)
    ax.set_yticks(range(frame.height), [textwrap.fill(str(v), 34) for v in frame[row]], fontsize=8)
    ax.set_xlim(-0.5, len(names) - 0.5)
    ax.set_ylim(max(frame.height, 4) - 0.5, -0.5)
    ax.tick_params(length=0)
    ax.xaxis.tick_top()
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set_xlabel(xlabel)
    return ax


def rectangle(x: float, y: float, w: float, h: float, color: str, **kwargs: Any) -> Any:
    """Return a filled rectangle; `edgecolor` and the like go to matplotlib."""
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), w, h, facecolor=color, edgecolor=kwargs.pop("edgecolor", "none"), **kwargs)
