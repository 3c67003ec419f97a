"""Draw-or-Decline: tables for the notebooks, ours beside the paper's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from icgkit.bench.dod_compare import STANCES, judge_quality, labels_of_errors
from icgkit.bench.draw_or_decline import CATEGORIES
from icgkit.bench.text_pairs import MODELS
from icgkit.load import load_published

if TYPE_CHECKING:
    import polars as pl

HERE, PAPER = "here", "paper"
_WIDE = ("E", "D_strict", "D_lenient", "D_f", "pair")
_TOLERANCE = 0.05 + 1e-9
"""Percentage points by which the mean of seven rounded figures may miss a rounded figure, besides its own rounding."""


def leaderboard(rates: pl.DataFrame, *, category: str = "maze") -> pl.DataFrame:
    """Set our rates on one category beside the paper's, in percent.

    Parameters
    ----------
    rates : frame
        `draw_or_decline.rates` by category, model and reminder.
    category : str
        Which category.

    Returns
    -------
    polars.DataFrame
        One row for each model and reminder: `model`, `reminder`, `source` (here, paper), `n` (requests of
        each kind), `E`, `D_strict`, `D_lenient`, `D_f`, `pair` (percent, null where not reported or
        wholly pending), `pending` (judgments). The paper's D is the lenient one.
    """
    import polars as pl

    mine = rates.filter(pl.col("category") == category)
    known = pl.when(pl.col("n_pending") < pl.col("n_total")).then(100 * pl.col("estimate"))
    ours = (
        mine.with_columns(estimate=known)
        .pivot("measure", index=["model", "reminder"], values="estimate", maintain_order=True)
        .join(
            mine.filter(pl.col("measure") != "pair")
            .group_by("model", "reminder")
            .agg(n=pl.col("n_total").max(), pending=pl.col("n_pending").sum()),
            on=["model", "reminder"], maintain_order="left",
        )
        .with_columns(source=pl.lit(HERE))
    )  # fmt: skip
    printed = load_published("dod").filter(pl.col("category") == category)
    wide = printed.with_columns(pl.col("percent").cast(pl.Float64)).pivot(
        "measure",
        index=["model", "reminder"],
        values="percent",
        aggregate_function="first",
        maintain_order=True,
    )
    theirs = wide.rename({"D": "D_lenient", "Df": "D_f"}, strict=False).with_columns(
        source=pl.lit(PAPER),
        n=pl.lit(150 if category != "overall" else 1050, pl.Int64),
        pending=pl.lit(None, pl.Int64),
    )
    columns = ["model", "reminder", "source", "n", *_WIDE, "pending"]
    both = [
        f.with_columns(pl.lit(None, pl.Float64).alias(c) for c in _WIDE if c not in f.columns).select(columns)
        for f in (ours, theirs)
    ]
    return pl.concat(both)


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

    rows = load_published("dod").with_columns(pl.col("percent").cast(pl.Float64))
    keys = ["where", "model", "reminder", "measure"]
    seven = rows.filter(pl.col("category").is_in(list(CATEGORIES))).group_by(keys).agg(
        ours=pl.col("percent").mean(), k=pl.len()
    )  # fmt: skip
    whole = rows.filter(pl.col("category") == "overall").join(
        seven, on=keys, how="inner", maintain_order="left"
    )
    off = (pl.col("ours") - pl.col("percent")).abs() > 2 * _TOLERANCE
    table = whole.filter(pl.col("k") == 7).select(
        quantity=pl.format("{} overall, from its seven categories", "measure"), ours="ours", published="percent",
        where="where", model="model", condition="reminder", unit=pl.lit("percent"),
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
        got = judge_quality(labels_of_errors(n, wrong, missed), n_resamples=100).row(0, named=True)
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


def overall() -> pl.DataFrame:
    """Return the paper's overall leaderboard, in percent, with what its seven categories come to.

    Returns
    -------
    polars.DataFrame
        `model`, `reminder`, `E`, `D`, `D_f`, `average` (mean of E and D), `E_again` and `D_again` (means of
        the printed categories, null where they are not printed).
    """
    import polars as pl

    rows = load_published("dod").with_columns(pl.col("percent").cast(pl.Float64))
    keys = ["model", "reminder"]
    whole = rows.filter(pl.col("category") == "overall").unique(
        [*keys, "measure"], keep="first", maintain_order=True
    )
    wide = whole.pivot("measure", index=keys, values="percent", maintain_order=True).rename({"Df": "D_f"})
    again = (
        rows.filter(pl.col("category").is_in(list(CATEGORIES)), pl.col("measure") != "Df")
        .unique([*keys, "category", "measure"], keep="first", maintain_order=True)
        .group_by(*keys, "measure")
        .agg(value=pl.when(pl.len() == 7).then(pl.col("percent").mean()).first())
        .pivot("measure", index=keys, values="value")
        .select(*keys, E_again="E", D_again="D")
    )
    joined = wide.join(again, on=keys, how="left", maintain_order="left")
    return joined.select(
        *keys, "E", "D", "D_f", ((pl.col("E") + pl.col("D")) / 2).alias("average"), "E_again", "D_again"
    )


def text_table(rates: pl.DataFrame) -> pl.DataFrame:
    """Return D strict and lenient, D_f (percent) and pending judgments of the text pairs, by model and reminder."""
    import polars as pl

    order = {m: k for k, m in enumerate(MODELS)}
    mine = leaderboard(rates, category="text").filter(source=HERE)
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


def paired_table(apart: pl.DataFrame, effect: pl.DataFrame) -> pl.DataFrame:
    """Lay out the paired tests that have discordant pairs: what is compared, difference with interval, p-values.

    Parameters
    ----------
    apart, effect : frame
        Results of `within_pairs` (by category, model, reminder) and of `compare` (by category, model).
    """
    import polars as pl

    from icgkit.tables import intervals

    reminded = pl.when(pl.col("reminder") == "yes").then(pl.lit("with")).otherwise(pl.lit("without"))
    named = apart.with_columns(comparison=pl.format("infeasible - feasible, {} reminder", reminded))
    told = effect.with_columns(comparison=pl.format("{}: with - without reminder", "measure"))
    both = pl.concat([named.drop("reminder"), told]).filter(pl.col("status") == "ok")
    shown = intervals(both, name="difference", spec="+.3f")
    return shown.select(
        "category", "model", "comparison", "rate_reference", "rate_target", "difference", "p_midp", "p_permutation",
        "n_pairs", "n_missing", "status",
    )  # fmt: skip


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
    got = judge_quality(pl.concat(parts), n_resamples=100).row(0, named=True)
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
