"""A class's timetable in Korean: subjects rule colours, teachers, rooms, hours a week, what to bring."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, by, clock, day_month, move, other, weekday

SUBJECTS = {  # colour, teacher, room, what to bring, sign
    "국어": ("yellow", "김하늘", "교실", "공책"), "수학": ("blue", "박도윤", "교실", "자와 각도기"), "과학": ("green", "이서준", "과학실", "실험복"), "영어": ("purple", "최유나", "어학실", "사전"),
    "음악": ("pink", "정다온", "음악실", "리코더"), "체육": ("orange", "한지호", "운동장", "체육복"), "미술": ("teal", "윤소라", "미술실", "물감과 붓"),
}  # fmt: skip
ENGLISH = {
    "국어": "Korean",
    "수학": "Maths",
    "과학": "Science",
    "영어": "English",
    "음악": "Music",
    "체육": "Sports",
    "미술": "Art",
}
DAYS = list("월화수목금")
CELLS = tuple(f"c{d}{p}" for d in range(5) for p in range(4))

world = World(
    "school",
    lang="ko",
    labels={f"c{d}{p}": f"the lesson on {('Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday')[d]} in period {p + 1}" for d in range(5) for p in range(4)}
    | {"start": "the beginning of school", "length": "the length of a lesson", "day": "the date"},
    formats={"start": clock, "length": lambda v: f"{v}분", "day": day_month("ko", "{n}월 {d}일")},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    names = list(SUBJECTS)
    out: Values = {}
    for d in range(5):
        out |= {f"c{d}{p}": s for p, s in enumerate(rng.sample(names, 4))}
    monday = Date(2026, 3, 2)
    return out | {
        "start": rng.choice([520, 530, 540]),
        "length": rng.choice([40, 45]),
        "day": move(monday, 7 * rng.randint(1, 14) + rng.randint(1, 3)),
        "grade": rng.choice(["3학년 2반", "4학년 1반", "5학년 3반"]),
        "bag_label": "준비물",
    }


for c in CELLS:
    world.derive(
        f"h{c}",
        "colour_code",
        lambda s: SUBJECTS[s][0],
        of=(c,),
        label=f"the colour of {world.labels[c].removeprefix('the ')}",
    )
for s in SUBJECTS:
    world.derive(
        f"n_{s}",
        "count",
        lambda *all_, s=s: sum(x == s for x in all_),
        of=CELLS,
        label=f"the hours of {ENGLISH[s]} a week",
        shown=lambda v: f"{v}시간",
    )
world.derive(
    "arts",
    "sum",
    lambda a, b, c: a + b + c,
    of=("n_음악", "n_체육", "n_미술"),
    label="the hours of music, sports and art",
    shown=lambda v: f"{v}시간",
)
world.derive("weekday", "weekday", lambda day: weekday("ko")(day) + "요일", label="the weekday")
for p in range(4):
    world.derive(
        f"q{p}",
        "copy",
        lambda day, *row: row[day.weekday()] if day.weekday() < 5 else row[0],
        of=("day", *(f"c{d}{p}" for d in range(5))),
        label=f"the lesson of today in period {p + 1}",
    )
    world.derive(
        f"qt{p}",
        "attribute",
        lambda q: SUBJECTS[q][1] + " 선생님",
        of=(f"q{p}",),
        label=f"the teacher of today in period {p + 1}",
    )
    world.derive(
        f"qr{p}",
        "attribute",
        lambda q: SUBJECTS[q][2],
        of=(f"q{p}",),
        label=f"the room of today in period {p + 1}",
    )
    world.derive(
        f"b{p}", "members", lambda q: SUBJECTS[q][3], of=(f"q{p}",), label=f"what to bring for period {p + 1}"
    )
    world.derive(
        f"s{p}",
        "picture",
        lambda q: q,
        of=(f"q{p}",),
        label=f"the picture of period {p + 1}",
        shown=lambda v: f"the sign of {ENGLISH[v]}",
    )
    world.derive(
        f"e{p}",
        "translation",
        lambda q: ENGLISH[q],
        of=(f"q{p}",),
        label=f"the English name of period {p + 1}",
    )
    world.derive(
        f"t{p}",
        "clock",
        lambda start, length, p=p: start + p * (length + 10),
        of=("start", "length"),
        label=f"the beginning of period {p + 1}",
        shown=clock,
    )
world.derive(
    "lunch", "clock", lambda start, length: start + 4 * length + 30, label="the time of lunch", shown=clock
)
world.derive(
    "mark",
    "calendar",
    lambda day: day.weekday(),
    label="the frame around today",
    shown=lambda v: f"a frame around column {v + 1}",
)
world.holds("a school day", lambda day: day.weekday() < 5)
world.holds("four different lessons today", lambda q0, q1, q2, q3: len({q0, q1, q2, q3}) == 4)
world.cut("b1", bag_label="다음 주 준비물")
for c in CELLS:
    world.edit(c, other([f"c{c[1]}{p}" for p in range(4)], int(c[2]), SUBJECTS))
world.edit("start", by("start", -20, 10, 20))
world.edit("length", lambda v, _: 85 - v["length"])
world.edit("day", lambda v, rng: move(v["day"], rng.choice([-1, 1, 7])))
