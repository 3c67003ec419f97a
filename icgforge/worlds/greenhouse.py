"""Sensors of a greenhouse: readings rule gauges, states, alarms, units, the fan, the day's mean and a forecast of the tank."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import by, clock

BANDS = {"temp": (16, 27), "hum": (45, 75), "soil": (30, 70), "tank": (25, 101)}
NAMES = {"temp": "air temperature", "hum": "humidity", "soil": "soil moisture", "tank": "water in the tank"}

world = World(
    "greenhouse",
    labels={k: f"the {n}" for k, n in NAMES.items()} | {"use": "the water used each day", "low": "the coldest reading", "now": "the time of the reading", "every": "the minutes between readings", "size": "the size of the tank"},
    formats={"temp": lambda v: f"{v} °C", "hum": lambda v: f"{v}%", "soil": lambda v: f"{v}%", "tank": lambda v: f"{v}%", "use": lambda v: f"{v} litres a day", "low": lambda v: f"{v} °C", "now": clock, "every": lambda v: f"{v} min"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    return {
        "temp": rng.randint(13, 33), "hum": rng.randint(36, 84), "soil": rng.randint(22, 80), "tank": rng.randrange(14, 96, 2), "use": rng.choice([30, 40, 50]), "low": rng.randint(6, 11),
        "now": rng.randrange(480, 1200, 5), "every": rng.choice([5, 10, 15]), "size": 500, "house": rng.choice(["House 2, tomatoes", "House 4, orchids", "House 7, seedlings"]), "f_label": "that is",
    }  # fmt: skip


def state(key: str, value: int) -> str:
    """Return the state of a reading."""
    low, high = BANDS[key]
    return "low" if value < low else "high" if value >= high else "normal"


for key, name in NAMES.items():
    world.derive(
        f"s_{key}",
        "classification",
        lambda value, key=key: state(key, value),
        of=(key,),
        label=f"the state of the {name}",
        shown=str.upper,
    )
    world.derive(
        f"c_{key}",
        "colour_code",
        lambda s: {"low": "blue", "high": "red", "normal": "green"}[s],
        of=(f"s_{key}",),
        label=f"the lamp of the {name}",
    )
    world.derive(
        f"g_{key}",
        "gauge",
        lambda value, key=key: min(1.0, value / (40 if key == "temp" else 100)),
        of=(key,),
        label=f"the gauge of the {name}",
        shown=lambda v: f"a gauge filled to {v:.0%}",
    )
STATES = tuple(f"s_{k}" for k in NAMES)
world.derive(
    "alarms",
    "count",
    lambda *s: sum(x != "normal" for x in s),
    of=STATES,
    label="the number of alarms",
    shown=lambda v: f"{v} alarm{'s' * (v != 1)}" if v else "no alarm",
)
world.derive(
    "bell",
    "pictogram",
    lambda alarms: alarms > 0,
    label="the bell",
    shown=lambda v: "a bell" if v else "a crossed-out bell",
)
world.derive(
    "heavy",
    "emphasis",
    lambda alarms: alarms >= 2,
    label="the word Attention",
    shown=lambda v: "bold" if v else "light",
)
world.derive(
    "fahr",
    "unit",
    lambda temp: round(temp * 9 / 5 + 32),
    label="the temperature in Fahrenheit",
    shown=lambda v: f"{v} °F",
)
world.derive(
    "span",
    "difference",
    lambda temp, low: temp - low,
    label="the span of the day",
    shown=lambda v: f"{v} degrees",
)
world.derive(
    "fan",
    "attribute",
    lambda s_temp: {"high": "Fan on, vents open", "normal": "Fan off", "low": "Fan off, heating on"}[s_temp],
    label="what the fan does",
)
world.derive(
    "drip",
    "attribute",
    lambda s_soil: {"low": "Watering now", "normal": "Watering at 19:00", "high": "Watering paused"}[s_soil],
    label="the watering",
)
world.derive(
    "litres",
    "product",
    lambda tank, size: tank * size // 100,
    label="the litres in the tank",
    shown=lambda v: f"{v} l",
)
world.derive(
    "days",
    "ratio",
    lambda litres, use: litres // use,
    label="the days that the water lasts",
    shown=lambda v: f"{v} day{'s' * (v != 1)}",
)
world.derive(
    "refill",
    "claim",
    lambda days: days >= 4,
    label="the note on the weekend",
    shown=lambda v: "enough for the weekend" if v else "refill before the weekend",
)
world.derive(
    "level",
    "line",
    lambda temp: temp,
    label="the last point of the curve",
    shown=lambda v: f"a point at {v} °C",
)
world.derive(
    "scale",
    "axis",
    lambda temp: 40 if temp > 29 else 30,
    label="the scale of the curve",
    shown=lambda v: f"a scale to {v} °C",
)
world.derive(
    "mold",
    "classification",
    lambda hum, temp: "raised" if hum >= 70 and temp < 24 else "slight",
    label="the risk of mould",
)
world.derive(
    "next", "clock", lambda now, every: now + every, label="the time of the next reading", shown=clock
)
world.derive(
    "day_n",
    "ratio",
    lambda every: 1440 // every,
    label="the readings in a day",
    shown=lambda v: f"{v} readings a day",
)
world.holds(
    "readings are possible",
    lambda temp, hum, soil, tank, low: (
        low < temp <= 38 and 20 <= hum <= 96 and 10 <= soil <= 95 and 6 <= tank <= 100
    ),
)
world.cut("fahr", f_label="yesterday")
world.edit("temp", by("temp", -8, -6, 7, 9))
world.edit("hum", by("hum", -22, -14, 16, 24))
world.edit("soil", by("soil", -24, -16, 18, 26))
world.edit("tank", by("tank", -34, -22, 24, 36))
world.edit("use", lambda v, rng: rng.choice([u for u in (25, 30, 40, 50, 60) if u != v["use"]]))
world.edit("every", lambda v, rng: rng.choice([u for u in (5, 10, 15, 20) if u != v["every"]]))
world.edit("now", by("now", -20, 15, 35))
world.edit("low", by("low", -2, 2, 3))
