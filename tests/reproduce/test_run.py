from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from icgkit.cli import app
from icgkit.errors import CallError, SchemaError, UnknownName
from icgkit.reproduce.kernel import warm_server
from icgkit.reproduce.notebooks import find_notebooks
from icgkit.reproduce.run import check, reproduce

Make = Callable[..., Path]


@pytest.fixture(scope="module", autouse=True)
def _one_server() -> Iterator[None]:
    """Keep one warm server for all tests of this file."""
    with warm_server(POLARS_MAX_THREADS="1"):
        yield


def saving(id: str, value: str = "seed / 3", before: str = "") -> str:
    return (
        f"import icgkit as ig, polars as pl\nfrom matplotlib.figure import Figure\n{before}\n"
        f"figure = Figure(figsize=(2, 1)); _ = figure.text(0.1, 0.5, '{id}')\n"
        f"ig.save('{id}', out=out, data=pl.DataFrame({{'model': ['a'], 'x': [{value}]}}), figure=figure,"
        f" caption='{id} shown.', run=ig.Provenance('tiny', 1, seed=seed))"
    )


def ran(report: object) -> list[str]:
    return sorted(run.name for run in report.ran)  # type: ignore[attr-defined]


def test_runs_only_what_is_stale(project: Path, make_notebook: Make) -> None:
    make_notebook("a", saving("T1"))
    make_notebook("b", saving("T2"), parameters='out = ""\nseed = 42\nn_resamples = 10')
    make_notebook("_draft", "1 / 0")
    figures = project / "figures"
    assert ran(reproduce()) == ["a", "b"]
    assert {p.name for p in figures.glob("*.csv")} == {"T1.csv", "T2.csv"}
    assert (figures / "index.html").is_file()
    again = reproduce()
    assert (ran(again), sorted(again.fresh)) == ([], ["a", "b"])
    # Each of these makes exactly the notebooks stale that rest on it.
    (project / "data/cache/offline/calls.jsonl").write_text("{}\n")
    assert ran(reproduce()) == ["a"]
    (figures / "T2.csv").write_text("edited by hand")
    assert ran(reproduce()) == ["b"]
    (figures / "T1.pdf").unlink()
    assert ran(reproduce()) == ["a"]
    assert ran(reproduce(parameters={"n_resamples": 20}, out=figures)) == ["b"]
    make_notebook("a", saving("T1"), "# one more cell")
    assert ran(reproduce(parameters={"seed": 42})) == ["a", "b"]
    assert ran(reproduce(only=["b"], force=True)) == ["b"]


def test_a_result_that_is_no_longer_made_goes(project: Path, make_notebook: Make) -> None:
    make_notebook("a", saving("T1"))
    reproduce()
    (project / "figures/T1.tex").write_text("mine, not made by a run")
    (project / "figures/T1.svg").write_text("changed by hand")
    make_notebook("a", saving("T9"))
    reproduce()
    assert {p.stem for p in (project / "figures").glob("*.json")} == {"T9"}
    assert {p.name for p in (project / "figures").glob("T1*")} == {"T1.tex", "T1.svg"}


@pytest.mark.parametrize(
    "cells",
    [
        ("import sys; sys.exit(0)", saving("T1", "99.0")),
        (saving("T1", "99.0"), "import sys\nsys.exit()", saving("T2", "99.0")),
        (saving("T1", "99.0"), "raise SystemExit(0)", "x = 1"),
        (saving("T1", "99.0"), "if seed < 0:\n    " + saving("T2").replace("\n", "\n    ")),
    ],
    ids=["first", "exit of sys", "raised", "left out"],
)
def test_ending_early_is_a_failure_and_removes_nothing(
    project: Path, make_notebook: Make, cells: tuple[str, ...]
) -> None:
    make_notebook("a", saving("T1"), saving("T2"))
    reproduce()
    figures = project / "figures"
    before = {p.name: p.read_bytes() for p in figures.iterdir() if p.is_file() and p.suffix != ".html"}
    make_notebook("a", *cells)
    result = CliRunner().invoke(app, ["reproduce"])
    assert result.exit_code == 1
    assert re.search("ended early|did not make T2.csv", result.output)
    assert {
        p.name: p.read_bytes() for p in figures.iterdir() if p.is_file() and p.suffix != ".html"
    } == before
    assert ran(reproduce()) == ["a"]


