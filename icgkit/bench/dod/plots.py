"""Draw-or-Decline: pictures of edited mazes with their verdicts, editing success over refusal success."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from icgkit.bench.dod.maze_judge import judge
from icgkit.bench.dod.maze_read import register
from icgkit.report.render import plain_style

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from PIL.Image import Image

    from icgkit.bench.dod.maze import Cell, Maze
    from icgkit.bench.dod.maze_read import Frame


@plain_style()
def draw_trade(board: pl.DataFrame, ax: Axes, *, reminder: str, named: Sequence[str] = ()) -> Axes:
    """Draw editing success over refusal success as printed, with the exact intervals of both.

    Parameters
    ----------
    board : frame
        See `dod_views.printed`.
    reminder : str
        "no" or "yes".
    named : sequence of str
        Models that get their name.
    """
    import polars as pl

    from icgkit.report.plots import GRID

    part = board.filter(pl.col("reminder") == reminder, pl.col("E").is_not_null(), pl.col("D").is_not_null())
    taught = pl.col("model").str.contains("VisTA|without maze")
    for label, rows, style in (
        ("models as published", part.filter(~taught), {"marker": "o", "color": "#4477AA", "mfc": "white"}),
        ("VisTA, with and without mazes", part.filter(taught), {"marker": "*", "color": "#EE6677", "ms": 11}),
    ):
        for row in rows.iter_rows(named=True):
            ax.plot([row["D_low"], row["D_high"]], [row["E"]] * 2, color=style["color"], lw=0.7, alpha=0.5)
            ax.plot([row["D"]] * 2, [row["E_low"], row["E_high"]], color=style["color"], lw=0.7, alpha=0.5)
        options: dict[str, Any] = {"ms": 6, "mew": 1.4, "ls": "", "clip_on": False, "label": label, **style}
        ax.plot(rows["D"], rows["E"], **options)
    for row in part.filter(pl.col("model").is_in(list(named))).iter_rows(named=True):
        right = row["D"] > 60
        ax.annotate(
            row["model"], (row["D"], row["E"]), (-9 if right else 9, 5), textcoords="offset points", fontsize=7,
            ha="right" if right else "left", va="bottom",
        )  # fmt: skip
    ax.set(
        xlim=(-2, 102),
        ylim=(-2, 102),
        xlabel="D: infeasible requests refused (%)",
        ylabel="E: feasible requests edited right (%)",
    )
    ax.set_title("with reminder" if reminder == "yes" else "without reminder")
    ax.grid(color=GRID, lw=0.7)
    ax.set_axisbelow(True)
    if reminder == "no":
        ax.legend(fontsize=7.5, frameon=False, loc="lower left", bbox_to_anchor=(-0.02, 1.06), ncols=2)
    return ax


class EditedMaze(Protocol):
    """What `draw_edited` needs of an edited maze, as `icgforge.mazes.faults.make_edited` makes them."""

    @property
    def maze(self) -> Maze: ...  # noqa: D102
    @property
    def image(self) -> Image: ...  # noqa: D102
    @property
    def fault(self) -> str: ...  # noqa: D102


def draw_edited(edited: Sequence[EditedMaze], *, columns: int = 4, width: float = 9.0) -> Figure:
    """Draw edited mazes with what was done to them, the verdict, and a ring round each cell it names."""
    from icgkit.report.plots import figure

    rows = -(-len(edited) // columns)
    fig, _ = figure(width, width / columns * rows * 1.2)
    fig.clear()
    axes: Any = fig.subplots(rows, columns, squeeze=False)
    for ax in axes.flat:
        ax.axis("off")
    for ax, item in zip(axes.flat, edited, strict=False):
        verdict = judge(item.maze, item.image)
        ax.imshow(item.image, interpolation="nearest")
        found = register(item.image, item.maze)
        if found is not None and verdict.broken:
            for cell in verdict.broken[0].cells:
                _ring(ax, cell, found.frame)
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


def _ring(ax: Axes, cell: Cell, frame: Frame) -> None:
    r, c = cell
    spots = [frame.at(*p) for p in ((r, c), (r, c + 1), (r + 1, c + 1), (r + 1, c), (r, c))]
    ax.plot(*zip(*spots, strict=True), color="#762A83", lw=1.6)


@plain_style()
def draw_tolerance(found: pl.DataFrame, axes: Sequence[Axes]) -> None:
    """Draw, for each change, the share of due verdicts over its strength, weakest first (see `tolerance`)."""
    from icgkit.report.plots import GRID

    for ax, (name,) in zip(axes, found.select("change").unique(maintain_order=True).rows(), strict=True):
        part = found.filter(found["change"] == name)
        places = list(range(part.height))
        for column, label, color, marker in (
            ("agrees", "judged as is due", "#4477AA", "o"), ("rejected", "valid edit rejected", "#EE6677", "s"),
            ("accepted", "faulty edit accepted", "#228833", "^"), ("unreadable", "unreadable", "#BBBBBB", "D"),
        ):  # fmt: skip
            ax.plot(places, part[column], marker=marker, color=color, label=label, clip_on=False)
        ax.set_xticks(places, [f"{v:g}" for v in part["level"]])
        ax.set(xlabel=f"{name} (weakest change on the left)", ylim=(-0.03, 1.03), ylabel="share (0 to 1)")
        ax.grid(color=GRID, lw=0.7)
        ax.set_axisbelow(True)
    axes[0].legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=4)
