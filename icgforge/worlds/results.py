"""A list of points, in Swedish: who passes stands upright, who fails in italics, the best in bold; mean, count, grade."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from icgforge.worlds import Values, World

NAMES = ["Alva Berg", "Bo Dahl", "Cilla Ek", "Egon Falk", "Frida Gran", "Hugo Holm", "Ines Lind", "Kurt Malm", "Olga Nord", "Per Strand"]  # fmt: skip
world = World(
    "results",
    lang="sv",
    labels={f"p{k}": f"the points of row {k}" for k in range(1, 7)} | {"mark": "the pass mark", "full": "the full points"},
    formats={"p": lambda n: f"{n} p", "mark": lambda n: f"{n} p", "full": lambda n: f"{n} p"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    points = rng.sample(range(21, 58), 6)
    return {f"p{k}": p for k, p in enumerate(points, 1)} | {"names": sorted(rng.sample(NAMES, 6)), "mark": rng.choice([30, 33, 36]), "full": 60, "prize_label": "stipendium till"}  # fmt: skip


ALL = ("p1", "p2", "p3", "p4", "p5", "p6")
for _k in range(1, 7):
    world.derive(f"n{_k}", "emphasis", lambda p, mark, *all_: (p < mark, p == max(all_)), of=(f"p{_k}", "mark", *ALL), label=f"the name in row {_k}", shown=lambda v: "italic" if v[0] else "bold" if v[1] else "upright")  # fmt: skip
world.derive("passed", "count", lambda mark, *all_: sum(p >= mark for p in all_), of=("mark", *ALL), label="the number that passed", shown=lambda n: f"{n} godkända")  # fmt: skip
world.derive("failed", "difference", lambda passed: 6 - passed, label="the number that failed", shown=lambda n: f"{n} underkända")  # fmt: skip
world.derive("mean", "average", lambda *all_: round(sum(all_) / 6, 1), of=ALL, label="the mean", shown=lambda v: f"{v:.1f} p".replace(".", ","))  # fmt: skip
world.derive("best", "rank", lambda names, *all_: names[max(range(6), key=all_.__getitem__)], of=("names", *ALL), label="the best")  # fmt: skip
world.derive("top", "claim", lambda *all_: max(all_) >= 55, of=ALL, label="the words about the record", shown=lambda v: "nytt skolrekord, förut 54 p" if v else "skolrekordet 54 p står sig")  # fmt: skip
world.derive("ring", "slice", lambda passed: passed / 6, label="the ring of those who passed", shown=lambda v: f"{360 * v:.0f}°")  # fmt: skip
world.derive("need", "percent", lambda mark, full: round(100 * mark / full), label="the pass mark in percent", shown=lambda n: f"{n} % krävs")  # fmt: skip
world.holds("no two have the same points", lambda p1, p2, p3, p4, p5, p6: len({p1, p2, p3, p4, p5, p6}) == 6)
world.cut("best", prize_label="fjolårets vinnare")


def _over(name: str) -> Callable[[Values, Random], Any]:
    def change(v: Values, rng: Random) -> int | None:
        taken = [v[n] for n in ALL]
        low, high = [n for n in range(20, v["mark"]) if n not in taken], [n for n in range(v["mark"], 60) if n not in taken]  # fmt: skip
        return rng.choice((high if v[name] < v["mark"] else low) if rng.random() < 0.6 else list(range(max(taken) + 1, 60)) or high)  # fmt: skip

    return change


for _k in range(1, 7):
    world.edit(f"p{_k}", _over(f"p{_k}"))
world.edit("mark", lambda v, rng: rng.choice([n for n in (27, 30, 33, 36, 39) if n != v["mark"]]))
