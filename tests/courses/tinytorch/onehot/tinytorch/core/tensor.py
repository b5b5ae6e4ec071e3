import numpy as np

from tinytorch.core.autograd import Node, propagate


class Tensor:
    def __init__(self, data, requires_grad=False, node=None):
        self.data = np.asarray(data).astype(np.float32)
        self.node = node or Node((), ())
        self.requires_grad = requires_grad or any(t.requires_grad for t in self.node.inputs)
        self.grad = None

    @property
    def shape(self):
        return self.data.shape

    def backward(self, gradient=None):
        if gradient is None:
            if self.data.size > 1:
                raise ValueError("no gradient for %s numbers" % self.data.size)
            gradient = np.ones_like(self.data)
        if self.requires_grad:
            propagate(self, np.asarray(gradient, np.float32))

    def __add__(self, other):
        other = lift(other)
        return made(self.data + other.data, (self, other), lambda g: g, lambda g: g)

    def __sub__(self, other):
        other = lift(other)
        return made(self.data - other.data, (self, other), lambda g: g, lambda g: -g)

    def __mul__(self, other):
        a, b = self, lift(other)
        return made(a.data * b.data, (a, b), lambda g: g * b.data, lambda g: g * a.data)

    def __truediv__(self, other):
        a, b = self, lift(other)
        y = a.data / b.data
        return made(y, (a, b), lambda g: g / b.data, lambda g: -g * y / b.data)

    def __matmul__(self, other):
        a, b = self.data, other.data
        return made(
            np.matmul(a, b),
            (self, other),
            lambda g: g @ b.swapaxes(-2, -1),
            lambda g: a.swapaxes(-2, -1) @ g,
        )

    matmul = __matmul__

    def __getitem__(self, key):
        def scatter(g):
            out = np.zeros(self.shape, np.float32)
            np.add.at(out, key, g)
            return out

        return made(self.data[key], (self,), scatter)

    def reshape(self, *shape):
        return made(self.data.reshape(*shape), (self,), lambda g: g.reshape(self.shape))

    def transpose(self, a=-1, b=-2):
        return made(self.data.swapaxes(a, b), (self,), lambda g: g.swapaxes(a, b))

    def sum(self, axis=None, keepdims=False):
        shape = np.sum(self.data, axis, keepdims=True).shape
        return made(
            np.sum(self.data, axis, keepdims=keepdims),
            (self,),
            lambda g: np.ones(self.shape) * g.reshape(shape),
        )

    def mean(self, axis=None, keepdims=False):
        total = self.sum(axis, keepdims)
        return total * (total.data.size / self.data.size)


def made(data, inputs, *vjps):
    return Tensor(data, node=Node(inputs, vjps))


def lift(value):
    return value if isinstance(value, Tensor) else Tensor(value)
