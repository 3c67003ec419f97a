"""Progress of a run: a bar in a terminal, one line in a notebook, a few lines in a log."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from icgkit.calls.cache import Record

if TYPE_CHECKING:
    from icgkit.calls.engine import Summary


def _in_notebook() -> bool:
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module else None
    return shell is not None and hasattr(shell, "kernel")


class Progress:
    """Shows done, cached, failed, refused, cost and time left; at most about 100 log lines."""

    def __init__(self, summary: Summary, *, show: bool = True) -> None:
        self.summary, self._show = summary, show
        self._kind = "notebook" if _in_notebook() else "terminal" if sys.stderr.isatty() else "log"
        self._done = 0
        self._started = self._last = time.monotonic()
        self._shown_at = 0
        self._every = 0.2
        self._bar: Any = None
        self._waiting = 0.0
        self._why = ""
        self._failed = self._shown_failed = 0
        self._said_wait = 0.0
        self._said_stop = False

    def __enter__(self) -> Progress:
        if self._show and self._kind == "terminal":
            from tqdm import tqdm

            self._bar = tqdm(
                total=self.summary.total or None, unit="call", smoothing=0.05, dynamic_ncols=True
            )
        elif self._show and self._kind == "notebook":
            from IPython.display import display

            self._bar = display({"text/plain": self.line()}, raw=True, display_id=True)
        return self

    def add(self, record: Record) -> None:
        """Count one finished call."""
        self._done += 1
        counts = self.summary.by_status
        counts[record.status] = counts.get(record.status, 0) + 1
        self.summary.reasons.add(record)
        if not self._show:
            return
        now = time.monotonic()
        step = max(1, (self.summary.total or 0) // 50)
        due = now - self._last >= self._every
        if self._kind == "log":
            due = due and (self._done - self._shown_at >= step)
        if due:
            self._last = now
            self._emit()
            if self._kind != "terminal":
                # Wait ever longer where the total is unknown or the run is long.
                self._every = min(300.0, max(self._every * 1.1, 1.0))

    def failed(self, why: Exception) -> None:
        """Note a failed attempt; it may be made again."""
        self._failed += 1
        self._why = " ".join(str(why).split())[:60]

    def tick(self, waiting: float, stopping: bool) -> None:
        """Show what goes on while no call ends: seconds of a pause that the server wants, a stop.

        Parameters
        ----------
        waiting : float
            Seconds until the next call may start, 0 if nothing is waited for.
        stopping : bool
            Whether the user has asked for the end.
        """
        self._waiting = waiting
        if stopping and not self._said_stop:
            self._said_stop = True
            n = self.summary.flying
            if n:
                self.say(f"stopping: waiting for {n:,d} calls in flight; press Ctrl-C again to give them up")
        if not self._show:
            return
        now = time.monotonic()
        if self._kind == "log":
            waits = waiting >= 5 and now - self._said_wait >= min(waiting, 60)
            fails = self._failed > self._shown_failed and now - max(self._last, self._said_wait) >= 10
            if waits or fails:
                self._said_wait, self._shown_failed = now, self._failed
                print(self.line(), file=sys.stderr, flush=True)
        elif now - self._last >= 1.0:
            self._last = now
            self._emit()

    def say(self, text: str) -> None:
        """Show one line beside the progress, whether progress is shown or not."""
        if self._bar is not None and self._kind == "terminal":
            self._bar.write(text, file=sys.stderr)
        else:
            print(text, file=sys.stderr, flush=True)

    def _emit(self) -> None:
        if self._kind == "terminal" and self._bar is not None:
            self._bar.n = self._done
            self._bar.set_postfix_str(self._counts(), refresh=True)
        elif self._kind == "notebook" and self._bar is not None:
            self._bar.update({"text/plain": self.line()}, raw=True)
        else:
            print(self.line(), file=sys.stderr, flush=True)
        self._shown_at = self._done

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
        s = self.summary
        seconds = time.monotonic() - self._started
        made = self._done - s.cached
        left = ""
        if s.total and made and self._done < s.total:
            left = f", about {_clock((s.total - self._done) * seconds / made)} left"
        of = f"{self._done}/{s.total}" if s.total else str(self._done)
        return f"{of} done ({self._counts()}), {_clock(seconds)}{left}"

    def __exit__(self, *exc: object) -> None:
        self._waiting = 0.0
        if self._show and (self._shown_at < self._done or self._done == 0):
            self._emit()
        if self._bar is not None and self._kind == "terminal":
            self._bar.close()


_WORDS = {"error": "failed", "refused": "refused", "truncated": "cut", "empty": "empty"}


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
