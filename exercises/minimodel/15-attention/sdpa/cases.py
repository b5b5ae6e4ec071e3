"""Inputs for scaled_dot_product_attention. T and d differ and are none of SHOWN, but where said."""

import numpy as np
from pack.common import distinct, leading, normal, varied

DEPTHS = {"float64": [-1.0, -1e2, -1e3, -1e4, -2e4, -1e5], "float32": [-1.0, -1e2, -1e3, -1e4]}
ABYSS = {"float64": -1e7, "float32": -3e4}
EDGES = {"float64": [-1e3, -1e4, -1e5], "float32": [-1e3, -1e4]}
HEIGHTS = {"float64": [2e4, 1e5], "float32": [1.2e4, 1.5e4]}
SUMMITS = {"float64": [1e5, 1e6, 1e7], "float32": [1e5, 1e6]}

CAUSAL = {"zero_queries", "nothing_asked", "depths_causal", "deep_large"}  # those not called so
LEADING = {  # regimes whose leading axes are those of another
    "deep_masked": "deep", "deep_heads": "deep", "deep_rows": "deep", "deep_for_all": "deep",
    "deep_keys_only": "deep", "large": "single", "late_peak": "no_batch",
    "deep_large": "no_batch", "depths_sparse": "no_batch",
}  # fmt: skip

BANDS = {
    "one_ahead": lambda T: np.tri(T, k=1, dtype=bool),
    "two_ahead": lambda T: np.tri(T, k=2, dtype=bool),
    "from_now_on": lambda T: np.tri(T, dtype=bool).T,
    "window": lambda T: np.tri(T, dtype=bool) & ~np.tri(T, k=-2, dtype=bool),
    "past_and_first": lambda T: np.tri(T, k=-1, dtype=bool) | (np.arange(T) == 0),
}  # masks (T, T) around the diagonal, no row of them all False


def sizes(rng, regime):
    """(T, d)"""
    if regime == "one_token":
        return 1, distinct(rng, d=(3, 7))[0]
    if regime == "one_column":
        return distinct(rng, T=(3, 6))[0], 1
    if regime == "large":
        return int(rng.integers(37, 46)), int(rng.integers(90, 110))
    if regime == "late_peak":
        return int(rng.integers(131, 140)), int(rng.integers(5, 8))
    if regime == "deep_large":  # more scores than two bytes can count
        return int(rng.integers(257, 270)), 1
    if regime == "depths_sparse":
        return int(rng.integers(30, 34)), 64
    if regime == "shifted":
        return distinct(rng, T=(5, 7), d=(3, 4))
    if regime in ("equal_sizes", "equal_for_all"):
        return 3, 3
    if regime == "pair_all":
        return 2, distinct(rng, d=(3, 7))[0]
    if regime == "wide":
        return 3, int(rng.integers(1030, 1100))
    if regime in ("weights", "causal_weights"):  # more columns than keys
        return distinct(rng, T=(3, 5), d=(6, 7))
    T, d = distinct(rng, T=(3, 6), d=(3, 7))
    return T, d


def allowed(rng, regime, rows, T):
    """The mask of a regime: None, or booleans that broadcast to (*rows, T, T). No row is all False."""
    if regime.startswith("causal") or regime in CAUSAL:
        return np.tri(T, dtype=bool)
    if regime == "depths_sparse":  # two keys of many, as far apart as they come
        keys = rng.integers(0, T, (*rows, T, 2))
        return (np.arange(T) == keys[..., :1]) | (np.arange(T) == keys[..., 1:])
    if regime == "shifted":  # another mask for each, with as many keys in every row
        ahead = (np.arange(T) - np.arange(T)[:, None]) % T  # (T, T)
        turned = (ahead + rng.permutation(T)[: rows[0]][:, None, None]) % T
        return turned < int(rng.integers(2, T - 1))
    if regime in ("all_allowed", "pair_all"):
        return np.ones((T, T), dtype=bool)
    if regime in BANDS:  # what a causal mask is not, though it looks like one
        return BANDS[regime](T)
    if regime in (
        "keys_only",
        "far_masked",
        "deep_keys_only",
        "batch_keys_only",
    ):  # (T,): for everybody
        mask = np.arange(T) != int(rng.integers(0, T))
        return mask[None, :] if regime == "far_masked" else mask
    if regime in ("padding", "depths_padding"):  # (..., 1, T): each sequence has its own length
        lengths = rng.integers(1, T + 1, rows)
        lengths.reshape(-1)[0] = T - 1
        return np.arange(T) < lengths[..., None, None]
    if regime in (
        "scattered",
        "scattered_for_all",
        "square",
        "equal_for_all",
        "depths",
        "depths_heights",
        "depths_edge",
        "depths_peaks",
        "depths_abyss",
        "depths_in_keys",
        "depths_in_queries",
        "batch_masked",
        "one_batch_axis",
        "deep_masked",
        "deep_heads",
        "deep_rows",
        "deep_for_all",
        "head_masked",
        "equal_head_masked",
    ):
        axes = {
            "one_batch_axis": (*rows[:-1], 1),
            "scattered_for_all": (),
            "square": (),
            "equal_for_all": (),
            "deep_for_all": (),
            "deep_heads": rows[1:],
            "deep_rows": rows[2:],
            "head_masked": rows[1:],
            "equal_head_masked": rows[1:],
        }.get(regime, rows)
        mask = rng.random((*axes, T, T)) < 0.5
        one, two = int(rng.integers(T)), rng.permutation(T)[:2]
        mask[..., one, two] = True  # one query sees two keys, else no gradient might be left
        return mask | (np.arange(T) == rng.integers(0, T, (*axes, T))[..., None])
    return None


