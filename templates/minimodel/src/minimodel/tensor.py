"""A small autograd Tensor: a NumPy array that remembers how it was computed.

Every operation returns a new Tensor. For each operand that needs a gradient, the new Tensor keeps
a *link*: the operand, and a rule that turns d(loss)/d(result) into d(loss)/d(operand). `backward`
follows the links from the loss to the leaves and applies the rules on the way: the chain rule.

In the shape comments, g is always d(loss)/d(result) and has the shape of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any

import numpy as np

Rule = Callable[[np.ndarray], np.ndarray]
Axis = int | tuple[int, ...] | None


class Tensor:
    """A float32 or float64 array with an optional gradient.

    `data` may be a number, a (nested) list, an ndarray or another Tensor. float32 and float64 are
    kept; integers and booleans become float64. The result of an operation never shares memory with
    its operands.

    A number or a plain array used together with a Tensor is a constant and takes the Tensor's dtype.
    """

    # NumPy then leaves `ndarray + Tensor` to Tensor.__radd__, and so on for the other operators.
    __array_ufunc__ = None

    def __init__(self, data: Any, requires_grad: bool = False) -> None:
        self.data: np.ndarray = _as_float_array(data)
        self.grad: np.ndarray | None = None
        self.requires_grad = requires_grad
        self._links: list[tuple[Tensor, Rule]] = []

    @staticmethod
    def from_op(data: np.ndarray, *links: tuple[Tensor, Rule]) -> Tensor:
        """The result of an operation: its value, and one (operand, rule) link per operand.

        A rule may return a gradient of the broadcast shape; `backward` brings it to the operand's.
        """
        result = Tensor(data)
        result._links = [(operand, rule) for operand, rule in links if operand.requires_grad]
        result.requires_grad = len(result._links) > 0
        return result

    # ---------------------------------------------------------------- looking at a tensor

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    @property
    def ndim(self) -> int:
        return self.data.ndim

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Tensor]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        name = type(self).__name__
        values = np.array2string(self.data, separator=", ", prefix=f"{name}(")
        return f"{name}({values}, dtype={self.data.dtype}, requires_grad={self.requires_grad})"

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        """Refuse a silent conversion: the copy would have lost its gradient."""
        raise TypeError(
            "NumPy cannot take a Tensor: use .data for the values, or a Tensor operation"
        )

    # ---------------------------------------------------------------- backward

    def backward(self, grad: Any = None) -> None:
        """Add d(self)/d(t), weighted by `grad`, to `.grad` of every tensor t that self depends on.

        `grad` has the shape of self. It may be left out for a scalar (shape ()), where it is 1.
        Tensors that do not require a gradient are left alone.
        """
        if grad is None:
            if self.shape != ():
                raise ValueError(
                    f"backward() without a gradient needs a scalar, not shape {self.shape}"
                )
            grad = 1.0
        grad = _as_float_array(grad, self.data.dtype)
        if grad.shape != self.shape:
            raise ValueError(f"gradient of shape {grad.shape} for a tensor of shape {self.shape}")
        if not self.requires_grad:
            return

        # Results come before their operands, so when a tensor's turn comes,
        # every tensor that used it has already added its part to `pending`.
        pending = {id(self): grad}
        for tensor in reversed(self._operands_first()):
            g = pending.pop(id(tensor))
            tensor.grad = np.array(g) if tensor.grad is None else np.asarray(tensor.grad + g)
            for operand, rule in tensor._links:
                part = _unbroadcast(rule(g), operand.shape).astype(operand.data.dtype)
                if id(operand) in pending:
                    part = pending[id(operand)] + part
                pending[id(operand)] = part

    def _operands_first(self) -> list[Tensor]:
        """self and every tensor it was computed from, operands before results.

        A depth-first walk with its own stack, so that a long computation is no problem for Python.
        """
        order: list[Tensor] = []
        seen: set[int] = set()
        stack = [(self, False)]
        while stack:
            tensor, operands_done = stack.pop()
            if operands_done:
                order.append(tensor)
            elif id(tensor) not in seen:
                seen.add(id(tensor))
                stack.append((tensor, True))  # comes back once its operands are in `order`
                stack.extend((operand, False) for operand, _ in tensor._links)
        return order

    # ---------------------------------------------------------------- arithmetic

    def _wrap(self, other: Any) -> Tensor:
        """`other` as a Tensor: numbers and plain arrays become constants of self's dtype."""
        if isinstance(other, Tensor):
            return other
        return Tensor(_as_float_array(other, self.data.dtype))

    def __add__(self, other: Any) -> Tensor:
        other = self._wrap(other)
        return Tensor.from_op(
            self.data + other.data,
            (self, lambda g: g),
            (other, lambda g: g),
        )

    def __sub__(self, other: Any) -> Tensor:
        other = self._wrap(other)
        return Tensor.from_op(
            self.data - other.data,
            (self, lambda g: g),
            (other, lambda g: -g),
        )

    def __mul__(self, other: Any) -> Tensor:
        other = self._wrap(other)
        a, b = self.data, other.data
        return Tensor.from_op(
            a * b,
            (self, lambda g: g * b),
            (other, lambda g: g * a),
        )

    def __truediv__(self, other: Any) -> Tensor:
        other = self._wrap(other)
        a, b = self.data, other.data
        quotient = a / b
        return Tensor.from_op(
            quotient,
            (self, lambda g: g / b),
            (other, lambda g: -g * quotient / b),
        )

    def __radd__(self, other: Any) -> Tensor:
        return self._wrap(other) + self

    def __rsub__(self, other: Any) -> Tensor:
        return self._wrap(other) - self

    def __rmul__(self, other: Any) -> Tensor:
        return self._wrap(other) * self

    def __rtruediv__(self, other: Any) -> Tensor:
        return self._wrap(other) / self

    def __neg__(self) -> Tensor:
        return Tensor.from_op(-self.data, (self, lambda g: -g))

    def __pow__(self, exponent: Real) -> Tensor:
        """self ** exponent, for an exponent that is a plain number."""
        if not isinstance(exponent, Real):
            raise TypeError(f"the exponent must be a number, not {type(exponent).__name__}")
        x, n = self.data, float(exponent)

        def grad_x(g: np.ndarray) -> np.ndarray:
            if n == 0.0:
                return np.zeros_like(x)  # x ** 0 is constant, at x = 0 too
            return g * n * x ** (n - 1.0)

        return Tensor.from_op(x**n, (self, grad_x))

    def __matmul__(self, other: Any) -> Tensor:
        """(..., n, k) @ (..., k, m) -> (..., n, m); the batch axes broadcast.

        A 1-D left operand is a row and a 1-D right operand a column; that axis is left out of the result.
        """
        other = self._wrap(other)
        a, b = self.data, other.data
        product = a @ b

        # The rules see matrices only: the axes that a 1-D operand left out are put back.
        a_matrix = a[np.newaxis, :] if a.ndim == 1 else a  # (..., n, k)
        b_matrix = b[:, np.newaxis] if b.ndim == 1 else b  # (..., k, m)

        def as_matrix(g: np.ndarray) -> np.ndarray:
            if b.ndim == 1:
                g = np.expand_dims(g, -1)
            if a.ndim == 1:
                g = np.expand_dims(g, -2)
            return g  # (..., n, m)

        def grad_a(g: np.ndarray) -> np.ndarray:
            grad = as_matrix(g) @ np.swapaxes(b_matrix, -1, -2)  # (..., n, m) @ (..., m, k)
            return _unbroadcast(grad, a_matrix.shape).reshape(a.shape)

        def grad_b(g: np.ndarray) -> np.ndarray:
            grad = np.swapaxes(a_matrix, -1, -2) @ as_matrix(g)  # (..., k, n) @ (..., n, m)
            return _unbroadcast(grad, b_matrix.shape).reshape(b.shape)

        return Tensor.from_op(product, (self, grad_a), (other, grad_b))

    def __rmatmul__(self, other: Any) -> Tensor:
        return self._wrap(other) @ self

    # ---------------------------------------------------------------- one value at a time

    def exp(self) -> Tensor:
        y = np.exp(self.data)
        return Tensor.from_op(y, (self, lambda g: g * y))

    def log(self) -> Tensor:
        """The natural logarithm."""
        x = self.data
        return Tensor.from_op(np.log(x), (self, lambda g: g / x))

    def sqrt(self) -> Tensor:
        y = np.sqrt(self.data)
        return Tensor.from_op(y, (self, lambda g: g / (2.0 * y)))

    def tanh(self) -> Tensor:
        y = np.tanh(self.data)
        return Tensor.from_op(y, (self, lambda g: g * (1.0 - y * y)))

    def sigmoid(self) -> Tensor:
        """1 / (1 + exp(-x)), written so that exp only ever sees numbers <= 0."""
        x = self.data
        e = np.exp(-np.abs(x))
        y = np.where(x >= 0.0, 1.0 / (1.0 + e), e / (1.0 + e))
        return Tensor.from_op(y, (self, lambda g: g * y * (1.0 - y)))

    def relu(self) -> Tensor:
        """max(x, 0); the slope at 0 is 0."""
        x = self.data
        return Tensor.from_op(np.maximum(x, 0.0), (self, lambda g: g * (x > 0.0)))

    # ---------------------------------------------------------------- along axes

    def sum(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        x = self.data

        def grad_x(g: np.ndarray) -> np.ndarray:
            # Every summed value has slope 1: it receives the gradient of its sum.
            return np.broadcast_to(_with_reduced_axes(g, axis, keepdims), x.shape)

        return Tensor.from_op(np.sum(x, axis=axis, keepdims=keepdims), (self, grad_x))

    def mean(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        total = self.sum(axis, keepdims)
        count = self.data.size // max(total.data.size, 1)  # values behind each mean
        return total / count

    def max(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """The largest value; where several are equally large, they share the gradient evenly."""
        x = self.data

        def grad_x(g: np.ndarray) -> np.ndarray:
            is_max = x == np.max(x, axis=axis, keepdims=True)  # the shape of x
            share = is_max / np.sum(is_max, axis=axis, keepdims=True)
            return share * _with_reduced_axes(g, axis, keepdims)

        return Tensor.from_op(np.max(x, axis=axis, keepdims=keepdims), (self, grad_x))

    def softmax(self, dim: int = -1) -> Tensor:
        """exp(x) / sum(exp(x)) along `dim`; subtracting the maximum first keeps exp from overflowing."""
        x = self.data
        e = np.exp(x - np.max(x, axis=dim, keepdims=True))
        p = e / np.sum(e, axis=dim, keepdims=True)

        def grad_x(g: np.ndarray) -> np.ndarray:
            return p * (g - np.sum(g * p, axis=dim, keepdims=True))

        return Tensor.from_op(p, (self, grad_x))

    # ---------------------------------------------------------------- shape and selection

    def reshape(self, *shape: Any) -> Tensor:
        """reshape(2, -1) or reshape((2, -1))."""
        if len(shape) == 1 and isinstance(shape[0], tuple | list):
            shape = tuple(shape[0])
        x = self.data
        return Tensor.from_op(x.reshape(shape).copy(), (self, lambda g: g.reshape(x.shape)))

    def transpose(self, *axes: Any) -> Tensor:
        """transpose() reverses the axes, transpose((2, 0, 1)) reorders them, transpose(0, 1) swaps two."""
        order = list(range(self.ndim))
        if len(axes) == 0:
            order.reverse()
        elif len(axes) == 1 and isinstance(axes[0], tuple | list):
            order = list(axes[0])
        elif len(axes) == 2:
            i, j = axes
            order[i], order[j] = order[j], order[i]
        else:
            raise TypeError(
                "transpose takes no argument, one tuple of axes, or the two axes to swap"
            )

        y = np.transpose(self.data, order).copy()
        back = np.argsort([axis % self.ndim for axis in order])  # the order that undoes `order`
        return Tensor.from_op(y, (self, lambda g: np.transpose(g, back)))

    @property
    def T(self) -> Tensor:
        """All axes reversed."""
        return self.transpose()

    def __getitem__(self, index: Any) -> Tensor:
        """Anything NumPy can index with: integers, slices, ..., None, integer arrays, boolean masks."""
        x = self.data

        def grad_x(g: np.ndarray) -> np.ndarray:
            # add.at, because an integer array may select the same place more than once.
            grad = np.zeros_like(x)
            np.add.at(grad, index, g)
            return grad

        return Tensor.from_op(np.array(x[index]), (self, grad_x))


# -------------------------------------------------------------------- helpers


def _as_float_array(value: Any, dtype: Any = None) -> np.ndarray:
    """`value` as an array of `dtype`; without `dtype`, float32 and float64 stay and the rest is float64."""
    if isinstance(value, Tensor):
        value = value.data
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":  # booleans, integers, floats
        raise TypeError(f"a Tensor holds real numbers, not {type(value).__name__} ({array.dtype})")
    if dtype is None:
        dtype = array.dtype if array.dtype in (np.float32, np.float64) else np.float64
    return array.astype(dtype, copy=False)


def _unbroadcast(grad: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Sum `grad` over the axes that broadcasting added or stretched, which leaves it with `shape`."""
    if grad.shape == shape:
        return grad
    added = tuple(range(grad.ndim - len(shape)))
    grad = grad.sum(axis=added)
    stretched = tuple(axis for axis, size in enumerate(shape) if size == 1)
    return grad.sum(axis=stretched, keepdims=True)


def _with_reduced_axes(grad: np.ndarray, axis: Axis, keepdims: bool) -> np.ndarray:
    """Put the axes that a reduction dropped back with size 1, so that `grad` broadcasts to its input."""
    if keepdims or axis is None:
        return grad
    return np.expand_dims(grad, axis)
