"""Cases in results: which to show, what was said about them, who found what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from icgkit.report.views.shapes import CORE, condition_labels, short_model

if TYPE_CHECKING:
    from icgkit.cases.case import Case
    from icgkit.cases.dataset import Dataset
    from icgkit.report.results import Results


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


def answers(
    responses: pl.DataFrame, case_id: str, conditions: Sequence[str], *, length: int = 600
) -> pl.DataFrame:
    """Return what the models said about one case: condition, model, status, text (cut at `length`)."""
    part = responses.filter(pl.col("case_id") == case_id, pl.col("condition").is_in(list(conditions)))
    return part.select("condition", "model", "status", pl.col("text").str.slice(0, length)).sort(
        "condition", "model"
    )


def found_rows(
    judgments: pl.DataFrame, picked: pl.DataFrame, conditions: Sequence[str] = ("direct", "oracle")
) -> pl.DataFrame:
    """Return the verdicts behind picked cases, one row a node, condition and model."""
    part = judgments.filter(pl.col("condition").is_in(list(conditions)))
    keep = [
        "role",
        "case_id",
        "node_id",
        "subtype",
        "condition",
        "model",
        "region",
        "update",
        "reason",
        "found",
        "status",
    ]
    return picked.select("role", "case_id").join(part, on="case_id", maintain_order="left").select(keep)


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
