"""The training loss."""

from __future__ import annotations

import numpy as np

from minimodel.tensor import Tensor


def cross_entropy(logits: Tensor, targets: np.ndarray, ignore_index: int | None = None) -> Tensor:
    """How surprised the model is by the right tokens: a scalar Tensor, in nats.

    logits (..., V) and integer targets (...,). The loss is the mean of -log p(target), where p is
    the softmax of the logits over the last axis. Targets equal to `ignore_index` do not count:
    neither in the sum nor in the number it is divided by. Logits of +1000 and -1000 give finite,
    correct values and gradients.

    Raises:
        ValueError: the shapes do not fit (the message contains both); a target that counts lies
            outside [0, V) (the message contains it); or every target is ignored.
    """
    raise NotImplementedError("compute the mean negative log-likelihood")