def test_a_foreign_state_file_leads_to_nothing_outside(project: Path, make_notebook: Make) -> None:
    victim = project / "thesis.txt"
    victim.write_text("years of work")
    make_notebook("a", saving("T1"))
    reproduce()
    state = project / "figures/.reproduce/state.json"
    rows = json.loads(state.read_text())
    digest = hashlib.sha256(victim.read_bytes()).hexdigest()
    for name in ("../thesis.txt", str(victim), "..", ".reproduce/lock"):
        other = rows["a"] | {"files": {**rows["a"]["files"], name: digest}}
        state.write_text(json.dumps({"a": other}))
        make_notebook("a", saving("T1"), f"name = {name!r}")
        assert not reproduce().failed
        assert victim.read_text() == "years of work"
    for text in ("[]", "[" * 100_000, '{"a": 3}', '{"a": {"files": {"T1.csv": 3}}}', "\x00"):
        state.write_text(text)
        assert ran(reproduce()) == ["a"]


def test_links_in_the_scratch_folder_are_not_followed(project: Path, make_notebook: Make) -> None:
    make_notebook("a", saving("T1"))
    victim = project / "victim"
    victim.mkdir()
    (victim / "a.ipynb").write_text("mine")
    work = project / "figures/.reproduce"
    for name, target in (("lock", "a.ipynb"), ("notebooks", ""), ("stage", "")):
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        (work / name).symlink_to(victim / target)
        with pytest.raises(SchemaError, match=f"{name} was not made by icgkit"):
            reproduce()
        (work / name).unlink()
    (work / "notebooks").mkdir(exist_ok=True)
    (work / "notebooks/a.ipynb").symlink_to(victim / "a.ipynb")
    assert not reproduce().failed
    assert {p.name: p.read_text() for p in victim.iterdir()} == {"a.ipynb": "mine"}


def test_other_parameters_go_to_a_folder_of_their_own(project: Path, make_notebook: Make) -> None:
    make_notebook("a", saving("T1"))
    make_notebook("b", saving("T2"), parameters='out = ""\nseed = 42')
    reproduce()
    figures = project / "figures"
    before = {p.name: p.read_bytes() for p in figures.glob("T*")}
    (project / "data/cache/mine").mkdir()
    report = reproduce(parameters={"cache": "mine"})
    assert (ran(report), report.apart, report.out) == (["a"], ["b"], figures / "mine")
    assert reproduce(parameters={"cache": str(project / "data/cache/mine")}).out == figures / "mine"
    assert reproduce(parameters={"seed": 3, "cache": "offline"}).out == figures / "seed-3"
    assert {p.name: p.read_bytes() for p in figures.glob("T*")} == before
    assert "mine/index.html" in (figures / "index.html").read_text()


def test_dry_run_says_what_is_stale_and_why(project: Path, make_notebook: Make) -> None:
    make_notebook("a", saving("T1"))
    make_notebook("b", saving("T2"), parameters='out = ""\nseed = 42')

    def dry(*words: str) -> str:
        result = CliRunner().invoke(app, ["reproduce", "--dry-run", *words])
        assert result.exit_code == 0
        return result.output

    assert "a: no results of it are known here\n" in dry()
    assert not (project / "figures").exists()
    reproduce()
    assert dry().startswith("0 notebooks would run, 2 up to date")
    assert "nothing to do" in str(reproduce())
    (project / "data/cache/offline/calls.jsonl").write_text("{}")
    (project / "figures/T2.csv").unlink()
    said = dry().splitlines()
    assert said[:2] == ["a: data/cache/offline has changed", "b: T2.csv is gone"]
    make_notebook("b", saving("T2", "7.5"), parameters='out = ""\nseed = 42')
    assert "b: the notebook has changed; T2.csv is gone" in dry()
    assert "a: --force" not in dry("--only", "T2")


