"""Temporal templates on months, dates, weekdays and years: calendar, event, market, anniversary."""

from __future__ import annotations

import calendar
import datetime

from icgforge.synth.base import Ctx, Design, Values, template
from icgforge.synth.canvas import Canvas
from icgforge.synth.parts import (
    edge,
    fact_pair,
    fit,
    ink_on,
    month_grid,
    node,
    notes,
    paper,
    shade,
    star_burst,
)
from icgforge.synth.scenery import mix, picture
from icgforge.synth.words import MONTHS, WEEKDAYS

# One call, one stroke, one row a line.
# fmt: off

TIME = "xmod_temporal"
CHORE = {"spring": "Sow the first peas", "summer": "Water before breakfast", "autumn": "Rake the leaves", "winter": "Clear the path of snow"}


@template("xmod_time_calendar", nodes=(TIME, TIME, TIME), edits=("month",), max_distractors=3)
def wall_calendar(ctx: Ctx) -> Design:
    """A wall calendar: month name, day grid, picture of the season, a seasonal note."""
    year = ctx.rng.randrange(2023, 2029)
    edit = ctx.edit(lambda a, b: calendar.monthrange(year, a["index"]) != calendar.monthrange(year, b["index"]))
    pal, size = ctx.palette(), ctx.size("tall")
    w, h = size
    head, sans = ctx.face("display"), ctx.face("sans")
    seed, lines = ctx.seed(), ctx.copy(ctx.distractors)
    wall = ctx.rng.choice([(206, 212, 208), (216, 204, 190), (190, 200, 214)])
    pw, ph = w - 100, round(h * 0.36)
    gy = 88 + ph + 120
    fs = fit([edit.old.text, edit.new.text], head, w * 0.5, 50)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        paper(c, (0, 0, w, h), wall, seed, 2)
        shade(c, (40, 40, w - 40, h - 40), 2, 7, 90)
        c.rect((40, 40, w - 40, h - 40), pal.bg)
        for k in range(18):
            x = 56 + (w - 112) * k / 17
            c.rect((x - 2, 30, x + 2, 52), (120, 124, 130))
        py = 62
        if ctx.n > 1:
            with c.element("view"):
                if v["season"]:
                    c.paste(picture(v["season"], (pw, ph), seed), (50, py))
                else:
                    c.rect((50, py, 50 + pw, py + ph), pal.accent2)
                    for k in range(6):
                        c.rect((50 + k * pw / 6 + 10, py + 20 + 10 * k, 50 + (k + 1) * pw / 6 - 10, py + ph - 20), mix(pal.accent2, pal.panel, 0.15 * k + 0.1))
        else:
            paper(c, (50, py, 50 + pw, py + ph), pal.accent2, seed + 3, 6)
            c.text((w / 2, py + ph / 2), str(year), (head, 90), mix(pal.accent2, pal.bg, 0.5), anchor="mm")
        ty = py + ph + 44
        with c.element("target"):
            c.text((64, ty), v["target"], (head, fs), pal.accent, anchor="lm")
        c.text((w - 64, ty), str(year), (sans, 30), pal.muted, anchor="rm")
        with c.element("grid"):
            if twin:
                month_grid(c, (56, gy - 30, w - 56, h - 110), year, 1, sans, pal.ink, pal.muted, shift=0)
            else:
                month_grid(c, (56, gy - 30, w - 56, h - 110), year, v["index"], sans, pal.ink, pal.muted)
        if ctx.n > 2:
            with c.element("chore"):
                c.text((w / 2, h - 86), v["chore"], (sans, 20 if ctx.salient else 15), pal.accent2 if ctx.salient else pal.muted, anchor="mm")
        notes(c, lines[:3], (50, h - 72, w - 50, h - 44), sans, pal.muted, 12)

    def vals(i: int) -> dict[str, object]:
        season = (edit.old, edit.new)[i]["season"]
        index = (edit.old, edit.new)[i]["index"]
        first, days = calendar.monthrange(year, index)
        return {"season": season, "index": index, "chore": CHORE[season], "first": WEEKDAYS[first], "days": days}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"season": "", "chore": "Call the plumber"},
        target_region=["month name of the wall calendar", "heading over the day columns", "big word beside the year, {where}"],
        nodes=[
            node("grid", TIME, "block of days under the heading|day numbers of the month, {where}|columns Mo to Su with their numbers",
                 "the block of small numbers, {where}|table in the lower part of the sheet|numbers set in seven columns",
                 "lay the days out anew: the first falls on a {a_first} and there are {a_days}|{a_days} days beginning under {a_first}|shift the numbers so that day one stands under {a_first}, up to {a_days}",
                 f"{{new}} {year} opens on a {{a_first}}, {{old}} on a {{b_first}}|weekdays of {{old}} {year} are not those of {{new}}|the layout {{b_first}} to day {{b_days}} is right for {{old}} alone",
                 "days of the other period fall on other weekdays|the arrangement is fixed by the period that the heading names|start and length of the period differ"),
            node("view", TIME, "picture above the days|{b_season} landscape on the sheet|illustration of the upper half",
                 "upper half of the sheet|the large rectangle on top|the block over the heading",
                 "put up a view of {a_season}|{b_season} has to yield to {a_season}|the trees and the ground should look like {a_season}",
                 "{new} lies in {a_season}, the trees show {b_season}|a {b_season} view suits {old}, not {new}|nature looks otherwise in {new}",
                 "nature in the depiction belongs to another part of the year|what grows or falls there happens at another time of year|the depicted part of the year is not the one now named"),
            node("chore", TIME, "reminder at the foot of the sheet|line “{b_chore}”|note under the days",
                 "a line near the lower edge|last line of the sheet, {where}|short sentence at the bottom",
                 "“{a_chore}” instead of “{b_chore}”|remind of something for {a_season}: “{a_chore}”|set the line to “{a_chore}”",
                 "nobody does that in {new}|it is a job for {b_season}|the job is bound to the season of {old}",
                 "the job mentioned is done at another time of the year|the reminder comes at the wrong time|what is recommended is seasonal"),
        ],
        edges=[edge("grid", "view", "same month", "days and picture are those of one month|both halves of the sheet show one month|picture and grid must be of the same month"),
               edge("view", "chore", "same season", "the job suits the season in the picture|picture and reminder share their season|weather in the view and job go together")],
        facts=[fact_pair("season", "view", ({"month": i["index"], "season": i["season"]} for i in (edit.old, edit.new))),
               fact_pair("weekday", "grid", ({"iso": f"{year}-{i['index']:02d}-01", "weekday": WEEKDAYS[calendar.monthrange(year, i['index'])[0]]} for i in (edit.old, edit.new)))],
    )


