"""A house at a gate, in Italian: iron letters with their shadow, a brass plate, bells, the month's warden in bold."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import by, clock

HOUSES = {"ULIVI": ("olive", "The Olives"), "PINI": ("pine", "The Pines"), "ROSE": ("rose", "The Roses"), "CEDRI": ("lemon", "The Citrons")}  # fmt: skip
FAMILIES = ["Bassi", "Conti", "Ferri", "Gallo", "Marchetti", "Neri", "Sala", "Villa"]
MONTHS = ["gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto", "settembre", "ottobre", "novembre", "dicembre"]  # fmt: skip
world = World(
    "gate",
    lang="it",
    labels={"house": "the name of the house", "number": "the house number", "month": "the month", "since": "the year of building", "close": "the hour at which the gate closes", "f1": "the first family", "f2": "the second family", "f3": "the third family", "f4": "the fourth family"},
    formats={"close": clock, "number": str, "month": lambda k: MONTHS[k - 1]},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    return {f"f{k}": f for k, f in enumerate(rng.sample(FAMILIES, 4), 1)} | {"house": rng.choice(list(HOUSES)), "number": rng.choice([7, 14, 18, 26, 31, 52]), "month": rng.randint(1, 12), "since": rng.choice([1896, 1905, 1911, 1924, 1931]), "year": 2026, "close": rng.choice([1260, 1290, 1320, 1350]), "street": "Via dei Colli", "rota_label": "turno di"}  # fmt: skip


world.derive("ground", "shadow", lambda house: house, label="the shadow of the letters on the ground")
world.derive("wall", "shadow", lambda number: number, label="the shadow of the number on the pillar")
world.derive("plate", "imprint", lambda house: house, label="the name engraved in the brass plate")
world.derive("plate_no", "imprint", lambda number: number, label="the number engraved in the brass plate")
world.derive(
    "inside", "mirrored", lambda house: house, label="the name on the lamp's glass, seen from inside"
)
world.derive("drawn", "picture", lambda house: HOUSES[house][0], label="the picture on the tiles", shown=lambda v: f"a {v}")  # fmt: skip
world.derive("english", "translation", lambda house: HOUSES[house][1], label="the English name")
world.derive("address", "address", lambda street, number: f"{street} {number}", label="the address")
world.derive(
    "tree", "occlusion", lambda address: address.upper(), label="the address on the wall behind the tree"
)
world.derive("age", "anniversary", lambda since, year: year - since, label="the age of the house", shown=lambda n: f"{n} anni")  # fmt: skip
world.derive("hundred", "claim", lambda age: age >= 100, label="the words about the century", shown=lambda v: "centenaria" if v else "non ancora centenaria")  # fmt: skip
world.derive("turn", "rank", lambda month: (month - 1) % 4, label="the bell of the warden", shown=lambda k: f"bell {k + 1}")  # fmt: skip
for _k in range(4):
    world.derive(f"e{_k + 1}", "emphasis", lambda turn, k=_k: turn == k, of=("turn",), label=f"the name at bell {_k + 1}", shown=lambda v: "bold" if v else "light")  # fmt: skip
world.derive("warden", "copy", lambda turn, f1, f2, f3, f4: (f1, f2, f3, f4)[turn], label="the warden")
world.derive("next_month", "calendar", lambda month: month % 12 + 1, label="the next month", shown=lambda k: MONTHS[k - 1])  # fmt: skip
world.derive(
    "after", "copy", lambda turn, f1, f2, f3, f4: (f1, f2, f3, f4)[(turn + 1) % 4], label="the next warden"
)
world.derive("season", "season", lambda month: ("inverno", "primavera", "estate", "autunno")[month % 12 // 3], label="the time of year")  # fmt: skip
world.derive("lamps", "clock", lambda close: close - 30, label="the hour of the lamps", shown=clock)
world.derive("short", "abbreviation", lambda house: f"V.{house[0]}.", label="the letters on the letter box")
world.holds("four families", lambda f1, f2, f3, f4: len({f1, f2, f3, f4}) == 4)
world.cut("warden", rota_label="custode:")
world.edit("house", lambda v, rng: rng.choice([h for h in HOUSES if h != v["house"]]))
world.edit("number", lambda v, rng: rng.choice([n for n in (9, 16, 23, 38, 44, 61) if n != v["number"]]))
world.edit("month", lambda v, rng: rng.choice([m for m in range(1, 13) if (m - v["month"]) % 4]))
world.edit("since", by("since", -9, -4, 6, 12))
world.edit("close", lambda v, rng: rng.choice([t for t in (1245, 1275, 1305, 1335, 1365) if t != v["close"]]))
