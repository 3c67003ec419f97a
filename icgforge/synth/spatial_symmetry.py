"""Spatial templates in which the edited text has a counterpart across an axis or a centre."""

from __future__ import annotations

import math

import numpy as np
from PIL import Image

from icgforge.synth.base import Ctx, Design, EdgeSpec, NodeSpec, Values, template
from icgforge.synth.canvas import Canvas, font
from icgforge.synth.icons import glyph
from icgforge.synth.surfaces import fit, glow, line, shade, soft_box, weave, wood

# fmt: off


@template("symmetry_stage_banners", nodes=("spatial_symmetry",), edits=("word", "brand", "city", "year", "month"))
def stage_banners(ctx: Ctx) -> Design:
    """A stage between two hanging banners that bear the same word in the same place."""
    edit, (w, h) = ctx.edit(), ctx.size("wide")
    face, body = ctx.face(ctx.rng.choice(["display", "condensed", "sans"])) + "-bold", ctx.face("sans")
    pal, seeds = ctx.palette(), [ctx.seed() for _ in range(3)]
    curtain = ctx.rng.choice([(122, 28, 38), (40, 52, 96), (52, 78, 66), (90, 46, 92)])
    bw, bh = w * (0.17 if ctx.salient else 0.13), h * 0.6
    gap = w * (0.05 if ctx.far else 0.16)
    y0 = h * 0.1
    xs = (gap, w - gap - bw)
    turn = ctx.rng.choice([90, -90])
    goal = 0 if ctx.chance(0.5) else 1
    emblem = ctx.rng.choice(["crest", "mask", "flower", "seal", "ring"])
    unrelated = ctx.rng.choice(["VOL. II", "TONIGHT", "BALCONY"])
    middle, *extras = ctx.copy(1 + ctx.distractors)

    def banner(text: str, element: str) -> Canvas:
        c = Canvas((round(bw), round(bh)))
        c.paste(weave(c.size, seeds[1], pal.panel))
        c.rect((0, 0, bw, 8), pal.accent)
        c.rect((6, 14, bw - 6, bh - 40), None, outline=pal.accent2, width=2)
        c.polygon([(0, bh), (bw / 2, bh - 30), (bw, bh)], (0, 0, 0, 0))
        c.paste(glyph(emblem, 34), (bw / 2 - 17, bh - 78))
        word = line(text, face, fit(text, face, bh - 130, round(bw * 0.58)), pal.ink, element)
        side = max(word.size)
        square = Canvas((side, side))
        square.put(word, ((side - word.size[0]) / 2, (side - word.size[1]) / 2))
        c.put(square, (bw / 2 - side / 2, (bh - 70) / 2 - side / 2 + 8), angle=turn)
        return c

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        floor = round(h * 0.74)
        x = np.arange(w, dtype=np.float32)
        folds = 0.72 + 0.28 * np.sin(x / 15) ** 2 + 0.1 * np.sin(x / 61)
        px = np.array(curtain, np.float32)[None, None] * folds[None, :, None] * np.linspace(0.7, 1.05, floor)[:, None, None]
        c.paste(Image.fromarray(np.clip(px, 0, 255).astype(np.uint8)))
        glow(c, (w / 2, h * 0.4), w * 0.33, (255, 236, 200), 0.5)
        c.paste(wood((w, h - floor), seeds[0], (122, 84, 56), 4), (0, floor))
        c.rect((0, floor, w, floor + 8), (0, 0, 0, 110))
        c.polygon([(w * 0.44, h * 0.56), (w * 0.56, h * 0.56), (w * 0.545, floor + 26), (w * 0.455, floor + 26)], (86, 58, 42))
        c.polygon([(w * 0.425, h * 0.54), (w * 0.575, h * 0.54), (w * 0.565, h * 0.575), (w * 0.435, h * 0.575)], (116, 80, 56))
        c.line([(w * 0.5, h * 0.54), (w * 0.515, h * 0.47)], (30, 30, 32), 3)
        c.ellipse((w * 0.508, h * 0.445, w * 0.524, h * 0.48), (40, 40, 44))
        for i, text in enumerate(extras):
            c.text((w / 2, h * 0.13 + 21 * i), text, (body, 15), (240, 226, 206), anchor="mm")
        c.text((w / 2, h - 26), middle, (body, 15), (214, 186, 150), anchor="mm")
        for i, x0 in enumerate(xs):
            soft_box(c, (x0, y0, x0 + bw, y0 + bh - 14), 7, 150, 6)
            c.line([(x0 - 8, y0), (x0 + bw + 8, y0)], (196, 160, 84), 6)
            c.line([(x0 + bw / 2, 0), (x0 + bw / 2, y0)], (196, 160, 84), 2)
            text, element = (v["target"], "target") if i == goal else (v["partner"], "partner")
            c.put(banner(text, element), (x0, y0))

    own, other = ("left", "right") if goal == 0 else ("right", "left")
    return Design(
        (w, h), draw, edit, before={"partner": edit.old.text}, after={"partner": edit.new.text}, twin={"partner": unrelated},
        target_region=[f"banner on the {own} of the stage, {{where}}", f"word on the {own} hanging, {{where}}", f"upright lettering {own} of the lectern, {{where}}"],
        nodes=[
            NodeSpec(
                "partner", "spatial_symmetry",
                region=[f"banner on the {other} of the stage, {{where}}", f"the hanging {other} of the lectern, {{where}}", f"{other} one of the two banners, {{where}}"],
                clean=["the other hanging, {where}", "a strip of cloth beside the stage, {where}", "the second vertical panel, {where}"],
                update=[f"Give the {other} banner “{{new}}” as well, in the same size and height.",
                        "Match the pair again: both hangings bear “{new}”, none keeps “{old}”.",
                        "Its word changes along, from “{old}” to “{new}”, or the stage is lopsided."],
                reason=["The stage is dressed evenly: what hangs on one side hangs on the other.",
                        "Two like banners frame the lectern and are made as a pair.",
                        "Left and right of the lectern the decoration is the same, word included."],
                anon=["The arrangement is even about its middle, and the partner has to follow.",
                      "A pair frames the middle; altering one half alone unbalances it.",
                      "Its twin across the axis was altered."],
            )
        ],
    )  # fmt: skip


