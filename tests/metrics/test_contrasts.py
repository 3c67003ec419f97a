"""Equivalence, differences of gaps, bounds for missing verdicts."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

import icgkit as ig
from icgkit.errors import SchemaError

M = ig.metrics
CI = ig.Bootstrap(400, cluster="template")
PLAIN, FULL = M.Contrast(reference="plain"), M.Contrast(reference="plain", targets="full")


def study(rng: np.random.Generator, shift: float, *, templates: int = 40, cases: int = 4) -> pl.DataFrame:
    """Two conditions on the same cases; the mean of their difference over templates is `shift`."""
    rows = []
    for t in range(templates):
        ease = float(rng.uniform(0.2, 0.6))
        lean = shift + float(rng.normal(0, 0.08))
        for c in range(cases):
            for condition, p in (("plain", ease), ("full", ease + lean)):
                found = bool(rng.random() < p)
                rows.append(
                    {
                        "template": f"t{t}",
                        "case_id": f"t{t}c{c}",
                        "node_id": "n",
                        "condition": condition,
                        "found": found,
                    }
                )
    return pl.DataFrame(rows)


def test_size_at_the_margin_and_power_inside_it() -> None:
    rng = np.random.default_rng(5)
    options = {"contrast": PLAIN, "by": (), "margin": 0.15, "ci": CI}
    edge = [M.equivalence(study(rng, 0.15), **options)["p_value"].item() < 0.05 for _ in range(120)]  # type: ignore[arg-type]
    assert sum(edge) <= 12  # 5 % of 120 are 6; more than 12 happen in 1 of 100 such tests
    inside = [M.equivalence(study(rng, 0.0), **options)["conclusion"].item() for _ in range(20)]  # type: ignore[arg-type]
    assert inside.count("equivalent") >= 12


def test_against_two_t_tests_on_cluster_means() -> None:
    # With as many nodes in every template the clustered bootstrap error is that of the mean of their differences.
    frame = study(np.random.default_rng(1), 0.02)
    wide = (
        frame.group_by("template", "condition")
        .agg(pl.col("found").mean())
        .pivot("condition", index="template", values="found")
    )
    d = (wide["full"] - wide["plain"]).to_numpy()
    worse = stats.ttest_1samp(d, -0.1, alternative="greater").pvalue
    better = stats.ttest_1samp(d, 0.1, alternative="less").pvalue
    ci = ig.Bootstrap(20_000, cluster="template")
    got = M.equivalence(frame, PLAIN, by=(), margin=0.1, ci=ci).row(0, named=True)
    assert got["p_noninferior"] == pytest.approx(worse, rel=0.08)
    assert got["p_nonsuperior"] == pytest.approx(better, rel=0.08)
    assert got["p_value"] == max(got["p_noninferior"], got["p_nonsuperior"])
    t = stats.ttest_1samp(d, 0).confidence_interval(0.9)
    assert (got["low"], got["high"]) == pytest.approx((t.low, t.high), abs=0.002)
    assert got["level"] == pytest.approx(0.9)
    assert (got["n_cases"], got["n_clusters"]) == (160, 40)


def test_conclusions_and_what_is_refused() -> None:
    frame = study(np.random.default_rng(2), 0.4)
    got = M.equivalence(frame, PLAIN, by=(), margin=0.05, ci=CI)
    assert got["conclusion"].item() == "different by the margin or more"
    small = study(np.random.default_rng(3), 0.0, templates=3)
    assert M.equivalence(small, PLAIN, by=(), margin=0.01, ci=CI)["conclusion"].item() == "undecided"
    same = frame.with_columns(found=True)
    assert (
        M.equivalence(same, PLAIN, by=(), margin=0.05, ci=CI)["status"].item()
        == "constant over clusters: no test"
    )
    for bad in (0, 1.5, True, "0.1"):
        with pytest.raises(SchemaError, match="margin"):
            M.equivalence(frame, PLAIN, by=(), margin=bad, ci=CI)  # type: ignore[arg-type]


def test_the_difference_of_gaps_keeps_what_judges_share() -> None:
    one = study(np.random.default_rng(7), 0.2).with_columns(judge=pl.lit("a"))
    # The second judge flips one verdict in forty: its gap is nearly the same, and so is every resample of it.
    other = (
        one.with_row_index("i")
        .with_columns(found=pl.col("found") ^ (pl.col("i") % 40 == 0), judge=pl.lit("b"))
        .drop("i")
    )
    got = M.gap_by(pl.concat([one, other]), FULL, ci=CI)
    gaps = {r["between"] + r["quantity"][0]: r for r in got.iter_rows(named=True)}
    assert gaps["bd"]["estimate"] == pytest.approx(gaps["bg"]["estimate"] - gaps["ag"]["estimate"])
    widths = {k: r["high"] - r["low"] for k, r in gaps.items()}
    assert widths["bd"] < 0.6 * min(widths["ag"], widths["bg"])
    gap = M.differences(one, PLAIN, by=(), ci=CI).row(0, named=True)
    assert (gaps["ag"]["low"], gaps["ag"]["high"]) == pytest.approx((gap["low"], gap["high"]))


def test_a_judge_of_a_part_is_compared_on_that_part() -> None:
    one = study(np.random.default_rng(7), 0.2).with_columns(judge=pl.lit("a"))
    few = one.filter(pl.col("template").is_in(["t0", "t1", "t2", "t3"])).with_columns(judge=pl.lit("b"))
    got = M.gap_by(pl.concat([one, few]), FULL, ci=CI)
    assert got["n_cases"].to_list() == [16, 16, 16]
    assert got.filter(quantity="difference of gaps")["estimate"].item() == 0
    with pytest.raises(SchemaError, match="nothing to compare"):
        M.gap_by(one, FULL, ci=CI)


def test_bounds_hold_whatever_is_missing() -> None:
    frame = study(np.random.default_rng(4), 0.1)
    truth = M.recall(frame, by=("condition",), ci=None).sort("condition")
    rng = np.random.default_rng(0)
    hidden = frame.with_columns(  # found ones go missing three times as often
        found=pl.when(pl.Series(rng.random(frame.height)) < pl.when("found").then(0.3).otherwise(0.1))
        .then(None)
        .otherwise("found")
    )
    got = M.bounds(hidden, by=("condition",)).sort("condition")
    assert (got["worst"] <= truth["estimate"]).all()
    assert (got["best"] >= truth["estimate"]).all()
    assert (got["estimate"] < truth["estimate"]).all()  # what leaving out gets wrong here
    assert got["n_missing"].sum() == hidden["found"].null_count()
    none = M.bounds(frame, by=("condition",))
    assert none["width"].to_list() == [0, 0]


def test_a_trend_over_groups_keeps_what_their_rates_leave_open() -> None:
    rng = np.random.default_rng(3)
    rows = [
        {"template": f"t{t}", "case_id": f"t{t}c{c}", "subtype": f"s{t % 6}", "depth": t % 3, "found": bool(rng.random() < 0.5 - 0.1 * (t % 3))}
        for t in range(30) for c in range(6)
    ]  # fmt: skip
    frame = pl.DataFrame(rows)
    got = M.rate_trend(frame, "depth", ci=CI).row(0, named=True)
    rates = M.recall(frame, by=("subtype", "depth"), average="micro", ci=None)
    plain = stats.spearmanr(rates["depth"], rates["estimate"]).statistic
    assert got["estimate"] == pytest.approx(plain)
    assert got["low"] < got["estimate"] < got["high"]
    assert (got["n"], got["n_clusters"]) == (6, 30)


def test_errors_from_elsewhere_correct_recall_and_gap() -> None:
    rng = np.random.default_rng(11)
    frame = study(rng, 0.3, templates=80, cases=6)
    judged = frame.with_columns(
        found=pl.Series(
            np.where(frame["found"], rng.random(frame.height) < 0.9, rng.random(frame.height) < 0.1)
        )
    )
    gold = pl.Series([True] * 400 + [False] * 400)
    seen = pl.Series(np.where(gold, rng.random(800) < 0.9, rng.random(800) < 0.1))
    pairs = pl.DataFrame({"gold": gold, "found": seen})
    got = M.corrected_outside(judged, pairs, PLAIN, ci=CI)
    true = M.gap(frame, FULL, by=(), ci=None)["estimate"].item()
    gap = got.filter(quantity="gap").row(0, named=True)
    assert abs(gap["judged"]) < abs(true)
    assert gap["low"] < true < gap["high"]
    few = M.corrected_outside(judged, pairs.gather_every(40), PLAIN, ci=CI).filter(quantity="gap")
    assert (few["high"] - few["low"]).item() > gap["high"] - gap["low"]  # fewer pairs, wider
    with pytest.raises(SchemaError, match="one class"):
        M.corrected_outside(judged, pairs.filter("gold"), PLAIN, ci=CI)
