"""Inputs for TransformerBlock and for stacks of it.

In every regime but those that start with "shown" (and in `composed`) b_1 is so far from zero that the
hidden units of the FFN are on or off for good, see reference.py.
"""

import numpy as np
from pack.common import EQUAL, ROWS, SHOWN, blank, distinct, leaning, leans, normal, varied

ALL = ("gain_1", "bias_1", "w_q", "w_k", "w_v", "w_o")
ALL += ("gain_2", "bias_2", "w_1", "b_1", "w_2", "b_2")
ALL_ON = 32.0  # a bias beyond what any normalised number reaches
FAINT = {"float64": 1e-4, "float32": 1e-3}  # of rows, and of what is added to them


def sizes(rng, regime):
    """Leading axes, T, n_heads, d_model, d_ff. The sizes differ from each other, but in "equal_sizes"."""
    if regime.startswith("shown"):
        return (), 8, 2, 16, 32
    if regime == "large":
        return (), 35, 11, 22, 23
    if regime == "equal_sizes":
        return (EQUAL,), EQUAL, 3, EQUAL, EQUAL  # heads of two columns, for RoPE
    narrow, wide = [(1, 4), (1, 6), (3, 2)], [(3, 4), (5, 2), (1, 10)]
    with_batch = regime not in ("no_batch", "one_position")
    choices = narrow if with_batch else wide
    if regime == "one_head":
        choices = [(1, 4), (1, 6)]
    while True:
        n, size = choices[int(rng.integers(len(choices)))]
        B, T, f = distinct(rng, ROWS, B=(3, 4), T=(3, 5), f=(3, 9))
        n, size = leaning(rng, (n, size))
        d = n * size
        if leans(rng):
            break
        if len({B, T, f, d}) == 4 and T not in (n, size) and n != B and d not in SHOWN:
            break
    lead = {
        "no_batch": (),
        "one_position": (),
        "single": (1,),
        "one_last": (B, 1),
        "deep": (2, 1),
    }.get(regime, (B,))
    T = 1 if regime in ("one_position", "attention_alone") else T
    f = d if regime == "ffn_alone" else 1 if regime == "one_hidden" else f
    return lead, T, n, d, f


def plain_weights(rng, d, f, dtype, scale=1.0):
    """Twelve arrays of a block, none of them at its initial value."""
    drawn = {
        "gain_1": 1.0 + 0.3 * rng.standard_normal(d),
        "bias_1": 0.3 * rng.standard_normal(d),
        "w_q": 1.3 * d**-0.5 * rng.standard_normal((d, d)),
        "w_k": 1.3 * d**-0.5 * rng.standard_normal((d, d)),
        "w_v": scale * d**-0.5 * rng.standard_normal((d, d)),
        "w_o": scale * d**-0.5 * rng.standard_normal((d, d)),
        "gain_2": 1.0 + 0.3 * rng.standard_normal(d),
        "bias_2": 0.3 * rng.standard_normal(d),
        "w_1": d**-0.5 * rng.standard_normal((d, f)),
        "b_1": 0.5 * rng.standard_normal(f),
        "w_2": f**-0.5 * rng.standard_normal((f, d)),
        "b_2": 0.5 * rng.standard_normal(d),
    }
    return {name: a.astype(dtype) for name, a in drawn.items()}


def weights(rng, d, f, dtype):
    """The same, with hidden units that are on or off for every input; one at least is on."""
    drawn = plain_weights(rng, d, f, "float64")
    longest = max(  # whichever of the two norms stands before the FFN
        np.abs(drawn[f"gain_{i}"]).max() * d**0.5 + np.linalg.norm(drawn[f"bias_{i}"])
        for i in (1, 2)
    )
    reach = longest * np.linalg.norm(drawn["w_1"], axis=0)  # of normed @ w_1, whatever the input
    on = rng.choice([False, True], f)
    on[int(rng.integers(f))] = True
    drawn["b_1"] = np.where(on, 1.0, -1.0) * (reach + rng.uniform(10, 12, f))
    drawn["b_2"] -= drawn["b_1"][on] @ drawn["w_2"][on]  # takes the large constant out again
    return {name: a.astype(dtype) for name, a in drawn.items()}


def new_gains(found):
    """Gains of 1 and biases of 0, in the place of those of a block or of several."""
    started = {name: np.ones_like(a) for name, a in found.items() if name.startswith("gain")}
    return started | {n: np.zeros_like(a) for n, a in found.items() if n.startswith(("bias", "b_"))}


def rows(rng, regime, shape, dtype):
    scale = {"huge": 1e4, "tiny": 1e-6, "constant_rows": 0.02}.get(regime, 1.0)
    x = normal(rng, shape, dtype, scale)
    if regime == "spread_rows":
        x = x * (10.0 ** np.linspace(-3, 3, shape[-2]))[:, None].astype(dtype)
    if regime == "normalised":  # as a norm without gain and bias would leave them
        x = ((x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)).astype(dtype)
    if regime == "constant_rows":
        x = np.broadcast_to(x[..., :1], x.shape).copy()  # small: their variance is rounding / eps
    return x


def attributes(rng, regime, dtype):
    n, size = [(1, 6), (3, 4), (5, 2), (3, 6)][int(rng.integers(4))]
    return {"d_model": n * size, "n_heads": n, "d_ff": int(rng.integers(19, 40))}


def twice(rng, regime, dtype):
    return forward(rng, regime, dtype)


