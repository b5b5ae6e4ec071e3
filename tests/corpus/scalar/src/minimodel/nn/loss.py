import numpy as np

from ..tensor import Tensor
from ..value import mean, surprise


def cross_entropy(logits, targets, ignore_index=None):
    """Mean surprise, in nats, about the targets that count."""
    targets = np.asarray(targets)
    if logits.ndim < 1 or targets.shape != logits.shape[:-1]:
        raise ValueError(f"logits {logits.shape} and targets {targets.shape} do not belong together")
    if targets.size and targets.dtype.kind not in "iu":
        raise TypeError(f"targets must be integers, got {targets.dtype}")
    V = logits.shape[-1]
    losses = []
    for row, t in zip(logits.rows(), targets.ravel().tolist()):
        if ignore_index is not None and t == ignore_index:
            continue
        if not 0 <= t < V:
            raise ValueError(f"target {t} is outside [0, {V})")
        losses.append(surprise(row, t))
    if not losses:
        raise ValueError("no target left to average over, all of them are ignored")
    return Tensor.of([mean(losses)], (), logits)
