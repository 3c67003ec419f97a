"""Draw-or-Decline: what each request came to, rates, paired comparisons, stances, quality of judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl
from scipy.stats import binomtest

from icgkit.errors import SchemaError, UnknownName
from icgkit.metrics import Contrast, agreement, differences, fleiss, mcnemar, permutation
from icgkit.metrics.intervals import BOOTSTRAP, Bootstrap

MEASURES = {
    "E": "feasible requests with a valid edit",
    "D_strict": "infeasible requests declined in text, and no image",
    "D_lenient": "infeasible requests declined in text, whatever follows",
    "D_f": "feasible requests declined in text",
}
REASON = "D_reason"
"""Infeasible requests declined in text with the verified reason; known where a judge of refusals tells."""
STANCES = {
    "refusal": "says that no valid edit exists and plans none",
    "acknowledge": "says that something is missing or cannot be met, and plans the edit nevertheless",
    "rewriting": "turns the request into one that can be met, without saying so",
    "acceptance": "keeps the request as it is and plans the edit as if it could be met",
}
"""How the reasoning deals with an infeasible request; one group at most."""
_OF_INFEASIBLE = ("D_strict", "D_lenient", REASON)
_KEY = ["model", "reminder", "case_id"]


def outcomes(
    requests: pl.DataFrame, answers: pl.DataFrame, refusals: pl.DataFrame, edits: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Put answers and judgments together: what each request came to.

    Parameters
    ----------
    requests : `case_id`, `pair_id`, `category`, `feasible`.
    answers : `model`, `reminder` ("no" or "yes"), `case_id`, `has_image` (null if the call failed).
    refusals : the key and `refused`: whether the text declines; null is pending. With `cause_right` (whether
        the reason given is the verified one) the measure `D_reason` is told, too.
    edits : the key and `valid`: whether the image is a valid edit; null is pending.

    Returns
    -------
    polars.DataFrame
        One row for each model, reminder and request, also where no answer is there: the key, `pair_id`,
        `category`, `feasible`, `has_image`, `refused`, `valid`, and `E`, `D_strict`, `D_lenient`, `D_f`:
        true, false, or null where a judgment is pending or the measure belongs to the other kind of request.
        An image after an infeasible request decides `D_strict` alone.
    """
    runs = answers.select("model", "reminder").unique(maintain_order=True)
    got = runs.join(requests.select("case_id", "pair_id", "category", "feasible"), how="cross")
    if edits is None:
        edits = answers.select(*_KEY, valid=pl.lit(None, pl.Boolean))
    for frame, column in ((answers, "has_image"), (refusals, "refused"), (edits, "valid")):
        more = [c for c in ("cause_right",) if column == "refused" and c in frame.columns]
        if frame.select(_KEY).is_duplicated().any():
            raise SchemaError(
                f"{column}: several rows for one model, reminder and request", remedy="keep one"
            )
        got = got.join(frame.select(*_KEY, column, *more), on=_KEY, how="left", maintain_order="left")
    due, image, refused = pl.col("feasible"), pl.col("has_image"), pl.col("refused")
    reason = []
    if "cause_right" in got.columns and got["cause_right"].is_not_null().any():
        reason = [pl.when(~due).then(refused & pl.col("cause_right")).alias(REASON)]
    done = got.with_columns(
        *reason,
        E=pl.when(due).then(image & pl.col("valid")),
        D_strict=pl.when(~due).then(refused & ~image),
        D_lenient=pl.when(~due).then(refused),
        D_f=pl.when(due).then(refused),
    )
    return done.drop("cause_right", strict=False)


def _half(measure: str) -> pl.Expr:
    """Return which requests a measure is about."""
    return ~pl.col("feasible") if measure in _OF_INFEASIBLE else pl.col("feasible")


