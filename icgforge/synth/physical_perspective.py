"""Physical templates: text on slanted or curved faces, with neighbours set along the same vanishing lines."""

from __future__ import annotations

import math

import numpy as np
from PIL import Image

from icgforge.synth.base import Ctx, Design, EdgeSpec, NodeSpec, Values, template
from icgforge.synth.canvas import Canvas, font
from icgforge.synth.icons import glyph
from icgforge.synth.surfaces import bent, brick, facets, fit, gradient, plaster, shade, soft_box, tinted, wood

# fmt: off

TAGS = ("slowly made, simply packed", "for every day of the year", "weighed and sealed by hand", "from our own workshop",
        "keeps for many months", "small batch, long patience")  # fmt: skip


@template("perspective_carton", nodes=("physical_perspective", "physical_perspective"), edits=("brand", "fruit", "animal", "word"))
def carton(ctx: Ctx) -> Design:
    """A carton seen across its corner; under the name a bar and a tag line keep the name's width."""
    edit, (w, h) = ctx.edit(), ctx.size("wide")
    face, body = ctx.face(ctx.rng.choice(["display", "slab", "sans"])) + "-bold", ctx.face("sans")
    pal, seeds = ctx.palette(dark=False), [ctx.seed() for _ in range(3)]
    card = ctx.rng.choice([pal.panel, (206, 172, 126), (238, 234, 226)])
    wall = ctx.rng.choice([(178, 170, 160), (140, 156, 160), (188, 176, 150)])
    most, tag = 76 if ctx.salient else 56, ctx.rng.choice(TAGS)
    extras = ctx.copy(ctx.distractors)
    picture = ctx.rng.choice(["cup", "bread", "flower", "bottle", "vase", "apple"])
    drop = 64 if ctx.far else 26
    right = ctx.chance(0.5)
    fw, fh, sw = 460, 330, 230
    size = {t: fit(t, face, fw - 90, most) for t in (edit.old.text, edit.new.text)}

    def main_face(v: Values, twin: bool) -> Canvas:
        c = Canvas((fw, fh))
        c.rect((0, 0, fw, fh), card)
        c.rect((14, 14, fw - 14, fh - 14), None, outline=pal.accent, width=3)
        c.paste(glyph(picture, 66, seeds[2]), (fw - 100, fh - 100))
        y = 116
        with c.element("target"):
            c.text((40, y), v["target"], (face, size[v["target"]]), shade(pal.ink, 0.9), anchor="ls")
        if twin:
            c.text((40, fh - 34), tag, (body, 17), pal.ink, anchor="ls")
            if ctx.n == 2:
                c.rect((40, fh - 66, 120, fh - 60), pal.accent2)
            return c
        wide = font(face, size[v["tag"]]).getlength(v["tag"])
        with c.element("tag"):
            c.text((40, y + drop + 14), tag, (body, max(11, round(17 * wide / font(body, 17).getlength(tag)))), pal.ink, anchor="ls")
        if ctx.n == 2:
            wide = font(face, size[v["bar"]]).getlength(v["bar"])
            with c.element("bar"):
                c.rect((40, y + drop + 44, 40 + wide, y + drop + 51), pal.accent2)
        return c

    def side_face() -> Canvas:
        c = Canvas((sw, fh))
        c.rect((0, 0, sw, fh), shade(card, 0.72))
        for i, text in enumerate(extras):
            c.text((26, 40 + 27 * i), text, (body, 14), shade(pal.ink, 0.9))
        for i in range(24):
            c.rect((26 + 4 * i, fh - 62, 26 + 4 * i + 1 + i * 7 % 3, fh - 28), (40, 38, 36))
        return c

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        desk = round(h * 0.62)
        c.paste(gradient((w, desk), shade(wall, 1.18), shade(wall, 0.92)))
        c.paste(wood((w, h - desk), seeds[0], (146, 108, 74), 3), (0, desk))
        a, b = w * 0.12, w * 0.92
        k = a + (b - a) * 0.34
        top, low = h * 0.16, h * 0.9
        m = (lambda x: x) if right else (lambda x: w - x)
        main = [(m(k), top), (m(b), top + 0.13 * h), (m(b), low - 0.17 * h), (m(k), low)]
        side = [(m(a), top + 0.11 * h), (m(k), top), (m(k), low), (m(a), low - 0.15 * h)]
        lid = [(m(a), top + 0.11 * h), (m(k), top), (m(b), top + 0.13 * h), (m(a + b - k), top + 0.2 * h)]
        shadow = Canvas((w, h))
        shadow.polygon([(m(a - 20), low - 0.13 * h), (m(k), low + 12), (m(b + 24), low - 0.15 * h), (m(k), low - 0.3 * h)], (0, 0, 0, 150))
        c.put(shadow, blur=9)
        if not right:
            main = [main[1], main[0], main[3], main[2]]
            side = [side[1], side[0], side[3], side[2]]
        c.polygon(lid, shade(card, 1.3))
        c.warp(side_face(), side)
        c.warp(main_face(v, twin), main)
        c.line([(m(k), top), (m(k), low)], shade(card, 1.35), 2)

    texts = {"tag": edit.old.text, "bar": edit.old.text}
    return Design(
        (w, h), draw, edit, before=texts, after=dict.fromkeys(texts, edit.new.text),
        target_region=["product name on the broad side of the carton, {where}", "large name on the slanted face, {where}", "name printed on the box, {where}"],
        nodes=[
            NodeSpec(
                "tag", "physical_perspective",
                region=[f"line “{tag}” on the same side of the carton, {{where}}", f"tag line (“{tag}”) under the name, {{where}}", "small print along the slanted side, below the name, {where}"],
                clean=["the smaller line on the carton, {where}", "a line of print on the box, {where}", "the text under the product name, {where}"],
                update=["Set the tag line anew to the width of “{new}”, shrinking along the receding side.",
                        "It has to end below the last letter of “{new}”, foreshortened like the rest of that side.",
                        "Stretch or tighten the tag line from the width of “{old}” to that of “{new}” within the slant."],
                reason=["Name and tag line share the receding side and both margins, so they run to one vanishing point.",
                        "The tag line is justified to the name on a face that recedes, and must obey the same slant.",
                        "Lines on this side of the carton are drawn together by its foreshortening; the tag line spans the name."],
                anon=["Both elements lie on one receding plane and keep equal width along it.",
                      "What is aligned on a plane that recedes has to be re-projected as a whole.",
                      "One slanted plane carries both, with common edges that run together in depth."],
            ),
            NodeSpec(
                "bar", "physical_perspective",
                region=["coloured bar beneath the tag line on the carton, {where}", "printed rule on the slanted side, {where}", "bar that underlines the name block, {where}"],
                clean=["a coloured strip on the box, {where}", "a thin shape on the carton, {where}", "the rule on the printed side, {where}"],
                update=["The bar now ends under the end of “{new}”, tapering with the face.",
                        "Its length along the receding edge goes from “{old}” to “{new}”.",
                        "Redraw the bar in the slant, as long as “{new}” is."],
                reason=["The bar measures off the name on the receding side.",
                        "As part of the same slanted print the bar keeps the name's extent in depth.",
                        "Bar and name are bounded by one line that runs into depth."],
                anon=["A mark on the receding plane measures the extent of the changed element.",
                      "Its far end is fixed in depth by the end of the changed element.",
                      "Both end on one line into depth, and that line moves."],
            ),
        ],
        edges=[EdgeSpec("tag", "bar", "same plane", ["Tag line and bar keep one width on the slanted side.",
                                                     "Both follow the same vanishing lines and end together."])],
    )  # fmt: skip


