"""Judging with a real server that answers badly first, and with the offline judges."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import icgkit as ig
from icgkit.calls.cache import Cache
from icgkit.calls.record import Record
from icgkit.calls.request import Request
from icgkit.cases.dataset import Dataset
from icgkit.errors import UnknownName
from icgkit.judge.ask import Judge, Question, with_params
from icgkit.judge.kinds import kinds
from icgkit.judge.nodes import judge_plan, judge_precision, judge_recall
from icgkit.judge.probes import probe_leakage, read_adversarial
from icgkit.prompts.conditions import judge_prompts
from icgkit.prompts.proposals import extract_proposals
from icgkit.schemas import schema

GOOD = (
    "- price under the kettle: $50 becomes $70, because the price is 100 less the discount\n- The font stays."
)


@pytest.fixture
def data(case: ig.Case, tmp_path: Path) -> Dataset:
    from PIL import Image

    Image.new("RGB", (640, 480), "white").save(tmp_path / "demo.png")
    bound = case.within(tmp_path, "demo")
    return Dataset("demo", "1", "MIT", "here", tmp_path, (bound,))


def responses(*texts: str | None, condition: str = "direct", status: str = "ok") -> pl.DataFrame:
    rows = [
        {
            "dataset": "demo", "case_id": "demo-1", "condition": condition, "model": f"m{k}", "sample": 0,
            "status": status, "text": text, "key": f"k{k}",
        }
        for k, text in enumerate(texts)
    ]  # fmt: skip
    return schema("responses").frame(rows)


@contextmanager
def server(answer: Callable[[int, str], str]) -> Iterator[tuple[str, list[str]]]:
    """Serve chat completions; `answer` gets the number of the call and its prompt."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            content = body["messages"][-1]["content"]
            prompt = content if isinstance(content, str) else content[-1]["text"]
            seen.append(prompt)
            text = answer(len(seen), prompt)
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            data = json.dumps(
                {"id": "x", "object": "chat.completion", "created": 1, "model": "j", "choices": [choice]}
            )
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(data.encode())

        def log_message(self, *args: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{http.server_port}/v1", seen
    finally:
        http.shutdown()
        http.server_close()


def both(mark: bool) -> str:
    marks = {"region": mark, "update": mark, "reason": mark}
    return json.dumps({"verdicts": [{"id": i, **marks} for i in ("n1", "n2")]})


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")


def judged(data: Dataset, tmp_path: Path, url: str, **kwargs: Any) -> pl.DataFrame:
    judge = Judge(with_params("openai/j", {"api_base": url}), **kwargs)
    return judge_recall(responses(GOOD), data, judge, cache=Cache(tmp_path / "c"), progress=False)


def test_an_unreadable_reply_is_asked_once_more(data: Dataset, tmp_path: Path) -> None:
    with server(lambda n, _: "hm" if n == 1 else both(True)) as (url, seen):
        frame = judged(data, tmp_path, url)
        assert frame["found"].to_list() == [True, True]
        assert len(seen) == 2
        again = judged(data, tmp_path, url)  # replayed, both calls
        assert again.equals(frame)
        assert len(seen) == 2


def test_only_missing_nodes_are_asked_again_and_stay_missing(data: Dataset, tmp_path: Path) -> None:
    one = json.dumps([{"id": "n1", "region": True, "update": True, "reason": False}])
    with server(lambda n, _: one) as (url, seen):
        frame = judged(data, tmp_path, url)
    assert '"n1"' in seen[0]
    assert '"n1"' not in seen[1]
    assert frame.select("node_id", "found", "status").rows() == [
        ("n1", False, "ok"),
        ("n2", None, "incomplete"),
    ]


def test_repeated_judging_is_another_judge(data: Dataset, tmp_path: Path) -> None:
    with server(lambda n, _: both(n == 1)) as (url, _):
        first, second = judged(data, tmp_path, url), judged(data, tmp_path, url, sample=1)
    assert (first["found"][0], second["found"][0]) == (True, False)
    assert (first["judge"][0], second["judge"][0]) == ("openai/j", "openai/j#1")
    schema("judgments").check(pl.concat([first, second]))


def test_a_missing_response_is_no_zero(data: Dataset, tmp_path: Path) -> None:
    frame = judge_recall(
        responses(None, status="refused"), data, "offline/judge", cache=Cache(tmp_path / "c"), progress=False
    )
    assert frame["status"].to_list() == ["no_response"] * 2
    assert frame["found"].null_count() == 2
    truncated = judge_recall(
        responses("half an ans", status="truncated"),
        data,
        "offline/judge",
        cache=Cache(tmp_path / "c"),
        progress=False,
    )
    assert truncated["found"].null_count() == 2


@pytest.mark.parametrize("status", ["refused", "truncated", "empty", "error"])
def test_a_failed_judge_call_keeps_its_status(status: str) -> None:
    record = Record("k", "judge", "d", "c", "direct", "j", status=status, text="{}")
    question = Question(("n1",), lambda ids, sample: Request("j", []), lambda text, ids: {}, {"met": None})
    first = question.request().then
    assert first is not None
    (again,) = first(record)
    assert question.verdicts == {"n1": {"met": None, "status": status}}
    assert again.then is not None
    assert not again.then(record)


def test_unknown_case(data: Dataset, tmp_path: Path) -> None:
    frame = responses(GOOD).with_columns(case_id=pl.lit("demo-9"))
    with pytest.raises(UnknownName, match="demo-1"):
        judge_recall(frame, data, "offline/judge", cache=Cache(tmp_path / "c"), progress=False)


def test_own_templates_are_used(data: Dataset, tmp_path: Path) -> None:
    folder = tmp_path / "own" / "judges"
    folder.mkdir(parents=True)
    shipped = Path(ig.__file__).parent / "templates" / "judges" / "recall.md"
    (folder / "recall.md").write_text(shipped.read_text().replace("Mark every", "KINDLY mark every"))
    with server(lambda n, _: both(True)) as (url, seen):
        judged(data, tmp_path, url, templates=tmp_path / "own")
    assert "KINDLY" in seen[0]


def test_every_judge_with_a_model_has_a_template() -> None:
    assert set(kinds()) - {"adversarial"} <= set(judge_prompts())


def test_offline_judges_over_all_kinds(data: Dataset, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "c")
    recall = judge_recall(
        responses(GOOD, "Mind the font."), data, "offline/judge", cache=cache, progress=False
    )
    assert recall.filter(node_id="n1")["found"].to_list() == [True, False]
    precision = judge_precision(responses(GOOD), data, "offline/judge", cache=cache, progress=False)
    assert precision["valid"].to_list() == [True, False]
    chosen = pl.DataFrame({"case_id": ["demo-1"], "node_id": ["n1"]})
    steps = "1. Change 50% OFF to 30% OFF.\n2. The price under the kettle: $50 becomes $70."
    plan = judge_plan(
        responses(steps, condition="plan_direct"),
        data,
        "offline/judge",
        cache=cache,
        nodes=chosen,
        progress=False,
    )
    assert plan.select("node_id", "satisfied").rows() == [("n1", True)]
    leak = probe_leakage(data, "offline/judge", cache=cache, progress=False)
    assert leak["form"].to_list() == ["anon", "orig", "orig"]
    assert leak["subtype_exact"].null_count() == 0
    assert set(leak["region_match"]) <= {"match", "partial", "none"}


def test_proposals_that_cannot_be_read_are_counted() -> None:
    found = extract_proposals(responses(GOOD, '{"constraint_nodes": [{"reg', "Nothing."))
    assert found.replies["status"].to_list() == ["ok", "truncated", "none"]
    assert found.proposals.height == 2


def test_adversarial_labels(tmp_path: Path) -> None:
    extra = json.dumps({"false_node": "n2", "ids": {"a": "n1", "b": "n3"}})
    cache = Cache(tmp_path / "c")
    texts = {"m0": "n1: VALID\nn2: INVALID\nn3: VALID", "m1": "n1: VALID", "m2": None}
    for model, text in texts.items():
        status = "ok" if text else "refused"
        cache.put(
            Record(
                f"k{model}",
                "elicit",
                "demo",
                "c1",
                "adversarial",
                model,
                text=text,
                status=status,
                extra=extra,
            )
        )
    frame = read_adversarial(cache)
    assert frame.filter(model="m0").select("node_id", "planted", "valid").rows() == [
        ("a", False, True), ("false", True, False), ("b", False, True)
    ]  # fmt: skip
    assert frame.filter(model="m1")["valid"].to_list() == [True, None, None]
    assert set(frame.filter(model="m2")["status"]) == {"no_response"}


def test_judging_a_cache_merges(data: Dataset, case: ig.Case, tmp_path: Path) -> None:
    from icgkit.study.judging import judge_cache

    folder = tmp_path / "data" / "cases" / "demo"
    folder.mkdir(parents=True)
    ig.write_cases([case], folder / "cases.jsonl")
    (folder / "dataset.toml").write_text(
        'name = "demo"\nversion = "1"\nlicence = "MIT"\nprovenance = "x"\nimage_root = "images"\n'
    )
    run = tmp_path / "run"
    cache = Cache(run)
    cache.put(Record("k0", "elicit", "demo", "demo-1", "direct", "m", text=GOOD))
    cache.close()
    (run / "run.toml").write_text(f'dataset = "{folder}"\n')
    judge_cache(run, ["offline/judge"], progress=False)
    judge_cache(run, ["offline/judge-strict"], progress=False)
    frame = ig.load_judgments(run)
    assert sorted(frame["judge"].unique()) == ["offline/judge", "offline/judge-strict"]
    assert frame.height == 4
