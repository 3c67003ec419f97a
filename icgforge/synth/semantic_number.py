"""Numbers that are worked out from the edited one: offers, invoices, recipes, scores."""

from __future__ import annotations

from icgforge.synth.base import Ctx, Design, Values, template
from icgforge.synth.canvas import Canvas
from icgforge.synth.icons import glyph
from icgforge.synth.parts import edge, fact_pair, fit, ink_on, node, notes, paper, planks, shade
from icgforge.synth.scenery import mix

# One call, one stroke, one row a line.
# fmt: off

NUM = "semantic_numerical"


@template("semantic_num_shelf", nodes=(NUM, NUM), edits=("percent",))
def shelf(ctx: Ctx) -> Design:
    """A shelf card: list price, reduction, price to pay, saving."""
    edit, pal, size = ctx.edit(), ctx.palette(), ctx.size("wide")
    w, h = size
    head, body = ctx.face("display"), ctx.face("sans")
    goods = ctx.rng.choice([("Walking boots", "shoe"), ("Clay jug", "vase"), ("Road bike", "bicycle"), ("Tennis set", "racket"), ("Long player", "record"), ("Basket ball", "ball")])
    full = ctx.rng.randrange(80, 420, 20)
    pay, saved = ([full * (100 - i["value"]) // 100 for i in (edit.old, edit.new)], [full * i["value"] // 100 for i in (edit.old, edit.new)])
    left, seed = ctx.chance(0.5), ctx.seed()
    art = glyph(goods[1], round(h * 0.42))
    big = 54 if ctx.salient else 34
    lines = ctx.copy(ctx.distractors)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        planks(c, (0, 0, w, h), (150, 112, 78), seed, 7)
        x0, x1 = (40, w * 0.46) if left else (w * 0.54, w - 40)
        a0, a1 = (w * 0.5, w - 40) if left else (40, w * 0.5)
        shade(c, (x0, 50, x1, h - 50))
        paper(c, (x0, 50, x1, h - 50), pal.bg, seed + 9)
        c.paste(art, ((x0 + x1) / 2 - art.width / 2, 90))
        c.text(((x0 + x1) / 2, h * 0.7), goods[0], (head, 30), pal.ink, anchor="mm")
        notes(c, lines[:3], (x0, h * 0.75, x1, h - 60), body, pal.muted, 12)
        shade(c, (a0, 70, a1, h - 70))
        c.rect((a0, 70, a1, h - 70), pal.panel, radius=10)
        mid, top = (a0 + a1) / 2, 120 if ctx.far else 200
        c.rect((a0, 70, a1, 80), pal.accent)
        c.text((mid, 200 if ctx.far else 118), f"List price ${full}", (body, 22), pal.muted, anchor="mm")
        with c.element("target"):
            c.text((mid - 10, top), v["target"], (head, 60), pal.accent, anchor="rm")
        c.text((mid + 2, top), "off today", (body, 24), pal.ink, anchor="lm")
        with c.element("pay"):
            c.text((mid, h * 0.58), v["pay"], (head, big), pal.ink, anchor="mm")
        if ctx.n > 1:
            with c.element("saved"):
                c.text((mid, h * 0.7), v["saved"], (body, 22 if ctx.salient else 17), pal.ink if ctx.salient else pal.muted, anchor="mm")
        notes(c, lines[3:], (a0, h * 0.75, a1, h - 80), body, pal.muted, 12)

    both = zip(pay, saved, strict=True)
    before, after = ({"pay": f"Now ${p}", "saved": f"You keep ${s}"} for p, s in both)
    return Design(
        size, draw, edit, before=before, after=after,
        twin={"pay": f"Item no. {full * 7 + 13}", "saved": f"Shelf {full % 7 + 2}"},
        target_region=["reduction on the price card, {where}", "percentage beside “off today”", "figure at the {where} of the shelf card"],
        nodes=[
            node("pay", NUM, "amount to pay on the shelf card, {where}|the price after reduction, {where}|line that says what the item costs now",
                 "line of larger text on the card, {where}|text set in the {where}, below others|one of the lines of the card, {where}",
                 "“{b_pay}” has to say “{a_pay}”|must be worked out again: {a_pay}|goes from {b_pay} to {a_pay}",
                 f"${full} less {{new}} gives another amount than ${full} less {{old}}|the customer pays the list price minus the reduction|with {{new}} taken off ${full}, the old amount is wrong",
                 "an amount results from a fixed amount and the edited share|it is the remainder once the edited share is taken away|the edited share enters a subtraction whose result is printed"),
            node("saved", NUM, "saving named on the card, {where}|the “you keep” line, {where}|small line with the money saved, {where}",
                 "smaller line of the card, {where}|short line near the bottom of the card|a minor line, {where}",
                 "should become “{a_saved}”|{b_saved} turns into {a_saved}|correct the sum to {a_saved}",
                 f"{{new}} of ${full} is not what {{old}} of ${full} was|the saving is that share of the list price|the sum saved follows from the percentage",
                 "it is the edited share of a fixed amount, written out|a product of the edited share and something that stays|the share was also given as an absolute sum"),
        ],
        edges=[edge("pay", "saved", "sum", "amount paid and saving add up to the list price|together they make the full price|what is paid plus what is kept is the list price")],
        facts=[
            fact_pair("percent_off", "pay", ({"list": full, "percent": i["value"], "result": p} for i, p in zip((edit.old, edit.new), pay, strict=True))),
            fact_pair("ratio", "saved", ({"part": s, "whole": full, "percent": i["value"]} for i, s in zip((edit.old, edit.new), saved, strict=True))),
        ],
    )


@template("semantic_num_invoice", nodes=(NUM, NUM, NUM), edits=("number", "price"))
def invoice(ctx: Ctx) -> Design:
    """An invoice: quantity times unit price, subtotal, total with delivery."""
    edit, pal, size = ctx.edit(), ctx.palette(dark=False), ctx.size("tall")
    w, h = size
    head, body = ctx.face("serif"), ctx.face("mono")
    unit_edit = ctx.kind == "price"
    factor = ctx.rng.choice([2, 3, 5, 6, 7, 8])
    things = ctx.rng.sample(["Oak panels", "Ceiling lamps", "Floor tiles", "Door handles", "Paint tins", "Shelf boards", "Cable drums"], 5)
    other = [(ctx.rng.randrange(101, 109), ctx.rng.randrange(3, 9)) for _ in range(ctx.rng.choice([2, 3, 4]))]
    ship, at = ctx.rng.choice([15, 25, 35, 45]), ctx.rng.randrange(len(other) + 1)
    lines = ctx.copy(ctx.distractors)
    amounts = [i["value"] * factor for i in (edit.old, edit.new)]
    rest = sum(a * b for a, b in other)
    subs = [a + rest for a in amounts]
    seed = ctx.seed()
    f_sum = 26 if ctx.salient else 17

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        paper(c, (0, 0, w, h), mix(pal.bg, (90, 84, 80), 0.25), seed)
        shade(c, (36, 30, w - 36, h - 30), 0)
        c.rect((36, 30, w - 36, h - 30), (253, 252, 249))
        c.text((66, 62), "Invoice", (head, 44), pal.accent)
        c.text((w - 66, 84), f"No. {seed % 900 + 100}", (body, 15), pal.muted, anchor="ra")
        c.rect((66, 140, w - 66, 142), pal.ink)
        xs = (w * 0.56, w * 0.73, w - 66)
        for x, t in zip(xs, ("Qty", "Each", "Amount"), strict=True):
            c.text((x, 152), t, (body, 15), pal.muted, anchor="ra")
        rows: list[tuple[str, str, str, str, bool]] = []
        for k in range(len(other) + 1):
            if k == at:
                q, u = (str(factor), v["target"]) if unit_edit else (v["target"], f"${factor}")
                rows.append((things[k], q, u, v["amount"], True))
            else:
                a, b = other[k - (k > at)]
                rows.append((things[k], str(b), f"${a}", f"${a * b}", False))
        for k, (name, q, u, amount, ours) in enumerate(rows):
            y: float = 196 + 46 * k
            c.text((66, y), name, (body, 17), pal.ink)
            for x, t, is_target in ((xs[0], q, not unit_edit), (xs[1], u, unit_edit)):
                if ours and is_target:
                    with c.element("target"):
                        c.text((x, y), t, (body, 17), pal.ink, anchor="ra")
                else:
                    c.text((x, y), t, (body, 17), pal.ink, anchor="ra")
            if ours:
                with c.element("amount"):
                    c.text((xs[2], y), amount, (body, 17), pal.ink, anchor="ra")
            else:
                c.text((xs[2], y), amount, (body, 17), pal.ink, anchor="ra")
            c.rect((66, y + 30, w - 66, y + 31), pal.panel)
        y = h * 0.66 - 10 if ctx.far else 196 + 46 * len(rows) + 14
        for k, (key, label) in enumerate((("sub", "Goods"), ("", "Delivery"), ("total", "To pay"))):
            if key and ctx.n < {"sub": 2, "total": 3}[key]:
                continue
            yy = y + 40 * k
            c.text((w * 0.46, yy), label, (body, 17), pal.muted)
            if key:
                with c.element(key):
                    c.text((w - 66, yy), v[key], (body, f_sum if key == "total" else 18), pal.ink, anchor="ra")
            else:
                c.text((w - 66, yy), f"${ship}", (body, 18), pal.ink, anchor="ra")
        notes(c, lines, (60, h - 120, w - 60, h - 50), head, pal.muted, 13)

    def vals(k: int) -> dict[str, str]:
        return {"amount": f"${amounts[k]}", "sub": f"${subs[k]}", "total": f"${subs[k] + ship}"}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1),
        twin={"amount": "free", "sub": "later", "total": "by quote"},
        target_region=["one figure in the item table, {where}", "entry of the row “" + things[at] + "”", "cell in the {where} of the invoice"],
        nodes=[
            node("amount", NUM, f"amount at the end of the row “{things[at]}”|last cell of that row, {{where}}|row amount in the right-hand column, {{where}}",
                 "cell at the end of a table row, {where}|right-most entry of one row|an entry in the last column",
                 "enter {a_amount} where {b_amount} stands|{b_amount} → {a_amount}|the row amount is recalculated to {a_amount}",
                 "quantity times unit price no longer gives {b_amount}|each row multiplies its two figures|the row's product changes with one of its factors",
                 "one factor of a multiplication is edited and its product is printed|a product depends on the edited factor|multiplying with the new factor gives something else"),
            node("sub", NUM, "sum of goods under the table|the “Goods” line, {where}|subtotal in the block of sums, {where}",
                 "first line of the block at the {where}|an entry under the table, {where}|a right-aligned entry, {where}",
                 "add up again, {a_sub} in place of {b_sub}|the sum reads {a_sub}|{b_sub} is replaced by {a_sub}",
                 "it adds up all row amounts, one of which changes|the row amounts no longer sum to {b_sub}|a changed row carries over into the sum",
                 "a sum contains a term that follows from the edit|the total of several terms moves with one of them|addition passes the change on"),
            node("total", NUM, "final figure “To pay”, {where}|amount due at the end, {where}|bottom line of the invoice",
                 "last line of the block, {where}|closing entry of the page, {where}|entry below two others, {where}",
                 "the amount due is now {a_total}|set {a_total} instead of {b_total}|change from {b_total} to {a_total}",
                 f"goods plus ${ship} delivery make another total|the total is the goods and the delivery|whatever is charged for goods ends up in the amount due",
                 "a final sum builds on an earlier sum that moves|the last result is one further addition away|a chain of sums ends here"),
        ],
        edges=[edge("amount", "sub", "sum", "the row amount is a term of the subtotal|the subtotal contains this row|one is added into the other"),
               edge("sub", "total", "sum", "the total is subtotal plus delivery|both differ by the delivery charge|delivery is all that lies between them")],
        facts=[
            fact_pair("product", "amount", ({"factors": [i["value"], factor], "result": a} for i, a in zip((edit.old, edit.new), amounts, strict=True))),
            fact_pair("sum", "sub", ({"terms": [a, *(x * y for x, y in other)], "result": s} for a, s in zip(amounts, subs, strict=True))),
            fact_pair("sum", "total", ({"terms": [s, ship], "result": s + ship} for s in subs)),
        ],
    )


