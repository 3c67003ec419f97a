"""A museum's hall, in French: the artist in standing letters over a polished floor, years of life, a bench before the banner."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import by, money

ARTISTS = {"MORVAN": "Anne", "DELCOURT": "Paul", "LEBRUN": "Claire", "VASSEUR": "Louis", "GARNIER": "Marthe"}
world = World(
    "gallery",
    lang="fr",
    labels={"artist": "the name of the artist", "born": "the year of birth", "died": "the year of death", "room": "the number of the room", "fee": "the price of entry", "works": "the number of works"},
    formats={"fee": money("{} €", ",", " "), "room": lambda n: f"SALLE {n}", "works": lambda n: f"{n} œuvres"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    born = rng.randint(1868, 1925)
    return {"artist": (who := rng.choice(list(ARTISTS))), "given": ARTISTS[who], "born": born, "died": born + rng.randint(48, 84), "room": rng.choice([104, 108, 112, 203, 207, 305]), "fee": rng.choice([900, 1000, 1200, 1400]), "works": rng.choice([36, 44, 52, 60, 72]), "paintings": 24, "family_label": "famille", "year": 2026}  # fmt: skip


world.derive("cast", "shadow", lambda artist: artist, label="the shadow of the name on the wall")
world.derive("floor", "reflection", lambda artist: artist, label="the name in the floor")
world.derive("banner", "occlusion", lambda artist: artist, label="the name on the banner behind the plant")
world.derive(
    "spine", "perspective", lambda artist: artist, label="the name on the slanted side of the catalogue"
)
world.derive(
    "letters", "abbreviation", lambda artist, given: f"{given[0]}.{artist[0]}.", label="the initials"
)
world.derive("age", "difference", lambda born, died: died - born, label="the age reached", shown=lambda n: f"{n} ans")  # fmt: skip
world.derive("jubilee", "anniversary", lambda born, year: year - born, label="the years since birth", shown=lambda n: f"{n} ans de sa naissance")  # fmt: skip
world.derive("century", "classification", lambda died: "peintre du XIXe siècle" if died < 1920 else "peintre du XXe siècle", label="the century")  # fmt: skip
world.derive("room_floor", "reflection", lambda room: room, label="the room in the floor", shown=lambda n: f"SALLE {n}")  # fmt: skip
world.derive("level", "numbering", lambda room: room // 100, label="the floor of the room", shown=lambda n: f"niveau {n}")  # fmt: skip
world.derive("drawings", "difference", lambda works, paintings: works - paintings, label="the number of drawings", shown=lambda n: f"dont {n} dessins")  # fmt: skip
world.derive(
    "reduced", "ratio", lambda fee: fee // 2, label="the reduced price", shown=money("{} €", ",", " ")
)
world.derive("family", "sum", lambda fee, reduced: 2 * fee + 2 * reduced, label="the price for a family", shown=money("{} €", ",", " "))  # fmt: skip
world.derive("cheap", "claim", lambda fee: fee <= 1000, label="the words on the sticker", shown=lambda v: "10 € ou moins" if v else "plus de 10 €")  # fmt: skip
world.cut("family", family_label="à l’année")
world.edit("artist", lambda v, rng: rng.choice([a for a in ARTISTS if a != v["artist"]]))
world.edit("born", by("born", -7, -4, 3, 6))
world.edit("died", by("died", -6, -3, 4, 7))
world.edit(
    "room",
    lambda v, rng: rng.choice([n for n in (106, 111, 202, 209, 301, 308) if n // 100 != v["room"] // 100]),
)
world.edit("fee", lambda v, rng: rng.choice([f for f in (800, 900, 1000, 1100, 1300, 1500) if f != v["fee"]]))
world.edit("works", lambda v, rng: rng.choice([n for n in (32, 40, 48, 56, 64) if n != v["works"]]))
