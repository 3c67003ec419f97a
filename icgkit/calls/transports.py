"""Three ways to a model: the OpenAI form straight over HTTP, litellm, and the offline worker.

All take an addressed request and give the reply as a dict in the OpenAI form, or raise `Failed`.
Names, parameters, keys and prices are litellm's in each of them.

Before the first call it is checked that each way can be walked. A request leaves only for an address that
the user named (parameter `api_base`, or the provider's variable) or that is the provider's own; a key goes
there and nowhere else.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urljoin, urlsplit, urlunsplit

from icgkit.calls import keys
from icgkit.calls.keys import load_litellm
from icgkit.calls.limits import Limits, retry_after
from icgkit.calls.reply import PASSING, Failed, filtered, read_stream
from icgkit.calls.request import PICTURE, PIXEL, Addressed, endpoint_of, image_sha, provider_of, sent_params
from icgkit.calls.worker import OfflineTransport
from icgkit.cases.images import DataURL
from icgkit.errors import CallError
from icgkit.untrusted import json_value

if TYPE_CHECKING:
    import aiohttp

OPENAI_FORM = frozenset(
    {"openai", "custom_openai", "hosted_vllm", "lm_studio", "litellm_proxy", "openai_like"}
)
"""Providers whose messages go over the wire as they are."""


OPENAI = "https://api.openai.com/v1"
_BY_BROWSER = ("chatgpt", "github_copilot")


@dataclass(frozen=True)
class Route:
    """Where the calls of one model go, and what they carry; keys are named, not shown."""

    model: str
    """As asked."""
    provider: str
    sent_as: str
    """Name of the model on the wire."""
    address: str | None
    """None for an address that only litellm knows."""
    named: bool
    """Whether the user named the address."""
    key_name: str | None = None
    """Variable whose value is sent as the key."""
    key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Secret headers, read from `variables`."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Header to the variable that holds it, as `headers_env` says."""
    notes: tuple[str, ...] = ()
    """What a reader should see before the first call."""
    missing: str | None = None
    """The key that is not there, with what to do about it."""

    def text(self) -> str:
        """Return one line: model, address, name of the key's variable."""
        where = self.address or f"{self.provider}'s own address"
        key = f"key from {self.key_name}" if self.key_name and not self.missing else "no key"
        if self.missing:
            key = f"NO KEY: {self.missing}"
        more = "".join(f"; {header} from {name}" for header, name in self.variables.items())
        return f"{self.model} -> {where} ({key}{more})"


class Transport(Protocol):
    """A way to one model with one set of parameters."""

    provider: str
    params: dict[str, Any]
    """Effective parameters, as recorded."""

    async def send(self, asked: Addressed) -> dict[str, Any]:
        """Send once; return the reply in the OpenAI form or raise `Failed`."""
        ...

    async def close(self) -> None:
        """Free what the transport holds."""
        ...


class OpenAITransport:
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
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    if parts.hostname is None or proxy_bypass(parts.hostname):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


class LitellmTransport:
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
    """Return the key to hand to litellm; None where it signs in by itself."""
    if keys.provider(route.provider).cloud or route.key_name == "ANTHROPIC_AUTH_TOKEN":
        own = route.key_name in ("AZURE_API_KEY", "AZURE_OPENAI_API_KEY", "AWS_BEARER_TOKEN_BEDROCK")
        return route.key if own or route.key_name not in keys.known_keys() else None
    return route.key or "none"  # without one litellm takes OPENAI_API_KEY for many a server


def _turned_down(body: bytes) -> bool:
    """Say whether the body of an HTTP error tells of a content filter."""
    try:
        return filtered(json_value(body, "reply", lenient=True, error=CallError))
    except CallError:
        return False


_NO_ANSWER = ("Timeout", "APIConnectionError")
_NEVER = ("ContentPolicyViolationError", "UnsupportedParamsError", "AuthenticationError", "NotFoundError")


