"""What every layer file needs: flattening for the dW einsums, size checks, the weight initialiser."""
from __future__ import annotations

from typing import Any

import numpy as np

from minimodel.module import Parameter
from minimodel.tensor import Array, Tensor

Rng = np.random.Generator


def flat(X: Array, k: int = 1) -> Array:
    """(..., a, b) -> (n, a, b), keeping the last k axes. einsum cannot sum over `...`, it can sum over n."""
    return X.reshape(-1, *X.shape[X.ndim - k:])


def normal(rng: Rng | None, *shape: int, std: float = 0.02) -> Parameter:
    return Parameter((rng or np.random.default_rng()).normal(0.0, std, shape))


def need_last(X: Array, d: int, who: str) -> None:
    """einsum silently stretches an axis of size 1, so sizes are compared by hand."""
    if X.ndim == 0 or X.shape[-1] != d: raise ValueError(f"{who}: expected (..., {d}), got {X.shape}")


def as_ids(ids: Any, what: str = "token ids") -> Array:
    """A private integer copy (backward reads it later, the caller may have changed theirs by then)."""
    a = np.array(ids.data if isinstance(ids, Tensor) else ids)
    if a.dtype.kind not in "iu": raise TypeError(f"{what} must be integers, got dtype {a.dtype}")
    return a
