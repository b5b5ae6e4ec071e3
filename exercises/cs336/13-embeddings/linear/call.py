"""Runs the learner's linear layer."""

import functools

import torch
from pack.calls import copied, fresh_parameters, module_facts, statistics, traced


def run(learner, weight, x):
    """weight: (d_out, d_in), x: (..., d_in)."""
    d_out, d_in = weight.shape
    return learner.run_linear(d_in=d_in, d_out=d_out, weights=weight, in_features=x)


def forward(learner, record, weight, x):
    record(y=run(learner, *copied(weight, x)))


def gradients(learner, record, weight, x, grad):
    """grad: (..., d_out). Of sum(y * grad)."""
    traced(record, functools.partial(run, learner), grad, {"x": x}, {"weight": weight})


def made(learner, record, weight, x):
    module_facts(record, lambda: run(learner, *copied(weight, x)))


def initialisation(learner, record, d_in, d_out):
    """In units of sqrt(2 / (d_in + d_out))."""
    ran = functools.partial(run, learner, torch.ones(d_out, d_in), torch.ones(1, 1, d_in))
    for weight in fresh_parameters(ran).values():
        statistics(record, weight, (2 / (d_in + d_out)) ** 0.5)


def kept(learner, record, weight, x):
    """Whether what is handed in stays as it was."""
    own, inner = copied(weight, x)
    run(learner, own, inner)
    record(weight=own, x=inner)


def one(learner, record, weight, x):
    """What becomes of some vectors: the right numbers, wrong ones, or none."""
    try:
        y = run(learner, *copied(weight, x)).detach()
    except Exception as error:  # of any kind: libraries have their own
        record(comes_out="raises", exception=type(error).__name__)
        return
    right = y.shape == (len(x), len(weight)) and torch.allclose(y, x @ weight.T, atol=1e-4)
    record(comes_out="right" if right else "wrong", shape=list(y.shape))
