"""Normalisations: torch's own by their arguments, hand-written ones by their numbers."""

import numpy as np
from pack.graph import PRODUCTS, QUOTIENTS, SUMS, VIEWS, is_weight, scalar, up

LIBRARY = {"layer_norm": "LayerNorm", "rms_norm": "RMSNorm", "normalize": "L2"}
OTHER_AXES = ("batch_norm",)
REDUCES = {
    "mean", "var", "std", "var_mean", "std_mean", "norm", "sum", "linalg_norm", "vector_norm",
    "linalg_vector_norm", "square",
}  # fmt: skip
SUBTRACTS = {"sub", "__sub__", "subtract", "sub_", "__isub__", "rsub", "__rsub__"}
POINTWISE = PRODUCTS | QUOTIENTS | SUMS | VIEWS | SUBTRACTS | {
    "rsqrt", "sqrt", "pow", "__pow__", "reciprocal", "type_as", "square", "clamp", "clamp_min",
    "addcmul", "maximum", "max", "addcdiv",
}  # fmt: skip
ROUNDING = 2e-3  # relative; an eps of 1e-5 beside a variance of 0.06 is 1e-4


class Norm:
    """X -> Y. kind: LayerNorm, RMSNorm, L2; axes: "last", "tokens", "both", "all" or "?".

    factor: what N is, relative to the kind with the biased variance. eps: None unknown.
    """

    def __init__(self, kind, X, Y, call, axes="last", eps=None, factor=1.0, own=False):
        self.kind, self.X, self.Y, self.call = kind, X, Y, call
        self.axes, self.eps, self.factor, self.own = axes, eps, factor, own
        self.values = {Y.i}


def norms(graph, T, width):
    """Every norm of a run whose vectors have this width, in order."""
    found = [library(call, T) for call in graph.calls if call.name in LIBRARY]
    found += [other(call) for call in graph.calls if call.name in OTHER_AXES]
    found = [one for one in found if one is not None]
    taken = {one.X.i for one in found}
    for call in graph.calls:
        if call.name in REDUCES and call.outs and call.ins:
            made = by_hand(graph, call, T, width)
            if made is not None and made.X.i not in taken:
                taken.add(made.X.i)
                found.append(made)
    return sorted((one for one in found if one.X.shape[-1:] == (width,)), key=lambda n: n.Y.i)


def library(call, T):
    if not call.ins or not call.outs or not call.ins[0].floats:
        return None
    X, Y, axes, eps = call.ins[0], call.outs[0], "last", None
    if call.name == "normalize":
        axis = call.argument(2, "dim", 1)
        axes = "last" if axis in (-1, len(X.shape) - 1) else "tokens"
        eps = call.argument(3, "eps", 1e-12)
    else:
        shape = call.argument(1, "normalized_shape", [])
        axes = "last" if not isinstance(shape, list) or len(shape) == 1 else "both"
        eps = call.argument(4 if call.name == "layer_norm" else 3, "eps", 1e-5)
        eps = 1e-7 if eps is None else eps
    norm = Norm(LIBRARY[call.name], X, Y, call, axes, eps)
    affine(norm, Y)
    return norm


def other(call):
    if not call.ins or not call.outs:
        return None
    return Norm(call.name, call.ins[0], call.outs[0], call, "all", 1e-5)


def affine(norm, value):
    """Follow a norm's result through gains and offsets; the last is its Y."""
    for _ in range(8):
        step = None
        for call in value.uses:
            others = [v for v in call.ins if v is not value]
            gains = call.name in PRODUCTS | SUMS and (
                (others and all(is_weight(v) or v.leaf for v in others))
                or (call.name in PRODUCTS and any(scalar(a) is not None for a in call.args))
            )
            gains = gains or (call.name in PRODUCTS | SUMS and bool(others) and all(
                v.size * 2 <= value.size and all(w.leaf for w in up(v, 6) if w.call is None)
                and not any(w.dtype == "int64" for w in up(v, 6)) for v in others))  # fmt: skip
            if (gains or call.name in ("type_as", "to", "float")) and call.outs:
                if call.outs[0].shape == value.shape and call.outs[0] is not value:
                    step = call.outs[0]
                    break
        if step is None:
            return
        norm.values.add(step.i)
        norm.Y = value = step


