"""Mean negative log-likelihood in nats, by logsumexp in float64, and its gradient by hand.

Variant: "no_max" takes the exponentials of the logits as they are, without subtracting the row's
maximum, in the learner's own dtype, which decides where they end. Up to there it is right; beyond,
whether inf, NaN or an error comes out depends on how the code goes on, so only `large` looks there.
"double_softmax" takes the softmax of the logits first and then treats the probabilities as logits.
"""

import numpy as np
from pack.common import COARSE, less_logsumexp


def refuse(*mentions):
    error = ValueError(" ".join(str(m) for m in mentions))
    error.mentions = mentions
    return error


def loss_and_gradient(logits, targets, ignore_index=None, variant=None, out=None):
    if variant == "double_softmax":
        return of_probabilities(logits, targets, ignore_index, out)
    V = logits.shape[-1]
    if logits.shape[:-1] != targets.shape:
        raise refuse(logits.shape, targets.shape)
    flat = logits.reshape(-1, V).astype(logits.dtype if variant == "no_max" else np.float64)
    wanted = targets.reshape(-1)
    kept = np.ones(len(wanted), bool) if ignore_index is None else wanted != ignore_index
    if not kept.any():
        raise refuse()
    outside = wanted[kept & ((wanted < 0) | (wanted >= V))]
    if outside.size:
        raise refuse(int(outside[0]))
    rows = np.flatnonzero(kept)
    row_max = flat[rows].max(-1, keepdims=True)  # (N, 1)
    shifted = flat[rows] - (0 if variant == "no_max" else row_max)  # (N, V)
    with np.errstate(all="ignore"):
        exp = np.exp(shifted)
        sum_exp = exp.sum(-1, keepdims=True)
        log_p = shifted - np.log(sum_exp)
    if variant in COARSE:
        log_p = less_logsumexp(flat[rows], variant)
    if out:
        out.name(
            logits=logits,
            flat=flat[rows],
            row_max=row_max,
            shifted=shifted,
            exp=exp,
            sum_exp=sum_exp,
        )
        out.name(log_sum_exp=np.log(sum_exp), log_z=row_max + np.log(sum_exp), log_p=log_p)
        out.name(probs=np.exp(log_p), kept_targets=wanted[rows])
        out.name(nll=-log_p[np.arange(len(rows)), wanted[rows]])
    each = np.arange(len(rows))
    grad = np.zeros_like(flat)
    grad[rows] = np.exp(log_p)
    grad[rows, wanted[rows]] -= 1
    loss = -log_p[each, wanted[rows]].mean()
    grad = (grad / len(rows)).reshape(logits.shape).astype(logits.dtype)
    return np.asarray(loss, dtype=logits.dtype), grad


def of_probabilities(logits, targets, ignore_index, out):
    """The loss of the probabilities as if they were logits, and its gradient through the softmax."""
    exact = logits.astype(np.float64)
    exp = np.exp(exact - exact.max(-1, keepdims=True, initial=-np.inf))
    p = exp / exp.sum(-1, keepdims=True)
    loss, g = loss_and_gradient(p, targets, ignore_index)
    grad = p * (g - (g * p).sum(-1, keepdims=True))
    return loss.astype(logits.dtype), grad.astype(logits.dtype)


def forward(out, variant, *, logits, targets, ignore_index):
    loss, grad = loss_and_gradient(logits, targets, ignore_index, variant, out)
    out.record(loss=loss, grad_logits=grad)


def scaled(out, variant, *, logits, targets, factor):
    _, grad = loss_and_gradient(logits, targets, None, variant)
    out.record(grad_logits=(factor * grad.astype(np.float64)).astype(logits.dtype))


def large(out, variant, *, logits, targets):
    """Which kind of non-number comes out is left to the learner's code."""
    out.record(finite=bool(np.isfinite(loss_and_gradient(logits, targets, None, variant)[0])))


def sweep(out, variant, *, V, levels, dtype):
    for name, logits_at in (("up", one_token_up), ("down", all_down)):
        losses = [
            float(loss_and_gradient(logits_at(V, a, dtype), np.array([1]), None, variant)[0])
            for a in levels
        ]
        bad = [a for a, loss in zip(levels, losses) if not np.isfinite(loss)]
        out.record(**{f"losses_{name}": losses})
        out.record(**{f"first_bad_{name}": float(bad[0]) if bad else 0.0})


def one_token_up(V, a, dtype):
    row = np.zeros((1, V), dtype)
    row[0, 0] = a
    return row


def all_down(V, a, dtype):
    return np.full((1, V), -a, dtype)


def batch(out, variant, *, logits, targets):
    loss, grad = loss_and_gradient(logits, targets, None, variant)
    beyond = "inf" if loss > 0 else "minus-inf"
    out.record(loss=float(loss), loss_is="finite" if np.isfinite(loss) else beyond)
    out.record(grad_logits=grad, nan_gradients=int(np.isnan(grad).sum()))


def climb(out, variant, *, V, levels, dtype):
    for name, token in (("right", 1), ("wrong", 0)):
        rows = np.zeros((len(levels), V), dtype)
        rows[:, token] = levels
        losses = [
            float(loss_and_gradient(row[None], np.array([1]), None, variant)[0]) for row in rows
        ]
        out.record(**{name: losses, "last_" + name: losses[-1]})
    _, grad = loss_and_gradient(np.zeros((1, V), dtype), np.array([1]), None, variant)
    out.record(first_gradient=-float(grad[0, 1]))


def descend(out, variant, *, V, steps, lr, dtype):
    row, losses = np.zeros((1, V)), []
    for _ in range(steps):
        loss, grad = loss_and_gradient(row, np.array([1]), None, variant)
        losses.append(float(loss))
        row = row - lr * grad
    out.record(losses=losses, last=losses[-1])


def elsewhere(out, variant, *, logits, targets, left_out, grad):
    alone = loss_and_gradient(logits, targets, None, variant)[1]
    out.record(grad_logits_first=alone + grad, grad_logits_last=alone + grad, grad_parameter=alone)
    behind = loss_and_gradient(logits * grad, targets, left_out, variant)[1]
    out.record(grad_behind=behind * grad)
