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
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from icgkit.calls.ledger import Ledger, Summary
from icgkit.errors import CacheError, SchemaError
from icgkit.files import folder_of, open_file, read_file, read_parquet, replacing, sync_folder
from icgkit.schemas import schema
from icgkit.untrusted import json_value

if TYPE_CHECKING:
    import polars as pl

STATUSES = ("ok", "truncated", "refused", "empty", "error")
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
_NO_LOCKS = frozenset(
    getattr(errno, name)
    for name in ("ENOSYS", "ENOLCK", "EOPNOTSUPP", "ENOTSUP", "EINVAL")
    if hasattr(errno, name)
)
Mode = Literal["record", "replay"]


@dataclass(frozen=True, slots=True)
class Record:
    """One model call with its answer (schema `calls`).

    `key` addresses what was sent; `kind` (elicit, judge, stage ...), dataset, case, condition,
    `stage` (name of the stage or judge), `subject` (key of the response that is judged) and
    `subject_model` say what it was for.
    """

    key: str
    kind: str
    dataset: str
    case_id: str
    condition: str
    model: str
    sample: int = 0
    stage: str | None = None
    subject: str | None = None
    subject_model: str | None = None
    status: str = "ok"
    text: str | None = None
    raw: str | None = None
    finish_reason: str | None = None
    refusal: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None
    latency: float | None = None
    attempts: int = 1
    answered_model: str | None = None
    created: float | None = None
    prompt_sha256: str | None = None
    image_sha256: str | None = None
    template_sha256: str | None = None
    params: str = "{}"
    endpoint: str | None = None
    extra: str | None = None
    label: str | None = None
    """What the model is called in results, where not by its name."""

    @property
    def slot(self) -> tuple[str | None, ...]:
        """What tells records apart: the same call may serve two cases."""
        return (
            self.key, self.kind, self.dataset, self.case_id, self.condition, self.stage, self.subject, self.label
        )  # fmt: skip

    @property
    def why(self) -> str:
        """Why there is no answer, in words; empty for `ok`."""
        if self.status == "ok":
            return ""
        if self.status == "error":
            return self.refusal or "error"
        if self.status == "truncated":
            return f"truncated: the reply stopped at its token limit ({self.finish_reason})"
        if self.status == "refused":
            return f"refused: {self.refusal or self.finish_reason}"
        return f"empty: a reply without text (finish reason {self.finish_reason})"


_NAMES = tuple(f.name for f in fields(Record))
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


_DEFAULTS = {f.name: f.default for f in fields(Record) if f.name != "status"}
_NEEDED = ("key", "kind", "dataset", "case_id", "condition", "model", "status")
"""Fields without which a record says nothing."""
_STRICT = frozenset({*_NEEDED, "sample", "text"})
"""Fields whose value is never put right: with a wrong one the record counts as damaged."""
_SLOT = ("key", "kind", "dataset", "case_id", "condition", "stage", "subject", "label")


def _sound(dtype: str, value: Any) -> Any:
    """Return the value as a column of this dtype can hold it, or raise ValueError."""
    if dtype == "String":
        if not isinstance(value, str):
            raise ValueError
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-8", "replace").decode()
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError
    if dtype == "Int64":
        if value != value // 1 or not -(2**63) <= value < 2**63:  # NaN and infinities fail the first
            raise ValueError
        return int(value)
    if not -1.8e308 < value < 1.8e308:
        raise ValueError
    return float(value)


