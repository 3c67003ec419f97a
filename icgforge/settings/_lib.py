"""What settings are made of: the frozen description, ways to show a page, materials and meshes for Mitsuba."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import cv2
import numpy as np

Shapes = dict[str, Any]
Point = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Setting:
    """A place for a page: its shapes (given the aspect of the page and what the page is made of), camera and light.

    The shape `page` carries the page, texture coordinates from its lower left corner; shapes named `light…` shine.
    `second` says how the page is seen a second time, on the shapes `surfaces`: `mirror` (a ray thrown back reaches it) or
    `lamp` (it stands between there and the point `lamp`); `seen_in` are the words for that, `flip` says which way it is
    turned over (vertical or horizontal). `also` is a further subtype of
    nodes on the page that holds because of its shape or material; `front` says whether something stands before the page, `white` the
    level that the page's white reaches in the picture, `balance` how much of the light's tint on it is taken out.
    """

    name: str
    shapes: Callable[[float, Shapes], Shapes]
    eye: Point
    look: Point
    fov: float
    page: Callable[[np.ndarray], Shapes]
    documents: tuple[str, ...]
    environment: str
    light: float
    turn: float = 0.0
    size: tuple[int, int] = (1024, 704)
    second: str = ""
    surfaces: tuple[str, ...] = ()
    seen_in: str = ""
    flip: str = ""
    lamp: Point = (0.0, 0.0, 0.0)
    aperture: float = 0.01
    white: float = 0.8
    also: str = ""
    front: bool = False
    balance: float = 0.7


def texture(data: np.ndarray, scale: float = 1.0, wrap: str = "mirror") -> Shapes:
    """Return linear values (rows from the top) as a texture of Mitsuba."""
    import mitsuba as mi

    out: Shapes = {
        "type": "bitmap", "bitmap": mi.Bitmap(np.ascontiguousarray(data[::-1], np.float32)), "raw": True, "wrap_mode": wrap,
    }  # fmt: skip
    if scale != 1:
        out["to_uv"] = mi.ScalarTransform4f().scale([scale, scale, 1])
    return out


def rgb(*value: float) -> Shapes:
    """Return a colour, linear."""
    return {"type": "rgb", "value": list(value) if len(value) > 1 else value[0]}


def stuff(color: Shapes, roughness: Any, **more: Any) -> Shapes:
    """Return Disney's principled material, seen from both sides."""
    inside = {"type": "principled", "base_color": color, "roughness": roughness, **more}
    return {"type": "twosided", "inside": inside}


def shining(glow: float) -> Callable[[np.ndarray], Shapes]:
    """Return how a screen shows a page: it shines, `glow` times the page's own light."""

    def page(linear: np.ndarray) -> Shapes:
        return {
            "bsdf": {"type": "diffuse", "reflectance": rgb(0.02)},
            "emitter": {"type": "area", "radiance": texture(linear * glow, wrap="clamp")},
        }

    return page


def printed(linear: np.ndarray) -> Shapes:
    """Return how paper shows a page: it throws back up to 82 % of the light."""
    return {"bsdf": {"type": "twosided", "inside": {"type": "diffuse", "reflectance": texture(0.015 + 0.8 * linear, wrap="clamp")}}}  # fmt: skip


def engraved(linear: np.ndarray) -> Shapes:
    """Return how a plate of brass shows a page: what is dark is etched into it, its edges catch the light."""
    tone = linear.mean(-1, keepdims=True)
    depth = cv2.GaussianBlur(tone, (0, 0), 1.2)[..., None]
    metal = {
        "type": "principled", "base_color": texture(np.array([0.8, 0.6, 0.32]) * (0.06 + 0.94 * linear), wrap="clamp"),
        "roughness": texture(0.5 - 0.2 * tone, wrap="clamp"), "metallic": 0.75, "specular": 0.5,
    }  # fmt: skip
    return {"bsdf": {"type": "twosided", "inside": {"type": "bumpmap", "height": texture(depth, wrap="clamp"), "scale": 0.02, "metal": metal}}}  # fmt: skip


def clear(linear: np.ndarray) -> Shapes:
    """Return how clear acrylic shows a page: its ground lets light pass, its ink does not."""
    ground = np.quantile(linear.reshape(-1, 3), 0.9, 0)
    ink = np.clip(1.25 * (1 - (linear / np.maximum(ground, 0.05)).min(-1, keepdims=True) ** 0.45), 0.03, 1)
    paint = {
        "type": "twosided",
        "inside": {"type": "diffuse", "reflectance": texture(0.02 + 0.7 * linear, wrap="clamp")},
    }
    return {"bsdf": {"type": "mask", "opacity": texture(ink, wrap="clamp"), "paint": paint}}


def noise(side: int, octaves: tuple[tuple[int, float], ...], seed: int) -> np.ndarray:
    """Return smooth noise, a sum of grids of random numbers of given sizes and strengths."""
    rng = np.random.default_rng(seed)
    out = np.zeros((side, side), np.float32)
    for cells, strength in octaves:
        grid = rng.standard_normal((cells, cells)).astype(np.float32)
        out += strength * cv2.resize(grid, (side, side), interpolation=cv2.INTER_CUBIC)
    return out