@template("symmetry_title_flourish", nodes=("spatial_symmetry", "spatial_symmetry"), edits=("person", "label", "phrase", "feast", "dish"))
def title_flourish(ctx: Ctx) -> Design:
    """A title page: the centred title keeps two ornaments at equal distance from its ends."""
    edit, pal = ctx.edit(), ctx.palette()
    w, h = ctx.size("any")
    face, body = ctx.face(ctx.rng.choice(["serif", "script", "display"])) + "-bold", ctx.face("serif")
    most = 52 if ctx.salient else 40
    size = {t: fit(t, face, w * 0.52, most) for t in (edit.old.text, edit.new.text)}
    ty, air = h * ctx.rng.uniform(0.34, 0.44), 42 if ctx.far else 24
    style = ctx.rng.choice(["rule", "leafy", "star"])
    first, second, *extras = ctx.copy(2 + ctx.distractors)
    lines = (first, second)

    def ornament(c: Canvas, x: float, side: int) -> None:
        s = 1.35 if ctx.salient else 1.0
        if style == "rule":
            c.line([(x, ty), (x + side * 58 * s, ty)], pal.accent, 3)
            c.ellipse((x + side * 66 * s - 6, ty - 6, x + side * 66 * s + 6, ty + 6), pal.accent)
        elif style == "leafy":
            c.arc((x - 30 + side * 30, ty - 16, x + 30 + side * 30, ty + 16), 180 if side > 0 else 270, 270 if side > 0 else 360, pal.accent, 3)
            for k in range(3):
                a = x + side * (12 + 18 * k * s)
                c.polygon([(a, ty), (a + side * 14, ty - 11), (a + side * 20, ty), (a + side * 14, ty + 11)], pal.accent)
        else:
            for k in range(3):
                r = (13 - 3 * k) * s
                cx = x + side * (14 + 26 * k)
                c.polygon([(cx + r * (1 if i % 2 else 0.45) * math.sin(i * math.pi / 4), ty - r * (1 if i % 2 == 0 else 0.45) * math.cos(i * math.pi / 4)) for i in range(8)], pal.accent)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.rect((0, 0, w, h), pal.bg)
        c.rect((22, 22, w - 22, h - 22), None, outline=pal.accent2, width=3)
        c.rect((30, 30, w - 30, h - 30), None, outline=pal.muted, width=1)
        c.text((w / 2, ty - most - 26), lines[0], (body, 20), pal.muted, anchor="mm")
        with c.element("target"):
            c.text((w / 2, ty), v["target"], (face, size[v["target"]]), pal.ink, anchor="mm")
        for i, side in enumerate((-1, 1)):
            name = ("west", "east")[i]
            half = font(face, size[v["span"]]).getlength(v["span"]) / 2
            x = w / 2 + side * (half + air)
            if twin:
                yy = h * 0.2
                c.ellipse((w / 2 + side * w * 0.3 - 9, yy - 9, w / 2 + side * w * 0.3 + 9, yy + 9), pal.accent)
                continue
            with c.element(name if ctx.n == 2 else "west"):
                ornament(c, x, side)
        c.rect((w / 2 - 40, h * 0.62, w / 2 + 40, h * 0.62 + 3), pal.accent2)
        c.text((w / 2, h * 0.67), lines[1], (body, 18), pal.ink, anchor="mm")
        for i, text in enumerate(extras):
            c.text((w / 2, h * 0.72 + 20 * i), text, (body, 14), pal.muted, anchor="mm")

    pair = ctx.n == 2
    return Design(
        (w, h), draw, edit, before={"span": edit.old.text}, after={"span": edit.new.text},
        target_region=["title of the page, {where}", "centred main line, {where}", "large line between the ornaments, {where}"],
        nodes=[
            NodeSpec(
                key, "spatial_symmetry",
                region=([f"ornament at the {side} of the title, {{where}}", f"flourish {side} of the centred line, {{where}}", f"{side} decoration beside the title, {{where}}"] if pair
                        else ["two ornaments beside the title, {where}", "flourishes at both ends of the centred line, {where}", "pair of decorations around the title, {where}"]),
                clean=["the small decoration in the upper part, {where}", "a drawn ornament, {where}", "the decorative element on that line, {where}"],
                update=["Move to the end of “{new}”, with the former margin.",
                        "Re-space about the middle so that the air beside “{new}” equals that beside “{old}” before.",
                        "Keep equal distance from both ends of “{new}” on the axis of the page."],
                reason=[f"The title is flanked evenly, so the {side if pair else 'outer'} ornament takes its place from the title's width.",
                        "Everything on the page is centred; ornaments sit at one distance from the text on either hand.",
                        "The two ornaments are placed as reflections of each other about the middle of the title."],
                anon=["Flanking elements stay at one distance from a centred thing whose width changes.",
                      "The composition is even about the middle, which fixes where the companions stand.",
                      "Equal margins left and right have to be restored."],
            )
            for key, side in (("west", "left"), ("east", "right"))
        ],
        edges=[EdgeSpec("west", "east", "balance", ["Both ornaments keep the same distance from the axis.",
                                                    "Left and right flourish move by the same amount in opposite directions."])],
    )  # fmt: skip


