"""What calls have cost: every attempt is booked beside the records when it happens, whatever becomes of it.

`spending.jsonl` in a cache folder only grows. An attempt writes a line before it is sent (what it can
cost at most is held) and one when it has ended (what it did cost). Lines are written under a lock, so
that a budget holds over all the processes that work on the same cache. What was held and never settled,
because a process was killed, counts in full: it may have been paid.

`Summary` and `Reasons` are the account of one run: what was called, what it cost, why answers are missing.
"""

from __future__ import annotations

import errno
import json
import os
import re
import socket
import stat
import threading
import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from icgkit.errors import CacheError, SchemaError
from icgkit.files import read_file
from icgkit.untrusted import json_value

if TYPE_CHECKING:
    import polars as pl

FILE = "spending.jsonl"
_NO_LOCKS = frozenset(
    getattr(errno, name) for name in ("ENOSYS", "ENOLCK", "EOPNOTSUPP", "ENOTSUP") if hasattr(errno, name)
)
_VARIES = re.compile(r"\b(?=[\w-]*\d)[\w-]{6,}\b|\d+")
_SLACK = 1e-9
"""Dollars by which sums of floats may differ."""
_OPEN: set[str] = set()
"""Runs of this process that have not ended."""


@dataclass
class Spent:
    """Sums over a ledger.

    `cost` is what is settled, in US dollars; `estimated` the part of it that was worked out without
    a count of the provider; `unpriced` the attempts without a known price.
    """

    attempts: int = 0
    cost: float = 0.0
    estimated: float = 0.0
    unpriced: int = 0


@dataclass
class _Held:
    amount: float
    run: str
    at: float


