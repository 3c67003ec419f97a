from __future__ import annotations

import json
from pathlib import Path

import pytest

from icgkit.reproduce.compare import compare_folders


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    pair = (tmp_path / "a", tmp_path / "b")
    for folder in pair:
        folder.mkdir()
        (folder / "T2.csv").write_text("model,recall,low\na,0.25,0.1\nb,0.5,\n")
        (folder / "T2.json").write_text(
            json.dumps({"id": "T2", "caption": "c", "n": {"cases": 3}, "files": []})
        )
    return pair


def test_equal_folders(folders: tuple[Path, Path]) -> None:
    assert compare_folders(*folders) == []


def test_each_number_is_named(folders: tuple[Path, Path]) -> None:
    (folders[1] / "T2.csv").write_text("model,recall,low\na,0.26,0.1\nb,0.5,0.2\n")
    first, second = compare_folders(*folders)
    assert str(first) == "T2.csv: row 1 (a), recall: committed 0.25, now 0.26 (difference +0.01)"
    # A null that became a number is a difference, too.
    assert (second.place, second.committed, second.now) == ("row 2 (b), low", "", "0.2")


@pytest.mark.parametrize(("value", "same"), [("0.25000001", True), ("0.2501", False), ("2.5e-1", True)])
def test_tolerance_is_relative(folders: tuple[Path, Path], value: str, same: bool) -> None:
    (folders[1] / "T2.csv").write_text(f"model,recall,low\na,{value},0.1\nb,0.5,\n")
    assert (compare_folders(*folders) == []) is same


def test_rows_columns_and_files(folders: tuple[Path, Path]) -> None:
    (folders[1] / "T2.csv").write_text("model,recall,low\na,0.25,0.1\n")
    assert [d.place for d in compare_folders(*folders)] == ["number of rows"]
    (folders[1] / "T2.csv").write_text("model,recall\na,0.25\nb,0.5\n")
    assert [d.place for d in compare_folders(*folders)] == ["columns"]
    for name in ("T2.csv", "T2.json"):
        (folders[1] / name).unlink()
    assert {(d.file, d.now) for d in compare_folders(*folders)} == {
        ("T2.csv", "absent"),
        ("T2.json", "absent"),
    }


def test_what_the_sidecar_states(folders: tuple[Path, Path]) -> None:
    (folders[1] / "T2.json").write_text(
        json.dumps({"id": "T2", "caption": "c", "n": {"cases": 4}, "files": ["x"]})
    )
    assert [(d.place, d.committed, d.now) for d in compare_folders(*folders)] == [("n.cases", 3, 4)]


def test_only_the_ids_asked_for(folders: tuple[Path, Path]) -> None:
    (folders[1] / "T2.csv").write_text("model\n")
    assert compare_folders(*folders, ids=["T3"]) == []


def test_rows_in_another_order_are_no_other_values(folders: tuple[Path, Path]) -> None:
    rows = ["s1,n1,0.5,3", "s2,n1,0.5,3", "s2,n2,0.25,4"]
    for folder, order in zip(folders, ([0, 1, 2], [1, 0, 2]), strict=True):
        text = "\n".join(["case_id,node_id,separation,n", *(rows[i] for i in order)]) + "\n"
        (folder / "T2.csv").write_text(text)
    (only,) = compare_folders(*folders)
    assert only.order_only
    assert str(only) == "T2.csv: order only: the same 3 rows, 2 of them at another place"
    # A value that is another one is found by its key, not where the row stood.
    text = (folders[1] / "T2.csv").read_text().replace("s2,n1,0.5,3", "s2,n1,0.6,3")
    (folders[1] / "T2.csv").write_text(text)
    (found,) = compare_folders(*folders)
    assert (found.order_only, found.committed, found.now) == (False, "0.5", "0.6")
    assert "s2, n1" in found.place
