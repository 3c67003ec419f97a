"""Marks for relations: odds ratios, curves, planes of two rates, ordinal levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from icgkit.report.plots.style import COLORS, GRID, INK, MARKERS, category_legend, model_style, sign_marker
from icgkit.report.render import plain_style
from icgkit.taxonomy import CATEGORIES

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes


@plain_style()
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
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xscale("log")
    low, high = ax.get_xlim()
    ax.xaxis.set_major_locator(LogLocator(subs=(1,) if high > 2000 * low else (1, 2, 5)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_yticks(range(len(rows)), [str(r[label]) for r in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.grid(axis="x", color=GRID, lw=0.7, which="both")
    ax.set_axisbelow(True)
    ax.set_xlabel(xlabel)
    return ax


@plain_style()
def draw_curves(
    frame: pl.DataFrame,
    ax: Axes,
    *,
    x: str,
    hue: str,
    xlabel: str,
    ylabel: str,
    log: bool = False,
    joined: bool = True,
) -> Axes:
    """Draw one line a value of `hue`, with a band where `low` and `high` are given.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns `x`, `hue`, `estimate`, and perhaps `low` and `high`. A frame without them is said
        to hold nothing.
    log : bool
        Whether the horizontal axis is logarithmic.
    joined : bool
        Whether points are joined by a line (with a band), or stand alone (with bars).
    """
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.grid(color=GRID, lw=0.7)
    ax.set_axisbelow(True)
    if frame.is_empty() or not {x, hue, "estimate"} <= set(frame.columns):
        ax.text(
            0.5, 0.5, "nothing to show in this cache", ha="center", color="#777777", transform=ax.transAxes
        )
        return ax
    for i, (name,) in enumerate(frame.select(hue).unique(maintain_order=True).rows()):
        part = frame.filter(frame[hue] == name).sort(x)
        color, marker = COLORS[i % len(COLORS)], MARKERS[i % len(MARKERS)]
        every = max(part.height // 10, 1) if joined else 1
        ax.plot(
            part[x],
            part["estimate"],
            marker + "-",
            color=color,
            ms=4,
            lw=1.6,
            label=str(name),
            markevery=every,
        )
        if {"low", "high"} <= set(part.columns) and part["low"].null_count() < part.height:
            ax.fill_between(
                part[x], part["low"].cast(float), part["high"].cast(float), color=color, alpha=0.15, lw=0
            )
    if log:
        from matplotlib.ticker import FuncFormatter

        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    ax.legend(fontsize=8, frameon=False)
    return ax


@plain_style()
def draw_plane(
    frame: pl.DataFrame, ax: Axes, *, x: str, y: str, hue: str, style: str, labels: Mapping[str, str]
) -> Axes:
    """Draw one point a row on a plane of two rates; colour by `hue` (a model), filled or open by `style`.

    More than two styles are told apart by a number at each point.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns `x`, `y` (rates), `hue`, `style`.
    """
    styles = frame[style].unique().sort().to_list()
    numbered = len(styles) > 2
    for name, kind, at_x, at_y in frame.select(hue, style, x, y).iter_rows():
        color, marker = model_style(name)
        fill = color if numbered or kind == styles[0] else "white"
        ax.plot(at_x, at_y, marker, color=color, mfc=fill, ms=7, mew=1.6)
        if numbered:
            number = str(styles.index(kind) + 1)
            ax.annotate(
                number, (at_x, at_y), xytext=(5, 3), textcoords="offset points", size=6.5, color=color
            )
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_xlabel(f"{x.capitalize()} (0 to 1)")
    ax.set_ylabel(f"{y.capitalize()} (0 to 1)")
    ax.grid(color=GRID, lw=0.7)
    ax.set_axisbelow(True)
    if not frame.height:
        ax.text(0.5, 0.5, "nothing to show in this cache", ha="center", color="#777777")
        return ax
    for name in frame[hue].unique(maintain_order=True):
        color, marker = model_style(name)
        ax.plot([], [], marker, color=color, ms=7, mew=1.6, label=name)
    for i, kind in enumerate(styles, 1):
        shape: dict[str, Any] = (
            {"marker": sign_marker(str(i)), "mew": 0.4} if numbered else {"marker": "o", "mew": 1.6}
        )
        fill = INK if numbered or i == 1 else "white"
        ax.plot([], [], ls="", color=INK, mfc=fill, ms=6, label=labels.get(kind, kind), **shape)
    ax.figure.legend(fontsize=7, frameon=False, loc="outside lower center", ncols=3 if numbered else 2)
    return ax


@plain_style()
def draw_levels(frame: pl.DataFrame, ax: Axes, *, x: str, xlabel: str, ylabel: str) -> Axes:
    """Draw one point a subtype over an ordinal level, in category colours, and the mean of each level.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns `x` (integer), `estimate`, `category`, `subtype`.
    """
    rows = frame.drop_nulls("estimate").sort(x, "estimate").iter_rows(named=True)
    by_level: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        by_level.setdefault(row[x], []).append(row)
    for level, members in by_level.items():
        for k, row in enumerate(members):
            at = level + (k - (len(members) - 1) / 2) * min(0.16, 0.7 / len(members))
            ax.plot(at, row["estimate"], "o", color=CATEGORIES[row["category"]].color, ms=6)
        mean = sum(r["estimate"] for r in members) / len(members)
        ax.plot([level - 0.4, level + 0.4], [mean, mean], color=INK, lw=1.6)
    ax.set_xticks(sorted(by_level))
    ax.set_ylim(0, 1)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.grid(axis="y", color=GRID, lw=0.7)
    ax.set_axisbelow(True)
    return category_legend(ax, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=5, fontsize=8)
