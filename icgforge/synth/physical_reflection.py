"""Physical templates in which a wet, calm or polished surface throws back the edited text."""

from __future__ import annotations

import numpy as np
from PIL import Image

from icgforge.synth.base import Ctx, Design, EdgeSpec, NodeSpec, Values, template
from icgforge.synth.canvas import Canvas
from icgforge.synth.scenery import picture
from icgforge.synth.surfaces import (
    asphalt,
    bent,
    brick,
    cloud,
    fit,
    glow,
    gradient,
    line,
    notices,
    rippled,
    shade,
    soft_box,
    steel,
    tinted,
    water,
    wood,
)

# fmt: off

NEON = ((255, 74, 120), (70, 210, 255), (255, 176, 58), (120, 255, 150), (214, 130, 255))


def neon(text: str, face: str, size: int, color: tuple[int, int, int], element: str) -> Canvas:
    """Return a word of glowing tubes on a transparent canvas."""
    base = line(text, face, size, color, None, pad=24)
    core = line(text, face, size, shade(color, 1.72), None, pad=24)
    out = Canvas(base.size)
    with out.element(element):
        out.put(tinted(base, color), blur=8, opacity=0.9)
        out.put(tinted(base, color), blur=2.5)
        out.put(core)
    return out


def puddle(size: tuple[int, int], box: tuple[float, float, float, float], seed: int) -> np.ndarray:
    """Return the cover (0 to 1, height x width) of an irregular puddle in a box."""
    w, h = size
    y, x = np.mgrid[0:h, 0:w].astype(np.float32)
    cx, cy, rx, ry = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2, (box[2] - box[0]) / 2, (box[3] - box[1]) / 2
    r = ((x - cx) / rx) ** 4 + ((y - cy) / ry) ** 2 + 0.3 * cloud(size, seed, (110, 26), 2)
    return np.clip((1 - r) * 8, 0, 1)


def _sheet(cover: np.ndarray, color: tuple[int, int, int], alpha: float) -> Image.Image:
    px = np.empty((*cover.shape, 4), np.uint8)
    px[..., :3] = color
    px[..., 3] = np.rint(cover * 255 * alpha)
    return Image.fromarray(px)


@template("reflection_wet_street", nodes=("physical_reflection", "physical_reflection"),
          edits=("word", "brand", "city", "number"), max_distractors=4)  # fmt: skip
