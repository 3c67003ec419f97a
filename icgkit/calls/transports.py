"""Three ways to a model: the OpenAI form straight over HTTP, litellm, and the offline worker.

All take an addressed request and give the reply as a dict in the OpenAI form, or raise `Failed`.
Names, parameters, keys and prices are litellm's in each of them.
"""

from __future__ import annotations

import io
import json
import os
import sys
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urljoin, urlsplit, urlunsplit

from icgkit.calls.failures import PASSING, Failed
from icgkit.calls.keys import is_cloud, known_keys
from icgkit.calls.limits import Limits, retry_after
from icgkit.calls.reply import filtered, read_stream
from icgkit.cases.images import DataURL
from icgkit.errors import CallError
from icgkit.untrusted import json_value

if TYPE_CHECKING:
    import aiohttp

    from icgkit.calls.opening import Route
    from icgkit.calls.request import Addressed

OPENAI_FORM = frozenset(
    {"openai", "custom_openai", "hosted_vllm", "lm_studio", "litellm_proxy", "openai_like"}
)
"""Providers whose messages go over the wire as they are."""


class Lane(Protocol):
    """A way to one model with one set of parameters."""

    provider: str
    params: dict[str, Any]
    """Effective parameters, as recorded."""

    async def send(self, asked: Addressed) -> dict[str, Any]:
        """Send once; return the reply in the OpenAI form or raise `Failed`."""
        ...

    async def close(self) -> None:
        """Free what the lane holds."""
        ...


def load_litellm() -> Any:
    """Import litellm with its bundled lists, without network, without chatter, without a `.env` of its own."""
    if "litellm" not in sys.modules:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        os.environ.setdefault("LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS", "True")
        os.environ.setdefault("LITELLM_LOG", "ERROR")
        os.environ["LITELLM_MODE"] = "PRODUCTION"  # else it reads `.env` of any parent directory
    with warnings.catch_warnings():
        # What its models and pydantic say to each other while they are imported is not for our user.
        warnings.simplefilter("ignore")
        import litellm
    litellm.suppress_debug_info = True
    litellm.drop_params = False
    return litellm


