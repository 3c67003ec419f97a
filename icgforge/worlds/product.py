"""A shop's product page: price and old price, stars, stock, free delivery, what the claims are worth."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, day_month, money, move, weekday

THINGS = {  # colours of the thing, what else it goes with, price in pence
    "Stoneware teapot": (("Moss", "Ink", "Clay"), 6400), "Linen table lamp": (("Ink", "Clay", "Moss"), 8800), "Enamel jug": (("Clay", "Ink", "Moss"), 4800), "Wool throw": (("Moss", "Clay", "Ink"), 7200),
}  # fmt: skip
HEX = {"Moss": "#5d7a45", "Ink": "#27406b", "Clay": "#b4583a"}
world = World(
    "product",
    labels={"price": "the price", "old": "the former price", "rating": "the rating", "stock": "the number in stock", "colour": "the colour", "qty": "the quantity", "ships": "the days of delivery", "date": "the day"},
    formats=dict.fromkeys(("price", "old", "total", "part", "save", "due"), money("£{}")) | {"rating": lambda r: f"{r / 10:.1f}"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    thing = rng.choice(list(THINGS))
    old = THINGS[thing][1]
    return {
        "thing": thing, "old": old, "price": old // 2 if rng.random() < 0.4 else old * rng.choice([60, 70, 75]) // 100, "rating": rng.choice([34, 38, 42, 46]), "reviews": rng.randint(38, 412), "stock": rng.choice([3, 6, 9, 14, 18]),
        "colour": rng.choice(list(HEX)), "qty": rng.choice([1, 2, 3]), "ships": rng.choice([2, 3, 4, 6]), "date": Date(2026, rng.randint(2, 11), rng.randint(3, 22)), "last_label": "Order today, with you on",
    }  # fmt: skip


world.derive("off", "percent", lambda price, old: round(100 * (old - price) / old), label="the percentage off", shown=lambda v: f"−{v}%")  # fmt: skip
world.derive("save", "difference", lambda old, price: old - price, label="the saving")
world.derive(
    "half", "claim", lambda price, old: 2 * price <= old, shown=lambda v: "Half price" if v else "Reduced"
)
world.derive("under", "claim", lambda price: price // 1000 * 10 + 10, label="the claim about the price", shown=lambda v: f"Gifts £{v - 10} to £{v}")  # fmt: skip
world.derive("total", "product", lambda price, qty: price * qty, label="the sum in the basket")
world.derive("free", "offer", lambda total: total >= 6000, label="free delivery", shown=lambda v: "Delivery is free" if v else "Delivery £3.90")  # fmt: skip
world.derive("due", "sum", lambda total, free: total + (0 if free else 390), label="what is to pay")
world.derive("part", "ratio", lambda due: round(due / 3), label="the instalment")
world.derive("stars", "stars", lambda rating: (rating + 5) // 10, label="the stars", shown=lambda n: f"{n} stars")  # fmt: skip
world.derive("word", "classification", lambda rating: "Excellent" if rating >= 45 else "Very good" if rating >= 40 else "Good" if rating >= 33 else "Fair", label="the word for the rating")  # fmt: skip
world.derive(
    "bar", "gauge", lambda stock: min(stock, 20), label="the stock bar", shown=lambda n: f"{n} of 20"
)
world.derive("low", "colour_code", lambda stock: "red" if stock < 5 else "amber" if stock < 10 else "green", label="the dot of the stock", shown=str)  # fmt: skip
world.derive("left", "classification", lambda stock: "Almost gone" if stock < 5 else "Few left" if stock < 10 else "In stock", label="the word for the stock")  # fmt: skip
world.derive("shown", "picture", lambda colour: colour, label="the picture of the product", shown=lambda c: f"the product in {c.lower()}")  # fmt: skip
world.derive("sku", "code", lambda colour, thing: thing.split()[-1][:3].upper() + "-" + {"Moss": "MS", "Ink": "IN", "Clay": "CL"}[colour] + "-04", label="the article number")  # fmt: skip
world.derive("arrive", "date", lambda date, ships: move(date, ships), label="the day of delivery", shown=day_month("en", "{d} {m}"))  # fmt: skip
world.derive("arrive_day", "weekday", lambda arrive: weekday("en")(arrive), label="the weekday of delivery")
world.derive("return_by", "date", lambda arrive: move(arrive, 30), label="the last day of return", shown=day_month("en", "{d} {m}"))  # fmt: skip
world.holds("cheaper than before", lambda price, old: price < old)
world.holds("no more than there are", lambda qty, stock: 1 <= qty <= stock)
world.cut("arrive", last_label="Our last parcel arrived on")
world.edit("price", lambda v, rng: rng.choice([p for p in (v["old"] * k // 100 for k in (40, 45, 50, 55, 65, 80)) if p != v["price"]]))  # fmt: skip
world.edit("rating", lambda v, rng: rng.choice([r for r in (29, 34, 41, 48) if abs(r - v["rating"]) > 4]))
world.edit("stock", lambda v, rng: rng.choice([n for n in (4, 8, 17) if abs(n - v["stock"]) > 4]))
world.edit("colour", lambda v, rng: rng.choice([c for c in HEX if c != v["colour"]]))
world.edit("qty", lambda v, rng: rng.choice([n for n in (1, 2, 3, 4) if n != v["qty"]]))
world.edit("ships", lambda v, rng: rng.choice([n for n in (2, 3, 5, 7) if n != v["ships"]]))
