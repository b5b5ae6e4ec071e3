"""Runs the learner's SwiGLU."""

import functools

import torch
from pack.calls import copied, fresh_parameters, module_facts, statistics, traced


def run(learner, x, w1, w2, w3):
    """x: (..., d), w1 and w3: (d_ff, d), w2: (d, d_ff)."""
    d_ff, d = w1.shape
    weights = {"w1_weight": w1, "w2_weight": w2, "w3_weight": w3}
    return learner.run_swiglu(d_model=d, d_ff=d_ff, in_features=x, **weights)


def forward(learner, record, x, w1, w2, w3):
    record(y=run(learner, *copied(x, w1, w2, w3)))


def gradients(learner, record, x, w1, w2, w3, grad):
    """Of sum(y * grad)."""
    traced(record, functools.partial(run, learner), grad, {"x": x}, {"w1": w1, "w2": w2, "w3": w3})


def made(learner, record, x, w1, w2, w3):
    module_facts(record, lambda: run(learner, *copied(x, w1, w2, w3)))


def initialisation(learner, record, d, d_ff):
    """All three, each in units of sqrt(2 / (d_in + d_out))."""
    weights = torch.ones(d_ff, d), torch.ones(d, d_ff), torch.ones(d_ff, d)
    fresh = fresh_parameters(functools.partial(run, learner, torch.ones(1, 1, d), *weights))
    if fresh:
        units = [w.detach() / (2 / sum(w.shape)) ** 0.5 for w in fresh.values()]
        statistics(record, torch.cat([w.reshape(-1) for w in units]))


def kept(learner, record, x, w1, w2, w3):
    """Whether what is handed in stays as it was."""
    given = copied(x, w1, w2, w3)
    run(learner, *given)
    record(**dict(zip(("x", "w1", "w2", "w3"), given)))


def growth(learner, record, x, w1, w2, w3, factors):
    """How large y is, in the mean, when x is multiplied by each of the factors."""
    lengths = []
    for factor in factors.tolist():
        y = run(learner, *copied(factor * x, w1, w2, w3)).detach().double()
        lengths.append(float(y.square().mean().sqrt()))
    record(lengths=lengths, last_by_the_one_before=lengths[-1] / lengths[-2])
