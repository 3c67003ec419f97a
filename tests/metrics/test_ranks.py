"""Spearman, Holm, Benjamini-Hochberg: by hand, at the edges, as properties."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icgkit import metrics
from icgkit.errors import SchemaError


def test_spearman_by_hand() -> None:
    # Ranks 1 2 3 4 against 1 3 2 4: differences 0 1 1 0, rho = 1 - 6 * 2 / (4 * 15) = 0.8.
    row = metrics.spearman(
        pl.DataFrame({"x": [1, 2, 3, 4], "y": [10, 30, 20, 40]}), "x", "y", ci=metrics.Bootstrap(200)
    )
    assert row["estimate"][0] == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("x", "status"),
    [
        ([1.0, 1.0, 1.0, 1.0], "x constant: undefined"),
        ([1.0, None, None, 2.0], "2 pairs: too few"),
        ([1.0, 2.0, 3.0, 4.0], "perfect: no interval, no t approximation"),
    ],
)
def test_spearman_edges(x: list[float | None], status: str) -> None:
    row = metrics.spearman(
        pl.DataFrame({"x": x, "y": [1.0, 2.0, 3.0, 4.0]}), "x", "y", ci=metrics.Bootstrap(50)
    ).row(0, named=True)
    assert row["status"] == status
    assert row["low"] is None
    assert (row["estimate"] is None) == ("perfect" not in status)


def test_nulls_are_dropped_in_pairs_and_counted_nan_is_refused() -> None:
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0, None], "y": [1.0, 3.0, 2.0, 9.0]})
    row = metrics.spearman(frame, "x", "y", ci=metrics.Bootstrap(50)).row(0, named=True)
    assert (row["n_scored"], row["n_missing"]) == (3, 1)
    with pytest.raises(SchemaError, match="NaN"):
        metrics.spearman(frame.with_columns(x=pl.lit(float("nan"))), "x", "y")


def test_adjust_by_hand() -> None:
    # Holm: 3 * 0.01, 2 * 0.03, max(0.06, 1 * 0.04); null is no comparison.
    frame = pl.DataFrame({"p_value": [0.04, None, 0.01, 0.03]})
    assert metrics.adjust(frame)["p_adjusted"].to_list() == pytest.approx([0.06, None, 0.03, 0.06])
    assert metrics.adjust(frame)["n_comparisons"].to_list() == [3, 3, 3, 3]
    families = frame.with_columns(family=pl.Series(["a", "a", "b", "b"]))
    assert metrics.adjust(families, by="family")["p_adjusted"].to_list() == pytest.approx(
        [0.04, None, 0.02, 0.03]
    )
    with pytest.raises(SchemaError, match="outside"):
        metrics.adjust(pl.DataFrame({"p_value": [1.2]}))
    assert metrics.adjust(frame.clear())["p_adjusted"].to_list() == []


@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=15))
def test_adjusted_p_is_ordered_and_never_smaller(p: list[float]) -> None:
    for method in ("holm", "bh"):
        got = metrics.adjust(pl.DataFrame({"p_value": p}), method=method).sort("p_value")
        adjusted = got["p_adjusted"].to_list()
        assert adjusted == sorted(adjusted)
        assert all(a >= raw - 1e-12 for a, raw in zip(adjusted, got["p_value"], strict=True))
        assert max(adjusted) <= 1
