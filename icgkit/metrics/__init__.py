"""Measures for yes/no outcomes nested in cases: frames in, frames out.

Every function takes a tidy frame (polars, lazy polars, pandas, Arrow) and returns a tidy polars
frame with a `status` column. Importing this package loads numpy and polars; scipy and statsmodels
are loaded by the few functions that need them.
"""

from __future__ import annotations

from icgkit.metrics._output import gives_frame, set_output
from icgkit.metrics.agreement import agreement
from icgkit.metrics.annotators import audit, fleiss
from icgkit.metrics.contrasts import equivalence, gap_by, rate_trend
from icgkit.metrics.correction import corrected, corrected_gap
from icgkit.metrics.correction_outside import corrected_outside
from icgkit.metrics.crossed import crossed
from icgkit.metrics.effect_size import cohens_d
from icgkit.metrics.extremes import ratio, spread
from icgkit.metrics.gee import gee
from icgkit.metrics.inference import differences
from icgkit.metrics.intervals import Bootstrap, Wilson
from icgkit.metrics.items import item_response
from icgkit.metrics.missing import bounds
from icgkit.metrics.paired import mcnemar, permutation
from icgkit.metrics.planning import plan_tests, satisfaction
from icgkit.metrics.power import case_sd, cases_needed, power_difference, power_from_pilot
from icgkit.metrics.power_kappa import power_kappa
from icgkit.metrics.precision import leakage, precision, rejection
from icgkit.metrics.ranks import adjust, spearman
from icgkit.metrics.recall import gap, recall
from icgkit.metrics.utility import utility

__all__ = [
    "Bootstrap",
    "Wilson",
    "adjust",
    "agreement",
    "audit",
    "bounds",
    "case_sd",
    "cases_needed",
    "cohens_d",
    "corrected",
    "corrected_gap",
    "corrected_outside",
    "crossed",
    "differences",
    "equivalence",
    "fleiss",
    "gap",
    "gap_by",
    "gee",
    "item_response",
    "leakage",
    "mcnemar",
    "permutation",
    "plan_tests",
    "power_difference",
    "power_from_pilot",
    "power_kappa",
    "precision",
    "rate_trend",
    "ratio",
    "recall",
    "rejection",
    "satisfaction",
    "set_output",
    "spearman",
    "spread",
    "utility",
]

for _name in __all__:
    if _name not in ("Bootstrap", "Wilson", "set_output"):
        globals()[_name] = gives_frame(globals()[_name])
del _name
