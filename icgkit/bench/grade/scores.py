"""GRADE's scores: per sample, per set in both published forms, strict accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from icgkit.bench.grade.files import FULL, load_scores, load_tasks
from icgkit.errors import SchemaError
from icgkit.metrics.intervals import Bootstrap
from icgkit.metrics.mean import mean

if TYPE_CHECKING:
    import polars as pl

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


def add_scores(samples: pl.DataFrame) -> pl.DataFrame:
    """Add the score of each sample: `relaxed` (percent) and `strict`.

    Parameters
    ----------
    samples : polars.DataFrame
        As in `Scores.samples`; needed are `reasoning`, `consistency`, `readability`,
        `consistency_status`; `full` if it is there.

    Returns
    -------
    polars.DataFrame
        With `relaxed` and `strict`; both are null where a dimension that the sample has is missing.

    Notes
    -----
    relaxed = 60 R + 30 C / 2 + 10 L / 2, and 80 R + 20 L / 2 where no consistency is asked for.
    strict: every point met (or R > 0.99, the public rule for float weights), C = 2 or not asked for,
    L = 2.

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame({"reasoning": [0.5, 1.0], "consistency": [2.0, None], "readability": [1.0, 2.0],
    ...                      "consistency_status": ["ok", "none"]})
    >>> add_scores(rows).select("relaxed", "strict").rows()
    [(65.0, False), (100.0, True)]
    """
    import polars as pl

    need = [*WEIGHTS, "consistency_status"]
    if absent := [c for c in need if c not in samples.columns]:
        raise SchemaError(f"samples: missing column {', '.join(absent)}", got=samples.columns, allowed=need)
    r, c, low = (pl.col(n) for n in WEIGHTS)
    free = pl.col("consistency_status") == "none"
    full = r > FULL
    if "full" in samples.columns:
        full = full | pl.col("full").fill_null(False)
    plain = 100 * (
        WEIGHTS["reasoning"] * r + WEIGHTS["consistency"] * c / 2 + WEIGHTS["readability"] * low / 2
    )
    other = 100 * (WITHOUT["reasoning"] * r + WITHOUT["readability"] * low / 2)
    whole = r.is_not_null() & low.is_not_null() & (free | c.is_not_null())
    return samples.with_columns(
        relaxed=pl.when(free).then(other).otherwise(plain),
        strict=pl.when(whole).then(full & (free | (c == 2)).fill_null(False) & (low == 2)),
    )


def set_scores(
    samples: pl.DataFrame,
    *,
    by: str | Sequence[str] = ("model",),
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 42,
) -> pl.DataFrame:
    """Compute the set scores in percent, with bootstrap intervals over tasks.

    Parameters
    ----------
    samples : polars.DataFrame
        As in `Scores.samples`, of one or more models.
    by : str or sequence of str
        Columns that make the rows: model, discipline, sub_task, kind ...

    Returns
    -------
    polars.DataFrame
        One row for each combination of `by` and `measure` (see `MEASURES`): `estimate`, `low`, `high`
        (percent), `n_scored`, `n_total`, `n_missing`, `n_not_asked` (samples without a consistency
        score by design), `method`, `status`. `strict_public` is the public scorer's own figure (see
        `strict_accuracy`), which the published tables print.

    Notes
    -----
    The public scorer has two relaxed scores. `relaxed_set`: 0.6, 0.3, 0.1 times the means of the
    dimensions, the mean of C over the samples that have one (its printed total and its table by
    discipline). `relaxed_sample`: the mean of the scores of the samples, where a sample without C has
    the weights 0.8 and 0.2 (its file of full results). They differ as soon as a sample has no C.
    """
    import polars as pl

    by = [by] if isinstance(by, str) else list(by)
    rows = add_scores(samples).with_columns(
        pl.col("reasoning") * 100, pl.col("consistency") * 50, pl.col("readability") * 50,
        relaxed_sample=pl.col("relaxed"),
    )  # fmt: skip
    values = ["reasoning", "consistency", "readability", "relaxed_sample"]
    ci = Bootstrap(n_resamples, seed, "task_id", level)
    pooled = rows if "model" in by or "model" not in rows.columns else rows.drop("model")
    got = mean(pooled, values, by=by, combine={"relaxed_set": WEIGHTS}, ci=ci)
    strict = strict_accuracy(samples, by=by, level=level, n_resamples=n_resamples, seed=seed)
    strict = strict.with_columns(pl.col("estimate", "low", "high", "public") * 100, measure=pl.lit("strict"))
    public = strict.with_columns(
        estimate=pl.col("public"), low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64),
        measure=pl.lit("strict_public"), method=pl.lit("as the public scorer counts; no interval"),
    )  # fmt: skip
    got = pl.concat([got, strict.select(got.columns), public.select(got.columns)])
    free = rows.group_by(by).agg(_free=(pl.col("consistency_status") == "none").sum().cast(pl.Int64))
    whole = rows.group_by(by).agg(_whole=pl.col("relaxed").is_not_null().sum().cast(pl.Int64))
    got = got.join(free, on=by, how="left", nulls_equal=True).join(whole, on=by, how="left", nulls_equal=True)
    asked = pl.when(pl.col("measure") == "consistency").then(pl.col("_free")).otherwise(0)
    got = got.with_columns(
        n_not_asked=asked,
        n_scored=pl.when(pl.col("estimate").is_null())
        .then(0)
        .when(pl.col("measure") == "relaxed_set")
        .then("_whole")
        .otherwise("n_scored"),
    ).with_columns(n_missing=pl.col("n_total") - pl.col("n_scored") - pl.col("n_not_asked"))
    order = pl.col("measure").replace_strict({m: i for i, m in enumerate(MEASURES)})
    tail = ["measure", "estimate", "low", "high", "n_scored", "n_total", "n_missing", "n_not_asked", "method",
            "status"]  # fmt: skip
    return got.sort([*by, order], nulls_last=True).select(*by, *tail)


def strict_accuracy(
    samples: pl.DataFrame,
    *,
    by: str | Sequence[str] = ("model",),
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 42,
) -> pl.DataFrame:
    """Compute strict accuracy as a share, and the public scorer's own figure beside it.

    Returns
    -------
    polars.DataFrame
        As `icgkit.metrics.recall` (estimate, low, high, n_scored, n_total, n_missing, method, status)
        with `public`, the share as the public scorer counts it: passes over all samples that have a
        reasoning record, so that a sample without a readability score has failed; and R has to be above
        0.99, so that three points of weight 0.33, all met, have failed, too.
    """
    import polars as pl

    from icgkit.metrics import recall

    by = [by] if isinstance(by, str) else list(by)
    rows = add_scores(samples).with_columns(case_id=pl.col("task_id"))
    got = recall(
        rows, by=by, average="micro", value="strict", ci=Bootstrap(n_resamples, seed, level=level),
        pooling=None if "model" in by else "pooled",
    )  # fmt: skip
    r = pl.coalesce("stored", "reasoning") if "stored" in rows.columns else pl.col("reasoning")
    kept = (pl.col("consistency") == 2).fill_null(False) | (pl.col("consistency_status") == "none")
    passed = (r > FULL) & kept & (pl.col("readability") == 2)
    asked = pl.col("reasoning_status") != "missing" if "reasoning_status" in rows.columns else pl.lit(True)
    public = rows.filter(asked).group_by(by).agg(public=passed.fill_null(False).mean())
    return got.join(public, on=by, how="left", nulls_equal=True, maintain_order="left")


def score(folder: str | Path, data: str | Path | None = None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Score the three files of a model, overall and by discipline.

    Parameters
    ----------
    folder : path
        The model's folder, see `load_scores`.
    data : path, optional
        The task list: tasks that no file names are then missing.

    Returns
    -------
    (polars.DataFrame, polars.DataFrame)
        `set_scores` by model and discipline ("all" first), and the problems.
    """
    import polars as pl

    got = load_scores(folder, load_tasks(data) if data is not None else None)
    key = ["model", "discipline"]
    whole = set_scores(got.samples.with_columns(discipline=pl.lit("all")), by=key)
    return pl.concat([whole, set_scores(got.samples, by=key)]), got.problems