def test_ids_are_chosen_before_parts_of_names(make_notebook: Make) -> None:
    for name, id in (("T2_recall", "T2"), ("ST2_other", "ST2"), ("ST21_more", "ST21"), ("X_T2", "S-cases")):
        make_notebook(name, saving(id))
    names = {w: [n.name for n in find_notebooks(only=[w])] for w in ("T2", "st2", "S-cases", "more", "t2")}
    assert names["T2"] == names["t2"] == ["T2_recall", "X_T2"]
    assert (names["st2"], names["S-cases"], names["more"]) == (["ST2_other"], ["X_T2"], ["ST21_more"])


def test_equal_bytes_and_the_same_as_plain_papermill(project: Path, make_notebook: Make) -> None:
    drawing = (
        "import icgkit as ig, polars as pl, seaborn as sns, matplotlib.pyplot as plt\n"
        "data = pl.DataFrame({'g': ['a', 'b'] * 50, 'x': [i / 7 for i in range(100)]}).group_by('g').agg(pl.col('x').mean()).sort('g')\n"
        "figure, ax = plt.subplots()\n"
        "sns.barplot(x=data['g'].to_list(), y=data['x'].to_list(), ax=ax)"
    )
    save = "ig.save('F3', out=out, data=data, figure=figure, caption='c', run=ig.Provenance('tiny', 1, seed=seed))"
    path = make_notebook("a", drawing, save)
    reproduce(out=project / "one")
    reproduce(out=project / "two")
    plain = "import papermill, sys; papermill.execute_notebook(sys.argv[1], None, parameters={'out': sys.argv[2]}, kernel_name='python3', progress_bar=False)"
    subprocess.run([sys.executable, "-c", plain, path, project / "three"], check=True, capture_output=True)
    names = sorted(p.name for p in (project / "three").iterdir())
    assert len(names) == 6
    for name in names:
        bytes_of = [(project / run / name).read_bytes() for run in ("one", "two", "three")]
        assert bytes_of[0] == bytes_of[1] == bytes_of[2], name


def test_a_failure_stops_nobody_else_and_leaves_the_old_result(project: Path, make_notebook: Make) -> None:
    make_notebook("a", saving("T1"))
    make_notebook("b", saving("T2"))
    reproduce()
    make_notebook("a", "print('before')", "1 / 0", saving("T1", "99.0"))
    make_notebook("b", saving("T2", "98.0"))
    result = CliRunner().invoke(app, ["reproduce"])
    assert result.exit_code == 1
    assert "a failed: ZeroDivisionError in cell [4]: division by zero" in result.output
    figures = project / "figures"
    assert "14.0" in (figures / "T1.csv").read_text()
    assert "98.0" in (figures / "T2.csv").read_text()
    partial = (figures / ".reproduce/notebooks/a.ipynb").read_text()
    assert "before" in partial
    assert "ZeroDivisionError" in partial
    assert ran(reproduce()) == ["a"]  # a failed notebook stays stale


@pytest.mark.parametrize(
    ("code", "word"), [("import time; time.sleep(60)", "Timeout"), ("import os; os._exit(3)", "Dead")]
)
def test_time_limit_and_dead_kernel(project: Path, make_notebook: Make, code: str, word: str) -> None:
    make_notebook("a", "print('before')", code)
    make_notebook("b", saving("T2"))
    report = reproduce(cell_seconds=2)
    assert [run.name for run in report.failed] == ["a"]
    assert word in str(report.failed[0].error)
    assert "before" in (project / "figures/.reproduce/notebooks/a.ipynb").read_text()
    assert (project / "figures/T2.csv").is_file()


def test_two_notebooks_may_not_write_one_result(project: Path, make_notebook: Make) -> None:
    make_notebook("a", saving("T1"))
    make_notebook("b", saving("T1"))
    (failed,) = reproduce().failed
    assert "also written by" in str(failed.error)


def test_a_notebook_that_saves_nothing_fails(project: Path, make_notebook: Make) -> None:
    make_notebook("a", "x = 1")
    (failed,) = reproduce().failed
    assert "saved nothing" in str(failed.error)


