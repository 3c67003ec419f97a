"""Style templates whose sibling texts share size, width or weight with the edited text."""

from __future__ import annotations

from typing import Any

from icgforge.synth.base import Ctx, Design, EdgeSpec, NodeSpec, Values, template
from icgforge.synth.canvas import Canvas, fit_size, font
from icgforge.synth.textures import surface
from icgforge.synth.words import Edit, Item, NoPair

TEXTS = ("label", "word", "brand", "person", "place", "dish", "color", "month")
SHORT = ("Home", "Ideas", "Shop", "Prints", "Visit", "Paper", "Notes", "Tea", "Ink", "Hire", "Jobs", "Map")


@template("style_font_headings", nodes=("style_font", "style_font", "style_font"), edits=TEXTS)
def tabs(ctx: Ctx) -> Design:
    """Doors, tabs or shelf plates of equal width: one type size for all, fixed by the longest text."""
    pal, size = ctx.palette(), ctx.size("wide")
    family = ctx.face(ctx.rng.choice(["sans", "serif", "slab", "condensed"]))
    w, h = size
    n = ctx.n + 1
    words = ctx.rng.sample(SHORT, n - 1)
    largest = 46 if ctx.salient else 36
    room, ratio = (w - 80) / n - 16, ctx.rng.uniform(0.6, 0.72)

    def width(a: str, b: str) -> float:
        """Width of a plate in which the longer of both texts needs smaller type."""
        return min(room, 28 + max(font(family, largest).getlength(t) for t in (a, b, *words)) * ratio)

    def shared(text: str, cell: float) -> int:
        return min(fit_size(t, family, cell - 28, largest) for t in [text, *words])

    def differ(a: Item, b: Item) -> bool:
        cell = width(a.text, b.text)
        sizes = shared(a.text, cell), shared(b.text, cell)
        return abs(sizes[0] - sizes[1]) >= 3 and min(sizes) >= 13

    edit = ctx.edit(differ)
    cell = width(edit.old.text, edit.new.text)
    place = ctx.rng.randrange(n)
    order = [*range(n - 1)]
    order.insert(place, -1)
    y = h * (0.62 if ctx.far else 0.3)
    title, sub = ctx.face("display"), ctx.copy(min(6, ctx.distractors + 1))
    wood, seed = ctx.chance(0.4), ctx.seed()

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        if wood:
            c.paste(surface("wood", size, seed))
        else:
            c.rect((0, 0, w, h), pal.bg)
        ty = h * (0.2 if ctx.far else 0.72)
        c.rect((40, ty - 52, w - 40, ty + 60), pal.panel, radius=8)
        c.text((64, ty - 12), sub[0], (title, 30), pal.ink, anchor="lm")
        c.rect((64, ty + 20, w * 0.5, ty + 28), pal.muted, radius=4)
        c.rect((64, ty + 36, w * 0.38, ty + 44), pal.muted, radius=4)
        for k, i in enumerate(order):
            x0 = w / 2 + (k - n / 2) * (cell + 16) + 8
            c.rect(
                (x0, y - 46, x0 + cell, y + 46),
                pal.panel if i >= 0 else pal.accent,
                radius=6,
                outline=pal.ink,
                width=2,
            )
            px = (
                fit_size(v["target"], family, cell - 28, v["size"]) if i < 0 else v.get(f"size{i}", v["size"])
            )
            with c.element("target" if i < 0 else f"tab{i}"):
                c.text((x0 + cell / 2, y), v["target"] if i < 0 else words[i], (family, px),
                       pal.ink if i >= 0 else pal.bg, anchor="mm")  # fmt: skip
        for i, line in enumerate(sub[1:]):
            c.text(
                (w - 40, y + 76 + 20 * i if ctx.far else 30 + 18 * i),
                line,
                ("plain", 13),
                (250, 244, 232) if wood else pal.muted,
                anchor="rm",
            )

    def node(i: int) -> NodeSpec:
        word = words[i]
        return NodeSpec(
            f"tab{i}", "style_font",
            region=[f"plate “{word}” in the same row", f"the lettering “{word}”, {{where}}", f"neighbouring field with “{word}”"],
            clean=["another field of the row, {where}", "a short text in one of the boxes, {where}", "the writing in a box at the {where}"],
            update=["its type goes from {b_size} px to {a_size} px like the rest of the row",
                    f"set “{word}” at {{a_size}} px, the size that “{{new}}” leaves room for",
                    f"rescale “{word}” so that all fields are in one type size again"],
            reason=["the row is set in one size, and the widest entry dictates it: “{new}” fits at {a_size} px",
                    "type of equal rank has equal size here, and a box only holds “{new}” at {a_size} px",
                    "fields are equally wide, so the longest word limits the letters of every field"],
            anon=["items of one rank share their type size, which the widest of them dictates",
                  "the edited text sets how large all its siblings may be",
                  "a common size is only as large as the most demanding member allows"],
        )  # fmt: skip

    before, after = shared(edit.old.text, cell), shared(edit.new.text, cell)
    odd = {f"size{i}": max(9, before + (5 if i % 2 else -6)) for i in range(n - 1)}
    return Design(
        size, draw, edit, before={"size": before}, after={"size": after}, twin=odd,
        target_region=["highlighted plate of the row, {where}", "coloured field, {where}", "the filled box in the row"],
        nodes=[node(i) for i in range(n - 1)],
        edges=[EdgeSpec(f"tab{i}", f"tab{i + 1}", "same size",
                        [f"“{words[i]}” and “{words[i + 1]}” keep one type size", "both fields are set alike"])
               for i in range(n - 2)],
    )  # fmt: skip


