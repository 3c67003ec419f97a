"""Surfaces and optics for shaded scenes: textures by seeded noise, fitted text, shadows, ripples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from icgforge.synth.canvas import Canvas, font

# fmt: off

RGB = tuple[int, int, int]
Size = tuple[int, int]


def shade(color: Sequence[int], factor: float) -> RGB:
    """Darken (factor below 1) or lighten (above 1, towards white) a colour.

    Examples
    --------
    >>> shade((100, 100, 100), 0.5), shade((100, 100, 100), 1.5)
    ((50, 50, 50), (178, 178, 178))
    """
    r, g, b = color[:3]
    if factor <= 1:
        return round(r * factor), round(g * factor), round(b * factor)
    t = min(1.0, factor - 1)
    return round(r + (255 - r) * t), round(g + (255 - g) * t), round(b + (255 - b) * t)


@lru_cache(maxsize=32)
def cloud(size: Size, seed: int, cell: tuple[float, float] = (40, 40), octaves: int = 3) -> np.ndarray:
    """Return smooth noise between -1 and 1 of shape (height, width); do not write into it."""
    rng, (w, h) = np.random.default_rng(seed), size
    total, weight = np.zeros((h, w), np.float32), 0.0
    for k in range(octaves):
        nx = max(2, math.ceil(w / cell[0] * 2**k) + 1)
        ny = max(2, math.ceil(h / cell[1] * 2**k) + 1)
        grid = Image.fromarray(rng.uniform(-1, 1, (ny, nx)).astype(np.float32))
        total += np.asarray(grid.resize(size, Image.Resampling.BICUBIC)) * 0.5**k
        weight += 0.5**k
    return np.clip(total / weight * 1.6, -1, 1)


def _paint(base: Sequence[int], value: np.ndarray, strength: float) -> Image.Image:
    px = np.asarray(base[:3], np.float32) * (1 + strength * value[..., None])
    return Image.fromarray(np.clip(np.rint(px), 0, 255).astype(np.uint8))


def _grain(size: Size, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((size[1], size[0]), np.float32)


def plaster(size: Size, seed: int, color: Sequence[int]) -> Image.Image:
    """Return a painted wall: broad stains and fine grain."""
    return _paint(color, cloud(size, seed, (130, 110), 4) + 0.06 * _grain(size, seed + 1), 0.075)


def asphalt(size: Size, seed: int, color: Sequence[int]) -> Image.Image:
    """Return a coarse road surface."""
    return _paint(color, 0.6 * cloud(size, seed, (90, 40), 2) + 0.2 * _grain(size, seed + 1), 0.16)


def wood(size: Size, seed: int, color: Sequence[int], planks: int = 0) -> Image.Image:
    """Return boards with grain along x; `planks` boards one below the other (0: a single one)."""
    w, h = size
    flow = cloud(size, seed, (260, 34), 2)
    y = np.arange(h, dtype=np.float32)[:, None] / h
    rings = np.sin((y * 26 + flow * 5) * 2 * np.pi / 3)
    value = 0.5 * rings + 0.5 * cloud(size, seed + 1, (190, 3), 2) + 0.08 * _grain(size, seed + 2)
    image = _paint(color, value, 0.13)
    if planks:
        d, rng = ImageDraw.Draw(image, "RGBA"), np.random.default_rng(seed + 3)
        for i in range(planks):
            y0, y1 = round(i * h / planks), round((i + 1) * h / planks)
            d.rectangle((0, y0, w, y1), fill=(0, 0, 0, int(rng.integers(0, 36))))
            d.line((0, y0, w, y0), fill=(0, 0, 0, 110), width=2)
            d.line((0, y0 + 2, w, y0 + 2), fill=(255, 255, 255, 22))
    return image


def brick(size: Size, seed: int, color: Sequence[int], course: int = 22) -> Image.Image:
    """Return a brick wall with courses of the given height."""
    w, h = size
    image = _paint(shade(color, 1.28), cloud(size, seed, (60, 60), 2) * 0.6, 0.1)
    d, rng = ImageDraw.Draw(image), np.random.default_rng(seed)
    long = round(course * 2.6)
    for row in range(h // course + 1):
        x = -(row % 2) * long // 2 - 2
        while x < w:
            tone = shade(color, float(rng.uniform(0.78, 1.1)))
            d.rectangle((x, row * course, x + long - 3, row * course + course - 3), fill=tone)
            x += long
    grain = 0.2 * _grain(size, seed + 2) + cloud(size, seed + 3, (50, 30), 3)
    px = np.asarray(image, np.float32) * (1 + 0.07 * grain[..., None])
    return Image.fromarray(np.clip(np.rint(px), 0, 255).astype(np.uint8)).filter(ImageFilter.GaussianBlur(0.5))


def water(size: Size, seed: int, near: Sequence[int], far: Sequence[int]) -> Image.Image:
    """Return a water surface with flat waves, `far` colour at the top."""
    base = np.asarray(gradient(size, far, near), np.float32)
    waves = cloud(size, seed, (130, 9), 3)
    px = base * (1 + 0.13 * waves[..., None])
    return Image.fromarray(np.clip(np.rint(px), 0, 255).astype(np.uint8))


def steel(size: Size, seed: int, color: Sequence[int]) -> Image.Image:
    """Return brushed metal."""
    return _paint(color, 0.8 * cloud(size, seed, (280, 1.5), 1) + 0.15 * _grain(size, seed + 1), 0.05)


def weave(size: Size, seed: int, color: Sequence[int]) -> Image.Image:
    """Return cloth with a visible weave."""
    w, h = size
    y, x = np.mgrid[0:h, 0:w].astype(np.float32)
    threads = np.sin(x * 2.1) * np.sin(y * 2.1) + 0.5 * cloud(size, seed, (4, 60), 1) + 0.5 * cloud(size, seed + 1, (60, 4), 1)
    return _paint(color, threads + 0.1 * _grain(size, seed + 2), 0.034)


def gradient(size: Size, top: Sequence[int], bottom: Sequence[int]) -> Image.Image:
    """Return a vertical gradient."""
    t = np.linspace(0, 1, size[1], dtype=np.float32)[:, None, None]
    px = np.asarray(top[:3], np.float32) * (1 - t) + np.asarray(bottom[:3], np.float32) * t
    return Image.fromarray(np.broadcast_to(np.rint(px), (size[1], size[0], 3)).astype(np.uint8))


def fit(text: str, family: str, width: float, size: int, least: int = 10) -> int:
    """Return the largest font size up to `size` at which a line is no wider than `width`.

    Examples
    --------
    >>> fit("WINTERBOURNE", "slab-bold", 120, 60) < fit("TEA", "slab-bold", 120, 60)
    True
    """
    length = font(family, size).getlength(text)
    return size if length <= width else max(least, int(size * width / length))


def line(text: str, family: str, size: int, fill: tuple[int, ...], element: str | None, pad: int = 6) -> Canvas:
    """Return a canvas that is just large enough for one line of text, named `element`."""
    x0, y0, x1, y1 = font(family, size).getbbox(text)
    c = Canvas((max(2, math.ceil(x1 - x0)) + 2 * pad, max(2, math.ceil(y1 - y0)) + 2 * pad))
    at = (pad - x0, pad - y0)
    if element is None:
        c.text(at, text, (family, size), fill)
    else:
        with c.element(element):
            c.text(at, text, (family, size), fill)
    return c


def rippled(sub: Canvas, amount: float, period: float, seed: int) -> Canvas:
    """Return a copy whose rows are shifted as by waves, more towards the bottom."""
    w, h = sub.size
    rng = np.random.default_rng(seed)
    y = np.arange(h, dtype=float)
    phase, phase2 = rng.uniform(0, 6.28, 2)
    wave = np.sin(y / period * 6.28 + phase) + 0.6 * np.sin(y / period * 2.7 + phase2)
    shift = np.rint(amount * (0.5 + 0.8 * y / h) * wave).astype(int)
    index = np.clip(np.arange(w)[None, :] - shift[:, None], 0, w - 1)
    rows = np.arange(h)[:, None]
    out = Canvas(sub.size)
    out.img = Image.fromarray(np.asarray(sub.img)[rows, index])
    out.masks = {k: m[rows, index] for k, m in sub.masks.items()}
    out.texts = list(sub.texts)
    return out


def tinted(sub: Canvas, color: tuple[int, ...], blur: float = 0, pad: int = 0) -> Canvas:
    """Return the silhouette of a canvas in one colour, widened by `pad` on every side."""
    out = Canvas((sub.size[0] + 2 * pad, sub.size[1] + 2 * pad))
    out.put(sub, (pad, pad), tint=color, blur=blur)
    return out


def bent(sub: Canvas, radius: float, sag: float = 0) -> Canvas:
    """Return a flat label laid round an upright cylinder of the given radius (pixels).

    `sag` lowers the middle against the rims, as when the cylinder is seen from above.
    """
    w, h = sub.size
    half = min(radius * 0.999, radius * math.sin(min(1.45, w / 2 / radius)))
    ow, oh = round(2 * half), h + math.ceil(abs(sag))
    x = (np.arange(ow) + 0.5 - half) / radius
    u = np.clip(radius * np.arcsin(np.clip(x, -1, 1)) + w / 2, 0, w - 1.001)
    drop = sag * np.sqrt(np.clip(1 - x * x, 0, 1))
    yy = np.arange(oh)[:, None] - drop[None, :]
    inside = (yy >= 0) & (yy <= h - 1.001)
    yy = np.clip(yy, 0, h - 1.001)
    iu, iy = np.floor(u).astype(int)[None, :], np.floor(yy).astype(int)
    fu, fy = (u - iu[0])[None, :, None], (yy - iy)[..., None]
    px = np.asarray(sub.img.convert("RGBa"), np.float32)
    mix = (px[iy, iu] * (1 - fu) + px[iy, iu + 1] * fu) * (1 - fy) + (px[iy + 1, iu] * (1 - fu) + px[iy + 1, iu + 1] * fu) * fy
    mix[~inside] = 0
    out = Canvas((ow, oh))
    out.img = Image.fromarray(np.rint(mix).astype(np.uint8), "RGBa").convert("RGBA")
    for key, m in sub.masks.items():
        out.masks[key] = (m[iy, iu] | m[iy, iu + 1] | m[iy + 1, iu] | m[iy + 1, iu + 1]) & inside
    out.texts = list(sub.texts)
    return out


def soft_box(c: Canvas, box: Sequence[float], blur: float, alpha: int, dy: float = 4) -> None:
    """Lay the soft shadow of a rectangle."""
    x0, y0, x1, y1 = box
    m = math.ceil(3 * blur)
    layer = Canvas((round(x1 - x0) + 2 * m, round(y1 - y0) + 2 * m))
    layer.rect((m, m, layer.size[0] - m, layer.size[1] - m), (0, 0, 0, alpha))
    c.put(layer, (x0 - m, y0 - m + dy), blur=blur)


def strokes(c: Canvas, segments: Sequence[Sequence[tuple[float, float]]], fill: tuple[int, ...], width: float) -> None:
    """Draw many lines of one kind in a single pass, smooth at their rims."""
    layer = Image.new("RGBA", (c.size[0] * 2, c.size[1] * 2))
    d = ImageDraw.Draw(layer)
    for points in segments:
        d.line([(2 * x, 2 * y) for x, y in points], fill, max(1, round(2 * width)))
    c.paste(layer.convert("RGBa").reduce(2).convert("RGBA"))


def facets(c: Canvas, shapes: Sequence[tuple[Sequence[tuple[float, float]], tuple[int, ...]]]) -> None:
    """Fill many polygons, one over the other, in a single pass, smooth at their rims."""
    layer = Image.new("RGBA", (c.size[0] * 2, c.size[1] * 2))
    d = ImageDraw.Draw(layer)
    for points, fill in shapes:
        d.polygon([(2 * x, 2 * y) for x, y in points], fill)
    c.paste(layer.convert("RGBa").reduce(2).convert("RGBA"))


def glow(c: Canvas, centre: tuple[float, float], radius: float, color: Sequence[int], alpha: float) -> None:
    """Add a round light that fades to nothing at `radius`."""
    x0, y0, r = round(centre[0] - radius), round(centre[1] - radius), math.ceil(radius)
    y, x = np.mgrid[0 : 2 * r, 0 : 2 * r].astype(np.float32)
    fall = np.clip(1 - np.hypot(x - radius, y - radius) / radius, 0, 1) ** 2
    px = np.zeros((2 * r, 2 * r, 4), np.uint8)
    px[..., :3] = color[:3]
    px[..., 3] = np.rint(255 * alpha * fall)
    c.paste(Image.fromarray(px), (x0, y0))


def notices(c: Canvas, lines: Sequence[str], spots: Sequence[tuple[float, float]], face: str, paper: RGB, ink: RGB,
            width: int = 104) -> None:  # fmt: skip
    """Pin small printed notices, one at each spot (their top left corners)."""
    for i, (text, (x, y)) in enumerate(zip(lines, spots, strict=False)):
        words, rows = text.split(), [""]
        for word in words:
            longer = f"{rows[-1]} {word}".strip()
            if font(face, 12).getlength(longer) > width - 16 and rows[-1]:
                rows.append(word)
            else:
                rows[-1] = longer
        height = 22 + 16 * len(rows)
        soft_box(c, (x, y, x + width, y + height), 2, 90, 2)
        c.rect((x, y, x + width, y + height), shade(paper, 1 - 0.04 * (i % 3)))
        c.rect((x + 8, y + 6, x + 30, y + 9), ink)
        for k, row in enumerate(rows):
            c.text((x + 8, y + 13 + 16 * k), row, (face, 12), ink)
