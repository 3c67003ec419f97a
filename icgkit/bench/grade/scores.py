"""GRADE's scores by the public rules, per sample and per set; instructions and judges compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from icgkit.bench.common import need_columns, paired_means, with_whole
from icgkit.bench.grade.files import FULL, PARTS, load_scores, load_tasks
from icgkit.errors import UnknownName
from icgkit.metrics import Contrast, mcnemar, permutation, recall
from icgkit.metrics.intervals import Bootstrap
from icgkit.metrics.mean import mean

WEIGHTS = {"reasoning": 0.6, "consistency": 0.3, "readability": 0.1}
"""Weights of the relaxed score."""
WITHOUT = {"reasoning": 0.8, "readability": 0.2}
"""Weights of the relaxed score of a sample that has no consistency score (public scorer, per sample)."""
MEASURES = (
    "reasoning",
    "consistency",
    "readability",
    "relaxed_set",
    "relaxed_sample",
    "strict",
    "strict_public",
)
"""What `set_scores` computes, all in percent."""
_CI = Bootstrap(2000)
_PERCENT = {"reasoning": 100, "consistency": 50, "readability": 50}


def add_scores(samples: pl.DataFrame) -> pl.DataFrame:
    """Add the score of each sample, null where a dimension is missing: `relaxed` (percent) and `strict`.

    relaxed = 60 R + 30 C / 2 + 10 L / 2, and 80 R + 20 L / 2 where no consistency is asked for. strict: every
    point met (or R > 0.99, the public rule for float weights), C = 2 or not asked for, L = 2.
    """
    need_columns(samples, [*WEIGHTS, "consistency_status"], "samples")
    r, c, low = (pl.col(n) for n in WEIGHTS)
    free = pl.col("consistency_status") == "none"
    full = r > FULL
    if "full" in samples.columns:
        full = full | pl.col("full").fill_null(False)
    plain = WEIGHTS["reasoning"] * r + WEIGHTS["consistency"] * c / 2 + WEIGHTS["readability"] * low / 2
    other = WITHOUT["reasoning"] * r + WITHOUT["readability"] * low / 2
    whole = r.is_not_null() & low.is_not_null() & (free | c.is_not_null())
    return samples.with_columns(
        relaxed=pl.when(free).then(100 * other).otherwise(100 * plain),
        strict=pl.when(whole).then(full & (free | (c == 2)).fill_null(False) & (low == 2)),
    )


def _in_percent(samples: pl.DataFrame) -> pl.DataFrame:
    scaled = [pl.col(name) * scale for name, scale in _PERCENT.items()]
    return add_scores(samples).with_columns(
        scaled, relaxed_sample=pl.col("relaxed"), case_id=pl.col("task_id")
    )


def _over_tasks(ci: Bootstrap) -> Bootstrap:
    return replace(ci, cluster="task_id")


def set_scores(
    samples: pl.DataFrame, *, by: str | Sequence[str] = ("model",), ci: Bootstrap = _CI
) -> pl.DataFrame:
    """Compute the set scores in percent, with bootstrap intervals over tasks.

    Returns
    -------
    polars.DataFrame
        One row for each combination of `by` (model, discipline, sub_task, kind ...) and `measure` (see
        `MEASURES`): `estimate`, `low`, `high` (percent), `n_scored`, `n_total`, `n_missing`, `n_not_asked`
        (samples without a consistency score by design), `method`, `status`. `strict_public` is the public
        scorer's own figure (see `strict_accuracy`), which the published tables print.

    Notes
    -----
    The public scorer has two relaxed scores. `relaxed_set`: 0.6, 0.3, 0.1 times the means of the
    dimensions, the mean of C over the samples that have one (its printed total and its table by discipline).
    `relaxed_sample`: the mean of the scores of the samples, where a sample without C has the weights 0.8 and
    0.2 (its file of full results). They differ as soon as a sample has no C.
    """
    by = [by] if isinstance(by, str) else list(by)
    rows = _in_percent(samples).drop("case_id")
    pooled = rows if "model" in by or "model" not in rows.columns else rows.drop("model")
    got = mean(
        pooled, [*_PERCENT, "relaxed_sample"], by=by, combine={"relaxed_set": WEIGHTS}, ci=_over_tasks(ci)
    )
    strict = strict_accuracy(samples, by=by, ci=ci)
    strict = strict.with_columns(pl.col("estimate", "low", "high", "public") * 100, measure=pl.lit("strict"))
    nothing = pl.lit(None, pl.Float64)
    public = strict.with_columns(
        estimate=pl.col("public"), low=nothing, high=nothing, measure=pl.lit("strict_public"),
        method=pl.lit("as the public scorer counts; no interval"),
    )  # fmt: skip
    got = pl.concat([got, strict.select(got.columns), public.select(got.columns)])
    counted = rows.group_by(by).agg(
        _free=(pl.col("consistency_status") == "none").sum().cast(pl.Int64),
        _whole=pl.col("relaxed").count().cast(pl.Int64)
    )  # fmt: skip
    got = got.join(counted, on=by, how="left", nulls_equal=True)
    known = pl.when(pl.col("measure") == "relaxed_set").then("_whole").otherwise("n_scored")
    got = got.with_columns(
        n_not_asked=pl.when(pl.col("measure") == "consistency").then("_free").otherwise(0),
        n_scored=pl.when(pl.col("estimate").is_null()).then(0).otherwise(known),
    ).with_columns(n_missing=pl.col("n_total") - pl.col("n_scored") - pl.col("n_not_asked"))
    order = pl.col("measure").replace_strict({m: i for i, m in enumerate(MEASURES)})
    tail = ["estimate", "low", "high", "n_scored", "n_total", "n_missing", "n_not_asked", "method", "status"]
    return got.sort([*by, order], nulls_last=True).select(*by, "measure", *tail)


def strict_accuracy(
    samples: pl.DataFrame, *, by: str | Sequence[str] = ("model",), ci: Bootstrap = _CI
) -> pl.DataFrame:
    """Compute strict accuracy as a share (see `icgkit.metrics.recall`), the public scorer's own beside it.

    `public`: passes over all samples that have a reasoning record, so that a sample without a readability
    score has failed; and R has to be above 0.99, so that three points of weight 0.33, all met, have failed,
    too.
    """
    by = [by] if isinstance(by, str) else list(by)
    rows = add_scores(samples).with_columns(case_id=pl.col("task_id"))
    got = recall(
        rows, by=by, average="micro", value="strict", ci=ci,
        pooling=None if "model" in by else "pooled",
    )  # fmt: skip
    r = pl.coalesce("stored", "reasoning") if "stored" in rows.columns else pl.col("reasoning")
    kept = (pl.col("consistency") == 2).fill_null(False) | (pl.col("consistency_status") == "none")
    passed = (r > FULL) & kept & (pl.col("readability") == 2)
    asked = pl.col("reasoning_status") != "missing" if "reasoning_status" in rows.columns else pl.lit(True)
    public = rows.filter(asked).group_by(by).agg(public=passed.fill_null(False).mean())
    return got.join(public, on=by, how="left", nulls_equal=True, maintain_order="left")


def score(folder: str | Path, data: str | Path | None = None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Score the three files of a model: `set_scores` by model and discipline ("all" first), and the problems.

    With `data`, the task list, tasks that no file names are missing.
    """
    got = load_scores(folder, load_tasks(data) if data is not None else None)
    table = with_whole(got.samples, "discipline", lambda rows: set_scores(rows, by=["model", "discipline"]))
    return table, got.problems


