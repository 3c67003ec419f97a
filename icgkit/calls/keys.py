"""Keys: read from the environment and from `.env`, never shown, never written.

Which variable belongs to which provider is data, see `providers.toml`.
"""

from __future__ import annotations

import io
import os
import re
import sys
import tomllib
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from icgkit.errors import CallError
from icgkit.files import read_file

_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)", re.I)
_LIKE_A_KEY = re.compile(r"\b(sk|pk|gsk|xai|AIza|hf|Bearer)[-_ ][A-Za-z0-9_\-.]{8,}|AIza[A-Za-z0-9_\-]{20,}")
_SECRET_PART = re.compile(
    r"(^|[_\-])(api-?_?key|apikey|key|token|secret|password|passwd|credentials?|auth|authorization|cookie|"
    r"signature|sig)($|[_\-])",
    re.I,
)
_NO_SECRET = frozenset({"api_key_env", "headers_env", "prompt_cache_key", "vertex_credentials"})
SHORTEST = 8
"""Characters below which a value is no secret: `none`, `EMPTY`."""
_in_use: set[str] = set()


@cache
def table() -> dict[str, Any]:
    """Return what `providers.toml` says."""
    return tomllib.loads((Path(__file__).parent / "providers.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Provider:
    """What is known of a provider.

    `keys` and `addresses` are the variables that may hold its key and another address, the usual one first;
    `local` is where a server of one's own usually listens; `cloud` says that its credentials may come from a
    profile, a role or the machine itself; `needs` is the package that signing in there needs.
    """

    keys: tuple[str, ...]
    addresses: tuple[str, ...]
    own_address: bool
    cloud: bool
    local: str | None
    needs: str | None


@cache
def provider(name: str) -> Provider:
    """Return what is known of a provider, whose variables are NAME_API_KEY and NAME_API_BASE if nothing is."""
    known, upper = table(), name.upper().replace("-", "_")
    return Provider(
        keys=tuple(known["keys"].get(name, (f"{upper}_API_KEY",))),
        addresses=tuple(known["addresses"].get(name, (f"{upper}_API_BASE",))),
        own_address=name in known["own_address"],
        cloud=name in known["cloud"],
        local=known["local"].get(name),
        needs=known["needs"].get(name),
    )


@cache
def known_keys() -> frozenset[str]:
    """Return the names of all variables that hold a provider's key."""
    return frozenset(n for p in (*table()["regular"], *table()["keys"]) for n in provider(p).keys)


def known_providers() -> list[str]:
    """Return the providers whose variables are known, in order of name."""
    return sorted({*table()["regular"], *table()["keys"], *table()["local"]})


def load_env(path: str | Path | None = None, also: Iterable[str] = ()) -> list[str]:
    """Read keys from the file `.env` in the working directory, return their names; what is set already wins.

    Only keys of known providers are taken, and variables that `also` names (the study's `api_key_env`): a
    file that came with somebody's data must not set addresses, proxies or paths.
    """
    file = Path(path) if path else Path.cwd() / ".env"
    allowed, said = known_keys() | set(also), in_env(file)
    found = [n for n, value in said.items() if n in allowed and value and n not in os.environ]
    os.environ.update({name: said[name] or "" for name in found})
    if found:
        print(f"keys read from {file}: {', '.join(found)}", file=sys.stderr)
    if ignored := [name for name in said if name not in allowed]:
        more = "; ..." if len(ignored) > 5 else ""
        names = ", ".join(map(ascii, ignored[:5]))
        tell([f"{file}: not read, since no key of a known provider: {names}{more}"])
    return found


def tell(notes: Iterable[str]) -> None:
    """Say each note on standard error, once in a process."""
    for note in notes:
        if note not in _told:
            _told.add(note)
            print(note, file=sys.stderr)


def in_env(file: Path) -> dict[str, str | None]:
    """Return what a `.env` file says, nothing if there is none; no variable is set."""
    from dotenv import dotenv_values

    if not file.is_file():
        return {}
    try:
        text = io.StringIO(read_file(file, limit=1 << 20).decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise CallError(f"{file} is not UTF-8") from None
    return dict(dotenv_values(stream=text, interpolate=False))


_told: set[str] = set()


def read_key(name: str) -> str | None:
    """Return the key in an environment variable, without blanks and quotes around it; None if there is none."""
    value = os.environ.get(name, "").strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1].strip()
    if not value:
        return None
    odd = [c for c in value if not "!" <= c <= "~"]
    if odd:
        what = "a line break" if {"\n", "\r"} & set(odd) else f"the character {odd[0]!a}"
        raise CallError(
            f"the key in {name} has {what} in it", remedy="set it anew: a key is one word of ASCII"
        )
    if value != os.environ[name]:
        os.environ[name] = value  # litellm reads some of them itself
    return keep(value)


def read_secret(name: str) -> str | None:
    """Return a header's value in an environment variable; unlike a key it may have blanks in it."""
    value = os.environ.get(name, "").strip()
    if any(not " " <= c <= "~" for c in value):
        raise CallError(f"the value of {name} has a character in it that no header can carry")
    return keep(value) if value else None


def keep(value: str) -> str:
    """Count a value as a secret from now on, see `mask_keys`; return it."""
    if not is_placeholder(value):
        _in_use.add(value)
        scheme, _, rest = value.partition(" ")  # "Bearer ...": the second word alone is a secret as well
        if scheme.lower() in ("bearer", "basic", "token") and not is_placeholder(rest):
            _in_use.add(rest)
    return value


def is_placeholder(value: str) -> bool:
    """Say whether a value stands where a key is due and is none."""
    return len(value) < SHORTEST or value.lower() in table()["placeholders"]


def named_variables(params: Mapping[str, Any]) -> list[str]:
    """Return the variables that parameters name as holding a key or a header."""
    named = [params.get("api_key_env"), *dict(params.get("headers_env") or {}).values()]
    return [str(n) for n in named if n]


def keys_in_use() -> list[str]:
    """Return the values that are secrets: keys that were read, and those of known providers."""
    for name in known_keys():
        value = os.environ.get(name, "").strip().strip("\"'")
        if value:
            keep(value)
    return sorted(_in_use, key=len, reverse=True)


def shown(value: str) -> str:
    """Return a key as it may be shown: its first three characters at most."""
    return f"{value[:3]}..." if len(value) > 11 else "..."


def mask_keys(text: str) -> str:
    """Replace the values of all keys in use in a text; nothing else in it is touched."""
    for value in _in_use:
        if value in text:
            text = text.replace(value, shown(value))
        if (quoted := value.replace("\\", "\\\\").replace('"', '\\"')) != value and quoted in text:
            text = text.replace(quoted, shown(value))
    return text


def mask(text: str) -> str:
    """Replace every key in a message: keys in use, values of secret variables, and what looks like a key."""
    text = mask_keys(text)
    for name, value in os.environ.items():
        if len(value) >= SHORTEST and _NAME.search(name) and value in text:
            text = text.replace(value, shown(value))
    return _LIKE_A_KEY.sub(lambda m: m.group(0)[:3] + "...", text)


def refuse_secrets(model: str, params: Mapping[str, Any], address: str | None = None) -> None:
    """Refuse a secret among a model's parameters or in its address, since both are recorded."""
    if place := _secret_place(params, keys_in_use()):
        raise CallError(
            f"model {model}: a secret among the parameters ({place}), and parameters are recorded",
            remedy="name its environment variable: api_key_env for the key, "
            'headers_env = { "Header-Name" = "VARIABLE" } for a header; a cloud\'s own variables are read as they are',
        )
    if address:
        _refuse_in_address(model, address)


def _secret_place(value: Any, secrets: list[str], path: str = "", secret: bool = False) -> str | None:
    """Return where the first secret stands: by the name of a field, by a value in use, by its look."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            part = str(name)
            here = f"{path}.{part}" if path else part
            if part in _NO_SECRET and not (isinstance(inner, str) and "private_key" in inner):
                continue
            if found := _secret_place(inner, secrets, here, secret or bool(_SECRET_PART.search(part))):
                return found
        return None
    if isinstance(value, (list, tuple)):
        return next((f for v in value if (f := _secret_place(v, secrets, path, secret))), None)
    if not isinstance(value, str):
        return None
    known = any(s in value for s in secrets) or _LIKE_A_KEY.search(value) or "private_key" in value
    return path if known or (secret and value.strip()) else None


def _refuse_in_address(model: str, address: str) -> None:
    try:
        parts = urlsplit(address)
        whole = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1) > 0
    except ValueError:
        whole = False
        parts = urlsplit("")
    if not whole or any(c.isspace() or not c.isprintable() for c in address):
        raise CallError(
            f"model {model}: api_base is no address", got=mask(address).split("@")[-1],
            allowed="http://HOST:PORT/PATH or https://HOST/PATH",
        )  # fmt: skip
    if parts.username is not None or parts.password is not None:
        raise CallError(
            f"model {model}: a user name or password in the address, and addresses are recorded",
            remedy='send it as a header: headers_env = { Authorization = "VARIABLE" }',
        )
    names = [n for n, _ in parse_qsl(parts.query, keep_blank_values=True)]
    if parts.fragment or any(n != "api-version" for n in names):
        raise CallError(
            f"model {model}: a query in the address, and addresses are recorded", got=", ".join(names) or "#",
            remedy="leave it out; a key goes into the variable that api_key_env names",
        )  # fmt: skip


_READ_ONLY = "Items? .* using the `ReadOnly` qualifier"
"""What pydantic says of litellm's own types."""


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
    # It imports each provider at that provider's first call, where the same words would come again.
    if not any(getattr(words, "pattern", None) == _READ_ONLY for _, words, *_ in warnings.filters):
        warnings.filterwarnings("ignore", _READ_ONLY, UserWarning)
    litellm.suppress_debug_info = True
    litellm.drop_params = False
    return litellm
