"""Runs the learner's LSTM: one step, several steps, and what they leave behind."""

import numpy as np


def made(learner, w_x, w_h, b):
    """An LSTM with these weights, copied in place. w_x: (d_in, 4 n), w_h: (n, 4 n), b: (4 n,)."""
    lstm = learner.LSTM(w_x.shape[0], w_h.shape[0])
    put(lstm, w_x, w_h, b)
    return lstm


def put(lstm, w_x, w_h, b):
    lstm.w_x.data[...] = w_x
    lstm.w_h.data[...] = w_h
    lstm.b.data[...] = b


def weighted(learner, values, grad):
    """A scalar whose gradient by `values` is `grad`."""
    return (values * learner.Tensor(grad)).sum()


def attributes(learner, record, d_in, d_hidden, seed):
    lstm = learner.LSTM(d_in, d_hidden, rng=np.random.default_rng(seed))
    mine = {"w_x": lstm.w_x, "w_h": lstm.w_h, "b": lstm.b}
    for name, parameter in mine.items():
        record(**{name + "_shape": list(parameter.data.shape)})
    found = list(lstm.parameters())
    record(parameters=len(found))
    again = learner.LSTM(d_in, d_hidden, rng=np.random.default_rng(seed))
    record(
        seeds_repeat=all(np.array_equal(p.data, getattr(again, n).data) for n, p in mine.items())
    )
    for name, parameter in mine.items():
        record(**{name + "_is_a_parameter": any(p is parameter for p in found)})


def step(learner, record, w_x, w_h, b, x, h, c):
    """x: (..., d_in), h and c: (..., n). One step."""
    lstm = made(learner, w_x, w_h, b)
    h_t, c_t = lstm(learner.Tensor(x), learner.Tensor(h), learner.Tensor(c))
    record(c=c_t.data, h=h_t.data)


def gates(learner, record, w_x, w_h, b, x, h, c):
    """Weights are 0. What comes of the biases of one gate, where those of the others are 0."""
    n = len(w_h)
    for k, gate in enumerate("ifgo"):
        alone = np.zeros_like(b)
        alone[k * n : (k + 1) * n] = b[k * n : (k + 1) * n]
        lstm = made(learner, w_x, w_h, alone)
        h_t, c_t = lstm(learner.Tensor(x), learner.Tensor(h), learner.Tensor(c))
        record(**{f"c_by_b_{gate}": c_t.data, f"h_by_b_{gate}": h_t.data})


def backward(learner, record, w_x, w_h, b, x, h, c, grad_h, grad_c):
    """The gradients of sum(h_t * grad_h) + sum(c_t * grad_c); None leaves that sum out."""
    lstm = made(learner, w_x, w_h, b)
    leaves = [learner.Tensor(a, requires_grad=True) for a in (x, h, c)]
    h_t, c_t = lstm(*leaves)
    if grad_c is None:
        weighted(learner, h_t, grad_h).backward()
    elif grad_h is None:
        weighted(learner, c_t, grad_c).backward()
    else:
        (weighted(learner, h_t, grad_h) + weighted(learner, c_t, grad_c)).backward()
    record(grad_x=leaves[0].grad, grad_h=leaves[1].grad, grad_c=leaves[2].grad)
    record(grad_w_x=lstm.w_x.grad, grad_w_h=lstm.w_h.grad, grad_b=lstm.b.grad)


def finite(learner, record, **inputs):
    """Gradients where every gate is saturated: next to nothing, but numbers."""
    found = {}
    backward(learner, lambda **named: found.update(named), **inputs)
    record(finite=all(bool(np.isfinite(grad).all()) for grad in found.values()))


