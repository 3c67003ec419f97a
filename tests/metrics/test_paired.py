"""McNemar, permutation, Cohen's d, plan tests: by hand, at the edges, as properties."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icgkit import metrics
from icgkit.errors import SchemaError


def paired(pairs: Sequence[tuple[bool | None, bool | None]], nodes: int = 1) -> pl.DataFrame:
    rows = []
    for i, (a, b) in enumerate(pairs):
        key = {"case_id": f"c{i // nodes:03}", "node_id": f"n{i % nodes}", "model": "m"}
        rows += [key | {"condition": "direct", "found": a}, key | {"condition": "oracle", "found": b}]  # type: ignore[dict-item]
    return pl.DataFrame(rows, schema_overrides={"found": pl.Boolean})


# b = 1 (direct only), c = 6 (oracle only): exact p = 2 (1 + 7) / 2^7 = 0.125; P(X = 1) = 7/128,
# mid-p = 0.125 - 7/128 = 0.0703125.
HAND = paired([(False, True)] * 6 + [(True, False)] + [(True, True)] * 3 + [(None, True)])


def test_mcnemar_by_hand() -> None:
    row = metrics.mcnemar(HAND).row(0, named=True)
    assert (row["n_target_only"], row["n_reference_only"], row["n_both"]) == (6, 1, 3)
    assert (row["p_exact"], row["p_midp"]) == pytest.approx((0.125, 0.0703125))
    assert (row["n_pairs"], row["n_missing"]) == (10, 1)
    # b = c = 1: exact p = 1, mid-p = 1 - P(X = 1) / 2 = 1 - 1/4.
    row = metrics.mcnemar(paired([(False, True), (True, False)])).row(0, named=True)
    assert (row["p_exact"], row["p_midp"]) == pytest.approx((1.0, 0.75))


def test_permutation_by_hand() -> None:
    # Differences per case: +2, +1, -1 (sum 2). Of the 8 sign patterns, |sum| >= 2 for
    # +-(2,1,1)=4, +-(2,1,-1)=2, +-(2,-1,1)=2: 6 of 8.
    rows = paired(
        [(False, True), (False, True), (False, True), (True, True), (True, False), (True, True)], nodes=2
    )
    row = metrics.permutation(rows).row(0, named=True)
    assert row["p_value"] == pytest.approx(6 / 8)
    assert row["estimate"] == pytest.approx(2 / 6)


def test_random_signs_come_near_all_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    from icgkit.metrics import paired as module

    rows = paired([(False, True)] * 9 + [(True, False)] * 3)
    exact = metrics.permutation(rows)["p_value"][0]
    monkeypatch.setattr(module, "EXACT", 2)
    assert metrics.permutation(rows, ci=metrics.Bootstrap(20_000))["p_value"][0] == pytest.approx(
        exact, abs=0.01
    )


def test_cohens_d_by_hand() -> None:
    # direct 1/2, oracle 3/4 over 4 pairs: variances 1/3 and 1/4, d = (1/4) / sqrt(7/24).
    rows = paired([(False, True), (False, True), (True, True), (True, False)])
    row = metrics.cohens_d(rows, ci=metrics.Bootstrap(300)).row(0, named=True)
    assert row["estimate"] == pytest.approx(0.25 / (7 / 24) ** 0.5)
    assert row["d_z"] == pytest.approx(0.25 / (11 / 12) ** 0.5)  # differences 1, 1, 0, -1


def test_degenerate_pairs_say_why() -> None:
    same = paired([(True, True)] * 5)
    assert metrics.mcnemar(same).row(0, named=True)["status"] == "no discordant pairs"
    assert metrics.permutation(same)["status"][0] == "no cluster differs: p undefined"
    assert metrics.cohens_d(same, ci=metrics.Bootstrap(50))["status"][0] == "both sides constant: d undefined"
    none = paired([(None, True)] * 3)
    assert metrics.mcnemar(none)["status"][0] == "no complete pairs"
    assert metrics.mcnemar(none)["estimate"][0] is None
    assert metrics.permutation(none)["status"][0] == "no complete pairs"


def test_rows_that_cannot_be_paired_are_an_error() -> None:
    with pytest.raises(SchemaError, match="cannot be paired"):
        metrics.mcnemar(pl.concat([HAND, HAND]))


def test_plan_tests_put_everything_side_by_side() -> None:
    plans = HAND.rename({"found": "satisfied"}).with_columns(
        pl.col("condition").replace("direct", "plan_direct")
    )
    row = metrics.plan_tests(plans, ci=metrics.Bootstrap(200)).row(0, named=True)
    assert row["p_exact"] == pytest.approx(0.125)
    assert row["p_permutation"] == pytest.approx(0.125)  # one node a case: both are the sign test
    assert row["status"] == "10 clusters: interval likely too narrow"
    assert metrics.satisfaction(plans, ci=None)["estimate"].to_list() == pytest.approx([10 / 11, 4 / 10])


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=12))
def test_swapping_the_sides_changes_only_the_sign(pairs: list[tuple[bool, bool]]) -> None:
    there = paired(pairs)
    back = paired([(b, a) for a, b in pairs])
    for test, names in ((metrics.mcnemar, ["p_exact", "p_midp"]), (metrics.permutation, ["p_value"])):
        one, two = test(there), test(back)
        for name in names:
            assert one[name][0] == pytest.approx(two[name][0])
        assert one["estimate"][0] == pytest.approx(-two["estimate"][0])
    one, two = (
        metrics.cohens_d(there, ci=metrics.Bootstrap(50)),
        metrics.cohens_d(back, ci=metrics.Bootstrap(50)),
    )
    assert (one["estimate"][0] is None) == (two["estimate"][0] is None)
    if one["estimate"][0] is not None:
        assert one["estimate"][0] == pytest.approx(-two["estimate"][0])
