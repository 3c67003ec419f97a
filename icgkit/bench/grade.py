"""GRADE: discipline-informed image editing, scored by the public rules and set beside its paper.

Seed 002 and the public repository VisionXLab/GRADE. Three dimensions a sample: reasoning R (0..1),
consistency C and readability L (0, 1, 2). The files are read by `icgkit.bench.grade_files`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from icgkit.bench.grade_files import DISCIPLINES as DISCIPLINES
from icgkit.bench.grade_files import FULL, PARTS
from icgkit.bench.grade_files import Scores as Scores
from icgkit.bench.grade_files import discipline_of as discipline_of
from icgkit.bench.grade_files import load_scores as load_scores
from icgkit.bench.grade_files import load_tasks as load_tasks
from icgkit.bench.means import means
from icgkit.errors import SchemaError, UnknownName
from icgkit.load import load_published

if TYPE_CHECKING:
    import polars as pl

WEIGHTS = {"reasoning": 0.6, "consistency": 0.3, "readability": 0.1}
"""Weights of the relaxed score."""
WITHOUT = {"reasoning": 0.8, "readability": 0.2}
"""Weights of the relaxed score of a sample that has no consistency score (public scorer, per sample)."""
MEASURES = ("reasoning", "consistency", "readability", "relaxed_set", "relaxed_sample", "strict")
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
        score by design), `method`, `status`.

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
        relaxed_sample=pl.col("relaxed"), strict=pl.col("strict").cast(pl.Float64) * 100,
    )  # fmt: skip
    values = ["reasoning", "consistency", "readability", "relaxed_sample", "strict"]
    got = means(
        rows, values, by=by, cluster="task_id", combine={"relaxed_set": WEIGHTS},
        level=level, n_resamples=n_resamples, seed=seed,
    )  # fmt: skip
    free = rows.group_by(by).agg(_free=(pl.col("consistency_status") == "none").sum().cast(pl.Int64))
    whole = rows.group_by(by).agg(_whole=pl.col("relaxed").is_not_null().sum().cast(pl.Int64))
    got = got.join(free, on=by, how="left", nulls_equal=True).join(whole, on=by, how="left", nulls_equal=True)
    asked = pl.when(pl.col("measure") == "consistency").then(pl.col("_free")).otherwise(0)
    got = got.with_columns(
        n_not_asked=asked,
        n_scored=pl.when(pl.col("measure") == "relaxed_set").then("_whole").otherwise("n_scored"),
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
        with `public`: passes over all samples that have a reasoning record, which is how the public
        scorer divides, so that a sample without a readability score counts as failed there.
    """
    import polars as pl

    from icgkit.metrics import recall

    by = [by] if isinstance(by, str) else list(by)
    rows = add_scores(samples).with_columns(case_id=pl.col("task_id"))
    got = recall(
        rows, by=by, average="micro", value="strict", level=level, n_resamples=n_resamples, seed=seed,
        pooling=None if "model" in by else "pooled",
    )  # fmt: skip
    public = rows.group_by(by).agg(
        _pass=pl.col("strict").fill_null(False).sum(),
        _all=(pl.col("reasoning_status") != "missing").sum()
        if "reasoning_status" in rows.columns
        else pl.len(),
    )
    public = public.select(*by, public=pl.when(pl.col("_all") > 0).then(pl.col("_pass") / pl.col("_all")))
    return got.join(public, on=by, how="left", nulls_equal=True, maintain_order="left")


def compare_instructions(
    samples: pl.DataFrame,
    *,
    reference: str = "implicit",
    target: str = "explicit",
    over: str = "instruction",
    by: str | Sequence[str] = ("model",),
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 42,
) -> pl.DataFrame:
    """Compare two ways of instructing on the same tasks, pair by pair.

    Parameters
    ----------
    samples : polars.DataFrame
        As in `Scores.samples`, with the column `over`.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `measure` (reasoning, consistency, readability, relaxed_sample, strict),
        `reference`, `target`, `mean_reference`, `mean_target`, `estimate` (target minus reference,
        percentage points), `low`, `high`, `p_value` (exchange of the two sides of whole tasks; exact
        McNemar for `strict`), `n_pairs`, `n_missing` (tasks with a side missing: left out), `status`.
    """
    import polars as pl

    from icgkit.metrics import mcnemar, permutation

    by = [by] if isinstance(by, str) else list(by)
    known = samples[over].unique().to_list() if over in samples.columns else []
    for name in (reference, target):
        if name not in known:
            raise UnknownName.among(f"value of {over} in the samples", name, [str(k) for k in known])
    rows = add_scores(samples).with_columns(
        pl.col("reasoning") * 100, pl.col("consistency") * 50, pl.col("readability") * 50,
        case_id=pl.col("task_id"), relaxed_sample=pl.col("relaxed"),
    )  # fmt: skip
    parts = []
    for name in ("reasoning", "consistency", "readability", "relaxed_sample", "strict"):
        key = [*by, "task_id"]
        scale = 100.0 if name == "strict" else 1.0
        sides = [
            rows.filter(pl.col(over) == side).select(
                *key, (pl.col(name).cast(pl.Float64) * scale).alias(as_name)
            )
            for side, as_name in ((reference, "_a"), (target, "_b"))
        ]
        both = sides[0].join(sides[1], on=key, how="full", coalesce=True, nulls_equal=True)
        whole = pl.col("_a").is_not_null() & pl.col("_b").is_not_null()
        both = both.with_columns(
            mean_reference=pl.when(whole).then("_a"), mean_target=pl.when(whole).then("_b"),
            difference=pl.col("_b") - pl.col("_a"),
        )  # fmt: skip
        wide = means(
            both, ["difference", "mean_reference", "mean_target"], by=by, cluster="task_id",
            level=level, n_resamples=n_resamples, seed=seed,
        )  # fmt: skip
        out = wide.filter(measure="difference").drop("measure", "method").rename({"n_scored": "n_pairs"})
        for mean in ("mean_reference", "mean_target"):
            one = wide.filter(measure=mean).select(*by, pl.col("estimate").alias(mean))
            out = out.join(one, on=by, how="left", nulls_equal=True, maintain_order="left")
        options = {"reference": reference, "targets": [target], "by": by, "over": over, "value": name}
        if name == "strict":
            p = mcnemar(rows, on=["case_id"], **options).select(*by, p_value="p_exact")
        else:
            p = permutation(rows, on=["case_id"], n_resamples=n_resamples, seed=seed, **options)
            p = p.select(*by, "p_value")
        out = out.join(p, on=by, how="left", nulls_equal=True, maintain_order="left")
        parts.append(
            out.with_columns(measure=pl.lit(name), reference=pl.lit(reference), target=pl.lit(target))
        )
    tail = ["measure", "reference", "target", "mean_reference", "mean_target", "estimate", "low", "high",
            "p_value", "n_pairs", "n_missing", "status"]  # fmt: skip
    return pl.concat(parts).select(*by, *tail).sort(by, maintain_order=True)