RARE = {
    "float64": 40.0,
    "float32": 12.0,
}  # how far the smallest score lies below the largest, where each value makes up for it


@varied
def forward(rng, regime, dtype):
    bare = regime.startswith("bare_")  # no axes before (T, d)
    regime = regime.removeprefix("bare_")
    T, d = sizes(rng, regime)
    rows = leading(rng, LEADING.get(regime, regime))
    rows = () if bare else rows
    if regime in ("equal_sizes", "equal_head_masked", "equal_for_all"):
        rows = (3, 3)
    if regime == "square":  # as many sequences as positions: one mask for all is no mask for each
        rows = (T,)
    if regime.startswith(("batch", "depths", "shifted")):  # a single leading axis
        rows = rows[:1]
    scale = {"tiny": 1e-6, "causal_tiny": 1e-6}.get(regime, 1.0)
    q, k = (normal(rng, (*rows, T, d), dtype, scale) for _ in range(2))
    v = normal(rng, (*rows, T, d), dtype)
    mask = allowed(rng, regime, rows, T)
    if regime == "equal_keys":  # equal scores: the plain mean of the values
        k = np.broadcast_to(k[..., :1, :], k.shape).copy()
    if regime in ("weights", "causal_weights"):  # column s of y is the weight of key s
        v = np.broadcast_to(np.eye(T, d, dtype=dtype), v.shape).copy()
    if regime == "deep_large":  # whole numbers below what some write for what is masked
        level = 2e4 if dtype == "float64" else 1.1e4
        q, k = np.ones_like(q), (rng.integers(-3, 4, k.shape) - level).astype(dtype)
    if regime == "late_peak":  # near the end of a long row, one score beyond any exponential
        q[..., 0], k[..., 0] = 60.0, 0.0
        k[..., T - int(rng.integers(1, 4)), 0] = 60.0
    if regime == "zero_queries":  # scores of exactly 0 are scores like any other
        q[..., ::2, :] = 0.0
    if regime == "nothing_asked":  # all scores are 0, and only the mask tells the keys apart
        q = np.zeros_like(q)
    if regime == "equal_queries":
        q = np.broadcast_to(q[..., :1, :], q.shape).copy()
    if regime in ("constant_values", "causal_constant"):  # any weights that sum to 1 give it back
        v = np.broadcast_to(v[..., :1, :], v.shape).copy()
    if regime in (
        "thousand",
        "causal_thousand",
    ):  # scores far beyond what exp can hold, and exact ties
        q, k = ((30.0 * rng.choice([-1.0, 1.0], q.shape)).astype(dtype) for _ in range(2))
        q[..., -1, :] *= 0.001  # one ordinary query in each head
    if regime in ("far_rows", "causal_far_rows"):  # all scores of a query far above 0, or far below
        q[..., 0], k[..., 0] = 1000.0 * rng.choice([-1.0, 1.0], q.shape[:-1]), np.sqrt(d)
        q[..., -1, 0] = -1000.0
    if regime == "spread_rows":  # each query far larger than the one before
        q = q * (10.0 ** np.linspace(-4, 0.7, T))[:, None].astype(dtype)
    if regime in ("evened", "causal_evened"):  # a value is as much larger as its weight is smaller
        scores = rng.permuted(np.broadcast_to(np.linspace(-RARE[dtype], 0, T), (*rows, T)), axis=-1)
        if regime == "causal_evened":
            # all see the largest: a row that did not hid the others by its size
            np.put_along_axis(scores, scores.argmax(-1, keepdims=True), scores[..., :1], -1)
            scores[..., 0] = 0.0
        q = np.broadcast_to(q[..., :1, :], q.shape).copy()
        missing = scores * np.sqrt(d) - (k * q).sum(-1)
        k = (k + q * (missing / (q * q).sum(-1))[..., None]).astype(dtype)
        v = (v * np.exp(-scores)[..., None]).astype(dtype)
    if regime == "far_masked":  # what is not looked at is far larger than what is
        k = np.where(mask[0][:, None], k, 1000 * k)
        v = np.where(mask[0][:, None], v, 1e5 * v)
    if regime.startswith("depths"):
        q, k = at_depth(rng, rows, T, mask, dtype, regime)
        v = normal(rng, q.shape, dtype)
    grad = normal(rng, v.shape, dtype)
    if regime.startswith("depths"):  # q is large: where what it multiplies cancels, float32 ends
        v[..., 0] = rng.permuted(np.broadcast_to(2.0 * np.arange(T), v.shape[:-1]), axis=-1)
        grad[...] *= 0.05
        grad[..., 0] = 1.0
    return {"q": q, "k": k, "v": v, "mask": mask, "grad": grad}


