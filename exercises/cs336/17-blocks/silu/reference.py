"""SiLU: x * sigmoid(x), value by value.

Variant: "no_x" is sigmoid(x).
"""

import math

import numpy as np

PHI = np.vectorize(lambda x: 0.5 * math.erfc(-x / math.sqrt(2)), otypes=[float])


def sigmoid(x):
    return np.exp(-np.logaddexp(0, -x))


def slope(x):
    return sigmoid(x) * (1 + x * (1 - sigmoid(x)))


def silu(x, variant=""):
    return sigmoid(x) if variant == "no_x" else x * sigmoid(x)


def forward(out, variant, *, x):
    out.record(y=silu(x, variant))
    out.name(**{"sigmoid(x), not times x": sigmoid(x), "relu(x)": np.maximum(x, 0)})
    out.name(**{"gelu(x)": x * PHI(x), "x * sigmoid(1.702 x)": x * sigmoid(1.702 * x)})
    out.name(
        **{"x * tanh(x)": x * np.tanh(x), "x * sigmoid(-x)": x * sigmoid(-x), "tanh(x)": np.tanh(x)}
    )
    out.name(x=x, whole=x * sigmoid(x), opened=sigmoid(x))


def gradients(out, variant, *, x, grad):
    out.record(graph="there", grad_x=grad * slope(x))
    out.name(**{"grad * sigmoid(x)": grad * sigmoid(x)})


def made(out, variant, *, x):
    out.record(ready_made="nothing")


def kept(out, variant, *, x):
    out.record(x=x)


def curve(out, variant, *, x):
    y = silu(x, variant)
    out.record(values=y.tolist(), at_zero=float(y[len(x) // 2]), at_the_end=float(y[-1]))
