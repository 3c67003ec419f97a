"""How a design is shown: on a wall, on a desk, in a window of a screen, on a sheet; from one pool for all.

A design alone could be told by its colours and its format. Every case therefore gets a surround
whose kind, size, colours and tone have nothing to do with its template.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter

RGB = tuple[int, int, int]
LARGEST = 1024
"""Longest side of a mounted picture, so that models get the file as it is."""
MARGIN = (60, 420)
"""Least and largest sum of the margins of one axis, in pixels."""


@dataclass(frozen=True)
class Mount:
    """The surround of one case, the same for every picture of it.

    `kind` is one of KINDS, `size` the whole picture, `at` the top left corner of the design in it;
    `gamma`, `contrast` and `saturation` set the tone of the whole (1 leaves it).
    """

    seed: int
    kind: str
    inner: tuple[int, int]
    size: tuple[int, int]
    at: tuple[int, int]
    gamma: float = 1
    contrast: float = 1
    saturation: float = 1

    @property
    def camera(self) -> bool:
        """Whether it looks like something that was photographed, rather than captured."""
        return KINDS[self.kind][1]

    def apply(self, design: Image.Image) -> Image.Image:
        """Return the design in its surround, in the tone of the case."""
        out = KINDS[self.kind][0](self, random.Random(self.seed))
        out.paste(design.convert("RGB"), self.at)
        if self.saturation != 1:
            out = ImageEnhance.Color(out).enhance(self.saturation)
        level = [255 * (i / 255) ** self.gamma for i in range(256)]
        return out.point([round(128 + (v - 128) * self.contrast) for v in level] * 3)

    def mask(self, inner: np.ndarray) -> np.ndarray:
        """Return a mask of the design (height, width) as one of the whole picture."""
        out = np.zeros(self.size[::-1], bool)
        x, y = self.at
        out[y : y + inner.shape[0], x : x + inner.shape[1]] = inner
        return out

    @property
    def frame(self) -> tuple[int, int, int, int]:
        """Box of the design in the whole picture."""
        return (*self.at, self.at[0] + self.inner[0], self.at[1] + self.inner[1])


def draw_mount(rng: random.Random, inner: tuple[int, int]) -> Mount:
    """Draw the surround of a case; only the size of the design matters to it.

    Examples
    --------
    >>> mount = draw_mount(random.Random(1), (760, 520))
    >>> mount.size[0] >= 760 + MARGIN[0], max(mount.size) <= LARGEST
    (True, True)
    """
    size = tuple(min(LARGEST, side + round(rng.uniform(*MARGIN))) for side in inner)
    at = tuple(round((whole - side) * rng.uniform(0.2, 0.8)) for whole, side in zip(size, inner, strict=True))
    return Mount(
        rng.getrandbits(32), rng.choice(list(KINDS)), inner, (size[0], size[1]), (at[0], at[1]),
        gamma=float(np.exp(rng.uniform(-0.5, 0.5))), contrast=rng.uniform(0.6, 1.0),
        saturation=rng.uniform(0.4, 1.15),
    )  # fmt: skip


# -- surrounds ---------------------------------------------------------------------------------


def _color(rng: random.Random, low: int = 14, high: int = 244) -> RGB:
    """Pick a colour of any lightness, mostly far from pure."""
    grey, mix = rng.randint(low, high), rng.random() ** 1.5
    r, g, b = (round(grey + mix * (rng.randint(low, high) - grey)) for _ in range(3))
    return r, g, b


def _field(rng: random.Random, size: tuple[int, int], cells: tuple[int, int]) -> np.ndarray:
    """Return smooth noise in about -1..1, shape (height, width), with so many blobs across and down."""
    coarse = np.random.default_rng(rng.getrandbits(32)).uniform(-1, 1, (cells[1] + 1, cells[0] + 1))
    image = Image.fromarray(coarse.astype(np.float32))
    return np.asarray(image.resize(size, Image.Resampling.BICUBIC))


def _ramp(rng: random.Random, size: tuple[int, int]) -> np.ndarray:
    """Return a gradient from -1 to 1 in some direction, shape (height, width)."""
    turn = rng.uniform(0, 2 * np.pi)
    y, x = np.ogrid[-1 : 1 : size[1] * 1j, -1 : 1 : size[0] * 1j]
    return (x * np.cos(turn) + y * np.sin(turn)).astype(np.float32) / 1.42


def _coarse(size: tuple[int, int]) -> tuple[int, int]:
    """Return the size at which smooth grounds are made before they are enlarged."""
    return -(-size[0] // 4), -(-size[1] // 4)


def _lit(color: Any, light: np.ndarray, size: tuple[int, int]) -> Image.Image:
    """Return a ground of one colour, or of a field of colours, under light (coarse height and width)."""
    px = np.asarray(color, np.float32) + light[..., None]
    coarse = Image.fromarray(np.clip(px, 0, 255).astype(np.uint8))
    return coarse.resize(size, Image.Resampling.BILINEAR)


def _shadow(out: Image.Image, box: tuple[int, int, int, int], rng: random.Random, reach: int) -> None:
    """Darken round a box as if it lay or hung a little above the ground."""
    dx, dy = rng.randint(-reach, reach), rng.randint(2, reach + 2)
    dark = Image.new("L", _coarse(out.size), 0)
    ImageDraw.Draw(dark).rectangle(
        [v // 4 for v in (box[0] + dx, box[1] + dy, box[2] + dx, box[3] + dy)], rng.randint(70, 150)
    )
    dark = dark.filter(ImageFilter.GaussianBlur(reach / 4)).resize(out.size, Image.Resampling.BILINEAR)
    out.paste((0, 0, 0), (0, 0), dark)


def _grown(box: tuple[int, int, int, int], by: int) -> tuple[int, int, int, int]:
    return box[0] - by, box[1] - by, box[2] + by, box[3] + by


def _wall(m: Mount, rng: random.Random) -> Image.Image:
    """A print or panel, with or without a rim, on a painted wall under uneven light."""
    size = _coarse(m.size)
    light = rng.uniform(4, 16) * _field(rng, size, (rng.randint(2, 6), rng.randint(2, 6)))
    out = _lit(_color(rng), light + rng.uniform(5, 40) * _ramp(rng, size), m.size)
    rim = rng.choice([0, 0, 6, 12, 20])
    _shadow(out, _grown(m.frame, rim), rng, rng.randint(5, 16))
    if rim:
        ImageDraw.Draw(out).rectangle([*_grown(m.frame, rim)], _color(rng))
    return out


def _desk(m: Mount, rng: random.Random) -> Image.Image:
    """A sheet on a table: boards, cloth or stone in broad strokes."""
    color, (w, h), size = _color(rng), m.size, _coarse(m.size)
    cells = rng.randint(1, 5), rng.randint(10, 44)
    grain = _field(rng, size, cells if rng.random() < 0.5 else cells[::-1])
    out = _lit(color, rng.uniform(5, 20) * grain + rng.uniform(0, 26) * _ramp(rng, size), m.size)
    d, boards = ImageDraw.Draw(out), rng.choice([0, 0, 3, 4, 6])
    dark = tuple(round(0.6 * v) for v in color)
    for i in range(1, boards):
        d.line((0, h * i // boards, w, h * i // boards), dark, 2)
    _shadow(out, m.frame, rng, rng.randint(3, 9))
    margin = rng.choice([0, 0, 8, 18])
    if margin:
        d.rectangle(_grown(m.frame, margin), (244, 242, 236))
    return out


def _screen(m: Mount, rng: random.Random) -> Image.Image:
    """A window over the wallpaper of a screen."""
    a, b = np.asarray(_color(rng), np.float32), np.asarray(_color(rng), np.float32)
    size = _coarse(m.size)
    t = (_ramp(rng, size) + 0.5 * _field(rng, size, (2, 2)) + 1.5)[..., None] / 3
    out = _lit(a * t + b * (1 - t), np.zeros(size[::-1], np.float32), m.size)
    x0, y0, x1, y1 = m.frame
    bar = min(y0, rng.randint(14, 30))
    _shadow(out, (x0, y0 - bar, x1, y1), rng, rng.randint(4, 12))
    d, color = ImageDraw.Draw(out), _color(rng)
    d.rectangle((x0 - 1, y0 - bar, x1, y1), color)
    for i in range(3 if bar >= 14 else 0):
        x, y = x0 + 10 + 14 * i, y0 - bar // 2
        d.ellipse((x - 4, y - 4, x + 4, y + 4), _color(rng))
    return out


def _mat(m: Mount, rng: random.Random) -> Image.Image:
    """A page or slide of one or two colours around the design."""
    out = Image.new("RGB", m.size, _color(rng))
    d, (w, h) = ImageDraw.Draw(out), m.size
    if rng.random() < 0.6:
        cut = rng.uniform(0.2, 0.8)
        d.rectangle(rng.choice([(0, 0, w * cut, h), (0, 0, w, h * cut)]), _color(rng))
    if rng.random() < 0.5:
        d.rectangle(_grown(m.frame, rng.choice([1, 3, 8])), _color(rng))
    return out


def _pattern(m: Mount, rng: random.Random) -> Image.Image:
    """Stripes, checks or dots around the design."""
    out = Image.new("RGB", m.size, _color(rng))
    d, color, (w, h) = ImageDraw.Draw(out), _color(rng), m.size
    step, kind = rng.randint(40, 150), rng.choice(["stripes", "checks", "dots"])
    part = rng.uniform(0.25, 0.6) * step
    for i in range(w // step + 1):
        if kind == "stripes":
            d.rectangle((i * step, 0, i * step + part, h), color)
            continue
        for j in range(h // step + 1):
            x, y = i * step + (j % 2) * step / 2, j * step
            box = (x, y, x + part, y + part)
            d.ellipse(box, color) if kind == "dots" else d.rectangle(box, color)
    if rng.random() < 0.7:
        d.rectangle(_grown(m.frame, rng.randint(4, 16)), _color(rng))
    return out


KINDS: dict[str, tuple[Callable[[Mount, random.Random], Any], bool]] = {
    "wall": (_wall, True), "desk": (_desk, True), "screen": (_screen, False), "mat": (_mat, False),
    "pattern": (_pattern, False),
}  # fmt: skip
"""How each kind is drawn, and whether it looks photographed."""