def failed(exc: Exception) -> Failed:
    """Turn an exception of litellm into a failed attempt."""
    name, told = type(exc).__name__, str(exc)
    status, body = getattr(exc, "status_code", None), getattr(exc, "body", None)
    response = getattr(exc, "response", None)
    headers = getattr(exc, "litellm_response_headers", None) or getattr(response, "headers", None) or {}
    if not body and "{" in told:  # many providers' errors hold the server's words as text
        with suppress(CallError, ValueError):
            inner = told[told.index("{") : told.rindex("}") + 1]
            body = json_value(inner, "error", lenient=True, error=CallError)
    blocked = name == "ContentPolicyViolationError"
    return Failed(
        f"{name}: {exc}",
        refused=blocked or filtered({"code": getattr(exc, "code", None), "error": body}),
        passing=name not in _NEVER and (name in _NO_ANSWER or status in PASSING),
        after=retry_after(headers.get("retry-after"), headers.get("retry-after-ms")),
        status=None if name in _NO_ANSWER else status,
        reached=name in _NO_ANSWER and "refused" not in told.lower(),
    )


def route_of(asked: Addressed) -> Route:
    """Work out where a request would go and which key it would carry, without sending anything."""
    name, params = asked.request.model, asked.request.params
    keys.load_env(also=keys.named_variables(params))
    keys.refuse_secrets(name, params, asked.endpoint)
    if name.split("/")[0] in _BY_BROWSER:
        raise CallError(f"model {name}: its provider signs in by browser, which icgkit does not do")
    litellm = load_litellm()
    key_name = params.get("api_key_env")
    key = keys.read_key(str(key_name)) if key_name else None
    missing = f"environment variable {key_name} is not set" if key_name and key is None else None
    try:
        sent_as, provider, found_key, base = litellm.get_llm_provider(
            name, api_base=asked.endpoint, api_key=key
        )
    except Exception as exc:
        raise CallError(
            f"unknown model {name!r}",
            got=keys.mask(str(exc).split("\n")[0][:200]),
            remedy="see https://docs.litellm.ai/docs/providers; a server that speaks the OpenAI form is "
            "openai/NAME with api_base",
        ) from None
    endpoint = asked.endpoint
    if endpoint is None and "/" not in name and provider != "openai":
        endpoint = endpoint_of(f"{provider}/{sent_as}", params)
    address = endpoint or _own_address(name, provider, base or None)
    if key_name is None:
        known = keys.provider(provider)
        held = ((name, keys.read_key(name)) for name in known.keys)
        key_name, key = next((pair for pair in held if pair[1] is not None), (None, None))
        if key is None and found_key and not keys.is_placeholder(found_key) and not known.cloud:
            key = keys.keep(found_key)
    if key is None and missing is None:
        missing = _missing(litellm, provider, params, named=endpoint is not None)
    headers, variables = {}, {str(h): str(v) for h, v in dict(params.get("headers_env") or {}).items()}
    for header, variable in variables.items():
        value = keys.read_secret(variable)
        if value is None:
            missing = missing or f"environment variable {variable} (header {header}) is not set"
        else:
            headers[header] = value
    return Route(
        name, provider, sent_as, address, endpoint is not None, key_name if key else None, key, headers,
        variables, tuple(_notes(provider, endpoint, key_name if key else None, variables)), missing,
    )  # fmt: skip


def _own_address(name: str, provider: str, base: str | None) -> str | None:
    """Return the provider's own address; a server of one's own has none, and nothing stands in for it."""
    known = keys.provider(provider)
    usual, azure = known.local, provider.startswith("azure")
    local = base is not None and urlsplit(base).hostname in ("localhost", "127.0.0.1", "::1", "0.0.0.0")
    if provider == "openai":
        return OPENAI
    if not (usual or local or azure) and (base or known.own_address or known.cloud):
        return base
    example = usual or base or ("https://RESOURCE.openai.azure.com" if azure else "https://HOST/v1")
    raise CallError(
        f"model {name}: {provider} has no address of its own, and none is given",
        remedy=f'name it: models = [{{ name = "{name}", params = {{ api_base = "{example}" }} }}] in a study '
        f"file, or set {known.addresses[0]}={example}",
    )


