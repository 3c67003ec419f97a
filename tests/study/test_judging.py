"""Judging from the command line: dry run, budget, second round, unusable verdicts, replay, merging; batches in money."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback import Answer, listen
from small_data import write_small
from typer.testing import CliRunner

from icgkit.calls import keys
from icgkit.calls.cache import Cache
from icgkit.calls.engine import Health
from icgkit.calls.limits import Limits, pause
from icgkit.calls.reply import Failed
from icgkit.cli import app
from icgkit.study import run as study_run
from icgkit.study.file import Study

PRICE = {"input": 1000.0, "output": 1000.0}
"""A tenth of a cent a token, so that a few calls fill a budget."""
VERDICT = json.dumps(
    {"verdicts": [{"id": f"n{k}", "region": True, "update": True, "reason": True} for k in (1, 2)]}
)


def told(whole: str, asked: dict[str, Any]) -> Answer:
    """Answer; judge-bad never gives a verdict that can be read."""
    text = {"judge-a": VERDICT, "judge-bad": "I would rather not say."}.get(asked["model"], "Mind the total.")
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return 200, {}, json.dumps({"model": asked["model"], "choices": [choice], "usage": usage}).encode()


@pytest.fixture
def server() -> Iterator[Any]:
    with listen(told) as seen:
        yield seen


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ICGKIT_HOME", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-secret-0123456789")
    monkeypatch.setattr(keys, "_in_use", set())
    monkeypatch.chdir(tmp_path)
    write_small(tmp_path / "mine", n=4)


def study(server: Any, **change: Any) -> dict[str, Any]:
    base = {
        "dataset": "./mine", "models": ["openai/m"], "conditions": ["direct"], "cache": "./run",
        "params": {"api_base": server.url, "max_tokens": 20}, "limits": {"retries": 0},
    }  # fmt: skip
    return {**base, **change}


def judges(server: Any, name: str = "judge-a", **more: Any) -> list[dict[str, Any]]:
    return [{"name": f"openai/{name}", "params": {"api_base": server.url, "max_tokens": 20}, **more}]


def judge_file(server: Any, name: str = "judge-a", **more: Any) -> str:
    """Write a study file with one judge, in TOML as a user writes it."""
    price = "price = { input = 1000.0, output = 1000.0 }" if more.get("price") else ""
    rows = [
        'dataset = "./mine"', 'models = ["openai/m"]', 'conditions = ["direct"]',
        "[limits]", "retries = 0",
        "[[judges]]", f'name = "openai/{name}"', price,
        f'params = {{ api_base = "{server.url}", max_tokens = 20 }}',
    ]  # fmt: skip
    Path("judges.toml").write_text("\n".join(rows), encoding="utf-8")
    return "judges.toml"


def command(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


def run(server: Any, **change: Any) -> Any:
    return study_run.run(Study.of(study(server, **change)), progress=False)


def test_a_dry_run_of_judging_sends_nothing_and_needs_no_key(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(server)
    monkeypatch.delenv("OPENAI_API_KEY")
    before = len(server.requests)
    files = sorted(p.name for p in Path("run").iterdir())
    done = command("judge", "--cache", "./run", "--study", judge_file(server, price=True), "--dry-run")
    assert done.exit_code == 0, done.output
    row = next(line.split() for line in done.output.splitlines() if line.startswith("openai/judge-a"))
    assert row[1:3] == ["0", "4"]
    assert row[-1].startswith("$")
    assert len(server.requests) == before
    assert sorted(p.name for p in Path("run").iterdir()) == files


def test_the_command_judge_stops_at_its_budget(server: Any) -> None:
    run(server)
    before = len(server.requests)
    file = judge_file(server, price=True)
    refused = command("judge", "--cache", "./run", "--study", file, "--budget", "0.0001")
    assert (refused.exit_code, len(server.requests)) == (3, before), refused.output
    dry = command("judge", "--cache", "./run", "--study", file, "--dry-run").output
    at_most = float(next(x for x in dry.splitlines() if x.startswith("openai/judge-a")).split("$")[-1])
    half = f"{at_most / 4 + 0.15:.2f}"  # room to hold one call when one is settled, and not when two are
    done = command("judge", "--cache", "./run", "--study", file, "--budget", half)
    assert done.exit_code == 3, done.output
    assert "stopped at the budget" in done.output
    made = len(server.requests) - before
    assert made == 2
    assert sum(a["cost"] or 0.0 for a in booked("run")) <= float(half)
    whole = command("judge", "--cache", "./run", "--study", file, "--budget", str(10 * at_most))
    assert whole.exit_code == 0, whole.output
    assert len(server.requests) - before == 4


def booked(folder: str) -> list[dict[str, Any]]:
    """Return the attempts in a cache's ledger: what was held, with what it was settled for."""
    attempts: dict[str, dict[str, Any]] = {}
    for line in (Path(folder) / "spending.jsonl").read_text().splitlines():
        told = json.loads(line)
        if name := told.get("hold") or told.get("settle"):
            attempts.setdefault(name, {}).update(told)
    return list(attempts.values())


