from contextlib import contextmanager

import numpy as np

from .module import Module
from .tape import TAPE


@contextmanager
def _evaluating(model):
    """eval() for the time being, afterwards every part is back in the mode it was in."""
    parts = model.modules() if isinstance(model, Module) else []
    modes = [m.training for m in parts]
    try:
        if parts:
            model.eval()
        yield
    finally:
        for m, mode in zip(parts, modes):
            m.training = mode


class Sampler:
    """From one row of logits to one id."""

    __slots__ = ("temperature", "top_k", "top_p", "rng")

    def __init__(self, temperature, top_k, top_p, rng):
        if not temperature >= 0:
            raise ValueError(f"temperature must not be negative, got {temperature}")
        if top_k is not None and top_k < 1:
            raise ValueError(f"top_k must be at least 1, got {top_k}")
        if top_p is not None and not 0 <= top_p <= 1:
            raise ValueError(f"top_p must lie in [0, 1], got {top_p}")
        self.temperature, self.top_k, self.top_p, self.rng = temperature, top_k, top_p, rng

    @property
    def greedy(self):
        return self.temperature == 0

    def probabilities(self, logits):
        logits = np.asarray(logits, dtype=np.float64)
        with np.errstate(over="ignore"):
            p = np.exp((logits - logits.max()) / self.temperature)
        p /= p.sum()
        # most probable first, of equals the lower id
        order = np.argsort(-logits, kind="stable")
        keep = len(order) if self.top_k is None else min(self.top_k, len(order))
        if self.top_p is not None and self.top_p < 1:
            # after top_k, and as a share of what top_k has left
            mass = np.cumsum(p[order[:keep]])
            # the first place where the mass has reached top_p, that token included;
            # the tiny slack is for masses that are equal but for rounding
            reached = np.flatnonzero(mass / mass[-1] >= self.top_p - 1e-12)
            keep = int(reached[0]) + 1
        p[order[keep:]] = 0.0
        return p / p.sum()

    def __call__(self, logits):
        if self.greedy:
            return int(np.argmax(logits))
        return int(self.rng.choice(len(logits), p=self.probabilities(logits)))


def generate(model, prompt_ids, n_new, *, temperature=1.0, top_k=None, top_p=None, rng):
    """The prompt followed by n_new ids. Leading axes of the prompt are separate rows."""
    prompt = np.asarray(prompt_ids)
    if prompt.ndim == 0 or prompt.shape[-1] == 0:
        raise ValueError("the prompt needs at least one token")
    if not np.issubdtype(prompt.dtype, np.integer):
        raise TypeError(f"prompt ids must be integers, got {prompt.dtype}")
    if n_new < 0:
        raise ValueError(f"n_new must not be negative, got {n_new}")
    sample = Sampler(temperature, top_k, top_p, rng)
    known = prompt.shape[-1]
    ids = np.empty((*prompt.shape[:-1], known + n_new), dtype=np.int64)
    ids[..., :known] = prompt
    context = model.config.context_len
    with _evaluating(model), TAPE.paused():
        for end in range(known, known + n_new):
            logits = model(ids[..., max(0, end - context):end]).data[..., -1, :]
            rows = logits.reshape(-1, logits.shape[-1])
            ids[..., end] = np.reshape([sample(row) for row in rows], logits.shape[:-1])
    return ids
