"""Runs the learner's clip_grad_norm on parameters whose gradients are chosen."""

import numpy as np


def given(learner, *grads):
    """A Parameter for each gradient, of numbers 1, 2, ...: backward() on sum(p * g) gives it g."""
    parameters = []
    for g in grads:
        numbers = np.empty_like(g)  # in the layout of g
        numbers[...] = np.arange(1, g.size + 1).reshape(g.shape)
        p = learner.Parameter(numbers)
        (p * learner.Tensor(np.array(g))).sum().backward()
        parameters.append(p)
    return parameters


def length(grads):
    return float(np.sqrt(sum((np.asarray(g, dtype=np.float64) ** 2).sum() for g in grads)))


def number(value):
    """The number, however it comes: as a float, NumPy's, an array's or a Tensor's. See `returned`."""
    try:
        return float(np.asarray(value.data if hasattr(value, "backward") else value).reshape(()))
    except (TypeError, ValueError):
        return value


def returned(learner, record, g, max_norm):
    """A float, as the contract has it; NumPy's own count as well."""
    norm = learner.clip_grad_norm(given(learner, g), max_norm)
    record(is_a_float=isinstance(norm, (float, np.floating)))


def forward(learner, record, w, b, k, max_norm):
    """Gradients w (n, m), b (m,), k (r, 1, 3). What is returned, and the gradients after."""
    parameters = given(learner, w, b, k)
    norm = learner.clip_grad_norm(parameters, max_norm)
    record(norm=number(norm))
    record(**{name: p.grad for name, p in zip("wbk", parameters)})
    record(numbers=[float(p.data.sum()) for p in parameters])  # clipping moves no parameter


def as_numpy(learner, record, w, b, k, max_norm):
    """The same, where a number of NumPy's is taken at all."""
    try:
        forward(learner, record, w, b, k, max_norm)
    except (TypeError, ValueError) as error:
        record(**dict.fromkeys(("norm", "numbers", *"wbk"), type(error).__name__))


def traced(learner, record, w, b, k, max_norm):
    forward(learner, record, w, b, k, max_norm)


def exactly(learner, record, w, b, max_norm):
    """As long as max_norm to the last digit."""
    parameters = given(learner, w, b)
    norm = learner.clip_grad_norm(parameters, max_norm)
    record(norm=number(norm), w=parameters[0].grad, b=parameters[1].grad)


def one(learner, record, g, max_norm):
    """A single parameter."""
    parameters = given(learner, g)
    norm = learner.clip_grad_norm(parameters, max_norm)
    record(norm=number(norm), g=parameters[0].grad)


def overflowed(learner, record, g, max_norm):
    """A gradient that has overflowed has no finite length. Whoever refuses it says so."""
    try:
        finite = bool(np.isfinite(number(learner.clip_grad_norm(given(learner, g), max_norm))))
    except Exception:  # of any kind: the contract does not say what then
        finite = False
    record(finite=finite)


def without(learner, record, g, h, max_norm):
    """Between two parameters stands one that no gradient has reached."""
    first, last = given(learner, g, h)
    idle = learner.Parameter(np.ones((2, 3), g.dtype))
    norm = learner.clip_grad_norm([first, idle, last], max_norm)
    record(norm=number(norm), g=first.grad, h=last.grad)
    record(nothing=idle.grad is None or not np.any(idle.grad))


def layouts(learner, record, g, h, max_norm):
    """A gradient whose columns lie one after the other in memory, and one of no axes."""
    parameters = given(learner, g, h)
    parameters[0].grad = np.asfortranarray(parameters[0].grad)
    norm = learner.clip_grad_norm(parameters, max_norm)
    record(norm=number(norm), g=parameters[0].grad, h=float(parameters[1].grad))


def again(learner, record, g, h, max_norm, more):
    """Clipped twice; then another backward() adds to what is left, and it is clipped once more."""
    parameters = given(learner, g, h)
    norms = [number(learner.clip_grad_norm(parameters, max_norm)) for _ in range(2)]
    record(norms=norms, g=parameters[0].grad, h=parameters[1].grad)
    (parameters[0] * learner.Tensor(np.array(more))).sum().backward()
    record(added=parameters[0].grad)
    norm = learner.clip_grad_norm(parameters, max_norm / 2)
    record(norm=number(norm), last_g=parameters[0].grad, last_h=parameters[1].grad)
    record(below=number(learner.clip_grad_norm(parameters, 10 * max_norm)))
    for p in parameters:  # the same arrays, other numbers
        p.grad[...] = 1000 * p.grad
    norm = learner.clip_grad_norm(parameters, 10 * max_norm)
    record(in_place=number(norm), in_place_g=parameters[0].grad, in_place_h=parameters[1].grad)


def together(learner, record, g, max_norm):
    """sum((p + q) * g): the gradients of p and q are alike, and perhaps one array."""
    p, q = (learner.Parameter(np.ones_like(g)) for _ in range(2))
    ((p + q) * learner.Tensor(np.array(g))).sum().backward()
    norm = learner.clip_grad_norm([p, q], max_norm)
    record(norm=number(norm), p=p.grad, q=q.grad)


def of_a_module(learner, record, w, b, max_norm):
    """`parameters()` of a module goes in as it is."""

    class Two(learner.Module):
        def __init__(self):
            super().__init__()
            self.w, self.b = given(learner, w, b)

    module = Two()
    norm = learner.clip_grad_norm(module.parameters(), max_norm)
    record(norm=number(norm), w=module.w.grad, b=module.b.grad)


def many(learner, record, grads, max_norm):
    """grads (n, d): n parameters with a gradient each. Lengths after, and what became of the direction."""
    parameters = given(learner, *grads)
    before = np.concatenate([p.grad.ravel() for p in parameters]).astype(np.float64)
    norm = learner.clip_grad_norm(parameters, max_norm)
    after = np.concatenate([p.grad.ravel() for p in parameters]).astype(np.float64)
    lengths = [length([p.grad]) for p in parameters]
    total = length([p.grad for p in parameters])
    record(norm_before=number(norm), norm_after=total)
    here = {"limit": max_norm, "unchanged": length(grads)}
    found = [name for name, size in here.items() if abs(total - size) < 0.01 * size]
    record(norm_after_is=found[0] if found else "other")
    record(lengths=lengths, longest_over_shortest=max(lengths) / min(lengths))
    cosine = float(before @ after / np.sqrt((before @ before) * (after @ after)))
    record(cosine=cosine)
    record(angle=round(float(np.degrees(np.arccos(min(cosine, 1.0)))), 1))


def sweep(learner, record, grads, limits):
    """The same gradients clipped at one limit after another: how long are they together afterwards?"""
    after = []
    for limit in limits:
        parameters = given(learner, *grads)
        learner.clip_grad_norm(parameters, float(limit))
        after.append(length([p.grad for p in parameters]))
    record(after=after)
