"""Fold the files of a cache into one that is small enough to ship; bring several caches together."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from icgkit.calls.cache import DAMAGED, PACKED, Cache, _line_files, _read, _whole_lines, hold, migrate
from icgkit.errors import CacheError, SchemaError
from icgkit.files import read_parquet, replacing, sync_folder
from icgkit.schemas import schema

if TYPE_CHECKING:
    import polars as pl

LEVEL = 9
"""Of zstd: 19 takes twenty times as long for a seventh less."""


def pack(cache: Cache) -> Path:
    """Fold all records into `calls.parquet` and remove the JSONL files that went into it.

    Nothing is removed before the new file has been read back whole and is on the disk. Lines that
    cannot be read go to `damaged.jsonl`. Files that another live process writes to are left alone;
    with nothing new, while another process packs, in a folder that cannot be written to or on a
    file system without locks, where nobody can tell who is alive, nothing is done. The same
    answers give the same bytes: rows are sorted, and the offline reference baselines carry no
    times.

    Raises
    ------
    CacheError
        If the file that was written does not hold the records. The lines stay.
    """
    target = cache.folder / PACKED
    cache.close()
    if not _line_files(cache.folder):
        return target
    with ExitStack() as stack:
        if not stack.enter_context(_alone(cache.folder)):
            return target
        _tidy(cache.folder)
        done = [p for p in _line_files(cache.folder) if stack.enter_context(_idle(p))]
        if not done:
            return target
        cache.refresh()
        if any(p.stat().st_size for p in done):
            lost = [row for p in done for row in _damaged(p)] + _damaged_rows(target)
            _write(cache, [p.name for p in done])
            if lost:
                with open(cache.folder / DAMAGED, "ab") as stream:
                    stream.writelines(lost)
                    stream.flush()
                    os.fsync(stream.fileno())
        for path in done:
            path.unlink(missing_ok=True)
        sync_folder(cache.folder)
    cache.refresh()
    return target


def _write(cache: Cache, names: list[str]) -> None:
    """Write the packed file, read it back, and only then let it take its place."""
    target = cache.folder / PACKED
    frame = timeless(cache._gather([n for n in names if n in cache._files]))
    marks, height = frame.hash_rows(), frame.height
    with replacing(target, sync=True) as stream:
        frame.write_parquet(
            stream, compression="zstd", compression_level=LEVEL, statistics=False, row_group_size=1 << 17
        )
        del frame
        stream.flush()
        back, left_out = migrate(read_parquet(stream.name, error=CacheError))
        if left_out.height or back.height != height or not back.hash_rows().equals(marks):
            raise CacheError(
                f"cache {cache.folder.name!r}: the packed file does not hold what was written",
                remedy="its lines are kept; check the disk, then run again",
            )


def timeless(frame: pl.DataFrame) -> pl.DataFrame:
    """Return calls without the times of offline reference baselines, which mean nothing elsewhere."""
    import polars as pl

    offline = pl.col("model").str.starts_with("offline/")
    return frame.with_columns(
        pl.when(offline).then(None).otherwise(pl.col(c)).alias(c) for c in ("latency", "created")
    )


def merge(into: Cache, others: Iterable[Cache]) -> int:
    """Bring the records of other caches into one, which is packed; return how many were new.

    A record that the cache has for the same call and purpose is brought only if it is good and the
    cache's is not. The other caches stay as they are.
    """
    brought = 0
    for other in others:
        if other.folder.resolve() == into.folder.resolve():
            raise SchemaError("a cache cannot be merged into itself", got=str(other.folder))
        have = {r.slot: r.status for r in into.records()}
        for record in other.records():
            status = have.get(record.slot)
            if status is None or (record.status == "ok" and status != "ok"):
                into.put(record)
                brought += 1
    into.pack()
    return brought


def _damaged(path: Path) -> Iterator[bytes]:
    """Yield what `damaged.jsonl` keeps of a file: each line that cannot be read, and a torn end."""
    number = end = 0
    with open(path, "rb") as stream:
        for line in _whole_lines(stream):
            number += 1
            end += len(line)
            try:
                _read(line)
            except ValueError as exc:
                if line.strip():
                    yield _kept(path.name, number, str(exc), line[:-1])
        stream.seek(end)
        if torn := stream.read():
            yield _kept(path.name, number + 1, "torn", torn)


def _damaged_rows(path: Path) -> list[bytes]:
    if not path.exists():
        return []
    _, left_out = migrate(read_parquet(path, error=CacheError))
    rows = left_out.select(*schema("calls").columns).iter_rows(named=True)
    return [_kept(PACKED, 0, "row", json.dumps(row).encode()) for row in rows]


def _kept(file: str, number: int, why: str, line: bytes) -> bytes:
    row = {"file": file, "line": number, "why": why, "bytes": line.decode("utf-8", "surrogateescape")}
    return json.dumps(row).encode() + b"\n"


def _tidy(folder: Path) -> None:
    """Remove what killed processes left half made."""
    for path in (*folder.glob(f".{PACKED}.*"), *folder.glob(".calls-*.jsonl.new")):
        with suppress(OSError), open(path, "rb") as stream:
            hold(stream.fileno())  # a file that is just being opened is held a moment later
            path.unlink()


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Hold the folder while packing; False if another process holds it, or nobody can."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        if not os.access(folder, os.W_OK):
            warnings.warn(f"cache {folder.name!r} is read only: its lines are not packed", stacklevel=5)
            yield False
            return
        try:
            locked = hold(fd)
        except BlockingIOError:
            yield False
            return
        if not locked and os.name != "nt":
            warnings.warn(
                f"the file system of cache {folder.name!r} has no locks: its lines are not packed, for another "
                "process may be writing; copy the folder to a local disk to pack it",
                stacklevel=5,
            )
        yield locked or os.name == "nt"  # Windows removes no file that somebody has open
    finally:
        os.close(fd)


@contextmanager
def _idle(path: Path) -> Iterator[bool]:
    """Say whether no process writes to a file, and keep it so."""
    try:
        stream: BinaryIO = open(path, "rb")  # noqa: SIM115
    except FileNotFoundError:
        yield False
        return
    with stream:
        try:
            hold(stream.fileno())
        except OSError:
            yield False
            return
        yield True
