"""Every estimator against independent software: numbers of R are data, the rest runs here."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import polars as pl
import pytest

from icgkit import metrics

FOLDER = Path(__file__).parent.parent / "data" / "r_checks"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("deviations", FOLDER / "deviations.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_deviations_from_r_and_statsmodels() -> None:
    table = load().checks()
    over = table.filter(pl.col("deviation") > pl.col("tolerance"))
    assert over.is_empty(), over.rows()
    assert table.height >= 30


def test_the_numbers_of_r_say_where_they_come_from() -> None:
    software = load().reference()["software"]
    assert software["R"].startswith("R version")
    assert software["date"]
    assert {"geepack", "lme4", "boot", "psych", "epiR", "coin", "pwr"} <= set(software["packages"])


def test_agreement_against_scikit_learn_and_krippendorff() -> None:
    import krippendorff
    from sklearn.metrics import cohen_kappa_score

    both = load().judged()
    ours = metrics.agreement(both, by="condition", ci=None)
    for row in ours.iter_rows(named=True):
        part = both.filter(condition=row["condition"])
        a, b = (part.filter(judge=j)["found"].cast(pl.Int8).to_numpy() for j in ("first", "second"))
        assert row["kappa"] == pytest.approx(cohen_kappa_score(a, b), abs=1e-12)
        alpha = krippendorff.alpha(np.stack([a, b]), level_of_measurement="nominal")
        assert row["alpha"] == pytest.approx(alpha, abs=1e-12)


def test_fleiss_against_statsmodels_and_alpha_with_missing_labels() -> None:
    import krippendorff
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    rng = np.random.default_rng(3)
    table = rng.integers(0, 4, size=(40, 1)).repeat(3, axis=1)
    table = np.where(rng.random(table.shape) < 0.25, rng.integers(0, 4, size=table.shape), table)
    rows = [
        {"case_id": f"c{i}", "node_id": "n", "annotator": f"a{j}", "subtype": f"s{table[i, j]}"}
        for i in range(40)
        for j in range(3)
    ]
    got = metrics.fleiss(pl.DataFrame(rows), ci=metrics.Bootstrap(200)).row(0, named=True)
    assert got["kappa"] == pytest.approx(fleiss_kappa(aggregate_raters(table)[0]), abs=1e-12)
    holes = table.astype(float)
    holes[::5, 0] = np.nan
    some = pl.DataFrame(rows).with_columns(
        subtype=pl.Series([None if np.isnan(v) else f"s{int(v)}" for v in holes.ravel()], dtype=pl.String)
    )
    got = metrics.fleiss(some, ci=metrics.Bootstrap(200)).row(0, named=True)
    assert got["kappa"] is None
    assert "different numbers of labels" in got["status"]
    assert got["alpha"] == pytest.approx(
        krippendorff.alpha(holes.T, level_of_measurement="nominal"), abs=1e-12
    )
    assert got["n_missing"] == 8


def test_fleiss_of_the_original_paper() -> None:
    # Fleiss (1971), 30 patients, 6 raters, 5 diagnoses: kappa = 0.430. Counts of diagnoses a patient.
    counts = """0 0 0 6 0|0 3 0 0 3|0 1 4 0 1|0 0 0 0 6|0 3 0 3 0|2 0 4 0 0|0 0 4 0 2|2 0 3 1 0|2 0 0 4 0|0 0 0 0 6
    |1 0 0 5 0|1 1 0 4 0|0 3 3 0 0|1 0 0 5 0|0 2 0 3 1|0 0 5 0 1|3 0 0 1 2|5 1 0 0 0|0 2 0 4 0|1 0 2 0 3
    |0 0 0 0 6|0 1 0 5 0|0 2 0 1 3|2 0 0 4 0|1 0 0 4 1|0 5 0 1 0|4 0 0 0 2|0 2 0 4 0|1 0 5 0 0|0 0 0 0 6"""
    rows = []
    for i, line in enumerate(counts.split("|")):
        labels = [k for k, n in enumerate(map(int, line.split())) for _ in range(n)]
        rows += [
            {"case_id": f"p{i}", "node_id": "n", "annotator": f"r{j}", "subtype": f"d{k}"}
            for j, k in enumerate(labels)
        ]
    got = metrics.fleiss(pl.DataFrame(rows), ci=metrics.Bootstrap(100)).row(0, named=True)
    assert got["kappa"] == pytest.approx(0.430, abs=5e-4)


def test_ranks_tests_and_effects_against_scipy_statsmodels_pingouin() -> None:
    import pingouin
    from scipy import stats
    from statsmodels.stats.contingency_tables import mcnemar
    from statsmodels.stats.multitest import multipletests

    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 5, 30), rng.random(30)
    ours = metrics.spearman(pl.DataFrame({"x": x, "y": y}), "x", "y").row(0, named=True)
    theirs = stats.spearmanr(x, y)
    assert (ours["estimate"], ours["p_value"]) == pytest.approx((theirs.statistic, theirs.pvalue), abs=1e-12)
    permuted = stats.permutation_test(
        (y,),
        lambda v: stats.spearmanr(x, v).statistic,
        permutation_type="pairings",
        n_resamples=2000,
        rng=rng,
    )
    assert ours["p_permutation"] == pytest.approx(permuted.pvalue, abs=0.04)
    p = rng.random(12)
    for method, name in (("holm", "holm"), ("bh", "fdr_bh")):
        got = metrics.adjust(pl.DataFrame({"p_value": p}), method=method)["p_adjusted"].to_numpy()  # type: ignore[arg-type]
        assert got == pytest.approx(multipletests(p, method=name)[1], abs=1e-12)
    one = load().judged().filter(judge="first", model="m2")
    row = metrics.mcnemar(one, metrics.Contrast(targets=["cot"])).row(0, named=True)
    cells = [[row["n_both"], row["n_reference_only"]], [row["n_target_only"], row["n_neither"]]]
    assert row["p_exact"] == pytest.approx(mcnemar(cells, exact=True).pvalue, abs=1e-12)
    wide = one.pivot("condition", index=["case_id", "node_id"], values="found")
    a, b = (wide[c].cast(pl.Float64).to_numpy() for c in ("direct", "oracle"))
    got = metrics.cohens_d(one, metrics.Contrast(targets=["oracle"]), ci=metrics.Bootstrap(200)).row(  # type: ignore[assignment]
        0, named=True
    )
    assert got["estimate"] == pytest.approx(
        pingouin.compute_effsize(b, a, paired=True, eftype="cohen"), abs=1e-12
    )


def test_bootstrap_against_arch() -> None:
    from arch.bootstrap import IIDBootstrap

    one = load().judged().filter(judge="first", model="m1")
    wide = (
        one.group_by("case_id", "condition")
        .agg(pl.col("found").mean())
        .pivot("condition", index="case_id", values="found")
    )
    table = wide.select("direct", "oracle").to_numpy()
    ends = IIDBootstrap(table, seed=np.random.default_rng(0)).conf_int(
        lambda t: t.mean(axis=0), reps=5000, method="percentile"
    )
    ours = metrics.recall(one.filter(pl.col("condition") != "cot"), ci=metrics.Bootstrap(20_000))
    assert ours["low"].to_numpy() == pytest.approx(ends[0], abs=0.01)
    assert ours["high"].to_numpy() == pytest.approx(ends[1], abs=0.01)
