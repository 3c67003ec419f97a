"""Style templates in which the length of the edited text moves, wraps or resizes its neighbours."""

from __future__ import annotations

from icgforge.synth.base import Ctx, Design, EdgeSpec, NodeSpec, Values, template
from icgforge.synth.canvas import Canvas, font
from icgforge.synth.textures import surface
from icgforge.synth.words import Item

TEXTS = ("label", "word", "brand", "person", "place", "dish", "month", "color", "phrase")


def _wider(face: tuple[str, int], most: float, by: float = 24) -> object:
    def ok(a: Item, b: Item) -> bool:
        x, y = font(*face).getlength(a.text), font(*face).getlength(b.text)
        return abs(x - y) > by and max(x, y) <= most

    return ok


@template("style_layout_sign", nodes=("style_layout", "style_layout", "style_layout"), edits=TEXTS)
def sign(ctx: Ctx) -> Design:
    """An enamel direction sign: plate, arrow and pictogram follow the length of the name."""
    size, seed = ctx.size("wide"), ctx.seed()
    w, h = size
    pal = ctx.palette()
    face = (
        ctx.rng.choice(["office-bold", "plain-bold", "narrow-bold", "cafe-bold"]),
        46 if ctx.salient else 36,
    )
    edit = ctx.edit(_wider(face, w - 250))  # type: ignore[arg-type]
    wall, mark = ctx.rng.choice(["brick", "plaster", "wood"]), ctx.rng.choice(["disc", "diamond", "square"])
    x0, y0, tall = 60, h * ctx.rng.uniform(0.26, 0.46), face[1] + 48
    extras = ctx.copy(ctx.distractors)
    below = ctx.rng.choice(["2 min", "200 m", "upstairs", "next left"])

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(surface(wall, size, seed))
        end = x0 + 36 + font(*face).getlength(v["target"]) + 110
        x1 = w - 50 if twin or ctx.n < 2 else end
        with c.element("plate" if ctx.n > 1 else "fixed"):
            c.rect((x0 + 5, y0 + 7, x1 + 5, y0 + tall + 7), (0, 0, 0, 70), radius=10)
            c.rect((x0, y0, x1, y0 + tall), pal.bg, radius=10, outline=pal.ink, width=3)
            c.ellipse((x1 - 14, y0 + 6, x1 - 6, y0 + 14), pal.muted)
        with c.element("target"):
            c.text((x0 + 30, y0 + tall / 2), v["target"], face, pal.ink, anchor="lm")
        a = w - 150 if twin else end - 96
        y = y0 + tall / 2
        with c.element("arrow"):
            c.line([(a, y), (a + 54, y)], pal.accent, 9)
            c.polygon([(a + 46, y - 18), (a + 72, y), (a + 46, y + 18)], pal.accent)
        y2 = y0 + tall + 34
        c.rect((x0, y2, x0 + 120, y2 + 40), pal.panel, radius=6)
        c.text((x0 + 60, y2 + 20), below, (face[0], 20), pal.ink, anchor="mm")
        if ctx.n > 2:
            m = end - 30 if not twin else w - 80
            with c.element("mark"):
                box = (m - 24, y2, m + 24, y2 + 48)
                if mark == "disc":
                    c.ellipse(box, pal.accent2)
                elif mark == "square":
                    c.rect(box, pal.accent2, radius=8)
                else:
                    c.polygon([(m, y2), (m + 24, y2 + 24), (m, y2 + 48), (m - 24, y2 + 24)], pal.accent2)
                c.ellipse((m - 7, y2 + 10, m + 7, y2 + 24), pal.bg)
                c.rect((m - 10, y2 + 26, m + 10, y2 + 38), pal.bg, radius=4)
        for i, line in enumerate(extras):
            c.rect((w - 250, h - 30 - 28 * i - 12, w - 40, h - 30 - 28 * i + 12), (250, 248, 240))
            c.text((w - 145, h - 30 - 28 * i), line, ("plain", 14), (60, 58, 56), anchor="mm")

    return Design(
        size, draw, edit, before={}, after={},
        target_region=["name on the direction plate", "lettering of the plate, {where}", "place on the sign, {where}"],
        nodes=[
            NodeSpec(
                "arrow", "style_layout",
                region=["arrow behind the name", "pointing arrow on the plate, {where}", "the arrow that follows the lettering"],
                clean=["the pointing symbol, {where}", "a coloured symbol in the {where}", "figure at the end of the line"],
                update=["slide it along until it stands one gap behind “{new}”", "move the arrow to the new end of the name",
                        "it keeps its distance and shifts with the last letter of “{new}”"],
                reason=["the arrow stands right behind the lettering, which ends elsewhere with “{new}”",
                        "“{new}” is not as long as “{old}”, so the arrow would float off or be overrun",
                        "name and arrow are set as one line with a fixed gap"],
                anon=["a symbol is spaced from the end of the edited text", "things in one line keep their gaps, and the first has another length",
                      "its place is measured from the end of the text"],
            ),
            NodeSpec(
                "plate", "style_layout",
                region=["right edge of the enamel plate", "plate behind name and arrow", "outline of the sign, {where}"],
                clean=["the panel under the text", "the large shape in the {where}", "rounded panel at the {where}"],
                update=["cut the plate to the length of the new line", "the plate ends a margin behind the arrow's new place",
                        "widen or narrow the enamel so that margins stay equal"],
                reason=["plates like this are made to the length of their line", "left and right margin are equal, and the line has another length",
                        "the plate wraps what is written on it with an even margin"],
                anon=["a frame keeps an even margin round its content", "a container is as long as its content", "what encloses the text is made to measure"],
            ),
            NodeSpec(
                "mark", "style_layout",
                region=["pictogram under the end of the plate", "round badge below the sign, {where}", "little figure hung under the arrow"],
                clean=["small symbol below the panel", "the lower symbol, {where}", "separate shape in the {where}"],
                update=["hang it under the arrow's new position", "it moves sideways with the end of the plate", "shift the pictogram so that it stays flush with the plate"],
                reason=["pictogram and plate end on one vertical", "it hangs flush with the right end of the plate", "it is aligned with an edge that moves"],
                anon=["one edge is aligned with another edge, and that one moves", "an alignment ties it to the end of the text's container",
                      "two things share a vertical"],
            ),
        ],
        edges=[EdgeSpec("arrow", "plate", "fixed margin", ["a margin lies between arrow and plate end", "the plate closes behind the arrow"]),
               EdgeSpec("plate", "mark", "flush", ["plate end and pictogram stand on one vertical", "pictogram and plate are flush"])],
    )  # fmt: skip


