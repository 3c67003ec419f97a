"""A folded card that stands open on a table."""

from __future__ import annotations

import numpy as np

from icgforge.settings._lib import (
    Setting,
    Shapes,
    fit,
    ground,
    page_mesh,
    printed,
    rgb,
    stuff,
    turned,
    wood,
)


def shapes(aspect: float, page: Shapes) -> Shapes:
    """Return the shapes; the fold is at x = 0, both halves come to the front."""
    import mitsuba as mi

    wide, high = fit(aspect, 2.7, 1.72)
    slant = np.deg2rad(27)

    def point(u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
        s = (2 * u - 1) * wide
        return s * np.cos(slant), v * 2 * high + 0.003, np.abs(s) * np.sin(slant) - 0.25

    to = mi.ScalarTransform4f()
    vase = [
        (0.0, 0.0),
        (0.2, 0.0),
        (0.26, 0.15),
        (0.24, 0.4),
        (0.12, 0.62),
        (0.14, 0.72),
        (0.12, 0.72),
        (0.1, 0.62),
        (0.0, 0.6),
    ]
    return {
        "table": ground(wood(9, (0.36, 0.25, 0.16), 0.3, 2.2), 8),
        "page": page_mesh(point, page, (64, 4)),
        "vase": turned(vase, (1.5, 0, -1.3), stuff(rgb(0.1, 0.22, 0.26), 0.15), "vase"),
        "light_lamp": {"type": "rectangle", "to_world": to.look_at([2.6, 3.2, 3.0], [0, 0.6, 0], [0, 1, 0]).scale([0.8, 0.8, 1]),
                       "emitter": {"type": "area", "radiance": rgb(6.5, 5.6, 4.6)}},
    }  # fmt: skip


SETTING = Setting(
    "card", shapes, (0.35, 1.55, 4.9), (0.0, 0.8, 0.2), 38, printed,
    ("birthday_card", "festival_card", "conference_badge", "honey_label", "wedding_card", "recipe_card"),
    environment="apartment", light=0.8, turn=30, white=0.74, also="physical_perspective",
)  # fmt: skip
