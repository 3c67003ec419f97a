"""A flyer of language courses: a greeting in its own script, tone for whom it is, sizes by learners, lessons and their price."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import Date, clock, day_month, money, move, weekday

TONGUES = {  # greeting, its family of letters, where it is spoken, family of language, emblem
    "Greek": ("Καλημέρα", "greek", "Athens", "Hellenic"), "Hindi": ("नमस्ते", "nagari", "Delhi", "Indo-Aryan"), "Japanese": ("こんにちは", "kana", "Osaka", "Japonic"), "Korean": ("안녕하세요", "hangul", "Busan", "Koreanic"), "Russian": ("Здравствуйте", "cyrillic", "Kazan", "Slavic"), "Hebrew": ("שלום", "hebrew", "Haifa", "Semitic"), "Arabic": ("مرحبا", "arabic", "Amman", "Semitic"),
}  # fmt: skip
FOR = {"adults": ("We look forward to meeting you.", "coffee", 18), "children": ("Come and play with words!", "kite", 6), "business": ("We should be glad to receive you.", "case", 21)}  # fmt: skip
world = World(
    "course",
    labels={"tongue": "the language", "whom": "the people it is for", "weeks": "the number of weeks", "price": "the price", "start": "the first day", "page": "the page", "hour": "the hour"} | {f"n{k}": f"the learners in the {w} course" for k, w in enumerate(("first", "second", "third"), 1)},
    formats={"price": money("£{}", digits=0), "hour": clock},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    names = rng.sample(list(TONGUES), 4)
    return {"tongue": names[0], "o1": names[1], "o2": names[2], "o3": names[3], "whom": rng.choice(list(FOR)), "weeks": rng.choice([6, 8, 10, 12]), "twice": 2, "price": rng.choice([120, 144, 168, 240]), "start": Date(2026, rng.randint(1, 9), rng.randint(4, 24)), "page": rng.randint(6, 38), "hour": rng.choice([600, 1020, 1080]), "n1": rng.choice([14, 22]), "n2": rng.choice([31, 38]), "n3": rng.choice([8, 18]), "end_label": "Last lesson"}  # fmt: skip


world.derive("hello", "script", lambda tongue: TONGUES[tongue][:2], label="the greeting in its script", shown=lambda v: v[0])  # fmt: skip
world.derive("town", "attribute", lambda tongue: TONGUES[tongue][2], label="the town")
world.derive("clan", "classification", lambda tongue: TONGUES[tongue][3], label="the family of languages")
world.derive("rule", "fit", lambda tongue: len(tongue), label="the rule under the title", shown=lambda n: f"a rule for {n} letters")  # fmt: skip
world.derive("left", "balance", lambda tongue: tongue[0], label="the letter on the left")
world.derive("right", "balance", lambda left: left, label="the letter on the right")
world.derive("tone", "register", lambda whom: FOR[whom][0], label="the sentence of welcome")
world.derive("art", "picture", lambda whom: FOR[whom][1], label="the drawing", shown=lambda v: f"a {v}")
world.derive("age", "access", lambda whom: FOR[whom][2], label="the age", shown=lambda n: f"from age {n}")
world.derive("lessons", "product", lambda weeks, twice: weeks * twice, label="the number of lessons", shown=lambda n: f"{n} lessons")  # fmt: skip
world.derive("each", "ratio", lambda price, lessons: price / lessons, label="the price of a lesson", shown=lambda p: f"£{p:.2f}")  # fmt: skip
world.derive("under", "claim", lambda each: int(each) + 1, label="the claim about a lesson", shown=lambda n: f"£{n - 1} to £{n} a lesson")  # fmt: skip
world.derive("start_t", "copy", lambda start: start, label="the first day", shown=day_month("en"))
world.derive("day", "weekday", lambda start: weekday("en")(start), label="the weekday")
world.derive("end", "date", lambda start, weeks: move(start, 7 * (weeks - 1)), label="the last day", shown=day_month("en"))  # fmt: skip
world.derive("season", "season", lambda start: ("Winter", "Spring", "Summer", "Autumn")[start.month % 12 // 3] + " term", label="the term")  # fmt: skip
world.derive("ref", "cross_reference", lambda page: page + 1, label="the page referred to", shown=lambda n: f"Form on page {n}")  # fmt: skip
world.derive("of", "copy", lambda tongue: tongue)
for k in "123":
    world.derive(f"size{k}", "size_rule", lambda n, name: (name, 16 + n * 0.8), of=(f"n{k}", f"o{k}"), label="the size of a name", shown=lambda v: v[0])  # fmt: skip
world.derive("all", "sum", lambda n1, n2, n3: n1 + n2 + n3, label="the learners of last term")
world.derive("most", "rank", lambda n1, n2, n3, o1, o2, o3: (o1, o2, o3)[max(range(3), key=lambda k: (n1, n2, n3)[k])], label="the course with most learners")  # fmt: skip
world.holds("one course is the largest", lambda n1, n2, n3: len({n1, n2, n3}) == 3)
world.cut("end", end_label="Last year’s end")
world.edit("tongue", lambda v, rng: rng.choice([t for t in TONGUES if t not in (v["tongue"], v["o1"], v["o2"], v["o3"]) and t[0] != v["tongue"][0]]))  # fmt: skip
world.edit("whom", lambda v, rng: rng.choice([w for w in FOR if w != v["whom"]]))
world.edit("weeks", lambda v, rng: rng.choice([w for w in (4, 6, 8, 10, 12) if w != v["weeks"]]))
world.edit("price", lambda v, rng: v["price"] + rng.choice([-24, 24, 48]))
world.edit("start", lambda v, rng: move(v["start"], rng.choice([-2, -1, 1, 2])))
world.edit("page", lambda v, rng: v["page"] + rng.choice([2, 4, 6]))
world.edit("n1", lambda v, rng: rng.choice([n for n in (10, 27, 44) if abs(n - v["n1"]) > 3]))
world.edit("n3", lambda v, rng: rng.choice([n for n in (11, 24, 46) if abs(n - v["n3"]) > 3]))
