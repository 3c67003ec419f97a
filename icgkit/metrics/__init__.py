"""Measures for yes/no outcomes nested in cases: frames in, frames out.

Every function takes a tidy frame (polars, lazy polars, pandas, Arrow) and returns a tidy polars
frame with a `status` column. Importing this package loads numpy and polars; scipy and statsmodels
are loaded by the few functions that need them.
"""

from __future__ import annotations

from icgkit.metrics._output import gives_frame, set_output
from icgkit.metrics.agreement import agreement
from icgkit.metrics.annotators import audit, fleiss
from icgkit.metrics.contrasts import Contrast, differences, equivalence, gap, gap_by
from icgkit.metrics.correction import corrected, corrected_gap, corrected_outside
from icgkit.metrics.crossed import crossed
from icgkit.metrics.extremes import ratio, spread
from icgkit.metrics.gee import gee
from icgkit.metrics.graphs import graph_agreement, match_nodes
from icgkit.metrics.intervals import Bootstrap, Sandwich, Wilson
from icgkit.metrics.items import item_response
from icgkit.metrics.mean import mean
from icgkit.metrics.paired import cohens_d, mcnemar, permutation, plan_tests
from icgkit.metrics.power import case_sd, cases_needed, power_difference, power_from_pilot, power_kappa
from icgkit.metrics.precision import leakage, precision, rejection, satisfaction
from icgkit.metrics.ranks import adjust, rate_trend, spearman
from icgkit.metrics.recall import bounds, recall
from icgkit.metrics.utility import utility

__all__ = [
    "Bootstrap",
    "Contrast",
    "Sandwich",
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
    "graph_agreement",
    "item_response",
    "leakage",
    "match_nodes",
    "mcnemar",
    "mean",
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
    if _name not in ("Bootstrap", "Contrast", "Sandwich", "Wilson", "set_output"):
        globals()[_name] = gives_frame(globals()[_name])
del _name
