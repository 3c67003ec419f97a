"""What a judge is shown of a response that is too long, and what its silence about the rest means."""

from __future__ import annotations

import json

from icgkit.bench.unike.files import names
from icgkit.bench.unike.scores import says
from icgkit.judge.ask import MAX_RESPONSE, fence, is_cut
from icgkit.judge.nodes import MAX_ITEM, _item_json, as_far_as_shown


def test_a_judge_is_told_of_a_cut_and_not_shown_thoughts() -> None:
    whole = fence("a" * MAX_RESPONSE)
    assert (len(whole["mark"]), whole["response"]) == (32, "a" * MAX_RESPONSE)
    long = fence("a" * (MAX_RESPONSE + 1))
    assert f"[CUT {long['mark']}: these are the first 60,000 of 60,001" in long["response"]
    assert fence("<think>" + "x" * MAX_RESPONSE + "</think>The lid.")["response"] == "The lid."
    assert not is_cut("<think>" + "x" * MAX_RESPONSE + "</think>The lid.")


def test_what_is_not_found_in_a_cut_response_is_missing() -> None:
    lost = {"region": True, "update": False, "status": "ok"}
    assert as_far_as_shown(lost, ["region", "update"]) == {"region": None, "update": None, "status": "cut"}
    found = {"region": True, "update": True, "status": "ok"}
    assert as_far_as_shown(found, ["region", "update"]) == found


def test_an_overlong_proposal_stays_whole_json() -> None:
    item = json.loads(_item_json({"item": 3, "update": '"}' * MAX_ITEM, "region": "lid"}))
    assert item["region"] == "lid"
    assert item["update"].endswith("[... cut]")


def test_names_are_compared_in_one_way() -> None:
    assert says("Beyonce\u0301, not Adele", "Beyonc\u00e9", "Adele") is True
    assert says("blue-green", "blue green", "blue") is True
    assert says("\u4e00\u53ea\u84dd\u8272\u7684\u9e1f", "\u84dd\u8272", "\u7ea2\u8272") is True
    assert not names("C++", "C#")
