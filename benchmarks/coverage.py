"""Coverage of 95 % intervals with 8 to 100 templates, several cases a template, labels inside cases.

Run: python -m benchmarks.coverage --studies 300. Studies are drawn from a logit model with a template, a
case and a node effect; the truth is the model's own mean. Prints the Markdown tables of docs/metrics.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
import polars as pl

import icgkit as ig
from icgkit.metrics._resample import wilson

M = ig.metrics
SIZES = (8, 20, 40, 100)
CASES, NODES = 5, 2
SD = {"template": 1.2, "case": 0.3, "node": 0.6}
SENSITIVITY, SPECIFICITY, LABELLED = 0.9, 0.95, 0.2


def truth(centre: float) -> float:
    """Return the mean of the logistic function over all effects."""
    points, weights = np.polynomial.hermite_e.hermegauss(61)
    sd = sum(s * s for s in SD.values()) ** 0.5
    return float((weights / weights.sum()) @ (1 / (1 + np.exp(-(centre + sd * points)))))


def study(rng: np.random.Generator, templates: int, centres: tuple[float, float]) -> pl.DataFrame:
    """Draw one study: two conditions on the same nodes, true answers and a judge's verdicts."""
    nodes = templates * CASES * NODES
    case = np.arange(nodes) // NODES
    template = case // CASES
    ease = SD["template"] * rng.standard_normal(templates)[template]
    ease += SD["case"] * rng.standard_normal(templates * CASES)[case] + SD["node"] * rng.standard_normal(
        nodes
    )
    parts = []
    for condition, centre in zip(("direct", "oracle"), centres, strict=True):
        gold = rng.random(nodes) < 1 / (1 + np.exp(-(centre + ease)))
        found = rng.random(nodes) < np.where(gold, SENSITIVITY, 1 - SPECIFICITY)
        parts.append(
            pl.DataFrame(
                {
                    "template": template,
                    "case_id": case,
                    "node_id": np.arange(nodes) % NODES,
                    "gold": gold,
                    "found": found,
                }
            ).with_columns(
                pl.col("template", "case_id", "node_id").cast(pl.String), condition=pl.lit(condition)
            )
        )
    return pl.concat(parts)


def methods(centres: tuple[float, float], n: int) -> dict[str, tuple[float, Callable[..., pl.DataFrame]]]:
    """Return true value and interval of every estimator that is looked at."""
    low, high = (truth(c) for c in centres)

    def recall(cluster: str, kind: str = "percentile") -> Callable[..., pl.DataFrame]:
        ci = ig.Bootstrap(n, 1, cluster, kind=kind)  # type: ignore[arg-type]
        return lambda d, _: M.recall(d.filter(condition="direct"), by=(), value="gold", ci=ci)

    def gap(kind: str) -> Callable[..., pl.DataFrame]:
        ci = ig.Bootstrap(n, 1, "template", kind=kind)  # type: ignore[arg-type]
        return lambda d, _: M.gap(d, by=(), value="gold", ci=ci)

    def gee(d: pl.DataFrame, _: pl.DataFrame) -> pl.DataFrame:
        return M.gee(d, terms=["condition"], value="gold", ci=ig.Sandwich("template")).filter(
            term="condition"
        )

    def corrected(d: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
        part, some = d.filter(condition="direct"), labels.filter(condition="direct")
        ci = ig.Bootstrap(20, 1, "template")
        return M.corrected(part.drop("gold"), some, by=(), ci=ci).filter(estimator="prediction_powered")

    marginal = float(np.log(high / (1 - high)) - np.log(low / (1 - low)))
    return {
        "recall, cases resampled": (low, recall("case_id")),
        "recall, templates, percentile": (low, recall("template")),
        "recall, templates, expanded": (low, recall("template", "expanded")),
        "gap, templates, percentile": (high - low, gap("percentile")),
        "gap, templates, expanded": (high - low, gap("expanded")),
        "GEE log odds, templates": (marginal, gee),
        "prediction-powered recall, templates": (low, corrected),
    }


def coverage(studies: int, n: int, centres: tuple[float, float], seed: int = 7) -> pl.DataFrame:
    """Return method, clusters, the share of studies whose interval holds the truth, and how many were flagged."""
    rows = []
    for size in SIZES:
        rng = np.random.default_rng([seed, size])
        held: dict[str, list[bool]] = {}
        flagged: dict[str, int] = {}
        for _ in range(studies):
            drawn = study(rng, size, centres)
            labels = drawn.filter(pl.Series(rng.random(drawn.height) < LABELLED))
            for name, (value, interval) in methods(centres, n).items():
                row = interval(drawn, labels).row(0, named=True)
                if row["low"] is not None:
                    held.setdefault(name, []).append(row["low"] <= value <= row["high"])
                flagged[name] = flagged.get(name, 0) + (row["status"] != "ok")
        for name, marks in held.items():
            share = float(np.mean(marks))
            rows.append(
                (name, size, share, *wilson(share, len(marks), 0.95), len(marks), flagged[name] / studies)
            )
    schema = ["method", "clusters", "coverage", "low", "high", "studies", "flagged"]
    return pl.DataFrame(rows, schema=schema, orient="row")


def main() -> None:
    """Print one table: methods by number of templates, with how often the status flags the interval."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--studies", type=int, default=300)
    parser.add_argument("--resamples", type=int, default=500)
    args = parser.parse_args()
    for words, centres in (
        ("recalls about .38 and .75", (-0.7, 1.5)),
        ("recalls about .10 and .88", (-3.0, 2.8)),
    ):
        low, high = (truth(c) for c in centres)
        print(f"\n{words} ({low:.3f}, {high:.3f}); {args.studies} studies a size\n")
        got = coverage(args.studies, args.resamples, centres)
        print("| interval | " + " | ".join(str(s) for s in SIZES) + " |\n|---|" + "---|" * len(SIZES))
        for name in got["method"].unique(maintain_order=True):
            mine = {r["clusters"]: r for r in got.filter(method=name).iter_rows(named=True)}
            cells = [f"{mine[s]['coverage']:.3f}{' *' if mine[s]['flagged'] > 0.5 else ''}" for s in SIZES]
            print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
