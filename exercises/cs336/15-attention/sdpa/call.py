"""Runs the learner's scaled dot-product attention."""

import torch
from pack.calls import copied, gradients


def run(learner, q, k, v, mask):
    q, k, v, mask = copied(q, k, v, mask)
    return learner.run_scaled_dot_product_attention(Q=q, K=k, V=v, mask=mask)


def weights(learner, record, q, k, v, mask):
    """v: (B, S, S) of identity matrices."""
    found = run(learner, q, k, v, mask).detach()
    if mask is not None:
        record(weight_on_hidden_keys=float((found * ~mask).sum(-1).abs().max()))
    record(sums_of_rows=found.sum(-1), weights=found)


def forward(learner, record, q, k, v, mask, grad):
    """q: (..., T, d), k: (..., S, d), v: (..., S, e), grad: (..., T, e), mask: (..., T, S) or None."""
    given = q, k, v, mask
    own = copied(*given)
    record(out=learner.run_scaled_dot_product_attention(Q=own[0], K=own[1], V=own[2], mask=own[3]))
    kept = all(one is None or torch.equal(one, other) for one, other in zip(own, given))
    record(inputs="as they were" if kept else "written into")
    leaf = [one.clone().requires_grad_() for one in (q, k, v)]
    out = learner.run_scaled_dot_product_attention(
        Q=leaf[0], K=leaf[1], V=leaf[2], mask=None if mask is None else mask.clone()
    )
    record(**{"grad_" + name: one for name, one in gradients(out, grad, v=v, q=q, k=k).items()})
