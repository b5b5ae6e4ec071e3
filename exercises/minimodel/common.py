"""What the pack's cases share: sizes that nobody has shown, and arrays in the learner's dtype."""

from __future__ import annotations

import functools

import numpy as np

SHOWN = {512, 256, 16, 8, 2}  # sizes of the "shown" regime; no other draw uses a V, d or T of these


EQUAL = 6  # of every axis in the regime "equal_sizes": no axis can be told by its length

# Lengths that one module gets in turn: 1, one more than what a table may have room for, and 1 again, as
# after a prompt.
FIRSTS = (1, 9, 11, 17, 33, 65, 101, 129, 1)
LONG = 70_001  # numbers that most code goes through in no time; one more than a judge asks for


REAL = (50_300, 52_000)  # ids of a vocabulary as real models have them: GPT-2 has 50,257
ROWS = {"B": 6000}  # sequences in a batch, where each takes little time


def distinct(rng, largest=None, **ranges):
    """Sizes from inclusive ranges, pairwise different and none of SHOWN, in the order given.

    largest: of one that leans, where what follows takes no more time than so many numbers do; or such
    limits by name.
    """
    if isinstance(largest, dict):
        largest = [largest.get(name) for name in ranges]
    while True:
        sizes = [int(rng.integers(low, high + 1)) for low, high in ranges.values()]
        if len(set(sizes)) == len(sizes) and not SHOWN & set(sizes):
            return leaning(rng, sizes, **({"largest": largest} if largest else {}))


def leaning(rng, sizes, **limit):
    """Sizes, one of them near a number that the code under test mentions, where the draw wants that.

    largest=N: where what follows takes no more time than N numbers do; or a limit for each, None for the
    usual one.
    """
    return rng.leaning(sizes, **limit) if hasattr(rng, "leaning") else sizes


def leans(rng):
    """Whether some size of this draw may be larger than is usual."""
    return hasattr(rng, "leaning") and rng.leant


def normal(rng, shape, dtype, scale=1.0):
    """Normal values of standard deviation `scale`, in the learner's dtype."""
    return np.asarray(scale * rng.standard_normal(shape), dtype)


STEEP = 1e6  # in the regime "steep"


def varied(draw):
    """Cases that are drawn in four regimes more.

    "steep": what comes from above is a million times as large, and so is what comes of it. "gaps": many
    numbers from above and of x, h and v are exactly 0, and so are whole rows, as behind a ReLU, a
    dropout or a slice, and so is a number of each gain. "lone": a single number comes from above, as
    behind `y[0, 2, 1]`. "untrained" and "plain": gains are 1 and biases 0, as a new norm
    has them.
    """

    @functools.wraps(draw)
    def drawn(rng, regime, dtype):
        found = draw(rng, regime, dtype)
        for name, value in found.items():
            if regime == "steep" and name.startswith("grad"):
                found[name] = STEEP * value
            if regime == "gaps" and (name.startswith("grad") or name in ("x", "h", "v")):
                found[name] = holed(rng, value)
            if regime == "gaps" and name.startswith("gain"):
                value[..., rng.integers(value.shape[-1])] = 0.0
            if regime == "lone" and name.startswith("grad"):
                found[name] = lone(rng, value)
            if regime in ("untrained", "plain") and name.startswith(("gain", "bias")):
                found[name] = np.full_like(value, 1.0 if name.startswith("gain") else 0.0)
        return found

    return drawn


def holed(rng, x):
    """x (..., d) with zeros: in every other number of some rows, in all of others, never everywhere."""
    kept = rng.random(x.shape) < rng.choice([0.0, 0.5, 1.0], (*x.shape[:-1], 1))
    kept.reshape(-1)[-1] = True
    return np.where(kept, x, np.zeros_like(x))


def lone(rng, grad):
    """One number of grad (..., T, d), the rest 0. Not at the first position, whose only key gets a
    weight of 1: there gradients of queries and keys are rounding.
    """
    place = [int(rng.integers(n)) for n in grad.shape]
    if grad.ndim > 1 and grad.shape[-2] > 1:
        place[-2] = int(rng.integers(1, grad.shape[-2]))
    kept = np.zeros_like(grad)
    kept[tuple(place)] = grad[tuple(place)]
    return kept


def blank(rng, regime, x):
    """x (..., d) in the regimes "zeros", of which nothing is left, and "zero_rows", in which some rows
    are 0, as of a padding token, and never all.
    """
    if regime == "zeros":
        return np.zeros_like(x)
    if regime == "zero_rows" and x.size > x.shape[-1]:
        gone = rng.random((*x.shape[:-1], 1)) < 0.5
        gone.reshape(-1)[:: gone.size - 1] = [True, False]
        return np.where(gone, np.zeros_like(x), x)
    return x


def leading(rng, regime):
    """The axes before the last: none, one, or several. At most 12 rows in all, but for "large" and
    "equal_sizes".
    """
    if regime == "large":
        return (3, 37)
    if regime == "equal_sizes":
        return EQUAL, EQUAL
    if regime == "no_batch":
        return ()
    if regime == "one_axis":
        return (int(rng.integers(3, 8)),)
    if regime == "single":
        return (1, 1)
    if regime in ("one_first", "one_last"):
        rows = int(rng.integers(3, 6))
        return (1, rows) if regime == "one_first" else (rows, 1)
    if regime == "deep":
        return (2, 1, int(rng.integers(3, 5)))
    return tuple(leaning(rng, (int(rng.integers(2, 4)), int(rng.integers(3, 5))), largest=LONG))


def one_hot(ids, n):
    """ids (...) -> (..., n): 1 where the last axis is at the id. It takes no more room than that, as an
    identity of n rows would where a table is large.
    """
    return (np.asarray(ids)[..., None] == np.arange(n)).astype(np.float64)


# Variants of every reference with a softmax, a GELU or a gate -> what they compute a softmax and a gate in;
# the GELU and the sigmoid are the tanh forms. All are right; `coarse` in pack.yaml names them.
COARSE = {"logsumexp": np.float64, "logsumexp_float32": np.float32}


def less_logsumexp(x, variant):
    """x - logsumexp(x) along the last axis: right, but off by a rounding times the largest of x, where
    subtracting the maximum first is off by a rounding alone.
    """
    x = np.asarray(x, COARSE[variant])
    peak = x.max(-1, keepdims=True)
    above = np.where(np.isfinite(peak), peak, 0)
    total = np.exp(x - above).sum(-1, keepdims=True)
    return (x - (above + np.log(np.where(total > 0, total, 1)))).astype(np.float64)


def by_logsumexp(x, variant):
    """The softmax of the last axis, from `less_logsumexp`."""
    return np.exp(less_logsumexp(x, variant))