def _missing(litellm: Any, provider: str, params: Mapping[str, Any], *, named: bool) -> str | None:
    """Say what a provider needs to let one in and is not there; None if a call can be tried."""
    if provider.startswith("azure") and provider != "azure_ai":
        signs = ("azure_ad_token", "tenant_id", "client_id", "azure_scope", "azure_username")
        variables = ("AZURE_AD_TOKEN", "AZURE_CLIENT_ID", "AZURE_USERNAME", "AZURE_FEDERATED_TOKEN_FILE",
                     "AZURE_CREDENTIAL", "IDENTITY_ENDPOINT", "MSI_ENDPOINT")  # fmt: skip
        other = any(params.get(n) for n in signs) or any(os.environ.get(n) for n in variables)
        if not other and not getattr(litellm, "enable_azure_ad_token_refresh", False):
            return "AZURE_API_KEY is not set, nor AZURE_AD_TOKEN, nor AZURE_CLIENT_ID with AZURE_TENANT_ID"
        return None
    known = keys.provider(provider)
    if known.cloud or named or known.local:
        return None  # a profile, a role, the machine itself; or a server that asks for no key
    first, *others = known.keys
    return f"{first} is not set" + (f" (nor {', '.join(others)})" if others else "")


def _notes(
    provider: str, where: str | None, key_name: str | None, variables: Mapping[str, str]
) -> Iterable[str]:
    """Say what is unusual about who gets which key, and which package signing in needs."""
    known = keys.provider(provider)
    if known.needs and not key_name and not _installed(known.needs):
        yield f"signing in at {provider} needs a package that is not installed: pip install {known.needs}"
    if key_name and key_name not in known.keys:
        yield f"the value of {key_name} is sent as the key to {where or provider}"
    elif key_name and where and (provider == "openai" or known.own_address):
        host = urlsplit(where).hostname or ""
        if host not in ("localhost", "127.0.0.1", "::1") and not host.endswith("api.openai.com"):
            yield f"the key in {key_name} is sent to {where}, which is not {provider}'s own address"
    for header, variable in variables.items():
        yield f"the value of {variable} is sent as the header {header} to {where or provider}"


def _installed(package: str) -> bool:
    try:
        return find_spec(package.replace("-", ".")) is not None
    except ModuleNotFoundError:  # of the parent
        return False


def open_transport(asked: Addressed, limits: Limits, *, need_key: bool = True) -> Transport:
    """Choose the way to a model and check that it can be walked."""
    request = asked.request
    params = sent_params(request.params)
    if provider_of(request.model) == "offline":
        return OfflineTransport(request.model, params)
    route = route_of(asked)
    if route.missing and need_key:
        raise CallError(
            f"model {request.model}: {route.missing}",
            remedy="set it, put it into .env where you run icgkit, or name another variable as api_key_env",
        )
    litellm = load_litellm()
    _one_whole_answer(params, request.model)
    effective = _effective(route.sent_as, route.provider, params, request.model)
    if params.get("stream"):
        raise CallError(
            f"model {request.model}: stream",
            got=params["stream"],
            remedy="leave it out: replies are read whole",
        )
    if route.provider in OPENAI_FORM and _plain(litellm, route.sent_as, route.provider):
        if route.named and (route.address or "").endswith("/completions"):
            raise CallError(
                f"model {request.model}: api_base", got=route.address,
                remedy="leave out what comes after /v1: /chat/completions is added",
            )  # fmt: skip
        return OpenAITransport(route, effective, limits)
    if asked.images and _drops_images(route.sent_as, route.provider):
        raise CallError(
            f"model {request.model}: litellm leaves images out of what it sends to {route.provider}",
            remedy="ask under conditions without an image, or, if the provider takes images in the OpenAI form, "
            'as openai/NAME with its address as api_base and api_key_env = "..."',
        )
    return LitellmTransport(route, params, limits)


