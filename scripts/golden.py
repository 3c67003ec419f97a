"""Hashes of all that a redesign must not change: run it before and after.

    python scripts/golden.py > now.json
    python scripts/golden.py --compare tests/data/golden.json
    python scripts/golden.py --quick --compare tests/data/golden.json

Only public functions are used, so that it survives moves. A recorded answer hangs on its request key, a printed
number on the order of draws: who changes one of these on purpose writes tests/data/golden.json anew and says why.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import polars as pl

import icgkit as ig
from icgkit.calls.cache import Cache
from icgkit.calls.record import Record
from icgkit.calls.request import Request, request_key
from icgkit.cases.images import prepare
from icgkit.files import project_root
from icgkit.prompts.conditions import conditions, stages

DATASETS, CACHES = ("icg-scenes", "icg-teb"), ("offline", "offline-teb")
QUICK = 12
"""Cases of each dataset whose messages and pictures are hashed by the quick run."""


def digest(parts: Iterable[str | bytes]) -> str:
    """Return one hash (32 hex digits) of parts, each with its length before it."""
    found = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        found.update(f"{len(data)}:".encode() + data)
    return found.hexdigest()[:32]


def datasets() -> dict[str, str]:
    """Hash the files of the shipped datasets, and each case as it is written."""
    found = {}
    for name in DATASETS:
        folder = project_root() / "data" / "cases" / name
        for file in ("cases.jsonl", "dataset.toml"):
            found[f"{name}/{file}"] = digest([(folder / file).read_bytes()])
        found[f"{name}/written"] = digest(case.to_json() for case in ig.load_dataset(name))
    return found


def templates() -> dict[str, str]:
    """Return the hash of every condition and stage as the package states it."""
    return {name: c.sha256 for name, c in {**conditions(), **stages()}.items()}


def messages(cases: int | None) -> dict[str, str]:
    """Hash prepared pictures and request keys of two conditions, of the dataset whose pictures are shipped."""
    found = {}
    for name in DATASETS[:1]:
        data = list(ig.load_dataset(name))[:cases]
        pictures = [prepare(case.image_path) for case in data]
        found[f"{name}/pictures"] = digest(p.data for p in pictures)
        found[f"{name}/keys"] = digest(
            request_key(
                Request(model, ig.build_messages(case, condition), {"temperature": 0, "max_tokens": 4096})
            )
            for case in data
            for condition in ("icg_self", "direct")
            for model in ("gpt-4o", "anthropic/claude-sonnet-4-5", "offline/priors")
        )
    return found


def recorded() -> dict[str, str]:
    """Hash the columns, the order and the answers to models of the shipped caches."""
    found = {}
    for name in CACHES:
        frame = Cache(project_root() / "data" / "cache" / name, mode="replay").frame()
        found[f"{name}/columns"] = digest(f"{c}:{t}" for c, t in frame.schema.items())
        asked = frame.filter(pl.col("kind") == "elicit")
        found[f"{name}/answers"] = digest(
            f"{key} {text}" for key, text in asked.select("key", "text").iter_rows()
        )
    return found


def line() -> dict[str, str]:
    """Hash the line that a fixed record is written as."""
    record = Record(
        key="0" * 32, kind="elicit", dataset="d", case_id="c", condition="direct", model="m", text="é\u2028 x\n",
        input_tokens=3, output_tokens=4, created="2026-01-01T00:00:00Z",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        store = Cache(folder)
        store.put(record)
        store.close()
        written = b"".join(p.read_bytes() for p in sorted(Path(folder).glob("calls-*.jsonl")))
    return {"jsonl": digest([written])}


def schemas() -> dict[str, str]:
    """Hash the columns with types and the key of every schema."""
    return {
        name: digest([*(f"{c}:{t!s}" for c, t in s.dtypes.items()), "key", *s.key])
        for name, s in ig.schemas.SCHEMAS.items()
    }


def numbers() -> dict[str, str]:
    """Hash intervals of fixed seeds: they hang on the order of bootstrap draws and permutations."""
    run = ig.load_results("offline")
    frame = run.judgments.filter(pl.col("judge") == pl.col("judge").first())
    found = ig.metrics.recall(frame, by=["model", "condition"], ci=ig.Bootstrap(n=200, seed=7))
    return {
        "bootstrap": digest(f"{v:.10g}" for v in found.select("estimate", "low", "high").to_numpy().ravel())
    }


def golden(quick: bool = False) -> dict[str, dict[str, str]]:
    """Return part to name to hash; the quick run leaves out whole datasets of pictures, and drawing."""
    parts: dict[str, Callable[[], dict[str, str]]] = {
        "datasets": datasets, "templates": templates, "first_messages": lambda: messages(QUICK), "recorded": recorded,
        "line": line, "schemas": schemas,
    }  # fmt: skip
    if not quick:
        parts |= {"messages": lambda: messages(None), "numbers": numbers}
    return {name: part() for name, part in parts.items()}


def differences(then: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Name what is another now, of the parts that were run now."""
    return [
        f"{part}: {name}"
        for part in now
        for name in sorted({*then.get(part, {}), *now[part]})
        if then.get(part, {}).get(name) != now[part].get(name)
    ]


def main() -> int:
    """Print the hashes, or what differs from a file of them."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("--quick", action="store_true")
    asked.add_argument("--compare", type=Path)
    options = asked.parse_args()
    found = golden(options.quick)
    if options.compare is None:
        print(json.dumps(found, indent=1, sort_keys=True))
        return 0
    wrong = differences(json.loads(options.compare.read_text(encoding="utf-8")), found)
    print("\n".join(wrong) or f"{sum(map(len, found.values()))} hashes, all the same")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
