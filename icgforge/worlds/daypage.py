"""A page of a tear-off calendar: date, weekday, month's plan, day of the year, constellation, season, term of a task."""

from __future__ import annotations

import calendar
from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, move, weekday

NUM = "〇一二三四五六七八九"
SIGNS = [(1, 20, "摩羯座"), (2, 19, "水瓶座"), (3, 21, "双鱼座"), (4, 20, "白羊座"), (5, 21, "金牛座"), (6, 22, "双子座"), (7, 23, "巨蟹座"), (8, 23, "狮子座"), (9, 23, "处女座"), (10, 24, "天秤座"), (11, 23, "天蝎座"), (12, 22, "射手座")]  # fmt: skip
SEASON = {"春": "sprout", "夏": "sun", "秋": "leaf", "冬": "flake"}
ZODIAC = "猴鸡狗猪鼠牛虎兔龙蛇马羊"
SAYINGS = ["一日之计在于晨", "不积跬步，无以至千里", "温故而知新", "行百里者半九十"]


def numeral(n: int) -> str:
    """Write a number below 100 in Chinese."""
    tens, ones = divmod(n, 10)
    return ("" if tens == 0 else "十" if tens == 1 else NUM[tens] + "十") + (
        NUM[ones] if ones or not n else ""
    )


def sign(date: Date) -> str:
    """Return the constellation of a date."""
    return next((name for m, d, name in SIGNS if (date.month, date.day) < (m, d)), "摩羯座")


world = World("daypage", lang="zh", labels={"date": "the date", "year": "the year", "span": "the days until the exhibition"})  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    return {"date": Date(2026, rng.randint(2, 11), rng.randint(4, 25)), "span": rng.choice([12, 15, 18, 20, 25]), "saying": rng.choice(SAYINGS), "year": 2026, "open_label": "书画展开幕"}  # fmt: skip


world.derive("day", "copy", lambda date: date.day, label="the day", shown=str)
world.derive("day_zh", "translation", lambda date: numeral(date.month) + "月" + numeral(date.day) + "日", label="the date in Chinese numerals")  # fmt: skip
world.derive("month", "copy", lambda date: date.month, label="the month", shown=lambda m: f"{m}月")
world.derive("month_en", "translation", lambda date: calendar.month_name[date.month].upper(), label="the English month")  # fmt: skip
world.derive("wd", "weekday", lambda date: weekday("zh")(date), label="the weekday")
world.derive("wd_en", "translation", lambda wd: calendar.day_name["一二三四五六日".index(wd[-1])], label="the English weekday")  # fmt: skip
world.derive("rest", "colour_code", lambda date: date.weekday() >= 5, label="the colour of the day", shown=lambda v: "the red of a day off" if v else "the ink of a working day")  # fmt: skip
world.derive("nth", "count", lambda date: date.timetuple().tm_yday, label="the day of the year", shown=lambda n: f"第{n}天")  # fmt: skip
world.derive("left", "difference", lambda nth: 365 - nth, label="the days left in the year", shown=lambda n: f"余{n}天")  # fmt: skip
world.derive(
    "week", "numbering", lambda date: date.isocalendar().week, label="the week", shown=lambda n: f"第{n}周"
)
world.derive("stars", "classification", lambda date: sign(date), label="the constellation")
world.derive("season", "season", lambda date: "冬春夏秋"[date.month % 12 // 3], label="the season")
world.derive("art", "picture", lambda season: SEASON[season], label="the picture", shown=lambda v: f"a {v}")
world.derive("mark", "calendar", lambda date: (date.day + Date(date.year, date.month, 1).weekday() - 1, date.day), label="the ring in the month", shown=lambda v: f"the {v[1]}.")  # fmt: skip
world.derive("grid", "calendar", lambda date: (Date(date.year, date.month, 1).weekday(), calendar.monthrange(date.year, date.month)[1]), label="the month", shown=lambda v: f"a month of {v[1]} days from weekday {v[0] + 1}")  # fmt: skip
world.derive("animal", "custom", lambda year: ZODIAC[year % 12], label="the animal of the year", shown=lambda a: f"{a}年")  # fmt: skip
world.derive("open", "date", lambda date, span: move(date, span), label="the opening of the exhibition", shown=lambda d: f"{d.month}月{d.day}日")  # fmt: skip
world.derive("open_wd", "weekday", lambda open: weekday("zh")(open), label="the weekday of the opening")
world.cut("open", open_label="去年开幕于")
world.edit("date", lambda v, rng: move(v["date"], rng.choice([-3, -2, -1, 1, 2, 3])) if v["date"].day in range(4, 26) else None)  # fmt: skip
world.edit("span", lambda v, rng: v["span"] + rng.choice([-4, -3, -1, 1, 2, 4, 5]))
