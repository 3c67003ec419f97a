"""Small pieces that many templates are built from: fitted text, cards, walls, clocks, month grids."""

from __future__ import annotations

import calendar
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from PIL import Image

from icgforge.synth.base import EdgeSpec, Fact, NodeSpec
from icgforge.synth.canvas import Canvas
from icgforge.synth.scenery import RGB, mix

Box = tuple[float, float, float, float]


def node(
    element: str, subtype: str, region: str, clean: str, update: str, reason: str, anon: str,
    *, strength: str = "strong",
) -> NodeSpec:  # fmt: skip
    """Return a node whose phrase variants are written in one string each, set apart by `|`."""
    r, c, u, why, quiet = (
        tuple(p.strip() for p in t.split("|")) for t in (region, clean, update, reason, anon)
    )
    return NodeSpec(element, subtype, r, c, u, why, quiet, strength)


def edge(a: str, b: str, kind: str, description: str) -> EdgeSpec:
    """Return an edge between two nodes, description variants set apart by `|`."""
    return EdgeSpec(a, b, kind, tuple(p.strip() for p in description.split("|")))


def fact_pair(kind: str, node_: str, sides: Iterable[dict[str, Any]]) -> Fact:
    """Return a fact from its values before and after the edit, in this order."""
    before, after = sides
    return Fact(kind, node_, before, after)


def fit(texts: Sequence[str], family: str, width: float, size: int, least: int = 11) -> int:
    """Return the largest font size up to `size` at which every text is at most `width` wide.

    Examples
    --------
    >>> fit(["short"], "slab", 1000, 40)
    40
    """
    while size > least and max(Canvas.text_size(t, (family, size))[0] for t in texts) > width:
        size -= 1
    return size


def ink_on(color: RGB) -> RGB:
    """Return near-black or near-white, whichever reads better on a colour."""
    dark = 0.299 * color[0] + 0.587 * color[1] + 0.114 * color[2] < 140
    return (252, 250, 244) if dark else (32, 30, 34)


