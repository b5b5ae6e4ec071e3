"""The training loss."""

from __future__ import annotations

import numpy as np

from minimodel.tensor import Tensor


def cross_entropy(logits: Tensor, targets: np.ndarray, ignore_index: int | None = None) -> Tensor:
    """Mean negative log-likelihood in nats. logits (..., V), targets (...,) -> scalar."""
    targets = np.asarray(targets)
    if logits.shape[:-1] != targets.shape:
        raise ValueError(f"logits {logits.shape} and targets {targets.shape} do not fit")
    V = logits.shape[-1]
    flat, wanted = logits.reshape(-1, V), targets.reshape(-1)
    kept = np.full(wanted.shape, True) if ignore_index is None else wanted != ignore_index
    if not kept.any():
        raise ValueError("every target is ignored")
    outside = kept & ((wanted < 0) | (wanted >= V))
    if outside.any():
        raise ValueError(f"target {wanted[outside][0]} is outside [0, {V})")
    rows = np.flatnonzero(kept)
    flat = flat[rows]  # (N, V)
    shifted = flat - flat.data.max(axis=-1, keepdims=True)
    log_z = shifted.exp().sum(axis=-1).log()  # (N,)
    return (log_z - shifted[np.arange(len(rows)), wanted[rows]]).mean()
