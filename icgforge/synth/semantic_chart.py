"""Charts, gauges and bars that draw the edited value."""

from __future__ import annotations

import math

from icgforge.synth.base import Ctx, Design, Fact, Values, template
from icgforge.synth.canvas import Canvas
from icgforge.synth.parts import edge, fact_pair, fit, node, notes, paper, shade
from icgforge.synth.scenery import mix

# One call, one stroke, one row a line.
# fmt: off

VIS, NUM = "semantic_visual_data", "semantic_numerical"


@template("semantic_chart_bars", nodes=(VIS, NUM), edits=("number",))
def bars(ctx: Ctx) -> Design:
    """A bar chart on a slide; one label is edited; below it the sum of all bars."""
    edit, pal, size = ctx.edit(), ctx.palette(), ctx.size("wide")
    w, h = size
    head, sans = ctx.face("sans"), ctx.face("sans")
    lines = ctx.copy(ctx.distractors)
    topic, unit, names = ctx.rng.choice([
        ("Visitors by gate", "visitors", ["North", "East", "South", "West", "River"]),
        ("Loans by shelf", "loans", ["Crime", "Travel", "Poetry", "Comics", "Maps"]),
        ("Bikes repaired", "bikes", ["Jan", "Feb", "Mar", "Apr", "May"]),
        ("Trees planted", "trees", ["Oak", "Elm", "Lime", "Ash", "Plane"]),
    ])
    k = ctx.rng.choice([4, 5])
    at = ctx.rng.randrange(k)
    values = [x for x in ctx.rng.sample(range(15, 99), 12) if x not in (edit.old["value"], edit.new["value"])][: k - 1]
    rest, x0, x1, base, scale = sum(values), 80, w - 60, h - 120, (h - 270) / 100
    labels_below = ctx.far

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.rect((0, 0, w, h), pal.bg)
        c.text((60, 36), topic, (head + "-bold", 32), pal.ink)
        for g in range(0, 101, 25):
            c.rect((x0, base - g * scale, x1, base - g * scale + 1), mix(pal.bg, pal.muted, 0.4))
            c.text((x0 - 10, base - g * scale), str(g), (sans, 13), pal.muted, anchor="rm")
        step = (x1 - x0) / k
        for i in range(k):
            val = v["bar"] if i == at else values[i - (i > at)]
            cx, top = x0 + step * (i + 0.5), base - val * scale
            if i == at:
                with c.element("bar"):
                    if twin:
                        c.rect((cx - step * 0.3, base - 8, cx + step * 0.3, base - 1), pal.panel)
                    else:
                        c.rect((cx - step * 0.3, top, cx + step * 0.3, base), pal.accent)
                with c.element("target"):
                    y = base + 46 if labels_below else top - 14
                    c.text((cx, y), v["target"], (sans + "-bold", 22), pal.ink, anchor="mm")
            else:
                c.rect((cx - step * 0.3, top, cx + step * 0.3, base), pal.accent2)
                c.text((cx, base + 46 if labels_below else top - 14), str(val), (sans + "-bold", 22), pal.ink, anchor="mm")
            c.text((cx, base + 18), names[i], (sans, 17), pal.ink, anchor="mm")
        c.rect((x0, base, x1, base + 2), pal.ink)
        if ctx.n > 1:
            with c.element("sum"):
                c.text((w - 60, 58), v["sum"], (sans, 24 if ctx.salient else 17), pal.accent if ctx.salient else pal.muted, anchor="rm")
        notes(c, lines, (60, h - 56, w - 60, h - 10), sans, pal.muted, 13)

    def vals(i: int) -> dict[str, object]:
        n = (edit.old, edit.new)[i]["value"]
        return {"bar": n, "sum": f"{n + rest} {unit} in all"}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"sum": f"Source: {unit} office"},
        target_region=[f"value of “{names[at]}” in the chart", "one value label, {where}", "number that belongs to one bar, {where}"],
        nodes=[
            node("bar", VIS, f"bar of “{names[at]}”|the one bar in another colour, {{where}}|column above “{names[at]}”",
                 "one of the upright blocks, {where}|upright rectangle, {where}|coloured column, {where}",
                 "make it {a_bar} units high, no longer {b_bar}|its top moves from {b_bar} to {a_bar} on the scale|draw the column up to {a_bar}",
                 "height stands for the value, and the value is {new}|measured on the axis it still says {old}|a column for {new} ends at {new}",
                 "a length encodes the edited value|size on the scale has to follow the figure|the mark is drawn to scale"),
            node("sum", NUM, f"sum of all {unit}, {{where}}|“in all” remark in the corner|grand total beside the heading",
                 "text in the upper corner|right-aligned remark, {where}|a remark opposite the heading",
                 "count again: “{a_sum}”|“{b_sum}” is now “{a_sum}”|the corner reads “{a_sum}”",
                 f"the other bars make {rest}, and {{new}} comes on top|it adds up every label of the chart|{{old}} went into that total",
                 "everything in view is added up, the edited value included|the overall sum takes in the edited value|one summand has another size"),
        ],
        edges=[edge("bar", "sum", "sum", "the bar is one part of the total|all bars together give the total|total and bar heights must tally")],
        facts=[Fact("length", "bar", {"value": edit.old["value"]}, {"value": edit.new["value"]}),
               fact_pair("sum", "sum", ({"terms": [i["value"], *values], "result": i["value"] + rest} for i in (edit.old, edit.new)))],
    )


