"""The rule book in the templates: a kind of one's own is one file, and both commands know it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import icgkit as ig
from icgkit.calls.cache import Cache
from icgkit.calls.request import Request
from icgkit.errors import SchemaError, UnknownName
from icgkit.judge.ask import Question
from icgkit.judge.kinds import kinds, marks
from icgkit.judge.probes import read_guess
from icgkit.prompts.conditions import judge_prompts
from icgkit.prompts.replies import read_verdicts
from icgkit.study import run as study_run
from icgkit.study.file import Study
from icgkit.study.judging import judge_cache

SHIPPED = Path(ig.__file__).parent / "templates" / "judges" / "recall.md"


def own(folder: Path, *changes: tuple[str, str]) -> Path:
    words = SHIPPED.read_text(encoding="utf-8")
    for before, after in changes:
        assert before in words
        words = words.replace(before, after)
    (folder / "judges").mkdir(parents=True, exist_ok=True)
    (folder / "judges" / "seen.md").write_text(words, encoding="utf-8")
    return folder


def test_what_a_kind_is_does_not_enter_the_hash_of_its_words(tmp_path: Path) -> None:
    other = own(tmp_path, ("families: [core, oracle, ", "families: [oracle, "), ("  frame: judgments\n", ""))
    assert judge_prompts(other)["seen"].sha256 == judge_prompts()["recall"].sha256
    rule = kinds(other)["seen"]
    assert not marks(rule, "direct")
    assert marks(rule, "oracle")
    assert "found" not in rule.schema().columns
    assert rule.schema().columns["update"].null == "no verdict"


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (("families: [core", "families: [cores"), SchemaError, "families.0: .*'core'"),
        (("about: nodes", "about: moods"), SchemaError, "proposals"),
        (("  about: nodes", "  abuot: nodes"), UnknownName, "about"),
        (("fields: [region, update, reason]", "fields: []"), SchemaError, "fields: .*at least 1"),
    ],
)
def test_mistakes_in_a_rule_name_the_field(
    tmp_path: Path, change: tuple[str, str], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        kinds(own(tmp_path, change))


def test_a_kind_of_ones_own_is_one_file_and_both_commands_know_it(tmp_path: Path) -> None:
    words = own(
        tmp_path / "own",
        ("  frame: judgments\n", ""),
        ("fields: [region, update, reason]", "fields: [region]"),
    )
    entry = {"name": "offline/judge", "kinds": ["seen"]}
    asked = {
        "dataset": "icg-teb", "models": ["offline/priors"], "conditions": ["direct"], "judges": [entry],
        "subset": {"n": 6}, "cache": str(tmp_path / "c"), "templates": str(words),
    }  # fmt: skip
    ran = study_run.run(Study.of(asked), progress=False).judgments["seen"]
    calls = len(Cache(tmp_path / "c"))
    again = judge_cache(tmp_path / "c", ["offline/judge"], kinds=["seen"], templates=words, progress=False)
    assert ran.height
    assert set(ran["status"]) == {"ok"}
    assert again["seen"].equals(ran.sort("case_id", "condition", "model", "sample", "node_id", "judge"))
    assert len(Cache(tmp_path / "c")) == calls
    assert pl.read_parquet(tmp_path / "c" / "seen.parquet").equals(again["seen"])
    with pytest.raises(SchemaError, match="'seen' is none of recall"):
        Study.of({**asked, "templates": None})


def test_a_run_does_not_replay_its_judges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replayed: list[int] = []
    monkeypatch.setattr("icgkit.judge.ask.call_many", lambda calls, **how: replayed.append(len(calls)))
    study = {
        "dataset": "icg-teb", "models": ["offline/priors"], "conditions": ["direct"], "judges": ["offline/judge"],
        "subset": {"n": 6}, "cache": str(tmp_path / "c"),
    }  # fmt: skip
    first = study_run.run(Study.of(study), progress=False)
    assert set(first.judgments["judgments"]["status"]) == {"ok"}
    assert (
        study_run.run(Study.of(study), progress=False)
        .judgments["judgments"]
        .equals(first.judgments["judgments"])
    )
    assert not replayed


def test_a_line_of_reasons_is_kept_where_a_template_asks_for_it_and_decides_nothing() -> None:
    text = json.dumps(
        [{"id": "n1", "met": True, "why": "it\n is there"}, {"id": "n1", "met": True, "why": "yes"}]
    )
    assert read_verdicts(text, ["n1"], ["met"], why="why") == {
        "n1": {"met": True, "status": "ok", "why": "yes"}
    }
    assert read_verdicts(text, ["n1"], ["met"]) == {"n1": {"met": True, "status": "ok"}}


def test_a_guess_in_conflict_is_asked_for_once_more() -> None:
    twice = '{"subtype": "weather", "region": "lid"} or {"subtype": "climate", "region": "lid"}'
    assert read_guess(twice)["status"] == "conflict"
    question = Question(
        ("guess",),
        lambda ids, sample: Request("j", [], sample=sample),
        lambda text, ids: {"guess": read_guess(text)},
        {},
    )
    from icgkit.calls.record import Record

    record = Record("k", "judge", "d", "c", "", "j", text=twice)
    (again,) = question.request().then(record)  # type: ignore[misc]
    assert again.sample == 1
    assert again.then is not None
    assert not list(again.then(record))
