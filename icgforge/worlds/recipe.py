"""A recipe: portions rule the amounts, oven and times, what cannot be eaten by whom, plates in the picture."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import clock

DISHES = {  # grams for one person of base, vegetable, cheese; names; calories; origin
    "Lasagne agli asparagi": (90, 120, 40, "sfoglia fresca", "asparagi", 520, "Bassano"), "Gnocchi alla zucca": (180, 110, 30, "gnocchi di patate", "zucca", 460, "Mantova"),
    "Parmigiana leggera": (60, 220, 50, "passata di pomodoro", "melanzane", 410, "Parma"), "Risotto al radicchio": (85, 90, 25, "riso Carnaroli", "radicchio", 480, "Treviso"),
}  # fmt: skip
CHEESE = {"taleggio": ("latte", False), "pecorino": ("latte", False), "tofu": ("soia", True), "anacardi": ("frutta a guscio", True)}  # fmt: skip
SEASON = {"asparagi": "primavera", "zucca": "autunno", "melanzane": "estate", "radicchio": "inverno"}

world = World(
    "recipe",
    lang="it",
    labels={"people": "the number of people", "heat": "the heat of the oven", "prep": "the time of preparation", "cook": "the time in the oven", "cheese": "the cheese", "dish": "the dish", "begin": "the time of beginning"},
    formats={"g": lambda g: f"{g} g", "prep": lambda m: f"{m} min", "cook": lambda m: f"{m} min", "heat": lambda c: f"{c} °C", "begin": clock},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    return {"dish": rng.choice(list(DISHES)), "people": rng.choice([2, 3, 4, 6]), "heat": rng.choice([170, 180, 190, 200]), "prep": rng.choice([15, 20, 25, 30]), "cook": rng.choice([20, 25, 35, 40]), "cheese": rng.choice(list(CHEESE)), "begin": rng.randrange(17 * 60 + 30, 19 * 60 + 15, 15), "page": rng.randint(24, 180),
            "serve_label": "A tavola alle"}  # fmt: skip


world.derive("g1", "product", lambda people, dish: people * DISHES[dish][0], label="the first amount")
world.derive("g2", "product", lambda people, dish: people * DISHES[dish][1], label="the second amount")
world.derive("g3", "product", lambda people, dish: people * DISHES[dish][2], label="the third amount")
world.derive("milk", "product", lambda people: people * 60, label="the milk", shown=lambda v: f"{v} ml")
world.derive("n1", "members", lambda dish: DISHES[dish][3], label="the first ingredient")
world.derive("n2", "members", lambda dish: DISHES[dish][4], label="the second ingredient")
world.derive(
    "kcal", "attribute", lambda dish: DISHES[dish][5], label="the calories", shown=lambda v: f"{v} kcal"
)
world.derive(
    "kj", "unit", lambda kcal: round(kcal * 4.184), label="the kilojoules", shown=lambda v: f"{v} kJ"
)
world.derive("place", "attribute", lambda dish: DISHES[dish][6], label="the place it comes from")
world.derive("season", "season", lambda n2: SEASON[n2], label="the season")
world.derive(
    "plates", "quantity_shown", lambda people: people, label="the plates", shown=lambda n: f"{n} plates"
)
world.derive("spoon", "ratio", lambda people: max(1, people // 2), label="the spoons of oil", shown=lambda n: f"{n} cucchiai{'o' if n == 1 else ''}")  # fmt: skip
world.derive("fahr", "unit", lambda heat: round((heat * 9 / 5 + 32) / 5) * 5, label="the heat in Fahrenheit", shown=lambda f: f"{f} °F")  # fmt: skip
world.derive("knob", "gauge", lambda heat: heat, label="the knob", shown=lambda h: f"a knob at {h}")
world.derive(
    "total", "sum", lambda prep, cook: prep + cook, label="the time in all", shown=lambda m: f"{m} min"
)
world.derive("hard", "classification", lambda total: "facile" if total <= 45 else "media" if total < 60 else "per chi ha tempo", label="the difficulty")  # fmt: skip
world.derive("quick", "claim", lambda total: total < 45, label="the stamp", shown=lambda v: "pronto in meno di 45 minuti" if v else "45 minuti o più")  # fmt: skip
world.derive("ready", "clock", lambda begin, total: begin + total, label="the time of the meal", shown=clock)
world.derive("warn", "allergen", lambda cheese: CHEESE[cheese][0], label="the allergen")
world.derive("vegan", "pictogram", lambda cheese: CHEESE[cheese][1], label="the leaf")
world.derive("top", "copy", lambda cheese: cheese)
world.derive("slot", "slice", lambda prep, total: round(360 * prep / total), label="the clock of the times", shown=lambda a: f"{a}° for the preparation")  # fmt: skip
world.cut("ready", serve_label="Ieri pronto alle")
world.edit("people", lambda v, rng: rng.choice([n for n in (2, 3, 4, 5, 6) if n != v["people"]]))
world.edit("heat", lambda v, rng: rng.choice([h for h in (160, 180, 200, 220) if h != v["heat"]]))
world.edit("prep", lambda v, rng: rng.choice([m for m in (10, 20, 35, 40) if abs(m - v["prep"]) > 4]))
world.edit("cook", lambda v, rng: rng.choice([m for m in (15, 25, 30, 50) if abs(m - v["cook"]) > 4]))
world.edit("cheese", lambda v, rng: rng.choice([c for c in CHEESE if CHEESE[c] != CHEESE[v["cheese"]]]))
world.edit("begin", lambda v, rng: v["begin"] + rng.choice([-45, -30, 15, 30]))
