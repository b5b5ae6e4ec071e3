"""What the references of attention, the block and the whole model share, in float64.

A function takes the names of mistakes, so that a reference can name what would come out of them.
"""

from __future__ import annotations

import numpy as np

EPS = 1e-5


def exact(*arrays):
    return [None if a is None else np.asarray(a, np.float64) for a in arrays]


def softmax(scores, axis=-1):
    rise = np.exp(scores - scores.max(axis, keepdims=True))
    return rise / rise.sum(axis, keepdims=True)


def frequencies(d, theta):
    return theta ** (-np.arange(0, d, 2) / d)  # (d / 2,)


def rope(x, positions, theta, *, halves=False, back=False):
    """x: (..., T, d), positions: (..., T). Pairs of columns (2i, 2i + 1), or with `halves` (i, i + d / 2)."""
    d = x.shape[-1]
    angle = np.asarray(positions)[..., None] * frequencies(d, theta)  # (..., T, d / 2)
    one, two = (x[..., : d // 2], x[..., d // 2 :]) if halves else (x[..., 0::2], x[..., 1::2])
    pairs = (one + 1j * two) * np.exp(-1j * angle if back else 1j * angle)
    parts = np.stack([pairs.real, pairs.imag], -2 if halves else -1)
    return parts.reshape(x.shape)


def weights_of(q, k, mask=None, *, scale=None, over=-1, after=False):
    """(..., T, d), (..., S, d) -> (..., T, S). mask: True may look. after: it comes after the softmax."""
    scores = q @ np.swapaxes(k, -1, -2) / (np.sqrt(q.shape[-1]) if scale is None else scale)
    if mask is None:
        return softmax(scores, over)
    if after:
        return softmax(scores, over) * mask
    return softmax(np.where(mask, scores, -np.inf), over)


def split(x, heads):
    """(..., T, heads * e) -> (..., heads, T, e)."""
    return np.swapaxes(x.reshape(*x.shape[:-1], heads, -1), -2, -3)


def merge(x):
    """(..., heads, T, e) -> (..., T, heads * e)."""
    return np.swapaxes(x, -2, -3).reshape(*x.shape[:-3], x.shape[-2], -1)


def attention(x, w_q, w_k, w_v, w_o, heads, positions=None, theta=None, *, wrong=""):
    """Causal attention of several heads, x: (..., T, d) -> (..., T, d), and the weights (..., heads, T, T).

    positions: (..., T), of the sequences; None without RoPE.
    """
    T, d = x.shape[-2:]
    if wrong == "q_and_k_exchanged":
        w_q, w_k = w_k, w_q
    if wrong == "k_projected_by_w_q":
        w_k = w_q
    if wrong == "q_projected_by_w_k":
        w_q = w_k
    if wrong == "interleaved_heads":
        w_q, w_k, w_v = (
            w.reshape(-1, heads, d).swapaxes(0, 1).reshape(-1, d) for w in (w_q, w_k, w_v)
        )
    q, k, v = x @ w_q.T, x @ w_k.T, x @ w_v.T
    if positions is not None and wrong == "rope_over_d_model":
        q, k = rope(q, positions, theta), rope(k, positions, theta)
    q, k, v = split(q, heads), split(k, heads), split(v, heads)
    if positions is not None and wrong not in ("rope_over_d_model", "without_rope"):
        at = np.asarray(positions)[..., None, :]
        halves = wrong == "halves_instead_of_neighbours"
        q = rope(q, at, theta, halves=halves)
        k = k if wrong == "rope_on_q_only" else rope(k, at, theta, halves=halves)
        v = rope(v, at, theta) if wrong == "rope_on_v_too" else v
    mask = None if wrong == "without_causal_mask" else np.tri(T, dtype=bool)
    scale = {"scaled_by_d_model": np.sqrt(d), "without_scale": 1.0}.get(wrong)
    weights = weights_of(q, k, mask, scale=scale)
    merged = merge(weights @ v)
    return (merged if wrong == "without_output_projection" else merged @ w_o.T), weights


def rmsnorm(x, gain):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPS) * gain


def swiglu(x, w_1, w_2, w_3, *, wrong=""):
    if wrong == "w1_and_w3_exchanged":
        w_1, w_3 = w_3, w_1
    one, three = x @ w_1.T, x @ w_3.T
    gate = one / (1 + np.exp(-one))
    return (gate if wrong == "without_gate" else gate * three) @ w_2.T


IN_BLOCK = ("w_q", "w_k", "w_v", "w_o", "ln_1", "w_1", "w_2", "w_3", "ln_2")
ATTENTION = ("w_q", "w_k", "w_v", "w_o")


def block(x, heads, theta, own, *, wrong=""):
    """x: (..., T, d) -> (..., T, d) and what is known on the way. own: weights by name, as in IN_BLOCK."""
    positions = np.arange(x.shape[-2])
    four = [own[name] for name in ATTENTION]
    three = [own[name] for name in ("w_1", "w_2", "w_3")]
    gain_1, gain_2 = own["ln_1"], own["ln_2"]
    if wrong == "norms_exchanged":
        gain_1, gain_2 = gain_2, gain_1
    if wrong == "post_norm":
        middle = rmsnorm(x + attention(x, *four, heads, positions, theta)[0], gain_1)
        return rmsnorm(middle + swiglu(middle, *three), gain_2), {}
    read = x if wrong == "without_first_norm" else rmsnorm(x, gain_1)
    found = attention(read, *four, heads, positions, theta, wrong=wrong)[0]
    onto = read if wrong == "residual_from_the_normed_input" else x
    middle = found if wrong == "without_first_residual" else onto + found
    source = x if wrong == "ffn_reads_the_block_input" else middle
    normed = source if wrong == "without_second_norm" else rmsnorm(source, gain_2)
    added = swiglu(normed, *three, wrong=wrong)
    onto = {
        "second_residual_from_the_block_input": x,
        "second_residual_from_the_normed": normed,
    }.get(wrong, middle)
    out = added if wrong == "without_second_residual" else onto + added
    return out, {"attention_out": found, "after_attention": middle, "ffn_out": added}


IN_ATTENTION_WRONG = (
    "without_causal_mask", "without_scale", "scaled_by_d_model", "q_and_k_exchanged",
    "k_projected_by_w_q", "q_projected_by_w_k",
    "interleaved_heads", "without_output_projection",
)  # fmt: skip
IN_ROPE_WRONG = (
    "without_rope", "halves_instead_of_neighbours", "rope_over_d_model", "rope_on_q_only", "rope_on_v_too",
)  # fmt: skip
IN_BLOCK_WRONG = (
    "post_norm", "without_first_norm", "without_second_norm", "norms_exchanged",
    "without_first_residual", "without_second_residual", "residual_from_the_normed_input",
    "ffn_reads_the_block_input", "second_residual_from_the_block_input",
    "second_residual_from_the_normed", "w1_and_w3_exchanged", "without_gate",
)  # fmt: skip


def layers_of(own):
    """Stacked weights by name, (layers, ...) each -> a dict for each layer."""
    return [{name: own[name][i] for name in IN_BLOCK} for i in range(len(own["w_q"]))]


def lm(ids, heads, theta, own, *, wrong=""):
    """ids: (..., T) -> logits (..., T, V). own: as IN_BLOCK, stacked, and "table", "ln_final", "head"."""
    stream = own["table"][ids]
    layers = layers_of(own)
    if wrong == "layers_in_reverse":
        layers = layers[::-1]
    if wrong == "first_layer_everywhere":
        layers = layers[:1] * len(layers)
    if wrong == "only_the_first_layer":
        layers = layers[:1]
    if wrong == "without_the_last_layer":
        layers = layers[:-1]
    for one in layers:
        stream = block(stream, heads, theta, one, wrong=wrong)[0]
    normed = stream if wrong == "without_final_norm" else rmsnorm(stream, own["ln_final"])
    logits = normed @ (own["table"] if wrong == "head_is_the_embedding" else own["head"]).T
    return softmax(logits) if wrong == "probabilities_instead_of_logits" else logits


IN_LM_WRONG = (
    "without_final_norm", "head_is_the_embedding", "probabilities_instead_of_logits",
    "layers_in_reverse", "first_layer_everywhere", "only_the_first_layer", "without_the_last_layer",
)  # fmt: skip


def slopes(total, weight, directions, step=1e-6):
    """The derivative of total(weight), a number, along each of the directions (n, *weight.shape)."""
    return np.array(
        [(total(weight + step * d) - total(weight - step * d)) / (2 * step) for d in directions]
    )
