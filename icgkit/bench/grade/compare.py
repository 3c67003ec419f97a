"""GRADE's comparisons: implicit with explicit instructions, a judge with experts, the published leaderboard."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from icgkit.bench.grade.files import PARTS
from icgkit.bench.grade.scores import WEIGHTS, add_scores
from icgkit.cases.dataset import load_published
from icgkit.errors import UnknownName
from icgkit.metrics.intervals import Bootstrap
from icgkit.metrics.mean import mean

if TYPE_CHECKING:
    import polars as pl


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

    from icgkit.metrics import Contrast, mcnemar, permutation

    by = [by] if isinstance(by, str) else list(by)
    known = samples[over].unique().to_list() if over in samples.columns else []
    for name in (reference, target):
        if name not in known:
            raise UnknownName.among(f"value of {over} in the samples", name, [str(k) for k in known])
    rows = add_scores(samples).with_columns(
        pl.col("reasoning") * 100, pl.col("consistency") * 50, pl.col("readability") * 50,
        case_id=pl.col("task_id"), relaxed_sample=pl.col("relaxed"),
    )  # fmt: skip
    sides_of = Contrast(over, reference, [target], on="case_id")
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
        ci = Bootstrap(n_resamples, seed, "task_id", level)
        wide = mean(both, ["difference", "mean_reference", "mean_target"], by=by, ci=ci)
        out = wide.filter(measure="difference").drop("measure", "method").rename({"n_scored": "n_pairs"})
        for side in ("mean_reference", "mean_target"):
            one = wide.filter(measure=side).select(*by, pl.col("estimate").alias(side))
            out = out.join(one, on=by, how="left", nulls_equal=True, maintain_order="left")
        if name == "strict":
            p = mcnemar(rows, sides_of, by=by, value=name).select(*by, p_value="p_exact")
        else:
            p = permutation(rows, sides_of, by=by, value=name, ci=Bootstrap(n_resamples, seed))
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
        other = row | dict(zip(names, numbers[:4], strict=True)) | {"where": "GRADE Table 1"}
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
