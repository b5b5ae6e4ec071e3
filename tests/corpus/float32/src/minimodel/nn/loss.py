"""The loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..tensor import Array, Tensor, as_tensor, record


def cross_entropy(
    logits: Tensor,
    targets: NDArray[np.integer],
    ignore_index: int | None = None,
) -> Tensor:
    """Mean negative log-likelihood in nats.

    Parameters
    ----------
    logits : Tensor, shape (..., V)
        Unnormalised log-probabilities.
    targets : ndarray of int, shape (...,)
        The right answers.
    ignore_index : int, optional
        Targets of this value count neither in the sum nor in the number.

    Returns
    -------
    Tensor
        A scalar.

    Raises
    ------
    ValueError
        If the shapes do not fit, a target is outside [0, V), or no target
        is left.
    TypeError
        If the targets are not integers.
    """
    logits = as_tensor(logits)
    wanted = np.array(targets)
    if not logits.ndim or logits.shape[:-1] != wanted.shape:
        raise ValueError(
            f"logits of shape {logits.shape} do not go with targets of "
            f"shape {wanted.shape}"
        )
    if not np.issubdtype(wanted.dtype, np.integer):
        raise TypeError(f"targets must be integers, not {wanted.dtype}")

    n_classes = logits.shape[-1]
    wanted = wanted.reshape(-1)
    if ignore_index is None:
        kept = np.arange(wanted.size)
    else:
        kept = np.flatnonzero(wanted != ignore_index)
    wanted = wanted[kept]
    outside = wanted[(wanted < 0) | (wanted >= n_classes)]
    if outside.size:
        raise ValueError(
            f"target {int(outside[0])} is not one of {n_classes} classes"
        )
    wanted = wanted.astype(np.intp)
    n = kept.size
    if n == 0:
        raise ValueError("no targets left: all of them are ignored")

    z = logits.data.reshape(-1, n_classes)[kept]
    z = z - z.max(axis=-1, keepdims=True)
    e = np.exp(z)
    total = e.sum(axis=-1, keepdims=True)
    pick = (np.arange(n), wanted)
    losses = np.log(total[:, 0]) - z[pick]

    def vjp(g: Array) -> tuple[Array]:
        part = e / total
        part[pick] -= 1
        grad = np.zeros((logits.data.size // n_classes, n_classes), e.dtype)
        grad[kept] = part * (g / n)
        return (grad.reshape(logits.shape),)

    return record(losses.mean(), (logits,), vjp)
