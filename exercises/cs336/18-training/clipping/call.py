"""Runs the learner's gradient clipping on gradients that are chosen."""

import math

import torch


def made(grads):
    """A parameter for each gradient; one of None has none."""
    parameters = []
    for g in grads:
        parameters.append(torch.nn.Parameter(torch.ones(g.shape if g is not None else (2, 3))))
        parameters[-1].grad = None if g is None else g.clone()
    return parameters


def grad_of(parameter):
    grad = parameter.grad
    return torch.full_like(parameter, float("nan")).detach() if grad is None else grad.detach()


def forward(learner, record, grads, max_l2_norm, frozen):
    """grads: (k, n, m). What each of them is multiplied by, and how long they are together afterwards."""
    parameters = made(grads)
    tensors = [p.grad for p in parameters]
    given = list(parameters)
    if frozen:
        given.append(torch.nn.Parameter(torch.ones(grads.shape[1:]), requires_grad=False))
    learner.run_gradient_clipping(parameters=tuple(given), max_l2_norm=max_l2_norm)
    after = torch.stack([grad_of(p) for p in parameters])
    record(how_many_changed=sum(not torch.equal(a, g) for a, g in zip(after, grads)))
    factors = after.double() / torch.where(grads == 0, 1.0, grads.double())
    low, high = factors.flatten(1).amin(1), factors.flatten(1).amax(1)
    record(factors_within_a_gradient=largest_ratio(high, low))
    means = factors.flatten(1).mean(1)
    record(factors_of_two_gradients=largest_ratio(means.amax(), means.amin()))
    record(norm_afterwards=after.double().norm().item(), grads=after.to(grads.dtype))
    record(new_tensors=sum(p.grad is not t for p, t in zip(parameters, tensors)))
    record(parameters_stay=all(bool((p == 1).all()) for p in given))


def largest_ratio(high, low):
    """The largest quotient; 0 / 0 counts as 1."""
    ratio = torch.where(high == low, 1.0, high / low)
    return float(ratio.abs().max())


def unlike(learner, record, a, b, c, without, max_l2_norm):
    """Three parameters of different shapes."""
    grads = [None if i == without else g for i, g in enumerate([a, b, c])]
    parameters = made(grads)
    learner.run_gradient_clipping(parameters=tuple(parameters), max_l2_norm=max_l2_norm)
    for name, p, g in zip("abc", parameters, grads):
        record(**{"grad_of_" + name: "none" if g is None else grad_of(p)})


def nothing(learner, record, weights, max_l2_norm):
    """No parameter has a gradient."""
    parameter = torch.nn.Parameter(weights.clone())
    learner.run_gradient_clipping(parameters=(parameter,), max_l2_norm=max_l2_norm)
    record(still_without=parameter.grad is None)


def generator(learner, record, grads, max_l2_norm, frozen):
    """`model.parameters()` is a generator: who walks through it twice finds nothing the second time."""
    parameters = made(grads)
    learner.run_gradient_clipping(parameters=(p for p in parameters), max_l2_norm=max_l2_norm)
    after = torch.stack([grad_of(p) for p in parameters])
    record(how_many_changed=sum(not torch.equal(a, g) for a, g in zip(after, grads)))
    record(grads=after)


def length(tensors):
    return float(torch.stack([t.double().norm() for t in tensors]).norm())


def after_clipping(learner, grads, max_l2_norm):
    """The gradients of a parameter each, clipped together."""
    parameters = made(grads)
    learner.run_gradient_clipping(parameters=tuple(parameters), max_l2_norm=max_l2_norm)
    return [grad_of(p) for p in parameters]


def many(learner, record, grads, max_l2_norm):
    """grads (n, d): n parameters with a gradient each. Lengths after, and what became of the direction."""
    after = after_clipping(learner, grads, max_l2_norm)
    total, lengths = length(after), [length([g]) for g in after]
    record(norm_before=length(grads), norm_after=total)
    here = {"limit": max_l2_norm, "unchanged": length(grads)}
    found = [name for name, size in here.items() if abs(total - size) < 0.01 * size]
    record(norm_after_is=found[0] if found else "other")
    record(lengths=lengths, longest_over_shortest=max(lengths) / min(lengths))
    dot = float((grads.double() * torch.stack(after).double()).sum())
    cosine = dot / (length(grads) * total)
    record(cosine=cosine, angle=round(math.degrees(math.acos(min(cosine, 1.0))), 1))


def sweep(learner, record, grads, limits):
    """The same gradients clipped at one limit after another: how long are they together afterwards?"""
    record(after=[length(after_clipping(learner, grads, limit)) for limit in limits.tolist()])