def _mend(data: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return a record's fields with values that its columns can hold, and whether any was changed."""
    kinds = _kinds()
    made: dict[str, Any] = {}
    odd = False
    for name, value in data.items():
        if value is None or name not in kinds:
            continue
        try:
            good = _sound(kinds[name], value)
        except (ValueError, OverflowError):
            if name in _STRICT:
                raise ValueError(f"{name} cannot be {type(value).__name__} {value!r:.40}") from None
            odd = True
            continue
        odd = odd or good != value or type(good) is not type(value)
        made[name] = good
    missing = [name for name in _NEEDED if name not in made]
    if missing:
        raise ValueError(f"lacks {', '.join(missing)}")
    if made["status"] not in STATUSES:
        raise ValueError(f"status {made['status']!r:.40}")
    return made, odd or not ("sample" in made and "attempts" in made and "params" in made)


def _kinds() -> dict[str, str]:
    if not _KINDS:
        _KINDS.update(
            {name: column.dtype for name, column in schema("calls").columns.items() if name in _NAMES}
        )
    return _KINDS


_KINDS: dict[str, str] = {}


def _line(record: Record) -> bytes:
    data = {k: v for k in _NAMES if (v := getattr(record, k)) is not None}
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _read(line: bytes) -> tuple[Record, bool]:
    """Read a line, the one way that lines are read: the record, and whether polars reads it otherwise."""
    try:
        data = json.loads(line)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if not isinstance(data, dict):
        raise ValueError("no JSON object")
    made, odd = _mend(data)
    return Record(**made), odd


@dataclass
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
    >>> cache = Cache(tempfile.mkdtemp())
    >>> cache.put(Record("k1", "elicit", "demo", "c1", "direct", "offline/priors", text="Mind the shadow."))
    >>> Cache(cache.folder, mode="replay").get("k1").text
    'Mind the shadow.'
    """

    folder: Path
    mode: Mode = "record"
    _packed: pl.DataFrame | None = field(default=None, init=False, repr=False)
    _rows: dict[str, int] = field(default_factory=dict, init=False, repr=False)
    _lines: dict[str, tuple[str, int, int]] = field(default_factory=dict, init=False, repr=False)
    _status: dict[str, str] = field(default_factory=dict, init=False, repr=False)
    _slots: set[int] = field(default_factory=set, init=False, repr=False)
    _files: dict[str, _Lines] = field(default_factory=dict, init=False, repr=False)
    _own: _Own | None = field(default=None, init=False, repr=False)
    _packed_stamp: tuple[int, ...] | None = field(default=None, init=False, repr=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, init=False, repr=False, compare=False)
    runs: list[Summary] = field(default_factory=list, init=False, repr=False, compare=False)
    """What the runs that were made with this object did."""
    _ledger: Ledger | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.folder = Path(self.folder)
        if self.mode not in ("record", "replay"):
            raise SchemaError("cache mode", got=self.mode, allowed=["record", "replay"])
        self.refresh()

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.folder, self.mode))

    @classmethod
    def named(cls, name: str | Path, mode: Mode = "record") -> Cache:
        """Open `data/cache/<name>`, or a folder given by its path; see `icgkit.files.folder_of`."""
        return cls(folder_of("cache", name), mode)

    @property
    def ledger(self) -> Ledger:
        """What calls of this cache have cost, every attempt booked; see `icgkit.calls.ledger`."""
        if self._ledger is None:
            self._ledger = Ledger(self.folder)
        return self._ledger

    # -- reading ---------------------------------------------------------------------------

    def refresh(self) -> None:
        """Take in what other processes have written since the last look."""
        with self._lock:
            for _ in range(_TRIES):
                self._look()
                if _stamp(self.folder / PACKED) == self._packed_stamp:
                    return
            raise CacheError(
                f"cache {self.folder.name!r} is packed again and again by other processes",
                remedy="try again when they are done",
            )

    def _look(self) -> None:
        stamp, paths = _stamp(self.folder / PACKED), _line_files(self.folder)
        gone = self._files.keys() - {path.name for path in paths}
        if stamp != self._packed_stamp or gone:  # packed anew, by somebody else or by us
            self._packed, self._packed_stamp = None, stamp
            for index in (self._rows, self._lines, self._status, self._slots, self._files):
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
        keys = self._packed.get_column("key").to_list()
        statuses = self._packed.get_column("status").to_list()
        for row, (key, status) in enumerate(zip(keys, statuses, strict=True)):
            self._note(key, status)
            if self._status[key] == status:
                self._rows[key] = row
        columns = [self._packed.get_column(n).to_list() for n in _SLOT[1:]]
        for slot in zip(keys, *columns, strict=True):
            self._slots.add(hash(slot))

    def _note(self, key: str, status: str) -> None:
        """Keep the best status: an answer is not displaced by a later failure."""
        if self._status.get(key) != "ok":
            self._status[key] = status

    def _tail(self, path: Path) -> None:
        seen = self._files.get(path.name) or _Lines()
        damaged: list[str] = []
        mended = 0
        try:
            if path.is_file() and path.stat().st_size <= seen.end:
                return
            with open_file(path, limit=_FILE_LIMIT, error=CacheError) as stream:
                stream.seek(seen.end)
                for line in _whole_lines(stream):
                    seen.number += 1
                    try:
                        record, odd = _read(line)
                    except ValueError as exc:
                        if line.strip():
                            damaged.append(f"line {seen.number}: {exc}"[:80])
                        seen.odd = True
                    else:
                        self._index(record, path.name, seen.end, len(line))
                        seen.records += 1
                        seen.odd |= odd
                        mended += odd
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

    def _index(self, record: Record, file: str, at: int, length: int) -> None:
        if record.status == "ok" or self._status.get(record.key) != "ok":
            self._lines[record.key] = (file, at, length)
        self._note(record.key, record.status)
        self._slots.add(hash(record.slot))

    def __contains__(self, key: str) -> bool:
        return self.status(key) is not None

    def __len__(self) -> int:
        with self._lock:
            return len(self._status)

    def status(self, key: str) -> str | None:
        """Return the status of a recorded call without reading it, None if there is none."""
        with self._lock:
            return self._status.get(key)

    def has_slot(self, slot: tuple[str | None, ...]) -> bool:
        """Say whether the call is recorded for this very case, condition and stage."""
        with self._lock:
            return hash(slot) in self._slots

    def get(self, key: str) -> Record | None:
        """Return the recorded call, the good one if a failure was repeated, or None."""
        with self._lock:
            for attempt in range(2):
                if key not in self._status:
                    return None
                record = self._fetch(key)
                if record is not None and record.key == key:
                    return record
                if not attempt:  # packed or replaced by another process meanwhile
                    self._packed_stamp = ()
                    self.refresh()
        if key not in self._status:
            return None
        raise CacheError(
            f"cache {self.folder.name!r}: the record of call {key} is not where it was written",
            remedy="the cache's files were changed by hand; open the cache again",
        )

    def _fetch(self, key: str) -> Record | None:
        if key in self._lines:
            file, at, length = self._lines[key]
            try:
                with open(self.folder / file, "rb") as stream:
                    stream.seek(at)
                    return _read(stream.read(length))[0]
            except (FileNotFoundError, ValueError):
                return None
        if self._packed is None or key not in self._rows:
            return None
        return Record(*self._packed.row(self._rows[key])[: len(_NAMES)])

    def frame(self) -> pl.DataFrame:
        """Return all records (schema `calls`), one for each call and what it was for."""
        with self._lock:
            for _ in range(_TRIES):
                self.refresh()
                with suppress(FileNotFoundError):  # packed by another process: look again
                    return self._gather(sorted(self._files))
        raise CacheError(
            f"cache {self.folder.name!r} is packed again and again by other processes",
            remedy="try again when they are done",
        )

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
        kept = order.sort("_good", "_at").unique(_SLOT, keep="last", maintain_order=True).drop("_good", "_at")
        return kept.sort(_SORT, nulls_last=False, maintain_order=True)

    def _read_lines(self, name: str) -> pl.DataFrame:
        """Read the lines of a file that the index knows: fast where all are plain, else one by one."""
        import polars as pl

        seen = self._files[name]
        dtypes = schema("calls").dtypes
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
                rows.append(_read(line)[0])
        return pl.DataFrame({n: [getattr(r, n) for r in rows] for n in dtypes}, schema=dtypes, strict=True)

    def records(self) -> Iterator[Record]:
        """Iterate over all records, in a fixed order."""
        for row in self.frame().select(_NAMES).iter_rows():
            yield Record(*row)

    # -- writing ---------------------------------------------------------------------------

    def ready(self) -> None:
        """Try what the first record will need: make the folder, open a file, lock it."""
        with self._lock:
            self._writable()
            if self._own is None:
                self._open()

    def put(self, record: Record) -> None:
        """Append a record; see the module for when it is on the disk."""
        self._writable()
        if record.status not in STATUSES:
            raise SchemaError("status of a record", got=record.status, allowed=STATUSES)
        data = {name: value for name in _NAMES if (value := getattr(record, name)) is not None}
        try:
            made, odd = _mend(data)
        except ValueError as exc:
            raise SchemaError(f"a record that cannot be kept: {exc}") from None
        if odd:
            record = Record(**made)
        line = _line(record)
        with self._lock:
            if self._own is not None and not self._own.usable():
                self._own = None
            if self._own is None:
                self._open()
            own = self._own
            assert own is not None
            seen = self._files.setdefault(own.name, _Lines())
            try:
                own.write(line, seen.end)
            except OSError as exc:
                self._own = None
                with suppress(OSError):
                    own.close()
                raise _unwritable(self.folder, exc) from None
            self._index(record, own.name, seen.end, len(line))
            seen.end += len(line)
            seen.number += 1
            seen.records += 1

    def _writable(self) -> None:
        if self.mode == "replay":
            raise SchemaError("a cache in replay mode is read only", remedy='open it with mode="record"')

    def _open(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                self._own = _Own(self.folder)
            except FileNotFoundError:  # another process tidied up just then
                self._own = _Own(self.folder)
        except OSError as exc:
            raise _unwritable(self.folder, exc) from None
        self._files[self._own.name] = _Lines()

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
            if self._own is not None:
                own, self._own = self._own, None
                try:
                    own.close()
                    seen = self._files.get(own.name)
                    if seen is None or not seen.end:  # opened for nothing
                        self._files.pop(own.name, None)
                        own.remove_empty(self.folder)
                except OSError as exc:
                    raise _unwritable(self.folder, exc) from None

    def pack(self) -> Path:
        """Fold everything into `calls.parquet`, see `pack`."""
        with self._lock:
            return pack(self)


_TRIES = 20


@dataclass
class _Lines:
    """How far a file of lines has been read."""

    end: int = 0
    number: int = 0
    records: int = 0
    odd: bool = False
    """A line is damaged, was mended, or lacks what older versions did not write."""


class _Own:
    """The file that this process writes to: made under another name, so that nobody packs it unlocked."""

    def __init__(self, folder: Path) -> None:
        self.pid = os.getpid()
        self.name = f"calls-{self.pid}-{uuid.uuid4().hex[:8]}.jsonl"
        hidden = folder / f".{self.name}.new"
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._fd = os.open(hidden, flags | getattr(os, "O_CLOEXEC", 0), 0o644)
        try:
            hold(self._fd)
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


def _sync_later(own: weakref.ref[_Own]) -> None:
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
    defaults = {n: v for n in dtypes if isinstance(v := _DEFAULTS.get(n), (str, int, float))}
    floats = [n for n, d in dtypes.items() if d.is_float()]
    frame = frame.with_columns(
        *(pl.col(n).fill_null(v) for n, v in defaults.items()),
        *(pl.when(pl.col(n).is_finite()).then(pl.col(n)).alias(n) for n in floats),
    )
    sound = pl.all_horizontal(*(pl.col(n).is_not_null() for n in _NEEDED), pl.col("status").is_in(STATUSES))
    good = frame.select(sound.fill_null(value=False)).to_series()
    return frame.filter(good), frame.filter(~good)


def hold(fd: int) -> bool:
    """Mark a file as being written to; the mark goes with the process, however it ends."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as exc:
        if exc.errno not in _NO_LOCKS:
            raise
        return False
    return True


def canonical(parts: Any) -> str:
    """Return JSON-able data as text that is the same whatever the order of keys."""
    return json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str)


def relabel(record: Record, **what: Any) -> Record:
    """Return the record for another purpose (case, condition, stage) at no further cost."""
    return replace(record, cost=0.0 if record.cost is not None else None, **what)


def statuses(records: Iterable[Record]) -> dict[str, int]:
    """Count records by status."""
    counts = dict.fromkeys(STATUSES, 0)
    for record in records:
        counts[record.status] += 1
    return counts


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
    return frozenset(
        str(line["key"]) for path in submissions(folder) for line in submission(path) if "key" in line
    )


def pack(cache: Cache) -> Path:
    """Fold all records into `calls.parquet` and remove the JSONL files that went into it."""
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
                flags = os.O_CREAT | os.O_APPEND | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
                fd = os.open(cache.folder / DAMAGED, flags, 0o644)  # a link of that name is not followed
                with open(fd, "ab") as stream:
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
    """Bring the records of other caches into one, which is packed; return how many were new."""
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
