"""Pictures of cases: the marked image, the constraint graph on it, the pipeline, the contact sheet."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from icgkit.cases.case import Case
from icgkit.cases.images import FORMATS, prepare
from icgkit.cases.show import TARGET_COLOR
from icgkit.errors import ImageError
from icgkit.report.plots import INK, Mark, draw_grid, draw_marks, figure, rectangle, theme
from icgkit.report.plots.marks import Field
from icgkit.report.render import plain_style
from icgkit.report.views import found_grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from icgkit.report.results import Results


@plain_style()
def draw_image(
    case: Case, ax: Axes, *, marks: bool = True, max_side: int = 900, picture: bool = True
) -> Axes:
    """Draw the image of a case with its target (dashed) and its numbered regions in category colours.

    A missing image is said in its place; `picture=False` draws the regions on a grey field instead.
    """
    width, height = case.image_size
    ax.set_xlim(0, width)
    ax.set_ylim(height, 0)
    ax.set_aspect("equal")
    ax.set(xticks=[], yticks=[])  # an axis that is off would still measure its ticks
    ax.set_axis_off()
    found = _place(case, ax, (0, 0), 1, max_side=max_side, picture=picture)
    draw_marks(ax, found if marks else [], Field((0, 0), (width, height)))
    return ax


def _place(
    case: Case, ax: Axes, at: tuple[float, float], scale: float, *, max_side: int, picture: bool
) -> list[Mark]:
    """Draw the image of a case, its upper left corner at a point, so many units a pixel; return its marks."""
    from PIL import Image

    (x, y), width, height = at, *(scale * side for side in case.image_size)
    if picture:
        try:
            shown = prepare(case.image_path, max_side=max_side)
        except ImageError:
            ax.text(x + width / 2, y + height / 2, "image not found here", ha="center", size=8)
            return []
        pixels = Image.open(io.BytesIO(shown.data), formats=FORMATS).convert("RGB")
        ax.imshow(pixels, extent=(x, x + width, y + height, y), interpolation="bilinear")
    else:
        ax.add_patch(rectangle(x, y, width, height, "#ECECEC"))
    boxes = [(case.target.bbox, "E", TARGET_COLOR, "--")]
    boxes += [(n.bbox, str(i), n.category.color, "-") for i, n in enumerate(case.constraint_nodes, 1)]
    return [
        Mark((x + scale * b[0], y + scale * b[1], x + scale * b[2], y + scale * b[3]), *rest)
        for b, *rest in boxes
        if b
    ]


STATUS_COLORS = {"done": "#009E73", "left": "#D55E00", "wrong": "#882255", "unreadable": "#0072B2"}
"""Colours of what became of a region; its first letter stands beside it as well."""


@plain_style()
def draw_scored(pixels: Any, regions: Sequence[Any], rows: Sequence[dict[str, Any]], ax: Axes) -> Axes:
    """Draw an edited picture with what became of each region: its frame and D(one), L(eft), W(rong) or U(nreadable).

    Parameters
    ----------
    pixels : array, height x width x 3
    regions : sequence of icgkit.metrics.edits.Region
    rows : sequence of dict
        `Scored.regions` of `icgkit.metrics.edits.score_edit`.
    """
    height, width = pixels.shape[:2]
    ax.set(xlim=(0, width), ylim=(height, 0), aspect="equal", xticks=[], yticks=[])
    ax.set_axis_off()
    ax.imshow(pixels, extent=(0, width, height, 0), interpolation="bilinear")
    marks = []
    for region, row in zip(regions, rows, strict=True):
        box = region.after or region.before
        if box and row["status"]:
            line = "--" if region.id == "target" else "-"
            marks.append(Mark(box, row["status"][0].upper(), STATUS_COLORS[row["status"]], line))
    draw_marks(ax, marks, Field((0, 0), (width, height)))
    return ax


@plain_style()
def draw_graph(case: Case, ax: Axes, *, text: int = 52) -> Axes:
    """Draw the constraint graph: the edit, a line to every node, dotted arcs between nodes; boxes are as high as their text.

    Parameters
    ----------
    text : int
        Characters a line in the boxes of the nodes.
    """
    from matplotlib.patches import FancyBboxPatch

    line, gap, pad = 0.16, 0.2, 0.09  # inches
    words = [
        f"{i}  {n.category.label}: {n.kind.label}\n" + textwrap.fill(n.expected_update, text)
        for i, n in enumerate(case.constraint_nodes, 1)
    ]
    heights = [line * (w.count("\n") + 1) + 2 * pad for w in words]
    total = max(sum(heights) + gap * max(len(words) - 1, 0), 0.5)
    middle = total / 2
    ax.set_axis_off()
    ax.set_xlim(0, 10)
    ax.set_ylim(total + 0.06, -0.06)
    plain: dict[str, Any] = {"va": "center", "parse_math": False}
    frame = {"boxstyle": "round,pad=0.45", "facecolor": "white", "edgecolor": TARGET_COLOR, "linestyle": "--"}
    edit = "edit\n" + textwrap.fill(case.target.element, 12)
    ax.text(0.95, middle, edit, ha="center", size=8, bbox=frame, zorder=5, **plain)
    at: dict[str, float] = {}
    top = 0.0
    for node, text_of, height in zip(case.constraint_nodes, words, heights, strict=True):
        y = at[node.id] = top + height / 2
        color = node.category.color
        arrow = {"arrowstyle": "-|>", "color": color, "lw": 1.4, "shrinkA": 4, "shrinkB": 0}
        arrow["linestyle"] = "--" if node.strength == "weak" else "-"
        ax.annotate("", xy=(2.75, y), xytext=(1.8, middle), arrowprops=arrow)
        round_box: dict[str, Any] = {"boxstyle": "round,pad=0,rounding_size=0.06", "mutation_aspect": 0.5}
        ax.add_patch(FancyBboxPatch((2.8, top), 6.4, height, fc="white", ec=color, lw=1.4, **round_box))
        ax.text(2.95, y, text_of, size=7.5, **plain)
        top += height + gap
    for k, edge in enumerate(case.inter_constraints):
        a, b = sorted((at[edge.between[0]], at[edge.between[1]]))
        bend = f"arc3,rad={-2 * (0.14 + 0.07 * (k % 3)) / max(b - a, 0.1)}"  # as wide whatever it spans, in inches
        arc = {
            "arrowstyle": "-",
            "connectionstyle": bend,
            "color": INK,
            "lw": 1.2,
            "shrinkA": 0,
            "shrinkB": 0,
        }
        ax.annotate("", xy=(9.2, b), xytext=(9.2, a), arrowprops=arc | {"linestyle": (0, (1, 1.6))})
        ax.plot([9.2, 9.2], [a, b], "o", color=INK, ms=3, clip_on=False)
    return ax


def _graph_height(case: Case, text: int = 52) -> float:
    """Return the inches that the graph's boxes need."""
    lines = sum(1 + len(textwrap.wrap(n.expected_update, text)) for n in case.constraint_nodes)
    return 0.16 * lines + 0.38 * len(case.constraint_nodes)


