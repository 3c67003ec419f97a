"""Spatial templates in which a mirror image repeats the edited text, left and right exchanged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw

from icgforge.synth.base import Ctx, Design, EdgeSpec, NodeSpec, Values, template
from icgforge.synth.canvas import Canvas
from icgforge.synth.surfaces import cloud, fit, gradient, line, notices, plaster, shade, soft_box, weave, wood

# fmt: off


def _polygon_mask(size: tuple[int, int], points: Sequence[tuple[float, float]]) -> np.ndarray:
    image = Image.new("L", (size[0] * 2, size[1] * 2))
    ImageDraw.Draw(image).polygon([(2 * x, 2 * y) for x, y in points], fill=255)
    return np.asarray(image.reduce(2), np.float32) / 255


@template("mirror_studio_corner", nodes=("spatial_mirror",), edits=("word", "phrase", "person", "number"))
def studio_corner(ctx: Ctx) -> Design:
    """The corner of a studio: one wall is a mirror, in which the lettering of the other appears reversed."""
    edit, (w, h) = ctx.edit(), ctx.size("wide")
    face = ctx.face(ctx.rng.choice(["display", "sans", "hand"])) + "-bold"
    wall = ctx.rng.choice([(214, 206, 194), (176, 194, 190), (212, 186, 168), (184, 188, 204)])
    ink = ctx.rng.choice([(150, 42, 48), (34, 62, 92), (44, 44, 48), (36, 92, 72)])
    floor = ctx.rng.choice([(168, 124, 82), (140, 104, 74)])
    seeds = [ctx.seed() for _ in range(3)]
    corner = round(w * 0.51)
    top, low = round(h * 0.13), round(h * 0.76)
    turn = ctx.rng.choice(["", "h"])  # "h": all is turned over in the end, the mirror is on the right
    most = 66 if ctx.salient else 48
    off = 62 if ctx.far else 26
    room = w - corner - off - 24
    size = {t: fit(t, face, room, most) for t in (edit.old.text, edit.new.text)}
    ty = h * ctx.rng.uniform(0.28, 0.4)
    extras, small = ctx.copy(ctx.distractors), ctx.face("sans")
    plant = (corner + (w - corner) * 0.82, ctx.rng.choice([(84, 128, 76), (60, 110, 96)]))

    def back(text: str | None, element: str) -> Canvas:
        """The plain wall and floor to the right of the corner, as seen directly."""
        c = Canvas((w, h))
        c.paste(plaster((w, low), seeds[0], wall))
        c.paste(wood((w, h - low), seeds[1], floor, 5), (0, low))
        c.rect((0, low - 14, w, low), shade(wall, 1.5))
        c.rect((0, 0, w, top - 18), shade(wall, 1.6))
        board = Canvas((320, 150))
        notices(board, extras, [(8 + 102 * (i % 3), 6 + 66 * (i // 3)) for i in range(6)], small, (248, 246, 240), (80, 78, 76), width=94)
        c.put(board, (corner + 18, h * 0.48), flip=turn)
        x, tone = plant
        c.polygon([(x - 20, low - 4), (x + 20, low - 4), (x + 15, low + 36), (x - 15, low + 36)], (150, 92, 66))
        for i in range(7):
            c.ellipse((x - 8 + (i - 3) * 11, low - 62 - 14 * (i % 3), x + 8 + (i - 3) * 11, low + 2), shade(tone, 0.8 + 0.08 * i))
        if text is not None:
            words = line(text, face, size[text], ink, element)
            c.put(words, (corner + off, ty - words.size[1] / 2), flip=turn)
        return c

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        scene = back(v["target"], "target")
        glass = [(corner - 4, top), (corner - 4, low - 14), (10, low + (h - low) * 0.9), (10, top - 38)]
        cover = _polygon_mask((w, h), glass)
        side = Canvas((w, h))
        side.put(scene)
        side.rect((0, 0, corner, h), shade(wall, 0.8))
        side.polygon([(0, h), (0, low + (h - low) * 0.96), (corner, low), (corner, h)], shade(floor, 0.86))
        side.polygon([(0, low + (h - low) * 0.9), (0, low + (h - low) * 0.96), (corner, low), (corner, low - 14)], shade(wall, 1.3))
        # What the wall at right angles shows is the room turned over about the corner line.
        image = Canvas((w, h))
        image.put(back(v["mirror"], "mirror") if not twin else back(None, ""), (0, 0), flip="h")
        moved = Canvas((w, h))
        moved.put(image, (2 * corner - w, 0))
        scene = side
        if twin:
            shut = weave((w, h), seeds[2], shade(ink, 1.5))
            curtain = Canvas((w, h))
            curtain.paste(shut)
            for fold in range(0, w, 34):
                curtain.rect((fold, 0, fold + 12, h), (0, 0, 0, 46))
            scene.put(curtain, clip=cover)
        else:
            scene.put(moved, clip=cover)
            veil = Canvas((w, h))
            veil.paste(gradient((w, h), (214, 232, 236), (120, 146, 154)).convert("RGBA"))
            scene.put(veil, opacity=0.2, clip=cover)
        for k in (0.33, 0.62, 1.0):
            x = corner - 4 - (corner - 14) * k
            t = (corner - 4 - x) / (corner - 14)
            scene.line([(x, top - 38 * t), (x, low - 14 + (14 + (h - low) * 0.9) * t)], (236, 238, 236), 2)
        scene.line([glass[0], glass[3]], (120, 110, 100), 4)
        scene.line([glass[1], glass[2]], (120, 110, 100), 4)
        scene.line([(corner, 0), (corner, low)], (0, 0, 0, 90), 2)
        bar = [(corner - 10, h * 0.6), (8, h * 0.68)]
        scene.line([(x, y + 5) for x, y in bar], (60, 40, 30, 110), 4)
        scene.line(bar, (176, 128, 84), 6)
        c.put(scene, flip=turn)

    return Design(
        (w, h), draw, edit, before={"mirror": edit.old.text}, after={"mirror": edit.new.text},
        target_region=["lettering on the plain wall, {where}", "painted words on the wall, {where}", "wall text beside the corner, {where}"],
        nodes=[
            NodeSpec(
                "mirror", "spatial_mirror",
                region=["mirror wall of the studio, {where}", "large mirror behind the practice bar, {where}", "reversed wall text in the mirror, {where}"],
                clean=["the other wall of the room, {where}", "the wall with the handrail, {where}", "the panelled wall, {where}"],
                update=["The mirror has to repeat “{new}” back to front, where it repeated “{old}”.",
                        "In the glass, exchange the laterally reversed “{old}” for a laterally reversed “{new}”.",
                        "Renew the twin of the wall text in the mirror: “{new}”, reading from right to left."],
                reason=["The mirror wall meets the lettered wall at the corner and already shows its words reversed.",
                        "A mirror in view repeats what is written on the adjoining wall.",
                        "Whoever looks into the glass sees the same words once more, turned about."],
                anon=["The same content is seen a second time, with left and right exchanged.",
                      "A second, laterally reversed version of the changed element exists in the picture.",
                      "It shows the room once more, the changed element included, back to front."],
            )
        ],
    )  # fmt: skip


@template("mirror_rubber_stamp", nodes=("spatial_mirror", "spatial_mirror"), edits=("label", "date", "brand", "year", "city"))
def rubber_stamp(ctx: Ctx) -> Design:
    """A stamped sheet on a desk with the stamp beside it, its face up, and a blotter with the wet print."""
    edit, (w, h) = ctx.edit(), ctx.size("any")
    face, body = ctx.face(ctx.rng.choice(["slab", "sans", "mono"])) + "-bold", ctx.face("serif")
    ink = ctx.rng.choice([(166, 36, 46), (34, 58, 140), (34, 98, 70), (88, 44, 116)])
    desk = ctx.rng.choice([(118, 82, 56), (92, 70, 60), (148, 118, 88)])
    seeds = [ctx.seed() for _ in range(4)]
    pw, ph = w * 0.5, h * 0.84
    px, py = w * 0.05, h * 0.07
    most = 40 if ctx.salient else 30
    size = {t: fit(t, face, pw * 0.66, most) for t in (edit.old.text, edit.new.text)}
    ty = py + ph * (0.28 if ctx.far else 0.52)
    tilt = ctx.rng.uniform(-6, 6)
    extras = ctx.copy(ctx.distractors)

    def impression(text: str, element: str, color: tuple[int, ...], frame: bool = True) -> Canvas:
        c = Canvas((round(pw * 0.8), 110))
        if frame:
            c.rect((8, 14, c.size[0] - 8, 96), None, radius=9, outline=color, width=4)
        with c.element(element):
            c.text((c.size[0] / 2, 55), text, (face, size[text]), color, anchor="mm")
        return c

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(wood((w, h), seeds[0], desk, 4))
        soft_box(c, (px, py, px + pw, py + ph), 6, 150, 4)
        c.paste(plaster((round(pw), round(ph)), seeds[1], (246, 242, 230)), (px, py))
        c.rect((px + 24, py + 28, px + 104, py + 34), (120, 110, 100))
        for i in range(11):
            y = py + 56 + i * ph / 12
            if abs(y - ty) > 60 and y < py + ph - 34 - 19 * len(extras):
                c.rect((px + 24, y, px + pw - 30 - 70 * (i % 4 == 3), y + 3), (178, 172, 160))
        for i, text in enumerate(extras):
            c.text((px + 24, py + ph - 20 - 19 * i), text, (body, 14), (96, 88, 84), anchor="ls")
        worn = np.clip(1.1 + 0.8 * cloud((w, h), seeds[2], (16, 16), 2), 0.35, 1)
        print_ = impression(v["target"], "target", ink)
        c.put(print_, (px + pw / 2 - print_.size[0] / 2, ty - 55), clip=worn, opacity=0.92)
        sx, sy = w * 0.6, h * (0.1 if ctx.far else 0.2)
        sw = min(w * 0.37, print_.size[0] + 30.0)
        rubber = Canvas((round(sw) + 40, 190))
        soft_box(rubber, (24, 40, sw + 16, 150), 7, 170, 8)
        rubber.paste(wood((round(sw) - 6, 118), seeds[3], (176, 122, 70)), (22, 34))
        rubber.rect((30, 44, sw + 8, 142), (186, 128, 108), radius=6)
        rubber.rect((30, 136, sw + 8, 142), (140, 88, 74), radius=3)
        if not twin:
            raised = impression(v["stamp"], "stamp", shade(ink, 0.8))
            shine = impression(v["stamp"], "stamp", shade(ink, 1.75))
            small = (round(sw - 26), round(110 * (sw - 26) / raised.size[0]))
            for part, dy in ((shine, -1), (raised, 0)):
                fitted = Canvas(small)
                fitted.warp(part, [(small[0], 0), (0, 0), (0, small[1]), small])
                rubber.put(fitted, (33, 93 - small[1] / 2 + dy))
        else:
            rubber.ellipse((sw / 2 - 22, 68, sw / 2 + 60, 118), shade(ink, 0.75))
        c.put(rubber, (sx - 14, sy - 30), angle=tilt)
        if ctx.n == 2:
            bx, by = w * 0.59, h * 0.6
            soft_box(c, (bx, by, bx + w * 0.36, by + 150), 6, 130, 4)
            c.paste(weave((round(w * 0.36), 150), seeds[1], (224, 176, 178)), (bx, by))
            if not twin:
                wet = impression(v["blot"], "blot", shade(ink, 1.25))
                scale = w * 0.33 / wet.size[0]
                fitted = Canvas((round(w * 0.33), round(110 * scale)))
                fitted.warp(wet, [(fitted.size[0], 0), (0, 0), (0, fitted.size[1]), fitted.size])
                c.put(fitted, (bx + w * 0.015, by + 75 - fitted.size[1] / 2), opacity=0.72, clip=worn)

    texts = {"stamp": edit.old.text, "blot": edit.old.text}
    return Design(
        (w, h), draw, edit, before=texts, after=dict.fromkeys(texts, edit.new.text),
        target_region=["stamped text on the sheet, {where}", "print of the rubber stamp, {where}", "inked words in the frame on the paper, {where}"],
        nodes=[
            NodeSpec(
                "stamp", "spatial_mirror",
                region=["rubber face of the stamp, {where}", "stamp lying face up beside the sheet, {where}", "raised characters of the stamp, {where}"],
                clean=["the wooden object on the desk, {where}", "the block next to the paper, {where}", "the thing right of the sheet, {where}"],
                update=["Cut “{new}” into the rubber, seen the wrong way round, instead of “{old}”.",
                        "The raised characters become those of “{new}” as a looking glass would show them.",
                        "Recarve the stamp: “{old}” goes, “{new}” comes, from right to left."],
                reason=["A stamp carries the reverse of what it prints, and this one printed the words on the sheet.",
                        "Print and stamp are a pair, one the mirror image of the other.",
                        "The tool lies there with the same words in reverse."],
                anon=["Tool and product are mirror images of each other.",
                      "The changed element was made by something that bears it in reverse.",
                      "A reversed original of the changed element is in view."],
            ),
            NodeSpec(
                "blot", "spatial_mirror",
                region=["pink blotting paper with the wet offset, {where}", "blotter on the desk, {where}", "faint reversed ink on the blotting sheet, {where}"],
                clean=["the smaller sheet, {where}", "the coloured piece of paper, {where}", "the sheet in the corner of the desk, {where}"],
                update=["The blotter's pale offset now reads “{new}” backwards.",
                        "Let the blotting paper show “{new}” reversed, as faint as the old trace.",
                        "On the pink sheet, the turned-about trace of “{old}” is succeeded by that of “{new}”."],
                reason=["The blotter was pressed on the wet print and took it over the wrong way round.",
                        "Fresh ink was dried with this sheet, which keeps it in reverse.",
                        "What is on the blotter comes off the print, left and right exchanged."],
                anon=["Contact with the changed element left a fainter, reversed copy.",
                      "It took over the changed element by touch, the wrong way round.",
                      "A transfer of the same thing is visible, turned about and paler."],
            ),
        ],
        edges=[EdgeSpec("stamp", "blot", "same reversed text", ["Stamp and blotter carry one reversed text.",
                                                               "Rubber and blotting paper read alike, both backwards."])],
    )  # fmt: skip


@template("mirror_glass_door", nodes=("spatial_mirror",), edits=("brand", "word", "weekday", "animal"))
def glass_door(ctx: Ctx) -> Design:
    """A double glass door: one leaf shut, the other swung open, so that its lettering is seen from behind."""
    edit, (w, h) = ctx.edit(), ctx.size("tall")
    face = ctx.face(ctx.rng.choice(["script", "serif", "display"])) + "-bold"
    paint = ctx.rng.choice([(40, 74, 68), (116, 44, 46), (36, 50, 82), (60, 54, 50)])
    letters = ctx.rng.choice([(252, 246, 230), (244, 202, 104)])
    stone, seeds = ctx.rng.choice([(198, 186, 168), (168, 152, 140), (180, 186, 188)]), [ctx.seed() for _ in range(3)]
    leaf_w, leaf_h = round(w * 0.29), round(h * 0.66)
    most, ty = 44 if ctx.salient else 34, leaf_h * (0.24 if ctx.far else 0.36)
    size = {t: fit(t, face, leaf_w - 50, most) for t in (edit.old.text, edit.new.text)}
    right = ctx.chance(0.5)  # the right leaf is open
    x0, y0 = w * 0.17 if right else w * 0.83 - 2 * leaf_w - 12, h * 0.2
    extras, small, line2 = ctx.copy(ctx.distractors), ctx.face("sans"), ctx.rng.choice(["No. 14", "No. 7", "No. 38"])

    def leaf(text: str, element: str | None, inside: bool) -> Canvas:
        c = Canvas((leaf_w, leaf_h))
        c.rect((0, 0, leaf_w, leaf_h), shade(paint, 0.8) if inside else paint)
        c.rect((14, 14, leaf_w - 14, leaf_h * 0.74), (0, 0, 0, 0))
        pane = gradient((leaf_w - 28, round(leaf_h * 0.74) - 14), (196, 212, 216), (112, 128, 134))
        pane.putalpha(168)
        c.paste(pane, (14, 14))
        c.rect((22, leaf_h * 0.78, leaf_w - 22, leaf_h - 20), None, outline=shade(paint, 1.3), width=3)
        if element:
            with c.element(element):
                c.text((leaf_w / 2, ty), text, (face, size[text]), letters, anchor="mm")
        c.ellipse((leaf_w / 2 - 26, ty + 52, leaf_w / 2 + 26, ty + 104), None, outline=letters, width=2)
        return c

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        floor = round(h * 0.86)
        c.paste(plaster((w, floor), seeds[0], stone))
        for y in range(0, floor, 66):
            c.line([(0, y), (w, y)], shade(stone, 0.84), 2)
        c.paste(plaster((w, h - floor), seeds[1], (136, 132, 128)), (0, floor))
        c.rect((x0 - 16, y0 - 60, x0 + 2 * leaf_w + 30, floor), shade(paint, 0.55))
        c.rect((x0, y0 - 46, x0 + 2 * leaf_w + 12, y0 - 8), (226, 226, 214))
        c.text((x0 + leaf_w + 6, y0 - 27), line2, (small, 20), (60, 54, 50), anchor="mm")
        c.paste(gradient((2 * leaf_w + 12, leaf_h), (92, 78, 66), (40, 34, 32)), (x0, y0))
        for k, (bx, bw) in enumerate(((0.16, 0.3), (0.6, 0.22), (0.88, 0.3))):
            c.rect((x0 + bx * leaf_w * 2 - 20, y0 + leaf_h * (0.5 + 0.06 * k), x0 + (bx + bw) * leaf_w * 1.7, y0 + leaf_h * 0.9), (70 + 14 * k, 58, 48))
        shut_x = x0 if right else x0 + leaf_w + 12
        c.put(leaf(v["target"], "target", False), (shut_x, y0))
        c.rect((shut_x + (leaf_w - 12 if right else 4), y0 + leaf_h * 0.52, shut_x + (leaf_w - 6 if right else 10), y0 + leaf_h * 0.64), (206, 176, 96))
        hinge = x0 + 2 * leaf_w + 12 if right else x0
        out = 1 if right else -1
        near = hinge + out * leaf_w * 0.62
        back = leaf(v["mirror"], None if twin else "mirror", True)
        quad = [(near, y0 - 0.06 * h), (hinge, y0), (hinge, y0 + leaf_h), (near, y0 + leaf_h * 1.15)]
        if not right:
            quad = [quad[1], quad[0], quad[3], quad[2]]
        ground = Canvas((w, h))
        ground.polygon([(hinge, floor), (near, y0 + leaf_h * 1.15), (near + out * 40, y0 + leaf_h * 1.13), (hinge + out * 70, floor)], (0, 0, 0, 100))
        c.put(ground, blur=6)
        # Seen from inside: what is left on the leaf's front is right here.
        c.warp(back, quad)
        spots = [(4 if right else w - 94, y0 + 70 * i) for i in range(6)]
        notices(c, extras, spots, small, (248, 244, 234), (76, 70, 66), width=90)

    return Design(
        (w, h), draw, edit, before={"mirror": edit.old.text}, after={"mirror": edit.new.text},
        target_region=["lettering on the closed leaf of the door, {where}", "name on the shut glass door, {where}", "glass lettering, {where}"],
        nodes=[
            NodeSpec(
                "mirror", "spatial_mirror",
                region=["pane of the open door leaf, {where}", "glass of the leaf that stands open, {where}", "lettering seen through the open leaf from behind, {where}"],
                clean=["the door leaf that stands open, {where}", "the slanted pane, {where}", "the other leaf, {where}"],
                update=["On the open leaf, “{new}” must be read from its back, so reversed, where “{old}” was.",
                        "Seen through the swung leaf, the name turns into a back-to-front “{new}”.",
                        "Write “{new}” mirror-wise on the opened pane."],
                reason=["Both leaves bear the same name; through the open one it is seen from its rear.",
                        "Glass shows lettering from both sides, and the open leaf turns its reverse to us.",
                        "The opened leaf is the counterpart of the shut one and shows the name turned about."],
                anon=["A transparent carrier shows the same content from behind, hence reversed.",
                      "The pair of the changed element is seen from its rear side.",
                      "The same thing is there once more, viewed from the far side of a see-through sheet."],
            )
        ],
    )  # fmt: skip
