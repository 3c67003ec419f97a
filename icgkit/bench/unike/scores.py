"""UniKE's scores: efficacy, reasoning and VQA accuracy, the cascade between them, drops over stages.

Every function takes `outcomes`: one row an instance, model, editor and protocol, with the Booleans
`efficacy`, `reasoning`, `vqa` (null is missing: no answer, an unreadable verdict, or not measured under
that protocol) and edit_id, instance_id, category, source, stage. `efficacy_public`, `reasoning_public`
and `vqa_public` are the marks of the public tools, where they are known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from icgkit.bench.common import json_lines, need_columns, paired_means, texts
from icgkit.bench.unike.files import fold, place_of, read_verdict
from icgkit.errors import SchemaError, UnknownName
from icgkit.metrics import _resample, recall
from icgkit.metrics.intervals import Bootstrap
from icgkit.prompts.replies import strip_thinking

PROTOCOLS = {"direct": "Direct", "reasoning_augmented": "Reasoning-Augmented"}
STEPS = ("efficacy", "reasoning", "vqa")
KEY = ("model", "editor", "protocol")
INSTANCE = ("edit_id", "instance_id", "subject", "category", "source", "stage")
PUBLIC = tuple(f"{step}_public" for step in STEPS)
"""Columns of the marks that the public tools give."""
COLUMNS: dict[str, Any] = (
    texts(*INSTANCE, *KEY) | {"stage": pl.Int64} | dict.fromkeys((*STEPS, *PUBLIC), pl.Boolean)
)
COLUMNS |= texts("confidence", "verdict_status")
"""Columns of outcomes and their types."""
_CI = Bootstrap(2000)
Rule = Literal["published", "stages", "any_stage"]
RULES = {
    "published": "stage 1 of every edit, each edit once",
    "stages": "mean over edits of the share of their stages",
    "any_stage": "edits that are right at one of their stages or more",
}
SMALL = frozenset({
    "bite-sized", "bitesize", "compact", "diminutive", "itty-bitty", "little", "microscopic", "miniature",
    "minuscule", "pea-sized", "petite", "pint-sized", "small", "tiny", "tiny-sized", "wee",
})  # fmt: skip
LARGE = frozenset({
    "behemoth", "building-sized", "colossal", "enormous", "gargantuan", "giant", "gigantic",
    "house-sized", "huge", "immense", "jumbo", "mammoth", "massive", "monumental", "oversized",
    "skyscraper-sized", "titanic", "towering", "vast",
})  # fmt: skip
"""Adjectives of size that the public tools take for one another (repository gxx27/UniKE)."""


def says(text: str | None, target: str, original: str) -> bool | None:
    """Say whether a text gives the target value: the first of the two values that it names.

    None for no text, False where neither is named or the original comes first.
    """
    if text is None or not text.strip():
        return None
    text = strip_thinking(text)
    wanted, other = place_of(text, target), place_of(text, original)
    if wanted is None or other is None:
        return wanted is not None
    # Where both begin at the same word, the longer one is what is said.
    return (wanted, -len(fold(target))) < (other, -len(fold(original)))


def contains_target(text: str | None, target: str, category: str = "") -> bool | None:
    """Say whether a text holds the target (of sizes: a word of its group): the public rule for rationales.

    A part of a word counts, and so does a denial. `says` is stricter: a word of its own, named first.
    """
    if text is None:
        return None
    wanted, low = target.strip().lower(), text.lower()
    group = [words for words in (SMALL, LARGE) if wanted in words] if category.lower() == "size" else []
    return bool(wanted) and any(word in low for word in (group[0] if group else {wanted}))


def begins_with(text: str | None, target: str) -> bool | None:
    """Say whether a completion begins with the first word of the target.

    The public tools compare the likeliest next token with the first token of the target; of a text alone
    this is the nearest that can be told.
    """
    if text is None or not text.strip():
        return None
    wanted, said = fold(target).split(), fold(text).split()
    return bool(wanted and said) and wanted[0] == said[0]


def public_verdict(text: str | None) -> bool | None:
    """Read a judge's reply as the public tools do: any value that is not empty or zero counts as true.

    So the word "false" in quotes is true, and prose that holds "true" and "matches" is, too;
    `files.read_verdict` is the strict reading.
    """
    if text is None:
        return None
    inner = re.search(r"\{.*\}", text, re.DOTALL)
    try:
        given = json.loads(inner.group(0) if inner else text)
    except (ValueError, RecursionError):
        return "true" in text.lower() and "matches" in text.lower()
    return bool(given.get("matches_target", False)) if isinstance(given, dict) else None


def load_outcomes(path: str | Path, instances: pl.DataFrame) -> pl.DataFrame:
    """Read recorded outputs of the instances of `load_edits` and mark them.

    The JSON lines have `instance_id`, `model`, `editor`, `protocol` and any of `completion` (of the prompt),
    `rationale` (under the reasoning-augmented protocol), `verdict` (the judge's reply, as text); each may be
    null. Completion and rationale count as right where `says` finds the target first, a verdict where
    `read_verdict` reads it as true; the columns `*_public` hold `begins_with`, `contains_target` and
    `public_verdict`.
    """
    known = {r["instance_id"]: r for r in instances.iter_rows(named=True)}
    rows, seen = [], set()
    for _, place, record in json_lines(Path(path)):
        name = record.get("instance_id") if isinstance(record, dict) else None
        if not isinstance(name, str) or name not in known:
            raise SchemaError(f"{place}: instance_id", got=name, allowed="an instance of the data file")
        told = {k: record.get(k) for k in (*KEY, "completion", "rationale", "verdict")}
        for field, value in told.items():
            if not isinstance(value, str | None):
                raise SchemaError(f"{place}: {field}", got=value, allowed="text or null")
        if told["protocol"] not in PROTOCOLS:
            raise SchemaError(f"{place}: protocol", got=told["protocol"], allowed=PROTOCOLS)
        key = (name, *(told[k] for k in KEY))
        if key in seen:
            raise SchemaError(f"{place}: twice", got=key)
        seen.add(key)
        rows.append(
            {c: known[name][c] for c in INSTANCE} | {k: told[k] for k in KEY} | _marked(told, known[name])
        )
    return pl.DataFrame(rows, schema=COLUMNS)


def _marked(told: dict[str, str | None], spec: dict[str, Any]) -> dict[str, Any]:
    target, original, verdict = spec["gt_target"], spec["gt"], read_verdict(told["verdict"])
    return {
        "efficacy": says(told["completion"], target, original),
        "reasoning": says(told["rationale"], target, original), "vqa": verdict.matches,
        "efficacy_public": begins_with(told["completion"], target),
        "reasoning_public": contains_target(told["rationale"], target, spec["category"]),
        "vqa_public": public_verdict(told["verdict"]),
        "confidence": verdict.confidence, "verdict_status": verdict.status,
    }  # fmt: skip


def _columns_of(outcomes: pl.DataFrame, by: str | Sequence[str]) -> list[str]:
    need_columns(
        outcomes, ("edit_id", "instance_id", "category", "source", "stage", *KEY, *STEPS), "outcomes"
    )
    return [by] if isinstance(by, str) else list(by)


def by_rule(outcomes: pl.DataFrame, rule: Rule, *, by: Sequence[str] = ()) -> pl.DataFrame:
    """Keep or make the rows that a rule counts.

    `published`: stage 1 only (all stages where `by` names the stage). `stages`: all rows. `any_stage`: one
    row an edit, true if one stage is, false if all are false, else missing.
    """
    if rule not in RULES:
        raise UnknownName.among("rule", rule, RULES)
    if rule == "stages" or (rule == "published" and "stage" in by):
        return outcomes
    if rule == "published":
        return outcomes.filter(stage=1)
    marks = [pl.col(c) for c in (*STEPS, *PUBLIC) if c in outcomes.columns]
    some = [
        pl.when(m.any()).then(True).when(m.null_count() == 0).then(False).alias(m.meta.output_name())
        for m in marks
    ]
    grouped = outcomes.group_by([*KEY, "edit_id", "source", "category"], maintain_order=True)
    return grouped.agg(*some, pl.col("instance_id").first()).with_columns(stage=pl.lit(None, pl.Int64))


def scores(
    outcomes: pl.DataFrame, *, by: str | Sequence[str] = KEY, rule: Rule = "published", ci: Bootstrap = _CI
) -> pl.DataFrame:
    """Compute efficacy, reasoning and VQA accuracy in percent, with bootstrap intervals over edits.

    The columns `by` are of model, editor, protocol, source (the family), category, stage; what is counted
    says `rule` (`RULES`; the published tables count stage 1, the public report's `stage_n` is `any_stage`).

    Returns
    -------
    polars.DataFrame
        The columns `by`, `measure`, `estimate`, `low`, `high` (percent), `public` (percent, as the public
        report counts: its own marks, a missing efficacy or reasoning is wrong, a missing VQA is left out;
        null without such marks or under `stages`), `n_scored`, `n_total`, `n_missing` (rows that the rule
        counts), `n_edits` (those scored), `rule`, `method`, `status`. With each edit once, the mean over
        edits is the share of edits, and the overall of the two families is weighted by their counts, as in
        the published table.
    """
    by = _columns_of(outcomes, by)
    kept = by_rule(outcomes, rule, by=by)
    if kept.is_empty():
        raise SchemaError("outcomes hold no row that the rule counts", got=rule, remedy='rule="stages"')
    rows = kept.with_columns(case_id=pl.col("edit_id"))
    rows = rows if "model" in by else rows.drop("model")
    parts = []
    for step in STEPS:
        got = recall(rows, by=by, average="macro", value=step, ci=ci)
        told = pl.lit(None, pl.Float64)
        if (name := f"{step}_public") in kept.columns and rule != "stages":
            mark = pl.col(name).cast(pl.Float64)
            counted = mark if step == "vqa" and rule == "published" else mark.fill_null(0.0)
            told = pl.when(pl.col(name).count() > 0).then(counted.mean())
        public = kept.group_by(by).agg(public=told, measure=pl.lit(step))
        parts.append(got.join(public, on=by, how="left", nulls_equal=True, maintain_order="left"))
    tail = ["public", "n_scored", "n_total", "n_missing", "n_edits", "rule", "method", "status"]
    percent = [pl.col(c) * 100 for c in ("estimate", "low", "high", "public")]
    order = pl.col("measure").replace_strict({m: i for i, m in enumerate(STEPS)})
    out = pl.concat(parts).rename({"n_cases": "n_edits"}).with_columns(*percent, rule=pl.lit(rule))
    return out.select(*by, "measure", "estimate", "low", "high", *tail).sort([*by, order], nulls_last=True)


def family_scores(outcomes: pl.DataFrame, *, by: Sequence[str] = KEY, **options: Any) -> pl.DataFrame:
    """Compute `scores` by family and overall: the rows of the published table (column `family`)."""
    split = scores(outcomes, by=[*by, "source"], **options).rename({"source": "family"})
    whole = scores(outcomes, by=by, **options).with_columns(family=pl.lit("overall"))
    return pl.concat([split, whole.select(split.columns)]).sort(list(by), maintain_order=True)


def cascade(
    outcomes: pl.DataFrame, *, by: str | Sequence[str] = KEY, rule: Rule = "published", ci: Bootstrap = _CI
) -> pl.DataFrame:
    """Compute how much of each step of the cascade is left at a later one (`rule` as in `scores`).

    Returns
    -------
    polars.DataFrame
        One row a combination of `by` and step (`efficacy_to_reasoning`, `reasoning_to_vqa`,
        `efficacy_to_vqa`): `ratio` of the two accuracies with `low` and `high` (mean and bootstrap over
        edits; it may exceed 1, since an image can be right without the text being so), `conditional` (share
        of the instances with the earlier step that have the later one), `rate_from`, `rate_to`, `n_scored`
        (instances that have both), `n_from` (with the earlier step), `n_total`, `n_missing`, `method`,
        `status`.
    """
    by = _columns_of(outcomes, by)
    outcomes = by_rule(outcomes, rule, by=by)
    edits = outcomes["edit_id"].unique().sort()
    place = {edit: k for k, edit in enumerate(edits)}
    cells = list(outcomes.group_by(by, maintain_order=True))
    rows = []
    for first, second in (("efficacy", "reasoning"), ("reasoning", "vqa"), ("efficacy", "vqa")):
        parts = [part.drop_nulls([first, second]) for _, part in cells]
        stack = np.zeros((2 * len(cells), len(edits)))
        for k, part in enumerate(parts):
            means = part.group_by("edit_id").agg(pl.col(first).mean(), pl.col(second).mean())
            at = [place[e] for e in means["edit_id"]]
            stack[2 * k, at], stack[2 * k + 1, at] = means[first].to_numpy(), means[second].to_numpy()
        sums, drawn = stack.sum(axis=1), _resample.draw_sums(stack, ci.n, ci.seed)
        ratios = _resample.ratio(sums[1::2], sums[::2])
        low, high, undefined = _resample.percentile(_resample.ratio(drawn[1::2], drawn[::2]), ci.level)
        for k, ((key, cell), part) in enumerate(zip(cells, parts, strict=True)):
            n, passed = part["edit_id"].n_unique(), part.filter(first)
            known, status = bool(np.isfinite(ratios[k])), "ok"
            if not known:
                status = "nothing at the earlier step" if part.height else "nothing scored"
            elif n < 2 or undefined[k] > ci.n // 20 or low[k] == high[k]:
                status = "too little variation: no interval"
            rows.append((
                *key, f"{first}_to_{second}", ratios[k] if known else None,
                *((low[k], high[k]) if status == "ok" else (None, None)),
                passed[second].mean() if passed.height else None,
                *((sums[2 * k] / n, sums[2 * k + 1] / n) if n else (None, None)),
                part.height, passed.height, cell.height, cell.height - part.height, status,
            ))  # fmt: skip
    numbers = ("ratio", "low", "high", "conditional", "rate_from", "rate_to")
    schema: dict[str, Any] = {c: outcomes.schema[c] for c in by} | {"step": pl.String}
    schema |= dict.fromkeys(numbers, pl.Float64)
    schema |= dict.fromkeys(("n_scored", "n_from", "n_total", "n_missing"), pl.Int64) | {"status": pl.String}
    how = f"ratio of means over edits; percentile bootstrap over edits, {ci.n:,} resamples, seed {ci.seed}"
    out = pl.DataFrame(rows, schema=schema, orient="row").with_columns(method=pl.lit(how))
    return out.select(pl.exclude("status"), "status").sort(by, maintain_order=True, nulls_last=True)


def stage_drops(
    outcomes: pl.DataFrame, *, by: str | Sequence[str] = KEY, ci: Bootstrap = _CI
) -> pl.DataFrame:
    """Compute for attribute edits how far each stage falls below stage 1, on the edits that have both.

    The columns `by`, `measure`, `stage` (2 to 4), `estimate_1`, `estimate` (percent, stage 1 and this stage),
    `difference`, `low`, `high` (percentage points, paired bootstrap over edits), `relative_drop` (1 -
    estimate / estimate_1, null at 0), `n_pairs`, `n_missing`, `status`.
    """
    by = _columns_of(outcomes, by)
    part, ci = outcomes.filter(source="attribute"), replace(ci, cluster="edit_id")
    key = list(dict.fromkeys([*by, *KEY, "edit_id"]))
    later, parts = part.filter(pl.col("stage") > 1), []
    if later.is_empty():
        raise SchemaError("outcomes hold no attribute edit beyond stage 1")
    for step in STEPS:
        value = pl.col(step).cast(pl.Float64) * 100
        first = part.filter(stage=1).select(*key, one=value)
        both = later.select(*key, "stage", other=value).join(first, on=key, how="left", nulls_equal=True)
        got = paired_means(both, "one", "other", by=[*by, "stage"], ci=ci)
        parts.append(got.rename({"estimate": "difference"}).with_columns(measure=pl.lit(step)))
    out = pl.concat(parts).rename({"one": "estimate_1", "other": "estimate"})
    drop = 1 - pl.col("estimate") / pl.col("estimate_1")
    out = out.with_columns(relative_drop=pl.when(pl.col("estimate_1") > 0).then(drop))
    tail = ["measure", "stage", "estimate_1", "estimate", "difference", "low", "high", "relative_drop",
            "n_pairs", "n_missing", "status"]  # fmt: skip
    return out.select(*by, *tail).sort([*by, "stage"], maintain_order=True, nulls_last=True)
