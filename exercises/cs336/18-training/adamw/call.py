"""Runs the learner's AdamW on parameters whose gradients are chosen."""

import copy

import torch

USUAL = {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8}


def made(learner, parameters, beta1, beta2, **settings):
    return learner.get_adamw_cls()(parameters, betas=(beta1, beta2), **settings)


def parameter(p):
    return torch.nn.Parameter(p.clone())


def step(optimizer, parameters, grads):
    """One step with these gradients; how far each parameter goes."""
    before = [p.detach().clone() for p in parameters]
    for p, g in zip(parameters, grads):
        p.grad = None if g is None else g.clone()
    optimizer.step()
    return [p.detach() - old for p, old in zip(parameters, before)]


def steps(learner, record, p, grads, **settings):
    """p: (n, m), grads: (T, n, m). How far each step goes, for at most four of them."""
    own = parameter(p)
    optimizer = made(learner, [own], **settings)
    for t, g in enumerate(grads, 1):
        (move,) = step(optimizer, [own], [g])
        if t <= 4:
            record(**{f"move_of_step_{t}": move})
    record(p=own)


def first(learner, record, p, grads, lr, **settings):
    """One step: every element goes as far as lr, against its gradient."""
    own = parameter(p)
    (move,) = step(made(learner, [own], lr=lr, **settings), [own], [grads[0]])
    lengths = -(move.double() * grads[0].sign()) / lr
    low, high = lengths.abs().min(), lengths.abs().max()
    record(elements_that_move=int((move != 0).sum()))
    record(longest_by_shortest=1.0 if low == high else float(high / low))
    record(first_step_in_units_of_lr=float(lengths.mean()))


def second(learner, record, p, grads, **settings):
    own = parameter(p)
    optimizer = made(learner, [own], **settings)
    step(optimizer, [own], [grads[0]])
    record(move_of_step_2=step(optimizer, [own], [grads[1]])[0])


def decay(learner, record, p, grads, **settings):
    own = parameter(p)
    optimizer = made(learner, [own], **settings)
    for g in grads:
        step(optimizer, [own], [g])
    record(p=own)


def several(learner, record, p, p_grads, q, q_grads, **settings):
    """Two parameters in one optimizer."""
    both = [parameter(p), parameter(q)]
    optimizer = made(learner, both, **settings)
    for t, grads in enumerate(zip(p_grads, q_grads), 1):
        moves = step(optimizer, both, grads)
        record(**{f"move_of_{name}_in_step_{t}": move for name, move in zip("pq", moves)})


def epsilon(learner, record, g, lr, **settings):
    """How long the first step is, in units of lr."""
    own = torch.nn.Parameter(torch.zeros(1))
    (move,) = step(made(learner, [own], lr=lr, **settings), [own], [torch.tensor([g])])
    record(first_step_in_units_of_lr=-float(move) / lr)


def reloaded(learner, record, p, grads, **settings):
    """Three steps; then a new optimizer takes over with the state of the first."""
    own = parameter(p)
    first = made(learner, [own], **settings)
    for g in grads[:3]:
        step(first, [own], [g])
    second = made(learner, [own], **settings)
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    record(move_of_step_4=step(second, [own], [grads[3]])[0])


def rates(learner, record, p, grads, lrs, **settings):
    own = parameter(p)
    optimizer = made(learner, [own], **settings)
    for t, (g, lr) in enumerate(zip(grads, lrs.tolist()), 1):
        for group in optimizer.param_groups:
            group["lr"] = lr
        record(**{f"move_of_step_{t}": step(optimizer, [own], [g])[0]})


def groups(learner, record, p, p_grads, q, q_grads, p_lr, q_lr, p_weight_decay, **settings):
    both = [parameter(p), parameter(q)]
    two = [
        {"params": [both[0]], "lr": p_lr, "weight_decay": p_weight_decay},
        {"params": [both[1]], "lr": q_lr, "weight_decay": 0.0},
    ]
    optimizer = made(learner, two, lr=0.001, weight_decay=0.0, **settings)
    for grads in zip(p_grads, q_grads):
        step(optimizer, both, grads)
    record(q=both[1], p=both[0])


def without(learner, record, p, grads, idle, **settings):
    both = [parameter(idle), parameter(p)]
    optimizer = made(learner, both, **settings)
    for g in grads:
        step(optimizer, both, [None, g])
    record(p=both[1], idle=both[0])


def kept(learner, record, p, grads, **settings):
    """What an optimizer is, and what a step leaves alone."""
    own = parameter(p)
    optimizer = made(learner, [own], **settings)
    record(is_an_optimizer=isinstance(optimizer, torch.optim.Optimizer))
    step(optimizer, [own], [grads[0]])
    record(grad_stays=own.grad is not None and bool(torch.equal(own.grad, grads[0])))
    optimizer.zero_grad()
    record(grad_cleared=own.grad is None or not own.grad.any())


def followed(learner, start, grads, lr, weight_decay):
    """Where a single number stands before and after each of these gradients. start: (1,), grads: (T,)"""
    own = parameter(start)
    optimizer = made(learner, [own], **USUAL, lr=lr, weight_decay=weight_decay)
    places = [float(own)]
    for g in grads.tolist():
        step(optimizer, [own], [torch.full((1,), g)])
        places.append(float(own))
    return places


def walk(learner, record, g, steps, lr):
    """A number that gets the same gradient g each time: how long is each step, in units of lr?"""
    places = followed(learner, torch.zeros(1), torch.full((steps,), g), lr, 0.0)
    lengths = [abs(after - before) / lr for before, after in zip(places, places[1:])]
    record(first_step=lengths[0], longest_step=max(lengths), last_step=lengths[-1])
    ratio = max(lengths) / lengths[0]
    record(
        later_steps="grow" if ratio > 1.1 else "shrink" if lengths[1] < 0.9 * lengths[0] else "stay"
    )
    rounded = [round(length, 3) for length in lengths]
    record(longest_at=1 + rounded.index(max(rounded)), lengths=lengths)


def valley(learner, record, start, steps, lr):
    """Down the valley p^2 / 2, whose gradient is p, from `start`: where does it stand at the end?"""
    own = parameter(start)
    optimizer = made(learner, [own], **USUAL, lr=lr, weight_decay=0.0)
    places = [float(own)]
    for _ in range(steps):
        step(optimizer, [own], [own.detach()])
        places.append(float(own))
    record(lowest=min(places), last=places[-1], places=places)


def rest(learner, record, start, steps, lr, weight_decay):
    """A number whose gradient is 0: only the decay pulls at it, once as given, once twice as hard."""
    places = followed(learner, start, torch.zeros(steps), lr, weight_decay)
    record(first_step=(places[0] - places[1]) / lr, last=places[-1], places=places)
    twice = followed(learner, start, torch.zeros(steps), lr, 2 * weight_decay)
    first_step_twice = (twice[0] - twice[1]) / lr
    record(first_step_twice=first_step_twice)
    ratio = first_step_twice * lr / ((places[0] - places[1]) or float("nan"))
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
