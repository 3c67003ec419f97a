from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import ImageChops, ImageDraw
from pylatexenc.latexwalker import LatexWalker

import icgkit as ig
from icgkit.errors import SchemaError
from icgkit.report.tables import best_of, format_value, interval, intervals, tex_escape, typeset

FRAME = pl.DataFrame(
    {"model": ["a_b & c", "<d>"], "direct": [0.1234, None], "oracle": [0.9, -0.05], "n_cases": [1234, 5]}
)


def table(**options: object) -> Any:
    return typeset(FRAME, id="T9", caption="50% & more, n = 2", **options)  # type: ignore[arg-type]


def test_missing_is_a_dash_and_never_a_zero() -> None:
    cells = [[c.text for c in row] for row in table().rows()]
    assert cells == [["a_b & c", "0.123", "0.900", "1,234"], ["<d>", "–", "−0.050", "5"]]


def test_html_has_a_caption_and_scopes_and_is_escaped() -> None:
    root = ET.fromstring(table(spanners={"direct": "told", "oracle": "told"}, notes=["a < b"]).to_html())
    assert root.find("caption").text == "50% & more, n = 2"  # type: ignore[union-attr]
    heads = root.findall("thead/tr/th")
    assert {h.get("scope") for h in heads} == {"colgroup", "col"}
    assert all(h.text for h in heads), "an empty header cell is no header"
    assert [h.text for h in root.findall("tbody/tr/th")] == ["a_b & c", "<d>"]
    assert all(h.get("scope") == "row" for h in root.findall("tbody/tr/th"))


def test_latex_parses_and_keeps_every_cell() -> None:
    tex = table(bold=best_of(["direct", "oracle"]), notes=["κ ≥ 0.5 → fine"]).to_latex()
    LatexWalker(tex, tolerant_parsing=False).get_latex_nodes()
    assert tex.count(r"\\") == 3
    assert r"a\_b \& c & 0.123 & \textbf{0.900} & 1,234" in tex
    assert tex.count("{") == tex.count("}")


def test_latex_escapes_each_special_character_once() -> None:
    assert tex_escape(r"\&%$#_{}~^") == (r"\textbackslash{}\&\%\$\#\_\{\}\textasciitilde{}\textasciicircum{}")


def test_headers_formats_and_columns() -> None:
    t = table(columns=["oracle", "model", "absent"], formats={"oracle": ".1%"})
    assert [c.header for c in t.columns] == ["ICG-O", "Model"]
    assert next(iter(t.rows()))[0].text == "90.0%"
    with pytest.raises(SchemaError, match="unknown column"):
        table(spanners={"absent": "x"})


def test_a_frame_that_only_says_why_shows_its_status() -> None:
    t = typeset(pl.DataFrame({"status": ["not in this cache: oracle"]}), id="T", caption="c", columns=["x"])
    assert [c.text for c in next(t.rows())] == ["not in this cache: oracle"]


def test_intervals_without_bounds_show_the_estimate_alone() -> None:
    assert interval(0.5, None, 0.6) == "0.500"
    frame = pl.DataFrame({"estimate": [0.5, None], "low": [0.4, None], "high": [0.6, None]})
    assert intervals(frame)["shown"].to_list() == ["0.500 [0.400, 0.600]", "–"]


def test_two_calls_give_the_same_bytes() -> None:
    assert table().to_html() == table().to_html()
    assert table().to_latex() == table().to_latex()


def test_the_picture_holds_every_text_within_its_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    text = ImageDraw.ImageDraw.text
    monkeypatch.setattr(
        ImageDraw.ImageDraw,
        "text",
        lambda self, xy, t, **kw: (drawn.append(t), text(self, xy, t, **kw))[0],  # type: ignore[func-returns-value]
    )
    long = "a note that is long enough to be wrapped into more than one line of small print " * 2
    picture = table(notes=[long]).to_picture()
    assert {"0.123", "–", "<d>"} <= set(drawn)
    assert long.split() == " ".join(drawn).split()[-len(long.split()) :]
    white = ImageChops.invert(picture).getbbox()
    assert white is not None
    # A margin of 20 pixels all around, which even accents and descenders keep half free.
    assert min(white[0], white[1], picture.width - white[2], picture.height - white[3]) >= 10


def test_format_value() -> None:
    assert [format_value(v) for v in (None, True, False, 3, "x")] == ["–", "yes", "no", "3", "x"]
    assert not re.search("-", format_value(-1.5, ".1f"))


def test_no_cell_becomes_an_option_of_latex_and_no_paragraph_ends_a_caption() -> None:
    frame = pl.DataFrame({"[model]": ["[x]", "*"], "direct": [0.5, 0.5]})
    tex = typeset(frame, id="T9", caption="first\n\n second", notes=["a\n\nb"]).to_latex()
    # After \midrule and \\ the first sign of a row would be taken for an argument.
    assert [line[:3] for line in tex.splitlines() if line.endswith(r"\\")] == ["{}[", "{}[", "{}*"]
    assert r"\caption{first second}" in tex
    assert "a b" in tex


def test_prices_are_no_formulas_in_a_host_that_sets_formulas() -> None:
    frame = pl.DataFrame({"model": ["$100"], "text": ["so that $50 becomes $70"]})
    html = typeset(frame, id="T9", caption="$1 and $2").to_html()
    assert "mathjax_ignore" in ET.fromstring(html).get("class", "").split()


def test_rules_of_displays_outweigh_the_hosts() -> None:
    """JupyterLab styles `.jp-RenderedHTMLCommon td`: one class and one element; every rule of ours has two classes."""
    from icgkit.report.tables import TABLE_STYLE

    display = Path(ig.__file__).parent / "templates" / "display" / "style.css"
    for css, name in (
        (TABLE_STYLE, ".icg-table.icg-table"),
        (display.read_text(encoding="utf-8"), ".icg.icg"),
    ):
        selectors = re.findall(r"([^{}]+)\{[^{}]*\}", css)
        assert len(selectors) > 5
        for selector in selectors:
            assert all(part.strip().startswith(name) for part in selector.split(",")), selector
        assert "table-layout:auto" in css


def test_ids_are_shown_as_labels_and_heads_start_large() -> None:
    table = ig.tables.typeset(
        pl.DataFrame({"subtype": ["xmod_scene"], "rate_target": [0.5], "d": [0.1]}), id="T", caption="c"
    )
    assert [c.header for c in table.columns] == ["Subtype", "Rate target", "d"]
    assert next(iter(table.rows()))[0].text == "Cross-modal: Scene"
