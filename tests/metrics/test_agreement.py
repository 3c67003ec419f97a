"""Agreement: by hand, near ceiling, at the edges, as properties."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icgkit import metrics
from icgkit.errors import SchemaError, UnknownName
from icgkit.metrics.agreement import _number


def judges(pairs: Sequence[tuple[bool | None, bool | None]]) -> pl.DataFrame:
    rows = []
    for i, (a, b) in enumerate(pairs):
        key = {"case_id": f"c{i // 2:03}", "node_id": f"n{i % 2}"}
        rows += [key | {"judge": "a", "found": a}, key | {"judge": "b", "found": b}]  # type: ignore[dict-item]
    return pl.DataFrame(rows, schema_overrides={"found": pl.Boolean})


def table(both: int, first: int, second: int, neither: int) -> Sequence[tuple[bool | None, bool | None]]:
    return (
        [(True, True)] * both
        + [(True, False)] * first
        + [(False, True)] * second
        + [(False, False)] * neither
    )


def test_by_hand() -> None:
    # 20 both, 5 a only, 10 b only, 15 neither of 50: p_o = 0.7; a = 0.5, b = 0.6, p_e = 0.5, kappa = 0.4.
    # PABAK = 0.4. q = 0.55, g = 0.495, AC1 = 0.205 / 0.505. alpha: N = 100, n1 = 55, d = 2*55*45/9900 = 0.5.
    row = metrics.agreement(judges(table(20, 5, 10, 15)), ci=metrics.Bootstrap(200)).row(0, named=True)
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
def test_one_class(pairs: Sequence[tuple[bool | None, bool | None]], undefined: bool) -> None:
    row = metrics.agreement(judges(pairs), ci=metrics.Bootstrap(100)).row(0, named=True)
    assert (row["kappa"] is None) == undefined
    assert row["raw"] is not None
    if undefined:
        assert row["status"].startswith("one class only: kappa")
        assert row["kappa_low"] is None


def test_nothing_in_common() -> None:
    row = metrics.agreement(judges([(True, None), (None, False)]), ci=metrics.Bootstrap(50)).row(
        0, named=True
    )
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
    row = metrics.fleiss(rows, ci=metrics.Bootstrap(50)).row(0, named=True)
    assert (row["raw"], row["kappa"], row["ac1"]) == (1.0, None, None)
    assert "one category only" in row["status"]
    nothing = metrics.fleiss(
        rows.with_columns(subtype=pl.lit(None, dtype=pl.String)), ci=metrics.Bootstrap(50)
    )
    assert nothing["status"][0] == "no item with two labels"


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(*[st.sampled_from([True, False, None])] * 2), min_size=1, max_size=30))
def test_properties(pairs: Sequence[tuple[bool | None, bool | None]]) -> None:
    got = metrics.agreement(judges(pairs), ci=metrics.Bootstrap(40)).row(0, named=True)
    swapped = metrics.agreement(judges([(b, a) for a, b in pairs]), ci=metrics.Bootstrap(40)).row(
        0, named=True
    )
    flipped = judges(pairs).with_columns(~pl.col("found"))
    relabelled = metrics.agreement(flipped, ci=metrics.Bootstrap(40)).row(0, named=True)
    for name in ("raw", "kappa", "pabak", "ac1", "alpha"):
        assert got[name] == pytest.approx(swapped[name])
        assert got[name] == pytest.approx(relabelled[name])
        value, low, high = got[name], got[f"{name}_low"], got[f"{name}_high"]
        assert value is None or math.isfinite(value)
        assert low is None or low <= value <= high


def test_matching_takes_any_order_and_any_gap() -> None:
    # Verdicts of both judges on keys of several columns, some null, one side shuffled and with holes.
    rng = np.random.default_rng(3)
    keys = [
        {
            "case_id": f"c{i // 6}",
            "node_id": f"n{i % 3}",
            "sample": i % 2,
            "condition": [None, "x", "y"][i % 3],
        }
        for i in range(120)
    ]
    a = pl.DataFrame(keys).with_columns(judge=pl.lit("a"), found=pl.Series(rng.random(120) < 0.6))
    b = pl.DataFrame(keys).with_columns(judge=pl.lit("b"), found=pl.Series(rng.random(120) < 0.5))
    b = b.filter(pl.Series(rng.random(120) < 0.8)).sample(fraction=1, shuffle=True, seed=1)
    key = ["case_id", "node_id", "sample", "condition"]
    said = {row[:4]: row[4] for row in b.select(*key, "found").iter_rows()}
    want: dict[object, list[int]] = {}
    for *k, found in a.select(*key, "found").iter_rows():
        cell = want.setdefault(k[3], [0, 0, 0, 0, 0])
        other = said.get(tuple(k))
        cell[4 if other is None else 2 * (not found) + (not other)] += 1
    for ci in (None, metrics.Bootstrap(20)):
        got = metrics.agreement(pl.concat([a, b]), by="condition", ci=ci)
        assert got["condition"].to_list() == ["x", "y", None]
        for row in got.iter_rows(named=True):
            names = ["n_both", "n_a_only", "n_b_only", "n_neither", "n_missing"]
            assert [row[n] for n in names] == want[row["condition"]]
    once = metrics.agreement(pl.concat([a, b]), by="condition", ci=metrics.Bootstrap(20))
    assert metrics.agreement(pl.concat([b, a]), by="condition", ci=metrics.Bootstrap(20)).equals(once)


def test_keys_of_the_same_order_need_no_join_and_give_the_same() -> None:
    frame = judges(table(20, 5, 10, 15))
    want = metrics.agreement(frame, ci=metrics.Bootstrap(50))
    assert metrics.agreement(frame.sort("judge"), ci=metrics.Bootstrap(50)).equals(want)
    mixed = pl.concat([frame.filter(judge="a"), frame.filter(judge="b").reverse()])
    assert metrics.agreement(mixed, ci=metrics.Bootstrap(50)).equals(want)


def test_numbers_of_keys_stay_apart_beyond_64_bits() -> None:
    top = (1 << 32) - 2
    rows = [(top, 1, top), (top, 2, top), (top, 1, top), (1, 1, 1), (top, 1, 1), (1, top, top), (0, top, top)]
    codes = {str(i): np.array(c, dtype=np.uint32) for i, c in enumerate(zip(*rows, strict=True))}
    got = _number(codes, ["0", "1", "2"], len(rows)).tolist()
    assert [got.index(n) for n in got] == [rows.index(r) for r in rows]