def test_parameters_reach_only_who_has_them(project: Path, make_notebook: Make) -> None:
    make_notebook("a", saving("T1"))
    make_notebook("b", saving("T2"), parameters='out = ""\nseed = 1\nn_resamples = 10')
    with pytest.raises(UnknownName, match="did you mean 'seed'"):
        reproduce(parameters={"sead": 3})
    with pytest.raises(SchemaError, match="parameter seed"):
        reproduce(parameters={"seed": "three"})
    result = CliRunner().invoke(app, ["reproduce", "--param", "sead=3"])
    assert result.exit_code == 2
    report = reproduce(parameters={"seed": 3, "n_resamples": 5})
    assert "1.0" in (report.out / "T1.csv").read_text()


def test_out_parameter_is_due(project: Path, make_notebook: Make) -> None:
    make_notebook("a", "x = 1", parameters="seed = 1")
    with pytest.raises(SchemaError, match="no parameter 'out'"):
        reproduce()


def test_two_runs_do_not_write_to_one_folder(project: Path, make_notebook: Make) -> None:
    fcntl = pytest.importorskip("fcntl")
    make_notebook("a", saving("T1"))
    (project / "figures/.reproduce").mkdir(parents=True)
    with open(project / "figures/.reproduce/lock", "w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        with pytest.raises(CallError, match="another icgkit reproduce"):
            reproduce()


def test_check_names_each_number(project: Path, make_notebook: Make) -> None:
    make_notebook("a", saving("T1"))
    make_notebook("b", saving("T2"))
    reproduce()
    assert check()[1] == []
    committed = project / "figures/T1.csv"
    committed.write_text(committed.read_text().replace("14.0", "14.5"))
    before = committed.read_bytes()
    result = CliRunner().invoke(app, ["reproduce", "--check"])
    assert result.exit_code == 1
    assert "T1.csv: row 1 (a), x: committed 14.5, now 14.0 (difference -0.5)" in result.output
    assert committed.read_bytes() == before  # checking changes nothing
    assert CliRunner().invoke(app, ["reproduce", "--check", "--only", "b"]).exit_code == 0


def test_nothing_changed_loads_nothing_heavy(project: Path, make_notebook: Make) -> None:
    make_notebook("a", saving("T1"))
    # Ends with the exit code and those heavy modules that were imported.
    code = (
        "import sys; from icgkit.cli import app\n"
        "try: app(['reproduce'])\n"
        "except SystemExit as e: print(e.code, [m for m in ('papermill', 'litellm', 'matplotlib', 'pandas') if m in sys.modules])"
    )
    for _ in range(3):  # More often than twice only if somebody edits the package meanwhile.
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        if "1 up to date" in done.stdout:
            break
    assert done.stdout.splitlines()[-1] == "0 []"


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_interrupting_keeps_what_is_finished(project: Path, make_notebook: Make, signum: int) -> None:
    make_notebook("a", saving("T1"))
    pid_file = project / "pid"
    make_notebook(
        "b", f"import os, time\nprint(open({str(pid_file)!r}, 'w').write(str(os.getpid())))\ntime.sleep(300)"
    )
    command = [sys.executable, "-m", "icgkit.cli", "reproduce", "--jobs", "2"]
    running = subprocess.Popen(
        command, env=os.environ | {"ICGKIT_HOME": str(project)}, stderr=subprocess.DEVNULL
    )
    state = project / "figures/.reproduce/state.json"
    end = time.monotonic() + 60
    while not (pid_file.is_file() and pid_file.read_text() and state.is_file()):
        assert time.monotonic() < end
        time.sleep(0.05)
    running.send_signal(signum)
    assert running.wait(timeout=120) == 130
    pid = int(pid_file.read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert set(json.loads(state.read_text())) == {"a"}
    assert (project / "figures/T1.csv").is_file()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sockets of warm kernels")
def test_a_long_temporary_folder_and_what_is_printed(project: Path, make_notebook: Make) -> None:
    make_notebook("a", saving("T1"))
    long = project / ("x" * 90) / ("y" * 60)
    long.mkdir(parents=True)
    env = os.environ | {"ICGKIT_HOME": str(project), "TMPDIR": str(long)}
    done = subprocess.run(
        [sys.executable, "-m", "icgkit.cli", "reproduce"], env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "1 notebooks run" in done.stdout
    assert "TCP" not in done.stderr + done.stdout
