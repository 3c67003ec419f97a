"""How far two annotators agree who wrote the graphs of the same cases, each without the other's."""

from __future__ import annotations

import numpy as np
import polars as pl

from icgkit.errors import SchemaError
from icgkit.metrics._input import Floats
from icgkit.metrics.intervals import Bootstrap

SAME = 0.3
"""Intersection over union from which two boxes are taken for one place."""
INSIDE = 0.6
"""Share of the smaller box within the larger one that is enough where the subtype is the same."""
COLUMNS = ("case_id", "subtype", "x0", "y0", "x1", "y1")


def overlap(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return for boxes of shape (n, 4) and (m, 4) intersection over union, and over the smaller, of shape (n, m).

    Examples
    --------
    >>> iou, inside = overlap(np.array([[0.0, 0, 10, 10]]), np.array([[5.0, 0, 15, 10], [0, 0, 5, 5]]))
    >>> iou.round(3).tolist(), inside.tolist()
    ([[0.333, 0.25]], [[0.5, 1.0]])
    """
    low, high = np.maximum(a[:, None, :2], b[None, :, :2]), np.minimum(a[:, None, 2:], b[None, :, 2:])
    both = np.clip(high - low, 0, None).prod(2)
    first, second = ((q[:, 2:] - q[:, :2]).prod(1) for q in (a, b))
    return both / (first[:, None] + second[None] - both), both / np.minimum(first[:, None], second[None])


def match_nodes(first: pl.DataFrame, second: pl.DataFrame) -> pl.DataFrame:
    """Pair the nodes of two annotators that name the same place, one with one, within each case.

    Parameters
    ----------
    first, second : polars.DataFrame
        One row a node: `case_id`, `subtype`, `x0`, `y0`, `x1`, `y1` (pixels).

    Returns
    -------
    polars.DataFrame
        `case_id`, `first`, `second` (rows of the two frames), `iou` (0 to 1), `same_subtype`. Two boxes may
        be paired from an intersection over union of `SAME` on, or where `INSIDE` of the smaller lies within
        the larger and the subtypes are equal; of all such pairings the one with the largest sum is taken.

    Examples
    --------
    >>> nodes = pl.DataFrame({"case_id": ["a", "a"], "subtype": ["x", "y"], "x0": [0, 50], "y0": [0, 0], "x1": [10, 60], "y1": [10, 10]})
    >>> match_nodes(nodes, nodes.reverse()).select("first", "second", "iou").rows()
    [(0, 1, 1.0), (1, 0, 1.0)]
    """
    from scipy.optimize import linear_sum_assignment

    parts = []
    for frame, name in ((first, "first"), (second, "second")):
        if absent := [c for c in COLUMNS if c not in frame.columns]:
            raise SchemaError(f"{name} annotator: missing column {', '.join(absent)}", allowed=COLUMNS)
        rows = frame.with_row_index("row").partition_by("case_id", as_dict=True, maintain_order=True)
        parts.append({str(key[0]): part for key, part in rows.items()})
    pairs = []
    for case, one in parts[0].items():
        two = parts[1].get(case)
        if two is None:
            continue
        a, b = (part.select("x0", "y0", "x1", "y1").to_numpy().astype(float) for part in (one, two))
        kinds = [np.array(part["subtype"].to_list()) for part in (one, two)]
        alike = kinds[0][:, None] == kinds[1][None]
        iou, inside = overlap(a, b)
        score = np.where(
            (iou >= SAME) | ((inside >= INSIDE) & alike), iou + 0.1 * inside + 0.1 * alike + 1e-9, 0.0
        )
        for i, j in zip(*linear_sum_assignment(-score), strict=True):
            if score[i, j] > 0:
                pairs.append(
                    (case, one["row"][int(i)], two["row"][int(j)], float(iou[i, j]), bool(alike[i, j]))
                )
    whole = dict.fromkeys(["first", "second"], pl.Int64)
    columns = {"case_id": pl.String} | whole | {"iou": pl.Float64, "same_subtype": pl.Boolean}
    return pl.DataFrame(pairs, schema=columns, orient="row")


def graph_agreement(
    first: pl.DataFrame, second: pl.DataFrame, *, ci: Bootstrap | None = Bootstrap(2000)  # noqa: B008 (frozen)
) -> pl.DataFrame:  # fmt: skip
    """Measure how far two annotators found the same nodes, named the same subtype, and drew the same box.

    Parameters
    ----------
    first, second : polars.DataFrame
        One row a node, as for `match_nodes`; cases without a node have no row.
    ci : Bootstrap, optional
        Whole cases resampled (percentile intervals); None for none.

    Returns
    -------
    polars.DataFrame
        One row each for `existence` (positive agreement, 2 m / (n1 + n2) with m paired nodes: chance plays no
        part, as there is no count of places that neither names), `subtype` (share of paired nodes),
        `region` (mean intersection over union of paired nodes): `estimate` (0 to 1), `low`, `high`,
        `n_first`, `n_second`, `n_matched` (nodes), `cases`.

    Notes
    -----
    Source: Hripcsak and Rothschild (2005).

    Examples
    --------
    >>> nodes = pl.DataFrame({"case_id": ["a", "b"], "subtype": ["x", "y"], "x0": [0, 50], "y0": [0, 0], "x1": [10, 60], "y1": [10, 10]})
    >>> graph_agreement(nodes, nodes.head(1), ci=None).select("measure", "estimate").rows()
    [('existence', 0.6666666666666666), ('subtype', 1.0), ('region', 1.0)]
    """
    pairs = match_nodes(first, second)
    cases = sorted({*first["case_id"], *second["case_id"]})
    place = {case: k for k, case in enumerate(cases)}

    def by_case(values: pl.Series, weights: pl.Series | None = None) -> Floats:
        at = [place[case] for case in values]
        return np.bincount(
            at, None if weights is None else weights.cast(pl.Float64).to_numpy(), minlength=len(cases)
        ).astype(float)

    n1, n2, m = by_case(first["case_id"]), by_case(second["case_id"]), by_case(pairs["case_id"])
    sums = {
        "existence": (2 * m, n1 + n2),
        "subtype": (by_case(pairs["case_id"], pairs["same_subtype"]), m),
        "region": (by_case(pairs["case_id"], pairs["iou"]), m),
    }

    drawn, tail = None, 0.0
    if ci is not None and len(cases) > 1:
        rng, tail = np.random.default_rng(ci.seed), (1 - ci.level) / 2
        drawn = rng.multinomial(len(cases), np.full(len(cases), 1 / len(cases)), size=ci.n)
    rows = []
    for name, (top, bottom) in sums.items():
        low = high = None
        if drawn is not None and bottom.sum() > 0:
            with np.errstate(invalid="ignore"):
                low, high = np.nanquantile((drawn @ top) / (drawn @ bottom), [tail, 1 - tail]).tolist()
        rows.append(
            {
                "measure": name, "estimate": float(top.sum() / bottom.sum()) if bottom.sum() else None, "low": low, "high": high,
                "n_first": int(n1.sum()), "n_second": int(n2.sum()), "n_matched": pairs.height, "cases": len(cases),
            }
        )  # fmt: skip
    return pl.DataFrame(
        rows, schema_overrides={"estimate": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    )