def _one_whole_answer(params: Mapping[str, Any], model: str) -> None:
    """Refuse what makes several answers of one call: they would be paid, and all but one be lost."""
    for name in ("n", "best_of", "candidate_count", "num_return_sequences"):
        value = params.get(name, (params.get("extra_body") or {}).get(name))
        if value not in (None, 1):
            raise CallError(
                f"model {model}: {name}: one answer is kept for each call",
                got=value,
                allowed="1",
                remedy=f"leave {name} out and set samples in the study",
            )


def _plain(litellm: Any, model: str, provider: str) -> bool:
    """Say whether litellm would send the messages unchanged to /chat/completions."""
    if provider != "openai":
        return True
    if litellm.OpenAIOSeriesConfig().is_model_o_series_model(model=model):
        return False
    try:
        return str(litellm.get_model_info(model, provider).get("mode") or "chat") == "chat"
    except Exception:
        return True


@lru_cache(maxsize=64)
def _drops_images(model: str, provider: str) -> bool:
    """Say whether litellm would leave an image out: it is asked to build a request with one."""
    from litellm.types.utils import LlmProviders
    from litellm.utils import ProviderConfigManager

    if keys.provider(provider).local:  # may ask the server about the model
        return False
    messages = deepcopy(PICTURE)  # some providers' code changes what it is given
    try:
        config: Any = ProviderConfigManager.get_provider_chat_config(
            model=model, provider=LlmProviders(provider)
        )
        built = config.transform_request(
            model=model, messages=messages, optional_params={}, litellm_params={}, headers={}
        )
    except Exception:
        return False
    text = built.decode("utf-8", "replace") if isinstance(built, bytes) else json.dumps(built, default=str)
    return PIXEL.split(",")[1] not in text


def _effective(model: str, provider: str, params: dict[str, Any], name: str) -> dict[str, Any]:
    """Map the parameters as litellm does for this model, without dropping any."""
    from litellm.utils import get_optional_params

    own = {k: v for k, v in params.items() if k in ("extra_body", "extra_headers")}
    rest = {k: v for k, v in params.items() if k not in own}
    try:
        mapped = get_optional_params(model=model, custom_llm_provider=provider, drop_params=False, **rest)
    except Exception as exc:
        message = str(exc).removeprefix("litellm.UnsupportedParamsError: ").split(" To drop")[0]
        raise CallError(
            f"model {name} rejects a parameter: {message}",
            got=params,
            remedy="give this model other parameters in a study file, e.g. params = { temperature = 1 }, or "
            'take one out: params = { temperature = "unset" }; icgkit judge takes judges from a file by --study',
        ) from None
    extra = {**(mapped.pop("extra_body", None) or {}), **(own.get("extra_body") or {})}
    mapped.pop("stream", None)
    if extra:
        mapped["extra_body"] = extra
    if own.get("extra_headers"):
        mapped["extra_headers"] = own["extra_headers"]
    return dict(mapped)


def check_models(calls: Iterable[Addressed], *, need_keys: bool = True) -> list[Route]:
    """Open a transport for each model and set of parameters, so that mistakes show before any call."""
    seen: dict[tuple[str, str], Addressed] = {}
    for asked in calls:
        name = (asked.request.model, json.dumps(dict(asked.request.params), sort_keys=True, default=str))
        if name not in seen or (asked.images and not seen[name].images):
            seen[name] = asked
    wrong: list[str] = []
    routes: list[Route] = []
    for asked in seen.values():
        try:
            open_transport(asked, Limits(), need_key=need_keys)
            if provider_of(asked.request.model) != "offline":
                routes.append(route_of(asked))
        except CallError as exc:
            wrong.append(str(exc))
    if wrong:
        raise CallError("before the first call: " + " | ".join(dict.fromkeys(wrong)))
    if need_keys:
        keys.tell(f"{route.model}: {note}" for route in routes for note in route.notes)
    return routes
