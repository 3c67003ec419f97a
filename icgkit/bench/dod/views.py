"""Draw-or-Decline: tables for the notebooks: printed rates with the counts behind them, rates of programs apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from icgkit.bench.dod.compare import STANCES, judge_quality, labels_of_errors
from icgkit.bench.dod.files import CATEGORIES
from icgkit.cases.dataset import load_published
from icgkit.metrics.intervals import Bootstrap
from icgkit.report.published import counts

if TYPE_CHECKING:
    import polars as pl

_PUBLIC = tuple(c for c in CATEGORIES if c != "text")
_TOLERANCE = 0.05 + 1e-9
"""Percentage points by which a figure may miss one that is printed with one decimal."""
_WIDE = ("E", "D_strict", "D_lenient", "D_f", "pair")


def shares(rates: pl.DataFrame, *, category: str) -> pl.DataFrame:
    """Lay out our rates on one category in percent.

    Parameters
    ----------
    rates : frame
        `draw_or_decline.rates` by category, model and reminder.
    category : str
        Which category.

    Returns
    -------
    polars.DataFrame
        One row for each model and reminder: `model`, `reminder`, `n` (requests of each kind), `E`, `D_strict`,
        `D_lenient`, `D_f`, `pair` (percent, null where wholly pending), `pending` (judgments).
    """
    import polars as pl

    mine = rates.filter(pl.col("category") == category)
    known = pl.when(pl.col("n_pending") < pl.col("n_total")).then(100 * pl.col("estimate"))
    wide = (
        mine.with_columns(estimate=known)
        .pivot("measure", index=["model", "reminder"], values="estimate", maintain_order=True)
        .join(
            mine.filter(pl.col("measure") != "pair")
            .group_by("model", "reminder")
            .agg(n=pl.col("n_total").max(), pending=pl.col("n_pending").sum()),
            on=["model", "reminder"], maintain_order="left",
        )
    )  # fmt: skip
    missing = [pl.lit(None, pl.Float64).alias(c) for c in _WIDE if c not in wide.columns]
    return wide.with_columns(missing).select("model", "reminder", "n", *_WIDE, "pending")


def sizes() -> dict[str, int]:
    """Return how many requests of each kind stand behind a printed rate: of a category, of six, and "overall"."""
    facts = dict(load_published("dod_facts").select("id", "value").iter_rows())
    pairs = int(facts["pairs"])
    each = pairs // len(_PUBLIC)
    return dict.fromkeys(_PUBLIC, each) | {"other six": pairs - each, "overall": pairs}


def counted(level: float = 0.95) -> pl.DataFrame:
    """Turn the printed rates into counts, with exact intervals (see `published.counts`).

    An overall rate is the sum over its seven categories where these are printed and each is one count;
    else it is what the rate itself can stand for.

    Returns
    -------
    polars.DataFrame
        The columns of `data/published/dod.csv`, and `n`, `k` (null where several counts or none fit), `k_low`,
        `k_high` (least and greatest count that fits, null where none does), `low`, `high` (Clopper-Pearson
        interval, percent, from the least to the greatest), `from` ("categories" or "rate").
    """
    import polars as pl

    rows = load_published("dod").with_columns(pl.col("percent").cast(pl.Float64))
    of = sizes()
    found = []
    for row in rows.iter_rows(named=True):
        n = of[row["category"].partition(" (")[0]]  # "other six (maze held out)"
        found.append(_counted(counts(row["percent"], n, level=level)) | {"n": n, "from": "rate"})
    kinds: dict[str, Any] = dict.fromkeys(("n", "k", "k_low", "k_high"), pl.Int64)
    kinds |= dict.fromkeys(("low", "high"), pl.Float64) | {"from": pl.String}
    frame = pl.concat([rows, pl.DataFrame(found, schema=kinds)], how="horizontal")
    keys = ["where", "model", "reminder", "measure"]
    sums = {
        key: k
        for *key_, k, n in frame.filter(pl.col("category").is_in(_PUBLIC))
        .group_by(keys)
        .agg(pl.col("k").sum(), pl.col("k").count().alias("n"))
        .iter_rows()
        if n == len(_PUBLIC) and (key := tuple(key_))
    }
    done = []
    for row in frame.iter_rows(named=True):
        k = sums.get(tuple(row[c] for c in keys)) if row["category"] == "overall" else None
        if k is not None and row["k_low"] is not None and row["k_low"] <= k <= row["k_high"]:
            exact = counts(100 * k / row["n"], row["n"], decimals=9, level=level)
            row |= _counted(exact) | {"from": "categories"}
        done.append(row)
    return pl.DataFrame(done, schema=frame.schema)


def _counted(fit: pl.DataFrame) -> dict[str, Any]:
    if fit.is_empty():
        return dict.fromkeys(("k", "k_low", "k_high", "low", "high"))
    ks = fit["k"].to_list()
    return {
        "k": ks[0] if len(ks) == 1 else None,
        "k_low": ks[0],
        "k_high": ks[-1],
        "low": fit["low"][0],
        "high": fit["high"][-1],
    }


def printed(category: str = "overall") -> pl.DataFrame:
    """Return the paper's leaderboard of one category, or overall, with the counts behind it.

    Returns
    -------
    polars.DataFrame
        `model`, `reminder`, `n`, and for E, D and D_f the rate (percent), its count `..._k` of n (null where
        several fit) and its exact 95 % interval `..._low`, `..._high`; `average` (mean of E and D).
    """
    import polars as pl

    rows = counted().filter(pl.col("category") == category)
    rows = rows.unique(["model", "reminder", "measure"], keep="first", maintain_order=True)
    rows = rows.with_columns(pl.col("measure").replace({"Df": "D_f"}))
    wide = rows.select("model", "reminder", "n").unique(maintain_order=True)
    for name in ("E", "D", "D_f"):
        part = rows.filter(measure=name).select(
            "model",
            "reminder",
            pl.col("percent").alias(name),
            *(pl.col(c).alias(f"{name}_{c}") for c in ("k", "low", "high")),
        )
        wide = wide.join(part, on=["model", "reminder"], how="left", maintain_order="left")
    return wide.with_columns(average=(pl.col("E") + pl.col("D")) / 2)


def recomputed() -> pl.DataFrame:
    """Work printed figures out again from others that are printed.

    Overall E, D and D_f from the seven categories, agreement and kappa of both judges from their
    counts of errors, the sum of the stance groups.

    Returns
    -------
    polars.DataFrame
        `quantity`, `ours` (worked out), `published`, `where`, `model`, `condition` (reminder), `unit`, `note`
        (says where the two differ by more than rounding).
    """
    import polars as pl

    whole = counted().filter(pl.col("from") == "categories")
    ours = 100 * pl.col("k") / pl.col("n")
    off = (ours - pl.col("percent")).abs() > _TOLERANCE
    table = whole.select(
        quantity=pl.format("{} overall, sum of the counts of its seven categories", "measure"), ours=ours,
        published="percent", where="where", model="model", condition="reminder", unit=pl.lit("percent"),
        note=pl.when(off).then(pl.lit("differs by more than rounding")),
    )  # fmt: skip
    facts = load_published("dod_facts")
    said = {
        name: (value or "", note or "")
        for name, value, note in facts.select("id", "value", "note").iter_rows()
    }
    more: list[tuple[str, float | None, float | None, str]] = []
    for name in ("judge_refusal", "judge_edit"):
        value, note = said[f"{name}.agreement"]
        agreed, n = (int(x) for x in value.split("/"))
        wrong, missed = (int(x) for x in re.findall(r"\d+", said[f"{name}.errors"][0]))
        got = judge_quality(labels_of_errors(n, wrong, missed), ci=Bootstrap(100)).row(0, named=True)
        kappa = re.search(r"Cohen kappa ([\d.]+)", note)
        label = name.replace("_", " ")
        more.append((f"{label}: agreement, from its errors", got["agreement"], agreed / n, "Appendix B.4"))
        known = float(kappa[1]) if kappa else None
        more.append((f"{label}: kappa, from its errors", got["kappa"], known, "Appendix B.4"))
    for row in stances_printed().iter_rows(named=True):
        total = sum(row[k] for k in STANCES if row[k] is not None)
        more.append(
            (f"stance groups of {row['model']}: sum, 100 at most", total, 100.0, "Figure 3, section 5.3")
        )
    kinds = {"quantity": pl.String, "ours": pl.Float64, "published": pl.Float64, "where": pl.String}
    return pl.concat([table, pl.DataFrame(more, schema=kinds, orient="row")], how="diagonal")


def stances_printed() -> pl.DataFrame:
    """Return the printed shares of stance groups (percent): `model`, one column a group."""
    import polars as pl

    rows = []
    for name, value in load_published("dod_facts").select("id", "value").iter_rows():
        if name.startswith("stance."):
            rows.append(
                {"model": name[7:]} | {k: float(v) for k, v in re.findall(r"\b([a-z]+) ([\d.]+)", value)}
            )
    return pl.DataFrame(
        rows,
        schema={"model": pl.String} | dict.fromkeys(STANCES, pl.Float64),
    )


def stances() -> pl.DataFrame:
    """Return the printed shares of stance groups with the counts behind them.

    Returns
    -------
    polars.DataFrame
        `model`, `n` (infeasible requests), for each group its share (percent) and count `..._k` (null where
        several fit), `total` (sum of the shares).
    """
    import polars as pl

    n = sizes()["overall"]
    table = stances_printed()
    more = [
        pl.Series(
            f"{g}_k", [None if v is None else _counted(counts(v, n))["k"] for v in table[g]], dtype=pl.Int64
        )
        for g in STANCES
    ]
    order = [c for g in STANCES for c in (g, f"{g}_k")]
    return table.with_columns(*more, n=pl.lit(n, pl.Int64), total=pl.sum_horizontal(*STANCES)).select(
        "model", "n", *order, "total"
    )


def text_table(rates: pl.DataFrame, models: Sequence[str] = ()) -> pl.DataFrame:
    """Return D strict and lenient, D_f (percent) and pending judgments of the text pairs, by model and reminder.

    Models stand in the order of `models`, others after them.
    """
    import polars as pl

    order = {m: k for k, m in enumerate(models)}
    mine = shares(rates, category="text")
    mine = mine.sort(pl.col("model").replace_strict(order, default=len(order)), "reminder")
    return mine.select(
        "model",
        "reminder",
        "n",
        "D_strict",
        "D_lenient",
        "D_f",
        (pl.col("D_lenient") - pl.col("D_f")).alias("apart"),
        "pending",
    )


def maze_quality(judged: pl.DataFrame) -> pl.DataFrame:
    """Tell how the maze judge agrees with what is known of edits: valid or not.

    Parameters
    ----------
    judged : frame
        See `maze_faults.judge_edited`.

    Returns
    -------
    polars.DataFrame
        `quantity`, `value`, `n` (what it is a share of): agreement and kappa (unreadable pictures left out),
        share of the valid edits rejected, of the faulty ones accepted, of all unreadable.
    """
    import polars as pl

    known = judged.filter(pl.col("agrees").is_not_null()).with_row_index("item")
    item = pl.col("item").cast(pl.String)
    parts = [
        known.select(item=item, rater=pl.lit(name), label=pl.col(column) == "valid")
        for name, column in (("judge", "verdict"), ("truth", "due"))
    ]
    got = judge_quality(pl.concat(parts), ci=Bootstrap(100)).row(0, named=True)
    fine, bad = known.filter(pl.col("due") == "valid"), known.filter(pl.col("due") != "valid")
    rows = [
        ("agreement on valid or not", got["agreement"], known.height), ("kappa", got["kappa"], known.height),
        ("valid edits rejected", (fine["verdict"] != "valid").mean(), fine.height),
        ("faulty edits accepted", (bad["verdict"] == "valid").mean(), bad.height),
        ("unreadable", judged["agrees"].is_null().mean(), judged.height),
    ]  # fmt: skip
    return pl.DataFrame(
        rows, schema={"quantity": pl.String, "value": pl.Float64, "n": pl.Int64}, orient="row"
    )


def quality_words(quality: pl.DataFrame) -> str:
    """Put `maze_quality` into a sentence."""
    value = {name: (v, n) for name, v, n in quality.iter_rows()}
    shares = ", ".join(
        f"{name} {v * n:.0f} of {n:,}"
        for name, (v, n) in value.items()
        if name not in ("agreement on valid or not", "kappa")
    )
    return (
        f"Valid or not: agreement {value['agreement on valid or not'][0]:.3f}, kappa {value['kappa'][0]:.3f}; {shares}. "
        "Judge and edits are by the same authors; no edit is a model's, and no person judged them."
    )
