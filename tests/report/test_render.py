from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import warnings
import zlib
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure
from PIL import Image

import icgkit as ig
from icgkit.report.render import DPI, THUMB_BYTES, _spare_fonts, keep_fonts, png_bytes, render, thumbnail


def draw() -> Figure:
    figure, ax = plt.subplots(figsize=(5, 3), layout="constrained")
    ax.plot([1, 2, 3], label="office é")
    ax.set_ylabel("outside")
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return render(draw())


def size(png: bytes) -> tuple[int, int]:
    with Image.open(io.BytesIO(png)) as picture:
        return picture.size


def test_same_figure_same_bytes(files: dict[str, bytes]) -> None:
    assert set(files) == {".png", ".svg", ".pdf", ".thumb.png"}
    before = plt.get_fignums()
    assert render(draw()) == files
    assert plt.get_fignums() == before  # closed


def test_nothing_is_cut_off_at_the_border(files: dict[str, bytes]) -> None:
    with Image.open(io.BytesIO(files[".png"])) as picture:
        pixels = np.asarray(picture.convert("L"))
    border = np.concatenate(
        [pixels[:8].ravel(), pixels[-8:].ravel(), pixels[:, :8].ravel(), pixels[:, -8:].ravel()]
    )
    assert border.min() == 255
    assert pixels.min() < 50


def test_fonts_in_the_pdf_can_be_searched_and_hold_no_shaping_tables(files: dict[str, bytes]) -> None:
    assert b"/Type3" not in files[".pdf"]
    assert b"/CIDFontType2" in files[".pdf"]
    streams = [
        zlib.decompress(m[1]) for m in re.finditer(rb"stream\r?\n(x.*?)endstream", files[".pdf"], re.DOTALL)
    ]
    fonts = [s for s in streams if s[:4] == b"\x00\x01\x00\x00"]
    assert fonts
    assert not any(b"GSUB" in font[:400] or b"GPOS" in font[:400] for font in fonts)


def test_small_picture_is_wide_where_it_can_be(files: dict[str, bytes]) -> None:
    assert size(files[".thumb.png"])[0] == 900
    assert size(files[".png"])[0] > 900
    assert size(thumbnail(Image.new("L", (300, 200), 255))) == (300, 200)


def test_fonts_read_ahead_give_the_same_pdf(files: dict[str, bytes]) -> None:
    keep_fonts()
    assert len(_spare_fonts) == 3
    assert render(draw()) == files
    assert len(_spare_fonts) == 2  # Each serves once: cutting a font to its glyphs changes it.
    _spare_fonts.clear()


def test_layout_is_the_one_that_drawing_gives(files: dict[str, bytes]) -> None:
    figure = draw()
    figure.dpi = DPI
    figure.draw_without_rendering()
    box = figure.get_tightbbox().padded(0.1)
    assert size(files[".png"]) == (int(box.width * DPI), int(box.height * DPI))


def test_transparency_is_kept_and_an_opaque_picture_has_no_alpha_channel() -> None:
    for alpha, mode in ((255, "RGB"), (100, "RGBA")):
        with Image.open(io.BytesIO(png_bytes(Image.new("RGBA", (9, 9), (1, 2, 3, alpha))))) as picture:
            assert picture.mode == mode


def test_small_picture_of_a_noisy_photograph() -> None:
    noise = np.random.default_rng(1).integers(0, 256, (1200, 1600, 3), dtype=np.uint8)
    assert len(thumbnail(Image.fromarray(noise))) <= THUMB_BYTES


def test_small_picture_of_text_keeps_black_and_white_in_few_bytes() -> None:
    page = Image.new("L", (1800, 600), 255)
    page.paste(0, (0, 0, 900, 600))
    with Image.open(io.BytesIO(thumbnail(page))) as picture:
        assert picture.size == (900, 300)
        assert len(picture.getcolors() or ()) <= 16
        grey = picture.convert("L")
        assert (grey.getpixel((0, 0)), grey.getpixel((899, 0))) == (0, 255)


def test_white_stays_white(files: dict[str, bytes]) -> None:
    with Image.open(io.BytesIO(files[".thumb.png"])) as picture:
        assert picture.convert("RGB").getpixel((0, 0)) == (255, 255, 255)


HOSTILE = "text.usetex: True\naxes.facecolor: yellow\nlines.linewidth: 6\nfont.size: 30\nfont.family: serif\n"
DRAW = """
import sys, hashlib
import polars as pl
import icgkit as ig
from icgkit.report.render import render
fig, ax = ig.plots.figure(4, 3)
frame = pl.DataFrame({"x": [1, 2, 1, 2], "m": ["a", "a", "price $5 to $7"] * 1 + ["price $5 to $7"],
    "estimate": [0.1, 0.2, 0.3, 0.4], "low": [0.0, 0.1, 0.2, 0.3], "high": [0.2, 0.3, 0.4, 0.5]})
ig.plots.draw_curves(frame, ax, ig.plots.Scale("y", "number"), x="x", hue="m", xlabel="$x$ and $")
files = render(fig)
print(hashlib.sha256(files[".png"] + files[".svg"]).hexdigest())
"""


def test_the_users_settings_do_not_leak_and_a_dollar_is_no_formula(tmp_path: Path) -> None:
    """The same bytes with a matplotlibrc that asks for LaTeX, yellow and thick lines."""
    (tmp_path / "matplotlibrc").write_text(HOSTILE)
    seen = []
    for settings in ({}, {"MATPLOTLIBRC": str(tmp_path / "matplotlibrc")}):
        done = subprocess.run(
            [sys.executable, "-c", DRAW], env=os.environ | settings, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        seen.append(done.stdout)
    assert seen[0] == seen[1]
    fig, ax = ig.plots.figure(2, 2)
    assert not ax.title.get_parse_math()
    ax.set_ylabel("from $5 to $7")
    assert b"from $5 to $7" in render(fig)[".svg"]


@pytest.mark.filterwarnings("default")
def test_other_scripts_are_drawn_or_named() -> None:
    fig, ax = ig.plots.figure(3, 2)
    ax.set_title("価 50%")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "価".encode() in render(fig)[".svg"]
    table = ig.tables.typeset(pl.DataFrame({"sign": ["価 50%"]}), id="T", caption="c")
    blank = ig.tables.typeset(pl.DataFrame({"sign": ["   50%"]}), id="T", caption="c")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert table.to_picture().tobytes() != blank.to_picture().tobytes()
    # A sign of a script that nobody reads: no font has it, and that is said.
    private = "\U00012f90"
    fig, ax = ig.plots.figure(3, 2)
    ax.set_title(f"x {private}")
    with pytest.warns(UserWarning, match="a figure shows boxes for"):
        render(fig)
    with pytest.warns(UserWarning, match="a table shows boxes for"):
        ig.tables.typeset(pl.DataFrame({"sign": [private]}), id="T", caption="c").to_picture()
