"""What is specific to the semantic templates: facts recomputed, phrases that keep quiet."""

from __future__ import annotations

from typing import Any

import pytest

from icgforge.synth.base import templates
from icgforge.synth.case import Knobs, make_case

OURS = sorted(t for t in templates() if t.startswith("semantic_"))
SUBTYPES = ("numerical", "categorical", "functional", "promotional", "visual_data")


def _full(name: str, seed: int) -> Any:
    t = templates()[name]
    return make_case(name, seed, Knobs(nodes=len(t.nodes)))


@pytest.mark.parametrize("subtype", SUBTYPES)
def test_three_templates_a_subtype(subtype: str) -> None:
    assert sum(f"semantic_{subtype}" in templates()[t].nodes for t in OURS) >= 3


@pytest.mark.parametrize("name", OURS)
def test_numbers_are_right_when_worked_out_again(name: str) -> None:
    for seed in range(6):
        made = _full(name, seed)
        for fact in made.design.facts:
            for side in (fact.before, fact.after):
                if fact.kind == "percent_off":
                    assert side["list"] * (100 - side["percent"]) == 100 * side["result"]
                elif fact.kind == "ratio":
                    assert side["part"] * 100 == side["whole"] * side["percent"]
                elif fact.kind == "sum":
                    assert sum(side["terms"]) == side["result"]
                elif fact.kind == "product":
                    product = 1
                    for f in side["factors"]:
                        product *= f
                    assert product == side["result"]
                elif fact.kind == "difference":
                    assert side["end"] - side["start"] == side["result"]


@pytest.mark.parametrize("name", [t for t in OURS if templates()[t].nodes[0] == "semantic_numerical"])
def test_the_result_of_the_fact_is_what_the_picture_writes(name: str) -> None:
    for seed in range(4):
        made = _full(name, seed)
        for fact in made.design.facts:
            result = fact.after.get("result", fact.after.get("part"))
            assert str(result) in str(made.design.after[fact.node])
            assert any(str(result) in text for text in made.drawn_after.texts)


def test_a_promotion_changes_its_tier_and_computes_nothing() -> None:
    for name in (t for t in OURS if t.startswith("semantic_offer")):
        for seed in range(4):
            made = _full(name, seed)
            assert not made.design.facts
            assert all(made.design.before[s.element] != made.design.after[s.element] for s in made.nodes())


def test_what_refers_to_a_name_follows_it() -> None:
    for name in (t for t in OURS if t.startswith("semantic_role")):
        made = _full(name, 3)
        for spec in made.nodes():
            assert made.design.edit.old.text in made.design.before[spec.element]
            assert made.design.edit.new.text in made.design.after[spec.element]


@pytest.mark.parametrize("name", OURS)
def test_every_field_has_three_wordings(name: str) -> None:
    for spec in _full(name, 0).design.nodes:
        for field in (spec.region, spec.clean, spec.update, spec.reason, spec.anon):
            assert len(set(field)) >= 3
