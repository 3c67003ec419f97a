"""Offline models are found by entry points, and their absence is said with a remedy."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from typing import Any

import pytest
from typer.testing import CliRunner

from icgkit.calls import local_models as under_test
from icgkit.calls.local_models import local_models
from icgkit.cli import app
from icgkit.errors import CallError


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    local_models.cache_clear()
    yield
    local_models.cache_clear()


def test_the_installed_package_offers_the_offline_models() -> None:
    assert local_models().reply("offline/instruction-only", [{"role": "user", "content": "hello"}])


@pytest.mark.parametrize(
    ("offered", "words"),
    [
        ([], "no installed package offers models offline/...*pip install -e"),
        ([EntryPoint("offline", "icgkit_no_such_package", "icgkit.models")], "does not import"),
    ],
)
def test_absent_models_name_a_remedy(monkeypatch: pytest.MonkeyPatch, offered: Any, words: Any) -> None:
    monkeypatch.setattr(under_test, "entry_points", lambda group: EntryPoints(offered))
    with pytest.raises(CallError, match=words):
        local_models()


def test_commands_of_other_packages_are_commands_of_icgkit(monkeypatch: pytest.MonkeyPatch) -> None:
    got = CliRunner().invoke(app, ["scenes", "--help"])
    assert got.exit_code == 0
    assert "Draw cases" in got.output
    import icgkit.cli

    monkeypatch.setattr(icgkit.cli, "entry_points", lambda **_: EntryPoints())
    got = CliRunner().invoke(app, ["scenes", "--help"])
    assert got.exit_code == 2
    assert "No such command" in got.output
