"""Small flat pictures of things: goods, dishes, animals, landmarks, ornaments. Drawn like `scenery`."""

from __future__ import annotations

import math
from collections.abc import Callable

from PIL import Image

from icgforge.synth.scenery import RGB, Pen, mix
from icgkit.errors import UnknownName

# One call, one stroke, one row a line.
# fmt: off

WHITE: RGB = (252, 252, 250)
DARK: RGB = (52, 48, 50)
ICONS: dict[str, Callable[[Pen], None]] = {}


def icon(name: str) -> Callable[[Callable[[Pen], None]], Callable[[Pen], None]]:
    """Register a small picture under a name."""

    def add(function: Callable[[Pen], None]) -> Callable[[Pen], None]:
        ICONS[name] = function
        return function

    return add


def glyph(name: str, size: int | tuple[int, int], seed: int = 0) -> Image.Image:
    """Draw the thing `name` on a transparent square of `size` pixels.

    Raises
    ------
    UnknownName
        If there is no such picture.

    Examples
    --------
    >>> glyph("bread", 32).size
    (32, 32)
    """
    from icgforge.synth import icons_more, icons_trade  # noqa: F401  (register the rest)

    if name not in ICONS:
        raise UnknownName.among("icon", name, ICONS)
    pen = Pen((size, size) if isinstance(size, int) else size, seed)
    ICONS[name](pen)
    return pen.done()


@icon("bread")
def _bread(p: Pen) -> None:
    p.rect(0.1, 0.36, 0.9, 0.78, (206, 142, 74), 2)
    for x in (0.28, 0.46, 0.64):
        p.line([(x, 0.66), (x + 0.1, 0.46)], (246, 214, 160), 0.6)


@icon("croissant")
def _croissant(p: Pen) -> None:
    p.arc(0.5, 0.72, 4.1, 190, 350, (206, 136, 62), 2.2)
    for a in (215, 245, 270, 295, 325):
        x, y = math.cos(math.radians(a)), math.sin(math.radians(a))
        p.line([(0.5 + x * 0.2, 0.72 + y * 0.2), (0.5 + x * 0.41, 0.72 + y * 0.41)], (150, 88, 36), 0.22)


@icon("fish")
def _fish(p: Pen) -> None:
    p.poly([(0.7, 0.5), (0.95, 0.3), (0.95, 0.7)], (70, 120, 150))
    p.d.ellipse((0.08 * p.w, 0.3 * p.h, 0.78 * p.w, 0.7 * p.h), fill=(98, 152, 180))
    p.poly([(0.4, 0.32), (0.62, 0.36), (0.54, 0.2)], (70, 120, 150))
    p.disc(0.22, 0.46, 0.5, WHITE)
    p.disc(0.21, 0.46, 0.25, DARK)
    p.arc(0.28, 0.5, 1.4, -50, 50, (60, 104, 132), 0.25)


@icon("book")
def _book(p: Pen) -> None:
    p.poly([(0.5, 0.28), (0.08, 0.2), (0.08, 0.74), (0.5, 0.84)], (156, 58, 56))
    p.poly([(0.5, 0.28), (0.92, 0.2), (0.92, 0.74), (0.5, 0.84)], (132, 44, 46))
    p.poly([(0.5, 0.26), (0.12, 0.18), (0.12, 0.7), (0.5, 0.8)], WHITE)
    p.poly([(0.5, 0.26), (0.88, 0.18), (0.88, 0.7), (0.5, 0.8)], (240, 238, 230))
    for k in range(4):
        p.line([(0.18, 0.3 + k * 0.1), (0.44, 0.36 + k * 0.1)], (150, 150, 150), 0.16)
        p.line([(0.82, 0.3 + k * 0.1), (0.56, 0.36 + k * 0.1)], (150, 150, 150), 0.16)


@icon("flower")
def _flower(p: Pen) -> None:
    p.line([(0.5, 0.5), (0.5, 0.95)], (70, 140, 76), 0.5)
    p.d.ellipse((0.52 * p.w, 0.68 * p.h, 0.78 * p.w, 0.82 * p.h), fill=(84, 160, 84))
    for k in range(6):
        a = k * math.pi / 3
        p.disc(0.5 + 0.2 * math.cos(a), 0.36 + 0.2 * math.sin(a), 1.35, (226, 88, 124))
    p.disc(0.5, 0.36, 1.2, (250, 206, 84))


