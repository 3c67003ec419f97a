"""Measures for yes/no outcomes nested in cases: frames in, frames out.

Every function takes a tidy frame (polars, lazy polars, pandas, Arrow) and returns a tidy polars
frame with a `status` column. Importing this package loads numpy and polars; scipy and statsmodels
are loaded by the few functions that need them. Docstrings name their sources in short.

References
----------
- Angelopoulos, Bates, Fannjiang, Jordan and Zrnic (2023), Prediction-powered inference, Science 382, 669-674.
- Angelopoulos, Duchi and Zrnic (2023), PPI++: efficient prediction-powered inference, arXiv:2311.01453.
- Baayen, Davidson and Bates (2008), Mixed-effects modeling with crossed random effects for subjects and
  items, J. Mem. Lang. 59, 390-412.
- Bates, Maechler, Bolker and Walker (2015), Fitting linear mixed-effects models using lme4, J. Stat. Softw.
  67(1).
- Benjamini and Hochberg (1995), Controlling the false discovery rate, JRSS B 57(1), 289-300.
- Bock and Aitkin (1981), Marginal maximum likelihood estimation of item parameters, Psychometrika 46,
  443-459.
- Bonett and Wright (2000), Sample size requirements for estimating Pearson, Kendall and Spearman
  correlations, Psychometrika 65(1), 23-28.
- Byrt, Bishop and Carlin (1993), Bias, prevalence and kappa, J. Clin. Epidemiol. 46, 423-429.
- Cameron, Gelbach and Miller (2011), Robust inference with multiway clustering, JBES 29(2), 238-249.
- Cantor (1996), Sample-size calculations for Cohen's kappa, Psychol. Methods 1, 150-153.
- Chow, Shao and Wang (2008), Sample Size Calculations in Clinical Research, 2nd ed.
- Cohen (1960), A coefficient of agreement for nominal scales, Educ. Psychol. Meas. 20, 37-46.
- Cohen (1988), Statistical Power Analysis for the Behavioral Sciences, 2nd ed.
- De Boeck (2008), Random item IRT models, Psychometrika 73(4), 533-559.
- Durkalski, Palesch, Lipsitz and Rust (2003), Analysis of clustered matched-pair data, Stat. Med. 22,
  2417-2428.
- Efron and Tibshirani (1993), An Introduction to the Bootstrap.
- Fagerland, Lydersen and Laake (2013), The McNemar test for binary matched-pairs data, BMC Med. Res. Meth.
  13:91.
- Field and Welsh (2007), Bootstrapping clustered data, JRSS B 69(3), 369-390.
- Fleiss (1971), Measuring nominal scale agreement among many raters, Psychol. Bull. 76, 378-382.
- Fleiss, Cohen and Everitt (1969), Large sample standard errors of kappa, Psychol. Bull. 72, 323-327.
- Gwet (2008), Computing inter-rater reliability and its variance in the presence of high agreement, Br. J.
  Math. Stat. Psychol. 61, 29-48.
- Hesterberg (2015), What teachers should know about the bootstrap, The American Statistician 69(4), 371-386.
- Holm (1979), A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6, 65-70.
- Horowitz and Manski (2000), Nonparametric analysis of randomized experiments with missing covariate and
  outcome data, JASA 95, 77-84.
- Hripcsak and Rothschild (2005), Agreement, the F-measure, and reliability in information retrieval, JAMIA
  12(3), 296-298.
- Konis (2007), Linear programming algorithms for detecting separated data in binary logistic regression
  models, DPhil thesis, Oxford.
- Krippendorff (2004), Content Analysis, 2nd ed.
- Lakens (2013), Calculating and reporting effect sizes, Frontiers in Psychology 4:863.
- Lakens (2017), Equivalence tests, Social Psychological and Personality Science 8(4), 355-362.
- Lang and Reiczigel (2014), Confidence limits for prevalence of disease adjusted for estimated sensitivity
  and specificity, Prev. Vet. Med. 113, 13-22.
- Liang and Zeger (1986), Longitudinal data analysis using generalized linear models, Biometrika 73(1), 13-22.
- Mancl and DeRouen (2001), A covariance estimator for GEE with improved small-sample properties, Biometrics
  57, 126-134.
- McNemar (1947), Note on the sampling error of the difference between correlated proportions, Psychometrika
  12, 153-157.
- Owen (2007), The pigeonhole bootstrap, Annals of Applied Statistics 1(2), 386-411.
- Phipson and Smyth (2010), Permutation p-values should never be zero, SAGMB 9(1), 39.
- Rogan and Gladen (1978), Estimating prevalence from the results of a screening test, Am. J. Epidemiol. 107,
  71-76.
- Schuirmann (1987), A comparison of the two one-sided tests procedure and the power approach, J. Pharmacokin.
  Biopharm. 15, 657-680.
- Trefethen and Weideman (2014), The exponentially convergent trapezoidal rule, SIAM Review 56(3), 385-458.
- Vickers and Elkin (2006), Decision curve analysis, Med. Decis. Making 26, 565-574.
- White (1982), Maximum likelihood estimation of misspecified models, Econometrica 50, 1-25.
- Wilson (1927), Probable inference, the law of succession, and statistical inference, JASA 22, 209-212.
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
