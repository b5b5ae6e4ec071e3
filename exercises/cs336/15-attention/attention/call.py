"""Runs the learner's multi-head self-attention, and what the probes of others share on the learner's side.

The gradient of a weight is found however the learner keeps it: each number of the weight is looked for
among the numbers of the parameters, so matrices that are stacked or transposed are found.
"""

import torch
from pack.calls import copied, leaves

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


def weight_slopes(run, grad, directions, **weights):
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


# `run(x, w_q, w_k, w_v, w_o, heads)` calls an adapter with copies.
NAMES = "w_q", "w_k", "w_v", "w_o"
NEAR = 1e-4
NEAR_0 = 1e-5


def of_own_columns(run, record, batch, T, heads, d_model):
    """W_q and W_k are 0, W_v and W_o identity matrices, and column c of x holds c + 1, in each position: what
    comes out is x, if each head's columns come back to their places.
    """
    none, unit = torch.zeros(d_model, d_model), torch.eye(d_model)
    x = torch.arange(1.0, d_model + 1).repeat(batch, T, 1)
    found = run(x, none, none, unit, unit, heads).detach()
    nothing = found.ndim == 3 and bool(found[:, 0].isnan().any())
    record(first_position="sees nothing: its row is NaN" if nothing else "sees itself")
    record(column_numbers=found)


def of_projections(run, record, heads, w_v, w_o):
    """Sequences of one token, which sees itself alone; token c has its single 1 in column c."""
    d_model = len(w_v)
    none, unit, x = torch.zeros_like(w_v), torch.eye(d_model), torch.eye(d_model)[:, None]
    found = run(x, none, none, w_v, unit, heads)
    through_v = found.detach().reshape(d_model, d_model)
    found = run(x, none, none, unit, w_o, heads)
    through_o = found.detach().reshape(d_model, d_model)
    for name, one in (("w_v", through_v), ("w_o", through_o)):
        record(**{name: "is not applied" if torch.allclose(one, unit) else "is applied"})
    record(through_w_v=through_v, through_w_o=through_o)


def of_head_columns(run, record, heads, x, w_q, w_k):
    """Only the first row of head 1 in W_q is not 0: every other head weighs all that it sees alike. In which
    columns is the output no plain mean of x?
    """
    d_model = x.shape[-1]
    unit, d_head = torch.eye(d_model), d_model // heads
    only = torch.zeros_like(w_q)
    only[d_head] = 3 * w_q[d_head]
    found = run(x, only, w_k, unit, unit, heads).detach()
    T = x.shape[-2]
    count = torch.arange(1, T + 1)[:, None]
    means = x.cumsum(-2) / count, x.mean(-2, keepdim=True).expand_as(x)
    away = torch.stack([(found - mean).abs().amax((0, 1)) > NEAR for mean in means]).all(0)
    record(columns_of_head_1=" ".join(str(c) for c in range(d_model) if away[c]))


def of_weights(run, record, heads, x, w_q, w_k, w_v):
    """x: (1, T, d) with T = d_head; W_v is such that every head's values are an identity matrix."""
    d_model = x.shape[-1]
    found = run(x, w_q, w_k, w_v, torch.eye(d_model), heads).detach()
    T = x.shape[-2]
    found = torch.where(found.abs() < NEAR_0, 0.0, found)  # the values are no exact identity
    record(weights=found.reshape(T, heads, T).transpose(0, 1))  # (heads, T, T)


def of_past(run, record, heads, x, other, since, four):
    """From position `since` on, x is another: what comes out before must stay as it was."""
    first = run(x, *four, heads).detach()
    changed = torch.cat([x[:, :since], other[:, since:]], 1)
    moved = (run(changed, *four, heads).detach() - first).abs()
    record(earlier_rows_moved_by=float(moved[:, :since].max()))


def of_forward(run, record, heads, x, four):
    own = x.clone()
    record(out=run(own, *four, heads, copy=False))
    record(inputs="as they were" if torch.equal(own, x) else "written into")


def of_slopes(run, record, heads, x, grad, directions, four):
    leaf = x.clone().requires_grad_()

    def with_weights(w_q, w_k, w_v, w_o):
        return run(x, w_q, w_k, w_v, w_o, heads)

    out = run(leaf, *four, heads, copy=False)
    found = torch.autograd.grad(out, leaf, grad)[0] if out.grad_fn is not None else "none"
    record(grad_x=found)
    named = dict(zip(NAMES, four))
    found = weight_slopes(with_weights, grad, dict(zip(NAMES, directions)), **named)
    record(**{"slopes_" + name: found[name] for name in reversed(NAMES)})


def runs(learner):
    def run(x, w_q, w_k, w_v, w_o, heads, copy=True):
        four = copied(w_q, w_k, w_v, w_o) if not w_q.requires_grad else (w_q, w_k, w_v, w_o)
        return learner.run_multihead_self_attention(
            d_model=x.shape[-1],
            num_heads=heads,
            q_proj_weight=four[0],
            k_proj_weight=four[1],
            v_proj_weight=four[2],
            o_proj_weight=four[3],
            in_features=x.clone() if copy else x,
        )

    return run


def own_columns(learner, record, batch, T, heads, d_model):
    of_own_columns(runs(learner), record, batch, T, heads, d_model)


def projections(learner, record, heads, w_v, w_o):
    of_projections(runs(learner), record, heads, w_v, w_o)


def head_columns(learner, record, heads, x, w_q, w_k):
    of_head_columns(runs(learner), record, heads, x, w_q, w_k)


def weights(learner, record, heads, x, w_q, w_k, w_v):
    of_weights(runs(learner), record, heads, x, w_q, w_k, w_v)


def past(learner, record, heads, x, other, since, w_q, w_k, w_v, w_o):
    of_past(runs(learner), record, heads, x, other, since, (w_q, w_k, w_v, w_o))


def forward(learner, record, heads, x, w_q, w_k, w_v, w_o):
    of_forward(runs(learner), record, heads, x, (w_q, w_k, w_v, w_o))


def slopes(learner, record, heads, x, grad, directions, w_q, w_k, w_v, w_o):
    of_slopes(runs(learner), record, heads, x, grad, directions, (w_q, w_k, w_v, w_o))
