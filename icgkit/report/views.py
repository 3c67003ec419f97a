"""Shapes of results that notebooks share; the numbers come from `icgkit.metrics`, nothing is computed here."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from icgkit.calls.cache import Cache
from icgkit.calls.recorded import by_label
from icgkit.cases import subset as sampling
from icgkit.cases.case import Case
from icgkit.cases.dataset import Dataset, load_annotations
from icgkit.cases.difficulty import LEVELS
from icgkit.cases.difficulty import node_difficulty as node_difficulty
from icgkit.errors import SchemaError
from icgkit.metrics import Bootstrap, adjust, agreement, equivalence, mean, permutation, precision, recall
from icgkit.prompts.proposals import extract_proposals
from icgkit.report.plots.style import KNOWN
from icgkit.report.tables import Table, intervals, typeset
from icgkit.report.tables import category_labels as category_labels
from icgkit.report.tables import condition_labels as condition_labels
from icgkit.report.tables import subtype_labels as subtype_labels
from icgkit.taxonomy import CATEGORIES, SUBTYPES

if TYPE_CHECKING:
    from icgkit.metrics.crossed import Crossed
    from icgkit.report.results import Results

# -- orders, labels, wide tables -------------------------------------------------------------------

ALL = "All models"
CORE = ("direct", "cot", "icg_self", "nl_self", "signal_guided", "taxonomy_only", "oracle")
"""The seven conditions of the main table."""
UNGUIDED = CORE[:5]
"""Those among which the main table marks the best: neither checklist nor graph."""
CORE_NOTE = (
    "SG: signal-guided, a list of signals to look for; Tax.: the taxonomy as a checklist; ICG-O: the oracle, the graph "
    "itself. Bold: best of the five conditions told neither checklist nor graph, by model."
)
"""What the main table's short heads and bold cells mean."""


def taxonomy_view(nodes: pl.DataFrame) -> pl.DataFrame:
    """Return one row a subtype with its node count.

    Parameters
    ----------
    nodes : polars.DataFrame
        Schema `nodes`.

    Returns
    -------
    polars.DataFrame
        category_id, category, subtype_id, subtype, definition, example, level (with * where it is
        our reading), n_nodes (0 where the dataset has none).
    """
    counts = dict(nodes.group_by("subtype").len().iter_rows())
    return pl.DataFrame(
        [
            {
                "category_id": s.category,
                "category": CATEGORIES[s.category].label,
                "subtype_id": s.id,
                "subtype": s.label,
                "definition": s.definition,
                "example": s.example,
                "level": f"{s.indirectness}{'' if s.indirectness_stated else '*'}",
                "n_nodes": counts.get(s.id, 0),
            }
            for s in SUBTYPES.values()
        ]
    )


