"""Draw-or-Decline: paired comparisons, stance groups, and how far a judge can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from icgkit.bench.dod.scores import MEASURES
from icgkit.errors import SchemaError, UnknownName
from icgkit.metrics.intervals import BOOTSTRAP, Bootstrap

if TYPE_CHECKING:
    import polars as pl

STANCES = {
    "refusal": "says that no valid edit exists and plans none",
    "acknowledge": "says that something is missing or cannot be met, and plans the edit nevertheless",
    "rewriting": "turns the request into one that can be met, without saying so",
    "acceptance": "keeps the request as it is and plans the edit as if it could be met",
}
"""How the reasoning deals with an infeasible request; one group at most."""


def compare(
    outcome: pl.DataFrame, measure: str, *, over: str = "reminder", reference: str = "no",
    targets: Sequence[str] | None = None, by: Sequence[str] = ("model",), ci: Bootstrap = BOOTSTRAP,
) -> pl.DataFrame:  # fmt: skip
    """Compare one measure on the same requests: with and without reminder, or model with model.

    Parameters
    ----------
    outcome : frame
        See `draw_or_decline.outcomes`.
    measure : str
        E, D_strict, D_lenient or D_f.
    over, reference, targets : str
        Column that is compared (`reminder`, `model`), the value compared with, and the others.
    by : sequence of str
        Columns that make the rows.

    Returns
    -------
    polars.DataFrame
        As `within_pairs`. Requests with a pending side are left out and counted (`n_missing`).
    """
    import polars as pl

    if measure not in MEASURES:
        raise UnknownName.among("measure", measure, MEASURES)
    half = ~pl.col("feasible") if measure.startswith(("D_strict", "D_lenient")) else pl.col("feasible")
    keep = outcome.filter(half).with_columns(found=pl.col(measure))
    return _tested(keep, over, reference, targets, by, "case_id", ci, measure)


def within_pairs(
    outcome: pl.DataFrame,
    *,
    by: Sequence[str] = ("model", "reminder"),
    ci: Bootstrap = BOOTSTRAP,
) -> pl.DataFrame:
    """Compare refusals of the two halves of each pair: does a model tell them apart?

    Returns
    -------
    polars.DataFrame
        The columns `by`, `measure`, `reference` (feasible), `target` (infeasible), `rate_reference`
        (D_f), `rate_target` (D lenient), `estimate` (their difference, 1 is perfect, 0 is blind),
        `low`, `high` (percentile bootstrap over pairs), `p_midp` (McNemar), `p_permutation` (sign flips
        of pairs), `n_reference_only`, `n_target_only`, `n_pairs`, `n_missing`, `status`.
    """
    import polars as pl

    kind = pl.when("feasible").then(pl.lit("feasible")).otherwise(pl.lit("infeasible"))
    keep = outcome.with_columns(kind=kind, found=pl.col("refused"))
    return _tested(keep, "kind", "feasible", None, by, "pair_id", ci, "refused")


def _tested(
    frame: pl.DataFrame, over: str, reference: str, targets: Sequence[str] | None, by: Sequence[str], unit: str,
    ci: Bootstrap, measure: str,
) -> pl.DataFrame:  # fmt: skip
    import polars as pl

    from icgkit.metrics import Contrast, differences, mcnemar, permutation

    by = list(by)
    pairs = Contrast(over, reference, targets, on="case_id")
    slim = frame.select(*dict.fromkeys([*by, over, "found"]), pl.col(unit).alias("case_id"))
    exact = mcnemar(slim, pairs, by=by)
    flips = permutation(slim, pairs, by=by, ci=ci)
    ends = differences(slim, replace(pairs, on=None), by=by, average="micro", ci=ci)
    keys = [*by, "target"]
    return (
        exact.drop("method", "p_exact", "p_value", "n_both", "n_neither")
        .join(ends.select(*keys, "low", "high"), on=keys, how="left", maintain_order="left")
        .join(flips.select(*keys, p_permutation="p_value"), on=keys, how="left", maintain_order="left")
        .select(
            *by, pl.lit(measure).alias("measure"), "reference", "target", "rate_reference", "rate_target", "estimate",
            "low", "high", "p_midp", "p_permutation", "n_reference_only", "n_target_only", "n_pairs", "n_missing", "status",
        )
    )  # fmt: skip


def stance_shares(stances: pl.DataFrame, *, by: Sequence[str] = ("model",)) -> pl.DataFrame:
    """Count the stance groups of the reasoning about infeasible requests.

    Parameters
    ----------
    stances : frame
        The columns `by`, `stance` (a name of `STANCES`, "none" for no group) and null for pending.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `stance` (every group, then none and pending), `n`, `n_total`, `share` (0 to 1,
        of all; the shares of one row of `by` add up to 1).
    """
    import polars as pl

    known = [*STANCES, "none"]
    wrong = set(stances["stance"].drop_nulls()) - set(known)
    if wrong:
        raise UnknownName.among("stance", sorted(wrong)[0], known)
    groups = pl.DataFrame({"stance": [*known, "pending"]})
    cells = stances.select(by).unique(maintain_order=True).join(groups, how="cross")
    counted = (
        stances.with_columns(pl.col("stance").fill_null("pending")).group_by(*by, "stance").agg(n=pl.len())
    )
    out = cells.join(counted, on=[*by, "stance"], how="left", maintain_order="left")
    total = pl.col("n").sum().over(list(by)).cast(pl.Int64)
    filled = out.with_columns(pl.col("n").fill_null(0).cast(pl.Int64))
    return filled.with_columns(n_total=total, share=pl.col("n") / total)


def balanced_sample(
    judged: pl.DataFrame, value: str, n: int = 200, *,
    spread: Sequence[str] = ("model", "reminder", "category"), seed: int = 42,
) -> pl.DataFrame:  # fmt: skip
    """Draw responses for people to label: half that the judge takes as yes, half as no.

    Within each half the rows are spread over the columns `spread` as evenly as they allow. Rows
    that are pending are never drawn.

    Raises
    ------
    SchemaError
        If one of the halves has too few rows.

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame({"model": ["a", "b"] * 10, "refused": [True] * 6 + [False] * 14})
    >>> balanced_sample(rows, "refused", 8, spread=["model"])["refused"].sum()
    4
    """
    import polars as pl

    spread = [c for c in spread if c in judged.columns]
    parts = []
    for want in (True, False):
        part = judged.filter(pl.col(value) == want)
        if part.height < n // 2:
            raise SchemaError(
                f"balanced sample: too few rows with {value} {want}", got=part.height, allowed=f"{n // 2} or more",
                remedy="ask for a smaller sample",
            )  # fmt: skip
        mixed = part.sample(fraction=1.0, shuffle=True, seed=seed)
        if spread:
            mixed = mixed.with_columns(_turn=pl.int_range(pl.len()).over(spread)).sort(
                "_turn", maintain_order=True
            )
            mixed = mixed.drop("_turn")
        parts.append(mixed.head(n // 2))
    return pl.concat(parts).sample(fraction=1.0, shuffle=True, seed=seed + 1)


def judge_quality(labels: pl.DataFrame, *, judge: str = "judge", ci: Bootstrap = BOOTSTRAP) -> pl.DataFrame:
    """Set a judge beside the majority of annotators on the same responses.

    Parameters
    ----------
    labels : frame
        One row a label: `item`, `rater` (the judge's name among them), `label` (true, false, null for none).

    Returns
    -------
    polars.DataFrame
        One row: `n_items` (with a majority and a verdict), `n_missing`, `agreement`, `kappa` (Cohen), each
        with `_low`, `_high`; `judge_only` (yes against the majority), `majority_only` (missed); of the
        annotators alone `n_annotators`, `fleiss`, `pairwise`, `unanimous` (share); `status`. A tie is no
        majority. On a balanced sample these describe the sample, not the rates of a benchmark.
    """
    import polars as pl

    from icgkit.metrics import agreement, fleiss

    people = labels.filter(pl.col("rater") != judge)
    machine = labels.filter(pl.col("rater") == judge)
    if machine.is_empty() or people.is_empty():
        raise SchemaError(
            "judge check needs a judge and annotators",
            got=sorted(set(labels["rater"])),
            allowed=f"{judge!r} and others",
        )
    votes = people.group_by("item", maintain_order=True).agg(
        yes=pl.col("label").sum(),
        no=(~pl.col("label")).sum(),
        one=pl.col("label").drop_nulls().n_unique() == 1,
    )
    majority = votes.select(
        case_id="item", judge=pl.lit("majority"),
        found=pl.when(pl.col("yes") != pl.col("no")).then(pl.col("yes") > pl.col("no")),
    )  # fmt: skip
    both = pl.concat([machine.select(case_id="item", judge=pl.lit("judge"), found="label"), majority])
    got = agreement(both, judges=["judge", "majority"], ci=ci).row(0, named=True)
    row: dict[str, Any] = {"n_items": got["n_pairs"], "n_missing": labels["item"].n_unique() - got["n_pairs"]}
    for name, key in (("agreement", "raw"), ("kappa", "kappa")):
        row |= {name: got[key], f"{name}_low": got[f"{key}_low"], f"{name}_high": got[f"{key}_high"]}
    row |= {"judge_only": got["n_a_only"], "majority_only": got["n_b_only"]}
    several = people["rater"].n_unique() > 1
    row |= {"n_annotators": people["rater"].n_unique(), "fleiss": None, "pairwise": None, "unanimous": None}
    if several:
        words = people.with_columns(pl.col("label").cast(pl.String))
        among = fleiss(words, category="label", rater="rater", item="item", ci=None).row(0, named=True)
        row |= {"fleiss": among["kappa"], "pairwise": among["raw"], "unanimous": votes["one"].mean()}
    row["status"] = got["status"] if several else f"{got['status']}; one annotator"
    return pl.DataFrame([row], infer_schema_length=None).with_columns(
        pl.col("fleiss", "pairwise", "unanimous").cast(pl.Float64)
    )


def labels_of_errors(n: int, judge_only: int, majority_only: int) -> pl.DataFrame:
    """Build judge and majority labels of a balanced sample from its two counts of errors.

    With these `judge_quality` gives agreement and kappa again that a paper prints beside the counts.

    Examples
    --------
    >>> got = judge_quality(labels_of_errors(200, 2, 1), ci=Bootstrap(50)).row(0, named=True)
    >>> got["agreement"], round(got["kappa"], 3)
    (0.985, 0.97)
    """
    import polars as pl

    machine = [True] * (n // 2) + [False] * (n - n // 2)
    people = [i >= judge_only for i in range(n // 2)] + [i < majority_only for i in range(n - n // 2)]
    items = [f"r{i:04d}" for i in range(n)]
    return pl.DataFrame(
        {"item": items * 2, "rater": ["judge"] * n + ["majority"] * n, "label": machine + people}
    )
