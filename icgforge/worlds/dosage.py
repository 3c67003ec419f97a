"""A pharmacy's plan for taking a medicine: dose by weight, tablets a day, how long the pack lasts, who must not drive."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, clock, day_month, money, move, weekday

DRUGS = {  # milligrams a kilogram and dose, strength of a tablet, form, makes tired, with food
    "Calmodorm": (4, 100, "round", True, True), "Febrisan": (10, 250, "oval", False, True), "Lindalgin": (5, 125, "capsule", True, False), "Tussivent": (8, 200, "round", False, False),
}  # fmt: skip
world = World(
    "dosage",
    lang="de",
    labels={"drug": "the medicine", "weight": "the weight", "times": "the number of doses a day", "pack": "the number of tablets in the pack", "start": "the first day", "first": "the first hour", "price": "the price"},
    formats={"weight": lambda w: f"{w} kg", "times": lambda n: f"{n}-mal", "pack": lambda n: f"{n} Tabletten", "first": clock, "price": money("{} €", ",", ".")},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    return {"drug": rng.choice(list(DRUGS)), "weight": rng.choice([25, 50, 75]), "times": rng.choice([2, 3]), "pack": rng.choice([20, 24, 30, 48]), "start": Date(2026, rng.randint(2, 11), rng.randint(3, 24)), "first": rng.choice([420, 450, 480]), "price": rng.choice([845, 1190, 1480]), "who": rng.choice(["Ilse Brandt", "Jonas Feld", "Murat Aydin"]), "end_label": "Reicht bis"}  # fmt: skip


world.derive("dose", "product", lambda weight, drug: weight * DRUGS[drug][0], label="the dose", shown=lambda m: f"{m} mg")  # fmt: skip
world.derive("strong", "attribute", lambda drug: DRUGS[drug][1], label="the strength of a tablet", shown=lambda m: f"{m} mg")  # fmt: skip
world.derive("tabs", "ratio", lambda dose, strong: dose // strong, label="the tablets for one dose", shown=lambda n: f"{n} Tablette{'n' * (n != 1)}")  # fmt: skip
world.derive(
    "drawn", "quantity_shown", lambda tabs: tabs, label="the drawn tablets", shown=lambda n: f"{n} tablets"
)
world.derive("daily", "product", lambda tabs, times: tabs * times, label="the tablets a day", shown=str)
world.derive("most", "product", lambda dose, times: dose * times, label="the milligrams a day", shown=lambda m: f"{m:,} mg".replace(",", "."))  # fmt: skip
world.derive("days", "ratio", lambda pack, daily: pack // daily, label="the days that the pack lasts", shown=lambda n: f"{n} Tag{'e' * (n != 1)}")  # fmt: skip
world.derive("end", "date", lambda start, days: move(start, days - 1), label="the last day", shown=day_month("de", "{d}. {m}"))  # fmt: skip
world.derive("end_wd", "weekday", lambda end: weekday("de")(end), label="the weekday of the last day")
world.derive("start_t", "copy", lambda start: start, label="the first day", shown=day_month("de", "{d}. {m}"))
world.derive("start_wd", "weekday", lambda start: weekday("de")(start), label="the weekday of the first day")
world.derive("gap", "ratio", lambda times: 24 // times if times > 3 else 12 // (times - 1), label="the hours between doses", shown=lambda h: f"alle {h} Stunden")  # fmt: skip
world.derive("second", "clock", lambda first, gap: first + gap * 60, label="the second hour", shown=clock)
world.derive("third", "clock", lambda first, gap, times: first + 2 * gap * 60 if times > 2 else None, label="the third hour", shown=lambda m: clock(m) if m else "–")  # fmt: skip
world.derive("band", "classification", lambda weight: "Kinder" if weight < 40 else "Erwachsene", label="the group of patients")  # fmt: skip
world.derive("figure", "pictogram", lambda weight: "child" if weight < 40 else "adult", label="the figure", shown=lambda v: f"the figure of {'a child' if v == 'child' else 'an adult'}")  # fmt: skip
world.derive("drive", "access", lambda drug: DRUGS[drug][3], label="the sign about driving", shown=lambda v: "a crossed-out car" if v else "a car")  # fmt: skip
world.derive("drive_t", "access", lambda drug: "Nicht selbst fahren" if DRUGS[drug][3] else "Fahren ist erlaubt", label="the words about driving")  # fmt: skip
world.derive(
    "food", "custom", lambda drug: "zum Essen" if DRUGS[drug][4] else "vor dem Essen", label="how it is taken"
)
world.derive("shape", "picture", lambda drug: DRUGS[drug][2], label="the picture of the tablet", shown=lambda v: f"a {v} tablet")  # fmt: skip
world.derive("each", "ratio", lambda price, pack: round(price / pack), label="the price of a tablet", shown=lambda c: f"{c} Cent")  # fmt: skip
world.derive("rest", "difference", lambda pack, daily, days: pack - daily * days, label="the tablets that are left", shown=str)  # fmt: skip
world.holds(
    "a whole number of tablets, few", lambda dose, strong, tabs: dose == tabs * strong and 1 <= tabs <= 4
)
world.holds("the pack lasts some days", lambda days: 1 <= days <= 15)
world.holds("taken before midnight", lambda third, second: (third or second) < 24 * 60)
world.cut("end", end_label="Letzte Packung endete")
world.edit("weight", lambda v, rng: rng.choice([w for w in (25, 50, 75, 100) if w != v["weight"]]))
world.edit("times", lambda v, rng: rng.choice([n for n in (2, 3) if n != v["times"]]))
world.edit("pack", lambda v, rng: rng.choice([n for n in (20, 24, 30, 36, 48, 60) if n != v["pack"]]))
world.edit("start", lambda v, rng: move(v["start"], rng.choice([-3, -2, -1, 1, 2])))
world.edit("first", lambda v, rng: v["first"] + rng.choice([-60, -30, 30, 60]))
world.edit("drug", lambda v, rng: rng.choice([d for d in DRUGS if d != v["drug"]]))
