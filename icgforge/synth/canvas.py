"""Drawing on Pillow: a canvas that remembers the pixels of every named element."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont

Color = tuple[int, ...] | str
Point = tuple[float, float]


@lru_cache(maxsize=512)
def font(family: str, size: int) -> ImageFont.FreeTypeFont:
    """Return a font of the bundled families, or DejaVu where the family is not there."""
    try:
        from icgforge.synth import fonts
    except ImportError:
        import matplotlib

        folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
        path = folder / f"{family}.ttf"
        return ImageFont.truetype(str(path if path.is_file() else folder / "DejaVuSans.ttf"), size)
    return fonts.get(family, size)


class Canvas:
    """An RGBA picture with named elements.

    Everything that is drawn inside `with canvas.element("price"):` counts as that element; its
    mask is the set of pixels that changed there. `masks[name]` is a boolean array (height, width).

    Parameters
    ----------
    size : tuple of int
        Width and height in pixels.
    background : colour, optional
        Transparent when left out.

    Examples
    --------
    >>> c = Canvas((40, 20), "white")
    >>> with c.element("dot"):
    ...     c.rect((5, 5, 9, 9), "black")
    >>> c.box("dot")
    (5, 5, 9, 9)
    """

    def __init__(self, size: tuple[int, int], background: Color | None = None) -> None:
        self.size = size
        self.img = Image.new("RGBA", size, (0, 0, 0, 0) if background is None else background)
        self.masks: dict[str, np.ndarray] = {}
        self.texts: list[str] = []
        self._draw: ImageDraw.ImageDraw | None = None

    # -- elements ---------------------------------------------------------------------------
    @contextmanager
    def element(self, name: str) -> Iterator[Canvas]:
        """Register all that is drawn inside under `name`; may be nested and repeated."""
        before = _words(self.img)
        yield self
        self._add(name, _words(self.img) != before)

    def mark(self, name: str, box: Sequence[float]) -> None:
        """Count a rectangle (x0, y0, x1, y1) as part of element `name` without drawing."""
        mask = np.zeros(self.size[::-1], bool)
        x0, y0, x1, y1 = (max(0, round(v)) for v in box)
        mask[y0:y1, x0:x1] = True
        self._add(name, mask)

    def _add(self, name: str, mask: np.ndarray) -> None:
        self.masks[name] = self.masks[name] | mask if name in self.masks else mask

    def box(self, name: str) -> tuple[int, int, int, int] | None:
        """Return the bounding box of an element so far, None if nothing of it was drawn."""
        mask = self.masks.get(name)
        return None if mask is None else mask_box(mask)

    # -- shapes -----------------------------------------------------------------------------
    @property
    def d(self) -> ImageDraw.ImageDraw:
        """Pillow's drawing object on this picture (shapes replace pixels, alpha included)."""
        if self._draw is None:
            self._draw = ImageDraw.Draw(self.img)
        return self._draw

    def rect(
        self, box: Sequence[float], fill: Color | None = None, *, radius: float = 0,
        outline: Color | None = None, width: int = 1,
    ) -> None:  # fmt: skip
        """Draw a rectangle x0, y0, x1, y1 (x1, y1 exclusive), with round corners on request."""
        x0, y0, x1, y1 = box
        xy = (x0, y0, max(x0, x1 - 1), max(y0, y1 - 1))
        self.blend(lambda d: d.rounded_rectangle(xy, radius, fill, outline, width), (fill, outline))

    def ellipse(
        self, box: Sequence[float], fill: Color | None = None, *, outline: Color | None = None, width: int = 1
    ) -> None:
        """Draw an ellipse in a box, smooth at its rim."""
        self._smooth(lambda d, k: d.ellipse([v * k for v in box], fill, outline, width * k), box, 3)

    def polygon(self, points: Sequence[Point], fill: Color) -> None:
        """Draw a filled polygon, smooth at its rim."""
        xs, ys = zip(*points, strict=True)
        box = (min(xs), min(ys), max(xs), max(ys))
        self._smooth(lambda d, k: d.polygon([(x * k, y * k) for x, y in points], fill), box, 3)

    def line(self, points: Sequence[Point], fill: Color, width: float = 1) -> None:
        """Draw a line through points, smooth at its rim, with round joints."""
        xs, ys = zip(*points, strict=True)
        box = (min(xs) - width, min(ys) - width, max(xs) + width, max(ys) + width)
        self._smooth(
            lambda d, k: d.line(
                [(x * k, y * k) for x, y in points], fill, max(1, round(width * k)), joint="curve"
            ),
            box,
            3,
        )

    def arc(self, box: Sequence[float], start: float, end: float, fill: Color, width: float = 1) -> None:
        """Draw an arc (degrees clockwise from 3 o'clock) of the ellipse in a box."""
        self._smooth(
            lambda d, k: d.arc([v * k for v in box], start, end, fill, max(1, round(width * k))), box, 3
        )

    def pie(self, box: Sequence[float], start: float, end: float, fill: Color) -> None:
        """Draw a slice (degrees clockwise from 3 o'clock) of the ellipse in a box."""
        self._smooth(lambda d, k: d.pieslice([v * k for v in box], start, end, fill), box, 3)

    def _smooth(self, paint: Any, box: Sequence[float], k: int) -> None:
        x0, y0 = int(np.floor(box[0])) - 2, int(np.floor(box[1])) - 2
        x1, y1 = int(np.ceil(box[2])) + 3, int(np.ceil(box[3])) + 3
        size = (max(1, x1 - x0), max(1, y1 - y0))
        big = Image.new("RGBA", (size[0] * k, size[1] * k), (0, 0, 0, 0))
        draw = _Shifted(ImageDraw.Draw(big), -x0 * k, -y0 * k)
        paint(draw, k)
        self.paste(_premultiplied(big, lambda im: im.reduce(k)), (x0, y0))

    def blend(self, paint: Any, colors: Sequence[Color | None]) -> None:
        """Run `paint(draw)`; translucent colours are blended over what is there."""
        if any(isinstance(c, tuple) and len(c) == 4 and c[3] < 255 for c in colors):
            layer = Image.new("RGBA", self.size, (0, 0, 0, 0))
            paint(ImageDraw.Draw(layer))
            self.img.alpha_composite(layer)
        else:
            paint(self.d)

    # -- text -------------------------------------------------------------------------------
    def text(
        self, xy: Point, text: str, face: tuple[str, int] | ImageFont.FreeTypeFont, fill: Color, *,
        anchor: str = "la", stroke: int = 0, stroke_fill: Color | None = None, spacing: float = 0,
        align: str = "left", leading: float = 4,
    ) -> tuple[float, float, float, float]:  # fmt: skip
        """Write text and return its box.

        `face` is (family, size); `spacing` is extra tracking in pixels (one line only, anchors
        l, m, r); newlines make several lines with `leading` pixels between (anchor la or ma).
        """
        f = font(*face) if isinstance(face, tuple) else face
        self.texts.append(text)
        kw: dict[str, Any] = {"font": f, "stroke_width": stroke}
        x, y = xy
        parts: list[tuple[Point, str, str]] = [((x, y), text, anchor)]
        if spacing and "\n" not in text:
            total = sum(f.getlength(ch) for ch in text) + spacing * (len(text) - 1)
            x -= {"l": 0.0, "m": total / 2, "r": total}[anchor[0]]
            parts = []
            for ch in text:
                parts.append(((x, y), ch, "l" + anchor[1]))
                x += f.getlength(ch) + spacing
        elif "\n" in text:
            kw |= {"align": align, "spacing": leading}
        boxes = [self.d.textbbox(at, part, anchor=how, **kw) for at, part, how in parts]
        x0, y0 = (int(np.floor(min(b[i] for b in boxes))) - 2 for i in (0, 1))
        x1, y1 = (int(np.ceil(max(b[i] for b in boxes))) + 3 for i in (2, 3))
        layer = Image.new("RGBA", (max(1, x1 - x0), max(1, y1 - y0)), (0, 0, 0, 0))
        d = ImageDraw.Draw(layer)
        for (px, py), part, how in parts:
            d.text((px - x0, py - y0), part, anchor=how, fill=fill, stroke_fill=stroke_fill, **kw)
        self.paste(layer, (x0, y0))
        ink = layer.getbbox()
        return (ink[0] + x0, ink[1] + y0, ink[2] + x0, ink[3] + y0) if ink else (x, y, x, y)

    @staticmethod
    def text_size(text: str, face: tuple[str, int], spacing: float = 0) -> tuple[float, float]:
        """Return width and height of one line of text."""
        box = font(*face).getbbox(text)
        return box[2] - box[0] + spacing * (len(text) - 1), box[3] - box[1]

    # -- layers -----------------------------------------------------------------------------
    def layer(self, size: tuple[int, int] | None = None) -> Canvas:
        """Return an empty transparent canvas, of the same size unless another is given."""
        return Canvas(size or self.size)

    def paste(self, image: Image.Image, xy: Point = (0, 0)) -> None:
        """Lay an image over this one, its top left corner at xy; may hang over the edges."""
        x, y = round(xy[0]), round(xy[1])
        image = image.convert("RGBA")
        sx, sy = max(0, -x), max(0, -y)
        if sx >= image.width or sy >= image.height or x >= self.size[0] or y >= self.size[1]:
            return
        self.img.alpha_composite(image, (max(0, x), max(0, y)), (sx, sy))

    def put(
        self, sub: Canvas, xy: Point = (0, 0), *, opacity: float = 1, blur: float = 0,
        flip: str = "", angle: float = 0, tint: Color | None = None, clip: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        """Lay another canvas over this one and take over its elements and texts.

        Parameters
        ----------
        sub : Canvas
            What to lay down.
        xy : tuple of float
            Where its top left corner goes.
        opacity, blur, angle : float
            Factor on alpha; Gaussian radius in pixels; rotation in degrees counter-clockwise about
            the centre (size kept: leave margins).
        flip : str
            "h" mirrors left and right, "v" top and bottom, "hv" both.
        tint : colour, optional
            Paint the shape in one colour (for shadows).
        clip : array of float or bool, optional
            Factor per pixel of this canvas (height, width), 0 hides: gradients and window panes.
        """
        images = {"": sub.img} | {k: _mask_image(m) for k, m in sub.masks.items()}
        for key, image in images.items():
            if "h" in flip:
                image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
            if "v" in flip:
                image = image.transpose(Image.Transpose.FLIP_TOP_BOTTOM)
            if angle:
                image = _premultiplied(image, lambda im: im.rotate(angle, Image.Resampling.BICUBIC))
            if not key and tint is not None:
                solid = Image.new("RGBA", image.size, tint)
                solid.putalpha(ImageChops.multiply(image.getchannel("A"), solid.getchannel("A")))
                image = solid
            if blur:
                image = _premultiplied(image, lambda im: im.filter(ImageFilter.GaussianBlur(blur)))
            images[key] = image
        self._land(images, xy, opacity, clip)
        self.texts += sub.texts

    def warp(
        self, sub: Canvas, quad: Sequence[Point], *, opacity: float = 1, clip: np.ndarray | None = None
    ) -> None:
        """Lay another canvas over this one in perspective.

        `quad` gives where its corners go: top left, top right, bottom right, bottom left.
        """
        xs, ys = zip(*quad, strict=True)
        x0, y0 = int(min(xs)) - 2, int(min(ys)) - 2
        w, h = int(max(xs)) + 3 - x0, int(max(ys)) + 3 - y0
        corners = [(0, 0), (sub.size[0], 0), sub.size, (0, sub.size[1])]
        data = _homography([((x - x0) * 2, (y - y0) * 2) for x, y in quad], corners)
        images = {"": sub.img} | {k: _mask_image(m) for k, m in sub.masks.items()}

        def bend(im: Image.Image) -> Image.Image:
            out = im.transform((2 * w, 2 * h), Image.Transform.PERSPECTIVE, data, Image.Resampling.BICUBIC)
            return out.reduce(2)

        self._land({k: _premultiplied(im, bend) for k, im in images.items()}, (x0, y0), opacity, clip)
        self.texts += sub.texts

    def _land(
        self, images: dict[str, Image.Image], xy: Point, opacity: float, clip: np.ndarray | None
    ) -> None:
        for key, image in images.items():
            if key:
                flat = Image.new("L", self.size, 0)
                flat.paste(image, (round(xy[0]), round(xy[1])))
                mask = np.asarray(flat) > 0
                self._add(key, mask if clip is None else mask & (clip > 0))
                continue
            if opacity == 1 and clip is None:
                self.paste(image, xy)
                continue
            full = Canvas(self.size)
            full.paste(image, xy)
            alpha = np.asarray(full.img.getchannel("A")) * opacity
            if clip is not None:
                alpha = alpha * clip
            full.img.putalpha(Image.fromarray(np.rint(alpha).astype(np.uint8)))
            self.img.alpha_composite(full.img)


class _Shifted:
    """A drawing object whose coordinates are moved, for supersampling a part of a picture."""

    def __init__(self, draw: ImageDraw.ImageDraw, dx: float, dy: float) -> None:
        self._draw, self._by = draw, (dx, dy)

    def __getattr__(self, name: str) -> Any:
        method, (dx, dy) = getattr(self._draw, name), self._by

        def call(xy: Any, *args: Any, **kw: Any) -> Any:
            if isinstance(xy[0], tuple):
                return method([(x + dx, y + dy) for x, y in xy], *args, **kw)
            return method([v + (dy if i % 2 else dx) for i, v in enumerate(xy)], *args, **kw)

        return call


def _words(image: Image.Image) -> np.ndarray:
    """Return the pixels of an RGBA picture as one number each."""
    return np.frombuffer(image.tobytes(), np.uint32).reshape(image.height, image.width)


def mask_box(mask: np.ndarray) -> tuple[int, int, int, int] | None:
    """Return the bounding box x0, y0, x1, y1 of the true pixels, None if there are none."""
    ys, xs = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return (int(xs[0]), int(ys[0]), int(xs[-1]) + 1, int(ys[-1]) + 1) if len(xs) else None


def _mask_image(mask: np.ndarray) -> Image.Image:
    """Return the mask as an image, grown by a pixel for what resampling spreads."""
    return Image.fromarray(mask.astype(np.uint8) * 255).filter(ImageFilter.MaxFilter(3))


def _premultiplied(image: Image.Image, change: Any) -> Image.Image:
    """Apply a resampling without dark or bright fringes at transparent rims."""
    return change(image) if image.mode == "L" else change(image.convert("RGBa")).convert("RGBA")


def _homography(src: Sequence[Point], dst: Sequence[Point]) -> list[float]:
    """Solve for the eight coefficients that map each point of `src` to that of `dst`."""
    rows, right = [], []
    for (x, y), (u, v) in zip(src, dst, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        right += [u, v]
    return [round(float(c), 12) for c in np.linalg.solve(np.array(rows, float), np.array(right, float))]


def fit_size(text: str, family: str, width: float, largest: int, smallest: int = 9) -> int:
    """Return the largest size (pixels) at which one line of text is no wider than `width`.

    Examples
    --------
    >>> fit_size("a very long line of text", "plain", 100, 40) < fit_size("short", "plain", 100, 40)
    True
    """
    for size in range(largest, smallest, -1):
        if font(family, size).getlength(text) <= width:
            return size
    return smallest
