"""Record and replay of model calls, addressed by what was sent.

A cache is a folder: `calls.parquet` (packed) and one append-only `calls-*.jsonl` for each process
that wrote to it since. A record is one line, written in one piece; nobody locks anybody out, a
line torn by a kill is ignored, and nothing is ever unpickled.

When `put` returns, the record is with the operating system: it outlives the process however that
ends. It is on the disk itself, and outlives the machine, about a second later (`SYNC_SECONDS`),
and at `flush`, `close` and the end of a run.
"""

from __future__ import annotations

import errno
import io
import json
import os
import threading
import uuid
import warnings
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from icgkit.calls.ledger import Ledger, Summary, lock
from icgkit.calls.record import DEFAULTS, NAMES, NEEDED, SLOT, STATUSES, Record, from_line, to_line, whole
from icgkit.errors import CacheError, SchemaError
from icgkit.files import folder_of, open_file, read_file, read_parquet, replacing, sync_folder
from icgkit.schemas import schema
from icgkit.untrusted import json_value

if TYPE_CHECKING:
    import polars as pl

PACKED = "calls.parquet"
DAMAGED = "damaged.jsonl"
"""What packing found in the lines and could not read, kept byte for byte."""
SYNC_SECONDS = 1.0
"""Longest time that a record waits for the disk."""
BATCHES = "batches"
"""Folder of what was submitted as batches."""
LEVEL = 9
"""Of zstd: 19 takes twenty times as long for a seventh less."""
_LINE_LIMIT = 1 << 28
_FILE_LIMIT = 1 << 40
_TRIES = 20
_SORT = [
    "kind",
    "dataset",
    "stage",
    "condition",
    "model",
    "subject_model",
    "case_id",
    "sample",
    "subject",
    "key",
]
Mode = Literal["record", "replay"]


