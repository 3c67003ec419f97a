"""A bilingual birthday invitation: age rules candles, ordinal and gift line; date and time rule weekday, greeting, dress."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, clock, day_month, move, weekday

KIDS = {"נועה": "Noa", "איתי": "Itai", "תמר": "Tamar", "יונתן": "Yonatan", "מאיה": "Maya"}
PLACES = {  # English, what to wear, in Hebrew, picture, what to bring
    "בריכה": ("the pool", "swimwear", "בגדי ים", "pool", "towel"), "פארק": ("the park", "trainers", "נעלי ספורט", "tree", "ball"),
    "חוף הים": ("the beach", "sun hats", "כובעי שמש", "sea", "bucket"), "מוזיאון": ("the museum", "party clothes", "בגדים חגיגיים", "museum", "sketch book"),
}  # fmt: skip
WORDS = {5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", 10: "ten"}
HE = {5: "חמש", 6: "שש", 7: "שבע", 8: "שמונה", 9: "תשע", 10: "עשר"}

world = World(
    "birthday",
    lang="en",
    labels={"kid": "the child", "age": "the age", "date": "the date", "hour": "the beginning", "where": "the place", "hours": "the length of the party"},
    formats={"hour": clock, "hours": lambda h: f"{h} hours"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    return {
        "kid": rng.choice(list(KIDS)),
        "age": rng.randint(5, 10),
        "date": Date(2026, rng.randint(3, 10), rng.randint(3, 25)),
        "hour": rng.choice([600, 630, 660, 930, 960, 990, 1080]),
        "where": rng.choice(list(PLACES)),
        "hours": rng.choice([2, 3]),
    }


world.derive("english", "translation", lambda kid: KIDS[kid], label="the name in English")
world.derive("initial", "abbreviation", lambda english: english[0], label="the letter on the balloon")
world.derive("shade", "shadow", lambda english: english, label="the shadow of the name")
world.derive(
    "candles", "quantity_shown", lambda age: age, label="the candles", shown=lambda v: f"{v} candles"
)
world.derive("word", "copy", lambda age: age, label="the age in words", shown=lambda v: WORDS[v])
world.derive("he_age", "translation", lambda age: HE[age], label="the age in Hebrew")
world.derive(
    "born",
    "anniversary",
    lambda date, age: date.year - age,
    label="the year of birth",
    shown=lambda v: f"born in {v}",
)
world.derive("date_t", "copy", lambda date: date, label="the date", shown=day_month("en", "{d} {m}"))
world.derive("date_he", "translation", lambda date: date, label="the date in Hebrew", shown=day_month("he"))
world.derive("day", "weekday", lambda date: weekday("en")(date), label="the weekday")
world.derive(
    "day_he",
    "translation",
    lambda day: dict(
        zip(
            "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
            ("יום שני", "יום שלישי", "יום רביעי", "יום חמישי", "יום שישי", "שבת", "יום ראשון"),
            strict=True,
        )
    )[day],
    label="the weekday in Hebrew",
)
world.derive(
    "reply",
    "date",
    lambda date: move(date, -7),
    label="the last day for answers",
    shown=day_month("en", "{d} {m}"),
)
world.derive(
    "hello",
    "greeting",
    lambda hour: (
        "Good morning, friends!"
        if hour < 720
        else "Good afternoon, friends!"
        if hour < 1080
        else "Good evening, friends!"
    ),
    label="the greeting",
)
world.derive(
    "hello_he",
    "translation",
    lambda hello: {
        "morning,": "בוקר טוב, חברים!",
        "afternoon,": "צהריים טובים, חברים!",
        "evening,": "ערב טוב, חברים!",
    }[hello.split()[1]],
    label="the greeting in Hebrew",
)
world.derive(
    "sky",
    "weather",
    lambda hour: "morning" if hour < 720 else "afternoon" if hour < 1080 else "evening",
    label="the drawn sky",
    shown=lambda v: {"morning": "a low sun", "afternoon": "a high sun", "evening": "a moon"}[v],
)
world.derive("end", "clock", lambda hour, hours: hour + 60 * hours, label="the end", shown=clock)
world.derive("where_en", "translation", lambda where: PLACES[where][0], label="the place in English")
world.derive("wear", "dress", lambda where: PLACES[where][1], label="what to wear")
world.derive(
    "wear_he",
    "translation",
    lambda wear: next(p[2] for p in PLACES.values() if p[1] == wear),
    label="what to wear in Hebrew",
)
world.derive(
    "art",
    "picture",
    lambda where: PLACES[where][3],
    label="the picture of the place",
    shown=lambda v: {"pool": "a pool", "tree": "a tree", "sea": "the sea", "museum": "a house with columns"}[
        v
    ],
)
world.derive("bring", "custom", lambda where: PLACES[where][4], label="what to bring")
world.holds("in the daytime", lambda hour, end: hour >= 540 and end <= 1290)
world.holds("an age for it", lambda age: 5 <= age <= 10)
world.edit("kid", lambda v, rng: rng.choice([k for k in KIDS if k != v["kid"]]))
world.edit("age", lambda v, rng: rng.choice([a for a in WORDS if a != v["age"] and abs(a - v["age"]) < 3]))
world.edit("date", lambda v, rng: move(v["date"], rng.choice([-2, -1, 1, 2, 3])))
world.edit(
    "hour", lambda v, rng: rng.choice([h for h in (600, 660, 930, 990, 1080) if h // 360 != v["hour"] // 360])
)
world.edit("where", lambda v, rng: rng.choice([p for p in PLACES if p != v["where"]]))
world.edit("hours", lambda v, _: 5 - v["hours"])
