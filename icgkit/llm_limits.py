"""How fast and how patiently models are called."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from typing import Any


@dataclass(frozen=True)
class Limits:
    """Limits of a run; none of them enters a cache key.

    Parameters
    ----------
    concurrency : int
        Calls in flight for each provider.
    rpm, tpm : float, optional
        Requests and tokens a minute for each provider.
    retries : int
        Further attempts after a failure that may pass (408, 409, 429, 5xx, resets, time-outs,
        bodies that are cut or no JSON, answers without content).
    backoff : float
        Seconds before the first retry, doubled each time, with jitter; a Retry-After of the
        server is honoured if it is longer.
    longest_wait : float
        Seconds; a server that asks for more ends the call with status error.
    connect_timeout, timeout : float
        Seconds to connect, and for the whole answer.
    budget : float, optional
        US dollars after which no further call is made.
    providers : mapping
        Other values by provider, e.g. `{"gemini": {"rpm": 60}}`.
    """

    concurrency: int = 16
    rpm: float | None = None
    tpm: float | None = None
    retries: int = 3
    backoff: float = 5.0
    longest_wait: float = 600.0
    connect_timeout: float = 10.0
    timeout: float = 300.0
    budget: float | None = None
    providers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def for_provider(self, name: str) -> Limits:
        """Return the limits that hold for one provider."""
        return replace(self, **self.providers.get(name, {}))


class Pace:
    """Spaces calls so that requests and tokens a minute stay below their limits."""

    def __init__(self, rpm: float | None, tpm: float | None) -> None:
        self._rates = [r / 60 for r in (rpm, tpm) if r]
        self._kinds = [kind for kind, r in (("requests", rpm), ("tokens", tpm)) if r]
        self._next = [0.0] * len(self._rates)
        self._held_until = 0.0

    async def wait(self, tokens: int, halted: Callable[[], bool] = lambda: False) -> bool:
        """Wait until a call of so many tokens may start; False if the run halts meanwhile."""
        start = max([time.monotonic(), *self._next])
        for i, (rate, kind) in enumerate(zip(self._rates, self._kinds, strict=True)):
            self._next[i] = start + (1 if kind == "requests" else tokens) / rate
        while (left := max(start, self._held_until) - time.monotonic()) > 0 and not halted():
            await asyncio.sleep(min(left, 0.5))
        return not halted()

    def hold(self, seconds: float) -> None:
        """Let nobody start for so many seconds, because the server asked for a pause."""
        self._held_until = max(self._held_until, time.monotonic() + seconds)


def retry_after(value: str | None) -> float | None:
    """Read a Retry-After header: seconds or an HTTP date.

    Examples
    --------
    >>> retry_after("7"), retry_after("soon"), retry_after(None)
    (7.0, None, None)
    """
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def pause(attempt: int, limits: Limits, asked: float | None) -> float:
    """Return the seconds to wait before retry number `attempt` (from 0), jitter included.

    Never less than the server asked for.
    """
    planned = limits.backoff * 2.0**attempt * (1 + 0.25 * random.random())
    if asked is None:
        return planned
    return max(planned, asked + min(1.0, 0.1 * asked + 0.05) * random.random() + 0.01)
