"""Audit the scorer of edited images, and judges that see them, on edits made by program.

python scripts/edits.py    writes data/bench/edits
"""

from __future__ import annotations

import os
import tempfile

import icgkit as ig
from icgforge.edits import audit_judges, audit_scorer
from icgkit.files import project_root

JUDGES = ("offline/sees-change", "offline/reads-edit")


def main() -> None:
    """Score all of them anew."""
    folder = project_root() / "data" / "bench" / "edits"
    folder.mkdir(parents=True, exist_ok=True)
    found = audit_scorer(jobs=os.cpu_count() or 1)
    for name, frame in zip(("regions", "pictures"), found, strict=True):
        frame.write_parquet(folder / f"{name}.parquet", compression="zstd", compression_level=19)
    some = [c.id for c in ig.load_dataset("icg-scenes").cases[::6]]
    with tempfile.TemporaryDirectory() as calls:
        judged = audit_judges("icg-scenes", JUDGES, cache=ig.Cache(calls), cases=some)
    judged.write_parquet(folder / "judges.parquet", compression="zstd", compression_level=19)


if __name__ == "__main__":
    main()
