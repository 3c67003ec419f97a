"""Agreement of several annotators on categories, and rates of an audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.errors import SchemaError
from icgkit.metrics import _input, _rates, _resample
from icgkit.metrics.recall import table

Floats = NDArray[np.float64]


def fleiss(
    labels: _input.IntoFrame,
    *,
    category: str = "subtype",
    rater: str = "annotator",
    item: str | Sequence[str] = ("case_id", "node_id"),
    by: str | Sequence[str] = (),
    level: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 42,
) -> pl.DataFrame:
    """Compute Fleiss' kappa, Krippendorff's alpha and AC1 of any number of annotators.

    Parameters
    ----------
    labels : frame
        One row an annotator's label of an item; null is missing and never a category of its own.
    category, rater, item : str or sequence of str
        The label, who gave it, and the columns that identify an item.
    by : str or sequence of str
        Columns that make the rows of the result.
    level, n_resamples, seed
        Percentile bootstrap over items.

    Returns
    -------
    polars.DataFrame
        The columns `by`; `raw` (mean agreement of pairs within an item), `kappa` (Fleiss), `alpha`
        (Krippendorff, nominal), `ac1` (Gwet), each with `<name>_low` and `<name>_high`; `n_items`
        (with two labels or more), `n_raters`, `n_labels`, `n_missing` (null labels), `n_categories`,
        `method`, `status`. Fleiss' kappa is null when items have different numbers of labels.

    Raises
    ------
    SchemaError
        If an annotator labels an item twice.

    Notes
    -----
    With n_ik labels k among the n_i labels of item i: P_i = sum_k n_ik (n_ik - 1) / (n_i (n_i - 1)),
    raw = mean P_i, p_k = mean n_ik / n_i; kappa = (raw - sum p_k^2) / (1 - sum p_k^2);
    AC1 = (raw - g) / (1 - g), g = sum p_k (1 - p_k) / (K - 1). Alpha weights items by their labels and
    corrects chance for the finite number of labels.

    References
    ----------
    Fleiss (1971), Psychol. Bull. 76, 378-382. Gwet (2008), Br. J. Math. Stat. Psychol. 61, 29-48.
    Krippendorff (2004), Content Analysis, section 11.3.

    Examples
    --------
    >>> import polars as pl
    >>> labels = pl.DataFrame(
    ...     {
    ...         "case_id": ["a", "a", "b", "b", "c", "c"],
    ...         "node_id": "n1",
    ...         "annotator": ["x", "y"] * 3,
    ...         "subtype": ["s", "s", "t", "t", "s", "t"],
    ...     }
    ... )
    >>> got = fleiss(labels, n_resamples=100).row(0, named=True)
    >>> round(got["raw"], 4), round(got["kappa"], 4), round(got["alpha"], 4)
    (0.6667, 0.3333, 0.4444)
    """
    by, items = _input.columns_of(by), _input.columns_of(item)
    _input.level_ok(level)
    got = _input.eager(labels, [*by, *items, rater, category], where="labels")
    _input.no_null(got, [*items, rater], where="labels", what="item or annotator")
    items = list(dict.fromkeys([*by, *(["dataset"] if "dataset" in got.columns else []), *items]))
    twice = got.filter(pl.struct([*items, rater]).is_duplicated())
    if twice.height:
        raise SchemaError(f"{twice.height} labels of one item by one {rater}", got=twice.row(0))
    groups = got.group_by(by, maintain_order=True) if by else [((), got)]
    rows = [
        dict(zip(by, key, strict=True)) | _fleiss(part, items, rater, category, level, n_resamples, seed)
        for key, part in groups
    ]
    schema: dict[str, Any] = {b: got.schema[b] for b in by} | _FLEISS
    out = pl.DataFrame([[row.get(c) for c in schema] for row in rows], schema=schema, orient="row")
    return out.sort(by, nulls_last=True) if by else out


_NAMES = ("raw", "kappa", "alpha", "ac1")
_FLEISS: dict[str, Any] = {
    **{f"{n}{end}": pl.Float64 for n in _NAMES for end in ("", "_low", "_high")},
    **dict.fromkeys(["n_items", "n_raters", "n_labels", "n_missing", "n_categories"], pl.Int64),
    "method": pl.String,
    "status": pl.String,
}


def _fleiss(
    part: pl.DataFrame, items: list[str], rater: str, category: str, level: float, n_resamples: int, seed: int
) -> dict[str, Any]:
    known = part.drop_nulls(category)
    counts = (
        known.group_by([*items, category])
        .len()
        .pivot(category, index=items, values="len")
        .fill_null(0)
        .sort(items)
    )
    table = counts.drop(items).to_numpy().astype(np.float64) if known.height else np.zeros((0, 0))
    sizes = table.sum(axis=1)
    table, sizes = table[sizes >= 2], sizes[sizes >= 2]
    row: dict[str, Any] = {
        "n_items": len(sizes), "n_raters": known[rater].n_unique(), "n_labels": int(sizes.sum()),
        "n_missing": part.height - known.height, "n_categories": int((table.sum(axis=0) > 0).sum()),
        "method": f"percentile bootstrap over items, B={n_resamples}, seed={seed}",
    }  # fmt: skip
    if not len(sizes):
        return row | {"status": "no item with two labels"}
    k = row["n_categories"]
    equal = bool((sizes == sizes[0]).all())
    sums = _item_sums(table, sizes)
    values = _coefficients(sums.sum(axis=1, keepdims=True), k, equal)
    notes = [] if equal else ["items have different numbers of labels: kappa undefined"]
    if k == 1:
        notes.append("one category only: kappa, alpha and ac1 undefined")
    draws = _coefficients(_resample.draw_sums(sums, n_resamples, seed), k, equal) if len(sizes) > 1 else {}
    for name in _NAMES:
        value = float(values[name][0])
        if not np.isfinite(value):
            continue
        row[name] = value
        if name in draws:
            low, high, undefined = _resample.percentile(draws[name][None, :], level)
            if undefined[0] <= n_resamples // 20 and low[0] < high[0]:
                row |= {f"{name}_low": min(float(low[0]), value), f"{name}_high": max(float(high[0]), value)}
    bare = [n for n in _NAMES if row.get(n) is not None and row.get(f"{n}_low") is None]
    if bare:
        notes.append(f"no interval for {', '.join(bare)}: constant or too few items")
    return row | {"status": _rates.join_notes(notes)}


def _item_sums(table: Floats, sizes: Floats) -> Floats:
    """Stack per-item sums: 1, P_i, n_i, n_i P_i, shares of each category, counts of each category."""
    agree = (table * (table - 1)).sum(axis=1) / (sizes * (sizes - 1))
    head = np.vstack([np.ones_like(sizes), agree, sizes, sizes * agree])
    return np.vstack([head, (table / sizes[:, None]).T, table.T])


def _coefficients(sums: Floats, k: int, equal: bool) -> dict[str, Floats]:
    n, agree, labels, weighted = sums[:4]
    width = (len(sums) - 4) // 2
    shares, counts = sums[4 : 4 + width] / n, sums[4 + width :]
    raw = agree / n
    chance = (shares**2).sum(axis=0)
    gwet = (shares * (1 - shares)).sum(axis=0) / max(k - 1, 1)
    disagree = _resample.ratio((counts * (labels - counts)).sum(axis=0), labels * (labels - 1))
    undefined = np.full_like(raw, np.nan)
    one = k == 1
    return {
        "raw": raw,
        "kappa": _resample.ratio(raw - chance, np.where(1 - chance > 1e-12, 1 - chance, 0))
        if equal
        else undefined,
        "alpha": 1 - _resample.ratio(1 - weighted / labels, disagree),
        "ac1": undefined if one else (raw - gwet) / (1 - gwet),
    }


def audit(
    answers: _input.IntoFrame,
    *,
    dimensions: Sequence[str] = ("exists", "region", "update", "reason"),
    by: str | Sequence[str] = (),
    cluster: str = "case_id",
    ci: Any = "wilson",
    level: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 42,
) -> pl.DataFrame:
    """Compute the share of yes answers for each dimension of an audit of annotated nodes.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `dimension` (in the order given), and those of `recall`.

    Examples
    --------
    >>> import polars as pl
    >>> answers = pl.DataFrame({"case_id": ["a", "b"], "exists": [True, True], "region": [True, None]})
    >>> audit(answers, dimensions=["exists", "region"])["n_scored"].to_list()
    [2, 1]
    """
    by = _input.columns_of(by)
    got = _input.eager(answers, [*by, *dimensions, cluster], where="audit")
    keep = list(dict.fromkeys([*by, *(c for c in ("dataset", "case_id") if c in got.columns), cluster]))
    long = pl.concat(
        [
            got.select(*keep, pl.lit(name).alias("dimension"), _input.binary(got, name).alias("_v"))
            for name in dimensions
        ]
    ).with_columns(pl.col("dimension").cast(pl.Enum(list(dimensions))))
    rates = _rates.prepare(long, value="_v", by=[*by, "dimension"], pooling=None, cluster=cluster)
    out = table(rates, "micro", ci=ci, level=level, n_resamples=n_resamples, seed=seed)
    return out.with_columns(pl.col("dimension").cast(pl.String))
