"""Find a maze in a picture: where its cells lie, which colours it has, which cells are walls.

Nothing is taken for granted of the picture but that walls are of one colour, the floor of another,
and that the outer wall is closed: size, margin, place, small turns and the palette are measured.
Method: candidate frames from the extent of each frequent colour, then Gauss-Newton alignment of the
wall mask with an affine map (Lucas and Kanade 1981; Baker and Matthews 2004).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import gaussian_filter, map_coordinates

from icgkit.bench.dod.maze import CELL, SIZES, Floats, Maze, greenish, reddish

_GRID = 8
"""Sample points a cell and side at which a frame is aligned."""
_SHRUNK = 16
"""Pixels a cell, about, of the picture in which a frame is sought."""
READABLE = 0.8
"""Least share of cells of the right kind at which two pictures show the same maze."""


class Frame(NamedTuple):
    """Affine map of cells to pixels: (row, column) lies at `origin + column * across + row * down`."""

    origin: tuple[float, float]
    across: tuple[float, float]
    down: tuple[float, float]

    def at(self, row: Any, column: Any) -> tuple[Any, Any]:
        """Return x and y, in pixels, of points given in cells."""
        x = self.origin[0] + column * self.across[0] + row * self.down[0]
        y = self.origin[1] + column * self.across[1] + row * self.down[1]
        return x, y

    def scaled(self, factor: float) -> Frame:
        """Return the frame in a picture enlarged by a factor."""
        return Frame(*((a * factor, b * factor) for a, b in self))

    @property
    def cell(self) -> float:
        """Pixels a cell, the mean of both sides."""
        return float((np.hypot(*self.across) + np.hypot(*self.down)) / 2)

    @property
    def turn(self) -> float:
        """Degrees by which the maze is turned clockwise."""
        a, d = self.across, self.down
        return float(np.degrees((np.arctan2(a[1], a[0]) + np.arctan2(-d[0], d[1])) / 2))


class Palette(NamedTuple):
    """Colours of a picture, RGB from 0 to 255."""

    wall: Floats
    floor: Floats


class Found(NamedTuple):
    """A frame in the pixels of the picture, its palette and how well it fits.

    agreement : share of the cells whose colour is that of their kind, 0 to 1.
    residual : mean misfit of the wall mask, 0 to 1.
    """

    frame: Frame
    palette: Palette
    agreement: float
    residual: float


@lru_cache(maxsize=512)
def _points(size: int, per: int = _GRID) -> tuple[Floats, Floats]:
    """Rows and columns, in cells, of the sample points."""
    line = (np.arange(size * per) + 0.5) / per
    rows, columns = np.meshgrid(line, line, indexing="ij")
    return rows.ravel(), columns.ravel()


@lru_cache(maxsize=256)
def _template(rows: tuple[str, ...], blur: float) -> tuple[Floats, Floats]:
    """Wall mask at the sample points, blurred, and its derivatives by the six numbers of a frame."""
    walls = np.array([[c == "#" for c in row] for row in rows], dtype=float)
    mask = gaussian_filter(np.kron(walls, np.ones((_GRID, _GRID))), blur * _GRID, mode="nearest")
    by_row, by_column = np.gradient(mask, 1 / _GRID)
    r, c = _points(len(rows))
    dx, dy = by_column.ravel(), by_row.ravel()
    slopes = np.stack([dx, dx * c, dx * r, dy, dy * c, dy * r], axis=1)
    return mask.ravel(), slopes


def _kinds(maze: Maze) -> NDArray[np.int8]:
    """1 for a wall, 0 for a floor, -1 for an end, a cell each."""
    kinds = np.array([[c == "#" for c in row] for row in maze.rows], dtype=np.int8)
    kinds[maze.start] = kinds[maze.end] = -1
    return kinds


def shrink(image: Image.Image, size: int) -> tuple[NDArray[np.uint8], float]:
    """Return the pixels of a small copy in which a frame is sought, and the factor of its size."""
    factor = min(1.0, _SHRUNK * (size + 1) / min(image.size))
    if factor < 1:
        sides = (max(round(image.width * factor), 8), max(round(image.height * factor), 8))
        return np.asarray(image.resize(sides, Image.Resampling.BOX)), factor
    return np.asarray(image), 1.0


def _colors(pixels: NDArray[np.uint8], most: int = 5) -> list[Floats]:
    """Return the frequent colours of a picture, reds and greens left out."""
    flat = pixels.reshape(-1, 3)
    coarse = (flat >> 5).astype(np.int64) @ np.array([64, 8, 1])
    counts = np.bincount(coarse, minlength=512)
    found: list[Floats] = []
    for index in np.argsort(counts)[::-1][: 2 * most]:
        if counts[index] < 0.01 * len(flat) or len(found) == most:
            break
        color = flat[coarse == index].mean(axis=0)
        if not any(np.abs(color - other).max() < 24 for other in found) and not reddish(color, 80):
            found.append(color)
    return found


def _frames(pixels: NDArray[np.uint8], size: int) -> Iterator[Frame]:
    """Yield candidate frames: the whole picture, and the extent of each frequent colour as wall or floor."""
    high, wide = pixels.shape[:2]
    boxes = [(0.0, 0.0, float(wide), float(high))]
    for color in _colors(pixels):
        mask = np.abs(pixels - color).sum(axis=2) < 60
        for least, rim in ((0.6, 0.0), (0.12, 1.0)):
            edges = []
            for counts in (mask.sum(axis=0), mask.sum(axis=1)):
                hits = np.flatnonzero(counts >= max(least * counts.max(), 1))
                edges.append((float(hits[0]), float(hits[-1] + 1)))
            (x0, x1), (y0, y1) = edges
            dx, dy = ((b - a) / (size - 2 * rim) * rim for a, b in edges)
            boxes.append((x0 - dx, y0 - dy, x1 + dx, y1 + dy))
    for k, (x0, y0, x1, y1) in enumerate(boxes):
        ratio = (x1 - x0) / max(y1 - y0, 1)
        if min(x1 - x0, y1 - y0) >= 2 * size and (k == 0 or 0.6 < ratio < 1.7):
            yield Frame((x0, y0), ((x1 - x0) / size, 0.0), (0.0, (y1 - y0) / size))


def _look(pixels: NDArray[np.uint8], frame: Frame, rows: Floats, columns: Floats) -> NDArray[np.uint8]:
    """Return the colours at points given in cells; beyond the picture the nearest one."""
    x, y = frame.at(rows, columns)
    high, wide = pixels.shape[:2]
    found = pixels[np.clip(y, 0, high - 1).astype(int), np.clip(x, 0, wide - 1).astype(int)]
    return np.asarray(found)


def _measure(colors: NDArray[np.uint8], kinds: NDArray[np.int8], per: int) -> Palette | None:
    """Return the medians of what should be wall and floor, reds left out; None if they are alike."""
    kind = np.kron(kinds, np.ones((per, per), dtype=np.int8)).ravel()
    usable = ~reddish(colors)
    wall = colors[(kind == 1) & usable]
    floor = colors[(kind == 0) & usable]
    if len(wall) < 8:
        return None
    floor_is = np.median(floor, axis=0) if len(floor) >= 8 else np.full(3, 255.0)
    palette = Palette(np.median(wall, axis=0), floor_is)
    return palette if float(np.linalg.norm(palette.wall - palette.floor)) >= 30 else None


def _walled(colors: NDArray[np.uint8], palette: Palette) -> tuple[Floats, Floats]:
    """Return how much of the way from floor to wall each colour lies, and what it counts for."""
    way = palette.wall - palette.floor
    length = float(way @ way)
    away = colors - palette.floor
    share = np.clip(away @ way / length, -0.25, 1.25)
    off = np.linalg.norm(away - share[:, None] * way, axis=1)
    marked = reddish(colors) | greenish(colors)
    share = np.where(marked, 0.0, share)  # a path and both ends lie on the floor
    return share, np.where(marked, 0.5, off < min(0.6 * length**0.5, 80.0))


def _agreement(share: Floats, counts: Floats, kinds: NDArray[np.int8], per: int) -> float:
    """Share of the cells, ends left out, that look like their kind."""
    size = len(kinds)
    cells = (size, per, size, per)
    inner = slice(per // 4, per - per // 4)
    weights = counts.reshape(cells)[:, inner, :, inner].sum(axis=(1, 3))
    summed = (counts * share).reshape(cells)[:, inner, :, inner].sum(axis=(1, 3))
    shown = np.where(weights > 0.5, summed / np.maximum(weights, 0.5), 0.5)
    right = np.where(kinds == 1, shown > 0.5, shown < 0.5)
    return float(right[kinds >= 0].mean())


def register(image: Image.Image, maze: Maze) -> Found | None:
    """Find the frame in which an RGB picture shows a maze, if one gives walls and floor two colours."""
    pixels, factor = shrink(image, maze.size)
    kinds = _kinds(maze)
    mask = _template(maze.rows, 0.05)[0]
    best: tuple[float, Frame, Palette] | None = None
    rows, columns = _points(maze.size)
    for frame in _frames(pixels, maze.size):
        colors = _look(pixels, frame, rows, columns)
        palette = _measure(colors, kinds, _GRID)
        if palette is None:
            continue
        share, counts = _walled(colors, palette)
        fit = (1 - _misfit(share, counts, mask)) * float(counts.mean())
        if best is None or fit > best[0]:
            best = fit, frame, palette
    if best is None:
        return None
    _, frame, palette = best
    for blur, steps in ((0.25, 4), (0.08, 5)):
        frame = _align(pixels, maze, frame, palette, blur, steps)
    colors = _look(pixels, frame, rows, columns)
    palette = _measure(colors, kinds, _GRID) or palette
    share, counts = _walled(colors, palette)
    agreement = _agreement(share, counts, kinds, _GRID)
    return Found(frame.scaled(1 / factor), palette, agreement, _misfit(share, counts, mask))


def _misfit(share: Floats, counts: Floats, mask: Floats) -> float:
    return float((np.abs(share - mask) * counts).sum() / max(counts.sum(), 1))


def _align(
    pixels: NDArray[np.uint8], maze: Maze, frame: Frame, palette: Palette, blur: float, steps: int
) -> Frame:
    """Move a frame by Gauss-Newton steps to where the blurred wall masks agree best."""
    high, wide = pixels.shape[:2]
    share, counts = (x.reshape(high, wide) for x in _walled(pixels.reshape(-1, 3), palette))
    width = blur * frame.cell
    weight = gaussian_filter(counts, width, mode="nearest")
    field = gaussian_filter(share * counts, width, mode="nearest") / np.maximum(weight, 1e-3)
    mask, slopes = _template(maze.rows, blur)
    rows, columns = _points(maze.size)
    start = frame
    for _ in range(steps):
        x, y = frame.at(rows, columns)
        # Pixel k covers k to k + 1; its value stands for its middle.
        spots = np.stack([y - 0.5, x - 0.5])
        shown = map_coordinates(field, spots, order=1, mode="nearest")
        inside = (x > 0) & (y > 0) & (x < wide) & (y < high)
        w = map_coordinates(weight, spots, order=0, mode="nearest") * inside
        # A pixel moves the mask by 1 / cell, so slopes by cells are slopes by pixels times the cell.
        j = slopes / frame.cell
        try:
            step = np.linalg.solve(
                (j * w[:, None]).T @ j + 1e-6 * np.eye(6), (j * w[:, None]).T @ (mask - shown)
            )
        except np.linalg.LinAlgError:
            return start
        frame = Frame(*((a + step[k], b + step[k + 3]) for k, (a, b) in enumerate(frame)))
        if np.abs(step[[0, 3]]).max() < 0.02:
            break
    moved = np.hypot(
        *(np.array(frame.at(maze.size / 2, maze.size / 2)) - start.at(maze.size / 2, maze.size / 2))
    )
    if not 0.8 < frame.cell / start.cell < 1.25 or moved > start.cell or abs(frame.turn) > 8:
        return start
    return frame


def rectify(image: Image.Image, frame: Frame, size: int) -> NDArray[np.uint8]:
    """Return the pixels of the maze alone, upright, at 48 pixels a cell; beyond the picture black."""
    factor = CELL / frame.cell
    if factor < 0.75:
        sides = (max(round(image.width * factor), 1), max(round(image.height * factor), 1))
        image = image.resize(sides, Image.Resampling.BOX)
        frame = frame.scaled(factor)
    a, d, o = frame.across, frame.down, frame.origin
    told = (a[0] / CELL, d[0] / CELL, o[0], a[1] / CELL, d[1] / CELL, o[1])
    side = size * CELL
    return np.asarray(image.transform((side, side), Image.Transform.AFFINE, told, Image.Resampling.BILINEAR))


def find_maze(image: Image.Image) -> tuple[Maze, Frame] | None:
    """Read a maze of 7, 9 or 11 cells a side and where it lies, or None if the picture is none.

    Every frame is tried with every size; a maze has cells of two plain colours, a closed outer wall,
    one green and one red cell.
    """
    image = image.convert("RGB")
    pixels = np.asarray(image)
    best: tuple[float, Maze, Frame] | None = None
    for size in SIZES:
        for frame in _frames(pixels, size):
            got = _read(pixels, frame, size)
            if got is not None and (best is None or got[0] > best[0]):
                best = *got, frame
    if best is None:
        return None
    found = register(image, best[1])
    if found is None or found.agreement < 0.97:
        return None
    # The extent of a colour is exact in a clean picture; alignment is better in others.
    return best[1], best[2] if best[0] > 0.98 and abs(found.frame.turn) < 0.4 else found.frame


def _read(pixels: NDArray[np.uint8], frame: Frame, size: int) -> tuple[float, Maze] | None:
    """Read the cells of one frame: how plain they are (0 to 1), and the maze; None if it is none."""
    per = 6
    rows, columns = _points(size, per)
    colors = _look(pixels, frame, rows, columns).reshape(size, per, size, per, 3)
    inner = colors[:, 1:-1, :, 1:-1].transpose(0, 2, 1, 3, 4).reshape(size, size, -1, 3)
    middle = np.median(inner, axis=2)
    rim = np.ones((size, size), dtype=bool)
    rim[1:-1, 1:-1] = False
    wall = np.median(middle[rim], axis=0)
    ends = [np.argwhere(test(middle)) for test in (greenish, reddish)]
    if any(len(e) != 1 for e in ends):
        return None
    start, end = ((int(e[0][0]), int(e[0][1])) for e in ends)
    away = np.linalg.norm(middle - wall, axis=2)
    walls = away < 0.5 * float(np.percentile(away[~rim], 75))
    walls[start] = walls[end] = False
    if not walls[rim].all() or walls.all():
        return None
    others = ~walls
    others[start] = others[end] = False
    floor = np.median(middle[others], axis=0)
    scale = float(np.linalg.norm(floor - wall))
    if scale < 30:
        return None
    plain = np.where(walls[..., None], wall, floor)
    plain[start], plain[end] = middle[start], middle[end]
    fit = float((np.linalg.norm(inner - plain[:, :, None], axis=3) < 0.4 * scale).mean())
    if fit < READABLE:
        return None
    return fit, Maze(tuple("".join("#" if w else "." for w in row) for row in walls), start, end)
