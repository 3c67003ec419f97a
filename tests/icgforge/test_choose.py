"""What is chosen for the set: bounds hold, and what is rare is taken first."""

from __future__ import annotations

from collections import Counter

import pytest

from icgforge.choose import Wishes, choose, longest, report
from icgkit.cases.case import Case


def case(doc: str, draw: int, surface: str, *subtypes: str, chain: bool = False) -> Case:
    nodes = [
        {"id": f"n{k}", "region": "r", "subtype": s, "expected_update": "u", "reason": "w", "follows": f"n{k - 1}" if chain and k > 1 else None}
        for k, s in enumerate(subtypes, 1)
    ]  # fmt: skip
    return Case.model_validate(
        {
            "id": f"{doc}-{draw}-{surface}", "image": "x.webp", "image_size": (9, 9), "instruction": "i", "source": "icgforge",
            "target": {"element": "e", "region": "r", "action": "a"}, "constraint_nodes": nodes, "metadata": {"template": doc, "script": "Latin"},
        }
    )  # fmt: skip


TWO = ("semantic_numerical", "xmod_temporal")


def test_bounds_of_document_surface_picture_and_size_hold() -> None:
    many = [case("a", k, f"s{j}", *TWO) for k in range(9) for j in range(5)]
    huge = [case("b", 0, "s", *["style_font"] * 8)]
    got = choose(many + huge, 40, Wishes())
    assert len(got) == 8
    assert max(Counter(c.id.split("-")[1] for c in got).values()) <= 2
    assert max(Counter(c.id.split("-")[2] for c in got).values()) <= 4


def test_single_nodes_are_bounded_and_what_is_rare_comes_first() -> None:
    plenty = [case(f"d{k}", 0, "s", "semantic_numerical") for k in range(30)]
    rare = [case("z", 0, "s", "physical_shadow", "style_material")]
    got = choose(plenty + rare, 10, Wishes(one_node=0.3))
    assert [c.id for c in got if c.id == "z-0-s"]
    assert len(got) == 4, "three single ones of ten, and the rare one; no more is to be had"


def test_the_choice_does_not_hang_on_anything_but_its_seed() -> None:
    many = [case(f"d{k % 7}", k, f"s{k % 3}", *TWO) for k in range(40)]
    assert choose(many, 9, seed="1") == choose(many, 9, seed="1")
    assert choose(many, 9, seed="1") != choose(many, 9, seed="2")


def test_a_report_counts_by_hand() -> None:
    told = report([case("a", 0, "s", *TWO, chain=True), case("b", 0, "s", "style_font")])
    assert longest(case("a", 0, "s", *TWO, chain=True)) == 2
    assert (told["cases"], told["nodes"], told["documents"]) == (2, 3, 2)
    assert told["chains"] == pytest.approx(0.5)
    assert told["mixed"] == pytest.approx(0.5)
    assert told["one_node"] == pytest.approx(0.5)
    assert told["subtypes"]["style_font"] == (1, 1)
