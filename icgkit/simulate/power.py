"""How many cases a study needs: power curves by simulation from the effect model, and in closed form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.errors import SchemaError, UnknownName
from icgkit.metrics import cases_needed, power_difference
from icgkit.metrics._resample import wilson
from icgkit.simulate.effects import SUFFIX, bisect, case_codes, design, effect_model

Floats = NDArray[np.float64]
CASES = (50, 100, 200, 300, 461, 600, 800, 1200)


@dataclass(frozen=True, slots=True)
class Trials:
    """Simulated studies: how many of each size, tested at which two-sided level, for which power."""

    n_studies: int = 400
    alpha: float = 0.05
    power: float = 0.9
    seed: int = 42


def power_curve(
    *,
    effect: float = 0.04,
    cases: Sequence[int] = CASES,
    models: int = 4,
    recall: float = 0.45,
    effects: Mapping[str, Any] | None = None,
    reference: str = "direct",
    trials: Trials = Trials(),
) -> pl.DataFrame:
    """Simulate studies of several sizes and count how often they see a difference in macro recall.

    Parameters
    ----------
    effect : float
        Difference of macro recall between two conditions, as a share.
    cases : sequence of int
        Numbers of cases to try.
    models : int
        Models whose mean is compared.
    recall : float
        Macro recall under the reference condition.
    effects : mapping, optional
        An effect model: subtypes, models and judge error are taken from it, `effect` is put on top of
        its reference condition. Without one, models and nodes are alike and the judge does not err.
    reference : str
        Condition of `effects` that the difference is added to.
    trials : Trials
        Simulated studies for each size, two-sided level of the test, power for `cases_needed`, seed.

    Returns
    -------
    polars.DataFrame
        `cases`, `effect`, `power` (share of studies in which the paired z-test over cases rejects),
        `low`, `high` (Wilson 95 %), `power_closed_form`, `sd` (of a case's difference, from all
        simulated cases), `cases_needed` (closed form, for the power asked for), `models`, `n_studies`,
        `simulated` (true), `method`, `status`.

    Examples
    --------
    >>> curve = power_curve(effect=0.1, cases=[30, 300], models=2, trials=Trials(100))
    >>> curve["power"][0] < curve["power"][1]
    True
    """
    n_studies, alpha, power, seed = trials.n_studies, trials.alpha, trials.power, trials.seed
    if models < 1 or n_studies < 10 or min(cases, default=0) < 2:
        raise SchemaError(
            "power curve", got={"models": models, "cases": list(cases), "n_studies": n_studies},
            allowed="1 model or more, 2 cases or more, 10 studies or more",
        )  # fmt: skip
    if not 0 < alpha < 1:
        raise SchemaError("alpha", got=alpha, allowed="between 0 and 1")
    two = _two_conditions(effect, recall, models, effects, reference)
    z = NormalDist().inv_cdf(1 - alpha / 2)
    rows = []
    sums = np.zeros(3)
    for size in cases:
        means, spreads = _studies(two, size, n_studies, seed, sums)
        rejected = float((np.abs(means) * size**0.5 > z * spreads).mean())
        low, high = wilson(rejected, n_studies, 0.95)
        rows.append({"cases": size, "power": rejected, "low": low, "high": high})
    n, total, squares = sums
    sd = float(np.sqrt((squares - total**2 / n) / (n - 1)))
    closed = power_difference(effect=effect, sd=sd, cases=list(cases), alpha=alpha)
    needed = cases_needed(effect=effect, sd=sd, power=power, alpha=alpha)["cases"][0]
    return pl.DataFrame(rows).select(
        pl.col("cases").cast(pl.Int64),
        pl.lit(float(effect)).alias("effect"),
        "power",
        "low",
        "high",
        closed["power"].alias("power_closed_form"),
        pl.lit(sd).alias("sd"),
        pl.lit(needed, dtype=pl.Int64).alias("cases_needed"),
        pl.lit(models, dtype=pl.Int64).alias("models"),
        pl.lit(n_studies, dtype=pl.Int64).alias("n_studies"),
        pl.lit(True).alias("simulated"),
        pl.lit(f"paired z-test over cases, alpha={alpha}, power to reach {power}, seed={seed}").alias(
            "method"
        ),
        pl.lit("ok" if needed else "effect is 0: no number of cases is enough").alias("status"),
    )


def _two_conditions(
    effect: float, recall: float, models: int, effects: Mapping[str, Any] | None, reference: str
) -> dict[str, Any]:
    """Return an effect model with the conditions `direct` and `target`, `effect` apart."""
    if effects is None:
        return effect_model(models=models, recall=recall, effect=effect)
    if reference not in effects["conditions"]:
        raise UnknownName.among("condition", reference, effects["conditions"])
    names = [m for m in effects["models"] if m not in effects.get("aside", [])]
    centre = float(np.mean([effects["intercept"][m][reference] for m in names]))
    leans = [float(effects["intercept"][names[i % len(names)]][reference]) - centre for i in range(models)]
    low, high = (_calibrate(effects, reference, leans, mean) for mean in (recall, recall + effect))
    intercept = {
        f"model-{i + 1}{SUFFIX}": {"direct": low + x, "target": high + x} for i, x in enumerate(leans)
    }
    offset = effects["offset"][reference]
    return {**effects, "models": list(intercept), "conditions": ["direct", "target"], "intercept": intercept,
            "offset": {"direct": offset, "target": offset}}  # fmt: skip


def _calibrate(effects: Mapping[str, Any], reference: str, leans: Sequence[float], mean: float) -> float:
    """Find the shift at which the expected observed recall, over models and nodes, is `mean`."""
    kinds = design(461)["subtype"].to_list()
    offset = np.array([effects["offset"][reference][s] for s in kinds])
    points, weights = np.polynomial.hermite_e.hermegauss(21)
    noise = points * np.hypot(effects["case_sd"], effects["node_sd"])
    eta = np.add.outer(np.add.outer(np.array(leans), offset), noise)
    error = effects["judge_error"]

    def seen(shift: float) -> float:
        p = ((1 / (1 + np.exp(-(eta + shift)))) @ (weights / weights.sum())).mean()
        return float(p * error["sensitivity"] + (1 - p) * (1 - error["specificity"]))

    return bisect(seen, mean, 15.0, 60)


def _studies(
    two: Mapping[str, Any], size: int, n_studies: int, seed: int, sums: Floats
) -> tuple[Floats, Floats]:
    """Return mean and standard deviation over cases of the difference, for each study; add to `sums`."""
    layout = design(size, seed=seed)
    kinds = layout["subtype"].to_list()
    case = case_codes(layout)
    share = 1 / np.bincount(case)[case]
    names = two["models"]
    eta = np.empty((2, len(names), layout.height))
    for k, condition in enumerate(("direct", "target")):
        offset = np.array([two["offset"][condition][s] for s in kinds])
        for m, name in enumerate(names):
            eta[k, m] = two["intercept"][name][condition] + offset
    error = two["judge_error"]
    rng = np.random.default_rng([seed, 7, size])
    means, spreads = np.empty(n_studies), np.empty(n_studies)
    for study in range(n_studies):
        noise = two["case_sd"] * rng.standard_normal(size)[case] + two["node_sd"] * rng.standard_normal(
            len(case)
        )
        p = 1 / (1 + np.exp(-(eta + noise)))
        p = p * error["sensitivity"] + (1 - p) * (1 - error["specificity"])
        found = rng.random(p.shape) < p
        difference = (found[1].mean(axis=0) - found[0].mean(axis=0)) * share
        d = np.bincount(case, weights=difference, minlength=size)
        means[study], spreads[study] = d.mean(), d.std(ddof=1)
        sums += np.array([size, d.sum(), d @ d])
    return means, spreads


def curve_text(curve: pl.DataFrame, power: float) -> str:
    """Lay out a power curve for a terminal."""
    first = curve.row(0, named=True)
    lines = [
        f"Simulated, no model was called: difference {first['effect']:g} in macro recall, mean of {first['models']} models",
        f"standard deviation of a case's difference {first['sd']:.3f}; {first['n_studies']} studies for each size",
        "",
        "   cases   power  (95 % interval)  closed form",
    ]
    for row in curve.iter_rows(named=True):
        bar = "#" * round(row["power"] * 30)
        lines.append(
            f"{row['cases']:8,d}   {row['power']:.3f}  ({row['low']:.3f}, {row['high']:.3f})        "
            f"{row['power_closed_form']:.3f}  {bar}"
        )
    needed = first["cases_needed"]
    lines += ["", f"cases needed for power {power:g}: {needed:,d}" if needed else first["status"]]
    return "\n".join(lines)
