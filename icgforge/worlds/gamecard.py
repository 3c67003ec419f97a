"""A trading card: the element rules colours, emblem and weakness; values add up to a rank; corners stand mirrored."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World

ELEMENTS = {  # colour, what it is weak against
    "火": ("red", "水"), "水": ("blue", "雷"), "木": ("green", "火"), "雷": ("yellow", "土"), "土": ("brown", "木"),
}  # fmt: skip
NAMES = {"火": "ホムラ", "水": "ミナモ", "木": "コダマ", "雷": "イカヅチ", "土": "イワオ"}

world = World(
    "gamecard",
    lang="ja",
    labels={"element": "the element", "atk": "the attack", "dfn": "the defence", "spd": "the speed", "num": "the number of the card", "cost": "the cost", "gain": "the bonus", "title": "the kind of creature"},
    formats={"num": lambda v: f"{v:03d}", "gain": lambda v: f"+{v}"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    return {
        "element": rng.choice(list(ELEMENTS)), "atk": rng.randrange(30, 95, 5), "dfn": rng.randrange(20, 90, 5), "spd": rng.randrange(20, 90, 5), "num": rng.randint(14, 190), "cost": rng.randint(2, 6),
        "gain": rng.choice([10, 15, 20]), "title": rng.choice(["の竜", "の狐", "の鷹"]), "set_size": 200, "sum_label": "合計",
    }  # fmt: skip


world.derive("corner", "counterpart", lambda element: element, label="the element in the lower corner")
world.derive("corner_c", "counterpart", lambda cost: cost, label="the cost in the lower corner")
world.derive(
    "who", "attribute", lambda element, title: NAMES[element] + title, label="the name of the creature"
)
world.derive("hue", "colour_code", lambda element: ELEMENTS[element][0], label="the colour of the frame")
world.derive(
    "crest", "emblem", lambda element: element, label="the crest", shown=lambda v: f"the crest of {v}"
)
world.derive("weak", "classification", lambda element: ELEMENTS[element][1], label="the weakness")
world.derive("weak_hue", "colour_code", lambda weak: ELEMENTS[weak][0], label="the colour of the weakness")
world.derive("boost", "sum", lambda atk, gain: atk + gain, label="the attack at full moon")
world.derive("total", "sum", lambda atk, dfn, spd: atk + dfn + spd, label="the sum of the values")
world.derive(
    "rank",
    "classification",
    lambda total: "S" if total >= 210 else "A" if total >= 170 else "B" if total >= 130 else "C",
    label="the rank",
)
world.derive("foil", "imprint", lambda rank: rank, label="the letter stamped in foil")
world.derive(
    "stars",
    "stars",
    lambda rank: {"S": 5, "A": 4, "B": 3, "C": 2}[rank],
    label="the stars",
    shown=lambda v: f"{v} filled stars",
)
world.derive("back", "mirrored", lambda num: f"{num:03d}", label="the number as it shows from the back")
world.derive(
    "serial",
    "code",
    lambda num, element: f"KZ-{num:03d}{'火水木雷土'.index(element) + 1}",
    label="the serial number",
)
world.derive(
    "best",
    "rank",
    lambda atk, dfn, spd: (
        "攻撃型" if atk == max(atk, dfn, spd) else "防御型" if dfn == max(dfn, spd) else "速攻型"
    ),
    label="the type",
)
for k, n in (("atk", "attack"), ("dfn", "defence"), ("spd", "speed")):
    world.derive(
        f"b_{k}",
        "bar",
        lambda value: value,
        of=(k,),
        label=f"the bar of the {n}",
        shown=lambda v: f"a bar of {v}",
    )
world.holds(
    "values fit the bars", lambda atk, dfn, spd: min(atk, dfn, spd) >= 10 and max(atk, dfn, spd) <= 100
)
world.holds("no tie for the type", lambda atk, dfn, spd: len({atk, dfn, spd}) == 3)
world.holds("a number of the set", lambda num, set_size: 1 <= num <= set_size)
world.cut("total", sum_label="前期合計")
world.edit("element", lambda v, rng: rng.choice([e for e in ELEMENTS if e != v["element"]]))
world.edit("atk", lambda v, rng: v["atk"] + rng.choice([-35, -20, 25, 40]))
world.edit("dfn", lambda v, rng: v["dfn"] + rng.choice([-30, 25, 40]))
world.edit("spd", lambda v, rng: v["spd"] + rng.choice([-30, 30, 45]))
world.edit("num", lambda v, rng: v["num"] + rng.choice([-6, 5, 9]))
world.edit("cost", lambda v, rng: v["cost"] + rng.choice([1, 2]))
world.edit("gain", lambda v, rng: rng.choice([g for g in (10, 15, 20, 25) if g != v["gain"]]))
