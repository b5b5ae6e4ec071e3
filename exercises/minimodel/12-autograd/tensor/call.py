"""Runs the learner's Tensor, one operation at a time.

What the contract leaves open is recorded too, under names that no check lists: neither a build nor a
fix is judged by it, but the engine's own break of another component must leave it as it was.
"""

import operator

import numpy as np

FAINT = 1e-30  # what a softmax gives may be as small as this, in any dtype, and is a number still


def beyond(record, name, measure):
    """Record what `measure` gives, or that it gives an error: the contract says nothing of either."""
    try:
        found = measure()
    except Exception as error:
        found = type(error).__name__
    record(**{name: found})


def pulled(y, grad, leaf):
    """The gradient of sum(y * grad) with respect to a fresh leaf."""
    y.backward(grad)
    return leaf.grad


def made(learner, record, x):
    """What a new tensor tells of itself."""
    tensor = learner.Tensor(x)
    record(data=tensor.data, shape=list(tensor.shape), ndim=int(tensor.ndim))
    leaf = learner.Tensor(x, requires_grad=True)
    before = leaf.grad
    record(grad_is_empty=bool(before is None or not np.any(before)))
    total = leaf.sum()
    total.backward()
    arrays = (tensor.data, leaf.data, total.data, leaf.grad)
    record(arrays=all(isinstance(array, np.ndarray) for array in arrays))
    record(total_shape=list(total.shape), total_ndim=int(total.ndim))


def pair(learner, record, op, a, b, grad):
    """op(a, b), then the gradients of sum(result * grad)."""
    left, right = (learner.Tensor(array, requires_grad=True) for array in (a, b))
    y = op(left, right)
    record(y=y.data)
    y.backward(grad)
    record(grad_a=left.grad, grad_b=right.grad)


def add(learner, record, a, b, grad):
    pair(learner, record, operator.add, a, b, grad)


def subtract(learner, record, a, b, grad):
    pair(learner, record, operator.sub, a, b, grad)


def multiply(learner, record, a, b, grad):
    pair(learner, record, operator.mul, a, b, grad)


def divide(learner, record, a, b, grad):
    pair(learner, record, operator.truediv, a, b, grad)


def matmul(learner, record, a, b, grad):
    pair(learner, record, operator.matmul, a, b, grad)
    if a.ndim == b.ndim == 2:
        left, right = learner.Tensor(a, requires_grad=True), learner.Tensor(b, requires_grad=True)
        beyond(record, "vector_left", lambda: pulled(learner.Tensor(a[0]) @ right, grad[0], right))
        beyond(
            record, "vector_right", lambda: pulled(left @ learner.Tensor(b[:, 0]), grad[:, 0], left)
        )


ARITHMETIC = {
    "sum": operator.add,
    "difference": operator.sub,
    "product": operator.mul,
    "quotient": operator.truediv,
}


def beside(learner, op, x, c, grad, swapped):
    """op(x, c), or op(c, x) when swapped: the value, then the gradient of sum(value * grad) for x."""
    leaf = learner.Tensor(x, requires_grad=True)
    y = op(c, leaf) if swapped else op(leaf, c)
    return y.data, pulled(y, grad, leaf)


def constants(learner, record, x, c, grad):
    """+ - * / with a tensor that has no gradient, on either side."""
    for name, op in ARITHMETIC.items():
        for side, swapped in (("right", False), ("left", True)):
            y, grad_x = beside(learner, op, x, learner.Tensor(c), grad, swapped)
            record(**{f"{name}_{side}": y, f"grad_{name}_{side}": grad_x})


def plain(learner, record, x, c, grad):
    """+ - * / with a number or an array, which is wrapped where operators take tensors only."""
    for name, op in ARITHMETIC.items():
        for side, swapped in (("right", False), ("left", True)):
            taken = True
            try:
                y, grad_x = beside(learner, op, x, c, grad, swapped)
            except RecursionError:  # an operator that calls itself was meant to take it
                raise
            except Exception:  # of any other kind: nobody says that this must work
                taken = False
                wrapped = learner.Tensor(np.asarray(c, x.dtype))
                y, grad_x = beside(learner, op, x, wrapped, grad, swapped)
            record(**{f"{name}_{side}": y, f"grad_{name}_{side}": grad_x})
            record(**{f"{name}_{side}_is_taken": taken})


