"""Tokens plus positions as one product: [one-hot of the token, one-hot of the place] times the two
tables, one below the other. The sines and cosines come from a rotation that is applied T times.
"""

import numpy as np
from pack.common import one_hot

TURNS = 10000.0


def refuse(kind, *mentions):
    error = kind(" ".join(str(m) for m in mentions))
    error.mentions = mentions
    return error


def fixed(n, d):
    """The sinusoidal table (n, d), each row the row before turned by one step."""
    speed = TURNS ** -(2.0 * np.arange((d + 1) // 2) / d)
    wave = np.ones((n, len(speed)), dtype=complex)
    wave[1:] = np.exp(1j * speed)
    wave = np.cumprod(wave, axis=0)
    return np.stack([wave.imag, wave.real], -1).reshape(n, -1)[:, :d]


def checked(ids, V):
    if ids.dtype.kind not in "iu":
        raise refuse(TypeError)
    outside = ids[(ids < 0) | (ids >= V)]
    if outside.size:
        raise refuse(IndexError, int(outside[0]), V)


def vectors(pos, scale, max_len, tokens, places, ids):
    """(..., T) -> (..., T, d)"""
    checked(ids, len(tokens))
    T, d = ids.shape[-1], tokens.shape[1]
    if pos and max_len < T:
        raise refuse(ValueError)
    factor = d**0.5 if scale else 1.0
    y = factor * (one_hot(ids, len(tokens)) @ tokens.astype(np.float64))
    table = {"learned": places, "sinusoidal": fixed(max_len, d), None: np.zeros((T, d))}[pos]
    return y + table[:T]


def back(scale, max_len, V, ids, grad):
    """The gradients of both tables."""
    T, d = grad.shape[-2:]
    factor = d**0.5 if scale else 1.0
    of_tokens = factor * one_hot(ids.reshape(-1), V).T @ grad.reshape(-1, d)
    of_places = np.eye(T, max_len).T @ grad.reshape(-1, T, d).sum(0)
    return of_tokens, of_places


def start(out, variant, *, pos, scale, max_len, vocab_size, d_model):
    out.record(token_shape=[vocab_size, d_model], token_is_found=True)
    out.record(parameters=2 if pos == "learned" else 1)
    if pos == "learned":
        out.record(position_shape=[max_len, d_model], position_is_found=True)


def spread(out, variant, *, pos, scale, vocab_size, d_model):
    """Of n normal numbers the sd of the standard deviation is (2n)^-0.5: eight of them."""
    each = 8 / (2 * vocab_size * d_model) ** 0.5
    out.within(**{"standard deviation": (1 - each, 1 + each)})


def defaults(out, variant, *, tokens, ids):
    out.record(position_shape=[512, tokens.shape[1]], y=tokens[ids] + tokens[ids[0]])


def forward(out, variant, *, pos, scale, max_len, tokens, places, ids, grad):
    out.record(y=vectors(pos, scale, max_len, tokens, places, ids))
    of_tokens, of_places = back(scale, max_len, len(tokens), ids, grad)
    out.record(grad_tokens=of_tokens)
    if places is not None:
        out.record(grad_places=of_places)
    factor = tokens.shape[1] ** 0.5 if scale else 1.0
    out.name(looked_up=tokens[ids], factor=factor, scaled=factor * tokens[ids])
    if places is not None:
        out.name(positions=places[: ids.shape[-1]])


def again(
    out, variant, *, pos, scale, max_len, tokens, places, ids, grad,
    more_ids, more_grad, new_tokens, new_places,
):  # fmt: skip
    out.record(y=vectors(pos, scale, max_len, tokens, places, ids))
    out.record(z=vectors(pos, scale, max_len, tokens, places, more_ids))
    one = back(scale, max_len, len(tokens), ids, grad)
    two = back(scale, max_len, len(tokens), more_ids, more_grad)
    out.record(grad_tokens=one[0] + two[0])
    if places is not None:
        out.record(grad_places=one[1] + two[1])
    if pos == "learned":
        T, d = ids.shape[-1], tokens.shape[1]
        out.record(places_alone=np.broadcast_to(new_places[:T], (*ids.shape, d)))
    out.record(changed=vectors(pos, scale, max_len, new_tokens, new_places, ids))


def refused(out, variant, *, pos, scale, max_len, tokens, places, ids):
    out.record(y=vectors(pos, scale, max_len, tokens, places, ids))
