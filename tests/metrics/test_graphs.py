"""Two annotators' graphs: one case by hand, degenerate ones, properties."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icgkit import metrics
from icgkit.errors import SchemaError


def nodes(*rows: tuple[str, str, int, int, int, int]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["case_id", "subtype", "x0", "y0", "x1", "y1"], orient="row")


def test_by_hand() -> None:
    # Case a: the same box; a box of 100 x 10 against its left 80 x 10 (IoU .8), another subtype; case b: a small box
    # within a large one, same subtype (IoU .04, all of it inside); case c: named by the second alone.
    first = nodes(("a", "x", 0, 0, 10, 10), ("a", "y", 0, 50, 100, 60), ("b", "x", 0, 0, 50, 50))
    second = nodes(
        ("a", "z", 0, 50, 80, 60),
        ("a", "x", 0, 0, 10, 10),
        ("b", "x", 10, 10, 20, 20),
        ("c", "x", 0, 0, 9, 9),
    )
    pairs = metrics.match_nodes(first, second)
    assert pairs.select("first", "second").rows() == [(0, 1), (1, 0), (2, 2)]
    assert pairs["iou"].to_list() == pytest.approx([1.0, 0.8, 0.04])
    got = {
        r["measure"]: r
        for r in metrics.graph_agreement(first, second, ci=metrics.Bootstrap(200)).iter_rows(named=True)
    }
    assert got["existence"]["estimate"] == pytest.approx(2 * 3 / (3 + 4))
    assert got["subtype"]["estimate"] == pytest.approx(2 / 3)
    assert got["region"]["estimate"] == pytest.approx((1 + 0.8 + 0.04) / 3)
    assert [got["existence"][k] for k in ("n_first", "n_second", "n_matched", "cases")] == [3, 4, 3, 3]
    assert got["existence"]["low"] <= got["existence"]["estimate"] <= got["existence"]["high"]


def test_one_node_is_paired_with_one_only_and_never_across_cases() -> None:
    first = nodes(("a", "x", 0, 0, 10, 10))
    assert metrics.match_nodes(first, nodes(("a", "x", 0, 0, 10, 10), ("a", "x", 0, 0, 10, 11))).height == 1
    assert metrics.match_nodes(first, nodes(("b", "x", 0, 0, 10, 10))).is_empty()
    assert metrics.match_nodes(first, nodes(("a", "y", 2, 2, 4, 4))).is_empty(), "inside, but another subtype"


def test_nobody_found_anything() -> None:
    got = metrics.graph_agreement(nodes().cast(pl.String), nodes().cast(pl.String))
    assert got["estimate"].to_list() == [None] * 3


def test_a_column_that_is_missing_is_named() -> None:
    with pytest.raises(SchemaError, match="second annotator: missing column subtype"):
        metrics.match_nodes(nodes(), nodes().drop("subtype"))


BOXES = st.tuples(
    st.sampled_from("ab"),
    st.sampled_from("xy"),
    *(st.integers(0, 40) for _ in range(2)),
    *(st.integers(41, 80) for _ in range(2)),
)


@given(st.lists(BOXES, max_size=6), st.lists(BOXES, max_size=6))
def test_it_does_not_matter_who_is_first(
    one: list[tuple[str, str, int, int, int, int]], two: list[tuple[str, str, int, int, int, int]]
) -> None:
    a, b = nodes(*one), nodes(*two)
    forth, back = metrics.match_nodes(a, b), metrics.match_nodes(b, a)
    assert forth.height == back.height <= min(len(one), len(two))
    assert forth["iou"].sum() == pytest.approx(back["iou"].sum(), abs=0.2)
