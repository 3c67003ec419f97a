"""Images as they are sent: read once, checked, turned upright, scaled down where too large."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import os
import threading
import warnings
import zlib
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from icgkit.errors import ImageError
from icgkit.files import read_file

if TYPE_CHECKING:
    from PIL.Image import Image

    from icgkit.cases.case import Case

MAX_SIDE = 1024
MAX_BYTES = 3_700_000
"""Sent bytes stay below 5 MB once they are base64."""
FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP")
"""What is decoded; Pillow knows more, and starts other programs for some of it."""
MAX_FILE = 1 << 28
"""Largest image file that is read: 256 MiB."""
MAX_PIXELS = 89_478_485
"""Most pixels that are decoded, some 360 MB; a JPEG counts at the size at which it is decoded."""
_MAX_WEBP = 48_000_000  # its decoder takes four times as much a pixel
_LARGE = 16_000_000
"""From here on pixels are decoded one image at a time, and scaled before anything else is done."""
KEPT_BYTES = 1 << 26
"""Prepared images that are kept for the next use: 64 MiB with their base64."""
_BAND = 1 << 20
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
        return (data_url, (str(self), self.sha256))


def data_url(text: str, sha256: str) -> DataURL:
    """Tie a data URL to the hash of its bytes."""
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
        return data_url(f"data:{self.media_type};base64,{base64.b64encode(self.data).decode()}", self.sha256)


_T = TypeVar("_T")


class Kept(Generic[_T]):
    """The values used last, as many as fit into a number of bytes; threads may share it."""

    def __init__(self, limit: int) -> None:
        self._limit, self._size = limit, 0
        self._values: OrderedDict[Any, tuple[_T, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Any) -> _T | None:
        """Return a value, None if it is not there."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, key: Any, value: _T, size: int) -> None:
        """Keep a value of so many bytes; the oldest go. One that does not fit is not kept."""
        with self._lock:
            self._size -= self._values.pop(key, (None, 0))[1]
            if size <= self._limit:
                self._values[key] = (value, size)
                self._size += size
            while self._size > self._limit:
                self._size -= self._values.popitem(last=False)[1][1]


_PREPARED: Kept[Prepared] = Kept(KEPT_BYTES)
_CHECKED: set[tuple[Any, ...]] = set()
"""Files whose every pixel has been decoded."""
_ONE_LARGE = threading.Lock()


