"""Edited images scored by program: on drawn cases whose right edit is known, and on what is made of it."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image, ImageFilter
from typer.testing import CliRunner

import icgkit as ig
from icgkit.cases.edited import reference_edit, regions_of, score_edits
from icgkit.cli import app
from icgkit.errors import ImageError, SchemaError
from icgkit.metrics.edits import Region, score_edit

DATA = ig.load_dataset("icg-scenes")
CASES = list(DATA)[::45]


def encoded(pixels: Any) -> Any:
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=80)
    return np.asarray(Image.open(stream).convert("RGB"))


def resized(pixels: Any) -> Any:
    picture = Image.fromarray(pixels)
    small = picture.resize((picture.width * 2 // 3, picture.height * 2 // 3), Image.Resampling.LANCZOS)
    return np.asarray(small.resize(picture.size, Image.Resampling.LANCZOS))


def moved(pixels: Any) -> Any:
    return np.roll(pixels, (-3, 5), (0, 1))


def toned(pixels: Any) -> Any:
    return np.clip(255 * (pixels / 255.0) ** 1.1 * np.array([1.03, 1.0, 0.96]), 0, 255).astype(np.uint8)


COPIES: dict[str, Callable[[Any], Any]] = {
    "as it is": np.asarray, "encoded": encoded, "resized": resized, "moved": moved, "toned": toned,
}  # fmt: skip


@pytest.mark.parametrize("copy", COPIES)
def test_reference_edits_are_done_and_originals_are_left(copy: str) -> None:
    right = wrong = 0
    for case in CASES:
        assert DATA.folder is not None
        before, reference = reference_edit(case, DATA.folder)
        for picture, due in ((reference, "done"), (before, "left")):
            found = score_edit(COPIES[copy](picture), before, reference, regions_of(case))
            assert found.picture["registered"]
            got = [row["status"] for row in found.regions if row["status"]]
            right += got.count(due)
            wrong += len(got) - got.count(due)
            if copy == "as it is":
                assert (found.picture["preserved"], found.picture["n_invented"]) == (1.0, 0)
    assert right > 40
    assert wrong == 0 if copy == "as it is" else wrong <= 0.1 * right


def test_one_missed_one_blurred_and_one_invented_are_told_apart() -> None:
    case = next(c for c in DATA if len(c.constraint_nodes) >= 3 and c.constraint_nodes[0].bbox)
    assert DATA.folder is not None
    before, reference = reference_edit(case, DATA.folder)
    regions = regions_of(case)
    box = next((r.before, r.after) for r in regions if r.id == case.constraint_nodes[0].id)
    x0, y0 = (int(min(b[k] for b in box if b)) - 3 for k in (0, 1))
    x1, y1 = (int(max(b[k] for b in box if b)) + 4 for k in (2, 3))
    missed = reference.copy()
    missed[y0:y1, x0:x1] = before[y0:y1, x0:x1]
    found = {r["node_id"]: r["status"] for r in score_edit(missed, before, reference, regions).regions}
    assert found.pop(case.constraint_nodes[0].id) == "left"
    assert set(found.values()) == {"done"}
    invented = reference.copy()
    still = np.argwhere((before == reference).all(2))
    y, x = (int(v) for v in still[len(still) // 2])
    invented[y : y + 12, x : x + 30] = 255 - invented[y : y + 12, x : x + 30]
    told = score_edit(invented, before, reference, regions).picture
    assert told["n_invented"] >= 1
    assert told["preserved"] < 1


def test_a_blurred_text_cannot_be_read_and_a_reader_decides() -> None:
    before = np.full((80, 200, 3), 255, np.uint8)
    rng = np.random.default_rng(0)
    before[10:30, 20:120] = rng.integers(0, 2, (20, 100, 1)) * 255
    after = before.copy()
    after[10:30, 20:120] = rng.integers(0, 2, (20, 100, 1)) * 255
    region = Region("n1", "", (20, 10, 120, 30), (20, 10, 120, 30), {"text": "€ 26", "was": "€ 20"})
    smooth = np.asarray(Image.fromarray(after).filter(ImageFilter.GaussianBlur(8)))
    cut = after.copy()
    cut[10:30, 20:120] = smooth[10:30, 20:120]
    assert score_edit(cut, before, after, [region]).regions[0]["status"] == "unreadable"
    for said, status in (("now €26!", "done"), ("€ 20", "left"), ("€ 99", "wrong")):
        row = score_edit(cut, before, after, [region], read=lambda _, t=said: t).regions[0]  # type: ignore[misc]
        assert (row["status"], row["text"]) == (status, said)


def test_another_picture_is_not_registered() -> None:
    case, other = CASES[0], CASES[3]
    assert DATA.folder is not None
    before, reference = reference_edit(case, DATA.folder)
    with Image.open(other.image_path) as picture:
        strange = np.asarray(picture.convert("RGB").resize(before.shape[1::-1]))
    found = score_edit(strange, before, reference, regions_of(case))
    assert found.picture["registered"] is False
    assert {row["status"] for row in found.regions} == {None}


def test_files_of_an_editor_become_frames(tmp_path: Path) -> None:
    case = CASES[0]
    assert DATA.folder is not None
    _, reference = reference_edit(case, DATA.folder)
    picture = Image.fromarray(reference)
    picture.resize((picture.width * 3 // 2, picture.height * 3 // 2)).save(tmp_path / "large.png")
    regions, pictures = score_edits(DATA, {case.id: tmp_path / "large.png"}, editor="right")
    assert set(regions["status"].drop_nulls()) == {"done"}
    assert pictures.select("editor", "registered").row(0) == ("right", True)
    done = ig.metrics.mean(
        regions.with_columns(done=pl.col("status") == "done"), "done", by="editor", ci=None
    )
    assert done["estimate"].to_list() == [1.0]
    picture.resize((300, 900)).save(tmp_path / "odd.png")
    with pytest.raises(ImageError, match="proportions"):
        score_edits(DATA, {case.id: tmp_path / "odd.png"})
    with pytest.raises(SchemaError, match="no reference edits"):
        score_edits(ig.load_dataset("icg-teb"), {})
    with pytest.raises(SchemaError, match="one size"):
        score_edit(reference[:50], reference, reference, [])


def test_a_folder_of_pictures_is_scored_by_one_command(tmp_path: Path) -> None:
    assert DATA.folder is not None
    for case in CASES[:2]:
        Image.fromarray(reference_edit(case, DATA.folder)[1]).save(tmp_path / f"{case.id}.png")
    Image.fromarray(reference_edit(CASES[2], DATA.folder)[0]).save(
        tmp_path / f"{CASES[2].id}.webp", lossless=True
    )
    Image.new("RGB", (9, 9)).save(tmp_path / "stranger.png")
    out = tmp_path / "scores.csv"
    done = CliRunner().invoke(
        app, ["score", "edits", str(tmp_path), "--data", "icg-scenes", "--out", str(out)]
    )
    assert done.exit_code == 0, done.output
    target = {
        r["measure"]: r["estimate"] for r in pl.read_csv(out).filter(category="target").iter_rows(named=True)
    }
    assert target == {
        "done": pytest.approx(2 / 3),
        "left": pytest.approx(1 / 3),
        "wrong": 0,
        "unreadable": 0,
        "unknown": 0,
    }
    assert "problem   no such case: stranger.png" in done.output
    assert f"and {len(DATA) - 3 + 1 - 20:,d} more" in done.output
    (tmp_path / "none").mkdir()
    assert (
        "CASE_ID.png"
        in CliRunner().invoke(app, ["score", "edits", str(tmp_path / "none"), "--data", "icg-scenes"]).output
    )
