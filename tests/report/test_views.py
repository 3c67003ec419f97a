from __future__ import annotations

from types import SimpleNamespace

import polars as pl
import pytest

import icgkit as ig
from icgkit.errors import SchemaError
from icgkit.report import views


def judgments(
    rows: list[tuple[str, str, str, str, bool | None]], subtype: str = "xmod_temporal"
) -> pl.DataFrame:
    columns = ["case_id", "node_id", "condition", "model", "found"]
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    return frame.with_columns(
        judge=pl.lit("j"), subtype=pl.lit(subtype), category=pl.lit("cross_modal"), source=pl.lit("s"),
        region=pl.col("found"), update=pl.col("found"), reason=pl.col("found"), status=pl.lit("ok"),
    )  # fmt: skip


def test_wide_keeps_absent_cells_null_and_refuses_cells_twice() -> None:
    scores = pl.DataFrame({"m": ["a", "b"], "c": ["x", "x"], "estimate": [0.1, 0.2]})
    assert views.wide(scores, rows="m", columns="c", order=["x", "y"]).rows() == [
        ("a", 0.1, None),
        ("b", 0.2, None),
    ]
    with pytest.raises(SchemaError, match="occur twice"):
        views.wide(pl.concat([scores, scores]), rows="m", columns="c", order=["x"])


def test_cases_are_picked_by_rule() -> None:
    """Four cases, two models; direct recall of model a and b, oracle of both.

    c1: direct 1, 1, oracle 1: ceiling. c2: direct 0, 0, oracle 1: activated (gap 1).
    c3: three nodes, direct 1, 0: spread 1, model-dependent. c4: one node, never picked.
    """
    rows: list[tuple[str, str, str, str, bool | None]] = []
    direct = {"c1": (True, True), "c2": (False, False), "c3": (True, False), "c4": (True, True)}
    for case, (a, b) in direct.items():
        for node in {"c3": ("n1", "n2", "n3"), "c4": ("n1",)}.get(case, ("n1", "n2")):
            rows += [(case, node, "direct", "a", a), (case, node, "direct", "b", b)]
            rows += [(case, node, "oracle", m, True) for m in "ab"]
    picked = views.pick_cases(judgments(rows))
    assert dict(picked.select("role", "case_id").iter_rows()) == {
        "ceiling": "c1", "oracle-activated": "c2", "model-dependent": "c3",
    }  # fmt: skip


def test_picking_from_nothing_gives_nothing() -> None:
    assert views.pick_cases(judgments([("c1", "n1", "direct", "a", None)])).is_empty()


def test_the_grid_keeps_missing_verdicts_null() -> None:
    grid = views.found_grid(
        judgments([("c", "n1", "oracle", "offline/x", None), ("c", "n1", "direct", "offline/x", True)]),
        "c", ("direct", "oracle"),
    )  # fmt: skip
    assert grid.columns == ["node_id", "Direct|x", "ICG-O|x"]
    assert grid.row(0) == ("n1", True, None)


def test_sources_with_few_cases_become_one_group() -> None:
    frame = pl.DataFrame({"case_id": ["a", "b", "c", "d"], "source": ["x", "x", "y", "z"]})
    assert views.fold_sources(frame, least=2)["source"].to_list() == ["x", "x", "other", "other"]


def test_the_subset_is_that_of_the_smaller_run_where_there_is_one() -> None:
    run = ig.load_results("offline-teb")
    few = run.dataset.cases[3].id
    small = run.judgments.filter(case_id=few).with_columns(model=pl.lit("tiny"))
    both = SimpleNamespace(dataset=run.dataset, judgments=pl.concat([run.judgments, small]))
    assert views.subset_cases(both, n=50, seed=42) == [few]  # type: ignore[arg-type]
    assert len(views.subset_cases(run, n=50, seed=42)) == 50


def test_residual_misses_count_parts_and_leave_out_missing() -> None:
    frame = judgments(
        [
            ("c", "n1", "oracle", "m", False),
            ("c", "n2", "oracle", "m", True),
            ("c", "n3", "oracle", "m", None),
        ]
    )
    frame = frame.with_columns(
        region=pl.when(pl.col("node_id") == "n1").then(True).otherwise(pl.col("region"))
    )
    row = views.residual_misses(frame).row(0, named=True)
    # one miss of two verdicts; its region was found, update and reason were not
    assert (row["n_missed"], row["n_scored"], row["part_region"], row["part_update"]) == (1, 2, 0, 1)


def test_the_taxonomy_counts_subtypes_that_are_absent_as_zero() -> None:
    view = views.taxonomy_view(pl.DataFrame({"subtype": ["style_font", "style_font"]}))
    assert view.height == 19
    assert view.filter(subtype_id="style_font")["n_nodes"].item() == 2
    assert view["n_nodes"].sum() == 2
    assert view.filter(subtype_id="semantic_numerical")["level"].item() == "0"
    assert view.filter(subtype_id="style_font")["level"].item() == "2*"


def test_minus_turns_sign_and_interval() -> None:
    frame = pl.DataFrame({"target": ["direct"], "estimate": [-0.3], "low": [-0.5], "high": [-0.1]})
    assert views.minus(frame, "direct").row(0, named=True) == {
        "target": "direct", "estimate": 0.3, "low": 0.1, "high": 0.5,
    }  # fmt: skip
    assert views.minus(pl.DataFrame({"status": ["x"]}), "direct")["estimate"].to_list() == [None]
