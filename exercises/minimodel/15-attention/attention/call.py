"""Runs the learner's MultiHeadAttention with given weights."""

import numpy as np


def made(learner, w_q, w_k, w_v, w_o, n_heads, causal=True, use_rope=False):
    """The module with these matrices (d_model, d_model), copied in place."""
    switches = {} if causal and not use_rope else {"causal": causal, "use_rope": use_rope}
    attention = learner.MultiHeadAttention(len(w_q), n_heads, **switches)
    for name, weight in {"w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o}.items():
        getattr(attention, name).data[...] = weight
    return attention


def forward(learner, record, x, w_q, w_k, w_v, w_o, n_heads, causal, use_rope, grad):
    """x: (..., T, d_model). The output, then the gradients of sum(output * grad)."""
    attention = made(learner, w_q, w_k, w_v, w_o, n_heads, causal, use_rope)
    leaf = learner.Tensor(x, requires_grad=True)
    y = attention(leaf)
    record(y=y.data)
    y.backward(grad)
    record(grad_x=leaf.grad)
    for name in ("w_q", "w_k", "w_v", "w_o"):
        record(**{f"grad_{name}": getattr(attention, name).grad})


def parts(learner, record, d_model, n_heads, causal, use_rope):
    """Four square matrices and nothing else that is learned."""
    rng = np.random.default_rng(0)
    attention = learner.MultiHeadAttention(
        d_model, n_heads, causal=causal, use_rope=use_rope, rng=rng
    )
    four = [attention.w_q, attention.w_k, attention.w_v, attention.w_o]
    record(shapes=[list(w.shape) for w in four])
    record(are_parameters=all(isinstance(w, learner.Parameter) for w in four))
    found = list(attention.parameters())
    record(parameters=len(found), are_found=all(any(p is w for p in found) for w in four))
    record(are_different=len({id(w) for w in four}) == 4)
    again = learner.MultiHeadAttention(d_model, n_heads, rng=np.random.default_rng(0))
    others = [again.w_q, again.w_k, again.w_v, again.w_o]
    record(seeds_repeat=all(np.array_equal(a.data, b.data) for a, b in zip(four, others)))


def heads(learner, record, d_model, n_heads):
    """A number of heads that does not fit is refused at construction."""
    learner.MultiHeadAttention(d_model, n_heads)


def past(learner, record, x, other, since, **rest):
    """What comes later changes nothing before it."""
    attention = made(learner, **rest)
    for name, one in (("before", x), ("after", other)):
        record(**{name: attention(learner.Tensor(one)).data[..., :since, :]})


def replaced(learner, record, x, w_q_2, w_k_2, w_v_2, w_o_2, **first):
    """The next forward uses what was copied into the parameters."""
    attention = made(learner, **first)
    record(y=attention(learner.Tensor(x)).data)
    for name, weight in {"w_q": w_q_2, "w_k": w_k_2, "w_v": w_v_2, "w_o": w_o_2}.items():
        getattr(attention, name).data[...] = weight
        record(**{f"y_after_{name}": attention(learner.Tensor(x)).data})


def lengths(learner, record, long, short, longer, **rest):
    """One module, sequences of different lengths."""
    attention = made(learner, **rest)
    for name, x in (("long", long), ("short", short), ("longer", longer), ("again", long)):
        record(**{name: attention(learner.Tensor(x)).data})


def reach(learner, record, x, **rest):
    """For each output row, the last input row that changes it when it is changed."""
    attention = made(learner, **rest)
    y = attention(learner.Tensor(x)).data
    record(y=y)
    last = [0] * len(x)
    for s in range(len(x)):
        changed = x.copy()
        changed[s] = -changed[s]
        moved = np.abs(attention(learner.Tensor(changed)).data - y).max(-1) > 1e-4
        for t in np.flatnonzero(moved):
            last[t] = s
    record(last_row_seen=[float(s) for s in last], row_0_sees_up_to=last[0])
    record(rows_that_see_the_future=sum(s > t for t, s in enumerate(last)))


def labels(learner, record, x, n_heads):
    """Columns that name their head go through attention that changes nothing, and out again."""
    d_model = x.shape[-1]
    same, nothing = np.eye(d_model, dtype=x.dtype), np.zeros((d_model, d_model), dtype=x.dtype)
    attention = made(learner, nothing, nothing, same, same, n_heads)
    record(x=x)
    y = attention(learner.Tensor(x)).data  # equal scores: every head averages equal rows
    record(y=y, change=float(np.abs(y - x).max()))
    first, last = ([round(float(a)) for a in y[t, :: d_model // n_heads]] for t in (0, -1))
    record(heads_in_row_0="-".join(map(str, first)), heads_in_last_row="-".join(map(str, last)))
