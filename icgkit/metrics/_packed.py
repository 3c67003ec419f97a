"""Products of resampling counts with whole numbers, several of which share one float64.

The product of counts with a packed column is the packed column of the products, as long as every
field has room for its largest sum. A resample draws as many clusters as there are, so that this sum
is at most the largest value times the number of clusters: known beforehand, and exact below 2^53.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icgkit.metrics._input import Floats, Ints

_BITS = 53  # of a float64
_PART_FROM = 1 << 12  # so many clusters are worth parting into classes
_SHARE = 32  # a class of its own has at least this part of the clusters
_ROOM = 1 << 20  # counts of few clusters turned into float64 at a time
_THREAD = 1 << 18  # larger products wake up the threads of BLAS, which spin for longer than they work
_HIGH = 32  # resamples multiplied at a time when there are many clusters
ROWS = 256  # resamples at a time below which pieces become too small


class Field(NamedTuple):
    """Where the product of one measure lies, and the rows of the result that gain it `times` over."""

    column: int
    shift: int
    bits: int
    rows: list[tuple[int, int]]


class Factor(NamedTuple):
    """What the counts of clusters from `first` on are multiplied with; without fields, row by row."""

    first: int
    columns: Floats
    fields: list[Field]
    rows: Ints


def pack(rows: Floats, scale: Ints) -> tuple[list[Factor], Ints | None]:
    """Turn (measures, clusters) into factors, and the order in which they take the clusters.

    `scale` is 0 for rows that are not whole, 1 for whole ones, larger for fractions scaled to whole
    numbers. Where both kinds are there, many clusters are parted by their largest whole number: with
    one number of nodes, shares of nodes are multiples of counts of nodes, and multiplied once.
    """
    n_clusters = rows.shape[1]
    fits = (scale > 0) & (rows.min(axis=1) >= 0) & (rows.max(axis=1) * n_clusters < 1 << _BITS)
    plain, packed = np.flatnonzero(~fits), np.flatnonzero(fits)
    factors: list[Factor] = []
    order, ends = None, [0, n_clusters]
    counted = packed[scale[packed] == 1]
    if n_clusters >= _PART_FROM and 0 < len(counted) < len(packed):
        order, ends = _classes(rows[counted].max(axis=0))
        rows = rows[:, order]
    if len(plain):
        factors.append(Factor(0, np.ascontiguousarray(rows[plain].T), [], plain))
    for start, end in pairwise(ends):
        part = rows[packed, start:end].astype(np.int64)
        if part.any():
            factors.append(Factor(start, *_fields(part, packed, n_clusters), packed))
    return factors, order


def _classes(largest: Floats) -> tuple[Ints, list[int]]:
    """Order clusters by their class, the small classes together at the end; return the ends of classes."""
    _, code, size = np.unique(largest, return_inverse=True, return_counts=True)
    code = np.where((size * _SHARE >= len(largest))[code], code, len(size))
    sizes = np.bincount(code)
    return np.argsort(code, kind="stable"), [0, *np.cumsum(sizes[sizes > 0]).tolist()]


def _fields(part: Ints, names: Ints, n_clusters: int) -> tuple[Floats, list[Field]]:
    """Put distinct rows, each over its greatest common divisor, into the first column with room."""
    divisor = np.gcd.reduce(part, axis=1)
    alive = np.flatnonzero(divisor)
    distinct, index = unique_rows(part[alive] // divisor[alive, None])
    bits = [int(top).bit_length() for top in distinct.max(axis=1) * n_clusters]
    used: list[int] = []
    fields = []
    for i in sorted(range(len(bits)), key=lambda i: -bits[i]):
        column = next((j for j, u in enumerate(used) if u + bits[i] <= _BITS), len(used))
        if column == len(used):
            used.append(0)
        rows = [(int(names[k]), int(divisor[k])) for k in alive[index == i]]
        fields.append((i, Field(column, used[column], bits[i], rows)))
        used[column] += bits[i]
    columns = np.zeros((len(used), part.shape[1]), dtype=np.int64)
    for i, field in fields:
        columns[field.column] += distinct[i] << field.shift
    return np.ascontiguousarray(columns.T, dtype=np.float64), [field for _, field in fields]


def unique_rows(rows: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Drop repeated rows, keeping the order of first appearance; return which one each row was."""
    seen: dict[int, int] = {}
    first: list[int] = []
    index = np.empty(len(rows), dtype=np.int64)
    for i, row in enumerate(rows):
        k = seen.setdefault(hash(row.tobytes()), len(first))
        if k == len(first) or not np.array_equal(rows[first[k]], row):
            k = len(first)
            first.append(i)
        index[i] = k
    return rows[first], index


def product(
    counts: NDArray[np.uint8], factors: list[Factor], order: Ints | None,
    out: Floats, names: Ints,
) -> None:  # fmt: skip
    """Multiply (resamples, clusters) counts with the factors into rows `names` of (rows, resamples)."""
    out[names] = 0
    step = max(ROWS, _ROOM // counts.shape[1])
    for start in range(0, len(counts), step):
        part, into = counts[start : start + step], out[:, start : start + step]
        for factor in factors:
            got = _times(part, factor, order).T
            if not factor.fields:
                into[names[factor.rows]] = got
                continue
            whole = got.astype(np.int64, order="C")
            for field in factor.fields:
                value = ((whole[field.column] >> field.shift) & ((1 << field.bits) - 1)).astype(np.float64)
                for row, times in field.rows:
                    into[names[row]] += value if times == 1 else value * times


def _times(counts: NDArray[np.uint8], factor: Factor, order: Ints | None) -> Floats:
    """Multiply in pieces that stay in the cache and are too small for threads."""
    depth, width = factor.columns.shape
    out = np.zeros((len(counts), width))
    deep = max(1, min(depth, _THREAD // (_HIGH * width)))
    high = max(1, _THREAD // (deep * width))
    end = len(counts) // high * high
    for start in range(0, depth, deep):
        stop = min(start + deep, depth)
        first = factor.first + start
        if order is None:
            left = counts[:, first : first + stop - start].astype(np.float64)
        else:
            left = np.take(counts, order[first : first + stop - start], axis=1).astype(np.float64)
        right = factor.columns[start:stop]
        out[:end] += (left[:end].reshape(-1, high, stop - start) @ right).reshape(end, width)
        out[end:] += left[end:] @ right
    return out
