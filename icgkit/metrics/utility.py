"""Which condition is best when a missed constraint and a spurious edit step have a price."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import polars as pl

from icgkit.errors import SchemaError
from icgkit.metrics import _input, _rates, _resample, _sums
from icgkit.metrics._output import grouped, lay_out, schema
from icgkit.metrics._rates import few
from icgkit.metrics.contrasts import finite
from icgkit.metrics.intervals import BOOTSTRAP, Bootstrap, clusters_of, drawn, level_of

RATIOS = tuple(float(r) for r in np.round(np.geomspace(0.1, 10, 41), 6))


def utility(
    judgments: _input.IntoFrame,
    verdicts: _input.IntoFrame,
    replies: _input.IntoFrame | None = None,
    *,
    by: str | Sequence[str] = ("model",),
    over: str = "condition",
    ratios: Sequence[float] = RATIOS,
    pooling: Literal["pooled"] | None = None,
    ci: Bootstrap | None = BOOTSTRAP,
) -> pl.DataFrame:
    """Compute the cost per response of each condition, over the price of a missed constraint.

    Parameters
    ----------
    judgments : frame
        Recall judgments (schema `judgments`): `case_id`, `found`, the columns `over` and `by`.
    verdicts : frame
        Precision verdicts of the same responses (schema `precision`): `valid` and the same columns. Only
        the values of `over` that both frames have are compared.
    replies : frame, optional
        One row a response that was read (`replies` of `icgkit.prompts.proposals.extract_proposals`): its key and `n_items`.
        It tells a response that proposed nothing (`n_items` 0 and `status` "none", where the frame has
        a status: no spurious step) from one whose proposals were not judged. Without it, a response that
        has no verdict is left out.
    by : str or sequence of str
        Columns that make separate curves.
    over : str
        The column whose values compete.
    ratios : sequence of float
        Prices of a missed constraint, in spurious steps (above 0).
    pooling : {"pooled"}, optional
        Must be given when `by` does not name the models: responses of all of them in one curve.
    ci : Bootstrap or None
        The same resamples for all conditions and prices.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `over`, `ratio`, `estimate` (cost per response, in spurious steps, 0 or more),
        `low`, `high`, `level`, `missed` and `spurious` (their mean numbers per response), `best` (lowest
        cost at this ratio), `best_share` (share of resamples in which it is), `n_scored` (responses with
        verdicts of both kinds), `n_total` (judged for recall), `n_missing` (left out), `n_verdicts_missing`
        (null verdicts in those that are scored), `n_cases`, `n_clusters`, `method`, `status`.

    Raises
    ------
    SchemaError
        For several judges, datasets or models that `by` does not name, and rows that stand twice.

    Notes
    -----
    cost(r) = r * missed + spurious per response, with missed = nodes x share not found among its scored
    nodes, spurious = proposals x share judged invalid among its judged proposals: a null verdict costs as
    much as the others of its response, not nothing. Two conditions cost the same at r = difference of
    spurious over difference of missed. It is the loss that decision curves of net benefit are linear in.
    Source: Vickers and Elkin (2006).

    Examples
    --------
    >>> import polars as pl
    >>> judged = pl.DataFrame({"case_id": list("abab"), "condition": list("xxyy"), "found": [1, 0, 1, 1]})
    >>> proposed = pl.DataFrame({"case_id": list("aab"), "condition": list("xyy"), "valid": [1, 0, 0]})
    >>> read = pl.DataFrame({"case_id": ["b"], "condition": ["x"], "n_items": [0]})
    >>> got = utility(judged, proposed, read, by=(), ratios=[1, 3], ci=Bootstrap(100))
    >>> got.filter(pl.col("best")).select("ratio", "condition", "estimate").rows()
    [(1.0, 'x', 0.5), (3.0, 'y', 1.0)]
    """
    by, ci = _input.columns_of(by), drawn(ci)
    keys, cluster = [*by, over], clusters_of(ci)
    prices = _prices(ratios)
    left = _input.eager(judgments, [*keys, "found", "case_id", *cluster], where="judgments")
    right = _input.eager(verdicts, [*keys, "valid", "case_id"], where="precision verdicts")
    for frame, where in ((left, "judgments"), (right, "precision verdicts")):
        _rates.check_apart(frame, keys, pooling, where=where, allowed=("pooled",))
        _input.no_twice(frame, keys, where=where)
        _input.no_null(
            frame, ["case_id", *(cluster if frame is left else ())], where=where, what="case or cluster"
        )
    shared = sorted(set(left[over].unique()) & set(right[over].unique()))
    if not shared:
        raise SchemaError(
            f"no {over} has both judgments and precision verdicts", got=left[over].unique().to_list()
        )
    unit = list(dict.fromkeys([*keys, *(c for c in _RESPONSE if c in left.columns and c in right.columns)]))
    missed = _shares(left.filter(pl.col(over).is_in(shared)), unit, "found", cluster, "missed")
    spurious = _shares(right, unit, "valid", (), "spurious")
    if replies is not None:
        spurious = pl.concat([spurious, _nothing(replies, unit, spurious)])
    joined = missed.join(spurious, on=unit, how="left", nulls_equal=True)
    used = pl.col("missed").is_not_null() & pl.col("spurious").is_not_null()
    joined = joined.with_columns(used.alias("_used"), pl.col("lost_spurious").fill_null(0))
    ordered = joined.sort(by, nulls_last=True) if by else joined
    rows = [row for key, part in grouped(ordered, by) for row in _curve(part, key, over, prices, ci)]
    return lay_out(rows, {c: left.schema[c] for c in keys} | _COLUMNS)


_RESPONSE = ("dataset", "case_id", "model", "sample")
_COLUMNS = schema(
    "ratio estimate low high level missed spurious best best_share n_scored n_total n_missing n_verdicts_missing n_cases "
    "n_clusters method status"
) | {"best": pl.Boolean}


def _prices(ratios: Sequence[float]) -> list[float]:
    prices = [float(r) for r in ratios]
    if not prices or not all(np.isfinite(r) and r > 0 for r in prices):
        raise SchemaError("ratios", got=prices[:5], allowed="numbers above 0")
    return prices


def _shares(
    frame: pl.DataFrame, unit: list[str], value: str, cluster: Sequence[str], name: str
) -> pl.DataFrame:
    """Return, response by response, rows times the share of false ones among the scored; null if none is scored."""
    good = _input.binary(frame, value)
    share = pl.len() * (~good).sum() / pl.when(good.count() > 0).then(good.count())
    lost = good.is_null().sum().cast(pl.Int64).alias(f"lost_{name}")
    shares = frame.group_by(unit).agg(share.alias(name), lost)
    held = _sums.with_columns_of(frame, shares.select(unit), cluster, "response")
    return held.with_columns(shares[name], shares[f"lost_{name}"])


def _nothing(replies: _input.IntoFrame, unit: list[str], spurious: pl.DataFrame) -> pl.DataFrame:
    """Return the responses that were read and proposed nothing."""
    got = _input.eager(replies, [*unit, "n_items"], where="replies")
    none = got.filter(pl.col("n_items") == 0)
    if "status" in got.columns:
        none = none.filter(pl.col("status").is_in(["none", "ok"]))
    none = none.select(unit).unique().cast({c: spurious.schema[c] for c in unit})
    none = none.join(spurious, on=unit, how="anti", nulls_equal=True)
    return none.with_columns(spurious=pl.lit(0.0), lost_spurious=pl.lit(0, pl.Int64))


def _curve(
    part: pl.DataFrame, key: dict[str, Any], over: str, prices: list[float], ci: Bootstrap | None
) -> list[dict[str, Any]]:
    names = sorted(part[over].unique().to_list())
    used = part.filter("_used")
    cluster = clusters_of(ci)
    atoms, u = _sums.coded(used, _sums.atom_columns(part, cluster))
    sums = np.zeros((len(names), 3, atoms.height))
    k = np.array([names.index(v) for v in used[over]], dtype=np.int64)
    for i, column in enumerate((used["missed"], used["spurious"], pl.Series([1.0] * used.height))):
        np.add.at(sums[:, i], (k, u), column.cast(pl.Float64).to_numpy())
    n_clusters = [
        min((len(np.unique(c[sums[i, 2] > 0])) for c in _sums.atom_codes(atoms, cluster)), default=0)
        for i in range(len(names))
    ]

    def costs(flat: Any) -> Any:
        total = flat.reshape(len(names), 3, -1)
        a, b = (_resample.ratio(total[:, i], total[:, 2]) for i in (0, 1))
        return np.stack([r * a + b for r in prices]).reshape(len(prices) * len(names), -1)

    flat = sums.reshape(len(names) * 3, atoms.height)
    total = sums.sum(axis=2)
    rate = _resample.ratio(total[:, :2], np.repeat(total[:, 2:], 2, axis=1))
    cost = costs(flat.sum(axis=1, keepdims=True)).reshape(len(prices), len(names))
    low = high = share = np.full(cost.shape, np.nan)
    if ci is not None and atoms.height:
        draws = _resample.draws(costs, flat, atoms, ci)
        spread = np.repeat([n_clusters], len(prices), axis=0).ravel()
        without = lambda: costs(flat.sum(axis=1, keepdims=True) - _resample.by_first(flat, atoms, ci))  # noqa: E731
        whole = np.where(np.isnan(draws), np.inf, draws).reshape(len(prices), len(names), -1)
        winner = whole.argmin(axis=1)
        share = np.stack([(winner == i).mean(axis=1) for i in range(len(names))], axis=1)
        low, high, _ = _resample.ends(draws, ci, spread, cost.ravel(), without)
        low, high = low.reshape(cost.shape), high.reshape(cost.shape)
    counts = _counts(part, over)
    rows = []
    for p, r in enumerate(prices):
        alive = np.where(np.isfinite(cost[p]), cost[p], np.inf)
        for i, name in enumerate(names):
            n_scored, n_total, lost, n_cases = counts[name]
            fine = np.isfinite(low[p, i]) and low[p, i] < high[p, i] and n_clusters[i] > 1
            notes = [f"{n_scored} of {n_total} responses judged for both"] if n_scored < n_total else []
            if not n_scored:
                notes = ["no response judged for both"]
            elif ci is not None:
                notes.append(few(n_clusters[i], ci) if fine else "constant or one cluster: no interval")
            value = float(cost[p, i]) if n_scored else None
            rows.append(
                key | {
                    over: name, "ratio": r, "estimate": value, "level": level_of(ci),
                    "low": min(float(low[p, i]), value) if fine and value is not None else None,
                    "high": max(float(high[p, i]), value) if fine and value is not None else None,
                    "missed": float(rate[i, 0]) if n_scored else None,
                    "spurious": float(rate[i, 1]) if n_scored else None,
                    "best": bool(n_scored and i == alive.argmin()),
                    "best_share": finite(share[p, i]),
                    "n_scored": n_scored, "n_total": n_total, "n_missing": n_total - n_scored,
                    "n_verdicts_missing": lost, "n_cases": n_cases, "n_clusters": n_clusters[i],
                    "method": f"mean per response, {ci.words()}" if ci else "mean per response",
                    "status": _rates.join_notes(notes),
                }
            )  # fmt: skip
    return rows


def _counts(part: pl.DataFrame, over: str) -> dict[Any, tuple[int, int, int, int]]:
    """Return scored and all responses, missing verdicts in scored ones, and cases, by condition."""
    case = [c for c in ("dataset", "case_id") if c in part.columns]
    used = pl.col("_used")
    got = part.group_by(over).agg(
        used.sum(), pl.len(), (pl.col("lost_missed") + pl.col("lost_spurious")).filter(used).sum(),
        pl.struct(case).filter(used).n_unique(),
    )  # fmt: skip
    return {name: (int(a), int(b), int(c), int(d)) for name, a, b, c, d in got.iter_rows()}
