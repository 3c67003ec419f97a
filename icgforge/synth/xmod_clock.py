"""Temporal templates on clock times and feasts: ticket, station hall, feast banner, moon sheet."""

from __future__ import annotations

import datetime

import numpy as np
from PIL import Image

from icgforge.synth.base import Ctx, Design, Fact, Values, template
from icgforge.synth.canvas import Canvas
from icgforge.synth.icons import glyph
from icgforge.synth.parts import bricks, clock, edge, fact_pair, fit, node, notes, paper, shade
from icgforge.synth.scenery import mix, picture
from icgforge.synth.world import feast_day
from icgforge.synth.xmod_calendar import full_date

# One call, one stroke, one row a line.
# fmt: off

TIME = "xmod_temporal"
SKY = {"morning": "morning", "afternoon": "noon", "evening": "evening", "night": "midnight"}
LIGHT = {"morning": "a low rising sun", "afternoon": "a high sun", "evening": "a red setting sun", "night": "moon and stars"}


@template("xmod_time_ticket", nodes=(TIME, TIME, TIME), edits=("time",))
def ticket(ctx: Ctx) -> Design:
    """An admission ticket: time, words for the part of the day, a small dial, a sky."""
    edit, pal, size = ctx.edit(), ctx.palette(), ctx.size("wide")
    w, h = size
    head, sans = ctx.face("display"), ctx.face("sans")
    seed, lines = ctx.seed(), ctx.copy(ctx.distractors)
    what = ctx.rng.choice([("Lighthouse tour", "Climb"), ("River ferry", "Crossing"), ("City walk", "Walk"), ("Puppet stage", "Show")])
    flip = ctx.chance(0.5)
    y0, y1 = h * 0.16, h * 0.84
    pw, ph = round(w * 0.36), round(y1 - y0)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        paper(c, (0, 0, w, h), mix(pal.accent, (60, 60, 66), 0.55), seed, 4)
        shade(c, (36, y0, w - 36, y1), 4, 8, 100)
        c.rect((36, y0, w - 36, y1), (250, 246, 236))
        px = w - 36 - pw if flip else 36
        tx = 64 if flip else 36 + pw + 28
        with c.element("sky") if ctx.n > 1 else c.element("deco"):
            if v["sky"] and ctx.n > 1:
                c.paste(picture(v["sky"], (pw, ph), seed), (px, y0))
            else:
                c.rect((px, y0, px + pw, y1), pal.accent2)
                for k in range(8):
                    c.line([(px + 10, y0 + ph * (k + 0.5) / 8), (px + pw - 10, y0 + ph * (k + 0.5) / 8)], mix(pal.accent2, (255, 255, 255), 0.2), 3)
        for k in range(16):
            y = y0 + ph * (k + 0.5) / 16
            c.ellipse(((px if flip else px + pw) - 4, y - 4, (px if flip else px + pw) + 4, y + 4), mix(pal.accent, (60, 60, 66), 0.55))
        c.text((tx, y0 + 26), what[0], (head, fit([what[0]], head, w * 0.44, 40)), (40, 38, 40))
        with c.element("target"):
            c.text((tx, y0 + ph * 0.46), v["target"], (sans + "-bold", 54), pal.accent if not pal.dark else pal.bg, anchor="lm")
        wy = y0 + ph * (0.66 if not ctx.far else 0.84)
        with c.element("word"):
            c.text((tx, wy), v["word"], (sans, 26 if ctx.salient else 20), (40, 38, 40), anchor="lm")
        c.text((tx, y0 + ph * (0.84 if not ctx.far else 0.64)), f"Row {seed % 20 + 1}, admit one", (sans, 17), (120, 114, 110), anchor="lm")
        if ctx.n > 2:
            dx = w - 36 - pw - 70 if flip else w - 110
            with c.element("dial"):
                clock(c, dx, y0 + ph * 0.46, 44, 0 if twin else v["minutes"], (60, 58, 62))
                if twin:
                    c.ellipse((dx - 44, y0 + ph * 0.46 - 44, dx + 44, y0 + ph * 0.46 + 44), pal.accent2)
        notes(c, lines[:3], (50, 10, w - 50, y0 - 14), sans, (240, 236, 230), 13)
        notes(c, lines[3:], (50, y1 + 14, w - 50, h - 10), sans, (240, 236, 230), 13)

    def vals(i: int) -> dict[str, object]:
        item = (edit.old, edit.new)[i]
        part = item["part"]
        return {"sky": SKY[part], "light": LIGHT[part], "word": f"{part.capitalize()} {what[1].lower()}", "minutes": item["minutes"], "part": part}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"sky": "", "word": "Ticket not refundable"},
        target_region=["time on the ticket, {where}", "large time under the name of the event", "printed hour, {where}"],
        nodes=[
            node("word", TIME, "words “{b_word}” on the ticket|line naming the part of the day, {where}|text line with “{b_part}”",
                 "plain line of the ticket, {where}|a line below the large figures|text near the left edge of its column, {where}",
                 "print “{a_word}”|“{b_word}” changes into “{a_word}”|say {a_part} where it says {b_part}",
                 "{new} is not in the {b_part}|at {new} it is {a_part}|“{b_word}” only goes with {old}",
                 "the part of the day is called by a word that no longer applies|the hour belongs to another part of the day|what the hour is commonly called changes with it"),
            node("sky", TIME, "illustrated end of the ticket|landscape with {b_light}|picture half of the ticket, {where}",
                 "illustrated part at the {where}|the tall picture panel|panel beyond the perforation",
                 "recolour the sky: {a_light}|give it {a_light}|instead of {b_light} draw {a_light}",
                 "at {new} one has {a_light}|{b_light} cannot be seen at {new}|the light in it is that of {old}",
                 "the light in the illustration is that of another hour|the height of the light source contradicts the hour|illumination tells of a different part of the day"),
            node("dial", TIME, "small dial on the ticket, {where}|hands of the drawn clock|clock symbol beside the printed time",
                 "round symbol, {where}|little circle near the large figures|the round drawing on the paper",
                 "turn the hands to {new}|the hands go to {new}|redraw the hands for {new}",
                 "its hands still stand at {old}|two times on one ticket would differ|hands and digits give the same hour",
                 "a second indicator of the hour stays behind|the same hour is told in another manner|digits and pointers must concur"),
        ],
        edges=[edge("word", "sky", "same part of day", "the word fits the light in the picture|both describe one part of the day|name and light of the hour belong together"),
               edge("sky", "dial", "same hour", "light and hands tell one hour|the dial's hour explains the light|the sky is that of the hour on the dial")],
    )


