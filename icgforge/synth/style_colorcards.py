"""Style templates of cards and leaflets whose colour follows the edited text."""

from __future__ import annotations

from icgforge.synth.base import Ctx, Design, EdgeSpec, NodeSpec, Values, template
from icgforge.synth.canvas import Canvas
from icgforge.synth.textures import surface
from icgforge.synth.words import COLORS

SEASONS = {
    "winter": (88, 142, 190),
    "spring": (122, 176, 84),
    "summer": (236, 180, 56),
    "autumn": (190, 96, 52),
}


@template(
    "style_color_season",
    nodes=("style_color", "style_color", "style_color"),
    edits=("month", "date"),
    max_distractors=4,
)
def season(ctx: Ctx) -> Design:
    """A programme leaflet whose bands are coloured by quarter of the year, with a key at its foot."""
    edit = ctx.edit()
    size, seed = ctx.size("tall"), ctx.seed()
    w, h = size
    pal, face = ctx.palette(dark=False), ctx.face("serif")
    title = ctx.rng.choice(
        ["River Society", "Evening Lectures", "The Print Room", "Chamber Concerts", "Workshop Nights"]
    )
    extras, right = ctx.copy(ctx.distractors), ctx.chance(0.5)
    big, head = 54 if ctx.salient else 42, ctx.face("display")

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(surface("paper", size, seed, (250, 247, 240)))
        hue = SEASONS[v["season"]] if not twin else pal.muted
        band = 120 if ctx.salient else 70
        with c.element("band"):
            c.rect((0, 0, w, band), hue)
        c.text((48, band + 56), title, (head, 40), (44, 40, 38), anchor="lm")
        y = band + (210 if ctx.far else 130)
        with c.element("target"):
            c.text((48, y), v["target"], (face, big), (44, 40, 38), anchor="lm")
        if ctx.n > 1:
            with c.element("tab"):
                x = w - 46.0 if right else 0.0
                c.rect((x, h * 0.5, x + 46, h * 0.5 + 120), hue, radius=0)
        for k in range(4):
            c.rect(
                (48, y + 62 + 22 * k, w * (0.74 - 0.1 * (k == 3)), y + 68 + 22 * k), (206, 200, 190), radius=3
            )
        if ctx.n > 2:
            with c.element("seal"):
                c.ellipse((w * 0.5 - 38, h - 208, w * 0.5 + 38, h - 132), hue)
            c.text((w * 0.5, h - 170), "No. 9", (face, 20), (255, 255, 255), anchor="mm")
        for i, text in enumerate(extras):
            c.text((60, h - 296 + 22 * i), text, (face, 14), (120, 114, 106), anchor="lm")
        for k, (name, color) in enumerate(SEASONS.items()):
            x = 48.0 + k * (w - 96) / 4
            c.rect((x, h - 64, x + 22, h - 42), color)
            c.text((x + 30, h - 53), name, (face, 16), (70, 64, 60), anchor="lm")
        if twin:
            c.text((48, h - 90), "key to the rooms, see overleaf", (face, 14), (120, 114, 106), anchor="lm")

    a, b = edit.old["season"], edit.new["season"]
    return Design(
        size, draw, edit, before={"season": a}, after={"season": b},
        target_region=["day of the programme, {where}", "large line below the title, {where}", "when it takes place, {where}"],
        nodes=[
            NodeSpec(
                "band", "style_color",
                region=["broad band across the head of the leaflet", "coloured head of the sheet", "strip along the upper margin"],
                clean=["the area along the upper edge", "the head of the page", "wide block at the {where}"],
                update=["reprint the band in the ink for {a_season}", "the {b_season} tint gives way to the {a_season} tint", "band: colour of {a_season} instead of {b_season}"],
                reason=["the key at the foot gives each quarter of the year a tint, and {new} belongs to {a_season}",
                        "sheets are tinted by the time of year; {new} is {a_season}, {old} was {b_season}",
                        "whoever sorts these leaflets goes by the tint, which stands for {a_season} from now on"],
                anon=["a key ties a tint to a part of the year, and the edited text lies in another part",
                      "sheets are sorted by a tint that follows from the edited text", "a printed code assigns a hue to a span of time"],
            ),
            NodeSpec(
                "tab", "style_color",
                region=["index tab on the margin", "thumb tab at the side of the sheet", "tinted block at the edge, {where}"],
                clean=["small block at the {where}", "upright block on the margin", "a block that touches the side of the page"],
                update=["print the tab in the {a_season} tint", "tab takes the hue that stands for {a_season}", "{b_season} tab becomes a {a_season} tab"],
                reason=["tab and head are printed in one ink", "the tab lets one find the {a_season} sheets in a stack",
                        "an index by time of year only works when its tabs follow the programme"],
                anon=["an index mark repeats the tint of the page", "a finding aid is coded like the page itself", "marks for sorting share the code"],
            ),
            NodeSpec(
                "seal", "style_color",
                region=["round seal with the issue number", "disc “No. 9”", "tinted disc, {where}"],
                clean=["a disc at the {where}", "round shape in the lower half", "circle with a little text"],
                update=["ink the disc for {a_season}", "the seal is stamped in the {a_season} tint", "exchange the tint of the disc for that of {a_season}"],
                reason=["issue seals are stamped in the tint of their quarter", "the seal counts issues of a quarter, which is {a_season} now",
                        "third mark in the same ink as band and tab"],
                anon=["a stamp carries the tint of its period", "every mark of the page takes the hue of the period", "the stamp is coded by period as well"],
            ),
        ],
        edges=[EdgeSpec("band", "tab", "same ink", ["band and tab leave the press in one ink", "head and tab share the tint"]),
               EdgeSpec("band", "seal", "same ink", ["seal and band agree in tint", "disc and head are of one quarter"])],
    )  # fmt: skip


