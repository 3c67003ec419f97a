"""Means of scores with intervals that resample whole samples; what the siblings' tables share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.errors import SchemaError
from icgkit.metrics import _resample

if TYPE_CHECKING:
    from icgkit.report.tables import Table

Floats = NDArray[np.float64]


def means(
    frame: pl.DataFrame,
    values: Sequence[str],
    *,
    by: Sequence[str],
    cluster: str,
    combine: Mapping[str, Mapping[str, float]] | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 42,
) -> pl.DataFrame:
    """Compute means of columns, and weighted sums of such means, with percentile bootstrap intervals.

    Parameters
    ----------
    frame : polars.DataFrame
        The columns `by`, `cluster` and `values` (numbers or Booleans; null is missing and left out).
    values : sequence of str
        Columns to average.
    cluster : str
        Column that is resampled; all cells share one plan, so that they stay paired.
    combine : mapping, optional
        Name of a further measure to its weights over `values`: a weighted sum of means.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `measure`, `estimate`, `low`, `high` (null where undefined), `n_scored` and
        `n_total` (rows; for a combined measure the rows that have all its parts), `n_missing`,
        `method`, `status`.

    Examples
    --------
    >>> rows = pl.DataFrame({"m": "a", "t": ["x", "y", "z"], "r": [1.0, 0.5, None]})
    >>> means(rows, ["r"], by=["m"], cluster="t").select("measure", "estimate", "n_scored", "n_total").row(0)
    ('r', 0.75, 2, 3)
    """
    need = [*by, cluster, *values]
    if absent := [c for c in need if c not in frame.columns]:
        raise SchemaError(f"means: missing column {', '.join(absent)}", got=frame.columns, allowed=need)
    if not frame.height:
        raise SchemaError("means: the frame has no rows")
    units = frame[cluster].unique().sort()
    place = dict(zip(units.to_list(), range(len(units)), strict=True))
    cells = [(key, part) for key, part in frame.group_by(list(by), maintain_order=True)]
    stack = np.zeros((2 * len(values) * len(cells), len(units)))
    for k, (_, part) in enumerate(cells):
        at = np.array([place[c] for c in part[cluster].to_list()])
        for j, name in enumerate(values):
            x = part[name].cast(pl.Float64)
            row = 2 * (k * len(values) + j)
            np.add.at(stack[row], at, x.fill_null(0.0).to_numpy())
            np.add.at(stack[row + 1], at, x.is_not_null().to_numpy().astype(float))
    drawn = _resample.draw_sums(stack, n_resamples, seed)
    point = stack.sum(axis=1)
    rows = []
    for k, (key, part) in enumerate(cells):
        base = 2 * k * len(values)
        span = slice(base, base + 2 * len(values), 2), slice(base + 1, base + 2 * len(values), 2)
        estimate = _resample.ratio(point[span[0]], point[span[1]])
        draws = _resample.ratio(drawn[span[0]], drawn[span[1]])
        head = dict(zip(by, key, strict=True))
        clusters = part[cluster].n_unique()
        for j, name in enumerate(values):
            n = int(part[name].is_not_null().sum())
            rows.append(head | _row(name, estimate[j], draws[j], n, part.height, clusters, level))
        for name, weights in (combine or {}).items():
            w = np.array([weights.get(v, 0.0) for v in values])
            used = w != 0
            n = part.filter(pl.all_horizontal([pl.col(v).is_not_null() for v in weights])).height
            one, many = float(w[used] @ estimate[used]), w[used] @ draws[used]
            rows.append(head | _row(name, one, many, n, part.height, clusters, level))
    how = f"mean; percentile bootstrap over {cluster}, {n_resamples:,} resamples, seed {seed}"
    kinds = {c: frame.schema[c] for c in by} | {
        "measure": pl.String, "estimate": pl.Float64, "low": pl.Float64, "high": pl.Float64,
        "n_scored": pl.Int64, "n_total": pl.Int64, "n_missing": pl.Int64, "status": pl.String,
    }  # fmt: skip
    out = pl.DataFrame(rows, schema=kinds).with_columns(method=pl.lit(how))
    return out.select(pl.exclude("status"), "status")


def _row(
    name: str, estimate: float, draws: Floats, n: int, total: int, clusters: int, level: float
) -> dict[str, object]:
    low, high, undefined = _resample.percentile(draws[None, :], level)
    known = bool(np.isfinite(estimate))
    status, bounds = "ok", (float(low[0]), float(high[0]))
    if not known:
        status = "nothing scored"
    elif clusters < 2:
        status = "one sample: no interval"
    elif bounds[0] == bounds[1]:
        status = "constant over samples: no interval"
    elif undefined[0] > draws.size // 20:
        status = f"{undefined[0]} of {draws.size} draws undefined: no interval"
    kept = status == "ok"
    return {
        "measure": name,
        "estimate": float(estimate) if known else None,
        "low": min(bounds[0], estimate) if kept else None,
        "high": max(bounds[1], estimate) if kept else None,
        "n_scored": n,
        "n_total": total,
        "n_missing": total - n,
        "status": status,
    }


def parts_of(table: Table) -> dict[str, Any]:
    """Return a typeset table as the arguments `table`, `caption` and `note` of `icgkit.save`."""
    return {"table": table, "caption": table.caption, "note": table.notes}