def sequence(learner, record, w_x, w_h, b, xs, h, c, grad_hs, grad_c):
    """xs: (T, ..., d_in), grad_hs: (T, ..., n). T steps, then back through all of them."""
    lstm = made(learner, w_x, w_h, b)
    inputs = [learner.Tensor(x, requires_grad=True) for x in xs]
    first_h, first_c = learner.Tensor(h, requires_grad=True), learner.Tensor(c, requires_grad=True)
    h_t, c_t, hs, cs, total = first_h, first_c, [], [], 0.0
    for x_t, grad_h in zip(inputs, grad_hs):
        h_t, c_t = lstm(x_t, h_t, c_t)
        total = weighted(learner, h_t, grad_h) + total
        hs.append(h_t.data.copy())
        cs.append(c_t.data.copy())
    record(cs=np.stack(cs), hs=np.stack(hs))
    (total + weighted(learner, c_t, grad_c)).backward()
    record(grad_xs=np.stack([x_t.grad for x_t in inputs]))
    record(grad_h=first_h.grad, grad_c=first_c.grad)
    record(grad_w_x=lstm.w_x.grad, grad_w_h=lstm.w_h.grad, grad_b=lstm.b.grad)


def twice(learner, record, w_x, w_h, b, other_w_x, other_w_h, other_b, x, h, c, more_x, grad):
    """Two calls do not know of each other, but in the gradients; the next uses what was written."""
    lstm = made(learner, w_x, w_h, b)
    h_1, _ = lstm(learner.Tensor(x), learner.Tensor(h), learner.Tensor(c))
    h_2, _ = lstm(learner.Tensor(more_x), learner.Tensor(h), learner.Tensor(c))
    weighted(learner, h_1, grad).backward()
    weighted(learner, h_2, grad).backward()
    record(first=h_1.data, second=h_2.data)
    record(grad_w_x=lstm.w_x.grad, grad_w_h=lstm.w_h.grad, grad_b=lstm.b.grad)
    put(lstm, other_w_x, other_w_h, other_b)
    h_3, c_3 = lstm(learner.Tensor(x), learner.Tensor(h), learner.Tensor(c))
    record(h=h_3.data, c=c_3.data)


def unroll(learner, record, w_x, w_h, b, xs, h, c):
    """T steps from (h, c). How large is the state after each, and how large d sum(c_T) / d c_t?"""
    lstm = made(learner, w_x, w_h, b)
    h_t, c_t = learner.Tensor(h), learner.Tensor(c)
    marks, cells, hiddens = [], [], []
    for x in xs:
        mark = learner.Tensor(np.zeros_like(c), requires_grad=True)  # adds nothing, and gets
        h_t, c_t = lstm(learner.Tensor(x), h_t, c_t + mark)  # the gradient of this c_t
        marks.append(mark)
        cells.append(float(np.abs(c_t.data).max()))
        hiddens.append(float(np.abs(h_t.data).max()))
    record(largest_cell=max(cells), last_cell=cells[-1], largest_hidden=max(hiddens))
    record(log10_cell=[float(np.log10(size + 1e-300)) for size in cells])
    c_t.sum().backward()
    norms = [float(np.sqrt((mark.grad.astype(np.float64) ** 2).sum())) for mark in marks]
    record(last_gradient=norms[-1], first_gradient=norms[0])
    record(log10_gradient=[float(np.log10(norm + 1e-300)) for norm in norms])
    ratio = norms[0] / norms[-1]  # from the last step back to the first
    record(
        gradient_on_the_way_back="grows" if ratio > 10 else "shrinks" if ratio < 0.1 else "stays"
    )


def elsewhere(learner, record, w_x, w_h, b, x, h, c, grad_h, grad_c, grads, one_tensor):
    """What goes in is used beside the step too: sum(x * grads[0]) and so on are added to the loss.

    one_tensor: h and c are one and the same.
    """
    for name, step_first in {"first": True, "last": False}.items():
        lstm = made(learner, w_x, w_h, b)
        leaves = [learner.Tensor(a, requires_grad=True) for a in (x, h, c)]
        if one_tensor:
            leaves[2] = leaves[1]
        h_t, c_t = lstm(*leaves)
        own = weighted(learner, h_t, grad_h) + weighted(learner, c_t, grad_c)
        by_x, by_h, by_c = (weighted(learner, leaf, grad) for leaf, grad in zip(leaves, grads))
        beside = by_x + by_h + by_c
        (own + beside if step_first else beside + own).backward()
        for role, leaf in zip(("x", "h", "c"), leaves):
            record(**{f"grad_{role}_{name}": leaf.grad})
