"""Boxes in a store, in Polish: labels on fronts, sides and lids, weights, counts and the shelf that follows."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, day_month, move

GOODS = {"KUBKI": ("mug", "MUGS", 24, 4), "TALERZE": ("plate", "PLATES", 18, 6), "LAMPY": ("lamp", "LAMPS", 6, 12), "DZBANY": ("jug", "JUGS", 8, 11)}  # fmt: skip
world = World(
    "cartons",
    lang="pl",
    labels={"goods": "the goods", "units": "the pieces in a box", "each": "the weight of a piece", "aisle": "the aisle", "date": "the date of packing", "boxes": "the number of boxes"},
    formats={"units": lambda n: f"{n} szt.", "each": lambda n: f"{n / 10:.1f} kg".replace(".", ","), "aisle": lambda n: f"ALEJA {n}", "date": day_month("pl", "{d}.{n:02d}.{y}"), "boxes": lambda n: f"{n} kart."},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    goods = rng.choice(list(GOODS))
    return {"goods": goods, "units": GOODS[goods][2], "each": GOODS[goods][3], "aisle": rng.randint(2, 9), "date": Date(2026, rng.randint(1, 11), rng.randint(2, 26)), "boxes": rng.choice([12, 16, 20, 30]), "sum_label": "waga brutto", "pound_label": ""}  # fmt: skip


world.derive("side", "perspective", lambda goods: goods, label="the name on the side of the box")
world.derive(
    "lid", "perspective", lambda aisle: aisle, label="the aisle on the lid", shown=lambda n: f"ALEJA {n}"
)
world.derive("tape", "occlusion", lambda goods: goods, label="the name behind the strap")
world.derive("english", "translation", lambda goods: GOODS[goods][1], label="the English name")
world.derive(
    "drawn", "pictogram", lambda goods: GOODS[goods][0], label="the sign on the box", shown=lambda v: f"a {v}"
)
world.derive("gross", "product", lambda units, each: units * each, label="the weight of a box", shown=lambda n: f"{n / 10:.1f} kg".replace(".", ","))  # fmt: skip
world.derive("pounds", "unit", lambda gross: gross / 10 / 0.4536, label="the weight in pounds", shown=lambda v: f"{v:.0f} lb")  # fmt: skip
world.derive("carry", "pictogram", lambda gross: 2 if gross > 150 else 1, label="the sign how many carry", shown=lambda n: "two people who carry" if n == 2 else "one person who carries")  # fmt: skip
world.derive("band", "colour_code", lambda gross: "red" if gross > 150 else "orange" if gross > 90 else "green", label="the colour of the weight band")  # fmt: skip
world.derive("pieces", "product", lambda units, boxes: units * boxes, label="all pieces", shown=lambda n: f"{n} szt. razem")  # fmt: skip
world.derive("layers", "ratio", lambda boxes: -(-boxes // 4), label="the layers", shown=lambda n: f"{n} warstwy" if 2 <= n <= 4 else f"{n} warstw")  # fmt: skip
world.derive(
    "stack", "quantity_shown", lambda layers: layers, label="the drawn stack", shown=lambda n: f"{n} layers"
)
world.derive("shelf", "numbering", lambda aisle: f"{aisle:02d}-B-1", label="the place on the shelf")
world.derive(
    "floor", "reflection", lambda aisle: aisle, label="the aisle in the floor", shown=lambda n: f"ALEJA {n}"
)
world.derive("until", "date", lambda date: move(date, 14), label="the last day for sending", shown=day_month("pl", "{d}.{n:02d}.{y}"))  # fmt: skip
world.derive("lot", "code", lambda date, goods: f"L{date.timetuple().tm_yday:03d}{goods[0]}", label="the lot")
world.cut("pounds", pound_label="poprzednio")
world.holds("a box can be carried", lambda gross: gross < 300)
world.edit("goods", lambda v, rng: rng.choice([g for g in GOODS if g != v["goods"]]))
world.edit("units", lambda v, rng: rng.choice([n for n in (4, 6, 10, 12, 16, 20) if n != v["units"]]))
world.edit("aisle", lambda v, rng: rng.choice([n for n in range(2, 10) if n != v["aisle"]]))
world.edit("date", lambda v, rng: move(v["date"], rng.choice([-9, -4, 3, 8])))
world.edit("boxes", lambda v, rng: rng.choice([n for n in (8, 14, 18, 24, 28) if n != v["boxes"]]))
