"""Cluster bootstrap as a product of resampling counts with per-cluster sums; intervals from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from statistics import NormalDist
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.metrics import _packed, _sums
from icgkit.metrics._input import Floats, Ints
from icgkit.metrics.intervals import Bootstrap, t_quantile

Seed: TypeAlias = int | tuple[int, int]
_KEEP = 30_000_000  # counts of a resampling plan that are kept for the next call with the same seed
_CHUNK = 6_000_000  # counts drawn and multiplied at a time
_SMALL = 1 << 12  # so many clusters are drawn with 16 bits, which reject too often for larger numbers


def plan(n_clusters: int, n_resamples: int, seed: Seed) -> Iterator[NDArray[np.uint8]]:
    """Yield blocks of resampling counts, one row a resample, one column a cluster.

    Every row sums to `n_clusters`. The same arguments give the same counts, whatever is measured,
    so that all cells of a table are resampled together and differences keep their pairing.
    A count fits a byte: among 256 clusters or more, 256 draws of one are as good as impossible.
    """
    if n_clusters * n_resamples <= _KEEP:
        kept = _kept(n_clusters, n_resamples, seed)
        step = max(1, _CHUNK // n_clusters)
        for start in range(0, n_resamples, step):
            yield kept[start : start + step]
        return
    blocks = _draw(n_clusters, n_resamples, seed)
    with ThreadPoolExecutor(1) as drawing:  # the next block, while the last one is multiplied
        coming = drawing.submit(next, blocks, None)
        while (block := coming.result()) is not None:
            coming = drawing.submit(next, blocks, None)
            yield block


@lru_cache(maxsize=4)
def _kept(n_clusters: int, n_resamples: int, seed: Seed) -> NDArray[np.uint8]:
    return np.concatenate(list(_draw(n_clusters, n_resamples, seed)))


def _draw(n_clusters: int, n_resamples: int, seed: Seed) -> Iterator[NDArray[np.uint8]]:
    """Draw clusters with replacement and count them, a few resamples at a time to stay in the cache."""
    rng = np.random.Generator(np.random.SFC64(seed))
    small = n_clusters <= _SMALL
    step = max(1, (1 << (17 if small else 19)) // max(n_clusters, 1))
    size = max(_packed.ROWS, _CHUNK // max(n_clusters, 1)) // step * step or step
    room = np.empty((step if small else 0, n_clusters), dtype=np.int64)
    offset = (np.arange(len(room), dtype=np.int64) * n_clusters)[:, None]
    for first in range(0, n_resamples, size):
        block = np.empty((min(size, n_resamples - first), n_clusters), dtype=np.uint8)
        for start in range(0, len(block), step):
            part = block[start : start + step]
            if small:
                drawn = rng.integers(0, n_clusters, size=part.shape, dtype=np.uint16)
                place = room[: len(part)]
                np.add(drawn, offset[: len(part)], dtype=np.int64, casting="unsafe", out=place)
                part[:] = np.bincount(place.ravel(), minlength=part.size).reshape(part.shape)
            else:
                _count(rng.integers(0, n_clusters, size=part.shape, dtype=np.uint32), part)
        yield block


def _count(drawn: NDArray[Any], counts: NDArray[np.uint8]) -> None:
    """As a sparse matrix that becomes dense: entries of one place add up, in bytes that stay cached."""
    from scipy.sparse import csr_array

    ones = np.ones(drawn.size, dtype=np.uint8)
    ends = np.arange(0, drawn.size + 1, drawn.shape[1], dtype=np.int32)
    csr_array((ones, drawn.ravel().view(np.int32), ends), shape=drawn.shape).toarray(out=counts)


def draw_sums(sums: NDArray[Any], n_resamples: int, seed: int, *, progress: bool = False) -> Floats:
    """Resample clusters: (measures, clusters) sums to (measures, n_resamples) sums."""
    rows, index = draw_rows(sums, n_resamples, seed, progress=progress)
    return rows[index]


def draw_rows(
    sums: NDArray[Any], n_resamples: int, seed: int, *, progress: bool = False
) -> tuple[Floats, Ints]:
    """Resample clusters; return distinct rows of draws, and which row each measure has.

    Measures that repeat another one, and measures that are equal for every cluster, cost nothing.
    """
    sums = np.asarray(sums, dtype=np.float64)
    n_clusters = sums.shape[1]
    if not n_clusters:
        return np.zeros((1, n_resamples)), np.zeros(len(sums), dtype=np.int64)
    unique, index = _packed.unique_rows(sums)
    flat = (unique == unique[:, :1]).all(axis=1)
    moving = np.flatnonzero(~flat)
    rows = np.empty((unique.shape[0], n_resamples))
    rows[flat] = unique[flat, :1] * n_clusters
    if not len(moving):
        return rows, index
    whole, scale = _whole(unique[moving])
    factors, order = _packed.pack(whole, scale)
    bar = _bar(n_clusters, n_resamples) if progress else None
    start = 0
    for block in plan(n_clusters, n_resamples, seed):
        end = start + block.shape[0]
        _packed.product(block, factors, order, rows[:, start:end], moving)
        start = end
        if bar is not None:
            bar.update(block.shape[0])
    if bar is not None:
        bar.close()
    for i, divisor in zip(moving, scale, strict=True):
        if divisor > 1:
            rows[i] /= divisor
    return rows, index


def second(seed: int) -> tuple[int, int]:
    """Return the seed of the second of two crossed columns."""
    return (seed, 1)


def draw_crossed(sums: NDArray[Any], codes: Sequence[Ints], ci: Bootstrap) -> Floats:
    """Draw the groups of two crossed columns independently; a column of `sums` counts by the product.

    `codes` give each column of `sums` its group in either.
    """
    sums = np.asarray(sums, dtype=np.float64)
    out = np.empty((len(sums), ci.n))
    sizes = [int(c.max(initial=-1)) + 1 for c in codes]
    if not sums.shape[1]:
        return np.zeros((len(sums), ci.n))
    seeds: list[Seed] = [ci.seed, second(ci.seed)]
    plans = [np.concatenate(list(plan(n, ci.n, seed))) for n, seed in zip(sizes, seeds, strict=True)]
    step = max(1, _CHUNK // sums.shape[1])
    for start in range(0, ci.n, step):
        one, two = (
            p[start : start + step][:, c].astype(np.float64) for p, c in zip(plans, codes, strict=True)
        )
        out[:, start : start + step] = sums @ (one * two).T
    return out


def _whole(rows: Floats) -> tuple[Floats, Ints]:
    """Scale rows of fractions with small denominators to whole numbers; return them and the scales.

    A row for which no scale is found keeps its values and has scale 0.
    """
    scaled, scale = rows.copy(), np.zeros(len(rows), dtype=np.int64)
    for i, row in enumerate(rows):
        for divisor in (1, 12, 60, 840, 27720, 360360):  # least common multiples of 1 .. n
            times = row * divisor
            near = np.rint(times)
            if (np.abs(times - near) <= 1e-12 * np.abs(times)).all():
                scaled[i], scale[i] = near, divisor
                break
    return scaled, scale


def _bar(n_clusters: int, n_resamples: int) -> Any:
    if n_clusters * n_resamples < 100_000_000:
        return None
    from tqdm import tqdm

    return tqdm(total=n_resamples, desc="bootstrap", unit="resample", mininterval=2.0)


def ratio(num: Floats, den: Floats) -> Floats:
    """Divide, with NaN (inside this package only) where nothing was drawn."""
    out = np.full(num.shape, np.nan)
    np.divide(num, den, out=out, where=den > 0)
    return out


def percentile(draws: Floats, level: float) -> tuple[Floats, Floats, Ints]:
    """Return lower and upper percentile of each row of draws, and how many draws are undefined.

    Rows without a defined draw get NaN.
    """
    tails = [(1 - level) / 2, (1 + level) / 2]
    undefined = np.isnan(draws).sum(axis=1)
    low, high = np.full(len(draws), np.nan), np.full(len(draws), np.nan)
    whole = undefined == 0
    if whole.any():
        low[whole], high[whole] = _quantiles(draws[whole], *tails)
    for i in np.flatnonzero(~whole & (undefined < draws.shape[1])):
        row = draws[i]
        low[i : i + 1], high[i : i + 1] = _quantiles(row[~np.isnan(row)][None, :], *tails)
    return low, high, undefined


def ends(
    draws: Floats,
    ci: Bootstrap,
    clusters: Ints,
    estimate: Floats,
    without: Callable[[], Floats] | None = None,
) -> tuple[Floats, Floats, Ints]:
    """Return lower and upper end of each row of draws by the wanted kind, and undefined draws.

    `without` gives (rows, clusters) estimates without each cluster in turn, which BCa needs.
    """
    if ci.kind == "percentile":
        return percentile(draws, ci.level)
    undefined = np.isnan(draws).sum(axis=1)
    low, high = np.full((2, len(draws)), np.nan)
    left_out = without() if ci.kind == "bca" and without is not None else None
    for i, row in enumerate(draws):
        known = row[~np.isnan(row)]
        if not len(known) or clusters[i] < 2:
            continue
        tails: tuple[float, float] | None
        if left_out is None:
            tails = _expanded(ci.level, int(clusters[i]))
        else:
            tails = _bca(known, float(estimate[i]), left_out[i], ci.level)
        if tails is not None:
            low[i], high[i] = np.quantile(known, tails)
    return low, high, undefined


def held(
    estimate: Floats, low: Floats, high: Floats, undefined: Ints, ci: Bootstrap
) -> tuple[Floats, Floats]:
    """Stretch intervals to their estimates; NaN where over 5 % of the draws are undefined, or all are alike."""
    good = (undefined <= ci.n // 20) & (low < high) & np.isfinite(estimate)
    ends = np.fmin(low, estimate), np.fmax(high, estimate)
    return np.where(good, ends[0], np.nan), np.where(good, ends[1], np.nan)


def _expanded(level: float, clusters: int) -> tuple[float, float]:
    t = t_quantile((1 + level) / 2, clusters - 1)
    tail = NormalDist().cdf(-t * (clusters / (clusters - 1)) ** 0.5)
    return tail, 1 - tail


def _bca(draws: Floats, estimate: float, left_out: Floats, level: float) -> tuple[float, float] | None:
    normal = NormalDist()
    below = ((draws < estimate).sum() + 0.5 * (draws == estimate).sum()) / len(draws)
    if not 0 < below < 1:
        return None
    shift = normal.inv_cdf(float(below))
    away = left_out[np.isfinite(left_out)]
    away = away.mean() - away
    squares = float((away**2).sum())
    skew = float((away**3).sum()) / (6 * squares**1.5) if squares > 0 else 0.0
    z = [shift + s * normal.inv_cdf((1 + level) / 2) for s in (-1, 1)]
    if any(1 - skew * v <= 0 for v in z):
        return None
    first, last = (normal.cdf(shift + v / (1 - skew * v)) for v in z)
    return first, last


def _quantiles(draws: Floats, lower: float, upper: float) -> tuple[Floats, Floats]:
    """Do as np.quantile does, by two partitions at one place each, which are fast; reorders `draws`."""
    last = draws.shape[1] - 1
    below, above = int(lower * last), int(upper * last)
    draws.partition(above, axis=1)
    high = draws[:, above].copy()
    after = draws[:, above + 1 :].min(axis=1) if above < last else high
    first, second = high, after
    if below < above:
        rest = draws[:, : above + 1]
        rest.partition(below, axis=1)
        first, second = rest[:, below], rest[:, below + 1 :].min(axis=1)
    return _between(first, second, lower * last - below), _between(high, after, upper * last - above)


def _between(a: Floats, b: Floats, share: float) -> Floats:
    return a + (b - a) * share if share < 0.5 else b - (b - a) * (1 - share)


def wilson(p: float, n: float, level: float) -> tuple[float, float]:
    """Return the Wilson score interval of a proportion `p` of `n` trials."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * ((p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5)
    low, high = middle - half, middle + half
    return (0.0 if p == 0 else max(0.0, low), 1.0 if p == 1 else min(1.0, high))


