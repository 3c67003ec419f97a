"""False alarms on twins: the same nodes, on pictures that do not have them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import icgkit as ig
from icgforge.synth import make_dataset, write_dataset
from icgkit.calls.cache import Cache
from icgkit.cases.twins import absent_nodes, load_twins
from icgkit.errors import SchemaError, UnknownName
from icgkit.study.elicit import elicit


def test_twins_are_asked_about_without_nodes_and_judged_with_those_they_lack(tmp_path: Path) -> None:
    write_dataset(
        make_dataset(2, 3, names=["semantic_num_shelf"]), tmp_path / "shelf", name="shelf", twins=True
    )
    data = ig.load_dataset(tmp_path / "shelf")
    twins = load_twins(data)
    assert twins.name == "shelf-twins"
    assert not twins.missing_images()
    assert [len(t.constraint_nodes) for t in twins] == [0, 0]
    assert [t.instruction for t in twins] == [c.instruction for c in data]
    cache = Cache(tmp_path / "cache")
    model, judge = ["offline/ocr-rules"], "offline/judge"
    marked = ig.judge_recall(
        elicit(twins, ["nl_self"], model, cache=cache, progress=False), absent_nodes(twins, data), judge,
        cache=cache, progress=False,
    )  # fmt: skip
    on_cases = ig.judge_recall(
        elicit(data, ["nl_self"], model, cache=cache, progress=False),
        data,
        judge,
        cache=cache,
        progress=False,
    )
    assert marked.height == on_cases.height == sum(len(c.constraint_nodes) for c in data)
    assert set(marked["case_id"]) == {t.id for t in twins}
    assert set(marked["dataset"]) == {"shelf-twins"}
    assert on_cases["found"].sum() > 0  # the price that follows from the percentage
    assert marked["found"].sum() < on_cases["found"].sum()


def test_a_dataset_without_twins_says_how_to_draw_them(tmp_path: Path) -> None:
    write_dataset(make_dataset(1, names=["style_layout_sign"]), tmp_path / "plain")
    with pytest.raises(SchemaError, match="icgkit scenes --out"):
        load_twins(tmp_path / "plain")
    with pytest.raises(SchemaError, match="icg-synth has no infeasible twins"):
        load_twins("icg-synth", kind="infeasible")
    with pytest.raises(UnknownName, match="counterfactual"):
        load_twins(tmp_path / "plain", kind="impossible")


def test_only_what_a_twin_frees_counts_as_absent(tmp_path: Path) -> None:
    write_dataset(
        make_dataset(1, 3, names=["semantic_num_shelf"]), tmp_path / "shelf", name="shelf", twins=True
    )
    data = ig.load_dataset(tmp_path / "shelf")
    twins = load_twins(data)
    nodes = data.cases[0].constraint_nodes
    half = replace(twins, cases=tuple(t.model_copy(update={"metadata": {**t.metadata, "free": [nodes[0].id]}}) for t in twins))  # fmt: skip
    assert [n.id for n in absent_nodes(half, data).cases[0].constraint_nodes] == [nodes[0].id]
    assert [n.id for n in absent_nodes(twins, data).cases[0].constraint_nodes] == [n.id for n in nodes]
