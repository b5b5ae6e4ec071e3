"""Facts of the stream in one run: its norms, what flows around attention and FFN, its two ends."""

import numpy as np
from pack import attention
from pack.attention_facts import no_attention
from pack.graph import VIEWS, parted, reaches
from pack.results import missing


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
            end = below(parts, closed[0], kind)
            others = [below(parts, values[0], one) for one, values in parts.units if one != kind]
            return f"missing in {len(closed)} of {total}", parted(end, others), ""
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
    if parts.whole and not parts.layers:
        return no_attention(parts)
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
        others = [call for *_, call in branches(parts) if call not in raw]
        return f"raw in {len(raw)} of {count}", parted(raw[0], others), ""
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
