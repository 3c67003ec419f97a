"""Calls by real HTTP against the fault server, through the real clients."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fault_server import State, serve

from icgkit.calls.cache import Cache
from icgkit.calls.engine import complete, complete_many
from icgkit.calls.limits import Limits, pause, retry_after
from icgkit.calls.record import Record
from icgkit.calls.reply import unpack_raw
from icgkit.calls.request import Request, request_key
from icgkit.errors import CacheMiss, CallError

FAST = Limits(concurrency=20, backoff=0.02, timeout=1.0, connect_timeout=1.0)
KEY = "sk-test-secret-0123456789"


@pytest.fixture(scope="module")
def server() -> Iterator[State]:
    with serve() as state:
        yield state


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_BASE", raising=False)


def ask(server: State, prompt: str, model: str = "openai/stub", **params: Any) -> Request:
    tags = {"dataset": "d", "case_id": f"case {prompt}", "condition": "direct"}
    messages = [{"role": "user", "content": prompt}]
    return Request(model, messages, {"api_base": server.url, "temperature": 0, **params}, tags=tags)


def call(server: State, tmp_path: Path, prompt: str, limits: Limits = FAST, **params: Any) -> Record:
    prompt = f"{prompt} {tmp_path.name}"
    return complete(ask(server, prompt, **params), cache=Cache(tmp_path / "c"), limits=limits)


WAYS = ["openai/stub", "openai/o1-stub"]
"""Straight over HTTP; and a name that goes through litellm.acompletion."""


@pytest.mark.parametrize("model", WAYS)
@pytest.mark.parametrize(
    ("fault", "status", "attempts"),
    [
        ("[[500:2]]", "ok", 3),
        ("[[529:1]]", "ok", 2),
        ("[[reset:1]]", "ok", 2),
        ("[[half:1]]", "ok", 2),
        ("[[notjson:1]]", "ok", 2),
        ("[[never:1]]", "ok", 2),
        ("[[nullchoices:1]]", "ok", 2),
        ("[[none:1]]", "ok", 2),
        ("[[none]]", "empty", 4),
        ("[[blank]]", "empty", 4),
        ("[[500]]", "error", 4),
        ("[[400]]", "error", 1),
        ("[[length]]", "truncated", 1),
        ("[[thinking]]", "truncated", 1),
        ("[[filter]]", "refused", 1),
        ("[[refusal]]", "refused", 1),
    ],
)
def test_every_fault_has_its_status(
    server: State, tmp_path: Path, model: str, fault: str, status: str, attempts: int
) -> None:
    params: dict[str, Any] = {"temperature": 1} if "o1" in model else {}
    record = call(server, tmp_path, f"{fault} {model}", model=model, **params)
    assert (record.status, record.attempts) == (status, attempts)
    if status == "ok":
        assert (record.text or "").startswith("echo ")
    if status in ("error", "empty"):
        assert not (record.text or "").strip()


def test_reasoning_tokens_and_answering_model_are_recorded(server: State, tmp_path: Path) -> None:
    thinking = call(server, tmp_path, "[[thinking]]")
    assert (thinking.output_tokens, thinking.reasoning_tokens) == (4096, 4096)
    assert call(server, tmp_path, "[[other]]").answered_model == "some-other-model"
    assert call(server, tmp_path, "[[refusal]]").refusal == "I cannot help with that."


def test_empty_and_wrong_bodies(server: State, tmp_path: Path) -> None:
    assert call(server, tmp_path, "[[nochoices]]").status == "empty"
    assert call(server, tmp_path, "[[list]]").status == "error"
    upstream = call(server, tmp_path, "[[error200]]")
    assert upstream.status == "error"
    assert "upstream failed" in str(upstream.refusal)


def test_odd_characters_survive(server: State, tmp_path: Path) -> None:
    record = call(server, tmp_path, "[[weird]]")
    assert record.text == "line\u2028sep\u0085arated \U0001f600 \u0000 end"
    cache = Cache(tmp_path / "c")
    assert [r.text for r in cache.records() if r.key == record.key] == [record.text]
    assert call(server, tmp_path, "[[surrogate]]").text == "bad \ufffd half"
    cache.refresh()
    assert set(cache.frame()["text"]) == {record.text, "bad \ufffd half"}


@pytest.mark.parametrize(("form", "least"), [("after", 1.0), ("date", 1.0)])
def test_retry_after_is_honoured(server: State, tmp_path: Path, form: str, least: float) -> None:
    prompt = f"[[{form}:1={'1' if form == 'after' else '2'}]]"
    record = call(server, tmp_path, prompt)
    first, second = server.times[f"{prompt} {tmp_path.name}"]
    assert record.status == "ok"
    assert second - first >= least


def test_retry_after_longer_than_allowed_ends_the_call(server: State, tmp_path: Path) -> None:
    started = time.monotonic()
    record = call(server, tmp_path, "[[after:9=900]]")
    assert (record.status, record.attempts) == ("error", 1)
    assert time.monotonic() - started < 60


def test_pause_never_undercuts_the_server() -> None:
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    for asked in (None, 0.0, 3.0, 50.0):
        waits = [pause(1, Limits(backoff=5), asked) for _ in range(50)]
        assert min(waits) >= max(10.0, asked or 0)
        assert len(set(waits)) > 1  # jitter


def test_a_failed_call_is_made_again_and_a_good_one_served_later(server: State, tmp_path: Path) -> None:
    prompt = f"[[500:4]] {tmp_path.name}"
    request = ask(server, prompt)
    cache = Cache(tmp_path / "c")
    assert complete(request, cache=cache, limits=FAST).status == "error"
    assert complete(request, cache=cache, limits=FAST).status == "ok"
    assert complete(request, cache=Cache(tmp_path / "c"), limits=FAST).status == "ok"
    assert server.seen[prompt] == 5


def test_raw_reply_is_kept_and_can_be_read_again(server: State, tmp_path: Path) -> None:
    record = call(server, tmp_path, "hello")
    raw = unpack_raw(record.raw or "", record.text)
    assert raw["choices"][0]["message"]["content"] == record.text
    assert raw["usage"]["prompt_tokens"] == record.input_tokens == 100


def test_two_models_and_two_samples_are_calls_of_their_own(server: State, tmp_path: Path) -> None:
    prompt = f"two {tmp_path.name}"
    requests = [ask(server, prompt, model=m) for m in ("openai/a", "openai/b")]
    requests += [Request(r.model, r.messages, r.params, 1, r.tags) for r in requests]
    records = complete_many(requests, cache=Cache(tmp_path / "c"), limits=FAST, progress=False)
    assert server.seen[prompt] == 4
    assert [r.answered_model for r in records] == ["a", "b", "a", "b"]


def test_equal_requests_are_one_call(server: State, tmp_path: Path) -> None:
    prompt = f"same {tmp_path.name}"
    records = complete_many(
        [ask(server, prompt)] * 5, cache=Cache(tmp_path / "c"), limits=FAST, progress=False
    )
    assert server.seen[prompt] == 1
    assert len({r.key for r in records}) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": 1}, {"seed": 1}, {"top_p": 0.5}, {"max_tokens": 5}, {"reasoning_effort": "low"},
        {"api_base": "http://other/v1"}, {"extra_body": {"a": 1}},
    ],
)  # fmt: skip
def test_every_parameter_is_part_of_the_key(change: dict[str, Any]) -> None:
    base = {"temperature": 0, "seed": 0, "top_p": 1, "max_tokens": 9, "api_base": "http://x/v1"}
    messages = [{"role": "user", "content": "a"}]
    keys = {
        request_key(Request("openai/m", messages, p))
        for p in (base, {**base, **change}, dict(reversed(base.items())))
    }
    assert len(keys) == 2


def test_endpoint_from_the_environment_is_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    request = Request("gpt-4o", [{"role": "user", "content": "a"}])
    before = request_key(request)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    assert request_key(request) != before


def test_image_is_hashed_by_its_bytes(tmp_path: Path) -> None:
    from PIL import Image

    from icgkit.cases.images import prepare

    def key(path: Path) -> str:
        part = {"type": "image_url", "image_url": {"url": prepare(path).data_url}}
        return request_key(Request("m", [{"role": "user", "content": [part]}]))

    Image.new("RGB", (9, 9), "red").save(tmp_path / "a.png")
    (tmp_path / "b.png").write_bytes((tmp_path / "a.png").read_bytes())
    first = key(tmp_path / "a.png")
    assert key(tmp_path / "b.png") == first
    Image.new("RGB", (9, 9), "blue").save(tmp_path / "a.png")
    assert key(tmp_path / "a.png") != first


def test_replay_names_what_is_missing(server: State, tmp_path: Path) -> None:
    with pytest.raises(CacheMiss, match=r"model 'openai/stub' under condition 'direct' for case 'case new'"):
        complete(ask(server, "new"), cache=Cache(tmp_path / "c", mode="replay"))


@pytest.mark.parametrize(
    ("model", "params", "message"),
    [
        ("no-such-model-xyz", {}, "unknown model"),
        ("gpt-5", {"temperature": 0}, "rejects a parameter"),
        ("anthropic/claude-x", {}, "ANTHROPIC_API_KEY"),
        ("openai/x", {"api_key": "sk-12345678901"}, "api_key_env"),
        ("openai/x", {"api_key_env": "NO_SUCH_VARIABLE"}, "NO_SUCH_VARIABLE is not set"),
        ("offline/no-such", {}, "unknown model 'offline/no-such'"),
    ],
)
def test_mistakes_show_before_the_first_call(
    server: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Any, params: Any, message: Any
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    prompt = f"first {model} {tmp_path.name}"
    wrong = Request(model, [{"role": "user", "content": "x"}], params)
    with pytest.raises(CallError, match=message):
        complete_many([ask(server, prompt), wrong], cache=Cache(tmp_path / "c"), progress=False)
    assert server.seen[prompt] == 0


def test_effective_parameters_are_recorded(server: State, tmp_path: Path) -> None:
    record = call(server, tmp_path, "params", seed=7, extra_body={"top_k": 3})
    assert json.loads(record.params) == {"temperature": 0, "seed": 7, "extra_body": {"top_k": 3}}
    body = server.bodies[f"params {tmp_path.name}"]
    assert (body["seed"], body["top_k"], body["temperature"]) == (7, 3, 0)


def test_the_key_is_found_in_no_record_and_no_error(server: State, tmp_path: Path) -> None:
    record = call(server, tmp_path, "[[badkey]]")
    assert record.status == "error"
    assert "Incorrect API key" in str(record.refusal)
    assert KEY not in str(record.refusal)
    for file in (tmp_path / "c").iterdir():
        assert KEY.encode() not in file.read_bytes()


def test_cost_is_litellms_price_or_null(server: State, tmp_path: Path) -> None:
    known = call(server, tmp_path, "priced", model="gpt-4o")
    assert known.cost == pytest.approx(100 * 2.5e-6 + 20 * 1e-5)
    assert call(server, tmp_path, "unpriced").cost is None


def test_budget_is_never_passed(server: State, tmp_path: Path) -> None:
    requests = [ask(server, f"b{i} {tmp_path.name}", model="gpt-4o", max_tokens=100) for i in range(40)]
    with pytest.raises(CallError, match="budget"):
        complete_many(
            requests, cache=Cache(tmp_path / "c"), limits=Limits(concurrency=4, budget=0.01), progress=False
        )
    frame = Cache(tmp_path / "c").frame()
    assert 0 < frame.height < 40
    assert frame["cost"].sum() <= 0.01


def test_concurrency_and_rate_are_bounded(tmp_path: Path) -> None:
    with serve(delay=0.05) as state:
        requests = [ask(state, f"r{i}") for i in range(20)]
        complete_many(requests, cache=Cache(tmp_path / "a"), limits=Limits(concurrency=3), progress=False)
        assert state.most_in_flight == 3
        requests = [ask(state, f"q{i}") for i in range(6)]
        started = time.monotonic()
        complete_many(requests, cache=Cache(tmp_path / "b"), limits=Limits(rpm=300), progress=False)
        assert time.monotonic() - started >= 5 * 0.2
        requests = [ask(state, "x" * 400 + f"t{i}") for i in range(4)]
        started = time.monotonic()
        complete_many(requests, cache=Cache(tmp_path / "d"), limits=Limits(tpm=20_000), progress=False)
        assert time.monotonic() - started >= 3 * 100 / (20_000 / 60) * 0.9


def test_works_where_a_loop_is_running(server: State, tmp_path: Path) -> None:
    async def cell() -> str:
        return call(server, tmp_path, "in a cell").status

    assert asyncio.run(cell()) == "ok"


def test_what_follows_runs_in_the_same_run(server: State, tmp_path: Path) -> None:
    def then(record: Record) -> Iterator[Request]:
        yield ask(server, f"judge of {record.text} {tmp_path.name}", model="hosted_vllm/judge")

    first = ask(server, f"first {tmp_path.name}")
    request = Request(first.model, first.messages, first.params, tags=first.tags, then=then)
    cache = Cache(tmp_path / "c")
    complete_many([request], cache=cache, limits=FAST, progress=False)
    assert sorted(cache.frame()["model"]) == ["hosted_vllm/judge", "openai/stub"]
    complete_many([request], cache=Cache(tmp_path / "c", mode="replay"), progress=False)


def test_progress_in_a_log_is_short(server: State, tmp_path: Path, capfd: Any) -> None:
    requests = [ask(server, f"p{i} {tmp_path.name}") for i in range(300)]
    complete_many(requests, cache=Cache(tmp_path / "c"), limits=FAST)
    lines = capfd.readouterr().err.splitlines()
    assert 1 <= len(lines) <= 100
    assert lines[-1].startswith("300/300 done")


RUN = """
import sys
from icgkit.calls.cache import Cache
from icgkit.calls.request import Request
from icgkit.calls.engine import complete_many
from icgkit.calls.limits import Limits
url, folder, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
requests = [Request("hosted_vllm/m", [{"role": "user", "content": f"{folder} {i}"}], {"api_base": url}) for i in range(n)]
print("start", flush=True)
complete_many(requests, cache=Cache(folder), limits=Limits(concurrency=8, backoff=0.1), progress=False)
print("done", flush=True)
"""


def start(state: State, folder: Path, n: int) -> subprocess.Popen[str]:
    env = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    command = [sys.executable, "-c", RUN, state.url, str(folder), str(n)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


def test_a_killed_run_pays_only_for_the_rest(tmp_path: Path) -> None:
    """The short form of benchmarks/kill.py."""
    folder, n, kills = tmp_path / "c", 100, 0
    with serve(delay=0.05) as state:
        for _ in range(2):
            before = sum(state.seen.values())
            process = start(state, folder, n)
            limit = time.monotonic() + 60
            while (
                sum(state.seen.values()) < before + 25 and process.poll() is None and time.monotonic() < limit
            ):
                time.sleep(0.01)
            process.kill()
            process.communicate()
            kills += 1
        process = start(state, folder, n)
        out, err = process.communicate(timeout=120)
        assert "done" in out, err
        assert Cache(folder).frame().height == n
        assert sum(state.seen.values()) - n <= kills * 8


def test_interrupt_finishes_what_is_in_flight(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    with serve(delay=0.3) as state:
        process = start(state, folder, 200)
        limit = time.monotonic() + 60
        while sum(state.seen.values()) < 20 and time.monotonic() < limit:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert "done" not in out
        assert "KeyboardInterrupt" in err
        assert Cache(folder).frame().height == sum(state.seen.values()) < 200


def test_sixteen_runs_on_one_cache(tmp_path: Path) -> None:
    """Threads stand for processes here; test_cache.py has the processes."""
    with serve() as state:
        requests = [ask(state, f"s{i}") for i in range(40)]
        errors: list[BaseException] = []

        def work() -> None:
            try:
                cache = Cache(tmp_path / "c")
                complete_many(requests, cache=cache, limits=FAST, progress=False)
                cache.pack()
            except BaseException as exc:
                errors.append(exc)

        threads = [threading.Thread(target=work) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors
        cache = Cache(tmp_path / "c")
        cache.pack()
        assert cache.frame().height == 40