def at_depth(rng, rows, T, mask, dtype, regime):
    """q, k (*rows, T, 64) whose scores are whole numbers: mostly 0 where masked, elsewhere far below.

    Each query has a depth of its own, -1e4 being one of them, and its scores lie around it. In
    "depths_heights" they lie around 0 instead, and what is masked above them, up to 1e5; in
    "depths_edge" all are a little above one such depth; in "depths_peaks" all scores, masked or not, are
    above 1e4; in "depths_abyss" they are so far below 0
    that exp(x - logsumexp(x)), right as it is, keeps too few digits for what is multiplied by them. In
    float32 it keeps three at -1e4, so there nothing but "depths_abyss" goes deeper.
    In "depths_in_keys" the scores lie around 0 and what is masked far above them, and the queries are 0 and
    1; in "depths_in_queries" the keys are.
    """
    d = 64  # its root is exact
    levels = [ABYSS[dtype]] if regime == "depths_abyss" else DEPTHS[dtype]
    depth = rng.choice(levels, (*rows, T, 1))
    depth[..., 0, :] = depth[..., -1, :] = -1e4
    near = 3 if dtype == "float64" else 1  # float32 keeps little of a gradient that is all but 0
    visible, hidden = depth + rng.integers(-near, near + 1, (*rows, T, T)), 0.0
    if regime == "depths_heights":
        visible, hidden = visible - depth, -depth
    if regime == "depths_peaks":
        heights = rng.choice(HEIGHTS[dtype], (*rows, T, 1))
        visible = hidden = visible - depth + heights
    if regime == "depths_edge":
        visible = rng.choice(EDGES[dtype]) + rng.integers(1, 2 * near, (*rows, T, T))
    if regime in ("depths_in_keys", "depths_in_queries"):
        visible, hidden = visible - depth, rng.choice(SUMMITS[dtype], (*rows, T, 1))
    q, k = np.zeros((*rows, T, d)), np.zeros((*rows, T, d))
    q[..., :T] = np.where(mask, visible, hidden)  # key s has its only number in column s
    k[..., :T] = 8.0 * np.eye(T)
    if regime in ("depths_in_keys", "depths_in_queries"):
        q, k = 8.0 * q, k / 8.0
    if regime == "depths_in_keys":  # query t has its only number in column t
        q[..., :T], k[..., :T] = k[..., :T], np.swapaxes(q[..., :T], -1, -2).copy()
    return q.astype(dtype), k.astype(dtype)


def viewed(rng, regime, dtype):
    return forward(rng, regime, dtype)


def shared(rng, regime, dtype):
    T, d = sizes(rng, regime)
    rows = leading(rng, regime)
    x, grad = (normal(rng, (*rows, T, d), dtype) for _ in range(2))
    return {"x": x, "mask": allowed(rng, regime, rows, T), "grad": grad}


def twice(rng, regime, dtype):
    """Two inputs of different sizes, each with a mask of its own."""
    first = forward(rng, "scattered", dtype)
    second = forward(rng, "causal", dtype)
    del first["grad"], second["grad"]
    return {
        f"{name}_{i}": a for i, drawn in enumerate((first, second), 1) for name, a in drawn.items()
    }


def asked(rng, regime, dtype):
    return forward(rng, "causal" if regime == "causal" else "normal", dtype)


def abreast(rng, regime, dtype):
    """Two inputs of different widths, one of them with a mask."""
    while True:
        first, second = forward(rng, "normal", dtype), forward(rng, "causal", dtype)
        if first["q"].shape[-1] != second["q"].shape[-1]:
            break
    return {
        f"{name}_{i}": a for i, drawn in enumerate((first, second), 1) for name, a in drawn.items()
    }


