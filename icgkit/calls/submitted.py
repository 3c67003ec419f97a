"""The files of submitted batches in a cache folder: which calls a provider still has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = "batches"


def files(folder: Path) -> list[Path]:
    """Return the files of the submissions that were not collected yet."""
    return sorted((Path(folder) / FOLDER).glob("*.jsonl"))


def lines(path: Path) -> list[dict[str, Any]]:
    """Read a submission: a record without an answer for each call, then what is known of the batch."""
    return [json.loads(x) for x in path.read_text(encoding="utf-8").split("\n") if x]


def pending(folder: Path) -> frozenset[str]:
    """Return the keys of calls that were submitted and not collected; they are paid already."""
    return frozenset(str(line["key"]) for path in files(folder) for line in lines(path) if "key" in line)
