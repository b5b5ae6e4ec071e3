"""Facts of one run of a model: `fact(parts) -> (value, call, why)`. value None: it cannot be told, or does
not apply; `why` says which.
"""

import numpy as np
from pack import attention
from pack.graph import VIEWS, close, origin, reaches, up, weight_of
from pack.parts import positions

NONE = None


def missing(why):
    return None, None, why


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
        rows = head.visible.any(1)
        farthest = int((j - i).max()) if len(i) else -1
        if farthest <= 0 and not all(head.visible[n, n] for n in range(len(rows))):
            farthest = -1
        found.append((farthest, head))
    values = {far for far, _ in found}
    far, head = max(found, key=lambda one: abs(one[0]))
    if values == {0}:
        return "up to itself", head.call, ""
    if far == -1:
        return "not itself", mask_call(head), ""
    if far == parts.T - 1:
        if values != {far}:
            return missing("some heads have a causal mask and some have none")
        return "everything", mask_call(head), ""
    return f"{far} ahead", mask_call(head), ""


def mask_call(head):
    """The call that hides, else the attention's own."""
    if head.weights is not None:
        for value in [head.weights, *up(head.weights, 10)]:
            if value.call is not None and value.call.i > head.scores.i and value.call.name in (
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


def norm_kind(parts):
    """Which norms there are."""
    if not parts.norms:
        return missing("no norm was found")
    for norm in parts.norms:
        if norm.own and abs(norm.factor - 1) > 0.003:
            n = norm.X.shape[-1]
            if abs(norm.factor - np.sqrt((n - 1) / n)) < 0.002:
                return "variance over n - 1", norm.call, ""
    kinds = sorted({norm.kind for norm in parts.norms})
    return " and ".join(kinds), parts.norms[0].call, ""


def norm_axis(parts):
    """Over which numbers a norm takes its mean and variance."""
    if not parts.norms:
        return missing("no norm was found")
    words = {
        "last": "each token's vector", "tokens": "over the tokens", "both": "tokens and channels",
        "all": "the whole batch", "samples": "over the samples",
    }  # fmt: skip
    for norm in parts.norms:
        if norm.axes != "last":
            return words[norm.axes], norm.call, ""
    return words["last"], parts.norms[0].call, ""


def residual(kind):
    """Whether something flows around every attention, or FFN: the values of a unit must not be the only
    way from the unit before to the head.
    """

    def fact(parts):
        if parts.tok is None or parts.head is None:
            return missing("no embedding or no head was found")
        if not any(unit[0] == kind for unit in parts.units):
            return no_attention(parts) if kind == "attention" else missing("no FFN was found")
        goal = parts.linears[parts.head.i][0]
        before, closed, total = [parts.tok], [], 0
        for unit, values in parts.units:
            if not reaches(before, goal):
                return missing("the way from the parts to the head was not recorded")
            if unit == kind:
                total += 1
                if not reaches(before, goal, values):
                    closed.append(values[0])
            before = values
        if closed:
            return f"missing in {len(closed)} of {total}", below(parts, closed[0], kind), ""
        return f"in {total} of {total}", None, ""

    return fact


def below(parts, value, kind):
    """The call that ends a unit: the projection after the attention, or the last product of an FFN."""
    if kind == "FFN":
        return next((f.down for f in parts.ffns if f.hidden is value), value.call)
    for layer in parts.layers:
        if any(head.O is value for head, *_ in layer):
            return layer[0][1] or value.call
    return value.call


def pre_norm(parts):
    """What attention and FFN read, where the stream runs around the norms."""
    if not parts.norms:
        return missing("no norm was found")
    if not parts.layers or not parts.ffns:
        return missing("no attention or no FFN was found")
    if not parts.bypassed():
        return missing("norms stand in the stream itself (post-norm)")
    raw, count = [], 0
    for read, result, call in branches(parts):
        kind, _ = parts.reads(read)
        count += 1
        if kind == "other":
            return missing("what a part reads could not be followed to a norm or to the stream")
        if kind == "raw":
            if normed_later(parts, result):
                return missing("what a part gives is normalised, rather than what it reads")
            raw.append(call)
    if raw:
        return f"raw in {len(raw)} of {count}", raw[0], ""
    return "a norm's output", parts.norms[0].call, ""


def branches(parts):
    """(what it reads, what it gives, the call that reads) for each attention and FFN."""
    for layer in parts.layers:
        made = attention.projection_of(layer[0][0].v)
        if made is not None:
            end = layer[0][1].outs[0] if layer[0][1] is not None else layer[0][0].O
            yield parts.linears[made.call.i][0], end, made.call
    for ffn in parts.ffns:
        yield parts.linears[ffn.ups[0].i][0], ffn.down.outs[0], ffn.ups[0]


def normed_later(parts, result):
    """Whether a branch's result is normalised before it is added to the stream."""
    value = result
    for _ in range(12):
        if any(norm.X is value for norm in parts.norms):
            return True
        onward = [c for c in value.uses if c.outs and c.outs[0].shape == value.shape]
        views = [c for c in onward if c.name in VIEWS or parts.norm_of(c.outs[0])]
        if not views:
            return any(norm.X is value for norm in parts.norms)
        value = views[0].outs[0]
    return False


def final_norm(parts):
    """What the head reads."""
    if parts.head is None:
        return missing("no head was found")
    if not parts.norms:
        return missing("no norm was found")
    kind, _ = parts.reads(parts.linears[parts.head.i][0])
    if kind == "norm":
        return "a norm's output", parts.head, ""
    if kind == "other" or not parts.bypassed():
        return missing("what the head reads could not be followed")
    return "the raw stream", parts.head, ""


def tied(parts):
    """Whether head and embedding are one tensor."""
    if parts.head is None or parts.table is None:
        return missing("no embedding or no head was found")
    weight = parts.linears[parts.head.i][1]
    if weight.storage == parts.table.storage:
        return "one tensor", parts.head, ""
    return "two tensors", parts.head, ""


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
    Z = [part for call in ffn.ups for part in pieces(call.outs[0], ffn.hidden)]
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


def position(parts):
    """How positions come in: rows of a table, or rotated queries and keys."""
    if parts.tok is None or not parts.heads:
        return missing("no embedding or no attention was found")
    table = positions(parts)
    if table is not None:
        return table_fact(parts, table)
    sides = {"q": rotated(parts, 0), "k": rotated(parts, 1)}
    if sides["q"] is None and sides["k"] is None:
        if parts.run["rotations"]:
            return "a table of rotations that is not used", None, ""
        if parts.run["idle_tables"]:
            return "a table of positions that is not used", None, ""
        return missing("no positions were found; a causal mask alone tells some of the order")
    if sides["q"] and sides["k"]:
        if sides["q"][0] == sides["k"][0] == 0:
            return "rotated q and k", sides["q"][1].call, ""
        return missing("queries and keys are rotated in a way that is not known")
    which = "q" if sides["q"] else "k"
    return f"rotated {which} only", (sides["q"] or sides["k"])[1].call, ""


def table_fact(parts, table):
    _, offset, count, value = table
    flowing = parts.head is not None and reaches([value], parts.linears[parts.head.i][0])
    if not flowing:
        return "looked up and not added", value.call, ""
    if offset == 0:
        return "row t for token t", value.call, ""
    if offset is None:
        return missing("the rows of the table come in an order that is not known")
    if offset + parts.run["context"] > count:
        return f"row t + {offset} for token t", value.call, ""
    return missing(f"rows begin at {offset}, and the table is long enough for that")


def rotated(parts, side):
    """(turn at the first token, value): a query or key whose pairs were turned by its position."""
    found = []
    for head in parts.heads:
        value = (head.q, head.k)[side]
        made = [value, *up(value, 10, projected)]
        found.append(next((r for y in made if (r := turn(y, parts.T))), None))
    if any(one is None for one in found):
        return None if all(one is None for one in found) else ("?", found[0] or found[-1])
    return found[0]


def projected(value):
    """Whether a value is a product with a parameter: no rotation lies above it."""
    return value.call is not None and weight_of(value.call) is not None


def turn(y, T):
    """Whether y is a value above it with each token's vector turned: same length, other numbers, but for
    token 0, which stays.
    """
    if y.array is None or not y.floats or len(y.shape) < 3 or y.call is None or y.shape[-1] < 4:
        return None
    axes = [n for n in range(y.array.ndim - 1) if y.shape[n] == T]
    if len(axes) != 1:
        return None
    Y = np.moveaxis(y.array, axes[0], -2)
    for x in up(y, 12, projected):
        if x.array is None or x.size != y.size or not x.floats or x.shape[-1] != y.shape[-1]:
            continue
        others = [n for n in range(x.array.ndim - 1) if x.shape[n] == T]
        if len(others) != 1:
            continue
        X = np.moveaxis(x.array, others[0], -2)
        if X.shape != Y.shape or not close(np.linalg.norm(Y, axis=-1), np.linalg.norm(X, axis=-1)):
            continue
        same = np.abs(np.sort(Y, -1) - np.sort(X, -1)).max((*range(Y.ndim - 2), Y.ndim - 1)) < 1e-5
        if same.sum() <= 1:
            return (0 if same[0] else "turned"), y
    return None


def loss(parts):
    """The model's loss against the mean negative log-likelihood of its logits and the targets."""
    run = parts.run
    if run["loss"] is None or run["targets"] is None:
        return missing("the model gives no loss")
    logits, targets, value = run["logits"], run["targets"], float(run["loss"].reshape(-1)[0])
    call = parts.loss_call()
    if logits is None or logits.reshape(-1, logits.shape[-1]).shape[0] != targets.size:
        return missing("the model gives a loss and no logits for every token")
    flat, wanted = logits.reshape(-1, logits.shape[-1]), targets.reshape(-1)
    ways = {
        "mean nll": nll(flat, wanted),
        "cross-entropy of probabilities": nll(soft(flat), wanted),
    }
    B, T = run["tokens"].shape
    cube = logits.reshape(B, T, -1)
    shifted = nll(cube[:, :-1].reshape(-1, flat.shape[1]), targets.reshape(B, T)[:, 1:].reshape(-1))
    ways["mean nll, shifted inside"] = shifted
    ways["logits and targets in different order"] = nll(
        cube.transpose(1, 0, 2).reshape(flat.shape), wanted
    )
    ways["classes and tokens exchanged by a reshape"] = nll(
        cube.reshape(B, -1, T).transpose(0, 2, 1).reshape(flat.shape), wanted
    )
    for name, known in ways.items():
        if abs(value - known) <= 1e-4 * max(1.0, abs(known)):
            return name, call, ""
    return missing("the loss is another function of the logits (an extra term, a mask?)")


def nll(logits, targets):
    top = logits.max(-1, keepdims=True)
    logs = logits - top - np.log(np.exp(logits - top).sum(-1, keepdims=True))
    return float(-logs[np.arange(len(targets)), targets].mean())


def soft(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


RUN = {
    "scale": scale,
    "mask": mask,
    "rows": rows,
    "merge": merge,
    "split": split,
    "norm_kind": norm_kind,
    "norm_axis": norm_axis,
    "residual_attention": residual("attention"),
    "residual_ffn": residual("FFN"),
    "pre_norm": pre_norm,
    "final_norm": final_norm,
    "tied": tied,
    "activation": activation,
    "positions": position,
}
