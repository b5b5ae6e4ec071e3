"""The table of operations.

An Operation is a class that is never instantiated: two static methods on plain
ndarrays, and a symbol under which it enters `Operation.table`.

    forward(*arrays, **options) -> (result, saved)
    backward(grad, saved)       -> one gradient (or None) per array

`saved` is whatever backward wants back, the tape carries it around unopened.
A backward need not undo broadcasting: the tape sums every gradient down to
the shape of its input.

nn modules that want an operation of their own simply subclass here; the
subclass registers itself.
"""

import numpy as np


class Operation:
    __slots__ = ()
    table = {}

    def __init_subclass__(cls, *, symbol, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.symbol = symbol
        Operation.table[symbol] = cls

    @staticmethod
    def forward(*arrays, **options):
        raise NotImplementedError

    @staticmethod
    def backward(grad, saved):
        raise NotImplementedError


def unbroadcast(grad, shape):
    """Sum `grad` over the axes along which an array of `shape` was repeated."""
    if grad.shape == shape:
        return grad
    extra = grad.ndim - len(shape)
    if extra > 0:
        grad = grad.sum(axis=tuple(range(extra)))
    stretched = tuple(i for i, n in enumerate(shape) if n == 1 and grad.shape[i] != 1)
    if stretched:
        grad = grad.sum(axis=stretched, keepdims=True)
    return grad


# -- infix ------------------------------------------------------------------

class Add(Operation, symbol="+"):
    __slots__ = ()

    @staticmethod
    def forward(a, b):
        return a + b, None

    @staticmethod
    def backward(grad, saved):
        return grad, grad


class Subtract(Operation, symbol="-"):
    __slots__ = ()

    @staticmethod
    def forward(a, b):
        return a - b, None

    @staticmethod
    def backward(grad, saved):
        return grad, -grad


class Multiply(Operation, symbol="*"):
    __slots__ = ()

    @staticmethod
    def forward(a, b):
        return a * b, (a, b)

    @staticmethod
    def backward(grad, saved):
        a, b = saved
        return grad * b, grad * a


class Divide(Operation, symbol="/"):
    __slots__ = ()

    @staticmethod
    def forward(a, b):
        quotient = a / b
        return quotient, (quotient, b)

    @staticmethod
    def backward(grad, saved):
        quotient, b = saved
        ga = grad / b
        return ga, -ga * quotient


class Power(Operation, symbol="**"):
    """tensor ** number. The number is an option, not an operand."""

    __slots__ = ()

    @staticmethod
    def forward(a, exponent):
        return a ** exponent, (a, exponent)

    @staticmethod
    def backward(grad, saved):
        a, exponent = saved
        if exponent == 0:
            return (np.zeros_like(grad),)  # 0 * a**-1 is nan at a == 0
        return (grad * (exponent * a ** (exponent - 1)),)


class TensorPower(Operation, symbol="a**b"):
    """array ** array. The slope towards the exponent is a**b * log(a), taken as 0 where a <= 0."""

    __slots__ = ()

    @staticmethod
    def forward(a, b):
        power = a ** b
        return power, (a, b, power)

    @staticmethod
    def backward(grad, saved):
        a, b, power = saved
        a_, b_ = np.broadcast_arrays(a, b)
        ga = np.zeros_like(power)
        some = b_ != 0
        ga[some] = b_[some] * a_[some] ** (b_[some] - 1)
        positive = a_ > 0
        log_a = np.log(np.where(positive, a_, a.dtype.type(1)))
        return grad * ga, grad * np.where(positive, power, power.dtype.type(0)) * log_a


class MatMul(Operation, symbol="@"):
    __slots__ = ()

    @staticmethod
    def forward(a, b):
        return a @ b, (a, b)

    @staticmethod
    def backward(grad, saved):
        a, b = saved
        # np.matmul lends a vector an axis and takes it back; do the same here
        row, column = a.ndim == 1, b.ndim == 1
        a2 = a[None, :] if row else a
        b2 = b[:, None] if column else b
        if column:
            grad = grad[..., None]
        if row:
            grad = grad[..., None, :]
        ga = grad @ b2.swapaxes(-1, -2)
        if b2.ndim == 2:
            # one weight matrix for the whole batch: one big product, no sum afterwards
            gb = a2.reshape(-1, a2.shape[-1]).T @ grad.reshape(-1, grad.shape[-1])
        else:
            gb = a2.swapaxes(-1, -2) @ grad
        if row:
            ga = unbroadcast(ga, a2.shape)[0]
        if column:
            gb = gb[:, 0]
        return ga, gb


# -- prefix -----------------------------------------------------------------

class Negate(Operation, symbol="neg"):
    __slots__ = ()

    @staticmethod
    def forward(a):
        return -a, None

    @staticmethod
    def backward(grad, saved):
        return (-grad,)


class Exp(Operation, symbol="exp"):
    __slots__ = ()

    @staticmethod
    def forward(a):
        e = np.exp(a)
        return e, e

    @staticmethod
    def backward(grad, saved):
        return (grad * saved,)


class Log(Operation, symbol="log"):
    __slots__ = ()

    @staticmethod
    def forward(a):
        return np.log(a), a

    @staticmethod
    def backward(grad, saved):
        return (grad / saved,)


class Sqrt(Operation, symbol="sqrt"):
    __slots__ = ()

    @staticmethod
    def forward(a):
        root = np.sqrt(a)
        return root, root

    @staticmethod
    def backward(grad, saved):
        return (grad / (2 * saved),)


class Tanh(Operation, symbol="tanh"):
    __slots__ = ()

    @staticmethod
    def forward(a):
        t = np.tanh(a)
        return t, t

    @staticmethod
    def backward(grad, saved):
        return (grad * (1 - saved * saved),)


class Sigmoid(Operation, symbol="sigmoid"):
    __slots__ = ()

    @staticmethod
    def forward(a):
        e = np.exp(-np.abs(a))  # never above 1, so nothing overflows
        s = np.where(a >= 0, 1 / (1 + e), e / (1 + e))
        return s, s

    @staticmethod
    def backward(grad, saved):
        return (grad * saved * (1 - saved),)


class Relu(Operation, symbol="relu"):
    __slots__ = ()

    @staticmethod
    def forward(a):
        return np.maximum(a, 0), a > 0

    @staticmethod
    def backward(grad, saved):
        return (grad * saved,)


class Softmax(Operation, symbol="softmax"):
    """Softmax along one axis, over the entries where `where` is True (all, if None).

    A row with no entry at all comes out as zeros and passes no gradient.
    """

    __slots__ = ()

    @staticmethod
    def forward(a, axis, where=None):
        if where is not None:
            a = np.where(where, a, a.dtype.type(-np.inf))
        peak = a.max(axis=axis, keepdims=True)
        peak = np.where(peak == -np.inf, a.dtype.type(0), peak)
        e = np.exp(a - peak)
        total = e.sum(axis=axis, keepdims=True)
        e /= np.where(total == 0, a.dtype.type(1), total)
        return e, (e, axis)

    @staticmethod
    def backward(grad, saved):
        p, axis = saved
        return (p * (grad - (grad * p).sum(axis=axis, keepdims=True)),)


# -- reductions -------------------------------------------------------------

def _restore_axes(reduced, axis, keepdims, ndim):
    """Give a reduced array its axes back, with length 1."""
    if keepdims:
        return reduced
    if axis is None:
        return reduced.reshape((1,) * ndim)
    return np.expand_dims(reduced, axis)


class Sum(Operation, symbol="sum"):
    __slots__ = ()

    @staticmethod
    def forward(a, axis, keepdims):
        return a.sum(axis=axis, keepdims=keepdims), (a.shape, axis, keepdims)

    @staticmethod
    def backward(grad, saved):
        shape, axis, keepdims = saved
        return (np.broadcast_to(_restore_axes(grad, axis, keepdims, len(shape)), shape),)


class Mean(Operation, symbol="mean"):
    __slots__ = ()

    @staticmethod
    def forward(a, axis, keepdims):
        return a.mean(axis=axis, keepdims=keepdims), (a.shape, axis, keepdims)

    @staticmethod
    def backward(grad, saved):
        shape, axis, keepdims = saved
        grad = _restore_axes(grad, axis, keepdims, len(shape))
        each = int(np.prod(shape)) // max(grad.size, 1)
        return (np.broadcast_to(grad / max(each, 1), shape),)


class Max(Operation, symbol="max"):
    """Tied maxima share the gradient evenly."""

    __slots__ = ()

    @staticmethod
    def forward(a, axis, keepdims):
        top = a.max(axis=axis, keepdims=True)
        winners = a == top
        result = top if keepdims else a.max(axis=axis)
        return result, (winners, axis, keepdims)

    @staticmethod
    def backward(grad, saved):
        winners, axis, keepdims = saved
        grad = _restore_axes(grad, axis, keepdims, winners.ndim)
        ties = winners.sum(axis=axis, keepdims=True).astype(grad.dtype)
        return (winners * (grad / ties),)


# -- shape ------------------------------------------------------------------

class Reshape(Operation, symbol="reshape"):
    __slots__ = ()

    @staticmethod
    def forward(a, shape):
        return a.reshape(shape), a.shape

    @staticmethod
    def backward(grad, saved):
        return (grad.reshape(saved),)


class Permute(Operation, symbol="permute"):
    __slots__ = ()

    @staticmethod
    def forward(a, axes):
        back = np.argsort([axis % a.ndim for axis in axes]) if axes else ()
        return a.transpose(axes), tuple(back)

    @staticmethod
    def backward(grad, saved):
        return (grad.transpose(saved),)


class Index(Operation, symbol="[]"):
    __slots__ = ()

    @staticmethod
    def forward(a, index):
        return a[index], (a.shape, index)

    @staticmethod
    def backward(grad, saved):
        shape, index = saved
        full = np.zeros(shape, dtype=grad.dtype)
        parts = index if isinstance(index, tuple) else (index,)
        if all(p is None or p is Ellipsis or isinstance(p, slice) for p in parts):
            full[index] = grad
        else:
            np.add.at(full, index, grad)  # an array may name an element twice
        return (full,)
