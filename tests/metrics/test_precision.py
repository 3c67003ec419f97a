"""Precision, rejection, leakage, audit: by hand and at the edges."""

from __future__ import annotations

import polars as pl
import pytest

from icgkit import metrics
from icgkit.errors import SchemaError


def test_precision_by_hand() -> None:
    # Case a: 2 of 3 valid; case b: 1 of 1; one verdict missing. Micro 3/4, macro (2/3 + 1) / 2.
    frame = pl.DataFrame(
        {
            "case_id": list("aaabb"),
            "model": "m",
            "condition": "nl_self",
            "valid": [True, True, False, True, None],
        }
    )
    assert metrics.precision(frame, ci=None)["estimate"][0] == pytest.approx(0.75)
    assert metrics.precision(frame, average="macro", ci=None)["estimate"][0] == pytest.approx(5 / 6)
    assert metrics.precision(frame, ci=None)["n_missing"][0] == 1
    with pytest.raises(SchemaError, match="missing column valid"):
        metrics.precision(frame.drop("valid"))


def test_precision_interval_counts_cases_as_statsmodels_would_cluster_them() -> None:
    # All proposals of a case alike: ten cases say as much as ten proposals, whatever their number.
    rows = pl.DataFrame(
        {
            "case_id": [f"c{i}" for i in range(10) for _ in range(20)],
            "valid": [i < 7 for i in range(10) for _ in range(20)],
        }
    )
    many = metrics.precision(rows, by=(), ci=metrics.Bootstrap(4000)).row(0, named=True)
    few = metrics.precision(rows.unique(), by=(), ci=metrics.Bootstrap(4000)).row(0, named=True)
    assert (many["low"], many["high"]) == pytest.approx((few["low"], few["high"]))


def test_rejection_separates_planted_from_true() -> None:
    frame = pl.DataFrame(
        {
            "case_id": list("aabbcc"),
            "model": "m",
            "planted": [True, False] * 3,
            "valid": [False, True, False, False, None, True],
        }
    )
    got = metrics.rejection(frame, ci=None)
    assert got["planted"].to_list() == [False, True]
    assert got["estimate"].to_list() == pytest.approx([1 / 3, 1.0])
    assert got["n_missing"].to_list() == [0, 1]


def test_leakage_shares_of_regions_add_up() -> None:
    frame = pl.DataFrame(
        {
            "case_id": list("abcd"),
            "model": "m",
            "form": "anon",
            "subtype_exact": [True, False, None, True],
            "region_match": ["match", "partial", None, "none"],
        }
    )
    got = {r["measure"]: r["estimate"] for r in metrics.leakage(frame).iter_rows(named=True)}
    assert got["subtype"] == pytest.approx(2 / 3)
    assert sum(v for k, v in got.items() if k != "subtype") == pytest.approx(1)


def test_audit_of_nothing_answered() -> None:
    frame = pl.DataFrame(
        {"case_id": ["a"], "exists": [None]}, schema={"case_id": pl.String, "exists": pl.Boolean}
    )
    row = metrics.audit(frame, dimensions=["exists"]).row(0, named=True)
    assert (row["estimate"], row["low"]) == (None, None)
    assert row["status"].startswith("nothing scored")
