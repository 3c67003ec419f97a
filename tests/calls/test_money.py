"""What calls cost, what they may cost, and what ends a run: over real HTTP on loopback."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from icgkit.calls.cache import Cache
from icgkit.calls.engine import call_many
from icgkit.calls.ledger import Ledger, Summary
from icgkit.calls.limits import Concurrency, Limits
from icgkit.calls.prices import Price, tokens_in
from icgkit.calls.request import Request, address
from icgkit.errors import CallError, SchemaError, UnknownName
from icgkit.study.file import Study
from tests.fault_server import State, serve

LIMITS = Limits(concurrency=20, backoff=0.02, timeout=2.0, connect_timeout=1.0)
GPT4O = (2.5e-6, 1e-5)


@pytest.fixture(scope="module")
def server() -> Iterator[State]:
    with serve() as state:
        yield state


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-secret-0123456789")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("ICGKIT_HOME", str(tmp_path))


def asks(server: State, n: int, fault: str = "", model: str = "gpt-4o", **params: Any) -> list[Request]:
    mark = os.urandom(4).hex()
    return [
        Request(
            model,
            [{"role": "user", "content": f"{fault} {mark} {i}"}],
            {"api_base": server.url, "max_tokens": 1000, **params},
            tags={"case_id": f"c{i}", "condition": "direct"},
        )
        for i in range(n)
    ]


def paid(server: State, requests: list[Request], price: tuple[float, float] = GPT4O) -> float:
    """What the server has billed for these: its own count of replies."""
    return sum(
        sent * price[0] + got * price[1]
        for r in requests
        for sent, got in server.billed.get(str(r.messages[-1]["content"]), [])
    )


def many(requests: list[Request], folder: Path, **limits: Any) -> tuple[list[Any], Summary]:
    return call_many(requests, cache=Cache(folder), limits=replace(LIMITS, **limits), progress=False)


# -- booking ---------------------------------------------------------------------------------


def test_paid_replies_are_booked_whatever_becomes_of_the_call(server: State, tmp_path: Path) -> None:
    asked = asks(server, 1, "[[none:3]][[500]]")
    [record], summary = many(asked, tmp_path / "c")
    assert record.status == "error"
    assert record.cost == pytest.approx(3 * (100 * 2.5e-6 + 20 * 1e-5)) == pytest.approx(paid(server, asked))
    assert summary.cost == pytest.approx(record.cost)
    ledger = Ledger(tmp_path / "c")
    ledger.refresh()
    assert ledger.spent.attempts == 4
    assert ledger.spent.cost == pytest.approx(record.cost)
    booked = [json.loads(line) for line in ledger.path.read_text().splitlines()]
    assert [line["by"] for line in booked if "settle" in line] == ["usage"] * 3 + ["not billed"]


@pytest.mark.parametrize(
    "fault", ["[[none:3]][[500]]", "[[none]]", "[[long=6000]]", "[[none:1]][[long=900]]", "[[half]]", ""]
)
@pytest.mark.parametrize("params", [{}, {"max_tokens": None}])
def test_the_budget_holds_whatever_the_server_sends(
    server: State, tmp_path: Path, fault: str, params: dict[str, Any]
) -> None:
    if "6000" in fault and "max_tokens" not in params:
        pytest.skip("a server that passes max_tokens cannot be held to it")
    own = {k: v for k, v in ({"max_tokens": 1000} | params).items() if v is not None}
    asked = [
        Request(r.model, r.messages, {"api_base": server.url, **own}, 0, r.tags)
        for r in asks(server, 200, fault)
    ]
    budget = 0.1 if "max_tokens" in own else 0.4
    _, summary = many(asked, tmp_path / "c", budget=budget)
    assert 0 < paid(server, asked) <= budget
    assert summary.cost == pytest.approx(paid(server, asked)) or summary.estimated > 0
    assert summary.cost <= budget


def test_the_budget_is_used_up_with_typical_replies(server: State, tmp_path: Path) -> None:
    asked = asks(server, 400, "[[long=300]]", max_tokens=4096)
    _, summary = many(asked, tmp_path / "c", budget=0.5, concurrency=50)
    assert summary.stopped == "budget"
    assert 0.5 - 0.05 <= summary.cost <= 0.5


def test_the_budget_is_one_for_all_runs_of_a_cache(server: State, tmp_path: Path) -> None:
    asked = asks(server, 100, "[[long=300]]")
    for _ in range(3):
        many(asked, tmp_path / "c", budget=0.05)
    assert 0.03 < paid(server, asked) <= 0.05


TWO = """
import sys
from icgkit.calls.cache import Cache
from icgkit.calls.request import Request
from icgkit.calls.engine import call_many
from icgkit.calls.limits import Limits
url, folder, name = sys.argv[1:]
asked = [Request("gpt-4o", [{"role": "user", "content": f"[[long=300]] {name} {i}"}], {"api_base": url, "max_tokens": 1000}) for i in range(60)]
call_many(asked, cache=Cache(folder), limits=Limits(budget=0.1), progress=False)
"""


def test_the_budget_is_one_for_all_processes(server: State, tmp_path: Path) -> None:
    names = [os.urandom(4).hex() for _ in range(3)]
    command = [sys.executable, "-W", "ignore", "-c", TWO, server.url, str(tmp_path / "c")]
    runs = [subprocess.Popen([*command, name]) for name in names]
    assert [run.wait(120) for run in runs] == [0, 0, 0]
    spent = sum(
        sent * 2.5e-6 + got * 1e-5
        for name in names
        for prompt, replies in server.billed.items()
        if name in prompt
        for sent, got in replies
    )
    assert 0.08 < spent <= 0.1


def test_what_a_killed_process_held_counts(tmp_path: Path) -> None:
    first = Ledger(tmp_path)
    first.begin(0.0)
    first.hold(0.03, budget=0.05)
    second = Ledger(tmp_path)
    second.begin(0.0)
    assert second.hold(0.03, budget=0.05) is None
    assert second.hold(0.02, budget=0.05) is not None


def test_a_torn_line_costs_no_other(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.settle(str(ledger.hold(1.0)), 0.5, "usage")
    with open(ledger.path, "ab") as stream:
        stream.write(b'{"settle":"x","co')
    ledger.settle(str(ledger.hold(1.0)), 0.25, "usage")
    again = Ledger(tmp_path)
    again.refresh()
    assert (again.spent.cost, again.spent.attempts, again.held) == (0.75, 2, 0.0)


def test_records_from_before_the_ledger_count(server: State, tmp_path: Path) -> None:
    asked = asks(server, 20, "[[long=300]]")
    many(asked, tmp_path / "c")
    (tmp_path / "c" / "spending.jsonl").unlink()
    _, summary = many(asks(server, 20, "[[long=300]]"), tmp_path / "c", budget=paid(server, asked) + 1e-4)
    assert (summary.stopped, summary.cost) == ("budget", 0.0)


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({"prompt_tokens": -(10**9), "completion_tokens": 5}, None),
        ({"prompt_tokens": 100, "completion_tokens": 2**70}, None),
        ({"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 10**6}}, 100 * 1e-6 + 20 * 1e-5),
        ({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 320}, 100 * 2.5e-6 + 220 * 1e-5),
        ({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": -5}, 100 * 2.5e-6 + 20 * 1e-5),
    ],
)  # fmt: skip
def test_usage_that_cannot_be_is_not_believed(usage: dict[str, Any], cost: float | None) -> None:
    assert Price(2.5e-6, 1e-5, cached=1e-6).of_usage(usage) == (cost if cost is None else pytest.approx(cost))


def test_a_server_cannot_say_what_it_cost(server: State, tmp_path: Path) -> None:
    [record], summary = many(asks(server, 1, "[[cheap]]"), tmp_path / "c", budget=1.0)
    assert record.status == "ok"
    assert record.cost > 0
    assert summary.estimated == record.cost == pytest.approx(summary.cost)


# -- prices ------------------------------------------------------------------------------------


def test_images_are_counted_as_their_provider_does(tmp_path: Path) -> None:
    from icgkit.cases.images import prepare

    Image.new("RGB", (1024, 768), "white").save(tmp_path / "a.png")
    part = {"type": "image_url", "image_url": {"url": prepare(tmp_path / "a.png").data_url}}
    asked = [address(Request(m, [{"role": "user", "content": [part]}])) for m in ("gpt-4o", "gpt-4o-mini")]
    large, mini = (tokens_in(a) - len(a.skeleton) // 4 for a in asked)
    assert (large, mini) == (85 + 4 * 170, 2833 + 4 * 5667)


def test_what_the_provider_counts_corrects_the_estimate(server: State, tmp_path: Path) -> None:
    asked = asks(server, 60, "[[dear=20000]]", max_tokens=10)  # 20,000 tokens in, where some 20 are estimated
    _, summary = many(asked, tmp_path / "c", budget=0.5)
    assert summary.stopped == "budget"
    assert 0.4 < paid(server, asked) <= 0.5


def test_a_budget_without_a_price_is_refused_before_the_first_call(server: State, tmp_path: Path) -> None:
    asked = asks(server, 3, model="openai/my-own")
    with pytest.raises(CallError, match=r"no price is known for openai/my-own.*price = \{ input") as told:
        many(asked, tmp_path / "c", budget=1.0)
    assert not any(server.seen[str(r.messages[-1]["content"])] for r in asked)
    given = str(told.value).split('--price "')[1].split('"')[0]
    from icgkit.study.file import read_prices

    _, summary = many(asked, tmp_path / "c", budget=1.0, prices=read_prices([given]))
    assert summary.cost == pytest.approx(3 * (100 * 0.5e-6 + 20 * 2e-6))


def test_a_price_for_one_token_is_not_taken_for_one_of_a_million() -> None:
    with pytest.raises(SchemaError, match=r"give 2\.5 if it is meant for one token"):
        Study.of({"dataset": "icg-teb", "models": [{"name": "m", "price": {"input": 2.5e-6, "output": 1}}], "conditions": ["direct"]})  # fmt: skip


# -- failures ----------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["[[401]]", "[[402]]", "[[403]]", "[[404]]", "[[noquota]]", "[[error402]]"])
def test_a_failure_for_good_ends_the_model_with_its_reason(server: State, tmp_path: Path, fault: str) -> None:
    asked = [*asks(server, 40, fault, model="openai/bad"), *asks(server, 5, model="openai/good")]
    records, summary = many(asked, tmp_path / "c", concurrency=4)
    assert sum(server.seen[str(r.messages[-1]["content"])] for r in asked[:40]) <= 4
    assert [r.status for r in records[40:]] == ["ok"] * 5
    assert list(summary.closed) == ["openai/bad"]
    text = "\n".join(summary.lines())
    assert "openai/bad was given up" in text
    assert (fault.strip("[]").removeprefix("error") if "no" not in fault else "insufficient_quota") in text


@pytest.mark.parametrize("base", ["http://no-such-host.invalid/v1", "http://exa mple:80/v1"])
def test_an_address_that_leads_nowhere_ends_the_model(tmp_path: Path, base: str) -> None:
    asked = [
        Request("openai/m", [{"role": "user", "content": f"x {i}"}], {"api_base": base}) for i in range(30)
    ]
    started = time.monotonic()
    try:
        records, summary = many(asked, tmp_path / "c", concurrency=4, dead_after=2.0, backoff=0.2)
    except CallError:  # refused before the first call: better still
        return
    assert sum(r is not None for r in records) <= 20
    assert summary.closed
    assert time.monotonic() - started < 30


def test_a_dead_server_ends_the_run_and_says_so(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    asked = [
        Request("openai/m", [{"role": "user", "content": f"x {i}"}], {"api_base": url}) for i in range(1000)
    ]
    records, summary = many(asked, tmp_path / "c", concurrency=16, dead_after=1.0, backoff=0.2)
    assert sum(r is not None for r in records) < 100
    assert "no answer in" in summary.closed["openai/m"]
    assert summary.cost == 0.0


def test_a_server_that_was_away_for_less_loses_nothing(server: State, tmp_path: Path) -> None:
    records, summary = many(asks(server, 20, "[[reset:3]]"), tmp_path / "c", dead_after=30.0, retries=5)
    assert [r.status for r in records] == ["ok"] * 20
    assert not summary.closed


def test_too_long_a_pause_ends_the_model_at_once(server: State, tmp_path: Path) -> None:
    asked = asks(server, 60, "[[after:9=3600]]")
    _, summary = many(asked, tmp_path / "c", concurrency=4)
    assert sum(server.seen[str(r.messages[-1]["content"])] for r in asked) <= 4
    assert "asks to wait 3,600 s" in summary.closed["gpt-4o"]


def test_too_many_requests_are_waited_out(server: State, tmp_path: Path) -> None:
    [record], _ = many(asks(server, 1, "[[429:8]]"), tmp_path / "c")
    assert (record.status, record.attempts) == ("ok", 9)  # retries are 3 for other failures


def test_nobody_is_lost_to_a_server_that_takes_few(tmp_path: Path) -> None:
    with serve() as state:
        state.most_a_second = 40
        asked = asks(state, 120)
        records, _ = many(asked, tmp_path / "c", concurrency=50, backoff=0.3)
        assert [r.status for r in records] == ["ok"] * 120


def test_the_gate_halves_once_for_what_flew_together_and_opens_again() -> None:
    gate = Concurrency(16)
    sent_at = time.monotonic()
    gate.too_many(sent_at)
    gate.too_many(sent_at)
    assert gate.allowed == 8
    for _ in range(200):
        gate.answered()
    assert gate.allowed == 16


def test_retry_after_in_milliseconds_is_honoured(server: State, tmp_path: Path) -> None:
    asked = asks(server, 1, "[[afterms:1=900]]")
    many(asked, tmp_path / "c")
    first, second = server.times[str(asked[0].messages[-1]["content"])]
    assert 0.9 <= second - first < 1.9


def test_reasons_end_a_run_with_counts_and_a_case(server: State, tmp_path: Path) -> None:
    asked = [*asks(server, 3, "[[400]]"), *asks(server, 2, "[[filter]]"), *asks(server, 1, "[[length]]")]
    _, summary = many(asked, tmp_path / "c")
    lines = summary.lines()
    at = lines.index("calls without an answer, by reason:")
    assert lines[at + 1].startswith("  3 x gpt-4o: HTTP 400")
    assert "e.g. case c0" in lines[at + 1]
    assert lines[at + 2].startswith("  2 x gpt-4o: refused: content_filter")
    assert "token limit" in lines[at + 3]


def test_waits_are_shown(server: State, tmp_path: Path, capfd: Any) -> None:
    cache = Cache(tmp_path / "c")
    call_many(asks(server, 1, "[[after:1=6]]"), cache=cache, limits=LIMITS)
    assert "waiting" in (err := capfd.readouterr().err)
    assert "HTTP 429" in err


# -- the end of a run --------------------------------------------------------------------------

SLOW = """
import sys
from icgkit.calls.cache import Cache
from icgkit.calls.request import Request
from icgkit.calls.engine import complete_many
from icgkit.calls.limits import Limits
url, folder = sys.argv[1:]
asked = [Request("gpt-4o", [{"role": "user", "content": f"[[slow=1.5]] {folder} {i}"}], {"api_base": url, "max_tokens": 50}) for i in range(40)]
print("start", flush=True)
try:
    complete_many(asked, cache=Cache(folder), limits=Limits(concurrency=4), progress=False)
