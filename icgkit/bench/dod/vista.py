"""VisTA: paired batches, and the bookkeeping of a loss that teaches both drawing and declining.

Shi et al. (arXiv 2610.07887), section 5 and appendix C: each response reasons first, then edits or
ends in `[ABSTAIN]`. Text is learned from every example, the image from feasible ones only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icgkit.bench.dod.maze import ABSTAIN
from icgkit.errors import SchemaError


class Example(NamedTuple):
    """One place in a batch: which pair, which half of it, and whether the reminder is appended."""

    pair: int
    feasible: bool
    reminder: bool


class Loss(NamedTuple):
    """Loss of a batch: total = text + weight x image; the tokens that each is averaged over."""

    total: float
    text: float
    image: float
    text_tokens: int
    image_tokens: int


class Response(NamedTuple):
    """A response taken apart: its reasoning, whether it declines, and what is wrong with its form."""

    reasoning: str
    declines: bool
    status: str


def batches(n_pairs: int, pairs_per_batch: int = 4, *, seed: int = 42) -> Iterator[list[Example]]:
    """Yield the batches of one epoch: shuffled pairs, both halves of a pair in one batch.

    The reminder goes to half of the feasible and half of the infeasible examples of a batch; where
    a batch has an odd number of pairs the extra one alternates between the kinds and batches, so that
    over an epoch the halves differ by one at most.
    """
    if n_pairs < 1 or pairs_per_batch < 1:
        raise SchemaError("pairs and pairs a batch", got=(n_pairs, pairs_per_batch), allowed="1 or more")
    rng = np.random.default_rng(seed)
    order = rng.permutation(n_pairs)
    odd = 0
    for start in range(0, n_pairs, pairs_per_batch):
        pairs = order[start : start + pairs_per_batch]
        flags = {}
        for kind in (True, False):
            extra = (odd + kind) % 2 if len(pairs) % 2 else 0
            flags[kind] = np.zeros(len(pairs), dtype=bool)
            flags[kind][rng.permutation(len(pairs))[: len(pairs) // 2 + extra]] = True
        odd += len(pairs) % 2
        yield [Example(int(p), k, bool(flags[k][i])) for i, p in enumerate(pairs) for k in (True, False)]


def loss(
    text: ArrayLike, text_tokens: ArrayLike, image: ArrayLike, image_tokens: ArrayLike, feasible: ArrayLike,
    *, weight: float = 1.0,
) -> Loss:  # fmt: skip
    """Compute the loss of a batch from the losses and token counts of its examples, summed over their tokens.

    L = sum_i t_i / N_text + w sum_i F_i v_i / N_image, N_text over all examples, N_image over the
    feasible ones: infeasible examples do not dilute the image term. Without a feasible example it is 0.
    """
    parts = [np.asarray(a, dtype=np.float64) for a in (text, text_tokens, image, image_tokens)]
    keep = np.asarray(feasible, dtype=bool)
    if any(a.shape != keep.shape or a.ndim != 1 for a in parts):
        raise SchemaError(
            "loss of a batch", got=[a.shape for a in (*parts, keep)], allowed="five rows of one length"
        )
    words, n_words, picture, n_picture = parts
    if (n_words < 0).any() or (n_picture < 0).any() or not n_words.sum():
        raise SchemaError("token counts", allowed="0 or more, and some text in a batch")
    # Chosen, not multiplied: an infeasible example may have no image loss at all (NaN).
    tokens = float(n_picture[keep].sum())
    mean_text = float(words.sum() / n_words.sum())
    mean_image = float(picture[keep].sum() / tokens) if tokens else 0.0
    return Loss(mean_text + weight * mean_image, mean_text, mean_image, int(n_words.sum()), int(tokens))


def gradient_weights(
    text_tokens: ArrayLike, image_tokens: ArrayLike, feasible: ArrayLike, *, weight: float = 1.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what one text token and one image token of each example weighs in the loss."""
    keep = np.asarray(feasible, dtype=bool)
    n_words = float(np.asarray(text_tokens, dtype=np.float64).sum())
    n_picture = float(np.asarray(image_tokens, dtype=np.float64)[keep].sum())
    return np.ones(keep.shape) / n_words, np.where(keep, weight / n_picture if n_picture else 0.0, 0.0)


def read_response(text: str | None, *, has_image: bool) -> Response:
    """Take a response apart and check its form: reasoning, then the edit or the marker and no image."""
    body = (text or "").strip()
    declines = body.endswith(ABSTAIN)
    reasoning = body.removesuffix(ABSTAIN).strip()
    if declines and has_image:
        status = "image after the marker"
    elif not declines and not has_image:
        status = "marker inside the text" if ABSTAIN in body else "neither image nor marker"
    else:
        status = "ok" if reasoning else "no reasoning"
    return Response(reasoning, declines, status)


def check_epoch(epoch: Sequence[Sequence[Example]]) -> list[str]:
    """List how the batches of an epoch break the rules of `batches`; an empty list is good."""
    found = []
    whole = [e for batch in epoch for e in batch]
    for place, batch in [*((f"batch {k}", b) for k, b in enumerate(epoch)), ("epoch", whole)]:
        halves = {(e.pair, e.feasible) for e in batch}
        if any((p, not f) not in halves for p, f in halves):
            found.append(f"{place}: a pair is torn")
        for kind in (True, False):
            told = [e.reminder for e in batch if e.feasible is kind]
            if abs(2 * sum(told) - len(told)) > 1:
                found.append(f"{place}: reminder on {sum(told)} of {len(told)} examples of one kind")
    return found
