"""Runs the learner's rope."""

import torch
from pack.calls import copied, gradients

NEAR_0 = 1e-5


def pairs(learner, record, d, theta):
    """Unit vectors: sequence c has a single 1, in column c, at each of three positions."""
    x = torch.eye(d)[:, None, :].repeat(1, 3, 1)  # (d, 3, d)
    found = learner.run_rope(
        d_k=d, theta=theta, max_seq_len=3, in_query_or_key=x, token_positions=torch.arange(3)
    )
    found = found.detach().reshape(d, 3, d)
    for column in (0, 1):
        into = [str(c) for c in range(d) if abs(float(found[column, 1, c])) > NEAR_0]
        record(**{f"column_{column}_goes_into_columns": " ".join(into)})
    record(at_position_0=found[:, 0])
    even, odd = torch.arange(0, d, 2), torch.arange(1, d, 2)
    record(angles_of_even_columns=torch.atan2(found[even, 1, odd], found[even, 1, even]))
    record(angles_of_odd_columns=torch.atan2(-found[odd, 1, even], found[odd, 1, odd]))
    record(at_position_2=found[:, 2])


def run(learner, x, positions, theta, max_seq_len):
    return learner.run_rope(
        d_k=x.shape[-1],
        theta=theta,
        max_seq_len=max_seq_len,
        in_query_or_key=x,
        token_positions=positions,
    )


def forward(learner, record, x, positions, theta, max_seq_len, grad):
    """x, grad: (..., T, d), positions: (T,) or (..., T)."""
    own, at = copied(x, positions)
    record(out=run(learner, own, at, theta, max_seq_len))
    kept = torch.equal(own, x) and torch.equal(at, positions)
    record(inputs="as they were" if kept else "written into")
    leaf = x.clone().requires_grad_()
    out = run(learner, leaf, positions.clone(), theta, max_seq_len)
    record(grad_x=gradients(out, grad, x=x)["x"])
