"""A bakery's front: letters that stand on the ledge and throw a shadow, wet paving, a door seen from inside, years of the firm."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import clock, clock12, money

SORTS = {"Rye": ("loaf", "Roggen", 480), "Brioche": ("bun", "Brioche", 560), "Baguette": ("stick", "Baguette", 320), "Pretzel": ("knot", "Brezel", 240)}  # fmt: skip
world = World(
    "bakery",
    labels={"name": "the name of the shop", "since": "the year of founding", "close": "the hour of closing", "sort": "the bread of the day", "price": "the price", "open": "the hour of opening"},
    formats={"close": clock, "open": clock, "price": money("€{}")},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    sort = rng.choice(list(SORTS))
    return {"name": rng.choice(["HANSEN", "LORENZ", "MEYERS", "ARNOLD"]), "since": rng.choice([1926, 1936, 1951, 1961, 1976]), "year": 2026, "open": rng.choice([360, 390, 420]), "close": rng.choice([1020, 1080, 1110]), "sort": sort, "price": SORTS[sort][2], "day_label": "Bread of the day", "dozen": 3}  # fmt: skip


world.derive("lying", "shadow", lambda name: name, label="the shadow of the letters")
world.derive("wet", "reflection", lambda name: name, label="the reflection in the paving")
world.derive("back", "mirrored", lambda name: name, label="the name on the glass, seen from inside")
world.derive("stamp", "imprint", lambda name: name, label="the name pressed into the crust")
world.derive("first", "abbreviation", lambda name: name[0], label="the letter on the bracket sign")
world.derive("second", "counterpart", lambda first: first, label="the letter on the other side")
world.derive("years", "anniversary", lambda since, year: year - since, label="the age of the firm", shown=lambda n: f"{n} years")  # fmt: skip
world.derive("gen", "classification", lambda years: {0: "first", 1: "second", 2: "third", 3: "fourth", 4: "fifth"}[min(years // 25, 4)] + " generation", label="the generation")  # fmt: skip
world.derive(
    "glass", "mirrored", lambda close: close, label="the closing time on the glass door", shown=clock
)
world.derive(
    "late", "access", lambda close: close >= 1080, shown=lambda v: "open after work" if v else "closes early"
)
world.derive("half", "clock", lambda close: close - 60, label="the hour of half price", shown=clock)
world.derive("hours", "duration", lambda open, close: close - open, label="the hours", shown=lambda m: f"{m // 60} h {m % 60:02d}")  # fmt: skip
world.derive("twelve", "translation", lambda close: clock12(close), label="the closing in twelve hours")
world.derive(
    "shown", "picture", lambda sort: SORTS[sort][0], label="the bread in the window", shown=lambda v: f"a {v}"
)
world.derive("german", "translation", lambda sort: SORTS[sort][1], label="the German name of the bread")
world.derive("behind", "occlusion", lambda sort: sort.upper(), label="the word behind the tree")
world.derive("evening", "ratio", lambda price: price // 2, label="half the price", shown=money("€{}"))
world.derive(
    "three",
    "product",
    lambda price, dozen: price * dozen - 50,
    label="the price of three",
    shown=money("€{}"),
)
world.cut("evening", day_label="Bread of last Sunday")
world.edit("name", lambda v, rng: rng.choice([n for n in ("HANSEN", "LORENZ", "MEYERS", "ARNOLD", "WALTER") if n != v["name"]]))  # fmt: skip
world.edit("since", lambda v, rng: rng.choice([y for y in (1921, 1931, 1946, 1956, 1986) if y != v["since"]]))
world.edit("close", lambda v, rng: rng.choice([t for t in (990, 1050, 1140, 1170) if t != v["close"]]))
world.edit("sort", lambda v, rng: rng.choice([s for s in SORTS if s != v["sort"]]))
world.edit("price", lambda v, rng: v["price"] + rng.choice([-60, 40, 80, 120]))
