"""Runs the learner's Transformer block. Each call gets a new dict of weights: adapters rename its keys."""

import torch
from pack.attention.call import weight_slopes

KEYS = {
    "w_q": "attn.q_proj.weight",
    "w_k": "attn.k_proj.weight",
    "w_v": "attn.v_proj.weight",
    "w_o": "attn.output_proj.weight",
    "ln_1": "ln1.weight",
    "w_1": "ffn.w1.weight",
    "w_2": "ffn.w2.weight",
    "w_3": "ffn.w3.weight",
    "ln_2": "ln2.weight",
}


def named(own):
    """The course's names; a tensor that asks for a gradient stays itself."""
    return {KEYS[name]: w if w.requires_grad else w.clone() for name, w in own.items()}


def run(learner, x, heads, theta, max_seq_len, own):
    return learner.run_transformer_block(
        d_model=x.shape[-1],
        num_heads=heads,
        d_ff=len(own["w_1"]),
        max_seq_len=max_seq_len,
        theta=theta,
        weights=named(own),
        in_features=x,
    )


def forward(learner, record, x, heads, theta, max_seq_len, **own):
    given = x.clone()
    record(out=run(learner, given, heads, theta, max_seq_len, own))
    record(inputs="as they were" if torch.equal(given, x) else "written into")


def residuals(learner, record, x, heads, theta, max_seq_len, **own):
    """A half that adds nothing must leave the stream as it is. Which one takes it away?"""

    def gone(*zero):
        weights = own | {name: torch.zeros_like(own[name]) for name in zero}
        return not run(learner, x.clone(), heads, theta, max_seq_len, weights).detach().any()

    both = gone("w_o", "w_2")
    record(residual_around_attention="missing" if both and gone("w_o") else "there")
    record(residual_around_ffn="missing" if both and gone("w_2") else "there")


def past(learner, record, x, heads, theta, max_seq_len, other, since, **own):
    """From position `since` on, x is another: what comes out before must stay as it was."""
    first = run(learner, x.clone(), heads, theta, max_seq_len, own).detach()
    changed = torch.cat([x[:, :since], other[:, since:]], 1)
    moved = run(learner, changed, heads, theta, max_seq_len, own).detach() - first
    record(earlier_rows_moved_by=float(moved[:, :since].abs().max()))


def slopes(learner, record, x, heads, theta, max_seq_len, grad, d_x, **rest):
    """Derivatives of sum(out * grad) along three directions of x and of each weight."""
    own = {name: rest[name] for name in KEYS}
    directions = {name: rest["d_" + name] for name in KEYS}
    leaf = x.clone().requires_grad_()
    out = run(learner, leaf, heads, theta, max_seq_len, own)
    found = "none: the result has no graph"
    if out.grad_fn is not None:
        found = (torch.autograd.grad(out, leaf, grad)[0] * d_x).flatten(1).sum(1)
    record(slopes_x=found)

    def with_weights(**weights):
        return run(learner, x.clone(), heads, theta, max_seq_len, weights)

    found = weight_slopes(with_weights, grad, directions, **own)
    record(**{"slopes_" + name: one for name, one in found.items()})
