"""Every result has a number; going back is going down the numbers."""

from __future__ import annotations

import itertools

import numpy as np

NUMBERS = itertools.count()


class Op:
    """What made a result: its inputs, and how its gradient is shared among them."""

    inputs: tuple = ()

    def share(self, g):
        return ()


class Add(Op):
    def run(self, a, b):
        return a + b

    def share(self, g):
        return g, g


class Sub(Add):
    def run(self, a, b):
        return a - b

    def share(self, g):
        return g, -g


class Mul(Op):
    def run(self, a, b):
        self.a, self.b = a, b
        return a * b

    def share(self, g):
        return g * self.b, g * self.a


class Div(Mul):
    def run(self, a, b):
        self.a, self.b = a, b
        return a / b

    def share(self, g):
        return g / self.b, -g * self.a / self.b / self.b


class MatMul(Mul):
    def run(self, a, b):
        self.a, self.b = a, b
        return a @ b

    def share(self, g):
        flip = lambda m: np.swapaxes(m, -1, -2)  # noqa: E731
        return g @ flip(self.b), flip(self.a) @ g


class View(Op):
    def __init__(self, there, back):
        self.there, self.back = there, back

    def run(self, x):
        return self.there(x)

    def share(self, g):
        return (self.back(g),)


class Gather(Op):
    """Rows of a table, and their gradients into a table of zeros, one position after the other."""

    def __init__(self, key):
        self.key = key

    def run(self, table):
        self.shape = table.shape
        return table[self.key]

    def share(self, g):
        grad = np.zeros(self.shape, np.float32)
        np.add.at(grad, self.key, g)
        return (grad,)


def descend(result, g):
    heap = {result.number: (result, g)}
    while heap:
        number = max(heap)
        tensor, g = heap.pop(number)
        tensor.grad = g if tensor.grad is None else tensor.grad + g
        for inp, part in zip(tensor.op.inputs, tensor.op.share(g)):
            if not inp.requires_grad:
                continue
            part = reduced(part, inp.data.shape)
            _, before = heap.get(inp.number, (inp, 0))
            heap[inp.number] = inp, before + part


def reduced(g, shape):
    if g.shape == shape:
        return g
    g = g.reshape((-1, *g.shape[g.ndim - len(shape) :])).sum(0)
    axes = tuple(i for i, (have, want) in enumerate(zip(g.shape, shape)) if have != want)
    return g.sum(axes, keepdims=True)