@template("semantic_num_recipe", nodes=(NUM, NUM, NUM), edits=("number",))
def recipe(ctx: Ctx) -> Design:
    """A recipe card: amounts scale with the number of pieces."""
    edit, pal, size = ctx.edit(), ctx.palette(dark=False), ctx.size()
    w, h = size
    head, hand = ctx.face("script"), ctx.face("hand")
    what, picture = ctx.rng.choice([("almond biscuits", "croissant"), ("berry tartlets", "tart"), ("plum dumplings", "dumpling"), ("cheese rolls", "bread"), ("apple fritters", "apple")])
    stuff = ctx.rng.sample([("flour", 11), ("sugar", 6), ("butter", 7), ("milk", 9), ("oats", 8)], 3)
    icon_, seed = glyph(picture, 130), ctx.seed()
    lines = ctx.copy(ctx.distractors)
    fs, wide = 25 if ctx.salient else 19, w > h
    method = ctx.rng.sample(["Rub the fat into the flour.", "Rest it in a cool place.", "Shape with wet hands.", "Bake until golden.", "Dust while still warm."], 3)
    fixed = ctx.rng.sample(["a pinch of salt", "zest of a lemon", "one vanilla pod", "a dash of rum"], 2)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        paper(c, (0, 0, w, h), (176, 196, 190), seed)
        for k in range(0, w, 40):
            c.rect((k, 0, k + 20, h), (255, 255, 255, 60))
        shade(c, (46, 40, w - 46, h - 40))
        paper(c, (46, 40, w - 46, h - 40), pal.bg, seed + 1)
        c.text((80, 92), what.capitalize(), (head, fit([what.capitalize()], head, w - 300, 46)), pal.accent, anchor="lm")
        c.paste(icon_, (w - 46 - 160, 50))
        y0 = h - 150 if ctx.far else 150
        c.text((80, y0), "For", (hand, 24), pal.ink, anchor="lm")
        with c.element("target"):
            c.text((126, y0), v["target"], (hand, 32), pal.ink, anchor="lm")
        c.text((180, y0), "pieces", (hand, 24), pal.ink, anchor="lm")
        y, step = (150 if ctx.far else 210), min(46, (h - 330) / 4.2)
        x_name = 116 + c.text_size("two spoons" if twin else "0000 g", (hand, fs))[0]
        for k, text in enumerate(method):
            c.text((w * 0.56 if wide else 104, (y - 8 if wide else y + 5.2 * step) + 30 * k), text, (hand, 17), pal.muted, anchor="lm")
        rows = [(f"w{k}", f"of {name}") for k, (name, _) in enumerate(stuff[: ctx.n])] + [("", t) for t in fixed]
        for k, (key, text) in enumerate(rows):
            yy = y + k * step
            c.ellipse((80, yy - 4, 88, yy + 4), pal.accent2)
            if key:
                with c.element(key):
                    c.text((104, yy), v[key], (hand, fs), pal.ink, anchor="lm")
                c.text((x_name, yy), text, (hand, fs), pal.ink, anchor="lm")
            else:
                c.text((104, yy), text, (hand, 20), pal.ink, anchor="lm")
        notes(c, lines, (60, h - 112, w - 60, h - 46), hand, pal.muted, 13)

    def vals(n: int) -> dict[str, str]:
        return {f"w{k}": f"{n * per} g" for k, (_, per) in enumerate(stuff)}

    nodes = [
        node(f"w{k}", NUM, f"amount of {name} in the ingredient list|grams of {name}, {{where}}|weight written before “of {name}”",
             "entry of a handwritten list, {where}|beginning of one list line, {where}|list line, {where}",
             f"weigh {{a_w{k}}} of {name} rather than {{b_w{k}}}|{{b_w{k}}} scales to {{a_w{k}}}|rewrite as {{a_w{k}}}",
             f"{name} is given for {{old}} pieces at {per} g each, now {{new}} are made|the batch grows or shrinks to {{new}}, {name} with it|ingredients are in proportion to the number of pieces",
             "an amount is proportional to the edited count|scaling the batch scales each part of it|the ratio between the two has to stay")
        for k, (name, per) in enumerate(stuff)
    ]
    return Design(
        size, draw, edit, before=vals(edit.old["value"]), after=vals(edit.new["value"]),
        twin={"w0": "a cup", "w1": "two spoons", "w2": "some"},
        target_region=["count between “For” and “pieces”", "number of pieces on the recipe card, {where}", "handwritten figure, {where}"],
        nodes=nodes,
        edges=[edge("w0", "w1", "proportion", "the mixing ratio of both ingredients stays|both scale by one factor|their proportion is the recipe"),
               edge("w1", "w2", "proportion", "neither may scale without the other|one factor for both amounts|the recipe fixes their ratio")],
        facts=[fact_pair("product", f"w{k}", ({"factors": [i["value"], per], "result": i["value"] * per} for i in (edit.old, edit.new))) for k, (_, per) in enumerate(stuff)],
    )


