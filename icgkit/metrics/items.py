"""Item-response view: how hard each node is, how able each model, which nodes tell models apart."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from icgkit.errors import SchemaError
from icgkit.metrics import _input, _rates, _sums
from icgkit.metrics._input import Floats, Ints
from icgkit.metrics._output import lay_out, schema
from icgkit.metrics._rates import few
from icgkit.metrics.intervals import Bootstrap, level_ok

MOST = 8193
"""Points of the grid beyond which the integral is given up as it is, and the status says so."""


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
    cluster: str | Sequence[str] | None = None,
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
    cluster : str or two of them, optional
        Column whose groups of items hang together beyond their difficulty (case, template), or two
        crossed columns: errors of abilities are then robust to it. Those of the model when absent.
    level : float
        Confidence level.

    Returns
    -------
    ItemResponse
        respondents: the columns `respondent`, `ability` (log odds on a node of mean difficulty), `se`,
        `low`, `high`, `level`, `scale`, `n_scored`, `n_found`, `n_clusters` (null without `cluster`),
        `status`; ability is null when all or none is found.
        items: the columns `item`, `difficulty` (posterior mean, log odds; higher is harder), `sd`
        (posterior), `n_scored`, `n_found`, `separation` (standard deviation, over respondents, of the
        model's P(found) for this node: how far it can tell them apart), `surprise` (mean squared
        standardised residual; far above 1: answers do not follow ability), `status`.
        fit: `sd_items` (standard deviation of difficulty), `log_likelihood`, `n_points` (of the grid),
        `moved` (largest move of an ability at twice the points, in standard errors), `n_scored`,
        `n_total`, `n_missing`, `n_items`, `n_respondents`, `method`, `status`.

    Raises
    ------
    SchemaError
        If fewer than two items or respondents have a scored row.

    Notes
    -----
    Marginal maximum likelihood: each item's likelihood is integrated over its difficulty by the
    trapezoidal rule, whose step adapts to the narrowest posterior that the data allow, and is halved until
    the fit at twice the points is the same. It is the logistic mixed model
    found ~ 0 + respondent + (1 | item). With `cluster`: A^-1 (sum_k s_k s_k') A^-1, A the information and
    s_k the summed scores of the items of cluster k.
    Sources: De Boeck (2008); Bock and Aitkin (1981; marginal likelihood); Trefethen and Weideman (2014; the
    rule); White (1982; robust).

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
    who, what = _input.columns_of(respondent), _input.columns_of(item)
    over = () if cluster is None else Bootstrap(cluster=cluster).over
    got = _input.eager(judgments, [*who, *what, value, *over], where="judgments")
    _input.no_null(got, [*who, *what, *over], where="judgments", what="respondent, item or cluster")
    _input.no_twice(got, [*who, *what], where="judgments")
    if "dataset" in got.columns and "dataset" not in what:
        what = ["dataset", *what]
    apart = [c for c in ("judge", "condition", "model") if c in got.columns]
    pooled = "pooled" if "model" not in who and "condition" in who else None
    _rates.check_apart(got.select(apart), [*who, *what], pooled, where="judgments") if apart else None
    held = [c for c in _sums.atom_columns(got, over) if c not in what] if over else []
    slim = got.select(*dict.fromkeys([*who, *what, *held]), _input.binary(got, value).alias("_v"))
    known = slim.drop_nulls("_v")
    (people, r), (things, i) = _sums.coded(known, who), _sums.coded(known, what)
    if people.height < 2 or things.height < 2:
        raise SchemaError(
            f"{people.height} respondents and {things.height} items with a scored row", allowed="two of each"
        )
    v = known["_v"].cast(pl.Float64).to_numpy()
    found, scored = (np.zeros((things.height, people.height)) for _ in range(2))
    np.add.at(found, (i, r), v)
    np.add.at(scored, (i, r), 1.0)
    codes = _sums.atom_codes(_sums.with_columns_of(known, things, held, "item"), over)
    fit = _fit(found, scored, codes)
    counts = {"n_total": got.height, "n_missing": got.height - known.height}
    clusters = min(int(c.max()) + 1 for c in codes) if codes else None
    return _assemble(fit, (found, scored), (people, things), counts, clusters, level_ok(level))


class _Fit(NamedTuple):
    ability: Floats
    sd: float
    covariance: Floats
    log_likelihood: float
    posterior: Floats
    grid: Floats
    converged: bool
    moved: float


def _grid(points: int) -> tuple[Floats, Floats]:
    """Return equidistant points of a standard normal variable and the logarithms of their weights."""
    x = np.linspace(-9.0, 9.0, points)
    log_w = -(x**2) / 2
    return x, log_w - np.log(np.exp(log_w).sum())


def _terms(parameters: Floats, found: Floats, scored: Floats, x: Floats, log_w: Floats) -> tuple[Any, ...]:
    ability, sd = parameters[:-1], np.exp(parameters[-1])
    eta = ability[:, None] - sd * x[None, :]
    log_p, log_q = -np.logaddexp(0, -eta), -np.logaddexp(0, eta)
    joint = found @ log_p + (scored - found) @ log_q + log_w
    top = joint.max(axis=1, keepdims=True)
    weight = np.exp(joint - top)
    total = weight.sum(axis=1, keepdims=True)
    return (top + np.log(total))[:, 0], weight / total, np.exp(log_p), sd


def _objective(
    parameters: Floats, found: Floats, scored: Floats, times: Floats, x: Floats, log_w: Floats
) -> tuple[float, Floats]:
    value, posterior, p, sd = _terms(parameters, found, scored, x, log_w)
    # d log L / d eta at every grid point, weighted by the posterior of the difficulty.
    posterior = posterior * times[:, None]
    residual = found.T @ posterior - (scored.T @ posterior) * p
    gradient = np.append(residual.sum(axis=1), -(residual * (sd * x)).sum())
    return -float(value @ times), -gradient


def _points(scored: Floats, sd: float) -> int:
    """Return points whose distance is a third of the narrowest posterior's standard deviation."""
    narrow = 1 / np.sqrt(1 + sd**2 * scored.sum(axis=1).max() / 4)
    return int(min(MOST, max(121, np.ceil(18 / (narrow / 3)) // 2 * 2 + 1)))


def _fit(found: Floats, scored: Floats, codes: list[Ints]) -> _Fit:
    from scipy.optimize import minimize

    same, index, times = np.unique(
        np.hstack([found, scored]), axis=0, return_inverse=True, return_counts=True
    )  # items with the same answers are integrated once
    few, of = np.hsplit(same, 2)
    share = (found.sum(axis=0) + 0.5) / (scored.sum(axis=0) + 1)
    start = np.append(np.log(share / (1 - share)), 0.0)
    bounds = [(-40.0, 40.0)] * len(share) + [(-5.0, 3.5)]
    points = _points(of, 2.0)
    while True:
        args = (few, of, times.astype(np.float64), *_grid(points))
        best = minimize(_objective, start, args=args, jac=True, method="L-BFGS-B", bounds=bounds,
                        options={"maxiter": 1000, "ftol": 1e-14, "gtol": 1e-7})  # fmt: skip
        hessian = np.empty((len(start), len(start)))
        for k in range(len(start)):
            step = np.zeros(len(start))
            step[k] = 1e-4
            hessian[k] = (_objective(best.x + step, *args)[1] - _objective(best.x - step, *args)[1]) / 2e-4
        inverse = np.asarray(np.linalg.pinv((hessian + hessian.T) / 2), dtype=np.float64)
        finer = (few, of, args[2], *_grid(2 * points - 1))
        more, slope = _objective(best.x, *finer)
        error = np.sqrt(np.maximum(np.diag(inverse), 1e-12))
        moved = float(np.max(np.abs(inverse @ (slope - _objective(best.x, *args)[1])) / error))
        if (moved < 1e-4 and abs(more - best.fun) < 1e-5) or 2 * points - 1 > MOST:
            break
        start, points = best.x, 2 * points - 1
    value, posterior, p, sd = _terms(best.x, few, of, *args[3:])
    posterior, grid = posterior[index.ravel()], sd * args[3]
    if codes:
        inverse = _robust(inverse, (found, scored), posterior, p, grid, codes)
    likelihood = float(value @ times)
    return _Fit(best.x[:-1], float(sd), inverse, likelihood, posterior, grid, bool(best.success), moved)


def _robust(
    inverse: Floats, answers: tuple[Floats, Floats], posterior: Floats, p: Floats, grid: Floats,
    codes: list[Ints],
) -> Floats:  # fmt: skip
    """Return the sandwich with scores added up within groups of items."""
    found, scored = answers
    last = ((scored @ p) * posterior) @ grid - (posterior @ grid) * found.sum(axis=1)
    scores = np.column_stack([found - scored * (posterior @ p.T), last])
    sizes = [len(np.unique(code)) for code in codes]
    sizes += [len(np.unique(np.stack(codes, axis=1), axis=0))] if len(codes) == 2 else []
    weighted = [m * (n / max(n - 1, 1)) for m, n in zip(_sums.squares(scores, codes), sizes, strict=True)]
    middle = weighted[0] if len(codes) == 1 else weighted[0] + weighted[1] - weighted[2]
    return np.asarray(inverse @ middle @ inverse)


def _assemble(
    fit: _Fit,
    answers: tuple[Floats, Floats],
    frames: tuple[pl.DataFrame, pl.DataFrame],
    counts: dict[str, int],
    clusters: int | None,
    level: float,
) -> ItemResponse:
    found, scored = answers
    people, things = frames
    z = NormalDist().inv_cdf((1 + level) / 2)
    flag = few(clusters, None).replace("interval", "error") if clusters is not None else ""
    rows = []
    for k, head in enumerate(people.iter_rows(named=True)):
        n, hits = int(scored[:, k].sum()), int(found[:, k].sum())
        row = head | {
            "level": level,
            "scale": "log odds",
            "n_scored": n,
            "n_found": hits,
            "n_clusters": clusters,
        }
        if hits in (0, n):
            rows.append(row | {"status": f"{'all' if hits else 'none'} found: ability without bound"})
            continue
        ability, variance = float(fit.ability[k]), float(fit.covariance[k, k])
        row |= {"ability": ability, "status": "no standard error"}
        if variance > 0:
            se = variance**0.5
            row |= {"se": se, "low": ability - z * se, "high": ability + z * se, "status": flag or "ok"}
        rows.append(row)
    difficulty = fit.posterior @ fit.grid
    spread = np.sqrt(np.maximum(fit.posterior @ fit.grid**2 - difficulty**2, 0))
    p = 1 / (1 + np.exp(-(fit.ability[None, :] - difficulty[:, None])))
    answered = scored.sum(axis=1)
    spread_of = np.maximum(scored, 1) * p * (1 - p)
    residual = np.divide((found - scored * p) ** 2, spread_of, out=np.zeros(p.shape), where=spread_of > 0)
    surprise = (residual * (scored > 0)).sum(axis=1) / (scored > 0).sum(axis=1)
    items = pl.DataFrame(
        {
            "difficulty": difficulty, "sd": spread, "n_scored": answered.astype(np.int64),
            "n_found": found.sum(axis=1).astype(np.int64), "separation": p.std(axis=1), "surprise": surprise,
            "status": ["ok"] * things.height,
        }
    )  # fmt: skip
    points = len(fit.grid)
    status = "items do not differ" if fit.sd < 0.02 else "ok"
    if not fit.converged:
        status = "not converged"
    elif fit.moved >= 1e-4:
        status = f"{points} points are too few: abilities move by {fit.moved:.2g} errors at twice as many"
    summary = {
        "sd_items": fit.sd, "log_likelihood": fit.log_likelihood, "n_points": points, "moved": fit.moved,
        "n_scored": int(scored.sum()), "n_items": things.height, "n_respondents": people.height,
        "method": f"Rasch, random items, marginal likelihood, {points} points, checked at {2 * points - 1}",
        "status": status,
    }  # fmt: skip
    return ItemResponse(
        lay_out(rows, dict(people.schema) | _ABILITY),
        pl.concat([things, items], how="horizontal"),
        lay_out([summary | counts], _SUMMARY),
    )


_ABILITY = schema("ability se low high level scale n_scored n_found n_clusters status")
_SUMMARY = schema(
    "sd_items log_likelihood n_points moved n_scored n_total n_missing n_items n_respondents method status"
)
