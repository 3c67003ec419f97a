"""Agreement: by hand, near ceiling, at the edges, as properties."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icgkit import metrics
from icgkit.errors import SchemaError, UnknownName


def judges(pairs: list[tuple[bool | None, bool | None]]) -> pl.DataFrame:
    rows = []
    for i, (a, b) in enumerate(pairs):
        key = {"case_id": f"c{i // 2:03}", "node_id": f"n{i % 2}"}
        rows += [key | {"judge": "a", "found": a}, key | {"judge": "b", "found": b}]
    return pl.DataFrame(rows, schema_overrides={"found": pl.Boolean})


def table(both: int, first: int, second: int, neither: int) -> list[tuple[bool | None, bool | None]]:
    return (
        [(True, True)] * both
        + [(True, False)] * first
        + [(False, True)] * second
        + [(False, False)] * neither
    )


def test_by_hand() -> None:
    # 20 both, 5 a only, 10 b only, 15 neither of 50: p_o = 0.7; a = 0.5, b = 0.6, p_e = 0.5, kappa = 0.4.
    # PABAK = 0.4. q = 0.55, g = 0.495, AC1 = 0.205 / 0.505. alpha: N = 100, n1 = 55, d = 2*55*45/9900 = 0.5.
    row = metrics.agreement(judges(table(20, 5, 10, 15)), n_resamples=200).row(0, named=True)
    assert (row["raw"], row["kappa"], row["pabak"]) == pytest.approx((0.7, 0.4, 0.4))
    assert (row["ac1"], row["alpha"]) == pytest.approx((0.205 / 0.505, 1 - 0.3 / 0.5))
    assert (row["rate_a"], row["rate_b"], row["rate_gap"]) == pytest.approx((0.5, 0.6, -0.1))
    assert row["kappa_low"] < 0.4 < row["kappa_high"]


def test_kappa_collapses_near_ceiling_and_the_others_do_not() -> None:
    row = metrics.agreement(judges(table(96, 2, 2, 0)), ci=None).row(0, named=True)
    assert row["raw"] == pytest.approx(0.96)
    assert row["kappa"] < 0
    assert row["pabak"] > 0.9
    assert row["ac1"] > 0.95


def test_pairs_with_a_side_missing_are_left_out_and_counted() -> None:
    base = judges(table(20, 5, 10, 15))
    more = judges([*table(20, 5, 10, 15), (None, True), (True, None), (None, None)])
    want, got = metrics.agreement(base, ci=None), metrics.agreement(more, ci=None)
    assert got["kappa"].to_list() == want["kappa"].to_list()
    assert (got["n_pairs"][0], got["n_missing"][0]) == (50, 2)


@pytest.mark.parametrize(("pairs", "undefined"), [(table(10, 0, 0, 0), True), (table(10, 1, 0, 0), False)])
def test_one_class(pairs: list[tuple[bool | None, bool | None]], undefined: bool) -> None:
    row = metrics.agreement(judges(pairs), n_resamples=100).row(0, named=True)
    assert (row["kappa"] is None) == undefined
    assert row["raw"] is not None
    if undefined:
        assert row["status"].startswith("one class only: kappa")
        assert row["kappa_low"] is None


def test_nothing_in_common() -> None:
    row = metrics.agreement(judges([(True, None), (None, False)]), n_resamples=50).row(0, named=True)
    assert (row["raw"], row["status"]) == (None, "no pair with both verdicts")


def test_wrong_judges() -> None:
    frame = judges(table(2, 0, 0, 1))
    with pytest.raises(UnknownName, match="zz"):
        metrics.agreement(frame, judges=["a", "zz"])
    with pytest.raises(SchemaError, match="two judges"):
        metrics.agreement(frame.filter(judge="a"))
    with pytest.raises(SchemaError, match="several verdicts"):
        metrics.agreement(pl.concat([frame, frame]))


def test_all_agree_fleiss() -> None:
    rows = pl.DataFrame(
        {"case_id": ["a", "a", "b", "b"], "node_id": "n", "annotator": ["x", "y"] * 2, "subtype": ["s"] * 4}
    )
    row = metrics.fleiss(rows, n_resamples=50).row(0, named=True)
    assert (row["raw"], row["kappa"], row["ac1"]) == (1.0, None, None)
    assert "one category only" in row["status"]
    nothing = metrics.fleiss(rows.with_columns(subtype=pl.lit(None, dtype=pl.String)), n_resamples=50)
    assert nothing["status"][0] == "no item with two labels"


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(*[st.sampled_from([True, False, None])] * 2), min_size=1, max_size=30))
def test_properties(pairs: list[tuple[bool | None, bool | None]]) -> None:
    got = metrics.agreement(judges(pairs), n_resamples=40).row(0, named=True)
    swapped = metrics.agreement(judges([(b, a) for a, b in pairs]), n_resamples=40).row(0, named=True)
    flipped = judges(pairs).with_columns(~pl.col("found"))
    relabelled = metrics.agreement(flipped, n_resamples=40).row(0, named=True)
    for name in ("raw", "kappa", "pabak", "ac1", "alpha"):
        assert got[name] == pytest.approx(swapped[name])
        assert got[name] == pytest.approx(relabelled[name])
        value, low, high = got[name], got[f"{name}_low"], got[f"{name}_high"]
        assert value is None or math.isfinite(value)
        assert low is None or low <= value <= high