def wet_street(ctx: Ctx) -> Design:
    """A neon word on a brick front at night; puddles in the road spell it again, upside down."""
    edit, (w, h) = ctx.edit(), ctx.size("wide")
    face = ctx.face(ctx.rng.choice(["script", "display", "sans"])) + "-bold"
    color, tone = ctx.rng.choice(NEON), ctx.rng.choice([(92, 58, 52), (70, 64, 74), (84, 70, 56), (58, 66, 74)])
    ground = round(h * 0.55)
    rise = round(h * (0.33 if ctx.far else 0.25))
    wide = w * (0.6 if ctx.salient else 0.46)
    cx = w * ctx.rng.uniform(0.46, 0.54)
    top = 84 if ctx.salient else 64
    size = {t: fit(t, face, wide, top) for t in (edit.old.text, edit.new.text)}
    seeds, strength = [ctx.seed() for _ in range(5)], 0.8 if ctx.salient else 0.6
    extras, small = ctx.copy(ctx.distractors), ctx.face("sans")
    window_left = ctx.chance(0.5)

    def word(text: str, element: str) -> Canvas:
        return neon(text, face, size[text], color, element)

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(brick((w, ground), seeds[0], shade(tone, 0.62), 20))
        c.rect((0, 0, w, ground), (6, 8, 22, 120))
        c.rect((0, ground - 16, w, ground), shade(tone, 0.3))
        for side in (0.03, 0.84):
            x0 = side * w
            lit = (side < 0.5) == window_left
            c.rect((x0, ground - 150, x0 + 0.13 * w, ground - 16), (24, 24, 30))
            c.paste(gradient((round(0.13 * w) - 10, 118), (250, 208, 128) if lit else (40, 48, 66), (190, 120, 60) if lit else (22, 26, 38)), (x0 + 5, ground - 143))
            c.rect((x0 + 0.062 * w, ground - 143, x0 + 0.068 * w, ground - 25), (24, 24, 30))
        glow(c, (cx, ground - rise), wide * 0.75, color, 0.34)
        spots = [(w * x, ground - 78) for x in (0.19, 0.33, 0.53, 0.67)]
        notices(c, extras, spots, small, (150, 146, 136), (40, 40, 46), width=round(0.128 * w))
        c.paste(asphalt((w, h - ground), seeds[1], (44, 46, 54)), (0, ground))
        c.paste(gradient((w, 26), (14, 14, 18), (40, 42, 50)).convert("RGBA"), (0, ground))
        glow(c, (cx, ground + rise), wide * 0.62, color, 0.16)
        t = word(v["target"], "target")
        c.put(t, (cx - t.size[0] / 2, ground - rise - t.size[1] / 2))
        if twin:
            return
        y0, y1 = ground + rise - 62, ground + rise + 62
        half = wide / 2 + 40
        boxes = [(cx - half, y0, cx + half, y1)]
        if ctx.n == 2:
            boxes = [(cx - half - 20, y0 - 6, cx - 14, y1 - 8), (cx + 14, y0 + 4, cx + half + 20, y1 + 6)]
        for i, box in enumerate(boxes):
            cover = puddle((w, h), box, seeds[2 + i])
            c.paste(_sheet(cover, (22, 26, 40), 0.82))
            image = word(v[f"pool{i}"], f"pool{i}")
            flipped = image.layer()
            flipped.put(image, flip="v")
            flipped = rippled(flipped, 2.4, 17, seeds[4])
            c.put(flipped, (cx - image.size[0] / 2, ground + rise - image.size[1] / 2), opacity=strength, blur=1.1, clip=cover)

    first, side = ("left puddle", "right puddle") if ctx.n == 2 else ("puddle", "puddle")
    texts = {"pool0": edit.old.text, "pool1": edit.old.text}
    return Design(
        (w, h), draw, edit, before=texts, after=dict.fromkeys(texts, edit.new.text),
        target_region=["neon tubes on the brick front, {where}", "lit word above the pavement, {where}", "glowing sign on the wall, {where}"],
        nodes=[
            NodeSpec(
                f"pool{i}", "physical_reflection",
                region=[f"{name} in the road under the neon sign, {{where}}", f"wet patch of asphalt ({name}) below the lit front, {{where}}",
                        f"shine on the {name} in front of the shop, {{where}}"],
                clean=["a patch of the road surface, {where}", "part of the street in the foreground, {where}", "the ground before the building, {where}"],
                update=[f"The {name} must show “{{new}}” upside down in the tube colour, no longer “{{old}}”.",
                        f"Redraw the glow in the {name} as the head-down image of “{{new}}”, rippled like before.",
                        f"Letters of “{{old}}” in the {name} give way to the flipped letters of “{{new}}”."],
                reason=["The street is wet after rain, so the light of the tubes comes back from it in the form of the letters.",
                        "Standing water works as a level mirror for the lit word above it.",
                        "What glows on the wall glows again in the water at its foot, hence the old spelling would linger there."],
                anon=["A wet surface throws back the light of the edited element, so its image has to follow.",
                      "Water lies level and mirrors whatever shines above it, including the part that was changed.",
                      "Light from the altered element returns from a smooth surface in the same shape."],
            )
            for i, name in enumerate((first, side))
        ],
        edges=[EdgeSpec("pool0", "pool1", "same source", ["Both puddles hold parts of one reflection and must fit together.",
                                                          "The two wet patches show one mirrored word, cut by the dry strip between them."])],
    )  # fmt: skip


