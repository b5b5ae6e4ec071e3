from __future__ import annotations

from typing import Any

import numpy as np

from minimodel.nn._common import as_ids
from minimodel.tensor import Array, Tensor, as_tensor


def cross_entropy(logits: Tensor, targets: Any, ignore_index: int | None = None) -> Tensor:
    """L = mean_n (log sum_v e^z_nv - z_n,t_n) over the kept n;  dL/dZ = (softmax(Z) - onehot(t)) / N."""
    logits = as_tensor(logits); Z, t = logits.data, as_ids(targets, "targets")
    if Z.ndim == 0 or Z.shape[:-1] != t.shape: raise ValueError(f"logits {Z.shape} and targets {t.shape} do not fit, want (..., V) and (...,)")
    V = Z.shape[-1]
    keep = np.ones(t.shape, bool) if ignore_index is None else np.asarray(t != ignore_index)
    k = t[keep]; N = k.size; n = np.arange(N)
    if (bad := k[(k < 0) | (k >= V)]).size: raise ValueError(f"target {bad[0]} is outside [0, {V})")
    if N == 0: raise ValueError("cross_entropy: no target left, all of them are ignored")

    S = Z[keep]; S = S - S.max(axis=-1, keepdims=True)  # (N, V), all <= 0, so +-1000 cannot overflow
    E = np.exp(S); z = np.einsum("nv->n", E)
    L = np.einsum("n->", np.log(z) - S[n, k]) / N

    def backward(dL: Array) -> None:
        P = np.einsum("nv,n->nv", E, 1 / z); P[n, k] -= 1
        dZ = np.zeros_like(Z); dZ[keep] = P * (dL / N)
        logits.add_grad(dZ)

    return Tensor.node(L, (logits,), backward)
