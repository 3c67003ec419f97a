from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PIL import Image

import icgkit as ig
from icgkit.cases.show import CaseView, case_html, graph_svg, picture_svg


@pytest.fixture
def shown(case: ig.Case, tmp_path: Path) -> ig.Case:
    Image.new("RGB", case.image_size, "white").save(tmp_path / case.image)
    return case.within(tmp_path, "mini")


def test_the_picture_has_the_image_and_one_numbered_box_a_region(shown: ig.Case) -> None:
    svg = ET.fromstring(picture_svg(shown))
    tags = [e.tag.rsplit("}", 1)[-1] for e in svg.iter()]
    assert tags.count("image") == 1
    # target and the one node with a box: a white and a coloured rectangle each, and one disc
    assert tags.count("rect") == 4
    assert [e.text for e in svg.iter() if e.tag.endswith("text")] == ["E", "1"]
    assert shown.constraint_nodes[0].category.color in picture_svg(shown)


def test_the_graph_has_an_arrow_a_node_and_an_arc_an_edge(shown: ig.Case) -> None:
    svg = graph_svg(shown)
    ET.fromstring(svg)
    assert svg.count('stroke-dasharray="2 4"') == 1
    assert svg.count('stroke-dasharray="5 4"') == 1, "the weak node has a dashed arrow"
    assert "Numerical" in svg
    assert "Promotional" in svg


def test_everything_is_escaped(case: ig.Case) -> None:
    evil = "<script>alert(1)</script>\"'"
    node = case.constraint_nodes[0].model_copy(update={"region": evil, "reason": evil})
    spoiled = case.model_copy(
        update={"instruction": evil, "constraint_nodes": (node,), "inter_constraints": ()}
    )
    html = case_html(spoiled.within("/nowhere"), {evil: {"n1": True}})
    assert "<script>" not in html
    assert html.count("&lt;script&gt;") >= 4


def test_a_missing_image_is_said(case: ig.Case, tmp_path: Path) -> None:
    assert "image not found here" in case_html(case.within(tmp_path))


def test_colours_follow_the_theme(shown: ig.Case) -> None:
    html = case_html(shown)
    assert "var(--jp-content-font-color1,CanvasText)" in html
    assert "currentColor" in html
    assert not re.search(r"(?<!-)color:(black|#000)", html)


def test_found_missed_and_missing_verdicts_look_different(shown: ig.Case) -> None:
    html = CaseView(shown, {"model": {"n1": True, "n2": False}, "other": {"n1": None}})._repr_html_()
    assert html.count('<td class="yes">found') == 1
    assert html.count('<td class="no">missed') == 1
    # n1 of the other model is null, n2 is absent
    assert html.count('<td class="none">no verdict') == 2


def test_a_dataset_says_what_it_holds(case: ig.Case, tmp_path: Path) -> None:
    data = ig.Dataset("d<b>", "1", "CC0", "p", tmp_path, (case.within(tmp_path),))
    html = data._repr_html_()
    assert "1 cases, 2 constraint nodes" in html
    assert "1 of 1 images are not here" in html
    assert "<b>d&lt;b&gt;</b>" in html


def test_a_dataset_shows_its_first_pictures() -> None:
    data = ig.load_dataset("icg-scenes")
    html = data._repr_html_()
    assert html.count('<img alt="" src="data:image/') == 12
    assert f"and {len(data) - 12} more" in html
    assert len(html) < 1_000_000


def test_prices_are_no_formulas_in_a_host_that_sets_formulas(shown: ig.Case, tmp_path: Path) -> None:
    ig.write_cases([shown], tmp_path / "cases.jsonl")
    (tmp_path / "dataset.toml").write_text(
        'name = "x"\nversion = "1"\nlicence = "$1"\nprovenance = "from $2"\nimage_root = "images"\n'
    )
    for view in (shown, ig.load_dataset(tmp_path)):
        first = re.match(r'<\w+ class="([^"]*)"', view._repr_html_())
        assert first, view._repr_html_()[:80]
        assert "mathjax_ignore" in first[1].split()
