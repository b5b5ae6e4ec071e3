"""The GELU and the feed-forward network from first principles, whichever GELU a learner wrote.

The contract accepts any GELU within 1e-3 of the exact one, so an FFN's values are not fixed to more
digits than that. Three ways of measuring get around it, and together they leave nothing open:

- `gelu` and `gelu_slope` bound each value around the exact one: by 1e-3 in Phi(x), hence by
  1e-3 * min(1, |x|) in gelu(x). The tanh form is at most 4.8e-4 away; its slope, 8.7e-4. Here
  relu, x * sigmoid(1.702 x) and x * sigmoid(x) fail.
- `forward` and `again` draw hidden values beyond +-10 only, where every form is x or 0 to the last
  digit. There whole arrays are compared, strictly, and a learner sees which numbers are wrong.
- `composed` draws ordinary hidden values and measures, in the learner's process, how far the FFN
  and its gradients are from two products around the learner's *own* gelu, taken at the hidden
  values that cases.py worked out. Whatever the form, that distance is 0 to rounding.
"""

import math

import numpy as np
from pack.common import COARSE

VALUE, SLOPE = 1e-3, 2e-3  # how far from the exact form
ROUNDING = 1e-6  # of the value, for float32

erfc = np.vectorize(math.erfc, otypes=[np.float64])


def phi(x):
    """The distribution function of the standard normal, by its complement: exact in both tails."""
    return 0.5 * erfc(-x / math.sqrt(2.0))


def slope(x):
    """d/dx x Phi(x) = Phi(x) + x times the density."""
    near = np.clip(x, -40.0, 40.0)
    return phi(x) + near * np.exp(-0.5 * near**2) / math.sqrt(2.0 * math.pi)


def by_tanh(x):
    """What the tanh form has for Phi(x), and the slope of x times that."""
    near = np.clip(x, -40.0, 40.0)
    share = 0.5 * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (near + 0.044715 * near**3)))
    inner_slope = math.sqrt(2.0 / math.pi) * (1.0 + 3 * 0.044715 * near**2)
    return share, share + 2.0 * near * share * (1.0 - share) * inner_slope


def feed_forward(x, w_1, b_1, w_2, b_2, variant=None):
    """The values on the way, and the function from the gradient of the output to all gradients.

    Variants in COARSE have the GELU's tanh form, which is right as well: near a number that a change
    mentions, a hidden value may come near 0.
    """
    pre = np.tensordot(x, w_1, 1) + b_1
    share, slopes = by_tanh(pre) if variant in COARSE else (phi(pre), slope(pre))
    hidden = pre * share
    out = np.tensordot(hidden, w_2, 1) + b_2

    def back(grad):
        d_pre = np.tensordot(grad, w_2, (-1, 1)) * slopes
        lead = tuple(range(x.ndim - 1))
        return {
            "x": np.tensordot(d_pre, w_1, (-1, 1)),
            "w_1": np.tensordot(x, d_pre, (lead, lead)),
            "b_1": d_pre.sum(lead),
            "w_2": np.tensordot(hidden, grad, (lead, lead)),
            "b_2": grad.sum(lead),
        }

    return {"pre": pre, "hidden": hidden, "out": out}, back


def attributes(out, variant, *, d_model, d_ff):
    shapes = {"w_1": [d_model, d_ff], "b_1": [d_ff], "w_2": [d_ff, d_model], "b_2": [d_model]}
    for name, shape in shapes.items():
        out.record(**{name: shape, f"{name}_is_learned": True})
    out.record(parameters=4, seeds_repeat=True)


def gelu(out, variant, *, x):
    out.record(shape=list(x.shape), dtype_is_kept=True)
    for at, value in zip(x.reshape(-1), (x * phi(x)).reshape(-1)):
        room = VALUE * min(1.0, abs(at)) + ROUNDING * abs(at)
        name = f"gelu({float(at):.5g})"
        out.within(**{name: (float(value - room), float(value + room))})


def gelu_slope(out, variant, *, x, grad):
    out.record(shape=list(x.shape), dtype_is_kept=True)
    for at, g, value in zip(x.reshape(-1), grad.reshape(-1), slope(x).reshape(-1)):
        room = abs(g) * (SLOPE + ROUNDING)
        name = f"{float(g):.5g} times the slope at {float(at):.5g}"
        out.within(**{name: (float(g * value - room), float(g * value + room))})


def other_forms(out, variant, *, x):
    """The distances depend on the form that the learner chose, so they are not compared."""


def forward(out, variant, *, x, grad, **weights):
    found, back = feed_forward(x, **weights, variant=variant)
    grads = back(grad)
    out.record(out=found["out"], **{f"grad_{name}": value for name, value in grads.items()})
    out.name(x=x, product=found["pre"] - weights["b_1"], unbiased=found["out"] - weights["b_2"])
    out.name(pre=found["pre"], hidden=found["hidden"], **weights)


def modes(out, variant, **inputs):
    out.record(training_is_like_eval=True)


def again(out, variant, *, x, grad, more_grad, w_1, b_1, w_2, b_2, **others):
    _, back = feed_forward(x, w_1, b_1, w_2, b_2, variant)
    first, second = back(grad), back(more_grad)
    for name in ("w_1", "b_1", "w_2", "b_2"):
        out.record(**{f"grad_{name}": first[name] + second[name]})
    weights = (others[f"other_{n}"] for n in ("w_1", "b_1", "w_2", "b_2"))
    found, _ = feed_forward(x, *weights, variant)
    out.record(out=found["out"])


def composed(out, variant, *, x, pre, grad, **weights):
    for name in ("out", "grad_x", "grad_w_1", "grad_b_1", "grad_w_2", "grad_b_2"):
        out.record(**{f"distance_{name}": 0.0})


def residual(out, variant, *, x, grad, **weights):
    values, back = feed_forward(x, **weights, variant=variant)
    out.record(total=x + values["out"], grad_x=grad + back(grad)["x"])
    for side in ("left", "right"):
        out.record(**{f"grad_{side}": back(grad)["x"], f"grad_beside_{side}": grad})
    out.record(grad_both=back(grad)["x"], grad_beside_both=back(grad)["x"])
