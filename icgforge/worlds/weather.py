"""A day's weather: sky and what one wears, temperatures in two units, a curve, length of the day, wind."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, clock, day_month, move, weekday

SKIES = {"Sol": ("sun", "Passe protetor solar", "Sunny"), "Chuva": ("rain", "Leve o guarda-chuva", "Rain"), "Neve": ("snow", "Calce as botas", "Snow"), "Nublado": ("cloud", "Um casaco leve chega", "Cloudy"), "Trovoada": ("storm", "Fique em casa", "Thunder")}  # fmt: skip
TOWNS = ["Vila Nova", "Serra Alta", "Praia do Norte", "Monte Claro"]
WINDS = {"N": 0, "NE": 45, "L": 90, "SE": 135, "S": 180, "SO": 225, "O": 270, "NO": 315}
HOURS = (8, 11, 14, 17, 20)


def degrees(t: int) -> str:
    """Write a temperature."""
    return f"{t}°".replace("-", "−")


world = World(
    "weather",
    lang="pt",
    labels={"sky": "the sky", "now": "the temperature", "wind": "the wind", "way": "the direction of the wind", "rise": "the sunrise", "set": "the sunset", "date": "the date"} | {f"t{h}": f"the temperature at {h} o’clock" for h in HOURS},
    formats={"now": degrees, "t": degrees, "rise": clock, "set": clock, "wind": lambda w: f"{w} km/h"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    sky = rng.choice(list(SKIES))
    base = -2 if sky == "Neve" else rng.randint(9, 22)
    rises = [0, 3, 7, 5, 1]
    return {"town": rng.choice(TOWNS), "date": Date(2026, rng.randint(2, 11), rng.randint(3, 25)), "sky": sky, "now": base + 5, "wind": rng.choice([6, 14, 22, 34]), "way": rng.choice(list(WINDS)), "rise": rng.randint(330, 440), "set": rng.randint(1080, 1230), "advice_label": "Para hoje"} | {f"t{h}": base + r for h, r in zip(HOURS, rises, strict=True)}  # fmt: skip


world.derive(
    "art", "weather", lambda sky: SKIES[sky][0], label="the drawn sky", shown=lambda v: f"a sky with {v}"
)
world.derive("wear", "dress", lambda sky: SKIES[sky][0], label="the figure", shown=lambda v: f"a figure dressed for {v}")  # fmt: skip
world.derive("tip", "custom", lambda sky: SKIES[sky][1], label="the advice")
world.derive("en", "translation", lambda sky: SKIES[sky][2], label="the English word")
world.derive("date_t", "copy", lambda date: date, label="the date", shown=day_month("pt", "{d} de {m}"))
world.derive("wd", "weekday", lambda date: weekday("pt")(date), label="the weekday")
world.derive("wd1", "weekday", lambda date: weekday("pt")(move(date, 1)).split("-")[0], label="the next day")
world.derive(
    "wd2", "weekday", lambda date: weekday("pt")(move(date, 2)).split("-")[0], label="the day after next"
)
world.derive("wd3", "weekday", lambda date: weekday("pt")(move(date, 3)).split("-")[0], label="the third day")
world.derive("fahr", "unit", lambda now: round(now * 9 / 5 + 32), label="the temperature in Fahrenheit", shown=lambda f: f"{f} °F")  # fmt: skip
world.derive("feel", "difference", lambda now, wind: now - round(wind / 8), label="the felt temperature", shown=degrees)  # fmt: skip
world.derive("word", "classification", lambda feel: "gelado" if feel < 5 else "frio" if feel < 12 else "ameno" if feel < 20 else "quente", label="the word for the temperature")  # fmt: skip
world.derive("tube", "gauge", lambda now: max(-10, min(40, now)), label="the thermometer", shown=lambda t: f"a column to {t}°")  # fmt: skip
world.derive("force", "classification", lambda wind: 2 if wind < 12 else 3 if wind < 20 else 4 if wind < 29 else 5 if wind < 39 else 6, label="the force of the wind", shown=lambda f: f"força {f}")  # fmt: skip
world.derive("needle", "marker", lambda way: WINDS[way], label="the needle of the wind", shown=lambda a: f"a needle at {a}°")  # fmt: skip
world.derive("curve", "line", lambda t8, t11, t14, t17, t20: (t8, t11, t14, t17, t20), label="the curve of the day", shown=lambda v: f"a curve through {', '.join(map(str, v))}")  # fmt: skip
world.derive("high", "rank", lambda curve: max(curve), label="the highest temperature", shown=degrees)
world.derive("low", "rank", lambda curve: min(curve), label="the lowest temperature", shown=degrees)
world.derive("span", "difference", lambda high, low: high - low, label="the span of the day", shown=degrees)
world.derive("light", "duration", lambda rise, set: set - rise, label="the length of the day", shown=lambda m: f"{m // 60} h {m % 60:02d} min")  # fmt: skip
world.derive(
    "noon", "average", lambda rise, set: (set + rise) // 2, label="the middle of the day", shown=clock
)
world.derive("blue", "clock", lambda set: set - 45, label="the golden hour", shown=clock)
world.holds(
    "snow falls in the cold", lambda sky, now: (sky != "Neve" or now <= 3) and (sky == "Neve" or now >= 4)
)
world.holds("the curve has one top", lambda curve: sorted(curve)[-1] > sorted(curve)[-2])
world.holds("the felt temperature is told in the range", lambda feel, high: -12 < feel <= high < 39)
world.holds("the temperature lies in the range of the day", lambda low, now, high: low <= now <= high)
world.cut("tip", advice_label="Ontem diziam")
world.edit("sky", lambda v, rng: rng.choice([s for s in SKIES if s != v["sky"] and (s == "Neve") == (v["sky"] == "Neve")] or [None]))  # fmt: skip
world.edit("now", lambda v, rng: v["now"] + rng.choice([-6, -4, 3, 5]))
world.edit("t14", lambda v, rng: v["t14"] + rng.choice([-5, -4, 3, 4]))
world.edit("t20", lambda v, rng: v["t20"] + rng.choice([-5, -3]))
world.edit("wind", lambda v, rng: rng.choice([w for w in (6, 14, 25, 36, 44) if abs(w - v["wind"]) > 7]))
world.edit("way", lambda v, rng: rng.choice([w for w in WINDS if w != v["way"]]))
world.edit("set", lambda v, rng: v["set"] + rng.choice([-34, -21, 18, 27]))
world.edit("date", lambda v, rng: move(v["date"], rng.choice([-2, -1, 1, 2])))
