"""A school report in Hindi: marks and their sum, grade and place, days of attendance, who is promoted, when school begins."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, day_month, move, weekday

SUBJECTS = {"s1": ("हिन्दी", "Hindi"), "s2": ("अंग्रेज़ी", "English"), "s3": ("गणित", "Mathematics"), "s4": ("विज्ञान", "Science"), "s5": ("सामाजिक अध्ययन", "Social Studies")}  # fmt: skip
NAMES = {"आरव शर्मा": "Aarav Sharma", "दीया नायर": "Diya Nair", "कबीर सिंह": "Kabir Singh", "मीरा जोशी": "Meera Joshi"}  # fmt: skip


def letter(percent: int) -> str:
    """Return the grade of a percentage."""
    return next(g for limit, g in ((91, "A1"), (81, "A2"), (71, "B1"), (61, "B2"), (51, "C1"), (33, "C2"), (0, "D")) if percent >= limit)  # fmt: skip


world = World(
    "report",
    lang="hi",
    labels={k: f"the marks in {v[1]}" for k, v in SUBJECTS.items()} | {"name": "the name", "present": "the days of presence", "klass": "the class", "close": "the last day of school"},
    formats={"klass": lambda n: f"{n}वीं", "close": day_month("hi")},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    return {k: rng.randint(48, 96) for k in SUBJECTS} | {"name": rng.choice(list(NAMES)), "present": rng.choice([168, 180, 186, 204, 210]), "days": 220, "klass": rng.choice([7, 8, 9]), "close": Date(2026, 3, rng.choice([23, 24, 25, 26, 27])), "gap": rng.choice([7, 14]), "roll": rng.randint(4, 42), "next_label": "नया सत्र आरंभ"}  # fmt: skip


for k, row in SUBJECTS.items():
    world.derive(f"g_{k}", "classification", letter, of=(k,), label=f"the grade in {row[1]}")
    world.derive(
        f"b_{k}", "bar", lambda n: n, of=(k,), label=f"the bar of {row[1]}", shown=lambda n: f"{n} of 100"
    )
world.derive("total", "sum", lambda s1, s2, s3, s4, s5: s1 + s2 + s3 + s4 + s5, label="the sum of the marks")
world.derive(
    "percent", "percent", lambda total: round(total / 5), label="the percentage", shown=lambda n: f"{n}%"
)
world.derive("grade", "classification", letter, of=("percent",), label="the grade")
world.derive("division", "classification", lambda percent: "प्रथम श्रेणी" if percent >= 60 else "द्वितीय श्रेणी", label="the division")  # fmt: skip
world.derive("stars", "stars", lambda percent: max(1, (percent - 41) // 10), label="the stars", shown=lambda n: f"{n} stars")  # fmt: skip
world.derive("best", "rank", lambda s1, s2, s3, s4, s5: SUBJECTS[f"s{1 + max(range(5), key=lambda k: (s1, s2, s3, s4, s5)[k])}"][0], label="the best subject")  # fmt: skip
world.derive("weak", "rank", lambda s1, s2, s3, s4, s5: SUBJECTS[f"s{1 + min(range(5), key=lambda k: (s1, s2, s3, s4, s5)[k])}"][0], label="the subject to practise")  # fmt: skip
world.derive("name_en", "translation", lambda name: NAMES[name], label="the name in Latin letters")
world.derive(
    "initials", "abbreviation", lambda name_en: "".join(w[0] for w in name_en.split()), label="the initials"
)
world.derive("absent", "difference", lambda days, present: days - present, label="the days of absence")
world.derive("att", "percent", lambda present, days: round(100 * present / days), label="the attendance", shown=lambda n: f"{n}%")  # fmt: skip
world.derive(
    "tube", "gauge", lambda att: att, label="the bar of attendance", shown=lambda n: f"filled to {n}%"
)
world.derive("badge", "emblem", lambda att: att >= 85, label="the medal of attendance")
world.derive("up", "sum", lambda klass: klass + 1, label="the next class", shown=lambda n: f"{n}वीं")
world.derive("room", "numbering", lambda klass: f"{klass}-ब", label="the section")
world.derive("close_wd", "weekday", lambda close: weekday("hi")(close), label="the weekday of the last day")
world.derive("again", "date", lambda close, gap: move(close, gap), label="the first day of the new year", shown=day_month("hi"))  # fmt: skip
world.derive("again_wd", "weekday", lambda again: weekday("hi")(again), label="the weekday of the first day")
world.holds("no ties at either end", lambda s1, s2, s3, s4, s5: len({s1, s2, s3, s4, s5}) == 5)
world.holds("marks up to a hundred", lambda s1, s2, s3, s4, s5: max(s1, s2, s3, s4, s5) <= 100 and min(s1, s2, s3, s4, s5) >= 34)  # fmt: skip
world.holds("school days", lambda close, again: close.weekday() < 6 and again.weekday() < 6)
world.cut("again", next_label="पिछला सत्र आरंभ हुआ")
world.edit("s1", lambda v, rng: rng.choice([n for n in (46, 58, 79, 97) if abs(n - v["s1"]) > 8]))
world.edit("s3", lambda v, rng: rng.choice([n for n in (39, 62, 88, 99) if abs(n - v["s3"]) > 8]))
world.edit("s4", lambda v, rng: rng.choice([n for n in (44, 65, 76, 98) if abs(n - v["s4"]) > 8]))
world.edit("name", lambda v, rng: rng.choice([n for n in NAMES if n != v["name"]]))
world.edit(
    "present", lambda v, rng: rng.choice([n for n in (160, 176, 192, 208) if abs(n - v["present"]) > 6])
)
world.edit("klass", lambda v, rng: rng.choice([n for n in (6, 7, 8, 9) if n != v["klass"]]))
world.edit("close", lambda v, rng: move(v["close"], rng.choice([-3, -2, -1, 1])))
