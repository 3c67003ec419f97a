from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import polars as pl
import pytest

import icgkit as ig
from icgkit.cases.dataset import load_dataset, read_cases, sha256_of, write_cases
from icgkit.errors import ImageError, SchemaError, UnknownName
from icgkit.schemas import schema

TOML = 'name = "mini-set"\nversion = "1"\nlicence = "CC0-1.0"\nprovenance = "test"\nimage_root = "images"\n'


@pytest.fixture
def folder(case: ig.Case, tmp_path: Path) -> Path:
    (tmp_path / "dataset.toml").write_text(TOML, encoding="utf-8")
    write_cases(
        [case, case.model_copy(update={"id": "demo-2", "inter_constraints": ()})], tmp_path / "cases.jsonl"
    )
    return tmp_path


def test_a_dataset_folder_gives_cases_and_frames(folder: Path, case: ig.Case) -> None:
    data = load_dataset(folder)
    assert len(data) == 2
    assert data["demo-1"].to_json() == case.to_json()
    assert data["demo-1"].image_path == folder / "images" / "demo.png"
    assert data.frame()["n_nodes"].to_list() == [2, 2]
    # 2 cases x 2 nodes, of which one has a box
    nodes = data.nodes()
    assert nodes.height == 4
    assert nodes["x0"].to_list() == [30.0, None, 30.0, None]
    # implied edges: 4, between nodes: 1
    assert data.edges().group_by("type").len().sort("type").rows() == [("agreement", 1), ("edit", 4)]
    assert len(data.missing_images()) == 2
    assert [c.id for c in data.subset(["demo-2"])] == ["demo-2"]


def test_image_root_by_environment(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ICGKIT_IMAGES_MINI_SET", str(tmp_path / "other"))
    assert load_dataset(folder).image_root == tmp_path / "other"


def test_the_users_setting_may_name_several_folders(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "demo.png").write_bytes(b"x")
    monkeypatch.setenv("ICGKIT_IMAGES_MINI_SET", os.pathsep.join([str(tmp_path / "none"), str(other)]))
    assert load_dataset(folder)[0].image_path == other / "demo.png"


@pytest.mark.parametrize("root", ["/", "..", "images/../..", "link", "", 5, ["images"]])
def test_images_come_from_below_the_dataset(root: object, folder: Path) -> None:
    (folder / "link").symlink_to(folder.parent)
    text = TOML.replace('"images"', json.dumps(root))
    (folder / "dataset.toml").write_text(text)
    with pytest.raises(SchemaError, match="image_root"):
        load_dataset(folder)


@pytest.mark.parametrize("elsewhere", ['"../.."', "5", "[1]"])
def test_folders_elsewhere_are_a_list(elsewhere: str, folder: Path) -> None:
    (folder / "dataset.toml").write_text(TOML + f"image_root_elsewhere = {elsewhere}\n")
    with pytest.raises(SchemaError, match="image_root_elsewhere"):
        load_dataset(folder)


def test_a_picture_elsewhere_is_taken_only_if_the_case_knows_its_hash(
    folder: Path, case: ig.Case, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    private = tmp_path / "private"
    private.mkdir()
    (private / "demo.png").write_bytes(b"not for others")
    monkeypatch.setenv("ICGKIT_HOME", str(tmp_path))
    (folder / "dataset.toml").write_text(TOML + 'image_root_elsewhere = ["private"]\n')
    with pytest.raises(ImageError, match="another one than the case names"):
        _ = load_dataset(folder)[0].image_path
    known = case.model_copy(update={"image_sha256": hashlib.sha256(b"not for others").hexdigest()})
    ig.write_cases([known], folder / "cases.jsonl")
    assert load_dataset(folder)[0].image_path == private / "demo.png"


def test_bom_crlf_and_unicode_line_separators_are_read(folder: Path, case: ig.Case) -> None:
    path = folder / "cases.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_cases(path)[0] == case


def test_cases_are_read_again_only_when_their_file_has_changed(folder: Path) -> None:
    first = ig.load_dataset(folder)
    assert ig.load_dataset(folder).cases is first.cases
    path = folder / "cases.jsonl"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(first.cases[0].id, "another-id"), encoding="utf-8")
    assert ig.load_dataset(folder).cases[0].id == "another-id"


def test_an_id_used_twice_names_both_lines(folder: Path, case: ig.Case) -> None:
    write_cases([case, case], folder / "cases.jsonl")
    with pytest.raises(SchemaError, match=r"line 2, case 'demo-1'.*first on line 1"):
        load_dataset(folder)


def test_other_encodings_are_refused(folder: Path) -> None:
    (folder / "cases.jsonl").write_bytes("é".encode("cp1252"))
    with pytest.raises(SchemaError, match="not UTF-8"):
        load_dataset(folder)


def test_dataset_toml_must_be_whole(folder: Path) -> None:
    (folder / "dataset.toml").write_text('name = "x"\n', encoding="utf-8")
    with pytest.raises(SchemaError, match="missing field version"):
        load_dataset(folder)


def test_unknown_dataset_names_what_there_is() -> None:
    with pytest.raises(UnknownName, match=r"icg-scenes"):
        load_dataset("icg-scened")


def test_published_figures() -> None:
    icg = ig.load_published("icg")
    assert icg.filter(pl.col("id") == "dataset.nodes")["value"].item() == 776
    with pytest.raises(UnknownName, match="unike"):
        ig.load_published("nope")


def test_sha256(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    # the standard's own test vector for "abc"
    assert sha256_of(tmp_path / "a").startswith("ba7816bf8f01cfea")


def test_schema_check_refuses_what_it_documents() -> None:
    rows = [{"dataset": "d", "case_id": "c", "condition": "direct", "model": "m", "sample": 0, "node_id": "n",
             "judge": "j", "found": None, "status": "incomplete"}]  # fmt: skip
    frame = schema("judgments").frame(rows)
    assert frame["found"].dtype == pl.Boolean
    with pytest.raises(SchemaError, match="share a key"):
        schema("judgments").check(pl.concat([frame, frame]))
    with pytest.raises(SchemaError, match="nulls"):
        schema("judgments").check(frame.with_columns(model=pl.lit(None, pl.String)))
    with pytest.raises(SchemaError, match="missing column judge"):
        schema("judgments").check(frame.drop("judge"))
    with pytest.raises(SchemaError, match=r"judgments.found: dtype"):
        schema("judgments").check(frame.with_columns(found=pl.lit("false")))
    row = {"id": "i", "where": "w", "quantity": "q", "value": 1.0, "unit": "u"}
    bad = schema("published").frame([row])
    with pytest.raises(SchemaError, match="NaN"):
        schema("published").check(bad.with_columns(value=pl.lit(float("nan"))))