@template("xmod_time_station", nodes=(TIME, TIME), edits=("time",))
def station(ctx: Ctx) -> Design:
    """A hall: digital board, big clock, arched window with daylight or night."""
    edit, size = ctx.edit(), ctx.size()
    w, h = size
    led, sans = ctx.face("mono"), ctx.face("condensed")
    seed, lines = ctx.seed(), ctx.copy(ctx.distractors)
    stone = ctx.rng.choice([(176, 150, 128), (150, 92, 74), (140, 144, 150)])
    left = ctx.chance(0.5)
    vw, vh = round(w * 0.46), round(h * 0.46)
    r = min(w, h) * (0.14 if ctx.salient else 0.1)
    lamp = ctx.rng.choice([(255, 190, 60), (250, 240, 210), (120, 230, 150)])
    goal = ctx.rng.choice(["Northport", "Vale Junction", "Old Docks", "Riverside"])

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        bricks(c, (0, 0, w, h), stone, seed)
        paper(c, (0, h * 0.86, w, h), (120, 118, 116), seed, 3)
        x = 50 if left else w - 50 - vw
        c.rect((x - 12, 48, x + vw + 12, 60 + vh), (226, 220, 208), radius=10)
        if ctx.n > 1:
            with c.element("window"):
                if v["sky"]:
                    c.paste(picture(v["sky"], (vw, vh), seed), (x, 56))
                else:
                    c.rect((x, 56, x + vw, 56 + vh), (150, 160, 166))
        else:
            c.rect((x, 56, x + vw, 56 + vh), (150, 160, 166))
        for k in (1, 2):
            c.rect((x + vw * k / 3 - 3, 56, x + vw * k / 3 + 3, 56 + vh), (226, 220, 208))
        cx = (x + vw + w) / 2 if left else x / 2
        cy = h * 0.26
        c.rect((cx - 4, 0, cx + 4, cy), (60, 60, 64))
        with c.element("clock"):
            clock(c, cx, cy, r, 0 if twin else v["minutes"], (50, 50, 56))
            if twin:
                c.ellipse((cx - r, cy - r, cx + r, cy + r), (206, 80, 60))
                c.text((cx, cy), "i", (sans, round(r * 1.3)), (250, 248, 240), anchor="mm")
        by = h * (0.66 if ctx.far else 0.6) + 20
        bx0, bx1 = (40, w * 0.62) if ctx.far is left else (w * 0.38, w - 40)
        shade(c, (bx0, by, bx1, by + 96), 6)
        c.rect((bx0, by, bx1, by + 96), (24, 26, 30), radius=6)
        c.text((bx0 + 22, by + 30), f"Next to {goal}", (sans, 22), (240, 238, 230), anchor="lm")
        c.text((bx0 + 22, by + 66), f"Track {seed % 9 + 1}", (sans, 20), lamp, anchor="lm")
        c.text((bx1 - 20, by + 24), "Time now", (sans, 16), (240, 238, 230), anchor="rm")
        with c.element("target"):
            c.text((bx1 - 20, by + 62), v["target"], (led, 44), lamp, anchor="rm")
        notes(c, lines, (30, h * 0.88, w - 30, h - 8), sans, (246, 244, 240), 15)

    def vals(i: int) -> dict[str, object]:
        item = (edit.old, edit.new)[i]
        return {"sky": SKY[item["part"]], "light": LIGHT[item["part"]], "minutes": item["minutes"]}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"sky": ""},
        target_region=["“time now” on the departure board, {where}", "lit digits of the board", "digital time, {where}"],
        nodes=[
            node("clock", TIME, "hanging clock in the hall, {where}|hands of the large round clock|clock on the pole, {where}",
                 "round object hanging from above|the disc at the {where}|circular thing on the wall side",
                 "its hands have to stand at {new}|set the hanging clock to {new}|move both hands so that they show {new}",
                 "the hall has one time, and the clock shows {old}|clock and board run alike|hands at {old} disagree with digits at {new}",
                 "two instruments in one room cannot tell different hours|the other instrument was left at the former hour|both run on the same time"),
            node("window", TIME, "sky in the hall window, {where}|view through the panes with {b_light}|daylight beyond the window",
                 "wide opening at the {where}|the three panes|the glazed part of the wall",
                 "through the panes there should be {a_light}|exchange {b_light} for {a_light}|the view needs {a_light}",
                 "with {new} on the board one sees {a_light} outside|{b_light} belongs to about {old}|outside it would not look so at {new}",
                 "brightness beyond the glass fits the former hour|what the sky looks like depends on the hour|the hour now told has a different light"),
        ],
        edges=[edge("clock", "window", "same hour", "the hands' hour has that sky|clock and daylight agree|one looks at the clock and the sky in one moment")],
    )


