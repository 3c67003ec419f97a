from __future__ import annotations

from pathlib import Path

import polars as pl
from matplotlib.colors import to_hex
from PIL import Image

import icgkit as ig
from icgkit.report import case_figures as diagrams
from icgkit.report import plots

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
    assert plots.model_style("glm-4.6v (simulated)") != plots.model_style("gpt-4o (simulated)")


def test_ranked_draws_points_intervals_n_and_says_what_is_missing() -> None:
    _, ax = plots.figure()
    plots.draw_ranked(SCORES, ax, label="label", xlabel="recall")
    points = [line for line in ax.lines if line.get_marker() == "o"]
    # two estimates, of which one has an interval; the null one is said in words
    assert [float(p.get_xdata()[0]) for p in points] == [0.2, 0.9]  # type: ignore[index, arg-type]
    assert len(ax.lines) == 3
    assert to_hex(points[0].get_color()) == ig.CATEGORIES["physical"].color.lower()
    assert {"10", "0", "12", " no verdict"} <= {t.get_text() for t in ax.texts}
    assert [t.get_text() for t in ax.get_yticklabels()] == ["one", "two", "three"]


def test_points_leave_out_null_estimates() -> None:
    _, ax = plots.figure()
    plots.draw_points(SCORES, ax, x="condition", hue="model", order=["direct", "oracle"], ylabel="recall")
    assert sum(line.get_marker() in "os^D" for line in ax.lines) == 2
    legend = ax.get_legend()
    assert legend is not None
    assert [t.get_text() for t in legend.get_texts()] == ["offline/priors"]


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


def test_numbered_marks_are_signs_and_no_dollars() -> None:
    """The path of a sign as mathematics has other points than one with its dollar signs."""
    from icgkit.report.plots.style import sign_marker
    from matplotlib.markers import MarkerStyle

    import icgkit as ig

    with_formula = MarkerStyle("$7$").get_path().vertices
    _fig, ax = ig.plots.figure(2, 2)
    (line,) = ax.plot([0], [0], marker=sign_marker("7"))
    assert line._marker.get_path().vertices.tolist() == with_formula.tolist()
    ig.plots.draw_marks(ax, [ig.plots.Mark((0, 0, 1, 1), "E", "red", "-")], 10)
    bold = MarkerStyle(r"$\mathbf{E}$").get_path().vertices
    assert len(ax.collections[-1].get_paths()[0].vertices) == len(bold)
