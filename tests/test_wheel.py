"""Installed as a wheel, without the checkout: what a user has who typed `pip install icgkit`."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from icgkit.files import project_root


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from the project's own files and unpack it into a folder of its own."""
    folder = tmp_path_factory.mktemp("wheel")
    build = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", build, str(folder)], cwd=project_root(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    site = folder / "site"
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
        archive.extractall(site)
    return site


def icgkit(site: Path, cwd: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Run the command from the unpacked wheel; the editable install of this environment does not count."""
    code = f"import sys; sys.path.insert(0, {str(site)!r}); sys.argv = ['icgkit', *sys.argv[1:]]; import icgkit; assert icgkit.__file__.startswith({str(site)!r}); from icgkit.cli import app; app()"  # fmt: skip
    env = {k: v for k, v in os.environ.items() if k != "ICGKIT_HOME"} | {
        "PYTHONPATH": str(site),
        "COLUMNS": "200",
        "NO_COLOR": "1",
    }
    return subprocess.run(
        [sys.executable, "-c", code, *args], cwd=cwd, env=env, capture_output=True, text=True
    )


def test_outside_a_project_commands_say_what_to_do(wheel: Path, tmp_path: Path) -> None:
    for command in (
        ["reproduce"],
        ["run", "--dataset", "icg-scenes", "--models", "offline/priors", "--conditions", "direct"],
        ["view", "offline"],
    ):
        done = icgkit(wheel, tmp_path, *command)
        assert done.returncode != 0, command
        assert "icgkit init my-project" in done.stderr + done.stdout, command
    assert icgkit(wheel, tmp_path, "--version").stdout.startswith("icgkit 0.")


def test_init_makes_a_project_in_which_a_study_runs(wheel: Path, tmp_path: Path) -> None:
    made = icgkit(wheel, tmp_path, "init", "mine")
    assert made.returncode == 0, made.stderr
    project = tmp_path / "mine"
    assert len(list((project / "notebooks").glob("*.ipynb"))) > 20
    listed = icgkit(wheel, project, "list").stdout
    assert "dataset     demo" in listed
    assert "models      offline/..." in listed
    run = icgkit(wheel, project, "run", "my-study.toml")
    assert run.returncode == 0, run.stderr + run.stdout
    assert (project / "data" / "cache" / "my-study" / "judgments.parquet").is_file()
    table = icgkit(wheel, project, "reproduce", "--param", "cache=my-study", "--only", "T2")
    assert table.returncode == 0, table.stderr
    assert list(project.rglob("T2.csv"))
    again = icgkit(wheel, tmp_path, "init", "mine")
    assert again.returncode != 0
    assert "holds a project already" in again.stderr
