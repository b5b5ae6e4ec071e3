"""Runs the learner's Tensor. Numbers on the left, unary minus and powers are left open."""

import operator

import numpy as np


def leaf(learner, x):
    return learner.Tensor(x, requires_grad=True)


def back(y, grad):
    """Backward from y with this gradient."""
    y.backward(np.asarray(grad, np.float32))


def made(learner, record, x):
    """What a new tensor tells of itself."""
    tensor = learner.Tensor(x.astype(np.float64))
    record(data=tensor.data, shape=list(tensor.shape), requires_grad=bool(tensor.requires_grad))
    record(grad_is_empty=leaf(learner, x).grad is None)


def pair(learner, record, op, a, b, grad):
    """op(a, b), then the gradients of sum(result * grad)."""
    left, right = leaf(learner, a), leaf(learner, b)
    y = op(left, right)
    record(y=y.data)
    back(y, grad)
    record(grad_a=left.grad, grad_b=right.grad)


def add(learner, record, a, b, grad):
    pair(learner, record, operator.add, a, b, grad)


def subtract(learner, record, a, b, grad):
    pair(learner, record, operator.sub, a, b, grad)


def multiply(learner, record, a, b, grad):
    pair(learner, record, operator.mul, a, b, grad)


def divide(learner, record, a, b, grad):
    pair(learner, record, operator.truediv, a, b, grad)


def matmul(learner, record, a, b, grad):
    pair(learner, record, lambda x, y: x.matmul(y), a, b, grad)


def number(learner, record, x, c, grad):
    """A tensor times a number, plus a number."""
    mine = leaf(learner, x)
    y = mine * c + c
    record(y=y.data)
    back(y, grad)
    record(grad_x=mine.grad)


def single(learner, record, op, x, grad):
    """op(x), then the gradient of sum(result * grad)."""
    mine = leaf(learner, x)
    y = op(mine)
    record(y=y.data)
    back(y, grad)
    record(grad_x=mine.grad)


def index(learner, record, x, start, stop, grad):
    """A slice of the first axis."""
    single(learner, record, lambda t: t[start:stop], x, grad)


def lookup(learner, record, x, places, grad):
    """Rows by an array of integers, some of which come twice."""
    single(learner, record, lambda t: t[places], x, grad)


def reshape(learner, record, x, shape, grad):
    single(learner, record, lambda t: t.reshape(*shape), x, grad)


def transpose(learner, record, x, grad):
    single(learner, record, lambda t: t.transpose(), x, grad)


def total(learner, record, x):
    """The sum of all, without a gradient handed in."""
    mine = leaf(learner, x)
    y = mine.sum()
    record(y=float(y.data))
    y.backward()
    record(grad_x=mine.grad)


def along(learner, record, x, axis, keepdims, grad):
    """The sum along an axis."""
    single(learner, record, lambda t: t.sum(axis=axis, keepdims=keepdims), x, grad)


def mean(learner, record, x):
    """The mean of all, as a loss is."""
    mine = leaf(learner, x)
    y = mine.mean()
    record(y=float(y.data))
    y.backward()
    record(grad_x=mine.grad)


def square(learner, record, x, grad):
    """out * out, where out was computed: its gradient is 2 out for each."""
    mine = leaf(learner, x)
    out = mine * 3.0
    y = out * out
    record(y=y.data)
    back(y, grad)
    record(grad_x=mine.grad)


def diamond(learner, record, x, w, grad):
    """Two ways from x to y, one of them longer."""
    mine, weight = leaf(learner, x), leaf(learner, w)
    once = mine * weight
    y = once + once * 2.0 + mine
    record(y=y.data)
    back(y, grad)
    record(grad_x=mine.grad, grad_w=weight.grad)


def again(learner, record, x, grad, more):
    """Two graphs from one leaf: the gradients add up."""
    mine = leaf(learner, x)
    back(mine * 2.0, grad)
    back(mine + 1.0, more)
    record(grad_x=mine.grad)


def alone(learner, record, x):
    """Backward without a gradient, from more than one number."""
    try:
        (leaf(learner, x) * 2.0).backward()
    except (ValueError, RuntimeError):
        record(answer="refused")
    else:
        record(answer="taken")
