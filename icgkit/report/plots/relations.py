"""Relations of two numbers: curves, and planes of two rates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from icgkit.report.plots.estimates import Scale
from icgkit.report.plots.style import COLORS, INK, darker, hue_style, label_ends, log_axis, say_nothing
from icgkit.report.render import plain_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@plain_style()
def draw_curves(
    frame: pl.DataFrame, ax: Axes, scale: Scale, *, x: str, hue: str, xlabel: str, log: bool = False
) -> Axes:
    """Draw one line a value of `hue`, named at its right end, with a band where `low` and `high` are given.

    Later lines are thinner and dashed, so that one that lies on another is seen beside it.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns `x`, `hue`, `estimate`, and perhaps `low` and `high`. A frame without them is said
        to hold nothing.
    scale : Scale
        The axis of the estimates.
    xlabel : str
        Quantity and unit of `x`.
    log : bool
        Whether the horizontal axis is logarithmic.
    """
    import seaborn as sns

    ax.set_xlabel(xlabel)
    ax.grid(True, which="major")
    if frame.is_empty() or not {x, hue, "estimate"} <= set(frame.columns):
        scale.set(ax.yaxis, ())
        return say_nothing(ax)
    ends = []
    dashes = ["-", (0, (4, 2)), (0, (1, 1.5)), "-."]
    for i, (name,) in enumerate(frame.select(hue).unique(maintain_order=True).rows()):
        part = frame.filter(frame[hue] == name).drop_nulls("estimate").sort(x)
        color, marker, label = COLORS[i % len(COLORS)], hue_style("", i)[1], str(name)
        if {"low", "high"} <= set(part.columns) and part["low"].null_count() < part.height:
            low, high = (part[c].cast(float) for c in ("low", "high"))
            ax.fill_between(part[x], low, high, color=color, alpha=0.15, lw=0)
        sns.lineplot(
            x=part[x].to_numpy(), y=part["estimate"].to_numpy(), ax=ax, color=color, marker=marker, ms=6.5 - i,
            mew=0, lw=max(3.4 - 1.4 * i, 1), ls=dashes[i % 4], errorbar=None, estimator=None, clip_on=False,
            markevery=max(part.height // 10, 1), legend=False, zorder=2 + i / 10,
        )  # fmt: skip
        if part.height:
            ends.append((part["estimate"][-1], label, color))
    if log:
        log_axis(ax.xaxis)
    scale.set(ax.yaxis, [1.0] if scale.kind == "rate" else ())
    ax.set_xlabel(xlabel)
    label_ends(ax, ends)
    return ax


@plain_style()
def draw_plane(
    frame: pl.DataFrame, ax: Axes, *, x: Scale, y: Scale, style: str, labels: Mapping[str, str]
) -> Axes:
    """Draw one point a model and `style` on a plane of two rates, with its intervals, named beside it.

    Of two styles the first is a filled mark, the second a larger open one, so that both are seen where
    they lie on one another; more are told apart by a number at each point.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns `model`, `style`, `x`, `y` (rates), and perhaps `x_low`, `x_high`, `y_low`, `y_high`.
    """
    from matplotlib.lines import Line2D

    for scale, axis, column in ((x, ax.xaxis, "x"), (y, ax.yaxis, "y")):
        names = [c for c in (column, f"{column}_high") if c in frame.columns]
        scale.set(axis, [v for c in names for v in frame[c].drop_nulls()])
    if not frame.height:
        return say_nothing(ax)
    styles = [s for s in labels if s in set(frame[style])]
    numbered = len(styles) > 2
    for row in frame.iter_rows(named=True):
        color, marker, _ = hue_style(row["model"])
        for ends, place in ((("x_low", "x_high"), "y"), (("y_low", "y_high"), "x")):
            span = [row.get(e) for e in ends]
            if None not in span:
                both = (span, [row[place]] * 2) if place == "y" else ([row[place]] * 2, span)
                ax.plot(*both, color=color, lw=1.3, alpha=0.45, clip_on=False, zorder=2)
        k = styles.index(row[style])
        fill = color if numbered or k == 0 else "none"
        ax.plot(
            row["x"], row["y"], marker, color=color, mfc=fill, ms=5 if fill == color else 9.5, mew=0 if fill == color else 1.4,
            clip_on=False, zorder=3,
        )  # fmt: skip
        if numbered:
            number: dict[str, Any] = {"textcoords": "offset points", "size": 7, "color": darker(color)}
            ax.annotate(str(k + 1), (row["x"], row["y"]), (4, 3), **number)
    last = frame.sort("x").unique("model", keep="last", maintain_order=True)
    label_ends(ax, [(y, model, hue_style(model)[0]) for y, model in last.select("y", "model").iter_rows()])
    if numbered:
        words = "   ".join(f"{i} {labels[s]}" for i, s in enumerate(styles, 1))
        ax.set_title(words, size=7.5)
        return ax
    shapes: tuple[dict[str, Any], ...] = (
        {"mfc": INK, "ms": 5, "mew": 0},
        {"mfc": "none", "ms": 9, "mew": 1.4},
    )
    keys = [
        Line2D([], [], ls="", marker="o", color=INK, label=labels[s], **shape)
        for s, shape in zip(styles, shapes, strict=False)
    ]
    ax.legend(handles=keys, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, fontsize=8, frameon=False)
    return ax
