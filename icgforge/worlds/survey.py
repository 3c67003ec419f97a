"""A poll of readers: votes rule the size of words, the bold winner, shares, bars, the sentence below."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, move, weekday

WORDS = ("coast", "forest", "city", "lake", "hills")
SHOWN = {"coast": "a wave", "forest": "a tree", "city": "towers", "lake": "a boat", "hills": "hills"}
world = World(
    "survey",
    labels={f"v{k}": f"the votes for “{w}”" for k, w in enumerate(WORDS, 1)} | {"end": "the last day", "asked": "the number of readers asked"},
    formats={"end": lambda d: f"{d.day} {d:%B}", "asked": lambda n: f"{n:,}", "v": str},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    votes = rng.sample(range(42, 330, 4), 5)
    return {f"v{k}": v for k, v in enumerate(votes, 1)} | {"asked": rng.choice([2400, 2800, 3200, 4000]), "end": Date(2026, rng.randint(3, 10), rng.randint(3, 25)), "prize": "A week for two to be won"}  # fmt: skip


def _class(votes: int) -> int:
    return 3 if votes >= 240 else 2 if votes >= 120 else 1


for _k in range(1, 6):
    world.derive(f"s{_k}", "size_rule", _class, of=(f"v{_k}",), label=f"the size of “{WORDS[_k - 1]}”", shown=lambda n: ("small", "middle", "large")[n - 1] + " letters")  # fmt: skip
world.derive("total", "sum", lambda v1, v2, v3, v4, v5: v1 + v2 + v3 + v4 + v5, label="all votes", shown=lambda n: f"{n:,} votes")  # fmt: skip
world.derive("top", "rank", lambda v1, v2, v3, v4, v5: max(range(5), key=(v1, v2, v3, v4, v5).__getitem__), label="the winner", shown=lambda k: WORDS[k])  # fmt: skip
world.derive(
    "picture", "picture", lambda top: WORDS[top], label="the picture of the winner", shown=lambda w: SHOWN[w]
)
world.derive("share", "percent", lambda v1, v2, v3, v4, v5, total: round(100 * max(v1, v2, v3, v4, v5) / total), label="the winner's share", shown=lambda n: f"{n} %")  # fmt: skip
world.derive("most", "claim", lambda share: share >= 34, label="the words about the share", shown=lambda v: "more than a third" if v else "a third or less")  # fmt: skip
world.derive("reply", "percent", lambda total, asked: round(100 * total / asked), label="the share that replied", shown=lambda n: f"{n} % replied")  # fmt: skip
world.derive("day", "weekday", lambda end: weekday("en")(end), label="the weekday of the last day")
world.derive("draw_day", "date", lambda end: move(end, 10), label="the day of the draw", shown=lambda d: f"{d.day} {d:%B}")  # fmt: skip
world.derive("season", "season", lambda end: ("winter", "spring", "summer", "autumn")[end.month % 12 // 3] + " poll", label="the season of the poll")  # fmt: skip
world.holds("fewer voted than were asked", lambda total, asked: total < asked)
world.holds("no two words have the same votes", lambda v1, v2, v3, v4, v5: len({v1, v2, v3, v4, v5}) == 5)


def _other(name: str) -> Callable[[Values, Random], Any]:
    return lambda v, rng: rng.choice(
        [n for n in (64, 98, 142, 186, 258, 302, 346) if _class(n) != _class(v[name])]
    )


for _k in range(1, 6):
    world.edit(f"v{_k}", _other(f"v{_k}"))
world.edit("asked", lambda v, rng: rng.choice([n for n in (2000, 2600, 3000, 3600) if n != v["asked"]]))
world.edit("end", lambda v, rng: move(v["end"], rng.choice([-8, -5, 6, 11])))