class StraightLane:
    """The OpenAI form over one kept aiohttp session; the body is put together once."""

    def __init__(self, route: Route, params: dict[str, Any], limits: Limits) -> None:
        self.provider, self.params = route.provider, params
        self.route, self.key = route, route.key
        assert route.address is not None
        self.base = route.address.rstrip("/")
        whole = urlsplit(self.base)
        self._url = urlunsplit(whole._replace(path=whole.path.rstrip("/") + "/chat/completions"))
        self._limits = limits
        self._session: aiohttp.ClientSession | None = None
        body = {k: v for k, v in params.items() if k not in ("extra_body", "extra_headers")}
        body |= params.get("extra_body") or {}
        self._tail = "," + json.dumps(body)[1:] if body else "}"
        self._head = '{"model":' + json.dumps(route.sent_as) + ',"messages":'
        self._headers = {"Content-Type": "application/json", **(params.get("extra_headers") or {})}
        if route.key:
            self._headers["Authorization"] = f"Bearer {route.key}"
        self._headers |= route.headers

    def body(self, asked: Addressed) -> bytes:
        """Return the bytes to send; images go in as they are, unparsed."""
        from icgkit.calls.request import image_sha

        data = (self._head + asked.skeleton + self._tail).encode()
        for url in asked.images:
            token = f'"url":"sha256:{image_sha(url)}"'.encode()
            plain = isinstance(url, DataURL)  # has nothing in it that JSON escapes
            sent = url.encode() if plain else json.dumps(url)[1:-1].encode()
            before, found, after = data.partition(token)
            data = b"".join((before, b'"url":"', sent, b'"', after)) if found else data
        return data

    def _open(self) -> aiohttp.ClientSession:
        import aiohttp

        limits = self._limits
        timeout = aiohttp.ClientTimeout(
            total=limits.timeout, sock_connect=limits.connect_timeout, sock_read=limits.timeout
        )
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=60)
        return aiohttp.ClientSession(connector=connector, timeout=timeout, proxy=proxy_for(self._url))

    async def send(self, asked: Addressed) -> dict[str, Any]:
        """Post once."""
        import aiohttp

        if self._session is None:
            self._session = self._open()
        try:
            status, headers, got = await self._post(self._session, self.body(asked))
        except aiohttp.ConnectionTimeoutError as exc:
            raise Failed(f"Timeout: {exc}", passing=True) from None
        except TimeoutError as exc:
            raise Failed(f"Timeout: {exc or 'no answer in time'}", passing=True, reached=True) from None
        except aiohttp.ClientError as exc:
            away = isinstance(exc, aiohttp.ClientConnectorError | aiohttp.InvalidURL)
            wrong = isinstance(exc, aiohttp.InvalidURL | aiohttp.NonHttpUrlClientError)
            like = 404 if wrong else None  # an address that is none is like one where nothing is
            raise Failed(
                f"{type(exc).__name__}: {exc}", passing=not wrong, status=like, reached=not away
            ) from None
        except ValueError as exc:
            raise Failed(f"address {self._url}: {exc}", passing=False, status=404) from None
        if status != 200:
            text = got[:1000].decode("utf-8", "replace")
            raise Failed(
                f"HTTP {status}: {text}",
                refused=_turned_down(got),
                passing=status in PASSING,
                after=retry_after(headers.get("Retry-After"), headers.get("retry-after-ms")),
                status=status,
            )
        try:
            events = got.lstrip().startswith((b"data:", b"event:"))
            raw = read_stream(got) if events else json_value(got, "reply", lenient=True, error=CallError)
        except CallError as exc:
            raise Failed(f"reply is not JSON: {exc}", passing=True, reached=True) from None
        if not isinstance(raw, dict):
            raise Failed("reply is not a JSON object", passing=True, reached=True)
        raw.pop("_cost", None)  # what a server says there is not believed
        return raw

    async def _post(
        self, session: aiohttp.ClientSession, body: bytes
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Post, and follow a redirect only within the server that the user named."""
        import aiohttp

        url = self._url
        for _ in range(3):
            data = aiohttp.BytesIOPayload(io.BytesIO(body))
            async with session.post(url, data=data, headers=self._headers, allow_redirects=False) as reply:
                got = await reply.read()
                status, headers = reply.status, reply.headers
            if status not in (301, 302, 303, 307, 308):
                return status, headers, got
            target = urljoin(url, headers.get("Location", ""))
            old, new = urlsplit(self._url), urlsplit(target)
            if status == 303 or (new.scheme, new.netloc) != (old.scheme, old.netloc):
                break
            url = target
        raise Failed(
            f"HTTP {status}: the server sends the call on to {target[:200]}; if that is right, name it as api_base",
            passing=False,
            status=404,  # stops the model: every call would end so
        )

    async def close(self) -> None:
        """Close the session."""
        if self._session is not None:
            await self._session.close()


def proxy_for(url: str) -> str | None:
    """Return the proxy that the environment names for an address, found once and not for each call."""
    from urllib.parse import urlsplit
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    if parts.hostname is None or proxy_bypass(parts.hostname):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


class LitellmLane:
    """Any provider, through litellm.acompletion."""

    def __init__(self, route: Route, params: dict[str, Any], limits: Limits) -> None:
        import httpx

        self.provider, self.params = route.provider, params
        self._model = route.model
        self._call = {
            **params,
            "api_base": route.address if route.named else None,
            "api_key": sent_key(route),
        }
        if route.headers:
            self._call["extra_headers"] = {**(params.get("extra_headers") or {}), **route.headers}
        self._timeout = httpx.Timeout(limits.timeout, connect=limits.connect_timeout)

    async def send(self, asked: Addressed) -> dict[str, Any]:
        """Call once, without litellm's own retries."""
        litellm = load_litellm()
        try:
            reply = await litellm.acompletion(
                model=self._model,
                messages=asked.request.messages,
                timeout=self._timeout,
                num_retries=0,
                max_retries=0,
                **self._call,
            )
        except Exception as exc:
            raise failed(exc) from None
        raw: dict[str, Any] = reply.model_dump()
        hidden = getattr(reply, "_hidden_params", None) or {}
        raw["_cost"] = hidden.get("response_cost")
        return raw

    async def close(self) -> None:
        """Nothing is held."""


def sent_key(route: Route) -> str | None:
    """Return the key to hand to litellm; None where it signs in by itself.

    Without one litellm takes OPENAI_API_KEY for many a server, so it is given a word instead.
    """
    if is_cloud(route.provider) or route.key_name == "ANTHROPIC_AUTH_TOKEN":
        own = route.key_name in ("AZURE_API_KEY", "AZURE_OPENAI_API_KEY", "AWS_BEARER_TOKEN_BEDROCK")
        return route.key if own or route.key_name not in known_keys() else None
    return route.key or "none"


def _turned_down(body: bytes) -> bool:
    """Say whether the body of an HTTP error tells of a content filter."""
    try:
        return filtered(json_value(body, "reply", lenient=True, error=CallError))
    except CallError:
        return False


def failed(exc: Exception) -> Failed:
    """Turn an exception of litellm into a failed attempt."""
    status = getattr(exc, "status_code", None)
    response = getattr(exc, "response", None)
    headers = getattr(exc, "litellm_response_headers", None) or getattr(response, "headers", None) or {}
    name = type(exc).__name__
    passing = name in ("Timeout", "APIConnectionError") or status in PASSING
    if name in (
        "ContentPolicyViolationError",
        "UnsupportedParamsError",
        "AuthenticationError",
        "NotFoundError",
    ):
        passing = False
    body = getattr(exc, "body", None)
    told = str(exc)
    if not body and "{" in told:  # many providers' errors hold the server's words as text
        try:
            body = json_value(
                told[told.index("{") : told.rindex("}") + 1], "error", lenient=True, error=CallError
            )
        except (CallError, ValueError):
            body = None
    return Failed(
        f"{name}: {exc}",
        refused=name == "ContentPolicyViolationError"
        or filtered({"code": getattr(exc, "code", None), "error": body}),
        passing=passing,
        after=retry_after(headers.get("retry-after"), headers.get("retry-after-ms")),
        status=None if name in ("Timeout", "APIConnectionError") else status,
        reached=name in ("Timeout", "APIConnectionError") and "refused" not in str(exc).lower(),
    )
