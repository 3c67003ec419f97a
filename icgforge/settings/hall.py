"""A screen that shines over the dark, polished floor of a hall."""

from __future__ import annotations

from icgforge.settings._lib import Setting, Shapes, rgb, shining, stone, stuff


def shapes(aspect: float, page: Shapes) -> Shapes:
    """Return the shapes; the page is 2.5 units wide."""
    import mitsuba as mi

    to = mi.ScalarTransform4f
    turn, wide, high, low = to().rotate([0, 1, 0], -8), 1.25, 1.25 / aspect, 0.07
    metal = stuff(rgb(0.035), 0.3, metallic=0.6)
    return {
        "floor": {"type": "rectangle", "to_world": to().rotate([1, 0, 0], -90).scale(9), "bsdf": stone(5, (0.034, 0.033, 0.032), 0.032)},
        "page": {"type": "rectangle", "to_world": turn @ to().translate([0, low + high, 0.061]).scale([wide, high, 1]), **page},
        "case": {"type": "cube", "to_world": turn @ to().translate([0, low + high, 0]).scale([wide + 0.03, high + 0.03, 0.06]), "bsdf": metal},
        "foot": {"type": "cube", "to_world": turn @ to().translate([0, low / 2, -0.02]).scale([0.5, low / 2, 0.04]), "bsdf": metal},
    }  # fmt: skip


SETTING = Setting(
    "hall", shapes, (-0.8, 0.95, 5.3), (0.04, 0.62, 0), 40, shining(1.5),
    ("departures_board", "ferry_board", "weather_wall", "scoreboard_live", "marathon_results", "metro_line"),
    environment="warehouse", light=0.35, turn=40, second="mirror", surfaces=("floor",), flip="vertical", seen_in="reflection in the polished floor",
)  # fmt: skip
