"""Scenes of trade that set off several subtypes at once: a shop window, a product label."""

from __future__ import annotations

import numpy as np

from icgforge.synth.base import Ctx, Design, EdgeSpec, NodeSpec, Values, template
from icgforge.synth.canvas import Canvas, fit_size
from icgforge.synth.textures import surface


@template(
    "scenes_window", nodes=("physical_reflection", "spatial_mirror", "spatial_repetition"),
    edits=("word", "brand", "person", "place", "color"), min_nodes=2,
)  # fmt: skip
def window(ctx: Ctx) -> Design:
    """A shop front at dusk: wet pavement below the sign, a mirror inside, the name on the door."""
    edit = ctx.edit()
    size, seed, pal = ctx.size("wide"), ctx.seed(), ctx.palette(dark=True)
    w, h = size
    family = ctx.rng.choice(["office-bold", "slab-bold", "cafe-bold", "diner", "geometric-bold"])
    top, ground = h * 0.1, h * 0.72
    px = min(fit_size(t.text, family, w * 0.62, 64 if ctx.salient else 50) for t in (edit.old, edit.new))
    glow = ctx.rng.choice([(255, 226, 150), (255, 180, 140), (190, 236, 255)])
    extras, door = ctx.copy(min(4, ctx.distractors)), ctx.chance(0.5)
    dx = w * 0.78 if door else w * 0.08

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(surface("brick", size, seed, (104, 66, 58)))
        c.rect((w * 0.04, top - 14, w * 0.96, ground), (46, 40, 40))
        c.rect((w * 0.05, top - 6, w * 0.95, top + 92), pal.bg)
        wx0, wx1 = (w * 0.08, w * 0.74) if door else (w * 0.26, w * 0.92)
        c.paste(
            surface("plaster", (int(wx1 - wx0), int(ground - top - 116)), seed + 1, (232, 206, 160)),
            (wx0, top + 104),
        )
        for k in range(5):  # shelf with things
            x = wx0 + 30 + k * 44
            c.rect(
                (x, ground - 74 - (k * 17 % 22), x + 26, ground - 34),
                (pal.accent, pal.accent2, pal.muted)[k % 3],
                radius=5,
            )
        c.rect((wx0 + 14, ground - 34, wx0 + 260, ground - 26), (96, 70, 50))
        # the mirror shows the back of the transparency that hangs in the window
        mx0, mx1, my0 = wx1 - 210, wx1 - 24, top + 130
        c.rect((mx0 - 8, my0 - 8, mx1 + 8, my0 + 88), (120, 84, 50), radius=8)
        c.rect((mx0, my0, mx1, my0 + 80), (206, 218, 222), radius=4)
        small = fit_size(v["target"], family, mx1 - mx0 - 24, 30)
        sub = c.layer((int(mx1 - mx0), 80))
        if twin:
            sub.ellipse((30, 24, 80, 74), (176, 150, 128))
        else:
            with sub.element("mirror"):
                sub.text((sub.size[0] / 2, 42), v["target"], (family, small), (88, 96, 104), anchor="mm")
        if ctx.n > 1 or twin:
            c.put(sub, (mx0, my0), flip="h")
        else:
            c.ellipse((mx0 + 30, my0 + 24, mx0 + 80, my0 + 74), (176, 150, 128))
        c.rect((dx, top + 104, dx + w * 0.14, ground), (70, 52, 44))
        c.rect((dx + 10, top + 118, dx + w * 0.14 - 10, ground - 70), (150, 170, 176))
        if ctx.n > 2:
            with c.element("door"):
                fit = fit_size(v["target"] if not twin else "PULL", family, w * 0.14 - 28, 22, 7)
                c.text(
                    (dx + w * 0.07, top + 160),
                    v["target"] if not twin else "PULL",
                    (family, fit),
                    (32, 40, 46),
                    anchor="mm",
                )
        for i, line in enumerate(extras):
            c.text((wx0 + 24, top + 128 + 22 * i), line, ("plain", 15), (96, 72, 52), anchor="lm")
        with c.element("target"):
            c.text((w / 2, top + 43), v["target"], (family, px), glow, anchor="mm")
        tall = int(h - ground)
        c.paste(
            surface("stone", (w, tall + 1), seed + 2, (58, 60, 66) if not twin else (128, 122, 116)),
            (0, ground),
        )
        if not twin:
            mirror = c.layer((w, tall))
            with mirror.element("pool"):
                mirror.text((w / 2, tall * 0.5), v["target"], (family, px), glow, anchor="mm")
            streak = 0.75 + 0.25 * np.sin(np.arange(h) / 2.3)[:, None] * np.ones((1, w))
            c.put(mirror, (0, ground), flip="v", blur=1.6, opacity=0.6, clip=streak)

    return Design(
        size, draw, edit, {}, {},
        target_region=["lit name above the shop", "fascia lettering, {where}", "shop sign in the upper part"],
        nodes=[
            NodeSpec(
                "pool", "physical_reflection",
                region=["wet pavement before the shop", "upside-down glow on the wet slabs", "streaky light on the ground, {where}"],
                clean=["the ground in front", "lower strip of the picture", "paved area, {where}"],
                update=["the wet slabs throw back “{new}”, upside down and blurred", "replace the glowing “{old}” on the ground by that of “{new}”", "flip the new lettering into the puddled paving"],
                reason=["wet stone throws back the lit letters above it", "light from the fascia reaches the eye by way of the ground too", "the paving shines and carries an image of the sign"],
                anon=["a shiny surface throws back what is lit above it", "light from the edited element arrives a second time by another way", "an optical image exists of whatever shines there"],
            ),
            NodeSpec(
                "mirror", "spatial_mirror",
                region=["wall mirror inside the shop", "reversed letters in the framed mirror", "looking glass behind the pane, {where}"],
                clean=["framed panel inside", "framed shape in the {where}", "pale panel behind the glass"],
                update=["the mirror spells “{new}” from right to left", "put reversed letters of “{new}” into the frame", "laterally reversed “{old}” turns into reversed “{new}”"],
                reason=["the mirror faces the window and repeats the shop's name reversed", "whoever renames the shop renames it in its own mirror", "a mirror repeats the lettering opposite to it"],
                anon=["a device that repeats its surroundings reversed shows the edited content", "a reversed double of the edited element exists", "content is doubled by a reversing surface"],
            ),
            NodeSpec(
                "door", "spatial_repetition",
                region=["small name on the glass door", "door lettering", "name on the entrance, {where}"],
                clean=["small text on the entrance", "little text at the {where}", "lettering at eye level"],
                update=["“{new}” goes on the door too", "scrape “{old}” off the door and letter “{new}”", "door glass: {old} → {new}"],
                reason=["the shop has one name, on the fascia and on the door", "the door repeats the fascia in small", "a customer would wonder at two names on one shop"],
                anon=["a name occurs twice and denotes one thing", "the same words stand in a second place", "a smaller double of the text exists"],
            ),
        ],
        edges=[EdgeSpec("pool", "mirror", "same lettering", ["both images show one fascia", "ground and mirror cannot show two names"]),
               EdgeSpec("mirror", "door", "same name", ["mirror and door give one name", "door and mirror agree on the name"])],
    )  # fmt: skip


