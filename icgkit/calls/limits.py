"""How fast and how patiently models are called."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from email.utils import parsedate_to_datetime
from functools import lru_cache
from math import isfinite
from typing import Any

from icgkit.calls.keys import load_litellm
from icgkit.calls.prices import Price
from icgkit.errors import SchemaError, UnknownName

WHOLE = ("concurrency", "retries")
MAY_BE_ZERO = ("retries", "backoff", "budget")
MAY_BE_NONE = ("rpm", "tpm", "budget")
PATIENCE = 4
"""How many times more often a call is sent again after 429 (too many requests) than after other failures."""
LONGEST_STEP = 60.0
"""Seconds beyond which the pause between two attempts does not grow, unless the server asks for more."""


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
        Further attempts after a failure that may pass (408, 409, 5xx, resets, time-outs, bodies
        that are cut or no JSON, answers without content); four times as many after 429.
    backoff : float
        Seconds before the first retry, doubled each time up to a minute, with jitter; a Retry-After
        of the server is honoured if it is longer.
    longest_wait : float
        Seconds; a server that asks for more ends the calls of that model.
    dead_after : float
        Seconds in which a model gave nothing but failures (refused, reset, timed out, 5xx) after
        which no more of its calls are made.
    connect_timeout, timeout : float
        Seconds to connect, and for the whole answer.
    budget : float, optional
        US dollars that everything booked in the cache may come to, earlier runs included.
    providers : mapping
        Other values by provider, e.g. `{"gemini": {"rpm": 60}}`.
    prices : mapping
        `Price` by model, for models that litellm knows no price of.

    Raises
    ------
    SchemaError, UnknownName
        For a value that cannot be a limit, or a limit that there is not.
    """

    concurrency: int = 16
    rpm: float | None = None
    tpm: float | None = None
    retries: int = 3
    backoff: float = 5.0
    longest_wait: float = 600.0
    dead_after: float = 45.0
    connect_timeout: float = 10.0
    timeout: float = 300.0
    budget: float | None = None
    providers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    prices: Mapping[str, Price] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in LIMITS:
            check_limit(name, getattr(self, name))
        for provider, own in self.providers.items():
            if not isinstance(own, Mapping):
                raise SchemaError(f"limits of provider {provider}", got=own, allowed="names and values")
            for name, value in own.items():
                check_limit(name, value, f"limits of provider {provider}: ")

    def for_provider(self, name: str) -> Limits:
        """Return the limits that hold for one provider."""
        return replace(self, **self.providers.get(name, {}))


LIMITS = tuple(f.name for f in fields(Limits) if f.name not in ("providers", "prices"))
OF_PROVIDER = tuple(name for name in LIMITS if name != "budget")


def check_limit(name: str, value: Any, place: str = "limits: ") -> None:
    """Raise if there is no such limit, or the value cannot be one."""
    known = LIMITS if place == "limits: " else OF_PROVIDER
    if name not in known:
        raise UnknownName.among(f"limit ({place.strip(': ')})", str(name), known)
    whole, zero, none = name in WHOLE, name in MAY_BE_ZERO, name in MAY_BE_NONE
    if value is None and none:
        return
    number = not isinstance(value, bool) and isinstance(value, int if whole else (int, float))
    if not number or not isfinite(value) or value < 0 or (value == 0 and not zero):
        allowed = f"a {'whole ' * whole}number {'of 0 or more' if zero else 'above 0'}"
        raise SchemaError(f"{place}{name}", got=value, allowed=allowed + (" or nothing" if none else ""))


@lru_cache(maxsize=256)
def limited_as(model: str) -> str:
    """Return the provider whose limits hold for a model; a bare name is looked up in litellm."""
    if "/" in model:
        return model.split("/", 1)[0]
    try:
        return str(load_litellm().get_llm_provider(model)[1])
    except Exception:  # a name that litellm does not know is refused elsewhere, with the reason
        return "openai"


class Concurrency:
    """How many calls of a provider are in flight: fewer after 429, slowly more after answers."""

    def __init__(self, most: int) -> None:
        self.most, self.flying = most, 0
        self.allowed = float(most)
        self._free = asyncio.Event()
        self.halved_at = -1.0

    async def enter(self, halted: Callable[[], bool]) -> bool:
        """Wait for a place; False if the run halts meanwhile."""
        while self.flying >= int(self.allowed):
            if halted():
                return False
            self._free.clear()
            await wait_for(self._free, 0.5)
        self.flying += 1
        return True

    def leave(self) -> None:
        """Give the place back."""
        self.flying -= 1
        self._free.set()

    def answered(self) -> None:
        """Let one more in after a round of answers."""
        if self.allowed < self.most:
            self.allowed = min(float(self.most), self.allowed + 1.0 / self.allowed)
            self._free.set()

    def too_many(self, sent_at: float) -> None:
        """Halve the places, once for all the calls that were in flight together."""
        if sent_at >= self.halved_at:
            self.allowed = max(1.0, self.allowed / 2)
            self.halved_at = time.monotonic()


async def wait_for(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, but not for longer than so many seconds."""
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)


class RateLimit:
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

    @property
    def held(self) -> float:
        """Seconds until a call may start."""
        return max(0.0, self._held_until - time.monotonic())


def retry_after(value: str | None, milliseconds: str | None = None) -> float | None:
    """Read a Retry-After header (seconds or an HTTP date) or `retry-after-ms`, which is finer."""
    for text, unit in ((milliseconds, 1000.0), (value, 1.0)):
        try:
            if text and isfinite(seconds := float(text)):
                return max(0.0, seconds / unit)
        except ValueError:
            continue
    if not value:
        return None
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def pause(attempt: int, limits: Limits, asked: float | None) -> float:
    """Return the seconds to wait before retry number `attempt` (from 0), jitter included."""
    planned = min(limits.backoff * 2.0 ** min(attempt, 30), max(LONGEST_STEP, limits.backoff)) * (
        1 + 0.25 * random.random()
    )
    if asked is None:
        return planned
    return max(planned, asked + min(1.0, 0.1 * asked + 0.05) * random.random() + 0.01)
