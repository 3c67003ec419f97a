"""Marks for rates with intervals: ranked lines, grouped points, categories, found and missed."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from icgkit.report.plots.style import GRID, INK, KNOWN, MARKERS, model_style, rectangle
from icgkit.report.render import plain_style
from icgkit.taxonomy import CATEGORIES

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes


@plain_style()
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


@plain_style()
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
    hues.sort(key=lambda m: KNOWN.get(m.removesuffix(" (simulated)"), 99))
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


@plain_style()
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
            xs, [r["estimate"] for r in rows], MARKERS[k] + "-", color=c.color, ms=5, lw=1.2, label=c.label
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


@plain_style()
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
    heads = [
        "\n".join(textwrap.fill(part, 12, break_long_words=False) for part in n.split("|")) for n in names
    ]
    ax.set_xticks(range(len(names)), heads, fontsize=7.5)
    ax.set_yticks(range(frame.height), [textwrap.fill(str(v), 34) for v in frame[row]], fontsize=8)
    ax.set_xlim(-0.5, len(names) - 0.5)
    ax.set_ylim(max(frame.height, 4) - 0.5, -0.5)
    ax.tick_params(length=0)
    ax.xaxis.tick_top()
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set_xlabel(xlabel)
    return ax


@plain_style()
def draw_lines(frame: pl.DataFrame, ax: Axes, *, x: str, hue: str, xlabel: str, ylabel: str) -> Axes:
    """Draw one line a model over ordered bins, with intervals; the axis has the bins in the frame's own order.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns `x` (text; numbers in it give the order), `hue`, `estimate`, `low`, `high`.
    """
    order = sorted(frame[x].unique(), key=lambda v: (v.startswith(">"), float(v.lstrip("≤> "))))
    hues = sorted(frame[hue].unique(), key=lambda m: (KNOWN.get(m.removesuffix(" (simulated)"), 99), m))
    for k, name in enumerate(hues):
        color, marker = model_style(name)
        rows = {
            r[x]: r
            for r in frame.filter(frame[hue] == name).iter_rows(named=True)
            if r["estimate"] is not None
        }
        at = {v: i + (k - (len(hues) - 1) / 2) * 0.08 for i, v in enumerate(order) if v in rows}
        ax.plot(
            list(at.values()),
            [rows[v]["estimate"] for v in at],
            marker + "-",
            color=color,
            ms=4.5,
            lw=1.2,
            label=name,
        )
        for v, place in at.items():
            if rows[v]["low"] is not None:
                ax.plot([place, place], [rows[v]["low"], rows[v]["high"]], color=color, lw=1.2, alpha=0.5)
    ax.set_xticks(range(len(order)), order)
    ax.set_ylim(0, 1)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.label_outer()
    ax.grid(axis="y", color=GRID, lw=0.7)
    ax.set_axisbelow(True)
    return ax