def wide(
    scores: pl.DataFrame,
    *,
    rows: str,
    columns: str,
    order: Sequence[str],
    value: str = "estimate",
    labels: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """Pivot scores: one row a value of `rows`, one column a value of `columns` in the order given.

    A cell that is not there is null.

    Raises
    ------
    SchemaError
        If a cell occurs twice.

    Examples
    --------
    >>> import polars as pl
    >>> s = pl.DataFrame({"m": ["a", "a"], "c": ["y", "x"], "estimate": [1.0, 0.5]})
    >>> wide(s, rows="m", columns="c", order=["x", "y", "z"]).row(0)
    ('a', 0.5, 1.0, None)
    """
    kept = scores.filter(pl.col(columns).is_in(list(order)))
    if kept.select(rows, columns).is_duplicated().any():
        raise SchemaError(f"cells of {rows} and {columns} occur twice", remedy="name every column in by=")
    out = kept.pivot(columns, index=rows, values=value, maintain_order=True)
    absent = [pl.lit(None, scores.schema[value]).alias(c) for c in order if c not in out.columns]
    out = out.with_columns(absent).select(rows, *order)
    return out.rename({c: (labels or {}).get(c, c) for c in order}) if labels else out


def with_all(by_model: pl.DataFrame, pooled: pl.DataFrame) -> pl.DataFrame:
    """Append the scores over all models below those of each model; known models in the order of the palette."""
    if "model" in by_model.columns:
        rank = {m: KNOWN.get(m.removesuffix(" (simulated)"), 99) for m in by_model["model"].unique()}
        by_model = by_model.sort(
            pl.col("model").replace_strict(rank, return_dtype=pl.Int64), maintain_order=True
        )
    return pl.concat([by_model, pooled.with_columns(model=pl.lit(ALL))], how="diagonal")


def difficulty_levels() -> dict[str, tuple[str, ...]]:
    """Return the levels of each dimension of `node_difficulty`, in order."""
    return dict(LEVELS)


def written_graphs(data: Dataset) -> pl.DataFrame:
    """Return what each annotator wrote of a dataset's cases.

    Raises
    ------
    SchemaError
        If the dataset has no such file.
    """
    found = load_annotations(data)
    if found is None:
        raise SchemaError(
            f"dataset {data.name} has no annotations.jsonl",
            remedy="give one that two annotators wrote, such as icg-teb",
        )
    return found


def on_all_nodes(run: Results, counted: pl.DataFrame, *, by: Sequence[str]) -> pl.DataFrame:
    """Return macro recall of models on all nodes, those on the edited text too; no row where there is no such node."""
    models, conditions = (counted[c].unique().implode() for c in ("model", "condition"))
    whole = run.every_node.filter(pl.col("model").is_in(models), pl.col("condition").is_in(conditions))
    scores = recall(whole, by=by, ci=None).with_columns(pl.format("{} (all nodes)", "model").alias("model"))
    return scores if whole.height > counted.height else scores.head(0)


def by_category(cells: pl.DataFrame, judgments: pl.DataFrame) -> pl.DataFrame:
    """Put a wide table with a column `category` into the taxonomy's order, with labels and node counts."""
    nodes = (
        judgments.unique(["case_id", "node_id"])
        .group_by("category")
        .agg(pl.len().cast(pl.Int64).alias("n_nodes"))
    )
    total = pl.DataFrame({"category": ["all"], "n_nodes": [nodes["n_nodes"].sum()]}, schema=nodes.schema)
    order = {c: i for i, c in enumerate([*CATEGORIES, "all"])}
    labels = {c.id: c.label for c in CATEGORIES.values()} | {"all": "All"}
    joined = cells.join(pl.concat([nodes, total]), on="category", how="left")
    joined = joined.sort(pl.col("category").replace_strict(order, return_dtype=pl.Int64))
    return joined.select(pl.col("category").replace(labels), "n_nodes", pl.exclude("category", "n_nodes"))


def short_model(name: str) -> str:
    """Return a model's name without its provider, as figures show it.

    Examples
    --------
    >>> short_model("offline/ocr-rules")
    'ocr-rules'
    """
    return name.rsplit("/", 1)[-1]


def join(*frames: pl.DataFrame, on: str | Sequence[str]) -> pl.DataFrame:
    """Join frames from the left on key columns; a frame that lacks a key (it only says a status) is left out.

    Columns that an earlier frame has stay as they are there.
    """
    keys = [on] if isinstance(on, str) else list(on)
    first, *others = frames
    for other in others:
        if set(keys) <= set(other.columns) and set(keys) <= set(first.columns):
            new = [c for c in other.columns if c in keys or c not in first.columns]
            first = first.join(other.select(new), on=keys, how="left", maintain_order="left")
    return first


def in_order(
    frame: pl.DataFrame, order: Sequence[str] | None = None, column: str = "condition"
) -> pl.DataFrame:
    """Sort rows by the position of a column's value in `order`, the study's conditions by default; conditions get labels.

    Values that are not in `order` come last and keep their place; a frame without the column is returned as it is.
    """
    if column not in frame.columns:
        return frame
    rank = {value: i for i, value in enumerate(condition_labels() if order is None else order)}
    rows = frame.sort(
        pl.col(column).replace_strict(rank, default=len(rank), return_dtype=pl.Int64), maintain_order=True
    )
    return rows.with_columns(pl.col(column).replace(condition_labels()))


def minus(differences: pl.DataFrame, target: str) -> pl.DataFrame:
    """Return reference minus target, from differences that give target minus reference."""
    if "target" not in differences.columns:
        return differences.with_columns(model=pl.lit(None, pl.String), estimate=pl.lit(None, pl.Float64))
    return differences.filter(target=target).with_columns(
        -pl.col("estimate"), low=-pl.col("high"), high=-pl.col("low")
    )


def with_counts(
    cells: pl.DataFrame, judgments: pl.DataFrame, pooled: pl.DataFrame | None = None, by: str = "model"
) -> pl.DataFrame:
    """Append what each row of a wide table stands on: `cases`, verdicts that are `scored` and `missing`.

    The row `ALL` counts what was pooled, everything by default; a row of which there are no judgments has nulls.

    Parameters
    ----------
    cells : polars.DataFrame
        One row a value of `by`.
    judgments : polars.DataFrame
        Schema `judgments`: what the cells were computed from.
    """
    scored = pl.col("found").is_not_null().sum()
    counts = [
        pl.struct("dataset", "case_id").n_unique().alias("cases"),
        scored.alias("scored"),
        (pl.len() - scored).alias("missing"),
    ]
    each = judgments.group_by(by).agg(counts)
    everything = (judgments if pooled is None else pooled).select(pl.lit(ALL).alias(by), *counts)
    return cells.join(
        pl.concat([each, everything], how="vertical_relaxed"), on=by, how="left", maintain_order="left"
    )


# -- cases in results: which to show, what was said about them, who found what ---------------------


def pick_cases(judgments: pl.DataFrame) -> pl.DataFrame:
    """Pick the three case studies by rule: ceiling, oracle-activated, model-dependent.

    Ceiling: highest mean Direct recall among cases with at least two nodes (then more temporal
    nodes, then more nodes). Oracle-activated: largest Oracle minus Direct, same size (then more
    shadow nodes). Model-dependent: largest spread of Direct recall over models among cases with at
    least three nodes (then more categorical nodes, then more nodes). Equal cases: the first id.

    Parameters
    ----------
    judgments : polars.DataFrame
        One judge, conditions `direct` and `oracle`, with `subtype`.

    Returns
    -------
    polars.DataFrame
        role, case_id, direct, oracle (macro recall, mean over models), spread, n_nodes.
    """
    per_model = (
        judgments.filter(pl.col("condition").is_in(["direct", "oracle"]))
        .group_by("case_id", "condition", "model")
        .agg(pl.col("found").mean().alias("recall"))
    )
    per_case = per_model.group_by("case_id").agg(
        pl.col("recall").filter(pl.col("condition") == "direct").mean().alias("direct"),
        pl.col("recall").filter(pl.col("condition") == "oracle").mean().alias("oracle"),
        (pl.col("recall").filter(pl.col("condition") == "direct").max()
         - pl.col("recall").filter(pl.col("condition") == "direct").min()).alias("spread"),
    )  # fmt: skip
    kinds = judgments.unique(["case_id", "node_id"]).group_by("case_id").agg(
        pl.len().cast(pl.Int64).alias("n_nodes"),
        *[(pl.col("subtype") == s).sum().cast(pl.Int64).alias(s)
          for s in ("xmod_temporal", "physical_shadow", "semantic_categorical")],
    )  # fmt: skip
    table = per_case.join(kinds, on="case_id").drop_nulls(["direct", "oracle"])
    rules = {
        "ceiling": (2, [pl.col("direct"), pl.col("xmod_temporal"), pl.col("n_nodes")]),
        "oracle-activated": (2, [pl.col("oracle") - pl.col("direct"), pl.col("physical_shadow")]),
        "model-dependent": (3, [pl.col("spread"), pl.col("semantic_categorical"), pl.col("n_nodes")]),
    }
    picked: list[pl.DataFrame] = []
    for role, (least, keys) in rules.items():
        taken = [p["case_id"][0] for p in picked]
        pool = table.filter(pl.col("n_nodes") >= least, ~pl.col("case_id").is_in(taken))
        if pool.height:
            best = pool.sort(*keys, "case_id", descending=[True] * len(keys) + [False]).head(1)
            picked.append(
                best.select(pl.lit(role).alias("role"), "case_id", "direct", "oracle", "spread", "n_nodes")
            )
    return pl.concat(picked) if picked else table.head(0).select(
        pl.lit("").alias("role"), "case_id", "direct", "oracle", "spread", "n_nodes"
    )  # fmt: skip


def found_grid(judgments: pl.DataFrame, case_id: str, conditions: Sequence[str]) -> pl.DataFrame:
    """Return who found what in one case: one row a node, one column "condition|model".

    Values are True, False, or null where there is no verdict. Simulated models have no names here
    (`simulated 1`): a tick under a real one would be evidence that nobody gathered.
    """
    labels = condition_labels()
    part = judgments.filter(pl.col("case_id") == case_id, pl.col("condition").is_in(list(conditions)))
    part = part.sort(
        pl.col("condition").replace_strict({c: i for i, c in enumerate(conditions)}, return_dtype=pl.Int64),
        "model",
    )
    models = part["model"].unique().sort().to_list()
    nameless = {m: f"simulated {i}" for i, m in enumerate(models, 1) if m.endswith(" (simulated)")}
    short = pl.col("model").replace(nameless).str.split("/").list.last()
    names = part.with_columns(
        pl.concat_str(pl.col("condition").replace(labels), pl.lit("|"), short).alias("column")
    )
    return names.pivot(
        "column", index="node_id", values="found", maintain_order=True, aggregate_function="first"
    )


def showcase(data: Dataset, *, n_nodes: int = 3) -> Case:
    """Return a case to show: at least `n_nodes` nodes and an edge between nodes, of as many categories as can be.

    Among equals the first one; the first case where none has so many nodes.
    """
    fit = [c for c in data if len(c.constraint_nodes) >= n_nodes and c.inter_constraints]
    return max(fit or data.cases[:1], key=lambda c: len({n.category.id for n in c.constraint_nodes}))


def pipeline_stages(run: Results) -> list[tuple[str, str, list[str]]]:
    """Return the stages of the pipeline of a run, for `icgkit.report.case_figures.draw_pipeline`."""
    labels = condition_labels()
    nodes = sum(len(c.constraint_nodes) for c in run.dataset)
    rest = [labels[c] for c in labels if c not in CORE]
    return [
        ("Cases", "an image, an instruction and its ground-truth graph",
         [f"{run.dataset.name} {run.dataset.version}", f"{len(run.dataset)} cases", f"{nodes} nodes"]),
        ("Conditions", "what the model is told; seven in the main table", [labels[c] for c in CORE]),
        ("Controls", "which part of the graph helps, form, planning", rest),
        ("Models", "answer from the same message and image bytes", [short_model(m) for m in run.models()]),
        ("Judges", "region, update and reason of each node: found is all three", [short_model(j) for j in run.judges]),
        ("Measures", "each with its n and interval", ["macro recall", "micro recall", "Δ ICG-O − Direct", "agreement", "odds ratios"]),
    ]  # fmt: skip


# -- agreement between judges ----------------------------------------------------------------------


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


# -- sources, subsets, precision, errors -----------------------------------------------------------


def coefficients(agreement: pl.DataFrame) -> pl.DataFrame:
    """Return one row a coefficient (raw, kappa, alpha, ac1) with its interval as text."""
    rest = [c for c in ("n_items", "n_raters", "status") if c in agreement.columns]
    parts = [
        agreement.select(
            pl.lit(name).alias("coefficient"), pl.col(name).cast(pl.Float64).alias("estimate"),
            pl.col(f"{name}_low").cast(pl.Float64).alias("low"), pl.col(f"{name}_high").cast(pl.Float64).alias("high"), *rest,
        )
        for name in ("raw", "kappa", "alpha", "ac1")
    ]  # fmt: skip
    return intervals(pl.concat(parts))


def reference_model(judgments: pl.DataFrame, wanted: str) -> str:
    """Return the model of that name (or its simulated form) if it was run, else the first one."""
    models = judgments["model"].unique().sort().to_list()
    return next(
        (m for m in models if m.removesuffix(" (simulated)") == wanted), models[0] if models else wanted
    )


def odds(fit: pl.DataFrame) -> pl.DataFrame:
    """Return condition and odds ratio of each condition of a GEE fit, as `condition` and `estimate`."""
    if "odds_ratio" not in fit.columns:
        return pl.DataFrame(schema={"condition": pl.String, "estimate": pl.Float64})
    return fit.filter(term="condition").select(condition="value", estimate="odds_ratio")


def forest(fit: pl.DataFrame) -> pl.DataFrame:
    """Return label, estimate, low and high of the odds ratios of a GEE fit."""
    if "odds_ratio" not in fit.columns:
        return pl.DataFrame(
            schema={"label": pl.String, "estimate": pl.Float64, "low": pl.Float64, "high": pl.Float64}
        )
    rows = fit.drop_nulls("value")
    return rows.select(
        pl.col("value").replace(condition_labels()).alias("label"),
        estimate="odds_ratio",
        low="odds_ratio_low",
        high="odds_ratio_high",
    )


def fold_sources(judgments: pl.DataFrame, *, least: int) -> pl.DataFrame:
    """Put the sources with fewer than `least` cases into one group, "other"."""
    n = pl.col("case_id").n_unique().over("source")
    return judgments.with_columns(
        pl.when(n < least).then(pl.lit("other")).otherwise(pl.col("source")).alias("source")
    )


def category_mix(judgments: pl.DataFrame) -> pl.DataFrame:
    """Return the share of each category among the nodes of each source, per cent."""
    nodes = judgments.unique(["case_id", "node_id"])
    shares = [((pl.col("category") == c).mean() * 100).alias(c) for c in CATEGORIES]
    return nodes.group_by("source").agg(pl.len().cast(pl.Int64).alias("n_nodes"), *shares).sort("source")


def subset_cases(run: Results, *, n: int, seed: int) -> list[str]:
    """Return the cases of the subset runs, else those that `icgkit run --subset n` would ask about.

    Where some model was judged on fewer cases than others, its cases are the subset; otherwise they
    are drawn from the dataset (see `icgkit.cases.subset.stratified`).
    """
    counts = run.judgments.group_by("model").agg(
        pl.col("case_id").n_unique().alias("n"), pl.col("case_id").unique().alias("ids")
    )
    if counts["n"].n_unique() > 1:
        return sorted(counts.sort("n", "model").row(0, named=True)["ids"])
    groups = sampling.strata(run.dataset.nodes())
    return sampling.stratified(groups, min(n, len(groups)), seed=seed)


def plane(recall: pl.DataFrame, precision: pl.DataFrame) -> pl.DataFrame:
    """Join recall (x) and precision (y) by model and condition, each with its interval: x, x_low, x_high, y, ..."""
    x = recall.select("model", "condition", x="estimate", x_low="low", x_high="high")
    y = precision.select("model", "condition", y="estimate", y_low="low", y_high="high")
    return x.join(y, on=["model", "condition"]).drop_nulls(["x", "y"]).sort("model", "condition")


def rho_text(rho: pl.DataFrame) -> str:
    """Return Spearman's correlation in words, for a caption."""
    row = rho.row(0, named=True)
    if row["estimate"] is None:
        return f"Spearman's ρ is not defined here: {row['status']}."
    return (
        f"Spearman's ρ = {row['estimate']:.2f} (95 % interval {row['low']:.2f} to {row['high']:.2f}, permutation p = "
        f"{row['p_permutation']:.3g}, n = {row['n_scored']} subtypes)."
    )


def residual_misses(judgments: pl.DataFrame) -> pl.DataFrame:
    """Count missed nodes by category, and which of the three parts was not found."""
    missed = pl.col("found").not_()
    parts = [
        (missed & pl.col(p).not_()).sum().cast(pl.Int64).alias(f"part_{p}")
        for p in ("region", "update", "reason")
    ]
    counts = judgments.group_by("category").agg(
        missed.sum().cast(pl.Int64).alias("n_missed"),
        pl.col("found").count().cast(pl.Int64).alias("n_scored"),
        *parts,
    )
    return in_order(counts, list(CATEGORIES), "category").with_columns(
        pl.col("category").replace(category_labels())
    )


def ceiling(agreement: pl.DataFrame) -> pl.DataFrame:
    """Return coefficients by condition, from the rarest "found" to the commonest: condition (with that share), coefficient, estimate."""
    if "kappa" not in agreement.columns:
        kinds = {"condition": pl.String, "coefficient": pl.String, "estimate": pl.Float64}
        return pl.DataFrame(schema=kinds | {"low": pl.Float64, "high": pl.Float64})
    rate = (pl.col("rate_a") + pl.col("rate_b")) / 2
    names = {
        "raw": "raw agreement",
        "kappa": "Cohen's κ",
        "pabak": "PABAK",
        "ac1": "Gwet's AC1",
        "alpha": "Krippendorff's α",
    }
    rows = agreement.with_columns(rate=rate).drop_nulls("rate").sort("rate", "condition")
    label = pl.concat_str(
        pl.col("condition").replace(condition_labels()),
        pl.lit("\n"),
        (pl.col("rate") * 100).round(0).cast(pl.Int64),
        pl.lit(" % found"),
    )
    parts = [
        rows.select(
            label.alias("condition"), pl.lit(words).alias("coefficient"), estimate=name, low=f"{name}_low", high=f"{name}_high"
        )
        for name, words in names.items()
    ]  # fmt: skip
    return pl.concat(parts).drop_nulls("estimate")


def best_by_price(costs: pl.DataFrame) -> pl.DataFrame:
    """Return the cheapest condition at a few prices of a missed constraint."""
    if "ratio" not in costs.columns:
        return pl.DataFrame({"status": ["not in this cache: precision verdicts"]})
    prices = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]
    near = [costs["ratio"].unique().to_frame().sort((pl.col("ratio") - p).abs()).row(0)[0] for p in prices]
    best = costs.filter(pl.col("best"), pl.col("ratio").is_in(near)).sort("ratio")
    return in_order(best.select("ratio", "condition", "estimate", "best_share")).sort("ratio")


