"""What a model drops in train mode: which values, how many numbers, with which probability."""

import numpy as np
from pack.attention import SDPA, WHOLE
from pack.facts import Case
from pack.graph import PRODUCTS, QUOTIENTS, SUMS, VIEWS, factor_of, is_weight, up, weight_of

CHANCE = {"rand", "rand_like", "bernoulli", "bernoulli_", "uniform_", "randint", "randint_like"}
MASKS = PRODUCTS | QUOTIENTS | {"where", "masked_fill", "masked_fill_"}
WEIGHTS, EMBEDDING = "attention weights", "the embedding of tokens and positions"
LEAST, NEAR = 0.01, 0.15  # of the numbers that are dropped; between a share and its probability


def places(recorded):
    """{place: {probability: how many numbers}} of the traced run, None where there is none."""
    done = Case(recorded).done["dropping-train"]
    graph = done["graph"]
    if graph is None or graph.tokens is None:
        return None
    found = {}
    for value, count, p in drops(graph):
        place = WEIGHTS if value is None else place_of(value, graph.tokens.shape[-1])
        counts = found.setdefault(place, {})
        counts[f"{p:.3g}"] = counts.get(f"{p:.3g}", 0) + count
    return found


def drops(graph):
    """(value, how many numbers, probability) of each; value None: the weights inside torch's attention."""
    chance = set()
    for call in graph.calls:
        inner = inside(call)
        if inner is not None:
            yield None, *inner
        elif "dropout" in call.name and call.ins and call.outs:
            p, training = call.argument(1, "p", 0.5), call.argument(2, "training", True)
            if p and training is not False:
                yield call.ins[0], call.outs[0].size, p
        elif call.name in CHANCE:
            chance.update(value.i for value in call.outs)
        elif any(value.i in chance for value in call.ins):
            rest = [v for v in call.ins if v.i not in chance and v.size > 1]
            if not rest:
                chance.update(value.i for value in call.outs)
            elif call.name in MASKS:
                p = probability(call, rest[0], chance)
                if p is not None:
                    yield rest[0], rest[0].size, p


def inside(call):
    """(how many weights, probability) of one of torch's attentions that drops."""
    if call.name == SDPA and call.argument(4, "dropout_p", 0.0):
        q, k = call.argument(0, "query"), call.argument(1, "key")
        return int(np.prod(q.shape[:-1])) * k.shape[-2], call.argument(4, "dropout_p")
    if call.name in WHOLE[:1] and call.argument(10, "dropout_p", 0.0):
        if call.kwargs.get("training", True):
            q, k = call.argument(0, "query"), call.argument(1, "key")
            tokens = k.shape[0] if len(k.shape) < 3 or k.shape[0] != q.shape[0] else q.shape[0]
            heads = call.argument(4, "num_heads", 1)
            return int(np.prod(q.shape[:-1])) * tokens * heads, call.argument(10, "dropout_p")
    return None


def probability(call, value, chance):
    """With which probability a product with chance drops; None where it drops nothing."""
    before, after = value.array, call.outs[0].array if call.outs else None
    if before is None or after is None or before.shape != after.shape or not (before != 0).any():
        return None
    share = float((after[before != 0] == 0).mean())
    if share < LEAST:
        return None
    masks = [v for v in call.ins if v.i in chance]
    made = [one.call for v in masks for one in [v, *up(v)] if one.call is not None]
    numbers = [n for one in made for n in [*one.args, *one.kwargs.values()]]
    said = [float(n) for n in numbers if isinstance(n, float) and 0 < n < 1]
    options = [p for n in said for p in (n, 1 - n)]
    nearest = min(options, key=lambda p: abs(p - share), default=share)
    return nearest if abs(nearest - share) < NEAR else round(share, 1)


def place_of(value, tokens):
    """What a value is in a decoder."""
    if value.shape[-2:] == (tokens, tokens):
        return WEIGHTS
    made = [value, *up(value, 24, projected)]
    if not any(projected(one) for one in made):
        return EMBEDDING if sum_below(value) is not None else "one part of the embedding"
    last = behind(value)
    if projected(last):
        return (
            "what attention adds to the stream"
            if attended(weight_of(last.call)[0])
            else "what the FFN adds to the stream"
        )
    return (
        "the stream itself"
        if sum_below(last) is not None
        else "something inside attention or the FFN"
    )


def projected(value):
    """Whether a value is a product with a parameter."""
    return value.call is not None and weight_of(value.call) is not None


def behind(value):
    """What a value is a view of, a multiple of, or has a bias added to."""
    for _ in range(24):
        call = value.call
        if call is None or not call.ins or projected(value):
            break
        pair = factor_of(call)
        biased = [v for v in call.ins if not is_weight(v)] if call.name in SUMS else []
        if pair is not None:
            value = pair[0]
        elif call.name in VIEWS:
            value = call.ins[0]
        elif len(biased) == 1:
            value = biased[0]
        else:
            break
    return value


def sum_below(value):
    """The call that adds two activations, where it made a value."""
    call = behind(value).call
    return call if call is not None and call.name in SUMS else None


def attended(value):
    """Whether a product reads what an attention gives."""
    for one in [value, *up(value, 24, projected)]:
        call = one.call
        if call is not None and call.name in (SDPA, *WHOLE):
            return True
        if call is not None and call.name in ("matmul", "__matmul__", "bmm", "einsum", "baddbmm"):
            if weight_of(call) is None:
                return True
    return False