@template("semantic_chart_gauge", nodes=(VIS, NUM), edits=("percent", "number"))
def gauge(ctx: Ctx) -> Design:
    """A dial instrument with a digital reading and the rest to full."""
    edit, size = ctx.edit(), ctx.size("square")
    w, h = size
    sans, lines = ctx.face("condensed"), ctx.copy(ctx.distractors)
    pct = ctx.kind == "percent"
    title, rest_word = ctx.rng.choice([("Tank level", "still to fill"), ("Boiler load", "in reserve"), ("Battery", "to full charge"), ("Humidity", "to saturation")])
    pal, seed = ctx.palette(), ctx.seed()
    cx, cy, r = w / 2, h * 0.49, min(w, h) * 0.3
    hot = ctx.rng.choice([(206, 60, 48), (36, 120, 190), (46, 150, 96)])
    read_y = h * 0.9 if ctx.far else cy + r * 0.55

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        paper(c, (0, 0, w, h), mix(pal.panel, (90, 94, 100), 0.45), seed, 3)
        shade(c, (40, 30, w - 40, h - 26), 26, 8, 100)
        c.rect((40, 30, w - 40, h - 26), pal.bg, radius=26)
        for q, col in ((r * 1.12, mix(pal.ink, (120, 120, 120), 0.5)), (r * 1.06, pal.bg)):
            c.ellipse((cx - q, cy - q, cx + q, cy + q), col)
        c.arc((cx - r, cy - r, cx + r, cy + r), 150, 390, mix(pal.muted, pal.bg, 0.5), r * 0.1)
        for g in range(0, 101, 10):
            a = math.radians(150 + 2.4 * g)
            c.line([(cx + math.cos(a) * r * q, cy + math.sin(a) * r * q) for q in (0.78, 0.88)], pal.ink, 3)
            if g % 20 == 0:
                c.text((cx + math.cos(a) * r * 0.64, cy + math.sin(a) * r * 0.64), str(g), (sans, 20), pal.ink, anchor="mm")
        c.text((cx, 62), title, (sans + "-bold", 30), pal.ink, anchor="mm")
        with c.element("needle"):
            a = math.radians(270 if twin else 150 + 2.4 * v["value"])
            tip = (cx + math.cos(a) * r * 0.86, cy + math.sin(a) * r * 0.86)
            side = [(cx + math.cos(a + s) * r * 0.07, cy + math.sin(a + s) * r * 0.07) for s in (1.57, -1.57)]
            if twin:
                c.text((cx, cy - r * 0.4), "OFF", (sans, 30), hot, anchor="mm")
            else:
                c.polygon([tip, *side], hot)
        c.ellipse((cx - r * 0.09, cy - r * 0.09, cx + r * 0.09, cy + r * 0.09), pal.ink)
        with c.element("target"):
            c.text((cx, read_y), v["target"], (sans, 46), pal.accent, anchor="mm")
        if ctx.n > 1:
            with c.element("rest"):
                c.text((cx, h * 0.84 if not ctx.far else cy + r * 0.5), v["rest"], (sans, 24 if ctx.salient else 18), pal.ink if ctx.salient else pal.muted, anchor="mm")
        notes(c, lines[:3], (30, 2, w - 30, 28), sans, (250, 250, 246), 14)
        notes(c, lines[3:], (30, h - 24, w - 30, h - 2), sans, (250, 250, 246), 14)

    def vals(i: int) -> dict[str, object]:
        n = (edit.old, edit.new)[i]["value"]
        return {"value": n, "rest": f"{100 - n}{'%' if pct else ''} {rest_word}"}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"rest": "Service every spring"},
        target_region=["digital reading of the instrument, {where}", "the figure apart from the scale", "reading in big digits, {where}"],
        nodes=[
            node("needle", VIS, "pointer of the instrument|needle on the round scale|hand that points to {b_value}",
                 "pointed shape inside the circle|the slim triangle near the centre|a slender part within the disc",
                 "swing it from {b_value} to {a_value}|let it point to {a_value}|turn it until it meets {a_value} on the scale",
                 "digits and needle show one measurement, now {new}|it would still point at {old}|the scale mark for {new} is elsewhere",
                 "a direction on a scale displays the edited reading|an angle encodes the same reading|two displays share one measurement"),
            node("rest", NUM, f"what is left to a hundred, {{where}}|line ending in “{rest_word}”|remainder stated on the panel, {{where}}",
                 "short line on the panel, {where}|text line at the {where} of the panel|a line with two or three words",
                 "subtract anew, “{a_rest}”|“{b_rest}” gives way to “{a_rest}”|the panel should say “{a_rest}”",
                 "a hundred less {new} is not a hundred less {old}|reading and remainder make a hundred|the remainder shrinks as the reading grows",
                 "the complement to the full range depends on the reading|two parts of a whole, and one was edited|it is what the edited share leaves over"),
        ],
        edges=[edge("needle", "rest", "complement", "needle and remainder share out the scale|what lies beyond the needle is the remainder|both derive from one reading")],
        facts=[fact_pair("angle", "needle", ({"value": i["value"], "full": 150} for i in (edit.old, edit.new))),
               fact_pair("difference", "rest", ({"start": i["value"], "end": 100, "result": 100 - i["value"]} for i in (edit.old, edit.new)))],
    )


