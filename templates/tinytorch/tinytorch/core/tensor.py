"""A float32 array that can say where it came from."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinytorch.core.autograd import keep, run_backward


class Tensor:
    """`data` is float32 whatever it was made of, ids too. `requires_grad`: whether it collects a gradient."""

    def __init__(self, data: Any, requires_grad: bool = False) -> None:
        self.data = np.array(data, dtype=np.float32)
        self.requires_grad = requires_grad
        self.grad: np.ndarray | None = None
        self.links: list[Any] = []

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    @property
    def size(self) -> int:
        return self.data.size

    @property
    def dtype(self) -> np.dtype:
        return self.data.dtype

    def __repr__(self) -> str:
        return f"Tensor({self.data})"

    def numpy(self) -> np.ndarray:
        return self.data

    def __add__(self, other: Any) -> Tensor:
        other = as_tensor(other)
        return keep(Tensor(self.data + other.data), (self, lambda g: g), (other, lambda g: g))

    def __sub__(self, other: Any) -> Tensor:
        other = as_tensor(other)
        return keep(Tensor(self.data - other.data), (self, lambda g: g), (other, lambda g: -g))

    def __mul__(self, other: Any) -> Tensor:
        other = as_tensor(other)
        product = Tensor(self.data * other.data)
        return keep(product, (self, lambda g: g * other.data), (other, lambda g: g * self.data))

    def __truediv__(self, other: Any) -> Tensor:
        other = as_tensor(other)
        return keep(
            Tensor(self.data / other.data),
            (self, lambda g: g / other.data),
            (other, lambda g: -g * self.data / other.data**2),
        )

    def matmul(self, other: Tensor) -> Tensor:
        """(..., n, k) @ (..., k, m), both of two axes or more."""
        a, b = self.data, other.data
        return keep(
            Tensor(a @ b),
            (self, lambda g: g @ b.swapaxes(-1, -2)),
            (other, lambda g: a.swapaxes(-1, -2) @ g),
        )

    __matmul__ = matmul

    def __getitem__(self, key: Any) -> Tensor:
        def back(g: np.ndarray) -> np.ndarray:
            whole = np.zeros_like(self.data)
            np.add.at(whole, key, g)
            return whole

        return keep(Tensor(self.data[key]), (self, back))

    def reshape(self, *shape: Any) -> Tensor:
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return keep(Tensor(self.data.reshape(wanted)), (self, lambda g: g.reshape(self.shape)))

    def transpose(self, dim0: int = -2, dim1: int = -1) -> Tensor:
        return keep(
            Tensor(self.data.swapaxes(dim0, dim1)), (self, lambda g: g.swapaxes(dim0, dim1))
        )

    def sum(self, axis: int | None = None, keepdims: bool = False) -> Tensor:
        def back(g: np.ndarray) -> np.ndarray:
            lost = axis is not None and not keepdims
            return np.broadcast_to(np.expand_dims(g, axis) if lost else g, self.shape)

        return keep(Tensor(self.data.sum(axis=axis, keepdims=keepdims)), (self, back))

    def mean(self, axis: int | None = None, keepdims: bool = False) -> Tensor:
        count = self.size if axis is None else self.shape[axis]
        return self.sum(axis, keepdims) / count

    def backward(self, gradient: Any = None) -> None:
        """Without a gradient from a single number only."""
        if not self.requires_grad:
            return
        if gradient is None:
            if self.size != 1:
                raise ValueError(f"a gradient is needed to go back from shape {self.shape}")
            gradient = np.ones(self.shape)
        run_backward(self, np.asarray(gradient))

    def zero_grad(self) -> None:
        self.grad = None


def as_tensor(value: Any) -> Tensor:
    """Numbers and arrays stand beside tensors as constants."""
    return value if isinstance(value, Tensor) else Tensor(value)
