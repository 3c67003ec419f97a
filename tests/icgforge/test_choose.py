"""What is chosen for the set: bounds hold, and what is rare is taken first."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from icgforge.choose import Wishes, choose, longest, report
from icgforge.dataset import Order, fresh_seed
from icgforge.page import documents
from icgforge.scenes import split_of, stamp_of
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


def test_an_order_says_what_is_drawn() -> None:
    few, all_ = Order(5, "7").draw(), Order(340).draw()
    assert (len(few.names), few.each) == (5, 4)
    assert few == Order(5, "7").draw()
    assert few.names != Order(5, "8").draw().names
    assert set(all_.names) == set(documents())
    assert all_.each * len(all_.names) >= 4 * 340
    assert Order(1, "1", "2").draw().seeds == {"public": "1", "held_out": "2"}


def test_a_stamp_changes_with_seed_and_document_and_worlds_are_never_parted() -> None:
    one, other = documents()["cafe_card"], documents()["bus_rain"]
    assert len({stamp_of(one, "1"), stamp_of(one, "2"), stamp_of(other, "1")}) == 3
    assert stamp_of(one, "1") != stamp_of(replace(one, body=one.body + " "), "1")
    sides = {d.world: split_of(d) for d in documents().values()}
    assert all(sides[d.world] == split_of(d) for d in documents().values())
    assert len({fresh_seed() for _ in range(4)}) == 4
