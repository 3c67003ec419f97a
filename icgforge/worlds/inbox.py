"""A mailbox on a screen: folders with unread mail are bold and have a badge; sums, sizes, the open folder in path and title."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import by

FOLDERS = ("Inbox", "Orders", "Travel", "Family")
COUNTS = ("c1", "c2", "c3", "c4")
TITLES = {"HR": "people", "Accounting": "money", "Events": "flag", "Customer service": "phone"}
world = World(
    "inbox",
    labels={f"c{k}": f"the unread letters in {f}" for k, f in enumerate(FOLDERS, 1)} | {"team": "the team", "used": "the space in use", "minutes": "the minutes between checks"},
    formats={"c": str, "used": lambda n: f"{n / 10:.1f} GB", "minutes": lambda n: f"{n} min"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    return {f"c{k}": rng.choice([0, 0, 3, 7, 12, 18]) for k in range(1, 5)} | {"team": rng.choice(list(TITLES)), "used": rng.choice([38, 64, 92, 118, 131]), "space": 150, "top_label": "fullest folder", "day_label": "and in all", "minutes": rng.choice([5, 10, 15])}  # fmt: skip


for _k in range(1, 5):
    world.derive(f"b{_k}", "emphasis", lambda c: c > 0, of=(f"c{_k}",), label=f"the name {FOLDERS[_k - 1]}", shown=lambda v: "bold" if v else "plain")  # fmt: skip
    world.derive(f"m{_k}", "marker", lambda c: c > 0, of=(f"c{_k}",), label=f"the dot of {FOLDERS[_k - 1]}", shown=lambda v: "a filled dot" if v else "an empty dot")  # fmt: skip
world.derive("all", "sum", lambda c1, c2, c3, c4: c1 + c2 + c3 + c4, label="all unread letters", shown=lambda n: f"{n} unread")  # fmt: skip
world.derive("clear", "classification", lambda all: all == 0, label="the line under the title", shown=lambda v: "You are up to date" if v else "New mail is waiting")  # fmt: skip
world.derive("busiest", "rank", lambda c1, c2, c3, c4: FOLDERS[max(range(4), key=(c1, c2, c3, c4).__getitem__)], label="the fullest folder")  # fmt: skip
world.derive("bar", "bar", lambda used, space: round(used / space, 3), label="the bar of space", shown=lambda v: f"a bar at {v:.0%}")  # fmt: skip
world.derive("free", "difference", lambda space, used: space - used, label="the space that is free", shown=lambda n: f"{n / 10:.1f} GB free")  # fmt: skip
world.derive("warn", "colour_code", lambda used: "red" if used >= 120 else "orange" if used >= 90 else "green", label="the colour of the warning lamp")  # fmt: skip
world.derive("path", "copy", lambda team: team, label="the team in the path")
world.derive(
    "address", "address", lambda team: f"{team.lower().replace(' ', '.')}@north.example", label="the address"
)
world.derive("icon", "pictogram", lambda team: TITLES[team], label="the sign of the team", shown=lambda v: f"the sign of {v}")  # fmt: skip
world.derive("short", "abbreviation", lambda team: "".join(w[0] for w in team.split()).upper(), label="the letters in the circle")  # fmt: skip
world.derive("hourly", "ratio", lambda minutes: 60 // minutes, label="the checks in an hour", shown=lambda n: f"{n} checks an hour")  # fmt: skip
world.derive(
    "daily", "product", lambda hourly: hourly * 24, label="the checks in a day", shown=lambda n: f"{n} a day"
)
world.derive("slow", "claim", lambda minutes: minutes <= 10, label="the words about speed", shown=lambda v: "never more than ten minutes late" if v else "at times more than ten minutes late")  # fmt: skip
world.cut("busiest", top_label="fullest last year")
world.cut("daily", day_label="yesterday")
for _k in range(1, 5):
    world.edit(f"c{_k}", lambda v, rng, k=_k: rng.choice([2, 6, 9, 15, 21]) if v[f"c{k}"] == 0 else 0)  # type: ignore[misc]
world.edit("team", lambda v, rng: rng.choice([t for t in TITLES if abs(len(t) - len(v["team"])) > 3]))
world.edit("used", by("used", -33, -21, 16))
world.edit("minutes", lambda v, rng: rng.choice([m for m in (4, 5, 6, 10, 12, 15, 20) if m != v["minutes"]]))
world.holds("there is space", lambda used, space: 10 < used < space)
world.holds("one folder is the fullest", lambda c1, c2, c3, c4: sorted((c1, c2, c3, c4))[-1] > sorted((c1, c2, c3, c4))[-2])  # fmt: skip