@template("perspective_street_row", nodes=("physical_perspective",), edits=("brand", "person", "city", "word"))
def street_row(ctx: Ctx) -> Design:
    """A shop row running into depth; after the name on the fascia comes a second text that it pushes on."""
    edit, (w, h) = ctx.edit(), ctx.size("wide")
    face = ctx.face(ctx.rng.choice(["serif", "slab", "display"])) + "-bold"
    script = ctx.rng.choice(["latin", "cjk", "cyrillic", "greek"])
    second = {"latin": "since 1931", "cjk": "営業中", "cyrillic": "с 1931 года", "greek": "από το 1931"}[script]
    other = "gothic-bold" if script == "cjk" else ctx.face("serif", script) + "-italic"
    if script == "cjk":
        ctx.scripts.add("cjk")
    board = ctx.rng.choice([(34, 62, 52), (122, 34, 38), (30, 44, 78), (58, 46, 40), (206, 158, 62)])
    ink = (250, 240, 214) if sum(board) < 330 else (44, 30, 24)
    stone = ctx.rng.choice([(156, 96, 76), (150, 138, 124), (128, 118, 126)])
    seeds = [ctx.seed() for _ in range(2)]
    most, flip = 62 if ctx.salient else 48, ctx.chance(0.5)
    gap = 70 if ctx.far else 30
    long, tall = 900, 100
    size = {t: fit(t, face, 500, most) for t in (edit.old.text, edit.new.text)}
    goods = ctx.rng.sample(["bread", "flower", "bottle", "vase", "cup", "cheese", "book", "plum"], 4)
    extras, small = ctx.copy(ctx.distractors), ctx.face("sans")

    def fascia(v: Values, twin: bool) -> Canvas:
        c = Canvas((long, tall))
        c.rect((0, 0, long, tall), board)
        c.rect((10, 10, long - 10, tall - 10), None, outline=shade(ink, 0.8), width=2)
        with c.element("target"):
            c.text((40, tall / 2), v["target"], (face, size[v["target"]]), ink, anchor="lm")
        if twin:
            c.text((long - 34, tall - 22), second, (other, 20), ink, anchor="rs")
        else:
            x = 40 + font(face, size[v["after"]]).getlength(v["after"]) + gap
            with c.element("after"):
                c.text((x, tall / 2), second, (other, 40), shade(ink, 0.94), anchor="lm")
        return c

    def front() -> Canvas:
        c = Canvas((long, 300))
        c.paste(brick((long, 300), seeds[0], stone, 24))
        for i in range(4):
            x = 40 + i * 215
            c.rect((x, 20, x + 170, 236), shade(board, 0.8))
            c.paste(gradient((154, 200), (120, 150, 160), (236, 214, 170)), (x + 8, 28))
            c.rect((x + 8, 190, x + 162, 198), shade(board, 0.6))
            c.paste(glyph(goods[i], 80), (x + 44, 112))
        for i, text in enumerate(extras):
            x = 50 + (i % 4) * 215
            c.rect((x, 34 + 40 * (i // 4), x + 150, 60 + 40 * (i // 4)), (246, 240, 224))
            c.text((x + 6, 47 + 40 * (i // 4)), text[:24], (small, 12), (60, 50, 50), anchor="lm")
        return c

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        m = (lambda x: w - x) if flip else (lambda x: x)
        x0, x1 = -0.02 * w, 0.86 * w
        vy = 0.56 * h

        def at(x: float, y: float) -> tuple[float, float]:
            """Point of the row: y is the height at the near end, drawn together towards the far end."""
            t = (x - x0) / (x1 - x0)
            return m(x), vy + (y - vy) * (1 - 0.56 * t)

        c.paste(gradient((w, h), (150, 184, 210), (226, 224, 212)))
        c.polygon([(m(0.84 * w), vy - 70), (m(0.9 * w), vy - 90), (m(w + 9), vy - 76), (m(w + 9), h), (m(0.84 * w), h)], shade(stone, 0.72))
        c.paste(plaster((w, h - round(vy)), seeds[1], (150, 146, 142)), (0, vy + 24))
        order = (1, 0, 3, 2) if flip else (0, 1, 2, 3)

        def quad(y0: float, y1: float) -> list[tuple[float, float]]:
            q = [at(x0, y0), at(x1, y0), at(x1, y1), at(x0, y1)]
            return [q[i] for i in order]

        upper = front()
        shapes: list[tuple[list[tuple[float, float]], tuple[int, ...]]] = [(quad(-260, 0.06 * h), shade(stone, 0.9))]
        for i in range(5):
            xa, xb = x0 + (0.06 + 0.19 * i) * (x1 - x0), x0 + (0.06 + 0.19 * i) * (x1 - x0) + 62 - 7 * i
            shapes.append(([at(xa, -120), at(xb, -120), at(xb, 0.02 * h), at(xa, 0.02 * h)], (84, 104, 116)))
        facets(c, [*shapes, (quad(0.06 * h, 0.085 * h), shade(board, 1.35))])
        c.warp(upper, quad(0.28 * h, 1.02 * h))
        c.warp(fascia(v, twin), quad(0.085 * h, 0.31 * h))
        c.polygon(quad(0.31 * h, 0.325 * h), (0, 0, 0, 120))
        c.polygon([at(x0, 1.02 * h), at(x1, 1.02 * h), (m(0.94 * w), h + 4), (m(-4), h + 60)], (186, 180, 172))
        c.line([at(x0, 1.02 * h), at(x1, 1.02 * h)], (70, 64, 60), 2)

    return Design(
        (w, h), draw, edit, before={"after": edit.old.text}, after={"after": edit.new.text},
        target_region=["name on the fascia board, {where}", "shop name over the windows, {where}", "lettering at the near end of the board, {where}"],
        nodes=[
            NodeSpec(
                "after", "physical_perspective",
                region=[f"“{second}” further along the fascia, {{where}}", f"second text on the board (“{second}”), {{where}}", "smaller words that follow the shop name in depth, {where}"],
                clean=["the other text on the board, {where}", "words beside the shop name, {where}", "a text above the shop windows, {where}"],
                update=["Move it along the board until it follows “{new}”, larger if it comes nearer, smaller if it recedes.",
                        "Its place behind “{new}” lies at another depth, so its height and slant are to be drawn again.",
                        "Slide it to the end of “{new}” and fit it to the narrowing of the board there."],
                reason=["The words follow the name on a board that runs away from us; at another place the foreshortening differs.",
                        "Text on the fascia shrinks towards the vanishing point, and the name decides where this part begins.",
                        "The row recedes: shifting along the board means changing size and slope."],
                anon=["It follows the changed element on a receding surface, where position decides size.",
                      "Depth and scale go together on this surface, and its starting point moves.",
                      "A shift along something that runs into depth alters scale and slope as well."],
            )
        ],
    )  # fmt: skip


@template("perspective_tin", nodes=("physical_perspective", "physical_perspective"), edits=("fruit", "dish", "brand", "percent"))
def tin(ctx: Ctx) -> Design:
    """A round tin; round its wall the name, a line of the same width, and two ornaments at its ends."""
    w, h = ctx.size("any")
    face, body = ctx.face(ctx.rng.choice(["script", "serif", "display"])) + "-bold", ctx.face("condensed")
    pal, seeds = ctx.palette(dark=False), [ctx.seed() for _ in range(3)]
    radius = round(min(0.3 * w, 0.27 * h))
    tall = round(radius * 1.45)
    cx, y0 = w * ctx.rng.uniform(0.42, 0.58), h * 0.2
    label = ctx.rng.choice([pal.bg, (246, 238, 216), pal.panel])
    band = pal.accent
    lw = round(math.pi * radius * 0.94)
    most, tag = 62 if ctx.salient else 46, ctx.rng.choice(TAGS)

    def span(text: str) -> float:
        return font(face, fit(text, face, 1.25 * radius, most)).getlength(text)

    # Two names that both fill the label leave nothing to be set anew.
    edit = ctx.edit(lambda a, b: abs(span(a.text) - span(b.text)) > 0.12 * radius)
    size = {t: fit(t, face, 1.25 * radius, most) for t in (edit.old.text, edit.new.text)}
    sag = radius * 0.2
    crest = ctx.rng.choice(["flower", "crest", "seal", "bee"])
    below = most * 0.5 + (40 if ctx.far else 26)
    things = [(x, ctx.rng.choice(["apple", "lemon", "plum", "cherry", "strawberry", "carrot"])) for x in ctx.rng.sample([0.04, 0.14, 0.24, 0.7, 0.8, 0.9], ctx.distractors)]

    def wrap(v: Values, twin: bool) -> Canvas:
        c = Canvas((lw, tall))
        c.rect((0, 0, lw, tall), label)
        c.rect((0, 0, lw, 26), band)
        c.rect((0, tall - 26, lw, tall), band)
        mid = lw / 2
        c.paste(glyph(crest, round(tall * 0.17)), (mid - tall * 0.085, 32))
        with c.element("target"):
            c.text((mid, tall * 0.47), v["target"], (face, size[v["target"]]), pal.ink, anchor="mm")
        if twin:
            c.text((mid, tall - 40), tag, (body, 15), pal.muted, anchor="mb")
            return c
        wide = font(face, size[v["tag"]]).getlength(v["tag"]) * 1.05
        with c.element("tag"):
            s = max(7, round(20 * wide / font(body, 20).getlength(tag)))
            c.text((mid, tall * 0.47 + below), tag, (body, s), pal.ink, anchor="mm")
        if ctx.n == 2:
            wide = font(face, size[v["ends"]]).getlength(v["ends"])
            with c.element("ends"):
                for s in (-1, 1):
                    x = mid + s * (wide / 2 + 22)
                    c.polygon([(x - 11, tall * 0.47), (x, tall * 0.47 - 13), (x + 11, tall * 0.47), (x, tall * 0.47 + 13)], pal.accent2)
        return c

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        table = round(h * 0.58)
        c.paste(plaster((w, table), seeds[0], shade(pal.accent2, 1.45)))
        c.paste(wood((w, h - table), seeds[1], (172, 132, 92), 3), (0, table))
        foot = y0 + tall + sag
        for at, thing in things:
            soft_box(c, (at * w + 10, foot + 8, at * w + 62, foot + 20), 5, 110, 0)
            c.paste(glyph(thing, 74, seeds[2]), (at * w, foot - 52))
        ground = Canvas((round(3 * radius), 70))
        ground.ellipse((20, 10, 2.8 * radius, 58), (0, 0, 0, 150))
        c.put(ground, (cx - 1.2 * radius, foot - 30), blur=7)
        skin = bent(wrap(v, twin), radius, sag)
        c.ellipse((cx - radius, y0 + tall - sag - 2, cx + radius, y0 + tall + sag), shade(band, 0.6))
        c.put(skin, (cx - skin.size[0] / 2, y0))
        x = (np.arange(skin.size[0]) + 0.5) / skin.size[0] * 2 - 1
        dark = np.clip(0.08 + 0.62 * x**4 + 0.22 * (x > 0) * x, 0, 0.8)
        light = 0.34 * np.exp(-(((x + 0.45) / 0.13) ** 2))
        shape = tinted(skin, (10, 6, 8, 255)).img
        for tone, strength in (((12, 8, 10), dark), ((255, 255, 255), light)):
            layer = Image.new("RGBA", shape.size, tone)
            alpha = np.asarray(shape.getchannel("A"), np.float32) * strength[None, :]
            layer.putalpha(Image.fromarray(np.rint(alpha).astype(np.uint8)))
            c.paste(layer, (cx - skin.size[0] / 2, y0))
        c.ellipse((cx - radius, y0 - sag, cx + radius, y0 + sag), (176, 178, 182))
        c.ellipse((cx - radius + 7, y0 - sag + 5, cx + radius - 7, y0 + sag - 4), (206, 208, 210))
        c.ellipse((cx - radius + 16, y0 - sag + 10, cx + radius - 16, y0 + sag - 9), (188, 190, 194))

    texts = {"tag": edit.old.text, "ends": edit.old.text}
    return Design(
        (w, h), draw, edit, before=texts, after=dict.fromkeys(texts, edit.new.text),
        target_region=["name round the wall of the tin, {where}", "large label text on the tin, {where}", "curved lettering, {where}"],
        nodes=[
            NodeSpec(
                "tag", "physical_perspective",
                region=[f"“{tag}” on the tin, {{where}}", f"narrow line round the tin reading “{tag}”, {{where}}", "label line beneath the curved name, {where}"],
                clean=["the smaller text on the tin, {where}", "a line of the label, {where}", "the text in the lower half of the label, {where}"],
                update=["Wrap the line again so that it is as wide round the wall as “{new}”.",
                        "It is re-set to the arc that “{new}” takes, squeezed towards the rims.",
                        "From the arc of “{old}” the line passes to the arc of “{new}”, with the curve kept."],
                reason=["Name and line are justified to each other on a round wall, where width turns into curvature.",
                        "On the tin both lines bow alike and narrow at the sides; the line takes its width from the name.",
                        "The label is one printed strip on a cylinder, its line blocked to the name."],
                anon=["Both follow one curved surface and span the same arc.",
                      "On a rounded body equal width means equal arc, so the companion is projected anew.",
                      "Curvature compresses what lies further out, and the companion's extent changes."],
            ),
            NodeSpec(
                "ends", "physical_perspective",
                region=["two diamonds left and right of the name on the tin, {where}", "diamond ornaments at both ends of the curved name, {where}", "pair of diamonds on the label, {where}"],
                clean=["the small ornaments of the label, {where}", "the printed shapes beside the name, {where}", "a pair of marks on the tin, {where}"],
                update=["Shift the diamonds to the ends of “{new}” and narrow them the more they near the rim.",
                        "They leave the ends of “{old}”, move round the wall to those of “{new}” and change in width.",
                        "Redraw both ornaments beside “{new}”, foreshortened for their new place on the round wall."],
                reason=["An ornament nearer to the rim of a cylinder is seen more from the side.",
                        "They sit where the name ends; round the tin that means another angle of view.",
                        "The wall turns away on both sides, so moved marks get another shape."],
                anon=["Marks that move round a curved body are seen from another angle.",
                      "Their spot is bound to the ends of the changed element on a rounded surface.",
                      "Further out, the surface turns away and shapes become slimmer."],
            ),
        ],
        edges=[EdgeSpec("tag", "ends", "same curve", ["Line and diamonds take their places on one curved strip.",
                                                      "Both are measured from the name along the same wall."])],
    )  # fmt: skip
