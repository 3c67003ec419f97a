"""Reading replies: each row is a kind of fault that was met in practice."""

from __future__ import annotations

import json
import time

import pytest

from icgkit.replies import (
    MAX_CHARS,
    Mark,
    as_bool,
    as_score,
    read_json,
    read_labels,
    read_score,
    read_verdicts,
)

FIELDS = ("region", "update", "reason")
GOOD = {"id": "n1", "region": True, "update": True, "reason": False}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD),
        "```json\n" + json.dumps(GOOD) + "\n```",
        "```JSON\n" + json.dumps(GOOD) + "\n```\nHope that helps {really}.",
        "<think>is it {maybe} [so]?</think>" + json.dumps(GOOD),
        "Here you go:\n" + json.dumps([GOOD]) + "\nAnything else?",
        json.dumps({"verdicts": [GOOD]}),
        json.dumps({"n1": {k: GOOD[k] for k in FIELDS}}),
        json.dumps({"result": {"nodes": [GOOD]}}),
        json.dumps(GOOD).replace(": true", "\uff1a true"),
        json.dumps(GOOD)[:-1] + ",}",
        "\ufeff" + json.dumps(GOOD),
    ],
)
def test_a_verdict_is_found_in_whatever_surrounds_it(text: str) -> None:
    row = read_verdicts(text, ["n1"], FIELDS)["n1"]
    assert row == {"region": True, "update": True, "reason": False, "status": "ok"}


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("", "empty"),
        (None, "empty"),
        ("<think>so much to think about", "truncated"),
        ('{"verdicts": [{"id": "n1", "region": tr', "truncated"),
        ("I would rather not say.", "unreadable"),
        ('{"verdicts": [}', "unreadable"),
        ('{"verdicts": []}', "incomplete"),
        ('[{"id": "n1", "region": "not true", "update": true, "reason": true}]', "incomplete"),
        ('[{"id": "n1", "region": 1, "update": true, "reason": true}]', "incomplete"),
        ('[{"id": "n1", "region": NaN, "update": true, "reason": true}]', "incomplete"),
        ('[{"id": "n1", "region": "N/A", "update": true, "reason": true}]', "not_applicable"),
        ('{"n1": {"region": true, "update": true, "reason": true}, "n1": {"region": false}}', "conflict"),
        ('[{"id": "n1", "region": true, "region": false, "update": true, "reason": true}]', "conflict"),
    ],
)
def test_what_cannot_be_read_is_null_with_a_status(text: str | None, status: str) -> None:
    row = read_verdicts(text, ["n1"], FIELDS)["n1"]
    assert row == {"region": None, "update": None, "reason": None, "status": status}


def test_five_nodes_and_one_verdict_are_incomplete() -> None:
    rows = read_verdicts(json.dumps([GOOD]), ["n1", "n2", "n3", "n4", "n5"], FIELDS)
    assert [r["status"] for r in rows.values()] == ["ok"] + ["incomplete"] * 4


def test_the_same_node_twice_with_different_verdicts_is_a_conflict() -> None:
    other = GOOD | {"region": False}
    assert read_verdicts(json.dumps([GOOD, other]), ["n1"], FIELDS)["n1"]["status"] == "conflict"
    assert read_verdicts(json.dumps([GOOD, GOOD]), ["n1"], FIELDS)["n1"]["status"] == "ok"


def test_ids_that_were_not_asked_about_are_ignored() -> None:
    rows = read_verdicts(json.dumps([GOOD, GOOD | {"id": "n9"}]), ["n1"], FIELDS)
    assert list(rows) == ["n1"]


def test_a_whole_inner_object_of_a_cut_reply_is_no_answer() -> None:
    cut = '{"verdicts": [{"id": "n1", "region": true, "update": true, "reason": true}, {"id": "n2", "reg'
    assert read_json(cut, "object").status == "truncated"


def test_values_json_has_no_word_for() -> None:
    assert read_json('{"a": NaN, "b": -Infinity, "c": 1e999}').value == {"a": None, "b": None, "c": None}
    assert read_json('{"a": 1, "a": 2}').value == {"a": Mark.CONFLICT}
    assert read_json('{"a": "x\u2028y"}').value == {"a": "x\u2028y"}


def test_booleans_and_scores_are_never_guessed() -> None:
    assert as_bool("false") is False
    assert as_bool("no, but not true either") is None
    assert [as_score(v, 1, 5) for v in ("4.5", 10, True, "five", None)] == [4.5, None, None, None, None]
    assert read_score("score: 3 or 4", "score", 1, 5).value is None
    assert read_score("Score\uff1a4", "score", 1, 5).value == 4
    assert read_score("score: 3\nscore: 4", "score", 1, 5).status == "conflict"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n1: VALID\nn2: INVALID", [True, False]),
        ("**n1** \u2014 Valid. n2 agrees.\n**n2** \u2014 not valid", [True, False]),
        ('{"n1": "VALID", "n2": "INVALID"}', [True, False]),
        ('[{"id": "n1", "verdict": "valid"}, {"id": "n2", "verdict": "invalid"}]', [True, False]),
        ("1. n1: INVALID\n2. n10: VALID", [False, None]),
        ("n1: VALID\nn1: INVALID\nn2: VALID", [None, True]),
        ("All nodes look VALID to me.", [None, None]),
        ("", [None, None]),
    ],
)
def test_labels(text: str, expected: list[bool | None]) -> None:
    assert [r.value for r in read_labels(text, ["n1", "n2"]).values()] == expected


@pytest.mark.parametrize("text", ["[" * 300_000, '{"a":' * 60_000, "{" * 5000 + '"', "n1 " * 100_000])
def test_hostile_replies_take_no_time(text: str) -> None:
    start = time.perf_counter()
    assert read_json(text).value is None or len(text) > MAX_CHARS
    read_labels(text, ["n1", "n2"])
    assert time.perf_counter() - start < 60
