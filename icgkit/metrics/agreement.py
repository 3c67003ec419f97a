"""Agreement of judges and annotators, with coefficients that hold up near ceiling."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from icgkit.errors import SchemaError, UnknownName
from icgkit.metrics import _input, _resample, _sums
from icgkit.metrics._input import Floats, Ints
from icgkit.metrics._rates import few, nullable
from icgkit.metrics.intervals import BOOTSTRAP, Bootstrap, clusters_of, drawn, level_of

COEFFICIENTS = ("raw", "kappa", "pabak", "ac1", "alpha")


def agreement(
    judgments: _input.IntoFrame,
    *,
    judges: str | Sequence[str] | None = None,
    by: str | Sequence[str] = (),
    rater: str = "judge",
    value: str = "found",
    on: str | Sequence[str] | None = None,
    ci: Bootstrap | None = BOOTSTRAP,
) -> pl.DataFrame:
    """Compare pairs of judges on the same yes/no decisions.

    Parameters
    ----------
    judgments : frame
        One row a decision of a judge: `rater`, `value` (null is missing) and the key columns.
    judges : sequence of str, optional
        The judges to compare, the first against each later one, and so on; all pairs by default.
    by : str or sequence of str
        Columns that make the rows: condition, category, model ...
    on : sequence of str, optional
        Columns that identify a decision; by default those of dataset, case, node, model, condition,
        sample, annotator and item that the frame has.
    rater, value : str
        Columns of the judge and of the Boolean verdict.
    ci : Bootstrap or None
        How the intervals are drawn.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `judge_a`, `judge_b`; `raw`, `kappa`, `pabak`, `ac1`, `alpha`, each with
        `<name>_low` and `<name>_high`; `level`; `rate_a`, `rate_b`, `rate_gap` (a minus b); `n_both`,
        `n_a_only`, `n_b_only`, `n_neither`, `n_pairs`, `n_total`, `n_missing` (decisions that only one
        of them made: left out); `n_cases`, `n_clusters`, `method`, `status`. A coefficient is null where it is undefined.

    Notes
    -----
    With p_o the raw agreement, a and b the positive rates and q = (a + b) / 2:
    kappa = (p_o - p_e) / (1 - p_e), p_e = a b + (1 - a)(1 - b); PABAK = 2 p_o - 1;
    AC1 = (p_o - g) / (1 - g), g = 2 q (1 - q); alpha = 1 - (1 - p_o) / d, d = 2 n_1 n_0 / (N (N - 1))
    with n_1 positive and n_0 negative ones of the N = 2n verdicts. Near ceiling p_e approaches 1 and
    kappa falls although the judges agree; PABAK and AC1 do not.
    Sources: Cohen (1960; kappa), Byrt, Bishop and Carlin (1993; PABAK), Gwet (2008; AC1), Krippendorff (2004,
    ch. 11; alpha).

    Examples
    --------
    >>> import polars as pl
    >>> found = [True] * 9 + [False] + [True] * 8 + [False, True]
    >>> verdicts = pl.DataFrame({"case_id": list("abcdefghij") * 2, "judge": ["x"] * 10 + ["y"] * 10, "found": found})
    >>> got = agreement(verdicts, ci=None).row(0, named=True)
    >>> [round(got[c], 3) for c in ("raw", "kappa", "pabak", "ac1")]
    [0.8, -0.111, 0.6, 0.756]
    """
    by, ci = _input.columns_of(by), drawn(ci)
    cluster = clusters_of(ci)
    case = [c for c in ("case_id",) if ci is None or "case_id" not in cluster]
    got = _input.eager(judgments, [*by, rater, value, *cluster, *_input.columns_of(on)], where="judgments")
    _input.no_null(got, [*cluster, rater], where="judgments", what="cluster or judge")
    key = (
        _input.columns_of(on)
        if on is not None
        else [c for c in _input.KEY if c in got.columns and c != rater]
    )
    unit = list(dict.fromkeys([*_sums.atom_columns(got, cluster), *(c for c in case if c in got.columns)]))
    key = list(dict.fromkeys([*by, *key, *unit]))
    slim = got.select(pl.col(rater).cast(pl.String), _input.binary(got, value).alias("_v"))
    known = sorted(slim[rater].unique().to_list())
    chosen = known if judges is None else _input.columns_of(judges)
    for name in chosen:
        if name not in known:
            raise UnknownName.among("judge in the judgments", name, known)
    if len(chosen) < 2:
        raise SchemaError("agreement needs two judges", got=chosen, allowed="two or more")
    groups = list(dict.fromkeys([*by, *unit])) if ci else by
    codes = _sums.numbers(got.select(key), key)[0] if key else {}
    slim = slim.with_columns(
        _key=_number(codes, key, got.height), _g=_dense(_number(codes, groups, got.height))
    )
    first = np.zeros(int(slim["_g"].max() or 0) + 1, dtype=np.int64)  # type: ignore[arg-type]
    first[slim["_g"].to_numpy()] = np.arange(got.height)
    named = got.select(groups)[first] if groups else pl.DataFrame()
    parts = [_pair(slim, named, (a, b), by, key, rater, ci) for a, b in combinations(chosen, 2)]
    return pl.concat(parts)


def _number(codes: dict[str, NDArray[Any]], names: list[str], rows: int) -> Ints:
    """Give rows that agree in the columns `names` the same number, and other rows other numbers."""
    number, room = np.zeros(rows, dtype=np.int64), 1
    for name in names:
        size = int(codes[name].max(initial=0)) + 1
        if room * size >= 1 << 63:
            number = np.unique(number, return_inverse=True)[1]
            room = int(number.max()) + 1
        number, room = number * size + codes[name], room * size
    return number


def _dense(number: Ints) -> Ints:
    """Number the distinct numbers anew, from 0 on without holes."""
    room = int(number.max(initial=-1)) + 1
    if room > max(8 * len(number), 1 << 16):
        return np.unique(number, return_inverse=True)[1].astype(np.int64)
    used = np.zeros(room, dtype=np.int64)
    used[number] = 1
    return (np.cumsum(used) - 1)[number]


def _pair(
    slim: pl.DataFrame, named: pl.DataFrame, judges: tuple[str, str], by: list[str], key: list[str],
    rater: str, ci: Bootstrap | None,
) -> pl.DataFrame:  # fmt: skip
    a, b = judges
    sides = []
    for judge, column in ((a, "_a"), (b, "_b")):
        sides.append(slim.filter(pl.col(rater) == judge).select("_key", "_g", pl.col("_v").alias(column)))
    alike = sides[0]["_key"].equals(sides[1]["_key"])
    for one in sides[:1] if alike else sides:
        keys = one["_key"].to_numpy()
        if _sums.any_twice(keys, int(keys.max(initial=-1)) + 1):
            raise SchemaError(
                f"a judge has several verdicts on one {', '.join(key)}", remedy="name the key columns in on="
            )
    if alike:
        joined = sides[0].with_columns(sides[1]["_b"])
    else:
        joined = sides[0].join(sides[1], on="_key", how="full").with_columns(pl.coalesce("_g", "_g_right"))
    groups = named.columns
    counts = ["n_both", "n_a_only", "n_b_only", "n_neither", "n_pairs", "n_missing"]
    tallied = _tally(joined, max(named.height, 1))
    some = np.flatnonzero(tallied.any(axis=1))
    tallies = pl.DataFrame(
        [*(named[some].get_columns() if groups else []), *map(pl.Series, counts, tallied[some].T[:6])]
    )
    tallies = tallies.sort(groups, nulls_last=True) if groups else tallies
    if by and groups != by:
        total = tallies.group_by(by, maintain_order=True).agg(pl.col(counts).sum())
    else:
        total = tallies if by else tallies.select(pl.col(counts).sum())
    table = total.select(counts[:4]).to_numpy().T.astype(np.float64)
    values = coefficients(table)
    bounds, clusters = _intervals(tallies, total, by, values, ci)
    n = table.sum(axis=0)
    rates = [_resample.ratio(table[0] + table[i], n) for i in (1, 2)]
    columns: dict[str, Any] = {"judge_a": [a] * total.height, "judge_b": [b] * total.height}
    for name in COEFFICIENTS:
        columns[name] = nullable(values[name])
        for side, bound in zip(("low", "high"), bounds[name], strict=True):
            columns[f"{name}_{side}"] = nullable(bound)
    columns["level"] = pl.Series([level_of(ci)] * total.height, dtype=pl.Float64)
    columns |= {"rate_a": nullable(rates[0]), "rate_b": nullable(rates[1])}
    columns["rate_gap"] = nullable(rates[0] - rates[1])
    columns |= {c: total[c].cast(pl.Int64) for c in counts[:5]}
    columns["n_total"] = (total["n_pairs"] + total["n_missing"]).cast(pl.Int64)
    columns["n_missing"] = total["n_missing"].cast(pl.Int64)
    columns |= clusters
    columns["method"] = [ci.words() if ci else "no interval"] * total.height
    fine = np.isfinite(list(values.values())).all(axis=0) & (ci is None) & (n > 0)
    columns["status"] = [
        "ok" if fine[i] else _status(values, i, n[i], bounds, ci, clusters["n_clusters"][i])
        for i in range(total.height)
    ]
    result = pl.DataFrame(columns)
    return pl.concat([total.select(by), result], how="horizontal") if by else result


def _tally(joined: pl.DataFrame, groups: int) -> Ints:
    """Count both, a only, b only, neither, pairs, one side missing and rows, group by group."""
    verdicts = []
    for name in ("_a", "_b"):  # 0 false, 1 true, 2 missing
        v = joined[name]
        verdicts.append((v.cast(pl.Int8).fill_null(2) if v.null_count() else v).to_numpy().astype(np.int64))
    place = 9 * joined["_g"].to_numpy() + 3 * verdicts[0] + verdicts[1]
    n = np.bincount(place, minlength=9 * groups).reshape(groups, 3, 3)
    whole = n[:, :2, :2].sum(axis=(1, 2))
    rows = n.sum(axis=(1, 2))
    four = [n[:, 1, 1], n[:, 1, 0], n[:, 0, 1], n[:, 0, 0]]
    return np.stack([*four, whole, rows - whole - n[:, 2, 2], rows], axis=1)


def coefficients(table: Floats) -> dict[str, Floats]:
    """Compute every coefficient from counts (both, a only, b only, neither) x anything; NaN if undefined."""
    both, first, second, neither = table
    n = both + first + second + neither
    raw = _resample.ratio(both + neither, n)
    a, b = _resample.ratio(both + first, n), _resample.ratio(both + second, n)
    chance = a * b + (1 - a) * (1 - b)
    ones = 2 * both + first + second
    q = (a + b) / 2
    gwet = 2 * q * (1 - q)
    disorder = _resample.ratio(2 * ones * (2 * n - ones), 2 * n * (2 * n - 1))
    return {
        "raw": raw,
        "kappa": _resample.ratio(raw - chance, np.where(1 - chance > 1e-12, 1 - chance, 0)),
        "pabak": 2 * raw - 1,
        "ac1": _resample.ratio(raw - gwet, 1 - gwet),
        "alpha": 1 - _resample.ratio(1 - raw, disorder),
    }


def _intervals(
    tallies: pl.DataFrame, total: pl.DataFrame, by: list[str], values: dict[str, Floats], ci: Bootstrap | None
) -> tuple[dict[str, tuple[Floats, Floats]], dict[str, pl.Series]]:
    """Resample clusters; a coefficient that is undefined in more than 5 % of the draws gets no interval."""
    rows = total.height
    empty = {name: (np.full(rows, np.nan), np.full(rows, np.nan)) for name in COEFFICIENTS}
    none = {c: pl.Series([None] * rows, dtype=pl.Int64) for c in ("n_cases", "n_clusters")}
    if ci is None or not rows:
        return empty, none
    unit = [c for c in tallies.columns if c in ("dataset", "case_id", *ci.over)]
    units, u = _sums.coded(tallies, unit)
    k = _sums.numbered(tallies.select(by)) if by else 0
    sums = np.zeros((4, rows, units.height))
    for i, name in enumerate(("n_both", "n_a_only", "n_b_only", "n_neither")):
        sums[i, k, u] = tallies[name].to_numpy()
    seen = sums.sum(axis=0) > 0
    codes = _sums.atom_codes(units, ci.over)
    clusters = np.array([min(len(np.unique(c[row])) for c in codes) for row in seen], dtype=np.int64)
    case = _sums.atom_codes(units, ["case_id"])[0] if "case_id" in unit else None
    none = {
        "n_cases": pl.Series(
            [None if case is None else len(np.unique(case[row])) for row in seen], dtype=pl.Int64
        ),
        "n_clusters": pl.Series(clusters, dtype=pl.Int64),
    }

    def stacked(flat: Floats) -> Floats:
        return np.concatenate(list(coefficients(flat.reshape(4, rows, -1)).values()))

    flat, behind = sums.reshape(4 * rows, -1), np.tile(clusters, len(COEFFICIENTS))
    got = _resample.interval(stacked, flat, units, ci, behind)
    ends = _resample.held(np.concatenate(list(values.values())), got.low, got.high, got.undefined, ci)
    low, high = (end.reshape(len(COEFFICIENTS), rows) for end in ends)
    return {name: (low[i], high[i]) for i, name in enumerate(COEFFICIENTS)}, none


def _status(
    values: dict[str, Floats], i: int, n: float, bounds: dict[str, tuple[Floats, Floats]],
    ci: Bootstrap | None, clusters: int | None,
) -> str:  # fmt: skip
    if n == 0:
        return "no pair with both verdicts"
    undefined = [c for c in COEFFICIENTS if not np.isfinite(values[c][i])]
    if undefined:
        return f"one class only: {', '.join(undefined)} undefined"
    if ci:
        bare = [c for c in COEFFICIENTS if not np.isfinite(bounds[c][0][i])]
        if bare:
            return f"no interval for {', '.join(bare)}: constant or undefined in resamples"
        return few(clusters or 0, ci) or "ok"
    return "ok"
