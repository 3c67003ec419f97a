"""A conference badge folded in two, with the agenda of its owner: role rules colour, doors and lunch; the talk rules room and times."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, by, clock, day_month, move, weekday

ROLES = {
    "Speaker": ("red", "stage, hall and lounge"),
    "Guest": ("blue", "hall only"),
    "Press": ("green", "hall and press room"),
    "Staff": ("black", "all doors"),
}
ROOMS = {
    "Amber": (1, "left"),
    "Birch": (1, "right"),
    "Cedar": (2, "left"),
    "Dune": (2, "right"),
    "Elm": (3, "left"),
}
NAMES = ["Mirela Stoica", "Owen Tarrant", "Yuki Amano", "Dalia Rensen", "Felix Obuya"]

world = World(
    "conference",
    labels={"name": "the name", "role": "the role", "room": "the room", "start": "the beginning of the talk", "length": "the length of the talk", "date": "the date", "seat": "the seat"},
    formats={"start": clock, "length": lambda v: f"{v} minutes"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    return {"name": rng.choice(NAMES), "role": rng.choice(list(ROLES)), "room": rng.choice(list(ROOMS)), "start": rng.randrange(540, 660, 15), "length": rng.choice([20, 30, 45]), "date": Date(2026, rng.randint(3, 10), rng.randint(3, 26)), "seat": rng.randint(11, 88), "topic": rng.choice(["Quiet cities", "Maps that heal", "Wood in space"]), "end_label": "Ends"}  # fmt: skip


world.derive("turned", "counterpart", lambda name: name, label="the name on the half that faces back")
world.derive("turned_r", "counterpart", lambda role: role, label="the role on the half that faces back")
world.derive("ghost", "mirrored", lambda seat: seat, label="the seat that shows through the paper")
world.derive(
    "initials", "abbreviation", lambda name: "".join(w[0] for w in name.split()), label="the initials"
)
world.derive(
    "mail", "address", lambda name: f"{name.split()[0].lower()}@lumen-days.example", label="the address"
)
world.derive("hue", "colour_code", lambda role: ROLES[role][0], label="the band of the badge")
world.derive("doors", "access", lambda role: ROLES[role][1], label="the doors that open")
world.derive(
    "strong",
    "emphasis",
    lambda role: role == "Speaker",
    label="the words Stage pass",
    shown=lambda v: "bold" if v else "struck out",
)
world.derive(
    "floor", "attribute", lambda room: ROOMS[room][0], label="the floor", shown=lambda v: f"floor {v}"
)
world.derive(
    "way", "pointer", lambda room: ROOMS[room][1], label="the arrow", shown=lambda v: f"an arrow to the {v}"
)
world.derive(
    "dot",
    "marker",
    lambda room: "ABCDE".index(room[0]),
    label="the dot on the plan",
    shown=lambda v: f"a dot in room {'ABCDE'[v]}",
)
world.derive("room2", "copy", lambda room: room, label="the room in the agenda")
world.derive("end", "clock", lambda start, length: start + length, label="the end of the talk", shown=clock)
world.derive("coffee", "clock", lambda end: end + 10, label="the coffee break", shown=clock)
world.derive("panel", "clock", lambda coffee: coffee + 30, label="the panel", shown=clock)
world.derive("check", "clock", lambda start: start - 30, label="the sound check", shown=clock)
world.derive(
    "greet",
    "greeting",
    lambda check: "Good morning" if check < 600 else "Welcome, late riser",
    label="the greeting",
)
world.derive("day", "weekday", lambda date: weekday("en")(date), label="the weekday")
world.derive("date_t", "copy", lambda date: date, label="the date", shown=day_month("en", "{d} {m} {y}"))
world.derive("code", "code", lambda seat, initials: f"LD-{initials}-{seat}", label="the code of the badge")
world.derive(
    "row",
    "classification",
    lambda seat: "front rows" if seat < 40 else "back rows",
    label="the part of the hall",
)
world.holds("the talk is in the morning", lambda end: end <= 720)
world.cut("end", end_label="Rehearsal ended")
world.edit("name", lambda v, rng: rng.choice([n for n in NAMES if n != v["name"]]))
world.edit("role", lambda v, rng: rng.choice([n for n in ROLES if n != v["role"]]))
world.edit("room", lambda v, rng: rng.choice([n for n in ROOMS if n != v["room"]]))
world.edit("start", by("start", -30, 30, 45))
world.edit("length", lambda v, rng: rng.choice([n for n in (20, 30, 45) if n != v["length"]]))
world.edit("date", lambda v, rng: move(v["date"], rng.choice([-2, -1, 1, 2])))
world.edit("seat", by("seat", -9, 8, 31))