@template("xmod_time_concert", nodes=(TIME, TIME, TIME), edits=("date",))
def concert(ctx: Ctx) -> Design:
    """An event poster: date, weekday, season picture, a word on where to sit."""
    edit, pal, size = ctx.edit(), ctx.palette(), ctx.size("tall")
    w, h = size
    head, sans = ctx.face("display"), ctx.face("condensed")
    seed, lines = ctx.seed(), ctx.copy(ctx.distractors)
    band = ctx.rng.choice(["The Tin Lanterns", "Quartet Nord", "Paper Moons", "Brass & Bramble", "Velvet Otters"])
    ph = round(h * (0.46 if ctx.salient else 0.34))
    year, top = edit.old["year"], ctx.chance(0.5)
    seat = {"spring": "Blossom concert in the orchard", "summer": "Open air, bring a blanket", "autumn": "Harvest concert in the barn", "winter": "By the stove, mulled wine inside"}
    fd = fit([edit.old.text, edit.new.text], head, w * 0.56, 56)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        paper(c, (0, 0, w, h), pal.bg, seed, 2)
        py = 0 if top else h - ph
        with c.element("view") if ctx.n > 1 else c.element("deco"):
            if v["season"] and ctx.n > 1:
                c.paste(picture(v["season"], (w, ph), seed), (0, py))
            else:
                c.rect((0, py, w, py + ph), pal.accent2)
                for k in range(7):
                    star_burst(c, w * (k + 0.5) / 7, py + ph / 2, 26, mix(pal.accent2, pal.bg, 0.3 + 0.08 * k), 9)
        y = ph + 20 if top else 20
        c.text((w / 2, y + 50), band, (head, fit([band], head, w - 80, 58)), pal.accent, anchor="mm")
        c.text((w / 2, y + 98), "live at the old brewery", (sans, 26), pal.ink, anchor="mm")
        c.rect((60, y + 128, w - 60, y + 131), pal.ink)
        with c.element("target"):
            c.text((w - 60, y + 190), v["target"], (head, fd), pal.ink, anchor="rm")
        wy = y + 190 if not ctx.far else y + 268
        with c.element("weekday"):
            c.text((60, wy), v["weekday"], (sans, 38), pal.accent, anchor="lm")
        c.text((w - 60, y + 240), f"{year}, doors at 20:00", (sans, 22), pal.muted, anchor="rm")
        if ctx.n > 2:
            with c.element("seat"):
                c.text((w / 2, y + 310), v["seat"], (sans, 25), pal.ink, anchor="mm")
        notes(c, lines, (40, y + 322, w - 40, y + h - ph - 30), sans, pal.muted, 14)

    def vals(i: int) -> dict[str, object]:
        item = (edit.old, edit.new)[i]
        return {"weekday": item["weekday"], "season": item["season"], "seat": seat[item["season"]]}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"weekday": "One night", "season": "", "seat": "With support from Rosa Kent"},
        target_region=["date of the concert, {where}", "day and month on the poster", "large date at the {where}"],
        nodes=[
            node("weekday", TIME, "weekday on the poster, {where}|the word {b_weekday} at the left|name of the weekday near the date",
                 "coloured word at the left, {where}|single word opposite the year|a word in the {where}",
                 "{b_weekday} must read {a_weekday}|print {a_weekday}|the weekday has to be {a_weekday}",
                 f"{{new}} {year} is a {{a_weekday}}|in {year} only {{old}} fell on a {{b_weekday}}|calendar of {year}: {{new}} is no {{b_weekday}}",
                 "the calendar assigns another weekday to the new day|day and weekday have to agree for that year|a weekday follows from the full date"),
            node("view", TIME, "season picture of the poster|illustrated band with {b_season} trees|landscape band, {where}",
                 "the broad band of the poster, {where}|full-width block, {where}|edge-to-edge part of the sheet",
                 "trees and sky need to show {a_season}|turn the {b_season} band into {a_season}|illustrate {a_season}",
                 "the concert of {new} takes place in {a_season}|on {new} nobody sees {b_season} trees|{b_season} was the season of {old}",
                 "the vegetation shown is that of other months|the band depicts the wrong part of the year now|by then nature has moved on"),
            node("seat", TIME, "line on the setting, {where}|sentence “{b_seat}”|remark below the date block",
                 "centred line, {where}|a line under the date block|text across the lower middle",
                 "reads “{a_seat}” afterwards|“{b_seat}” is exchanged for “{a_seat}”|should invite with “{a_seat}”",
                 "that setting belongs to {b_season}, the new day to {a_season}|in {a_season} one would sit elsewhere|the remark was written for {old}",
                 "the setting named works in another part of the year only|comfort there depends on the part of the year|the remark presupposes the weather of other months"),
        ],
        edges=[edge("weekday", "view", "same date", "both are settled by the one date|weekday and season come from the same day|one date decides over weekday and season"),
               edge("view", "seat", "same season", "the remark suits the season that is drawn|seating and trees tell one season|season drawn and season meant are one")],
        facts=[fact_pair("weekday", "weekday", ({"iso": i["iso"], "weekday": i["weekday"]} for i in (edit.old, edit.new))),
               fact_pair("season", "view", ({"month": MONTHS.index(i["month"]) + 1, "season": i["season"]} for i in (edit.old, edit.new)))],
    )


