"""Render a figure as PNG, SVG, PDF and small picture: the same bytes each time, drawn as rarely as can be."""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL import Image

THUMB_WIDTH = 900
"""Width of the small picture, pixels."""
THUMB_BYTES = 130_000
"""Most bytes of the small picture."""
DPI = 200
"""Dots per inch of the PNG."""
COMPRESSION = {"full": 3, "small": 6}
"""Effort of compressing a PNG, 0 to 9: a drawing gains one part in forty beyond 3."""

# Neither date nor software: both differ between runs or machines.
_SILENT: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


@contextlib.contextmanager
def plain_style(**settings: Any) -> Iterator[None]:
    """Draw with matplotlib's own defaults and these settings, whatever the user's matplotlibrc says.

    A `$` in a name is a dollar sign. Serves as a context and as a decorator of what draws.
    """
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams["text.parse_math"] = False
        for name, value in settings.items():
            mpl.rcParams[name] = value  # type: ignore[index]
        yield


def render(figure: Any) -> dict[str, bytes]:
    """Render a figure as PNG, SVG, PDF and small picture, then close it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    files = {}
    settings = {"svg.hashsalt": "icgkit", "svg.fonttype": "none", "pdf.fonttype": 42}
    with plain_style(**settings), _plain_fonts(), contextlib.ExitStack() as quiet:
        _find_glyphs(figure)
        # matplotlib warns of each glyph that is missing, without saying what to do.
        quiet.enter_context(warnings.catch_warnings())
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        FigureCanvasAgg(figure)  # One renderer, which remembers how wide texts are.
        figure.dpi = DPI
        if (engine := figure.get_layout_engine()) is not None and figure.axes:
            for ax in figure.axes:
                ax.apply_aspect()
            engine.execute(figure)
        figure.set_layout_engine(None)  # The engine would lay out once more for each format.
        box = figure.get_tightbbox().padded(0.1)
        for kind in ("rgba", "svg", "pdf"):
            stream = io.BytesIO()
            figure.savefig(stream, format=kind, metadata=_SILENT.get(kind), dpi=DPI, bbox_inches=box)
            files[f".{kind}"] = stream.getvalue()
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close(figure)
    size = (int(box.width * DPI), int(box.height * DPI))
    picture = Image.frombuffer("RGBA", size, files.pop(".rgba"))
    return files | {".png": png_bytes(picture), ".thumb.png": thumbnail(picture)}


def png_bytes(picture: Image.Image) -> bytes:
    """Return a picture as PNG, without the alpha channel if all of it is opaque."""
    if picture.mode == "RGBA" and picture.getchannel("A").getextrema() == (255, 255):
        picture = picture.convert("RGB")
    stream = io.BytesIO()
    picture.save(stream, "PNG", compress_level=COMPRESSION["full"], dpi=(DPI, DPI))
    return stream.getvalue()


@cache
def font_file(bold: bool = False, italic: bool = False) -> Path:
    """Return the typeface of figures and tables, which comes with matplotlib."""
    import matplotlib as mpl

    style = {(True, True): "-BoldOblique", (True, False): "-Bold", (False, True): "-Oblique"}
    return Path(mpl.get_data_path(), "fonts", "ttf", f"DejaVuSans{style.get((bold, italic), '')}.ttf")


@cache
def _signs(path: Path) -> frozenset[int]:
    from fontTools.ttLib import TTFont

    with TTFont(path, fontNumber=0, lazy=True) as font:
        return frozenset(font.getBestCmap() or ())


@cache
def _others() -> tuple[Path, ...]:
    """Return fonts for what the usual typeface lacks: the package's own, then the system's."""
    from matplotlib.font_manager import findSystemFonts

    own = Path(__file__).with_name("fonts")
    return (own / "gothic-regular.otf", own / "mincho-bold.otf", *sorted(map(Path, findSystemFonts())))


@cache
def font_with(sign: str) -> Path | None:
    """Return a font that has a sign, None if none of this machine has it."""
    for path in (font_file(), *_others()):
        with contextlib.suppress(Exception):  # A broken font of the system is no font.
            if ord(sign) in _signs(path):
                return path
    return None


def strange_signs(text: str) -> list[str]:
    """Return the signs of a text that the usual typeface lacks, each once; blanks have no glyph."""
    if text.isascii():
        return []
    known = _signs(font_file())
    return [c for c in dict.fromkeys(text) if ord(c) not in known and c.isprintable() and not c.isspace()]


def warn_of_boxes(signs: str, where: str) -> None:
    """Say aloud that some signs have no font here."""
    import unicodedata

    scripts = {unicodedata.name(c, "UNKNOWN").split()[0].title() for c in signs}
    warnings.warn(
        f"{where} shows boxes for {signs!r} ({', '.join(sorted(scripts))}): no font on this machine has them; "
        "install one that does (the Noto fonts cover every script)",
        UserWarning,
        stacklevel=3,
    )


def _find_glyphs(figure: Any) -> None:
    """Give each text of a figure the fonts that its signs need, and name those that no font has."""
    from matplotlib.font_manager import fontManager, get_font
    from matplotlib.text import Text

    boxes: dict[str, None] = {}
    for text in figure.findobj(Text):
        if not (signs := strange_signs(text.get_text())):
            continue
        found = {sign: font_with(sign) for sign in signs}
        boxes |= dict.fromkeys(sign for sign, path in found.items() if path is None)
        names = ["DejaVu Sans"]
        for path in dict.fromkeys(p for p in found.values() if p):
            if path not in _added:
                fontManager.addfont(str(path))
                _added.add(path)
            names.append(get_font(str(path)).family_name)
        text.set_fontfamily(names)
    if boxes:
        warn_of_boxes("".join(boxes), "a figure")


_added: set[Path] = set()
_SHAPING = ("GDEF", "GPOS", "GSUB", "MATH", "kern")
_spare_fonts: dict[str, Any] = {}


def keep_fonts() -> None:
    """Read the fonts of figures, so that the first PDF of a process forked from this one need not."""
    from fontTools import subset
    from matplotlib.font_manager import findfont

    for style in ("", ":bold", ":italic"):
        path = findfont(f"DejaVu Sans{style}")
        # From memory: forks would share an open file's position.
        font = _load_plain(subset.load_font, io.BytesIO(Path(path).read_bytes()), subset.Options())
        for tag in font.keys():  # noqa: SIM118 - no mapping
            font[tag]  # Reads the table.
        _spare_fonts[path] = font


def _load_plain(load: Any, path: Any, options: Any, **kwargs: Any) -> Any:
    font = load(path, options, **kwargs)
    for tag in _SHAPING:
        if tag in font:
            del font[tag]
    return font


@contextlib.contextmanager
def _plain_fonts() -> Iterator[None]:
    """Leave the tables for shaping text out of fonts that are put into a PDF.

    A viewer places glyphs and shapes nothing; reading these tables and cutting them to the glyphs
    in use takes longer than drawing the figure.
    """
    from fontTools import subset

    load = subset.load_font

    def load_font(path: Any, options: Any, **kwargs: Any) -> Any:
        # Subsetting changes a font: each spare one serves once.
        return _spare_fonts.pop(path, None) or _load_plain(load, path, options, **kwargs)

    subset.load_font = load_font
    try:
        yield
    finally:
        subset.load_font = load


def thumbnail(full: Image.Image) -> bytes:
    """Return a palette PNG at most 900 pixels wide and 130 KB large.

    Colours go first, width second; a picture that is small already is not enlarged.
    """
    from PIL import Image

    picture = full
    if full.mode not in ("L", "RGB"):
        rgba = full.convert("RGBA")
        picture = Image.new("RGB", rgba.size, "white")
        picture.paste(rgba, mask=rgba.getchannel("A"))
    content = b""
    for width, colors in ((900, 256), (900, 64), (720, 64), (560, 64), (400, 48), (240, 24)):
        wide = min(width, picture.width)
        size = (wide, max(1, round(picture.height * wide / picture.width)))
        stream = io.BytesIO()
        small = picture.resize(size, Image.Resampling.HAMMING)
        _few_colors(small, colors).save(stream, "PNG", compress_level=COMPRESSION["small"])
        content = stream.getvalue()
        if len(content) <= THUMB_BYTES:
            break
    return content


def _few_colors(picture: Image.Image, colors: int) -> Image.Image:
    """Return a picture with a palette: 16 greys for text, median cuts for a drawing."""
    from PIL import Image

    if picture.mode == "L":
        levels = picture.point([round(v / 17) for v in range(256)])
        levels.putpalette([17 * i for i in range(16) for _ in range(3)])
        return levels
    if colors < 256:  # A photograph.
        return picture.quantize(colors, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    # One pixel in nine is enough to choose colours.
    sample = picture.resize((-(-picture.width // 3), -(-picture.height // 3)), Image.Resampling.NEAREST)
    cuts = sample.quantize(colors, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    few = picture.quantize(palette=cuts, dither=Image.Dither.NONE)
    few.putpalette([255 if v > 250 else v for v in few.getpalette() or ()])  # White stays white.
    return few