@template("xmod_time_feast", nodes=(TIME, "xmod_cultural", "xmod_cultural"), edits=("feast",))
def feast(ctx: Ctx) -> Design:
    """A shop banner for a feast: date, ornaments, treats."""
    edit, size = ctx.edit(), ctx.size()
    w, h = size
    year = ctx.rng.choice([2024, 2025, 2026, 2027])
    head, sans = ctx.face("script"), ctx.face("sans")
    seed, lines = ctx.seed(), ctx.copy(ctx.distractors)
    ground = ctx.palette(dark=True)
    fs = fit([edit.old.text, edit.new.text], head, w - 120, 70)
    k_icon = round(min(w, h) * (0.2 if ctx.salient else 0.14))
    n_icon = ctx.rng.choice([4, 5])
    low = ctx.far

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        paper(c, (0, 0, w, h), ground.bg, seed, 3)
        c.rect((24, 24, w - 24, h - 24), None, radius=18, outline=ground.accent, width=3)
        with c.element("target"):
            c.text((w / 2, h * 0.24), v["target"], (head, fs), ground.ink, anchor="mm")
        with c.element("day"):
            c.text((w / 2, h * (0.82 if low else 0.38)), v["day"], (sans, 28 if ctx.salient else 21), ground.accent, anchor="mm")
        y = h * (0.5 if low else 0.56)
        name = "lantern" if twin and edit.old["picture"] != "lantern" else v["icon"]
        with c.element("ornaments") if ctx.n > 1 else c.element("deco"):
            for k in range(n_icon):
                x = w * (k + 0.5) / n_icon
                if ctx.n > 1 and not twin:
                    c.paste(glyph(name, k_icon), (x - k_icon / 2, y - k_icon / 2))
                else:
                    c.ellipse((x - k_icon / 4, y - k_icon / 4, x + k_icon / 4, y + k_icon / 4), ground.accent2 if k % 2 else ground.accent)
        if ctx.n > 2:
            with c.element("treat"):
                c.text((w / 2, h * (0.68 if low else 0.73)), v["treat"], (sans, 22), ground.ink, anchor="mm")
        notes(c, lines, (40, h * 0.86, w - 40, h - 34), sans, ground.muted, 13)

    def vals(i: int) -> dict[str, object]:
        item = (edit.old, edit.new)[i]
        return {"day": f"{full_date(feast_day(item.text, year))} {year}", "icon": item["picture"], "treat": item["food"],
                "thing": {"xmastree": "decorated firs", "egg": "painted eggs", "candle": "burning lights"}.get(item["picture"], item["picture"] + "s")}

    def fact(i: int) -> dict[str, str]:
        day = feast_day((edit.old, edit.new)[i].text, year)
        return {"iso": day.isoformat(), "weekday": full_date(day).split(",")[0]}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"day": f"Open daily in {year}", "treat": "Tea and cake as always"},
        target_region=["greeting on the banner, {where}", "large curved lettering", "wish in the upper half"],
        nodes=[
            node("day", TIME, "date on the banner, {where}|line with weekday, day and year|“{b_day}” on the banner",
                 "coloured line in the {where}|a line in smaller letters, {where}|single line apart from the lettering",
                 "give the right day: {a_day}|{b_day} should be {a_day}|announce {a_day}",
                 f"in {year} that feast falls on {{a_day}}|{{b_day}} is when the other feast is kept|each feast has its day, this one {{a_day}}",
                 "the occasion is kept on another day of the year|the day stated is that of the former occasion|occasion and calendar day are tied by custom"),
            node("ornaments", "xmod_cultural", "row of {b_thing} across the banner|ornaments in the middle, {where}|the {b_thing} between the lines",
                 "row of drawings, {where}|the drawings across the width|band of small pictures",
                 "hang {a_thing} there|{a_thing} in place of {b_thing}|the row should consist of {a_thing}",
                 "custom links {b_thing} to the old occasion|“{new}” is celebrated with {a_thing}|nobody puts up {b_thing} for that feast",
                 "custom knows other symbols for the new occasion|the emblems belong to a different tradition|what is displayed depends on which tradition is kept"),
            node("treat", "xmod_cultural", "treats on offer, {where}|line “{b_treat}”|food line of the banner",
                 "light line below the drawings|a line without figures, {where}|text between two bands, {where}",
                 "offer “{a_treat}”|“{b_treat}” is swapped for “{a_treat}”|list {a_treat} here",
                 "these are eaten at the other feast|tradition serves {a_treat} at this feast|{b_treat} would puzzle those who celebrate it",
                 "food customs differ between the two occasions|by custom other things are served|the dishes stem from the former tradition"),
        ],
        edges=[edge("day", "ornaments", "same feast", "date and ornaments belong to one feast|on that day those ornaments are up|symbol and day mean one feast"),
               edge("ornaments", "treat", "same custom", "treats and ornaments follow one custom|both come from one tradition|the table goes with the decoration")],
        facts=[Fact("weekday", "day", fact(0), fact(1))],
    )


