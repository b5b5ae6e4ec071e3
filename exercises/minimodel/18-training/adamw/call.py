"""Runs the learner's AdamW on parameters whose gradients are chosen."""

import numpy as np


def made(learner, *arrays):
    """A Parameter for each array, which keeps a copy of its own."""
    return [learner.Parameter(np.array(array)) for array in arrays]


def give(learner, parameters, grads):
    """backward() on sum(p * g) adds g to the gradient of each p."""
    for p, g in zip(parameters, grads):
        (p * learner.Tensor(np.array(g))).sum().backward()


def chosen(beta_1, beta_2, **settings):
    """The settings that are not None, in the form of AdamW's arguments. Where one beta is chosen, the other
    is as usual.
    """
    found = {name: value for name, value in settings.items() if value is not None}
    if (beta_1, beta_2) != (None, None):
        found["betas"] = (0.9 if beta_1 is None else beta_1, 0.999 if beta_2 is None else beta_2)
    return found


def settings(learner, record, p, lr, later):
    """`lr`: its default, as given, as written later. Construction moves nothing."""
    (parameter,) = made(learner, p)
    record(default_lr=float(learner.AdamW([parameter]).lr))
    optimizer = learner.AdamW([parameter], lr=lr)
    record(lr=float(optimizer.lr), p=parameter.data)
    optimizer.lr = later
    record(later=float(optimizer.lr))


def steps(
    learner, record, w, b, k, w_grads, b_grads, k_grads, lr, beta_1, beta_2, eps, weight_decay
):
    """T steps. w: (n, m), w_grads: (T, n, m); b and k alike. What each step adds to each parameter."""
    parameters = made(learner, w, b, k)
    arguments = chosen(lr=lr, beta_1=beta_1, beta_2=beta_2, eps=eps, weight_decay=weight_decay)
    optimizer = learner.AdamW(parameters, **arguments)
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


def alone(learner, record, p, grads, lr, beta_1, beta_2, eps, weight_decay):
    """One parameter. p: (n, m), grads: (T, n, m)."""
    (parameter,) = made(learner, p)
    arguments = chosen(lr=lr, beta_1=beta_1, beta_2=beta_2, eps=eps, weight_decay=weight_decay)
    optimizer = learner.AdamW([parameter], **arguments)
    for g in grads:
        optimizer.zero_grad()
        give(learner, [parameter], [g])
        optimizer.step()
    record(p=parameter.data)


def schedule(learner, record, p, grads, lrs, weight_decay):
    """`lr` is written before each step. lrs: (T,)"""
    (parameter,) = made(learner, p)
    optimizer = learner.AdamW([parameter], weight_decay=weight_decay)
    moves = []
    for g, lr in zip(grads, lrs):
        optimizer.lr = float(lr)
        optimizer.zero_grad()
        give(learner, [parameter], [g])
        before = parameter.data.copy()
        optimizer.step()
        moves.append(parameter.data - before)
    record(moves=np.stack(moves, axis=-1), p=parameter.data)


def accumulated(learner, record, p, grads, lr):
    """Gradients add up until they are cleared; a step uses what is there and leaves it there."""
    (parameter,) = made(learner, p)
    optimizer = learner.AdamW([parameter], lr=lr)
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


def rewritten(learner, record, p, other, grads, lr, weight_decay):
    """Two steps; then other numbers are written into the parameter, and two more follow."""
    (parameter,) = made(learner, p)
    optimizer = learner.AdamW([parameter], lr=lr, weight_decay=weight_decay)
    for t, g in enumerate(grads):
        if t == 2:
            parameter.data[...] = other
        optimizer.zero_grad()
        give(learner, [parameter], [g])
        optimizer.step()
    record(p=parameter.data)


def apart(learner, record, p, q, grads, lr):
    """Two optimisers of their own, taking turns: p is stepped by one, q by the other, half as often."""
    mine, yours = made(learner, p), made(learner, q)
    first, second = learner.AdamW(mine, lr=lr), learner.AdamW(yours, lr=lr)
    for t, g in enumerate(grads):
        for optimizer, parameters in [(first, mine), (second, yours)][: 2 - t % 2]:
            optimizer.zero_grad()
            give(learner, parameters, [g])
            optimizer.step()
    record(p=mine[0].data, q=yours[0].data)


def succession(learner, record, p, grads, first, lr):
    """A second optimiser takes over the parameter after `first` steps; it begins from nothing."""
    mine = made(learner, p)
    for some in (grads[:first], grads[first:]):
        optimizer = learner.AdamW(mine, lr=lr)
        for g in some:
            optimizer.zero_grad()
            give(learner, mine, [g])
            optimizer.step()
    record(p=mine[0].data)


def of_a_module(learner, record, w, b, w_grad, b_grad, lr):
    """`parameters()` of a module goes in as it is."""

    class Two(learner.Module):
        def __init__(self):
            super().__init__()
            self.w, self.b = made(learner, w, b)

    module = Two()
    optimizer = learner.AdamW(module.parameters(), lr=lr)
    for _ in range(2):
        optimizer.zero_grad()
        give(learner, [module.w, module.b], [w_grad, b_grad])
        optimizer.step()
    record(w=module.w.data, b=module.b.data)


