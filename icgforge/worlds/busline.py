"""A bus in the rain, in Chinese: its number on the front, the side and in the wet street; the stop's letters and times."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import by, clock

PLACES = {"火车站": ("Railway Station", "train", 42), "大学城": ("University Town", "book", 35), "动物园": ("Zoo", "panda", 28), "体育馆": ("Stadium", "ball", 21)}  # fmt: skip
COLOURS = ("red", "blue", "green", "orange")
world = World(
    "busline",
    lang="zh",
    labels={"line": "the number of the line", "to": "the destination", "dep": "the departure", "every": "the minutes between buses", "stop": "the name of the stop", "fare": "the fare"},
    formats={"line": lambda n: f"{n}路", "dep": clock, "every": lambda m: f"每{m}分钟", "fare": lambda n: f"{n}元"},
)  # fmt: skip
STOPS = {"东门": "East Gate", "河滨": "Riverside", "古塔": "Old Tower", "花市": "Flower Market"}


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    return {"line": rng.randint(11, 98), "to": rng.choice(list(PLACES)), "dep": rng.randint(70, 250) * 5, "every": rng.choice([8, 10, 12, 15]), "stop": rng.choice(list(STOPS)), "fare": rng.choice([2, 3, 4]), "people": 3, "group_label": "三人票价"}  # fmt: skip


world.derive(
    "wet", "reflection", lambda line: line, label="the number in the wet street", shown=lambda n: f"{n}路"
)
world.derive("flank", "perspective", lambda line: line, label="the number on the slanted side of the bus", shown=lambda n: f"{n}路")  # fmt: skip
world.derive(
    "flag", "copy", lambda line: line, label="the number on the flag of the stop", shown=lambda n: f"{n}路"
)
world.derive(
    "depot", "classification", lambda line: "市区线" if line < 50 else "郊区线", label="the kind of line"
)
world.derive("coat", "colour_code", lambda depot: "red" if depot == "市区线" else "green", label="the colour of the bus")  # fmt: skip
world.derive("english", "translation", lambda to: PLACES[to][0], label="the English destination")
world.derive("sign", "pictogram", lambda to: PLACES[to][1], label="the sign of the destination", shown=lambda v: f"a {v}")  # fmt: skip
world.derive("flank_to", "perspective", lambda to: to, label="the destination on the slanted side of the bus")
world.derive("wet_to", "reflection", lambda to: to, label="the destination in the wet street")
world.derive("poster", "occlusion", lambda to: to, label="the destination on the poster behind the tree")
world.derive(
    "ride", "duration", lambda to: PLACES[to][2], label="the minutes of the ride", shown=lambda m: f"{m}分钟"
)
world.derive("arr", "clock", lambda dep, ride: dep + ride, label="the arrival", shown=clock)
world.derive("next", "clock", lambda dep, every: dep + every, label="the next bus", shown=clock)
world.derive("after", "clock", lambda next, every: next + every, label="the bus after the next", shown=clock)
world.derive(
    "hourly", "ratio", lambda every: 60 // every, label="the buses in an hour", shown=lambda n: f"每小时{n}班"
)
world.derive("often", "claim", lambda every: every <= 10, label="the words about the wait", shown=lambda v: "十分钟之内必有车" if v else "候车可能超过十分钟")  # fmt: skip
world.derive("cast", "shadow", lambda stop: stop, label="the shadow of the stop's letters")
world.derive("stop_en", "translation", lambda stop: STOPS[stop], label="the English name of the stop")
world.derive("pane", "mirrored", lambda stop: stop, label="the name on the pane, seen from behind")
world.derive(
    "group",
    "product",
    lambda fare, people: fare * people,
    label="the fare for three",
    shown=lambda n: f"{n}元",
)
world.derive(
    "child", "ratio", lambda fare: fare / 2, label="the fare for children", shown=lambda v: f"{v:g}元"
)
world.cut("group", group_label="去年票价")
world.edit("line", lambda v, rng: rng.choice([n for n in range(11, 99) if n != v["line"] and (n < 50) != (v["line"] < 50 and rng.random() < 0.6)]))  # fmt: skip
world.edit("to", lambda v, rng: rng.choice([p for p in PLACES if p != v["to"]]))
world.edit("dep", by("dep", -25, -15, 10, 20, 35))
world.edit("every", lambda v, rng: rng.choice([m for m in (6, 10, 12, 15, 20) if m != v["every"]]))
world.edit("stop", lambda v, rng: rng.choice([s for s in STOPS if s != v["stop"]]))
world.edit("fare", lambda v, rng: rng.choice([f for f in (2, 3, 4, 5) if f != v["fare"]]))