def power_curves(closed: pl.DataFrame, drawn: pl.DataFrame) -> pl.DataFrame:
    """Return power over cases, in closed form and by drawing: how, cases, estimate, low, high.

    Frames of one status, where the run lacks a condition, stay what they are.
    """
    if "power" not in closed.columns:
        return closed
    a = closed.select(pl.lit("closed form").alias("how"), pl.col("cases").cast(pl.Int64), estimate="power")
    b = drawn.select(
        pl.lit("drawn from the pilot's cases").alias("how"),
        pl.col("cases").cast(pl.Int64),
        "low",
        "high",
        "estimate",
    )
    return pl.concat([a, b], how="diagonal")


# -- crossed models, equivalence, missing verdicts, two widths -------------------------------------


def crossed_rows(fit: Crossed) -> pl.DataFrame:
    """Return fixed terms and random groups of a crossed model as rows of one table.

    Returns
    -------
    polars.DataFrame
        `part` (fixed, random), `term`, `label` (conditions by their label, models by their short name),
        `estimate`, `low`, `high` (log odds; the standard deviation of a random group has no interval),
        `se`, `p_value`, `n_groups`, `status`; the fit's status alone where nothing was fitted.
    """
    if fit.terms.is_empty():
        return fit.fit.select("status")
    names = condition_labels()
    words = [
        " × ".join(names.get(v, short_model(v)) for v in (value or "").split(", "))
        for value in fit.terms["value"]
    ]
    fixed = fit.terms.with_columns(part=pl.lit("fixed, log odds"), label=pl.Series(words, dtype=pl.String))
    random = fit.groups.select(
        "n_groups", "status", part=pl.lit("random, sd of log odds"), term=pl.col("group").str.strip_suffix("_id"),
        label=pl.lit(""), estimate="sd",
    )  # fmt: skip
    return pl.concat([fixed, random], how="diagonal")


