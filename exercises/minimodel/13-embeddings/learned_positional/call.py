"""Runs the learner's LearnedPositional."""

import numpy as np


def made(learner, weight):
    """A layer with this table (max_len, d), copied in place."""
    layer = learner.LearnedPositional(*weight.shape)
    layer.weight.data[...] = weight
    return layer


def start(learner, record, max_len, d_model, seed):
    """What a new layer holds. How its table is drawn stays open; that `rng` draws it does not."""
    layer = learner.LearnedPositional(max_len, d_model, rng=np.random.default_rng(seed))
    record(weight_shape=list(layer.weight.data.shape))
    found = list(layer.parameters())
    record(parameters=len(found), weight_is_found=any(p is layer.weight for p in found))
    again = learner.LearnedPositional(max_len, d_model, rng=np.random.default_rng(seed))
    record(seeds_repeat=bool(np.all(layer.weight.data == again.weight.data)))


def forward(learner, record, weight, x, grad):
    """x: (..., T, d). The output, then the gradients of sum(y * grad)."""
    layer = made(learner, weight)
    leaf = learner.Tensor(x, requires_grad=True)
    y = layer(leaf)
    record(y=y.data)
    y.backward(grad)
    record(grad_x=leaf.grad, grad_weight=layer.weight.grad)


def again(learner, record, weight, new_weight, evaluating, x, other, grad, other_grad):
    """Two calls share a gradient; the next call uses what was written into the table."""
    layer = made(learner, weight)
    if evaluating:
        layer.eval()
    leaf = learner.Tensor(x, requires_grad=True)
    y, z = layer(leaf), layer(learner.Tensor(other))
    record(y=y.data, z=z.data, z_again=layer(learner.Tensor(other)).data)
    z.backward(other_grad)
    y.backward(grad)
    record(grad_x=leaf.grad, grad_weight=layer.weight.grad)
    layer.weight.data[...] = new_weight
    record(changed=layer(learner.Tensor(x)).data)


def rows(learner, record, max_len, d_model):
    """Row t of the table holds the number t. Which rows do sequences of 1 to max_len get?"""
    numbers = np.arange(max_len, dtype=learner.Embedding(5, 3).weight.data.dtype)
    layer = made(learner, np.repeat(numbers[:, None], d_model, 1))
    longest = 0
    for T in range(1, max_len):  # a whole table is a case of its own, below
        y = layer(learner.Tensor(np.zeros((T, d_model), numbers.dtype))).data
        longest = T if y.shape == (T, d_model) else longest
    record(added=y[:, 0], first=float(y[0, 0]))  # (max_len - 1,)
    try:
        y = layer(learner.Tensor(np.zeros((max_len, d_model), numbers.dtype))).data
    except Exception:  # of whatever type: it does not go through
        record(whole_table="error", longest=longest)
        return
    right = bool(np.all(y == numbers[:, None]))
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
            y = layer(learner.Tensor(np.zeros((T, d_model), weight.dtype))).data
        except Exception as error:  # of whatever type: it does not go through
            record(error=type(error).__name__)
            break
        longest, got = T, y
    gap = (got - weight[:longest])[: max_len - 1]
    record(longest=longest, distance=np.sqrt((gap**2).sum(-1)))  # (max_len - 1,)


def learns(learner, record, max_len, target, lr, steps):
    """Gradient descent on |y - target|^2 / 2. target: (T, d), T < max_len; x is 0 throughout."""
    layer = made(learner, np.zeros((max_len, target.shape[1]), target.dtype))
    nothing = np.zeros_like(target)
    losses = []
    for _ in range(steps):
        layer.zero_grad()
        y = layer(learner.Tensor(nothing))
        losses.append(float(((y.data - target) ** 2).sum() / 2))
        y.backward(y.data - target)
        layer.weight.data[...] = layer.weight.data - lr * layer.weight.grad
    record(losses=losses, percent_left=100 * losses[-1] / losses[0])
    sizes = np.abs(layer.weight.data).max(-1)  # (max_len,)
    record(sizes=sizes, still_rows=" ".join(str(row) for row in np.flatnonzero(sizes == 0)))
    record(table=layer.weight.data)


def residual(learner, record, weight, x, grad):
    """x + layer(x): x is used twice, and both gradients reach it."""
    layer = made(learner, weight)
    leaf = learner.Tensor(x, requires_grad=True)
    total = leaf + layer(leaf)
    record(total=total.data)
    total.backward(grad)
    record(grad_x=leaf.grad, grad_weight=layer.weight.grad)
    for side in ("left", "right", "both"):  # the gradient is one array for both terms at first
        mine, other = (learner.Tensor(x, requires_grad=True) for _ in range(2))
        y = made(learner, weight)(mine)
        z = made(learner, weight)(other) if side == "both" else other
        total = z + y if side == "right" else y + z
        (total * learner.Tensor(grad)).sum().backward()
        record(**{f"grad_{side}": mine.grad, f"grad_beside_{side}": other.grad})
