"""Estimates with their intervals: one mark for all of them, a point on its range; and who found what."""

from __future__ import annotations

import math
import textwrap
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from icgkit.report.plots.style import (
    GRID,
    INK,
    darker,
    hue_style,
    label_ends,
    log_axis,
    ranked_models,
    rectangle,
    say_nothing,
    theme,
)
from icgkit.report.render import plain_style
from icgkit.taxonomy import CATEGORIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = ("estimate", "low", "high")


@dataclass(frozen=True)
class Scale:
    """The axis of the estimates.

    Attributes
    ----------
    label : str
        What is measured, with its unit.
    kind : "rate", "number" or "log"
        A rate starts at 0 and ends at 1, or at the next tenth where all lie below 0.6; a logarithmic axis has a line at 1.
    """

    label: str
    kind: Literal["rate", "number", "log"] = "rate"

    def set(self, axis: Any, values: Sequence[float]) -> None:
        """Set limits, ticks, grid and label of a matplotlib axis."""
        ax, x = axis.axes, axis.axis_name == "x"
        if self.kind == "rate":
            top = max(values, default=1.0)
            end = 1.0 if top > 0.6 else min(math.ceil(top * 10 + 0.3) / 10, 1.0)
            (ax.set_xlim if x else ax.set_ylim)(0, end)
        elif self.kind == "log":
            log_axis(axis)
            low, high = (ax.get_xlim if x else ax.get_ylim)()
            low, high = min(low, 0.85), max(high, 1.15)
            (ax.set_xlim if x else ax.set_ylim)(low, high)
            if high > 200 * low:
                log_axis(axis, (1,))
            (ax.axvline if x else ax.axhline)(1, color="#777777", lw=1, ls="--", zorder=1)
        axis.grid(True, which="major")
        (ax.set_xlabel if x else ax.set_ylabel)(self.label)


@plain_style()
def draw_estimates(
    frame: pl.DataFrame,
    ax: Axes,
    scale: Scale,
    *,
    at: str,
    hue: str = "",
    order: Sequence[str] = (),
    names: Mapping[str, str] | None = None,
    upright: bool = True,
) -> Axes:
    """Draw each estimate as a point on its interval, side by side by `hue`, and name the hues at the right edge.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns `at` and `hue` (text), `estimate`, `low`, `high` (null where there is no interval). Rows
        without an estimate are left out; where lines are ranked, that is said in their place.
    scale : Scale
        The axis of the estimates.
    at : str
        Column of the groups; each has its place, in `order` or as they come.
    hue : str
        Column that gives colour and marker: models, categories, or others; empty for one colour.
    names : mapping, optional
        What to write for values of `at`.
    upright : bool
        Whether estimates go upwards; else one line a group, the first on top, as for ranks and odds
        ratios, with `n_scored` at the right if the frame has it.

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame({"c": ["x", "y"], "estimate": [0.0, 0.5], "low": [None, 0.4], "high": [None, 0.7]})
    >>> import icgkit as ig
    >>> _, ax = ig.plots.figure()
    >>> draw_estimates(rows, ax, Scale("Recall (0 to 1)"), at="c").get_ylabel()
    'Recall (0 to 1)'
    """
    order = (
        list(order) or frame[at].unique(maintain_order=True).to_list() if at in frame.columns else list(order)
    )
    if not {at, "estimate"} <= set(frame.columns) or frame.is_empty() or not order:
        scale.set(ax.yaxis if upright else ax.xaxis, ())
        return say_nothing(ax)
    rows = [r for r in frame.iter_rows(named=True) if r[at] in order]
    found = list(dict.fromkeys(r[hue] for r in rows)) if hue else [""]
    if set(found) <= set(CATEGORIES):
        hues = [c for c in CATEGORIES if c in found]
    else:
        hues = ranked_models(found) if hue == "model" else found
    look = {h: hue_style(h, i) if h else (INK, "o", "") for i, h in enumerate(hues)}
    side_by_side = upright and len(hues) > 1
    held = [r | {"hue": r[hue] if hue else ""} for r in rows if r["estimate"] is not None]
    _point_ranges(ax, held, at, order, look, upright=upright, dodge=side_by_side)
    shown = [v for r in held for v in (r["estimate"], r["high"]) if v is not None]
    words = [(names or {}).get(v, v) for v in order]
    if upright:
        long = any(len(w) > 11 for t in words for w in t.split("\n"))
        ax.set_xticks(range(len(order)), words, rotation=25 if long else 0)
        ax.set_xlim(-0.5, len(order) - 0.5)
        scale.set(ax.yaxis, shown)
        ax.set_xlabel("")
        last = {r["hue"]: r["estimate"] for i in order for r in held if r[at] == i}
        if side_by_side:
            label_ends(ax, [(last[h], look[h][2], look[h][0]) for h in hues if h in last])
        return ax
    ax.set_yticks(range(len(order)), words)
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.set_ylabel("")
    ax.tick_params(axis="y", length=0, pad=7)
    ax.spines["left"].set_visible(False)
    scale.set(ax.xaxis, shown)
    _tell_lines(ax, rows, at, order, {r[at]: look[r[hue] if hue else ""][0] for r in rows})
    return ax


