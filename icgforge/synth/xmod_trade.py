"""Scene templates on trades and things: shop front, enclosure, fruit stall, restaurant board."""

from __future__ import annotations

from icgforge.synth.base import Ctx, Design, Values, template
from icgforge.synth.canvas import Canvas
from icgforge.synth.icons import glyph
from icgforge.synth.parts import bricks, edge, fit, ink_on, node, notes, paper, planks, shade
from icgforge.synth.scenery import mix, picture
from icgforge.synth.world import GOODS, PLATES

# One call, one stroke, one row a line.
# fmt: off

SCENE = "xmod_scene"


@template("xmod_scene_shop", nodes=(SCENE, SCENE, SCENE), edits=("word",))
def shop(ctx: Ctx) -> Design:
    """A shop front: name over the door, goods in two windows, a hanging sign."""
    edit = ctx.edit(lambda a, b: a.text in GOODS and b.text in GOODS and GOODS[a.text][0] != GOODS[b.text][0])
    pal, size = ctx.palette(), ctx.size("wide")
    w, h = size
    head, sans = ctx.face("slab"), ctx.face("sans")
    seed, lines = ctx.seed(), ctx.copy(ctx.distractors)
    stone = ctx.rng.choice([(150, 84, 66), (140, 132, 124), (110, 92, 84), (176, 152, 120)])
    k = round(h * (0.2 if ctx.salient else 0.15))
    door = ctx.rng.choice([0.5, 0.5, 0.84, 0.16])
    fs = fit([edit.old.text, edit.new.text], head, w * 0.5, 56)
    spans = {0.5: ((0.08, 0.4), (0.6, 0.92)), 0.84: ((0.06, 0.36), (0.42, 0.74)), 0.16: ((0.26, 0.58), (0.64, 0.94))}[door]
    n_goods = ctx.rng.choice([2, 3])

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        bricks(c, (0, 0, w, h), stone, seed)
        paper(c, (0, h * 0.9, w, h), (126, 124, 122), seed, 4)
        c.rect((w * 0.04, h * 0.14, w * 0.96, h * 0.9), mix(pal.accent, (20, 20, 20), 0.25))
        c.rect((w * 0.04, h * 0.14, w * 0.96, h * 0.34), pal.accent)
        c.rect((w * 0.04, h * 0.335, w * 0.96, h * 0.345), mix(pal.accent, (0, 0, 0), 0.4))
        with c.element("target"):
            c.text((w / 2, h * 0.24), v["target"], (head, fs), ink_on(pal.accent), anchor="mm")
        for j, (a, b) in enumerate(spans):
            box = (w * a, h * 0.42, w * b, h * 0.8)
            c.rect(box, (246, 236, 206))
            c.rect((box[0], box[1], box[2], box[1] + 30), mix((246, 236, 206), (255, 255, 255), 0.5))
            c.rect((box[0], h * 0.72, box[2], h * 0.8), (156, 116, 80))
            key, live = ("goods", "goods2")[j], j == 0 or ctx.n > 1
            with c.element(key if live else "deco"):
                for i in range(n_goods):
                    x = box[0] + (box[2] - box[0]) * (i + 0.5) / n_goods
                    if live and not twin:
                        c.paste(glyph(v["goods"], k), (x - k / 2, h * 0.725 - k))
                    else:
                        c.rect((x - k * 0.3, h * 0.725 - k * 0.7, x + k * 0.3, h * 0.725), (196, 170, 130) if i % 2 else (182, 150, 112))
                        c.rect((x - 3, h * 0.725 - k * 0.7, x + 3, h * 0.725), (150, 120, 84))
            c.rect(box, None, outline=mix(pal.accent, (0, 0, 0), 0.5), width=6)
        dx = w * door
        c.rect((dx - w * 0.07, h * 0.42, dx + w * 0.07, h * 0.9), mix(pal.accent2, (20, 20, 20), 0.2))
        c.rect((dx - w * 0.05, h * 0.46, dx + w * 0.05, h * 0.66), (216, 228, 230))
        c.ellipse((dx + w * 0.045, h * 0.68, dx + w * 0.045 + 10, h * 0.68 + 10), (226, 190, 96))
        if ctx.n > 2:
            hx = w * (0.965 if ctx.far else 0.08) - (66 if ctx.far else 0)
            c.rect((hx - 30, h * 0.03, hx + 66, h * 0.042), (40, 40, 44))
            c.ellipse((hx - 14, h * 0.06, hx + 62, h * 0.06 + 76), (250, 246, 236))
            with c.element("hanging"):
                c.paste(glyph(("flower" if v["goods"] != "flower" else "lantern") if twin else v["goods"], 50), (hx - 1, h * 0.06 + 13))
        notes(c, lines, (w * 0.04, h * 0.905, w * 0.96, h - 2), sans, (244, 242, 236), 13)

    def vals(i: int) -> dict[str, object]:
        icon, many = GOODS[(edit.old, edit.new)[i].text]
        return {"goods": icon, "many": many}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1),
        target_region=["name over the shop, {where}", "large sign of the front", "lettering above the windows"],
        nodes=[
            node("goods", SCENE, "{b_many} in the first window|goods on show, {where}|what the left window displays",
                 "things behind glass, {where}|contents of a window, {where}|row of objects, {where}",
                 "display {a_many}|{b_many} come out, {a_many} go in|dress the window with {a_many}",
                 "passers-by of a {new} do not expect {b_many}|{b_many} are sold by {old}|a {new} shows {a_many}",
                 "what is on display belongs to the former trade|goods reveal the trade|the assortment does not go with what the business calls itself"),
            node("goods2", SCENE, "{b_many} in the second window|goods of the other window|window display, {where}",
                 "things on another ledge, {where}|further row of objects, {where}|second glazed part, {where}",
                 "this window, too, needs {a_many}|put {a_many} here as well|exchange {b_many} here for {a_many}",
                 "{b_many} on view still advertise {old}|{new} would not lay out {b_many}|the second window goes with the name as well",
                 "another display keeps advertising the former trade|each display is part of the same business|trade and merchandise have to be told alike"),
            node("hanging", SCENE, "hanging sign with its picture, {where}|round sign at the bracket|symbol of the trade on the bracket",
                 "round thing at the wall, {where}|disc on a bracket|small disc, {where}",
                 "paint the symbol of {new} on it|its symbol changes, like the windows, to {a_many}|from {b_many} to {a_many}",
                 "the symbol tells people from afar that here is {old}|guild symbols stand for one trade each|{new} has another symbol",
                 "an emblem stands for the former trade|trade symbols are read from afar|the symbol names another business"),
        ],
        edges=[edge("goods", "goods2", "same trade", "both windows belong to one business|one shop, one assortment|neither window may sell something else"),
               edge("goods", "hanging", "same trade", "symbol and goods are of one trade|the symbol depicts what is sold|the bracket announces the goods")],
    )


