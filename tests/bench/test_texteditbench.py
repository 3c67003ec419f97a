from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from PIL import Image

import icgkit as ig
from icgkit.bench.texteditbench import files as teb
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
