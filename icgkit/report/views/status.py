"""How calls ended: the rates of every status, what is missing among them."""

from __future__ import annotations

import polars as pl

from icgkit.cases.dataset import Dataset
from icgkit.judge.nodes import extract_proposals

STATUSES = ("ok", "truncated", "refused", "empty", "error", "unparseable", "missing")


def status_rates(responses: pl.DataFrame, dataset: Dataset) -> pl.DataFrame:
    """Return how the responses of each model and condition ended.

    Parameters
    ----------
    responses : polars.DataFrame
        Schema `responses`.
    dataset : Dataset
        The cases that were asked about. A case counts as asked under a condition if any model has a
        response to it there, so that a subset is not taken for missing answers.

    Returns
    -------
    polars.DataFrame
        Columns condition, model, n (responses that are due) and a rate from 0 to 1 for each of
        `STATUSES`, which sum to 1. `unparseable` is a whole answer under a self-report condition
        (`*_self`) in which no proposals can be read; `missing` has no record at all.
    """
    mine = responses.filter(pl.col("case_id").is_in([case.id for case in dataset]))
    reported = mine.filter(pl.col("condition").str.ends_with("_self"))
    key = ["dataset", "case_id", "condition", "model", "sample"]
    unread = extract_proposals(reported).replies.filter(status="unreadable").select(key)
    marked = mine.join(unread.with_columns(bad=pl.lit(value=True)), on=key, how="left").with_columns(
        status=pl.when(pl.col("bad") & (pl.col("status") == "ok"))
        .then(pl.lit("unparseable"))
        .otherwise(pl.col("status"))
    )
    due = mine.group_by("condition").agg(n=pl.struct("case_id", "sample").n_unique())
    counts = [pl.col("status").eq(s).sum().alias(s) for s in STATUSES[:-1]]
    out = marked.group_by("condition", "model").agg(*counts, got=pl.len()).join(due, on="condition")
    out = out.with_columns(missing=pl.col("n") - pl.col("got"))
    rates = [(pl.col(s) / pl.col("n")).alias(s) for s in STATUSES]
    return out.select("condition", "model", "n", *rates).sort("condition", "model")
