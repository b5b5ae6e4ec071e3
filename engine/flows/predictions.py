"""A break before it is broken: what is told, what is asked, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from engine.errors import UsageError
from engine.flows.answers import Answer, checked
from engine.spec.types import Prediction

if TYPE_CHECKING:
    from engine.flows.observe import Observed


class Opening(msgspec.Struct, frozen=True):
    """What the learner is shown before they predict."""

    exercise: str
    title: str
    text: str
    pipeline: str
    predictions: tuple[Prediction, ...]
    lang: str
    notes: str
    known: tuple[Answer, ...] = ()  # typed before an interruption


class BreakReport(msgspec.Struct, frozen=True):
    """`engine break`: where the practice copy is, what was predicted, what was measured."""

    exercise: str
    title: str
    attempt: int
    practice: str
    notes: str
    predictions: tuple[Answer, ...]
    observed: Observed
    symptom: str


def still_fitting(
    drafts: Sequence[Mapping[str, Any]], asked: Sequence[Prediction]
) -> dict[str, Answer]:
    """Answers that were typed before, as far as they still fit the exercise."""
    typed = {one.id: one for one in (msgspec.convert(draft, Answer) for draft in drafts)}
    found = {}
    for prediction in asked:
        if prediction.id in typed:
            one = typed[prediction.id]
            try:
                found[one.id] = checked(prediction, one.answer, one.confidence)
            except UsageError:  # the exercise has changed since
                continue
    return found


def all_answered(
    given: Sequence[Mapping[str, Any]], asked: Sequence[Prediction]
) -> list[Answer] | None:
    """Answers that were recorded before, where they are still those that are asked for."""
    answers = [msgspec.convert(one, Answer) for one in given]
    return answers if [a.id for a in answers] == [p.id for p in asked] else None
