"""A typeset table as a picture."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from icgkit.tables import Table

_EXTRA = 0.68
"""Height of each further line of a cell, in lines: wrapped text is set tighter than rows."""


def draw_table(table: Table) -> Figure:
    """Draw a table: one line a row, columns as wide as their longest cell."""
    from matplotlib.figure import Figure

    rows = list(table.rows())
    texts = [[c.header for c in table.columns], *[[cell.text for cell in row] for row in rows]]
    wrapped = [[textwrap.fill(t, 46) for t in row] for row in texts]
    widths = [max(max(map(len, t.split("\n"))) for t in column) + 3 for column in zip(*wrapped, strict=True)]
    heights = [1 + _EXTRA * max(t.count("\n") for t in row) for row in wrapped]
    total = max(sum(widths), 52)
    caption = textwrap.fill(f"{table.id}. {table.caption}", int(total * 1.02))
    notes = [textwrap.fill(n, int(total * 1.18)) for n in table.notes]
    line, char = 0.235, 0.083
    over = 1 if table.spanners else 0
    n_lines = _EXTRA * caption.count("\n") + 1.9 + over + sum(heights) + 0.5 * len(heights) * 0.4 + 0.4
    n_lines += sum(0.86 + _EXTRA * 0.86 * n.count("\n") for n in notes)
    fig = Figure(figsize=(total * char + 0.3, n_lines * line + 0.25))
    ax = fig.add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    ax.set_xlim(-1.5, total + 1.5)
    ax.set_ylim(n_lines + 0.5, -0.5)
    style: dict[str, Any] = {"va": "top", "fontsize": 9.5}
    ax.text(0, 0, caption, weight="bold", **style)
    y = _EXTRA * caption.count("\n") + 1.55
    left = [sum(widths[:i]) for i in range(len(widths))]
    ax.plot([0, total], [y - 0.25] * 2, color="black", lw=1.2)
    if over:
        start = 0
        for label, span in table.span_cells():
            x0, x1 = left[start], left[start] + sum(widths[start : start + span])
            if label:
                ax.text((x0 + x1) / 2, y, label, ha="center", **style)
                ax.plot([x0 + 1, x1 - 1], [y + 0.95] * 2, color="black", lw=0.6)
            start += span
        y += 1.15
    for i, (row, height) in enumerate(zip(wrapped, heights, strict=True)):
        for j, text in enumerate(row):
            right = table.columns[j].align == "right"
            heavy = i > 0 and rows[i - 1][j].bold
            ax.text(
                left[j] + (widths[j] - 2 if right else 0), y, text,
                ha="right" if right else "left", weight="bold" if heavy else "normal", **style,
            )  # fmt: skip
        y += height + 0.2
        if i == 0:
            ax.plot([0, total], [y - 0.12] * 2, color="black", lw=0.7)
            y += 0.1
    ax.plot([0, total], [y - 0.02] * 2, color="black", lw=1.2)
    y += 0.25
    for note in notes:
        ax.text(0, y, note, va="top", fontsize=8, color="#333333")
        y += 0.86 + _EXTRA * 0.86 * note.count("\n")
    return fig
