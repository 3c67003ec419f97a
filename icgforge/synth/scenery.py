"""Flat illustrated landscapes, skies, seasons and landmarks: pure functions of kind, size and seed."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

from PIL import Image, ImageDraw

from icgkit.errors import UnknownName

RGB = tuple[int, int, int]
Points = Sequence[tuple[float, float]]
_SS = 2  # supersampling of every drawing


def mix(a: RGB, b: RGB, t: float) -> RGB:
    """Blend two colours, `t` = 0 gives `a`, 1 gives `b`."""
    return (
        round(a[0] + (b[0] - a[0]) * t),
        round(a[1] + (b[1] - a[1]) * t),
        round(a[2] + (b[2] - a[2]) * t),
    )


class Pen:
    """Draws in unit coordinates (x over the width, y over the height), antialiased.

    `u` is the length of a tenth of the shorter side in x units, `v` in y units, so that round
    things stay round in any frame.
    """

    def __init__(self, size: tuple[int, int], seed: int, fill: RGB | None = None) -> None:
        self.size = size
        self.w, self.h = size[0] * _SS, size[1] * _SS
        self.img = Image.new("RGBA", (self.w, self.h), (*fill, 255) if fill else (0, 0, 0, 0))
        self.d = ImageDraw.Draw(self.img)
        self.rng = random.Random(seed)
        self.u = min(self.w, self.h) / 10 / self.w
        self.v = min(self.w, self.h) / 10 / self.h

    def _p(self, points: Points) -> list[tuple[float, float]]:
        return [(x * self.w, y * self.h) for x, y in points]

    def poly(self, points: Points, color: RGB) -> None:
        """Fill a polygon."""
        self.d.polygon(self._p(points), fill=color)

    def rect(self, x0: float, y0: float, x1: float, y1: float, color: RGB, radius: float = 0) -> None:
        """Fill a rectangle; `radius` in tenths of the shorter side."""
        box = (x0 * self.w, y0 * self.h, max(x1 * self.w, x0 * self.w + 1), max(y1 * self.h, y0 * self.h + 1))
        self.d.rounded_rectangle(box, radius * self.u * self.w, fill=color)

    def disc(self, x: float, y: float, r: float, color: RGB, squash: float = 1.0) -> None:
        """Fill a circle of radius `r` tenths of the shorter side."""
        rx, ry = r * self.u * self.w, r * self.v * self.h * squash
        self.d.ellipse((x * self.w - rx, y * self.h - ry, x * self.w + rx, y * self.h + ry), fill=color)

    def line(self, points: Points, color: RGB, width: float = 0.2) -> None:
        """Draw a polyline, `width` in tenths of the shorter side."""
        wide = max(1, round(width * self.u * self.w))
        self.d.line(self._p(points), fill=color, width=wide, joint="curve")

    def arc(self, x: float, y: float, r: float, a0: float, a1: float, color: RGB, width: float = 0.2) -> None:
        """Draw an arc, angles in degrees clockwise from three o'clock."""
        rx, ry = r * self.u * self.w, r * self.v * self.h
        box = (x * self.w - rx, y * self.h - ry, x * self.w + rx, y * self.h + ry)
        self.d.arc(box, a0, a1, fill=color, width=max(1, round(width * self.u * self.w)))

    def sky(self, top: RGB, low: RGB, horizon: float = 1.0) -> None:
        """Lay a vertical gradient from the top down to `horizon`."""
        rows = round(horizon * self.h)
        for y in range(rows):
            self.d.line((0, y, self.w, y), fill=mix(top, low, y / max(1, rows - 1)))

    def hill(self, base: float, height: float, color: RGB, waves: float = 1.5) -> None:
        """Fill a smooth hill line down to the lower edge."""
        phase = self.rng.uniform(0, 6.28)
        line = [(i / 40, base - height * math.sin(phase + i / 40 * waves * math.pi)) for i in range(41)]
        self.poly([*line, (1, 1.01), (0, 1.01)], color)

    def done(self) -> Image.Image:
        """Return the drawing at its nominal size, RGBA."""
        return self.img.resize(self.size, Image.Resampling.BOX)


