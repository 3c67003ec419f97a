from __future__ import annotations

import io
import itertools
import math
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex
from PIL import Image

import icgkit as ig
from icgkit.cases.show import badge_places, leader
from icgkit.report import case_figures as diagrams
from icgkit.report import plots
from icgkit.report.plots.style import spread

SCORES = pl.DataFrame(
    {
        "model": ["offline/priors", "offline/ocr-rules", "offline/priors"],
        "condition": ["direct", "direct", "oracle"],
        "category": ["physical", "style", "physical"],
        "label": ["one", "two", "three"],
        "estimate": [0.2, None, 0.9],
        "low": [0.1, None, None],
        "high": [0.3, None, None],
        "n_scored": [10, 0, 12],
    }
)


def test_a_thing_keeps_its_colour() -> None:
    known = ["offline/instruction-only", "offline/priors", "offline/ocr-rules", "offline/ocr-vision"]
    assert len({plots.model_style(m) for m in known}) == 4
    assert plots.model_style("some/new-model") == plots.model_style("some/new-model")
    baselines = {
        plots.model_style(m)[0]
        for m in ("offline/instruction-only", "offline/priors", "offline/ocr-rules", "offline/ocr-vision")
    }
    assert not baselines & {plots.model_style(f"some/model-{k}")[0] for k in range(50)}, (
        "they may stand in one figure"
    )
    assert plots.model_style("glm-4.6v (simulated)") != plots.model_style("gpt-4o (simulated)")


def _dots(ax: Any) -> list[Any]:
    return [c for c in ax.collections if isinstance(c, PathCollection)]


def test_lines_show_points_intervals_n_and_what_is_missing() -> None:
    _, ax = plots.figure()
    plots.draw_estimates(SCORES, ax, plots.Scale("recall"), at="label", hue="category", upright=False)
    # two estimates, of which one has an interval; the null one is said in words
    assert sorted(tuple(o) for o in _dots(ax)[0].get_offsets()) == [(0.2, 0), (0.9, 2)]
    ranges = [c for c in ax.collections if isinstance(c, LineCollection)]
    assert [s.tolist() for s in ranges[0].get_segments()] == [[[0.1, 0.0], [0.3, 0.0]]]
    assert to_hex(_dots(ax)[0].get_facecolors()[0]) == ig.CATEGORIES["physical"].color.lower()
    assert {"10", "0", "12", "no verdict"} <= {t.get_text() for t in ax.texts}
    assert [t.get_text() for t in ax.get_yticklabels()] == ["one", "two", "three"]


def test_marks_at_the_end_of_an_axis_are_whole_and_null_estimates_left_out() -> None:
    zero = SCORES.with_columns(estimate=pl.Series([0.0, None, 0.9]), low=pl.lit(0.0), high=pl.lit(1.0))
    _, ax = plots.figure()
    scale = plots.Scale("recall")
    plots.draw_estimates(zero, ax, scale, at="condition", hue="model", order=["direct", "oracle"])
    assert ax.get_ylim() == (0, 1)
    assert len(_dots(ax)[0].get_offsets()) == 2
    assert not any(c.get_clip_on() for c in ax.collections)
    assert {t.get_text() for t in ax.texts} == {"offline/priors"}  # the other has nothing to name
    two = zero.with_columns(estimate=pl.Series([0.0, 0.5, 0.9]))
    plots.draw_estimates(two, ax, scale, at="condition", hue="model", order=["direct", "oracle"])
    assert {"offline/priors", "offline/ocr-rules"} <= {t.get_text() for t in ax.texts}
    assert ax.get_legend() is None


def test_names_at_the_edge_never_overlap() -> None:
    places = spread([0.5, 0.5, 0.52, 0.9, 0.1], 0.1)
    ordered = sorted(places)
    assert all(b - a >= 0.1 - 1e-9 for a, b in itertools.pairwise(ordered))
    assert places[3:] == [0.9, 0.1]  # far ones stay where they are


def test_conditions_are_not_joined_by_lines() -> None:
    """Conditions have no order: a line between them would claim one."""
    _, ax = plots.figure()
    plots.draw_estimates(SCORES, ax, plots.Scale("recall"), at="condition", hue="category")
    assert not ax.lines


def test_a_rate_starts_at_zero_however_high_it_lies() -> None:
    curve = pl.DataFrame({"x": [1, 2], "how": ["a", "a"], "estimate": [0.97, 1.0]})
    _, ax = plots.figure()
    plots.draw_curves(curve, ax, plots.Scale("power"), x="x", hue="how", xlabel="n")
    assert ax.get_ylim() == (0, 1)


def test_a_figure_shows_itself() -> None:
    fig, ax = plots.figure(2, 2)
    ax.plot([0, 1])
    with Image.open(io.BytesIO(fig._repr_png_())) as picture:  # type: ignore[attr-defined]
        assert picture.width > 100


def test_the_theme_is_seaborns() -> None:
    import seaborn as sns

    fig, ax = plots.figure(2, 2)
    assert plots.theme()["axes.axisbelow"] == sns.axes_style("ticks")["axes.axisbelow"]
    assert not ax.spines["top"].get_visible()
    assert to_hex(fig.get_facecolor()) == "#ffffff"


def test_grid_tells_found_missed_and_missing_apart_by_sign() -> None:
    _, ax = plots.figure()
    plots.draw_grid(pl.DataFrame({"node": ["n1"], "a": [True], "b": [False], "c": [None]}), ax, row="node")
    assert [t.get_text() for t in ax.texts] == ["\u2713", "\u2717", "\u2013"]


def test_case_figures_mark_every_region(case: ig.Case, tmp_path: Path) -> None:
    Image.new("RGB", case.image_size, "white").save(tmp_path / case.image)
    fig = diagrams.case_figure(case.within(tmp_path))
    left, right = fig.axes
    assert {"E", "1"} == {c.get_gid() for c in left.collections if c.get_gid()}
    assert any("$50 becomes $70" in t.get_text() for t in right.texts)
    sheet = diagrams.contact_sheet([case.within(tmp_path), case.within(tmp_path / "none")], columns=2)
    assert "image not found here" in {t.get_text() for ax in sheet.axes for t in ax.texts}


def test_badges_lie_beside_what_they_mark() -> None:
    boxes = [(10, 10, 60, 20), (10, 22, 60, 32), (70, 10, 90, 30), (0, 0, 100, 100)]
    places = badge_places(boxes, 3, (100, 100))
    for k, (x, y) in enumerate(places):
        assert min(x, y) >= 3
        assert max(x, y) <= 97
        for box in boxes[:3]:
            near_x, near_y = leader(box, (x, y))
            assert math.hypot(near_x - x, near_y - y) >= 3, (k, box)
    gaps = [math.dist(a, b) for a, b in itertools.combinations(places, 2)]
    assert min(gaps) >= 6
