"""What a short training of a small model was seen to do, checked. Raises BadAnswer for anything else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from engine.facts.trace import BadAnswer, converted

MAX_STEPS, MAX_SAMPLE = 1000, 200


class Trained(msgspec.Struct, frozen=True):
    """A run of a model. None: what the model does not show. gradients: norms of the first block's and of the
    last block's, at the first step. shifted: whether the model's own loss moves its targets itself.
    """

    losses: list[float]
    gradients: tuple[float, float] | None
    update_ratio: float | None
    other_loss: float | None
    letter_loss: float | None
    log_v: float | None
    sample: str
    shifted: bool


def trained(data: Mapping[str, Any]) -> Trained:
    """The part "run" of an answer. Raises BadAnswer."""
    found = data.get("run")
    if not isinstance(found, dict):
        raise BadAnswer("no run")
    told: Trained = converted(found, Trained)
    if not 0 < len(told.losses) <= MAX_STEPS or len(told.sample) > MAX_SAMPLE:
        raise BadAnswer("a run of another length")
    return told
