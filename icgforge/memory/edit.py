"""UniKE's edit mathematics as plain functions: projectors, layer update, clipping, retention, drift.
 The UniKE paper, section on the conditioning interface and its appendix; Fang et al. (2025), AlphaEdit. A
weight maps d_in to d_out; keys K and residuals R hold one edit a column.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icgkit.errors import SchemaError

Floats = NDArray[np.float64]


def _matrix(name: str, value: ArrayLike, rows: int | None = None, *, square: bool = False) -> Floats:
    array = np.asarray(value, dtype=np.float64)
    if array.ndim != 2 or not np.isfinite(array).all() or rows not in (None, array.shape[0]):
        wanted = "a finite matrix" if rows is None else f"a finite matrix with {rows} rows"
        raise SchemaError(name, got=f"shape {array.shape}", allowed=wanted)
    if square and array.shape[0] != array.shape[1]:
        raise SchemaError(name, got=f"shape {array.shape}", allowed="a square matrix")
    return array


def _within(name: str, value: float, low: float, high: float) -> float:
    if not low <= value <= high:
        raise SchemaError(name, got=value, allowed=f"{low} to {high}")
    return float(value)


def second_moment(keys: ArrayLike) -> Floats:
    """Return K K^T / n of n keys (columns)."""
    k = _matrix("keys", keys)
    return np.asarray(k @ k.T / k.shape[1])


def regularised(moment: ArrayLike, epsilon: float) -> Floats:
    """Return the second moment plus epsilon times the identity, before it is decomposed.

    Eigenvalues that are near zero only because few keys were seen are lifted to epsilon, and no longer
    fall below a threshold smaller than that. The paper states values (0.01 and 0.015) and purpose; the
    public code adds epsilon times the identity, as here.
    """
    m = _matrix("second moment", moment, square=True)
    return np.asarray(m + _within("epsilon", epsilon, 0.0, np.inf) * np.eye(len(m)))


def null_projector(moment: ArrayLike, *, threshold: float = 1e-2) -> Floats:
    """Return the projector onto the directions that the keys hardly use (AlphaEdit, section 3).

    P = U U^T with the eigenvectors U of the eigenvalues of a symmetric second moment below the threshold.
    """
    values, vectors = np.linalg.eigh(_matrix("second moment", moment, square=True))
    free = vectors[:, values < threshold]
    return np.asarray(free @ free.T)


def softened(projector: ArrayLike, alpha: float) -> Floats:
    """Return alpha P + (1 - alpha) I: 1 keeps the projector, 0 leaves the update free."""
    p = _matrix("projector", projector, square=True)
    a = _within("alpha", alpha, 0.0, 1.0)
    return np.asarray(a * p + (1 - a) * np.eye(len(p)))


def layer_update(
    keys: ArrayLike,
    residual: ArrayLike,
    projector: ArrayLike,
    *,
    cached: ArrayLike | None = None,
    lam: float = 1.0,
) -> Floats:
    """Return the change of a layer's weight for a batch of edits: R K^T P (C P + K K^T P + lam I)^-1.

    Of keys K (d_in, n), residual R (d_out, n: what the layer's output lacks), projector P (d_in, d_in;
    softened or not, the identity for an unconstrained update), C the cached outer products of the keys of
    earlier edits and lam > 0 the weight of the L2 term (AlphaEdit, equation for sequential editing; the UniKE
    paper, appendix on editors).
    """
    k, r = _matrix("keys", keys), _matrix("residual", residual)
    p = _matrix("projector", projector, k.shape[0], square=True)
    if r.shape[1] != k.shape[1]:
        raise SchemaError("residual", got=f"{r.shape[1]} columns", allowed=f"one a key: {k.shape[1]}")
    if lam <= 0:
        raise SchemaError("lam", got=lam, allowed="above 0")
    system = add_keys(cached, k) @ p + lam * np.eye(len(p))
    return np.asarray(np.linalg.solve(system.T, (r @ k.T @ p).T).T)


def add_keys(cached: ArrayLike | None, keys: ArrayLike) -> Floats:
    """Return the cached outer products with those of a batch added."""
    k = _matrix("keys", keys)
    outer = k @ k.T
    return np.asarray(outer if cached is None else _matrix("cached", cached, k.shape[0], square=True) + outer)


def clipped(update: ArrayLike, weight: ArrayLike, max_ratio: float) -> Floats:
    """Scale an update down so that its Frobenius norm is at most `max_ratio` times that of the weight.

    The public code takes the weight before the first edit, for all batches; the paper's formula names the
    weight only. Pass the one that is meant.
    """
    u, w = _matrix("update", update), _matrix("weight", weight)
    if u.shape != w.shape:
        raise SchemaError("update", got=f"shape {u.shape}", allowed=f"that of the weight, {w.shape}")
    size, most = np.linalg.norm(u), _within("max_ratio", max_ratio, 0.0, np.inf) * np.linalg.norm(w)
    return np.asarray(u if size <= most else u * (most / size))


def retention(projection: ArrayLike, shifts: ArrayLike) -> Floats:
    """Return rho(k) for k = 1 ... rank: the share of a shift that lies in the top-k right singular
    directions.

    rho(k) = |V_k^T d|^2 / |d|^2 with W = U S V^T of shape (m, n), the frozen projection, and shifts d of
    shape (n,) or (n, cases), edited minus fresh. The expectation for a direction without preference is k / n
    (`expected_retention`).
    """
    w, d = _matrix("projection", projection), np.asarray(shifts, dtype=np.float64)
    two = _matrix("shifts", d[:, None] if d.ndim == 1 else d, w.shape[1])
    total = (two**2).sum(axis=0)
    if (total == 0).any():
        raise SchemaError("shifts", got="a shift of zero", allowed="shifts that differ from zero")
    right = np.linalg.svd(w, full_matrices=False)[2]
    shares: Any = np.cumsum((right @ two) ** 2, axis=0) / total
    return np.asarray(shares[:, 0] if d.ndim == 1 else shares)


def expected_retention(k: int, n: int) -> float:
    """Return k / n, the expected share that k of n directions hold of a vector without preference."""
    if not 0 < k <= n:
        raise SchemaError("k of n", got=(k, n), allowed="0 < k <= n")
    return k / n


def drift(fresh: ArrayLike, edited: ArrayLike) -> float:
    """Return |edited - fresh| / |fresh|, the relative drift of a conditioning signal (Frobenius norm)."""
    a, b = np.asarray(fresh, dtype=np.float64), np.asarray(edited, dtype=np.float64)
    if a.shape != b.shape or not a.any():
        raise SchemaError(
            "fresh and edited signal", got=(a.shape, b.shape), allowed="one shape, fresh not zero"
        )
    return float(np.linalg.norm(b - a) / np.linalg.norm(a))