@template("xmod_scene_zoo", nodes=(SCENE, SCENE), edits=("animal",), max_distractors=3)
def zoo(ctx: Ctx) -> Design:
    """A way sign at a zoo: animal name, picture, habitat behind."""
    edit, pal, size = ctx.edit(lambda a, b: a["scene"] != b["scene"]), ctx.palette(), ctx.size()
    w, h = size
    head, sans = ctx.face("display"), ctx.face("sans")
    seed, lines = ctx.seed(), ctx.copy(ctx.distractors)
    fs = fit([edit.old.text, edit.new.text], head, w * 0.5, 58)
    k = round(min(w, h) * (0.34 if ctx.salient else 0.26))
    vw, vh = w - 80, round(h * 0.46)
    left, low = ctx.chance(0.5), ctx.far

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        paper(c, (0, 0, w, h), pal.bg, seed, 2)
        vy = 40
        with c.element("habitat") if ctx.n > 1 else c.element("deco"):
            if ctx.n > 1 and not twin:
                c.paste(picture(v["scene"], (vw, vh), seed), (40, vy))
            else:
                paper(c, (40, vy, 40 + vw, vy + vh), mix(pal.accent2, pal.bg, 0.3), seed + 1, 5)
                for j in range(16):
                    c.rect((40 + vw * j / 16, vy, 44 + vw * j / 16, vy + vh), mix(pal.accent2, (0, 0, 0), 0.3))
        c.rect((40, vy, 40 + vw, vy + vh), None, outline=pal.ink, width=4)
        by = h * 0.58
        c.rect((40, by, w - 40, h - 60), pal.accent, radius=16)
        ix = 64 if left else w - 64 - k
        iy = by + (h - 60 - by) / 2 - k / 2
        c.ellipse((ix - 8, iy - 8, ix + k + 8, iy + k + 8), (250, 248, 240))
        with c.element("animal"):
            c.paste(glyph("ring" if twin else v["picture"], round(k * 0.8)), (ix + k * 0.1, iy + k * 0.1))
        tx, anchor = (ix + k + 36, "lm") if left else (70, "lm")
        fs2 = fit([edit.old.text, edit.new.text], head, w - k - 190, fs)
        with c.element("target"):
            c.text((tx, by + (h - 60 - by) * (0.66 if low else 0.4)), v["target"], (head, fs2), ink_on(pal.accent), anchor=anchor)
        c.text((tx, by + (h - 60 - by) * (0.3 if low else 0.76)), "Feeding at noon", (sans, 19), ink_on(pal.accent), anchor=anchor)
        notes(c, lines[:3], (30, h - 56, w - 30, h - 4), sans, pal.muted, 13)

    def vals(i: int) -> dict[str, object]:
        a = (edit.old, edit.new)[i]
        seen = {"snow": "snow and ice", "desert": "hot sand", "forest": "dense firs", "farm": "green fields", "spring": "blossoms"}[a["scene"]]
        return {"scene": a["scene"], "picture": a["picture"], "seen": seen, "home": a["home"]}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1),
        target_region=["name on the sign, {where}", "animal named in large letters", "heading on the coloured board"],
        nodes=[
            node("animal", SCENE, "animal in the white circle|drawn animal, {where}|portrait beside the name",
                 "creature in a circle, {where}|drawing on a white disc|the drawn figure, {where}",
                 "draw one of the {new}|the circle is for {new} now|replace the animal by one of the {new}",
                 "visitors see an animal that is none of the {new}|the portrait is one of the {old}|word and portrait name two species",
                 "the portrait and the word identify different creatures|the depicted creature is the one named before|image and caption fall apart"),
            node("habitat", SCENE, "landscape of the enclosure, {where}|backdrop with {b_seen}|habitat painting",
                 "wide painting over the board|panorama, {where}|the large bordered field",
                 "paint {a_seen} behind|{b_seen} out, {a_seen} in|a habitat with {a_seen} is called for",
                 "{new} are at home on or in {a_home}|among {b_seen} live {old}|{new} would not live among {b_seen}",
                 "those creatures do not live in such surroundings|the environment depicted suits the creature named before|living conditions of the two differ"),
        ],
        edges=[edge("animal", "habitat", "same species", "the animal lives in that landscape|creature and habitat fit together|portrait and panorama are of one enclosure")],
    )


