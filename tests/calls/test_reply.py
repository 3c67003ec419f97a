"""How a reply ended: through real HTTP on loopback, straight and through litellm."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from icgkit.calls.cache import Cache
from icgkit.calls.engine import complete
from icgkit.calls.limits import Limits
from icgkit.calls.record import Record
from icgkit.calls.reply import read_reply, text_of
from icgkit.calls.request import Request
from icgkit.errors import CallError
from icgkit.study.batch import _answered

ONCE = Limits(concurrency=2, retries=0, backoff=0.01, timeout=5.0, connect_timeout=2.0)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("OPENAI_API_KEY", "DEEPSEEK_API_KEY"):
        monkeypatch.setenv(name, "sk-test-0123456789")


@contextmanager
def answering(status: int, body: bytes) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    seen: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def reply(finish: Any, text: str | None = "Half an ans", **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    usage = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}
    base = {"id": "r", "object": "chat.completion", "created": 1, "model": "m"}
    return base | {"choices": [choice | more.pop("choice", {})], "usage": usage} | more


def call(folder: Path, status: int, body: Any, model: str = "openai/stub", **params: Any) -> Record:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    with answering(status, data) as (url, _):
        request = Request(model, [{"role": "user", "content": "hi"}], {"api_base": url, **params})
        return complete(request, cache=Cache(folder / "c"), limits=ONCE)


ENDINGS = [
    ("stop", "ok"), ("STOP", "ok"), ("end_turn", "ok"), ("eos", "ok"), ("eos_token", "ok"), ("COMPLETE", "ok"),
    ("length", "truncated"), ("LENGTH", "truncated"), ("MAX_TOKENS", "truncated"), ("max_tokens", "truncated"),
    ("model_length", "truncated"), ("model_context_window_exceeded", "truncated"), ("FINISH_REASON_MAX_TOKENS", "truncated"),
    ("content_filter", "refused"), ("SAFETY", "refused"), ("sensitive", "refused"), ("guardrail_intervened", "refused"),
    ("content_filtered", "refused"), ("error", "error"), ("abort", "error"), ("network_error", "error"), ("timeout", "error"),
    ("insufficient_system_resource", "error"), ("incomplete", "error"), ("tool_calls", "error"), ("never heard of", "error"),
]  # fmt: skip


@pytest.mark.parametrize(("finish", "status"), [*ENDINGS, (None, "error")])
def test_only_a_known_whole_ending_is_ok(finish: str | None, status: str) -> None:
    assert read_reply(reply(finish))["status"] == status


def test_a_server_that_reports_no_endings_is_believed() -> None:
    whole = reply("stop")
    del whole["choices"][0]["finish_reason"]
    assert read_reply(whole)["status"] == "ok"


@pytest.mark.parametrize("model", ["openai/stub", "openai/o1"])
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (reply("error"), "error"), (reply("insufficient_system_resource"), "error"), (reply("MAX_TOKENS"), "truncated"),
        (reply("sensitive"), "refused"), (reply("stop", choice={"error": {"code": 502, "message": "upstream"}}), "error"),
        (reply("stop"), "ok"),
    ],
)  # fmt: skip
def test_half_an_answer_is_not_ok_on_either_way(
    tmp_path: Path, model: str, body: dict[str, Any], status: str
) -> None:
    assert call(tmp_path, 200, body, model).status == status


FILTER_400: list[dict[str, Any]] = [
    {"error": {"code": "content_filter", "message": "The response was filtered"}},
    {"error": {"code": None, "message": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}}},
    {"error": {"code": "content_policy_violation", "message": "no"}},
]


@pytest.mark.parametrize("model", ["openai/stub", "openai/o1"])
@pytest.mark.parametrize("body", FILTER_400, ids=range(3))
def test_a_content_filter_is_a_refusal_whichever_way_it_comes(
    tmp_path: Path, model: str, body: dict[str, Any]
) -> None:
    record = call(tmp_path, 400, body, model)
    assert (record.status, record.attempts) == ("refused", 1)


@pytest.mark.parametrize("body", FILTER_400, ids=range(3))
def test_a_content_filter_in_a_batch_is_a_refusal(body: dict[str, Any]) -> None:
    stub = Record("k", "elicit", "d", "c", "direct", "openai/stub", status="error")
    assert _answered_with(stub, {"response": {"status_code": 400, "body": body}}).status == "refused"
    assert (
        _answered_with(stub, {"response": {"status_code": 400, "body": {"error": {"code": "x"}}}}).status
        == "error"
    )


def _answered_with(stub: Record, answer: dict[str, Any]) -> Record:
    more = [ONCE] if _answered.__code__.co_argcount == 3 else []
    return _answered(stub, answer, *more)


def test_a_plain_400_stays_an_error(tmp_path: Path) -> None:
    assert call(tmp_path, 400, {"error": {"message": "no such parameter content_filter"}}).status == "error"


EVENTS = b"".join(
    b"data: " + json.dumps(e).encode() + b"\n\n"
    for e in (
        {"model": "m", "choices": [{"index": 0, "delta": {"content": "Hel"}}]},
        {"model": "m", "choices": [{"index": 0, "delta": {"content": "lo"}, "finish_reason": "stop"}]},
        {"model": "m", "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}},
    )
)


def test_a_stream_is_put_together_and_one_that_breaks_off_is_no_answer(tmp_path: Path) -> None:
    whole = call(tmp_path / "a", 200, EVENTS + b"data: [DONE]\n\n")
    assert (whole.status, whole.text, whole.output_tokens) == ("ok", "Hello", 2)
    assert call(tmp_path / "b", 200, EVENTS.split(b"\n\n")[0] + b"\n\n").status == "error"
    assert call(tmp_path / "c", 200, b"data: {nonsense\n\n").status == "error"


@pytest.mark.parametrize("params", [{"n": 3}, {"extra_body": {"best_of": 2}}])
def test_several_answers_of_one_call_are_refused_before_it_is_paid(
    tmp_path: Path, params: dict[str, Any]
) -> None:
    with pytest.raises(CallError, match="one answer is kept"):
        call(tmp_path, 200, reply("stop"), **params)


def test_odd_numbers_and_nesting_are_a_status(tmp_path: Path) -> None:
    odd = json.dumps(reply("stop")).replace('"prompt_tokens": 5', '"prompt_tokens": ' + "9" * 400)
    record = call(tmp_path / "a", 200, odd.encode())
    assert (record.status, record.input_tokens) == ("ok", None)
    assert call(tmp_path / "b", 200, b'{"choices": ' + b"[" * 20_000).status == "error"
    assert (
        read_reply(reply("stop", usage={"prompt_tokens": 2**70, "completion_tokens": -3}))["input_tokens"]
        is None
    )


def test_thoughts_among_the_parts_of_a_message_are_not_its_text() -> None:
    parts = [
        {"type": "reasoning", "text": "draft"},
        {"type": "text", "text": "an"},
        {"type": "output_text", "text": "swer"},
    ]
    assert text_of({"content": parts}) == "answer"
