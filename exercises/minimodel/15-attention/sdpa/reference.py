"""Attention over the keys that each query may look at, in float64; gradients by hand.

Variants: "no_scale" leaves out the division by sqrt(d); "mask_after" takes the softmax over all
keys and then sets what is masked to 0, so that a row no longer sums to 1; "shallow_mask" gives
masked scores the value -1e4 and takes the softmax over all keys. What COARSE names is right, and keeps
fewer digits.
"""

import math

import numpy as np
from pack.common import COARSE, by_logsumexp

SHALLOW = -1e4


def attention(variant, q, k, v, mask, grad=None):
    """y, (grad_q, grad_k, grad_v) or None, and the intermediates by name.

    A query that may look at nothing gives 0.
    """
    *rows, T, d = q.shape
    root = math.sqrt(d)
    divisor = 1.0 if variant == "no_scale" else root
    may = np.ones((*rows, T, T), bool) if mask is None else np.broadcast_to(mask, (*rows, T, T))
    scores = np.einsum("...td,...sd->...ts", q, k)
    here, rivals, counts = scores / divisor, may, may  # rivals: keys in the denominator
    if variant in ("mask_after", "shallow_mask"):
        rivals = np.ones_like(may)
    if variant == "shallow_mask":
        here, counts = np.where(may, here, SHALLOW), rivals
    blind = ~may.any(-1, keepdims=True)
    peak = np.max(here, -1, where=rivals, initial=-np.inf, keepdims=True)
    ratios = np.where(rivals, np.exp(np.where(rivals, here - peak, 0.0)), 0.0)  # to the largest
    share = np.where(blind, 0.0, ratios / np.where(blind, 1.0, ratios.sum(-1, keepdims=True)))
    if variant in COARSE:
        share = np.where(blind, 0.0, by_logsumexp(np.where(blind | may, here, -np.inf), variant))
    probs = np.where(counts, share, 0.0)
    y = np.einsum("...ts,...sd->...td", probs, v)
    grads, grad_scaled = None, np.zeros(may.shape)
    if grad is not None:
        grad_share = np.where(counts, np.einsum("...td,...sd->...ts", grad, v), 0.0)
        carried = (share * grad_share).sum(-1, keepdims=True)
        grad_scaled = share * (grad_share - carried)  # the softmax's Jacobian, row by row
        if variant == "shallow_mask":  # a score that was written over passes nothing on
            grad_scaled = grad_scaled * may
        grads = (
            np.einsum("...ts,...sd->...td", grad_scaled, k) / divisor,
            np.einsum("...ts,...td->...sd", grad_scaled, q) / divisor,
            np.einsum("...ts,...td->...sd", probs, grad),
        )
    scaled = scores / root
    names = {
        "scores": scores, "scale": 1.0 / root, "scaled": scaled, "probs": probs, "context": y,
        "d_head": d, "sqrt_d_head": root, "grad_scaled": grad_scaled, "grad_scores": grad_scaled / root,
        "mask": may, "masked": np.where(may, scaled, -np.inf), "bias": np.where(may, 0.0, -np.inf),
        "minus_inf": -np.inf, "minus_1e30": -1e30, "minus_1e9": -1e9,
        "lowest": float(np.finfo(q.dtype).min), "hidden": ~may,
    }  # fmt: skip
    return y, grads, names


def forward(out, variant, *, q, k, v, mask, grad):
    y, (grad_q, grad_k, grad_v), names = attention(variant, q, k, v, mask, grad)
    out.record(y=y, grad_q=grad_q, grad_k=grad_k, grad_v=grad_v)
    out.name(q=q, k=k, v=v, k_transposed=np.swapaxes(k, -1, -2), **names)


def viewed(out, variant, *, q, k, v, mask, grad):
    forward(out, variant, q=q, k=k, v=v, mask=mask, grad=grad)


def shared(out, variant, *, x, mask, grad):
    y, grads, _ = attention(variant, x, x, x, mask, grad)
    out.record(y=y, grad_x=sum(grads))


