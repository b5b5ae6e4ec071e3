"""Inputs for MiniGPT: tiny models, with weights for every parameter.

The arrays of the blocks have the blocks along their first axis. Outside `composed` and the regimes that
start with "shown", b_1 is so far from zero that the hidden units of each FFN are on or off for good, so
that it does not matter which GELU a learner wrote (see the reference of block).
"""

import numpy as np
from pack.block.cases import ALL, new_gains, plain_weights
from pack.block.cases import weights as settled_weights
from pack.common import SHOWN, leaning, leans, normal, varied

SIZES = ("d_model", "n_heads", "n_layers", "d_ff", "vocab_size", "context_len")
TINY = {"float64": 1e-4, "float32": 1e-3}  # of the table, below what eps hides from a norm
DEFAULTS = dict(zip(SIZES, (64, 4, 2, 256, 64, 32)))


def config(rng, regime):
    """Six sizes, the axes before T, and T, which is context_len in "full" and below it otherwise."""
    if regime.startswith("shown"):
        sizes = {"d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 32, "vocab_size": 32}
        return {**sizes, "context_len": 8}, (2,), 8
    large = regime == "large"
    while True:
        head, n = [(2, 5), (4, 3), (2, 6), (6, 2), (10, 1)][int(rng.integers(5))]
        head, n = (2, 7) if large else (head, n)
        deep = int(rng.integers(13, 16))
        L = {"one_block": 1, "three_blocks": 3, "many_blocks": deep, "large": 4}.get(regime, 2)
        f = int(rng.integers(3, 10))
        V = int(rng.integers(290, 320)) if large else int(rng.integers(5, 14))
        V = 1 if regime == "one_token" else head * n if regime == "identity" else V
        context, T, B = (int(rng.integers(low, high)) for low, high in ((5, 9), (3, 6), (3, 5)))
        if regime == "full":
            T = context
        if regime == "one_position":
            T = 1
        if regime == "one_id":
            T, context = 7, 10
        if regime == "smallest":  # a model of the smallest sizes that there are
            head, n, L, f, V, context, T = 2, 1, 1, 1, 1, 1, 1
        if regime == "tall":  # more sequences than context_len, and many more ids
            T, context, B = 3, 4, 7
        if large:
            T, context, B = 19, 21, 1
        if regime == "long":  # positions that a byte cannot count, in a narrow model
            head, n, L, T, context = 2, 2, 1, int(rng.integers(130, 140)), 143
        if regime == "crowd":  # many sequences at once, in a narrow model
            head, n, L, f, V, context, T, B = 2, 3, 1, 5, 7, 3, 3, int(rng.integers(400, 500))
        n, far, V, B, f = leaning(rng, (n, context, V, B, f))
        (L,) = leaning(rng, (L,), largest=64)
        T, context = (far, far) if far != context else (T, context)
        d = head * n
        close = {T, context}  # equal in "full"
        if (
            leans(rng)
            or regime in ("identity", "smallest", "one_position", "one_token", "crowd")
            or (len({*close, B, d, V, f}) == len(close) + 4 and d not in SHOWN)
        ):
            break
    sizes = dict(zip(SIZES, (d, n, L, f, V, context)))
    lead = (B,)
    if regime in ("no_batch", "large", "long"):
        lead = ()
    elif regime in ("single", "deep", "lone"):
        lone = 2, context + 2  # more of them than positions
        lead = {"single": (1,), "deep": (2, 1, 2), "lone": lone}[regime]
    return sizes, lead, T


def stacked(blocks):
    """The blocks' weights as one. Attention is soft: where it chooses one key, w_k's gradient cancels."""
    found = {name: np.stack([block[name] for block in blocks]) for name in ALL}
    for name in ("w_q", "w_k"):
        found[name] *= found[name].dtype.type(0.6)
    return found


def weights(rng, sizes, dtype, scale=1.0, draw=settled_weights):
    """One array for each kind of parameter, none at its initial value."""
    d, V = sizes["d_model"], sizes["vocab_size"]
    blocks = [draw(rng, d, sizes["d_ff"], dtype) for _ in range(sizes["n_layers"])]
    return {
        "table": normal(rng, (V, d), dtype, scale),
        **stacked(blocks),
        "gain_final": (1.0 + 0.3 * rng.standard_normal(d)).astype(dtype),
        "bias_final": normal(rng, (d,), dtype, 0.3),
    }


def token_ids(rng, regime, shape, V):
    """Any ids, but no sequence of one id only, as equal keys leave w_k's gradient to rounding.

    In "repeated" a sequence has one id in all its positions but the first.
    """
    ids = rng.integers(0, V, shape)
    if V > 1 and shape[-1] > 1:
        ids[..., 1] = (ids[..., 0] + rng.integers(1, V, shape[:-1])) % V
    if regime == "one_id":  # as padding alone
        ids[...] = rng.integers(0, V, (*shape[:-1], 1))
    if regime == "repeated":
        ids[..., 0], ids[..., 1:] = rng.permutation(V)[:2]
    if regime == "narrow_ids":
        return ids.astype(np.uint8)
    return ids


@varied
def forward(rng, regime, dtype):
    sizes, lead, T = config(rng, regime)
    drawn = weights(rng, sizes, dtype, {"huge": 1e3, "tiny": TINY[dtype]}.get(regime, 1.0))
    V = sizes["vocab_size"]
    if regime == "identity":  # then the logits are what enters the head
        drawn["table"] = np.eye(V, dtype=dtype)
    ids = token_ids(rng, regime, (*lead, T), V)
    grad = normal(rng, (*ids.shape, V), dtype)
    if V == 1:  # every gradient is a multiple of their sum, which may all but vanish
        grad = np.abs(grad)
    return {"sizes": sizes, "ids": ids, "grad": grad, **drawn}


def modes(rng, regime, dtype):
    return forward(rng, regime, dtype)


def composed(rng, regime, dtype):
    drawn = forward(rng, regime, dtype)
    found = weights(rng, drawn["sizes"], dtype, draw=plain_weights)
    if regime == "untrained":
        found |= new_gains(found)
    return {**drawn, **found}


def without(drawn, *names):
    return {name: a for name, a in drawn.items() if name not in names}


def future(rng, regime, dtype):
    drawn = forward(rng, regime, dtype)
    ids, V = drawn["ids"], drawn["sizes"]["vocab_size"]
    later = ids.copy()
    since = 1 + int(rng.integers(ids.shape[-1] - 1))
    later[..., since:] = (
        later[..., since:] + 1 + rng.integers(0, V - 1, later[..., since:].shape)
    ) % V
    return {**without(drawn, "grad"), "later": later, "since": since}


def again(rng, regime, dtype):
    """A second shape, and other weights. "then_one": a single position, as after a prompt."""
    drawn = forward(rng, "normal", dtype)
    sizes = drawn["sizes"]
    V, context = sizes["vocab_size"], sizes["context_len"]
    other = weights(rng, sizes, dtype)
    longer = drawn["ids"][..., :1].shape if regime == "then_one" else (2, 1, context)
    return {
        **drawn,
        "longer": token_ids(rng, regime, longer, V),
        "more_grad": normal(rng, (*longer, V), dtype),
        **{f"other_{name}": a for name, a in other.items()},
    }


def tied(rng, regime, dtype):
    """Nothing but the table and ln_final's bias count: the blocks add 0."""
    sizes, lead, T = config(rng, "normal")
    V, d = sizes["vocab_size"], sizes["d_model"]
    unseen = int(rng.integers(V))  # a row that is never looked up, and scored all the same
    ids = rng.integers(0, V - 1, (*lead, T))
    ids = np.where(ids >= unseen, ids + 1, ids)
    scale = TINY[dtype] if regime == "tiny" else 1.0
    table = normal(rng, (V, d), dtype, scale)
    if regime == "level":  # one number for each row, which leaves a norm nothing to scale
        table[...] = rng.integers(1, 9, (V, 1))
    if regime == "normalised":  # rows as a norm leaves them, to which it adds its bias all the same
        table = table - table.mean(-1, keepdims=True)
        table = (table / table.std(-1, keepdims=True)).astype(dtype)
    return {"sizes": sizes, "ids": ids, "table": table, "bias": normal(rng, (d,), dtype, scale),
            "other": normal(rng, (V, d), dtype), "grad": normal(rng, (*ids.shape, V), dtype)}  # fmt: skip


def attributes(rng, regime, dtype):
    return {"sizes": config(rng, regime)[0]}


def default(rng, regime, dtype):
    return {"seed": int(rng.integers(1 << 30))}


def settings(rng, regime, dtype):
    """Six sizes that fit, none of them a default."""
    n, head = int(rng.choice([1, 3, 5])), int(rng.choice([2, 6, 10]))
    layers, f, V, context = (int(rng.integers(3, 99)) for _ in range(4))
    return {"sizes": dict(zip(SIZES, (n * head, n, layers, f, V, context)))}


def refused(rng, regime, dtype):
    """Sizes of which one cannot be, or two do not fit; each set by itself."""
    wrong = []
    for name in SIZES:
        wrong += [{**DEFAULTS, name: 0}, {**DEFAULTS, name: -int(rng.integers(1, 9))}]
        wrong.append({**settings(rng, regime, dtype)["sizes"], name: 0})
    n, head = int(rng.choice([3, 5, 7])), 2 * int(rng.integers(2, 6))
    for d in (n * head + 1, n * head - 1, 1, n - 1):  # does not divide
        wrong.append({**DEFAULTS, "d_model": d, "n_heads": n})
    wrong.append({**DEFAULTS, "n_heads": 128})
    for size in (1, 3, int(rng.choice([5, 7, 9]))):  # an odd head: there are no pairs to turn
        wrong.append({**DEFAULTS, "d_model": n * size, "n_heads": n})
    wrong.append({**DEFAULTS, "d_model": 64, "n_heads": 64})
    return {"wrong": wrong}


def too_long(rng, regime, dtype):
    """More positions than context_len: one more, or many."""
    sizes, _, _ = config(rng, "normal")
    T = sizes["context_len"] + (int(rng.integers(3, 30)) if regime == "far" else 1)
    lead = {"no_batch": (), "deep": (2, 1, 2)}.get(regime, (2,))
    return {"sizes": sizes, "ids": rng.integers(0, sizes["vocab_size"], (*lead, T))}


def outside(rng, regime, dtype):
    sizes, lead, T = config(rng, "normal")
    V = sizes["vocab_size"]
    ids = rng.integers(0, V, (*lead, T))
    ids[..., -1] = {"negative": -1, "first": V}.get(regime, V + 50)
    return {"sizes": sizes, "ids": ids}


def start_weights(rng, sizes, dtype):
    """GPT-2's start: N(0, 0.02), gains 1, biases 0."""
    d, f, V, L = (sizes[name] for name in ("d_model", "d_ff", "vocab_size", "n_layers"))
    square = dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), (d, d))
    found = {name: np.zeros((L, f if name == "b_1" else d), dtype) for name in ALL}
    found |= {name: np.ones((L, d), dtype) for name in ("gain_1", "gain_2")}
    for name, shape in {**square, "w_1": (d, f), "w_2": (f, d)}.items():
        found[name] = normal(rng, (L, *shape), dtype, 0.02)
    table = normal(rng, (V, d), dtype, 0.02)
    return {
        "table": table,
        **found,
        "gain_final": np.ones(d, dtype),
        "bias_final": np.zeros(d, dtype),
    }


