"""From a template and a seed to pictures, boxes and a validated case."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from PIL import Image

from icgforge.synth.base import Ctx, Design, NodeSpec, Template, templates, where
from icgforge.synth.canvas import Canvas, mask_box
from icgforge.synth.mount import Mount, draw_mount
from icgforge.synth.post import Post, draw_post
from icgforge.synth.words import draw_edit, instruction
from icgkit.cases.case import Case, Constraint, Edge, Target
from icgkit.errors import IcgError, SchemaError, UnknownName
from icgkit.taxonomy import SUBTYPES

Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class Knobs:
    """Settings of a case; None leaves a knob to the seed."""

    nodes: int | None = None
    distractors: int | None = None
    far: bool | None = None
    salient: bool | None = None
    edit: str | None = None


@dataclass(frozen=True)
class Made:
    """One case with its pictures, which are drawn when first asked for.

    `before` is what a model sees; `after` is the picture after the correct edit; `naive` has only
    the target edited; `twin` is the picture before the edit without the dependency.
    """

    template: Template
    seed: int
    design: Design
    ctx: Ctx
    mount: Mount
    post: Post
    case_id: str

    def canvas(self, which: str = "before") -> Canvas:
        """Draw the design alone, without surround and post effects: "before", "after", "naive", "twin" or "twin_after"."""
        d = self.design
        base = {**d.before, "target": d.edit.old.text}
        new = {"target": d.edit.new.text}
        after = {**base, **d.after, **new}
        twin = {**base, **d.twin}
        values: dict[str, dict[str, Any]] = {"before": base, "after": after, "naive": {**base, **new}}
        values |= {"twin": twin, "twin_after": {**twin, **new}}
        if which not in values:
            raise UnknownName.among("picture", which, values)
        c = Canvas(d.size, "white")
        d.draw(c, values[which], which.startswith("twin"))
        return c

    def image(self, which: str = "before") -> Image.Image:
        """Return a picture with surround and post effects, before it is encoded."""
        return self.post.apply(self.mounted(which))

    def mounted(self, which: str) -> Image.Image:
        """Return a picture in its surround, without post effects."""
        if which == "before":
            return self.mounted_before
        return self.mount.apply((self.drawn_after if which == "after" else self.canvas(which)).img)

    @cached_property
    def drawn_before(self) -> Canvas:
        """The design before the edit, alone."""
        return self.canvas("before")

    @cached_property
    def drawn_after(self) -> Canvas:
        """The design after the correct edit, alone."""
        return self.canvas("after")

    @cached_property
    def mounted_before(self) -> Image.Image:
        """The picture before the edit in its surround, without post effects."""
        return self.mount.apply(self.drawn_before.img)

    def encoded(self, which: str = "before") -> bytes:
        """Return the bytes of the image file."""
        return self.post.encode(self.image(which))

    def nodes(self) -> list[NodeSpec]:
        """Return the nodes that this case has."""
        return list(self.design.nodes[: self.ctx.n])

    def mask(self, element: str) -> np.ndarray:
        """Return the pixels of an element before or after the edit, in the whole picture."""
        found = [c.masks[element] for c in (self.drawn_before, self.drawn_after) if element in c.masks]
        if not found:
            raise SchemaError(f"template {self.template.id}, seed {self.seed}: element never drawn", got=element,
                              allowed=sorted(self.drawn_before.masks))  # fmt: skip
        return self.mount.mask(np.logical_or.reduce(found))

    def box(self, element: str) -> Box:
        """Return the box of an element, grown by what the blur of the post effects spreads."""
        box, pad = mask_box(self.mask(element)), self.post.spread
        if box is None:
            raise SchemaError(f"template {self.template.id}, seed {self.seed}: element is empty", got=element)
        w, h = self.mount.size
        return max(0, box[0] - pad), max(0, box[1] - pad), min(w, box[2] + pad), min(h, box[3] + pad)

    @cached_property
    def case(self) -> Case:
        """The case, validated."""
        d, rng = self.design, random.Random(self.ctx.key + "/phrases")
        say = _Phrases(d, rng)
        nodes, ids = [], {}
        for i, spec in enumerate(self.nodes(), 1):
            box = self.box(spec.element)
            at = where(box, self.mount.size)
            ids[spec.element] = f"n{i}"
            nodes.append(
                Constraint(
                    id=f"n{i}", region=say(spec.region, at), subtype=spec.subtype,
                    expected_update=say(spec.update, at), reason=say(spec.reason, at),
                    strength="weak" if spec.strength == "weak" else "strong", bbox=box,
                    region_clean=say(spec.clean, at), reason_anon=say(spec.anon, at),
                )
            )  # fmt: skip
        target = self.box("target")
        edges = tuple(
            Edge(between=(ids[e.a], ids[e.b]), type=e.type, description=say(e.description, ""))
            for e in d.edges
            if e.a in ids and e.b in ids
        )
        return Case(
            id=self.case_id, image=f"images/{self.case_id}{self.post.suffix}", image_size=self.mount.size,
            instruction=instruction(rng, d.edit.old.text, d.edit.new.text),
            target=Target(element=d.edit.old.text, region=say(d.target_region, where(target, self.mount.size)),
                          action=f'becomes "{d.edit.new.text}"', bbox=target),
            constraint_nodes=tuple(nodes), inter_constraints=edges, source="drawn",
            metadata=self._metadata(target, [n.bbox for n in nodes], ids),
        )  # fmt: skip

    def _metadata(self, target: Box, boxes: Sequence[Any], ids: dict[str, str]) -> dict[str, Any]:
        d = self.design
        w, h = self.mount.size
        diagonal = (w * w + h * h) ** 0.5
        gaps = [abs(_centre(b) - _centre(target)) / diagonal for b in boxes]
        specs = self.nodes()
        facts = [
            {"kind": f.kind, "node": ids[f.node], "before": dict(f.before), "after": dict(f.after)}
            | ({"axis": f.axis, "zero": f.zero} if f.kind == "length" else {})
            for f in d.facts
            if f.node in ids
        ]
        levels = [SUBTYPES[s.subtype].indirectness for s in specs]
        return {
            "template": self.template.id, "seed": self.seed, "edit_type": d.edit.kind,
            "script": sorted({"latin", *self.ctx.scripts}),
            "knobs": {
                "indirectness": max(levels), "distractors": self.ctx.distractors, "nodes": self.ctx.n,
                "far": self.ctx.far, "salient": self.ctx.salient,
                "distance": round(float(np.mean(gaps)), 4), "salience": self._salience(specs),
            },
            "per_node": {
                ids[s.element]: {"distance": round(float(g), 4), "salience": self._salience([s])}
                for s, g in zip(specs, gaps, strict=True)
            },
            "twins": {"counterfactual": f"{self.case_id}-twin", "infeasible": f"{self.case_id}-infeasible"},
            "facts": facts,
        }  # fmt: skip

    def _salience(self, specs: Sequence[NodeSpec]) -> float:
        """Mean over nodes of (share of the picture in percent) x (contrast to its surround, 0..1)."""
        grey = np.asarray(self.mounted_before.convert("L"))
        out = []
        for spec in specs:
            x0, y0, x1, y1 = self.box(spec.element)
            inside = grey[y0:y1, x0:x1]
            share = 100 * inside.size / grey.size
            out.append(share * min(1.0, float(inside.std()) / 64))
        return round(float(np.mean(out)), 3)

    def infeasible(self) -> Case:
        """Return the same picture with an instruction whose target does not occur in it."""
        rng = random.Random(self.ctx.key + "/infeasible")
        shown = " ".join(self.drawn_before.texts).casefold()
        for _ in range(500):
            edit = draw_edit(self.design.edit.kind, rng)
            if edit.old.text.casefold() not in shown:
                break
        else:
            raise SchemaError(f"template {self.template.id}: every text of the pool is in the picture")
        base = self.case
        return base.model_copy(
            update={
                "id": f"{self.case_id}-infeasible",
                "instruction": instruction(rng, edit.old.text, edit.new.text),
                "target": Target(element=edit.old.text, region="nowhere in the picture", action=f'becomes "{edit.new.text}"'),
                "constraint_nodes": (), "inter_constraints": (),
                "metadata": {**base.metadata, "twin_of": self.case_id, "twin_kind": "infeasible", "facts": []},
            }
        )  # fmt: skip

    def counterfactual(self) -> Case:
        """Return the case of the twin picture: the same edit, and nothing that depends on it."""
        base, box = self.case, mask_box(self.mount.mask(self.canvas("twin").masks["target"]))
        if box is None:
            raise SchemaError(f"template {self.template.id}: the twin has no target")
        twin_id = f"{self.case_id}-twin"
        return base.model_copy(
            update={
                "id": twin_id, "image": f"images/{twin_id}{self.post.suffix}",
                "target": base.target.model_copy(update={"bbox": tuple(float(v) for v in box)}),
                "constraint_nodes": (), "inter_constraints": (),
                "metadata": {**base.metadata, "twin_of": self.case_id, "twin_kind": "counterfactual", "facts": []},
            }
        )  # fmt: skip


def _centre(box: Sequence[float]) -> complex:
    return complex((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)


class _Phrases:
    def __init__(self, design: Design, rng: random.Random) -> None:
        self.rng, d = rng, design
        self.names: dict[str, Any] = {"old": d.edit.old.text, "new": d.edit.new.text}
        after = {**d.before, **d.after}
        self.names |= {f"b_{k}": v for k, v in d.before.items()} | {f"a_{k}": v for k, v in after.items()}

    def __call__(self, variants: Sequence[str], at: str) -> str:
        phrase = self.rng.choice(list(variants))
        try:
            return phrase.format_map(self.names | {"where": at})
        except (KeyError, ValueError, IndexError) as exc:
            raise IcgError("placeholder that is not known in a phrase", got=phrase, allowed=sorted(self.names),
                           remedy=f"{exc}; write braces of the text itself twice") from None  # fmt: skip


def make_case(template: str, seed: int, knobs: Knobs | None = None, *, case_id: str | None = None) -> Made:
    """Plan one case; nothing is drawn before it is asked for.

    Parameters
    ----------
    template : str
        Id of a template, see `templates()`.
    seed : int
        Together with the knobs it fixes every pixel and every word.
    knobs : Knobs, optional
        Number of nodes and distractors, distance, salience, edit type; the seed decides the rest.

    Raises
    ------
    UnknownName
        If there is no such template.
    SchemaError
        If a knob is out of the range of the template.

    Examples
    --------
    >>> made = make_case("style_font_headings", 3)
    >>> made.case.constraint_nodes[0].subtype
    'style_font'
    """
    known = templates()
    if template not in known:
        raise UnknownName.among("template", template, known)
    t, k = known[template], knobs or Knobs()
    rng = random.Random(f"{template}/{seed}/knobs")
    drawn = Knobs(
        rng.randint(t.min_nodes, len(t.nodes)), rng.randint(0, t.max_distractors), rng.random() < 0.5,
        rng.random() < 0.5, rng.choice(t.edits),
    )  # fmt: skip
    drawn = replace(drawn, **{f: v for f, v in vars(k).items() if v is not None})
    n, distractors, kind = drawn.nodes or 1, drawn.distractors or 0, drawn.edit or t.edits[0]
    if not t.min_nodes <= n <= len(t.nodes):
        raise SchemaError(
            f"number of nodes of template {t.id}", got=n, allowed=f"{t.min_nodes} to {len(t.nodes)}"
        )
    if not 0 <= distractors <= t.max_distractors:
        raise SchemaError(
            f"number of distractors of template {t.id}", got=distractors, allowed=f"0 to {t.max_distractors}"
        )
    if kind not in t.edits:
        raise SchemaError(f"edit type of template {t.id}", got=kind, allowed=t.edits)
    ctx = Ctx(
        t, seed, n=n, distractors=distractors, far=bool(drawn.far), salient=bool(drawn.salient), kind=kind
    )
    design = t.plan(ctx)
    mount = draw_mount(random.Random(f"{template}/{seed}/mount"), design.size)
    post = draw_post(random.Random(f"{template}/{seed}/post"), mount.camera)
    return Made(t, seed, design, ctx, mount, post, case_id or f"{t.id}-{seed:05d}")


def to_png(image: Image.Image) -> bytes:
    """Return lossless bytes of a picture."""
    out = io.BytesIO()
    image.convert("RGB").save(out, "PNG", compress_level=4)
    return out.getvalue()


__all__ = ["SUBTYPES", "Knobs", "Made", "make_case", "to_png"]
