"""Draw-or-Decline: pictures of edited mazes with their verdicts, editing success over refusal success."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from icgkit.bench.dod_views import HERE
from icgkit.bench.maze_judge import judge

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from icgkit.bench.maze_faults import Edited
    from icgkit.bench.mazes import Cell


def draw_trade(board: pl.DataFrame, ax: Axes, *, reminder: str, named: Sequence[str] = ()) -> Axes:
    """Draw editing success over refusal success, ours filled and the paper's open.

    Parameters
    ----------
    board : frame
        See `leaderboard`.
    reminder : str
        "no" or "yes".
    named : sequence of str
        Models of the paper that get their name; ours always do.
    """
    import polars as pl

    from icgkit.plots import GRID, model_style

    part = board.filter(
        pl.col("reminder") == reminder, pl.col("E").is_not_null(), pl.col("D_lenient").is_not_null()
    )
    for row in part.iter_rows(named=True):
        color, marker = model_style(row["model"])
        ours = row["source"] == HERE
        ax.plot(
            row["D_lenient"],
            row["E"],
            marker,
            color=color,
            mfc=color if ours else "white",
            ms=7,
            mew=1.4,
            clip_on=False,
        )
    spots: dict[tuple[int, int], list[str]] = {}
    for row in part.iter_rows(named=True):
        if row["source"] == HERE or row["model"] in named:
            spots.setdefault((round(row["D_lenient"]), round(row["E"])), []).append(
                row["model"].removeprefix("offline/")
            )
    for (x, y), names in spots.items():
        right = x > 60
        ax.annotate(
            "\n".join(names), (x, y), (-7 if right else 7, 0), textcoords="offset points", fontsize=7,
            ha="right" if right else "left", va="top" if y > 60 else "bottom",
        )  # fmt: skip
    ax.set(xlim=(-2, 102), ylim=(-2, 102), xlabel="D, lenient (%)", ylabel="E (%)")
    ax.set_title("with reminder" if reminder == "yes" else "without reminder")
    ax.grid(color=GRID, lw=0.7)
    ax.set_axisbelow(True)
    return ax


def draw_edited(edited: Sequence[Edited], *, columns: int = 4, width: float = 9.0) -> Figure:
    """Draw edited mazes with what was done to them, the verdict, and a ring round each cell it names."""
    from icgkit.plots import figure

    rows = -(-len(edited) // columns)
    fig, _ = figure(width, width / columns * rows * 1.2)
    fig.clear()
    axes: Any = fig.subplots(rows, columns, squeeze=False)
    for ax in axes.flat:
        ax.axis("off")
    for ax, item in zip(axes.flat, edited, strict=False):
        verdict = judge(item.maze, item.image)
        side = item.image.width / item.maze.size
        ax.imshow(item.image, interpolation="nearest")
        for cell in verdict.broken[0].cells if verdict.broken else ():
            _ring(ax, cell, side)
        named = verdict.main if len(verdict.rules) < 2 else f"{verdict.main} (+{len(verdict.rules) - 1})"
        color = "#1B7837" if verdict.valid else "#B2182B"
        ax.set_title(f"{item.fault}\n", fontsize=8, loc="center")
        ax.text(
            0.5,
            1.02,
            f"judged: {named}",
            color=color,
            fontsize=8,
            ha="center",
            va="bottom",
            transform=ax.transAxes,
        )
    return fig


def _ring(ax: Axes, cell: Cell, side: float) -> None:
    from icgkit.plots import rectangle

    r, c = cell
    ax.add_patch(rectangle(c * side, r * side, side, side, "none", edgecolor="#762A83", lw=1.6))
