"""Small functions of the room `calls`, by what they give."""

from __future__ import annotations

from pathlib import Path

import pytest

from icgkit.calls.keys import mask, provider
from icgkit.calls.ledger import Ledger
from icgkit.calls.limits import check_limit, retry_after
from icgkit.calls.models import Model
from icgkit.calls.reply import Failed, count, filtered, pack_raw, read_reply, read_stream, unpack_raw
from icgkit.calls.request import Request, merged, request_key
from icgkit.errors import SchemaError


def test_names_of_keys_and_what_is_masked() -> None:
    assert provider("gemini").keys == ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    assert provider("deepseek").keys == ("DEEPSEEK_API_KEY",)
    assert mask("Incorrect API key provided: sk-abcdef123456") == "Incorrect API key provided: sk-..."


def test_what_is_held_counts_until_it_is_settled(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    first = ledger.hold(0.04, budget=0.05)
    assert first is not None
    assert ledger.hold(0.04, budget=0.05) is None
    ledger.settle(first, 0.01, "usage")
    assert ledger.hold(0.04, budget=0.05) is not None
    assert ledger.spent.cost == 0.01


def test_limits_say_what_they_allow() -> None:
    check_limit("rpm", 60)
    with pytest.raises(SchemaError, match="limits: concurrency; got 0; allowed: a whole number above 0"):
        check_limit("concurrency", 0)


@pytest.mark.parametrize(
    ("header", "milliseconds", "seconds"),
    [("7", None, 7.0), ("soon", None, None), (None, None, None), ("1", "250", 0.25)],
)
def test_retry_after(header: str | None, milliseconds: str | None, seconds: float | None) -> None:
    assert retry_after(header, milliseconds) == seconds


def test_counts_of_tokens() -> None:
    assert [count(v) for v in (12, -3, True, "12", 2**70)] == [12, None, None, None, None]


def test_labels_and_parameters_of_models() -> None:
    assert Model("gpt-4o", {"temperature": 1}, label="gpt-4o (t = 1)").shown == "gpt-4o (t = 1)"
    assert merged({"temperature": 0, "max_tokens": 9}, {"temperature": "unset"}) == {"max_tokens": 9}
    ask = [{"role": "user", "content": "Hello"}]
    warm = request_key(Request("gpt-4o", ask, {"temperature": 1}))
    assert warm != request_key(Request("gpt-4o", ask, {"temperature": 0}))


@pytest.mark.parametrize(
    ("error", "is_filter"),
    [
        ({"error": {"code": "content_filter", "message": "..."}}, True),
        ({"error": {"code": None, "innererror": {"code": "ResponsibleAIPolicyViolation"}}}, True),
        ({"error": {"message": "no such model: content_filter-1"}}, False),
    ],
)
def test_a_filter_is_known_by_its_code(error: dict[str, object], is_filter: bool) -> None:
    assert filtered(error) is is_filter


def test_endings_of_replies() -> None:
    cut = {"choices": [{"message": {"content": None}, "finish_reason": "length"}]}
    half = {"choices": [{"message": {"content": "Half an ans"}, "finish_reason": "network_error"}]}
    assert read_reply(cut)["status"] == "truncated"
    assert read_reply({"choices": None})["status"] == "empty"
    assert read_reply(half)["status"] == "error"
    assert read_reply(half)["refusal"] == "finish_reason 'network_error'"


def test_a_streamed_reply_and_a_packed_one_are_whole() -> None:
    event = b'data: {"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n'
    assert read_reply(read_stream(event))["text"] == "Hi"
    reply = {"choices": [{"message": {"content": "Hi"}}]}
    assert unpack_raw(pack_raw(reply, "Hi"), "Hi") == reply


@pytest.mark.parametrize(
    ("status", "words", "good"),
    [
        (401, "bad key", True),
        (429, "insufficient_quota", True),
        (429, "slow down", False),
        (403, "input flagged by moderation", False),
    ],
)
def test_failures_that_every_further_call_would_share(status: int, words: str, good: bool) -> None:
    assert Failed(words, passing=True, status=status).for_good is good
