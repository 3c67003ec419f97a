"""Agreement of several annotators on categories, and rates of an audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from icgkit.errors import SchemaError, UnknownName
from icgkit.metrics import _input, _rates, _resample, _sums
from icgkit.metrics._input import Floats
from icgkit.metrics._output import grouped, lay_out, schema
from icgkit.metrics._rates import few
from icgkit.metrics.intervals import BOOTSTRAP, CI, Bootstrap, any_kind, clusters_of, drawn, level_of
from icgkit.metrics.recall import rated_apart


def fleiss(
    labels: _input.IntoFrame,
    *,
    category: str = "subtype",
    rater: str = "annotator",
    item: str | Sequence[str] = ("case_id", "node_id"),
    by: str | Sequence[str] = (),
    categories: Sequence[str] | None = None,
    ci: Bootstrap | None = BOOTSTRAP,
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
    categories : sequence of str, optional
        All labels of the scale, those that nobody gave too: AC1 depends on how many there are. The
        labels that occur when absent.
    ci : Bootstrap or None
        How the intervals are drawn; the items of a case are drawn together (its `cluster` is `case_id`
        by default; frames without cases draw items).

    Returns
    -------
    polars.DataFrame
        The columns `by`; `raw` (mean agreement of pairs within an item), `kappa` (Fleiss), `alpha`
        (Krippendorff, nominal), `ac1` (Gwet), each with `<name>_low` and `<name>_high`; `level`; `n_items`
        (with two labels or more), `n_raters`, `n_labels`, `n_missing` (null labels), `n_categories`,
        `n_cases`, `n_clusters`, `method`, `status`. Fleiss' kappa is null when items have different numbers of labels.

    Raises
    ------
    SchemaError
        If an annotator labels an item twice, or a label is not among `categories`.

    Notes
    -----
    With n_ik labels k among the n_i labels of item i: P_i = sum_k n_ik (n_ik - 1) / (n_i (n_i - 1)),
    raw = mean P_i over items with two labels or more, p_k = mean n_ik / n_i over all items with a label
    (over those with two for kappa, which needs equal numbers); kappa = (raw - sum p_k^2) / (1 - sum p_k^2);
    AC1 = (raw - g) / (1 - g), g = sum p_k (1 - p_k) / (K - 1), K categories. Alpha weights items by their labels and
    corrects chance for the finite number of labels.
    Sources: Fleiss (1971), Gwet (2008; AC1), Krippendorff (2004, section 11.3; alpha).

    Examples
    --------
    >>> import polars as pl
    >>> labels = pl.DataFrame({"case_id": list("aabbcc"), "annotator": ["x", "y"] * 3, "subtype": list("ssttst")})
    >>> got = fleiss(labels, item="case_id", ci=None).row(0, named=True)
    >>> round(got["raw"], 4), round(got["kappa"], 4), round(got["alpha"], 4)
    (0.6667, 0.3333, 0.4444)
    """
    by, items, ci = _input.columns_of(by), _input.columns_of(item), drawn(ci)
    got = _input.eager(labels, [*by, *items, rater, category], where="labels")
    _input.no_null(got, [*items, rater], where="labels", what="item or annotator")
    items = list(dict.fromkeys([*by, *(["dataset"] if "dataset" in got.columns else []), *items]))
    cluster = clusters_of(ci)
    if ci is None or (ci.cluster is None and "case_id" not in got.columns):
        cluster = ()
    _input.require(got, cluster, where="labels")
    _input.no_null(got, list(cluster), where="labels", what="cluster")
    twice = got.filter(pl.struct([*items, rater]).is_duplicated())
    if twice.height:
        raise SchemaError(
            f"{twice.height} labels of one item by one {rater}", got=twice.row(0),
            remedy="drop repetitions with frame.unique(), or name the column that tells them apart in item=",
        )  # fmt: skip
    known = [str(c) for c in got[category].drop_nulls().unique().to_list()]
    scale = sorted(known) if categories is None else [str(c) for c in _input.columns_of(categories)]
    for name in known:
        if name not in scale:
            raise UnknownName.among("label, which categories= does not name", name, scale)
    got = got.with_columns(pl.col(category).cast(pl.String))
    rows = [key | _fleiss(part, items, rater, category, scale, cluster, ci) for key, part in grouped(got, by)]
    return lay_out(rows, {b: got.schema[b] for b in by} | _FLEISS, by)


_NAMES = ("raw", "kappa", "alpha", "ac1")
_FLEISS = schema(
    " ".join(f"{n} {n}_low {n}_high" for n in _NAMES)
    + " level n_items n_raters n_labels n_missing n_categories n_cases n_clusters method status"
)