@template("xmod_scene_stall", nodes=(SCENE, SCENE), edits=("fruit",))
def stall(ctx: Ctx) -> Design:
    """A market stall: a slate names the fruit, crates are full of it."""
    edit, size = ctx.edit(), ctx.size()
    w, h = size
    hand, seed, lines = ctx.face("hand"), ctx.seed(), ctx.copy(ctx.distractors)
    left, price = ctx.chance(0.5), ctx.rng.choice(["2.40", "3.10", "1.90", "2.80"])
    rows, cols = ctx.rng.choice([(2, 5), (2, 6), (3, 6)])
    fs = fit([edit.old.text, edit.new.text], hand, w * 0.34, 38)
    cloth = ctx.palette()
    k = round(w * 0.5 / cols)
    others = ["carrot", "mushroom", "cheese", "bread", "egg"]
    side = ctx.rng.choice(others)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        paper(c, (0, 0, w, h), mix(cloth.panel, (200, 210, 214), 0.5), seed, 3)
        for j in range(9):
            c.rect((w * j / 9, 0, w * (j + 0.5) / 9, h * 0.14), cloth.accent)
        c.rect((0, h * 0.14, w, h * 0.155), mix(cloth.accent, (0, 0, 0), 0.3))
        planks(c, (0, h * 0.62, w, h), (150, 110, 74), seed, 5)
        x0 = 40 if left else w - 40 - w * 0.52
        y1 = h * 0.86
        y0 = y1 - rows * k * 0.8 - 30
        c.rect((x0, y0, x0 + w * 0.52, y1), (112, 78, 50))
        with c.element("crate"):
            for r in range(rows):
                for q in range(cols):
                    x, y = x0 + w * 0.01 + q * k, y0 + 10 + r * k * 0.8
                    if twin:
                        c.rect((x + 5, y + 5, x + k - 5, y + k * 0.75), (206, 184, 150), radius=6)
                    else:
                        c.paste(glyph(v["picture"], k - 4), (x + 2, y))
        planks(c, (x0 - 6, y1 - 26, x0 + w * 0.52 + 6, y1 + 10), (176, 132, 88), seed + 2, 2)
        if h >= w:
            planks(c, (40, h * 0.52, w - 40, h * 0.545), (132, 94, 62), seed + 7, 1)
            for j in range(5):
                c.paste(glyph(side if j % 2 else "vase", 76), (70 + j * (w - 200) / 4, h * 0.52 - 74))
        sx0 = w * 0.6 if left else w * 0.04
        sx1 = sx0 + w * 0.36
        sy = h * (0.2 if ctx.far or h >= w else 0.44)
        shade(c, (sx0, sy, sx1, sy + 120), 4)
        c.rect((sx0, sy, sx1, sy + 120), (120, 84, 54), radius=4)
        c.rect((sx0 + 8, sy + 8, sx1 - 8, sy + 112), (44, 52, 50))
        with c.element("target"):
            c.text(((sx0 + sx1) / 2, sy + 42), v["target"], (hand, fs), (246, 242, 230), anchor="mm")
        c.text(((sx0 + sx1) / 2, sy + 86), f"{price} a bowl", (hand, 22), (250, 214, 120), anchor="mm")
        bx = (sx0 + sx1) / 2
        c.paste(glyph(side, 70), (bx - 86, h * 0.8 - 70))
        if ctx.n > 1:
            with c.element("bowl"):
                c.paste(glyph("bread" if twin and side != "bread" else "egg" if twin else v["picture"], 84 if ctx.salient else 60), (bx + 10, h * 0.79 - (84 if ctx.salient else 60)))
        else:
            c.paste(glyph(side, 60), (bx + 10, h * 0.8 - 60))
        c.rect((bx - 96, h * 0.79, bx + 104, h * 0.83), (236, 232, 222), radius=8)
        notes(c, lines, (30, h * 0.89, w - 30, h - 6), hand, (252, 244, 230), 14)

    def vals(i: int) -> dict[str, object]:
        return {"picture": (edit.old, edit.new)[i]["picture"]}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1),
        target_region=["fruit written on the slate, {where}", "chalk word above the price", "handwriting on the dark slate"],
        nodes=[
            node("crate", SCENE, "fruit in the crate, {where}|filled crate on the boards|heap of {b_picture} pieces, {where}",
                 "what is in the box, {where}|contents of a wooden box|the many small items, {where}",
                 "fill the crate with pieces of {a_picture}|every {b_picture} becomes a {a_picture}|the crate has to hold {new}",
                 "the slate sells {new}, the crate holds {old}|customers who read {new} find each a {b_picture}|slate and produce announce one fruit",
                 "the produce laid out is not what the writing sells|goods offered and goods shown differ|buyers would get something other than announced"),
            node("bowl", SCENE, "sample on the white tray|single fruit beside the crate, {where}|piece to taste, {where}",
                 "item on the white strip|single item, {where}|one of two things side by side, {where}",
                 "offer one {a_picture} there|the sample should be a {a_picture}|{b_picture} away, {a_picture} on the tray",
                 "a sample of {new} is no {b_picture}|the sample is a {b_picture}, which suits {old}|one tastes what one is going to buy",
                 "a specimen on show stems from the former offer|specimen and announcement have to be the same|whoever tries it would try the wrong thing"),
        ],
        edges=[edge("crate", "bowl", "same produce", "the sample is taken from the crate|crate and tray offer one fruit|both are the same produce")],
    )


