"""Runs the learner's linear layer."""

import torch
from pack.calls import copied, gradients


def forward(learner, record, weight, x, grad):
    """weight: (d_out, d_in), x: (..., d_in), grad: (..., d_out)."""
    own, leaf = weight.clone().requires_grad_(), x.clone().requires_grad_()
    d_out, d_in = weight.shape
    out = learner.run_linear(d_in=d_in, d_out=d_out, weights=own, in_features=leaf)
    record(out=out)
    record(**{"grad_" + k: v for k, v in gradients(out, grad, x=x, weight=weight).items()})
