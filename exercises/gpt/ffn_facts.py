"""What lies between the matrices of an FFN."""

import numpy as np
from pack.graph import SUMS, close, is_weight
from pack.results import missing

FUNCTIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "relu squared": lambda x: np.maximum(x, 0) ** 2,
    "gelu (tanh)": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "quick gelu": lambda x: x / (1 + np.exp(-1.702 * x)),
}


def activation(parts):
    """What lies between the matrices of an FFN."""
    if not parts.ffns:
        return missing("no FFN was found")
    found = [between(ffn) for ffn in parts.ffns]
    if None in found:
        return missing("what lies between the matrices did not travel")
    if "none" in found:
        ffn = parts.ffns[found.index("none")]
        return "none", ffn.down, ""
    if "product of two" in found:
        return "product of two", parts.ffns[found.index("product of two")].down, ""
    return " and ".join(sorted(set(found))), parts.ffns[0].down, ""


def between(ffn):
    """The activation's name, "other", "none" for a linear one, None where it cannot be told."""
    A = ffn.hidden.array
    made = [value for call in ffn.ups for value in (call.outs[0], *biased(call.outs[0]))]
    Z = [part for value in made for part in pieces(value, ffn.hidden)]
    Z = [z for z in Z if z is not None and z.shape == A.shape] if A is not None else []
    if not Z:
        return None
    for z in Z:
        if proportional(A, z):
            return "none"
        for name, function in FUNCTIONS.items():
            with np.errstate(over="ignore"):
                if close(A, function(z), 2e-5):
                    return name
        if close(A, gelu(z), 2e-5):
            return "gelu"
    for a in Z:
        for b in Z:
            if a is not b and proportional(A, a * b):
                return "product of two"
            for name, function in FUNCTIONS.items():
                if a is not b and close(A, function(a) * b, 2e-5):
                    return f"gated {name}"
            if a is not b and close(A, gelu(a) * b, 2e-5):
                return "gated gelu"
    return "other"


def biased(value):
    """The value with a bias that is added by hand."""
    sums = [call for call in value.uses if call.name in SUMS and len(call.ins) == 2]
    return [call.outs[0] for call in sums if any(is_weight(v) for v in call.ins if v is not value)]


def pieces(value, hidden):
    """The value, or the two halves that a fused first matrix was cut into."""
    if value.array is None:
        return [None]
    if value.shape == hidden.shape:
        return [value.array]
    if value.shape[-1] == 2 * hidden.shape[-1]:
        left, right = np.split(value.array, 2, -1)
        inter = value.array.reshape(*value.shape[:-1], -1, 2)
        return [left, right, inter[..., 0], inter[..., 1]]
    return [value.array.reshape(hidden.shape) if value.size == hidden.size else None]


def proportional(a, b):
    """a = c b for one number c."""
    power = float((b * b).sum())
    c = float((a * b).sum()) / power if power else 0.0
    return c != 0 and close(a, c * b, 1e-5)


def gelu(x):
    """x Phi(x); erf by Abramowitz and Stegun 7.1.26 (1.5e-7)."""
    z = np.abs(x) / np.sqrt(2)
    t = 1 / (1 + 0.3275911 * z)
    p = t * (
        0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))
    )
    return 0.5 * x * (1 + np.sign(x) * (1 - p * np.exp(-z * z)))
