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
    _check(alpha=alpha, sd=sd)
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
    _check(alpha=alpha, sd=sd)
    z = NORMAL.inv_cdf(1 - alpha / 2)
    rows: list[tuple[Any, ...]] = []
    for e in _list(effect):
        for goal in _list(power):
            _check(power=goal)
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


def _check(**values: float) -> None:
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
    _check(alpha=alpha)
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


def power_kappa(
    *,
    kappa: float,
    null: float,
    rate_a: float,
    rate_b: float | None = None,
    pairs: int | Sequence[int] = (50, 100, 200, 400),
    alpha: float = 0.05,
    n_studies: int = 2000,
    seed: int = 42,
) -> pl.DataFrame:
    """Compute the power to tell kappa from a null value, two judges, yes/no.

    Parameters
    ----------
    kappa, null : float
        Kappa that is expected, and the one to be rejected.
    rate_a, rate_b : float
        Positive rates of the judges; `rate_b` is `rate_a` when absent.
    pairs : int or several
        Numbers of decisions that both judge.
    n_studies, seed : int
        Simulated studies for `power_simulated`.

    Returns
    -------
    polars.DataFrame
        `kappa`, `null`, `pairs`, `se` (of kappa at that size), `power` (closed form),
        `power_simulated` (Wald test in simulated studies; undefined kappas do not reject), `pairs_needed`
        (for power 0.9), `method`, `status`.

    Notes
    -----
    Large-sample variance of kappa for the table with the given margins and kappa; the same error is
    used under the null. SE = sqrt(variance / pairs).

    References
    ----------
    Fleiss, Cohen and Everitt (1969), Large sample standard errors of kappa, Psychol. Bull. 72, 323-327.
    Cantor (1996), Sample-size calculations for Cohen's kappa, Psychol. Methods 1, 150-153.

    Examples
    --------
    >>> power_kappa(kappa=0.7, null=0.5, rate_a=0.5, pairs=[100, 200])["power"].round(2).to_list()
    [0.8, 0.98]
    """
    _check(alpha=alpha, rate_a=rate_a)
    b = rate_a if rate_b is None else rate_b
    table = kappa_table(kappa, rate_a, b)
    if table is None:
        raise SchemaError(
            "kappa cannot be reached with these positive rates", got=(kappa, rate_a, b), remedy="lower kappa"
        )
    variance = kappa_variance(table)
    z, z_power = NORMAL.inv_cdf(1 - alpha / 2), NORMAL.inv_cdf(0.9)
    needed = ceil(((z + z_power) ** 2) * variance / (kappa - null) ** 2) if kappa != null else None
    rows = []
    for n in [pairs] if isinstance(pairs, int) else pairs:
        se = (variance / n) ** 0.5
        d = abs(kappa - null) / se
        simulated = _simulate_kappa(table, null, n, z, n_studies, seed)
        power = NORMAL.cdf(d - z) + NORMAL.cdf(-d - z)
        rows.append((kappa, null, n, se, power, simulated, needed, f"closed form; {n_studies} studies, seed={seed}",
                     "ok" if needed else "kappa equals the null"))  # fmt: skip
    return pl.DataFrame(
        rows,
        schema={"kappa": pl.Float64, "null": pl.Float64, "pairs": pl.Int64, "se": pl.Float64,
                "power": pl.Float64, "power_simulated": pl.Float64, "pairs_needed": pl.Int64,
                "method": pl.String, "status": pl.String},
        orient="row",
    )  # fmt: skip


def kappa_table(kappa: float, a: float, b: float) -> tuple[float, float, float, float] | None:
    """Return shares (both, a only, b only, neither) with these rates and kappa; None if impossible."""
    chance = a * b + (1 - a) * (1 - b)
    both = (kappa * (1 - chance) + chance - 1 + a + b) / 2
    cells = (both, a - both, b - both, 1 - a - b + both)
    return cells if min(cells) >= -1e-12 else None


def kappa_variance(table: Sequence[float]) -> float:
    """Return the large-sample variance of kappa times the number of pairs, from cell shares."""
    p = np.array([[table[0], table[1]], [table[2], table[3]]])
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    agree, chance = float(np.trace(p)), float(rows @ columns)
    kappa = (agree - chance) / (1 - chance)
    diagonal = sum(p[i, i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in (0, 1))
    off = (1 - kappa) ** 2 * sum(p[i, 1 - i] * (columns[i] + rows[1 - i]) ** 2 for i in (0, 1))
    return float((diagonal + off - (kappa - chance * (1 - kappa)) ** 2) / (1 - chance) ** 2)


def _simulate_kappa(
    table: Sequence[float], null: float, n: int, z: float, n_studies: int, seed: int
) -> float:
    rng = np.random.default_rng([seed, n])
    shares = np.clip(np.array(table), 0, None)
    drawn = rng.multinomial(n, shares / shares.sum(), size=n_studies) / n
    rejected = 0
    for cells in drawn:
        a, b = cells[0] + cells[1], cells[0] + cells[2]
        chance = a * b + (1 - a) * (1 - b)
        if chance > 1 - 1e-12:
            continue
        value = (cells[0] + cells[3] - chance) / (1 - chance)
        variance = kappa_variance(cells)
        rejected += variance > 0 and abs(value - null) > z * (variance / n) ** 0.5
    return rejected / n_studies
