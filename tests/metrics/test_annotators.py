"""Correction for judge error, item response, utility, power: by hand, at the edges, as properties."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icgkit import metrics
from icgkit.errors import SchemaError

# 1000 decisions without label: judge says yes to 500. 100 with one: 40 truly yes (judge 36 yes), 60 no
# (judge 6 yes). Se = 0.9, Sp = 0.9, p = 542 / 1100, Rogan-Gladen (p + 0.9 - 1) / 0.8.
REST = pl.DataFrame({"case_id": [f"c{i}" for i in range(1000)], "found": [i % 2 == 0 for i in range(1000)]})
LABELLED = pl.DataFrame(
    {
        "case_id": [f"x{i}" for i in range(100)],
        "found": [True] * 36 + [False] * 4 + [True] * 6 + [False] * 54,
        "gold": [True] * 40 + [False] * 60,
    }
)
JUDGED = pl.concat([REST, LABELLED.drop("gold")])


def by_name(frame: pl.DataFrame) -> dict[str, dict[str, Any]]:
    return {r["estimator"]: r for r in frame.iter_rows(named=True)}


def test_correction_by_hand() -> None:
    got = by_name(metrics.corrected(JUDGED, LABELLED, by=(), ci=metrics.Bootstrap(400)))
    assert got["judge"]["estimate"] == pytest.approx(542 / 1100)
    assert got["labels"]["estimate"] == pytest.approx(0.4)
    assert got["rogan_gladen"]["estimate"] == pytest.approx((542 / 1100 - 0.1) / 0.8)
    assert (got["rogan_gladen"]["sensitivity"], got["rogan_gladen"]["specificity"]) == pytest.approx(
        (0.9, 0.9)
    )
    # Prediction-powered: 0.5 + mean(y - f) = 0.5 + (40 - 42) / 100. Every case is a cluster: squares add up
    # to 0.25 / 1000 and (0.1 - 0.0004) / 100, times 1100 / 1099; 100 labelled clusters.
    row = got["prediction_powered"]
    assert row["estimate"] == pytest.approx(0.48)
    assert row["width"] == pytest.approx(
        2 * 1.9842169515 * ((0.25 / 1000 + 0.0996 / 100) * 1100 / 1099) ** 0.5, rel=1e-6
    )
    # Tuning: cov = 0.36 - 0.4 * 0.42 among the labelled, var of all 1100 verdicts, t = cov / (var * 1.1).
    var = 542 / 1100 * 558 / 1100 * 1100 / 1099
    assert got["prediction_powered_tuned"]["tuning"] == pytest.approx(0.192 / (var * 1.1))
    assert got["prediction_powered_tuned"]["width"] < got["labels"]["width"]
    assert all(got[m]["width_ratio"] > 1 for m in ("labels", "rogan_gladen", "prediction_powered"))


def test_correction_recovers_the_truth_of_a_biased_judge() -> None:
    rng = np.random.default_rng(4)
    real = rng.random(20_000) < 0.3
    said = np.where(real, rng.random(20_000) < 0.85, rng.random(20_000) < 0.15)
    frame = pl.DataFrame({"case_id": [f"c{i // 2}" for i in range(20_000)], "node_id": [f"n{i % 2}" for i in range(20_000)],
                          "found": said})  # fmt: skip
    labels = frame.head(4000).with_columns(gold=pl.Series(real[:4000]))
    got = by_name(metrics.corrected(frame, labels, by=(), ci=metrics.Bootstrap(400)))
    assert not got["judge"]["low"] <= 0.3 <= got["judge"]["high"]
    for name in ("labels", "rogan_gladen", "prediction_powered", "prediction_powered_tuned"):
        assert got[name]["low"] <= 0.3 <= got[name]["high"]


def test_correction_edges() -> None:
    one = by_name(metrics.corrected(JUDGED, LABELLED.head(40), by=(), ci=metrics.Bootstrap(50)))
    assert one["rogan_gladen"]["estimate"] is None
    assert one["rogan_gladen"]["status"] == "labels have one class only"
    noise = LABELLED.with_columns(gold=~pl.col("gold"))
    assert (
        "tells nothing"
        in by_name(metrics.corrected(JUDGED, noise, by=(), ci=metrics.Bootstrap(50)))["rogan_gladen"][
            "status"
        ]
    )
    none = by_name(metrics.corrected(JUDGED, LABELLED.clear(), by=(), ci=metrics.Bootstrap(50)))
    assert none["labels"]["status"] == "0 labelled clusters: too few"
    assert none["judge"]["estimate"] == pytest.approx(542 / 1100)
    empty = JUDGED.with_columns(found=pl.lit(None, dtype=pl.Boolean))
    assert by_name(metrics.corrected(empty, LABELLED, by=()))["judge"]["status"] == "nothing scored"


def answers(seed: int = 0, missing: float = 0.0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(120):
        b = rng.normal(0, 1.5)
        for model, ability in (("weak", -1.0), ("middle", 0.0), ("strong", 1.2)):
            found = None if rng.random() < missing else bool(rng.random() < 1 / (1 + np.exp(b - ability)))
            rows.append({"case_id": f"c{i:03}", "node_id": "n", "model": model, "found": found})
    return pl.DataFrame(rows)


def test_item_response_orders_and_recovers() -> None:
    got = metrics.item_response(answers(missing=0.05), respondent="model")
    people = dict(got.respondents.select("model", "ability").iter_rows())
    assert people["weak"] < people["middle"] < people["strong"]
    for name, truth in (("weak", -1.0), ("middle", 0.0), ("strong", 1.2)):
        row = got.respondents.filter(model=name).row(0, named=True)
        assert abs(row["ability"] - truth) < 3.5 * row["se"]
    hard = got.items.sort("difficulty")
    assert hard["n_found"][0] >= hard["n_found"][-1]
    assert got.fit["n_missing"][0] > 0


def test_item_response_edges() -> None:
    perfect = answers().with_columns(found=pl.when(pl.col("model") == "strong").then(True).otherwise("found"))
    row = (
        metrics.item_response(perfect, respondent="model")
        .respondents.filter(model="strong")
        .row(0, named=True)
    )
    assert (row["ability"], row["status"]) == (None, "all found: ability without bound")
    with pytest.raises(SchemaError, match="1 respondents"):
        metrics.item_response(answers().filter(model="weak"), respondent="model")


# x misses 1 of 2 nodes and proposes nothing wrong; y misses none and proposes 2 wrong steps in 2 cases.
# Cost per case: x = r / 2, y = 1: equal at r = 2.
FOUND = pl.DataFrame({"case_id": list("abab"), "condition": list("xxyy"), "found": [True, False, True, True]})
STEPS = pl.DataFrame(
    {"case_id": list("abab"), "condition": list("xxyy"), "valid": [True, True, False, False]}
)


def test_utility_by_hand() -> None:
    got = metrics.utility(FOUND, STEPS, by=(), ratios=[1.0, 2.0, 4.0], ci=metrics.Bootstrap(50))
    best = got.filter("best").select("ratio", "condition").rows()
    assert best[0] == (1.0, "x")
    assert best[2] == (4.0, "y")
    at_two = got.filter(ratio=2.0)["estimate"].to_list()
    assert at_two == pytest.approx([1.0, 1.0])
    with pytest.raises(SchemaError, match="no condition has both"):
        metrics.utility(FOUND, STEPS.with_columns(condition=pl.lit("z")), by=())
    none = metrics.utility(
        FOUND.with_columns(found=pl.lit(None, dtype=pl.Boolean)), STEPS, by=(), ratios=[1.0]
    )
    assert none["estimate"].to_list() == [None, None]
    assert none["status"].to_list() == ["no response judged for both"] * 2
    with pytest.raises(SchemaError, match="ratios"):
        metrics.utility(FOUND, STEPS, by=(), ratios=[0.0])


def test_power_edges_and_inverse() -> None:
    needed = metrics.cases_needed(effect=0.05, sd=0.3, power=0.8)["cases"][0]
    around = metrics.power_difference(effect=0.05, sd=0.3, cases=[needed - 1, needed])["power"].to_list()
    assert around[0] < 0.8 <= around[1] + 1e-9
    zero = metrics.cases_needed(effect=0.0, sd=0.3).row(0, named=True)
    assert (zero["cases"], zero["status"]) == (None, "effect is 0: no number of cases is enough")
    with pytest.raises(SchemaError, match="sd"):
        metrics.power_difference(effect=0.1, sd=0.0, cases=10)
    with pytest.raises(SchemaError, match="cannot be reached"):
        metrics.power_kappa(kappa=0.9, null=0.5, rate_a=0.9, rate_b=0.5)


def test_power_by_simulation_agrees_with_the_closed_form() -> None:
    rng = np.random.default_rng(1)
    cases = [f"c{i}" for i in range(300)]
    base = rng.random(300) < 0.5
    moved = rng.random(300) < 0.4
    after = np.where(moved, rng.random(300) < 0.6, base)
    pilot = pl.concat(
        [
            pl.DataFrame({"case_id": cases, "condition": ["direct"] * 300, "found": base}),
            pl.DataFrame({"case_id": cases, "condition": ["oracle"] * 300, "found": after}),
        ]
    )
    sd = metrics.case_sd(pilot, by=())["sd"][0]
    drawn = metrics.power_from_pilot(pilot, cases=100, effect=0.1, ci=metrics.Bootstrap(2000))["estimate"][0]
    closed = metrics.power_difference(effect=0.1, sd=sd, cases=100)["power"][0]
    assert drawn == pytest.approx(closed, abs=0.03)
    kappa = metrics.power_kappa(kappa=0.7, null=0.5, rate_a=0.6, pairs=200).row(0, named=True)
    assert kappa["power_simulated"] == pytest.approx(kappa["power"], abs=0.04)
    assert metrics.power_from_pilot(pilot.filter(case_id="c1"), cases=10)["estimate"][0] is None


@settings(deadline=None, max_examples=25)
@given(st.floats(0.01, 0.3), st.floats(0.1, 0.6), st.integers(5, 2000))
def test_power_grows_with_cases_and_effect(effect: float, sd: float, cases: int) -> None:
    row = metrics.power_difference(effect=[effect, 1.5 * effect], sd=sd, cases=[cases, 2 * cases])[
        "power"
    ].to_list()
    assert row[0] <= row[1] + 1e-12
    assert row[0] <= row[2] + 1e-12
    assert 0 < row[0] <= 1