def batch_of(rng, sizes, B, T):
    V = sizes["vocab_size"]
    return {"ids": token_ids(rng, "normal", (B, T), V), "targets": rng.integers(0, V, (B, T))}


def depths(rng, regime, dtype):
    """A model, and how many of its blocks are kept, from few to all. The weights are of ordinary size."""
    sizes, _, T = config(rng, "shown" if regime.startswith("shown") else "three_blocks")
    if not regime.startswith("shown"):
        kept = [1, 2, 3]
        return {
            "sizes": sizes,
            "kept": kept,
            **batch_of(rng, sizes, 2, T),
            **weights(rng, sizes, dtype),
        }
    kept = [1, 2, 4, 8, 16]
    sizes["n_layers"] = kept[-1]
    drawn = start_weights(rng, sizes, "float64")
    drawn["table"] *= sizes["d_model"] ** -0.5 / 0.02
    for name in ("w_q", "w_k", "w_v", "w_o", "w_1", "w_2"):  # each keeps the size of what it reads
        drawn[name] *= drawn[name].shape[1] ** -0.5 / 0.02
        if regime == "shown_double" and name in (
            "w_o",
            "w_2",
        ):  # what a block adds is twice as large
            drawn[name] *= 2.0
    drawn = {name: array.astype(dtype) for name, array in drawn.items()}
    return {"sizes": sizes, "kept": kept, **batch_of(rng, sizes, 4, T), **drawn}


def training(rng, regime, dtype):
    if regime == "shown":
        sizes, _, T = config(rng, regime)
        drawn = start_weights(rng, sizes, dtype)
        return {"sizes": sizes, "lr": 0.5, "steps": 12, **batch_of(rng, sizes, 4, T), **drawn}
    sizes, _, T = config(rng, "normal")
    drawn = weights(rng, sizes, dtype, 0.5)
    return {"sizes": sizes, "lr": 0.005, "steps": 3, **batch_of(rng, sizes, 2, T), **drawn}
