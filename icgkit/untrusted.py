"""Parse JSON and TOML that others wrote: bounded in size and depth, in linear time, with errors that name the place.

Every file of a stranger and every reply of a server is read through here, so that a number of 5,000
digits, nesting of 100,000 or broken UTF-8 is an error of `icgkit.errors` and never a traceback.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from typing import Any

from icgkit.errors import IcgError, SchemaError

_MAX_CHARS = 64_000_000
"""Characters of one JSON value; a reply with pictures in it stays far below."""
MAX_TOML = 1_000_000
MAX_DEPTH = 100
"""Lists and objects within each other; what is documented needs less than ten."""
MAX_DIGITS = 18
"""Digits of an integer, so that it fits 64 bits."""

_BRACKETS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]', re.S)


class _TooLarge(ValueError):
    pass


def too_deep(text: str, most: int = MAX_DEPTH) -> bool:
    """Say whether brackets outside of strings are nested more than `most` deep."""
    if text.count("[") + text.count("{") <= most:
        return False
    level = 0
    for token in _BRACKETS.finditer(text):
        mark = token.group()[0]
        if mark in "[{":
            level += 1
            if level > most:
                return True
        elif mark in "]}":
            level -= 1
    return False


def int_or_null(digits: str) -> int | None:
    """Return an integer of at most `MAX_DIGITS` digits, else None."""
    return int(digits) if len(digits) <= MAX_DIGITS else None


def float_or_null(text: str) -> float | None:
    """Return a finite number, else None."""
    number = float(text) if len(text) <= 400 else math.nan
    return number if math.isfinite(number) else None


# A JSON string may carry half a surrogate pair, which no file, frame or request can encode.
_HALF = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def _scrubbed(value: Any) -> Any:
    """Return the value with U+FFFD for every lone surrogate; its depth is bounded by now."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_scrubbed(v) for v in value]
    if isinstance(value, dict):
        return {_scrubbed(k): _scrubbed(v) for k, v in value.items()}
    return value


def _int(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _TooLarge(f"a number of {len(digits)} digits, at most {MAX_DIGITS} are allowed")
    return int(digits)


def _decoded(data: str | bytes, most: int) -> str:
    if len(data) > most:
        raise _TooLarge(f"{len(data):,} characters, at most {most:,} are read")
    return data.decode("utf-8-sig") if isinstance(data, (bytes, bytearray)) else data


def json_value(
    data: str | bytes, what: str, *, lenient: bool = False, error: type[IcgError] = SchemaError
) -> Any:
    """Parse a JSON text in UTF-8; `lenient` makes None of numbers that do not fit, else they are an error."""
    try:
        text = _decoded(data, _MAX_CHARS)
        if too_deep(text):
            raise _TooLarge(f"lists and objects nested more than {MAX_DEPTH} deep")
        if lenient:
            found = json.loads(
                text, parse_int=int_or_null, parse_float=float_or_null, parse_constant=lambda _: None
            )
        else:
            found = json.loads(text, parse_int=_int)
        return _scrubbed(found) if _HALF.search(text) else found
    except _TooLarge as exc:
        raise error(f"{what}: {exc}") from None
    except UnicodeDecodeError as exc:
        raise error(f"{what}: not UTF-8, byte {exc.start + 1}") from None
    except (ValueError, RecursionError) as exc:
        raise error(f"{what}: not JSON: {exc}") from None


def toml_table(data: str | bytes, what: str, *, error: type[IcgError] = SchemaError) -> dict[str, Any]:
    """Parse a TOML text, as `json_value` does for JSON."""
    try:
        text = _decoded(data, MAX_TOML)
        found = tomllib.loads(text)
        if _deep(found):
            raise _TooLarge(f"tables nested more than {MAX_DEPTH} deep")
    except _TooLarge as exc:
        raise error(f"{what}: {exc}") from None
    except UnicodeDecodeError as exc:
        raise error(f"{what}: not UTF-8, byte {exc.start + 1}") from None
    except (ValueError, RecursionError) as exc:
        raise error(f"{what}: not TOML: {exc}") from None
    return found


def _deep(value: Any) -> bool:
    level, left = 0, [value]
    while left:
        inner = [x.values() if isinstance(x, dict) else x for x in left if isinstance(x, (dict, list))]
        left = [v for values in inner for v in values]
        level += 1
        if level > MAX_DEPTH:
            return True
    return False
