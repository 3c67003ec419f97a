"""Item-response view: how hard each node is, how able each model, which nodes tell models apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.errors import SchemaError
from icgkit.metrics import _input
from icgkit.metrics.intervals import level_ok

Floats = NDArray[np.float64]
POINTS = 61


class ItemResponse(NamedTuple):
    """Three frames of one fit: respondents (abilities), items (difficulties) and the fit itself."""

    respondents: pl.DataFrame
    items: pl.DataFrame
    fit: pl.DataFrame


def item_response(
    judgments: _input.IntoFrame,
    *,
    respondent: str | Sequence[str] = ("model", "condition"),
    item: str | Sequence[str] = ("case_id", "node_id"),
    value: str = "found",
    level: float = 0.95,
) -> ItemResponse:
    """Fit a Rasch model with random items: logit P(found) = ability - difficulty.

    Parameters
    ----------
    judgments : frame
        One row a decision: `value` (null is missing: left out, counted) and the columns below.
    respondent : str or sequence of str
        Columns that make a respondent; each has an ability of its own (fixed).
    item : str or sequence of str
        Columns that identify a node; difficulties are normal with mean 0 (random).
    level : float
        Confidence level.

    Returns
    -------
    ItemResponse
        respondents: the columns `respondent`, `ability` (log odds on a node of mean difficulty), `se`,
        `low`, `high`, `n_scored`, `n_found`, `status`; ability is null when all or none is found.
        items: the columns `item`, `difficulty` (posterior mean, log odds; higher is harder), `sd`
        (posterior), `n_scored`, `n_found`, `separation` (standard deviation, over respondents, of the
        model's P(found) for this node: how far it can tell them apart), `surprise` (mean squared
        standardised residual; far above 1: answers do not follow ability), `status`.
        fit: `sd_items` (standard deviation of difficulty), `log_likelihood`, `n_scored`, `n_missing`,
        `n_items`, `n_respondents`, `method`, `status`.

    Raises
    ------
    SchemaError
        If fewer than two items or respondents have a scored row.

    Notes
    -----
    Marginal maximum likelihood: each item's likelihood is integrated over its difficulty on a fixed
    grid of 61 Gauss-Hermite points. It is the logistic mixed model found ~ 0 + respondent + (1 | item).

    References
    ----------
    De Boeck (2008), Random item IRT models, Psychometrika 73(4), 533-559. Bock and Aitkin (1981),
    Psychometrika 46, 443-459 (marginal likelihood).

    Examples
    --------
    >>> import polars as pl
    >>> rows = [
    ...     {"case_id": f"c{i}", "node_id": "n1", "model": m, "found": (i * 7 + k) % 10 < cut}
    ...     for i in range(30) for k, (m, cut) in enumerate([("weak", 3), ("strong", 8)])
    ... ]
    >>> got = item_response(pl.DataFrame(rows), respondent="model")
    >>> got.respondents.sort("ability")["model"].to_list()
    ['weak', 'strong']
    """
    level_ok(level)
    who, what = _input.columns_of(respondent), _input.columns_of(item)
    got = _input.eager(judgments, [*who, *what, value], where="judgments")
    _input.no_null(got, [*who, *what], where="judgments", what="respondent or item")
    if "dataset" in got.columns and "dataset" not in what:
        what = ["dataset", *what]
    for column in ("judge",):
        if column in got.columns and column not in who and got[column].n_unique() > 1:
            raise SchemaError("judgments hold several judges", remedy="filter to one")
    slim = got.select(*who, *what, _input.binary(got, value).alias("_v"))
    known = slim.drop_nulls("_v")
    people = known.select(who).unique().sort(who).with_row_index("_r")
    things = known.select(what).unique().sort(what).with_row_index("_i")
    if people.height < 2 or things.height < 2:
        raise SchemaError(
            f"{people.height} respondents and {things.height} items with a scored row", allowed="two of each"
        )
    coded = known.join(people, on=who).join(things, on=what)
    r, i = coded["_r"].to_numpy().astype(np.int64), coded["_i"].to_numpy().astype(np.int64)
    v = coded["_v"].cast(pl.Float64).to_numpy()
    found, scored = (np.zeros((things.height, people.height)) for _ in range(2))
    np.add.at(found, (i, r), v)
    np.add.at(scored, (i, r), 1.0)
    return _assemble(_fit(found, scored), found, scored, people, things, got.height - known.height, level)


class _Fit(NamedTuple):
    ability: Floats
    sd: float
    covariance: Floats
    log_likelihood: float
    posterior: Floats
    grid: Floats
    converged: bool


def _grid() -> tuple[Floats, Floats]:
    x, w = np.polynomial.hermite_e.hermegauss(POINTS)
    return x, np.log(w / w.sum())


def _terms(parameters: Floats, found: Floats, scored: Floats, x: Floats, log_w: Floats) -> tuple[Any, ...]:
    ability, sd = parameters[:-1], np.exp(parameters[-1])
    eta = ability[:, None] - sd * x[None, :]
    log_p, log_q = -np.logaddexp(0, -eta), -np.logaddexp(0, eta)
    joint = found @ log_p + (scored - found) @ log_q + log_w
    top = joint.max(axis=1, keepdims=True)
    weight = np.exp(joint - top)
    total = weight.sum(axis=1, keepdims=True)
    return float((top + np.log(total)).sum()), weight / total, 1 / (1 + np.exp(-eta)), sd


def _objective(
    parameters: Floats, found: Floats, scored: Floats, x: Floats, log_w: Floats
) -> tuple[float, Floats]:
    value, posterior, p, sd = _terms(parameters, found, scored, x, log_w)
    # d log L / d eta at every grid point, weighted by the posterior of the difficulty.
    residual = found.T @ posterior - (scored.T @ posterior) * p
    gradient = np.append(residual.sum(axis=1), -(residual * (sd * x)).sum())
    return -value, -gradient


def _fit(found: Floats, scored: Floats) -> _Fit:
    from scipy.optimize import minimize

    x, log_w = _grid()
    share = (found.sum(axis=0) + 0.5) / (scored.sum(axis=0) + 1)
    start = np.append(np.log(share / (1 - share)), 0.0)
    bounds = [(-12.0, 12.0)] * len(share) + [(-5.0, 2.5)]
    args = (found, scored, x, log_w)
    best = minimize(_objective, start, args=args, jac=True, method="L-BFGS-B", bounds=bounds,
                    options={"maxiter": 500, "ftol": 1e-13, "gtol": 1e-7})  # fmt: skip
    hessian = np.empty((len(start), len(start)))
    for k in range(len(start)):
        step = np.zeros(len(start))
        step[k] = 1e-4
        hessian[k] = (_objective(best.x + step, *args)[1] - _objective(best.x - step, *args)[1]) / 2e-4
    covariance = np.asarray(np.linalg.pinv((hessian + hessian.T) / 2), dtype=np.float64)
    value, posterior, _, sd = _terms(best.x, *args)
    return _Fit(best.x[:-1], float(sd), covariance, value, posterior, sd * x, bool(best.success))


def _assemble(
    fit: _Fit,
    found: Floats,
    scored: Floats,
    people: pl.DataFrame,
    things: pl.DataFrame,
    missing: int,
    level: float,
) -> ItemResponse:
    from statistics import NormalDist

    z = NormalDist().inv_cdf((1 + level) / 2)
    rows = []
    for k in range(people.height):
        n, hits = int(scored[:, k].sum()), int(found[:, k].sum())
        if hits in (0, n):
            rows.append(
                (None, None, None, None, n, hits, f"{'all' if hits else 'none'} found: ability without bound")
            )
            continue
        ability, variance = float(fit.ability[k]), float(fit.covariance[k, k])
        se = variance**0.5 if variance > 0 else None
        bounds = (ability - z * se, ability + z * se) if se else (None, None)
        rows.append((ability, se, *bounds, n, hits, "ok" if se else "no standard error"))
    abilities = pl.DataFrame(
        rows,
        schema={**dict.fromkeys(["ability", "se", "low", "high"], pl.Float64), "n_scored": pl.Int64,
                "n_found": pl.Int64, "status": pl.String},
        orient="row",
    )  # fmt: skip
    difficulty = fit.posterior @ fit.grid
    spread = np.sqrt(np.maximum(fit.posterior @ fit.grid**2 - difficulty**2, 0))
    p = 1 / (1 + np.exp(-(fit.ability[None, :] - difficulty[:, None])))
    answered = scored.sum(axis=1)
    residual = np.divide((found - scored * p) ** 2, np.maximum(scored, 1) * p * (1 - p))
    surprise = (residual * (scored > 0)).sum(axis=1) / (scored > 0).sum(axis=1)
    items = pl.DataFrame(
        {
            "difficulty": difficulty, "sd": spread, "n_scored": answered.astype(np.int64),
            "n_found": found.sum(axis=1).astype(np.int64), "separation": p.std(axis=1), "surprise": surprise,
            "status": ["ok"] * things.height,
        }
    )  # fmt: skip
    small = fit.sd < 0.02
    summary = pl.DataFrame(
        {
            "sd_items": [fit.sd], "log_likelihood": [fit.log_likelihood], "n_scored": [int(scored.sum())],
            "n_missing": [missing], "n_items": [things.height], "n_respondents": [people.height],
            "method": [f"Rasch, random items, marginal likelihood, {POINTS} points"],
            "status": ["not converged" if not fit.converged else "items do not differ" if small else "ok"],
        }
    )  # fmt: skip
    return ItemResponse(
        pl.concat([people.drop("_r"), abilities], how="horizontal"),
        pl.concat([things.drop("_i"), items], how="horizontal"),
        summary,
    )
