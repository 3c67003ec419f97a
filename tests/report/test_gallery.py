from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import matplotlib.pyplot as plt
import polars as pl
import pytest

import icgkit as ig
from icgkit.errors import SchemaError
from icgkit.report.gallery import number, read_results, write_gallery


class Tags(HTMLParser):
    """Collects tags and addresses, and checks that tags are closed."""

    void = frozenset({"meta", "link", "img", "input", "br", "col", "hr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.seen if name == tag]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three results: two plain ones and a simulated one with published values."""
    folder = tmp_path_factory.mktemp("figures")
    data = pl.DataFrame({"model": ["a"], "x": [0.5]})
    compared = pl.DataFrame(
        {"quantity": [f"recall {i}" for i in range(15)], "ours": [0.5] * 15, "published": [0.25] * 15}
        | {"where": ["Table 2"] * 15}
    )
    for id, extra in (
        ("T2", {"published": compared, "simulated": True, "note": ["3 verdicts <missing>"]}),
        ("S-cases", {}),
        ("F1", {}),
    ):
        figure, _ = plt.subplots(figsize=(2, 1))
        caption = f"What {id} shows, <b>escaped</b>. The rest of it."
        n = {"cases": 461, "nodes": 1776}
        about = ig.Provenance("tiny", n, ["offline/priors"], "offline", seed=42)
        about = about._replace(**{k: v for k, v in extra.items() if k in about._fields})  # type: ignore[arg-type]
        rest = {k: v for k, v in extra.items() if k not in about._fields}
        ig.save(id, out=folder, data=data, figure=figure, caption=caption, run=about, **rest)  # type: ignore[arg-type]
    (folder / "other.json").write_text('{"not": "a sidecar"}')
    write_gallery(folder)
    return folder


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return (folder / "index.html").read_text(encoding="utf-8")


def test_main_results_come_first_in_the_studys_order(folder: Path) -> None:
    assert [r["id"] for r in read_results(folder)] == ["F1", "T2", "S-cases"]


def test_every_result_says_what_it_rests_on(page: str) -> None:
    for text in ("n = 461 cases, 1,776 nodes", "dataset: tiny", "models: offline/priors", "seed: 42"):
        assert page.count(text) == 3, text
    assert page.count("simulated, no model answered") == 1
    assert "What T2 shows, &lt;b&gt;escaped&lt;/b&gt;" in page
    assert "The rest of it." in page
    assert "3 verdicts &lt;missing&gt;" in page


def test_nothing_comes_from_elsewhere(folder: Path, page: str) -> None:
    for text in (page, (folder / "published.html").read_text(encoding="utf-8")):
        tags = Tags(text)
        assert tags.open == []
        assert not re.search(r"https?://|//cdn|@import|url\(", text)
        addresses = [
            a.get("href") or a.get("src") for t in ("a", "img", "link", "script") for a in tags.of(t)
        ]
        for address in filter(None, addresses):
            name = address.split("#")[0]
            assert not name or address.startswith("data:") or (folder / name).is_file(), address


def test_pictures_have_size_and_words(page: str) -> None:
    pictures = Tags(page).of("img")
    assert len(pictures) == 3
    assert all(p["alt"] and p["width"] and p["height"] for p in pictures)


def test_published_values_stand_beside(folder: Path, page: str) -> None:
    assert "Beside the published values" in page
    assert "<summary>3 more</summary>" in page
    listed = (folder / "published.html").read_text(encoding="utf-8")
    assert listed.count("<tr data-item") == 15
    assert "+0.250" in listed
    assert "Table 2" in listed


def test_light_and_dark_and_narrow(page: str) -> None:
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page
    assert "max-width: 40rem" in page


def test_same_results_same_bytes(folder: Path, page: str) -> None:
    write_gallery(folder)
    assert (folder / "index.html").read_text(encoding="utf-8") == page


def test_light_form_alone_makes_a_gallery(folder: Path, tmp_path: Path) -> None:
    for path in folder.iterdir():
        if path.name.endswith((".csv", ".json", ".thumb.png")):
            (tmp_path / path.name).write_bytes(path.read_bytes())
    assert 'src="./T2.thumb.png"' in write_gallery(tmp_path).read_text(encoding="utf-8")


def test_no_results_yet(tmp_path: Path) -> None:
    assert "no dataset" in write_gallery(tmp_path).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.9376, "0.938"), (0.00002, "2e−05"), (-0.5, "−0.500"), (None, "–"), (1184720.0, "1,184,720")],
)
def test_numbers(value: float | None, text: str) -> None:
    assert number(value) == text


def test_a_folder_that_others_filled_runs_nothing(folder: Path, tmp_path: Path) -> None:
    for path in folder.glob("S-cases.*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    table = (
        '<table class="icg-table" onclick="f()" id="x"><caption>c<script>alert(1)</script></caption>'
        '<tr><th scope="row" style="color:red">a</th><td colspan="2"><img src=x onerror=f()>b'
        '<a href="javascript:f()">link</a><!-- <b> --></td></tr></table><base href="http://evil/">'
    )
    (tmp_path / "S-cases.html").write_text(f"<!-- table -->\n{table}\n<!-- /table -->")
    tags = Tags(write_gallery(tmp_path).read_text(encoding="utf-8"))
    assert len(tags.of("script")) == 1  # the page's own
    assert not tags.of("base")
    assert not [name for _, attrs in tags.seen for name in attrs if name.startswith("on")]
    assert {"colspan": "2"} in tags.of("td")
    addresses = [a[k] or "" for _, a in tags.seen for k in ("href", "src") if k in a]
    assert not [a for a in addresses if not a.startswith(("#", "./", "data:", "published.html"))]


@pytest.mark.parametrize(
    "change",
    [
        {"note": 5},
        {"n": [1]},
        {"published": [{"quantity": "x"}]},
        {"caption": None},
        {"seed": "x"},
        {"models": "ab"},
    ],
)
def test_a_faulty_sidecar_is_named(change: dict[str, object], folder: Path, tmp_path: Path) -> None:
    good = json.loads((folder / "F1.json").read_text(encoding="utf-8"))
    (tmp_path / "F1.json").write_text(json.dumps(good | change))
    with pytest.raises(SchemaError, match=r"F1\.json"):
        read_results(tmp_path)


@pytest.mark.parametrize("text", ["[" * 100_000, "9" * 5000, "\udcff", '{"id": "F1"'])
def test_a_json_file_that_is_none_is_left_out(text: str, tmp_path: Path) -> None:
    (tmp_path / "F1.json").write_text(text, errors="surrogateescape")
    assert read_results(tmp_path) == []


def test_a_picture_that_is_none_is_named(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "F1.json").write_bytes((folder / "F1.json").read_bytes())
    (tmp_path / "F1.png").write_bytes(b"GIF89a")
    with pytest.raises(SchemaError, match=r"F1\.png is no PNG"):
        read_results(tmp_path)
