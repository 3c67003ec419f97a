"""Datasets and runs in the forms of other programs, and back: Hugging Face, Inspect, COCO and FiftyOne, two harnesses."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from icgkit.errors import CallError
from icgkit.files import write_whole


def other(name: str) -> Any:
    """Import another program's package, or say how to install it."""
    try:
        return import_module(name)
    except ImportError as exc:
        what = f"the package {name.partition('.')[0]} is not installed ({exc})"
        raise CallError(what, remedy="pip install 'icgkit[exchange]'") from None


def put(path: Path, data: bytes) -> None:
    """Write a file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, data)
