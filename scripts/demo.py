"""Write the twelve cases that `icgkit init` puts into a new project: icgkit/demo, of the public part of icg-scenes.

python scripts/demo.py
"""

from __future__ import annotations

import shutil

import icgkit as ig
from icgforge.scenes import CANARY
from icgkit.files import project_root

N = 12

HEAD = """# Written by scripts/demo.py from icg-scenes. {canary}
name = "demo"
version = "{version}"
licence = "CC0-1.0"
provenance = "{n} cases of icg-scenes {version}"
image_root = "."
"""


def main() -> None:
    """Choose the cases and copy their pictures and reference edits."""
    scenes = ig.load_dataset("icg-scenes")
    assert scenes.folder is not None
    public = scenes.subset([c.id for c in scenes if c.metadata["split"] == "public"])
    chosen = ig.views.spread_cases(public, n=N)
    out = project_root() / "icgkit" / "demo"
    shutil.rmtree(out, ignore_errors=True)
    for case in chosen:
        for name in (case.image, f"after/{case.id}.webp"):
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(scenes.folder / name, out / name)
    ig.write_cases(chosen, out / "cases.jsonl")
    (out / "dataset.toml").write_text(
        HEAD.format(canary=CANARY, version=scenes.version, n=N), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
