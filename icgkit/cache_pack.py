"""Fold the files of a cache into one that is small enough to ship."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from icgkit.cache import PACKED, Cache, hold

if TYPE_CHECKING:
    import polars as pl


def pack(cache: Cache) -> Path:
    """Fold all records into `calls.parquet` and remove the JSONL files that went into it.

    Files that another live process writes to are left alone; if another process is packing,
    nothing is done. The same answers give the same bytes: rows are sorted, and the offline
    reference baselines carry no times.
    """
    target = cache.folder / PACKED
    cache.close()
    cache.folder.mkdir(parents=True, exist_ok=True)
    with _alone(cache.folder) as alone:
        if not alone:
            return target
        done = [p for p in cache.folder.glob("calls-*.jsonl") if _idle(p)]
        scratch = cache.folder / f".{PACKED}.{os.getpid()}"
        timeless(cache.frame()).write_parquet(
            scratch, compression="zstd", compression_level=19, statistics=False, row_group_size=1 << 17
        )
        os.replace(scratch, target)
        for path in done:
            path.unlink(missing_ok=True)
    cache.refresh()
    return target


def timeless(frame: pl.DataFrame) -> pl.DataFrame:
    """Return calls without the times of offline reference baselines, which mean nothing elsewhere."""
    import polars as pl

    offline = pl.col("model").str.starts_with("offline/")
    return frame.with_columns(
        pl.when(offline).then(None).otherwise(pl.col(c)).alias(c) for c in ("latency", "created")
    )


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Hold the folder while packing; False if another process holds it."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        try:
            hold(fd)
        except BlockingIOError:
            yield False
            return
        yield True
    finally:
        os.close(fd)


def _idle(path: Path) -> bool:
    try:
        import fcntl
    except ImportError:
        return True
    with open(path, "rb") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return False
    return True
