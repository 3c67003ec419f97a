"""A notice of an examination in Chinese: date, time, rooms and seats, what is allowed, results."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, by, clock, day_month, move, weekday

COURSES = {  # code, calculator allowed, teacher, colour
    "高等数学": ("MA", False, "陈明远", "blue"), "大学物理": ("PH", True, "林若溪", "green"), "有机化学": ("CH", True, "周向晚", "purple"), "古代文学": ("LI", False, "沈知秋", "red"), "统计学": ("ST", True, "何书白", "orange"),
}  # fmt: skip

world = World(
    "exam",
    lang="zh",
    labels={"course": "the course", "date": "the date", "start": "the beginning", "length": "the length", "people": "the number of candidates", "per": "the seats of a room", "part": "the points of the first part", "second": "the points of the second part", "today": "the day of the notice", "year": "the year of entry"},
    formats={"date": day_month("zh", "{n}月{d}日"), "start": clock, "length": lambda v: f"{v}分钟", "people": lambda v: f"{v}人", "per": lambda v: f"{v}人", "part": lambda v: f"{v}分", "second": lambda v: f"{v}分"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    date = Date(2026, rng.choice([1, 6, 12]), rng.randint(8, 24))
    return {
        "course": rng.choice(list(COURSES)),
        "date": date,
        "today": move(date, -rng.randint(8, 15)),
        "start": rng.choice([510, 540, 840, 870]),
        "length": rng.choice([90, 100, 120]),
        "people": rng.choice([90, 120, 150, 180]),
        "per": 30,
        "part": rng.choice([30, 40]),
        "second": rng.choice([30, 40]),
        "number": rng.randint(11, 60),
        "end_label": "交卷",
    }


world.derive(
    "code", "code", lambda course, date: f"{COURSES[course][0]}-{date:%m%d}", label="the number of the paper"
)
world.derive("teacher", "attribute", lambda course: COURSES[course][2], label="the teacher")
world.derive("hue", "colour_code", lambda course: COURSES[course][3], label="the colour of the paper")
world.derive(
    "calc",
    "pictogram",
    lambda course: COURSES[course][1],
    label="the sign of the calculator",
    shown=lambda v: "a calculator" if v else "a crossed-out calculator",
)
world.derive(
    "calc_t",
    "access",
    lambda course: COURSES[course][1],
    label="the rule on calculators",
    shown=lambda v: "可带计算器" if v else "禁用计算器",
)
world.derive("day", "weekday", lambda date: weekday("zh")(date), label="the weekday")
world.derive("term", "season", lambda date: "夏季学期" if date.month == 6 else "冬季学期", label="the term")
world.derive(
    "left",
    "countdown",
    lambda date, today: (date - today).days,
    label="the days that are left",
    shown=lambda v: f"{v}天",
)
world.derive(
    "result",
    "date",
    lambda date: move(date, 10),
    label="the day of the results",
    shown=day_month("zh", "{n}月{d}日"),
)
world.derive("gate", "clock", lambda start: start - 30, label="the opening of the doors", shown=clock)
world.derive("late", "clock", lambda start: start + 15, label="the last entry", shown=clock)
world.derive("end", "clock", lambda start, length: start + length, label="the end", shown=clock)
world.derive(
    "half", "classification", lambda start: "上午" if start < 720 else "下午", label="the half of the day"
)
world.derive(
    "rooms", "ratio", lambda people, per: people // per, label="the number of rooms", shown=lambda v: f"{v}间"
)
world.derive("last", "numbering", lambda rooms: 300 + rooms, label="the last room", shown=lambda v: f"教{v}")
world.derive(
    "plan",
    "quantity_shown",
    lambda rooms: rooms,
    label="the drawn rooms",
    shown=lambda v: f"{v} rooms filled",
)
world.derive(
    "watch", "product", lambda rooms: rooms * 2, label="the number of invigilators", shown=lambda v: f"{v}位"
)
world.derive(
    "third",
    "difference",
    lambda part, second: 100 - part - second,
    label="the points of the third part",
    shown=lambda v: f"{v}分",
)
world.derive(
    "ring",
    "slice",
    lambda part, second, third: (part, second, third),
    label="the ring of points",
    shown=lambda v: f"sectors of {v[0]}, {v[1]} and {v[2]}",
)
world.derive(
    "each", "ratio", lambda third: third // 2, label="the points of a question", shown=lambda v: f"每题{v}分"
)
world.holds("rooms are full", lambda people, per: people % per == 0 and 2 <= people // per <= 8)
world.holds("points for all parts", lambda third: third >= 10 and third % 2 == 0)
world.holds("after the notice", lambda left: left >= 5)
world.cut("end", end_label="去年交卷")
world.edit("course", lambda v, rng: rng.choice([c for c in COURSES if c != v["course"]]))
world.edit("date", lambda v, rng: move(v["date"], rng.choice([-2, -1, 1, 2])))
world.edit("start", lambda v, rng: rng.choice([s for s in (510, 540, 840, 870) if s != v["start"]]))
world.edit("length", lambda v, rng: rng.choice([s for s in (90, 100, 120, 150) if s != v["length"]]))
world.edit("people", by("people", -30, 30, 60))
world.edit("part", by("part", -10, 10))
world.edit("second", by("second", -10, 10))
