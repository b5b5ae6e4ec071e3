"""Tokens plus positions as one product: [one-hot of the token, one-hot of the place] times the two
tables, one below the other. The waves come from a rotation that is applied T times.

Variant "by_width" multiplies the tokens by d and not by its root.
"""

import numpy as np
from pack.common import one_hot


def fixed(n, d):
    """The sinusoidal table (n, d), each row the row before turned by one step."""
    speed = 10000.0 ** -(2.0 * np.arange((d + 1) // 2) / d)
    wave = np.ones((n, len(speed)), dtype=complex)
    wave[1:] = np.exp(1j * speed)
    wave = np.cumprod(wave, axis=0)
    return np.stack([wave.imag, wave.real], -1).reshape(n, -1)[:, :d]


def factor_of(scale, d, variant=None):
    """What the tokens are multiplied by."""
    return 1.0 if not scale else float(d) if variant == "by_width" else d**0.5


def positions(pos, places, T, d):
    return {"learned": places, "sinusoidal": fixed(T, d), None: np.zeros((T, d))}[pos][:T]


def vectors(pos, scale, tokens, places, ids, variant=None):
    """(..., T) -> (..., T, d)"""
    T, d = ids.shape[-1], tokens.shape[1]
    y = factor_of(scale, d, variant) * (one_hot(ids, len(tokens)) @ tokens.astype(np.float64))
    return y + positions(pos, places, T, d)


def back(scale, max_seq_len, V, ids, grad, variant=None):
    """The gradients of both tables."""
    T, d = grad.shape[-2:]
    factor = factor_of(scale, d, variant)
    of_tokens = factor * one_hot(ids.reshape(-1), V).T @ grad.reshape(-1, d)
    of_places = np.eye(T, max_seq_len).T @ grad.reshape(-1, T, d).sum(0)
    return of_tokens, of_places


def start(out, variant, *, pos, scale, max_seq_len, vocab_size, embed_dim):
    out.record(parameters=2 if pos == "learned" else 1)
    out.record(token_shape=[vocab_size, embed_dim], token_is_found=True)
    if pos == "learned":
        out.record(position_shape=[max_seq_len, embed_dim], position_is_found=True)


def defaults(out, variant, *, tokens, ids):
    T, d = ids.shape[-1], tokens.shape[1]
    y = vectors("learned", False, tokens, tokens[ids[0]], ids, variant)
    out.record(position_shape=[512, d], y=y)
    out.name(length=T)


def forward(out, variant, *, pos, scale, max_seq_len, tokens, places, ids, grad):
    out.record(y=vectors(pos, scale, tokens, places, ids, variant))
    of_tokens, of_places = back(scale, max_seq_len, len(tokens), ids, grad, variant)
    out.record(grad_tokens=of_tokens)
    if places is not None:
        out.record(grad_places=of_places)
    T, d = ids.shape[-1], tokens.shape[1]
    factor = factor_of(scale, d)
    added = positions(pos, places, T, d)
    out.name(looked_up=tokens[ids], factor=factor, scaled=factor * tokens[ids], d=d)
    out.name(added=added, added_batch=added[None], y=vectors(pos, scale, tokens, places, ids))


def again(
    out, variant, *, pos, scale, max_seq_len, tokens, places, ids, grad,
    more_ids, more_grad, new_tokens,
):  # fmt: skip
    out.record(y=vectors(pos, scale, tokens, places, ids, variant))
    out.record(z=vectors(pos, scale, tokens, places, more_ids, variant))
    one = back(scale, max_seq_len, len(tokens), ids, grad, variant)
    two = back(scale, max_seq_len, len(tokens), more_ids, more_grad, variant)
    out.record(grad_tokens=one[0] + two[0])
    if places is not None:
        out.record(grad_places=one[1] + two[1])
    out.record(changed=vectors(pos, scale, new_tokens, places, ids, variant))


def refused(out, variant, *, pos, scale, max_seq_len, tokens, places, ids):
    out.record(answer="refused")


def beyond(out, variant, *, pos, scale, max_seq_len, tokens, places, ids):
    out.offered(y=vectors(pos, scale, tokens, places, ids, variant))


def parts(out, variant, *, pos, scale, max_seq_len, tokens, places, ids):
    both = vectors(pos, scale, tokens, places, ids, variant)
    alone = vectors(pos, scale, 0 * tokens, places, ids, variant)

    def size(x):
        return float((x**2).mean() ** 0.5)

    out.record(tokens=size(both - alone), positions=size(alone))
    ratio = size(both - alone) / size(alone)
    out.record(ratio=ratio, larger="tokens" if ratio > 1 else "positions")
    out.record(rows=(both - alone)[0, :, 0])
