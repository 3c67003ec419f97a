"""Write the tables that reference.R reads: small, seeded, with clusters, missing cells and two judges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

HERE = Path(__file__).parent


def judged(cases: int = 60, seed: int = 7) -> pl.DataFrame:
    """Draw 60 cases of one to four nodes, three models, three conditions, two judges."""
    rng = np.random.default_rng(seed)
    rows = []
    for c in range(cases):
        u = rng.normal(0, 1)
        for n in range(int(rng.integers(1, 5))):
            v = rng.normal(0, 0.8)
            for m, ability in (("m1", 0.0), ("m2", 0.6), ("m3", -0.5)):
                for k, lift in (("direct", -0.3), ("cot", 0.2), ("oracle", 1.8)):
                    found = rng.random() < 1 / (1 + np.exp(-(u + v + ability + lift)))
                    other = found if rng.random() < 0.88 else not found
                    rows.append((f"c{c:02}", f"n{n}", m, k, int(found), int(other)))
    return pl.DataFrame(
        rows, schema=["case_id", "node_id", "model", "condition", "found", "found2"], orient="row"
    )


if __name__ == "__main__":
    judged().write_csv(HERE / "judged.csv")
