"""A wedding in two languages: names that face each other, date and weekday, the reply, dress, hours, how many come."""

from __future__ import annotations

import calendar
from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, clock, day_month, move, weekday

BRIDES = {"Noa": "נועה", "Tamar": "תמר", "Yael": "יעל", "Maya": "מאיה", "Ruth": "רות"}
GROOMS = {"Daniel": "דניאל", "Ilan": "אילן", "Omer": "עומר", "Adam": "אדם", "Jonah": "יונה"}
PLACES = {
    "The Olive Garden": ("גן הזית", "tree"),
    "Harbour House": ("בית הנמל", "boat"),
    "The Old Mill": ("הטחנה הישנה", "mill"),
}
DRESS = {"Black tie": ("חליפה ועניבת פרפר", "bow"), "Garden dress": ("לבוש קיצי", "hat"), "White and linen": ("לבן ופשתן", "dress")}  # fmt: skip
world = World(
    "wedding",
    labels={"bride": "the name of the bride", "groom": "the name of the groom", "date": "the date", "start": "the hour of the ceremony", "place": "the place", "dress": "the dress code", "met": "the year they met"},
    formats={"start": clock},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    return {"bride": rng.choice(list(BRIDES)), "groom": rng.choice(list(GROOMS)), "date": Date(2026, rng.randint(4, 10), rng.randint(5, 24)), "start": rng.choice([960, 1020, 1050, 1080]), "place": rng.choice(list(PLACES)), "dress": rng.choice(list(DRESS)), "met": rng.choice([2014, 2016, 2018, 2019]), "reply_label": "Please reply six weeks before, by"}  # fmt: skip


world.derive("bride_he", "translation", lambda bride: BRIDES[bride], label="the bride’s name in Hebrew")
world.derive("groom_he", "translation", lambda groom: GROOMS[groom], label="the groom’s name in Hebrew")
world.derive("left", "abbreviation", lambda bride: bride[0], label="the left letter of the monogram")
world.derive("right", "abbreviation", lambda groom: groom[0], label="the right letter of the monogram")
world.derive("wax", "imprint", lambda left, right: f"{left}{right}", label="the letters in the wax")
world.derive("turn_l", "counterpart", lambda right: right, label="the turned letter at the lower left")
world.derive("turn_r", "counterpart", lambda left: left, label="the turned letter at the lower right")
world.derive("date_t", "copy", lambda date: date, label="the date", shown=day_month("en", "{d} {m} {y}"))
world.derive("day", "weekday", lambda date: weekday("en")(date), label="the weekday")
world.derive("date_he", "translation", lambda date: date, label="the date in Hebrew", shown=day_month("he"))
world.derive("day_he", "translation", lambda date: weekday("he")(date), label="the weekday in Hebrew")
world.derive(
    "reply", "date", lambda date: move(date, -42), label="the last day of reply", shown=day_month("en")
)
world.derive("reply_day", "weekday", lambda reply: weekday("en")(reply), label="the weekday of the reply")
world.derive("brunch", "date", lambda date: move(date, 1), label="the day of the brunch", shown=lambda d: f"{calendar.day_name[d.weekday()]} {d.day} {calendar.month_abbr[d.month]}")  # fmt: skip
world.derive("flower", "season", lambda date: "spring" if date.month < 6 else "summer" if date.month < 9 else "autumn", label="the flowers", shown=lambda s: f"flowers of {s}")  # fmt: skip
world.derive("drinks", "clock", lambda start: start - 45, label="the hour of drinks", shown=clock)
world.derive("dinner", "clock", lambda start: start + 90, label="the hour of dinner", shown=clock)
world.derive("dance", "clock", lambda dinner: dinner + 120, label="the hour of dancing", shown=clock)
world.derive("start_he", "copy", lambda start: start, label="the hour in Hebrew", shown=clock)
world.derive("place_he", "translation", lambda place: PLACES[place][0], label="the place in Hebrew")
world.derive("house", "picture", lambda place: PLACES[place][1], label="the drawing of the place", shown=lambda v: f"a {v}")  # fmt: skip
world.derive("dress_he", "translation", lambda dress: DRESS[dress][0], label="the dress code in Hebrew")
world.derive("worn", "dress", lambda dress: DRESS[dress][1], label="the drawing of what to wear", shown=lambda v: f"a {v}")  # fmt: skip
world.derive("years", "anniversary", lambda met, date: date.year - met, label="the years together", shown=lambda n: f"{n} years")  # fmt: skip
world.cut("reply", reply_label="Thank you for your reply of")
world.edit("bride", lambda v, rng: rng.choice([n for n in BRIDES if n[0] != v["bride"][0]]))
world.edit("groom", lambda v, rng: rng.choice([n for n in GROOMS if n[0] != v["groom"][0]]))
world.edit("date", lambda v, rng: move(v["date"], rng.choice([-3, -2, -1, 1, 2, 4])))
world.edit("start", lambda v, rng: rng.choice([t for t in (930, 990, 1035, 1065, 1110) if t != v["start"]]))
world.edit("place", lambda v, rng: rng.choice([p for p in PLACES if p != v["place"]]))
world.edit("dress", lambda v, rng: rng.choice([d for d in DRESS if d != v["dress"]]))
