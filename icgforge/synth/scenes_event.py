"""Scenes of events and offices that set off several subtypes: a ticket."""

from __future__ import annotations

import datetime

from icgforge.synth.base import Ctx, Design, EdgeSpec, Fact, NodeSpec, Values, stable_hash, template
from icgforge.synth.canvas import Canvas
from icgforge.synth.textures import surface

HUES = {
    "winter": (92, 146, 190),
    "spring": (120, 172, 92),
    "summer": (236, 182, 70),
    "autumn": (192, 104, 58),
}


def _bars(c: Canvas, box: tuple[float, float, float, float], code: str, ink: tuple[int, int, int]) -> None:
    """Draw stripes that stand for a code."""
    bits = format(stable_hash(code) | 1 << 63, "b")
    unit = (box[2] - box[0]) / (len(bits) + 2)
    for i, bit in enumerate("1" + bits + "1"):
        if bit == "1":
            c.rect((box[0] + i * unit, box[1], box[0] + (i + 1) * unit, box[3]), ink)


def _season_picture(c: Canvas, box: tuple[float, float, float, float], season: str) -> None:
    """A tree through the year."""
    x0, y0, x1, y1 = box
    w, h = x1 - x0, y1 - y0
    sky = {
        "winter": (206, 220, 232),
        "spring": (196, 226, 244),
        "summer": (150, 208, 244),
        "autumn": (236, 214, 180),
    }[season]
    land = {
        "winter": (244, 247, 250),
        "spring": (142, 190, 104),
        "summer": (96, 156, 74),
        "autumn": (176, 138, 82),
    }[season]
    c.rect(box, sky)
    c.rect((x0, y0 + h * 0.72, x1, y1), land)
    x = x0 + w * 0.5
    c.rect((x - 6, y0 + h * 0.42, x + 6, y0 + h * 0.78), (98, 72, 52))
    for k in (-1, 1):
        c.line([(x, y0 + h * 0.5), (x + k * w * 0.16, y0 + h * 0.3)], (98, 72, 52), 5)
    crown = {"spring": (238, 178, 200), "summer": (60, 128, 66), "autumn": (206, 106, 44)}.get(season)
    if crown:
        for dx, dy, r in (
            (-0.16, 0.30, 0.14),
            (0.0, 0.22, 0.17),
            (0.16, 0.30, 0.14),
            (-0.06, 0.36, 0.12),
            (0.08, 0.36, 0.12),
        ):
            c.ellipse(
                (x + dx * w - r * w, y0 + dy * h - r * w, x + dx * w + r * w, y0 + dy * h + r * w), crown
            )
    if season == "summer":
        c.ellipse((x1 - w * 0.24, y0 + h * 0.06, x1 - w * 0.08, y0 + h * 0.06 + w * 0.16), (252, 214, 84))
    if season == "winter":
        for k in range(14):
            fx, fy = x0 + w * ((k * 37 % 100) / 100), y0 + h * ((k * 53 % 90) / 100)
            c.ellipse((fx, fy, fx + 6, fy + 6), (255, 255, 255))
    if season == "autumn":
        for k in range(9):
            fx = x0 + w * (0.15 + (k * 29 % 70) / 100)
            c.ellipse(
                (fx, y0 + h * 0.76 + (k % 3) * 8, fx + 9, y0 + h * 0.76 + (k % 3) * 8 + 5), (196, 92, 40)
            )