class Cache:
    """A folder of recorded calls.

    Parameters
    ----------
    folder : path
        Made when the first record is put.
    mode : {"record", "replay"}
        In replay mode nothing is called and nothing is written.

    Examples
    --------
    >>> import tempfile
    >>> from icgkit.calls.record import Record
    >>> cache = Cache(tempfile.mkdtemp())
    >>> cache.put(Record("k1", "elicit", "demo", "c1", "direct", "offline/priors", text="Mind the shadow."))
    >>> Cache(cache.folder, mode="replay").get("k1").text
    'Mind the shadow.'
    """

    def __init__(self, folder: str | Path, mode: Mode = "record") -> None:
        if mode not in ("record", "replay"):
            raise SchemaError("cache mode", got=mode, allowed=["record", "replay"])
        self.folder, self.mode = Path(folder), mode
        self.runs: list[Summary] = []  # what the runs that were made with this object did
        self._packed: pl.DataFrame | None = None
        self._packed_stamp: tuple[int, ...] | None = None
        # Status of each call, and where its record is: a packed row, or a file with offset and length.
        self._index: dict[str, tuple[str, int | tuple[str, int, int]]] = {}
        self._slots: set[int] = set()
        self._files: dict[str, _Lines] = {}
        self._own: _OwnFile | None = None
        self._lock = threading.RLock()
        self.refresh()

    def __repr__(self) -> str:
        return f"Cache({str(self.folder)!r}, {self.mode!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.folder, self.mode))

    @classmethod
    def named(cls, name: str | Path, mode: Mode = "record") -> Cache:
        """Open `data/cache/<name>`, or a folder given by its path; see `icgkit.files.folder_of`."""
        return cls(folder_of("cache", name), mode)

    @cached_property
    def ledger(self) -> Ledger:
        """What calls of this cache have cost, every attempt booked; see `icgkit.calls.ledger`."""
        return Ledger(self.folder)

    # -- reading ---------------------------------------------------------------------------

    def refresh(self) -> None:
        """Take in what other processes have written since the last look."""
        with self._lock:
            for _ in range(_TRIES):
                self._look()
                if _stamp(self.folder / PACKED) == self._packed_stamp:
                    return
        raise _busy(self.folder)

    def _look(self) -> None:
        stamp, paths = _stamp(self.folder / PACKED), _line_files(self.folder)
        gone = self._files.keys() - {path.name for path in paths}
        if stamp != self._packed_stamp or gone:  # packed anew, by somebody else or by us
            self._packed, self._packed_stamp = None, stamp
            for index in (self._index, self._slots, self._files):
                index.clear()
            if stamp is not None:
                self._load_packed()
        for path in paths:
            self._tail(path)

    def _load_packed(self) -> None:
        frame, left_out = migrate(read_parquet(self.folder / PACKED, error=CacheError))
        if left_out.height:
            warnings.warn(
                f"{self.folder.name}/{PACKED}: {left_out.height} damaged rows ignored; these calls count as missing",
                stacklevel=5,
            )
        self._packed = schema("calls").check(frame)
        columns = [self._packed.get_column(name).to_list() for name in ("status", *SLOT)]
        for row, (status, *slot) in enumerate(zip(*columns, strict=True)):
            self._note(slot[0], status, row, tuple(slot))

    def _note(
        self, key: str, status: str, place: int | tuple[str, int, int], slot: tuple[str | None, ...]
    ) -> None:
        """Put a record into the index; an answer is not displaced by a later failure."""
        if status == "ok" or self.status(key) != "ok":
            self._index[key] = (status, place)
        self._slots.add(hash(slot))

    def _tail(self, path: Path) -> None:
        """Take in the lines of a file that were not there at the last look."""
        seen = self._files.get(path.name) or _Lines()
        damaged: list[str] = []
        try:
            if path.is_file() and path.stat().st_size <= seen.end:
                return
            with open_file(path, limit=_FILE_LIMIT, error=CacheError) as stream:
                stream.seek(seen.end)
                for line in _whole_lines(stream):
                    seen.number += 1
                    try:
                        record, odd = from_line(line)
                    except ValueError as exc:
                        if line.strip():
                            damaged.append(f"line {seen.number}: {exc}"[:80])
                        seen.odd = True
                    else:
                        self._note(record.key, record.status, (path.name, seen.end, len(line)), record.slot)
                        seen.records += 1
                        seen.odd |= odd
                    seen.end += len(line)
        except (FileNotFoundError, CacheError):
            if path.exists():
                raise
            return  # packed by another process just now: the next look finds the records there
        self._files[path.name] = seen
        if damaged:
            more = f" and {len(damaged) - 3} more" if len(damaged) > 3 else ""
            warnings.warn(
                f"{path.name}: {len(damaged)} damaged lines ignored ({'; '.join(damaged[:3])}{more}); "
                "these calls count as missing",
                stacklevel=5,
            )

    def __contains__(self, key: str) -> bool:
        return key in self._index

    def __len__(self) -> int:
        return len(self._index)

    def status(self, key: str) -> str | None:
        """Return the status of a recorded call without reading it, None if there is none."""
        with self._lock:
            return self._index[key][0] if key in self._index else None

    def has_slot(self, slot: tuple[str | None, ...]) -> bool:
        """Say whether the call is recorded for this very case, condition and stage."""
        with self._lock:
            return hash(slot) in self._slots

    def get(self, key: str) -> Record | None:
        """Return the recorded call, the good one if a failure was repeated, or None."""
        with self._lock:
            for again in (True, False):
                if key not in self._index:
                    return None
                record = self._fetch(key)
                if record is not None and record.key == key:
                    return record
                if again:  # packed or replaced by another process meanwhile
                    self._packed_stamp = ()
                    self.refresh()
        raise CacheError(
            f"cache {self.folder.name!r}: the record of call {key} is not where it was written",
            remedy="the cache's files were changed by hand; open the cache again",
        )

    def _fetch(self, key: str) -> Record | None:
        _, place = self._index[key]
        if isinstance(place, int):
            assert self._packed is not None
            return Record(*self._packed.row(place)[: len(NAMES)])
        file, at, length = place
        try:
            with open(self.folder / file, "rb") as stream:
                stream.seek(at)
                return from_line(stream.read(length))[0]
        except (FileNotFoundError, ValueError):
            return None

    def frame(self) -> pl.DataFrame:
        """Return all records (schema `calls`), one for each call and what it was for.

        Of several records for the same purpose the last good one is kept, else the last.
        """
        with self._lock:
            for _ in range(_TRIES):
                self.refresh()
                with suppress(FileNotFoundError):  # packed by another process: look again
                    return self._gather(sorted(self._files))
        raise _busy(self.folder)

    def _gather(self, names: Sequence[str]) -> pl.DataFrame:
        """Return what is packed with the lines of some files."""
        import polars as pl

        parts = [] if self._packed is None else [self._packed]
        parts += [self._read_lines(name) for name in names if self._files[name].records]
        if not parts:
            return schema("calls").frame([])
        if len(parts) == 1 and parts[0] is self._packed and parts[0].height == len(self._slots):
            return parts[0]  # packed frames are sorted; this one holds each purpose once
        frame = pl.concat(parts)
        order = frame.with_columns(_good=(pl.col("status") == "ok"), _at=pl.int_range(pl.len()))
        kept = order.sort("_good", "_at").unique(SLOT, keep="last", maintain_order=True).drop("_good", "_at")
        return kept.sort(_SORT, nulls_last=False, maintain_order=True)

    def _read_lines(self, name: str) -> pl.DataFrame:
        """Read the lines of a file that the index knows: fast where all are plain, else one by one."""
        import polars as pl

        seen, dtypes = self._files[name], schema("calls").dtypes
        with open(self.folder / name, "rb") as stream:
            data = stream.read(seen.end)
        if not seen.odd:
            with suppress(pl.exceptions.PolarsError):
                frame = pl.read_ndjson(io.BytesIO(data), schema=dtypes)
                if frame.height == seen.records:
                    return frame
        rows = []
        for line in io.BytesIO(data):
            with suppress(ValueError):
                rows.append(from_line(line)[0])
        return pl.DataFrame({n: [getattr(r, n) for r in rows] for n in dtypes}, schema=dtypes, strict=True)

    def records(self) -> Iterator[Record]:
        """Iterate over all records, in a fixed order."""
        for row in self.frame().select(NAMES).iter_rows():
            yield Record(*row)

    # -- writing ---------------------------------------------------------------------------

    def ready(self) -> None:
        """Make the folder and open a locked file in it: better refused now than after the first paid call."""
        with self._lock:
            self._opened()

    def put(self, record: Record) -> None:
        """Append a record; see the module for when it is on the disk.

        Numbers and notes that no column can hold (2**70 tokens, a cost of NaN) are left out.

        Raises
        ------
        SchemaError
            In replay mode, for an unknown status, or a record without key or purpose.
        CacheError
            If the record cannot be written: disk full, no right to write. The file is as it was,
            and the next record is whole.
        """
        self._refuse_replay()
        record = whole(record)
        line = to_line(record)
        with self._lock:
            own = self._opened()
            seen = self._files.setdefault(own.name, _Lines())
            try:
                own.write(line, seen.end)
            except OSError as exc:
                self._own = None
                with suppress(OSError):
                    own.close()
                raise _unwritable(self.folder, exc) from None
            self._note(record.key, record.status, (own.name, seen.end, len(line)), record.slot)
            seen.end += len(line)
            seen.number += 1
            seen.records += 1

    def _refuse_replay(self) -> None:
        if self.mode == "replay":
            raise SchemaError("a cache in replay mode is read only", remedy='open it with mode="record"')

    def _opened(self) -> _OwnFile:
        """Return the file that this process writes to, made if there is none."""
        self._refuse_replay()
        if self._own is None or not self._own.usable():
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                try:
                    self._own = _OwnFile(self.folder)
                except FileNotFoundError:  # another process tidied up just then
                    self._own = _OwnFile(self.folder)
            except OSError as exc:
                raise _unwritable(self.folder, exc) from None
            self._files[self._own.name] = _Lines()
        return self._own

    def flush(self) -> None:
        """Bring to the disk what has been put so far."""
        with self._lock:
            if self._own is not None:
                try:
                    self._own.sync()
                except OSError as exc:
                    raise _unwritable(self.folder, exc) from None

    def close(self) -> None:
        """Flush and close; the cache can still be read, and opens a new file when written to."""
        with self._lock:
            own, self._own = self._own, None
            if own is not None:
                try:
                    own.close()
                    if (seen := self._files.get(own.name)) is None or not seen.end:  # opened for nothing
                        self._files.pop(own.name, None)
                        own.remove_empty(self.folder)
                except OSError as exc:
                    raise _unwritable(self.folder, exc) from None

    def pack(self) -> Path:
        """Fold all records into `calls.parquet` and remove the JSONL files that went into it.

        Nothing is removed before the new file has been read back whole and is on the disk. Lines that
        cannot be read go to `damaged.jsonl`. Files that another live process writes to are left alone;
        with nothing new, while another process packs, in a folder that cannot be written to or on a
        file system without locks, where nobody can tell who is alive, nothing is done. The same
        answers give the same bytes: rows are sorted, and the offline reference baselines carry no times.
        """
        target = self.folder / PACKED
        with self._lock, ExitStack() as stack:
            self.close()
            if not _line_files(self.folder) or not stack.enter_context(_alone(self.folder)):
                return target
            _tidy(self.folder)
            done = [p for p in _line_files(self.folder) if stack.enter_context(_idle(p))]
            if not done:
                return target
            self.refresh()
            if any(p.stat().st_size for p in done):
                lost = [row for p in done for row in _damaged(p)] + _damaged_rows(target)
                _write(timeless(self._gather([p.name for p in done if p.name in self._files])), target)
                _keep_damaged(self.folder, lost)
            for path in done:
                path.unlink(missing_ok=True)
            sync_folder(self.folder)
            self.refresh()
        return target


