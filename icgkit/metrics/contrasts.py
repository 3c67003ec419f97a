"""Paired contrasts of rates: differences, equivalence within a margin, differences of differences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from icgkit.errors import SchemaError, UnknownName
from icgkit.metrics import _input, _rates, _resample
from icgkit.metrics._input import Floats
from icgkit.metrics._output import lay_out, schema
from icgkit.metrics._rates import Average, Pooling, Rates, few, method
from icgkit.metrics.intervals import (
    BOOTSTRAP,
    Bootstrap,
    clusters_of,
    drawn,
    level_of,
    needed,
    t_below,
    t_quantile,
)


@dataclass(frozen=True)
class Contrast:
    """What is compared with what: the option `contrast=` of every paired measure.

    Parameters
    ----------
    over : str
        Column whose values are compared.
    reference : str, number or Boolean
        The value that the others are compared with.
    targets : the same, or several, optional
        The value or values that are compared; every other one when absent.
    on : str or sequence of str, optional
        Columns that identify a pair. Tests of pairs (McNemar, permutation, Cohen's d) take by default
        those of dataset, case, node, model, judge, sample, annotator and item that the frame has. Differences
        of rates take every row of either side by default; with `on="case_id"` only cases that are scored
        on both sides (for the same model, where models are kept apart).

    Examples
    --------
    >>> Contrast(targets=["cot", "oracle"])
    Contrast(over='condition', reference='direct', targets=['cot', 'oracle'], on=None)
    """

    over: str = "condition"
    reference: Any = "direct"
    targets: Any = None
    on: str | Sequence[str] | None = None

    def outside(self, by: list[str]) -> None:
        """Raise if `by` names the column that is compared."""
        if self.over in by:
            raise SchemaError(
                f"by names {self.over!r}, the column that is compared", got=by, remedy="leave it out"
            )

    def one(self, default: Any = "oracle") -> Contrast:
        """Return the contrast with one target, `default` where none is named; raise for several."""
        if self.targets is None:
            return replace(self, targets=[default])
        names = self.named()
        if len(names) != 1:
            raise SchemaError("Contrast.targets", got=names, allowed="one target here")
        return replace(self, targets=names)

    def named(self) -> list[Any]:
        """Return the targets that are named as a list."""
        several = isinstance(self.targets, Iterable) and not isinstance(self.targets, str)
        return list(self.targets) if several else [self.targets]

    def sides(
        self, frame: pl.DataFrame | pl.LazyFrame, *, where: str = "judgments"
    ) -> tuple[pl.DataFrame | pl.LazyFrame, str, list[str]]:
        """Check the values that are compared; return the frame with the column as text, and them as text.

        Numbers and Booleans are written as Python writes them: 1, 2.5, True.
        """
        over, dtype = pl.col(self.over), frame.collect_schema()[self.over]
        if dtype == pl.Boolean:
            frame = frame.with_columns(
                pl.when(over).then(pl.lit("True")).when(~over).then(pl.lit("False")).alias(self.over)
            )
        elif dtype.is_numeric():
            frame = frame.with_columns(over.cast(pl.String))
        values = frame.lazy().select(over.unique()).collect().get_column(self.over)
        known = sorted(str(v) for v in values if v is not None)
        reference = str(self.reference)
        wanted = [str(t) for t in (known if self.targets is None else self.named())]
        if self.targets is None and reference in wanted:
            wanted.remove(reference)
        if not known:
            raise SchemaError(
                f"{where}: no rows with a value of {self.over!r}", allowed="at least two values"
            )
        for name in [reference, *wanted]:
            if name not in known:
                raise UnknownName.among(f"{self.over} in the {where}", name, known)
        if reference in wanted:
            raise SchemaError(
                f"{self.over} {reference!r} is compared with itself", got=wanted,
                remedy="leave it out of targets=",
            )  # fmt: skip
        if not wanted:
            raise SchemaError(
                f"nothing to compare with {reference!r}", got=known, remedy=f"add values of {self.over!r}"
            )
        return frame, reference, wanted


CONTRAST = Contrast()
"""The default of `contrast=`: every other condition with direct."""


class _Pair(NamedTuple):
    """One row of a comparison: its names, and the cells of both sides (None where absent)."""

    head: dict[str, Any]
    target: int | None
    reference: int | None


class _Compared(NamedTuple):
    """Counted sides of a contrast: rates, their estimates and draws, and what is paired with what."""

    rates: Rates
    estimate: Floats
    draws: Floats | None
    without: Floats | None
    pairs: list[_Pair]
    how: str

    def known(self, cells: Sequence[int | None]) -> list[int]:
        """Return these cells, if all of them are there and have an estimate; else none."""
        there = [i for i in cells if i is not None]
        return there if len(there) == len(cells) and np.isfinite(self.estimate[there]).all() else []


def _compared(
    judgments: Any, contrast: Contrast, by: list[str], average: str, ci: Bootstrap | None, **options: Any
) -> Iterator[_Compared]:
    """Count the sides of a contrast: all targets at once, or with `on` one by one."""
    contrast.outside(by)
    _input.one_of("average", average, _rates.AVERAGES)
    over, on = contrast.over, _input.columns_of(contrast.on)
    cluster, value = clusters_of(ci), options["value"]
    need = [*by, over, value, *cluster, "case_id", *on, *_input.columns_of(options.get("weights"))]
    frame = _input.into(judgments, need, where="judgments")
    names = _input.require(frame, need, where="judgments").names()
    frame, reference, wanted = contrast.sides(frame)
    for targets in [[t] for t in wanted] if on else [wanted]:
        part = frame.filter(pl.col(over).is_in([reference, *targets]))
        if on:
            key = [c for c in dict.fromkeys([*by, "dataset", "model", "judge", *on]) if c in names]
            scored = pl.col(over).filter(pl.col(value).is_not_null())
            part = part.filter(scored.n_unique().over(key) == 2)
        rates = _rates.prepare(part, by=[*by, over], cluster=cluster, **options)
        at = {row: i for i, row in enumerate(rates.cells.select(*by, over).rows())}
        groups = list(dict.fromkeys(row[:-1] for row in at)) or ([] if by else [()])
        pairs = [
            _Pair(
                dict(zip(by, group, strict=True)) | {"reference": reference, "target": target},
                at.get((*group, target)), at.get((*group, reference)),
            )
            for group in groups for target in targets
        ]  # fmt: skip
        yield _Compared(
            rates, rates.estimate(average),
            rates.draws([average], ci)[average] if ci and rates.cells.height else None,
            rates.without(average) if ci and ci.kind == "bca" else None,
            pairs, method(rates, average, ci),
        )  # fmt: skip


def _named(counted: Sequence[_Compared], by: list[str], columns: dict[str, Any]) -> dict[str, Any]:
    kinds = counted[0].rates.cells.schema
    return {b: kinds[b] for b in by} | {"reference": pl.String, "target": pl.String} | columns


def differences(
    judgments: _input.IntoFrame,
    contrast: Contrast = CONTRAST,
    *,
    by: str | Sequence[str] = ("model",),
    average: Average = "macro",
    pooling: Pooling = None,
    ci: Bootstrap | None = BOOTSTRAP,
    value: str = "found",
    weights: str | None = None,
) -> pl.DataFrame:
    """Compare rates with that of a reference: paired, clustered intervals from one resampling plan.

    Parameters
    ----------
    judgments, by, average, pooling, value, weights
        As in `recall`; `by` must not name the column that is compared.
    contrast : Contrast
        What is compared with what, and whether on all cases or on shared ones.
    ci : Bootstrap or None
        Both sides are resampled together, so that the pairing by case is kept.

    Returns
    -------
    polars.DataFrame
        One row for each combination of `by` and target: the columns `by`, then `reference`, `target`,
        `estimate` (target minus reference, -1 to 1), `low`, `high`, `level`, `estimate_reference`,
        `estimate_target`, `n_scored`, `n_total`, `n_missing` (rows of both sides), `n_cases`,
        `n_clusters` (scored on both sides), `method`, `status`.

    Raises
    ------
    SchemaError, UnknownName
        As in `recall`; if the reference or a target does not occur.

    Notes
    -----
    R_target - R_reference, both macro or both micro as in `recall`. The interval is that of the
    difference of the two resampled rates. Both sides use the same resampled clusters, which keeps the
    pairing that an interval from two separate bootstraps would lose.
    Source: Efron and Tibshirani (1993, sections 8.3 and 13.3).

    Examples
    --------
    >>> import polars as pl
    >>> judgments = pl.DataFrame(
    ...     {"case_id": list("abab"), "model": "m", "condition": ["direct"] * 2 + ["cot"] * 2, "found": [1, 0, 1, 1]})
    >>> differences(judgments, ci=None).select("target", "estimate", "n_cases").row(0)
    ('cot', 0.5, 2)
    """
    by, ci = _input.columns_of(by), drawn(ci)
    options = {"pooling": pooling, "value": value, "weights": weights}
    counted = list(_compared(judgments, contrast, by, average, ci, **options))
    rows = [_difference(c, pair, ci) for c in counted for pair in c.pairs]
    return lay_out(rows, _named(counted, by, _DIFFERENCE), [*by, "target"] if contrast.on else ())


_DIFFERENCE = schema(
    "estimate low high level estimate_reference estimate_target n_scored n_total n_missing n_cases n_clusters "
    "method status"
)


def gap(
    judgments: _input.IntoFrame,
    contrast: Contrast = CONTRAST,
    *,
    by: str | Sequence[str] = ("model",),
    average: Average = "macro",
    pooling: Pooling = None,
    ci: Bootstrap | None = BOOTSTRAP,
    value: str = "found",
    weights: str | None = None,
) -> pl.DataFrame:
    """Compute the difference of one target from the reference: `differences` with "oracle" as the default target.

    Parameters
    ----------
    judgments, contrast, by, average, pooling, ci, value, weights
        As in `differences`; one target.

    Returns
    -------
    polars.DataFrame
        Columns as in `differences`.

    Notes
    -----
    R_target - R_reference. Source: `differences`.

    Examples
    --------
    >>> import polars as pl
    >>> judgments = pl.DataFrame(
    ...     {"case_id": list("abab"), "model": "m", "condition": ["direct"] * 2 + ["oracle"] * 2, "found": [1, 0, 1, 1]})
    >>> gap(judgments, ci=None)["estimate"].to_list()
    [0.5]
    """
    return differences(
        judgments, contrast.one(), by=by, average=average, pooling=pooling, ci=ci, value=value, weights=weights
    )  # fmt: skip


def _difference(c: _Compared, pair: _Pair, ci: Bootstrap | None) -> dict[str, Any]:
    t, r = pair.target, pair.reference
    cells = [i for i in (t, r) if i is not None]
    values = [finite(c.estimate[i]) if i is not None else None for i in (r, t)]
    row = pair.head | c.rates.counts(cells, shared=True) | {
        "level": level_of(ci), "estimate_reference": values[0], "estimate_target": values[1],
        "method": f"difference, {c.how}" + (", paired" if ci else ""),
    }  # fmt: skip
    if t is None or r is None or values[0] is None or values[1] is None:
        side = "reference" if values[0] is None else "target"
        return row | {"n_cases": 0, "n_clusters": 0, "status": f"{side}: nothing scored"}
    difference = values[1] - values[0]
    either = int(c.rates.clusters((c.rates.alive[t] | c.rates.alive[r])[None, :])[0])
    shared = row["n_clusters"]
    notes = [] if shared == either else [f"{shared} of {either} clusters scored on both sides"]
    row |= {"estimate": difference}
    if c.draws is not None and ci is not None:
        left_out = None if c.without is None else (c.without[t] - c.without[r])[None, :]
        low, high, note = settled(difference, c.draws[t] - c.draws[r], either, ci, left_out)
        row |= {"low": low, "high": high}
        notes.append(note)
    return row | {"status": _rates.join_notes(notes)}


def finite(value: float) -> float | None:
    """Return the number, or None for NaN."""
    return float(value) if np.isfinite(value) else None


def settled(
    estimate: float, draws: Floats, clusters: int, ci: Bootstrap, without: Floats | None = None
) -> tuple[float | None, float | None, str]:
    """Return the interval of a difference or ratio from its draws, and what has to be said of it."""
    low, high, undefined = _resample.ends(
        draws[None, :], ci, np.array([clusters]), np.array([estimate]), lambda: np.asarray(without)
    )
    return settle_difference(estimate, low[0], high[0], int(undefined[0]), clusters, ci)


def settle_difference(
    estimate: float, low: float, high: float, undefined: int, clusters: int, ci: Bootstrap
) -> tuple[float | None, float | None, str]:
    """Decide what a bootstrap interval of a difference or ratio is worth."""
    if clusters < 2:
        return None, None, "one cluster: no interval"
    if undefined > ci.n // 20:
        return None, None, f"{undefined} of {ci.n} draws undefined: no interval"
    if not np.isfinite(low) or low == high:
        return None, None, "constant over clusters: no interval"
    notes = [few(clusters, ci), f"{undefined} of {ci.n} draws undefined and left out" if undefined else ""]
    return min(float(low), estimate), max(float(high), estimate), "; ".join(n for n in notes if n)


def equivalence(
    judgments: _input.IntoFrame,
    contrast: Contrast = CONTRAST,
    *,
    margin: float,
    by: str | Sequence[str] = ("model",),
    average: Average = "macro",
    pooling: Pooling = None,
    ci: Bootstrap = BOOTSTRAP,
    value: str = "found",
) -> pl.DataFrame:
    """Test that two paired rates differ by less than a margin (two one-sided tests, clusters kept whole).

    "No difference" is not what a large p of a test for a difference says; it is what this test can show.

    Parameters
    ----------
    judgments, contrast, by, average, pooling, value
        As in `differences`.
    margin : float
        Largest difference that would not matter, as a share between 0 and 1; to be fixed before the
        numbers are seen.
    ci : Bootstrap
        Resampling of clusters. Its `level` L sets the size of the tests, alpha = 1 - L; the interval
        shown is the one of level 1 - 2 alpha that belongs to them (90 % for 0.95).

    Returns
    -------
    polars.DataFrame
        The columns `by`, `reference`, `target`, `estimate` (target minus reference), `low`, `high`,
        `level` (of this interval), `margin`, `p_noninferior` (against: target is worse by the margin or
        more), `p_nonsuperior` (against: better by the margin or more), `p_value` (equivalence: the
        larger of both), `conclusion` ("equivalent", "non-inferior", "non-superior", "undecided", and
        "different by the margin or more"), `n_scored`, `n_total`, `n_missing`, `n_cases`,
        `n_clusters`, `method`, `status`.

    Raises
    ------
    SchemaError, UnknownName
        As in `differences`; for a margin outside 0 to 1.

    Notes
    -----
    With d the difference, s the standard deviation of its bootstrap draws times sqrt(C / (C - 1)) and C
    clusters: p_noninferior = P(T > (d + margin) / s), p_nonsuperior = P(T > (margin - d) / s), T with
    C - 1 degrees of freedom; interval d -+ t s. It lies within the margin exactly if p_value < alpha.
    Sources: Schuirmann (1987), Lakens (2017).

    Examples
    --------
    >>> import polars as pl
    >>> rows = [
    ...     {"case_id": f"c{i}", "condition": c, "model": "m", "found": (i + (c == "cot") * (i % 20 == 0)) % 2 == 0}
    ...     for i in range(200) for c in ("direct", "cot")
    ... ]
    >>> got = equivalence(pl.DataFrame(rows), margin=0.1, ci=Bootstrap(500))
    >>> got.select("target", "conclusion").row(0)
    ('cot', 'equivalent')
    """
    if isinstance(margin, bool) or not isinstance(margin, int | float) or not 0 < margin < 1:
        raise SchemaError(
            "margin", got=margin, allowed="a share between 0 and 1, such as 0.05 for five points"
        )
    ci, by = needed(ci), _input.columns_of(by)
    counted = list(_compared(judgments, contrast, by, average, ci, pooling=pooling, value=value))
    rows = []
    for c in counted:
        for head, t, r in c.pairs:
            row = head | {
                "margin": float(margin), "level": 1 - 2 * (1 - ci.level),
                "method": f"two one-sided t-tests, {c.how}", "status": "nothing scored on one side",
            }  # fmt: skip
            if c.draws is not None and (both := c.known([t, r])):
                row |= c.rates.counts(both, shared=True)
                d = float(c.estimate[t] - c.estimate[r])
                row |= _two_tests(d, c.draws[t] - c.draws[r], row["n_clusters"], margin, ci)
            rows.append(row)
    return lay_out(rows, _named(counted, by, _EQUIVALENCE))


_EQUIVALENCE = schema(
    "estimate low high level margin p_noninferior p_nonsuperior p_value conclusion n_scored n_total n_missing n_cases "
    "n_clusters method status"
)


def _two_tests(d: float, draws: Floats, clusters: int, margin: float, ci: Bootstrap) -> dict[str, Any]:
    known = draws[np.isfinite(draws)]
    alpha = 1 - ci.level
    row: dict[str, Any] = {"estimate": d}
    if clusters < 2:
        return row | {"status": "one cluster: no test"}
    if len(draws) - len(known) > ci.n // 20:
        return row | {"status": f"{len(draws) - len(known)} of {ci.n} draws undefined: no test"}
    s = float(known.std(ddof=1)) * (clusters / (clusters - 1)) ** 0.5
    if s <= 1e-12:
        return row | {"status": "constant over clusters: no test"}
    df = clusters - 1
    worse, better = (t_below(-x / s, df) for x in (d + margin, margin - d))
    half = t_quantile(1 - alpha, df) * s
    row |= {"low": d - half, "high": d + half, "p_noninferior": worse, "p_nonsuperior": better}
    row["p_value"] = max(worse, better)
    if row["p_value"] < alpha:
        row["conclusion"] = "equivalent"
    elif d - half >= margin or d + half <= -margin:
        row["conclusion"] = "different by the margin or more"
    elif worse < alpha or better < alpha:
        row["conclusion"] = "non-inferior" if worse < alpha else "non-superior"
    else:
        row["conclusion"] = "undecided"
    return row | {"status": few(clusters, ci) or "ok"}


def gap_by(
    judgments: _input.IntoFrame,
    contrast: Contrast = CONTRAST,
    *,
    between: str = "judge",
    average: Average = "macro",
    pooling: Pooling = None,
    ci: Bootstrap = BOOTSTRAP,
    value: str = "found",
) -> pl.DataFrame:
    """Compare a gap between groups: the gap by judge, and the difference of the gaps, one resampling plan.

    Parameters
    ----------
    judgments : frame
        As in `gap`, with the column `between`.
    between : str
        Column whose values are compared, such as the judge. Only decisions that every value has are
        used (same case, node, model and condition), so that a judge of a part is not set against one
        of the whole.
    contrast, average, pooling, ci, value
        As in `gap`.

    Returns
    -------
    polars.DataFrame
        `between` (its value), `quantity` ("gap", or "difference of gaps": this value's gap minus that
        of the first value in alphabetical order), `against` (that value), `estimate`, `low`, `high`,
        `level`, `n_scored`, `n_total`, `n_missing`, `n_cases`, `n_clusters`, `method`, `status`.

    Raises
    ------
    SchemaError
        If there are fewer than two values of `between`.

    Notes
    -----
    The difference of gaps is (p_t - p_r)_b - (p_t - p_r)_a. All four rates use the same resampled
    clusters, which keeps what judges share; the interval is read off its draws.

    Examples
    --------
    >>> import polars as pl
    >>> rows = [
    ...     {"case_id": f"c{i}", "condition": c, "judge": j, "model": "m", "found": (i + k * (c == "oracle")) % 3 > 0}
    ...     for i in range(30) for c in ("direct", "oracle") for k, j in enumerate("ab")
    ... ]
    >>> gap_by(pl.DataFrame(rows), ci=Bootstrap(100)).select("between", "quantity", "estimate").rows()
    [('a', 'gap', 0.0), ('b', 'gap', 0.0), ('b', 'difference of gaps', 0.0)]
    """
    ci = needed(ci)
    if ci.kind == "bca":
        raise SchemaError("kind of bootstrap", got="bca", allowed="percentile or expanded")
    contrast = contrast.one()
    over, sides = contrast.over, [str(contrast.reference), str(contrast.targets[0])]
    frame = _input.eager(judgments, [between, over, value, *ci.over, "case_id"], where="judgments")
    frame = frame.filter(pl.col(over).cast(pl.String).is_in(sides), pl.col(between).is_not_null())
    values = sorted(frame[between].unique().to_list())
    if len(values) < 2:
        raise SchemaError(
            f"one value of {between!r}: nothing to compare", got=values, remedy="keep two or more"
        )
    key = [c for c in ("dataset", "case_id", "node_id", "model", over, "sample") if c in frame.columns]
    shared = frame.filter(pl.col(between).n_unique().over(key) == len(values))
    if shared.is_empty():
        raise SchemaError(f"no decision has all values of {between!r}", got=values)
    (c,) = _compared(shared, replace(contrast, on=None), [between], average, ci, pooling=pooling, value=value)
    at = {pair.head[between]: (pair.target, pair.reference) for pair in c.pairs}
    first = values[0]
    rows = [_contrast(c, at[v], ci) | {"between": str(v), "quantity": "gap"} for v in values]
    for v in values[1:]:
        of = {"between": str(v), "quantity": "difference of gaps", "against": str(first)}
        rows.append(_contrast(c, (*at[v], *at[first]), ci) | of)
    how = f"{sides[1]} minus {sides[0]}, {c.how}, paired"
    return lay_out([row | {"method": how} for row in rows], _GAPS)


_GAPS = schema(
    "between quantity against estimate low high level n_scored n_total n_missing n_cases n_clusters method status"
)


def _contrast(c: _Compared, cells: tuple[int | None, ...], ci: Bootstrap) -> dict[str, Any]:
    """Return the difference of two cells, or of two differences."""
    known = c.known(cells)
    if c.draws is None or not known:
        return {"status": "nothing scored on one side", "level": ci.level}
    signs = np.array([1.0, -1.0, -1.0, 1.0][: len(cells)])
    value, row = float(signs @ c.estimate[known]), c.rates.counts(known, shared=True)
    low, high, note = settled(value, signs @ c.draws[known], row["n_clusters"], ci)
    return row | {"estimate": value, "low": low, "high": high, "level": ci.level, "status": note or "ok"}
