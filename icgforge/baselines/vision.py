"""Classical vision around the edited text: mirrored copies, shadows, texture, colour groups, charts.

`observe` measures; it is run once for an image and an edited text and kept in the store. What the
measurements mean for the edit is said in `rules_image`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icgforge.baselines.seeing import Line, Sight
from icgforge.baselines.store import remember

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

WORK_SIDE = 512
_HUES = (("red", 0), ("orange", 28), ("yellow", 52), ("green", 120), ("turquoise", 178), ("blue", 220), ("purple", 275), ("pink", 330), ("red", 360))  # fmt: skip


def observe(sight: Sight, target: Line | None, text: str) -> dict[str, Any]:
    """Measure an image around a line of text.

    Returns
    -------
    dict
        `mirror`: flipped copies (box, score 0..1, flip `h`, `v` or `hv`); `shadow`: score and
        direction; `texture`: grey levels of grain beside the text; `same_color`: boxes; `bars`:
        boxes and orientation; `rounds`: circles as boxes; `zones`: mean colours in a 3 x 3 grid;
        `symmetric`: left-right likeness -1..1.
    """
    seen: dict[str, Any] = remember("see", (sight.blob, text), lambda: _measure(sight, target))
    return seen


def _measure(sight: Sight, target: Line | None) -> dict[str, Any]:
    import cv2

    cv2.setNumThreads(1)
    scale = min(1.0, WORK_SIDE / max(sight.width, sight.height))
    image = cv2.resize(sight.pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    out: dict[str, Any] = {
        "zones": _zones(image),
        "symmetric": _symmetric(grey),
        "rounds": _rounds(grey, scale),
        "mirror": [],
        "shadow": None,
        "texture": 0.0,
        "same_color": [],
        "cover": 0.0,
        "plate": None,
        "rule": None,
        "flanks": None,
        "areas": _areas(image, scale),
        "bars": _bars(image, scale),
    }
    if target is not None:
        out["mirror"] = _mirror(grey, target, scale)
        out["shadow"] = _shadow(sight, target)
        out["texture"] = _texture(sight, target)
        out["same_color"] = _same_color(image, sight, target, scale)
        out["cover"] = _cover(sight, target)
        out["plate"] = _plate(image, target, scale)
        out["rule"] = _rule(image, target, scale)
        out["flanks"] = _flanks(image, sight, target, scale)
    return out


def hue_name(rgb: tuple[int, ...]) -> str:
    """Name a colour.

    Examples
    --------
    >>> hue_name((200, 30, 30)), hue_name((250, 250, 250)), hue_name((20, 90, 200))
    ('red', 'white', 'blue')
    """
    import colorsys

    h, lightness, s = colorsys.rgb_to_hls(*(c / 255 for c in rgb[:3]))
    if (lightness > 0.9 and s < 0.6) or lightness > 0.96:
        return "white"
    if lightness < 0.13:
        return "black"
    if s < 0.18:
        return "grey"
    name = min(_HUES, key=lambda n: abs(n[1] - h * 360))[0]
    return "brown" if name == "orange" and lightness < 0.4 else name


def _zones(image: Array) -> list[list[int]]:
    import cv2

    return [
        [int(v) for v in p[::-1]]
        for row in cv2.resize(image, (3, 3), interpolation=cv2.INTER_AREA)
        for p in row
    ]


def _symmetric(grey: Array) -> float:
    import cv2
    import numpy as np

    small = cv2.resize(grey, (48, 48), interpolation=cv2.INTER_AREA).astype(np.float32)
    a, b = small.ravel() - small.mean(), small[:, ::-1].ravel() - small.mean()
    spread = float((a * a).sum())
    return round(float((a * b).sum()) / spread, 3) if spread > 1 else 0.0


def _mirror(grey: Array, target: Line, scale: float) -> list[dict[str, Any]]:
    """Flipped copies of the target patch, found by normalised correlation at several sizes."""
    import cv2
    import numpy as np

    x0, y0, x1, y1 = (round(v * scale) for v in target.box)
    x0, y0 = max(x0, 0), max(y0, 0)
    patch = grey[y0:y1, x0:x1]
    if patch.shape[0] < 6 or patch.shape[1] < 10 or float(patch.std()) < 4:
        return []
    found: list[dict[str, Any]] = []
    for flip, code in (("h", 1), ("v", 0), ("hv", -1)):
        best = (0.0, 0, 0, 1, 1)
        for size in (1.0, 0.85, 0.7, 0.55, 0.45):
            for squash in (1.0, 0.7) if flip == "v" else (1.0,):
                w, h = round(patch.shape[1] * size), round(patch.shape[0] * size * squash)
                if w < 10 or h < 6 or w >= grey.shape[1] or h >= grey.shape[0]:
                    continue
                stencil = cv2.resize(cv2.flip(patch, code), (w, h), interpolation=cv2.INTER_AREA)
                score = cv2.matchTemplate(grey, stencil, cv2.TM_CCOEFF_NORMED)
                # Not the target itself.
                score[max(y0 - h // 2, 0) : y1 - h // 2, max(x0 - w // 2, 0) : x1 - w // 2] = 0
                top = float(np.nan_to_num(score).max())
                if top > best[0]:
                    row, column = np.unravel_index(int(np.nan_to_num(score).argmax()), score.shape)
                    best = (top, int(column), int(row), w, h)
        top, x, y, w, h = best
        found.append(
            {"flip": flip, "score": round(top, 3), "box": [round(v / scale, 1) for v in (x, y, x + w, y + h)]}
        )
    return sorted(found, key=lambda f: -f["score"])


def _shadow(sight: Sight, target: Line) -> dict[str, Any] | None:
    """A darker copy of the letters beside them: direction and contrast in noise units."""
    import cv2
    import numpy as np

    h = max(int(target.height), 8)
    x0, y0, x1, y1 = (int(v) for v in target.box)
    pad = h
    ya, yb, xa, xb = (
        max(y0 - pad, 0),
        min(y1 + pad, sight.height),
        max(x0 - pad, 0),
        min(x1 + pad, sight.width),
    )
    patch = sight.pixels[ya:yb, xa:xb].astype(np.int32)
    if patch.size == 0:
        return None
    ink = np.array(target.ink[::-1])
    mask = (np.abs(patch - ink).sum(axis=2) < 70).astype(np.uint8)
    inner = np.zeros_like(mask)
    inner[y0 - ya : y1 - ya, x0 - xa : x1 - xa] = 1
    mask &= inner
    if mask.sum() < 30:
        return None
    grey = cv2.cvtColor(patch.astype(np.uint8), cv2.COLOR_BGR2GRAY).astype(np.float32)
    near = cv2.dilate(mask, np.ones((3, 3), np.uint8)) > 0
    base = cv2.medianBlur(grey.astype(np.uint8), 5).astype(np.float32)
    field = np.where(near, np.nan, base)
    best: dict[str, Any] = {"score": 0.0, "dx": 0, "dy": 0}
    for step in sorted({max(2, h // 12), max(3, h // 7), max(4, h // 4)}):
        for dx, dy in ((1, 1), (-1, 1), (0, 1), (1, 0), (-1, 0), (1, -1), (-1, -1), (0, -1)):
            moved = np.roll(mask, (dy * step, dx * step), axis=(0, 1)) > 0
            back = np.roll(mask, (-dy * step, -dx * step), axis=(0, 1)) > 0
            ahead, behind = field[moved & ~near], field[back & ~near & ~moved]
            if ahead.size < 25 or behind.size < 25:
                continue
            drop = float(np.nanmedian(behind) - np.nanmedian(ahead))
            noise = float(np.nanstd(behind)) * 0.6 + 5
            score = drop / noise
            if score > best["score"]:
                best = {"score": round(score, 3), "dx": dx, "dy": dy}
    return best


def _texture(sight: Sight, target: Line) -> float:
    """Grain of the ground beside the letters: spread of the high-passed grey levels."""
    import cv2
    import numpy as np

    x0, y0, x1, y1 = (int(v) for v in target.box)
    pad = max(int(target.height * 0.5), 6)
    ya, yb, xa, xb = (
        max(y0 - pad, 0),
        min(y1 + pad, sight.height),
        max(x0 - pad, 0),
        min(x1 + pad, sight.width),
    )
    grey = cv2.cvtColor(sight.pixels[ya:yb, xa:xb], cv2.COLOR_BGR2GRAY).astype(np.float32)
    if grey.size < 50:
        return 0.0
    band = cv2.GaussianBlur(grey, (0, 0), 1.2) - cv2.GaussianBlur(grey, (0, 0), 4)
    ring = np.ones(grey.shape, bool)
    ring[max(y0 - ya - 2, 0) : y1 - ya + 2, max(x0 - xa - 2, 0) : x1 - xa + 2] = False
    values = band[ring]
    return round(float(np.percentile(np.abs(values), 70)), 2) if values.size > 30 else 0.0


def _components(mask: Array, least: float) -> list[tuple[int, int, int, int, int]]:
    import cv2
    import numpy as np

    mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    rows = [tuple(int(v) for v in s) for s in stats[1:] if s[4] >= least * mask.size]
    return sorted(rows, key=lambda r: -r[4])[:12]  # type: ignore[return-value]


def _same_color(image: Array, sight: Sight, target: Line, scale: float) -> list[dict[str, Any]]:
    """Areas away from the text that have its colour, or the colour of its plate."""
    import numpy as np

    out = []
    for role, rgb in (("ink", target.ink), ("paper", target.paper)):
        if max(rgb) - min(rgb) < 60:
            continue
        near = (np.abs(image[:, :, ::-1].astype(np.int32) - np.array(rgb)).sum(axis=2) < 66).astype(np.uint8)
        for x, y, w, h, area in _components(near, 0.0012):
            box = [round(v / scale, 1) for v in (x, y, x + w, y + h)]
            if _overlap(box, target.box) > 0.2 or area > 0.5 * near.size:
                continue
            out.append(
                {"role": role, "hue": hue_name(tuple(rgb)), "box": box, "share": round(area / near.size, 4)}
            )
    return out[:6]


def _cover(sight: Sight, target: Line) -> float:
    """Share of the text's box that has neither the colour of the letters nor that of the ground."""
    import cv2
    import numpy as np

    x0, y0, x1, y1 = (int(v) for v in target.box)
    patch = cv2.medianBlur(sight.pixels[max(y0, 0) : y1, max(x0, 0) : x1], 3)[:, :, ::-1].astype(np.float32)
    if patch.size < 100:
        return 0.0
    ink, paper = (np.array(c, np.float32) for c in (target.ink, target.paper))
    line = ink - paper
    length = float((line * line).sum()) or 1.0
    # Blends of both lie on the line between them; a third colour does not.
    along = np.clip(((patch - paper) @ line) / length, 0, 1)[..., None]
    off = np.abs(patch - paper - along * line).sum(axis=2)
    third = cv2.morphologyEx((off > 75).astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    return round(float(third.mean()), 3)


def _plate(image: Array, target: Line, scale: float) -> list[float] | None:
    """The panel that the text stands on, where it is not much larger than the text."""
    import numpy as np

    paper = np.array(target.paper)
    near = (np.abs(image[:, :, ::-1].astype(np.int32) - paper).sum(axis=2) < 60).astype(np.uint8)
    tx0, ty0, tx1, ty1 = target.box
    for x, y, w, h, _ in _components(near, 0.002):
        box = [round(v / scale, 1) for v in (x, y, x + w, y + h)]
        holds = box[0] <= tx0 + 4 and box[1] <= ty0 + 4 and box[2] >= tx1 - 4 and box[3] >= ty1 - 4
        if holds and w * h < 0.35 * near.size and (box[3] - box[1]) < 4 * (ty1 - ty0):
            return box
    return None


def _rule(image: Array, target: Line, scale: float) -> list[float] | None:
    """A horizontal line near the text that is about as long as it."""
    import cv2
    import numpy as np

    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    x0, y0, x1, y1 = (v * scale for v in target.box)
    h, w = y1 - y0, x1 - x0
    edges = cv2.Canny(grey, 40, 120)
    for a, b in ((y1 + 1, y1 + 1.3 * h), (y0 - 1.3 * h, y0 - 1)):
        a, b = int(max(a, 0)), int(min(b, grey.shape[0]))
        if b - a < 2:
            continue
        lines = cv2.HoughLinesP(edges[a:b], 1, np.pi / 180, 30, minLineLength=max(0.6 * w, 12), maxLineGap=3)
        for ax, ay, bx, by in [] if lines is None else lines.reshape(-1, 4):
            if (
                abs(ay - by) <= 1
                and 0.7 * w < abs(bx - ax) < 1.35 * w
                and abs((ax + bx) / 2 - (x0 + x1) / 2) < 0.3 * w
            ):
                return [
                    round(float(v) / scale, 1) for v in (min(ax, bx), ay + a - 2, max(ax, bx), ay + a + 3)
                ]
    return None


def _flanks(image: Array, sight: Sight, target: Line, scale: float) -> list[list[float]] | None:
    """Two drawn things, no text, at the same distance left and right of the text."""
    import numpy as np

    x0, y0, x1, y1 = target.box
    a, b = int(max(y0 * scale - 4, 0)), int(min(y1 * scale + 4, image.shape[0]))
    band = image[a:b, :, ::-1].astype(np.int32)
    if band.shape[0] < 6:
        return None
    mask = (np.abs(band - np.array(target.paper)).sum(axis=2) > 90).astype(np.uint8)
    for line in sight.lines:
        lx0, ly0, lx1, ly1 = (v * scale for v in line.box)
        if ly1 > a and ly0 < b:
            mask[:, int(max(lx0 - 3, 0)) : int(lx1 + 4)] = 0
    boxes = [
        [round(v / scale, 1) for v in (x, y + a, x + w, y + a + h)]
        for x, y, w, h, _ in _components(mask, 0.003)
        if w < 0.3 * image.shape[1]
    ]
    left = max((q for q in boxes if q[2] <= x0), key=lambda q: q[2], default=None)
    right = min((q for q in boxes if q[0] >= x1), key=lambda q: q[0], default=None)
    if left and right and abs((x0 - left[2]) - (right[0] - x1)) < 0.35 * (y1 - y0) + 4:
        return [left, right]
    return None


def _areas(image: Array, scale: float) -> list[dict[str, Any]]:
    """Saturated areas of one hue, the larger first, at most eight."""
    import cv2
    import numpy as np

    hsv = cv2.cvtColor(image, cv2.COLOR_BGR2HSV)
    strong = (hsv[:, :, 1] > 90) & (hsv[:, :, 2] > 60)
    out: list[dict[str, Any]] = []
    for low, high in ((0, 9), (10, 22), (23, 35), (36, 85), (86, 100), (101, 130), (131, 155), (156, 180)):
        mask = (strong & (hsv[:, :, 0] >= low) & (hsv[:, :, 0] <= high)).astype(np.uint8)
        for x, y, w, h, area in _components(mask, 0.001)[:3]:
            if area > 0.45 * mask.size:
                continue
            inside = mask[y : y + h, x : x + w] > 0
            rgb = [int(v) for v in np.median(image[y : y + h, x : x + w][inside], axis=0)[::-1]]
            box = [round(v / scale, 1) for v in (x, y, x + w, y + h)]
            out.append(
                {
                    "hue": hue_name(tuple(rgb)),
                    "box": box,
                    "share": round(area / mask.size, 4),
                    "slim": w > 4 * h or h > 4 * w,
                }
            )
    return sorted(out, key=lambda a: -a["share"])[:8]


def _overlap(a: Any, b: Any) -> float:
    w = min(a[2], b[2]) - max(a[0], b[0])
    h = min(a[3], b[3]) - max(a[1], b[1])
    if w <= 0 or h <= 0:
        return 0.0
    return float(w * h / min((a[2] - a[0]) * (a[3] - a[1]), (b[2] - b[0]) * (b[3] - b[1])))


def _bars(image: Array, scale: float) -> dict[str, Any] | None:
    """Filled rectangles that share a base line (columns) or a left side (bars)."""
    import cv2
    import numpy as np

    flat = cv2.bilateralFilter(image, 5, 40, 5)
    key = flat.astype(np.int32) // 24
    codes = key[:, :, 0] * 10_000 + key[:, :, 1] * 100 + key[:, :, 2]
    values, counts = np.unique(codes, return_counts=True)
    boxes = []
    for code in values[np.argsort(-counts)][1:9]:
        for x, y, w, h, area in _components((codes == code).astype(np.uint8), 0.0012):
            if (
                area > 0.82 * w * h
                and w < 0.7 * image.shape[1]
                and h < 0.7 * image.shape[0]
                and min(w, h) > 5
            ):
                boxes.append((x, y, x + w, y + h))
    for way, base, side in (("column", 3, (0, 2)), ("bar", 0, (1, 3))):
        for b in boxes:
            thick = b[side[1]] - b[side[0]]
            row = [
                o
                for o in boxes
                if abs(o[base] - b[base]) <= 3 and abs((o[side[1]] - o[side[0]]) - thick) <= 3
            ]
            lengths = {(o[3] - o[1]) if way == "column" else (o[2] - o[0]) for o in row}
            if 3 <= len(row) <= 14 and max(lengths) - min(lengths) > 6:
                return {"way": way, "boxes": [[round(v / scale, 1) for v in o] for o in sorted(row)]}
    return None


def _rounds(grey: Array, scale: float) -> list[list[float]]:
    """Large circles: clocks, gauges, pies, badges."""
    import cv2

    small = cv2.medianBlur(grey, 5)
    side = min(grey.shape)
    found = cv2.HoughCircles(small, cv2.HOUGH_GRADIENT, 1.5, side * 0.2, param1=120, param2=75, minRadius=int(side * 0.07), maxRadius=int(side * 0.42))  # fmt: skip
    if found is None:
        return []
    circles = found.reshape(-1, 3)[:4]
    return [[round(float(v) / scale, 1) for v in (x - r, y - r, x + r, y + r)] for x, y, r in circles]
