"""A lit sign beside a dark, mirroring pane of a shop front."""

from __future__ import annotations

from icgforge.settings._lib import Setting, Shapes, box, fit, ground, paving, rgb, sheet, shining, stuff


def shapes(aspect: float, page: Shapes) -> Shapes:
    """Return the shapes; the pane stands at x = 0 and runs to the front."""
    import mitsuba as mi

    wide, high = fit(aspect, 1.55, 2.05)
    to = mi.ScalarTransform4f()
    turn = to.translate([0.16 + wide, 0, 0]).rotate([0, 1, 0], -6)
    tinted = {
        "type": "blendbsdf",
        "weight": 0.75,
        "a": {"type": "diffuse", "reflectance": rgb(0.012, 0.014, 0.016)},
        "b": {"type": "conductor", "material": "none", "specular_reflectance": rgb(0.9, 0.95, 0.94)},
    }
    metal = stuff(rgb(0.03), 0.35, metallic=0.5)
    return {
        "floor": ground(paving(4)),
        "pane": {"type": "rectangle", "to_world": to.translate([0, 2, 2]).rotate([0, 1, 0], 90).scale([4.5, 2.2, 1]), "bsdf": {"type": "twosided", "inside": tinted}},
        "sill": box((0, 0.05, 2), (0.03, 0.06, 4.5), stuff(rgb(0.12), 0.4, metallic=0.8)),
        "page": sheet((0, high + 0.3, 0.071), (wide, high), page, turn),
        "case": box((0, high + 0.3, 0), (wide + 0.04, high + 0.04, 0.07), metal, turn),
        "post": box((0, 0.14, -0.02), (0.3, 0.14, 0.05), metal, turn),
    }  # fmt: skip


SETTING = Setting(
    "window", shapes, (1.15, 1.3, 5.0), (-0.02, 1.27, 0), 43, shining(1.3),
    ("donation_poster", "museum_sign", "floors_lift", "chess_poster", "festival_poster", "concert_poster", "course_flyer", "daypage_leaf"),
    environment="city", light=0.6, turn=60, size=(1152, 768), second="mirror", surfaces=("pane",), flip="horizontal", seen_in="mirror image in the dark window pane",
)  # fmt: skip
