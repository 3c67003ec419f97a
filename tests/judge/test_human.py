"""Human judgments from CSV."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

import icgkit as ig
from icgkit.errors import SchemaError
from icgkit.judge.human import read_human, write_human_template


@pytest.fixture
def data() -> ig.Dataset:
    return ig.load_dataset("icg-teb").subset(["teb-001", "teb-002"])


def fill(path: Path, marks: list[str]) -> str:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        head, *rows = csv.reader(stream)
    at = head.index("region")
    for row, mark in zip(rows, marks, strict=False):
        row[at : at + 3] = mark.split(",")
    text = io.StringIO()
    csv.writer(text).writerows([head, *rows])
    return text.getvalue()


def test_template_filled_in_reads_back(data: ig.Dataset, tmp_path: Path) -> None:
    path = tmp_path / "ada.csv"
    n = write_human_template(data, path, annotator="ada")
    assert n == sum(len(c.constraint_nodes) for c in data)
    path.write_text(fill(path, ["true,yes,TRUE", "true,no,true"]), encoding="utf-8-sig")
    frame = read_human(path, data)
    assert frame["found"].to_list()[:2] == [True, False]
    assert frame["found"].null_count() == n - 2  # not judged is not false


def test_semicolons_and_no_bom(data: ig.Dataset, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(
        "dataset;case_id;node_id;annotator;condition;region;update;reason\nicg-teb;teb-001;n1;eve;direct;yes;yes;\n"
    )
    assert read_human(path, data)["found"].to_list() == [None]


def test_every_wrong_row_is_named(data: ig.Dataset, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(
        "dataset,case_id,node_id,annotator,condition,region,update,reason\n"
        "icg-teb,teb-001,n1,eve,direct,true,true,true\n"
        "icg-teb,teb-001,n1,eve,direct,true,true,true\n"
        "icg-teb,teb-001,n99,eve,direct,true,true,true\n"
        "icg-teb,teb-002,n1,,direct,perhaps,true,true\n"
    )
    with pytest.raises(SchemaError) as caught:
        read_human(path, data)
    text = str(caught.value)
    for part in ("row 3: same key as row 2", "n99", "row 5: no annotator", "'perhaps'"):
        assert part in text


def test_missing_column(data: ig.Dataset, tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("dataset,case_id\n")
    with pytest.raises(SchemaError, match="missing column node_id"):
        read_human(path, data)


def test_no_field_of_the_template_is_a_formula_and_names_come_back(data: ig.Dataset, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    write_human_template(data, path, annotator="=cmd()", condition="@x;=1+1")
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.reader(stream))
    assert not [field for row in rows for field in row if field[:1] in tuple("=+-@\t\r")]
    # Quoted, so that a program which cuts at semicolons keeps the field whole.
    assert '"\'@x;=1+1"' in path.read_text(encoding="utf-8-sig")
    frame = read_human(path, data)
    assert set(frame["annotator"]) == {"=cmd()"}
    assert set(frame["condition"]) == {"@x;=1+1"}


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b'a,"b\n' * 3, b"\0,\0\n", b"dataset,case_id\n1,2,3\n"]
)
def test_what_is_no_such_csv_is_named(content: bytes, data: ig.Dataset, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    with pytest.raises(SchemaError, match=r"x\.csv"):
        read_human(path, data)


def test_a_long_field_is_no_fault(data: ig.Dataset, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    write_human_template(data, path, annotator="ada")
    text = (
        path.read_text(encoding="utf-8-sig").replace("\n", ',""\n').replace('reason",""', 'reason","more"', 1)
    )
    path.write_text(text.replace(',""\n', f',"{"y" * 200_000}"\n', 1), encoding="utf-8")
    assert read_human(path, data)["found"].null_count()