@template("semantic_chart_donut", nodes=(VIS, NUM), edits=("percent",))
def donut(ctx: Ctx) -> Design:
    """A ring chart in a report; the legend gives both shares."""
    edit, pal, size = ctx.edit(lambda a, b: 50 not in (a["value"], b["value"])), ctx.palette(), ctx.size()
    w, h = size
    head, sans = ctx.face("serif"), ctx.face("sans")
    lines = ctx.copy(ctx.distractors)
    topic, a_name, b_name = ctx.rng.choice([("How members arrive", "by tram", "on foot"), ("What the bins hold", "paper", "glass"), ("Who borrows", "adults", "children"), ("Where the power comes from", "wind", "water")])
    wide = w > h
    r = min(w, h) * (0.25 if ctx.salient else 0.2)
    cx, cy = (w * 0.3, h * 0.52) if wide else (w / 2, h * 0.41)
    lx, ly = (w * 0.6, h * 0.42) if wide else (w * 0.24, h * 0.73)
    if ctx.far and wide:
        cx, lx = w * 0.7, 60
    start = ctx.rng.choice([0, -90, 90])

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.rect((0, 0, w, h), pal.bg)
        c.rect((0, 0, w, 14), pal.accent)
        c.text((50, 36), topic, (head, fit([topic], head, w - 100, 34)), pal.ink)
        box = (cx - r, cy - r, cx + r, cy + r)
        with c.element("ring"):
            if twin:
                for k in range(12):
                    c.pie(box, k * 30, k * 30 + 22, pal.panel if k % 2 else pal.muted)
            else:
                c.pie(box, start, start + 360, pal.accent2)
                c.pie(box, start, start + 3.6 * v["value"], pal.accent)
            c.ellipse((cx - r * 0.58, cy - r * 0.58, cx + r * 0.58, cy + r * 0.58), pal.bg)
        for k, (name, col) in enumerate(((a_name, pal.accent), (b_name, pal.accent2))):
            y = ly + 64 * k
            c.rect((lx, y - 11, lx + 22, y + 11), pal.muted if twin else col, radius=4)
            c.text((lx + 36, y), name, (sans, 23), pal.ink, anchor="lm")
            xx = lx + 36 + c.text_size(name, (sans, 23))[0] + 16
            if k == 0:
                with c.element("target"):
                    c.text((xx, y), v["target"], (sans + "-bold", 28), pal.ink, anchor="lm")
            elif ctx.n > 1:
                with c.element("rest"):
                    c.text((xx, y), v["rest"], (sans + "-bold", 28 if ctx.salient else 20), pal.ink, anchor="lm")
        notes(c, lines, (40, h - 70, w - 40, h - 14), sans, pal.muted, 13)

    def vals(i: int) -> dict[str, object]:
        n = (edit.old, edit.new)[i]["value"]
        return {"value": n, "rest": f"{100 - n}%"}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"rest": "n/a"},
        target_region=[f"share of “{a_name}” in the legend", "percentage behind the first legend entry", "legend figure, {where}"],
        nodes=[
            node("ring", VIS, f"ring chart, {{where}}|arc for “{a_name}” in the ring|the two-coloured ring",
                 "the large round shape, {where}|the hoop-shaped thing, {where}|circular object of the page",
                 f"redivide it so that “{a_name}” takes {{new}} of the circle|its first arc spans {{a_value}} hundredths in place of {{b_value}}|give the arc {{new}} of the turn",
                 f"the arc of “{a_name}” was drawn for {{old}}|legend and arc tell the share twice|{{new}} of a full turn is another angle",
                 "an arc is proportional to the edited share|part of a turn depicts the edited share|the division of the round shape stays at the former share"),
            node("rest", NUM, f"share of “{b_name}”, {{where}}|figure of the second legend entry|percentage behind “{b_name}”",
                 "last entry of the key, {where}|entry beneath another one, {where}|bold figure below the first",
                 "raise or lower it to {a_rest}|{a_rest} belongs there, not {b_rest}|put {a_rest}",
                 "only two groups, so the second takes what {new} leaves|both shares come to a hundred|with {new} for one, {b_rest} is too much or too little for the other",
                 "shares of a whole are complements|there are just two portions and one was edited|whatever one part gains the other loses"),
        ],
        edges=[edge("ring", "rest", "complement", "the second arc shows this share|legend share and second arc agree|the remaining arc is as large as this figure")],
        facts=[fact_pair("angle", "ring", ({"value": i["value"], "full": 100} for i in (edit.old, edit.new))),
               fact_pair("difference", "rest", ({"start": i["value"], "end": 100, "result": 100 - i["value"]} for i in (edit.old, edit.new)))],
    )


