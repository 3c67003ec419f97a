"""Scene templates on place names: postcard, window view, cover, weather board."""

from __future__ import annotations

from icgforge.synth.base import Ctx, Design, Values, template
from icgforge.synth.canvas import Canvas
from icgforge.synth.icons import glyph
from icgforge.synth.parts import edge, fit, ink_on, node, notes, paper, planks, shade
from icgforge.synth.scenery import mix, picture

# One call, one stroke, one row a line.
# fmt: off

SCENE = "xmod_scene"
# Landscape: what to bring, thing that leans at the wall, degrees, what the weather is like.
TIPS = {
    "beach": ("Pack swimwear and a towel", "ring", 29, "Sea breeze"),
    "snow": ("Pack skis and thick gloves", "skis", -7, "Powder snow"),
    "desert": ("Pack water and a sun hat", "cactus", 41, "Dry heat"),
    "city": ("Pack a tram pass and good shoes", "bus", 19, "Rush hour haze"),
    "forest": ("Pack boots and a bird guide", "mushroom", 14, "Mist under trees"),
}
LOOKS = {
    "beach": "palms, sand and sea", "snow": "white peaks and firs", "desert": "dunes and cacti",
    "city": "towers and a street", "forest": "dense dark firs",
}


@template("xmod_scene_postcard", nodes=(SCENE, SCENE, SCENE), edits=("place",), max_distractors=3)
def postcard(ctx: Ctx) -> Design:
    """A picture postcard with stamp and advice."""
    edit, pal, size = ctx.edit(), ctx.palette(), ctx.size("wide")
    w, h = size
    script, sans = ctx.face("script"), ctx.face("sans")
    seed, lines = ctx.seed(), ctx.copy(min(3, ctx.distractors))
    pw, ph = w - 120, round(h * 0.62)
    right, top = ctx.chance(0.5), ctx.chance(0.5)
    fs = fit([edit.old.text, edit.new.text], script, w * 0.44, 52)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        planks(c, (0, 0, w, h), (124, 98, 74), seed, 8)
        shade(c, (40, 34, w - 40, h - 34), 2)
        c.rect((40, 34, w - 40, h - 34), (252, 250, 244))
        py = 54 if top else h - 54 - ph
        with c.element("view"):
            if v["scene"]:
                c.paste(picture(v["scene"], (pw, ph), seed), (60, py))
            else:
                paper(c, (60, py, 60 + pw, py + ph), pal.accent2, seed)
                for k in range(9):
                    c.ellipse((60 + k * pw / 9 + 8, py + ph / 2 - 24, 60 + k * pw / 9 + 56, py + ph / 2 + 24), mix(pal.accent, pal.panel, k / 9))
        yt = py + ph + 56 if top else py - 50
        xt = w - 80 if right else 80
        with c.element("target"):
            c.text((xt, yt - 8), v["target"], (script, fs), pal.accent if not pal.dark else pal.bg, anchor="rm" if right else "lm")
        xo = 80 if right else w - 80
        if ctx.n > 1:
            sx = 80 if right else w - 80 - 84
            c.rect((sx - 6, yt - 46, sx + 90, yt + 26), (240, 236, 226), outline=(190, 184, 172))
            with c.element("stamp"):
                if v["scene"]:
                    c.paste(picture(v["scene"], (84, 60), seed + 1), (sx, yt - 40))
                else:
                    c.rect((sx, yt - 40, sx + 84, yt + 20), pal.accent)
        if ctx.n > 2:
            with c.element("tip"):
                c.text((xt, yt + 38), v["tip"], (sans, 18 if ctx.salient else 14), (70, 66, 62), anchor="rm" if right else "lm")
        elif lines:
            c.text((xt, yt + 38), lines[0], (sans, 13), (130, 124, 116), anchor="rm" if right else "lm")
        if ctx.n < 2:
            notes(c, lines[1:], (xo - (0 if right else 200), yt - 30, xo + (200 if right else 0), yt + 20), sans, (130, 124, 116))

    old, new = edit.old["scene"], edit.new["scene"]
    return Design(
        size, draw, edit,
        before={"scene": old, "tip": TIPS[old][0], "seen": LOOKS[old]}, after={"scene": new, "tip": TIPS[new][0], "seen": LOOKS[new]},
        twin={"scene": "", "tip": "Write soon and send love"},
        target_region=["name on the postcard, {where}", "lettering on the white border, {where}", "the place name, {where}"],
        nodes=[
            node("view", SCENE, "large picture of the postcard|landscape that fills most of the card|main view, {where}",
                 "the big rectangle of the card|the largest part of the card, {where}|the area beside the lettering",
                 "show {a_seen} in place of {b_seen}|redraw the view with {a_seen}|exchange {b_seen} for {a_seen}",
                 "a card from {new} would hardly show {b_seen}|{b_seen} belong to {old}|the sender of {new} looks at {a_seen}",
                 "what is depicted does not suit the kind of spot that the new wording calls up|image and caption would speak of two sorts of surroundings|the depicted surroundings come from the former wording"),
            node("stamp", SCENE, "stamp beside the lettering, {where}|tiny landscape on the postage stamp|motif of the stamp, {where}",
                 "small rectangle at the {where}|little square on the border|a small item at the rim of the card",
                 "give it a motif with {a_seen}|its motif has to be {a_seen}|no longer {b_seen} but {a_seen}",
                 "its motif still shows {b_seen}|stamps of {new} would carry {a_seen}|the motif repeats the surroundings of {old}",
                 "a second, smaller depiction still follows the former wording|it is a motif of the same surroundings, in small|it portrays what the former wording stood for"),
            node("tip", SCENE, "advice line under the name|packing advice, {where}|sentence that says what to bring",
                 "small sentence, {where}|a line under larger lettering|fine print of the card, {where}",
                 "“{b_tip}” turns into “{a_tip}”|advise “{a_tip}”|rewrite it as “{a_tip}”",
                 "nobody needs that at {new}|the advice was meant for {old}|other surroundings, other luggage",
                 "advice that was right for the former surroundings is odd for the new|the recommendation presumes the former surroundings|what one should carry depends on where one goes"),
        ],
        edges=[edge("view", "stamp", "same scene", "picture and stamp show one kind of landscape|both motifs come from one place|stamp and view have to match"),
               edge("view", "tip", "agreement", "the advice fits what the picture shows|luggage and landscape go together|the tip names gear for this landscape")],
    )


