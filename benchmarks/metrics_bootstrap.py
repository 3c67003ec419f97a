"""The bootstrap of `benchmarks.metrics`: ours, its phases, and the libraries one would pick."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.metrics_data import files

B = 10_000


def _case_means(scale: int, folder: Path) -> np.ndarray:
    lazy = pl.scan_parquet(files(scale, folder))
    means = lazy.group_by("model", "condition", "case_id").agg(pl.col("found").mean())
    cases = means.collect(engine="streaming")
    return cases.pivot(["model", "condition"], index="case_id", values="found").drop("case_id").to_numpy()


def bootstrap_ours(scale: int, folder: Path) -> Callable[[], Any]:
    from icgkit import metrics
    from icgkit.metrics import _resample

    frame = pl.read_parquet(files(scale, folder), columns=["case_id", "model", "condition", "found"])

    def run() -> None:
        _resample._kept.cache_clear()
        metrics.recall(frame, average=("macro", "micro"), ci=metrics.Bootstrap(B))
        metrics.differences(frame, metrics.Contrast(reference="condition_00"), ci=metrics.Bootstrap(B))

    return run


def bootstrap_ours_macro(scale: int, folder: Path) -> Callable[[], Any]:
    """As `bootstrap_ours_sums`, macro alone, which is what the other libraries are asked for."""
    from icgkit.metrics import Bootstrap, _rates, _resample

    frame = pl.read_parquet(files(scale, folder), columns=["case_id", "model", "condition", "found"])
    rates = _rates.prepare(frame, value="found", by=["model", "condition"], pooling=None)

    def run() -> None:
        _resample._kept.cache_clear()
        rates.draws(["macro"], Bootstrap(B))

    return run


def bootstrap_ours_sums(scale: int, folder: Path) -> Callable[[], Any]:
    """The part that compares with the bare product: from counted cases to draws, macro and micro."""
    from icgkit.metrics import Bootstrap, _rates, _resample

    lazy = pl.scan_parquet(files(scale, folder))
    rates = _rates.prepare(lazy, value="found", by=["model", "condition"], pooling=None)

    def run() -> None:
        _resample._kept.cache_clear()
        rates.draws(["macro", "micro"], Bootstrap(B))

    return run


def bootstrap_phases(scale: int, folder: Path) -> Callable[[], Any]:
    """As `bootstrap_ours_sums`, and the intervals of cells and differences; processor seconds by phase."""
    from icgkit.metrics import Bootstrap, _rates, _resample

    lazy = pl.scan_parquet(files(scale, folder))
    rates = _rates.prepare(lazy, value="found", by=["model", "condition"], pooling=None)
    draw: Any = _resample._draw

    def run() -> dict[str, float]:
        _resample._kept.cache_clear()
        drawing = 0.0

        def timed(*args: Any) -> Iterator[Any]:
            nonlocal drawing
            blocks = draw(*args)
            while True:
                start = time.thread_time()
                block = next(blocks, None)
                drawing += time.thread_time() - start
                if block is None:
                    return
                yield block

        vars(_resample)["_draw"] = timed
        try:
            start = time.process_time()
            draws = rates.draws(["macro", "micro"], Bootstrap(B))
            drawn = time.process_time()
        finally:
            vars(_resample)["_draw"] = draw
        for values in draws.values():
            _resample.percentile(values, 0.95)
            for base in range(0, len(values), 12):
                _resample.percentile(values[base + 1 : base + 12] - values[base], 0.95)
        end = time.process_time()
        return {"drawing": drawing, "products": drawn - start - drawing, "intervals": end - drawn}

    return run


def bootstrap_draws_only(scale: int, folder: Path) -> Callable[[], Any]:
    from icgkit.metrics import _resample

    def run() -> None:
        for _ in _resample._draw(461 * scale, B, 42):
            pass

    return run


def bootstrap_product(scale: int, folder: Path) -> Callable[[], Any]:
    means = _case_means(scale, folder)

    def run() -> None:
        counts = np.random.default_rng(0).multinomial(
            len(means), np.full(len(means), 1 / len(means)), size=B // scale
        )
        draws = counts @ means / len(means)
        np.quantile(draws, [0.025, 0.975], axis=0)

    return run


def bootstrap_arch(scale: int, folder: Path) -> Callable[[], Any]:
    from arch.bootstrap import IIDBootstrap

    means = _case_means(scale, folder)
    return lambda: IIDBootstrap(means, seed=np.random.default_rng(0)).conf_int(
        lambda x: x.mean(axis=0), reps=B // scale, method="percentile"
    )


def bootstrap_scipy_cells(scale: int, folder: Path) -> Callable[[], Any]:
    from scipy.stats import bootstrap

    means = _case_means(scale, folder)

    def run() -> None:
        for column in means.T:
            bootstrap((column,), np.mean, n_resamples=B, method="percentile", rng=np.random.default_rng(0))

    return run


def bootstrap_scipy_once(scale: int, folder: Path) -> Callable[[], Any]:
    from scipy.stats import bootstrap

    means = _case_means(scale, folder)
    options: dict[str, Any] = {"axis": 0, "method": "percentile", "batch": max(1, 50 // scale)}
    return lambda: bootstrap(
        (means,), np.mean, n_resamples=B // scale, rng=np.random.default_rng(0), **options
    )


def bootstrap_pandas(scale: int, folder: Path) -> Callable[[], Any]:
    import pandas as pd

    wide = pd.DataFrame(_case_means(scale, folder))

    def run() -> None:
        rng = np.random.default_rng(0)
        for _ in range(B // 50):
            for column in wide.columns:
                wide[column].sample(frac=1, replace=True, random_state=rng).mean()

    return run


OTHERS = {
    "bootstrap_product": "the product of counts with per-case sums (numpy), macro",
    "bootstrap_scipy_once": "scipy in one call, macro",
    "bootstrap_arch": "arch, macro",
}


def report(got: dict[str, dict[str, Any]]) -> str:
    """Say how much of the bootstrap is drawing, and how it compares with the other libraries."""
    lines = []
    if phases := got.get("bootstrap_phases", {}).get("phases"):
        total = sum(phases.values())
        parts = ", ".join(f"{name} {s:.3f} s ({s / total:.0%})" for name, s in phases.items())
        lines.append(f"bootstrap, macro and micro, processor seconds by phase: {parts}")
    if ours := got.get("bootstrap_ours_sums"):
        for task, label in OTHERS.items():
            if task in got:
                lines.append(
                    f"bootstrap: icgkit, macro and micro, takes {ours['cpu'] / got[task]['cpu']:.3f} "
                    f"times the processor seconds of {label}"
                )
    return "\n".join(lines)
