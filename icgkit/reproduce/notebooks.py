"""Read notebooks without running them: their parameters, and a fingerprint of all they rest on."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import platform
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from icgkit.calls.recorded import dataset_folder
from icgkit.cases.dataset import sha256_of
from icgkit.errors import CallError, SchemaError, UnknownName
from icgkit.files import named_folder, project_root, read_file
from icgkit.reproduce.reached import PACKAGES, Code
from icgkit.untrusted import json_value

DOORS = frozenset(("gallery",))
"""Folders of templates that no result depends on."""
_ID = r"(?:[A-Z]{1,3}\d+[a-z]?|[A-Z]{1,2}-[A-Za-z0-9][A-Za-z0-9-]*)"
_SECRET_NAME = re.compile(r"(?i)(^|_)(key|apikey|token|secret|password|credentials?)(_|$)")
_SECRET_VALUE = re.compile(r"(sk|gsk|xai|hf|pk|ghp|key)[-_][A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{30,}")


@dataclass(frozen=True)
class Notebook:
    """A notebook on disk: its cells and the literals of its parameters cell."""

    path: Path
    cells: tuple[Mapping[str, Any], ...] = field(repr=False)
    parameters: Mapping[str, Any]

    @property
    def name(self) -> str:
        """File name without its ending."""
        return self.path.stem

    @property
    def ids(self) -> set[str]:
        """Ids of results (`T2`, `S-cases`) that its name or its code holds."""
        code = "\n".join(cell_source(c) for c in self.cells if c.get("cell_type") == "code")
        return {
            *re.findall(rf"""[\"']({_ID})[\"']""", code),
            *re.findall(rf"(?:^|_)({_ID})(?=_|$)", self.name),
        }


def cell_source(cell: Mapping[str, Any]) -> str:
    """Return the source of a cell as one string."""
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)


def cell_tags(cell: Mapping[str, Any]) -> list[str]:
    """Return the tags of a cell."""
    return list(cell.get("metadata", {}).get("tags", []))


def read_notebook(path: str | Path) -> Notebook:
    """Read a notebook and the literals that its parameters cell sets."""
    path = Path(path)
    found = json_value(read_file(path), path.name)
    cells = found.get("cells") if isinstance(found, dict) else None
    if not isinstance(cells, list) or not all(map(_is_cell, cells)):
        raise SchemaError(f"{path.name}: not a notebook", allowed="a JSON object with a list of cells")
    tagged = [c for c in cells if c.get("cell_type") == "code" and "parameters" in cell_tags(c)]
    if len(tagged) != 1:
        raise SchemaError(
            f"{path.name}: {len(tagged)} code cells tagged 'parameters'",
            allowed="one",
            remedy="tag the first code cell; without the tag papermill sets nothing and only warns",
        )
    return Notebook(path, tuple(cells), literals(cell_source(tagged[0]), path.name))


def _is_cell(cell: object) -> bool:
    """Say whether a value has the form of a cell: source a text or lines, tags texts."""
    if not isinstance(cell, dict) or not isinstance(cell.get("metadata", {}), dict):
        return False
    source, tags = cell.get("source"), cell.get("metadata", {}).get("tags", [])
    lines = source if isinstance(source, list) else [source]
    return isinstance(tags, list) and all(isinstance(x, str) for x in [*lines, *tags])


def literals(source: str, place: str = "parameters cell") -> dict[str, Any]:
    r"""Return the names and values of a cell of `name = literal` lines."""
    values: dict[str, Any] = {}
    try:
        statements = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as exc:
        raise SchemaError(f"{place}: parameters cell is no Python: {str(exc)[:100]}") from None
    for statement in statements:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        try:
            if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name):
                raise ValueError
            value = ast.literal_eval(statement.value)
        except ValueError:
            raise SchemaError(
                f"{place}: parameters cell, line {statement.lineno}",
                got=ast.unparse(statement),
                allowed="name = literal",
                remedy="derive values in the cells below",
            ) from None
        if target.id in values:
            raise SchemaError(f"{place}: parameter {target.id} is set twice")
        values[target.id] = value
    return values