@template(
    "scenes_carton", nodes=("physical_perspective", "physical_occlusion", "spatial_repetition"),
    edits=("brand", "word", "place", "fruit"), min_nodes=2,
)  # fmt: skip
def carton(ctx: Ctx) -> Design:
    """A carton seen at an angle: name on front and slanted side, a second carton half hidden behind."""
    edit = ctx.edit()
    size, seed, pal = ctx.size("wide"), ctx.seed(), ctx.palette()
    w, h = size
    family, body = ctx.rng.choice(["slab-bold", "office-bold", "cafe-bold", "novel-bold"]), ctx.face("sans")
    left = ctx.rng.uniform(0.26, 0.34) * w
    fw, fh = w * 0.34, h * 0.5
    y0 = h * 0.32
    extras, net = ctx.copy(min(4, ctx.distractors)), ctx.rng.choice(["250 g", "12 pieces", "0.5 l"])
    px = min(fit_size(t.text, family, fw - 40, 60 if ctx.salient else 48) for t in (edit.old, edit.new))

    def face_of(text: str | None, element: str, color: tuple[int, ...], wide: int) -> Canvas:
        c = Canvas((wide, int(fh)), color)
        c.rect((0, 0, wide, 14), pal.accent)
        if text:
            with c.element(element):
                c.text(
                    (wide / 2, fh * 0.3),
                    text,
                    (family, fit_size(text, family, wide - 36, px)),
                    pal.ink,
                    anchor="mm",
                )
        c.ellipse((wide / 2 - 34, fh * 0.48, wide / 2 + 34, fh * 0.48 + 68), pal.accent2)
        c.ellipse((wide / 2 - 20, fh * 0.48 + 12, wide / 2 + 12, fh * 0.48 + 40), pal.panel)
        c.text((wide / 2, fh - 22), net, (body, 17), pal.ink, anchor="mm")
        return c

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(surface("plaster", size, seed))
        floor = int(h * 0.26)
        c.paste(surface("wood", (w, floor), seed + 1), (0, h - floor))
        text = v["target"]
        other = None if twin else text
        hidden = left + fw / 2 + 8  # the front edge runs through the middle of the rear name
        if ctx.n > 1:  # the second carton stands behind; its first letters are covered
            behind = face_of(other, "peep", tuple(round(x * 0.9) for x in pal.bg), int(fw))
            sub = c.layer()
            sub.put(behind, (hidden, y0 - 46))
            ahead = np.ones((h, w))
            ahead[int(y0) - 20 :, : int(left + fw) + 2] = 0
            c.put(sub, clip=ahead)
        sh = c.layer()
        sh.polygon(
            [
                (left - 80, y0 + fh),
                (left + fw, y0 + fh),
                (left + fw + 60, y0 + fh + 22),
                (left - 30, y0 + fh + 26),
            ],
            (0, 0, 0),
        )
        c.put(sh, blur=7, opacity=0.35)
        side = face_of(other, "side", tuple(round(x * 0.82) for x in pal.bg), int(fw * 0.9))
        c.warp(
            side,
            [
                (left - w * 0.17, y0 + h * 0.07),
                (left, y0),
                (left, y0 + fh),
                (left - w * 0.17, y0 + fh - h * 0.06),
            ],
        )
        front = face_of(None, "", pal.bg, int(fw))
        c.put(front, (left, y0))
        with c.element("target"):
            c.text((left + fw / 2, y0 + fh * 0.3), text, (family, px), pal.ink, anchor="mm")
        c.polygon(
            [
                (left - w * 0.17, y0 + h * 0.07),
                (left, y0),
                (left + fw, y0),
                (left + fw - w * 0.13, y0 + h * 0.035 - 22),
            ],
            pal.panel,
        )
        if ctx.n > 2:
            cx = w * 0.84
            c.rect(
                (cx - 70, h * 0.74, cx + 70, h * 0.74 + 62), (252, 250, 244), outline=(170, 164, 150), width=1
            )
            with c.element("card"):
                label = text if not twin else "TEA TIME"
                c.text(
                    (cx, h * 0.74 + 20),
                    label,
                    (family, fit_size(label, family, 122, 22, 8)),
                    (50, 46, 44),
                    anchor="mm",
                )
            c.text((cx, h * 0.74 + 45), "fresh in", (body, 14), (120, 112, 104), anchor="mm")
        for i, line in enumerate(extras):
            c.text((24, 28 + 22 * i), line, (body, 15), (92, 88, 84), anchor="lm")

    return Design(
        size, draw, edit, {}, {},
        target_region=["name on the front of the carton", "front label, {where}", "large print on the box"],
        nodes=[
            NodeSpec(
                "side", "physical_perspective",
                region=["narrow side of the carton that recedes", "slanted side panel with the name", "foreshortened face of the box, {where}"],
                clean=["the narrower face", "tapering face at the {where}", "face to the left of the front"],
                update=["set “{new}” on the side, running with its vanishing lines", "print the new name foreshortened on the receding face", "squeeze “{new}” into the taper of the side"],
                reason=["front and side carry one name and the side is seen at a slant", "the side recedes, so its letters shrink towards the back", "new letters on the side have to lean with its edges"],
                anon=["text on a receding plane obeys the plane's vanishing lines", "a tilted double of the text is foreshortened", "a plane seen at a slant shortens what is put on it"],
            ),
            NodeSpec(
                "peep", "physical_occlusion",
                region=["rear carton whose name is half covered", "end of the name that peeps out behind", "second box behind the first, {where}"],
                clean=["thing in the background", "partly visible shape, {where}", "what shows beyond the edge of the front object"],
                update=["only the end of “{new}” shows past the front box", "letters of the rear name that stick out are those of “{new}”", "let the uncovered rest of “{new}” appear behind"],
                reason=["the rear box bears the same name, its beginning covered by the front one", "what sticks out is the tail of the name, and “{new}” has another tail", "the cover ends at one place, but there other letters begin"],
                anon=["something in front hides part of a double, so other pieces of it show", "the visible rest depends on where the cover ends", "a covered text reveals another remainder"],
            ),
            NodeSpec(
                "card", "spatial_repetition",
                region=["price rail card beside the boxes", "shelf card with the name", "small card, {where}"],
                clean=["a small white card", "card in the {where}", "paper beside the main object"],
                update=["letter the card “{new}”", "the shelf card has to name {new}", "card: {new} for {old}"],
                reason=["the card announces the goods by name", "what stands on the shelf is called {new}, so the card is too", "card and carton name one article"],
                anon=["a caption repeats the name of what it stands beside", "one thing is named twice", "the label of a place repeats the label of a thing"],
            ),
        ],
        edges=[EdgeSpec("side", "peep", "same article", ["both boxes come from one print run", "side and rear name are one"]),
               EdgeSpec("peep", "card", "same name", ["card and rear box carry one name", "the card stands for all boxes"])],
    )  # fmt: skip