@template("symmetry_game_card", nodes=("spatial_symmetry", "spatial_symmetry"), edits=("animal", "fruit", "number", "color", "person"))
def game_card(ctx: Ctx) -> Design:
    """A game card on felt: name and index stand again, turned by half a turn."""
    edit, (w, h) = ctx.edit(), ctx.size("any")
    face = ctx.face(ctx.rng.choice(["slab", "display", "serif"])) + "-bold"
    pal, seeds = ctx.palette(dark=False), [ctx.seed() for _ in range(2)]
    felt = ctx.rng.choice([(38, 92, 70), (44, 62, 106), (110, 40, 52), (92, 82, 74)])
    ch = h * 0.86
    cw = min(w * 0.72, ch * 0.74)
    ch = min(ch, cw * 1.42)
    x0, y0 = (w - cw) / 2 + ctx.rng.uniform(-0.06, 0.06) * w, (h - ch) / 2
    most = 46 if ctx.salient else 34
    icon = ctx.rng.choice(["heart", "flower", "crest", "bee", "seal", "ball"])
    inset = 84 if ctx.far else 112
    chips = [(ctx.rng.choice([0.06, 0.94]) * w + ctx.rng.uniform(-10, 10), h * (0.1 + 0.15 * i), ctx.rng.choice([(200, 60, 56), (240, 236, 226), (46, 90, 160)])) for i in range(ctx.distractors)]
    wrong = ctx.rng.choice(["BLANK", "TRUMP", "DRAW TWO"])

    def half(text: str, tab: str | None, names: tuple[str, str]) -> Canvas:
        c = Canvas((round(cw), round(ch)))
        with c.element(names[0]):
            c.text((cw / 2, inset), text, (face, fit(text, face, cw * 0.66, most)), pal.ink, anchor="mm")
        c.rect((cw / 2 - 46, inset + 34, cw / 2 + 46, inset + 37), pal.accent)
        if tab is not None:
            with c.element(names[1]):
                c.text((cw / 2, inset - 42), tab[:2].title(), (face, 24), pal.accent, anchor="mm")
        return c

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(weave((w, h), seeds[0], felt))
        for x, y, tone in chips:
            soft_box(c, (x - 22, y - 22, x + 22, y + 22), 4, 110, 3)
            c.ellipse((x - 24, y - 24, x + 24, y + 24), tone)
            c.ellipse((x - 15, y - 15, x + 15, y + 15), None, outline=shade(tone, 0.7), width=3)
        for k in range(2):
            d = 9 - 5 * k
            soft_box(c, (x0 + d, y0 + d, x0 + cw + d, y0 + ch + d), 6, 110, 3)
            c.rect((x0 + d, y0 + d, x0 + cw + d, y0 + ch + d), shade(pal.bg, 0.86), radius=18)
        c.rect((x0, y0, x0 + cw, y0 + ch), pal.bg, radius=18)
        c.rect((x0 + 10, y0 + 10, x0 + cw - 10, y0 + ch - 10), None, outline=pal.accent2, width=3, radius=12)
        c.line([(x0 + 34, y0 + ch / 2), (x0 + cw - 34, y0 + ch / 2)], pal.muted, 1.5)
        r = round(cw * 0.3)
        c.paste(glyph(icon, r), (x0 + cw / 2 - r / 2, y0 + ch / 2 - r / 2))
        c.put(half(v["target"], None, ("target", "target")), (x0, y0))
        lower = half(v["turned"], v["tab"] if ctx.n == 2 else None, ("turned", "tab"))
        c.put(lower, (x0, y0), flip="hv")
        if ctx.n == 2:
            with c.element("target"):
                c.text((x0 + cw / 2, y0 + inset - 42), v["target"][:2].title(), (face, 24), pal.accent, anchor="mm")

    return Design(
        (w, h), draw, edit, before={"turned": edit.old.text, "tab": edit.old.text}, after={"turned": edit.new.text, "tab": edit.new.text},
        twin={"turned": wrong, "tab": "Xo"},
        target_region=["name in the upper half of the card, {where}", "upright title on the card, {where}", "heading of the card, {where}"],
        nodes=[
            NodeSpec(
                "turned", "spatial_symmetry",
                region=["upside-down name in the other half of the card, {where}", "line at the foot of the card, turned by half a turn, {where}", "inverted title below the picture, {where}"],
                clean=["a line in the other half of the card, {where}", "the text at the far end of the card, {where}", "a text below the centre picture, {where}"],
                update=["Turn “{new}” by 180 degrees and set it where “{old}” stands inverted.",
                        "The inverted half of the card must name “{new}” as well.",
                        "Upside down, the card has to read “{new}” too; “{old}” goes."],
                reason=["The card reads the same from both players' sides, so both halves name it.",
                        "The face has point symmetry: each half is the other, rotated about the picture.",
                        "Whichever way the card is held, one title is upright; the two have to agree."],
                anon=["The layout maps onto itself under half a turn, so the counterpart follows.",
                      "It has to look alike from both ends.",
                      "Rotation about the centre must leave the whole unchanged."],
            ),
            NodeSpec(
                "tab", "spatial_symmetry",
                region=["two inverted letters at the foot of the card, {where}", "turned index next to the inverted title, {where}", "small upside-down initials, {where}"],
                clean=["the short mark at the edge of the card, {where}", "the small characters at the card's edge, {where}", "a pair of characters on the card, {where}"],
                update=["The far index is taken from “{new}” like the near one, and turned.",
                        "Exchange the inverted initials for the first two characters of “{new}”.",
                        "The opposite index follows “{new}”, head down."],
                reason=["The indices come in opposite pairs, and the near one follows the name.",
                        "The index of one end is the other one, rotated about the middle of the card.",
                        "Players find the card from either end, so both indices have the same letters."],
                anon=["Opposite ends hold one mark, one of them rotated.",
                      "A short form of the changed element is kept at the opposite end too.",
                      "The pair of marks at opposite ends has to agree."],
            ),
        ],
        edges=[EdgeSpec("turned", "tab", "same card", ["Inverted title and inverted index belong to one half and name one card.",
                                                       "The turned index letters are the start of the turned title."])],
    )  # fmt: skip