def _fitting(ctx: Ctx, head: str, body: str, line: str, w: int) -> tuple[int, int, Edit]:
    """Return sizes of name and line, and an edit both of whose names can carry the line."""
    px, small = (74, 20) if ctx.salient else (58, 17)
    while True:
        name, least = font(head, px), font(body, small).getlength(line) * 1.02

        def fits(a: Item, b: Item, name: Any = name, least: float = least) -> bool:
            one, two = name.getlength(a.text), name.getlength(b.text)
            return least < min(one, two) and max(one, two) < w * 0.84 and abs(one - two) > 30

        try:
            return px, small, ctx.edit(fits)
        except NoPair:
            if small == 9 and px == 30:
                raise
            px, small = max(30, px - 4), max(9, small - 2)


@template("style_font_lockup", nodes=("style_font", "style_layout"), edits=TEXTS)
def lockup(ctx: Ctx) -> Design:
    """A name over a line that is tracked out to exactly the same width, between two rules."""
    pal, size = ctx.palette(), ctx.size("square")
    head, body = ctx.face("display"), ctx.face(ctx.rng.choice(["sans", "condensed", "serif"]))
    w, h = size
    line = ctx.rng.choice(
        [
            "EST. BY THE RIVER",
            "MADE FOR SLOW DAYS",
            "SINCE WE REMEMBER",
            "GOODS & REPAIRS",
            "THE LONG WAY ROUND",
        ]
    )
    px, small, edit = _fitting(ctx, head, body, line, w)
    cy = h * ctx.rng.uniform(0.36, 0.5)
    below = cy + px * 0.5 + (60 if ctx.far else 22)
    ground, seed, extras = ctx.rng.choice(["paper", "flat", "cloth"]), ctx.seed(), ctx.copy(ctx.distractors)
    badge = ctx.rng.choice(["ring", "stars", "leaf"])

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.rect((0, 0, w, h), pal.bg)
        if ground != "flat":
            c.paste(surface(ground, size, seed, pal.bg))
        for k in range(3):
            x = w / 2 + (k - 1) * 46
            if badge == "ring":
                c.ellipse((x - 16, cy - px - 70, x + 16, cy - px - 38), outline=pal.accent, width=3)
            elif badge == "stars":
                c.polygon(
                    [(x, cy - px - 72), (x + 9, cy - px - 54), (x, cy - px - 36), (x - 9, cy - px - 54)],
                    pal.accent,
                )
            else:
                c.pie((x - 20, cy - px - 76, x + 20, cy - px - 36), 40, 150, pal.accent)
        with c.element("target"):
            c.text((w / 2, cy), v["target"], (head, px), pal.ink, anchor="mm")
        wide = font(head, px).getlength(v["target"]) if not twin else w * 0.55
        with c.element("line"):
            gap = (
                (wide - sum(font(body, small).getlength(ch) for ch in line)) / (len(line) - 1)
                if not twin
                else 2
            )
            c.text((w / 2, below + 22), line, (body, small), pal.accent, anchor="mm", spacing=gap)
        if ctx.n > 1:
            with c.element("rule"):
                c.rect((w / 2 - wide / 2, below + 48, w / 2 + wide / 2, below + 54), pal.ink)
        for i, text in enumerate(extras):
            c.text(
                (w / 2 + (i % 2 - 0.5) * w * 0.44, h - 34 - 26 * (i // 2)),
                text,
                (body, 15),
                pal.muted,
                anchor="mm",
            )

    return Design(
        size, draw, edit, before={}, after={},
        target_region=["big name of the mark, {where}", "upper line of the logo", "wordmark in the {where}"],
        nodes=[
            NodeSpec(
                "line", "style_font",
                region=[f"letterspaced line “{line}”", "tracked capitals under the wordmark", "small line of the logo, {where}"],
                clean=["smaller text below the large one", "second line of the group, {where}", "a line of little capitals at the {where}"],
                update=["its letterspacing changes until it is as wide as “{new}”", "track the small capitals to the width of the new wordmark",
                        "space the letters of the lower line anew so that it ends flush with “{new}”"],
                reason=["both lines of the mark are set flush left and right; “{new}” has another width than “{old}”",
                        "the tracking of the lower line was chosen to match the wordmark, whose width is no longer the same",
                        "a mark like this is justified: its second line takes the measure of the first"],
                anon=["two texts are set to equal measure, and one of them now has another",
                      "spacing between characters was adjusted to the width of the edited text",
                      "the pair is flush at both ends only when the spacing is adapted"],
            ),
            NodeSpec(
                "rule", "style_layout",
                region=["thick rule that closes the mark", "bar under the letterspaced line", "closing stroke of the logo, {where}"],
                clean=["horizontal bar at the {where}", "the stroke below the texts", "a straight bar under the group"],
                update=["redraw the bar from the first to the last letter of “{new}”", "stretch or shorten the rule to the new measure",
                        "both ends of the stroke move to the margins of “{new}”"],
                reason=["the rule is exactly as wide as the wordmark", "mark and stroke end on the same verticals",
                        "a bar that overhangs or falls short would break the block"],
                anon=["an ornament ends where the edited text ends", "its extent is tied to the measure of the text",
                      "edges of the group are aligned and one has moved"],
            ),
        ],
        edges=[EdgeSpec("line", "rule", "flush edges", ["line and rule end on the same verticals", "both take the width of the wordmark"])],
    )  # fmt: skip
