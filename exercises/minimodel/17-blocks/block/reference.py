"""The Pre-LN block from first principles, with its gradients by hand, and two bugs.

Variant "missing_residual": attn(ln_1(x)) takes the place of x + attn(ln_1(x)); the second sum stays.
Variant "post_ln": both norms stand behind their sums, h = ln_1(x + attn(x)), out = ln_2(h + ffn(h)).

Which GELU a learner wrote does not matter here. Wherever values are compared, cases.py puts b_1 so
far from zero that no hidden value can come within 10 of it: what enters the FFN is normalised, so its
length is bounded whatever x is, and a unit is on or off for good. There the exact GELU and its tanh
form are equal to the last digit. `composed` draws ordinary weights and measures, in the learner's
process, how far the block is from the same sum of the learner's own four parts; that is 0 in any form.
"""

import numpy as np
from pack.common import COARSE, by_logsumexp
from pack.ffn.reference import feed_forward
from pack.rope.reference import angles, turned

EPS = 1e-5
FFN = ("w_1", "b_1", "w_2", "b_2")


def summed(a):
    """All axes but the last are summed."""
    return a.sum(tuple(range(a.ndim - 1)))


def layer_norm(x, gain, bias):
    centred = x - x.mean(-1, keepdims=True)
    std = np.sqrt((centred**2).mean(-1, keepdims=True) + EPS)
    unit = centred / std

    def back(grad):
        d_unit = grad * gain
        along = (d_unit * unit).mean(-1, keepdims=True)
        d_x = (d_unit - d_unit.mean(-1, keepdims=True) - unit * along) / std
        return d_x, summed(grad * unit), summed(grad)

    return unit * gain + bias, back


def product(x, d_y):
    """Gradient of w in y = x @ w."""
    lead = tuple(range(x.ndim - 1))
    return np.tensordot(x, d_y, (lead, lead))


def attention(x, w_q, w_k, w_v, w_o, n_heads, variant=None):
    """Causal, with RoPE, one head after the other. x: (..., T, d)"""
    T, d = x.shape[-2:]
    size = d // n_heads
    angle = angles(np.arange(T), size)
    later = np.triu(np.ones((T, T), dtype=bool), 1)  # keys that a query may not see
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    joined, kept = np.empty_like(x), []
    for j in range(n_heads):
        own = slice(j * size, (j + 1) * size)
        qj, kj, vj = turned(q[..., own], angle), turned(k[..., own], angle), v[..., own]
        scores = np.where(later, -np.inf, qj @ np.swapaxes(kj, -1, -2) / np.sqrt(size))
        p = np.exp(scores - scores.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)  # (..., T, T)
        if variant in COARSE:
            p = by_logsumexp(scores, variant)
        joined[..., own] = p @ vj
        kept.append((own, qj, kj, vj, p))

    def back(grad):
        d_joined = grad @ w_o.T
        d_q, d_k, d_v = np.empty_like(x), np.empty_like(x), np.empty_like(x)
        for own, qj, kj, vj, p in kept:
            d_own = d_joined[..., own]
            d_v[..., own] = np.swapaxes(p, -1, -2) @ d_own
            d_p = d_own @ np.swapaxes(vj, -1, -2)
            d_scores = p * (d_p - (d_p * p).sum(-1, keepdims=True)) / np.sqrt(size)
            d_q[..., own] = turned(d_scores @ kj, -angle)
            d_k[..., own] = turned(np.swapaxes(d_scores, -1, -2) @ qj, -angle)
        d_x = d_q @ w_q.T + d_k @ w_k.T + d_v @ w_v.T
        return d_x, product(x, d_q), product(x, d_k), product(x, d_v), product(joined, grad)

    return joined @ w_o, back