def mesh(name: str, grid: np.ndarray, material: Shapes, uv: np.ndarray | None = None) -> Any:
    """Return a sheet through a grid of points (rows x columns x 3) as a mesh; `uv` gives the page's coordinates."""
    rows, columns = grid.shape[:2]
    k = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = k[:-1, :-1], k[:-1, 1:], k[1:, 1:], k[1:, :-1]
    faces = np.stack([np.stack([a, d, c], -1), np.stack([a, c, b], -1)]).reshape(-1, 3)
    return triangles(name, grid.reshape(-1, 3), faces, material, None if uv is None else uv.reshape(-1, 2))


def triangles(
    name: str, points: np.ndarray, faces: np.ndarray, material: Shapes, uv: np.ndarray | None = None
) -> Any:
    """Return triangles as a mesh with a material."""
    import mitsuba as mi

    props = mi.Properties()
    props["bsdf"] = mi.load_dict(material)
    made = mi.Mesh(name, len(points), len(faces), has_vertex_texcoords=uv is not None, props=props)
    parts = mi.traverse(made)
    parts["vertex_positions"] = np.ravel(points).astype(np.float32)
    parts["faces"] = np.ravel(faces).astype(np.uint32)
    if uv is not None:
        parts["vertex_texcoords"] = np.ravel(uv).astype(np.float32)
    parts.update()
    return made


@cache
def stone(seed: int, base: tuple[float, float, float], roughness: float, scale: float = 3.0) -> Shapes:
    """Return polished stone with veins and joints."""
    side = 1024
    grain = noise(side, ((5, 0.7), (14, 0.7), (50, 0.5), (200, 0.3), (800, 0.25)), seed)
    line = np.abs(noise(side, ((7, 1), (15, 0.7), (40, 0.3)), seed + 1))
    tone = np.clip(1 + 0.22 * grain + 1.1 * np.exp(-((line / 0.03) ** 2)), 0.2, 4)
    joint = np.ones((side, side), np.float32)
    for k in (0, 1):
        joint[k::512] = joint[:, k::512] = 0.5
    color = np.clip(np.array(base) * (tone * joint)[..., None], 0.005, 0.8)
    return stuff(texture(color, scale), roughness, specular=0.6)


