"""One stratified draw, one rule of what is marked, whoever asks."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import icgkit as ig
from icgforge.mazes import text_pairs
from icgkit.calls.cache import Cache
from icgkit.cases import subset as sampling
from icgkit.cases.twins import load_twins
from icgkit.errors import SchemaError
from icgkit.judge.kinds import kinds, marked_constraints, planning_set
from icgkit.report.views import subset_cases
from icgkit.simulate.study import layout_of, subset
from icgkit.study import judging
from icgkit.study import run as study_run
from icgkit.study.file import Study, stratified


def test_the_recorded_subset_is_the_one_that_everybody_draws() -> None:
    run = ig.load_results("offline")
    recorded = sorted(run.judgments.filter(condition="ocr_assisted")["case_id"].unique())
    assert sorted(stratified(run.dataset, 50)) == recorded
    assert sorted(subset_cases(run, n=50, seed=42)) == recorded
    assert sorted(subset(layout_of("icg-scenes"), 50, 42)) == recorded


def test_text_pairs_take_so_many_of_each_subtype() -> None:
    data = ig.load_dataset("icg-scenes")
    kinds = sampling.strata(data.nodes(), by="subtype")
    drawn = pl.Series([kinds[case.id] for case, _ in text_pairs.make_text_pairs(data, 4)])
    held = pl.Series([kinds[twin.metadata["twin_of"]] for twin in load_twins(data, kind="infeasible")])
    there = dict(held.value_counts().iter_rows())
    assert dict(drawn.value_counts().iter_rows()) == {s: min(4, n) for s, n in there.items()}


def test_a_stratum_that_runs_out_leaves_its_share() -> None:
    groups = {"a": "style", **{f"b{i}": "semantic" for i in range(9)}}
    assert len(sampling.stratified(groups, 6)) == 6
    assert len(sampling.stratified(groups, per_stratum=3)) == 4
    for bad in ({"n": 11}, {"n": 2, "per_stratum": 1}, {}):
        with pytest.raises(SchemaError, match="size of the subset"):
            sampling.stratified(groups, **bad)


def test_weights_lead_back_to_the_whole_set() -> None:
    groups = {"a": "style", **{f"b{i}": "semantic" for i in range(9)}}
    got = sampling.weights(groups, ["a", "b1", "b2", "b3"])
    assert got["weight"].to_list() == [1.0, 3.0, 3.0, 3.0]
    assert got["weight"].sum() == len(groups)
    with pytest.raises(SchemaError, match="not in the whole set"):
        sampling.weights(groups, ["z"])


def test_what_plans_are_marked_on_does_not_hang_on_the_subset() -> None:
    data = ig.load_dataset("icg-teb")
    marked = marked_constraints(data)
    assert set(planning_set(data).rows()) <= set(marked.rows())
    assert set(marked["case_id"]) == {c.id for c in data}
    assert marked.group_by("case_id").len()["len"].max() == 2


def test_run_and_judge_mark_the_same(tmp_path: Path) -> None:
    judge = {"name": "offline/judge", "kinds": ["recall", "precision", "plan"]}
    study = Study.of(
        {
            "dataset": "icg-teb", "models": ["offline/priors"], "conditions": ["direct", "nl_self", "plan_direct"],
            "judges": [judge], "subset": {"n": 12}, "cache": str(tmp_path / "c"),
        }
    )  # fmt: skip
    ran = study_run.run(study, progress=False)
    calls = len(Cache(tmp_path / "c"))
    again = judging.judge_cache(tmp_path / "c", ["offline/judge"], kinds=judge["kinds"], progress=False)
    for name, frame in ran.judgments.items():
        assert again[name].sort(frame.columns).equals(frame.sort(frame.columns)), name
    assert len(Cache(tmp_path / "c")) == calls
    assert ran.judgments["plan"].height
    assert set(again["precision"]["condition"]) <= set(kinds()["precision"].unless_named)


def test_a_subset_that_leans_is_brought_back_by_its_weights() -> None:
    # Style cases are found, semantic ones are not; nine of ten cases are semantic, half of the subset is.
    groups = {**{f"s{i}": "style" for i in range(10)}, **{f"n{i}": "semantic" for i in range(90)}}
    drawn = sampling.stratified(groups, 20)
    frame = pl.DataFrame(
        {"case_id": drawn, "found": [groups[c] == "style" for c in drawn], "condition": "direct"}
    )
    frame = frame.join(sampling.weights(groups, drawn), on="case_id")
    plain, weighted = (
        ig.metrics.recall(frame, by=(), weights=w).row(0, named=True) for w in (None, "weight")
    )
    assert (plain["estimate"], weighted["estimate"]) == (0.5, pytest.approx(0.1))
    assert plain["n_cases"] == weighted["n_cases"] == 20
    assert weighted["low"] < 0.1 < weighted["high"]
    assert "weighted by weight" in weighted["method"]
    micro = ig.metrics.recall(frame, by=(), average="micro", weights="weight", ci=None)["estimate"].item()
    assert micro == pytest.approx(0.1)
    both = pl.concat([frame, frame.with_columns(condition=pl.lit("oracle"), found=pl.lit(True))])
    assert ig.metrics.gap(both, by=(), weights="weight", ci=None)["estimate"].item() == pytest.approx(0.9)
    with pytest.raises(SchemaError, match="above 0"):
        ig.metrics.recall(frame.with_columns(weight=pl.lit(-1.0)), by=(), weights="weight")
    with pytest.raises(SchemaError, match="Wilson"):
        ig.metrics.recall(frame, by=(), weights="weight", ci=ig.Wilson())
