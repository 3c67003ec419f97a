"""Audit of drawn cases: does a case give its graph away, do boxes hold what an edit changes, do pictures repeat?

Nothing here asks the engine that drew them: machines see instructions or statistics of pictures, and boxes are held
against the pixels of the reference edits. scikit-learn and imagehash are loaded where they are used (extra "audit").
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image, ImageChops, ImageFilter

from icgkit.cases.case import Case
from icgkit.cases.edited import reference_edit, regions_of
from icgkit.cases.images import FORMATS
from icgkit.metrics._resample import wilson

if TYPE_CHECKING:
    import polars as pl

    from icgkit.cases.dataset import Dataset

REACH, BLURRED = 3, 12
"""Pixels by which a change may leave its box on a page, and in a photograph, where lenses and rough surfaces blur."""


def giveaway(cases: Sequence[Case], *, folds: int = 5, seed: int = 0) -> pl.DataFrame:
    """Let machines that cannot understand a case guess its first node's subtype, or its number of nodes.

    Linear support vector machines on the words and character n-grams of the instruction; a radial one on the ranks of
    statistics of the picture. `documents` says whether all cases of a document lie in one fold ("unseen"), or the
    machine has learnt from others of the same ("seen").

    Returns
    -------
    polars.DataFrame
        `sees`, `guesses`, `documents`, `n` (cases, each predicted once), `base` (accuracy of always naming what is
        commonest in the training folds, 0 to 1), `estimate`, `low`, `high` (accuracy, 95 % Wilson interval), `above`
        (`estimate` less `base`).
    """
    import polars as pl
    from scipy.sparse import csr_matrix, hstack
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import SVC, LinearSVC

    told = [c.instruction for c in cases]
    words = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\S+").fit_transform(told)
    letters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), min_df=2, max_features=4000)
    text = csr_matrix(hstack([words, letters.fit_transform(told)]))
    seen = np.stack([image_statistics(c.image_path) for c in cases])
    ranks = seen.argsort(axis=0, kind="stable").argsort(axis=0) / len(cases)
    subtype = np.array([c.constraint_nodes[0].subtype for c in cases])
    number = np.array([len(c.constraint_nodes) for c in cases])
    documents = np.array([c.metadata["template"] for c in cases])
    linear = LinearSVC(C=1.0, random_state=0)
    rows = []
    for groups, of in (("unseen", documents), ("seen", np.arange(len(cases)))):
        for sees, guesses, x, y, model in (
            ("instruction", "subtype", text, subtype, linear),
            ("instruction", "number of nodes", text, number, linear),
            ("statistics of the picture", "subtype", ranks, subtype, SVC(C=10)),
        ):
            hit, base = _cross_validate(x, y, model, of, folds=folds, seed=seed)
            low, high = wilson(float(hit.mean()), len(hit), 0.95)
            rows.append(
                {
                    "sees": sees, "guesses": guesses, "documents": groups, "n": len(hit), "base": float(base.mean()),
                    "estimate": float(hit.mean()), "low": low, "high": high, "above": float(hit.mean() - base.mean()),
                }
            )  # fmt: skip
    return pl.DataFrame(rows)


def _cross_validate(
    x: Any, y: np.ndarray, model: Any, groups: np.ndarray, *, folds: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return right or wrong of the model and of the commonest answer, each case held out once."""
    from sklearn.base import clone
    from sklearn.model_selection import GroupKFold

    hit, base = np.zeros(len(y), bool), np.zeros(len(y), bool)
    for train, test in GroupKFold(folds, shuffle=True, random_state=seed).split(x, y, groups):
        names, counts = np.unique(y[train], return_counts=True)
        base[test] = y[test] == names[counts.argmax()]
        hit[test] = (
            clone(model).fit(x[train], y[train]).predict(x[test]) == y[test] if len(names) > 1 else base[test]
        )
    return hit, base


_FINE = ImageFilter.Kernel((3, 3), (0, -1, 0, -1, 4, -1, 0, -1, 0), scale=1, offset=128)


