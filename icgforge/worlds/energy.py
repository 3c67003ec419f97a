"""A year's report of a town's energy: four sources with amounts, shares, a bar chart, a ring, a target."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World

TOWNS = ["Ostermoor", "Lindhaven", "Karlsbro", "Vestvik"]
SOURCES = {"wind": "Wind", "sun": "Solar", "water": "Hydro", "gas": "Gas"}

world = World(
    "energy",
    labels={k: f"the amount of {v.lower()} power" for k, v in SOURCES.items()} | {"goal": "the goal", "year": "the year", "homes": "the number of homes"},
    formats=dict.fromkeys(SOURCES, lambda v: f"{v} GWh") | {"s_": lambda v: f"{v}%"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    wind, sun, water = rng.randrange(60, 130, 2), rng.randrange(30, 70, 2), rng.randrange(14, 40, 2)
    return {
        "town": rng.choice(TOWNS),
        "year": 2025,
        "wind": wind,
        "sun": sun,
        "water": water,
        "gas": rng.randrange(20, 56, 2),
        "goal": 80,
        "homes": 21000,
        "before": 71,
        "since": "up from 71% the year before",
    }


world.derive(
    "all",
    "sum",
    lambda wind, sun, water, gas: wind + sun + water + gas,
    label="the amount of all sources",
    shown=lambda v: f"{v} GWh",
)
world.derive(
    "clean",
    "sum",
    lambda wind, sun, water: wind + sun + water,
    label="the amount of clean power",
    shown=lambda v: f"{v} GWh",
)
for name in SOURCES:
    label = f"the share of {SOURCES[name].lower()} power"
    world.derive(
        f"s_{name}",
        "percent",
        lambda part, whole: round(100 * part / whole),
        of=(name, "all"),
        label=label,
        shown=lambda v: f"{v}%",
    )
    world.derive(
        f"b_{name}",
        "bar",
        lambda part: part,
        of=(name,),
        label=f"the bar of {SOURCES[name].lower()} power",
        shown=lambda v: f"{v} GWh",
    )
world.derive(
    "ring",
    "slice",
    lambda wind, sun, water, gas, all: tuple(round(360 * x / all, 2) for x in (wind, sun, water, gas)),
    label="the ring of shares",
    shown=lambda v: f"arcs of {', '.join(f'{x:.0f}°' for x in v)}",
)
world.derive(
    "share",
    "percent",
    lambda clean, all: round(100 * clean / all),
    label="the share of clean power",
    shown=lambda v: f"{v}%",
)
world.derive(
    "met",
    "classification",
    lambda share, goal: share >= goal,
    label="whether the goal is met",
    shown=lambda v: "Goal met" if v else "Goal missed",
)
world.derive(
    "gap",
    "difference",
    lambda share, goal: abs(share - goal),
    label="the distance to the goal",
    shown=lambda v: f"{v} point{'s' * (v != 1)}",
)
world.derive("side", "classification", lambda share, goal: "above" if share >= goal else "below")
world.derive(
    "first",
    "rank",
    lambda wind, sun, water, gas: max(
        {"Wind": wind, "Solar": sun, "Hydro": water, "Gas": gas}.items(), key=lambda t: t[1]
    )[0],
    label="the largest source",
)
world.derive(
    "home",
    "ratio",
    lambda all, homes: round(all * 1_000_000 / homes),
    label="the power for each home",
    shown=lambda v: f"{v:,} kWh",
)
world.derive(
    "axis",
    "axis",
    lambda wind, sun, water, gas: -(-max(wind, sun, water, gas) // 40) * 40,
    shown=lambda v: f"an axis to {v} GWh",
)
world.holds(
    "amounts are positive and fit the chart",
    lambda wind, sun, water, gas: min(wind, sun, water, gas) >= 6 and max(wind, sun, water, gas) <= 160,
)
world.holds("shares add up", lambda s_wind, s_sun, s_water, s_gas: s_wind + s_sun + s_water + s_gas == 100)
world.holds("no two largest", lambda wind, sun, water, gas: len({wind, sun, water, gas}) == 4)
world.edit("wind", lambda v, rng: v["wind"] + rng.choice([-34, -26, -18, 14, 22]))
world.edit("sun", lambda v, rng: v["sun"] + rng.choice([-16, 18, 26, 34]))
world.edit("gas", lambda v, rng: v["gas"] + rng.choice([-12, 16, 24]))
world.edit("goal", lambda v, rng: rng.choice([g for g in (70, 75, 85, 90) if g != v["share"]]))
