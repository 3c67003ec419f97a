"""Scenes of trade that set off several subtypes at once: menus, a shop window, a product label."""

from __future__ import annotations

import numpy as np

from icgkit.synth.base import Ctx, Design, EdgeSpec, Fact, NodeSpec, Values, template
from icgkit.synth.canvas import Canvas, fit_size, font
from icgkit.synth.style_material import letters, shade, soften, tint
from icgkit.synth.textures import surface
from icgkit.synth.words import DISHES

CHALK = ((240, 238, 226), (246, 222, 140), (236, 184, 176), (176, 214, 232))


def _haze(c: Canvas, at: tuple[float, float], text: str, face: tuple[str, int], color: tuple[int, int, int]) -> None:
    cover = letters(c, at, text, face)
    c.texts.pop()
    tint(c, 0.42 * np.roll(soften(cover, 6), (2, 9), (0, 1)), color)


@template(
    "scenes_menu_price", nodes=("semantic_numerical", "semantic_numerical", "style_material", "semantic_promotional"),
    edits=("price",), min_nodes=2,
)  # fmt: skip
def menu_price(ctx: Ctx) -> Design:
    """A chalked set menu: one price is edited; total, foreign total, chalk haze and slogan follow."""
    edit = ctx.edit()
    size, seed = ctx.size("tall"), ctx.seed()
    w, h = size
    face, hand = ctx.rng.choice(["marker", "comic-bold", "brush"]), ctx.rng.choice(["diner", "lively", "brush"])
    color = ctx.rng.choice(CHALK)
    dishes = ctx.rng.sample(sorted(DISHES), 3)
    prices = [ctx.rng.randrange(8, 60, 4) for _ in range(2)]
    slot, rate = ctx.rng.randrange(3), ctx.rng.choice([0.5, 0.75, 1.25, 1.5])
    sign = ctx.rng.choice(["€", "£"])
    limit = (edit.old["value"] + edit.new["value"]) / 2 + sum(prices)
    limit = round(limit / 5) * 5 if abs(edit.old["value"] - edit.new["value"]) > 12 else limit
    extras = ctx.copy(min(3, ctx.distractors))
    px = 27 if ctx.salient else 22

    def total(x: int) -> int:
        return x + sum(prices)

    def slogan(x: int) -> str:
        return f"three plates under ${limit:.0f}!" if total(x) < limit else f"a feast worth over ${limit:.0f}"

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(surface("wood", size, seed + 1))
        c.paste(surface("slate", (w - 48, h - 48), seed), (24, 24))
        c.text((w / 2, 86), "Set menu" if not twin else "À la carte", (hand, 50), color, anchor="mm")
        c.line([(w * 0.3, 124), (w * 0.7, 120)], color, 3)
        rows: list[str | None] = [f"${p}" for p in prices]
        rows.insert(slot, None)
        for i, (dish, price) in enumerate(zip(dishes, rows, strict=True)):
            y = 180 + i * 58
            c.text((60, y), dish, (face, px), (238, 238, 230), anchor="lm")
            if price is None and ctx.n > 2 and not twin:
                with c.element("haze"):
                    _haze(c, (w - 90, y), v["target"], (face, px), color)
            with c.element("target" if price is None else f"p{i}"):
                c.text((w - 60, y), price or v["target"], (face, px), color, anchor="rm")
        y = 180 + 3 * 58 + (70 if ctx.far else 10)
        c.line([(60, y - 26), (w - 60, y - 28)], (200, 200, 194), 2)
        c.text((60, y + 8), "all three" if not twin else "deposit", (face, px), (238, 238, 230), anchor="lm")
        with c.element("total"):
            c.text((w - 60, y + 8), f"${v['total']}", (face, px + 4), color, anchor="rm")
        c.text((60, y + 54), f"at {sign}{rate:g} to the dollar" if not twin else f"{sign}, for vouchers", (face, px - 6), (190, 194, 188), anchor="lm")
        with c.element("foreign"):
            c.text((w - 60, y + 54), f"{sign}{v['foreign']:g}", (face, px), (206, 210, 204), anchor="rm")
        if ctx.n > 3:
            with c.element("slogan"):
                c.text((w / 2, y + 116), v["slogan"], (hand, 27), color, anchor="mm")
        for i, line in enumerate(extras):
            c.text((w / 2, h - 50 - 24 * i), line, ("marker", 15), (176, 182, 176), anchor="mm")

    a, b = edit.old["value"], edit.new["value"]
    before = {"total": total(a), "foreign": total(a) * rate, "slogan": slogan(a)}
    after = {"total": total(b), "foreign": total(b) * rate, "slogan": slogan(b)}
    same = slogan(a) == slogan(b)
    if same:  # the limit then lies just between both totals
        limit = (total(a) + total(b)) / 2
        before["slogan"], after["slogan"] = slogan(a), slogan(b)
    other = dishes[slot]
    return Design(
        size, draw, edit, before, after, twin={"total": 20, "foreign": 15.0, "slogan": "ask for the wine list"},
        target_region=[f"price of the {other.lower()}", "one of the prices on the board, {where}", "figure behind a dish, {where}"],
        nodes=[
            NodeSpec(
                "total", "semantic_numerical",
                region=["sum for all three plates", "“all three” at the foot of the menu", "bottom price of the board, {where}"],
                clean=["figure under the chalk stroke", "a figure at the {where}", "the lowest large figure on the right"],
                update=["${b_total} → ${a_total}", "chalk up ${a_total} for the three together", "the sum rises or falls from ${b_total} to ${a_total}"],
                reason=[f"the three plates add up to it: {' + '.join(f'${p}' for p in prices)} + {{new}}", "it adds the prices above, one of which is {new} now",
                        "three prices stand over the stroke and their sum under it"],
                anon=["an amount adds up several others, the edited one among them", "a sum contains the edited term", "adding the entries gives another amount than before"],
            ),
            NodeSpec(
                "foreign", "semantic_numerical",
                region=[f"amount in {sign} in the last line", "the sum for foreign guests", f"converted price, {sign}"],
                clean=["fainter figure, {where}", "last figure of the column", "figure in the {where}"],
                update=[f"{sign}{{b_foreign:g}} is worked out anew as {sign}{{a_foreign:g}}", f"write {sign}{{a_foreign:g}}", f"convert the new sum: {sign}{{a_foreign:g}}"],
                reason=[f"it is the sum in the other currency, {rate:g} to the dollar", f"${{a_total}} times {rate:g} makes {sign}{{a_foreign:g}}", "the rate beside it turns the dollar sum into this amount"],
                anon=["it converts a derived amount at a printed rate", "one amount is another one times a constant", "a conversion of something that depends on the edit"],
            ),
            NodeSpec(
                "haze", "style_material",
                region=["chalk smudge behind the price", f"powdery blur in the {other.lower()} line", "rubbed chalk, {where}"],
                clean=["soft patch around a figure", "blurred zone, {where}", "background of one entry"],
                update=["rub out the blur of “{old}” and smudge “{new}” alike", "the smudge takes the shape of the new figures", "fresh powder follows the digits {new}"],
                reason=["chalk figures leave powder in their own shape", "the board keeps a ghost of whatever digits stand there", "the powder comes off these very digits"],
                anon=["the writing medium leaves a trace of what was written", "residue copies the shapes of the edited text", "a ghost of the strokes lies on the ground"],
            ),
            NodeSpec(
                "slogan", "semantic_promotional",
                region=["boast under the sums", "slogan at the foot of the board", "cheerful line, {where}"],
                clean=["the line of script below", "lettering in the {where}", "centred line near the bottom"],
                update=["“{b_slogan}” → “{a_slogan}”", "the boast has to read “{a_slogan}”", "letter “{a_slogan}” instead"],
                reason=[f"it praises a sum on one side of ${limit:.0f}, and ${{a_total}} is on the other", "no guest would believe “{b_slogan}” at ${a_total}", "the promise only holds for the old prices"],
                anon=["a claim about an amount is no longer true", "an invitation promises what the entries now deny", "praise was worded for another amount"],
            ),
        ],
        edges=[EdgeSpec("total", "foreign", "conversion", ["one sum in two currencies", f"both differ by the factor {rate:g} and nothing else"]),
               EdgeSpec("total", "slogan", "claim", ["the boast has to be true of the sum", "sum and slogan must not contradict each other"])],
        facts=[
            Fact("sum", "total", {"terms": [a, *prices], "result": total(a)}, {"terms": [b, *prices], "result": total(b)}),
            Fact("product", "foreign", {"factors": [total(a), rate], "result": total(a) * rate}, {"factors": [total(b), rate], "result": total(b) * rate}),
        ],
    )  # fmt: skip


