"""A folder to work in for those who installed the package without a checkout, and what a folder has."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib import resources
from importlib.metadata import entry_points
from pathlib import Path

from icgkit.errors import SchemaError
from icgkit.files import project_root, write_whole

STUDY = """# What is asked of whom, who judges, within which limits. Run it: icgkit run my-study.toml
dataset = "demo"
models = ["offline/priors"]          # any litellm name: "openai/gpt-4o", "anthropic/...", "hosted_vllm/..."
conditions = ["direct", "nl_self"]
cache = "my-study"

[[judges]]
name = "offline/judge"
kinds = ["recall", "precision"]

[limits]
budget = 5.0                         # US dollars for everything in the cache
"""


def shipped(name: str) -> Path:
    """Return a folder of the checkout (`notebooks`, `data/published`), or as it lies in the installed package."""
    inside = Path(str(resources.files("icgkit"))) / Path(name).name
    return inside if inside.is_dir() else project_root() / name


def init(folder: str | Path) -> list[str]:
    """Make a project: notebooks, twelve drawn cases, a study file; return what to do next, in lines.

    Raises
    ------
    SchemaError
        If the folder holds a project already.
    """
    folder = Path(folder)
    if (folder / "data" / "cases").is_dir():
        raise SchemaError(f"{folder} holds a project already", remedy="give another folder")
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    shutil.copytree(shipped("notebooks"), folder / "notebooks", ignore=shutil.ignore_patterns("B_*", ".*"))
    shutil.copytree(shipped("data/published"), folder / "data" / "published")
    shutil.copytree(str(resources.files("icgkit") / "demo"), folder / "data" / "cases" / "demo")
    write_whole(folder / "my-study.toml", STUDY.encode())
    write_whole(folder / ".gitignore", b".env\n.reproduce/\n")
    return [
        f"made {folder}: {len(list((folder / 'notebooks').glob('*.ipynb')))} notebooks, 12 drawn cases, my-study.toml",
        f"next: cd {folder}",
        "      icgkit run my-study.toml",
        "      icgkit reproduce --param cache=my-study --only T2",
        "      jupyter lab notebooks/00_start_here.ipynb",
    ]


def listing() -> Iterator[str]:
    """Yield what there is to work with, one line each: datasets, caches, conditions, kinds of judging, models without a key."""
    from icgkit.judge.kinds import kinds
    from icgkit.prompts.conditions import conditions

    root = project_root()
    yield f"project     {root}"
    for kind, name in (("cases", "dataset"), ("cache", "cache")):
        base = root / "data" / kind
        for folder in sorted(p for p in base.iterdir() if p.is_dir()) if base.is_dir() else []:
            yield f"{name:<11} {folder.name}"
    for condition in conditions().values():
        yield f"condition   {condition.id:<16} {condition.label}"
    for rule in kinds().values():
        yield f"judging     {rule.id:<16} {rule.label}"
    for entry in sorted(entry_points(group="icgkit.models").names):
        yield f"models      {entry}/..."
