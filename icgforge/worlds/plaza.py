"""A hotel by a pool, in Spanish: letters on the roof, their shadow, the pool, the glass door, stars, prices of the night."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import by, clock, money

NAMES = {"AURORA": "Amanecer", "MIRAMAR": "Vista al mar", "ALCÁZAR": "Palacio", "CORAL": "Arrecife"}
EUR = money("{} €", ",", ".", 0)
world = World(
    "plaza",
    lang="es",
    labels={"name": "the name of the hotel", "stars": "the number of stars", "night": "the price of a night", "nights": "the number of nights", "out": "the hour of leaving", "number": "the house number"},
    formats={"stars": lambda n: f"{n} estrellas", "night": EUR, "nights": lambda n: f"{n} noches", "out": clock, "number": str},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    return {"name": rng.choice(list(NAMES)), "stars": rng.randint(2, 5), "night": rng.choice([78, 92, 105, 120, 140]) * 100 // 100, "nights": rng.choice([2, 3, 4, 5]), "out": rng.choice([630, 660, 690, 720]), "number": rng.choice([12, 17, 24, 38, 45, 61]), "tax": 2, "stay_label": "tu estancia"}  # fmt: skip


world.derive("cast", "shadow", lambda name: name, label="the shadow of the name on the wall")
world.derive("pool", "reflection", lambda name: name, label="the name in the pool")
world.derive("door", "mirrored", lambda name: name, label="the name on the glass door, seen from behind")
world.derive("key", "imprint", lambda name: name, label="the name stamped into the key tag")
world.derive("one", "abbreviation", lambda name: name[0], label="the letter on the left lamp")
world.derive("two", "counterpart", lambda one: one, label="the letter on the right lamp")
world.derive(
    "shown", "stars", lambda stars: stars, label="the row of stars", shown=lambda n: f"{n} stars filled"
)
world.derive("rank", "classification", lambda stars: "gran lujo" if stars == 5 else "primera" if stars == 4 else "turista" if stars == 3 else "sencillo", label="the class")  # fmt: skip
world.derive("pool_stars", "reflection", lambda rank: rank, label="the class in the pool")
world.derive(
    "stay", "product", lambda night, nights: night * nights, label="the price of the stay", shown=EUR
)
world.derive("taxes", "product", lambda nights, tax: nights * tax * 2, label="the tax of the stay", shown=EUR)
world.derive("total", "sum", lambda stay, taxes: stay + taxes, label="the sum", shown=EUR)
world.derive("under", "claim", lambda night: night < 100, label="the words on the banner", shown=lambda v: "POR MENOS DE 100 €" if v else "MÁS DE 100 €")  # fmt: skip
world.derive("cheap", "perspective", lambda night: night, label="the price on the slanted side of the stand", shown=EUR)  # fmt: skip
world.derive("clean", "clock", lambda out: out + 45, label="the hour of cleaning", shown=clock)
world.derive("in_", "clock", lambda out: out + 180, label="the hour of arrival", shown=clock)
world.derive("plate", "shadow", lambda number: number, label="the shadow of the house number")
world.derive("address", "address", lambda number: f"Paseo del Mar {number}", label="the address")
world.derive(
    "towel_no", "occlusion", lambda number: number, label="the number on the towel behind the parasol"
)
world.cut("stay", stay_label="estancia de ayer")
world.edit("name", lambda v, rng: rng.choice([n for n in NAMES if n != v["name"]]))
world.edit("stars", lambda v, rng: rng.choice([n for n in (2, 3, 4, 5) if n != v["stars"]]))
world.edit("night", by("night", -23, -14, 12, 25, 40))
world.edit("nights", lambda v, rng: rng.choice([n for n in (2, 3, 4, 6, 7) if n != v["nights"]]))
world.edit("out", by("out", -60, -30, 30, 60))
world.edit("number", lambda v, rng: rng.choice([n for n in (14, 19, 26, 33, 47, 58) if n != v["number"]]))