@template("semantic_num_score", nodes=(NUM, NUM), edits=("number",))
def score(ctx: Ctx) -> Design:
    """A score board: points by period, total, lead."""
    edit, size = ctx.edit(), ctx.size("wide")
    w, h = size
    led, sans = ctx.face("mono"), ctx.face("condensed")
    teams = ctx.rng.sample(["Rovers", "Herons", "Miners", "Comets", "Foxes", "Harbour"], 2)
    mine, theirs = ctx.rng.sample(range(98, 140), 2), ctx.rng.sample(range(12, 60), 3)
    other = [ctx.rng.randrange(101, 109) for _ in range(2)] if ctx.chance(0.3) else [7, 9]
    total = [i["value"] + sum(other) for i in (edit.old, edit.new)]
    theirs = [*[x for x in theirs if str(x) != edit.old.text][:2], 8]
    rival = sum(theirs)
    board, lamp = ctx.rng.choice([((20, 24, 30), (255, 176, 46)), ((14, 34, 30), (126, 240, 130)), ((36, 18, 24), (255, 110, 90))])
    lines, at, seed = ctx.copy(ctx.distractors), ctx.rng.randrange(3), ctx.seed()
    grass = ctx.rng.choice([(70, 130, 80), (88, 120, 150), (150, 120, 90)])
    del mine

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        paper(c, (0, 0, w, h), mix(grass, (200, 220, 240), 0.55), seed)
        paper(c, (0, h * 0.78, w, h), grass, seed + 1, 6)
        for x in (w * 0.2, w * 0.8):
            c.rect((x - 9, h * 0.5, x + 9, h * 0.92), (92, 92, 98))
        c.rect((40, 40, w - 40, h * 0.72), (70, 74, 82), radius=14)
        c.rect((52, 52, w - 52, h * 0.72 - 12), board, radius=8)
        xs = [w * (0.4 + 0.105 * k) for k in range(3)] + [w * 0.8]
        for x, t in zip(xs, ("I", "II", "III", "Total"), strict=True):
            c.text((x, 84), t, (sans, 22), (214, 214, 210), anchor="mm")
        for row, name in enumerate(teams):
            y = 150 + row * 80
            c.text((80, y), name, (sans + "-bold", 32), (240, 240, 236), anchor="lm")
            for k in range(3):
                if row == 0 and k == at:
                    with c.element("target"):
                        c.text((xs[k], y), v["target"], (led, 34), lamp, anchor="mm")
                else:
                    value = theirs[k] if row else other[k - (k > at)]
                    c.text((xs[k], y), str(value), (led, 34), lamp, anchor="mm")
            if row:
                c.text((xs[3], y), str(rival), (led, 48), lamp, anchor="mm")
            else:
                with c.element("total"):
                    c.text((xs[3], y), v["total"], (led, 48), lamp, anchor="mm")
        if ctx.n == 1:
            c.text((w / 2, h * 0.72 - 42), "Welcome to the ground", (sans, 22), mix(lamp, board, 0.3), anchor="mm")
        else:
            with c.element("lead"):
                c.text((w / 2, h * 0.72 - 42), v["lead"], (sans, 30 if ctx.salient else 20), lamp if ctx.salient else mix(lamp, board, 0.3), anchor="mm")
        notes(c, lines, (50, h * 0.8, w - 50, h - 14), sans, ink_on(grass), 15)

    def lead(t: int) -> str:
        gap = t - rival
        return f"{teams[0] if gap > 0 else teams[1]} lead by {abs(gap)}" if gap else "Level"

    return Design(
        size, draw, edit, before={"total": str(total[0]), "lead": lead(total[0])}, after={"total": str(total[1]), "lead": lead(total[1])},
        twin={"total": "--", "lead": "Refreshments at gate B"},
        target_region=[f"points of the {teams[0]} in one period, {{where}}", "lit figure in the upper row", "one score on the board, {where}"],
        nodes=[
            node("total", NUM, f"total of the {teams[0]}, {{where}}|sum at the end of the upper row|lit figure under “Total”, upper row",
                 "right-hand lit entry, {where}|entry at the end of a row, {where}|a lamp display, {where}",
                 "light up {a_total}, not {b_total}|the board's sum goes from {b_total} to {a_total}|show {a_total}",
                 "the three periods of that row no longer add to {b_total}|it is the row's periods taken together|changing one period's points shifts the row sum",
                 "a row's sum includes the edited term|the terms in line with it no longer match their sum|the end of a row counts all of it"),
            node("lead", NUM, "message about the lead, {where}|line naming who leads and by how much|text below both rows of scores",
                 "message line at the {where} of the board|a line in the lower part|text under two rows",
                 "has to announce “{a_lead}”|“{b_lead}” becomes “{a_lead}”|update the message to: {a_lead}",
                 f"the gap to {rival} is another one once the total moves|the lead is the difference of both totals|subtracting the rival's {rival} gives a new margin",
                 "a margin is the difference of two sums, one of which shifts|the comparison of both sides comes out differently|a difference downstream of the edit is spelled out"),
        ],
        edges=[edge("total", "lead", "difference", "the margin is this total minus the rival's|lead and total must tell the same margin|one is computed from the other")],
        facts=[fact_pair("sum", "total", ({"terms": [i["value"], *other], "result": t} for i, t in zip((edit.old, edit.new), total, strict=True))),
               fact_pair("difference", "lead", ({"start": min(rival, t), "end": max(rival, t), "result": abs(t - rival)} for t in total))],
    )
