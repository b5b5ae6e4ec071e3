"""SwiGLU: W2 (silu(W1 x) * W3 x).

Variants: "no_gate" is W2 silu(W1 x), "sigmoid" is W2 (sigmoid(W1 x) * W3 x).
"""

import math

import numpy as np
from pack.modules import module_facts, truncated_normal

PHI = np.vectorize(lambda x: 0.5 * math.erfc(-x / math.sqrt(2)), otypes=[float])


def sigmoid(x):
    return np.exp(-np.logaddexp(0, -x))


def silu(x):
    return x * sigmoid(x)


def product(a, b, variant):
    """What goes into W2: a = W1 x, b = W3 x."""
    if variant == "no_gate":
        return silu(a)
    return (sigmoid(a) if variant == "sigmoid" else silu(a)) * b


def forward(out, variant, *, x, w1, w2, w3):
    a, b = x @ w1.T, x @ w3.T
    out.record(y=product(a, b, variant) @ w2.T)
    out.name(hidden=silu(a) * b, activated=silu(a), before=a, opened=sigmoid(a))
    hidden = {
        "W2 silu(W1 x), without the gate W3 x": silu(a),
        "W2 (silu(W3 x) * W1 x): w1 and w3 exchanged": silu(b) * a,
        "W2 (W1 x * W3 x), without the SiLU": a * b,
        "W2 (sigmoid(W1 x) * W3 x): sigmoid in place of SiLU": sigmoid(a) * b,
        "W2 (relu(W1 x) * W3 x): ReLU in place of SiLU": np.maximum(a, 0) * b,
        "W2 (gelu(W1 x) * W3 x): GELU in place of SiLU": a * PHI(a) * b,
        "W2 silu(W1 x * W3 x): the SiLU of the product": silu(a * b),
        "W2 (silu(W1 x) + W3 x): a sum in place of the product": silu(a) + b,
        "W2 (silu(W1 x) * silu(W3 x)): the SiLU of both": silu(a) * silu(b),
        "W2 (silu(W1 x) * W1 x): w1 in the place of w3": silu(a) * a,
    }
    out.name(**{name: h @ w2.T for name, h in hidden.items()})
    out.name(**{"silu(W2 (W1 x * W3 x)): the SiLU at the end": silu((a * b) @ w2.T)})
    if len(w1) == w1.shape[1]:
        out.name(**{"(silu(W1 x) * W3 x) W2: w2 not transposed": (silu(a) * b) @ w2})
        turned = (silu(x @ w1) * (x @ w3)) @ w2
        out.name(**{"no weight is transposed": turned})


def gradients(out, variant, *, x, w1, w2, w3, grad):
    d_ff, d = w1.shape
    a, b, h = x @ w1.T, x @ w3.T, grad @ w2
    from_a = h * b * sigmoid(a) * (1 + a * (1 - sigmoid(a)))
    from_b = h * silu(a)
    out.record(graph="there", grad_x=from_a @ w1 + from_b @ w3)
    rows, hidden = x.reshape(-1, d), (silu(a) * b).reshape(-1, d_ff)
    out.offered(grad_w1=from_a.reshape(-1, d_ff).T @ rows, grad_w2=grad.reshape(-1, d).T @ hidden)
    out.offered(grad_w3=from_b.reshape(-1, d_ff).T @ rows)


def made(out, variant, *, x, w1, w2, w3):
    shapes = [w1.shape, w2.shape, w3.shape]
    module_facts(out, shapes, ["w1.weight", "w2.weight", "w3.weight"])


def initialisation(out, variant, *, d, d_ff):
    truncated_normal(out, 3 * d * d_ff)


def kept(out, variant, *, x, w1, w2, w3):
    out.record(x=x, w1=w1, w2=w2, w3=w3)


def growth(out, variant, *, x, w1, w2, w3, factors):
    lengths = []
    for factor in factors.tolist():
        a, b = factor * x @ w1.T, factor * x @ w3.T
        y = product(a, b, variant) @ w2.T
        lengths.append(float(np.sqrt((y**2).mean())))
    out.record(lengths=lengths, last_by_the_one_before=lengths[-1] / lengths[-2])
