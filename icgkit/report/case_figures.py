"""Pictures of cases: the marked image, the constraint graph on it, the pipeline, the contact sheet."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from icgkit.cases.case import Case
from icgkit.errors import ImageError
from icgkit.report.plots import INK, Mark, draw_marks, rectangle
from icgkit.report.render import plain_style

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from icgkit.report.results import Results

TARGET = "#444444"


@plain_style()
def draw_image(
    case: Case, ax: Axes, *, marks: bool = True, max_side: int = 900, picture: bool = True, size: float = 8
) -> Axes:
    """Draw the image of a case with its target (dashed) and its numbered regions in category colours.

    A missing image is said in its place; `picture=False` draws the regions on a grey field instead; `size` is
    that of the numbers, points.
    """
    width, height = case.image_size
    ax.set_xlim(0, width)
    ax.set_ylim(height, 0)
    ax.set_aspect("equal")
    ax.set(xticks=[], yticks=[])  # an axis that is off would still measure its ticks
    ax.set_axis_off()
    found = _place(case, ax, (0, 0), 1, max_side=max_side, picture=picture)
    draw_marks(ax, found if marks else [], size)
    return ax


def _place(
    case: Case, ax: Axes, at: tuple[float, float], scale: float, *, max_side: int, picture: bool
) -> list[Mark]:
    """Draw the image of a case, its upper left corner at a point, so many units a pixel; return its marks."""
    from PIL import Image

    from icgkit.cases.images import prepare

    (x, y), width, height = at, *(scale * side for side in case.image_size)
    if picture:
        try:
            shown = prepare(case.image_path, max_side=max_side)
        except ImageError:
            ax.text(x + width / 2, y + height / 2, "image not found here", ha="center", size=8)
            return []
        pixels = Image.open(io.BytesIO(shown.data)).convert("RGB")
        ax.imshow(pixels, extent=(x, x + width, y + height, y), interpolation="bilinear")
    else:
        ax.add_patch(rectangle(x, y, width, height, "#ECECEC"))
    boxes = [(case.target.bbox, "E", TARGET, "--")]
    boxes += [(n.bbox, str(i), n.category.color, "-") for i, n in enumerate(case.constraint_nodes, 1)]
    return [
        Mark((x + scale * b[0], y + scale * b[1], x + scale * b[2], y + scale * b[3]), *rest)
        for b, *rest in boxes
        if b
    ]


@plain_style()
def draw_graph(case: Case, ax: Axes, *, text: int = 50) -> Axes:
    """Draw the constraint graph: the edit, an arrow to every node, dotted arcs between nodes.

    Parameters
    ----------
    text : int
        Characters a line in the boxes of the nodes.
    """
    from matplotlib.patches import FancyBboxPatch

    n = max(len(case.constraint_nodes), 1)
    ax.set_axis_off()
    ax.set_xlim(0, 10)
    ax.set_ylim(n, 0)
    middle = n / 2
    plain: dict[str, Any] = {"va": "center", "parse_math": False}
    frame = {"boxstyle": "round,pad=0.45", "facecolor": "white", "edgecolor": TARGET, "linestyle": "--"}
    ax.text(
        0.9,
        middle,
        "edit\n" + textwrap.fill(case.target.element, 12),
        ha="center",
        size=8,
        bbox=frame,
        zorder=5,
        **plain,
    )
    at = {}
    for i, node in enumerate(case.constraint_nodes):
        y, color = i + 0.5, node.category.color
        at[node.id] = y
        words = f"{i + 1}  {node.category.label}: {node.kind.label}\n" + textwrap.fill(
            node.expected_update, text
        )
        arrow = {"arrowstyle": "-|>", "color": color, "lw": 1.6, "shrinkA": 4, "shrinkB": 0}
        arrow["linestyle"] = "--" if node.strength == "weak" else "-"
        ax.annotate("", xy=(2.75, y), xytext=(1.75, middle), arrowprops=arrow)
        box = FancyBboxPatch(
            (2.8, i + 0.12),
            6.5,
            0.76,
            boxstyle="round,pad=0,rounding_size=0.08",
            fc="white",
            ec=color,
            lw=1.6,
        )
        ax.add_patch(box)
        ax.text(2.95, y, words, size=7.5, **plain)
    for edge in case.inter_constraints:
        a, b = sorted((at[edge.between[0]], at[edge.between[1]]))
        arc = {"arrowstyle": "<|-|>", "color": INK, "lw": 1, "linestyle": ":", "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", xy=(9.3, b), xytext=(9.3, a), arrowprops=arc | {"connectionstyle": "arc3,rad=-0.3"})
    return ax


@plain_style()
def case_figure(case: Case, *, width: float = 10.0) -> Figure:
    """Return a figure of one case: image, instruction and graph."""
    from icgkit.report.plots import figure

    w, h = case.image_size
    tall = max(width * 0.5 * min(h / w, 1.25), 0.95 * len(case.constraint_nodes), 2.4) + 0.5
    fig, (left, right) = figure(width, tall, columns=2, width_ratios=(1, 1))
    draw_image(case, left)
    draw_graph(case, right)
    fig.suptitle(
        textwrap.fill(case.instruction, 95), size=10, x=0.01, ha="left", weight="bold", parse_math=False
    )
    return fig


@plain_style()
def draw_pipeline(ax: Axes, stages: Sequence[tuple[str, str, Sequence[str]]]) -> Axes:
    """Draw the pipeline: one column a stage with title, what it does, and its items.

    Parameters
    ----------
    stages : sequence of (title, text, items)
        From left to right.
    """
    ax.set_axis_off()
    ax.set_xlim(0, len(stages))
    rows = max(len(items) for _, _, items in stages)
    ax.set_ylim(rows + 2.6, -0.2)
    for i, (title, text, items) in enumerate(stages):
        ax.add_patch(rectangle(i + 0.04, 0, 0.92, rows + 2.3, "#F4F4F4", edgecolor="#BBBBBB", lw=0.8))
        ax.text(i + 0.5, 0.5, title, ha="center", va="center", size=10, weight="bold")
        ax.text(i + 0.5, 1.35, textwrap.fill(text, 27), ha="center", va="center", size=7.8, color="#444444")
        for k, item in enumerate(items):
            ax.add_patch(rectangle(i + 0.1, k + 2.12, 0.8, 0.76, "white", edgecolor="#888888", lw=0.7))
            ax.text(
                i + 0.5,
                k + 2.5,
                textwrap.fill(item, 20),
                ha="center",
                va="center",
                size=7.6 if len(item) < 20 else 6.2,
            )
        if i:
            ax.annotate(
                "",
                xy=(i + 0.045, 0.5),
                xytext=(i - 0.045, 0.5),
                arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.4},
            )
    return ax


@plain_style()
def contact_sheet(
    cases: Sequence[Case],
    *,
    columns: int = 6,
    width: float = 12.0,
    titles: bool = True,
    pictures: bool = True,
) -> Figure:
    """Return a figure with the marked images of many cases, in rows.

    Parameters
    ----------
    cases : sequence of Case
        In reading order.
    columns : int
        Images a row.
    width : float
        Inches.
    pictures : bool
        Whether to show the images, or their regions on a grey field.
    """
    from matplotlib.figure import Figure

    from icgkit.report.plots import STYLE

    cell, title = width / columns, 0.26 if titles else 0.04
    down = 0.82 * cell + title
    rows = -(-len(cases) // columns)
    with plain_style(**STYLE):
        fig = Figure(figsize=(width, rows * down))
        fig.suppressComposite = True  # one picture of the whole sheet would be larger
        ax = fig.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(rows * down, 0), xticks=[], yticks=[])
    ax.set_axis_off()
    marks: list[Mark] = []
    fits = int(cell * 72 / (6.5 * 0.56))  # signs a title may have
    for k, case in enumerate(cases):
        scale = min(0.94 * cell / case.image_size[0], 0.82 * cell / case.image_size[1])
        w, h = (scale * side for side in case.image_size)
        left, top = k % columns * cell, k // columns * down + title
        at = (left + (cell - w) / 2, top + (0.82 * cell - h) / 2)
        marks += _place(case, ax, at, scale, max_side=round(cell * 200), picture=pictures)
        if titles:
            kinds = ", ".join(dict.fromkeys(n.kind.label for n in case.constraint_nodes))
            words = textwrap.shorten(f"{case.id}: {kinds}", fits, placeholder="…")
            ax.text(left + cell / 2, at[1] - 0.05, words, size=6.5, ha="center")
    draw_marks(ax, marks, 4.5)
    return fig


@plain_style()
def case_studies(run: Results, picked: pl.DataFrame, *, conditions: Sequence[str]) -> Figure:
    """Return a figure with one row a picked case: its image and who found which node.

    Parameters
    ----------
    run : Results
        The run that the cases were picked from.
    picked : polars.DataFrame
        From `icgkit.report.views.pick_cases`.
    """
    import polars as pl
    from matplotlib.figure import Figure

    from icgkit.report.plots import STYLE, draw_grid
    from icgkit.report.views import found_grid

    with plain_style(**STYLE):
        fig = Figure(figsize=(11, 3.7 * picked.height), layout="constrained")
        axes = fig.subplots(picked.height, 2, squeeze=False, width_ratios=(1, 1.35))
        for (left, right), row in zip(axes, picked.iter_rows(named=True), strict=True):
            case = run.dataset[row["case_id"]]
            draw_image(case, left)
            numbers = {n.id: f"{i} {n.kind.label}" for i, n in enumerate(case.constraint_nodes, 1)}
            grid = found_grid(run.judgments, case.id, conditions)
            draw_grid(grid.with_columns(pl.col("node_id").replace(numbers)), right, row="node_id")
            title = f"{row['role']}: {case.id}, Direct {row['direct']:.2f}, ICG-O {row['oracle']:.2f}"
            left.set_title(
                title + "\n" + textwrap.fill(case.instruction, 60),
                size=8.5,
                parse_math=False,
            )
    return fig
