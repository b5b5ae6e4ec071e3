"""Reverse-mode differentiation, one vjp closure per operation.

Every operation computes its value at once and leaves behind a function that
pulls a cotangent of the result back to cotangents of the operands.  Each
tensor takes a number from a global counter when it is made; an operand is
always older than the result, so the numbers, sorted downwards, are an order
in which `Tensor.backward` may call those functions.

Precision: float32 and float64 arrays keep their dtype, anything else becomes
float32.  A plain number or array that meets a tensor in an operation takes
the dtype of the tensor, and a gradient has the dtype of its tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from .initial import FLOAT

Array = NDArray[Any]
Axis = int | tuple[int, ...] | None
Vjp = Callable[[Array], tuple[Array | None, ...]]
Operand = Union["Tensor", Array, float]

_KEPT = (np.dtype(np.float32), np.dtype(np.float64))
_next_number = count().__next__


def unbroadcast(grad: Array, shape: tuple[int, ...]) -> Array:
    """Sum `grad` over the axes that broadcasting added or stretched.

    Parameters
    ----------
    grad : ndarray
        Cotangent with the broadcast shape.
    shape : tuple of int
        Shape the operand had before broadcasting.

    Returns
    -------
    ndarray
        Cotangent with shape `shape`.
    """
    grad = np.asarray(grad)
    if grad.shape == shape:
        return grad
    added = grad.ndim - len(shape)
    if added:
        grad = grad.sum(axis=tuple(range(added)))
    stretched = tuple(
        i for i, n in enumerate(shape) if n == 1 and grad.shape[i] != 1
    )
    return grad.sum(axis=stretched, keepdims=True) if stretched else grad


def as_tensor(value: Operand, dtype: np.dtype[Any] | None = None) -> Tensor:
    """Wrap `value` unless it is a tensor already.

    Parameters
    ----------
    value : Tensor, ndarray or number
        What to wrap.
    dtype : numpy.dtype, optional
        Precision a wrapped constant is brought to.

    Returns
    -------
    Tensor
        `value` itself, or a constant.
    """
    if isinstance(value, Tensor):
        return value
    return Tensor(np.asarray(value, dtype=dtype))


def record(value: Array, parents: tuple[Tensor, ...], vjp: Vjp) -> Tensor:
    """Make the result of an operation.

    Parameters
    ----------
    value : ndarray
        What was computed.
    parents : tuple of Tensor
        The operands.
    vjp : callable
        Maps a cotangent of `value` to one cotangent per parent.  None may
        stand for a parent that needs no gradient.

    Returns
    -------
    Tensor
        It remembers `parents` and `vjp` only if a parent wants a gradient.
    """
    result = Tensor(value)
    if any(parent.requires_grad for parent in parents):
        result.requires_grad = True
        result._parents = parents
        result._vjp = vjp
    return result


# --------------------------------------------------------------------------
# Makers of methods: the class below is mostly a table of their results.
# --------------------------------------------------------------------------


def _elementwise(
    value: Callable[[Array], Array],
    slope: Callable[[Array, Array], Array],
) -> Callable[[Tensor], Tensor]:
    """Make a unary method from f and its slope, slope(x, f(x))."""

    def method(self: Tensor) -> Tensor:
        x = self.data
        y = value(x)

        def vjp(g: Array) -> tuple[Array]:
            return (g * slope(x, y),)

        return record(y, (self,), vjp)

    return method


def _binary(
    value: Callable[[Array, Array], Array],
    left: Callable[[Array, Array, Array, Array], Array],
    right: Callable[[Array, Array, Array, Array], Array],
) -> Callable[[Tensor, Operand], Tensor]:
    """Make a broadcasting method from f(a, b) and two pullbacks(g, a, b, y).

    A pullback is called only for an operand that wants its gradient.
    """

    def method(self: Tensor, other: Operand) -> Tensor:
        second = as_tensor(other, self.dtype)
        a, b = self.data, second.data
        y = value(a, b)

        def vjp(g: Array) -> tuple[Array | None, Array | None]:
            return (
                unbroadcast(left(g, a, b, y), a.shape)
                if self.requires_grad
                else None,
                unbroadcast(right(g, a, b, y), b.shape)
                if second.requires_grad
                else None,
            )

        return record(y, (self, second), vjp)

    return method


def _reflected(
    method: Callable[[Tensor, Operand], Tensor],
) -> Callable[[Tensor, Operand], Tensor]:
    """Make ``__rop__`` from ``__op__``."""

    def swapped(self: Tensor, other: Operand) -> Tensor:
        return method(as_tensor(other, self.dtype), self)

    return swapped


def _sigmoid(x: Array) -> Array:
    small = np.exp(-np.abs(x))  # never overflows
    return np.where(x >= 0, 1, small) / (1 + small)


def _power_left(g: Array, a: Array, b: Array, y: Array) -> Array:
    # With b == 0 the slope is 0 even at a == 0, where a ** -1 is infinite.
    return g * b * a ** (np.where(b == 0, 1, b) - 1)


def _power_right(g: Array, a: Array, b: Array, y: Array) -> Array:
    return g * y * np.log(np.where(a > 0, a, 1))


def _spread(g: Array, shape: tuple[int, ...], axis: Axis, kept: bool) -> Array:
    """Undo a reduction's loss of axes: stretch `g` back over `shape`."""
    if axis is not None and not kept:
        g = np.expand_dims(g, axis)
    return np.broadcast_to(g, shape)


