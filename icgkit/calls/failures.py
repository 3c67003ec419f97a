"""Why attempts fail, and what that means: this call, this model, or a server that is not there."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from icgkit.calls.cache import Record
from icgkit.calls.keys import mask
from icgkit.calls.reply import error_in

PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
"""HTTP statuses after which the same call may succeed."""
FOR_GOOD = frozenset({401, 402, 403, 404})
"""HTTP statuses that every further call of the same model would get."""
TOO_MANY = 429
_NO_MONEY = re.compile(
    r"insufficient[_ ](quota|balance|credits?|funds)|exceeded your current quota|credit balance is too low"
    r"|billing[_ ](hard[_ ]limit|not[_ ]active)|payment required|out of credits",
    re.I,
)
_NO_KEY = re.compile(r"invalid[_ ]api[_ ]key|incorrect api key|api key not valid|api_key_invalid", re.I)
_NO_HOST = re.compile(
    r"name or service not known|nodename nor servname|getaddrinfo failed|no address associated", re.I
)
_THIS_PROMPT = re.compile(r"moderation|flagged|content[_ ](policy|filter|management)|safety", re.I)
_VARIES = re.compile(r"\b(?=[\w-]*\d)[\w-]{6,}\b|\d+")
LEAST = 5
"""Failures in a row before a model can be given up as dead."""


class Failed(Exception):
    """One attempt that gave no reply.

    Parameters
    ----------
    what : str
        What happened; keys in it are masked.
    passing : bool
        Whether the same call may succeed later.
    after : float, optional
        Seconds that the server asks to wait.
    status : int, optional
        HTTP status.
    reached : bool
        Whether the server may have worked on it (and will bill it); no if it refused the
        connection or answered with an error status.
    refused : bool
        Whether a content filter turned the prompt down: an answer of its kind, and no failure.
    """

    def __init__(
        self,
        what: str,
        *,
        passing: bool,
        after: float | None = None,
        status: int | None = None,
        reached: bool = False,
        refused: bool = False,
    ) -> None:
        super().__init__(mask(what)[:2000])
        self.after, self.status, self.reached, self.refused = after, status, reached, refused
        self.for_good = not refused and for_good(status, what)
        self.passing = passing and not self.for_good and not refused


def for_good(status: int | None, text: str) -> bool:
    """Say whether every further call of the same model would fail in the same way.

    Examples
    --------
    >>> for_good(401, "bad key"), for_good(429, "insufficient_quota"), for_good(429, "slow down")
    (True, True, False)
    >>> for_good(403, "input flagged by moderation")
    False
    """
    if status is None:
        return bool(_NO_HOST.search(text))
    if status == 403 and _THIS_PROMPT.search(text):
        return False
    if status in FOR_GOOD:
        return True
    return status in (400, TOO_MANY) and bool(_NO_MONEY.search(text) or _NO_KEY.search(text))


def failed_inside(raw: dict[str, Any]) -> Failed | None:
    """Return the failure that a reply with HTTP status 200 tells of in its `error`, None without one."""
    error = error_in(raw)
    if not error:
        return None
    code = error.get("code") if isinstance(error, dict) else None
    status = code if isinstance(code, int) and not isinstance(code, bool) else None
    if isinstance(code, str) and code.isdigit() and len(code) == 3:
        status = int(code)
    text = json.dumps(error, default=str)
    return Failed(text, passing=status is None or status in PASSING, status=status)


@dataclass
class Health:
    """What is known of one model at one address in this run."""

    closed: str | None = None
    """Why no further call of it is made, None while it is called."""
    measured: bool = False
    """Whether an attempt has ended, so that its size is known."""
    probing: bool = False
    """Whether a first attempt is under way."""
    _bad: int = 0
    _bad_since: float | None = None
    _limited_since: float | None = None

    def answered(self) -> None:
        """Note a sign of life."""
        self._bad, self._bad_since, self._limited_since = 0, None, None

    def failed(self, why: Failed, sent_at: float, dead_after: float, longest_wait: float) -> None:
        """Note a failure, and close the model if it is for good or the server seems dead.

        Parameters
        ----------
        why : Failed
            The failure.
        sent_at : float
            `time.monotonic()` at which the attempt began.
        dead_after, longest_wait : float
            Seconds, see `Limits`.
        """
        now = time.monotonic()
        if why.for_good:
            self.closed = self.closed or str(why)
        elif why.after is not None and why.after > longest_wait:
            self.closed = self.closed or f"the server asks to wait {why.after:,.0f} s: {why}"
        elif why.status == TOO_MANY:
            self._bad, self._bad_since = 0, None
            self._limited_since = sent_at if self._limited_since is None else self._limited_since
            if now - self._limited_since >= longest_wait:
                self.closed = f"nothing but too many requests for {now - self._limited_since:,.0f} s: {why}"
        elif why.status is not None and why.status not in PASSING:
            self.answered()
        else:
            self._bad += 1
            self._bad_since = sent_at if self._bad_since is None else min(sent_at, self._bad_since)
            if self._bad >= LEAST and now - self._bad_since >= dead_after:
                self.closed = f"{self._bad} failures and no answer in {now - self._bad_since:,.0f} s: {why}"


@dataclass
class Reasons:
    """Counts of why calls gave no answer, each with a case as example."""

    seen: dict[tuple[str, str], tuple[int, str, str]] = field(default_factory=dict)

    def add(self, record: Record) -> None:
        """Count a record that is not `ok`."""
        if record.status == "ok":
            return
        self.count(record.model, why_of(record), record.case_id)

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


def why_of(record: Record) -> str:
    """Return why a call gave no answer, in words."""
    said = record.refusal or ""
    if record.status == "error":
        return said or "error"
    if record.status == "truncated":
        return f"truncated: the reply stopped at its token limit ({record.finish_reason})"
    if record.status == "refused":
        return f"refused: {said or record.finish_reason}"
    return f"empty: a reply without text (finish reason {record.finish_reason})"
