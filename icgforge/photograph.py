"""A flat case as a photograph: the page shines in a path-traced setting, and a pass of light alone says where each part of it is seen."""

from __future__ import annotations

import base64
import glob
import io
import os
import tarfile
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import cv2
import numpy as np

from icgforge.derive import LARGEST, Box, Derived, Node
from icgforge.settings import Setting
from icgkit.errors import IcgError

STRENGTH, DIFFERENCE, LEGIBLE, LETTERS = 0.25, 10.0, 60.0, 16
"""A reflected node: least strength of the reflection, mean change and contrast of 255, height in pixels."""
SEEN, SMALL = 0.7, 8
"""A node on the page: least share that is not covered, least height in pixels."""
FEATHER = 3
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "icgforge"


@dataclass(frozen=True, slots=True)
class Film:
    """Size in pixels, samples of a pixel, and the seed of paths and grain."""

    width: int = 1024
    height: int = 704
    samples: int = 64
    seed: int = 3


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


def environment(name: str) -> np.ndarray:
    """Return the light around: a CC0 panorama of `@pmndrs/assets` from the cache folder, else a plain sky."""
    import mitsuba as mi

    packed = sorted(CACHE.glob("pmndrs-assets-*.tgz"))
    if packed:
        with tarfile.open(packed[-1]) as tar:
            member = next((m for m in tar.getmembers() if m.name.endswith(f"/{name}.exr.js")), None)
            stream = tar.extractfile(member) if member else None
            if stream is not None:
                file = CACHE / f"{name}.exr"
                file.write_bytes(base64.b64decode(stream.read().split(b"base64,", 1)[1].split(b"'", 1)[0]))
                raw = mi.Bitmap(str(file)).convert(mi.Bitmap.PixelFormat.RGB, mi.Struct.Type.Float32, False)
                return np.clip(np.nan_to_num(np.array(raw)), 0, 200).astype(np.float32)  # type: ignore[no-any-return]
    up = np.linspace(1, -1, 64, dtype=np.float32)[:, None, None]
    sky = np.where(up > 0, np.array([0.5, 0.6, 0.8]) + 0.6 * (1 - up), 0.15)
    return np.repeat(sky, 128, 1).astype(np.float32)


def _render(setting: Setting, light: np.ndarray, film: Film, depth: int, around: bool) -> np.ndarray:
    import mitsuba as mi

    to = mi.ScalarTransform4f
    radiance = {
        "type": "bitmap",
        "bitmap": mi.Bitmap(np.ascontiguousarray(light[::-1], np.float32)),
        "raw": True,
        "wrap_mode": "clamp",
    }
    page = {
        "bsdf": {"type": "diffuse", "reflectance": {"type": "rgb", "value": 0.02 if around else 0.0}},
        "emitter": {"type": "area", "radiance": radiance},
    }
    scene = {
        "type": "scene", "integrator": {"type": "path", "max_depth": depth, "rr_depth": 1000},
        "sensor": {"type": "perspective", "fov": setting.fov, "to_world": to().look_at(list(setting.eye), list(setting.look), [0, 1, 0]),
                   "film": {"type": "hdrfilm", "width": film.width, "height": film.height, "rfilter": {"type": "box"}, "component_format": "float32"},
                   "sampler": {"type": "independent", "sample_count": film.samples}},
        **setting.shapes(light.shape[1] / light.shape[0], page),
    }  # fmt: skip
    if around:
        scene["around"] = {
            "type": "envmap",
            "bitmap": mi.Bitmap(environment(setting.environment)),
            "scale": setting.light,
        }
    return np.array(mi.render(mi.load_dict(scene), seed=film.seed))[..., :3]  # type: ignore[arg-type]


def _denoise(color: np.ndarray) -> np.ndarray:
    import pyoidn

    rgb, out = np.ascontiguousarray(color, np.float32), np.zeros(color.shape, np.float32)
    with pyoidn.Device() as device:
        device.commit()
        with pyoidn.Filter(device, pyoidn.OIDN_FILTER_TYPE_RT) as work:
            work.set_image("color", rgb, pyoidn.OIDN_FORMAT_FLOAT3)
            work.set_image("output", out, pyoidn.OIDN_FORMAT_FLOAT3)
            work.set_bool("hdr", True)
            work.commit()
            work.execute()
    return out


