"""Scenes of the table that set off several subtypes at once: a chalked menu, a printed one."""

from __future__ import annotations

import numpy as np

from icgforge.synth.base import Ctx, Design, EdgeSpec, Fact, NodeSpec, Values, template
from icgforge.synth.canvas import Canvas, font
from icgforge.synth.style_material import letters, shade, soften, tint
from icgforge.synth.textures import surface
from icgforge.synth.words import DISHES

CHALK = ((240, 238, 226), (246, 222, 140), (236, 184, 176), (176, 214, 232))


def _haze(
    c: Canvas, at: tuple[float, float], text: str, face: tuple[str, int], color: tuple[int, int, int]
) -> None:
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
    face, hand = (
        ctx.rng.choice(["marker", "comic-bold", "brush"]),
        ctx.rng.choice(["diner", "lively", "brush"]),
    )
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
        c.text(
            (60, y + 54),
            f"at {sign}{rate:g} to the dollar" if not twin else f"{sign}, for vouchers",
            (face, px - 6),
            (190, 194, 188),
            anchor="lm",
        )
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
                update=["below the stroke, ${a_total} takes the place of ${b_total}", "chalk up ${a_total} for the three together", "the sum rises or falls from ${b_total} to ${a_total}"],
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
    edit = ctx.edit(
        lambda a, b: (
            abs(font(*face).getlength(a.text) - font(*face).getlength(b.text)) > 20
            and a["allergens"] != b["allergens"]
        )
    )
    others = ctx.rng.sample(
        [d for d in DISHES if d not in (edit.old.text, edit.new.text)], 2 + min(1, ctx.distractors // 3)
    )
    slot = ctx.rng.randrange(len(others) + 1)
    title = ctx.rng.choice(["Noon card", "From the stove", "Little kitchen", "What there is"])
    prices = [ctx.rng.randrange(7, 30) for _ in range(len(others) + 1)]
    hues = {
        "meat": (160, 58, 52),
        "plant": (88, 142, 72),
        "fish": (58, 122, 168),
        "egg": (222, 178, 62),
        "sweet": (176, 98, 150),
    }
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
                    shade(
                        c,
                        0.35 * np.clip(np.roll(soften(cover, 2), (3, 3), (0, 1)) - cover, 0, 1)
                        - 0.16 * np.clip(soften(cover, 5) - cover, 0, 1),
                    )
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
                c.text(
                    (84, y + 32),
                    f"contains: {said}" if not (twin and own) else "allergens: ask the kitchen",
                    (face[0], 16),
                    (128, 108, 92),
                    anchor="lm",
                )
            if ctx.n > 3 or not own:
                family = v["family"] if own else facts[1] if facts else "meat"
                with c.element("dot" if own else f"o{i}"):
                    c.ellipse((58, y - 7, 72, y + 7), hues[family] if not (twin and own) else (170, 164, 156))
        for k, (name, hue) in enumerate(hues.items()):
            kx = 66 + k * (w - 120) / 5
            c.ellipse((kx, h - 78, kx + 12, h - 66), hue)
            c.text((kx + 18, h - 72), name, (face[0], 14), (120, 104, 90), anchor="lm")
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
                update=["“contains: {b_allergens}” gives way to “contains: {a_allergens}”", "declare {a_allergens}", "list what {new} holds: {a_allergens}"],
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
