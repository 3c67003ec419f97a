"""Score an edited image by program: each region that had to change, and everything that had to stay.

Arrays in, numbers out; `icgkit.cases.edited` brings cases and picture files to it. The picture is
registered first (shift, scale, colour), so that what an editor does to the whole of it is told apart
from what it does to a region. Nothing is learnt and nothing drawn by chance: the same pixels give the
same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icgkit.errors import SchemaError

Pixels = NDArray[np.uint8]
Plane = NDArray[np.float32]
Where = NDArray[np.bool_]
_Box = tuple[float, float, float, float]

NEAR = 0.5
"""A region is like the reference (or the original) if its distance to it is at most this share of their own."""
FAINT = 0.45
"""Less than this share of the edges that either picture has there: nothing can be read."""
STIRRED = (14, 40)
"""Least and most levels (of 255) outside what the neighbourhood of a pixel holds, above which it has changed."""
INVENTED = 60
"""Pixels of a connected change outside all regions, from which on it counts as invented."""
LIKE = 0.6
"""Least correlation with the original outside all regions; below it the picture is not registered."""
NOISE = 8
"""Levels that compression and resampling may move a blurred pixel without anybody seeing it."""


@dataclass(frozen=True, slots=True)
class Region:
    """A place that the edit has to change: boxes before and after, and what a program can check there.

    Attributes
    ----------
    id : str
        Node, or `target`.
    subtype : str
        Of the node; empty for the target.
    before, after : box or None
        x0, y0, x1, y1 in pixels; None where nothing is there.
    predicate : mapping, optional
        `{"text": new, "was": old}` lets a reader of text decide.
    """

    id: str
    subtype: str = ""
    before: _Box | None = None
    after: _Box | None = None
    predicate: Mapping[str, Any] | None = None


class Scored(NamedTuple):
    """What became of a picture: one row a region, and one for the picture."""

    regions: list[dict[str, Any]]
    picture: dict[str, Any]


def score_edit(
    output: Pixels,
    before: Pixels,
    reference: Pixels,
    regions: Sequence[Region],
    *,
    read: Callable[[Pixels], str] | None = None,
) -> Scored:
    """Say of each region whether an editor did what was due there, and whether the rest is as it was.

    Parameters
    ----------
    output : array of uint8, height x width x 3
        The editor's picture, brought to the size of the original.
    before, reference : array of uint8, height x width x 3
        The original, and one right edit.
    regions : sequence of Region
        The target and the nodes.
    read : callable, optional
        Reads the text of a piece of the picture; where given, it decides regions whose predicate is a text.
        Without it a right text in another type is `wrong`.

    Returns
    -------
    Scored
        Regions: `node_id`, `subtype`, `status` (`done`; `left`: as it was; `wrong`: changed, to something
        else; `unreadable`: its edges are gone; None if the picture was not registered), `to_reference`,
        `to_original` (distance of blurred pixels within the box, over that of original and reference; 0 is
        equal), `n_pixels` (where they differ), `text`.
        Picture: `registered`, `preserved` (share of the pixels outside all regions that are as they were),
        `n_invented` (connected changes there of 60 pixels and more), `overlap` (intersection over union of
        what changed and what had to), `shift_x`, `shift_y` (pixels), `scale`, `colour` (mean levels that
        the colour fit moved).

    Raises
    ------
    SchemaError
        If the pictures differ in size.

    Examples
    --------
    >>> before = np.full((64, 96, 3), 255, np.uint8); before[20:30, 10:40] = 0; before[40:50, 50:90] = 90
    >>> after = before.copy(); after[20:30, 25:40] = 255
    >>> region = Region("n1", "style_layout", (8, 18, 42, 32), (8, 18, 42, 32))
    >>> [score_edit(x, before, after, [region]).regions[0]["status"] for x in (after, before)]
    ['done', 'left']
    """
    if not output.shape == before.shape == reference.shape:
        raise SchemaError(
            "pictures of one size", got=[x.shape[1::-1] for x in (output, before, reference)],
            remedy="score_edits of icgkit.cases.edited brings the editor's picture to the size of the original",
        )  # fmt: skip
    height, width = before.shape[:2]
    due = (before != reference).any(2)
    covered = due.copy()
    for region in regions:
        for box in (region.before, region.after):
            if box:
                covered[_slice(box, height, width, 4)] = True
    still = ~covered
    seen, about = _registered(output, before, still)
    if seen is None:
        rows = [_row(r, None, None, None, 0, None) for r in regions]
        return Scored(rows, about | {"preserved": None, "n_invented": None, "overlap": None})
    stirred = _stirred(seen, before)
    changed = stirred > _level(stirred[still])
    rows = [_judge(r, seen, before, reference, read) for r in regions]
    return Scored(rows, about | _rest(changed, due, still))


def _row(
    region: Region, status: str | None, near: float | None, far: float | None, n: int, text: str | None
) -> dict[str, Any]:
    return {
        "node_id": region.id, "subtype": region.subtype, "status": status,
        "to_reference": None if near is None else round(near, 4),
        "to_original": None if far is None else round(far, 4), "n_pixels": n, "text": text,
    }  # fmt: skip


def _slice(box: _Box, height: int, width: int, margin: int = 0) -> tuple[slice, slice]:
    x0, y0, x1, y1 = box
    rows = slice(max(0, int(np.floor(y0)) - margin), min(height, int(np.ceil(y1)) + margin))
    return rows, slice(max(0, int(np.floor(x0)) - margin), min(width, int(np.ceil(x1)) + margin))


# -- registration -------------------------------------------------------------------------------


def _grey(pixels: NDArray[Any]) -> Plane:
    grey: Plane = pixels.astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32)
    return grey


def _registered(output: Pixels, before: Pixels, still: Where) -> tuple[Pixels | None, dict[str, Any]]:
    """Move, stretch and recolour a picture onto the original, by what lies outside all regions."""
    about = {"registered": True, "shift_x": 0.0, "shift_y": 0.0, "scale": 1.0, "colour": 0.0}
    step = still[::3, ::3]
    apart = np.abs(output[::3, ::3].astype(np.int16) - before[::3, ::3]).max(2)[step]
    if not apart.size or np.mean(apart > 6) < 0.002:
        return output, about
    one, two = _grey(output), _grey(before)
    at, scale = _motion(one, two, still)
    seen = output
    if max(abs(at[0]), abs(at[1])) >= 0.2 or max(abs(s - 1) for s in scale) * max(two.shape) >= 0.3:
        seen = _moved(output, at, scale)
        about |= {
            "shift_x": round(float(at[1]), 2),
            "shift_y": round(float(at[0]), 2),
            "scale": round(float(np.mean(scale)), 4),
        }
    seen, about["colour"] = _recoloured(seen, before, still)
    if _correlation(_grey(seen[::2, ::2]), two[::2, ::2], still[::2, ::2]) < LIKE:
        return None, about | {"registered": False}
    return seen, about


def _phase(one: Plane, two: Plane, most: int) -> tuple[float, float, float]:
    """Return rows and columns by which `one` lies off `two`, and how clear that is (phase correlation)."""
    from scipy import fft

    window = np.outer(np.hanning(one.shape[0]), np.hanning(one.shape[1])).astype(np.float32)
    a, b = (fft.rfft2((x - x.mean()) * window) for x in (one, two))
    cross = a * np.conj(b)
    found = fft.irfft2(cross / (np.abs(cross) + 1e-6), s=one.shape)
    near = np.roll(found, (most, most), (0, 1))[: 2 * most + 1, : 2 * most + 1]
    row, column = np.unravel_index(int(np.argmax(near)), near.shape)

    def vertex(line: NDArray[Any], k: int) -> float:
        if not 0 < k < line.size - 1:
            return float(k)
        low, mid, high = (float(v) for v in line[k - 1 : k + 2])
        bend = low - 2 * mid + high
        return k + (0.5 * (low - high) / bend if bend else 0.0)

    at = vertex(near[:, column], int(row)), vertex(near[row], int(column))
    return at[0] - most, at[1] - most, float(near[row, column])


def _motion(one: Plane, two: Plane, still: Where) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return shift (rows, columns) and scale (rows, columns): `one(y * scale + shift)` lies on `two(y)`."""
    half = [np.where(still, x, 0)[::2, ::2] for x in (one, two)]
    reach = min(40, *(s // 4 for s in half[0].shape))
    first = _phase(half[0], half[1], reach)
    rough = (round(2 * first[0]), round(2 * first[1]))
    size = min(160, *(s // 3 for s in two.shape))
    places, moves = [], []
    for y in np.linspace(0, two.shape[0] - size, 5).astype(int):
        for x in np.linspace(0, two.shape[1] - size, 5).astype(int):
            top, left = y + rough[0], x + rough[1]
            if not (0 <= top <= one.shape[0] - size and 0 <= left <= one.shape[1] - size):
                continue
            here = (slice(y, y + size), slice(x, x + size))
            if still[here].mean() < 0.9 or two[here].std() < 6:
                continue
            dy, dx, clear = _phase(one[top : top + size, left : left + size], two[here], min(16, size // 4))
            if clear > 0.05:
                places.append((y + size / 2, x + size / 2))
                moves.append((rough[0] + dy, rough[1] + dx))
    if len(moves) < 3:
        return (2 * first[0], 2 * first[1]), (1.0, 1.0)
    at, scale = [], []
    for axis in (0, 1):
        p, m = np.array([q[axis] for q in places]), np.array([q[axis] for q in moves])
        keep = np.abs(m - np.median(m)) <= max(1.5, 3 * float(np.median(np.abs(m - np.median(m)))))
        slope, start = np.polyfit(p[keep], m[keep], 1) if np.ptp(p[keep]) > size else (0.0, m[keep].mean())
        if abs(slope) * two.shape[axis] < 0.6:
            slope, start = 0.0, float(np.median(m[keep]))
        scale.append(1 + float(slope))
        at.append(float(start))
    return (at[0], at[1]), (scale[0], scale[1])


def _moved(output: Pixels, at: tuple[float, float], scale: tuple[float, float]) -> Pixels:
    from scipy import ndimage

    whole = all(s == 1.0 and abs(a - round(a)) < 0.15 for a, s in zip(at, scale, strict=True))
    if whole:
        found: Pixels = ndimage.shift(output, (-round(at[0]), -round(at[1]), 0), order=0, mode="nearest")
        return found
    planes = [
        ndimage.affine_transform(output[..., k].astype(np.float32), scale, at, order=1, mode="nearest")
        for k in range(3)
    ]
    stretched: Pixels = np.clip(np.rint(np.dstack(planes)), 0, 255).astype(np.uint8)
    return stretched


def _recoloured(seen: Pixels, before: Pixels, still: Where) -> tuple[Pixels, float]:
    """Undo a change of tone of the whole picture: each channel by the best smooth curve over what stayed."""
    table, moved = np.empty((3, 256), np.uint8), 0.0
    levels = np.arange(256) / 255.0
    for k in range(3):
        x = seen[::3, ::3, k][still[::3, ::3]] / 255.0
        y = before[::3, ::3, k][still[::3, ::3]] / 255.0
        fit = np.array([0.0, 1.0, 0.0, 0.0])
        if x.size > 50 and np.ptp(x) > 0.05:
            keep = np.ones(x.size, bool)
            for _ in range(3):
                fit = np.linalg.lstsq(_shapes(x[keep]), y[keep], rcond=1e-9)[0]
                off = np.abs(_shapes(x) @ fit - y)
                keep = off <= np.quantile(off, 0.9)
        table[k] = np.clip(np.rint(_shapes(levels) @ fit * 255), 0, 255)
        here = seen[::6, ::6, k]
        moved += float(np.mean(np.abs(table[k][here].astype(np.float32) - here))) / 3
    if moved < 0.75:
        return seen, 0.0
    return np.dstack([table[k][seen[..., k]] for k in range(3)]), round(moved, 2)


def _shapes(x: NDArray[Any]) -> NDArray[np.float64]:
    return np.stack([x**2, x, np.sqrt(x), np.ones(x.size)], 1)


def _correlation(one: Plane, two: Plane, where: Where) -> float:
    a, b = one[where], two[where]
    if a.size < 50 or a.std() < 1 or b.std() < 1:
        return 1.0 if a.size < 50 or float(np.abs(a - b).mean()) < 12 else 0.0
    return float(np.corrcoef(a, b)[0, 1])


# -- regions and the rest -----------------------------------------------------------------------


def _stirred(seen: Pixels, before: Pixels) -> NDArray[np.int16]:
    """Return by how much a blurred picture leaves what the 5 x 5 neighbourhood of the blurred original holds."""
    from scipy import ndimage

    out = np.zeros(before.shape[:2], np.int16)
    for k in range(3):
        old, here = (ndimage.uniform_filter(x[..., k], 5).astype(np.int16) for x in (before, seen))
        low, high = ndimage.minimum_filter(old, 5), ndimage.maximum_filter(old, 5)
        out = np.maximum(out, np.maximum(low - here, here - high))
    return out


def _level(rest: NDArray[np.int16]) -> float:
    """Return the level above which a pixel has changed: higher where the whole picture was resampled or toned."""
    usual = 1.5 * float(np.quantile(rest[::7], 0.995)) if rest.size else 0.0
    return min(max(STIRRED[0], usual), STIRRED[1])


def _rest(changed: Where, due: Where, still: Where) -> dict[str, Any]:
    from scipy import ndimage

    outside = changed & still
    joined = ndimage.binary_dilation(outside, iterations=2) & still
    labels, n = ndimage.label(joined)
    sizes = np.bincount(labels[outside], minlength=n + 1)[1:]
    big = np.isin(labels, np.flatnonzero(sizes >= INVENTED) + 1) & outside
    wide = ndimage.binary_dilation(due, iterations=3)
    both = (changed | big) & wide
    union = int((ndimage.binary_dilation(both, iterations=3) & wide).sum()) if both.any() else 0
    whole = int(wide.sum()) + int(big.sum())
    return {
        "preserved": round(1 - float(outside.sum()) / max(1, int(still.sum())), 5),
        "n_invented": int((sizes >= INVENTED).sum()),
        "overlap": round(union / whole, 4) if whole else None,
    }


def _judge(
    region: Region, seen: Pixels, before: Pixels, reference: Pixels, read: Callable[[Pixels], str] | None
) -> dict[str, Any]:
    from scipy import ndimage

    boxes = [b for b in (region.before, region.after) if b]
    if not boxes:
        return _row(region, None, None, None, 0, None)
    whole = (
        min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes),
    )  # fmt: skip
    here = _slice(whole, before.shape[0], before.shape[1], 3)
    out, old, new = (
        ndimage.gaussian_filter(x[here].astype(np.float32), (1.0, 1.0, 0)) for x in (seen, before, reference)
    )
    where = np.abs(before[here].astype(np.int16) - reference[here]).max(2) > 16
    n = int(where.sum())
    if n < 4:
        return _row(region, None, None, None, n, None)
    own, near, far = (_apart(a, b) for a, b in ((old, new), (out, new), (out, old)))
    near, far = near / own, far / own
    status, text = _status(near, far, out, old, new), None
    if read is not None and region.predicate and isinstance(region.predicate.get("text"), str):
        box = region.after or region.before
        assert box is not None
        text = read(np.ascontiguousarray(seen[_slice(box, before.shape[0], before.shape[1], 6)]))
        status = _said(text, region.predicate) or status
    return _row(region, status, near, far, n, text)


def _apart(one: Plane, two: Plane) -> float:
    """Return how far two pieces lie apart: the sum of what goes beyond the noise of a compressed picture."""
    return float(np.maximum(np.abs(one - two).max(2) - NOISE, 0).sum()) + 1e-9


def _status(near: float, far: float, out: Plane, old: Plane, new: Plane) -> str:
    if min(near, far) <= NEAR:
        return "done" if near < far else "left"
    edges = [float(sum(np.abs(np.diff(x, axis=a)).mean() for a in (0, 1))) for x in (out, old, new)]
    return "unreadable" if edges[0] < FAINT * min(edges[1:]) else "wrong"


def _said(text: str, predicate: Mapping[str, Any]) -> str | None:
    """Return what a text that was read says of a predicate; None where nothing was read."""
    plain = [
        "".join(str(t).split()).casefold() for t in (text, predicate["text"], predicate.get("was") or "")
    ]
    if not plain[0]:
        return None
    if plain[1] and plain[1] in plain[0]:
        return "done"
    return "left" if plain[2] and plain[2] in plain[0] else "wrong"
