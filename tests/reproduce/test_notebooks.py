"""The reader of notebooks, and the rules that every notebook of the project keeps."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from icgkit.errors import CallError, SchemaError, UnknownName
from icgkit.reproduce.notebooks import (
    Fingerprint,
    Notebook,
    cell_source,
    cell_tags,
    find_notebooks,
    literals,
    parse_parameters,
    read_notebook,
    shared_imports,
)

Make = Callable[..., Path]
SHELF = Path(__file__).resolve().parents[2] / "notebooks"
NETWORK = {
    "requests",
    "urllib",
    "httpx",
    "aiohttp",
    "socket",
    "http",
    "openai",
    "anthropic",
    "litellm",
    "subprocess",
}
PATH_WORD = re.compile(
    r"^(\.{0,2}/|~|[A-Za-z]:\\)|^[\w.-]+/[\w./-]+\.\w{2,7}$|\.(csv|json|jsonl|parquet|png|pdf|svg|toml)$"
)


def faults(notebook: Notebook) -> list[str]:
    """Return how a notebook breaks the rules; magics are no Python and break them, too."""
    found = []
    code = [c for c in notebook.cells if c["cell_type"] == "code"]
    lines = sum(len([ln for ln in cell_source(c).splitlines() if ln.strip()]) for c in code)
    if len(code) > 10:
        found.append(f"{len(code)} code cells")
    if lines > 50:
        found.append(f"{lines} lines of code")
    if any(c.get("outputs") or c.get("execution_count") for c in code):
        found.append("outputs are committed")
    if "parameters" not in cell_tags(code[0]):
        found.append("the first code cell is not the parameters cell")
    if "out" not in notebook.parameters:
        found.append("no parameter out")
    for number, cell in enumerate(code):
        try:
            tree = ast.parse(cell_source(cell))
        except SyntaxError as exc:
            found.append(f"cell {number}: no Python: {exc.msg}")
            continue
        found += [f"cell {number}: {fault}" for fault in _faults(tree, notebook, parameters=number == 0)]
    last = cell_source(code[-1])
    if not re.search(r"\bsave\(", last) or not re.search(r"\bout=out\b|\"out\": out\b", last):
        found.append("the last cell does not save to out")
    return found


def _faults(tree: ast.Module, notebook: Notebook, *, parameters: bool) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.append(f"defines {node.name}")
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            found += [f"imports {n}" for n in names if n.split(".")[0] in NETWORK]
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and PATH_WORD.search(node.value):
            found.append(f"path {node.value!r}")
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "://" in node.value:
            found.append(f"address {node.value!r}")
        stored = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del)
        if stored and not parameters and node.id in notebook.parameters:  # type: ignore[attr-defined]
            found.append(f"sets the parameter {node.id} again")  # type: ignore[attr-defined]
    return found


PATHS = sorted(p for p in SHELF.glob("*.ipynb") if not p.name.startswith("."))


@pytest.mark.parametrize("path", PATHS, ids=[p.stem for p in PATHS])
def test_every_notebook_keeps_the_rules(path: Path) -> None:
    assert faults(read_notebook(path)) == []


@pytest.mark.parametrize("path", PATHS, ids=[p.stem for p in PATHS])
def test_every_notebook_is_plain(path: Path) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    assert (data["nbformat"], data["cells"][0]["cell_type"]) == (4, "markdown")
    assert data["metadata"]["kernelspec"]["name"] == "python3"
    assert not {"papermill", "widgets"} & data["metadata"].keys()
    ids = [c.get("id") for c in data["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(ids)


def test_results_have_one_notebook_each() -> None:
    ids = [
        i for p in PATHS for i in set(re.findall(r"save\(\s*\\?\"([\w-]+)", p.read_text().replace("\\n", "")))
    ]
    assert len(ids) == len(set(ids))


SAVE = "import icgkit as ig\nig.save('T1', out=out)"


@pytest.mark.parametrize(
    ("cells", "options", "fault"),
    [
        ((SAVE,), {}, None),
        (("def f(): pass", SAVE), {}, "cell 1: defines f"),
        (("class A: pass", SAVE), {}, "cell 1: defines A"),
        (("import requests", SAVE), {}, "cell 1: imports requests"),
        (("from urllib.request import urlopen", SAVE), {}, "cell 1: imports urllib.request"),
        (("x = 'https://example.org'", SAVE), {}, "cell 1: address 'https://example.org'"),
        (("x = '../data/x'", SAVE), {}, "cell 1: path '../data/x'"),
        (("x = 'scores.csv'", SAVE), {}, "cell 1: path 'scores.csv'"),
        (("x = 'data/cases/a.jsonl'", SAVE), {}, "cell 1: path 'data/cases/a.jsonl'"),
        (("x = 'offline/priors'", SAVE), {}, None),
        (("seed = 3", SAVE), {}, "cell 1: sets the parameter seed again"),
        (("for seed in (1, 2): pass", SAVE), {}, "cell 1: sets the parameter seed again"),
        (("seed += 1", SAVE), {}, "cell 1: sets the parameter seed again"),
        (("(cache := 'b')", SAVE), {}, "cell 1: sets the parameter cache again"),
        (("%matplotlib inline", SAVE), {}, "cell 1: no Python: invalid syntax"),
        (("x = 1",), {}, "the last cell does not save to out"),
        (("x = 1", "ig.save('T1', out='')"), {}, "the last cell does not save to out"),
        (("x = 1",) * 10, {}, "11 code cells"),
        (("x = 1\n" * 60, SAVE), {}, "65 lines of code"),
        ((SAVE,), {"parameters": "seed = 1"}, "no parameter out"),
    ],
)
def test_the_rules_find_their_faults(
    make_notebook: Make, cells: tuple[Any, ...], options: dict[str, Any], fault: str | None
) -> None:
    found = faults(read_notebook(make_notebook("a", *cells, **options)))
    assert found == [] if fault is None else fault in found


def test_outputs_are_found(make_notebook: Make) -> None:
    path = make_notebook("a", SAVE)
    data = json.loads(path.read_text())
    data["cells"][1]["execution_count"] = 3
    path.write_text(json.dumps(data))
    assert "outputs are committed" in faults(read_notebook(path))


@pytest.mark.parametrize("source", ["x = 1 + n", "x = f()", "import os", "a, b = 1, 2", "x = y = 1\nx.a = 2"])
def test_parameters_are_literals(make_notebook: Make, source: str) -> None:
    with pytest.raises(SchemaError, match="name = literal"):
        read_notebook(make_notebook("a", SAVE, parameters=source))


def test_parameters_of_every_kind() -> None:
    source = '# comment\ncache = "offline"  # why\nn = -3\nmodels = ["a", "b"]\nnothing = None\n'
    assert literals(source) == {"cache": "offline", "n": -3, "models": ["a", "b"], "nothing": None}
    with pytest.raises(SchemaError, match="set twice"):
        literals("a = 1\na = 2")


@pytest.mark.parametrize("tags", [(), ("Parameters",)])
def test_a_missing_tag_is_an_error(make_notebook: Make, tags: tuple) -> None:  # type: ignore[type-arg]
    with pytest.raises(SchemaError, match="0 code cells tagged"):
        read_notebook(make_notebook("a", SAVE, tags=tags))


def test_a_file_that_is_no_notebook(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text("{}")
    with pytest.raises(SchemaError, match=r"a\.ipynb: not a notebook"):
        read_notebook(tmp_path / "a.ipynb")


def test_choosing_notebooks(make_notebook: Make) -> None:
    for name in ("T2_recall", "T21_more", "_draft"):
        make_notebook(name, SAVE)
    assert [n.name for n in find_notebooks()] == ["T21_more", "T2_recall"]
    assert [n.name for n in find_notebooks(only=["t2_"])] == ["T2_recall"]
    assert [n.name for n in find_notebooks(only=["T2_recall.ipynb"])] == ["T2_recall"]
    with pytest.raises(UnknownName, match="did you mean 'T2_recall'"):
        find_notebooks(only=["T2_recal1"])


def test_imports_of_several_notebooks(make_notebook: Make) -> None:
    cells = (
        "import seaborn as sns\nimport polars as pl",
        "from scipy import stats\nimport polars",
        "import seaborn",
    )
    notebooks = [read_notebook(make_notebook(f"n{i}", cell)) for i, cell in enumerate(cells)]
    assert shared_imports(notebooks) == ["polars", "seaborn"]


@pytest.mark.parametrize("pair", ["api_key=abc", "OPENAI_KEY=x", "token=1", "model=sk-abcdefghijklmnopqrstu"])
def test_secrets_are_no_parameters(pair: str) -> None:
    with pytest.raises(CallError, match="looks like a secret"):
        parse_parameters([pair])


def test_parameter_words() -> None:
    assert parse_parameters(["a=1.5", "b=true", "c=", "keyword=x"]) == {
        "a": 1.5, "b": "true", "c": "", "keyword": "x",
    }  # fmt: skip
    with pytest.raises(SchemaError, match="name=value"):
        parse_parameters(["seed"])


def test_what_a_fingerprint_rests_on(project: Path, make_notebook: Make) -> None:
    notebook = read_notebook(make_notebook("a", SAVE))
    (project / "data/cache/offline/run.toml").write_text('dataset = "tiny"\n')

    def now(given: dict | None = None) -> str:  # type: ignore[type-arg]
        return json.dumps(Fingerprint().of(notebook, given or {}))

    seen = [now()]
    assert now() == seen[0]
    assert now({"out": "/elsewhere"}) == seen[0]  # where results go changes none of them
    (project / "data/cases/other").mkdir()
    (project / "data/cases/other/cases.jsonl").write_text("{}")
    assert now() == seen[0]  # a dataset that nobody names
    for change in (
        lambda: (project / "data/cache/offline/calls.parquet").write_bytes(b"1"),
        lambda: (project / "data/cases/tiny/cases.jsonl").write_text("{}"),  # the cache's dataset
        lambda: (project / "data/published/icg.csv").write_text("id\n"),
        lambda: (project / "requirements.lock").write_text("polars==2.1.0\n"),
    ):
        change()  # type: ignore[no-untyped-call]
        seen.append(now())
    seen += [now({"seed": 7}), now({"cache": "other"})]
    assert len(set(seen)) == len(seen)
    # Outputs and execution counts are no part of the source.
    data = json.loads(notebook.path.read_text())
    data["cells"][1] |= {
        "outputs": [{"output_type": "stream", "name": "stdout", "text": "x"}],
        "execution_count": 2,
    }
    notebook.path.write_text(json.dumps(data))
    assert json.dumps(Fingerprint().of(read_notebook(notebook.path), {"seed": 7})) == seen[-2]