def rates(
    outcome: pl.DataFrame, *, by: Sequence[str] = ("model", "reminder"), level: float = 0.95
) -> pl.DataFrame:
    """Compute E, D strict and lenient, D_f and the share of pairs with both halves right, of `outcomes`.

    Returns
    -------
    polars.DataFrame
        The columns `by` (of model, reminder, category), `measure` (those of `MEASURES`, `D_reason` where it
        is known, `pair`), `n_yes`, `n_no`, `n_pending`, `n_total`, `estimate` (yes over all: pending ones
        stay in the denominator), `highest` (if every pending one were a yes), `low` and `high` (Wilson bounds
        of these two), `status`.
    """
    told = [*MEASURES, *([REASON] if REASON in outcome.columns else [])]
    long = [outcome.filter(_half(m)).select(*by, measure=pl.lit(m), value=pl.col(m)) for m in told]
    pairs = outcome.group_by(*dict.fromkeys([*by, "model", "reminder", "pair_id"]), maintain_order=True)
    sides = [pl.col(m).filter(_half(m)).first() for m in ("E", "D_strict")]
    value = pl.col("E") & pl.col("D_strict")
    long.append(pairs.agg(*sides).select(*by, measure=pl.lit("pair"), value=value))
    v = pl.col("value")
    counted = pl.concat(long).group_by(*by, "measure", maintain_order=True).agg(
        n_yes=v.sum().cast(pl.Int64), n_no=(~v).sum().cast(pl.Int64),
        n_pending=v.is_null().sum().cast(pl.Int64), n_total=pl.len().cast(pl.Int64),
    )  # fmt: skip
    most, n = pl.col("n_yes") + pl.col("n_pending"), pl.col("n_total")
    ends = []
    for yes, pending, total in counted.select("n_yes", "n_pending", "n_total").iter_rows():
        low = binomtest(yes, total).proportion_ci(level, "wilson").low
        ends.append((float(low), float(binomtest(yes + pending, total).proportion_ci(level, "wilson").high)))
    bounds = pl.DataFrame(ends, schema=dict.fromkeys(("low", "high"), pl.Float64), orient="row")
    status = pl.when(pl.col("n_pending") == 0).then(pl.lit("ok"))
    counted = counted.with_columns(estimate=pl.col("n_yes") / n, highest=most / n, **bounds.to_dict())
    return counted.with_columns(
        status=status.otherwise(pl.format("{} of {} pending", "n_pending", "n_total"))
    )


def compare(
    outcome: pl.DataFrame, measure: str, *, over: str = "reminder", reference: str = "no",
    targets: Sequence[str] | None = None, by: Sequence[str] = ("model",), ci: Bootstrap = BOOTSTRAP,
) -> pl.DataFrame:  # fmt: skip
    """Compare one measure on the same requests: with and without reminder, or model with model.

    `over` is the column that is compared, `reference` the value compared with, `targets` the others. As
    `within_pairs`; requests with a pending side are left out and counted (`n_missing`).
    """
    if measure not in MEASURES:
        raise UnknownName.among("measure", measure, MEASURES)
    keep = outcome.filter(_half(measure)).with_columns(found=pl.col(measure), measure=pl.lit(measure))
    return _tested(keep, Contrast(over, reference, targets, on="case_id"), by, ci)


def within_pairs(
    outcome: pl.DataFrame, *, by: Sequence[str] = ("model", "reminder"), ci: Bootstrap = BOOTSTRAP
) -> pl.DataFrame:
    """Compare refusals of the two halves of each pair: does a model tell them apart?

    Returns
    -------
    polars.DataFrame
        The columns `by`, `measure`, `reference` (feasible), `target` (infeasible), `rate_reference` (D_f),
        `rate_target` (D lenient), `estimate` (their difference, 1 is perfect, 0 is blind), `low`, `high`
        (percentile bootstrap over pairs), `p_midp` (McNemar), `p_permutation` (sign flips of pairs),
        `n_reference_only`, `n_target_only`, `n_pairs`, `n_missing`, `status`.
    """
    kind = pl.when("feasible").then(pl.lit("feasible")).otherwise(pl.lit("infeasible"))
    keep = outcome.with_columns(
        kind=kind, found=pl.col("refused"), case_id=pl.col("pair_id"), measure=pl.lit("refused")
    )
    return _tested(keep, Contrast("kind", "feasible", None, on="case_id"), by, ci)


def _tested(frame: pl.DataFrame, pairs: Contrast, by: Sequence[str], ci: Bootstrap) -> pl.DataFrame:
    keys = [*by, "target"]
    slim = frame.select(*dict.fromkeys([*by, pairs.over, "found", "case_id"]))
    ends = differences(slim, replace(pairs, on=None), by=list(by), average="micro", ci=ci)
    flips = permutation(slim, pairs, by=list(by), ci=ci).select(*keys, p_permutation="p_value")
    got = mcnemar(slim, pairs, by=list(by)).with_columns(measure=pl.lit(frame["measure"].first()))
    for more in (ends.select(*keys, "low", "high"), flips):
        got = got.join(more, on=keys, how="left", maintain_order="left")
    return got.select(
        *by, "measure", "reference", "target", "rate_reference", "rate_target", "estimate", "low", "high",
        "p_midp", "p_permutation", "n_reference_only", "n_target_only", "n_pairs", "n_missing", "status",
    )  # fmt: skip


def stance_shares(stances: pl.DataFrame, *, by: Sequence[str] = ("model",)) -> pl.DataFrame:
    """Count the stance groups of the reasoning about infeasible requests (`stance`, null for pending).

    The columns `by`, `stance` (every group, then none and pending), `n`, `n_total`, `share` (0 to 1, of all).
    """
    known = [*STANCES, "none"]
    if wrong := set(stances["stance"].drop_nulls()) - set(known):
        raise UnknownName.among("stance", min(wrong), known)
    groups = pl.DataFrame({"stance": [*known, "pending"]})
    cells = stances.select(by).unique(maintain_order=True).join(groups, how="cross")
    counted = (
        stances.with_columns(pl.col("stance").fill_null("pending")).group_by(*by, "stance").agg(n=pl.len())
    )
    out = cells.join(counted, on=[*by, "stance"], how="left", maintain_order="left")
    out = out.with_columns(pl.col("n").fill_null(0).cast(pl.Int64))
    total = pl.col("n").sum().over(list(by))
    return out.with_columns(n_total=total, share=pl.col("n") / total)


