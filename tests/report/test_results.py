from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import icgkit as ig
from icgkit.errors import SchemaError, UnknownName
from icgkit.judge.kinds import kinds as judging_kinds
from icgkit.schemas import schema


def required(name: str) -> list[str]:
    return [column for column, spec in schema(name).columns.items() if not spec.optional]


@pytest.fixture
def cache(case: ig.Case, tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    ig.write_cases([case], folder / "cases.jsonl")
    text = 'name = "mini"\nversion = "1"\nlicence = "CC0"\nprovenance = "p"\nimage_root = "images"\n'
    (folder / "dataset.toml").write_text(text, encoding="utf-8")
    rows = [
        {"dataset": "mini", "case_id": "demo-1", "condition": c, "model": m, "sample": 0, "node_id": n, "judge": j,
         "region": f, "update": f, "reason": f, "found": f, "status": "ok" if f is not None else "incomplete"}
        for c in ("direct", "cot") for m in ("a", "b") for j in ("strict", "offline/judge")
        for n, f in (("n1", True), ("n2", None))
    ]  # fmt: skip
    run = tmp_path / "run"
    run.mkdir()
    schema("judgments").frame(rows).write_parquet(run / "judgments.parquet")
    (run / "run.toml").write_text(f"dataset = '{folder}'\n", encoding="utf-8")
    return run


def test_results_join_what_the_dataset_knows(cache: Path) -> None:
    run = ig.load_results(cache)
    assert run.judge == "offline/judge"
    assert run.judges == ["offline/judge", "strict"]
    assert run.judgments.height == 8
    assert set(run.judgments["subtype"]) == {"semantic_numerical", "semantic_promotional"}
    # 1 case, 2 nodes, 2 conditions x 2 models x 1 verdict, as many missing
    assert run.counts() == {"cases": 1, "images": 1, "nodes": 2, "verdicts": 4, "missing": 4}
    assert "4 missing (left out, not counted as false)" in run.notes()[0]


def test_what_a_cache_lacks_is_said_with_the_command(cache: Path) -> None:
    run = ig.load_results(cache)
    assert run.lacks("direct", "cot") == ""
    ask, mark = run.commands(["oracle"])
    assert run.lacks("direct", "oracle").endswith(f"{ask} && {mark}")
    assert re.search(r"icgkit run --dataset \S+ --models \S+ --conditions oracle --cache \S+", ask)
    frame, missing = run.need("precision")
    assert frame.is_empty()
    assert frame.columns == [*required("precision"), "template", "image"]
    assert "icgkit judge" in missing
    table = run.if_has(["oracle"], ig.metrics.gap, run.judgments)
    assert table["status"].item() == "not in this cache: oracle"


def test_unknown_judges_and_caches(cache: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="strict"):
        _ = ig.load_results(cache, judge="lenient").judgments
    with pytest.raises(UnknownName):
        ig.load_results("no-such-cache")
    (cache / "run.toml").unlink()
    with pytest.raises(SchemaError, match="names no dataset"):
        ig.load_results(cache)


def test_models_of_a_subset_run_stay_out_of_full(cache: Path) -> None:
    run = ig.load_results(cache)
    assert set(run.full["model"]) == {"a", "b"}
    more = run.judgments.with_columns(case_id=pl.lit("demo-2")).filter(model="a")
    pl.concat([pl.read_parquet(cache / "judgments.parquet"), more.select(required("judgments")).with_columns(
        dataset=pl.lit("mini"))]).write_parquet(cache / "judgments.parquet")  # fmt: skip
    assert set(ig.load_results(cache).full["model"]) == {"a"}


def test_simulated_runs_say_so(cache: Path, tmp_path: Path) -> None:
    (cache / "run.toml").write_text((cache / "run.toml").read_text() + "simulated = true\n", encoding="utf-8")
    run = ig.load_results(cache)
    assert any("Simulated" in line for line in run.notes())
    fig, _ = ig.plots.figure()
    saved = run.save("X", out=tmp_path / "out", data=run.judgments.head(1), figure=fig, caption="c")
    assert '"simulated": true' in (tmp_path / "out" / "X.json").read_text(encoding="utf-8")
    assert "Simulated" in (tmp_path / "out" / "X.svg").read_text(encoding="utf-8")
    assert saved.id == "X"


def test_what_cases_share_is_a_column_and_is_resampled() -> None:
    drawn, real = ig.load_results("offline"), ig.load_results("offline-teb")
    assert (drawn.cluster, real.cluster) == ("template", "image")
    documents = len({c.metadata["template"] for c in drawn.dataset})
    assert drawn.judgments["template"].n_unique() == documents
    assert drawn.judgments["template"].null_count() == 0
    assert real.judgments["image"].n_unique() < real.judgments["case_id"].n_unique(), (
        "some pictures have two instructions"
    )
    assert real.judgments["template"].null_count() == real.judgments.height
    assert drawn.need("precision")[0]["template"].null_count() == 0
    assert "whole templates resampled" in drawn.interval(10, 1)
    assert f"{len(drawn.dataset)} cases of {documents} templates" in drawn.size()
    assert drawn.counts()["templates"] == documents
    by_case = ig.load_results("offline", cluster="case_id")
    assert by_case.cluster == "case_id"
    assert "whole cases resampled" in by_case.interval(10, 1)


def test_the_intervals_of_drawn_cases_are_those_of_templates() -> None:
    run = ig.load_results("offline")
    part = run.judgments.filter(condition="nl_self", model="offline/ocr-vision")
    wide, narrow = (
        ig.metrics.recall(part, ci=ig.Bootstrap(2000, 42, c)).row(0, named=True)
        for c in (run.cluster, "case_id")
    )
    of_case = part.group_by("case_id", maintain_order=True).agg(pl.first("template"), pl.mean("found"))
    rng = np.random.default_rng(1)
    for got, unit in ((wide, "template"), (narrow, "case_id")):
        groups = [g["found"].to_numpy() for _, g in of_case.group_by(unit, maintain_order=True)]
        drawn = [
            np.concatenate([groups[i] for i in rng.integers(len(groups), size=len(groups))]).mean()
            for _ in range(2000)
        ]
        assert (got["low"], got["high"]) == pytest.approx(
            tuple(np.quantile(drawn, [0.025, 0.975])), abs=0.006
        )
    assert wide["high"] - wide["low"] > 1.1 * (narrow["high"] - narrow["low"])


@pytest.mark.parametrize("name", ["gold", "labels", "failures", "audit", "human"])
def test_remedies_name_commands_that_there_are(cache: Path, name: str) -> None:
    missing = ig.load_results(cache).need(name)[1]
    assert name in missing
    kinds = re.findall(r"icgkit judge --kinds (\w+)", missing)
    assert all(k in judging_kinds() for k in kinds)


def test_a_row_says_what_it_stands_on(cache: Path) -> None:
    judgments = ig.load_results(cache).all_judgments
    cells = pl.DataFrame({"model": ["a", "gone", ig.views.ALL]})
    got = ig.views.with_counts(cells, judgments).rows()
    n, scored = judgments.height, judgments["found"].drop_nulls().len()
    own = judgments.filter(model="a")
    assert got[0] == ("a", 1, own["found"].drop_nulls().len(), own["found"].null_count())
    assert got[1] == ("gone", None, None, None)
    assert got[2] == (ig.views.ALL, 1, scored, n - scored)
    assert n - scored > 0


def test_a_leaderboard_puts_models_of_several_caches_in_order() -> None:
    run = ig.load_results("icg-teb-mllm,offline-teb")
    board = ig.views.standings(run, ["direct", "nl_self"], ig.Bootstrap(50, 1, run.cluster))
    assert set(board["model"]) == set(run.models())
    shown = [float(text.split()[0]) for text in board["nl_self"]]
    assert shown == sorted(shown, reverse=True)
    first = board.row(0, named=True)
    assert first["model"] == "anthropic/claude (interactive)"
    assert len(set(board["prompts"])) == 1, "both were given the same words"
    priced = board.filter(pl.col("model").str.starts_with("offline/"))
    assert priced["cost"].to_list() == [0.0] * priced.height
