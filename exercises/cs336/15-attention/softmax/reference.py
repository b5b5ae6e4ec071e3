"""softmax: exp(x) over its sum, along one axis."""

import numpy as np


def softmax(x, dim):
    e = np.exp(x - x.max(dim, keepdims=True))
    return e / e.sum(dim, keepdims=True)


def forward(out, variant, *, x, dim):
    p = softmax(x, dim)
    out.record(p=p)
    axes = {f"softmax(x, dim={axis})": axis for axis in range(x.ndim) if axis != dim % x.ndim}
    out.name(**{name: softmax(x, axis) for name, axis in axes.items()})
    out.name(**{"the softmax of all numbers at once": softmax(x, None)})
    with np.errstate(all="ignore"):
        least = x - x.max(dim, keepdims=True)
        out.name(
            **{
                "exp(x), not divided by its sum": np.exp(x),
                "exp(x - max), not divided by its sum": np.exp(least),
            }
        )
        out.name(**{"log_softmax(x)": np.log(p), "x / sum(x)": x / x.sum(dim, keepdims=True)})
        out.name(
            **{
                "exp(x) / sum(x)": np.exp(x) / x.sum(dim, keepdims=True),
                "softmax(-x)": softmax(-x, dim),
            }
        )
        whole = np.exp(least) / np.exp(least).sum()
        out.name(**{"exp(x - max) over the sum of the whole tensor": whole})


def gradients(out, variant, *, x, dim, grad):
    p = softmax(x, dim)
    out.record(graph="there", grad_x=p * (grad - (p * grad).sum(dim, keepdims=True)))
    out.name(**{"p * (1 - p) * grad: other classes left out": p * (1 - p) * grad})


def made(out, variant, *, x, dim):
    out.record(ready_made="nothing")


def kept(out, variant, *, x, dim):
    out.record(x=x)