def _fleiss(
    part: pl.DataFrame, items: list[str], rater: str, category: str, scale: list[str], cluster: Sequence[str],
    ci: Bootstrap | None,
) -> dict[str, Any]:  # fmt: skip
    known = part.drop_nulls(category)
    counts = (
        known.group_by([*items, category])
        .len()
        .pivot(category, index=items, values="len")
        .fill_null(0)
        .sort(items)
    )
    named = sorted(c for c in counts.columns if c not in items)
    table = counts.select(named).to_numpy().astype(np.float64) if known.height else np.zeros((0, 0))
    sizes = table.sum(axis=1)
    several = sizes >= 2
    occur = int((table > 0).any(axis=0).sum()) if len(table) else 0
    row: dict[str, Any] = {
        "level": level_of(ci), "n_items": int(several.sum()), "n_raters": known[rater].n_unique(),
        "n_labels": int(sizes.sum()), "n_missing": part.height - known.height, "n_categories": len(scale),
        "n_cases": known.select([c for c in ("dataset", "case_id") if c in known.columns]).n_unique()
        if "case_id" in known.columns else None,
    }  # fmt: skip
    if not several.any():
        return row | {"method": "no interval", "status": "no item with two labels"}
    k = len(scale)
    equal = bool((sizes[several] == sizes[several][0]).all())
    sums = _item_sums(table, sizes)
    values = _coefficients(sums.sum(axis=1, keepdims=True), k, equal)
    notes = [] if equal else ["items have different numbers of labels: kappa undefined"]
    if occur == 1:
        notes.append(
            "one category only: kappa, alpha and ac1 undefined"
            if k == 1
            else "one category only: kappa, alpha undefined"
        )
    ends = None
    row["method"] = "no interval"
    if ci is not None:
        drawing, atoms = replace(ci, cluster="_item"), counts.select(_item=pl.int_range(pl.len()))
        if cluster:
            unit = _sums.atom_columns(known, cluster)
            drawing, atoms = ci, _sums.with_columns_of(known, counts.select(items), unit, "item").select(unit)
        row["method"] = drawing.words(" x ".join(cluster) or "items")
        row["n_clusters"] = _resample.groups(atoms, drawing.over)
        if row["n_clusters"] > 1:
            got = _resample.interval(
                lambda m: np.stack([_coefficients(m, k, equal)[n] for n in _NAMES]), sums, atoms, drawing
            )
            point = np.concatenate([values[n] for n in _NAMES])
            ends = _resample.held(point, got.low, got.high, got.undefined, ci)
    for i, name in enumerate(_NAMES):
        value = float(values[name][0])
        if not np.isfinite(value):
            continue
        row[name] = value
        if ends is not None and np.isfinite(ends[0][i]):
            row |= {f"{name}_low": float(ends[0][i]), f"{name}_high": float(ends[1][i])}
    bare = [n for n in _NAMES if row.get(n) is not None and row.get(f"{n}_low") is None]
    if bare and ci is not None:
        notes.append(f"no interval for {', '.join(bare)}: constant or too few items")
    elif ci is not None and (flag := few(row["n_clusters"], ci)):
        notes.append(flag)
    return row | {"status": _rates.join_notes(notes)}


def _item_sums(table: Floats, sizes: Floats) -> Floats:
    """Stack per-item sums over items with two labels or more (1, P_i, n_i, n_i P_i), items with a label,
    shares of each category (of all items, and of the former), and counts of each category (of the former).
    """
    several = (sizes >= 2).astype(np.float64)
    agree = (table * (table - 1)).sum(axis=1) / np.maximum(sizes * (sizes - 1), 1)
    share = (table / sizes[:, None]).T
    head = np.vstack(
        [several, agree * several, sizes * several, sizes * agree * several, np.ones_like(sizes)]
    )
    return np.vstack([head, share, share * several, table.T * several])


def _coefficients(sums: Floats, k: int, equal: bool) -> dict[str, Floats]:
    n, agree, labels, weighted, items = sums[:5]
    width = (len(sums) - 5) // 3
    every, shares = (_resample.ratio(sums[5 + i * width : 5 + (i + 1) * width], np.broadcast_to(m, (width, len(n))))
                     for i, m in enumerate((items, n)))  # fmt: skip
    counts = sums[5 + 2 * width :]
    raw = _resample.ratio(agree, n)
    chance = (shares**2).sum(axis=0)
    gwet = (every * (1 - every)).sum(axis=0) / max(k - 1, 1)
    disagree = _resample.ratio((counts * (labels - counts)).sum(axis=0), labels * (labels - 1))
    undefined = np.full_like(raw, np.nan)
    return {
        "raw": raw,
        "kappa": _resample.ratio(raw - chance, np.where(1 - chance > 1e-12, 1 - chance, 0))
        if equal
        else undefined,
        "alpha": 1 - _resample.ratio(1 - _resample.ratio(weighted, labels), disagree),
        "ac1": undefined if k == 1 else (raw - gwet) / (1 - gwet),
    }


def audit(
    answers: _input.IntoFrame,
    *,
    dimensions: str | Sequence[str] = ("exists", "region", "update", "reason"),
    by: str | Sequence[str] = (),
    ci: CI = BOOTSTRAP,
) -> pl.DataFrame:
    """Compute the share of yes answers for each dimension of an audit of annotated nodes.

    Parameters
    ----------
    answers : frame
        One row a node and annotator (schema `audit`): `case_id`, the columns `by`, and a Boolean column
        for each dimension (null is not answered: left out and counted).
    dimensions : sequence of str
        The columns with the answers.
    by : str or sequence of str
        Columns that make the rows of the result, such as `annotator`.
    ci : Bootstrap, Wilson or None
        As in `recall`; by default whole cases are drawn, since nodes of one case are alike.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `dimension` (in the order given), and those of `recall`.

    Notes
    -----
    p = sum_c yes_c / sum_c answered_c over cases c: the share of answers that are yes, 0 to 1.
    Source: Field and Welsh (2007, section 2).

    Examples
    --------
    >>> import polars as pl
    >>> answers = pl.DataFrame({"case_id": ["a", "b"], "exists": [True, True], "region": [True, None]})
    >>> audit(answers, dimensions=["exists", "region"])["n_scored"].to_list()
    [2, 1]
    """
    by, dimensions = _input.columns_of(by), _input.columns_of(dimensions)
    got = _input.eager(answers, [*by, *dimensions, "case_id", *clusters_of(any_kind(ci))], where="audit")
    measures = {name: _input.binary(got, name) for name in dimensions}
    return rated_apart(got, measures, "dimension", by, ci, where="audit")
