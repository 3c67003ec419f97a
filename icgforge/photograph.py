"""A flat case as a photograph: its page in a path-traced setting, with the reflection or shadow of what changes as further nodes.

Rays from the camera say where each part of the page is seen, on itself and a second time on a shiny floor, a pane, a mirror or
a wall before a lamp. So every box, every covered part and every further node is predicted before anything dear is rendered, and
two renders with one seed confirm it: they may differ nowhere else.
"""

from __future__ import annotations

import base64
import glob
import hashlib
import io
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import islice, product, zip_longest
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from icgforge import scenes
from icgforge.derive import LARGEST, Box, Derived, Edit, Node, box_of, derive, twin_of
from icgforge.page import Browser, Document, browser, documents
from icgforge.settings import settings
from icgforge.settings._lib import Setting, rgb
from icgkit.cases.case import Case
from icgkit.errors import IcgError

SEEN, SMALL = 0.72, 8.0
"""A node on the page: least share of it in sight, least height of its ink in pixels of the photograph."""
PARTLY = 0.45
"""Least share in sight of a node that something stands in front of, where its visible part is what has to change."""
HIDDEN = 0.88
"""Share in sight below which a node is also one of occlusion."""
STRENGTH, LEGIBLE, LETTERS, SAME = 0.2, 50.0, 11.0, 0.7
"""A text seen a second time: least strength of the reflection, least contrast of 255, least height of its ink in pixels
(capitals of a type of 16), least correlation with the page thrown back."""
PLANE = 0.6
"""Strength from which a surface is a plane mirror, as sharp as the page itself."""
DIFFERENCE, DIFFERENCE_COLOR, UNSEEN = 10.0, 20.0, 3.0
"""Least mean change of 255 of a text and of a coloured patch seen a second time; below the last nobody sees a change."""
STRAY, PATCH = 3.0, 40
"""Mean change of 255 over 9 x 9 pixels, and pixels of it, from which a change where none was predicted rejects a case."""
SOFT = 7
"""Pixels about a change within which the photograph after may differ, because lenses and rough surfaces blur."""
AGAIN = "again:"
"""Begins the key of a node that is another one seen a second time."""
EACH, TRIES = 3, 6
"""Photographs of a document at most, and edits of it that are tried for each."""
MOST = 7
"""Nodes of a photographed case at most, those seen a second time included."""
PANORAMAS = Path(__file__).parent / "settings/environments/node_modules/@pmndrs/assets/hdri"


@dataclass(frozen=True, slots=True)
class Film:
    """Share of the setting's size, samples of a pixel (`check` of them for both states), and the seed of paths and grain."""

    scale: float = 1.0
    samples: int = 48
    check: int = 16
    seed: int = 3


@dataclass(frozen=True, slots=True)
class View:
    """What the camera sees of a page: masks of the page and of its second sight, and the point of the page (0 to 1) there."""

    on: np.ndarray
    off: np.ndarray
    place: np.ndarray
    strength: np.ndarray
    each: np.ndarray
    """Share of the page that a pixel shows; 0 where a neighbour shows something else."""


@dataclass
class Photograph:
    """A photographed case, the bytes of the picture before, and what a further state of the same page needs."""

    made: Derived
    flat: Derived
    jpeg: bytes
    light: np.ndarray = field(repr=False)
    gain: np.ndarray = field(repr=False)
    graded: np.ndarray = field(repr=False)


@cache
def engine() -> str:
    """Choose Mitsuba's variant, LLVM where its library is found, and return which.

    Raises
    ------
    IcgError
        If Mitsuba is not installed.
    """
    found = sorted(glob.glob("/usr/lib/*/libLLVM-1[5-9].so") + glob.glob("/usr/lib/*/libLLVM.so.19*"))
    if found:
        os.environ.setdefault("DRJIT_LIBLLVM_PATH", found[-1])
    try:
        import mitsuba as mi
    except ImportError:
        raise IcgError("photographs need Mitsuba", remedy="pip install mitsuba pyoidn") from None
    mi.set_variant("llvm_ad_rgb" if "DRJIT_LIBLLVM_PATH" in os.environ else "scalar_rgb")
    return str(mi.variant())


