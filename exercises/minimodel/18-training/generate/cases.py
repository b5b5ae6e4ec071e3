"""Inputs for generate's probes: logits whose truncation can be told from what is drawn.

Where something is drawn, every token that may come up has at least one chance in seven, so that in
170 draws it is missed once in 10^11.
"""

import numpy as np
from pack.common import distinct, normal

DRAWS = 170
PAIR_DRAWS = 45  # of two tokens of 0.53 and 0.47, which miss one of them once in 10^12
# Seeds of generators whose first number is 2 to 10 millionths above 0, or below 1.
FIRST = (11026, 147121, 188628, 216639, 270561, 307539, 374347, 409120)
LAST = (424824, 512268, 533639, 777361, 830098, 928745, 975634, 1320078)
SETTINGS = {"temperature": None, "top_k": None, "top_p": None}  # None: not given at all


def any_seed(rng):
    return int(rng.integers(1 << 30))


def greedy(rng, regime, dtype):
    """A continuation without chance. weights: what the model makes of what it sees, see call.py."""
    V, context, n, new = distinct(rng, V=(17, 30), context=(4, 7), n=(3, 7), new=(9, 14))
    if regime == "large":
        V, context, n, new = 301, 90, 120, 70
    n = {"one_token": 1, "long_prompt": context + 3, "no_new_long": context + 3}.get(regime, n)
    context = 1 if regime == "tight" else context
    new = 0 if "no_new" in regime else new
    given = dict(SETTINGS)
    settings = {
        "top_one": {"top_k": 1},
        "small_mass": {"top_p": float(rng.uniform(0.05, 0.3))},
        "cold": {"temperature": 0.01},
        "greedy_top_k": {"temperature": 0.0, "top_k": 3},
        "greedy_top_p": {"temperature": 0.0, "top_p": 0.9},
    }
    given.update(settings.get(regime, {"temperature": 0.0}))
    flat = regime in (
        "close",
        "greedy_top_k",
        "greedy_top_p",
    )  # whoever draws does not get the greatest
    kind = {"narrow": np.int32, "bytes": np.uint8}.get(regime, np.int64)
    weights = rng.integers(1, V, context)  # of the newest id, the one before, ...
    return {
        "one": np.ones((1,), dtype),
        "V": V,
        "weights": weights,
        "scale": 0.003 if flat else {"huge": 1000.0, "large": 30.0}.get(regime, 3.0),
        "prompt": rng.integers(0, V, n).astype(kind),
        "n_new": new,
        "seed": any_seed(rng),
        **given,
    }


def returned(rng, regime, dtype):
    return greedy(rng, regime, dtype)


def whole(rng, regime, dtype):
    """A small MiniGPT whose attention matters, and a prompt that leaves room in its context."""
    sizes = {"d_model": 12, "n_heads": 2, "n_layers": 2, "d_ff": 16, "vocab_size": 29}
    return {
        "sizes": {**sizes, "context_len": 13},
        "numbers": normal(rng, (4000,), dtype, 0.6),  # more than it has parameters
        "prompt": rng.integers(0, 29, int(rng.integers(2, 5))),
        "n_new": int(rng.integers(7, 10)),
        "seed": any_seed(rng),
    }


def spread(rng, V, top_k=None, top_p_of=None):
    """Probabilities (V,), the greatest first, and a top_p that the token number `top_p_of` crosses.

    No two are alike, and each that is kept is likely enough.
    """
    kept = top_k or top_p_of or V
    while True:
        ratios = rng.uniform(0.4, 0.9, V)
        ratios[:kept] = rng.uniform(0.86 if kept > 3 else 0.7, 0.92, kept)
        p = np.cumprod(ratios)
        p = p / p.sum()
        mass = np.cumsum(p)
        crossed = p[kept - 1]
        if crossed / mass[kept - 1] >= 0.143 and crossed > 0.06:
            break
    if top_p_of is None:
        return p, None
    return p, float(mass[kept - 1] - crossed * rng.uniform(0.3, 0.7))


