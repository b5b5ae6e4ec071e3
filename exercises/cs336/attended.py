"""What the probes of the two attentions share on the learner's side. `run(x, w_q, w_k, w_v, w_o, heads)` calls
an adapter with copies.
"""

from __future__ import annotations

import torch
from pack.leaves import slopes as weight_slopes

NAMES = "w_q", "w_k", "w_v", "w_o"
NEAR = 1e-4


def own_columns(run, record, batch, T, heads, d_model):
    """W_q and W_k are 0, W_v and W_o identity matrices, and column c of x holds c + 1, in each position: what
    comes out is x, if each head's columns come back to their places.
    """
    none, unit = torch.zeros(d_model, d_model), torch.eye(d_model)
    x = torch.arange(1.0, d_model + 1).repeat(batch, T, 1)
    record(column_numbers=run(x, none, none, unit, unit, heads))


def projections(run, record, heads, w_v, w_o):
    """Sequences of one token, which sees itself alone; token c has its single 1 in column c."""
    d_model = len(w_v)
    none, unit, x = torch.zeros_like(w_v), torch.eye(d_model), torch.eye(d_model)[:, None]
    found = run(x, none, none, w_v, unit, heads)
    record(through_w_v=found.detach().reshape(d_model, d_model))
    found = run(x, none, none, unit, w_o, heads)
    record(through_w_o=found.detach().reshape(d_model, d_model))


def head_columns(run, record, heads, x, w_q, w_k):
    """Only the rows of head 1 in W_q are not 0: every other head weighs all that it sees alike. In which columns
    is the output no plain mean of x?
    """
    d_model = x.shape[-1]
    unit, d_head = torch.eye(d_model), d_model // heads
    only = torch.zeros_like(w_q)
    only[d_head : 2 * d_head] = w_q[d_head : 2 * d_head]
    found = run(x, only, w_k, unit, unit, heads).detach()
    T = x.shape[-2]
    count = torch.arange(1, T + 1)[:, None]
    means = x.cumsum(-2) / count, x.mean(-2, keepdim=True).expand_as(x)
    away = torch.stack([(found - mean).abs().amax((0, 1)) > NEAR for mean in means]).all(0)
    record(columns_of_head_1=" ".join(str(c) for c in range(d_model) if away[c]))


def weights(run, record, heads, x, w_q, w_k, w_v):
    """x: (1, T, d) with T = d_head; W_v is such that every head's values are an identity matrix."""
    d_model = x.shape[-1]
    found = run(x, w_q, w_k, w_v, torch.eye(d_model), heads).detach()
    T = x.shape[-2]
    record(weights=found.reshape(T, heads, T).transpose(0, 1))  # (heads, T, T)


def past(run, record, heads, x, other, since, four):
    """From position `since` on, x is another: what comes out before must stay as it was."""
    first = run(x, *four, heads).detach()
    changed = torch.cat([x[:, :since], other[:, since:]], 1)
    moved = (run(changed, *four, heads).detach() - first).abs()
    record(earlier_rows_moved_by=float(moved[:, :since].max()))


def forward(run, record, heads, x, four):
    own = x.clone()
    record(out=run(own, *four, heads, copy=False))
    record(inputs="as they were" if torch.equal(own, x) else "written into")


def slopes(run, record, heads, x, grad, directions, four):
    leaf = x.clone().requires_grad_()

    def with_weights(w_q, w_k, w_v, w_o):
        return run(x, w_q, w_k, w_v, w_o, heads)

    out = run(leaf, *four, heads, copy=False)
    found = torch.autograd.grad(out, leaf, grad)[0] if out.grad_fn is not None else "none"
    record(grad_x=found)
    named = dict(zip(NAMES, four))
    found = weight_slopes(with_weights, grad, dict(zip(NAMES, directions)), **named)
    record(**{"slopes_" + name: found[name] for name in reversed(NAMES)})
