from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import matplotlib.pyplot as plt
import polars as pl
import pytest

import icgkit as ig
from icgkit.gallery import number, read_results, write_gallery


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
        ig.save(
            id, out=folder, data=data, figure=figure, caption=caption, n=n, dataset="tiny",
            models=["offline/priors"], cache="offline", seed=42, **extra,
        )  # fmt: skip
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
    assert 'src="T2.thumb.png"' in write_gallery(tmp_path).read_text(encoding="utf-8")


def test_no_results_yet(tmp_path: Path) -> None:
    assert "no dataset" in write_gallery(tmp_path).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.9376, "0.938"), (0.00002, "2e−05"), (-0.5, "−0.500"), (None, "–"), (1184720.0, "1,184,720")],
)
def test_numbers(value: float | None, text: str) -> None:
    assert number(value) == text