@cache
def _leaves(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points and triangles of a plant's leaves."""
    rng = np.random.default_rng(seed)
    points: list[np.ndarray] = []
    faces: list[list[int]] = []
    for _ in range(170):
        out = rng.standard_normal(3)
        out /= np.linalg.norm(out)
        out[1] = abs(out[1]) * 0.95 - 0.12
        root = np.array([0, 0.62, 0]) + out * np.array([0.24, 0.34, 0.24]) * rng.uniform(0.2, 1)
        length, width = rng.uniform(0.1, 0.2), rng.uniform(0.02, 0.045)
        along = out + rng.normal(0, 0.4, 3)
        along /= np.linalg.norm(along)
        side = np.cross(along, np.array([0, 1, 0]) + rng.normal(0, 0.3, 3))
        side /= np.linalg.norm(side)
        up = np.cross(side, along)
        first = len(points)
        for i in range(7):
            t = i / 6
            w = width * np.sin(np.pi * (t * 0.92 + 0.04)) ** 0.8
            points += [
                root + along * length * t + side * w * s + up * (-length * 0.4 * t * t + 0.3 * w * abs(s))
                for s in (-1, 0, 1)
            ]
        for i in range(6):
            for j in (0, 1):
                a = first + i * 3 + j
                faces += [[a, a + 1, a + 4], [a, a + 4, a + 3]]
    return np.array(points), np.array(faces)


def plant(at: Point, size: float = 1.0, seed: int = 11, pot: tuple[float, float, float] = (0.5, 0.5, 0.48)) -> Shapes:  # fmt: skip
    """Return a plant in a pot."""
    points, faces = _leaves(seed)
    move = np.array(at)
    profile = np.array([(0.0, 0.0), (0.15, 0.0), (0.165, 0.02), (0.205, 0.3), (0.225, 0.31), (0.23, 0.37), (0.215, 0.375), (0.19, 0.33), (0.0, 0.33)])  # fmt: skip
    around = np.linspace(0, 2 * np.pi, 65)
    body = np.stack([np.outer(np.cos(around), profile[:, 0]), np.tile(profile[:, 1], (65, 1)), np.outer(np.sin(around), profile[:, 0])], -1)  # fmt: skip
    green = stuff(rgb(0.06, 0.17, 0.045), 0.4, specular=0.4)
    return {
        "plant_leaves": triangles("leaves", points * size + move, faces, green),
        "plant_pot": mesh("pot", body * size + move, stuff(rgb(*pot), 0.45)),
    }


def fit(aspect: float, width: float, height: float) -> tuple[float, float]:
    """Return half the width and half the height of the largest page of this aspect in a field."""
    wide = min(width, height * aspect)
    return wide / 2, wide / aspect / 2


def box(middle: Point, half: Point, material: Shapes, turn: Any = None) -> Shapes:
    """Return a box around a point with half its sides; `turn` is a transform laid upon it."""
    import mitsuba as mi

    to = mi.ScalarTransform4f().translate(list(middle)).scale(list(half))
    return {"type": "cube", "to_world": to if turn is None else turn @ to, "bsdf": material}


def sheet(middle: Point, half: tuple[float, float], material: Shapes, turn: Any = None) -> Shapes:
    """Return an upright rectangle that looks to the front; `material` has its `bsdf` and perhaps its `emitter`."""
    import mitsuba as mi

    to = mi.ScalarTransform4f().translate(list(middle)).scale([half[0], half[1], 1])
    return {"type": "rectangle", "to_world": to if turn is None else turn @ to, **material}


def ground(material: Shapes, size: float = 9.0, height: float = 0.0) -> Shapes:
    """Return a level plane."""
    import mitsuba as mi

    to = mi.ScalarTransform4f().translate([0, height, 0]).rotate([1, 0, 0], -90).scale(size)
    return {"type": "rectangle", "to_world": to, "bsdf": material}


@cache
def wood(seed: int, base: tuple[float, float, float], roughness: float, scale: float = 2.0, planks: int = 5) -> Shapes:  # fmt: skip
    """Return planks with grain along them."""
    side = 1024
    rng = np.random.default_rng(seed)
    long = cv2.resize(
        rng.standard_normal((220, 9)).astype(np.float32), (side, side), interpolation=cv2.INTER_CUBIC
    )
    fine = cv2.resize(
        rng.standard_normal((700, 26)).astype(np.float32), (side, side), interpolation=cv2.INTER_CUBIC
    )
    tone = 1 + 0.13 * long + 0.08 * fine + 0.12 * noise(side, ((4, 1),), seed)
    each = side // planks
    for k in range(planks):
        rows = slice(k * each, (k + 1) * each)
        tone[rows] = np.roll(tone[rows], int(rng.integers(side)), 1) * rng.uniform(0.82, 1.12)
        tone[k * each : k * each + 2] *= 0.45
    color = np.clip(np.array(base) * tone[..., None] ** np.array([1.0, 1.15, 1.3]), 0.005, 0.85)
    return stuff(texture(color, scale), roughness, specular=0.35)


@cache
def plaster(
    seed: int, base: tuple[float, float, float], roughness: float = 0.8, scale: float = 2.0
) -> Shapes:
    """Return a painted wall, a little uneven."""
    grain = noise(1024, ((4, 0.5), (12, 0.5), (60, 0.35), (300, 0.5), (900, 0.5)), seed)
    return stuff(texture(np.clip(np.array(base) * (1 + 0.035 * grain)[..., None], 0.01, 0.92), scale), roughness, specular=0.2)  # fmt: skip


@cache
def paving(seed: int, scale: float = 5.0) -> Shapes:
    """Return slabs of paving with joints."""
    side = 1024
    rng = np.random.default_rng(seed)
    grain = noise(side, ((6, 0.5), (24, 0.5), (90, 0.6), (400, 0.8), (900, 0.9)), seed)
    tone = 1 + 0.12 * np.kron(rng.standard_normal((8, 4)), np.ones((128, 256))).astype(np.float32)
    joint = np.ones((side, side), np.float32)
    for row in range(8):
        joint[row * 128 : row * 128 + 5] = 0.45
        for x in range((row % 2) * 128, side, 256):
            joint[row * 128 : row * 128 + 128, x : x + 5] = 0.45
    base = np.clip((0.21 + 0.03 * grain) * tone, 0.02, 0.6) * joint
    return stuff(texture(base[..., None] * np.array([1.03, 1.0, 0.95]), scale), 0.75, specular=0.3)


def turned(profile: list[tuple[float, float]], at: Point, material: Shapes, name: str) -> Any:
    """Return a body of revolution about the vertical through a point: radii and heights of its outline."""
    line = np.array(profile)
    angle = np.linspace(0, 2 * np.pi, 73)
    grid = np.stack([np.outer(np.cos(angle), line[:, 0]), np.tile(line[:, 1], (73, 1)), np.outer(np.sin(angle), line[:, 0])], -1)  # fmt: skip
    return mesh(name, grid + np.array(at), material)


def page_mesh(point: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, ...]], page: Shapes, steps: tuple[int, int] = (96, 48)) -> Any:  # fmt: skip
    """Return a page that is bent: `point` gives x, y, z for its coordinates from the lower left, each 0 to 1."""
    u, v = np.meshgrid(np.linspace(0, 1, steps[0] + 1), np.linspace(1, 0, steps[1] + 1))
    return mesh("page", np.stack(point(u, v), -1), page["bsdf"], np.stack([u, v], -1))
