"""How wrong the scores are."""
import numpy as np

from ..tensor import Tensor


def _log_softmax(x):
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def cross_entropy(logits, targets, ignore_index=None):
    targets = np.asarray(targets)
    *lead, n_classes = logits.shape
    if tuple(lead) != targets.shape:
        raise ValueError("scores %s do not go with targets %s" % (logits.shape, targets.shape))
    keep = np.ones(targets.shape, bool) if ignore_index is None else targets != ignore_index
    count = int(keep.sum())
    if count == 0:
        raise ValueError("nothing to learn from: all targets are ignored")
    bad = targets[keep & ((targets < 0) | (targets >= n_classes))]
    if bad.size:
        raise ValueError("target %d, but there are %d classes" % (bad.flat[0], n_classes))

    logp = _log_softmax(logits.data)
    safe = np.where(keep, targets, 0)[..., None]
    picked = np.take_along_axis(logp, safe, -1)[..., 0]
    loss = np.asarray(-picked[keep].sum() / count, dtype=logits.data.dtype)

    def backward(g):
        p = np.exp(logp)
        np.put_along_axis(p, safe, np.take_along_axis(p, safe, -1) - 1, -1)
        return g * p * keep[..., None] / count

    return Tensor.from_op(loss, (logits, backward))
