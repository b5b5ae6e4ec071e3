"""A graph of nodes, each a vector-Jacobian product for every input."""

import numpy as np


class Node:
    def __init__(self, inputs, vjps):
        self.inputs, self.vjps = inputs, vjps


def propagate(root, seed):
    grads = {id(root): seed}
    for tensor in toposort(root):
        g = grads.pop(id(tensor))
        tensor.grad = g if tensor.grad is None else tensor.grad + g
        for inp, vjp in zip(tensor.node.inputs, tensor.node.vjps):
            if inp.requires_grad:
                part = fit(vjp(g), inp.shape).astype(np.float32)
                grads[id(inp)] = grads[id(inp)] + part if id(inp) in grads else part


def toposort(root):
    counts, stack = {}, [root]
    while stack:
        tensor = stack.pop()
        counts[id(tensor)] = counts.get(id(tensor), 0) + 1
        if counts[id(tensor)] == 1:
            stack += [inp for inp in tensor.node.inputs if inp.requires_grad]
    ready = [root]
    while ready:
        tensor = ready.pop()
        yield tensor
        for inp in tensor.node.inputs:
            if inp.requires_grad:
                counts[id(inp)] -= 1
                if counts[id(inp)] == 0:
                    ready.append(inp)


def fit(g, shape):
    lead = g.ndim - len(shape)
    g = np.sum(g, axis=tuple(range(lead)))
    return np.sum(g, axis=tuple(i for i in range(g.ndim) if shape[i] == 1), keepdims=True)