def reordered(rng, temperature):
    """Probabilities (V,) and a top_p that keeps another number of tokens where it comes before the
    temperature.
    """
    while True:
        V = int(rng.integers(4, 6))
        k = int(rng.integers(2, V - 1))
        p, top_p = spread(rng, V, top_p_of=k)
        mass = np.cumsum(p**temperature / (p**temperature).sum())
        if np.searchsorted(mass, top_p) + 1 != k:
            return p, top_p


def exactly(rng, regime, dtype):
    """Six distributions. Code for which no exact mass is enough draws an id more with a chance of one in
    three or seven a token: that it never does so in 64 tokens of one of the six happens in one draw of 6,000.
    """
    return {
        "orders": np.stack([rng.permutation(6) for _ in range(6)]),
        "counts": np.tile([1, 2], 3),
        "halves": np.asarray([1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 32], dtype),
        "n_new": 64,
        "seed": any_seed(rng),
    }


def rounded_below_one(rng, dtype):
    """Six probabilities, nearly alike, whose softmax adds up to a little less than 1, as most write it."""
    while True:
        p = np.sort(rng.uniform(0.95, 1.05, 6))[::-1]
        p = p / p.sum()
        logits = np.log(p).astype(dtype)
        for kind in {"float64", dtype}:
            e = np.exp(logits.astype(kind) - logits.astype(kind).max())
            if np.cumsum(e / e.sum())[-1] >= 1:
                break
        else:
            return p


def changing(rng, regime, dtype):
    """Two distributions over five ids, of which top_p keeps two and three: the one follows ids of
    `group`, the other all others. Either id group is met in 40 of 100 draws at least. "as_ranked": the
    same ids are likeliest in both.
    """
    if regime == "same_heights":
        return same_heights(rng, dtype)
    order = rng.permutation(5)
    steep, group = [0.45, 0.05, 0.4, 0.05, 0.05], order[:2]
    if regime == "as_ranked":
        steep, group = [0.6, 0.2, 0.1, 0.06, 0.04], order[[0, 3]]
    logits = np.empty((2, 5))
    logits[:, order] = np.log([steep, [0.3, 0.26, 0.23, 0.11, 0.1]])
    return {
        "logits": logits.astype(dtype),
        "group": np.sort(group),
        "n_new": 250,
        "top_p": 0.75,
        "seed": any_seed(rng),
    }


def same_heights(rng, dtype):
    """The same, over twelve ids with the same eight greatest logits, beside which four others count or do
    not: 0.69 keeps six of eight that are nearly alike, and all eight where four more are a little less
    likely. In 700 draws either follows its ids 150 times, in which six miss one of them once in 10^11.
    """
    order = rng.permutation(12)
    top = np.log(np.linspace(1.01, 0.99, 8))
    logits = np.empty((2, 12))
    logits[:, order] = np.concatenate([[top, top], [[-20.0] * 4, [-0.3, -0.31, -0.32, -0.33]]], 1)
    return {
        "logits": logits.astype(dtype),
        "group": np.sort(order[[0, 1, 8]]),
        "n_new": 700,
        "top_p": 0.69,
        "seed": any_seed(rng),
    }