def cloud(p: Pen, x: float, y: float, s: float, color: RGB) -> None:
    """Draw a flat-bottomed cloud of size `s`."""
    for dx, dy, r in ((-1.1, 0.1, 0.6), (-0.3, -0.35, 0.85), (0.7, -0.1, 0.7), (1.3, 0.2, 0.45)):
        p.disc(x + dx * s * p.u, y + dy * s * p.v, r * s, color)
    p.rect(x - 1.5 * s * p.u, y + 0.1 * s * p.v, x + 1.6 * s * p.u, y + 0.65 * s * p.v, color, 0.28 * s)


def sun(p: Pen, x: float, y: float, r: float, color: RGB = (255, 206, 84), rays: bool = False) -> None:
    """Draw a sun, with rays on request."""
    if rays:
        for k in range(12):
            a = k * math.pi / 6
            p.line(
                [(x + math.cos(a) * q * r * p.u, y + math.sin(a) * q * r * p.v) for q in (1.25, 1.65)],
                color, 0.16 * r,
            )  # fmt: skip
    p.disc(x, y, r, color)


def fir(p: Pen, x: float, y: float, s: float, color: RGB, snow: bool = False) -> None:
    """Draw a fir that stands at (x, y) and is `s` tenths high."""
    p.rect(x - 0.06 * s * p.u, y - 0.2 * s * p.v, x + 0.06 * s * p.u, y, (96, 68, 48))
    for k in range(3):
        y0, half = y - (0.15 + 0.25 * k) * s * p.v, (0.34 - 0.08 * k) * s
        tip = y0 - 0.38 * s * p.v
        p.poly([(x - half * p.u, y0), (x + half * p.u, y0), (x, tip)], color)
        if snow:
            p.poly(
                [(x - half * 0.45 * p.u, tip + 0.17 * s * p.v), (x + half * 0.45 * p.u, tip + 0.17 * s * p.v), (x, tip)],
                (244, 248, 252),
            )  # fmt: skip


def tree(p: Pen, x: float, y: float, s: float, crown: RGB | None, trunk: RGB = (107, 76, 52)) -> None:
    """Draw a round tree of height `s` tenths, bare when `crown` is None."""
    p.poly([(x - 0.06 * s * p.u, y), (x + 0.06 * s * p.u, y), (x + 0.03 * s * p.u, y - 0.6 * s * p.v), (x - 0.03 * s * p.u, y - 0.6 * s * p.v)], trunk)  # fmt: skip
    for a, q in ((-0.9, 0.4), (-0.45, 0.55), (0.05, 0.6), (0.5, 0.55), (0.95, 0.4)):
        x1, y1 = x + math.sin(a) * q * s * p.u, y - (0.42 + math.cos(a) * q) * s * p.v
        p.line([(x, y - 0.4 * s * p.v), (x1, y1)], trunk, 0.035 * s)
        for b in (-0.35, 0.35):
            p.line([((x + x1) / 2, (y - 0.4 * s * p.v + y1) / 2), (x1 + b * 0.35 * s * p.u, y1 + 0.06 * s * p.v)], trunk, 0.02 * s)  # fmt: skip
    if crown:
        for dx, dy, r in ((-0.26, -0.62, 0.25), (0.26, -0.64, 0.25), (0, -0.84, 0.28), (0, -0.58, 0.26)):
            p.disc(x + dx * s * p.u, y + dy * s * p.v, r * s, crown)
        lit = mix(crown, (255, 255, 255), 0.2)
        for _ in range(16):
            a, q = p.rng.uniform(0, 6.28), p.rng.uniform(0, 0.34)
            p.disc(
                x + math.cos(a) * q * s * p.u, y + (-0.7 + math.sin(a) * q * 0.9) * s * p.v, 0.045 * s, lit
            )


