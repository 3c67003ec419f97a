"""A station's departures: line and product, platform and way to it, delay and what it does to the bus connection."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import clock

LINES = {  # product, what it is called, takes bicycles, valid with a regional ticket
    "RE 1": ("RE", "Regional-Express", True, True), "RE 5": ("RE", "Regional-Express", True, True), "RB 14": ("RB", "Regionalbahn", True, True),
    "S 3": ("S", "S-Bahn", True, True), "S 8": ("S", "S-Bahn", True, True), "IC 2071": ("IC", "Intercity", True, False), "IC 2144": ("IC", "Intercity", True, False),
    "ICE 607": ("ICE", "Intercity-Express", False, False), "ICE 1523": ("ICE", "Intercity-Express", False, False),
}  # fmt: skip
COLOUR = {"RE": "red", "RB": "orange", "S": "green", "IC": "grey", "ICE": "white"}
STOPS = {"Rostock": ("Bützow", "Schwaan"), "Stralsund": ("Pasewalk", "Greifswald"), "Magdeburg": ("Burg", "Genthin"), "Cottbus": ("Lübbenau", "Vetschau"), "Görlitz": ("Weißwasser", "Horka"),
         "Leipzig": ("Wittenberg", "Bitterfeld"), "Dessau": ("Roßlau", "Bad Belzig"), "Schwerin": ("Ludwigslust", "Wittenberge"), "Eberswalde": ("Bernau", "Rüdnitz")}  # fmt: skip
WALK = {1: 2, 2: 2, 3: 3, 4: 3, 5: 5, 6: 5, 7: 6, 8: 6}

world = World(
    "departures",
    lang="de",
    labels={k + str(i): f"the {w} of the {n} train" for k, w in (("l", "line"), ("z", "destination"), ("g", "platform"), ("d", "delay"), ("t", "time")) for i, n in enumerate(("first", "second", "third", "fourth", "fifth"), 1)}
    | {"bus": "the time of the bus"},
    formats={"t": clock, "d": lambda d: f"+{d}", "bus": clock, "bike": lambda b: "a bicycle" if b else "no bicycle"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    lines, ends, tracks = rng.sample(list(LINES), 5), rng.sample(list(STOPS), 5), rng.sample(range(1, 9), 5)
    start = rng.randint(6 * 60, 21 * 60)
    times = [start, start + 6, start + 13, start + 19, start + 27]
    out: Values = {
        "now": start - 9,
        "d2": rng.choice([5, 10]),
        "d4": rng.choice([5, 10, 15]),
        "hall": rng.choice(["Nordhalle", "Osthalle"]),
    }
    for i in range(5):
        out |= {f"t{i + 1}": times[i], f"l{i + 1}": lines[i], f"z{i + 1}": ends[i], f"g{i + 1}": tracks[i]}
    return out | {"bus": times[1] + 95, "ride": 70, "panel_label": "Ihr nächster Zug", "bus_label": "Bus 25 zum Strand"}  # fmt: skip


for i in "12345":
    world.derive(f"c{i}", "colour_code", lambda line: COLOUR[LINES[line][0]], of=(f"l{i}",))
    world.derive(
        f"bike{i}", "pictogram", lambda line: LINES[line][2], of=(f"l{i}",), label="the bicycle sign"
    )
    world.derive(f"via{i}", "members", lambda end: " – ".join(STOPS[end]), of=(f"z{i}",), label="the stops")
    world.derive(
        f"way{i}", "pointer", lambda g: "left" if g <= 4 else "right", of=(f"g{i}",), label="the arrow"
    )
for i in "24":
    world.derive(
        f"e{i}",
        "clock",
        lambda t, d: t + d,
        of=(f"t{i}", f"d{i}"),
        label="the expected departure",
        shown=clock,
    )
world.derive("product", "classification", lambda l2: LINES[l2][1], label="the product of the second train")
world.derive(
    "ticket",
    "access",
    lambda l2: LINES[l2][3],
    shown=lambda v: "Deutschland-Ticket gilt" if v else "nur mit Fernfahrkarte",
)
world.derive(
    "walk", "attribute", lambda g2: WALK[g2], label="the minutes on foot", shown=lambda v: f"{v} Minuten"
)
world.derive("go", "clock", lambda e2, walk: e2 - walk, label="when to start walking", shown=clock)
world.derive("arrive", "clock", lambda e2, ride: e2 + ride, label="the arrival", shown=clock)
world.derive(
    "reach",
    "claim",
    lambda arrive, bus: bus - arrive >= 5,
    shown=lambda v: "wird erreicht" if v else "wird nicht erreicht",
)
world.derive("speak", "copy", lambda g2: g2)
world.derive("fork", "pointer", lambda g2: "left" if g2 <= 4 else "right")
world.holds(
    "five trains, five platforms and lines",
    lambda g1, g2, g3, g4, g5, l1, l2, l3, l4, l5: (
        len({g1, g2, g3, g4, g5}) == len({l1, l2, l3, l4, l5}) == 5
    ),
)
world.holds("five destinations", lambda z1, z2, z3, z4, z5: len({z1, z2, z3, z4, z5}) == 5)
world.holds("there is time to walk", lambda go, now: go > now)
world.cut("fork", panel_label="Morgen um diese Zeit")
world.edit("g2", lambda v, rng: rng.choice([g for g in WALK if g not in (v["g1"], v["g2"], v["g3"], v["g4"], v["g5"]) and abs(WALK[g] - WALK[v["g2"]]) > 0] or [None]))  # fmt: skip
world.edit("d2", lambda v, rng: rng.choice([d for d in (15, 20, 25, 35) if d != v["d2"]]))
world.edit("d4", lambda v, rng: v["d4"] + rng.choice([5, 10, 15]))
world.edit("l2", lambda v, rng: rng.choice([n for n in LINES if n not in [v[f"l{i}"] for i in "12345"] and LINES[n][0] != LINES[v["l2"]][0]]))  # fmt: skip
world.edit("z2", lambda v, rng: rng.choice([z for z in STOPS if z not in [v[f"z{i}"] for i in "12345"]]))
