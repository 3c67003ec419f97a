"""What an offline model has found: one constraint with its evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace

from icgforge.baselines.seeing import Box


@dataclass(frozen=True)
class Finding:
    """A proposed constraint.

    `score` is the evidence from 0 to 1; which findings are told depends on what the prompt asks.
    """

    subtype: str
    region: str
    update: str
    reason: str
    score: float
    box: Box | None = None
    shown: str = ""
    """The text that stands there now, where it is text."""

    def scored(self, factor: float) -> Finding:
        """Return the finding with its evidence scaled."""
        return replace(self, score=min(self.score * factor, 1.0))


def best_first(found: list[Finding], limit: int) -> list[Finding]:
    """Order by evidence, one finding for each subtype and place."""
    kept: dict[tuple[str, str], Finding] = {}
    for f in sorted(found, key=lambda f: (-f.score, f.subtype, f.region)):
        kept.setdefault((f.subtype, f.shown.lower() or f.region.lower()), f)
    return list(kept.values())[:limit]
