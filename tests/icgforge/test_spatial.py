"""What only the spatial templates promise: mirrored, balanced and repeated text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from icgforge.synth.base import templates
from icgforge.synth.canvas import Canvas
from icgforge.synth.case import Knobs, make_case

SPATIAL = sorted(
    t for t, v in templates().items() if v.plan.__module__.rsplit(".", 1)[-1].startswith("spatial_")
)


def box(canvas: Any, element: str) -> tuple[int, int, int, int]:
    found: tuple[int, int, int, int] | None = canvas.box(element)
    assert found is not None
    return found


def _columns(canvas: Canvas, element: str) -> np.ndarray:
    """Ink of an element per column, cut to its box and scaled to 60 columns."""
    x0, y0, x1, y1 = box(canvas, element)
    columns = canvas.masks[element][y0:y1, x0:x1].sum(axis=0).astype(float)
    found: np.ndarray = np.interp(
        np.linspace(0, 1, 60), np.linspace(0, 1, len(columns)), columns / columns.max()
    )
    return found


@pytest.mark.parametrize(
    ("name", "element"), [("mirror_studio_corner", "mirror"), ("mirror_rubber_stamp", "stamp"), ("mirror_glass_door", "mirror")]
)  # fmt: skip
@pytest.mark.parametrize("seed", [3, 4])
def test_a_mirror_image_is_reversed(name: str, element: str, seed: int) -> None:
    canvas = make_case(name, seed, Knobs(nodes=1)).drawn_before
    target, image = _columns(canvas, "target"), _columns(canvas, element)
    assert np.corrcoef(target, image[::-1])[0, 1] > np.corrcoef(target, image)[0, 1]


def test_the_mirror_wall_shows_the_room_turned_about_the_corner() -> None:
    for seed in range(6):
        made = make_case("mirror_studio_corner", seed)
        t, m = box(made.drawn_before, "target"), box(made.drawn_before, "mirror")
        assert (t[1], t[3]) == pytest.approx((m[1], m[3]), abs=2)  # the same height
        assert t[2] - t[0] == pytest.approx(m[2] - m[0], abs=4)  # the same width


def test_flanking_ornaments_keep_equal_distance_from_the_title() -> None:
    for seed in range(4):
        made = make_case("symmetry_title_flourish", seed, Knobs(nodes=2))
        for canvas in (made.drawn_before, made.drawn_after):
            west, east = box(canvas, "west"), box(canvas, "east")
            middle = made.design.size[0] / 2
            assert middle - west[0] == pytest.approx(east[2] - middle, abs=3)


def test_the_game_card_maps_onto_itself_under_half_a_turn() -> None:
    canvas = make_case("symmetry_game_card", 5, Knobs(nodes=1)).drawn_before
    turned, upright = canvas.masks["turned"], canvas.masks["target"]
    x0, y0, x1, y1 = box(canvas, "target")
    a, b, c, d = box(canvas, "turned")
    first, second = upright[y0:y1, x0:x1], turned[b:d, a:c][::-1, ::-1]
    h, w = min(first.shape[0], second.shape[0]), min(first.shape[1], second.shape[1])
    same = first[-h:, :w] & second[-h:, :w]
    assert same.sum() / first.sum() > 0.8


@pytest.mark.parametrize("name", [t for t in SPATIAL if t.startswith("repetition_")])
def test_the_text_is_really_there_as_often_as_the_nodes_say(name: str) -> None:
    for n in (1, 2, 3):
        made = make_case(name, 9, Knobs(nodes=n))
        old = made.design.edit.old.text
        assert made.drawn_before.texts.count(old) == n + 1
        assert made.canvas("twin").texts.count(old) == 1
        assert made.drawn_after.texts.count(old) == 0
        assert len(made.case.inter_constraints) == n - 1


def test_there_are_three_looks_for_each_spatial_subtype() -> None:
    for subtype in ("mirror", "symmetry", "repetition"):
        assert sum(f"spatial_{subtype}" in templates()[t].nodes for t in SPATIAL) >= 3