def palm(p: Pen, x: float, y: float, s: float) -> None:
    """Draw a palm that leans to one side."""
    trunk = [(x + 0.12 * s * p.u * (t / 8) ** 2, y - 0.8 * s * p.v * t / 8) for t in range(9)]
    p.line(trunk, (140, 98, 62), 0.07 * s)
    tx, ty = trunk[-1]
    for a in (-2.9, -2.4, -1.9, -1.2, -0.7, -0.2):
        tip = (tx + math.cos(a) * 0.5 * s * p.u, ty + (math.sin(a) * 0.25 + 0.2) * s * p.v)
        mid = (tx + math.cos(a) * 0.28 * s * p.u, ty + (math.sin(a) * 0.36 - 0.02) * s * p.v)
        low = (tx + math.cos(a) * 0.24 * s * p.u, ty + (math.sin(a) * 0.24 + 0.08) * s * p.v)
        p.poly([(tx, ty), mid, tip, low], (46, 139, 87) if a < -1.5 else (58, 156, 98))


def house(p: Pen, x: float, y: float, s: float, wall: RGB, roof: RGB, lit: RGB = (120, 160, 185)) -> None:
    """Draw a small gabled house whose floor is at y."""
    p.rect(x - 0.4 * s * p.u, y - 0.55 * s * p.v, x + 0.4 * s * p.u, y, wall)
    p.poly([(x - 0.5 * s * p.u, y - 0.52 * s * p.v), (x + 0.5 * s * p.u, y - 0.52 * s * p.v), (x, y - 1.0 * s * p.v)], roof)  # fmt: skip
    p.rect(x - 0.28 * s * p.u, y - 0.42 * s * p.v, x - 0.08 * s * p.u, y - 0.22 * s * p.v, lit)
    p.rect(x + 0.08 * s * p.u, y - 0.38 * s * p.v, x + 0.28 * s * p.u, y, mix(roof, (30, 20, 20), 0.4))


def skyline(p: Pen, base: float, tone: RGB, lit: RGB | None, n: int = 9, tall: float = 4.5) -> None:
    """Draw a row of blocks with windows standing on `base`."""
    x = -0.02
    while x < 1:
        w, hgt = p.rng.uniform(0.9, 1.7) * 9 / n, p.rng.uniform(0.45, 1.0) * tall
        shade = mix(tone, (255, 255, 255), p.rng.uniform(0, 0.22))
        p.rect(x, base - hgt * p.v, x + w * p.u, base, shade)
        cols = max(2, round(w / 0.42))
        for i in range(cols):
            for j in range(int(hgt / 0.42)):
                glow = lit if lit and p.rng.random() < 0.6 else mix(shade, (20, 30, 50), 0.22)
                x0, y0 = x + (i + 0.25) * w / cols * p.u, base - hgt * p.v + (0.2 + j * 0.42) * p.v
                if y0 + 0.22 * p.v < base:
                    p.rect(x0, y0, x0 + 0.5 * w / cols * p.u, y0 + 0.22 * p.v, glow)
        x += (w + p.rng.choice((0, 0, 0.15))) * p.u


KINDS: dict[str, Callable[[Pen], None]] = {}


def kind(name: str) -> Callable[[Callable[[Pen], None]], Callable[[Pen], None]]:
    """Register a landscape under a name."""

    def add(function: Callable[[Pen], None]) -> Callable[[Pen], None]:
        KINDS[name] = function
        return function

    return add


def picture(name: str, size: tuple[int, int], seed: int) -> Image.Image:
    """Draw the landscape `name` as an RGBA image; equal arguments give equal pixels.

    Raises
    ------
    UnknownName
        If no landscape has that name.

    Examples
    --------
    >>> picture("beach", (60, 40), 1).size
    (60, 40)
    """
    from icgforge.synth import landscapes  # noqa: F401  (registers the kinds)

    if name not in KINDS:
        raise UnknownName.among("landscape", name, KINDS)
    pen = Pen(size, seed, (235, 235, 230))
    KINDS[name](pen)
    return pen.done()