def crossed_forest(fit: Crossed) -> pl.DataFrame:
    """Return label, estimate, low and high of the odds ratios of model x condition, and of both alone."""
    if fit.terms.is_empty():
        return pl.DataFrame(
            schema=dict.fromkeys(["label"], pl.String)
            | dict.fromkeys(["estimate", "low", "high"], pl.Float64)
        )
    rows = crossed_rows(fit).filter(pl.col("part").str.starts_with("fixed"), pl.col("term") != "intercept")
    return rows.select("label", pl.col("estimate", "low", "high").exp())


def reference_text(terms: pl.DataFrame, judgments: pl.DataFrame) -> str:
    """Return which model and condition the odds ratios of a fit are against: those that no term of it names."""
    labels = condition_labels()
    named = {v for value in terms["value"].drop_nulls() for v in value.split(", ")}
    left = [
        next((v for v in judgments[c].unique().sort() if v not in named), "") for c in ("condition", "model")
    ]
    return " and ".join(labels.get(v, short_model(v)) for v in left if v) or "the references"


def interaction_text(fit: Crossed) -> str:
    """Return the test of model x condition in words, for a caption."""
    row = fit.fit.row(0, named=True)
    if row["p_interaction"] is None:
        return f"No test of the interaction: {row['status']}."
    p = "p < 0.001" if row["p_interaction"] < 0.001 else f"p = {row['p_interaction']:.3f}"
    return f"Model x condition: likelihood ratio χ²({row['df']}) = {row['chi2']:.1f}, {p}."