def compare_instructions(
    samples: pl.DataFrame, *, reference: str = "implicit", target: str = "explicit",
    over: str = "instruction", by: str | Sequence[str] = ("model",), ci: Bootstrap = _CI,
) -> pl.DataFrame:  # fmt: skip
    """Compare two ways of instructing on the same tasks, pair by pair (`samples` with the column `over`).

    The columns `by`, `measure` (reasoning, consistency, readability, relaxed_sample, strict), `reference`,
    `target`, `mean_reference`, `mean_target`, `estimate` (target minus reference, percentage points), `low`,
    `high`, `p_value` (exchange of the two sides of whole tasks; exact McNemar for `strict`), `n_pairs`,
    `n_missing` (tasks with a side missing: left out), `status`.
    """
    by = [by] if isinstance(by, str) else list(by)
    known = samples[over].unique().to_list() if over in samples.columns else []
    for name in (reference, target):
        if name not in known:
            raise UnknownName.among(f"value of {over} in the samples", name, [str(k) for k in known])
    rows, key = _in_percent(samples), [*by, "task_id"]
    contrast = Contrast(over, reference, [target], on="case_id")
    parts = []
    for name in (*_PERCENT, "relaxed_sample", "strict"):
        value = pl.col(name).cast(pl.Float64) * (100.0 if name == "strict" else 1.0)
        one, two = (
            rows.filter(pl.col(over) == side).select(*key, value.alias(column))
            for side, column in ((reference, "mean_reference"), (target, "mean_target"))
        )
        both = one.join(two, on=key, how="full", coalesce=True, nulls_equal=True)
        out = paired_means(both, "mean_reference", "mean_target", by=by, ci=_over_tasks(ci))
        if name == "strict":
            p = mcnemar(rows, contrast, by=by, value=name).select(*by, p_value="p_exact")
        else:
            p = permutation(rows, contrast, by=by, value=name, ci=ci).select(*by, "p_value")
        parts.append(
            out.join(p, on=by, how="left", nulls_equal=True, maintain_order="left").with_columns(
                measure=pl.lit(name)
            )
        )
    told = {"reference": pl.lit(reference), "target": pl.lit(target)}
    tail = ["measure", "reference", "target", "mean_reference", "mean_target", "estimate", "low", "high",
            "p_value", "n_pairs", "n_missing", "status"]  # fmt: skip
    return pl.concat(parts).with_columns(**told).select(*by, *tail).sort(by, maintain_order=True)


