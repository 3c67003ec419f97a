"""Can a case's subtype be told without understanding it? Classifiers on wording and on statistics.

scikit-learn is loaded only where it is used (extra "audit").
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, ImageChops, ImageFilter

from icgkit.cases.case import Case
from icgkit.cases.images import FORMATS
from icgkit.metrics._resample import wilson


class Guess(NamedTuple):
    """How well a classifier tells the subtype of the first node within one edit type, or over all.

    Attributes
    ----------
    edit_type : str
        "all" pools the decisions of every edit type.
    n : int
        Cases, each predicted once by cross-validation.
    base : float
        Accuracy (0 to 1) of always naming the commonest subtype of the training folds.
    accuracy, low, high : float
        Accuracy of the classifier with its 95 % Wilson interval.
    """

    edit_type: str
    n: int
    base: float
    accuracy: float
    low: float
    high: float


def _guess(edit_type: str, hit: np.ndarray, base: np.ndarray) -> Guess:
    rate = float(hit.mean())
    return Guess(edit_type, len(hit), float(base.mean()), rate, *wilson(rate, len(hit), 0.95))


def _cross_validate(
    x: Any, y: np.ndarray, folds: int, seed: int, model: Any, groups: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return right/wrong of the model and of the commonest class, each case held out once."""
    from sklearn.base import clone

    rng = np.random.default_rng(seed)
    fold = rng.permutation(np.arange(len(y)) % folds)
    if groups is not None:
        known, member = np.unique(groups, return_inverse=True)
        fold = rng.permutation(np.arange(len(known)) % folds)[member]
    hit, base = np.zeros(len(y), bool), np.zeros(len(y), bool)
    for k in range(folds):
        train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        if not len(train) or not len(test):
            continue
        common = Counter(y[train]).most_common(1)[0][0]
        base[test] = y[test] == common
        if len(set(y[train])) == 1:
            hit[test] = base[test]
        else:
            hit[test] = clone(model).fit(x[train], y[train]).predict(x[test]) == y[test]
    return hit, base


def _by_edit_type(
    cases: Sequence[Case],
    features: Any,
    model: Any,
    *,
    folds: int,
    seed: int,
    least: int,
    unseen: bool = False,
) -> list[Guess]:
    kinds: dict[str, list[int]] = defaultdict(list)
    for i, case in enumerate(cases):
        kinds[case.metadata["edit_type"]].append(i)
    y = np.array([c.constraint_nodes[0].subtype for c in cases])
    names = np.array([c.metadata["template"] for c in cases])
    rows, hits, bases = [], [], []
    for kind, index in sorted(kinds.items()):
        if len(index) < least:
            continue
        hit, base = _cross_validate(
            features[index], y[index], folds, seed, model, names[index] if unseen else None
        )
        hits.append(hit)
        bases.append(base)
        rows.append(_guess(kind, hit, base))
    if hits:
        rows.append(_guess("all", np.concatenate(hits), np.concatenate(bases)))
    return rows


def text_giveaway(cases: Sequence[Case], *, folds: int = 5, seed: int = 0, least: int = 15) -> list[Guess]:
    """Guess the subtype from the instruction alone, within each edit type of at least `least` cases.

    A linear support vector machine on words and character n-grams of the instruction.
    """
    from scipy.sparse import csr_matrix, hstack
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC

    text = [c.instruction for c in cases]
    parts = [
        TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\S+").fit_transform(text),
        TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), min_df=2, max_features=4000).fit_transform(
            text
        ),
    ]
    model = LinearSVC(C=1.0, random_state=0)
    return _by_edit_type(cases, csr_matrix(hstack(parts)), model, folds=folds, seed=seed, least=least)


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


def image_giveaway(
    cases: Sequence[Case], *, folds: int = 5, seed: int = 0, least: int = 15, unseen: bool = False
) -> list[Guess]:
    """Guess the subtype from statistics of the picture, within each edit type.

    A support vector machine with a radial kernel on their ranks, which tells as much as a random
    forest does. With `unseen`, all cases of a template lie in one fold, so that recognising the
    template does not help; without, the machine may know other cases of the same template.
    """
    from sklearn.svm import SVC

    features = np.stack([image_statistics(c.image_path) for c in cases])
    ranks = features.argsort(axis=0, kind="stable").argsort(axis=0) / len(cases)
    return _by_edit_type(cases, ranks, SVC(C=10), folds=folds, seed=seed, least=least, unseen=unseen)


def count_giveaway(cases: Sequence[Case], *, folds: int = 5, seed: int = 0) -> Guess:
    """Guess the number of nodes from the instruction alone, over all cases."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC

    x = (
        TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\S+")
        .fit_transform([c.instruction for c in cases])
        .tocsr()
    )
    y = np.array([len(c.constraint_nodes) for c in cases])
    hit, base = _cross_validate(x, y, folds, seed, LinearSVC(random_state=0))
    return _guess("all", hit, base)