def two_widths(scores: pl.DataFrame, by_case: pl.DataFrame, *, on: str | Sequence[str]) -> pl.DataFrame:
    """Set the intervals that take cases as independent beside those that resample whole templates or pictures.

    Parameters
    ----------
    scores, by_case : polars.DataFrame
        The same rates or differences with `low` and `high`, by either resampling.
    on : str or sequence of str
        Columns that identify a row of both.

    Returns
    -------
    polars.DataFrame
        `scores` with `width`, `low_case`, `high_case`, `width_case` and `width_ratio` (width over
        width_case; null where that is 0); unchanged where the frames only say a status.
    """
    keys = [on] if isinstance(on, str) else list(on)
    if not {*keys, "low"} <= set(scores.columns) & set(by_case.columns):
        return scores
    other = by_case.select(*keys, low_case="low", high_case="high")
    both = scores.join(other, on=keys, how="left", nulls_equal=True, maintain_order="left")
    width, width_case = pl.col("high") - pl.col("low"), pl.col("high_case") - pl.col("low_case")
    ratio = pl.when(width_case > 0).then(width / width_case)
    return both.with_columns(width=width, width_case=width_case, width_ratio=ratio)


def width_rows(scores: pl.DataFrame, order: Sequence[str], unit: str, *, model: str) -> pl.DataFrame:
    """Return two rows for the end of a table by model and condition: the widths of the intervals of one model.

    Parameters
    ----------
    scores : polars.DataFrame
        From `two_widths`, with `model` and `condition`.
    order : sequence of str
        The conditions that are columns.
    unit : str
        What is resampled, in words: templates, images.
    model : str
        The row whose intervals are measured.

    Returns
    -------
    polars.DataFrame
        `model` (what the row is) and one column a condition, in shares.
    """
    mine = scores.filter(model=model)
    rows = [
        mine.with_columns(model=pl.lit(f"{model}, width of interval, {words}"), estimate=pl.col(column))
        for words, column in ((f"whole {unit}", "width"), ("cases as independent", "width_case"))
    ]
    return wide(pl.concat(rows), rows="model", columns="condition", order=order)


def width_text(scores: pl.DataFrame, unit: str) -> str:
    """Return how much wider the intervals are than with cases taken as independent, for a note."""
    known = scores["width_ratio"].drop_nulls() if "width_ratio" in scores.columns else None
    if known is None or known.is_empty():
        return ""
    low, middle, high = (float(known.quantile(q)) for q in (0.0, 0.5, 1.0))  # type: ignore[arg-type]
    return f"Intervals that resample whole {unit} are {middle:.2f} times as wide as those that take cases as independent (median of {len(known)}; {low:.2f} to {high:.2f})."


def carried_by(
    judgments: pl.DataFrame, cluster: str, by: str | Sequence[str] = ("category", "subtype")
) -> pl.DataFrame:
    """Count what stands behind each group: `n_nodes`, `n_case` and `n_groups` (templates or pictures)."""
    keys = [by] if isinstance(by, str) else list(by)
    return judgments.group_by(keys).agg(
        pl.struct("case_id", "node_id").n_unique().cast(pl.Int64).alias("n_nodes"),
        pl.col(cluster).n_unique().cast(pl.Int64).alias("n_groups"),
    )


def family_text(adjusted: pl.DataFrame, family: str) -> str:
    """Return which tests were adjusted together and how, for a note."""
    if "n_comparisons" not in adjusted.columns or adjusted.is_empty():
        return ""
    row = adjusted.row(0, named=True)
    return f"p adjusted: {row['adjustment']}, family of {row['n_comparisons']} tests ({family})."


def adjusted_view(frame: pl.DataFrame, *, p: str, leave_out: str = "") -> pl.DataFrame:
    """Adjust the p-values of a result by Holm as one family; a frame that only says a status is returned as it is.

    Rows whose `term` is `leave_out` (an intercept tests nothing that is asked) keep null.
    """
    if p not in frame.columns:
        return frame
    if not leave_out:
        return adjust(frame, p=p)
    raw = pl.col(p).alias("_raw")
    tested = frame.with_columns(raw, pl.when(pl.col("term") != leave_out).then(pl.col(p)).alias(p))
    return adjust(tested, p=p).with_columns(pl.col("_raw").alias(p)).drop("_raw")


