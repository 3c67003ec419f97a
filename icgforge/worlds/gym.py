"""A gym's day in Russian: classes and their ends, trainers, load, places left, what to bring, a pass and a visit."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, clock, day_month, money, move, weekday

CLASSES = {  # minutes, load of five, kilocalories an hour, what to bring, sign, English
    "Йога": (60, 1, 180, "коврик", "lotus", "Yoga"), "Бокс": (45, 5, 640, "перчатки", "glove", "Boxing"), "Плавание": (45, 3, 480, "шапочка", "wave", "Swimming"), "Сайкл": (50, 4, 560, "полотенце", "bike", "Cycling"), "Растяжка": (30, 1, 150, "коврик", "lotus", "Stretching"), "Штанга": (60, 4, 420, "полотенце", "bar", "Weights"),
}  # fmt: skip
TRAINERS = {"Ольга": "О", "Марат": "М", "Вера": "В", "Денис": "Д"}
HALLS = {"лёгкая": "зелёный зал", "средняя": "синий зал", "высокая": "красный зал"}
rub = money("{} ₽", ",", " ", 0)
world = World(
    "gym",
    lang="ru",
    labels={f"k{i}": f"the {n} class" for i, n in enumerate(("first", "second", "third", "fourth"), 1)} | {f"t{i}": f"the hour of the {n} class" for i, n in enumerate(("first", "second", "third", "fourth"), 1)} | {f"u{i}": f"the people in the {n} class" for i, n in enumerate(("first", "second", "third", "fourth"), 1)} | {"pass_": "the price of the pass", "visits": "the number of visits", "date": "the date"},
    formats={"t": clock, "pass_": rub, "u": lambda n: f"{n} из 16"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    start = rng.choice([420, 450, 480])
    places = rng.sample([5, 9, 11, 12, 14, 16], 4)
    out: Values = {"date": Date(2026, rng.randint(2, 11), rng.randint(3, 25)), "pass_": rng.choice([3200, 4000, 4800]), "visits": 8, "room": 16, "single": 700, "lost_label": "Следующая оплата"}  # fmt: skip
    for i, (name, coach) in enumerate(
        zip(rng.sample(list(CLASSES), 4), rng.sample(list(TRAINERS), 4), strict=True), 1
    ):
        out |= {f"k{i}": name, f"t{i}": start + [0, 165, 375, 660][i - 1], f"c{i}": coach, f"u{i}": places[i - 1]}  # fmt: skip
    return out


for i in "1234":
    world.derive(f"en{i}", "translation", lambda k: CLASSES[k][5], of=(f"k{i}",), label="the English name")
    world.derive(f"sign{i}", "pictogram", lambda k: CLASSES[k][4], of=(f"k{i}",), label="the sign of the class", shown=lambda v: f"the sign of a {v}")  # fmt: skip
    world.derive(f"load{i}", "stars", lambda k: CLASSES[k][1], of=(f"k{i}",), label="the dots of the load", shown=lambda n: f"{n} of 5 dots")  # fmt: skip
    world.derive(f"take{i}", "custom", lambda k: CLASSES[k][3], of=(f"k{i}",), label="what to bring")
    world.derive(f"end{i}", "clock", lambda t, k: t + CLASSES[k][0], of=(f"t{i}", f"k{i}"), label="the end of the class", shown=clock)  # fmt: skip
    world.derive(f"part{i}", "colour_code", lambda t: "morning" if t < 720 else "day" if t < 1020 else "evening", of=(f"t{i}",), label="the stripe of the time of day", shown=lambda v: f"the stripe of the {v}")  # fmt: skip
    world.derive(f"free{i}", "difference", lambda u: 16 - u, of=(f"u{i}",), label="the free places", shown=lambda n: f"свободно {n}" if n else "мест нет")  # fmt: skip
    world.derive(f"bar{i}", "gauge", lambda u: u, of=(f"u{i}",), label="the bar of places", shown=lambda n: f"{n} of 16 places")  # fmt: skip
world.derive("burn", "sum", lambda k1, k2, k3, k4: sum(CLASSES[k][0] * CLASSES[k][2] // 60 for k in (k1, k2, k3, k4)), label="the energy of the day", shown=lambda n: f"{n} ккал")  # fmt: skip
world.derive("people", "sum", lambda u1, u2, u3, u4: u1 + u2 + u3 + u4, label="the people of the day")
world.derive("rush", "rank", lambda u1, u2, u3, u4, k1, k2, k3, k4: (k1, k2, k3, k4)[max(range(4), key=lambda i: (u1, u2, u3, u4)[i])], label="the fullest class")  # fmt: skip
world.derive("each", "ratio", lambda pass_, visits: pass_ // visits, label="the price of a visit", shown=rub)
world.derive("cheap", "claim", lambda each, single: 2 * each < single, label="the claim about the visit", shown=lambda v: "дешевле половины разового" if v else "выгоднее разового")  # fmt: skip
world.derive("save", "difference", lambda pass_, visits, single: visits * single - pass_, label="the saving of the pass", shown=rub)  # fmt: skip
world.derive("date_t", "copy", lambda date: date, label="the date", shown=day_month("ru"))
world.derive("wd", "weekday", lambda date: weekday("ru")(date), label="the weekday")
for place, short in enumerate(("Пн", "Вт", "Ср", "Чт", "Пт", "Сб", "Вс")):
    world.derive(f"day{place}", "emphasis", lambda date, i=place, short=short: (short, date.weekday() == i), of=("date",), label=f"the {place + 1}. letter pair of the week", shown=lambda v: v[0])  # fmt: skip
world.derive("pay", "date", lambda date: move(date, 30), label="the day of payment", shown=day_month("ru"))
world.holds("one class is the fullest", lambda u1, u2, u3, u4: sorted((u1, u2, u3, u4))[-1] > sorted((u1, u2, u3, u4))[-2])  # fmt: skip
world.holds(
    "classes follow each other", lambda end1, t2, end2, t3, end3, t4: end1 <= t2 and end2 <= t3 and end3 <= t4
)
world.holds("the pass saves", lambda save: save > 0)
world.cut("pay", lost_label="Прошлая оплата")
world.edit(
    "k2", lambda v, rng: rng.choice([k for k in CLASSES if k not in (v["k1"], v["k2"], v["k3"], v["k4"])])
)
world.edit(
    "k3", lambda v, rng: rng.choice([k for k in CLASSES if k not in (v["k1"], v["k2"], v["k3"], v["k4"])])
)
world.edit("t3", lambda v, rng: v["t3"] + rng.choice([-75, -30, 45, 195, 225]))
world.edit("u2", lambda v, rng: rng.choice([n for n in (4, 8, 13, 15, 16) if abs(n - v["u2"]) > 2]))
world.edit("u4", lambda v, rng: rng.choice([n for n in (4, 8, 13, 15, 16) if abs(n - v["u4"]) > 2]))
world.edit("pass_", lambda v, rng: v["pass_"] + rng.choice([-800, -400, 400]))
world.edit("date", lambda v, rng: move(v["date"], rng.choice([-2, -1, 1, 2])))
