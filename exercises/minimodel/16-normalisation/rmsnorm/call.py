"""Runs the learner's RMSNorm."""

import numpy as np


def made(learner, gain, eps=None):
    """A norm with this gain, copied in place; the default eps where none is given."""
    norm = learner.RMSNorm(len(gain)) if eps is None else learner.RMSNorm(len(gain), eps=eps)
    norm.gain.data[...] = gain
    return norm


def start(learner, record, d):
    """What a new norm holds."""
    norm = learner.RMSNorm(d)
    record(gain=norm.gain.data)
    found = list(norm.parameters())
    record(parameters=len(found), gain_is_found=any(p is norm.gain for p in found))


def forward(learner, record, x, gain, eps, grad):
    """x: (..., d). The output, then the gradients of sum(y * grad)."""
    norm = made(learner, gain, eps)
    leaf = learner.Tensor(x, requires_grad=True)
    y = norm(leaf)
    record(y=y.data)
    y.backward(grad)
    record(grad_x=leaf.grad, grad_gain=norm.gain.grad)


def residual(learner, record, x, gain, grad):
    """x + norm(x): x is used twice, and both gradients reach it."""
    norm = made(learner, gain)
    leaf = learner.Tensor(x, requires_grad=True)
    total = leaf + norm(leaf)
    record(total=total.data)
    total.backward(grad)
    record(grad_x=leaf.grad)
    for side in ("left", "right", "both"):  # the gradient is one array for both terms at first
        mine, other = (learner.Tensor(x, requires_grad=True) for _ in range(2))
        y = made(learner, gain)(mine)
        z = made(learner, gain)(other) if side == "both" else other
        total = z + y if side == "right" else y + z
        (total * learner.Tensor(grad)).sum().backward()
        record(**{f"grad_{side}": mine.grad, f"grad_beside_{side}": other.grad})


def again(learner, record, x, other, gain, new_gain, turned, grad, other_grad):
    """Two calls on one norm, then both backwards, then a new gain in place; and rows that lie elsewhere
    in memory.
    """
    norm = made(learner, gain)
    leaf = learner.Tensor(x, requires_grad=True)
    other_leaf = learner.Tensor(other, requires_grad=True)
    y, z = norm(leaf), norm(other_leaf)
    record(y=y.data, z=z.data)
    y.backward(grad)
    z.backward(other_grad)
    record(grad_x=leaf.grad, grad_other=other_leaf.grad, grad_gain=norm.gain.grad)
    norm.gain.data[...] = new_gain
    record(changed=norm(learner.Tensor(x)).data)
    record(turned=norm(learner.Tensor(turned).transpose(0, 1)).data)
    norm.eval()  # which changes nothing here
    record(evaluated=norm(learner.Tensor(x)).data)
    fresh = made(learner, new_gain)
    fresh(learner.Tensor(x)).backward(grad)  # x asked for no gradient, the gain did
    record(grad_gain_alone=fresh.gain.grad)


def arrives(learner, record, x, gain, grad):
    """Does any gradient reach x and gain? How large it is stays open."""
    norm = made(learner, gain)
    leaf = learner.Tensor(x, requires_grad=True)
    norm(leaf).backward(grad)
    for name, tensor in {"x": leaf, "gain": norm.gain}.items():
        record(**{name: tensor.grad is not None and bool(np.abs(tensor.grad).max() > 0)})


def sizes(x):
    """The root mean square of every row."""
    return [float(size) for size in np.sqrt((np.asarray(x, np.float64) ** 2).mean(-1))]


def loudness(learner, record, x):
    """x (S, d): the same numbers from quiet to loud, through a new norm."""
    norm = learner.RMSNorm(x.shape[-1])
    found = sizes(norm(learner.Tensor(x)).data)
    record(sizes=found, quietest=found[0], loudest=found[-1])


def chain(learner, record, x, depth):
    """x (2, d), a loud row and a quiet one, through one new norm after another."""
    h = learner.Tensor(x)
    found = [sizes(x)]
    for _ in range(depth):
        h = learner.RMSNorm(x.shape[-1])(h)
        found.append(sizes(h.data))
    loud, quiet = (list(row) for row in zip(*found))
    record(loud=loud, quiet=quiet, powers_of_ten=[float(np.log10(size)) for size in loud])
    bounds = {"one": 1.5, "tens": 100.0, "thousands": 1e6}
    record(
        order_of_the_loud_one=next(
            (word for word, bound in bounds.items() if loud[-1] < bound), "billions"
        )
    )


def beside(learner, record, x, gain, eps, other_eps):
    """Two norms that differ in eps, which one of them gets without its name, if it takes it so; the first is
    used when the second is there.
    """
    try:
        first = learner.RMSNorm(len(gain), eps)
    except TypeError:  # behind a star
        first = learner.RMSNorm(len(gain), eps=eps)
    first.gain.data[...] = gain
    second = made(learner, gain, other_eps)
    record(second=second(learner.Tensor(x)).data, first=first(learner.Tensor(x)).data)
