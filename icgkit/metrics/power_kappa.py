"""Power and sample size for Cohen's kappa of two judges."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np
import polars as pl

from icgkit.errors import SchemaError
from icgkit.metrics.intervals import Bootstrap, needed
from icgkit.metrics.power import NORMAL, check, whole_numbers

STUDIES = Bootstrap(n=2000)


def power_kappa(
    *,
    kappa: float,
    null: float,
    rate_a: float,
    rate_b: float | None = None,
    pairs: int | Sequence[int] = (50, 100, 200, 400),
    alpha: float = 0.05,
    ci: Bootstrap = STUDIES,
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

    References
    ----------
    Fleiss, Cohen and Everitt (1969), Large sample standard errors of kappa, Psychol. Bull. 72, 323-327.
    Cantor (1996), Sample-size calculations for Cohen's kappa, Psychol. Methods 1, 150-153.

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
