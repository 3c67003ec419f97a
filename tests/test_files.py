from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest

from icgkit import files
from icgkit.errors import ImageError, SchemaError


def test_only_regular_files_within_the_limit_are_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert files.read_file(tmp_path / "a", limit=3) == b"abc"
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name, why in {
        "pipe": "no regular file; got 'pipe'",  # and does not wait for a writer
        "zero": "no regular file; got 'device'",
        ".": "no regular file; got 'folder'",
        "none": "No such file",
        "n" * 300: "File name too long",
        "a\0b": "NUL",
    }.items():
        with pytest.raises(ImageError, match=why):
            files.read_file(f"{tmp_path}/{name}", error=ImageError)
    with pytest.raises(SchemaError, match="too large; got '3 bytes'"):
        files.read_file(tmp_path / "a", limit=2)


@pytest.mark.parametrize(
    "name", ["../a", "/etc/passwd", "b/../../a", "link/x", "out", "a\0b", "n" * 400, "b/../b/../../x"]
)
def test_a_name_that_leads_out_of_its_folder_is_refused(name: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "b").mkdir(parents=True)
    (tmp_path / "a").write_text("secret")
    (root / "out").symlink_to(tmp_path / "a")
    (root / "link").symlink_to(tmp_path)
    (root / "round").symlink_to(root / "round")
    assert files.inside(root, "b/x.png") == root / "b" / "x.png"
    with pytest.raises(ImageError, match=r"outside its folder|no name of a file"):
        files.inside(root, name)


def test_the_footer_of_a_parquet_file_is_believed_before_its_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pl.DataFrame({"a": ["x" * 40_000 + str(n) for n in range(100)], "b": range(100)})
    for options in ({}, {"row_group_size": 7}, {"compression": "snappy"}):
        frame.write_parquet(tmp_path / "t.parquet", **options)
        with open(tmp_path / "t.parquet", "rb") as stream:
            rows, size = files._parquet_size(stream)
        assert rows == 100
        assert 4_000_000 < size < 4_200_000
        assert files.read_parquet(tmp_path / "t.parquet").equals(frame)
    monkeypatch.setattr(files, "MAX_TABLE_BYTES", 3_000_000)
    with pytest.raises(SchemaError, match="once it is unpacked"):
        files.read_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr(files, "MAX_TABLE_ROWS", 99)
    with pytest.raises(SchemaError, match="100 rows"):
        files.read_parquet(tmp_path / "t.parquet")


def test_a_damaged_parquet_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": range(1000)}).write_parquet(path)
    whole = path.read_bytes()
    holes = whole[:4] + bytes(len(whole) - 300) + whole[-296:]
    for data in (b"", whole[: len(whole) // 2], b"PAR1" + bytes(40), b"\xff" * 40 + b"\x28\0\0\0PAR1", holes):
        path.write_bytes(data)
        with pytest.raises(SchemaError, match=r"t\.parquet"):
            files.read_parquet(path)


def test_writing_replaces_a_link_and_leaves_no_half(tmp_path: Path) -> None:
    victim, link = tmp_path / "victim", tmp_path / "link"
    victim.write_bytes(b"mine")
    link.symlink_to(victim)
    files.write_whole(link, b"new", sync=True)
    assert victim.read_bytes() == b"mine"
    assert link.read_bytes() == b"new"
    assert not link.is_symlink()
    with suppress(RuntimeError), files.replacing(link) as stream:
        stream.write(b"half")
        raise RuntimeError
    assert link.read_bytes() == b"new"
    assert sorted(p.name for p in Path(tmp_path).iterdir()) == ["link", "victim"]
