"""The estimating equations of a logit GEE, solved on counts; and the same fit by statsmodels, on rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from icgkit.metrics import _sums
from icgkit.metrics._input import Flags, Floats, Ints


class Fit(NamedTuple):
    """Coefficients, robust covariance and working correlation of one fit."""

    coefficients: Floats
    covariance: Floats
    correlation: float
    converged: bool


def solve(
    design: Floats,
    y: Floats,
    n: Floats,
    *,
    exchangeable: bool = True,
    correlation: float | None = None,
    tries: int = 200,
) -> Fit:
    """Solve the estimating equations on (clusters, cells) counts of successes `y` and rows `n`.

    The working correlation is estimated, unless one is given.
    """
    p = design.shape[1]
    beta = np.zeros(p)
    rate = (y.sum() + 0.5) / (n.sum() + 1.0)
    beta[0] = np.log(rate / (1 - rate))
    size = n.sum(axis=1)
    rows, pairs = size.sum(), (size * (size - 1) / 2).sum()
    alpha, step, converged = correlation or 0.0, np.inf, False
    estimate = exchangeable and correlation is None and pairs > p
    # Start from independence, as one would with a plain logistic regression.
    for turn in range(tries):
        mu = np.clip(1 / (1 + np.exp(-(design @ beta))), 1e-15, 1 - 1e-15)
        s = np.sqrt(mu * (1 - mu))
        if turn and estimate and step < 1e-2:
            new = _moment(mu, s, y, n, rows, pairs, p)
            moved, alpha = abs(new - alpha), new
        else:
            moved = np.inf if estimate else 0.0
        bread, scores = _equations(design, mu, s, y, n, size, alpha)
        try:
            change = np.linalg.solve(bread, scores.sum(axis=0))
        except np.linalg.LinAlgError:
            break
        change *= min(1.0, 4.0 / max(np.abs(change).max(), 1e-300))
        beta = beta + change
        step = float(np.abs(change).max())
        if step < 1e-11 and moved < 1e-12:
            converged = True
            break
        if np.abs(beta).max() > 40:
            break
    mu = np.clip(1 / (1 + np.exp(-(design @ beta))), 1e-15, 1 - 1e-15)
    bread, scores = _equations(design, mu, np.sqrt(mu * (1 - mu)), y, n, size, alpha)
    inverse = np.linalg.pinv(bread)
    return Fit(beta, inverse @ (scores.T @ scores) @ inverse, alpha, converged)


def _moment(mu: Floats, s: Floats, y: Floats, n: Floats, rows: float, pairs: float, p: int) -> float:
    total = (y - n * mu) @ (1 / s)
    squares = float((y.sum(axis=0) * (1 - mu) ** 2 + (n - y).sum(axis=0) * mu**2) @ (1 / s**2))
    scale = squares / (rows - p)
    return float((total @ total - squares) / 2 / scale / (pairs - p))


def _equations(
    design: Floats, mu: Floats, s: Floats, y: Floats, n: Floats, size: Floats, alpha: float
) -> tuple[Floats, Floats]:
    """Return the expected information and the score of every cluster, both times (1 - alpha)."""
    xs = design * s[:, None]
    c = alpha / (1 + (size - 1) * alpha)
    z = n @ xs
    residual = y - n * mu
    scores = residual @ design - (c * (residual @ (1 / s)))[:, None] * z
    bread = (xs * n.sum(axis=0)[:, None]).T @ xs - (z * c[:, None]).T @ z
    return bread, scores


def meat(fit: Fit, design: Floats, y: Floats, n: Floats, codes: Sequence[Ints]) -> Floats:
    """Return the robust covariance of an independence fit for two crossed columns of clusters."""
    mu = np.clip(1 / (1 + np.exp(-(design @ fit.coefficients))), 1e-15, 1 - 1e-15)
    bread, scores = _equations(design, mu, np.sqrt(mu * (1 - mu)), y, n, n.sum(axis=1), 0.0)
    one, two, common = _sums.squares(scores, codes)
    middle = one - common + two
    inverse = np.linalg.pinv(bread)
    covariance = inverse @ middle @ inverse
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0)) @ vectors.T)


def separated(design: Floats, y: Floats, n: Floats) -> tuple[Flags, Flags]:
    """Find the cells whose outcome a direction of the coefficients decides, and the coefficients it moves.

    A linear programme looks for directions along which no cell fits worse: cells with both outcomes must
    not move, cells with one must move towards it, each by as much as one.
    """
    cells, p = design.shape
    none = np.zeros(cells, dtype=bool), np.zeros(p, dtype=bool)
    sign = np.where(y >= n, 1.0, np.where(y <= 0, -1.0, 0.0))
    one = sign != 0
    if not one.any():
        return none
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack

    k = int(one.sum())
    toward = design[one] * sign[one, None]
    above = hstack([csr_array(-toward), eye_array(k)])  # t <= sign x beta
    both = hstack([csr_array(design[~one]), csr_array((cells - k, k))]) if k < cells else None
    got = linprog(
        np.concatenate([np.zeros(p), -np.ones(k)]), A_ub=above, b_ub=np.zeros(k),
        A_eq=both, b_eq=None if both is None else np.zeros(cells - k),
        bounds=[(None, None)] * p + [(0, 1)] * k, method="highs",
    )  # fmt: skip
    if not got.success:
        return none
    lost = none[0].copy()
    lost[one] = got.x[p:] > 0.5
    return lost, np.abs(got.x[:p]) > 1e-6


def fit_rows(design: Floats, y: Floats, n: Floats, working: str, *, bias_reduced: bool = False) -> Fit:
    """Fit the same model with statsmodels, on the rows that the counts stand for."""
    import statsmodels.api as sm

    cluster, cell = np.nonzero(n)
    ones, all_ = y[cluster, cell].astype(int), n[cluster, cell].astype(int)
    groups, cells = np.repeat(cluster, all_), np.repeat(cell, all_)
    found = np.concatenate([np.arange(m) < k for k, m in zip(ones, all_, strict=True)]).astype(float)
    structure = sm.cov_struct.Exchangeable() if working == "exchangeable" else sm.cov_struct.Independence()
    model = sm.GEE(found, design[cells], groups=groups, family=sm.families.Binomial(), cov_struct=structure)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = model.fit(maxiter=200, ctol=1e-10, cov_type="bias_reduced" if bias_reduced else "robust")
    dependence = float(structure.dep_params) if working == "exchangeable" else 0.0
    return Fit(np.asarray(fit.params), np.asarray(fit.cov_params()), dependence, bool(fit.converged))
