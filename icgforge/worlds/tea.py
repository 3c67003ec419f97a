"""A carton of tea seen at an angle: weight, cups and bags on two faces, brewing, harvest and best before, the lid's emboss."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, money

TEAS = {  # colour of the carton, degrees, minutes, caffeine, from, leaf
    "Assam": ("red", 100, 4, "high", "India", "black"), "Sencha": ("green", 70, 2, "medium", "Japan", "green"), "Rooibos": ("orange", 100, 6, "none", "South Africa", "herbal"), "Jasmine": ("blue", 80, 3, "medium", "China", "green"), "Peppermint": ("teal", 95, 7, "none", "Morocco", "herbal"),
}  # fmt: skip
MONTH = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
world = World(
    "tea",
    labels={"tea": "the kind of tea", "grams": "the weight", "made": "the month of packing", "lot": "the number of the lot", "price": "the price", "bag": "the weight of a bag"},
    formats={"grams": lambda g: f"{g} g", "price": money("£{}"), "made": lambda d: f"{MONTH[d.month - 1]} {d.year}", "lot": lambda n: f"L{n}"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    return {"tea": rng.choice(list(TEAS)), "grams": rng.choice([50, 100, 120, 200]), "bag": 2, "made": Date(2026, rng.randint(1, 9), 1), "lot": rng.randint(2104, 9876), "price": rng.choice([360, 480, 540]), "keeps": 2, "offer_label": "This week"}  # fmt: skip


world.derive("colour", "colour_code", lambda tea: TEAS[tea][0], label="the colour of the band", shown=str)
world.derive(
    "heat", "attribute", lambda tea: TEAS[tea][1], label="the heat of the water", shown=lambda c: f"{c} °C"
)
world.derive("fahr", "unit", lambda heat: round(heat * 9 / 5 + 32), label="the heat in Fahrenheit", shown=lambda f: f"{f} °F")  # fmt: skip
world.derive(
    "brew", "attribute", lambda tea: TEAS[tea][2], label="the minutes of brewing", shown=lambda m: f"{m} min"
)
world.derive("awake", "classification", lambda tea: TEAS[tea][3], label="the caffeine")
world.derive("from_", "attribute", lambda tea: TEAS[tea][4], label="the country")
world.derive("kind", "classification", lambda tea: TEAS[tea][5] + " tea", label="the class of tea")
world.derive("tea_low", "perspective", lambda tea: tea, label="the name low on the same face")
world.derive("tea_side", "copy", lambda tea: tea)
world.derive("night", "claim", lambda awake: awake == "none", label="the claim for the evening", shown=lambda v: "good at night" if v else "good in the morning")  # fmt: skip
world.derive("bags", "ratio", lambda grams, bag: grams // bag, label="the number of bags", shown=lambda n: f"{n} tea bags")  # fmt: skip
world.derive("cups", "copy", lambda bags: bags, label="the number of cups", shown=lambda n: f"for {n} cups")
world.derive("ounces", "unit", lambda grams: round(grams / 28.35, 1), label="the weight in ounces", shown=lambda v: f"{v:.1f} oz")  # fmt: skip
world.derive("grams_side", "copy", lambda grams: grams, shown=lambda g: f"{g} g")
world.derive("each", "ratio", lambda price, bags: round(price / bags, 1), label="the price of a cup", shown=lambda v: f"{v:.1f}p")  # fmt: skip
world.derive("half", "ratio", lambda price: price // 2, label="half the price", shown=money("£{}"))
world.derive("kilo", "ratio", lambda price, grams: round(price * 1000 / grams), label="the price of a kilogram", shown=money("£{}"))  # fmt: skip
world.derive("best", "date", lambda made, keeps: Date(made.year + keeps, made.month, 1), label="the month of best before", shown=lambda d: f"{MONTH[d.month - 1]} {d.year}")  # fmt: skip
world.derive("crop", "season", lambda made: ("winter", "spring", "summer", "autumn")[made.month % 12 // 3], label="the season of packing")  # fmt: skip
world.derive(
    "code", "code", lambda lot, made: f"{made.year % 100}{made.month:02d}-{lot}", label="the code by the bars"
)
world.derive("bars", "code", lambda lot: lot, label="the bars", shown=lambda n: f"bars of {n}")
world.derive("press", "imprint", lambda lot: f"L{lot}", label="the lot pressed into the lid")
world.cut("half", offer_label="Last week")
world.edit("tea", lambda v, rng: rng.choice([t for t in TEAS if t != v["tea"]]))
world.edit("grams", lambda v, rng: rng.choice([g for g in (40, 80, 100, 160, 250) if g != v["grams"]]))
world.edit("lot", lambda v, rng: v["lot"] + rng.choice([-40, 7, 31, 212]))
world.edit("made", lambda v, rng: Date(2026, 1 + (v["made"].month - 1 + rng.choice([1, 2, 3, 5])) % 9, 1))
world.edit("price", lambda v, rng: v["price"] + rng.choice([-60, 40, 80, 120]))
