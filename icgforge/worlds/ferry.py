"""A ferry timetable of the islands: ship and route rule duration, arrival, fare class, emblem; the season rules the timetable."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, by, clock, day_month, money, move, other, weekday

ISLES = {
    "Λειψός": ("LPS", 95, 2100),
    "Φούρνη": ("FRN", 140, 2600),
    "Σκάλια": ("SKL", 185, 3200),
    "Μαραθός": ("MRT", 65, 1500),
    "Αρμύρα": ("ARM", 230, 3900),
    "Κέδρος": ("KDR", 120, 2350),
}
SHIPS = {
    "Αλκυών": ("fast", 60, "green"),
    "Δελφίνι": ("fast", 60, "green"),
    "Νηρηίς": ("car", 100, "blue"),
    "Ποσειδών": ("car", 100, "blue"),
    "Γλάρος": ("slow", 130, "orange"),
}
TYPE = {"fast": "ταχύπλοο", "car": "φέρι μποτ", "slow": "πλοιάριο"}
NTH = {"1": "first", "2": "second", "3": "third", "4": "fourth"}

world = World(
    "ferry",
    lang="el",
    labels={f"{k}{i}": f"the {w} of the {n} ferry" for i, n in NTH.items() for k, w in (("isle", "island"), ("ship", "ship"), ("dep", "departure"), ("gate", "gate"))} | {"date": "the date", "adults": "the number of adults", "kids": "the number of children"},
    formats={"dep": clock},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    out: Values = {
        "date": Date(2026, rng.randint(4, 10), rng.randint(3, 26)),
        "adults": rng.randint(1, 4),
        "kids": rng.randint(1, 3),
        "port": rng.choice(["Μεγάλο Λιμάνι", "Παλιό Λιμάνι"]),
        "arr_label": "Άφιξη",
        "total_label": "Σύνολο",
    }
    start = rng.randrange(375, 480, 5)
    for n, (isle, ship, gate) in enumerate(
        zip(rng.sample(list(ISLES), 4), rng.sample(list(SHIPS), 4), rng.sample(range(1, 9), 4), strict=True)
    ):
        out |= {
            f"isle{n + 1}": isle,
            f"ship{n + 1}": ship,
            f"gate{n + 1}": gate,
            f"dep{n + 1}": start + rng.randrange(60, 90, 5) * n * 2,
        }
    return out


for i, n in NTH.items():
    world.derive(
        f"code{i}",
        "abbreviation",
        lambda isle: ISLES[isle][0],
        of=(f"isle{i}",),
        label=f"the letters of the {n} island",
    )
    world.derive(
        f"type{i}",
        "classification",
        lambda ship: TYPE[SHIPS[ship][0]],
        of=(f"ship{i}",),
        label=f"the type of the {n} ship",
    )
    world.derive(
        f"hue{i}",
        "colour_code",
        lambda ship: SHIPS[ship][2],
        of=(f"ship{i}",),
        label=f"the flag of the {n} ship",
    )
    world.derive(
        f"car{i}",
        "pictogram",
        lambda ship: SHIPS[ship][0] == "car",
        of=(f"ship{i}",),
        label=f"the car sign of the {n} ship",
        shown=lambda v: "a car" if v else "no car",
    )
    world.derive(
        f"dur{i}",
        "duration",
        lambda isle, ship: ISLES[isle][1] * SHIPS[ship][1] // 500 * 5,
        of=(f"isle{i}", f"ship{i}"),
        label=f"the duration of the {n} crossing",
        shown=lambda v: f"{v // 60}ω {v % 60:02d}λ",
    )
    world.derive(
        f"arr{i}",
        "clock",
        lambda dep, dur: dep + dur,
        of=(f"dep{i}", f"dur{i}"),
        label=f"the arrival of the {n} ferry",
        shown=clock,
    )
    world.derive(
        f"fare{i}",
        "attribute",
        lambda isle, ship: ISLES[isle][2] * (150 if SHIPS[ship][0] == "fast" else 100) // 500 * 5,
        of=(f"isle{i}", f"ship{i}"),
        label=f"the fare of the {n} ferry",
        shown=money("{} €", ",", "."),
    )
    world.derive(
        f"way{i}",
        "pointer",
        lambda gate: "left" if gate <= 4 else "right",
        of=(f"gate{i}",),
        label=f"the arrow to the {n} gate",
        shown=lambda v: f"an arrow to the {v}",
    )
world.derive("date_t", "copy", lambda date: date, label="the date", shown=day_month("el", "{d} {m} {y}"))
world.derive("weekday", "weekday", lambda date: weekday("el")(date), label="the weekday")
world.derive(
    "season",
    "season",
    lambda date: "Θερινό δρομολόγιο" if 6 <= date.month <= 9 else "Χειμερινό δρομολόγιο",
    label="the season of the timetable",
)
world.derive(
    "back",
    "date",
    lambda date: move(date, 7),
    label="the date of the way back",
    shown=day_month("el", "{d} {m}"),
)
world.derive(
    "key",
    "legend",
    lambda ship1, ship2, ship3, ship4: sorted({SHIPS[s][0] for s in (ship1, ship2, ship3, ship4)}),
    label="the key to the flags",
)
world.derive(
    "fastest",
    "rank",
    lambda dur1, dur2, dur3, dur4, isle1, isle2, isle3, isle4: min(
        zip((dur1, dur2, dur3, dur4), (isle1, isle2, isle3, isle4), strict=True)
    )[1],
    label="the shortest crossing",
)
world.derive("board", "clock", lambda dep2: dep2 - 30, label="the boarding time", shown=clock)
world.derive("close", "clock", lambda dep2: dep2 - 10, label="the end of boarding", shown=clock)
world.derive(
    "all_a",
    "product",
    lambda adults, fare2: adults * fare2,
    label="the fare of the adults",
    shown=money("{} €", ",", "."),
)
world.derive(
    "half", "percent", lambda fare2: fare2 // 2, label="the fare of a child", shown=money("{} €", ",", ".")
)
world.derive(
    "all_k",
    "product",
    lambda kids, half: kids * half,
    label="the fare of the children",
    shown=money("{} €", ",", "."),
)
world.derive(
    "total",
    "sum",
    lambda all_a, all_k: all_a + all_k,
    label="the sum of the ticket",
    shown=money("{} €", ",", "."),
)
world.derive("people", "sum", lambda adults, kids: adults + kids, label="the number of travellers")
world.derive(
    "heads",
    "quantity_shown",
    lambda adults, kids: (adults, kids),
    label="the drawn travellers",
    shown=lambda v: f"{v[0]} large and {v[1]} small figures",
)
world.derive(
    "group",
    "offer",
    lambda people: people >= 5,
    label="the offer for families",
    shown=lambda v: "οικογενειακή έκπτωση στο καφέ" if v else "χωρίς οικογενειακή έκπτωση",
)
world.derive(
    "stub", "mirrored", lambda gate2: f"{gate2}", label="the number that shows through from the back"
)
world.derive(
    "ref",
    "code",
    lambda isle2, date: f"{ISLES[isle2][0]}-{date.month:02d}{date.day:02d}",
    label="the code of the ticket",
)
world.holds(
    "ships leave in order",
    lambda dep1, dep2, dep3, dep4: dep1 + 15 <= dep2 and dep2 + 15 <= dep3 and dep3 + 15 <= dep4,
)
world.holds("no two of one length", lambda dur1, dur2, dur3, dur4: len({dur1, dur2, dur3, dur4}) == 4)
world.holds(
    "islands and ships stand once",
    lambda isle1, isle2, isle3, isle4, ship1, ship2, ship3, ship4: (
        len({isle1, isle2, isle3, isle4}) == len({ship1, ship2, ship3, ship4}) == 4
    ),
)
world.holds("gates stand once", lambda gate1, gate2, gate3, gate4: len({gate1, gate2, gate3, gate4}) == 4)
world.cut("arr1", arr_label="Χθες")
world.cut("total", total_label="Πέρυσι")
for k, i in enumerate(NTH):
    world.edit(f"isle{i}", other([f"isle{j}" for j in NTH], k, ISLES))
    world.edit(
        f"ship{i}", other([f"ship{j}" for j in NTH], k, SHIPS, lambda x, y: SHIPS[x][0] != SHIPS[y][0])
    )
    world.edit(
        f"gate{i}", other([f"gate{j}" for j in NTH], k, range(1, 9), lambda x, y: (x <= 4) != (y <= 4))
    )
    world.edit(f"dep{i}", by(f"dep{i}", -20, 15, 25))
world.edit("date", lambda v, rng: move(v["date"], rng.choice([-31, -2, 1, 3, 38, 64])))
world.edit("adults", lambda v, rng: v["adults"] + rng.choice([1, 2]))
world.edit("kids", lambda v, rng: v["kids"] + rng.choice([1, 2]))