def trend_text(trend: pl.DataFrame, unit: str) -> str:
    """Return what `icgkit.metrics.rate_trend` found, for a caption."""
    row = trend.row(0, named=True)
    if row["estimate"] is None or row["low"] is None:
        return f"With the recalls left open: {row['status']}."
    return (
        f"With whole {unit} resampled and the recalls made anew, the interval is {row['low']:.2f} to {row['high']:.2f}; "
        f"the subtypes are fixed."
    )


class PowerPlan(NamedTuple):
    """The spread that a study is planned with: `sd` over clusters, cases a cluster, and what to say about it."""

    sd: float
    per_cluster: float
    words: str
    notes: list[str]


def power_plan(pilot: pl.DataFrame, part: pl.DataFrame, *, effect: float, recall: float) -> PowerPlan:
    """Move a pilot's spread to the recall that is planned for.

    The variance of a mean of yes/no outcomes goes with p (1 - p); clustering multiplies it by a factor
    that is kept (quasi-binomial variance, McCullagh and Nelder 1989, Generalized Linear Models, section
    4.5). A pilot near 0 or 1 otherwise promises far too much power.

    Parameters
    ----------
    pilot : polars.DataFrame
        From `icgkit.metrics.case_sd`, one row; a frame that only says a status gives a plan without sd.
    part : polars.DataFrame
        The judgments of the pilot.
    effect, recall : float
        Difference and recall of the reference that are planned for, shares.
    """
    if "sd" not in pilot.columns or pilot["sd"].item() is None:
        return PowerPlan(0.0, 1.0, "no pilot.", [])
    row = pilot.row(0, named=True)
    seen = float(part["found"].mean())  # type: ignore[arg-type]
    wanted = min(max(recall + effect / 2, 0.01), 0.99)
    ratio = (wanted * (1 - wanted) / max(seen * (1 - seen), 1e-9)) ** 0.5
    sd = row["sd"] * ratio
    words = (
        f"standard deviation of the difference over clusters {sd:.3f}: {row['sd']:.3f} in this run's "
        f"{row['n_clusters']} clusters ({row['n_cases']} cases) at a recall of {seen:.2f}, times {ratio:.2f}."
    )
    notes = ["Cases a cluster as in this run; a study of unrelated cases needs fewer."]
    if not 0.1 <= seen <= 0.9:
        notes.append(
            f"The pilot lies at the {'floor' if seen < 0.5 else 'ceiling'} (recall {seen:.2f}): the numbers rest on the "
            "variance p (1 - p) and not on what was seen there. The curve drawn from the pilot keeps the pilot's spread."
        )
    return PowerPlan(sd, row["n_cases"] / row["n_clusters"], words, notes)


def needed_rows(need: pl.DataFrame, plan: PowerPlan) -> pl.DataFrame:
    """Add to `icgkit.metrics.cases_needed`, counted in clusters, how many cases that is."""
    if "cases" not in need.columns:
        return need
    return need.with_columns(in_cases=(pl.col("cases") * plan.per_cluster).ceil().cast(pl.Int64))


def paired_tests(
    run: Results, part: pl.DataFrame, needed: Sequence[str], *, margin: float, **options: Any
) -> pl.DataFrame:
    """Test each target against the reference: for a difference (Holm over all rows), and for equivalence.

    Parameters
    ----------
    run, part, needed
        Results, judgments, and the conditions without which there is only a status.
    margin : float
        Margin of equivalence, a share.
    **options
        Those of `icgkit.metrics.permutation` and `equivalence`: contrast, by, ci, value.

    Returns
    -------
    polars.DataFrame
        by, `target`, `p_permutation`, `p_adjusted`, `n_comparisons`, `adjustment`, `margin`, `low_90`,
        `high_90` (interval of the tests of equivalence), `p_equivalence`, `conclusion` (micro).
    """
    options = {"average": "micro", **options}
    apart = adjusted_view(run.if_has(needed, permutation, part, **options), p="p_value")
    same = run.if_has(needed, equivalence, part, margin=margin, **options)
    if "p_value" not in apart.columns or "conclusion" not in same.columns:
        return apart
    keys = [c for c in ("model", "target") if c in apart.columns]
    first = apart.select(*keys, "p_adjusted", "n_comparisons", "adjustment", p_permutation="p_value")
    second = same.select(*keys, "margin", "conclusion", p_equivalence="p_value", low_90="low", high_90="high")
    return join(first, second, on=keys)


# -- the audit of cases, contact sheets, the generator's knobs -------------------------------------


