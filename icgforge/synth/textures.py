"""Procedural surfaces: wood, paper, slate, cloth, brick, plaster, metal, leather, stone."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from PIL import Image, ImageFilter

RGB = tuple[int, int, int]
Field = np.ndarray


def fractal(
    rng: np.random.Generator, size: tuple[int, int], cells: tuple[float, float], octaves: int = 4
) -> Field:
    """Return smooth noise in about -1..1, shape (height, width).

    `cells` is the number of blobs across the width and the height in the coarsest octave.
    """
    w, h = size
    out, weight = np.zeros((h, w), np.float32), 1.0
    for k in range(octaves):
        shape = (min(w, max(2, int(cells[0] * 2**k) + 1)), min(h, max(2, int(cells[1] * 2**k) + 1)))
        coarse = Image.fromarray(rng.standard_normal(shape[::-1], np.float32))
        out += weight * np.asarray(coarse.resize(size, Image.Resampling.BICUBIC))
        weight *= 0.5
    return out / 2


def _lit(base: RGB, gain: Field, tint: Field | None = None) -> Image.Image:
    px = np.asarray(base, np.float32) * (1 + gain[..., None])
    if tint is not None:
        px = px + tint[..., None]
    return Image.fromarray(np.clip(px, 0, 255).astype(np.uint8))


def _wood(rng: np.random.Generator, size: tuple[int, int], base: RGB) -> Image.Image:
    w, h = size
    planks = max(1, round(h / rng.integers(90, 150)))
    edges = np.linspace(0, h, planks + 1).astype(int)
    gain = np.zeros((h, w), np.float32)
    for a, b in pairwise(edges):
        strip = (w, b - a)
        bend = fractal(rng, strip, (2, 1), 2) * 5
        y = np.linspace(0, 1, b - a, dtype=np.float32)[:, None]
        rings = np.sin((y * rng.uniform(7, 12) + bend * 0.5) * 4)
        fine = fractal(rng, strip, (3, (b - a) / 4), 2)
        gain[a:b] = 0.05 * rings + 0.06 * fine + rng.uniform(-0.06, 0.06)
        gain[a : a + 2] -= 0.35
        gain[b - 1 : b] += 0.08
    return _lit(base, gain)


def _paper(rng: np.random.Generator, size: tuple[int, int], base: RGB) -> Image.Image:
    gain = 0.018 * fractal(rng, size, (3, 3), 3) + 0.010 * fractal(rng, size, (size[0] / 3, size[1] / 3), 1)
    return _lit(base, gain)


def _slate(rng: np.random.Generator, size: tuple[int, int], base: RGB) -> Image.Image:
    smear = fractal(rng, size, (3, 7), 4)
    dust = np.clip(fractal(rng, size, (2, 2), 3), 0, 2) * 11 + np.clip(smear, 0, 2) * 9
    return _lit(base, 0.05 * smear, dust)


def _cloth(rng: np.random.Generator, size: tuple[int, int], base: RGB) -> Image.Image:
    w, h = size
    y, x = np.mgrid[:h, :w].astype(np.float32)
    weave = np.sin(x * np.pi / 2) * np.sin(y * np.pi / 2) * 0.09
    thread = np.repeat(rng.standard_normal((h, 1), np.float32), w, 1) + rng.standard_normal(
        (1, w), np.float32
    )
    return _lit(base, weave + 0.02 * thread + 0.05 * fractal(rng, size, (2, 2), 2))


def _brick(rng: np.random.Generator, size: tuple[int, int], base: RGB) -> Image.Image:
    w, h = size
    bw, bh = int(rng.integers(66, 84)), int(rng.integers(26, 32))
    gain = 0.07 * fractal(rng, size, (w / 14, h / 14), 3)
    joint = np.zeros((h, w), bool)
    for row, y in enumerate(range(0, h, bh)):
        joint[y : y + 3] = True
        for x in range(-(bw // 2) * (row % 2), w, bw):
            joint[y : y + bh, max(0, x) : max(0, x + 3)] = True
            gain[y + 3 : y + bh, max(0, x + 3) : max(0, x + bw)] += rng.uniform(-0.16, 0.12)
    px = np.asarray(_lit(base, gain)).astype(np.float32)
    mortar = np.asarray((190, 184, 174), np.float32) * (0.72 + gain[..., None] * 0.5)
    px = np.where(joint[..., None], px * 0.25 + mortar * 0.75, px)
    return Image.fromarray(np.clip(px, 0, 255).astype(np.uint8)).filter(ImageFilter.GaussianBlur(0.6))


def _plaster(rng: np.random.Generator, size: tuple[int, int], base: RGB) -> Image.Image:
    height = fractal(rng, size, (size[0] / 26, size[1] / 26), 4)
    return _lit(
        base, 0.10 * (height - np.roll(height, (2, 2), (0, 1))) + 0.03 * fractal(rng, size, (2, 2), 2)
    )


def _metal(rng: np.random.Generator, size: tuple[int, int], base: RGB) -> Image.Image:
    brush = np.asarray(
        Image.fromarray(rng.standard_normal((size[1], max(2, size[0] // 60)), np.float32)).resize(
            size, Image.Resampling.BILINEAR
        )
    )
    sheen = np.sin(np.linspace(0, np.pi * rng.uniform(1.2, 2.2), size[0], dtype=np.float32))[None, :]
    return _lit(base, 0.035 * brush + 0.14 * (sheen - 0.5))


def _leather(rng: np.random.Generator, size: tuple[int, int], base: RGB) -> Image.Image:
    cells = np.abs(fractal(rng, size, (size[0] / 9, size[1] / 9), 2))
    return _lit(
        base,
        0.14 * np.clip(cells - np.roll(cells, (1, 1), (0, 1)), -1, 1) + 0.06 * fractal(rng, size, (2, 2), 2),
    )


def _stone(rng: np.random.Generator, size: tuple[int, int], base: RGB) -> Image.Image:
    grain = rng.standard_normal(size[::-1], np.float32)
    veins = np.clip(0.08 - np.abs(fractal(rng, size, (3, 3), 3)), 0, 0.08) * 2.2
    return _lit(base, 0.035 * grain + 0.08 * fractal(rng, size, (8, 8), 3) - veins)


SURFACES: dict[
    str, tuple[Callable[[np.random.Generator, tuple[int, int], RGB], Image.Image], tuple[RGB, ...]]
] = {
    "wood": (_wood, ((150, 104, 66), (186, 140, 94), (110, 74, 50), (204, 172, 130))),
    "paper": (_paper, ((246, 240, 226), (238, 228, 208), (250, 249, 245), (226, 214, 188))),
    "slate": (_slate, ((44, 52, 50), (40, 44, 48), (36, 58, 48))),
    "cloth": (_cloth, ((220, 210, 190), (62, 84, 120), (146, 52, 56), (74, 92, 74), (96, 84, 110))),
    "brick": (_brick, ((158, 84, 66), (176, 120, 92), (120, 70, 62))),
    "plaster": (_plaster, ((222, 214, 200), (196, 204, 204), (214, 190, 168), (168, 182, 176))),
    "metal": (_metal, ((172, 176, 182), (196, 168, 116), (140, 146, 152))),
    "leather": (_leather, ((104, 62, 42), (60, 44, 40), (136, 88, 56), (42, 58, 66))),
    "stone": (_stone, ((150, 148, 142), (178, 170, 156), (120, 124, 128))),
}


def surface(kind: str, size: tuple[int, int], seed: int, base: RGB | None = None) -> Image.Image:
    """Return a picture of a surface; the seed decides its colour unless `base` is given.

    Examples
    --------
    >>> surface("wood", (40, 30), 1).size
    (40, 30)
    """
    paint, bases = SURFACES[kind]
    rng = np.random.default_rng(seed)
    chosen = bases[int(rng.integers(len(bases)))]
    return paint(rng, size, base or chosen)


def tone(kind: str, seed: int) -> RGB:
    """Return the base colour that `surface` uses for this seed.

    Examples
    --------
    >>> tone("slate", 3) in SURFACES["slate"][1]
    True
    """
    bases = SURFACES[kind][1]
    return bases[int(np.random.default_rng(seed).integers(len(bases)))]
