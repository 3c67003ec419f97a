"""The toy memory beside what is expected of it: accuracy by stage, and how much of an edit the projection keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from icgkit.bench.unike.scores import STEPS, scores
from icgkit.bench.unike.tables import TOY
from icgkit.metrics.intervals import Bootstrap
from icgkit.report.render import plain_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@plain_style()
def draw_stages_and_retention(outcomes: pl.DataFrame, curve: pl.DataFrame) -> Figure:
    """Draw accuracy by stage (reasoning-augmented protocol, mean over editors) and rho(k) beside k / n.

    `curve` is of `toy.retention_curve`.
    """
    from icgkit.report.plots import GRID, INK, figure
    from icgkit.report.plots.style import COLORS

    fig, (left, right) = figure(8.5, 3.6, columns=2)
    part = outcomes.filter(source="attribute", protocol="reasoning_augmented")
    stages = scores(part, by=["stage"], ci=Bootstrap(500))
    for k, (measure, marker) in enumerate(zip(STEPS, "os^", strict=True)):
        rows = stages.filter(pl.col("measure") == measure, pl.col("estimate").is_not_null())
        x, color = [s + 0.06 * (k - 1) for s in rows["stage"]], COLORS[k]
        left.plot(x, rows["estimate"], marker + "-", color=color, label=measure)
        for at, low, high in zip(x, rows["low"], rows["high"], strict=True):
            if low is not None:
                left.plot([at, at], [low, high], color=color, alpha=0.5)
    left.set(xticks=sorted(part["stage"].unique()), xlabel="Stage", ylabel="Right (percent)", ylim=(0, 103))
    left.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3)
    fig.suptitle(f"{TOY[0].upper()}{TOY[1:]}: no result of a model", size=9)
    for k, (name, rows) in enumerate(curve.group_by("editor", maintain_order=True)):
        style = ("-", "--", ":")[k % 3]
        right.plot(rows["share"], rows["rho"], style, color=COLORS[k + 3], label=str(name[0]), lw=3.4 - k)
    line = curve["share"].max()
    right.plot([0, line], [0, line], color=INK, lw=0.8, label="k / n")
    right.set(xlabel="k / n", ylabel="Share of the edit kept, \u03c1(k)", xlim=(0, None), ylim=(0, None))
    right.legend(
        frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(-0.1, 1.0), ncols=4, handlelength=1.4
    )
    for ax in (left, right):
        ax.grid(color=GRID, lw=0.6)
        ax.set_axisbelow(True)
    return fig
