"""The Embedding from first principles: a lookup is a product with one-hot rows."""

import numpy as np

SIGMAS = 6.0  # two-sided false alarm of a normal statistic: 2e-9


def refuse(kind, *mentions):
    error = kind(" ".join(str(m) for m in mentions))
    error.mentions = mentions
    return error


def one_hot(ids, V, dtype):
    """ids (...,) -> (N, V) rows of the identity, in reading order."""
    return np.eye(V, dtype=dtype)[np.asarray(ids).reshape(-1)]


def attributes(out, variant, *, vocab_size, d_model):
    out.record(vocab_size=vocab_size, d_model=d_model, weight_shape=[vocab_size, d_model])
    out.record(parameters=1, weight_is_a_parameter=True)


def initialisation(out, variant, *, vocab_size, d_model, seed):
    n = vocab_size * d_model
    out.within(mean=(-SIGMAS / n**0.5, SIGMAS / n**0.5))
    out.within(deviation=(1 - SIGMAS / (2 * n) ** 0.5, 1 + SIGMAS / (2 * n) ** 0.5))
    out.within(fourth_moment=(2.6, 3.4))  # 3 for a normal, 1.8 uniform; sd (24/n)^0.5 = 0.028
    out.within(columns_differ=(0, SIGMAS / vocab_size**0.5))
    out.record(seeds_differ=True, seeds_repeat=True)


def forward(out, variant, *, weight, ids, grad):
    d = weight.shape[1]
    rows = one_hot(ids, len(weight), weight.dtype)  # (N, V)
    out.record(vectors=weight[np.asarray(ids)])
    out.record(grad_weight=rows.T @ grad.reshape(-1, d))  # (V, N) @ (N, d)


def twice(out, variant, *, weight, other, ids, more_ids, grad, more_grad):
    V, d = weight.shape
    first = one_hot(ids, V, weight.dtype).T @ grad.reshape(-1, d)
    second = one_hot(more_ids, V, weight.dtype).T @ more_grad.reshape(-1, d)
    out.record(grad_weight=first + second, vectors=other[np.asarray(ids)])


def lookup_only(out, variant, *, weight, ids):
    if ids.dtype.kind not in "iu":
        raise refuse(TypeError)
    V = len(weight)
    outside = ids[(ids < 0) | (ids >= V)]
    if outside.size:
        raise refuse(IndexError, int(outside[0]), V)
    out.record(vectors=weight[ids])