def by_hand(graph, call, T, width):
    """A norm that starts with this reduction of X, or of something pointwise made of X."""
    for X in sources(call, width):
        found = None
        for gains in (False, True):
            for N in normalised(call.outs[0], X):
                if found is None and N.array is not None and X.array is not None:
                    kind, axes, factor = measured(X.array, N.array, T, gains)
                    found = (N, kind, axes, factor) if kind is not None else None
        if found is None:
            continue
        N, kind, axes, factor = found
        norm = Norm(kind, X, N, N.call, axes, None, factor, own=True)
        if axes != "last" or abs(factor - 1) > 0.003:
            norm.call = call
        affine(norm, N)
        norm.values.add(N.i)
        return norm
    return None


def sources(call, width):
    """What a reduction may be of: its operand, and what that was made of by pointwise calls."""
    first = call.ins[0]
    if not first.floats or len(first.shape) < 2:
        return []
    found = [first]
    for value in up(first, 5, lambda v: v.call is None or v.call.name not in POINTWISE):
        if value.shape == first.shape and value.floats and not is_weight(value):
            found.append(value)
    # the outermost first: (x - x.mean()) was made of x
    return [v for v in reversed(found) if v.shape[-1] == width and not v.leaf]


def normalised(statistic, X, limit=60):
    """Values of X's shape that a product or quotient made of the statistic, in order."""
    waiting, seen = [statistic], {statistic.i}
    found = []
    while waiting and len(seen) < limit:
        value = waiting.pop(0)
        for call in value.uses:
            if call.name not in POINTWISE | {"mean", "sum"}:
                continue
            for out in call.outs:
                if out.i in seen:
                    continue
                seen.add(out.i)
                if out.shape == X.shape and call.name in PRODUCTS | QUOTIENTS:
                    if out.call is call:
                        found.append(out)
                        waiting.append(out)
                elif out.size <= X.size:
                    waiting.append(out)
    return sorted(found, key=lambda value: value.i)[:6]


def measured(X, N, T, gains):
    """(kind, axes, factor): N as a number times a norm of X, or with `gains` as a number and an offset for
    each channel; (None, "?", 1) for anything else.
    """
    if X.shape != N.shape or not (np.isfinite(X).all() and np.isfinite(N).all()):
        return None, "?", 1.0
    last = X.ndim - 1
    ways = {"last": (last,)}
    if X.ndim == 3:
        ways |= {"tokens": (1,), "both": (1, 2), "all": (0, 1, 2), "samples": (0,)}
    for axes, where in ways.items():
        centred = X - X.mean(where, keepdims=True)
        for kind, base in (("LayerNorm", centred), ("RMSNorm", X)):
            spread = np.sqrt((base**2).mean(where, keepdims=True) + 1e-12)
            K = base / spread
            if gains:
                if fits(K.reshape(-1, K.shape[-1]), N.reshape(-1, K.shape[-1])):
                    return kind, axes, 1.0
                continue
            power = float((K * K).sum())
            factor = float((K * N).sum()) / power if power > 0 else 0.0
            if factor <= 0 or np.abs(N - factor * K).max() > ROUNDING * np.abs(N).max():
                continue
            n = int(np.prod([X.shape[a] for a in where]))
            if kind == "RMSNorm" and abs(factor * np.sqrt(n) - 1) < 0.01:
                return "L2", axes, 1.0
            return kind, axes, factor
    return None, "?", 1.0


def fits(K, N):
    """N = w K + b for each channel, over enough rows to tell."""
    if len(K) < 12:
        return False
    k, n = K - K.mean(0), N - N.mean(0)
    power = (k * k).sum(0)
    if power.min() <= 0 or np.abs(n).max() == 0:
        return False
    w = (k * n).sum(0) / power
    return bool(np.abs(n - w * k).max() <= ROUNDING * np.abs(N).max())
