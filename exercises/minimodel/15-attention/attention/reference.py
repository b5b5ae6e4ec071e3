"""Multi-head attention head by head as a sum, y = sum_h P_h x V_h O_h, in float64; gradients by hand.

Variants: "no_transpose" lays the heads' outputs (..., n_heads, T, d_head) out as rows of
n_heads * d_head without moving the axis of the heads back behind the axis of positions;
"model_width" divides the scores by sqrt(d_model) instead of sqrt(d_head); "one_ahead" lets each
position of a causal attention look at the one after it.
"""

import math

import numpy as np
from pack.common import COARSE, by_logsumexp

BASE = 10000.0


def refuse():
    return ValueError("d_model and n_heads do not fit")


def turned(z, T, back=False):
    """RoPE: (..., T, e) with its pairs of columns as complex numbers, turned by their positions."""
    e = z.shape[-1]
    angles = np.arange(T)[:, None] * BASE ** (-2 * np.arange(e // 2) / e)
    pairs = (z[..., 0::2] + 1j * z[..., 1::2]) * np.exp(-1j * angles if back else 1j * angles)
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(z.shape)


def attention(variant, x, w_q, w_k, w_v, w_o, n_heads, causal, use_rope, grad=None):
    """y, the gradients by name, and the intermediates by name."""
    *rows, T, d = x.shape
    e = d // n_heads
    if d % n_heads or (use_rope and e % 2):
        raise refuse()
    flat = x.reshape(-1, T, d)  # (N, T, d)
    per_head = [w.reshape(d, n_heads, e) for w in (w_q, w_k, w_v)]
    q, k, v = (np.einsum("ntd,dhe->nhte", flat, w) for w in per_head)
    projected_q = np.moveaxis(q, 1, 2).reshape(x.shape)
    if use_rope:
        q, k = turned(q, T), turned(k, T)
    scores = np.einsum("nhte,nhse->nhts", q, k)
    root = math.sqrt(d if variant == "model_width" else e)
    scaled = scores / root
    may = np.tri(T, k=variant == "one_ahead", dtype=bool) if causal else np.ones((T, T), bool)
    masked = np.where(may, scaled, -np.inf)
    rise = np.exp(masked - masked.max(-1, keepdims=True))
    probs = rise / rise.sum(-1, keepdims=True)
    if variant in COARSE:
        probs = by_logsumexp(masked, variant)
    context = np.einsum("nhts,nhse->nhte", probs, v)
    moved = context if variant == "no_transpose" else np.moveaxis(context, 1, 2)
    merged = moved.reshape(len(flat), T, d)
    y = np.einsum("ntc,cd->ntd", merged, w_o).reshape(x.shape)
    lead = tuple(rows)
    names = {
        "d_head": e, "sqrt_d_head": math.sqrt(e), "scale": 1 / math.sqrt(e), "n_heads": n_heads,
        "mask": may, "hidden": ~may, "bias": np.where(may, 0.0, -np.inf), "length": T, "d_model": d,
        "scores": scores.reshape(*lead, n_heads, T, T),
        "scaled": scaled.reshape(*lead, n_heads, T, T), "masked": masked.reshape(*lead, n_heads, T, T),
        "probs": probs.reshape(*lead, n_heads, T, T), "context": context.reshape(*lead, n_heads, T, e),
        "context_transposed": np.moveaxis(context, 1, 2).reshape(*lead, T, n_heads, e),
        "merged": merged.reshape(x.shape), "x": x, "w_o": w_o,
        "q": q.reshape(*lead, n_heads, T, e), "k": k.reshape(*lead, n_heads, T, e),
        "v": v.reshape(*lead, n_heads, T, e), "projected_q": projected_q,
    }  # fmt: skip
    if grad is None:
        return y, {}, names
    above = grad.reshape(-1, T, d)
    grads = {"grad_w_o": np.einsum("ntc,ntd->cd", merged, above)}
    d_merged = np.einsum("ntd,cd->ntc", above, w_o)
    if variant == "no_transpose":
        d_context = d_merged.reshape(context.shape)
    else:
        d_context = np.moveaxis(d_merged.reshape(len(flat), T, n_heads, e), 2, 1)
    d_v = np.einsum("nhts,nhte->nhse", probs, d_context)
    d_probs = np.einsum("nhte,nhse->nhts", d_context, v)
    d_scores = probs * (d_probs - (probs * d_probs).sum(-1, keepdims=True)) / root
    d_q, d_k = np.einsum("nhts,nhse->nhte", d_scores, k), np.einsum("nhts,nhte->nhse", d_scores, q)
    if use_rope:
        d_q, d_k = turned(d_q, T, back=True), turned(d_k, T, back=True)
    d_x = np.zeros(flat.shape)
    for name, w, d_head in zip(("w_q", "w_k", "w_v"), per_head, (d_q, d_k, d_v), strict=True):
        grads[f"grad_{name}"] = np.einsum("ntd,nhte->dhe", flat, d_head).reshape(d, d)
        d_x += np.einsum("nhte,dhe->ntd", d_head, w)
    grads["grad_x"] = d_x.reshape(x.shape)
    names["grad_context"], names["grad_merged"] = d_context, d_merged
    names["grad_projected_q"] = np.moveaxis(d_q, 1, 2).reshape(x.shape)
    names["grad_q"], names["grad_k"] = d_q, d_k
    return y, grads, names


def forward(
    out, variant, *, x, w_q, w_k, w_v, w_o, n_heads, causal, use_rope, grad
):  # fmt: skip
    y, grads, names = attention(variant, x, w_q, w_k, w_v, w_o, n_heads, causal, use_rope, grad)
    out.record(y=y, **grads)
    out.name(**names)


def modes(out, variant, **inputs):
    out.record(training_is_like_eval=True)


def parts(out, variant, *, d_model, n_heads, causal, use_rope):
    out.record(shapes=[[d_model, d_model]] * 4, are_parameters=True, parameters=4)
    out.record(are_found=True, are_different=True, seeds_repeat=True)


def heads(out, variant, *, d_model, n_heads):
    raise refuse()


def past(out, variant, *, x, other, since, **rest):
    for name, one in (("before", x), ("after", other)):
        out.record(**{name: attention(variant, one, **rest)[0][..., :since, :]})


def replaced(out, variant, *, x, w_q_2, w_k_2, w_v_2, w_o_2, **rest):
    out.record(y=attention(variant, x, **rest)[0])
    for name, weight in {"w_q": w_q_2, "w_k": w_k_2, "w_v": w_v_2, "w_o": w_o_2}.items():
        rest[name] = weight
        out.record(**{f"y_after_{name}": attention(variant, x, **rest)[0]})


def lengths(out, variant, *, long, short, longer, turned, growing, firsts, **rest):
    inputs = {"long": long, "turned": turned, "short": short, "longer": longer, "again": long}
    inputs.update({f"{i}_first_{T}": growing[:T] for i, T in enumerate(firsts)})
    for name, x in inputs.items():
        out.record(**{name: attention(variant, x, **rest)[0]})


def reach(out, variant, *, x, **rest):
    switches = {"causal": True, "use_rope": False}
    y = attention(variant, x, **rest, **switches)[0]
    out.record(y=y)
    T = len(x)
    touched = np.zeros((T, T), bool)  # (output row, input row)
    for s in range(T):
        changed = x.copy()
        changed[s] *= -1
        other = attention(variant, changed, **rest, **switches)[0]
        touched[:, s] = np.abs(other - y).max(-1) > 1e-4
    last = [int(np.flatnonzero(row)[-1]) if row.any() else 0 for row in touched]
    out.record(last_row_seen=[float(s) for s in last], row_0_sees_up_to=last[0])
    out.record(rows_that_see_the_future=sum(s > t for t, s in enumerate(last)))


def labels(out, variant, *, x, n_heads):
    d = x.shape[-1]
    nothing, same = np.zeros((d, d)), np.eye(d)
    y = attention(variant, x, nothing, nothing, same, same, n_heads, True, False)[0]
    out.record(x=x, y=y)


def widths(out, variant, *, x, w_q, w_k, heads):
    spreads, largest = [], []
    for n_heads in heads:
        zero = np.zeros(w_q.shape)
        inner = attention(variant, x, w_q, w_k, zero, zero, int(n_heads), False, False)[2]
        p = inner["probs"]
        spreads.append(float(np.log(p).std(-1).mean()))
        largest.append(float(p.max(-1).mean()))
    out.record(spreads=spreads, largest=largest)


def peek(out, variant, *, tokens, w_q, w_k, w_v, w_o, lr):
    weights = {"w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o}
    weights = {name: w.astype(np.float64) for name, w in weights.items()}
    one_head, losses = {"n_heads": 1, "causal": True, "use_rope": True}, []
    for ids in tokens:
        x = np.eye(len(w_q))[ids]
        logits = attention(variant, x, **weights, **one_head)[0]
        rise = np.exp(logits[:, :-1] - logits[:, :-1].max(-1, keepdims=True))
        p = rise / rise.sum(-1, keepdims=True)
        wanted = x[:, 1:]
        losses.append(float(-np.log((p * wanted).sum(-1)).mean()))
        grad = np.zeros(x.shape)
        grad[:, :-1] = (p - wanted) / wanted[..., 0].size
        grads = attention(variant, x, **weights, **one_head, grad=grad)[1]
        for name in weights:
            weights[name] = weights[name] - lr * grads[f"grad_{name}"]
    out.record(losses=losses)


def residual(out, variant, *, x, grad, **rest):
    y, grads, _ = attention(variant, x, **rest, grad=grad)
    out.record(total=x + y, **{**grads, "grad_x": grad + grads["grad_x"]})
    for side in ("left", "right"):
        out.record(**{f"grad_{side}": grads["grad_x"], f"grad_beside_{side}": grad})
    out.record(grad_both=grads["grad_x"], grad_beside_both=grads["grad_x"])
