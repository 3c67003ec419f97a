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
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from icgkit.bench.unike.files import fold, place_of, read_verdict
from icgkit.errors import SchemaError, UnknownName
from icgkit.files import read_file
from icgkit.metrics.intervals import Bootstrap
from icgkit.metrics.mean import mean
from icgkit.prompts.replies import strip_thinking
from icgkit.untrusted import json_value

if TYPE_CHECKING:
    import polars as pl

PROTOCOLS = {"direct": "Direct", "reasoning_augmented": "Reasoning-Augmented"}
STEPS = ("efficacy", "reasoning", "vqa")
KEY = ("model", "editor", "protocol")
PUBLIC = tuple(f"{step}_public" for step in STEPS)
"""Columns of the marks that the public tools give."""
Rule = Literal["published", "stages", "any_stage"]
RULES = {
    "published": "stage 1 of every edit, each edit once",
    "stages": "mean over edits of the share of their stages",
    "any_stage": "edits that are right at one of their stages or more",
}
SMALL = frozenset(
    [
        "bite-sized",
        "bitesize",
        "compact",
        "diminutive",
        "itty-bitty",
        "little",
        "microscopic",
        "miniature",
        "minuscule",
        "pea-sized",
        "petite",
        "pint-sized",
        "small",
        "tiny",
        "tiny-sized",
        "wee",
    ]
)
LARGE = frozenset(
    [
        "behemoth",
        "building-sized",
        "colossal",
        "enormous",
        "gargantuan",
        "giant",
        "gigantic",
        "house-sized",
        "huge",
        "immense",
        "jumbo",
        "mammoth",
        "massive",
        "monumental",
        "oversized",
        "skyscraper-sized",
        "titanic",
        "towering",
        "vast",
    ]
)
"""Adjectives of size that the public tools take for one another (repository gxx27/UniKE)."""
_NEED = ("edit_id", "instance_id", "category", "source", "stage", *KEY, *STEPS)


