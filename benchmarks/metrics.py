"""Speed and memory of icgkit.metrics beside the libraries one would pick, measured in one run.

    python -m benchmarks.metrics --scale 1
    python -m benchmarks.metrics --scale 100
    python -m benchmarks.metrics --scale 1000

Scale 1 is 37,248 rows: 461 cases, 776 nodes, 4 models, 12 conditions. Every measurement runs in a
process of its own; seconds are wall time, `cpu` is processor time (the steadier one on a shared
machine), memory is the peak of the process. Some of the slow ones are measured on a part and scaled
up; the table says so. Below the table: the bootstrap by phase, and beside the other libraries.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks import metrics_bootstrap
from benchmarks.metrics_data import files, judgments


def recall_polars_memory(scale: int, folder: Path) -> Callable[[], Any]:
    frame = pl.read_parquet(files(scale, folder))
    return lambda: _recall_polars(frame.lazy()).collect()


def recall_polars_streaming(scale: int, folder: Path) -> Callable[[], Any]:
    lazy = pl.scan_parquet(files(scale, folder))
    return lambda: _recall_polars(lazy).collect(engine="streaming")


def _recall_polars(lazy: pl.LazyFrame) -> pl.LazyFrame:
    f, n = pl.col("found").sum().alias("f"), pl.col("found").count().alias("n")
    cases = lazy.group_by("model", "condition", "case_id").agg(f, n)
    return cases.group_by("model", "condition").agg(
        macro=(pl.col("f") / pl.col("n")).mean(), micro=pl.col("f").sum() / pl.col("n").sum()
    )


def recall_ours(scale: int, folder: Path) -> Callable[[], Any]:
    from icgkit import metrics

    lazy = pl.scan_parquet(files(scale, folder))
    frame = lazy.collect() if scale == 1 else lazy
    return lambda: metrics.recall(frame, average=("macro", "micro"), ci=None)


def _core(scale: int, folder: Path) -> pl.DataFrame:
    few = [f"condition_{c:02}" for c in range(4)]
    return pl.scan_parquet(files(scale, folder)).filter(pl.col("condition").is_in(few)).collect()


def gee_ours(scale: int, folder: Path) -> Callable[[], Any]:
    from icgkit import metrics

    frame = _core(scale, folder)
    return lambda: metrics.gee(frame)


def gee_statsmodels(scale: int, folder: Path) -> Callable[[], Any]:
    import statsmodels.api as sm

    frame = _core(scale, folder).sort("case_id")
    dummies = frame.select("condition", "model").to_dummies(drop_first=True).cast(pl.Float64).to_numpy()
    design = np.column_stack([np.ones(frame.height), dummies])
    found = frame["found"].cast(pl.Float64).to_numpy()
    groups = (frame["case_id"].rank("dense") - 1).to_numpy()
    return lambda: sm.GEE(
        found, design, groups=groups, family=sm.families.Binomial(), cov_struct=sm.cov_struct.Exchangeable()
    ).fit()


def _two_judges(scale: int) -> pl.DataFrame:
    frame = judgments(scale).with_columns(group=pl.col("case_id").hash(1) % 5)  # 240 cells of by-columns
    other = frame.with_columns(
        judge=pl.lit("b"),
        found=pl.col("found") ^ (pl.struct("case_id", "node_id", "model").hash(3) % 10 == 0),
    )
    return pl.concat([frame.with_columns(judge=pl.lit("a")), other])


def kappa_ours(scale: int, folder: Path) -> Callable[[], Any]:
    from icgkit import metrics

    both = _two_judges(scale)
    return lambda: metrics.agreement(both, by=("model", "condition", "group"), ci=None)


def kappa_polars(scale: int, folder: Path) -> Callable[[], Any]:
    wide = _wide(_two_judges(scale))
    a, b = pl.col("a"), pl.col("b")
    return lambda: wide.group_by("model", "condition", "group").agg(
        ((a == b).mean() - (a.mean() * b.mean() + (1 - a.mean()) * (1 - b.mean())))
        / (1 - (a.mean() * b.mean() + (1 - a.mean()) * (1 - b.mean())))
    )


def kappa_sklearn(scale: int, folder: Path) -> Callable[[], Any]:
    from sklearn.metrics import cohen_kappa_score

    parts = [
        (part["a"].to_numpy(), part["b"].to_numpy())
        for _, part in _wide(_two_judges(scale)).group_by("model", "condition", "group")
    ]
    return lambda: [cohen_kappa_score(a, b) for a, b in parts]


def _wide(both: pl.DataFrame) -> pl.DataFrame:
    keys = ["case_id", "node_id", "model", "condition", "group"]
    a, b = (both.filter(judge=j).select(*keys, pl.col("found").alias(j)) for j in "ab")
    return a.join(b, on=keys)


# Name: what, the library it stands for, factor that scales the measured part up, scales it runs at.
# A factor of 0 is the scale: so much fewer resamples are measured.
TASKS: dict[str, tuple[str, str, float, tuple[int, ...]]] = {
    "recall_ours": ("recall, macro and micro", "icgkit", 1, (1, 100, 1000)),
    "recall_polars_memory": ("recall, macro and micro", "polars in memory", 1, (1, 100)),
    "recall_polars_streaming": ("recall, macro and micro", "polars streaming", 1, (100, 1000)),
    "bootstrap_ours": (
        "recall, macro and micro, and differences, with intervals",
        "icgkit, from rows",
        1,
        (1, 100),
    ),
    "bootstrap_ours_sums": ("bootstrap of 48 cells", "icgkit, macro and micro", 1, (1, 100, 1000)),
    "bootstrap_phases": ("bootstrap of 48 cells", "icgkit, with intervals, by phase", 1, (1, 100, 1000)),
    "bootstrap_ours_macro": ("bootstrap of 48 cells", "icgkit, macro", 1, (1,)),
    "bootstrap_draws_only": ("bootstrap of 48 cells", "icgkit, drawing alone", 1, (1, 100, 1000)),
    "bootstrap_product": ("bootstrap of 48 cells", "product of counts (numpy), macro", 0, (1, 100, 1000)),
    "bootstrap_arch": ("bootstrap of 48 cells", "arch, macro", 0, (1, 100, 1000)),
    "bootstrap_scipy_once": ("bootstrap of 48 cells", "scipy in one call, macro", 0, (1, 100, 1000)),
    "bootstrap_scipy_cells": ("bootstrap of 48 cells", "scipy per cell, macro", 1, (1,)),
    "bootstrap_pandas": ("bootstrap of 48 cells", "pandas loop, macro (1/50 measured)", 50, (1,)),
    "gee_ours": ("GEE", "icgkit", 1, (1, 100)),
    "gee_statsmodels": ("GEE", "statsmodels", 1, (1, 100)),
    "kappa_ours": ("kappa of 240 cells", "icgkit, five coefficients, from two judges' rows", 1, (1, 100)),
    "kappa_polars": ("kappa of 240 cells", "polars, kappa alone, from matched rows", 1, (1, 100)),
    "kappa_sklearn": ("kappa of 240 cells", "scikit-learn loop, from matched rows", 1, (1,)),
}
BASE = {"recall": "recall_ours", "bootstrap": "bootstrap_ours_sums", "gee": "gee_ours", "kappa": "kappa_ours"}


def measure(task: str, scale: int, folder: Path) -> dict[str, Any]:
    """Run one task in this process and return seconds, processor seconds, peak memory, and phases."""
    run = getattr(metrics_bootstrap, task, None) or globals()[task]
    run = run(scale, folder)
    times = 3 if scale == 1 and not task.startswith(("bootstrap_scipy_cells", "bootstrap_pandas")) else 1
    best: tuple[float, float, Any] = (float("inf"), float("inf"), None)
    for _ in range(times):
        wall, cpu = time.perf_counter(), time.process_time()
        got = run()
        spent = (time.perf_counter() - wall, time.process_time() - cpu, got)
        best = min(best, spent, key=lambda s: s[1])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    phases = best[2] if task == "bootstrap_phases" else None
    return {"seconds": best[0], "cpu": best[1], "memory": memory, "phases": phases}


def apart(task: str, scale: int, folder: Path) -> dict[str, Any]:
    """Measure a task in a process of its own; a part that was measured is scaled up."""
    command = [sys.executable, "-m", "benchmarks.metrics", "--task", task, "--scale", str(scale)]
    done = subprocess.run([*command, "--folder", str(folder)], capture_output=True, text=True, check=True)
    got = json.loads(done.stdout.splitlines()[-1])
    factor = TASKS[task][2] or scale
    return got | {"seconds": got["seconds"] * factor, "cpu": got["cpu"] * factor}


def main() -> None:
    """Measure every task of a scale in its own process and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--task", choices=list(TASKS))
    parser.add_argument("--only", default="", help="tasks whose name starts with this")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "icgkit-benchmarks")
    parser.add_argument("--csv", type=Path, help="add the results to this file")
    options = parser.parse_args()
    if options.task:
        print(json.dumps(measure(options.task, options.scale, options.folder)))
        return
    files(options.scale, options.folder)
    rows, measured = [], {}
    for task, (what, library, factor, scales) in TASKS.items():
        if options.scale not in scales or not task.startswith(options.only):
            continue
        got = measured[task] = apart(task, options.scale, options.folder)
        if not factor and options.scale > 1:
            library += f" (1/{options.scale} measured)"
        rows.append(
            {
                "scale": options.scale, "task": what, "library": library, "seconds": got["seconds"],
                "cpu": got["cpu"], "memory_mb": got["memory"], "name": task,
            }
        )  # fmt: skip
        print(f"{task}: {rows[-1]['seconds']:.3f} s", file=sys.stderr)
    table = pl.DataFrame(rows)
    base = {r["name"]: r["cpu"] for r in rows}
    ours = [base.get(BASE[r["name"].split("_")[0]]) for r in rows]
    table = table.with_columns(
        ratio_cpu=pl.Series([r["cpu"] / o if o else None for r, o in zip(rows, ours, strict=True)])
    )
    with pl.Config(
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=200,
        fmt_str_lengths=80,
        float_precision=3,
        tbl_formatting="MARKDOWN",
        tbl_hide_column_data_types=True,
    ):
        print(table.drop("name"))
    print(metrics_bootstrap.report(measured))
    if options.csv:
        if options.csv.is_file():
            table = pl.concat([pl.read_csv(options.csv), table.drop("name")])
        table.select(pl.exclude("name")).write_csv(options.csv)


if __name__ == "__main__":
    main()