def blind(rng, regime, dtype):
    """Some queries may attend to nothing at all; what they give is left open. Where only later keys count,
    or only earlier ones, that is the last query, or the first.
    """
    drawn = forward(rng, "scattered", dtype)
    mask = drawn["mask"]
    T = mask.shape[-1]
    flat = mask.reshape(-1, T)
    flat[rng.permutation(len(flat))[: max(1, len(flat) // 4)]] = False
    if regime in ("later", "earlier"):
        earlier = np.tri(T, k=-1, dtype=bool)
        drawn["mask"] = earlier.T if regime == "later" else earlier
    del drawn["grad"]
    return drawn


def sharpness(rng, regime, dtype):
    """Queries and keys of unit spread, cut to several widths: q, k (H, T, the greatest width)."""
    if regime.startswith("shown"):
        H, T, widths = 4, 8, [1, 2, 4, 8, 16, 32, 64]
    else:
        (T,) = distinct(rng, T=(3, 4))
        H, widths = 1, distinct(rng, narrow=(5, 9), wide=(20, 40))
    q, k = (normal(rng, (H, T, widths[-1]), dtype) for _ in range(2))
    return {"q": q, "k": k, "widths": np.array(widths)}


def row_sums(rng, regime, dtype):
    """One causal head. In "shown" all scores are equal; in "shown_random" they are not."""
    T, d = (8, 4) if regime.startswith("shown") else distinct(rng, T=(3, 6), d=(6, 9))
    q, k = (normal(rng, (T, d), dtype) for _ in range(2))
    if regime == "shown":
        q = np.zeros_like(q)
    return {"q": q, "k": k}


def future(rng, regime, dtype):
    """One causal head; `louder` are the scores that the last key will have for the first query."""
    T, d = (8, 4) if regime.startswith("shown") else distinct(rng, T=(3, 6), d=(3, 7))
    q, k, v = (normal(rng, (T, d), dtype) for _ in range(3))
    other_k, other_v = (normal(rng, (d,), dtype) for _ in range(2))
    if regime.startswith("shown"):
        k = np.zeros_like(k)
    louder = np.arange(0.0, 6.5, 0.5) if regime.startswith("shown") else np.array([0.0, 3.0])
    return {
        "q": q, "k": k, "v": v, "other_k": other_k, "other_v": other_v, "louder": louder.astype(dtype),
    }  # fmt: skip


def floor(rng, regime, dtype):
    """One causal head; `visible` are the scores that queries have with keys they may look at.

    A query is 1 at its own place and at those before it, a key sqrt(64) at its place: scores times
    `visible` are `visible` where the mask allows it, and 0 where it does not.
    """
    T = 8 if regime.startswith("shown") else distinct(rng, T=(3, 6))[0]
    q, k = np.zeros((T, 64)), np.zeros((T, 64))
    q[:, :T], k[:, :T] = np.tri(T), 8.0 * np.eye(T)
    visible = np.linspace(-9992.0, -10008.0, 17)
    if not regime.startswith("shown"):
        visible = -np.array([1e4, 1e4 + int(rng.integers(1, 9)), 3e4])
    return {"q": q.astype(dtype), "k": k.astype(dtype), "visible": visible.astype(dtype)}


def outputs(rng, regime, dtype):
    """Independent queries, keys and values of unit spread (H, T, d), to be cut to several lengths and widths.

    cuts: (number of calls, 2), T and d of each call.
    """
    cuts = {
        "shown_widths": [(8, 4), (8, 16), (8, 64), (8, 256)],
        "shown_lengths": [(2**power, 16) for power in range(6)],
    }.get(regime, [(3, 5), (4, 7), (6, 9)])
    longest, widest = np.max(cuts, axis=0)
    q, k, v = (normal(rng, (16, longest, widest), dtype) for _ in range(3))
    return {"q": q, "k": k, "v": v, "cuts": np.array(cuts), "causal": regime != "shown_widths"}


def louder(rng, regime, dtype):
    """One causal head as in `floor`, two sets of values, and what queries and keys are multiplied by.

    The scores that the mask allows are -factor², those that it forbids are 0.
    """
    made = floor(rng, regime, dtype)
    q, k = -made["q"], made["k"]
    v, other_v = (normal(rng, q.shape, dtype) for _ in range(2))
    other_v[0] = v[0]
    powers = np.arange(9) if regime.startswith("shown") else np.array([0, 3, 8])
    return {"q": q, "k": k, "v": v, "other_v": other_v, "factors": (2.0**powers).astype(dtype)}
