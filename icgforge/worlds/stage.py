"""A stage, in Korean: the name on the screen, in the floor, on both banners and behind a player; times of the evening."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import by, clock

BANDS = {"은하수": ("Milky Way", "violet", 4), "소나기": ("Shower", "blue", 3), "단풍": ("Maple", "red", 5), "새벽": ("Daybreak", "orange", 3), "바람": ("Wind", "green", 4)}  # fmt: skip
world = World(
    "stage",
    lang="ko",
    labels={"band": "the name of the band", "start": "the beginning", "length": "the length", "row": "the row", "songs": "the number of songs"},
    formats={"start": clock, "length": lambda m: f"{m}분", "row": lambda n: f"{n}열", "songs": lambda n: f"{n}곡"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    return {"band": rng.choice(list(BANDS)), "start": rng.choice([1110, 1140, 1170, 1200]), "length": rng.choice([70, 80, 90, 110]), "break_": 20, "row": rng.randint(2, 9), "songs": rng.choice([12, 14, 16, 18]), "played": 5, "end_label": "종료"}  # fmt: skip


world.derive("floor", "reflection", lambda band: band, label="the name in the floor")
world.derive("left", "copy", lambda band: band, label="the name on the left banner")
world.derive("right", "counterpart", lambda left: left, label="the name on the right banner")
world.derive("drum", "occlusion", lambda band: band, label="the name on the drum behind the player")
world.derive("english", "translation", lambda band: BANDS[band][0], label="the English name")
world.derive("clock_floor", "reflection", lambda start: start, label="the hour in the floor", shown=clock)
world.derive(
    "end", "clock", lambda start, length, break_: start + length + break_, label="the end", shown=clock
)
world.derive(
    "half", "clock", lambda start, length: start + length // 2, label="the hour of the break", shown=clock
)
world.derive("late", "claim", lambda end: end <= 1320, label="the words about ten o’clock", shown=lambda v: "22시까지 끝남" if v else "22시 넘어 끝남")  # fmt: skip
world.derive("doors", "clock", lambda start: start - 60, label="the hour of entry", shown=clock)
world.derive("zone", "classification", lambda row: "A구역" if row < 5 else "B구역", label="the zone")
world.derive("seat_price", "attribute", lambda zone: 88000 if zone == "A구역" else 66000, label="the price of the zone", shown=lambda n: f"{n:,}원")  # fmt: skip
world.derive(
    "seat_dot", "marker", lambda row: row, label="the dot on the plan", shown=lambda n: f"a dot in row {n}"
)
world.derive(
    "step", "perspective", lambda row: row, label="the row on the slanted step", shown=lambda n: f"{n}열"
)
world.derive("left_songs", "difference", lambda songs, played: songs - played, label="the songs that are left", shown=lambda n: f"남은 곡 {n}")  # fmt: skip
world.derive("bar", "bar", lambda songs, played: round(played / songs, 3), label="the bar of songs played", shown=lambda v: f"a bar at {v:.0%}")  # fmt: skip
world.cut("end", end_label="어제는")
world.edit("band", lambda v, rng: rng.choice([b for b in BANDS if b != v["band"]]))
world.edit("start", lambda v, rng: rng.choice([t for t in (1080, 1110, 1140, 1170, 1230) if t != v["start"]]))
world.edit("length", by("length", -20, -10, 20, 30))
world.edit("row", lambda v, rng: rng.choice([n for n in range(2, 10) if n != v["row"]]))
world.edit("songs", lambda v, rng: rng.choice([n for n in (10, 13, 15, 20) if n != v["songs"]]))