@plain_style()
def case_figure(case: Case, *, width: float = 10.0) -> Figure:
    """Return a figure of one case: image, instruction and graph."""
    w, h = case.image_size
    graph = _graph_height(case)
    tall = max(width * 0.5 * min(h / w, 1.25), graph, 2.4) + 0.75
    fig, (left, right) = figure(width, tall, columns=2, width_ratios=(1, 1))
    draw_image(case, left)
    draw_graph(case, right)
    left.set_anchor("N")
    spare = max(tall - 0.75 - graph, 0) / 2  # the graph keeps its scale, in the middle
    bottom, top = right.get_ylim()
    right.set_ylim(bottom + spare, top - spare)
    left.set_title("image: target (E, dashed) and regions", size=8)
    right.set_title("graph: what the edit forces (arrows), dotted between nodes", size=8)
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
    rows = max(-(-len(items) // _columns(items)) for _, _, items in stages)
    ax.set_ylim(rows + 2.6, -0.2)
    for i, (title, text, items) in enumerate(stages):
        ax.add_patch(rectangle(i + 0.04, 0, 0.92, rows + 2.3, "#F4F4F4", edgecolor="#BBBBBB", lw=0.8))
        ax.text(i + 0.5, 0.45, title, ha="center", va="center", size=10, weight="bold")
        ax.text(i + 0.5, 1.3, textwrap.fill(text, 21), ha="center", va="center", size=7.5, color="#444444")
        columns = _columns(items)
        wide = 0.8 / columns
        for k, item in enumerate(items):
            x, y = i + 0.1 + k % columns * wide, k // columns + 2.12
            ax.add_patch(rectangle(x + 0.01, y, wide - 0.02, 0.76, "white", edgecolor="#888888", lw=0.7))
            words = textwrap.fill(item, 20 if columns == 1 else 9)
            ax.text(
                x + wide / 2, y + 0.38, words, ha="center", va="center", size=7.2 if columns == 1 else 6.6
            )
        if i:
            arrow = {"arrowstyle": "-|>", "color": INK, "lw": 1.4}
            ax.annotate("", xy=(i + 0.045, 0.5), xytext=(i - 0.045, 0.5), arrowprops=arrow)
    return ax


def _columns(items: Sequence[str]) -> int:
    """Return how many items stand side by side in a panel of the pipeline: two where they are many and short."""
    return 2 if len(items) > 8 else 1


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

    cell = width / columns
    fits = int(0.94 * cell * 72 / (7 * 0.55))  # signs a line of a title may have
    heads = [_head(case, fits) if titles else "" for case in cases]
    title = 0.13 * max((h.count("\n") + 1 for h in heads), default=0) + 0.08 if titles else 0.06
    tall = 0.94 * cell * max((min(c.image_size[1] / c.image_size[0], 1.0) for c in cases), default=1.0)
    down = tall + title + 0.06
    rows = -(-len(cases) // columns)
    with plain_style(**theme()):
        fig = Figure(figsize=(width, rows * down))
        fig.suppressComposite = True  # one picture of the whole sheet would be larger
        ax = fig.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(rows * down, 0), xticks=[], yticks=[])
    ax.set_axis_off()
    for k, case in enumerate(cases):
        scale = min(0.94 * cell / case.image_size[0], tall / case.image_size[1])
        w, h = (scale * side for side in case.image_size)
        left, top = k % columns * cell, k // columns * down + title
        at = (left + (cell - w) / 2, top + (tall - h) / 2)
        marks = _place(case, ax, at, scale, max_side=round(cell * 200), picture=pictures)
        draw_marks(ax, marks, Field(at, (w, h)), radius=0.028 * cell)
        if titles:
            ax.text(left + 0.03 * cell, top - 0.05, heads[k], size=7, ha="left", va="bottom", linespacing=1.1)
    return fig


def _head(case: Case, fits: int) -> str:
    kinds = ", ".join(dict.fromkeys(n.kind.label for n in case.constraint_nodes))
    return "\n".join([case.id, *textwrap.wrap(kinds, fits)])


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
    from matplotlib.figure import Figure

    with plain_style(**theme()):
        fig = Figure(figsize=(11, 3.7 * picked.height), layout="constrained")
        axes = fig.subplots(picked.height, 2, squeeze=False, width_ratios=(1, 1.35))
        for (left, right), row in zip(axes, picked.iter_rows(named=True), strict=True):
            case = run.dataset[row["case_id"]]
            draw_image(case, left)
            numbers = {n.id: f"{i} {n.kind.label}" for i, n in enumerate(case.constraint_nodes, 1)}
            grid = found_grid(run.judgments, case.id, conditions)
            draw_grid(grid.with_columns(pl.col("node_id").replace(numbers)), right, row="node_id")
            title = f"{row['role']}: {case.id}, Direct {row['direct']:.2f}, ICG-O {row['oracle']:.2f}"
            left.set_title(title + "\n" + textwrap.fill(case.instruction, 60), size=8.5, parse_math=False)
    return fig