@template("reflection_boat", nodes=("physical_reflection",), edits=("brand", "person", "year", "city"))
def boat(ctx: Ctx) -> Design:
    """A boat with its name on the hull on calm water, which shows the name upside down."""
    edit, (w, h) = ctx.edit(), ctx.size("wide")
    face = ctx.face(ctx.rng.choice(["slab", "serif", "sans", "script"])) + "-bold"
    hull = ctx.rng.choice([(178, 46, 44), (28, 74, 118), (24, 104, 88), (232, 228, 216), (52, 56, 64)])
    ink = (34, 40, 52) if sum(hull) > 520 else (248, 244, 232)
    sea, sky = ctx.rng.choice([((28, 78, 98), (196, 222, 232)), ((40, 66, 104), (240, 214, 190)), ((44, 92, 96), (218, 230, 222))])
    shore, stripe = round(h * 0.3), ctx.rng.choice([(250, 246, 236), (240, 190, 70), (214, 74, 60)])
    waterline = round(h * (0.6 if ctx.far else 0.57))
    length = w * ctx.rng.uniform(0.68, 0.78)
    x0 = (w - length) * ctx.rng.uniform(0.35, 0.65)
    most = 46 if ctx.salient else 34
    strength = 0.8 if ctx.salient else 0.62
    lift = 62 if ctx.far else 44
    seeds = [ctx.seed() for _ in range(3)]
    buoys = [(ctx.rng.uniform(0.04, 0.94) * w, h - 40 - 14 * i, ctx.rng.choice([(226, 92, 40), (240, 200, 60)])) for i in range(ctx.distractors)]

    def vessel(text: str, element: str) -> Canvas:
        c = Canvas((w, waterline))
        top = waterline - lift - 58
        for mast, height in ((x0 + 0.36 * length, 150),):
            c.line([(mast, top + 10), (mast, max(8, top - height))], (92, 70, 52), 6)
            c.line([(mast, max(14, top - height + 8)), (x0 + 0.9 * length, top + 6)], (70, 60, 54), 1.4)
        c.rect((x0 + 0.4 * length, top - 54, x0 + 0.68 * length, top + 8), (244, 240, 230), radius=5)
        for i in range(3):
            xw = x0 + (0.43 + 0.083 * i) * length
            c.rect((xw, top - 42, xw + 0.058 * length, top - 16), (66, 92, 110), radius=3)
        c.polygon([(x0, top - 6), (x0 + length, top - 18), (x0 + length * 0.93, waterline), (x0 + length * 0.08, waterline)], hull)
        c.polygon([(x0, top - 6), (x0 + length, top - 18), (x0 + length - 4, top - 6), (x0 + 3, top + 6)], stripe)
        c.polygon([(x0 + length * 0.063, waterline - 18), (x0 + length * 0.944, waterline - 18), (x0 + length * 0.93, waterline), (x0 + length * 0.08, waterline)], shade(hull, 0.55))
        with c.element(element):
            c.text((x0 + length / 2, (top + waterline - 14) / 2), text, (face, fit(text, face, length * 0.72, most)), ink, anchor="mm")
        return c

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(gradient((w, shore + 30), shade(sky, 0.82), sky))
        y = np.mgrid[0:h, 0:w][0].astype(np.float32)
        hills = cloud((w, 3), seeds[0], (150, 40), 3)[1]
        for k, tone in ((0, 0.74), (1, 0.6)):
            c.paste(_sheet((y > shore - 26 + 14 * k - np.roll(hills, 190 * k) * (34 - 12 * k)).astype(np.float32), shade(sky, tone), 1.0))
        c.paste(water((w, h - shore - 20), seeds[1], shade(sea, 0.8), shade(sea, 1.3)), (0, shore + 20))
        boat_ = vessel(v["target"], "target")
        if not twin:
            image = vessel(v["water"], "water")
            flipped = image.layer()
            flipped.put(image, flip="v")
            under = Canvas((w, h - waterline))
            under.put(rippled(flipped, 3.2, 21, seeds[2]))
            fade = np.clip((y - waterline) / 3, 0, 1) * np.clip(1.15 - (y - waterline) / (0.75 * h), 0.2, 1)
            c.put(under, (0, waterline), opacity=strength, blur=0.9, clip=fade)
        c.put(boat_)
        for i in range(7):
            xw = x0 + length * (0.08 + 0.13 * i)
            c.rect((xw, waterline - 1, xw + length * 0.09, waterline + 1), (255, 255, 255, 70))
        for bx, by, paint in buoys:
            c.ellipse((bx - 13, by + 6, bx + 13, by + 16), (*shade(sea, 0.5), 190))
            c.ellipse((bx - 11, by - 12, bx + 11, by + 11), paint)
            c.rect((bx - 11, by - 3, bx + 11, by + 2), (250, 248, 240))

    return Design(
        (w, h), draw, edit, before={"water": edit.old.text}, after={"water": edit.new.text},
        target_region=["name painted on the hull, {where}", "lettering along the side of the boat, {where}", "boat's name, {where}"],
        nodes=[
            NodeSpec(
                "water", "physical_reflection",
                region=["surface of the bay just below the boat, {where}", "water under the hull, {where}", "upside-down hull in the calm water, {where}"],
                clean=["the area beneath the vessel, {where}", "the foreground under the main object, {where}", "the lower part of the scene, {where}"],
                update=["Paint “{new}” head down and wavy into the water where “{old}” floats now.",
                        "The inverted lettering between the ripples turns from “{old}” to “{new}”.",
                        "In the reflected hull, exchange the name: “{new}”, flipped top to bottom and broken by the waves."],
                reason=["The bay is calm enough to return the whole side of the boat, its name included.",
                        "Anything written on a hull at rest is seen a second time beneath the waterline.",
                        "Still water under the boat carries an inverted view of its side."],
                anon=["A calm liquid repeats what floats on it, turned over, so the repeated image changes too.",
                      "Beneath a floating thing an inverted view of it is visible; that view includes the altered part.",
                      "The surface below is smooth enough to give back everything above it."],
            )
        ],
    )  # fmt: skip


