"""Bounds on the audit of icg-synth as it stands in the gallery; `icgkit reproduce --check` holds the numbers."""

from __future__ import annotations

import polars as pl
import pytest

from icgkit.files import project_root

FIGURES = project_root() / "figures"
BOUND = 0.15


@pytest.mark.parametrize(
    "seen",
    [
        "instruction",
        "instruction, number of nodes",
        "image statistics, unseen templates",
        "image statistics, seen templates",
    ],
)
def test_what_must_not_give_the_answer_away_stays_below_the_bound(seen: str) -> None:
    rows = pl.read_csv(FIGURES / "S-audit.csv").filter(seen=seen, edit_type="all")
    assert rows.height == 1
    assert rows["n"].item() >= 400
    assert rows["above"].item() <= BOUND


def test_every_recomputed_fact_is_right_and_nothing_repeats() -> None:
    checks = pl.read_csv(FIGURES / "S-audit-truth.csv")
    assert checks["wrong"].sum() == 0
    assert {"fact: angle", "fact: length"} <= set(checks.filter(pl.col("n") > 0)["check"])
    assert checks.filter(pl.col("check").str.contains("boxes|twins"))["n"].to_list() == [1237, 461, 461]
    computed = checks.filter(pl.col("check").str.starts_with("fact"), pl.col("n") > 0)
    assert {"fact: weekday", "fact: sum", "fact: product", "fact: length", "fact: percent off"} <= set(
        computed["check"]
    )
