"""RMS normalisation: y = x / sqrt(mean(x**2) + eps) * weight, over the last axis.

Variant: "axis_lost" takes the mean without keeping its axis, so that it meets the wrong one, or none.
"""

import numpy as np
from pack.modules import SET, module_facts


def root(x, eps, axis=-1):
    return np.sqrt((x * x).mean(axis, keepdims=True) + eps)


def lost(x, weight, eps):
    """What comes out where the mean's axis is not kept."""
    try:
        return x / np.sqrt((x * x).mean(-1) + eps) * weight
    except ValueError:
        raise Exception("the sizes do not fit") from None  # of whichever kind


def forward(out, variant, *, x, weight, eps):
    rms = root(x, eps)
    out.record(y=lost(x, weight, eps) if variant == "axis_lost" else x / rms * weight)
    squares = (x * x).mean(-1, keepdims=True)
    out.name(
        mean_square=squares, sum_square=squares * x.shape[-1], length=np.sqrt(squares * x.shape[-1])
    )
    out.name(rms=rms, **{"1 / rms": 1 / rms, "x / rms, without the weight": x / rms})
    out.name(**{"x * rms * weight": x * rms * weight, "x * weight": x * weight})
    out.name(**{"x / rms * (1 + weight)": x / rms * (1 + weight)})
    out.name(**{"x / (mean(x**2) + eps) * weight, without the root": x / rms**2 * weight})
    out.name(
        **{
            "x / sqrt(sum(x**2) + eps) * weight": x
            / root(x, eps / x.shape[-1])
            / x.shape[-1] ** 0.5
            * weight
        }
    )
    centred = x - x.mean(-1, keepdims=True)
    out.name(**{"LayerNorm, which takes the mean away": centred / root(centred, eps) * weight})
    out.name(**{"x / std * weight": x / root(centred, eps) * weight})
    out.name(
        **{"x / rms * weight, with one rms for the whole tensor": x / root(x, eps, None) * weight}
    )
    if x.ndim > 1:
        out.name(
            **{
                "x / rms * weight, with the mean over the axis before the last": x
                / root(x, eps, -2)
                * weight
            }
        )
    out.name(**{"x / (sqrt(mean(x**2)) + eps) * weight": x / (root(x, 0) + eps + 1e-300) * weight})

    if x.shape[-1] > 1:
        unbiased = x.std(-1, ddof=1, keepdims=True)
        out.name(**{"x / x.std(-1) * weight": x / (unbiased + 1e-300) * weight})


def gradients(out, variant, *, x, weight, eps, grad):
    rms = root(x, eps)
    n, h = x / rms, grad * weight
    out.record(graph="there", grad_x=(h - n * (h * n).mean(-1, keepdims=True)) / rms)
    out.name(**{"the gradient with rms taken for a constant": h / rms})
    out.offered(grad_weight=(grad * n).sum(tuple(range(x.ndim - 1))))


def half(out, variant, *, x, weight):
    out.record(finite=True, rows_of_zeros=0, dtype_of_y="torch.float16")  # x / inf is 0


def made(out, variant, *, x, weight, eps):
    module_facts(out, [weight.shape], ["weight"])


def initialisation(out, variant, *, d):
    out.record(start=SET, weight=np.ones(d))


def kept(out, variant, *, x, weight, eps):
    out.record(x=x, weight=weight)


def one(out, variant, *, x, weight, eps):
    try:
        found = lost(x, weight, eps)
        told = "right" if np.allclose(found, x / root(x, eps) * weight) else "wrong"
    except Exception:  # the sizes do not fit
        told = "raises"
    out.record(comes_out=told if variant == "axis_lost" else "right")
