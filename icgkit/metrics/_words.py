"""Options that several measures share, and how a method and its flags are worded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from icgkit.metrics.intervals import CI, Bootstrap

if TYPE_CHECKING:
    from icgkit.metrics._rates import Rates

Average = Literal["macro", "micro"]
Pooling = Literal["mean_over_models", "pooled"] | None
FEW, FEW_EXPANDED = 60, 30
"""Below so many clusters percentile ends and robust errors (expanded ends) can cover less than .94; see docs/metrics.md."""


def method(rates: Rates, average: str, ci: CI) -> str:
    """Word how an estimate and its interval were made."""
    parts = [average]
    if rates.pooling:
        parts.append(rates.pooling)
    if rates.weights:
        parts.append(f"cases weighted by {rates.weights}")
    if ci is not None:
        parts.append(ci.words())
    return ", ".join(parts)


def few(clusters: int, ci: CI) -> str:
    """Word the flag of an interval from few clusters; nothing where there are enough."""
    least = FEW if isinstance(ci, Bootstrap) and ci.kind != "expanded" else FEW_EXPANDED
    return f"{clusters} clusters: interval likely too narrow" if 1 < clusters < least else ""
