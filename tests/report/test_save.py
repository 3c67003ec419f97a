from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import polars as pl
import pytest
from matplotlib.figure import Figure

import icgkit as ig
from icgkit.errors import SchemaError
from icgkit.report.save import Saved, csv_bytes

DATA = pl.DataFrame({"model": ["a", "b"], "recall": [1 / 3, None], "n": [3, 0]})


TABLE = ig.tables.typeset(DATA, id="F9", caption="A plain table.")


def draw() -> Figure:
    figure, ax = plt.subplots()
    ax.plot([1, 2, 3], label="ö")
    ax.fill_between([0, 1], [0, 1], [1, 2], clip_path=ax.patch)
    ax.legend()
    return figure


def save(out: Path, **changes: Any) -> Saved:
    about = {"dataset": "tiny", "n": {"cases": 3}, "seed": 42}
    about |= {k: changes.pop(k) for k in ig.Provenance._fields if k in changes}
    given: dict[str, Any] = {"data": DATA, "caption": "A line."}
    if "table" not in changes:
        given["figure"] = draw()
    return ig.save("F9", out=out, run=ig.Provenance(**about), **(given | changes))  # type: ignore[arg-type]


def digests(folder: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.iterdir()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A figure saved once, for tests that only look."""
    folder = tmp_path_factory.mktemp("saved")
    save(folder)
    return folder


def test_figure_files_and_equal_bytes(folder: Path, tmp_path: Path) -> None:
    before = plt.get_fignums()
    saved = save(tmp_path)
    assert plt.get_fignums() == before  # closed
    endings = {"csv", "json", "pdf", "svg", "png", "thumb.png"}
    assert set(saved.files) == {f"F9.{e}" for e in endings}
    assert digests(folder) == digests(tmp_path)


@pytest.mark.parametrize("word", [b"CreationDate", b"Producer", b"Creator", b"Software", b"matplotlib.org"])
def test_no_date_or_software_in_files(folder: Path, word: bytes) -> None:
    for ending in ("pdf", "png", "thumb.png"):
        assert word not in (folder / f"F9.{ending}").read_bytes()
    assert b"<dc:date>" not in (folder / "F9.svg").read_bytes()


def test_table_files(tmp_path: Path) -> None:
    saved = save(tmp_path, table=TABLE)
    assert set(saved.files) == {f"F9.{e}" for e in ("csv", "json", "html", "tex", "png", "thumb.png")}
    page = (tmp_path / "F9.html").read_text()
    assert page.startswith("<!doctype html>")
    assert '<td class="right">0.333</td>' in page
    assert '<td class="right">0.333</td>' in saved._repr_html_()


def test_sidecar_says_what_is_shown(tmp_path: Path) -> None:
    compared = pl.DataFrame({"quantity": ["recall", "gap"], "ours": [0.5, None], "published": [0.3, 0.1]})
    save(
        tmp_path,
        table=TABLE,
        published=compared,
        models=["a"],
        note="two",
        params={"seed": 7, "out": "x", "by": "m"},
        seed=None,
    )
    sidecar = json.loads((tmp_path / "F9.json").read_text())
    assert sidecar["published"][0] == {
        "quantity": "recall", "ours": 0.5, "published": 0.3, "difference": 0.2,
    }  # fmt: skip
    assert sidecar["published"][1]["difference"] is None
    assert (sidecar["seed"], sidecar["params"], sidecar["note"]) == (7, {"by": "m"}, ["two"])
    assert str(tmp_path) not in json.dumps(sidecar)


def test_csv_keeps_null_and_rounds(folder: Path) -> None:
    assert (folder / "F9.csv").read_text() == "model,recall,n\na,0.3333333,3\nb,,0\n"
    # 0.1 + 0.2 = 0.30000000000000004 in binary: beyond ten digits nothing is kept.
    assert csv_bytes(pl.DataFrame({"x": [0.1 + 0.2, -0.0]})) == b"x\n0.3\n0.0\n"


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"figure": None}, "nothing to show"),
        ({"caption": " "}, "caption"),
        ({"data": pl.DataFrame({"x": [float("nan")]})}, "NaN"),
        ({"data": pl.DataFrame({"x": [float("inf")]})}, "infinity"),
        ({"data": pl.DataFrame({"x": [[1]]})}, "column x"),
        ({"published": pl.DataFrame({"quantity": ["a"]})}, "ours, published"),
    ],
)
def test_what_cannot_be_saved(tmp_path: Path, changes: dict[str, Any], word: str) -> None:
    with pytest.raises(SchemaError, match=word):
        save(tmp_path, **changes)
    assert not list(tmp_path.iterdir())


def test_id_is_a_file_name(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="id of a result"):
        ig.save("../F9", out=tmp_path, data=DATA, figure=draw(), caption="c", run=ig.Provenance("d", 1))


def test_empty_out_is_the_projects_figures(project: Path) -> None:
    ig.save("F9", out="", data=DATA, table=TABLE, caption="c", run=ig.Provenance("d", 1))
    assert (project / "figures" / "F9.csv").is_file()


def test_caption_is_escaped_in_jupyter(tmp_path: Path) -> None:
    assert "<b>" not in save(tmp_path, caption="<b>bold</b>", table=TABLE)._repr_html_()


def test_caption_and_notes_are_the_tables(tmp_path: Path) -> None:
    table = ig.tables.typeset(DATA, id="F9", caption="Of the table.", notes=["one"])
    ig.save("F9", data=DATA, table=table, run=ig.Provenance("d", 1), out=tmp_path)
    sidecar = json.loads((tmp_path / "F9.json").read_text())
    assert (sidecar["caption"], sidecar["note"]) == ("Of the table.", ["one"])


def test_n_stands_below_a_figure(tmp_path: Path) -> None:
    figure, ax = ig.plots.figure(3, 2)
    ax.plot([0, 1])
    ig.save(
        "F9",
        data=DATA,
        figure=figure,
        caption="c",
        run=ig.Provenance("d", {"cases": 1234, "missing": 0}),
        out=tmp_path,
    )
    assert ">n = 1,234 cases</text>" in (tmp_path / "F9.svg").read_text()


def test_a_saved_table_has_its_style_and_says_its_caption_once(tmp_path: Path) -> None:
    table = ig.tables.typeset(DATA, id="F9", caption="Of the table.")
    shown = ig.save("F9", data=DATA, table=table, run=ig.Provenance("d", 1), out=tmp_path)._repr_html_()
    assert "table-layout:auto" in shown
    assert shown.count("Of the table.") == 1
    assert "table-layout:auto" in (tmp_path / "F9.html").read_text()
