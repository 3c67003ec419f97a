"""Measures for yes/no outcomes nested in cases: frames in, frames out.

Every function takes a tidy frame (polars, lazy polars, pandas, Arrow) and returns a tidy polars
frame with a `status` column. Importing this package loads numpy and polars; scipy and statsmodels
are loaded by the few functions that need them.
"""

from __future__ import annotations

from icgkit.metrics.agreement import agreement
from icgkit.metrics.annotators import audit, fleiss
from icgkit.metrics.gee import gee
from icgkit.metrics.inference import differences, ratio, spread
from icgkit.metrics.paired import cohens_d, mcnemar, permutation
from icgkit.metrics.planning import plan_tests, satisfaction
from icgkit.metrics.precision import leakage, precision, rejection
from icgkit.metrics.ranks import adjust, spearman
from icgkit.metrics.recall import gap, recall

__all__ = [
    "adjust",
    "agreement",
    "audit",
    "cohens_d",
    "differences",
    "fleiss",
    "gap",
    "gee",
    "leakage",
    "mcnemar",
    "permutation",
    "plan_tests",
    "precision",
    "ratio",
    "recall",
    "rejection",
    "satisfaction",
    "spearman",
    "spread",
]
