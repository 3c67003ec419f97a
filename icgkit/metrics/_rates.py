"""Rates of a yes/no outcome that is nested in cases: estimate, interval, counts, status."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.errors import SchemaError
from icgkit.metrics import _input, _resample, _sums
from icgkit.metrics._input import Flags, Floats, Ints
from icgkit.metrics.intervals import CASE, CI, Bootstrap

Average = Literal["macro", "micro"]
Pooling = Literal["mean_over_models", "pooled"] | None
FEW, FEW_EXPANDED = 60, 30
"""Below so many clusters percentile ends and robust errors (expanded ends) can cover less than .94; see docs/metrics.md."""
AVERAGES = ("macro", "micro")
_APART = ("dataset", "judge", "condition")


@dataclass(frozen=True)
class Rates:
    """Per-cluster numerators and denominators of every cell, and what has to be said about them.

    `num` and `den` map an average (macro, micro) to (fine cells, clusters). Fine cells are the cells
    themselves, or cell and model where models are averaged; `group` gives each fine cell its cell.
    """

    cells: pl.DataFrame
    num: dict[str, Floats]
    den: dict[str, Floats]
    group: Ints
    models: int
    pooling: str | None
    cases: Flags
    """Which cases have a scored row, cell by cell."""
    n_scored: Ints
    n_total: Ints
    crossed: tuple[Ints, ...] = ()
    """Two crossed columns: the group of each column of `num` and `den` in either; else nothing."""
    weights: str = ""
    """The column by which cases are weighted; nothing where all count alike."""
    numeric: bool = False
    """Whether the outcome is a number: a constant one has no Wilson interval."""
    models_drawn: Ints | None = None
    """The model of each fine cell, where models are one of the crossed columns and are averaged."""

    @property
    def n_cases(self) -> Ints:
        """Cases with a scored row, cell by cell."""
        return np.asarray(self.cases.sum(axis=1), dtype=np.int64)

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

    def draws(self, averages: Sequence[str], ci: Bootstrap) -> dict[str, Floats]:
        """Bootstrap draws of the cells, all from one resampling plan."""
        stacked = np.concatenate([x for a in averages for x in (self.num[a], self.den[a])])
        if self.crossed:
            rows, index = _resample.draw_crossed(stacked, self.crossed, ci), np.arange(len(stacked))
        else:
            rows, index = _resample.draw_rows(stacked, ci.n, ci.seed, progress=True)
        n = len(self.group)
        out = {}
        for i, average in enumerate(averages):
            fine = np.empty((n, ci.n))
            for k in range(n):
                num, den = rows[index[2 * i * n + k]], rows[index[(2 * i + 1) * n + k]]
                fine[k] = num / den if den.min() > 0 else _resample.ratio(num, den)
            out[average] = self._drawn_models(fine, ci)
        return out

    def _drawn_models(self, fine: Floats, ci: Bootstrap) -> Floats:
        """Average the draws of the models; where models are drawn too, as often as each was drawn."""
        if self.models_drawn is None:
            return self.collapse(fine, strict=True)
        counts = np.concatenate(list(_resample.plan(self.models, ci.n, _resample.second(ci.seed))))
        weight = counts.T[self.models_drawn].astype(np.float64)
        weight[self.den["micro"].sum(axis=1) == 0] = 0.0
        sums, total = np.zeros((2, self.cells.height, ci.n))
        np.add.at(sums, self.group, np.where(weight > 0, fine * weight, 0.0))
        np.add.at(total, self.group, weight)
        return _resample.ratio(sums, total)

    def without(self, average: str) -> Floats:
        """Estimates of the cells without each cluster in turn, (cells, clusters)."""
        num, den = self.num[average].astype(np.float64), self.den[average].astype(np.float64)
        return self.collapse(
            _resample.ratio(num.sum(axis=1, keepdims=True) - num, den.sum(axis=1, keepdims=True) - den),
            strict=True,
        )

    @cached_property
    def alive(self) -> Flags:
        """Tell which columns of the counts hold a scored row, cell by cell."""
        scored = np.zeros((self.cells.height, self.den["micro"].shape[1]), dtype=bool)
        np.logical_or.at(scored, self.group, self.den["micro"] > 0)
        return scored

    def clusters(self, flags: Flags) -> Ints:
        """Count the clusters among the flagged columns, row by row; of crossed ones the fewer."""
        if not self.crossed and self.models_drawn is None:
            return np.asarray(flags.sum(axis=1), dtype=np.int64)
        sides = [flags.sum(axis=1)] if not self.crossed else [
            np.array([len(np.unique(code[row])) for row in flags], dtype=np.int64) for code in self.crossed
        ]  # fmt: skip
        if self.models_drawn is not None:
            sides.append(self.models_scored())
        return np.minimum.reduce(sides) if len(sides[0]) else sides[0]

    def counts(self, cells: Any, *, shared: bool = False) -> dict[str, int]:
        """Count the rows of cells, and the cases and clusters scored in any of them (`shared`: in all)."""
        together = np.logical_and if shared and len(cells) else np.logical_or
        scored, total = int(self.n_scored[cells].sum()), int(self.n_total[cells].sum())
        return {
            "n_scored": scored, "n_total": total, "n_missing": total - scored,
            "n_cases": int(together.reduce(self.cases[cells]).sum()),
            "n_clusters": int(self.clusters(together.reduce(self.alive[cells])[None, :])[0]),
        }  # fmt: skip

    def models_scored(self) -> Ints:
        """How many models stand behind each cell."""
        alive = self.den["micro"].sum(axis=1) > 0
        return np.bincount(self.group, weights=alive, minlength=self.cells.height).astype(np.int64)


def prepare(
    judgments: _input.IntoFrame,
    *,
    value: str,
    by: str | Sequence[str],
    pooling: str | None,
    cluster: Sequence[str] = (CASE,),
    where: str = "judgments",
    weights: str | None = None,
    numeric: bool = False,
) -> Rates:
    """Check the frame and count it by cell and cluster."""
    by = _input.columns_of(by)
    need = [*by, CASE, *cluster, value, *_input.columns_of(weights)]
    frame = _input.into(judgments, need, where=where)
    _input.require(frame, need, where=where)
    outcome = (_input.numbers if numeric else _input.binary)(frame, value, where=where)
    pooling = check_apart(frame, by, pooling, where=where)
    identity = _sums.unit_columns(frame, CASE)
    _input.no_null(frame, list(dict.fromkeys([*identity, *cluster])), where=where, what="case or cluster")
    averaged = pooling is not None and "model" not in by
    cells = [*by, "model"] if averaged else by
    if len(cluster) == 1:
        counts = _sums.count(frame, outcome, cells, identity, _input.tells_apart(frame))
        if counts.repeats:
            _input.no_twice(frame, by, where=where)
        index, n_clusters = _sums.cluster_index(frame, counts.units, cluster[0])
        weight = None if weights is None else _weights(frame, counts.units, weights, where)
        rates = _rates(counts, by, pooling if averaged else None, index, n_clusters, weight=weight)
        return replace(rates, weights=weights or "", numeric=numeric)
    if weights is not None:
        raise SchemaError("weights with crossed clusters", got=list(cluster), allowed="one cluster column")
    _input.no_twice(frame, by, where=where)
    return _crossed(frame, outcome, by, pooling if averaged else None, cluster, identity, where)


def _crossed(
    frame: pl.DataFrame | pl.LazyFrame, outcome: pl.Expr, by: list[str], pooling: str | None,
    cluster: Sequence[str], identity: list[str], where: str,
) -> Rates:  # fmt: skip
    """Count by cell and by what both crossed columns keep whole."""
    for name in cluster:
        if name in by:
            raise SchemaError(
                f"{where}: {name!r} makes the rows of the result and is to be drawn, too", got=list(cluster),
                remedy=f"leave {name!r} out of by= or out of cluster=",
            )  # fmt: skip
    averaged = pooling == "mean_over_models"
    own = [*identity, "model"] if pooling == "pooled" else identity
    apart = [c for c in cluster if not (averaged and c == "model")]
    fine = list(dict.fromkeys([*own, *apart]))
    counts = _sums.count(frame, outcome, [*by, "model"] if averaged else by, fine)
    base = _sums.numbered(counts.units.select(own))
    whole = _sums.by_cluster(counts.scored, base, int(base.max(initial=-1)) + 1)[:, base]
    codes = [_sums.numbered(counts.units.select(identity if c == CASE else [c])) for c in apart]
    index = np.arange(counts.units.height)
    rates = _rates(
        counts,
        by,
        pooling if averaged else None,
        index,
        len(index),
        whole=whole,
        case=_sums.numbered(counts.units.select(identity)),
    )
    if averaged and "model" in cluster:
        models = _sums.numbered(counts.cells.select("model"))
        index = codes[0]
        size = int(index.max(initial=-1)) + 1
        folded = [{a: _sums.by_cluster(x, index, size) for a, x in d.items()} for d in (rates.num, rates.den)]
        return replace(rates, num=folded[0], den=folded[1], models_drawn=models)
    return replace(rates, pooling=pooling, crossed=tuple(codes))


def check_apart(
    frame: pl.DataFrame | pl.LazyFrame,
    by: Sequence[str],
    pooling: str | None,
    *,
    where: str,
    allowed: Sequence[str] = ("mean_over_models", "pooled"),
) -> str | None:
    """Refuse to mix judges, datasets, conditions, or (without a named pooling) models."""
    _input.one_of("pooling", pooling, [*allowed, None])
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
                got=list(by),
                remedy=f"add {column!r} to by, or filter to one",
            )
    if "model" in several and pooling is None:
        raise SchemaError(
            f"{where} hold {several['model']} models, and by= does not name 'model'",
            got=list(by),
            allowed=" or ".join(f"pooling={p!r}" for p in allowed),
            remedy="say how models are pooled, or add 'model' to by",
        )
    return pooling if "model" in several else None


def _weights(frame: pl.DataFrame | pl.LazyFrame, units: pl.DataFrame, name: str, where: str) -> Floats:
    """Return the weight of every unit; raise unless each has one, above 0."""
    dtype = frame.collect_schema()[name]
    if not dtype.is_numeric():
        raise SchemaError(f"{where}.{name}: dtype", got=str(dtype), allowed="numbers above 0")
    known = frame.lazy().with_columns(pl.col(name).cast(pl.Float64))
    values = _sums.with_columns_of(known, units, [name], "case")[name].to_numpy()
    if not (np.isfinite(values) & (values > 0)).all():
        raise SchemaError(f"{where}.{name}: weights", allowed="a finite number above 0 for every case")
    return np.asarray(values, dtype=np.float64)


def _rates(
    counts: _sums.Counts,
    by: list[str],
    pooling: str | None,
    index: Ints,
    n_clusters: int,
    *,
    whole: NDArray[Any] | None = None,
    case: Ints | None = None,
    weight: Floats | None = None,
) -> Rates:
    positive, scored = counts.positive, counts.scored
    share = np.divide(
        positive, scored if whole is None else whole, out=np.zeros(positive.shape), where=scored > 0
    )
    num: dict[str, Any] = {"macro": share, "micro": positive}
    den: dict[str, Any] = {"macro": scored > 0, "micro": scored}
    if whole is not None:  # a case that several columns share counts once, in parts
        den["macro"] = np.divide(scored, whole, out=np.zeros(scored.shape), where=scored > 0)
    if weight is not None:
        num, den = ({a: x * weight for a, x in d.items()} for d in (num, den))
    num, den = ({a: _sums.by_cluster(x, index, n_clusters) for a, x in d.items()} for d in (num, den))
    group = np.arange(counts.cells.height)
    cells, models = counts.cells, 1
    if pooling is not None:
        cells = counts.cells.select(by).unique(maintain_order=True) if by else pl.DataFrame()
        group = _sums.numbered(counts.cells.select(by)) if by else np.zeros_like(group)
        models = int(counts.cells["model"].n_unique())
    n_cells = max(cells.height, 1) if not by else cells.height
    if not by:
        cells = pl.DataFrame(height=1)
    n_total = np.bincount(group, weights=counts.total, minlength=n_cells).astype(np.int64)
    n_scored = np.bincount(group, weights=counts.scored.sum(axis=1), minlength=n_cells).astype(np.int64)
    seen = counts.scored
    if case is not None:
        seen = _sums.by_cluster(counts.scored, case, int(case.max(initial=-1)) + 1)
    cases = _add_rows(seen, group, n_cells) > 0
    if pooling == "pooled":
        num = {a: _add_rows(x, group, n_cells) for a, x in num.items()}
        den = {a: _add_rows(x, group, n_cells) for a, x in den.items()}
        group, models = np.arange(n_cells), 1
    return Rates(cells, num, den, group, models, pooling, cases, n_scored, n_total)


def _add_rows(values: NDArray[Any], group: Ints, n_cells: int) -> NDArray[Any]:
    if n_cells == len(group) and np.array_equal(group, np.arange(n_cells)):
        return values
    out = np.zeros((n_cells, values.shape[1]), dtype=np.int64 if values.dtype == bool else values.dtype)
    np.add.at(out, group, values)
    return out


def nullable(values: NDArray[Any]) -> pl.Series:
    """Turn NaN into null: no NaN leaves this package."""
    return pl.Series(values=np.where(np.isfinite(values), values, np.nan), dtype=pl.Float64, nan_to_null=True)


def join_notes(notes: list[str]) -> str:
    """Word a status: ok, or what has to be known."""
    return "; ".join(n for n in notes if n) or "ok"


def method(rates: Rates, average: str, ci: CI) -> str:
    """Word how an estimate and its interval were made."""
    parts = [average]
    if rates.pooling:
        parts.append(rates.pooling)
    if rates.weights:
        parts.append(f"cases weighted by {rates.weights}")
    if ci is not None:
        parts.append(ci.words())
    return ", ".join(parts)


def few(clusters: int, ci: CI) -> str:
    """Word the flag of an interval from few clusters; nothing where there are enough."""
    least = FEW if isinstance(ci, Bootstrap) and ci.kind != "expanded" else FEW_EXPANDED
    return f"{clusters} clusters: interval likely too narrow" if 1 < clusters < least else ""
