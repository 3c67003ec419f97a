"""Foreign JSON and TOML: whatever is wrong is an error that names the place, in bounded depth and size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from icgkit.cases.case import Case
from icgkit.cases.dataset import load_dataset
from icgkit.errors import CallError, SchemaError
from icgkit.prompts.conditions import conditions
from icgkit.untrusted import json_value, toml_table, too_deep

BAD_JSON = ["[" * 100_000, '{"a":' * 600, "9" * 5000, str(2**70), "{", b"\xff\xfe", "", '{"a": "\\u12"}']


@pytest.mark.parametrize("text", BAD_JSON, ids=range(len(BAD_JSON)))
def test_bad_json_is_an_error_that_names_the_place(text: str | bytes) -> None:
    with pytest.raises(SchemaError, match="file, line 7"):
        json_value(text, "file, line 7")
    with pytest.raises(CallError):
        json_value(
            text if text != str(2**70) and text != "9" * 5000 else "{", "x", lenient=True, error=CallError
        )


def test_numbers_that_fit_nowhere_are_null_where_a_reply_is_read() -> None:
    text = f'{{"a": {2**70}, "b": 1e999, "c": NaN, "d": {"9" * 5000}, "e": 1{"0" * 500}.5, "f": 7}}'
    assert json_value(text, "reply", lenient=True) == {**dict.fromkeys("abcde"), "f": 7}


def test_depth_is_counted_outside_of_strings() -> None:
    assert not too_deep('["' + "[" * 5000 + '\\"' + "[" * 5000 + '"]')
    assert too_deep("[" * 101)
    assert not too_deep("[]" * 5000)


BAD_TOML: list[Any] = ["a = [" * 5000, "a = " + "9" * 5000, b"a = '\xff'", "a =", "a." * 3000 + "a = 1"]


@pytest.mark.parametrize("text", BAD_TOML, ids=range(len(BAD_TOML)))
def test_bad_toml_is_an_error_that_names_the_place(text: str | bytes) -> None:
    with pytest.raises(SchemaError, match=r"run\.toml"):
        toml_table(text, "run.toml")


@pytest.mark.parametrize("text", ["9" * 5000, "[" * 100_000, "{"], ids=["digits", "depth", "cut"])
def test_a_case_file_says_which_line(text: str) -> None:
    with pytest.raises(SchemaError, match=r"cases.jsonl, line 3"):
        Case.from_json(text, place="cases.jsonl, line 3")


def test_a_dataset_file_in_another_encoding_is_named(tmp_path: Path) -> None:
    (tmp_path / "dataset.toml").write_bytes(b'name = "caf\xe9"')
    (tmp_path / "cases.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(SchemaError, match=r"dataset.toml: not UTF-8"):
        load_dataset(tmp_path)


def test_a_case_without_a_graph_is_not_asked_with_one() -> None:
    case = load_dataset("icg-scenes")[0].model_copy(update={"constraint_nodes": (), "inter_constraints": ()})
    shows_graph = [c for c in conditions().values() if set(c.inputs) & {"graph_json", "mixed_graph_json"}]
    assert {c.id for c in shows_graph} == {"oracle", "adversarial"}
    assert not any(c.applies(case) for c in shows_graph)
