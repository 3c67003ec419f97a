"""The house: rooms, floors, no circles, names that mean one thing."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import graph_of_imports
import pytest

ROOT = Path(__file__).parents[1]

# Circles that still stand; a new one, or a module more in one of these, fails.
KNOWN = {
    "icgkit": [
        {"cases.case", "cases.dataset", "cases.images", "cases.show"},  # a case shows itself in Jupyter
    ],
    "icgforge": [],
}


@pytest.mark.parametrize("package", ["icgkit", "icgforge"])
def test_no_new_circle_of_imports_counting_those_in_functions_and_for_types(package: Any) -> None:
    graph = graph_of_imports.imports(ROOT / package)
    found = [{m.removeprefix(f"{package}.") for m in c} for c in graph_of_imports.circles(graph)]
    assert [c for c in found if not any(c <= known for known in KNOWN[package])] == []


def test_the_search_finds_circles_through_functions_and_types(tmp_path: Path) -> None:
    package = tmp_path / "p"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text("def f():\n    from p.b import g\n")
    (package / "b.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p import c\n"
    )
    (package / "c.py").write_text("import p.a\n")
    (package / "d.py").write_text("import p.a\n")
    assert graph_of_imports.circles(graph_of_imports.imports(package)) == [["p.a", "p.b", "p.c"]]


def test_icgkit_never_imports_icgforge_not_even_in_a_function() -> None:
    found = []
    for path in sorted((ROOT / "icgkit").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
            found += [f"{path.name}:{node.lineno}" for n in names if n.split(".")[0] == "icgforge"]
    assert found == []


def test_the_floors_hold() -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-3000:]


def test_the_root_is_at_most_eight_modules() -> None:
    assert len(list((ROOT / "icgkit").glob("*.py"))) <= 8


@pytest.mark.parametrize("package", ["icgkit", "icgforge"])
def test_each_room_says_what_it_does(package: Any) -> None:
    silent = []
    for path in sorted((ROOT / package).rglob("__init__.py")):
        words = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        if len(words) < 20:
            silent.append(str(path.relative_to(ROOT)))
    assert silent == []


def test_the_names_for_type_checkers_are_those_that_are_imported_when_used() -> None:
    import icgkit

    tree = ast.parse((ROOT / "icgkit" / "__init__.py").read_text(encoding="utf-8"))
    block = next(n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING")
    typed = {
        alias.asname or alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert {n: m for n, m in typed.items() if n not in icgkit._MODULES} == {
        n: f"icgkit.{m}" for n, m in icgkit._WHERE.items()
    }
    for name in icgkit.__all__:
        assert getattr(icgkit, name) is not None


def test_every_place_that_contributing_names_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:icgkit|icgforge|tests|scripts|notebooks|docs)/[\w./-]*)`", text))
    assert {
        "icgkit/templates/conditions/",
        "icgkit/bench/",
        "icgforge/baselines/",
        "scripts/golden.py",
    } <= named
    assert sorted(p for p in named if not (ROOT / p).exists()) == []


def test_the_picture_of_the_house_has_the_floors_of_the_contract() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    floors = [re.findall(r"\w+", floor) for floor in layers["contracts"][0]["layers"]]
    drawn = text[text.index("    icgforge  makes") : text.index("Imports run downwards")].splitlines()[2:]
    assert [line[:50].split() for line in drawn if line.strip()] == floors


SIBLINGS = {"load", "read", "read_run", "score", "main", "Record"}
"""Names that every sibling benchmark has for the same thing, and the entrance of a program."""
TWICE = {
    "CATEGORIES", "COLUMNS", "CORE", "DEFAULT", "FORMS", "Field", "Floats", "Job", "KEY", "KINDS", "MAX_BYTES", "MEASURES", "METHODS", "Mark", "RULES", "Requests", "Response", "Row", "Rule", "SOURCES", "T", "VERDICTS", "check", "coefficients", "count", "data_url", "interval", "judgments", "numbers", "prepare", "ratio", "read_json", "schema", "spread", "stratified", "table", "whole",
}  # fmt: skip
"""Public names that still stand in two modules; one may go, none may come."""


def test_no_further_public_name_stands_in_two_modules() -> None:
    modules: dict[str, set[str]] = {}
    for path in sorted((ROOT / "icgkit").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
            if isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = [t.id for t in targets if isinstance(t, ast.Name)]
            for name in names:
                if not name.startswith("_"):
                    modules.setdefault(name, set()).add(str(path.relative_to(ROOT)))
    several = {name for name, places in modules.items() if len(places) > 1} - SIBLINGS
    assert several <= TWICE, {name: sorted(modules[name]) for name in several - TWICE}
