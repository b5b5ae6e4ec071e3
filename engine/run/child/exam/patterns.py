"""Draws whose numbers follow a pattern: what random numbers never are, and real ones often.

No two of a thousand normal numbers are alike, none is 0 or a whole number, no row is another one's
double. Whoever special-cases such inputs is right on all that are merely random. Sent to the
child at the level exam: standard library, numpy when it is there.
"""

from __future__ import annotations

try:
    import numpy
except ImportError:  # a learner's interpreter without it, in which nothing is drawn
    numpy = None

FEW = 3  # different numbers among ids, at most
PEAK = 300.0  # times as large, in "peak"
ALL = 0.5  # how often all arrays follow the pattern
SPREAD = 3.0  # decades up and down, in "spread"
ASIDE = 30.0  # standard deviations, in "aside"


def patterned(rng, inputs, which):
    """Inputs of which one array, or all arrays, follow the pattern of that number; None when there is
    nothing that can.
    """
    names = [name for name, value in inputs.items() if _fit(value)]
    if not names:
        return None
    chosen = names if rng.random() < ALL else [names[int(rng.integers(len(names)))]]
    made = dict(inputs)
    for name in chosen:
        x = inputs[name]
        change = FLOATS[which % len(FLOATS)] if x.dtype.kind == "f" else IDS[which % len(IDS)]
        changed = numpy.array(change(rng, x)).astype(x.dtype)
        if (x > 0).all():  # limits and rates, which have to be
            changed = numpy.where(changed > 0, changed, x)
        made[name] = changed
    same = all(numpy.array_equal(made[name], inputs[name]) for name in chosen)
    return None if same else made


def _fit(value):
    """An array of more than one number, floats or ids."""
    return isinstance(value, numpy.ndarray) and value.dtype.kind in "fiu" and value.size > 1


def _size(x):
    return float(numpy.abs(x).max()) or 1.0


def _no_larger(x, changed):
    """The same pattern with numbers that go no further than those of x, of which there may be vast ones:
    right code that squares them must not overflow for the pattern's sake.
    """
    return changed * min(1.0, _size(x) / _size(changed))


def whole(rng, x):
    """Whole numbers, few and small ones: many are alike, some are 0, some are the mean of their row."""
    return numpy.rint(4 * x / _size(x))


def signs(rng, x):
    """One size, two signs."""
    return numpy.where(x < 0, -1.0, 1.0) * float(numpy.median(numpy.abs(x)))


def lone(rng, x):
    """A single number that is not 0."""
    kept = numpy.zeros_like(x)
    place = int(rng.integers(x.size))
    kept.reshape(-1)[place] = x.reshape(-1)[place]
    return kept


def level(rng, x):
    """Rows of one number each."""
    return numpy.broadcast_to(x[..., :1], x.shape)


def alike(rng, x):
    """Every row the same."""
    row = x.reshape(-1, x.shape[-1])[int(rng.integers(x.size // x.shape[-1]))]
    return numpy.broadcast_to(row, x.shape)


def rising(rng, x):
    """Each row in order, upwards or downwards."""
    ordered = numpy.sort(x, axis=-1)
    return ordered if rng.random() < 0.5 else ordered[..., ::-1]


def one_sided(rng, x):
    """No number of the other sign."""
    return numpy.abs(x) if rng.random() < 0.5 else -numpy.abs(x)


def blank_rows(rng, x):
    """Rows of 0 among others; blank columns, where there is one row."""
    axis = -1 if x.size > x.shape[-1] else 0
    shape = (*x.shape[:-1], 1) if axis else x.shape
    kept = rng.random(shape) < 0.5
    kept.reshape(-1)[int(rng.integers(kept.size))] = True
    return numpy.where(kept, x, 0.0)


def spread(rng, x):
    """Rows of very different sizes."""
    return _no_larger(x, x * 10.0 ** rng.uniform(-SPREAD, SPREAD, (*x.shape[:-1], 1)))


def peak(rng, x):
    """One number beside which the others are small."""
    peaked = x.copy()
    peaked.reshape(-1)[int(rng.integers(x.size))] *= PEAK
    return _no_larger(x, peaked)


def balanced(rng, x):
    """Rows that add up to 0, each number beside its negative."""
    half = x.shape[-1] // 2
    return numpy.concatenate([x[..., :half], x[..., 2 * half :] * 0.0, -x[..., :half]], axis=-1)


def aside(rng, x):
    """Far from 0, beside which the differences are small."""
    return _no_larger(x, x + ASIDE * float(x.std() or 1.0))


def doubled(rng, x):
    """Each row twice, or each number, one after the other."""
    if x.ndim > 1 and x.shape[-2] > 1 and rng.random() < 0.5:
        return numpy.repeat(x, 2, axis=-2)[..., : x.shape[-2], :]
    return numpy.repeat(x.reshape(-1), 2)[: x.size].reshape(x.shape)


def smaller(rng, x):
    """A millionth."""
    return x * 1e-6


FLOATS = (
    whole, lone, signs, level, alike, rising, one_sided, blank_rows, spread, peak, balanced, aside,
    doubled, smaller,
)  # fmt: skip


def all_one(rng, ids):
    """One of them only."""
    return numpy.full_like(ids, rng.choice(ids.reshape(-1)))


def few(rng, ids):
    """A few of them only."""
    return rng.choice(rng.choice(ids.reshape(-1), FEW), ids.shape)


def in_order(rng, ids):
    """Sorted, over the whole array."""
    return numpy.sort(ids, axis=None).reshape(ids.shape)


def extreme(rng, ids):
    """The least and the greatest only."""
    return numpy.where(rng.random(ids.shape) < 0.5, ids.min(), ids.max())


def rows_alike(rng, ids):
    """Every row the same."""
    return numpy.broadcast_to(ids.reshape(-1, ids.shape[-1])[0], ids.shape)


def turns(rng, ids):
    """Two of them, in turn."""
    first, second = rng.choice(ids.reshape(-1), 2)
    return numpy.where(numpy.arange(ids.size).reshape(ids.shape) % 2, first, second)


IDS = (all_one, few, in_order, extreme, rows_alike, turns)
