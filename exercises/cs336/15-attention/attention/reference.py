"""Causal multi-head attention, y = sum over the heads of P_h x V_h^T O_h^T."""

import numpy as np
from pack.attending import ATTENTION, IN_ATTENTION_WRONG, attention, exact, merge
from pack.attending import slopes as along

NOT_MOVED = (0.0, 1e-5)


def own_columns(out, variant, *, batch, T, heads, d_model, **_):
    numbers = np.arange(1.0, d_model + 1)
    x = np.broadcast_to(numbers, (batch, T, d_model)).copy()
    out.record(first_position="sees itself", column_numbers=x)
    split = x.reshape(batch, heads, T, -1)
    seen = np.cumsum(split, -2) / np.arange(1, T + 1)[:, None]
    everything = np.broadcast_to(split.mean(-2, keepdims=True), split.shape)
    out.name(heads_split_without_transposing=merge(seen))
    out.name(heads_split_without_transposing_and_no_mask=merge(everything))
    e = d_model // heads
    there = np.broadcast_to(x.reshape(batch, T, heads, e).swapaxes(1, 2), (batch, heads, T, e))
    out.name(
        heads_merged_without_transposing_back=there.reshape(x.shape), d_model=d_model, heads=heads
    )


def projections(out, variant, *, heads, w_v, w_o, **_):
    w_v, w_o = exact(w_v, w_o)
    out.record(w_v="is applied", w_o="is applied", through_w_v=w_v.T, through_w_o=w_o.T)
    out.name(w_v_not_transposed=w_v, w_o_not_transposed=w_o)


def head_columns(out, variant, *, heads, x, w_q, w_k, **_):
    e = x.shape[-1] // heads
    out.record(columns_of_head_1=" ".join(str(c) for c in range(e, 2 * e)))


def weights(
    out,
    variant,
    *,
    heads,
    x,
    w_q,
    w_k,
    w_v,
    positions=None,
    theta=None,
    wrongs=IN_ATTENTION_WRONG,
    **_,
):
    x, w_q, w_k = exact(x, w_q, w_k)
    d = x.shape[-1]
    four = w_q, w_k, np.eye(d), np.eye(d)
    out.record(weights=attention(x, *four, heads, positions, theta)[1][0])
    for wrong in wrongs:
        out.name(**{wrong: attention(x, *four, heads, positions, theta, wrong=wrong)[1][0]})
    out.name(d_head=d // heads, d_model=d, sqrt_of_d_head_over_d_model=heads**-0.5)


def past(out, variant, **_):
    out.within(earlier_rows_moved_by=NOT_MOVED)


def forward(
    out,
    variant,
    *,
    heads,
    x,
    w_q,
    w_k,
    w_v,
    w_o,
    positions=None,
    theta=None,
    wrongs=IN_ATTENTION_WRONG,
    **_,
):
    x, *four = exact(x, w_q, w_k, w_v, w_o)
    out.record(out=attention(x, *four, heads, positions, theta)[0], inputs="as they were")
    for wrong in wrongs:
        out.name(**{wrong: attention(x, *four, heads, positions, theta, wrong=wrong)[0]})


def slopes(
    out, variant, *, heads, x, grad, directions, w_q, w_k, w_v, w_o, positions=None, theta=None, **_
):
    x, grad, directions, *four = exact(x, grad, directions, w_q, w_k, w_v, w_o)
    weights = dict(zip(ATTENTION, four))

    def total(**changed):
        y = attention(changed.pop("x", x), *(weights | changed).values(), heads, positions, theta)[
            0
        ]
        return float((y * grad).sum())

    d_x = np.zeros(x.size)
    for i in range(x.size):
        step = np.zeros(x.size)
        step[i] = 1.0
        d_x[i] = along(lambda a: total(x=a), x, [step.reshape(x.shape)])[0]
    out.record(grad_x=d_x.reshape(x.shape))
    for name, some in reversed([*zip(ATTENTION, directions)]):
        found = along(lambda w, name=name: total(**{name: w}), weights[name], some)
        out.record(**{"slopes_" + name: found})
