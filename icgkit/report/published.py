"""Our estimates beside the figures that the papers print."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from icgkit.cases.dataset import load_published
from icgkit.errors import IcgError, SchemaError, UnknownName

_BESIDE = ("quantity", "model", "condition", "group", "ours", "published", "where", "unit", "note")


def beside(
    ours: pl.DataFrame,
    *,
    id: str,
    source: str = "icg",
    keys: Sequence[str] = ("model", "condition"),
    only: str = "",
) -> pl.DataFrame:
    """Set estimates beside the published figures of the same quantity.

    Parameters
    ----------
    ours : polars.DataFrame
        Column `estimate` and the columns in `keys`. A model "all" is the study's "all models";
        the suffix " (simulated)" is ignored.
    id : str
        Which published quantity (column `id` of the file).
    source : str
        File in data/published.
    only : str
        Keep the published rows whose quantity names this (a judge, say).
    keys : sequence of str
        Columns that identify a cell, of model, condition, group.

    Returns
    -------
    polars.DataFrame
        One row a published value: quantity, model, condition, group, ours (null where this run has
        no such cell), published, where, unit, note.

    Examples
    --------
    >>> import polars as pl
    >>> ours = pl.DataFrame({"model": ["all"], "condition": ["direct"], "estimate": [0.5]})
    >>> beside(ours, id="recall.micro").filter(condition="direct").select("ours", "published").row(0)
    (0.5, 0.447)
    """
    rows = load_published(source).filter(pl.col("id") == id)
    if only:
        rows = rows.filter(pl.col("quantity").str.contains(only.removesuffix(" (simulated)"), literal=True))
        if rows.is_empty():
            return rows.rename({"value": "published"}).with_columns(ours="published").select(_BESIDE)
    if rows.is_empty():
        raise UnknownName.among("published quantity", id, load_published(source)["id"].unique())
    if "estimate" not in ours.columns:
        ours = pl.DataFrame(schema=dict.fromkeys(keys, pl.String) | {"estimate": pl.Float64})
    mine = ours.select(*keys, ours=pl.col("estimate").cast(pl.Float64))
    if "model" in keys:
        mine = mine.with_columns(pl.col("model").str.strip_suffix(" (simulated)"))
    joined = rows.join(mine, on=list(keys), how="left", nulls_equal=True, maintain_order="left")
    return joined.rename({"value": "published"}).select(_BESIDE)


def beside_rows(ours: pl.DataFrame, theirs: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Put rows of ours below published ones; a column that one side lacks is null there.

    Raises
    ------
    SchemaError
        If neither side has one of the columns.

    Examples
    --------
    >>> import polars as pl
    >>> mine, printed = pl.DataFrame({"m": ["a"], "p": [0.1]}), pl.DataFrame({"m": ["b"], "k": [3]})
    >>> beside_rows(mine, printed, ["m", "k", "p"]).rows()
    [('b', 3, None), ('a', None, 0.1)]
    """
    if absent := [c for c in columns if c not in ours.columns and c not in theirs.columns]:
        raise SchemaError(f"no column {', '.join(absent)}", got=[*theirs.columns, *ours.columns])
    both = [f.select([c for c in columns if c in f.columns]) for f in (theirs, ours)]
    return pl.concat(both, how="diagonal_relaxed").select(columns)


def counts_beside(ours: Mapping[str, float], *, source: str = "icg") -> pl.DataFrame:
    """Set plain numbers beside the published ones.

    Parameters
    ----------
    ours : mapping
        Published id (column `id`) to our number; only rows without model, condition and group count.

    Examples
    --------
    >>> counts_beside({"dataset.cases": 461}).select("quantity", "ours", "published").row(0)
    ('cases', 461.0, 461.0)
    """
    mine = pl.DataFrame({"id": list(ours), "ours": [float(v) for v in ours.values()]})
    rows = load_published(source).filter(
        pl.col("model").is_null(), pl.col("condition").is_null(), pl.col("group").is_null()
    )
    joined = mine.join(rows, on="id", how="inner", maintain_order="left")
    return joined.select("quantity", "ours", pl.col("value").alias("published"), "where", "unit", "note")


def counts(
    value: float, n: int | Iterable[int], *, decimals: int = 1, unit: float = 100, level: float = 0.95
) -> pl.DataFrame:
    """Return the counts k of n that a printed rate can stand for, with exact intervals.

    A rate printed with a few decimals is k/n for few k, often for one; a rate that is k/n for no k
    shows that n is another number (samples missing, a mean of other means).

    Parameters
    ----------
    value : float
        The printed rate.
    n : int or iterable of int
        Denominators to try.
    decimals : int
        How many decimals are printed. Halves may have been rounded either way.
    unit : float
        What a rate of one is printed as: 100 for percent, 1 for a share.
    level : float
        Coverage of the interval, in (0, 1).

    Returns
    -------
    polars.DataFrame
        One row a count that fits: `n`, `k`, `low`, `high` (Clopper-Pearson interval, in `unit`).
        No row where none fits.

    Raises
    ------
    IcgError
        If an n is below 1, `decimals` negative, or the value does not lie in 0 to `unit`.

    Examples
    --------
    >>> counts(51.3, 150).select("n", "k").rows()
    [(150, 77)]
    >>> counts(24.7, 520).height, counts(65.7, range(66, 71))["n"].to_list()
    (0, [67, 70])

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26, 404-413.
    """
    from scipy.stats import beta

    tried = [n] if isinstance(n, int) else list(n)
    if min(tried, default=1) < 1 or decimals < 0 or not 0 <= value <= unit or not 0 < level < 1:
        raise IcgError(
            "no rate to turn into counts",
            got={"value": value, "n": tried[:3], "decimals": decimals, "level": level},
            allowed=f"a value in 0 to {unit:g}, n from 1, decimals from 0, level in 0 to 1",
        )
    half = 0.5 * 10.0**-decimals + 1e-9
    rows = []
    for size in tried:
        first = max(math.ceil((value - half) / unit * size), 0)
        for k in range(first, min(math.floor((value + half) / unit * size), size) + 1):
            tail = (1 - level) / 2
            low = float(beta.ppf(tail, k, size - k + 1)) if k else 0.0
            high = float(beta.ppf(1 - tail, k + 1, size - k)) if k < size else 1.0
            rows.append((size, k, unit * low, unit * high))
    return pl.DataFrame(
        rows, schema={"n": pl.Int64, "k": pl.Int64, "low": pl.Float64, "high": pl.Float64}, orient="row"
    )


def fitting(
    values: Sequence[float], n: Iterable[int], *, decimals: int = 1, unit: float = 100
) -> pl.DataFrame:
    """Tell for each denominator how many printed rates are k/n (see `counts`).

    Returns
    -------
    polars.DataFrame
        One row an n, best first: `n`, `n_fit`, `n_values`.

    Examples
    --------
    >>> fitting([33.3, 66.7], range(1, 7)).rows()[:2]
    [(3, 2, 2), (6, 2, 2)]
    """
    tried = list(n)
    hits = dict.fromkeys(tried, 0)
    for value in values:
        for size in set(counts(value, tried, decimals=decimals, unit=unit)["n"]):
            hits[size] += 1
    frame = pl.DataFrame([(size, hit, len(values)) for size, hit in hits.items()],
                         schema=dict.fromkeys(("n", "n_fit", "n_values"), pl.Int64), orient="row")  # fmt: skip
    return frame.sort("n_fit", descending=True, maintain_order=True)
