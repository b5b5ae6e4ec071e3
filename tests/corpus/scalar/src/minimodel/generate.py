import math

import numpy as np

from .module import Module


def _choose(logits, temperature, top_k, top_p, rng):
    """One id from a list of floats."""
    best = max(logits)
    if temperature == 0:
        return logits.index(best)
    # subtract first, then divide: a tiny temperature can not overflow like this
    weights = [math.exp((x - best) / temperature) for x in logits]
    # ids from likely to unlikely (sorted keeps the smaller id first if equal)
    kept = sorted(range(len(logits)), key=lambda i: -logits[i])
    if top_k is not None:
        kept = kept[:top_k]
    if top_p is not None:
        whole = sum(weights[i] for i in kept)
        mass, crossed = 0.0, []
        for i in kept:
            crossed.append(i)
            mass += weights[i] / whole
            if mass >= top_p:
                break
        kept = crossed
    kept = [i for i in kept if weights[i] > 0.0]
    dart = rng.random() * sum(weights[i] for i in kept)
    for i in kept:
        dart -= weights[i]
        if dart < 0.0:
            return i
    return kept[-1]              # rounding


def generate(model, prompt_ids, n_new, *, temperature=1.0, top_k=None, top_p=None, rng):
    prompt = np.asarray(prompt_ids)
    if prompt.ndim != 1 or prompt.size == 0:
        raise ValueError(f"the prompt should be a row of at least one id, got shape {prompt.shape}")
    if prompt.dtype.kind not in "iu":
        raise TypeError(f"token ids must be integers, got {prompt.dtype}")
    if n_new < 0:
        raise ValueError(f"n_new = {n_new} is negative")
    if temperature < 0:
        raise ValueError(f"temperature = {temperature} is negative")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k = {top_k} keeps nothing")
    if top_p is not None and not 0 <= top_p <= 1:
        raise ValueError(f"top_p = {top_p} is not between 0 and 1")

    ids = prompt.tolist()
    modes = [(m, m.training) for m in model.modules()] if isinstance(model, Module) else []
    for m, _ in modes:
        m.training = False
    try:
        for _ in range(n_new):
            logits = model(np.array(ids[-model.config.context_len:], dtype=np.int64))
            last = [float(x) for x in logits.data[-1]]
            ids.append(_choose(last, temperature, top_k, top_p, rng))
    finally:
        for m, mode in modes:
            m.training = mode
    return np.array(ids, dtype=np.int64)
