"""Attention as it flows: scores of shape (..., T, T), weights, and what they make of the values."""

import numpy as np
from pack.graph import (
    MATMULS,
    VIEWS,
    factor_of,
    is_weight,
    origin,
    reaches,
    scalar,
    up,
    weight_of,
)  # fmt: skip

VISIBLE = 1e-9  # a weight above this is seen
NORMALISES = {
    "rms_norm", "layer_norm", "normalize", "norm", "rsqrt", "mean", "var", "std", "linalg_norm",
    "vector_norm", "linalg_vector_norm", "var_mean",
}  # fmt: skip
SDPA = "scaled_dot_product_attention"
WHOLE = ("multi_head_attention_forward", "_native_multi_head_attention")
WHOLE += ("_transformer_encoder_layer_fwd",)


class Head:
    """One softmax: all heads of a layer at once, or one head.

    kind: "sdpa" or "by hand". call: the softmax or the sdpa. O: (..., T, d_head). q, k, v: values.
    scores, weights: None in sdpa. visible: (T, T). slope: of log weights against q·k, None unknown.
    """

    def __init__(self, kind, call, q, k, v, O):  # noqa: E741
        self.kind, self.call, self.q, self.k, self.v, self.O = kind, call, q, k, v, O
        self.scores = self.weights = self.slope = self.visible = None
        self.scaled_at = None
        self.normed = normed(q) or normed(k)


def normed(q):
    """Whether a query or key is normalised after its projection."""
    stop = lambda value: value.call is not None and weight_of(value.call) is not None
    made = [v for v in [q, *up(q, 14, stop)] if v.call is not None and not stop(v)]
    return not stop(q) and any(v.call.name in NORMALISES for v in made if not stop(v))


def square(value, T):
    """(..., T, T) of scores or weights with the two axes of tokens last, or None."""
    if not value.floats or value.array is None or len(value.shape) < 2 or value.size < T * T:
        return None
    if value.shape[-2:] == (T, T):
        return value.array.reshape(-1, T, T)
    axes = [n for n, size in enumerate(value.shape) if size == T]
    if len(axes) == 2 and value.size > T * T:
        return np.moveaxis(value.array, axes, (-2, -1)).reshape(-1, T, T)
    return None


def heads(graph, T):
    """Every attention of a run, in order."""
    found = [sdpa(call, T) for call in graph.calls if call.name == SDPA]
    for call in graph.calls:
        made = by_hand(call, T, graph.tokens.shape[0])
        if made is not None:
            found.append(made)
    return sorted((h for h in found if h is not None), key=lambda head: head.call.i)


def sdpa(call, T):
    """torch's own attention, from its arguments."""
    q, k, v = (call.argument(n, name) for n, name in enumerate(("query", "key", "value")))
    if len(q.shape) < 3 or q.shape[-2] != T or k.shape[-2] != T or not call.outs:
        return None
    head = Head("sdpa", call, q, k, v, call.outs[0])
    scale = call.kwargs.get("scale")
    head.slope = scalar(scale) if scalar(scale) is not None else q.shape[-1] ** -0.5
    head.slope *= before(head)
    mask, visible = call.argument(3, "attn_mask"), np.ones((T, T), bool)
    if call.argument(5, "is_causal", False):
        visible = np.tril(visible)
    elif mask is not None:
        if mask.array is None or mask.shape[-2:] != (T, T):
            return head
        flat = mask.array.reshape(-1, T, T)
        visible = (flat if mask.dtype == "bool" else flat > -1e3).any(0)
    head.visible = visible
    return head


def before(head):
    """The product of the numbers that q and k are multiplied by after their projections, whatever turns them
    by their positions in between.
    """
    product = 1.0
    for value in (head.q, head.k):
        for call, factor in scalings(value):
            product *= factor
            head.scaled_at = call
    return product


def scalings(value):
    """(call, number) where a query or key is multiplied by a number on every way from its projection."""
    made = [value, *up(value, 14, projected)]
    sources = [one for one in made if projected(one)]
    found = []
    for one in made:
        pair = factor_of(one.call)
        if pair is not None and sources and not reaches(sources, value, [one]):
            found.append((one.call, pair[1]))
    return found


def projected(value):
    """Whether a value is a product with a parameter."""
    return value.call is not None and weight_of(value.call) is not None


