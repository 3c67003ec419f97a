"""Compare icgkit.metrics with the numbers that reference.R printed: one row a check.

Run as a script to see the table; the tests hold every row below its tolerance.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from icgkit import metrics
from icgkit.metrics import _resample
from icgkit.metrics._gee_solve import solve
from icgkit.metrics.gee import _design

HERE = Path(__file__).parent


def judged() -> pl.DataFrame:
    """Read the input of the R script, one row a decision of each of two judges."""
    wide = pl.read_csv(HERE / "judged.csv")
    keys = ["case_id", "node_id", "model", "condition"]
    return pl.concat(
        wide.select(*keys, judge=pl.lit(judge), found=pl.col(column).cast(pl.Boolean))
        for judge, column in (("first", "found"), ("second", "found2"))
    )


def reference() -> dict[str, Any]:
    """Read what R printed."""
    return dict(json.loads((HERE / "reference.json").read_text(encoding="utf-8")))


def _largest(ours: Any, theirs: Any) -> float:
    return float(np.max(np.abs(np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float))))


def checks() -> pl.DataFrame:
    """Return estimator, software, what is compared, largest absolute deviation, tolerance."""
    r, both = reference(), judged()
    first = both.filter(judge="first")
    one = first.filter(model="m1")
    rows: list[tuple[str, str, str, float, float]] = []

    def add(estimator: str, software: str, what: str, ours: Any, theirs: Any, tolerance: float) -> None:
        rows.append((estimator, software, what, _largest(ours, theirs), tolerance))

    reference_levels = {"condition": "direct", "model": "m1"}
    fit = metrics.gee(first, reference=reference_levels)
    add("GEE exchangeable", "R geepack", "coefficients (own moment estimate of the correlation)",
        fit["estimate"], r["gee"]["coefficient"], 2e-4)  # fmt: skip
    add(
        "GEE exchangeable",
        "R geepack",
        "robust errors (own moment estimate)",
        fit["se"],
        r["gee"]["se"],
        2e-4,
    )
    same = _fixed(first, r["gee"]["alpha"])
    add(
        "GEE exchangeable",
        "R geepack",
        "coefficients at geepack's correlation",
        same[0],
        r["gee"]["coefficient"],
        1e-6,
    )
    add(
        "GEE exchangeable",
        "R geepack",
        "robust errors at geepack's correlation",
        same[1],
        r["gee"]["se"],
        1e-6,
    )
    free = metrics.gee(first, reference=reference_levels, working="independence")
    add(
        "GEE independence",
        "R geepack",
        "coefficients",
        free["estimate"],
        r["gee_independence"]["coefficient"],
        1e-6,
    )
    add("GEE independence", "R geepack", "robust errors", free["se"], r["gee_independence"]["se"], 1e-6)
    rowwise = metrics.gee(first, reference=reference_levels, engine="statsmodels")
    add("GEE exchangeable", "statsmodels", "coefficients", fit["estimate"], rowwise["estimate"], 1e-8)
    add("GEE exchangeable", "statsmodels", "robust errors", fit["se"], rowwise["se"], 1e-8)

    irt = metrics.item_response(first)
    people = irt.respondents.with_columns(name=pl.format("respondent{}/{}", "model", "condition")).sort(
        "name"
    )
    add("item response", "R lme4 (nAGQ 25)", "abilities", people["ability"], r["glmer"]["coefficient"], 2e-3)
    add("item response", "R lme4 (nAGQ 25)", "standard errors", people["se"], r["glmer"]["se"], 2e-3)
    add("item response", "R lme4 (nAGQ 25)", "sd of items", irt.fit["sd_items"], [r["glmer"]["sd"]], 2e-3)
    items = irt.items.with_columns(name=pl.format("{}/{}", "case_id", "node_id")).sort("name")
    add("item response", "R lme4 (nAGQ 25)", "difficulties (posterior mean against lme4's mode)",
        -items["difficulty"].to_numpy(), r["glmer"]["mode"], 0.12)  # fmt: skip

    macro = metrics.recall(one, average=("macro", "micro"), ci=metrics.Bootstrap(50_000)).filter(
        condition="direct"
    )
    gap = metrics.gap(one, ci=metrics.Bootstrap(50_000))
    ours = [*macro["estimate"], gap["estimate"][0]]
    add("recall and gap", "R boot", "estimates", ours, r["boot"]["estimate"], 1e-12)
    for side in ("low", "high"):
        add("cluster bootstrap", "R boot (B = 50,000)", f"{side} end of the percentile interval",
            [*macro[side], gap[side][0]], r["boot"][side], 4e-3)  # fmt: skip

    two = metrics.agreement(both, ci=metrics.Bootstrap(2000))
    add("kappa", "R psych", "estimate", two["kappa"], [r["kappa"]["kappa"]], 1e-12)
    cells = np.array([two[c][0] for c in ("n_both", "n_a_only", "n_b_only", "n_neither")]) / r["kappa"]["n"]
    from icgkit.metrics.power import kappa_variance

    add(
        "variance of kappa",
        "R psych",
        "estimate",
        kappa_variance(cells) / r["kappa"]["n"],
        r["kappa"]["variance"],
        1e-12,
    )
    add("raw agreement, PABAK", "R epiR", "estimates", [two["raw"][0], two["pabak"][0]],
        [r["epi"]["raw"], r["epi"]["pabak"]], 1e-12)  # fmt: skip

    for target, name in (("oracle", "mcnemar"), ("cot", "mcnemar_cot")):
        test = metrics.mcnemar(one, metrics.Contrast(targets=[target])).row(0, named=True)
        add(
            "McNemar exact",
            "R binom.test",
            f"p, direct against {target}",
            test["p_exact"],
            r[name]["exact"],
            1e-12,
        )
        add("McNemar mid-p", "R coin", f"p, direct against {target}", test["p_midp"], r[name]["midp"], 1e-12)
    few = one.filter(pl.col("case_id") < "c14")
    flip = metrics.permutation(few, metrics.Contrast(targets=["cot"])).row(0, named=True)
    add("paired permutation", "R coin (exact)", "p", flip["p_value"], r["permutation"]["p"], 1e-10)
    d = metrics.cohens_d(one, metrics.Contrast(targets=["oracle"]), ci=metrics.Bootstrap(500)).row(
        0, named=True
    )
    n = d["n_pairs"]  # psych divides the variances by n, we by n - 1
    add("Cohen's d", "R psych", "d, rescaled by sqrt(n / (n - 1))", abs(d["estimate"]) * (n / (n - 1)) ** 0.5,
        abs(r["cohen"]["d"]), 1e-10)  # fmt: skip
    add("Cohen's d", "R", "d_z", d["d_z"], r["cohen"]["dz"], 1e-10)

    ranks = metrics.spearman(
        pl.DataFrame({"x": r["spearman"]["x"], "y": r["spearman"]["y"]}), "x", "y", ci=metrics.Bootstrap(500)
    )
    add("Spearman", "R cor.test", "rho and p", [ranks["estimate"][0], ranks["p_value"][0]],
        [r["spearman"]["rho"], r["spearman"]["p"]], 1e-10)  # fmt: skip
    family = pl.DataFrame({"p_value": r["adjust"]["p"]})
    for method in ("holm", "bh"):
        add(f"adjusted p, {method}", "R p.adjust", "p", metrics.adjust(family, method=method)["p_adjusted"],
            r["adjust"][method], 1e-12)  # fmt: skip
    add("power of a difference", "R pwr", "power", metrics.power_difference(effect=0.04, sd=0.3, cases=461)["power"],
        [r["power"]["power"]], 1e-10)  # fmt: skip
    add("cases needed", "R pwr", "cases, rounded up", metrics.cases_needed(effect=0.04, sd=0.3)["cases"],
        [np.ceil(r["power"]["n"])], 0.5)  # fmt: skip
    add(
        "Wilson interval", "R prop.test", "both ends", _resample.wilson(47 / 54, 54, 0.95), r["wilson"], 1e-12
    )
    return pl.DataFrame(
        rows, schema=["estimator", "software", "what", "deviation", "tolerance"], orient="row"
    )


def _fixed(frame: pl.DataFrame, alpha: float) -> tuple[Any, Any]:
    """Solve with a given working correlation."""
    wide = frame.group_by("case_id", "condition", "model").agg(
        y=pl.col("found").sum().cast(pl.Float64), n=pl.len().cast(pl.Float64)
    )
    cells = wide.select("condition", "model").unique().sort("condition", "model")
    cases = wide["case_id"].unique().sort().to_list()
    y, n = (np.zeros((len(cases), cells.height)) for _ in range(2))
    where = {row: k for k, row in enumerate(cells.rows())}
    for case, condition, model, yes, rows in wide.iter_rows():
        k = where[condition, model]
        y[cases.index(case), k], n[cases.index(case), k] = yes, rows
    design, _ = _design(cells, ["condition", "model"], {"condition": "direct", "model": "m1"})
    fit = solve(design, y, n, correlation=alpha)
    return fit.coefficients, np.sqrt(np.diag(fit.covariance))


if __name__ == "__main__":
    with pl.Config(tbl_rows=-1, fmt_str_lengths=80, tbl_width_chars=160, tbl_formatting="MARKDOWN"):
        print(
            checks().with_columns(
                pl.col("deviation", "tolerance").map_elements(lambda v: f"{v:.1e}", pl.String)
            )
        )