def single(learner, record, op, x, grad):
    """op(x), then the gradient of sum(result * grad)."""
    leaf = learner.Tensor(x, requires_grad=True)
    y = op(leaf)
    record(y=y.data)
    record(grad_x=pulled(y, grad, leaf))


def negate(learner, record, x, grad):
    single(learner, record, operator.neg, x, grad)


def power(learner, record, x, exponents, grad):
    """x ** n for each n in `exponents`."""
    for i, exponent in enumerate(exponents):
        leaf = learner.Tensor(x, requires_grad=True)
        y = leaf**exponent
        record(**{f"y_{i}": y.data, f"grad_x_{i}": pulled(y, grad, leaf)})


def exp(learner, record, x, grad):
    single(learner, record, lambda t: t.exp(), x, grad)


def log(learner, record, x, grad):
    single(learner, record, lambda t: t.log(), x, grad)


def sqrt(learner, record, x, grad):
    single(learner, record, lambda t: t.sqrt(), x, grad)


def tanh(learner, record, x, grad):
    single(learner, record, lambda t: t.tanh(), x, grad)


def sigmoid(learner, record, x, grad):
    single(learner, record, lambda t: t.sigmoid(), x, grad)


def relu(learner, record, x, grad):
    single(learner, record, lambda t: t.relu(), x, grad)
    kink = learner.Tensor(np.zeros_like(x), requires_grad=True)
    beyond(record, "slope_at_0", lambda: pulled(kink.relu(), grad, kink))


def reduced(learner, record, method, x, axis, keepdims, grad):
    """x.method(axis, keepdims) with what is not at its default, and the gradient of x."""
    options = {} if axis is None else {"axis": axis}
    if keepdims:
        options["keepdims"] = True
    single(learner, record, lambda t: getattr(t, method)(**options), x, grad)
    if x.ndim == 2:
        beyond(record, "two_axes", lambda: getattr(learner.Tensor(x), method)(axis=(0, 1)).data)


def sums(learner, record, x, axis, keepdims, grad):
    reduced(learner, record, "sum", x, axis, keepdims, grad)


def means(learner, record, x, axis, keepdims, grad):
    reduced(learner, record, "mean", x, axis, keepdims, grad)


def maxima(learner, record, x, axis, keepdims, grad):
    reduced(learner, record, "max", x, axis, keepdims, grad)
    tied = learner.Tensor(np.zeros_like(x), requires_grad=True)
    beyond(record, "tied", lambda: pulled(tied.max(axis=axis, keepdims=keepdims), grad, tied))


def softmax(learner, record, x, dim, grad):
    along = (lambda t: t.softmax()) if dim is None else (lambda t: t.softmax(dim=dim))
    single(learner, record, along, x, grad)
    y = along(learner.Tensor(x)).data
    record(log_y=np.log(np.maximum(y, FAINT)))  # the smallest of a row counts as well


def reshape(learner, record, x, shape, grad):
    """The sizes one by one, and as a tuple."""
    for name, arguments in (("sizes", tuple(shape)), ("tuple", (tuple(shape),))):
        leaf = learner.Tensor(x, requires_grad=True)
        y = leaf.reshape(*arguments)
        record(**{f"y_{name}": y.data, f"grad_x_{name}": pulled(y, grad, leaf)})


def transpose(learner, record, x, axes, swap, grad, swap_grad):
    """A tuple reorders the axes, two integers swap two of them."""
    leaf = learner.Tensor(x, requires_grad=True)
    y = leaf.transpose(tuple(axes))
    record(y_tuple=y.data, grad_x_tuple=pulled(y, grad, leaf))
    leaf = learner.Tensor(x, requires_grad=True)
    y = leaf.transpose(*swap)
    record(y_swap=y.data, grad_x_swap=pulled(y, swap_grad, leaf))
    beyond(record, "from_the_end", lambda: learner.Tensor(x).transpose(-1, -2).data)


def index(learner, record, x, i, j, start, stop):
    """Integers and slices. The gradient is that of sum(x[place] * g), with g = x[place] held fixed."""
    places = {
        "row": i,
        "slice": slice(start, stop),
        "column": (slice(start, stop), j),
        "block": (slice(None), slice(start, None)),
        "element": (i, j),
    }
    for name, place in places.items():
        leaf = learner.Tensor(x, requires_grad=True)
        y = leaf[place]
        record(**{name: y.data, f"grad_{name}": pulled(y, np.asarray(x[place]), leaf)})
    others = {"last": -1, "dots": (Ellipsis, 0), "new_axis": (None, i), "mask": x > 0}
    for name, place in others.items():
        beyond(record, name, lambda place=place: learner.Tensor(x)[place].data)


