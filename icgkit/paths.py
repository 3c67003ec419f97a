"""Where data, caches and figures lie: in a checkout beside the package, elsewhere by setting."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from icgkit.errors import SchemaError, UnknownName

MARKS = {"cases": ("dataset.toml", "cases.jsonl"), "cache": ("run.toml", "calls.parquet", "calls-*.jsonl")}
"""Files by which a folder in the working directory is known as a dataset or a cache."""


def python(*arguments: str) -> list[str]:
    """Return the command line of a child interpreter, which imports nothing from the working directory."""
    return [sys.executable, "-P", *arguments]


def bootstrap(call: str) -> str:
    """Return the code of a child (`-c`) that imports this very package before `call`.

    Where the package is found by the working directory alone, `-P` would hide it; its place then
    comes last.
    """
    place = str(Path(__file__).resolve().parents[1])
    return f"import sys, importlib.util as u; u.find_spec('icgkit') or sys.path.append({place!r}); {call}"


def project_root() -> Path:
    """Return the folder that holds `data/`, `notebooks/` and `figures/`.

    The environment variable ICGKIT_HOME wins; then the checkout that the package runs from; then
    the nearest parent of the working directory that has a folder `data/cases`; then the working
    directory itself.
    """
    if home := os.environ.get("ICGKIT_HOME"):
        return Path(home).expanduser().absolute()
    here = Path.cwd()
    for folder in (Path(__file__).resolve().parents[1], here, *here.parents):
        if (folder / "data" / "cases").is_dir():
            return folder
    return here


def is_path(name: str | Path) -> bool:
    """Say whether a dataset or cache is given by its path: it has a separator, or begins with `.` or `~`.

    Examples
    --------
    >>> is_path("my-run"), is_path("./my-run"), is_path("my-run/"), is_path("~/my-run")
    (False, True, True, True)
    """
    text = os.fspath(name)
    separators = [os.sep, "/", *([os.altsep] if os.altsep else [])]
    return text.startswith((".", "~")) or any(s in text for s in separators) or Path(text).is_absolute()


def folder_of(kind: str, name: str | Path, base: Path | None = None) -> Path:
    """Return the folder that a dataset (`kind` "cases") or a cache ("cache") is meant by, there or not.

    A path (see `is_path`) is meant from the working directory, or from `base` if it is there or
    nowhere (a study file's folder); `~` is the home directory. A bare name is a folder below
    `data/<kind>/`, else a folder of that name in the working directory that holds what marks such
    a folder, else the place below `data/<kind>/` where it would be.

    Raises
    ------
    SchemaError
        For an empty name, or one that no file system holds.
    """
    text = os.fspath(name)
    if not text.strip() or not text.isprintable() or max(map(len, Path(text).parts), default=1) > 255:
        raise SchemaError(
            f"name of a {'dataset' if kind == 'cases' else kind}",
            got=text,
            allowed="a name or the path of a folder",
        )
    if is_path(text):
        path = Path(os.path.expanduser(text))
        places = [path.absolute()] if base is None else [(base / path).absolute(), path.absolute()]
        found = next((p for p in places if p.is_dir()), places[0])
        return found.resolve() if ".." in found.parts else found
    shipped = project_root() / "data" / kind / text
    here = Path.cwd() / text
    if not shipped.is_dir() and any(any(here.glob(mark)) for mark in MARKS[kind]):
        return here
    return shipped


def named_folder(kind: str, name: str | Path) -> Path:
    """Return the folder of a dataset or cache that is there; see `folder_of`.

    Raises
    ------
    UnknownName
        If there is no such folder.
    """
    folder = folder_of(kind, name)
    if folder.is_dir():
        return folder
    base = project_root() / "data" / kind
    known = [p.name for p in base.iterdir() if p.is_dir()] if base.is_dir() else []
    what = "dataset" if kind == "cases" else "cache"
    if is_path(name):
        raise UnknownName(
            f"no {what} in {folder}", allowed=f"the path of a folder, or one of {', '.join(sorted(known))}"
        )
    raise UnknownName.among(f"{what} (folder in data/{kind})", str(name), known)