@dataclass
class Ledger:
    """The spending of one cache folder."""

    folder: Path
    spent: Spent = field(default_factory=Spent, init=False)
    """Everything that is settled, by all processes, as far as it was read."""
    ratios: dict[str, float] = field(default_factory=dict, init=False)
    """Largest ratio of reported to estimated input tokens, by model."""
    _held: dict[str, _Held] = field(default_factory=dict, init=False, repr=False)
    _runs: dict[str, dict[str, Any]] = field(default_factory=dict, init=False, repr=False)
    _read_to: int = field(default=0, init=False, repr=False)
    _fd: int | None = field(default=None, init=False, repr=False)
    _run: str = field(default_factory=lambda: uuid.uuid4().hex[:8], init=False, repr=False)
    _number: int = field(default=0, init=False, repr=False)
    _users: int = field(default=0, init=False, repr=False)
    _turn: threading.RLock = field(default_factory=threading.RLock, init=False, repr=False, compare=False)

    @property
    def path(self) -> Path:
        """The file."""
        return Path(self.folder) / FILE

    @property
    def held(self) -> float:
        """US dollars that calls in flight may cost at most."""
        return sum(h.amount for h in self._held.values())

    def refresh(self) -> None:
        """Take in what other processes have booked."""
        if self._fd is None and not self.path.is_file():
            return
        with self._locked(write=False):
            pass

    def begin(self, recorded: float) -> list[str]:
        """Open the ledger for a run and return the other runs that are alive on this cache."""
        line: dict[str, Any] = {"run": self._run, "pid": os.getpid(), "host": socket.gethostname()}
        with self._locked():
            _OPEN.add(self._run)
            self._users += 1
            others = [_who(run) for name, run in self._runs.items() if name not in _OPEN and _alive(run)]
            self._append({**line, "at": round(time.time(), 3)})
            if (lacking := recorded - self.spent.cost) > 1e-6:
                self._append({"carried": lacking})
        return others

    def end(self) -> None:
        """Say that the run has ended."""
        with self._turn:
            self._users -= 1
            if self._users > 0 or self._fd is None:
                return
            _OPEN.discard(self._run)
            with self._locked():
                self._append({"ended": self._run})
            os.close(self._fd)
            self._fd = None

    def hold(self, amount: float, *, budget: float | None = None, **what: Any) -> str | None:
        """Hold what an attempt can cost at most, before it is sent."""
        with self._locked():
            if budget is not None and self.spent.cost + self.held + amount > budget + _SLACK:
                return None
            self._number += 1
            name = f"{self._run}-{self._number}"
            self._append({"hold": name, "amount": amount, "at": round(time.time(), 3), **what})
        return name

    def settle(self, name: str, cost: float | None, by: str, **what: Any) -> None:
        """Book what an attempt has cost."""
        with self._locked():
            self._append({"settle": name, "cost": None if cost is None else max(0.0, cost), "by": by, **what})

    def waiting_for(self, seconds: float) -> bool:
        """Say whether something is held by a run that is alive, and not for longer than `seconds`."""
        now = time.time()
        return any(
            now - h.at < seconds and (h.run == self._run or _alive(self._runs.get(h.run)))
            for h in self._held.values()
        )

    def frame(self) -> pl.DataFrame:
        """Return the attempts, one row each: name, time, model, key, held, cost, by, status."""
        import polars as pl

        rows: dict[str, dict[str, Any]] = {}
        text = read_file(self.path, error=CacheError) if self.path.is_file() else b""
        for line in text.split(b"\n"):
            data = _read(line)
            if "hold" in data:
                name = str(data["hold"])
                rows[name] = {**data, "attempt": name, "held": data.get("amount")}
            elif "settle" in data:
                name = str(data["settle"])
                rows.setdefault(name, {}).update(data | {"attempt": name})
        kinds = {"attempt": pl.String, "at": pl.Float64, "model": pl.String, "key": pl.String}
        kinds |= {"held": pl.Float64, "cost": pl.Float64, "by": pl.String, "status": pl.String}
        as_kind = {pl.String: lambda v: v if isinstance(v, str) else None, pl.Float64: _number}
        columns = {
            name: [as_kind[kind](row.get(name)) for row in rows.values()] for name, kind in kinds.items()
        }
        return pl.DataFrame(columns, schema=kinds)

    # -- the file --------------------------------------------------------------------------

    def _locked(self, write: bool = True) -> _Lock:
        if self._fd is None:
            if write:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND if write else os.O_RDONLY
            flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
            try:
                fd = os.open(self.path, flags, 0o644)
                if not stat.S_ISREG(os.fstat(fd).st_mode):
                    os.close(fd)
                    raise OSError(errno.EINVAL, "no regular file")
            except OSError as exc:
                raise CacheError(
                    f"{self.path.name!r}, where what calls cost is booked, cannot be used: {exc.strerror}",
                    got=str(self.path),
                    allowed="a file that can be written to, no link",
                ) from None
            if not write:
                return _Lock(self, fd, True)
            self._fd = fd
        return _Lock(self, self._fd, False)

    def _take_in(self, fd: int) -> None:
        """Read what was appended since the last look; call it under the lock."""
        size = os.fstat(fd).st_size
        if size <= self._read_to:
            return
        data = os.pread(fd, size - self._read_to, self._read_to)
        whole = data[: data.rfind(b"\n") + 1]
        self._read_to += len(whole)
        for line in whole.split(b"\n"):
            if line:
                self._count(_read(line))

    def _append(self, line: dict[str, Any]) -> None:
        """Append one line; call it under the lock."""
        assert self._fd is not None
        data = json.dumps(line, separators=(",", ":"), default=str, allow_nan=False).encode() + b"\n"
        if os.fstat(self._fd).st_size > self._read_to:  # a line that a kill or a full disk has torn
            data = b"\n" + data
        view = memoryview(data)
        while view:
            view = view[os.write(self._fd, view) :]
        self._take_in(self._fd)

    def _count(self, data: dict[str, Any]) -> None:
        if "hold" in data:
            name, amount = str(data["hold"]), _number(data.get("amount")) or 0.0
            self._held[name] = _Held(amount, name.rpartition("-")[0], _number(data.get("at")) or 0.0)
        elif "settle" in data:
            self._held.pop(str(data["settle"]), None)
            self._book(data)
        elif "carried" in data:
            self.spent.cost += _number(data["carried"]) or 0.0
        elif "run" in data:
            self._runs[str(data["run"])] = data
        elif "ended" in data:
            self._runs.pop(str(data["ended"]), None)

    def _book(self, data: dict[str, Any]) -> None:
        spent, cost = self.spent, _number(data.get("cost"))
        spent.attempts += 1
        if cost is None:
            spent.unpriced += 1
        else:
            spent.cost += cost
            spent.estimated += cost if data.get("by") == "estimate" else 0.0
        sent, guess = _number(data.get("tokens_in")), _number(data.get("tokens_guessed"))
        if sent and guess:
            model = str(data.get("model"))
            self.ratios[model] = max(self.ratios.get(model, 0.0), sent / guess)


class _Lock:
    """Holds the file's lock and brings the sums up to date."""

    def __init__(self, ledger: Ledger, fd: int, close: bool) -> None:
        self._ledger, self._fd, self._close = ledger, fd, close

    def __enter__(self) -> None:
        self._ledger._turn.acquire()
        try:
            _flock(self._fd, True)
            self._ledger._take_in(self._fd)
        except BaseException:
            self._ledger._turn.release()
            raise

    def __exit__(self, *exc: object) -> None:
        try:
            _flock(self._fd, False)
            if self._close:
                os.close(self._fd)
        finally:
            self._ledger._turn.release()


def _flock(fd: int, on: bool) -> None:
    try:
        import fcntl
    except ImportError:  # not on this system: one process at a time then
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_EX if on else fcntl.LOCK_UN)
    except OSError as exc:
        if exc.errno in _NO_LOCKS:  # then as with one process
            return
        raise CacheError(
            f"what calls cost cannot be booked: {exc}",
            remedy="choose a cache on a file system with locks: --cache /tmp/NAME",
        ) from None


def _read(line: bytes) -> dict[str, Any]:
    try:
        data = json_value(line, "line", lenient=True)
    except SchemaError:
        return {}
    return data if isinstance(data, dict) else {}


