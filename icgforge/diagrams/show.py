"""The sheet of drawn diagrams: what every edit looks like, and what holds of it by construction."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from icgforge.diagrams.pen import Drawn
from icgkit.report.plots import theme
from icgkit.report.render import plain_style

EDIT_LABELS = {
    "original": "Original", "solved": "Solved (reference)", "partial": "In part", "wrong": "Wrong",
    "over": "Too much", "no_op": "Nothing",
}  # fmt: skip


@plain_style()
def draw_sheet(tasks: Sequence[Drawn]) -> Figure:
    """Draw one row a task: original, reference and edits, with what holds by construction below each."""
    with plain_style(**theme()):
        figure = Figure(figsize=(11, 1.55 * len(tasks)), layout="constrained")
        axes = figure.subplots(len(tasks), len(EDIT_LABELS), squeeze=False)
        for place, (row, task) in enumerate(zip(axes, tasks, strict=True)):
            weights = [w for _, w in task.points]
            for ax, edit in zip(row, EDIT_LABELS, strict=True):
                ax.imshow(task.pictures[edit])
                ax.set(xticks=[], yticks=[])
                ax.spines[:].set_visible(False)
                if place == 0:
                    ax.set_title(EDIT_LABELS[edit], size=8)
                if edit == "original":
                    ax.set_ylabel(task.task_id.rpartition("_")[0].replace("_", "\n"), size=7)
                else:
                    held = sum(w for w, m in zip(weights, task.met[edit], strict=True) if m)
                    c = task.consistency[edit]
                    ax.set_xlabel(f"R {held:.2f}   C {'–' if c is None else c}", size=7)
    return figure
