"""Surrounds of drawn cases: drawn without knowledge of the template, and true to its boxes."""

from __future__ import annotations

import random

import numpy as np
import pytest
from PIL import Image

from icgforge.synth import Knobs, make_case
from icgforge.synth.mount import KINDS, LARGEST, MARGIN, Mount, draw_mount


def _mount(kind: str, **more: float) -> Mount:
    return Mount(3, kind, (300, 200), (420, 330), (50, 70), **more)


@pytest.mark.parametrize("kind", KINDS)
def test_a_surround_leaves_the_design_as_it_is_and_is_the_same_every_time(kind: str) -> None:
    design = Image.fromarray(np.random.default_rng(0).integers(0, 256, (200, 300, 3), np.uint8))
    mount = _mount(kind)
    shown = mount.apply(design)
    assert shown.size == mount.size
    assert (np.asarray(shown.crop(mount.frame)) == np.asarray(design)).all()
    assert shown.tobytes() == mount.apply(design).tobytes()
    around = np.asarray(shown)[~mount.mask(np.ones((200, 300), bool))]
    assert around.std() > 0 or kind == "mat"


def test_tone_changes_every_pixel_alike_and_keeps_differences() -> None:
    grey = np.tile(np.arange(0, 240, 8, dtype=np.uint8), (200, 10))
    design = Image.fromarray(np.stack([grey] * 3, axis=-1))
    toned = np.asarray(_mount("mat", gamma=1.6, contrast=0.6).apply(design).crop((50, 70, 350, 270)))
    levels = {int(a): int(b) for a, b in zip(grey[0], toned[0, :, 0], strict=True)}
    values = [levels[k] for k in sorted(levels)]
    assert values == sorted(values)
    assert len(levels) == 30
    assert max(values) - min(values) < 0.6 * 232


def test_a_mask_moves_with_the_design() -> None:
    inner = np.zeros((200, 300), bool)
    inner[10:20, 30:60] = True
    rows, columns = np.nonzero(_mount("wall").mask(inner))
    assert (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1) == (80, 80, 110, 90)


def test_surrounds_come_from_one_pool_for_all_templates() -> None:
    drawn = [draw_mount(random.Random(k), (700, 500)) for k in range(300)]
    assert {m.kind for m in drawn} == set(KINDS)
    assert all(m.size[0] - 700 >= MARGIN[0] and max(m.size) <= LARGEST for m in drawn)
    assert np.std([m.gamma for m in drawn]) > 0.2
    kinds = [
        make_case(t, s, Knobs(nodes=1)).mount.kind
        for s in range(6)
        for t in ("style_layout_sign", "shadow_gallery_wall")
    ]
    assert len(set(kinds[::2])) > 1
    assert len(set(kinds[1::2])) > 1


def test_boxes_lie_inside_the_design() -> None:
    made = make_case("semantic_chart_donut", 7)
    x0, y0, x1, y1 = made.mount.frame
    for box in (made.case.target.bbox, *(n.bbox for n in made.case.constraint_nodes)):
        assert box is not None
        assert x0 - 4 <= box[0] < box[2] <= x1 + 4
        assert y0 - 4 <= box[1] < box[3] <= y1 + 4
