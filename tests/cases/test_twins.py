"""False alarms on twins: the same nodes, on pictures that do not have them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import icgkit as ig
from icgkit.calls.cache import Cache
from icgkit.cases.twins import absent_nodes, load_twins
from icgkit.errors import SchemaError, UnknownName
from icgkit.files import project_root
from icgkit.study.elicit import elicit

SCENES = ig.load_dataset("icg-scenes")


def test_twins_are_asked_about_without_the_nodes_they_lack_and_judged_with_them(tmp_path: Path) -> None:
    twins = load_twins(SCENES)
    twins = twins.subset([t.id for t in twins if t.metadata["template"] == "cafe_card"][:4])
    data = SCENES.subset([str(t.metadata["twin_of"]) for t in twins])
    assert twins.name == "icg-scenes-twins"
    assert not twins.missing_images()
    for twin, case in zip(twins, data, strict=True):
        assert {n.id for n in twin.constraint_nodes} < {n.id for n in case.constraint_nodes}
        assert twin.instruction == case.instruction
    cache = Cache(tmp_path / "cache")
    model, judge = ["offline/ocr-rules"], "offline/judge"
    absent = absent_nodes(twins, data)
    marked = ig.judge_recall(
        elicit(twins, ["nl_self"], model, cache=cache, progress=False),
        absent,
        judge,
        cache=cache,
        progress=False,
    )
    assert marked.height == sum(len(c.constraint_nodes) for c in absent) > 0
    assert set(marked["case_id"]) == {t.id for t in twins}
    assert set(marked["dataset"]) == {"icg-scenes-twins"}


def test_a_dataset_without_twins_says_how_to_draw_them(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="icgkit scenes --out"):
        load_twins("icg-teb")
    with pytest.raises(UnknownName, match="counterfactual"):
        load_twins("icg-teb", kind="impossible")


def test_only_what_a_twin_frees_counts_as_absent() -> None:
    twins = load_twins(SCENES)
    for twin, absent in zip(twins, absent_nodes(twins, SCENES), strict=True):
        assert [n.id for n in absent.constraint_nodes] == twin.metadata["free"]
    told = replace(
        twins,
        cases=tuple(
            t.model_copy(update={"metadata": {k: v for k, v in t.metadata.items() if k != "free"}})
            for t in twins
        ),
    )
    first = absent_nodes(told, SCENES).cases[0]
    assert [n.id for n in first.constraint_nodes] == [
        n.id for n in SCENES[first.metadata["twin_of"]].constraint_nodes
    ]


def test_the_recorded_alarms_are_what_the_recorded_answers_give() -> None:
    folder = project_root() / "data" / "bench" / "twins"
    cache = Cache(folder, mode="replay")
    twins = load_twins(SCENES)
    few = twins.subset([t.id for t in twins][:12])
    models = ["offline/priors", "offline/ocr-vision"]
    answers = elicit(few, ["direct", "nl_self"], models, cache=cache, progress=False)
    marked = ig.judge_recall(answers, absent_nodes(few, SCENES), "offline/judge", cache=cache, progress=False)
    kept = ig.load_kept("twins", "judgments")
    assert kept.join(marked, on=marked.columns, how="semi", nulls_equal=True).height == marked.height


def test_alarms_stand_beside_the_verdicts_on_the_same_nodes() -> None:
    run = ig.load_results("offline")
    alarms = ig.load_kept("twins", "judgments")
    both = ig.views.beside_twins(run.judgments, alarms, load_twins(SCENES))
    assert dict(both["shown"].value_counts().iter_rows()) == {"case": alarms.height, "twin": alarms.height}
    assert set(both["case_id"]) <= {c.id for c in SCENES}
    found = {s: both.filter(shown=s)["found"].sum() for s in ("case", "twin")}
    assert found["twin"] == alarms["found"].sum() != found["case"]
