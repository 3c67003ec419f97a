"""A stall at the market: prices a kilo, half a kilo, the cheapest, a basket, what is in season, names for tourists."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from icgforge.worlds import Values, World
from icgforge.worlds._lib import money

GOODS = {  # English, price a kilo in cents, from, in season, colour, drawn as
    "Naranjas": ("Oranges", 180, "Valencia", True, "#e8891d", "round"), "Tomates": ("Tomatoes", 240, "Almería", True, "#ef6a55", "round"), "Limones": ("Lemons", 210, "Murcia", True, "#e7c52b", "oval"), "Cerezas": ("Cherries", 560, "Valle del Jerte", False, "#ec5f78", "pair"),
    "Calabacines": ("Courgettes", 170, "Granada", True, "#86bd5e", "long"), "Berenjenas": ("Aubergines", 220, "Sevilla", False, "#b894d8", "long"), "Peras": ("Pears", 260, "Lleida", False, "#b5bd3f", "oval"), "Ciruelas": ("Plums", 320, "Badajoz", True, "#cc92d6", "round"), "Zanahorias": ("Carrots", 130, "Segovia", True, "#ea7a2b", "long"),
}  # fmt: skip
Change = Callable[[Values, Random], Any]
euro = money("{} €", ",", ".")
world = World(
    "market",
    lang="es",
    labels={f"p{i}": f"the price in the {n} line" for i, n in enumerate(("first", "second", "third", "fourth", "fifth"), 1)} | {f"g{i}": f"the goods in the {n} line" for i, n in enumerate(("first", "second", "third", "fourth", "fifth"), 1)} | {"people": "the number of people"},
    formats={"p": euro, "h": euro},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    goods = rng.sample(list(GOODS), 5)
    out: Values = {
        "stall": rng.choice(["Huerta de Remedios", "Frutas Almudena", "El Bancal"]),
        "basket_label": "Cesta de hoy",
        "people": 4,
        "number": rng.randint(11, 78),
    }
    for i, g in enumerate(goods, 1):
        out |= {f"g{i}": g, f"p{i}": GOODS[g][1] + rng.choice([-20, 0, 20]) + 2 * i}
    return out  # fmt: skip


for i in "12345":
    world.derive(f"en{i}", "translation", lambda g: GOODS[g][0], of=(f"g{i}",), label="the English name")
    world.derive(f"from{i}", "attribute", lambda g: GOODS[g][2], of=(f"g{i}",), label="the origin")
    world.derive(
        f"pic{i}",
        "picture",
        lambda g: GOODS[g][4:],
        of=(f"g{i}",),
        label="the drawing",
        shown=lambda v: f"something {v[1]} in {v[0]}",
    )
    world.derive(f"new{i}", "pictogram", lambda g: GOODS[g][3], of=(f"g{i}",), label="the sign of the season")
    world.derive(
        f"h{i}", "ratio", lambda p: p // 2, of=(f"p{i}",), label="the price of half a kilo", shown=euro
    )
world.derive("cheap", "rank", lambda p1, p2, p3, p4, p5: min(range(5), key=lambda k: (p1, p2, p3, p4, p5)[k]) + 1, label="the ring around the cheapest", shown=lambda k: f"line {k}")  # fmt: skip
world.derive("best", "rank", lambda cheap, g1, g2, g3, g4, g5: (g1, g2, g3, g4, g5)[cheap - 1], label="the cheapest goods")  # fmt: skip
world.derive("basket", "sum", lambda p1, p2, p3: p1 + p2 + p3, label="the basket", shown=euro)
world.derive("what", "members", lambda g1, g2, g3: f"{g1.lower()}, {g2.lower()}, {g3.lower()}", label="what is in the basket")  # fmt: skip
world.derive(
    "each", "ratio", lambda basket, people: round(basket / people), label="the price for each", shown=euro
)
world.derive("under", "claim", lambda basket: basket // 100 + 1, label="the claim about the basket", shown=lambda v: f"¡entre {v - 1} y {v} €!")  # fmt: skip
world.derive("three", "product", lambda p2: 3 * p2 - 50, label="the price of three kilos", shown=euro)
world.derive("three_what", "copy", lambda g2: g2.lower())
world.holds("five goods", lambda g1, g2, g3, g4, g5: len({g1, g2, g3, g4, g5}) == 5)
world.holds("one is cheapest", lambda p1, p2, p3, p4, p5: sorted((p1, p2, p3, p4, p5))[0] < sorted((p1, p2, p3, p4, p5))[1])  # fmt: skip
world.cut("basket", basket_label="Cesta del lunes")


def other_price(i: str) -> Change:
    """Return a change of a price."""
    return lambda v, rng: rng.choice([p for p in (90, 150, 190, 250, 350) if abs(p - v[f"p{i}"]) > 30])


def other_goods(i: str) -> Change:
    """Return a change of the goods to others of about the same price."""
    return lambda v, rng: rng.choice([*(g for g in GOODS if g not in [v[f"g{k}"] for k in "12345"] and abs(GOODS[g][1] - v[f"p{i}"]) < 90), None])  # fmt: skip


for i in "1234":
    world.edit(f"p{i}", other_price(i))
    world.edit(f"g{i}", other_goods(i))
world.edit("people", lambda v, rng: rng.choice([n for n in (2, 3, 5, 6) if n != v["people"]]))
