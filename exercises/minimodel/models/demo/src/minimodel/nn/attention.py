"""Who looks at whom, and what they bring home."""
import numpy as np

from ..module import Module, Parameter
from ..tensor import Tensor
from .positional import rope

SIDE_BY_SIDE = "...qe,...ke->...qk"
GATHER = "...qk,...ke->...qe"


def _affinity(q, k, factor):
    """factor * <q_i, k_j> for every pair i, j"""
    a, b = q.data, k.data
    return Tensor.from_op(
        np.einsum(SIDE_BY_SIDE, a, b) * factor,
        (q, lambda g: np.einsum(GATHER, g, b) * factor),
        (k, lambda g: np.einsum("...qk,...qe->...ke", g, a) * factor),
    )


def _hide(pairs, visible):
    """-inf wherever not visible"""
    return Tensor.from_op(
        np.where(visible, pairs.data, -np.inf),
        (pairs, lambda g: np.where(visible, g, 0)),
    )


def _share(pairs):
    """every row becomes positive and sums to 1"""
    top = pairs.data.max(-1, keepdims=True)
    p = np.exp(pairs.data - np.where(np.isinf(top), 0, top))
    p = p / np.maximum(p.sum(-1, keepdims=True), 1e-30)
    return Tensor.from_op(p, (pairs, lambda g: p * (g - np.einsum("...k,...k->...", g, p)[..., None])))


def _gather(p, v):
    a, b = p.data, v.data
    return Tensor.from_op(
        np.einsum(GATHER, a, b),
        (p, lambda g: np.einsum(SIDE_BY_SIDE, g, b)),
        (v, lambda g: np.einsum("...qk,...qe->...ke", a, g)),
    )


def scaled_dot_product_attention(q, k, v, mask=None):
    factor = q.shape[-1] ** -0.5
    pairs = _affinity(q, k, factor)
    visible_pairs = pairs if mask is None else _hide(pairs, mask)
    return _gather(_share(visible_pairs), v)


class MultiHeadAttention(Module):
    def __init__(self, d_model, n_heads, causal=True, use_rope=False, *, rng=None):
        super().__init__()
        width, rest = divmod(d_model, n_heads)
        if rest:
            raise ValueError("%d columns cannot be shared by %d heads" % (d_model, n_heads))
        self.heads, self.width = n_heads, width
        self.causal, self.use_rope = causal, use_rope
        rng = rng if rng is not None else np.random.default_rng()
        for letter in "qkvo":
            noise = rng.standard_normal((d_model, d_model))
            setattr(self, "w_" + letter, Parameter(noise / np.sqrt(d_model)))

    def _apart(self, t):  # one plane of rows for each head
        *lead, T, _ = t.shape
        return t.reshape(*lead, T, self.heads, self.width).transpose(-2, -3)

    def _together(self, t):
        *lead, _, T, _ = t.shape
        rows = t.transpose(-2, -3)
        return rows.reshape(*lead, T, self.heads * self.width)

    def forward(self, x):
        turn = rope if self.use_rope else lambda t: t
        q, k = (turn(self._apart(x @ w)) for w in (self.w_q, self.w_k))
        seen = ~np.triu(np.ones((x.shape[-2],) * 2, bool), 1) if self.causal else None
        found = scaled_dot_product_attention(q, k, self._apart(x @ self.w_v), seen)
        return self._together(found) @ self.w_o
