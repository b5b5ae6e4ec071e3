from __future__ import annotations

import numpy as np

from .autograd import NUMBERS, Add, Div, Gather, MatMul, Mul, Op, Sub, View, descend


class Tensor:
    def __init__(self, data, requires_grad: bool = False):
        self.data = np.array(data, "f4")
        self.requires_grad = requires_grad
        self.grad = None
        self.op = Op()
        self.number = next(NUMBERS)

    @classmethod
    def of(cls, op, *inputs):
        inputs = tuple(t if isinstance(t, Tensor) else cls(t) for t in inputs)
        result = cls(op.run(*(t.data for t in inputs)), any(t.requires_grad for t in inputs))
        op.inputs, result.op = inputs, op
        return result

    @property
    def shape(self):
        return self.data.shape

    def backward(self, gradient=None):
        if gradient is None and self.data.size != 1:
            raise ValueError("a gradient, please")
        g = np.ones(self.shape, "f4") if gradient is None else np.asarray(gradient, "f4")
        if self.requires_grad:
            descend(self, g)

    def __add__(self, other):
        return Tensor.of(Add(), self, other)

    def __sub__(self, other):
        return Tensor.of(Sub(), self, other)

    def __mul__(self, other):
        return Tensor.of(Mul(), self, other)

    def __truediv__(self, other):
        return Tensor.of(Div(), self, other)

    def matmul(self, other):
        return Tensor.of(MatMul(), self, other)

    def __getitem__(self, key):
        return Tensor.of(Gather(key), self)

    def reshape(self, *shape):
        return Tensor.of(View(lambda x: x.reshape(*shape), lambda g: g.reshape(self.shape)), self)

    def transpose(self, a=-1, b=-2):
        swap = lambda x: np.swapaxes(x, a, b)  # noqa: E731
        return Tensor.of(View(swap, swap), self)

    def sum(self, axis=None, keepdims=False):
        def back(g):
            g = g if keepdims or axis is None else np.expand_dims(g, axis)
            return g + np.zeros(self.shape, "f4")

        return Tensor.of(View(lambda x: x.sum(axis, keepdims=keepdims), back), self)

    def mean(self, axis=None, keepdims=False):
        return self.sum(axis, keepdims) / (self.data.size if axis is None else self.shape[axis])