def walk(learner, record, g, steps, lr):
    """A parameter that gets the same gradient g each time: how long is each step, in units of lr?"""
    parameter = learner.Parameter(np.zeros((1,), g.dtype))
    optimizer = learner.AdamW([parameter], lr=lr, weight_decay=0.0)
    lengths, before = [], 0.0
    for _ in range(steps):
        optimizer.zero_grad()
        (parameter * learner.Tensor(g)).sum().backward()
        optimizer.step()
        now = float(parameter.data[0])
        lengths.append(abs(now - before) / lr)
        before = now
    record(first_step=lengths[0], longest_step=max(lengths), last_step=lengths[-1])
    ratio = max(lengths) / lengths[0]
    record(
        later_steps="grow" if ratio > 1.1 else "shrink" if lengths[1] < 0.9 * lengths[0] else "stay"
    )
    record(longest_at=1 + int(np.argmax(np.round(lengths, 3))), lengths=lengths)


def valley(learner, record, start, steps, lr):
    """Down the valley p^2 / 2, whose gradient is p, from `start`: where does it stand at the end?"""
    parameter = learner.Parameter(np.array(start))
    optimizer = learner.AdamW([parameter], lr=lr, weight_decay=0.0)
    places = [float(parameter.data[0])]
    for _ in range(steps):
        optimizer.zero_grad()
        (parameter * parameter * 0.5).sum().backward()
        optimizer.step()
        places.append(float(parameter.data[0]))
    record(lowest=min(places), last=places[-1], places=places)


def without(learner, record, p, idle, q, place, grads, lr, weight_decay):
    """No gradient ever reaches `idle`, one of three. What becomes of it is left open."""
    one, two, still = made(learner, p, q, idle)
    parameters = [one, two]
    parameters.insert(place, still)
    optimizer = learner.AdamW(parameters, lr=lr, weight_decay=weight_decay)
    for g in grads:
        optimizer.zero_grad()
        give(learner, [one, two], [g, g])
        optimizer.step()
    record(p=one.data, q=two.data)


def followed(learner, start, grads, lr, weight_decay):
    """Where a single number stands before and after each of these gradients. grads: (T,)"""
    (parameter,) = made(learner, start)
    optimizer = learner.AdamW([parameter], lr=lr, weight_decay=weight_decay)
    places = [float(parameter.data[0])]
    for g in grads:
        optimizer.zero_grad()
        give(learner, [parameter], [np.full((1,), g, start.dtype)])
        optimizer.step()
        places.append(float(parameter.data[0]))
    return places


def rest(learner, record, start, steps, lr, weight_decay):
    """A number whose gradient is 0: only the decay pulls at it, once as given, once twice as hard."""
    places = followed(learner, start, np.zeros(steps), lr, weight_decay)
    record(first_step=(places[0] - places[1]) / lr, last=places[-1], places=places)
    twice = followed(learner, start, np.zeros(steps), lr, 2 * weight_decay)
    first_step_twice = (twice[0] - twice[1]) / lr
    record(first_step_twice=first_step_twice)
    ratio = first_step_twice * lr / ((places[0] - places[1]) or np.nan)
    record(
        twice_the_decay_gives="twice"
        if 1.9 < ratio < 2.1
        else "same"
        if 0.9 < ratio < 1.1
        else "other"
    )


def noise(learner, record, start, signs, quiet, loud, lr, weight_decay):
    """Two numbers whose gradients only change sign, one's small and one's large. Which shrinks more?"""
    ends = {}
    for name, size in (("quiet", quiet), ("loud", loud)):
        places = followed(learner, start, size * signs, lr, weight_decay)
        ends[name] = places[-1]
        record(**{name: places[-1], name + "_places": places})
    apart = ends["quiet"] - ends["loud"]
    record(shrinks_more="same" if abs(apart) < 0.01 else "quiet" if apart < 0 else "loud")


def whole_modules(learner, record, others, start, steps, lr, weight_decay):
    """Modules of other components, by role, where they are built: every number of theirs begins at
    `start` and gets the gradient 1. The least and the greatest of them afterwards.
    """
    for role, sizes in others.items():
        try:
            module = getattr(learner, role)(*sizes)
        except Exception as error:  # of any kind: it may not be built yet
            record(**{role: type(error).__name__})
            continue
        parameters = list(module.parameters())
        for p in parameters:
            p.data[...] = start
        optimizer = learner.AdamW(parameters, lr=lr, weight_decay=weight_decay)
        for _ in range(steps):
            optimizer.zero_grad()
            give(learner, parameters, [np.ones_like(p.data) for p in parameters])
            optimizer.step()
        least, most = (f([f(p.data) for p in parameters]) for f in (np.min, np.max))
        record(**{role: [float(least), float(most)]})


def crowd(learner, record, p, grads, lr):
    """Two steps of n parameters, the rows of p (n, 3); then all gradients are cleared."""
    parameters = made(learner, *p)
    optimizer = learner.AdamW(parameters, lr=lr)
    for rows in grads:
        optimizer.zero_grad()
        give(learner, parameters, rows)
        optimizer.step()
    record(p=np.stack([one.data for one in parameters]))
    optimizer.zero_grad()
    record(cleared=[one.grad is None or not np.any(one.grad) for one in parameters])
