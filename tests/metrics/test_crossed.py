"""The crossed mixed model against R lme4 (numbers of R 4.2.2, lme4 1.1.31; script and input in tests/data/r_checks)."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
import pytest

import icgkit as ig
from icgkit.errors import SchemaError

pytest.importorskip("glmm")
M = ig.metrics
HERE = Path(__file__).parent.parent / "data" / "r_checks"
R = pl.read_csv(HERE / "crossed_lme4.csv")


def judgments() -> pl.DataFrame:
    frame = pl.read_csv(HERE / "crossed.csv")
    return frame.with_columns(node_id=pl.col("node"), found=pl.col("found") == 1)


def test_estimates_errors_and_spread_are_those_of_lme4() -> None:
    got = M.crossed(judgments())
    ours = dict(
        got.terms.select(
            pl.concat_str("term", pl.col("value").fill_null("")), pl.struct("estimate", "se")
        ).iter_rows()
    )
    for name, estimate, se in R.filter(kind="term").select("name", "estimate", "se").iter_rows():
        assert ours[name]["estimate"] == pytest.approx(estimate, abs=2e-4), name
        assert ours[name]["se"] == pytest.approx(se, rel=5e-3), name
    sd = dict(got.groups.select("group", "sd").iter_rows())
    for name, estimate in R.filter(kind="sd").select("name", "estimate").iter_rows():
        assert sd[name] == pytest.approx(estimate, abs=2e-3), name
    (deviance,) = R.filter(kind="chi2")["estimate"]
    assert got.fit["chi2"].item() == pytest.approx(deviance, abs=2e-3)


def test_models_with_a_cell_of_one_outcome_are_left_out_and_named() -> None:
    part = judgments()
    never = part.filter(model="priors").with_columns(model=pl.lit("never"), found=pl.lit(False))
    got = M.crossed(
        pl.concat([part.filter(condition="direct"), never.filter(condition="direct")]), fixed=["model"]
    )
    assert got.fit["left_out"].item() == "never"
    assert "one outcome only: never" in got.fit["status"].item()
    assert "never" not in got.terms["value"].to_list()


def test_where_nothing_is_left_to_compare_the_status_says_what_it_takes() -> None:
    part = judgments()
    one = part.filter(pl.col("condition") == "direct", pl.col("model") == part["model"][0])
    never = part.with_columns(found=pl.lit(False))
    for frame, random, words in (
        (one, ["case_id"], "needs two values of model or condition"),
        (never, ["case_id"], "left out, a cell has one outcome only: "),
        (part.clear(), ["case_id"], "needs two values of model or condition"),
        (part.filter(case_id=part["case_id"][0]), ["case_id"], "not fitted: needs two "),
    ):
        got = M.crossed(frame, random=random)
        assert words in got.fit["status"].item()
        assert got.terms.is_empty()
        assert got.groups.is_empty()
        assert got.fit["n_total"].item() == frame.height
        assert ig.views.crossed_rows(got)["status"].to_list() == got.fit["status"].to_list()


def test_judges_are_not_mixed_in_silence_and_a_picture_a_case_is_no_group() -> None:
    run = ig.load_results("offline-teb")
    part = run.all_judgments.filter(pl.col("condition").is_in(["direct", "oracle"]))
    part = part.filter(pl.col("case_id") <= "teb-100")  # later ones share pictures
    with pytest.raises(SchemaError, match="several values of 'judge'"):
        M.crossed(part)
    one = part.filter(judge=run.judge)
    got = M.crossed(one, random=["image", "case_id", "node_id"], interaction=False)
    assert "image" not in got.groups["group"].to_list()
    reference = M.crossed(one, random=["case_id"], interaction=False, reference={"condition": "oracle"})
    assert "condition=oracle" in reference.fit["method"].item()


def test_without_the_extra_the_status_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "glmm", None)
    got = M.crossed(judgments())
    assert got.terms.is_empty()
    assert "pip install 'icgkit[mixed]'" in got.fit["status"].item()


def test_a_fit_that_runs_away_gives_no_numbers_and_says_so() -> None:
    """Nodes that everybody finds, or nobody: their spread has no finite estimate."""
    rows = [
        {
            "case_id": f"c{n // 2}",
            "node_id": f"n{n}",
            "model": model,
            "condition": "direct",
            "found": n % 2 == 0,
        }
        for n in range(120)
        for model in ("a", "b", "c")
    ]
    rows[0]["found"] = False
    got = M.crossed(pl.DataFrame(rows), fixed=["model"], random=["case_id", "node_id"], interaction=False)
    assert "runs away" in got.fit["status"].item()
    assert got.terms["estimate"].null_count() == got.terms.height
    assert got.terms["p_value"].null_count() == got.terms.height
