"""A lookup is a product with one-hot rows; so is its gradient."""

import numpy as np
from pack.modules import module_facts, truncated_normal


def forward(out, variant, *, weight, ids):
    out.record(vectors=weight[ids])
    out.name(
        **{"weight[ids - 1]": weight[ids - 1], "weight[ids + 1]": weight[(ids + 1) % len(weight)]}
    )
    if len(weight) == weight.shape[1]:
        columns = weight[:, ids]  # (d, ...)
        out.name(**{"weight[:, ids]": columns, "columns of the table": weight.T[ids]})


def gradients(out, variant, *, weight, ids, grad):
    one_hot = (ids.reshape(-1, 1) == np.arange(len(weight))).astype(np.float64)  # (N, V)
    out.record(graph="there")
    out.offered(grad_weight=one_hot.T @ grad.reshape(-1, weight.shape[1]))  # (V, N) @ (N, d)


def made(out, variant, *, weight, ids):
    module_facts(out, [weight.shape], ["weight"])


def initialisation(out, variant, *, vocab_size, d_model):
    truncated_normal(out, vocab_size * d_model)


def kept(out, variant, *, weight, ids):
    out.record(weight=weight, ids=ids)


def outside(out, variant, *, weight, ids):
    raise IndexError
