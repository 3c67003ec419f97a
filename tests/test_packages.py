"""The packages that the project stands on are used by its own code, not only listed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import icgkit

PACKAGES = (
    "papermill",
    "polars",
    "seaborn",
    "matplotlib",
    "statsmodels",
    "scipy",
    "pingouin",
    "litellm",
    "PIL",
)


def imported() -> set[str]:
    """Top-level names that the sources of icgkit import."""
    names: set[str] = set()
    for path in Path(icgkit.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {a.name.split(".")[0] for a in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("name", PACKAGES)
def test_every_package_of_the_stack_is_imported(name: str) -> None:
    assert name in imported()
