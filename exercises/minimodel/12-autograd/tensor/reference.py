"""Tensor's operations from first principles.

Wherever elements are only copied, moved or added up, one table says it all: for each element of one
array, the number of the element of another that it belongs to. Values and gradients are then sums
over such a table, and nothing here knows of broadcasting rules, axes to restore or inverse orders.
"""

import numpy as np
from pack.common import COARSE, by_logsumexp

FAINT = 1e-30  # as in call.py


def numbered(shape):
    """The elements of an array of this shape, numbered in reading order."""
    return np.arange(int(np.prod(shape))).reshape(shape)


def gathered(parts, places, shape):
    """Add each of `parts` to the element of an array of `shape` that `places` numbers."""
    parts = np.broadcast_to(parts, places.shape)
    found = np.bincount(places.ravel(), parts.ravel(), minlength=int(np.prod(shape)))
    return found.reshape(shape)


def stretched(shape, to):
    """For each element of the broadcast shape `to`, the number of the element that is copied there."""
    return np.broadcast_to(numbered(shape), to)


def made(out, variant, *, x):
    out.record(data=x, shape=list(x.shape), ndim=x.ndim, grad_is_empty=True, arrays=True)
    out.record(total_shape=[], total_ndim=0)


# ---------------------------------------------------------------- + - * /

ARITHMETIC = {  # the value, and its slopes in a and in b
    "sum": (lambda a, b: a + b, lambda a, b: 1.0, lambda a, b: 1.0),
    "difference": (lambda a, b: a - b, lambda a, b: 1.0, lambda a, b: -1.0),
    "product": (lambda a, b: a * b, lambda a, b: b, lambda a, b: a),
    "quotient": (lambda a, b: a / b, lambda a, b: 1 / b, lambda a, b: -a / b**2),
}


def pair(out, name, a, b, grad):
    value, in_a, in_b = ARITHMETIC[name]
    A, B = np.broadcast_arrays(a, b)
    out.record(y=value(A, B))
    out.record(grad_a=gathered(grad * in_a(A, B), stretched(a.shape, A.shape), a.shape))
    out.record(grad_b=gathered(grad * in_b(A, B), stretched(b.shape, A.shape), b.shape))


def add(out, variant, *, a, b, grad):
    pair(out, "sum", a, b, grad)


def subtract(out, variant, *, a, b, grad):
    pair(out, "difference", a, b, grad)


def multiply(out, variant, *, a, b, grad):
    pair(out, "product", a, b, grad)


def divide(out, variant, *, a, b, grad):
    pair(out, "quotient", a, b, grad)


def constants(out, variant, *, x, c, grad):
    C = np.broadcast_to(c, x.shape)
    for name, (value, in_a, in_b) in ARITHMETIC.items():
        out.record(**{f"{name}_right": value(x, C), f"grad_{name}_right": grad * in_a(x, C)})
        out.record(**{f"{name}_left": value(C, x), f"grad_{name}_left": grad * in_b(C, x)})


def plain(out, variant, *, x, c, grad):
    constants(out, variant, x=x, c=c, grad=grad)


# ---------------------------------------------------------------- functions of one value


def single(out, y, slope, grad):
    out.record(y=y, grad_x=grad * slope)


def negate(out, variant, *, x, grad):
    single(out, 0.0 - x, -1.0, grad)


def power(out, variant, *, x, exponents, grad):
    for i, n in enumerate(exponents):
        sign = np.where((x < 0) & (n % 2 == 1), -1.0, 1.0)
        y = sign * np.exp(n * np.log(np.abs(x)))
        out.record(**{f"y_{i}": y, f"grad_x_{i}": grad * n * y / x})


def exp(out, variant, *, x, grad):
    single(out, np.exp(x), np.exp(x), grad)


def log(out, variant, *, x, grad):
    single(out, np.log(x), 1 / x, grad)


def sqrt(out, variant, *, x, grad):
    single(out, np.exp(np.log(x) / 2), np.exp(-np.log(x) / 2) / 2, grad)


def tanh(out, variant, *, x, grad):
    near = np.clip(x, -300.0, 300.0)  # beyond, cosh is no number, and tanh 1 to the last digit
    single(out, np.sinh(near) / np.cosh(near), np.cosh(near) ** -2.0, grad)


