from __future__ import annotations

from typing import Any

import numpy as np

from minimodel.module import Module
from minimodel.nn._common import as_ids
from minimodel.tensor import Array, softmax


def _truncate(p: Array, top_k: int | None, top_p: float | None) -> Array:
    """Zero all but the k likeliest, then all but the smallest set reaching top_p, renormalising after each."""
    order = np.argsort(-p, kind="stable")
    if top_k is not None: p = p.copy(); p[order[top_k:]] = 0; p /= p.sum()
    if top_p is not None and top_p < 1:
        n = int(np.searchsorted(np.cumsum(p[order]), top_p)) + 1  # the token that crosses top_p stays
        p = p.copy(); p[order[n:]] = 0; p /= p.sum()
    return p


def generate(model: Module, prompt_ids: Any, n_new: int, *, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None,
             rng: np.random.Generator) -> Array:
    """The prompt followed by n_new ids. temperature 0 takes the likeliest token and draws nothing."""
    ids = as_ids(prompt_ids, "prompt_ids").astype(np.int64)
    if ids.ndim != 1 or ids.size == 0: raise ValueError(f"the prompt must be one sequence with at least one id, got shape {ids.shape}")
    if n_new < 0: raise ValueError(f"n_new must not be negative, got {n_new}")
    if temperature < 0: raise ValueError(f"temperature must not be negative, got {temperature}")
    if top_k is not None and top_k < 1: raise ValueError(f"top_k must be at least 1, got {top_k}")
    if top_p is not None and not 0 <= top_p <= 1: raise ValueError(f"top_p must lie in [0, 1], got {top_p}")

    modes = [(m, m.training) for m in model.modules()] if isinstance(model, Module) else []
    for m, _ in modes: m.training = False
    try:
        for _ in range(n_new):
            z = model(ids[-model.config.context_len:]).data[-1].astype(np.float64)
            if temperature == 0: new = int(z.argmax())
            else: p = _truncate(softmax((z - z.max()) / temperature), top_k, top_p); new = int(rng.choice(len(p), p=p))
            ids = np.append(ids, new)
    finally:
        for m, mode in modes: m.training = mode
    return ids
