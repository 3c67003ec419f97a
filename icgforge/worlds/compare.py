"""A price comparison, in Dutch: the cheapest offer is bold and has the ribbon; differences, prices a litre, savings a year."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import money

EUR = money("€ {}", ",", ".")
SHOPS = ("De Linde", "Van Os", "Molenhof", "Het Pakhuis")
PRICES = ("p1", "p2", "p3", "p4")
world = World(
    "compare",
    lang="nl",
    labels={f"p{k}": f"the price of {s}" for k, s in enumerate(SHOPS, 1)} | {"litres": "the litres in a can", "cans": "the cans a year"},
    formats=dict.fromkeys(("p",), EUR) | {"litres": lambda n: f"{n} liter", "cans": lambda n: f"{n} blikken"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    prices = rng.sample(range(1890, 3190, 35), 4)
    return {f"p{k}": p for k, p in enumerate(prices, 1)} | {"litres": rng.choice([2, 3, 4, 5]), "cans": rng.choice([4, 6, 8, 12]), "save_label": "besparing per jaar"}  # fmt: skip


world.derive("low", "rank", lambda *p: min(range(4), key=p.__getitem__), of=PRICES, label="the cheapest", shown=lambda k: f"row {k + 1}")  # fmt: skip
for _k in range(4):
    world.derive(f"b{_k + 1}", "emphasis", lambda low, k=_k: low == k, of=("low",), label=f"the name {SHOPS[_k]}", shown=lambda v: "bold" if v else "plain")  # fmt: skip
    world.derive(f"l{_k + 1}", "ratio", lambda p, litres: round(p / litres), of=(f"p{_k + 1}", "litres"), label=f"the price a litre of {SHOPS[_k]}", shown=EUR)  # fmt: skip
world.derive("winner", "copy", lambda low: SHOPS[low], label="the winner")
world.derive(
    "span", "difference", lambda *p: max(p) - min(p), of=PRICES, label="the span of prices", shown=EUR
)
world.derive("save", "product", lambda span, cans: span * cans, label="the saving in a year", shown=EUR)
world.holds("no two prices are equal", lambda p1, p2, p3, p4: len({p1, p2, p3, p4}) == 4)
world.cut("save", save_label="vorig jaar bespaard")
for _k in range(1, 5):
    world.edit(f"p{_k}", lambda v, rng, k=_k: rng.choice([x for x in (min(v[n] for n in PRICES) - rng.choice([95, 160, 240]), max(v[n] for n in PRICES) + 130) if x > 900 and x != v[f"p{k}"]]))  # type: ignore[misc]  # fmt: skip
world.edit("litres", lambda v, rng: rng.choice([n for n in (2, 3, 4, 5, 6) if n != v["litres"]]))
world.edit("cans", lambda v, rng: rng.choice([n for n in (4, 6, 10, 15) if n != v["cans"]]))
