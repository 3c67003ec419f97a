"""UniKE's tables beside the published ones, and what the published figures imply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icgkit.bench.unike.files import counts
from icgkit.bench.unike.scores import PROTOCOLS, STEPS, cascade, family_scores, scores, stage_drops
from icgkit.cases.dataset import load_published
from icgkit.report.render import plain_style

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from icgkit.report.tables import Table

FAMILIES = ("attribute", "relation", "overall")


def table_beside(outcomes: pl.DataFrame, **options: Any) -> pl.DataFrame:
    """Return the published table by family with our rows below it.

    Returns
    -------
    polars.DataFrame
        `protocol`, `model`, `editor`, `where`, and for each of efficacy, reasoning, vqa one column a family
        (`efficacy_attribute` ...), percent; null where not measured.
    """
    import polars as pl

    published = load_published("unike").unpivot(
        list(STEPS),
        index=["protocol", "model", "editor", "family"],
        variable_name="measure",
        value_name="estimate",
    )
    ours = family_scores(outcomes, **options).select(
        "protocol", "model", "editor", "family", "measure", "estimate"
    )
    parts = []
    for frame, where in ((published, "UniKE Table 3"), (ours, "this run")):
        wide = frame.with_columns(cell=pl.format("{}_{}", "measure", "family")).pivot(
            "cell", index=["protocol", "model", "editor"], values="estimate", maintain_order=True
        )
        parts.append(wide.with_columns(where=pl.lit(where)))
    columns = [f"{m}_{f}" for m in STEPS for f in FAMILIES]
    both = pl.concat(parts, how="diagonal")
    return both.select("protocol", "model", "editor", "where", *columns).sort(
        pl.col("protocol").replace_strict({p: i for i, p in enumerate(PROTOCOLS)}), maintain_order=True
    )


def conversion_beside(outcomes: pl.DataFrame, **options: Any) -> pl.DataFrame:
    """Return the conversion ratios of the published table (overall) with ours below, intervals included."""
    import polars as pl

    rows = []
    for row in load_published("unike").filter(family="overall").iter_rows(named=True):
        for first, second in (("efficacy", "reasoning"), ("reasoning", "vqa"), ("efficacy", "vqa")):
            if row[first] is not None and row[second] is not None:
                rows.append(
                    {k: row[k] for k in ("protocol", "model", "editor")}
                    | {
                        "where": "UniKE Table 3",
                        "step": f"{first}_to_{second}",
                        "ratio": row[second] / row[first],
                    }
                )
    ours = cascade(outcomes, **options).with_columns(where=pl.lit("this run"))
    names = ["protocol", "model", "editor", "where", "step", "ratio", "low", "high", "conditional", "n_scored", "n_from",
             "status"]  # fmt: skip
    both = pl.concat([pl.DataFrame(rows), ours], how="diagonal").select(names)
    return both.filter(pl.col("ratio").is_not_null() | (pl.col("where") == "UniKE Table 3"))


def implied_share() -> pl.DataFrame:
    """Work out how the published overall weighs the two families.

    Returns
    -------
    polars.DataFrame
        One row a published model, editor, protocol and measure: `share` of the attribute family that
        gives the overall from the two families, `low` and `high` (rounding to 0.01), beside
        `subjects` (share of attribute edits among the subjects) and `instances` (among the instances).
    """
    import polars as pl

    facts = dict(load_published("unike_facts").select("id", "value").iter_rows())
    subjects = float(facts["attribute_subjects"]) / float(facts["subjects"])
    instances = 1 - float(facts["relation_subjects"]) / float(facts["instances"])
    rows = []
    for (protocol, model, editor), part in load_published("unike").group_by(
        ["protocol", "model", "editor"], maintain_order=True
    ):
        by = {r["family"]: r for r in part.iter_rows(named=True)}
        for measure in STEPS:
            a, r, o = (by[f][measure] for f in FAMILIES)
            if None in (a, r, o) or abs(r - a) < 1:
                continue
            half = 0.005
            edges = [
                (r + x - o - y) / (r + x - a - z)
                for x in (-half, half)
                for y in (-half, half)
                for z in (-half, half)
            ]
            rows.append(
                {
                    "protocol": protocol,
                    "model": model,
                    "editor": editor,
                    "measure": measure,
                    "share": (r - o) / (r - a),
                }
                | {"low": min(edges), "high": max(edges), "subjects": subjects, "instances": instances}
            )
    return pl.DataFrame(rows)


def facts_beside(
    instances: pl.DataFrame, outcomes: pl.DataFrame, drifts: dict[str, float], curve: pl.DataFrame
) -> pl.DataFrame:
    """Return our counts, drops, retention and drift beside the published facts, in the form that `save` takes.

    Parameters
    ----------
    instances, outcomes : polars.DataFrame
        A data file and its marked outputs.
    drifts : dict
        Editor to relative drift of the conditioning; the largest is shown.
    curve : polars.DataFrame
        rho(k) by editor; its value at full rank, mean over the editors, is shown.
    """
    import polars as pl

    facts = load_published("unike_facts")
    known = dict(facts.select("id", "value").iter_rows())
    here = "a small file of this project; the published one is not redistributed"
    rows: list[dict[str, Any]] = [
        {
            "quantity": name.replace("_", " "),
            "ours": value,
            "published": float(known[name]),
            "unit": "count",
            "note": here,
        }
        for name, value in counts(instances).items()
    ]
    share = implied_share()
    tight = share.filter(pl.col("high") - pl.col("low") < 0.002)["share"]
    rows.append(
        {"quantity": "weight of the attribute family in the overall", "ours": tight.median(),
         "published": share["subjects"][0], "unit": "share",
         "note": "ours: solved from Table 3; published: attribute share of the subjects (of the instances: "
         f"{share['instances'][0]:.3f}), so the overall is a mean over subjects"}
    )  # fmt: skip
    rows.append(
        {"quantity": "retention of the projection, expected", "ours": _expected(known["projection.Ovis-U1"]),
         "published": 0.375, "unit": "share", "note": known["projection.Ovis-U1"]}
    )  # fmt: skip
    low, high = (float(x) for x in known["retention.Ovis-U1"].split("-"))
    toy = "linear memory, another model"
    rows.append({"quantity": "retention, measured", "model": "Ovis-U1", "ours": curve.group_by("editor").agg(pl.col("rho").last())["rho"].mean(), "published": (low + high) / 2,
                 "unit": "share", "note": f"published range {low} to {high}; ours: {toy}"})  # fmt: skip
    rows.append({"quantity": "relative drift of the conditioning", "model": "Ovis-U1", "ours": max(drifts.values()),
                 "published": float(known["drift.Ovis-U1"]), "unit": "ratio", "note": f"ours: {toy}"})  # fmt: skip
    drops = stage_drops(outcomes, n_resamples=50).filter(protocol="reasoning_augmented")
    second = drops.filter(measure="efficacy", stage=2)["relative_drop"].mean()
    rows.append({"quantity": "relative drop of efficacy, stage 1 to 2", "ours": second,
                 "published": float(known["stage2_efficacy_drop"]), "unit": "share", "note": f"ours: {toy}"})  # fmt: skip
    later = drops.filter(measure="vqa")["relative_drop"].mean()
    low, high = (float(x) for x in known["stage_vqa_drop"].split("-"))
    rows.append({"quantity": "relative drop of VQA, stage 1 to later ones", "ours": later, "published": (low + high) / 2,
                 "unit": "share", "note": f"published range {low} to {high}; ours: {toy}"})  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(where=pl.lit("UniKE"))


def _expected(shape: str) -> float:
    from icgkit.bench.unike.edit import expected_retention

    k, n = (int(x) for x in shape.split("x"))
    return expected_retention(k, n)


NOTE = "toy/linear-memory is a matrix of 64 by 96 with a frozen projection, no multimodal model."
HEADERS = {
    "protocol": "Protocol", "editor": "Editor", "where": "Source", "step": "Step", "source": "Family",
    "category": "Category", "n_edits": "Edits", "shown": "Ratio", "conditional": "Of those before", "n_from": "n",
    "efficacy": "Efficacy", "reasoning": "Reasoning", "vqa": "VQA",
}  # fmt: skip


def typeset_main(main: pl.DataFrame) -> Table:
    """Typeset the result of `table_beside`."""
    import polars as pl

    from icgkit.report.tables import typeset

    cells = {f"{m}_{f}": (HEADERS[m], f"{f[:4].capitalize()}.") for m in STEPS for f in FAMILIES}
    return typeset(
        main.with_columns(pl.col("protocol").replace(PROTOCOLS)),
        id="B-unike",
        headers=HEADERS | {c: short for c, (_, short) in cells.items()},
        formats=dict.fromkeys(cells, ".1f"),
        spanners={c: over for c, (over, _) in cells.items()},
        caption="UniKE by family and overall (mean over edits), percent: the published table and the small file.",
        notes=[NOTE, "A dash: not measured under this protocol."],
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
        caption=f"The small file by protocol, family and category, all editors together, percent; {interval}.",
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
        caption=f"What is left of one step of the cascade at a later one, overall; {interval}.",
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
    stages = scores(part, by=["stage"], average="micro", n_resamples=500)
    for k, (measure, marker) in enumerate(zip(STEPS, "os^", strict=True)):
        rows = stages.filter(pl.col("measure") == measure, pl.col("estimate").is_not_null())
        x = [s + 0.06 * (k - 1) for s in rows["stage"]]
        color = COLORS[k]
        left.plot(x, rows["estimate"], marker + "-", color=color, label=measure)
        for at, low, high in zip(x, rows["low"], rows["high"], strict=True):
            if low is not None:
                left.plot([at, at], [low, high], color=color, alpha=0.5)
    left.set(xticks=sorted(part["stage"].unique()), xlabel="Stage", ylabel="Right (percent)", ylim=(0, 103))
    left.legend(frameon=False, fontsize=8)
    for k, (name, rows) in enumerate(curve.group_by("editor", maintain_order=True)):
        right.plot(
            rows["share"], rows["rho"], ("-", "--", ":")[k % 3], color=COLORS[k + 3], label=str(name[0])
        )
    line = curve["share"].max()
    right.plot([0, line], [0, line], color=INK, lw=0.8, label="k / n")
    right.set(xlabel="k / n", ylabel="Share of the edit kept, \u03c1(k)", xlim=(0, None), ylim=(0, None))
    right.legend(frameon=False, fontsize=8)
    for ax in (left, right):
        ax.grid(color=GRID, lw=0.6)
        ax.set_axisbelow(True)
    return fig
