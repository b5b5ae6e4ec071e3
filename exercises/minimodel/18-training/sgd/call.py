"""Runs the learner's SGD on parameters whose gradients are chosen."""

import numpy as np


def made(learner, *arrays):
    """A Parameter for each array, which keeps a copy of its own."""
    return [learner.Parameter(np.array(array)) for array in arrays]


def give(learner, parameters, grads):
    """backward() on sum(p * g) adds g to the gradient of each p."""
    for p, g in zip(parameters, grads):
        (p * learner.Tensor(np.array(g))).sum().backward()


def settings(learner, record, p, lr, later):
    """`lr`: as given, as written later. Construction moves nothing."""
    (parameter,) = made(learner, p)
    optimizer = learner.SGD([parameter], lr=lr)
    record(lr=float(optimizer.lr), p=parameter.data)
    optimizer.lr = later
    record(later=float(optimizer.lr))


def steps(learner, record, w, b, k, w_grads, b_grads, k_grads, lr, momentum):
    """T steps. w: (n, m), w_grads: (T, n, m); b and k alike. What each step adds to each parameter."""
    parameters = made(learner, w, b, k)
    named = {} if momentum is None else {"momentum": momentum}
    optimizer = learner.SGD(parameters, lr=lr, **named)
    moves = [[], [], []]
    for grads in zip(w_grads, b_grads, k_grads):
        optimizer.zero_grad()
        give(learner, parameters, grads)
        before = [p.data.copy() for p in parameters]
        optimizer.step()
        for p, old, mine in zip(parameters, before, moves):
            mine.append(p.data - old)
    for name, p, mine in zip("wbk", parameters, moves):
        record(**{name + "_moves": np.stack(mine, axis=-1), name: p.data})  # (..., T)


def schedule(learner, record, p, grads, lrs):
    """`lr` is written before each step; there is no momentum. lrs: (T,)"""
    (parameter,) = made(learner, p)
    optimizer = learner.SGD([parameter], lr=0.123)
    moves = []
    for g, lr in zip(grads, lrs):
        optimizer.lr = float(lr)
        optimizer.zero_grad()
        give(learner, [parameter], [g])
        before = parameter.data.copy()
        optimizer.step()
        moves.append(parameter.data - before)
    record(moves=np.stack(moves, axis=-1), p=parameter.data)


def another_rate(learner, record, p, grads, lr, later, momentum):
    """`lr` is written once, before the first step."""
    (parameter,) = made(learner, p)
    optimizer = learner.SGD([parameter], lr=lr, momentum=momentum)
    optimizer.lr = later
    for g in grads:
        optimizer.zero_grad()
        give(learner, [parameter], [g])
        optimizer.step()
    record(p=parameter.data)


def accumulated(learner, record, p, grads, lr, momentum):
    """Gradients add up until they are cleared; a step uses what is there and leaves it there."""
    (parameter,) = made(learner, p)
    optimizer = learner.SGD([parameter], lr=lr, momentum=momentum)
    give(learner, [parameter], [grads[0]])
    give(learner, [parameter], [grads[1]])
    optimizer.step()
    record(after_two_backwards=parameter.data, grad_after_a_step=parameter.grad)
    optimizer.step()
    record(after_a_second_step=parameter.data, grad_after_two_steps=parameter.grad)
    optimizer.zero_grad()
    record(after_clearing=parameter.data)
    give(learner, [parameter], [grads[2]])
    record(grad=parameter.grad)
    optimizer.step()
    record(after_a_fresh_backward=parameter.data)


def cleared(learner, record, p, grad, lr):
    """zero_grad leaves None or zeros, whichever it is; without momentum a step then moves nothing."""
    (parameter,) = made(learner, p)
    optimizer = learner.SGD([parameter], lr=lr)
    give(learner, [parameter], [grad])
    optimizer.zero_grad()
    left = parameter.grad
    record(nothing_left=left is None or not np.any(left))
    optimizer.step()
    record(p=parameter.data)


def rewritten(learner, record, p, other, grads, lr, momentum):
    """Two steps; then other numbers are written into the parameter, and two more follow."""
    (parameter,) = made(learner, p)
    optimizer = learner.SGD([parameter], lr=lr, momentum=momentum)
    for t, g in enumerate(grads):
        if t == 2:
            parameter.data[...] = other
        optimizer.zero_grad()
        give(learner, [parameter], [g])
        optimizer.step()
    record(p=parameter.data)


def without(learner, record, p, idle, q, place, grads, lr, momentum):
    """No gradient ever reaches `idle`, one of three."""
    one, two, still = made(learner, p, q, idle)
    parameters = [one, two]
    parameters.insert(place, still)
    optimizer = learner.SGD(parameters, lr=lr, momentum=momentum)
    for g in grads:
        optimizer.zero_grad()
        give(learner, [one, two], [g, g])
        optimizer.step()
    record(p=one.data, idle=still.data, q=two.data)


def apart(learner, record, p, q, grads, lr, momentum):
    """Two optimisers of their own, taking turns: p is stepped by one, q by the other, half as often."""
    mine, yours = made(learner, p), made(learner, q)
    first, second = learner.SGD(mine, lr, momentum), learner.SGD(yours, lr, momentum)
    for t, g in enumerate(grads):
        for optimizer, parameters in [(first, mine), (second, yours)][: 2 - t % 2]:
            optimizer.zero_grad()
            give(learner, parameters, [g])
            optimizer.step()
    record(p=mine[0].data, q=yours[0].data)


def succession(learner, record, p, grads, first, lr, momentum):
    """A second optimiser takes over the parameter after `first` steps; it begins from nothing."""
    mine = made(learner, p)
    for some in (grads[:first], grads[first:]):
        optimizer = learner.SGD(mine, lr, momentum)
        for g in some:
            optimizer.zero_grad()
            give(learner, mine, [g])
            optimizer.step()
    record(p=mine[0].data)


def of_a_module(learner, record, w, b, w_grad, b_grad, lr, momentum):
    """`parameters()` of a module goes in as it is."""

    class Two(learner.Module):
        def __init__(self):
            super().__init__()
            self.w, self.b = made(learner, w, b)

    module = Two()
    optimizer = learner.SGD(module.parameters(), lr=lr, momentum=momentum)
    for _ in range(2):
        optimizer.zero_grad()
        give(learner, [module.w, module.b], [w_grad, b_grad])
        optimizer.step()
    record(w=module.w.data, b=module.b.data)


def crowd(learner, record, p, grads, lr):
    """Two steps of n parameters, the rows of p (n, 3); then all gradients are cleared."""
    parameters = made(learner, *p)
    optimizer = learner.SGD(parameters, lr=lr)
    for rows in grads:
        optimizer.zero_grad()
        give(learner, parameters, rows)
        optimizer.step()
    record(p=np.stack([one.data for one in parameters]))
    optimizer.zero_grad()
    record(cleared=[one.grad is None or not np.any(one.grad) for one in parameters])
