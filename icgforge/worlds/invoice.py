"""A craftsman's invoice: hours and goods, net, tax, total, deposit, due date, a second currency."""

from __future__ import annotations

from operator import mul
from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, day_month, money, move, weekday

GOODS = {
    "Oak boards, planed": 3850,
    "Brass hinges, pair": 1240,
    "Linseed oil, 1 l": 1690,
    "Plywood sheet": 4420,
    "Door handle, forged": 2975,
    "Wood glue, 5 kg": 3310,
}
CLIENTS = ["Harper & Lowe Architects", "Millbrook Primary School", "The Anchor Inn", "Dr Amina Yusuf"]

world = World(
    "invoice",
    labels={
        "q1": "the hours", "q2": "the quantity in the second line", "q3": "the quantity in the third line", "u1": "the hourly rate", "u2": "the unit price in the second line",
        "u3": "the unit price in the third line", "date": "the date of the invoice", "days": "the days for payment", "deposit": "the deposit", "rate": "the rate of tax", "number": "the number of the invoice",
    },
    formats=dict.fromkeys(("u", "a", "net", "tax", "total", "deposit", "due"), money("£{}")) | {"eur": money("€{}"), "rate": lambda r: f"{r}%", "days": lambda d: f"{d} days"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    second, third = rng.sample(list(GOODS), 2)
    return {
        "client": rng.choice(CLIENTS), "date": Date(2026, rng.randint(1, 11), rng.randint(2, 26)), "days": rng.choice([14, 21, 30]), "number": rng.randint(211, 968),
        "g2": second, "g3": third, "q1": rng.randint(6, 28), "q2": rng.randint(2, 9), "q3": rng.randint(2, 6), "u1": rng.choice([4800, 5200, 5600]),
        "u2": GOODS[second], "u3": GOODS[third], "rate": 20, "deposit": rng.choice([10000, 15000, 20000]), "paid_note": "Deposit received",
    }  # fmt: skip


for i in "123":
    world.derive(f"a{i}", "product", mul, of=(f"q{i}", f"u{i}"), label=f"the amount in line {i}")
world.derive("net", "sum", lambda a1, a2, a3: a1 + a2 + a3, label="the net amount")
world.derive("tax", "percent", lambda net, rate: round(net * rate / 100), label="the tax")
world.derive("total", "sum", lambda net, tax: net + tax, label="the total")
world.derive("due", "difference", lambda total, deposit: total - deposit, label="the amount that is due")
world.derive("eur", "unit", lambda due: round(due * 1.16), label="the amount in euros")
world.derive(
    "pay_by",
    "date",
    lambda date, days: move(date, days),
    label="the day of payment",
    shown=day_month("en", "{d} {m} {y}"),
)
world.derive("pay_day", "weekday", lambda pay_by: weekday("en")(pay_by), label="the weekday of the payment")
world.derive(
    "date_t", "copy", lambda date: date, shown=day_month("en", "{d} {m} {y}"), label="the date of the invoice"
)
world.derive("ref", "code", lambda number, date: f"HJ-{date.year}-{number}", label="the reference")
world.derive(
    "file", "address", lambda ref: f"pay.heronjoinery.example/{ref.lower()}", label="the address for payment"
)
world.derive("large", "emphasis", lambda due: due >= 100000)
world.holds("the deposit is less than the total", lambda total, deposit: total > deposit + 5000)
world.cut("due", paid_note="Deposit of the next order")
world.edit("q1", lambda v, rng: v["q1"] + rng.choice([-3, -2, 2, 3, 4]))
world.edit("u2", lambda v, rng: v["u2"] + rng.choice([-250, 300, 450]))
world.edit("q3", lambda v, rng: v["q3"] + rng.choice([1, 2, 3]))
world.edit("days", lambda v, rng: rng.choice([d for d in (10, 14, 21, 28, 30) if d != v["days"]]))
world.edit("date", lambda v, rng: move(v["date"], rng.choice([-2, -1, 1, 2])))
world.edit("deposit", lambda v, rng: v["deposit"] + rng.choice([-5000, 5000, 2500]))
world.edit("number", lambda v, rng: v["number"] + rng.choice([1, 2, 9]))
