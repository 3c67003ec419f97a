"""Judgments of any size for the benchmarks: 461 cases, 776 nodes, 4 models, 12 conditions, times a scale."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

MODELS = [f"provider/model-{m}" for m in range(4)]
CONDITIONS = [f"condition_{c:02}" for c in range(12)]
BLOCK = 50  # scales written to one file


def judgments(scale: int = 1, *, start: int = 0, seed: int = 0, missing: float = 0.0) -> pl.DataFrame:
    """Draw 37,248 rows for each scale, cases numbered from `start`."""
    rng = np.random.default_rng([seed, start])
    cases = 461 * scale
    per_case = np.ones(cases, dtype=np.int64)
    np.add.at(per_case, rng.integers(0, cases, size=315 * scale), 1)
    case = np.repeat(np.arange(cases), per_case)
    node = np.arange(len(case)) - np.repeat(np.cumsum(per_case) - per_case, per_case)
    u = rng.standard_normal(cases)[case]
    ids = pl.Series([f"case-{i + start:07}" for i in range(cases)]).gather(case)
    nodes = pl.Series([f"n{i}" for i in range(int(node.max()) + 1)]).gather(node)
    parts = []
    for m, model in enumerate(MODELS):
        for c, condition in enumerate(CONDITIONS):
            found = pl.Series(rng.random(len(case)) < 1 / (1 + np.exp(-(u + 0.3 * m + 0.2 * c - 1))))
            if missing:
                found = found.set(pl.Series(rng.random(len(case)) < missing), None)
            parts.append(
                pl.DataFrame({"case_id": ids, "node_id": nodes, "found": found}).with_columns(
                    model=pl.lit(model), condition=pl.lit(condition)
                )
            )
    return pl.concat(parts)


def files(scale: int, folder: Path) -> Path:
    """Write the judgments as Parquet files, block by block; return the pattern that reads them."""
    target = folder / f"judgments-{scale}"
    if not target.is_dir():
        target.mkdir(parents=True)
        for k, start in enumerate(range(0, scale, BLOCK)):
            part = judgments(min(BLOCK, scale - start), start=461 * start)
            part.write_parquet(target / f"{k:03}.parquet")
    return target / "*.parquet"
