"""A board that leans on paving in the street, a plant before it."""

from __future__ import annotations

from icgforge.settings._lib import Setting, Shapes, box, fit, ground, paving, plant, printed, sheet, wood


def shapes(aspect: float, page: Shapes) -> Shapes:
    """Return the shapes; the board leans back by 7 degrees."""
    import mitsuba as mi

    wide, high = fit(aspect, 2.3, 1.75)
    turn = mi.ScalarTransform4f().rotate([0, 1, 0], 8).rotate([1, 0, 0], -7)
    brown = wood(6, (0.17, 0.09, 0.045), 0.45, 1.0)
    middle = high + 0.13
    return {
        "floor": ground(paving(5), 14),
        "page": sheet((0, middle, 0.0), (wide, high), page, turn),
        "back": box((0, middle, -0.03), (wide, high, 0.028), brown, turn),
        "top": box((0, middle + high + 0.04, -0.015), (wide + 0.08, 0.04, 0.035), brown, turn),
        "low": box((0, middle - high - 0.04, -0.015), (wide + 0.08, 0.04, 0.035), brown, turn),
        "left": box((-wide - 0.04, middle - 0.045, -0.015), (0.04, high + 0.085, 0.035), brown, turn),
        "right": box((wide + 0.04, middle - 0.045, -0.015), (0.04, high + 0.085, 0.035), brown, turn),
        **plant((1.12, 0, 0.55), 0.92, 11, (0.42, 0.16, 0.08)),
    }


SETTING = Setting(
    "board", shapes, (0.7, 1.15, 5.0), (0.06, 0.86, 0), 34, printed,
    ("cafe_card", "market_board", "trail_board", "ferry_board", "recipe_card", "marathon_results", "league_page"),
    environment="venice", light=1.0, turn=150, white=0.8, front=True, aperture=0.02,
)  # fmt: skip