@template("style_color_theme", nodes=("style_color", "style_color"), edits=("color",))
def theme(ctx: Ctx) -> Design:
    """A paint shop card: the name of a tone, a brush stroke in it, and the lid of the tin."""
    edit = ctx.edit()
    size, seed = ctx.size("square"), ctx.seed()
    w, h = size
    head, body = ctx.face("display"), ctx.face("sans")
    others = ctx.rng.sample(
        [n for n in COLORS if n not in (edit.old.text, edit.new.text)], 1 + min(4, ctx.distractors)
    )
    up = ctx.chance(0.5)
    px = 62 if ctx.salient else 48

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(surface("plaster" if up else "paper", size, seed))
        hue = COLORS[v["code"]] if not twin else (150, 146, 140)
        y = h * (0.2 if up else 0.72)
        with c.element("target"):
            c.text((w / 2, y), v["target"], (head, px), (40, 38, 40), anchor="mm")
        c.text(
            (w / 2, y + px * 0.8),
            "emulsion for walls" if not twin else "primer, any shade on request",
            (body, 17),
            (90, 86, 84),
            anchor="mm",
        )
        s = h * (0.46 if up else 0.2)
        with c.element("stroke"):
            for k in range(9):
                x0, x1 = w * 0.16 + (k * 31 % 17) * 3, w * 0.84 - (k * 47 % 19) * 3
                c.line([(x0, s - 44 + k * 11), (w * 0.5, s - 50 + k * 11), (x1, s - 40 + k * 11)], hue, 10)
        if ctx.n > 1:
            t = s + 156
            c.rect((w / 2 - 60, t - 30, w / 2 + 60, t + 74), (206, 208, 210), radius=4)
            with c.element("lid"):
                c.ellipse((w / 2 - 60, t - 46, w / 2 + 60, t - 14), hue, outline=(120, 122, 126), width=3)
        for i, name in enumerate(others):
            x = w * (i + 0.5) / len(others)
            c.rect((x - 14, h - 62, x + 14, h - 44), COLORS[name])
            c.text((x, h - 28), name.lower(), (body, 13), (90, 86, 84), anchor="mm")

    return Design(
        size, draw, edit, before={"code": edit.old.text}, after={"code": edit.new.text},
        target_region=["name of the tone, {where}", "big word on the card, {where}", "title of the paint card"],
        nodes=[
            NodeSpec(
                "stroke", "style_color",
                region=["brushed sample of paint", "wide brush mark, {where}", "strokes of paint on the card"],
                clean=["the largest painted shape", "rough patch at the {where}", "a broad ragged area, {where}"],
                update=["brush the sample in {new}", "dip the brush into {new}: no {old} may remain in the mark", "the sample shows {new} paint"],
                reason=["the card sells the tone that its title names", "customers judge {new} by this very sample",
                        "a sample of {old} under the title {new} advertises the wrong tin"],
                anon=["a sample demonstrates what the title names", "title and sample describe one product", "the specimen must show the named quality"],
            ),
            NodeSpec(
                "lid", "style_color",
                region=["lid of the paint tin", "top of the tin, {where}", "oval lid at the {where}"],
                clean=["an oval near the {where}", "the upper face of the container", "oval shape in the lower half"],
                update=["the lid is enamelled {new}", "give the tin a {new} lid", "{old} lid off, {new} lid on"],
                reason=["tins wear a lid in the tone of their contents", "contents and lid match, and the contents are {new} now",
                        "the lid tells the tone when tins are stacked"],
                anon=["a cover signals the tone of the contents", "the container is coded by what it holds", "packaging repeats the named quality"],
            ),
        ],
        edges=[EdgeSpec("stroke", "lid", "same paint", ["sample and lid are one tone", "what is brushed comes out of that tin"])],
    )  # fmt: skip