def test_the_second_round_of_judging_keeps_to_the_budget(server: Any) -> None:
    """A judge that says nothing is asked again about each response; the first round fills the budget."""
    bad = judges(server, "judge-bad", price=PRICE)
    free = {"models": [{"name": "openai/m", "price": {"input": 0.0, "output": 0.0}}]}
    one_by_one = {"retries": 0, "concurrency": 1}
    whole = run(server, judges=bad, cache="./free", limits=one_by_one, **free)
    assert whole.summary.called + whole.again.called == 4 + 4 + 4
    bad_ones = [a for a in booked("free") if a["model"] == "openai/judge-bad"]
    dearest = max(a["cost"] for a in bad_ones)
    budget = 6 * dearest + max(
        a["amount"] for a in bad_ones
    )  # room for the first round, not for all of the second
    asked = Study.of(study(server, judges=bad, limits=one_by_one, **free))
    done = study_run.run(asked, budget=budget, progress=False)
    assert done.stopped == "budget"
    made = [a["cost"] for a in booked("run") if a["model"] == "openai/judge-bad"]
    assert 4 < len(made) < 8
    assert sum(made) <= budget


def test_verdicts_that_cannot_be_used_are_no_success(server: Any) -> None:
    run(server)
    done = command("judge", "--cache", "./run", "--study", judge_file(server, "judge-bad"))
    assert done.exit_code == 1, done.output
    assert "8 without a verdict" in done.output
    file = Path("all.toml")
    file.write_text(
        f'dataset = "./mine"\nconditions = ["direct"]\nmodels = ["openai/m"]\n'
        f'params = {{ api_base = "{server.url}" }}\n'
        f'judges = [{{ name = "openai/judge-bad", params = {{ api_base = "{server.url}" }} }}]\n',
        encoding="utf-8",
    )
    assert command("run", str(file)).exit_code == 1
    run(server, cache="./good")
    assert command("judge", "--cache", "./good", "--study", judge_file(server)).exit_code == 0


def test_a_complete_cache_is_replayed_end_to_end_without_a_byte_written(server: Any) -> None:
    asked = Study.of(study(server, judges=judges(server)))
    first = study_run.run(asked, progress=False)
    before = {p.name: (p.stat().st_mtime_ns, p.read_bytes()) for p in Path("run").iterdir() if p.is_file()}
    sent = len(server.requests)
    again = study_run.run(asked, cache=Cache(Path("run"), mode="replay"), progress=False)
    assert len(server.requests) == sent
    assert {
        p.name: (p.stat().st_mtime_ns, p.read_bytes()) for p in Path("run").iterdir() if p.is_file()
    } == before
    assert (again.summary.called, again.failed) == (0, False)
    assert again.responses.equals(first.responses)
    assert again.judgments["judgments"].equals(first.judgments["judgments"])


def test_caches_are_merged_from_the_command_line(server: Any) -> None:
    run(server, cache="./a", subset={"cases": ["c0", "c1"]})
    run(server, cache="./b", subset={"cases": ["c1", "c2", "c3"]})
    sent = len(server.requests)
    done = command("merge", "./a", "./b", "--into", "./whole")
    assert done.exit_code == 0, done.output
    assert "4 calls are in" in done.output
    merged = run(server, cache="./whole")
    assert (merged.summary.called, merged.responses.height, len(server.requests)) == (0, 4, sent)
    assert command("merge", "./a", "--into", "./a").exit_code != 0
    assert command("merge", "./nowhere", "--into", "./whole").exit_code != 0


@pytest.mark.parametrize("jitter", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("seconds", [0.0, 10.0])
def test_a_dead_server_ends_a_run_of_default_settings_within_a_minute(
    monkeypatch: pytest.MonkeyPatch, jitter: Any, seconds: Any
) -> None:
    """By the arithmetic of the breaker, on a clock of its own: refused at once, or no answer to connecting.

    A server that takes the connection and then says nothing cannot be told from a slow model before
    `timeout`; that is not meant here.
    """
    limits, health, clock = Limits(), Health(), [1000.0]
    assert seconds <= limits.connect_timeout
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(random, "random", lambda: jitter)
    while health.closed is None:
        for attempt in range(limits.retries + 1):
            sent_at = clock[0]
            clock[0] += seconds
            for _ in range(limits.concurrency):
                why = Failed("refused", passing=True)
                health.failed(why, sent_at, limits.dead_after, limits.longest_wait)
            if health.closed or attempt == limits.retries:
                break
            clock[0] += pause(attempt, limits, None)
        assert clock[0] < 1300.0, "never given up"
    assert clock[0] - 1000.0 <= 60.0
