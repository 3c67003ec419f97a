"""From a raw reply in the OpenAI form to text, status and counts; nothing is guessed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from icgkit.calls.keys import mask
from icgkit.errors import CallError
from icgkit.untrusted import json_value

_ENDED = frozenset({
    "stop", "end_turn", "eos", "eos_token", "end_of_text", "stop_sequence", "complete", "completed", "end", "finished", "done",
})  # fmt: skip
"""Finish reasons of a whole answer; compared without case, hyphens and the prefix FINISH_REASON."""
CUT = frozenset({
    "length", "max_tokens", "max_output_tokens", "max_completion_tokens", "max_length", "model_length", "token_limit",
    "model_context_window_exceeded", "context_window_exceeded", "context_length_exceeded", "continuation",
})  # fmt: skip
FILTERED = frozenset({
    "content_filter", "content_filtered", "content_filter_error", "content_policy_violation", "contentpolicyviolation",
    "contentpolicyviolationerror", "responsibleaipolicyviolation", "refusal", "refused", "safety", "recitation", "blocklist",
    "blocked", "prohibited_content", "spii", "sensitive", "guardrail", "guardrails", "guardrail_intervened", "moderation",
    "moderation_blocked", "image_safety", "image_prohibited_content", "image_recitation", "error_toxic",
    "data_inspection_failed", "datainspectionfailed", "language",
})  # fmt: skip
"""Finish reasons, and codes of errors, that mean: not this prompt, or not this answer."""
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
_CALLS = ("tool_calls", "function_call", "tool_use", "tool_call")
_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}")
_PLACEHOLDER = "$text"


def clean(text: str) -> str:
    """Replace lone surrogates, which JSON can spell and no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.translate(_SURROGATES)
    return text


def _reason(value: Any) -> str:
    word = str(value or "")[:100].strip().lower().replace("-", "_").replace(" ", "_")
    return word.rpartition(".")[2].removeprefix("finish_reason_")


def filtered(error: Any) -> bool:
    """Say whether an error body tells of a content filter: by its code or type, at any of the usual places."""
    body = _dict(error)
    inner = [_dict(body.get(k)) for k in ("error", "innererror", "inner_error")]
    if any(_reason(body.get(k)) in FILTERED for k in ("code", "type", "status", "reason")):
        return True
    return any(part and filtered(part) for part in inner)


def text_of(message: Mapping[str, Any]) -> str | None:
    """Return the text of a message whose content is a string, a list of parts, or nothing."""
    content = message.get("content")
    if isinstance(content, list):
        spoken = (None, "text", "output_text")  # not the thoughts
        parts = [p.get("text") for p in content if isinstance(p, dict) and p.get("type") in spoken]
        content = "".join(p for p in parts if isinstance(p, str))
    return clean(content) if isinstance(content, str) else None


def count(value: Any, most: int = 10**9) -> int | None:
    """Return a count of tokens, None if the value cannot be one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < most:
        return None
    return int(value)


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def first_choice(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first choice of a reply, empty if it has none."""
    choices = raw.get("choices")
    return _dict(choices[0]) if isinstance(choices, list) and choices else {}


