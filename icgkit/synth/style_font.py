"""Style templates whose sibling texts share a typeface, a weight or a case with the edited text."""

from __future__ import annotations

from icgkit.synth.base import Ctx, Design, EdgeSpec, NodeSpec, Values, template
from icgkit.synth.canvas import Canvas
from icgkit.synth.words import LABELS


@template("style_font_headings", nodes=("style_font", "style_font"), edits=("label", "word", "person"))
def headings(ctx: Ctx) -> Design:
    """A page with headings of one typeface; the edit renames one of them in a new typeface."""
    edit = ctx.edit()
    pal, size = ctx.palette(dark=False), ctx.size("tall")
    faces = ctx.rng.sample(["office-bold", "bookish-bold", "code-bold"], 2)
    body = ctx.face("sans")
    w, h = size
    names = ctx.rng.sample([x for x in LABELS if x not in (edit.old.text, edit.new.text)], ctx.n)
    extras = ctx.copy(ctx.distractors)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.rect((0, 0, w, h), pal.bg)
        rows = [("target", v["target"], v["head"])]
        rows += [(f"head{i}", n, v[f"face{i}"]) for i, n in enumerate(names)]
        for i, (element, text, face) in enumerate(rows):
            y = 60 + i * 190
            with c.element(element):
                c.text((60, y), text, (face, 34), pal.ink)
            for k in range(3):
                c.rect((60, y + 62 + 24 * k, w - 60 - 40 * (k == 2), y + 72 + 24 * k), pal.panel)
        for i, line in enumerate(extras):
            c.text((60, h - 30 - 20 * i), line, (body, 13), pal.muted, anchor="ls")

    a, b = faces
    return Design(
        size, draw, edit,
        before={"head": a, "face0": a, "face1": a},
        after={"head": b, "face0": b, "face1": b},
        twin={"face0": "narrow", "face1": "cafe"},
        target_region=["heading of the page, {where}", "first heading, {where}", "title line in the {where}"],
        nodes=[
            NodeSpec(
                f"head{i}", "style_font",
                region=[f"heading “{name}” in the {{where}}" for name in names[i : i + 1]],
                clean=["one line of text further down, {where}"],
                update=["is set in the same face as the new heading"],
                reason=["all headings of the page share one typeface"],
                anon=["elements of one rank look alike, and one of them has changed"],
            )
            for i in range(ctx.n)
        ],
        edges=[EdgeSpec("head0", "head1", "same style", ["both headings keep one typeface"])],
        look="flat",
    )  # fmt: skip
