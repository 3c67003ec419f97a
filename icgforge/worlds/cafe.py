"""A café's lunch card: dishes with what is in them, prices, a set menu that costs less than its parts."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, day_month, money, weekday

DISHES = {  # allergens by their number on the card, price in cents, without meat and fish?
    "Soupe à l’oignon": ((1, 7), 750, True), "Quiche aux poireaux": ((1, 3, 7), 1150, True), "Tartare de saumon": ((4,), 1550, False),
    "Salade de chèvre chaud": ((1, 7, 8), 1250, True), "Moules marinières": ((7, 14), 1450, False), "Ratatouille": ((), 1100, True),
    "Gratin dauphinois": ((7,), 1050, True), "Velouté de potiron": ((7,), 700, True), "Œufs mimosa": ((3, 10), 650, True),
}  # fmt: skip
SWEETS = {
    "Tarte au citron": ((1, 3, 7), 700, True),
    "Mousse au chocolat": ((3, 7), 650, True),
    "Poire pochée": ((), 600, True),
    "Nougat glacé": ((3, 7, 8), 750, True),
}
ALLERGENS = {1: "gluten", 3: "œufs", 4: "poisson", 7: "lait", 8: "noix", 10: "moutarde", 14: "mollusques"}
CARD = DISHES | SWEETS
NAMES = ["Café Marais", "Chez Odile", "Le Petit Zinc", "Aux Deux Tilleuls"]

world = World(
    "cafe",
    lang="fr",
    labels={
        "d1": "the first dish", "d2": "the second dish", "d3": "the third dish", "p1": "the price of the first dish",
        "p2": "the price of the second dish", "p3": "the price of the third dish", "menu": "the price of the set menu", "date": "the date",
    },
    formats=dict.fromkeys(("p", "total", "menu", "save"), money("{} €", ",", " ")) | {"a": lambda codes: " ".join(map(str, codes)) or "–"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    first, second = rng.sample(list(DISHES), 2)
    sweet = rng.choice(list(SWEETS))
    prices = [CARD[d][1] for d in (first, second, sweet)]
    return {
        "name": rng.choice(NAMES), "date": Date(2026, rng.randint(3, 10), rng.randint(3, 26)), "d1": first, "d2": second, "d3": sweet,
        "p1": prices[0], "p2": prices[1], "p3": prices[2], "menu": (sum(prices) * 82 // 100) // 50 * 50, "sum_label": "à la carte",
        "also_label": "Aujourd’hui dans la formule",
    }  # fmt: skip


world.derive("date_t", "copy", lambda date: date, label="the date", shown=day_month("fr"))
world.derive("weekday", "weekday", lambda date: weekday("fr")(date), label="the weekday")
world.derive("a1", "allergen", lambda d1: CARD[d1][0], label="the allergens of the first dish")
world.derive("a2", "allergen", lambda d2: CARD[d2][0], label="the allergens of the second dish")
world.derive("a3", "allergen", lambda d3: CARD[d3][0], label="the allergens of the third dish")
world.derive("v1", "pictogram", lambda d1: CARD[d1][2])
world.derive("v2", "pictogram", lambda d2: CARD[d2][2])
world.derive("v3", "pictogram", lambda d3: CARD[d3][2])
world.derive("legend", "legend", lambda a1, a2, a3: sorted({*a1, *a2, *a3}), label="the key to the allergens")
world.derive("total", "sum", lambda p1, p2, p3: p1 + p2 + p3, label="the sum of the three dishes")
world.derive("save", "difference", lambda total, menu: total - menu, label="what the set menu saves")
world.derive("also", "copy", lambda d2: d2)
world.holds("the set menu is cheaper than its parts", lambda total, menu: 100 <= total - menu <= 1500)
world.holds("three different dishes", lambda d1, d2, d3: len({d1, d2, d3}) == 3)
world.cut("total", sum_label="hier soir")
world.cut("also", also_label="Demain dans la formule")
world.edit("p2", lambda v, rng: v["p2"] + rng.choice([100, 150, 200, -100]))
world.edit("p1", lambda v, rng: v["p1"] + rng.choice([50, 100, 150]))
world.edit("menu", lambda v, rng: v["menu"] - rng.choice([100, 150, 200]))
world.edit(
    "d2",
    lambda v, rng: rng.choice(
        [d for d in DISHES if d not in (v["d1"], v["d2"]) and CARD[d][2] != CARD[v["d2"]][2]] or [None]
    ),
)
world.edit("date", lambda v, rng: v["date"].replace(day=v["date"].day + rng.choice([-2, -1, 1, 2])))
