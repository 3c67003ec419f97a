"""A village's appeal in Portuguese: money raised rules the thermometer, share, rest, roofs mended, thanks, the day of the feast."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, by, day_month, money, move, weekday

EURO = money("{} €", ",", ".", 2)
AIMS = {"telhados": ("telhado", "roof"), "poços": ("poço", "well"), "janelas": ("janela", "window")}

world = World(
    "donation",
    lang="pt",
    labels={"raised": "the sum raised", "goal": "the goal", "unit_cost": "the cost of one", "aim": "what is mended", "donors": "the number of donors", "end": "the last day"},
    formats=dict.fromkeys(("raised", "goal", "unit_cost"), money("{} €", ",", ".", 0)) | {"donors": lambda v: f"{v} pessoas", "end": day_month("pt", "{d} de {m}")},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    goal = rng.choice([8000, 10000, 12000])
    return {
        "goal": goal,
        "raised": goal * rng.randint(25, 90) // 2000 * 20,
        "unit_cost": rng.choice([400, 500, 800]),
        "aim": rng.choice(list(AIMS)),
        "donors": rng.choice([40, 50, 80]),
        "end": Date(2026, rng.randint(4, 10), rng.randint(10, 26)),
        "village": rng.choice(["Vale de Freixo", "Aldeia da Serra", "Monte Claro"]),
        "mean_label": "em média por pessoa",
    }


world.derive(
    "share",
    "percent",
    lambda raised, goal: int(100 * raised / goal + 0.5),
    label="the share of the goal",
    shown=lambda v: f"{v} %",
)
world.derive(
    "tube",
    "gauge",
    lambda raised, goal: round(raised / goal, 3),
    label="the thermometer",
    shown=lambda v: f"a tube filled to {v:.0%}",
)
world.derive(
    "done",
    "ratio",
    lambda raised, unit_cost: raised // unit_cost,
    label="the number that is mended",
    shown=lambda v: f"{v} prontos",
)
world.derive(
    "open",
    "ratio",
    lambda goal, unit_cost: goal // unit_cost,
    label="the number that is planned",
    shown=lambda v: f"de {v}",
)
world.derive(
    "rows",
    "quantity_shown",
    lambda done, open: (done, open),
    label="the row of signs",
    shown=lambda v: f"{v[0]} of {v[1]} signs filled",
)
world.derive(
    "mean",
    "average",
    lambda raised, donors: int(100 * raised / donors + 0.5),
    label="the mean gift",
    shown=EURO,
)
world.derive(
    "half",
    "claim",
    lambda share: share >= 50,
    label="the round sticker",
    shown=lambda v: "já passa de metade" if v else "ainda não é metade",
)
world.derive("day", "weekday", lambda end: weekday("pt")(end), label="the weekday of the last day")
world.derive(
    "feast",
    "date",
    lambda end: move(end, 14),
    label="the day of the feast",
    shown=day_month("pt", "{d} de {m}"),
)
world.derive(
    "slant",
    "perspective",
    lambda goal: goal,
    label="the goal on the side of the box",
    shown=money("{} €", ",", ".", 0),
)
world.derive("hidden", "occlusion", lambda aim: aim.upper(), label="the word behind the box")
world.derive("sing", "attribute", lambda aim: AIMS[aim][0], label="the word for one")
world.derive(
    "sign",
    "pictogram",
    lambda aim: AIMS[aim][1],
    label="the sign of what is mended",
    shown=lambda v: f"a {v}",
)
world.holds("less than the goal", lambda raised, goal: 0.15 < raised / goal < 0.97)
world.holds("signs fit the row", lambda open: 8 <= open <= 25)
world.holds("a share without doubt", lambda share: share not in (49, 50))
world.cut("mean", mean_label="média de 2024")
world.edit("raised", by("raised", -2400, -1600, 1400, 2200, 3000))
world.edit(
    "goal", lambda v, rng: rng.choice([g for g in (8000, 9000, 10000, 12000, 15000) if g != v["goal"]])
)
world.edit("unit_cost", lambda v, rng: rng.choice([u for u in (400, 500, 600, 800) if u != v["unit_cost"]]))
world.edit("donors", by("donors", -15, 20, 30))
world.edit("end", lambda v, rng: move(v["end"], rng.choice([-3, -1, 1, 2])))
world.edit("aim", lambda v, rng: rng.choice([a for a in AIMS if a != v["aim"]]))
