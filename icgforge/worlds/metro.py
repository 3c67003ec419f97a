"""A metro line in Korea: stations and their names in Latin letters, minutes, transfers, the colour of a line."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import clock, money

STATIONS = {  # Latin letters, what is at exit 1, pictogram
    "솔빛역": ("Solbit", "시청", "hall"), "한울공원역": ("Hanul Park", "공원", "tree"), "별내시장역": ("Byeolnae Market", "시장", "bag"), "바람대학역": ("Baram Univ.", "대학교", "cap"), "은하병원역": ("Eunha Hospital", "병원", "cross"), "새벽항역": ("Saebyeok Port", "항구", "anchor"),
    "구름산역": ("Gureumsan", "등산로", "hill"), "달빛극장역": ("Dalbit Theatre", "극장", "mask"),
}  # fmt: skip
LINES = {1: ("blue", "Line 1"), 2: ("green", "Line 2"), 3: ("orange", "Line 3"), 5: ("purple", "Line 5"), 7: ("olive", "Line 7")}  # fmt: skip
world = World(
    "metro",
    lang="ko",
    labels={"line": "the line", "here": "the station", "now": "the time", "every": "the minutes between trains", "fare": "the fare"} | {f"s{k}": f"the {n} station" for k, n in enumerate(("first", "second", "third", "fourth", "fifth", "sixth"), 1)} | {f"m{k}": f"the minutes of the {n} section" for k, n in enumerate(("first", "second", "third", "fourth", "fifth"), 1)},
    formats={"line": lambda n: f"{n}호선", "m": lambda m: f"{m}분", "every": lambda m: f"{m}분", "fare": money("{}원", digits=0)},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    stations = rng.sample(list(STATIONS), 6)
    out: Values = {
        "line": rng.choice(list(LINES)),
        "start": rng.randrange(380, 1200, 7),
        "every": rng.choice([4, 5, 6, 8]),
        "fare": rng.choice([1300, 1400, 1500]),
        "first": rng.randrange(310, 340, 5),
        "go_label": "다음 열차 출발",
        "with": 4,
    }
    return (
        out
        | {f"s{k}": s for k, s in enumerate(stations, 1)}
        | {f"m{k}": rng.randint(2, 5) for k in range(1, 6)}
    )


for k in range(1, 7):
    world.derive(
        f"e{k}", "translation", lambda s: STATIONS[s][0], of=(f"s{k}",), label="the name in Latin letters"
    )
    world.derive(f"x{k}", "attribute", lambda s: STATIONS[s][1], of=(f"s{k}",), label="what is at the exit")
    world.derive(f"i{k}", "pictogram", lambda s: STATIONS[s][2], of=(f"s{k}",), label="the sign at the exit", shown=lambda v: f"a {v}")  # fmt: skip
    world.derive(
        f"n{k}",
        "numbering",
        lambda line, k=k: f"{line}{10 + k}",
        of=("line",),
        label="the number of a station",
    )
world.derive("colour", "colour_code", lambda line: LINES[line][0], label="the colour of the line", shown=str)
world.derive("line_en", "translation", lambda line: LINES[line][1], label="the line in English")
world.derive("t1", "clock", lambda start: start, shown=clock)
for k in range(2, 7):
    world.derive(
        f"t{k}",
        "clock",
        lambda t, m: t + m,
        of=(f"t{k - 1}", f"m{k - 1}"),
        label=f"the time at station {k}",
        shown=clock,
    )
world.derive("ride", "sum", lambda m1, m2, m3, m4, m5: m1 + m2 + m3 + m4 + m5, label="the minutes of the whole ride", shown=lambda m: f"{m}분")  # fmt: skip
world.derive("next", "clock", lambda start, every: start + every, label="the next train", shown=clock)
world.derive("hour", "ratio", lambda every: round(60 / every), label="the trains in an hour", shown=lambda n: f"시간당 {n}대")  # fmt: skip
world.derive(
    "often", "claim", lambda every: every <= 5, shown=lambda v: "5분 안에 옵니다" if v else "5분보다 깁니다"
)
world.derive(
    "round", "product", lambda fare: 2 * fare, label="the fare there and back", shown=money("{}원", digits=0)
)
world.derive(
    "kid", "ratio", lambda fare: fare // 2, label="the fare for children", shown=money("{}원", digits=0)
)
world.derive("end", "copy", lambda s6: s6)
world.derive("end_en", "translation", lambda s6: STATIONS[s6][0], label="the terminus in Latin letters")
world.holds("six stations", lambda s1, s2, s3, s4, s5, s6: len({s1, s2, s3, s4, s5, s6}) == 6)
world.cut("next", go_label="어제 두 번째 열차")
world.edit("line", lambda v, rng: rng.choice([n for n in LINES if n != v["line"]]))
world.edit("every", lambda v, rng: rng.choice([m for m in (3, 4, 6, 10) if m != v["every"]]))
world.edit("fare", lambda v, rng: v["fare"] + rng.choice([-100, 100, 200, 300]))
world.edit("m2", lambda v, rng: v["m2"] + rng.choice([1, 2, 3]))
world.edit("m4", lambda v, rng: v["m4"] + rng.choice([1, 2, 4]))
world.edit(
    "s3", lambda v, rng: rng.choice([s for s in STATIONS if s not in [v[f"s{k}"] for k in range(1, 7)]])
)
world.edit(
    "s6", lambda v, rng: rng.choice([s for s in STATIONS if s not in [v[f"s{k}"] for k in range(1, 7)]])
)
