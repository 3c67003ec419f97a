"""Spatial templates in which the edited text stands in further places of the picture."""

from __future__ import annotations

from itertools import pairwise

from icgforge.synth.base import Ctx, Design, EdgeSpec, NodeSpec, Values, template
from icgforge.synth.canvas import Canvas
from icgforge.synth.icons import glyph
from icgforge.synth.surfaces import bent, fit, gradient, notices, plaster, shade, soft_box, steel, wood

# fmt: off


@template("repetition_product_line", nodes=("spatial_repetition",) * 3, edits=("brand", "fruit", "animal", "person"))
def product_line(ctx: Ctx) -> Design:
    """One maker's packs on a shelf: box, jar, pouch and leaflet bear the same name."""
    edit, (w, h) = ctx.edit(), ctx.size("any")
    face, body = ctx.face(ctx.rng.choice(["display", "script", "serif"])) + "-bold", ctx.face("sans")
    pal, seeds = ctx.palette(), [ctx.seed() for _ in range(4)]
    wall = ctx.rng.choice([(196, 190, 180), (160, 172, 168), (204, 178, 160), (118, 122, 134)])
    shelf = round(h * 0.78)
    icon = ctx.rng.choice(["flower", "bread", "apple", "cup", "lily", "bee"])
    order = [0.21, 0.5, 0.7, 0.885]
    if ctx.far:
        order = [0.2, 0.54, 0.73, 0.89]
    turned = ctx.chance(0.5)
    if turned:
        order = [1 - x for x in order]
    kinds = ctx.rng.sample(["jar", "pouch", "leaflet"], 3)
    others = ctx.rng.sample(["Honey drops", "Winter blend", "Oat squares", "Rose salt"], 3)
    lines = ctx.copy(1 + ctx.distractors)
    extras = lines[1:]
    big = 40 if ctx.salient else 32
    names = {"jar": "jar", "pouch": "pouch", "leaflet": "leaflet"}

    def box(c: Canvas, x: float, text: str) -> None:
        bw, bh = w * 0.36, h * 0.46
        x0, y0 = x - bw / 2, shelf - bh
        soft_box(c, (x0, y0, x0 + bw, shelf), 8, 120, 6)
        c.rect((x0, y0, x0 + bw, shelf), pal.panel)
        c.polygon([(x0, y0), (x0 + bw, y0), (x0 + bw - 12, y0 - 20), (x0 + 12, y0 - 20)], shade(pal.panel, 0.8))
        c.rect((x0, y0 + bh * 0.62, x0 + bw, shelf), pal.accent)
        c.paste(glyph(icon, 72), (x - 36, y0 + 26))
        with c.element("target"):
            c.text((x, y0 + bh * 0.45), text, (face, fit(text, face, bw - 34, big)), pal.ink, anchor="mm")
        c.text((x, y0 + bh * 0.57), lines[0], (body, fit(lines[0], body, bw - 20, 13)), pal.ink, anchor="mm")
        c.text((x, shelf - 26), others[0], (body, 18), pal.bg, anchor="mm")

    def jar(c: Canvas, x: float, text: str | None, element: str) -> None:
        r, tall = w * 0.085, h * 0.27
        y0 = shelf - tall
        soft_box(c, (x - r, y0, x + r, shelf), 6, 110, 5)
        for k in range(round(2 * r)):
            t = k / (2 * r) * 2 - 1
            c.rect((x - r + k, y0 + 14, x - r + k + 1, shelf), shade(pal.accent2, 0.75 + 0.45 * (1 - t * t)))
        c.paste(steel((round(1.8 * r), 20), seeds[2], (190, 186, 176)), (x - 0.9 * r, y0 - 4))
        label = Canvas((round(2.5 * r), round(tall * 0.52)))
        label.rect((0, 0, *label.size), pal.bg)
        label.rect((0, 4, label.size[0], 8), pal.accent)
        if text is not None:
            with label.element(element):
                label.text((label.size[0] / 2, label.size[1] * 0.5), text, (face, fit(text, face, 1.65 * r, round(big * 0.62))), pal.ink, anchor="mm")
        label.text((label.size[0] / 2, label.size[1] - 12), others[1], (body, 12), pal.muted, anchor="mm")
        skin = bent(label, r)
        c.put(skin, (x - skin.size[0] / 2, y0 + tall * 0.32))

    def pouch(c: Canvas, x: float, text: str | None, element: str) -> None:
        pw, ph = w * 0.17, h * 0.32
        x0, y0 = x - pw / 2, shelf - ph
        soft_box(c, (x0, y0, x0 + pw, shelf), 6, 110, 5)
        c.polygon([(x0 + 6, y0), (x0 + pw - 6, y0), (x0 + pw, shelf), (x0, shelf)], shade(pal.accent, 0.92))
        c.polygon([(x0 + 6, y0), (x0 + pw - 6, y0), (x0 + pw - 5, y0 + 16), (x0 + 5, y0 + 16)], shade(pal.accent, 0.7))
        c.polygon([(x0 + pw * 0.8, y0 + 16), (x0 + pw - 6, y0 + 16), (x0 + pw, shelf), (x0 + pw * 0.72, shelf)], shade(pal.accent, 0.82))
        c.ellipse((x - pw * 0.42, y0 + ph * 0.28, x + pw * 0.42, y0 + ph * 0.28 + pw * 0.84), pal.bg)
        if text is not None:
            with c.element(element):
                c.text((x, y0 + ph * 0.28 + pw * 0.42), text, (face, fit(text, face, pw * 0.72, round(big * 0.66))), pal.ink, anchor="mm")
        c.text((x, shelf - 20), others[2], (body, 13), pal.bg, anchor="mm")

    def leaflet(c: Canvas, x: float, text: str | None, element: str) -> None:
        lw, lh = w * 0.16, h * 0.22
        x0, y0 = x - lw / 2, shelf - lh
        soft_box(c, (x0, y0, x0 + lw, shelf), 4, 110, 3)
        c.polygon([(x0, y0), (x0 + lw, y0), (x0 + lw + 5, shelf), (x0 - 5, shelf)], (250, 247, 240))
        if text is not None:
            with c.element(element):
                c.text((x, y0 + 26), text, (face, fit(text, face, lw - 14, round(big * 0.62))), pal.accent if not pal.dark else (90, 60, 50), anchor="mm")
        for k in range(5):
            c.rect((x0 + 12, y0 + 50 + 13 * k, x0 + lw - 12 - 18 * (k == 4), y0 + 53 + 13 * k), (176, 170, 162))

    draws = {"jar": jar, "pouch": pouch, "leaflet": leaflet}

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(plaster((w, h), seeds[0], wall))
        for i, text in enumerate(extras):
            x, y = w * (0.05 + 0.32 * (i % 3)), h * 0.04 + 50 * (i // 3)
            c.rect((x, y, x + w * 0.28, y + 34), (242, 238, 228), radius=4)
            c.text((x + w * 0.14, y + 17), text, (body, fit(text, body, w * 0.26, 14)), (50, 46, 44), anchor="mm")
        box(c, order[0] * w, v["target"])
        for i, k in enumerate(kinds):
            shown = (v[k] if not twin else others[i]) if i < ctx.n else None
            draws[k](c, order[i + 1] * w, shown, k)
        c.paste(wood((w, h - shelf), seeds[1], (146, 106, 74), 2), (0, shelf))
        c.rect((0, shelf + 26, w, shelf + 34), (0, 0, 0, 120))

    texts = dict.fromkeys(kinds, edit.old.text)
    words = {
        "jar": (["label of the jar, {where}", "jar beside the box, {where}", "name on the glass jar, {where}"],
                ["the round container, {where}", "a lidded vessel on the board, {where}", "the jar, {where}"],
                ["The jar's label gets “{new}” for “{old}”.", "Bend “{new}” round the jar in the label's type.", "Same maker, same name: the jar reads “{new}”."],
                ["Jar and box come from one maker and are signed with the same name.", "The name on the box is printed on the jar a second time.", "All packs of this line are branded alike, the jar too."],
                ["The same words are printed on a companion.", "A companion from the same source bears what was altered.", "It is signed like the altered one."]),
        "pouch": (["white disc on the pouch, {where}", "pouch on the shelf, {where}", "name on the paper bag, {where}"],
                  ["the bag on the board, {where}", "a soft pack, {where}", "the round field on the bag, {where}"],
                  ["In the disc of the pouch, “{old}” makes room for “{new}”.", "Reprint the pouch with “{new}”.", "The bag is to say “{new}” like the box."],
                  ["The pouch belongs to the same range and shows the range's name.", "One name runs through the range, bag included.", "Bag and box are sold under one name."],
                  ["It belongs to one family with the altered thing and is named alike.", "One name runs through the whole group.", "What was altered is also read here."]),
        "leaflet": (["heading of the leaflet, {where}", "folded card beside the packs, {where}", "leaflet's top line, {where}"],
                    ["the folded paper, {where}", "the printed sheet on the board, {where}", "top of the small card, {where}"],
                    ["Head the leaflet with “{new}”.", "The folded card opens with “{new}” from now on, not with “{old}”.", "Correct the leaflet's heading to “{new}”."],
                    ["The leaflet advertises these packs under their common name.", "Its heading quotes the name on the box.", "The card is about the same maker and names it."],
                    ["It talks about the altered thing and calls it by the former words.", "A printed companion quotes the altered words.", "The heading cites what was altered."]),
    }  # fmt: skip
    return Design(
        (w, h), draw, edit, before=texts, after=dict.fromkeys(texts, edit.new.text),
        target_region=["name on the big box, {where}", "print on the front of the carton, {where}", "brand line of the box, {where}"],
        nodes=[NodeSpec(k, "spatial_repetition", *words[names[k]]) for k in kinds],
        edges=[EdgeSpec(a, b, "same text", [f"{a.capitalize()} and {b} must bear one name.", f"The name on the {a} equals that on the {b}."])
               for a, b in ((kinds[0], kinds[1]), (kinds[1], kinds[2]))],
    )  # fmt: skip


@template("repetition_web_page", nodes=("spatial_repetition",) * 3, edits=("label", "brand", "city", "dish", "price"))
def web_page(ctx: Ctx) -> Design:
    """A web page whose headline turns up again in the path, on a button and in the footer."""
    edit, pal = ctx.edit(), ctx.palette()
    w, h = ctx.size("any")
    face, body = ctx.face("sans"), ctx.face("sans")
    head = ctx.face(ctx.rng.choice(["sans", "serif", "slab"])) + "-bold"
    most = 46 if ctx.salient else 34
    first, *lines = ctx.copy(3 + ctx.distractors)
    extras = lines[2:]
    image_seed, icon = ctx.seed(), ctx.rng.choice(["cup", "book", "tower", "bicycle", "flower", "cutlery"])
    keys = ["path", "button", "footer"] if ctx.far else ["button", "path", "footer"]
    swap = {"path": "Welcome", "button": "More", "footer": "All pages"}
    side = ctx.chance(0.5)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.rect((0, 0, w, h), pal.bg)
        c.rect((0, 0, w, 34), (222, 224, 228))
        for i, tone in enumerate(((232, 98, 88), (236, 188, 72), (104, 190, 96))):
            c.ellipse((14 + 20 * i, 11, 26 + 20 * i, 23), tone)
        c.rect((84, 7, w - 20, 27), (248, 248, 250), radius=10)
        c.rect((100, 15, 280, 19), (190, 194, 200))
        c.rect((0, 34, w, 82), pal.panel)
        c.ellipse((24, 46, 48, 70), pal.accent)
        for i in range(4):
            c.rect((w - 90 * (i + 1), 54, w - 90 * (i + 1) + 56, 60), pal.muted)
        live = keys[: ctx.n]

        def say(key: str) -> str:
            return (swap[key] if twin else v[key]) if key in live else swap[key]

        fy = h - (92 if h > 600 else 78)
        rows, tall = (6 if h > 600 else 4), round(min(0.33 * h, fy - 300))
        left = 36
        c.text((left, 110), "Start  /  Guide  /", (body, 15), pal.muted, anchor="lm")
        x = left + c.text_size("Start  /  Guide  /  ", (body, 15))[0] + 8
        with c.element("path"):
            c.text((x, 110), say("path"), (body, 15), pal.ink, anchor="lm")
        with c.element("target"):
            c.text((left, 168), v["target"], (head, fit(v["target"], head, w - 80, most)), pal.ink, anchor="lm")
        c.text((left, 212), first, (body, 18), pal.muted, anchor="lm")
        iw = round(w * 0.4)
        ix = w - iw - 36 if side else 36
        tx = 36 if side else iw + 64
        c.paste(gradient((iw, tall), shade(pal.accent2, 0.8), shade(pal.accent2, 1.3)), (ix, 240))
        c.paste(glyph(icon, 110, image_seed), (ix + iw / 2 - 55, 240 + tall / 2 - 55))
        for k in range(rows):
            c.rect((tx, 250 + 20 * k, tx + (w - iw - 100) * (1 - 0.3 * (k % 3 == 2)), 257 + 20 * k), shade(pal.panel, 0.9))
        by = 250 + 20 * rows + (14 if h > 600 else 2)
        c.rect((tx, by, tx + w - iw - 100, by + 42), pal.accent, radius=8)
        with c.element("button"):
            text = say("button")
            c.text((tx + (w - iw - 100) / 2, by + 21), text, (face + "-bold", fit(text, face + "-bold", w - iw - 130, 17)), (255, 255, 255) if sum(pal.accent) < 520 else (30, 30, 30), anchor="mm")
        for i, text in enumerate(extras):
            c.text((36 + (i % 3) * (w - 60) / 3, fy - (52 if h > 600 else 30) + (22 if h > 600 else 17) * (i // 3)), text, (body, fit(text, body, (w - 100) / 3, 13)), pal.muted, anchor="lm")
        c.rect((0, fy, w, h), pal.panel if pal.dark else pal.ink)
        tone = pal.ink if pal.dark else (236, 234, 228)
        c.text((36, fy + 30), lines[0], (body, 14), tone, anchor="lm")
        with c.element("footer"):
            c.text((36, fy + 60), say("footer"), (body + "-bold", 15), tone, anchor="lm")
        c.text((w - 36, fy + 60), lines[1], (body, 13), tone, anchor="rm")

    words = {
        "path": (["page path over the headline, {where}", "last step of the breadcrumb, {where}", "small path text “Start / Guide /”, {where}"],
                 ["the small text under the menu, {where}", "the thin line of links, {where}", "the row above the large line, {where}"],
                 ["The last step of the path is called “{new}”.", "Let the path end in “{new}” rather than “{old}”.", "Retitle the breadcrumb's end “{new}”."],
                 ["The path names the open page, and the headline is its title.", "Breadcrumb and headline use one title.", "The page is listed in the path by its headline."],
                 ["A navigation aid repeats the title of what is open.", "It is called by the same title.", "One title is used for the page and for the way to it."]),
        "button": (["coloured button beside the picture, {where}", "button label, {where}", "call to action on the page, {where}"],
                   ["the coloured bar, {where}", "a clickable element, {where}", "the filled rectangle next to the picture, {where}"],
                   ["Label the button “{new}”.", "The button says “{new}” too, in white or dark as before.", "Its caption goes from “{old}” to “{new}”."],
                   ["The button carries the headline's words.", "What the headline announces is repeated on the button.", "Button and headline read alike on purpose."],
                   ["The words are repeated as a caption.", "It takes its caption from the altered words.", "The altered words are found a second time, on a control."]),
        "footer": (["bold line in the footer, {where}", "foot of the page, {where}", "footer entry, {where}"],
                   ["the band at the end of the page, {where}", "a line at the end of the page, {where}", "the dark or light strip, {where}"],
                   ["Down in the footer, put “{new}”.", "The footer's bold entry becomes “{new}” as well.", "No “{old}” may survive at the foot; it is “{new}” there."],
                   ["The footer closes with the title of the page.", "At the foot the headline is quoted again.", "The same title signs off the page."],
                   ["The end of the document quotes the title again.", "The closing part has the same words.", "What was altered is quoted once more at the end."]),
    }  # fmt: skip
    texts = dict.fromkeys(keys, edit.old.text)
    return Design(
        (w, h), draw, edit, before=texts, after=dict.fromkeys(texts, edit.new.text),
        target_region=["headline of the page, {where}", "large title on the web page, {where}", "page heading, {where}"],
        nodes=[NodeSpec(k, "spatial_repetition", *words[k]) for k in keys],
        edges=[EdgeSpec(a, b, "same text", [f"{a.capitalize()} and {b} show one title.", f"The {b} reads what the {a} reads."]) for a, b in pairwise(keys)],
    )  # fmt: skip


@template("repetition_platform", nodes=("spatial_repetition",) * 3, edits=("city", "place", "word", "brand"))
def platform(ctx: Ctx) -> Design:
    """A station platform: the board's text again on a pillar, on the train and on the route strip."""
    edit, (w, h) = ctx.edit(), ctx.size("wide")
    face, body = ctx.face(ctx.rng.choice(["sans", "condensed"])) + "-bold", ctx.face("sans")
    script = ctx.rng.choice(["latin", "cjk", "greek", "cyrillic"])
    under = {"latin": ctx.rng.choice(["Change here for trams", "Way out on the left"]), "cjk": "出口は左側", "greek": "Έξοδος αριστερά", "cyrillic": "Выход налево"}[script]
    uface = "gothic" if script == "cjk" else ctx.face("sans", script)
    if script == "cjk":
        ctx.scripts.add("cjk")
    board = ctx.rng.choice([(24, 62, 120), (28, 98, 76), (150, 34, 40), (40, 40, 46), (240, 238, 230)])
    ink = (255, 255, 255) if sum(board) < 500 else (30, 34, 40)
    wall, train = ctx.rng.choice([(206, 208, 204), (190, 198, 206), (208, 196, 176)]), ctx.rng.choice([(214, 214, 216), (200, 60, 50), (240, 190, 60), (60, 110, 150)])
    seeds, tiles = [ctx.seed() for _ in range(3)], ctx.chance(0.5)
    most = 50 if ctx.salient else 42
    bx0, bx1 = (w * 0.06, w * 0.56) if ctx.chance(0.5) else (w * 0.28, w * 0.76)
    px = bx1 + w * 0.13 if bx1 < w * 0.6 else w * 0.15
    keys = ctx.rng.sample(["pillar", "strip", "train"], 3)
    swap = {"pillar": "Platform 3", "strip": "Depot", "train": "Not in service"}
    extras = ctx.copy(ctx.distractors)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        floor = round(h * 0.8)
        c.paste(plaster((w, floor), seeds[0], wall))
        if tiles:
            for col in range(0, w, 34):
                c.line([(col, h * 0.12), (col, floor)], (0, 0, 0, 26), 1)
            for y in range(round(h * 0.12), floor, 20):
                c.line([(0, y), (w, y)], (0, 0, 0, 26), 1)
        c.rect((0, 0, w, h * 0.1), (70, 72, 78))
        for i in range(4):
            c.rect((w * (0.06 + 0.25 * i), h * 0.045, w * (0.06 + 0.25 * i) + 100, h * 0.07), (255, 250, 232))
        live = keys[: ctx.n]

        def say(key: str) -> str:
            return (swap[key] if twin else v[key]) if key in live else swap[key]

        y0 = h * 0.2
        for x in (bx0 + 40, bx1 - 40):
            c.rect((x - 3, h * 0.1, x + 3, y0), (90, 92, 96))
        soft_box(c, (bx0, y0, bx1, y0 + 96), 6, 120, 5)
        c.rect((bx0, y0, bx1, y0 + 96), board, radius=4)
        c.rect((bx0 + 5, y0 + 5, bx1 - 5, y0 + 91), None, outline=ink, width=2)
        with c.element("target"):
            c.text(((bx0 + bx1) / 2, y0 + 37), v["target"], (face, fit(v["target"], face, bx1 - bx0 - 40, most)), ink, anchor="mm")
        c.text(((bx0 + bx1) / 2, y0 + 79), under, (uface, 15), ink, anchor="mm")
        ty, th = h * 0.52, floor - h * 0.52
        c.rect((0, ty, w, floor + 4), train, radius=10)
        c.rect((0, ty + th * 0.78, w, ty + th * 0.84), shade(train, 0.6))
        for i in range(8):
            x = 14 + i * w / 7.5
            c.rect((x, ty + th * 0.2, x + w / 7.5 - 16, ty + th * 0.6), (54, 66, 76), radius=6)
        dx = w * (0.62 if px < w / 2 else 0.3)
        c.rect((dx, ty + 6, dx + w * 0.2, ty + th * 0.2 - 2 + 12), (26, 26, 28), radius=3)
        with c.element("train"):
            text = say("train")
            c.text((dx + w * 0.1, ty + 6 + (th * 0.2 + 4) / 2), text, ("code-bold", fit(text, "code-bold", w * 0.19, 17)), (255, 186, 60), anchor="mm")
        sx, sy = w * 0.05, h * 0.44
        c.rect((sx, sy - 14, sx + w * 0.9, sy + 24), (250, 250, 248))
        c.line([(sx + 30, sy - 2), (sx + w * 0.9 - 30, sy - 2)], board if sum(board) < 600 else (200, 60, 50), 4)
        for i in range(5):
            x = sx + 40 + i * (w * 0.9 - 80) / 4
            here = i == 2
            c.ellipse((x - 6, sy - 8, x + 6, sy + 4), (255, 255, 255), outline=(30, 30, 34), width=3)
            if here:
                with c.element("strip"):
                    text = say("strip")
                    c.text((x, sy + 14), text, (face, fit(text, face, w * 0.2, 15)), (20, 20, 24), anchor="mm")
            else:
                c.text((x, sy + 14), ("Mill Lane", "Old Weir", "", "Fairground", "Upper Gate")[i], (body, 13), (80, 80, 84), anchor="mm")
        c.paste(plaster((w, h - floor), seeds[1], (152, 148, 142)), (0, floor))
        c.rect((0, floor, w, floor + 9), (236, 232, 222))
        c.rect((0, floor + 22, w, floor + 32), (238, 196, 60))
        pw = w * 0.135
        c.paste(steel((round(pw), h), seeds[2], (128, 132, 138)).rotate(0), (px - pw / 2, h * 0.1))
        c.rect((px - pw / 2, h * 0.1, px - pw / 2 + 5, h), (0, 0, 0, 50))
        c.rect((px - pw / 2 + 4, h * 0.3, px + pw / 2 - 4, h * 0.3 + 40), board)
        with c.element("pillar"):
            text = say("pillar")
            c.text((px, h * 0.3 + 20), text, (face, fit(text, face, pw - 18, 19)), ink, anchor="mm")
        notices(c, extras, [(12 + (w - 10) / 6 * i, floor + 44) for i in range(6)], body, (246, 244, 238), (60, 60, 64), width=round(w / 6 - 14))

    words = {
        "pillar": (["plate on the pillar, {where}", "small sign on the steel column, {where}", "column plate, {where}"],
                   ["the column, {where}", "the upright steel part, {where}", "a plate in front, {where}"],
                   ["Letter the column plate “{new}”.", "The plate on the column matches the board again: “{new}”.", "Take “{old}” off the pillar, put “{new}” on."],
                   ["The station says on every column what the board says.", "Column plates copy the hanging board.", "Board and pillar bear the same text for waiting passengers."],
                   ["Signs of one series say the same.", "It is one more sign of the altered series.", "A smaller copy of the altered sign hangs elsewhere."]),
        "strip": (["middle stop on the route strip, {where}", "route map over the train, {where}", "third stop of the line map, {where}"],
                  ["the pale band above the windows, {where}", "a word on the long strip, {where}", "the text at the centre dot, {where}"],
                  ["On the strip the stop in the middle is “{new}”.", "Rename the third dot of the line “{new}”.", "The line map lists “{new}”, no longer “{old}”."],
                  ["The strip names the stop we are at, as the board does.", "This stop is entered on the route map with the board's wording.", "Map and board name one and the same stop."],
                  ["The altered words are an entry of the list as well.", "An overview lists the altered item under its former words.", "The same item figures in an overview."]),
        "train": (["display of the train, {where}", "amber letters on the carriage, {where}", "destination display, {where}"],
                  ["the lit panel on the vehicle, {where}", "the dark panel with dots, {where}", "a panel on the carriage, {where}"],
                  ["The display lights up “{new}” in amber.", "Switch the carriage display from “{old}” to “{new}”.", "In amber dots: “{new}”."],
                  ["The train announces what the board announces.", "Display and board are fed with the same text.", "The carriage shows the board's text to boarding passengers."],
                  ["Two announcements of one thing have to agree.", "It announces the same in another medium.", "The same message is lit up a second time."]),
    }  # fmt: skip
    texts = dict.fromkeys(keys, edit.old.text)
    return Design(
        (w, h), draw, edit, before=texts, after=dict.fromkeys(texts, edit.new.text),
        target_region=["hanging board over the platform, {where}", "large station sign, {where}", "main line of the board, {where}"],
        nodes=[NodeSpec(k, "spatial_repetition", *words[k]) for k in keys],
        edges=[EdgeSpec(a, b, "same text", [f"The {a} and the {b} give one text.", f"What the {a} says, the {b} says."]) for a, b in pairwise(keys)],
    )  # fmt: skip
