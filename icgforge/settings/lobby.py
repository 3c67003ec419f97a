"""A framed poster on the wall of a lobby; a plant stands before its corner."""

from __future__ import annotations

from icgforge.settings._lib import (
    Setting,
    Shapes,
    box,
    fit,
    ground,
    plant,
    plaster,
    printed,
    rgb,
    sheet,
    stone,
    stuff,
)


def shapes(aspect: float, page: Shapes) -> Shapes:
    """Return the shapes; the wall is at depth 0."""
    import mitsuba as mi

    wide, high = fit(aspect, 1.75, 2.1)
    oak = stuff(rgb(0.05, 0.035, 0.025), 0.4)
    spot = mi.ScalarTransform4f().look_at([-2.0, 3.9, 2.4], [0, 1.5, 0], [0, 1, 0]).scale([0.35, 0.35, 1])
    return {
        "light_spot": {"type": "rectangle", "to_world": spot, "emitter": {"type": "area", "radiance": rgb(22, 19.5, 16)}},
        "wall": sheet((0, 2, 0), (7, 4), {"bsdf": plaster(3, (0.52, 0.5, 0.47))}),
        "skirting": box((0, 0.06, 0.01), (7, 0.06, 0.015), stuff(rgb(0.6), 0.4)),
        "floor": ground(stone(8, (0.2, 0.19, 0.17), 0.25)),
        "frame": box((0, 1.5, 0.02), (wide + 0.05, high + 0.05, 0.025), oak),
        "page": sheet((0, 1.5, 0.048), (wide, high), page),
        **plant((0.83, 0, 0.55), 1.25, 21),
    }  # fmt: skip


SETTING = Setting(
    "lobby", shapes, (-0.75, 1.45, 4.5), (0.03, 1.43, 0), 32, printed,
    ("concert_poster", "festival_poster", "donation_poster", "chess_poster", "museum_sign", "course_flyer", "exam_notice"),
    environment="lobby", light=0.6, turn=180, size=(720, 960), white=0.72, front=True,
)  # fmt: skip
