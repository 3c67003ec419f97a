"""Tables of agreement between judges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from icgkit.metrics import Bootstrap, agreement
from icgkit.report.tables import Table, intervals, typeset
from icgkit.report.views.shapes import category_labels, condition_labels, in_order, short_model

if TYPE_CHECKING:
    from icgkit.report.results import Results


def judge_pair(run: Results) -> tuple[str, str]:
    """Return the primary judge and the next one by name (the primary one twice where there is no other)."""
    first, second, _ = three_judges(run)
    return first, second


def three_judges(run: Results) -> tuple[str, str, str]:
    """Return the primary judge and two further ones; with fewer judges the last one stands again.

    The second is the one with fewer verdicts (a cross-check on part of the data), the third the one
    with more (a full re-judging).
    """
    counts = dict(run.all_judgments.group_by("judge").len().iter_rows())
    others = sorted((j for j in counts if j != run.judge), key=lambda j: (counts[j], j))
    chain = [run.judge, *others[:1], *others[-1:]]
    return (chain[0], chain[min(1, len(chain) - 1)], chain[-1])


def judged_twice(
    run: Results, conditions: Sequence[str], by: str, judges: Sequence[str], *, ci: Bootstrap
) -> pl.DataFrame:
    """Compare two judges on some conditions by a column; say so where there are no two judges."""
    part = run.all_judgments.filter(pl.col("condition").is_in(list(conditions)))
    if len(set(judges)) < 2:
        return pl.DataFrame({"status": ["this cache has one judge only"]})
    return run.if_has(judges, agreement, part, column="judge", by=(by,), judges=list(judges), ci=ci)


def agreement_table(
    frame: pl.DataFrame,
    *,
    id: str,
    run: Results,
    judges: Sequence[str],
    how: str,
    title: str = "Agreement of two judges",
) -> Table:
    """Typeset what `icgkit.metrics.agreement` returns."""
    by = next((c for c in ("condition", "category", "model") if c in frame.columns), "status")
    order = {"condition": list(condition_labels()), "category": list(category_labels())}.get(by, [])
    shown = intervals(frame, estimate="kappa", low="kappa_low", high="kappa_high", name="kappa_shown")
    if by != "status":
        shown = in_order(shown, order, by) if order else shown.sort(by)
        shown = shown.with_columns(pl.col(by).replace(category_labels()))
    pairs = int(frame["n_pairs"].sum()) if "n_pairs" in frame.columns else 0
    a, b = (short_model(j) for j in judges)
    return typeset(
        shown,
        id=id,
        columns=[by, "raw", "kappa_shown", "pabak", "ac1", "rate_a", "rate_b", "rate_gap", "n_pairs", "n_missing"],
        caption=f"{title}: {a} (a) and {b} (b), {pairs:,d} paired verdicts; {how}.",
        headers={
            by: by.capitalize(), "raw": "Raw", "kappa_shown": "κ", "pabak": "PABAK", "ac1": "AC1", "rate_a": "Found, a",
            "rate_b": "Found, b", "rate_gap": "a − b", "n_pairs": "Pairs", "n_missing": "Missing",
        },
        formats={"rate_gap": "+.3f"},
        notes=[*run.notes()[1:], "κ is low near the ceiling whatever the agreement: read PABAK and AC1 beside it."],
    )  # fmt: skip
