from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from loopback import Answer, listen

import icgkit as ig
from icgkit.calls.worker import answer
from icgkit.prompts.conditions import build_messages
from icgkit.study.chains import GATE, MAX_CANDIDATES, candidates_in, kept_candidates, mix, read_false_node

NODE = {"region": "sky", "constraint_type": "style", "expected_update": "turns red", "reason": "because"}


def test_false_node_is_mixed_in_without_a_trace(case: ig.Case) -> None:
    mixed = mix(case, NODE)
    graph = json.loads(mixed["json"])
    ids = [n["id"] for n in graph["constraint_nodes"]]
    assert ids == [f"n{k}" for k in range(1, len(case.constraint_nodes) + 2)]
    assert len({tuple(n) for n in graph["constraint_nodes"]}) == 1  # same fields in the same order
    (false,) = [n for n in graph["constraint_nodes"] if n["region"] == "sky"]
    assert false["id"] == mixed["false_node"]
    assert mixed["false_node"] not in mixed["ids"].values()
    for node in case.constraint_nodes:
        shown = next(n for n in graph["constraint_nodes"] if n["id"] == mixed["ids"][node.id])
        assert shown["region"] == node.region
    for edge, shown in zip(case.inter_constraints, graph["inter_constraints"], strict=True):
        assert shown["between"] == [mixed["ids"][i] for i in edge.between]


def test_place_is_seeded_and_varies(case: ig.Case) -> None:
    assert mix(case, NODE) == mix(case, NODE)
    places = {mix(case, NODE, seed)["false_node"] for seed in range(30)}
    assert places == {f"n{k}" for k in range(1, len(case.constraint_nodes) + 2)}


@pytest.mark.parametrize(
    "text", [None, "", "no", "[]", '{"region": "x"}', '{"region": 1, "constraint_type": "a"}']
)
def test_unreadable_false_node_ends_the_chain(text: str | None) -> None:
    assert read_false_node(text) is None


def test_at_most_ten_candidates() -> None:
    text = "\n".join(f"- Region {k}: has to change to {k} because of {k}." for k in range(15))
    assert len(candidates_in(text)) == MAX_CANDIDATES
    assert candidates_in(None) == []


def test_only_what_passes_all_three_checks_is_kept() -> None:
    rows = [
        {"item": 1, "locatable": True, "dependent": True, "needed": True},
        {"item": 2, "locatable": True, "dependent": "true", "needed": True},
        {"item": 3, "locatable": True, "dependent": True},
        {"item": 9, "locatable": True, "dependent": True, "needed": True},
    ]
    assert kept_candidates(["a", "b", "c"], json.dumps(rows)) == ["a"]


def test_the_gate_lets_through_what_passes_all_four_questions() -> None:
    full = dict.fromkeys(GATE, True)
    rows = [{"item": k, **full, **({GATE[k - 1]: False} if k <= 4 else {})} for k in range(1, 6)]
    assert kept_candidates(list("abcde"), json.dumps(rows), GATE) == ["e"]


@pytest.mark.parametrize(("condition", "first"), [("gated", "discover"), ("gated_nl_self", "nl_self")])
def test_a_gated_answer_is_set_out_from_what_was_let_through(
    condition: str, first: str, tmp_path: Path
) -> None:
    """Three real calls of a baseline; the last one is the response, and is judged like any other."""
    data = ig.load_dataset("icg-scenes").subset(["marathon_certificate-0-born"])
    cache = ig.Cache(tmp_path / "c")
    answers = ig.elicit(data, [condition], ["offline/ocr-vision"], cache=cache, progress=False)
    records = {r.condition if r.kind == "elicit" else r.stage: r for r in cache.records()}
    assert set(records) == {first, "gate", condition}
    (row,) = answers.filter(condition=condition).iter_rows(named=True)
    checked = json.loads(records["gate"].text or "")
    passed = [r["item"] for r in checked if all(r[q] for q in GATE)]
    assert row["status"] == "ok"
    assert row["text"].count("\n- ") + row["text"].startswith("- ") == len(passed)
    assert kept_candidates(["a"], "I cannot tell.") is None


def test_offline_workers_answer_as_litellm_does(case: ig.Case, tmp_path: Path) -> None:
    from PIL import Image

    from icgforge import baselines as offline
    from icgkit.calls.keys import load_litellm

    Image.new("RGB", (640, 480), "white").save(tmp_path / case.image)
    messages = build_messages(case.within(tmp_path, "demo"), "direct")
    litellm = load_litellm()
    offline.register()
    for name in ("instruction-only", "priors"):
        through = litellm.completion(model=f"offline/{name}", messages=messages)
        straight = answer({"model": f"offline/{name}", "messages": messages})
        assert straight["choices"][0]["message"]["content"] == through.choices[0].message.content
    assert "failed" in answer({"model": "offline/no-such", "messages": messages})


def test_what_litellm_says_while_it_is_imported_is_not_raised() -> None:
    """In a fresh process with warnings as errors, and pydantic made to warn at each of its models."""
    code = (
        "import warnings; warnings.simplefilter('error')\n"
        "import pydantic\n"
        "made = pydantic.BaseModel.__dict__['__pydantic_init_subclass__'].__func__\n"
        "def loud(cls, **kwargs):\n"
        "    warnings.warn(f'{cls.__name__} is made', UserWarning)\n"
        "    return made(cls, **kwargs)\n"
        "pydantic.BaseModel.__pydantic_init_subclass__ = classmethod(loud)\n"
        "from icgkit.calls.keys import load_litellm\n"
        "print(load_litellm().__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "litellm", done.stderr[-1000:]


def test_the_first_call_through_litellm_warns_of_nothing() -> None:
    """It imports providers on the way; in a fresh process with warnings as errors."""
    code = (
        "import warnings; warnings.simplefilter('error')\n"
        "from icgforge import baselines\n"
        "from icgkit.calls.keys import load_litellm\n"
        "litellm = load_litellm()\n"
        "baselines.register()\n"
        "asked = [{'role': 'user', 'content': 'Hello'}]\n"
        "reply = litellm.completion(model='offline/priors', messages=asked)\n"
        "print(reply.choices[0].finish_reason)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "stop", done.stderr[-1000:]


def test_nothing_proposed_is_an_answer_of_the_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model on loopback that proposes nothing: two calls, and a response that says so."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")

    def told(_: str, asked: dict[str, Any]) -> Answer:
        choice = {"index": 0, "message": {"role": "assistant", "content": "No."}, "finish_reason": "stop"}
        return 200, {}, json.dumps({"model": asked["model"], "choices": [choice], "usage": {}}).encode()

    with listen(told) as server:
        model = ig.Elicitation({"api_base": server.url, "max_tokens": 20})
        data, cache = (
            ig.load_dataset("icg-scenes").subset(["marathon_certificate-0-born"]),
            ig.Cache(tmp_path / "c"),
        )
        answers = ig.elicit(data, ["gated"], ["openai/m"], cache=cache, how=model, progress=False)
    assert answers.filter(condition="gated")["text"].to_list() == ["No."]
    assert {record.stage for record in cache.records()} == {"discover", None}
