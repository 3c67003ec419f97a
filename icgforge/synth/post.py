"""What a camera, a scanner or a file format adds: light, blur, noise, JPEG."""

from __future__ import annotations

import io
import random
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image, ImageFilter


@dataclass(frozen=True)
class Post:
    """Effects of one case, the same for every picture of it.

    `noise` is the standard deviation in grey levels, `blur` a radius in pixels, `light` the
    relative change of brightness from one side to the other along `angle` (degrees), `vignette`
    the loss in the corners, `quality` that of the JPEG file (0: PNG).
    """

    seed: int
    noise: float = 0
    blur: float = 0
    light: float = 0
    angle: float = 0
    vignette: float = 0
    warmth: float = 0
    quality: int = 82

    @property
    def suffix(self) -> str:
        """Ending of the image file."""
        return ".jpg" if self.quality else ".png"

    @property
    def spread(self) -> int:
        """How far, in pixels, a changed pixel changes others before encoding."""
        return 1 + int(np.ceil(3 * self.blur)) if self.blur else 1

    def apply(self, image: Image.Image) -> Image.Image:
        """Return the picture with light, blur and noise."""
        image = image.convert("RGB")
        if self.blur:
            image = image.filter(ImageFilter.GaussianBlur(self.blur))
        if not (self.noise or self.light or self.vignette or self.warmth):
            return image
        w, h = image.size
        y = np.linspace(-1, 1, h, dtype=np.float32)[:, None]
        x = np.linspace(-1, 1, w, dtype=np.float32)[None, :]
        a = np.deg2rad(self.angle)
        gain = 1 + self.light / 2 * (x * np.cos(a) + y * np.sin(a)) - self.vignette * (x * x + y * y) / 2
        px = np.asarray(image, np.float32)
        px = px * (gain[..., None] * np.array([1 + self.warmth, 1, 1 - self.warmth], np.float32))
        grain: Any = 0.5  # rounds
        if self.noise:
            rng = np.random.default_rng(self.seed)
            grain = (rng.standard_normal((h, w), np.float32) * np.float32(self.noise) + 0.5)[..., None]
        px += grain
        return Image.fromarray(np.clip(px, 0, 255, out=px).astype(np.uint8))

    def encode(self, image: Image.Image) -> bytes:
        """Return the bytes of the file."""
        out = io.BytesIO()
        if self.quality:
            # No chroma subsampling: a changed pixel then reaches no further than its 8 x 8 block.
            image.save(out, "JPEG", quality=self.quality, subsampling=0, optimize=True)
        else:
            image.save(out, "PNG", optimize=True)
        return out.getvalue()


def draw_post(rng: random.Random, camera: bool) -> Post:
    """Draw the effects of a case; what looks photographed gets more of them, but the pools overlap."""
    strong = rng.random() < (0.8 if camera else 0.3)
    quality, blur = rng.choice([42, 45, 48, 52]), rng.choice([0, 0.3, 0.5, 0.7, 0.9])
    if not strong:
        png = not camera and rng.random() < 0.06
        light = 0 if png else rng.uniform(0, 0.05)  # a gradient would make a lossless file large
        return Post(
            rng.getrandbits(32),
            blur=blur,
            light=light,
            angle=rng.uniform(0, 360),
            quality=0 if png else quality,
        )
    return Post(
        rng.getrandbits(32),
        noise=rng.uniform(0.5, 1.7),
        blur=blur,
        light=rng.uniform(0.04, 0.26),
        angle=rng.uniform(0, 360),
        vignette=rng.uniform(0, 0.14),
        warmth=rng.uniform(-0.03, 0.04),
        quality=quality,
    )
