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


def cached(learner, record, q, k, theta, max_seq_len):
    """Scores of the last query with every key: all turned at once, and each by itself at its own place, as
    when a text is written token by token and keys are kept. q, k: (T, d).
    """
    places = torch.arange(len(q))

    def turned(x, at):
        return run(learner, x.clone(), at.clone(), theta, max_seq_len).detach()

    whole = turned(q[None], places)[0, -1] @ turned(k[None], places)[0].T
    keys = torch.cat([turned(k[None, t : t + 1], places[t : t + 1])[0] for t in places.tolist()])
    one = turned(q[None, -1:], places[-1:])[0, -1] @ keys.T
    record(at_once=whole.tolist(), one_by_one=one.tolist())
    record(apart=float((whole - one).abs().max()))
    record(at_once_is=kind(whole, right(q, k, theta)), one_by_one_is=kind(one, right(q, k, theta)))


def right(q, k, theta):
    """The scores of the last query, by complex numbers."""
    T, d = q.shape
    angles = torch.arange(T)[:, None] * theta ** (-torch.arange(0, d, 2) / d)
    turns = torch.polar(torch.ones_like(angles), angles)
    one, two = (torch.view_as_complex(x.reshape(T, -1, 2).contiguous()) * turns for x in (q, k))
    return (one[-1] * two.conj()).real.sum(-1)


def kind(scores, wanted):
    if torch.allclose(scores, wanted, atol=1e-3):
        return "right"
    return "equal" if float(scores.max() - scores.min()) < 1e-4 else "other"