@dataclass
class _Lines:
    """How far a file of lines has been read."""

    end: int = 0
    number: int = 0
    records: int = 0
    odd: bool = False
    """A line is damaged, was mended, or lacks what older versions did not write."""


class _OwnFile:
    """The file that this process writes to: made under another name, so that nobody packs it unlocked."""

    def __init__(self, folder: Path) -> None:
        self.pid = os.getpid()
        self.name = f"calls-{self.pid}-{uuid.uuid4().hex[:8]}.jsonl"
        hidden = folder / f".{self.name}.new"
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._fd = os.open(hidden, flags | getattr(os, "O_CLOEXEC", 0), 0o644)
        try:
            lock(self._fd)
            os.rename(hidden, folder / self.name)
        except OSError:
            os.close(self._fd)
            hidden.unlink(missing_ok=True)
            raise
        self._guard = threading.Lock()
        self._waiting = False
        self._end = weakref.finalize(self, _end, self._fd, self.pid)

    def usable(self) -> bool:
        """Say whether the file is still ours and still there: not the parent's of a fork, not removed."""
        return self.pid == os.getpid() and os.fstat(self._fd).st_nlink > 0

    def write(self, line: bytes, at: int) -> None:
        """Append a line whole, or leave the file as it was."""
        view = memoryview(line)
        try:
            while view:
                view = view[os.write(self._fd, view) :]
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._fd, at)
            raise
        if not self._waiting:
            self._waiting = True
            timer = threading.Timer(SYNC_SECONDS, _sync_later, (weakref.ref(self),))
            timer.daemon = True
            timer.start()

    def remove_empty(self, folder: Path) -> None:
        """Remove the file if nothing is in it."""
        path = folder / self.name
        with suppress(FileNotFoundError):
            if self.pid == os.getpid() and not path.stat().st_size:
                path.unlink()

    def sync(self) -> None:
        """Bring what is written to the disk."""
        with self._guard:
            self._waiting = False
            if self._end.alive:
                _datasync(self._fd)

    def close(self) -> None:
        """Sync and close."""
        with self._guard:
            self._end()


