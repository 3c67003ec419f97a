"""Generalised estimating equations for a yes/no outcome, solved on counts instead of rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import erfc, exp, sqrt
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from icgkit.errors import SchemaError, UnknownName
from icgkit.metrics import _input, _rates, _sums
from icgkit.metrics._gee_solve import Fit, fit_rows, meat, separated, solve
from icgkit.metrics._input import Flags, Floats, Ints
from icgkit.metrics._output import lay_out, schema
from icgkit.metrics._rates import FEW
from icgkit.metrics.intervals import SANDWICH, Sandwich, t_below, t_quantile

USUAL = ("direct", "gpt-4o", "gpt-4o (simulated)")
"""Levels that are the reference of their term where nothing else is said."""


def gee(
    judgments: _input.IntoFrame,
    *,
    terms: str | Sequence[str] = ("condition", "model"),
    formula: str | None = None,
    reference: Mapping[str, str] | None = None,
    value: str = "found",
    working: Literal["exchangeable", "independence"] = "exchangeable",
    engine: Literal["counts", "statsmodels"] = "counts",
    ci: Sandwich = SANDWICH,
) -> pl.DataFrame:
    """Fit a logit GEE of the outcome on categorical or numeric terms, with robust errors.

    Parameters
    ----------
    judgments : frame
        One row a decision: `value`, the column of the clusters and the `terms` (or the columns that `formula` names).
    terms : str or sequence of str
        Main effects. Text and Boolean columns are dummy coded, numeric ones enter as they are.
    formula : str, optional
        Right-hand side with any terms of patsy (interactions, transformations) in place of `terms`.
    reference : mapping, optional
        Reference level of each categorical term; "direct" and "gpt-4o" where those occur, else the
        first in alphabetical order. In a formula `Treatment(...)` goes before it.
    value : str
        The Boolean outcome (null is missing: left out, counted; so are rows with a null term).
    working : {"exchangeable", "independence"}
        Working correlation within a cluster.
    engine : {"counts", "statsmodels"}
        Closed form on counts per cluster and cell, or statsmodels on rows (which the second kind of
        errors takes anyway).
    ci : Sandwich
        Clusters (one column, or two crossed ones with `working="independence"`), kind of robust errors,
        and confidence level.

    Returns
    -------
    polars.DataFrame
        One row a coefficient: `term`, `value` (level; null for the intercept, numeric terms and those of
        a formula), `reference`, `estimate`, `se` (robust), `low`, `high`, all on `scale` "log odds";
        `odds_ratio`, `odds_ratio_low`, `odds_ratio_high`; `level`, `z`, `p_value` (that it is 0),
        `n_scored`, `n_total`, `n_missing` (rows), `n_clusters` (of crossed ones the fewer; those of the
        rows used), `correlation` (working, within cluster), `method`, `status`. `se`, `low`, `high`, `z`
        and `p_value` are null where the status says that they would not be sound.

    Raises
    ------
    SchemaError
        For null clusters, rows that stand twice, several judges or datasets, terms that determine each
        other, and a formula that cannot be read.
    UnknownName
        If a reference level or term does not occur.

    Notes
    -----
    With s = sqrt(mu (1 - mu)), e = (y - mu) / s and an exchangeable correlation a in clusters of n rows,
    R^-1 = (I - c J) / (1 - a), c = a / (1 + (n - 1) a), so that the score of a cluster is
    X's e - c (X's 1)(1'e) up to the factor 1 / (1 - a). All sums run over cells of equal covariates,
    hence over counts. The moment estimate of a has the degrees of freedom of statsmodels. Crossed: the
    middle of the sandwich is that of the one column plus that of the other less that of both together.
    Separation is looked for by linear programming: coefficients without bound are null, the others are
    fitted on the rows that are left, and the status says so.
    Sources: Liang and Zeger (1986, sections 2 and 3); Mancl and DeRouen (2001; bias-reduced); Cameron,
    Gelbach and Miller (2011; crossed); Konis (2007; separation).

    Examples
    --------
    >>> import polars as pl
    >>> judgments = pl.DataFrame(
    ...     {"case_id": [f"c{i}" for i in range(60)] * 2, "condition": ["direct"] * 60 + ["oracle"] * 60,
    ...      "found": [i % 3 == 0 for i in range(60)] + [i % 4 != 0 for i in range(60)]})
    >>> fit = gee(judgments, terms="condition")
    >>> round(fit.filter(term="condition")["odds_ratio"][0], 6)  # (45 / 15) / (20 / 40)
    6.0
    """
    _input.one_of("working", working, ("exchangeable", "independence"))
    _input.one_of("engine", engine, ("counts", "statsmodels"))
    if not isinstance(ci, Sandwich):
        raise SchemaError("ci=", got=ci, allowed="ig.Sandwich(cluster=None, level=0.95, kind='robust')")
    options = _Options(ci, working, engine)
    if len(ci.over) == 2 and (working != "independence" or ci.kind != "robust"):
        raise SchemaError(
            "gee with two crossed cluster columns", got={"working": working, "kind": ci.kind},
            remedy='give working="independence" and Sandwich(kind="robust")',
        )  # fmt: skip
    frame = _input.into(judgments, where="judgments")
    names = list(frame.collect_schema().names())
    terms = _input.columns_of(terms) if formula is None else _named(formula, names)
    _input.require(frame, [*terms, value, *options.ci.over], where="judgments")
    _rates.check_apart(
        frame.select(c for c in ("judge", "dataset", *terms) if c in names), terms, None, where="judgments"
    ) if {"judge", "dataset"} & set(names) else None
    unit = _sums.atom_columns(frame, options.ci.over)
    _input.no_null(frame, unit, where="judgments", what="cluster")
    _input.no_twice(frame, terms, where="judgments")
    outcome = _input.binary(frame, value, where="judgments")
    if formula is not None:
        return _by_formula(frame, formula, outcome, unit, dict(reference or {}), options)
    counts = _sums.count(frame, outcome, terms, unit)
    used = counts.scored.sum(axis=1) > 0
    for term in terms:
        used &= counts.cells[term].is_not_null().to_numpy()
    if not used.any():
        raise SchemaError(
            "judgments: no row with an outcome and all terms", got={"rows": int(counts.total.sum())}
        )
    cells = counts.cells.filter(pl.Series(used))
    y, n = (x[used].T.astype(np.float64) for x in (counts.positive, counts.scored))
    design, labels = _design(cells, terms, dict(reference or {}))
    data = _Data(design, y, n, _sums.atom_codes(counts.units, options.ci.over), int(counts.total.sum()))
    return _report(data, labels, options)


Label = tuple[str, str | None, str | None]


class _Options(NamedTuple):
    ci: Sandwich
    working: str
    engine: str


class _Data(NamedTuple):
    """Cells of equal covariates, and counts of successes and rows by atom and cell."""

    design: Floats
    y: Floats
    n: Floats
    codes: list[Ints]
    n_total: int


def _named(formula: str, columns: Sequence[str]) -> list[str]:
    """Return the columns that a formula names."""
    if not isinstance(formula, str) or not formula.strip() or "~" in formula:
        raise SchemaError(
            "formula", got=formula, allowed="the right-hand side, such as 'condition * model'",
            remedy="leave out the outcome and the ~; name the outcome in value=",
        )  # fmt: skip
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", formula)
    words = set(re.findall(r"[A-Za-z_]\w*", bare)) | set(re.findall(r"""Q\(['"]([^'"]+)['"]\)""", formula))
    found = [c for c in columns if c in words]
    if not found and re.search(r"[A-Za-z_]", bare):
        first = sorted(words)[0]
        raise UnknownName.among("column in the formula", first, columns)
    return found


def _design(cells: pl.DataFrame, terms: list[str], reference: dict[str, str]) -> tuple[Floats, list[Label]]:
    """Build the design of the cells; labels are (term, value, reference)."""
    for name in reference:
        if name not in terms:
            raise UnknownName.among("term in reference", name, terms)
    columns: list[Floats] = [np.ones(cells.height)]
    labels: list[Label] = [("intercept", None, None)]
    for term in terms:
        values = cells.get_column(term)
        if values.dtype.is_numeric():
            columns.append(values.cast(pl.Float64).to_numpy())
            labels.append((term, None, None))
            continue
        text = values.cast(pl.String)
        base, *others = levels_of(text, reference, USUAL)
        if not others:
            raise SchemaError(
                f"term {term!r} has 1 level with a scored row", got=[base], allowed="two or more"
            )
        for name in others:
            columns.append((text == name).cast(pl.Float64).to_numpy())
            labels.append((term, name, base))
    return _independent(np.column_stack(columns), f"terms {', '.join(terms)}"), labels


def _independent(design: Floats, what: str) -> Floats:
    """Return the design; raise if a column follows from others."""
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise SchemaError(
            f"{what} determine each other in these data", allowed="terms whose effects can be told apart",
            remedy="leave one out, or filter to the rows where they cross",
        )  # fmt: skip
    return design


def levels_of(values: pl.Series, reference: Mapping[str, str], usual: Sequence[str] = ()) -> list[str]:
    """Return the levels of a term in alphabetical order, its reference first: as named, usual, or the first."""
    levels = sorted(values.unique().to_list())
    base = str(reference.get(values.name, next((u for u in usual if u in levels), levels[0])))
    if base not in levels:
        raise UnknownName.among(f"reference of {values.name}", base, levels)
    return [base, *(v for v in levels if v != base)]


def _report(data: _Data, labels: list[Label], options: _Options) -> pl.DataFrame:
    rows = data.n.sum(axis=1) > 0
    sizes = [len(np.unique(code[rows])) for code in data.codes]
    clusters = min(sizes)
    whole = data.design.shape[1]
    lost, gone = separated(data.design, data.y.sum(axis=0), data.n.sum(axis=0))
    kept = np.flatnonzero(~lost)
    basis, estimable = _estimable(data.design[kept])
    fit, place = None, {int(k): i for i, k in enumerate(basis)}
    if len(basis):
        part = _Data(
            data.design[np.ix_(kept, basis)], data.y[:, kept], data.n[:, kept], data.codes, data.n_total
        )
        fit = _fit(part, options)
    notes = _flags(fit, clusters, whole, options.ci.kind) if fit is not None else []
    freedom = clusters - whole
    quantile = NormalDist().inv_cdf((1 + options.ci.level) / 2)
    if options.ci.kind == "bias_reduced" and freedom > 0:
        quantile = t_quantile((1 + options.ci.level) / 2, freedom)
    least = 2 if options.ci.kind == "bias_reduced" else 10
    n_scored = int(data.n.sum())
    out = []
    for i, (term, name, base) in enumerate(labels):
        row: dict[str, Any] = {
            "term": term, "value": name, "reference": base, "scale": "log odds", "level": options.ci.level,
            "n_scored": n_scored, "n_total": data.n_total, "n_missing": data.n_total - n_scored,
            "n_clusters": clusters, "correlation": fit.correlation if fit is not None else None,
            "method": _method(options),
        }  # fmt: skip
        if fit is None or not estimable[i] or i not in place:
            out.append(row | {"status": gone_words(data, labels, i, gone)})
            continue
        b, variance = float(fit.coefficients[place[i]]), float(fit.covariance[place[i], place[i]])
        se = sqrt(variance) if variance > 0 and clusters > 1 and fit.converged else None
        status = [*notes, *(["rows left out that separation decides"] if lost.any() else [])]
        z = b / se if se else None
        sound = z is not None and clusters > whole and clusters >= least
        row |= {"estimate": b, "se": se, "odds_ratio": _odds(b), "z": z, "status": _rates.join_notes(status)}
        if se:
            low, high = b - quantile * se, b + quantile * se
            row |= {"low": low, "high": high, "odds_ratio_low": _odds(low), "odds_ratio_high": _odds(high)}
        if sound and z is not None:
            row["p_value"] = (
                erfc(abs(z) / sqrt(2)) if options.ci.kind == "robust" else 2 * t_below(-abs(z), freedom)
            )
        out.append(row)
    return lay_out(out, _REPORT)


_REPORT = schema(
    "term value reference estimate se low high scale odds_ratio odds_ratio_low odds_ratio_high level z p_value n_scored "
    "n_total n_missing n_clusters correlation method status"
)


def _odds(log_odds: float) -> float | None:
    return exp(log_odds) if abs(log_odds) < 700 else None


def _method(options: _Options) -> str:
    kind = {"robust": "robust errors", "bias_reduced": "bias-reduced errors"}[options.ci.kind]
    crossed = f" crossed over {' x '.join(options.ci.over)}" if len(options.ci.over) == 2 else ""
    engine = "statsmodels" if options.ci.kind == "bias_reduced" else options.engine
    return f"GEE, logit, {options.working}, {kind}{crossed} ({engine})"


def _estimable(design: Floats) -> tuple[Ints, Flags]:
    """Return columns that span the design, and which coefficients the rows that are left determine."""
    p = design.shape[1]
    if not len(design):
        return np.zeros(0, dtype=np.int64), np.zeros(p, dtype=bool)
    triangle: Floats = np.asarray(
        np.linalg.qr(design, mode="r")
    )  # as many rows as there are columns, and the same ranks
    basis: list[int] = []
    for k in range(p):
        if np.linalg.matrix_rank(triangle[:, [*basis, k]]) > len(basis):
            basis.append(k)
    _, values, right = np.linalg.svd(triangle, full_matrices=True)
    rank = int((values > values.max() * 1e-10).sum())
    return np.array(basis, dtype=np.int64), np.abs(right[rank:]).max(axis=0, initial=0.0) < 1e-8


def _fit(data: _Data, options: _Options) -> Fit:
    if len(data.codes) == 1:
        if options.engine == "statsmodels" or options.ci.kind == "bias_reduced":
            return fit_rows(
                data.design, data.y, data.n, options.working, bias_reduced=options.ci.kind != "robust"
            )
        return solve(data.design, data.y, data.n, exchangeable=options.working == "exchangeable")
    fit = solve(data.design, data.y, data.n, exchangeable=False)
    return fit._replace(covariance=meat(fit, data.design, data.y, data.n, data.codes))


def _flags(fit: Fit, clusters: int, p: int, errors: str) -> list[str]:
    if clusters < 2:
        return ["one cluster: no robust error"]
    if not fit.converged:
        return ["not converged"]
    if clusters <= p or (clusters < 10 and errors == "robust"):
        return [f"{clusters} clusters: too few for a p-value"]
    if errors == "bias_reduced":
        return [f"{clusters} clusters: errors are themselves uncertain"] if clusters < 10 else []
    return [f"{clusters} clusters: robust errors are likely too small"] if clusters < FEW else []


def gone_words(data: _Data, labels: list[Label], i: int, gone: Flags) -> str:
    """Say why a coefficient has no value."""
    term, name, base = labels[i]
    y, n = data.y.sum(axis=0), data.n.sum(axis=0)
    if y.sum() in (0.0, n.sum()):
        return f"separation: every outcome is {'true' if y.sum() else 'false'}"
    if name is not None:
        siblings = [j for j, (t, v, _) in enumerate(labels) if t == term and v is not None]
        for rows, which in (
            (data.design[:, i] == 1, name), (data.design[:, siblings].sum(axis=1) == 0, base)
        ):  # fmt: skip
            share = y[rows].sum() / n[rows].sum() if n[rows].sum() else 0.5
            if share in (0.0, 1.0):
                return f"separation: every outcome of {which} is {'true' if share else 'false'}"
    return "separation: coefficient without bound" if gone[i] else "not determined by the rows that are left"


def _by_formula(
    frame: pl.DataFrame | pl.LazyFrame, formula: str, outcome: pl.Expr, unit: list[str], reference: dict[str, str],
    options: _Options,
) -> pl.DataFrame:  # fmt: skip
    import pandas as pd
    import patsy

    names = _named(formula, frame.collect_schema().names())
    whole = frame.lazy().select(
        *dict.fromkeys([*names, *unit]), outcome.cast(pl.Float64).alias("_y")
    ).collect()  # fmt: skip
    for name in reference:
        if name not in names:
            raise UnknownName.among("term in reference, which the formula does not name", name, names)
    kept = whole.filter(pl.all_horizontal(pl.col([*names, "_y"]).is_not_null()))
    if kept.is_empty():
        raise SchemaError(
            "judgments: no row with an outcome and all terms of the formula", got={"rows": whole.height}
        )
    columns: dict[str, Any] = {}
    for name in names:
        values = kept[name]
        if values.dtype.is_numeric() and name not in reference:
            columns[name] = values.to_numpy()
            continue
        text = values.cast(pl.String)
        columns[name] = pd.Categorical(text.to_list(), categories=levels_of(text, reference, USUAL))
    try:
        with np.errstate(all="ignore"):
            matrix = patsy.dmatrix(
            formula, pd.DataFrame(columns, index=range(kept.height)), eval_env=patsy.EvalEnvironment([{"np": np}]),
            NA_action="raise", return_type="dataframe",
        )  # fmt: skip
    except Exception as problem:
        raise SchemaError(
            f"formula cannot be used: {str(problem).splitlines()[0]}", got=formula,
            remedy=f"its columns are {', '.join(names)}; the grammar is that of patsy, with np for numpy",
        ) from None  # fmt: skip
    rows = np.ascontiguousarray(matrix.to_numpy(dtype=np.float64))
    if not np.isfinite(rows).all():
        raise SchemaError(
            "formula gives values that are no numbers", got=formula, remedy="check logarithms and divisions"
        )
    design, cell = np.unique(rows, axis=0, return_inverse=True)
    _independent(design, f"terms of the formula {formula!r}")
    atoms, atom = _sums.coded(kept, unit)
    if atoms.height * len(design) > _sums.DENSE:
        raise SchemaError(
            f"{len(design)} distinct rows of covariates in {atoms.height} clusters are too many to count", got=formula,
            remedy="round the numeric covariates",
        )  # fmt: skip
    y, n = np.zeros((2, atoms.height, len(design)))
    np.add.at(y, (atom, cell.ravel()), kept["_y"].to_numpy())
    np.add.at(n, (atom, cell.ravel()), 1.0)
    labels: list[Label] = [
        ("intercept" if name == "Intercept" else str(name), None, None) for name in matrix.columns
    ]
    data = _Data(design, y, n, _sums.atom_codes(atoms, options.ci.over), whole.height)
    return _report(data, labels, options)