@lru_cache(maxsize=4096)
def image_statistics(path: str | Path) -> np.ndarray:
    """Return statistics of a whole picture that see no content: size, colour, contrast, noise, edges."""
    with Image.open(path, formats=FORMATS) as image:
        rgb = image.convert("RGB")
    w, h = rgb.size
    few = rgb.resize((w // 2, h // 2), Image.Resampling.NEAREST)  # every second pixel of every second row
    red, green, blue = channels = few.split()
    most = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    spread = ImageChops.subtract(most, ImageChops.darker(ImageChops.darker(red, green), blue))
    grey, (x, y) = few.convert("L"), few.size
    across = ImageChops.difference(grey.crop((1, 0, x, y)), grey.crop((0, 0, x - 1, y)))
    down = ImageChops.difference(grey.crop((0, 1, x, y)), grey.crop((0, 0, x, y - 1)))
    means, spreads = zip(*(_moments(_levels(c)) for c in (*channels, spread)), strict=True)
    edges = [_levels(d) for d in (across, down)]
    middle = rgb.crop((w // 4, h // 4, w - w // 4, h - h // 4)).convert("L")
    fine = _levels(middle.filter(_FINE))  # 128 where a pixel is the mean of its neighbours
    off = np.bincount(np.abs(np.arange(256) - 128), fine).cumsum()
    return np.array(
        [w, h, w / h, Path(path).stat().st_size / (w * h), *means, *spreads, *(e @ np.arange(256) for e in edges),
         *(e[25:].sum() for e in edges), np.searchsorted(off, 0.5), *_levels(grey).reshape(8, 32).sum(axis=1)]
    )  # fmt: skip


def _levels(channel: Image.Image) -> np.ndarray:
    """Return the share of each of the 256 levels."""
    return np.asarray(channel.histogram()) / (channel.width * channel.height)


def _moments(shares: np.ndarray) -> tuple[float, float]:
    """Return mean and standard deviation of levels."""
    levels = np.arange(256)
    mean = float(levels @ shares)
    return mean, float(np.sqrt((levels - mean) ** 2 @ shares))


def box_truth(data: Dataset) -> pl.DataFrame:
    """Hold the boxes of targets and nodes against the pixels that the reference edits change.

    Returns
    -------
    polars.DataFrame
        `case_id`, `element` ("target" or a node's id), `subtype` ("" for the target), `n_changed` (pixels within 3, in photographs 12, of
        its boxes, before and after together, that differ), `iou` (intersection over union, 0 to 1, of those pixels'
        bounds and of the boxes'; null if nothing differs), `n_outside` (pixels of the case that differ away from all
        boxes).
    """
    import polars as pl

    assert data.folder is not None
    rows: list[dict[str, Any]] = []
    for case in data:
        before, after = reference_edit(case, data.folder)
        differs = (before != after).any(axis=2)
        covered = np.zeros_like(differs)
        found = []
        reach = REACH if case.metadata["setting"] == "flat" else BLURRED
        for region in regions_of(case):
            whole = np.zeros_like(differs)
            boxes = [b for b in (region.before, region.after) if b is not None]
            for x0, y0, x1, y1 in ((int(v) for v in box) for box in boxes):
                whole[max(0, y0 - reach) : y1 + reach, max(0, x0 - reach) : x1 + reach] = True
            covered |= whole
            ink = _bounds(differs & whole)
            left, top, right, bottom = zip(*boxes, strict=True)
            union = (min(left), min(top), max(right), max(bottom))
            found.append(
                {
                    "case_id": case.id, "element": region.id, "subtype": region.subtype,
                    "n_changed": int((differs & whole).sum()), "iou": None if ink is None else _iou(ink, union),
                }
            )  # fmt: skip
        rows += [row | {"n_outside": int((differs & ~covered).sum())} for row in found]
    return pl.DataFrame(rows, schema_overrides={"iou": pl.Float64}, infer_schema_length=None)


def _bounds(mask: np.ndarray) -> tuple[float, float, float, float] | None:
    y, x = np.nonzero(mask)
    return (x.min(), y.min(), x.max() + 1, y.max() + 1) if len(x) else None


def _iou(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    across, down = (max(0.0, min(a[i + 2], b[i + 2]) - max(a[i], b[i])) for i in (0, 1))
    areas = [(c[2] - c[0]) * (c[3] - c[1]) for c in (a, b)]
    return float(across * down / (sum(areas) - across * down))


def near_duplicates(cases: Sequence[Case], *, bits: int = 6, size: int = 16) -> list[tuple[str, str, int]]:
    """Return pairs of pictures of unlike documents whose perceptual hashes (size x size bits) differ in at most `bits`."""
    import imagehash

    pictures = list({c.image_sha256 or c.image: c for c in cases}.values())
    prints = []
    for case in pictures:
        with Image.open(case.image_path, formats=FORMATS) as image:
            image.draft("L", (256, 256))  # decodes a JPEG at a fraction of its size, which is all a hash sees
            prints.append(imagehash.phash(image, hash_size=size).hash.ravel())
    table = np.array(prints)
    documents = np.array([c.metadata["template"] for c in pictures])
    pairs = []
    for i in range(len(table) - 1):
        gaps = (table[i + 1 :] != table[i]).sum(axis=1)
        near = np.flatnonzero((gaps <= bits) & (documents[i + 1 :] != documents[i]))
        pairs += [(pictures[i].id, pictures[i + 1 + int(j)].id, int(gaps[j])) for j in near]
    return pairs