def notes(c: Canvas, lines: Sequence[str], box: Box, family: str, color: RGB, size: int = 13) -> None:
    """Write short unrelated lines into a strip, in columns, centred as a block."""
    if not lines:
        return
    x0, y0, x1, y1 = box
    columns = min(len(lines), max(1, int((x1 - x0) // 195)))
    rows = -(-len(lines) // columns)
    step = min(size * 1.6, (y1 - y0) / rows)
    top = (y0 + y1) / 2 - step * (rows - 1) / 2
    for i, line in enumerate(lines):
        x = x0 + (x1 - x0) * (i % columns + 0.5) / columns
        c.text((x, top + step * (i // columns)), line, (family, size), color, anchor="mm")


def framed(c: Canvas, image: Image.Image, xy: tuple[float, float], color: RGB, border: int = 6) -> None:
    """Lay a picture down within a border."""
    x, y = round(xy[0]), round(xy[1])
    c.rect((x - border, y - border, x + image.width + border, y + image.height + border), color)
    c.paste(image, (x, y))


def shade(c: Canvas, box: Box, radius: float = 8, depth: int = 5, strength: int = 60) -> None:
    """Lay a soft drop shadow for a card."""
    x0, y0, x1, y1 = box
    for k in range(depth, 0, -1):
        c.rect(
            (x0 - k + 3, y0 - k + 5, x1 + k + 3, y1 + k + 5),
            (20, 20, 30, strength // depth),
            radius=radius + k,
        )


def paper(c: Canvas, box: Box, color: RGB, seed: int, grain: float = 3.0, streak: bool = False) -> None:
    """Fill a box with a coarse grain, or with lengthwise streaks as of wood."""
    x0, y0, x1, y1 = (round(v) for v in box)
    w, h = x1 - x0, y1 - y0
    rng = np.random.default_rng(seed)
    coarse = rng.normal(0, grain * 0.55, (h // 4 + 1, (w // 40 if streak else w // 4) + 1))
    field = Image.fromarray(np.clip(coarse * 4 + 128, 0, 255).astype(np.uint8)).resize(
        (w, h), Image.Resampling.BICUBIC
    )
    offset = (np.asarray(field, float) - 128) / 4
    rgb = np.clip(np.array(color, float)[None, None] + offset[..., None], 0, 255).astype(np.uint8)
    c.paste(Image.fromarray(rgb), (x0, y0))


def planks(c: Canvas, box: Box, color: RGB, seed: int, rows: int = 6) -> None:
    """Fill a box with boards."""
    x0, y0, x1, y1 = box
    rng = np.random.default_rng(seed)
    for k in range(rows):
        a, b = y0 + (y1 - y0) * k / rows, y0 + (y1 - y0) * (k + 1) / rows
        tone = mix(
            color, (255, 240, 220) if rng.random() < 0.5 else (40, 26, 18), float(rng.uniform(0, 0.14))
        )
        paper(c, (x0, a, x1, b), tone, seed + k, 5, streak=True)
        c.rect((x0, b - 2, x1, b), mix(color, (20, 12, 8), 0.5))


def bricks(c: Canvas, box: Box, color: RGB, seed: int) -> None:
    """Fill a box with a brick wall."""
    x0, y0, x1, y1 = (round(v) for v in box)
    wall = Canvas((x1 - x0, y1 - y0), mix(color, (225, 215, 205), 0.45))
    rng = np.random.default_rng(seed)
    for j in range((y1 - y0) // 18 + 1):
        for i in range(-1, (x1 - x0) // 46 + 2):
            x, y = i * 46 + (23 if j % 2 else 0), j * 18
            wall.d.rectangle(
                (x + 1, y + 1, x + 44, y + 16), fill=mix(color, (30, 20, 20), float(rng.uniform(0, 0.25)))
            )
    c.paste(wall.img, (x0, y0))


def clock(
    c: Canvas, x: float, y: float, r: float, minutes: int, rim: RGB, face: RGB = (252, 250, 244)
) -> None:
    """Draw a dial that shows `minutes` after midnight."""
    c.ellipse((x - r, y - r, x + r, y + r), rim)
    q = r * 0.88
    c.ellipse((x - q, y - q, x + q, y + q), face)
    dark = ink_on(face)
    for k in range(12):
        a = k * math.pi / 6
        inner = 0.7 if k % 3 == 0 else 0.77
        c.line(
            [(x + math.sin(a) * r * f, y - math.cos(a) * r * f) for f in (inner, 0.83)],
            dark,
            3 if k % 3 == 0 else 2,
        )
    for turn, length, width in (
        (minutes / 720, 0.46, max(3, r * 0.09)),
        (minutes % 60 / 60, 0.68, max(2, r * 0.055)),
    ):
        a = turn * 2 * math.pi
        c.line([(x, y), (x + math.sin(a) * r * length, y - math.cos(a) * r * length)], dark, width)
    c.ellipse((x - r * 0.07, y - r * 0.07, x + r * 0.07, y + r * 0.07), rim)


def month_grid(
    c: Canvas, box: Box, year: int, month: int, family: str, ink: RGB, muted: RGB, *, shift: int | None = None
) -> None:  # fmt: skip
    """Write the days of a month under Mo..Su; `shift` puts the first day in a column of one's own."""
    x0, y0, x1, y1 = box
    first, days = calendar.monthrange(year, month)
    first = first if shift is None else shift
    size = max(11, min(20, int((y1 - y0) / 9)))
    for k, name in enumerate(("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")):
        c.text((x0 + (x1 - x0) * (k + 0.5) / 7, y0 + size * 0.7), name, (family, size), muted, anchor="mm")
    for day in range(1, days + 1):
        row, column = divmod(first + day - 1, 7)
        x, y = x0 + (x1 - x0) * (column + 0.5) / 7, y0 + (y1 - y0) * (row + 1.6) / 7
        c.text(
            (x, y), str(day), (family, size), ink if column < 5 else mix(ink, (210, 50, 50), 0.7), anchor="mm"
        )


def bunting(
    c: Canvas, x0: float, x1: float, y: float, sag: float, colors: Sequence[RGB], n: int = 14
) -> None:
    """Hang a string of little flags."""

    def at(t: float) -> tuple[float, float]:
        return x0 + (x1 - x0) * t, y + sag * 4 * t * (1 - t)

    c.line([at(k / 40) for k in range(41)], (110, 104, 98), 2)
    for k in range(n):
        (xa, ya), (xb, yb) = at((k + 0.12) / n), at((k + 0.88) / n)
        tip = ((xa + xb) / 2, (ya + yb) / 2 + (xb - xa) * 1.15)
        c.polygon([(xa, ya), (xb, yb), tip], mix((120, 114, 108), (120, 114, 108), 0))
        c.polygon([(xa + 1, ya), (xb - 1, yb), (tip[0], tip[1] - 2)], colors[k % len(colors)])


def star_burst(c: Canvas, x: float, y: float, r: float, color: RGB, teeth: int = 16) -> None:
    """Draw the toothed disc that shouts an offer."""
    points = []
    for k in range(2 * teeth):
        a, q = math.pi * k / teeth, r if k % 2 == 0 else r * 0.86
        points.append((x + math.sin(a) * q, y - math.cos(a) * q))
    c.polygon(points, color)
