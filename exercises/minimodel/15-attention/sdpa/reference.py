"""Attention one query at a time, over the keys that it may look at, in float64; gradients by hand.

Variants: "no_scale" leaves out the division by sqrt(d); "mask_after" takes the softmax over all
keys and then sets what is masked to 0, so that a row no longer sums to 1; "shallow_mask" gives
masked scores the value -1e4 and takes the softmax over all keys.
"""

import math

import numpy as np

SHALLOW = -1e4


def attention(variant, q, k, v, mask, grad=None):
    """y, (grad_q, grad_k, grad_v) or None, and the intermediates by name.

    A query that may look at nothing gives 0.
    """
    *rows, T, d = q.shape
    root = math.sqrt(d)
    divisor = 1.0 if variant == "no_scale" else root
    may = np.ones((*rows, T, T), bool) if mask is None else np.broadcast_to(mask, (*rows, T, T))
    scores, probs, y = np.zeros(may.shape), np.zeros(may.shape), np.zeros(v.shape)
    grad_q, grad_k, grad_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    grad_scaled = np.zeros(may.shape)
    for at in np.ndindex(*rows):
        for t in range(T):
            seen = np.flatnonzero(may[*at, t])  # keys whose values count
            scores[*at, t] = [float(sum(q[*at, t] * k[*at, s])) for s in range(T)]
            if not len(seen):
                continue
            rivals, here = seen, scores[*at, t] / divisor  # rivals: keys in the denominator
            if variant in ("mask_after", "shallow_mask"):
                rivals = np.arange(T)
            if variant == "shallow_mask":
                here = np.where(may[*at, t], here, SHALLOW)
                seen = rivals
            here = here[rivals]
            share = np.zeros(T)
            with np.errstate(over="ignore"):  # beyond 1e308 in the denominator the share is 0
                share[rivals] = [1 / np.exp(here - one).sum() for one in here]
            probs[*at, t, seen] = share[seen]
            y[*at, t] = probs[*at, t] @ v[*at]
            if grad is None:
                continue
            g = grad[*at, t]
            grad_v[*at] += np.outer(probs[*at, t], g)
            grad_share = np.zeros(T)
            grad_share[seen] = v[*at, seen] @ g
            jacobian = np.diag(share) - np.outer(share, share)  # d share / d scaled
            by_score = jacobian @ grad_share
            if variant == "shallow_mask":  # a score that was written over passes nothing on
                by_score = by_score * may[*at, t]
            grad_scaled[*at, t] = by_score
            grad_q[*at, t] += by_score @ k[*at] / divisor
            grad_k[*at] += np.outer(by_score, q[*at, t]) / divisor
    scaled = scores / root
    names = {
        "scores": scores, "scale": 1.0 / root, "scaled": scaled, "probs": probs, "context": y,
        "d_head": d, "sqrt_d_head": root, "grad_scaled": grad_scaled, "grad_scores": grad_scaled / root,
        "mask": may, "masked": np.where(may, scaled, -np.inf), "bias": np.where(may, 0.0, -np.inf),
        "minus_inf": -np.inf, "minus_1e30": -1e30, "minus_1e9": -1e9,
        "lowest": float(np.finfo(q.dtype).min), "hidden": ~may,
    }  # fmt: skip
    return y, None if grad is None else (grad_q, grad_k, grad_v), names


def forward(out, variant, *, q, k, v, mask, grad):
    y, (grad_q, grad_k, grad_v), names = attention(variant, q, k, v, mask, grad)
    out.record(y=y, grad_q=grad_q, grad_k=grad_k, grad_v=grad_v)
    out.name(q=q, k=k, v=v, k_transposed=np.swapaxes(k, -1, -2), **names)


def shared(out, variant, *, x, mask, grad):
    y, grads, _ = attention(variant, x, x, x, mask, grad)
    out.record(y=y, grad_x=sum(grads))


def twice(out, variant, *, q_1, k_1, v_1, mask_1, q_2, k_2, v_2, mask_2):
    first = attention(variant, q_1, k_1, v_1, mask_1)[0]
    out.record(y_1=first, y_2=attention(variant, q_2, k_2, v_2, mask_2)[0])
    out.record(y_2_no_mask=attention(variant, q_2, k_2, v_2, None)[0], y_1_again=first)


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
