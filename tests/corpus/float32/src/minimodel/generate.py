"""Sampling from a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .mini_gpt import MiniGPT
from .tensor import Array, as_tensor


def make_top_k(k: int) -> Callable[[Array], Array]:
    """Close over k; keeps the k largest of (..., V), and what ties them."""

    def truncate(z: Array) -> Array:
        n = min(k, z.shape[-1])
        least = np.sort(z, axis=-1)[..., -n, None]
        return np.where(z >= least, z, -np.inf)

    return truncate


def make_top_p(p: float) -> Callable[[Array], Array]:
    """Close over p; keeps the smallest set with at least that mass."""

    def truncate(z: Array) -> Array:
        order = np.argsort(-z, axis=-1, kind="stable")
        e = np.exp(np.take_along_axis(z, order, axis=-1))  # z <= 0 here
        mass = np.cumsum(e / e.sum(axis=-1, keepdims=True), axis=-1)
        # A token stays as long as those before it do not suffice.
        stays = np.ones(z.shape, dtype=bool)
        stays[..., 1:] = mass[..., :-1] < p
        keep = np.empty_like(stays)
        np.put_along_axis(keep, order, stays, axis=-1)
        return np.where(keep, z, -np.inf)

    return truncate


def make_sampler(
    temperature: float,
    top_k: int | None,
    top_p: float | None,
    rng: np.random.Generator,
) -> Callable[[Array], NDArray[Any]]:
    """Close over a way to choose tokens.

    Parameters
    ----------
    temperature : float
        Divides the logits before any truncation; 0 is greedy.
    top_k, top_p : optional
        Truncations, in this order.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    callable
        (..., V) logits -> (...,) ids.

    Raises
    ------
    ValueError
        If an argument makes no sense.

    Notes
    -----
    Draws by the Gumbel-max trick, which needs no normalised probabilities
    and so no more precision than the logits have.
    """
    if not temperature >= 0:
        raise ValueError(f"temperature must not be negative: {temperature}")
    truncations: list[Callable[[Array], Array]] = []
    if top_k is not None:
        if top_k < 1:
            raise ValueError(f"top_k must be at least 1, not {top_k}")
        truncations.append(make_top_k(int(top_k)))
    if top_p is not None:
        if not 0 < top_p <= 1:
            raise ValueError(f"top_p must be in (0, 1], not {top_p}")
        if top_p < 1:  # rounded sums may reach 1 before the last token
            truncations.append(make_top_p(float(top_p)))

    def sample(logits: Array) -> NDArray[Any]:
        heat = logits.dtype.type(temperature)
        if heat == 0:
            return logits.argmax(axis=-1)
        # From the maximum down, so that a small heat gives -inf, not inf.
        z = logits - logits.max(axis=-1, keepdims=True)
        with np.errstate(over="ignore"):
            z = z / heat
        for truncate in truncations:
            z = truncate(z)
        noise = rng.gumbel(size=z.shape).astype(z.dtype)
        return (z + noise).argmax(axis=-1)

    return sample


def generate(
    model: MiniGPT,
    prompt_ids: ArrayLike,
    n_new: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Continue a prompt.

    Parameters
    ----------
    model : MiniGPT
        Maps ids to logits and has ``config.context_len``.  Its mode is not
        touched.
    prompt_ids : array_like of int, shape (..., T)
        What to continue.
    n_new : int
        Number of tokens to add.
    temperature : float, default 1.0
        0 is greedy.
    top_k : int, optional
        Choose among the k likeliest tokens only.
    top_p : float, optional
        Choose among the fewest tokens with this much mass only.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of int64, shape (..., T + n_new)
        The prompt and what follows it.

    Raises
    ------
    ValueError
        If the prompt is empty or an argument makes no sense.
    TypeError
        If the prompt holds anything but integers.
    """
    prompt = np.asarray(prompt_ids)
    if not prompt.ndim or not prompt.size:
        raise ValueError("the prompt must have at least one token")
    if not np.issubdtype(prompt.dtype, np.integer):
        raise TypeError(f"token ids must be integers, not {prompt.dtype}")
    context_len = model.config.context_len
    sample = make_sampler(temperature, top_k, top_p, rng)
    ids = prompt.astype(np.int64)
    for _ in range(n_new):
        logits = as_tensor(model(ids[..., -context_len:])).data
        new = sample(logits[..., -1, :])
        ids = np.concatenate([ids, new[..., None]], axis=-1)
    return ids