@cache
def environment(name: str) -> tuple[np.ndarray, str]:
    """Return the light around and where it is from: a CC0 panorama of the pinned `@pmndrs/assets`, else a drawn room.

    The panoramas are put there once, by `npm ci --ignore-scripts` in the folder `icgforge/settings/environments`; nothing is
    loaded from a network here.
    """
    import mitsuba as mi

    file = PANORAMAS / f"{name}.exr.js"
    if not file.is_file():
        return room(sum(name.encode())), "drawn"
    data = base64.b64decode(file.read_bytes().split(b"base64,", 1)[1].split(b"'", 1)[0])
    stream = mi.MemoryStream(len(data))
    stream.write(data)
    stream.seek(0)
    raw = mi.Bitmap(stream).convert(mi.Bitmap.PixelFormat.RGB, mi.Struct.Type.Float32, False)
    # Its compression leaves negative values, and suns that no number of samples makes smooth.
    light = np.clip(np.nan_to_num(np.array(raw)), 0, 200)
    large = cv2.resize(light, (2048, 1024), interpolation=cv2.INTER_CUBIC)
    return np.clip(large, 0, 200).astype(np.float32), "@pmndrs/assets 1.7.0"


def room(seed: int) -> np.ndarray:
    """Return a drawn panorama: walls, a floor, ceiling lights and windows, slightly out of focus."""
    rng = np.random.default_rng(seed)
    height, width = 256, 512
    up = np.linspace(1, -1, height)[:, None, None]
    out = np.where(up > 0, 0.22 + 0.25 * up, 0.16 + 0.1 * up) * np.array([1.0, 0.97, 0.92]) + np.zeros(
        (height, width, 1)
    )
    for x in np.cumsum(rng.integers(50, 110, 5)) % (width - 40):
        tall, wide = int(rng.integers(45, 75)), int(rng.integers(20, 44))
        out[120 - tall : 124, x : x + wide] = np.array([0.85, 0.95, 1.1]) * rng.uniform(3, 7)
        out[120 - tall : 124, x + wide // 2] = 0.3
    for x in range(int(rng.integers(0, 60)), width - 30, 85):
        out[28:42, x : x + 34] = np.array([1.1, 1.0, 0.88]) * 9
    out *= (
        1
        + 0.15
        * cv2.resize(rng.standard_normal((12, 24)), (width, height), interpolation=cv2.INTER_CUBIC)[..., None]
    )
    blurred: np.ndarray = np.clip(cv2.GaussianBlur(out, (0, 0), 2.5), 0.01, 200).astype(np.float32)
    return blurred


def _sensor(setting: Setting, film: Film, samples: int, lens: bool) -> dict[str, Any]:
    import mitsuba as mi

    width, height = (round(v * film.scale) for v in setting.size)
    out = {
        "type": "thinlens" if lens else "perspective", "fov": setting.fov, "fov_axis": "larger",
        "to_world": mi.ScalarTransform4f().look_at(list(setting.eye), list(setting.look), [0, 1, 0]),
        "film": {"type": "hdrfilm", "width": width, "height": height, "rfilter": {"type": "box"}, "component_format": "float32"},
        "sampler": {"type": "independent", "sample_count": samples},
    }  # fmt: skip
    if lens:
        away = float(np.linalg.norm(np.subtract(setting.eye, setting.look)))
        out |= {"aperture_radius": setting.aperture, "focus_distance": away}
    return out


def _scene(setting: Setting, linear: np.ndarray, film: Film, samples: int) -> dict[str, Any]:
    import mitsuba as mi

    light, _ = environment(setting.environment)
    return {
        "type": "scene", "sensor": _sensor(setting, film, samples, lens=True),
        **setting.shapes(linear.shape[1] / linear.shape[0], setting.page(linear)),
        "around": {"type": "envmap", "bitmap": mi.Bitmap(light), "scale": setting.light,
                   "to_world": mi.ScalarTransform4f().rotate([0, 1, 0], setting.turn)},
    }  # fmt: skip


def _rendered(scene: dict[str, Any], seed: int) -> np.ndarray:
    import mitsuba as mi

    return np.array(mi.render(mi.load_dict(scene), seed=seed))  # type: ignore[arg-type]


def _traced(setting: Setting, linear: np.ndarray, film: Film, samples: int, seed: int) -> np.ndarray:
    # Light that passes a clear page is found by the slower integrator alone.
    kind = "volpath" if setting.second == "lamp" else "path"
    scene = _scene(setting, linear, film, samples) | {
        "integrator": {"type": kind, "max_depth": 5, "rr_depth": 1000}
    }
    return _rendered(scene, seed)[..., :3]


def _guides(setting: Setting, linear: np.ndarray, film: Film, view: View) -> np.ndarray:
    """Return colour and direction of what each pixel shows, for the denoiser; the page's own colour in its second sight, too."""
    scene = _scene(setting, linear, film, 16) | {
        "integrator": {"type": "aov", "aovs": "al:albedo,nn:sh_normal"}
    }
    found = _rendered(scene, film.seed)[..., -6:]
    if setting.second != "lamp":
        shown = view.off | (view.on & ("emitter" in setting.page(linear[:2, :2])))
        page = _at_place(linear, view.place) * np.clip(np.where(view.on, 1, view.strength), 0, 1)[..., None]
        found[..., :3] = np.where(shown[..., None], np.clip(page + 0.02, 0, 1), found[..., :3])
    return found


@lru_cache(maxsize=24)
def look(setting: Setting, aspect: float, film: Film) -> View:
    """Return what the camera sees of a page of this shape, without a lens and without light."""
    import drjit as dr
    import mitsuba as mi

    engine()
    width, height = (round(v * film.scale) for v in setting.size)
    blank = np.full((8, max(2, round(8 * aspect)), 3), 1, np.float32)
    shapes = setting.shapes(aspect, setting.page(blank))
    scene = mi.load_dict({"type": "scene", "sensor": _sensor(setting, film, 1, lens=False), **shapes})
    index = dr.arange(mi.Float, width * height)
    y = dr.floor(index / width)
    at = mi.Point2f((index - y * width + 0.5) / width, (y + 0.5) / height)
    ray, _ = scene.sensors()[0].sample_ray(0.0, 0.5, at, mi.Point2f(0.5))
    hit = scene.ray_intersect(ray)
    page = next(s for s in scene.shapes() if s.id() == "page")

    def where(found: Any) -> tuple[np.ndarray, np.ndarray]:
        here = np.array(found.is_valid() & (found.shape == mi.ShapePtr(page))).reshape(height, width)
        uv = np.array(found.uv).T.reshape(height, width, 2)
        return here, np.stack([uv[..., 0], 1 - uv[..., 1]], -1)

    on, place = where(hit)
    off, strength = np.zeros_like(on), np.ones(on.shape, np.float32)
    if setting.second:
        glossy = mi.Bool(False)
        for shape in scene.shapes():
            if shape.id() in setting.surfaces:
                glossy |= hit.shape == mi.ShapePtr(shape)
        if setting.second == "mirror":
            normal = hit.n
            onward = ray.d - 2 * dr.dot(ray.d, normal) * normal
        else:
            onward = dr.normalize(mi.Point3f(*setting.lamp) - hit.p)
        again = scene.ray_intersect(hit.spawn_ray(onward))
        if setting.second == "mirror":
            glossy &= dr.dot(again.n, onward) < 0
        there, place2 = where(again)
        off = there & np.array(hit.is_valid() & glossy).reshape(height, width)
        place = np.where(on[..., None], place, place2)
        if setting.second == "mirror":
            strength = _smooth(_strength(setting, aspect, film), off & ~on)
    off &= ~on
    place = place.astype(np.float32)
    (uy, ux), (vy, vx) = (np.gradient(place[..., axis]) for axis in (0, 1))
    inner = np.maximum(*(cv2.erode(m.astype(np.uint8), np.ones((3, 3)), borderValue=0) for m in (on, off)))
    return View(on, off, place, strength, np.where(inner > 0, np.abs(ux * vy - uy * vx), 0))


def _strength(setting: Setting, aspect: float, film: Film) -> np.ndarray:
    """Return how much of the page's light each pixel throws back: the page is the only light, and light turns once."""
    bright = {
        "bsdf": {"type": "diffuse", "reflectance": rgb(0.0)},
        "emitter": {"type": "area", "radiance": rgb(1.0)},
    }
    shapes = {k: v for k, v in setting.shapes(aspect, bright).items() if not k.startswith("light")}
    small = replace(film, scale=film.scale / 2)
    scene = {
        "type": "scene", "sensor": _sensor(setting, small, 32, lens=False), "integrator": {"type": "path", "max_depth": 2, "rr_depth": 1000}, **shapes,
    }  # fmt: skip
    found = _rendered(scene, film.seed)[..., 0]
    width, height = (round(v * film.scale) for v in setting.size)
    return np.asarray(cv2.resize(found, (width, height), interpolation=cv2.INTER_LINEAR))


def _smooth(values: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Return values without their noise, each taken from its neighbours in the mask."""
    inside = cv2.erode(mask.astype(np.float32), np.ones((5, 5)))
    weight = cv2.GaussianBlur(inside, (0, 0), 7)
    found = cv2.GaussianBlur(values * inside, (0, 0), 7) / np.maximum(weight, 1e-6)
    return np.asarray(np.where(mask & (weight > 1e-3), found, 0), np.float32)


def linear_of(pixels: np.ndarray) -> np.ndarray:
    """Return the light of 8-bit sRGB values, 0 to 1."""
    x = pixels.astype(np.float32) / 255
    return np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4).astype(np.float32)


def _denoised(color: np.ndarray, guides: np.ndarray) -> np.ndarray:
    import pyoidn

    rgb, out = np.ascontiguousarray(color, np.float32), np.zeros(color.shape, np.float32)
    albedo, normal = (np.ascontiguousarray(guides[..., k : k + 3], np.float32) for k in (0, 3))
    with pyoidn.Device() as device:
        device.commit()
        with pyoidn.Filter(device, pyoidn.OIDN_FILTER_TYPE_RT) as work:
            for name, image in (("color", rgb), ("albedo", albedo), ("normal", normal), ("output", out)):
                work.set_image(name, image, pyoidn.OIDN_FORMAT_FLOAT3)
            work.set_bool("hdr", True)
            work.commit()
            work.execute()
    return out


def _gain(setting: Setting, view: View, light: np.ndarray, linear: np.ndarray) -> np.ndarray:
    """Return the exposure of each channel: the page's white reaches the setting's level, most of its tint is taken out."""
    page = _at_place(linear, view.place)
    bright = view.on & (page.min(-1) > max(0.2, 0.8 * float(np.quantile(page.min(-1)[view.on], 0.95))))
    if setting.second == "lamp" or bright.sum() < 50:
        found = np.quantile(light[view.on | view.off] if bright.sum() < 50 else light.reshape(-1, 3), 0.97, 0)
    else:
        found = np.median(light[bright] / np.maximum(page[bright], 1e-3), 0)
    mean = float(found.mean())
    return np.asarray((mean / np.maximum(found, 1e-4)) ** setting.balance * setting.white / mean, np.float32)


def _graded(light: np.ndarray) -> np.ndarray:
    """Return light as 0 to 255: a straight curve with a soft shoulder, corners a little darker."""
    x = np.clip(light, 0, None)
    x = np.where(x > 0.75, 0.75 + 0.25 * np.tanh((x - 0.75) / 0.25), x)
    height, width = x.shape[:2]
    yy, xx = np.mgrid[0:height, 0:width].astype(np.float32)
    away = ((xx - width / 2) ** 2 + (yy - height / 2) ** 2) / max(width, height) ** 2
    x = x * (1 - 0.45 * away[..., None])
    return np.asarray(
        255 * np.where(x <= 0.0031308, 12.92 * x, 1.055 * np.maximum(x, 1e-6) ** (1 / 2.4) - 0.055)
    )


def _at_place(page: np.ndarray, place: np.ndarray) -> np.ndarray:
    height, width = page.shape[:2]
    x, y = place[..., 0] * width - 0.5, place[..., 1] * height - 0.5
    return cv2.remap(
        page, x.astype(np.float32), y.astype(np.float32), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )


@dataclass(frozen=True)
class _Part:
    """Where a box of the page is seen: its pixels, the share of it in sight, and the scale of the page there."""

    mask: np.ndarray
    share: float
    scale: float

    @property
    def box(self) -> Box | None:
        return box_of(self.mask)


def _part(view: View, layer: np.ndarray, box: Box | None, size: tuple[int, ...]) -> _Part:
    if box is None:
        return _Part(np.zeros_like(layer), 0.0, 0.0)
    x, y = view.place[..., 0] * size[0], view.place[..., 1] * size[1]
    mask = layer & (x >= box[0]) & (x < box[2]) & (y >= box[1]) & (y < box[3])
    each = view.each[mask & (view.each > 0)] * size[0] * size[1]
    if not each.size:
        return _Part(mask, 0.0, 0.0)
    share = mask.sum() * each.mean() / ((box[2] - box[0]) * (box[3] - box[1]))
    return _Part(mask, float(min(1, share)), float(1 / np.sqrt(each.mean())))


def _parts(view: View, layer: np.ndarray, node: Node, size: tuple[int, int]) -> list[_Part]:
    return [_part(view, layer, box, size) for box in (node.before, node.after)]


def _height(node: Node, parts: list[_Part]) -> float:
    return min((b[3] - b[1]) * p.scale for b, p in zip((node.before, node.after), parts, strict=True) if b)


def _letters(strength: float) -> float:
    return SMALL if strength >= PLANE else LETTERS


def predict(made: Derived, setting: Setting, film: Film | None = None) -> list[str]:
    """Return why a case cannot be photographed in a setting, as far as rays tell: covered, too small, or thrown back too faintly."""
    view, size = (
        look(setting, made.before.shape[1] / made.before.shape[0], film or Film()),
        made.before.shape[1::-1],
    )
    out, many = [], len(made.nodes)
    for node in [made.target, *made.nodes]:
        parts = _parts(view, view.on, node, size)
        least = PARTLY if setting.front and node is not made.target else SEEN
        if any(b and p.share < least for b, p in zip((node.before, node.after), parts, strict=True)):
            out.append(f"covered in the photograph: {node.key}")
        elif _height(node, parts) < SMALL:
            out.append(f"too small in the photograph: {node.key}, {_height(node, parts):.1f} px")
        again = _parts(view, view.off, node, size)
        mask = again[0].mask | again[1].mask
        if mask.sum() < 20:
            continue
        strength = float(view.strength[mask].mean())
        told = [
            _graded(strength * setting.white * _at_place(linear_of(s), view.place))
            for s in (made.before, made.after)
        ]
        if np.abs(told[0] - told[1])[mask].mean() < UNSEEN:
            continue
        many += 1
        if (
            strength < STRENGTH
            or min(p.share for b, p in zip((node.before, node.after), again, strict=True) if b) < SEEN
            or _height(node, again) < _letters(strength)
        ):
            out.append(
                f"seen a second time, but not to be read: {node.key}, strength {strength:.2f}, {_height(node, again):.1f} px"
            )
    return [*out, f"more than {MOST} nodes: {many}"] if many > MOST else out


def photograph(
    made: Derived, setting: Setting, film: Film | None = None, first: Photograph | None = None
) -> Photograph:
    """Photograph both states of a flat case; what is wrong with it is in `made.rejected` of the result.

    `first` is the photograph of another case of the same page, whose light is taken where the two pages are equal (for a twin).
    """
    film = film or Film()
    engine()
    states = [linear_of(s) for s in (made.before, made.after)]
    view = look(setting, made.before.shape[1] / made.before.shape[0], film)
    rounds = 1 if first else max(1, film.samples // film.check)
    probes = [_traced(setting, states[0], film, film.check, film.seed + k) for k in range(rounds)]
    other = _traced(setting, states[1], film, film.check, film.seed)
    touched = _touched(made.before, made.after, view)
    light = np.mean(probes, 0)
    if first:
        light = np.where(_wide(_touched(first.flat.before, made.before, view)), light, first.light)
    # The state after is a render of its own where the page changes, the state before elsewhere.
    noisy = [light, np.where(_wide(touched), other, light)]
    shots = [_denoised(n, _guides(setting, s, film, view)) for n, s in zip(noisy, states, strict=True)]
    gain = first.gain if first else _gain(setting, view, shots[0], states[0])
    graded = [_graded(s * gain) for s in shots]
    told = Photograph(made, made, b"", light, gain, graded[0])
    if first:
        soft, _ = _blend(_touched(first.flat.before, made.before, view))
        told.graded = graded[0] = first.graded * (1 - soft) + graded[0] * soft
    stray = np.abs(_graded(probes[0] * gain) - _graded(other * gain)).mean(-1)
    nodes, mask, rejected, looks = _nodes(made, setting, view, graded)
    soft, allowed = _blend(mask)
    rejected += _strays(np.where(allowed, 0, stray))
    told.jpeg = _jpeg(graded[0], film)
    before = _opened(told.jpeg)
    after = _opened(_jpeg(graded[0] * (1 - soft) + graded[1] * soft, film))
    told.made = replace(
        made, before=before, after=np.where(allowed[..., None], after, before), target=nodes[0], nodes=nodes[1:], rejected=rejected, looks=looks,
    )  # fmt: skip
    return told


def _touched(before: np.ndarray, after: np.ndarray, view: View, around: int = 5) -> np.ndarray:
    """Return where the difference of two pages is seen."""
    differs = cv2.dilate((before != after).any(2).astype(np.float32), np.ones((around, around)))
    return np.asarray((_at_place(differs, view.place) > 0.1) & (view.on | view.off))


def _wide(mask: np.ndarray) -> np.ndarray:
    return (cv2.dilate(mask.astype(np.uint8), np.ones((2 * SOFT + 1, 2 * SOFT + 1))) > 0)[..., None]


def _blend(mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how much of the state after is shown, soft at its edge, and where it may be shown at all."""
    allowed = cv2.dilate(mask.astype(np.uint8), np.ones((2 * SOFT + 1, 2 * SOFT + 1))) > 0
    soft = cv2.GaussianBlur(cv2.dilate(mask.astype(np.float32), np.ones((SOFT, SOFT))), (0, 0), 1.2)
    return np.where(allowed, soft, 0)[..., None], allowed


def _nodes(
    made: Derived, setting: Setting, view: View, graded: list[np.ndarray]
) -> tuple[list[Node], np.ndarray, list[str], dict[str, Any]]:
    """Return target and nodes with their boxes in the photograph, the pixels that may change, and what is wrong."""
    size = made.before.shape[1::-1]
    touched, core = _touched(made.before, made.after, view), _touched(made.before, made.after, view, 1)
    change = np.abs(graded[0] - graded[1]).mean(-1)
    rejected, looks = list(made.rejected), dict(made.looks)
    nodes, mirrors, mask = [], [], touched & view.on
    for node in [made.target, *made.nodes]:
        parts = _parts(view, view.on, node, size)
        moved, both = _moved(node, parts), (parts[0].mask | parts[1].mask) & core
        if not both.any() or change[both].mean() < UNSEEN:
            rejected.append(f"not seen to change in the photograph: {node.key}")
        if node is not made.target:
            hidden = min(p.share for p in parts if p.share) < HIDDEN if any(p.share for p in parts) else False
            more = [setting.also] * bool(setting.also) + ["physical_occlusion"] * (hidden and setting.front)
            moved.also = tuple(dict.fromkeys([*node.also, *more]))
        nodes.append(moved)
        again = _parts(view, view.off, node, size)
        both = (again[0].mask | again[1].mask) & (view.strength > 0.02)
        if (both & core).sum() < 12 or change[both & core].mean() < UNSEEN:
            continue
        if wrong := _unread(node, made, view, graded[0], change, again, core):
            rejected.append(f"seen a second time, but not to be read: {node.key}, {wrong}")
            continue
        mirror = replace(
            _moved(node, again), key=f"{AGAIN}{node.key}", kind="shadow" if setting.second == "lamp" else "reflection", also=(),
            mirrors=node.key, seen_in=setting.seen_in, flipped=setting.flip,
        )  # fmt: skip
        if node.key in looks:
            looks[mirror.key] = looks[node.key]
        mirrors.append(mirror)
        mask |= touched & view.off & (cv2.dilate(both.astype(np.uint8), np.ones((9, 9))) > 0)
    if mask.mean() > LARGEST:
        rejected.append("the changes cover the photograph")
    return [*nodes, *mirrors], mask, rejected, looks


def _moved(node: Node, parts: list[_Part]) -> Node:
    out = copy(node)
    out.before, out.after = (p.box for p in parts)
    if node.shift is not None and out.before and out.after:
        a, b = out.before, out.after
        out.shift = round((b[0] + b[2] - a[0] - a[2]) / 2), round((b[1] + b[3] - a[1] - a[3]) / 2)
    return out


def _unread(
    node: Node,
    made: Derived,
    view: View,
    picture: np.ndarray,
    change: np.ndarray,
    parts: list[_Part],
    core: np.ndarray,
) -> str:
    """Return why a second sight of a node cannot be read, or nothing."""
    mask = parts[0].mask if node.before else parts[1].mask
    both = (parts[0].mask | parts[1].mask) & core
    changed, strength = float(change[both].mean()), float(view.strength[mask].mean())
    share = min(p.share for b, p in zip((node.before, node.after), parts, strict=True) if b)
    if share < SEEN:
        return f"only {share:.2f} of it in the picture"
    if not (node.was or node.now) or not ({"content", "appears", "vanishes"} & set(node.change)):
        return "" if changed >= DIFFERENCE_COLOR else f"its colour changes by {changed:.0f}"
    tones = np.percentile(picture[mask].mean(-1), [4, 96])
    page = _at_place(made.before, view.place).mean(-1)[mask].astype(float)
    same = abs(float(np.corrcoef(page, picture[mask].mean(-1))[0, 1])) if page.std() > 1 else 0.0
    faults = {
        f"strength {strength:.2f}": strength < STRENGTH, f"change {changed:.1f}": changed < DIFFERENCE, f"contrast {tones[1] - tones[0]:.0f}": tones[1] - tones[0] < LEGIBLE,
        f"{_height(node, parts):.1f} px high": _height(node, parts) < _letters(strength), f"like the page by {same:.2f}": node.before is not None and same < SAME,
    }  # fmt: skip
    return ", ".join(k for k, bad in faults.items() if bad)


def _strays(stray: np.ndarray) -> list[str]:
    blurred = cv2.blur(stray.astype(np.float32), (9, 9)) > STRAY
    count, _, stats, _ = cv2.connectedComponentsWithStats(blurred.astype(np.uint8))
    found = [tuple(int(v) for v in stats[k][:4]) for k in range(1, count) if stats[k][4] > PATCH]
    return [f"changes where nothing was predicted: {', '.join(map(str, found[:4]))}"] if found else []


def _jpeg(picture: np.ndarray, film: Film, quality: int = 91) -> bytes:
    """Return a picture as a camera writes it, with the grain of the film's seed."""
    from PIL import Image

    grain = np.random.default_rng(film.seed).normal(0, 1, picture.shape).astype(np.float32)
    out = io.BytesIO()
    grained = np.clip(picture + cv2.GaussianBlur(grain, (0, 0), 0.6) * 3.0, 0, 255).astype(np.uint8)
    Image.fromarray(grained).save(out, "JPEG", quality=quality, subsampling=0)
    return out.getvalue()


def _opened(data: bytes) -> np.ndarray:
    from PIL import Image

    return np.array(Image.open(io.BytesIO(data)).convert("RGB"))


def make(chromium: Browser, edit: Edit, name: str, setting: Setting, film: Film | None = None) -> tuple[scenes.Made | None, list[str]]:  # fmt: skip
    """Make one photographed case, or say why it is rejected; what rays tell is asked before anything is rendered."""
    film = film or Film()
    flat = derive(chromium, edit)
    reasons = flat.rejected or ([] if flat.nodes else ["nothing follows"]) or predict(flat, setting, film)
    if reasons:
        return None, list(reasons)
    shot = photograph(flat, setting, film)
    if shot.made.rejected:
        return None, list(shot.made.rejected)
    files = {
        f"images/{name}.jpg": shot.jpeg,
        f"after/{name}.webp": scenes.patch(shot.made.before, shot.made.after),
    }
    about = {"setting": setting.name, "light": environment(setting.environment)[1], "samples": film.samples}
    case = scenes.case_of(shot.made, name, files, about)
    twins = (_twin(chromium, shot, case, (setting, film), files), scenes.infeasible(shot.made, case))
    return scenes.Made(case, files, tuple(t for t in twins if t)), []


def _twin(chromium: Browser, shot: Photograph, case: Case, place: tuple[Setting, Film], files: dict[str, bytes]) -> Case | None:  # fmt: skip
    cut = twin_of(shot.flat.edit, shot.flat)
    if cut is None:
        return None
    edit, frozen, gone = cut
    flat = derive(chromium, edit, frozen)
    if flat.rejected or {n.key for n in flat.nodes} & gone or flat.target.was != shot.flat.target.was:
        return None
    twin = photograph(flat, *place, first=shot)
    if twin.made.rejected:
        return None
    path = f"twins/{case.id}.jpg"
    files[path] = twin.jpeg
    gone |= {f"{AGAIN}{key}" for key in gone}
    return scenes.twin_case((shot.made, twin.made), case, gone, (path, twin.jpeg))


def pairs() -> list[tuple[Setting, Document]]:
    """Return every setting with every document that may stand in it, settings in turn."""
    known = documents()
    rows = [[(s, known[d]) for d in s.documents if d in known] for s in settings().values()]
    return [pair for turn in zip_longest(*rows) for pair in turn if pair]


def photographs(
    out: Path,
    n: int,
    seed: str = "1",
    held_out_seed: str = "",
    chromium: Browser | None = None,
    progress: Callable[[str], Any] | None = None,
) -> Iterator[scenes.Row]:
    """Make up to `n` photographed cases into a folder and yield the line of each, as `scenes.draw` writes it.

    Documents that are held out are drawn by `held_out_seed`, if there is one.

    A setting and a document are taken in turn, an edit is used in one setting only, a document at most `EACH` times. What is
    there already is not made again.
    """
    log = scenes.Log(out)
    used, taken = Counter[str](), set[str]()
    opened: AbstractContextManager[Browser] = nullcontext(chromium) if chromium else browser()
    with opened as page:
        for turn, (setting, doc) in product(range(EACH), pairs()):
            key = f"{setting.name}/{doc.name}"
            if used[doc.name] >= EACH or used[key] < turn or len(taken) >= n:
                continue
            own = (held_out_seed or seed) if scenes.split_of(doc) == "held_out" else seed
            stamp = _stamp(doc, setting, own)
            for name, edit in islice(scenes.candidates(doc, f"photo/{own}"), TRIES):
                if name in taken:
                    continue
                label = f"photo-{setting.name}-{name}"
                row = log.get(stamp, label)
                if row is None:
                    row = scenes.written(out, label, stamp, make(page, edit, label, setting))
                    log.add(row)
                if progress:
                    progress(f"{label}: {', '.join(row['reasons']) or 'made'}")
                if row["case"]:
                    taken.add(name)
                    used.update([doc.name, key])
                    yield row
                    break


def _stamp(doc: Document, setting: Setting, seed: str) -> str:
    """Return the hash of all that a photographed case hangs on."""
    here = Path(__file__).parent
    parts = [here / "photograph.py", here / "settings/_lib.py", here / f"settings/{setting.name}.py"]
    known = scenes.stamp_of(doc, f"photo/{seed}").encode() + b"".join(p.read_bytes() for p in parts)
    return hashlib.sha256(known).hexdigest()[:16]