def twice(out, variant, *, q_1, k_1, v_1, mask_1, q_2, k_2, v_2, mask_2):
    first = attention(variant, q_1, k_1, v_1, mask_1)[0]
    out.record(y_1=first, y_2=attention(variant, q_2, k_2, v_2, mask_2)[0])
    out.record(y_2_no_mask=attention(variant, q_2, k_2, v_2, None)[0], y_1_again=first)


def asked(out, variant, *, q, k, v, mask, grad):
    grads = attention(variant, q, k, v, mask, grad)[1]
    out.record(**{f"grad_{name}": g for name, g in zip("qkv", grads)})


def abreast(out, variant, *, q_1, k_1, v_1, mask_1, grad_1, q_2, k_2, v_2, mask_2, grad_2):
    drawn = ((q_1, k_1, v_1, mask_1, grad_1), (q_2, k_2, v_2, mask_2, grad_2))
    for i, one in enumerate(drawn, 1):
        grads = attention(variant, *one)[1]
        out.record(**{f"grad_{name}_{i}": g for name, g in zip("qkv", grads)})


def blind(out, variant, *, q, k, v, mask):
    y = attention(variant, q, k, v, mask)[0]
    out.record(shape=list(y.shape), seeing=y[np.broadcast_to(mask.any(-1), y.shape[:-1])])


def weights(variant, q, k, mask=None):
    return attention(variant, q, k, np.zeros(q.shape), mask)[2]["probs"]


def sharpness(out, variant, *, q, k, widths):
    largest, entropies = [], []
    for d in widths:
        d = int(d)
        p = weights(variant, q[..., :d], k[..., :d])
        logs = np.log(np.where(p > 0, p, 1.0))
        largest.append(float(p.max(-1).mean()))
        entropies.append(float(-(p * logs).sum(-1).mean()))
        out.record(score_spread=float(logs.std(-1).mean()))
    out.record(largest=largest, entropies=entropies)


def row_sums(out, variant, *, q, k):
    p = weights(variant, q, k, np.tri(len(q), dtype=bool))
    out.record(row_sums=[float(total) for total in p.sum(-1)], beyond_the_mask=0.0)


def future(out, variant, *, q, k, v, other_k, other_v, louder):
    mask = np.tri(len(q), dtype=bool)
    changed = k.copy()
    changed[-1] = other_k
    first = attention(variant, q, k, v, mask)[0][0]
    by_key = np.abs(attention(variant, q, changed, v, mask)[0][0] - first).max()
    out.record(first_row=first, change_by_key=float(by_key), change_by_value=0.0)
    kept = []
    for score in louder:
        changed[-1] = score * q[0] * math.sqrt(q.shape[-1]) / (q[0] @ q[0])
        p = weights(variant, q, changed, mask)
        kept.append(float(p[0, 0]))
    out.record(first_row_kept=kept)


def floor(out, variant, *, q, k, visible):
    p = np.tri(len(q), dtype=bool)
    kept = []
    for score in visible:
        queries = (q * score).astype(np.float64)
        kept.append(float(weights(variant, queries, k, p)[0, 0]))
    out.record(kept=kept)


def outputs(out, variant, *, q, k, v, cuts, causal):
    found = []
    for T, d in cuts:
        three = (a[..., :T, :d].astype(np.float64) for a in (q, k, v))
        y = attention(variant, *three, np.tri(T, dtype=bool) if causal else None)[0]
        found.append(float(np.sqrt(((y[..., 0, :] if causal else y) ** 2).mean())))
    out.record(sizes=found, first_size=found[0], last_size=found[-1])


def louder(out, variant, *, q, k, v, other_v, factors):
    mask = np.tri(len(q), dtype=bool)
    moved = []
    for factor in factors.astype(np.float64):
        row, other = (
            attention(variant, factor * q, factor * k, a, mask)[0][0] for a in (v, other_v)
        )
        moved.append(float(np.abs(other - row).max()))
    out.record(moved=moved, moved_at_the_start=moved[0], moved_at_the_end=moved[-1])
