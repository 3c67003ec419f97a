"""Rates of a yes/no outcome that is nested in cases: estimate, interval, counts, status."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.errors import SchemaError
from icgkit.metrics import _input, _resample, _sums

AVERAGES = ("macro", "micro")
POOLINGS = ("mean_over_models", "pooled", None)
_APART = ("dataset", "judge", "condition")
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rates:
    """Per-cluster numerators and denominators of every cell, and what has to be said about them.

    `num` and `den` map an average (macro, micro) to (fine cells, clusters). Fine cells are the cells
    themselves, or cell and model where models are averaged; `group` gives each fine cell its cell.
    """

    cells: pl.DataFrame
    num: dict[str, Floats]
    den: dict[str, Floats]
    group: NDArray[np.int64]
    models: int
    pooling: str | None
    cluster: str
    n_cases: NDArray[np.int64]
    n_scored: NDArray[np.int64]
    n_total: NDArray[np.int64]

    def fine(self, average: str) -> Floats:
        """Estimates of the fine cells; NaN where nothing is scored."""
        return _resample.ratio(self.num[average].sum(axis=1), self.den[average].sum(axis=1))

    def estimate(self, average: str) -> Floats:
        """Estimates of the cells: means over the models that have one."""
        return self.collapse(self.fine(average)[:, None])[:, 0]

    def collapse(self, values: Floats, *, strict: bool = False) -> Floats:
        """Average fine rows into cells; with `strict` an undefined fine value makes the mean undefined.

        A model without any scored row is left out either way; the status says so.
        """
        if self.models == 1:
            return values
        alive = self.den["micro"].sum(axis=1) > 0
        sums, counts = np.zeros((2, self.cells.height, values.shape[1]))
        used = np.isfinite(values) | (strict & alive[:, None])
        np.add.at(sums, self.group, np.where(used, values, 0.0))
        np.add.at(counts, self.group, used)
        return _resample.ratio(sums, counts)

    def draws(self, averages: Sequence[str], n_resamples: int, seed: int) -> dict[str, Floats]:
        """Bootstrap draws of the cells, all from one resampling plan."""
        stacked = np.concatenate([x for a in averages for x in (self.num[a], self.den[a])])
        rows, index = _resample.draw_rows(stacked, n_resamples, seed, progress=True)
        n = len(self.group)
        out = {}
        for i, average in enumerate(averages):
            fine = np.empty((n, n_resamples))
            for k in range(n):
                num, den = rows[index[2 * i * n + k]], rows[index[(2 * i + 1) * n + k]]
                fine[k] = num / den if den.min() > 0 else _resample.ratio(num, den)
            out[average] = self.collapse(fine, strict=True)
        return out

    def models_scored(self) -> NDArray[np.int64]:
        """How many models stand behind each cell."""
        alive = self.den["micro"].sum(axis=1) > 0
        return np.bincount(self.group, weights=alive, minlength=self.cells.height).astype(np.int64)


def prepare(
    judgments: _input.IntoFrame,
    *,
    value: str,
    by: str | Sequence[str],
    pooling: str | None,
    cluster: str,
    unit: str = "case_id",
    where: str = "judgments",
) -> Rates:
    """Check the frame and count it by cell and cluster."""
    by = _input.columns_of(by)
    _input.one_of("pooling", pooling, POOLINGS)
    frame = _input.into(judgments, where=where)
    _input.require(frame, [*by, unit, cluster, value], where=where)
    pooling = _check_apart(frame, by, pooling, where=where)
    identity = _sums.unit_columns(frame, unit)
    _input.no_null(frame, list(dict.fromkeys([*identity, cluster])), where=where, what="case or cluster")
    averaged = pooling is not None and "model" not in by
    counts = _sums.count(
        frame, _input.binary(frame, value, where=where), [*by, "model"] if averaged else by, identity
    )
    index, n_clusters = _sums.cluster_index(frame, counts.units, cluster)
    return _rates(counts, by, pooling if averaged else None, cluster, index, n_clusters)


def _check_apart(
    frame: pl.DataFrame | pl.LazyFrame, by: list[str], pooling: str | None, *, where: str
) -> str | None:
    """Refuse to mix judges, datasets, conditions, or (without a named pooling) models."""
    names = frame.collect_schema().names()
    watch = [c for c in (*_APART, "model") if c in names and c not in by]
    if not watch:
        return None
    kinds = frame.lazy().select(pl.col(watch).n_unique()).collect(engine="streaming")
    several = {c: int(kinds[c][0]) for c in watch if int(kinds[c][0]) > 1}
    for column in _APART:
        if column in several:
            raise SchemaError(
                f"{where} hold {several[column]} values of {column!r}, which by= does not name",
                got=by,
                remedy=f"add {column!r} to by, or filter to one",
            )
    if "model" in several and pooling is None:
        raise SchemaError(
            f"{where} hold {several['model']} models, and by= does not name 'model'",
            got=by,
            allowed="pooling='mean_over_models' or pooling='pooled'",
            remedy="say how models are pooled, or add 'model' to by",
        )
    return pooling if "model" in several else None


def _rates(
    counts: _sums.Counts,
    by: list[str],
    pooling: str | None,
    cluster: str,
    index: NDArray[np.int64],
    n_clusters: int,
) -> Rates:
    positive, scored = counts.positive, counts.scored
    share = np.divide(positive, scored, out=np.zeros(positive.shape), where=scored > 0)
    num: dict[str, Any] = {"macro": share, "micro": positive}
    den: dict[str, Any] = {"macro": scored > 0, "micro": scored}
    num, den = ({a: _sums.by_cluster(x, index, n_clusters) for a, x in d.items()} for d in (num, den))
    group = np.arange(counts.cells.height)
    cells, models = counts.cells, 1
    if pooling is not None:
        cells = counts.cells.select(by).unique(maintain_order=True) if by else pl.DataFrame()
        if by:
            code = cells.with_row_index("_g")
            joined = counts.cells.join(code, on=by, how="left", nulls_equal=True, maintain_order="left")
            group = joined["_g"].to_numpy().astype(np.int64)
        else:
            group = np.zeros(counts.cells.height, dtype=np.int64)
        models = int(counts.cells["model"].n_unique())
    n_cells = max(cells.height, 1) if not by else cells.height
    if not by:
        cells = pl.DataFrame(height=1)
    n_total = np.bincount(group, weights=counts.total, minlength=n_cells).astype(np.int64)
    n_scored = np.bincount(group, weights=counts.scored.sum(axis=1), minlength=n_cells).astype(np.int64)
    n_cases = (_add_rows(counts.scored, group, n_cells) > 0).sum(axis=1)
    if pooling == "pooled":
        num = {a: _add_rows(x, group, n_cells) for a, x in num.items()}
        den = {a: _add_rows(x, group, n_cells) for a, x in den.items()}
        group, models = np.arange(n_cells), 1
    return Rates(
        cells,
        num,
        den,
        group,
        models,
        pooling,
        cluster,
        n_cases.astype(np.int64),
        n_scored,
        n_total,
    )


def _add_rows(values: NDArray[Any], group: NDArray[np.int64], n_cells: int) -> NDArray[Any]:
    if n_cells == len(group) and np.array_equal(group, np.arange(n_cells)):
        return values
    out = np.zeros((n_cells, values.shape[1]), dtype=np.int64 if values.dtype == bool else values.dtype)
    np.add.at(out, group, values)
    return out


def nullable(values: NDArray[Any]) -> list[float | None]:
    """Turn NaN into null: no NaN leaves this package."""
    return [float(v) if np.isfinite(v) else None for v in values]


def join_notes(notes: list[str]) -> str:
    """Word a status: ok, or what has to be known."""
    return "; ".join(notes) if notes else "ok"
