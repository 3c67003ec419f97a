"""Edited mazes beside what the judge says of them: pictures, agreement in words, how much it stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from icgforge.mazes.faults import Edited
from icgkit.bench.dod.maze_judge import judge
from icgkit.bench.dod.maze_read import register
from icgkit.bench.dod.scores import judge_quality
from icgkit.metrics.intervals import Bootstrap
from icgkit.report.render import plain_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def quality(judged: pl.DataFrame) -> pl.DataFrame:
    """Tell how the maze judge agrees with what is known of edits (see `faults.judge_edited`): valid or not.

    Returns
    -------
    polars.DataFrame
        `quantity`, `value`, `n` (what it is a share of): agreement and kappa (unreadable pictures left out),
        share of the valid edits rejected, of the faulty ones accepted, of all unreadable.
    """
    known = judged.filter(pl.col("agrees").is_not_null()).with_row_index("item")
    parts = [
        known.select(pl.col("item").cast(pl.String), rater=pl.lit(name), label=pl.col(column) == "valid")
        for name, column in (("judge", "verdict"), ("truth", "due"))
    ]
    got = judge_quality(pl.concat(parts), ci=Bootstrap(100)).row(0, named=True)
    fine, bad = known.filter(pl.col("due") == "valid"), known.filter(pl.col("due") != "valid")
    rows = [
        ("agreement on valid or not", got["agreement"], known.height), ("kappa", got["kappa"], known.height),
        ("valid edits rejected", (fine["verdict"] != "valid").mean(), fine.height),
        ("faulty edits accepted", (bad["verdict"] == "valid").mean(), bad.height),
        ("unreadable", judged["agrees"].is_null().mean(), judged.height),
    ]  # fmt: skip
    return pl.DataFrame(
        rows, schema={"quantity": pl.String, "value": pl.Float64, "n": pl.Int64}, orient="row"
    )


def quality_words(found: pl.DataFrame) -> str:
    """Put `quality` into a sentence."""
    (_, agreement, _), (_, kappa, _), *rest = found.iter_rows()
    shares = ", ".join(f"{name} {v * n:.0f} of {n:,}" for name, v, n in rest)
    return (
        f"Valid or not: agreement {agreement:.3f}, kappa {kappa:.3f}; {shares}. "
        "Judge and edits are by the same authors; no edit is a model's, and no person judged them."
    )


def draw_edited(edited: Sequence[Edited], *, columns: int = 4, width: float = 9.0) -> Figure:
    """Draw edited mazes with what was done to them, the verdict, and a ring round each cell it names."""
    from icgkit.report.plots import figure

    rows = -(-len(edited) // columns)
    fig, _ = figure(width, width / columns * rows * 1.2)
    fig.clear()
    axes: Any = fig.subplots(rows, columns, squeeze=False)
    for ax in axes.flat:
        ax.axis("off")
    for ax, item in zip(axes.flat, edited, strict=False):
        verdict, found = judge(item.maze, item.image), register(item.image, item.maze)
        ax.imshow(item.image, interpolation="nearest")
        for r, c in verdict.broken[0].cells if found is not None and verdict.broken else ():
            corners = ((r, c), (r, c + 1), (r + 1, c + 1), (r + 1, c), (r, c))
            spots = [found.frame.at(*p) for p in corners if found]
            ax.plot(*zip(*spots, strict=True), color="#762A83", lw=1.6)
        named = verdict.main if len(verdict.rules) < 2 else f"{verdict.main} (+{len(verdict.rules) - 1})"
        ax.set_title(f"{item.fault}\n", fontsize=8, loc="center")
        style: dict[str, Any] = {"color": "#1B7837" if verdict.valid else "#B2182B", "fontsize": 8}
        ax.text(0.5, 1.02, f"judged: {named}", ha="center", va="bottom", transform=ax.transAxes, **style)
    return fig


@plain_style()
def draw_tolerance(found: pl.DataFrame, axes: Sequence[Axes]) -> None:
    """Draw, for each change, the share of due verdicts over its strength, weakest first (see `faults.tolerance`)."""
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
