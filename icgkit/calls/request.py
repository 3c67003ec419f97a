"""What is asked of a model: the request, and the hash that it is recorded and replayed by.

A request is addressed by the hash of what is sent: model, messages (images by the hash of their
bytes), all parameters, endpoint, sample index. How fast and how often it is sent (limits, time-outs,
retries) does not enter. Three ways lead to a model, see `icgkit.calls.transports`; all give the same records.
"""

from __future__ import annotations

import binascii
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from icgkit.calls import keys
from icgkit.calls.keys import load_litellm, mask_keys
from icgkit.calls.record import SLOT, Record
from icgkit.cases.images import DataURL, data_url
from icgkit.errors import CallError

TRANSPORT = ("api_key", "api_key_env", "headers_env", "timeout", "num_retries", "max_retries")
"""Parameters that do not change what is asked, and never enter a key or a record."""
REDO = frozenset({"error", "empty"})
"""Statuses that the next run tries again."""
UNSET = "unset"
"""Value of a parameter that takes it out again: TOML has no null."""
_TAGS = {"kind": "elicit", "dataset": "", "case_id": "", "condition": ""} | dict.fromkeys(
    ("stage", "subject", "subject_model", "template_sha256", "label")
)
"""Tags that are fields of a record, and what they are where they are not given."""
PIXEL = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)
PICTURE: list[dict[str, Any]] = [
    {
        "role": "user",
        "content": [{"type": "image_url", "image_url": {"url": PIXEL}}, {"type": "text", "text": "x"}],
    }
]
"""The smallest message with an image, to try a way to a model by."""


@dataclass(frozen=True, slots=True)
class Request:
    """One call to be made.

    Parameters
    ----------
    model : str
        Name as litellm spells it (`gpt-4o`, `anthropic/claude-...`, `openai/NAME` with `api_base`
        for any server that speaks the OpenAI form, `offline/NAME`).
    messages : list of dict
        Chat messages in the OpenAI form.
    params : mapping
        Parameters of the call (temperature, max_tokens, seed, api_base, extra_body ...).
        `api_key_env` names the environment variable that holds the key.
    sample : int
        Index of a repeat; each index is a call of its own.
    tags : mapping
        What the call is for: kind, dataset, case_id, condition, stage, subject, subject_model,
        template_sha256; `label` is what the model is called in results. Others are kept as JSON.
    then : callable, optional
        Gets the record, made or replayed, and returns the requests that build on it (the next
        step of a chain, a judge); they are made in the same run.
    prompt : Prompt, optional
        The messages with their hash, where it has been worked out already.
    """

    model: str
    messages: list[dict[str, Any]]
    params: Mapping[str, Any] = field(default_factory=dict)
    sample: int = 0
    tags: Mapping[str, Any] = field(default_factory=dict)
    then: Callable[[Record], Iterable[Request]] | None = field(default=None, compare=False, repr=False)
    prompt: Prompt | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Prompt:
    """Messages with what is hashed of them; shared by all models that get them."""

    messages: list[dict[str, Any]]
    skeleton: str
    """The messages as JSON, with `sha256:...` where an image goes."""
    images: tuple[str, ...]
    sha256: str

    @classmethod
    def of(cls, messages: list[dict[str, Any]]) -> Prompt:
        """Hash messages."""
        bare, urls = _without_images(messages)
        skeleton = json.dumps(bare, separators=(",", ":"), ensure_ascii=True)
        return cls(messages, skeleton, tuple(urls), hashlib.sha256(skeleton.encode()).hexdigest()[:32])


@dataclass(frozen=True, slots=True)
class Addressed:
    """A request with its key and the pieces that were hashed on the way."""

    request: Request
    key: str
    prompt: Prompt
    endpoint: str | None

    @property
    def skeleton(self) -> str:
        """The messages as JSON, with `sha256:...` where an image goes."""
        return self.prompt.skeleton

    @property
    def images(self) -> tuple[str, ...]:
        """The images' data URLs."""
        return self.prompt.images

    @property
    def slot(self) -> tuple[str | None, ...]:
        """The record's `slot`, before there is a record."""
        tags = self.request.tags
        return (self.key, *(tags.get(name, _TAGS[name]) for name in SLOT[1:]))


def provider_of(model: str) -> str:
    """Return the part of a model's name before the first slash, empty if there is none."""
    return model.split("/", 1)[0] if "/" in model else ""


def endpoint_of(model: str, params: Mapping[str, Any]) -> str | None:
    """Return the base address that a call goes to, or None for the provider's own."""
    base = params.get("api_base") or params.get("base_url")
    provider = provider_of(model)
    if not base and provider != "offline":
        names = keys.provider(provider or "openai").addresses
        base = next((os.environ[n] for n in names if os.environ.get(n)), None)
        if base and not provider and _provider_of_bare(model) != "openai":
            return endpoint_of(f"{_provider_of_bare(model)}/{model}", params)
    return str(base).strip().rstrip("/") if base else None


