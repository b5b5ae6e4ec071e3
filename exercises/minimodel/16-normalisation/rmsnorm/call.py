"""Runs the learner's RMSNorm."""


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


def again(learner, record, x, other, gain, new_gain, grad, other_grad):
    """Two calls on one norm, then both backwards, then a new gain in place."""
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
