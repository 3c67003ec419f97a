"""A chess match on a two-sided display: points, leader, bars, clocks, the panel for the other side turned round."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, day_month, move, weekday

PLAYERS = {
    "سامر": ("الأردن", "JOR", "green"),
    "ليلى": ("المغرب", "MAR", "red"),
    "ندى": ("تونس", "TUN", "red"),
    "فارس": ("عُمان", "OMA", "green"),
    "هاني": ("الكويت", "KUW", "blue"),
    "مريم": ("قطر", "QAT", "purple"),
}
EASTERN = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")


def num(value: object) -> str:
    """Write a number with the digits of the Arab east."""
    return str(value).translate(EASTERN)


world = World(
    "chess",
    lang="ar",
    labels={"a": "the player on the right", "b": "the player on the left", "wa": "the wins of the player on the right", "wb": "the wins of the player on the left", "draws": "the drawn games", "day": "the date of the first game", "prize": "the prize", "of": "the number of games"},
    formats={"wa": num, "wb": num, "draws": num, "prize": lambda v: f"{num(v)} دينار"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    a, b = rng.sample(list(PLAYERS), 2)
    return {"a": a, "b": b, "wa": rng.randint(1, 5), "wb": rng.randint(1, 5), "draws": rng.randint(2, 5), "of": 16, "day": Date(2026, rng.randint(3, 6), rng.randint(2, 22)), "prize": rng.choice([1200, 1500, 1800, 2400]), "now_label": "المتصدر الآن"}  # fmt: skip


def half(points: float) -> str:
    """Write points that go by halves."""
    return num(f"{points:g}").replace(".", "٫")


world.derive(
    "pa", "sum", lambda wa, draws: wa + draws / 2, label="the points of the player on the right", shown=half
)
world.derive(
    "pb", "sum", lambda wb, draws: wb + draws / 2, label="the points of the player on the left", shown=half
)
world.derive("played", "sum", lambda wa, wb, draws: wa + wb + draws, label="the games played", shown=num)
world.derive("left", "difference", lambda of, played: of - played, label="the games left", shown=num)
world.derive("lead", "difference", lambda wa, wb: abs(wa - wb), label="the lead", shown=num)
world.derive("leader", "rank", lambda a, b, pa, pb: a if pa > pb else b, label="the leader")
world.derive(
    "crown",
    "marker",
    lambda pa, pb: "right" if pa > pb else "left",
    label="the crown",
    shown=lambda v: f"a crown on the {v}",
)
world.derive(
    "bar",
    "bar",
    lambda pa, pb: round(pa / (pa + pb), 3),
    label="the divided bar",
    shown=lambda v: f"a bar divided at {v:.0%}",
)
world.derive("land_a", "attribute", lambda a: PLAYERS[a][0], label="the country on the right")
world.derive("land_b", "attribute", lambda b: PLAYERS[b][0], label="the country on the left")
world.derive(
    "code_a",
    "abbreviation",
    lambda land_a: next(p[1] for p in PLAYERS.values() if p[0] == land_a),
    label="the letters of the country on the right",
)
world.derive(
    "code_b",
    "abbreviation",
    lambda land_b: next(p[1] for p in PLAYERS.values() if p[0] == land_b),
    label="the letters of the country on the left",
)
world.derive("hue_a", "colour_code", lambda a: PLAYERS[a][2], label="the strip on the right")
world.derive("hue_b", "colour_code", lambda b: PLAYERS[b][2], label="the strip on the left")
world.derive("turn_a", "counterpart", lambda a: a, label="the name on the panel for the other side")
world.derive("turn_b", "counterpart", lambda b: b, label="the other name on the panel for the other side")
world.derive(
    "turn_pa", "counterpart", lambda pa: pa, label="the points on the panel for the other side", shown=half
)
world.derive(
    "turn_pb",
    "counterpart",
    lambda pb: pb,
    label="the other points on the panel for the other side",
    shown=half,
)
world.derive("weekday", "weekday", lambda day: weekday("ar")(day), label="the weekday of the first game")
world.derive(
    "last",
    "date",
    lambda day, of: move(day, of - 1),
    label="the date of the last game",
    shown=lambda d: num(day_month("ar")(d)),
)
world.derive(
    "day_t",
    "copy",
    lambda day: day,
    label="the date of the first game",
    shown=lambda d: num(day_month("ar")(d)),
)
world.derive(
    "share",
    "ratio",
    lambda prize: prize * 2 // 3,
    label="the winner’s share",
    shown=lambda v: f"{num(v)} دينار",
)
world.derive(
    "second",
    "difference",
    lambda prize, share: prize - share,
    label="the loser’s share",
    shown=lambda v: f"{num(v)} دينار",
)
world.derive(
    "need",
    "difference",
    lambda of, pa, pb: of / 2 + 0.5 - max(pa, pb),
    label="the points to victory",
    shown=half,
)
world.holds("nobody is level", lambda pa, pb: pa != pb)
world.holds("the match is not decided", lambda need, left: need > 0 and left > 0)
world.holds("two players", lambda a, b: a != b)
world.cut("leader", now_label="متصدر بطولة العام الماضي")
world.edit(
    "wa", lambda v, rng: v["wa"] + rng.choice([-2, 2, 3]) if v["wa"] > 2 else v["wa"] + rng.choice([1, 3])
)
world.edit(
    "wb", lambda v, rng: v["wb"] + rng.choice([-2, 2, 3]) if v["wb"] > 2 else v["wb"] + rng.choice([1, 3])
)
world.edit("draws", lambda v, rng: v["draws"] + rng.choice([-1, 1, 2]))
world.edit(
    "a",
    lambda v, rng: rng.choice(
        [p for p in PLAYERS if p not in (v["a"], v["b"]) and PLAYERS[p][2] != PLAYERS[v["a"]][2]]
    ),
)
world.edit(
    "b",
    lambda v, rng: rng.choice(
        [p for p in PLAYERS if p not in (v["a"], v["b"]) and PLAYERS[p][2] != PLAYERS[v["b"]][2]]
    ),
)
world.edit("day", lambda v, rng: move(v["day"], rng.choice([-1, 1, 3])))
world.edit("prize", lambda v, rng: v["prize"] + rng.choice([300, 600, -300]))