@template(
    "scenes_ticket", nodes=("xmod_temporal", "semantic_functional", "xmod_temporal", "style_color"), edits=("date",), min_nodes=2,
)  # fmt: skip
def ticket(ctx: Ctx) -> Design:
    """An admission ticket: the date is edited; weekday, code, picture of the season and its tint follow."""
    edit = ctx.edit()
    size, seed = ctx.size("wide"), ctx.seed()
    w, h = size
    face, head = ctx.rng.choice(["narrow", "office", "slab", "plain"]), ctx.face("display")
    title = ctx.rng.choice(["Botanic Garden", "Open-air Museum", "Castle Grounds", "Lake Railway"])
    gate, extras = ctx.rng.choice("ABCDEF"), ctx.copy(min(4, ctx.distractors))
    x0, y0, x1, y1 = w * 0.07, h * 0.14, w * 0.93, h * 0.80
    cut = x0 + (x1 - x0) * 0.7
    desk = ctx.rng.choice(["wood", "leather", "cloth"])
    big = 44 if ctx.salient else 34

    def code(iso: str) -> str:
        return f"{gate}-{iso.replace('-', '')[2:]}"

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(surface(desk, size, seed))
        sh = c.layer()
        sh.rect((x0 + 4, y0 + 8, x1 + 4, y1 + 8), (0, 0, 0))
        c.put(sh, blur=6, opacity=0.4)
        c.paste(surface("paper", (int(x1 - x0), int(y1 - y0)), seed + 1, (251, 247, 236)), (x0, y0))
        hue = HUES[v["season"]] if not twin else (150, 146, 140)
        with c.element("tint" if ctx.n > 3 else "fixed"):
            c.rect((x0, y0, x1, y0 + 14), hue if ctx.n > 3 or twin else (120, 110, 100))
        c.text((x0 + 26, y0 + 52), title, (head, 32), (50, 46, 44), anchor="lm")
        c.text((x0 + 26, y0 + 84), "admits one", (face, 16), (120, 112, 106), anchor="lm")
        with c.element("target"):
            c.text((x0 + 26, y0 + 140), v["target"], (f"{face}-bold", big), (40, 38, 40), anchor="lm")
        c.text((x0 + 26, y0 + 178), str(v["year"]), (face, 19), (120, 112, 106), anchor="lm")
        with c.element("weekday"):
            c.text(
                (x0 + 100, y0 + 178),
                v["weekday"] if not twin else "any day",
                (face, 19),
                (70, 66, 64),
                anchor="lm",
            )
        for i, line in enumerate(extras):
            c.text(
                (x0 + 26 + 190 * (i % 2), y1 - 46 + 22 * (i // 2)),
                line,
                (face, 14),
                (140, 132, 124),
                anchor="lm",
            )
        for k in range(int((y1 - y0) / 12)):
            c.rect((cut - 1, y0 + 4 + 12 * k, cut + 1, y0 + 10 + 12 * k), (180, 170, 156))
        with c.element("code"):
            bx = (cut + 18, y0 + 40, x1 - 18, y0 + 110)
            text = v["code"] if not twin else f"{gate}-OPEN"
            _bars(c, bx, text, (30, 30, 32))
            c.text(((cut + x1) / 2, y0 + 126), text, ("code", 16), (50, 48, 48), anchor="mm")
        box = (cut - 150, y0 + 30, cut - 22, y1 - 70)
        if ctx.n > 2 and not twin:
            with c.element("picture"):
                _season_picture(c, box, v["season"])
        else:
            c.rect(box, (224, 216, 200))
            c.ellipse((box[0] + 34, box[1] + 40, box[2] - 34, box[1] + 100), (196, 184, 164))
            c.rect((box[0] + 26, box[3] - 60, box[2] - 26, box[3] - 50), (196, 184, 164))

    a, b = edit.old.attrs, edit.new.attrs

    def values(x: dict[str, object]) -> dict[str, object]:
        return {"weekday": x["weekday"], "code": code(str(x["iso"])), "season": x["season"]}

    months = [datetime.date.fromisoformat(str(x["iso"])).month for x in (a, b)]
    return Design(
        size, draw, edit, {**values(a), "year": a["year"]}, values(b), twin={},
        target_region=["day of admission, {where}", "big date on the ticket", "date line, {where}"],
        nodes=[
            NodeSpec(
                "weekday", "xmod_temporal",
                region=["weekday behind the year", "name of the day under the date", "word after the year, {where}"],
                clean=["second word of the small line", "small word, {where}", "little text under the large one"],
                update=["{b_weekday} has to be {a_weekday}", "the ticket office prints {a_weekday}", "day of the week: {a_weekday} in place of {b_weekday}"],
                reason=["{new} {b_year} falls on a {a_weekday}", "by the calendar of {b_year}, {new} is no {b_weekday}", "date, year and day of the week are tied by the calendar"],
                anon=["the calendar settles which name goes with a given day", "two ways of naming one moment have to agree", "a calendar fact follows from the edited text"],
            ),
            NodeSpec(
                "code", "semantic_functional",
                region=["bar code with its plain text on the stub", "stripes and code on the tear-off part", "machine code, {where}"],
                clean=["pattern on the separate part", "striped block, {where}", "what is printed on the right-hand part"],
                update=["{b_code} turns into {a_code}, stripes included", "reissue the stripes for {a_code}", "encode {a_code} and print it below"],
                reason=["the code holds gate and day of admission, and the gate scanner compares it with the date", "the stub stands for this very day: its digits are year, month and day", "a stub coded for {old} would not open the gate on {new}"],
                anon=["a machine reads the edited content from an encoded copy", "a key refers to the item by what it encodes", "the encoded form serves to check the printed one"],
            ),
            NodeSpec(
                "picture", "xmod_temporal",
                region=["picture of the tree in {b_season}", "vignette of the garden", "illustration in the middle of the ticket"],
                clean=["illustration, {where}", "the only picture", "drawn scene, {where}"],
                update=["draw the tree as it stands in {a_season}", "{b_season} scenery out, {a_season} scenery in", "show the garden in {a_season}"],
                reason=["on {new} the garden is in {a_season}", "the vignette shows the time of year of the visit, which is {a_season}", "a tree in {b_season} dress belies the day of the visit"],
                anon=["nature at the named time looks different from what is shown", "a depicted time of year contradicts the named one", "the illustration depends on when things happen"],
            ),
            NodeSpec(
                "tint", "style_color",
                region=["coloured strip along the top of the ticket", "strip of ink at the upper edge", "tinted edge, {where}"],
                clean=["thin strip at the edge", "strip at the {where}", "uppermost band"],
                update=["ink the strip for {a_season}", "the edge takes the tint of {a_season} tickets", "strip: tint of {a_season}"],
                reason=["tickets of one time of year share a tint, as does the picture", "the strip repeats the mood of the vignette, now {a_season}", "controllers tell {a_season} tickets by their edge"],
                anon=["a tint marks the period of validity", "the hue goes with the period, and that is another", "stock is tinted by period"],
            ),
        ],
        edges=[EdgeSpec("weekday", "code", "same day", ["weekday and coded day are one day", "code and weekday have to fit each other"]),
               EdgeSpec("picture", "tint", "same season", ["tint and vignette are of one time of year", "strip and picture agree"])],
        facts=[Fact("weekday", "weekday", {"iso": a["iso"], "weekday": a["weekday"]}, {"iso": b["iso"], "weekday": b["weekday"]}),
               Fact("season", "picture", {"month": months[0], "season": a["season"]}, {"month": months[1], "season": b["season"]})],
    )  # fmt: skip
