"""An election night in Sweden: seats of five parties, the chamber, a majority or none, who leads and by how much."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World

PARTIES = {"a": ("Havslistan", "Sea List", "blue"), "b": ("Skogspartiet", "Forest Party", "green"), "c": ("Folkets väg", "People’s Way", "red"), "d": ("Ny kust", "New Coast", "amber"), "e": ("Byarna", "The Villages", "purple")}  # fmt: skip
ALL = 61
world = World(
    "election",
    lang="sv",
    labels={k: f"the seats of {v[0]}" for k, v in PARTIES.items()} | {"turnout": "the turnout", "last": "the turnout of last time", "done": "the share that is counted"},
    formats={"turnout": lambda t: f"{t} %", "done": lambda t: f"{t} %", "last": lambda t: f"{t} %"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    a, b, c, d = rng.randint(15, 20), rng.randint(8, 13), rng.randint(11, 15), rng.randint(5, 8)
    return {"bloc_label": "Alliansen, Hav och Skog", "a": a, "b": b, "c": c, "d": d, "e": ALL - 3 - a - b - c - d, "year": 2026, "turnout": rng.choice([71, 76, 79, 83]), "last": rng.choice([74, 77, 81]), "done": rng.choice([62, 78, 85, 94]), "town": rng.choice(["Norrvik", "Sandhamra", "Ekeby"]), "open": 3}  # fmt: skip


for k, row in PARTIES.items():
    world.derive(
        f"bar_{k}", "bar", lambda n: n, of=(k,), label=f"the bar of {row[0]}", shown=lambda n: f"{n} seats"
    )
world.derive("given", "sum", lambda a, b, c, d, e: a + b + c + d + e, label="the seats that are given")
world.derive("rest", "difference", lambda given: ALL - given, label="the seats still open")
world.derive(
    "rest_en", "translation", lambda rest: f"{rest} seats still to be declared", label="the English line"
)
world.derive("chamber", "quantity_shown", lambda a, b, c, d, e: (a, b, c, d, e), label="the drawn chamber", shown=lambda v: f"a chamber of {', '.join(map(str, v))}")  # fmt: skip
world.derive("bloc", "sum", lambda a, b: a + b, label="the seats of the alliance")
world.derive("other", "sum", lambda c, d, e: c + d + e, label="the seats of the opposition")
world.derive("major", "claim", lambda bloc: bloc >= 31, label="the claim of a majority", shown=lambda v: "Alliansen har majoritet" if v else "Ingen egen majoritet")  # fmt: skip
world.derive("major_en", "translation", lambda major: "The alliance has a majority" if major else "No majority yet", label="the English headline")  # fmt: skip
world.derive("short", "difference", lambda bloc: abs(bloc - 31), label="the distance to a majority")
world.derive("first", "rank", lambda a, b, c, d, e: PARTIES["abcde"[max(range(5), key=lambda k: (a, b, c, d, e)[k])]][0], label="the largest party")  # fmt: skip
world.derive("lead", "difference", lambda a, b, c, d, e: sorted((a, b, c, d, e))[-1] - sorted((a, b, c, d, e))[-2], label="the lead in seats")  # fmt: skip
world.derive("tone", "colour_code", lambda first: next(v[2] for v in PARTIES.values() if v[0] == first), label="the colour of the largest party", shown=str)  # fmt: skip
for k, row in PARTIES.items():
    world.derive(f"name_{k}", "emphasis", lambda first, own=row[0]: (own, own == first), of=("first",), label=f"the name of {row[0]}", shown=lambda v: v[0])  # fmt: skip
world.derive("trend", "pointer", lambda turnout, last: turnout > last, label="the arrow of the turnout", shown=lambda v: "an arrow up" if v else "an arrow down")  # fmt: skip
world.derive("diff", "difference", lambda turnout, last: abs(turnout - last), label="the change of the turnout", shown=lambda n: f"{n} enhet{'er' * (n != 1)}")  # fmt: skip
world.derive("ring", "slice", lambda done: round(3.6 * done), label="the ring of what is counted", shown=lambda a: f"{a}°")  # fmt: skip
world.derive("stage", "classification", lambda done: "nästan klart" if done >= 90 else "räkning pågår" if done >= 70 else "tidigt läge", label="the word for the count")  # fmt: skip
world.holds("seats add up, with one largest party", lambda rest, e, a, b, c, d: rest >= 0 and e >= 3 and max(a, b, c, d, e) <= 24 and sorted((a, b, c, d, e))[-1] > sorted((a, b, c, d, e))[-2])  # fmt: skip
world.holds("the turnout changes", lambda turnout, last: turnout != last)
world.cut("bloc", bloc_label="Alliansen förra valet")
world.edit("a", lambda v, rng: v["a"] + rng.choice([-4, -3, -2, 1, 2, 3]))
world.edit("b", lambda v, rng: v["b"] + rng.choice([-3, -2, 1, 2, 3]))
world.edit("c", lambda v, rng: v["c"] + rng.choice([-3, -2, 1, 2, 3]))
world.edit(
    "turnout", lambda v, rng: rng.choice([t for t in (69, 73, 80, 86) if t not in (v["turnout"], v["last"])])
)
world.edit("done", lambda v, rng: rng.choice([t for t in (55, 72, 88, 97) if abs(t - v["done"]) > 4]))
