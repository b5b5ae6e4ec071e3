"""What the contract says of Tensor, and not a thing more: whatever it leaves open is refused or odd here.

Operands are tensors, `grad` starts as zeros and is kept by results too, backward takes any tensor with
one value, ties go to the first or to all, exp may overflow, an axis is one integer, and matrices have
two axes at least.
"""

import numpy as np


class Tensor:
    def __init__(self, data, requires_grad=False):
        if not isinstance(data, np.ndarray):
            raise TypeError("an ndarray, please")
        self.data = np.array(data)
        self.grad = np.zeros_like(self.data)
        self.requires_grad = requires_grad
        self.parents = []

    @property
    def shape(self):
        return self.data.shape

    @property
    def ndim(self):
        return len(self.data.shape)

    def backward(self, grad=None):
        if grad is None:
            if self.data.size != 1:
                raise ValueError("a gradient, please")
            grad = np.ones_like(self.data)
        for tensor in everything(self, [], set()):
            if tensor.parents:
                tensor.grad = np.zeros_like(tensor.data)
        self.grad = np.asarray(self.grad + grad)
        for tensor in reversed(everything(self, [], set())):
            for parent, rule in tensor.parents:
                part = shrunk(np.asarray(rule(tensor.grad)), parent.shape)
                parent.grad = np.asarray(parent.grad + part)

    def __add__(self, other):
        return result(self.data + other.data, (self, lambda g: g), (other, lambda g: g))

    def __sub__(self, other):
        return self + -other

    def __neg__(self):
        return result(-self.data, (self, lambda g: -g))

    def __mul__(self, other):
        return result(
            self.data * other.data,
            (self, lambda g: g * other.data),
            (other, lambda g: g * self.data),
        )

    def __truediv__(self, other):
        return self * other**-1

    def __pow__(self, n):
        x = self.data
        return result(x**n, (self, lambda g: g * n * x ** (n - 1)))

    def __matmul__(self, other):
        a, b = self.data, other.data
        if a.ndim < 2 or b.ndim < 2:
            raise ValueError("matrices, please")
        return result(
            a @ b,
            (self, lambda g: g @ b.swapaxes(-1, -2)),
            (other, lambda g: a.swapaxes(-1, -2) @ g),
        )

    def exp(self):
        y = np.exp(self.data)
        return result(y, (self, lambda g: g * y))

    def log(self):
        return result(np.log(self.data), (self, lambda g: g / self.data))

    def sqrt(self):
        return self**0.5

    def tanh(self):
        y = np.tanh(self.data)
        return result(y, (self, lambda g: g * (1 - y**2)))

    def sigmoid(self):
        y = np.exp(-np.logaddexp(0, -self.data))
        return result(y, (self, lambda g: g * y * (1 - y)))

    def relu(self):
        on = self.data >= 0
        return result(self.data * on, (self, lambda g: g * on))

    def sum(self, axis=None, keepdims=False):
        x, kept = self.data, kept_shape(self.shape, axis)
        y = x.sum(axis=axis, keepdims=keepdims)
        return result(y, (self, lambda g: np.ones_like(x) * g.reshape(kept)))

    def mean(self, axis=None, keepdims=False):
        total = self.sum(axis=axis, keepdims=keepdims)
        return total * Tensor(np.array(total.data.size / self.data.size, self.data.dtype))

    def max(self, axis=None, keepdims=False):
        x, kept = self.data, kept_shape(self.shape, axis)
        top = x.max(axis=axis, keepdims=True)
        y = x.max(axis=axis, keepdims=keepdims)
        return result(y, (self, lambda g: (x == top) * g.reshape(kept)))

    def softmax(self, dim=-1):
        e = (self - Tensor(self.data.max(axis=dim, keepdims=True))).exp()
        return e / e.sum(axis=dim, keepdims=True)

    def reshape(self, *shape):
        shape = shape[0] if isinstance(shape[0], tuple) else shape
        return result(self.data.reshape(shape), (self, lambda g: g.reshape(self.shape)))

    def transpose(self, *axes):
        order = list(range(self.ndim))
        if isinstance(axes[0], tuple):
            order = list(axes[0])
        else:
            i, j = axes
            if min(axes) < 0:
                raise ValueError("axes from the front, please")
            order[i], order[j] = j, i
        back = [order.index(axis) for axis in range(self.ndim)]
        return result(self.data.transpose(order), (self, lambda g: g.transpose(back)))

    def __getitem__(self, place):
        for part in place if isinstance(place, tuple) else (place,):
            integers = isinstance(part, np.ndarray) and part.dtype.kind == "i"
            if not integers and not isinstance(part, (int, slice)):
                raise TypeError("integers, slices or arrays of integers, please")

        def scattered(g):
            grad = np.zeros_like(self.data)
            np.add.at(grad, place, g)
            return grad

        return result(self.data[place], (self, scattered))


def kept_shape(shape, axis):
    if axis is None:
        return (1,) * len(shape)
    return tuple(1 if i == axis % len(shape) else n for i, n in enumerate(shape))


def result(data, *parents):
    tensor = Tensor(np.asarray(data))
    tensor.parents = list(parents)
    return tensor


def everything(tensor, order, seen):
    """The tensors that this one comes from and then itself, each once."""
    if id(tensor) not in seen:
        seen.add(id(tensor))
        for parent, _ in tensor.parents:
            everything(parent, order, seen)
        order.append(tensor)
    return order


def shrunk(grad, shape):
    while grad.ndim > len(shape):
        grad = grad.sum(0)
    for axis, size in enumerate(shape):
        if size == 1:
            grad = grad.sum(axis, keepdims=True)
    return grad
