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
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from icgkit.calls.record import Record
from icgkit.errors import CacheError, SchemaError
from icgkit.untrusted import json_value

FILE = "spending.jsonl"
_NO_LOCKS = {getattr(errno, name, None) for name in ("ENOSYS", "ENOLCK", "EOPNOTSUPP", "ENOTSUP", "EINVAL")}
_VARIES = re.compile(r"\b(?=[\w-]*\d)[\w-]{6,}\b|\d+")
_SLACK = 1e-9
"""Dollars by which sums of floats may differ."""
_OPEN: set[str] = set()
"""Runs of this process that have not ended."""


def lock(fd: int, *, wait: bool = False) -> bool:
    """Lock an open file; the lock goes with the process, however it ends.

    False where the system or the file system has no locks; BlockingIOError if another process holds it.
    """
    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as exc:
        if exc.errno not in _NO_LOCKS:
            raise
        return False
    return True


def unlock(fd: int) -> None:
    """Give a lock back."""
    import fcntl

    fcntl.flock(fd, fcntl.LOCK_UN)


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


class Ledger:
    """The spending of one cache folder; the file is made with the first line."""

    def __init__(self, folder: Path) -> None:
        self.path = Path(folder) / FILE
        self.spent = Spent()  # everything that is settled, by all processes, as far as it was read
        self.ratios: dict[str, float] = {}  # largest of reported to estimated input tokens, by model
        self._held: dict[str, _Held] = {}
        self._runs: dict[str, dict[str, Any]] = {}
        self._read_to = self._number = self._users = 0
        self._fd: int | None = None
        self._run = uuid.uuid4().hex[:8]
        self._turn = threading.RLock()

    @property
    def held(self) -> float:
        """US dollars that calls in flight may cost at most."""
        return sum(h.amount for h in self._held.values())

    def refresh(self) -> None:
        """Take in what other processes have booked."""
        if self._fd is not None or self.path.is_file():
            with self._locked(os.O_RDONLY):
                pass

    def begin(self, recorded: float) -> list[str]:
        """Open the ledger for a run; return the other runs that are alive on this cache.

        `recorded` is what the cache's records say they cost, in US dollars; what the ledger lacks of it (a
        cache older than its ledger, or merged from others) is booked now.
        """
        line: dict[str, Any] = {"run": self._run, "pid": os.getpid(), "host": socket.gethostname()}
        with self._locked():
            _OPEN.add(self._run)
            self._users += 1
            others = [run for name, run in self._runs.items() if name not in _OPEN and _alive(run)]
            self._append({**line, "at": round(time.time(), 3)})
            if (lacking := recorded - self.spent.cost) > 1e-6:
                self._append({"carried": lacking})
        return [f"process {run.get('pid')} on {run.get('host')}" for run in others]

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
        """Hold the US dollars that an attempt can cost at most, before it is sent; `what` is written with it.

        Returns the name of the attempt for `settle`, None if everything booked here and this are more than
        the budget.
        """
        with self._locked():
            if budget is not None and self.spent.cost + self.held + amount > budget + _SLACK:
                return None
            self._number += 1
            name = f"{self._run}-{self._number}"
            self._append({"hold": name, "amount": amount, "at": round(time.time(), 3), **what})
        return name

    def settle(self, name: str, cost: float | None, by: str, **what: Any) -> None:
        """Book the US dollars that an attempt has cost, None without a known price.

        `by` says where the cost is from: "usage", "estimate", "not billed" or "not sent".
        """
        with self._locked():
            self._append({"settle": name, "cost": None if cost is None else max(0.0, cost), "by": by, **what})

    def waiting_for(self, seconds: float) -> bool:
        """Say whether something is held by a run that is alive, and not for longer than `seconds`."""
        now = time.time()
        return any(
            now - h.at < seconds and (h.run == self._run or _alive(self._runs.get(h.run)))
            for h in self._held.values()
        )

    # -- the file --------------------------------------------------------------------------

    @contextmanager
    def _locked(self, flags: int = os.O_RDWR | os.O_CREAT | os.O_APPEND) -> Iterator[None]:
        """Hold the file's lock, with the sums up to date; a file opened for writing stays open."""
        with self._turn:
            kept = self._fd
            fd = self._open(flags) if kept is None else kept
            if kept is None and flags != os.O_RDONLY:
                self._fd = kept = fd
            try:
                locked = self._wait(fd)
                try:
                    self._take_in(fd)
                    yield
                finally:
                    if locked:
                        unlock(fd)
            finally:
                if kept is None:
                    os.close(fd)

    def _open(self, flags: int) -> int:
        if flags != os.O_RDONLY:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            fd = os.open(
                self.path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), 0o644
            )
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                os.close(fd)
                raise OSError(errno.EINVAL, "no regular file")
        except OSError as exc:
            raise CacheError(
                f"{self.path.name!r}, where what calls cost is booked, cannot be used: {exc.strerror}",
                got=str(self.path),
                allowed="a file that can be written to, no link",
            ) from None
        return fd

    def _wait(self, fd: int) -> bool:
        try:
            return lock(fd, wait=True)
        except OSError as exc:
            raise CacheError(
                f"what calls cost cannot be booked: {exc}",
                remedy="choose a cache on a file system with locks: --cache /tmp/NAME",
            ) from None

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
    except OSError as exc:
        return not isinstance(exc, ProcessLookupError)
    return True


# -- the account of one run ----------------------------------------------------------------


@dataclass
class Reasons:
    """Counts of why calls gave no answer, each with a case as example."""

    seen: dict[tuple[str, str], tuple[int, str, str]] = field(default_factory=dict)

    def add(self, record: Record) -> None:
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
        total = Reasons(dict(self.seen))
        for other in others:
            for (who, _), (n, text, case) in other.seen.items():
                total.count(who, text, case, n)
        return total

    def union(self, other: Reasons) -> Reasons:
        """Return what either counts; what both count is the same calls seen twice."""
        most = {k: e for k, e in other.seen.items() if e[0] > self.seen.get(k, (0, "", ""))[0]}
        return Reasons(self.seen | most)

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
    provider's count stands behind; `flying` counts calls in flight, after a run those whose answers were
    given up; `pending` those left to a batch that the provider still has; `closed` says by model why no
    more of its calls were made.
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


_SUMS = ("total", "cached", "called", "cost", "estimated", "unpriced", "seconds", "attempts", "pending")


def together(summaries: Sequence[Summary]) -> Summary:
    """Return the sum of several runs."""
    whole = Summary(**{name: sum(getattr(s, name) for s in summaries) for name in _SUMS})
    whole.by_status = dict(sum((Counter(s.by_status) for s in summaries), Counter[str]()))
    for s in summaries:
        whole.closed |= s.closed
        whole.stopped = s.stopped or whole.stopped
    whole.reasons = Reasons().merge(s.reasons for s in summaries)
    return whole
