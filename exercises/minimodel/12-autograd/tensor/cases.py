"""Inputs for the Tensor's probes: values away from kinks, ties and zeros, where every slope is defined."""

import numpy as np
from pack.common import distinct, leading, normal

TINY = 1e-12
THOUSAND = 1e3  # in the regime "thousand", of values and of what comes from above


def sizes(rng, count):
    """`count` different sizes, small enough that a whole probe is cheap."""
    return distinct(rng, **{str(i): (3, 7) for i in range(count)})


def shape_for(rng, regime):
    """A shape: () for "scalar", (n,) for "vector", three or more axes for "deep", else (T, d)."""
    if regime == "scalar":
        return ()
    if regime == "deep":
        return (*leading(rng, regime), *sizes(rng, 1))
    return tuple(sizes(rng, 1 if regime == "vector" else 2))


def apart(rng, shape, dtype, scale=1.0):
    """Values of either sign and of size 0.5 to 2, so that none is near 0."""
    sign = rng.choice([-1.0, 1.0], shape)
    return np.asarray(scale * sign * rng.uniform(0.5, 2.0, shape), dtype)


def above_0(drawn):
    """The same arrays with all signs positive."""
    return {name: np.asarray(np.abs(array)) for name, array in drawn.items()}


def untied(rng, shape, dtype, scale=1.0):
    """Different values: no two are closer than 0.1 times `scale`."""
    count = int(np.prod(shape))
    values = 0.2 * rng.permutation(count) + rng.uniform(0, 0.1, count) - 0.1 * count
    return (scale * values).reshape(shape).astype(dtype)


def from_above(regime):
    """The size of gradients."""
    return THOUSAND if regime == "thousand" else 1.0


def made(rng, regime, dtype):
    return {"x": normal(rng, shape_for(rng, regime), dtype)}


def pair(rng, regime, dtype):
    """Two arrays of one shape, or of shapes that broadcast: for "outer" and "deep" both are stretched.

    For "number" all is above 0, so that the gradient of the one value is no sum that cancels.
    """
    T, d = sizes(rng, 2)
    a, b = {
        "row": ((T, d), (d,)),
        "number": ((), (T, d)),
        "outer": ((T, 1), (1, d)),
        "deep": ((T, 1, d), (3, 1, 4, 1)),
    }.get(regime, ((T, d), (T, d)))
    scale = {"tiny": TINY, "thousand": THOUSAND}.get(regime, 1.0)
    drawn = {
        "a": apart(rng, a, dtype, scale),
        "b": apart(rng, b, dtype, scale),
        "grad": normal(rng, np.broadcast_shapes(a, b), dtype, from_above(regime)),
    }
    return above_0(drawn) if regime == "number" else drawn


def add(rng, regime, dtype):
    return pair(rng, regime, dtype)


def subtract(rng, regime, dtype):
    return pair(rng, regime, dtype)


def multiply(rng, regime, dtype):
    return pair(rng, regime, dtype)


def divide(rng, regime, dtype):
    return pair(rng, regime, dtype)


def constants(rng, regime, dtype):
    T, d = sizes(rng, 2)
    return {
        "x": apart(rng, (T, d), dtype),
        "c": apart(rng, (d,), dtype),
        "grad": normal(rng, (T, d), dtype),
    }


def plain(rng, regime, dtype):
    """`c` is a Python number, or an array for "array"."""
    T, d = sizes(rng, 2)
    c = apart(rng, (T, d), dtype) if regime == "array" else float(apart(rng, (), "float64"))
    return {"x": apart(rng, (T, d), dtype), "c": c, "grad": normal(rng, (T, d), dtype)}


def unary(rng, regime, dtype, highest=THOUSAND - 1):
    """x of either sign; for "wide" from -30 to 30, for "thousand" from -1000 to `highest`, but in the first
    column. From -1000 to 999 no even steps meet 0, where relu has no slope.
    """
    shape = shape_for(rng, regime)
    x = apart(rng, shape, dtype, TINY if regime == "tiny" else 1.0)
    low, high = {"wide": (-30.0, 30.0), "thousand": (-THOUSAND, highest)}.get(regime, (0.0, 0.0))
    if high:
        far = x[:, 1:]
        far[...] = rng.permutation(np.linspace(low, high, far.size)).reshape(far.shape)
    return {"x": x, "grad": normal(rng, shape, dtype, from_above(regime))}


