"""What short trainings of a small model were seen to do, checked. Raises BadAnswer for anything else."""

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


class Lesson(msgspec.Struct, frozen=True):
    """A training step by step: losses, and norms of all gradients together. other: the loss on other text
    after it, None where the model shows none.
    """

    losses: list[float]
    norms: list[float]
    other: float | None = None


class Lessons(msgspec.Struct, frozen=True):
    """Trainings of a model as it is, and of the same with tensors exchanged: one for each run."""

    as_it_is: list[Lesson] = msgspec.field(name="as it is")
    exchanged: list[Lesson] = msgspec.field(name="exchanged")


def trained(data: Mapping[str, Any]) -> Trained:
    """The part "run" of an answer. Raises BadAnswer."""
    found = data.get("run")
    if not isinstance(found, dict):
        raise BadAnswer("no run")
    told: Trained = converted(found, Trained)
    if not 0 < len(told.losses) <= MAX_STEPS or len(told.sample) > MAX_SAMPLE:
        raise BadAnswer("a run of another length")
    return told


def lesson(data: Mapping[str, Any]) -> Lesson:
    """The part "run" of an answer to a walk. Raises BadAnswer."""
    found = data.get("run")
    if not isinstance(found, dict):
        raise BadAnswer("no run")
    return _checked(converted(found, Lesson))


def lessons(data: Mapping[str, Any], runs: int) -> Lessons:
    """The part "lessons" of an answer: so many of each. Raises BadAnswer."""
    found = data.get("lessons")
    if not isinstance(found, dict):
        raise BadAnswer("no lessons")
    told: Lessons = converted(found, Lessons)
    if {len(told.as_it_is), len(told.exchanged)} != {runs}:
        raise BadAnswer("another number of lessons")
    for one in (*told.as_it_is, *told.exchanged):
        _checked(one)
    return told


def _checked(one: Lesson) -> Lesson:
    if not 0 < len(one.losses) <= MAX_STEPS or len(one.norms) != len(one.losses):
        raise BadAnswer("a training of another length")
    return one
