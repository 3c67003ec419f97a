"""What only the physical templates promise: fonts, optics, and the taxonomy's rule for reflections."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PIL import ImageFont

from icgforge.synth import fonts
from icgforge.synth.base import templates
from icgforge.synth.canvas import Canvas
from icgforge.synth.case import Knobs, make_case
from icgforge.synth.surfaces import bent, fit, line, rippled
from icgkit.errors import IcgError, UnknownName

PHYSICAL = sorted(
    t for t, v in templates().items() if v.plan.__module__.rsplit(".", 1)[-1].startswith("physical_")
)


def box(canvas: Any, element: str) -> tuple[int, int, int, int]:
    found: tuple[int, int, int, int] | None = canvas.box(element)
    assert found is not None
    return found


def _rows(canvas: Canvas, element: str) -> np.ndarray:
    """Ink of an element per row, cut to its box and scaled to 40 rows."""
    x0, y0, x1, y1 = box(canvas, element)
    rows = canvas.masks[element][y0:y1, x0:x1].sum(axis=1).astype(float)
    found: np.ndarray = np.interp(np.linspace(0, 1, 40), np.linspace(0, 1, len(rows)), rows / rows.max())
    return found


@pytest.mark.parametrize("family", sorted(fonts.FAMILIES))
def test_every_font_has_its_files_and_its_licence(family: str) -> None:
    files = [fonts.file_of(family, weight) for weight in fonts.weights(family)]
    assert [f.name for f in files] == list(fonts.FAMILIES[family].files.values())
    licences = [fonts.FOLDER / "licenses" / f"{family}.txt", fonts.SHARED / f"{family}.txt"]
    [text] = [f.read_text(encoding="utf-8") for f in licences if f.is_file()]
    assert "SIL OPEN FONT LICENSE" in text or "Apache License" in text
    assert "opyright" in text.splitlines()[0] or "(c)" in text.splitlines()[0]


def test_the_fonts_fit_the_repository_and_say_where_they_come_from() -> None:
    size = sum(f.stat().st_size for f in fonts.FOLDER.iterdir() if f.is_file())
    assert size < 3_000_000
    readme = (fonts.FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(f"| {family} |" in readme for family in fonts.FAMILIES)


@pytest.mark.parametrize(
    ("script", "text"), [("latin", "Straße № 5 – “Café”, 20 %"[:6]), ("greek", "Έξοδος αριστερά"), ("cyrillic", "Выход налево"), ("cjk", "出口は左側")]
)  # fmt: skip
def test_a_family_writes_the_scripts_it_claims(script: str, text: str) -> None:
    for name, family in fonts.FAMILIES.items():
        if script in family.scripts:
            assert fonts.covers(name, text), name


def test_fonts_are_set_the_same_way_on_every_machine() -> None:
    assert fonts.get("slab", 20).layout_engine == ImageFont.Layout.BASIC
    # Kerning is there without the richer layout engine: the pair is closer than its two letters.
    font = fonts.get("office", 100)
    assert font.getlength("AV") < font.getlength("A") + font.getlength("V")


def test_wrong_fonts_are_refused_with_what_is_allowed() -> None:
    with pytest.raises(UnknownName, match="did you mean 'slab'"):
        fonts.get("slap", 12)
    with pytest.raises(IcgError, match="above 0"):
        fonts.get("slab", 0)
    with pytest.raises(IcgError, match="writes cjk"):
        fonts.choose("mono", "cjk")


def test_long_text_is_set_smaller_until_it_fits() -> None:
    assert fit("ICE", "slab-bold", 300, 60) == 60
    size = fit("WINTERBOURNE", "slab-bold", 300, 60)
    assert fonts.get("slab-bold", size).getlength("WINTERBOURNE") <= 303


def test_a_cylinder_narrows_its_label_and_keeps_its_element() -> None:
    flat = line("LABEL", "slab-bold", 40, (0, 0, 0), "word")
    curved = bent(flat, radius=flat.size[0] / 2.2)
    assert curved.size[0] < flat.size[0]
    assert curved.masks["word"].any()
    # Ink and mask agree after bending.
    ink = np.asarray(curved.img.getchannel("A")) > 128
    assert not (ink & ~curved.masks["word"]).any()


def test_ripples_move_ink_and_mask_together() -> None:
    flat = line("WAVE", "slab-bold", 40, (0, 0, 0), "word")
    moved = rippled(flat, 3, 15, seed=4)
    ink = np.asarray(moved.img.getchannel("A")) > 128
    assert (ink != (np.asarray(flat.img.getchannel("A")) > 128)).any()
    assert not (ink & ~moved.masks["word"]).any()


@pytest.mark.parametrize(
    ("name", "element"), [("reflection_boat", "water"), ("reflection_polished_table", "table")]
)
def test_a_reflection_below_is_upside_down(name: str, element: str) -> None:
    canvas = make_case(name, 5, Knobs(nodes=1)).drawn_before
    target, image = _rows(canvas, "target"), _rows(canvas, element)
    assert np.corrcoef(target, image[::-1])[0, 1] > np.corrcoef(target, image)[0, 1]


@pytest.mark.parametrize("name", [t for t in PHYSICAL if t.startswith("reflection_")])
def test_the_matt_twin_shows_the_text_once(name: str) -> None:
    made = make_case(name, 2)
    assert set(made.canvas("twin").masks) & {s.element for s in made.nodes()} == set()


@pytest.mark.parametrize("name", [t for t in PHYSICAL if t.startswith("occlusion_")])
@pytest.mark.parametrize("seed", range(4))
def test_something_really_covers_part_of_the_text(name: str, seed: int) -> None:
    made = make_case(name, seed)
    open_, hidden = made.canvas("twin"), made.drawn_before
    text = open_.masks["target"]
    changed = (np.asarray(open_.img) != np.asarray(hidden.img)).any(axis=-1)
    share = (text & changed).sum() / text.sum()
    assert 0.01 < share < 0.6  # some of it is covered, most of it can be read


def test_there_are_three_looks_for_each_physical_subtype() -> None:
    for subtype in ("reflection", "shadow", "perspective", "occlusion"):
        assert sum(f"physical_{subtype}" in templates()[t].nodes for t in PHYSICAL) >= 3
