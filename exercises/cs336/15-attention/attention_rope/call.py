"""Runs the learner's multi-head self-attention with RoPE."""

import torch
from pack.attention import call as shared
from pack.calls import copied


def runs(learner, positions, theta, max_seq_len):
    def run(x, w_q, w_k, w_v, w_o, heads, copy=True):
        four = copied(w_q, w_k, w_v, w_o) if not w_q.requires_grad else (w_q, w_k, w_v, w_o)
        at = {} if positions is None else {"token_positions": positions.clone()}
        return learner.run_multihead_self_attention_with_rope(
            d_model=x.shape[-1],
            num_heads=heads,
            max_seq_len=max_seq_len,
            theta=theta,
            q_proj_weight=four[0],
            k_proj_weight=four[1],
            v_proj_weight=four[2],
            o_proj_weight=four[3],
            in_features=x.clone() if copy else x,
            **at,
        )

    return run


def own_columns(learner, record, batch, T, heads, d_model, **at):
    shared.of_own_columns(runs(learner, **at), record, batch, T, heads, d_model)


def projections(learner, record, heads, w_v, w_o, **at):
    shared.of_projections(runs(learner, **at), record, heads, w_v, w_o)


def head_columns(learner, record, heads, x, w_q, w_k, **at):
    shared.of_head_columns(runs(learner, **at), record, heads, x, w_q, w_k)


def weights(learner, record, heads, x, w_q, w_k, w_v, **at):
    shared.of_weights(runs(learner, **at), record, heads, x, w_q, w_k, w_v)


def past(learner, record, heads, x, other, since, w_q, w_k, w_v, w_o, **at):
    shared.of_past(runs(learner, **at), record, heads, x, other, since, (w_q, w_k, w_v, w_o))


def forward(learner, record, heads, x, w_q, w_k, w_v, w_o, **at):
    shared.of_forward(runs(learner, **at), record, heads, x, (w_q, w_k, w_v, w_o))


def slopes(learner, record, heads, x, grad, directions, w_q, w_k, w_v, w_o, **at):
    four = w_q, w_k, w_v, w_o
    shared.of_slopes(runs(learner, **at), record, heads, x, grad, directions, four)


def shifted(learner, record, heads, x, w_q, w_k, w_v, w_o, theta, max_seq_len, shift):
    """The same sequence at positions 0, 1, 2 ... and `shift` further along."""
    four = w_q, w_k, w_v, w_o
    here = torch.arange(x.shape[-2])[None]
    first = runs(learner, here, theta, max_seq_len)(x, *four, heads).detach()
    second = runs(learner, here + shift, theta, max_seq_len)(x, *four, heads).detach()
    record(moved_by=float((second - first).abs().max()))