@icon("shoe")
def _shoe(p: Pen) -> None:
    p.poly([(0.12, 0.3), (0.36, 0.3), (0.5, 0.5), (0.86, 0.58), (0.92, 0.7), (0.1, 0.7)], (60, 104, 160))
    p.rect(0.08, 0.69, 0.94, 0.78, WHITE, 0.4)
    p.rect(0.08, 0.74, 0.94, 0.78, (190, 190, 190), 0.3)
    for k in range(3):
        p.line([(0.4 + k * 0.08, 0.42 + k * 0.06), (0.48 + k * 0.08, 0.36 + k * 0.06)], WHITE, 0.3)


@icon("cheese")
def _cheese(p: Pen) -> None:
    p.poly([(0.08, 0.56), (0.66, 0.24), (0.94, 0.56)], (250, 216, 110))
    p.rect(0.08, 0.56, 0.94, 0.8, (240, 190, 66))
    for x, y, r in ((0.26, 0.68, 0.6), (0.54, 0.64, 0.45), (0.76, 0.72, 0.6), (0.62, 0.44, 0.5)):
        p.disc(x, y, r, (208, 152, 44))


@icon("cup")
def _cup(p: Pen) -> None:
    p.arc(0.72, 0.52, 1.4, -90, 90, (150, 90, 60), 0.6)
    p.poly([(0.18, 0.36), (0.74, 0.36), (0.66, 0.76), (0.26, 0.76)], (176, 106, 70))
    p.d.ellipse((0.18 * p.w, 0.3 * p.h, 0.74 * p.w, 0.42 * p.h), fill=(80, 50, 36))
    p.rect(0.1, 0.8, 0.82, 0.85, (130, 80, 56), 0.3)
    for x in (0.36, 0.52):
        p.line([(x, 0.26), (x + 0.04, 0.19), (x - 0.02, 0.12), (x + 0.03, 0.05)], (190, 190, 190), 0.25)


@icon("apple")
def _apple(p: Pen) -> None:
    p.disc(0.4, 0.58, 2.5, (206, 54, 50))
    p.disc(0.6, 0.58, 2.5, (206, 54, 50))
    p.line([(0.5, 0.38), (0.54, 0.16)], (96, 66, 44), 0.4)
    p.d.ellipse((0.54 * p.w, 0.16 * p.h, 0.78 * p.w, 0.28 * p.h), fill=(92, 158, 72))
    p.disc(0.34, 0.5, 0.5, (236, 130, 120))


def _round_fruit(p: Pen, c: RGB, leaf: RGB = (92, 158, 72)) -> None:
    p.disc(0.5, 0.56, 3.4, c)
    p.disc(0.4, 0.45, 0.8, mix(c, WHITE, 0.45))
    p.d.ellipse((0.5 * p.w, 0.12 * p.h, 0.76 * p.w, 0.26 * p.h), fill=leaf)


@icon("orange")
def _orange(p: Pen) -> None:
    _round_fruit(p, (242, 146, 42))


@icon("plum")
def _plum(p: Pen) -> None:
    _round_fruit(p, (104, 60, 132))
    p.arc(0.62, 0.5, 2.4, 120, 240, (78, 40, 104), 0.3)


@icon("lemon")
def _lemon(p: Pen) -> None:
    p.d.ellipse((0.12 * p.w, 0.3 * p.h, 0.84 * p.w, 0.78 * p.h), fill=(248, 218, 62))
    p.poly([(0.8, 0.44), (0.94, 0.54), (0.8, 0.64)], (248, 218, 62))
    p.disc(0.34, 0.46, 0.6, (254, 240, 150))
    p.d.ellipse((0.1 * p.w, 0.2 * p.h, 0.36 * p.w, 0.34 * p.h), fill=(92, 158, 72))


@icon("strawberry")
def _strawberry(p: Pen) -> None:
    p.poly([(0.2, 0.36), (0.5, 0.28), (0.8, 0.36), (0.76, 0.58), (0.5, 0.92), (0.24, 0.58)], (220, 48, 62))
    for x, y in ((0.36, 0.46), (0.52, 0.44), (0.66, 0.48), (0.42, 0.6), (0.58, 0.6), (0.5, 0.74)):
        p.disc(x, y, 0.2, (252, 226, 150))
    for x in (0.26, 0.42, 0.58, 0.74):
        p.poly([(x - 0.08, 0.34), (x + 0.08, 0.34), (x + (x - 0.5) * 0.3, 0.2)], (76, 150, 70))


