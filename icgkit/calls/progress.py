"""How far a run is, shown in a terminal, a notebook or a log."""

from __future__ import annotations

import sys
import time
from typing import Any, Self

from icgkit.calls.ledger import Summary
from icgkit.calls.record import Record

_WORDS = {"error": "failed", "refused": "refused", "truncated": "cut", "empty": "empty"}


def _in_notebook() -> bool:
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module else None
    return shell is not None and hasattr(shell, "kernel")


class Progress:
    """Shows done, cached, failed, refused, cost and time left; at most about 100 log lines."""

    def __init__(self, summary: Summary, *, show: bool = True) -> None:
        kind = "notebook" if _in_notebook() else "terminal" if sys.stderr.isatty() else "log"
        self.summary, self._kind = summary, kind if show else "hidden"
        self._done = self._shown_at = self._failed = self._shown_failed = 0
        self._started = self._last = time.monotonic()
        self._every, self._waiting, self._said_wait = 0.2, 0.0, 0.0
        self._why = ""
        self._said_stop = False
        self._bar: Any = None

    def __enter__(self) -> Self:
        if self._kind == "terminal":
            from tqdm import tqdm

            total = self.summary.total or None
            self._bar = tqdm(total=total, unit="call", smoothing=0.05, dynamic_ncols=True)
        elif self._kind == "notebook":
            from IPython.display import display

            self._bar = display({"text/plain": self.line()}, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        return self

    def add(self, record: Record) -> None:
        """Count one finished call."""
        self._done += 1
        counts = self.summary.by_status
        counts[record.status] = counts.get(record.status, 0) + 1
        self.summary.reasons.add(record)
        step = max(1, self.summary.total // 50) if self._kind == "log" else 1
        due = time.monotonic() - self._last >= self._every and self._done - self._shown_at >= step
        if due and self._kind != "hidden":
            self._emit()
            if self._kind != "terminal":  # ever longer where the total is unknown or the run is long
                self._every = min(300.0, max(self._every * 1.1, 1.0))

    def failed(self, why: Exception) -> None:
        """Note a failed attempt; it may be made again."""
        self._failed += 1
        self._why = " ".join(str(why).split())[:60]

    def tick(self, waiting: float, stopping: bool) -> None:
        """Show what goes on while no call ends: seconds of a pause that the server wants, a stop."""
        self._waiting = waiting
        if stopping and not self._said_stop:
            self._said_stop = True
            if n := self.summary.flying:
                self.say(f"stopping: waiting for {n:,d} calls in flight; press Ctrl-C again to give them up")
        now = time.monotonic()
        if self._kind == "log":
            waits = waiting >= 5 and now - self._said_wait >= min(waiting, 60)
            fails = self._failed > self._shown_failed and now - max(self._last, self._said_wait) >= 10
            if waits or fails:
                self._said_wait, self._shown_failed = now, self._failed
                self.say(self.line())
        elif self._kind != "hidden" and now - self._last >= 1.0:
            self._emit()

    def say(self, text: str) -> None:
        """Show one line beside the progress, whether progress is shown or not."""
        if self._kind == "terminal":
            self._bar.write(text, file=sys.stderr)
        else:
            print(text, file=sys.stderr, flush=True)

    def _emit(self) -> None:
        if self._kind == "terminal":
            self._bar.n = self._done
            self._bar.set_postfix_str(self._counts(), refresh=True)
        elif self._kind == "notebook":
            self._bar.update({"text/plain": self.line()}, raw=True)
        else:
            self.say(self.line())
        self._shown_at, self._last = self._done, time.monotonic()

    def _counts(self) -> str:
        s = self.summary
        parts = [f"cached {s.cached}"]
        parts += [f"{name} {s.by_status[k]}" for k, name in _WORDS.items() if s.by_status.get(k)]
        parts.append(f"${s.cost:.2f}" + ("+?" if s.unpriced else ""))
        if s.flying:
            parts.append(f"{s.flying} in flight")
        if self._failed:
            parts.append(f"{self._failed} attempts failed, last: {self._why}")
        if self._waiting >= 1:
            parts.append(f"waiting {self._waiting:.0f} s")
        return ", ".join(parts)

    def line(self) -> str:
        """Return the state as one line."""
        s, seconds = self.summary, time.monotonic() - self._started
        made, left = self._done - s.cached, ""
        if s.total and made and self._done < s.total:
            left = f", about {_clock((s.total - self._done) * seconds / made)} left"
        of = f"{self._done}/{s.total}" if s.total else str(self._done)
        return f"{of} done ({self._counts()}), {_clock(seconds)}{left}"

    def __exit__(self, *exc: object) -> None:
        self._waiting = 0.0
        if self._kind != "hidden" and (self._shown_at < self._done or self._done == 0):
            self._emit()
        if self._kind == "terminal":
            self._bar.close()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
