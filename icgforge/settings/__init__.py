"""Settings: where a document hangs, stands or shines, as a table of geometry for Mitsuba."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from icgforge.settings.hall import hall

Shapes = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Setting:
    """A place for a page: its shapes (given the aspect of the page and its emitter), camera and light."""

    name: str
    shapes: Callable[[float, dict[str, Any]], Shapes]
    eye: tuple[float, float, float]
    look: tuple[float, float, float]
    fov: float
    environment: str
    light: float


SETTINGS = {"hall": Setting("hall", hall, (-0.8, 1.0, 5.15), (0.06, 0.66, 0), 40, "warehouse", 0.35)}
"""All settings by name."""
