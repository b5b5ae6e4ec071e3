"""Runs the learner's gelu and FFN."""

import numpy as np

NAMES = ("w_1", "b_1", "w_2", "b_2")


def made(learner, training=False, **weights):
    """An FFN of the learner's with these weights, copied in place, after eval(). w_1: (d_model, d_ff)."""
    ffn = learner.FFN(*weights["w_1"].shape)
    for name in NAMES:
        getattr(ffn, name).data[...] = weights[name]
    if not training:
        ffn.eval()
    return ffn


def alike_in_training(measured):
    """Whether measured(training=True) gives the arrays that measured(training=False) gives after eval(),
    or is random, as dropout is: two equal calls then differ sooner or later.
    """

    def near(some, others):
        return all(np.allclose(a, b, 1e-5, 1e-5 * np.abs(b).max()) for a, b in zip(some, others))

    first = measured(training=True)
    if near(first, measured(training=False)):
        return True
    return any(not near(measured(training=True), first) for _ in range(60))


def modes(learner, record, x, grad, **weights):
    """The output and the gradient of x in training mode beside those after eval()."""

    def measured(training):
        leaf = learner.Tensor(x, requires_grad=True)
        out = made(learner, training, **weights)(leaf)
        out.backward(grad)
        return [out.data, leaf.grad]

    record(training_is_like_eval=alike_in_training(measured))


def attributes(learner, record, d_model, d_ff):
    ffn = learner.FFN(d_model, d_ff)
    found = list(ffn.parameters())
    for name in NAMES:
        own = getattr(ffn, name)
        record(**{name: list(own.data.shape), f"{name}_is_learned": any(p is own for p in found)})
    record(parameters=len(found))
    first, again = (learner.FFN(d_model, d_ff, rng=np.random.default_rng(7)) for _ in range(2))
    same = (np.array_equal(getattr(first, n).data, getattr(again, n).data) for n in NAMES)
    record(seeds_repeat=all(same))


def gelu(learner, record, x):
    """The GELU of each value, under a name of its own. x: any shape."""
    y = learner.gelu(learner.Tensor(x)).data
    record(shape=list(y.shape), dtype_is_kept=bool(y.dtype == x.dtype))
    for at, value in zip(x.reshape(-1), y.reshape(-1)):
        record(**{f"gelu({float(at):.5g})": float(value)})


def gelu_slope(learner, record, x, grad):
    """The gradient of sum(gelu(x) * grad), value by value."""
    leaf = learner.Tensor(x, requires_grad=True)
    learner.gelu(leaf).backward(grad)
    record(shape=list(leaf.grad.shape), dtype_is_kept=bool(leaf.grad.dtype == x.dtype))
    for at, g, value in zip(x.reshape(-1), grad.reshape(-1), leaf.grad.reshape(-1)):
        record(**{f"{float(g):.5g} times the slope at {float(at):.5g}": float(value)})


def other_forms(learner, record, x):
    """How far two forms of libraries are from the learner's own GELU at most. x: (N,)"""
    own = learner.gelu(learner.Tensor(x)).data
    by_tanh = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    by_sigmoid = x / (1 + np.exp(-1.702 * x))
    record(by_tanh=float(np.abs(by_tanh - own).max()))
    record(by_sigmoid=float(np.abs(by_sigmoid - own).max()))


def forward(learner, record, x, grad, **weights):
    """x, grad: (..., d_model). Values, then the gradients of sum(values * grad)."""
    ffn = made(learner, **weights)
    leaf = learner.Tensor(x, requires_grad=True)
    out = ffn(leaf)
    record(out=out.data)
    out.backward(grad)
    record(grad_x=leaf.grad)
    record(**{f"grad_{name}": getattr(ffn, name).grad for name in NAMES})


def again(learner, record, x, grad, more_grad, **weights):
    """Two calls share their gradients; the next call uses what was written into the weights."""
    ffn = made(learner, **{name: weights[name] for name in NAMES})
    ffn(learner.Tensor(x)).backward(grad)
    ffn(learner.Tensor(x)).backward(more_grad)
    record(**{f"grad_{name}": getattr(ffn, name).grad for name in NAMES})
    for name in NAMES:
        getattr(ffn, name).data[...] = weights[f"other_{name}"]
    record(out=ffn(learner.Tensor(x)).data)


def distance(got, wanted):
    """The largest difference in units of the largest number wanted, rounded to what rounding leaves."""
    if not isinstance(got, np.ndarray) or got.shape != np.shape(wanted):
        return f"{type(got).__name__} of shape {list(np.shape(got))}, not {list(np.shape(wanted))}"
    apart = np.abs(np.asarray(got, np.float64) - wanted).max() / max(np.abs(wanted).max(), 1e-300)
    return round(float(apart), 4 if got.dtype == np.float32 else 9)


def composed(learner, record, x, pre, grad, w_1, b_1, w_2, b_2):
    """The FFN beside the same two products around the learner's own gelu, at `pre` (..., d_ff)."""
    ffn = made(learner, w_1=w_1, b_1=b_1, w_2=w_2, b_2=b_2)
    leaf, hidden = (learner.Tensor(a, requires_grad=True) for a in (x, pre))
    out, bent = ffn(leaf), learner.gelu(hidden)
    out.backward(grad)
    bent.backward(grad @ w_2.T)
    rows_x, rows_bent = x.reshape(-1, len(w_1)), bent.data.reshape(-1, len(w_2))
    rows_pre, rows_grad = hidden.grad.reshape(-1, len(w_2)), grad.reshape(-1, len(w_1))
    record(distance_out=distance(out.data, bent.data @ w_2 + b_2))
    record(distance_grad_x=distance(leaf.grad, hidden.grad @ w_1.T))
    record(distance_grad_w_1=distance(ffn.w_1.grad, rows_x.T @ rows_pre))
    record(distance_grad_b_1=distance(ffn.b_1.grad, rows_pre.sum(0)))
    record(distance_grad_w_2=distance(ffn.w_2.grad, rows_bent.T @ rows_grad))
    record(distance_grad_b_2=distance(ffn.b_2.grad, rows_grad.sum(0)))


def residual(learner, record, x, grad, **weights):
    """x + ffn(x): x is used twice, and both gradients reach it."""
    leaf = learner.Tensor(x, requires_grad=True)
    total = leaf + made(learner, **weights)(leaf)
    record(total=total.data)
    total.backward(grad)
    record(grad_x=leaf.grad)
    for side in ("left", "right", "both"):  # the gradient is one array for both terms at first
        mine, other = (learner.Tensor(x, requires_grad=True) for _ in range(2))
        y = made(learner, **weights)(mine)
        z = made(learner, **weights)(other) if side == "both" else other
        total = z + y if side == "right" else y + z
        (total * learner.Tensor(grad)).sum().backward()
        record(**{f"grad_{side}": mine.grad, f"grad_beside_{side}": other.grad})
