"""Proposed constraints from JSON, Markdown and free text."""

from __future__ import annotations

import time

import pytest

from icgkit.prompts.proposals import read_proposals, split_items

ROW = {"region": "lid", "type": "spatial", "update": "says NEW", "reason": "same name"}
GRAPH = (
    '{"edit_target": {"element": "x", "region": "y"}, "constraint_nodes": [{"id": "n1", "region": "lid", '
    '"constraint_type": "spatial", "expected_update": "says NEW", "reason": "same name"}], '
    '"inter_constraints": [{"between": ["n1", "n1"], "type": "t", "description": "d"}]}'
)
ARRAY = '[{"region": "lid", "type": "spatial", "update": "says NEW", "reason": "same name"}]'
TABLE = "Intro.\n\n| Region | Constraint type | Expected update | Reason |\n|:--|---|---|---|\n| **lid** | spatial | says NEW | same name |\n"
LABELLED = "1. **Region:** lid\n   **Type:** spatial\n   **Update:** says NEW\n   **Reason:** same name"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (GRAPH, "json"),
        (f"```json\n{GRAPH}\n```", "json"),
        (ARRAY, "json"),
        (TABLE, "markdown"),
        (LABELLED, "text"),
    ],
)
def test_the_same_proposal_in_every_form(text: str, form: str) -> None:
    found = read_proposals(text)
    assert (found.items, found.status, found.form) == ([ROW], "ok", form)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("", "empty"),
        ("<think>never mind", "truncated"),
        ('{"constraint_nodes": [{"region": "lid", "reas', "truncated"),
        ('{"constraint_nodes": []}', "none"),
        ("[]", "none"),
        ("Nothing.", "none"),
    ],
)
def test_no_proposal_is_not_an_unreadable_one(text: str, status: str) -> None:
    assert read_proposals(text).status == status


def test_free_text_without_labels() -> None:
    text = "Look at these:\n\n- The puddle: redraw the letters, because wet asphalt reflects them.\n- The menu board stays.\n"
    first = read_proposals(text).items[0]
    assert first["region"] == "The puddle"
    assert first["update"] == "redraw the letters"
    assert first["reason"] == "because wet asphalt reflects them."


def test_sub_lists_stay_with_their_item() -> None:
    assert len(split_items("- a first one\n  - why\n  - what\n- a second one\n")) == 2


def test_long_input_is_bounded() -> None:
    start = time.perf_counter()
    assert len(read_proposals("- region: a, update: b\n" * 100_000).items) <= 200
    read_proposals("|" * 300_000 + "\n|---|")
    read_proposals("region: " * 50_000)
    assert time.perf_counter() - start < 60
