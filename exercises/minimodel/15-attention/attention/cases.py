"""Inputs for MultiHeadAttention. T, n_heads, d_head and d_model differ, but where said."""

import numpy as np
from pack.common import FIRSTS, ROWS, SHOWN, blank, distinct, leaning, leans, normal, varied
from pack.sdpa.cases import ABYSS

DEPTHS = {"float64": [-1e2, -1e4, -2e4, -1e5], "float32": [-1e2, -1e3]}


def sizes(rng, regime):
    """(leading axes, T, n_heads, d_head); d_model is their last two multiplied."""
    if regime.startswith("shown"):
        return (), 8, 1 if regime == "shown_one_head" else 4, 4
    if regime == "minimal":
        return (), 1, 1, 1
    if regime.endswith("large"):  # long, and with heads of two digits
        return (), 35, 13, 2
    if regime == "rope_wide":  # heads wider than most
        return (), 3, 2, 2 * int(rng.integers(33, 36))
    if regime == "long":  # positions that a byte cannot count
        return (), int(rng.integers(130, 150)), 3, 1
    if regime in ("depths", "abyss"):
        return (2,), 4, 2, 4
    if regime == "equal_sizes":
        return (3,), 3, 3, 3
    if regime == "narrow_heads":  # as many heads as columns
        return (3,), 5, 7, 1
    while True:
        T, H, e = distinct(rng, T=(3, 5), H=(3, 5), e=(3, 5))
        if regime.startswith("rope") or regime == "odd_heads":  # pairs of columns, or not
            H, e = 3, 5 if regime == "odd_heads" else int(rng.choice([4, 6]))
        if regime in ("one_head", "one_head_full", "rope_one_head", "weights"):
            H = 1
        if regime == "weights":  # more columns than positions
            e = int(rng.integers(6, 8))
        if regime in ("one_token", "rope_one_token"):
            T = 1
        if leans(rng) or (H * e not in SHOWN | {T} and H * e <= 18 and T not in (H, e)):
            break
    rows = {
        "no_batch": (), "rope_no_batch": (), "single": (1, 1), "one_row": (1,),
        "deep": (2, 1, 2), "rope_deep": (2, 1, 2),
    }.get(regime)  # fmt: skip
    if rows is None:
        rows = tuple(leaning(rng, [2], largest=ROWS["B"]))
    return rows, T, H, e


def drawn(rng, regime, dtype):
    """x and four square matrices, with the switches of the constructor."""
    rows, T, H, e = sizes(rng, regime)
    d = H * e
    x = normal(rng, (*rows, T, d), dtype, {"tiny": 1e-5}.get(regime, 1.0))
    x = blank(rng, regime, x)
    if regime == "constant_rows":  # every position holds the same
        x = np.broadcast_to(x[..., :1, :], x.shape).copy()
    if regime == "spread_rows":
        x = x * (10.0 ** np.linspace(-4, 0.5, T))[:, None].astype(dtype)
    w_q, w_k, w_v, w_o = (normal(rng, (d, d), dtype, d**-0.5) for _ in range(4))
    if regime == "weights":  # column s of y is the weight of position s
        x = np.broadcast_to(np.eye(T, d, dtype=dtype), x.shape).copy()
        w_v, w_o = np.eye(d, dtype=dtype), np.eye(d, dtype=dtype)
    if regime == "thousand":  # one signed unit a column, so that scores are whole numbers
        w_q, w_k = (np.eye(d)[rng.permutation(d)].astype(dtype) for _ in range(2))
        x = (30.0 * rng.choice([-1.0, 1.0], x.shape)).astype(dtype)
    if regime in ("depths", "abyss"):
        x, w_q, w_k = at_depth(rng, regime, rows, T, H, e, dtype)
    return {
        "x": x, "w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o, "n_heads": H,
        "causal": regime not in ("full", "rope_full", "one_head_full"),
        "use_rope": regime.startswith("rope") or regime == "odd_heads",
    }  # fmt: skip


def at_depth(rng, regime, rows, T, H, e, dtype):
    """x, w_q, w_k whose scores are whole numbers: 0 where a causal mask hides, elsewhere far below.

    Each query of each head has a depth of its own, in "abyss" the same, at which exp(x - logsumexp(x)),
    right as it is, keeps too few digits for gradients that are multiplied by it. T = e = 4, whose root
    is exact.
    """
    levels = [ABYSS[dtype]] if regime == "abyss" else DEPTHS[dtype]
    depth = rng.choice(levels, (H, T, 1))
    depth[:, 1] = levels[-1]
    scores = np.where(np.tri(T, dtype=bool), depth + rng.integers(-3, 4, (H, T, T)), 0.0)
    x = np.broadcast_to(np.eye(T, H * e), (*rows, T, H * e))
    w_q, w_k = (rng.standard_normal((H * e, H * e)) for _ in range(2))
    w_q[:T] = scores.transpose(1, 0, 2).reshape(T, H * e)
    w_k[:T] = np.tile(2.0 * np.eye(T), H)
    return x.astype(dtype), w_q.astype(dtype), w_k.astype(dtype)


