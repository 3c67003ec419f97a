"""What a case and a dataset look like in Jupyter: static HTML and SVG, escaped, for light and dark themes."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icgkit.cases.case import Box, Case
from icgkit.errors import ImageError

if TYPE_CHECKING:
    from jinja2 import Environment

    from icgkit.cases.dataset import Dataset

TARGET_COLOR = "#444444"
_SHOWN = 560


@cache
def environment() -> Environment:
    """Return the template environment of the package; everything is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("icgkit"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )


def case_html(case: Case, found: Mapping[str, Mapping[str, bool | None]] | None = None) -> str:
    """Return the HTML view of a case: marked image, graph, nodes.

    Parameters
    ----------
    case : Case
        The case; its image may be missing, which the view then says.
    found : mapping, optional
        Column title to verdicts by node id: True found, False missed, None or absent no verdict.

    Examples
    --------
    >>> import icgkit as ig
    >>> case = ig.Case(id="c", image="i.png", image_size=(9, 9), instruction="<b>", source="s",
    ...                target=ig.Target(element="e", region="r", action="a"))
    >>> "&lt;b&gt;" in case_html(case)
    True
    """
    from markupsafe import Markup

    env = environment()
    css = Path(__file__).parents[1].joinpath("templates") / "display" / "style.css"
    return env.get_template("display/case.html.j2").render(
        case=case,
        css=Markup(css.read_text(encoding="utf-8")),
        picture=Markup(picture_svg(case)),
        graph=Markup(graph_svg(case)),
        found=found or {},
        number={node.id: i for i, node in enumerate(case.constraint_nodes, 1)},
    )


@dataclass(frozen=True)
class CaseView:
    """A case together with who found which node; shows itself in Jupyter."""

    case: Case
    found: Mapping[str, Mapping[str, bool | None]]

    def _repr_html_(self) -> str:
        return case_html(self.case, self.found)


def picture_svg(case: Case, *, shown: int = _SHOWN) -> str:
    """Return the image of a case with its target and numbered regions as SVG, at most `shown` pixels wide."""
    width, height = case.image_size
    shown = min(shown, round(0.85 * shown * width / height))
    radius = round(max(width, height) * 0.019, 1)
    marks = []
    if case.target.bbox:
        marks.append(_mark(case.target.bbox, "E", TARGET_COLOR, radius, case.image_size) | {"dash": True})
    for i, node in enumerate(case.constraint_nodes, 1):
        if node.bbox:
            marks.append(_mark(node.bbox, str(i), node.category.color, radius, case.image_size))
    href, why = _data_url(case)
    return (
        environment()
        .get_template("display/picture.svg.j2")
        .render(case=case, w=width, h=height, shown=shown, r=radius, marks=marks, href=href, why=why)
    )


def _mark(box: Box, label: str, color: str, radius: float, size: tuple[int, int]) -> dict[str, Any]:
    x0, y0, x1, y1 = box
    inside = radius + 1
    return {
        "x0": x0, "y0": y0, "x1": x1, "y1": y1, "label": label, "color": color, "dash": False,
        "cx": min(max(x0, inside), size[0] - inside), "cy": min(max(y0, inside), size[1] - inside),
    }  # fmt: skip


def _data_url(case: Case) -> tuple[str, str]:
    from icgkit.cases.images import prepare

    try:
        image = prepare(case.image_path, max_side=2 * _SHOWN)
    except ImageError:
        return "", "image not found here"
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}", ""


def graph_svg(case: Case) -> str:
    """Return the constraint graph of a case as SVG: the edit, its nodes, the edges between them."""
    step = 46
    nodes = [
        {"y": 26 + i * step, "color": n.category.color, "label": n.kind.label, "weak": n.strength == "weak"}
        for i, n in enumerate(case.constraint_nodes)
    ]
    at = {n.id: nodes[i]["y"] for i, n in enumerate(case.constraint_nodes)}
    arcs = [(at[e.between[0]], at[e.between[1]]) for e in case.inter_constraints]
    height = 6 + step * max(len(nodes), 1)
    return (
        environment()
        .get_template("display/graph.svg.j2")
        .render(nodes=nodes, arcs=arcs, h=height, mid=height / 2)
    )


def dataset_html(data: Dataset) -> str:
    """Return a short HTML summary of a dataset: version, counts, licence, images that are missing."""
    from markupsafe import Markup, escape

    nodes = sum(len(c.constraint_nodes) for c in data)
    missing = len(data.missing_images())
    note = f"{missing} of {len(data)} images are not here" if missing else "all images are here"
    return str(
        Markup(
            '<div class="mathjax_ignore"><b>{}</b> {}: {} cases, {} constraint nodes; {}.<br>{}<br><small>{}</small></div>'
        ).format(
            data.name, data.version, len(data), nodes, note, escape(data.licence), escape(data.provenance)
        )
    )