def audit_checks(data: Dataset, boxes: pl.DataFrame, duplicates: Sequence[Any]) -> pl.DataFrame:
    """Count what an audit of drawn cases looked at and what was wrong: check, n, wrong.

    Parameters
    ----------
    data : Dataset
    boxes : polars.DataFrame
        As `icgforge.audit.box_truth` returns it, of some cases of `data` or of all.
    duplicates : sequence
        Pairs of pictures that are too much alike.
    """
    outside = boxes.group_by("case_id").agg(pl.col("n_outside").max())
    pictures = len({c.image_sha256 or c.image for c in data})
    rows = [
        ("boxes of targets and nodes in which the edit changes nothing", boxes.height, (boxes["n_changed"] == 0).sum()),
        ("cases whose edit changes pixels outside all boxes", outside.height, (outside["n_outside"] > 0).sum()),
        ("pairs of near-duplicate pictures of unlike documents", pictures * (pictures - 1) // 2, len(duplicates)),
    ]  # fmt: skip
    return pl.DataFrame(rows, schema={"check": pl.String, "n": pl.Int64, "wrong": pl.Int64}, orient="row")


def box_fit(boxes: pl.DataFrame) -> pl.DataFrame:
    """Return how boxes fit what an edit changes, by subtype and for the targets.

    Returns
    -------
    polars.DataFrame
        `element` (a subtype, or "target"), `n`, median and lowest intersection over union of the changed pixels'
        bounds and the boxes (`iou`, `iou_low`, 0 to 1), median number of pixels that differ (`n_changed`).
    """
    order = {name: i for i, name in enumerate(["target", *SUBTYPES])}
    element = (
        pl.when(pl.col("element") == "target").then(pl.lit("target")).otherwise("subtype").alias("element")
    )
    return (
        boxes.group_by(element)
        .agg(
            pl.len().alias("n"), iou=pl.median("iou"), iou_low=pl.min("iou"), n_changed=pl.median("n_changed")
        )
        .sort(pl.col("element").replace_strict(order, return_dtype=pl.Int64))
    )


def spread_cases(data: Dataset, *, n: int) -> list[Case]:
    """Return up to `n` cases, taking turns over the subtypes of their nodes, rare ones first, over documents and settings."""
    pools = {s: [c for c in data if any(k.subtype == s for k in c.constraint_nodes)] for s in SUBTYPES}
    chosen: dict[str, Case] = {}
    shown: Counter[str] = Counter()
    while len(chosen) < n and any(pools.values()):
        for subtype in sorted(pools, key=lambda s: len(pools[s])):
            pools[subtype] = [c for c in pools[subtype] if c.id not in chosen]
            if pools[subtype] and len(chosen) < n:
                case = min(pools[subtype], key=lambda c: [shown[k] for k in _looks(c)])
                chosen[case.id] = case
                shown.update(_looks(case))
    order = {s: i for i, s in enumerate(SUBTYPES)}
    return sorted(chosen.values(), key=lambda c: (order[c.constraint_nodes[0].subtype], c.id))


def _looks(case: Case) -> tuple[str, str]:
    """Return what makes a case look like another: its document or picture, and where that stands."""
    return f"document {case.metadata.get('template', case.image)}", f"setting {case.metadata.get('setting')}"


def standings(run: Results, conditions: Sequence[str], ci: Bootstrap) -> pl.DataFrame:
    """Put the models of one cache or several in order of their recall under the last of some conditions.

    Returns
    -------
    polars.DataFrame
        `model`, a text "recall [interval]" for each condition (macro), `precision` of proposals under the last one (text,
        null where none was judged), `cost` (US dollars a hundred answers, null if no price is known), `answers`, `cases`,
        `first`, `last` (dates of the calls, null where none was made), `prompts` (first 8 digits of the hash of these
        conditions' words, as the cache has them).
    """
    last = conditions[-1]
    part = run.full.filter(pl.col("condition").is_in(conditions))
    scores = intervals(recall(part, by=("model", "condition"), average="macro", ci=ci))
    verdicts = run.need("precision")[0].filter(condition=last)
    valid = precision(verdicts, by="model", ci=ci) if verdicts.height else None
    calls = pl.concat([_asked(one, conditions) for one in run.parts or (run,)])
    order = scores.filter(condition=last).sort("estimate", descending=True)["model"].to_list()
    rows = scores.pivot("condition", index="model", values="shown").join(calls, on="model", how="left")
    cases = part.group_by("model").agg(cases=pl.n_unique("case_id"))
    found = rows.join(cases, on="model", how="left")
    if valid is not None:
        found = found.join(
            intervals(valid, name="precision").select("model", "precision"), on="model", how="left"
        )
    else:
        found = found.with_columns(precision=pl.lit(None, dtype=pl.String))
    return in_order(found, order, "model")


def _asked(run: Results, conditions: Sequence[str]) -> pl.DataFrame:
    """Return what a cache recorded of its models' answers: cost, number, days, and which words they were given."""
    words = json.dumps([run.meta.get("prompts", {}).get(c) for c in conditions])
    day = pl.from_epoch("created", time_unit="s").dt.date().cast(pl.String)
    frame = (
        by_label(Cache(run.folder, mode="replay").frame())
        if not run.simulated
        else pl.DataFrame(schema=_CALLS)
    )
    asked = frame.filter(pl.col("kind") == "elicit", pl.col("condition").is_in(conditions))
    return asked.group_by("model").agg(
        answers=pl.len(), cost=100 * pl.mean("cost"), first=day.min(), last=day.max(),
        prompts=pl.lit(hashlib.sha256(words.encode()).hexdigest()[:8]),
    )  # fmt: skip


_CALLS: dict[str, Any] = dict.fromkeys(("model", "label", "kind", "condition"), pl.String) | dict.fromkeys(
    ("cost", "created"), pl.Float64
)


def beside_twins(judgments: pl.DataFrame, alarms: pl.DataFrame, twins: Dataset) -> pl.DataFrame:
    """Put verdicts on cases beside verdicts on their twins, for the nodes that are forced in the case and not in the twin.

    Parameters
    ----------
    judgments, alarms : polars.DataFrame
        Of a run, and of the twins' answers (`icgkit.cases.twins.absent_nodes`).
    twins : Dataset
        From `icgkit.cases.twins.load_twins`.

    Returns
    -------
    polars.DataFrame
        Columns of `judgments` and `shown`, "case" or "twin"; rows of a twin carry its case's id and dataset. Only
        models, conditions, judges and nodes that both have.
    """
    keys = ["case_id", "node_id", "condition", "model", "judge", "sample"]
    of = {t.id: str(t.metadata["twin_of"]) for t in twins}
    alarms = alarms.with_columns(pl.col("case_id").replace_strict(of, return_dtype=pl.String))
    cases = judgments.join(alarms.select(keys), on=keys, how="semi").with_columns(shown=pl.lit("case"))
    marks = alarms.select(*keys, "found", "status")
    twin = cases.drop("found", "status").join(marks, on=keys, how="inner").with_columns(shown=pl.lit("twin"))
    return pl.concat([cases, twin.select(cases.columns)])


def scorer_rates(regions: pl.DataFrame, pictures: pl.DataFrame, ci: Bootstrap) -> pl.DataFrame:
    """Say how often the scorer of edits is right, by copy and true status, and how often it sees inventions.

    Parameters
    ----------
    regions, pictures : polars.DataFrame
        As `icgforge.edits.audit_scorer` returns them.

    Returns
    -------
    polars.DataFrame
        As `icgkit.metrics.mean`, by `copy` and `truth`: a status; "change found" (share of pictures with an invented
        change in which one is seen), "false alarm" (the same where there is none).
    """
    right = regions.select(
        "case_id", "template", "copy", "truth", pl.format("{}, {}", "made", "node_id").alias("node_id"),
        right=pl.col("status").eq_missing(pl.col("truth")),
    )  # fmt: skip
    seen = pictures.select(
        "case_id", "template", "copy", pl.col("made").alias("node_id"), right=pl.col("n_invented") > 0,
        truth=pl.when(truth=1).then(pl.lit("change found")).otherwise(pl.lit("false alarm")),
    )  # fmt: skip
    both = pl.concat([right, seen.select(right.columns)])
    return mean(both, "right", by=("copy", "truth"), ci=ci)


def scorer_by_subtype(regions: pl.DataFrame, copies: Sequence[str]) -> pl.DataFrame:
    """Say for nodes how often the scorer of edits is right: rows `part` (all, a split, a subtype), a column a copy and truth."""
    nodes = regions.filter(pl.col("node_id") != "target", pl.col("copy").is_in(copies)).with_columns(
        right=pl.col("status").eq_missing(pl.col("truth")),
        cell=pl.format(
            "{}, {}", "copy", pl.when(truth="done").then(pl.lit("done")).otherwise(pl.lit("not done"))
        ),
    )
    labels = {
        "all": "all",
        "public": "public documents",
        "held_out": "held-out documents",
        **subtype_labels(),
    }
    kinds = (pl.lit("all"), pl.col("split"), pl.col("subtype"))
    parts = pl.concat([nodes.with_columns(part=kind) for kind in kinds])
    long = parts.group_by("part", "cell").agg(pl.mean("right"), pl.len().alias("n"))
    texts = [f"{rate:.3f} of {n:,}" for rate, n in long.select("right", "n").iter_rows()]
    wide = long.with_columns(text=pl.Series(texts)).sort("cell").pivot("cell", index="part", values="text")
    rank = {name: i for i, name in enumerate(labels)}
    rows = wide.sort(pl.col("part").replace_strict(rank, return_dtype=pl.Int64))
    return rows.with_columns(pl.col("part").replace(labels))


KNOBS = {
    "indirectness": "level of indirectness (0 to 3)", "nodes": "nodes of the case (number)",
    "distractors": "other texts (number)", "same_shape": "texts of the same form (number)",
    "salience": "salience (% of picture × contrast)",
}  # fmt: skip
"""What the drawing of a case recorded of it, with its unit."""


def knob_bins(judgments: pl.DataFrame, data: Dataset) -> pl.DataFrame:
    """Return judgments once a knob, with its name and bin: knob, bin.

    Knobs are the case's, save indirectness, which is each node's. Few whole numbers are bins of their own; other
    values are cut at the quartiles. Cases without recorded knobs are left out.
    """
    rows = [
        {"case_id": c.id, "node_id": n.id}
        | {k: float(c.metadata["knobs"][k]) for k in KNOBS if k in c.metadata["knobs"]}
        | {"indirectness": float(n.kind.indirectness)}
        for c in data if "knobs" in c.metadata for n in c.constraint_nodes
    ]  # fmt: skip
    if not rows:
        return judgments.head(0).with_columns(knob=pl.lit(""), bin=pl.lit(""))
    knobs = pl.DataFrame(rows)
    parts = []
    for name in KNOBS:
        if name not in knobs.columns:
            continue
        bins = _bins(knobs[name])
        parts.append(knobs.select("case_id", "node_id", pl.lit(name).alias("knob")).with_columns(bins))
    return judgments.join(pl.concat(parts), on=["case_id", "node_id"], how="inner")


def _bins(values: pl.Series) -> pl.Series:
    if values.n_unique() <= 8:
        return pl.Series("bin", [f"{v:g}" for v in values], dtype=pl.String)
    cuts = [values.quantile(q) or 0.0 for q in (0.25, 0.5, 0.75)]
    names = [f"≤ {cuts[0]:.2g}", f"≤ {cuts[1]:.2g}", f"≤ {cuts[2]:.2g}", f"> {cuts[2]:.2g}"]
    return pl.Series("bin", [f"{names[sum(v > c for c in cuts)]}" for v in values], dtype=pl.String)


# -- how calls ended -------------------------------------------------------------------------------

_STATUSES = ("ok", "truncated", "refused", "empty", "error", "unparseable", "missing")


def status_rates(responses: pl.DataFrame, dataset: Dataset) -> pl.DataFrame:
    """Return how the responses of each model and condition ended.

    Parameters
    ----------
    responses : polars.DataFrame
        Schema `responses`.
    dataset : Dataset
        The cases that were asked about. A case counts as asked under a condition if any model has a
        response to it there, so that a subset is not taken for missing answers.

    Returns
    -------
    polars.DataFrame
        Columns condition, model, n (responses that are due) and a rate from 0 to 1 for each of
        `_STATUSES`, which sum to 1. `unparseable` is a whole answer under a self-report condition
        (`*_self`) in which no proposals can be read; `missing` has no record at all.
    """
    mine = responses.filter(pl.col("case_id").is_in([case.id for case in dataset]))
    reported = mine.filter(pl.col("condition").str.ends_with("_self"))
    key = ["dataset", "case_id", "condition", "model", "sample"]
    unread = extract_proposals(reported).replies.filter(status="unreadable").select(key)
    marked = mine.join(unread.with_columns(bad=pl.lit(value=True)), on=key, how="left").with_columns(
        status=pl.when(pl.col("bad") & (pl.col("status") == "ok"))
        .then(pl.lit("unparseable"))
        .otherwise(pl.col("status"))
    )
    due = mine.group_by("condition").agg(n=pl.struct("case_id", "sample").n_unique())
    counts = [pl.col("status").eq(s).sum().alias(s) for s in _STATUSES[:-1]]
    out = marked.group_by("condition", "model").agg(*counts, got=pl.len()).join(due, on="condition")
    out = out.with_columns(missing=pl.col("n") - pl.col("got"))
    rates = [(pl.col(s) / pl.col("n")).alias(s) for s in _STATUSES]
    return out.select("condition", "model", "n", *rates).sort("condition", "model")
