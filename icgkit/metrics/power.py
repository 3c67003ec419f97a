"""Power and sample size: differences of recall, and kappa; in closed form and by resampling a pilot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, isfinite
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
import polars as pl

from icgkit.errors import SchemaError
from icgkit.metrics import _input, _resample, _sums
from icgkit.metrics._output import schema
from icgkit.metrics.contrasts import CONTRAST, Contrast
from icgkit.metrics.intervals import Bootstrap, needed, t_quantile, whole
from icgkit.metrics.paired import compared
from icgkit.metrics.paired import pairs as matched_pairs

STUDIES, KAPPA_STUDIES = Bootstrap(n=1000), Bootstrap(n=2000)

NORMAL = NormalDist()
FEW_CASES = 30
"""Below this number of cases a normal test rejects clearly more often than it says."""


def numbers(name: str, values: Any) -> list[float]:
    """Return one number or several (numpy's too) as a list, or raise."""
    several = values if isinstance(values, Iterable) and not isinstance(values, str) else [values]
    try:
        got = [float(v) for v in several if not isinstance(v, str | bool)]
    except TypeError:
        got = []
    if not got or len(got) != len(list(several)) or not all(isfinite(v) for v in got):
        raise SchemaError(name, got=values, allowed="a number or several")
    return got


def whole_numbers(name: str, values: Any, least: int) -> list[int]:
    """Return one whole number or several (numpy's too) as a list, or raise."""
    several = values if isinstance(values, Iterable) and not isinstance(values, str) else [values]
    return [whole(name, v, least) for v in several]


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
    With d = abs(effect) sqrt(cases) / sd: power = Phi(d - z) + Phi(-d - z), z the upper alpha/2 quantile.
    Source: Chow, Shao and Wang (2008, section 3.1).

    Examples
    --------
    >>> power_difference(effect=0.04, sd=0.3, cases=[200, 461, 800])["power"].round(3).to_list()
    [0.47, 0.817, 0.965]
    """
    check(alpha=alpha, sd=sd)
    z = NORMAL.inv_cdf(1 - alpha / 2)
    rows = []
    for e in numbers("effect", effect):
        for n in whole_numbers("cases", cases, 1):
            d = abs(e) * n**0.5 / sd
            status = "ok" if n >= FEW_CASES else f"{n} cases: the normal test is too liberal"
            rows.append((e, n, sd, NORMAL.cdf(d - z) + NORMAL.cdf(-d - z), "normal, two-sided", status))
    return pl.DataFrame(rows, schema=schema("effect cases sd power method status"), orient="row")


def cases_needed(
    *, effect: float | Iterable[float], sd: float, power: float | Iterable[float] = 0.9, alpha: float = 0.05
) -> pl.DataFrame:
    """Compute how many cases a difference needs to be seen with a given power.

    Parameters
    ----------
    effect, sd, alpha
        As in `power_difference`.
    power : float or several
        Power that is wanted (0 to 1).

    Returns
    -------
    polars.DataFrame
        `effect`, `sd`, `power`, `cases` (null for an effect of 0), `method`, `status`.

    Notes
    -----
    cases = ((z_{1 - alpha/2} + z_power) sd / effect)^2, rounded up; the far tail is left out.
    Source: Chow, Shao and Wang (2008, section 3.1).

    Examples
    --------
    >>> cases_needed(effect=0.04, sd=0.3)["cases"].to_list()
    [592]
    """
    check(alpha=alpha, sd=sd)
    z = NORMAL.inv_cdf(1 - alpha / 2)
    rows = []
    for e in numbers("effect", effect):
        for goal in numbers("power", power):
            check(power=goal)
            n, status = None, "effect is 0: no number of cases is enough"
            if e != 0:
                n, status = max(2, ceil(((z + NORMAL.inv_cdf(goal)) * sd / e) ** 2 - 1e-9)), "ok"
            rows.append((e, sd, goal, n, "normal, two-sided", status))
    return pl.DataFrame(rows, schema=schema("effect sd power cases method status"), orient="row")


def check(**values: float) -> None:
    """Raise unless probabilities lie between 0 and 1 and standard deviations above 0."""
    for name, value in values.items():
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        good = number and (0 < value < float("inf") if name == "sd" else 0 < value < 1)
        if not good:
            raise SchemaError(name, got=value, allowed="above 0" if name == "sd" else "between 0 and 1")


def case_sd(
    judgments: _input.IntoFrame,
    contrast: Contrast = CONTRAST,
    *,
    by: str | Sequence[str] = ("model",),
    value: str = "found",
    cluster: str = "case_id",
    pooling: Literal["pooled"] | None = None,
) -> pl.DataFrame:
    """Measure, in a pilot, how much the difference between two conditions varies over cases.

    Parameters
    ----------
    judgments, contrast, by, value, pooling
        As in `mcnemar`; with `pooling="pooled"` models are averaged within a case.
    cluster : str
        Column of what a study draws: cases, or templates.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `reference`, `target`, `effect` (mean difference per cluster, -1 to 1), `sd` (of
        it over clusters), `n_pairs`, `n_total`, `n_missing` (incomplete pairs), `n_cases`, `n_clusters`,
        `method`, `status`.

    Notes
    -----
    d_k is the mean of target minus reference over the complete pairs of cluster k;
    sd^2 = sum_k (d_k - mean)^2 / (C - 1).
    Source: Chow, Shao and Wang (2008, section 3.1).

    Examples
    --------
    >>> import polars as pl
    >>> found = [0, 0, 1, 1, 1, 1, 1, 0]
    >>> pilot = pl.DataFrame({"case_id": list("abcd") * 2, "condition": ["direct"] * 4 + ["oracle"] * 4, "found": found})
    >>> case_sd(pilot, by=()).select("effect", "sd").row(0)
    (0.25, 0.9574271077563381)
    """

    def spread(whole: pl.DataFrame) -> dict[str, Any]:
        d = _per_cluster(whole, cluster)
        return {
            "effect": float(d.mean()) if len(d) else None, "sd": float(d.std(ddof=1)) if len(d) > 1 else None,
            "n_clusters": len(d), "method": f"standard deviation over {cluster}, n - 1",
            "status": "ok" if len(d) > 1 else "fewer than two clusters",
        }  # fmt: skip

    options: dict[str, Any] = {"by": by, "value": value, "pooling": pooling}
    return compared(judgments, contrast, spread, _SD, cluster=(cluster,), numeric=True, **options)


_SD = schema("effect sd n_pairs n_total n_missing n_cases n_clusters method status")


def _per_cluster(whole: pl.DataFrame, cluster: str) -> Any:
    unit = _sums.atom_columns(whole, (cluster,))
    means = whole.group_by(unit).agg((pl.col("_b") - pl.col("_a")).mean().alias("d")).sort(unit)
    return means["d"].to_numpy()


def power_from_pilot(
    judgments: _input.IntoFrame,
    contrast: Contrast = CONTRAST,
    *,
    cases: int | Sequence[int],
    effect: float | None = None,
    alpha: float = 0.05,
    pooling: Literal["pooled"] | None = None,
    ci: Bootstrap = STUDIES,
) -> pl.DataFrame:
    """Estimate power by drawing studies of a given size from a pilot's cases.

    Parameters
    ----------
    judgments : frame
        The pilot: both sides of the contrast on the same cases, with `found`.
    cases : int or several
        Sizes of the studies, in cases (in groups of `ci.cluster` where that is another column).
    contrast, pooling
        As in `case_sd`; one target, "oracle" by default.
    effect : float, optional
        Mean difference to plan for (-1 to 1); the pilot's differences are moved to it, their spread is
        kept. The pilot's own if absent.
    alpha : float
        Two-sided significance level.
    ci : Bootstrap
        `n` studies drawn for each size, their `seed` and `cluster`, and the `level` of the interval.

    Returns
    -------
    polars.DataFrame
        `effect`, `cases`, `estimate` (power: share of studies whose two-sided t-test of the mean
        difference rejects, 0 to 1), `low`, `high`, `level` (Wilson, of that share), `n_studies`,
        `n_clusters` (of the pilot), `method`, `status`.

    Notes
    -----
    t = mean(d) sqrt(n) / sd(d) against Student's t with n - 1 degrees of freedom, d drawn with
    replacement from the pilot's differences per cluster.
    Source: Efron and Tibshirani (1993, section 25.4; power by resampling).

    Examples
    --------
    >>> import polars as pl
    >>> pilot = pl.DataFrame(
    ...     {"case_id": [f"c{i}" for i in range(40)] * 2, "condition": ["direct"] * 40 + ["oracle"] * 40,
    ...      "found": [i % 3 == 0 for i in range(40)] + [i % 3 != 1 for i in range(40)]})
    >>> power_from_pilot(pilot, cases=[10, 60], ci=Bootstrap(200))["estimate"].to_list()[1] > 0.9
    True
    """
    check(alpha=alpha)
    ci = needed(ci)
    if len(ci.over) > 1:
        raise SchemaError(
            "power_from_pilot with two crossed cluster columns", got=ci.over, allowed="one column"
        )
    matched, _ = matched_pairs(
        judgments, contrast.one(), by=(), value="found", pooling=pooling, cluster=ci.over, numeric=True
    )  # fmt: skip
    d = _per_cluster(matched.drop_nulls(["_a", "_b"]), ci.over[0])
    rows: list[tuple[Any, ...]] = []
    how = f"t-test, {ci.n} studies resampled from the pilot's {ci.over[0]}, seed={ci.seed}"
    if len(d) and effect is not None:
        d = d - d.mean() + numbers("effect", effect)[0]
    for size in whole_numbers("cases", cases, 1):
        if len(d) < 2 or d.std() == 0 or size < 2:
            small = "pilot or study too small or constant"
            rows.append((effect, size, None, None, None, ci.level, ci.n, len(d), how, small))
            continue
        rng = np.random.default_rng([ci.seed, size])
        picked = d[rng.integers(0, len(d), size=(ci.n, size))]
        mean, spread = picked.mean(axis=1), picked.std(axis=1, ddof=1)
        rejected = float((np.abs(mean) * size**0.5 > t_quantile(1 - alpha / 2, size - 1) * spread).mean())
        low, high = _resample.wilson(rejected, ci.n, ci.level)
        status = "ok" if len(d) >= FEW_CASES else f"pilot of {len(d)} clusters: its spread is uncertain"
        rows.append((float(d.mean()), size, rejected, low, high, ci.level, ci.n, len(d), how, status))
    columns = schema("effect cases estimate low high level n_studies n_clusters method status")
    return pl.DataFrame(rows, schema=columns, orient="row")


def power_kappa(
    *,
    kappa: float,
    null: float,
    rate_a: float,
    rate_b: float | None = None,
    pairs: int | Sequence[int] = (50, 100, 200, 400),
    alpha: float = 0.05,
    ci: Bootstrap = KAPPA_STUDIES,
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
    alpha : float
        Two-sided significance level.
    ci : Bootstrap
        `n` simulated studies for `power_simulated`, and their `seed`.

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
    Sources: Fleiss, Cohen and Everitt (1969), Cantor (1996).

    Examples
    --------
    >>> power_kappa(kappa=0.7, null=0.5, rate_a=0.5, pairs=[100, 200])["power"].round(2).to_list()
    [0.8, 0.98]
    """
    b = rate_a if rate_b is None else rate_b
    check(alpha=alpha, rate_a=rate_a, rate_b=b)
    ci = needed(ci)
    for name, value in (("kappa", kappa), ("null", null)):
        if not -1 <= value <= 1:
            raise SchemaError(name, got=value, allowed="-1 to 1")
    table = kappa_table(kappa, rate_a, b)
    if table is None:
        raise SchemaError(
            "kappa cannot be reached with these positive rates", got=(kappa, rate_a, b), remedy="lower kappa"
        )
    variance = kappa_variance(table)
    z, z_power = NORMAL.inv_cdf(1 - alpha / 2), NORMAL.inv_cdf(0.9)
    enough = ceil(((z + z_power) ** 2) * variance / (kappa - null) ** 2) if kappa != null else None
    rows = []
    for n in whole_numbers("pairs", pairs, 1):
        se = (variance / n) ** 0.5
        d = abs(kappa - null) / se
        simulated = _simulate_kappa(table, null, n, z, ci)
        power = NORMAL.cdf(d - z) + NORMAL.cdf(-d - z)
        rows.append((kappa, null, n, se, power, simulated, enough, f"closed form; {ci.n} studies, seed={ci.seed}",
                     "ok" if enough else "kappa equals the null"))  # fmt: skip
    columns = schema("kappa null pairs se power power_simulated pairs_needed method status")
    return pl.DataFrame(rows, schema=columns, orient="row")


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


def _simulate_kappa(table: Sequence[float], null: float, n: int, z: float, ci: Bootstrap) -> float:
    rng = np.random.default_rng([ci.seed, n])
    shares = np.clip(np.array(table), 0, None)
    drawn = rng.multinomial(n, shares / shares.sum(), size=ci.n) / n
    rejected = 0
    for cells in drawn:
        a, b = cells[0] + cells[1], cells[0] + cells[2]
        chance = a * b + (1 - a) * (1 - b)
        if chance > 1 - 1e-12:
            continue
        value = (cells[0] + cells[3] - chance) / (1 - chance)
        variance = kappa_variance(cells)
        rejected += variance > 0 and abs(value - null) > z * (variance / n) ** 0.5
    return rejected / ci.n
