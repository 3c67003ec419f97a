"""Forms that people fill in: written from a run, read back, every wrong row named."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

import icgkit as ig
from icgkit.errors import SchemaError
from icgkit.report.results import Results
from icgkit.study.forms import FORMS, read_form, spreadsheet_safe, spreadsheet_text, write_form

HEAD = "dataset,case_id,node_id,annotator,condition,region,update,reason\n"


@pytest.fixture(scope="module")
def run() -> Results:
    return ig.load_results("offline")


@pytest.fixture
def data() -> ig.Dataset:
    return ig.load_dataset("icg-teb").subset(["teb-001", "teb-002"])


def fill(path: Path, **columns: list[str]) -> None:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        head, *rows = csv.reader(stream)
    for name, values in columns.items():
        for row, value in zip(rows, values, strict=False):
            row[head.index(name)] = value
    text = io.StringIO()
    csv.writer(text).writerows([head, *rows])
    path.write_text(text.getvalue(), encoding="utf-8-sig")


ANSWERS = {
    "found": "yes",
    "exists": "no",
    "subtype": "style_font",
    "source": "visual grounding",
    "gold": "true",
}


@pytest.mark.parametrize("kind", FORMS)
def test_a_form_filled_in_reads_back(kind: str, run: Results, tmp_path: Path) -> None:
    path = tmp_path / "ada.csv"
    assert write_form(run, kind, path) > 2
    question = next(iter(FORMS[kind]))
    with pytest.raises(SchemaError, match="nothing is filled in"):
        read_form(path, kind, run.dataset)
    fill(path, **{question: [ANSWERS[question], "", ANSWERS[question]]})
    if "annotator" in ig.schemas.schema(kind).key:
        with pytest.raises(SchemaError, match="row 2: no annotator"):
            read_form(path, kind, run.dataset)
        fill(path, annotator=["ada"] * 3)
    frame = read_form(path, kind, run.dataset)
    assert frame.height == 2  # what was not answered is not false
    assert set(map(str, frame[question].to_list())) <= {"True", "False", ANSWERS[question]}


def test_three_marks_give_found_and_semicolons_will_do(data: ig.Dataset, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    rows = ["icg-teb,teb-001,n1,eve,direct,yes,yes,", "icg-teb,teb-001,n2,eve,direct,true,no,TRUE"]
    rows += ["icg-teb,teb-002,n1,eve,direct,true,yes,TRUE", "icg-teb,teb-002,n2,eve,direct,,,"]
    path.write_text((HEAD + "\n".join(rows)).replace(",", ";"))
    assert read_form(path, "human")["found"].to_list() == [None, False, True]


def test_every_wrong_row_is_named(data: ig.Dataset, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(
        HEAD + "icg-teb,teb-001,n1,eve,direct,true,true,true\n"
        "icg-teb,teb-001,n1,eve,direct,true,true,true\n"
        "icg-teb,teb-001,n99,eve,direct,true,true,true\n"
        "icg-teb,teb-002,n1,,direct,perhaps,true,true\n"
        "other,teb-002,n1,eve,direct,yes,true,true\n"
    )
    with pytest.raises(SchemaError) as caught:
        read_form(path, "human", data)
    text = str(caught.value)
    for part in ("row 3: same key as row 2", "n99", "row 5: no annotator", "'perhaps'", "'other'"):
        assert part in text


def test_missing_column(tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("dataset,case_id\n")
    with pytest.raises(SchemaError, match="missing column node_id"):
        read_form(path, "human")


@pytest.mark.parametrize("text", ["=cmd()", "@x;=1+1", "+1", "-1", "1+1", "plain"])
def test_no_field_is_a_formula_and_texts_come_back(text: str) -> None:
    assert not spreadsheet_safe(text).startswith(tuple("=+-@\t\r"))
    assert spreadsheet_text(spreadsheet_safe(text)) == text


def test_no_field_of_a_form_is_a_formula(run: Results, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    write_form(run, "gold", path)  # holds the words of models
    with path.open(encoding="utf-8-sig", newline="") as stream:
        fields = [field for row in csv.reader(stream) for field in row]
    assert not [field for field in fields if field.startswith(tuple("=+-@\t\r"))]


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b'a,"b\n' * 3, b"\0,\0\n", b"dataset,case_id\n1,2,3\n"]
)
def test_what_is_no_such_csv_is_named(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    with pytest.raises(SchemaError, match=r"x\.csv"):
        read_form(path, "human")


def test_a_long_field_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    more = "y" * 200_000
    path.write_text(f"{HEAD[:-1]},note\nicg-teb,teb-001,n1,eve,direct,yes,yes,yes,{more}\n")
    assert read_form(path, "human").height == 1