@lru_cache(maxsize=256)
def _provider_of_bare(model: str) -> str:
    """Return the provider of a name without a slash; only where an address of OpenAI's is set, for it takes litellm."""
    try:
        return str(load_litellm().get_llm_provider(model)[1])
    except Exception:  # said by open_transport, with the reason
        return "openai"


def sent_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that matter for the answer: all but transport and address."""
    if "api_key" in params:
        raise CallError(
            "a key among the parameters of a model", remedy="name its environment variable as api_key_env"
        )
    return {k: v for k, v in params.items() if k not in TRANSPORT and k not in ("api_base", "base_url")}


def merged(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Lay parameters over each other; a value of "unset" (or None) takes one out."""
    whole: dict[str, Any] = {}
    for layer in layers:
        whole.update(layer)
    return {k: v for k, v in whole.items() if v is not None and v != UNSET}


def _canonical(parts: Any) -> str:
    return json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str)


class Params(dict[str, Any]):
    """Parameters that are used for many requests: what enters a key is worked out once."""

    @cached_property
    def canonical(self) -> str:
        """The parameters that matter for the answer, as canonical JSON."""
        return _canonical(sent_params(self))


def image_sha(url: str) -> str:
    """Return the hash of the bytes of a data URL, of the address itself for another URL."""
    known = getattr(url, "sha256", None)
    if known:
        return str(known)
    if url.startswith("data:") and ";base64," in url:
        import base64

        return hashlib.sha256(base64.b64decode(url.split(",", 1)[1])).hexdigest()
    return hashlib.sha256(url.encode()).hexdigest()


def hashed_url(url: str) -> str:
    """Return a data URL with the hash of its bytes, worked out once; any other address as it is."""
    if isinstance(url, DataURL) or not _DATA_URL.match(url):
        return url
    try:
        data = binascii.a2b_base64(url.partition(",")[2], strict_mode=True)
    except ValueError:
        return url
    return data_url(url, hashlib.sha256(data).hexdigest())


_DATA_URL = re.compile(r"data:[\w.+-]+/[\w.+-]+;base64,", re.ASCII)
"""What has nothing in it that JSON escapes, once its body is base64."""


def _without_images(messages: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    bare, urls = [], []
    for message in messages:
        content = message.get("content")
        if isinstance(content, list):
            parts = []
            for part in content:
                if part.get("type") == "image_url":
                    url = hashed_url(part["image_url"]["url"])
                    urls.append(url)
                    part = {**part, "image_url": {**part["image_url"], "url": f"sha256:{image_sha(url)}"}}
                parts.append(part)
            message = {**message, "content": parts}
        bare.append(dict(message))
    return bare, urls


def address(request: Request) -> Addressed:
    """Compute the key of a request and what else is hashed."""
    prompt = request.prompt or Prompt.of(request.messages)
    params = request.params
    sent = params.canonical if isinstance(params, Params) else _canonical(sent_params(params))
    endpoint = endpoint_of(request.model, params)
    model, base = json.dumps(request.model), json.dumps(endpoint)
    words = f'["icgkit-1",{model},"{prompt.sha256}",{sent},{base},{request.sample}]'
    return Addressed(request, hashlib.sha256(words.encode()).hexdigest()[:32], prompt, endpoint)


def request_key(request: Request) -> str:
    """Return the content address of a request: 32 hex digits of SHA-256."""
    return address(request).key


def purpose_of(request: Request) -> dict[str, Any]:
    """Return the fields of a record that say what the call is for."""
    tags = request.tags
    extra = {name: value for name, value in tags.items() if name not in _TAGS}
    told = json.dumps(extra, sort_keys=True, default=str) if extra else None
    return {name: tags.get(name, default) for name, default in _TAGS.items()} | {"extra": told}


def record_for(asked: Addressed, **answer: Any) -> Record:
    """Build the record of a call from its request and the fields of the answer."""
    request = asked.request
    if "params" not in answer:
        answer["params"] = json.dumps(sent_params(request.params), sort_keys=True, default=str)
    return Record(
        key=asked.key,
        model=request.model,
        sample=request.sample,
        prompt_sha256=asked.prompt.sha256,
        image_sha256=image_sha(asked.images[0]) if asked.images else None,
        endpoint=mask_keys(asked.endpoint) if asked.endpoint else None,
        **purpose_of(request),
        **without_keys(answer),
    )


def without_keys(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an answer without the values of keys, which a server may have echoed."""
    return {k: mask_keys(v) if isinstance(v, str) else v for k, v in answer.items()}
