"""Rotary positions from first principles: a pair of features is a complex number that is turned.

The pair (a, b) of columns (2i, 2i + 1) is a + bi; multiplying it by e^(i angle) turns it by the
angle. A rotation is linear and keeps lengths, so its gradient is the rotation back.

Variant "halves" makes its pairs of the columns i and i + d / 2.
"""

import numpy as np

PAIRS = (slice(0, None, 2), slice(1, None, 2))  # the first columns of all pairs, and the second


def refuse():
    error = ValueError("an even number of features is needed")
    error.mentions = ()
    return error


def angles(positions, d, base=10000.0):
    """(T,) -> (T, d / 2): position times base^(-2i / d)."""
    frequency = np.exp(-np.log(base) * np.arange(0, d, 2) / d)
    return np.multiply.outer(np.asarray(positions, dtype=np.float64), frequency)


def points(x, variant=None):
    """(..., T, d) -> complex (..., T, d / 2), one number for each pair of columns."""
    half = x.shape[-1] // 2
    first, second = (slice(half), slice(half, None)) if variant == "halves" else PAIRS
    return x[..., first] + 1j * x[..., second]


def columns(pairs, variant=None):
    """The way back, complex (..., T, d / 2) -> (..., T, d)."""
    axis = -2 if variant == "halves" else -1
    found = np.stack([pairs.real, pairs.imag], axis)
    return found.reshape(*pairs.shape[:-1], 2 * pairs.shape[-1])


def turned(x, angle, variant=None):
    """x (..., T, d), every pair turned by its angle (T, d / 2)."""
    return columns(points(x, variant) * np.exp(1j * angle), variant)


def forward(out, variant, *, x, positions, base, grad):
    T, d = x.shape[-2:]
    if d % 2:
        raise refuse()
    angle = angles(np.arange(T) if positions is None else positions, d, base or 10000.0)
    out.record(turned=turned(x, angle, variant), grad_x=turned(grad, -angle, variant))
    even, odd = x[..., 0::2], x[..., 1::2]  # (..., T, d / 2)
    right = turned(x, angle)
    out.name(x=x, d=d, angles=angle, frequencies=angles([1], d, base or 10000.0)[0])
    out.name(positions=np.arange(T) if positions is None else positions)
    out.name(cos=np.cos(angle), sin=np.sin(angle), even=even, odd=odd)
    out.name(turned_even=right[..., 0::2], turned_odd=right[..., 1::2])
    out.name(pairs=np.stack([even, odd], -1))
    out.name(turned_pairs=np.stack([right[..., 0::2], right[..., 1::2]], -1))
    out.name(column_angles=np.repeat(angle, 2, -1), partners=np.arange(d) ^ 1)
    out.name(signs=np.where(np.arange(d) % 2 == 0, -1.0, 1.0))


def matches(q, k, apart, variant=None):
    """A query at m and a key at n match by Re sum_i q_i conj(k_i) e^(i theta_i (m - n))."""
    match = points(q, variant) * np.conj(points(k, variant))  # (d / 2,)
    return (match * np.exp(1j * angles(apart, len(q)))).sum(-1).real


def relative(out, variant, *, q, k, positions, shift):
    scores = matches(q, k, positions[:, None] - positions[None, :], variant)  # (T, T)
    out.record(scores=scores, scores_shifted=scores)
    out.record(length=np.full(len(positions), np.sqrt((q**2).sum())))


def looks_back(out, variant, *, d, T, back, shift):
    """Healthy, the score at distance t is sum_i cos(theta_i (t - back)): d / 2 at t = back."""
    key = np.arange(1, d + 1) % 2.0
    query = columns(np.exp(-1j * angles(back, d)))
    scores = matches(query, key, np.arange(T), variant)
    out.record(scores=scores, score=float(scores[back]), shifting_everything_changes="nothing")
    best = int(np.argmax(scores))
    out.record(best=best, peak="there" if best == back else "elsewhere")


def one_column(out, variant, *, d):
    out.record(column_0_into=f"0 {d // 2 if variant == 'halves' else 1}")


def again(out, variant, *, x, longer, wider, growing, firsts, positions, base, grad, more_grad):
    T, d = x.shape[-2:]
    here, there = angles(np.arange(T), d), angles(positions, d)
    first = turned(x, here, variant)
    out.record(first=first, other_base=turned(x, angles(np.arange(T), d, base), variant))
    out.record(next_base=turned(x, angles(np.arange(T), d, base + 0.5), variant))
    out.record(first_across=first)
    out.record(longer=turned(longer, angles(np.arange(len(longer)), d), variant))
    out.record(wider=turned(wider, angles(np.arange(T), wider.shape[-1]), variant))
    for i, n in enumerate(firsts):
        out.record(**{f"{i}_first_{n}": turned(growing[:n], angles(np.arange(n), d), variant)})
    out.record(moved=turned(x, there, variant), first_again=first)
    ends, inner = positions[[0, -1]], positions[1:-1]
    for name, others in (("reordered", inner[::-1]), ("shifted", inner + 1)):
        between = np.concatenate([ends[:1], others, ends[1:]])
        out.record(**{name: turned(x, angles(between, d), variant)})
    out.record(grad_x=turned(grad, -here, variant) + turned(more_grad, -there, variant))


def residual(out, variant, *, x, positions, grad):
    angle = angles(positions, x.shape[-1])
    out.record(total=x + turned(x, angle, variant), grad_x=grad + turned(grad, -angle, variant))
    for side in ("left", "right"):
        out.record(**{f"grad_{side}": turned(grad, -angle, variant), f"grad_beside_{side}": grad})
    out.record(
        grad_both=turned(grad, -angle, variant), grad_beside_both=turned(grad, -angle, variant)
    )


def fractions(out, variant, *, x, positions):
    out.offered(turned=turned(x, angles(positions, x.shape[-1]), variant))
