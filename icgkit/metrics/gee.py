"""Generalised estimating equations for a yes/no outcome, solved on counts instead of rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from math import erfc, sqrt
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.errors import SchemaError, UnknownName
from icgkit.metrics import _input, _sums
from icgkit.metrics._gee_solve import Fit, fit_rows, solve
from icgkit.metrics.intervals import level_ok

Floats = NDArray[np.float64]
FEW = 40
"""Below this number of clusters robust errors are known to be too small."""


def gee(
    judgments: _input.IntoFrame,
    *,
    terms: str | Sequence[str] = ("condition", "model"),
    reference: Mapping[str, str] | None = None,
    value: str = "found",
    cluster: str = "case_id",
    working: Literal["exchangeable", "independence"] = "exchangeable",
    engine: Literal["counts", "statsmodels"] = "counts",
    formula: str | None = None,
    level: float = 0.95,
) -> pl.DataFrame:
    """Fit a logit GEE of the outcome on categorical or numeric terms, with robust errors.

    Parameters
    ----------
    judgments : frame
        One row a decision: `value`, `cluster` and the `terms`.
    terms : str or sequence of str
        Main effects. Text and Boolean columns are dummy coded, numeric ones enter as they are.
    reference : mapping, optional
        Reference level of each categorical term; "direct" and "gpt-4o" where those occur, else the
        first in alphabetical order.
    value, cluster : str
        The Boolean outcome (null is missing: left out, counted) and the column of the clusters.
    working : {"exchangeable", "independence"}
        Working correlation within a cluster.
    engine : {"counts", "statsmodels"}
        Closed form on counts per cluster and cell, or statsmodels on rows.
    formula : str, optional
        Right-hand side for statsmodels with any of its terms (interactions, transformations); implies
        that engine, and `reference` is then written into the formula.
    level : float
        Confidence level.

    Returns
    -------
    polars.DataFrame
        One row a coefficient: `term`, `value` (level; null for the intercept and numeric terms),
        `reference`, `coefficient` (log odds), `se` (robust), `odds_ratio`, `low`, `high` (of the odds
        ratio), `z`, `p_value`, `n_scored`, `n_missing` (rows), `n_clusters`, `correlation` (working,
        within cluster), `method`, `status`. `se`, `low`, `high`, `z` and `p_value` are null where the
        status says that they would not be sound.

    Raises
    ------
    SchemaError
        For null clusters, several judges or datasets, or terms that determine each other.
    UnknownName
        If a reference level does not occur.

    Notes
    -----
    With s = sqrt(mu (1 - mu)), e = (y - mu) / s and an exchangeable correlation a in clusters of n rows,
    R^-1 = (I - c J) / (1 - a), c = a / (1 + (n - 1) a), so that the score of a cluster is
    X's e - c (X's 1)(1'e) up to the factor 1 / (1 - a). All sums run over cells of equal covariates,
    hence over counts. The moment estimate of a has the degrees of freedom of statsmodels.

    References
    ----------
    Liang and Zeger (1986), Longitudinal data analysis using generalized linear models, Biometrika
    73(1), sections 2 and 3.

    Examples
    --------
    >>> import polars as pl
    >>> judgments = pl.DataFrame(
    ...     {
    ...         "case_id": [f"c{i}" for i in range(60)] * 2,
    ...         "condition": ["direct"] * 60 + ["oracle"] * 60,
    ...         "found": [i % 3 == 0 for i in range(60)] + [i % 4 != 0 for i in range(60)],
    ...     }
    ... )
    >>> fit = gee(judgments, terms="condition")
    >>> round(fit.filter(term="condition")["odds_ratio"][0], 6)  # (45 / 15) / (20 / 40)
    6.0
    """
    terms = _input.columns_of(terms)
    _input.one_of("working", working, ("exchangeable", "independence"))
    _input.one_of("engine", engine, ("counts", "statsmodels"))
    level_ok(level)
    frame = _input.into(judgments, where="judgments")
    _input.require(frame, [*terms, value, cluster], where="judgments")
    if formula is not None:
        terms = []
    _one_judge(frame, terms)
    unit = _sums.unit_columns(frame, cluster)
    _input.no_null(frame, unit, where="judgments", what="cluster")
    if formula is not None:
        return _by_formula(frame, formula, value, cluster, working, level)
    outcome = _input.binary(frame, value, where="judgments")
    counts = _sums.count(frame, outcome, terms, unit)
    known = ~counts.cells.select(pl.any_horizontal(pl.col(terms).is_null())).to_series().to_numpy()
    y, n = (x[known].T.astype(np.float64) for x in (counts.positive, counts.scored))
    n_total = int(counts.total.sum())
    cells = counts.cells.filter(pl.Series(known))
    used = n.sum(axis=0) > 0
    cells, y, n = cells.filter(pl.Series(used)), y[:, used], n[:, used]
    design, labels = _design(cells, terms, dict(reference or {}))
    if engine == "statsmodels":
        fit = fit_rows(design, y, n, working)
    else:
        fit = solve(design, y, n, exchangeable=working == "exchangeable")
    return _report(fit, design, labels, y, n, n_total, working, engine, level)


def _one_judge(frame: pl.DataFrame | pl.LazyFrame, terms: list[str]) -> None:
    for column in ("judge", "dataset"):
        if column in frame.collect_schema() and column not in terms:
            kinds = frame.lazy().select(pl.col(column).n_unique()).collect().item()
            if kinds > 1:
                raise SchemaError(
                    f"judgments hold {kinds} values of {column!r}", remedy="filter to one, or make it a term"
                )


def _design(
    cells: pl.DataFrame, terms: list[str], reference: dict[str, str]
) -> tuple[Floats, list[tuple[str, str | None, str | None]]]:
    """Build the design of the cells; labels are (term, value, reference)."""
    for name in reference:
        if name not in terms:
            raise UnknownName.among("term in reference", name, terms)
    columns: list[Floats] = [np.ones(cells.height)]
    labels: list[tuple[str, str | None, str | None]] = [("intercept", None, None)]
    for term in terms:
        values = cells.get_column(term)
        if values.dtype.is_numeric():
            columns.append(values.cast(pl.Float64).to_numpy())
            labels.append((term, None, None))
            continue
        levels = sorted(values.cast(pl.String).unique().to_list())
        usual = [u for u in ("direct", "gpt-4o", "gpt-4o (simulated)") if u in levels]
        base = str(reference.get(term, usual[0] if usual else (levels[0] if levels else "")))
        if levels and base not in levels:
            raise UnknownName.among(f"reference of {term}", base, levels)
        if len(levels) < 2:
            raise SchemaError(
                f"term {term!r} has {len(levels)} level with a scored row", got=levels, allowed="two or more"
            )
        text = values.cast(pl.String)
        for name in levels:
            if name != base:
                columns.append((text == name).cast(pl.Float64).to_numpy())
                labels.append((term, name, base))
    design = np.column_stack(columns)
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise SchemaError(
            f"terms {', '.join(terms)} determine each other in these data",
            allowed="terms whose effects can be told apart",
            remedy="leave one out, or filter to the rows where they cross",
        )
    return design, labels


def _report(
    fit: Fit, design: Floats, labels: list[tuple[str, str | None, str | None]], y: Floats, n: Floats,
    n_total: int, working: str, engine: str, level: float,
) -> pl.DataFrame:  # fmt: skip
    clusters = int((n.sum(axis=1) > 0).sum())
    flags = _flags(fit, clusters, design.shape[1])
    separated = _separated(design, labels, y.sum(axis=0), n.sum(axis=0), fit)
    z_level = NormalDist().inv_cdf((1 + level) / 2)
    rows = []
    for i, (term, name, base) in enumerate(labels):
        notes = list(flags)
        b, variance = float(fit.coefficients[i]), float(fit.covariance[i, i])
        se: float | None = float(np.sqrt(variance)) if variance > 0 else None
        if i in separated or (separated and i == 0):
            notes.append(separated.get(i, "shares the reference level's separation"))
            se = None
        if clusters < 2 or not fit.converged:
            se = None
        sound = se is not None and clusters > design.shape[1] and clusters >= 10
        z = b / se if se else None
        rows.append(
            {
                "term": term,
                "value": name,
                "reference": base,
                "coefficient": b if i not in separated else None,
                "se": se,
                "odds_ratio": float(np.exp(b)) if i not in separated and abs(b) < 700 else None,
                "low": float(np.exp(b - z_level * se)) if se else None,
                "high": float(np.exp(b + z_level * se)) if se else None,
                "z": z,
                "p_value": erfc(abs(z) / sqrt(2)) if sound and z is not None else None,
                "n_scored": int(n.sum()),
                "n_missing": n_total - int(n.sum()),
                "n_clusters": clusters,
                "correlation": fit.correlation,
                "method": f"GEE, logit, {working}, robust errors ({engine})",
                "status": "; ".join(notes) or "ok",
            }
        )
    return pl.DataFrame(rows, schema=_REPORT)


_REPORT: dict[str, Any] = {
    "term": pl.String, "value": pl.String, "reference": pl.String, "coefficient": pl.Float64,
    "se": pl.Float64, "odds_ratio": pl.Float64, "low": pl.Float64, "high": pl.Float64, "z": pl.Float64,
    "p_value": pl.Float64, "n_scored": pl.Int64, "n_missing": pl.Int64, "n_clusters": pl.Int64,
    "correlation": pl.Float64, "method": pl.String, "status": pl.String,
}  # fmt: skip


def _flags(fit: Fit, clusters: int, p: int) -> list[str]:
    if clusters < 2:
        return ["one cluster: no robust error"]
    if not fit.converged:
        return ["not converged"]
    if clusters <= p or clusters < 10:
        return [f"{clusters} clusters: too few for a p-value"]
    return [f"{clusters} clusters: robust errors are likely too small"] if clusters < FEW else []


def _separated(
    design: Floats, labels: list[tuple[str, str | None, str | None]], y: Floats, n: Floats, fit: Fit
) -> dict[int, str]:
    """Find coefficients that run off to infinity because a level has only one outcome."""
    out = {}
    for i, (term, name, base) in enumerate(labels):
        if name is None:
            continue
        here = design[:, i] == 1
        siblings = [j for j, (t, _, _) in enumerate(labels) if t == term]
        base_rows = design[:, siblings].sum(axis=1) == 0
        for rows, which in ((here, name), (base_rows, base)):
            share = y[rows].sum() / n[rows].sum()
            if share in (0.0, 1.0):
                out[i] = f"separation: every outcome of {which} is {'true' if share else 'false'}"
    if not out:
        out = {
            i: "separation: coefficient without bound"
            for i in range(1, len(labels))
            if abs(fit.coefficients[i]) > 15 and labels[i][1] is not None
        }
    return out


def _by_formula(
    frame: pl.DataFrame | pl.LazyFrame, formula: str, value: str, cluster: str, working: str, level: float
) -> pl.DataFrame:
    import pandas as pd
    import statsmodels.api as sm

    whole = frame.lazy().collect()
    kept = whole.filter(pl.col(value).is_not_null()).with_columns(
        _input.binary(whole, value).cast(pl.Float64).alias(value)
    )
    data = pd.DataFrame(kept.to_dict(as_series=False))
    structure = sm.cov_struct.Exchangeable() if working == "exchangeable" else sm.cov_struct.Independence()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sm.GEE.from_formula(
            f"{value} ~ {formula}",
            groups=cluster,
            data=data,
            family=sm.families.Binomial(),
            cov_struct=structure,
        )
        got = model.fit(maxiter=200, ctol=1e-10)
    correlation = float(structure.dep_params) if working == "exchangeable" else 0.0
    fit = Fit(np.asarray(got.params), np.asarray(got.cov_robust), correlation, bool(got.converged))
    labels: list[tuple[str, str | None, str | None]] = [(str(name), None, None) for name in model.exog_names]
    codes = pd.factorize(data[cluster])[0]
    n = np.bincount(codes).astype(np.float64)[:, None]
    return _report(fit, np.asarray(model.exog), labels, n, n, whole.height, working, "statsmodels", level)
