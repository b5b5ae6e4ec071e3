"""The Embedding from first principles: a lookup is a product with one-hot rows.

Variants: "overwrites" keeps, of all the gradients that one call sends to a row, only the last; "one_fan"
takes sqrt(6 / d) for the bound of the start; "wraps" reads a negative id from the end.
"""

import numpy as np
from pack.common import one_hot


def bound(vocab_size, embed_dim, variant=None):
    """The largest number of a fresh table, in units of sqrt(6 / (V + d))."""
    return ((vocab_size + embed_dim) / embed_dim) ** 0.5 if variant == "one_fan" else 1.0


def attributes(out, variant, *, vocab_size, embed_dim):
    out.record(weight_shape=[vocab_size, embed_dim], parameters=1, weight_is_a_parameter=True)


def trainable(out, variant, *, vocab_size, embed_dim):
    out.record(requires_grad=True)


def initialisation(out, variant, *, vocab_size, embed_dim, seed):
    """Of n numbers the sd of the standard deviation is sqrt(0.2 / n), and 0.001 where there are 200 000."""
    limit = bound(vocab_size, embed_dim, variant)
    out.within(**{"standard deviation": (limit * 0.985, limit * 1.015)})
    out.within(largest=(limit * 0.998, limit * 1.001), mean=(0.0, 0.05 * limit))
    out.record(distinct=True)
    out.name(limit=float(np.sqrt(6 / (vocab_size + embed_dim))), six=6 / (vocab_size + embed_dim))
    out.name(fans=vocab_size + embed_dim)


def start(out, variant, *, vocab_size, embed_dim, seed):
    limit = bound(vocab_size, embed_dim, variant) * (6 / (vocab_size + embed_dim)) ** 0.5
    out.within(largest_number=(limit * 0.998, limit * 1.001))
    length = limit * (embed_dim / 3) ** 0.5
    out.within(mean_length=(length * 0.98, length * 1.02))
    out.record(beside_positions="larger" if limit > (2 / embed_dim) ** 0.5 else "smaller")


def wrapped(out, variant, *, weight, wide):
    V = len(weight)
    ids = np.arange(-wide, wide)
    found = np.where((ids >= 0) & (ids < V), ids, -1)
    if variant == "wraps":
        found = np.where((ids < 0) & (ids >= -V), ids + V, found)
    out.record(rows=found, taken=int((found != -1).sum()))
    out.record(minus_one=f"row {V - 1}" if variant == "wraps" else "refused")


def gradient(weight, ids, grad, variant=None):
    """The gradient of sum(weight[ids] * grad), for ids (...,) and grad (..., d)."""
    rows = one_hot(np.asarray(ids).reshape(-1), len(weight))  # (N, V)
    if variant == "overwrites":
        after = np.cumsum(rows[::-1], axis=0)[::-1] - rows  # how often each id is still to come
        rows = rows * (after == 0)
    return rows.T @ grad.reshape(-1, weight.shape[1])  # (V, N) @ (N, d)


def forward(out, variant, *, weight, ids, grad):
    vectors = one_hot(ids, len(weight)) @ weight
    out.record(vectors=vectors, grad_weight=gradient(weight, ids, grad, variant))
    out.name(ids=ids, weight=weight, grad=grad)


def twice(out, variant, *, weight, other, ids, more_ids, grad, more_grad):
    first = gradient(weight, ids, grad, variant)
    out.record(grad_weight=first + gradient(weight, more_ids, more_grad, variant))
    out.record(vectors=one_hot(ids, len(other)) @ other)


def squared(out, variant, *, weight, ids, grad):
    vectors = one_hot(ids, len(weight)) @ weight
    out.record(grad_weight=gradient(weight, ids, 2 * vectors * grad, variant))


def outside(out, variant, *, weight, ids):
    wraps = variant == "wraps" and ids.max() < len(weight)
    out.record(answer="a vector" if wraps else "refused")


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


def memory(out, variant, *, vocab_size, embed_dim):
    n = vocab_size * embed_dim
    out.record(numbers=n, bytes=4 * n, bytes_a_row=4 * embed_dim, by_type=[8 * n, 2 * n, n])
