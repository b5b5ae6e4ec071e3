"""Runs the learner's LayerNorm."""

import numpy as np


def made(learner, gain, bias, eps=None):
    """A norm with these parameters, copied in place; the default eps where none is given."""
    norm = learner.LayerNorm(len(gain)) if eps is None else learner.LayerNorm(len(gain), eps=eps)
    norm.gain.data[...] = gain
    norm.bias.data[...] = bias
    return norm


def start(learner, record, d):
    """What a new norm holds."""
    norm = learner.LayerNorm(d)
    record(gain=norm.gain.data, bias=norm.bias.data)
    found = list(norm.parameters())
    record(parameters=len(found))
    record(gain_is_found=any(p is norm.gain for p in found))
    record(bias_is_found=any(p is norm.bias for p in found))


def forward(learner, record, x, gain, bias, eps, grad):
    """x: (..., d). The output, then the gradients of sum(y * grad)."""
    norm = made(learner, gain, bias, eps)
    leaf = learner.Tensor(x, requires_grad=True)
    y = norm(leaf)
    record(y=y.data)
    y.backward(grad)
    record(grad_x=leaf.grad, grad_gain=norm.gain.grad, grad_bias=norm.bias.grad)


def residual(learner, record, x, gain, bias, grad):
    """x + norm(x): x is used twice, and both gradients reach it."""
    norm = made(learner, gain, bias)
    leaf = learner.Tensor(x, requires_grad=True)
    total = leaf + norm(leaf)
    record(total=total.data)
    total.backward(grad)
    record(grad_x=leaf.grad)
    for side in ("left", "right", "both"):  # the gradient is one array for both terms at first
        mine, other = (learner.Tensor(x, requires_grad=True) for _ in range(2))
        y = made(learner, gain, bias)(mine)
        z = made(learner, gain, bias)(other) if side == "both" else other
        total = z + y if side == "right" else y + z
        (total * learner.Tensor(grad)).sum().backward()
        record(**{f"grad_{side}": mine.grad, f"grad_beside_{side}": other.grad})


def arrives(learner, record, x, gain, bias, grad):
    """Does any gradient reach x, gain and bias? How large it is stays open."""
    norm = made(learner, gain, bias)
    leaf = learner.Tensor(x, requires_grad=True)
    norm(leaf).backward(grad)
    for name, tensor in {"x": leaf, "gain": norm.gain, "bias": norm.bias}.items():
        record(**{name: tensor.grad is not None and bool(np.abs(tensor.grad).max() > 0)})


def again(learner, record, x, other, gain, bias, new_gain, new_bias, turned, grad, other_grad):
    """Two calls on one norm, their backwards in the other order, then new parameters in place; and rows
    that lie elsewhere in memory.
    """
    norm = made(learner, gain, bias)
    leaf = learner.Tensor(x, requires_grad=True)
    other_leaf = learner.Tensor(other, requires_grad=True)
    y, z = norm(leaf), norm(other_leaf)
    record(y=y.data, z=z.data)
    y.backward(grad)
    z.backward(other_grad)
    record(grad_x=leaf.grad, grad_other=other_leaf.grad)
    record(grad_gain=norm.gain.grad, grad_bias=norm.bias.grad)
    norm.gain.data[...] = new_gain
    norm.bias.data[...] = new_bias
    record(changed=norm(learner.Tensor(x)).data)
    record(turned=norm(learner.Tensor(turned).transpose(0, 1)).data)
    norm.eval()  # which changes nothing here
    record(evaluated=norm(learner.Tensor(x)).data)
    fresh = made(learner, new_gain, new_bias)
    fresh(learner.Tensor(x)).backward(grad)  # x asked for no gradient, gain and bias did
    record(grad_gain_alone=fresh.gain.grad, grad_bias_alone=fresh.bias.grad)


def rows_with_nan(y):
    return int(np.isnan(y).any(-1).sum())


