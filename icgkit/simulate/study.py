"""The simulated cache: a whole study drawn from the fitted effect model, written as one folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from icgkit.cases import subset as sampling
from icgkit.cases.dataset import load_dataset
from icgkit.schemas import SCHEMAS
from icgkit.simulate.effects import SOURCES, SUFFIX, design, judgments, load_effects
from icgkit.taxonomy import SUBTYPES

CORE = ("direct", "cot", "icg_self", "oracle")


def study(
    effects: Mapping[str, Any] | None = None, *, cases: int | pl.DataFrame = 461, seed: int = 42
) -> dict[str, pl.DataFrame]:
    """Draw every kind of judgment of the study.

    Parameters
    ----------
    effects : mapping, optional
        Effect model with the entry `further`; the fitted one by default.
    cases : int or frame
        As in `icgkit.simulate.effects.judgments`.
    seed : int
        Seed of everything.

    Returns
    -------
    dict of str to polars.DataFrame
        judgments (three judges, the models of the study and, on 50 cases, the open-weight one),
        precision, adversarial, plan, leakage, human, audit, labels, failures (schemas of these names)
        and gold (judgments of the primary judge with a human verdict, `gold`, beside `found`). All
        carry the column `simulated`.

    Examples
    --------
    >>> frames = study(cases=120, seed=1)
    >>> all(frame["simulated"].all() for frame in frames.values())
    True
    """
    effects = load_effects() if effects is None else effects
    layout = design(cases, seed=seed) if isinstance(cases, int) else cases
    primary = effects["primary_judge"]
    drawn = judgments(effects, cases=layout, judges=[primary, *effects["judges"]], seed=seed, truth=True)
    drawn = _judged_in_part(drawn, layout, seed)
    small = subset(layout, 50, seed)
    aside = judgments(
        effects, cases=layout.filter(pl.col("case_id").is_in(small)), models=effects["aside"],
        conditions=["direct", "oracle"], seed=seed, truth=True,
    )  # fmt: skip
    every = pl.concat([drawn, aside])
    first = drawn.filter(judge=primary)
    more = effects["further"]
    frames = {
        "judgments": every.drop("truth"),
        "precision": _precision(more, layout, primary, seed),
        "adversarial": _adversarial(more, layout, seed),
        "plan": _plan(more, layout, primary, seed),
        "leakage": _leakage(more, layout, seed),
        "human": _human(more, layout, seed),
        "audit": _audit(more, layout, seed),
        "labels": _labels(more, layout, seed),
        "failures": _failures(more, first, seed),
        "gold": _gold(first, seed),
    }
    out = {}
    for name, frame in frames.items():
        frame = frame if "simulated" in frame.columns else frame.with_columns(simulated=pl.lit(True))
        out[name] = SCHEMAS[name].check(frame)
    return out


def write(
    folder: str | Path, frames: Mapping[str, pl.DataFrame], *, dataset: str, judge: str, seed: int
) -> None:
    """Write frames as Parquet with a run.toml that says that they are simulated."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in frames.items():
        frame.write_parquet(folder / f"{name}.parquet", compression="zstd", compression_level=15)
    lines = [
        "# Drawn from an effect model that was fitted to published figures (effects.json); no model answered.",
        "simulated = true",
        f'dataset = "{dataset}"',
        f'primary_judge = "{judge}"',
        f"seed = {seed}",
        'effects = "effects.json"',
    ]
    (folder / "run.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def layout_of(dataset: str, *, seed: int = 42) -> pl.DataFrame:
    """Lay a study out on the nodes of a dataset, with sources drawn in the proportions of `design`."""
    data = load_dataset(dataset)
    cases = data.frame().select("case_id", n_inter=(pl.col("n_inter") > 0).cast(pl.Int64))
    drawn = np.random.default_rng([seed, 8]).choice(SOURCES, size=cases.height, p=[0.4, 0.35, 0.25])
    cases = cases.with_columns(source=pl.Series(drawn.tolist()))
    nodes = data.nodes().select("dataset", "case_id", "node_id", "category", "subtype", "indirectness")
    return nodes.join(cases, on="case_id", maintain_order="left")


def make(folder: str | Path, *, dataset: str | None = None, cases: int = 461, seed: int = 42) -> str:
    """Draw a study with the fitted effect model and write it as a cache folder; return what was written."""
    effects = load_effects()
    frames = study(effects, cases=cases if dataset is None else layout_of(dataset, seed=seed), seed=seed)
    write(folder, frames, dataset=dataset or "icg-scenes", judge=effects["primary_judge"], seed=seed)
    return f"{Path(folder)}: " + ", ".join(f"{name} {frame.height:,d}" for name, frame in frames.items())


def subset(layout: pl.DataFrame, cases: int, seed: int) -> list[str]:
    """Draw cases as a study with `subset = { n = ..., seed = ... }` does."""
    return sampling.stratified(groups := sampling.strata(layout), min(cases, len(groups)), seed=seed)


def _judged_in_part(frame: pl.DataFrame, layout: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Keep the GPT-4o judge to 84 cases under guided conditions, and `ocr_assisted` to 50, as in the study."""
    guided = ~pl.col("condition").is_in(CORE) & (pl.col("judge") == "gpt-4o" + SUFFIX)
    for part, cases in ((guided, 84), (pl.col("condition") == "ocr_assisted", 50)):
        frame = frame.filter(~part | pl.col("case_id").is_in(subset(layout, cases, seed)))
    return frame


def _rng(seed: int, name: str) -> np.random.Generator:
    return np.random.default_rng([seed, 6, *name.encode()])


def _repeat(base: pl.DataFrame, model: str, condition: str) -> pl.DataFrame:
    return base.with_columns(
        model=pl.lit(model),
        condition=pl.lit(condition),
        sample=pl.lit(0, dtype=pl.Int64),
        status=pl.lit("ok"),
    )


def _precision(more: Mapping[str, Any], layout: pl.DataFrame, primary: str, seed: int) -> pl.DataFrame:
    rng = _rng(seed, "precision")
    cases = layout.select("dataset", "case_id").unique(maintain_order=True)
    parts = []
    for model, rates in more["precision"].items():
        for condition, rate in rates.items():
            n = rng.poisson(more["proposals"][condition], size=cases.height)
            index = np.repeat(np.arange(cases.height), n)
            item = np.arange(len(index)) - np.repeat(np.cumsum(n) - n, n)
            # Some cases invite more wrong proposals than others.
            tilt = np.clip(rng.beta(rate * 12, (1 - rate) * 12, size=cases.height), 0, 1)
            valid = pl.Series(rng.random(len(index)) < tilt[index])
            gone = pl.Series(rng.random(len(index)) < 0.002)
            rows = _repeat(cases[index.tolist()], model, condition).with_columns(
                item=pl.Series(item, dtype=pl.Int64), judge=pl.lit(primary), valid=valid.set(gone, None)
            )
            parts.append(
                rows.with_columns(status=pl.when(gone).then(pl.lit("unreadable")).otherwise("status"))
            )
    return pl.concat(parts)


def _adversarial(more: Mapping[str, Any], layout: pl.DataFrame, seed: int) -> pl.DataFrame:
    rng = _rng(seed, "adversarial")
    true = layout.select("dataset", "case_id", "node_id", planted=pl.lit(False))
    planted = true.unique(["dataset", "case_id"], maintain_order=True).with_columns(
        node_id=pl.lit("planted"), planted=pl.lit(True)
    )
    parts = []
    for model, rate in more["reject_planted"].items():
        for base, chance in ((true, more["reject_true"]), (planted, rate)):
            rejected = pl.Series(rng.random(base.height) < chance)
            parts.append(_repeat(base, model, "adversarial").with_columns(valid=~rejected))
    return pl.concat(parts)


def _plan(more: Mapping[str, Any], layout: pl.DataFrame, primary: str, seed: int) -> pl.DataFrame:
    rng = _rng(seed, "plan")
    rank = pl.int_range(pl.len()).over("case_id")
    # 60 cases, 40 of them with two constraints: 100 constraints, as in the study.
    pairs, single = (layout.filter((pl.col("n_inter") > 0) == flag) for flag in (True, False))
    few = [*subset(pairs, 40, seed), *subset(single, 20, seed)]
    chosen = layout.filter(pl.col("case_id").is_in(few), rank < 2)
    base = chosen.select("dataset", "case_id", "node_id")
    ease = rng.standard_normal(base.height)
    parts = []
    for condition, rate in more["plan"].items():
        # One shared difficulty a constraint, so that the conditions are paired.
        mixed = 0.7 * ease + np.sqrt(1 - 0.49) * rng.standard_normal(base.height)
        satisfied = pl.Series(mixed.argsort().argsort() >= round((1 - rate) * base.height))
        rows = _repeat(base, more["plan_model"], condition)
        parts.append(rows.with_columns(judge=pl.lit(primary), satisfied=satisfied))
    return pl.concat(parts)


def _leakage(more: Mapping[str, Any], layout: pl.DataFrame, seed: int) -> pl.DataFrame:
    rng, leak = _rng(seed, "leakage"), more["leakage"]
    ids, n = list(SUBTYPES), layout.height
    parts = []
    for form in ("anon", "orig"):
        exact = rng.random(n) < leak["subtype"][form]
        other = [ids[i] for i in rng.integers(0, len(ids), size=n)]
        guess = [s if ok else (o if o != s else ids[0] if s != ids[0] else ids[1])
                 for s, ok, o in zip(layout["subtype"], exact, other, strict=True)]  # fmt: skip
        by_category = leak["region_category"] if form == "anon" else {}
        rest = _rest(layout, by_category, leak["region"][form])
        match = rng.random(n) < np.array([by_category.get(c, rest) for c in layout["category"]])
        dropped = rng.random(n) < leak["unusable"][form] / (1 - leak["region"][form])
        partial = rng.random(n) < 0.4
        region = np.where(match, "match", np.where(dropped, "", np.where(partial, "partial", "none")))
        parts.append(
            layout.select("dataset", "case_id", "node_id", "category", "subtype").with_columns(
                model=pl.lit(leak["model"]),
                form=pl.lit(form),
                subtype_guess=pl.Series(guess),
                subtype_exact=pl.Series(exact),
                region_match=pl.Series([r or None for r in region.tolist()], dtype=pl.String),
            )
        )
    return pl.concat(parts)


def _rest(layout: pl.DataFrame, by_category: Mapping[str, float], overall: float) -> float:
    """Rate of the categories that are not given, so that the overall rate comes out."""
    counts = dict(layout["category"].value_counts().iter_rows())
    free = sum(n for c, n in counts.items() if c not in by_category)
    given = sum(by_category.get(c, 0.0) * n for c, n in counts.items())
    return float(np.clip((overall * layout.height - given) / max(free, 1), 0, 1))


def _human(more: Mapping[str, Any], layout: pl.DataFrame, seed: int) -> pl.DataFrame:
    rng = _rng(seed, "human")
    base = layout.filter(pl.col("case_id").is_in(subset(layout, 100, seed))).select(
        "dataset", "case_id", "node_id"
    )
    ease = rng.standard_normal(base.height)
    parts = []
    for i, rate in enumerate(more["human"]):
        mixed = 0.6 * ease + 0.8 * rng.standard_normal(base.height)
        found = mixed.argsort().argsort() >= round((1 - rate) * base.height)
        parts.append(
            base.with_columns(
                annotator=pl.lit(f"annotator {i + 1}{SUFFIX}"),
                condition=pl.lit("direct"),
                found=pl.Series(found),
            )
        )
    return pl.concat(parts)


def _sample(layout: pl.DataFrame, nodes: int, rng: np.random.Generator) -> pl.DataFrame:
    drawn: pl.DataFrame = layout[np.sort(rng.permutation(layout.height)[:nodes]).tolist()]
    return drawn


def _audit(more: Mapping[str, Any], layout: pl.DataFrame, seed: int) -> pl.DataFrame:
    rng = _rng(seed, "audit")
    base = _sample(layout, min(156, layout.height), rng).select("dataset", "case_id", "node_id")
    answers = {name: pl.Series(rng.random(base.height) < rate) for name, rate in more["audit"].items()}
    return base.with_columns(annotator=pl.lit("auditor" + SUFFIX), **answers)


def _labels(more: Mapping[str, Any], layout: pl.DataFrame, seed: int) -> pl.DataFrame:
    rng = _rng(seed, "labels")
    base = _sample(layout, min(60, layout.height), rng)
    parts = []
    for i in range(3):
        right = rng.random(base.height) < more["label_accuracy"]
        chosen = []
        for subtype, ok in zip(base["subtype"], right, strict=True):
            near = [
                s for s in SUBTYPES if SUBTYPES[s].category == SUBTYPES[subtype].category and s != subtype
            ]
            chosen.append(subtype if ok else near[int(rng.integers(len(near)))])
        rows = base.select("dataset", "case_id", "node_id")
        parts.append(
            rows.with_columns(annotator=pl.lit(f"annotator {i + 1}{SUFFIX}"), subtype=pl.Series(chosen))
        )
    return pl.concat(parts)


def _failures(more: Mapping[str, Any], first: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Give some of the oracle's misses a source, in the study's proportions."""
    rng = _rng(seed, "failures")
    sources: Sequence[str] = [s for s, n in more["failures"].items() for _ in range(n)]
    missed = first.filter(pl.col("condition") == "oracle", ~pl.col("found"))
    some = _sample(missed, min(len(sources), missed.height), rng)
    chosen = rng.permutation(np.array(sources))[: some.height].tolist()
    key = ["dataset", "case_id", "condition", "model", "sample", "node_id"]
    return some.select(key).with_columns(source=pl.Series(chosen, dtype=pl.String))


def _gold(first: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Give 400 decisions of direct and oracle the verdict of an unerring person."""
    rng = _rng(seed, "gold")
    base = first.filter(pl.col("condition").is_in(["direct", "oracle"]), pl.col("found").is_not_null())
    return _sample(base, min(400, base.height), rng).rename({"truth": "gold"})
