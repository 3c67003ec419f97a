"""Style templates in which a colour code ties other elements to the edited text."""

from __future__ import annotations

from icgforge.synth.base import Ctx, Design, EdgeSpec, NodeSpec, Values, template
from icgforge.synth.canvas import Canvas
from icgforge.synth.textures import surface
from icgforge.synth.words import COLORS


@template("style_color_line", nodes=("style_color", "style_color", "style_color"), edits=("color",))
def line_map(ctx: Ctx) -> Design:
    """A map of tram lines named by their colours: renaming one recolours its track."""
    edit = ctx.edit()
    size = ctx.size("wide")
    w, h = size
    face, paper = ctx.rng.choice(["office-bold", "plain-bold", "narrow-bold"]), ctx.chance(0.5)
    seed = ctx.seed()
    stops = ctx.rng.sample(
        ["Quay", "Mill", "Forum", "Chapel", "Park", "Arena", "Depot", "Bridge", "North", "Abbey"], 5
    )
    others = [n for n in COLORS if n not in (edit.old.text, edit.new.text)]
    others = ctx.rng.sample(others, 1 + min(2, ctx.distractors // 2))
    extras = ctx.copy(max(0, ctx.distractors - 2))
    low = ctx.chance(0.5)
    ys = h * (0.34 if low else 0.52)
    bend, width = ctx.rng.uniform(0.3, 0.6) * w, 12 if ctx.salient else 7
    track = [
        (70, ys),
        (bend, ys),
        (bend + 90, ys + (110 if low else -110)),
        (w - 90, ys + (110 if low else -110)),
    ]
    spots = [track[0], ((track[0][0] + bend) / 2, ys), track[1], track[2], track[3]]
    key_y = h - 74 if ctx.far or low else 60
    key_y = key_y if low or ctx.far else h - 74

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.rect((0, 0, w, h), (250, 250, 247))
        if paper:
            c.paste(surface("paper", size, seed))
        color = COLORS[v["code"]]
        for k, name in enumerate(others):
            y = h * (0.2 + 0.2 * k) if not low else h * (0.72 - 0.16 * k)
            c.line(
                [(60, y), (bend + 40 * k, y), (bend + 60 + 40 * k, ys), (w - 70, ys + 8 - 40 * k)],
                COLORS[name],
                width - 2,
            )
        with c.element("track"):
            c.line(track, color if not twin else (96, 98, 104), width)
        for i, (x, y) in enumerate(spots):
            ring = (40, 40, 44)
            if i == 2 and ctx.n > 2:
                with c.element("hub"):
                    c.ellipse((x - 13, y - 13, x + 13, y + 13), color if not twin else ring)
            else:
                c.ellipse((x - 10, y - 10, x + 10, y + 10), ring)
            c.ellipse((x - 6, y - 6, x + 6, y + 6), (255, 255, 255))
            up = -22 if (i < 3 and low) or (i > 2 and not low) else 24
            c.text((x, y + up), stops[i], ("office", 15), (40, 40, 44), anchor="mm")
        x = w * 0.36
        if ctx.n > 1:
            with c.element("swatch"):
                c.rect(
                    (x - 52, key_y - 12, x - 16, key_y + 12), color if not twin else (96, 98, 104), radius=4
                )
        with c.element("target"):
            c.text((x, key_y), v["target"], (face, 26), (30, 30, 34), anchor="lm")
        c.text((x - 64, key_y), "LINE", (face, 26), (30, 30, 34), anchor="rm")
        for i, line in enumerate(extras):
            c.text(
                (w - 30, 30 + 20 * i if low else h - 110 - 20 * i),
                line,
                ("office", 13),
                (110, 112, 116),
                anchor="rm",
            )

    return Design(
        size, draw, edit, before={"code": edit.old.text}, after={"code": edit.new.text},
        target_region=["name of a line in the key, {where}", "legend of the tram map, {where}", "line name beside the map"],
        nodes=[
            NodeSpec(
                "track", "style_color",
                region=["track that is drawn across the map", f"thick route from {stops[0]} to {stops[4]}", "tram route in the {where}"],
                clean=["long bent stroke through the picture", "the path in the {where}", "a stroke that joins five of the dots"],
                update=["repaint the route {new}", "the stroke changes from {old} to {new}", "its ink becomes what the name {new} promises"],
                reason=["lines are drawn in the colour they are called by", "the key calls this route {new}, yet it is inked {old}",
                        "a passenger who looks for the {new} line follows the {new} stroke"],
                anon=["a colour name must match the paint of what it names", "the named hue and the drawn hue belong together",
                      "an element is painted as its own label says"],
            ),
            NodeSpec(
                "swatch", "style_color",
                region=["sample patch in front of the line name", "small coloured bar of the key", "legend patch, {where}"],
                clean=["a small rectangle next to the words, {where}", "little bar at the {where}", "patch to the left of a word"],
                update=["fill the patch with {new}", "patch: {old} out, {new} in", "recolour the sample bar to {new}"],
                reason=["the patch shows the ink that its word names", "a key pairs a word with its ink, and the word is now {new}",
                        "sample and word stand side by side and would contradict each other"],
                anon=["a sample has to show what the word beside it says", "sample and wording form a pair", "the pair explains a code, so both halves agree"],
            ),
            NodeSpec(
                "hub", "style_color",
                region=[f"interchange ring at {stops[2]}", f"coloured station ring, {stops[2]}", "ring on the route, {where}"],
                clean=["a ring on the stroke, {where}", "one of the round marks in the {where}", "a dot with a wide rim"],
                update=["the rim of the ring turns {new}", "give the station a {new} ring", "ring recoloured from {old} to {new}"],
                reason=["a changing stop wears the ink of its line", "station rings repeat the paint of the route", "the ring lies on a route that is {new} from now on"],
                anon=["a mark inherits its paint from the element it sits on", "details of a coded element repeat the code", "the code extends to the marks along it"],
            ),
        ],
        edges=[EdgeSpec("track", "swatch", "same hue", ["key patch and route have one ink", "the patch explains the route only in the same hue"]),
               EdgeSpec("track", "hub", "same hue", ["ring and route share their paint", "station ring and stroke match"])],
    )  # fmt: skip


LEVELS = (("low", (52, 138, 92)), ("raised", (226, 152, 40)), ("high", (200, 56, 52)))


@template(
    "style_color_status", nodes=("style_color", "style_color", "style_color"), edits=("number", "percent")
)
def status(ctx: Ctx) -> Design:
    """A control panel with a traffic-light key: the value decides the colours of its tile."""

    def level(x: int, cuts: tuple[int, int]) -> int:
        return (x >= cuts[0]) + (x >= cuts[1])

    ranges = {"number": (40, 65), "percent": (25, 50)}[ctx.kind]
    edit = ctx.edit(lambda a, b: level(a["value"], ranges) != level(b["value"], ranges))
    size, pal = ctx.size("wide"), ctx.palette()
    w, h = size
    unit = "%" if ctx.kind == "percent" else ""
    names = ctx.rng.sample(
        ["Pump hall", "Kiln", "Silo", "North vat", "Press room", "Cold store", "Loading bay", "Boiler"], 3
    )
    others = [ctx.rng.choice([15, 30, 55, 60, 70, 20]) for _ in names[1:]]
    face, slot = ctx.rng.choice(["plain", "office", "narrow", "code"]), ctx.rng.randrange(3)
    extras = ctx.copy(min(5, ctx.distractors))
    order = [1, 2]
    order.insert(slot, 0)
    tile, big = (w - 100) / 3, 58 if ctx.salient else 44

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.rect((0, 0, w, h), pal.bg)
        c.rect((0, 0, w, 64), pal.panel)
        c.text((30, 32), "Plant overview", (f"{face}-bold", 26), pal.ink, anchor="lm")
        for k, i in enumerate(order):
            x, y = 30 + k * (tile + 20), 92
            c.rect((x, y, x + tile, y + 180), pal.panel, radius=10)
            lv = v["level"] if i == 0 else level(others[i - 1], ranges)
            color = LEVELS[lv][1] if not (twin and i == 0) else pal.muted
            with c.element("strip" if i == 0 else f"s{i}"):
                c.rect((x, y, x + 10, y + 180), color, radius=4)
            c.text((x + 28, y + 34), names[i], (face, 19), pal.muted, anchor="lm")
            with c.element("target" if i == 0 else f"t{i}"):
                c.text(
                    (x + 28, y + 96),
                    v["target"] if i == 0 else f"{others[i - 1]}{unit}",
                    (f"{face}-bold", big),
                    pal.ink,
                    anchor="lm",
                )
            for b in range(8):
                c.rect(
                    (x + 28 + b * 14, y + 150 - (b * 37 + i * 13) % 11, x + 38 + b * 14, y + 158),
                    pal.muted,
                    radius=2,
                )
        ky = 306
        cuts = [f"below {ranges[0]}", f"{ranges[0]} to {ranges[1] - 1}", f"{ranges[1]} and more"]
        for k, (_, color) in enumerate(LEVELS):
            x = 36 + k * 180
            c.ellipse((x, ky - 8, x + 16, ky + 8), color)
            c.text((x + 26, ky), cuts[k] + (unit), (face, 16), pal.ink, anchor="lm")
        if twin:
            c.text((36 + 540, ky), f"{names[0]}: not rated", (face, 15), pal.muted, anchor="lm")
        y = ky + 44
        for k, name in enumerate(names):
            lv = v["level"] if k == 0 else level(others[k - 1], ranges)
            own = k == 0 and ctx.n > 1
            color = pal.muted if k == 0 and (twin or not own) else LEVELS[lv][1]
            with c.element("dot" if own else f"d{k}"):
                c.ellipse((40, y - 7, 54, y + 7), color)
            c.text((66, y), name, (face, 16), pal.ink, anchor="lm")
            if k == 0 and ctx.n > 2:
                with c.element("lamp"):
                    c.rect((w - 150, y - 11, w - 40, y + 11), pal.muted if twin else LEVELS[lv][1], radius=11)
            else:
                c.rect((w - 150, y - 11, w - 40, y + 11), pal.panel, radius=11)
            y += 38
        for i, text in enumerate(extras):
            c.text((w * 0.38, ky + 40 + 24 * i), text, (face, 14), pal.muted, anchor="lm")

    a, b = (level(x["value"], ranges) for x in (edit.old, edit.new))
    hue = ["green", "amber", "red"]
    return Design(
        size, draw, edit, before={"level": a, "hue": hue[a]}, after={"level": b, "hue": hue[b]},
        target_region=[f"reading of {names[0]}", "large figure on a tile, {where}", f"value on the tile {names[0]}, {{where}}"],
        nodes=[
            NodeSpec(
                "strip", "style_color",
                region=[f"stripe along the left edge of the {names[0]} tile", "upright stripe of the tile, {where}", f"tile edge of {names[0]}"],
                clean=["narrow upright bar, {where}", "left border of one of the panels", "edge of a panel at the {where}"],
                update=["turns from {b_hue} to {a_hue}", "stripe in {a_hue}", "swap its {b_hue} for {a_hue}"],
                reason=[f"by the key under the tiles, {{new}} falls into the {hue[b]} band",
                        "the stripe rates the reading: {old} was {b_hue}, {new} is {a_hue}",
                        "readings are graded by the printed limits and {new} lies in another grade"],
                anon=["a hue grades a quantity by printed limits, and a limit has been crossed",
                      "the code maps a range to a hue; the edited quantity is in another range", "a rating depends on which band the quantity falls in"],
            ),
            NodeSpec(
                "dot", "style_color",
                region=[f"signal dot beside {names[0]} in the list", f"{names[0]} in the lower list: its dot", "first dot of the list, {where}"],
                clean=["a small disc in the list below", "round mark at the {where}", "disc at the head of a list line"],
                update=["the dot becomes {a_hue}", "recolour the dot to {a_hue}, as in the key", "the {b_hue} dot has to be {a_hue}"],
                reason=["list and tiles report one state, graded by the same limits", f"the dot repeats the grade of {names[0]}, which the new reading changes",
                        "what the key says of {new} holds for the list too"],
                anon=["a summary repeats the grade of an entry", "the same grading is shown a second time", "two views of one state use one code"],
            ),
            NodeSpec(
                "lamp", "style_color",
                region=[f"pill at the end of the {names[0]} line", "filled pill on the right of the list", "status pill, {where}"],
                clean=["a rounded bar at the {where}", "rounded shape on the right-hand side", "the bar that closes a list line"],
                update=["its fill changes to {a_hue}", "pill goes {b_hue} → {a_hue}", "paint the pill in the hue of the new grade, {a_hue}"],
                reason=["the pill is lit in the hue of the grade", "grade and pill go together, and {new} has another grade",
                        "with {new} the limits in the key demand {a_hue}"],
                anon=["an indicator is lit by the grade of the quantity", "the indicator follows a rule printed in the picture", "one more mark carries the same code"],
            ),
        ],
        edges=[EdgeSpec("strip", "dot", "same grade", ["tile and list rate one reading", "stripe and dot show one grade"]),
               EdgeSpec("dot", "lamp", "same line", ["dot and pill of a line match", "both ends of the list line show one grade"])],
    )  # fmt: skip