@template("semantic_chart_fund", nodes=(VIS, NUM), edits=("percent",), max_distractors=3)
def fund(ctx: Ctx) -> Design:
    """A donation thermometer on a notice board."""
    edit, pal, size = ctx.edit(), ctx.palette(dark=False), ctx.size("tall")
    w, h = size
    hand, head = ctx.face("hand"), ctx.face("display")
    lines, seed = ctx.copy(min(3, ctx.distractors)), ctx.seed()
    aim = ctx.rng.choice([2000, 4000, 6000, 8000])
    thing = ctx.rng.choice(["a new roof", "the school bus", "a village well", "the bandstand", "stage lights"])
    left = ctx.chance(0.5)
    x = w * 0.24 if left else w * 0.76
    tx = w * 0.64 if left else w * 0.36
    y0, y1 = 190, h - 150
    wid = 34 if ctx.salient else 22
    foot = round(((wid + 19) ** 2 - wid**2) ** 0.5 - wid)  # the bulb hides so much of the column

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        paper(c, (0, 0, w, h), (184, 146, 104), seed, 8)
        c.rect((0, 0, w, h), None, outline=(120, 84, 54), width=14)
        shade(c, (44, 44, w - 44, h - 44))
        c.rect((44, 44, w - 44, h - 44), pal.bg)
        for px in (64, w - 64):
            c.ellipse((px - 9, 52, px + 9, 70), pal.accent)
        c.text((w / 2, 100), f"Help us buy {thing}", (hand, fit([f"Help us buy {thing}"], hand, w - 150, 38)), pal.ink, anchor="mm")
        c.rect((x - wid - 6, y0 - 20, x + wid + 6, y1 + 10), pal.ink, radius=wid + 6)
        c.ellipse((x - wid - 26, y1 - 26, x + wid + 26, y1 + 2 * wid + 26), pal.ink)
        c.rect((x - wid, y0 - 14, x + wid, y1 + 8), (252, 252, 250), radius=wid)
        c.ellipse((x - wid - 19, y1 - 19, x + wid + 19, y1 + 2 * wid + 19), pal.accent2 if twin else pal.accent)
        with c.element("mercury"):
            if twin:
                for k in range(5):
                    c.ellipse((x - 8, y0 + 20 + 50 * k, x + 8, y0 + 36 + 50 * k), pal.accent2)
            else:
                c.rect((x - wid, y1 - (y1 - y0) * v["value"] / 100, x + wid, y1), pal.accent)
        for g in range(0, 101, 20):
            gy = y1 - (y1 - y0) * g / 100
            c.rect((x + wid + 8, gy - 1, x + wid + 22, gy + 1), pal.ink)
        ty = h * 0.36 if not ctx.far else h * 0.24
        with c.element("target"):
            c.text((tx, ty), v["target"], (head, 66), pal.accent, anchor="mm")
        c.text((tx, ty + 54), "of our goal", (hand, 24), pal.ink, anchor="mm")
        c.text((tx, h * 0.56), f"Goal: ${aim}", (hand, 26), pal.ink, anchor="mm")
        if ctx.n > 1:
            with c.element("cash"):
                c.text((tx, h * 0.65), v["cash"], (hand, 27 if ctx.salient else 20), pal.accent2, anchor="mm")
        for k, line in enumerate(lines):
            c.text((tx, h * 0.76 + 24 * k), line[:26], (hand, 14), pal.muted, anchor="mm")

    def vals(i: int) -> dict[str, object]:
        n = (edit.old, edit.new)[i]["value"]
        return {"value": n, "cash": f"${aim * n // 100} so far"}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"cash": "Ask for Mrs Lund"},
        target_region=["percentage reached, {where}", "large figure over “of our goal”", "big coloured figure on the notice"],
        nodes=[
            node("mercury", VIS, "filled part of the drawn thermometer|column in the tube, {where}|level in the donation tube",
                 "coloured filling, {where}|contents of the tall tube|inside of the tall shape, {where}",
                 "fill it up to {new} of its height|its level goes to {new}, from {old}|draw the level at {a_value} of a hundred marks",
                 "the tube pictures how much is reached, and that is {new}|at {old} the tube would tell another story than the figure|level and figure report one state of the collection",
                 "a level pictures the edited share|fill height is proportional to the edited share|the drawing reports the same progress"),
            node("cash", NUM, "money collected, {where}|line “so far” on the notice|sum in dollars below the goal",
                 "coloured handwriting, {where}|handwritten line beneath another|a line in a second colour, {where}",
                 "{a_cash} is what it comes to|“{b_cash}” turns to “{a_cash}”|write {a_cash}",
                 f"{{new}} of ${aim} is that sum|${aim} times {{new}}, no longer times {{old}}|sum and percentage are tied by the goal of ${aim}",
                 "share times a fixed aim gives the sum stated|the absolute figure goes with the relative one|progress is stated a second time in other units"),
        ],
        edges=[edge("mercury", "cash", "same value", "level and sum state one progress|the tube at that level stands for that sum|both express how far the collection is")],
        facts=[Fact("length", "mercury", {"value": edit.old["value"]}, {"value": edit.new["value"]}, zero=-foot),
               fact_pair("ratio", "cash", ({"part": aim * i["value"] // 100, "whole": aim, "percent": i["value"]} for i in (edit.old, edit.new)))],
    )
