"""From a raw reply in the OpenAI form to text, status and counts; nothing is guessed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

FILTERED = frozenset(
    {"content_filter", "refusal", "safety", "recitation", "blocklist", "prohibited_content", "spii"}
)
_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}")
_PLACEHOLDER = "$text"


def clean(text: str) -> str:
    """Replace lone surrogates, which JSON can spell and no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.translate(_SURROGATES)
    return text


def text_of(message: Mapping[str, Any]) -> str | None:
    """Return the text of a message whose content is a string, a list of parts, or nothing."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [p.get("text") for p in content if isinstance(p, dict)]
        content = "".join(p for p in parts if isinstance(p, str))
    return clean(content) if isinstance(content, str) else None


def _whole(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return int(value)


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def read_reply(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Read status, text, finish reason, refusal, token counts and answering model.

    `refused` is a filter's finish reason or an explicit refusal; `truncated` a finish reason of
    `length`, with or without text; `empty` a reply without choices or without text.

    Examples
    --------
    >>> read_reply({"choices": [{"message": {"content": None}, "finish_reason": "length"}]})["status"]
    'truncated'
    >>> read_reply({"choices": None})["status"]
    'empty'
    """
    choices = raw.get("choices")
    first = _dict(choices[0]) if isinstance(choices, list) and choices else {}
    message = _dict(first.get("message"))
    text = text_of(message)
    finish = first.get("finish_reason")
    finish = str(finish) if finish is not None else None
    refusal = message.get("refusal") or _dict(message.get("provider_specific_fields")).get("refusal")
    if refusal or (finish or "").lower() in FILTERED:
        status = "refused"
    elif finish == "length":
        status = "truncated"
    elif not text or not text.strip():
        status = "empty"
    else:
        status = "ok"
    usage = _dict(raw.get("usage"))
    details = _dict(usage.get("completion_tokens_details"))
    model = raw.get("model")
    return {
        "status": status,
        "text": text,
        "finish_reason": finish,
        "refusal": clean(str(refusal)) if refusal else None,
        "input_tokens": _whole(usage.get("prompt_tokens")),
        "output_tokens": _whole(usage.get("completion_tokens")),
        "reasoning_tokens": _whole(details.get("reasoning_tokens")),
        "answered_model": str(model) if model else None,
    }


def pack_raw(raw: Mapping[str, Any], text: str | None) -> str:
    """Return the raw reply as JSON; where it repeats the text there is a placeholder.

    NaN and Infinity become null, so that what is written is JSON.
    """
    data = {k: v for k, v in raw.items() if not k.startswith("_") and v is not None}
    choices = data.get("choices")
    if text and isinstance(choices, list) and choices and isinstance(choices[0], dict):
        message = choices[0].get("message")
        if isinstance(message, dict) and message.get("content") == text:
            first = {**choices[0], "message": {**message, "content": _PLACEHOLDER}}
            data["choices"] = [first, *choices[1:]]
    try:
        out = json.dumps(data, allow_nan=False, separators=(",", ":"), default=str)
    except ValueError:
        out = json.dumps(_finite(data), separators=(",", ":"), default=str)
    return out


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    return [_finite(v) for v in value] if isinstance(value, list) else value


def unpack_raw(raw: str, text: str | None) -> dict[str, Any]:
    """Return the raw reply with its text put back.

    Examples
    --------
    >>> reply = {"choices": [{"message": {"content": "Hi"}}]}
    >>> unpack_raw(pack_raw(reply, "Hi"), "Hi") == reply
    True
    """
    data: dict[str, Any] = json.loads(raw)
    choices = data.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        message = _dict(choices[0].get("message"))
        if message.get("content") == _PLACEHOLDER:
            message["content"] = text
    return data
