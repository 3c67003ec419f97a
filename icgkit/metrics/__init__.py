"""Measures for yes/no outcomes nested in cases: frames in, frames out.

Every function takes a tidy frame (polars, lazy polars, pandas, Arrow) and returns a tidy polars
frame with a `status` column. Importing this package loads numpy and polars; scipy and statsmodels
are loaded by the few functions that need them.
"""

from __future__ import annotations

from icgkit.metrics.inference import differences, ratio, spread
from icgkit.metrics.recall import gap, recall

__all__ = ["differences", "gap", "ratio", "recall", "spread"]
