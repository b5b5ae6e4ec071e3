"""Runs the learner's multi-head self-attention."""

from pack import attended
from pack.calls import copied


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
    attended.own_columns(runs(learner), record, batch, T, heads, d_model)


def projections(learner, record, heads, w_v, w_o):
    attended.projections(runs(learner), record, heads, w_v, w_o)


def head_columns(learner, record, heads, x, w_q, w_k):
    attended.head_columns(runs(learner), record, heads, x, w_q, w_k)


def weights(learner, record, heads, x, w_q, w_k, w_v):
    attended.weights(runs(learner), record, heads, x, w_q, w_k, w_v)


def past(learner, record, heads, x, other, since, w_q, w_k, w_v, w_o):
    attended.past(runs(learner), record, heads, x, other, since, (w_q, w_k, w_v, w_o))


def forward(learner, record, heads, x, w_q, w_k, w_v, w_o):
    attended.forward(runs(learner), record, heads, x, (w_q, w_k, w_v, w_o))


def slopes(learner, record, heads, x, grad, directions, w_q, w_k, w_v, w_o):
    attended.slopes(runs(learner), record, heads, x, grad, directions, (w_q, w_k, w_v, w_o))
