"""Do the estimators keep their promises? Simulated studies with known truth.

    python -m benchmarks.estimators --studies 500

Three checks: coverage of the cluster bootstrap (macro recall and paired gap), recovery of planted log
odds by GEE within its standard error, kappa and AC1 near ceiling. The truth is the effect model's: a
study draws cases, nodes, answers and the judge's verdicts anew. Below the table: what the bootstrap of a
study of 461 cases costs by phase, and beside other libraries.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks import metrics as speed
from benchmarks.metrics_bootstrap import OTHERS, report
from icgkit import metrics
from icgkit.simulate.effects import effect_model, intercept_for, judgments, load_effects


def coverage(studies: int, cases: int = 461, n_resamples: int = 2000) -> pl.DataFrame:
    """Share of studies whose 95 % interval holds the expectation over many more cases."""
    effects = load_effects()
    conditions = ["direct", "oracle"]
    model = effects["models"][:1]
    big = judgments(effects, cases=150_000, models=model, conditions=conditions, missing=0.0, seed=10_001)
    truth = metrics.recall(big, by="condition", average=("macro", "micro"), ci=None)
    target = {(r["average"], r["condition"]): r["estimate"] for r in truth.iter_rows(named=True)}
    hits: dict[tuple[str, str], list[bool]] = {}
    for study in range(studies):
        drawn = judgments(effects, cases=cases, models=model, conditions=conditions, seed=study)
        options: dict[str, Any] = {"ci": metrics.Bootstrap(n_resamples, study)}
        got = metrics.recall(drawn, by="condition", average=("macro", "micro"), **options)
        for row in got.iter_rows(named=True):
            key = (row["average"], row["condition"])
            hits.setdefault(key, []).append(row["low"] <= target[key] <= row["high"])
        for average in ("macro", "micro"):
            row = metrics.gap(drawn, by=(), average=average, **options).row(0, named=True)
            gap = target[average, "oracle"] - target[average, "direct"]
            hits.setdefault((average, "gap"), []).append(row["low"] <= gap <= row["high"])
    rows = []
    for (average, what), inside in hits.items():
        low, high = _wilson(sum(inside), studies)
        rows.append(
            (f"bootstrap coverage, {average} {what}", sum(inside) / studies, low, high, "0.93 to 0.97")
        )
    return _frame(rows)


def recovery(studies: int, cases: int = 461) -> pl.DataFrame:
    """GEE estimates marginal log odds: compare with those planted, in units of its standard error."""
    planted = {"direct": 0.45, "cot": 0.52, "oracle": 0.93}
    effects = effect_model(models=4, conditions=tuple(planted), recall=0.45, effect=0.0)
    sd = float(np.hypot(effects["case_sd"], effects["node_sd"]))
    for name in effects["models"]:
        effects["intercept"][name] = {c: intercept_for(p, sd) for c, p in planted.items()}
    logit = {c: np.log(p / (1 - p)) for c, p in planted.items()}
    errors: dict[str, list[tuple[float, float]]] = {}
    for study in range(studies):
        drawn = judgments(effects, cases=cases, seed=study)
        fit = metrics.gee(drawn, terms=("condition", "model")).filter(term="condition")
        for row in fit.iter_rows(named=True):
            truth = logit[row["value"]] - logit["direct"]
            errors.setdefault(row["value"], []).append((row["estimate"] - truth, row["se"]))
    rows = []
    for name, pairs in errors.items():
        e, se = np.array(pairs).T
        inside = int((np.abs(e) <= 1.959964 * se).sum())
        low, high = _wilson(inside, studies)
        rows.append((f"GEE coverage, {name} against direct", inside / studies, low, high, "0.93 to 0.97"))
        bias = float(e.mean())
        half = 1.96 * float(e.std(ddof=1)) / studies**0.5
        rows.append((f"GEE mean error, {name} (log odds; mean standard error {se.mean():.3f})", bias, bias - half,
                     bias + half, "below one standard error"))  # fmt: skip
        rows.append((f"GEE standard error over spread of estimates, {name}", float(se.mean() / e.std(ddof=1)),
                     None, None, "near 1"))  # fmt: skip
    return _frame(rows)


def ceiling(studies: int, cases: int = 461) -> pl.DataFrame:
    """Two judges that each err on 4 % of the verdicts: what happens as the positive rate nears 1."""
    rows = []
    for rate in (0.5, 0.8, 0.9, 0.95, 0.98):
        values: dict[str, list[float]] = {"raw": [], "kappa": [], "pabak": [], "ac1": [], "alpha": []}
        for study in range(max(studies // 10, 10)):
            rng = np.random.default_rng([study, round(rate * 100)])
            real = rng.random(cases * 2) < rate
            said = {j: real ^ (rng.random(len(real)) < 0.04) for j in "ab"}
            frame = pl.concat(
                pl.DataFrame({"case_id": [f"c{i // 2}" for i in range(len(real))],
                              "node_id": [f"n{i % 2}" for i in range(len(real))],
                              "judge": [j] * len(real), "found": said[j]})
                for j in "ab"
            )  # fmt: skip
            got = metrics.agreement(frame, ci=None).row(0, named=True)
            for name, found in values.items():
                found.append(got[name])
        for name, found in values.items():
            mean, spread = float(np.mean(found)), float(np.std(found, ddof=1))
            note = "falls with the rate" if name in ("kappa", "alpha") else "does not fall"
            rows.append((f"{name} at positive rate {rate}", mean, mean - 2 * spread, mean + 2 * spread, note))
    return _frame(rows)


def _wilson(hits: int, n: int) -> tuple[float, float]:
    from icgkit.metrics._resample import wilson

    return wilson(hits / n, n, 0.95)


def _frame(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    schema = {
        "check": pl.String,
        "value": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "expected": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def main() -> None:
    """Print the checks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=500)
    studies = parser.parse_args().studies
    table = pl.concat([coverage(studies), recovery(studies), ceiling(studies)])
    with pl.Config(
        tbl_rows=-1, fmt_str_lengths=90, tbl_width_chars=160, tbl_formatting="MARKDOWN", float_precision=3
    ):
        print(table)
    folder = Path(tempfile.gettempdir()) / "icgkit-benchmarks"
    tasks = ("bootstrap_phases", "bootstrap_ours_sums", *OTHERS)
    print(report({task: speed.apart(task, 1, folder) for task in tasks}))


if __name__ == "__main__":
    main()
