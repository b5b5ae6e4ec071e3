"""Runs the learner's PositionalEncoding."""

import numpy as np


def wanting(layer):
    """The layer, its parameters ready for gradients, as an optimiser makes them or asks for."""
    for parameter in layer.parameters():
        parameter.requires_grad = True
    return layer


def back(y, grad):
    """Backward from y with this gradient."""
    y.backward(np.asarray(grad, np.float32))


def made(learner, weight):
    """A layer with this table (max_seq_len, d), copied in place."""
    layer = wanting(learner.PositionalEncoding(*weight.shape))
    layer.position_embeddings.data[...] = weight
    return layer


def zeros(learner, T, d):
    """One sequence of zeros."""
    return learner.Tensor(np.zeros((1, T, d)))


def start(learner, record, max_seq_len, embed_dim):
    """What a new layer holds."""
    layer = learner.PositionalEncoding(max_seq_len, embed_dim)
    table = layer.position_embeddings
    record(weight_shape=list(table.data.shape))
    found = list(layer.parameters())
    record(parameters=len(found), weight_is_found=any(p is table for p in found))


def trainable(learner, record, max_seq_len, embed_dim):
    layer = learner.PositionalEncoding(max_seq_len, embed_dim)
    record(requires_grad=bool(layer.position_embeddings.requires_grad))


def initialisation(learner, record, max_seq_len, embed_dim, seed):
    """In units of sqrt(2 / d), rounded."""
    np.random.seed(seed)
    layer = learner.PositionalEncoding(max_seq_len, embed_dim)
    z = layer.position_embeddings.data.astype(np.float64) / np.sqrt(2 / embed_dim)
    record(**{"standard deviation": round(float(z.std() * np.sqrt(3)), 2)})
    record(largest=round(float(np.abs(z).max()), 3))


def forward(learner, record, weight, x, grad):
    """x: (B, T, d). The output, then the gradients of sum(y * grad)."""
    layer = made(learner, weight)
    leaf = learner.Tensor(x, requires_grad=True)
    y = layer(leaf)
    record(y=y.data)
    back(y, grad)
    record(grad_x=leaf.grad, grad_weight=layer.position_embeddings.grad)


def again(learner, record, weight, new_weight, x, other, grad, other_grad):
    """Two calls share a gradient; the next call uses what was written into the table."""
    layer = made(learner, weight)
    leaf = learner.Tensor(x, requires_grad=True)
    y, z = layer(leaf), layer(learner.Tensor(other))
    record(y=y.data, z=z.data)
    back(z, other_grad)
    back(y, grad)
    record(grad_x=leaf.grad, grad_weight=layer.position_embeddings.grad)
    layer.position_embeddings.data[...] = new_weight
    record(changed=layer(learner.Tensor(x)).data)


def residual(learner, record, weight, x, grad):
    """x + layer(x): x is used twice, and both gradients reach it."""
    layer = made(learner, weight)
    leaf = learner.Tensor(x, requires_grad=True)
    total = leaf + layer(leaf)
    record(total=total.data)
    back(total, grad)
    record(grad_x=leaf.grad, grad_weight=layer.position_embeddings.grad)


def too_long(learner, record, weight, x):
    """More positions than rows."""
    try:
        y = made(learner, weight)(learner.Tensor(x)).data
    except (ValueError, IndexError):
        record(answer="refused")
    else:
        record(answer="refused" if y is None else "vectors")


def rows(learner, record, max_len, d_model):
    """Row t of the table holds the number t. Which rows do sequences of 1 to max_len get?"""
    numbers = np.arange(max_len, dtype=np.float32)
    layer = made(learner, np.repeat(numbers[:, None], d_model, 1))
    longest = 0
    for T in range(1, max_len):  # a whole table is a case of its own, below
        y = layer(zeros(learner, T, d_model)).data
        longest = T if y.shape == (1, T, d_model) else longest
    record(added=y[0, :, 0], first=float(y[0, 0, 0]))  # (max_len - 1,)
    try:
        y = layer(zeros(learner, max_len, d_model)).data
    except Exception:  # of whatever type: it does not go through
        record(whole_table="error", longest=longest)
        return
    right = y.shape == (1, max_len, d_model) and bool(np.all(y[0] == numbers[:, None]))
    record(whole_table="right" if right else "wrong", longest=max_len)


def loaded(learner, record, weight):
    """A table that was saved is loaded (max_len, d). How far is what each position gets from what it got
    when the table was trained, row t at position t?
    """
    max_len, d_model = weight.shape
    layer = made(learner, weight)
    longest = 0
    for T in range(1, max_len + 1):
        try:
            y = layer(zeros(learner, T, d_model)).data[0]
        except Exception as error:  # of whatever type: it does not go through
            record(error=type(error).__name__)
            break
        longest, got = T, y
    gap = (got - weight[:longest])[: max_len - 1]
    record(longest=longest, distance=np.sqrt((gap**2).sum(-1)))  # (max_len - 1,)


def learns(learner, record, max_len, target, lr, steps):
    """Gradient descent on |y - target|^2 / 2. target: (T, d), T < max_len; x is 0 throughout."""
    layer = made(learner, np.zeros((max_len, target.shape[1])))
    table = layer.position_embeddings
    losses = []
    for _ in range(steps):
        table.grad = None
        y = layer(zeros(learner, *target.shape))
        losses.append(float(((y.data - target) ** 2).sum() / 2))
        back(y, y.data - target)
        table.data[...] = table.data - lr * table.grad
    record(losses=losses, percent_left=100 * losses[-1] / losses[0])
    sizes = np.abs(table.data).max(-1)  # (max_len,)
    record(sizes=sizes, still_rows=" ".join(str(row) for row in np.flatnonzero(sizes == 0)))
    record(table=table.data)
