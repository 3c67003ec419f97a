from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image

import icgkit as ig
from icgkit.bench.texteditbench import files as teb
from icgkit.bench.texteditbench import scores as teb_scores
from icgkit.errors import ImageError, SchemaError
from icgkit.files import project_root

PUBLIC = project_root().parent / "shared" / "data" / "texteditbench"
GOOD = {
    "id": "A_1", "topic": "Data & Analytics", "prompt": "change 5 to 6", "editing_method": "text_change",
    "difficulty": "easy", "difficulty_score": " 5(1,2,1,0,0,0,0,1,0,0)", "input_image": "1.jpg",
    "source_tag": "human_annotation",
}  # fmt: skip


def put(root: Path, number: str, content: bytes | str, *, image: bool = True) -> Path:
    folder = root / "data_manual_production" / "Data_Analytics" / number
    folder.mkdir(parents=True)
    data = content.encode() if isinstance(content, str) else content
    (folder / "Data & Analytics_1.json").write_bytes(data)
    if image:
        Image.new("RGB", (40, 30), "white").save(folder / "1.jpg")
    return folder


def kinds(found: teb.Import) -> dict[str, int]:
    return dict(found.repairs.group_by("kind").len().iter_rows())


def test_a_clean_record_needs_no_repair(tmp_path: Path) -> None:
    put(tmp_path, "001", json.dumps([GOOD]))
    found = teb.read(tmp_path)
    assert found.repairs.is_empty()
    assert found.problems.is_empty()
    row = found.records.row(0, named=True)
    # 1 + 2 + 1 + 0 + 0 + 0 + 0 + 1 + 0 + 0 = 5
    assert row["score"] == 5
    assert row["case_id"] == "manual-Data_Analytics-001"
    assert row["input_image"].endswith("001/1.jpg")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\xef\xbb\xbf" + json.dumps([GOOD]).encode(), "byte-order mark"),
        (json.dumps([GOOD], indent=1).replace("\n", "\r\n"), "CRLF line ends"),
        (json.dumps(GOOD), "bare record"),
        (json.dumps([GOOD]).replace(', "topic"', ',\u00a0"topic"'), "no-break space between tokens"),
        (json.dumps([GOOD | {"input_image": "1.jpg "}]), "blank at the end of an image name"),
        (json.dumps([GOOD | {"input_image": "7.jpg"}]), "image name that does not exist"),
        (json.dumps([GOOD | {"editing_method": "scalling"}]), "spelling of editing_method"),
        (json.dumps([GOOD | {"difficulty": " meduim"}]), "spelling of difficulty"),
        (json.dumps([GOOD | {"knoeledge_prompt": "k"}]), "spelling of a key"),
        (json.dumps([GOOD | {"prompt": "caf\u00e9"}], ensure_ascii=False).encode("cp1252"), "Windows code page"),
    ],
)  # fmt: skip
def test_each_anomaly_is_repaired_and_reported(tmp_path: Path, content: bytes | str, kind: str) -> None:
    put(tmp_path, "001", content)
    found = teb.read(tmp_path)
    assert kind in kinds(found)
    row = found.records.row(0, named=True)
    assert row["input_image"].endswith("1.jpg")
    assert row["editing_method"] in teb.METHODS
    assert row["difficulty"] in teb.DIFFICULTIES


def test_a_no_break_space_inside_a_string_stays(tmp_path: Path) -> None:
    text = json.dumps([GOOD | {"prompt": "10\u00a0%"}], ensure_ascii=False).replace(
        ', "topic"', ',\u00a0"topic"'
    )
    put(tmp_path, "001", text)
    assert teb.read(tmp_path).records["prompt"].item() == "10\u00a0%"


def test_ids_used_twice_become_unique(tmp_path: Path) -> None:
    for number in ("001", "002"):
        put(tmp_path, number, json.dumps([GOOD]))
    found = teb.read(tmp_path)
    assert found.records["case_id"].n_unique() == 2
    assert kinds(found)["id used more than once"] == 2


def test_what_cannot_be_used_is_a_problem_and_nothing_is_dropped(tmp_path: Path) -> None:
    put(tmp_path, "001", "{oops")
    put(tmp_path, "002", json.dumps([GOOD | {"difficulty_score": "9(0,2)"}]), image=False)
    put(tmp_path, "003", json.dumps([GOOD | {"input_image": "../../../../secret.jpg"}]), image=False)
    found = teb.read(tmp_path)
    problems = set(found.problems["kind"])
    assert {"not JSON", "image not here", "difficulty_score is not ten parts of 0 to 2"} <= problems
    assert found.records.height == 2
    with pytest.raises(ImageError, match="no record has its image"):
        teb.write_dataset(found, tmp_path, tmp_path / "out")
    with pytest.raises(SchemaError, match="no annotation file"):
        teb.read(tmp_path / "nowhere")


