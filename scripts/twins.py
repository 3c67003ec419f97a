"""Ask the reference baselines about the twins of icg-scenes and judge what they say of nodes that are not forced there.

python scripts/twins.py    writes data/bench/twins
"""

from __future__ import annotations

import shutil

import icgkit as ig
from icgkit.calls.cache import Cache
from icgkit.cases.twins import absent_nodes, load_twins
from icgkit.files import project_root
from icgkit.study.elicit import elicit

MODELS = ("offline/instruction-only", "offline/priors", "offline/ocr-rules", "offline/ocr-vision")
CONDITIONS, JUDGE = ("direct", "nl_self"), "offline/judge"


def main() -> None:
    """Make the cache anew."""
    folder = project_root() / "data" / "bench" / "twins"
    shutil.rmtree(folder, ignore_errors=True)
    cache = Cache(folder)
    scenes = ig.load_dataset("icg-scenes")
    twins = load_twins(scenes)
    answers = elicit(twins, CONDITIONS, MODELS, cache=cache)
    marked = ig.judge_recall(answers, absent_nodes(twins, scenes), JUDGE, cache=cache)
    cache.pack()
    marked.write_parquet(folder / "judgments.parquet", compression="zstd")


if __name__ == "__main__":
    main()
