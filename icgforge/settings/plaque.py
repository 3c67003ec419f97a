"""An etched brass plate on a wall of dark stone."""

from __future__ import annotations

from icgforge.settings._lib import Setting, Shapes, box, engraved, fit, plaster, rgb, sheet, stuff


def shapes(aspect: float, page: Shapes) -> Shapes:
    """Return the shapes; the wall is at depth 0."""
    import mitsuba as mi

    wide, high = fit(aspect, 2.3, 1.72)
    brass = stuff(rgb(0.8, 0.6, 0.32), 0.25, metallic=0.9)
    screws = {
        f"screw{i}{j}": {"type": "sphere", "center": [i * (wide + 0.04), j * (high + 0.04), 0.05], "radius": 0.022, "bsdf": brass}
        for i in (-1, 1) for j in (-1, 1)
    }  # fmt: skip
    return {
        "wall": sheet((0, 0, 0), (6, 5), {"bsdf": plaster(12, (0.075, 0.08, 0.085), 0.5, 3.0)}),
        "plate": box((0, 0, 0.025), (wide + 0.08, high + 0.08, 0.025), brass),
        "page": sheet((0, 0, 0.0515), (wide, high), page),
        "light_sky": {"type": "rectangle", "to_world": mi.ScalarTransform4f().look_at([-2.2, 3.0, 2.6], [0, 0, 0], [0, 1, 0]).scale([1.6, 0.7, 1]),
                      "emitter": {"type": "area", "radiance": rgb(3.2, 3.3, 3.6)}},
        **screws,
    }  # fmt: skip


SETTING = Setting(
    "plaque", shapes, (0.9, -0.1, 3.9), (0.02, 0.0, 0), 37, engraved,
    ("marathon_certificate", "museum_sign", "trail_board", "cafe_card", "exam_notice", "wedding_card"),
    environment="city", light=1.0, turn=20, white=0.62, also="style_material", balance=0.0,
)  # fmt: skip