def prepare(path: str | Path, max_side: int = MAX_SIDE) -> Prepared:
    """Read an image and make it ready to be sent.

    The file's own bytes are passed through when the image fits: PNG, JPEG, WebP or single-frame
    GIF, upright, no side above `max_side`, at most 3.7 MB. Otherwise it is turned as EXIF says,
    composited on white, scaled bilinearly with its aspect kept, and written as PNG (JPEG at
    quality 95 if the source was one, or if the PNG would be too large). Images of more than 16
    megapixels are averaged down to twice `max_side` or more before they are scaled. The same file
    is prepared once as long as it does not change and there is room to keep it.
    """
    key = (*_file_key(path), max_side)
    made = _PREPARED.get(key)
    if made is None:
        made = _prepare(os.fspath(path), key, max_side)
        _PREPARED.put(key, made, len(made.data) * 7 // 3)
    return made


def _file_key(path: str | Path) -> tuple[Any, ...]:
    try:
        stat = os.stat(path)
    except OSError as exc:
        raise ImageError(f"image {_shown(path)}: {exc.strerror}", got=os.fspath(path)) from None
    except ValueError:
        raise ImageError("image: a file name with a NUL byte", got=os.fspath(path)) from None
    return (os.fspath(path), stat.st_mtime_ns, stat.st_size, stat.st_ino)


def _shown(path: str | Path) -> str:
    """Return the name of a file as it may go to a terminal."""
    name = Path(path).name
    return name if name.isprintable() else repr(name)


def _threads() -> int:
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(count or 1, 8)


def prepare_ahead(cases: Iterable[Case], max_side: int = MAX_SIDE) -> None:
    """Prepare the images of some cases on all processors, so that `prepare` finds them made.

    Decoding, scaling and encoding let other threads run. What fails here fails again, and is said,
    where the image is asked for.
    """

    def one(case: Case) -> None:
        with contextlib.suppress(ImageError):
            prepare(case.image_path, max_side)

    with ThreadPoolExecutor(_threads()) as pool:
        deque(pool.map(one, cases), maxlen=0)


@contextlib.contextmanager
def opened(
    path: str | Path, draft: Callable[[Image], tuple[int, int]] | None = None
) -> Iterator[tuple[Image, bytes]]:
    """Open an image file with its bytes, checked before a pixel is decoded.

    Only `FORMATS` are looked for, and no more than `MAX_PIXELS` are decoded. A JPEG may be decoded
    at a fraction of its size: `draft` returns the size that is enough.
    """
    from PIL import Image

    name = _shown(path)
    data = read_file(path, limit=MAX_FILE, error=ImageError)
    if not data:
        raise ImageError(f"image {name} is empty", got="0 bytes")
    try:
        data = _without_long_text(data)
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            full = image.width * image.height
            if draft is not None and image.format == "JPEG":
                image.draft(image.mode, draft(image))
            scans = image.format == "JPEG" and image.info.get("progressive")  # kept whole at any size
            pixels = full if scans else image.width * image.height
            most = _MAX_WEBP if image.format == "WEBP" else MAX_PIXELS
            if pixels > most:
                raise ImageError(
                    f"image {name} is too large",
                    got=f"{pixels:,} pixels",
                    allowed=f"at most {most:,}",
                    remedy="scale it down",
                )
            with _ONE_LARGE if pixels > _LARGE else contextlib.nullcontext():
                yield image, data
    except (ImageError, UserWarning):
        raise
    except Exception as exc:  # Pillow's decoders raise whatever they like
        raise ImageError(f"image {name} cannot be read: {_why(exc)}", got=data[:16]) from None


def _without_long_text(data: bytes) -> bytes:
    """Return a PNG without its text chunks if one is longer than Pillow reads; any other file as it is."""
    if not data.startswith(b"\x89PNG\r\n\x1a\n") or not (b"zTXt" in data or b"iTXt" in data):
        return data
    kept, long, at = [data[:8]], False, 8
    while at + 12 <= len(data):
        end = at + 12 + int.from_bytes(data[at : at + 4], "big")
        kind = data[at + 4 : at + 8]
        if kind in (b"tEXt", b"zTXt", b"iTXt"):
            long = long or _is_long(kind, data[at + 8 : end - 4])
        else:
            kept.append(data[at:end])
        at = end
    return b"".join(kept) if long else data


def _is_long(kind: bytes, chunk: bytes) -> bool:
    from PIL.PngImagePlugin import MAX_TEXT_CHUNK

    text = chunk.partition(b"\0")[2]
    if kind == b"iTXt":  # flag, method, language, translated keyword, text
        text = text[1:].partition(b"\0")[2].partition(b"\0")[2] if text[:1] == b"\1" else b""
    if kind == b"tEXt" or not text:
        return False
    try:
        unpacked = zlib.decompressobj()
        unpacked.decompress(text.removeprefix(b"\0"), MAX_TEXT_CHUNK)
    except zlib.error:
        return False
    return bool(unpacked.unconsumed_tail)


def _prepare(path: str, key: tuple[Any, ...], max_side: int) -> Prepared:
    def enough(image: Image) -> tuple[int, int]:
        return image.size if _fits(image, key[2], max_side) else (2 * max_side, 2 * max_side)

    with opened(path, enough) as (image, data):
        whole = image.format == "PNG" and "exif" not in image.info  # then looking for EXIF decodes it
        if _fits(image, len(data), max_side):
            made = Prepared(data, _MEDIA[str(image.format)], _sha(data), *image.size)
        else:
            jpeg, whole = image.format == "JPEG", True
            shown = upright_rgb(image, Path(path).name, max_side)
            sent, media = _encode(shown, jpeg)
            made = Prepared(sent, media, _sha(sent), *shown.size)
    if whole:
        _CHECKED.add(key[:-1])
    return made


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
    """Return the first frame upright in RGB on white, no edge longer than `max_side`.

    Works through the image in bands, so that beside its own pixels only the result is held.
    """
    from PIL import Image

    if getattr(image, "n_frames", 1) > 1:
        warnings.warn(f"image {name} is animated: only its first frame is used", stacklevel=2)
        image.seek(0)
    image.load()
    turn = image.getexif().get(_ORIENTATION, 1)
    info = {k: v for k, v in image.info.items() if k != "icc_profile" or image.mode in ("RGB", "P")}
    if _on_white(image) or image.mode in _GREY:
        info = {}
    low, high = _range(image) if image.mode in _GREY else (0.0, 0.0)
    factor = 1
    if max_side and image.width * image.height > _LARGE:
        factor = max(1, max(image.size) // (2 * max_side))
    rows = max(1, _BAND // image.width // factor) * factor
    shown = Image.new("RGB", (-(-image.width // factor), -(-image.height // factor)))
    for top in range(0, image.height, rows):
        band = image.crop((0, top, image.width, min(top + rows, image.height)))
        band = _rgb(band, low, high)
        shown.paste(band.reduce(factor) if factor > 1 else band, (0, top // factor))
    shown.info = info
    if turn in _TURNS:
        shown = shown.transpose(Image.Transpose[_TURNS[turn]])
    width, height = image.size if turn not in _TURNS or turn < 5 else image.size[::-1]
    if max_side and max(width, height) > max_side:
        scale = max_side / max(width, height)
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        shown = shown.resize(size, Image.Resampling.BILINEAR)
    return shown


_GREY = ("I", "I;16", "I;16B", "I;16L", "F")
_TURNS = {
    2: "FLIP_LEFT_RIGHT",
    3: "ROTATE_180",
    4: "FLIP_TOP_BOTTOM",
    5: "TRANSPOSE",
    6: "ROTATE_270",
    7: "TRANSVERSE",
    8: "ROTATE_90",
}
"""EXIF orientation to the transposition that undoes it."""


def _on_white(image: Image) -> bool:
    return image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info


def _rgb(band: Image, low: float, high: float) -> Image:
    from PIL import Image

    if band.mode in _GREY:
        band = _to_8_bit(band, low, high)
    if _on_white(band):
        rgba = band.convert("RGBA")
        band = Image.alpha_composite(Image.new("RGBA", rgba.size, "white"), rgba)
    return band if band.mode == "RGB" else band.convert("RGB")


def _finite(image: Image) -> Any:
    import numpy as np

    values = np.asarray(image, dtype=np.float64)
    return np.where(np.isfinite(values), values, 0.0)


def _range(image: Image) -> tuple[float, float]:
    """Return the smallest and the largest finite value, 0 standing for the others."""
    lows, highs = [], []
    rows = max(1, _BAND // image.width)
    for top in range(0, image.height, rows):
        values = _finite(image.crop((0, top, image.width, min(top + rows, image.height))))
        lows.append(float(values.min()))
        highs.append(float(values.max()))
    return min(lows), max(highs)


def _to_8_bit(image: Image, low: float, high: float) -> Image:
    """Bring 16-bit, 32-bit and float grey to 0..255: by the range that the mode or the values suggest."""
    import numpy as np
    from PIL import Image

    values = _finite(image)
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


def check_all(cases: Iterable[Case], *, wait: bool = True) -> int:
    """Decode every image to its last row and name all that fail at once; return how many files were checked.

    Without `wait`, an image whose decoding goes on yet passes for now if its file ends as its format does;
    ask again with `wait` before it is used.
    """
    checked = list(cases)
    places: list[str | ImageError] = []
    for case in checked:
        try:
            places.append(os.fspath(case.image_path))
        except ImageError as exc:
            places.append(exc)
    paths = list(dict.fromkeys(place for place in places if isinstance(place, str)))
    begun = {path: _begin(path) for path in paths}
    found: dict[str, str | None] = {}
    for path, decoded in begun.items():
        if wait or decoded.done() or not _ends_well(path):
            found[path] = decoded.result()
            _BEGUN.pop(path, None)
        else:
            found[path] = None
    bad, files = [], set()
    for case, place in zip(checked, places, strict=True):
        reason = found[place] if isinstance(place, str) else place.what
        if reason:
            image = str(case.image)
            bad.append(f"{case.id} ({image if image.isprintable() else repr(image)}): {reason}")
            files.add(place if isinstance(place, str) else image)
    if bad:
        raise ImageError(
            f"{len(files)} of {len({*paths, *files})} images cannot be used: " + "; ".join(bad[:50]),
            remedy="restore these files, or leave the cases out",
        )
    return len(paths)


def _ends_well(path: str) -> bool:
    """Say whether a file ends as its format does; of what is not known here only decoding can tell."""
    try:
        with open(path, "rb") as stream:
            head = stream.read(12)
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - 12))
            tail = stream.read()
    except OSError:
        return False
    if head.startswith(b"\xff\xd8"):
        return tail.endswith(b"\xff\xd9")
    return head.startswith(b"\x89PNG") and tail[4:8] == b"IEND"


def check_ahead(case: Case) -> None:
    """Begin to decode an image that `check_all` will ask for; it goes on beside other work."""
    with contextlib.suppress(ImageError):
        _begin(os.fspath(case.image_path))


def _begin(path: str) -> Future[str | None]:
    with _STARTING:
        if path not in _BEGUN:
            _BEGUN[path] = _pool().submit(_broken, path)
        return _BEGUN[path]


@lru_cache(1)
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_threads(), thread_name_prefix="icgkit-images")


_BEGUN: dict[str, Future[str | None]] = {}
_STARTING = threading.Lock()


def _broken(path: str) -> str | None:
    """Say what is wrong with an image, decoded to its last row; a file is decoded once until it changes."""
    try:
        key = _file_key(path)
        if key not in _CHECKED:
            # A JPEG is read to its end at an eighth of its size too, three times as fast.
            with opened(path, lambda image: (max(1, image.width // 8), max(1, image.height // 8))) as (
                image,
                _,
            ):
                image.load()
            _CHECKED.add(key)
    except ImageError as exc:
        return exc.what.rpartition("cannot be read: ")[2]
    return None