def _tell_lines(
    ax: Axes, rows: list[dict[str, Any]], at: str, order: list[str], colors: dict[str, str]
) -> None:
    """Write n at the right of each line and "no verdict" where there is no estimate; colour the names."""
    words: dict[str, Any] = {"va": "center", "size": 7.5, "transform": ax.get_yaxis_transform()}
    for row in rows:
        y = order.index(row[at])
        if row["estimate"] is None:
            ax.text(0.01, y, "no verdict", **words | {"color": "#777777", "size": 8})
        if "n_scored" in row:
            ax.text(1.03, y, f"{row['n_scored']:,d}", **words)
    if any("n_scored" in row for row in rows):
        ax.text(1.03, -0.95, "verdicts", style="italic", **words)
    for label, value in zip(ax.get_yticklabels(), order, strict=True):
        if colors.get(value, INK) != INK:
            label.set_color(darker(colors[value]))


def _point_ranges(
    ax: Axes, rows: list[dict[str, Any]], at: str, order: list[str], look: Mapping[str, tuple[str, str, str]],
    *, upright: bool, dodge: bool,
) -> None:  # fmt: skip
    """Draw seaborn's range and dot; marks at the ends of an axis are drawn whole."""
    import seaborn.objects as so

    along, across = ("x", "y") if upright else ("y", "x")
    move = [so.Dodge()] if dodge else []
    with warnings.catch_warnings():
        # seaborn 0.13 asks pandas 3 not to copy, which is the rule there.
        warnings.filterwarnings("ignore", message="The copy keyword is deprecated")
        have = [r for r in rows if r["low"] is not None and r["high"] is not None]
        for mark, part, ends in (
            (so.Range(linewidth=1.9, alpha=0.55), have, {f"{across}min": "low", f"{across}max": "high"}),
            (so.Dot(pointsize=6, edgewidth=0), rows, {}),
        ):
            if not part:
                continue
            data = {c: [r[c] for r in part] for c in (at, "hue", *_COLUMNS)}
            plot = so.Plot(data, **{along: at, across: "estimate"}, color="hue", marker="hue")
            scales = {
                along: so.Nominal(order=order),
                "color": so.Nominal({h: v[0] for h, v in look.items()}, order=list(look)),
                "marker": so.Nominal({h: v[1] for h, v in look.items()}, order=list(look)),
            }
            layer = plot.on(ax).add(mark, *move, orient=along, legend=False, **ends)
            layer.scale(**scales).label(x="", y="").theme(theme()).plot()
    for collection in ax.collections:
        collection.set_clip_on(False)
        collection.set_zorder(2.5)


@plain_style()
def draw_bins(frame: pl.DataFrame, ax: Axes, scale: Scale, *, at: str, hue: str, label: str) -> Axes:
    """Draw estimates over ordered bins, each hue's joined by a line; numbers in the bins' names give the order.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns `at` (text, such as "≤ 0.3" or "4"), `hue`, `estimate`, `low`, `high`.
    label : str
        What is binned, with its unit.
    """
    order = sorted(frame[at].unique(), key=lambda v: (v.startswith(">"), float(v.lstrip("≤> "))))
    draw_estimates(frame, ax, scale, at=at, hue=hue, order=order)
    without_names(ax, frame[hue])
    names = ranked_models(frame[hue])
    for k, name in enumerate(names):
        rows = {r[at]: r["estimate"] for r in frame.filter(frame[hue] == name).iter_rows(named=True)}
        move = (k - (len(names) - 1) / 2) * 0.8 / len(names) if len(names) > 1 else 0
        xs = [i + move for i, v in enumerate(order) if rows.get(v) is not None]
        ax.plot(
            xs,
            [rows[v] for v in order if rows.get(v) is not None],
            color=hue_style(name, k)[0],
            lw=1,
            clip_on=False,
        )
    ax.set_xlabel(label)
    if (place := ax.get_subplotspec()) is not None and not place.is_first_col():
        ax.set_ylabel("")
    return ax


