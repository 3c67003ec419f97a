"""Small functions of the room `prompts`, by what they give."""

from __future__ import annotations

import pytest

from icgkit.prompts.conditions import fill
from icgkit.prompts.proposals import read_proposals, split_items
from icgkit.prompts.replies import (
    answer_of,
    as_bool,
    as_score,
    first_json,
    plain,
    read_json,
    read_labels,
    read_score,
    read_verdicts,
    strip_thinking,
    visible,
)


def test_words_are_filled_in() -> None:
    assert fill("Look at {{ region }}.", {"region": "the sign"}, "mine.md") == "Look at the sign."


def test_proposals_in_three_forms() -> None:
    found = read_proposals('{"constraint_nodes": [{"region": "lid", "type": "x", "reason": "same"}]}')
    assert found.items == [{"region": "lid", "type": "x", "update": None, "reason": "same"}]
    assert read_proposals("| Region | Update |\n|---|---|\n| lid | new name |").form == "markdown"
    found = read_proposals("- The lid: reads NEW because it repeats the name.")
    assert found.items[0]["region"] == "The lid"
    assert split_items("Two things:\n1. Lid\n   - new name\n2. Leaflet") == ["Lid\nnew name", "Leaflet"]
    assert split_items("First thought.\n\nSecond thought.") == ["First thought.", "Second thought."]


def test_what_nobody_sees_and_what_looks_like_ascii() -> None:
    assert visible("IN\u200bVALID") == "INVALID"
    assert plain("\uff36\uff21\uff2c\uff29\uff24\uff1a\uff12") == "VALID:2"


@pytest.mark.parametrize(
    ("reply", "left"),
    [
        ("<think>hm {}</think> yes", " yes"),
        ("a draft\n</think>\nyes", "\nyes"),
        ('It begins with "<think>". No.', 'It begins with "<think>". No.'),
    ],
)
def test_thoughts_are_cut(reply: str, left: str) -> None:
    assert strip_thinking(reply) == left


def test_what_a_reply_answers() -> None:
    assert answer_of("<think>hm</think> yes ") == ("yes", "")
    assert answer_of("<think>hm") == ("", "truncated")


def test_json_in_words() -> None:
    assert first_json('Points: [1] {"a": 2}') == [1]
    assert first_json('[1] {"a": 2}', 0, "a") == {"a": 2}
    assert read_json('Sure:\n```JSON\n{"a": NaN}\n``` done', "object") == ({"a": None}, "ok")
    assert read_json('{"a": tru') == (None, "truncated")
    assert read_json('{"a": true} or rather {"a": false}').status == "conflict"


def test_booleans_and_scores() -> None:
    words = (True, "No", 1, "not true", None, "yes")
    assert [as_bool(v) for v in words] == [True, False, None, None, None, True]
    numbers = (4.5, "2", 10, True, "4 or 5", "2/5", float("nan"))
    assert [as_score(v, 1, 5) for v in numbers] == [4.5, 2.0, None, None, None, None, None]
    assert read_score('{"Final Score": "2"}', "final score", 1, 5) == (2.0, "ok")
    assert read_score("Final score\uff1a 10", "final score", 1, 5) == (None, "out_of_range")


def test_verdicts_and_labels() -> None:
    assert read_verdicts('[{"id": "n1", "met": true}]', ["n1", "n2"], ["met"]) == {
        "n1": {"met": True, "status": "ok"},
        "n2": {"met": None, "status": "incomplete"},
    }
    marked = read_labels("- **n1**: VALID, it is there\n- n2 - INVALID", ["n1", "n2", "n3"])
    assert marked["n2"] == (False, "ok")
    assert marked["n3"].status == "incomplete"
    assert read_labels("n1: VALID? No, not valid.", ["n1"])["n1"].value is False