def test_the_dataset_that_is_written_can_be_loaded_and_prompted(tmp_path: Path) -> None:
    from icgkit.prompts.conditions import build_messages

    put(tmp_path / "public", "001", json.dumps([GOOD]))
    found = teb.read(tmp_path / "public")
    assert teb.write_dataset(found, tmp_path / "public", tmp_path / "out") == 1
    data = ig.load_dataset(tmp_path / "out")
    case = data["manual-Data_Analytics-001"]
    assert case.image_size == (40, 30)
    assert "change 5 to 6" in str(build_messages(case, "direct"))


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public annotation files are not beside the project")
def test_the_whole_public_folder() -> None:
    """Counts of every anomaly, as counted by hand with a script that shares no code with the reader."""
    found = teb.read(PUBLIC)
    assert found.records.height == 1197
    assert found.records["case_id"].n_unique() == 1197
    got = kinds(found)
    assert got["no-break space between tokens"] == 1
    assert got["byte-order mark"] == 1
    assert got["CRLF line ends"] == 221
    assert got["bare record"] == 65
    assert got["spelling of a key"] == 17
    assert got["blank at the end of an image name"] == 8
    assert got["spelling of editing_method"] == 1
    assert got["image name that does not exist"] == 1
    used_twice = found.records.group_by("id").len().filter(pl.col("len") > 1)
    # a search for ids by regular expression, in another script: 289 ids in 587 files, 281 of them twice
    assert used_twice.height == 289
    assert used_twice["len"].sum() == 587
    assert set(found.records["editing_method"]) == set(teb.METHODS)
    assert set(found.records["difficulty"]) == set(teb.DIFFICULTIES)
    assert found.records["input_image"].drop_nulls().len() == 155
    assert not {"not JSON", "missing field", "unknown editing_method"} & set(found.problems["kind"])


