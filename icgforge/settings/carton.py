"""A carton with the page about its edge."""

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
    sheet,
    stuff,
    triangles,
)


def shapes(aspect: float, page: Shapes) -> Shapes:
    """Return the shapes; the edge of the carton comes to the front between the two panels of a label."""
    import mitsuba as mi

    wide, high = fit(aspect, 2.9, 2.0)
    fold, left, right = 0.549, np.deg2rad(24), np.deg2rad(50)

    def point(u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
        s = (u - fold) * 2 * wide
        slant = np.where(s < 0, left, right)
        return s * np.cos(slant) + 0.3, v * 2 * high + 0.01, 0.5 - np.abs(s) * np.sin(slant)

    x0, _, z0 = (float(a) for a in point(np.array(0.0), np.array(0.0)))
    x1, _, z1 = (float(a) for a in point(np.array(1.0), np.array(0.0)))
    top = 2 * high + 0.008
    lid = np.array([[x0, top, z0], [0.3, top, 0.498], [x1, top, z1], [x0 + x1 - 0.3, top, z0 + z1 - 0.5]])
    to = mi.ScalarTransform4f()
    return {
        "table": ground(stuff(rgb(0.46, 0.45, 0.43), 0.35, specular=0.4), 9),
        "page": page_mesh(point, page, (100, 4)),
        "lid": triangles("lid", lid, np.array([[0, 1, 2], [0, 2, 3]]), stuff(rgb(0.5, 0.42, 0.3), 0.5)),
        "backdrop": sheet((0, 3, -4), (9, 5), {"bsdf": stuff(rgb(0.4, 0.43, 0.46), 0.8)}),
        "light_box": {"type": "rectangle", "to_world": to.look_at([-2.8, 3.6, 3.2], [0, 0.7, 0], [0, 1, 0]).scale([1.2, 1.2, 1]),
                      "emitter": {"type": "area", "radiance": rgb(4.6, 4.7, 4.9)}},
    }  # fmt: skip


SETTING = Setting(
    "carton", shapes, (0.55, 1.5, 5.1), (0.05, 0.86, 0.1), 37, printed,
    ("honey_label",),
    environment="studio", light=0.7, white=0.72, also="physical_perspective",
)  # fmt: skip