def lookup(learner, record, x, ids, columns, grad):
    """x[ids], or x[ids, columns]."""
    single(learner, record, lambda t: t[ids] if columns is None else t[ids, columns], x, grad)


def loop(x, w, short_way_first):
    """y is used by z and beside z, so its gradient is whole only after that of z."""
    y = x * w
    z = y.tanh() * w
    return y + z * y if short_way_first else z * y + y


SHARED = {
    "square": lambda x, w: x * x,
    "difference": lambda x, w: x * w - x,
    "branches": lambda x, w: x.exp() + x.tanh() * x,
    "short_first": lambda x, w: loop(x, w, True),
    "long_first": lambda x, w: loop(x, w, False),
}


def shared(learner, record, x, w, grad):
    """One tensor in several places of a computation."""
    for name, expression in SHARED.items():
        first, second = (learner.Tensor(array, requires_grad=True) for array in (x, w))
        y = expression(first, second)
        record(**{name: y.data})
        y.backward(grad)
        record(**{f"grad_{name}": first.grad})


def accumulation(learner, record, a, b, grad, more_grad):
    """backward from three results, one after the other, and from a leaf itself, adds up in the leaves."""
    left, right = (learner.Tensor(array, requires_grad=True) for array in (a, b))
    (left + right).backward(grad)
    record(once_a=left.grad, once_b=right.grad)
    (left * right).backward(more_grad)
    record(twice_a=left.grad, twice_b=right.grad)
    (left * left).backward(grad)
    record(thrice_a=left.grad, thrice_b=right.grad)
    left.backward(more_grad)
    record(direct_a=left.grad)


def loss(learner, record, x, grad):
    """A scalar needs no gradient, and takes one."""
    leaf = learner.Tensor(x, requires_grad=True)
    (leaf * leaf).sum().backward()
    record(grad_x=leaf.grad)
    weighed = learner.Tensor(x, requires_grad=True)
    (weighed * weighed).sum().backward(grad)
    record(grad_weighed=weighed.grad)
    constant = learner.Tensor(x)
    beyond(record, "of_a_constant", lambda: pulled((leaf * constant).sum(), grad, constant))


def unseeded(learner, record, x):
    """backward() without a gradient where there is more than one value."""
    leaf = learner.Tensor(x, requires_grad=True)
    (leaf * leaf).backward()


def offered(learner, record, x, deep, positive, row, other_row, weight, i):
    """What the contract does not ask for, where a Tensor has it: the value, then the gradients of
    sum(value * cos(0, 1, 2, ...)); else the name of the error. x, positive: (T, d), deep: (B, T, d),
    row, other_row: (d,), weight: (d, m).
    """

    def found(op, *arrays):
        leaves = [learner.Tensor(array, requires_grad=True) for array in arrays]
        y = op(*leaves)
        if not isinstance(y, learner.Tensor):
            raise TypeError("no Tensor")
        grad = np.cos(np.arange(y.data.size)).reshape(y.data.shape).astype(y.data.dtype)
        y.backward(grad)
        if any(leaf.grad is None for leaf in leaves):
            raise NotImplementedError("no gradient")
        return [y.data, *(leaf.grad for leaf in leaves)]

    ops = {
        "power": (lambda a, b: a**b, positive, x),
        "power_of_a_number": (lambda b: 1.7**b, x),
        "row_by_matrix": (lambda a, b: a @ b, row, weight),
        "matrix_by_row": (lambda a, b: a @ b, x, row),
        "row_by_row": (lambda a, b: a @ b, row, other_row),
        "array_by_tensor": (lambda b: x @ b, weight),
        "turned_around": (lambda a: a.transpose(), x),
        "sum_over_two": (lambda a: a.sum(axis=(0, 2)), deep),
        "mean_over_two": (lambda a: a.mean(axis=(0, 2)), deep),
        "max_over_two": (lambda a: a.max(axis=(0, 2)), deep),
        "last": (lambda a: a[-1], x),
        "dots": (lambda a: a[..., 0], x),
        "new_axis": (lambda a: a[None, i], x),
        "mask": (lambda a: a[x > 0], x),
        "every_other": (lambda a: a[:, ::2], x),
        "list": (lambda a: a[[i, 0]], x),
    }
    for name, (op, *arrays) in ops.items():
        beyond(record, name, lambda op=op, arrays=arrays: found(op, *arrays))