def transformer_block(variant, x, n_heads, weights):
    """The values on the way, and the function from the gradient of the output to all gradients."""
    if variant == "post_ln":
        return post_ln_block(x, n_heads, weights)
    keeps = 0.0 if variant == "missing_residual" else 1.0
    normed_1, back_norm_1 = layer_norm(x, weights["gain_1"], weights["bias_1"])
    projections = [weights[name] for name in ("w_q", "w_k", "w_v", "w_o")]
    attn_out, back_attn = attention(normed_1, *projections, n_heads, variant)
    after_attn = keeps * x + attn_out
    normed_2, back_norm_2 = layer_norm(after_attn, weights["gain_2"], weights["bias_2"])
    inner, back_ffn = feed_forward(normed_2, *(weights[name] for name in FFN), variant)
    ffn_out = inner["out"]

    def back(grad):
        found = back_ffn(grad)
        grads = {name: found[name] for name in FFN}
        d_after, grads["gain_2"], grads["bias_2"] = back_norm_2(found["x"])
        d_after = d_after + grad
        d_normed, *d_projections = back_attn(d_after)
        grads.update(zip(("w_q", "w_k", "w_v", "w_o"), d_projections))
        d_x, grads["gain_1"], grads["bias_1"] = back_norm_1(d_normed)
        grads["x"] = keeps * d_after + d_x
        return grads

    values = {"x": x, "normed_1": normed_1, "attn_out": attn_out, "after_attn": after_attn}
    values |= {"normed_2": normed_2, "ffn_out": ffn_out, "out": after_attn + ffn_out}
    return values, back


def post_ln_block(x, n_heads, weights):
    """The same with each norm behind its sum: what is normalised is the stream itself."""
    projections = [weights[name] for name in ("w_q", "w_k", "w_v", "w_o")]
    attn_out, back_attn = attention(x, *projections, n_heads)
    h, back_norm_1 = layer_norm(x + attn_out, weights["gain_1"], weights["bias_1"])
    inner, back_ffn = feed_forward(h, *(weights[name] for name in FFN))
    y, back_norm_2 = layer_norm(h + inner["out"], weights["gain_2"], weights["bias_2"])

    def back(grad):
        d_sum, gain_2, bias_2 = back_norm_2(grad)
        found = back_ffn(d_sum)
        grads = {name: found[name] for name in FFN} | {"gain_2": gain_2, "bias_2": bias_2}
        d_sum, grads["gain_1"], grads["bias_1"] = back_norm_1(d_sum + found["x"])
        d_x, *d_projections = back_attn(d_sum)
        grads.update(zip(("w_q", "w_k", "w_v", "w_o"), d_projections))
        grads["x"] = d_sum + d_x
        return grads

    return {"x": x, "attn_out": attn_out, "out": y}, back


def attributes(out, variant, *, d_model, n_heads, d_ff):
    square = [d_model, d_model]
    out.record(gain_1=[d_model], bias_1=[d_model], w_q=square, w_k=square, w_v=square, w_o=square)
    out.record(gain_2=[d_model], bias_2=[d_model], w_1=[d_model, d_ff], b_1=[d_ff])
    out.record(w_2=[d_ff, d_model], b_2=[d_model], parameters=12)
    out.record(numbers=4 * d_model + 4 * d_model**2 + 2 * d_model * d_ff + d_ff + d_model)
    out.record(seeds_repeat=True)


def forward(out, variant, *, x, grad, n_heads, **weights):
    values, back = transformer_block(variant, x, n_heads, weights)
    out.record(out=values["out"])
    out.record(**{f"grad_{name}": value for name, value in back(grad).items()})
    out.name(**values)


def twice(out, variant, *, x, grad, n_heads, **weights):
    first, back_first = transformer_block(variant, x, n_heads, weights)
    second, back_second = transformer_block(variant, first["out"], n_heads, weights)
    last = back_second(grad)
    found = back_first(last["x"])
    out.record(out=second["out"], grad_x=found["x"])
    out.record(**{f"grad_{name}": found[name] + last[name] for name in weights})