@template("xmod_scene_window", nodes=(SCENE, SCENE), edits=("place",))
def window(ctx: Ctx) -> Design:
    """A room with a name board, a view and luggage at the wall."""
    edit, pal, size = ctx.edit(), ctx.palette(dark=False), ctx.size("wide")
    w, h = size
    head, sans = ctx.face("slab"), ctx.face("sans")
    seed, lines = ctx.seed(), ctx.copy(ctx.distractors)
    left = ctx.chance(0.5)
    vw, vh = (round(w * 0.5), round(h * 0.5)) if ctx.salient else (round(w * 0.4), round(h * 0.4))
    fs = fit([edit.old.text, edit.new.text], head, w * 0.26, 34)
    wall = mix(pal.panel, (255, 250, 240), 0.4)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        paper(c, (0, 0, w, h * 0.8), wall, seed, 1.5)
        planks(c, (0, h * 0.8, w, h), (150, 108, 72), seed, 3)
        c.rect((0, h * 0.78, w, h * 0.8), mix(wall, (60, 50, 40), 0.3))
        x = 60 if left else w - 60 - vw
        y = 60
        c.rect((x - 16, y - 16, x + vw + 16, y + vh + 16), (250, 248, 242))
        c.rect((x - 22, y + vh + 14, x + vw + 22, y + vh + 26), (232, 226, 214))
        with c.element("view"):
            if v["scene"]:
                c.paste(picture(v["scene"], (vw, vh), seed), (x, y))
            else:
                for k in range(round(vh / 14) + 1):
                    c.rect((x, y + k * 14, x + vw, min(y + vh, y + k * 14 + 14)), mix((226, 222, 210), (180, 176, 164), (k % 2) * 0.5))
        c.rect((x + vw / 2 - 4, y, x + vw / 2 + 4, y + vh), (250, 248, 242))
        bx0, bx1 = (w * 0.66, w - 40) if left else (40, w * 0.34)
        by = 70 if not ctx.far else h * 0.36
        shade(c, (bx0, by, bx1, by + 86))
        planks(c, (bx0, by, bx1, by + 86), (112, 78, 54), seed + 5, 2)
        with c.element("target"):
            c.text(((bx0 + bx1) / 2, by + 43), v["target"], (head, fs), (250, 240, 220), anchor="mm")
        mid = (bx0 + bx1) / 2
        c.rect((mid - 70, h * 0.8 - 14, mid + 70, h * 0.8 + 26), (104, 74, 60), radius=4)
        if ctx.n > 1:
            k = round(h * (0.24 if ctx.salient else 0.17))
            with c.element("gear"):
                c.paste(glyph(v["gear"], k), (mid - k / 2, h * 0.8 - k - 10))
        else:
            c.paste(glyph("vase", round(h * 0.16)), (mid - h * 0.08, h * 0.8 - h * 0.16 - 12))
        notes(c, lines[:2], (x - 10, y + vh + 40, x + vw + 10, y + vh + 70), sans, mix(wall, (40, 36, 30), 0.6), 13)
        notes(c, lines[2:], (60, h * 0.85, w - 60, h - 8), sans, (250, 236, 214), 14)

    old, new = edit.old["scene"], edit.new["scene"]
    gear = {"beach": "beach ring", "snow": "pair of skis", "desert": "potted cactus", "city": "toy bus", "forest": "mushroom"}
    return Design(
        size, draw, edit,
        before={"scene": old, "gear": TIPS[old][1], "seen": LOOKS[old], "thing": gear[old]},
        after={"scene": new, "gear": TIPS[new][1], "seen": LOOKS[new], "thing": gear[new]},
        twin={"scene": "", "gear": "lantern"},
        target_region=["name board on the wall, {where}", "carved board in the room", "wooden sign, {where}"],
        nodes=[
            node("view", SCENE, "view out of the window, {where}|what lies beyond the panes|landscape seen through the window",
                 "the pane area at the {where}|the bright rectangle in the wall|the framed opening, {where}",
                 "outside there should be {a_seen}|let one see {a_seen}, not {b_seen}|paint {a_seen} beyond the glass",
                 "a house called {new} does not look out on {b_seen}|the board promises {new}, the panes show {b_seen}|from {new} one would see {a_seen}",
                 "what can be seen outside contradicts the name that the house would now have|the outlook is tied to where the house claims to stand|surroundings and name would disagree"),
            node("gear", SCENE, "thing that stands below the board, {where}|object on the chest, {where}|the {b_thing} in the room",
                 "item standing at the wall, {where}|an item in the lower part of the room|the thing on the low chest",
                 "a {a_thing} takes the place of the {b_thing}|swap it for a {a_thing}|replace the {b_thing}, for instance by a {a_thing}",
                 "guests of {new} have no use for a {b_thing}|the {b_thing} tells of {old}|what guests bring along depends on the region",
                 "belongings left there suit the former region only|its use is bound to the former surroundings|it hints at pastimes of another region"),
        ],
        edges=[edge("view", "gear", "same scene", "the thing is used in the landscape outside|outlook and belongings tell of one region|what stands inside is for what lies outside")],
    )


