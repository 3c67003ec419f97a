"""What missing verdicts could do to a rate: bounds that assume nothing about them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from icgkit.metrics import _input
from icgkit.metrics._words import Average, Pooling
from icgkit.metrics.recall import recall


def bounds(
    judgments: _input.IntoFrame,
    *,
    by: str | Sequence[str] = ("model", "condition"),
    average: Average = "macro",
    pooling: Pooling = None,
    value: str = "found",
) -> pl.DataFrame:
    """Bound a rate by taking every missing verdict as false, then every one as true.

    `recall` leaves missing verdicts out, which is right if they are missing at random. These bounds hold
    however they came to be missing; they are no interval, and sampling error comes on top.

    Parameters
    ----------
    judgments, by, average, pooling, value
        As in `recall`.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `estimate` (missing left out), `worst`, `best` (share, 0 to 1; they coincide
        with it where nothing is missing), `width` (best minus worst), `missing` (share of rows, 0 to
        1), `n_missing`, `n_scored`, `n_total`, `n_cases`, `method`, `status`.

    Raises
    ------
    SchemaError
        As in `recall`.

    Notes
    -----
    worst and best are the rate with y = 0 and y = 1 in place of every null. With mean_over_models a
    model without any verdict has no estimate, yet counts in the bounds.

    References
    ----------
    Horowitz and Manski (2000), Nonparametric analysis of randomized experiments with missing covariate
    and outcome data, JASA 95, 77-84.

    Examples
    --------
    >>> import polars as pl
    >>> judgments = pl.DataFrame({"case_id": list("aabb"), "found": [True, None, False, True]})
    >>> bounds(judgments, by=()).select("worst", "estimate", "best", "missing").row(0)
    (0.5, 0.75, 0.75, 0.25)
    """
    by = _input.columns_of(by)
    frame = _input.eager(judgments, [*by, "case_id", value], where="judgments")
    frame = frame.with_columns(_input.binary(frame, value).alias(value))
    options = {"by": by, "average": average, "pooling": pooling, "ci": None, "value": value}
    seen, worst, best = (
        recall(frame.with_columns(fill), **options)  # type: ignore[arg-type]
        for fill in (pl.col(value), pl.col(value).fill_null(False), pl.col(value).fill_null(True))
    )
    return seen.select(
        *by,
        "estimate",
        worst["estimate"].alias("worst"),
        best["estimate"].alias("best"),
        (best["estimate"] - worst["estimate"]).alias("width"),
        (pl.col("n_missing") / pl.col("n_total")).alias("missing"),
        *("n_missing", "n_scored", "n_total", "n_cases"),
        pl.lit(f"{average}, missing verdicts as false and as true").alias("method"),
        "status",
    )