@template("xmod_scene_plate", nodes=(SCENE, SCENE), edits=("dish",))
def plate(ctx: Ctx) -> Design:
    """A picture board in front of a restaurant: dish name, plate, and what is beside it."""
    edit = ctx.edit(lambda a, b: PLATES[a.text][0] != PLATES[b.text][0] and a["hot"] != b["hot"] if ctx.n > 1 else PLATES[a.text][0] != PLATES[b.text][0])
    pal, size = ctx.palette(), ctx.size()
    w, h = size
    head, sans = ctx.face("display"), ctx.face("sans")
    lines = ctx.copy(ctx.distractors)
    fs = fit([edit.old.text, edit.new.text], head, w - 120, 54)
    r = min(min(w, h) * (0.3 if ctx.salient else 0.24), w * 0.25)
    low = ctx.far
    temp = {True: "Served steaming hot", False: "Served ice cold"}

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.rect((0, 0, w, h), pal.bg)
        for j in range(0, w, 48):
            for i in range(0, h, 48):
                if (j + i) // 48 % 2:
                    c.rect((j, i, j + 48, i + 48), mix(pal.bg, pal.panel, 0.7))
        ty = h * (0.13 if not low else 0.8)
        cy = h * (0.53 if not low else 0.4)
        c.ellipse((w / 2 - r * 1.1 + 6, cy - r * 1.1 + 10, w / 2 + r * 1.1 + 6, cy + r * 1.1 + 10), mix(pal.bg, (0, 0, 0), 0.35))
        for q, col in ((1.1, (252, 252, 250)), (0.84, (232, 234, 236)), (0.8, (250, 250, 248))):
            c.ellipse((w / 2 - r * q, cy - r * q, w / 2 + r * q, cy + r * q), col)
        c.paste(glyph("cutlery", round(r * 1.1)), (w / 2 + r * 1.0, cy - r * 0.55))
        k = round(r * 1.1)
        with c.element("food"):
            c.paste(glyph("flower" if twin else v["food"], k), (w / 2 - k / 2, cy - k / 2))
        c.rect((0, ty - 44, w, ty + 44), pal.accent)
        with c.element("target"):
            c.text((w / 2, ty), v["target"], (head, fs), ink_on(pal.accent), anchor="mm")
        if ctx.n > 1:
            ny = cy + r * 1.1 + 34 if not low else 46
            with c.element("temp"):
                c.text((w / 2, ny), v["temp"], (sans, 26), pal.ink, anchor="mm")
        notes(c, lines, (30, h * 0.91, w - 30, h - 6), sans, pal.ink, 14)

    def vals(i: int) -> dict[str, object]:
        a = (edit.old, edit.new)[i]
        return {"food": PLATES[a.text][0], "temp": temp[a["hot"]], "main": PLATES[a.text][1].split(",")[0]}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"temp": "Served on the terrace"},
        target_region=["dish on the coloured band", "name of the dish, {where}", "lettering across the band, {where}"],
        nodes=[
            node("food", SCENE, "food on the plate, {where}|what lies on the white plate|pictured meal, {where}",
                 "thing on the large white circle|centre of the round white shape|what is at the heart of the picture",
                 "serve {new} on the plate|picture {a_main} there|the plate needs {a_main} for {b_main}",
                 "a guest who orders {new} does not get {b_main}|one sees {old} on the plate|the photo board shows what is ordered, and that is {new}",
                 "what is served in view is not what the words promise|meal shown and meal promised are two|the view still serves the former order"),
            node("temp", SCENE, "remark on serving, {where}|line “{b_temp}”|words near the plate, {where}",
                 "plain line off the band, {where}|sentence without ground colour|short sentence, {where}",
                 "for {new} it is “{a_temp}”|“{b_temp}” should be “{a_temp}”|correct the remark to “{a_temp}”",
                 "nobody serves {new} like that|“{b_temp}” goes for {old}|warmth of the meal depends on the meal",
                 "the way of serving is wrong for the new meal|such a meal is not served at that warmth|common sense about meals rules it out"),
        ],
        edges=[edge("food", "temp", "same dish", "the remark is about the meal on the plate|meal and serving belong together|what is on the plate is served like that")],
    )
