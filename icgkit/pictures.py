"""Render a figure as PNG, SVG, PDF and small picture: the same bytes each time, drawn as rarely as can be."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from typing import Any

THUMB_WIDTH = 900
"""Width of the small picture, pixels."""
THUMB_BYTES = 60_000
"""Most bytes of the small picture."""
DPI = 200
"""Dots per inch of the PNG."""

# Neither date nor software: both differ between runs or machines.
_SILENT: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def render(figure: Any, *, vector: bool = False, full: bool = True) -> dict[str, bytes]:
    """Render a figure, then close it.

    Parameters
    ----------
    figure : matplotlib Figure
        Its layout is computed once and kept for all formats.
    vector : bool
        Whether SVG and PDF are wanted.
    full : bool
        Whether the large PNG is wanted; the small picture always is.

    Returns
    -------
    dict
        Ending (`.png`, `.thumb.png`, `.svg`, `.pdf`) to content.
    """
    import matplotlib as mpl

    kinds = ("png", *(("svg", "pdf") if vector else ()))
    files = {}
    with mpl.rc_context({"svg.hashsalt": "icgkit", "pdf.fonttype": 42}), _plain_fonts():
        if figure.get_layout_engine() is not None:
            figure.draw_without_rendering()
        # The engine would draw everything once more for each format; set_layout_engine("none")
        # leaves a placeholder that does the same.
        figure._layout_engine = None
        box = figure.get_tightbbox().padded(0.1)
        dpi = DPI if full else min(DPI, THUMB_WIDTH / box.width)
        for kind in kinds:
            stream = io.BytesIO()
            figure.savefig(stream, format=kind, metadata=_SILENT[kind], dpi=dpi, bbox_inches=box)
            files[f".{kind}"] = stream.getvalue()
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close(figure)
    files[".thumb.png"] = thumbnail(files[".png"])
    if not full:
        del files[".png"]
    return files


@contextlib.contextmanager
def _plain_fonts() -> Iterator[None]:
    """Leave the tables for shaping text out of fonts that are put into a PDF.

    A viewer places glyphs and shapes nothing; cutting these tables to the glyphs in use takes
    longer than drawing the figure.
    """
    from fontTools.subset import Options

    before = Options._drop_tables_default
    Options._drop_tables_default = [*before, "GDEF", "GPOS", "GSUB", "MATH", "kern"]
    try:
        yield
    finally:
        Options._drop_tables_default = before


def thumbnail(png: bytes) -> bytes:
    """Return a palette PNG at most 900 pixels wide and 60 KB large.

    Colours go first, width second; a picture that is small already is not enlarged.
    """
    from PIL import Image

    full = Image.open(io.BytesIO(png))
    rgba = full.convert("RGBA")
    picture = Image.new("RGB", rgba.size, "white")
    picture.paste(rgba, mask=rgba.getchannel("A"))
    # Median cut keeps the exact colours of a drawing; the octree is quick and small for photographs.
    cut, tree = Image.Quantize.MEDIANCUT, Image.Quantize.FASTOCTREE
    tries = [(900, 256, cut), (900, 256, tree), (900, 64, tree), (720, 64, tree), (560, 64, tree)]
    content = b""
    for width, colors, method in (*tries, (400, 48, tree), (240, 24, tree)):
        wide = min(width, picture.width)
        size = (wide, max(1, round(picture.height * wide / picture.width)))
        small = picture.resize(size, Image.Resampling.LANCZOS, reducing_gap=3).quantize(
            colors, method, dither=Image.Dither.NONE
        )
        stream = io.BytesIO()
        small.save(stream, "PNG", compress_level=9)
        content = stream.getvalue()
        if len(content) <= THUMB_BYTES:
            break
    return content