@varied
def forward(rng, regime, dtype):
    lead, T, n, d, f = sizes(rng, regime)
    shape = (*lead, T, d)
    drawn = {
        "x": blank(rng, regime, rows(rng, regime, shape, dtype)),
        "grad": normal(rng, shape, dtype),
        "n_heads": n,
    }
    found = {**drawn, **weights(rng, d, f, dtype)}
    if regime == "attention_alone":  # of one position, and with identity matrices: it gives ln_1(x)
        found |= {name: np.zeros_like(found[name]) for name in ("w_2", "b_2")}
        found |= {name: np.eye(d, dtype=dtype) for name in ("w_v", "w_o")}
    if regime == "ffn_alone":  # the attention gives 0; the FFN's units are all on: it gives ln_2(x)
        found["w_o"] = np.zeros_like(found["w_o"])
        found |= {name: np.eye(d, dtype=dtype) for name in ("w_1", "w_2")}
        found |= {"b_1": np.full(d, ALL_ON, dtype), "b_2": np.full(d, -ALL_ON, dtype)}
    if regime == "faint":  # and still so after the attention: below what eps hides from both norms
        faint = found["x"].dtype.type(FAINT[dtype])
        found |= {"x": faint * found["x"], "w_o": faint * found["w_o"]}
    return found


def modes(rng, regime, dtype):
    return forward(rng, regime, dtype)


def future(rng, regime, dtype):
    drawn = forward(rng, regime, dtype)
    later = drawn["x"].copy()
    later[..., -1, :] = normal(rng, later[..., -1, :].shape, dtype, 3.0)
    return {**{name: a for name, a in drawn.items() if name != "grad"}, "later": later}


def again(rng, regime, dtype):
    """Another length in between: two positions more, or in "then_one" one alone, as after a prompt."""
    drawn = forward(rng, regime, dtype)
    rows, (T, d) = drawn["x"].shape[:-2], drawn["x"].shape[-2:]
    longer = (*rows, 1, d) if regime == "then_one" else (T + 2, d)
    other = weights(rng, d, len(drawn["b_1"]), dtype)
    return {
        **drawn,
        "longer": normal(rng, longer, dtype),
        "more_grad": normal(rng, longer, dtype),
        **{f"other_{name}": a for name, a in other.items()},
    }


def composed(rng, regime, dtype):
    drawn = forward(rng, regime, dtype)
    d, f = drawn["w_1"].shape
    found = plain_weights(rng, d, f, dtype)
    if regime == "untrained":
        found |= new_gains(found)
    return {**drawn, **found}


def many(rng, regime, dtype):
    """x (T, d_model), and weights with one row for each block of the stack.

    "shown" and "shown_embedding" start as GPT-2 does: N(0, 0.02), gains 1, biases 0; the latter has
    the rows of such an embedding as its x. "shown_deep" has weights of N(0, 1 / fan-in).
    """
    if regime.startswith("shown"):
        _, T, n, d, f = sizes(rng, regime)
        depth = 6 if regime == "shown" else 12
        shapes = dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), (d, d)) | {
            "w_1": (d, f),
            "w_2": (f, d),
        }
        start = {name: np.zeros((depth, f if name == "b_1" else d), dtype) for name in ALL}
        start |= {name: np.ones((depth, d), dtype) for name in ("gain_1", "gain_2")}
        for name, shape in shapes.items():
            scale = shape[0] ** -0.5 if regime == "shown_deep" else 0.02
            start[name] = normal(rng, (depth, *shape), dtype, scale)
        return normal(rng, (T, d), dtype, 0.02 if regime == "shown_embedding" else 1.0), n, start
    _, T, n, d, f = sizes(rng, "normal")
    blocks = [weights(rng, d, f, dtype) for _ in range(3)]
    joined = {name: np.stack([block[name] for block in blocks]) for name in ALL}
    return normal(rng, (T, d), dtype), n, joined


def silent(rng, regime, dtype):
    """A block whose two halves answer 0; rows of root mean square 5 where they are shown."""
    _, T, n, d, f = sizes(rng, regime if regime.startswith("shown") else "no_batch")
    drawn = plain_weights(rng, d, f, dtype)
    if regime == "shown":
        drawn |= {name: np.ones(d, dtype) for name in ("gain_1", "gain_2")}
        drawn |= {name: np.zeros(d, dtype) for name in ("bias_1", "bias_2")}
    drawn |= {name: np.zeros_like(drawn[name]) for name in ("w_o", "w_2", "b_2")}
    x = rng.standard_normal((T, d))
    x = (5.0 if regime == "shown" else 3.0) * x / np.sqrt((x**2).mean(-1, keepdims=True))
    return {"x": x.astype(dtype), "n_heads": n, **drawn}


def stack(rng, regime, dtype):
    x, n, found = many(rng, regime, dtype)
    return {"x": x, "n_heads": n, **found}


def other_sum(rng, regime, dtype):
    """Stacks and their inputs, side by side along a first axis: twelve where they are shown."""
    drawn = [stack(rng, regime, dtype) for _ in range(12 if regime == "shown" else 1)]
    n_heads = drawn[0]["n_heads"]
    joined = {name: np.stack([one[name] for one in drawn]) for name in ("x", *ALL)}
    return {**joined, "n_heads": n_heads}


def gradients(rng, regime, dtype):
    x, n, found = many(rng, regime, dtype)
    grad = normal(rng, x.shape, dtype)
    grad = grad / np.sqrt((grad**2).sum()) if regime.startswith("shown") else grad
    return {"x": x, "grad": grad.astype(dtype), "n_heads": n, **found}