except KeyboardInterrupt as exc:
    print(exc, flush=True)
    sys.exit(130)
"""


def slow(server: State, folder: Path) -> subprocess.Popen[str]:
    run = subprocess.Popen(
        [sys.executable, "-c", SLOW, server.url, str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )  # fmt: skip
    assert run.stdout is not None
    assert run.stdout.readline() == "start\n"
    until = time.monotonic() + 60
    while not any(str(folder) in prompt for prompt in list(server.seen)) and time.monotonic() < until:
        time.sleep(0.02)
    time.sleep(0.2)
    return run


def test_sigterm_lets_what_is_in_flight_be_recorded(server: State, tmp_path: Path) -> None:
    run = slow(server, tmp_path / "c")
    run.send_signal(signal.SIGTERM)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "waiting for 4 calls in flight; press Ctrl-C again" in err
    assert "every answer that was in flight is recorded" in out
    sent = sum(n for prompt, n in server.seen.items() if str(tmp_path / "c") in prompt)
    assert Cache(tmp_path / "c").frame().height == sent


def test_giving_up_says_what_is_lost_and_books_it(server: State, tmp_path: Path) -> None:
    run = slow(server, tmp_path / "c")
    run.send_signal(signal.SIGINT)
    time.sleep(0.5)
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=60)
    assert "lost and may have been paid" in out
    assert Cache(tmp_path / "c").frame().height == 0
    ledger = Ledger(tmp_path / "c")
    ledger.refresh()
    assert ledger.held == pytest.approx(4 * (50 * 1e-5), rel=0.5)


def test_two_processes_on_one_cache_are_said(server: State, tmp_path: Path) -> None:
    run = slow(server, tmp_path / "c")
    try:
        with pytest.warns(UserWarning, match=f"process {run.pid} .* works on cache c as well"):
            many(asks(server, 1), tmp_path / "c")
    finally:
        run.kill()
        run.communicate()


# -- limits ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"providers": {"openai": {"rmp": 60}}}, "did you mean 'rpm'"),
        ({"providers": {"openai": {"rpm": "sixty"}}}, "rpm"),
        ({"providers": {"openai": {"concurrency": 0}}}, "concurrency"),
        ({"providers": {"opnai": {"rpm": 60}}}, "did you mean 'openai'"),
        ({"providers": {"openai": {"budget": 3.0}}}, "budget"),
        ({"dead_after": -1}, "dead_after"),
    ],
)
def test_limits_that_cannot_be_are_named(limits: dict[str, Any], message: str) -> None:
    data = {"dataset": "icg-teb", "models": ["openai/m"], "conditions": ["direct"], "limits": limits}
    with pytest.raises((SchemaError, UnknownName), match=message):
        Study.of(data).call_limits()


def test_limits_of_a_provider_hold_for_bare_names(server: State, tmp_path: Path) -> None:
    started = time.monotonic()
    [record], _ = many(
        asks(server, 1, "[[never:1]]"), tmp_path / "c", timeout=300.0, providers={"openai": {"timeout": 0.5}}
    )
    assert (record.status, record.attempts) == ("ok", 2)
    assert time.monotonic() - started < 30
