"""Intervals of any function of sums over clusters: rates have their own, faster way in `_rates`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.metrics import _resample, _sums
from icgkit.metrics.intervals import Bootstrap

Floats = NDArray[np.float64]


class Ends(NamedTuple):
    """Lower and upper ends, undefined draws, and the clusters behind them (of crossed ones the fewer)."""

    low: Floats
    high: Floats
    undefined: NDArray[np.int64]
    clusters: int


def by_first(sums: Floats, atoms: pl.DataFrame, ci: Bootstrap) -> Floats:
    """Add up the columns of `sums` by the groups of the first cluster column."""
    code = _sums.atom_codes(atoms, ci.over)[0]
    return np.asarray(_sums.by_cluster(sums, code, int(code.max(initial=-1)) + 1))


def draws(function: Callable[[Floats], Floats], sums: Floats, atoms: pl.DataFrame, ci: Bootstrap) -> Floats:
    """Draw atoms (one row of `atoms` each column of `sums`) by cluster and apply `function` to the sums.

    `function` takes (measures, n) sums to (values, n).
    """
    if len(ci.over) == 1:
        return function(_resample.draw_sums(by_first(sums, atoms, ci), ci.n, ci.seed, progress=True))
    return function(_resample.draw_crossed(sums, _sums.atom_codes(atoms, ci.over), ci))


def groups(atoms: pl.DataFrame, cluster: Sequence[str]) -> int:
    """Count the clusters; of crossed ones the fewer."""
    return min(int(c.max(initial=-1)) + 1 for c in _sums.atom_codes(atoms, cluster))


def interval(function: Callable[[Floats], Floats], sums: Floats, atoms: pl.DataFrame, ci: Bootstrap) -> Ends:
    """Return the interval of each value that `function` makes of the sums."""
    drawn = draws(function, sums, atoms, ci)
    total = sums.sum(axis=1, keepdims=True)
    estimate, n = function(total)[:, 0], groups(atoms, ci.over)
    ends = _resample.ends(
        drawn, ci, np.full(len(estimate), n), estimate, lambda: function(total - by_first(sums, atoms, ci))
    )
    return Ends(*ends, n)
