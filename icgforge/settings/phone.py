"""A telephone that leans on a stand upon a glossy table top."""

from __future__ import annotations

from icgforge.settings._lib import Setting, Shapes, box, fit, ground, rgb, sheet, shining, stuff


def shapes(aspect: float, page: Shapes) -> Shapes:
    """Return the shapes; the table is at height 0."""
    import mitsuba as mi

    wide, high = fit(aspect, 1.5, 2.0)
    to = mi.ScalarTransform4f()
    turn = to.translate([0, 0.1, 0]).rotate([0, 1, 0], 7).rotate([1, 0, 0], -9)
    black, steel = stuff(rgb(0.012), 0.12), stuff(rgb(0.4), 0.3, metallic=0.9)
    return {
        "table": ground(
            {
                "type": "blendbsdf",
                "weight": 0.36,
                "a": stuff(rgb(0.018, 0.02, 0.024), 0.4),
                "b": stuff(rgb(0.9), 0.03, metallic=1.0),
            }
        ),
        "page": sheet((0, high + 0.02, 0.062), (wide, high), page, turn),
        "body": box((0, high + 0.02, 0), (wide + 0.055, high + 0.07, 0.06), black, turn),
        "rim": box((0, high + 0.02, -0.004), (wide + 0.066, high + 0.081, 0.05), steel, turn),
        "stand": box((0, 0.05, -0.25), (0.34, 0.05, 0.36), steel),
    }


SETTING = Setting(
    "phone", shapes, (-0.55, 1.35, 4.4), (0.0, 0.74, 0), 35, shining(1.35), ("weather_app", "boarding_app"),
    environment="apartment", light=0.5, turn=120, size=(832, 1024), second="mirror", surfaces=("table",), flip="vertical", seen_in="reflection in the glossy table top",
)  # fmt: skip