@template("reflection_polished_table", nodes=("physical_reflection", "physical_reflection"),
          edits=("price", "word", "label", "percent", "person"))  # fmt: skip
def polished_table(ctx: Ctx) -> Design:
    """An acrylic sign on a lacquered table, beside a chrome pot: both give the text back."""
    edit, (w, h) = ctx.edit(), ctx.size("any")
    face = ctx.face(ctx.rng.choice(["sans", "serif", "display"])) + "-bold"
    pal, small = ctx.palette(), ctx.face("serif")
    edge = round(h * ctx.rng.uniform(0.56, 0.6))
    pot_left = ctx.chance(0.5)
    sw, sh = w * 0.5, h * (0.24 if ctx.salient else 0.2)
    sx = w * (0.4 if pot_left else 0.1)
    sy = edge + 18 - sh - (26 if ctx.far else 8)
    most = 76 if ctx.salient else 54
    size = {t: fit(t, face, sw - 50, most) for t in (edit.old.text, edit.new.text)}
    wall, table = ctx.rng.choice([((196, 186, 170), (38, 28, 26)), ((120, 134, 138), (26, 30, 38)), ((214, 204, 206), (58, 26, 28)), ((94, 92, 104), (20, 22, 24))])
    seeds, note = [ctx.seed() for _ in range(4)], ctx.copy(1)[0]
    view = ctx.rng.choice(["beach", "snow", "desert", "forest", "harbour", "farm"])
    beads = [(ctx.rng.uniform(0.05, 0.95) * w, h - 22 - 9 * (i % 3), ctx.rng.choice([pal.accent, pal.accent2])) for i in range(ctx.distractors)]

    def block(text: str, element: str) -> Canvas:
        c = Canvas((round(sw) + 8, round(sh) + 8))
        c.rect((4, 4, sw + 4, sh + 4), shade(pal.panel, 0.78), radius=6)
        c.rect((8, 8, sw, sh), pal.panel, radius=4)
        c.rect((8, 8, sw, 12), shade(pal.panel, 1.5), radius=2)
        with c.element(element):
            c.text((sw / 2 + 4, sh * 0.46), text, (face, size[text]), pal.ink, anchor="mm")
        c.text((sw / 2 + 4, sh - 10), note, (small, 15), pal.accent, anchor="mb")
        return c

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(gradient((w, edge), shade(wall, 0.86), shade(wall, 1.08)))
        if ctx.distractors % 2:
            c.paste(wood((w, edge), seeds[0], shade(wall, 0.8), 4))
        c.paste(wood((w, h - edge), seeds[1], shade(table, 1.25)) if twin else gradient((w, h - edge), shade(table, 1.35), shade(table, 0.8)), (0, edge))
        fx, fw, fh = (0.46 if pot_left else 0.16) * w, round(w * 0.36), round(h * 0.19)
        soft_box(c, (fx, h * 0.08, fx + fw, h * 0.08 + fh), 5, 120, 4)
        c.rect((fx, h * 0.08, fx + fw, h * 0.08 + fh), shade(table, 1.1))
        c.rect((fx + 7, h * 0.08 + 7, fx + fw - 7, h * 0.08 + fh - 7), (240, 236, 228))
        c.paste(picture(view, (fw - 40, fh - 40), seeds[3]), (fx + 20, h * 0.08 + 20))
        foot = sy + sh
        px, pw, pt = (w * 0.1 if pot_left else w * 0.7), w * 0.2, edge - h * 0.3
        base = edge + h * 0.13
        if not twin:
            image = block(v["table"], "table")
            y = np.mgrid[0:h, 0:w][0].astype(np.float32)
            fade = np.clip(1.05 - (y - foot) / (1.35 * sh), 0.12, 1) * np.clip(y - edge, 0, 1)
            c.put(image, (sx - 4, foot - 6), flip="v", opacity=0.62 if ctx.salient else 0.46, blur=0.7, clip=fade)
        soft_box(c, (sx + 6, foot - 4, sx + sw - 6, foot + 3), 3, 150, 2)
        c.put(block(v["target"], "target"), (sx - 4, sy - 4))
        soft_box(c, (px + 6, base - 6, px + pw - 6, base + 3), 4, 170, 2)
        _pot(c, (px, pt, px + pw, base), wall, table, seeds[2], chrome=not twin and ctx.n == 2, spout=-1 if not pot_left else 1)
        if not twin and ctx.n == 2:
            plate = Canvas((round(sw * 0.72), round(sh * 0.86)))
            plate.rect((0, 0, *plate.size), shade(pal.panel, 0.92), radius=4)
            with plate.element("pot"):
                text = v["pot"]
                plate.text((plate.size[0] / 2, plate.size[1] / 2), text, (face, fit(text, face, sw * 0.62, round(most * 0.8))), pal.ink, anchor="mm")
            squeezed = Canvas((round(pw * 0.62), plate.size[1]))
            squeezed.warp(plate, [(squeezed.size[0], 0), (0, 0), (0, squeezed.size[1]), (squeezed.size[0], squeezed.size[1])])
            curved = bent(squeezed, pw * 0.42, 5)
            c.put(curved, (px + pw / 2 - curved.size[0] / 2 + (0.05 if pot_left else -0.05) * pw, pt + (base - pt) * 0.4), opacity=0.8)
        for bx, by, tone in beads:
            c.ellipse((bx - 12, by - 4, bx + 14, by + 7), (0, 0, 0, 90))
            c.ellipse((bx - 9, by - 13, bx + 9, by + 5), tone)
            c.ellipse((bx - 5, by - 10, bx, by - 5), shade(tone, 1.6))

    texts = {"table": edit.old.text, "pot": edit.old.text}
    return Design(
        (w, h), draw, edit, before=texts, after=dict.fromkeys(texts, edit.new.text),
        target_region=["big line on the table sign, {where}", "lettering of the upright sign, {where}", "main text of the stand, {where}"],
        nodes=[
            NodeSpec(
                "table", "physical_reflection",
                region=["lacquered table top before the sign, {where}", "glossy board at the foot of the stand, {where}", "dark table under the upright sign, {where}"],
                clean=["the tabletop, {where}", "the surface in front of the stand, {where}", "the area directly under the panel, {where}"],
                update=["Under the stand, “{new}” has to appear flipped in place of the flipped “{old}”.",
                        "Make the fading inverted text in the lacquer say “{new}”.",
                        "The table's copy of the sign swaps “{old}” for “{new}”, upside down and dimmer."],
                reason=["Lacquer this glossy doubles the stand downwards, text and all.",
                        "The sign's face is seen again in the polish at its foot.",
                        "A polished board returns the front of whatever is put on it."],
                anon=["A polished plane doubles the object that stands on it, with the altered part.",
                      "Gloss makes the base repeat the upright thing above it, only fainter.",
                      "The shiny support gives a dimmer, inverted view of the changed face."],
            ),
            NodeSpec(
                "pot", "physical_reflection",
                region=["belly of the chrome pot, {where}", "shiny coffee pot beside the sign, {where}", "curved metal of the pot, {where}"],
                clean=["the vessel next to the panel, {where}", "side of the pot, {where}", "the round object on the table, {where}"],
                update=["The squeezed, laterally reversed text on the pot becomes “{new}”.",
                        "Bend a reversed “{new}” round the chrome instead of “{old}”.",
                        "Renew the distorted picture in the metal so that it carries “{new}”."],
                reason=["Chrome reflects its neighbour: the sign appears narrowed and reversed on the curved wall.",
                        "The pot is bright metal and stands within sight of the lettering, which curves over its side.",
                        "Convex metal shows a slimmer, turned-about view of the sign."],
                anon=["A curved, bright object nearby catches a narrowed view of the altered surface.",
                      "Bare metal close by shows its surroundings distorted, among them the edit.",
                      "A convex reflector displays the changed thing reversed and compressed."],
            ),
        ],
        edges=[EdgeSpec("table", "pot", "same source", ["Table and pot reflect one sign and must show one text.",
                                                        "Lacquer and chrome cannot disagree about what stands between them."])],
    )  # fmt: skip