@template("xmod_time_market", nodes=(TIME, TIME), edits=("weekday",))
def market(ctx: Ctx) -> Design:
    """A board for a weekly market: weekday, week strip with a mark, weekend or workday remark."""
    edit = ctx.edit(lambda a, b: a["weekend"] != b["weekend"] or ctx.n == 1)
    pal, size = ctx.palette(), ctx.size()
    w, h = size
    head, sans = ctx.face("slab"), ctx.face("sans")
    seed, lines = ctx.seed(), ctx.copy(ctx.distractors)
    what = ctx.rng.choice(["Flea market", "Farmers' market", "Book fair", "Chess club", "Choir practice"])
    up = ctx.chance(0.5)
    remark = {True: "Weekend treat for all", False: "Midweek break for all"}
    fd = fit([edit.old.text, edit.new.text], head, w * 0.6, 66)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        paper(c, (0, 0, w, h), mix(pal.accent2, (230, 230, 220), 0.4), seed, 4)
        shade(c, (50, 50, w - 50, h - 50), 16)
        c.rect((50, 50, w - 50, h - 50), pal.bg, radius=16)
        c.rect((60, 60, w - 60, h - 60), None, radius=12, outline=pal.accent, width=4)
        y0 = h * 0.2
        c.text((w / 2, y0), what, (sans, 34), pal.ink, anchor="mm")
        c.text((w / 2, y0 + 44), "every", (sans, 22), pal.muted, anchor="mm")
        with c.element("target"):
            c.text((w / 2, y0 + 104), v["target"], (head, fd), pal.accent, anchor="mm")
        sy = h * (0.72 if ctx.far else 0.56) + 10
        size_ = 24 if ctx.salient else 17
        with c.element("strip"):
            for k, name in enumerate(WEEKDAYS):
                x = 90 + (w - 180) * (k + 0.5) / 7
                on = k == v["index"]
                if on and not twin:
                    c.ellipse((x - size_ * 1.3, sy - size_ * 1.3, x + size_ * 1.3, sy + size_ * 1.3), pal.accent)
                c.text((x, sy), "•" if twin else name[:2], (sans, size_), ink_on(pal.accent) if on and not twin else pal.ink, anchor="mm")
        ry = h * 0.56 + 14 if ctx.far else h * 0.72
        if ctx.n > 1:
            with c.element("remark"):
                c.text((w / 2, ry), v["remark"], (head, 26 if up else 21), pal.accent2, anchor="mm")
        notes(c, lines, (70, h * 0.79, w - 70, h - 66), sans, pal.muted, 13)

    def vals(i: int) -> dict[str, object]:
        item = (edit.old, edit.new)[i]
        return {"index": item["index"], "remark": remark[item["weekend"]], "short": WEEKDAYS[item["index"]][:2]}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"remark": "Coffee at the gate"},
        target_region=["weekday in big letters, {where}", "the day named under “every”", "lettering in the middle of the board"],
        nodes=[
            node("strip", TIME, "week strip with one day encircled, {where}|row Mo to Su and its marked day|circle around “{b_short}” in the row of days",
                 "row of seven short entries|horizontal row at the {where}|the row across the board, {where}",
                 "move the circle from {b_short} to {a_short}|encircle {a_short}|let the mark sit on {a_short}",
                 "the circle points out {old}, but it is held on {new}|{b_short} stands for {old}|mark and announcement name two different days",
                 "a mark picks out the former day within the week|of seven positions another one has to be picked out|position within the week and wording must coincide"),
            node("remark", TIME, "remark “{b_remark}”, {where}|line that speaks of the part of the week|slogan of the board, {where}",
                 "a coloured line, {where}|line other than the headline, {where}|a line set apart at the {where}",
                 "adapt to “{a_remark}”|in its place “{a_remark}”|the remark must be “{a_remark}”",
                 "{new} is not in that part of the week|“{b_remark}” holds for {old}|working days and weekend are confused otherwise",
                 "the new day belongs to the other part of the week|rest and work fall on different days|what part of the week it is changes as well"),
        ],
        edges=[edge("strip", "remark", "same day", "the marked day lies in the part of the week that is named|circle and remark must point at one day|the remark describes the encircled day")],
    )


