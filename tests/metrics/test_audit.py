"""What a statistician and a field test found: one test a fault, with the right value and where it comes from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from icgkit import metrics
from icgkit.errors import IcgError, SchemaError, UnknownName
from icgkit.metrics import power

B = metrics.Bootstrap
ONE = pl.DataFrame({"case_id": ["a", "b"], "g": "g", "condition": "x", "found": [False, False]})
ONE_VALID = ONE.rename({"found": "valid"})


def pair(n: int = 40, nodes: int = 2, **more: Any) -> pl.DataFrame:
    """Two conditions on the same nodes; oracle finds one node in four more."""
    rows = [
        {"case_id": f"c{c:02}", "node_id": f"n{k}", "model": "m", "condition": cond, "judge": "j", "dataset": "d"}
        | {"found": (c + k) % 4 < (1 if cond == "direct" else 2)} | more
        for c in range(n) for k in range(nodes) for cond in ("direct", "oracle")
    ]  # fmt: skip
    return pl.DataFrame(rows)


# --- utility: cost is per response, whatever is drawn; what nobody judged is not free ----------------------------


def test_cost_does_not_depend_on_the_cluster() -> None:
    options: dict[str, Any] = {"by": (), "ratios": [1.0]}
    by_case = metrics.utility(ONE, ONE_VALID, ci=B(20), **options)["estimate"].item()
    by_group = metrics.utility(ONE, ONE_VALID, ci=B(20, cluster="g"), **options)["estimate"].item()
    assert by_case == by_group == 2.0  # one missed node and one spurious step a case


def test_a_response_that_was_not_judged_costs_what_the_others_cost() -> None:
    row = metrics.utility(ONE, ONE_VALID.head(1), by=(), ratios=[1.0], ci=B(20)).row(0, named=True)
    assert (row["estimate"], row["n_scored"], row["n_total"], row["n_missing"]) == (2.0, 1, 2, 1)
    assert "1 of 2 responses judged for both" in row["status"]
    read = pl.DataFrame({"case_id": ["b"], "condition": ["x"], "n_items": [0], "status": ["none"]})
    row = metrics.utility(ONE, ONE_VALID.head(1), read, by=(), ratios=[1.0], ci=B(20)).row(0, named=True)
    assert (row["estimate"], row["n_missing"]) == (1.5, 0)  # b missed one and proposed nothing
    unread = read.with_columns(status=pl.lit("unreadable"))
    row = metrics.utility(ONE, ONE_VALID.head(1), unread, by=(), ratios=[1.0], ci=B(20)).row(0, named=True)
    assert (row["estimate"], row["n_missing"]) == (2.0, 1)


def test_a_null_verdict_costs_as_much_as_its_neighbours() -> None:
    rows = pl.DataFrame(
        {
            "case_id": ["a"] * 4 + ["b"] * 4,
            "condition": "x",
            "found": [False, True, None, None, False, True, False, True],
        }
    )
    verdicts = pl.DataFrame(
        {"case_id": ["a", "a", "b", "b"], "condition": "x", "valid": [False, None, False, False]}
    )
    row = metrics.utility(rows, verdicts, by=(), ratios=[1.0], ci=None).row(0, named=True)
    assert (row["missed"], row["spurious"], row["n_verdicts_missing"]) == (2.0, 2.0, 3)


# --- paired measures keep judges, datasets and models apart -----------------------------------------------------

PAIRED: dict[str, Callable[..., pl.DataFrame]] = {
    "mcnemar": metrics.mcnemar,
    "permutation": lambda d, **o: metrics.permutation(d, ci=B(50), **o),
    "cohens_d": lambda d, **o: metrics.cohens_d(d, ci=B(50), **o),
    "case_sd": metrics.case_sd,
    "plan_tests": lambda d, **o: metrics.plan_tests(
        d.with_columns(satisfied=pl.col("found")), metrics.Contrast(), ci=B(50), **o
    ),
}


@pytest.mark.parametrize("name", PAIRED)
@pytest.mark.parametrize("column", ["judge", "dataset"])
def test_two_judges_or_datasets_are_not_one_sample(name: str, column: str) -> None:
    two = pl.concat([pair(), pair(**{column: "other"})])  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match=f"2 values of '{column}'"):
        PAIRED[name](two)
    assert PAIRED[name](two, by=("model", column)).height == 2


@pytest.mark.parametrize("name", PAIRED)
def test_models_are_pooled_only_by_name(name: str) -> None:
    two = pl.concat([pair(), pair(model="k")])
    with pytest.raises(SchemaError, match="2 models"):
        PAIRED[name](two, by=())
    one, pooled = PAIRED[name](pair(), by=()), PAIRED[name](two, by=(), pooling="pooled")
    assert pooled["n_pairs"].item() == 2 * one["n_pairs"].item()
    assert pooled["n_cases"].item() == 40
    with pytest.raises(IcgError, match="pooling"):
        PAIRED[name](two, by=(), pooling="mean_over_models")
    with pytest.raises(SchemaError, match="2 models"):
        metrics.power_from_pilot(two, cases=50)
    assert metrics.power_from_pilot(two, cases=50, pooling="pooled", ci=B(50))["n_clusters"].item() == 40


def test_clustered_mcnemar_by_hand_and_its_type_one_error() -> None:
    # Two cases with 3 and 1 nodes won, one with 2 lost: sums 3, 1, -2; z^2 = 2^2 / (9 + 1 + 4).
    won = [("a", 3, True), ("b", 1, True), ("c", 2, False)]
    rows = [
        {"case_id": c, "node_id": f"n{k}", "condition": cond, "found": (cond == "oracle") == up}
        for c, n, up in won for k in range(n) for cond in ("direct", "oracle")
    ]  # fmt: skip
    from scipy import stats

    got = metrics.mcnemar(pl.DataFrame(rows), by=()).row(0, named=True)
    assert got["p_value"] == pytest.approx(stats.chi2.sf(4 / 14, 1))
    assert (got["n_clusters"], got["status"]) == (3, "3 clusters: p likely too small")
    rng = np.random.default_rng(0)
    exact = clustered = 0
    for _ in range(120):  # nodes of a case win or lose together: no difference between the conditions
        way = rng.integers(0, 2, 60)
        null = pl.DataFrame(
            {
                "case_id": np.tile(np.repeat(np.arange(60), 4), 2), "node_id": np.tile(np.arange(4), 120),
                "condition": ["direct"] * 240 + ["oracle"] * 240,
                "found": np.concatenate([np.repeat(way == 0, 4), np.repeat(way == 1, 4)]),
            }
        )  # fmt: skip
        row = metrics.mcnemar(null, by=()).row(0, named=True)
        exact += row["p_exact"] < 0.05
        clustered += row["p_value"] < 0.05
    assert clustered <= 14 < exact


def test_cluster_columns_reach_the_paired_measures() -> None:
    rows = pair().with_columns(template=pl.col("case_id").str.slice(0, 2))
    by_template = B(200, cluster="template")
    assert metrics.permutation(rows, ci=by_template)["n_clusters"].item() == 4
    assert metrics.cohens_d(rows, ci=by_template)["n_clusters"].item() == 4
    assert metrics.case_sd(rows, cluster="template")["n_clusters"].item() == 4
    assert metrics.mcnemar(rows, cluster="template")["n_clusters"].item() == 4
    assert metrics.power_from_pilot(rows, cases=20, ci=by_template)["n_clusters"].item() == 4
    tests = metrics.plan_tests(
        rows.with_columns(satisfied=pl.col("found")), metrics.Contrast(), ci=by_template
    )
    assert (tests["n_clusters"].item(), tests["n_cases"].item()) == (4, 40)
    split = rows.with_columns(template=pl.concat_str("template", "condition"))
    with pytest.raises(SchemaError, match="keeps pairs whole"):
        metrics.permutation(split, ci=by_template)


def test_power_of_small_studies_keeps_its_level() -> None:
    rng = np.random.default_rng(2)
    d = rng.normal(size=400)
    pilot = pl.DataFrame(
        {"case_id": np.tile(np.arange(400), 2), "condition": ["direct"] * 400 + ["oracle"] * 400,
         "found": np.zeros(800)}
    ).with_columns(found=pl.Series(np.concatenate([np.zeros(400), d])))  # fmt: skip
    got = metrics.power_from_pilot(pilot, cases=[10, 20], effect=0.0, ci=B(4000))
    assert got["estimate"].to_list() == pytest.approx(
        [0.05, 0.05], abs=0.015
    )  # 0.105 and 0.076 with a z-test


# --- GEE: formulas, separation ----------------------------------------------------------------------------------


def test_formula_without_the_usual_terms_and_with_holes() -> None:
    rows = pair(60).drop("model").with_columns(x=pl.int_range(pl.len()) % 7)
    holed = rows.with_columns(x=pl.when(pl.col("case_id") < "c05").then(None).otherwise("x"))
    got = metrics.gee(holed, formula="condition * x")
    assert got.select("n_scored", "n_total", "n_missing", "n_clusters").unique().row(0) == (220, 240, 20, 55)
    same = metrics.gee(holed.drop_nulls("x"), formula="condition * x")
    for column in ("estimate", "se", "p_value"):
        assert got[column].to_list() == pytest.approx(same[column].to_list())


def test_formula_agrees_with_statsmodels_with_its_reference_honoured() -> None:
    import statsmodels.api as sm

    rng = np.random.default_rng(7)
    rows = pl.DataFrame(
        {"case_id": rng.integers(0, 60, 600), "condition": rng.choice(["a", "b", "c"], 600), "x": rng.normal(size=600),
         "found": rng.random(600) < 0.4}
    )  # fmt: skip
    data = pd.DataFrame(rows.sort("case_id").to_dict(as_series=False)).assign(
        found=lambda d: d["found"].astype(float)
    )
    for kind in ("robust", "bias_reduced"):
        ours = metrics.gee(
            rows, formula="condition * x", reference={"condition": "b"}, ci=metrics.Sandwich(kind=kind)
        )
        theirs = sm.GEE.from_formula(
            "found ~ C(condition, Treatment('b')) * x", groups="case_id", data=data, family=sm.families.Binomial(),
            cov_struct=sm.cov_struct.Exchangeable(),
        ).fit(cov_type=kind, ctol=1e-10, maxiter=200)  # fmt: skip
        assert sorted(ours["estimate"]) == pytest.approx(sorted(theirs.params), abs=1e-7)
        assert sorted(ours["se"]) == pytest.approx(sorted(theirs.bse), abs=1e-7)
    with pytest.raises(UnknownName, match="nowhere"):
        metrics.gee(rows, formula="condition", reference={"condition": "nowhere"})
    with pytest.raises(UnknownName, match="term in reference"):
        metrics.gee(rows, formula="x", reference={"condition": "b"})


@pytest.mark.parametrize(
    ("formula", "match"),
    [("condition * nope", "nope"), ("condition +", "cannot be used"), ("found ~ x", "right-hand side"), ("", "right-hand"),
     ("np.log(x - x)", "no numbers"), ("x + I(2 * x)", "determine each other")],
)  # fmt: skip
def test_formulas_that_cannot_be_used_say_why(formula: str, match: str) -> None:
    rows = pair().with_columns(x=pl.int_range(pl.len()) % 5)
    with pytest.raises(IcgError, match=match):
        metrics.gee(rows, formula=formula)


@pytest.mark.parametrize("engine", ["counts", "statsmodels"])
@pytest.mark.parametrize("way", ["terms", "formula"])
def test_separation_leaves_no_number_and_spares_the_other_terms(engine: str, way: str) -> None:
    rng = np.random.default_rng(4)
    rows = pl.DataFrame(
        {"case_id": rng.integers(0, 80, 800), "condition": rng.choice(["direct", "oracle"], 800),
         "y": rng.choice(["p", "q"], 800), "found": rng.random(800) < 0.5}
    ).with_columns(found=pl.when(pl.col("condition") == "oracle").then(True).otherwise("found"))  # fmt: skip
    terms: dict[str, Any] = {"terms": ["condition", "y"]} if way == "terms" else {"formula": "condition + y"}
    got = metrics.gee(rows, **terms, engine=engine)  # type: ignore[arg-type]
    gone = got.filter(pl.col("estimate").is_null())
    assert gone.height == 1
    assert gone.select("se", "low", "high", "p_value", "odds_ratio").row(0) == (None,) * 5
    assert "separation" in gone["status"].item()
    rest = metrics.gee(rows.filter(condition="direct"), terms="y", engine=engine)  # type: ignore[arg-type]
    kept = got.drop_nulls("estimate")
    assert kept["estimate"].to_list() == pytest.approx(rest["estimate"].to_list(), abs=1e-7)
    assert kept["se"].to_list() == pytest.approx(rest["se"].to_list(), abs=1e-7)
    assert kept["status"].unique().to_list() == ["rows left out that separation decides"]


@pytest.mark.parametrize("value", [True, False, None])
def test_formula_on_outcomes_that_are_all_alike(value: bool | None) -> None:
    rows = pair().with_columns(found=pl.lit(value, dtype=pl.Boolean), x=pl.int_range(pl.len()) % 5)
    if value is None:
        with pytest.raises(SchemaError, match="no row with an outcome"):
            metrics.gee(rows, formula="x")
        return
    got = metrics.gee(rows, formula="x")
    assert got["p_value"].null_count() == 2
    assert set(got["status"]) == {f"separation: every outcome is {str(value).lower()}"}


def test_a_covariate_that_parts_the_outcomes_is_separation_too() -> None:
    rows = pair(80).with_columns(x=pl.int_range(pl.len())).with_columns(found=pl.col("x") > 100)
    got = metrics.gee(rows, formula="x")
    assert got["estimate"].null_count() == 2
    assert set(got["status"]) == {"separation: coefficient without bound"}


def test_gee_crossed_over_two_columns_against_the_formula_of_the_sandwich() -> None:
    rng = np.random.default_rng(9)
    rows = pl.DataFrame(
        {"case_id": rng.integers(0, 50, 900), "judge_group": rng.integers(0, 45, 900),
         "condition": rng.choice(["direct", "oracle"], 900), "found": rng.random(900) < 0.5}
    )  # fmt: skip
    crossed = metrics.Sandwich(("case_id", "judge_group"))
    got = metrics.gee(rows, terms="condition", working="independence", ci=crossed)
    x = np.column_stack([np.ones(900), rows["condition"].to_numpy() == "oracle"]).astype(float)
    mu = 1 / (1 + np.exp(-x @ got["estimate"].to_numpy()))
    u = x * (rows["found"].to_numpy() - mu)[:, None]
    bread = np.linalg.inv((x * (mu * (1 - mu))[:, None]).T @ x)

    def middle(*names: str) -> Any:
        sums = [
            p.drop("g").sum().to_numpy()[0]
            for _, p in rows.select(names)
            .with_columns(a=pl.Series(u[:, 0]), b=pl.Series(u[:, 1]), g=pl.lit(0))
            .group_by(names)
        ]
        sums = [s[-2:] for s in sums]
        return np.array(sums).T @ np.array(sums)

    m = middle("case_id") + middle("judge_group") - middle("case_id", "judge_group")
    assert got["se"].to_numpy() == pytest.approx(np.sqrt(np.diag(bread @ m @ bread)), rel=1e-8)
    assert got["n_clusters"].unique().to_list() == [45]
    with pytest.raises(SchemaError, match="independence"):
        metrics.gee(rows, terms="condition", ci=crossed)


def test_no_row_of_a_fit_mixes_scales() -> None:
    got = metrics.gee(pair(60), terms="condition").row(1, named=True)
    assert got["scale"] == "log odds"
    assert got["low"] < got["estimate"] < got["high"]
    assert (got["odds_ratio_low"], got["odds_ratio"], got["odds_ratio_high"]) == pytest.approx(
        tuple(np.exp([got["low"], got["estimate"], got["high"]]))
    )


# --- prediction-powered: labels inside cases ---------------------------------------------------------------------


def gold_study(seed: int, cases: int = 40, nodes: int = 12) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Cases of unlike difficulty, a judge that errs by case, a fifth of the nodes labelled at random."""
    rng = np.random.default_rng(seed)
    level, slip = rng.normal(0, 1.2, cases), rng.normal(0, 1.0, cases)
    case = np.repeat(np.arange(cases), nodes)
    real = rng.random(cases * nodes) < 1 / (1 + np.exp(-level[case]))
    wrong = rng.random(cases * nodes) < 1 / (1 + np.exp(1.8 - slip[case]))
    rows = pl.DataFrame(
        {"case_id": [f"c{c:03}" for c in case], "node_id": np.tile(np.arange(nodes), cases), "found": real ^ wrong,
         "gold": real}
    )  # fmt: skip
    some = np.sort(rng.permutation(len(case))[: len(case) // 5])
    return rows.drop("gold"), rows[some]


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_prediction_powered_by_hand_with_labels_inside_cases(average: Any) -> None:
    every, some = gold_study(1)
    got = metrics.corrected(every, some, by=(), average=average, ci=B(50)).filter(
        estimator="prediction_powered"
    )
    whole = every.join(some.drop("found"), on=["case_id", "node_id"], how="left")
    f, y = whole["found"].cast(pl.Float64).to_numpy(), whole["gold"].cast(pl.Float64).to_numpy()
    on = ~np.isnan(y)
    v = np.ones(len(f))  # every case has as many nodes: macro is micro
    left, right = f[~on].mean(), (y - f)[on].mean()
    move = (
        np.where(on, 0, (f - left) / (~on).sum()) + np.where(on, np.nan_to_num(y - f) - right, 0) / on.sum()
    )
    sums = np.array([(v * move)[whole["case_id"].to_numpy() == c].sum() for c in whole["case_id"].unique()])
    assert got["estimate"].item() == pytest.approx(left + right)
    assert got["se"].item() == pytest.approx((sums @ sums * 40 / 39) ** 0.5)


def test_prediction_powered_interval_holds_the_truth_with_labels_inside_cases() -> None:
    held = dict.fromkeys(("prediction_powered", "prediction_powered_tuned", "labels"), 0)
    for seed in range(150):
        every, some = gold_study(seed)
        for row in metrics.corrected(every, some, by=(), ci=B(2)).iter_rows(named=True):
            if row["estimator"] in held:
                held[row["estimator"]] += row["low"] <= 0.5 <= row["high"]
    assert all(n >= 136 for n in held.values()), held  # 0.907; was 0.885 of many


def test_macro_correction_weights_cases_and_gap_keeps_pairs() -> None:
    rng = np.random.default_rng(3)
    rows = pl.DataFrame(
        [
            {"case_id": f"c{c:03}", "node_id": f"n{k}", "condition": cond, "gold": bool(rng.random() < p + 0.4 * (c % 2))}
            for c in range(150) for k in range(1 if c % 2 else 6) for cond, p in (("direct", 0.1), ("oracle", 0.4))
        ]
    ).with_columns(found=pl.col("gold") ^ pl.Series(rng.random(150 * 7) < 0.1))  # fmt: skip
    labels = rows.filter(pl.Series(rng.random(rows.height) < 0.5))
    macro = metrics.corrected(rows.drop("gold"), labels, by="condition", average="macro", ci=B(400))
    for row in macro.filter(pl.col("estimator") != "judge").iter_rows(named=True):
        truth = metrics.recall(rows.filter(condition=row["condition"]), by=(), value="gold", ci=None)[
            "estimate"
        ][0]
        assert row["low"] <= truth <= row["high"]
    gap = metrics.corrected_gap(rows.drop("gold"), labels, by=(), average="macro", ci=B(400))
    truth = metrics.gap(rows, by=(), value="gold", ci=None)["estimate"][0]
    sides = {r["estimator"]: r for r in gap.iter_rows(named=True)}
    for name, row in sides.items():
        one, two = (
            macro.filter(condition=c, estimator=name)["estimate"].item() for c in ("direct", "oracle")
        )
        assert row["estimate"] == pytest.approx(two - one)
        assert name == "judge" or row["low"] <= truth <= row["high"]


def test_labels_that_are_no_decision_or_say_otherwise_are_refused() -> None:
    every, some = gold_study(2)
    with pytest.raises(SchemaError, match=r"1 of .* no decision of the judgments"):
        metrics.corrected(
            every,
            some.with_columns(
                case_id=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("zz")).otherwise("case_id")
            ),
            by=(),
        )
    with pytest.raises(SchemaError, match="another 'found'"):
        metrics.corrected(every, some.with_columns(found=~pl.col("found")), by=())
    with pytest.raises(SchemaError, match="share"):
        metrics.corrected(every, pl.concat([some, some]), by=())


# --- item response on hard material -------------------------------------------------------------------------------


def test_item_response_with_wide_items_is_that_of_a_dense_grid() -> None:
    from scipy.optimize import minimize

    rng = np.random.default_rng(8)
    ability, hard = np.linspace(-4, 4, 24), rng.normal(0, 4.5, 120)
    found = rng.random((120, 24)) < 1 / (1 + np.exp(-(ability - hard[:, None])))
    rows = pl.DataFrame(
        [{"case_id": f"c{i:03}", "node_id": "n", "model": f"m{r:02}", "found": bool(found[i, r])}
         for i in range(120) for r in range(24)]
    )  # fmt: skip
    fit = metrics.item_response(rows, respondent="model")
    x = np.linspace(-8, 8, 4001)
    weight = np.exp(-(x**2) / 2) / np.exp(-(x**2) / 2).sum()

    def loss(p: Any) -> float:
        eta = p[:-1, None] - np.exp(p[-1]) * x
        one, zero = -np.logaddexp(0, -eta), -np.logaddexp(0, eta)
        joint = found.astype(float) @ one + (~found).astype(float) @ zero + np.log(weight)
        return -float(np.logaddexp.reduce(joint, axis=1).sum())

    ours = np.append(fit.respondents["ability"].to_numpy(), np.log(fit.fit["sd_items"].item()))
    assert fit.fit["log_likelihood"].item() == pytest.approx(-loss(ours), abs=1e-8)
    # One more step of another optimiser from our fit finds nothing better.
    best = minimize(
        lambda t: loss(ours + t * np.append(np.ones(24), 0)),
        [0.0],
        method="Nelder-Mead",
        options={"maxiter": 20},
    )
    assert best.fun >= loss(ours) - 1e-6
    for k in (0, 12, 24):
        step = np.zeros(25)
        step[k] = 0.02
        assert min(loss(ours + step), loss(ours - step)) > loss(ours)
    assert fit.fit.select("status", "moved").row(0)[0] == "ok"
    assert fit.fit["moved"].item() < 1e-4


def test_a_grid_that_is_too_coarse_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from icgkit.metrics import items

    monkeypatch.setattr(items, "MOST", 17)
    rng = np.random.default_rng(8)
    rows = pl.DataFrame(
        [{"case_id": f"c{i:03}", "node_id": "n", "model": f"m{r:02}",
          "found": bool(rng.random() < 1 / (1 + np.exp(-(r / 3 - 4 + 6 * np.sin(i)))))}
         for i in range(60) for r in range(24)]
    )  # fmt: skip
    assert "points are too few" in metrics.item_response(rows, respondent="model").fit["status"].item()


def test_abilities_are_less_certain_where_nodes_of_a_case_hang_together() -> None:
    rng = np.random.default_rng(6)
    push = rng.normal(0, 2.0, (30, 6))  # every model has a luck of its own with every case
    rows = pl.DataFrame(
        [{"case_id": f"c{c:02}", "node_id": f"n{k}", "model": f"m{m}",
          "found": bool(rng.random() < 1 / (1 + np.exp(-(m / 2 - 1.2 + push[c, m]))))}
         for c in range(30) for k in range(8) for m in range(6)]
    )  # fmt: skip
    plain, robust = (
        metrics.item_response(rows, respondent="model", cluster=c).respondents for c in (None, "case_id")
    )
    assert plain["ability"].to_list() == robust["ability"].to_list()
    assert (robust["se"] > 1.5 * plain["se"]).all()
    assert robust["n_clusters"].unique().to_list() == [30]


# --- rows that stand twice, few clusters, input ------------------------------------------------------------------

TWICE: dict[str, Callable[[pl.DataFrame], Any]] = {
    "recall": lambda d: metrics.recall(d, ci=None),
    "recall, lazy": lambda d: metrics.recall(d.lazy(), ci=None),
    "gap": metrics.gap,
    "gee": lambda d: metrics.gee(d, terms="condition"),
    "precision": lambda d: metrics.precision(d.with_columns(valid=pl.col("found")), ci=None),
    "satisfaction": lambda d: metrics.satisfaction(d.with_columns(satisfied=pl.col("found")), ci=None),
    "spread": lambda d: metrics.spread(d, over="node_id"),
    "item_response": lambda d: metrics.item_response(d, respondent="condition"),
    "utility": lambda d: metrics.utility(d, d.with_columns(valid=pl.col("found")), ci=None),
    "mcnemar": metrics.mcnemar,
    "audit": lambda d: metrics.audit(d.filter(condition="direct"), dimensions=["found"]),
    "leakage": lambda d: metrics.leakage(
        d.with_columns(subtype_exact="found", region_match=pl.lit("match"), form="condition").drop(
            "condition"
        )
    ),
}


@pytest.mark.parametrize("name", TWICE)
def test_a_decision_that_stands_twice_is_refused(name: str) -> None:
    TWICE[name](pair())
    with pytest.raises(SchemaError, match=r"stand twice|share"):
        TWICE[name](pl.concat([pair(), pair().head(1)]))


def test_the_remedy_for_repeated_rows_works_when_pasted() -> None:
    twice = pl.concat([pair(), pair().head(3)])
    with pytest.raises(SchemaError) as caught:
        metrics.recall(twice, ci=None)
    assert caught.value.remedy is not None
    command = caught.value.remedy.split("with ")[1].split(", or name")[0]
    assert metrics.recall(eval(command, {"frame": twice}), ci=None).equals(metrics.recall(pair(), ci=None))


def test_numbers_and_booleans_are_compared() -> None:
    rows = pair().with_columns(
        round=pl.when(pl.col("condition") == "direct").then(1).otherwise(2),
        told=pl.col("condition") == "oracle",
    )
    want = metrics.differences(rows, ci=None)["estimate"].item()
    options: dict[str, Any] = {"by": ("model",), "ci": None}
    rows = rows.drop("condition")
    for over, reference in (
        ("round", 1),
        ("round", "1"),
        ("round", np.int64(1)),
        ("told", False),
        ("told", "False"),
    ):
        contrast = metrics.Contrast(over, reference)
        got = metrics.differences(rows, contrast, **options)
        assert got["estimate"].item() == pytest.approx(want)
        assert metrics.mcnemar(rows, contrast)["estimate"].item() == pytest.approx(want)
    assert metrics.differences(rows, metrics.Contrast("round", 1, 2), **options)["target"].item() == "2"


def test_one_target_may_be_given_as_a_word() -> None:
    word, several = metrics.Contrast(targets="oracle"), metrics.Contrast(targets=["oracle"])
    assert metrics.mcnemar(pair(), word).equals(metrics.mcnemar(pair(), several))
    assert metrics.differences(pair(), word, ci=None).height == 1
    with pytest.raises(UnknownName, match="orcale"):
        metrics.cohens_d(pair(), metrics.Contrast(targets="orcale"))
    with pytest.raises(SchemaError, match="needs two judges"):
        metrics.agreement(pair().with_columns(judge=pl.col("condition")), judges="direct")


def test_numpy_numbers_are_numbers() -> None:
    assert metrics.power_difference(effect=np.float64(0.1), sd=np.float64(0.3), cases=np.int64(100)).equals(  # type: ignore[arg-type]
        metrics.power_difference(effect=0.1, sd=0.3, cases=100)
    )
    assert metrics.power_difference(effect=np.array([0.1, 0.2]), sd=0.3, cases=np.array([50, 60])).height == 4
    assert metrics.power_kappa(kappa=0.7, null=0.5, rate_a=0.5, pairs=np.int64(100), ci=B(10)).height == 1  # type: ignore[arg-type]
    assert metrics.power_from_pilot(pair(), cases=np.int64(30), ci=B(20)).height == 1  # type: ignore[arg-type]
    for bad in (
        {"cases": 0},
        {"cases": 10.5},
        {"cases": "ten"},
        {"effect": "big"},
        {"sd": float("nan")},
        {"alpha": 1.0},
    ):
        with pytest.raises(SchemaError):
            metrics.power_difference(**({"effect": 0.1, "sd": 0.3, "cases": 10} | bad))


@pytest.mark.parametrize("call", [metrics.permutation, metrics.cohens_d, metrics.case_sd])
def test_numbers_written_as_words_are_refused(call: Callable[..., Any]) -> None:
    with pytest.raises(SchemaError, match="dtype"):
        call(pair().with_columns(pl.col("found").cast(pl.Int8).cast(pl.String)))


def test_empty_frames_get_an_answer_or_a_reason() -> None:
    empty = pair().clear()
    assert metrics.recall(empty).is_empty()
    for call in (metrics.gap, metrics.mcnemar, metrics.permutation, metrics.cohens_d, metrics.case_sd):
        with pytest.raises(SchemaError, match="no rows with a value of 'condition'"):
            call(empty)


def test_few_clusters_are_flagged_by_every_interval() -> None:
    rows = pair(12)
    for frame in (
        metrics.recall(rows),
        metrics.gap(rows),
        metrics.spread(rows, over="node_id"),
        metrics.cohens_d(rows),
    ):
        assert frame["status"].str.contains("12 clusters: interval likely too narrow").all()
    two = rows.with_columns(judge=pl.col("condition"), condition=pl.lit("x"))
    assert metrics.agreement(two)["status"].item() == "12 clusters: interval likely too narrow"


# --- annotators ---------------------------------------------------------------------------------------------------


def test_ac1_with_a_scale_and_single_labels() -> None:
    # Items: ss, st, s (single), tt. Raw over the three with two labels: 2/3. Shares over all four:
    # s (1 + 1/2 + 1 + 0) / 4 = 5/8, t 3/8. g = sum p (1 - p) / (K - 1) = 15/32 with K = 2, 15/64 with K = 3.
    labels = pl.DataFrame(
        {"case_id": list("aabbcdd"), "node_id": "n", "annotator": list("xyxyxxy"), "subtype": list("ssststt")}
    )
    two = metrics.fleiss(labels, ci=None).row(0, named=True)
    assert two["ac1"] == pytest.approx((2 / 3 - 15 / 32) / (1 - 15 / 32))
    three = metrics.fleiss(labels, categories=["s", "t", "u"], ci=None).row(0, named=True)
    assert three["ac1"] == pytest.approx((2 / 3 - 15 / 64) / (1 - 15 / 64))
    assert (three["n_items"], three["n_labels"], three["n_categories"]) == (3, 7, 3)
    with pytest.raises(UnknownName, match="categories"):
        metrics.fleiss(labels, categories=["s"])


def test_annotated_nodes_of_a_case_are_drawn_together() -> None:
    rng = np.random.default_rng(1)
    good = rng.random(40) < 0.8
    rows = [
        {"case_id": f"c{c:02}", "node_id": f"n{k}", "annotator": a, "subtype": "s" if good[c] or a == "x" else "t", "exists": bool(good[c])}
        for c in range(40) for k in range(4) for a in "xy"
    ]  # fmt: skip
    frame = pl.DataFrame(rows)
    case, node = (
        metrics.fleiss(frame, ci=B(2000, cluster=c)).row(0, named=True)
        for c in (None, ("case_id", "node_id"))
    )
    assert case["method"].startswith("percentile bootstrap over case_id")
    assert case["n_clusters"] == 40
    single = metrics.fleiss(frame.with_columns(case_id=pl.concat_str("case_id", "node_id")), ci=B(2000)).row(
        0, named=True
    )
    assert case["raw_high"] - case["raw_low"] > 1.6 * (single["raw_high"] - single["raw_low"])
    assert node["n_clusters"] == 4
    one = frame.filter(annotator="x")
    default = metrics.audit(one, dimensions=["exists"]).row(0, named=True)
    alone = metrics.audit(one, dimensions=["exists"], ci=metrics.Wilson()).row(0, named=True)
    assert default["high"] - default["low"] > 1.6 * (alone["high"] - alone["low"])


# --- pandas ---------------------------------------------------------------------------------------------------------


def test_pandas_comes_back_by_one_option() -> None:
    frame = pd.DataFrame(pair().to_dict(as_series=False))
    before = metrics.set_output("same")
    try:
        got = metrics.recall(frame)
        assert isinstance(got, pd.DataFrame)
        assert got["estimate"].dtype == np.float64
        assert got["n_cases"].dtype.kind == "i"
        assert isinstance(metrics.item_response(frame, respondent="condition").fit, pd.DataFrame)
        assert isinstance(metrics.recall(pair()), pl.DataFrame)
        fit = metrics.gee(frame, terms="condition")
        assert fit["value"].isna().tolist() == [True, False]
        metrics.set_output("pandas")
        assert isinstance(metrics.recall(pair()), pd.DataFrame)
    finally:
        metrics.set_output(before)
    assert isinstance(metrics.recall(frame), pl.DataFrame)
    with pytest.raises(UnknownName, match="output"):
        metrics.set_output("dataframe")


def test_odd_columns_of_pandas() -> None:
    frame = pd.DataFrame(pair().to_dict(as_series=False))
    want = metrics.recall(pair())
    odd = frame.assign(notes=[["a", 1], {"b": 2}] * (len(frame) // 2))  # type: ignore[list-item]
    assert metrics.recall(odd).equals(want)
    with pytest.raises(SchemaError, match=r"judgments\.case_id: values of several types"):
        metrics.recall(frame.assign(case_id=[1, "a"] * (len(frame) // 2)))
    with pytest.raises(SchemaError, match="found stands twice"):
        metrics.recall(pd.concat([frame, frame[["found"]]], axis=1))
    with pytest.raises(SchemaError, match="not a data frame"):
        metrics.recall(frame["found"])


def test_spearman_of_a_perfect_order_has_no_p_of_zero() -> None:
    row = metrics.spearman(pl.DataFrame({"x": [1, 2, 3], "y": [1, 2, 3]}), "x", "y").row(0, named=True)
    assert (row["estimate"], row["p_value"]) == (1.0, None)
    assert row["p_permutation"] == pytest.approx(1 / 3, abs=0.02)


WORDS = {
    "estimate",
    "low",
    "high",
    "level",
    "n_scored",
    "n_total",
    "n_missing",
    "n_cases",
    "n_clusters",
    "method",
    "status",
}


def test_results_have_one_vocabulary() -> None:
    rows = pair()
    for frame in (
        metrics.recall(rows), metrics.gap(rows), metrics.spread(rows, over="node_id"),
        metrics.utility(rows, rows.with_columns(valid=pl.col("found")), ratios=[1.0]),
        metrics.corrected(rows, rows.filter(node_id="n0").with_columns(gold=pl.col("found")), ci=B(20)),
    ):  # fmt: skip
        assert set(frame.columns) >= WORDS
    for frame in (metrics.mcnemar(rows), metrics.permutation(rows), metrics.gee(rows, terms="condition")):
        assert set(frame.columns) >= {
            "estimate",
            "p_value",
            "n_total",
            "n_missing",
            "n_clusters",
            "method",
            "status",
        }
    assert set(metrics.cohens_d(rows).columns) >= (WORDS - {"n_scored"}) | {"n_pairs"}
    assert not {"coefficient", "rho", "d"} & set(metrics.gee(rows, terms="condition").columns)
    assert power.FEW_CASES == 30
