"""A poster on an advertising column."""

from __future__ import annotations

import numpy as np

from icgforge.settings._lib import (
    Setting,
    Shapes,
    ground,
    page_mesh,
    paving,
    printed,
    rgb,
    stuff,
    turned,
)

RADIUS, WRAP = 1.0, 1.02
"""Of the column, and half the angle that the widest page takes of it."""


def shapes(aspect: float, page: Shapes) -> Shapes:
    """Return the shapes; the page's middle looks to the front."""
    half = min(WRAP, 1.28 * aspect / RADIUS)
    high = half * RADIUS / aspect

    def point(u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
        angle = (2 * u - 1) * half - 0.12
        r = RADIUS + 0.006 + 0.002 * np.sin(9 * u + 4 * v)
        return r * np.sin(angle), 1.75 + (2 * v - 1) * high, r * np.cos(angle)

    body = [
        (0.0, 0.0),
        (1.12, 0.0),
        (1.12, 0.16),
        (1.0, 0.2),
        (1.0, 3.25),
        (1.16, 3.27),
        (1.16, 3.4),
        (0.9, 3.5),
        (0.0, 3.6),
    ]
    return {
        "floor": ground(paving(7), 14),
        "column": turned(body, (0, 0, 0), stuff(rgb(0.2, 0.22, 0.2), 0.6), "column"),
        "page": page_mesh(point, page, (192, 24)),
    }  # fmt: skip


SETTING = Setting(
    "column", shapes, (0.25, 1.55, 6.2), (0, 1.7, 1.0), 31, printed,
    ("concert_poster", "festival_poster", "donation_poster", "chess_poster", "course_flyer", "exam_notice", "museum_sign"),
    environment="venice", light=1.0, turn=150, size=(768, 1024), white=0.72, also="physical_perspective", aperture=0.02,
)  # fmt: skip
