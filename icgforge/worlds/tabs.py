"""A town's web page, in Turkish: the open section names tab, path, title and file; longer words push their neighbours."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, day_month, move

SECTIONS = {"Su": ("Water", "drop", "blue", "su"), "Etkinlikler": ("Events", "flag", "red", "etkinlik"), "Ulaşım": ("Transport", "bus", "green", "ulasim"), "Kütüphaneler": ("Libraries", "book", "violet", "kutuphane")}  # fmt: skip
world = World(
    "tabs",
    lang="tr",
    labels={"section": "the open section", "town": "the town", "papers": "the number of forms", "date": "the day of the change", "wait": "the days of waiting", "lang_": "the language"},
    formats={"date": day_month("tr", "{d}.{n:02d}.{y}"), "wait": lambda n: f"{n} gün", "papers": lambda n: f"{n} form"},
)  # fmt: skip
TOWNS = ["Ada", "Kuzuluk", "Karaağaçlı", "Söğütlüpınar"]


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    return {"section": rng.choice(list(SECTIONS)), "town": rng.choice(TOWNS), "papers": rng.randint(3, 9), "due_label": "son gün", "online": 2, "date": Date(2026, rng.randint(2, 11), rng.randint(2, 20)), "wait": rng.choice([5, 7, 10, 14])}  # fmt: skip


world.derive("path", "copy", lambda section: section, label="the section in the path")
world.derive("title", "copy", lambda section: section, label="the section in the title")
world.derive("english", "translation", lambda section: SECTIONS[section][0], label="the English name")
world.derive("icon", "pictogram", lambda section: SECTIONS[section][1], label="the sign of the section", shown=lambda v: f"a {v}")  # fmt: skip
world.derive("url", "address", lambda section, town: f"{town[0].lower()}-belediye.example/{SECTIONS[section][3]}", label="the address")  # fmt: skip
world.derive("foot", "copy", lambda town: town, label="the town at the foot")
world.derive("seal", "abbreviation", lambda town: f"{town[0]}B", label="the letters on the seal")
world.derive("size", "classification", lambda town: "ilçe belediyesi" if len(town) > 5 else "belde belediyesi", label="the kind of town")  # fmt: skip
world.derive("desk", "difference", lambda papers, online: papers - online, label="the forms at the desk", shown=lambda n: f"{n} tanesi gişede")  # fmt: skip
world.derive(
    "list", "quantity_shown", lambda papers: papers, label="the row of sheets", shown=lambda n: f"{n} sheets"
)
world.derive("due", "date", lambda date, wait: move(date, wait), label="the last day", shown=day_month("tr", "{d}.{n:02d}.{y}"))  # fmt: skip
world.derive("fast", "claim", lambda wait: wait <= 7, label="the words on the ribbon", shown=lambda v: "Bir haftada hazır" if v else "Bir haftadan uzun sürer")  # fmt: skip
world.cut("due", due_label="önceki")
world.edit("section", lambda v, rng: rng.choice([s for s in SECTIONS if abs(len(s) - len(v["section"])) > 3]))
world.edit("town", lambda v, rng: rng.choice([t for t in TOWNS if abs(len(t) - len(v["town"])) > 2]))
world.edit("papers", lambda v, rng: rng.choice([n for n in range(3, 10) if n != v["papers"]]))
world.edit("date", lambda v, rng: move(v["date"], rng.choice([-6, 4, 9])))
world.edit("wait", lambda v, rng: rng.choice([n for n in (4, 6, 8, 12, 15) if n != v["wait"]]))
