"""What README promises and what results print as a remedy, typed in as it stands."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import icgkit as ig

ROOT = Path(__file__).resolve().parents[2]
COMMAND = re.compile(r"icgkit (?:run|judge|form) .*?(?= writes a form|;| && |\.?$)")
ANSWERS = {"subtype": "semantic_numerical", "source": "visual grounding"}
CONDITIONS = "direct,nl_self,oracle"


def icgkit(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the package in a project, as a shell would."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "icgkit.cli", *words],
        cwd=project, env=os.environ | {"ICGKIT_HOME": str(project)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which README's three commands were typed, with models that need no key."""
    project = tmp_path_factory.mktemp("project")
    for folder in ("data/published", "data/bench", "data/cases/icg-scenes"):
        (project / folder).parent.mkdir(parents=True, exist_ok=True)
        (project / folder).symlink_to(ROOT / folder)
    shutil.copytree(ROOT / "notebooks", project / "notebooks")
    models = "offline/instruction-only,offline/priors"
    icgkit(
        project, "run", "--dataset", "icg-scenes", "--models", models, "--conditions", CONDITIONS,
        "--cache", "my-run", "--subset", "12",
    )  # fmt: skip
    icgkit(project, "judge", "--cache", "my-run", "--judges", "offline/judge")
    small = ("--param", "n_resamples=50", "--param", "n_studies=10")
    icgkit(project, "reproduce", "--param", "cache=my-run", *small, "--out", "figures/my-run")
    return project


def remedies(folder: Path) -> set[str]:
    """Every command that a result of a folder prints."""
    texts = [t for p in folder.glob("*.json") for t in json.loads(p.read_text())["note"]]
    texts += [p.read_text() for p in folder.glob("*.csv")]
    return {m.group() for text in texts for line in text.splitlines() for m in COMMAND.finditer(line)}


def test_the_three_commands_end_well(measured: Path) -> None:
    made = {p.stem for p in (measured / "figures/my-run").glob("*.json")}
    assert {"T2", "T3", "F3", "M-power", "M-utility", "M-items"} <= made
    # What does not depend on the cache is not made.
    assert not [m for m in made if m.startswith(("B-", "S-contact", "S-audit", "F1"))]
    assert "not in this cache: cot" in (measured / "figures/my-run/M-power.csv").read_text()


def test_every_printed_remedy_works_when_pasted(measured: Path) -> None:
    found = remedies(measured / "figures/my-run")
    kinds = {" ".join(c.split()[1:3]) for c in found if c.startswith("icgkit form")}
    assert kinds == {f"form {k}" for k in ("human", "audit", "labels", "failures", "gold")}
    assert sum(c.startswith("icgkit run") for c in found) > 3
    assert any("--kinds precision" in c for c in found)
    order = {"run": 0, "judge": 1, "form": 2}
    for command in sorted(found, key=lambda c: (order[c.split()[1]], "--read" in c, c)):
        words = shlex.split(command)[1:]
        if "--read" in words:
            fill_in(measured / words[-1])
        icgkit(measured, *words)
    # Nothing was asked about cases that the run did not have.
    run = ig.load_results(measured / "data/cache/my-run")
    assert run.responses["case_id"].n_unique() == 12
    for kind in ("precision", "plan", "human", "audit", "labels", "failures", "gold"):
        frame, missing = run.need(kind)
        assert (frame.is_empty(), missing) == (False, ""), kind


def fill_in(path: Path) -> None:
    with open(path, encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert rows, path
    for row in rows:
        for column in row:
            if not row[column]:
                row[column] = "ada" if column == "annotator" else ANSWERS.get(column, "yes")
    with open(path, "w", encoding="utf-8", newline="") as stream:
        out = csv.DictWriter(stream, rows[0])
        out.writeheader()
        out.writerows(rows)
