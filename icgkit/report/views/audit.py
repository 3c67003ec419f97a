"""Shapes of the audit of cases, of contact sheets and of the generator's knobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from icgkit.taxonomy import SUBTYPES

if TYPE_CHECKING:
    from icgkit.cases.case import Case
    from icgkit.cases.dataset import Dataset


def guesses_view(guesses: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    """Return what classifiers guessed: seen, edit_type, base, estimate, low, high, above (over base), n."""
    rows = [
        {
            "seen": seen, "edit_type": g.edit_type, "base": g.base, "estimate": g.accuracy, "low": g.low,
            "high": g.high, "above": g.accuracy - g.base, "n": g.n,
        }
        for seen, members in guesses.items()
        for g in members
    ]  # fmt: skip
    return pl.DataFrame(rows)


def audit_checks(
    cases: Sequence[Case], *, facts: Sequence[Any], frames: Sequence[Any], duplicates: Sequence[Any],
    truth: pl.DataFrame,
) -> pl.DataFrame:  # fmt: skip
    """Count what an audit looked at and what was wrong: check, n, wrong."""
    templates = len({c.metadata.get("template") for c in cases})
    by_case = truth.group_by("case_id").agg(pl.col("outside").max(), pl.col("problems").first())
    rows: list[tuple[str, int, int]] = [
        (
            f"fact: {kind.replace('_', ' ')}",
            sum(f.kind == kind and f.ok is not None for f in facts),
            sum(f.kind == kind and f.ok is False for f in facts),
        )
        for kind in sorted({f.kind for f in facts})
    ] + [
        ("boxes of targets and nodes in which the edit changes nothing", truth.height, (~truth["changed"]).sum()),
        ("cases whose edit changes pixels outside all boxes", by_case.height, (by_case["outside"] > 0).sum()),
        ("cases with any fault of their own or of their twins", by_case.height, (by_case["problems"] != "").sum()),
        ("pairs of templates that share a sentence frame too often", templates * (templates - 1) // 2, len(frames)),
        ("pairs of near-duplicate images", len(cases) * (len(cases) - 1) // 2, len(duplicates)),
    ]  # fmt: skip
    return pl.DataFrame(rows, schema={"check": pl.String, "n": pl.Int64, "wrong": pl.Int64}, orient="row")


def audit_beside(rates: pl.DataFrame) -> pl.DataFrame:
    """Return the rates of an audit under the published names of its questions (`group`).

    Of several annotators the first by name stands beside the published rates.
    """
    names = {"exists": "D1 existence", "region": "D2 region", "update": "D3 update", "reason": "D4 reason"}
    named = rates.with_columns(group=pl.col("dimension").replace(names))
    return named.sort("annotator", maintain_order=True).unique("group", keep="first", maintain_order=True)


def box_fit(cases: Sequence[Case], truth: pl.DataFrame) -> pl.DataFrame:
    """Return how boxes fit what is drawn, by subtype and for the targets.

    Returns
    -------
    polars.DataFrame
        `element` (a subtype, or "target"), `n`, and the median and lowest of two intersections over
        union, 0 to 1: of the drawn mask and its box (`fill`, `fill_low`), of the mask's bounding box and
        the box (`iou`, `iou_low`).
    """
    kinds = [(c.id, n.id, n.subtype) for c in cases for n in c.constraint_nodes]
    names = pl.DataFrame(kinds, schema=["case_id", "element", "subtype"], orient="row")
    order = {name: i for i, name in enumerate(["target", *SUBTYPES])}
    return (
        truth.join(names, on=["case_id", "element"], how="left")
        .group_by(pl.col("subtype").fill_null("target").alias("element"))
        .agg(
            pl.len().alias("n"), fill=pl.median("fill"), fill_low=pl.min("fill"), iou=pl.median("iou"),
            iou_low=pl.min("iou"),
        )
        .sort(pl.col("element").replace_strict(order, return_dtype=pl.Int64))
    )  # fmt: skip


def spread_cases(data: Dataset, *, n: int) -> list[Case]:
    """Return up to `n` cases, taking turns over the subtypes of their first nodes, in the taxonomy's order."""
    pools = {
        s: [c for c in data if c.constraint_nodes and c.constraint_nodes[0].subtype == s] for s in SUBTYPES
    }
    turns = max((len(p) for p in pools.values()), default=0)
    chosen = [p[k] for k in range(turns) for p in pools.values() if k < len(p)][:n]
    order = {s: i for i, s in enumerate(SUBTYPES)}
    return sorted(chosen, key=lambda c: (order[c.constraint_nodes[0].subtype], c.id))


KNOBS = {
    "indirectness": "level of indirectness (0 to 3)", "distractors": "distractors (number)",
    "nodes of the case": "nodes of the case (number)", "distance": "distance to target (image diagonals)",
    "salience": "salience (% of the image × contrast)",
}  # fmt: skip
"""What each knob is, with its unit."""


def knob_bins(judgments: pl.DataFrame, data: Dataset) -> pl.DataFrame:
    """Return judgments once a knob, with its name and bin: knob, bin.

    Whole numbers are bins of their own; distance and salience are cut at the quartiles of the nodes.
    Cases without recorded knobs are left out.
    """
    rows = [
        {"case_id": c.id, "node_id": n.id, "nodes of the case": float(len(c.constraint_nodes)),
         "distractors": float(c.metadata["knobs"]["distractors"]), "indirectness": float(n.kind.indirectness),
         **{k: float(v) for k, v in c.metadata.get("per_node", {}).get(n.id, {}).items()}}
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
