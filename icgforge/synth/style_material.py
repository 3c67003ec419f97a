"""Style templates whose text is made of a material: carved, chalked, stitched, pressed into leather."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageFilter

from icgforge.synth.base import Ctx, Design, EdgeSpec, NodeSpec, Values, template
from icgforge.synth.canvas import Canvas, fit_size, font
from icgforge.synth.textures import fractal, surface

KINDS = ("word", "brand", "place", "year", "person", "color", "dish", "label", "month", "number", "price")


def letters(page: Canvas, xy: tuple[float, float], text: str, face: tuple[str, int]) -> np.ndarray:
    """Return the coverage of one line of text (anchor middle) on a page, floats 0..1."""
    page.texts.append(text)
    c = Canvas(page.size)
    c.text(xy, text, face, "white", anchor="mm")
    image = c.img.getchannel("A")
    return np.asarray(image, np.float32) / 255


def soften(mask: np.ndarray, radius: float) -> np.ndarray:
    """Blur a coverage array."""
    image = Image.fromarray(np.rint(mask * 255).astype(np.uint8))
    return np.asarray(image.filter(ImageFilter.GaussianBlur(radius)), np.float32) / 255


def shade(c: Canvas, gain: np.ndarray) -> None:
    """Multiply the picture by 1 + gain."""
    px = np.asarray(c.img.convert("RGB"), np.float32) * (1 + gain[..., None])
    image = Image.fromarray(np.clip(px, 0, 255).astype(np.uint8)).convert("RGBA")
    c.img.paste(image)


def tint(c: Canvas, cover: np.ndarray, color: tuple[int, int, int]) -> None:
    """Lay a colour over the picture with a coverage per pixel."""
    image = Image.new("RGBA", c.size, (*color, 0))
    image.putalpha(Image.fromarray(np.rint(np.clip(cover, 0, 1) * 255).astype(np.uint8)))
    c.paste(image)


def smear(mask: np.ndarray, length: int) -> np.ndarray:
    """Run a coverage downwards, fading over `length` pixels."""
    out, run = np.zeros_like(mask), np.zeros(mask.shape[1], np.float32)
    for y in range(mask.shape[0]):
        run = np.maximum(run - 1 / length, mask[y])
        out[y] = run
    return out


def _setting(ctx: Ctx, tall: float = 0.30) -> tuple[tuple[int, int], tuple[float, float], list[str]]:
    size = ctx.size("wide")
    return size, (size[0] / 2, size[1] * ctx.rng.uniform(tall, 0.48)), ctx.copy(ctx.distractors)


def _notes(c: Canvas, lines: list[str], face: str, color: tuple[int, ...]) -> None:
    w, h = c.size
    for i, line in enumerate(lines):
        c.text((w * (0.27 if i % 2 else 0.73), h - 36 - 30 * (i // 2)), line, (face, 16), color, anchor="mm")


@template("style_material_carved", nodes=("style_material", "style_material"), edits=KINDS)
def carved(ctx: Ctx) -> Design:
    """Letters cut into a board or a slab; water has left stains below them."""
    edit = ctx.edit()
    size, at, extras = _setting(ctx)
    ground, seed = ctx.rng.choice(["wood", "stone", "wood"]), ctx.seed()
    face = ctx.rng.choice(["slab-bold", "novel-bold", "office-black", "bookish"])
    px = min(fit_size(t.text, face, size[0] * 0.8, 120 if ctx.salient else 84) for t in (edit.old, edit.new))
    long = ctx.rng.randint(50, 80) if ctx.salient else ctx.rng.randint(36, 50)
    depth = ctx.rng.choice([2, 3])
    w, h = size

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(surface(ground, size, seed))
        rng = np.random.default_rng(seed + 1)
        rough = fractal(rng, size, (w / 16, h / 16), 3)
        line = np.exp(-(((np.arange(w) % 97) / 40.0) ** 2))[None, :] * np.ones((h, 1))
        cut = letters(c, at, v["target"], (face, px))
        if not twin:
            with c.element("grain"):  # fibres split and darkened along the rims of the cuts
                rim = np.clip(soften(cut, 5) * 2.2, 0, 1)
                shade(c, -0.24 * rim * (0.55 + 0.45 * np.tanh(2 * rough)))
            if ctx.n > 1:
                with c.element("stain"):
                    below = np.clip(smear(cut, long) - cut, 0, 1) * (0.35 + 0.65 * line)
                    below[: int(at[1])] = 0
                    shade(c, -0.42 * soften(below, 1.2))
            with c.element("target"):
                shade(c, -0.45 * cut)
                shade(c, -0.45 * np.clip(cut - np.roll(cut, (depth, depth), (0, 1)), 0, 1))
                shade(c, 0.55 * np.clip(np.roll(cut, (depth, depth), (0, 1)) - cut, 0, 1))
        else:  # a printed plate screwed onto the board
            box = (w * 0.06, at[1] - px * 0.85, w * 0.94, at[1] + px * 0.85)
            c.rect(box, (236, 234, 228), radius=6, outline=(120, 118, 112), width=2)
            for x in (box[0] + 14, box[2] - 14):
                c.ellipse((x - 4, at[1] - 4, x + 4, at[1] + 4), (150, 150, 146))
            with c.element("target"):
                c.text(at, v["target"], (face, px), (50, 48, 46), anchor="mm")
        _notes(c, extras, "plain", (*((34, 26, 20) if ground == "wood" else (40, 40, 42)), 255))

    what = "board" if ground == "wood" else "slab"
    return Design(
        size, draw, edit, before={}, after={},
        target_region=[f"name cut into the {what}, {{where}}", f"the carved line of the {what}", f"deep letters across the {what}"],
        nodes=[
            NodeSpec(
                "grain", "style_material",
                region=[f"surface of the {what} right around the cut letters", f"rims of the cuts, where the {what} is frayed",
                        f"{what} along the outlines of the lettering, {{where}}"],
                clean=["the ground close to the large lettering", "the area just around the main line",
                       "a band of background at the {where}"],
                update=[f"the scars around “{{old}}” give way to untouched {what}, and fresh ones follow the outlines of “{{new}}”",
                        f"fill the frayed rims of the old letters with plain {what} and roughen the rims of the new ones",
                        f"restore the {what} where “{{old}}” stood and let the tool marks hug “{{new}}”"],
                reason=[f"a chisel damages the {what} wherever it cuts, so other letters leave other damage",
                        f"the lettering is part of the {what}; cutting “{{new}}” breaks up its surface in new places",
                        f"no carver could move the splintered rims of a finished cut, they belong to the shape in the {what}"],
                anon=["the surface was worked where the edited shapes lie, so its damage follows them",
                      "the ground carries marks of how the edited element was made",
                      "making the new shapes would disturb the surface at other places than the old ones did"],
            ),
            NodeSpec(
                "stain", "style_material",
                region=["dark runs of dirt below the lettering", f"weather stains on the {what} beneath the letters",
                        "streaks that hang under the carved line"],
                clean=["faint vertical marks under the main line", "the strip below the large lettering",
                       "the lower fringe of the main line, {where}"],
                update=["the streaks start at the lower edges of “{new}”", "redraw the runs so that they hang from the new letters",
                        "the old runs vanish and dirt trails below each stroke of “{new}”"],
                reason=["rain collects in the cuts and runs out at their lowest points, which move with the letters",
                        "each stain leads down from a groove, and the grooves are others now",
                        "dirt has washed out of the letters, so its tracks begin where a letter ends"],
                anon=["traces start at the edges of the edited shapes and shift with them",
                      "what has flowed out of the edited shapes follows their lower limits",
                      "the marks were caused by the shapes above them"],
            ),
        ],
        edges=[EdgeSpec("grain", "stain", "shared outline",
                        ["rims and runs both follow the outlines of the same letters",
                         "a run begins at a rim, so neither may keep the old shape alone"])],
    )  # fmt: skip


@template("style_material_chalk", nodes=("style_material", "style_material"), edits=KINDS)
def chalked(ctx: Ctx) -> Design:
    """A word chalked on a board, with the smear of the wiping hand and dust on the frame."""
    edit = ctx.edit()
    size, at, extras = _setting(ctx)
    face, seed = ctx.rng.choice(["marker", "comic-bold", "brush", "diner"]), ctx.seed()
    w, h = size
    px = min(fit_size(t.text, face, w * 0.72, 110 if ctx.salient else 80) for t in (edit.old, edit.new))
    color = ctx.rng.choice([(240, 238, 226), (246, 222, 140), (236, 184, 176), (176, 214, 232)])
    bar = 22

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(surface("wood", size, seed + 2))
        inner = (w - 2 * bar, h - 2 * bar)
        c.paste(surface("slate", inner, seed), (bar, bar))
        rng = np.random.default_rng(seed + 1)
        grit = rng.random((h, w), np.float32)
        veil = fractal(rng, size, (4, 9), 3)
        cover = letters(c, at, v["target"], (face, px))
        if not twin:
            with c.element("veil"):
                haze = np.roll(soften(cover, 9), (2, 12), (0, 1)) * (0.55 + 0.35 * np.tanh(veil))
                tint(c, 0.34 * haze, color)
            if ctx.n > 1:
                with c.element("dust"):
                    ledge = np.zeros((h, w), np.float32)
                    ledge[h - bar - 7 : h - bar] = np.clip(cover.sum(axis=0) / (px * 0.35), 0, 1)[None, :]
                    tint(c, np.where(grit < 0.75, soften(ledge, 1.5), 0), color)
            with c.element("target"):
                tint(c, np.where(grit < 0.86, cover, 0.45 * cover), color)
        else:  # a strip of paper taped to the board
            c.rect((w * 0.1, at[1] - px, w * 0.9, at[1] + px), (248, 246, 238))
            for x in (w * 0.1, w * 0.9):
                c.rect((x - 26, at[1] - 12, x + 26, at[1] + 12), (226, 214, 160, 190))
            with c.element("target"):
                c.text(at, v["target"], (face, px), (60, 58, 66), anchor="mm")
        for i, line in enumerate(extras):
            c.text(
                (w * (0.28 if i % 2 else 0.72), h - bar - 40 - 32 * (i // 2)),
                line,
                ("marker", 18),
                (196, 198, 190),
                anchor="mm",
            )

    return Design(
        size, draw, edit, before={}, after={},
        target_region=["chalk writing on the blackboard, {where}", "large chalked line, {where}", "handwriting on the board"],
        nodes=[
            NodeSpec(
                "veil", "style_material",
                region=["cloudy chalk haze behind the handwriting", "smear of powder beside each stroke, {where}",
                        "pale film on the slate around the chalk line"],
                clean=["soft patch behind the big writing", "lighter zone in the {where}", "background directly around the handwriting"],
                update=["wipe off the film of “{old}” and leave a new film trailing the strokes of “{new}”",
                        "the haze is drawn again to the right of each stroke of “{new}”",
                        "clean slate where “{old}” reached further, powder where “{new}” now lies"],
                reason=["chalk sheds powder next to every stroke, so the film copies whatever is written",
                        "a sleeve dragged over fresh strokes smears them, and there are other strokes now",
                        "the slate holds on to powder of exactly what was written on it"],
                anon=["loose matter beside the strokes comes from the strokes themselves",
                      "the trace is a smudged copy of the edited element",
                      "the medium leaves residue in the shape of what it draws"],
            ),
            NodeSpec(
                "dust", "style_material",
                region=["powder on the ledge at the foot of the board", "line of chalk dust on the lower frame",
                        "fallen chalk along the bottom edge"],
                clean=["thin pale line near the lower border", "bottom edge of the dark panel", "narrow strip at the {where}"],
                update=["the crumbs lie as far left and right as “{new}” reaches", "heap the dust under the strokes of “{new}” only",
                        "shorten or widen the powder line to the span of the new writing"],
                reason=["dust falls straight down from the strokes, so its line is as wide as the writing",
                        "each stroke drops crumbs below itself, and the strokes stand elsewhere now",
                        "what collects on the ledge came off the letters above it"],
                anon=["particles drop vertically, so their spread mirrors the extent above",
                      "an accumulation lies below its source and has the same reach",
                      "the fallen residue maps the horizontal extent of the edited element"],
            ),
        ],
        edges=[EdgeSpec("veil", "dust", "one source", ["film and fallen powder come off the same strokes",
                                                       "both show how much chalk was used, and where"])],
    )  # fmt: skip


@template("style_material_stitched", nodes=("style_material", "style_material"), edits=KINDS[:3] + KINDS[4:8])
def stitched(ctx: Ctx) -> Design:
    """A name embroidered on cloth, with puckers around it and a row of needle holes below."""
    face, gap = ctx.rng.choice(["slab-bold", "diner", "lively", "cafe-bold"]), ctx.rng.randint(7, 10)
    edit = ctx.edit(
        lambda a, b: abs(font(face, 60).getlength(a.text) - font(face, 60).getlength(b.text)) > 4 * gap
    )
    size, at, extras = _setting(ctx)
    seed = ctx.seed()
    w, h = size
    px = min(fit_size(t.text, face, w * 0.7, 104 if ctx.salient else 78) for t in (edit.old, edit.new))
    thread = ctx.rng.choice([(236, 196, 92), (236, 232, 220), (214, 92, 78), (120, 186, 170)])

    def draw(c: Canvas, v: Values, twin: bool) -> None:
        c.paste(surface("cloth", size, seed))
        y, x = np.mgrid[:h, :w].astype(np.float32)
        cover = letters(c, at, v["target"], (face, px))
        rays = np.sin((x + y * 0.4 + 9 * np.sin(y / 17)) / 5.5)
        if not twin:
            with c.element("pucker"):
                pull = np.clip(soften(cover, 11) * 1.6 - 0.12, 0, 1)
                shade(c, 0.17 * pull * rays)
            with c.element("target"):
                shade(c, -0.4 * np.clip(np.roll(cover, (3, 2), (0, 1)) - cover, 0, 1))
                tint(c, cover, thread)
                shade(c, cover * (0.20 * np.sin((x * 0.9 + y * 1.6) * 1.1) + 0.04))
        else:  # printed on a sewn-on ribbon
            c.rect(
                (w * 0.08, at[1] - px, w * 0.92, at[1] + px),
                (244, 240, 230),
                outline=(200, 192, 176),
                width=2,
            )
            with c.element("target"):
                c.text(at, v["target"], (face, px), (54, 50, 58), anchor="mm")
        if ctx.n > 1:
            half = font(face, px).getlength(v["target"]) / 2 + 14 if not twin else w * 0.2
            with c.element("seam"):
                for k in range(int(2 * half // (2 * gap))):
                    x0 = at[0] - half + k * 2 * gap
                    c.line([(x0, at[1] + px * 1.15), (x0 + gap, at[1] + px * 1.15)], thread, 3)
                    c.ellipse((x0 - 2, at[1] + px * 1.15 - 2, x0 + 2, at[1] + px * 1.15 + 2), (40, 36, 40))
        _notes(
            c,
            extras,
            "cafe",
            (238, 234, 226, 255) if int(np.asarray(c.img)[h - 8, 4, :3].sum()) < 380 else (50, 46, 44, 255),
        )

    return Design(
        size, draw, edit, before={}, after={},
        target_region=["stitched name on the fabric, {where}", "embroidery in the {where}", "thread lettering on the cloth"],
        nodes=[
            NodeSpec(
                "pucker", "style_material",
                region=["creased fabric around the embroidery", "puckers that radiate from the thread letters",
                        "pulled weave beside the stitching, {where}"],
                clean=["background near the big lettering", "wavy zone in the {where}", "fabric close to the main text"],
                update=["smooth the weave where “{old}” pulled at it and gather it around “{new}”",
                        "let the creases spread from the stitches of “{new}”; the rest of the cloth lies flat again",
                        "the wrinkled zone takes on the length of “{new}”"],
                reason=["tight stitches gather the weave next to them, so wrinkles surround whatever is sewn",
                        "needlework draws the cloth together and “{new}” is sewn at other spots",
                        "fabric only ripples where thread tension acts on it"],
                anon=["tension at the edited shapes deforms the ground around them",
                      "the carrier is distorted by what is fixed to it, and that has another extent now",
                      "the deformation surrounds its cause"],
            ),
            NodeSpec(
                "seam", "style_material",
                region=["running stitch beneath the embroidered name", "dashed thread line under the lettering",
                        "row of stitches with needle holes, {where}"],
                clean=["broken line below the main text", "dashed detail in the {where}", "row of small marks under the lettering"],
                update=["sew the row as long as “{new}”, hole by hole", "add or unpick stitches until the row ends with the new name",
                        "stitch count and holes follow the width of “{new}”"],
                reason=["the row underlines the embroidery with the same thread, from its first letter to its last",
                        "stitches come whole, so another width means another number of stitches and holes",
                        "the decoration is sewn to measure for the name above it"],
                anon=["an ornament of the same make is measured to the edited element",
                      "it consists of whole units whose number follows an extent",
                      "its length was cut to that of its neighbour"],
            ),
        ],
        twin={}, edges=[EdgeSpec("pucker", "seam", "same width", ["creases and seam end where the name ends",
                                                                  "thread tension and stitch row share one length"])],
    )  # fmt: skip