def find_notebooks(folder: str | Path | None = None, only: Iterable[str] = ()) -> list[Notebook]:
    """Read the notebooks of a folder, by default `notebooks/` of the project, in order of name."""
    folder = Path(folder) if folder else project_root() / "notebooks"
    paths = sorted(p for p in folder.glob("*.ipynb") if not p.name.startswith(("_", ".")))
    wanted = [Path(word).stem if word.endswith(".ipynb") else word for word in only]
    notebooks = [read_notebook(p) for p in paths]
    if not wanted:
        return notebooks
    chosen: set[str] = set()
    for word in wanted:
        exact = [n.name for n in notebooks if n.name == word]
        by_id = [n.name for n in notebooks if word.lower() in map(str.lower, n.ids)]
        fitting = exact or by_id or [n.name for n in notebooks if word.lower() in n.name.lower()]
        if not fitting:
            raise UnknownName.among("notebook", word, (n.name for n in notebooks))
        chosen.update(fitting)
    return [n for n in notebooks if n.name in chosen]


def parse_parameters(pairs: Iterable[str]) -> dict[str, Any]:
    """Turn `name=value` words into parameters; a value that is no Python literal is a string, a secret an error."""
    values: dict[str, Any] = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        if not sign or not name.isidentifier():
            raise SchemaError("parameter", got=pair, allowed="name=value")
        if _SECRET_NAME.search(name) or _SECRET_VALUE.search(text):
            raise CallError(
                f"parameter {name} looks like a secret, and parameters are written into notebooks",
                remedy="put keys into the environment or into .env",
            )
        try:
            values[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            values[name] = text
    return values


def share_parameters(notebooks: Iterable[Notebook], given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return for each notebook those of the given parameters that it has."""
    notebooks = list(notebooks)
    given = {name: _placed(name, value) for name, value in given.items()}
    known = {name for notebook in notebooks for name in notebook.parameters}
    for name in given:
        if name not in known:
            raise UnknownName.among("parameter", name, known)
    shared: dict[str, dict[str, Any]] = {}
    for notebook in notebooks:
        own = {k: v for k, v in given.items() if k in notebook.parameters}
        for name, value in own.items():
            default = notebook.parameters[name]
            same = type(value) is type(default) or (type(value) is int and type(default) is float)
            if default is not None and value is not None and not same:
                raise SchemaError(
                    f"{notebook.name}: parameter {name}", got=value, allowed=type(default).__name__
                )
        shared[notebook.name] = own
    return shared


_FOLDERS = {"cache": "cache", "dataset": "cases"}


def _placed(name: str, value: Any) -> Any:
    """Return the value of a parameter that names a folder so that it holds in every directory."""
    if isinstance(value, (list, tuple)) and name in _FOLDERS:
        return type(value)(_placed(name, v) for v in value)
    if name not in _FOLDERS or not isinstance(value, str) or not value:
        return value
    if name == "cache" and "," in value:
        return ",".join(_placed(name, part.strip()) for part in value.split(",") if part.strip())
    folder = named_folder(_FOLDERS[name], value)
    return value if folder == project_root() / "data" / _FOLDERS[name] / value else str(folder)


def shared_imports(notebooks: Iterable[Notebook]) -> list[str]:
    """Return the modules that two or more notebooks name in an import, in order of name."""
    count: Counter[str] = Counter()
    for notebook in notebooks:
        names: set[str] = set()
        for cell in notebook.cells:
            if cell.get("cell_type") == "code":
                names.update(re.findall(r"^\s*(?:import|from)\s+([\w.]+)", cell_source(cell), re.MULTILINE))
        count.update(names | {"scipy.stats"} if "scipy" in names else names)
    return sorted(name for name, times in count.items() if times > 1)


class Fingerprint:
    """Hashes of what results rest on; each file is read once however many notebooks use it."""

    def __init__(self, root: str | Path | None = None) -> None:
        self.root = Path(root) if root else project_root()
        self._folders: dict[Path, str] = {}
        self._code = Code()
        self.package = _package((".py",))
        lock = self.root / "requirements.lock"
        self._base = {
            "Python": platform.python_version(),
            "a template or a data file of the package": _package(
                (".md", ".j2", ".css", ".json", ".toml", ".csv"), DOORS
            ),
            "requirements.lock": sha256_of(lock) if lock.is_file() else "no lock file",
            "data/published": self._folder(self.root / "data" / "published"),
            "data/bench": self._folder(self.root / "data" / "bench"),
        }

    def of(self, notebook: Notebook, given: Mapping[str, Any]) -> dict[str, str]:
        """Return what a notebook run with these parameters rests on besides code: name to hash."""
        values = {**notebook.parameters, **given}
        values.pop("out", None)
        cells = [[c.get("cell_type"), cell_source(c), cell_tags(c)] for c in notebook.cells]
        texts = {
            "the notebook": json.dumps(cells),
            "its parameters": json.dumps(values, sort_keys=True, default=repr),
        }
        folders = {f for word in _words(values.values()) for f in self._data(word)}
        return {
            **self._base,
            **{name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()},
            **{self._named(folder): self._folder(folder) for folder in sorted(folders)},
        }

    def code(self, notebook: Notebook) -> dict[str, str]:
        """Return the functions of the package that a notebook can reach: name to hash."""
        return self._code.reached(cell_source(c) for c in notebook.cells if c.get("cell_type") == "code")

    def _named(self, folder: Path) -> str:
        return folder.relative_to(self.root).as_posix() if folder.is_relative_to(self.root) else str(folder)

    def datasets(self, notebook: Notebook, given: Mapping[str, Any]) -> list[str]:
        """Return the folders of the datasets that a notebook run with these parameters rests on."""
        words = _words({**notebook.parameters, **given}.values())
        folders = {f for word in words for f in self._data(word)}
        return sorted(str(f) for f in folders if (f / "cases.jsonl").is_file())

    def _data(self, word: str) -> Iterator[Path]:
        """Yield the dataset and cache folders that a parameter names, and the dataset of a cache."""
        name = re.fullmatch(r"[\w.-]+", word) is not None
        named = [self.root / "data" / kind / word for kind in ("cases", "cache")] if name else []
        for folder in [*named, *([Path(word)] if os.sep in word else [])]:
            if not folder.is_dir():
                continue
            yield folder
            if (folder / "run.toml").is_file() and (cases := dataset_folder(folder)) is not None:
                yield cases

    def _folder(self, folder: Path) -> str:
        if folder not in self._folders:
            files = sorted(p for p in folder.rglob("*") if p.is_file()) if folder.is_dir() else []
            rows = [f"{p.relative_to(folder)} {sha256_of(p)}" for p in files]
            setting = os.environ.get("ICGKIT_IMAGES_" + folder.name.upper().replace("-", "_"), "")
            text = "\n".join([folder.name, setting, *rows])
            self._folders[folder] = hashlib.sha256(text.encode()).hexdigest()
        return self._folders[folder]


@cache
def _package(kinds: tuple[str, ...], without: frozenset[str] = frozenset()) -> str:
    """Return a hash of the package's files of some kinds, as they were when first asked for."""
    around = Path(__file__).parents[2]
    found = (p for package in PACKAGES for p in sorted((around / package).rglob("*")))
    files = [p for p in found if p.suffix in kinds and p.parent.name not in without]
    rows = [f"{p.relative_to(around)} {sha256_of(p)}" for p in files]
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def _words(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield from (part.strip() for part in value.split(","))
        elif isinstance(value, (list, tuple, set)):
            yield from _words(value)
        elif isinstance(value, dict):
            yield from _words(value.values())
