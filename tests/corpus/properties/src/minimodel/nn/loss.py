import numpy as np

from ..operations import Operation
from ..tensor import dispatch


class CrossEntropy(Operation, symbol="cross_entropy"):
    """Mean of -log softmax(row)[target] over some rows of (n, V) logits."""

    __slots__ = ()

    @staticmethod
    def forward(logits, rows, targets):
        kept = logits.reshape(-1, logits.shape[-1])[rows]
        shifted = kept - kept.max(axis=-1, keepdims=True)
        e = np.exp(shifted)
        total = e.sum(axis=-1, keepdims=True)
        each = np.arange(len(rows))
        nll = np.log(total[:, 0]) - shifted[each, targets]
        return nll.mean(), (logits.shape, rows, targets, e / total)

    @staticmethod
    def backward(grad, saved):
        shape, rows, targets, p = saved
        slope = p.copy()
        slope[np.arange(len(rows)), targets] -= 1
        slope *= grad / len(rows)
        full = np.zeros((int(np.prod(shape[:-1])), shape[-1]), dtype=p.dtype)
        full[rows] = slope
        return (full.reshape(shape),)


def cross_entropy(logits, targets, ignore_index=None):
    """Mean negative log-likelihood in nats over the targets that are not `ignore_index`."""
    targets = np.asarray(targets)
    if logits.ndim == 0 or logits.shape[:-1] != targets.shape:
        raise ValueError(f"logits {logits.shape} do not fit targets {targets.shape}")
    if not np.issubdtype(targets.dtype, np.integer):
        raise TypeError(f"targets must be integers, got {targets.dtype}")
    flat = targets.reshape(-1).astype(np.int64)
    rows = np.arange(flat.size) if ignore_index is None else np.flatnonzero(flat != ignore_index)
    if rows.size == 0:
        raise ValueError("no target is left to take the mean over (all ignored)")
    kept = flat[rows]
    vocab_size = logits.shape[-1]
    outside = kept[(kept < 0) | (kept >= vocab_size)]
    if outside.size:
        raise ValueError(f"target {outside[0]} is outside [0, {vocab_size})")
    return dispatch("cross_entropy", logits, rows=rows, targets=kept)