def negate(rng, regime, dtype):
    return unary(rng, regime, dtype)


def exp(rng, regime, dtype):
    """At most 80: float32 ends at 88."""
    return unary(rng, regime, dtype, highest=80.0)


def tanh(rng, regime, dtype):
    return unary(rng, regime, dtype)


def sigmoid(rng, regime, dtype):
    return unary(rng, regime, dtype)


def relu(rng, regime, dtype):
    return unary(rng, regime, dtype)


def log(rng, regime, dtype):
    """x > 0."""
    drawn = unary(rng, regime, dtype)
    return {**drawn, "x": np.abs(drawn["x"])}


def sqrt(rng, regime, dtype):
    return log(rng, regime, dtype)


def power(rng, regime, dtype):
    """Plain numbers as exponents; the base is positive for "fraction"."""
    shape = shape_for(rng, regime)
    x = apart(rng, shape, dtype)
    return {
        "x": np.abs(x) if regime == "fraction" else x,
        "exponents": [0.5, -0.5, 1.5, -2.0] if regime == "fraction" else [2, 1, 3, -1, -2],
        "grad": normal(rng, shape, dtype),
    }


def matmul(rng, regime, dtype):
    n, k, m = sizes(rng, 3)
    B = int(rng.integers(3, 5))
    a, b = {
        "weights": ((2, B, n, k), (k, m)),
        "batch": ((B, n, k), (B, k, m)),
        "stretched": ((n, k), (B, k, m)),
        "outer": ((B, 1, n, k), (2, k, m)),
        "single": ((1, 1), (1, 1)),
    }.get(regime, ((n, k), (k, m)))
    lead = np.broadcast_shapes(a[:-2], b[:-2])
    scale = from_above(regime)
    return {
        "a": normal(rng, a, dtype, scale),
        "b": normal(rng, b, dtype, scale),
        "grad": normal(rng, (*lead, a[-2], b[-1]), dtype, scale),
    }


AXES = {
    "first": 0,
    "last": -1,
    "middle": -2,
    "kept": 2,
    "first_kept": 0,
    "last_kept": -1,
    "middle_kept": -2,
}  # None, for all, elsewhere


def reduced(rng, regime, dtype):
    """`keepdims` is True in the regimes whose names end in "kept"."""
    shape = shape_for(rng, "deep" if regime in ("middle", "kept", "middle_kept") else regime)
    axis, keepdims = AXES.get(regime), regime.endswith("kept")
    over = tuple(range(len(shape))) if axis is None else (axis % len(shape),)
    left = [1 if i in over else n for i, n in enumerate(shape) if keepdims or i not in over]
    scale = from_above(regime)
    return {
        "x": untied(rng, shape, dtype, scale),
        "axis": axis,
        "keepdims": keepdims,
        "grad": normal(rng, tuple(left), dtype, scale),
    }


def sums(rng, regime, dtype):
    return reduced(rng, regime, dtype)


def means(rng, regime, dtype):
    return reduced(rng, regime, dtype)


def maxima(rng, regime, dtype):
    return reduced(rng, regime, dtype)


def softmax(rng, regime, dtype):
    """`dim` is None where it is left out, which is the last axis.

    For "wide" the numbers of a row lie far apart, but the largest does not outweigh all others: where it
    does, the gradient is what is left of two numbers of the same size, which is little. For "thousand" a
    row lies around 1000, or around -1000, or two of its numbers around the one and the rest around the other.
    """
    shape = (2, 3, 5) if regime == "deep" else shape_for(rng, regime)
    dim = {"first": 0, "deep": 1}.get(regime)
    x = normal(rng, shape, dtype)
    if regime == "wide":
        wide, step = (20.0, 6.0) if dtype == "float64" else (4.0, 4.0)
        wide = min(wide, step * (shape[-1] - 1) / 2)
        x = rng.permuted(np.broadcast_to(np.linspace(-wide, wide, shape[-1]), shape), axis=-1)
        x = x.astype(dtype) + normal(rng, shape, dtype, 0.1)
    if regime == "thousand":
        level = np.full(shape, -THOUSAND)
        level[:-1, :2] = THOUSAND
        level[0] = THOUSAND
        x = (rng.permuted(level, axis=-1) + x).astype(dtype)
    return {"x": x, "dim": dim, "grad": normal(rng, shape, dtype, from_above(regime))}


