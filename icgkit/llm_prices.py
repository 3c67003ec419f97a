"""What a call costs: litellm's price map, or nothing where it has no price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icgkit.llm import Addressed

IMAGE_TOKENS = 1100
"""Rough size of a 1024-pixel image in tokens, for estimates only."""


@dataclass(frozen=True)
class Price:
    """US dollars a token; None where litellm knows no price."""

    input: float | None
    output: float | None
    cached: float | None = None
    reasoning: float | None = None

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:
        """Cost of so many tokens."""
        if self.input is None or self.output is None:
            return None
        return input_tokens * self.input + output_tokens * self.output

    def of_usage(self, usage: Any) -> float | None:
        """Cost of a call by the usage that its reply reports; None if it reports none."""
        if not isinstance(usage, dict) or self.input is None or self.output is None:
            return None
        sent, got = usage.get("prompt_tokens"), usage.get("completion_tokens")
        if not isinstance(sent, int) or not isinstance(got, int):
            return None
        details = usage.get("prompt_tokens_details")
        hit = details.get("cached_tokens") if isinstance(details, dict) else 0
        hit = hit if isinstance(hit, int) and self.cached is not None else 0
        out = usage.get("completion_tokens_details")
        thought = out.get("reasoning_tokens") if isinstance(out, dict) and self.reasoning is not None else 0
        thought = thought if isinstance(thought, int) else 0
        return (
            (sent - hit) * self.input
            + hit * (self.cached or 0.0)
            + (got - thought) * self.output
            + thought * (self.reasoning or 0.0)
        )


FREE = Price(0.0, 0.0)


@lru_cache(maxsize=256)
def price_of(model: str) -> Price:
    """Look a model up in litellm's price map; offline models cost nothing."""
    if model.startswith("offline/"):
        return FREE
    from icgkit.llm_lanes import load_litellm

    litellm = load_litellm()
    try:
        info = litellm.get_model_info(model)
    except Exception:  # litellm raises plain Exception for a model that it does not map
        return Price(None, None)
    return Price(
        info.get("input_cost_per_token"),
        info.get("output_cost_per_token"),
        info.get("cache_read_input_token_cost"),
        info.get("output_cost_per_reasoning_token"),
    )


def batch_price_of(model: str) -> Price:
    """Look up the price of a model's batches; none where litellm knows none."""
    from icgkit.llm_lanes import load_litellm

    litellm = load_litellm()
    try:
        info = litellm.get_model_info(model)
    except Exception:  # as above
        return Price(None, None)
    return Price(info.get("input_cost_per_token_batches"), info.get("output_cost_per_token_batches"))


def tokens_in(asked: Addressed) -> int:
    """Estimate the input tokens of a call: four characters a token, a fixed number an image."""
    return len(asked.skeleton) // 4 + IMAGE_TOKENS * len(asked.images)


def most_output(params: Mapping[str, Any]) -> int:
    """Return the limit of output tokens that the parameters set, 1024 where they set none."""
    for name in ("max_completion_tokens", "max_tokens"):
        if isinstance(params.get(name), int):
            return int(params[name])
    return 1024
