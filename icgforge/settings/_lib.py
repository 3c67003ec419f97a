"""What settings are made of: the frozen description, ways to show a page, materials and meshes for Mitsuba."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
    `lamp` (it stands between there and the point `lamp`); `seen_in` are the words for that. `also` is a further subtype of
    nodes on the page that holds because of its shape or material; `front` says whether something stands before the page.
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
    lamp: Point = (0.0, 0.0, 0.0)
    aperture: float = 0.01
    white: float = 0.8
    also: str = ""
    front: bool = False


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


def plant(at: Point, size: float = 1.0, seed: int = 11, pot: tuple[float, float, float] = (0.5, 0.5, 0.48)) -> Shapes:  # fmt: skip
    """Return a plant in a pot."""
    rng = np.random.default_rng(seed)
    points: list[np.ndarray] = []
    faces: list[list[int]] = []
    for _ in range(240):
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
    move = np.array(at)
    profile = np.array([(0.0, 0.0), (0.15, 0.0), (0.165, 0.02), (0.205, 0.3), (0.225, 0.31), (0.23, 0.37), (0.215, 0.375), (0.19, 0.33), (0.0, 0.33)])  # fmt: skip
    around = np.linspace(0, 2 * np.pi, 65)
    body = np.stack([np.outer(np.cos(around), profile[:, 0]), np.tile(profile[:, 1], (65, 1)), np.outer(np.sin(around), profile[:, 0])], -1)  # fmt: skip
    green = stuff(rgb(0.06, 0.17, 0.045), 0.4, specular=0.4)
    return {
        "plant_leaves": triangles("leaves", np.array(points) * size + move, np.array(faces), green),
        "plant_pot": mesh("pot", body * size + move, stuff(rgb(*pot), 0.45)),
    }