def judge_error(
    judged: pl.DataFrame, experts: pl.DataFrame, *, on: Sequence[str] = ("task_id",)
) -> pl.DataFrame:
    """Compare a judge with the mean of the experts, dimension by dimension, on the scale 0 to 1.

    `judged` has the columns `on`, optionally `judge`, and `reasoning` (0..1), `consistency`, `readability`
    (0..2); `experts` has `on`, `expert` and the same three.

    Returns
    -------
    polars.DataFrame
        One row a judge and dimension: `mae`, `sd` (of the signed errors), `sd_absolute` (of the absolute
        errors), `bias` (judge minus experts), `n` (samples compared), `n_missing` (scored by one side only),
        `n_experts` (fewest to most), `status`. Standard deviations divide by n - 1. The published table says
        "STD" without saying of what.
    """
    if "judge" not in judged.columns:
        judged = judged.with_columns(judge=pl.lit("judge"))
    on, j, e = list(on), pl.col("_j"), pl.col("_e")
    error, parts = j - e, []
    for name in PARTS:
        value = pl.col(name) / (1.0 if name == "reasoning" else 2.0)
        means = experts.group_by(on).agg(_e=value.mean(), _k=pl.col(name).count())
        both = judged.select(*on, "judge", _j=value).join(means, on=on, how="left", nulls_equal=True)
        told = pl.col("_k").filter(error.is_not_null())
        one = both.group_by("judge").agg(
            pl.lit(name).alias("dimension"), mae=error.abs().mean(), sd=error.std(),
            sd_absolute=error.abs().std(), bias=error.mean(), n=error.count().cast(pl.Int64),
            n_missing=(j.is_null() ^ e.is_null()).sum().cast(pl.Int64),
            n_experts=pl.format("{} to {}", told.min(), told.max()),
        )  # fmt: skip
        parts.append(one)
    status = pl.when(pl.col("n") > 0).then(pl.lit("ok")).otherwise(pl.lit("nothing to compare"))
    order = pl.col("dimension").replace_strict({n: i for i, n in enumerate(PARTS)})
    return pl.concat(parts).with_columns(status=status).sort("judge", order)