def moon_age(day: datetime.date) -> float:
    """Return the mean age of the moon in its cycle at noon of a day, 0 (new) to 1.

    Counted from the new moon of 6 January 2000, 18:14 UTC, with a mean month of 29.530588 days.

    Examples
    --------
    >>> round(moon_age(datetime.date(2026, 3, 3)), 1)
    0.5
    """
    start = datetime.datetime(2000, 1, 6, 18, 14)
    noon = datetime.datetime(day.year, day.month, day.day, 12)
    return ((noon - start).total_seconds() / 86400 / 29.530588) % 1


def moon(size: int, age: float) -> Image.Image:
    """Draw the lit part of the moon as seen from the north."""
    y, x = np.mgrid[-1 : 1 : size * 1j, -1 : 1 : size * 1j]
    rim = np.sqrt(np.clip(1 - y * y, 0, 1))
    edge_x = rim * np.cos(2 * np.pi * age)
    lit = (x > edge_x) if age < 0.5 else (x < -edge_x)
    spots = sum(np.exp(-((x - a) ** 2 + (y - b) ** 2) / s) for a, b, s in ((-0.3, -0.3, 0.06), (0.2, 0.1, 0.1), (0.1, 0.55, 0.03), (-0.5, 0.25, 0.04)))
    base = np.where(lit, 236 - 46 * np.clip(spots, 0, 1), 52)
    rgba = np.stack([base, base * 0.98, base * np.where(lit, 0.88, 1.2), np.where(x * x + y * y <= 0.98, 255, 0)], -1)
    return Image.fromarray(np.clip(rgba, 0, 255).astype(np.uint8))


