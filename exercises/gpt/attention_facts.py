"""Facts of attention in one run: scale, mask, rows of the weights, heads split and merged."""

import numpy as np
from pack import attention
from pack.graph import origin, up
from pack.results import missing


def no_attention(parts):
    if parts.whole:
        return missing(
            "attention is inside torch's own nn.MultiheadAttention, which is not looked into"
        )
    return missing("no attention was found")


def scale(parts):
    """Slope of log weights against q·k, times sqrt(d_head)."""
    if not parts.heads:
        return no_attention(parts)
    values = []
    for head in parts.heads:
        if head.normed:
            return missing("queries and keys are normalised, so any scale may be right")
        if head.slope is None:
            return missing("the weights do not follow the scores along one line (a soft cap?)")
        values.append(head.slope * np.sqrt(head.q.shape[-1]))
    worst = max(values, key=lambda value: abs(np.log(max(value, 1e-9))))
    head = parts.heads[values.index(worst)]
    named = known_scale(worst, head.q.shape[-1], parts)
    return named, head.scaled_at or head.call, ""


def known_scale(value, size, parts):
    """The scale as a word where it is one that has a name, else as a number."""
    root, width = np.sqrt(size), parts.width
    names = {
        "1/sqrt(d_head)": 1.0,
        "none": root,
        "1/sqrt(width)": root / np.sqrt(width),
        "sqrt(d_head)": size,
        "1/d_head": 1 / root,
        "1/sqrt(n_head)": root / np.sqrt(max(1, width // size)),
    }
    for name, known in names.items():
        if abs(value / known - 1) < 0.02:
            return name
    return round(float(value / root), 4)


def mask(parts):
    """The farthest visible j - i over all heads."""
    if not parts.heads:
        return no_attention(parts)
    if parts.run["mask"] and not any(
        h.visible is not None and not h.visible.all() for h in parts.heads
    ):
        return missing("the forward takes a mask, and none was given")
    found = []
    for head in parts.heads:
        if head.visible is None:
            return missing("the mask of the attention was not recorded")
        i, j = np.nonzero(head.visible)
        farthest = int((j - i).max()) if len(i) else -1
        if farthest <= 0 and not head.visible.diagonal()[1:].any():  # the first may have no choice
            farthest = -1
        found.append((farthest, head))
    values = {far for far, _ in found}
    far, head = max(found, key=lambda one: abs(one[0]))
    if values == {0}:
        return "up to itself", head.call, ""
    if far == -1:
        return "not itself", triangle(head), ""
    if far == parts.T - 1:
        if values != {far}:
            return missing("some heads have a causal mask and some have none")
        return "everything", mask_call(head), ""
    return f"{far} ahead", triangle(head), ""


def triangle(head):
    """The call that draws the mask, where this run does, else the one that hides."""
    call = mask_call(head)
    made = [
        one.call for value in call.ins for one in [value, *up(value, 6)] if one.call is not None
    ]
    return next((one for one in made if one.name.rstrip("_") in ("tril", "triu")), call)


def mask_call(head):
    """The call that hides, else the attention's own."""
    if head.weights is not None:
        for value in [head.weights, *up(head.weights, 10)]:
            if value.call is not None and value.i > head.scores.i and value.call.name in (
                "masked_fill", "masked_fill_", "where", "add", "__add__", "add_", "__iadd__",
            ):  # fmt: skip
                return value.call
    return head.call


def rows(parts):
    """What a row of the weights sums to, as they meet the values."""
    by_hand = [h for h in parts.heads if h.weights is not None]
    if not parts.heads:
        return no_attention(parts)
    if not by_hand:
        return "1", parts.heads[0].call, ""
    for head in by_hand:
        A = attention.square(head.weights, parts.T)
        if not np.isfinite(A).all():
            return missing("the weights hold NaN")
        sums, columns = A.sum(-1), A.sum(-2)
        if np.abs(sums - 1).max() < 1e-3:
            continue
        whole = attention.soft(head, parts.T)
        if np.abs(columns - 1).max() < 1e-3 or column_softmax(head, parts.T):
            return "columns sum to 1", softmax_call(head) or head.call, ""
        masked = np.abs(whole.sum(-1) - 1).max() < 1e-3 and sums.max() < 1 + 1e-3
        if masked and np.abs(np.where(A != 0, A - whole, 0)).max() < 1e-6:
            return "below 1, masked after the softmax", head.weights.call, ""
        if A.min() < 0:
            return missing("the weights are not probabilities")
        return round(float(sums.mean()), 3), head.weights.call, ""
    return "1", by_hand[0].weights.call, ""


def column_softmax(head, T):
    """Whether something between scores and values has columns that sum to 1, and rows that do not."""
    for value in [head.weights, *up(head.weights, 8)]:
        array = attention.square(value, T)
        if array is None or value.i <= head.scores.i or not np.isfinite(array).all():
            continue
        if array.min() >= 0 and np.abs(array.sum(-2) - 1).max() < 1e-4:
            return np.abs(array.sum(-1) - 1).max() > 1e-2
    return False


def softmax_call(head):
    for value in [head.weights, *up(head.weights, 8)]:
        if value.call is not None and "softmax" in value.call.name:
            return value.call
    return None


def tokens_of(value, B, T):
    """For each (sample, token) the sorted numbers of a value, whichever axis the tokens are; or None."""
    a = value.array
    if a is None or not np.isfinite(a).all() or a.ndim < 3 or a.shape[0] != B:
        return None
    axes = [n for n in range(1, a.ndim) if a.shape[n] == T]
    if len(axes) != 1:
        return None
    return np.sort(np.moveaxis(a, axes[0], 1).reshape(B, T, -1), -1)


def merge(parts):
    """Whether, on the way from heads to the projection, tokens stay by themselves."""
    if not parts.layers:
        return no_attention(parts)
    for layer in parts.layers:
        head, call, plain, _ = layer[0]
        if call is None:
            return missing("no projection follows the attention")
        if not plain:
            return missing("the attention's output is not projected by a product of its own")
        if len(layer) > 1:
            continue
        before = tokens_of(head.O, parts.B, parts.T)
        after = tokens_of(parts.linears[call.i][0], parts.B, parts.T)
        if before is None or after is None or before.shape != after.shape:
            return missing("the shapes of the attention's output do not tell tokens apart")
        if not np.allclose(before, after, atol=1e-6):
            if not np.allclose(np.sort(before, None), np.sort(after, None), atol=1e-6):
                return missing("the attention's output is changed before it is projected")
            last = parts.linears[call.i][0]
            return "tokens mixed", _first_in_tree(last) or call, ""
    return "each token by itself", parts.layers[0][0][1], ""


def _first_in_tree(value):
    while value.call is not None and not value.call.at and value.call.ins:
        value = value.call.ins[0]
    return value.call


def split(parts):
    """Whether each token's query, key and value come from that token."""
    if not parts.heads:
        return no_attention(parts)
    told = False
    for head in parts.heads:
        for value in (head.v, head.k, head.q):
            source = origin(value)
            if source is value or source.call is None or source.call.i not in parts.linears:
                continue
            a, b = tokens_of(value, parts.B, parts.T), tokens_of(source, parts.B, parts.T)
            if a is None or b is None:
                continue
            told = True
            for one, whole in zip(a.reshape(-1, a.shape[-1]), b.reshape(-1, b.shape[-1])):
                if not np.isin(np.round(one, 9), np.round(whole, 9)).all():
                    return "tokens mixed", value.call, ""
    if not told:
        return missing("no query, key or value is a view of a projection")
    return "each token by itself", parts.heads[0].call, ""
