"""Counts per cell and case: the one table from which rates, gaps and their intervals are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.errors import SchemaError
from icgkit.metrics import _input

BATCH = 1 << 20
"""Rows looked at together when a frame is too large to be grouped at once."""
DENSE = 120_000_000
"""Largest number of cell-case counts that is kept in memory as a dense table."""
_BITS = 21  # three counters share one int64; none of them may pass two million


@dataclass(frozen=True)
class Counts:
    """`positive`, `scored` and `total` rows for each cell (row) and unit (column)."""

    cells: pl.DataFrame
    units: pl.DataFrame
    positive: NDArray[np.int32]
    scored: NDArray[np.int32]
    total: NDArray[np.int32]


def unit_columns(frame: pl.DataFrame | pl.LazyFrame, unit: str) -> list[str]:
    """Name the columns that identify a unit: a case belongs to its dataset."""
    names = frame.collect_schema().names()
    return ["dataset", unit] if "dataset" in names and unit != "dataset" else [unit]


def count(
    frame: pl.DataFrame | pl.LazyFrame, value: pl.Expr, cells: Sequence[str], unit: Sequence[str]
) -> Counts:
    """Count rows, scored rows and positive rows for each cell and unit.

    A lazy or large frame is read in batches into dense counters, so that memory grows with the
    number of cell-unit pairs and not with the number of rows.
    """
    keys = list(dict.fromkeys([*cells, *unit]))
    lazy = frame.lazy().select(*keys, value.alias("_v"))
    if isinstance(frame, pl.DataFrame) and frame.height <= 2 * BATCH:
        return _grouped(lazy, cells, unit)
    cell_frame, unit_frame = (
        lazy.select(list(dict.fromkeys(names))).unique().collect(engine="streaming")
        for names in (cells, unit)
    )
    if cell_frame.height * unit_frame.height > DENSE:
        return _grouped(lazy, cells, unit)
    return _batched(lazy, _index(cell_frame, cells, "_k"), _index(unit_frame, unit, "_u"))


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
    tables = np.zeros((3, cell_frame.height, unit_frame.height), dtype=np.int32)
    for table, name in zip(tables, ("_p", "_s", "_t"), strict=True):
        table[k, u] = coded[name].to_numpy()
    return Counts(cell_frame.drop("_k"), unit_frame.drop("_u"), *tables)


def _no_cells() -> pl.DataFrame:
    return pl.DataFrame({"_k": [0]}, schema={"_k": pl.UInt32})


def _batched(lazy: pl.LazyFrame, cells: pl.DataFrame, units: pl.DataFrame) -> Counts:
    by, unit = [c for c in cells.columns if c != "_k"], [c for c in units.columns if c != "_u"]
    width = units.height
    packed = np.zeros(max(cells.height, 1) * width, dtype=np.int64)
    for batch in lazy.collect_batches(chunk_size=BATCH, maintain_order=False, engine="streaming"):
        coded = batch.join(units, on=unit, how="left", nulls_equal=True, maintain_order="left")
        slot = coded["_u"].to_numpy().astype(np.int64)
        if by:
            code = batch.select(by).join(cells, on=by, how="left", nulls_equal=True, maintain_order="left")
            slot += code["_k"].to_numpy().astype(np.int64) * width
        v = batch["_v"]
        step = v.fill_null(False).to_numpy().astype(np.int64)
        step += v.is_not_null().to_numpy().astype(np.int64) << _BITS
        step += 1 << (2 * _BITS)
        np.add.at(packed, slot, step)
    table = packed.reshape(-1, width)
    mask = (1 << _BITS) - 1
    parts = [((table >> (shift * _BITS)) & mask).astype(np.int32) for shift in range(3)]
    return Counts(cells.drop("_k"), units.drop("_u"), *parts)


def cluster_index(
    frame: pl.DataFrame | pl.LazyFrame, units: pl.DataFrame, cluster: str
) -> tuple[NDArray[np.int64], int]:
    """Return the cluster number of every unit, and how many clusters there are.

    Raises
    ------
    SchemaError
        If a unit lies in more than one cluster.
    """
    names = units.columns
    if cluster in names:
        return np.arange(units.height, dtype=np.int64), units.height
    _input.require(frame, [cluster], where="frame")
    _input.no_null(frame, [cluster], where="frame", what="cluster")
    pairs = frame.lazy().select(*names, cluster).unique().collect(engine="streaming")
    twice = pairs.filter(pl.struct(names).is_duplicated())
    if twice.height:
        raise SchemaError(
            f"{'/'.join(names)} {twice.select(names).row(0)} lies in several clusters of {cluster!r}",
            allowed="a cluster column that does not split a case",
        )
    ids = pairs.select(cluster).unique().sort(cluster).with_row_index("_c")
    joined = units.join(pairs, on=names, how="left", maintain_order="left").join(
        ids, on=cluster, how="left", maintain_order="left"
    )
    return joined["_c"].to_numpy().astype(np.int64), ids.height


def by_cluster(
    values: NDArray[np.float64], clusters: NDArray[np.int64], n_clusters: int
) -> NDArray[np.float64]:
    """Add up the columns (units) of `values` that share a cluster."""
    if n_clusters == values.shape[1]:
        return values
    out = np.zeros((values.shape[0], n_clusters))
    for row, target in zip(values, out, strict=True):
        target += np.bincount(clusters, weights=row, minlength=n_clusters)
    return out
