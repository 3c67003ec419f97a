"""A screen that shines over the dark, polished floor of a hall."""

from __future__ import annotations

from typing import Any


def hall(aspect: float, page: dict[str, Any]) -> dict[str, Any]:
    """Return the shapes; the page is 2.5 units wide."""
    import mitsuba as mi

    to = mi.ScalarTransform4f
    turn, wide, high, low = to().rotate([0, 1, 0], -8), 1.25, 1.25 / aspect, 0.1
    metal = {
        "type": "principled",
        "base_color": {"type": "rgb", "value": 0.035},
        "roughness": 0.3,
        "metallic": 0.6,
    }
    stone = {
        "type": "principled",
        "base_color": {"type": "rgb", "value": [0.045, 0.044, 0.042]},
        "roughness": 0.05,
        "specular": 0.6,
    }
    return {
        "floor": {"type": "rectangle", "to_world": to().rotate([1, 0, 0], -90).scale(9), "bsdf": stone},
        "page": {"type": "rectangle", "to_world": turn @ to().translate([0, low + high, 0.061]).scale([wide, high, 1]), **page},
        "case": {"type": "cube", "to_world": turn @ to().translate([0, low + high, 0]).scale([wide + 0.04, high + 0.04, 0.06]), "bsdf": metal},
        "foot": {"type": "cube", "to_world": turn @ to().translate([0, low / 2, -0.02]).scale([0.5, low / 2, 0.04]), "bsdf": metal},
    }  # fmt: skip
