"""The Embedding from first principles: a lookup is a product with one-hot rows.

Variants: "overwrites" keeps, of all the gradients that one call sends to a row, only the last;
"std_1" draws the table from N(0, 1).
"""

import numpy as np
from pack.common import one_hot

SIGMAS = 6.0  # two-sided false alarm of a normal statistic: 2e-9


def refuse(kind, *mentions):
    error = kind(" ".join(str(m) for m in mentions))
    error.mentions = mentions
    return error


def attributes(out, variant, *, vocab_size, d_model):
    out.record(vocab_size=vocab_size, d_model=d_model, weight_shape=[vocab_size, d_model])
    is_n = [True, False, False, True]
    out.record(vocab_size_is=is_n, d_model_is=is_n)
    out.record(parameters=1, weight_is_a_parameter=True)


def initialisation(out, variant, *, vocab_size, d_model, seed):
    n = vocab_size * d_model
    std = 50 if variant == "std_1" else 1  # in units of 0.02
    spread = SIGMAS / (2 * n) ** 0.5
    out.within(**{"standard deviation": (std * (1 - spread), std * (1 + spread))})
    out.within(mean=(-std * SIGMAS / n**0.5, std * SIGMAS / n**0.5))
    if n > 10_000:
        out.within(
            **{"fourth moment": (2.6, 3.4)}
        )  # 3 for a normal, 1.8 uniform; sd (24/n)^0.5 = 0.028
    if seed is not None:
        low = (
            3.2 if n > 10_000 else 2.0
        )  # of n normal numbers none beyond it: exp(-0.0013 n) and less
        out.within(largest=(std * low, std * 8.0))  # one beyond 8: n times 1e-15
        out.within(columns_differ=(0, min(1, SIGMAS / vocab_size**0.5)))
        out.record(seeds_differ=True, seeds_repeat=True, distinct=True)
        noise = np.random.default_rng(seed).standard_normal((vocab_size, d_model))
        out.name(weight=0.02 * noise, noise=noise)
    out.name(std=0.02)


def tables(out, variant, *, vocab_size, d_model, count, seed):
    """Normal numbers without regard to each other: the statistics' sds are (2n)^-0.5, (24/n)^0.5."""
    std = 50 if variant == "std_1" else 1
    n = count * vocab_size * d_model
    each, spread = SIGMAS / (2 * n) ** 0.5, SIGMAS / (2 * count) ** 0.5
    out.within(**{"standard deviation": (std * (1 - each), std * (1 + each))})
    out.within(**{"deviation between tables": (std * (1 - spread), std * (1 + spread))})
    out.within(**{"fourth moment": (1.5, 8.0)})  # heavy tails of its own: 1 if all are of one size


def elsewhere(out, variant, *, others, seed):
    """How other modules start is open."""


def gradient(weight, ids, grad, variant=None):
    """The gradient of sum(weight[ids] * grad), for ids (...,) and grad (..., d)."""
    rows = one_hot(np.asarray(ids).reshape(-1), len(weight))  # (N, V)
    if variant == "overwrites":
        after = np.cumsum(rows[::-1], axis=0)[::-1] - rows  # how often each id is still to come
        rows = rows * (after == 0)
    return rows.T @ grad.reshape(-1, weight.shape[1])  # (V, N) @ (N, d)


def forward(out, variant, *, weight, ids, grad):
    out.record(vectors=weight[np.asarray(ids)])
    out.record(grad_weight=gradient(weight, ids, grad, variant))


def uneven(out, variant, *, weight, ids, grad, sizes):
    out.record(grad_weight=gradient(weight, ids, grad, variant))


def twice(out, variant, *, weight, other, ids, more_ids, grad, more_grad):
    first = gradient(weight, ids, grad, variant)
    second = gradient(weight, more_ids, more_grad, variant)
    out.record(grad_weight=first + second, vectors=other[np.asarray(ids)])


def together(out, variant, *, weight, ids, more_ids, grad, more_grad):
    first = gradient(weight, ids, grad, variant)
    out.record(grad_weight=first + gradient(weight, more_ids, more_grad, variant))


def received(out, variant, *, weight, ids):
    arrived = gradient(weight, ids, np.ones((*ids.shape, weight.shape[1])), variant)[:, 0]
    out.record(received=arrived, total=float(arrived.sum()))
    out.record(most=float(arrived[np.bincount(ids.reshape(-1)).argmax()]))


def fit(out, variant, *, weight, ids, targets, lr, steps):
    weight, targets = weight.astype(np.float64), targets.astype(np.float64)
    losses = []
    for _ in range(steps):
        missing = weight[ids] - targets
        losses.append(float((missing**2).sum() / ids.size))
        weight = weight - lr * gradient(weight, ids, 2 * missing / ids.size, variant)
    out.record(losses=losses, last_loss=losses[-1])
    out.record(row=weight[np.bincount(ids.reshape(-1)).argmax()])


def lookup_only(out, variant, *, weight, ids):
    if ids.dtype.kind not in "iu":
        raise refuse(TypeError)
    V = len(weight)
    outside = ids[(ids < 0) | (ids >= V)]
    if outside.size:
        raise refuse(IndexError, int(outside[0]), V)
    out.record(vectors=weight[ids])
