"""Mean negative log-likelihood in nats, by logsumexp in float64, and its gradient by hand."""

import numpy as np


def refuse(*mentions):
    error = ValueError(" ".join(str(m) for m in mentions))
    error.mentions = mentions
    return error


def loss_and_gradient(logits, targets, ignore_index=None):
    V = logits.shape[-1]
    if logits.shape[:-1] != targets.shape:
        raise refuse(logits.shape, targets.shape)
    flat = logits.reshape(-1, V).astype(np.float64)
    wanted = targets.reshape(-1)
    kept = np.ones(len(wanted), bool) if ignore_index is None else wanted != ignore_index
    if not kept.any():
        raise refuse()
    outside = wanted[kept & ((wanted < 0) | (wanted >= V))]
    if outside.size:
        raise refuse(int(outside[0]))
    shifted = flat - flat.max(-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))  # (N, V)
    rows = np.flatnonzero(kept)
    grad = np.zeros_like(flat)
    grad[rows] = np.exp(log_p[rows])
    grad[rows, wanted[rows]] -= 1
    loss = -log_p[rows, wanted[rows]].mean()
    grad = (grad / len(rows)).reshape(logits.shape).astype(logits.dtype)
    return np.asarray(loss, dtype=logits.dtype), grad


def forward(out, variant, *, logits, targets, ignore_index):
    loss, grad = loss_and_gradient(logits, targets, ignore_index)
    out.record(loss=loss, grad_logits=grad)


def scaled(out, variant, *, logits, targets, factor):
    _, grad = loss_and_gradient(logits, targets)
    out.record(grad_logits=(factor * grad.astype(np.float64)).astype(logits.dtype))
