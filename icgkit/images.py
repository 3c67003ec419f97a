"""Images as they are sent: read once, checked, turned upright, scaled down where too large."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import os
import warnings
from collections import deque
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icgkit.errors import ImageError

if TYPE_CHECKING:
    from PIL.Image import Image

    from icgkit.graph import Case

MAX_SIDE = 1024
MAX_BYTES = 3_700_000
"""Sent bytes stay below 5 MB once they are base64."""
_MEDIA = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
_PLAIN_MODES = {"RGB", "RGBA", "L", "P"}
_ORIENTATION = 0x0112


class DataURL(str):
    """A data URL that knows the hash of its bytes and is never copied."""

    sha256: str
    __slots__ = ("sha256",)

    def __deepcopy__(self, memo: dict[int, Any]) -> DataURL:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (_data_url, (str(self), self.sha256))


def _data_url(text: str, sha256: str) -> DataURL:
    url = DataURL(text)
    url.sha256 = sha256
    return url


@dataclass(frozen=True)
class Prepared:
    """An image ready to be sent: its bytes, media type, hash of the bytes, size in pixels."""

    data: bytes
    media_type: str
    sha256: str
    width: int
    height: int

    @cached_property
    def data_url(self) -> DataURL:
        """The bytes as a data URL (made once)."""
        return _data_url(f"data:{self.media_type};base64,{base64.b64encode(self.data).decode()}", self.sha256)


def prepare(path: str | Path, max_side: int = MAX_SIDE) -> Prepared:
    """Read an image and make it ready to be sent.

    The file's own bytes are passed through when the image fits: PNG, JPEG, WebP or single-frame
    GIF, upright, no side above `max_side`, at most 3.7 MB. Otherwise it is turned as EXIF says,
    composited on white, scaled bilinearly with its aspect kept, and written as PNG (JPEG at
    quality 95 if the source was one, or if the PNG would be too large). The same file is
    prepared once as long as it does not change.

    Parameters
    ----------
    path : path
        The image file; its name's ending does not matter.
    max_side : int
        Longest edge in pixels.

    Raises
    ------
    ImageError
        If the file is missing or no image. A cut-off image that would be passed through is found
        by `check_all`, which decodes every pixel.
    """
    path = os.fspath(path)
    try:
        stat = os.stat(path)
    except OSError as exc:
        raise ImageError(f"image {Path(path).name}: {exc.strerror}", got=path) from None
    return _prepare(path, stat.st_mtime_ns, stat.st_size, stat.st_ino, max_side)


def prepare_ahead(cases: Iterable[Case], max_side: int = MAX_SIDE) -> None:
    """Prepare the images of some cases on all processors, so that `prepare` finds them made.

    Decoding, scaling and encoding let other threads run. What fails here fails again, and is said,
    where the image is asked for.
    """

    def one(case: Case) -> None:
        with contextlib.suppress(ImageError):
            prepare(case.image_path, max_side)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        deque(pool.map(one, cases), maxlen=0)


@lru_cache(maxsize=2048)
def _prepare(path: str, mtime: int, size: int, inode: int, max_side: int) -> Prepared:
    from PIL import Image

    name = Path(path).name
    data = Path(path).read_bytes()
    if not data:
        raise ImageError(f"image {name} is empty", got="0 bytes")
    try:
        with Image.open(io.BytesIO(data)) as image:
            if _fits(image, len(data), max_side):
                return Prepared(data, _MEDIA[str(image.format)], _sha(data), *image.size)
            jpeg = image.format == "JPEG"
            shown = upright_rgb(image, name, max_side)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as exc:
        raise ImageError(f"image {name} cannot be read: {_why(exc)}", got=data[:16]) from None
    sent, media = _encode(shown, jpeg)
    return Prepared(sent, media, _sha(sent), *shown.size)


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _fits(image: Image, size: int, max_side: int) -> bool:
    return (
        image.format in _MEDIA
        and max(image.size) <= max_side
        and size <= MAX_BYTES
        and image.mode in _PLAIN_MODES
        and "transparency" not in image.info
        and image.mode != "RGBA"
        and getattr(image, "n_frames", 1) == 1
        and image.getexif().get(_ORIENTATION, 1) == 1
    )


def upright_rgb(image: Image, name: str = "image", max_side: int | None = None) -> Image:
    """Return the first frame upright in RGB on white, no edge longer than `max_side`."""
    from PIL import Image, ImageOps

    if getattr(image, "n_frames", 1) > 1:
        warnings.warn(f"image {name} is animated: only its first frame is used", stacklevel=2)
        image.seek(0)
    if max_side and image.format == "JPEG":
        image.draft("RGB", (2 * max_side, 2 * max_side))
    image.load()
    if image.getexif().get(_ORIENTATION, 1) != 1:
        image = ImageOps.exif_transpose(image)
    if image.mode in ("I", "I;16", "I;16B", "I;16L", "F"):
        image = _to_8_bit(image)
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        rgba = image.convert("RGBA")
        white = Image.new("RGBA", rgba.size, "white")
        image = Image.alpha_composite(white, rgba)
    if image.mode != "RGB":
        image = image.convert("RGB")
    if max_side and max(image.size) > max_side:
        scale = max_side / max(image.size)
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        image = image.resize(size, Image.Resampling.BILINEAR)
    return image


def _to_8_bit(image: Image) -> Image:
    """Bring 16-bit, 32-bit and float grey to 0..255: by the range that the mode or the values suggest."""
    import numpy as np
    from PIL import Image

    values = np.asarray(image, dtype=np.float64)
    values = np.where(np.isfinite(values), values, 0.0)
    low, high = float(values.min()), float(values.max())
    if image.mode == "F" and low >= 0 and high <= 1:
        scaled = values * 255
    elif low >= 0 and high <= 255:
        scaled = values
    elif low >= 0 and high <= 65535 and image.mode != "F":
        scaled = values / 257
    else:
        scaled = (values - low) / max(high - low, 1e-12) * 255
    return Image.fromarray(np.rint(scaled).astype(np.uint8))


def _encode(image: Image, jpeg: bool) -> tuple[bytes, str]:
    for form, options in (
        ("PNG", {"compress_level": 1}),
        ("JPEG", {"quality": 95}),
        ("JPEG", {"quality": 80}),
    ):
        if jpeg and form == "PNG":
            continue
        stream = io.BytesIO()
        image.save(stream, form, **options)
        if stream.tell() <= MAX_BYTES:
            break
    return stream.getvalue(), _MEDIA[form]


def _why(exc: Exception) -> str:
    from PIL import UnidentifiedImageError

    if isinstance(exc, UnidentifiedImageError):
        return "no image of a known format"
    return getattr(exc, "strerror", None) or str(exc)[:120]


def check_all(cases: Iterable[Case], *, max_side: int = MAX_SIDE) -> int:
    """Decode every image to its last row and list all that fail at once.

    Returns
    -------
    int
        How many different files were checked.

    Raises
    ------
    ImageError
        Naming every case whose image is missing or broken, with the reason.
    """
    from PIL import Image

    seen: dict[str, str | None] = {}
    bad: list[str] = []
    for case in cases:
        path = os.fspath(case.image_path)
        if path not in seen:
            seen[path] = None
            try:
                data = Path(path).read_bytes()
                if not data:
                    raise OSError("empty file")
                with Image.open(io.BytesIO(data)) as image:
                    # A JPEG is read to its end at an eighth of its size too, three times as fast.
                    image.draft(image.mode, (image.width // 8, image.height // 8))
                    image.load()
            except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as exc:
                seen[path] = _why(exc)
        if reason := seen[path]:
            bad.append(f"{case.id} ({case.image}): {reason}")
    if bad:
        raise ImageError(
            f"{sum(map(bool, seen.values()))} of {len(seen)} images cannot be used: " + "; ".join(bad[:50]),
            remedy="restore these files, or leave the cases out",
        )
    return len(seen)
