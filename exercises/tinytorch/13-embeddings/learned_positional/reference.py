"""Learned positions as a product with a selection matrix, and the bug that starts one row late.

S (T, max_seq_len) has a 1 where a position meets its row; y = x + S W, so W's gradient is S^T times the
gradient summed over the batch. Variant "off_by_one": position t meets row t + 1, and there is no row for
a sequence as long as the table.
"""

import numpy as np


def refuse():
    error = ValueError("more positions than rows")
    error.mentions = ()
    return error


def selection(T, n, variant=None):
    """(T, n)"""
    late = 1 if variant == "off_by_one" else 0
    if n < T + late:
        raise refuse()
    return np.eye(T, n, late)


def added(x, weight, variant=None):
    return x + selection(x.shape[-2], len(weight), variant) @ weight


def back(grad, n, variant=None):
    """The gradient of the table (n, d)."""
    summed = grad.sum(0)
    return selection(len(summed), n, variant).T @ summed


def start(out, variant, *, max_seq_len, embed_dim):
    out.record(weight_shape=[max_seq_len, embed_dim], parameters=1, weight_is_found=True)


def trainable(out, variant, *, max_seq_len, embed_dim):
    out.record(requires_grad=True)


def initialisation(out, variant, *, max_seq_len, embed_dim, seed):
    out.within(**{"standard deviation": (0.985, 1.015)})
    out.within(largest=(0.998, 1.001))


def forward(out, variant, *, weight, x, grad):
    T, n = x.shape[-2], len(weight)
    out.record(y=added(x, weight, variant))
    out.record(grad_x=grad, grad_weight=back(grad, n, variant))
    out.name(x=x, weight=weight, length=T, max_len=n, rows=weight[:T], places=np.arange(T))
    out.name(grad_rows=grad.sum(0), chosen=np.eye(T, n), batch_rows=weight[None, :T])


def again(out, variant, *, weight, new_weight, x, other, grad, other_grad):
    out.record(y=added(x, weight, variant), z=added(other, weight, variant), grad_x=grad)
    n = len(weight)
    out.record(grad_weight=back(grad, n, variant) + back(other_grad, n, variant))
    out.record(changed=added(x, new_weight, variant))


def residual(out, variant, *, weight, x, grad):
    out.record(total=x + added(x, weight, variant), grad_x=2 * grad)
    out.record(grad_weight=back(grad, len(weight), variant))


def too_long(out, variant, *, weight, x):
    out.record(answer="refused")


def rows(out, variant, *, max_len, d_model):
    late = variant == "off_by_one"
    out.record(added=np.arange(max_len - 1.0) + late, first=float(late))
    out.record(whole_table="error" if late else "right", longest=max_len - late)


def loaded(out, variant, *, weight):
    late = int(variant == "off_by_one")
    gap = (weight[late:] - weight[: len(weight) - late])[: len(weight) - 1].astype(np.float64)
    out.record(longest=len(weight) - late, distance=np.sqrt((gap**2).sum(-1)))


def learns(out, variant, *, max_len, target, lr, steps):
    """From 0, each step takes the share lr of what is missing."""
    T, d = target.shape
    square = float((target.astype(np.float64) ** 2).sum() / 2)
    losses = [square * (1 - lr) ** (2 * step) for step in range(steps)]
    out.record(losses=losses, percent_left=100 * losses[-1] / losses[0])
    late = int(variant == "off_by_one")
    table = np.zeros((max_len, d))
    table[late : late + T] = (1 - (1 - lr) ** steps) * target
    sizes = np.abs(table).max(-1)
    out.record(sizes=sizes, still_rows=" ".join(str(row) for row in np.flatnonzero(sizes == 0)))
    out.record(table=table)
