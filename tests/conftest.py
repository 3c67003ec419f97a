"""Fixtures that several test files share."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

# Helpers that stand beside the tests (the fault server) are imported by name.
sys.path.insert(0, str(Path(__file__).parent))
# A model library asks for its price map over the network unless told otherwise.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("MPLBACKEND", "Agg")

import pytest

import icgkit as ig


@pytest.fixture
def case() -> ig.Case:
    """A small case with two nodes and one edge between them."""
    return ig.Case(
        id="demo-1",
        image="demo.png",
        image_size=(640, 480),
        instruction='Change "50% OFF" to "30% OFF".',
        source="synthetic",
        target=ig.Target(
            element="50% OFF", region="banner at the top", action="becomes 30% OFF", bbox=(10, 10, 200, 60)
        ),
        constraint_nodes=(
            ig.Constraint(
                id="n1",
                region="price under the kettle",
                region_clean="a line below the picture",
                subtype="semantic_numerical",
                expected_update="$50 becomes $70",
                reason="the price is 100 less the discount",
                reason_anon="a value elsewhere is derived from the edited one",
                bbox=(30, 300, 120, 340),
            ),
            ig.Constraint(
                id="n2",
                region="starburst",
                subtype="semantic_promotional",
                expected_update="HALF PRICE goes",
                reason="30 % is not half",
                strength="weak",
            ),
        ),
        inter_constraints=(
            ig.Edge(between=("n1", "n2"), type="agreement", description="both state the same reduction"),
        ),
        metadata={"knobs": {"distance": 0.25}, "note": "a\u2028b"},
    )


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project of its own, which the package takes for the one it belongs to."""
    for folder in ("data/cases/tiny", "data/cache/offline", "data/published", "notebooks"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setenv("ICGKIT_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def make_notebook(project: Path) -> Callable[..., Path]:
    """Write a notebook with a parameters cell and the given code cells."""

    def make(
        name: str,
        *cells: str,
        parameters: str = 'cache = "offline"\nout = ""\nseed = 42',
        kernel: str = "no-such-kernel",
        tags: tuple[str, ...] = ("parameters",),
    ) -> Path:
        rows = [(parameters, list(tags)), *((cell, []) for cell in cells)]
        code = [
            {
                "cell_type": "code",
                "execution_count": None,
                "id": f"cell-{i}",
                "metadata": {"tags": t} if t else {},
                "outputs": [],
                "source": source.splitlines(keepends=True),
            }
            for i, (source, t) in enumerate(rows)
        ]
        meta = {"kernelspec": {"display_name": "x", "language": "python", "name": kernel}}
        notebook = {"cells": code, "metadata": meta, "nbformat": 4, "nbformat_minor": 5}
        path = project / "notebooks" / f"{name}.ipynb"
        path.write_text(json.dumps(notebook), encoding="utf-8")
        return path

    return make
