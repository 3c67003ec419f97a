"""Rank correlation and corrections for many comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.errors import SchemaError
from icgkit.metrics import _input
from icgkit.metrics.intervals import BOOTSTRAP, Bootstrap, needed


def spearman(
    frame: _input.IntoFrame,
    x: str,
    y: str,
    *,
    by: str | Sequence[str] = (),
    ci: Bootstrap = BOOTSTRAP,
) -> pl.DataFrame:
    """Compute Spearman's rank correlation of two columns.

    Parameters
    ----------
    frame : frame
        One row an observation; rows with a null in `x` or `y` are left out and counted.
    x, y : str
        Numeric columns.
    by : str or sequence of str
        Columns that make the rows of the result.
    ci : Bootstrap
        Its `level` for the interval, its `n` and `seed` for the random permutations of `p_permutation`.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `x`, `y`, `estimate` (rho, -1 to 1), `low`, `high`, `level`, `p_value` (t
        approximation; null for a perfect correlation, where it is none), `p_permutation`, `n_scored`
        (pairs), `n_total`, `n_missing`, `method`, `status`. Null with the reason for fewer than
        three pairs or a constant column.

    Notes
    -----
    rho is Pearson's correlation of average ranks; t = rho sqrt((n - 2) / (1 - rho^2)) with n - 2
    degrees of freedom. The interval is tanh(atanh(rho) +- z sqrt((1 + rho^2 / 2) / (n - 3))).

    References
    ----------
    Bonett and Wright (2000), Sample size requirements for estimating Pearson, Kendall and Spearman
    correlations, Psychometrika 65(1), 23-28 (interval).

    Examples
    --------
    >>> import polars as pl
    >>> levels = pl.DataFrame({"level": [0, 1, 2, 3, 3], "recall": [0.9, 0.6, 0.5, 0.2, 0.1]})
    >>> round(spearman(levels, "level", "recall")["estimate"][0], 4)
    -0.9747
    """
    by, ci = _input.columns_of(by), needed(ci)
    got = _input.eager(frame, [*by, x, y])
    for name in (x, y):
        if not got.schema[name].is_numeric():
            raise SchemaError(f"frame.{name}: dtype", got=str(got.schema[name]), allowed="numbers")
    groups = got.group_by(by, maintain_order=True) if by else [((), got)]
    rows = [[*key, x, y, *_spearman(part.select(x, y), ci)] for key, part in groups]
    schema: dict[str, Any] = {b: got.schema[b] for b in by} | _SPEARMAN
    out = pl.DataFrame(rows, schema=schema, orient="row")
    return out.sort(by, nulls_last=True) if by else out


_SPEARMAN: dict[str, Any] = {
    "x": pl.String, "y": pl.String, "estimate": pl.Float64, "low": pl.Float64, "high": pl.Float64,
    "p_value": pl.Float64, "p_permutation": pl.Float64, "level": pl.Float64, "n_scored": pl.Int64,
    "n_total": pl.Int64, "n_missing": pl.Int64,
    "method": pl.String, "status": pl.String,
}  # fmt: skip


def _spearman(part: pl.DataFrame, ci: Bootstrap) -> list[Any]:
    x, y = part.columns
    whole = part.drop_nulls()
    n = whole.height
    how = f"average ranks, t approximation, {ci.n} permutations, seed={ci.seed}"
    tail = [ci.level, n, part.height, part.height - n, how]
    if n < 3:
        return [None, None, None, None, None, *tail, f"{n} pairs: too few"]
    constant = [c for c in (x, y) if whole[c].n_unique() == 1]
    if constant:
        return [None, None, None, None, None, *tail, f"{' and '.join(constant)} constant: undefined"]
    # Rows are put in one order, so that the seeded permutations do not depend on how they came.
    whole = whole.sort(x, y)
    a, b = (_standard(whole[c].rank("average").to_numpy()) for c in (x, y))
    rho = float(np.clip(a @ b, -1, 1))
    rng = np.random.default_rng(ci.seed)
    extreme = sum(
        int((np.abs(rng.permuted(np.tile(b, (rows, 1)), axis=1) @ a) >= abs(rho) - 1e-12).sum())
        for rows in _chunks(ci.n, max(1, 2_000_000 // n))
    )
    p_permutation = (extreme + 1) / (ci.n + 1)
    if abs(rho) > 1 - 1e-12:
        return [
            round(rho),
            None,
            None,
            None,
            p_permutation,
            *tail,
            "perfect: no interval, no t approximation",
        ]
    from scipy.special import stdtr

    t = rho * np.sqrt((n - 2) / (1 - rho**2))
    low = high = None
    if n > 3:
        from statistics import NormalDist

        half = NormalDist().inv_cdf((1 + ci.level) / 2) * np.sqrt((1 + rho**2 / 2) / (n - 3))
        low, high = (float(np.tanh(np.arctanh(rho) + s * half)) for s in (-1, 1))
    return [rho, low, high, float(2 * stdtr(n - 2, -abs(t))), p_permutation, *tail, "ok"]


def _standard(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    centred = ranks - ranks.mean()
    return np.asarray(centred / np.sqrt(centred @ centred))


def _chunks(total: int, step: int) -> list[int]:
    return [min(step, total - start) for start in range(0, total, step)]


def adjust(
    frame: _input.IntoFrame,
    *,
    p: str = "p_value",
    method: Literal["holm", "bh"] = "holm",
    by: str | Sequence[str] = (),
    name: str = "p_adjusted",
) -> pl.DataFrame:
    """Adjust p-values for many comparisons (Holm, or Benjamini and Hochberg).

    Parameters
    ----------
    frame : frame
        Any result with a column of p-values; null ones stay null and do not count as a comparison.
    p : str
        The column of p-values, 0 to 1.
    method : {"holm", "bh"}
        Family-wise error (step-down) or false discovery rate (step-up).
    by : str or sequence of str
        Columns whose groups are families of their own; all rows are one family when empty.
    name : str
        Name of the new column.

    Returns
    -------
    polars.DataFrame
        The frame with the columns `name`, `n_comparisons` and `adjustment` added.

    Notes
    -----
    p ordered upwards, m of them. Holm: max over j <= i of (m - j + 1) p_j. Benjamini and Hochberg: min
    over j >= i of m p_j / j. Both cut to 1.

    References
    ----------
    Holm (1979), Scand. J. Statist. 6, 65-70. Benjamini and Hochberg (1995), JRSS B 57(1), 289-300.

    Examples
    --------
    >>> import polars as pl
    >>> adjust(pl.DataFrame({"p_value": [0.01, 0.04, 0.03, None]}))["p_adjusted"].to_list()
    [0.03, 0.06, 0.06, None]
    >>> adjust(pl.DataFrame({"p_value": [0.01, 0.04, 0.03]}), method="bh")["p_adjusted"].to_list()
    [0.03, 0.04, 0.04]
    """
    _input.one_of("method", method, ("holm", "bh"))
    by = _input.columns_of(by)
    got = _input.eager(frame, [*by, p])
    values = got.get_column(p).cast(pl.Float64)
    if values.drop_nulls().len() and not values.drop_nulls().is_between(0, 1).all():
        raise SchemaError(f"frame.{p}: values outside 0 to 1", got=values.max(), allowed="p-values")
    indexed = got.with_row_index("_i")
    adjusted: list[float | None] = [None] * got.height
    counts = [0] * got.height
    groups = indexed.group_by(by, maintain_order=True) if by else [((), indexed)]
    for _, part in groups:
        known = part.drop_nulls(p)
        index, raw = known["_i"].to_list(), known[p].to_numpy()
        for i, value in zip(index, _holm(raw) if method == "holm" else _bh(raw), strict=True):
            adjusted[i] = float(value)
        for i in part["_i"].to_list():
            counts[i] = len(index)
    return got.with_columns(
        pl.Series(name, adjusted, dtype=pl.Float64),
        pl.Series("n_comparisons", counts, dtype=pl.Int64),
        pl.lit({"holm": "Holm", "bh": "Benjamini-Hochberg"}[method]).alias("adjustment"),
    )


def _holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    out = np.empty_like(p)
    out[order] = np.minimum(stepped, 1.0)
    return out


def _bh(p: NDArray[np.float64]) -> NDArray[np.float64]:
    order = np.argsort(p, kind="stable")[::-1]
    stepped = np.minimum.accumulate(p[order] * len(p) / np.arange(len(p), 0, -1))
    out = np.empty_like(p)
    out[order] = np.minimum(stepped, 1.0)
    return out