def _ints(args: tuple[Any, ...]) -> tuple[int, ...]:
    """Read ``f(2, 3)`` and ``f((2, 3))`` alike."""
    if len(args) == 1 and isinstance(args[0], Sequence):
        args = tuple(args[0])
    return tuple(int(n) for n in args)


class Tensor:
    """An array that knows how to send gradients back to where it came from.

    Parameters
    ----------
    data : array_like
        float32 and float64 arrays are kept as they are (not copied),
        everything else is converted to float32.
    requires_grad : bool, default False
        Whether `backward` shall fill in `grad`.

    Attributes
    ----------
    data : ndarray
        The values.
    grad : ndarray or None
        Sum of the gradients of all `backward` calls so far, in the dtype of
        `data`.  Only leaves have one.
    requires_grad : bool
        See above; True for results that depend on such a tensor.
    """

    # ndarray <op> Tensor has to come to our reflected methods.
    __array_ufunc__ = None

    def __init__(self, data: Any, requires_grad: bool = False) -> None:
        values = data.data if isinstance(data, Tensor) else data
        typed = isinstance(values, (np.ndarray, np.generic))
        kept = typed and values.dtype in _KEPT
        self.data: Array = np.asarray(values, dtype=None if kept else FLOAT)
        self.grad: Array | None = None
        self.requires_grad: bool = bool(requires_grad)
        self._parents: tuple[Tensor, ...] = ()
        self._vjp: Vjp | None = None
        self._number: int = _next_number()

    # ------------------------------------------------------------ describing

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return self.data.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.data.ndim

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the values."""
        return self.data.dtype

    def __repr__(self) -> str:
        note = ", requires_grad=True" if self.requires_grad else ""
        return f"{type(self).__name__}({self.data!r}{note})"

    def __float__(self) -> float:
        return float(self.data)

    # -------------------------------------------------------- differentiating

    def backward(self, grad: Operand | None = None) -> None:
        """Add d(self)/d(leaf), weighted by `grad`, to every leaf's `grad`.

        Parameters
        ----------
        grad : array_like, optional
            Cotangent of this tensor.  May be left out for a scalar.

        Raises
        ------
        ValueError
            If `grad` is missing and this is no scalar, or if it does not
            fit the shape.
        """
        if grad is None:
            if self.ndim:
                raise ValueError(
                    "backward() needs a gradient for a tensor of shape "
                    f"{self.shape}; only a scalar can do without"
                )
            seed = np.ones((), dtype=self.dtype)
        else:
            given = grad.data if isinstance(grad, Tensor) else grad
            seed = np.broadcast_to(
                np.asarray(given, dtype=self.dtype), self.shape
            )
        if not self.requires_grad:
            return

        tape, reached = [self], {id(self)}
        for tensor in tape:  # grows while it is read
            for parent in tensor._parents:
                if parent.requires_grad and id(parent) not in reached:
                    reached.add(id(parent))
                    tape.append(parent)
        tape.sort(key=lambda tensor: tensor._number, reverse=True)

        pending: dict[int, Array] = {id(self): seed}
        for tensor in tape:
            g = pending.pop(id(tensor))
            if tensor._vjp is None:
                # A copy in either case: g may be a view or be shared.
                total = g if tensor.grad is None else tensor.grad + g
                tensor.grad = np.array(total, dtype=tensor.dtype)
                continue
            for parent, part in zip(
                tensor._parents, tensor._vjp(g), strict=True
            ):
                if part is None or not parent.requires_grad:
                    continue
                part = np.asarray(part, dtype=parent.dtype)
                if id(parent) in pending:
                    part = np.asarray(pending[id(parent)] + part)
                pending[id(parent)] = part

    # ------------------------------------------------------------- arithmetic

    __add__ = _binary(np.add, lambda g, *_: g, lambda g, *_: g)
    __sub__ = _binary(np.subtract, lambda g, *_: g, lambda g, *_: -g)
    __mul__ = _binary(
        np.multiply,
        lambda g, a, b, y: g * b,
        lambda g, a, b, y: g * a,
    )
    __truediv__ = _binary(
        np.divide,
        lambda g, a, b, y: g / b,
        lambda g, a, b, y: -g * y / b,
    )
    __pow__ = _binary(np.power, _power_left, _power_right)
    __radd__ = _reflected(__add__)
    __rsub__ = _reflected(__sub__)
    __rmul__ = _reflected(__mul__)
    __rtruediv__ = _reflected(__truediv__)
    __rpow__ = _reflected(__pow__)

    __neg__ = _elementwise(np.negative, lambda x, y: -np.ones_like(x))
    exp = _elementwise(np.exp, lambda x, y: y)
    log = _elementwise(np.log, lambda x, y: 1 / x)
    sqrt = _elementwise(np.sqrt, lambda x, y: 0.5 / y)
    tanh = _elementwise(np.tanh, lambda x, y: 1 - y * y)
    sigmoid = _elementwise(_sigmoid, lambda x, y: y * (1 - y))
    relu = _elementwise(lambda x: np.maximum(x, 0), lambda x, y: x > 0)

    def __matmul__(self, other: Operand) -> Tensor:
        """Matrix product with the rules of `numpy.matmul`, 1-D included."""
        second = as_tensor(other, self.dtype)
        a, b = self.data, second.data
        # Vectors are matrices with one row (left) or one column (right).
        a2 = a[None, :] if a.ndim == 1 else a
        b2 = b[:, None] if b.ndim == 1 else b

        def vjp(g: Array) -> tuple[Array | None, Array | None]:
            if b.ndim == 1:
                g = g[..., None]
            if a.ndim == 1:
                g = g[..., None, :]
            da = db = None
            if self.requires_grad:
                da = unbroadcast(g @ np.swapaxes(b2, -1, -2), a2.shape)
                da = da.reshape(a.shape)
            if second.requires_grad and b2.ndim == 2:
                # One product instead of a stack of products to be summed.
                rows = a2.reshape(-1, a2.shape[-1])
                db = rows.T @ g.reshape(-1, g.shape[-1])
                db = db.reshape(b.shape)
            elif second.requires_grad:
                db = unbroadcast(np.swapaxes(a2, -1, -2) @ g, b2.shape)
            return da, db

        return record(a @ b, (self, second), vjp)

    __rmatmul__ = _reflected(__matmul__)

    # ------------------------------------------------------------- reductions

    def sum(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """Sum over `axis`, over everything when None."""
        x = self.data

        def vjp(g: Array) -> tuple[Array]:
            return (_spread(g, x.shape, axis, keepdims),)

        return record(x.sum(axis=axis, keepdims=keepdims), (self,), vjp)

    def mean(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """Mean over `axis`, over everything when None."""
        x = self.data
        y = np.asarray(x.mean(axis=axis, keepdims=keepdims))
        n = x.size // max(y.size, 1)

        def vjp(g: Array) -> tuple[Array]:
            return (_spread(g / n, x.shape, axis, keepdims),)

        return record(y, (self,), vjp)

    def max(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """Maximum over `axis`; tied maxima share the gradient evenly."""
        x = self.data
        top = x.max(axis=axis, keepdims=True)

        def vjp(g: Array) -> tuple[Array]:
            hit = x == top
            share = hit / hit.sum(axis=axis, keepdims=True).astype(x.dtype)
            return (_spread(g, x.shape, axis, keepdims) * share,)

        y = top if keepdims else np.squeeze(top, axis=axis)
        return record(y, (self,), vjp)

    def softmax(self, dim: int = -1) -> Tensor:
        """Softmax along `dim`, shifted by the maximum."""
        e = np.exp(self.data - self.data.max(axis=dim, keepdims=True))
        y = e / e.sum(axis=dim, keepdims=True)

        def vjp(g: Array) -> tuple[Array]:
            return (y * (g - (g * y).sum(axis=dim, keepdims=True)),)

        return record(y, (self,), vjp)

    # ------------------------------------------------------------ rearranging

    def reshape(self, *shape: Any) -> Tensor:
        """Change the shape: ``reshape(2, -1)`` or ``reshape((2, -1))``."""
        old = self.shape

        def vjp(g: Array) -> tuple[Array]:
            return (g.reshape(old),)

        return record(self.data.reshape(_ints(shape)), (self,), vjp)

    def transpose(self, *axes: Any) -> Tensor:
        """Permute the axes.

        Parameters
        ----------
        *axes : int or tuple of int
            A tuple is a whole permutation, two integers are a swap, and
            nothing at all reverses the order.

        Returns
        -------
        Tensor
            The rearranged tensor.
        """
        order = list(range(self.ndim))
        if not axes:
            order.reverse()
        elif len(axes) == 2:
            i, j = axes
            order[i], order[j] = order[j], order[i]
        else:
            order = [range(self.ndim)[i] for i in _ints(axes)]
        back = np.argsort(order)

        def vjp(g: Array) -> tuple[Array]:
            return (g.transpose(back),)

        return record(self.data.transpose(order), (self,), vjp)

    def __getitem__(self, index: Any) -> Tensor:
        """Index like an ndarray; an element taken twice counts twice."""
        x = self.data
        parts = index if isinstance(index, tuple) else (index,)
        # Index arrays are copied, the vjp may run after they have changed.
        where = tuple(
            np.array(part) if isinstance(part, (np.ndarray, list)) else part
            for part in parts
        )
        repeats = any(isinstance(part, np.ndarray) for part in where)

        def vjp(g: Array) -> tuple[Array]:
            out = np.zeros_like(x)
            if repeats:
                np.add.at(out, where, g)
            else:
                out[where] = g
            return (out,)

        return record(x[where], (self,), vjp)
