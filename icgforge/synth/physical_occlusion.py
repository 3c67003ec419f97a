"""Physical templates in which something stands in front of the edited text and hides a part of it."""

from __future__ import annotations

import math
import random

from icgforge.synth.base import Ctx, Design, EdgeSpec, NodeSpec, Values, template
from icgforge.synth.canvas import Canvas, font
from icgforge.synth.icons import glyph
from icgforge.synth.surfaces import (
    brick,
    fit,
    gradient,
    notices,
    plaster,
    shade,
    soft_box,
    steel,
    weave,
    wood,
)

# fmt: off

RGB = tuple[int, int, int]


def leaf(c: Canvas, x: float, y: float, angle: float, length: float, width: float, color: RGB) -> None:
    """Draw a pointed leaf that grows from (x, y) in a direction (degrees, 90 is up)."""
    a = math.radians(angle)
    ux, uy = math.cos(a), -math.sin(a)
    points = []
    for side in (1, -1):
        steps = range(0, 9) if side > 0 else range(8, -1, -1)
        for k in steps:
            t = k / 8
            r = side * width * math.sin(math.pi * t**0.8)
            points.append((x + ux * length * t - uy * r, y + uy * length * t + ux * r))
    c.polygon(points, color)
    c.line([(x, y), (x + ux * length * 0.92, y + uy * length * 0.92)], shade(color, 1.22), 1.2)


def bush(c: Canvas, x: float, y: float, reach: float, seed: int, color: RGB, n: int = 9) -> None:
    """Draw a fan of leaves that grows from (x, y), about `reach` high."""
    rng = random.Random(seed)
    for i in range(n):
        angle = 40 + 100 * i / (n - 1) + rng.uniform(-9, 9)
        size = reach * rng.uniform(0.7, 1.0)
        leaf(c, x + rng.uniform(-6, 6), y, angle, size, size * 0.085, shade(color, rng.uniform(0.72, 1.12)))


def pot(c: Canvas, x: float, y: float, s: float, color: RGB) -> None:
    """Draw a flower pot whose rim is at (x, y)."""
    c.polygon([(x - s * 0.8, y), (x + s * 0.8, y), (x + s * 0.58, y + s * 1.3), (x - s * 0.58, y + s * 1.3)], color)
    c.polygon([(x + s * 0.2, y), (x + s * 0.8, y), (x + s * 0.58, y + s * 1.3), (x + s * 0.12, y + s * 1.3)], shade(color, 0.8))
    c.rect((x - s * 0.9, y - s * 0.2, x + s * 0.9, y + s * 0.12), shade(color, 1.12), radius=3)


def spots_in(ctx: Ctx, old: float, new: float) -> tuple[float, float]:
    """Two places, as offsets from the middle of a centred text, that the old and the new text reach."""
    reach = min(old, new) / 2
    a = ctx.rng.uniform(0.35, 0.62) * reach
    return (-a, a * ctx.rng.uniform(0.8, 1.1)) if ctx.chance(0.5) else (a, -a * ctx.rng.uniform(0.8, 1.1))


