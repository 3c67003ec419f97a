"""Power and sample size: differences of recall, and kappa; in closed form and by resampling a pilot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl

from icgkit.errors import SchemaError
from icgkit.metrics import _input, _resample
from icgkit.metrics.paired import pairs

NORMAL = NormalDist()


def _list(values: float | Iterable[float]) -> list[float]:
    return [float(values)] if isinstance(values, int | float) else [float(v) for v in values]


def power_difference(
    *, effect: float | Iterable[float], sd: float, cases: float | Iterable[float], alpha: float = 0.05
) -> pl.DataFrame:
    """Compute the power to see a mean difference per case, two-sided.

    Parameters
    ----------
    effect : float or several
        Difference to be seen, as a share (0.04 is four points).
    sd : float
        Standard deviation over cases: of the paired difference (see `case_sd`) for the same cases under
        two conditions; sqrt(s1^2 + s2^2) for a gap between two sets of as many cases each.
    cases : int or several
        Number of cases (in each set).
    alpha : float
        Two-sided significance level.

    Returns
    -------
    polars.DataFrame
        `effect`, `cases`, `sd`, `power` (0 to 1), `method`, `status`.

    Notes
    -----
    With d = |effect| sqrt(cases) / sd: power = Phi(d - z) + Phi(-d - z), z the upper alpha/2 quantile.

    References
    ----------
    Chow, Shao and Wang (2008), Sample Size Calculations in Clinical Research, section 3.1.

    Examples
    --------
    >>> power_difference(effect=0.04, sd=0.3, cases=[200, 461, 800])["power"].round(3).to_list()
    [0.47, 0.817, 0.965]
    """
    check(alpha=alpha, sd=sd)
    z = NORMAL.inv_cdf(1 - alpha / 2)
    rows = []
    for e in _list(effect):
        for n in _list(cases):
            d = abs(e) * n**0.5 / sd
            rows.append((e, round(n), sd, NORMAL.cdf(d - z) + NORMAL.cdf(-d - z), "normal, two-sided", "ok"))
    return pl.DataFrame(
        rows,
        schema={"effect": pl.Float64, "cases": pl.Int64, "sd": pl.Float64, "power": pl.Float64,
                "method": pl.String, "status": pl.String},
        orient="row",
    )  # fmt: skip


def cases_needed(
    *, effect: float | Iterable[float], sd: float, power: float | Iterable[float] = 0.9, alpha: float = 0.05
) -> pl.DataFrame:
    """Compute how many cases a difference needs to be seen with a given power.

    Returns
    -------
    polars.DataFrame
        `effect`, `sd`, `power`, `cases` (null for an effect of 0), `method`, `status`.

    Notes
    -----
    cases = ((z_{1 - alpha/2} + z_power) sd / effect)^2, rounded up; the far tail is left out.

    Examples
    --------
    >>> cases_needed(effect=0.04, sd=0.3)["cases"].to_list()
    [592]
    """
    check(alpha=alpha, sd=sd)
    z = NORMAL.inv_cdf(1 - alpha / 2)
    rows: list[tuple[Any, ...]] = []
    for e in _list(effect):
        for goal in _list(power):
            check(power=goal)
            if e == 0:
                rows.append(
                    (e, sd, goal, None, "normal, two-sided", "effect is 0: no number of cases is enough")
                )
                continue
            n = ((z + NORMAL.inv_cdf(goal)) * sd / e) ** 2
            rows.append((e, sd, goal, max(2, ceil(n - 1e-9)), "normal, two-sided", "ok"))
    return pl.DataFrame(
        rows,
        schema={"effect": pl.Float64, "sd": pl.Float64, "power": pl.Float64, "cases": pl.Int64,
                "method": pl.String, "status": pl.String},
        orient="row",
    )  # fmt: skip


def check(**values: float) -> None:
    """Raise unless probabilities lie between 0 and 1 and standard deviations above 0."""
    for name, value in values.items():
        good = value > 0 if name == "sd" else 0 < value < 1
        if not good:
            raise SchemaError(name, got=value, allowed="above 0" if name == "sd" else "between 0 and 1")


def case_sd(
    judgments: _input.IntoFrame,
    *,
    reference: str = "direct",
    targets: Sequence[str] | None = None,
    by: str | Sequence[str] = (),
    over: str = "condition",
    value: str = "found",
    cluster: str = "case_id",
) -> pl.DataFrame:
    """Measure, in a pilot, how much the difference between two conditions varies over cases.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `reference`, `target`, `effect` (mean difference per case), `sd` (of it over
        cases), `n_cases`, `n_missing` (incomplete pairs), `method`, `status`. Models that `by` does not
        name are averaged within a case.

    Examples
    --------
    >>> import polars as pl
    >>> pilot = pl.DataFrame(
    ...     {
    ...         "case_id": ["a", "b", "c", "d"] * 2,
    ...         "condition": ["direct"] * 4 + ["oracle"] * 4,
    ...         "found": [False, False, True, True, True, True, True, False],
    ...     }
    ... )
    >>> case_sd(pilot).select("effect", "sd").row(0)
    (0.25, 0.9574271077563381)
    """
    by = _input.columns_of(by)
    rows = []
    matched = pairs(
        judgments, reference=reference, targets=targets, by=by, over=over, value=value, on=None, numeric=True
    )
    for key, part in matched.group_by([*by, "_target"], maintain_order=True):
        whole = part.drop_nulls(["_a", "_b"])
        d = _per_case(whole, cluster)
        few = len(d) < 2
        rows.append(
            [
                *key[:-1], reference, key[-1], float(d.mean()) if len(d) else None,
                None if few else float(d.std(ddof=1)), len(d), part.height - whole.height,
                "standard deviation over cases, n - 1", "fewer than two cases" if few else "ok",
            ]
        )  # fmt: skip
    schema: dict[str, Any] = {b: matched.schema[b] for b in by} | {
        "reference": pl.String, "target": pl.String, "effect": pl.Float64, "sd": pl.Float64,
        "n_cases": pl.Int64, "n_missing": pl.Int64, "method": pl.String, "status": pl.String,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


def _per_case(whole: pl.DataFrame, cluster: str) -> Any:
    unit = ["dataset", cluster] if "dataset" in whole.columns else [cluster]
    means = whole.group_by(unit).agg((pl.col("_b") - pl.col("_a")).mean().alias("d")).sort(unit)
    return means["d"].to_numpy()


def power_from_pilot(
    judgments: _input.IntoFrame,
    *,
    cases: int | Sequence[int],
    reference: str = "direct",
    target: str = "oracle",
    over: str = "condition",
    value: str = "found",
    cluster: str = "case_id",
    effect: float | None = None,
    alpha: float = 0.05,
    n_studies: int = 1000,
    seed: int = 42,
) -> pl.DataFrame:
    """Estimate power by drawing studies of a given size from a pilot's cases.

    Parameters
    ----------
    judgments : frame
        The pilot: both conditions on the same cases.
    cases : int or several
        Sizes of the studies.
    effect : float, optional
        Mean difference to plan for; the pilot's differences are moved to it. The pilot's own if absent.
    n_studies, seed : int
        Studies drawn for each size.

    Returns
    -------
    polars.DataFrame
        `effect`, `cases`, `power` (share of studies whose two-sided z-test of the mean difference
        rejects), `low`, `high` (Wilson, of that share), `n_studies`, `n_cases` (of the pilot),
        `method`, `status`.

    Examples
    --------
    >>> import polars as pl
    >>> pilot = pl.DataFrame(
    ...     {
    ...         "case_id": [f"c{i}" for i in range(40)] * 2,
    ...         "condition": ["direct"] * 40 + ["oracle"] * 40,
    ...         "found": [i % 3 == 0 for i in range(40)] + [i % 3 != 1 for i in range(40)],
    ...     }
    ... )
    >>> power_from_pilot(pilot, cases=[10, 60], n_studies=200)["power"].to_list()[1] > 0.9
    True
    """
    check(alpha=alpha)
    matched = pairs(
        judgments, reference=reference, targets=[target], by=(), over=over, value=value, on=None, numeric=True
    ).drop_nulls(["_a", "_b"])
    d = _per_case(matched, cluster)
    sizes = [cases] if isinstance(cases, int) else list(cases)
    z = NORMAL.inv_cdf(1 - alpha / 2)
    rows: list[tuple[Any, ...]] = []
    how = f"{n_studies} studies resampled from the pilot, seed={seed}"
    if len(d) and effect is not None:
        d = d - d.mean() + effect
    for size in sizes:
        if len(d) < 2 or d.std() == 0 or size < 2:
            rows.append(
                (
                    effect,
                    size,
                    None,
                    None,
                    None,
                    n_studies,
                    len(d),
                    how,
                    "pilot or study too small or constant",
                )
            )
            continue
        rng = np.random.default_rng([seed, size])
        drawn = d[rng.integers(0, len(d), size=(n_studies, size))]
        mean, spread = drawn.mean(axis=1), drawn.std(axis=1, ddof=1)
        rejected = float((np.abs(mean) * size**0.5 > z * spread).mean())
        low, high = _resample.wilson(rejected, n_studies, 0.95)
        rows.append((float(d.mean()), size, rejected, low, high, n_studies, len(d), how, "ok"))
    return pl.DataFrame(
        rows,
        schema={"effect": pl.Float64, "cases": pl.Int64, "power": pl.Float64, "low": pl.Float64,
                "high": pl.Float64, "n_studies": pl.Int64, "n_cases": pl.Int64, "method": pl.String,
                "status": pl.String},
        orient="row",
    )  # fmt: skip
