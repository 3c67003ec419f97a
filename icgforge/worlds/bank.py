"""A bank statement in German: bookings give running balances, sums, the largest expense, interest class and a reminder."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, by, day_month, money, move, weekday

EURO = money("{} €", ",", ".")
SPEND = {
    "Miete Lindenhof": 78000,
    "Stadtwerke Strom": 9400,
    "Bäckerei Korn": 1860,
    "Buchladen am Tor": 3490,
    "Fahrradhaus Speiche": 12900,
    "Zahnarzt Dr. Mohn": 6450,
}
SORT = {
    "Miete Lindenhof": "Wohnen",
    "Stadtwerke Strom": "Wohnen",
    "Bäckerei Korn": "Essen",
    "Buchladen am Tor": "Freizeit",
    "Fahrradhaus Speiche": "Freizeit",
    "Zahnarzt Dr. Mohn": "Gesundheit",
}

world = World(
    "bank",
    lang="de",
    labels={"old": "the old balance", "pay": "the salary", "x1": "the first expense", "x2": "the second expense", "x3": "the third expense", "date": "the date of the statement", "number": "the number of the statement", "name": "the account holder", "n1": "the first payee", "n2": "the second payee", "n3": "the third payee"},
    formats={"old": EURO, "pay": lambda v: "+" + EURO(v), "x": lambda v: EURO(-v)},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    names = rng.sample(list(SPEND), 3)
    return {"old": rng.randrange(20000, 90000, 50), "pay": rng.randrange(90000, 190000, 500), "n1": names[0], "n2": names[1], "n3": names[2], "x1": SPEND[names[0]], "x2": SPEND[names[1]], "x3": SPEND[names[2]], "date": Date(2026, rng.randint(2, 11), rng.randint(5, 26)), "number": rng.randint(3, 11), "name": rng.choice(["Jana Wieck", "Emre Sander", "Tilda Voss"]), "new_label": "Neuer Saldo"}  # fmt: skip


world.derive("b0", "sum", lambda old, pay: old + pay, label="the balance after the salary", shown=EURO)
world.derive(
    "b1", "difference", lambda b0, x1: b0 - x1, label="the balance after the first expense", shown=EURO
)
world.derive(
    "b2", "difference", lambda b1, x2: b1 - x2, label="the balance after the second expense", shown=EURO
)
world.derive("new", "difference", lambda b2, x3: b2 - x3, label="the new balance", shown=EURO)
world.derive(
    "out", "sum", lambda x1, x2, x3: x1 + x2 + x3, label="the sum of the expenses", shown=lambda v: EURO(-v)
)
world.derive(
    "scale",
    "bar",
    lambda pay, out: round(min(1.0, out / pay), 3),
    label="the bar of the expenses",
    shown=lambda v: f"a bar of {v:.0%}",
)
world.derive(
    "top",
    "rank",
    lambda x1, x2, x3, n1, n2, n3: max((x1, n1), (x2, n2), (x3, n3))[1],
    label="the largest expense",
)
for i in "123":
    world.derive(
        f"k{i}", "classification", lambda n: SORT[n], of=(f"n{i}",), label=f"the class of the expense {i}"
    )
world.derive(
    "free",
    "claim",
    lambda new: new >= 70000,
    label="the note on the fee",
    shown=lambda v: "Kontoführung kostenlos" if v else "Kontoführung 4,90 €",
)
world.derive("date_t", "copy", lambda date: date, label="the date", shown=day_month("de", "{d}. {m} {y}"))
world.derive("day", "weekday", lambda date: weekday("de")(date), label="the weekday")
world.derive(
    "due",
    "date",
    lambda date: move(date, 42),
    label="the last day for objections",
    shown=day_month("de", "{d}. {m}"),
)
world.derive("season", "season", lambda date: f"{(date.month - 1) // 3 + 1}. Quartal", label="the quarter")
world.derive(
    "next",
    "numbering",
    lambda number: number + 1,
    label="the number of the next statement",
    shown=lambda v: f"Auszug {v}",
)
world.derive("ref", "code", lambda number, date: f"{date.year}-{number:03d}", label="the reference")
world.derive(
    "mono",
    "abbreviation",
    lambda name: "".join(w[0] for w in name.split()),
    label="the initials on the drawn card",
)
world.derive("card", "imprint", lambda name: name.upper(), label="the name pressed into the drawn card")
world.holds("never in debt", lambda b1, b2, new: min(b1, b2, new) > 1000)
world.holds("expenses differ", lambda x1, x2, x3: len({x1, x2, x3}) == 3)
world.cut("new", new_label="Saldo im Vorjahr")
world.edit("pay", by("pay", -14000, 12000, 25000))
world.edit("x1", by("x1", 2500, 4100, 31000))
world.edit("x2", by("x2", 1800, 5200, 40000))
world.edit("x3", by("x3", 2200, 7000, 38000))
world.edit("date", lambda v, rng: move(v["date"], rng.choice([-2, -1, 1, 2])))
world.edit("number", by("number", -1, 1))
world.edit(
    "name",
    lambda v, rng: rng.choice([n for n in ("Jana Wieck", "Emre Sander", "Tilda Voss") if n != v["name"]]),
)
world.edit(
    "n2",
    lambda v, rng: rng.choice(
        [n for n in SPEND if n not in (v["n1"], v["n2"], v["n3"]) and SORT[n] != SORT[v["n2"]]]
    ),
)
