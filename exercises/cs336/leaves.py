"""Gradients of an adapter's weights on the learner's side, however the learner keeps them: each number of a
weight is looked for among the numbers of the parameters, so matrices that are stacked or transposed are found.
"""

from __future__ import annotations

import torch
from pack.calls import leaves

NO_GRAPH = "none: the result has no graph"
NOT_THERE = "none: no parameter has these numbers"


def found_gradients(out, grad, **weights):
    """name -> the gradient of sum(out * grad) with respect to each weight; a text where there is none."""
    if out.grad_fn is None:
        return dict.fromkeys(weights, NO_GRAPH)
    ends = [leaf for leaf in leaves(out) if leaf.is_floating_point()]
    found = torch.autograd.grad(out, ends, grad.to(out.dtype), allow_unused=True)
    pairs = [(leaf, one) for leaf, one in zip(ends, found) if one is not None]
    if not pairs:
        return dict.fromkeys(weights, NO_GRAPH)
    values = torch.cat([leaf.detach().reshape(-1).to(torch.float32) for leaf, _ in pairs])
    grads = torch.cat([one.reshape(-1).to(torch.float32) for _, one in pairs])
    known, place = torch.unique(values, return_inverse=True)
    total = torch.zeros_like(known).index_add_(0, place, grads)
    return {name: _of(weight, known, total) for name, weight in weights.items()}


def _of(weight, known, total):
    wanted = weight.detach().reshape(-1)
    at = torch.searchsorted(known, wanted).clamp(max=len(known) - 1)
    if not torch.equal(known[at], wanted):
        return NOT_THERE
    return total[at].reshape(weight.shape)


def slopes(run, grad, directions, **weights):
    """name -> the derivatives of sum(run(weights) * grad) along `directions[name]` (n, *weight.shape).

    Weights go in as plain tensors, as the course hands them in; where no parameter is found then, a second
    time as tensors that ask for a gradient.
    """
    found = {}
    for asking in (False, True):
        own = {name: weight.clone().requires_grad_(asking) for name, weight in weights.items()}
        found = found_gradients(run(**own), grad, **own)
        if not any(isinstance(one, str) for one in found.values()):
            break
    return {
        name: one if isinstance(one, str) else (directions[name] * one).flatten(1).sum(1)
        for name, one in found.items()
    }