def _sync_later(own: weakref.ref[_OwnFile]) -> None:
    file = own()
    if file is not None and file.pid == os.getpid():
        with suppress(OSError):  # said again, and aloud, when the file is closed
            file.sync()


def _datasync(fd: int) -> None:
    getattr(os, "fdatasync", os.fsync)(fd)


def _end(fd: int, pid: int) -> None:
    if pid == os.getpid():
        try:
            _datasync(fd)
        finally:
            os.close(fd)


def _unwritable(folder: Path, exc: OSError) -> CacheError:
    full = exc.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
    remedy = "make room on the disk" if full else "see to it that you may write there, or name another cache"
    return CacheError(
        f"cache {folder.name!r} cannot be written to: {exc.strerror}",
        got=str(folder),
        remedy=f"{remedy}, then run again: what is recorded is kept",
    )


def _busy(folder: Path) -> CacheError:
    return CacheError(
        f"cache {folder.name!r} is packed again and again by other processes",
        remedy="try again when they are done",
    )


def _line_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("calls-*.jsonl"))


def _whole_lines(stream: Any) -> Iterator[bytes]:
    """Yield lines with their end; one that lacks it is not finished, or torn."""
    while line := stream.readline(_LINE_LIMIT):
        if not line.endswith(b"\n"):
            if len(line) < _LINE_LIMIT:
                return
            raise CacheError(f"a line of more than {_LINE_LIMIT:,} bytes", got=getattr(stream, "name", None))
        yield line


