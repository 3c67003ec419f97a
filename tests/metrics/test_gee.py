"""GEE: by hand, at the edges, as properties. Against other software: test_metrics_checks."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from icgkit import metrics
from icgkit.errors import SchemaError, UnknownName


def rows(direct: list[bool | None], oracle: list[bool | None], nodes: int = 1) -> pl.DataFrame:
    parts = []
    for condition, found in (("direct", direct), ("oracle", oracle)):
        parts.append(
            pl.DataFrame(
                {
                    "case_id": [f"c{i // nodes:03}" for i in range(len(found))],
                    "condition": [condition] * len(found),
                    "found": found,
                },
                schema_overrides={"found": pl.Boolean},
            )
        )
    return pl.concat(parts)


# Balanced clusters of one row a condition: the estimates are those of the two by two table.
# direct 20 of 60, oracle 45 of 60: odds ratio (45/15) / (20/40) = 6.
BALANCED = rows([i % 3 == 0 for i in range(60)], [i % 4 != 0 for i in range(60)])


def test_by_hand() -> None:
    fit = metrics.gee(BALANCED, terms="condition")
    assert fit["odds_ratio"].to_list() == pytest.approx([0.5, 6.0])
    assert fit["status"].to_list() == ["ok", "ok"]
    row = fit.row(1, named=True)
    assert (row["term"], row["value"], row["reference"], row["n_scored"]) == (
        "condition",
        "oracle",
        "direct",
        120,
    )


def test_missing_rows_are_left_out_and_counted() -> None:
    holed = pl.concat([BALANCED, BALANCED.with_columns(found=pl.lit(None, dtype=pl.Boolean))])
    fit = metrics.gee(holed, terms="condition")
    assert fit["odds_ratio"].to_list() == pytest.approx([0.5, 6.0])
    assert fit["n_missing"].to_list() == [120, 120]


@pytest.mark.parametrize(
    ("frame", "status"),
    [
        (rows([i % 2 == 0 for i in range(60)], [True] * 60), "separation: every outcome of oracle is true"),
        (rows([i % 2 == 0 for i in range(60)], [i % 3 == 0 for i in range(60)], nodes=60), "one cluster"),
        (rows([i % 2 == 0 for i in range(6)], [i % 3 == 0 for i in range(6)]), "too few for a p-value"),
        (rows([i % 2 == 0 for i in range(20)], [i % 3 == 0 for i in range(20)]), "likely too small"),
    ],
)
def test_unsound_fits_are_flagged_and_print_no_p(frame: pl.DataFrame, status: str) -> None:
    row = metrics.gee(frame, terms="condition").row(1, named=True)
    assert status in row["status"]
    if "too small" not in status:
        assert row["p_value"] is None


def test_both_engines_agree_on_uneven_clusters_with_missing_rows() -> None:
    rng = np.random.default_rng(0)
    n = 400
    frame = pl.DataFrame(
        {
            "case_id": [f"c{i}" for i in rng.integers(0, 50, n)],
            "condition": rng.choice(["direct", "cot", "oracle"], n),
            "model": rng.choice(["a", "b"], n),
            "length": rng.normal(size=n).round(1),
            "found": rng.random(n) < 0.6,
        }
    ).with_columns(found=pl.when(pl.Series(rng.random(n) < 0.1)).then(None).otherwise("found"))
    options = {"terms": ["condition", "model", "length"], "reference": {"model": "a"}}
    fast = metrics.gee(frame, **options)  # type: ignore[arg-type]
    slow = metrics.gee(frame, **options, engine="statsmodels")  # type: ignore[arg-type]
    for column in ("estimate", "se", "correlation"):
        assert fast[column].to_numpy() == pytest.approx(slow[column].to_numpy(), abs=1e-8)
    formula = metrics.gee(frame, formula="C(condition, Treatment('direct')) * C(model)")
    assert formula.height == 6


def test_wrong_terms_are_named() -> None:
    with pytest.raises(UnknownName, match="nowhere"):
        metrics.gee(BALANCED, terms="condition", reference={"condition": "nowhere"})
    with pytest.raises(SchemaError, match="determine each other"):
        metrics.gee(BALANCED.with_columns(again=pl.col("condition")), terms=["condition", "again"])
    with pytest.raises(SchemaError, match="no cluster"):
        metrics.gee(BALANCED.with_columns(case_id=pl.lit(None, dtype=pl.String)), terms="condition")
    with pytest.raises(SchemaError, match="1 level"):
        metrics.gee(BALANCED.filter(condition="direct"), terms="condition")


def test_order_and_names_do_not_matter() -> None:
    want = metrics.gee(BALANCED, terms="condition")
    assert metrics.gee(BALANCED.reverse(), terms="condition").equals(want)
    renamed = BALANCED.with_columns(case_id=pl.col("case_id").str.reverse())
    assert metrics.gee(renamed, terms="condition")["se"].to_list() == pytest.approx(want["se"].to_list())