@template("xmod_scene_cover", nodes=(SCENE, SCENE), edits=("place",), max_distractors=3)
def cover(ctx: Ctx) -> Design:
    """A novel: cover picture and vignette on the spine, title as place."""
    edit, pal, size = ctx.edit(), ctx.palette(), ctx.size("tall")
    w, h = size
    head, serif = ctx.face(("display", "serif")[ctx.rng.randrange(2)]), ctx.face("serif")
    seed, lines = ctx.seed(), ctx.copy(min(3, ctx.distractors))
    low = ctx.chance(0.5)
    author = ctx.rng.choice(["M. Hollander", "Iris Quayle", "J. P. Sorel", "Dana Whitlock"])
    x0, x1, y0, y1 = 118, w - 50, 46, h - 46
    bw = x1 - x0
    ph = round((y1 - y0) * (0.6 if ctx.salient else 0.46))
    fs = fit([edit.old.text, edit.new.text], head, bw - 50, 64)
    desk = ctx.rng.choice([(96, 112, 120), (140, 110, 84), (120, 128, 106)])

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        paper(c, (0, 0, w, h), desk, seed, 4)
        shade(c, (60, y0, x1, y1), 2, 9, 110)
        c.polygon([(60, y0 + 12), (x0, y0), (x0, y1), (60, y1 - 12)], mix(pal.accent, (0, 0, 0), 0.35))
        c.rect((x0, y0, x1, y1), pal.accent)
        py = y1 - ph - 20 if not low else y0 + 20
        with c.element("art"):
            if v["scene"]:
                c.paste(picture(v["scene"], (bw - 40, ph), seed), (x0 + 20, py))
            else:
                c.rect((x0 + 20, py, x1 - 20, py + ph), pal.panel)
                for k in range(12):
                    c.line([(x0 + 30 + k * (bw - 60) / 12, py + 14), (x0 + 60 + (bw - 100) * k / 12, py + ph - 14)], pal.accent2, 4)
        ink = ink_on(pal.accent)
        ty = (y0 + py) / 2 if not low else (py + ph + y1) / 2
        with c.element("target"):
            c.text(((x0 + x1) / 2, ty - 12), v["target"], (head, fs), ink, anchor="mm")
        c.text(((x0 + x1) / 2, ty + 42), author, (serif, 22), ink, anchor="mm")
        if ctx.n > 1:
            sy = y1 - 110 if ctx.far is not low else y0 + 60
            with c.element("spine"):
                if v["scene"]:
                    c.paste(picture(v["scene"], (44, 44), seed + 2), (67, sy))
                else:
                    c.ellipse((67, sy, 111, sy + 44), pal.accent2)
        notes(c, lines, (x0 + 10, ty + 62, x1 - 10, ty + 92), serif, mix(ink, pal.accent, 0.3), 13)

    old, new = edit.old["scene"], edit.new["scene"]
    return Design(
        size, draw, edit, before={"scene": old, "seen": LOOKS[old]}, after={"scene": new, "seen": LOOKS[new]}, twin={"scene": ""},
        target_region=["title of the novel, {where}", "large lettering on the book", "book title, {where}"],
        nodes=[
            node("art", SCENE, "illustration on the book, {where}|drawn front of the novel|artwork with {b_seen}",
                 "the coloured block of the book, {where}|the wide area under or over the lettering|the large field, {where}",
                 "a new illustration is due, with {a_seen}|let the artwork depict {a_seen}|{b_seen} give way to {a_seen}",
                 "a reader of “{new}” would expect {a_seen}|the artwork sets the story among {b_seen}|it tells of {old}, while the title no longer does",
                 "the artwork sets the story elsewhere than its heading does|readers would take the illustration for that of another tale|heading and artwork are meant to evoke one setting"),
            node("spine", SCENE, "vignette on the spine, {where}|little motif at the left edge of the book|small picture on the book's back",
                 "small mark at the far left|a little patch on the narrow side|narrow side of the book, {where}",
                 "repeat {a_seen} there in small|draw it anew with {a_seen}|it, too, changes to {a_seen}",
                 "the vignette is cut from the old artwork with {b_seen}|on a shelf it would still promise {old}|it is taken from the setting of {old}",
                 "a miniature quotes the former artwork|the narrow side keeps the former setting otherwise|an emblem stands for the setting that was given up"),
        ],
        edges=[edge("art", "spine", "same motif", "spine and front use one motif|the vignette is a detail of the artwork|both show the setting of the novel")],
    )


