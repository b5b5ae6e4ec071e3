"""softmax(q k^T / sqrt(d)) v, where a hidden key takes no part in the softmax; gradients by hand.

Variant: "no_max" takes the exponentials of the scores as they are, in float32.
"""

import numpy as np
from pack.attending import exact, softmax, weights_of
from pack.softmax.reference import weights_of as softmax_of


def weights(out, variant, *, q, k, v, mask):
    q, k = exact(q, k)
    found = weights_of(q, k, mask)
    if mask is not None:
        out.within(weight_on_hidden_keys=(-1e-6, 1e-6))
        inverted = weights_of(q, k, ~mask)
        out.name(weights_of_the_hidden_keys=inverted)
        after = weights_of(q, k, mask, after=True)
        out.name(masked_after_the_softmax=after, sums_masked_after_the_softmax=after.sum(-1))
        scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
        out.name(weights_without_the_mask=weights_of(q, k))
        out.name(hidden_scores_set_to_0=softmax(np.where(mask, scores, 0.0)))
    over = weights_of(q, k, over=-2)
    out.record(sums_of_rows=found.sum(-1), weights=found)
    out.name(softmax_over_the_queries=over, sums_of_a_softmax_over_the_queries=over.sum(-1))
    out.name(softmax_over_the_batch=weights_of(q, k, over=0), d_k=q.shape[-1])
    out.name(sqrt_of_d_k_over_the_number_of_keys=np.sqrt(q.shape[-1] / k.shape[-2]))
    out.name(scores=q @ np.swapaxes(k, -1, -2))


def forward(out, variant, *, q, k, v, mask, grad):
    q, k, v, grad = exact(q, k, v, grad)
    share = weights_of(q, k, mask)
    d_share = grad @ np.swapaxes(v, -1, -2)
    d_scores = share * (d_share - (share * d_share).sum(-1, keepdims=True)) / np.sqrt(q.shape[-1])
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    seen = softmax_of(scores, -1, variant)
    out.record(out=seen @ v, inputs="as they were", grad_v=np.swapaxes(share, -1, -2) @ grad)
    out.record(grad_q=d_scores @ k, grad_k=np.swapaxes(d_scores, -1, -2) @ q)
    wrong = {"without_scale": weights_of(q, k, mask, scale=1.0)}
    wrong["softmax_over_the_queries"] = weights_of(q, k, over=-2)
    if mask is not None:
        wrong["without_the_mask"] = weights_of(q, k)
        wrong["masked_after_the_softmax"] = weights_of(q, k, mask, after=True)
    out.name(**{name: one @ v for name, one in wrong.items()})
    highest = scores.max(-1, keepdims=True)
    out.name(scaled=scores, highest=highest, lowered=scores - highest)