def _number(value: Any) -> float | None:
    """Return a number that can be money or a count: finite and not negative."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e12:
        return None
    return float(value)


def _who(run: dict[str, Any]) -> str:
    return f"process {run.get('pid')} on {run.get('host')}"


def _alive(run: dict[str, Any] | None) -> bool:
    """Say whether a run goes on: its process is there, or it is on another machine and began today."""
    if run is None:
        return False
    pid = run.get("pid")
    if run.get("host") != socket.gethostname():
        return time.time() - (_number(run.get("at")) or 0.0) < 86_400
    if not isinstance(pid, int) or pid == os.getpid():  # ours, or of a process whose number we have now
        return run.get("run") in _OPEN
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


class _Answered(Protocol):
    """What is counted of a record, see `icgkit.calls.cache.Record`."""

    @property
    def model(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def case_id(self) -> str: ...
    @property
    def why(self) -> str: ...


@dataclass
class Reasons:
    """Counts of why calls gave no answer, each with a case as example."""

    seen: dict[tuple[str, str], tuple[int, str, str]] = field(default_factory=dict)

    def add(self, record: _Answered) -> None:
        """Count a record that is not `ok`."""
        if record.status != "ok":
            self.count(record.model, record.why, record.case_id)

    def count(self, who: str, why: str, case_id: str, n: int = 1) -> None:
        """Count a reason; what differs only in numbers and ids is one reason."""
        key = (who, _VARIES.sub("#", why[:300]))
        before, text, case = self.seen.get(key, (0, why, case_id))
        self.seen[key] = (before + n, text, case)

    def merge(self, others: Iterable[Reasons]) -> Reasons:
        """Return the sum with others."""
        whole = Reasons(dict(self.seen))
        for other in others:
            for (who, _), (n, text, case) in other.seen.items():
                whole.count(who, text, case, n)
        return whole

    def union(self, other: Reasons) -> Reasons:
        """Return what either counts; what both count is the same calls seen twice."""
        whole = Reasons(dict(self.seen))
        for key, entry in other.seen.items():
            if entry[0] > whole.seen.get(key, (0, "", ""))[0]:
                whole.seen[key] = entry
        return whole

    def lines(self, most: int = 3) -> list[str]:
        """Return the commonest reasons as lines: count, model, reason, one case."""
        ranked = sorted(self.seen.items(), key=lambda item: -item[1][0])
        lines = []
        for (who, _), (n, text, case) in ranked[:most]:
            short = " ".join(text.split())
            short = short if len(short) <= 200 else short[:197] + "..."
            lines.append(f"  {n:,d} x {who}: {short}" + (f" (e.g. case {case})" if case else ""))
        if (rest := sum(n for _, (n, _, _) in ranked[most:])) > 0:
            lines.append(f"  {rest:,d} for other reasons")
        return lines


@dataclass
class Summary:
    """What a run did. `stopped` is None, "budget" or "interrupt".

    `cost` is in US dollars and counts every attempt of this run, `estimated` the part of it that no
    provider's count stands behind; `closed` says by model why no more of its calls were made;
    `pending` counts calls that were left to a batch that the provider still has.
    """

    total: int = 0
    cached: int = 0
    called: int = 0
    cost: float = 0.0
    estimated: float = 0.0
    unpriced: int = 0
    by_status: dict[str, int] = field(default_factory=dict)
    stopped: str | None = None
    seconds: float = 0.0
    attempts: int = 0
    flying: int = 0
    """Calls in flight; after a run, those whose answers were given up."""
    pending: int = 0
    closed: dict[str, str] = field(default_factory=dict)
    reasons: Reasons = field(default_factory=Reasons)

    def failed(self) -> bool:
        """Say whether there were errors, or models that could not be called to the end."""
        return bool(self.closed or self.by_status.get("error"))

    def lines(self) -> list[str]:
        """Return the cost, what was given up, and the commonest reasons of missing answers, as lines."""
        cost = f"cost ${self.cost:.4f} in {self.attempts:,d} attempts"
        cost += f", ${self.estimated:.4f} of it estimated" if self.estimated else ""
        cost += f", and {self.unpriced:,d} attempts without a known price" if self.unpriced else ""
        lines = [cost]
        for model, why in self.closed.items():
            short = " ".join(why.split())[:300]
            lines.append(f"{model} was given up, its further calls were not made: {short}")
        if self.reasons.seen:
            lines += ["calls without an answer, by reason:", *self.reasons.lines()]
        if self.pending:
            lines.append(
                f"{self.pending:,d} calls were left out: a batch with them is still with the provider; "
                "collect it with `icgkit run --batch`"
            )
        return lines


def together(summaries: Sequence[Summary]) -> Summary:
    """Return the sum of several runs."""
    whole = Summary()
    for s in summaries:
        for name in (
            "total",
            "cached",
            "called",
            "cost",
            "estimated",
            "unpriced",
            "seconds",
            "attempts",
            "pending",
        ):
            setattr(whole, name, getattr(whole, name) + getattr(s, name))
        for status, n in s.by_status.items():
            whole.by_status[status] = whole.by_status.get(status, 0) + n
        whole.closed |= s.closed
        whole.stopped = s.stopped or whole.stopped
    whole.reasons = Reasons().merge(s.reasons for s in summaries)
    return whole
