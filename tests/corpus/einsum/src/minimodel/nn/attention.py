"""Axes: t queries, s keys, h heads, e inside a head, d model, c one of q/k/v."""
from __future__ import annotations

import math

import numpy as np

from minimodel.module import Module, Parameter
from minimodel.nn._common import Rng, flat, need_last, normal
from minimodel.nn.positional import rotate, rotations
from minimodel.tensor import Array, Tensor, as_tensor


def attend(Q: Array, K: Array, V: Array, mask: Array | None) -> tuple[Array, Array]:
    """Y = P V and P = softmax(Q K^T / sqrt(e)), masked scores at -inf. A row that may attend to nothing gives 0."""
    S = np.einsum("...te,...se->...ts", Q, K, optimize=True) / math.sqrt(Q.shape[-1])
    if mask is not None: S = np.where(mask, S, -np.inf).astype(S.dtype, copy=False)
    m = S.max(axis=-1, keepdims=True, initial=-np.inf)
    E = np.exp(S - np.where(m == -np.inf, 0, m)); z = np.einsum("...ts->...t", E)[..., None]
    P = E / np.where(z == 0, 1, z)
    return np.einsum("...ts,...se->...te", P, V, optimize=True), P


def attend_back(dY: Array, Q: Array, K: Array, V: Array, P: Array) -> tuple[Array, Array, Array]:
    dP = np.einsum("...te,...se->...ts", dY, V, optimize=True)
    dS = P * (dP - np.einsum("...ts,...ts->...t", dP, P)[..., None]) / math.sqrt(Q.shape[-1])
    dQ = np.einsum("...ts,...se->...te", dS, K, optimize=True)
    dK = np.einsum("...ts,...te->...se", dS, Q, optimize=True)
    dV = np.einsum("...ts,...te->...se", P, dY, optimize=True)
    return dQ, dK, dV


def scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor, mask: Array | None = None) -> Tensor:
    """mask: boolean, True = may attend, broadcast against (..., T, T)."""
    q, k, v = as_tensor(q), as_tensor(k), as_tensor(v); Q, K, V = q.data, k.data, v.data
    if min(Q.ndim, K.ndim, V.ndim) < 2 or Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2]:
        raise ValueError(f"attention: shapes q {Q.shape}, k {K.shape}, v {V.shape} do not fit")
    M = None if mask is None else np.array(mask, dtype=bool); ts = (Q.shape[-2], K.shape[-2])
    if M is not None and np.broadcast_shapes(M.shape, ts)[-2:] != ts: raise ValueError(f"attention: mask {M.shape} does not broadcast to (..., {ts[0]}, {ts[1]})")
    Y, P = attend(Q, K, V, M)

    def backward(dY: Array) -> None:
        dQ, dK, dV = attend_back(dY, Q, K, V, P)
        q.add_grad(dQ); k.add_grad(dK); v.add_grad(dV)

    return Tensor.node(Y, (q, k, v), backward)


class MultiHeadAttention(Module):
    """With W (c, d, h, e) = the columns of w_q, w_k, w_v cut into heads: Y = sum_h attend(X W_0h, X W_1h, X W_2h) O_h."""

    def __init__(self, d_model: int, n_heads: int, causal: bool = True, use_rope: bool = False, *, rng: Rng | None = None) -> None:
        if n_heads < 1 or d_model % n_heads: raise ValueError(f"d_model {d_model} is not divisible by n_heads {n_heads}")
        self.d_model, self.n_heads, self.d_head = d_model, n_heads, d_model // n_heads
        if use_rope and self.d_head % 2: raise ValueError(f"RoPE needs an even head size, got d_model / n_heads = {self.d_head}")
        self.causal, self.use_rope = causal, use_rope
        rng = rng or np.random.default_rng()
        self.w_q, self.w_k, self.w_v, self.w_o = (normal(rng, d_model, d_model) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        x = as_tensor(x); X = x.data; D, h, e = self.d_model, self.n_heads, self.d_head
        need_last(X, D, "MultiHeadAttention")
        if X.ndim < 2: raise ValueError(f"MultiHeadAttention: expected (..., T, {D}), got {X.shape}")
        w, o = (self.w_q, self.w_k, self.w_v), self.w_o; T = X.shape[-2]

        W = np.stack([p.data for p in w]).reshape(3, D, h, e); O = o.data.reshape(h, e, D)
        Q, K, V = np.einsum("...td,cdhe->c...hte", X, W, optimize=True)
        R = rotations(np.arange(T), e, 10000.0, X.dtype) if self.use_rope else None
        if R is not None: Q, K = rotate(Q, R), rotate(K, R)
        A, P = attend(Q, K, V, np.tri(T, dtype=bool) if self.causal else None)

        def backward(dY: Array) -> None:
            dA = np.einsum("...td,hed->...hte", dY, O, optimize=True)
            o.add_grad(np.einsum("nhte,ntd->hed", flat(A, 3), flat(dY, 2), optimize=True).reshape(D, D))
            dQ, dK, dV = attend_back(dA, Q, K, V, P)
            if R is not None: dQ, dK = rotate(dQ, R, back=True), rotate(dK, R, back=True)
            dG = np.stack([dQ, dK, dV])
            x.add_grad(np.einsum("c...hte,cdhe->...td", dG, W, optimize=True))
            dW = np.einsum("ntd,cnhte->cdhe", flat(X, 2), dG.reshape(3, -1, h, T, e), optimize=True)
            for p, dw in zip(w, dW): p.add_grad(dw.reshape(D, D))

        return Tensor.node(np.einsum("...hte,hed->...td", A, O, optimize=True), (x, *w, o), backward)
