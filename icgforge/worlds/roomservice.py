"""A hotel's breakfast card in Italian: dishes and number give the sum; the hour rules greeting and service; free delivery over a sum."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import by, clock, money

DISHES = {
    "Cornetto alla crema": (250, "L G"),
    "Uova strapazzate": (650, "L U"),
    "Macedonia": (500, "–"),
    "Tagliere di formaggi": (950, "L"),
    "Pane e marmellata": (350, "G"),
    "Yogurt e noci": (450, "L N"),
}
EURO = money("{} €", ",", ".")
NTH = {"1": "first", "2": "second", "3": "third"}

world = World(
    "roomservice",
    lang="it",
    labels={f"{k}{i}": f"the {w} of the {n} row" for i, n in NTH.items() for k, w in (("d", "dish"), ("q", "quantity"))} | {"room": "the room", "hour": "the hour", "fee": "the fee", "over": "the sum from which the service is free", "guests": "the number of guests"},
    formats={"hour": clock, "over": EURO, "fee": EURO},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    out: Values = {
        "room": rng.choice([104, 207, 215, 308, 312, 401]),
        "hour": rng.choice([420, 450, 510, 570, 630]),
        "fee": 300,
        "over": rng.choice([2000, 2500]),
        "guests": rng.randint(2, 4),
        "hotel": rng.choice(["Albergo della Luna", "Villa Ginestra", "Hotel Belvento"]),
        "room_label": "Camera",
    }
    for i, dish in enumerate(rng.sample(list(DISHES), 3), 1):
        out |= {f"d{i}": dish, f"q{i}": rng.randint(1, 3)}
    return out


for i, n in NTH.items():
    world.derive(
        f"p{i}",
        "attribute",
        lambda d: DISHES[d][0],
        of=(f"d{i}",),
        label=f"the price of the {n} row",
        shown=EURO,
    )
    world.derive(
        f"al{i}", "allergen", lambda d: DISHES[d][1], of=(f"d{i}",), label=f"the allergens of the {n} row"
    )
    world.derive(
        f"s{i}",
        "product",
        lambda q, p: q * p,
        of=(f"q{i}", f"p{i}"),
        label=f"the amount of the {n} row",
        shown=EURO,
    )
world.derive("sum", "sum", lambda s1, s2, s3: s1 + s2 + s3, label="the sum of the dishes", shown=EURO)
world.derive(
    "free",
    "offer",
    lambda sum, over: sum >= over,
    label="the stamp on the service",
    shown=lambda v: "SERVIZIO GRATUITO" if v else "SERVIZIO A PAGAMENTO",
)
world.derive(
    "paid", "classification", lambda free, fee: 0 if free else fee, label="the charge for service", shown=EURO
)
world.derive("total", "sum", lambda sum, paid: sum + paid, label="the total", shown=EURO)
world.derive(
    "each", "ratio", lambda total, guests: int(total / guests + 0.5), label="the share of a guest", shown=EURO
)
world.derive(
    "items",
    "sum",
    lambda q1, q2, q3: q1 + q2 + q3,
    label="the number of plates",
    shown=lambda v: f"{v} piatti",
)
world.derive(
    "cloche",
    "quantity_shown",
    lambda items: items,
    label="the drawn plates",
    shown=lambda v: f"{v} covered plates",
)
world.derive("floor", "attribute", lambda room: room // 100, label="the floor", shown=lambda v: f"{v}º piano")
world.derive("tag", "imprint", lambda room: room, label="the number cut into the key tag")
world.derive("back", "mirrored", lambda room: room, label="the number on the back of the tag")
world.derive("ready", "clock", lambda hour: hour - 25, label="the start of the kitchen", shown=clock)
world.derive("tray", "clock", lambda hour: hour + 60, label="the fetching of the tray", shown=clock)
world.derive(
    "hello",
    "greeting",
    lambda hour: (
        "Buongiorno, mattinieri!"
        if hour < 480
        else "Buongiorno!"
        if hour < 600
        else "Buon risveglio, con calma!"
    ),
    label="the greeting",
)
world.holds("dishes stand once", lambda d1, d2, d3: len({d1, d2, d3}) == 3)
world.holds("a tray can carry it", lambda items: items <= 9)

world.edit("q1", by("q1", 1, 2))
world.edit("q2", by("q2", 1, 2))
world.edit("q3", by("q3", 1, 2))
world.edit("over", lambda v, rng: rng.choice([x for x in (1000, 1500, 2000, 2500, 3000) if x != v["over"]]))
world.edit(
    "room",
    lambda v, rng: rng.choice([x for x in (104, 207, 215, 308, 312, 401) if x // 100 != v["room"] // 100]),
)
world.edit(
    "hour", lambda v, rng: rng.choice([x for x in (420, 450, 510, 570, 630) if abs(x - v["hour"]) > 40])
)
world.edit("guests", by("guests", 1, 2))
