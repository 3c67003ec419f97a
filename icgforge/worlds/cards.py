"""A hand of cards on a table: corners that mirror each other, as many signs as the number says, worth and winner."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World

SUITS = {"hearts": ("red", "Hearts"), "spades": ("black", "Spades"), "diamonds": ("red", "Diamonds"), "clubs": ("black", "Clubs")}  # fmt: skip
WORDS = ["", "ace", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
world = World(
    "cards",
    labels={f"c{k}": f"the number of the {n} card" for k, n in enumerate(("first", "second", "third"), 1)} | {f"u{k}": f"the suit of the {n} card" for k, n in enumerate(("first", "second", "third"), 1)} | {"other": "the other hand", "stake": "the stake"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    numbers = rng.sample(range(2, 11), 3)
    out: Values = {
        "other": rng.randint(13, 24),
        "stake": rng.choice([20, 30, 50]),
        "who": rng.choice(["Mara", "Theo", "Ines"]),
        "score_label": "score now",
        "round": rng.randint(2, 9),
        "score": rng.randint(40, 95),
    }
    return out | {f"c{k}": n for k, n in enumerate(numbers, 1)} | {f"u{k}": rng.choice(list(SUITS)) for k in range(1, 4)}  # fmt: skip


for k in "123":
    world.derive(f"foot{k}", "counterpart", lambda c: c, of=(f"c{k}",), label="the lower corner")
    world.derive(f"pips{k}", "quantity_shown", lambda c: c, of=(f"c{k}",), label="the signs on the card", shown=lambda n: f"{n} signs")  # fmt: skip
    world.derive(f"said{k}", "translation", lambda c: WORDS[c], of=(f"c{k}",), label="the number in words")
world.derive("total", "sum", lambda c1, c2, c3: c1 + c2 + c3, label="the sum of the hand")
world.derive("best", "rank", lambda c1, c2, c3: max(c1, c2, c3), label="the highest card")
world.derive(
    "span", "difference", lambda c1, c2, c3: max(c1, c2, c3) - min(c1, c2, c3), label="the span of the hand"
)
world.derive("wins", "classification", lambda total, other: total > other, label="who wins", shown=lambda v: "wins the round" if v else "loses the round")  # fmt: skip
world.derive("gain", "difference", lambda wins, stake: stake if wins else -stake, label="the gain", shown=lambda n: f"+{n}" if n > 0 else f"−{-n}")  # fmt: skip
world.derive("after", "sum", lambda score, gain: score + gain, label="the score afterwards")
world.derive(
    "by", "difference", lambda total, other: abs(total - other), label="the difference to the other hand"
)
world.derive("crown", "pointer", lambda wins: wins, label="the crown", shown=lambda v: "a crown at the left" if v else "a crown at the right")  # fmt: skip
world.derive("mean", "average", lambda total: round(total / 3, 1), label="the average of the hand", shown=lambda v: f"{v:.1f}")  # fmt: skip
world.holds("three different numbers, no draw", lambda c1, c2, c3, total, other: len({c1, c2, c3}) == 3 and total != other)  # fmt: skip
world.cut("after", score_label="best score ever")
world.edit("c1", lambda v, rng: rng.choice([n for n in range(2, 11) if n not in (v["c1"], v["c2"], v["c3"])]))
world.edit("c2", lambda v, rng: rng.choice([n for n in range(2, 11) if n not in (v["c1"], v["c2"], v["c3"])]))
world.edit("c3", lambda v, rng: rng.choice([n for n in range(2, 11) if n not in (v["c1"], v["c2"], v["c3"])]))
world.edit("other", lambda v, rng: rng.choice([n for n in range(12, 27) if n != v["total"] and (n > v["total"]) != (v["other"] > v["total"])] or [None]))  # fmt: skip
world.edit("stake", lambda v, rng: rng.choice([n for n in (10, 20, 30, 50) if n != v["stake"]]))
