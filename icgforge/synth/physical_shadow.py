"""Physical templates in which the edited letters stop the light and throw a shadow."""

from __future__ import annotations

import math

import numpy as np

from icgforge.synth.base import Ctx, Design, EdgeSpec, NodeSpec, Values, template
from icgforge.synth.canvas import Canvas
from icgforge.synth.surfaces import (
    asphalt,
    cloud,
    fit,
    glow,
    gradient,
    line,
    notices,
    plaster,
    shade,
    soft_box,
    strokes,
    tinted,
    weave,
    wood,
)

# fmt: off


@template("shadow_gallery_wall", nodes=("physical_shadow", "physical_shadow"), edits=("word", "brand", "year", "label"))
def gallery_wall(ctx: Ctx) -> Design:
    """Raised letters on a wall under one or two spotlights; each lamp throws a shadow of them."""
    edit, (w, h) = ctx.edit(), ctx.size("wide")
    face = ctx.face(ctx.rng.choice(["slab", "sans", "display"])) + "-bold"
    wall = ctx.rng.choice([(206, 200, 188), (168, 182, 186), (196, 170, 150), (182, 186, 170), (142, 146, 156)])
    metal = ctx.rng.choice([(60, 62, 68), (164, 58, 44), (176, 134, 62), (34, 74, 92)])
    wide, most = w * 0.7, 108 if ctx.salient else 78
    size = {t: fit(t, face, wide, most) for t in (edit.old.text, edit.new.text)}
    cx, cy = w / 2, h * ctx.rng.uniform(0.4, 0.46)
    reach = (40 if ctx.far else 26, 54 if ctx.far else 38)
    dark, seeds, small = 150 if ctx.salient else 112, [ctx.seed(), ctx.seed()], ctx.face("sans")
    sides = [1, -1] if ctx.chance(0.5) else [-1, 1]
    extras = ctx.copy(ctx.distractors)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(plaster((w, h), seeds[0], wall))
        floor = round(h * 0.86)
        c.paste(wood((w, h - floor), seeds[1], (134, 98, 66), 3), (0, floor))
        c.rect((0, floor - 12, w, floor), shade(wall, 1.5))
        c.rect((0, floor, w, floor + 5), (0, 0, 0, 70))
        lamps = [] if twin else sides[: ctx.n]
        for s in lamps:
            lx = cx - s * w * 0.33
            glow(c, (lx + s * 80, cy - 20), w * 0.44, (255, 246, 220), 0.55)
            c.line([(lx, 0), (lx, 22)], (40, 40, 44), 4)
            c.polygon([(lx - 12, 20), (lx + 12, 20), (lx + s * 14 + 16, 50), (lx + s * 14 - 16, 52)], (44, 44, 48))
            c.ellipse((lx + s * 14 - 13, 45, lx + s * 14 + 13, 55), (255, 250, 226))
        for i, s in enumerate(lamps):
            text = v[f"shade{i}"]
            with c.element(f"shade{i}"):
                shape = line(text, face, size[text], (0, 0, 0), None, pad=14)
                for k, (blur, alpha) in enumerate(((1.2, dark // 2), (2.6, dark // 2))):
                    dx, dy = s * reach[0] * (0.9 + 0.2 * k), reach[1] * (0.9 + 0.2 * k)
                    c.put(tinted(shape, (24, 18, 22, alpha)), (cx - shape.size[0] / 2 + dx, cy - shape.size[1] / 2 + dy), blur=blur)
        body = line(v["target"], face, size[v["target"]], shade(metal, 0.6), None)
        front = line(v["target"], face, size[v["target"]], metal, None)
        lit = line(v["target"], face, size[v["target"]], shade(metal, 1.45), None)
        x, y = cx - body.size[0] / 2, cy - body.size[1] / 2
        with c.element("target"):
            for k in range(0 if twin else 5, -1, -1):
                c.put(body, (x, y + k))
            c.put(lit, (x, y - 1))
            c.put(front, (x, y))
        spots = [(w * (0.06 + 0.155 * i), floor - 116 + 14 * (i % 2)) for i in range(6)]
        notices(c, extras, spots, small, (244, 240, 230), (66, 62, 60), width=96)

    texts = {"shade0": edit.old.text, "shade1": edit.old.text}
    lamp = [("one lamp" if ctx.n == 1 else f"the {'left' if s > 0 else 'right'} lamp", "right" if s > 0 else "left") for s in sides]
    return Design(
        (w, h), draw, edit, before=texts, after=dict.fromkeys(texts, edit.new.text),
        target_region=["raised letters on the gallery wall, {where}", "metal lettering, {where}", "mounted word, {where}"],
        nodes=[
            NodeSpec(
                f"shade{i}", "physical_shadow",
                region=[f"shadow that {who} throws to the lower {side} of the letters, {{where}}", f"dark outline on the plaster, thrown by {who}, {{where}}",
                        f"plaster just below and {side} of the raised word, {{where}}"],
                clean=["the wall next to the mounted word, {where}", "the strip of wall around the word, {where}", "the plaster surface, {where}"],
                update=["The outline on the plaster changes from “{old}” to “{new}”, with the same offset and softness.",
                        f"Cast “{{new}}” to the lower {side}; nothing of “{{old}}” may stay on the wall.",
                        "Cut the shade to the shapes of “{new}”."],
                reason=[f"The letters stand off the wall, and {who} projects them on it.",
                        f"Light from {who} is stopped by each letter, so what is dark behind them has their shape.",
                        "Raised type under a spot leaves its own profile on the surface behind."],
                anon=["The altered shapes stop a beam, and what they stop is seen on the surface behind.",
                      "Something that stands off its ground leaves a dark profile under directed light.",
                      "The lit relief and the dark area beside it share one outline."],
            )
            for i, (who, side) in enumerate(lamp)
        ],
        edges=[EdgeSpec("shade0", "shade1", "same outline", ["Both lamps project one word, so the two outlines agree.",
                                                             "Left and right shade come from the same letters."])],
    )  # fmt: skip


@template("shadow_low_sun", nodes=("physical_shadow",), edits=("number", "word", "city", "person", "time"))
def low_sun(ctx: Ctx) -> Design:
    """Free-standing letters on a square with the sun behind: a long shadow towards the viewer."""
    edit, (w, h) = ctx.edit(), ctx.size("wide")
    face = ctx.face(ctx.rng.choice(["sans", "slab", "display"])) + "-bold"
    tint = ctx.rng.choice([(206, 60, 52), (240, 196, 60), (236, 232, 222), (40, 110, 150), (44, 46, 54)])
    ground = ctx.rng.choice([(196, 176, 142), (150, 150, 152), (168, 152, 136)])
    sky = ctx.rng.choice([((120, 160, 204), (250, 216, 168)), ((96, 120, 176), (248, 190, 160)), ((142, 188, 216), (244, 238, 214))])
    horizon, foot = round(h * 0.42), round(h * (0.6 if ctx.far else 0.56))
    wide, most = w * 0.62, 112 if ctx.salient else 84
    size = {t: fit(t, face, wide, most) for t in (edit.old.text, edit.new.text)}
    lean, cx = ctx.rng.choice([-1, 1]) * ctx.rng.uniform(0.25, 0.55), w * ctx.rng.uniform(0.45, 0.55)
    stretch, dark = ctx.rng.uniform(1.25, 1.6), 165 if ctx.salient else 120
    seeds = [ctx.seed(), ctx.seed()]
    posts = [(w * (0.05 + 0.9 * ctx.rng.random()), horizon + 12 + 5 * i) for i in range(ctx.distractors)]

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        low = shade(sky[1], 0.93) if twin else sky[1]
        c.paste(gradient((w, horizon), shade(sky[0], 0.9) if twin else sky[0], low))
        sx = cx - lean * w * 0.5
        if not twin:
            glow(c, (sx, horizon - 40), 150, (255, 250, 220), 0.95)
        far = cloud((w, 3), seeds[0], (90, 40), 3)[1]
        c.polygon([(0, horizon), *[(x, horizon - 16 - 16 * float(far[x])) for x in range(0, w, 8)], (w, horizon)], shade(sky[0], 0.55))
        c.paste(asphalt((w, h - horizon), seeds[1], ground), (0, horizon))
        joints: list[list[tuple[float, float]]] = [[(cx + k * 34, horizon), (cx + k * 150, h)] for k in range(-6, 7)]
        joints += [[(0, horizon + t * (h - horizon)), (w, horizon + t * (h - horizon))] for t in (0.06, 0.16, 0.34, 0.62)]
        strokes(c, joints, (60, 50, 40, 46), 1.5)
        for x, y in posts:
            if not twin:
                c.polygon([(x - 3, y), (x + 3, y), (x + lean * 60 + 5, y + 46), (x + lean * 60 - 3, y + 46)], (30, 24, 30, dark))
            c.rect((x - 4, y - 34, x + 4, y + 2), (70, 64, 62))
            c.ellipse((x - 6, y - 44, x + 6, y - 32), (210, 206, 196))
        if not twin:
            text = v["cast"]
            shape = line(text, face, size[text], (0, 0, 0), "cast", pad=2)
            dark_ = tinted(shape, (30, 24, 34, dark))
            bw, bh = dark_.size
            tall, spread = bh * stretch, 1.16
            mid = cx + lean * tall
            quad = [(mid - bw / 2 * spread, foot + tall), (mid + bw / 2 * spread, foot + tall), (cx + bw / 2, foot), (cx - bw / 2, foot)]
            y = np.mgrid[0:h, 0:w][0].astype(np.float32)
            soft = Canvas((w, h))
            soft.warp(dark_, quad)
            c.put(soft, blur=1.1, clip=np.clip(1.2 - 0.5 * (y - foot) / tall, 0, 1))
        body = line(v["target"], face, size[v["target"]], shade(tint, 0.5), None, pad=2)
        front = line(v["target"], face, size[v["target"]], shade(tint, 0.88), None, pad=2)
        with c.element("target"):
            for k in range(6, 0, -1):
                c.put(body, (cx - body.size[0] / 2 + k * 0.9 * (1 if lean < 0 else -1), foot - body.size[1] + 2 - k * 0.4))
            c.put(front, (cx - front.size[0] / 2, foot - front.size[1] + 2))

    return Design(
        (w, h), draw, edit, before={"cast": edit.old.text}, after={"cast": edit.new.text},
        target_region=["free-standing letters on the square, {where}", "big upright characters, {where}", "the monument-like lettering, {where}"],
        nodes=[
            NodeSpec(
                "cast", "physical_shadow",
                region=["long shadow on the paving before the letters, {where}", "paving towards the viewer, where the shade falls, {where}", "stretched dark shape at the feet of the letters, {where}"],
                clean=["the paving in the foreground, {where}", "the ground at the foot of the characters, {where}", "the floor of the square, {where}"],
                update=["Lay the stretched shape of “{new}” over the paving and remove that of “{old}”.",
                        "On the ground, “{old}” turns into a slanted, lengthened “{new}”.",
                        "Width and outline of the shade follow the characters of “{new}”."],
                reason=["With the sun low behind them the characters darken the ground in their own form.",
                        "The light comes from the back, so every character stretches out over the paving.",
                        "Evening sun draws each letter long across the square."],
                anon=["Light from behind carries the outline of the upright thing forward over the ground.",
                      "A low source lengthens whatever stands in its way, in the same shape.",
                      "The dark area begins at the base of the changed thing and repeats it, stretched."],
            )
        ],
    )  # fmt: skip


@template("shadow_sunlit_room", nodes=("physical_shadow", "physical_shadow"), edits=("word", "brand", "label", "date"))
def sunlit_room(ctx: Ctx) -> Design:
    """Lettering on a window, the sun behind it: the light on floor and bench carries the letters."""
    edit, (w, h) = ctx.edit(), ctx.size("square")
    face = ctx.face(ctx.rng.choice(["sans", "serif", "display"])) + "-bold"
    wall = ctx.rng.choice([(126, 112, 104), (98, 110, 116), (132, 122, 96), (104, 92, 110)])
    boards = ctx.rng.choice([(122, 86, 58), (96, 74, 60), (132, 112, 90)])
    seeds = [ctx.seed() for _ in range(3)]
    base, sill = round(h * 0.56), round(h * 0.43)
    x0, x1, top = w * 0.2, w * 0.8, round(h * 0.08)
    slide = ctx.rng.choice([-1, 1]) * w * ctx.rng.uniform(0.03, 0.1)
    most, ink = 62 if ctx.salient else 46, (38, 34, 40)
    glass = (round(x1 - x0), sill - top)
    extras, small, alpha = ctx.copy(ctx.distractors), ctx.face("sans"), 0.78 if ctx.salient else 0.6

    def pane(text: str, element: str, light: bool) -> Canvas:
        c = Canvas(glass)
        if light:
            c.rect((0, 0, *glass), (255, 226, 160))
            for x in (0, glass[0]):
                c.rect((x - 5, 0, x + 5, glass[1]), (70, 52, 44))
            c.rect((0, glass[1] * 0.22 - 3, glass[0], glass[1] * 0.22 + 3), (70, 52, 44))
        with c.element(element):
            c.text((glass[0] / 2, glass[1] * 0.6), text, (face, fit(text, face, glass[0] * 0.84, most)), ink, anchor="mm")
        return c

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(plaster((w, base), seeds[0], wall))
        sky = ((178, 190, 196), (206, 212, 212)) if twin else ((150, 196, 232), (250, 244, 218))
        c.paste(gradient(glass, *sky), (x0, top))
        ridge = cloud((glass[0], 3), seeds[2], (70, 40), 3)[1]
        c.polygon([(x0, sill), *[(x0 + x, sill - glass[1] * 0.18 - 12 * float(ridge[x])) for x in range(0, glass[0], 6)], (x1, sill)], (132, 152, 132))
        c.put(pane(v["target"], "target", False), (x0, top))
        frame = (236, 230, 218)
        for x in (x0 - 6, x1 - 4):
            c.rect((x, top - 8, x + 9, sill + 4), frame)
        c.rect((x0 - 6, top + glass[1] * 0.22 - 3, x1 + 5, top + glass[1] * 0.22 + 3), frame)
        c.rect((x0 - 6, top - 10, x1 + 5, top), frame)
        c.rect((x0 - 18, sill, x1 + 18, sill + 10), shade(frame, 0.92))
        c.rect((x0 - 18, sill + 10, x1 + 18, sill + 14), shade(frame, 0.6))
        c.paste(wood((w, h - base), seeds[1], boards, 6), (0, base))
        c.rect((0, base - 10, w, base), shade(wall, 0.7))
        spots = [(8 if i % 2 else w - 116, top + 6 + 76 * (i // 2)) for i in range(6)]
        notices(c, extras, spots, small, (228, 222, 208), (70, 60, 60), width=106)
        if not twin:
            gap = h * (0.12 if ctx.far else 0.05)
            near, far_ = h - 8, base + gap
            quad = [(x0 - 70 + slide * 2, near), (x1 + 70 + slide * 2, near), (x1 + 6 + slide, far_), (x0 - 6 + slide, far_)]
            c.warp(pane(v["floor"], "floor", True), quad, opacity=alpha)
        if ctx.n == 2:
            bx0, bx1, by = w * 0.34 + slide, w * 0.66 + slide, base - 4
            c.rect((bx0 + 4, by + 16, bx0 + 14, by + 60), shade(boards, 0.5))
            c.rect((bx1 - 14, by + 16, bx1 - 4, by + 60), shade(boards, 0.5))
            c.polygon([(bx0 + 14, by - 34), (bx1 - 14, by - 34), (bx1, by + 8), (bx0, by + 8)], (206, 196, 180))
            c.rect((bx0, by + 8, bx1, by + 20), (150, 140, 126))
            if not twin:
                strip = Canvas((glass[0] // 2 + 40, 64))
                strip.rect((0, 0, *strip.size), (255, 232, 172))
                with strip.element("bench"):
                    strip.text((strip.size[0] / 2, 32), v["bench"], (face, fit(v["bench"], face, strip.size[0] - 30, 50)), ink, anchor="mm")
                c.warp(strip, [(bx0 + 6, by + 5), (bx1 - 6, by + 5), (bx1 - 20, by - 30), (bx0 + 20, by - 30)], opacity=0.85)

    texts = {"floor": edit.old.text, "bench": edit.old.text}
    return Design(
        (w, h), draw, edit, before=texts, after=dict.fromkeys(texts, edit.new.text),
        target_region=["lettering on the window pane, {where}", "letters stuck to the glass, {where}", "window text above the sill, {where}"],
        nodes=[
            NodeSpec(
                "floor", "physical_shadow",
                region=["patch of sunlight on the floorboards, {where}", "bright window shape lying on the floor, {where}", "sunlit boards in front of the window, {where}"],
                clean=["the floorboards, {where}", "a bright area near the viewer, {where}", "the floor of the room, {where}"],
                update=["In the patch of sun the dark letters must spell “{new}”.",
                        "Inside the bright area, exchange the projected “{old}” for “{new}”, slanted as before.",
                        "The projection on the boards shows “{new}”, upside down from where we stand."],
                reason=["Sun passes the pane but not the letters on it, so the boards receive a dark copy.",
                        "The vinyl on the glass blocks the sun that lands on the floor.",
                        "Floor and glass are joined by the sunbeams: where a letter is, light is missing below."],
                anon=["Rays pass around the opaque marks and land further on with the same gaps.",
                      "What covers the opening is missing from the light that comes through it.",
                      "The beam carries a dark copy of anything opaque in its way."],
            ),
            NodeSpec(
                "bench", "physical_shadow",
                region=["bench top under the window, {where}", "light seat below the sill with dark letters, {where}", "sunlit bench against the wall, {where}"],
                clean=["the piece of furniture under the sill, {where}", "the seat by the wall, {where}", "the flat top near the wall, {where}"],
                update=["On the bench the shade reads “{new}” from now on.",
                        "The seat loses the dark “{old}” and receives “{new}”.",
                        "Replace the shape of “{old}” that falls on the bench by that of “{new}”."],
                reason=["The bench stands in the same sunbeam and catches the window letters as well.",
                        "Part of the sun lands on the seat, with the gaps that the lettering leaves.",
                        "Sunlight through the lettered pane also reaches the bench."],
                anon=["A second surface lies in the same beam and gets the same dark marks.",
                      "The beam meets another object on its way, which shows what was blocked.",
                      "Whatever stands in the lit area receives the outline of the opaque parts."],
            ),
        ],
        edges=[EdgeSpec("floor", "bench", "same outline", ["Floor and bench receive one beam and show one word.",
                                                           "The letters on the seat match those on the boards."])],
    )  # fmt: skip


@template("shadow_cut_paper", nodes=("physical_shadow",), edits=("percent", "month", "animal", "weekday"), max_distractors=5)  # fmt: skip
def cut_paper(ctx: Ctx) -> Design:
    """A photographed paper collage: cut-out letters float over the card and darken it."""
    edit, pal = ctx.edit(), ctx.palette(dark=False)
    w, h = ctx.size("any")
    face, body = ctx.face("display") + "-bold", ctx.face("sans")
    seeds = [ctx.seed() for _ in range(2)]
    most = 104 if ctx.salient else 74
    size = {t: fit(t, face, w * 0.72, most) for t in (edit.old.text, edit.new.text)}
    angle = ctx.rng.uniform(25, 65)
    gap = 17 if ctx.far else 10
    dx, dy = gap * math.cos(math.radians(angle)), gap * math.sin(math.radians(angle))
    cy, extras = h * ctx.rng.uniform(0.34, 0.4), ctx.copy(ctx.distractors)
    dots = [(ctx.rng.choice([ctx.rng.uniform(0.05, 0.24), ctx.rng.uniform(0.76, 0.95)]) * w, ctx.rng.uniform(0.5, 0.78) * h,
             ctx.rng.uniform(8, 20), ctx.rng.choice([pal.accent2, pal.muted, pal.panel])) for _ in range(8)]  # fmt: skip
    sun = (ctx.rng.choice([0.16, 0.84]) * w, h * 0.14)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(weave((w, h), seeds[0], pal.bg))
        for k, (x, tone) in enumerate(((sun[0], shade(pal.accent, 1.35)), (w - sun[0], pal.panel))):
            r = (0.085 if k == 0 else 0.05) * (w + h) / 2
            bits = [(x, sun[1], r)] if k == 0 else [(x - r, sun[1] + 8, r * 0.8), (x, sun[1], r), (x + r, sun[1] + 8, r * 0.75)]
            for step in ("shade", "paper"):
                for bx, by, br in bits:
                    if step == "paper":
                        c.ellipse((bx - br, by - br, bx + br, by + br), tone)
                    elif not twin:
                        c.ellipse((bx - br + dx / 2, by - br + dy / 2, bx + br + dx / 2, by + br + dy / 2), (0, 0, 0, 60))
        back = [(x, h * 0.74 + 20 * math.sin(x / w * 7 + 3)) for x in range(-10, w + 20, 10)]
        if not twin:
            c.polygon([*[(x + dx, y - 6 + dy * 0.4) for x, y in back], (w + 20, h), (-10, h)], (0, 0, 0, 60))
        c.polygon([*back, (w + 20, h + 4), (-10, h + 4)], shade(pal.accent2, 1.45))
        hill = [(x, h * 0.84 + 16 * math.sin(x / w * 5 + 1)) for x in range(-10, w + 20, 10)]
        if not twin:
            c.polygon([*[(x + dx, y - 6 + dy * 0.4) for x, y in hill], (w + 20, h), (-10, h)], (0, 0, 0, 60))
        c.polygon([*hill, (w + 20, h + 4), (-10, h + 4)], pal.accent2)
        for x, y, r, tone in dots:
            if not twin:
                c.ellipse((x - r + dx / 2, y - r + dy / 2, x + r + dx / 2, y + r + dy / 2), (0, 0, 0, 60))
            c.ellipse((x - r, y - r, x + r, y + r), tone)
        if not twin:
            shape = line(v["under"], face, size[v["under"]], (0, 0, 0), None, pad=12)
            with c.element("under"):
                c.put(tinted(shape, (20, 14, 20, 150 if ctx.salient else 110)), (w / 2 - shape.size[0] / 2 + dx, cy - shape.size[1] / 2 + dy), blur=2.4)
        front = line(v["target"], face, size[v["target"]], pal.accent, "target")
        rim = line(v["target"], face, size[v["target"]], shade(pal.accent, 1.35), None)
        c.put(rim, (w / 2 - rim.size[0] / 2 - 1, cy - rim.size[1] / 2 - 1))
        c.put(front, (w / 2 - front.size[0] / 2, cy - front.size[1] / 2))
        for i, text in enumerate(extras):
            c.text((w / 2, cy + most * 0.72 + 22 + 18 * i), text, (body, 14), pal.ink, anchor="mm")
        soft_box(c, (0, h - 6, w, h + 4), 4, 60, 0)

    return Design(
        (w, h), draw, edit, before={"under": edit.old.text}, after={"under": edit.new.text},
        target_region=["cut-out letters on the card, {where}", "paper headline, {where}", "pasted word, {where}"],
        nodes=[
            NodeSpec(
                "under", "physical_shadow",
                region=["card right beneath the paper letters, {where}", "drop of shade beside each cut-out letter, {where}", "grey rim along the paper headline, {where}"],
                clean=["the card around the headline, {where}", "background of the main line, {where}", "the sheet beside the large line, {where}"],
                update=["The soft grey form must be cut like “{new}” too.",
                        "Shift the shading from the edges of “{old}” to those of “{new}”.",
                        "Give “{new}” its own drop of shade and clear the one of “{old}”."],
                reason=["The letters are paper that lies a little above the card, lit from one side.",
                        "Each snippet hovers over the sheet and darkens it along its edge.",
                        "Layered paper shades the layer below in the form of the cut."],
                anon=["A layer that lies higher darkens the one below it along its own edge.",
                      "Side light and a small gap between layers make a dark rim of the same form.",
                      "The cut edge and its dark companion always have one form."],
            )
        ],
    )  # fmt: skip