def without_names(ax: Axes, hues: Iterable[str]) -> Axes:
    """Take the names of hues from a panel: several panels share one key."""
    for text in [t for t in ax.texts if t.get_text() in set(hues)]:
        text.remove()
    return ax


@plain_style()
def draw_key(ax: Axes, hues: Sequence[str]) -> None:
    """Use an empty panel as the key of the others: marker and name of each hue."""
    ax.set_axis_off()
    ax.set(xlim=(0, 1), ylim=(0, 1))
    for k, name in enumerate(ranked_models(hues)):
        color, marker, label = hue_style(name, k)
        ax.plot(0.08, 0.85 - 0.13 * k, marker, color=color, ms=6)
        ax.text(0.16, 0.85 - 0.13 * k, label, va="center", size=8.5, color=darker(color))


@plain_style()
def draw_levels(frame: pl.DataFrame, ax: Axes, scale: Scale, *, at: str, level: str, title: str) -> Axes:
    """Draw one line a row, under a heading for each ordinal level, with the level's unweighted mean as a stroke.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns `at` (unique text), `level` (integer), `category`, `estimate`, `low`, `high`, `n_scored`.
    title : str
        What a level is called ("Level").
    """
    rows = frame.drop_nulls("estimate").sort([level, "estimate"], descending=[False, True])
    order: list[str] = []
    spans: dict[int, tuple[int, int, float]] = {}
    for (value,), part in rows.group_by(level, maintain_order=True):
        order.append(f"{title} {value}")
        spans[value] = (len(order), len(order) + part.height - 1, float(part["estimate"].mean()))  # type: ignore[arg-type]
        order += part[at].to_list()
    draw_estimates(
        rows, ax, scale, at=at, hue="category", order=order, upright=False
    ) if order else say_nothing(ax)
    for value, (first, last, mean) in spans.items():
        ax.plot([mean, mean], [first - 0.4, last + 0.4], color=INK, lw=1.4, clip_on=False, zorder=2)
        side = "left" if mean < 0.1 else "center"
        ax.text(mean, first - 0.75, f"mean {mean:.2f}", size=7.5, va="center", ha=side)
        ax.get_yticklabels()[order.index(f"{title} {value}")].set_fontweight("bold")
        if first > 1:
            ax.axhline(first - 1.5, color=GRID, lw=0.8)
    return ax


@plain_style()
def draw_grid(frame: pl.DataFrame, ax: Axes, *, row: str, xlabel: str = "") -> Axes:
    """Draw who found what: one line a row, one column each other column, True, False or null.

    The three are told apart by sign as well as by shade. A column called "group|name" stands below the
    heading of its group.
    """
    signs = {True: "\u2713", False: "\u2717", None: "\u2013"}
    shade = {True: "#BBD6EC", False: "#F6E3D3", None: "#EEEEEE"}
    names = [c for c in frame.columns if c != row]
    for y, record in enumerate(frame.iter_rows(named=True)):
        for x, name in enumerate(names):
            value = record[name]
            ax.add_patch(rectangle(x - 0.48, y - 0.44, 0.96, 0.88, shade[value]))
            ax.text(x, y, signs[value], ha="center", va="center", size=10, family="DejaVu Sans")
    groups = [n.rpartition("|")[0] for n in names]
    heads = [textwrap.fill(n.rpartition("|")[2], 11, break_long_words=False) for n in names]
    ax.set_xticks(range(len(names)), heads, fontsize=7)
    ax.set_yticks(range(frame.height), [textwrap.fill(str(v), 34) for v in frame[row]], fontsize=8)
    ax.set_xlim(-0.5, len(names) - 0.5)
    ax.set_ylim(max(frame.height, 4) - 0.5, -0.5)
    lines = max((h.count("\n") + 1 for h in heads), default=1)
    for group in dict.fromkeys(g for g in groups if g):
        where = [i for i, g in enumerate(groups) if g == group]
        ax.annotate(
            group, (sum(where) / len(where), 1), (0, 9 + 9 * lines), xycoords=("data", "axes fraction"),
            textcoords="offset points", ha="center", size=8.5, weight="bold", annotation_clip=False,
        )  # fmt: skip
        if where[0]:
            ax.axvline(where[0] - 0.5, color="white", lw=4)
    ax.tick_params(length=0)
    ax.xaxis.tick_top()
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set_xlabel(xlabel)
    return ax
