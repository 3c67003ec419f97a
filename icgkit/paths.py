"""Where data, caches and figures lie: in a checkout beside the package, elsewhere by setting."""

from __future__ import annotations

import os
from pathlib import Path

from icgkit.errors import UnknownName


def project_root() -> Path:
    """Return the folder that holds `data/`, `notebooks/` and `figures/`.

    The environment variable ICGKIT_HOME wins; then the checkout that the package runs from; then
    the nearest parent of the working directory that has a folder `data/cases`; then the working
    directory itself.
    """
    if home := os.environ.get("ICGKIT_HOME"):
        return Path(home)
    here = Path.cwd()
    for folder in (Path(__file__).resolve().parents[1], here, *here.parents):
        if (folder / "data" / "cases").is_dir():
            return folder
    return here


def named_folder(kind: str, name: str | Path) -> Path:
    """Resolve a dataset or cache: a path to a folder, or a name below `data/<kind>/`.

    Raises
    ------
    UnknownName
        If there is neither such a folder nor such a name.
    """
    direct = Path(name)
    if direct.is_dir() and (direct.is_absolute() or len(direct.parts) > 1):
        return direct
    base = project_root() / "data" / kind
    if (base / name).is_dir():
        return base / name
    known = [p.name for p in base.iterdir() if p.is_dir()] if base.is_dir() else []
    raise UnknownName.among(f"folder in data/{kind}", str(name), known)
