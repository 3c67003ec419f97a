"""A museum's sign in Greek and English: hours and last admission, tickets and half price, the closed day, summer and winter."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import DAYS, clock, clock12, money

NAMES = {"Μουσείο Κεραμικής": ("Museum of Ceramics", "jar"), "Ναυτικό Μουσείο": ("Maritime Museum", "ship"), "Μουσείο Νομισμάτων": ("Coin Museum", "coin"), "Μουσείο Μελισσών": ("Bee Museum", "bee")}  # fmt: skip
SHORT = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
euro = money("{} €", ",", ".")
world = World(
    "museum",
    lang="el",
    labels={"name": "the name", "open": "the hour of opening", "close": "the hour of closing", "price": "the price of a ticket", "shut": "the closed day", "floor": "the floor of the exhibition", "age": "the age of free entry"},
    formats={"open": clock, "close": clock, "price": euro, "shut": lambda d: DAYS["el"][d], "floor": lambda n: f"{n}ος όροφος"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    return {"name": rng.choice(list(NAMES)), "open": rng.choice([480, 510, 540, 600]), "close": rng.choice([960, 1020, 1080, 1200]), "price": rng.choice([600, 800, 1000, 1200]), "shut": rng.choice([0, 1, 2]), "floor": rng.choice([1, 2, 3]), "age": rng.choice([6, 12, 18]), "tour": rng.choice([60, 90]), "adults": 2, "kids": 2, "family_label": "Δύο ενήλικοι, δύο παιδιά"}  # fmt: skip


world.derive("en", "translation", lambda name: NAMES[name][0], label="the English name")
world.derive("art", "emblem", lambda name: NAMES[name][1], label="the emblem", shown=lambda v: f"a {v}")
world.derive("short", "abbreviation", lambda name: "".join(w[0] for w in name.split()), label="the initials")
world.derive("open_en", "translation", lambda open: clock12(open), label="the opening in English")
world.derive("close_en", "translation", lambda close: clock12(close), label="the closing in English")
world.derive("last", "clock", lambda close: close - 30, label="the last admission", shown=clock)
world.derive("hours", "duration", lambda open, close: close - open, label="the hours of opening", shown=lambda m: f"{m // 60} ώρες" if m % 60 == 0 else f"{m // 60} ½ ώρες")  # fmt: skip
world.derive("bar", "bar", lambda open, close: (open, close), label="the bar of the day", shown=lambda v: f"from {clock(v[0])} to {clock(v[1])}")  # fmt: skip
world.derive(
    "tour_at", "clock", lambda open, tour: open + tour, label="the hour of the first tour", shown=clock
)
world.derive("eve", "claim", lambda close: close > 1100, shown=lambda v: "ανοιχτά και το βράδυ" if v else "ανοιχτά ως το απόγευμα")  # fmt: skip
world.derive("half", "ratio", lambda price: price // 2, label="the reduced price", shown=euro)
world.derive("family", "sum", lambda price, half, adults, kids: price * adults + half * kids, label="the price for a family", shown=euro)  # fmt: skip
world.derive("group", "percent", lambda price: price * 8 // 10, label="the price in a group", shown=euro)
world.derive("cheap", "claim", lambda price: price // 100 + 1, label="the claim about the price", shown=lambda v: f"από {v - 1} έως {v} €")  # fmt: skip
world.derive(
    "shut_en", "translation", lambda shut: f"closed on {SHORT[shut]}", label="the closed day in English"
)
for k in range(7):
    world.derive(
        f"m{k}",
        "access",
        lambda shut, k=k: k != shut,
        of=("shut",),
        label=f"the dot of day {k + 1}",
        shown=lambda v: "an open dot" if v else "a crossed-out dot",
    )
world.derive("back", "weekday", lambda shut: DAYS["el"][(shut + 1) % 7], label="the day of opening again")
world.derive("floor_en", "translation", lambda floor: {1: "first", 2: "second", 3: "third"}[floor] + " floor", label="the floor in English")  # fmt: skip
world.derive(
    "step", "marker", lambda floor: floor, label="the mark in the section", shown=lambda n: f"floor {n}"
)
world.derive("lift", "numbering", lambda floor: f"αίθουσα {floor}01", label="the number of the room")
world.derive("age_en", "translation", lambda age: f"under {age} free", label="the age in English")
world.holds("open for some hours", lambda open, close: close - open >= 300)
world.cut("family", family_label="Οικογένεια, τιμή του 2019")
world.edit(
    "close",
    lambda v, rng: rng.choice([t for t in (900, 960, 1020, 1080, 1140, 1200, 1260) if t != v["close"]]),
)
world.edit("open", lambda v, rng: rng.choice([t for t in (450, 510, 540, 600, 630) if t != v["open"]]))
world.edit("price", lambda v, rng: rng.choice([p for p in (500, 700, 800, 900, 1400) if p != v["price"]]))
world.edit("shut", lambda v, rng: rng.choice([d for d in range(5) if d != v["shut"]]))
world.edit("name", lambda v, rng: rng.choice([n for n in NAMES if n != v["name"]]))
world.edit("floor", lambda v, rng: rng.choice([n for n in (1, 2, 3) if n != v["floor"]]))
world.edit("age", lambda v, rng: rng.choice([n for n in (6, 10, 12, 18) if n != v["age"]]))