@template("xmod_time_jubilee", nodes=(TIME, TIME), edits=("year",), max_distractors=4)
def jubilee(ctx: Ctx) -> Design:
    """An anniversary label: founding year, years of age, decade remark."""
    edit = ctx.edit(lambda a, b: a["value"] // 10 != b["value"] // 10)
    pal, size = ctx.palette(), ctx.size("square")
    w, h = size
    head, serif = ctx.face("display"), ctx.face("serif")
    seed, lines = ctx.seed(), ctx.copy(min(4, ctx.distractors))
    now = ctx.rng.choice([2027, 2028, 2029, 2030])
    firm = ctx.rng.choice(["Harbour Brewery", "Lindqvist Pianos", "The Button House", "Ferry Line North", "Stone Mill Cycles"])
    mid = w / 2

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        paper(c, (0, 0, w, h), mix(pal.panel, (120, 110, 100), 0.35), seed, 4)
        r = min(w, h) * 0.44
        cy = h / 2
        for q, col in ((r, pal.accent), (r - 10, pal.bg), (r - 18, pal.accent), (r - 21, pal.bg)):
            c.ellipse((mid - q, cy - q, mid + q, cy + q), col)
        c.text((mid, cy - r * 0.56), firm, (serif, 28), pal.ink, anchor="mm")
        c.text((mid - 8, cy - r * 0.34), "since", (serif, 24), pal.muted, anchor="rm")
        with c.element("target"):
            c.text((mid + 2, cy - r * 0.34), v["target"], (serif, 32), pal.ink, anchor="lm")
        c.rect((mid - r * 0.55, cy - r * 0.22, mid + r * 0.55, cy - r * 0.21), pal.accent2)
        with c.element("age"):
            c.text((mid, cy + r * 0.06), v["age"], (head, 110 if ctx.salient else 74), pal.accent, anchor="mm")
        c.text((mid, cy + r * 0.33), "" if twin else "years", (serif, 30), pal.ink, anchor="mm")
        c.text((mid, cy + r * 0.47), f"{now} edition", (serif, 20), pal.muted, anchor="mm")
        if ctx.n > 1:
            with c.element("decade"):
                c.text((mid, cy + r * 0.63), v["decade"], (serif, 21), pal.accent2, anchor="mm")
        spots = ((w * 0.14, 26), (w * 0.86, 26), (w * 0.16, h - 24), (w * 0.84, h - 24))
        for (x, y), line in zip(spots, lines, strict=False):
            c.text((x, y), line[:24], (serif, 12), mix(pal.ink, pal.panel, 0.2), anchor="mm")

    def vals(i: int) -> dict[str, object]:
        y = (edit.old, edit.new)[i]["value"]
        return {"age": str(now - y), "decade": f"A child of the {y // 10 * 10}s"}

    return Design(
        size, draw, edit, before=vals(0), after=vals(1), twin={"age": "XL", "decade": "Brewed with patience" if "Brew" in firm else "Made with patience"},
        target_region=["founding year on the round label, {where}", "year after “since”", "the year in the upper half of the emblem"],
        nodes=[
            node("age", TIME, "big number of years in the emblem|age of the firm, {where}|number over the word “years”",
                 "largest figure of the round sign|the figure in the middle|central figure",
                 "celebrate {a_age} years|{b_age} becomes {a_age}|the number to print is {a_age}",
                 f"from {{new}} to {now} it is {{a_age}} years|a house founded in {{new}} is not {{b_age}} in {now}|{{b_age}} counted from {{old}}",
                 "the span up to the edition runs from another beginning|an age counts from the edited beginning|the time that has passed is a different one"),
            node("decade", TIME, "remark on the decade near the lower rim|words “{b_decade}”|line below the edition",
                 "small coloured line, lower part|a line near the lower rim|line in the {where} of the round sign",
                 "has to name the right decade: “{a_decade}”|it ought to be “{a_decade}”|replace with “{a_decade}”",
                 "{new} is not in the decade of {old}|a firm begun in {new} is “{a_decade}”|the decade named holds for {old}",
                 "the ten-year period named contains the former beginning only|the era that is evoked was left with the edit|the beginning now falls into another era"),
        ],
        edges=[edge("age", "decade", "same origin", "age and decade count from one beginning|both look back to one founding|a firm of that age was born in that decade")],
        facts=[fact_pair("difference", "age", ({"start": i["value"], "end": now, "result": now - i["value"]} for i in (edit.old, edit.new)))],
    )


def full_date(day: datetime.date) -> str:
    """Write a date with its weekday.

    Examples
    --------
    >>> full_date(datetime.date(2026, 4, 5))
    'Sunday, 5 April'
    """
    return f"{WEEKDAYS[day.weekday()]}, {day.day} {MONTHS[day.month - 1]}"
