"""Rotary positions from first principles: a pair of features is a complex number that is turned.

The pair (a, b) of columns (2i, 2i + 1) is a + bi; multiplying it by e^(i angle) turns it by the
angle. A rotation is linear and keeps lengths, so its gradient is the rotation back.
"""

import numpy as np


def refuse():
    error = ValueError("an even number of features is needed")
    error.mentions = ()
    return error


def angles(positions, d, base=10000.0):
    """(T,) -> (T, d / 2): position times base^(-2i / d)."""
    frequency = np.exp(-np.log(base) * np.arange(0, d, 2) / d)
    return np.multiply.outer(np.asarray(positions, dtype=np.float64), frequency)


def turned(x, angle):
    """x (..., T, d), every pair turned by its angle (T, d / 2)."""
    pairs = x[..., 0::2] + 1j * x[..., 1::2]
    pairs = pairs * np.exp(1j * angle)
    return np.stack([pairs.real, pairs.imag], -1).reshape(x.shape)


def forward(out, variant, *, x, positions, base, grad):
    T, d = x.shape[-2:]
    if d % 2:
        raise refuse()
    angle = angles(np.arange(T) if positions is None else positions, d, base or 10000.0)
    out.record(turned=turned(x, angle), grad_x=turned(grad, -angle))
    even, odd = x[..., 0::2], x[..., 1::2]  # (..., T, d / 2)
    out.name(x=x, angles=angle, frequencies=angles([1], d, base or 10000.0)[0])
    out.name(positions=np.arange(T) if positions is None else positions)
    out.name(cos=np.cos(angle), sin=np.sin(angle), even=even, odd=odd)
    out.name(turned_even=turned(x, angle)[..., 0::2], turned_odd=turned(x, angle)[..., 1::2])


def relative(out, variant, *, q, k, positions, shift):
    """The match of a query at m and a key at n is Re sum_i q_i conj(k_i) e^(i theta_i (m - n))."""
    apart = positions[:, None] - positions[None, :]  # (T, T)
    match = (q[0::2] + 1j * q[1::2]) * (k[0::2] - 1j * k[1::2])  # (d / 2,)
    scores = (match * np.exp(1j * angles(apart, len(q)))).sum(-1).real
    out.record(scores=scores, scores_shifted=scores)
    out.record(length=np.full(len(positions), np.sqrt((q**2).sum())))


def again(out, variant, *, x, longer, wider, positions, base, grad, more_grad):
    T, d = x.shape[-2:]
    here, there = angles(np.arange(T), d), angles(positions, d)
    out.record(first=turned(x, here), other_base=turned(x, angles(np.arange(T), d, base)))
    out.record(longer=turned(longer, angles(np.arange(len(longer)), d)))
    out.record(wider=turned(wider, angles(np.arange(T), wider.shape[-1])))
    out.record(moved=turned(x, there), first_again=turned(x, here))
    out.record(grad_x=turned(grad, -here) + turned(more_grad, -there))
