"""Draw-or-Decline: what each request came to, and E, D strict and lenient, D_f with what is pending."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from icgkit.errors import SchemaError

if TYPE_CHECKING:
    import polars as pl

MEASURES = {
    "E": "feasible requests with a valid edit",
    "D_strict": "infeasible requests declined in text, and no image",
    "D_lenient": "infeasible requests declined in text, whatever follows",
    "D_f": "feasible requests declined in text",
}
REASON = "D_reason"
"""Infeasible requests declined in text with the verified reason; known where a judge of refusals tells."""
_DECLINED = ("D_strict", "D_lenient")
_KEY = ["model", "reminder", "case_id"]


def outcomes(
    requests: pl.DataFrame, answers: pl.DataFrame, refusals: pl.DataFrame, edits: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Put answers and judgments together: what each request came to.

    Parameters
    ----------
    requests : frame
        `case_id`, `pair_id`, `category`, `feasible`.
    answers : frame
        `model`, `reminder` ("no" or "yes"), `case_id`, `has_image` (null if the call failed).
    refusals : frame
        The key and `refused`: whether the text declines; null is pending. With a column `cause_right`
        (whether the reason given is the verified one) the measure `D_reason` is told, too.
    edits : frame, optional
        The key and `valid`: whether the image is a valid edit; null is pending.

    Returns
    -------
    polars.DataFrame
        One row for each model, reminder and request, also where no answer is there: the key,
        `pair_id`, `category`, `feasible`, `has_image`, `refused`, `valid`, and `E`, `D_strict`,
        `D_lenient`, `D_f`: true, false, or null where a judgment is pending or the measure belongs to
        the other kind of request. An image after an infeasible request decides `D_strict` alone.
    """
    import polars as pl

    runs = answers.select("model", "reminder").unique(maintain_order=True)
    grid = runs.join(requests.select("case_id", "pair_id", "category", "feasible"), how="cross")
    verdicts = (
        edits if edits is not None else answers.select(*_KEY).with_columns(valid=pl.lit(None, pl.Boolean))
    )
    got = grid
    for frame, column in ((answers, "has_image"), (refusals, "refused"), (verdicts, "valid")):
        more = [c for c in ("cause_right",) if column == "refused" and c in frame.columns]
        if frame.select(_KEY).is_duplicated().any():
            raise SchemaError(
                f"{column}: several rows for one model, reminder and request", remedy="keep one"
            )
        got = got.join(frame.select(*_KEY, column, *more), on=_KEY, how="left", maintain_order="left")
    due, image = pl.col("feasible"), pl.col("has_image")
    reason = []
    if "cause_right" in got.columns and got["cause_right"].is_not_null().any():
        reason = [pl.when(~due).then(pl.col("refused") & pl.col("cause_right")).alias(REASON)]
    done = got.with_columns(
        *reason,
        E=pl.when(due).then(image & pl.col("valid")),
        D_strict=pl.when(~due).then(pl.col("refused") & ~image),
        D_lenient=pl.when(~due).then(pl.col("refused")),
        D_f=pl.when(due).then(pl.col("refused")),
    )
    return done.drop("cause_right", strict=False)


def rates(
    outcome: pl.DataFrame, *, by: Sequence[str] = ("model", "reminder"), level: float = 0.95
) -> pl.DataFrame:
    """Compute E, D strict and lenient, D_f and the share of pairs with both halves right.

    Parameters
    ----------
    outcome : frame
        See `outcomes`.
    by : sequence of str
        Columns that make the rows, of model, reminder, category.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `measure` (those of `MEASURES`, `D_reason` where it is known, `pair`), `n_yes`, `n_no`, `n_pending`, `n_total`, `estimate` (yes over all:
        pending ones stay in the denominator), `highest` (if every pending one were a yes), `low` and
        `high` (Wilson bounds of these two), `status`.
    """
    import polars as pl

    from icgkit.metrics import Wilson, recall

    told = [*MEASURES, *([REASON] if REASON in outcome.columns else [])]
    halves = {m: ~pl.col("feasible") if m in (*_DECLINED, REASON) else pl.col("feasible") for m in told}
    long = [
        outcome.filter(half).select(*by, "pair_id", measure=pl.lit(m), value=pl.col(m))
        for m, half in halves.items()
    ]
    whole = outcome.group_by(*dict.fromkeys([*by, "model", "reminder", "pair_id"]), maintain_order=True).agg(
        pl.col("E").filter(pl.col("feasible")).first(), pl.col("D_strict").filter(~pl.col("feasible")).first()
    )
    long.append(whole.select(*by, "pair_id", measure=pl.lit("pair"), value=pl.col("E") & pl.col("D_strict")))
    rows = pl.concat(long).rename({"pair_id": "case_id"})
    v = pl.col("value")
    counted = rows.group_by(*by, "measure", maintain_order=True).agg(
        n_yes=v.sum().cast(pl.Int64), n_no=(~v).sum().cast(pl.Int64), n_pending=v.is_null().sum().cast(pl.Int64),
        n_total=pl.len().cast(pl.Int64),
    )  # fmt: skip
    bounds = []
    for side, filled in (("low", False), ("high", True)):
        # Models are kept apart by a column of one name, so that `recall` pools nothing.
        part = rows.with_columns(
            v.fill_null(filled), _cell=pl.concat_str([pl.col(b) for b in (*by, "measure")], separator="\x1f")
        )
        got = recall(
            part.select("case_id", "value", "_cell"),
            by=("_cell",),
            average="micro",
            ci=Wilson(level),
            value="value",
        )
        bounds.append(got.select("_cell", pl.col(side)))
    cell = pl.concat_str([pl.col(b) for b in (*by, "measure")], separator="\x1f")
    joined = counted.with_columns(_cell=cell, estimate=pl.col("n_yes") / pl.col("n_total"),
                                  highest=(pl.col("n_yes") + pl.col("n_pending")) / pl.col("n_total"))  # fmt: skip
    for frame in bounds:
        joined = joined.join(frame, on="_cell", how="left", maintain_order="left")
    pending = pl.format("{} of {} pending", "n_pending", "n_total")
    status = pl.when(pl.col("n_pending") == 0).then(pl.lit("ok")).otherwise(pending)
    return joined.drop("_cell").with_columns(status=status)
