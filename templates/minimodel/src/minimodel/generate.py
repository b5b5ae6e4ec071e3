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
    """Continue a prompt of ids by n_new ids; return the prompt followed by the new ids.

    Each new id is drawn, with `rng`, from the model's distribution after everything so far; the model
    sees at most the last model.config.context_len ids. The distribution can be changed:

        temperature  the logits are divided by it, before anything below; 0 means the most likely id,
                     always
        top_k        only the k most likely ids stay
        top_p        only the smallest set of most likely ids whose probabilities sum to at least
                     top_p stays; the id that crosses the line belongs to it

    The model is in the same mode afterwards (train or eval) as it was before.
    """
    raise NotImplementedError("sample new ids one by one")
