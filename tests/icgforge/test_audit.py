"""The audit finds what it is there to find, and passes what is sound."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from icgforge.synth import Knobs, make_case, make_dataset, write_dataset
from icgforge.synth.audit import _zeller, recompute_facts, sentence_frame, shared_frames, text_giveaway, truth
from icgkit.cases.case import Case, Constraint, Target
from icgkit.cases.dataset import load_dataset
from icgkit.report.views import audit_checks, box_fit


def _case(i: int, facts: list[dict[str, Any]] | None = None, **node: str) -> Case:
    fields = {"region": "a", "subtype": "style_font", "expected_update": "b", "reason": "c"} | node
    return Case(
        id=f"c{i}", image="x.png", image_size=(9, 9), instruction=f"Change {i}", source="drawn",
        target=Target(element="x", region="y", action="z"), constraint_nodes=(Constraint.model_validate({"id": "n1", **fields}),),
        metadata={"template": node.get("region", "t"), "edit_type": "word", "facts": facts or []},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        ("percent_off", {"list": 80, "percent": 25, "result": 60}, {"list": 80, "percent": 25, "result": 55}),
        ("product", {"factors": [3, 1.5], "result": 4.5}, {"factors": [3, 1.5], "result": 5.5}),
        ("sum", {"terms": [1, 2, 3], "result": 6}, {"terms": [1, 2, 3], "result": 7}),
        ("ratio", {"part": 1, "whole": 4, "percent": 25}, {"part": 1, "whole": 4, "percent": 30}),
        ("difference", {"start": 5, "end": 12, "result": 7}, {"start": 5, "end": 12, "result": 8}),
        # 14 July 1789 was a Tuesday.
        ("weekday", {"iso": "1789-07-14", "weekday": "Tuesday"}, {"iso": "1789-07-14", "weekday": "Monday"}),
        ("season", {"month": 12, "season": "winter"}, {"month": 3, "season": "winter"}),
        ("same", {"source": "Oak", "copy": "OAK"}, {"source": "Oak", "copy": "Elm"}),
    ],
)
def test_facts_are_recomputed(kind: str, right: dict[str, Any], wrong: dict[str, Any]) -> None:
    found = recompute_facts([_case(1, [{"kind": kind, "node": "n1", "before": right, "after": wrong}])])
    assert [r.ok for r in found] == [True, False]
    assert found[1].detail


def test_congruence_agrees_with_the_calendar() -> None:
    day = date(1999, 12, 25)
    for k in range(0, 12_000, 37):
        at = day + timedelta(k)
        assert _zeller(at.year, at.month, at.day) == at.strftime("%A")


def test_frames_forget_names_numbers_and_places() -> None:
    assert sentence_frame("$60 becomes $84, lower right") == sentence_frame("€9 becomes $7.50, top centre")
    assert sentence_frame("the sign says “OPEN”") == sentence_frame("the sign says “TEA”")
    assert sentence_frame("the sign says so") != sentence_frame("the card says so")


def test_two_templates_with_one_frame_are_named() -> None:
    cases = [_case(i, region="p" if i % 2 else "q", reason="it is 5 more") for i in range(12)]
    assert {(f.template_a, f.template_b) for f in shared_frames(cases) if f.field == "reason"} == {("p", "q")}
    varied = [_case(i, region="p" if i % 2 else "q", reason="even" if i % 2 else "odd", expected_update="u" * (i % 2 + 1))
              for i in range(12)]  # fmt: skip
    assert [f for f in shared_frames(varied) if f.field in ("reason", "expected_update")] == []


def test_text_classifier_finds_a_planted_giveaway_and_no_other() -> None:
    pytest.importorskip("sklearn")
    subtypes = ["style_font", "style_color"] * 30
    plain = [
        _case(i, subtype=s).model_copy(update={"instruction": f"Change it {i % 3}"})
        for i, s in enumerate(subtypes)
    ]
    told = [
        c.model_copy(update={"instruction": f"Change the {c.constraint_nodes[0].subtype}"}) for c in plain
    ]
    assert text_giveaway(plain)[-1].accuracy < 0.7
    assert text_giveaway(told)[-1].accuracy == 1.0


@pytest.mark.parametrize(
    ("template", "edits"), [("semantic_chart_donut", "percent"), ("semantic_chart_gauge", "percent")]
)
def test_angles_of_charts_are_measured_on_the_pixels(template: str, edits: str) -> None:
    case = make_case(template, 3, Knobs(nodes=1, edit=edits)).case
    (fact,) = (f for f in case.metadata["facts"] if f["kind"] == "angle")
    assert [r.ok for r in recompute_facts([case]) if r.kind == "angle"] == [True]
    wrong = {**fact, "after": {**fact["after"], "value": fact["after"]["value"] + 5}}
    lying = case.model_copy(update={"metadata": {**case.metadata, "facts": [wrong]}})
    (found,) = recompute_facts([lying])
    assert found.ok is False
    assert found.detail


def test_truth_is_read_where_it_was_written_and_measured_where_not(tmp_path: Path) -> None:
    made = make_dataset(2, 5, names=["style_font_headings"])
    write_dataset(made, tmp_path / "set", check=True)
    data = load_dataset(tmp_path / "set")
    read = truth(data)
    assert read["element"].to_list().count("target") == 2
    assert read.height == 2 + sum(len(c.constraint_nodes) for c in data)
    assert read["changed"].all()
    assert read["problems"].to_list() == [""] * read.height
    (tmp_path / "set" / "truth.csv").unlink()
    assert truth(data).equals(read)


def test_an_audit_counts_what_the_pixels_contradict() -> None:
    case = make_case("style_font_headings", 1, Knobs(nodes=1)).case
    row = {"case_id": case.id, "template": "t", "fill": 0.5, "iou": 0.9, "outside": 7, "problems": "a twin"}
    pixels = pl.DataFrame([{**row, "element": e, "changed": e == "n1"} for e in ("target", "n1")])
    checks = audit_checks([case], facts=[], frames=[], duplicates=[], truth=pixels)
    assert dict(checks.select("check", "wrong").iter_rows()) == {
        "boxes of targets and nodes in which the edit changes nothing": 1,
        "cases whose edit changes pixels outside all boxes": 1,
        "cases with any fault of their own or of their twins": 1,
        "pairs of templates that share a sentence frame too often": 0,
        "pairs of near-duplicate images": 0,
    }
    fit = box_fit([case], pixels)
    assert fit["element"].to_list() == ["target", case.constraint_nodes[0].subtype]
    assert fit["fill_low"].to_list() == [0.5, 0.5]
