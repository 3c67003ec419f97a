"""UniKE's tables beside the published ones, and what the published figures imply."""

from __future__ import annotations

from typing import Any

import polars as pl

from icgkit.bench.common import count_of
from icgkit.bench.unike.scores import PROTOCOLS, RULES, STEPS, cascade, family_scores
from icgkit.cases.dataset import load_published
from icgkit.report.published import beside_rows, fitting

_FAMILIES = ("attribute", "relation", "overall")
TOY = "toy memory, noise set by hand"
"""What a row of the small file is called, wherever it stands."""
PRINTED = "UniKE Table 3"
_ROW = ["protocol", "model", "editor"]


def _printed() -> pl.DataFrame:
    table = load_published("unike")
    long = table.unpivot(list(STEPS), index=[*_ROW, "family"], variable_name="measure", value_name="estimate")
    return long.drop_nulls("estimate")


def published_counts(level: float = 0.95) -> pl.DataFrame:
    """Return the published table as counts: its cells, `estimate` (percent), `n`, `k`, `low`, `high`.

    The denominators stand in `unike_facts` (`scored_attribute`, `scored_relation`); they are no printed
    numbers but the only ones that give every printed figure to two decimals, see `denominators`. The overall
    is the sum of the two counts over the sum of the two denominators.
    """
    facts = dict(load_published("unike_facts").select("id", "value").iter_rows())
    sizes = {f: int(facts[f"scored_{f}"]) for f in ("attribute", "relation")}
    sizes["overall"] = sum(sizes.values())
    rows = []
    for row in _printed().iter_rows(named=True):
        n = sizes[row["family"]]
        rows.append(row | {"n": n} | count_of(row["estimate"], n, decimals=2, level=level))
    return pl.DataFrame(rows, infer_schema_length=None).drop("k_low", "k_high")


def denominators(family: str, tried: range) -> pl.DataFrame:
    """Tell which denominators can stand behind the printed cells of a family (`published.fitting`)."""
    return fitting(_printed().filter(family=family)["estimate"].to_list(), tried, decimals=2)


def table_beside(outcomes: pl.DataFrame, *, where: str = TOY, **options: Any) -> pl.DataFrame:
    """Return the published table by family with our rows below it; the source `TOY` marks them as simulated.

    `protocol`, `model`, `editor`, `where`, `simulated`, `rule`, for each of efficacy, reasoning, vqa one
    column a family (`efficacy_attribute` ...), percent, then `n_attribute` ... and `k_...`, `low_...`,
    `high_...` (printed: exact interval of the count; ours: bootstrap over edits); null where not measured.
    Ours by the published rule are the `public` values of `scores`, without an interval; below them the other
    rules with our marks.
    """
    theirs = published_counts().with_columns(where=pl.lit(PRINTED), rule=pl.lit("published"))
    nothing, parts = pl.lit(None, pl.Float64), []
    for rule in RULES:
        got = family_scores(outcomes, rule=rule, **options).with_columns(n=pl.col("n_scored"))
        if rule == "published":
            parts.append(got.with_columns(estimate=pl.col("public"), low=nothing, high=nothing))
            got = got.with_columns(rule=pl.lit("published, our marks"))
        parts.append(got)
    ours = pl.concat(parts).drop_nulls("estimate").with_columns(where=pl.lit(where))
    key = [*_ROW, "where", "rule"]
    both = beside_rows(ours, theirs, [*key, "family", "measure", "estimate", "n", "k", "low", "high"])
    cells = [f"{m}_{f}" for m in STEPS for f in _FAMILIES]
    wide = both.with_columns(cell=pl.format("{}_{}", "measure", "family"))
    wide = wide.pivot("cell", index=key, values=["estimate", "k", "low", "high"], maintain_order=True)
    wide = wide.rename(lambda c: c.removeprefix("estimate_"))
    sizes = both.pivot("family", index=key, values="n", aggregate_function="max", maintain_order=True)
    sizes = sizes.rename({f: f"n_{f}" for f in _FAMILIES if f in sizes.columns})
    out = wide.join(sizes, on=key, how="left", maintain_order="left")
    absent = [nothing.alias(c) for c in cells if c not in out.columns]
    out = out.with_columns(*absent, simulated=pl.col("where") == TOY)
    tail = [f"{what}_{c}" for c in cells for what in ("k", "low", "high") if f"{what}_{c}" in out.columns]
    order = pl.col("protocol").replace_strict({p: i for i, p in enumerate(PROTOCOLS)})
    shown = out.select(*_ROW, "where", "simulated", "rule", *cells, *sizes.columns[len(key) :], *tail)
    return shown.sort(order, maintain_order=True)


def conversion_beside(outcomes: pl.DataFrame, *, where: str = TOY, **options: Any) -> pl.DataFrame:
    """Return the conversion ratios of the published table (overall) with ours below, intervals included.

    The published ones are ratios of counts, without an interval: which instances are right at both steps is
    not printed.
    """
    whole = published_counts().filter(family="overall")
    counted = whole.pivot("measure", index=_ROW, values="k", maintain_order=True)
    rows = []
    for row in counted.iter_rows(named=True):
        for first, second in (("efficacy", "reasoning"), ("reasoning", "vqa"), ("efficacy", "vqa")):
            if row[first] is not None and row[second] is not None:
                told = {"step": f"{first}_to_{second}", "ratio": row[second] / row[first], "where": PRINTED}
                rows.append({k: row[k] for k in _ROW} | told | {"k_from": row[first], "k_to": row[second]})
    ours = cascade(outcomes, **options).with_columns(where=pl.lit(where)).drop_nulls("ratio")
    names = [
        *_ROW,
        "where",
        "step",
        "ratio",
        "low",
        "high",
        "k_from",
        "k_to",
        "conditional",
        "n_scored",
        "n_from",
        "status",
    ]
    both = beside_rows(ours, pl.DataFrame(rows), names)
    return both.with_columns(simulated=pl.col("where") == TOY)