def kept(rng, regime, dtype):
    """Logits (V,) that are the same at every step, and settings."""
    V = int(rng.integers(4, 6))
    given = dict(SETTINGS)
    temperature = {
        "hot": 2.0, "nucleus_hot": 2.5, "top_k_hot": 2.5, "cool": 0.5, "nucleus_cool": 0.4,
    }.get(regime, 1.0)  # fmt: skip
    k = int(rng.integers(2, V - 1))
    if regime in ("top_k", "top_k_hot"):
        p, _ = spread(rng, V, top_k=k)
        given["top_k"] = k
    elif regime == "top_k_all":
        p, _ = spread(rng, V, top_k=V)
        given["top_k"] = V + int(rng.integers(0, 3))
    elif regime in ("nucleus_hot", "nucleus_cool"):
        p, given["top_p"] = reordered(rng, temperature)
    elif regime == "top_p_top_k_all":  # top_k leaves all, so it does not matter which comes first
        p, given["top_p"] = spread(rng, V, top_p_of=k)
        given["top_k"] = V + int(rng.integers(0, 3))
    elif regime in ("top_p", "far", "large"):
        p, given["top_p"] = spread(rng, V, top_p_of=k)
    elif regime in (
        "just_short",
        "hardly_short",
    ):  # what stands before the last that is kept has nearly top_p alone
        p, _ = spread(rng, V, top_p_of=k)
        fine = regime == "hardly_short" and dtype == "float64"
        short = 10 ** (rng.uniform(-8, -5.5) if fine else rng.uniform(-5, -2.5))
        given["top_p"] = float(p[: k - 1].sum() + short)
    elif regime == "two_of_ten":  # ten that are nearly alike, and a small top_p
        p = np.sort(rng.uniform(0.95, 1.05, 10))[::-1]
        p = p / p.sum()
        given["top_p"] = float(p[0] + rng.uniform(0.3, 0.7) * p[1])
    elif regime == "nearly_all":  # the last token crosses
        p, given["top_p"] = spread(rng, 4, top_p_of=4)
    else:
        p, _ = spread(rng, V)
        if regime == "whole":
            given["top_p"] = 1.0
        if regime == "top_p_of_one":
            p, given["top_p"] = rounded_below_one(rng, dtype), 1.0
    if temperature != 1.0:
        given["temperature"] = temperature
    logits = temperature * np.log(p)
    others = {"large": 300, "rare": 6000}.get(regime, 0)  # which hardly ever come up
    logits = np.concatenate([logits, rng.uniform(-41, -39, others)])
    shift = {"far": 900.0, "top_p_of_one": 0.0}.get(regime, float(rng.uniform(-2, 2)))
    logits = rng.permutation(logits) + shift
    new = 60 if regime == "rare" else DRAWS
    return {"logits": logits.astype(dtype), "n_new": new, "seed": any_seed(rng), **given}


def as_numpy(rng, regime, dtype):
    """A top_p as NumPy's computations give it."""
    drawn = kept(rng, "top_p", dtype)
    return {**drawn, "top_p": np.float32(drawn["top_p"])}


def edges(rng, regime, dtype):
    """Rows of logits and a top_p for each, from 0.97 to 0.9999. What it cuts off holds the first ids, or
    the last, and so comes up at once where it is not cut off and the generator says 0 or 1: in order of
    the ids, or of the probabilities.
    """
    logits, allowed, top_ps = [], [], []
    V, cut = 9, int(rng.integers(2, 5))
    strata = np.linspace(1.5, 4.1, 5)
    for side in (0, 1):
        for low, high in zip(strata, strata[1:]):
            left = 10 ** -rng.uniform(low, high)  # that top_p leaves
            crossing, tail = left * rng.uniform(1.5, 3), left * rng.uniform(0.5, 0.8)
            first = rng.uniform(0.5, 1, V - cut - 1)
            p = np.concatenate([first / first.sum() * (1 - crossing - tail), [crossing]])
            p = np.concatenate([rng.permutation(p), np.full(cut, tail / cut)])
            inside = np.arange(V) < V - cut
            logits.append(np.log(p)[:: 1 if side else -1])
            allowed.append(inside[:: 1 if side else -1])
            top_ps.append(1 - left)
    seeds = [*rng.choice(FIRST, len(strata) - 1), *rng.choice(LAST, len(strata) - 1)]
    return {
        "logits": np.array(logits).astype(dtype), "allowed": np.array(allowed),
        "top_ps": np.array(top_ps), "seeds": np.array(seeds),
    }  # fmt: skip


