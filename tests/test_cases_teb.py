"""The real cases: complete, consistent with their images where these are at hand, and audited."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

from icgkit.load import Dataset, load_audit, load_dataset, sha256_of
from icgkit.paths import project_root
from icgkit.taxonomy import CATEGORIES, SUBTYPES

QUESTIONS = ("exists", "region", "update", "reason")
FOLDER = project_root() / "data" / "cases" / "icg-teb"


@pytest.fixture(scope="module")
def teb() -> Dataset:
    return load_dataset("icg-teb")


@pytest.fixture(scope="module")
def audit() -> list[dict[str, str]]:
    with open(FOLDER / "audit.csv", encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_size_and_coverage(teb: Dataset) -> None:
    assert len(teb) >= 60
    assert all(1 <= len(case.constraint_nodes) <= 5 for case in teb)
    assert any(case.inter_constraints for case in teb)
    found = {node.subtype for case in teb for node in case.constraint_nodes}
    assert len(found) >= 14
    assert {SUBTYPES[name].category for name in found} == set(CATEGORIES)


def test_every_node_is_filled_in(teb: Dataset) -> None:
    for case in teb:
        assert case.target.bbox, case.id
        assert case.image_sha256, case.id
        for node in case.constraint_nodes:
            assert node.bbox, (case.id, node.id)
            assert node.region_clean, (case.id, node.id)
            assert node.reason_anon, (case.id, node.id)


def test_anonymised_reasons_hold_no_number_and_no_quotation(teb: Dataset) -> None:
    for case in teb:
        for node in case.constraint_nodes:
            text = (node.reason_anon or "").replace("'s", "")
            assert not re.search(r"[0-9\"“”‘']", text), (case.id, node.id, text)
            assert set(re.findall(r"\[(.*?)\]", text)) <= {"TARGET", "X", "Y", "Z", "W"}, (case.id, node.id)


def test_origin_of_each_instruction_is_recorded(teb: Dataset) -> None:
    for case in teb:
        meta = case.metadata
        assert meta["instruction_from"] in {"texteditbench", "icgkit"}, case.id
        assert meta["teb_id"], case.id
        assert f"data_{meta['half']}/{meta['folder']}/" in case.image, case.id
    assert len({case.image for case in teb}) == len(teb)


def test_no_image_is_committed() -> None:
    assert {p.suffix for p in FOLDER.rglob("*") if p.is_file()} <= {".jsonl", ".toml", ".csv", ".md"}


def test_images_have_the_recorded_size_and_checksum(teb: Dataset) -> None:
    from PIL import Image, ImageOps

    if not (Path(project_root()) / ".." / "shared" / "data" / "texteditbench").is_dir():
        pytest.skip("the images of TextEditBench are not beside this checkout")
    assert not teb.missing_images()
    for case in teb:
        assert sha256_of(case.image_path) == case.image_sha256, case.id
        with Image.open(case.image_path) as image:
            assert ImageOps.exif_transpose(image).size == case.image_size, case.id


def test_audit_covers_every_node(teb: Dataset, audit: list[dict[str, str]]) -> None:
    keys = [(row["case_id"], row["node_id"]) for row in audit]
    assert len(set(keys)) == len(keys)
    kept = {key for key, row in zip(keys, audit, strict=True) if row["repaired"] != "removed"}
    assert kept == {(case.id, node.id) for case in teb for node in case.constraint_nodes}


def test_audit_answers_and_repairs(audit: list[dict[str, str]]) -> None:
    for row in audit:
        answers = [row[q] for q in QUESTIONS]
        assert set(answers) <= {"yes", "no"}, row
        failed = "no" in answers
        assert (row["repaired"] in {"yes", "removed"}) == failed, row
        assert row["note"] or not failed, row


def test_data_card_gives_the_audit_as_it_is(teb: Dataset, audit: list[dict[str, str]]) -> None:
    card = (FOLDER / "README.md").read_text(encoding="utf-8")
    n = len(audit)
    for question in QUESTIONS:
        yes = sum(row[question] == "yes" for row in audit)
        assert re.search(rf"\| {question}:[^|]*\| {yes} \| {n} \| {100 * yes / n:.1f} %", card), question
    whole = sum(all(row[q] == "yes" for q in QUESTIONS) for row in audit)
    assert f"| all four | {whole} | {n} | {100 * whole / n:.1f} %" in card
    nodes = Counter(node.category.id for case in teb for node in case.constraint_nodes)
    for name, count in nodes.items():
        assert f"| {name.replace('_', '-')} | {count} |" in card
    assert f"| cases | {len(teb)}," in card
    assert f"| constraint nodes | {nodes.total()} " in card


def test_the_audit_is_read_as_answers() -> None:
    frame = load_audit(load_dataset("icg-teb"))
    assert frame is not None
    # 262 nodes were audited; the data card's counts of yes
    assert frame.height == 262
    assert frame.select("exists", "region", "update", "reason").sum().row(0) == (258, 260, 252, 252)