@template("occlusion_shop_front", nodes=("physical_occlusion", "physical_occlusion"), edits=("word", "brand", "person", "feast"))
def shop_front(ctx: Ctx) -> Design:
    """A shop sign behind a lamp post and a street tree."""
    edit, (w, h) = ctx.edit(), ctx.size("wide")
    face = ctx.face(ctx.rng.choice(["serif", "display", "slab"])) + "-bold"
    board = ctx.rng.choice([(30, 58, 72), (110, 36, 44), (44, 74, 52), (226, 218, 198), (62, 54, 84)])
    ink = (42, 34, 34) if sum(board) > 500 else (250, 238, 206)
    wall, seeds = ctx.rng.choice([(150, 84, 66), (172, 162, 148), (128, 104, 92)]), [ctx.seed() for _ in range(3)]
    top, tall, most = round(h * 0.2), 96, 72 if ctx.salient else 54
    size = {t: fit(t, face, w * 0.74, most) for t in (edit.old.text, edit.new.text)}
    wide = [font(face, size[t]).getlength(t) for t in size]
    post, tree = spots_in(ctx, *wide)
    thick = 20 if ctx.salient else 13
    small, extras = ctx.face("sans"), ctx.copy(ctx.distractors)
    goods = ctx.rng.sample(["bread", "flower", "bottle", "vase", "cup", "cheese", "book", "shoe"], 4)
    away = w / 2 - 30

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        floor = round(h * 0.86)
        c.paste(brick((w, floor), seeds[0], wall, 18), (0, 0))
        c.paste(plaster((w, h - floor), seeds[1], (140, 138, 134)), (0, floor))
        c.rect((0, floor - 2, w, floor + 7), (104, 102, 100))
        for i, (x0, x1) in enumerate(((0.06, 0.4), (0.6, 0.94))):
            y0 = top + tall + 18
            c.rect((x0 * w, y0, x1 * w, floor - 26), shade(board, 0.75))
            c.paste(gradient((round((x1 - x0) * w) - 16, floor - 42 - y0), (118, 142, 150), (240, 220, 176)), (x0 * w + 8, y0 + 8))
            for k in range(2):
                c.paste(glyph(goods[2 * i + k], 70), (x0 * w + 34 + k * 108, floor - 124))
        c.rect((0.43 * w, top + tall + 18, 0.57 * w, floor), shade(board, 0.6))
        c.rect((0.45 * w, top + tall + 32, 0.55 * w, floor - 60), (150, 170, 172))
        soft_box(c, (0.04 * w, top, 0.96 * w, top + tall), 4, 120, 5)
        c.rect((0.04 * w, top, 0.96 * w, top + tall), board)
        c.rect((0.04 * w + 7, top + 7, 0.96 * w - 7, top + tall - 7), None, outline=shade(ink, 0.85), width=2)
        mid = top + tall / 2
        with c.element("target"):
            c.text((w / 2, mid), v["target"], (face, size[v["target"]]), ink, anchor="mm")
        notices(c, extras, [(0.075 * w + (i % 3) * 0.106 * w + (0.54 * w if i >= 3 else 0), top + tall + 34) for i in range(6)], small, (250, 246, 236), (70, 60, 60), width=round(0.1 * w))
        x = w / 2 + (math.copysign(away, post) if twin else post)
        for k in range(thick):
            c.rect((x - thick / 2 + k, 16, x - thick / 2 + k + 1, h - 18), shade((64, 74, 72), 0.6 + 0.8 * math.sin(math.pi * (k + 0.5) / thick)))
        c.rect((x - thick, h - 52, x + thick, h - 18), (50, 58, 58), radius=3)
        c.polygon([(x - 17, 14), (x + 17, 14), (x + 11, -12), (x - 11, -12)], (250, 240, 200))
        c.rect((x - 20, 12, x + 20, 19), (48, 54, 54))
        if not twin:
            c.mark("post", (x - thick / 2 - 16, mid - tall * 0.4, x + thick / 2 + 16, mid + tall * 0.4))
        if ctx.n == 2:
            x = w / 2 + (math.copysign(away - 26, tree) if twin else tree)
            foot = h - 54
            c.rect((x - 5, mid + 70, x + 5, foot), (92, 70, 52))
            pot(c, x, foot - 6, 30, (178, 96, 66))
            for i in range(3):
                bush(c, x, mid + 118 - 34 * i, 84 if twin or i < 2 else 76, seeds[2] + i, (76, 128, 66), 7)
            if not twin:
                c.mark("tree", (x - 34, mid - 4, x + 34, mid + tall * 0.4))

    return Design(
        (w, h), draw, edit, before={}, after={},
        target_region=["name on the shop sign, {where}", "lettering over the door, {where}", "sign above the windows, {where}"],
        nodes=[
            NodeSpec(
                "post", "physical_occlusion",
                region=["where the lamp post crosses the sign, {where}", "letters on both sides of the lamp post, {where}", "stretch of the sign behind the post, {where}"],
                clean=["the upright pole at the sign, {where}", "the part of the sign near the pole, {where}", "where pole and board meet, {where}"],
                update=["Keep the post in front; beside it other strokes show: those of “{new}” instead of “{old}”.",
                        "The post has to cut through “{new}” now, with the fitting half letters left and right of it.",
                        "Letters of “{new}” run on behind the post, which stays whole and unlettered."],
                reason=["A lamp post stands between us and the sign; which letters it crosses depends on the word.",
                        "The post is nearer than the board, so it hides whatever comes to lie behind it.",
                        "With a word of another length, a different letter falls behind the iron."],
                anon=["Something nearer to the viewer crosses the changed element, and other parts come to lie behind it.",
                      "What is hidden depends on how the new form is spread behind the thing in front.",
                      "A slender object in front cuts the view, and the pieces left over differ."],
            ),
            NodeSpec(
                "tree", "physical_occlusion",
                region=["leaf tips of the potted tree before the sign, {where}", "twigs that reach over the letters, {where}", "lower edge of the letters behind the foliage, {where}"],
                clean=["the foliage at the board, {where}", "the top of the plant, {where}", "where the greenery touches the sign, {where}"],
                update=["Between the leaf tips, pieces of “{new}” have to look through in place of “{old}”.",
                        "The foliage remains on top; fill its gaps with the strokes of “{new}”.",
                        "Behind the twigs “{old}” ends and “{new}” begins, cut by the same leaves."],
                reason=["The tree grows in front of the shop and its tips overlap the letters.",
                        "Leaves lie over the lower part of the word and leave gaps.",
                        "Foliage in front lets through only what stands in its gaps, and that is another letter now."],
                anon=["A ragged thing in front leaves gaps, and in the gaps other parts turn up.",
                      "It grows before the changed element and covers it in part.",
                      "Only pieces are visible between the forms in front, and they must be the new pieces."],
            ),
        ],
        edges=[EdgeSpec("post", "tree", "same depth order", ["Post and tree both stay before the letters of one word.",
                                                             "The pieces beside the post and between the leaves belong to one word."])],
    )  # fmt: skip


