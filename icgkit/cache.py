"""Record and replay of model calls, addressed by what was sent.

A cache is a folder: `calls.parquet` (packed) and one append-only `calls-*.jsonl` for each process
that wrote to it since. A record is one line, written in one piece; nobody locks anybody out, a
line torn by a kill is ignored, and nothing is ever unpickled.
"""

from __future__ import annotations

import json
import os
import uuid
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from icgkit.errors import SchemaError
from icgkit.paths import folder_of
from icgkit.schemas import schema

if TYPE_CHECKING:
    import polars as pl

STATUSES = ("ok", "truncated", "refused", "empty", "error")
PACKED = "calls.parquet"
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

    @property
    def slot(self) -> tuple[str | None, ...]:
        """What tells records apart: the same call may serve two cases."""
        return (self.key, self.kind, self.dataset, self.case_id, self.condition, self.stage, self.subject)


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


def _line(record: Record) -> bytes:
    data = {k: v for k in _NAMES if (v := getattr(record, k)) is not None}
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _record(line: bytes) -> Record:
    data = json.loads(line)
    return Record(**{k: v for k, v in data.items() if k in _NAMES})


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
    _offsets: dict[str, int] = field(default_factory=dict, init=False, repr=False)
    _fd: int | None = field(default=None, init=False, repr=False)
    _own: str = field(default="", init=False, repr=False)
    _packed_stamp: tuple[int, ...] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self.folder = Path(self.folder)
        if self.mode not in ("record", "replay"):
            raise SchemaError("cache mode", got=self.mode, allowed=["record", "replay"])
        self.refresh()

    @classmethod
    def named(cls, name: str | Path, mode: Mode = "record") -> Cache:
        """Open `data/cache/<name>`, or a folder given by its path; see `icgkit.paths.folder_of`."""
        return cls(folder_of("cache", name), mode)

    # -- reading ---------------------------------------------------------------------------

    def refresh(self) -> None:
        """Take in what other processes have written since the last look."""
        stamp = _stamp(self.folder / PACKED)
        if stamp != self._packed_stamp:  # packed anew, by somebody else or by us
            self._packed, self._packed_stamp = None, stamp
            for index in (self._rows, self._lines, self._status, self._slots, self._offsets):
                index.clear()
            self._load_packed()
        for path in sorted(self.folder.glob("calls-*.jsonl")):
            self._tail(path)

    def _load_packed(self) -> None:
        import polars as pl

        path = self.folder / PACKED
        if not path.is_file():
            return
        frame = pl.read_parquet(path)
        self._packed = schema("calls").check(frame)
        keys = self._packed.get_column("key").to_list()
        statuses = self._packed.get_column("status").to_list()
        for row, (key, status) in enumerate(zip(keys, statuses, strict=True)):
            self._note(key, status)
            if self._status[key] == status:
                self._rows[key] = row
        columns = [
            self._packed.get_column(n).to_list()
            for n in ("kind", "dataset", "case_id", "condition", "stage", "subject")
        ]
        for slot in zip(keys, *columns, strict=True):
            self._slots.add(hash(slot))

    def _note(self, key: str, status: str) -> None:
        """Keep the best status: an answer is not displaced by a later failure."""
        if self._status.get(key) != "ok":
            self._status[key] = status

    def _tail(self, path: Path) -> None:
        start = self._offsets.get(path.name, 0)
        try:
            if path.stat().st_size <= start:
                return
            with open(path, "rb") as stream:
                stream.seek(start)
                data = stream.read()
        except FileNotFoundError:  # packed by another process just now
            return
        whole = data[: data.rfind(b"\n") + 1]
        at = start
        damaged = 0
        for line in whole.split(b"\n")[:-1]:
            length = len(line) + 1
            try:
                self._index(_record(line), path.name, at, length)
            except (ValueError, TypeError, AttributeError):
                damaged += bool(line.strip())
            at += length
        self._offsets[path.name] = start + len(whole)
        if damaged:
            warnings.warn(
                f"{path.name}: {damaged} damaged lines ignored; these calls count as missing", stacklevel=4
            )

    def _index(self, record: Record, file: str, at: int, length: int) -> None:
        if record.status == "ok" or self._status.get(record.key) != "ok":
            self._lines[record.key] = (file, at, length)
        self._note(record.key, record.status)
        self._slots.add(hash(record.slot))

    def __contains__(self, key: str) -> bool:
        return key in self._status

    def __len__(self) -> int:
        return len(self._status)

    def status(self, key: str) -> str | None:
        """Return the status of a recorded call without reading it, None if there is none."""
        return self._status.get(key)

    def has_slot(self, slot: tuple[str | None, ...]) -> bool:
        """Say whether the call is recorded for this very case, condition and stage."""
        return hash(slot) in self._slots

    def get(self, key: str) -> Record | None:
        """Return the recorded call, the good one if a failure was repeated, or None."""
        if key in self._lines:
            file, at, length = self._lines[key]
            try:
                with open(self.folder / file, "rb") as stream:
                    stream.seek(at)
                    return _record(stream.read(length))
            except FileNotFoundError:  # packed by another process meanwhile
                self.refresh()
                return self.get(key) if self._lines.get(key) != (file, at, length) else None
        if key in self._rows:
            assert self._packed is not None
            return Record(*self._packed.row(self._rows[key])[: len(_NAMES)])
        return None

    def frame(self) -> pl.DataFrame:
        """Return all records (schema `calls`), one for each call and what it was for.

        Of several records for the same purpose the last good one is kept, else the last.
        """
        import polars as pl

        self.refresh()
        calls = schema("calls")
        parts = [] if self._packed is None else [self._packed]
        for path in sorted(self.folder.glob("calls-*.jsonl")):
            with open(path, "rb") as stream:
                data = stream.read(self._offsets.get(path.name, 0))
            parts.append(_read_lines(data))
        if not parts:
            return calls.frame([])
        frame = pl.concat(parts)
        slot = ["key", "kind", "dataset", "case_id", "condition", "stage", "subject"]
        order = frame.with_columns(_good=(pl.col("status") == "ok"), _at=pl.int_range(pl.len()))
        kept = order.sort("_good", "_at").unique(slot, keep="last", maintain_order=True).drop("_good", "_at")
        return kept.sort(_SORT, nulls_last=False, maintain_order=True)

    def records(self) -> Iterator[Record]:
        """Iterate over all records, in a fixed order."""
        for row in self.frame().select(_NAMES).iter_rows():
            yield Record(*row)

    # -- writing ---------------------------------------------------------------------------

    def put(self, record: Record) -> None:
        """Append a record; it is on its way to the disk when this returns.

        Raises
        ------
        SchemaError
            In replay mode, or for an unknown status.
        """
        if self.mode == "replay":
            raise SchemaError("a cache in replay mode is read only", remedy='open it with mode="record"')
        if record.status not in STATUSES:
            raise SchemaError("status of a record", got=record.status, allowed=STATUSES)
        line = _line(record)
        if self._fd is None:
            self._open()
        assert self._fd is not None
        view = memoryview(line)
        while view:
            view = view[os.write(self._fd, view) :]
        at = self._offsets.get(self._own, 0)
        self._index(record, self._own, at, len(line))
        self._offsets[self._own] = at + len(line)

    def _open(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._own = f"calls-{os.getpid()}-{uuid.uuid4().hex[:8]}.jsonl"
        self._fd = os.open(self.folder / self._own, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND, 0o644)
        hold(self._fd)

    def close(self) -> None:
        """Flush and close; the cache can still be read, and opens a new file when written to."""
        if self._fd is not None:
            os.fsync(self._fd)
            os.close(self._fd)
            self._fd, self._own = None, ""

    def pack(self) -> Path:
        """Fold everything into `calls.parquet`, see `icgkit.cache_pack`."""
        from icgkit.cache_pack import pack

        return pack(self)


def _stamp(path: Path) -> tuple[int, ...] | None:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return (stat.st_mtime_ns, stat.st_size, stat.st_ino)


def _read_lines(data: bytes) -> pl.DataFrame:
    """Read whole lines; damaged ones are left out."""
    import io

    import polars as pl

    dtypes = schema("calls").dtypes
    try:
        return pl.read_ndjson(io.BytesIO(data), schema=dtypes)
    except pl.exceptions.PolarsError:
        rows = [r for line in data.split(b"\n") if (r := _lenient(line))]
        return pl.DataFrame({n: [getattr(r, n) for r in rows] for n in _NAMES}, schema=dtypes, strict=True)


def _lenient(line: bytes) -> Record | None:
    try:
        return _record(line) if line.strip() else None
    except (ValueError, TypeError, AttributeError):
        return None


def hold(fd: int) -> None:
    """Mark a file as being written to; the mark goes with the process, however it ends."""
    try:
        import fcntl
    except ImportError:  # not on this system: packing then trusts the user
        return
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


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