def _pot(c: Canvas, box: tuple[float, float, float, float], wall: tuple[int, int, int], table: tuple[int, int, int], seed: int,
         *, chrome: bool, spout: int) -> None:  # fmt: skip
    """Draw a cylindrical coffee pot, of chrome or of matt enamel."""
    x0, y0, x1, y1 = box
    w, h = round(x1 - x0), round(y1 - y0)
    x = np.linspace(-1, 1, w, dtype=np.float32)[None, :, None]
    y = np.linspace(0, 1, h, dtype=np.float32)[:, None, None]
    if chrome:
        top, low = np.array(shade(wall, 1.4), np.float32), np.array(shade(table, 0.9), np.float32)
        px = np.where(y < 0.78, top * (1 - 0.25 * y), low + 30 * (1 - y))
        px = px * (0.62 + 0.42 * np.cos(x * 2.6) ** 2 + 0.12 * np.cos(x * 9))
    else:
        px = np.array((176, 72, 52), np.float32) * (1.08 - 0.62 * x * x - 0.16 * x) + 0 * y
    body = Image.fromarray(np.clip(np.broadcast_to(px, (h, w, 3)), 0, 255).astype(np.uint8))
    ring = steel((w, 9), seed, (150, 150, 152) if chrome else (70, 66, 64))
    side = x1 if spout > 0 else x0
    c.arc((side - 34 if spout > 0 else side - 26, y0 + h * 0.2, side + 26 if spout > 0 else side + 34, y0 + h * 0.8), 0, 360, (30, 28, 28), 9)
    c.rect((x0 - 2, y0 - 8, x1 + 2, y0 + 2), (40, 38, 38), radius=4)
    c.paste(body, (x0, y0))
    c.paste(ring, (x0, y0 + 8))
    c.ellipse(((x0 + x1) / 2 - 9, y0 - 24, (x0 + x1) / 2 + 9, y0 - 6), (32, 30, 30))