def read_reply(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Read status, text, finish reason, refusal, token counts and answering model.

    `ok` needs text and an ending that is known to be whole (`_ENDED`), or a server that reports no endings
    at all; a `finish_reason` of null or one that nobody knows is an `error`, whatever text stands beside it.
    """
    first = first_choice(raw)
    message = _dict(first.get("message"))
    text = text_of(message)
    own = _dict(first.get("provider_specific_fields")) | _dict(message.get("provider_specific_fields"))
    finish = own.get("native_finish_reason") or first.get("finish_reason")
    finish = clean(str(finish))[:200] if finish is not None else None
    refusal = message.get("refusal") or own.get("refusal")
    ending = _reason(finish)
    error = error_in(raw)
    blank = not text or not text.strip()
    if refusal or ending in FILTERED or filtered(error):
        status, refusal = "refused", refusal or error
    elif error:
        status, refusal = "error", error
    elif ending in CUT:
        status = "truncated"
    elif ending not in _ENDED and finish is not None and not (blank and ending in _CALLS):
        status, refusal = "error", f"finish_reason {finish!r}"
    elif blank:
        status = "empty"
    elif finish is None and "finish_reason" in first:
        status, refusal = "error", "finish_reason null: the answer is not finished"
    else:
        status = "ok"
    if refusal and not isinstance(refusal, str):
        refusal = _dumped(refusal)
    usage = _dict(raw.get("usage"))
    details = _dict(usage.get("completion_tokens_details"))
    model = raw.get("model")
    return {
        "status": status,
        "text": text,
        "finish_reason": finish,
        "refusal": mask(clean(refusal))[:2000] if refusal else None,
        "input_tokens": count(usage.get("prompt_tokens"), 2**53),
        "output_tokens": count(usage.get("completion_tokens"), 2**53),
        "reasoning_tokens": count(details.get("reasoning_tokens"), 2**53),
        "answered_model": str(model) if model else None,
    }


def error_in(raw: Mapping[str, Any]) -> Any:
    """Return the error that a reply with HTTP status 200 tells of, in itself or in its choice; None without one."""
    first = first_choice(raw)
    own = _dict(first.get("provider_specific_fields"))
    return raw.get("error") or first.get("error") or own.get("error") or None


def read_stream(data: bytes) -> dict[str, Any]:
    """Put a reply that came as server-sent events together: one reply in the OpenAI form."""
    whole: dict[str, Any] = {}
    said: dict[str, list[str]] = {"content": [], "refusal": [], "reasoning_content": []}
    choice: dict[str, Any] = {"index": 0, "finish_reason": None}
    for line in data.replace(b"\r", b"\n").split(b"\n"):
        event = line.removeprefix(b"data:").strip()
        if not line.startswith(b"data:") or not event or event == b"[DONE]":
            continue
        part = _dict(json_value(event, "an event of the stream", lenient=True, error=CallError))
        whole |= {k: v for k, v in part.items() if k not in ("choices", "object") and v is not None}
        first = first_choice(part)
        if first.get("index") in (None, 0):
            choice |= {k: v for k, v in first.items() if k not in ("delta", "message") and v is not None}
            delta = _dict(first.get("delta")) or _dict(first.get("message"))
            for name, texts in said.items():
                if isinstance(delta.get(name), str):
                    texts.append(delta[name])
    message = {"role": "assistant"} | {k: "".join(v) for k, v in said.items() if v}
    return whole | {"object": "chat.completion", "choices": [choice | {"message": message}]}


def _dumped(value: Any) -> str:
    try:
        return json.dumps(value, default=str)
    except (ValueError, RecursionError):
        return "an error that is nested too deep to be shown"


def pack_raw(raw: Mapping[str, Any], text: str | None) -> str:
    """Return the raw reply as JSON; where it repeats the text there is a placeholder."""
    data = {k: v for k, v in raw.items() if not k.startswith("_") and v is not None}
    first = first_choice(data)
    message = _dict(first.get("message"))
    if text and message.get("content") == text:
        told = {**first, "message": {**message, "content": _PLACEHOLDER}}
        data["choices"] = [told, *data["choices"][1:]]
    try:
        return json.dumps(data, allow_nan=False, separators=(",", ":"), default=str)
    except ValueError:
        return json.dumps(_finite(data), separators=(",", ":"), default=str)
    except RecursionError:
        return "{}"


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    return [_finite(v) for v in value] if isinstance(value, list) else value


def unpack_raw(raw: str, text: str | None) -> dict[str, Any]:
    """Return the raw reply with its text put back."""
    found = json_value(raw, "raw reply", lenient=True)  # a cache may be somebody else's
    data: dict[str, Any] = _dict(found)
    message = _dict(first_choice(data).get("message"))
    if message.get("content") == _PLACEHOLDER:
        message["content"] = text
    return data


class Failed(Exception):
    """One attempt that gave no reply."""

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
    """Say whether every further call of the same model would fail in the same way."""
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
