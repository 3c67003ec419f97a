"""Recall, gaps, spreads: by hand, at the edges, and as properties."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icgkit import metrics
from icgkit.errors import SchemaError, UnknownName

B = 400


def judged(rows: Sequence[tuple[str, str, str, bool | None]]) -> pl.DataFrame:
    """(case, model, condition, found) rows."""
    return pl.DataFrame(
        rows,
        schema={"case_id": pl.String, "model": pl.String, "condition": pl.String, "found": pl.Boolean},
        orient="row",
    )


# Case a: 1 of 2 found; b: 2 of 2 (one more is missing); c: 0 of 1.
# Macro: (1/2 + 1 + 0) / 3 = 1/2. Micro: (1 + 2 + 0) / 5 = 3/5. Missing counted as false gives 3/6.
HAND = judged(
    [
        ("a", "m", "direct", True),
        ("a", "m", "direct", False),
        ("b", "m", "direct", True),
        ("b", "m", "direct", True),
        ("b", "m", "direct", None),
        ("c", "m", "direct", False),
    ]
)


@pytest.mark.parametrize(("average", "expected"), [("macro", 0.5), ("micro", 0.6)])
def test_by_hand_missing_is_never_false(average: str, expected: float) -> None:
    row = metrics.recall(HAND, average=average, ci=None).row(0, named=True)  # type: ignore[arg-type]
    assert row["estimate"] == pytest.approx(expected)
    assert (row["n_scored"], row["n_total"], row["n_missing"], row["n_cases"]) == (5, 6, 1, 3)


def test_poolings_differ_by_hand() -> None:
    # Model k: one case, found 1 of 1 -> 1. Model m: cases a 0, b 0 -> 0.
    # Mean over models 1/2; pooled case-model decisions 1/3.
    rows = judged([("a", "k", "direct", True), ("a", "m", "direct", False), ("b", "m", "direct", False)])
    means = metrics.recall(rows, by="condition", pooling="mean_over_models", ci=None)
    pooled = metrics.recall(rows, by="condition", pooling="pooled", ci=None)
    assert means["estimate"].to_list() == [0.5]
    assert pooled["estimate"].to_list() == pytest.approx([1 / 3])
    with pytest.raises(SchemaError, match="mean_over_models"):
        metrics.recall(rows, by="condition", ci=None)


@pytest.mark.parametrize("column", ["judge", "dataset", "condition"])
def test_judges_datasets_conditions_are_never_pooled(column: str) -> None:
    two = HAND.with_columns(pl.Series(column, ["x", "y"] * 3))
    with pytest.raises(SchemaError, match=column):
        metrics.recall(two, by=("model",), ci=None)
    assert metrics.recall(two, by=("model", column), ci=None).height == 2


def test_interval_agrees_with_scipy() -> None:
    import numpy as np
    from scipy import stats

    rng = np.random.default_rng(1)
    share = rng.random(60)
    rows = judged(
        [(f"c{i:02}", "m", "direct", bool(rng.random() < share[i])) for i in range(60) for _ in "ab"]
    )
    per_case = rows.group_by("case_id", maintain_order=True).agg(pl.col("found").mean())["found"].to_numpy()
    other = stats.bootstrap((per_case,), np.mean, method="percentile", n_resamples=20_000, rng=rng)
    ours = metrics.recall(rows, ci=metrics.Bootstrap(20_000)).row(0, named=True)
    assert ours["low"] == pytest.approx(other.confidence_interval.low, abs=0.006)
    assert ours["high"] == pytest.approx(other.confidence_interval.high, abs=0.006)


def test_wilson_agrees_with_statsmodels() -> None:
    from statsmodels.stats.proportion import proportion_confint

    row = metrics.recall(HAND, average="micro", ci=metrics.Wilson()).row(0, named=True)
    assert (row["low"], row["high"]) == pytest.approx(proportion_confint(3, 5, method="wilson"))


@pytest.mark.parametrize(
    ("found", "status"),
    [
        ([None, None], "nothing scored"),
        ([True, True], "constant: Wilson on 2 clusters"),
    ],
)
def test_degenerate_cells_say_why(found: list[bool | None], status: str) -> None:
    rows = judged([(c, "m", "direct", f) for c, f in zip("ab", found, strict=True)])
    row = metrics.recall(rows, ci=metrics.Bootstrap(B)).row(0, named=True)
    assert row["status"].startswith(status)
    assert (row["estimate"] is None) == (found[0] is None)
    assert row["low"] is None or 0 < row["low"] < 1


def test_one_case_has_no_interval() -> None:
    row = metrics.recall(HAND.filter(pl.col("case_id") == "a"), ci=metrics.Bootstrap(B)).row(0, named=True)
    assert (row["estimate"], row["low"], row["status"]) == (0.5, None, "one cluster: no interval")


def test_empty_frame_gives_an_empty_table() -> None:
    assert metrics.recall(HAND.clear(), ci=metrics.Bootstrap(B)).height == 0
    row = metrics.recall(HAND.clear(), by=(), pooling="pooled", ci=metrics.Bootstrap(B)).row(0, named=True)
    assert (row["estimate"], row["low"], row["status"]) == (None, None, "no rows")


def test_null_case_is_an_error_not_one_big_cluster() -> None:
    rows = HAND.with_columns(case_id=pl.lit(None, dtype=pl.String))
    with pytest.raises(SchemaError, match="6 rows have no case"):
        metrics.recall(rows)


def test_cluster_above_the_case() -> None:
    rows = HAND.with_columns(
        source=pl.when(pl.col("case_id") == "c").then(pl.lit("t")).otherwise(pl.lit("s"))
    )
    row = metrics.recall(rows, ci=metrics.Bootstrap(B, cluster="source")).row(0, named=True)
    assert row["estimate"] == pytest.approx(0.5)
    split = HAND.with_columns(source=pl.Series(list("stssts")))
    with pytest.raises(SchemaError, match="several values of source"):
        metrics.recall(split, ci=metrics.Bootstrap(cluster="source"))


def test_every_kind_of_frame_gives_the_same() -> None:
    want = metrics.recall(HAND, ci=metrics.Bootstrap(B))
    for other in (HAND.lazy(), HAND.with_columns(pl.col("found").cast(pl.Int8))):
        assert metrics.recall(other, ci=metrics.Bootstrap(B)).equals(want)
    import pandas as pd

    frame = pd.DataFrame(HAND.to_dict(as_series=False))
    assert metrics.recall(frame, ci=metrics.Bootstrap(B)).equals(want)


def test_other_values_than_yes_and_no_are_refused() -> None:
    with pytest.raises(SchemaError, match="neither 0 nor 1"):
        metrics.recall(HAND.with_columns(found=pl.lit(2)))
    with pytest.raises(SchemaError, match="Boolean"):
        metrics.recall(HAND.with_columns(found=pl.lit("yes")))


def test_batches_agree_with_grouping(monkeypatch: pytest.MonkeyPatch) -> None:
    from icgkit.metrics import _sums

    want = metrics.recall(HAND, ci=metrics.Bootstrap(B))
    monkeypatch.setattr(_sums, "BATCH", 2)
    assert metrics.recall(HAND.lazy(), ci=metrics.Bootstrap(B)).equals(want)


PAIR = pl.concat([HAND, HAND.with_columns(condition=pl.lit("oracle"), found=pl.lit(True))])


def test_gap_by_hand() -> None:
    row = metrics.gap(PAIR, ci=metrics.Bootstrap(B)).row(0, named=True)
    assert row["estimate"] == pytest.approx(0.5)  # 1 - 1/2
    assert row["low"] < 0.5 < row["high"]
    assert (row["reference"], row["target"], row["n_cases"]) == ("direct", "oracle", 3)
    with pytest.raises(UnknownName, match="cot"):
        metrics.gap(PAIR, metrics.Contrast(targets="cot"))


def test_gap_keeps_the_pairing() -> None:
    # Hard and easy cases, and a target that adds 0.1 of a case's ten nodes to each: the difference
    # does not vary over cases although the rates do, so an interval that forgets pairing is wide.
    rows = []
    for i in range(40):
        k = 2 + i % 7
        for j in range(10):
            rows += [(f"c{i}", "m", "direct", j < k), (f"c{i}", "m", "oracle", j <= k + (i % 2))]
    row = metrics.gap(judged(rows), ci=metrics.Bootstrap(2000)).row(0, named=True)
    assert row["high"] - row["low"] < 0.05
    one = metrics.recall(judged(rows), ci=metrics.Bootstrap(2000))
    assert (one["high"] - one["low"]).min() > 0.1  # type: ignore[operator]


def test_shared_cases_only() -> None:
    rows = PAIR.filter((pl.col("condition") == "direct") | (pl.col("case_id") != "c"))
    every = metrics.gap(rows, ci=None).row(0, named=True)
    shared = metrics.gap(rows, metrics.Contrast(on="case_id"), ci=None).row(0, named=True)
    assert every["estimate"] == pytest.approx(0.5)
    assert "2 of 3 clusters" in every["status"]
    assert shared["estimate"] == pytest.approx(0.25)  # direct over a, b: (1/2 + 1)/2 = 3/4


def test_spread_and_ratio_by_hand() -> None:
    rows = pl.concat([HAND, HAND.with_columns(model=pl.lit("k"), found=pl.lit(True))])
    row = metrics.spread(rows, ci=metrics.Bootstrap(B)).row(0, named=True)
    assert (row["lowest"], row["highest"], row["estimate"]) == ("m", "k", 0.5)
    row = metrics.ratio(rows, over="model", ci=metrics.Bootstrap(B)).row(0, named=True)
    assert row["estimate"] == pytest.approx(1 / 0.6)
    zero = metrics.ratio(
        rows.with_columns(found=pl.col("model") == "k"), over="model", ci=metrics.Bootstrap(B)
    )
    assert zero["estimate"].to_list() == [None]
    assert "lowest rate is 0" in zero["status"][0]


found = st.sampled_from([True, False, None])
studies = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from("mk"), st.sampled_from(["direct", "oracle"]), found),
    min_size=1,
    max_size=40,
)


@settings(deadline=None, max_examples=30)
@given(studies, st.randoms())
def test_properties(rows: Sequence[tuple[str, str, str, bool | None]], random: object) -> None:
    frame = judged(rows)
    want = metrics.recall(frame, average=("macro", "micro"), ci=metrics.Bootstrap(50))
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert metrics.recall(judged(shuffled), average=("macro", "micro"), ci=metrics.Bootstrap(50)).equals(want)
    for row in want.iter_rows(named=True):
        assert not any(isinstance(v, float) and math.isnan(v) for v in row.values())
        if row["low"] is not None:
            assert 0 <= row["low"] <= row["estimate"] <= row["high"] <= 1


@settings(deadline=None, max_examples=20)
@given(st.lists(st.lists(found, min_size=3, max_size=3), min_size=2, max_size=8))
def test_equal_cases_make_macro_and_micro_equal(cases: list[list[bool | None]]) -> None:
    rows = judged([(f"c{i}", "m", "direct", f) for i, nodes in enumerate(cases) for f in nodes])
    rows = rows.filter(pl.col("found").is_not_null().all().over("case_id"))
    both = metrics.recall(rows, average=("macro", "micro"), ci=None)
    if rows.height:
        assert both["estimate"][0] == pytest.approx(both["estimate"][1])


@settings(deadline=None, max_examples=20)
@given(studies)
def test_rows_doubled_inside_cases_add_no_certainty(
    rows: Sequence[tuple[str, str, str, bool | None]],
) -> None:
    frame = judged(rows)
    columns = ["estimate", "low", "high"]
    once = metrics.recall(frame, average="micro", ci=metrics.Bootstrap(50)).select(columns)
    twice = metrics.recall(pl.concat([frame, frame]), average="micro", ci=metrics.Bootstrap(50)).select(
        columns
    )
    for name in columns:
        assert twice[name].to_list() == pytest.approx(once[name].to_list())
