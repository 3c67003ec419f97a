"""A marathon: times rule order, gaps, pace, medals, podium, clubs; a certificate for the runner in second place."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, by, day_month, weekday

NAMES = [
    "Lena Brandvik",
    "Tomas Ferrow",
    "Aisha Murenga",
    "Jonas Keppler",
    "Priya Sandal",
    "Marco Delune",
    "Ines Carval",
    "Piotr Zalew",
    "Hana Mori",
    "Sean Halloway",
]
CLUBS = ["Harbour Striders", "Northgate AC", "Hill Runners"]
NTH = {"1": "first", "2": "second", "3": "third", "4": "fourth", "5": "fifth", "6": "sixth"}
ORDINAL = {1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 5: "5th", 6: "6th"}
TIMES = tuple(f"t{i}" for i in NTH)


def hms(seconds: int) -> str:
    """Write a time of a race."""
    return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def ms(seconds: int) -> str:
    """Write a short time."""
    return f"{seconds // 60}:{seconds % 60:02d}"


world = World(
    "marathon",
    labels={f"t{i}": f"the time of the runner listed {n}" for i, n in NTH.items()} | {"record": "the course record", "edition": "the number of the race", "date": "the date", "born": "the year of birth"},
    formats={"t": hms, "record": hms, "edition": lambda v: f"{v}th"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    out: Values = {
        "record": 9000 + rng.randint(-120, 160),
        "edition": rng.choice([24, 26, 27, 28, 34, 36]),
        "date": Date(2026, rng.randint(3, 10), rng.randint(3, 26)),
        "born": rng.randint(1980, 2004),
        "town": rng.choice(["Stonehaven Bay", "Ludford", "Marrow Point"]),
        "gap_label": "Gap",
    }
    names, t = rng.sample(NAMES, 6), 9000 + rng.randint(-90, 200)
    for i, name in enumerate(names, 1):
        out |= {f"n{i}": name, f"t{i}": t, f"club{i}": CLUBS[(i + out["edition"]) % 3]}
        t += rng.randint(25, 190)
    return out


def place(own: int, *times: int) -> int:
    """Return the place of a time among all."""
    return 1 + sum(t < own for t in times)


for i, n in NTH.items():
    world.derive(f"pos{i}", "rank", place, of=(f"t{i}", *TIMES), label=f"the place of the runner listed {n}")
    world.derive(
        f"pace{i}",
        "ratio",
        lambda t: round(t / 42.195),
        of=(f"t{i}",),
        label=f"the pace of the runner listed {n}",
        shown=ms,
    )
    world.derive(
        f"gap{i}",
        "difference",
        lambda own, *t: own - min(t),
        of=(f"t{i}", *TIMES),
        label=f"the gap of the runner listed {n}",
        shown=lambda v: f"+{ms(v)}" if v else "–",
    )
for p in "123":
    world.derive(
        f"pod{p}",
        "rank",
        lambda *a, p=int(p): sorted(zip(a[:6], a[6:], strict=True))[p - 1][1].split()[1],
        of=(*TIMES, *(f"n{i}" for i in NTH)),
        label=f"the name on step {p}",
    )
for k, club in enumerate(CLUBS):
    world.derive(
        f"sum{k}",
        "sum",
        lambda *a, c=club: sum(t for t, x in zip(a[:6], a[6:], strict=True) if x == c),
        of=(*TIMES, *(f"club{i}" for i in NTH)),
        label=f"the time of {club}",
        shown=hms,
    )
world.derive(
    "best_club",
    "rank",
    lambda *s: min(zip(s, CLUBS, strict=True))[1],
    of=("sum0", "sum1", "sum2"),
    label="the best club",
)
world.derive(
    "fastest",
    "claim",
    lambda record, *t: min(t) < record,
    of=("record", *TIMES),
    label="the line about the record",
    shown=lambda v: "NEW COURSE RECORD" if v else "Course record stands",
)
world.derive(
    "kmh", "unit", lambda t2: round(42.195 * 3600 / t2, 2), label="the speed", shown=lambda v: f"{v:.2f} km/h"
)
world.derive("half", "ratio", lambda t2: t2 // 2 - 21, label="the time at half way", shown=hms)
world.derive("place_t", "copy", lambda pos2: ORDINAL[pos2], label="the place in words")
world.derive("seal", "imprint", lambda pos2: pos2, label="the number pressed into the seal")
world.derive(
    "ribbon",
    "colour_code",
    lambda pos2: {1: "gold", 2: "silver", 3: "bronze"}.get(pos2, "blue"),
    label="the ribbon of the seal",
)
world.derive("age", "difference", lambda date, born: date.year - born, label="the age")
world.derive(
    "group", "classification", lambda age: f"age {age // 5 * 5} to {age // 5 * 5 + 4}", label="the age group"
)
world.derive(
    "bold",
    "emphasis",
    lambda age: age >= 35,
    label="the word Masters",
    shown=lambda v: "bold" if v else "light",
)
world.derive("day", "weekday", lambda date: weekday("en")(date), label="the weekday")
world.derive("date_t", "copy", lambda date: date, label="the date", shown=day_month("en", "{d} {m} {y}"))
world.derive("next", "numbering", lambda edition: f"{edition + 1}th", label="the number of the next race")
world.derive(
    "since", "anniversary", lambda date, edition: date.year - edition + 1, label="the year of the first race"
)
world.derive(
    "entry",
    "code",
    lambda edition, born: f"M{edition}-{born % 100:02d}-0412",
    label="the number of the entry",
)
world.holds("times differ", lambda t1, t2, t3, t4, t5, t6: len({t1, t2, t3, t4, t5, t6}) == 6)
world.holds("the winner stays", lambda t1, t2, t3, t4, t5, t6: t1 < min(t2, t3, t4, t5, t6))
world.holds("clubs differ", lambda sum0, sum1, sum2: len({sum0, sum1, sum2}) == 3)
world.holds("a runner of an age for it", lambda age: 20 <= age <= 60)
world.cut("gap3", gap_label="2025")
for i in "23456":
    world.edit(f"t{i}", by(f"t{i}", -245, -170, -95, 88, 160, 230))
world.edit("record", by("record", -75, -40, 45, 90))
world.edit("born", by("born", -9, -6, 5, 8))
world.edit("edition", lambda v, rng: rng.choice([e for e in (24, 26, 27, 28, 34, 36) if e != v["edition"]]))
world.edit("date", lambda v, rng: v["date"].replace(day=v["date"].day + rng.choice([-2, -1, 1, 2])))
