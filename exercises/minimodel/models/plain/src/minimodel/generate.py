"""Sampling text from a model."""

from __future__ import annotations

import numpy as np

from minimodel.module import Module


def generate(
    model: Module,
    prompt_ids: np.ndarray,
    n_new: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    rng: np.random.Generator,
) -> np.ndarray:
    """The prompt followed by n_new ids, drawn one after the other."""
    ids = np.array(prompt_ids)
    was_training = model.training
    model.eval()
    for _ in range(n_new):
        seen = ids[-model.config.context_len :]
        logits = model(seen).data[-1]  # (vocab_size,), those after the last id
        ids = np.append(ids, next_id(logits, temperature, top_k, top_p, rng))
    model.train(was_training)
    return ids


def next_id(
    logits: np.ndarray,
    temperature: float,
    top_k: int | None,
    top_p: float | None,
    rng: np.random.Generator,
) -> int:
    """One id from the logits (vocab_size,) of one position."""
    if temperature == 0:
        return int(logits.argmax())
    scaled = (logits.astype(np.float64) - logits.max()) / temperature
    probs = np.exp(scaled)
    probs = probs / probs.sum()
    order = np.argsort(-probs)  # the most likely first
    if top_k is not None:
        order = order[:top_k]
    if top_p is not None:
        mass = np.cumsum(probs[order])
        below = mass < top_p  # these do not reach top_p; the next one crosses it
        order = order[: below.sum() + 1]
    kept = probs[order] / probs[order].sum()
    return int(rng.choice(order, p=kept))