def colder(rng, regime, dtype):
    """Two tokens that are nearly alike at a temperature, and one that is far below them."""
    temperatures = 10 ** -rng.uniform([0.5, 1.1, 1.7, 2.3, 2.9], [1.1, 1.7, 2.3, 2.9, 3.5])
    logits = temperatures[:, None] * np.log([0.53, 0.47, 1e-40])
    rows = rng.permuted(logits, axis=-1)
    return {
        "logits": rows.astype(dtype), "temperatures": temperatures, "n_new": PAIR_DRAWS,
        "seed": any_seed(rng),
    }  # fmt: skip


MANY = {  # tokens, and which part of them is kept
    "hundreds": (200, 260, 0.7, 0.9),
    "most": (200, 260, 0.955, 0.98),
    "thousands": (3000, 4000, 0.4, 0.6),
    "k_dozens": (30, 61, 0.7, 1.0),
    "k_hundreds": (200, 260, 0.6, 0.8),
}


def many(rng, regime, dtype):
    """Dozens of tokens that are nearly alike, hundreds, or thousands; `allowed` (V,) are those that top_p
    keeps, or top_k.
    """
    fewest, most, low, high = MANY[regime]
    V = int(rng.integers(fewest, most))
    p = np.sort(rng.uniform(0.9, 1.1, V))[::-1]
    p = p / p.sum()
    n = int(V * rng.uniform(low, high))
    given = {"top_k": n, "top_p": None}
    if not regime.startswith("k_"):
        given = {"top_k": None, "top_p": float(p[: n - 1].sum() + 0.5 * p[n - 1])}
    order = rng.permutation(V)
    logits, allowed = np.empty(V), np.empty(V, dtype=bool)
    logits[order], allowed[order] = np.log(p), np.arange(V) < n
    new = 90 if regime == "thousands" else DRAWS
    return {
        "logits": logits.astype(dtype), "allowed": allowed, "n_new": new, "seed": any_seed(rng),
        **given,
    }  # fmt: skip


def slivers(rng, regime, dtype):
    """Rows of logits (n, V) and a top_p for each, from 1e-8 to 0.1, which the likeliest token alone reaches.
    Without a cut it comes up once in five times.
    """
    top_ps = np.concatenate([[1e-8], 10 ** np.linspace(-7.5, -1, 5)])
    p = np.array([0.2, 0.18, 0.16, 0.14, 0.12, 0.11, 0.09])
    rows = np.stack([rng.permutation(np.log(p)) for _ in top_ps]) + rng.uniform(-2, 2)
    return {"logits": rows.astype(dtype), "top_ps": top_ps, "n_new": 20, "seed": any_seed(rng)}


def ties(rng, regime, dtype):
    """Equal logits (7,): four of them reach a mass of 0.5, whichever they are."""
    logits = np.full(7, float(rng.uniform(-2, 2)))
    return {"logits": logits.astype(dtype), "n_new": DRAWS, "top_p": 0.5, "seed": any_seed(rng)}


def stored(rng, regime, dtype):
    given = {"top_p": {"top_p": 0.7}, "top_k": {"top_k": 2}, "cool": {"temperature": 0.6}}
    return {
        "logits": normal(rng, (1, 2, 5), dtype), "n_new": 4, "seed": any_seed(rng), **SETTINGS,
        **given.get(regime, {}),
    }  # fmt: skip


def traced(rng, regime, dtype):
    """One draw from logits (V,), with sizes that nothing else has."""
    V, m = 13, 6
    p = np.sort(rng.uniform(0.2, 1.0, V) * np.linspace(1.0, 0.3, V))[::-1]
    p = p / p.sum()
    mass = np.cumsum(p)
    top_p = float(mass[m - 1] - 0.5 * p[m - 1])
    T = 1.5
    logits = rng.permutation(T * np.log(p) + 0.7).astype(dtype)
    return {
        "logits": logits,
        "temperature": T,
        "top_p": top_p,
        "seed": any_seed(rng),
    }


