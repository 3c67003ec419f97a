"""A football match and the table after it: points, places, form, who leads, how full the ground is."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World

TEAMS = {  # short name, colours of the shirt, ground and its seats
    "Harrow Vale": ("HAV", "red", "Mill Road", 18400), "Port Ashby": ("PAS", "blue", "Dock Park", 22600), "Kelton Town": ("KEL", "green", "The Meadow", 15200),
    "Wexmoor": ("WEX", "amber", "Priory Field", 12800), "North Brae": ("NBR", "purple", "Braeside", 19500), "Saltings": ("SAL", "black", "Harbour End", 14100),
}  # fmt: skip
world = World(
    "match",
    labels={"home": "the home team", "away": "the visiting team", "hg": "the goals of the home team", "ag": "the goals of the visiting team", "minute": "the minute", "crowd": "the number of spectators", "ball": "the possession"},
    formats={"minute": lambda m: f"{m}′", "crowd": lambda n: f"{n:,}", "ball": lambda b: f"{b}%"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    names = rng.sample(list(TEAMS), 5)
    points = [rng.choice([36, 42]), rng.choice([32, 40]), *rng.sample([44, 38, 31], 3)]
    seats = TEAMS[names[0]][3]
    out: Values = {
        "home": names[0],
        "away": names[1],
        "hg": rng.randint(0, 4),
        "ag": rng.randint(0, 3),
        "minute": rng.randint(8, 84),
        "crowd": seats * rng.randint(55, 96) // 100,
        "ball": rng.choice([38, 44, 47, 53, 58, 63]),
        "table_label": "Table after the match",
        "round": rng.randint(17, 26),
    }
    return out | {f"n{i}": n for i, n in enumerate(names, 1)} | {f"b{i}": p for i, p in enumerate(points, 1)}  # fmt: skip


def won(a: int, b: int) -> int:
    """Return the points for goals and goals against."""
    return 3 if a > b else 1 if a == b else 0


world.derive("hs", "abbreviation", lambda home: TEAMS[home][0], label="the short name of the home team")
world.derive("as_", "abbreviation", lambda away: TEAMS[away][0], label="the short name of the visiting team")
world.derive("hc", "colour_code", lambda home: TEAMS[home][1], label="the shirt of the home team", shown=lambda c: f"a {c} shirt")  # fmt: skip
world.derive("ac", "colour_code", lambda away: TEAMS[away][1], label="the shirt of the visiting team", shown=lambda c: f"a {c} shirt")  # fmt: skip
world.derive("ground", "attribute", lambda home: TEAMS[home][2], label="the ground")
world.derive("verb", "classification", lambda hg, ag: "beat" if hg > ag else "lose to" if hg < ag else "draw with", label="the verb of the headline")  # fmt: skip
world.derive("goals", "sum", lambda hg, ag: hg + ag, label="the goals in all")
world.derive("gap", "difference", lambda hg, ag: abs(hg - ag), label="the difference of goals", shown=lambda n: f"{n} goal{'s' * (n != 1)}")  # fmt: skip
world.derive("p1", "sum", lambda b1, hg, ag: b1 + won(hg, ag), label="the points of the home team")
world.derive("p2", "sum", lambda b2, hg, ag: b2 + won(ag, hg), label="the points of the visiting team")
world.derive("f1", "colour_code", lambda hg, ag: won(hg, ag), label="the last mark in the form of the home team", shown=lambda v: {3: "a green W", 1: "a grey D", 0: "a red L"}[v])  # fmt: skip
world.derive("f2", "colour_code", lambda hg, ag: won(ag, hg), label="the last mark in the form of the visiting team", shown=lambda v: {3: "a green W", 1: "a grey D", 0: "a red L"}[v])  # fmt: skip
ALL = ("p1", "p2", "b3", "b4", "b5")
for k in range(5):
    world.derive(
        f"r{k + 1}",
        "rank",
        lambda own, *rest: 1 + sum(p > own for p in rest),
        of=(ALL[k], *(p for p in ALL if p != ALL[k])),
        label="a place in the table",
    )
world.derive("lead", "rank", lambda r1, r2, r3, r4, r5, n1, n2, n3, n4, n5: (n1, n2, n3, n4, n5)[(r1, r2, r3, r4, r5).index(1)], label="the leaders")  # fmt: skip
world.derive("led", "rank", lambda r1, r2, r3, r4, r5: (r1, r2, r3, r4, r5).index(1) + 1, label="the mark of the leaders", shown=lambda k: f"line {k}")  # fmt: skip
world.derive("margin", "difference", lambda p1, p2, b3, b4, b5: sorted((p1, p2, b3, b4, b5))[-1] - sorted((p1, p2, b3, b4, b5))[-2], label="the lead in points", shown=lambda n: f"{n} point{'s' * (n != 1)}")  # fmt: skip
world.derive("full", "percent", lambda crowd, home: round(100 * crowd / TEAMS[home][3]), label="how full the ground is", shown=lambda v: f"{v}%")  # fmt: skip
world.derive(
    "stand", "gauge", lambda full: full, label="the bar of the spectators", shown=lambda v: f"filled to {v}%"
)
world.derive("empty", "difference", lambda crowd, home: TEAMS[home][3] - crowd, label="the empty seats", shown=lambda n: f"{n:,}")  # fmt: skip
world.derive(
    "half", "classification", lambda minute: "1st half" if minute <= 45 else "2nd half", label="the half"
)
world.derive("left", "countdown", lambda minute: 90 - minute, label="the minutes left", shown=lambda m: f"{m} min to play")  # fmt: skip
world.derive("dot", "marker", lambda minute: minute, label="the mark on the line of time", shown=lambda m: f"minute {m}")  # fmt: skip
world.derive(
    "hb", "quantity_shown", lambda hg: hg, label="the balls of the home team", shown=lambda n: f"{n} balls"
)
world.derive("ab", "quantity_shown", lambda ag: ag, label="the balls of the visiting team", shown=lambda n: f"{n} balls")  # fmt: skip
world.derive("ahead", "pointer", lambda hg, ag: (hg > ag) - (hg < ag), label="the arrow to who leads", shown=lambda v: ("the visitors", "nobody", "the home team")[v + 1])  # fmt: skip
world.derive("rest", "difference", lambda ball: 100 - ball, label="the possession of the other team", shown=lambda v: f"{v}%")  # fmt: skip
world.derive("split", "bar", lambda ball: ball, label="the bar of possession", shown=lambda v: f"{v} of 100")
world.holds("no two have equal points", lambda p1, p2, b3, b4, b5: len({p1, p2, b3, b4, b5}) == 5)
world.holds("nobody stands on the roof", lambda full: 40 <= full <= 100)
world.holds("goals that can be", lambda hg, ag: 0 <= hg <= 5 and 0 <= ag <= 5)
world.cut("lead", table_label="Table before the match")
for goal in ("p1", "p2", "r1", "r2"):
    world.cut(goal, table_label="Table before the match")
world.edit("hg", lambda v, rng: max(0, v["hg"] + rng.choice([-2, -1, 1, 2])))
world.edit("ag", lambda v, rng: max(0, v["ag"] + rng.choice([-2, -1, 1, 2])))
world.edit(
    "minute", lambda v, rng: rng.choice([m for m in (12, 31, 44, 52, 67, 81) if abs(m - v["minute"]) > 9])
)
world.edit("crowd", lambda v, rng: v["crowd"] + rng.choice([-2310, -1470, 860, 1240]))
world.edit("ball", lambda v, rng: rng.choice([b for b in (35, 42, 49, 56, 66) if abs(b - v["ball"]) > 4]))
world.edit("away", lambda v, rng: rng.choice([t for t in TEAMS if t not in [v[f"n{k}"] for k in "12345"]]))
