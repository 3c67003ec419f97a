"""A volume that stands on a lacquered table, in Russian: cover, spine, reflection, the price and the series."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import by, money

SUBJECTS = {"МОРЕ": ("wave", "The Sea", "blue", "С"), "ЛЕС": ("tree", "The Forest", "green", "Л"), "ОГОНЬ": ("flame", "The Fire", "red", "О"), "ЗВЁЗДЫ": ("star", "The Stars", "violet", "З")}  # fmt: skip
ROMAN = ["", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"]
RUB = money("{} ₽", ",", " ", 0)
world = World(
    "bookshelf",
    lang="ru",
    labels={"title": "the title", "volume": "the number of the volume", "pages": "the number of pages", "year": "the year of the edition", "price": "the price", "age": "the reader's age"},
    formats={"volume": lambda n: f"том {n}", "pages": lambda n: f"{n} стр.", "price": RUB, "age": lambda n: f"{n}+"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    return {"title": rng.choice(list(SUBJECTS)), "volume": rng.randint(2, 8), "volumes": 9, "pages": rng.choice([192, 256, 288, 352, 416]), "year": rng.choice([2016, 2019, 2021, 2024]), "first": 1996, "price": rng.choice([640, 780, 920, 1180]), "age": rng.choice([6, 12, 16]), "set_label": "весь набор"}  # fmt: skip


world.derive("table", "reflection", lambda title: title, label="the title in the table")
world.derive("spine", "perspective", lambda title: title, label="the title on the slanted spine")
world.derive("behind", "occlusion", lambda title: title, label="the title of the second copy behind the vase")
world.derive("english", "translation", lambda title: SUBJECTS[title][1], label="the English title")
world.derive("art", "picture", lambda title: SUBJECTS[title][0], label="the picture on the cover", shown=lambda v: f"a {v}")  # fmt: skip
world.derive("letter", "abbreviation", lambda title: SUBJECTS[title][3], label="the letter of the shelf")
world.derive("roman", "translation", lambda volume: ROMAN[volume], label="the volume in Roman figures")
world.derive("roman_side", "perspective", lambda roman: roman, label="the Roman figure on the slanted spine")
world.derive("roman_low", "reflection", lambda roman: roman, label="the Roman figure in the table")
world.derive("rest", "difference", lambda volumes, volume: volumes - volume, label="the volumes that follow", shown=lambda n: f"ещё {n} впереди")  # fmt: skip
world.derive(
    "sheets", "ratio", lambda pages: pages // 16, label="the printed sheets", shown=lambda n: f"{n} печ. л."
)
world.derive("edition", "anniversary", lambda year, first: year - first, label="the years since the first edition", shown=lambda n: f"{n} лет первому изданию")  # fmt: skip
world.derive(
    "all", "product", lambda price, volumes: price * volumes - 500, label="the price of the set", shown=RUB
)
world.derive("claim", "claim", lambda price: price < 900, label="the words on the strip", shown=lambda v: "дешевле 900 ₽" if v else "от 900 ₽")  # fmt: skip
world.derive("who", "access", lambda age: "для детей" if age < 12 else "для подростков" if age < 16 else "для взрослых", label="who may read it")  # fmt: skip
world.derive("shade", "shadow", lambda letter: letter, label="the shadow of the letter on the wall")
world.cut("all", set_label="прошлый набор")
world.edit("title", lambda v, rng: rng.choice([t for t in SUBJECTS if t != v["title"]]))
world.edit("volume", lambda v, rng: rng.choice([n for n in range(2, 9) if n != v["volume"]]))
world.edit("pages", lambda v, rng: rng.choice([n for n in (176, 224, 272, 320, 384, 448) if n != v["pages"]]))
world.edit("year", by("year", -3, -2, 1, 2))
world.edit("price", by("price", -210, -120, 90, 180, 260))
world.edit("age", lambda v, rng: rng.choice([n for n in (6, 12, 16, 18) if n != v["age"]]))
