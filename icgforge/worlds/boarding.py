"""A flight: times that hang together, seat and cabin, airport codes, zones, the language of the destination."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, clock, day_month, move, weekday

PLACES = {  # code, hours from London, flight minutes, how one is welcomed there, currency, plug
    "Lisbon": ("LIS", 0, 165, "Bem-vindo", "EUR", "F"), "Athens": ("ATH", 2, 220, "Καλώς ήρθατε", "EUR", "F"), "Istanbul": ("IST", 3, 230, "Hoş geldiniz", "TRY", "F"), "Warsaw": ("WAW", 1, 145, "Witamy", "PLN", "E"),
    "Oslo": ("OSL", 1, 125, "Velkommen", "NOK", "F"), "Dubai": ("DXB", 4, 415, "أهلًا وسهلًا", "AED", "G"), "Mumbai": ("BOM", 5.5, 545, "स्वागत है", "INR", "D"), "Tokyo": ("HND", 9, 705, "ようこそ", "JPY", "A"), "Seoul": ("ICN", 9, 690, "환영합니다", "KRW", "C"),
}  # fmt: skip
NAMES = ["ADEYEMI / TOLA MS", "LINDQUIST / ERIK MR", "OKAFOR / GRACE MS", "MARCHETTI / LEO MR"]
world = World(
    "boarding",
    labels={"dep": "the time of departure", "seat": "the seat", "to": "the destination", "date": "the date", "gate": "the gate", "number": "the flight number"},
    formats={"dep": clock},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    return {
        "name": rng.choice(NAMES), "to": rng.choice(list(PLACES)), "dep": rng.randrange(6 * 60, 22 * 60, 5), "date": Date(2026, rng.randint(2, 11), rng.randint(3, 25)),
        "seat": f"{rng.randint(4, 30)}{rng.choice('ABCDEF')}", "gate": f"{rng.choice('ABC')}{rng.randint(3, 48)}", "number": f"KV {rng.randint(203, 897)}", "ref": "".join(rng.choices("BCDFGHJKLMNPQRSTVWXZ4679", k=6)),
        "here": "On arrival in",
    }  # fmt: skip


def row(seat: str) -> int:
    """Return the row of a seat."""
    return int(seat[:-1])


world.derive("code", "abbreviation", lambda to: PLACES[to][0], label="the airport code")
world.derive("opens", "clock", lambda dep: dep - 45, label="the time of boarding", shown=clock)
world.derive("closes", "clock", lambda dep: dep - 20, label="the closing of the gate", shown=clock)
world.derive("lasts", "duration", lambda to: PLACES[to][2], label="the time of the flight", shown=lambda m: f"{m // 60} h {m % 60:02d} min")  # fmt: skip
world.derive("arr", "clock", lambda dep, lasts, to: dep + lasts + int(PLACES[to][1] * 60), label="the arrival in local time", shown=clock)  # fmt: skip
world.derive("next_day", "date", lambda arr: arr >= 24 * 60, label="the day of arrival", shown=lambda v: "+1" if v else "")  # fmt: skip
world.derive("zone", "difference", lambda to: PLACES[to][1], label="the difference of clocks", shown=lambda h: f"+{int(h)}:{'30' if h % 1 else '00'} h" if h else "same time")  # fmt: skip
world.derive("hello", "greeting", lambda to: PLACES[to][3], label="the welcome")
world.derive("cash", "attribute", lambda to: PLACES[to][4], label="the currency")
world.derive("date_t", "copy", lambda date: date, label="the date", shown=day_month("en", "{d} {m}"))
world.derive("day", "weekday", lambda date: weekday("en")(date), label="the weekday")
world.derive("back", "date", lambda date: move(date, 14), label="the last day for claims", shown=day_month("en", "{d} {m}"))  # fmt: skip
world.derive("kind", "classification", lambda seat: {"A": "Window", "F": "Window", "B": "Middle", "E": "Middle"}.get(seat[-1], "Aisle"), label="the kind of seat")  # fmt: skip
world.derive("group", "classification", lambda seat: 1 if row(seat) < 8 else 2 if row(seat) > 22 else 3, label="the boarding group")  # fmt: skip
world.derive("door", "pointer", lambda seat: row(seat) <= 15, label="the door", shown=lambda v: "Front door" if v else "Rear door")  # fmt: skip
world.derive("mark", "marker", lambda seat: (row(seat), "ABCDEF".index(seat[-1])), label="the mark in the cabin plan", shown=lambda v: f"row {v[0]}, seat {'ABCDEF'[v[1]]}")  # fmt: skip
world.derive("pier", "abbreviation", lambda gate: gate[0], label="the pier")
world.derive("walk", "attribute", lambda gate: {"A": 5, "B": 9, "C": 14}[gate[0]], label="the way to the gate", shown=lambda m: f"{m} min")  # fmt: skip
world.derive(
    "leave", "clock", lambda opens, walk: opens - walk, label="when to leave the lounge", shown=clock
)
world.derive("hour", "greeting", lambda dep: "Good morning" if dep < 720 else "Good afternoon" if dep < 1080 else "Good evening", label="the greeting")  # fmt: skip
world.derive("sky", "weather", lambda dep: "day" if 420 <= dep < 1140 else "night", label="the sky", shown=lambda v: f"a sky of {v}")  # fmt: skip
world.cut("hello", here="On your flight last spring to")
world.edit("dep", lambda v, rng: v["dep"] + rng.choice([-185, -95, 75, 140, 235]))
world.edit("seat", lambda v, rng: f"{rng.choice([5, 9, 18, 27])}{rng.choice([c for c in 'ABCDEF' if c != v['seat'][-1]])}")  # fmt: skip
world.edit("to", lambda v, rng: rng.choice([p for p in PLACES if p != v["to"]]))
world.edit("date", lambda v, rng: move(v["date"], rng.choice([-2, -1, 1, 2, 3])))
world.edit("gate", lambda v, rng: rng.choice([p for p in "ABC" if p != v["gate"][0]]) + v["gate"][1:])
world.holds("the flight leaves in the day", lambda leave, dep: leave > 240 and dep < 1430)
