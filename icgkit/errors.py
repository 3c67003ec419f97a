"""Errors that say what went wrong, what was got, what is allowed and how to mend it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    r"""Return a text with its control characters written out, so that no terminal obeys them.

    Line feeds and tabs stay; marks that turn the direction of writing do not.

    Examples
    --------
    >>> print(printable("a\x1b]0;owned\x07.png"))
    a\x1b]0;owned\x07.png
    """
    return _CONTROL.sub(lambda m: m.group().encode("unicode_escape").decode(), text)


class IcgError(Exception):
    """Base of every error that icgkit raises on purpose.

    Parameters
    ----------
    what : str
        What is wrong, with its place (file, line, case, field) where there is one.
    got : object, optional
        The offending value; long values are cut at 200 characters.
    allowed : str or iterable of str, optional
        What would have been accepted.
    remedy : str, optional
        What the reader can do about it.

    Examples
    --------
    >>> print(IcgError("strength of node n1", got="huge", allowed=["strong", "weak"]))
    strength of node n1; got 'huge'; allowed: strong, weak
    """

    def __init__(
        self,
        what: str,
        *,
        got: object = None,
        allowed: str | Iterable[str] | None = None,
        remedy: str | None = None,
    ) -> None:
        what, remedy = printable(what), remedy and printable(remedy)
        self.what = what
        self.got = got
        told = allowed if isinstance(allowed, str) or allowed is None else ", ".join(allowed)
        self.allowed = told and printable(told)
        self.remedy = remedy
        parts = [what]
        if got is not None:
            shown = repr(got)
            parts.append(f"got {shown if len(shown) <= 200 else shown[:197] + '...'}")
        if self.allowed:
            parts.append(f"allowed: {self.allowed}")
        if remedy:
            parts.append(remedy)
        super().__init__("; ".join(parts))


class SchemaError(IcgError):
    """A file or frame does not have the form that is documented for it."""


class UnknownName(IcgError):
    """A name (subtype, condition, model, dataset, judge ...) that nothing answers to."""

    @classmethod
    def among(cls, kind: str, got: str, known: Iterable[str]) -> UnknownName:
        """Build the error for `got`, with the closest known name as remedy."""
        names = sorted(known)
        close = get_close_matches(got, names, n=1)
        remedy = f"did you mean {close[0]!r}?" if close else None
        return cls(f"unknown {kind}", got=got, allowed=names, remedy=remedy)


class CacheMiss(IcgError):
    """A call that replay mode needs is not recorded."""


class CacheError(IcgError):
    """A cache whose files cannot be read or written."""


class ReplyError(IcgError):
    """A model's reply that cannot be used (refused, truncated, empty or unreadable)."""


class ImageError(IcgError):
    """An image that is missing or cannot be decoded to its last row."""


class CallError(IcgError):
    """A model call that failed for good (configuration, transport, budget)."""