def shares(rng, regime, dtype):
    """Two or three tokens, far apart in probability; how often does each come up?

    shown_renewed, shown_partly: the same with more draws.
    """
    shown, regime = regime.startswith("shown_"), regime.removeprefix("shown_")
    given = dict(SETTINGS)
    p = np.array([0.9, 0.1])
    if regime == "hot":
        given["temperature"] = 3.0
    elif regime == "very_hot":  # the same as ever, of logits that are 55 apart
        p, given["temperature"] = p**25, 25.0
    elif regime == "cool":
        p, given["temperature"] = np.array([0.6, 0.4]), 0.25
    elif regime == "renewed":  # what is left after a cut adds up to 1 again, in its old proportions
        p, given["top_p"] = np.array([0.55, 0.15, 0.11, 0.1, 0.09]), 0.62
    elif regime == "partly":  # three are kept, and two of them lie below top_p
        p, given["top_p"] = np.array([0.55, 0.15, 0.12, 0.1, 0.08]), 0.75
    elif regime == "crossing":  # the one that crosses counts in full, not up to top_p
        p, given["top_p"] = np.array([0.42, 0.4, 0.1, 0.08]), 0.45
    elif (
        regime == "scant"
    ):  # more is cut off than kept: whoever gets it all is likely by that alone
        p = np.array([0.22, 0.21, *np.linspace(0.1, 0.04, 8)])
        p, given["top_p"] = p / p.sum(), 0.4
    elif regime == "top_k":
        p, given["top_k"] = np.array([0.55, 0.15, 0.11, 0.1, 0.09]), 2
    order = rng.permutation(len(p))
    n = 2000 if shown else 400 if regime == "scant" else 250
    return {"logits": np.log(p)[order].astype(dtype), "n_new": n, "seed": any_seed(rng), **given}


def dominant(rng, regime, dtype):
    """One token that is likelier than top_p by itself. It is neither the first nor the last."""
    V = 16 if regime == "shown" else int(rng.integers(5, 9))
    share = 0.95 if regime == "shown" else float(rng.uniform(0.9, 0.98))
    top_p = 0.9 if regime == "shown" else float(rng.uniform(0.3, 0.85))
    which = int(rng.integers(1, V - 1))
    rest = rng.uniform(0.5, 1.5, V)
    rest[which] = 0.0
    p = rest / rest.sum() * (1 - share)
    p[which] = share
    return {
        "logits": np.log(p).astype(dtype),
        "which": which,
        "top_p": top_p,
        "seed": any_seed(rng),
    }


def masses(rng, regime, dtype):
    """Eight tokens of 0.3, 0.2, 0.15, ... in any order, and several top_p."""
    p = np.array([0.3, 0.2, 0.15, 0.12, 0.09, 0.07, 0.04, 0.03])
    if regime != "shown":
        p, _ = spread(rng, 4)
    V = len(p)
    mass = np.cumsum(p)
    top_ps = mass[1:-1] - 0.5 * p[1:-1]  # crossed by the second token, the third, ...
    if regime == "shown":
        top_ps = np.array([0.4, 0.6, 0.7, 0.8, 0.9, 0.95])
    order = rng.permutation(V)
    return {"logits": np.log(p)[order].astype(dtype), "top_ps": top_ps, "seed": any_seed(rng)}


def same_rng(rng, regime, dtype):
    seed = any_seed(rng)
    logits = rng.uniform(-0.5, 0.5, int(rng.integers(5, 9))).astype(dtype)
    return {"logits": logits, "n_new": 60, "seed": seed, "other_seed": seed + 1 + any_seed(rng)}


def mode(rng, regime, dtype):
    return {
        "logits": rng.standard_normal(5).astype(dtype),
        "training": regime == "training",
        "greedy": bool(rng.integers(2)),
        "seed": any_seed(rng),
    }
