"""A dataset and a cache are found from any directory, however their place is spelt."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from small_data import write_small

from icgkit.calls.cache import Cache
from icgkit.cases.dataset import load_dataset
from icgkit.errors import SchemaError, UnknownName
from icgkit.files import folder_of, named_folder, project_root
from icgkit.prompts.conditions import judge_prompts
from icgkit.reproduce.notebooks import find_notebooks, share_parameters
from icgkit.study.file import Study


@pytest.fixture
def place(project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory outside the project, with a dataset `mine` and a cache `run`."""
    here = tmp_path_factory.mktemp("place")
    (here / "mine").mkdir()
    (here / "mine" / "dataset.toml").write_text('name="mine"\n', encoding="utf-8")
    (here / "run").mkdir()
    (here / "run" / "run.toml").write_text('dataset="mine"\n', encoding="utf-8")
    (here / "empty").mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(here))
    return here


@pytest.mark.parametrize("kind", ["cases", "cache"])
def test_every_spelling_leads_to_the_same_folder(place: Path, kind: str) -> None:
    name = {"cases": "mine", "cache": "run"}[kind]
    for text in (
        name,
        f"./{name}",
        f"{name}/",
        f"./{name}/",
        f"~/{name}",
        str(place / name),
        f"empty/../{name}",
    ):
        assert named_folder(kind, text) == (place / name), text


def test_a_bare_name_is_a_folder_in_data_first_and_never_an_unmarked_one_here(place: Path) -> None:
    assert folder_of("cache", "offline") == project_root() / "data" / "cache" / "offline"
    (place / "offline").mkdir()
    (place / "offline" / "run.toml").touch()
    assert folder_of("cache", "offline") == project_root() / "data" / "cache" / "offline"
    assert folder_of("cache", "empty") == project_root() / "data" / "cache" / "empty"
    assert Cache.named("./new").folder == place / "new"
    assert Cache.named("new/").folder == place / "new"
    assert Cache.named("new").folder == project_root() / "data" / "cache" / "new"


def test_what_is_not_there_is_said_with_what_is(place: Path) -> None:
    with pytest.raises(UnknownName, match=r"no cache in .*/nothing; allowed: .*offline"):
        named_folder("cache", "./nothing")
    with pytest.raises(UnknownName, match=r"unknown cache.*allowed: offline; did you mean 'offline'"):
        named_folder("cache", "ofline")
    for wrong in ("", " ", "a\0b", "a\nb", "x" * 300, "./" + "x" * 300):
        with pytest.raises(SchemaError, match="name of a cache"):
            named_folder("cache", wrong)


def test_a_study_file_means_its_paths_from_its_own_folder(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "templates" / "judges").mkdir(parents=True)
    text = 'dataset="./mine"\ncache="./new"\ntemplates="templates"\nmodels=["a"]\nconditions=["direct"]\n'
    (place / "study.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(place / "empty")
    study = Study.read(place / "study.toml")
    assert study.open_cache().folder == place / "new"
    assert (study.dataset, study.templates) == (str(place / "mine"), str(place / "templates"))
    monkeypatch.chdir(place)
    assert Study.read("study.toml") == study
    shutil.move("study.toml", "empty/study.toml")  # what is not beside the file is looked for here
    assert Study.read("empty/study.toml").dataset == str(place / "mine")


def test_parameters_of_notebooks_hold_in_the_kernel_s_directory(place: Path, make_notebook: Any) -> None:
    make_notebook("one")
    books = find_notebooks()
    for text in ("run", "./run", "~/run", "run/"):
        assert share_parameters(books, {"cache": text})["one"] == {"cache": str(place / "run")}
    assert share_parameters(books, {"cache": "offline"})["one"] == {"cache": "offline"}
    with pytest.raises(UnknownName, match="did you mean 'offline'"):
        share_parameters(books, {"cache": "ofline"})


def test_a_missing_folder_of_templates_is_no_folder_of_shipped_ones(place: Path) -> None:
    with pytest.raises(SchemaError, match="folder of templates not found; got 'tmeplates'"):
        judge_prompts("tmeplates")
    assert judge_prompts("empty") == judge_prompts()


def test_cases_by_place() -> None:
    data = load_dataset("icg-teb")
    assert data[0] is data.cases[0]
    assert data[-1] is data.cases[-1]
    with pytest.raises(UnknownName, match="by place; got 9999; allowed: 0 to"):
        data[9999]
    with pytest.raises(UnknownName):
        data[None]  # type: ignore[index]


def test_a_cache_in_the_working_directory_is_written_there(place: Path) -> None:
    """The command line, from a directory outside the project."""
    write_small(place / "mine")
    options = ["--models", "offline/instruction-only", "--conditions", "direct", "--subset", "2"]
    done = subprocess.run(
        [sys.executable, "-m", "icgkit.cli", "run", "--dataset", "mine", *options, "--cache", "./here"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert list((place / "here").glob("calls*"))
    assert not (project_root() / "data" / "cache" / "here").exists()
