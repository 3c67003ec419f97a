"""An orchestra's concert in Japan: date and weekday in two languages, programme and its length, prices, the soloist."""

from __future__ import annotations

import calendar
from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, clock, money, move, weekday

WORKS = {  # English title, minutes, solo instrument, composer's years
    "ヴァイオリン協奏曲 ホ短調": ("Violin Concerto in E minor", 28, "violin", "ヴァイオリン"), "ピアノ協奏曲 第2番": ("Piano Concerto No. 2", 35, "piano", "ピアノ"),
    "チェロ協奏曲 ロ短調": ("Cello Concerto in B minor", 40, "cello", "チェロ"), "トランペット協奏曲": ("Trumpet Concerto", 16, "trumpet", "トランペット"),
}  # fmt: skip
SYMPHONIES = {"交響曲 第4番": ("Symphony No. 4", 42), "交響曲 第7番": ("Symphony No. 7", 38), "交響曲 第9番「新世界」": ("Symphony No. 9 “New World”", 44), "交響詩「海」": ("La Mer", 24)}  # fmt: skip
HALLS = {
    "青葉ホール": "Aoba Hall",
    "港町芸術劇場": "Minatomachi Arts Theatre",
    "星ヶ丘文化会館": "Hoshigaoka Civic Hall",
}
NUMERAL = "〇一二三四五六七八九"


def ordinal(n: int) -> str:
    """Write an English ordinal.

    Examples
    --------
    >>> ordinal(121), ordinal(112)
    ('121st', '112th')
    """
    return f"{n}" + ("th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th"))


world = World(
    "concert",
    lang="ja",
    labels={"number": "the number of the concert", "date": "the date", "start": "the hour of beginning", "solo": "the second work", "sym": "the third work", "price": "the price of an S seat", "hall": "the hall"},
    formats={"number": lambda n: f"第{n}回", "start": clock, "price": money("¥{}", digits=0)},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    date = Date(2026, rng.randint(2, 11), rng.randint(4, 24))
    return {"a_label": "A席は", "number": rng.randint(101, 189), "date": date, "start": rng.choice([14 * 60, 15 * 60, 18 * 60 + 30, 19 * 60]), "solo": rng.choice(list(WORKS)), "sym": rng.choice(list(SYMPHONIES)), "price": rng.choice([6000, 7000, 8000]),
            "hall": rng.choice(list(HALLS)), "printed": move(date, -rng.randint(18, 60)), "sale_label": "発売開始", "pair": 2}  # fmt: skip


world.derive("number_en", "translation", lambda number: ordinal(number), label="the English number")
world.derive("seal", "emblem", lambda number: "".join(NUMERAL[int(c)] for c in str(number)), label="the seal")
world.derive("date_t", "copy", lambda date: date, label="the date", shown=lambda d: f"{d.month}月{d.day}日")
world.derive("wd", "weekday", lambda date: weekday("ja")(date), label="the weekday")
world.derive("date_en", "translation", lambda date: date, label="the English date", shown=lambda d: f"{calendar.day_abbr[d.weekday()]}, {calendar.month_abbr[d.month]} {d.day}")  # fmt: skip
world.derive("rest", "colour_code", lambda date: "blue" if date.weekday() == 5 else "red" if date.weekday() == 6 else "ink", label="the colour of the weekday")  # fmt: skip
world.derive("sale", "date", lambda date: move(date, -90), label="the start of the sale", shown=lambda d: f"{d.month}月{d.day}日")  # fmt: skip
world.derive("sale_wd", "weekday", lambda sale: weekday("ja")(sale), label="the weekday of the sale", shown=lambda w: f"（{w}）")  # fmt: skip
world.derive("doors", "clock", lambda start: start - 45, label="the opening of the doors", shown=clock)
world.derive("part", "classification", lambda start: "昼公演" if start < 1020 else "夜公演", label="the kind of performance")  # fmt: skip
world.derive(
    "solo_en", "translation", lambda solo: WORKS[solo][0], label="the English title of the second work"
)
world.derive("who", "attribute", lambda solo: WORKS[solo][3] + "独奏", label="the instrument of the soloist")
world.derive("art", "picture", lambda solo: WORKS[solo][2], label="the picture", shown=lambda v: f"a {v}")
world.derive("solo_min", "duration", lambda solo: WORKS[solo][1], label="the length of the second work", shown=lambda m: f"{m}分")  # fmt: skip
world.derive(
    "sym_en", "translation", lambda sym: SYMPHONIES[sym][0], label="the English title of the third work"
)
world.derive("sym_min", "duration", lambda sym: SYMPHONIES[sym][1], label="the length of the third work", shown=lambda m: f"{m}分")  # fmt: skip
world.derive("end", "clock", lambda start, solo_min, sym_min: start + 12 + solo_min + 20 + sym_min, label="the end", shown=lambda m: f"{clock(m)}頃")  # fmt: skip
world.derive("a_price", "difference", lambda price: price - 2000, label="the price of an A seat", shown=money("¥{}", digits=0))  # fmt: skip
world.derive("student", "ratio", lambda a_price: a_price // 2, label="the price for students", shown=money("¥{}", digits=0))  # fmt: skip
world.derive("pair_price", "product", lambda price, pair: price * pair - 1000, label="the price for two", shown=money("¥{}", digits=0))  # fmt: skip
world.derive("hall_en", "translation", lambda hall: HALLS[hall], label="the English name of the hall")
world.derive("host", "copy", lambda hall: hall)
world.holds("the evening ends before midnight", lambda end: end < 23 * 60)
world.cut("sale", sale_label="前回の発売")
world.cut("a_price", a_label="昨年A席")
world.edit("number", lambda v, rng: v["number"] + rng.choice([-3, -1, 1, 2, 11]))
world.edit("date", lambda v, rng: move(v["date"], rng.choice([-3, -2, -1, 1, 2, 3])))
world.edit(
    "start", lambda v, rng: rng.choice([t for t in (840, 900, 1080, 1110, 1140, 1170) if t != v["start"]])
)
world.edit("solo", lambda v, rng: rng.choice([w for w in WORKS if w != v["solo"]]))
world.edit("sym", lambda v, rng: rng.choice([w for w in SYMPHONIES if w != v["sym"]]))
world.edit("price", lambda v, rng: v["price"] + rng.choice([-1000, 500, 1000, 1500]))
world.edit("hall", lambda v, rng: rng.choice([h for h in HALLS if h != v["hall"]]))