@template("xmod_scene_forecast", nodes=(SCENE, SCENE, SCENE), edits=("place",))
def forecast(ctx: Ctx) -> Design:
    """A weather tile on a screen: place, picture, degrees, summary."""
    edit, pal, size = ctx.edit(), ctx.palette(), ctx.size("any")
    w, h = size
    sans, thin = ctx.face("sans"), ctx.rng.choice(["plain-light", "office", "narrow"])
    seed, lines = ctx.seed(), ctx.copy(ctx.distractors)
    pw, ph = w - 100, round(h * (0.48 if ctx.salient else 0.36))
    fs = fit([edit.old.text, edit.new.text], sans + "-bold", w * 0.5, 36)
    flip = ctx.chance(0.5)
    days = ctx.rng.sample(["Draft", "Layers", "Radar", "Alerts", "Saved", "About"], 4)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.rect((0, 0, w, h), mix(pal.bg, pal.accent2, 0.25))
        c.rect((30, 30, w - 30, h - 30), pal.bg, radius=22)
        py = 50 if flip else h - 116 - ph
        with c.element("pane"):
            if v["scene"]:
                c.paste(picture(v["scene"], (pw, ph), seed), (50, py))
            else:
                c.rect((50, py, 50 + pw, py + ph), pal.panel)
                for k in range(5):
                    c.arc((w / 2 - 30 - 26 * k, py + ph / 2 - 30 - 26 * k, w / 2 + 30 + 26 * k, py + ph / 2 + 30 + 26 * k) if 30 + 26 * k < ph / 2 else (w / 2 - 20, py + ph / 2 - 20, w / 2 + 20, py + ph / 2 + 20), 0, 360, pal.muted, 3)
        ty = py + ph + 50 if flip else 80
        with c.element("target"):
            c.text((60, ty), v["target"], (sans + "-bold", fs), pal.ink, anchor="lm")
        if ctx.n > 1:
            with c.element("degrees"):
                c.text((w - 60, ty + 4), v["degrees"], (thin, 62 if ctx.salient else 44), pal.accent, anchor="rm")
        if ctx.n > 2:
            with c.element("summary"):
                c.text((60, ty + 42), v["summary"], (sans, 20), pal.muted, anchor="lm")
        notes(c, lines, (50, ty + 60, w - 50, py - 6 if not flip else h - 100), sans, pal.muted, 13)
        c.rect((50, h - 92, w - 50, h - 90), pal.panel)
        for k, d in enumerate(days):
            c.text((50 + (w - 100) * (k + 0.5) / 4, h - 62), d, (sans, 16), pal.ink if k == 0 else pal.muted, anchor="mm")

    def vals(scene: str) -> dict[str, str]:
        return {"scene": scene, "degrees": f"{TIPS[scene][2]}°".replace("-", "−"), "summary": TIPS[scene][3], "seen": LOOKS[scene]}

    return Design(
        size, draw, edit, before=vals(edit.old["scene"]), after=vals(edit.new["scene"]), twin={"scene": "", "degrees": "v 4.2", "summary": "No data for now"},
        target_region=["place name on the tile, {where}", "bold name, {where}", "name of the place on the screen"],
        nodes=[
            node("pane", SCENE, "backdrop of the weather tile|photo-like pane with {b_seen}|landscape pane of the app, {where}",
                 "the big pane, {where}|widest pane of the screen|the pictorial part of the tile",
                 "load a backdrop with {a_seen}|the pane needs {a_seen}|switch the backdrop from {b_seen} to {a_seen}",
                 "weather apps picture the chosen spot, and {new} has {a_seen}|{b_seen} are what {old} looks like|the backdrop goes with the spot that is looked up",
                 "the backdrop portrays the spot selected before|an app pictures the spot it reports on|backdrop and selection would come apart"),
            node("degrees", SCENE, "temperature on the tile, {where}|big degree figure|reading in degrees, {where}",
                 "large thin figure, {where}|the largest figure on the screen|an entry opposite the name",
                 "a reading like {a_degrees} instead of {b_degrees}|make it plausible, say {a_degrees}|{b_degrees} cannot stay; about {a_degrees}",
                 "{b_degrees} is out of the question among {a_seen}|the climate of {new} is another|such a reading goes with {b_seen}",
                 "the reading is out of range for the climate now implied|another climate means another reading|it was typical of the climate given up"),
            node("summary", SCENE, "summary of conditions under the name|words “{b_summary}”, {where}|line on the conditions, {where}",
                 "grey line below the bold one|secondary line, {where}|two or three small words at the {where}",
                 "say “{a_summary}”|“{b_summary}” makes room for “{a_summary}”|conditions become “{a_summary}”",
                 "“{b_summary}” does not occur at {new}|these conditions are those of {old}|one would read “{a_summary}” for {new}",
                 "conditions named there do not occur in such an environment|the wording describes an environment that is gone|it names what one meets elsewhere"),
        ],
        edges=[edge("pane", "degrees", "agreement", "the reading is possible in the pictured landscape|snow or sun in the pane sets the range of the reading|pane and reading share one climate"),
               edge("degrees", "summary", "agreement", "words and figure describe one weather|conditions and reading must not contradict|the summary puts the reading in words")],
    )