@varied
def forward(rng, regime, dtype):
    made = drawn(rng, regime, dtype)
    return {**made, "grad": normal(rng, made["x"].shape, dtype)}


def modes(rng, regime, dtype):
    return forward(rng, regime, dtype)


def parts(rng, regime, dtype):
    _, _, H, e = sizes(rng, "rope" if regime == "rope" else "normal")
    return {
        "d_model": H * e,
        "n_heads": H,
        "causal": regime != "full",
        "use_rope": regime == "rope",
    }


def heads(rng, regime, dtype):
    """Numbers of heads that do not divide d_model."""
    if regime == "one_too_many":
        return {"d_model": 12, "n_heads": 13}
    d_model = int(rng.integers(9, 25))
    n_heads = int(rng.choice([n for n in range(2, d_model) if d_model % n]))
    return {"d_model": d_model, "n_heads": n_heads}


def past(rng, regime, dtype):
    """Two inputs that are the same up to position `since`, which may be any but the first."""
    made = drawn(rng, regime, dtype)
    x = made.pop("x")
    since = int(rng.integers(1, x.shape[-2]))
    other = x.copy()
    other[..., since:, :] = normal(rng, other[..., since:, :].shape, dtype)
    return {"x": x, "other": other, "since": since, **made}


def replaced(rng, regime, dtype):
    """Weights for a first call, and others that are copied in before a second."""
    made, again = drawn(rng, "no_batch", dtype), {}
    for name in ("w_q", "w_k", "w_v", "w_o"):
        again[f"{name}_2"] = normal(rng, made[name].shape, dtype, 0.3)
    return {**made, **again}


def lengths(rng, regime, dtype):
    """Inputs of different lengths and leading axes for one module; `turned` is as large as `long`."""
    made = drawn(rng, regime, dtype)
    x = made.pop("x")
    d = x.shape[-1]
    return {
        "long": x, "short": normal(rng, (x.shape[-2] - 1, d), dtype),
        "longer": normal(rng, (1, x.shape[-2] + 1, d), dtype),
        "turned": normal(rng, (x.shape[-2], x.size // d // x.shape[-2], d), dtype),
        "growing": normal(rng, (max(FIRSTS), d), dtype), "firsts": np.array(FIRSTS), **made,
    }  # fmt: skip


def reach(rng, regime, dtype):
    made = drawn(rng, regime if regime.startswith("shown") else "no_batch", dtype)
    del made["causal"], made["use_rope"]
    return made


def labels(rng, regime, dtype):
    """Each column of x holds the number of its head, 1 to n_heads, at every position."""
    _, T, H, e = sizes(rng, regime)
    x = np.repeat(np.arange(1.0, H + 1), e)
    if not regime.startswith("shown"):  # and, behind the point, the place in its head
        x = x + 0.01 * np.tile(np.arange(e), H)
    x = np.broadcast_to(x, (T, H * e))
    return {"x": x.astype(dtype), "n_heads": H}


def widths(rng, regime, dtype):
    """One x and one pair of matrices, to be cut into several numbers of heads."""
    if regime.startswith("shown"):
        T, d, heads = 8, 64, [4, 16] if regime == "shown_two" else [1, 2, 4, 8, 16]
    else:
        T, d, heads = 3, 12, [1, 3, 4]
    x = normal(rng, (T, d), dtype)
    w_q, w_k = (normal(rng, (d, d), dtype, d**-0.5) for _ in range(2))
    return {"x": x, "w_q": w_q, "w_k": w_k, "heads": np.array(heads)}


def peek(rng, regime, dtype):
    """Fresh sequences of random tokens for every step, (steps, B, T), and small weights (V, V)."""
    V, steps, B, T = (4, 120, 8, 6) if regime.startswith("shown") else (6, 3, 3, 5)
    made = {"tokens": rng.integers(0, V, (steps, B, T))}
    for name in ("w_q", "w_k", "w_v", "w_o"):
        made[name] = normal(rng, (V, V), dtype, 0.5)
    return {**made, "lr": 1.0}


def residual(rng, regime, dtype):
    return forward(rng, regime, dtype)
