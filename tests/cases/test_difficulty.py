from __future__ import annotations

import pytest

import icgkit as ig
from icgkit.cases.dataset import Dataset
from icgkit.cases.difficulty import LEVELS, node_difficulty


def test_by_hand(case: ig.Case) -> None:
    """One picture of 640 x 480 or whatever the fixture has; the box of n1 is (30, 300, 120, 340), the target's (10, 10, 200, 60)."""
    data = Dataset("d", "1", "", "", None, (case,))  # type: ignore[arg-type]
    frame = node_difficulty(data)
    row = frame.row(0, named=True)
    width, height = case.image_size
    assert row["size"] == pytest.approx(90 * 40 / (width * height))
    away = ((75 - 105) ** 2 + (320 - 35) ** 2) ** 0.5
    assert row["distance"] == pytest.approx(away / (width**2 + height**2) ** 0.5)
    assert frame.row(1, named=True)["size_level"] is None, "a node without a box has no size"


def test_every_shipped_node_has_a_level_of_every_dimension_that_it_can_have() -> None:
    for name in ("icg-teb", "icg-scenes"):
        frame = node_difficulty(ig.load_dataset(name))
        for dimension, levels in LEVELS.items():
            assert set(frame[f"{dimension}_level"]) <= set(levels), dimension
            assert frame[f"{dimension}_level"].null_count() == 0
