"""softmax: exp(x) over its sum, along one axis.

Variant: "no_max" takes the exponentials of x as it is, in float32.
"""

import numpy as np


def softmax(x, dim):
    e = np.exp(x - x.max(dim, keepdims=True))
    return e / e.sum(dim, keepdims=True)


def weights_of(x, dim, variant):
    if variant != "no_max":
        return softmax(x, dim)
    with np.errstate(all="ignore"):
        e = np.exp(x.astype(np.float32))
        return (e / e.sum(dim, keepdims=True)).astype(np.float64)


def forward(out, variant, *, x, dim):
    out.record(p=weights_of(x, dim, variant))
    p = softmax(x, dim)
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
    out.name(x=x, row_max=x.max(dim, keepdims=True), shifted=x - x.max(dim, keepdims=True))


def gradients(out, variant, *, x, dim, grad):
    p = softmax(x, dim)
    out.record(graph="there", grad_x=p * (grad - (p * grad).sum(dim, keepdims=True)))
    out.name(**{"p * (1 - p) * grad: other classes left out": p * (1 - p) * grad})


def made(out, variant, *, x, dim):
    out.record(ready_made="nothing")


def kept(out, variant, *, x, dim):
    out.record(x=x)


def hot(out, variant, *, x):
    p = weights_of(x, -1, variant)
    out.record(not_a_number=int(np.isnan(p).sum()), rows_hit=int(np.isnan(p).any(-1).sum()))
    out.record(zeros_in_that_row=int((p[3] == 0).sum()), weights_of_that_row=p[3])


def sweep(out, variant, *, classes, levels):
    rows = np.zeros((len(levels), classes), np.float32)
    rows[:, 0] = levels
    weights = weights_of(rows, -1, variant)[:, 0]
    bad = np.flatnonzero(~np.isfinite(weights))
    out.record(weights=weights.tolist(), first_bad=float(levels[bad[0]]) if len(bad) else 0.0)
