"""Choose the way to a model, and check before the first call that it can be walked."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from icgkit.errors import CallError
from icgkit.llm_lanes import OPENAI_FORM, Lane, LitellmLane, StraightLane, load_litellm
from icgkit.llm_limits import Limits

if TYPE_CHECKING:
    from icgkit.llm import Addressed


def _key(params: Mapping[str, Any], model: str) -> str | None:
    name = params.get("api_key_env")
    if name and not os.environ.get(name):
        raise CallError(
            f"model {model}: environment variable {name} is not set", remedy="set it, or put it in .env"
        )
    return os.environ[name] if name else None


def open_lane(asked: Addressed, limits: Limits) -> Lane:
    """Choose the way to a model and check that it can be walked.

    Raises
    ------
    CallError
        For a model that litellm does not know, a missing key or a parameter that it rejects.
    """
    from icgkit.llm import provider_of, sent_params

    request = asked.request
    params = sent_params(request.params)
    if provider_of(request.model) == "offline":
        from icgkit.llm_worker import OfflineLane

        return OfflineLane(request.model, params)
    litellm = load_litellm()
    try:
        model, provider, found_key, base = litellm.get_llm_provider(
            request.model, api_base=asked.endpoint, api_key=_key(request.params, request.model)
        )
    except Exception as exc:
        raise CallError(
            f"unknown model {request.model!r}",
            got=str(exc).split("\n")[0][:200],
            remedy="see https://docs.litellm.ai/docs/providers; a server that speaks the OpenAI form is "
            "openai/NAME with api_base",
        ) from None
    key = _key(request.params, request.model) or found_key
    key = key or _key_from_environment(litellm, request.model, provider, base)
    effective = _effective(litellm, model, provider, params, request.model)
    if provider in OPENAI_FORM and _plain(litellm, model, provider):
        return StraightLane(model, provider, base or "https://api.openai.com/v1", key, effective, limits)
    return LitellmLane(
        request.model, provider, asked.endpoint, _key(request.params, request.model), params, limits
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


def _key_from_environment(litellm: Any, model: str, provider: str, base: str | None) -> str | None:
    if provider == "openai":
        key = os.environ.get("OPENAI_API_KEY")
        if not key:
            raise CallError(
                "OPENAI_API_KEY is not set", remedy="set it, put it in .env, or name another as api_key_env"
            )
        return key
    if provider in OPENAI_FORM:
        return os.environ.get(f"{provider.upper()}_API_KEY")
    state = litellm.validate_environment(model, api_base=base)
    if not state["keys_in_environment"] and state["missing_keys"]:
        names = ", ".join(state["missing_keys"])
        raise CallError(f"model {model}: {names} not set", remedy="set it in the environment or in .env")
    return None


def _effective(litellm: Any, model: str, provider: str, params: dict[str, Any], name: str) -> dict[str, Any]:
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
            remedy="give this model other parameters in the study file, e.g. temperature = 1",
        ) from None
    extra = {**(mapped.pop("extra_body", None) or {}), **(own.get("extra_body") or {})}
    mapped.pop("stream", None)
    if extra:
        mapped["extra_body"] = extra
    if own.get("extra_headers"):
        mapped["extra_headers"] = own["extra_headers"]
    return mapped


def check_models(calls: Iterable[Addressed]) -> None:
    """Open a lane for each model and set of parameters, so that mistakes show before any call.

    Raises
    ------
    CallError
        Listing every model that cannot be called, with the reason.
    """
    seen: set[tuple[str, str]] = set()
    wrong: list[str] = []
    for asked in calls:
        name = (asked.request.model, json.dumps(dict(asked.request.params), sort_keys=True, default=str))
        if name not in seen:
            seen.add(name)
            try:
                open_lane(asked, Limits())
            except CallError as exc:
                wrong.append(str(exc))
    if wrong:
        raise CallError("before the first call: " + " | ".join(dict.fromkeys(wrong)))
