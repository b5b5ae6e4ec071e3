"""The tied head from first principles, and what it measures with the two bugs of break 00.

Variants: "loud" claims 256 columns and still gives V; "silenced" claims 256 and gives the first 256.
"std_1" starts from a table that was drawn from N(0, 1).
"""

import numpy as np

WRONG_WIDTH = 256


def columns(weight, variant):
    """How many columns the logits have."""
    return min(WRONG_WIDTH, len(weight)) if variant == "silenced" else len(weight)


def claimed(weight, variant):
    """What `vocab_size_out` says."""
    return WRONG_WIDTH if variant else len(weight)


def comparisons(number, n):
    return [number == n, number != n, number == n + 1, number != n + 1]


def width(out, variant, *, weight):
    out.record(vocab_size_out=claimed(weight, variant), vocab_size=len(weight))
    out.record(comparisons=comparisons(claimed(weight, variant), len(weight)))
    out.record(vocab_size_out_again=claimed(weight, variant))
    out.record(second_head=claimed(weight, variant))
    for where in ("of_a_layer", "of_a_numpy_size"):
        out.offered(**{where: claimed(weight, variant)})
    out.name(vocab_size=len(weight))


def tied(out, variant, *, weight, other, h):
    out.record(parameters=1, is_the_embeddings=True, embedding_is_kept=True)
    width = columns(weight, variant)
    out.record(logits=h @ other[:width].T)
    grad = np.zeros_like(other)
    grad[:width] = h.sum(0)
    out.record(grad_weight=grad)


def forward(out, variant, *, weight, h, grad):
    V, d = weight.shape
    n = columns(weight, variant)
    flat_h, flat_grad = h.reshape(-1, d), grad.reshape(-1, V)[:, :n]
    grad_weight = np.zeros_like(weight)
    grad_weight[:n] = flat_grad.T @ flat_h  # (n, N) @ (N, d)
    out.record(logits=h @ weight[:n].T)
    out.record(grad_h=(flat_grad @ weight[:n]).reshape(h.shape), grad_weight=grad_weight)
    out.name(vocab_size=V, weight=weight, weight_transposed=weight.T)


def loss_and_gradient(out, variant, weight, ids, targets):
    """One pass through embedding, head, reshape and cross-entropy; records what call.py does."""
    n, said = columns(weight, variant), claimed(weight, variant)
    out.record(ids=ids, targets=targets.reshape(-1), hidden=weight[ids])
    logits = weight[ids] @ weight[:n].T  # (B, T, n)
    out.record(logits=logits)
    if logits.size % said:
        raise Exception("the logits do not divide into rows of the claimed width")
    flat = logits.reshape(-1, said)
    out.record(flat_logits=flat, rows=len(flat))
    wanted = targets.reshape(-1)
    if len(flat) != len(wanted) or wanted.max() >= said:
        raise ValueError("cross_entropy refuses: rows and targets, or a target outside")
    shifted = flat - flat.max(-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    rows = np.arange(len(wanted))
    d_flat = np.exp(log_p)
    d_flat[rows, wanted] -= 1
    d_flat /= len(wanted)
    flat_ids, hidden = ids.reshape(-1), weight[ids.reshape(-1)]
    grad = np.zeros_like(weight)
    grad[:n] += d_flat.T @ hidden  # through the head
    np.add.at(grad, flat_ids, d_flat @ weight[:n])  # through the lookup
    return float(-log_p[rows, wanted].mean()), grad


def pipeline(out, variant, *, weight, ids, targets):
    loss, grad = loss_and_gradient(out, variant, weight, ids, targets)
    out.record(loss=loss, grad_weight=grad)


class Silent:
    def record(self, **named):
        pass


def training(out, variant, *, weight, ids, targets, lr, steps):
    losses, norms = [], []
    weight = weight.copy()
    for _ in range(steps):
        loss, grad = loss_and_gradient(Silent(), variant, weight, ids, targets)
        losses.append(loss)
        norms.append(float(np.sqrt((grad**2).sum())))
        weight = (weight - lr * grad).astype(weight.dtype)
    out.record(losses=losses, grad_norms=norms)
    out.record(first_loss=losses[0], last_loss=losses[-1])


SIGMAS = 7.0  # two-sided false alarm of a normal statistic: 3e-12


def bounds_of_first_loss(V, d, N, variant):
    """The loss of N positions before the first step, where no token comes twice.

    The row that was read, h, has the logit h.h, any other row e has h.e. With standard deviation
    s = 0.02 both are next to 0: h.h = s^2 d, and h.e has the deviation s^2 sqrt(d). With s = 1, h.h lies
    around d and leaves the others behind, so a position costs h.h - h.e: d in the mean, with variance
    2d from h.h and d from h.e.
    """
    if variant == "std_1":
        reach = SIGMAS * (3 * d / N) ** 0.5
        return (d - reach, d + reach)
    return (np.log(V) - 0.01, np.log(V) + 0.01)


def fresh(out, variant, *, vocab_size, d_model, seed, ids, targets):
    out.within(first_loss=bounds_of_first_loss(vocab_size, d_model, ids.size, variant))
    out.within(just_read=(0.8, 1.0) if variant == "std_1" else (0.9 / vocab_size, 1.2 / vocab_size))


def widths(out, variant, *, vocab_size, d_models, seed, ids, targets):
    """How it grows is left to the bounds of `fresh`, one d_model at a time."""


def seeds(out, variant, *, vocab_size, d_model, seed, ids, targets, count):
    """How a new model starts is left to the bounds of `fresh`, one seed at a time."""


def elsewhere(out, variant, *, weight, h, grad, more_grad):
    V, d = weight.shape
    n = columns(weight, variant)
    flat_h, flat_grad = h.reshape(-1, d), grad.reshape(-1, V)[:, :n]
    by_h = (flat_grad @ weight[:n]).reshape(h.shape) + more_grad
    by_weight = np.zeros_like(weight)
    by_weight[:n] = flat_grad.T @ flat_h
    for name in ("first", "last"):
        out.record(**{f"grad_h_{name}": by_h, f"grad_weight_{name}": by_weight})
