"""A small store of what was read from an image: one JSON file an image, never a pickle.

It lies below ICGKIT_OFFLINE_STORE, else in the user's cache folder. A file that cannot be read is
made anew; losing the store costs time and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

VERSIONS = {"ocr": "2", "see": "4"}
"""Raised when what is read changes, so that old files are not used."""
_MEMORY: OrderedDict[str, Any] = OrderedDict()
_MEMORY_ITEMS = 4096


def store_folder() -> Path:
    """Return the folder of the store (it may not exist yet)."""
    if setting := os.environ.get("ICGKIT_OFFLINE_STORE"):
        return Path(setting)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "icgkit" / "offline"


def remember(kind: str, parts: tuple[str | bytes, ...], make: Callable[[], Any]) -> Any:
    """Return the stored JSON value for `parts`, or make and store it."""
    digest = hashlib.sha256()
    for part in (VERSIONS.get(kind, "1"), kind, *parts):
        blob = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        digest.update(len(blob).to_bytes(8, "big") + blob)
    name = f"{kind}-{digest.hexdigest()[:40]}"
    if name in _MEMORY:
        _MEMORY.move_to_end(name)
        return _MEMORY[name]
    path = store_folder() / f"{name}.json"
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        value = make()
        _write(path, value)
    _MEMORY[name] = value
    if len(_MEMORY) > _MEMORY_ITEMS:
        _MEMORY.popitem(last=False)
    return value


def _write(path: Path, value: Any) -> None:
    """Write whole or not at all; a store that cannot be written is done without."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(value, stream, ensure_ascii=False, allow_nan=False)
        os.replace(temporary, path)
    except OSError:
        return