def _graded(linear: np.ndarray) -> np.ndarray:
    x = np.clip(linear, 0, None)
    x = np.where(x > 0.8, 0.8 + 0.2 * np.tanh((x - 0.8) / 0.2), x)
    return np.where(x <= 0.0031308, 12.92 * x, 1.055 * np.maximum(x, 1e-6) ** (1 / 2.4) - 0.055) * 255  # type: ignore[no-any-return]


def _around(mask: np.ndarray) -> Box | None:
    ys, xs = np.nonzero(mask)
    return (int(xs.min()), int(ys.min()), int(xs.max()) + 1, int(ys.max()) + 1) if len(xs) else None


def photograph(made: Derived, setting: Setting, film: Film | None = None) -> Derived:
    """Return a flat case as it looks in a setting, with what the floor shows as further nodes; its faults are in `rejected`."""
    film = film or Film()
    engine()
    height, width = made.before.shape[:2]
    yy, xx = np.mgrid[0:height, 0:width].astype(np.float32)
    where = np.stack([(xx + 0.5) / width, (yy + 0.5) / height, np.ones_like(xx)], -1)
    direct = _render(setting, where, replace(film, samples=16), 1, around=False)
    twice = _render(setting, where, replace(film, samples=16), 2, around=False)
    on = direct[..., 2] > 0.5
    strength = np.where(direct[..., 2] > 0.01, 0, twice[..., 2])
    place = np.where(on[..., None], direct, twice)
    place = place[..., :2] / np.maximum(place[..., 2:], 1e-6) * (width, height)

    def shown(box: Box | None, layer: np.ndarray) -> np.ndarray:
        if box is None:
            return np.zeros_like(layer)
        u, v = place[..., 0], place[..., 1]
        return layer & (u >= box[0] - 2) & (u < box[2] + 2) & (v >= box[1] - 2) & (v < box[3] + 2)

    states = []
    for pixels in (made.before, made.after):
        x = pixels.astype(np.float32) / 255
        linear = np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)
        states.append(_graded(_denoise(_render(setting, linear, film, 6, around=True))))
    change = np.abs(states[0] - states[1]).mean(-1)
    rejected, mask, nodes = list(made.rejected), np.zeros_like(on), []
    for node in [made.target, *made.nodes]:
        boxes = []
        for box in (node.before, node.after):
            part = shown(box, on)
            mask |= part
            boxes.append(_around(part))
        seen = [b for b in boxes if b]
        if not seen or seen[0][3] - seen[0][1] < SMALL:
            rejected.append(f"too small or covered in the photograph: {node.key}")
        elif change[shown(node.before, on) | shown(node.after, on)].mean() < 2:
            rejected.append(f"not seen to change in the photograph: {node.key}")
        moved = deepcopy(node)
        moved.before, moved.after = boxes
        nodes.append(moved)
        mirror = shown(node.before, strength > 0.02) | shown(node.after, strength > 0.02)
        box = _around(mirror)
        if box is None or change[mirror].mean() < 2:
            continue
        tones = np.percentile(states[0][mirror].mean(-1), [5, 95])
        if (
            change[mirror].mean() >= DIFFERENCE
            and strength[mirror].mean() >= STRENGTH
            and tones[1] - tones[0] >= LEGIBLE
            and box[3] - box[1] >= LETTERS
        ):
            nodes.append(
                Node(
                    f"reflection:{node.key}",
                    node.fact,
                    "reflection",
                    node.change,
                    node.was,
                    node.now,
                    box,
                    box,
                )
            )
            mask |= mirror
        else:
            rejected.append(f"a reflection that changes but cannot be read: {node.key}")
    if mask.mean() > LARGEST:
        rejected.append("nodes cover the photograph")
    soft = cv2.GaussianBlur(cv2.dilate(mask.astype(np.float32), np.ones((5, 5))), (0, 0), FEATHER / 2)
    soft = np.where(cv2.dilate(mask.astype(np.uint8), np.ones((9, 9))) > 0, soft, 0)[..., None]
    after = states[0] * (1 - soft) + states[1] * soft
    grain = (
        cv2.GaussianBlur(
            np.random.default_rng(film.seed).normal(0, 1, after.shape).astype(np.float32), (0, 0), 0.6
        )
        * 3.2
    )
    out = [np.clip(s + grain, 0, 255).astype(np.uint8) for s in (states[0], after)]
    return replace(made, before=out[0], after=out[1], target=nodes[0], nodes=nodes[1:], rejected=rejected)


def jpeg(pixels: np.ndarray, quality: int = 90) -> bytes:
    """Return a photograph as a camera writes it."""
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=quality)
    return out.getvalue()
