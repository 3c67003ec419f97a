"""Worlds without a browser: what is derived follows from what it names, and documents fit their worlds."""

from __future__ import annotations

import random
import re

import pytest

from icgforge.page import documents, html_of
from icgforge.worlds import World, kinds, worlds
from icgkit.errors import SchemaError, UnknownName
from icgkit.taxonomy import SUBTYPES


def test_the_label_rule_names_subtypes_that_there_are() -> None:
    assert {kind.subtype for kind in kinds().values()} <= set(SUBTYPES)
    assert all("{of}" in kind.reason or kind.id == "reflow" for kind in kinds().values())


@pytest.mark.parametrize("name", sorted(worlds()))
def test_a_world_draws_what_holds_and_edits_change_what_follows(name: str) -> None:
    world = worlds()[name]
    held = changed = 0
    for seed in range(12):
        rng = random.Random(seed)
        facts = world.draw(rng)
        assert facts == world.draw(random.Random(seed))
        before = world.values(facts)
        held += not world.broken(before)
        for fact, change in world.edits.items():
            assert fact in facts, f"{fact} is no fact"
            new = change(before, rng)
            if new is None or new == facts[fact]:
                continue
            after = world.values({**facts, fact: new})
            differing = {k for k in after if after[k] != before[k]}
            assert {k for k in differing - {fact} if not world.behind(k, fact)} == set()
            changed += len(differing) > 1
            for derived in differing - {fact}:
                assert world.reason(derived, fact)
    assert held >= 3, "hardly a draw holds"
    assert changed, "no edit changes anything else"


@pytest.mark.parametrize("name", sorted(documents()))
def test_a_document_shows_what_its_world_knows(name: str) -> None:
    doc = documents()[name]
    world = doc.of
    values = world.values(world.draw(random.Random(1)))
    page = html_of(doc, values)
    shown = set(re.findall(r'data-fact="([^"]+)"', page))
    assert shown <= set(values)
    for row in doc.edits:
        assert row["target"].split(":")[0] in shown
        assert row.get("fact", row["target"].split(":")[0]) in world.edits
    assert {key.split(":")[0] for key in doc.names} <= set(values)
    assert shown & set(world.derivations), "nothing derived is shown"


def test_a_derivation_of_what_is_not_known_and_an_unknown_kind_are_refused() -> None:
    world = World("w")
    with pytest.raises(UnknownName, match="kind of derivation"):
        world.derive("a", "guess", lambda b: b)
    world.derive("a", "copy", lambda b: b)
    with pytest.raises(SchemaError, match="not known"):
        world.values({})


def test_reasons_name_what_was_edited_first() -> None:
    world = World("w", labels={"p": "the price", "n": "the number"})
    world.derive("total", "product", lambda n, p: n * p)
    world.derive("half", "ratio", lambda total: total / 2)
    assert world.reason("total", "p") == "it is the product of the price and the number"
    assert world.behind("half", "p")
    assert not world.behind("half", "q")
    assert world.values({"n": 3, "p": 4}, frozen={"total": 9})["half"] == 4.5