def says(text: str | None, target: str, original: str) -> bool | None:
    """Say whether a text gives the target value: the first of the two values that it names.

    Returns None for no text, False where neither is named or the original comes first.

    Examples
    --------
    >>> says("blue, not red", "blue", "red"), says("red", "blue", "red"), says(None, "blue", "red")
    (True, False, None)
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
    """Say whether a text holds the target anywhere: the public rule for rationales.

    Parameters
    ----------
    text : str or None
        The rationale. None gives None: not answered.
    target : str
        Of a size edit, any word of its group (`SMALL`, `LARGE`) will do.
    category : str
        Category of the edit.

    Notes
    -----
    A part of a word counts, and so does a denial. `says` is stricter: a word of its own, named first.

    Examples
    --------
    >>> contains_target("normally blue, but after the edit it is pink", "pink")
    True
    >>> contains_target("An enormous mouse", "colossal", "size"), contains_target("It is inked", "ink")
    (True, True)
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

    Examples
    --------
    >>> begins_with(" purple, of course", "purple"), begins_with("a purple one", "purple")
    (True, False)
    """
    if text is None or not text.strip():
        return None
    wanted, said = fold(target).split(), fold(text).split()
    return bool(wanted and said) and wanted[0] == said[0]


def public_verdict(text: str | None) -> bool | None:
    """Read a judge's reply as the public tools do: any value that is not empty or zero counts as true.

    So the word "false" in quotes is true, and prose that holds "true" and "matches" is, too.
    `icgkit.bench.unike.files.read_verdict` is the strict reading.

    Examples
    --------
    >>> public_verdict('{"matches_target": "false"}'), public_verdict("It matches: true"), public_verdict("No")
    (True, True, False)
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
    """Read recorded outputs (JSON lines) and mark them.

    Parameters
    ----------
    path : path
        Lines with `instance_id`, `model`, `editor`, `protocol` and any of `completion` (of the
        prompt), `rationale` (under the reasoning-augmented protocol), `verdict` (the judge's reply, as
        text). Each text may be null.
    instances : polars.DataFrame
        Of `load_edits`.

    Returns
    -------
    polars.DataFrame
        The outcomes, one row a line, with `verdict_status`. Completion and rationale count as right
        where `says` finds the target first, a verdict where `read_verdict` reads it as true; the
        columns `*_public` hold `begins_with`, `contains_target` and `public_verdict`.

    Raises
    ------
    SchemaError
        For a line that is no JSON object, an unknown instance or protocol, or a line that occurs twice.
    """
    import polars as pl

    known = {r["instance_id"]: r for r in instances.iter_rows(named=True)}
    rows, seen = [], set()
    for number, line in enumerate(read_file(path).removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip():
            continue
        place = f"{Path(path).name}, line {number}"
        record = json_value(line, place)
        instance = record.get("instance_id") if isinstance(record, dict) else None
        if not isinstance(instance, str) or instance not in known:
            raise SchemaError(f"{place}: instance_id", got=instance, allowed="an instance of the data file")
        spec = known[instance]
        for name in (*KEY, "completion", "rationale", "verdict"):
            if not isinstance(record.get(name), str | None):
                raise SchemaError(f"{place}: {name}", got=record[name], allowed="text or null")
        if record.get("protocol") not in PROTOCOLS:
            raise SchemaError(
                f"{Path(path).name}, line {number}: protocol", got=record.get("protocol"), allowed=PROTOCOLS
            )
        key = (record["instance_id"], *(record.get(k) for k in KEY))
        if key in seen:
            raise SchemaError(f"{Path(path).name}, line {number}: twice", got=key)
        seen.add(key)
        verdict = read_verdict(record.get("verdict"))
        values = (spec["gt_target"], spec["gt"])
        rows.append(
            {c: spec[c] for c in ("edit_id", "instance_id", "subject", "category", "source", "stage")}
            | {k: record.get(k) for k in KEY}
            | {
                "efficacy": says(record.get("completion"), *values),
                "reasoning": says(record.get("rationale"), *values),
            }
            | {
                "efficacy_public": begins_with(record.get("completion"), spec["gt_target"]),
                "reasoning_public": contains_target(
                    record.get("rationale"), spec["gt_target"], spec["category"]
                ),
                "vqa_public": public_verdict(record.get("verdict")),
            }
            | {"vqa": verdict.matches, "confidence": verdict.confidence, "verdict_status": verdict.status}
        )
    return pl.DataFrame(rows, schema=columns())


def columns() -> dict[str, Any]:
    """Return the columns of outcomes and their types."""
    import polars as pl

    words = dict.fromkeys(("edit_id", "instance_id", "subject", "category", "source"), pl.String)
    kinds: dict[str, Any] = {**words, "stage": pl.Int64, **dict.fromkeys(KEY, pl.String)}
    kinds |= dict.fromkeys((*STEPS, *PUBLIC), pl.Boolean)
    return kinds | dict.fromkeys(("confidence", "verdict_status"), pl.String)


def _checked(outcomes: pl.DataFrame, by: str | Sequence[str]) -> list[str]:
    if absent := [c for c in _NEED if c not in outcomes.columns]:
        raise SchemaError(
            f"outcomes: missing column {', '.join(absent)}", got=outcomes.columns, allowed=_NEED
        )
    return [by] if isinstance(by, str) else list(by)


def by_rule(outcomes: pl.DataFrame, rule: Rule, *, by: Sequence[str] = ()) -> pl.DataFrame:
    """Keep or make the rows that a rule counts.

    Parameters
    ----------
    rule : {"published", "stages", "any_stage"}
        `published`: stage 1 only (all stages where `by` names the stage). `stages`: all rows.
        `any_stage`: one row an edit, true if one stage is, false if all are false, else missing.

    Raises
    ------
    UnknownName
        If there is no such rule.
    """
    import polars as pl

    if rule not in RULES:
        raise UnknownName.among("rule", rule, RULES)
    if rule == "stages" or (rule == "published" and "stage" in by):
        return outcomes
    if rule == "published":
        return outcomes.filter(stage=1)
    marks = [c for c in (*STEPS, *PUBLIC) if c in outcomes.columns]
    some = [
        pl.when(pl.col(c).any()).then(True).when(pl.col(c).null_count() == 0).then(False).alias(c) for c in marks
    ]  # fmt: skip
    key = list(dict.fromkeys([*KEY, "edit_id", "source", "category"]))
    grouped = outcomes.group_by(key, maintain_order=True).agg(*some, pl.col("instance_id").first())
    return grouped.with_columns(stage=pl.lit(None, pl.Int64))


def scores(
    outcomes: pl.DataFrame,
    *,
    by: str | Sequence[str] = KEY,
    rule: Rule = "published",
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 42,
) -> pl.DataFrame:
    """Compute efficacy, reasoning and VQA accuracy in percent, with bootstrap intervals over edits.

    Parameters
    ----------
    by : str or sequence of str
        Columns that make the rows, of model, editor, protocol, source (the family), category, stage.
    rule : {"published", "stages", "any_stage"}
        What is counted, see `by_rule` and `RULES`. The published tables count stage 1; the public
        report's `stage_n` is `any_stage`.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `measure`, `estimate`, `low`, `high` (percent), `public` (percent, as the public
        report counts: its own marks, a missing efficacy or reasoning is wrong, a missing VQA is left
        out; null without such marks or under `stages`), `n_scored`, `n_total`, `n_missing` (rows that
        the rule counts), `n_edits` (those scored), `rule`, `method`, `status`.

    Notes
    -----
    With each edit once, the mean over edits is the share of edits, and the overall of the two families is
    weighted by their counts, as in the published table.
    """
    import polars as pl

    from icgkit.metrics import recall

    by = _checked(outcomes, by)
    kept = by_rule(outcomes, rule, by=by)
    if kept.is_empty():
        raise SchemaError("outcomes hold no row that the rule counts", got=rule, remedy='rule="stages"')
    parts = []
    for step in STEPS:
        rows = kept.with_columns(case_id=pl.col("edit_id"))
        got = recall(
            rows.drop("model") if "model" not in by else rows, by=by, average="macro", value=step,
            ci=Bootstrap(n_resamples, seed, level=level),
        )  # fmt: skip
        told = pl.lit(None, pl.Float64)
        if (name := f"{step}_public") in kept.columns and rule != "stages":
            mark = pl.col(name).cast(pl.Float64)
            told = (mark if step == "vqa" and rule == "published" else mark.fill_null(0.0)).mean()
            told = pl.when(pl.col(name).count() > 0).then(told)
        public = kept.group_by(by).agg(public=told)
        parts.append(
            got.join(public, on=by, how="left", nulls_equal=True, maintain_order="left").with_columns(
                measure=pl.lit(step)
            )
        )
    tail = ["public", "n_scored", "n_total", "n_missing", "n_edits", "rule", "method", "status"]
    percent = [pl.col(c) * 100 for c in ("estimate", "low", "high", "public")]
    order = pl.col("measure").replace_strict({m: i for i, m in enumerate(STEPS)})
    out = pl.concat(parts).rename({"n_cases": "n_edits"}).with_columns(*percent, rule=pl.lit(rule))
    return out.select(*by, "measure", "estimate", "low", "high", *tail).sort([*by, order], nulls_last=True)


def family_scores(outcomes: pl.DataFrame, *, by: Sequence[str] = KEY, **options: Any) -> pl.DataFrame:
    """Compute `scores` by family and overall: the rows of the published table (column `family`)."""
    import polars as pl

    split = scores(outcomes, by=[*by, "source"], **options).rename({"source": "family"})
    whole = scores(outcomes, by=by, **options).with_columns(family=pl.lit("overall"))
    return pl.concat([split, whole.select(split.columns)]).sort(list(by), maintain_order=True)


def cascade(
    outcomes: pl.DataFrame,
    *,
    by: str | Sequence[str] = KEY,
    rule: Rule = "published",
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 42,
) -> pl.DataFrame:
    """Compute how much of each step of the cascade is left at a later one.

    Parameters
    ----------
    rule : {"published", "stages", "any_stage"}
        See `scores`.

    Returns
    -------
    polars.DataFrame
        One row a combination of `by` and step (`efficacy_to_reasoning`, `reasoning_to_vqa`,
        `efficacy_to_vqa`): `ratio` of the two accuracies with `low` and `high` (bootstrap over edits;
        mean over edits), `conditional` (share of the instances with the earlier step that have the
        later one), `rate_from`, `rate_to`, `n_scored` (instances that have both), `n_from` (instances
        with the earlier step), `n_total`, `n_missing`, `method`, `status`.

    Notes
    -----
    The ratio is what the published table allows to compute; it may exceed 1, since an image can be
    right without the text being so. The conditional share cannot.
    """
    import polars as pl

    from icgkit.metrics import _resample

    by = _checked(outcomes, by)
    outcomes = by_rule(outcomes, rule, by=by)
    rows = []
    for first, second in (("efficacy", "reasoning"), ("reasoning", "vqa"), ("efficacy", "vqa")):
        both = outcomes.with_columns(_whole=pl.col(first).is_not_null() & pl.col(second).is_not_null())
        edits = both["edit_id"].unique().sort()
        place = dict(zip(edits.to_list(), range(len(edits)), strict=True))
        cells = list(both.group_by(by, maintain_order=True))
        stack = np.zeros((2 * len(cells), len(edits)))
        for k, (_, part) in enumerate(cells):
            mean = part.filter("_whole").group_by("edit_id").agg(pl.col(first).mean(), pl.col(second).mean())
            at = [place[e] for e in mean["edit_id"].to_list()]
            stack[2 * k, at], stack[2 * k + 1, at] = mean[first].to_numpy(), mean[second].to_numpy()
        drawn = _resample.draw_sums(stack, n_resamples, seed)
        ratios = _resample.ratio(stack.sum(axis=1)[1::2], stack.sum(axis=1)[::2])
        draws = _resample.ratio(drawn[1::2], drawn[::2])
        low, high, undefined = _resample.percentile(draws, level)
        for k, (key, part) in enumerate(cells):
            whole = part.filter("_whole")
            n = whole["edit_id"].n_unique()
            known = bool(np.isfinite(ratios[k]))
            status = (
                "ok" if known else "nothing scored" if not whole.height else "nothing at the earlier step"
            )
            if known and (n < 2 or undefined[k] > n_resamples // 20 or low[k] == high[k]):
                status = "too little variation: no interval"
            passed = whole.filter(first)
            rows.append(
                dict(zip(by, key, strict=True))
                | {"step": f"{first}_to_{second}", "ratio": float(ratios[k]) if known else None}
                | {
                    "low": float(low[k]) if status == "ok" else None,
                    "high": float(high[k]) if status == "ok" else None,
                }
                | {"conditional": passed[second].mean() if passed.height else None}
                | {
                    "rate_from": stack[2 * k].sum() / n if n else None,
                    "rate_to": stack[2 * k + 1].sum() / n if n else None,
                }
                | {"n_scored": whole.height, "n_from": passed.height, "n_total": part.height}
                | {"n_missing": part.height - whole.height, "status": status}
            )
    numbers = ("ratio", "low", "high", "conditional", "rate_from", "rate_to")
    schema: dict[str, Any] = {c: outcomes.schema[c] for c in by} | {"step": pl.String}
    schema |= dict.fromkeys(numbers, pl.Float64) | dict.fromkeys(
        ("n_scored", "n_from", "n_total", "n_missing"), pl.Int64
    )
    how = (
        f"ratio of means over edits; percentile bootstrap over edits, {n_resamples:,} resamples, seed {seed}"
    )
    out = pl.DataFrame(rows, schema=schema | {"status": pl.String}).with_columns(method=pl.lit(how))
    return out.select(pl.exclude("status"), "status").sort(by, maintain_order=True, nulls_last=True)


def stage_drops(
    outcomes: pl.DataFrame,
    *,
    by: str | Sequence[str] = KEY,
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 42,
) -> pl.DataFrame:
    """Compute for attribute edits how far each stage falls below stage 1, on the edits that have both.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `measure`, `stage` (2 to 4), `estimate_1`, `estimate` (percent, stage 1 and
        this stage), `difference`, `low`, `high` (percentage points, paired bootstrap over edits),
        `relative_drop` (1 - estimate / estimate_1, null at 0), `n_pairs`, `n_missing`, `status`.
    """
    import polars as pl

    by = _checked(outcomes, by)
    part, ci = outcomes.filter(source="attribute"), Bootstrap(n_resamples, seed, "edit_id", level)
    parts = []
    for step in STEPS:
        key = list(dict.fromkeys([*by, *KEY, "edit_id"]))
        first = part.filter(stage=1).select(*key, _a=pl.col(step).cast(pl.Float64) * 100)
        later = part.filter(pl.col("stage") > 1).select(*key, "stage", _b=pl.col(step).cast(pl.Float64) * 100)
        both = later.join(first, on=key, how="left", nulls_equal=True)
        whole = pl.col("_a").is_not_null() & pl.col("_b").is_not_null()
        both = both.with_columns(
            one=pl.when(whole).then("_a"),
            other=pl.when(whole).then("_b"),
            difference=pl.col("_b") - pl.col("_a"),
        )
        if not both.height:
            continue
        got = mean(both, ["difference", "one", "other"], by=[*by, "stage"], ci=ci)
        wide = got.filter(measure="difference").select(
            *by,
            "stage",
            "low",
            "high",
            "status",
            difference="estimate",
            n_pairs="n_scored",
            n_missing="n_missing",
        )
        for name, column in (("one", "estimate_1"), ("other", "estimate")):
            side = got.filter(measure=name).select(*by, "stage", pl.col("estimate").alias(column))
            wide = wide.join(side, on=[*by, "stage"], how="left", nulls_equal=True, maintain_order="left")
        parts.append(wide.with_columns(measure=pl.lit(step)))
    if not parts:
        raise SchemaError("outcomes hold no attribute edit beyond stage 1")
    out = pl.concat(parts).with_columns(
        relative_drop=pl.when(pl.col("estimate_1") > 0).then(1 - pl.col("estimate") / pl.col("estimate_1"))
    )
    tail = ["measure", "stage", "estimate_1", "estimate", "difference", "low", "high", "relative_drop", "n_pairs",
            "n_missing", "status"]  # fmt: skip
    return out.select(*by, *tail).sort([*by, "stage"], maintain_order=True, nulls_last=True)
