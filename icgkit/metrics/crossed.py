"""Crossed mixed logit: models and conditions fixed; templates, cases and nodes random."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from math import erfc
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from icgkit.errors import SchemaError
from icgkit.metrics import _input
from icgkit.metrics._output import lay_out, schema
from icgkit.metrics._rates import join_notes
from icgkit.metrics.gee import levels_of
from icgkit.metrics.intervals import level_ok

REMEDY = "pip install 'icgkit[mixed]'"
_LEVEL = re.compile(r"f(\d+)L(\d+)")


class Crossed(NamedTuple):
    """Three frames of one fit: fixed terms, random groups, and the fit itself."""

    terms: pl.DataFrame
    groups: pl.DataFrame
    fit: pl.DataFrame


def crossed(
    judgments: _input.IntoFrame,
    *,
    fixed: Sequence[str] = ("model", "condition"),
    random: Sequence[str] = ("template", "case_id", "node_id"),
    interaction: bool = True,
    reference: Mapping[str, str] | None = None,
    value: str = "found",
    level: float = 0.95,
) -> Crossed:
    """Fit logit P(found) = fixed effects + random template + random case + random node.

    Where `gap` and `gee` speak about these cases or an average case, this model takes templates, cases
    and nodes as drawn from larger sets, each with a variance of its own, all at once.

    Parameters
    ----------
    judgments : frame
        One row a decision: `value` (null is missing: left out, counted) and the columns below.
    fixed : sequence of str
        Columns with a fixed effect for each value, two or more for an interaction. Several judges are
        refused unless "judge" is one of them (then last: it gets no interaction, and the response
        becomes a further random group, since judges mark the same ones).
    random : sequence of str
        Columns with a normal random intercept, from coarse to fine; each is taken within the ones
        before it. One that groups exactly as a finer one (a picture for each case) is left out.
    interaction : bool
        Cross the first two fixed columns, and test that interaction by the likelihood ratio.
    reference : mapping of str to str, optional
        Reference value by column; the first in alphabetical order otherwise.
    level : float
        Confidence level, 0 to 1, of the Wald intervals.

    Returns
    -------
    Crossed
        terms: `term` (columns), `value` (their values), `estimate` (log odds), `se`, `low`, `high`,
        `odds_ratio`, `p_value` (Wald), `status`.
        groups: `group`, `sd` (log odds), `n_groups`, `status`.
        fit: `log_likelihood`, `chi2`, `df`, `p_interaction` (null without an interaction), `n_scored`,
        `n_total`, `n_missing`, `n_cases`, `left_out` (values of the first fixed column with a cell of
        one outcome only, whose log odds have no finite estimate), `method`, `status`.

    Raises
    ------
    SchemaError
        If a column is missing or judges are mixed. Where nothing is left to compare, or without the
        extra `mixed`, terms and groups are empty and the status of the fit says why.

    Notes
    -----
    Maximum likelihood by Laplace's approximation (the integrand at its mode), as lme4's glmer does with
    nAGQ = 1; fitted by the package glmm. Held against R lme4 in docs/metrics.md. The interaction's chi2
    is twice the difference of the two log-likelihoods.
    Sources: Baayen, Davidson and Bates (2008); Bates et al. (2015).

    Examples
    --------
    >>> import polars as pl
    >>> rows = [
    ...     {"case_id": f"c{i}", "node_id": f"n{k}", "model": m, "found": (i * 7 + k * 3 + (m == "b") * 2) % 10 < 5}
    ...     for i in range(30) for k in range(3) for m in "ab"
    ... ]
    >>> got = crossed(pl.DataFrame(rows), fixed=["model"], random=["case_id"], interaction=False)
    >>> got.terms["value"].to_list(), got.groups["group"].to_list()
    ([None, 'b'], ['case_id'])
    """
    level_ok(level)
    fixed, random = list(fixed), list(random)
    unit = [c for c in ("case_id",) if c not in random]
    got = _input.eager(judgments, [*fixed, *random, *unit, value], where="judgments")
    for column in ("judge", "dataset"):
        if column in got.columns and column not in fixed and got[column].n_unique() > 1:
            raise SchemaError(
                f"judgments hold several values of {column!r}",
                remedy=f"filter to one, or add {column!r} to fixed",
            )
    _input.no_null(got, [*fixed, *random], where="judgments", what="fixed or random value")
    whole = got.with_columns(_input.binary(got, value).cast(pl.Float64).alias("y")).drop_nulls("y")
    cells = [c for c in fixed if c != "judge"] if interaction else fixed[:1]
    kept, left_out = _separable(whole, cells)
    fixed = [c for c in fixed if kept[c].n_unique() > 1]
    groups = _nest(kept, random, answers=kept["judge"].n_unique() > 1 if "judge" in fixed else False)
    if not fixed or not groups:
        what = f"two values of {' or '.join(cells)}" if not fixed else f"two groups of {random[-1]}"
        return _not_fitted(got, whole, "; ".join([f"not fitted: needs {what} that vary", *_gone(left_out)]))
    try:
        import glmm
    except ImportError:
        return _not_fitted(got, whole, f"not fitted: the package glmm is not installed; {REMEDY}")
    levels = {c: levels_of(kept[c].cast(pl.String), reference or {}) for c in fixed}
    data = {"y": kept["y"].to_numpy()} | {
        f"f{i}": [f"L{levels[c].index(v):04d}" for v in kept[c].cast(pl.String)] for i, c in enumerate(fixed)
    }
    data |= {f"g{i}": ids.to_list() for i, ids in enumerate(groups.values())}
    bars = " + ".join(f"(1|g{i})" for i in range(len(groups)))
    sides = [f"f{i}" for i in range(len(fixed))]
    plain = " + ".join([*sides, bars])
    crossing = interaction and len([c for c in fixed if c != "judge"]) > 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they say stands in the status
        fit = glmm.fit(data, "y ~ " + (f"{plain} + f0:f1" if crossing else plain), "binomial")
        base = glmm.fit(data, f"y ~ {plain}", "binomial") if crossing else None
    return Crossed(
        _terms(fit, fixed, levels, level),
        _groups(fit, groups),
        _summary(fit, base, got.height, got.height - whole.height, kept, left_out, levels),
    )


def _gone(left_out: list[str]) -> list[str]:
    return [f"left out, a cell has one outcome only: {', '.join(left_out)}"] if left_out else []


def _not_fitted(got: pl.DataFrame, whole: pl.DataFrame, why: str) -> Crossed:
    row: dict[str, Any] = {
        "n_scored": whole.height,
        "n_total": got.height,
        "n_missing": got.height - whole.height,
    }
    row |= {"n_cases": whole["case_id"].n_unique(), "method": "mixed logit, Laplace", "status": why}
    return Crossed(lay_out([], _TERMS), lay_out([], _GROUPS), lay_out([row], _FIT))


def _separable(whole: pl.DataFrame, cells: list[str]) -> tuple[pl.DataFrame, list[str]]:
    """Leave out the values of the first column that have a cell with one outcome only."""
    first = cells[0]
    rates = whole.group_by(cells).agg(pl.col("y").mean())
    gone = rates.filter((pl.col("y") == 0) | (pl.col("y") == 1))[first].unique().sort().to_list()
    return whole.filter(~pl.col(first).is_in(gone)), [str(v) for v in gone]


def _nest(kept: pl.DataFrame, random: list[str], *, answers: bool) -> dict[str, pl.Series]:
    """Return an id of every random group, within those before it; those that repeat a finer one are left out."""
    keys = {c: random[: i + 1] for i, c in enumerate(random)}
    if answers:
        keys["response"] = [c for c in (*random, "model", "condition", "sample") if c in kept.columns]
    sizes = {c: kept.select(key).n_unique() for c, key in keys.items()}
    names = list(keys)
    out = {}
    for i, c in enumerate(names):
        if (i + 1 < len(names) and sizes[c] == sizes[names[i + 1]]) or sizes[c] < 2:
            continue
        out[c] = kept.select(pl.struct(keys[c]).rank("dense").cast(pl.String)).to_series()
    return out


_WIDEST = 10.0
"""A random sd, in log odds, beyond which hardly an outcome is open: the likelihood has run away."""


def _state(fit: Any) -> str:
    """Say whether a fit can be read."""
    if not fit.converged:
        return "not converged"
    sd = max(float(np.asarray(cov)[0]) ** 0.5 for cov in fit.varcorr)
    return "ok" if sd <= _WIDEST else f"the fit runs away: a random sd of {sd:.0f} log odds"


def _terms(fit: Any, fixed: list[str], levels: dict[str, list[str]], level: float) -> pl.DataFrame:
    z = NormalDist().inv_cdf((1 + level) / 2)
    rows = []
    state = _state(fit)
    for name, estimate, se in zip(fit.names, fit.beta, fit.se, strict=True):
        parts = [(fixed[int(i)], levels[fixed[int(i)]][int(k)]) for i, k in _LEVEL.findall(name)]
        row: dict[str, Any] = {
            "term": " x ".join(c for c, _ in parts) or "intercept",
            "value": ", ".join(v for _, v in parts) or None,
            "status": state,
        }
        if state == "ok" and np.isfinite(estimate):
            row |= {"estimate": float(estimate), "odds_ratio": float(np.exp(estimate))}
        if state == "ok" and np.isfinite(se) and se > 0:
            low, high = float(estimate - z * se), float(estimate + z * se)
            p = erfc(abs(float(estimate / se)) / 2**0.5)
            row |= {"se": float(se), "low": low, "high": high, "p_value": p}
        rows.append(row)
    return lay_out(rows, _TERMS)


_TERMS = schema("term value estimate se low high odds_ratio p_value status")


def _groups(fit: Any, groups: dict[str, pl.Series]) -> pl.DataFrame:
    where = {
        name: float(np.asarray(cov)[0]) ** 0.5
        for (name, _), cov in zip(fit.re_groups, fit.varcorr, strict=True)
    }
    rows = []
    for i, (name, ids) in enumerate(groups.items()):
        sd = where[f"g{i}"]
        status = "ok" if sd > 0 else "no variance beyond the other groups"
        rows.append({"group": name, "sd": sd, "n_groups": ids.n_unique(), "status": status})
    return lay_out(rows, _GROUPS)


_GROUPS = schema("group sd n_groups status")


def _summary(
    fit: Any, base: Any, rows: int, missing: int, kept: pl.DataFrame, left_out: list[str],
    levels: dict[str, list[str]],
) -> pl.DataFrame:  # fmt: skip
    from scipy.special import chdtrc

    state = _state(fit)
    notes = [] if state == "ok" else [state]
    notes += _gone(left_out)
    row: dict[str, Any] = {
        "log_likelihood": float(fit.loglik), "n_scored": kept.height, "n_total": rows,
        "n_missing": missing, "n_cases": kept["case_id"].n_unique(),
        "left_out": ", ".join(left_out) or None,
        "method": "mixed logit, Laplace, Wald intervals; references " + ", ".join(f"{c}={v[0]}" for c, v in levels.items()),
    }  # fmt: skip
    if base is not None and state == "ok" and _state(base) == "ok":
        chi2, df = max(0.0, 2 * float(fit.loglik - base.loglik)), len(fit.beta) - len(base.beta)
        row |= {"chi2": chi2, "df": df, "p_interaction": float(chdtrc(df, chi2))}
    row["status"] = join_notes(notes)
    return lay_out([row], _FIT)


_FIT = schema(
    "log_likelihood chi2 df p_interaction n_scored n_total n_missing n_cases left_out method status"
)