@template("xmod_time_moon", nodes=(TIME, TIME), edits=("date",))
def moon_sheet(ctx: Ctx) -> Design:
    """An observatory notice: date, drawn moon, weekday of the session."""
    edit = ctx.edit(lambda a, b: abs(moon_age(_day(a)) - moon_age(_day(b))) > 0.15)
    size = ctx.size("square")
    w, h = size
    head, sans = ctx.face("serif"), ctx.face("sans")
    seed, lines = ctx.seed(), ctx.copy(ctx.distractors)
    r = round(min(w, h) * (0.44 if ctx.salient else 0.34))
    year = edit.old["year"]
    night = ctx.rng.choice([(18, 22, 50), (24, 20, 44), (12, 32, 48)])
    low = ctx.far

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.rect((0, 0, w, h), night)
        rng = np.random.default_rng(seed)
        for x, y, s in zip(rng.uniform(0, w, 90), rng.uniform(0, h, 90), rng.uniform(0.6, 1.8, 90), strict=True):
            c.ellipse((x - s, y - s, x + s, y + s), (226, 226, 210))
        c.text((w / 2, 56), "Night at the observatory", (head, 36), (246, 240, 220), anchor="mm")
        my = h * 0.44
        with c.element("moon"):
            if twin:
                c.ellipse((w / 2 - r / 2, my - r / 2, w / 2 + r / 2, my + r / 2), mix(night, (200, 150, 90), 0.7))
                c.line([(w / 2 - r * 0.72, my + r * 0.2), (w / 2, my + 6), (w / 2 + r * 0.72, my - r * 0.2)], (230, 210, 160), 7)
            else:
                c.paste(moon(r, v["age"]), (w / 2 - r / 2, my - r / 2))
        ty = h * 0.8
        with c.element("target"):
            c.text((w / 2, ty), v["target"], (head, 42), (250, 214, 120), anchor="mm")
        if ctx.n > 1:
            with c.element("weekday"):
                c.text((w / 2, 100 if low else ty - 46), v["weekday"], (sans, 22), (214, 218, 236), anchor="mm")
        c.text((w / 2, ty + 40), f"{year}, from dusk, weather permitting", (sans, 18), (170, 176, 204), anchor="mm")
        notes(c, lines, (30, h * 0.88, w - 30, h - 10), sans, (140, 148, 180), 13)

    def vals(i: int) -> dict[str, object]:
        item = (edit.old, edit.new)[i]
        age = moon_age(_day(item))
        phases = ["new moon", "young crescent", "first quarter", "waxing moon", "full moon", "waning moon", "last quarter", "old crescent"]
        return {"age": age, "phase": phases[round(age * 8) % 8], "weekday": f"{item['weekday']} session"}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"weekday": "Members and guests"},
        target_region=["date of the observing night, {where}", "yellow date line", "the day announced below the drawing"],
        nodes=[
            node("moon", TIME, "drawn moon in the middle|moon disc, now a {b_phase}|shape of the moon, {where}",
                 "the disc in the centre|largest object of the sheet|central drawing",
                 "shade it as a {a_phase}|it has to be a {a_phase}, no {b_phase}|light another part of it: {a_phase}",
                 f"on {{new}} {year} there is a {{a_phase}}|the {{b_phase}} belongs to {{old}}|between the two nights its phase has changed",
                 "the phase depends on the night and the night is another one|which part is lit follows from the day in the cycle|that shape is seen at another point of the cycle"),
            node("weekday", TIME, "“{b_weekday}”, {where}|line naming the weekday of the session|weekday on the notice, {where}",
                 "pale line at the {where}|a line of small letters, {where}|a short line of the notice",
                 "has to be “{a_weekday}”|name the session “{a_weekday}”|correct to “{a_weekday}”",
                 f"{{new}} {year} does not fall on the same weekday as {{old}}|looked up in the calendar of {year}, it is a {{a_weekday}}|“{{b_weekday}}” was right for {{old}}",
                 "another day in the year is another day in the week|the name of the day comes from the calendar|a look at the calendar gives a different name of the day"),
        ],
        edges=[edge("moon", "weekday", "same night", "phase and weekday are those of one night|one night decides both|sky and weekday belong to one date")],
        facts=[fact_pair("weekday", "weekday", ({"iso": i["iso"], "weekday": i["weekday"]} for i in (edit.old, edit.new)))],
    )


def _day(item: object) -> datetime.date:
    return datetime.date.fromisoformat(item["iso"])  # type: ignore[index]
