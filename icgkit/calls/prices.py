"""What a call costs: the price that the study gives, else litellm's price map, or nothing where neither has one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from icgkit.calls.keys import load_litellm
from icgkit.calls.reply import count
from icgkit.calls.request import Addressed, provider_of, sent_params
from icgkit.errors import CallError

IMAGE_TOKENS = 1100
"""Tokens assumed for an image where litellm has no rule for the model; what a provider counts corrects it."""
MOST_OUTPUT = 32_768
"""Output tokens assumed where neither the call nor litellm knows a limit."""
_counted: dict[tuple[str, str], int] = {}


@dataclass(frozen=True)
class Price:
    """US dollars a token; None where no price is known.

    `image` is in dollars an image, beside its tokens; `limit` the longest output of the model in tokens.
    """

    input: float | None
    output: float | None
    cached: float | None = None
    reasoning: float | None = None
    image: float = 0.0
    limit: int | None = None

    @property
    def known(self) -> bool:
        """Say whether a cost can be worked out."""
        return self.input is not None and self.output is not None

    @property
    def free(self) -> bool:
        """Say whether calls cost nothing."""
        return self.input == 0 and self.output == 0 and not self.image

    def cost(self, input_tokens: int, output_tokens: int, images: int = 0) -> float | None:
        """Cost of so many tokens and images."""
        if self.input is None or self.output is None:
            return None
        return input_tokens * self.input + output_tokens * self.output + images * self.image

    def most(self, input_tokens: int, params: Mapping[str, Any], images: int = 0) -> float | None:
        """Cost of one attempt whose every reply (`n` of them) is as long as it can be."""
        if self.input is None or self.output is None:
            return None
        dearest = max(self.output, self.reasoning or 0.0)
        return input_tokens * self.input + most_output(params, self.limit) * dearest + images * self.image

    def of_usage(self, usage: Any, images: int = 0) -> float | None:
        """Cost of a call by the usage that its reply reports; None if it reports none that can be."""
        if not isinstance(usage, Mapping) or self.input is None or self.output is None:
            return None
        sent, got = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
        if sent is None or got is None:
            return None
        got = max(got, (count(usage.get("total_tokens")) or 0) - sent)
        hit = min(sent, _part(usage, "prompt_tokens_details", "cached_tokens"))
        thought = min(got, _part(usage, "completion_tokens_details", "reasoning_tokens"))
        cached = self.input if self.cached is None else self.cached
        reasoning = self.output if self.reasoning is None else self.reasoning
        return (
            (sent - hit) * self.input
            + hit * cached
            + (got - thought) * self.output
            + thought * reasoning
            + images * self.image
        )


FREE = Price(0.0, 0.0)
NO_PRICE = Price(None, None)


def _part(usage: Mapping[str, Any], details: str, name: str) -> int:
    found = usage.get(details)
    return (count(found.get(name)) or 0) if isinstance(found, Mapping) else 0


def price_of(
    model: str, prices: Mapping[str, Price] | None = None, params: Mapping[str, Any] | None = None
) -> Price:
    """Return the price of a model: the one given for it, else litellm's; offline models cost nothing."""
    if prices and model in prices:
        return prices[model]
    return _listed(model, "_priority" if (params or {}).get("service_tier") == "priority" else "")


def batch_price_of(model: str, prices: Mapping[str, Price] | None = None) -> Price:
    """Return the price of a model's batches; the ordinary price, if given, where no other is known."""
    if prices and model in prices:
        return prices[model]
    return _listed(model, "_batches")


@lru_cache(maxsize=256)
def _listed(model: str, kind: str) -> Price:
    if model.startswith("offline/"):
        return FREE
    litellm = load_litellm()
    try:
        info = litellm.get_model_info(model)
    except Exception:  # litellm raises plain Exception for a model that it does not map
        return NO_PRICE
    limit = count(info.get("max_output_tokens")) or None
    sent, got = info.get(f"input_cost_per_token{kind}"), info.get(f"output_cost_per_token{kind}")
    if kind == "_batches":
        return Price(sent, got, limit=limit)
    if kind and (sent is None or got is None):
        return _listed(model, "")
    return Price(
        sent,
        got,
        info.get(f"cache_read_input_token_cost{kind}"),
        info.get("output_cost_per_reasoning_token"),
        info.get("input_cost_per_image") or 0.0,
        limit,
    )


def check_prices(
    models: Iterable[str], prices: Mapping[str, Price] | None = None, *, budget: float | None
) -> None:
    """Refuse a budget that cannot be kept because a model has no known price."""
    if budget is None:
        return
    unpriced = [model for model in dict.fromkeys(models) if not price_of(model, prices).known]
    if unpriced:
        raise CallError(
            f"a budget of ${budget:g} cannot be kept: no price is known for {', '.join(unpriced)}",
            remedy="give it in US dollars a million tokens, in the study file as "
            f'{{ name = "{unpriced[0]}", price = {{ input = 0.5, output = 2.0 }} }} or as '
            f'--price "{unpriced[0]}=0.5,2.0" (0 for your own server), or leave out the budget',
        )


def tokens_in(asked: Addressed) -> int:
    """Estimate the input tokens of a call: four characters a token, images by the model's own rule."""
    model = asked.request.model
    images = sum(_image_tokens(model, url) for url in asked.images)
    return len(asked.skeleton) // 4 + images


def _image_tokens(model: str, url: str) -> int:
    """Count an image as the model's provider does, as far as litellm knows the rule."""
    if provider_of(model) == "offline":
        return IMAGE_TOKENS
    sha = getattr(url, "sha256", None)
    known = _counted.get((model, sha)) if sha else None
    if known is not None:
        return known
    load_litellm()
    from litellm.constants import DEFAULT_IMAGE_TOKEN_COUNT
    from litellm.litellm_core_utils.token_counter import estimate_image_tokens

    tokens = int(estimate_image_tokens(model, url))
    tokens = IMAGE_TOKENS if tokens == DEFAULT_IMAGE_TOKEN_COUNT else tokens
    if sha:
        _counted[model, sha] = tokens
    return tokens


def most_output(params: Mapping[str, Any], limit: int | None = None) -> int:
    """Return the most output tokens of a call: the limit it sets, else the model's, times its replies."""
    sent = {**sent_params(params), **(params.get("extra_body") or {})}
    replies = max(1, *(count(sent.get(name)) or 1 for name in ("n", "best_of")))
    set_to = [count(sent.get(name)) for name in ("max_completion_tokens", "max_tokens", "max_output_tokens")]
    known = [n for n in set_to if n is not None]
    return replies * (max(known) if known else limit or MOST_OUTPUT)
