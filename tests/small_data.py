"""A dataset of a few drawn pictures, for tests that need one of their own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from icgkit.cases.case import Case, Constraint, Target
from icgkit.cases.dataset import write_cases


def write_small(folder: Path, name: str = "mine", n: int = 3, update: str = "update") -> Sequence[Case]:
    """Write `n` cases with two nodes each; `update` is what the nodes ask for."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    cases = []
    for i in range(n):
        Image.new("RGB", (30, 20), (i * 40, 0, 0)).save(folder / "images" / f"{i}.png")
        nodes = [
            Constraint(id=f"n{k}", region=f"region {k}", subtype="semantic_numerical", expected_update=f"{update} {k}", reason=f"reason {k}")
            for k in (1, 2)
        ]  # fmt: skip
        cases.append(
            Case(
                id=f"c{i}", image=f"{i}.png", image_size=(30, 20), instruction=f"Edit {i}.", source="drawn",
                target=Target(element="a", region="b", action="c"), constraint_nodes=tuple(nodes),
            )
        )  # fmt: skip
    write_cases(cases, folder / "cases.jsonl")
    text = f'name="{name}"\nversion="1"\nlicence="CC0"\nprovenance="drawn"\nimage_root="images"\n'
    (folder / "dataset.toml").write_text(text, encoding="utf-8")
    return cases
