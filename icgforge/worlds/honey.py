"""A jar of honey: the flower rules colour, taste and picture; weight and price give price per kilogram, portions, energy."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, day_month, money

KINDS = {  # colour, consistency, month of the harvest
    "Acacia": ("pale", "liquide", 5), "Châtaignier": ("brown", "liquide", 7), "Lavande": ("gold", "crémeux", 8),
    "Sapin": ("black", "liquide", 9), "Tilleul": ("green", "crémeux", 6), "Bruyère": ("red", "crémeux", 9),
}  # fmt: skip
SHADE = {
    "pale": "paille clair",
    "brown": "brun ambré",
    "gold": "doré",
    "black": "presque noir",
    "green": "jaune vert",
    "red": "roux",
}

world = World(
    "honey",
    lang="fr",
    labels={"flower": "the kind of honey", "grams": "the net weight", "price": "the price", "spoon": "the weight of a spoonful", "kcal": "the energy of 100 g", "sugar": "the sugar in 100 g", "lot": "the number of the lot", "year": "the year of the harvest"},
    formats={"grams": lambda v: f"{v} g", "spoon": lambda v: f"{v} g", "price": money("{} €", ",", " "), "kcal": lambda v: f"{v} kcal", "sugar": lambda v: f"{v} g"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    grams = rng.choice([250, 375, 500])
    return {
        "flower": rng.choice(list(KINDS)), "grams": grams, "price": rng.choice([18, 20, 22, 24]) * grams // 50 * 5, "spoon": rng.choice([15, 20]), "kcal": rng.choice([308, 316, 324]),
        "sugar": rng.choice([76, 78, 80]), "lot": rng.randint(112, 389), "year": rng.choice([2024, 2025]), "house": rng.choice(["Rucher du Vallon", "Miellerie Perrault", "Les Ruches d’Élise"]), "portion_label": "soit",
    }  # fmt: skip


world.derive(
    "shade",
    "colour_code",
    lambda flower: KINDS[flower][0],
    label="the colour of the honey",
    shown=lambda v: SHADE[v],
)
world.derive("body", "classification", lambda flower: KINDS[flower][1], label="the consistency")
world.derive(
    "month",
    "date",
    lambda flower, year: f"{day_month('fr', '{m}')(Date(year, KINDS[flower][2], 1))} {year}",
    label="the month of the harvest",
)
world.derive(
    "season",
    "season",
    lambda flower: (
        "récolte de printemps"
        if KINDS[flower][2] < 7
        else "récolte d’été"
        if KINDS[flower][2] < 9
        else "récolte d’automne"
    ),
    label="the season of the harvest",
)
world.derive("bloom", "picture", lambda flower: flower, label="the drawn plant")
world.derive(
    "best", "date", lambda year: year + 3, label="the year it keeps until", shown=lambda v: f"fin {v}"
)
world.derive("code", "code", lambda lot, year: f"L {lot}-{year % 100}", label="the number of the lot")
world.derive(
    "initial", "imprint", lambda flower: flower[0].replace("É", "E"), label="the letter in the wax seal"
)
world.derive(
    "kilo",
    "ratio",
    lambda price, grams: round(price * 1000 / grams),
    label="the price of a kilogram",
    shown=money("{} €/kg", ",", " "),
)
world.derive(
    "spoons",
    "ratio",
    lambda grams, spoon: grams // spoon,
    label="the number of spoonfuls",
    shown=lambda v: f"{v} cuillerées",
)
world.derive(
    "kj",
    "unit",
    lambda kcal: round(kcal * 4.184),
    label="the energy in kilojoules",
    shown=lambda v: f"{v} kJ",
)
world.derive(
    "kcal_p",
    "product",
    lambda kcal, spoon: round(kcal * spoon / 100),
    label="the energy of a spoonful",
    shown=lambda v: f"{v} kcal",
)
world.derive(
    "sugar_p",
    "product",
    lambda sugar, spoon: round(sugar * spoon / 100, 1),
    label="the sugar in a spoonful",
    shown=lambda v: f"{v:.1f} g".replace(".", ","),
)
world.derive(
    "share",
    "percent",
    lambda kcal_p: round(100 * kcal_p / 2000),
    label="the share of a day’s energy",
    shown=lambda v: f"{v} %",
)
world.derive(
    "claim",
    "claim",
    lambda price: price < 1000,
    label="the sticker",
    shown=lambda v: "moins de 10 €" if v else "10 € et plus",
)
world.holds("the price of a kilogram is plausible", lambda kilo: 1200 <= kilo <= 3200)
world.holds("a jar of the house", lambda grams: grams in (250, 375, 500))
world.cut("kcal_p", portion_label="thé sucré")
world.edit(
    "flower",
    lambda v, rng: rng.choice(
        [k for k in KINDS if k != v["flower"] and KINDS[k][0] != KINDS[v["flower"]][0]]
    ),
)
world.edit("grams", lambda v, rng: rng.choice([g for g in (250, 375, 500) if g != v["grams"]]))
world.edit("price", lambda v, rng: v["price"] + rng.choice([-120, 150, 250]))
world.edit("spoon", lambda v, _: 35 - v["spoon"])
world.edit("kcal", lambda v, rng: v["kcal"] + rng.choice([-12, 9, 14]))
world.edit("sugar", lambda v, rng: v["sugar"] + rng.choice([-3, 2, 3]))
world.edit("year", lambda v, rng: v["year"] + rng.choice([-1, 1]))
world.edit("lot", lambda v, rng: v["lot"] + rng.choice([3, 11, 20]))
