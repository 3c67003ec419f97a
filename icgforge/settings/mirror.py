"""A sheet on the wall of a room beside a wall mirror."""

from __future__ import annotations

from icgforge.settings._lib import Setting, Shapes, box, fit, plaster, printed, rgb, sheet, stuff


def shapes(aspect: float, page: Shapes) -> Shapes:
    """Return the shapes; the mirror is at x = 0, the wall with the sheet at depth 0."""
    import mitsuba as mi

    wide, high = fit(aspect, 1.5, 2.0)
    to = mi.ScalarTransform4f()
    glass = {
        "type": "twosided",
        "inside": {"type": "conductor", "material": "none", "specular_reflectance": rgb(0.86, 0.89, 0.88)},
    }
    return {
        "wall": sheet((3, 1.4, 0), (3, 3), {"bsdf": plaster(3, (0.42, 0.47, 0.43))}),
        "mirror": {"type": "rectangle", "to_world": to.translate([0, 1.4, 1.6]).rotate([0, 1, 0], 90).scale([1.58, 1.5, 1]), "bsdf": glass},
        "side": {"type": "rectangle", "to_world": to.translate([-0.02, 1.4, 3]).rotate([0, 1, 0], 90).scale([3, 3, 1]), "bsdf": plaster(6, (0.42, 0.47, 0.43))},
        "rim": box((0, 1.4, 3.2), (0.02, 1.54, 0.025), stuff(rgb(0.5, 0.38, 0.18), 0.25, metallic=0.9)),
        "page": sheet((0.24 + wide, 1.4, 0.012), (wide, high), page),
        "back": box((0.24 + wide, 1.4, 0.005), (wide, high, 0.005), stuff(rgb(0.7), 0.6)),
        "pin": {"type": "sphere", "center": [0.24 + wide, 1.4 + high - 0.04, 0.03], "radius": 0.025, "bsdf": stuff(rgb(0.6, 0.05, 0.04), 0.2)},
    }  # fmt: skip


SETTING = Setting(
    "mirror", shapes, (1.2, 1.42, 4.9), (0.0, 1.4, 0), 42, printed,
    ("wedding_card", "daypage_leaf", "school_report", "concert_poster", "exam_notice", "course_flyer", "library_slip", "museum_sign", "dosage_plan"),
    environment="apartment", light=1.0, turn=100, size=(1152, 768), second="mirror", surfaces=("mirror",), flip="horizontal", seen_in="mirror image in the wall mirror", white=0.7,
)  # fmt: skip