def by_hand(call, T, B):
    """Attention from its scores: a product of two activations that gives (..., T, T)."""
    if call.name not in MATMULS or not call.outs or weight_of(call) is not None:
        return None
    S = call.outs[0]
    sides = [v for v in call.ins if v.floats and len(v.shape) > 2 and not is_weight(v)]
    if len(sides) != 2 or square(S, T) is None or any(square(v, T) is not None for v in sides):
        return None
    weights, product = consumer(S, T)
    if product is None:
        return None
    v = next((one for one in product.ins if one is not weights and one.floats), None)
    if v is None:
        return None
    head = Head("by hand", call, sides[0], sides[1], v, product.outs[0])
    head.scores, head.weights = S, weights
    A = square(weights, T)
    with np.errstate(invalid="ignore"):
        seen = np.abs(A).max(0)
    head.visible = np.isfinite(seen) & (seen > VISIBLE)
    S_ = square(S, T)
    if np.isfinite(A).all() and A.min() >= 0:
        slope = fitted(S_, soft(head, T), B)
        head.slope = None if slope is None else slope * before(head)
    for value in [weights, *up(weights, 10)]:
        if value.call is not None and value.call.i > S.call.i and factor_of(value.call):
            head.scaled_at = value.call
    return head


def consumer(S, T):
    """(weights, call) where the last (T, T) that came from S is multiplied with the values."""
    waiting, seen = [S], {S.i}
    while waiting:
        one = min(waiting, key=lambda value: value.i)
        waiting.remove(one)
        for call in one.uses:
            if call.name in MATMULS and call.outs and weight_of(call) is None:
                if call.i > S.call.i and square(call.outs[0], T) is None:
                    return one, call
            for out in call.outs:
                if out.i not in seen and (square(out, T) is not None) and out.i > S.i:
                    seen.add(out.i)
                    waiting.append(out)
    return None, None


def soft(head, T):
    """The weights before anything was taken away after the softmax: the nearest above whose rows, or
    columns, sum to 1.
    """
    for value in [head.weights, *up(head.weights, 8)]:
        array = square(value, T)
        if array is None or value.i <= head.scores.i or not np.isfinite(array).all():
            continue
        if array.min() >= 0 and np.abs(array.sum(-1) - 1).max() < 1e-4:
            return array
    return square(head.weights, T)


def fitted(S, P, samples):
    """Slope of log P against S, free of what is added to the scores; None where it is not one line.

    S, P: (samples * heads, T, T). Differences to the first column, with the mean over samples taken
    away, so that a bias by position cancels.
    """
    T = S.shape[-1]
    if samples < 2 or S.shape[0] % samples:
        samples = S.shape[0]
    s = S.reshape(samples, -1, T, T)
    p = P.reshape(samples, -1, T, T)
    seen = ((p > 1e-12) & (p[..., :1] > 1e-12)).all(0, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.where(seen, s - s[..., :1], 0.0)
        y = np.where(seen, np.log(p) - np.log(p[..., :1]), 0.0)
    x, y = x - x.mean(0), y - y.mean(0)
    power = (x * x).sum()
    if power < 1e-12:
        return None
    slope = float((x * y).sum() / power)
    off = np.abs(y - slope * x).max()
    return slope if off <= 2e-3 * max(1e-3, np.abs(y).max()) else None


def after(head, limit=400):
    """(first product with a parameter below the attention, whether only views lie between)."""
    waiting, seen = [(head.O, True)], {head.O.i}
    while waiting and len(seen) < limit:
        waiting.sort(key=lambda one: one[0].i)
        value, plain = waiting.pop(0)
        for call in value.uses:
            pair = weight_of(call)
            if pair is not None:
                return call, plain, value
            views = call.name in VIEWS or call.name in ("cat", "concat", "stack", "concatenate")
            for out in call.outs:
                if out.i not in seen:
                    seen.add(out.i)
                    waiting.append((out, plain and views))
    return None, False, None


def layers(found):
    """Heads grouped by layer: those whose outputs are first used by the same projection."""
    groups = {}
    for head in found:
        call, plain, merged = after(head)
        key = call.i if call is not None else -1 - head.call.i
        groups.setdefault(key, []).append((head, call, plain, merged))
    return [groups[key] for key in sorted(groups, key=lambda k: groups[k][0][0].call.i)]


def projection_of(value):
    """The product with a parameter that a query, key or value comes from, through views; or None."""
    source = origin(value)
    if source.call is not None and weight_of(source.call) is not None:
        return source
    for one in up(value, 14, lambda v: v.call is not None and weight_of(v.call) is not None):
        if one.call is not None and weight_of(one.call) is not None:
            return one
    return None