def reshape(rng, regime, dtype):
    """`shape` may hold one -1."""
    n, m = sizes(rng, 2)
    old, new = {
        "split": ((n, 2 * m), (n, 2, m)),
        "merged": ((n, 2, m), (-1, m)),
        "flat": ((n, m), (-1,)),
    }.get(regime, ((2 * n, m), (2, -1)))
    return {
        "x": normal(rng, old, dtype),
        "shape": list(new),
        "grad": normal(rng, old, dtype).reshape(new),
    }


def transpose(rng, regime, dtype):
    """`axes` is a permutation, for "deep" one that is not its own inverse; `swap` are two axes."""
    axes, swap, shape = [1, 0], [0, 1], sizes(rng, 2)
    if regime == "deep":
        axes = [[1, 2, 0], [2, 0, 1], [3, 0, 1, 2], [1, 3, 0, 2]][int(rng.integers(4))]
        swap, shape = [2, 0], [3, 5, 4, 7][: len(axes)]
    swapped = list(shape)
    swapped[swap[0]], swapped[swap[1]] = shape[swap[1]], shape[swap[0]]
    return {
        "x": normal(rng, shape, dtype),
        "axes": axes,
        "swap": swap,
        "grad": normal(rng, [shape[i] for i in axes], dtype),
        "swap_grad": normal(rng, swapped, dtype),
    }


def index(rng, regime, dtype):
    """An integer, a slice, and both at once: x[i], x[start:stop], x[start:stop, j], x[:, start:]."""
    T, d = sizes(rng, 2)
    shape = (T, d, 2) if regime == "deep" else (T, d)
    start = int(rng.integers(0, 2))
    stop = int(rng.integers(start + 1, T))
    x = normal(rng, shape, dtype)
    return {
        "x": x,
        "i": int(rng.integers(T)),
        "j": int(rng.integers(d)),
        "start": start,
        "stop": stop,
    }


def lookup(rng, regime, dtype):
    """Integer arrays as indices, in which some element is named twice."""
    T, d = sizes(rng, 2)
    N = int(rng.integers(4, 7))
    ids = rng.integers(0, T, (2, N) if regime == "table" else N)
    ids[..., 1] = ids[..., 0]
    columns = None
    if regime == "pairs":
        columns = rng.integers(0, d, N)
        columns[1] = columns[0]
    left = ids.shape if regime == "pairs" else (*ids.shape, d)
    return {
        "x": normal(rng, (T, d), dtype),
        "ids": ids,
        "columns": columns,
        "grad": normal(rng, left, dtype),
    }


def shared(rng, regime, dtype):
    """w lies in -0.7 to -0.3: there no value and no slope of these expressions is near 0."""
    shape = () if regime == "scalar" else tuple(sizes(rng, 2))
    return {
        "x": apart(rng, shape, dtype),
        "w": np.asarray(-rng.uniform(0.3, 0.7, shape), dtype),
        "grad": normal(rng, shape, dtype),
    }


def accumulation(rng, regime, dtype):
    shape = shape_for(rng, regime)
    return above_0({name: apart(rng, shape, dtype) for name in ("a", "b", "grad", "more_grad")})


def loss(rng, regime, dtype):
    return {
        "x": apart(rng, shape_for(rng, regime), dtype),
        "grad": np.asarray(rng.uniform(0.5, 2.0), dtype),
    }


def unseeded(rng, regime, dtype):
    return made(rng, regime, dtype)


def offered(rng, regime, dtype):
    T, d, m = sizes(rng, 3)
    x = apart(rng, (T, d), dtype)
    x[0, 0], x[-1, -1] = abs(x[0, 0]), -abs(x[-1, -1])  # of either sign
    return {
        "x": x,
        "deep": untied(rng, (int(rng.integers(2, 5)), T, d), dtype),
        "positive": np.abs(apart(rng, (T, d), dtype)),
        "row": apart(rng, (d,), dtype),
        "other_row": apart(rng, (d,), dtype),
        "weight": apart(rng, (d, m), dtype),
        "i": int(rng.integers(1, T)),
    }
