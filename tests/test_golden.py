"""What must not change: a quick part of scripts/golden.py against the committed hashes."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
THEN = json.loads((ROOT / "tests" / "data" / "golden.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def golden() -> Any:
    spec = importlib.util.spec_from_file_location("golden", ROOT / "scripts" / "golden.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_must_not_change_has_not(golden: Any) -> None:
    assert golden.differences(THEN, golden.golden(quick=True)) == []


def test_a_change_an_absence_and_an_addition_are_named(golden: Any) -> None:
    then = {"a": {"x": "1", "y": "2"}, "b": {"z": "3"}}
    assert golden.differences(then, {"a": {"x": "9", "w": "4"}}) == ["a: w", "a: x", "a: y"]
    assert golden.digest(["ab", "c"]) != golden.digest(["a", "bc"])
