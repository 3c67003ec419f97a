"""What a case and a dataset look like in Jupyter: static HTML and SVG, escaped, for light and dark themes."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
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
SHEET, THUMBNAIL = 12, 220
"""Pictures that a dataset shows, and pixels of their longer side."""


@cache
def environment(folder: str = "templates", **options: Any) -> Environment:
    """Return the environment of templates of the package; everything is escaped unless an option says otherwise."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    options = {"autoescape": True, "undefined": StrictUndefined, "trim_blocks": True, **options}
    return Environment(loader=PackageLoader("icgkit", folder), **options)


@cache
def _css() -> Any:
    from markupsafe import Markup

    path = Path(__file__).parents[1] / "templates" / "display" / "style.css"
    return Markup(path.read_text(encoding="utf-8"))


def case_html(case: Case, found: Mapping[str, Mapping[str, bool | None]] | None = None) -> str:
    """Return the HTML view of a case: marked image, graph, nodes and who found them (title to verdicts by node id)."""
    from markupsafe import Markup

    env = environment()
    return env.get_template("display/case.html.j2").render(
        case=case,
        css=_css(),
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
    found = [(case.target.bbox, "E", TARGET_COLOR, True)]
    found += [(n.bbox, str(i), n.category.color, False) for i, n in enumerate(case.constraint_nodes, 1)]
    boxes = [b for b, *_ in found if b]
    discs = iter(badge_places(boxes, radius, case.image_size))
    marks = []
    for box, label, color, dash in found:
        if box is None:
            continue
        cx, cy = next(discs)
        to_x, to_y = leader(box, (cx, cy))
        marks.append(
            dict(zip(("x0", "y0", "x1", "y1"), box, strict=True))
            | {"label": label, "color": color, "dash": dash, "cx": cx, "cy": cy, "to_x": to_x, "to_y": to_y}
        )
    href, why = _data_url(case)
    return (
        environment()
        .get_template("display/picture.svg.j2")
        .render(case=case, w=width, h=height, shown=shown, r=radius, marks=marks, href=href, why=why)
    )


def badge_places(
    boxes: Sequence[Box], radius: float, size: tuple[float, float], at: tuple[float, float] = (0, 0)
) -> list[tuple[float, float]]:
    """Return the centre of a numbered disc for each box: beside it, inside the picture, off the other boxes and discs.

    Where no such place touches the box, the nearest one that covers least is taken; a leader then joins
    disc and box. A box that fills the picture has its disc in a corner.
    """
    taken: list[tuple[float, float]] = []
    left, top, right, bottom = (
        at[0] + radius,
        at[1] + radius,
        at[0] + size[0] - radius,
        at[1] + size[1] - radius,
    )

    def cost(x: float, y: float, own: int, wish: float) -> float:
        disc = (x - radius, y - radius, x + radius, y + radius)
        covered = sum((8.0 if k == own else 3.0) * _shared(disc, b) for k, b in enumerate(boxes))
        covered += sum(
            12.0 * max(0.0, 2 * radius - ((x - a) ** 2 + (y - b) ** 2) ** 0.5) * radius for a, b in taken
        )
        return float(covered / radius**2 + wish)

    for own, (x0, y0, x1, y1) in enumerate(boxes):
        best: tuple[float, float, float] | None = None
        for step in (1.2, 2.4, 4.0):
            d, cx, cy = step * radius, (x0 + x1) / 2, (y0 + y1) / 2
            spots = [(x0 - d, cy), (x1 + d, cy), (x0, y0 - d), (x1, y0 - d), (x0, y1 + d), (x1, y1 + d)]
            spots += [(x0 - d, y0), (x1 + d, y0), (x0 - d, y1), (x1 + d, y1), (cx, y0 - d), (cx, y1 + d)]
            for k, (x, y) in enumerate(spots):
                x, y = min(max(x, left), right), min(max(y, top), bottom)
                found = (cost(x, y, own, 0.02 * k + 0.5 * step), x, y)
                best = found if best is None or found < best else best
        assert best is not None
        taken.append((round(best[1], 4), round(best[2], 4)))
    return taken


def _shared(a: Sequence[float], b: Sequence[float]) -> float:
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))


def leader(box: Box, disc: tuple[float, float]) -> tuple[float, float]:
    """Return the point of a box nearest to a disc's centre, where the line to it ends."""
    return min(max(disc[0], box[0]), box[2]), min(max(disc[1], box[1]), box[3])


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
    """Return a dataset as HTML: version, counts, licence, images that are missing, and its first pictures."""
    missing = len(data.missing_images())
    template = environment().get_template("display/dataset.html.j2")
    return template.render(
        data=data,
        css=_css(),
        nodes=sum(len(c.constraint_nodes) for c in data),
        note=f"{missing} of {len(data)} images are not here" if missing else "all images are here",
        shown=[(case, _thumbnail(case)) for case in data.cases[:SHEET]],
    )


def _thumbnail(case: Case) -> str:
    """Return a small picture as a data URL, empty if there is none."""
    from icgkit.cases.images import prepare

    try:
        return str(prepare(case.image_path, THUMBNAIL).data_url)
    except ImageError:
        return ""