@template("occlusion_print_on_shelf", nodes=("physical_occlusion", "physical_occlusion"), edits=("label", "date", "city", "phrase"))
def print_on_shelf(ctx: Ctx) -> Design:
    """A framed print on a sideboard behind a plant and a candle."""
    edit, (w, h) = ctx.edit(), ctx.size("any")
    face, body = ctx.face(ctx.rng.choice(["serif", "script", "display"])) + "-bold", ctx.face("sans")
    pal, seeds = ctx.palette(dark=False), [ctx.seed() for _ in range(3)]
    wall = ctx.rng.choice([(206, 196, 186), (158, 176, 168), (196, 168, 150), (148, 158, 178)])
    shelf = round(h * 0.74)
    fw, fh = round(w * 0.66), round(h * 0.44)
    fx, fy = (w - fw) / 2, shelf - fh
    most = 60 if ctx.salient else 46
    size = {t: fit(t, face, fw - 70, most) for t in (edit.old.text, edit.new.text)}
    leafy, light = spots_in(ctx, *(font(face, size[t]).getlength(t) for t in size))
    ty = fy + fh * (0.52 if ctx.far else 0.6)
    line_, *extras = ctx.copy(1 + ctx.distractors)
    thing = ctx.rng.choice(["cup", "book", "vase", "apple"])

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(plaster((w, shelf), seeds[0], wall))
        for i, text in enumerate(extras):
            x, y = w * (0.06 + 0.3 * (i % 3)), h * 0.05 + 66 * (i // 3)
            c.rect((x, y, x + 0.27 * w, y + 48), (238, 234, 226), outline=(120, 104, 88), width=3)
            c.text((x + 0.135 * w, y + 24), text[:22], (body, 13), (80, 72, 68), anchor="mm")
        soft_box(c, (fx, fy, fx + fw, fy + fh), 9, 120, 4)
        c.paste(wood((fw, fh), seeds[1], (94, 66, 48)), (fx, fy))
        c.rect((fx + 14, fy + 14, fx + fw - 14, fy + fh - 6), pal.bg)
        c.ellipse((w / 2 - 0.09 * fh, fy + 20, w / 2 + 0.09 * fh, fy + 20 + 0.18 * fh), pal.accent2)
        c.line([(w / 2 - 90, fy + 0.34 * fh), (w / 2 + 90, fy + 0.34 * fh)], pal.muted, 2)
        with c.element("target"):
            c.text((w / 2, ty), v["target"], (face, size[v["target"]]), pal.ink, anchor="mm")
        c.text((w / 2, fy + fh - 30), line_, (body, 14), pal.muted, anchor="mm")
        c.paste(wood((w, h - shelf), seeds[2], (150, 112, 80), 2), (0, shelf))
        c.rect((0, shelf, w, shelf + 5), (255, 255, 255, 50))
        c.paste(glyph(thing, 62), (w * 0.9 - 40, shelf - 46))
        edge = fw / 2 + 6
        x = w / 2 + (math.copysign(edge, leafy) if twin else leafy)
        soft_box(c, (x - 28, shelf + 14, x + 28, shelf + 24), 5, 130, 0)
        bush(c, x, shelf - 34, shelf - 34 - ty + 22, seeds[1], (64, 120, 82), 11)
        pot(c, x, shelf - 36, 32, pal.accent)
        if not twin:
            c.mark("leaves", (x - 52, ty - size[v["target"]] * 0.45, x + 52, ty + size[v["target"]] * 0.5))
        if ctx.n == 2:
            x = w / 2 + (math.copysign(edge + 4, light) if twin else light)
            top = ty - 26
            soft_box(c, (x - 20, shelf + 18, x + 20, shelf + 26), 4, 130, 0)
            for k in range(18):
                c.rect((x - 9 + k, top, x - 8 + k, shelf + 16), shade((238, 226, 200), 0.72 + 0.36 * math.sin(math.pi * (k + 0.5) / 18)))
            c.rect((x - 26, shelf + 10, x + 26, shelf + 22), (186, 150, 78), radius=4)
            c.line([(x, top - 8), (x, top)], (60, 50, 44), 2)
            leaf(c, x, top - 6, 90, 24, 6, (252, 190, 70))
            if not twin:
                c.mark("candle", (x - 25, ty - size[v["target"]] * 0.45, x + 25, ty + size[v["target"]] * 0.5))

    return Design(
        (w, h), draw, edit, before={}, after={},
        target_region=["large line of the framed print, {where}", "text in the frame on the sideboard, {where}", "headline of the print, {where}"],
        nodes=[
            NodeSpec(
                "leaves", "physical_occlusion",
                region=["part of the print behind the plant, {where}", "letters next to the pot plant's leaves, {where}", "leaf tips in front of the frame, {where}"],
                clean=["the tips of the pot plant, {where}", "the greenery over the print, {where}", "where the plant meets the frame's content, {where}"],
                update=["The leaves go on covering; what appears around them must belong to “{new}”.",
                        "Piece together “{new}” behind the plant: letters vanish and return at the leaf edges.",
                        "Erase remnants of “{old}” between the leaves and let “{new}” look through."],
                reason=["The plant is placed before the frame and hides some letters, others after the edit.",
                        "Leaves overlap the line, and the new line distributes its letters differently behind them.",
                        "A pot plant in the foreground masks the print in part."],
                anon=["An object in the foreground masks a part, and a different share of the new form is masked.",
                      "The new form is spread in another way behind what grows before it.",
                      "Remnants would show at the rim of the covering thing, where it ends."],
            ),
            NodeSpec(
                "candle", "physical_occlusion",
                region=["stretch of the line behind the candle, {where}", "letters left and right of the candle, {where}", "candle before the framed text, {where}"],
                clean=["the slim object at the print, {where}", "the candle, {where}", "the upright thing before the frame, {where}"],
                update=["A letter of “{new}” disappears behind the wax, with its neighbours cut where the candle starts.",
                        "Left and right of the candle stand the fitting parts of “{new}”.",
                        "The candle stays untouched while “{new}” replaces “{old}” on either side of it."],
                reason=["The candle burns between viewer and print, so one letter is not seen, and it is another letter then.",
                        "Wax is opaque: the line is interrupted there, before and after the edit.",
                        "In front of the frame stands a candle as broad as a letter."],
                anon=["An opaque thing interrupts the changed element, at another spot of its content.",
                      "It stands nearer than the changed element and swallows a piece of it.",
                      "The interruption stays where it is while the content behind it moves."],
            ),
        ],
        edges=[EdgeSpec("leaves", "candle", "same depth order", ["Plant and candle hide parts of one line, whose visible rest must be consistent.",
                                                                 "What shows beside the candle continues what shows between the leaves."])],
    )  # fmt: skip


@template("occlusion_railing", nodes=("physical_occlusion",), edits=("percent", "month", "brand", "time"))
def railing(ctx: Ctx) -> Design:
    """A cloth banner behind the uprights of a railing."""
    edit, (w, h) = ctx.edit(), ctx.size("wide")
    face, body = ctx.face(ctx.rng.choice(["display", "sans", "condensed"])) + "-bold", ctx.face("sans")
    pal, seeds = ctx.palette(), [ctx.seed() for _ in range(3)]
    most = 130 if ctx.salient else 96
    size = {t: fit(t, face, w * 0.6, most) for t in (edit.old.text, edit.new.text)}
    y0, y1 = h * 0.24, h * 0.68
    step, thick = (64, 9) if ctx.salient else (52, 7)
    shift = ctx.rng.uniform(0, step)
    iron = ctx.rng.choice([(44, 48, 52), (222, 218, 206), (46, 78, 70)])
    extras, mid = ctx.copy(ctx.distractors), h * (0.42 if ctx.far else 0.45)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        floor = round(h * 0.84)
        c.paste(gradient((w, floor), (166, 196, 216), (226, 228, 220)))
        for i in range(9):
            x = w * (i / 8)
            c.ellipse((x - 90, h * 0.1 + 30 * math.sin(i * 2.1), x + 90, h * 0.8), shade((96, 134, 88), 0.9 + 0.14 * math.sin(i * 3)))
        c.paste(plaster((w, h - floor), seeds[0], (158, 152, 142)), (0, floor))
        cloth = weave((round(w * 0.8), round(y1 - y0)), seeds[1], pal.panel)
        soft_box(c, (w * 0.1, y0, w * 0.9, y1), 6, 110, 6)
        c.paste(cloth, (w * 0.1, y0))
        c.rect((w * 0.1, y0, w * 0.9, y0 + 12), pal.accent)
        c.rect((w * 0.1, y1 - 12, w * 0.9, y1), pal.accent)
        with c.element("target"):
            c.text((w / 2, mid), v["target"], (face, size[v["target"]]), pal.ink, anchor="mm")
        for i, text in enumerate(extras):
            c.text((w * (0.23 + 0.27 * (i % 3)), y1 - 52 + 20 * (i // 3)), text, (body, 14), pal.ink, anchor="mm")
        bars = [x * step + shift for x in range(-1, w // step + 2)]
        if twin:
            bars = [x for x in bars if not 0.09 * w < x < 0.91 * w]
        for x in bars:
            c.paste(steel((thick, round(h * 0.76)), seeds[2], iron), (x - thick / 2, h * 0.13))
            c.rect((x + thick / 2 - 2, h * 0.13, x + thick / 2, h * 0.89), (0, 0, 0, 80))
            c.polygon([(x - thick * 0.8, h * 0.13), (x, h * 0.13 - 22), (x + thick * 0.8, h * 0.13)], iron)
            if not twin:
                half = font(face, size[v["target"]]).getlength(v["target"]) / 2
                if abs(x - w / 2) < half:
                    c.mark("bars", (x - thick / 2 - 5, mid - size[v["target"]] * 0.45, x + thick / 2 + 5, mid + size[v["target"]] * 0.45))
        for y in (h * 0.17, h * 0.8):
            c.rect((0, y, w, y + 12), iron)
            c.rect((0, y + 9, w, y + 12), shade(iron, 0.6))

    return Design(
        (w, h), draw, edit, before={}, after={},
        target_region=["big line on the banner, {where}", "banner text behind the railing, {where}", "main words on the cloth, {where}"],
        nodes=[
            NodeSpec(
                "bars", "physical_occlusion",
                region=["uprights of the railing across the banner, {where}", "letters between the iron bars, {where}", "strips of the banner right beside each bar, {where}"],
                clean=["the upright bars, {where}", "the metalwork in front, {where}", "the row of verticals in the middle, {where}"],
                update=["The bars must run over “{new}” exactly as they ran over “{old}”, slicing other letters.",
                        "Put “{new}” behind the iron: each gap shows its slice of the new letters.",
                        "Rebuild the uprights over “{new}” without gaps or ghosts of “{old}” beside them."],
                reason=["The banner hangs on the far side of the railing, whose uprights slice whatever is written there.",
                        "We look through bars: they hide a strip every hand's breadth, and those strips fall on other strokes.",
                        "Iron uprights are nearer than the cloth and go on hiding strips of it."],
                anon=["A regular row of things in front slices the changed element into strips.",
                      "The view passes through gaps; what fills the gaps is new.",
                      "Things at fixed distances hide fixed strips, but other content falls into them."],
            )
        ],
    )  # fmt: skip