@template(
    "scenes_menu_dish", nodes=("semantic_categorical", "style_layout", "style_material", "style_color"), edits=("dish",), min_nodes=2,
)  # fmt: skip
def menu_dish(ctx: Ctx) -> Design:
    """A framed menu: one dish is edited; allergens, leader dots, pressed paper and colour dot follow."""
    size, seed = ctx.size("tall"), ctx.seed()
    w, h = size
    face = (ctx.rng.choice(["novel", "bookish", "cafe", "slab"]), 27 if ctx.salient else 23)
    edit = ctx.edit(lambda a, b: abs(font(*face).getlength(a.text) - font(*face).getlength(b.text)) > 20 and a["allergens"] != b["allergens"])
    others = ctx.rng.sample([d for d in DISHES if d not in (edit.old.text, edit.new.text)], 2 + min(1, ctx.distractors // 3))
    slot = ctx.rng.randrange(len(others) + 1)
    title = ctx.rng.choice(["Noon card", "From the stove", "Little kitchen", "What there is"])
    prices = [ctx.rng.randrange(7, 30) for _ in range(len(others) + 1)]
    hues = {"meat": (160, 58, 52), "plant": (88, 142, 72), "fish": (58, 122, 168), "egg": (222, 178, 62), "sweet": (176, 98, 150)}
    extras, head = ctx.copy(min(3, ctx.distractors)), ctx.face("display")
    step = 96

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(surface("wood", size, seed + 1))
        c.paste(surface("paper", (w - 64, h - 64), seed, (248, 243, 230)), (32, 32))
        c.rect((44, 44, w - 44, h - 44), None, outline=(150, 120, 80), width=2)
        c.text((w / 2, 96), title, (head, 42), (70, 52, 40), anchor="mm")
        dishes = list(others)
        dishes.insert(slot, "")
        for i, dish in enumerate(dishes):
            y = 176 + i * step
            text = dish or v["target"]
            own = not dish
            if own and ctx.n > 2 and not twin:
                with c.element("press"):
                    cover = letters(c, (84 + font(*face).getlength(text) / 2, y), text, face)
                    c.texts.pop()
                    shade(c, 0.35 * np.clip(np.roll(soften(cover, 2), (3, 3), (0, 1)) - cover, 0, 1) - 0.16 * np.clip(soften(cover, 5) - cover, 0, 1))
            with c.element("target" if own else f"d{i}"):
                c.text((84, y), text, face, (60, 48, 40), anchor="lm")
            c.text((w - 70, y), str(prices[i]), face, (60, 48, 40), anchor="rm")
            start = 84 + (w * 0.5 if twin and own else font(*face).getlength(text)) + 14
            # Leader dots exist for the edited dish only where they are a node.
            if not own or ctx.n > 1:
                with c.element("leader" if own else f"l{i}"):
                    for x in range(int(start) // 9 * 9 + 9, w - 118, 9):
                        c.ellipse((x, y + 6, x + 2, y + 8), (120, 100, 84))
            facts = DISHES[dish] if dish else None
            with c.element("allergens" if own else f"a{i}"):
                said = v["allergens"] if own else facts[0] if facts else ""
                c.text((84, y + 32), f"contains: {said}" if not (twin and own) else "allergens: ask the kitchen", (face[0], 16), (128, 108, 92), anchor="lm")
            if ctx.n > 3 or not own:
                family = v["family"] if own else facts[1] if facts else "meat"
                with c.element("dot" if own else f"o{i}"):
                    c.ellipse((58, y - 7, 72, y + 7), hues[family] if not (twin and own) else (170, 164, 156))
        for k, (name, hue) in enumerate(hues.items()):
            x = 66 + k * (w - 120) / 5
            c.ellipse((x, h - 78, x + 12, h - 66), hue)
            c.text((x + 18, h - 72), name, (face[0], 14), (120, 104, 90), anchor="lm")
        for i, line in enumerate(extras):
            c.text((w / 2, h - 106 - 22 * i), line, (face[0], 14), (140, 122, 106), anchor="mm")

    a, b = edit.old, edit.new
    return Design(
        size, draw, edit, {"allergens": a["allergens"], "family": a["family"]}, {"allergens": b["allergens"], "family": b["family"]},
        target_region=["one of the dishes, {where}", "dish on the card, {where}", "entry of the menu"],
        nodes=[
            NodeSpec(
                "allergens", "semantic_categorical",
                region=["allergen note under the dish", "“contains” line below the entry", "small print of the dish, {where}"],
                clean=["the small line beneath an entry", "a small pale line, {where}", "second line of an entry"],
                update=["“contains: {b_allergens}” becomes “contains: {a_allergens}”", "declare {a_allergens}", "list what {new} holds: {a_allergens}"],
                reason=["{new} is cooked from other things than {old}", "the note declares what is in the plate, which is {new} now", "guests with an allergy rely on this line, and {new} has its own"],
                anon=["a declaration lists properties of the named thing", "other contents go with another name", "what is declared follows from what is named"],
            ),
            NodeSpec(
                "leader", "style_layout",
                region=["dotted leader between dish and price", "row of dots behind the dish", "dots that lead to the price, {where}"],
                clean=["fine dots in one of the lines", "dotted stretch at the {where}", "the dotted part of an entry"],
                update=["let the dots start behind the last letter of “{new}”", "add or drop dots until they meet the new name", "shorten or extend the dotted row to “{new}”"],
                reason=["leaders bridge the gap between a dish and its price", "dots begin where the words end, and “{new}” ends elsewhere", "the gap to the price is another one now"],
                anon=["a filler bridges what the text leaves free", "the rest of the line is filled, and that rest has changed", "its start is the end of the text"],
            ),
            NodeSpec(
                "press", "style_material",
                region=["relief that the type has pressed into the paper", "dented paper around the letters", "shaded rims of the letterpress, {where}"],
                clean=["paper around an entry", "the ground near the {where}", "surface close to the words"],
                update=["flatten the paper where “{old}” was and dent it along “{new}”", "emboss the outlines of the new letters", "the dents move to the strokes of “{new}”"],
                reason=["letterpress leaves a dent along each printed stroke", "the sheet was deformed by the type that printed it", "paper shows the pressure of these very letters"],
                anon=["printing deforms the sheet in the shapes that are printed", "a relief copies the outlines", "pressure was applied only where strokes are"],
            ),
            NodeSpec(
                "dot", "style_color",
                region=["coloured dot before the dish", "group dot at the start of the entry", "dot of the entry, {where}"],
                clean=["a small mark at the margin, {where}", "disc in front of an entry", "margin mark, {where}"],
                update=["the dot changes to the hue of “{a_family}”", "mark it as {a_family}, not {b_family}", "take the {a_family} hue from the key"],
                reason=["the key at the foot gives {a_family} dishes a hue of their own", "{new} is filed under {a_family}", "dots sort dishes into groups, {old} was {b_family}"],
                anon=["a key sorts things into groups by hue, and the group is another", "the mark encodes the class of what is named", "class and hue belong together"],
            ),
        ],
        edges=[EdgeSpec("allergens", "dot", "same dish", ["dot and declaration describe one dish", "a dish of that group has such contents"]),
               EdgeSpec("leader", "press", "same line", ["dots begin where the pressed letters end", "leader and relief share the end of the name"])],
    )  # fmt: skip


@template(
    "scenes_window", nodes=("physical_reflection", "spatial_mirror", "spatial_repetition"),
    edits=("word", "brand", "person", "place", "color"), min_nodes=2,
)  # fmt: skip
def window(ctx: Ctx) -> Design:
    """A shop front at dusk: wet pavement below the sign, a mirror inside, the name on the door."""
    edit = ctx.edit()
    size, seed, pal = ctx.size("wide"), ctx.seed(), ctx.palette(dark=True)
    w, h = size
    family = ctx.rng.choice(["office-bold", "slab-bold", "cafe-bold", "diner", "geometric-bold"])
    top, ground = h * 0.1, h * 0.72
    px = min(fit_size(t.text, family, w * 0.62, 64 if ctx.salient else 50) for t in (edit.old, edit.new))
    glow = ctx.rng.choice([(255, 226, 150), (255, 180, 140), (190, 236, 255)])
    extras, door = ctx.copy(min(4, ctx.distractors)), ctx.chance(0.5)
    dx = w * 0.78 if door else w * 0.08

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(surface("brick", size, seed, (104, 66, 58)))
        c.rect((w * 0.04, top - 14, w * 0.96, ground), (46, 40, 40))
        c.rect((w * 0.05, top - 6, w * 0.95, top + 92), pal.bg)
        wx0, wx1 = (w * 0.08, w * 0.74) if door else (w * 0.26, w * 0.92)
        c.paste(surface("plaster", (int(wx1 - wx0), int(ground - top - 116)), seed + 1, (232, 206, 160)), (wx0, top + 104))
        for k in range(5):  # shelf with things
            x = wx0 + 30 + k * 44
            c.rect((x, ground - 74 - (k * 17 % 22), x + 26, ground - 34), (pal.accent, pal.accent2, pal.muted)[k % 3], radius=5)
        c.rect((wx0 + 14, ground - 34, wx0 + 260, ground - 26), (96, 70, 50))
        # the mirror shows the back of the transparency that hangs in the window
        mx0, mx1, my0 = wx1 - 210, wx1 - 24, top + 130
        c.rect((mx0 - 8, my0 - 8, mx1 + 8, my0 + 88), (120, 84, 50), radius=8)
        c.rect((mx0, my0, mx1, my0 + 80), (206, 218, 222), radius=4)
        small = fit_size(v["target"], family, mx1 - mx0 - 24, 30)
        sub = c.layer((int(mx1 - mx0), 80))
        if twin:
            sub.ellipse((30, 24, 80, 74), (176, 150, 128))
        else:
            with sub.element("mirror"):
                sub.text((sub.size[0] / 2, 42), v["target"], (family, small), (88, 96, 104), anchor="mm")
        if ctx.n > 1 or twin:
            c.put(sub, (mx0, my0), flip="h")
        else:
            c.ellipse((mx0 + 30, my0 + 24, mx0 + 80, my0 + 74), (176, 150, 128))
        c.rect((dx, top + 104, dx + w * 0.14, ground), (70, 52, 44))
        c.rect((dx + 10, top + 118, dx + w * 0.14 - 10, ground - 70), (150, 170, 176))
        if ctx.n > 2:
            with c.element("door"):
                fit = fit_size(v["target"] if not twin else "PULL", family, w * 0.14 - 28, 22, 7)
                c.text((dx + w * 0.07, top + 160), v["target"] if not twin else "PULL", (family, fit), (32, 40, 46), anchor="mm")
        for i, line in enumerate(extras):
            c.text((wx0 + 24, top + 128 + 22 * i), line, ("plain", 15), (96, 72, 52), anchor="lm")
        with c.element("target"):
            c.text((w / 2, top + 43), v["target"], (family, px), glow, anchor="mm")
        tall = int(h - ground)
        c.paste(surface("stone", (w, tall + 1), seed + 2, (58, 60, 66) if not twin else (128, 122, 116)), (0, ground))
        if not twin:
            mirror = c.layer((w, tall))
            with mirror.element("pool"):
                mirror.text((w / 2, tall * 0.5), v["target"], (family, px), glow, anchor="mm")
            streak = 0.75 + 0.25 * np.sin(np.arange(h) / 2.3)[:, None] * np.ones((1, w))
            c.put(mirror, (0, ground), flip="v", blur=1.6, opacity=0.6, clip=streak)

    return Design(
        size, draw, edit, {}, {},
        target_region=["lit name above the shop", "fascia lettering, {where}", "shop sign in the upper part"],
        nodes=[
            NodeSpec(
                "pool", "physical_reflection",
                region=["wet pavement before the shop", "upside-down glow on the wet slabs", "streaky light on the ground, {where}"],
                clean=["the ground in front", "lower strip of the picture", "paved area, {where}"],
                update=["the wet slabs throw back “{new}”, upside down and blurred", "replace the glowing “{old}” on the ground by that of “{new}”", "flip the new lettering into the puddled paving"],
                reason=["wet stone throws back the lit letters above it", "light from the fascia reaches the eye by way of the ground too", "the paving shines and carries an image of the sign"],
                anon=["a shiny surface throws back what is lit above it", "light from the edited element arrives a second time by another way", "an optical image exists of whatever shines there"],
            ),
            NodeSpec(
                "mirror", "spatial_mirror",
                region=["wall mirror inside the shop", "reversed letters in the framed mirror", "looking glass behind the pane, {where}"],
                clean=["framed panel inside", "framed shape in the {where}", "pale panel behind the glass"],
                update=["the mirror spells “{new}” from right to left", "put reversed letters of “{new}” into the frame", "laterally reversed “{old}” turns into reversed “{new}”"],
                reason=["the mirror faces the window and repeats the shop's name reversed", "whoever renames the shop renames it in its own mirror", "a mirror repeats the lettering opposite to it"],
                anon=["a device that repeats its surroundings reversed shows the edited content", "a reversed double of the edited element exists", "content is doubled by a reversing surface"],
            ),
            NodeSpec(
                "door", "spatial_repetition",
                region=["small name on the glass door", "door lettering", "name on the entrance, {where}"],
                clean=["small text on the entrance", "little text at the {where}", "lettering at eye level"],
                update=["“{new}” goes on the door too", "scrape “{old}” off the door and letter “{new}”", "door glass: {old} → {new}"],
                reason=["the shop has one name, on the fascia and on the door", "the door repeats the fascia in small", "a customer would wonder at two names on one shop"],
                anon=["a name occurs twice and denotes one thing", "the same words stand in a second place", "a smaller double of the text exists"],
            ),
        ],
        edges=[EdgeSpec("pool", "mirror", "same lettering", ["both images show one fascia", "ground and mirror cannot show two names"]),
               EdgeSpec("mirror", "door", "same name", ["mirror and door give one name", "door and mirror agree on the name"])],
    )  # fmt: skip


@template(
    "scenes_carton", nodes=("physical_perspective", "physical_occlusion", "spatial_repetition"),
    edits=("brand", "word", "place", "fruit"), min_nodes=2,
)  # fmt: skip
def carton(ctx: Ctx) -> Design:
    """A carton seen at an angle: name on front and slanted side, a second carton half hidden behind."""
    edit = ctx.edit()
    size, seed, pal = ctx.size("wide"), ctx.seed(), ctx.palette()
    w, h = size
    family, body = ctx.rng.choice(["slab-bold", "office-bold", "cafe-bold", "novel-bold"]), ctx.face("sans")
    left = ctx.rng.uniform(0.26, 0.34) * w
    fw, fh = w * 0.34, h * 0.5
    y0 = h * 0.32
    extras, net = ctx.copy(min(4, ctx.distractors)), ctx.rng.choice(["250 g", "12 pieces", "0.5 l"])
    px = min(fit_size(t.text, family, fw - 40, 60 if ctx.salient else 48) for t in (edit.old, edit.new))

    def face_of(text: str | None, element: str, color: tuple[int, ...], wide: int) -> Canvas:
        c = Canvas((wide, int(fh)), color)
        c.rect((0, 0, wide, 14), pal.accent)
        if text:
            with c.element(element):
                c.text((wide / 2, fh * 0.3), text, (family, fit_size(text, family, wide - 36, px)), pal.ink, anchor="mm")
        c.ellipse((wide / 2 - 34, fh * 0.48, wide / 2 + 34, fh * 0.48 + 68), pal.accent2)
        c.ellipse((wide / 2 - 20, fh * 0.48 + 12, wide / 2 + 12, fh * 0.48 + 40), pal.panel)
        c.text((wide / 2, fh - 22), net, (body, 17), pal.ink, anchor="mm")
        return c

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(surface("plaster", size, seed))
        floor = int(h * 0.26)
        c.paste(surface("wood", (w, floor), seed + 1), (0, h - floor))
        text = v["target"]
        other = None if twin else text
        hidden = left + fw / 2 + 8  # the front edge runs through the middle of the rear name
        if ctx.n > 1:  # the second carton stands behind; its first letters are covered
            behind = face_of(other, "peep", tuple(round(x * 0.9) for x in pal.bg), int(fw))
            sub = c.layer()
            sub.put(behind, (hidden, y0 - 46))
            ahead = np.ones((h, w))
            ahead[int(y0) - 20 :, : int(left + fw) + 2] = 0
            c.put(sub, clip=ahead)
        sh = c.layer()
        sh.polygon([(left - 80, y0 + fh), (left + fw, y0 + fh), (left + fw + 60, y0 + fh + 22), (left - 30, y0 + fh + 26)], (0, 0, 0))
        c.put(sh, blur=7, opacity=0.35)
        side = face_of(other, "side", tuple(round(x * 0.82) for x in pal.bg), int(fw * 0.9))
        c.warp(side, [(left - w * 0.17, y0 + h * 0.07), (left, y0), (left, y0 + fh), (left - w * 0.17, y0 + fh - h * 0.06)])
        front = face_of(None, "", pal.bg, int(fw))
        c.put(front, (left, y0))
        with c.element("target"):
            c.text((left + fw / 2, y0 + fh * 0.3), text, (family, px), pal.ink, anchor="mm")
        c.polygon([(left - w * 0.17, y0 + h * 0.07), (left, y0), (left + fw, y0), (left + fw - w * 0.13, y0 + h * 0.035 - 22)], pal.panel)
        if ctx.n > 2:
            cx = w * 0.84
            c.rect((cx - 70, h * 0.74, cx + 70, h * 0.74 + 62), (252, 250, 244), outline=(170, 164, 150), width=1)
            with c.element("card"):
                label = text if not twin else "TEA TIME"
                c.text((cx, h * 0.74 + 20), label, (family, fit_size(label, family, 122, 22, 8)), (50, 46, 44), anchor="mm")
            c.text((cx, h * 0.74 + 45), "fresh in", (body, 14), (120, 112, 104), anchor="mm")
        for i, line in enumerate(extras):
            c.text((24, 28 + 22 * i), line, (body, 15), (92, 88, 84), anchor="lm")

    return Design(
        size, draw, edit, {}, {},
        target_region=["name on the front of the carton", "front label, {where}", "large print on the box"],
        nodes=[
            NodeSpec(
                "side", "physical_perspective",
                region=["narrow side of the carton that recedes", "slanted side panel with the name", "foreshortened face of the box, {where}"],
                clean=["the narrower face", "tapering face at the {where}", "face to the left of the front"],
                update=["set “{new}” on the side, running with its vanishing lines", "print the new name foreshortened on the receding face", "squeeze “{new}” into the taper of the side"],
                reason=["front and side carry one name and the side is seen at a slant", "the side recedes, so its letters shrink towards the back", "new letters on the side have to lean with its edges"],
                anon=["text on a receding plane obeys the plane's vanishing lines", "a tilted double of the text is foreshortened", "a plane seen at a slant shortens what is put on it"],
            ),
            NodeSpec(
                "peep", "physical_occlusion",
                region=["rear carton whose name is half covered", "end of the name that peeps out behind", "second box behind the first, {where}"],
                clean=["thing in the background", "partly visible shape, {where}", "what shows beyond the edge of the front object"],
                update=["only the end of “{new}” shows past the front box", "letters of the rear name that stick out are those of “{new}”", "let the uncovered rest of “{new}” appear behind"],
                reason=["the rear box bears the same name, its beginning covered by the front one", "what sticks out is the tail of the name, and “{new}” has another tail", "the cover ends at one place, but there other letters begin"],
                anon=["something in front hides part of a double, so other pieces of it show", "the visible rest depends on where the cover ends", "a covered text reveals another remainder"],
            ),
            NodeSpec(
                "card", "spatial_repetition",
                region=["price rail card beside the boxes", "shelf card with the name", "small card, {where}"],
                clean=["a small white card", "card in the {where}", "paper beside the main object"],
                update=["letter the card “{new}”", "the shelf card has to name {new}", "card: {new} for {old}"],
                reason=["the card announces the goods by name", "what stands on the shelf is called {new}, so the card is too", "card and carton name one article"],
                anon=["a caption repeats the name of what it stands beside", "one thing is named twice", "the label of a place repeats the label of a thing"],
            ),
        ],
        edges=[EdgeSpec("side", "peep", "same article", ["both boxes come from one print run", "side and rear name are one"]),
               EdgeSpec("peep", "card", "same name", ["card and rear box carry one name", "the card stands for all boxes"])],
    )  # fmt: skip
