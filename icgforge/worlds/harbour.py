"""A yacht in a harbour, in Dutch: its name on the bow, in the water and behind a fender; the sail's number and the race's times."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import by, clock

NAMES = ["MEEUW", "STORMVOGEL", "ZILVER", "WINDROOS", "ALBATROS"]
PORTS = {"Hoorn": ("HRN", "red"), "Medemblik": ("MDB", "blue"), "Lemmer": ("LMR", "green"), "Vlissingen": ("VLI", "orange")}  # fmt: skip
world = World(
    "harbour",
    lang="nl",
    labels={"name": "the name of the boat", "number": "the sail number", "port": "the home port", "start": "the time of the start", "sailed": "the time sailed", "length": "the length"},
    formats={"start": clock, "sailed": lambda m: f"{m // 60} u {m % 60:02d}", "length": lambda v: f"{v / 10:.1f} m".replace(".", ","), "number": lambda v: f"NED {v}"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    return {"name": rng.choice(NAMES), "number": rng.randint(112, 989), "port": rng.choice(list(PORTS)), "start": rng.choice([600, 630, 660]), "finish_label": "aankomst", "sailed": rng.randint(130, 290), "length": rng.choice([82, 94, 104, 118]), "record": rng.choice([180, 200, 220])}  # fmt: skip


world.derive("water", "reflection", lambda name: name, label="the name in the water")
world.derive("water_no", "reflection", lambda number: number, label="the number in the water", shown=lambda v: f"NED {v}")  # fmt: skip
world.derive("stern", "perspective", lambda name: name, label="the name on the slanted stern")
world.derive("fender", "occlusion", lambda name: name, label="the name on the canvas behind the rope")
world.derive("through", "mirrored", lambda number: number, label="the number that shines through the other sail", shown=lambda v: f"NED {v}")  # fmt: skip
world.derive("list_no", "copy", lambda number: number, label="the number in the list", shown=lambda v: f"NED {v}")  # fmt: skip
world.derive("code", "abbreviation", lambda port: PORTS[port][0], label="the letters of the port")
world.derive("wall", "shadow", lambda code: code, label="the shadow of the letters on the quay")
world.derive("finish", "clock", lambda start, sailed: start + sailed, label="the time of finish", shown=clock)
world.derive("best", "claim", lambda sailed, record: sailed < record, label="the words about the record", shown=lambda v: "NIEUW BAANRECORD" if v else "record blijft staan")  # fmt: skip
world.derive("gap", "difference", lambda sailed, record: abs(sailed - record), label="the minutes to the record", shown=lambda m: f"{m} min")  # fmt: skip
world.derive("group", "classification", lambda length: "A" if length >= 100 else "B" if length >= 90 else "C", label="the class", shown=lambda v: f"klasse {v}")  # fmt: skip
world.derive("feet", "unit", lambda length: length / 10 / 0.3048, label="the length in feet", shown=lambda v: f"{v:.0f} voet")  # fmt: skip
world.derive("fee", "attribute", lambda group: {"A": 45, "B": 35, "C": 25}[group], label="the fee of the class", shown=lambda v: f"€ {v},–")  # fmt: skip
world.cut("finish", finish_label="vorig jaar")
world.edit("name", lambda v, rng: rng.choice([n for n in NAMES if n != v["name"]]))
world.edit("number", by("number", 11, 20, -30, 7))
world.edit("port", lambda v, rng: rng.choice([p for p in PORTS if p != v["port"]]))
world.edit("start", by("start", -30, 30, 45))
world.edit("sailed", by("sailed", -64, -41, 35, 62))
world.edit("length", lambda v, rng: rng.choice([n for n in (78, 88, 98, 110, 124) if n != v["length"]]))
