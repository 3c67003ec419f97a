"""Draw-or-Decline: printed rates with the counts behind them, rates of programs, editing over declining."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from icgkit.bench.common import COUNT, count_of, table, texts
from icgkit.bench.dod.files import CATEGORIES
from icgkit.bench.dod.scores import STANCES, judge_quality, labels_of_errors
from icgkit.cases.dataset import load_published
from icgkit.metrics.intervals import Bootstrap
from icgkit.report.render import plain_style
from icgkit.report.tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PUBLIC = tuple(c for c in CATEGORIES if c != "text")
_TOLERANCE = 0.05 + 1e-9
"""Percentage points by which a figure may miss one that is printed with one decimal."""
_WIDE = ("E", "D_strict", "D_lenient", "D_f", "pair")
_PRINTED = ("E", "D", "D_f")


def shares(rates: pl.DataFrame, *, category: str) -> pl.DataFrame:
    """Lay out rates by category, model and reminder (`scores.rates`) on one category in percent.

    One row for each model and reminder: `n` (requests of each kind), the measures (null where wholly
    pending), `pending` (judgments).
    """
    key = ["model", "reminder"]
    mine = rates.filter(pl.col("category") == category)
    known = pl.when(pl.col("n_pending") < pl.col("n_total")).then(100 * pl.col("estimate"))
    wide = mine.with_columns(known.alias("estimate"))
    wide = wide.pivot("measure", index=key, values="estimate", maintain_order=True)
    single = mine.filter(pl.col("measure") != "pair").group_by(key)
    counted = single.agg(n=pl.col("n_total").max(), pending=pl.col("n_pending").sum())
    missing = [pl.lit(None, pl.Float64).alias(c) for c in _WIDE if c not in wide.columns]
    both = wide.join(counted, on=key, maintain_order="left").with_columns(missing)
    return both.select(*key, "n", *_WIDE, "pending")


def _facts() -> dict[str, tuple[str, str]]:
    rows = load_published("dod_facts").select("id", "value", "note").iter_rows()
    return {name: (value or "", note or "") for name, value, note in rows}


def sizes() -> dict[str, int]:
    """Return how many requests of each kind stand behind a printed rate: of a category, of six, "overall"."""
    pairs = int(_facts()["pairs"][0])
    each = pairs // len(_PUBLIC)
    return dict.fromkeys(_PUBLIC, each) | {"other six": pairs - each, "overall": pairs}


def counted(level: float = 0.95) -> pl.DataFrame:
    """Turn the printed rates into counts: columns of `published/dod.csv`, `n`, those of `count_of`, `from`.

    An overall rate is the sum over its seven categories where these are printed and each is one count (`from`
    "categories"); else it is what the rate itself can stand for ("rate").
    """
    keys, of = ["where", "model", "reminder", "measure"], sizes()
    rows = load_published("dod").with_columns(pl.col("percent").cast(pl.Float64))
    found = []
    for percent, category in rows.select("percent", "category").iter_rows():
        n = of[category.partition(" (")[0]]  # "other six (maze held out)"
        found.append({"n": n, **count_of(percent, n, level=level), "from": "rate"})
    kinds: dict[str, Any] = dict.fromkeys(("n", *COUNT), pl.Int64)
    kinds |= dict.fromkeys(("low", "high"), pl.Float64) | texts("from")
    frame = pl.concat([rows, pl.DataFrame(found, schema=kinds)], how="horizontal")
    sums = frame.filter(pl.col("category").is_in(_PUBLIC)).group_by(keys).agg(
        pl.lit("overall").alias("category"), pl.col("k").sum().alias("sum"),
        pl.col("k").count().alias("parts")
    ).filter(pl.col("parts") == len(_PUBLIC)).drop("parts")  # fmt: skip
    done = []
    for row in frame.join(sums, on=[*keys, "category"], how="left", maintain_order="left").iter_rows(
        named=True
    ):
        k = row.pop("sum")
        if k is not None and row["k_low"] is not None and row["k_low"] <= k <= row["k_high"]:
            row |= count_of(100 * k / row["n"], row["n"], decimals=9, level=level) | {"from": "categories"}
        done.append(row)
    return pl.DataFrame(done, schema=frame.schema)


def printed(category: str = "overall") -> pl.DataFrame:
    """Return the paper's leaderboard of one category, or overall, with the counts behind it.

    `model`, `reminder`, `n`, and for E, D and D_f the rate (percent), its count `..._k` of n (null where
    several fit) and its exact 95 % interval `..._low`, `..._high`; `average` (mean of E and D).
    """
    rows = (
        counted()
        .filter(pl.col("category") == category)
        .with_columns(pl.col("measure").replace({"Df": "D_f"}))
    )
    rows = rows.unique(["model", "reminder", "measure"], keep="first", maintain_order=True)
    values = {"percent": "", "k": "_k", "low": "_low", "high": "_high"}
    wide = rows.pivot("measure", index=["model", "reminder", "n"], values=list(values), maintain_order=True)
    columns = [
        pl.col(f"{value}_{m}").alias(f"{m}{end}") for m in _PRINTED for value, end in values.items()
    ]  # fmt: skip
    return wide.select(
        "model", "reminder", "n", *columns, average=(pl.col("percent_E") + pl.col("percent_D")) / 2
    )


def printed_table(board: pl.DataFrame, id: str, what: str) -> Table:
    """Typeset the result of `printed`."""
    spans = [
        pl.format("{}-{}", pl.col(f"{m}_low").round(1), pl.col(f"{m}_high").round(1)).alias(f"{m}_interval")
        for m in _PRINTED
    ]
    columns = [c for m in _PRINTED for c in (m, f"{m}_k", f"{m}_interval")]
    shown = board.with_columns(spans).select("model", "reminder", *columns, "average")
    return table(shown, id, what=what, n=board["n"][0])


def recomputed() -> pl.DataFrame:
    """Work printed figures out again from others that are printed, in the form that `icgkit.save` takes.

    Overall E, D and D_f from the seven categories, agreement and kappa of both judges from their counts of
    errors, the sum of the stance groups. `note` says where the two differ by more than rounding.
    """
    ours = 100 * pl.col("k") / pl.col("n")
    off = (ours - pl.col("percent")).abs() > _TOLERANCE
    whole = counted().filter(pl.col("from") == "categories").select(
        quantity=pl.format("{} overall, sum of the counts of its seven categories", "measure"), ours=ours,
        published="percent", where="where", model="model", condition="reminder", unit=pl.lit("percent"),
        note=pl.when(off).then(pl.lit("differs by more than rounding")),
    )  # fmt: skip
    said = _facts()
    more: list[tuple[str, float | None, float | None, str]] = []
    for name in ("judge_refusal", "judge_edit"):
        value, note = said[f"{name}.agreement"]
        agreed, n = (int(x) for x in value.split("/"))
        wrong, missed = (int(x) for x in re.findall(r"\d+", said[f"{name}.errors"][0]))
        got = judge_quality(labels_of_errors(n, wrong, missed), ci=Bootstrap(100)).row(0, named=True)
        kappa = re.search(r"Cohen kappa ([\d.]+)", note)
        label, known = name.replace("_", " "), float(kappa[1]) if kappa else None
        more.append((f"{label}: agreement, from its errors", got["agreement"], agreed / n, "Appendix B.4"))
        more.append((f"{label}: kappa, from its errors", got["kappa"], known, "Appendix B.4"))
    for model, *groups in stances().select("model", *STANCES).iter_rows():
        total = sum(share for share in groups if share is not None)
        more.append((f"stance groups of {model}: sum, 100 at most", total, 100.0, "Figure 3, section 5.3"))
    kinds = texts("quantity", "ours", "published", "where") | dict.fromkeys(("ours", "published"), pl.Float64)
    return pl.concat([whole, pl.DataFrame(more, schema=kinds, orient="row")], how="diagonal")


def stances() -> pl.DataFrame:
    """Return the printed shares of stance groups (percent) with the counts behind them.

    `model`, `n` (infeasible requests), each group and its `..._k` (null where several fit), `total` of the
    shares.
    """
    n, rows = sizes()["overall"], []
    for name, (value, _) in _facts().items():
        if name.startswith("stance."):
            told = {g: float(v) for g, v in re.findall(r"\b([a-z]+) ([\d.]+)", value)}
            row: dict[str, Any] = {"model": name.removeprefix("stance."), "n": n}
            for group in STANCES:
                row |= {group: told.get(group), f"{group}_k": count_of(told.get(group), n)["k"]}
            rows.append(row)
    kinds: dict[str, Any] = {"model": pl.String, "n": pl.Int64}
    for group in STANCES:
        kinds |= {group: pl.Float64, f"{group}_k": pl.Int64}
    return pl.DataFrame(rows, schema=kinds).with_columns(total=pl.sum_horizontal(*STANCES))


@plain_style()
def draw_trade(board: pl.DataFrame, ax: Axes, *, reminder: str, named: Sequence[str] = ()) -> Axes:
    """Draw editing success over declining as `printed`, with the exact intervals of both.

    `reminder` is "no" or "yes"; the models in `named` get their name.
    """
    from icgkit.report.plots import GRID

    part = board.filter(pl.col("reminder") == reminder, pl.col("E").is_not_null(), pl.col("D").is_not_null())
    taught = pl.col("model").str.contains("VisTA|without maze")
    for label, rows, style in (
        ("models as published", part.filter(~taught), {"marker": "o", "color": "#4477AA", "mfc": "white"}),
        ("VisTA, with and without mazes", part.filter(taught), {"marker": "*", "color": "#EE6677", "ms": 11}),
    ):
        for row in rows.iter_rows(named=True):
            ax.plot([row["D_low"], row["D_high"]], [row["E"]] * 2, color=style["color"], lw=0.7, alpha=0.5)
            ax.plot([row["D"]] * 2, [row["E_low"], row["E_high"]], color=style["color"], lw=0.7, alpha=0.5)
        options: dict[str, Any] = {"ms": 6, "mew": 1.4, "ls": "", "clip_on": False, "label": label, **style}
        ax.plot(rows["D"], rows["E"], **options)
    for model, x, y in part.filter(pl.col("model").is_in(list(named))).select("model", "D", "E").iter_rows():
        place, side = ((-9, 5), "right") if x > 60 else ((9, 5), "left")
        ax.annotate(model, (x, y), place, textcoords="offset points", fontsize=7, ha=side, va="bottom")
    words = {
        "xlabel": "D: infeasible requests refused (%)",
        "ylabel": "E: feasible requests edited right (%)",
    }
    ax.set(xlim=(-2, 102), ylim=(-2, 102), **words)
    ax.set_title("with reminder" if reminder == "yes" else "without reminder")
    ax.grid(color=GRID, lw=0.7)
    ax.set_axisbelow(True)
    if reminder == "no":
        ax.legend(fontsize=7.5, frameon=False, loc="lower left", bbox_to_anchor=(-0.02, 1.06), ncols=2)
    return ax
