"""UniKE's tables beside the published ones, and what the published figures imply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icgkit.bench.unike.scores import PROTOCOLS, RULES, STEPS, cascade, family_scores, scores
from icgkit.cases.dataset import load_published
from icgkit.report.published import beside_rows, fitting
from icgkit.report.published import counts as counts_of
from icgkit.report.render import plain_style

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from icgkit.report.tables import Table

FAMILIES = ("attribute", "relation", "overall")


TOY = "toy memory, noise set by hand"
"""What a row of the small file is called, wherever it stands."""
PRINTED = "UniKE Table 3"


def published_counts(level: float = 0.95) -> pl.DataFrame:
    """Return the published table as counts, with exact intervals.

    Returns
    -------
    polars.DataFrame
        One row a printed cell: `protocol`, `model`, `editor`, `family`, `measure`, `estimate` (percent),
        `n`, `k` (the count that rounds to it; null if none does), `low`, `high` (percent, Clopper-Pearson).

    Notes
    -----
    The denominators stand in `unike_facts` (`scored_attribute`, `scored_relation`); they are no printed numbers but
    the only ones that give every printed figure to two decimals, see `denominators`. The overall is the sum of
    the two counts over the sum of the two denominators.
    """
    import polars as pl

    facts = dict(load_published("unike_facts").select("id", "value").iter_rows())
    sizes = {f: int(facts[f"scored_{f}"]) for f in ("attribute", "relation")}
    sizes["overall"] = sum(sizes.values())
    rows = []
    for row in _printed().iter_rows(named=True):
        n = sizes[row["family"]]
        fit = counts_of(row["estimate"], n, decimals=2, level=level)
        one = fit.row(0, named=True) if fit.height == 1 else {"n": n, "k": None, "low": None, "high": None}
        rows.append(row | one)
    return pl.DataFrame(rows, infer_schema_length=None)


def _printed() -> pl.DataFrame:
    return (
        load_published("unike")
        .unpivot(list(STEPS), index=[*("protocol", "model", "editor"), "family"], variable_name="measure",
                 value_name="estimate")
        .drop_nulls("estimate")
    )  # fmt: skip


def denominators(family: str, tried: range) -> pl.DataFrame:
    """Tell which denominators can stand behind the printed cells of a family.

    Parameters
    ----------
    family : {"attribute", "relation", "overall"}
    tried : range
        Denominators to try.

    Returns
    -------
    polars.DataFrame
        See `icgkit.report.published.fitting`: `n`, `n_fit`, `n_values`, best first.

    Examples
    --------
    >>> denominators("attribute", range(940, 965)).row(0)
    (959, 45, 45)
    """
    values = _printed().filter(family=family)["estimate"].to_list()
    return fitting(values, tried, decimals=2)


def table_beside(outcomes: pl.DataFrame, *, where: str = TOY, **options: Any) -> pl.DataFrame:
    """Return the published table by family with our rows below it.

    Parameters
    ----------
    outcomes : polars.DataFrame
        Marked outputs.
    where : str
        What our rows are called. `TOY` marks them as simulated.

    Returns
    -------
    polars.DataFrame
        `protocol`, `model`, `editor`, `where`, `simulated`, `rule`, and for each of efficacy, reasoning, vqa
        one column a family (`efficacy_attribute` ...), percent, then `n_attribute` ... and for printed
        cells `k_...`, `low_...`, `high_...` (exact interval of the count; ours: bootstrap over edits); null
        where not measured. Ours by the published rule are the `public` values of `scores`, without an
        interval; below them the rules `stages` and `any_stage` with our marks.
    """
    import polars as pl

    theirs = published_counts().with_columns(where=pl.lit(PRINTED), rule=pl.lit("published"))
    parts = []
    for rule in RULES:
        got = family_scores(outcomes, rule=rule, **options).with_columns(n=pl.col("n_scored"))
        if rule == "published":
            printed = got.with_columns(
                estimate=pl.col("public"), low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64)
            )
            parts.append(printed.drop_nulls("estimate"))
            got = got.with_columns(rule=pl.lit("published, our marks"))
        parts.append(got.drop_nulls("estimate"))
    ours = pl.concat(parts).with_columns(where=pl.lit(where))
    key = ["protocol", "model", "editor", "where", "rule"]
    both = beside_rows(ours, theirs, [*key, "family", "measure", "estimate", "n", "k", "low", "high"])
    wide = (
        both.with_columns(cell=pl.format("{}_{}", "measure", "family"))
        .pivot("cell", index=key, values=["estimate", "k", "low", "high"], maintain_order=True)
        .rename(lambda c: c.removeprefix("estimate_"))
    )
    sizes = both.pivot("family", index=key, values="n", aggregate_function="max", maintain_order=True)
    sizes = sizes.rename({f: f"n_{f}" for f in FAMILIES if f in sizes.columns})
    cells = [f"{m}_{f}" for m in STEPS for f in FAMILIES]
    out = wide.join(sizes, on=key, how="left", maintain_order="left")
    absent = [c for c in cells if c not in out.columns]
    out = out.with_columns(
        *(pl.lit(None, pl.Float64).alias(c) for c in absent), simulated=pl.col("where") == TOY
    )
    tail = [f"{what}_{c}" for c in cells for what in ("k", "low", "high") if f"{what}_{c}" in out.columns]
    order = pl.col("protocol").replace_strict({p: i for i, p in enumerate(PROTOCOLS)})
    return out.select(
        *key[:4], "simulated", "rule", *cells, *(c for c in sizes.columns if c.startswith("n_")), *tail
    ).sort(order, maintain_order=True)


def conversion_beside(outcomes: pl.DataFrame, *, where: str = TOY, **options: Any) -> pl.DataFrame:
    """Return the conversion ratios of the published table (overall) with ours below, intervals included.

    The published ones are ratios of counts, without an interval: which instances are right at both steps is not
    printed.
    """
    import polars as pl

    counted = published_counts().filter(family="overall").pivot(
        "measure", index=["protocol", "model", "editor"], values="k", maintain_order=True
    )  # fmt: skip
    rows = []
    for row in counted.iter_rows(named=True):
        for first, second in (("efficacy", "reasoning"), ("reasoning", "vqa"), ("efficacy", "vqa")):
            if row[first] is not None and row[second] is not None:
                rows.append(
                    {k: row[k] for k in ("protocol", "model", "editor")}
                    | {"where": PRINTED, "step": f"{first}_to_{second}", "ratio": row[second] / row[first]}
                    | {"k_from": row[first], "k_to": row[second]}
                )
    ours = cascade(outcomes, **options).with_columns(where=pl.lit(where)).drop_nulls("ratio")
    names = ["protocol", "model", "editor", "where", "step", "ratio", "low", "high", "k_from", "k_to", "conditional",
             "n_scored", "n_from", "status"]  # fmt: skip
    both = beside_rows(ours, pl.DataFrame(rows), names)
    return both.with_columns(simulated=pl.col("where") == TOY)


NOTE = (
    "Toy memory: a matrix of 64 by 96 with a frozen projection, no multimodal model; its noise was set by hand so "
    "that a cascade appears. It shows that the formulas run, and is no result."
)
HEADERS = {
    "protocol": "Protocol", "model": "Model", "editor": "Editor", "rule": "Rule", "where": "Source", "step": "Step", "source": "Family",
    "category": "Category", "n_edits": "Edits", "shown": "Ratio", "conditional": "Of those before", "n_from": "n",
    "efficacy": "Efficacy", "reasoning": "Reasoning", "vqa": "VQA",
}  # fmt: skip


def typeset_main(main: pl.DataFrame) -> Table:
    """Typeset the result of `table_beside`."""
    import polars as pl

    from icgkit.report.tables import typeset

    cells = {f"{m}_{f}": (HEADERS[m], f"{f[:4].capitalize()}.") for m in STEPS for f in FAMILIES}
    shown = main.filter(pl.col("rule").is_in(["published", "stages"]))
    return typeset(
        shown.with_columns(pl.col("protocol").replace(PROTOCOLS)),
        id="B-unike",
        columns=["protocol", "model", "editor", "where", "rule", *cells],
        headers=HEADERS | {c: short for c, (_, short) in cells.items()},
        formats=dict.fromkeys(cells, ".1f"),
        spanners={c: over for c, (over, _) in cells.items()},
        caption="UniKE by family and overall, percent: the published table, and a toy memory on the small file.",
        notes=[
            NOTE,
            "Rule published: stage 1, overall weighted by counts; a missing answer is wrong, as the public report "
            "counts. Stages: mean over edits of all their stages, by our marks (a missing answer is left out, a value "
            "has to be named first and as a word). Two more rules are in the data.",
            "Every printed cell is k of {n_attribute:,}, {n_relation:,} or {n_overall:,}; k and its exact interval "
            "are in the data.".format(**main.row(0, named=True)),
            "A dash: not measured under this protocol.",
        ],
    )


def typeset_categories(scored: pl.DataFrame, interval: str) -> Table:
    """Typeset scores by protocol, family and category."""
    import polars as pl

    from icgkit.report.tables import intervals, typeset

    key = ["protocol", "source", "category", "n_edits"]
    shown = intervals(scored, spec=".1f").filter(pl.col("n_scored") > 0)
    wide = shown.with_columns(pl.col("protocol").replace(PROTOCOLS)).pivot(
        "measure", index=key, values="shown"
    )
    return typeset(
        wide, id="B-unike-categories", columns=[*key, *STEPS], headers=HEADERS,
        caption="Toy memory on the small file by protocol, family and category (stage 1, all editors together), "
        f"percent; {interval}.",
        notes=[NOTE, "No interval where too few edits leave it undefined."],
    )  # fmt: skip


def typeset_cascade(ratios: pl.DataFrame, interval: str) -> Table:
    """Typeset the result of `conversion_beside`."""
    import polars as pl

    from icgkit.report.tables import intervals, typeset

    shown = intervals(ratios, estimate="ratio", spec=".2f").with_columns(
        pl.col("protocol").replace(PROTOCOLS), pl.col("step").str.replace_all("_", " ")
    )
    return typeset(
        shown, id="B-unike-cascade", headers=HEADERS, formats={"conditional": ".2f"},
        columns=["protocol", "model", "editor", "where", "step", "shown", "conditional", "n_from"],
        caption="What is left of one step of the cascade at a later one, overall (stage 1): ratios of published "
        f"counts, and a toy memory; {interval}.",
        notes=[NOTE, "Of those before: share of the n instances right at the earlier step that are right at the later one."],
    )  # fmt: skip


@plain_style()
def draw_stages_and_retention(outcomes: pl.DataFrame, curve: pl.DataFrame) -> Figure:
    """Draw accuracy by stage (reasoning-augmented protocol, mean over editors) and rho(k) beside k / n.

    Parameters
    ----------
    outcomes : polars.DataFrame
        Marked outputs.
    curve : polars.DataFrame
        Columns editor, share, rho, expected, as of `icgforge.memory.toy.retention_curve`.
    """
    import polars as pl

    from icgkit.report.plots import GRID, INK, figure
    from icgkit.report.plots.style import COLORS

    fig, (left, right) = figure(8.5, 3.6, columns=2)
    part = outcomes.filter(source="attribute", protocol="reasoning_augmented")
    stages = scores(part, by=["stage"], n_resamples=500)
    for k, (measure, marker) in enumerate(zip(STEPS, "os^", strict=True)):
        rows = stages.filter(pl.col("measure") == measure, pl.col("estimate").is_not_null())
        x = [s + 0.06 * (k - 1) for s in rows["stage"]]
        color = COLORS[k]
        left.plot(x, rows["estimate"], marker + "-", color=color, label=measure)
        for at, low, high in zip(x, rows["low"], rows["high"], strict=True):
            if low is not None:
                left.plot([at, at], [low, high], color=color, alpha=0.5)
    left.set(xticks=sorted(part["stage"].unique()), xlabel="Stage", ylabel="Right (percent)", ylim=(0, 103))
    left.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3)
    fig.suptitle(f"{TOY[0].upper()}{TOY[1:]}: no result of a model", size=9)
    for k, (name, rows) in enumerate(curve.group_by("editor", maintain_order=True)):
        right.plot(
            rows["share"],
            rows["rho"],
            ("-", "--", ":")[k % 3],
            color=COLORS[k + 3],
            label=str(name[0]),
            lw=3.4 - k,
        )
    line = curve["share"].max()
    right.plot([0, line], [0, line], color=INK, lw=0.8, label="k / n")
    right.set(xlabel="k / n", ylabel="Share of the edit kept, \u03c1(k)", xlim=(0, None), ylim=(0, None))
    right.legend(
        frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(-0.1, 1.0), ncols=4, handlelength=1.4
    )
    for ax in (left, right):
        ax.grid(color=GRID, lw=0.6)
        ax.set_axisbelow(True)
    return fig
