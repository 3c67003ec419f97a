"""One recorded call: its fields, and the line of JSON that it is written as and read from."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from functools import cache
from operator import attrgetter
from typing import Any

from icgkit.errors import SchemaError
from icgkit.schemas import schema

STATUSES = ("ok", "truncated", "refused", "empty", "error")
SLOT = ("key", "kind", "dataset", "case_id", "condition", "stage", "subject", "label")
"""Fields that tell records apart: the same call may serve two cases."""
NEEDED = ("key", "kind", "dataset", "case_id", "condition", "model", "status")
"""Fields without which a record says nothing."""
_STRICT = frozenset({*NEEDED, "sample", "text"})
"""Fields whose value is never put right: with a wrong one the record counts as damaged."""
_slot = attrgetter(*SLOT)


@dataclass(frozen=True, slots=True)
class Record:
    """One model call with its answer (schema `calls`).

    `key` addresses what was sent; `kind` (elicit, judge, stage ...), dataset, case, condition,
    `stage` (name of the stage or judge), `subject` (key of the response that is judged) and
    `subject_model` say what it was for. `label` is what the model is called in results, where not by its name.
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
    label: str | None = None

    @property
    def slot(self) -> tuple[str | None, ...]:
        """What tells records apart, see `SLOT`."""
        found: tuple[str | None, ...] = _slot(self)
        return found

    @property
    def why(self) -> str:
        """Why there is no answer, in words; empty for `ok`."""
        told = {
            "ok": "",
            "error": self.refusal or "error",
            "truncated": f"truncated: the reply stopped at its token limit ({self.finish_reason})",
            "refused": f"refused: {self.refusal or self.finish_reason}",
        }
        return told.get(self.status, f"empty: a reply without text (finish reason {self.finish_reason})")


NAMES = tuple(f.name for f in fields(Record))
DEFAULTS = {f.name: f.default for f in fields(Record) if isinstance(f.default, (str, int, float))}
del DEFAULTS["status"]


@cache
def _dtypes() -> dict[str, str]:
    return {name: column.dtype for name, column in schema("calls").columns.items() if name in NAMES}


def _fitted(dtype: str, value: Any) -> Any:
    """Return the value as a column of this dtype can hold it, or raise ValueError."""
    if dtype == "String":
        if not isinstance(value, str):
            raise ValueError
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError
    if dtype == "Int64":
        if value != value // 1 or not -(2**63) <= value < 2**63:  # NaN and infinities fail the first
            raise ValueError
        return int(value)
    if not -1.8e308 < value < 1.8e308:
        raise ValueError
    return float(value)


def _mended(data: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return a record's fields with values that its columns can hold, and whether polars would read the data otherwise.

    What is absent gets its default, as in lines of older versions; a number or a note that no column can
    hold becomes null, so that the answer is kept. Without its key, purpose, status or text a record is
    damaged: ValueError.
    """
    dtypes, made, odd = _dtypes(), {}, False
    for name, value in data.items():
        if value is None or name not in dtypes:
            continue
        try:
            good = _fitted(dtypes[name], value)
        except (ValueError, OverflowError):
            if name in _STRICT:
                raise ValueError(f"{name} cannot be {type(value).__name__} {value!r:.40}") from None
            odd = True
            continue
        odd = odd or good != value or type(good) is not type(value)
        made[name] = good
    if missing := [name for name in NEEDED if name not in made]:
        raise ValueError(f"lacks {', '.join(missing)}")
    if made["status"] not in STATUSES:
        raise ValueError(f"status {made['status']!r:.40}")
    return made, odd or not ("sample" in made and "attempts" in made and "params" in made)


def _given(record: Record) -> dict[str, Any]:
    return {name: value for name in NAMES if (value := getattr(record, name)) is not None}


def whole(record: Record) -> Record:
    """Return the record as it can be kept, or raise SchemaError."""
    try:
        made, odd = _mended(_given(record))
    except ValueError as exc:
        raise SchemaError(f"a record that cannot be kept: {exc}") from None
    return Record(**made) if odd else record


def to_line(record: Record) -> bytes:
    """Return a record as its line."""
    return json.dumps(_given(record), separators=(",", ":"), allow_nan=False).encode() + b"\n"


def from_line(line: bytes) -> tuple[Record, bool]:
    """Read a line, and say whether polars would read it otherwise; ValueError says what is wrong with a damaged one."""
    try:
        data = json.loads(line)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if not isinstance(data, dict):
        raise ValueError("no JSON object")
    made, odd = _mended(data)
    return Record(**made), odd


def relabel(record: Record, **what: Any) -> Record:
    """Return the record for another purpose (case, condition, stage) at no further cost."""
    return replace(record, cost=0.0 if record.cost is not None else None, **what)