@template(
    "style_layout_nav", nodes=("style_layout", "style_layout", "style_layout", "style_layout"), edits=TEXTS
)
def nav(ctx: Ctx) -> Design:
    """A web page with a line of tags: those after the edited one move along, the marker resizes."""
    size, pal = ctx.size("wide"), ctx.palette()
    w, h = size
    face = (ctx.face("sans"), 20 if ctx.salient else 17)
    later = ctx.rng.sample(
        ["Essays", "Walks", "Radio", "Recipes", "Letters", "Bikes", "Tides", "Looms"], ctx.n - 1
    )
    used = sum(font(*face).getlength(t) + 46 for t in later)
    edit = ctx.edit(_wider(face, w - 150 - used, 16))  # type: ignore[arg-type]
    y = h * ctx.rng.uniform(0.28, 0.36) if not ctx.far else h * 0.62
    title, head = (
        ctx.rng.choice(["The Marsh Review", "Field & Kettle", "Slow Post", "Tin Roof Weekly"]),
        ctx.face("display"),
    )
    extras, blob = ctx.copy(ctx.distractors), [ctx.rng.uniform(0.5, 1) for _ in range(9)]

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.rect((0, 0, w, h), pal.bg)
        c.rect((0, 0, w, 86), pal.panel)
        c.text((40, 43), title, (head, 36), pal.ink, anchor="lm")
        for k in range(3):
            c.ellipse((w - 40 - 24 * k - 12, 37, w - 40 - 24 * k, 49), pal.muted)
        x = 58.0
        if twin:
            c.rect((42, y - 19, w - 60, y + 19), pal.panel, radius=19)
            c.text((58, y + 40), "swipe for more", (face[0], 13), pal.muted, anchor="lm")
        for i, text in enumerate([v["target"], *later]):
            wide = font(*face).getlength(text)
            own = "marker" if i == 0 else f"tag{i}"
            if twin:
                x = 58 if i == 0 else w - 60 - 90.0 * (len(later) - i + 1)
            else:
                with c.element(own):
                    c.rect((x - 16, y - 19, x + wide + 16, y + 19), pal.panel if i else pal.accent, radius=19)
            with c.element(own if i else "target"):
                c.text((x, y), text, face, pal.ink if i or twin else pal.bg, anchor="lm")
            x += wide + 46
        top = y + 60 if not ctx.far else 120
        for k, size_ in enumerate(blob[:6]):
            yy = top + 26 * k
            if yy < h - 90 and not (y - 40 < yy < y + 30):
                c.rect((40, yy, 40 + (w * 0.52) * size_, yy + 9), pal.panel, radius=4)
        c.rect((w * 0.66, top, w - 40, top + 130), pal.accent2, radius=8)
        for i, line in enumerate(extras):
            c.text(
                (w * 0.1 + (i % 3) * w * 0.3, h - 46 + 22 * (i // 3)),
                line,
                (face[0], 13),
                pal.muted,
                anchor="lm",
            )

    marker = NodeSpec(
        "marker", "style_layout",
        region=["coloured capsule behind the first tag", "capsule that marks the open page", "filled capsule, {where}"],
        clean=["rounded shape at the start of the row", "filled shape in the {where}", "the coloured shape, {where}"],
        update=["resize the capsule to “{new}” plus its padding", "the fill ends sixteen pixels behind the last letter again", "its right end moves with the new wording"],
        reason=["a capsule hugs the text inside with equal padding", "with “{new}” inside, the old capsule is too long or too short", "padding left and right has to be equal"],
        anon=["a backdrop hugs the edited text with fixed padding", "the shape is generated from the text it holds", "padding is constant, so the shape's length is not"],
    )  # fmt: skip

    def tag(i: int) -> NodeSpec:
        word = later[i]
        return NodeSpec(
            f"tag{i + 1}", "style_layout",
            region=[f"tag “{word}” further right", f"“{word}” in the row of tags", f"capsule “{word}”, {{where}}"],
            clean=["another entry of the row, {where}", "an item further along the row", "entry in the {where}"],
            update=[f"“{word}” moves sideways with all its padding", f"let “{word}” follow at the usual gap", "shift it by the difference of the two widths"],
            reason=["tags flow from the left, each after the one before", f"the gap in front of “{word}” is fixed, and what precedes it has another length",
                    "a row that flows is pushed along by each change at its head"],
            anon=["items flow one after the other, so a change of length pushes the rest", "its position is the sum of what stands before it",
                  "gaps stay constant while an earlier item changes its extent"],
        )  # fmt: skip

    nodes = [marker, *(tag(i) for i in range(len(later)))]
    return Design(
        size, draw, edit, before={}, after={},
        target_region=["first tag of the row, {where}", "highlighted menu entry", "entry in the coloured capsule"],
        nodes=nodes,
        edges=[EdgeSpec("marker", "tag1", "fixed gap", ["the next tag starts one gap behind the capsule", "capsule and tag never touch or drift apart"])]
        + [EdgeSpec(f"tag{i}", f"tag{i + 1}", "fixed gap", ["both tags move by the same amount", "the gap between these tags stays"]) for i in range(1, len(later))],
    )  # fmt: skip


@template(
    "style_layout_divider", nodes=("style_layout", "style_layout", "style_layout"), edits=TEXTS, min_nodes=2
)
def divider(ctx: Ctx) -> Design:
    """A title card: ornaments stand left and right of a centred line, a cartouche frames it."""
    size, seed, pal = ctx.size("any"), ctx.seed(), ctx.palette()
    w, h = size
    face = (ctx.rng.choice(["novel", "bookish", "slab", "cafe", "diner"]), 50 if ctx.salient else 38)
    edit = ctx.edit(_wider(face, w - 190, 30))  # type: ignore[arg-type]
    cy = h * ctx.rng.uniform(0.38, 0.55)
    ornament, body = ctx.rng.choice(["leaf", "dots", "wing"]), ctx.face("serif")
    extras, paper = ctx.copy(ctx.distractors), ctx.chance(0.6)

    def flourish(c: Canvas, x: float, side: int) -> None:
        if ornament == "leaf":
            for k in range(3):
                a = x + side * k * 13
                c.polygon(
                    [(a, cy), (a + side * 9, cy - 11), (a + side * 20, cy), (a + side * 9, cy + 11)],
                    pal.accent,
                )
        elif ornament == "dots":
            for k in range(3):
                r = 8 - 2 * k
                a = x + side * (8 + k * 17)
                c.ellipse((a - r, cy - r, a + r, cy + r), pal.accent)
        else:
            for k in range(3):
                c.line([(x, cy + (k - 1) * 8), (x + side * (44 - 12 * k), cy + (k - 1) * 8)], pal.accent, 4)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.rect((0, 0, w, h), pal.bg)
        if paper:
            c.paste(surface("paper", size, seed, pal.bg))
        half = w * 0.5 - 110 if twin else font(*face).getlength(v["target"]) / 2
        c.text(
            (w / 2, cy - 120),
            "~ " + ("evening" if paper else "matinée") + " ~",
            (body, 20),
            pal.muted,
            anchor="mm",
        )
        if ctx.n > 2:
            with c.element("frame"):
                c.rect(
                    (w / 2 - half - 84, cy - 58, w / 2 + half + 84, cy + 58),
                    None,
                    radius=16,
                    outline=pal.ink,
                    width=3,
                )
        with c.element("left"):
            flourish(c, w / 2 - half - 18, -1)
        with c.element("right"):
            flourish(c, w / 2 + half + 18, 1)
        with c.element("target"):
            c.text((w / 2, cy), v["target"], face, pal.ink, anchor="mm")
        c.rect((w / 2 - 60, cy + 96, w / 2 + 60, cy + 98), pal.muted)
        c.rect((w / 2 - 110, cy + 116, w / 2 + 110, cy + 124), pal.panel, radius=4)
        for i, line in enumerate(extras):
            c.text(
                (w / 2 + (i % 2 - 0.5) * w * 0.46, h - 26 - 24 * (i // 2)),
                line,
                (body, 15),
                pal.muted,
                anchor="mm",
            )

    def side(name: str, hand: str) -> NodeSpec:
        return NodeSpec(
            name, "style_layout",
            region=[f"ornament to the {hand} of the title", f"{hand} flourish, {{where}}", f"decoration at the {hand} end of the line"],
            clean=[f"small shapes at the {hand}", "decorative shapes, {where}", f"the {hand} decoration"],
            update=["set it a hand's breadth from the outer letter of “{new}”", f"move the {hand} flourish to the new end of the title",
                    "the decoration travels until it clears “{new}” by the old gap"],
            reason=["a centred title of another length ends elsewhere on either side", f"the flourish keeps clear of the letters by a fixed gap, and “{{new}}” reaches {'further' if hand == 'left' else 'to another point'}",
                    "ornaments embrace the title closely, whatever its length"],
            anon=["decorations keep a fixed gap to both ends of a centred text", "the ends of the text lie elsewhere and what flanks it must follow",
                  "flanking elements are placed from the text outwards"],
        )  # fmt: skip

    return Design(
        size, draw, edit, before={}, after={},
        target_region=["centred title, {where}", "main line of the card", "title between the ornaments"],
        nodes=[
            side("left", "left"), side("right", "right"),
            NodeSpec(
                "frame", "style_layout",
                region=["cartouche around the title", "rounded frame, {where}", "outline that encloses title and flourishes"],
                clean=["rounded outline in the {where}", "the thin outline", "a closed line round the middle"],
                update=["redraw the cartouche round the new line with its old padding", "let the outline close in on or give way to “{new}”", "both short sides of the frame move by the same amount"],
                reason=["the cartouche surrounds title and flourishes with even padding", "a frame drawn for “{old}” is the wrong length for “{new}”",
                        "what it encloses has changed its extent"],
                anon=["an enclosure is drawn around content whose extent has changed", "padding inside an outline is constant", "the outline adapts to what lies in it"],
            ),
        ],
        edges=[EdgeSpec("left", "right", "balance", ["both flourishes have one distance to the axis", "left and right decoration stay level with each other"]),
               EdgeSpec("right", "frame", "padding", ["the frame clears the flourish by its padding", "flourish and frame keep their gap"])],
    )  # fmt: skip