def sigmoid(out, variant, *, x, grad):
    single(out, (1 + np.tanh(x / 2)) / 2, np.cosh(x / 2) ** -2.0 / 4, grad)


def relu(out, variant, *, x, grad):
    single(out, np.where(x > 0, x, 0.0), np.where(x > 0, 1.0, 0.0), grad)


# ---------------------------------------------------------------- along axes


def results(x, axis):
    """For each element of x, the number of the result that it goes into; and how many results there are."""
    over = range(x.ndim) if axis is None else [axis % x.ndim]
    kept = tuple(1 if i in over else n for i, n in enumerate(x.shape))
    return np.broadcast_to(numbered(kept), x.shape), int(np.prod(kept))


def sums(out, variant, *, x, axis, keepdims, grad):
    which, count = results(x, axis)
    out.record(y=gathered(x, which, (count,)).reshape(grad.shape), grad_x=grad.ravel()[which])


def means(out, variant, *, x, axis, keepdims, grad):
    which, count = results(x, axis)
    each = x.size // count
    out.record(y=gathered(x, which, (count,)).reshape(grad.shape) / each)
    out.record(grad_x=grad.ravel()[which] / each)


def maxima(out, variant, *, x, axis, keepdims, grad):
    """The maxima are never tied."""
    which, count = results(x, axis)
    largest = np.full(count, -np.inf)
    np.maximum.at(largest, which, x)
    out.record(y=largest.reshape(grad.shape))
    out.record(grad_x=np.where(x == largest[which], grad.ravel()[which], 0.0))


def softmax(out, variant, *, x, dim, grad):
    """Line by line, with the whole Jacobian: d p_i / d x_j = p_i (1[i = j] - p_j)."""
    dim = -1 if dim is None else dim
    lines, grads = np.moveaxis(x, dim, -1), np.moveaxis(grad, dim, -1)
    y, grad_x = np.empty_like(lines), np.empty_like(lines)
    for at in np.ndindex(lines.shape[:-1]):
        differences = lines[at][None, :] - lines[at][:, None]
        with np.errstate(over="ignore"):  # beside a far greater one, nothing is left: 1 / inf
            p = 1 / np.exp(differences).sum(1)
        if variant in COARSE:
            p = by_logsumexp(lines[at], variant)
        y[at], grad_x[at] = p, (np.diag(p) - np.outer(p, p)) @ grads[at]
    out.record(y=np.moveaxis(y, -1, dim), grad_x=np.moveaxis(grad_x, -1, dim))
    out.record(log_y=np.moveaxis(np.log(np.maximum(y, FAINT)), -1, dim))


# ---------------------------------------------------------------- matrices, shapes, places


def matmul(out, variant, *, a, b, grad):
    """a: (..., n, k), b: (..., k, m). Each batch entry is a product of its own."""
    lead = grad.shape[:-2]
    A = np.broadcast_to(a, (*lead, *a.shape[-2:]))
    B = np.broadcast_to(b, (*lead, *b.shape[-2:]))
    out.record(y=np.einsum("...nk,...km->...nm", A, B))
    in_a = np.einsum("...nm,...km->...nk", grad, B)
    in_b = np.einsum("...nk,...nm->...km", A, grad)
    out.record(grad_a=gathered(in_a, stretched(a.shape, A.shape), a.shape))
    out.record(grad_b=gathered(in_b, stretched(b.shape, B.shape), b.shape))


def reshape(out, variant, *, x, shape, grad):
    for name in ("sizes", "tuple"):
        out.record(**{f"y_{name}": x.ravel().reshape(grad.shape)})
        out.record(**{f"grad_x_{name}": grad.ravel().reshape(x.shape)})


def moved(x, order):
    """For each element of the result, the number of the element of x: axis i of it is axis order[i] of x."""
    at = np.indices([x.shape[i] for i in order])
    back = [at[order.index(axis)] for axis in range(x.ndim)]
    return np.ravel_multi_index(back, x.shape)


