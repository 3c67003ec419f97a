"""What the project says about itself: simulated numbers, papers, licences, commands."""

from __future__ import annotations

import json
import re
import runpy
import tomllib
from pathlib import Path

import polars as pl
import pytest

import icgkit as ig
from icgkit.report.gallery import write_gallery

ROOT = Path(__file__).resolve().parents[2]
PAPERS = tomllib.loads((ROOT / "data/published/papers.toml").read_text())["paper"]


@pytest.mark.parametrize("place", ["README.md", "CITATION.cff", "data/published/README.md"])
def test_every_paper_is_cited_with_title_and_number(place: str) -> None:
    text = " ".join((ROOT / place).read_text().split())
    assert len(PAPERS) == 5
    for paper in PAPERS:
        assert f"arXiv:{paper['arxiv']}" in text
        assert place == "README.md" or paper["title"] in text


def test_every_published_file_names_its_paper() -> None:
    files = {f for paper in PAPERS for f in paper["file"].split(", ") if f}
    assert files == {p.name for p in (ROOT / "data/published").glob("*.csv")}


def test_one_licence_for_each_set() -> None:
    readme = (ROOT / "README.md").read_text()
    for name in ("icg-scenes", "icg-teb"):
        licence = tomllib.loads((ROOT / f"data/cases/{name}/dataset.toml").read_text())["licence"]
        (said,) = re.findall(rf"`{name}`\): ([\w.-]+[\w])", readme)
        assert said in licence


def test_the_effect_model_lists_what_its_script_assumes() -> None:
    stated = json.loads((ROOT / "data/cache/simulated/effects.json").read_text())["assumptions"]
    assert stated == runpy.run_path(str(ROOT / "scripts/fit_effects.py"))["ASSUMPTIONS"]
    source = (ROOT / "scripts/fit_effects.py").read_text()
    for number in ("0.460", "0.405", "0.06", "0.08", "0.25", "0.67", "0.885", "0.64"):
        assert number in source
        assert number in " ".join(stated)


def test_simulated_numbers_say_so_in_the_csv(tmp_path: Path) -> None:
    data = pl.DataFrame({"model": ["a"], "estimate": [0.5]})
    table = ig.tables.typeset(data, id="T2", caption="Recall of all.")
    for simulated in (True, False):
        ig.save(
            "T2", out=tmp_path, data=data, table=table, run=ig.Provenance("d", 1, cache="c", simulated=simulated),
            published=pl.DataFrame({"quantity": ["recall"], "ours": [0.5], "published": [0.4]}),
        )  # fmt: skip
        assert ((tmp_path / "T2.csv").read_text() == "model,estimate,simulated\na,0.5,true\n") is simulated
        page = write_gallery(tmp_path).read_text()
        assert ("No model answered: everything below is simulated" in page) is simulated
        assert ("Simulated (fitted to it)" in page) is simulated
        assert (">Ours<" in page) is not simulated
        assert f"<title>icgkit: c on d{' (simulated)' if simulated else ''}</title>" in page


def test_a_gallery_folds_what_the_cache_lacks(tmp_path: Path) -> None:
    for id, frame in (
        ("T2", pl.DataFrame({"x": [0.5]})),
        ("M-power", pl.DataFrame({"status": ["not in this cache: cot"]})),
    ):
        table = ig.tables.typeset(frame, id=id, caption=f"{id} is shown here.")
        ig.save(id, out=tmp_path, data=frame, table=table, run=ig.Provenance("d", 1, cache="c"))
    page = write_gallery(tmp_path).read_text()
    assert '<article class="card" id="T2"' in page
    assert '<article class="card" id="M-power"' not in page
    assert "Not in this cache: 1 further tables" in page
    assert all(p["title"] in page and f"arXiv:{p['arxiv']}" in page for p in PAPERS)


def test_no_named_model_ticks_a_case_of_a_simulated_run() -> None:
    run = ig.load_results("simulated")
    picked = ig.views.pick_cases(run.judgments)
    rows = pl.read_csv(ROOT / "figures/simulated/S-cases.csv")
    real = re.compile("gpt|claude|gemini|qwen|glm", re.IGNORECASE)
    shown = " ".join([*rows.columns, *(str(v) for row in rows.rows() for v in row)])
    assert not real.search(shown.replace("(simulated)", "")) or not real.search(
        re.sub(r"\S+ \(simulated\)", "", shown)
    )
    grid = ig.views.found_grid(run.judgments, picked["case_id"][0], ("direct", "oracle"))
    assert not real.search(" ".join(grid.columns))
    assert sum("simulated" in c for c in grid.columns) == grid.width - 1


def test_commands_of_the_readme_name_what_is_there() -> None:
    readme = (ROOT / "README.md").read_text()
    (line,) = re.findall(r"^    papermill (.*)$", readme, re.MULTILINE)
    words = line.split()
    assert (ROOT / words[0]).is_file()
    assert (ROOT / "data/cache" / words[words.index("cache") + 1]).is_dir()
