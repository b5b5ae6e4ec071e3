"""Tensor: an ndarray, its gradient, and the one function that sends the gradient on to the parents.

The layers in `minimodel.nn` do not compose the small ops below. They compute on raw arrays and end in

    return Tensor.node(Y, (parents...), backward)

where backward(dY) calls `parent.add_grad(...)` once per parent.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray
Axis: TypeAlias = int | tuple[int, ...] | None
Backward: TypeAlias = Callable[[Array], None]


def unbroadcast(G: Array, shape: tuple[int, ...]) -> Array:
    """Sum G over every axis along which `shape` was stretched: one einsum that drops those axes."""
    if G.shape == shape: return G
    lead = G.ndim - len(shape)
    kept = [i for i in range(lead, G.ndim) if not (shape[i - lead] == 1 != G.shape[i])]
    return np.asarray(np.einsum(G, [*range(G.ndim)], kept)).reshape(shape)


def softmax(Z: Array, axis: int = -1) -> Array:
    E = np.exp(Z - Z.max(axis=axis, keepdims=True))
    return E / E.sum(axis=axis, keepdims=True)


def sigmoid(Z: Array) -> Array:
    """1 / (1 + e^-z) as e^-log(1 + e^-z): no overflow on either side, and the small values stay accurate."""
    return np.exp(-np.logaddexp(0.0, -Z))


class Tensor:
    __array_ufunc__ = None  # ndarray + Tensor has to end up in Tensor.__radd__

    data: Array
    grad: Array | None

    def __init__(self, data: Any, requires_grad: bool = False) -> None:
        X = np.asarray(data.data if isinstance(data, Tensor) else data)
        self.data = X if X.dtype.kind == "f" else X.astype(np.float64)
        self.grad = None
        self.requires_grad = requires_grad
        self._parents: tuple[Tensor, ...] = ()
        self._backward: Backward | None = None

    @classmethod
    def node(cls, Y: Any, parents: Sequence[Tensor], backward: Backward) -> Tensor:
        """The result of an operation. The backward function is dropped when no parent wants a gradient."""
        t = Tensor(Y, requires_grad=any(p.requires_grad for p in parents))
        if t.requires_grad: t._parents, t._backward = tuple(p for p in parents if p.requires_grad), backward
        return t

    # ---- gradients

    def add_grad(self, G: Any) -> None:
        """Accumulate G, given in any shape ours broadcasts to. Always copies, so no two grads share memory."""
        if not self.requires_grad: return
        G = unbroadcast(np.asarray(G), self.data.shape).astype(self.data.dtype)
        self.grad = G if self.grad is None else np.asarray(self.grad + G)

    def backward(self, grad: Any = None) -> None:
        if grad is None and self.ndim != 0: raise ValueError(f"backward() without a gradient needs a scalar, this has shape {self.shape}")
        dY = np.broadcast_to(1.0 if grad is None else grad.data if isinstance(grad, Tensor) else grad, self.shape)

        order: list[Tensor] = []; seen: set[int] = set(); stack: list[tuple[Tensor, bool]] = [(self, False)]
        while stack:  # depth first without recursion: an unrolled LSTM is a deep graph
            t, done = stack.pop()
            if done: order.append(t)
            elif id(t) not in seen:
                seen.add(id(t)); stack.append((t, True)); stack.extend((p, False) for p in t._parents)

        for t in order:
            if t._backward is not None: t.grad = None  # what an earlier backward() left inside the graph is spent
        self.add_grad(dY)
        for t in reversed(order):
            if t._backward is not None and t.grad is not None: t._backward(t.grad)

    # ---- looking at it

    @property
    def shape(self) -> tuple[int, ...]: return self.data.shape

    @property
    def ndim(self) -> int: return self.data.ndim

    @property
    def dtype(self) -> np.dtype: return self.data.dtype

    def __len__(self) -> int: return len(self.data)

    def item(self) -> float: return float(self.data.item())

    def __repr__(self) -> str: return f"{type(self).__name__}({self.data!r}, requires_grad={self.requires_grad})"

    # ---- arithmetic

    def _lift(self, other: Any) -> Tensor:
        """Constants become Tensors; scalars and integers take our dtype, so that float32 * 2 is float32."""
        if isinstance(other, Tensor): return other
        B = np.asarray(other)
        return Tensor(B.astype(self.data.dtype) if B.ndim == 0 or B.dtype.kind != "f" else B)

    def __add__(self, other: Any) -> Tensor:
        a, b = self, self._lift(other)
        def backward(dY: Array) -> None: a.add_grad(dY); b.add_grad(dY)
        return Tensor.node(a.data + b.data, (a, b), backward)

    def __sub__(self, other: Any) -> Tensor:
        a, b = self, self._lift(other)
        def backward(dY: Array) -> None: a.add_grad(dY); b.add_grad(-dY)
        return Tensor.node(a.data - b.data, (a, b), backward)

    def __mul__(self, other: Any) -> Tensor:
        a, b = self, self._lift(other); A, B = a.data, b.data
        def backward(dY: Array) -> None:
            a.add_grad(np.einsum("...,...->...", dY, B)); b.add_grad(np.einsum("...,...->...", dY, A))
        return Tensor.node(np.einsum("...,...->...", A, B), (a, b), backward)

    def __truediv__(self, other: Any) -> Tensor:
        a, b = self, self._lift(other); A, B = a.data, b.data; Y = A / B
        def backward(dY: Array) -> None: a.add_grad(dY / B); b.add_grad(-dY * Y / B)
        return Tensor.node(Y, (a, b), backward)

    def __pow__(self, other: Any) -> Tensor:
        a, b = self, self._lift(other); A, B = a.data, b.data; Y = A ** B
        def backward(dY: Array) -> None:
            # d(a^b)/da = b a^(b-1), with a^0 flat even at a = 0;  d(a^b)/db = a^b log a, with limit 0 at a = 0
            if a.requires_grad: a.add_grad(dY * B * A ** np.where(B == 0, 1, B - 1))
            if b.requires_grad: b.add_grad(dY * Y * np.log(np.where(A == 0, 1, A)))
        return Tensor.node(Y, (a, b), backward)

    def __matmul__(self, other: Any) -> Tensor:
        a, b = self, self._lift(other); A, B = a.data, b.data
        if 0 in (A.ndim, B.ndim) or A.shape[-1] != B.shape[-2 if B.ndim > 1 else 0]:  # einsum itself would stretch a 1
            raise ValueError(f"matmul: shapes {A.shape} and {B.shape} do not fit")
        i, k = "i" * (A.ndim > 1), "k" * (B.ndim > 1)
        sA, sB, sY = f"...{i}j", f"...j{k}", f"...{i}{k}"
        def backward(dY: Array) -> None:
            a.add_grad(np.einsum(f"{sY},{sB}->{sA}", dY, B, optimize=True))
            b.add_grad(np.einsum(f"{sA},{sY}->{sB}", A, dY, optimize=True))
        return Tensor.node(np.einsum(f"{sA},{sB}->{sY}", A, B, optimize=True), (a, b), backward)

    def __neg__(self) -> Tensor: return Tensor.node(-self.data, (self,), lambda dY: self.add_grad(-dY))

    def __radd__(self, other: Any) -> Tensor: return self._lift(other) + self
    def __rsub__(self, other: Any) -> Tensor: return self._lift(other) - self
    def __rmul__(self, other: Any) -> Tensor: return self._lift(other) * self
    def __rtruediv__(self, other: Any) -> Tensor: return self._lift(other) / self
    def __rpow__(self, other: Any) -> Tensor: return self._lift(other) ** self
    def __rmatmul__(self, other: Any) -> Tensor: return self._lift(other) @ self

    # ---- reductions

    def _axes(self, axis: Axis) -> tuple[list[int], tuple[int, ...]]:
        """The axes a reduction keeps, and the shape with a 1 where it does not."""
        gone = {int(i) for i in np.arange(self.ndim)[slice(None) if axis is None else [axis] if np.ndim(axis) == 0 else list(axis)]}
        return [i for i in range(self.ndim) if i not in gone], tuple(1 if i in gone else n for i, n in enumerate(self.shape))

    def sum(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        X = self.data; kept, ones = self._axes(axis)
        Y = np.asarray(np.einsum(X, [*range(X.ndim)], kept))
        def backward(dY: Array) -> None: self.add_grad(np.broadcast_to(dY.reshape(ones), X.shape))
        return Tensor.node(Y.reshape(ones) if keepdims else Y, (self,), backward)

    def mean(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        n = math.prod(self.shape) // max(math.prod(self._axes(axis)[1]), 1)
        return self.sum(axis, keepdims) / n

    def max(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        X = self.data; kept, ones = self._axes(axis); every = [*range(X.ndim)]
        M = X.max(axis=tuple(i for i in every if i not in kept), keepdims=True)
        def backward(dY: Array) -> None:
            hit = (X == M).astype(X.dtype)  # tied maxima share the gradient evenly
            self.add_grad(dY.reshape(ones) * hit / np.asarray(np.einsum(hit, every, kept)).reshape(ones))
        return Tensor.node(M if keepdims else M.reshape([X.shape[i] for i in kept]), (self,), backward)

    # ---- elementwise

    def exp(self) -> Tensor:
        Y = np.exp(self.data)
        return Tensor.node(Y, (self,), lambda dY: self.add_grad(dY * Y))

    def log(self) -> Tensor:
        X = self.data
        return Tensor.node(np.log(X), (self,), lambda dY: self.add_grad(dY / X))

    def sqrt(self) -> Tensor:
        Y = np.sqrt(self.data)
        return Tensor.node(Y, (self,), lambda dY: self.add_grad(dY / (2 * Y)))

    def tanh(self) -> Tensor:
        Y = np.tanh(self.data)
        return Tensor.node(Y, (self,), lambda dY: self.add_grad(dY * (1 - Y * Y)))

    def sigmoid(self) -> Tensor:
        Y = sigmoid(self.data)
        return Tensor.node(Y, (self,), lambda dY: self.add_grad(dY * Y * (1 - Y)))

    def relu(self) -> Tensor:
        X = self.data
        return Tensor.node(np.maximum(X, 0), (self,), lambda dY: self.add_grad(dY * (X > 0)))

    def softmax(self, dim: int = -1) -> Tensor:
        P = softmax(self.data, dim)
        def backward(dY: Array) -> None: self.add_grad(P * (dY - (dY * P).sum(axis=dim, keepdims=True)))
        return Tensor.node(P, (self,), backward)

    # ---- shape

    def reshape(self, *shape: Any) -> Tensor:
        X = self.data; to = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return Tensor.node(X.reshape(to), (self,), lambda dY: self.add_grad(dY.reshape(X.shape)))

    def transpose(self, *axes: Any) -> Tensor:
        """transpose() reverses, transpose((2, 0, 1)) permutes, transpose(0, 1) swaps two axes."""
        n = self.ndim; every = [*range(n)]
        if len(axes) == 1 and isinstance(axes[0], (tuple, list)): to = [int(i) for i in np.arange(n)[list(axes[0])]]
        elif len(axes) == 2: i, j = (int(k) for k in np.arange(n)[list(axes)]); to = [{i: j, j: i}.get(k, k) for k in every]
        else: to = [int(i) for i in np.arange(n)[list(axes)]] if axes else every[::-1]
        if sorted(to) != every: raise ValueError(f"transpose: axes {axes} are no permutation of {n} axes")
        return Tensor.node(np.einsum(self.data, every, to), (self,), lambda dY: self.add_grad(np.einsum(dY, to, every)))

    @property
    def T(self) -> Tensor: return self.transpose()

    def __getitem__(self, index: Any) -> Tensor:
        X = self.data
        def backward(dY: Array) -> None:
            dX = np.zeros_like(X); np.add.at(dX, index, dY)  # add.at: an index array may name a place twice
            self.add_grad(dX)
        return Tensor.node(X[index], (self,), backward)


def as_tensor(x: Any) -> Tensor: return x if isinstance(x, Tensor) else Tensor(x)
