"""A department store's directory beside the lift: what is where, the way from here, signs, English, hours, who may enter."""

from __future__ import annotations

from random import Random

from icgforge.worlds import Values, World
from icgforge.worlds._lib import clock, clock12

SHOPS = {  # English, sign
    "書籍": ("Books", "book"), "時計": ("Watches", "watch"), "婦人靴": ("Ladies’ Shoes", "shoe"), "食器": ("Tableware", "cup"), "玩具": ("Toys", "bear"), "眼鏡": ("Glasses", "glasses"), "食品": ("Food Hall", "apple"), "花": ("Flowers", "flower"), "文具": ("Stationery", "pen"),
}  # fmt: skip
world = World(
    "floors",
    lang="ja",
    labels={"here": "the floor one stands on", "close": "the hour of closing", "open": "the hour of opening", "cafe": "the floor of the café"} | {f"f{k}": f"what is on floor {k}" for k in range(1, 7)},
    formats={"here": lambda n: f"{n}階", "close": clock, "open": clock, "cafe": lambda n: f"{n}階"},
)  # fmt: skip


@world.facts
def facts(rng: Random) -> Values:
    """Draw the facts."""
    here, cafe, toilet = rng.sample(range(1, 7), 3)
    shops = rng.sample(list(SHOPS), 6)
    return {"here": here, "cafe": cafe, "wc": toilet, "open": rng.choice([600, 630]), "close": rng.choice([1170, 1200, 1230]), "sale": rng.choice(shops), "sale_label": "本日の催事", "store": rng.choice(["丸山百貨店", "青葉屋", "港屋"])} | {f"f{k}": s for k, s in enumerate(shops, 1)}  # fmt: skip


for k in range(1, 7):
    world.derive(f"e{k}", "translation", lambda f: SHOPS[f][0], of=(f"f{k}",), label="the English name")
    world.derive(f"s{k}", "pictogram", lambda f: SHOPS[f][1], of=(f"f{k}",), label="the sign", shown=lambda v: f"the sign of a {v}")  # fmt: skip
world.derive(
    "mark", "marker", lambda here: here, label="the mark of where one stands", shown=lambda n: f"floor {n}"
)
world.derive("big", "copy", lambda here: here, label="the large number", shown=lambda n: f"{n}F")
world.derive("here_en", "translation", lambda here: f"You are on floor {here}", label="the English line")
world.derive("up", "pointer", lambda here, cafe: cafe > here, label="the arrow to the café", shown=lambda v: "an arrow up" if v else "an arrow down")  # fmt: skip
world.derive("steps", "difference", lambda here, cafe: abs(cafe - here), label="the floors to the café", shown=lambda n: f"あと{n}階")  # fmt: skip
world.derive("wc_up", "pointer", lambda here, wc: wc > here, label="the arrow to the toilets", shown=lambda v: "an arrow up" if v else "an arrow down")  # fmt: skip
world.derive("wc_steps", "difference", lambda here, wc: abs(wc - here), label="the floors to the toilets", shown=lambda n: f"あと{n}階")  # fmt: skip
world.derive(
    "cup", "marker", lambda cafe: cafe, label="the cup in the directory", shown=lambda n: f"floor {n}"
)
world.derive("sale_en", "translation", lambda sale: SHOPS[sale][0], label="the event in English")
world.derive("on_here", "members", lambda here, f1, f2, f3, f4, f5, f6: (f1, f2, f3, f4, f5, f6)[here - 1], label="what is on this floor")  # fmt: skip
world.derive("order", "clock", lambda close: close - 30, label="the last order of the café", shown=clock)
world.derive("close_en", "translation", lambda close: clock12(close), label="the closing in English")
world.derive("hours", "duration", lambda open, close: close - open, label="the hours", shown=lambda m: f"{m // 60}時間{'半' if m % 60 else ''}")  # fmt: skip
world.derive(
    "late",
    "claim",
    lambda close: close >= 1200,
    shown=lambda v: "夜八時まで買える" if v else "夜八時前に閉店",
)
world.holds("six kinds of goods", lambda f1, f2, f3, f4, f5, f6: len({f1, f2, f3, f4, f5, f6}) == 6)
world.holds("the café and the toilets are elsewhere", lambda here, cafe, wc: len({here, cafe, wc}) == 3)
world.edit(
    "here", lambda v, rng: rng.choice([n for n in range(1, 7) if n not in (v["here"], v["cafe"], v["wc"])])
)
world.edit(
    "cafe", lambda v, rng: rng.choice([n for n in range(1, 7) if n not in (v["here"], v["cafe"], v["wc"])])
)
world.edit("close", lambda v, rng: rng.choice([t for t in (1140, 1170, 1200, 1260) if t != v["close"]]))
world.edit("f2", lambda v, rng: rng.choice([s for s in SHOPS if s not in [v[f"f{k}"] for k in range(1, 7)]]) if v["f2"] != v["sale"] else None)  # fmt: skip
world.edit("f5", lambda v, rng: rng.choice([s for s in SHOPS if s not in [v[f"f{k}"] for k in range(1, 7)]]) if v["f5"] != v["sale"] else None)  # fmt: skip
