"""A changed function makes exactly those tables stale that can call it."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from icgkit.reproduce.notebooks import Notebook, cell_source, find_notebooks
from icgkit.reproduce.reached import PACKAGES, Code

ROOT = Path(__file__).resolve().parents[2]
SHELF = find_notebooks(ROOT / "notebooks")


def reached(code: Code, notebook: Notebook) -> dict[str, str]:
    return code.reached(cell_source(c) for c in notebook.cells if c["cell_type"] == "code")


def stale(folder: Path, before: dict[str, dict[str, str]]) -> list[str]:
    code = Code(folder)
    return [n.name for n in SHELF if reached(code, n) != before[n.name]]


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, dict[str, str]]]:
    """A copy of the package's source to change, and what each notebook reached before."""
    folder = tmp_path_factory.mktemp("copy")
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, folder / package, ignore=shutil.ignore_patterns("fonts", "__pycache__")
        )
    code = Code(folder)
    return folder, {n.name: reached(code, n) for n in SHELF}


def mutate(path: Path, function: str) -> str:
    """Add a statement to a function; return what the file was."""
    was = path.read_text()
    names = function.split(".")
    body = ast.parse(was).body
    for name in names:
        node = next(n for n in body if getattr(n, "name", "") == name)
        body = node.body  # type: ignore[attr-defined]
    lines = was.splitlines(keepends=True)
    last = body[-1]
    lines.insert(last.lineno - 1, " " * last.col_offset + "mutated = 1\n")
    path.write_text("".join(lines))
    return was


@pytest.mark.parametrize(
    ("file", "function", "notebooks"),
    [
        ("icgkit/metrics/gee.py", "gee", ["ST9_gee"]),
        ("icgkit/metrics/items.py", "item_response", ["M_items"]),
        ("icgkit/metrics/utility.py", "utility", ["M_utility"]),
        ("icgkit/metrics/correction.py", "corrected", ["M_judge_error"]),
        ("icgforge/mazes/mazes.py", "make_pairs", ["B_mazes"]),
        ("icgkit/report/results.py", "Results.found", ["00_start_here"]),
        ("icgkit/calls/engine.py", "run_calls", ["B_grade"]),
        ("icgkit/cli.py", "run_command", []),
        ("icgkit/reproduce/run.py", "reproduce", []),
        ("icgkit/prompts/conditions.py", "build_messages", []),
        ("icgkit/report/save.py", "save", [n.name for n in SHELF]),
    ],
)
def test_a_changed_function_marks_exactly_its_tables(
    copied: tuple[Path, dict[str, dict[str, str]]], file: str, function: str, notebooks: list[str]
) -> None:
    folder, before = copied
    was = mutate(folder / file, function)
    try:
        assert stale(folder, before) == notebooks
    finally:
        (folder / file).write_text(was)


def test_every_metric_marks_its_tables_and_no_others(copied: tuple[Path, dict[str, dict[str, str]]]) -> None:
    """A notebook that does not name a metric is stale only through something that calls it."""
    folder, before = copied
    exports = [
        (node.module, alias.name)
        for node in ast.parse((folder / "icgkit/metrics/__init__.py").read_text()).body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("icgkit.metrics.")
        for alias in node.names
    ]
    assert len(exports) > 25
    package = "\n".join(p.read_text() for p in folder.rglob("*.py"))
    for module, name in exports:
        marked = {n for n, parts in before.items() if f"{module}:{name}" in parts}
        used = re.compile(rf"metrics\.{name}\b")
        naming = {n.name for n in SHELF if any(used.search(cell_source(c)) for c in n.cells)}
        assert naming <= marked, name
        if not re.search(
            rf"(?<!def )(?<!metrics\.)\b{name}\(", package
        ):  # Nobody else calls it, so that naming it is the only way.
            assert marked == naming, name


def test_comments_outside_and_docstrings_do_not_count_but_constants_do(
    copied: tuple[Path, dict[str, dict[str, str]]],
) -> None:
    folder, before = copied
    path = folder / "icgkit/metrics/utility.py"
    was = path.read_text()
    try:
        path.write_text("# A word.\n" + was.replace('"""', '"""Other words. ', 1))
        assert stale(folder, before) == []
        path.write_text(was.replace("def utility(", "def utility(  # here\n", 1))
        assert stale(folder, before) == ["M_utility"]
    finally:
        path.write_text(was)


@pytest.mark.parametrize("name", ["F1_case_graph", "ST9_gee", "S_indirectness", "B_draw_or_decline"])
def test_what_really_runs_was_reached(tmp_path: Path, name: str) -> None:
    notebook = next(n for n in SHELF if n.name == name)
    words = ["n_resamples=20"] if "n_resamples" in notebook.parameters else []
    script = Path(__file__).with_name("trace_notebook.py")
    subprocess.run(
        [sys.executable, script, notebook.path, tmp_path, tmp_path / "ran.json", *words],
        check=True, capture_output=True,
    )  # fmt: skip
    ran = {n for n in json.loads((tmp_path / "ran.json").read_text()) if not n.endswith(".j2:root")}
    assert len(ran) > 40
    known = reached(Code(), notebook)
    tracing = {f"icgkit.reproduce.notebooks:{f}" for f in ("cell_source", "cell_tags", "parse_parameters")}
    unknown = {n for n in ran - tracing if n.partition(":")[2][0] != "<" and n not in known}
    # Of a class that is made by a library (a dataclass), the class stands for what was made.
    assert {n for n in unknown if n.rpartition(".__")[0] not in known} == set()
