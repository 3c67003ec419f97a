"""Recall corrected for the judge's errors, from a subset that people labelled too or from pairs elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from icgkit.errors import SchemaError
from icgkit.metrics import _input, _rates, _resample, _sums
from icgkit.metrics._input import Flags, Floats, Ints
from icgkit.metrics._output import grouped, lay_out, schema
from icgkit.metrics._rates import Average, Pooling, few
from icgkit.metrics.contrasts import CONTRAST, Contrast, finite
from icgkit.metrics.intervals import BOOTSTRAP, Bootstrap, needed, t_quantile

METHODS = ("judge", "labels", "rogan_gladen", "prediction_powered", "prediction_powered_tuned")
LEAST = 10
"""Below this number of labelled clusters a clustered error is itself too uncertain to lean on."""


def corrected(
    judgments: _input.IntoFrame,
    labels: _input.IntoFrame,
    *,
    by: str | Sequence[str] = ("model", "condition"),
    average: Average = "micro",
    pooling: Literal["pooled"] | None = None,
    ci: Bootstrap = BOOTSTRAP,
) -> pl.DataFrame:
    """Estimate recall as people would judge it, from many judge verdicts and few human ones.

    Parameters
    ----------
    judgments : frame
        The judge's verdicts: `case_id`, `found` (null is missing), the columns `by`, and what tells
        decisions apart (`node_id`, `model`, `condition`, `sample` ..., as far as there).
    labels : frame
        The decisions that people judged too (schema `gold`): the same columns and `gold`. It has to be a
        random sample of the decisions within each cell; labels may lie anywhere inside the cases.
    by : str or sequence of str
        Columns that make the cells; each cell has error rates of its own.
    average : {"micro", "macro"}
        Share of decisions, or mean over cases of the share of a case's decisions.
    pooling : {"pooled"}, optional
        Must be given when `by` does not name the models: decisions of all of them in one cell.
    ci : Bootstrap
        Its `cluster` (one or two crossed columns) and `level` for all estimators, its draws for
        Rogan-Gladen.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `estimator`: "judge" (verdicts as they are), "labels" (human subset alone),
        "rogan_gladen", "prediction_powered", "prediction_powered_tuned"; `estimate` (0 to 1), `low`,
        `high`, `level`, `se`, `width`, `width_ratio` (to the judge's own interval: the price of being
        right), `sensitivity`, `specificity`, `tuning`, `n_scored`, `n_total`, `n_missing`, `n_labelled`
        (decisions), `n_cases`, `n_clusters` (with a label; for the judge with a verdict), `method`,
        `status`.

    Raises
    ------
    SchemaError
        For labels that are no decision of the judgments or contradict their verdict, decisions that
        stand twice, and several judges, datasets, conditions or models that `by` does not name.

    Notes
    -----
    Rogan-Gladen: (p + Sp - 1) / (Se + Sp - 1), cut to 0..1; undefined when Se + Sp <= 1.
    Prediction-powered: t mean_U(f) + mean_L(y - t f) over unlabelled and labelled decisions, with t = 1 or
    the t that minimises the variance, cov(y, f) / (var f (1 + n / N)), cut to 0..1. Means are weighted by
    v = 1 (micro) or v = N / (C n_c) with n_c decisions of the case among C cases (macro). The error adds
    up t v (f - mean) / V_U + v (y - t f - mean) / V_L within a cluster before it is squared: labelled and
    unlabelled decisions of a cluster hang together. Crossed clusters: the sum of both less that of their
    common parts. The interval is that of Student's t with C - 1 degrees of freedom, C clusters.
    Sources: Rogan and Gladen (1978); Angelopoulos, Bates et al. (2023); Angelopoulos, Duchi and Zrnic (2023,
    section 6; tuning); Liang and Zeger (1986, section 2; sums within clusters); Cameron, Gelbach and Miller
    (2011; crossed).

    Examples
    --------
    >>> import polars as pl
    >>> judged = pl.DataFrame({"case_id": [f"c{i}" for i in range(200)], "found": [i % 2 == 0 for i in range(200)]})
    >>> labelled = judged.head(40).with_columns(gold=pl.Series([i % 2 == 0 or i % 10 == 1 for i in range(40)]))
    >>> got = corrected(judged, labelled, by=(), ci=Bootstrap(200))
    >>> got.select("estimator", pl.col("estimate").round(3)).rows()[2]
    ('rogan_gladen', 0.6)
    """
    by, ci = _input.columns_of(by), needed(ci)
    every = _read(judgments, labels, by, pooling, average, ci)
    cells, atoms = _cells(every, by, ci)
    rows = [key | row for key, cell in cells for row in _report({"": cell}, atoms, ci)]
    return lay_out(rows, {b: every.schema[b] for b in by} | _CORRECTED, by)


def corrected_gap(
    judgments: _input.IntoFrame,
    labels: _input.IntoFrame,
    contrast: Contrast = CONTRAST,
    *,
    by: str | Sequence[str] = ("model",),
    average: Average = "micro",
    pooling: Literal["pooled"] | None = None,
    ci: Bootstrap = BOOTSTRAP,
) -> pl.DataFrame:
    """Estimate the difference of two conditions as people would judge it: `target` minus `reference`.

    Parameters
    ----------
    judgments, labels, by, average, pooling, ci
        As in `corrected`; `by` must not name the column that is compared. Both sides need labels.
    contrast : Contrast
        The two values that are compared; "oracle" with "direct" by default.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `reference`, `target` and those of `corrected`; `estimate` is a difference, -1 to
        1; `sensitivity`, `specificity` and `tuning` are null (each side has its own).

    Notes
    -----
    Difference of the two corrected recalls; errors add up both sides within a cluster first, so that the
    pairing is kept, and Rogan-Gladen draws both sides together. Sources: `corrected`.

    Examples
    --------
    >>> import polars as pl
    >>> judged = pl.DataFrame(
    ...     {"case_id": [f"c{i}" for i in range(100)] * 2, "condition": ["direct"] * 100 + ["oracle"] * 100,
    ...      "found": [i % 4 == 0 for i in range(100)] + [i % 4 != 0 for i in range(100)]})
    >>> labelled = judged.filter(pl.col("case_id").is_in([f"c{i}" for i in range(40)])).with_columns(gold=pl.col("found"))
    >>> got = corrected_gap(judged, labelled, by=(), ci=Bootstrap(200))
    >>> got.filter(estimator="prediction_powered")["estimate"].round(3).to_list()
    [0.5]
    """
    by, ci = _input.columns_of(by), needed(ci)
    contrast = contrast.one()
    contrast.outside(by)
    over = contrast.over
    frame, reference, (target,) = contrast.sides(_input.eager(judgments, [over], where="judgments"))
    wanted = pl.col(over).cast(pl.String).is_in([reference, target])
    gold = _input.eager(labels, [over], where="labels").filter(wanted)
    every = _read(frame.filter(wanted), gold, [*by, over], pooling, average, ci)
    groups: dict[tuple[Any, ...], dict[str, _Cell]] = {}
    cells, atoms = _cells(every, [*by, over], ci)
    for key, cell in cells:
        groups.setdefault(tuple(key[b] for b in by), {})[key[over]] = cell
    rows = []
    for values, pair in groups.items():
        head = dict(zip(by, values, strict=True)) | {"reference": reference, "target": target}
        rows += [head | row for row in _report({s: pair.get(s) for s in (reference, target)}, atoms, ci)]
    columns = {b: every.schema[b] for b in by} | schema("reference target") | _CORRECTED
    return lay_out(rows, columns, by)


_CORRECTED = schema(
    "estimator estimate low high level se width width_ratio sensitivity specificity tuning n_scored n_total n_missing "
    "n_labelled n_cases n_clusters method status"
)


def _read(
    judgments: _input.IntoFrame, labels: _input.IntoFrame, by: list[str], pooling: str | None, average: str,
    ci: Bootstrap,
) -> pl.DataFrame:  # fmt: skip
    """Check both frames; return decisions with `_f`, `_y` (null where not labelled) and weight `_v`."""
    _input.one_of("average", average, _rates.AVERAGES)
    every = _input.eager(judgments, [*by, "found", "case_id", *ci.over], where="judgments")
    some = _input.eager(labels, [*by, "found", "gold", "case_id"], where="labels")
    for frame, where in ((every, "judgments"), (some, "labels")):
        _rates.check_apart(frame, by, pooling, where=where, allowed=("pooled",))
    _input.no_null(
        every, list(dict.fromkeys(["case_id", *ci.over])), where="judgments", what="case or cluster"
    )
    key = [c for c in dict.fromkeys([*_input.KEY, *by]) if c in every.columns and c in some.columns]
    for frame, where in ((every, "judgments"), (some, "labels")):
        twice = frame.select(key).filter(pl.struct(key).is_duplicated())
        if twice.height:
            raise SchemaError(
                f"{where}: {twice.height} rows share {', '.join(key)}", got=twice.row(0),
                allowed="one row a decision", remedy="drop repetitions, or keep the column that tells them apart",
            )  # fmt: skip
    every = every.with_columns(_input.binary(every, "found", where="judgments").cast(pl.Float64).alias("_f"))
    some = some.select(
        *key,
        _input.binary(some, "found", where="labels").cast(pl.Float64).alias("_g"),
        _input.binary(some, "gold", where="labels").cast(pl.Float64).alias("_y"),
    ).with_columns(_is=pl.lit(True))
    joined = every.join(some, on=key, how="left", nulls_equal=True, maintain_order="left")
    if (strange := some.height - int(joined["_is"].count())) > 0:
        first = some.join(every, on=key, how="anti", nulls_equal=True).select(key).row(0, named=True)
        raise SchemaError(
            f"labels: {strange} of {some.height} rows are no decision of the judgments", got=first,
            remedy="filter both frames to the same runs; compare the names of cases, nodes, models and conditions",
        )  # fmt: skip
    against = joined.filter(pl.col("_f") != pl.col("_g"))
    if against.height:
        raise SchemaError(
            f"labels: {against.height} rows have another 'found' than the judgments",
            got=against.select(key).row(0, named=True),
            remedy="take the judge's verdict from the judgments; were the labels made for another judge or run?",
        )
    case = [c for c in dict.fromkeys([*by, "dataset", "case_id"]) if c in joined.columns]
    scored = pl.col("_f").is_not_null()
    weight = pl.lit(1.0) if average == "micro" else 1.0 / scored.sum().over(case)
    return joined.with_columns(weight.cast(pl.Float64).alias("_v"))


@dataclass(frozen=True)
class _Cell:
    """Decisions of one cell, in the order of the frame, and where they lie."""

    f: Floats
    y: Floats
    v: Floats
    atom: Ints
    n_total: int
    n_cases: int

    @property
    def labelled(self) -> Flags:
        """Decisions with both verdicts."""
        return np.isfinite(self.y)


def _cells(
    every: pl.DataFrame, by: list[str], ci: Bootstrap
) -> tuple[list[tuple[dict[str, Any], _Cell]], pl.DataFrame]:
    """Split decisions into cells; return them and the atoms (what every cluster column keeps whole)."""
    atoms, code = _sums.coded(every, _sums.atom_columns(every, ci.over))
    case = [c for c in ("dataset", "case_id") if c in every.columns]
    out = []
    for key, part in grouped(every.with_columns(_a=code), by):
        whole = part.filter(pl.col("_f").is_not_null())
        cell = _Cell(
            whole["_f"].to_numpy(), whole["_y"].fill_null(float("nan")).to_numpy(), whole["_v"].to_numpy(),
            whole["_a"].to_numpy(), part.height, whole.select(case).n_unique(),
        )  # fmt: skip
        out.append((key, cell))
    return out, atoms


class _Part(NamedTuple):
    """An estimate, and how much each atom moves it."""

    mean: float
    moves: Floats


def _added(code: Ints, values: Floats, size: int) -> Floats:
    return np.bincount(code, weights=values, minlength=size).astype(np.float64)


def _weighted(x: Floats, v: Floats, atom: Ints, n_atoms: int) -> _Part:
    total = v.sum()
    if not total > 0:
        return _Part(np.nan, np.zeros(n_atoms))
    mean = float((v * x).sum() / total)
    return _Part(mean, _added(atom, v * (x - mean) / total, n_atoms))


def _parts(cell: _Cell, n_atoms: int) -> dict[str, tuple[_Part, float | None]]:
    """Estimate with every method whose error adds up; with the tuning."""
    on = cell.labelled
    f, y, v, atom = cell.f[on], cell.y[on], cell.v[on], cell.atom[on]
    out: dict[str, tuple[_Part, float | None]] = {
        "judge": (_weighted(cell.f, cell.v, cell.atom, n_atoms), None),
        "labels": (_weighted(y, v, atom, n_atoms), None),
    }
    rest = _weighted(cell.f[~on], cell.v[~on], cell.atom[~on], n_atoms)
    for name, t in zip(METHODS[3:], (1.0, _tuning(cell)), strict=True):
        right = _weighted(y - t * f, v, atom, n_atoms)
        out[name] = _Part(t * rest.mean + right.mean, t * rest.moves + right.moves), t
    return out


def _tuning(cell: _Cell) -> float:
    """Return the weight of the judge that makes the error least, decisions taken as independent."""
    on = cell.labelled
    f, y = cell.f[on], cell.y[on]
    spread = float(cell.f.var(ddof=1)) if len(cell.f) > 1 else 0.0
    if spread <= 0 or len(f) < 2 or on.all():
        return 0.0
    together = float(((f - f.mean()) * (y - y.mean())).mean())
    return float(np.clip(together / (spread * (1 + len(f) / (~on).sum())), 0, 1))


def _variance(moves: Floats, codes: Sequence[Ints], used: Flags) -> float:
    """Return the variance from sums within clusters; of crossed ones less that of their common parts."""
    sizes = [len(np.unique(code[used])) for code in codes]
    squares = [float(m.item()) for m in _sums.squares(moves[:, None], codes)]
    own = [q * (n / (n - 1) if n > 1 else np.nan) for q, n in zip(squares, sizes, strict=False)]
    both = sum(own) - sum(squares[len(codes) :])
    return both if len(codes) == 1 or both > 0 else max(own)


def _report(cells: dict[str, _Cell | None], atoms: pl.DataFrame, ci: Bootstrap) -> list[dict[str, Any]]:
    """Lay out one row an estimator: of a cell, or of the last minus the first of two."""
    have = [c for c in cells.values() if c is not None]
    signs = [1.0] if len(cells) == 1 else [-1.0, 1.0]
    lowest = 0.0 if len(cells) == 1 else -1.0
    base = {
        "level": ci.level, "n_scored": sum(len(c.f) for c in have), "n_total": sum(c.n_total for c in have),
        "n_labelled": sum(int(c.labelled.sum()) for c in have),
        "n_cases": max((c.n_cases for c in have), default=0),
    }  # fmt: skip
    base["n_missing"] = base["n_total"] - base["n_scored"]
    rows: dict[str, dict[str, Any]] = {m: base | {"estimator": m} for m in METHODS}
    if len(have) < len(cells) or not all(len(c.f) for c in have):
        return [row | {"status": "nothing scored"} for row in rows.values()]
    codes = _sums.atom_codes(atoms, ci.over)
    parts = [_parts(c, atoms.height) for c in have]
    every = np.zeros(atoms.height, dtype=bool)
    gold = every.copy()
    for c in have:
        every[c.atom] = True
        gold[c.atom[c.labelled]] = True
    labelled = min(len(np.unique(code[gold])) for code in codes)
    for name, row in rows.items():
        if name != "judge" and labelled < 2:
            row |= {"status": f"{labelled} labelled clusters: too few", "n_clusters": labelled}
        elif name == "rogan_gladen":
            _rogan_gladen(row, have, signs, atoms, labelled, ci)
        elif name in METHODS[3:] and any(c.labelled.all() for c in have):
            row |= {"status": "every decision is labelled: use the labels", "n_clusters": labelled}
        else:
            mean = sum(s * p[name][0].mean for s, p in zip(signs, parts, strict=True))
            moved = [s * p[name][0].moves for s, p in zip(signs, parts, strict=True)]
            variance = _variance(np.sum(moved, axis=0), codes, every)
            clusters = min(len(np.unique(code[every if name == "judge" else gold])) for code in codes)
            if len(cells) == 1:
                row["tuning"] = parts[0][name][1]
            _student(row, mean, variance, clusters, lowest, ci)
    naive = rows["judge"].get("width")
    for row in rows.values():
        if row.get("width") is not None and naive:
            row["width_ratio"] = row["width"] / naive
    return list(rows.values())


def _student(
    row: dict[str, Any], mean: float, variance: float, clusters: int, lowest: float, ci: Bootstrap
) -> None:
    if not np.isfinite(mean):
        row |= {"status": "nothing labelled on one side", "n_clusters": clusters}
        return
    row |= {
        "estimate": min(1.0, max(lowest, mean)), "status": "ok", "n_clusters": clusters,
        "method": f"Student's t, errors clustered by {' x '.join(ci.over)}",
    }  # fmt: skip
    if clusters < 2 or not np.isfinite(variance):
        row["status"] = "one cluster: no interval"
    elif variance <= 1e-18:
        row["status"] = "constant: no interval"
    else:
        half = t_quantile((1 + ci.level) / 2, clusters - 1) * variance**0.5
        row |= {
            "low": max(lowest, min(mean - half, 1.0)),
            "high": min(1.0, max(mean + half, lowest)),
            "se": variance**0.5,
            "width": 2 * half,
        }
        if clusters < LEAST:
            row["status"] = f"{clusters} clusters: the error is itself uncertain"
    if not lowest <= mean <= 1:
        row["status"] = f"estimate {mean:.3f} cut to {lowest:.0f}..1"


def _rogan_gladen(
    row: dict[str, Any],
    cells: list[_Cell],
    signs: list[float],
    atoms: pl.DataFrame,
    labelled: int,
    ci: Bootstrap,
) -> None:
    """Correct by sensitivity and specificity; all cells are drawn together."""
    blocks = []
    for c in cells:
        on = c.labelled
        f, y = c.f[on], c.y[on]
        add = [(c.atom, c.v), (c.atom, c.v * c.f)]
        add += [(c.atom[on], x) for x in (np.ones_like(f), f, y, f * y)]
        blocks += [_added(a, w, atoms.height) for a, w in add]
    sums = np.stack(blocks)

    def value(total: Floats) -> Floats:
        each = total.reshape(len(cells), 6, -1)
        found = [np.clip(_corrected(x)[0], 0, 1) for x in each]
        return np.asarray(sum(s * f for s, f in zip(signs, found, strict=True)))[None, :]

    pieces = [_corrected(x) for x in sums.sum(axis=1, keepdims=True).reshape(len(cells), 6, 1)]
    row["method"] = f"Rogan-Gladen, {ci.words()}"
    row["n_clusters"] = labelled
    raw = [float(p[0][0]) for p in pieces]
    if len(cells) == 1:
        row |= {n: finite(v[0]) for n, v in zip(("sensitivity", "specificity"), pieces[0][1:], strict=True)}
    if not np.isfinite(raw).all():
        one = any(not np.isfinite(v[0]) for p in pieces for v in p[1:])
        row["status"] = (
            "labels have one class only" if one else "sensitivity + specificity <= 1: the judge tells nothing"
        )
        return
    estimate = float(value(sums.sum(axis=1, keepdims=True))[0, 0])
    row |= {"estimate": estimate, "status": "ok"}
    got = _resample.interval(value, sums, atoms, ci)
    low, high = (float(end[0]) for end in _resample.held(np.array([estimate]), *got[:3], ci))
    row |= {"low": low, "high": high, "width": high - low, "status": few(labelled, ci) or "ok"}
    if not low < high:
        row |= dict.fromkeys(["low", "high", "width"])
        row["status"] = f"{got.undefined[0]} of {ci.n} draws undefined: no interval"
    if any(not 0 <= r <= 1 for r in raw):
        row["status"] = "estimate " + " and ".join(f"{r:.3f}" for r in raw) + " cut to 0..1"


def _corrected(sums: Floats) -> tuple[Floats, Floats, Floats]:
    pn, pf, n, f, y, fy = sums
    p, se = _resample.ratio(pf, pn), _resample.ratio(fy, y)
    sp = _resample.ratio(n - y - f + fy, n - y)
    return _resample.ratio(p + sp - 1, se + sp - 1), se, sp


def corrected_outside(
    judgments: _input.IntoFrame,
    pairs: _input.IntoFrame,
    contrast: Contrast = CONTRAST,
    *,
    by: str | Sequence[str] = (),
    average: Average = "macro",
    pooling: Pooling = None,
    ci: Bootstrap = BOOTSTRAP,
) -> pl.DataFrame:
    """Correct recall and gap for a judge whose errors were measured elsewhere (external validation).

    `corrected` needs labels of these very decisions. Where there are only labelled pairs from other
    responses, sensitivity and specificity can be carried over, on the assumption that the judge errs
    alike in every condition and here as there. Nothing in the data can check that.

    Parameters
    ----------
    judgments : frame
        The judge's verdicts, as in `recall`.
    pairs : frame
        Labelled pairs of the same judge: `found` (the judge), `gold` (a person), both Boolean.
    contrast : Contrast
        Its column makes rows, its reference is what gaps are taken from (of its targets, where named).
    by, average, pooling, ci
        As in `differences`.

    Returns
    -------
    polars.DataFrame
        The columns `by`, `over`, `quantity` ("recall", "gap"), `judged` (as the judge says), `estimate`
        (corrected), `low`, `high`, `level`, `sensitivity`, `specificity`, `n_labelled`, `n_scored`,
        `n_clusters`, `method`, `status`. Recall is cut to 0..1, a gap to -1..1.

    Raises
    ------
    SchemaError
        If the pairs have no positive or no negative label.

    Notes
    -----
    Rogan-Gladen, (p + Sp - 1) / (Se + Sp - 1); the gap is the judged gap over (Se + Sp - 1). The interval
    takes percentiles of joint draws: p by the cluster bootstrap, Se and Sp from Beta(x + 1/2, n - x + 1/2)
    for x right verdicts of n.
    Sources: Rogan and Gladen (1978); Lang and Reiczigel (2014; uncertain error rates).

    Examples
    --------
    >>> import polars as pl
    >>> judged = pl.DataFrame({"case_id": [f"c{i}" for i in range(100)], "condition": "direct", "found": [i < 30 for i in range(100)]})
    >>> pairs = pl.DataFrame({"found": [True] * 9 + [False] * 11, "gold": [True] * 10 + [False] * 10})
    >>> corrected_outside(judged, pairs, ci=Bootstrap(200))["estimate"].round(3).to_list()
    [0.333]
    """
    by, ci = _input.columns_of(by), needed(ci)
    over = contrast.over
    contrast.outside(by)
    labels = _input.eager(pairs, ["found", "gold"], where="pairs")
    labels = labels.select(
        *(_input.binary(labels, c, where="pairs").alias(c) for c in ("found", "gold"))
    ).drop_nulls()
    yes, no = labels.filter("gold"), labels.filter(~pl.col("gold"))
    if yes.is_empty() or no.is_empty():
        raise SchemaError(
            "pairs hold one class only", got={"gold": yes.height, "not": no.height}, allowed="both"
        )
    right = np.array([yes["found"].sum(), (~no["found"]).sum()], dtype=np.float64)
    n = np.array([yes.height, no.height], dtype=np.float64)
    rng = np.random.default_rng([ci.seed, 17])
    se, sp = (rng.beta(r + 0.5, m - r + 0.5, size=ci.n) for r, m in zip(right, n, strict=True))
    point_se, point_sp = right / n
    frame = _input.into(judgments, where="judgments")
    _input.require(frame, [over], where="judgments")
    wanted = None if contrast.targets is None else _input.columns_of(contrast.targets)
    rates = _rates.prepare(frame, value="found", by=[*by, over], pooling=pooling, cluster=ci.over)
    p, drawn = rates.estimate(average), rates.draws([average], ci)[average]
    gain, gains = point_se + point_sp - 1, np.where(se + sp > 1, se + sp - 1, np.nan)
    base = {"sensitivity": point_se, "specificity": point_sp, "n_labelled": labels.height, "level": ci.level,
            "method": f"Rogan-Gladen, error rates of {labels.height} pairs from elsewhere, {average}, {ci.words()}"}  # fmt: skip
    cells = list(enumerate(rates.cells.iter_rows(named=True)))
    first = {tuple(r[b] for b in by): i for i, r in cells if str(r[over]) == str(contrast.reference)}
    rows: list[dict[str, Any]] = []
    for i, cell in cells:
        r = first.get(tuple(cell[b] for b in by))
        todo = [("recall", p[i], (p[i] + point_sp - 1) / gain, np.clip((drawn[i] + sp - 1) / gains, 0, 1))]
        if r is not None and r != i and (wanted is None or str(cell[over]) in wanted):
            todo.append(
                ("gap", p[i] - p[r], (p[i] - p[r]) / gain, np.clip((drawn[i] - drawn[r]) / gains, -1, 1))
            )
        for quantity, judged, value, draws in todo:
            row = base | cell | {"quantity": quantity} | rates.counts([i])
            if gain <= 0 or not np.isfinite(judged):
                useless = "sensitivity + specificity <= 1: the judge tells nothing"
                rows.append(row | {"status": useless if gain <= 0 else "nothing scored"})
                continue
            low, high, undefined = _resample.percentile(np.array(draws)[None, :], ci.level)
            least = 0 if quantity == "recall" else -1
            cut = float(np.clip(value, least, 1))
            notes = [
                few(row["n_clusters"], ci),
                "" if cut == value else f"estimate {value:.3f} cut to {least}..1",
            ]
            if undefined[0] > ci.n // 20:
                notes.append("the pairs leave open whether the judge tells anything: no interval")
            else:
                row |= {"low": min(float(low[0]), cut), "high": max(float(high[0]), cut)}
            rows.append(row | {"judged": float(judged), "estimate": cut, "status": _rates.join_notes(notes)})
    return lay_out(rows, {c: rates.cells.schema[c] for c in (*by, over)} | _OUTSIDE)


_OUTSIDE = schema(
    "quantity judged estimate low high level sensitivity specificity n_labelled n_scored n_clusters method status"
)
