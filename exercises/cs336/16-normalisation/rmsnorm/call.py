"""Runs the learner's RMSNorm."""

import functools

import torch
from pack.calls import copied, fresh_parameters, module_facts, start, traced

EPS = 1e-5


def run(learner, eps, x, weight):
    """x: (..., d), weight: (d,)."""
    return learner.run_rmsnorm(d_model=len(weight), eps=eps, weights=weight, in_features=x)


def forward(learner, record, x, weight, eps):
    record(y=run(learner, eps, *copied(x, weight)))


def gradients(learner, record, x, weight, eps, grad):
    """Of sum(y * grad)."""
    traced(record, functools.partial(run, learner, eps), grad, {"x": x}, {"weight": weight})


def half(learner, record, x, weight):
    """x in half precision, whose largest number is 65504."""
    y = run(learner, EPS, x.to(torch.float16), weight.clone())
    record(finite=bool(y.isfinite().all()), rows_of_zeros=int((y == 0).all(-1).sum()))
    record(dtype_of_y=str(y.dtype))


def made(learner, record, x, weight, eps):
    module_facts(record, lambda: run(learner, eps, *copied(x, weight)))


def initialisation(learner, record, d):
    ran = functools.partial(run, learner, EPS, torch.ones(1, 1, d), torch.full((d,), 2.0))
    for weight in fresh_parameters(ran).values():
        record(start=start(weight), weight=weight)


def kept(learner, record, x, weight, eps):
    """Whether what is handed in stays as it was."""
    inner, own = copied(x, weight)
    run(learner, eps, inner, own)
    record(x=inner, weight=own)


def one(learner, record, x, weight, eps):
    """What becomes of some vectors: the right numbers, wrong ones, or none."""
    try:
        y = run(learner, eps, *copied(x, weight)).detach()
    except Exception as error:  # of any kind: libraries have their own
        record(comes_out="raises", exception=type(error).__name__)
        return
    right = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight
    record(
        comes_out="right" if torch.allclose(y, right, atol=1e-4) else "wrong", shape=list(y.shape)
    )
