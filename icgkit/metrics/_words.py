"""Options that several measures share, and how a method is worded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from icgkit.metrics._rates import Rates

Average = Literal["macro", "micro"]
Pooling = Literal["mean_over_models", "pooled"] | None
CI = Literal["bootstrap", "wilson"] | None


def method(rates: Rates, average: str, ci: str | None, n_resamples: int, seed: int) -> str:
    """Word how an estimate and its interval were made."""
    parts = [average]
    if rates.pooling:
        parts.append(rates.pooling)
    if ci == "bootstrap":
        parts.append(f"percentile bootstrap over {rates.cluster}, B={n_resamples}, seed={seed}")
    elif ci == "wilson":
        parts.append("Wilson, trials taken as independent")
    return ", ".join(parts)