def balanced_sample(
    judged: pl.DataFrame, value: str, n: int = 200, *,
    spread: Sequence[str] = ("model", "reminder", "category"), seed: int = 42,
) -> pl.DataFrame:  # fmt: skip
    """Draw responses for people to label: half that the judge takes as yes, half as no.

    Within each half the rows are spread over the columns `spread` as evenly as they allow. Rows
    that are pending are never drawn; a half with too few rows is an error.
    """
    spread = [c for c in spread if c in judged.columns]
    parts = []
    for want in (True, False):
        part = judged.filter(pl.col(value) == want)
        if part.height < n // 2:
            raise SchemaError(
                f"balanced sample: too few rows with {value} {want}", got=part.height,
                allowed=f"{n // 2} or more", remedy="ask for a smaller sample",
            )  # fmt: skip
        mixed = part.sample(fraction=1.0, shuffle=True, seed=seed)
        if spread:
            turns = pl.int_range(pl.len()).over(spread)
            mixed = mixed.sort(turns, maintain_order=True)
        parts.append(mixed.head(n // 2))
    return pl.concat(parts).sample(fraction=1.0, shuffle=True, seed=seed + 1)


def judge_quality(labels: pl.DataFrame, *, judge: str = "judge", ci: Bootstrap = BOOTSTRAP) -> pl.DataFrame:
    """Set a judge beside the majority of annotators on the same responses.

    `labels` has one row a label: `item`, `rater` (the judge's name among them), `label` (null for none).

    Returns
    -------
    polars.DataFrame
        One row: `n_items` (with a majority and a verdict), `n_missing`, `agreement`, `kappa` (Cohen), each
        with `_low`, `_high`; `judge_only` (yes against the majority), `majority_only` (missed); of the
        annotators alone `n_annotators`, `fleiss`, `pairwise`, `unanimous` (share); `status`. A tie is no
        majority. On a balanced sample these describe the sample, not the rates of a benchmark.
    """
    people, machine = (labels.filter(e) for e in (pl.col("rater") != judge, pl.col("rater") == judge))
    if machine.is_empty() or people.is_empty():
        raters = sorted(set(labels["rater"]))
        raise SchemaError(
            "judge check needs a judge and annotators", got=raters, allowed=f"{judge!r} and others"
        )
    label, yes = pl.col("label"), pl.col("yes")
    votes = people.group_by("item", maintain_order=True).agg(
        yes=label.sum(), no=(~label).sum(), one=label.drop_nulls().n_unique() == 1
    )
    voted = pl.when(yes != pl.col("no")).then(yes > pl.col("no"))
    both = pl.concat([
        machine.select(case_id="item", judge=pl.lit("judge"), found="label"),
        votes.select(case_id="item", judge=pl.lit("majority"), found=voted),
    ])  # fmt: skip
    got = agreement(both, judges=["judge", "majority"], ci=ci).row(0, named=True)
    row: dict[str, Any] = {"n_items": got["n_pairs"], "n_missing": labels["item"].n_unique() - got["n_pairs"]}
    for name, key in (("agreement", "raw"), ("kappa", "kappa")):
        row |= {name: got[key], f"{name}_low": got[f"{key}_low"], f"{name}_high": got[f"{key}_high"]}
    annotators = people["rater"].n_unique()
    row |= {"judge_only": got["n_a_only"], "majority_only": got["n_b_only"], "n_annotators": annotators}
    row |= dict.fromkeys(("fleiss", "pairwise", "unanimous")) | {"status": f"{got['status']}; one annotator"}
    if annotators > 1:
        words = people.with_columns(label.cast(pl.String))
        among = fleiss(words, category="label", rater="rater", item="item", ci=None).row(0, named=True)
        row |= {"fleiss": among["kappa"], "pairwise": among["raw"], "unanimous": votes["one"].mean()}
        row["status"] = got["status"]
    frame = pl.DataFrame([row], infer_schema_length=None)
    return frame.with_columns(pl.col("fleiss", "pairwise", "unanimous").cast(pl.Float64))


def labels_of_errors(n: int, judge_only: int, majority_only: int) -> pl.DataFrame:
    """Build judge and majority labels of a balanced sample from its two counts of errors.

    With these `judge_quality` gives agreement and kappa again that a paper prints beside the counts.
    """
    machine = [True] * (n // 2) + [False] * (n - n // 2)
    people = [i >= judge_only for i in range(n // 2)] + [i < majority_only for i in range(n - n // 2)]
    items = [f"r{i:04d}" for i in range(n)]
    raters = ["judge"] * n + ["majority"] * n
    return pl.DataFrame({"item": items * 2, "rater": raters, "label": machine + people})