def modes(out, variant, **inputs):
    out.record(training_is_like_eval=True)


def future(out, variant, *, x, later, n_heads, **weights):
    """Rows before the last are what they are without it."""
    values, _ = transformer_block(variant, x[..., :-1, :], n_heads, weights)
    out.record(before=values["out"], before_again=values["out"])


def again(out, variant, *, x, longer, grad, more_grad, n_heads, **weights):
    own = {name: value for name, value in weights.items() if not name.startswith("other_")}
    other = {name: weights[f"other_{name}"] for name in own}
    first, back_first = transformer_block(variant, x, n_heads, own)
    second, back_second = transformer_block(variant, longer, n_heads, own)
    third, _ = transformer_block(variant, x, n_heads, other)
    one, two = back_first(grad), back_second(more_grad)
    out.record(first=first["out"], longer=second["out"], first_again=first["out"])
    for name in own:
        out.record(**{f"grad_{name}": one[name] + two[name]})
    out.record(other_weights=third["out"], of_a_parameter=third["out"])


def composed(out, variant, *, x, grad, n_heads, **weights):
    out.record(distance_out=0.0, distance_grad_x=0.0)
    out.record(**{f"distance_{name}_afterwards": 0.0 for name in ("ln_1", "attn", "ln_2", "ffn")})
    for name in weights:
        out.record(**{f"distance_grad_{name}": 0.0})


def alike(a, b):
    """The mean over rows of the cosine of the angle between a and b. (N, d) each"""
    unit_a = a / np.linalg.norm(a, axis=-1, keepdims=True)
    unit_b = b / np.linalg.norm(b, axis=-1, keepdims=True)
    return float(np.einsum("nd,nd->", unit_a, unit_b) / len(a))


def between(h):
    """The mean cosine between two different rows of h (T, d)."""
    unit = h / np.linalg.norm(h, axis=-1, keepdims=True)
    T = len(h)
    return float(((unit.sum(0) ** 2).sum() - T) / (T * (T - 1)))


def layers(weights):
    """One dict of weights a block, from arrays with the blocks along their first axis."""
    return [dict(zip(weights, parts)) for parts in zip(*weights.values())]


def stack(out, variant, *, x, n_heads, **weights):
    h, like_the_input, positions_alike, size = x, [1.0], [between(x)], [float(x.std())]
    for own in layers(weights):
        h = transformer_block(variant, h, n_heads, own)[0]["out"]
        like_the_input.append(alike(h, x))
        positions_alike.append(between(h))
        size.append(float(h.std()))
    out.record(out=h, like_the_input=like_the_input, positions_alike=positions_alike, size=size)
    out.record(like_the_input_at_the_end=like_the_input[-1])
    out.record(positions_alike_at_the_end=positions_alike[-1], size_at_the_end=size[-1])


def silent(out, variant, *, x, n_heads, **weights):
    values, _ = transformer_block(variant, x.astype(np.float64), n_heads, weights)
    out.record(out=values["out"], size=float(np.sqrt((values["out"] ** 2).mean())))


def other_sum(out, variant, *, x, n_heads, **weights):
    positions_alike = []
    for s, h in enumerate(x):
        positions_alike.append([])
        for own in layers({name: a[s] for name, a in weights.items()}):
            h = transformer_block(None, h, n_heads, own)[0]["ffn_out"]
            positions_alike[-1].append(between(h))
    out.record(positions_alike=np.array(positions_alike))


def gradients(out, variant, *, x, grad, n_heads, **weights):
    h, backs = x, []
    for own in layers(weights):
        values, back = transformer_block(variant, h, n_heads, own)
        h = values["out"]
        backs.append(back)
    norms = [float(np.linalg.norm(grad))]
    for back in reversed(backs):
        grad = back(grad)["x"]
        norms.append(float(np.linalg.norm(grad)))
    out.record(grad_x=grad, norms=norms, at_the_output=norms[0], at_the_input=norms[-1])