class Ends(NamedTuple):
    """Lower and upper ends, undefined draws, and the clusters behind them (of crossed ones the fewer)."""

    low: Floats
    high: Floats
    undefined: Ints
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
        return function(draw_sums(by_first(sums, atoms, ci), ci.n, ci.seed, progress=True))
    return function(draw_crossed(sums, _sums.atom_codes(atoms, ci.over), ci))


def groups(atoms: pl.DataFrame, cluster: Sequence[str]) -> int:
    """Count the clusters; of crossed ones the fewer."""
    return min(int(c.max(initial=-1)) + 1 for c in _sums.atom_codes(atoms, cluster))


def interval(
    function: Callable[[Floats], Floats], sums: Floats, atoms: pl.DataFrame, ci: Bootstrap,
    clusters: Ints | None = None,
) -> Ends:  # fmt: skip
    """Return the interval of each value that `function` makes of the sums; `clusters` behind each, all if absent."""
    drawn = draws(function, sums, atoms, ci)
    total = sums.sum(axis=1, keepdims=True)
    estimate, n = function(total)[:, 0], groups(atoms, ci.over)
    behind = np.full(len(estimate), n) if clusters is None else clusters
    found = ends(drawn, ci, behind, estimate, lambda: function(total - by_first(sums, atoms, ci)))
    return Ends(*found, n)
