"""Counts per cell and case: the one table from which rates, gaps and their intervals are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.errors import SchemaError
from icgkit.metrics import _input
from icgkit.metrics._input import Floats, Ints

BATCH = 1 << 20
"""Rows looked at together when a frame is too large to be grouped at once."""
DENSE = 120_000_000
"""Largest number of cell-case counts that is kept in memory as a dense table."""
_BITS = 21  # three counters share one int64; none of them may pass two million


@dataclass(frozen=True)
class Counts:
    """`positive` (of numbers: their sum) and `scored` rows for each cell (row) and unit (column); `total` rows of each cell."""

    cells: pl.DataFrame
    units: pl.DataFrame
    positive: NDArray[Any]
    scored: NDArray[np.int32]
    total: Ints
    repeats: bool = True
    """False where it is known that no two rows share cell, unit and the column that tells rows apart."""


def unit_columns(frame: pl.DataFrame | pl.LazyFrame, unit: str) -> list[str]:
    """Name the columns that identify a unit: a case belongs to its dataset."""
    names = frame.collect_schema().names()
    return ["dataset", unit] if "dataset" in names and unit != "dataset" else [unit]


def count(
    frame: pl.DataFrame | pl.LazyFrame, value: pl.Expr, cells: Sequence[str], unit: Sequence[str],
    apart: str | None = None,
) -> Counts:  # fmt: skip
    """Count rows, scored rows and positive rows for each cell and unit.

    A lazy or large frame is read in batches into dense counters, so that memory grows with the
    number of cell-unit pairs and not with the number of rows. Rows that `apart` (a node) tells apart
    are counted apart first, where that fits: then it is known whether a decision can stand twice.
    """
    cells, unit = list(dict.fromkeys(cells)), list(unit)
    keys = list(dict.fromkeys([*cells, *unit]))
    further = [apart] if apart is not None and apart not in keys else []
    lazy = frame.lazy().select(*keys, *further, value.alias("_v"))
    if lazy.collect_schema()["_v"] != pl.Boolean:
        return _grouped(lazy, cells, unit)
    axes = [*cells, *(u for u in unit if u not in cells)]
    if isinstance(frame, pl.DataFrame) and frame.height <= 2 * BATCH:
        coded = _coded(lazy.collect(), axes, further) if _plain(frame, keys) else None
        return _grouped(lazy, cells, unit) if coded is None else _decoded(*coded, axes, cells, unit)
    for more in [further, []] if further else [[]]:
        packed, labels = _batched(lazy, [*axes, *more], len(cells))
        if packed is not None:
            repeats = not more or bool(packed.max(initial=0) >> (2 * _BITS) > 1)
            return _decoded(packed.sum(axis=-1) if more else packed, labels, repeats, axes, cells, unit)
    return _grouped(lazy, cells, unit)


def _plain(frame: pl.DataFrame, keys: list[str]) -> bool:
    """Tell whether counting by codes is faster than grouping: many rows, keys of text."""
    return 4096 < frame.height < 1 << _BITS and all(frame.schema[k] == pl.String for k in keys)


def _coded(
    frame: pl.DataFrame, names: list[str], further: list[str]
) -> tuple[Ints, dict[str, pl.Series], bool] | None:
    """Add up all rows in one dense table, one axis a key column; None if that is too big.

    The third tells whether rows can stand twice: False where a column `further` tells all of them apart.
    """
    codes, labels = numbers(frame, [*names, *further])
    sizes, room = [len(labels[name]) for name in names], max(8 * frame.height, 1 << 16)
    if prod(sizes) > room:
        return None
    slot = np.zeros(frame.height, dtype=np.int64)
    for name, size in zip(names, sizes, strict=True):
        slot *= size
        slot += codes[name]
    v = frame.get_column("_v")
    step = v.to_numpy() if not v.null_count() else v.fill_null(False).to_numpy()
    step = step.astype(np.int64)
    step += (1 << _BITS) + (1 << (2 * _BITS))
    if v.null_count():
        step[v.is_null().to_numpy()] = 1 << (2 * _BITS)
    packed = np.zeros(sizes, dtype=np.int64)
    np.add.at(packed.reshape(-1), slot, step)
    repeats = True
    for name in further:
        if (cells := packed.size * len(labels[name])) <= room:
            repeats = any_twice(slot * len(labels[name]) + codes[name], cells)
    return packed, labels, repeats


def any_twice(numbers: Ints, room: int) -> bool:
    """Tell whether one of the numbers, all below `room`, stands twice."""
    if room > max(64 * len(numbers), 1 << 16):
        ordered = np.sort(numbers)
        return bool((ordered[1:] == ordered[:-1]).any())
    seen = np.zeros(room, dtype=bool)
    seen[numbers] = True
    return int(np.count_nonzero(seen)) < len(numbers)


def numbers(frame: pl.DataFrame, names: list[str]) -> tuple[dict[str, NDArray[Any]], dict[str, pl.Series]]:
    """Number the values of columns, and return the value (as text) of every number; the first one is null.

    Where values stand in long runs only the first of each run is looked up.
    """
    if any(frame.schema[n] != pl.String for n in names):
        frame = frame.with_columns(pl.col(names).cast(pl.String))
    kinds = {name: pl.Categories.random() for name in names}
    runs = {name: run.to_numpy() for name, run in frame.select(pl.col(names).rle_id()).to_dict().items()}
    long = [n for n in names if frame.height and frame.height > 8 * (int(runs[n][-1]) + 1)]
    short = [pl.col(n).cast(pl.Categorical(kinds[n])) for n in names if n not in long]
    coded = frame.select(short).to_dict() if short else {}
    for name in long:
        first = np.flatnonzero(runs[name][1:] != runs[name][:-1]) + 1
        heads = frame.get_column(name).gather(np.concatenate([[0], first]))
        coded[name] = heads.cast(pl.Categorical(kinds[name]))
    codes, labels, blank = {}, {}, pl.Series([None], dtype=pl.String)
    for name, series in coded.items():  # polars forgets the categories with their last series
        labels[name] = pl.concat([blank, kinds[name].to_series().cast(pl.String)]).alias(name)
        number = series.to_physical()
        code = number.cast(pl.Int64).fill_null(-1) if number.null_count() else number
        codes[name] = code.to_numpy() + 1
        if name in long:
            codes[name] = codes[name][runs[name]]
    return codes, labels


def _index(frame: pl.DataFrame, names: Sequence[str], index: str) -> pl.DataFrame:
    return frame.unique().sort(list(dict.fromkeys(names)), nulls_last=True).with_row_index(index)


def _grouped(lazy: pl.LazyFrame, cells: Sequence[str], unit: Sequence[str]) -> Counts:
    keys = list(dict.fromkeys([*cells, *unit]))
    grouped = (
        lazy.group_by(keys)
        .agg(pl.col("_v").sum().alias("_p"), pl.col("_v").count().alias("_s"), pl.len().alias("_t"))
        .collect(engine="streaming")
    )
    cell_frame = _index(grouped.select(list(dict.fromkeys(cells))), cells, "_k") if cells else _no_cells()
    unit_frame = _index(grouped.select(list(dict.fromkeys(unit))), unit, "_u")
    coded = grouped.join(unit_frame, on=list(unit), nulls_equal=True)
    coded = coded.join(cell_frame, on=list(cells), nulls_equal=True) if cells else coded.with_columns(_k=0)
    k, u = coded["_k"].to_numpy(), coded["_u"].to_numpy()
    shape = (cell_frame.height, unit_frame.height)
    number = coded.schema["_p"].is_float()
    tables = np.zeros(shape, dtype=np.float64 if number else np.int32), np.zeros(shape, dtype=np.int32)
    for table, name in zip(tables, ("_p", "_s"), strict=True):
        table[k, u] = coded[name].to_numpy()
    total = np.bincount(k, weights=coded["_t"].to_numpy(), minlength=cell_frame.height).astype(np.int64)
    return Counts(cell_frame.drop("_k"), unit_frame.drop("_u"), tables[0], tables[1], total)


def _no_cells() -> pl.DataFrame:
    return pl.DataFrame({"_k": [0]}, schema={"_k": pl.UInt32})


def _batched(lazy: pl.LazyFrame, names: list[str], n_cells: int) -> tuple[Ints | None, dict[str, pl.Series]]:
    """Code every key column as it is read and add batches up in one dense table; None if that is too big."""
    dtypes = lazy.collect_schema()
    kinds = {name: pl.Categories.random() for name in names}
    codes = [
        (pl.col(n) if dtypes[n] == pl.String else pl.col(n).cast(pl.String))
        .cast(pl.Categorical(kinds[n]))
        .to_physical()
        .cast(pl.Int64)
        .fill_null(-1)
        for n in names
    ]
    v = pl.col("_v")
    step = (
        v.fill_null(False).cast(pl.Int64) + v.is_not_null().cast(pl.Int64) * (1 << _BITS) + (1 << (2 * _BITS))
    )
    coded = lazy.select(*((c + 1).alias(n) for c, n in zip(codes, names, strict=True)), _step=step)
    packed = np.zeros([1] * len(names), dtype=np.int64)  # position 0 of an axis is null
    for batch in coded.collect_batches(chunk_size=BATCH, maintain_order=False, engine="streaming"):
        if not batch.height:
            continue
        columns = [batch[n].to_numpy() for n in names]
        need = [int(c.max()) + 1 for c in columns]
        if any(n > have for n, have in zip(need, packed.shape, strict=True)):
            room = [
                have if n <= have else (n if k < n_cells else n + n // 5)
                for k, (n, have) in enumerate(zip(need, packed.shape, strict=True))
            ]
            if float(np.prod(np.array(room, dtype=np.float64))) > DENSE:
                return None, {}
            packed = _grown(packed, room)
        slot = np.zeros(batch.height, dtype=np.int64)
        for column, size in zip(columns, packed.shape, strict=True):
            slot *= size
            slot += column
        np.add.at(packed.reshape(-1), slot, batch["_step"].to_numpy())
    return packed, {n: _labels(lazy, n, dtypes[n], kinds[n], packed.shape[i]) for i, n in enumerate(names)}


def _decoded(
    packed: Ints, labels: dict[str, pl.Series], repeats: bool, names: list[str],
    cells: list[str], unit: list[str],
) -> Counts:  # fmt: skip
    """Take the three counters of a dense table apart, its axes in the order of their values."""
    rest = names[len(cells) :]
    for axis, name in enumerate(names):
        order = labels[name].arg_sort(nulls_last=True).to_numpy()
        if (order[1:] < order[:-1]).any():
            packed = np.take(packed, order, axis=axis)
            labels[name] = labels[name].gather(order)
    rows = int(np.prod(packed.shape[: len(cells)]))
    table = packed.reshape(rows, -1)
    filled = table > 0
    used, seen = np.flatnonzero(filled.any(axis=1)), np.flatnonzero(filled.any(axis=0))
    if len(used) < rows or len(seen) < table.shape[1]:
        table = table[np.ix_(used, seen)]
    del packed, filled
    mask = (1 << _BITS) - 1
    positive, scored = ((table & mask).astype(np.int32), ((table >> _BITS) & mask).astype(np.int32))
    total = (table >> (2 * _BITS)).sum(axis=1)
    cell_frame, unit_frame = _decode(used, cells, labels), _decode(seen, rest, labels)
    if rest != unit:
        cell_frame, unit_frame, positive, scored = _within(cell_frame, unit_frame, unit, positive, scored)
    return Counts(cell_frame, unit_frame, positive, scored, total, repeats)


def _grown(table: Ints, room: list[int]) -> Ints:
    bigger = np.zeros(room, dtype=np.int64)
    bigger[tuple(slice(0, n) for n in table.shape)] = table
    return bigger


def _labels(lazy: pl.LazyFrame, name: str, dtype: Any, kinds: pl.Categories, size: int) -> pl.Series:
    """Return the value of every code of a column; the first one is null, as are codes not in use."""
    known = kinds.to_series().cast(pl.String).head(size - 1)
    blank = pl.Series([None], dtype=pl.String)
    text = pl.concat([blank, known, blank.new_from_index(0, size - 1 - len(known))]).alias(name)
    if dtype == pl.String:
        return text
    values = lazy.select(pl.col(name).unique()).collect(engine="streaming").get_column(name)
    back = dict(zip(values.cast(pl.String).to_list(), values.to_list(), strict=True))
    return pl.Series(name, [None if t is None else back[t] for t in text.to_list()], dtype=dtype)


def _decode(codes: Ints, names: list[str], values: dict[str, pl.Series]) -> pl.DataFrame:
    columns = []
    for name in reversed(names):
        size = len(values[name])
        columns.append(values[name].gather(codes % size).alias(name))
        codes = codes // size
    return pl.DataFrame(columns[::-1]) if columns else pl.DataFrame(height=1)


def _within(
    cells: pl.DataFrame,
    rest: pl.DataFrame,
    unit: list[str],
    positive: NDArray[np.int32],
    scored: NDArray[np.int32],
) -> tuple[pl.DataFrame, pl.DataFrame, NDArray[np.int32], NDArray[np.int32]]:
    """Give units that a column of the cells helps to identify (a dataset) columns of their own."""
    shared = [u for u in unit if u in cells.columns]
    groups = cells.select(shared).unique().sort(shared, nulls_last=True)
    code = cells.select(shared).join(
        groups.with_row_index("_g"), on=shared, how="left", nulls_equal=True, maintain_order="left"
    )
    width = rest.height
    tables = np.zeros((2, cells.height, groups.height * width), dtype=np.int32)
    for k, g in enumerate(code["_g"].to_list()):
        tables[0, k, g * width : (g + 1) * width] = positive[k]
        tables[1, k, g * width : (g + 1) * width] = scored[k]
    units = groups.join(rest, how="cross", maintain_order="left_right").select(unit)
    return cells, units, tables[0], tables[1]


def with_columns_of(
    frame: pl.DataFrame | pl.LazyFrame, units: pl.DataFrame, cluster: Sequence[str], what: str
) -> pl.DataFrame:
    """Return the units with further columns of theirs (clusters, weights); raise if a unit has several values."""
    names = units.columns
    more = [c for c in dict.fromkeys(cluster) if c not in names]
    if not more:
        return units
    pairs = frame.lazy().select(*names, *more).unique().collect(engine="streaming")
    twice = pairs.filter(pl.struct(names).is_duplicated())
    if twice.height:
        raise SchemaError(
            f"{what} {twice.select(names).row(0)} has several values of {', '.join(more)}",
            allowed=f"a column with one value in all rows of a {what}",
        )
    return units.join(pairs, on=names, how="left", nulls_equal=True, maintain_order="left")


def cluster_index(frame: pl.DataFrame | pl.LazyFrame, units: pl.DataFrame, cluster: str) -> tuple[Ints, int]:
    """Return the cluster number of every case, and how many clusters there are."""
    if cluster in units.columns:
        return np.arange(units.height, dtype=np.int64), units.height
    _input.require(frame, [cluster], where="frame")
    _input.no_null(frame, [cluster], where="frame", what="cluster")
    clusters, code = coded(with_columns_of(frame, units, [cluster], "case"), [cluster])
    return code, clusters.height


def coded(frame: pl.DataFrame, names: list[str]) -> tuple[pl.DataFrame, Ints]:
    """Return the distinct values of columns in their order, and the number of each row among them."""
    known = frame.select(names).unique().sort(names)
    numbers = known.with_row_index("_n")
    joined = frame.select(names).join(numbers, on=names, how="left", nulls_equal=True, maintain_order="left")
    return known, joined["_n"].to_numpy().astype(np.int64)


def by_cluster(values: NDArray[Any], clusters: Ints, n_clusters: int) -> NDArray[Any]:
    """Add up the columns (units) of `values` that share a cluster."""
    if n_clusters == values.shape[1]:
        return values
    out = np.zeros((values.shape[0], n_clusters))
    for row, target in zip(values, out, strict=True):
        target += np.bincount(clusters, weights=row, minlength=n_clusters)
    return out


def numbered(frame: pl.DataFrame) -> Ints:
    """Number distinct rows in the order in which they come."""
    known = frame.unique(maintain_order=True).with_row_index("_n")
    joined = frame.join(known, on=frame.columns, how="left", nulls_equal=True, maintain_order="left")
    return joined["_n"].to_numpy().astype(np.int64)


def atom_columns(frame: pl.DataFrame | pl.LazyFrame, cluster: Sequence[str]) -> list[str]:
    """Name the columns that identify the smallest part that every cluster column keeps whole."""
    return list(dict.fromkeys(c for name in cluster for c in unit_columns(frame, name)))


def atom_codes(atoms: pl.DataFrame, cluster: Sequence[str]) -> list[Ints]:
    """Number the groups of each cluster column, atom by atom."""
    return [numbered(atoms.select(unit_columns(atoms, name))) for name in cluster]


def squares(scores: Floats, codes: Sequence[Ints]) -> list[Floats]:
    """Return the sum over clusters of s s', s the summed `scores` (rows, p) of a cluster: the middle of a sandwich.

    One matrix a column of clusters; of two crossed columns a third one for their common parts.
    """
    every = list(codes)
    if len(codes) == 2:
        every.append(np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)[1].ravel())
    out = []
    for code in every:
        sums = np.zeros((int(code.max(initial=-1)) + 1, scores.shape[1]))
        np.add.at(sums, code, scores)
        out.append(sums.T @ sums)
    return out
