"""The effect model: layout, draws, the shipped cache, power curves."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from icgkit import metrics
from icgkit.errors import SchemaError, UnknownName
from icgkit.files import project_root
from icgkit.schemas import schema
from icgkit.simulate import effects as simulate
from icgkit.simulate.power import Trials, curve_text, power_curve

FOLDER = project_root() / "data" / "cache" / "simulated"
FRAMES = (
    "judgments precision adversarial plan leakage human audit labels failures gold".split()  # noqa: SIM905
)


def test_layout_has_the_papers_proportions() -> None:
    layout = simulate.design()
    assert layout.height == 776
    assert layout["case_id"].n_unique() == 461
    assert layout.filter(n_inter=1)["case_id"].n_unique() == 228
    sizes = layout["subtype"].value_counts()
    assert sizes.height == 19
    assert min(sizes["count"].to_list()) >= 14
    assert simulate.design(3).height == 5


def test_seeds_decide_everything() -> None:
    one, two, three = (simulate.judgments(cases=30, conditions=["direct"], seed=s) for s in (1, 1, 2))
    assert one.equals(two)
    assert not one.equals(three)


def test_a_planted_difference_comes_back() -> None:
    effects = simulate.effect_model(models=2, recall=0.4, effect=0.2)
    frame = simulate.judgments(effects, cases=6000, seed=3)
    means = metrics.recall(frame, by="condition", pooling="mean_over_models", ci=None)["estimate"].to_list()
    assert means == pytest.approx([0.4, 0.6], abs=0.015)


def test_every_row_says_simulated_and_every_name_too() -> None:
    frame = simulate.judgments(cases=20, seed=1)
    assert frame["simulated"].all()
    for column in ("model", "judge"):
        assert frame[column].str.ends_with(" (simulated)").all()
    with pytest.raises(UnknownName, match="gpt-5"):
        simulate.judgments(cases=5, models=["gpt-5"])
    with pytest.raises(SchemaError, match="cases"):
        simulate.design(0)


@pytest.mark.parametrize("name", FRAMES)
def test_shipped_frames_fit_their_schemas(name: str) -> None:
    frame = pl.read_parquet(FOLDER / f"{name}.parquet")
    schema(name).check(frame)
    assert frame["simulated"].all()


def test_shipped_cache_is_near_the_published_figures_and_small() -> None:
    assert sum(p.stat().st_size for p in FOLDER.iterdir()) < 3_000_000
    frame = pl.read_parquet(FOLDER / "judgments.parquet").filter(
        judge="claude-sonnet-4.6 (simulated)", condition="direct"
    )
    frame = frame.filter(~pl.col("model").str.starts_with("glm"))
    row = metrics.recall(frame, by="condition", pooling="mean_over_models", ci=metrics.Bootstrap(1000)).row(
        0, named=True
    )
    assert row["low"] - 0.02 < 0.461 < row["high"] + 0.02


def test_power_curve_agrees_with_its_closed_form_and_says_what_it_is() -> None:
    curve = power_curve(effect=0.08, cases=[60, 200], models=2, trials=Trials(300, seed=5))
    for row in curve.iter_rows(named=True):
        assert row["power"] == pytest.approx(row["power_closed_form"], abs=0.08)
    assert curve["simulated"].all()
    text = curve_text(curve, 0.9)
    assert text.startswith("Simulated, no model was called")
    assert "cases needed for power 0.9" in text
    with pytest.raises(SchemaError, match="power curve"):
        power_curve(cases=[1])
    with pytest.raises(UnknownName, match="nowhere"):
        power_curve(effects=simulate.load_effects(), reference="nowhere", cases=[10])


def test_the_command_prints_and_writes_a_curve(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from icgkit.cli import app

    out = tmp_path / "curve.csv"
    options = [
        "simulate",
        "--cases",
        "60",
        "--cases",
        "120",
        "--studies",
        "20",
        "--effect",
        "0.2",
        "--out",
        str(out),
    ]
    done = CliRunner().invoke(app, options)
    assert done.exit_code == 0, done.output
    assert "cases needed for power 0.9" in done.output
    assert pl.read_csv(out)["cases"].to_list() == [60, 120]


def test_a_written_study_is_a_cache_that_says_simulated(tmp_path: Path) -> None:
    import tomllib

    from icgkit.simulate import study as simulated

    text = simulated.make(tmp_path / "study", cases=120, seed=3)
    assert "judgments" in text
    meta = tomllib.loads((tmp_path / "study" / "run.toml").read_text(encoding="utf-8"))
    assert meta["simulated"] is True
    assert meta["primary_judge"].endswith("(simulated)")
    assert {p.stem for p in (tmp_path / "study").glob("*.parquet")} == set(FRAMES)