def test_links_that_lead_out_are_neither_read_nor_taken(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    Image.new("RGB", (9, 9)).save(secret / "5.png")
    (secret / "r.json").write_text('{"id": 1, "prompt": "secret"}')
    place = tmp_path / "data" / "web" / "Posters" / "001"
    place.mkdir(parents=True)
    (place / "1.json").symlink_to(secret / "r.json")
    (place / "2.json").write_text(json.dumps([GOOD | {"input_image": "7.png"}]))
    (place / "5.png").symlink_to(secret / "5.png")
    found = teb.read(tmp_path / "data")
    assert found.records["prompt"].to_list() == [GOOD["prompt"]]
    assert found.records["input_image"].to_list() == [None]


def test_a_mask_is_no_input_and_an_import_stands_alone(tmp_path: Path) -> None:
    place = tmp_path / "data" / "web" / "Posters" / "001"
    place.mkdir(parents=True)
    Image.new("RGB", (9, 9)).save(place / "48.png")
    Image.new("L", (9, 9)).save(place / "48_mask.png")
    (place / "1.json").write_text(json.dumps([GOOD | {"input_image": "23.png"}]))
    assert teb.write_dataset(teb.read(tmp_path / "data"), tmp_path / "data", tmp_path / "out") == 1
    (place / "48.png").unlink()
    data = ig.load_dataset(tmp_path / "out")
    assert data[0].image_path.is_relative_to(tmp_path / "out")
    assert data.missing_images() == []


# -- scores ---------------------------------------------------------------------------------------


def judged(path: Path) -> Path:
    """Two instances as the public judge writes them: by hand, one dimension failed."""

    def one(task: str, **scores: Any) -> dict[str, Any]:
        return {"category": "Data_Analytics", "task_id": task, "evaluation_results": scores}

    def told(name: str, value: Any, why: str = "fine") -> dict[str, Any]:
        return {name: value, "rationale": why}

    rows = [
        one(
            "A_1", IF=told("IF", 5), TA=told("TA", "4"), VC=told("VC", 3), LP=told("LP", 2), SE=told("SE", 1)
        ),
        one("A_2", IF=told("IF", 3), TA=told("TA", 0, "API Error: timed out"), VC=None, LP=told("LP", 9)),
    ]
    (path / "failed").mkdir(parents=True)
    (path / "my-model.json").write_text(json.dumps(rows))
    return path


def test_scores_of_the_public_judge_by_hand(tmp_path: Path) -> None:
    table, problems = teb_scores.score(judged(tmp_path / "results"))
    got = {r["measure"]: r for r in table.filter(category="all").iter_rows(named=True)}
    assert list(got) == ["IF", "TA", "VC", "LP", "SE"]
    assert (got["IF"]["estimate"], got["IF"]["public"], got["IF"]["n_scored"]) == (4, 4, 2)
    # A failed call is written as 0: the public mean of 4 and 0 is 2, ours is 4 of one scored.
    assert (got["TA"]["estimate"], got["TA"]["public"], got["TA"]["n_missing"]) == (4, 2, 1)
    assert (got["VC"]["estimate"], got["VC"]["n_missing"]) == (3, 1)
    assert (got["LP"]["estimate"], got["LP"]["public"]) == (2, 5.5)
    assert (got["SE"]["n_total"], got["SE"]["estimate"]) == (1, 1)
    assert sorted(problems["kind"]) == [
        "LP: not in 0 to 5",
        "TA: the call failed, 0 was written",
        "VC: no number",
    ]
    (tmp_path / "none").mkdir()
    with pytest.raises(SchemaError, match="no scores of TextEditBench"):
        teb_scores.score(tmp_path / "none")


def masked(root: Path) -> None:
    """One instance of 40 by 30 whose mask is white from (10, 5) to (20, 15)."""
    folder = put(root, "001", json.dumps([GOOD]))
    mask = Image.new("L", (40, 30), 0)
    mask.paste(255, (10, 5, 20, 15))
    mask.save(folder / "1_mask.png")


def test_pixels_outside_the_mask_by_hand(tmp_path: Path) -> None:
    masked(tmp_path / "data")
    picture = Image.new("RGB", (40, 30), "white")
    picture.paste((0, 0, 0), (10, 5, 20, 15))  # inside the mask: does not count
    picture.paste((245, 245, 245), (0, 20, 40, 30))  # 400 of 1,100 pixels outside by 10
    place = tmp_path / "out" / "canva" / "Data_Analytics"
    place.mkdir(parents=True)
    picture.save(place / "001_edited.png")
    table, problems = teb_scores.score(tmp_path / "out", tmp_path / "data")
    got = dict(table.filter(category="all").select("measure", "estimate").iter_rows())
    assert got["MSE"] == pytest.approx(100 * 400 / 1100)
    assert got["PSNR"] == pytest.approx(10 * math.log10(255**2 / (100 * 400 / 1100)))
    assert 0.9 < got["SSIM"] < 1
    assert problems.is_empty()
    Image.new("RGB", (40, 30), "white").save(place / "001_edited.png")
    same, told = teb_scores.score(tmp_path / "out", tmp_path / "data")
    got = dict(same.filter(category="all").select("measure", "estimate").iter_rows())
    assert (got["MSE"], got["PSNR"], got["SSIM"]) == (0, None, pytest.approx(1))
    assert told["kind"].to_list() == ["PSNR infinite"]
    Image.new("RGB", (20, 15), "white").save(place / "001_edited.png")
    other, told = teb_scores.score(tmp_path / "out", tmp_path / "data")
    assert other.filter(category="all")["n_missing"].to_list() == [1, 1, 1]
    assert "different sizes" in told["detail"][0]


def test_ssim_of_flat_pictures_by_hand() -> None:
    # Two flat pictures have no variance: SSIM is (2ab + c1) / (a^2 + b^2 + c1), a = 0.4, b = 0.8, c1 = 0.0001.
    one, two = (np.full((20, 20, 3), v * 255) for v in (0.4, 0.8))
    got = teb_scores.outside_mask(one, two, np.zeros((20, 20), dtype=bool))
    assert got["SSIM"] == pytest.approx((2 * 0.32 + 1e-4) / (0.16 + 0.64 + 1e-4))


def test_the_mask_is_the_target_region(tmp_path: Path) -> None:
    masked(tmp_path / "data")
    found = teb.read(tmp_path / "data")
    assert found.records["masks"].to_list() == [["data_manual_production/Data_Analytics/001/1_mask.png"]]
    assert teb.write_dataset(found, tmp_path / "data", tmp_path / "out") == 1
    case = next(iter(ig.load_dataset(str(tmp_path / "out"))))
    assert case.target.bbox == (10, 5, 20, 15)
    assert case.target.region == "white in the mask"


def test_another_benchmark_is_named_as_such(tmp_path: Path) -> None:
    (tmp_path / "data_total.json").write_text(
        json.dumps([{"index": 1, "instruction": "solve", "image": "a.png"}])
    )
    with pytest.raises(SchemaError, match="this is no TextEditBench folder"):
        teb.read(tmp_path)


def test_the_door_takes_every_benchmark(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from icgkit.cli import app

    grade = project_root() / "data" / "bench" / "grade"
    results = judged(tmp_path / "results")
    for given, words in (
        (["texteditbench", str(results)], "(public tools: 2.00)"),
        (["grade", str(grade / "implicit" / "solver"), "--data", str(grade / "data.json")], "strict_public"),
    ):
        got = CliRunner().invoke(app, ["score", *given])
        assert got.exit_code == 0, got.output
        assert words in got.output
    lacking = CliRunner().invoke(app, ["score", "unike", str(results)])
    assert lacking.exit_code == 2
    assert "--data UniKE.json" in lacking.output.replace("\n", " ")