def judge_error(
    judged: pl.DataFrame, experts: pl.DataFrame, *, on: Sequence[str] = ("task_id",)
) -> pl.DataFrame:
    """Compare a judge with the mean of the experts, dimension by dimension, on the scale 0 to 1.

    Parameters
    ----------
    judged : polars.DataFrame
        The columns `on`, optionally `judge`, and `reasoning` (0..1), `consistency`, `readability` (0..2).
    experts : polars.DataFrame
        The columns `on`, `expert` and the three dimensions on the same scales.

    Returns
    -------
    polars.DataFrame
        One row a judge and dimension: `mae`, `sd` (of the signed errors), `sd_absolute` (of the
        absolute errors), `bias` (judge minus experts), `n` (samples compared), `n_missing` (scored by
        one side only), `n_experts` (fewest to most), `status`. Standard deviations divide by n - 1.

    Notes
    -----
    The published table says "STD" without saying of what; both readings are given.
    """
    import polars as pl

    if "judge" not in judged.columns:
        judged = judged.with_columns(judge=pl.lit("judge"))
    parts = []
    for name in PARTS:
        scale = 1.0 if name == "reasoning" else 2.0
        mean = experts.group_by(list(on)).agg(_e=pl.col(name).mean() / scale, _k=pl.col(name).count())
        both = judged.select(*on, "judge", _j=pl.col(name) / scale).join(
            mean, on=list(on), how="left", nulls_equal=True
        )
        error = pl.col("_j") - pl.col("_e")
        told = pl.col("_k").filter(error.is_not_null())
        one = both.group_by("judge").agg(
            mae=error.abs().mean(), sd=error.std(), sd_absolute=error.abs().std(), bias=error.mean(),
            n=error.count().cast(pl.Int64),
            n_missing=(pl.col("_j").is_null() ^ pl.col("_e").is_null()).sum().cast(pl.Int64),
            n_experts=pl.format("{} to {}", told.min(), told.max()),
        )  # fmt: skip
        parts.append(one.with_columns(dimension=pl.lit(name)))
    got = pl.concat(parts).with_columns(
        status=pl.when(pl.col("n") > 0).then(pl.lit("ok")).otherwise(pl.lit("nothing to compare"))
    )
    return got.select("judge", "dimension", pl.exclude("judge", "dimension")).sort(
        "judge", pl.col("dimension").replace_strict({n: i for i, n in enumerate(PARTS)})
    )


def leaderboard() -> pl.DataFrame:
    """Return the published leaderboard with what does not fit in it.

    Returns
    -------
    polars.DataFrame
        `model`, `where`, `reasoning`, `consistency`, `readability`, `strict_accuracy` (percent),
        `relaxed_set` (computed from the three), `flag` (null, or what is inconsistent). A model
        for which two sources disagree has a row for each; neither is corrected.
    """
    import polars as pl

    rows = []
    for row in load_published("grade").filter(id="leaderboard").iter_rows(named=True):
        note = row.pop("note")
        rows.append(row | {"flag": None})
        if not note:
            continue
        numbers = [float(x) for x in re.findall(r"(?<![\w.])\d+\.\d+", note.replace("FLUX.2", ""))]
        names = ("reasoning", "consistency", "readability", "strict_accuracy")
        if len(numbers) < 4:
            rows[-1]["flag"] = note
            continue
        other = row | dict(zip(names, numbers[:4], strict=True)) | {"where": "002 Table 1"}
        values = "; ".join(f"{n.split('_')[0]} {row[n]} or {other[n]}" for n in names)
        flag = f"two published values, both kept: {values}"
        if len(numbers) > 4:
            flag += f"; the text beside Table 1 says consistency {numbers[4]}"
        rows[-1]["flag"] = flag
        rows.append(other | {"flag": flag})
    kept = ("model", "where", "reasoning", "consistency", "readability", "strict_accuracy", "flag")
    frame = pl.DataFrame([{k: r[k] for k in kept} for r in rows], infer_schema_length=None)
    total = pl.sum_horizontal([pl.col(n) * w for n, w in WEIGHTS.items()])
    return frame.with_columns(relaxed_set=total).select(*kept[:-1], "relaxed_set", "flag")
