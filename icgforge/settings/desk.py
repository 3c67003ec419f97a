"""A sheet of paper, a little curled, on a wooden desk by a window, with a cup and a pencil."""

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
    """Return the shapes; the desk is at height 0."""
    import mitsuba as mi

    wide, high = fit(aspect, 1.66, 2.05)
    turn = np.deg2rad(3)

    def point(u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
        x, z = (2 * u - 1) * wide, (1 - 2 * v) * high
        lift = (
            0.004
            + 0.05 * np.clip(u - 0.55, 0, 1) ** 2 * np.clip(1.2 - v, 0, 1) * 2
            + 0.006 * np.sin(5 * u + 3 * v) ** 2
        )
        return x * np.cos(turn) + z * np.sin(turn), lift, z * np.cos(turn) - x * np.sin(turn)

    cup = [(0.0, 0.02), (0.17, 0.02), (0.19, 0.05), (0.215, 0.42), (0.2, 0.42), (0.18, 0.1), (0.0, 0.09)]
    to = mi.ScalarTransform4f()
    return {
        "table": ground(wood(4, (0.32, 0.2, 0.115), 0.38, 2.2), 8),
        "page": page_mesh(point, page),
        "cup": turned(cup, (wide + 0.24, 0, -high * 0.72), stuff(rgb(0.62, 0.6, 0.55), 0.2), "cup"),
        "pencil": {"type": "cylinder", "p0": [-wide - 0.2, 0.03, 0.5], "p1": [-wide - 0.12, 0.03, -0.35], "radius": 0.027, "bsdf": stuff(rgb(0.6, 0.33, 0.03), 0.3)},
        "light_window": {"type": "rectangle", "to_world": to.look_at([-3.4, 2.6, -1.6], [0, 0, 0], [0, 1, 0]).scale([0.9, 1.1, 1]),
                         "emitter": {"type": "area", "radiance": rgb(5.2, 5.6, 6.2)}},
    }  # fmt: skip


SETTING = Setting(
    "desk", shapes, (0.12, 3.25, 2.05), (0.02, 0, 0.08), 36, printed,
    ("invoice_joiner", "hotel_bill", "bank_statement", "library_slip", "school_report", "dosage_plan", "room_service", "recipe_card"),
    environment="apartment", light=0.55, size=(832, 1024), white=0.76,
)  # fmt: skip