@icon("cherry")
def _cherry(p: Pen) -> None:
    p.line([(0.32, 0.62), (0.5, 0.16), (0.68, 0.66)], (90, 130, 60), 0.35)
    p.disc(0.32, 0.68, 1.9, (176, 24, 52))
    p.disc(0.68, 0.72, 1.9, (190, 34, 60))
    p.disc(0.27, 0.62, 0.4, (236, 130, 150))
    p.d.ellipse((0.5 * p.w, 0.1 * p.h, 0.8 * p.w, 0.24 * p.h), fill=(84, 156, 76))


@icon("carrot")
def _carrot(p: Pen) -> None:
    for a in (-0.14, 0, 0.14):
        p.line([(0.62, 0.36), (0.72 + a, 0.1)], (84, 156, 76), 0.5)
    p.poly([(0.5, 0.28), (0.74, 0.42), (0.2, 0.94)], (238, 128, 44))
    for k in range(3):
        p.line([(0.5 - k * 0.08, 0.46 + k * 0.12), (0.56 - k * 0.08, 0.52 + k * 0.1)], (206, 96, 30), 0.22)


@icon("chicken")
def _chicken(p: Pen) -> None:
    p.disc(0.4, 0.56, 2.8, (196, 118, 56))
    p.d.ellipse((0.34 * p.w, 0.24 * p.h, 0.74 * p.w, 0.66 * p.h), fill=(206, 130, 64))
    p.line([(0.62, 0.36), (0.84, 0.16)], (244, 236, 220), 0.8)
    p.disc(0.83, 0.13, 0.5, (244, 236, 220))
    p.disc(0.89, 0.19, 0.5, (244, 236, 220))
    p.disc(0.32, 0.46, 0.5, (232, 170, 106))


@icon("beef")
def _beef(p: Pen) -> None:
    p.d.ellipse((0.08 * p.w, 0.22 * p.h, 0.92 * p.w, 0.8 * p.h), fill=(250, 232, 220))
    p.d.ellipse((0.13 * p.w, 0.27 * p.h, 0.87 * p.w, 0.75 * p.h), fill=(178, 52, 54))
    p.disc(0.34, 0.48, 0.9, WHITE)
    p.disc(0.34, 0.48, 0.45, (226, 200, 190))
    p.arc(0.6, 0.52, 1.7, 200, 330, (232, 170, 164), 0.25)


@icon("shrimp")
def _shrimp(p: Pen) -> None:
    p.arc(0.52, 0.5, 3.4, 60, 330, (242, 132, 104), 1.6)
    for a in (110, 150, 190, 230, 270):
        x, y = math.cos(math.radians(a)), math.sin(math.radians(a))
        p.line([(0.52 + x * 0.19, 0.5 + y * 0.19), (0.52 + x * 0.34, 0.5 + y * 0.34)], (206, 92, 70), 0.2)
    p.poly([(0.62, 0.72), (0.86, 0.74), (0.7, 0.92)], (226, 104, 80))
    p.disc(0.74, 0.3, 0.3, DARK)
    p.line([(0.8, 0.34), (0.96, 0.16)], (206, 92, 70), 0.16)


@icon("mushroom")
def _mushroom(p: Pen) -> None:
    p.rect(0.4, 0.48, 0.6, 0.88, (240, 228, 206), 0.8)
    p.d.pieslice((0.12 * p.w, 0.14 * p.h, 0.88 * p.w, 0.94 * p.h), 180, 360, fill=(166, 110, 74))
    for x, y, r in ((0.34, 0.4, 0.5), (0.56, 0.28, 0.6), (0.7, 0.44, 0.4)):
        p.disc(x, y, r, (224, 190, 156))


@icon("cactus")
def _cactus(p: Pen) -> None:
    p.rect(0.4, 0.14, 0.58, 0.72, (76, 140, 90), 0.9)
    for pts in ([(0.46, 0.54), (0.24, 0.54), (0.24, 0.34)], [(0.52, 0.46), (0.76, 0.46), (0.76, 0.26)]):
        p.line(pts, (76, 140, 90), 1.1)
        p.disc(*pts[-1], 0.55, (76, 140, 90))
    p.poly([(0.28, 0.7), (0.72, 0.7), (0.66, 0.94), (0.34, 0.94)], (190, 96, 62))


@icon("candle")
def _candle(p: Pen) -> None:
    p.rect(0.4, 0.38, 0.6, 0.92, (250, 240, 222), 0.3)
    p.line([(0.5, 0.38), (0.5, 0.3)], DARK, 0.25)
    p.disc(0.5, 0.24, 0.9, (252, 190, 70), 1.4)
    p.disc(0.5, 0.27, 0.5, (255, 236, 160), 1.4)