def step(learner, record, x, grad, lr):
    """One update of gain and bias. x, grad: (B, T, d), both 0 where a sequence is padding."""
    norm = learner.LayerNorm(x.shape[-1])
    y = norm(learner.Tensor(x))
    record(y=y.data, nan_rows=rows_with_nan(y.data))
    y.backward(grad)  # the loss leaves the padding out, so its gradient there is 0
    record(grad_gain=norm.gain.grad, grad_bias=norm.bias.grad)
    for parameter in (norm.gain, norm.bias):
        parameter.data[...] = parameter.data - lr * parameter.grad
    record(nan_in_gain=int(np.isnan(norm.gain.data).sum()))
    record(nan_in_bias=int(np.isnan(norm.bias.data).sum()))
    record(nan_rows_after=rows_with_nan(norm(learner.Tensor(x)).data))


def size(y):
    """Root mean square of a row."""
    return float(np.sqrt((np.asarray(y, dtype=np.float64) ** 2).mean()))


def spreads(learner, record, x, last_bit):
    """x (S, d): one row at S spreads. last_bit (d,): numbers that differ in their last bit only."""
    norm = learner.LayerNorm(x.shape[-1])
    sizes = [size(row) for row in norm(learner.Tensor(x)).data]
    record(sizes=sizes, last_size=sizes[-1])
    record(size_of_last_bit=size(norm(learner.Tensor(last_bit)).data))


def positions(learner, record, x, last):
    """x (T, d), a sequence of T positions. What does its last position do to the others?"""
    norm = learner.LayerNorm(x.shape[-1])
    y = norm(learner.Tensor(x)).data
    features = bool(np.abs(y.mean(-1)).max() < 1e-3)
    times = bool(np.abs(y.mean(-2)).max() < 1e-3)
    zero = {(1, 0): "features", (0, 1): "positions", (1, 1): "both", (0, 0): "neither"}
    record(y=y, zero_mean_over=zero[features, times])
    changed = x.copy()
    changed[-1] = last
    moved = np.abs(norm(learner.Tensor(changed)).data - y).max(-1)  # (T,)
    record(moved=moved, moved_positions=int((moved > 1e-6).sum()))
    alone = norm(learner.Tensor(x[:1])).data  # the first position by itself, T = 1
    record(largest_alone=float(np.abs(alone).max()))


def prefixes(learner, record, x):
    """The first number of the first position, while the sequence grows from 1 to T positions."""
    norm = learner.LayerNorm(x.shape[-1])
    seen = [norm(learner.Tensor(x[:n])).data[0, 0] for n in range(1, len(x) + 1)]
    record(first=np.array(seen))


def widths(learner, record, x, widths):
    """Rows x (T, d) through a new norm of every width: how large do they leave it?"""
    sizes = []
    for d in widths.tolist():
        norm = learner.LayerNorm(d)
        sizes.append(size(norm(learner.Tensor(x[:, :d].copy())).data))
    missing = [100 * (1 - found) for found in sizes]  # to 1, in percent
    record(sizes=sizes, size_at_the_start=sizes[0])
    record(missing=missing, missing_at_the_end=missing[-1])


def alone(learner, record, x, bias):
    """x (T, 1): positions of a single feature, which is its own mean. What comes out?"""
    norm = learner.LayerNorm(1)
    norm.bias.data[...] = bias
    try:
        y = norm(learner.Tensor(x)).data
    except ZeroDivisionError:
        record(defined=False, becomes="error")
        return
    defined = bool(np.isfinite(y).all())
    near = defined and bool(np.abs(y - bias).max() < 1e-6)
    record(defined=defined)
    record(becomes="bias" if near else "large" if defined else "nan")


def beside(learner, record, x, gain, bias, eps, other_eps):
    """Two norms that differ in eps, which one of them gets without its name, if it takes it so; the first is
    used when the second is there.
    """
    try:
        first = learner.LayerNorm(len(gain), eps)
    except TypeError:  # behind a star
        first = learner.LayerNorm(len(gain), eps=eps)
    first.gain.data[...], first.bias.data[...] = gain, bias
    second = made(learner, gain, bias, other_eps)
    record(second=second(learner.Tensor(x)).data, first=first(learner.Tensor(x)).data)
