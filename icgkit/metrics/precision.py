"""Rates of other yes/no outcomes: precision of proposals, plan satisfaction, rejection of planted nodes, leakage."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from icgkit.metrics import _input
from icgkit.metrics._rates import Average, Pooling
from icgkit.metrics.intervals import BOOTSTRAP, CI, any_kind, clusters_of
from icgkit.metrics.recall import rated, rated_apart


def precision(
    verdicts: _input.IntoFrame,
    *,
    by: str | Sequence[str] = ("model", "condition"),
    average: Average | Sequence[Average] = "micro",
    pooling: Pooling = None,
    ci: CI = BOOTSTRAP,
    value: str = "valid",
) -> pl.DataFrame:
    """Compute the share of proposed constraints that the judge calls valid.

    Parameters
    ----------
    verdicts : frame
        One row a proposed constraint (schema `precision`).
    by, average, pooling, ci, value
        As in `recall`. Micro is valid proposals over proposals.

    Returns
    -------
    polars.DataFrame
        Columns as in `recall`.

    Notes
    -----
    Micro: sum_c v_c / sum_c n_c with v_c of the n_c judged proposals of case c valid. Macro: mean over
    cases of v_c / n_c; cases without a judged proposal are left out.
    Source: Field and Welsh (2007, section 2).

    Examples
    --------
    >>> import polars as pl
    >>> verdicts = pl.DataFrame({"case_id": ["a", "a", "b"], "valid": [True, False, True]})
    >>> precision(verdicts, by=(), ci=None)["estimate"].round(3).to_list()
    [0.667]
    """
    return rated(verdicts, average, ci, value=value, by=by, pooling=pooling, where="precision verdicts")


def satisfaction(
    plans: _input.IntoFrame,
    *,
    by: str | Sequence[str] = ("model", "condition"),
    pooling: Pooling = None,
    ci: CI = BOOTSTRAP,
    value: str = "satisfied",
) -> pl.DataFrame:
    """Compute the share of selected ground-truth constraints that a plan satisfies (micro).

    Parameters
    ----------
    plans : frame
        One row a selected constraint (schema `plan`).
    by, pooling, ci, value
        As in `recall`.

    Returns
    -------
    polars.DataFrame
        Columns as in `recall`.

    Notes
    -----
    sum_c s_c / sum_c n_c with s_c of the n_c judged constraints of case c satisfied.
    Source: Field and Welsh (2007, section 2).

    Examples
    --------
    >>> import polars as pl
    >>> plans = pl.DataFrame({"case_id": ["a", "a", "b", "c"], "satisfied": [True, False, True, None]})
    >>> satisfaction(plans, by=(), ci=None).select("estimate", "n_missing").row(0)
    (0.6666666666666666, 1)
    """
    return rated(plans, "micro", ci, value=value, by=by, pooling=pooling, where="plans")


def rejection(
    labels: _input.IntoFrame,
    *,
    by: str | Sequence[str] = ("model",),
    pooling: Pooling = None,
    ci: CI = BOOTSTRAP,
) -> pl.DataFrame:
    """Compute how often nodes are called INVALID: the planted false ones, and the true ones (wrongly).

    Parameters
    ----------
    labels : frame
        One row a node shown (schema `adversarial`): `planted`, `valid`.
    by, pooling, ci
        As in `recall`.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `planted` (true: right rejection; false: wrong rejection), and those of
        `recall` (micro).

    Notes
    -----
    Share called INVALID among the planted nodes, sum_c r_c / sum_c n_c (a hit), and among the true ones
    (a false alarm).
    Source: Field and Welsh (2007, section 2).

    Examples
    --------
    >>> import polars as pl
    >>> labels = pl.DataFrame({"case_id": list("aab"), "planted": [True, False, True], "valid": [0, 1, None]})
    >>> rejection(labels, by=(), ci=None).select("planted", "estimate", "n_missing").rows()
    [(False, 0.0, 0), (True, 1.0, 1)]
    """
    where, by = "adversarial labels", [*_input.columns_of(by), "planted"]
    frame = _input.into(labels, [*by, "valid", *clusters_of(any_kind(ci))], where=where)
    _input.require(frame, [*by, "valid"], where=where)
    frame = frame.with_columns(_rejected=~_input.binary(frame, "valid", where=where))
    return rated(frame, "micro", ci, value="_rejected", by=by, pooling=pooling, where=where)


def leakage(
    guesses: _input.IntoFrame, *, by: str | Sequence[str] = ("model", "form"), ci: CI = BOOTSTRAP
) -> pl.DataFrame:
    """Compute what a reason alone gives away: subtype, region, and guesses that cannot be used.

    Parameters
    ----------
    guesses : frame
        One row a guess (schema `leakage`): `subtype_exact` (Boolean) and `region_match` (match,
        partial, none; null is no usable guess).
    by, ci
        As in `recall`.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `measure`, and those of `recall` (micro). Measures: `subtype` (exact),
        `region` (match), `region_partial`, `region_none`, `region_unusable`; the region measures have
        all nodes as denominator, so that they add up to 1.

    Notes
    -----
    sum_c h_c / sum_c n_c, h_c hits among the n_c nodes of case c. Recovered by chance is 1/19 for the
    subtype where every one of 19 is as likely.
    Source: Field and Welsh (2007, section 2).

    Examples
    --------
    >>> import polars as pl
    >>> guesses = pl.DataFrame({"case_id": ["a", "b"], "subtype_exact": [1, None], "region_match": ["match", None]})
    >>> leakage(guesses, by=(), ci=None).select("measure", "estimate").rows()[:2]
    [('subtype', 1.0), ('region', 0.5)]
    """
    by, cluster = _input.columns_of(by), clusters_of(any_kind(ci))
    got = _input.eager(guesses, [*by, "subtype_exact", "region_match", "case_id", *cluster], where="leakage")
    region = pl.col("region_match")
    measures = {
        "subtype": _input.binary(got, "subtype_exact", where="leakage"),
        "region": (region == "match").fill_null(False),
        "region_partial": (region == "partial").fill_null(False),
        "region_none": (region == "none").fill_null(False),
        "region_unusable": region.is_null(),
    }
    return rated_apart(got, measures, "measure", by, ci, where="leakage")
