"""Edits made by program: what is said of them is what was done to their pixels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

import icgkit as ig
from icgforge.edits import MADE, audit_judges, audit_scorer, made_edits
from icgkit.cases.edited import reference_edit, regions_of

DATA = ig.load_dataset("icg-scenes")


def test_each_edit_differs_from_the_right_one_where_it_says() -> None:
    kinds = set()
    for case in DATA.cases[::80]:
        assert DATA.folder is not None
        before, right = reference_edit(case, DATA.folder)
        boxes = {r.id: [b for b in (r.before, r.after) if b] for r in regions_of(case)}
        for edit in made_edits(case, DATA.folder):
            kinds.add(edit.kind)
            assert set(edit.truth) == set(boxes)
            differs = np.argwhere((edit.pixels != right).any(2))
            if edit.kind == "reference":
                assert not len(differs)
            elif edit.kind == "original":
                assert (edit.pixels == before).all()
            elif edit.kind != "one invented":
                assert edit.truth[edit.node_id] != "done"
                assert [s for i, s in edit.truth.items() if i != edit.node_id] == ["done"] * (len(boxes) - 1)
                left, top, right_, bottom = (
                    f(b[k] for b in boxes[edit.node_id]) for f, k in ((min, 0), (min, 1), (max, 2), (max, 3))
                )
                assert len(differs)
                assert (differs >= [top - 4, left - 4]).all()
                assert (differs <= [bottom + 4, right_ + 4]).all()
            else:
                assert len(differs)
                assert not any(
                    x0 <= x <= x1 and y0 <= y <= y1
                    for y, x in differs
                    for bs in boxes.values()
                    for x0, y0, x1, y1 in bs
                )
    assert kinds == set(MADE)


def test_the_kept_audit_is_what_scoring_gives() -> None:
    case = DATA.cases[3].id
    regions, pictures = audit_scorer(cases=[case], jobs=1)
    for part, found in (("regions", regions), ("pictures", pictures)):
        kept = ig.load_kept("edits", part).filter(case_id=case)
        assert kept.select(sorted(kept.columns)).equals(found.select(sorted(kept.columns)))


def test_the_scorer_is_right_on_plain_edits_of_documents_that_are_held_out() -> None:
    regions = ig.load_kept("edits", "regions").filter(copy="as it is", split="held_out")
    right = (
        regions.with_columns(right=pl.col("status").eq_missing(pl.col("truth")))
        .group_by("truth")
        .agg(pl.mean("right"))
    )
    rates = dict(right.iter_rows())
    assert rates["done"] >= 0.99
    assert rates["left"] >= 0.99
    assert min(rates["wrong"], rates["unreadable"]) >= 0.9


def test_judges_are_asked_about_made_edits_and_their_faults_show(tmp_path: Path) -> None:
    some = [c.id for c in DATA.cases[::60]]
    judged = audit_judges(
        "icg-scenes", ["offline/sees-change"], cache=ig.Cache(tmp_path), cases=some, progress=False
    )
    assert set(judged["truth"]) == {"done", "left", "wrong", "kept", "harmed"}
    assert judged["status"].unique().to_list() == ["ok"]
    right = dict(judged.group_by("truth").agg((pl.col("verdict") == pl.col("truth")).mean()).iter_rows())
    assert right["done"] > 0.9
    assert right["left"] > 0.9
    assert right["wrong"] == 0, "whatever has changed it takes for right"
    kept = ig.load_kept("edits", "judges").filter(
        pl.col("judge") == "offline/sees-change", pl.col("case_id").is_in(some)
    )
    assert kept.height == judged.height
