"""A library's loan slip in Russian: days of loan rule due dates, delays and fines; the genre rules shelf and colour."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, by, day_month, move, other, weekday

BOOKS = {  # author, section
    "Тихий берег": ("О. Лунина", "проза"), "Снежный маяк": ("П. Гордеев", "проза"), "Птицы наших лесов": ("Е. Соколов", "природа"), "Травы и корни": ("М. Ясенева", "природа"),
    "Двигатели и люди": ("А. Кузнечный", "техника"), "Мосты над водой": ("Н. Ровный", "техника"), "Сказки старой мельницы": ("Д. Жукова", "детям"), "Кот на крыше": ("В. Малыш", "детям"),
}  # fmt: skip
SECTIONS = {
    "проза": ("blue", "2 этаж", "П"),
    "природа": ("green", "1 этаж", "Е"),
    "техника": ("grey", "3 этаж", "Т"),
    "детям": ("orange", "1 этаж", "Д"),
}
NTH = {"1": "first", "2": "second", "3": "third"}


def days_ru(n: int) -> str:
    """Write a number of days."""
    return f"{n} " + (
        "день"
        if n % 10 == 1 and n % 100 != 11
        else "дня"
        if n % 10 in (2, 3, 4) and n % 100 not in (12, 13, 14)
        else "дней"
    )


world = World(
    "library",
    lang="ru",
    labels={f"{k}{i}": f"the {w} {n} book" for i, n in NTH.items() for k, w in (("b", "title of the"), ("d", "days of loan of the"))} | {"date": "the date of the loan", "fine": "the fine for a day", "late": "the days of delay", "reader": "the name of the reader", "card": "the number of the card"},
    formats={"d": days_ru, "late": days_ru, "fine": lambda v: f"{v} ₽", "card": lambda v: f"{v:05d}"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    out: Values = {
        "date": Date(2026, rng.randint(1, 11), rng.randint(2, 27)),
        "fine": rng.choice([5, 8, 10]),
        "late": rng.randint(3, 9),
        "reader": rng.choice(["Вера Орлова", "Глеб Никитин", "Зоя Павлова"]),
        "card": rng.randint(1200, 9800),
        "back_label": "Вернуть",
    }
    for i, book in enumerate(rng.sample(list(BOOKS), 3), 1):
        out |= {f"b{i}": book, f"d{i}": rng.choice([10, 14, 21, 30])}
    return out


for i, n in NTH.items():
    world.derive(
        f"a{i}", "attribute", lambda b: BOOKS[b][0], of=(f"b{i}",), label=f"the author of the {n} book"
    )
    world.derive(
        f"s{i}", "classification", lambda b: BOOKS[b][1], of=(f"b{i}",), label=f"the section of the {n} book"
    )
    world.derive(
        f"c{i}", "colour_code", lambda s: SECTIONS[s][0], of=(f"s{i}",), label=f"the label of the {n} book"
    )
    world.derive(
        f"f{i}", "access", lambda s: SECTIONS[s][1], of=(f"s{i}",), label=f"the floor of the {n} book"
    )
    world.derive(
        f"k{i}",
        "code",
        lambda s, b: f"{SECTIONS[s][2]}-{b[0]}{len(b):02d}",
        of=(f"s{i}", f"b{i}"),
        label=f"the shelf mark of the {n} book",
    )
    world.derive(
        f"due{i}",
        "date",
        move,
        of=("date", f"d{i}"),
        label=f"the due date of the {n} book",
        shown=day_month("ru", "{d} {m}"),
    )
    world.derive(
        f"w{i}",
        "weekday",
        lambda due: weekday("ru")(due),
        of=(f"due{i}",),
        label=f"the weekday of the {n} due date",
    )
world.derive(
    "date_t", "copy", lambda date: date, label="the date of the loan", shown=day_month("ru", "{d} {m} {y}")
)
world.derive(
    "stamp", "imprint", lambda date: date, label="the date in the stamp", shown=lambda d: f"{d:%d.%m.%y}"
)
world.derive(
    "first",
    "rank",
    lambda due1, due2, due3: min(due1, due2, due3),
    label="the first due date",
    shown=day_month("ru", "{d} {m}"),
)
world.derive(
    "warn",
    "countdown",
    lambda first, date: (first - date).days,
    label="the days until the first return",
    shown=lambda v: f"через {days_ru(v)}",
)
world.derive("owed", "product", lambda fine, late: fine * late, label="the fine", shown=lambda v: f"{v} ₽")
world.derive(
    "limit",
    "access",
    lambda owed: owed <= 50,
    label="the note on the reading room",
    shown=lambda v: "выдача на дом открыта" if v else "только читальный зал",
)
world.derive(
    "door",
    "pictogram",
    lambda limit: limit,
    label="the sign of the lending",
    shown=lambda v: "a tick" if v else "a lock",
)
world.derive(
    "short", "abbreviation", lambda reader: ".".join(w[0] for w in reader.split()) + ".", label="the initials"
)
world.derive(
    "back", "mirrored", lambda card: card, label="the number that shows through", shown=lambda v: f"{v:05d}"
)
world.derive("bar", "code", lambda card: card, label="the bar code", shown=lambda v: f"the bars of {v:05d}")
world.derive("key", "legend", lambda s1, s2, s3: sorted({s1, s2, s3}), label="the key to the labels")
world.holds("three books", lambda b1, b2, b3: len({b1, b2, b3}) == 3)
world.cut("due1", back_label="Сдано")
for k, i in enumerate(NTH):
    world.edit(f"b{i}", other([f"b{j}" for j in NTH], k, BOOKS, lambda x, y: BOOKS[x][1] != BOOKS[y][1]))
    world.edit(f"d{i}", lambda v, rng, i=i: rng.choice([d for d in (7, 10, 14, 21, 30) if d != v[f"d{i}"]]))  # type: ignore[misc]
world.edit("date", lambda v, rng: move(v["date"], rng.choice([-3, -1, 2, 4])))
world.edit("fine", lambda v, rng: rng.choice([f for f in (5, 8, 10, 12) if f != v["fine"]]))
world.edit("late", by("late", -2, 2, 4))
world.edit(
    "reader",
    lambda v, rng: rng.choice(
        [r for r in ("Вера Орлова", "Глеб Никитин", "Зоя Павлова") if r != v["reader"]]
    ),
)
world.edit("card", by("card", 7, 110, -30))
