"""A hotel's bill in English and Arabic: nights, tax and total, two currencies, who may use the pool, the hour of leaving."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, day_month, money, move, weekday

ROOMS = {"Standard": ("غرفة عادية", 32, 1), "Superior": ("غرفة مميزة", 45, 2), "Suite": ("جناح", 80, 4)}
dirham = money("AED {}", digits=0)
world = World(
    "hotel",
    labels={"nights": "the number of nights", "room": "the kind of room", "rate": "the price a night", "arrive": "the day of arrival", "number": "the number of the room", "guests": "the number of guests", "meal": "the price of a breakfast", "tax": "the rate of tax"},
    formats=dict.fromkeys(("rate", "meal", "taxed", "net", "total"), dirham) | {"tax": lambda t: f"{t}%"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    return {"guest": rng.choice(["Ms L. Haddad", "Mr P. Novak", "Dr S. Ito", "Mrs C. Okoye"]), "nights": rng.choice([2, 3, 4, 5]), "room": rng.choice(list(ROOMS)), "rate": rng.choice([400, 450, 500, 600]), "arrive": Date(2026, rng.randint(1, 11), rng.randint(3, 22)), "number": rng.randint(2, 14) * 100 + rng.randint(1, 28), "guests": rng.choice([1, 2]), "meal": rng.choice([40, 50, 60]), "tax": 10, "points_label": "Points for this stay", "bill": rng.randint(20110, 20980)}  # fmt: skip


world.derive(
    "rooms", "product", lambda nights, rate: nights * rate, label="the sum of the nights", shown=dirham
)
world.derive("meals", "product", lambda nights, guests, meal: nights * guests * meal, label="the sum of breakfasts", shown=dirham)  # fmt: skip
world.derive("eaten", "product", lambda nights, guests: nights * guests, label="the number of breakfasts")
world.derive("net", "sum", lambda rooms, meals: rooms + meals, label="the net amount")
world.derive("taxed", "percent", lambda net, tax: round(net * tax / 100), label="the tax")
world.derive("total", "sum", lambda net, taxed: net + taxed, label="the total")
world.derive(
    "euro", "unit", lambda total: round(total / 4), label="the total in euros", shown=money("€{}", digits=0)
)
world.derive("points", "ratio", lambda net: net // 10, label="the points", shown=lambda n: f"{n:,}")
world.derive("leave", "date", lambda arrive, nights: move(arrive, nights), label="the day of departure", shown=day_month("en", "{d} {m}"))  # fmt: skip
world.derive("leave_day", "weekday", lambda leave: weekday("en")(leave), label="the weekday of departure")
world.derive(
    "leave_ar", "translation", lambda leave: weekday("ar")(leave), label="the weekday of departure in Arabic"
)
world.derive(
    "arrive_t", "copy", lambda arrive: arrive, label="the day of arrival", shown=day_month("en", "{d} {m}")
)
world.derive("arrive_day", "weekday", lambda arrive: weekday("en")(arrive), label="the weekday of arrival")
world.derive("arrive_ar", "translation", lambda arrive_day: dict(zip("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(), "الاثنين الثلاثاء الأربعاء الخميس الجمعة السبت الأحد".split(), strict=True))[arrive_day], label="the weekday of arrival in Arabic")  # fmt: skip
world.derive("room_ar", "translation", lambda room: ROOMS[room][0], label="the kind of room in Arabic")
world.derive(
    "size", "attribute", lambda room: ROOMS[room][1], label="the size of the room", shown=lambda n: f"{n} m²"
)
world.derive(
    "stars", "stars", lambda room: ROOMS[room][2], label="the signs of comfort", shown=lambda n: f"{n} signs"
)
world.derive("pool", "access", lambda room: ROOMS[room][2] > 1, label="the pool", shown=lambda v: "Pool included" if v else "Pool AED 80 a day")  # fmt: skip
world.derive(
    "floor", "classification", lambda number: number // 100, label="the floor", shown=lambda n: f"Floor {n}"
)
world.derive("lift", "pointer", lambda number: "north" if number % 2 else "south", label="the arrow to the lift", shown=lambda v: f"an arrow to the {v}")  # fmt: skip
world.derive("card", "copy", lambda number: number)
world.derive("long", "offer", lambda nights: nights >= 4, label="the late departure", shown=lambda v: "Late check-out 15:00" if v else "Check-out 11:00")  # fmt: skip
world.derive("bill_no", "code", lambda number, bill: f"{bill}-{number}", label="the number of the bill")
world.derive("dear", "classification", lambda total: total >= 2500, label="the request for a signature")
world.cut("points", points_label="Points of last year")
world.edit("nights", lambda v, rng: rng.choice([n for n in (1, 2, 3, 4, 5, 6) if n != v["nights"]]))
world.edit("rate", lambda v, rng: v["rate"] + rng.choice([-50, 50, 100, 150]))
world.edit("room", lambda v, rng: rng.choice([r for r in ROOMS if r != v["room"]]))
world.edit("arrive", lambda v, rng: move(v["arrive"], rng.choice([-2, -1, 1, 2, 3])))
world.edit(
    "number", lambda v, rng: rng.choice([3, 5, 7, 9, 11]) * 100 + v["number"] % 100 + rng.choice([-1, 1])
)
world.edit("guests", lambda v, rng: rng.choice([n for n in (1, 2) if n != v["guests"]]))
