"""A diner at night: neon letters over a wet street, a board on the pavement, a pie behind the glass."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import by, clock, clock12, money

PIES = {"CHERRY PIE": ("red", 480), "APPLE PIE": ("gold", 420), "LIME PIE": ("green", 540), "BERRY PIE": ("violet", 580)}  # fmt: skip
NAMES = ["ROSIE’S", "EDDIE’S", "MABEL’S", "FRANK’S", "DOLLY’S"]
world = World(
    "diner",
    labels={"name": "the name of the diner", "till": "the hour of closing", "opens": "the hour of opening", "pie": "the pie of the night", "price": "the price of a slice", "cut_in": "the number of slices"},
    formats={"till": clock12, "opens": clock, "price": money("${}")},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    pie = rng.choice(list(PIES))
    return {"name": rng.choice(NAMES), "till": 1440 + rng.choice([-60, 60, 120, 180]), "opens": rng.choice([360, 420, 1020]), "pie": pie, "price": PIES[pie][1], "cut_in": 8, "whole_label": "whole pie"}  # fmt: skip


world.derive("wet", "reflection", lambda name: name, label="the name in the wet street")
world.derive("wet_till", "reflection", lambda till: till, label="the hour in the wet street", shown=clock12)
world.derive("glass", "mirrored", lambda name: name, label="the name on the glass, seen from behind")
world.derive("cup", "abbreviation", lambda name: name[0], label="the letter on the cup")
world.derive("hours", "duration", lambda till, opens: till - opens, label="the hours", shown=lambda m: f"open {m // 60} hours a day")  # fmt: skip
world.derive("day24", "translation", lambda till: clock(till), label="the hour in the other form")
world.derive("late", "claim", lambda till: till >= 1440, label="the claim on the strip", shown=lambda v: "OPEN PAST MIDNIGHT" if v else "CLOSED BY MIDNIGHT")  # fmt: skip
world.derive("fill", "colour_code", lambda pie: PIES[pie][0], label="the colour of the filling")
world.derive("behind", "occlusion", lambda pie: pie.split()[0], label="the word behind the lamp post")
world.derive("side", "perspective", lambda price: price, label="the price on the side of the board", shown=money("${}"))  # fmt: skip
world.derive("whole", "product", lambda price, cut_in: price * cut_in - 200, label="the price of a whole pie", shown=money("${}"))  # fmt: skip
world.derive("under", "claim", lambda price: price < 500, label="the claim on the awning", shown=lambda v: "PIE UNDER $5" if v else "PIE $5 AND UP")  # fmt: skip
world.cut("whole", whole_label="2 sandwiches")
world.edit("name", lambda v, rng: rng.choice([n for n in NAMES if n != v["name"]]))
world.edit("till", lambda v, rng: rng.choice([t for t in (1320, 1380, 1500, 1560, 1620) if t != v["till"]]))
world.edit("pie", lambda v, rng: rng.choice([p for p in PIES if p != v["pie"]]))
world.edit("price", by("price", -90, -60, 60, 120))