def _stamp(path: Path) -> tuple[int, ...] | None:
    try:
        stat = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return (stat.st_mtime_ns, stat.st_size, stat.st_ino)


def migrate(frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Bring packed records of any version to schema `calls`; return the sound and the damaged rows."""
    import polars as pl

    dtypes = schema("calls").dtypes
    if dict(frame.schema) != dtypes:
        frame = frame.select(
            pl.col(n).cast(d, strict=False) if n in frame.columns else pl.lit(None, d).alias(n)
            for n, d in dtypes.items()
        )
    floats = [n for n, d in dtypes.items() if d.is_float()]
    frame = frame.with_columns(
        *(pl.col(n).fill_null(v) for n, v in DEFAULTS.items()),
        *(pl.when(pl.col(n).is_finite()).then(pl.col(n)).alias(n) for n in floats),
    )
    sound = pl.all_horizontal(*(pl.col(n).is_not_null() for n in NEEDED), pl.col("status").is_in(STATUSES))
    good = frame.select(sound.fill_null(value=False)).to_series()
    return frame.filter(good), frame.filter(~good)


def submissions(folder: Path) -> list[Path]:
    """Return the files of the batches in a cache folder that were submitted and not collected yet."""
    return sorted((Path(folder) / BATCHES).glob("*.jsonl"))


def submission(path: Path) -> list[dict[str, Any]]:
    """Read one of them: a record without an answer for each call, then what is known of the batch."""
    text = read_file(path, error=CacheError).decode("utf-8", "replace")
    lines = [json_value(x, path.name, error=CacheError) for x in text.split("\n") if x]
    if not lines or not all(isinstance(line, dict) for line in lines):
        raise CacheError(f"submission {path} is no list of calls", remedy="remove it if no batch is running")
    return lines


def pending(folder: Path) -> frozenset[str]:
    """Return the keys of calls that a provider has as a batch; they are paid already."""
    lines = (line for path in submissions(folder) for line in submission(path))
    return frozenset(str(line["key"]) for line in lines if "key" in line)


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


# -- packing -------------------------------------------------------------------------------


def _write(frame: pl.DataFrame, target: Path) -> None:
    """Write the packed file, read it back, and only then let it take its place."""
    marks, height = frame.hash_rows(), frame.height
    with replacing(target, sync=True) as stream:
        frame.write_parquet(
            stream, compression="zstd", compression_level=LEVEL, statistics=False, row_group_size=1 << 17
        )
        del frame  # may be large
        stream.flush()
        back, left_out = migrate(read_parquet(stream.name, error=CacheError))
        if left_out.height or back.height != height or not back.hash_rows().equals(marks):
            raise CacheError(
                f"cache {target.parent.name!r}: the packed file does not hold what was written",
                remedy="its lines are kept; check the disk, then run again",
            )


def timeless(frame: pl.DataFrame) -> pl.DataFrame:
    """Return calls without the times of offline reference baselines, which mean nothing elsewhere."""
    import polars as pl

    known = pl.when(~pl.col("model").str.starts_with("offline/"))
    return frame.with_columns(known.then(pl.col(c)).alias(c) for c in ("latency", "created"))


def _damaged(path: Path) -> Iterator[bytes]:
    """Yield what `damaged.jsonl` keeps of a file: each line that cannot be read, and a torn end."""
    number = end = 0
    with open(path, "rb") as stream:
        for line in _whole_lines(stream):
            number += 1
            end += len(line)
            try:
                from_line(line)
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


def _keep_damaged(folder: Path, lost: list[bytes]) -> None:
    if not lost:
        return
    flags = os.O_CREAT | os.O_APPEND | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
    with open(os.open(folder / DAMAGED, flags, 0o644), "ab") as stream:  # a link of that name is not followed
        stream.writelines(lost)
        stream.flush()
        os.fsync(stream.fileno())


def _tidy(folder: Path) -> None:
    """Remove what killed processes left half made."""
    for path in (*folder.glob(f".{PACKED}.*"), *folder.glob(".calls-*.jsonl.new")):
        with suppress(OSError), open(path, "rb") as stream:
            lock(stream.fileno())  # a file that is just being opened is held a moment later
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
            locked = lock(fd)
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
    with ExitStack() as stack:
        try:
            stream: BinaryIO = stack.enter_context(open(path, "rb"))
            lock(stream.fileno())
        except OSError:
            yield False
        else:
            yield True
