"""Is what a case says true of its pictures? Checks on masks and pixels, and contact sheets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from icgforge.synth.canvas import mask_box
from icgforge.synth.case import Knobs as Knobs
from icgforge.synth.case import Made, make_case


class Truth(NamedTuple):
    """Pixel check of one case.

    Attributes
    ----------
    outside : int
        Pixels that differ between before and after outside all boxes, before encoding; 0 is right.
    unchanged : tuple of str
        Nodes (or "target") in whose box nothing differs; empty is right.
    fill : dict of str to float
        Share of each box that its drawn mask covers, 0 to 1.
    iou : dict of str to float
        Intersection over union of each box with the bounding box of its drawn mask, 0 to 1.
    """

    outside: int
    unchanged: tuple[str, ...]
    fill: dict[str, float]
    iou: dict[str, float]


def check_truth(made: Made) -> Truth:
    """Compare the pictures before and after the edit with the boxes of a case.

    Examples
    --------
    >>> truth = check_truth(make_case("style_font_headings", 1))
    >>> truth.outside, truth.unchanged
    (0, ())
    """
    before, after = (np.asarray(made.image(w), np.int16) for w in ("before", "after"))
    diff = (before != after).any(axis=-1)
    left = diff.copy()
    names = {"target": "target"} | {f"n{i}": s.element for i, s in enumerate(made.nodes(), 1)}
    unchanged, fill, iou = [], {}, {}
    for name, element in names.items():
        x0, y0, x1, y1 = made.box(element)
        if not diff[y0:y1, x0:x1].any():
            unchanged.append(name)
        left[y0:y1, x0:x1] = False
        mask = made.mask(element)
        area = (x1 - x0) * (y1 - y0)
        fill[name] = round(float(mask[y0:y1, x0:x1].sum()) / area, 4)
        ys, xs = np.nonzero(mask)
        tight = (xs.max() + 1 - xs.min()) * (ys.max() + 1 - ys.min())
        iou[name] = round(float(tight / area), 4)
    return Truth(int(left.sum()), tuple(unchanged), fill, iou)


def truth_rows(made: Made) -> list[dict[str, object]]:
    """Return what `check_truth` and `problems` find, a row for the target and for every node.

    Returns
    -------
    list of dict
        Keys `case_id`, `template`, `element` ("target" or the node's id), `fill` and `iou` (0 to 1, see
        `Truth`), `changed` (whether the edit changes something in the box), `outside` (pixels that change
        outside all boxes of the case), `problems` (what is wrong with the case and its twins, empty when
        it is sound).

    Examples
    --------
    >>> rows = truth_rows(make_case("style_font_headings", 1, Knobs(nodes=1)))
    >>> [(r["element"], r["changed"], r["outside"], r["problems"]) for r in rows]
    [('target', True, 0, ''), ('n1', True, 0, '')]
    """
    truth = check_truth(made)
    said = "; ".join(problems(made, truth))
    return [
        {"case_id": made.case_id, "template": made.template.id, "element": name, "fill": truth.fill[name],
         "iou": truth.iou[name], "changed": name not in truth.unchanged, "outside": truth.outside, "problems": said}
        for name in truth.fill
    ]  # fmt: skip


def problems(made: Made, truth: Truth | None = None) -> list[str]:
    """Name all that is wrong with one case: truth, twins, phrases; empty when it is sound."""
    case = made.case
    out: list[str] = []
    truth = truth or check_truth(made)
    if truth.outside:
        out.append(f"{truth.outside} pixels change outside the boxes")
    out += [f"nothing changes in {name}" for name in truth.unchanged]
    if len(case.constraint_nodes) != made.ctx.n:
        out.append(f"{len(case.constraint_nodes)} nodes instead of {made.ctx.n}")
    said = [n.subtype for n in case.constraint_nodes]
    if said != list(made.template.nodes[: len(said)]):
        out.append(f"subtypes {said} are not the first of {list(made.template.nodes)}")
    if case.target.element not in " ".join(made.drawn_before.texts).replace("\n", " "):
        out.append("the target text is not drawn in one piece")
    twin, edited = made.canvas("twin"), made.canvas("twin_after")
    before = np.asarray(twin.img)
    if (before == np.asarray(made.drawn_before.img)).all():
        out.append("the twin equals the case")
    if "target" not in twin.masks:
        return [*out, "the twin has no target"]
    change = (before != np.asarray(edited.img)).any(axis=-1)
    if not change.any():
        out.append("the edit changes nothing in the twin")
    box = mask_box(twin.masks["target"] | edited.masks["target"])  # it may lie elsewhere than the case's
    x0, y0, x1, y1 = box or (0, 0, 0, 0)
    change[max(0, y0 - 8) : y1 + 8, max(0, x0 - 8) : x1 + 8] = False
    if change.any():
        out.append(f"the edit changes {int(change.sum())} pixels of the twin outside its target")
    for node in case.constraint_nodes:
        text = f"{node.region_clean} {node.reason_anon}"
        if any(ch.isdigit() for ch in node.reason_anon or ""):
            out.append(f"{node.id}: a number in reason_anon: {node.reason_anon}")
        for quoted in (case.target.element, made.design.edit.new.text):
            if quoted.casefold() in text.casefold() and len(quoted) > 3:
                out.append(f"{node.id}: {quoted!r} in region_clean or reason_anon")
    made.infeasible()
    made.counterfactual()
    return out


def outlined(made: Made, which: str = "before") -> Image.Image:
    """Return a picture with the boxes of target (red) and nodes (category colours) drawn on it."""
    image = made.image(which).convert("RGB")
    d = ImageDraw.Draw(image)
    case = made.case
    boxes = [("edit", case.target.bbox, "#ff0000")]
    boxes += [(f"{n.id} {n.subtype}", n.bbox, n.category.color) for n in case.constraint_nodes]
    for label, box, color in boxes:
        if box:
            x0, y0, x1, y1 = (int(v) for v in box)
            d.rectangle((x0 - 1, y0 - 1, x1, y1), outline=color, width=2)
            d.text((x0 + 2, y0 - 12), label, fill=color)
    return image


def sheet(images: Sequence[Image.Image], *, columns: int = 4, cell: int = 400) -> Image.Image:
    """Lay pictures out in a grid, each scaled to fit a square cell."""
    rows = -(-len(images) // columns)
    out = Image.new("RGB", (columns * cell, rows * cell), "#777777")
    for i, image in enumerate(images):
        small = image.convert("RGB")
        small.thumbnail((cell - 6, cell - 6), Image.Resampling.LANCZOS)
        out.paste(small, (i % columns * cell + 3, i // columns * cell + 3))
    return out


def check_templates(ids: Iterable[str], seeds: Iterable[int]) -> list[str]:
    """Run `problems` over templates, seeds and all their node counts; one line a problem."""
    from icgforge.synth.base import templates

    out = []
    for name in ids:
        t = templates()[name]
        for seed in seeds:
            for n in range(t.min_nodes, len(t.nodes) + 1):
                made = make_case(name, seed, Knobs(nodes=n))
                out += [f"{name} seed {seed} nodes {n}: {p}" for p in problems(made)]
    return out


def main() -> None:
    """Check templates by prefix and draw a sheet: `python -m icgforge.synth.check style_ out.png 3`."""
    import sys

    from icgforge.synth.base import templates

    prefix, path, k = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 2
    ids = [t for t in templates() if t.startswith(prefix)]
    for line in check_templates(ids, range(k)):
        print(line)
    pictures = []
    for t in ids:
        for s in range(k):
            made = make_case(t, s)
            pictures += [outlined(made), made.image("after"), made.image("twin")]
    sheet(pictures, columns=3 if k == 1 else 6, cell=420).save(path)


if __name__ == "__main__":
    main()
