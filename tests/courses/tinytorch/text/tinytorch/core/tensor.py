"""A tensor with closures, after micrograd."""

import numpy as np

from tinytorch.core.autograd import order, shrink


class Tensor:
    def __init__(self, data, requires_grad=False, parents=()):
        self.data = np.array(data, np.float32)
        self.parents = [p for p in parents if p.requires_grad]
        self.requires_grad = requires_grad or bool(self.parents)
        self.grad = None
        self.push = lambda: None

    shape = property(lambda self: self.data.shape)
    size = property(lambda self: self.data.size)

    def take(self, gradient):
        if self.requires_grad:
            gradient = shrink(np.asarray(gradient, np.float32), self.shape)
            self.pending = gradient if self.pending is None else self.pending + gradient

    pending = None

    def backward(self, gradient=None):
        if gradient is None:
            if self.size != 1:
                raise ValueError("which gradient?")
            gradient = np.ones(self.shape)
        self.take(gradient)
        for node in order(self):
            if node.pending is None:
                continue
            node.push()
            node.grad = node.pending if node.grad is None else node.grad + node.pending
            node.pending = None

    def __add__(self, other):
        other = wrap(other)
        out = Tensor(self.data + other.data, parents=(self, other))

        def push():
            self.take(out.pending)
            other.take(out.pending)

        out.push = push
        return out

    def __mul__(self, other):
        other = wrap(other)
        out = Tensor(self.data * other.data, parents=(self, other))

        def push():
            self.take(out.pending * other.data)
            other.take(out.pending * self.data)

        out.push = push
        return out

    def __sub__(self, other):
        return self + wrap(other) * -1.0

    def __truediv__(self, other):
        other = wrap(other)
        inverse = Tensor(1 / other.data, parents=(other,))
        inverse.push = lambda: other.take(-inverse.pending / other.data**2)
        return self * inverse

    def matmul(self, other):
        out = Tensor(self.data @ other.data, parents=(self, other))

        def push():
            self.take(out.pending @ np.moveaxis(other.data, -1, -2))
            other.take(np.moveaxis(self.data, -1, -2) @ out.pending)

        out.push = push
        return out

    def __getitem__(self, key):
        out = Tensor(self.data[key], parents=(self,))

        def push():
            whole = np.zeros(self.shape)
            np.add.at(whole, key, out.pending)
            self.take(whole)

        out.push = push
        return out

    def reshape(self, *shape):
        out = Tensor(self.data.reshape(*shape), parents=(self,))
        out.push = lambda: self.take(out.pending.reshape(self.shape))
        return out

    def transpose(self, a=-2, b=-1):
        out = Tensor(np.swapaxes(self.data, a, b), parents=(self,))
        out.push = lambda: self.take(np.swapaxes(out.pending, a, b))
        return out

    def sum(self, axis=None, keepdims=False):
        kept = self.data.sum(axis=axis, keepdims=True)
        out = Tensor(self.data.sum(axis=axis, keepdims=keepdims), parents=(self,))
        out.push = lambda: self.take(out.pending.reshape(kept.shape) * np.ones(self.shape))
        return out

    def mean(self, axis=None, keepdims=False):
        total = self.sum(axis, keepdims)
        return total * (total.size / self.size)


def wrap(value):
    return value if isinstance(value, Tensor) else Tensor(value)