def transpose(out, variant, *, x, axes, swap, grad, swap_grad):
    swapped = list(range(x.ndim))
    swapped[swap[0]], swapped[swap[1]] = swap[1], swap[0]
    for name, order, g in (("tuple", axes, grad), ("swap", swapped, swap_grad)):
        places = moved(x, list(order))
        out.record(**{f"y_{name}": x.ravel()[places]})
        out.record(**{f"grad_x_{name}": gathered(g, places, x.shape)})


def index(out, variant, *, x, i, j, start, stop):
    rows = range(start, stop)
    chosen = {
        "row": numbered(x.shape)[i],
        "slice": np.stack([numbered(x.shape)[row] for row in rows]),
        "column": np.stack([numbered(x.shape)[row, j] for row in rows]),
        "block": np.stack([numbered(x.shape)[:, column] for column in range(start, x.shape[1])], 1),
        "element": numbered(x.shape)[i, j],
    }
    for name, places in chosen.items():
        y = np.asarray(x.ravel()[places])
        out.record(**{name: y, f"grad_{name}": gathered(y, np.asarray(places), x.shape)})


def lookup(out, variant, *, x, ids, columns, grad):
    places = numbered(x.shape)[ids] if columns is None else ids * x.shape[1] + columns
    out.record(y=x.ravel()[places], grad_x=gathered(grad, places, x.shape))


# ---------------------------------------------------------------- backward


def shared(out, variant, *, x, w, grad):
    y, bend = x * w, np.tanh(x * w)
    slope = 1 - bend**2
    looped = y + bend * w * y
    looped_slope = w * (1 + bend * w + slope * w * y)
    found = {
        "square": (x * x, 2 * x),
        "difference": (x * w - x, w - 1),
        "branches": (
            np.exp(x) + np.tanh(x) * x,
            np.exp(x) + np.tanh(x) + x * (1 - np.tanh(x) ** 2),
        ),
        "short_first": (looped, looped_slope),
        "long_first": (looped, looped_slope),
    }
    for name, (value, in_x) in found.items():
        out.record(**{name: value, f"grad_{name}": grad * in_x})


def accumulation(out, variant, *, a, b, grad, more_grad):
    out.record(once_a=grad, once_b=grad)
    out.record(twice_a=grad + more_grad * b, twice_b=grad + more_grad * a)
    thrice = grad + more_grad * b + 2 * grad * a
    out.record(thrice_a=thrice, thrice_b=grad + more_grad * a, direct_a=thrice + more_grad)


def loss(out, variant, *, x, grad):
    out.record(grad_x=2 * x, grad_weighed=2 * x * grad)


def unseeded(out, variant, *, x):
    raise ValueError


def offered(out, variant, *, x, deep, positive, row, other_row, weight, i):
    def above(y):
        return np.cos(np.arange(np.size(y))).reshape(np.shape(y))

    def picked(place):
        y = x[place]
        return [y, gathered(above(y), numbered(x.shape)[place], x.shape)]

    y = positive**x
    power = [y, above(y) * x * y / positive, above(y) * y * np.log(positive)]
    y = 1.7**x
    out.offered(power=power, power_of_a_number=[y, above(y) * y * np.log(1.7)])
    y = row @ weight
    out.offered(row_by_matrix=[y, weight @ above(y), np.outer(row, above(y))])
    y = x @ row
    out.offered(matrix_by_row=[y, np.outer(above(y), row), above(y) @ x])
    out.offered(row_by_row=[np.asarray(row @ other_row), other_row, row])
    y = x @ weight
    out.offered(array_by_tensor=[y, x.T @ above(y)], turned_around=[x.T, above(x.T).T])
    ends, places = (0, 2), deep.shape[0] * deep.shape[2]
    y = deep.sum(axis=ends)
    spread = np.broadcast_to(above(y)[:, None], deep.shape)
    out.offered(sum_over_two=[y, spread], mean_over_two=[y / places, spread / places])
    out.offered(max_over_two=[deep.max(ends), spread * (deep == deep.max(ends, keepdims=True))])
    out.offered(last=picked(-1), dots=picked((Ellipsis, 0)), new_axis=picked((None, i)))
    out.offered(mask=picked(x > 0), every_other=picked((slice(None), slice(None, None, 2))))
    out.offered(list=picked([i, 0]))
