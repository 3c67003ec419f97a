"""Recall corrected with a judge's error rates that were measured on other responses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from icgkit.errors import SchemaError
from icgkit.metrics import _input, _rates, _resample
from icgkit.metrics._words import Average, Pooling, few
from icgkit.metrics.intervals import BOOTSTRAP, Bootstrap, needed


def corrected_outside(
    judgments: _input.IntoFrame,
    pairs: _input.IntoFrame,
    *,
    reference: str = "direct",
    by: str | Sequence[str] = (),
    over: str = "condition",
    average: Average = "macro",
    pooling: Pooling = None,
    ci: Bootstrap = BOOTSTRAP,
) -> pl.DataFrame:
    """Correct recall and gap for a judge whose errors were measured elsewhere (external validation).

    `corrected` needs labels of these very decisions. Where there are only labelled pairs from other
    responses, sensitivity and specificity can be carried over, on the assumption that the judge errs
    alike in every condition and here as there. Nothing in the data can check that.

    Parameters
    ----------
    judgments : frame
        The judge's verdicts, as in `recall`.
    pairs : frame
        Labelled pairs of the same judge: `found` (the judge), `gold` (a person), both Boolean.
    reference : str
        The value of `over` that gaps are taken from.
    by, over, average, pooling, ci
        As in `differences`.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `over`, `quantity` ("recall", "gap"), `judged` (as the judge says), `estimate`
        (corrected), `low`, `high`, `level`, `sensitivity`, `specificity`, `n_labelled`, `n_scored`,
        `n_clusters`, `method`, `status`. Recall is cut to 0..1, a gap to -1..1.

    Raises
    ------
    SchemaError
        If the pairs have no positive or no negative label.

    Notes
    -----
    Rogan-Gladen, (p + Sp - 1) / (Se + Sp - 1); the gap is the judged gap over (Se + Sp - 1). The interval
    takes percentiles of joint draws: p by the cluster bootstrap, Se and Sp from Beta(x + 1/2, n - x + 1/2)
    for x right verdicts of n.

    References
    ----------
    Rogan and Gladen (1978), Am. J. Epidemiol. 107, 71-76. Lang and Reiczigel (2014), Confidence limits for
    prevalence of disease adjusted for estimated sensitivity and specificity, Preventive Veterinary
    Medicine 113, 13-22 (uncertain error rates).

    Examples
    --------
    >>> import polars as pl
    >>> judged = pl.DataFrame({"case_id": [f"c{i}" for i in range(100)], "condition": "direct", "found": [i < 30 for i in range(100)]})
    >>> pairs = pl.DataFrame({"found": [True] * 9 + [False] * 11, "gold": [True] * 10 + [False] * 10})
    >>> corrected_outside(judged, pairs, ci=Bootstrap(200))["estimate"].round(3).to_list()
    [0.333]
    """
    by, ci = _input.columns_of(by), needed(ci)
    labels = _input.eager(pairs, ["found", "gold"], where="pairs")
    labels = labels.select(
        *(_input.binary(labels, c, where="pairs").alias(c) for c in ("found", "gold"))
    ).drop_nulls()
    yes, no = labels.filter("gold"), labels.filter(~pl.col("gold"))
    if yes.is_empty() or no.is_empty():
        raise SchemaError(
            "pairs hold one class only", got={"gold": yes.height, "not": no.height}, allowed="both"
        )
    right = np.array([yes["found"].sum(), (~no["found"]).sum()], dtype=np.float64)
    n = np.array([yes.height, no.height], dtype=np.float64)
    rng = np.random.default_rng([ci.seed, 17])
    se, sp = (rng.beta(r + 0.5, m - r + 0.5, size=ci.n) for r, m in zip(right, n, strict=True))
    point_se, point_sp = right / n
    frame = _input.into(judgments, where="judgments")
    rates = _rates.prepare(frame, value="found", by=[*by, over], pooling=pooling, cluster=ci.over)
    p, drawn = rates.estimate(average), rates.draws([average], ci)[average]
    clusters = rates.clusters(rates.alive())
    gain, gains = point_se + point_sp - 1, np.where(se + sp > 1, se + sp - 1, np.nan)
    base = {"sensitivity": point_se, "specificity": point_sp, "n_labelled": labels.height, "level": ci.level,
            "method": f"Rogan-Gladen, error rates of {labels.height} pairs from elsewhere, {average}, {ci.words()}"}  # fmt: skip
    first = {
        tuple(r[b] for b in by): i
        for i, r in enumerate(rates.cells.iter_rows(named=True))
        if r[over] == reference
    }
    rows: list[dict[str, Any]] = []
    for i, cell in enumerate(rates.cells.iter_rows(named=True)):
        r = first.get(tuple(cell[b] for b in by))
        todo = [("recall", p[i], (p[i] + point_sp - 1) / gain, np.clip((drawn[i] + sp - 1) / gains, 0, 1))]
        if r is not None and r != i:
            todo.append(
                ("gap", p[i] - p[r], (p[i] - p[r]) / gain, np.clip((drawn[i] - drawn[r]) / gains, -1, 1))
            )
        for quantity, judged, value, draws in todo:
            row = (
                base
                | cell
                | {"quantity": quantity, "n_scored": int(rates.n_scored[i]), "n_clusters": int(clusters[i])}
            )
            if gain <= 0 or not np.isfinite(judged):
                rows.append(
                    row
                    | {
                        "status": "sensitivity + specificity <= 1: the judge tells nothing"
                        if gain <= 0
                        else "nothing scored"
                    }
                )
                continue
            low, high, undefined = _resample.percentile(np.array(draws)[None, :], ci.level)
            least = 0 if quantity == "recall" else -1
            cut = float(np.clip(value, least, 1))
            notes = [
                few(int(clusters[i]), ci),
                "" if cut == value else f"estimate {value:.3f} cut to {least}..1",
            ]
            if undefined[0] > ci.n // 20:
                notes.append("the pairs leave open whether the judge tells anything: no interval")
            else:
                row |= {"low": min(float(low[0]), cut), "high": max(float(high[0]), cut)}
            rows.append(
                row
                | {
                    "judged": float(judged),
                    "estimate": cut,
                    "status": "; ".join(x for x in notes if x) or "ok",
                }
            )
    schema = {c: rates.cells.schema[c] for c in (*by, over)} | _SCHEMA
    return pl.DataFrame([[row.get(c) for c in schema] for row in rows], schema=schema, orient="row")


_SCHEMA: dict[str, Any] = {
    "quantity": pl.String,
    **dict.fromkeys(["judged", "estimate", "low", "high", "level", "sensitivity", "specificity"], pl.Float64),
    **dict.fromkeys(["n_labelled", "n_scored", "n_clusters"], pl.Int64), "method": pl.String, "status": pl.String,
}  # fmt: skip
