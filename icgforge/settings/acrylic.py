"""A sign of clear acrylic on a table; a lamp behind it throws its shadow to the front."""

from __future__ import annotations

from icgforge.settings._lib import Setting, Shapes, box, clear, fit, ground, plaster, rgb, sheet, stuff

LAMP = (0.55, 6.0, -4.0)


def shapes(aspect: float, page: Shapes) -> Shapes:
    """Return the shapes; the sign stands at depth 0."""
    wide, high = fit(aspect, 2.1, 1.85)
    steel = stuff(rgb(0.5), 0.25, metallic=0.9)
    return {
        "table": ground(stuff(rgb(0.42, 0.4, 0.37), 0.6), 9),
        "wall": sheet((0, 2, -5), (9, 5), {"bsdf": plaster(3, (0.36, 0.38, 0.42))}),
        "page": sheet((0, high + 0.06, 0), (wide, high), page),
        "rail": box((0, 0.03, 0), (wide, 0.03, 0.05), steel),
        "light_lamp": {"type": "sphere", "center": list(LAMP), "radius": 0.012, "emitter": {"type": "area", "radiance": rgb(52000, 49000, 44000)}},
    }  # fmt: skip


SETTING = Setting(
    "acrylic", shapes, (-0.35, 3.5, 5.2), (0.03, 0.5, 0.55), 33, clear,
    ("floors_lift", "festival_card", "museum_sign", "exam_notice"),
    environment="apartment", light=0.04, turn=200, size=(832, 1024), second="lamp", surfaces=("table",), lamp=LAMP,
    flip="vertical", seen_in="shadow on the table", white=0.8,
)  # fmt: skip
