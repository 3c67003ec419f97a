"""Words that all templates share: what is edited into what, and how the instruction says it.

A template asks for an edit type, never for words of its own, and the instruction frames know
nothing of the template: so the instruction alone cannot give the subtype away. Each entry of a
pool carries attributes (`item["weekday"]`) that a template may draw or reason with.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from icgforge.synth.world import ANIMALS, CITIES, FEASTS, FRUITS
from icgkit.errors import IcgError, UnknownName


class NoPair(IcgError):
    """The pool of an edit type holds no pair that a template can show with its plan."""


@dataclass(frozen=True)
class Item:
    """One text that can be edited out or in, with what is known about it."""

    text: str
    attrs: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, key: str) -> Any:
        return self.attrs[key]

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Edit:
    """An edit: its type, the old and the new item."""

    kind: str
    old: Item
    new: Item


# 'Change "X" to "Y".' and its likes. Shared by all templates.
FRAMES: tuple[str, ...] = (
    'Change "{old}" to "{new}".',
    'Replace "{old}" with "{new}".',
    'Replace the text "{old}" by "{new}" in this picture.',
    'It should read "{new}" instead of "{old}".',
    'Edit the image so that "{old}" becomes "{new}".',
    'Please swap "{old}" for "{new}".',
    'Where it says "{old}", write "{new}".',
    'Update the text: "{old}" is now "{new}".',
    'Turn "{old}" into "{new}".',
    'The wording "{old}" is out of date, make it "{new}".',
)


def instruction(rng: random.Random, old: str, new: str) -> str:
    """Return one sentence that asks for the edit."""
    return rng.choice(FRAMES).format(old=old, new=new)


MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September",
          "October", "November", "December")  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SEASON_OF = dict(zip(MONTHS, ["winter"] * 2 + ["spring"] * 3 + ["summer"] * 3 + ["autumn"] * 3 + ["winter"],
                     strict=True))  # fmt: skip


def _percent(rng: random.Random) -> tuple[Item, Item]:
    old, new = rng.sample([10, 15, 20, 25, 30, 40, 50, 60, 70], 2)
    return tuple(Item(f"{p}%", {"value": p}) for p in (old, new))  # type: ignore[return-value]


def _number(rng: random.Random) -> tuple[Item, Item]:
    """Whole numbers that are scores, counts, rooms, quantities, bar labels."""
    while True:
        old, new = rng.sample(range(12, 97), 2)
        if 1.35 <= max(old, new) / min(old, new) <= 3.2:
            return Item(str(old), {"value": old}), Item(str(new), {"value": new})


def _price(rng: random.Random) -> tuple[Item, Item]:
    """Whole dollars, multiples of 4 so that halves, quarters and instalments stay whole."""
    while True:
        old, new = rng.sample(range(24, 200, 4), 2)
        if 1.3 <= max(old, new) / min(old, new) <= 3:
            return Item(f"${old}", {"value": old}), Item(f"${new}", {"value": new})


def date_item(day: datetime.date) -> Item:
    """Return a date as the pools write it, with ISO form, weekday, month and season."""
    month = MONTHS[day.month - 1]
    return Item(
        f"{day.day} {month}",
        {"iso": day.isoformat(), "weekday": WEEKDAYS[day.weekday()], "month": month,
         "season": SEASON_OF[month], "day": day.day, "year": day.year},
    )  # fmt: skip


def _date(rng: random.Random) -> tuple[Item, Item]:
    """Two dates of one year with different weekdays, months and seasons."""
    year = rng.choice([2024, 2025, 2026, 2027])
    while True:
        a, b = (
            date_item(datetime.date(year, 1, 1) + datetime.timedelta(rng.randrange(365))) for _ in range(2)
        )
        if a["weekday"] != b["weekday"] and a["season"] != b["season"]:
            return a, b


def _month(rng: random.Random) -> tuple[Item, Item]:
    while True:
        a, b = rng.sample(MONTHS, 2)
        if SEASON_OF[a] != SEASON_OF[b] and a != "May" and b != "May":
            return tuple(  # type: ignore[return-value]
                Item(m, {"season": SEASON_OF[m], "index": MONTHS.index(m) + 1}) for m in (a, b)
            )


def _weekday(rng: random.Random) -> tuple[Item, Item]:
    a, b = rng.sample(WEEKDAYS, 2)
    return tuple(  # type: ignore[return-value]
        Item(w, {"index": WEEKDAYS.index(w), "weekend": w in ("Saturday", "Sunday")}) for w in (a, b)
    )


def time_item(minutes: int) -> Item:
    """Return a clock time of the day as 24-hour text with hour, minute and part of the day."""
    hour = minutes // 60
    part = ("night", "morning", "afternoon", "evening")[
        0 if hour < 5 or hour > 21 else 1 if hour < 12 else 2 if hour < 18 else 3
    ]
    return Item(
        f"{hour:02d}:{minutes % 60:02d}",
        {"minutes": minutes, "hour": hour, "minute": minutes % 60, "part": part},
    )


def _time(rng: random.Random) -> tuple[Item, Item]:
    while True:
        a, b = (time_item(rng.randrange(6 * 12, 23 * 12 + 1) * 5) for _ in range(2))
        if a["part"] != b["part"] and abs(a["minutes"] - b["minutes"]) >= 120:
            return a, b


def _year(rng: random.Random) -> tuple[Item, Item]:
    a, b = rng.sample(range(1962, 2027), 2)
    return Item(str(a), {"value": a}), Item(str(b), {"value": b})


# Names of businesses and brands, neutral as to trade.
BRANDS = ("ORBIT", "LUMEN", "HALDEN", "MARLOWE", "KESTREL", "FENWICK", "NORTHGATE", "OAK & IVY", "BLUEBIRD",
          "TANDEM", "SOLANO", "VERA", "QUILL", "ARDENT", "MOSAIC", "HOLLOWAY", "JUNIPER", "PIVOT", "ALBA",
          "CORMORANT", "EVERLEIGH", "NOVA", "SABLE", "WINTERBOURNE", "DELTA", "COPPERFIELD", "ECHO",
          "BRAMBLE", "LARK", "STONEHAVEN", "TERN", "MAGNOLIA", "ROOK", "CLEMENTINE", "AXIS", "PEMBERTON")  # fmt: skip
PEOPLE = ("Ada Moreno", "Li Wei", "Tomasz Zielinski", "Ruth Okafor", "Ben Ash", "Marguerite Delacroix", "Ivo Katz",
          "Priya Raman", "Noor Haddad", "Christopher Vandenberg", "Jo Lund", "Samira El Amrani", "Max Roe",
          "Henrietta Blackwood", "Kei Mori", "Alexandra Papadaki", "Una Fey", "Oluwaseun Adeyemi",
          "Tim Cho", "Bartholomew Finch", "Eva Dahl", "Rosalind Featherstone", "Cy Dow", "Magdalena Kowalska")  # fmt: skip
# Single words on signs, covers and crates; neutral, short and long.
SIGN_WORDS = ("OPEN", "LOUNGE", "STUDIO", "BAR", "GALLERY", "MARKET", "BAKERY", "HOTEL", "CINEMA", "BOOKS",
              "TEA", "WORKSHOP", "RECORDS", "GARDEN", "ATELIER", "LIBRARY", "FLOWERS", "DINER", "ARCADE",
              "CAFE", "THEATRE", "KITCHEN", "PRINTS", "ICE", "CERAMICS", "CELLAR", "MUSEUM", "SPA")  # fmt: skip
# Headings and labels of sections, menu entries, chapters.
LABELS = ("Overview", "Results", "Getting started", "Maps", "Budget", "Field notes", "Summary", "Team",
          "Further reading", "Methods", "News", "Deliveries", "Open questions", "Costs", "Timetable", "Gallery",
          "Lessons learned", "Staff", "Upcoming events", "Archive", "Safety", "Frequently asked", "Tools",
          "Neighbourhood", "Log")  # fmt: skip
COLORS = {"RED": (206, 44, 48), "BLUE": (36, 92, 190), "GREEN": (34, 140, 76), "ORANGE": (236, 126, 24),
          "PURPLE": (120, 62, 160), "YELLOW": (240, 196, 28), "PINK": (232, 106, 156), "BROWN": (124, 82, 52),
          "TURQUOISE": (24, 164, 168), "GREY": (128, 132, 138)}  # fmt: skip
# Dishes: (text, allergen line, family for an icon, served hot).
DISHES = {
    "Beef stew": ("celery", "meat", True), "Tofu bowl": ("soy, sesame", "plant", True),
    "Prawn curry": ("crustaceans", "fish", True), "Cheese omelette": ("milk, egg", "egg", True),
    "Lentil soup": ("mustard", "plant", True), "Walnut tart": ("nuts, gluten, egg", "sweet", False),
    "Grilled salmon": ("fish", "fish", True), "Peanut noodles": ("peanut, gluten", "plant", True),
    "Chicken pie": ("gluten, milk", "meat", True), "Mushroom risotto": ("milk, sulphites", "plant", True),
    "Lemon sorbet": ("none", "sweet", False), "Mussels in broth": ("molluscs, celery", "fish", True),
    "Lamb skewers": ("sesame", "meat", True), "Spinach dumplings": ("gluten, soy", "plant", True),
}  # fmt: skip
# Places: scene family and, where it matters, season and words of the place.
PLACES = {
    "Palm Bay": "beach", "Coral Point": "beach", "Sunset Beach": "beach", "Lagoon Island": "beach",
    "Glacier Pass": "snow", "Snowfield Lodge": "snow", "Alpine Ridge": "snow", "Ice Lake": "snow",
    "Cactus Valley": "desert", "Dune Camp": "desert", "Mesa Springs": "desert", "Oasis Wells": "desert",
    "Harbour City": "city", "Metro Square": "city", "Skyline Plaza": "city", "Station Quarter": "city",
    "Pine Forest": "forest", "Fern Woods": "forest", "Cedar Hollow": "forest", "Mossy Creek": "forest",
}  # fmt: skip
# Greetings and lines of copy: register and language.
PHRASES = {
    "You are cordially invited": ("formal", "en"), "Come hang out with us": ("casual", "en"),
    "With our deepest respect": ("formal", "en"), "Hey folks, what's up": ("casual", "en"),
    "We request your presence": ("formal", "en"), "Party time, bring snacks": ("casual", "en"),
    "Dear honoured guests": ("formal", "en"), "Yo, you're on the list": ("casual", "en"),
    "In grateful remembrance": ("formal", "en"), "No biggie, just show up": ("casual", "en"),
    "Merry Christmas": ("feast", "en"), "Happy Diwali": ("feast", "en"), "Happy Lunar New Year": ("feast", "en"),
    "Eid Mubarak": ("feast", "en"), "Joyeux Noël": ("feast", "fr"), "Happy Halloween": ("feast", "en"),
}  # fmt: skip


def _two(rng: random.Random, pool: list[Item], ok: Callable[[Item, Item], bool]) -> tuple[Item, Item]:
    while True:
        a, b = rng.sample(pool, 2)
        if ok(a, b):
            return a, b


def _unequal(a: Item, b: Item) -> bool:
    """Lengths differ by at least three letters, so that every template sees a change of length."""
    return abs(len(a.text) - len(b.text)) >= 3


def _plain(words: tuple[str, ...]) -> Callable[[random.Random], tuple[Item, Item]]:
    return lambda rng: _two(rng, [Item(w) for w in words], _unequal)


def _color(rng: random.Random) -> tuple[Item, Item]:
    return _two(rng, [Item(n, {"rgb": rgb}) for n, rgb in COLORS.items()], lambda a, b: True)


def _dish(rng: random.Random) -> tuple[Item, Item]:
    pool = [Item(n, {"allergens": a, "family": f, "hot": h}) for n, (a, f, h) in DISHES.items()]
    return _two(rng, pool, lambda a, b: a["family"] != b["family"] and a.text[:3] != b.text[:3])


def _place(rng: random.Random) -> tuple[Item, Item]:
    return _two(
        rng, [Item(n, {"scene": s}) for n, s in PLACES.items()], lambda a, b: a["scene"] != b["scene"]
    )


def _phrase(rng: random.Random) -> tuple[Item, Item]:
    pool = [Item(n, {"register": r, "language": lang}) for n, (r, lang) in PHRASES.items()]
    return _two(rng, pool, lambda a, b: a["register"] != b["register"] or a["register"] == "feast")


def _known(table: Mapping[str, Mapping[str, Any]]) -> Callable[[random.Random], tuple[Item, Item]]:
    """Draw from a table of `world`; the row becomes the attributes."""
    return lambda rng: _two(rng, [Item(n, dict(row)) for n, row in table.items()], lambda a, b: True)


POOLS: dict[str, Callable[[random.Random], tuple[Item, Item]]] = {
    "percent": _percent,
    "number": _number,
    "price": _price,
    "date": _date,
    "month": _month,
    "weekday": _weekday,
    "time": _time,
    "year": _year,
    "brand": _plain(BRANDS),
    "person": _plain(PEOPLE),
    "word": _plain(SIGN_WORDS),
    "label": _plain(LABELS),
    "color": _color,
    "dish": _dish,
    "place": _place,
    "phrase": _phrase,
    "city": _known(CITIES),
    "feast": _known(FEASTS),
    "animal": _known(ANIMALS),
    "fruit": _known(FRUITS),
}


def draw_edit(kind: str, rng: random.Random, ok: Callable[[Item, Item], bool] | None = None) -> Edit:
    """Draw an old and a new item of one edit type.

    `ok(old, new)` may reject pairs a template cannot show; use it sparingly, since every
    restriction tells something about the template.

    Raises
    ------
    UnknownName
        If there is no such edit type.

    Examples
    --------
    >>> edit = draw_edit("percent", random.Random(1))
    >>> edit.old.text != edit.new.text
    True
    """
    if kind not in POOLS:
        raise UnknownName.among("edit type", kind, POOLS)
    for _ in range(1000):
        old, new = POOLS[kind](rng)
        if ok is None or ok(old, new):
            return Edit(kind, old, new)
    raise NoPair(
        "no pair of this edit type passes the template's filter", got=kind, remedy="take another seed"
    )
